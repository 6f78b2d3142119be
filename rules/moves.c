/*
 * rules/moves.c - legal moves and attacks of a position, for callers.
 */
#include <string.h>

#include "rules/engine.h"
#include "rules/game.h"

void position_legal_moves(const struct position *pos, struct move_list *ret_moves)
{
    ret_moves->count = 0;
    if (!position_is_over(pos) && (pos->live >> pos->turn & 1u) != 0)
        ret_moves->count =
            engine()->generate(pos, (enum seat)pos->turn, pos->live, ret_moves->at);
}

int position_count_moves(const struct position *pos)
{
    if (position_is_over(pos) || (pos->live >> pos->turn & 1u) == 0)
        return 0;
    return engine()->count(pos, (enum seat)pos->turn, pos->live);
}

/* Does the man on `from` attack the square? */
static bool man_attacks(const struct position *pos, int from, int square)
{
    const struct game *game = pos->variant.game;
    uint8_t man = pos->men[from];
    enum seat seat = man_seat(man);
    bool straight = false, diagonal = false;
    struct board line;
    int between;

    switch (man_kind(man)) {
    case KIND_KING:
        return board_has(&game->steps[from], square);
    case KIND_KNIGHT:
        return board_has(&game->leaps[from], square);
    case KIND_PAWN:
        return board_has(&game->pawn_sources[seat][square], from);
    case KIND_TURNED:
        return board_has(&game->pawn_sources[seat_partner(seat)][square], from);
    case KIND_QUEEN:
        straight = diagonal = true;
        break;
    case KIND_ROOK:
        straight = true;
        break;
    case KIND_BISHOP:
        diagonal = true;
        break;
    case KIND_NONE:
    case KINDS:
        return false;
    }
    if (!(straight && board_has(&game->straight[from], square)) &&
        !(diagonal && board_has(&game->diagonal[from], square)))
        return false;
    line = game->ray[from][way_along(from, square)];
    for (int i = 0; i < 4; i++)
        line.word[i] &= ~game->ray[square][way_along(from, square)].word[i];
    while ((between = board_take(&line)) != SQUARE_NONE)
        if (between != square && pos->men[between] != MAN_NONE)
            return false;
    return true;
}

void position_attackers(const struct position *pos, int square, unsigned by,
                        struct board *ret_men)
{
    struct board found = {{0}};

    for (unsigned seat = 0; seat < SEATS; seat++) {
        struct board men = pos->seats[seat];
        int from;

        if ((by >> seat & 1u) == 0)
            continue;
        while ((from = board_take(&men)) != SQUARE_NONE)
            if (man_attacks(pos, from, square))
                board_add(&found, from);
    }
    *ret_men = found;
}

int position_checkers(const struct position *pos, enum seat seat, struct board *ret_men)
{
    unsigned foes = seat_team(seat) == 0 ? 1u << SEAT_WEST | 1u << SEAT_EAST
                                         : 1u << SEAT_SOUTH | 1u << SEAT_NORTH;
    struct board men = {{0}};

    if ((pos->has_king >> seat & 1u) != 0 && pos->condition[seat] != CONDITION_ABSENT &&
        engine()->attacked(pos, pos->king[seat], seat, pos->live))
        position_attackers(pos, pos->king[seat], foes & pos->live, &men);
    if (ret_men != NULL)
        *ret_men = men;
    return board_count(&men);
}

unsigned position_checked_seats(const struct position *pos)
{
    unsigned checked = 0;

    for (unsigned i = 0; i < SEATS; i++)
        if (position_is_check(pos, (enum seat)i))
            checked |= 1u << i;
    return checked;
}
