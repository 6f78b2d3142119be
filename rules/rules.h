/*
 * rules/rules.h - the rules of four-handed chess, as a pure library.
 *
 * Purpose
 *   Says what is legal, what a move causes and who has won, in the games of docs/rules-of-play.md:
 *   `verney` (Captain Verney's game, 160 squares), `fortress` (the Russian game with fortresses,
 *   192 squares) and `teams` (the modern team game).  R-numbers below are those of that page.
 *   Writing and reading of moves stands in notation.h, FEN4 and PGN4 in fen4.h and pgn4.h, counting
 *   of lines in perft.h; all of them need only this header.
 *
 * Calling sequence
 *   variant_find() or variant_parse()     which game, by which house rules
 *   position_start() or position_parse()  a position of it
 *   position_legal_moves(), position_judge_move(), position_play(), position_leave()
 *   draw_by_history()                     with the hashes and the COUNT of the game so far
 *
 * A position's variant
 *   R-T1's GAME field is only the game's name; the house rules are not in the text of a position.
 *   They belong to the game that is played.  So position_parse() takes the variant from its
 *   caller and refuses a text whose GAME field names another; variant_of_text() gives the variant
 *   with the usual house rules of the game that a text names, for callers who know no better.
 *   A position carries its variant along (by value); copying a position copies everything.
 *
 * Ownership
 *   Every struct is the caller's; nothing is allocated, kept or freed.  Strings returned as
 *   `const char *` are constants of the program.  Functions that write text take a buffer and its
 *   size, always end it with NUL if size > 0, and return the length the whole text has, as
 *   snprintf() does: a result >= size means it was cut.
 *
 * Threads
 *   Every function may be called from any thread; a struct must not be changed by one thread
 *   while another uses it.  The tables of geometry are built once, on first need, safely.
 *
 * Errors
 *   Functions that can fail return an enum whose value 0 means success; ret_ outputs are then
 *   set, and untouched otherwise.  Every such enum has a struct beside it with the particulars
 *   (squares, men, seats, field, rank, token), enough to say it in any language, and a function
 *   that says it in English.  Breaking a documented demand (a NULL, a seat > 3) is a bug: assert.
 *
 * Units and ranges
 *   A seat is 0..3 in turn order.  A square is 0..255: rank index * 16 + file index, both from 0,
 *   so a1 = 0, p1 = 15, a2 = 16.  All games share this box of 16 x 16; which of its squares are
 *   on the board is the game's affair.
 */
#ifndef RULES_RULES_H
#define RULES_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---------------------------------------------------------------- seats, men, squares */

/* In turn order (clockwise).  South and North are team 0, West and East team 1. */
enum seat { SEAT_SOUTH, SEAT_WEST, SEAT_NORTH, SEAT_EAST, SEATS };

static inline enum seat seat_left(enum seat seat) /* whose turn comes next */
{
    return (enum seat)((seat + 1u) & 3u);
}
static inline enum seat seat_partner(enum seat seat)
{
    return (enum seat)((seat + 2u) & 3u);
}
static inline int seat_team(enum seat seat)
{
    return (int)(seat & 1u);
}
static inline bool seats_are_enemies(enum seat a, enum seat b)
{
    return ((a ^ b) & 1u) != 0;
}

/* KIND_TURNED is a pawn that walks back (R-V7), written V. */
enum kind {
    KIND_NONE,
    KIND_KING,
    KIND_QUEEN,
    KIND_ROOK,
    KIND_BISHOP,
    KIND_KNIGHT,
    KIND_PAWN,
    KIND_TURNED,
    KINDS
};

char kind_letter(enum kind kind);         /* K Q R B N P V; '?' for KIND_NONE */
enum kind kind_of_letter(char letter);    /* capital letters only; else KIND_NONE */
const char *kind_name(enum kind kind);    /* "king" … "pawn"; "pawn" for a turned one too */
static inline bool kind_is_pawn(enum kind kind)
{
    return kind >= KIND_PAWN;
}

/* What stands on a square: 0 for nothing, else seat * 8 + kind. */
enum { MAN_NONE = 0, MEN = 32 };

static inline uint8_t man_of(enum seat seat, enum kind kind)
{
    return (uint8_t)(seat * 8u + kind);
}
static inline enum seat man_seat(uint8_t man)
{
    return (enum seat)(man >> 3);
}
static inline enum kind man_kind(uint8_t man)
{
    return (enum kind)(man & 7u);
}

enum { SQUARES = 256, SQUARE_NONE = -1 };

static inline int square_of(int file, int rank) /* both from 0 */
{
    return rank * 16 + file;
}
static inline int square_file(int square)
{
    return square & 15;
}
static inline int square_rank(int square)
{
    return square >> 4;
}

/* "a1" … "p16".  Writes at most 3 characters and the NUL; returns the length. */
enum { SQUARE_TEXT_MAX = 4 };
size_t square_print(int square, char text[SQUARE_TEXT_MAX]);

/* Reads a square name (small letters) at the start of the first `size` bytes of text: returns
 * how many bytes it takes (2 or 3) and sets *ret_square, or 0 when there is none.  The longest
 * number counts: "a12" is a12, never a1 and a 2.  Whether the square is on a game's board is
 * another question (square_is_on_board). */
size_t square_read(const char *text, size_t size, int *ret_square);

/* A set of squares: bit `square` of the 256, word 0 first. */
struct board {
    uint64_t word[4];
};

static inline bool board_has(const struct board *board, int square)
{
    return (board->word[square >> 6] >> (square & 63) & 1u) != 0;
}
static inline void board_add(struct board *board, int square)
{
    board->word[square >> 6] |= UINT64_C(1) << (square & 63);
}
static inline bool board_is_empty(const struct board *board)
{
    return (board->word[0] | board->word[1] | board->word[2] | board->word[3]) == 0;
}
int board_count(const struct board *board);
/* Takes the lowest square out of the set; SQUARE_NONE when it is empty.  So a loop is
 * while ((s = board_take(&set)) != SQUARE_NONE) … */
int board_take(struct board *board);

/* ---------------------------------------------------------------- games and house rules */

/* A game is a table of facts (game.h) with the step tables built from it. */
struct game;

enum house_inert { INERT_SAFE, INERT_CAPTURABLE };            /* R-V14 */
enum house_queens { QUEENS_LIGHT, QUEENS_LEFT };              /* R-V3 */
enum house_promotion { PROMOTION_QUEEN, PROMOTION_ANY };      /* R-V6 */
enum house_reserve { RESERVE_RANDOM, RESERVE_CHOSEN, RESERVE_USUAL }; /* R-F7 */

/* Which game by which house rules.  A small value: copy it freely.  A switch that a game does
 * not have stands at its first value (0) and means nothing there. */
struct variant {
    const struct game *game;
    uint8_t inert;     /* enum house_inert      verney */
    uint8_t queens;    /* enum house_queens     verney */
    uint8_t promotion; /* enum house_promotion  verney */
    uint8_t reserve;   /* enum house_reserve    fortress */
};

/* The games one after another, for menus: 0 verney, 1 fortress, 2 teams; NULL from GAMES on. */
enum { GAMES = 3 };
const struct game *game_at(int index);

/* The game of that name, with its usual house rules (the first value of each switch).  False
 * if there is none. */
bool variant_find(const char *name, struct variant *ret_variant);

enum variant_verdict {
    VARIANT_OK,
    VARIANT_NO_NAME,     /* the text is empty */
    VARIANT_UNKNOWN,     /* no game of that name */
    VARIANT_NO_VALUE,    /* a word without '=' */
    VARIANT_NO_KEY,      /* the game has no such house rule */
    VARIANT_BAD_VALUE,   /* the house rule has no such value */
    VARIANT_KEY_TWICE
};
struct variant_error {
    enum variant_verdict code;
    const struct game *game; /* once known */
    char word[40];           /* the offending word, cut to fit */
    size_t offset;           /* where it stands in the text */
};

/* Reads "NAME key=value key=value…", words parted by blanks, keys in any order.
 * Keys: verney inert=safe|capturable, queens=light|left, promotion=queen|any; fortress
 * reserve=random|chosen|usual; teams none.  error may be NULL. */
enum variant_verdict variant_parse(const char *text, struct variant *ret_variant,
                                   struct variant_error *error);
size_t variant_error_sentence(const struct variant_error *error, char *text, size_t size);
/* The house rules that a game has: "inert=safe|capturable, queens=light|left"; "" for none. */
size_t variant_rules_print(const struct game *game, char *text, size_t size);

/* Writes what variant_parse() reads: the name, then the house rules that differ from the usual
 * ones (`all` = true: every one the game has). */
enum { VARIANT_TEXT_MAX = 96 };
size_t variant_print(const struct variant *variant, bool all, char *text, size_t size);
bool variant_is_equal(const struct variant *a, const struct variant *b);

/* Facts of a game. */
const char *game_name(const struct game *game);                        /* "verney" */
int game_files(const struct game *game);                               /* box: 14 or 16 */
int game_ranks(const struct game *game);                               /* box: 14 or 16 */
bool square_is_on_board(const struct game *game, int square);          /* false for < 0, > 255 */
bool square_is_light(const struct game *game, int square);             /* R-V1, R-F2 */
char seat_letter(const struct game *game, enum seat seat);             /* 'w', 'r', … */
const char *seat_colour(const struct game *game, enum seat seat);      /* "White", "Red", … */
const char *seat_name(enum seat seat);                                 /* "South", … */
bool seat_of_letter(const struct game *game, char letter, enum seat *ret_seat);
/* Does the game know castling, en passant, turned pawns, inert armies? */
bool game_has_castling(const struct game *game);
bool game_has_en_passant(const struct game *game);
bool game_has_turning(const struct game *game);
bool game_has_inert_armies(const struct game *game);
/* Castling of R-F10; `left` = towards the owner's left.  False if the game has none. */
struct castling {
    uint8_t king_from, king_to, rook_from, rook_to;
};
bool game_castling(const struct game *game, enum seat seat, bool left, struct castling *ret);
/* The edge between two squares side by side, or the corner point between two squares that touch
 * by a corner: does a wall bar the step (R-F4, R-F5)?  False for squares that do not touch. */
bool game_has_wall(const struct game *game, int a, int b);
/* The sixteen squares of a seat's own fortress; false if the game has no fortresses (R-F3). */
bool game_reserve_squares(const struct game *game, enum seat seat, struct board *ret_squares);

/* ---------------------------------------------------------------- positions */

enum condition {
    CONDITION_LIVE,       /* a */
    CONDITION_MATED,      /* m */
    CONDITION_STALEMATED, /* s: passed over since the last move; its army is live */
    CONDITION_ABSENT      /* x: left the game, or removed */
};

enum result { RESULT_NONE, RESULT_TEAM0, RESULT_TEAM1, RESULT_DRAW };
const char *result_str(enum result result); /* "none" "team0" "team1" "draw" */

/* Why a game ended.  This library finds the first three; the others are for callers that
 * keep a game's record (draw_by_history, agreements), so that all speak of them alike. */
enum cause {
    CAUSE_NONE,
    CAUSE_MATE,            /* the last move or pass completed it: R-V19, R-F15, R-M3 */
    CAUSE_LEAVING,         /* a resignation or forfeit completed it: R-C9 */
    CAUSE_STALEMATE,       /* R-V20, R-F16, R-M3 */
    CAUSE_THREEFOLD,       /* claimed, R-C7 */
    CAUSE_FIVEFOLD,        /* R-C7 */
    CAUSE_FIFTY_ROUNDS,    /* claimed, R-C8 */
    CAUSE_SEVENTY_FIVE_ROUNDS, /* R-C8 */
    CAUSE_AGREEMENT        /* R-C10 */
};
const char *cause_str(enum cause cause); /* "mate", "leaving", "stalemate", … */

/*
 * A position and all that R-T1 says of it.  Read its fields freely; change them only through the
 * functions below, for the parts must agree with each other (position_is_ok).  Where the game is
 * over, `turn` is the seat that was on turn when it ended.
 */
struct position {
    struct board seats[SEATS]; /* the men of each seat */
    struct board kinds[KINDS]; /* the men of each kind, all seats; [KIND_NONE] stays empty */
    uint8_t men[SQUARES];      /* the same by square; MAN_NONE off the board */
    struct variant variant;
    uint64_t hash;             /* R-C7, see position_hash() */
    uint8_t king[SEATS];       /* king's square, if has_king */
    uint8_t passed[SEATS];     /* square passed over by this seat's pawn, if passed_by; else 0 */
    uint8_t has_king;          /* bit seat */
    uint8_t passed_by;         /* bit seat: an en-passant chance on this seat's pawn is listed */
    uint8_t castling;          /* bit seat * 2: right; bit seat * 2 + 1: left */
    uint8_t turn;              /* enum seat */
    uint8_t condition[SEATS];  /* enum condition */
    uint8_t live;              /* bit seat: live or stalemated */
    uint8_t result;            /* enum result */
    uint8_t cause;             /* enum cause */
    uint16_t count;            /* R-C8; stops at 65535 */
    uint32_t ply;              /* moves made */
};

static inline uint8_t position_man_at(const struct position *pos, int square)
{
    return pos->men[square];
}
static inline bool position_is_over(const struct position *pos)
{
    return pos->result != RESULT_NONE;
}
static inline bool position_can_castle(const struct position *pos, enum seat seat, bool left)
{
    return (pos->castling >> (seat * 2u + (left ? 1u : 0u)) & 1u) != 0;
}

/* The reserve of one army in the order rook, bishop, knight (R-F7). */
struct reserve {
    uint8_t square[3];
};
enum reserve_verdict {
    RESERVE_OK,
    RESERVE_NOT_IN_FORTRESS, /* a square is not in the seat's own fortress */
    RESERVE_SQUARE_TWICE,
    RESERVE_NONE_IN_GAME     /* the game has no reserve */
};
/* Is that a placement a player may choose?  *ret_square (may be NULL) = the bad square; set only
 * with the first two errors. */
enum reserve_verdict reserve_validate(const struct game *game, enum seat seat,
                                      const struct reserve *reserve, int *ret_square);
/* The placements of `usual`, and one drawn from 4 random bytes (each of the 3360 placements
 * equally likely to within 1 in a million). */
enum { RESERVE_RANDOM_BYTES = 4 };
void reserve_usual(const struct game *game, enum seat seat, struct reserve *ret_reserve);
void reserve_draw(const struct game *game, enum seat seat,
                  const uint8_t random[RESERVE_RANDOM_BYTES], struct reserve *ret_reserve);

/* The start array.  `reserves` (one an army, validated) is needed where the variant says
 * RESERVE_CHOSEN or RESERVE_RANDOM (draw them with reserve_draw()), and ignored otherwise; with
 * NULL a fortress game starts from the usual placement. */
enum reserve_verdict position_start(const struct variant *variant,
                                    const struct reserve reserves[SEATS],
                                    struct position *ret_position);

/* Fields of R-T1, from 1. */
enum position_field {
    FIELD_NONE,
    FIELD_GAME,
    FIELD_BOARD,
    FIELD_TURN,
    FIELD_CONDITIONS,
    FIELD_CASTLING,
    FIELD_EN_PASSANT,
    FIELD_COUNT,
    FIELD_PLY
};
enum position_verdict {
    POSITION_OK,
    /* form */
    POSITION_TOO_LONG,         /* more than POSITION_TEXT_MAX characters */
    POSITION_TOO_FEW_FIELDS,   /* field = the first one missing */
    POSITION_TOO_MANY_FIELDS,
    POSITION_EMPTY_FIELD,      /* two spaces together, or one at the start or end */
    POSITION_BAD_GAME,         /* no such game, or not the one the caller plays */
    POSITION_TOO_FEW_RANKS,
    POSITION_TOO_MANY_RANKS,
    POSITION_RANK_SHORT,       /* a rank says fewer squares than it has */
    POSITION_RANK_LONG,
    POSITION_BAD_TOKEN,        /* no man, number or x */
    POSITION_BAD_COLOUR,       /* a man's colour letter is none of the game */
    POSITION_BAD_KIND,         /* no such man (V only where pawns turn) */
    POSITION_BAD_EMPTIES,      /* 0, a leading zero, or more than the rank has */
    POSITION_EMPTIES_OFF_BOARD,/* a run of empties crosses a square that is off the board */
    POSITION_MAN_OFF_BOARD,
    POSITION_X_ON_BOARD,       /* x where there is a square of the board */
    POSITION_SPLIT_EMPTIES,    /* two numbers side by side */
    POSITION_TWO_KINGS,
    POSITION_NO_KING,          /* a seat that is not absent has no king */
    POSITION_BAD_TURN,
    POSITION_BAD_CONDITIONS,   /* not four letters of a m s x, or m in a game that removes men */
    POSITION_BAD_CASTLING,     /* not pairs of colour and r or l, in order, each once */
    POSITION_BAD_EN_PASSANT,   /* not colour + square, comma-parted, in order, each seat once */
    POSITION_BAD_NUMBER,       /* COUNT 0..65535, PLY 0..4294967295, no leading zeros */
    /* sense: position_validate() */
    POSITION_ABSENT_MEN,       /* a removed seat has men on the board (fortress) */
    POSITION_TOO_MANY_MEN,     /* more than the seat began with */
    POSITION_TOO_MANY_PAWNS,
    POSITION_TOO_MANY_OFFICERS,/* more pieces than promotions can explain */
    POSITION_PAWN_LINE,        /* a pawn stands where it can never be */
    POSITION_IS_OVER,          /* a side is wholly mated or absent */
    POSITION_TURN_NOT_LIVE,    /* the seat on turn is mated or absent */
    POSITION_TURN_NO_MOVE,     /* the seat on turn has no legal move */
    POSITION_NOT_MATED,        /* a seat is said to be mated and is not */
    POSITION_NOT_STALEMATED,   /* a seat is said to be passed over and cannot have been */
    POSITION_KING_IN_CHECK,    /* the seat that moved last stands in check */
    POSITION_CASTLING_MEN,     /* a right without its king and rook at home */
    POSITION_EN_PASSANT_SQUARE,/* no double step of that seat passes over that square */
    POSITION_EN_PASSANT_LATE,  /* a chance on a pawn of the seat on turn */
    POSITION_COUNT_PLY         /* COUNT is more than PLY */
};
struct position_error {
    enum position_verdict code;
    enum position_field field;
    int rank;       /* 1.. as on the board, 0 unless field is FIELD_BOARD */
    int token;      /* 1.. which token of the rank (or of the field), 0 if it is not about one */
    size_t offset;  /* byte of the text where it was found */
    int square;     /* SQUARE_NONE unless one is to blame */
    int seat;       /* enum seat, or -1 */
    char word[24];  /* the token itself, cut to fit */
    char wanted[48];/* what would have been right, in English, or "" */
};

/*
 * Reads a position of the variant (R-T1; exact form, single spaces, no line end).  What it
 * accepts, the other functions can work with; whether such a position makes sense is
 * position_validate()'s question.  A side that is wholly mated or absent gives the position its
 * result (the text does not say the cause: CAUSE_NONE).  error may be NULL.
 */
enum { POSITION_TEXT_MAX = 1200 };
enum position_verdict position_parse(const struct variant *variant, const char *text,
                                     struct position *ret_position,
                                     struct position_error *error);
/* "field 2 (board), rank 7, token 3: 'zQ' …" */
size_t position_error_sentence(const struct game *game, const struct position_error *error,
                               char *text, size_t size);
/* The variant of the game that the text names, usual house rules.  False if it names none. */
bool variant_of_text(const char *text, struct variant *ret_variant);

/* Writes R-T1.  POSITION_TEXT_MAX bytes always suffice. */
size_t position_print(const struct position *pos, char *text, size_t size);

/* Could a game stand so?  Kings, numbers of men, pawns' lines, conditions that hold, rights.
 * Checks in the order of enum position_verdict and says the first fault. */
enum position_verdict position_validate(const struct position *pos,
                                        struct position_error *error);

/* Do the parts of the struct agree (boards, men, kings, hash)?  For tests and assertions. */
bool position_is_ok(const struct position *pos);

/* Builds a position by hand: position_clear() gives an empty board, all live, South on turn;
 * position_put() puts a man (or MAN_NONE) on a square of the board; then set turn, conditions,
 * castling and chances through position_set_state(), which also makes the hash. */
void position_clear(const struct variant *variant, struct position *ret_position);
void position_put(struct position *pos, int square, uint8_t man);
struct position_state {
    enum seat turn;
    enum condition condition[SEATS];
    uint8_t castling;     /* as in struct position */
    int passed[SEATS];    /* square or SQUARE_NONE */
    uint32_t count, ply;
};
void position_set_state(struct position *pos, const struct position_state *state);

/* ---------------------------------------------------------------- moves */

enum move_type { MOVE_PLAIN, MOVE_DOUBLE, MOVE_EN_PASSANT, MOVE_CASTLE, MOVE_LEAP };

/* from, to and promotion say which move it is; type is found by the library and is set in
 * moves that come from it.  promotion: KIND_QUEEN…KIND_KNIGHT or KIND_NONE.  Verney's queening
 * is always given with KIND_QUEEN; as input KIND_NONE means the same there unless
 * promotion=any.  Castling is the king's move. */
struct move {
    uint8_t from, to;
    uint8_t promotion; /* enum kind */
    uint8_t type;      /* enum move_type */
};
static inline bool move_is_same(struct move a, struct move b)
{
    return a.from == b.from && a.to == b.to && a.promotion == b.promotion;
}

/*
 * No position of any game has more legal moves.  A move ends on one of the 192 squares; along
 * each of 8 directions only the nearest man can come to it (of a leaping pawn: the nearest but
 * one, and then the nearest is not the mover's), and 8 knights can: 16 a square.  At most 3 of
 * them are pawns' moves, which count fourfold on a promotion square: 9 more.  Castling adds 2.
 * 192 * (16 + 9) + 2 = 4802.
 */
enum { MOVES_MAX = 4802 };
struct move_list {
    int count;
    struct move at[MOVES_MAX];
};

/* All legal moves of the seat on turn, in a fixed order (not sorted by text); none when the
 * game is over. */
void position_legal_moves(const struct position *pos, struct move_list *ret_moves);
/* How many they are, without listing them. */
int position_count_moves(const struct position *pos);

enum move_verdict {
    MOVE_LEGAL,
    MOVE_GAME_OVER,
    MOVE_FROM_OFF_BOARD,      /* square */
    MOVE_TO_OFF_BOARD,        /* square */
    MOVE_FROM_EMPTY,          /* square */
    MOVE_NOT_YOUR_TURN,       /* a man of `other` was to be moved; seat is on turn */
    MOVE_MAN_INERT,           /* the man to be moved belongs to a mated or absent army (other) */
    MOVE_NOWHERE,             /* from = to */
    MOVE_ONTO_OWN,            /* square, kind */
    MOVE_ONTO_PARTNER,        /* square, kind */
    MOVE_ONTO_KING,           /* R-C3: other, square */
    MOVE_ONTO_MATED,          /* R-V14: that man belongs to a mated army: other, square, kind */
    MOVE_ONTO_ABSENT,         /* R-C9: …to an absent one */
    MOVE_WOULD_RELEASE,       /* R-V14 with inert=capturable: the mate would not hold */
    MOVE_NOT_ITS_WAY,         /* kind never goes so */
    MOVE_WAY_BLOCKED,         /* by the man (other, by_kind) on by_square */
    MOVE_WAY_OFF_BOARD,       /* the way leaves the board at by_square */
    MOVE_WALL,                /* R-F5: a wall stands between square and by_square */
    MOVE_KNIGHT_WALL,         /* R-F6: no way round a wall */
    MOVE_PAWN_BACKWARD,       /* R-V10: that pawn walks the other way */
    MOVE_PAWN_BLOCKED,        /* by the man (other, by_kind) on by_square */
    MOVE_PAWN_NO_VICTIM,      /* a pawn goes diagonally only to capture */
    MOVE_PAWN_NO_DOUBLE,      /* R-V4 or not from its own pawn squares */
    MOVE_PAWN_NO_LEAP,        /* R-V9: no partner's pawn in front, or the game has no leap */
    MOVE_EN_PASSANT_GONE,     /* R-F9: a chance there is, or was, but not for this move */
    MOVE_NO_CASTLING,         /* the game has none, or the king does not stand at home */
    MOVE_CASTLING_LOST,       /* king or rook has moved: no right */
    MOVE_CASTLING_BLOCKED,    /* by the man (other, by_kind) on by_square */
    MOVE_CASTLING_IN_CHECK,   /* from by_kind (other) on by_square */
    MOVE_CASTLING_THROUGH_CHECK, /* square is attacked by by_kind (other) on by_square */
    MOVE_KING_INTO_CHECK,     /* square is attacked by by_kind (other) on by_square */
    MOVE_LEAVES_CHECK,        /* the king stands in check and would stay so, from by_… */
    MOVE_OPENS_CHECK,         /* would open a check on the own king, from by_… */
    MOVE_OPENS_PARTNER_CHECK, /* R-V5: on the partner's, from by_… */
    MOVE_PROMOTION_MISSING,   /* must say which piece the pawn becomes */
    MOVE_PROMOTION_NONE,      /* nothing promotes here (or it turns instead) */
    MOVE_PROMOTION_BAD        /* not that piece: verney without promotion=any; king, pawn */
};
struct move_judgement {
    enum move_verdict code;
    struct move move;   /* as given; with type and promotion filled in when legal */
    int seat;           /* on turn */
    int other;          /* the seat named in the comment of the code, or -1 */
    enum kind kind;     /* the man that moves, or that stands on square */
    int square;         /* or SQUARE_NONE */
    enum kind by_kind;  /* or KIND_NONE */
    int by_square;      /* or SQUARE_NONE */
};

/* Is the move legal, and if not, why not?  judgement may be NULL. */
enum move_verdict position_judge_move(const struct position *pos, struct move move,
                                      struct move_judgement *ret_judgement);
const char *move_verdict_str(enum move_verdict verdict); /* "opens-check": a fixed code word */
/* One English sentence without a full stop: "leaves your king in check from the bishop on d4". */
size_t move_judgement_sentence(const struct position *pos,
                               const struct move_judgement *judgement, char *text, size_t size);

/* ---------------------------------------------------------------- play */

enum event_type {
    EVENT_NONE,
    EVENT_MOVED,       /* seat's kind from -> to (kind: as it was before) */
    EVENT_CAPTURED,    /* seat took other's by_kind on `to` (en passant: on the pawn's square) */
    EVENT_EN_PASSANT,  /* the capture before was en passant; to = square passed over */
    EVENT_LEAPT,       /* seat's pawn leapt the partner's pawn on `to` (other = partner) */
    EVENT_CASTLED,     /* seat's rook from -> to; left = by_kind is KIND_QUEEN, right KIND_KING */
    EVENT_PROMOTED,    /* seat's pawn on `to` became kind */
    EVENT_TURNED,      /* seat's pawn on `to` now walks the other way; kind = what it is now */
    EVENT_CHECK,       /* other's king on `to` stands in check from seat's kind on `from`; one
                        * event for each checking man, live armies only, after the move */
    EVENT_MATED,       /* seat is mated */
    EVENT_RELEASED,    /* seat's army is live again */
    EVENT_PASSED,      /* seat had no legal move and was not in check: stalemated, turn passes */
    EVENT_REMOVED,     /* seat's men left the board (fortress) */
    EVENT_RESIGNED,    /* seat */
    EVENT_FORFEITED,   /* seat */
    EVENT_TURN,        /* seat is on turn now */
    EVENT_GAME_OVER    /* result, cause */
};
struct event {
    uint8_t type;    /* enum event_type */
    uint8_t seat;    /* enum seat */
    uint8_t other;   /* enum seat, where the comment says so */
    uint8_t kind;    /* enum kind */
    uint8_t by_kind; /* enum kind */
    uint8_t from, to;
    uint8_t result;  /* EVENT_GAME_OVER: enum result */
    uint8_t cause;   /* EVENT_GAME_OVER: enum cause */
};
/* In the order in which things came about; the last is EVENT_TURN or EVENT_GAME_OVER.  Should
 * there ever be more than fit, the last place still holds the last event. */
enum { EVENTS_MAX = 64 };
struct outcome {
    int count;
    struct event at[EVENTS_MAX];
};
const char *event_type_str(enum event_type type);

/* Plays a move with all that it causes (R-V16, R-V17, R-V20; R-F14 – R-F17; R-M3).  When it is
 * not legal the position stays and *ret_judgement (may be NULL) says why.  ret_outcome may be
 * NULL.  Draws by repetition and count are not looked for: draw_by_history(). */
enum move_verdict position_play(struct position *pos, struct move move,
                                struct outcome *ret_outcome,
                                struct move_judgement *ret_judgement);

/* Takes a seat out of the game (R-C9, R-C11). */
enum leave_how { LEAVE_RESIGN, LEAVE_FORFEIT };
enum leave_verdict {
    LEAVE_OK,
    LEAVE_GAME_OVER,
    LEAVE_ABSENT,      /* it is out of the game already */
    LEAVE_NOT_ON_TURN  /* a forfeit comes on the seat's turn */
};
enum leave_verdict position_leave(struct position *pos, enum seat seat, enum leave_how how,
                                  struct outcome *ret_outcome);
const char *leave_verdict_str(enum leave_verdict verdict);

/* ---------------------------------------------------------------- attacks, hashes, draws */

/* The men of the seats in the set `by` (bit seat) that attack the square, whether they are live
 * or not, and whatever stands on it.  Pinned men attack (R-C3). */
void position_attackers(const struct position *pos, int square, unsigned by,
                        struct board *ret_men);
/* The live enemy men that attack the seat's king; returns how many (0 for an absent seat).  ret_men
 * may be NULL. */
int position_checkers(const struct position *pos, enum seat seat, struct board *ret_men);
static inline bool position_is_check(const struct position *pos, enum seat seat)
{
    return position_checkers(pos, seat, NULL) != 0;
}
/* The seats (bit seat) whose kings stand in check; mated ones are among them, absent not. */
unsigned position_checked_seats(const struct position *pos);

/*
 * The hash of R-C7: equal for positions of one game whose texts agree in BOARD, TURN, CONDITIONS,
 * CASTLING and ENPASSANT.  pos->hash is kept up by every function; this makes it from
 * scratch.  It is the same in every version and on every machine: exclusive-or of keys
 *   key(n) = splitmix64's output number n + 1 from seed 0x466f757268616e64 ("Fourhand")
 *   man m on square q         n = m * 256 + q               (m = seat * 8 + kind)
 *   seat s on turn            n = 8192 + s
 *   condition c > 0 of seat s n = 8196 + s * 4 + c
 *   castling right bit b      n = 8212 + b
 *   square q passed by seat s n = 8220 + s * 256 + q
 *   the game                  n = 9244 + number (verney 0, fortress 1, teams 2)
 * splitmix64: z = seed + (n + 1) * 0x9e3779b97f4a7c15; z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
 * z = (z ^ z >> 27) * 0x94d049bb133111eb; key = z ^ z >> 31.
 */
uint64_t position_hash(const struct position *pos);

/* How often the last of the hashes occurs among them (itself counted); 0 when n = 0. */
int repetition_count(const uint64_t *hashes, size_t n);

enum draw_verdict {
    DRAW_NONE,
    DRAW_CLAIM_THREEFOLD, /* the player to move may claim: R-C7 */
    DRAW_CLAIM_COUNT,     /* …: R-C8 */
    DRAW_FIVEFOLD,        /* drawn: R-C7 */
    DRAW_COUNT            /* drawn: R-C8 */
};
enum { COUNT_CLAIM = 200, COUNT_DRAWN = 300, REPEATS_CLAIM = 3, REPEATS_DRAWN = 5 };
/* The strongest that holds, from the hashes of every position of the game so far in order, the
 * present one last, and its COUNT.  Callers that take a move back drop its hash. */
enum draw_verdict draw_by_history(const uint64_t *hashes, size_t n, unsigned count);
const char *draw_verdict_str(enum draw_verdict verdict);

#endif
