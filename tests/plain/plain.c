/* plain/plain.c - see plain.h.  Read it beside docs/rules-of-play.md. */
#include "plain/plain.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Not assert(): the referee is awake in every build. */
static void must(bool so, const char *what)
{
    if (so)
        return;
    (void)fprintf(stderr, "plain: %s\n", what);
    abort();
}

/* ---- seats ---------------------------------------------------------------------------- */

enum { SOUTH, WEST, NORTH, EAST };

/* Partners sit opposite each other: South and North against West and East. */
static int partner_of(int seat)
{
    return (seat + 2) % 4;
}

static bool are_enemies(int a, int b)
{
    return a % 2 != b % 2;
}

static int side_of(int seat)
{
    return seat % 2;
}

/* The turn goes clockwise. */
static int left_of(int seat)
{
    return (seat + 1) % 4;
}

const char *plain_game_name(enum plain_game game)
{
    return game == PLAIN_VERNEY ? "verney" : game == PLAIN_FORTRESS ? "fortress" : "teams";
}

/* R-V2, R-F2, R-M1, R-T1: the colour letters in turn order. */
char plain_colour(enum plain_game game, int seat)
{
    return (game == PLAIN_VERNEY ? "wryb" : game == PLAIN_FORTRESS ? "wbru" : "rbyg")[seat];
}

const char *plain_result_name(enum plain_result result)
{
    static const char *const names[] = {"going", "team0", "team1", "draw"};

    return names[result];
}

/* ---- squares -------------------------------------------------------------------------- */

static struct plain_square square(int file, int rank)
{
    return (struct plain_square){file, rank};
}

static const struct plain_square nowhere = {0, 0};

static bool same_square(struct plain_square a, struct plain_square b)
{
    return a.file == b.file && a.rank == b.rank;
}

/* R-V1, R-F1: the width of the bounding box. */
static int box(enum plain_game game)
{
    return game == PLAIN_FORTRESS ? 16 : 14;
}

bool plain_on_board(enum plain_game game, struct plain_square s)
{
    int n = box(game);

    if (s.file < 1 || s.file > n || s.rank < 1 || s.rank > n)
        return false;
    if (game != PLAIN_FORTRESS)
        /* R-V1: file d..k or rank 4..11.  R-M1: the same. */
        return (s.file >= 4 && s.file <= 11) || (s.rank >= 4 && s.rank <= 11);
    /* R-F1: the block c-n by 3-14, and a 4x4 fortress in each corner of the box. */
    if (s.file >= 3 && s.file <= 14 && s.rank >= 3 && s.rank <= 14)
        return true;
    return (s.file <= 4 || s.file >= 13) && (s.rank <= 4 || s.rank >= 13);
}

/* The square as its owner would see it if he sat at the South side: the board given a quarter
 * turn for West, a half for North, three quarters for East.  So a rule that is written down for
 * South can be asked of any seat. */
static struct plain_square seen_by(enum plain_game game, int seat, struct plain_square s)
{
    int turn, n = box(game);

    /* South's square (f, r) is West's (r, n + 1 - f); this goes the other way. */
    for (turn = 0; turn < seat; turn++)
        s = square(n + 1 - s.rank, s.file);
    return s;
}

static int forward_file(int seat)
{
    return seat == WEST ? 1 : seat == EAST ? -1 : 0;
}

static int forward_rank(int seat)
{
    return seat == SOUTH ? 1 : seat == NORTH ? -1 : 0;
}

/* ---- walls ---------------------------------------------------------------------------- */

/* R-F3: South m1-p4; the others by quarter turns. */
bool plain_in_fortress(int seat, struct plain_square s)
{
    struct plain_square t = seen_by(PLAIN_FORTRESS, seat, s);

    return t.file >= 13 && t.rank <= 4;
}

/* R-F4, R-F5: the steps that South's fortress bars, and the others' by quarter turns. */
static bool walled_by(int seat, struct plain_square a, struct plain_square b)
{
    static const char barred[8][2][3] = {
        {"m4", "m5"}, {"n4", "n5"}, /* the wall towards the camp of the enemy on the right */
        {"l4", "m5"}, {"m4", "l5"}, /* the corner where wall and gate meet */
        {"m4", "n5"}, {"n4", "m5"}, /* across the wall */
        {"n5", "o4"},               /* round its outer end */
        {"l3", "m2"},               /* round the end of the wall below the gate */
    };
    int i;

    a = seen_by(PLAIN_FORTRESS, seat, a);
    b = seen_by(PLAIN_FORTRESS, seat, b);
    for (i = 0; i < 8; i++) {
        struct plain_square x = square(barred[i][0][0] - 'a' + 1, barred[i][0][1] - '0');
        struct plain_square y = square(barred[i][1][0] - 'a' + 1, barred[i][1][1] - '0');

        if ((same_square(a, x) && same_square(b, y)) || (same_square(a, y) && same_square(b, x)))
            return true; /* once for both directions */
    }
    return false;
}

/* Is the step from a square to one that touches it barred by a wall? */
bool plain_step_is_walled(enum plain_game game, struct plain_square a, struct plain_square b)
{
    int seat;

    if (game != PLAIN_FORTRESS)
        return false;
    /* To save time only: in the middle lanes of the board no fortress is near. */
    if ((a.file >= 6 && a.file <= 11) || (a.rank >= 6 && a.rank <= 11))
        return false;
    for (seat = 0; seat < 4; seat++)
        if (walled_by(seat, a, b))
            return true;
    return false;
}

/* May a man take this one step, as far as the board goes? */
static bool step_is_open(enum plain_game game, struct plain_square a, struct plain_square b)
{
    return plain_on_board(game, a) && plain_on_board(game, b) && !plain_step_is_walled(game, a, b);
}

static int sign(int n)
{
    return (n > 0) - (n < 0);
}

/* R-F6: of the two ways of a knight's leap, one must be possible: one straight step and one
 * diagonal step onward, or the diagonal one first. */
bool plain_leap_is_walled(enum plain_game game, struct plain_square a, struct plain_square b)
{
    int file = b.file - a.file, rank = b.rank - a.rank;
    struct plain_square straight, diagonal;

    if (game != PLAIN_FORTRESS)
        return false; /* R-V11: knights leap freely */
    straight = abs(file) == 2 ? square(a.file + sign(file), a.rank)
                              : square(a.file, a.rank + sign(rank));
    diagonal = square(a.file + sign(file), a.rank + sign(rank));
    if (step_is_open(game, a, straight) && step_is_open(game, straight, b))
        return false;
    if (step_is_open(game, a, diagonal) && step_is_open(game, diagonal, b))
        return false;
    return true;
}

/* ---- men ------------------------------------------------------------------------------ */

static struct plain_man man_at(const struct plain_position *p, struct plain_square s)
{
    return p->at[s.file][s.rank];
}

static bool is_empty(const struct plain_position *p, struct plain_square s)
{
    return man_at(p, s).kind == 0;
}

static bool is_pawn(struct plain_man man)
{
    return man.kind == 'P' || man.kind == 'V';
}

static void put(struct plain_position *p, struct plain_square s, int seat, char kind)
{
    p->at[s.file][s.rank] = (struct plain_man){(signed char)seat, kind};
}

static void lift(struct plain_position *p, struct plain_square s)
{
    put(p, s, 0, 0);
}

/* R-C4: an army attacks while it is neither mated nor absent; a stalemated one is live. */
static bool is_live(const struct plain_position *p, int seat)
{
    return p->condition[seat] == 'a' || p->condition[seat] == 's';
}

static struct plain_square king_of(const struct plain_position *p, int seat)
{
    int file, rank;

    for (file = 1; file <= box(p->game); file++)
        for (rank = 1; rank <= box(p->game); rank++) {
            struct plain_man man = p->at[file][rank];

            if (man.kind == 'K' && man.seat == seat)
                return square(file, rank);
        }
    return nowhere;
}

/* The square before a pawn, in the direction it walks at that time (R-V7: V walks back). */
static struct plain_square ahead(struct plain_square s, struct plain_man pawn)
{
    int way = pawn.kind == 'V' ? -1 : 1;

    return square(s.file + way * forward_file(pawn.seat), s.rank + way * forward_rank(pawn.seat));
}

/* Is the way from a to b, along a line, free of men in between, walls and holes? */
static bool way_is_free(const struct plain_position *p, struct plain_square a,
                        struct plain_square b)
{
    int file = sign(b.file - a.file), rank = sign(b.rank - a.rank);

    for (;;) {
        struct plain_square next = square(a.file + file, a.rank + rank);

        if (!step_is_open(p->game, a, next))
            return false;
        if (same_square(next, b))
            return true;
        if (!is_empty(p, next))
            return false;
        a = next;
    }
}

/* Would the man on `from` capture on `to`, if an enemy stood there?  Nothing is asked about the
 * conditions of anybody, nor about what stands on `to`. */
static bool man_strikes(const struct plain_position *p, struct plain_square from,
                        struct plain_square to)
{
    struct plain_man man = man_at(p, from);
    int file = abs(to.file - from.file), rank = abs(to.rank - from.rank);
    bool straight = (file == 0) != (rank == 0), diagonal = file == rank && file > 0;
    struct plain_square front;

    switch (man.kind) { /* R-C1: as in ordinary chess */
    case 'K':
        return file <= 1 && rank <= 1 && file + rank > 0 && step_is_open(p->game, from, to);
    case 'Q':
        return (straight || diagonal) && way_is_free(p, from, to);
    case 'R':
        return straight && way_is_free(p, from, to);
    case 'B':
        return diagonal && way_is_free(p, from, to); /* R-V11, R-F5 */
    case 'N':
        return file * rank == 2 && plain_on_board(p->game, to) &&
               !plain_leap_is_walled(p->game, from, to);
    case 'P':
    case 'V':
        /* R-V10: the two diagonals of the direction it walks: one step on, one to the side. */
        if (!diagonal || file != 1)
            return false;
        front = ahead(from, man);
        return abs(to.file - front.file) + abs(to.rank - front.rank) == 1 &&
               step_is_open(p->game, from, to);
    default:
        return false;
    }
}

/* R-C2, R-C4: attacked, for the men of `seat`, by a live man of an enemy. */
static bool is_attacked(const struct plain_position *p, struct plain_square s, int seat)
{
    int file, rank;

    for (file = 1; file <= box(p->game); file++)
        for (rank = 1; rank <= box(p->game); rank++) {
            struct plain_man man = p->at[file][rank];

            if (man.kind != 0 && are_enemies(man.seat, seat) && is_live(p, man.seat) &&
                man_strikes(p, square(file, rank), s))
                return true; /* R-C3: a pinned man attacks like any other */
        }
    return false;
}

bool plain_in_check(const struct plain_position *p, int seat)
{
    struct plain_square king = king_of(p, seat);

    return king.file != 0 && is_attacked(p, king, seat);
}

/* ---- where pawns change ----------------------------------------------------------------- */

/* R-V6, R-V7: the outermost line of a seat is the eight squares where its pieces began. */
static bool on_outermost_line_of(enum plain_game game, int seat, struct plain_square s)
{
    struct plain_square t = seen_by(game, seat, s);

    return t.rank == 1 && t.file >= 4 && t.file <= 11;
}

/* The eight squares where a seat's pawns began, in any of the games. */
static bool on_pawn_line_of(enum plain_game game, int seat, struct plain_square s)
{
    struct plain_square t = seen_by(game, seat, s);

    if (game == PLAIN_FORTRESS)
        return t.rank == 4 && t.file >= 5 && t.file <= 12; /* R-F7: South e4-l4 */
    return t.rank == 2 && t.file >= 4 && t.file <= 11;     /* R-V3, R-M1: South d2-k2 */
}

/* What may a pawn become on arriving here?  A list of letters; "" = it stays a pawn. */
static const char *promotions(const struct plain_position *p, int seat, struct plain_square to,
                              bool by_capture)
{
    struct plain_square t = seen_by(p->game, seat, to);

    switch (p->game) {
    case PLAIN_VERNEY:
        /* R-V6: by capture, on the outermost line of an enemy's side. */
        if (by_capture && (on_outermost_line_of(p->game, left_of(seat), to) ||
                           on_outermost_line_of(p->game, partner_of(left_of(seat)), to)))
            return p->house.promotion_any ? "QRBN" : "Q";
        return "";
    case PLAIN_FORTRESS:
        /* R-F11, for South: c5-c12, n5-n12, e14-l14, and a16-d16, m16-p16. */
        if ((t.file == 3 || t.file == 14) && t.rank >= 5 && t.rank <= 12)
            return "QRBN";
        if (t.rank == 14 && t.file >= 5 && t.file <= 12)
            return "QRBN";
        if (t.rank == 16 && (t.file <= 4 || t.file >= 13))
            return "QRBN";
        return "";
    case PLAIN_TEAMS:
        /* R-M2: any square of the owner's eleventh rank. */
        return t.rank == 11 ? "QRBN" : "";
    }
    return "";
}

/* ---- moves ---------------------------------------------------------------------------- */

/* The enemy whose double-stepped pawn a pawn of `seat` takes by moving to the empty `to`, or -1.
 * ret_pawn is where that pawn stands. */
static int en_passant_victim(const struct plain_position *p, int seat, struct plain_square to,
                             struct plain_square *ret_pawn)
{
    int owner;

    for (owner = 0; owner < 4; owner++) {
        struct plain_man pawn = {(signed char)owner, 'P'}, there;
        struct plain_square beyond;

        /* R-F9: either enemy may; partners may not. */
        if (!are_enemies(owner, seat) || !same_square(p->passed[owner], to))
            continue;
        beyond = ahead(to, pawn);
        there = man_at(p, beyond);
        /* R-F9: the square still empty and the pawn still beyond it. */
        if (is_empty(p, to) && there.kind == 'P' && there.seat == owner) {
            *ret_pawn = beyond;
            return owner;
        }
    }
    return -1;
}

/* R-F10, for South: king i3-k3 with rook l3-j3, or king i3-g3 with rook e3-h3.
 * R-M2: king h1-j1 with rook k1-i1, or h1-f1 with d1-g1. */
static const char *castling_squares(enum plain_game game, bool to_the_left)
{
    if (game == PLAIN_FORTRESS)
        return to_the_left ? "i3 g3 e3 h3" : "i3 k3 l3 j3";
    return to_the_left ? "h1 f1 d1 g1" : "h1 j1 k1 i1";
}

struct castling {
    struct plain_square king_from, king_to, rook_from, rook_to;
};

static struct plain_square square_of_seat(enum plain_game game, int seat, const char *name)
{
    struct plain_square s = square(name[0] - 'a' + 1, name[1] - '0');

    /* South's square turned to the seat is what it takes the other turns to see back. */
    return seen_by(game, (4 - seat) % 4, s);
}

static struct castling castling_of(enum plain_game game, int seat, bool to_the_left)
{
    const char *names = castling_squares(game, to_the_left);

    return (struct castling){
        square_of_seat(game, seat, names), square_of_seat(game, seat, names + 3),
        square_of_seat(game, seat, names + 6), square_of_seat(game, seat, names + 9)};
}

/* Is this king's move castling: 0 no, 1 right, 2 left? */
static int castling_side(const struct plain_position *p, int seat, struct plain_square from,
                         struct plain_square to)
{
    int left;

    if (p->game == PLAIN_VERNEY) /* R-V4 */
        return 0;
    for (left = 0; left < 2; left++) {
        struct castling c = castling_of(p->game, seat, left);

        if (p->castling[seat][left] && same_square(c.king_from, from) &&
            same_square(c.king_to, to) && man_at(p, from).kind == 'K')
            return 1 + left;
    }
    return 0;
}

static bool may_castle(const struct plain_position *p, int seat, bool to_the_left)
{
    struct castling c = castling_of(p->game, seat, to_the_left);
    struct plain_man king = man_at(p, c.king_from), rook = man_at(p, c.rook_from);

    /* R-F10: neither of them having moved, */
    if (!p->castling[seat][to_the_left])
        return false;
    if (king.kind != 'K' || king.seat != seat || rook.kind != 'R' || rook.seat != seat)
        return false;
    /* the squares between king and rook empty, */
    if (!way_is_free(p, c.king_from, c.rook_from))
        return false;
    /* the king not in check and neither square it passes or reaches attacked.  (The square it
     * passes is where the rook comes to stand.) */
    return !is_attacked(p, c.king_from, seat) && !is_attacked(p, c.rook_to, seat) &&
           !is_attacked(p, c.king_to, seat);
}

/* May a man of `seat` capture what stands on the square, as far as that depends on whose it is? */
static bool may_be_captured_by(const struct plain_position *p, int seat, struct plain_square s)
{
    struct plain_man man = man_at(p, s);

    if (man.kind == 0 || !are_enemies(man.seat, seat))
        return false; /* R-C2 */
    if (man.kind == 'K')
        return false; /* R-C3 */
    if (p->condition[man.seat] == 'x')
        return false; /* R-C9: uncapturable for good */
    if (p->condition[man.seat] == 'm')
        return p->house.inert_capturable; /* R-V14; see also move_is_legal() */
    return true;
}

/* Could the man go there, if nobody's check mattered? */
static bool man_can_go(const struct plain_position *p, int seat, struct plain_square from,
                       struct plain_square to)
{
    struct plain_man man = man_at(p, from);
    struct plain_square front, behind, pawn;

    if (!is_empty(p, to))
        return may_be_captured_by(p, seat, to) && man_strikes(p, from, to);
    if (!is_pawn(man)) {
        int side = castling_side(p, seat, from, to);

        return side > 0 ? may_castle(p, seat, side == 2) : man_strikes(p, from, to);
    }

    front = ahead(from, man);
    behind = ahead(front, man);
    if (same_square(front, to)) /* R-F12: otherwise it stands blocked */
        return step_is_open(p->game, from, front);
    if (same_square(behind, to)) {
        if (!step_is_open(p->game, from, front) || !step_is_open(p->game, front, behind))
            return false;
        if (p->game == PLAIN_VERNEY)
            /* R-V9: over a partner's pawn, whichever way it walks, live or inert.  R-V4: and no
             * double step. */
            return is_pawn(man_at(p, front)) && man_at(p, front).seat == partner_of(seat);
        /* R-F9, R-M2: the double step; R-F12, R-M3: no leap. */
        return is_empty(p, front) && on_pawn_line_of(p->game, seat, from);
    }
    return man_strikes(p, from, to) && en_passant_victim(p, seat, to, &pawn) >= 0;
}

/* The men moved, and nothing else: no condition, right or number is touched. */
static void move_men(struct plain_position *p, int seat, const struct plain_move *m,
                     bool *ret_capture)
{
    struct plain_man man = man_at(p, m->from);
    struct plain_square pawn;
    bool capture = !is_empty(p, m->to);
    int side = castling_side(p, seat, m->from, m->to);

    if (side > 0) {
        struct castling c = castling_of(p->game, seat, side == 2);

        lift(p, c.rook_from);
        put(p, c.rook_to, seat, 'R');
    }
    if (is_pawn(man) && !capture && m->from.file != m->to.file && m->from.rank != m->to.rank &&
        en_passant_victim(p, seat, m->to, &pawn) >= 0) {
        lift(p, pawn);
        capture = true;
    }
    if (m->promotion != 0)
        man.kind = m->promotion;
    if (p->game == PLAIN_VERNEY) {
        /* R-V7: on the partner's outermost line it turns to walk back. */
        if (man.kind == 'P' && on_outermost_line_of(p->game, partner_of(seat), m->to))
            man.kind = 'V';
        /* R-V8: on its owner's pawn line or beyond it, it turns forward again. */
        else if (man.kind == 'V' && (on_pawn_line_of(p->game, seat, m->to) ||
                                     on_outermost_line_of(p->game, seat, m->to)))
            man.kind = 'P';
    }
    lift(p, m->from);
    put(p, m->to, seat, man.kind);
    *ret_capture = capture;
}

/* R-V5: would a live enemy man attack the partner's king that did not before? */
static bool opens_check_on_partner(const struct plain_position *before,
                                   const struct plain_position *after, int seat)
{
    int partner = partner_of(seat), file, rank;
    struct plain_square king = king_of(before, partner);

    if (!is_live(before, partner) || king.file == 0)
        return false; /* no such duty while he is mated or absent */
    for (file = 1; file <= box(before->game); file++)
        for (rank = 1; rank <= box(before->game); rank++) {
            struct plain_square s = square(file, rank);
            struct plain_man man = man_at(after, s);

            if (man.kind != 0 && are_enemies(man.seat, partner) && is_live(before, man.seat) &&
                man_strikes(after, s, king) && !man_strikes(before, s, king))
                return true;
        }
    return false;
}

static void find_conditions(struct plain_position *p, int mover);

/* Is a move that man_can_go() allows also allowed by what it does to kings?  R-V18: all of it by
 * the conditions before the move. */
static bool move_is_legal(const struct plain_position *p, int seat, const struct plain_move *m)
{
    struct plain_position after = *p;
    int victim = is_empty(p, m->to) ? -1 : man_at(p, m->to).seat;
    bool capture;

    move_men(&after, seat, m, &capture);
    if (plain_in_check(&after, seat))
        return false; /* R-C3 */
    if (p->game == PLAIN_VERNEY && opens_check_on_partner(p, &after, seat))
        return false; /* R-V5 */
    if (victim >= 0 && p->condition[victim] == 'm') {
        /* R-V14: a move that releases an army may not capture one of its men. */
        find_conditions(&after, seat);
        if (after.condition[victim] != 'm')
            return false;
    }
    return true;
}

/* All legal moves of the seat, or only the first if moves is NULL. */
static size_t find_moves(const struct plain_position *p, int seat, struct plain_move *moves)
{
    struct plain_position as_live = *p;
    size_t n = 0;
    int f, r, tf, tr, width = box(p->game);

    if (p->condition[seat] == 'x')
        return 0; /* R-C9 */
    /* R-V12: "were it his turn"; R-V16: a seat being judged counts as live itself. */
    as_live.condition[seat] = 'a';

    for (f = 1; f <= width; f++)
        for (r = 1; r <= width; r++) {
            struct plain_man man = p->at[f][r];

            if (man.kind == 0 || man.seat != seat)
                continue;
            for (tf = 1; tf <= width; tf++)
                for (tr = 1; tr <= width; tr++) {
                    struct plain_move m = {square(f, r), square(tf, tr), 0};
                    const char *become = "";

                    if (!plain_on_board(p->game, m.to) || !man_can_go(&as_live, seat, m.from, m.to))
                        continue;
                    if (is_pawn(man))
                        become = promotions(p, seat, m.to, !is_empty(p, m.to));
                    do {
                        m.promotion = *become;
                        if (!move_is_legal(&as_live, seat, &m))
                            continue;
                        if (!moves)
                            return 1;
                        must(n < PLAIN_MOVES, "too many moves");
                        moves[n++] = m;
                    } while (*become && *++become);
                }
        }
    return n;
}

static int compare_moves(const void *a, const void *b)
{
    char x[PLAIN_MOVE_TEXT], y[PLAIN_MOVE_TEXT];

    plain_print_move(a, x);
    plain_print_move(b, y);
    return strcmp(x, y);
}

size_t plain_legal_moves(const struct plain_position *p, int seat,
                         struct plain_move moves[PLAIN_MOVES])
{
    size_t n = find_moves(p, seat, moves);

    qsort(moves, n, sizeof *moves, compare_moves);
    return n;
}

bool plain_has_legal_move(const struct plain_position *p, int seat)
{
    return find_moves(p, seat, NULL) > 0;
}

/* ---- conditions (verney) ------------------------------------------------------------------ */

/* R-V12, by the conditions as they stand. */
static bool is_mated(const struct plain_position *p, int seat)
{
    return plain_in_check(p, seat) && !plain_has_legal_move(p, seat);
}

static bool is_out(const struct plain_position *p, int seat)
{
    return p->condition[seat] == 'm' || p->condition[seat] == 'x';
}

/* R-V16 (2): judge the mated again, all at once, until none is released. */
static void release(struct plain_position *p)
{
    bool any;

    do {
        bool freed[4] = {false, false, false, false};
        int seat;

        any = false;
        for (seat = 0; seat < 4; seat++)
            if (p->condition[seat] == 'm')
                freed[seat] = !is_mated(p, seat);
        for (seat = 0; seat < 4; seat++)
            if (freed[seat]) {
                p->condition[seat] = 'a';
                any = true;
            }
    } while (any);
}

/* R-V16 (1) and (2), when the men have moved and the conditions are still those before. */
static void find_conditions(struct plain_position *p, int mover)
{
    char found[4];
    int seat;

    for (seat = 0; seat < 4; seat++) {
        found[seat] = p->condition[seat];
        if (seat != mover && p->condition[seat] != 'x')
            found[seat] = is_mated(p, seat) ? 'm' : 'a';
    }
    memcpy(p->condition, found, sizeof found);
    release(p);
}

/* R-V16 (3), R-V19, R-F15: both armies of a side out; R-C9 says the same of absent ones. */
static void look_for_win(struct plain_position *p)
{
    if (is_out(p, SOUTH) && is_out(p, NORTH))
        p->result = PLAIN_TEAM1;
    else if (is_out(p, WEST) && is_out(p, EAST))
        p->result = PLAIN_TEAM0;
}

static void lose(struct plain_position *p, int seat)
{
    p->result = side_of(seat) == 0 ? PLAIN_TEAM1 : PLAIN_TEAM0;
}

/* ---- whose turn ----------------------------------------------------------------------------- */

/* R-F14: all his men leave at once, his castling rights and en-passant chance with them. */
static void remove_army(struct plain_position *p, int seat)
{
    int file, rank;

    for (file = 1; file <= box(p->game); file++)
        for (rank = 1; rank <= box(p->game); rank++)
            if (man_at(p, square(file, rank)).kind != 0 && p->at[file][rank].seat == seat)
                lift(p, square(file, rank));
    p->condition[seat] = 'x';
}

static void end_rights(struct plain_position *p, int seat)
{
    p->castling[seat][0] = p->castling[seat][1] = false;
    p->passed[seat] = nowhere;
}

/* A seat that could not move on its turn is passed over; the game may end of it. */
static void pass_over(struct plain_position *p, int seat)
{
    int partner = partner_of(seat);

    p->passed[seat] = nowhere; /* R-T1: listed until its owner is passed over */
    if (plain_in_check(p, seat)) {
        switch (p->game) {
        case PLAIN_VERNEY: /* R-V17 */
            p->condition[seat] = 'm';
            p->mated_on_turn++;
            release(p);
            look_for_win(p);
            break;
        case PLAIN_FORTRESS: /* R-F14, R-F17 */
            remove_army(p, seat);
            end_rights(p, seat);
            look_for_win(p);
            break;
        case PLAIN_TEAMS: /* R-M3: decides the game at once */
            lose(p, seat);
            break;
        }
        return;
    }
    p->condition[seat] = 's'; /* R-C6 */
    if (p->game == PLAIN_TEAMS)
        p->result = PLAIN_DRAW; /* R-M3 */
    else if (is_out(p, partner) ||
             (!plain_in_check(p, partner) && !plain_has_legal_move(p, partner)))
        p->result = PLAIN_DRAW; /* R-V20, R-F16 */
}

/* R-V17, R-F17: seats are looked at from `first`, round again if need be. */
static void find_turn(struct plain_position *p, int first)
{
    int round, i;

    p->mated_on_turn = 0;
    for (round = 0; round < 8; round++)
        for (i = 0; i < 4; i++) {
            int seat = (first + i) % 4;

            if (is_out(p, seat))
                continue; /* R-C9, R-V13, R-F14: its turns are skipped */
            if (plain_has_legal_move(p, seat)) {
                p->turn = seat;
                p->passed[seat] = nowhere; /* R-T1: until its owner is next to move */
                return;
            }
            pass_over(p, seat);
            if (p->result != PLAIN_GOING)
                return;
        }
    must(false, "nobody can move, yet the game is not over");
}

/* R-T1: `s` is cleared by every move and set anew. */
static void clear_stalemates(struct plain_position *p)
{
    int seat;

    for (seat = 0; seat < 4; seat++)
        if (p->condition[seat] == 's')
            p->condition[seat] = 'a';
}

void plain_play(struct plain_position *p, const struct plain_move *m)
{
    int mover = p->turn, seat, left;
    bool pawn = is_pawn(man_at(p, m->from)), capture;
    bool two_steps = abs(m->to.file - m->from.file) == 2 || abs(m->to.rank - m->from.rank) == 2;

    must(p->result == PLAIN_GOING, "the game is over");
    must(man_at(p, m->from).kind != 0 && man_at(p, m->from).seat == mover, "not his man");
    must(man_can_go(p, mover, m->from, m->to) && move_is_legal(p, mover, m), "not a legal move");

    move_men(p, mover, m, &capture);

    /* R-F10: a right ends when the king moves, or the rook moves or is captured. */
    for (seat = 0; seat < 4 && p->game != PLAIN_VERNEY; seat++)
        for (left = 0; left < 2; left++) {
            struct castling c = castling_of(p->game, seat, left);

            if (same_square(m->from, c.king_from) || same_square(m->from, c.rook_from) ||
                same_square(m->to, c.rook_from))
                p->castling[seat][left] = false;
        }

    /* R-F9: a double step lists the square passed over. */
    if (p->game != PLAIN_VERNEY && pawn && two_steps)
        p->passed[mover] = square((m->from.file + m->to.file) / 2, (m->from.rank + m->to.rank) / 2);

    /* R-C8, R-T1: turns since the last capture or promotion; but for verney, whose pawns can walk
     * back, a pawn's move begins the count anew as well. */
    p->ply++;
    p->count++;
    if (capture || m->promotion != 0 || (pawn && p->game != PLAIN_VERNEY))
        p->count = 0;

    clear_stalemates(p);
    if (p->game == PLAIN_VERNEY) {
        find_conditions(p, mover); /* R-V16 (1), (2) */
        look_for_win(p);           /* R-V16 (3) */
    }
    if (p->result == PLAIN_GOING)
        find_turn(p, left_of(mover));
}

/* R-C11. */
void plain_resign(struct plain_position *p, int seat)
{
    must(p->result == PLAIN_GOING && p->condition[seat] != 'x', "cannot leave now");

    clear_stalemates(p);
    p->condition[seat] = 'x';
    end_rights(p, seat);
    switch (p->game) {
    case PLAIN_VERNEY: /* R-V16 (2) and (3); R-C9: the men stay */
        release(p);
        look_for_win(p);
        break;
    case PLAIN_FORTRESS: /* R-C9: the men go; then R-F15 */
        remove_army(p, seat);
        look_for_win(p);
        break;
    case PLAIN_TEAMS: /* R-M3 */
        lose(p, seat);
        break;
    }
    /* His turn: the search starts at his left; else the seat on turn is looked at afresh. */
    if (p->result == PLAIN_GOING)
        find_turn(p, seat == p->turn ? left_of(seat) : p->turn);
}

/* R-C7: men, pawn directions, seat to move, conditions, castling rights, en-passant chances. */
bool plain_same(const struct plain_position *a, const struct plain_position *b)
{
    int f, r, seat;

    if (a->game != b->game || a->turn != b->turn)
        return false;
    for (f = 1; f <= 16; f++)
        for (r = 1; r <= 16; r++)
            if (a->at[f][r].kind != b->at[f][r].kind ||
                (a->at[f][r].kind != 0 && a->at[f][r].seat != b->at[f][r].seat))
                return false;
    for (seat = 0; seat < 4; seat++)
        if (a->condition[seat] != b->condition[seat] ||
            a->castling[seat][0] != b->castling[seat][0] ||
            a->castling[seat][1] != b->castling[seat][1] ||
            !same_square(a->passed[seat], b->passed[seat]))
            return false;
    return true;
}

/* ---- the arrays ---------------------------------------------------------------------------- */

static void put_named(struct plain_position *p, int seat, char kind, const char *name)
{
    put(p, square(name[0] - 'a' + 1, (int)strtol(name + 1, NULL, 10)), seat, kind);
}

static void start_verney(struct plain_position *p)
{
    /* R-V3: South and North from file d; West and East from rank 4 up.  House rule queens=left:
     * West K a7 Q a8, East K n8 Q n7. */
    const char *lines[4] = {"RNBQKBNR", "RNBQKBNR", "RNBKQBNR", "RNBKQBNR"};
    int i;

    if (p->house.queens_left) {
        lines[WEST] = "RNBKQBNR";
        lines[EAST] = "RNBQKBNR";
    }
    for (i = 0; i < 8; i++) {
        put(p, square(4 + i, 1), SOUTH, lines[SOUTH][i]);
        put(p, square(4 + i, 2), SOUTH, 'P');
        put(p, square(1, 4 + i), WEST, lines[WEST][i]);
        put(p, square(2, 4 + i), WEST, 'P');
        put(p, square(4 + i, 14), NORTH, lines[NORTH][i]);
        put(p, square(4 + i, 13), NORTH, 'P');
        put(p, square(14, 4 + i), EAST, lines[EAST][i]);
        put(p, square(13, 4 + i), EAST, 'P');
    }
}

/* R-F7, R-M1: R N B Q K B N R from the owner's left to right, pawns before. */
static void start_turned(struct plain_position *p)
{
    bool fortress = p->game == PLAIN_FORTRESS;
    int seat, i;

    for (seat = 0; seat < 4; seat++) {
        for (i = 0; i < 8; i++) {
            struct plain_square piece = fortress ? square(5 + i, 3) : square(4 + i, 1);
            struct plain_square pawn = fortress ? square(5 + i, 4) : square(4 + i, 2);

            put(p, seen_by(p->game, (4 - seat) % 4, piece), seat, "RNBQKBNR"[i]);
            put(p, seen_by(p->game, (4 - seat) % 4, pawn), seat, 'P');
        }
        p->castling[seat][0] = p->castling[seat][1] = true;
    }
}

/* R-F7: the usual reserve, R N B. */
static void put_usual_reserve(struct plain_position *p)
{
    static const char *const places[4][3] = {
        {"p4", "n3", "o1"}, {"d1", "c3", "a2"}, {"a13", "c14", "b16"}, {"m16", "n14", "p15"}};
    int seat, i;

    for (seat = 0; seat < 4; seat++)
        for (i = 0; i < 3; i++)
            put_named(p, seat, "RNB"[i], places[seat][i]);
}

void plain_start(enum plain_game game, struct plain_house house, struct plain_position *ret)
{
    memset(ret, 0, sizeof *ret);
    ret->game = game;
    ret->house = house;
    ret->turn = SOUTH;
    memcpy(ret->condition, "aaaa", 4);
    if (game == PLAIN_VERNEY)
        start_verney(ret);
    else
        start_turned(ret);
    if (game == PLAIN_FORTRESS)
        put_usual_reserve(ret);
}

/* ---- text (R-T1, R-T2) ---------------------------------------------------------------------- */

static char *put_square(char *text, struct plain_square s)
{
    *text++ = (char)('a' + s.file - 1);
    if (s.rank >= 10)
        *text++ = (char)('0' + s.rank / 10);
    *text++ = (char)('0' + s.rank % 10);
    return text;
}

void plain_print_move(const struct plain_move *m, char text[PLAIN_MOVE_TEXT])
{
    text = put_square(text, m->from);
    text = put_square(text, m->to);
    if (m->promotion != 0)
        *text++ = (char)tolower((unsigned char)m->promotion);
    *text = '\0';
}

static void append(char text[PLAIN_TEXT], const char *more)
{
    size_t length = strlen(text);

    must(length + strlen(more) < PLAIN_TEXT, "the text is too long");
    memcpy(text + length, more, strlen(more) + 1);
}

static void append_square(char text[PLAIN_TEXT], struct plain_square s)
{
    char word[4];

    *put_square(word, s) = '\0';
    append(text, word);
}

static void append_run(char text[PLAIN_TEXT], int *empties, bool *first)
{
    char word[16];

    if (*empties == 0)
        return;
    (void)snprintf(word, sizeof word, "%s%d", *first ? "" : ",", *empties);
    append(text, word);
    *empties = 0;
    *first = false;
}

static void append_rank(const struct plain_position *p, int rank, char text[PLAIN_TEXT])
{
    int file, empties = 0;
    bool first = true;

    for (file = 1; file <= box(p->game); file++) {
        struct plain_square s = square(file, rank);
        char word[4] = "x";

        if (plain_on_board(p->game, s) && is_empty(p, s)) {
            empties++;
            continue;
        }
        append_run(text, &empties, &first);
        if (plain_on_board(p->game, s)) {
            word[0] = plain_colour(p->game, man_at(p, s).seat);
            word[1] = man_at(p, s).kind;
        }
        if (!first)
            append(text, ",");
        append(text, word);
        first = false;
    }
    append_run(text, &empties, &first);
}

void plain_print(const struct plain_position *p, char text[PLAIN_TEXT])
{
    char word[48];
    int rank, seat, left;
    bool any = false;

    text[0] = '\0';
    append(text, plain_game_name(p->game));
    for (rank = box(p->game); rank >= 1; rank--) {
        append(text, rank == box(p->game) ? " " : "/");
        append_rank(p, rank, text);
    }
    (void)snprintf(word, sizeof word, " %c %.4s ", plain_colour(p->game, p->turn), p->condition);
    append(text, word);
    for (seat = 0; seat < 4; seat++)
        for (left = 0; left < 2; left++)
            if (p->castling[seat][left]) {
                word[0] = plain_colour(p->game, seat);
                word[1] = left ? 'l' : 'r';
                word[2] = '\0';
                append(text, word);
                any = true;
            }
    append(text, any ? " " : "- ");
    any = false;
    for (seat = 0; seat < 4; seat++)
        if (p->passed[seat].file != 0) {
            word[0] = any ? ',' : plain_colour(p->game, seat);
            word[1] = any ? plain_colour(p->game, seat) : '\0';
            word[2] = '\0';
            append(text, word);
            append_square(text, p->passed[seat]);
            any = true;
        }
    (void)snprintf(word, sizeof word, "%s %d %d", any ? "" : "-", p->count, p->ply);
    append(text, word);
}

/* The seat of a colour letter, or -1. */
static int seat_of(enum plain_game game, char colour)
{
    int seat;

    for (seat = 0; seat < 4; seat++)
        if (plain_colour(game, seat) == colour)
            return seat;
    return -1;
}

static bool cannot(char why[PLAIN_WHY], const char *field, const char *at)
{
    (void)snprintf(why, PLAIN_WHY, "%s, at \"%.40s\"", field, at);
    return false;
}

static bool parse_board(const char *text, struct plain_position *p, char why[PLAIN_WHY])
{
    int rank = box(p->game), file = 1;
    const char *s = text;

    for (;;) {
        if (isdigit((unsigned char)*s)) {
            char *end;
            long run = strtol(s, &end, 10);

            if (run < 1)
                return cannot(why, "a run of no squares", s);
            while (run-- > 0)
                if (file > box(p->game) || !plain_on_board(p->game, square(file++, rank)))
                    return cannot(why, "a run crosses the edge of the board", s);
            s = end;
        } else if (*s == 'x') {
            if (file > box(p->game) || plain_on_board(p->game, square(file++, rank)))
                return cannot(why, "x on the board", s);
            s++;
        } else {
            int seat = seat_of(p->game, *s);

            if (seat < 0 || s[1] == '\0' || !strchr("KQRBNPV", s[1]) ||
                (s[1] == 'V' && p->game != PLAIN_VERNEY))
                return cannot(why, "not a man", s);
            if (file > box(p->game) || !plain_on_board(p->game, square(file, rank)))
                return cannot(why, "a man off the board", s);
            put(p, square(file++, rank), seat, s[1]);
            s += 2;
        }
        if (*s == ',') {
            s++;
            continue;
        }
        if (file != box(p->game) + 1)
            return cannot(why, "a rank is too short", s);
        if (*s == '\0')
            return rank == 1 ? true : cannot(why, "too few ranks", s);
        if (*s != '/' || --rank < 1)
            return cannot(why, "neither comma nor slash", s);
        s++;
        file = 1;
    }
}

static bool parse_rights(const char *s, struct plain_position *p, char why[PLAIN_WHY])
{
    if (strcmp(s, "-") == 0)
        return true;
    for (; *s; s += 2) {
        int seat = seat_of(p->game, *s);

        if (seat < 0 || (s[1] != 'r' && s[1] != 'l'))
            return cannot(why, "castling", s);
        p->castling[seat][s[1] == 'l'] = true;
    }
    return true;
}

static bool parse_passed(const char *s, struct plain_position *p, char why[PLAIN_WHY])
{
    if (strcmp(s, "-") == 0)
        return true;
    for (;;) {
        int seat = seat_of(p->game, *s), rank = 0, used = 0;

        if (seat < 0 || s[1] < 'a' || s[1] > 'p' || sscanf(s + 2, "%2d%n", &rank, &used) != 1 ||
            !plain_on_board(p->game, square(s[1] - 'a' + 1, rank)))
            return cannot(why, "en passant", s);
        p->passed[seat] = square(s[1] - 'a' + 1, rank);
        s += 2 + used;
        if (*s == '\0')
            return true;
        if (*s++ != ',')
            return cannot(why, "en passant", s);
    }
}

bool plain_parse(const char *text, struct plain_house house, struct plain_position *ret,
                 char why[PLAIN_WHY])
{
    struct plain_position p = {.house = house, .result = PLAIN_GOING};
    char game[16], board[1024], turn[2], condition[5], rights[24], passed[24];
    int used = 0;

    if (sscanf(text, "%15s %1023s %1s %4s %23s %23s %d %d%n", game, board, turn, condition, rights,
               passed, &p.count, &p.ply, &used) != 8 ||
        text[used] != '\0')
        return cannot(why, "not eight fields", text);
    if (strcmp(game, "verney") == 0)
        p.game = PLAIN_VERNEY;
    else if (strcmp(game, "fortress") == 0)
        p.game = PLAIN_FORTRESS;
    else if (strcmp(game, "teams") == 0)
        p.game = PLAIN_TEAMS;
    else
        return cannot(why, "game", game);
    p.turn = seat_of(p.game, turn[0]);
    if (p.turn < 0)
        return cannot(why, "turn", turn);
    if (strlen(condition) != 4 || strspn(condition, "amsx") != 4)
        return cannot(why, "conditions", condition);
    memcpy(p.condition, condition, 4);
    if (!parse_board(board, &p, why) || !parse_rights(rights, &p, why) ||
        !parse_passed(passed, &p, why))
        return false;
    *ret = p;
    return true;
}
