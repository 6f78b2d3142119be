/*
 * store/games.h - games, their seats, who holds and held them, who is invited, who belongs.
 *
 *   open --all seats taken--> [placing] --> running --> finished
 *     \________________________\____________\______--> aborted
 *
 * A game row carries all that a page or a deadline needs, so that reading a game replays nothing.
 * The arbiter is the only caller of the functions that change: it reads the row, changes fields of
 * the struct and hands it to games_save(), which checks that nobody has changed it since.
 *
 * Members: who has to do with a game (players, organiser, invited) stands in a table of its own,
 * kept by the functions here: creating adds the organiser, seats_take() the player,
 * invitations_create() the invited.  One's games and the events of one's account go by it.
 *
 * Conventions, threads, errors: store/store.h.
 */
#ifndef FH_STORE_GAMES_H
#define FH_STORE_GAMES_H

#include "store/kinds.h"
#include "store/users.h"

enum {
    SEAT_COUNT = 4,
    GAME_PUBLIC_ID_SIZE = 9,   /* 8 characters */
    GAME_RULES_SIZE = 97,      /* rules/: VARIANT_TEXT_MAX */
    GAME_POSITION_SIZE = 1201, /* rules/: POSITION_TEXT_MAX */
    GAME_COMPACT_MAX = 256,    /* bytes */
    GAME_EXPLANATION_SIZE = 4096,
    SEAT_PLACEMENT_SIZE = 32   /* "p4 n3 o1" */
};

struct game_row {
    int64_t id;
    char public_id[GAME_PUBLIC_ID_SIZE];
    enum game_variant variant;
    char rules[GAME_RULES_SIZE]; /* "verney inert=safe queens=light promotion=queen" */
    enum game_reserve reserve;
    bool is_rated;
    enum game_visibility visibility;
    bool table_talk;
    enum game_clock clock;
    int64_t per_move_ms, grace_ms, placing_ms;
    int64_t organiser_id;

    enum game_state state;
    int open_seats;              /* kept by seats_…(); games_save() ignores it */
    utc_ms paused_at;            /* UTC_NONE: not paused */
    enum game_result result;     /* GAME_RESULT_NONE unless finished */
    enum game_cause cause;
    char start_position[GAME_POSITION_SIZE]; /* "" before the start */
    char position[GAME_POSITION_SIZE];       /* "" before the start */
    unsigned char compact[GAME_COMPACT_MAX];
    size_t compact_len;
    uint64_t position_hash;
    int ply;                     /* moves made */
    int turn_seat;               /* -1: nobody's turn */
    int64_t turn_user_id;        /* holder of turn_seat; 0 */
    char conditions[SEAT_COUNT + 1]; /* "aaaa" */
    int64_t state_no;            /* seq of the last event that changed men, conditions or turn */
    int64_t last_seq;            /* moved on by events_append() */
    int64_t last_event_id;       /* … */
    utc_ms turn_at;              /* when this turn, or the placing, began; UTC_NONE */
    utc_ms deadline_at;          /* UTC_NONE: none, or paused */
    char explanation[GAME_EXPLANATION_SIZE]; /* of the deadline, as clock/ writes it, or "" */
    unsigned char chain[STORE_HASH_SIZE];    /* after the last move */
    bool has_chain;              /* false before the first move: the chain is empty then */
    utc_ms expires_at;           /* open: aborted if not full by then; UTC_NONE */
    utc_ms created_at;
    utc_ms started_at, moved_at, ended_at; /* UTC_NONE: not yet */
    utc_ms updated_at;
};

struct seat_row {
    int64_t game_id;
    int seat;
    enum seat_state state;
    int64_t user_id;             /* 0: nobody */
    char handle[HANDLE_SIZE];    /* of the holder; "" */
    char display_name[DISPLAY_NAME_SIZE];
    utc_ms taken_at;
    char placement[SEAT_PLACEMENT_SIZE]; /* of the reserve; "" : not placed.  Hidden until all are.
                                          */
    utc_ms placed_at;
    enum seat_left_how left_how; /* SEAT_STAYED: the army is in the game */
    utc_ms left_at;
    int late_moves;
};

struct holder_row {
    int64_t game_id;
    int seat;
    int64_t user_id;
    enum holder_role role;
    utc_ms since_at;
    utc_ms until_at; /* UTC_NONE: still */
};

struct invitation_row {
    int64_t id;
    int64_t game_id;
    int seat;
    int64_t user_id;            /* 0: by mail, not known who it is */
    char address[ADDRESS_SIZE]; /* "" : by handle, or settled (it is erased then) */
    char address_key[ADDRESS_SIZE];
    int64_t invited_by;
    enum invitation_state state;
    utc_ms created_at, expires_at;
    utc_ms settled_at; /* UTC_NONE: pending */
};

/* ---------------------------------------------------------------- games */

/* Uses public_id … organiser_id, conditions, expires_at, created_at and updated_at of *game.  It
 * is open, its four seats too, and the organiser is a member.
 * ST_CONFLICT (REASON_ALREADY_DONE) when the public id is taken: draw another. */
MUST_CHECK enum status games_create(struct store_txn *txn, const struct game_row *game,
                                    int64_t *ret_id, struct err *err);

/* ST_NOT_FOUND with REASON_NO_SUCH_GAME. */
MUST_CHECK enum status games_get(struct store_conn *conn, int64_t id, struct game_row *ret_game,
                                 struct err *err);
MUST_CHECK enum status games_find(struct store_conn *conn, const char *public_id,
                                  struct game_row *ret_game, struct err *err);

MUST_CHECK enum status games_find_id(struct store_conn *conn, const char *public_id,
                                     int64_t *ret_id, struct err *err);

/* Store all fields that can change (paused_at … explanation, chain, expires_at, started_at …
 * updated_at, state, result, cause), if the stored updated state is still that of `game`: its
 * last_seq must be the stored one, or the caller appended the events in between himself
 * (events_append() with the same struct keeps last_seq in step, and gives no number twice).
 * ST_CONFLICT (REASON_STATE_MISMATCH) otherwise.  Ending a game marks its members' rows as over and
 * keeps the tally. */
MUST_CHECK enum status games_save(struct store_txn *txn, const struct game_row *game,
                                  struct err *err);

/* How many games of each state there are; constant time. */
MUST_CHECK enum status games_tally(struct store_conn *conn, int64_t ret_n[GAME_STATE_COUNT_],
                                   struct err *err);

/* ---------------------------------------------------------------- lists of games */

/* What a list shows of a game. */
struct game_brief {
    int64_t id;
    char public_id[GAME_PUBLIC_ID_SIZE];
    enum game_variant variant;
    char rules[GAME_RULES_SIZE];
    enum game_reserve reserve;
    bool is_rated;
    enum game_visibility visibility;
    bool table_talk;
    enum game_clock clock;
    int64_t per_move_ms, grace_ms;
    int64_t organiser_id;
    char organiser[HANDLE_SIZE];
    char organiser_name[DISPLAY_NAME_SIZE];
    enum game_state state;
    int open_seats;
    utc_ms paused_at;
    enum game_result result;
    enum game_cause cause;
    int ply;
    int turn_seat; /* -1 */
    int64_t state_no, last_seq;
    utc_ms turn_at, deadline_at, expires_at, created_at, started_at, moved_at, ended_at, updated_at;
    struct {
        enum seat_state state;
        int64_t user_id;
        char handle[HANDLE_SIZE]; /* "" : nobody */
        char display_name[DISPLAY_NAME_SIZE];
        enum seat_left_how left_how;
    } seats[SEAT_COUNT];
};

/*
 * Which games, in which order.  Zero and the …_ANY values leave a filter out.
 *   turn_user_id   games that wait for this user, to move or to place, by deadline (those without
 *                  one last)
 *   all others     newest first (by id, falling)
 * player_id looks at who belongs to the game as player, organiser or invited by his account.
 * invited_user_id is who has a pending invitation to it, to his account or to the address that he
 * has proved; he may see such a game, so that viewer_id is not looked at.
 * viewer_id decides which games that only their players may see are listed: those of this user.
 */
enum { GAME_ANY = -1 };
struct game_filter {
    int64_t player_id;     /* 0: any */
    int64_t turn_user_id;  /* 0: any; with it player_id is ignored */
    int64_t invited_user_id; /* 0: any; with turn_user_id there are none: such a game is open */
    int state;             /* enum game_state or GAME_ANY */
    int over;              /* with player_id: 0 going on, 1 ended, GAME_ANY */
    int variant;           /* enum game_variant or GAME_ANY */
    bool joinable;         /* open, with a seat that anyone may take */
    int64_t viewer_id;     /* 0: a stranger */
    bool sees_all;         /* an operator: private games too */
};
#define GAME_FILTER_INIT                                                                           \
    ((struct game_filter){.state = GAME_ANY, .over = GAME_ANY, .variant = GAME_ANY})

/* Where a page ended; zero it for the first.  Give it out only as an opaque text. */
struct game_cursor {
    int64_t id;     /* last game listed; 0: from the start */
    utc_ms key_at;  /* its deadline when listed by turn */
};

MUST_CHECK enum status games_list(struct store_conn *conn, const struct game_filter *filter,
                                  const struct game_cursor *from, struct game_brief *rows,
                                  size_t max, size_t *ret_n,
                                  struct game_cursor *ret_next /* id 0: no more */,
                                  struct err *err);

/* How many games that are not over the user has a seat in or runs, but for one (0: none left out);
 * no more than max are counted. */
MUST_CHECK enum status games_count_of_user(struct store_conn *conn, int64_t user_id,
                                           int64_t but_game_id, int max, int *ret_n,
                                           struct err *err);

/* As a list has it, one game. */
MUST_CHECK enum status games_brief(struct store_conn *conn, int64_t id,
                                   struct game_brief *ret_row, struct err *err);

/* Ids of all games of a state in rising order, those after `after`: for sweeps (verify, outage). */
MUST_CHECK enum status games_ids(struct store_conn *conn, int state /* or GAME_ANY */,
                                 int64_t after, int64_t *ret_ids, size_t max, size_t *ret_n,
                                 struct err *err);


/* ---------------------------------------------------------------- seats */

/* All four, in turn order. */
MUST_CHECK enum status seats_get(struct store_conn *conn, int64_t game_id,
                                 struct seat_row ret_seats[SEAT_COUNT], struct err *err);
/* Those (bit 1 << seat) that the user holds; none for 0, who is nobody. */
unsigned seats_of_user(const struct seat_row seats[SEAT_COUNT], int64_t user_id);
/* … whose army has left in that way. */
unsigned seats_left_by(const struct seat_row seats[SEAT_COUNT], enum seat_left_how how);
/* user takes it: seat, holder and member rows.  ST_CONFLICT (REASON_GAME_FULL) when it is taken.
 * If the game is running and it is this seat's turn, turn_user_id follows. */
MUST_CHECK enum status seats_take(struct store_txn *txn, int64_t game_id, int seat,
                                  int64_t user_id, enum holder_role role, utc_ms now,
                                  struct err *err);
/* user leaves it before the start: it is open again.  If he is to hear of it himself, append the
 * event first: from here on he may have nothing more to do with the game.  ST_CONFLICT unless he
 * holds it. */
MUST_CHECK enum status seats_leave(struct store_txn *txn, int64_t game_id, int seat,
                                   int64_t user_id, utc_ms now, struct err *err);
MUST_CHECK enum status seats_place(struct store_txn *txn, int64_t game_id, int seat,
                                   const char *placement, utc_ms now, struct err *err);
/* The army is absent now (R-C9): resigned or forfeited.  The seat stays its holder's. */
MUST_CHECK enum status seats_left(struct store_txn *txn, int64_t game_id, int seat,
                                  enum seat_left_how how, utc_ms now, struct err *err);
MUST_CHECK enum status seats_add_late(struct store_txn *txn, int64_t game_id, int seat,
                                      struct err *err);

/* Everyone who held a seat of the game, by seat and time. */
MUST_CHECK enum status holders_list(struct store_conn *conn, int64_t game_id,
                                    struct holder_row *rows, size_t max, size_t *ret_n,
                                    struct err *err);

/* ---------------------------------------------------------------- who belongs to it */

struct member_row {
    int64_t user_id, game_id;
    bool is_player, is_organiser, is_invited, is_over;
};
/* ST_NOT_FOUND: a stranger (also who has left). */
MUST_CHECK enum status members_get(struct store_conn *conn, int64_t game_id, int64_t user_id,
                                   struct member_row *ret_row, struct err *err);
MUST_CHECK enum status members_list(struct store_conn *conn, int64_t game_id,
                                    struct member_row *rows, size_t max, size_t *ret_n,
                                    struct err *err);

/* ---------------------------------------------------------------- invitations */

/* Marks the seat as kept too.  user_id 0 with an address and a token_hash: by mail.
 * ST_CONFLICT when the seat is taken or kept already. */
MUST_CHECK enum status invitations_create(struct store_txn *txn, const struct invitation_row *row,
                                          const unsigned char *token_hash, int64_t *ret_id,
                                          struct err *err);
MUST_CHECK enum status invitations_get(struct store_conn *conn, int64_t id,
                                       struct invitation_row *ret_row, struct err *err);
MUST_CHECK enum status invitations_find(struct store_conn *conn,
                                        const unsigned char token_hash[STORE_HASH_SIZE],
                                        struct invitation_row *ret_row, struct err *err);
/* The pending one for a seat.  ST_NOT_FOUND. */
MUST_CHECK enum status invitations_of_seat(struct store_conn *conn, int64_t game_id, int seat,
                                           struct invitation_row *ret_row, struct err *err);
/* Pending ones for a user, and for an address (when its owner registers). */
MUST_CHECK enum status invitations_of_user(struct store_conn *conn, int64_t user_id,
                                           struct invitation_row *rows, size_t max, size_t *ret_n,
                                           struct err *err);
MUST_CHECK enum status invitations_of_address(struct store_conn *conn, const char *address_key,
                                              struct invitation_row *rows, size_t max,
                                              size_t *ret_n, struct err *err);
/* What an account stands under among the addresses that were invited: none begins with an @. */
enum { INVITED_KEY_SIZE = 24 };
void invitations_key(int64_t user_id, char ret_key[INVITED_KEY_SIZE]);
/* How many were made to the address (or the account, by its key) after `since`, by whomever and by
 * one: also those that are settled or whose game was aborted, but none older than
 * INVITED_KEEP_MS. */
#define INVITED_KEEP_MS MS_DAY
MUST_CHECK enum status invitations_to_address(struct store_conn *conn, const char *address_key,
                                              utc_ms since, int64_t by, int64_t *ret_n,
                                              int64_t *ret_n_by, struct err *err);
/* Housekeeping: what is only kept for that count is forgotten if made before `before`. */
MUST_CHECK enum status invitations_purge(struct store_txn *txn, utc_ms before, int max,
                                         int64_t *ret_n, struct err *err);
/* A mailed invitation gets its real token when its letter is composed.  ST_CONFLICT
 * (REASON_ALREADY_DONE) unless it is pending. */
MUST_CHECK enum status invitations_set_token(struct store_txn *txn, int64_t id,
                                             const unsigned char token_hash[STORE_HASH_SIZE],
                                             struct err *err);
/* All of a game, by seat. */
MUST_CHECK enum status invitations_of_game(struct store_conn *conn, int64_t game_id,
                                           struct invitation_row *rows, size_t max, size_t *ret_n,
                                           struct err *err);
/* An invitation by mail turns out to be for this user: he becomes a member. */
MUST_CHECK enum status invitations_claim(struct store_txn *txn, int64_t id, int64_t user_id,
                                         struct err *err);
/* accepted (seats_take() follows), declined, expired or withdrawn.  The address and its token are
 * erased, the seat is open again.  Append the event first, as with seats_leave().  ST_CONFLICT
 * (REASON_ALREADY_DONE) unless it is pending. */
MUST_CHECK enum status invitations_settle(struct store_txn *txn, int64_t id,
                                          enum invitation_state state, utc_ms now,
                                          struct err *err);

#endif
