/*
 * intake/post.h - arbiter/table.h's club with a post office: letters go in, effects and answers are
 * looked at.
 *
 * post_setup() and post_teardown() are cmocka's; *state is a struct post.  The intake steps in the
 * calling thread.  Tokens are what the test says they are; answers are read from the outbox, where
 * the courier would take them.  anna, boris, clara and david (South … East) live at
 * handle@example.org; we are play@club.example, with bounce@ and unsubscribe@ beside it.
 */
#ifndef FH_TESTS_INTAKE_POST_H
#define FH_TESTS_INTAKE_POST_H

#include "arbiter/table.h"
#include "intake/intake.h"
#include "store/inbox.h"
#include "store/outbox.h"
#include "store/tokens.h"
#include "store/users.h"

#define POST_TOKEN "k3v7mq2xz5b4n6c7d2f3g4h5j6" /* what the worked letters of tests/mail carry */

struct post {
    struct table *t;
    struct zone_cache *zones;
    struct people people;
    struct intake_options options;
    struct intake *intake;
    int64_t letters, tokens; /* made so far */
    /* What the hooks were asked. */
    int suspended, reached, resent, blocked;
    int64_t bounced_row;     /* what bounce_read() knows "…+row.goodgood12" as; 0: nothing */
    char token[SECRET_SIZE]; /* of post_token() */
};

int post_setup(void **state);
int post_teardown(void **state);
/* With other options: change p->options in between. */
void post_close(struct post *p);
void post_open(struct post *p);

/* A new token for a user about a game (0: his account) as it stands now; p->token. */
const char *post_token(struct post *p, int user, enum token_purpose purpose, int64_t game);
/* The same with its text and state said. */
void post_token_put(struct post *p, const char *token, int user, enum token_purpose purpose,
                    int64_t game, int64_t state_no, int64_t inbox_id, utc_ms expires_at);

/* What became of a letter. */
struct post_result {
    struct inbox_row row;
    bool has_answer;
    char template_name[TEMPLATE_SIZE];
    char text[INTAKE_ANSWER_MAX + 2048]; /* of the answer */
    char params[PARAMS_MAX + 1];
    int64_t to_user;
};

/* Hand in bytes and work them off.  recipient NULL: as the letter's headers say. */
const struct post_result *post_raw(struct post *p, const char *sender, const char *recipient,
                                   const void *bytes, size_t n);
/* A plain letter from a user's address to play+TOKEN@ (token NULL: play@). */
const struct post_result *post_say(struct post *p, int user, const char *token, const char *text);
/* The same by a fresh token for the game: purpose turn. */
const struct post_result *post_play(struct post *p, int user, int64_t game, const char *text);
/* The row anew, after something else happened. */
struct inbox_row post_row(struct post *p, int64_t id);

/* Whether a move is held in the game. */
bool is_held(struct post *p, int64_t game);

/* Number that a statement gives, over a connection of its own. */
int64_t post_count(struct post *p, const char *sql);

/* … and what is expected of them */
void expect(const struct post_result *r, enum inbox_verdict verdict);
void expect_says(const struct post_result *r, const char *words);
void expect_silent(const struct post_result *r, const char *words); /* the text has them not */

#endif
