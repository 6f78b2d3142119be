/*
 * rules/position.c - makes positions, and checks that their parts agree.
 */
#include <assert.h>
#include <string.h>

#include "rules/game.h"
#include "rules/state.h"

/* ---------------------------------------------------------------- parts */

void position_clear(const struct variant *variant, struct position *ret_position)
{
    memset(ret_position, 0, sizeof *ret_position);
    ret_position->variant = *variant;
    ret_position->live = 15;
    ret_position->hash = position_hash(ret_position);
}

void position_put(struct position *pos, int square, uint8_t man)
{
    uint8_t old = pos->men[square];

    assert(square_is_on_board(pos->variant.game, square));
    if (old != MAN_NONE) {
        board_toggle(&pos->seats[man_seat(old)], square);
        board_toggle(&pos->kinds[man_kind(old)], square);
        pos->hash ^= hash_keys[old * SQUARES + square];
        if (man_kind(old) == KIND_KING)
            pos->has_king &= (uint8_t) ~(1u << man_seat(old));
    }
    pos->men[square] = man;
    if (man != MAN_NONE) {
        assert(man_kind(man) != KIND_NONE && man < MEN);
        board_toggle(&pos->seats[man_seat(man)], square);
        board_toggle(&pos->kinds[man_kind(man)], square);
        pos->hash ^= hash_keys[man * SQUARES + square];
        if (man_kind(man) == KIND_KING) {
            pos->has_king |= (uint8_t)(1u << man_seat(man));
            pos->king[man_seat(man)] = (uint8_t)square;
        }
    }
}

void position_condition(struct position *pos, enum seat seat, enum condition condition)
{
    enum condition old = (enum condition)pos->condition[seat];

    if (old != CONDITION_LIVE)
        pos->hash ^= hash_keys[KEY_CONDITION + seat * 4 + old];
    if (condition != CONDITION_LIVE)
        pos->hash ^= hash_keys[KEY_CONDITION + seat * 4 + condition];
    pos->condition[seat] = (uint8_t)condition;
    if (condition == CONDITION_LIVE || condition == CONDITION_STALEMATED)
        pos->live |= (uint8_t)(1u << seat);
    else
        pos->live &= (uint8_t) ~(1u << seat);
}

void position_end_rights(struct position *pos, enum seat seat)
{
    for (unsigned bit = seat * 2; bit < seat * 2 + 2; bit++) {
        if ((pos->castling >> bit & 1u) != 0) {
            pos->castling &= (uint8_t) ~(1u << bit);
            pos->hash ^= hash_keys[KEY_CASTLING + bit];
        }
    }
}

void position_end_passed(struct position *pos, enum seat seat)
{
    if ((pos->passed_by >> seat & 1u) == 0)
        return;
    pos->hash ^= hash_keys[KEY_PASSED + seat * SQUARES + pos->passed[seat]];
    pos->passed_by &= (uint8_t) ~(1u << seat);
    pos->passed[seat] = 0;
}

void position_turn(struct position *pos, enum seat seat)
{
    pos->hash ^= hash_keys[KEY_TURN + pos->turn] ^ hash_keys[KEY_TURN + seat];
    pos->turn = (uint8_t)seat;
}

void position_set_state(struct position *pos, const struct position_state *state)
{
    pos->turn = (uint8_t)state->turn;
    pos->castling = state->castling;
    pos->passed_by = 0;
    for (unsigned seat = 0; seat < SEATS; seat++) {
        position_condition(pos, (enum seat)seat, state->condition[seat]);
        pos->passed[seat] = 0;
        if (state->passed[seat] != SQUARE_NONE) {
            pos->passed[seat] = (uint8_t)state->passed[seat];
            pos->passed_by |= (uint8_t)(1u << seat);
        }
    }
    pos->count = state->count > UINT16_MAX ? UINT16_MAX : (uint16_t)state->count;
    pos->ply = state->ply;
    pos->hash = position_hash(pos);
}

uint64_t position_hash(const struct position *pos)
{
    uint64_t hash = hash_keys[KEY_GAME + pos->variant.game->table->number];

    for (int square = 0; square < SQUARES; square++)
        if (pos->men[square] != MAN_NONE)
            hash ^= hash_keys[pos->men[square] * SQUARES + square];
    hash ^= hash_keys[KEY_TURN + pos->turn];
    for (unsigned seat = 0; seat < SEATS; seat++) {
        if (pos->condition[seat] != CONDITION_LIVE)
            hash ^= hash_keys[KEY_CONDITION + seat * 4 + pos->condition[seat]];
        if ((pos->passed_by >> seat & 1u) != 0)
            hash ^= hash_keys[KEY_PASSED + seat * SQUARES + pos->passed[seat]];
    }
    for (unsigned bit = 0; bit < 2 * SEATS; bit++)
        if ((pos->castling >> bit & 1u) != 0)
            hash ^= hash_keys[KEY_CASTLING + bit];
    return hash;
}

bool position_is_ok(const struct position *pos)
{
    struct board seats[SEATS] = {{{0}}}, kinds[KINDS] = {{{0}}};
    uint8_t live = 0, has_king = 0;

    for (int square = 0; square < SQUARES; square++) {
        uint8_t man = pos->men[square];

        if (man == MAN_NONE)
            continue;
        if (man >= MEN || man_kind(man) == KIND_NONE ||
            !square_is_on_board(pos->variant.game, square))
            return false;
        board_add(&seats[man_seat(man)], square);
        board_add(&kinds[man_kind(man)], square);
        if (man_kind(man) == KIND_KING) {
            if ((has_king >> man_seat(man) & 1u) != 0 || pos->king[man_seat(man)] != square)
                return false;
            has_king |= (uint8_t)(1u << man_seat(man));
        }
    }
    for (unsigned seat = 0; seat < SEATS; seat++) {
        if (pos->condition[seat] > CONDITION_ABSENT)
            return false;
        if (pos->condition[seat] == CONDITION_LIVE || pos->condition[seat] == CONDITION_STALEMATED)
            live |= (uint8_t)(1u << seat);
        if ((pos->passed_by >> seat & 1u) == 0 && pos->passed[seat] != 0)
            return false;
    }
    return memcmp(seats, pos->seats, sizeof seats) == 0 &&
           memcmp(kinds, pos->kinds, sizeof kinds) == 0 && has_king == pos->has_king &&
           live == pos->live && pos->turn < SEATS && pos->hash == position_hash(pos);
}

/* ---------------------------------------------------------------- start */

enum { RESERVE_MEN = 3 };
static const enum kind reserve_kinds[RESERVE_MEN] = {KIND_ROOK, KIND_BISHOP, KIND_KNIGHT};

enum reserve_verdict reserve_validate(const struct game *game, enum seat seat,
                                      const struct reserve *reserve, int *ret_square)
{
    struct board free_squares;

    if (!game_reserve_squares(game, seat, &free_squares))
        return RESERVE_NONE_IN_GAME;
    for (int i = 0; i < RESERVE_MEN; i++) {
        int square = reserve->square[i];

        if (board_has(&free_squares, square)) {
            board_toggle(&free_squares, square);
            continue;
        }
        if (ret_square != NULL)
            *ret_square = square;
        return board_has(&game->fortress[seat], square) ? RESERVE_SQUARE_TWICE
                                                        : RESERVE_NOT_IN_FORTRESS;
    }
    return RESERVE_OK;
}

void reserve_usual(const struct game *game, enum seat seat, struct reserve *ret_reserve)
{
    const char *text = game->table->reserve[seat];

    assert(text != NULL);
    for (int i = 0; i < RESERVE_MEN; i++) {
        int square = SQUARE_NONE;

        text += strspn(text, " ");
        text += square_read(text, strlen(text), &square);
        ret_reserve->square[i] = (uint8_t)square;
    }
}

void reserve_draw(const struct game *game, enum seat seat,
                  const uint8_t random[RESERVE_RANDOM_BYTES], struct reserve *ret_reserve)
{
    struct board yard = game->fortress[seat];
    uint8_t free_squares[SQUARES];
    uint32_t count = 0, choice = 1;
    int square;

    while ((square = board_take(&yard)) != SQUARE_NONE)
        free_squares[count++] = (uint8_t)square;
    assert(count >= RESERVE_MEN);
    for (uint32_t i = 0; i < RESERVE_MEN; i++)
        choice *= count - i;
    /* The 32 random bits as a fraction of 1, times the number of placements. */
    choice = (uint32_t)((((uint64_t)random[0] << 24 | (uint64_t)random[1] << 16 |
                          (uint64_t)random[2] << 8 | random[3]) *
                         choice) >>
                        32);
    for (int i = 0; i < RESERVE_MEN; i++, count--) {
        uint32_t pick = choice % count;

        choice /= count;
        ret_reserve->square[i] = free_squares[pick];
        memmove(&free_squares[pick], &free_squares[pick + 1], count - pick - 1);
    }
}

static void put_army(struct position *pos, enum seat seat)
{
    const struct game *game = pos->variant.game;
    const char *pieces = variant_array(&pos->variant, seat);

    for (int along = 0; pieces[along] != '\0'; along++) {
        position_put(pos, line_square_at(game, seat, game->table->home, along),
                     man_of(seat, kind_of_letter(pieces[along])));
        position_put(pos, line_square_at(game, seat, game->table->pawns, along),
                     man_of(seat, KIND_PAWN));
    }
}

enum reserve_verdict position_start(const struct variant *variant,
                                    const struct reserve reserves[SEATS],
                                    struct position *ret_position)
{
    const struct game *game = variant->game;
    struct position_state state = {.turn = SEAT_SOUTH};
    struct position pos;

    position_clear(variant, &pos);
    for (unsigned i = 0; i < SEATS; i++) {
        enum seat seat = (enum seat)i;
        struct reserve reserve;

        put_army(&pos, seat);
        state.passed[seat] = SQUARE_NONE;
        if (game->table->reserve[seat] == NULL)
            continue;
        if (reserves == NULL || variant->reserve == RESERVE_USUAL) {
            reserve_usual(game, seat, &reserve);
        } else {
            enum reserve_verdict verdict = reserve_validate(game, seat, &reserves[seat], NULL);

            if (verdict != RESERVE_OK)
                return verdict;
            reserve = reserves[seat];
        }
        for (int man = 0; man < RESERVE_MEN; man++)
            position_put(&pos, reserve.square[man], man_of(seat, reserve_kinds[man]));
    }
    state.castling = game_has_castling(game) ? 0xff : 0;
    position_set_state(&pos, &state);
    *ret_position = pos;
    return RESERVE_OK;
}
