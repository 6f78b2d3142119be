/*
 * rules/notation.h - moves in writing: coordinates, short algebraic, spoken; and reading them.
 *
 * Purpose
 *   R-T2 of docs/rules-of-play.md in both directions.  Three ways of writing a move:
 *     coordinates  "e2e3", "k13l14q"       what files, mails and the API carry
 *     short        "Nf3", "exd5", "O-O"    what people read in a score
 *     spoken       "knight from g1 takes bishop f3, check to Red"
 *   and one reader for all that people type, which answers exactly: one legal move, or none and
 *   why, or several and which.
 *
 * Calling sequence
 *   move_print_coordinate(), move_print_short(), spoken_of_move() + spoken_print();
 *   move_read(), then by its verdict the move, the candidates or move_reading_sentence().
 *
 * Languages: struct spoken and struct move_reading hold everything a sentence needs; the
 * functions here that say it do so in English.
 *
 * Ownership, threads, buffers: as rules.h says.
 */
#ifndef RULES_NOTATION_H
#define RULES_NOTATION_H

#include "rules/rules.h"

/* ---------------------------------------------------------------- writing */

/* "e2e3", "k13l14q": needs no position.  At most 7 characters. */
enum { MOVE_COORDINATE_MAX = 8 };
size_t move_print_coordinate(struct move move, char *text, size_t size);

/* Put moves into the order of these texts by character code (strcmp()): the one in which lists of
 * moves are shown, and in which files of worked positions have them. */
void moves_sort(struct move_list *moves);

/*
 * Short algebraic of a legal move (an illegal one is a bug): the man's letter (none for a pawn,
 * turned or not), what tells it from other men of its kind that could go there legally, `x` if it
 * takes something, the square it goes to, `=Q` for a promotion; O-O towards the owner's right,
 * O-O-O towards the left.  A pawn that takes always names its file.
 *
 * To tell men apart the file is tried first, then the rank, then both; a pawn has only the file
 * or the whole square.  Turned and other pawns count as one kind.
 *
 * `marks`: then one `+` for each king that the move newly puts in check and that is not thereby
 * mated, and one `#` for each seat mated by it.  "Newly": from a live man that did not attack that
 * king before the move, so the moved man, a man on a line that it opened, or a man of a released
 * army; kings of either side count (R-V18).  "Mated": what play finds right after this move, so in
 * the games that look for mate on the victim's turn the mark stands at the move after which that
 * turn comes.
 */
enum { MOVE_SHORT_MAX = 20 };
size_t move_print_short(const struct position *pos, struct move move, bool marks, char *text,
                        size_t size);

/* The whole move with both squares, as PGN4 writes it: "h2-h3", "Ne1-f3", "Qg1xQn8+", "O-O";
 * a `+` for each king newly in check, mated ones among them, then a `#` for each seat mated;
 * castling has no `+`.  En passant: the square passed over. */
enum { MOVE_LONG_MAX = 24 };
size_t move_print_long(const struct position *pos, struct move move, char *text, size_t size);

/* What there is to say of a move.  Sets of seats: bit seat. */
struct spoken {
    enum seat seat;           /* who moves */
    struct move move;         /* with its type and promotion filled in */
    enum kind kind;           /* the man, as it was before the move */
    enum kind victim;         /* what is taken, or KIND_NONE */
    enum seat victim_seat;    /* whose, if something is taken */
    int victim_square;        /* where it stood (en passant: not move.to), or SQUARE_NONE */
    bool is_inert_victim;     /* it belonged to a mated army (house rule inert=capturable) */
    bool castles_left;        /* if move.type is MOVE_CASTLE */
    int rook_from, rook_to;   /* likewise; else SQUARE_NONE */
    int leapt;                /* the square of the partner's pawn leapt over, or SQUARE_NONE */
    enum kind becomes;        /* promotion, or KIND_NONE */
    bool turns_back;          /* a pawn that walks back from now on (R-V7) */
    bool turns_forward;       /* a pawn that walks forward again (R-V8) */
    unsigned checks;          /* kings newly in check, mated ones not among them */
    unsigned checks_and_mates;/* kings newly in check, mated ones among them */
    unsigned mates;           /* newly mated */
    unsigned releases;        /* armies that woke up */
    unsigned passes;          /* stalemated: passed over */
    unsigned removals;        /* armies taken off the board */
    enum result result;       /* of the game, after the move */
    enum cause cause;
    uint8_t next;             /* enum seat: on turn after the move, if there is no result */
};

/* Plays the move on a copy and gathers what happened.  MOVE_LEGAL, or why not, with *ret_spoken
 * untouched. */
enum move_verdict spoken_of_move(const struct position *pos, struct move move,
                                 struct spoken *ret_spoken);

/* "knight from g1 takes bishop f3, check to Red".  English, without a full stop. */
enum { SPOKEN_MAX = 320 };
size_t spoken_print(const struct game *game, const struct spoken *spoken, char *text, size_t size);

/* ---------------------------------------------------------------- reading */

/*
 * What is read, with or without blanks, `+ # ! ?` or "e.p." at the end:
 *   two squares             e2e3  e2-e3  e2 e3  e2xd3  E2-E3  Ng1f3  Ng1-f3  Qg1xQn8+
 *   short algebraic         Nf3  Nxf3  Ngf3  N1f3  e3  exd4  Raxd4
 *   a promotion             k13l14q  k13l14Q  k13l14=Q  k13-l14/Q  kxl14=Q  kxl14(Q)
 *   castling                O-O  O-O-O  0-0  o-o-o  OO  (and the king's move)
 * `-`, `x`, `:` and `*` part the squares; so do the dashes U+2010 to U+2015 and U+2212, and the
 * cross U+00D7.  `P` or `V` may name a pawn (V only a turned one).
 *
 * Case: a capital letter is a man and a small one a file.  Beyond that only what cannot be
 * mistaken is allowed: a capital letter is a file where it stands before a rank and cannot be, or
 * as a man fits no legal move ("E2-E3", "B2B3"); small q and r are men; small k, b and n are men
 * only where no pawn of that file could go ("nf3": it is six files away).
 *
 * What is said must be true: a man's letter must be that of the man on the square, `x` means that
 * something is taken, a letter behind it what.  A pawn's move that names no file takes nothing.
 * `+`, `#` and "e.p." are not checked, and `x` may be left out.
 *
 * A promotion letter may be left out only where there is no choice.
 */
enum read_verdict {
    READ_MOVE,         /* exactly one legal move: `move` */
    READ_SEVERAL,      /* several legal moves: `candidates` */
    READ_ILLEGAL,      /* it is clear which move is meant: `judgement` says why it is not legal */
    READ_NONE,         /* no man of that kind can go to that square */
    READ_WRONG_MAN,    /* on square `from` there is another man than is said */
    READ_NO_CAPTURE,   /* it says `x`, but `move` takes nothing */
    READ_WRONG_VICTIM, /* what `move` takes is something else than is said */
    READ_NOT_A_MOVE,   /* it cannot be read: what stands at `offset` fits nothing */
    READ_EMPTY,        /* nothing but blanks */
    READ_TOO_LONG      /* more than MOVE_READ_MAX bytes */
};
const char *read_verdict_str(enum read_verdict verdict); /* "several", "wrong-man", … */

enum { MOVE_READ_MAX = 64, MOVE_CANDIDATES_MAX = 24 };

struct move_reading {
    enum read_verdict code;
    struct move move;                  /* READ_MOVE, READ_NO_CAPTURE, READ_WRONG_VICTIM */
    struct move_judgement judgement;   /* READ_ILLEGAL */
    int candidates;                    /* READ_SEVERAL: how many there are; 1 for READ_MOVE */
    struct move candidate[MOVE_CANDIDATES_MAX]; /* the first of them, sorted by from, to, piece */
    enum kind kind;                    /* the man named or meant, KIND_NONE when it is not said */
    enum kind there;                   /* WRONG_MAN: what stands on `from` (KIND_NONE: nothing);
                                        * WRONG_VICTIM: what would be taken */
    int from, to;                      /* squares named, or SQUARE_NONE */
    size_t offset;                     /* NOT_A_MOVE */
};

/* Reads the first `size` bytes of text as a move of the seat on turn.  *ret_reading is filled in
 * whatever the verdict. */
enum read_verdict move_read(const struct position *pos, const char *text, size_t size,
                            struct move_reading *ret_reading);

/* One English sentence without a full stop; for READ_SEVERAL it lists the candidates. */
enum { MOVE_READING_SENTENCE_MAX = 400 };
size_t move_reading_sentence(const struct position *pos, const struct move_reading *reading,
                             char *text, size_t size);

/*
 * A seat leaving, where a move would stand (R-C11): "resign w", "forfeit White", "resign south";
 * with `seat_needed` false also "resign" alone, which means the seat on turn.  Case does not
 * matter.
 */
enum leave_read_verdict {
    LEAVE_READ_OK,
    LEAVE_READ_OTHER,  /* it does not begin with resign or forfeit: try move_read() */
    LEAVE_READ_NO_SEAT,/* which seat? */
    LEAVE_READ_BAD_SEAT/* no seat of that letter, colour or name */
};
enum leave_read_verdict leave_read(const struct position *pos, const char *text, size_t size,
                                   bool seat_needed, enum seat *ret_seat,
                                   enum leave_how *ret_how);

#endif
