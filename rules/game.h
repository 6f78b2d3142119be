/*
 * rules/game.h - what a game is: a table of facts, and the step tables built from it.
 *
 * Purpose: inside rules/ (and for tests that make a game of their own).  A new game on the box
 * of 16 x 16 squares is a new struct game_table; the code that moves men reads the tables built
 * from it and never asks which game it is.
 *
 * Text in a table: squares by name; "d1k14" is the rectangle between two corners; lists are
 * parted by blanks.  What is said for South holds for West, North and East by quarter turns, but
 * for `board`, `walls` and `arrays`, which are said whole.
 *
 * Ownership: game_build() fills a struct game of the caller's; it keeps the pointer to the table.
 * Threads: a built game is constant.
 */
#ifndef RULES_GAME_H
#define RULES_GAME_H

#include "rules/rules.h"

/* The eight ways a man can step, clockwise from North.  A pawn of seat s that walks forward goes
 * direction s * 2; one that walks back, the opposite. */
enum direction { NORTH, NORTH_EAST, EAST, SOUTH_EAST, SOUTH, SOUTH_WEST, WEST, NORTH_WEST, WAYS };

static inline unsigned way_forward(enum seat seat)
{
    return seat * 2u;
}
static inline unsigned way_of_pawn(enum seat seat, bool turned)
{
    return (seat * 2u + (turned ? 4u : 0u)) & 7u;
}

/* The eight leaps of a knight, clockwise from the one that goes two North and one East. */
enum { LEAPS = 8, HASH_KEYS = 9248 };
enum {
    KEY_TURN = 8192,
    KEY_CONDITION = 8196,
    KEY_CASTLING = 8212,
    KEY_PASSED = 8220,
    KEY_GAME = 9244
};
extern const int8_t way_file[WAYS], way_rank[WAYS], leap_file[LEAPS], leap_rank[LEAPS];

/* What comes of a mate. */
enum mate_rule {
    MATE_INERT,   /* found at once; the army stays, inert: R-V12 – R-V16 */
    MATE_REMOVES, /* found on the victim's turn; its men leave the board: R-F14 */
    MATE_DECIDES  /* found on the victim's turn; its side has lost: R-M3 */
};

struct game_table {
    const char *name;
    int number;        /* in the hash, see position_hash() */
    int files, ranks;  /* of the bounding box, which is square */
    const char *letters;          /* of the four colours */
    const char *colours[SEATS];
    const char *board;            /* rectangles of squares on the board */
    bool odd_is_light;            /* file + rank odd: light */

    const char *fortress, *gate;  /* a walled rectangle and the steps through its gate; or NULL */
    const char *walls;            /* further walls: pairs of squares parted by each */
    bool knight_needs_way;        /* R-F6; else a knight leaps freely, R-V11 */

    const char *home, *pawns;     /* the line of pieces and the line of pawns */
    const char *arrays[2][SEATS]; /* [house_queens]: pieces from the owner's left to right */
    const char *reserve[SEATS];   /* usual places of the third rook, bishop, knight; or NULL */

    bool pawn_doubles;            /* double step, with en passant: R-F9 */
    bool pawn_leaps;              /* R-V9 */
    bool promotion_choice;        /* Q, R, B or N; else queen, unless the house says otherwise */
    const char *promote_step;     /* squares where a step promotes */
    const char *promote_capture;  /* … a capture */
    const char *turn_back;        /* squares where P becomes V; or NULL */
    const char *turn_forward;     /* … V becomes P; or NULL */
    const char *castling[2];      /* right, left: king's from and to, rook's from and to; or NULL */

    bool shields_partner;         /* R-V5; not together with castling or en passant */
    enum mate_rule mate;
    bool stalemate_draws;         /* one stalemated seat draws: R-M3; else R-V20 */
    bool pawn_move_resets_count;  /* R-C8 */
    bool house_inert, house_queens, house_promotion, house_reserve; /* switches it has */
};

struct castle {
    struct castling at;
    struct board path;   /* must be empty: all between king and rook */
    uint8_t way[3];      /* must not be attacked: from, passed, reached */
};

struct game {
    const struct game_table *table;
    struct board on_board;

    /* Squares that a step (leap) of that direction can enter: on the board, from the board, and
     * no wall between.  All geometry of moving is in these and what is derived from them. */
    struct board enter[WAYS];
    struct board leap_enter[LEAPS];

    /* By square: everything a man could reach on an empty board. */
    struct board ray[SQUARES][WAYS]; /* all squares that way, up to the edge or a wall */
    struct board straight[SQUARES];
    struct board diagonal[SQUARES];
    struct board steps[SQUARES];
    struct board leaps[SQUARES];
    /* Squares from which a pawn that walks way 2 * i attacks the square. */
    struct board pawn_sources[4][SQUARES];

    /* By seat. */
    struct board double_from[SEATS];
    struct board promote_step[SEATS];
    struct board promote_capture[SEATS];
    struct board turning[2][SEATS]; /* where a pawn turns back, a turned pawn turns forward */
    struct board pawn_squares[SEATS];  /* the line where pawns begin */
    struct board home_squares[SEATS];  /* the line where pieces begin */
    struct board fortress[SEATS];
    struct board pawn_range[SEATS][2]; /* where a pawn, a turned pawn can ever stand */
    struct castle castle[SEATS][2];
    /* By square: castling rights that end when a man leaves it or is taken on it. */
    uint8_t castling_lost[SQUARES];
};

/* Built with the first game, constant after. */
extern struct board square_boards[SQUARES];   /* each square as a set */
extern uint64_t hash_keys[HASH_KEYS];         /* see position_hash() */

/* By the difference of two squares on a board twice as wide, where it is unique. */
enum { DELTAS = 1024 };
extern uint8_t way_by_delta[DELTAS];

/* The direction of the line that leads from a to b, where one does. */
static inline unsigned way_along(int a, int b)
{
    return way_by_delta[(b + (b & 0xf0)) - (a + (a & 0xf0)) + DELTAS / 2];
}

/* Builds the tables of a game.  Asserts that its facts are sound: they are part of the program. */
void game_build(const struct game_table *table, struct game *ret_game);

/* The same for any two squares: -1 if they share no line. */
int way_between(int a, int b);

/* The home of a variant: the pieces of a seat from its left to its right. */
const char *variant_array(const struct variant *variant, enum seat seat);

/* The square `along` (from the owner's left, 0..7) of a line of eight like home or pawns. */
int line_square_at(const struct game *game, enum seat seat, const char *south_line, int along);

/* How many pieces a pawn may choose from: 1 (queen) or 4. */
static inline int variant_choices(const struct variant *variant)
{
    return variant->game->table->promotion_choice || variant->promotion == PROMOTION_ANY ? 4 : 1;
}

#endif
