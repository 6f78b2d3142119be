/*
 * rules/position_text.c - positions as text (R-T1): read, written, and looked at for sense.
 */
#include <assert.h>
#include <string.h>

#include "rules/engine.h"
#include "rules/game.h"
#include "rules/line.h"
#include "rules/state.h"

/* ---------------------------------------------------------------- reading */

struct reader {
    const struct game *game;
    const char *text;              /* the whole */
    const char *field, *field_end; /* the field being read */
    enum position_field number;
    struct position pos;
    struct position_state state;
    struct position_error error;
};

/* Records what is wrong with the bytes from `at` to `end`. */
static enum position_verdict wrong(struct reader *r, enum position_verdict code, const char *at,
                                   const char *end, const char *wanted)
{
    struct position_error *e = &r->error;
    size_t n = (size_t)(end - at);
    struct line line;

    e->code = code;
    e->field = r->number;
    e->offset = (size_t)(at - r->text);
    if (n > sizeof e->word - 1)
        n = sizeof e->word - 1;
    memcpy(e->word, at, n);
    e->word[n] = '\0';
    line = line_start(e->wanted, sizeof e->wanted);
    line_string(&line, wanted);
    line_end(&line);
    return code;
}

static enum position_verdict wrong_field(struct reader *r, enum position_verdict code,
                                         const char *wanted)
{
    return wrong(r, code, r->field, r->field_end, wanted);
}

/* Digits without a leading zero, at most `max`; false otherwise. */
static bool read_number(const char *at, const char *end, uint64_t max, uint64_t *ret_number)
{
    uint64_t number = 0;

    if (at == end || end - at > 10 || (*at == '0' && end - at > 1))
        return false;
    for (; at < end; at++) {
        if (*at < '0' || *at > '9')
            return false;
        number = number * 10 + (uint64_t)(*at - '0');
    }
    if (number > max)
        return false;
    *ret_number = number;
    return true;
}

/* One token of a rank, which begins at *file; moves *file on. */
static enum position_verdict read_token(struct reader *r, const char *at, const char *end,
                                        int rank, int *file, bool *after_number)
{
    int square = square_of(*file, rank), files = r->game->table->files;
    bool was_number = *after_number;
    enum seat seat;
    enum kind kind;
    uint64_t run;

    *after_number = false;
    if (at == end)
        return wrong(r, POSITION_BAD_TOKEN, at, end, "a man, a number or x");
    if (*file >= files)
        return wrong(r, POSITION_RANK_LONG, at, end, "no more squares than the rank has");
    if (*at >= '0' && *at <= '9') {
        if (!read_number(at, end, 99, &run) || run == 0)
            return wrong(r, POSITION_BAD_EMPTIES, at, end, "1 or more, no leading zero");
        if (was_number)
            return wrong(r, POSITION_SPLIT_EMPTIES, at, end, "one number for a run of empties");
        if (run > (uint64_t)(files - *file))
            return wrong(r, POSITION_RANK_LONG, at, end, "no more squares than the rank has");
        for (; run > 0; run--, ++*file) {
            if (!square_is_on_board(r->game, square_of(*file, rank))) {
                r->error.square = square_of(*file, rank);
                return wrong(r, POSITION_EMPTIES_OFF_BOARD, at, end, "x where no square is");
            }
        }
        *after_number = true;
        return POSITION_OK;
    }
    ++*file;
    r->error.square = square;
    if (*at == 'x' && end - at == 1) {
        if (square_is_on_board(r->game, square))
            return wrong(r, POSITION_X_ON_BOARD, at, end, "a man or a number");
        r->error.square = SQUARE_NONE;
        return POSITION_OK;
    }
    if (end - at != 2)
        return wrong(r, POSITION_BAD_TOKEN, at, end, "a man, a number or x");
    if (!seat_of_letter(r->game, at[0], &seat))
        return wrong(r, POSITION_BAD_COLOUR, at, end, r->game->table->letters);
    kind = kind_of_letter(at[1]);
    if (kind == KIND_NONE || (kind == KIND_TURNED && !game_has_turning(r->game)))
        return wrong(r, POSITION_BAD_KIND, at, end,
                     game_has_turning(r->game) ? "K Q R B N P or V" : "K Q R B N or P");
    r->error.seat = (int)seat;
    if (!square_is_on_board(r->game, square))
        return wrong(r, POSITION_MAN_OFF_BOARD, at, end, "x");
    if (kind == KIND_KING && (r->pos.has_king >> seat & 1u) != 0)
        return wrong(r, POSITION_TWO_KINGS, at, end, "one king a seat");
    position_put(&r->pos, square, man_of(seat, kind));
    r->error.seat = -1;
    r->error.square = SQUARE_NONE;
    return POSITION_OK;
}

static enum position_verdict read_board(struct reader *r)
{
    int rank = r->game->table->ranks - 1;
    const char *at = r->field;

    for (;; rank--) {
        const char *end = at, *begin = at;
        bool after_number = false;
        int file = 0;

        if (rank < 0)
            return wrong(r, POSITION_TOO_MANY_RANKS, at, r->field_end,
                         "as many ranks as the board");
        while (end < r->field_end && *end != '/')
            end++;
        r->error.rank = rank + 1;
        for (r->error.token = 1;; r->error.token++) {
            const char *stop = at;
            enum position_verdict verdict;

            while (stop < end && *stop != ',')
                stop++;
            verdict = read_token(r, at, stop, rank, &file, &after_number);
            if (verdict != POSITION_OK)
                return verdict;
            if (stop == end)
                break;
            at = stop + 1;
        }
        r->error.token = 0;
        if (file < r->game->table->files)
            return wrong(r, POSITION_RANK_SHORT, begin, end, "as many squares as the rank has");
        if (end == r->field_end)
            break;
        at = end + 1;
    }
    if (rank > 0) {
        r->error.rank = rank;
        return wrong(r, POSITION_TOO_FEW_RANKS, r->field_end, r->field_end,
                     "as many ranks as the board");
    }
    r->error.rank = 0;
    return POSITION_OK;
}

static enum position_verdict read_turn(struct reader *r)
{
    enum seat seat;

    if (r->field_end - r->field != 1 || !seat_of_letter(r->game, *r->field, &seat))
        return wrong_field(r, POSITION_BAD_TURN, r->game->table->letters);
    r->state.turn = seat;
    return POSITION_OK;
}

static enum position_verdict read_conditions(struct reader *r)
{
    static const char letters[] = "amsx";
    bool removes = r->game->table->mate == MATE_REMOVES;
    const char *wanted = removes ? "four letters of a s x" : "four letters of a m s x";

    if (r->field_end - r->field != SEATS)
        return wrong_field(r, POSITION_BAD_CONDITIONS, wanted);
    for (int i = 0; i < SEATS; i++) {
        const char *at = strchr(letters, r->field[i]);

        if (at == NULL || (removes && *at == 'm')) {
            r->error.token = i + 1;
            r->error.seat = i;
            return wrong(r, POSITION_BAD_CONDITIONS, r->field + i, r->field + i + 1, wanted);
        }
        r->state.condition[i] = (enum condition)(at - letters);
    }
    for (int i = 0; i < SEATS; i++) {
        if (r->state.condition[i] != CONDITION_ABSENT && (r->pos.has_king >> i & 1u) == 0) {
            r->error.seat = i;
            return wrong(r, POSITION_NO_KING, r->field + i, r->field + i + 1,
                         "a king for every seat that is not x");
        }
    }
    return POSITION_OK;
}

static bool field_is_dash(const struct reader *r)
{
    return r->field_end - r->field == 1 && *r->field == '-';
}

static enum position_verdict read_castling(struct reader *r)
{
    const char *wanted = game_has_castling(r->game) ? "pairs of colour and r or l in order, or -"
                                                    : "-: the game has no castling";
    int last = -1;

    if (field_is_dash(r))
        return POSITION_OK;
    if (!game_has_castling(r->game))
        return wrong_field(r, POSITION_BAD_CASTLING, wanted);
    for (const char *at = r->field; at < r->field_end; at += 2) {
        enum seat seat;
        int bit;

        r->error.token++;
        if (r->field_end - at < 2 || !seat_of_letter(r->game, at[0], &seat) ||
            (at[1] != 'r' && at[1] != 'l'))
            return wrong(r, POSITION_BAD_CASTLING, at, r->field_end, wanted);
        bit = (int)seat * 2 + (at[1] == 'l');
        if (bit <= last)
            return wrong(r, POSITION_BAD_CASTLING, at, at + 2, wanted);
        last = bit;
        r->state.castling |= (uint8_t)(1u << bit);
    }
    r->error.token = 0;
    return POSITION_OK;
}

static enum position_verdict read_passed(struct reader *r)
{
    const char *wanted = game_has_en_passant(r->game) ? "colour and square, in turn order, or -"
                                                      : "-: the game has no en passant";
    int last = -1;
    const char *at = r->field;

    if (field_is_dash(r))
        return POSITION_OK;
    if (!game_has_en_passant(r->game))
        return wrong_field(r, POSITION_BAD_EN_PASSANT, wanted);
    for (;;) {
        const char *end = at;
        enum seat seat;
        int square;

        while (end < r->field_end && *end != ',')
            end++;
        r->error.token++;
        if (at == end || !seat_of_letter(r->game, *at, &seat) || (int)seat <= last ||
            square_read(at + 1, (size_t)(end - at - 1), &square) != (size_t)(end - at - 1) ||
            end - at < 3 || !square_is_on_board(r->game, square))
            return wrong(r, POSITION_BAD_EN_PASSANT, at, end, wanted);
        if (r->state.passed[seat_partner(seat)] == square) /* their pawns never pass one square */
            return wrong(r, POSITION_BAD_EN_PASSANT, at, end, "another square than the partner's");
        last = (int)seat;
        r->state.passed[seat] = square;
        if (end == r->field_end)
            break;
        at = end + 1;
    }
    r->error.token = 0;
    return POSITION_OK;
}

static enum position_verdict read_field(struct reader *r)
{
    uint64_t number;

    switch (r->number) {
    case FIELD_GAME:
        if ((size_t)(r->field_end - r->field) != strlen(game_name(r->game)) ||
            memcmp(r->field, game_name(r->game), strlen(game_name(r->game))) != 0)
            return wrong_field(r, POSITION_BAD_GAME, game_name(r->game));
        return POSITION_OK;
    case FIELD_BOARD:
        return read_board(r);
    case FIELD_TURN:
        return read_turn(r);
    case FIELD_CONDITIONS:
        return read_conditions(r);
    case FIELD_CASTLING:
        return read_castling(r);
    case FIELD_EN_PASSANT:
        return read_passed(r);
    case FIELD_COUNT:
        if (!read_number(r->field, r->field_end, UINT16_MAX, &number))
            return wrong_field(r, POSITION_BAD_NUMBER, "a number from 0 to 65535");
        r->state.count = (uint32_t)number;
        return POSITION_OK;
    case FIELD_PLY:
        if (!read_number(r->field, r->field_end, UINT32_MAX, &number))
            return wrong_field(r, POSITION_BAD_NUMBER, "a number from 0 to 4294967295");
        r->state.ply = (uint32_t)number;
        return POSITION_OK;
    case FIELD_NONE:
        break;
    }
    return POSITION_OK;
}

/* R-V16 (3), R-F15, R-M3: a result that the conditions alone tell. */
static enum result result_of_conditions(const struct position *pos)
{
    unsigned out = ~(unsigned)pos->live & 15u;
    unsigned team0 = 1u << SEAT_SOUTH | 1u << SEAT_NORTH, team1 = 1u << SEAT_WEST | 1u << SEAT_EAST;

    if (pos->variant.game->table->mate == MATE_DECIDES)
        return (out & team0) != 0 ? RESULT_TEAM1 : (out & team1) != 0 ? RESULT_TEAM0 : RESULT_NONE;
    return (out & team0) == team0   ? RESULT_TEAM1
           : (out & team1) == team1 ? RESULT_TEAM0
                                    : RESULT_NONE;
}

static enum position_verdict read_position(struct reader *r)
{
    size_t length = strnlen(r->text, POSITION_TEXT_MAX + 1);
    const char *at = r->text, *end = r->text + length;

    if (length > POSITION_TEXT_MAX)
        return wrong(r, POSITION_TOO_LONG, at, at, "at most 1200 characters");
    for (int field = FIELD_GAME; field <= FIELD_PLY; field++) {
        enum position_verdict verdict;

        r->number = (enum position_field)field;
        r->field = at;
        while (at < end && *at != ' ')
            at++;
        r->field_end = at;
        if (r->field == at && at < end)
            return wrong_field(r, POSITION_EMPTY_FIELD, "single spaces between the fields");
        if (r->field == at)
            return wrong_field(r, POSITION_TOO_FEW_FIELDS, "eight fields parted by single spaces");
        verdict = read_field(r);
        if (verdict != POSITION_OK)
            return verdict;
        if (at < end && field < FIELD_PLY)
            at++;
    }
    if (at < end) {
        r->number = FIELD_NONE;
        return wrong(r, at[1] == '\0' ? POSITION_EMPTY_FIELD : POSITION_TOO_MANY_FIELDS, at, end,
                     "nothing after the eighth field");
    }
    return POSITION_OK;
}

static void clear_error(struct position_error *error)
{
    memset(error, 0, sizeof *error);
    error->square = SQUARE_NONE;
    error->seat = -1;
}

enum position_verdict position_parse(const struct variant *variant, const char *text,
                                     struct position *ret_position,
                                     struct position_error *error)
{
    struct reader r;
    enum position_verdict verdict;

    memset(&r, 0, sizeof r);
    r.game = variant->game;
    r.text = text;
    clear_error(&r.error);
    position_clear(variant, &r.pos);
    for (int i = 0; i < SEATS; i++)
        r.state.passed[i] = SQUARE_NONE;
    verdict = read_position(&r);
    if (error != NULL)
        *error = r.error;
    if (verdict != POSITION_OK)
        return verdict;
    if (error != NULL)
        clear_error(error);
    position_set_state(&r.pos, &r.state);
    r.pos.result = (uint8_t)result_of_conditions(&r.pos);
    *ret_position = r.pos;
    return POSITION_OK;
}

/* ---------------------------------------------------------------- writing */

static void line_rank(struct line *line, const struct position *pos, int rank)
{
    const struct game *game = pos->variant.game;
    int run = 0;

    for (int file = 0; file <= game->table->files; file++) {
        int square = square_of(file, rank);
        bool ends = file == game->table->files;
        bool on_board = !ends && square_is_on_board(game, square);
        uint8_t man = ends ? MAN_NONE : pos->men[square];

        if (on_board && man == MAN_NONE) {
            run++;
            continue;
        }
        if (run > 0) {
            line_string(line, file > run ? "," : "");
            line_number(line, (uint64_t)run);
        }
        run = 0;
        if (ends)
            break;
        line_string(line, file > 0 ? "," : "");
        if (!on_board) {
            line_char(line, 'x');
        } else {
            line_char(line, seat_letter(game, man_seat(man)));
            line_char(line, kind_letter(man_kind(man)));
        }
    }
}

size_t position_print(const struct position *pos, char *text, size_t size)
{
    const struct game *game = pos->variant.game;
    struct line line = line_start(text, size);
    bool any = false;

    line_string(&line, game_name(game));
    line_char(&line, ' ');
    for (int rank = game->table->ranks - 1; rank >= 0; rank--) {
        line_rank(&line, pos, rank);
        line_char(&line, rank > 0 ? '/' : ' ');
    }
    line_char(&line, seat_letter(game, (enum seat)pos->turn));
    line_char(&line, ' ');
    for (unsigned seat = 0; seat < SEATS; seat++)
        line_char(&line, "amsx"[pos->condition[seat]]);
    line_char(&line, ' ');
    for (unsigned bit = 0; bit < 2 * SEATS; bit++) {
        if ((pos->castling >> bit & 1u) != 0) {
            line_char(&line, seat_letter(game, (enum seat)(bit / 2)));
            line_char(&line, bit % 2 == 0 ? 'r' : 'l');
        }
    }
    line_string(&line, pos->castling == 0 ? "- " : " ");
    for (unsigned seat = 0; seat < SEATS; seat++) {
        if ((pos->passed_by >> seat & 1u) != 0) {
            line_string(&line, any ? "," : "");
            line_char(&line, seat_letter(game, (enum seat)seat));
            line_square(&line, pos->passed[seat]);
            any = true;
        }
    }
    line_string(&line, any ? " " : "- ");
    line_number(&line, pos->count);
    line_char(&line, ' ');
    line_number(&line, pos->ply);
    return line_end(&line);
}

/* ---------------------------------------------------------------- sense */

static enum position_verdict fault(struct position_error *e, enum position_verdict code,
                                   enum position_field field, int seat, int square)
{
    e->code = code;
    e->field = field;
    e->seat = seat;
    e->square = square;
    return code;
}

/* How many men of a kind the seat has. */
static int count_kind(const struct position *pos, enum seat seat, enum kind kind)
{
    int count = 0;

    for (int i = 0; i < 4; i++)
        count += __builtin_popcountll(pos->seats[seat].word[i] & pos->kinds[kind].word[i]);
    return count;
}

static enum position_verdict validate_numbers(const struct position *pos, enum seat seat,
                                              struct position_error *e)
{
    const struct game_table *table = pos->variant.game->table;
    const char *array = table->arrays[0][seat];
    int reserve = table->reserve[seat] != NULL ? 1 : 0;
    int pawns = count_kind(pos, seat, KIND_PAWN) + count_kind(pos, seat, KIND_TURNED);
    int first_pawns = board_count(&pos->variant.game->pawn_squares[seat]), promoted = 0;

    if (board_count(&pos->seats[seat]) > (int)strlen(array) + 3 * reserve + first_pawns)
        return fault(e, POSITION_TOO_MANY_MEN, FIELD_BOARD, (int)seat, SQUARE_NONE);
    if (pawns > first_pawns)
        return fault(e, POSITION_TOO_MANY_PAWNS, FIELD_BOARD, (int)seat, SQUARE_NONE);
    for (int kind = KIND_QUEEN; kind <= KIND_KNIGHT; kind++) {
        int first = kind == KIND_QUEEN ? 0 : reserve;
        int now = count_kind(pos, seat, (enum kind)kind);

        for (const char *at = array; *at != '\0'; at++)
            first += kind_of_letter(*at) == (enum kind)kind;
        promoted += now > first ? now - first : 0;
    }
    if (promoted > first_pawns - pawns)
        return fault(e, POSITION_TOO_MANY_OFFICERS, FIELD_BOARD, (int)seat, SQUARE_NONE);
    return POSITION_OK;
}

static enum position_verdict validate_men(const struct position *pos, struct position_error *e)
{
    const struct game *game = pos->variant.game;
    enum position_verdict verdict;

    for (unsigned seat = 0; seat < SEATS; seat++)
        if (game->table->mate == MATE_REMOVES && pos->condition[seat] == CONDITION_ABSENT &&
            !board_is_empty(&pos->seats[seat]))
            return fault(e, POSITION_ABSENT_MEN, FIELD_BOARD, (int)seat, SQUARE_NONE);
    for (unsigned seat = 0; seat < SEATS; seat++) {
        verdict = validate_numbers(pos, (enum seat)seat, e);
        if (verdict != POSITION_OK)
            return verdict;
    }
    for (int square = 0; square < SQUARES; square++) {
        uint8_t man = pos->men[square];

        if (man != MAN_NONE && kind_is_pawn(man_kind(man)) &&
            !board_has(&game->pawn_range[man_seat(man)][man_kind(man) == KIND_TURNED], square))
            return fault(e, POSITION_PAWN_LINE, FIELD_BOARD, (int)man_seat(man), square);
    }
    return POSITION_OK;
}

static enum position_verdict validate_conditions(const struct position *pos,
                                                 struct position_error *e)
{
    enum seat before = (enum seat)((pos->turn + 3u) % SEATS);

    if (result_of_conditions(pos) != RESULT_NONE)
        return fault(e, POSITION_IS_OVER, FIELD_CONDITIONS, -1, SQUARE_NONE);
    if ((pos->live >> pos->turn & 1u) == 0)
        return fault(e, POSITION_TURN_NOT_LIVE, FIELD_TURN, pos->turn, SQUARE_NONE);
    if (engine()->count(pos, (enum seat)pos->turn, pos->live) == 0)
        return fault(e, POSITION_TURN_NO_MOVE, FIELD_TURN, pos->turn, SQUARE_NONE);
    for (unsigned seat = 0; seat < SEATS; seat++)
        if (pos->condition[seat] == CONDITION_MATED &&
            !engine_mated(pos, (enum seat)seat, pos->live))
            return fault(e, POSITION_NOT_MATED, FIELD_CONDITIONS, (int)seat, SQUARE_NONE);
    /* Who was passed over had no move; only armies that went or came since can give him one. */
    for (unsigned seat = 0; seat < SEATS; seat++)
        if (pos->condition[seat] == CONDITION_STALEMATED && pos->live == 15 &&
            pos->variant.game->table->mate != MATE_INERT &&
            engine()->count(pos, (enum seat)seat, pos->live) != 0)
            return fault(e, POSITION_NOT_STALEMATED, FIELD_CONDITIONS, (int)seat, SQUARE_NONE);
    /* A release or a removal can put the last mover in check; nothing else can. */
    if (pos->ply > 0 && pos->live == 15 && pos->condition[before] == CONDITION_LIVE &&
        pos->variant.game->table->mate != MATE_INERT && position_is_check(pos, before))
        return fault(e, POSITION_KING_IN_CHECK, FIELD_BOARD, (int)before, pos->king[before]);
    return POSITION_OK;
}

static enum position_verdict validate_rights(const struct position *pos, struct position_error *e)
{
    const struct game *game = pos->variant.game;

    for (unsigned bit = 0; bit < 2 * SEATS; bit++) {
        enum seat seat = (enum seat)(bit / 2);
        const struct castling *at = &game->castle[seat][bit % 2].at;

        if ((pos->castling >> bit & 1u) == 0)
            continue;
        if (pos->men[at->king_from] != man_of(seat, KIND_KING))
            return fault(e, POSITION_CASTLING_MEN, FIELD_CASTLING, (int)seat, at->king_from);
        if (pos->men[at->rook_from] != man_of(seat, KIND_ROOK))
            return fault(e, POSITION_CASTLING_MEN, FIELD_CASTLING, (int)seat, at->rook_from);
    }
    for (unsigned seat = 0; seat < SEATS; seat++) {
        unsigned way = way_forward((enum seat)seat);
        int back = way_file[way] + 16 * way_rank[way];
        int passed = pos->passed[seat];

        if ((pos->passed_by >> seat & 1u) == 0)
            continue;
        if (passed - back < 0 || passed - back >= SQUARES ||
            !board_has(&game->double_from[seat], passed - back))
            return fault(e, POSITION_EN_PASSANT_SQUARE, FIELD_EN_PASSANT, (int)seat, passed);
        if (seat == pos->turn)
            return fault(e, POSITION_EN_PASSANT_LATE, FIELD_EN_PASSANT, (int)seat, passed);
    }
    if (pos->count > pos->ply)
        return fault(e, POSITION_COUNT_PLY, FIELD_COUNT, -1, SQUARE_NONE);
    return POSITION_OK;
}

enum position_verdict position_validate(const struct position *pos, struct position_error *error)
{
    struct position_error e;
    enum position_verdict verdict;

    clear_error(&e);
    verdict = validate_men(pos, &e);
    for (unsigned seat = 0; verdict == POSITION_OK && seat < SEATS; seat++)
        if (pos->condition[seat] != CONDITION_ABSENT && (pos->has_king >> seat & 1u) == 0)
            verdict = fault(&e, POSITION_NO_KING, FIELD_BOARD, (int)seat, SQUARE_NONE);
    if (verdict == POSITION_OK)
        verdict = validate_conditions(pos, &e);
    if (verdict == POSITION_OK)
        verdict = validate_rights(pos, &e);
    if (error != NULL)
        *error = e;
    return verdict;
}

/* ---------------------------------------------------------------- words */

static const char *const verdict_sentences[] = {
    [POSITION_OK] = "nothing is wrong",
    [POSITION_TOO_LONG] = "the text is too long to be a position",
    [POSITION_TOO_FEW_FIELDS] = "the field is missing",
    [POSITION_TOO_MANY_FIELDS] = "there are more than eight fields",
    [POSITION_EMPTY_FIELD] = "a space too many",
    [POSITION_BAD_GAME] = "that is not the game",
    [POSITION_TOO_FEW_RANKS] = "the rank is missing",
    [POSITION_TOO_MANY_RANKS] = "there are too many ranks",
    [POSITION_RANK_SHORT] = "the rank says too few squares",
    [POSITION_RANK_LONG] = "the rank says too many squares",
    [POSITION_BAD_TOKEN] = "cannot be read",
    [POSITION_BAD_COLOUR] = "no such colour",
    [POSITION_BAD_KIND] = "no such man",
    [POSITION_BAD_EMPTIES] = "no such number of empty squares",
    [POSITION_EMPTIES_OFF_BOARD] = "the run of empties crosses a square that is off the board",
    [POSITION_MAN_OFF_BOARD] = "a man stands off the board",
    [POSITION_X_ON_BOARD] = "x on a square of the board",
    [POSITION_SPLIT_EMPTIES] = "two numbers side by side",
    [POSITION_TWO_KINGS] = "a second king",
    [POSITION_NO_KING] = "no king",
    [POSITION_BAD_TURN] = "no seat on turn",
    [POSITION_BAD_CONDITIONS] = "no such conditions",
    [POSITION_BAD_CASTLING] = "no such castling rights",
    [POSITION_BAD_EN_PASSANT] = "no such en-passant chances",
    [POSITION_BAD_NUMBER] = "no such number",
    [POSITION_ABSENT_MEN] = "men of a seat that is out of the game",
    [POSITION_TOO_MANY_MEN] = "more men than the army began with",
    [POSITION_TOO_MANY_PAWNS] = "more pawns than the army began with",
    [POSITION_TOO_MANY_OFFICERS] = "more pieces than promotions can explain",
    [POSITION_PAWN_LINE] = "a pawn where none can ever stand",
    [POSITION_IS_OVER] = "a side is wholly mated or absent, so the game is over",
    [POSITION_TURN_NOT_LIVE] = "the seat on turn is mated or absent",
    [POSITION_TURN_NO_MOVE] = "the seat on turn has no legal move",
    [POSITION_NOT_MATED] = "is said to be mated and is not",
    [POSITION_NOT_STALEMATED] = "is said to have been passed over, but can move",
    [POSITION_KING_IN_CHECK] = "has just moved and stands in check",
    [POSITION_CASTLING_MEN] = "a castling right without its king and rook at home",
    [POSITION_EN_PASSANT_SQUARE] = "no double step of that seat passes there",
    [POSITION_EN_PASSANT_LATE] = "a chance on a pawn of the seat on turn has lapsed",
    [POSITION_COUNT_PLY] = "COUNT is more than PLY",
};

size_t position_error_sentence(const struct game *game, const struct position_error *error,
                               char *text, size_t size)
{
    static const char *const fields[] = {"",           "game",     "board",      "turn",
                                         "conditions", "castling", "en passant", "count",
                                         "ply"};
    struct line line = line_start(text, size);

    if (error->field != FIELD_NONE) {
        line_string(&line, "field ");
        line_number(&line, (uint64_t)error->field);
        line_string(&line, " (");
        line_string(&line, fields[error->field]);
        line_char(&line, ')');
        if (error->rank > 0) {
            line_string(&line, ", rank ");
            line_number(&line, (uint64_t)error->rank);
        }
        if (error->token > 0) {
            line_string(&line, ", token ");
            line_number(&line, (uint64_t)error->token);
        }
        line_string(&line, ": ");
    }
    if (error->word[0] != '\0') {
        line_char(&line, '\'');
        line_string(&line, error->word);
        line_string(&line, "': ");
    }
    if (error->seat >= 0) {
        line_string(&line, seat_colour(game, (enum seat)error->seat));
        line_string(&line, ": ");
    }
    line_string(&line, verdict_sentences[error->code]);
    if (error->square != SQUARE_NONE) {
        line_string(&line, " (");
        line_square(&line, error->square);
        line_char(&line, ')');
    }
    if (error->wanted[0] != '\0') {
        line_string(&line, "; wanted: ");
        line_string(&line, error->wanted);
    }
    return line_end(&line);
}
