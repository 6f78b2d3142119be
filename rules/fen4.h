/*
 * rules/fen4.h - positions as FEN4, the text that programs for the 160-square board exchange.
 *
 * Purpose
 *   Writes and reads FEN4 for the games on the 160 squares (verney, teams).  docs/formats.md tells
 *   the form and what maps to what.  FEN4's Red, Blue, Yellow and Green are the seats South, West,
 *   North and East, whatever colours the game itself gives them.
 *
 * What FEN4 cannot say
 *   which way a pawn walks, whether an army is mated (and may wake) or absent, that a seat was
 *   passed over, PLY, house rules, and the 192-square game.  fen4_losses() says which of these a
 *   position has.  PGN4 files of ours carry the position in a tag besides (pgn4.h).
 *
 * Reading
 *   What cannot be held by the game the caller asks for is refused with its line and column.  The
 *   game's own rules apply: castling rights and en-passant chances are ignored in a game that has
 *   neither, points always.  A dead seat is read as absent.  PLY becomes COUNT, the least it can
 *   be.  Keys in {…} that would change the game are refused unless empty; unknown ones are ignored.
 *
 * Ownership, threads, buffers: as rules.h says.
 */
#ifndef RULES_FEN4_H
#define RULES_FEN4_H

#include "rules/rules.h"

/* Both dialects of the corners that are not on the board are read; this one is written. */
enum fen4_corners {
    FEN4_CORNERS_X,      /* x for each of them: what chess.com writes today */
    FEN4_CORNERS_EMPTIES /* counted among the empties: older files and several programs */
};

enum { FEN4_TEXT_MAX = 2000 };

/* Can the game be said in FEN4 at all? */
bool fen4_has_game(const struct game *game);

/* Bits of what FEN4 does not say of this position; 0 when fen4_parse() gives the same again. */
enum fen4_loss {
    FEN4_LOSES_TURNED = 1,      /* a pawn walks back */
    FEN4_LOSES_MATED = 2,       /* a seat is mated, which reads back as absent */
    FEN4_LOSES_STALEMATED = 4,  /* a seat was passed over */
    FEN4_LOSES_PLY = 8,         /* PLY is not COUNT */
    FEN4_LOSES_HOUSE_RULES = 16 /* not the usual ones */
};
unsigned fen4_losses(const struct position *pos);

/* Writes one line.  0 if fen4_has_game() is false. */
size_t fen4_print(const struct position *pos, enum fen4_corners corners, char *text, size_t size);

enum fen4_verdict {
    FEN4_OK,
    FEN4_NO_SUCH_GAME,   /* the variant is not played on the 160 squares */
    FEN4_TOO_LONG,       /* more than FEN4_TEXT_MAX bytes */
    FEN4_ENDS_EARLY,     /* the text ends inside `field` */
    FEN4_BAD_TURN,       /* not R, B, Y or G */
    FEN4_BAD_FLAGS,      /* not four of 0 and 1, comma-parted */
    FEN4_BAD_POINTS,     /* not four numbers */
    FEN4_BAD_COUNT,      /* no number 0..65535 */
    FEN4_BAD_EXTRA,      /* {…} that cannot be read */
    FEN4_BAD_KEY_VALUE,  /* a key's value cannot be read, or contradicts the board */
    FEN4_OTHER_GAME,     /* a key that says another game is played */
    FEN4_NO_DASH,        /* `-` wanted */
    FEN4_BAD_TOKEN,      /* no man, number, x */
    FEN4_BAD_COLOUR,     /* a man's colour is none of r b y g */
    FEN4_BAD_KIND,       /* a man this game does not have */
    FEN4_WALL,           /* X on the board: walls are not in these games */
    FEN4_X_ON_BOARD,     /* x where there is a square of the board */
    FEN4_MAN_OFF_BOARD,
    FEN4_RANK_SHORT,     /* fewer than 14 columns */
    FEN4_RANK_LONG,      /* more than 14 columns */
    FEN4_TOO_MANY_RANKS,
    FEN4_TOO_FEW_RANKS,
    FEN4_TWO_KINGS,
    FEN4_NO_KING,        /* a seat that is not dead has no king */
    FEN4_DEAD_OWNER,     /* a dead man without an owner, and not just one dead seat */
    FEN4_DEAD_MAN_OF_LIVE,/* a dead man of a seat that is not dead */
    FEN4_CASTLING,       /* a right, but the king is not where this game castles from */
    FEN4_TRAILING        /* something follows the board */
};
enum fen4_field {
    FEN4_FIELD_NONE, FEN4_FIELD_TURN, FEN4_FIELD_DEAD, FEN4_FIELD_KING_SIDE,
    FEN4_FIELD_QUEEN_SIDE, FEN4_FIELD_POINTS, FEN4_FIELD_COUNT, FEN4_FIELD_EXTRA,
    FEN4_FIELD_BOARD
};
struct fen4_error {
    enum fen4_verdict code;
    enum fen4_field field;
    size_t offset;      /* byte of the text, from 0 */
    int line, column;   /* the same, from 1 */
    int rank;           /* 1..14 in the board, else 0 */
    int seat;           /* enum seat, or -1 */
    char word[32];      /* the token or key, cut to fit */
    char wanted[64];    /* what would have been right, in English, or "" */
};

/* Reads the first `size` bytes as a position of the variant.  Line ends after the fields and
 * after the ranks are allowed, and commas between tokens may be missing where nothing is unclear.
 * error may be NULL. */
enum fen4_verdict fen4_parse(const struct variant *variant, const char *text, size_t size,
                             struct position *ret_position, struct fen4_error *error);

/* "line 1, column 12, board, rank 13: …". */
enum { FEN4_SENTENCE_MAX = 320 };
size_t fen4_error_sentence(const struct fen4_error *error, char *text, size_t size);

const char *fen4_verdict_str(enum fen4_verdict verdict); /* "bad-turn", … */

#endif
