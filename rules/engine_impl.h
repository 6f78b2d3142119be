/*
 * rules/engine_impl.h - the engine, compiled once for each kind of machine (see engine.h).
 *
 * How it works.  All sliders of a side are moved at once, direction by direction, with fills over
 * 256-bit sets (wide.h); the sets a direction gives are disjoint, so counting moves is counting
 * bits.  Legality is settled before moving: a man that alone stands between an enemy slider and
 * the king may only go along that line, in check only moves that capture the checking man or step
 * between count, and the king's own squares are looked at one by one.  Where partners are shielded
 * (R-V5) the partner's king pins likewise.  What a game's board looks like, its walls, and where
 * pawns promote or turn, is data of struct game throughout.
 */
#ifndef RULES_ENGINE_IMPL_H
#define RULES_ENGINE_IMPL_H

#include <assert.h>
#include <string.h>

#include "rules/engine.h"
#include "rules/play.h"
#include "rules/state.h"
#include "rules/wide.h"

/* ---------------------------------------------------------------- attacks */

/* Who may attack a seat, and with what. */
struct foes {
    wide straight, diagonal, knights, kings;
    wide pawns_left, pawns_right; /* that walk as the seat's left (right) enemy walks forward */
};

INLINE struct foes foes_of(const struct position *pos, enum seat seat, unsigned live)
{
    enum seat left = seat_left(seat), right = seat_left(seat_partner(seat));
    wide a = wide_if(live >> left, wide_load(&pos->seats[left]));
    wide b = wide_if(live >> right, wide_load(&pos->seats[right]));
    wide all = a | b, queens = wide_load(&pos->kinds[KIND_QUEEN]);
    wide pawns = wide_load(&pos->kinds[KIND_PAWN]), turned = wide_load(&pos->kinds[KIND_TURNED]);

    return (struct foes){
        .straight = (queens | wide_load(&pos->kinds[KIND_ROOK])) & all,
        .diagonal = (queens | wide_load(&pos->kinds[KIND_BISHOP])) & all,
        .knights = wide_load(&pos->kinds[KIND_KNIGHT]) & all,
        .kings = wide_load(&pos->kinds[KIND_KING]) & all,
        .pawns_left = (pawns & a) | (turned & b),
        .pawns_right = (pawns & b) | (turned & a),
    };
}

/* The foes' men that attack the square from beside or by a leap. */
INLINE wide near_attackers(const struct game *game, const struct foes *foes, enum seat seat,
                           int square)
{
    enum seat left = seat_left(seat), right = seat_left(seat_partner(seat));

    return (wide_load(&game->leaps[square]) & foes->knights) |
           (wide_load(&game->steps[square]) & foes->kings) |
           (wide_load(&game->pawn_sources[left][square]) & foes->pawns_left) |
           (wide_load(&game->pawn_sources[right][square]) & foes->pawns_right);
}

/* The foes' sliders that would attack it if nothing stood between. */
INLINE wide far_attackers(const struct game *game, const struct foes *foes, int square)
{
    return (wide_load(&game->straight[square]) & foes->straight) |
           (wide_load(&game->diagonal[square]) & foes->diagonal);
}

/* The squares of the line from a (left out) to b (with it), two squares of one line. */
INLINE wide line_to(const struct game *game, int a, int b)
{
    unsigned way = way_along(a, b);

    return wide_load(&game->ray[a][way]) ^ wide_load(&game->ray[b][way]);
}

INLINE bool is_attacked(const struct game *game, const struct foes *foes, wide occupied,
                        enum seat seat, int square)
{
    wide far;

    if (!wide_is_empty(near_attackers(game, foes, seat, square)))
        return true;
    far = far_attackers(game, foes, square);
    if (wide_is_empty(far))
        return false;
    WIDE_EACH (slider, far) {
        if (wide_are_apart(line_to(game, square, slider) ^ wide_square(slider), occupied))
            return true;
    }
    return false;
}

INLINE wide occupied_squares(const struct position *pos)
{
    return wide_load(&pos->seats[0]) | wide_load(&pos->seats[1]) | wide_load(&pos->seats[2]) |
           wide_load(&pos->seats[3]);
}

static bool engine_attacked(const struct position *pos, int square, enum seat seat, unsigned live)
{
    struct foes foes = foes_of(pos, seat, live);

    return is_attacked(pos->variant.game, &foes, occupied_squares(pos), seat, square);
}

/* ---------------------------------------------------------------- what a seat may do */

/* A man that must stay on a line. */
struct pin {
    int square;
    wide line;
};

/* A position seen from one seat. */
struct view {
    const struct position *pos;
    const struct game *game;
    enum seat seat;
    struct foes foes;
    wide own, partner, occupied, empty;
    wide victims;   /* men that may be captured */
    wide open;      /* empty squares and victims */
    wide goal;      /* of these the squares that men other than the king may go to */
    wide pinned;
    wide king_line; /* squares that the king may go to, by the partner's shield */
    struct pin pins[16];
    int pin_count;
    int king;       /* SQUARE_NONE if there is none */
    int checks;     /* men that give check */
};

INLINE void add_pin(struct view *view, int square, wide line)
{
    if (square == view->king) {
        view->king_line &= line;
        return;
    }
    view->pins[view->pin_count++] = (struct pin){square, line};
    view->pinned |= wide_square(square);
}

/* Finds the own men that alone stand between a foe's slider and the king on `square`; with
 * own_king also the sliders that give check. */
INLINE void find_pins(struct view *view, int square, bool own_king)
{
    wide far = far_attackers(view->game, &view->foes, square);

    if (wide_is_empty(far))
        return;
    WIDE_EACH (slider, far) {
        wide line = line_to(view->game, square, slider);
        wide between = (line ^ wide_square(slider)) & view->occupied;

        if (wide_is_empty(between)) {
            if (own_king) {
                view->checks++;
                view->goal &= line;
            }
        } else if (wide_is_empty(between & ~view->own)) {
            struct board one;
            int blocker;

            wide_store(&one, between);
            blocker = board_take(&one);
            if (board_is_empty(&one))
                add_pin(view, blocker, line);
        }
    }
}

/* Men that R-V14's house rule lets the seat capture besides live ones. */
INLINE wide inert_victims(const struct position *pos, enum seat seat, unsigned live)
{
    wide victims = {0, 0, 0, 0};

    if (pos->variant.inert != INERT_CAPTURABLE)
        return victims;
    for (unsigned foe = 0; foe < SEATS; foe++)
        if (seats_are_enemies(seat, (enum seat)foe) && (live >> foe & 1u) == 0 &&
            pos->condition[foe] == CONDITION_MATED)
            victims |= wide_load(&pos->seats[foe]);
    return victims & ~wide_load(&pos->kinds[KIND_KING]);
}

INLINE void look(struct view *view, const struct position *pos, enum seat seat, unsigned live)
{
    enum seat left = seat_left(seat), partner = seat_partner(seat), right = seat_left(partner);
    const struct game *game = pos->variant.game;
    wide live_foes = wide_if(live >> left, wide_load(&pos->seats[left])) |
                     wide_if(live >> right, wide_load(&pos->seats[right]));
    wide near;

    view->pos = pos;
    view->game = game;
    view->seat = seat;
    view->foes = foes_of(pos, seat, live);
    view->own = wide_load(&pos->seats[seat]);
    view->partner = wide_load(&pos->seats[partner]);
    view->occupied = occupied_squares(pos);
    view->empty = wide_load(&game->on_board) & ~view->occupied;
    view->victims = (live_foes & ~wide_load(&pos->kinds[KIND_KING])) |
                    inert_victims(pos, seat, live);
    view->open = view->empty | view->victims;
    view->goal = view->open;
    view->king_line = view->open;
    view->pinned = (wide){0, 0, 0, 0};
    view->pin_count = 0;
    view->checks = 0;
    view->king = SQUARE_NONE;
    if ((pos->has_king >> seat & 1u) != 0) {
        view->king = pos->king[seat];
        near = near_attackers(game, &view->foes, seat, view->king);
        if (!wide_is_empty(near)) {
            view->checks = wide_count(near);
            view->goal &= near;
        }
        find_pins(view, view->king, true);
        if (view->checks > 1)
            view->goal = (wide){0, 0, 0, 0};
    }
    if (game->table->shields_partner && (live >> partner & 1u) != 0 &&
        (pos->has_king >> partner & 1u) != 0)
        find_pins(view, pos->king[partner], false);
}

INLINE bool king_is_safe_on(const struct view *view, int square)
{
    return !is_attacked(view->game, &view->foes, view->occupied ^ wide_square(view->king),
                        view->seat, square);
}

/* R-F10 */
INLINE bool may_castle(const struct view *view, unsigned left)
{
    const struct position *pos = view->pos;
    const struct castle *castle = &view->game->castle[view->seat][left];

    if ((pos->castling >> (view->seat * 2 + left) & 1u) == 0 || view->checks != 0 ||
        !wide_are_apart(wide_load(&castle->path), view->occupied) ||
        pos->men[castle->at.king_from] != man_of(view->seat, KIND_KING) ||
        pos->men[castle->at.rook_from] != man_of(view->seat, KIND_ROOK))
        return false;
    return king_is_safe_on(view, castle->way[1]) && king_is_safe_on(view, castle->way[2]);
}

/* The square of the pawn that `foe` has moved past pos->passed[foe], if it still stands there. */
INLINE int pawn_beyond(const struct position *pos, enum seat foe)
{
    unsigned way = way_forward(foe);
    int beyond = pos->passed[foe] + way_file[way] + 16 * way_rank[way];

    return beyond >= 0 && beyond < SQUARES && pos->men[beyond] == man_of(foe, KIND_PAWN)
               ? beyond
               : SQUARE_NONE;
}

/* The same, if it may be taken in passing: R-F9. */
INLINE int passed_pawn(const struct position *pos, enum seat foe)
{
    return pos->men[pos->passed[foe]] == MAN_NONE ? pawn_beyond(pos, foe) : SQUARE_NONE;
}

/* Would capturing the pawn on `victim` from `from`, passing to `to`, leave the king safe? */
INLINE bool may_take_passed(const struct view *view, int from, int to, int victim)
{
    struct foes foes = view->foes;
    wide taken = wide_square(victim);

    if (view->king == SQUARE_NONE)
        return true;
    foes.pawns_left &= ~taken;
    foes.pawns_right &= ~taken;
    return !is_attacked(view->game, &foes,
                        view->occupied ^ wide_square(from) ^ wide_square(to) ^ taken, view->seat,
                        view->king);
}

/* The own pawns that attack the square. */
INLINE wide pawns_that_attack(const struct view *view, int square)
{
    const struct position *pos = view->pos;
    enum seat seat = view->seat;

    return view->own &
           ((wide_load(&view->game->pawn_sources[seat][square]) &
             wide_load(&pos->kinds[KIND_PAWN])) |
            (wide_load(&view->game->pawn_sources[seat_partner(seat)][square]) &
             wide_load(&pos->kinds[KIND_TURNED])));
}

/* What the pawns of a set may do that way. */
struct pawn_goals {
    wide steps, doubles, leaps, captures[2];
};

INLINE struct pawn_goals pawn_goals(const struct view *view, wide pawns, unsigned way, wide goal)
{
    const struct game *game = view->game;
    unsigned sides[2] = {(way + 7) & 7, (way + 1) & 7};
    wide enter = wide_load(&game->enter[way]);
    wide ahead = wide_step(pawns, way, 1) & enter;
    struct pawn_goals goals = {.steps = ahead & view->empty & goal};

    if (game->table->pawn_doubles) {
        wide first = wide_step(pawns & wide_load(&game->double_from[view->seat]), way, 1) & enter &
                     view->empty;

        goals.doubles = wide_step(first, way, 1) & enter & view->empty & goal;
    }
    if (game->table->pawn_leaps) { /* R-V9 */
        wide leapt = ahead & view->partner &
                     (wide_load(&view->pos->kinds[KIND_PAWN]) |
                      wide_load(&view->pos->kinds[KIND_TURNED]));

        goals.leaps = wide_step(leapt, way, 1) & enter & view->empty & goal;
    }
    for (int i = 0; i < 2; i++)
        goals.captures[i] = wide_step(pawns, sides[i], 1) & wide_load(&game->enter[sides[i]]) &
                            view->victims & goal;
    return goals;
}

/* ---------------------------------------------------------------- counting */

INLINE tally count_pawns(const struct view *view, wide pawns, unsigned way, wide goal, tally sum)
{
    struct pawn_goals goals = pawn_goals(view, pawns, way, goal);
    wide promote_step = wide_load(&view->game->promote_step[view->seat]);
    wide promote_capture = wide_load(&view->game->promote_capture[view->seat]);
    int more = variant_choices(&view->pos->variant) - 1;

    sum = tally_add(sum, goals.steps);
    if (view->game->table->pawn_doubles)
        sum = tally_add(sum, goals.doubles);
    if (view->game->table->pawn_leaps)
        sum = tally_add(sum, goals.leaps);
    sum = tally_add(sum, goals.captures[0]);
    sum = tally_add(sum, goals.captures[1]);
    if (more > 0 &&
        !wide_is_empty((goals.steps & promote_step) |
                       ((goals.captures[0] | goals.captures[1]) & promote_capture))) {
        for (int i = 0; i < more; i++) {
            sum = tally_add(sum, goals.steps & promote_step);
            sum = tally_add(sum, goals.captures[0] & promote_capture);
            sum = tally_add(sum, goals.captures[1] & promote_capture);
        }
    }
    return sum;
}

/* Moves of the men of a set, king's apart, to the squares of goal. */
INLINE tally count_men(const struct view *view, wide men, wide goal, tally sum)
{
    const struct position *pos = view->pos;
    const struct game *game = view->game;
    wide queens = wide_load(&pos->kinds[KIND_QUEEN]);
    wide straight = (queens | wide_load(&pos->kinds[KIND_ROOK])) & men;
    wide diagonal = (queens | wide_load(&pos->kinds[KIND_BISHOP])) & men;
    wide knights = wide_load(&pos->kinds[KIND_KNIGHT]) & men;

#define SLIDE(set, way)                                                                         \
    sum = tally_add(sum, goal & wide_slide(set, view->empty, wide_load(&game->enter[way]), way))
    SLIDE(straight, NORTH);
    SLIDE(straight, EAST);
    SLIDE(straight, SOUTH);
    SLIDE(straight, WEST);
    SLIDE(diagonal, NORTH_EAST);
    SLIDE(diagonal, SOUTH_EAST);
    SLIDE(diagonal, SOUTH_WEST);
    SLIDE(diagonal, NORTH_WEST);
#undef SLIDE
#define LEAP(leap)                                                                              \
    sum = tally_add(sum, goal & wide_load(&game->leap_enter[leap]) & wide_leap(knights, leap))
    LEAP(0);
    LEAP(1);
    LEAP(2);
    LEAP(3);
    LEAP(4);
    LEAP(5);
    LEAP(6);
    LEAP(7);
#undef LEAP
    sum = count_pawns(view, men & wide_load(&pos->kinds[KIND_PAWN]),
                      way_of_pawn(view->seat, false), goal, sum);
    if (game->table->turn_back != NULL)
        sum = count_pawns(view, men & wide_load(&pos->kinds[KIND_TURNED]),
                          way_of_pawn(view->seat, true), goal, sum);
    return sum;
}

/* Where the man of pin i may go.  The same man may be pinned twice, to his own king and to his
 * partner's: then to both lines at once, and he is dealt with at his first pin only. */
INLINE wide pinned_goal(const struct view *view, int i)
{
    wide goal = view->goal & view->pins[i].line;

    for (int j = 0; j < view->pin_count; j++) {
        if (view->pins[j].square != view->pins[i].square)
            continue;
        if (j < i)
            return (wide){0};
        goal &= view->pins[j].line;
    }
    return goal;
}

static tally count_pinned(const struct view *view, tally sum)
{
    for (int i = 0; i < view->pin_count; i++) {
        wide goal = pinned_goal(view, i);

        if (wide_is_empty(goal))
            continue;
        switch (view->seat) {
#define COUNT_ONE(s)                                                                            \
    case s: {                                                                                   \
        struct view one = *view;                                                                \
        one.seat = s;                                                                           \
        sum = count_men(&one, wide_square(view->pins[i].square), goal, sum);                    \
        break;                                                                                  \
    }
            COUNT_ONE(SEAT_SOUTH)
            COUNT_ONE(SEAT_WEST)
            COUNT_ONE(SEAT_NORTH)
            COUNT_ONE(SEAT_EAST)
        case SEATS:
            break;
        }
    }
    return sum;
}

INLINE int count_king(const struct view *view)
{
    wide squares = wide_load(&view->game->steps[view->king]) & view->king_line;
    int count = 0;

    if (!wide_is_empty(squares)) {
        WIDE_EACH (square, squares)
            count += king_is_safe_on(view, square);
    }
    if (view->pos->castling >> (view->seat * 2) & 3u)
        count += may_castle(view, 0) + may_castle(view, 1);
    return count;
}

INLINE int count_passed(const struct view *view)
{
    int count = 0;

    for (unsigned foe = 0; foe < SEATS; foe++) {
        int passed = view->pos->passed[foe], victim;

        if ((view->pos->passed_by >> foe & 1u) == 0 ||
            !seats_are_enemies(view->seat, (enum seat)foe) ||
            (victim = passed_pawn(view->pos, (enum seat)foe)) == SQUARE_NONE)
            continue;
        WIDE_EACH (from, pawns_that_attack(view, passed)) {
            if (may_take_passed(view, from, passed, victim))
                count += board_has(&view->game->promote_capture[view->seat], passed)
                             ? variant_choices(&view->pos->variant)
                             : 1;
        }
    }
    return count;
}

INLINE int count_of_seat(const struct position *pos, enum seat seat, unsigned live)
{
    struct view view;
    tally sum = tally_none();
    int count = 0;

    look(&view, pos, seat, live);
    if (!wide_is_empty(view.goal)) {
        sum = count_men(&view, view.own & ~view.pinned, view.goal, sum);
        if (view.pin_count != 0)
            sum = count_pinned(&view, sum);
    }
    if (view.king != SQUARE_NONE)
        count += count_king(&view);
    if (pos->passed_by != 0)
        count += count_passed(&view);
    return count + tally_total(sum);
}

/* ---------------------------------------------------------------- listing */

INLINE struct move *put(struct move *at, int from, int to, enum kind promotion,
                        enum move_type type)
{
    *at = (struct move){(uint8_t)from, (uint8_t)to, (uint8_t)promotion, (uint8_t)type};
    return at + 1;
}

INLINE struct move *put_all(struct move *at, int from, wide goals, enum move_type type)
{
    WIDE_EACH (to, goals)
        at = put(at, from, to, KIND_NONE, type);
    return at;
}

/* The pieces a promoting pawn may become. */
INLINE struct move *put_choices(const struct view *view, struct move *at, int from, int to,
                                enum move_type type)
{
    int choices = variant_choices(&view->pos->variant);

    for (int i = 0; i < choices; i++)
        at = put(at, from, to, (enum kind)(KIND_QUEEN + i), type);
    return at;
}

INLINE struct move *put_pawns(const struct view *view, struct move *at, wide goals, int delta,
                              wide promote, enum move_type type)
{
    WIDE_EACH (to, goals & promote)
        at = put_choices(view, at, to - delta, to, type);
    WIDE_EACH (to, goals & ~promote)
        at = put(at, to - delta, to, KIND_NONE, type);
    return at;
}

INLINE struct move *list_pawns(const struct view *view, wide pawns, unsigned way, wide goal,
                               struct move *at)
{
    struct pawn_goals goals = pawn_goals(view, pawns, way, goal);
    wide promote_step = wide_load(&view->game->promote_step[view->seat]);
    wide promote_capture = wide_load(&view->game->promote_capture[view->seat]);
    wide none = {0, 0, 0, 0};
    int ahead = way_file[way] + 16 * way_rank[way];

    at = put_pawns(view, at, goals.steps, ahead, promote_step, MOVE_PLAIN);
    if (view->game->table->pawn_doubles)
        at = put_pawns(view, at, goals.doubles, 2 * ahead, none, MOVE_DOUBLE);
    if (view->game->table->pawn_leaps)
        at = put_pawns(view, at, goals.leaps, 2 * ahead, none, MOVE_LEAP);
    for (unsigned i = 0; i < 2; i++) {
        unsigned side = (way + 7 + 2 * i) & 7;

        at = put_pawns(view, at, goals.captures[i], way_file[side] + 16 * way_rank[side],
                       promote_capture, MOVE_PLAIN);
    }
    return at;
}

/* Where the slider on the square comes to. */
INLINE wide straight_from(const struct view *view, int square)
{
    const struct board *enter = view->game->enter;
    wide slider = wide_square(square);

    return wide_slide(slider, view->empty, wide_load(&enter[NORTH]), NORTH) |
           wide_slide(slider, view->empty, wide_load(&enter[EAST]), EAST) |
           wide_slide(slider, view->empty, wide_load(&enter[SOUTH]), SOUTH) |
           wide_slide(slider, view->empty, wide_load(&enter[WEST]), WEST);
}

INLINE wide diagonal_from(const struct view *view, int square)
{
    const struct board *enter = view->game->enter;
    wide slider = wide_square(square);

    return wide_slide(slider, view->empty, wide_load(&enter[NORTH_EAST]), NORTH_EAST) |
           wide_slide(slider, view->empty, wide_load(&enter[SOUTH_EAST]), SOUTH_EAST) |
           wide_slide(slider, view->empty, wide_load(&enter[SOUTH_WEST]), SOUTH_WEST) |
           wide_slide(slider, view->empty, wide_load(&enter[NORTH_WEST]), NORTH_WEST);
}

INLINE bool is_shut_in(const struct view *view, int square)
{
    return wide_are_apart(wide_load(&view->game->steps[square]), view->open);
}

INLINE struct move *list_men(const struct view *view, wide men, wide goal, struct move *at)
{
    const struct position *pos = view->pos;
    wide queens = wide_load(&pos->kinds[KIND_QUEEN]);
    wide straight = (queens | wide_load(&pos->kinds[KIND_ROOK])) & men;
    wide diagonal = (queens | wide_load(&pos->kinds[KIND_BISHOP])) & men;

    WIDE_EACH (from, straight) {
        if (!is_shut_in(view, from)) /* many are, while pawns stand */
            at = put_all(at, from, goal & straight_from(view, from), MOVE_PLAIN);
    }
    WIDE_EACH (from, diagonal) {
        if (!is_shut_in(view, from))
            at = put_all(at, from, goal & diagonal_from(view, from), MOVE_PLAIN);
    }
    WIDE_EACH (from, wide_load(&pos->kinds[KIND_KNIGHT]) & men)
        at = put_all(at, from, goal & wide_load(&view->game->leaps[from]), MOVE_PLAIN);
    at = list_pawns(view, men & wide_load(&pos->kinds[KIND_PAWN]),
                    way_of_pawn(view->seat, false), goal, at);
    if (view->game->table->turn_back != NULL)
        at = list_pawns(view, men & wide_load(&pos->kinds[KIND_TURNED]),
                        way_of_pawn(view->seat, true), goal, at);
    return at;
}

static struct move *list_pinned(const struct view *view, struct move *at)
{
    for (int i = 0; i < view->pin_count; i++) {
        wide goal = pinned_goal(view, i);

        if (wide_is_empty(goal))
            continue;
        switch (view->seat) {
#define LIST_ONE(s)                                                                             \
    case s: {                                                                                   \
        struct view one = *view;                                                                \
        one.seat = s;                                                                           \
        at = list_men(&one, wide_square(view->pins[i].square), goal, at);                       \
        break;                                                                                  \
    }
            LIST_ONE(SEAT_SOUTH)
            LIST_ONE(SEAT_WEST)
            LIST_ONE(SEAT_NORTH)
            LIST_ONE(SEAT_EAST)
        case SEATS:
            break;
        }
    }
    return at;
}

INLINE struct move *list_king(const struct view *view, struct move *at)
{
    wide squares = wide_load(&view->game->steps[view->king]) & view->king_line;

    WIDE_EACH (to, squares) {
        if (king_is_safe_on(view, to))
            at = put(at, view->king, to, KIND_NONE, MOVE_PLAIN);
    }
    if (view->pos->castling >> (view->seat * 2) & 3u)
        for (unsigned left = 0; left < 2; left++)
            if (may_castle(view, left))
                at = put(at, view->king, view->game->castle[view->seat][left].at.king_to,
                         KIND_NONE, MOVE_CASTLE);
    return at;
}

INLINE struct move *list_passed(const struct view *view, struct move *at)
{
    for (unsigned foe = 0; foe < SEATS; foe++) {
        int passed = view->pos->passed[foe], victim;

        if ((view->pos->passed_by >> foe & 1u) == 0 ||
            !seats_are_enemies(view->seat, (enum seat)foe) ||
            (victim = passed_pawn(view->pos, (enum seat)foe)) == SQUARE_NONE)
            continue;
        WIDE_EACH (from, pawns_that_attack(view, passed)) {
            if (!may_take_passed(view, from, passed, victim))
                continue;
            if (board_has(&view->game->promote_capture[view->seat], passed))
                at = put_choices(view, at, from, passed, MOVE_EN_PASSANT);
            else
                at = put(at, from, passed, KIND_NONE, MOVE_EN_PASSANT);
        }
    }
    return at;
}

INLINE int list_of_seat(const struct position *pos, enum seat seat, unsigned live,
                        struct move *ret_moves)
{
    struct view view;
    struct move *at = ret_moves;

    look(&view, pos, seat, live);
    if (!wide_is_empty(view.goal)) {
        at = list_men(&view, view.own & ~view.pinned, view.goal, at);
        if (view.pin_count != 0)
            at = list_pinned(&view, at);
    }
    if (view.king != SQUARE_NONE)
        at = list_king(&view, at);
    if (pos->passed_by != 0)
        at = list_passed(&view, at);
    return (int)(at - ret_moves);
}

/* ---------------------------------------------------------------- make and unmake */

/* struct undo begins as struct position ends. */
#define SAME_PLACE(field)                                                                       \
    _Static_assert(offsetof(struct undo, field) ==                                              \
                       offsetof(struct position, field) - offsetof(struct position, hash),      \
                   "struct undo follows struct position")
SAME_PLACE(king);
SAME_PLACE(turn);
SAME_PLACE(condition);
SAME_PLACE(count);
SAME_PLACE(ply);

INLINE void save(const struct position *pos, struct undo *undo)
{
    memcpy(undo, &pos->hash, offsetof(struct undo, man));
}

/* The parts of a move that are not one man going to another square. */
static void make_special(struct position *pos, struct move move, struct undo *undo)
{
    const struct game *game = pos->variant.game;
    enum seat seat = man_seat(undo->man);
    enum kind kind = man_kind(undo->man), becomes = kind;

    if (kind_is_pawn(kind)) {
        if (move.promotion != KIND_NONE) {
            becomes = (enum kind)move.promotion;
            pos->count = 0;
        } else if (kind == KIND_PAWN && board_has(&game->turning[0][seat], move.to)) {
            becomes = KIND_TURNED; /* R-V7 */
        } else if (kind == KIND_TURNED && board_has(&game->turning[1][seat], move.to)) {
            becomes = KIND_PAWN; /* R-V8 */
        }
        if (becomes != kind)
            position_put(pos, move.to, man_of(seat, becomes));
        if (move.type == MOVE_DOUBLE) {
            if ((pos->passed_by >> seat & 1u) != 0) /* read from a text: no game comes to it */
                pos->hash ^= hash_keys[KEY_PASSED + seat * SQUARES + pos->passed[seat]];
            pos->passed[seat] = (uint8_t)((move.from + move.to) / 2);
            pos->passed_by |= (uint8_t)(1u << seat);
            pos->hash ^= hash_keys[KEY_PASSED + seat * SQUARES + pos->passed[seat]];
        } else if (move.type == MOVE_EN_PASSANT) {
            for (unsigned foe = 0; foe < SEATS; foe++) {
                int victim;

                if (!seats_are_enemies(seat, (enum seat)foe) ||
                    (pos->passed_by >> foe & 1u) == 0 || pos->passed[foe] != move.to)
                    continue;
                victim = pawn_beyond(pos, (enum seat)foe);
                if (victim == SQUARE_NONE)
                    continue;
                undo->captured_at = (uint8_t)victim;
                undo->captured = pos->men[victim];
                position_put(pos, victim, MAN_NONE);
                break;
            }
            pos->count = 0;
        }
    } else if (move.type == MOVE_CASTLE) {
        unsigned left = game->castle[seat][0].at.king_to == move.to ? 0 : 1;
        const struct castling *at = &game->castle[seat][left].at;

        position_put(pos, at->rook_from, MAN_NONE);
        position_put(pos, at->rook_to, man_of(seat, KIND_ROOK));
    }
}

INLINE void make(struct position *pos, struct move move, struct undo *undo)
{
    const struct game *game = pos->variant.game;
    uint8_t man = pos->men[move.from], other = pos->men[move.to];
    enum kind kind = man_kind(man);
    wide to = wide_square(move.to), both = wide_square(move.from) ^ to;
    uint64_t hash = pos->hash ^ hash_keys[man * SQUARES + move.from] ^
                    hash_keys[man * SQUARES + move.to];
    unsigned lost;

    save(pos, undo);
    undo->man = man;
    undo->captured = other;
    undo->captured_at = move.to;
    pos->men[move.from] = MAN_NONE;
    pos->men[move.to] = man;
    wide_toggle(&pos->seats[man_seat(man)], both);
    wide_toggle(&pos->kinds[kind], both);
    pos->count = (uint16_t)(pos->count + (pos->count != UINT16_MAX));
    pos->ply++;
    if (other != MAN_NONE) {
        wide_toggle(&pos->seats[man_seat(other)], to);
        wide_toggle(&pos->kinds[man_kind(other)], to);
        hash ^= hash_keys[other * SQUARES + move.to];
        pos->count = 0;
    }
    lost = pos->castling & (game->castling_lost[move.from] | game->castling_lost[move.to]);
    if (lost != 0) {
        for (unsigned bit = 0; bit < 2 * SEATS; bit++)
            if ((lost >> bit & 1u) != 0)
                hash ^= hash_keys[KEY_CASTLING + bit];
        pos->castling = (uint8_t)(pos->castling ^ lost);
    }
    pos->hash = hash;
    if (kind == KIND_KING)
        pos->king[man_seat(man)] = move.to;
    if (kind_is_pawn(kind) && game->table->pawn_move_resets_count)
        pos->count = 0;
    if ((move.type | move.promotion) != 0 ||
        (kind_is_pawn(kind) &&
         board_has(&game->turning[kind == KIND_TURNED][man_seat(man)], move.to)))
        make_special(pos, move, undo);
}

INLINE void unmake(struct position *pos, struct move move, const struct undo *undo)
{
    uint8_t man = undo->man, now = pos->men[move.to];
    wide from = wide_square(move.from), to = wide_square(move.to);

    pos->men[move.from] = man;
    pos->men[move.to] = MAN_NONE;
    wide_toggle(&pos->seats[man_seat(man)], from ^ to);
    wide_toggle(&pos->kinds[man_kind(man)], now == man ? from ^ to : from);
    if (now != man)
        wide_toggle(&pos->kinds[man_kind(now)], to);
    if (undo->captured != MAN_NONE) {
        wide at = wide_square(undo->captured_at);

        pos->men[undo->captured_at] = undo->captured;
        wide_toggle(&pos->seats[man_seat(undo->captured)], at);
        wide_toggle(&pos->kinds[man_kind(undo->captured)], at);
    }
    if (move.type == MOVE_CASTLE) {
        enum seat seat = man_seat(man);
        const struct game *game = pos->variant.game;
        unsigned left = game->castle[seat][0].at.king_to == move.to ? 0 : 1;
        const struct castling *at = &game->castle[seat][left].at;

        position_put(pos, at->rook_to, MAN_NONE);
        position_put(pos, at->rook_from, man_of(seat, KIND_ROOK));
    }
    memcpy(&pos->hash, undo, offsetof(struct undo, man));
}

static void engine_make(struct position *pos, struct move move, struct undo *ret_undo)
{
    make(pos, move, ret_undo);
}

static void engine_unmake(struct position *pos, struct move move, const struct undo *undo)
{
    unmake(pos, move, undo);
}

/* ---------------------------------------------------------------- the seats */

/* Keeps the moves that take a man of a mated army only where its mate holds after them: R-V14. */
static int drop_releases(const struct position *pos, unsigned live, struct move *moves, int count)
{
    int kept = 0;

    for (int i = 0; i < count; i++) {
        uint8_t victim = pos->men[moves[i].to];

        if (victim == MAN_NONE || (live >> man_seat(victim) & 1u) != 0 ||
            play_mate_holds(pos, moves[i], man_seat(victim), live))
            moves[kept++] = moves[i];
    }
    return kept;
}

static bool has_inert_victims(const struct position *pos, enum seat seat, unsigned live)
{
    return !wide_is_empty(inert_victims(pos, seat, live));
}

static int engine_generate(const struct position *pos, enum seat seat, unsigned live,
                           struct move *ret_moves)
{
    int count = 0;

    switch (seat) { /* the seat is a constant in each, so that its pawns' ways are */
    case SEAT_SOUTH:
        count = list_of_seat(pos, SEAT_SOUTH, live, ret_moves);
        break;
    case SEAT_WEST:
        count = list_of_seat(pos, SEAT_WEST, live, ret_moves);
        break;
    case SEAT_NORTH:
        count = list_of_seat(pos, SEAT_NORTH, live, ret_moves);
        break;
    case SEAT_EAST:
        count = list_of_seat(pos, SEAT_EAST, live, ret_moves);
        break;
    case SEATS:
        break;
    }
    if (pos->variant.inert == INERT_CAPTURABLE && has_inert_victims(pos, seat, live))
        count = drop_releases(pos, live, ret_moves, count);
    return count;
}

static int engine_count(const struct position *pos, enum seat seat, unsigned live)
{
    if (pos->variant.inert == INERT_CAPTURABLE && has_inert_victims(pos, seat, live)) {
        struct move moves[MOVES_MAX];

        return engine_generate(pos, seat, live, moves);
    }
    switch (seat) {
    case SEAT_SOUTH:
        return count_of_seat(pos, SEAT_SOUTH, live);
    case SEAT_WEST:
        return count_of_seat(pos, SEAT_WEST, live);
    case SEAT_NORTH:
        return count_of_seat(pos, SEAT_NORTH, live);
    case SEAT_EAST:
        return count_of_seat(pos, SEAT_EAST, live);
    case SEATS:
        break;
    }
    return 0;
}

/* ---------------------------------------------------------------- perft */

/*
 * Settles a move in the common case, without asking whether the next seat can move: nobody is out
 * or passed over, and where a mate counts at once no king but the next seat's is attacked.  False
 * in any other case; the position is then as it was, or fit for position_settle().
 */
INLINE bool settle_quickly(struct position *pos, enum seat mover)
{
    enum seat next = seat_left(mover), partner = seat_partner(mover);
    enum seat right = seat_left(partner);
    uint32_t conditions;

    memcpy(&conditions, pos->condition, sizeof conditions);
    if (conditions != 0)
        return false;
    if (pos->variant.game->table->mate == MATE_INERT &&
        (engine_attacked(pos, pos->king[partner], partner, pos->live) ||
         engine_attacked(pos, pos->king[right], right, pos->live)))
        return false;
    pos->hash ^= hash_keys[KEY_TURN + mover] ^ hash_keys[KEY_TURN + next];
    pos->turn = (uint8_t)next;
    if (pos->passed_by >> next & 1u)
        position_end_passed(pos, next);
    return true;
}

static uint64_t perft_below(struct position *pos, int depth, bool each);

/* Lines from a position whose turn is settled, but which may turn out to have no move: then
 * *ret_stuck. */
static uint64_t perft_moves(struct position *pos, int depth, bool each, bool *ret_stuck)
{
    struct move moves[MOVES_MAX];
    struct undo undo;
    uint64_t sum = 0;
    int count = engine_generate(pos, (enum seat)pos->turn, pos->live, moves);

    *ret_stuck = count == 0;
    if (depth == 1) {
        for (int i = 0; i < count; i++) {
            make(pos, moves[i], &undo);
            unmake(pos, moves[i], &undo);
        }
        return (uint64_t)count;
    }
    for (int i = 0; i < count; i++) {
        make(pos, moves[i], &undo);
        sum += perft_below(pos, depth - 1, each);
        unmake(pos, moves[i], &undo);
    }
    return sum;
}

static uint64_t perft_settled(struct position *pos, int depth, bool each, bool *ret_stuck)
{
    if (depth == 1 && !each) {
        int count = engine_count(pos, (enum seat)pos->turn, pos->live);

        *ret_stuck = count == 0;
        return (uint64_t)count;
    }
    return perft_moves(pos, depth, each, ret_stuck);
}

/* Lines from a position where a move has been made and not yet settled. */
static uint64_t perft_below(struct position *pos, int depth, bool each)
{
    enum seat mover = (enum seat)pos->turn;
    struct position before;
    uint64_t sum = 0;
    bool stuck;

    if (settle_quickly(pos, mover)) {
        sum = perft_settled(pos, depth, each, &stuck);
        if (!stuck)
            return sum;
    }
    before = *pos;
    position_settle(pos, mover);
    sum = pos->result != RESULT_NONE ? 0 : perft_settled(pos, depth, each, &stuck);
    *pos = before;
    return sum;
}

static uint64_t engine_perft(struct position *pos, int depth, bool each)
{
    bool stuck;

    return perft_settled(pos, depth, each, &stuck);
}

const struct engine ENGINE = {
    .name = ENGINE_NAME,
    .count = engine_count,
    .generate = engine_generate,
    .attacked = engine_attacked,
    .make = engine_make,
    .unmake = engine_unmake,
    .perft = engine_perft,
};

#endif
