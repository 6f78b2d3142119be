/*
 * plain/plain.h - the three games a second time, as plainly as they can be said.
 *
 * This is the referee of the tests.  It includes no header of rules/, shares no
 * idea with it and has no tables worked out beforehand: every question is answered
 * by looping over squares, in the words of docs/rules-of-play.md, whose numbers
 * (R-V12 and the like) stand beside the lines that obey them.  It is meant to be
 * read next to that page and believed; it is slow, and nobody minds.
 *
 * Calling sequence:
 *     struct plain_position p;
 *     plain_start(PLAIN_VERNEY, house, &p)  or  plain_parse(line, house, &p, why)
 *     plain_legal_moves(&p, p.turn, moves)  then  plain_play(&p, &moves[i])
 *     or plain_resign(&p, seat), until p.result is no longer PLAIN_GOING.
 *
 * Seats are 0 South, 1 West, 2 North, 3 East: the order of turns.  Sides are
 * 0 (South and North) and 1 (West and East).
 * Ownership: everything is in structs of the caller; nothing is allocated.
 * Time:      none is read.
 * Threads:   no state but the caller's; any thread.
 * Errors:    plain_parse() says what it could not read; to play a move that is not
 *            legal is a fault of the caller and stops the program.
 */
#ifndef FH_TESTS_PLAIN_H
#define FH_TESTS_PLAIN_H

#include <stdbool.h>
#include <stddef.h>

enum plain_game { PLAIN_VERNEY, PLAIN_FORTRESS, PLAIN_TEAMS };

enum plain_result {
    PLAIN_GOING,
    PLAIN_TEAM0, /* South and North have won */
    PLAIN_TEAM1, /* West and East have won */
    PLAIN_DRAW
};

/* The house rules of verney; all false is the default game.  Others ignore them. */
struct plain_house {
    bool inert_capturable; /* inert=capturable */
    bool queens_left;      /* queens=left; matters to plain_start() only */
    bool promotion_any;    /* promotion=any */
};

/* File 1 is a, rank 1 is South's edge; file 0 means no square. */
struct plain_square {
    int file, rank;
};

/* kind is one of K Q R B N P V, or 0 where nobody stands. */
struct plain_man {
    signed char seat;
    char kind;
};

struct plain_position {
    enum plain_game game;
    struct plain_house house;
    struct plain_man at[17][17]; /* by file and rank, each from 1 */
    int turn;                    /* the seat to move */
    char condition[4];           /* a m s x, of each seat */
    bool castling[4][2];         /* of each seat: [0] to the right, [1] to the left */
    struct plain_square passed[4]; /* of each seat: square its double step went over */
    int count;                   /* R-T1 COUNT, turns */
    int ply;                     /* R-T1 PLY */
    enum plain_result result;
    int mated_on_turn; /* by the last search for the turn (R-V17); no part of the position */
};

/* promotion is 0 or one of Q R B N; of verney's queening it is Q. */
struct plain_move {
    struct plain_square from, to;
    char promotion;
};

enum {
    PLAIN_MOVES = 2048,  /* more than any position has */
    PLAIN_TEXT = 2048,   /* room for the text of any position */
    PLAIN_MOVE_TEXT = 8,  /* room for the text of any move: "d10d11q" and its end */
    PLAIN_WHY = 160
};

/* Words and letters. */
const char *plain_game_name(enum plain_game game);
char plain_colour(enum plain_game game, int seat); /* w r y b and so on */
const char *plain_result_name(enum plain_result result); /* "team0" "team1" "draw" "going" */

/* The array; fortress has its `usual` reserve. */
void plain_start(enum plain_game game, struct plain_house house, struct plain_position *ret);

/* R-T1 in and out.  plain_parse reads a text that plain_print could have written; false, with
 * a few words in why, if it cannot.  It does not ask whether the position could have arisen. */
bool plain_parse(const char *text, struct plain_house house, struct plain_position *ret,
                 char why[PLAIN_WHY]);
void plain_print(const struct plain_position *p, char text[PLAIN_TEXT]);

/* R-T2, the coordinate form only. */
void plain_print_move(const struct plain_move *m, char text[PLAIN_MOVE_TEXT]);

/* Every move the seat could make if it were its turn, sorted by the characters of its text.
 * Returns how many. */
size_t plain_legal_moves(const struct plain_position *p, int seat,
                         struct plain_move moves[PLAIN_MOVES]);
bool plain_has_legal_move(const struct plain_position *p, int seat);
bool plain_in_check(const struct plain_position *p, int seat);

/* Make a legal move of the seat on turn, with all that it causes. */
void plain_play(struct plain_position *p, const struct plain_move *m);

/* Take out a seat that is not absent yet (R-C11). */
void plain_resign(struct plain_position *p, int seat);

/* R-C7: is it the same position, for repetition? */
bool plain_same(const struct plain_position *a, const struct plain_position *b);

/* Geometry, for tests that look at it. */
bool plain_on_board(enum plain_game game, struct plain_square s);
bool plain_step_is_walled(enum plain_game game, struct plain_square a, struct plain_square b);
bool plain_leap_is_walled(enum plain_game game, struct plain_square a, struct plain_square b);
bool plain_in_fortress(int seat, struct plain_square s);

#endif
