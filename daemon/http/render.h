/*
 * http/render.h - games, events, moves and people as the JSON that web/openapi.yaml describes.
 *
 * What somebody may see of a game is decided here, so that every answer, stream and refusal shows
 * the same: games of their players only are not there for others; addresses are nobody's business;
 * a placed reserve is its owner's alone until all have placed.
 *
 * Ownership: what is returned is the caller's (json_decref()).  NULL: out of memory.
 * Threads: as the conn.
 */
#ifndef FH_HTTP_RENDER_H
#define FH_HTTP_RENDER_H

#include <jansson.h>

#include "arbiter/arbiter.h"
#include "http/server.h"
#include "rules/rules.h"
#include "store/events.h"
#include "store/games.h"
#include "store/moves.h"

/* Who looks on. */
struct viewer {
    int64_t user_id; /* 0: nobody known */
    bool is_operator;
};
struct viewer request_viewer(const struct request *r);
/* … as the arbiter asks. */
struct arbiter_actor viewer_actor(struct viewer viewer);

/* A game in full, with its four seats. */
struct game_view {
    struct game_row game;
    struct seat_row seats[SEAT_COUNT];
};

/* Find a game by its public id for somebody.  REASON_NO_SUCH_GAME when there is none, or none for
 * him. */
MUST_CHECK enum status game_view_find(struct store_conn *conn, const char *public_id,
                                      struct viewer viewer, struct game_view *ret,
                                      struct err *err);

/*
 * All that an answer about a game says, read at one time.  The text can be made of it later and
 * without the store: what a move is answered with is read by the writer, in the transaction, and
 * written by the thread that sends it.
 */
struct game_facts {
    struct game_view view;
    struct viewer viewer;
    char organiser[HANDLE_SIZE], organiser_name[DISPLAY_NAME_SIZE];
    bool has_last;
    struct move_row last;
    char last_by[HANDLE_SIZE];
    bool has_offer; /* of a draw */
    int offer_seat;
    utc_ms offered_at;
    unsigned accepted; /* seats; bit i: seat i */
    unsigned invited;  /* … that the viewer may take */
};
enum { GAME_ANSWER_MAX = 1024 * 1024 };
/* seats, last: NULL, or what is known already. */
MUST_CHECK enum status game_facts_of(struct store_conn *conn, const struct game_row *game,
                                     const struct seat_row *seats, const struct move_row *last,
                                     struct viewer viewer, struct game_facts *ret,
                                     struct err *err);
/* Fails as buffers do. */
void render_facts(struct buf *out, const struct game_facts *facts);

MUST_CHECK enum status render_game(struct store_conn *conn, const struct game_view *view,
                                   struct viewer viewer, json_t **ret, struct err *err);
/* invited: the seats (bit 1 << seat) that the viewer may take by an invitation. */
json_t *render_summary(const struct game_brief *brief, struct viewer viewer, unsigned invited);
json_t *render_event(const struct event_row *event);
/* by NULL: not known */
json_t *render_move(const struct move_row *move, const char *by);
/* The handle of who made a move; "" when it cannot be found. */
void render_mover(struct store_conn *conn, const struct game_view *view, int64_t user_id,
                  char ret[HANDLE_SIZE]);

/* T6: what stops a game's clocks or gives time back, by name; of all games by the move. */
enum { RENDER_STOPS = 3 };
extern const char *const render_stopped_by[RENDER_STOPS];

json_t *render_instant(utc_ms at); /* null for UTC_NONE */
json_t *render_text(const char *text); /* null for "" and NULL */
extern const char *const seat_words[SEAT_COUNT]; /* "south", … */
const char *render_seat(int seat);
const char *render_colour(const struct game *game, int seat); /* "white" */
bool parse_seat(const char *word, int *ret);
const char *render_side(int team);  /* "south-north" */

const struct game *render_game_of(enum game_variant variant);
/* The answer of an act: the game as it is now, with an ETag. */
MUST_CHECK enum status answer_game(struct request *r, struct store_conn *conn, int status,
                                   const struct game_row *game, struct err *err);

/* … when its seats have been read. */
MUST_CHECK enum status answer_view(struct request *r, struct store_conn *conn, int status,
                                   const struct game_view *view, struct err *err);
/* … of facts.  move: NULL, or the move that was made: {"move": …, "game": …}, with the ETag that
 * the game alone would have. */
MUST_CHECK enum status answer_facts(struct request *r, int status, const struct game_facts *facts,
                                    const struct move_row *move, struct err *err);

/* ------------------------------------------------------------------------------ replaying */

/* It holds a position: on the heap, memory_aligned(). */
struct replay {
    struct position pos;
    bool has_last;
    struct move last; /* the last move made */
    int ply;
};
/* What is told of each step: a move (with the position before it) or a seat's leaving.  Return
 * false to stop. */
struct replay_step {
    const struct event_row *event;
    const struct position *before;
    struct move move; /* of a move */
    const struct outcome *outcome;
};
/*
 * Play a game again from its start, up to and with what followed move `ply` before the next
 * (negative: to its end).  step may be NULL; it is called for every event of the game, also those
 * that change no board (then before is NULL).  REASON_GAME_NOT_RUNNING before the start;
 * REASON_NOT_FOUND beyond the last ply.
 */
MUST_CHECK enum status game_replay(struct store_conn *conn, const struct game_row *game, int ply,
                                   bool (*step)(void *arg, const struct replay_step *step),
                                   void *arg, struct replay *ret, struct err *err);

#endif
