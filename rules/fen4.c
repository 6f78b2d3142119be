#include "rules/fen4.h"

#include <assert.h>
#include <string.h>

#include "rules/line.h"

/* FEN4's letters of the seats South, West, North, East. */
static const char turn_letters[] = "RBYG", man_letters[] = "rbyg";
static const char *const fen4_colours[SEATS] = {"Red", "Blue", "Yellow", "Green"};

enum { SIDE = 14 };

bool fen4_has_game(const struct game *game)
{
    return game_files(game) == SIDE && game_ranks(game) == SIDE;
}

unsigned fen4_losses(const struct position *pos)
{
    unsigned losses = 0;
    struct variant usual;

    for (unsigned seat = 0; seat < SEATS; seat++) {
        if (pos->condition[seat] == CONDITION_MATED)
            losses |= FEN4_LOSES_MATED;
        if (pos->condition[seat] == CONDITION_STALEMATED)
            losses |= FEN4_LOSES_STALEMATED;
    }
    if (!board_is_empty(&pos->kinds[KIND_TURNED]))
        losses |= FEN4_LOSES_TURNED;
    if (pos->ply != pos->count)
        losses |= FEN4_LOSES_PLY;
    if (variant_find(game_name(pos->variant.game), &usual) &&
        !variant_is_equal(&usual, &pos->variant))
        losses |= FEN4_LOSES_HOUSE_RULES;
    return losses;
}

/* The square so many steps before a square as the seat looks; SQUARE_NONE off the box. */
static int square_ahead(int square, enum seat seat, int steps)
{
    static const int files[SEATS] = {0, 1, 0, -1}, ranks[SEATS] = {1, 0, -1, 0};
    int file = square_file(square) + steps * files[seat];
    int rank = square_rank(square) + steps * ranks[seat];

    return file < 0 || file >= SIDE || rank < 0 || rank >= SIDE ? SQUARE_NONE
                                                                : square_of(file, rank);
}

/* ---------------------------------------------------------------- writing */

static bool is_dead(const struct position *pos, enum seat seat)
{
    return pos->condition[seat] == CONDITION_MATED || pos->condition[seat] == CONDITION_ABSENT;
}

static void write_flags(struct line *line, const bool flag[SEATS])
{
    for (int seat = 0; seat < SEATS; seat++) {
        if (seat > 0)
            line_char(line, ',');
        line_char(line, flag[seat] ? '1' : '0');
    }
    line_char(line, '-');
}

static void write_chances(struct line *line, const struct position *pos)
{
    if (pos->passed_by == 0)
        return;
    line_string(line, "{'enPassant':(");
    for (int seat = 0; seat < SEATS; seat++) {
        line_string(line, seat > 0 ? ",'" : "'");
        if ((pos->passed_by >> seat & 1u) != 0) {
            int pawn = square_ahead(pos->passed[seat], (enum seat)seat, 1);

            line_square(line, pos->passed[seat]);
            line_char(line, ':');
            if (pawn != SQUARE_NONE)
                line_square(line, pawn);
        }
        line_char(line, '\'');
    }
    line_string(line, ")}-");
}

static void write_board(struct line *line, const struct position *pos, enum fen4_corners corners)
{
    for (int rank = SIDE - 1; rank >= 0; rank--) {
        int empties = 0;
        bool first = true;

        for (int file = 0; file <= SIDE; file++) {
            int square = square_of(file, rank);
            bool end = file == SIDE;
            bool off = !end && !square_is_on_board(pos->variant.game, square);
            uint8_t man = end || off ? MAN_NONE : pos->men[square];

            if (!end && man == MAN_NONE && (!off || corners == FEN4_CORNERS_EMPTIES)) {
                empties++;
                continue;
            }
            if (empties > 0) {
                if (!first)
                    line_char(line, ',');
                line_number(line, (uint64_t)empties);
                empties = 0;
                first = false;
            }
            if (end)
                break;
            if (!first)
                line_char(line, ',');
            first = false;
            if (off) {
                line_char(line, 'x');
                continue;
            }
            if (is_dead(pos, man_seat(man)))
                line_char(line, 'd');
            line_char(line, man_letters[man_seat(man)]);
            line_char(line, kind_letter(man_kind(man) == KIND_TURNED ? KIND_PAWN : man_kind(man)));
        }
        if (rank > 0)
            line_char(line, '/');
    }
}

size_t fen4_print(const struct position *pos, enum fen4_corners corners, char *text, size_t size)
{
    struct line line = line_start(text, size);
    bool dead[SEATS], right[SEATS], left[SEATS];

    if (!fen4_has_game(pos->variant.game)) {
        line_end(&line);
        return 0;
    }
    for (int seat = 0; seat < SEATS; seat++) {
        dead[seat] = is_dead(pos, (enum seat)seat);
        right[seat] = position_can_castle(pos, (enum seat)seat, false);
        left[seat] = position_can_castle(pos, (enum seat)seat, true);
    }
    line_char(&line, turn_letters[pos->turn]);
    line_char(&line, '-');
    write_flags(&line, dead);
    write_flags(&line, right);
    write_flags(&line, left);
    line_string(&line, "0,0,0,0-");
    line_number(&line, pos->count);
    line_char(&line, '-');
    write_chances(&line, pos);
    write_board(&line, pos, corners);
    return line_end(&line);
}

/* ---------------------------------------------------------------- reading */

/* A stretch of the text. */
struct range {
    size_t from, to;
};

struct parse {
    const char *text;
    size_t size, p;
    const struct game *game;
    enum fen4_field field;
    int rank;
    struct fen4_error error;
    /* what was read */
    enum seat turn;
    bool dead[SEATS], right[SEATS], left[SEATS];
    size_t right_at, left_at;
    uint32_t count;
    int passed[SEATS];
    struct range royal; /* of the value, if to > 0 */
    struct position pos;
    bool ownerless;     /* a dead man waits for its owner */
    size_t ownerless_at;
    struct board ownerless_men;
    uint8_t ownerless_kind[SQUARES];
};

static char peek(const struct parse *x)
{
    return x->p < x->size ? x->text[x->p] : '\0';
}
static bool at_end(const struct parse *x)
{
    return x->p >= x->size;
}

static void copy_text(char *ret, size_t size, const char *text, size_t n)
{
    if (n >= size)
        n = size - 1;
    for (size_t i = 0; i < n; i++)
        ret[i] = text[i] >= ' ' && text[i] < '\177' ? text[i] : '?';
    ret[n] = '\0';
}

/* Notes the first fault; always returns its code. */
static enum fen4_verdict fail(struct parse *x, enum fen4_verdict code, struct range at,
                              const char *wanted)
{
    struct fen4_error *e = &x->error;

    if (e->code != FEN4_OK)
        return e->code;
    if (at.from >= x->size && code != FEN4_TOO_LONG)
        code = code == FEN4_TOO_FEW_RANKS || code == FEN4_RANK_SHORT || code == FEN4_NO_KING
                   ? code : FEN4_ENDS_EARLY;
    e->code = code;
    e->field = x->field;
    e->offset = at.from;
    e->rank = x->rank;
    e->line = 1;
    e->column = 1;
    for (size_t i = 0; i < at.from && i < x->size; i++) {
        if (x->text[i] == '\n') {
            e->line++;
            e->column = 1;
        } else {
            e->column++;
        }
    }
    if (at.to > at.from && at.from < x->size)
        copy_text(e->word, sizeof e->word, x->text + at.from,
                  (at.to < x->size ? at.to : x->size) - at.from);
    copy_text(e->wanted, sizeof e->wanted, wanted, strlen(wanted));
    return code;
}

static struct range here(const struct parse *x)
{
    struct range r = {x->p, x->p};

    while (r.to < x->size && strchr("-,/ \t\r\n(){}", x->text[r.to]) == NULL)
        r.to++;
    if (r.to == r.from && r.to < x->size)
        r.to++;
    return r;
}

static void skip_blanks(struct parse *x)
{
    while (!at_end(x) && (peek(x) == ' ' || peek(x) == '\t' || peek(x) == '\r' || peek(x) == '\n'))
        x->p++;
}

static bool eat(struct parse *x, char c)
{
    if (at_end(x) || peek(x) != c)
        return false;
    x->p++;
    return true;
}

static bool eat_dash(struct parse *x)
{
    skip_blanks(x);
    if (!eat(x, '-')) {
        fail(x, FEN4_NO_DASH, here(x), "'-' after the field");
        return false;
    }
    skip_blanks(x);
    return true;
}

/* A number up to `most`; false, with nothing eaten, if there is none or it is larger. */
static bool eat_number(struct parse *x, uint32_t most, uint32_t *ret)
{
    uint64_t n = 0;
    size_t p = x->p;

    if (p >= x->size || x->text[p] < '0' || x->text[p] > '9')
        return false;
    for (; p < x->size && x->text[p] >= '0' && x->text[p] <= '9'; p++) {
        n = n * 10 + (uint64_t)(x->text[p] - '0');
        if (n > most)
            return false;
    }
    x->p = p;
    *ret = (uint32_t)n;
    return true;
}

static bool read_turn(struct parse *x)
{
    const char *at;

    x->field = FEN4_FIELD_TURN;
    skip_blanks(x);
    at = at_end(x) || peek(x) == '\0' ? NULL : strchr(turn_letters, peek(x));
    if (at == NULL) {
        fail(x, FEN4_BAD_TURN, here(x), "R, B, Y or G");
        return false;
    }
    x->turn = (enum seat)(at - turn_letters);
    x->p++;
    return eat_dash(x);
}

static bool read_flags(struct parse *x, enum fen4_field field, bool ret[SEATS])
{
    x->field = field;
    for (int seat = 0; seat < SEATS; seat++) {
        if ((seat > 0 && !eat(x, ',')) || (peek(x) != '0' && peek(x) != '1')) {
            fail(x, FEN4_BAD_FLAGS, here(x), "four of 0 and 1, as in 0,0,0,0");
            return false;
        }
        ret[seat] = peek(x) == '1';
        x->p++;
    }
    return eat_dash(x);
}

static bool read_points(struct parse *x)
{
    uint32_t points = 0;

    x->field = FEN4_FIELD_POINTS;
    for (int seat = 0; seat < SEATS; seat++) {
        if ((seat > 0 && !eat(x, ',')) || !eat_number(x, 999999999, &points)) {
            fail(x, FEN4_BAD_POINTS, here(x), "four numbers, as in 0,0,0,0");
            return false;
        }
    }
    return eat_dash(x);
}

static bool read_count(struct parse *x)
{
    x->field = FEN4_FIELD_COUNT;
    if (!eat_number(x, UINT16_MAX, &x->count)) {
        fail(x, FEN4_BAD_COUNT, here(x), "a number from 0 to 65535");
        return false;
    }
    return eat_dash(x);
}

/* ---- {'key':value,…} */

enum { NESTING_MAX = 8 };

/* Goes over one value; *ret_empty: it is '', 0, false, null or holds nothing but such. */
static bool eat_value(struct parse *x, struct range *ret_range, bool *ret_empty)
{
    char closers[NESTING_MAX];
    int depth = 0;
    bool empty = true;
    size_t from;

    skip_blanks(x);
    from = x->p;
    for (;;) {
        char c = peek(x);

        if (at_end(x) || c == '\0')
            return false;
        if (c == '\'') {
            size_t text = ++x->p;

            while (!at_end(x) && peek(x) != '\'')
                x->p++;
            if (x->p > text)
                empty = false;
            if (!eat(x, '\''))
                return false;
        } else if (c == '(' || c == '{' || c == '[') {
            if (depth == NESTING_MAX)
                return false;
            closers[depth++] = c == '(' ? ')' : c == '{' ? '}' : ']';
            x->p++;
            continue; /* nothing needs to follow */
        } else if (depth > 0 && (c == closers[depth - 1] || c == ',' || c == ':')) {
            x->p++;
            if (c == closers[depth - 1])
                depth--;
        } else if (c == ' ' || c == '\n' || c == '\r' || c == '\t') {
            x->p++;
        } else if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '.' || c == '-' ||
                   (c >= 'A' && c <= 'Z')) {
            struct range word = {x->p, x->p};

            while (!at_end(x) && strchr(",:(){}[]' \n\r\t", peek(x)) == NULL)
                x->p++;
            word.to = x->p;
            if (!(word.to - word.from == 1 && x->text[word.from] == '0') &&
                !(word.to - word.from == 5 && memcmp(x->text + word.from, "false", 5) == 0) &&
                !(word.to - word.from == 4 && memcmp(x->text + word.from, "null", 4) == 0))
                empty = false;
        } else {
            return false;
        }
        if (depth == 0)
            break;
    }
    *ret_range = (struct range){from, x->p};
    *ret_empty = empty;
    return true;
}

static bool range_is(const struct parse *x, struct range r, const char *text)
{
    return r.to - r.from == strlen(text) && memcmp(x->text + r.from, text, r.to - r.from) == 0;
}

/* A square of the board by name in single quotes' inside; SQUARE_NONE otherwise. */
static size_t eat_square(struct parse *x, int *ret_square)
{
    int square = SQUARE_NONE;
    size_t n = at_end(x) ? 0 : square_read(x->text + x->p, x->size - x->p, &square);

    if (n == 0 || !square_is_on_board(x->game, square))
        return 0;
    x->p += n;
    *ret_square = square;
    return n;
}

/* ('i3:i4','','f12:','') */
static bool read_chances(struct parse *x, struct range value)
{
    size_t end = x->p;
    static const char wanted[] = "('i3:i4','','f12:f11','') with squares of the board";

    x->p = value.from;
    skip_blanks(x);
    if (!eat(x, '('))
        goto bad;
    for (int seat = 0; seat < SEATS; seat++) {
        int passed = SQUARE_NONE, pawn = SQUARE_NONE;

        skip_blanks(x);
        if (seat > 0 && !eat(x, ','))
            goto bad;
        skip_blanks(x);
        if (!eat(x, '\''))
            goto bad;
        if (eat(x, '\''))
            continue;
        if (eat_square(x, &passed) == 0)
            goto bad;
        if (eat(x, ':') && peek(x) != '\'') {
            if (eat_square(x, &pawn) == 0 ||
                pawn != square_ahead(passed, (enum seat)seat, 1))
                goto bad;
        }
        if (!eat(x, '\''))
            goto bad;
        x->passed[seat] = passed;
    }
    skip_blanks(x);
    if (!eat(x, ')'))
        goto bad;
    x->p = end;
    return true;
bad:
    fail(x, FEN4_BAD_KEY_VALUE, here(x), wanted);
    return false;
}

/* (true,false,false,false) and 1 or 0: who is out of the game. */
static bool read_out(struct parse *x, struct range value)
{
    size_t end = x->p;

    x->p = value.from;
    skip_blanks(x);
    if (!eat(x, '('))
        goto bad;
    for (int seat = 0; seat < SEATS; seat++) {
        struct range word;

        skip_blanks(x);
        if (seat > 0 && !eat(x, ','))
            goto bad;
        skip_blanks(x);
        word = here(x);
        if (range_is(x, word, "true") || range_is(x, word, "1"))
            x->dead[seat] = true;
        else if (!range_is(x, word, "false") && !range_is(x, word, "0"))
            goto bad;
        x->p = word.to;
    }
    skip_blanks(x);
    if (!eat(x, ')'))
        goto bad;
    x->p = end;
    return true;
bad:
    fail(x, FEN4_BAD_KEY_VALUE, here(x), "four of true and false, as in (true,false,false,false)");
    return false;
}

static bool read_key(struct parse *x)
{
    /* With anything but an empty value these keys mean another game. */
    static const char *const foreign[] = {"lives", "zombieImmune", "zombieType", "bank",
                                          "seirawanDrops", "castleWith", "boxOffset", "noCorners",
                                          "areBanksEnabled", "wb", "std2pc"};
    struct range key, value;
    bool empty = true;

    skip_blanks(x);
    key.from = x->p + 1;
    if (!eat(x, '\'')) {
        fail(x, FEN4_BAD_EXTRA, here(x), "a key in single quotes");
        return false;
    }
    while (!at_end(x) && peek(x) != '\'')
        x->p++;
    key.to = x->p;
    if (!eat(x, '\'')) {
        fail(x, FEN4_BAD_EXTRA, here(x), "the quote that ends the key");
        return false;
    }
    skip_blanks(x);
    if (!eat(x, ':')) {
        fail(x, FEN4_BAD_EXTRA, here(x), "':' after the key");
        return false;
    }
    if (!eat_value(x, &value, &empty)) {
        fail(x, FEN4_BAD_EXTRA, here(x), "'text', a number, true, false, null or (…)");
        return false;
    }
    if (range_is(x, key, "enPassant"))
        return !game_has_en_passant(x->game) || empty || read_chances(x, value);
    if (range_is(x, key, "resigned") || range_is(x, key, "flagged"))
        return empty || read_out(x, value);
    if (range_is(x, key, "royal") || range_is(x, key, "kingSquares")) {
        x->royal = value;
        return true;
    }
    if ((range_is(x, key, "pawnsBaseRank") || range_is(x, key, "pawnBaseRank")) &&
        game_has_en_passant(x->game) && !range_is(x, value, "2")) {
        fail(x, FEN4_OTHER_GAME, value, "2: pawns step twice from their second rank");
        return false;
    }
    if (range_is(x, key, "dim") && !empty && !range_is(x, value, "'14x14'")) {
        fail(x, FEN4_OTHER_GAME, value, "'14x14'");
        return false;
    }
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
        if (range_is(x, key, foreign[i]) && !empty) {
            fail(x, FEN4_OTHER_GAME, key, "a game without this");
            return false;
        }
    }
    return true;
}

static bool read_extra(struct parse *x)
{
    x->field = FEN4_FIELD_EXTRA;
    if (!eat(x, '{'))
        return true;
    skip_blanks(x);
    if (!eat(x, '}')) {
        do {
            if (!read_key(x))
                return false;
            skip_blanks(x);
        } while (eat(x, ','));
        if (!eat(x, '}')) {
            fail(x, FEN4_BAD_EXTRA, here(x), "',' or '}'");
            return false;
        }
    }
    return eat_dash(x);
}

/* ---- the board */

static bool put_man(struct parse *x, struct range token, int square, int seat, enum kind kind)
{
    if (seat < 0) {
        if (!x->ownerless)
            x->ownerless_at = token.from;
        x->ownerless = true;
        board_add(&x->ownerless_men, square);
        x->ownerless_kind[square] = (uint8_t)kind;
        return true;
    }
    if (kind == KIND_KING && (x->pos.has_king >> seat & 1u) != 0) {
        fail(x, FEN4_TWO_KINGS, token, "one king for each seat");
        return false;
    }
    position_put(&x->pos, square, man_of((enum seat)seat, kind));
    return true;
}

static bool read_man(struct parse *x, int file, int rank)
{
    size_t from = x->p;
    bool is_dead_man = eat(x, 'd');
    int seat = -1;
    const char *at = at_end(x) || peek(x) == '\0' ? NULL : strchr(man_letters, peek(x));
    enum kind kind;
    struct range token = {from, from + 1};

    if (at != NULL) {
        seat = (int)(at - man_letters);
        x->p++;
    } else if (!is_dead_man) {
        char c = peek(x), next = x->p + 1 < x->size ? x->text[x->p + 1] : '\0';
        bool is_colour = c >= 'a' && c <= 'z' && next >= 'A' && next <= 'Z';

        fail(x, is_colour ? FEN4_BAD_COLOUR : FEN4_BAD_TOKEN, here(x),
             is_colour ? "r, b, y or g" : "a man, a number of empty squares or x");
        return false;
    }
    token.to = x->p + 1;
    kind = kind_of_letter(peek(x));
    if (kind == KIND_NONE || kind == KIND_TURNED) {
        x->p = from;
        fail(x, FEN4_BAD_KIND, at_end(x) ? here(x) : token, "K, Q, R, B, N or P");
        return false;
    }
    x->p++;
    if (file >= SIDE) {
        fail(x, FEN4_RANK_LONG, token, "14 columns");
        return false;
    }
    if (!square_is_on_board(x->game, square_of(file, rank))) {
        fail(x, FEN4_MAN_OFF_BOARD, token, "nothing: this corner is not on the board");
        return false;
    }
    if (is_dead_man && seat >= 0 && !x->dead[seat]) {
        fail(x, FEN4_DEAD_MAN_OF_LIVE, token, "1 for its owner among the dead, or a live man");
        return false;
    }
    return put_man(x, token, square_of(file, rank), seat, kind);
}

static bool read_rank(struct parse *x, int rank)
{
    int file = 0;

    x->rank = rank + 1;
    skip_blanks(x);
    for (bool first = true; first || (!at_end(x) && peek(x) != '/'); first = false) {
        struct range token;
        uint32_t n = 0;

        if (!first && eat(x, ','))
            skip_blanks(x);
        else if (!first && file == SIDE)
            break;
        token = here(x);
        if (peek(x) >= '0' && peek(x) <= '9') {
            if (!eat_number(x, SIDE, &n) || n == 0) {
                fail(x, FEN4_BAD_TOKEN, token, "a number from 1 to 14");
                return false;
            }
            token.to = x->p;
            file += (int)n;
            if (file > SIDE) {
                fail(x, FEN4_RANK_LONG, token, "14 columns");
                return false;
            }
        } else if (peek(x) == 'x' || peek(x) == 'X') {
            bool is_wall = peek(x) == 'X';

            token.to = x->p + 1;
            if (file >= SIDE) {
                fail(x, FEN4_RANK_LONG, token, "14 columns");
                return false;
            }
            if (square_is_on_board(x->game, square_of(file, rank))) {
                fail(x, is_wall ? FEN4_WALL : FEN4_X_ON_BOARD, token,
                     "a man or a number of empty squares");
                return false;
            }
            x->p++;
            file++;
        } else {
            if (!read_man(x, file, rank))
                return false;
            file++;
        }
        skip_blanks(x);
    }
    if (file < SIDE) {
        fail(x, FEN4_RANK_SHORT, here(x), "14 columns");
        return false;
    }
    return true;
}

static bool read_board(struct parse *x)
{
    x->field = FEN4_FIELD_BOARD;
    for (int rank = SIDE - 1; rank >= 0; rank--) {
        if (rank < SIDE - 1 && !eat(x, '/')) {
            fail(x, at_end(x) ? FEN4_TOO_FEW_RANKS : FEN4_RANK_LONG, here(x),
                 at_end(x) ? "14 ranks" : "'/' after 14 columns");
            return false;
        }
        if (!read_rank(x, rank))
            return false;
    }
    x->rank = 0;
    if (!at_end(x)) {
        fail(x, peek(x) == '/' ? FEN4_TOO_MANY_RANKS : FEN4_TRAILING, here(x),
             "the end after 14 ranks");
        return false;
    }
    return true;
}

/* ---- what only holds together */

/* A dead man without an owner's letter belongs to the one seat that is dead. */
static bool settle_ownerless(struct parse *x)
{
    int owner = -1, square;

    if (!x->ownerless)
        return true;
    for (int seat = 0; seat < SEATS; seat++) {
        if (!x->dead[seat])
            continue;
        if (owner >= 0)
            owner = SEATS;
        else
            owner = seat;
    }
    if (owner < 0 || owner == SEATS) {
        x->p = x->ownerless_at;
        fail(x, FEN4_DEAD_OWNER, here(x), "its owner's letter, as in drP");
        return false;
    }
    while ((square = board_take(&x->ownerless_men)) != SQUARE_NONE) {
        struct range at = {x->ownerless_at, x->ownerless_at + 2};
        if (!put_man(x, at, square, owner, (enum kind)x->ownerless_kind[square]))
            return false;
    }
    return true;
}

static bool check_kings(struct parse *x)
{
    for (int seat = 0; seat < SEATS; seat++) {
        if ((x->pos.has_king >> seat & 1u) == 0 && !x->dead[seat]) {
            x->error.seat = seat;
            fail(x, FEN4_NO_KING, (struct range){x->size, x->size}, "a king for each live seat");
            return false;
        }
    }
    return true;
}

/* 'royal': the squares must be those of the kings, or ''. */
static bool check_royal(struct parse *x)
{
    if (x->royal.to == 0)
        return true;
    x->field = FEN4_FIELD_EXTRA;
    x->p = x->royal.from;
    skip_blanks(x);
    if (!eat(x, '('))
        goto bad;
    for (int seat = 0; seat < SEATS; seat++) {
        int square = SQUARE_NONE;

        skip_blanks(x);
        if (seat > 0 && !eat(x, ','))
            goto bad;
        skip_blanks(x);
        if (!eat(x, '\''))
            goto bad;
        if (eat(x, '\''))
            continue;
        if (eat_square(x, &square) == 0 ||
            x->pos.men[square] != man_of((enum seat)seat, KIND_KING) || !eat(x, '\''))
            goto bad;
    }
    return true;
bad:
    fail(x, FEN4_BAD_KEY_VALUE, here(x), "four squares with the kings on them, or ''");
    return false;
}

static bool settle_castling(struct parse *x, uint8_t *ret_rights)
{
    uint8_t rights = 0;

    for (unsigned i = 0; i < 2 * SEATS; i++) {
        enum seat seat = (enum seat)(i / 2);
        bool is_left = i % 2 != 0;
        struct castling c;

        if (!(is_left ? x->left : x->right)[seat] || x->dead[seat] ||
            !game_castling(x->game, seat, is_left, &c))
            continue;
        if (x->pos.men[c.king_from] != man_of(seat, KIND_KING)) {
            x->field = is_left ? FEN4_FIELD_QUEEN_SIDE : FEN4_FIELD_KING_SIDE;
            x->p = (is_left ? x->left_at : x->right_at) + 2 * (size_t)seat;
            x->error.seat = (int)seat;
            fail(x, FEN4_CASTLING, here(x), "0, or the king where this game's array has it");
            return false;
        }
        if (x->pos.men[c.rook_from] == man_of(seat, KIND_ROOK))
            rights |= (uint8_t)(1u << i);
    }
    *ret_rights = rights;
    return true;
}

static bool read_all(struct parse *x)
{
    struct position_state state = {.turn = SEAT_SOUTH};

    if (!fen4_has_game(x->game)) {
        fail(x, FEN4_NO_SUCH_GAME, (struct range){0, 0}, "a game on the 160 squares");
        return false;
    }
    if (x->size > FEN4_TEXT_MAX) {
        fail(x, FEN4_TOO_LONG, (struct range){FEN4_TEXT_MAX, FEN4_TEXT_MAX}, "at most 2000 bytes");
        return false;
    }
    while (x->size > 0 && strchr(" \t\r\n", x->text[x->size - 1]) != NULL &&
           x->text[x->size - 1] != '\0')
        x->size--;
    if (!read_turn(x) || !read_flags(x, FEN4_FIELD_DEAD, x->dead))
        return false;
    x->right_at = x->p;
    if (!read_flags(x, FEN4_FIELD_KING_SIDE, x->right))
        return false;
    x->left_at = x->p;
    if (!read_flags(x, FEN4_FIELD_QUEEN_SIDE, x->left) || !read_points(x) || !read_count(x) ||
        !read_extra(x) || !read_board(x) || !settle_ownerless(x) || !check_kings(x) ||
        !check_royal(x) || !settle_castling(x, &state.castling))
        return false;
    state.turn = x->turn;
    state.count = state.ply = x->count;
    for (int seat = 0; seat < SEATS; seat++) {
        state.condition[seat] = x->dead[seat] ? CONDITION_ABSENT : CONDITION_LIVE;
        state.passed[seat] = x->passed[seat];
    }
    position_set_state(&x->pos, &state);
    return true;
}

enum fen4_verdict fen4_parse(const struct variant *variant, const char *text, size_t size,
                             struct position *ret_position, struct fen4_error *error)
{
    struct parse x;
    char native[POSITION_TEXT_MAX + 1];
    enum position_verdict verdict;

    memset(&x, 0, sizeof x);
    x.text = text;
    x.size = size;
    x.game = variant->game;
    x.error.seat = -1;
    for (int seat = 0; seat < SEATS; seat++)
        x.passed[seat] = SQUARE_NONE;
    position_clear(variant, &x.pos);
    if (!read_all(&x)) {
        assert(x.error.code != FEN4_OK);
        if (error != NULL)
            *error = x.error;
        return x.error.code;
    }
    /* Through R-T1, which also finds the result if a side is out. */
    position_print(&x.pos, native, sizeof native);
    verdict = position_parse(variant, native, &x.pos, NULL);
    assert(verdict == POSITION_OK);
    (void)verdict;
    *ret_position = x.pos;
    return FEN4_OK;
}

/* ---------------------------------------------------------------- saying what is wrong */

static const struct {
    const char *word, *sentence;
} verdicts[] = {
    [FEN4_OK] = {"ok", "nothing is wrong"},
    [FEN4_NO_SUCH_GAME] = {"no-such-game", "FEN4 cannot say a position of this game"},
    [FEN4_TOO_LONG] = {"too-long", "the text is too long"},
    [FEN4_ENDS_EARLY] = {"ends-early", "the text ends here"},
    [FEN4_BAD_TURN] = {"bad-turn", "this is no seat"},
    [FEN4_BAD_FLAGS] = {"bad-flags", "these are no flags"},
    [FEN4_BAD_POINTS] = {"bad-points", "these are no points"},
    [FEN4_BAD_COUNT] = {"bad-count", "this is no count of plies"},
    [FEN4_BAD_EXTRA] = {"bad-extra", "the part in braces cannot be read here"},
    [FEN4_BAD_KEY_VALUE] = {"bad-key-value", "the key's value does not fit"},
    [FEN4_OTHER_GAME] = {"other-game", "this says that another game is played"},
    [FEN4_NO_DASH] = {"no-dash", "the field goes on"},
    [FEN4_BAD_TOKEN] = {"bad-token", "this is nothing that stands on a board"},
    [FEN4_BAD_COLOUR] = {"bad-colour", "this is no colour"},
    [FEN4_BAD_KIND] = {"bad-kind", "there is no such man in this game"},
    [FEN4_WALL] = {"wall", "there are no walls in this game"},
    [FEN4_X_ON_BOARD] = {"x-on-board", "this square is on the board"},
    [FEN4_MAN_OFF_BOARD] = {"man-off-board", "a man stands off the board"},
    [FEN4_RANK_SHORT] = {"rank-short", "the rank has too few columns"},
    [FEN4_RANK_LONG] = {"rank-long", "the rank has too many columns"},
    [FEN4_TOO_MANY_RANKS] = {"too-many-ranks", "there are too many ranks"},
    [FEN4_TOO_FEW_RANKS] = {"too-few-ranks", "there are too few ranks"},
    [FEN4_TWO_KINGS] = {"two-kings", "this is a second king of its seat"},
    [FEN4_NO_KING] = {"no-king", "a live seat has no king"},
    [FEN4_DEAD_OWNER] = {"dead-owner", "it is unclear whose dead man this is"},
    [FEN4_DEAD_MAN_OF_LIVE] = {"dead-man-of-live", "a dead man, but its seat is not dead"},
    [FEN4_CASTLING] = {"castling", "this game has no castling from where the king stands"},
    [FEN4_TRAILING] = {"trailing", "something follows the board"},
};

const char *fen4_verdict_str(enum fen4_verdict verdict)
{
    assert((size_t)verdict < sizeof verdicts / sizeof verdicts[0]);
    return verdicts[verdict].word;
}

size_t fen4_error_sentence(const struct fen4_error *error, char *text, size_t size)
{
    static const char *const fields[] = {
        [FEN4_FIELD_NONE] = "",          [FEN4_FIELD_TURN] = "turn",
        [FEN4_FIELD_DEAD] = "dead",      [FEN4_FIELD_KING_SIDE] = "castling king's side",
        [FEN4_FIELD_QUEEN_SIDE] = "castling queen's side", [FEN4_FIELD_POINTS] = "points",
        [FEN4_FIELD_COUNT] = "count",    [FEN4_FIELD_EXTRA] = "extra",
        [FEN4_FIELD_BOARD] = "board",
    };
    struct line line = line_start(text, size);

    line_string(&line, "line ");
    line_number(&line, (uint64_t)error->line);
    line_string(&line, ", column ");
    line_number(&line, (uint64_t)error->column);
    if (error->field != FEN4_FIELD_NONE) {
        line_string(&line, ", ");
        line_string(&line, fields[error->field]);
    }
    if (error->rank > 0) {
        line_string(&line, ", rank ");
        line_number(&line, (uint64_t)error->rank);
    }
    line_string(&line, ": ");
    if (error->word[0] != '\0') {
        line_char(&line, '"');
        line_string(&line, error->word);
        line_string(&line, "\": ");
    }
    line_string(&line, verdicts[error->code].sentence);
    if (error->seat >= 0) {
        line_string(&line, " (");
        line_string(&line, fen4_colours[error->seat]);
        line_char(&line, ')');
    }
    if (error->wanted[0] != '\0') {
        line_string(&line, "; wanted: ");
        line_string(&line, error->wanted);
    }
    return line_end(&line);
}
