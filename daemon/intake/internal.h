/*
 * intake/internal.h - what the files of intake/ share; not for other rooms.
 *
 *   intake.c   the thread, letting in, claiming
 *   read.c     a letter's bytes → struct reading; outside any transaction
 *   judge.c    struct reading → effect, answer, settlement; in one writer command
 *   run.c      one letter's commands through the arbiter; with run_move.c, run_acts.c, run_games.c
 *   answer.c   the answer's words, and the intent that carries them
 *   tell.c     what is answered to questions
 *   bounce.c   what comes back to the bounce address
 *   try.c      the dry run's words
 *
 * Ownership: as each struct says.  Threads: a reading and an act belong to one thread at a time.
 */
#ifndef FH_INTAKE_INTERNAL_H
#define FH_INTAKE_INTERNAL_H

#include "intake/grammar.h"
#include "intake/intake.h"
#include "intake/sender.h"
#include "mail/letter.h"
#include "mail/reply.h"
#include "rules/notation.h"
#include "store/held.h"
#include "store/outbox.h"
#include "words/words.h"

enum { REASON_SLUG_SIZE = 64 };

/* ------------------------------------------------------------------------------- read.c */

/* A letter as read.  reading_free() when done. */
struct reading {
    struct inbox_row row;      /* without raw */
    enum intake_recipient to;
    bool has_letter;           /* false: it could not be read; fault says why */
    struct err fault;
    struct letter *letter;
    struct reply reply;        /* of its text, or of its HTML */
    bool is_between;           /* the commands were looked for between quotes (P10) */
    bool is_html;              /* … in the HTML */
    struct grammar grammar;
    struct reading *held;      /* the letter that a `confirm` token is about; NULL */
};
void reading_free(struct reading *reading); /* NULL is allowed */

/* Read the raw bytes of a row (raw may be NULL: they are gone).  ST_OK also for what cannot be
 * read; ST_NOMEM. */
MUST_CHECK enum status reading_make(const struct intake_options *options,
                                    const struct inbox_row *row, const void *raw, size_t n,
                                    struct reading **ret_reading, struct err *err);
/* Read the letter that a `confirm` token is about too, if it is one. */
MUST_CHECK enum status reading_find_held(const struct intake_options *options,
                                         struct store_conn *conn, struct reading *reading,
                                         struct err *err);
/* Both, from the store: with the letter held by a confirm token if it is one. */
MUST_CHECK enum status reading_load(const struct intake_options *options, struct store_conn *conn,
                                    int64_t inbox_id, struct reading **ret_reading,
                                    struct err *err);

/* ------------------------------------------------------------------------------- judge.c */

/* One letter at work inside its command. */
struct act {
    const struct intake_options *options;
    struct store_txn *txn;
    struct store_conn *conn;
    utc_ms now;
    utc_ms at;                  /* when the letter was accepted: what it does is judged then */
    const struct reading *reading;
    struct sender sender;
    struct token_row token;     /* by which the commands are run; id 0: none */
    enum lang lang;
    const struct zone *zone;
    bool has_game;
    bool is_hidden;             /* the token's game is not for his eyes any more: as if none */
    struct game_row game;       /* as it is now; read anew by act_reload() */
    struct seat_row seats[SEAT_COUNT];
    unsigned own;               /* bit seat: the user's */
    bool has_held;              /* a move of his is held in this game */
    struct held_row held;
    unsigned resigning;         /* bit seat: his resignation of it is held */
    struct held_row resignations[SEAT_COUNT];

    struct buf text;            /* the answer */
    bool wants_board;
    bool has_acted;             /* something was changed */
    bool has_failed;            /* a command was refused: nothing is kept */
    bool is_confirmed;          /* its player has said that he means it */
    bool wants_word;            /* nothing was kept: it waits for his `confirm` */
    char reason[REASON_SLUG_SIZE];
    char failed_line[GRAMMAR_SHOWN_SIZE]; /* the command that was refused, as written */
    int64_t asks_about;         /* the letter that the answer's token confirms; 0: this one */
    int64_t answer_id;
    char template_name[TEMPLATE_SIZE]; /* of the answer, once it is put */
    enum token_purpose answer_purpose; /* … of the token that it carries */

    struct buf *trace;          /* dry run: what is found out; else NULL */
};

/* What became of a letter. */
struct judged {
    enum inbox_verdict verdict;
    int64_t user_id;
    bool has_answer;
};

/* M5: whether a letter's move is what its writer has had recorded already by the same address, held
 * or played; then the answer says so, and nothing else is done.  Who is not sure that his letter
 * came writes it again. */
MUST_CHECK enum status repeat_answer(struct act *a, const struct grammar *g, bool *ret_is,
                                     struct err *err);

/* Settle the row of a reading.  ST_CONFLICT (REASON_ALREADY_DONE): somebody has meanwhile, or it is
 * not claimed.  trace may be NULL. */
MUST_CHECK enum status judge(const struct intake_options *options, struct store_txn *txn,
                             utc_ms now, const struct reading *reading, struct buf *trace,
                             struct judged *ret, struct err *err);

/* The game, its seats and what of his is held anew. */
MUST_CHECK enum status act_reload(struct act *a, struct err *err);
/* The present position, in memory of its own; free() it. */
MUST_CHECK enum status act_position(const struct act *a, struct position **ret, struct err *err);
void trace(struct act *a, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* ------------------------------------------------------------------------------- run.c */

/*
 * Run the commands of a grammar in order as one unit, each answered in a->text.  A refusal undoes
 * them all, sets has_failed and reason, and leaves only itself in the text.  So does a resignation
 * that is right but was not confirmed, where it must be: then wants_word is set, and the text holds
 * the commands.
 */
MUST_CHECK enum status run_commands(struct act *a, const struct grammar *grammar,
                                    struct err *err);

/* ------------------------------------------------------------------------------- answer.c */

#define SAY(a, code, ...)                                                                          \
    say(a, code, (const struct words_arg[]){__VA_ARGS__},                                          \
        COUNT_OF(((const struct words_arg[]){__VA_ARGS__})))

/* A text of the catalogue at the end of the answer. */
void say(struct act *a, const char *code, const struct words_arg *args, size_t n);
void say_plain(struct act *a, const char *code);
void say_line(struct act *a); /* ends the line */

/* "> e2-e4" above its result; "Success: " before it. */
void say_command(struct act *a, const struct command *command);
void say_success(struct act *a);

/* "Thu 3 December 2026, 18:30 EET (Europe/Chisinau), that is …, 16:30 UTC, in 6 d 4 h" */
void instant_put(struct buf *out, const struct act *a, utc_ms at);
/* A seat's army, and who plays it. */
const char *colour_of(const struct act *a, int seat);
const char *holder_of(const struct act *a, int seat);

/* Why the letter is refused before anything is run. */
void say_grammar_fault(struct act *a, const struct grammar *grammar);
/* A line more on what is written wrongly in a line, if that can be told. */
void say_shape_hint(struct act *a, struct buf *out, const char *line);
/* How a command is written, with squares of the sender's own fortress where it has some. */
enum { USAGE_SIZE = 128 };
const char *command_usage(const struct act *a, enum command_kind kind, char ret[USAGE_SIZE]);
/* The sender's first seat; South where he has none. */
int own_seat(const struct act *a);
/* Whose reserve a `place` is about: the token's seat, else own_seat(). */
int placing_seat(const struct act *a);
void say_help(struct act *a, const char *about);

/* The answer into the outbox.  purpose: of the token it carries. */
MUST_CHECK enum status answer_put(struct act *a, const char *template_name,
                                  enum token_purpose purpose, struct err *err);
/* The word for a purpose that fits the game as it is now. */
enum token_purpose answer_purpose(const struct act *a);

/* ------------------------------------------------------------------------------- tell.c */

MUST_CHECK enum status tell(struct act *a, const struct grammar *grammar,
                            const struct command *command, struct err *err);
/* Whether a question needs a game. */
bool tell_needs_game(enum command_kind kind);
/* "e2e3, e2e4 …" of the seat on turn: from a square, of a kind, or all; sorted.  Returns how many.
 */
int moves_put(struct buf *out, const struct position *pos, int from, enum kind kind);
/* What of his is on hold in the game, and until when. */
void say_held(struct act *a);
/* Who won a game that is over, and how; else nothing. */
void say_result(struct act *a);
/* Which round a coming move belongs to, as letters number them. */
MUST_CHECK enum status round_of(struct act *a, int *ret_round, struct err *err);

/* ------------------------------------------------------------------------------- bounce.c */

MUST_CHECK enum status judge_bounce(struct act *a, const char **ret_reason, int64_t *ret_user_id,
                                    struct err *err);

/* ------------------------------------------------------------------------------- try.c */

void trace_reading(struct act *a);
/* The token alone, of a letter that cannot be read. */
void trace_token(struct act *a);

#endif
