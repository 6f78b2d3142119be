#include "rules/show.h"

#include <assert.h>
#include <string.h>

#include "rules/line.h"

enum { BOX_MAX = 16, NARROW = 40, LEGEND_MAX = 4000 };

/* The board as it is seen from one side: row 0 on top, column 0 at the left. */
struct view {
    const struct position *pos;
    const struct game *game;
    const struct show_options *options;
    int n;
    bool is_turned; /* files run up and down */
    bool fence[BOX_MAX + 1]; /* columns before which a wall or gate stands somewhere */
};

static int view_square(const struct view *v, int row, int column)
{
    int up = v->n - 1 - row, n = v->n - 1;

    if (row < 0 || column < 0 || row >= v->n || column >= v->n)
        return SQUARE_NONE;
    switch (v->options->side) {
    case SEAT_WEST:
        return square_of(up, n - column);
    case SEAT_NORTH:
        return square_of(n - column, n - up);
    case SEAT_EAST:
        return square_of(n - up, column);
    default:
        return square_of(column, up);
    }
}

static bool is_on(const struct view *v, int square)
{
    return square != SQUARE_NONE && square_is_on_board(v->game, square);
}

static int fortress_of(const struct view *v, int square)
{
    for (int seat = 0; seat < SEATS; seat++) {
        struct board squares;

        if (game_reserve_squares(v->game, (enum seat)seat, &squares) &&
            board_has(&squares, square))
            return seat;
    }
    return -1;
}

/* What stands between two squares side by side: 0 nothing, 1 a wall, 2 a gate. */
static int between(const struct view *v, int a, int b)
{
    if (!is_on(v, a) || !is_on(v, b))
        return 0;
    if (game_has_wall(v->game, a, b))
        return 1;
    return fortress_of(v, a) != fortress_of(v, b) ? 2 : 0;
}

static bool is_inert(const struct position *pos, uint8_t man)
{
    return (pos->live >> man_seat(man) & 1u) == 0;
}

/* Spaces only as far as something follows. */
struct row {
    struct line *line;
    size_t blanks;
};
static void row_char(struct row *row, char c)
{
    if (c == ' ') {
        row->blanks++;
        return;
    }
    for (; row->blanks > 0; row->blanks--)
        line_char(row->line, ' ');
    line_char(row->line, c);
}
static void row_end(struct row *row)
{
    row->blanks = 0;
    line_char(row->line, '\n');
}

/* Which file or rank a column or row of the view is, from 0. */
static int label_index(const struct view *v, int index, bool is_file)
{
    bool mirrored = v->options->side == SEAT_NORTH ||
                    (is_file ? v->options->side == SEAT_EAST : v->options->side == SEAT_WEST);

    return mirrored ? v->n - 1 - index : index;
}

static void row_label(struct row *row, const struct view *v, int index, bool is_file)
{
    int at = label_index(v, index, is_file);

    if (is_file) {
        row_char(row, ' ');
        row_char(row, (char)('a' + at));
    } else {
        row_char(row, at + 1 >= 10 ? '1' : ' ');
        row_char(row, (char)('0' + (at + 1) % 10));
    }
}

static bool is_marked(const struct view *v, int square, bool from)
{
    const struct move *last = v->options->last;

    return last != NULL && !v->options->is_narrow && square == (from ? last->from : last->to);
}

static void draw_man(struct row *row, const struct view *v, int square)
{
    uint8_t man;

    if (!is_on(v, square)) {
        row_char(row, ' ');
        row_char(row, ' ');
        return;
    }
    man = v->pos->men[square];
    if (man == MAN_NONE) {
        row_char(row, v->options->is_narrow ? ' ' : '.');
        row_char(row, v->options->is_narrow ? '.' : ' ');
        return;
    }
    row_char(row, seat_letter(v->game, man_seat(man)));
    row_char(row, (char)(kind_letter(man_kind(man)) +
                         (is_inert(v->pos, man) ? 'a' - 'A' : 0)));
}

/* One rank as it is seen. */
static void draw_row(struct line *line, const struct view *v, int row_index)
{
    struct row row = {line, 0};
    int side_label = v->n - 1 - row_index;

    row_label(&row, v, side_label, v->is_turned);
    row_char(&row, ' ');
    for (int column = 0; column <= v->n; column++) {
        int square = view_square(v, row_index, column);
        int before = view_square(v, row_index, column - 1);
        int edge = between(v, before, square);

        if (v->options->is_narrow && !v->fence[column]) {
            if (column < v->n)
                draw_man(&row, v, square);
            continue;
        }
        if (edge != 0)
            row_char(&row, edge == 1 ? '#' : ':');
        else if (is_marked(v, square, false) && is_on(v, square))
            row_char(&row, '[');
        else if (is_marked(v, square, true) && is_on(v, square))
            row_char(&row, '(');
        else if (is_marked(v, before, false) && is_on(v, before))
            row_char(&row, ']');
        else if (is_marked(v, before, true) && is_on(v, before))
            row_char(&row, ')');
        else
            row_char(&row, ' ');
        if (column < v->n)
            draw_man(&row, v, square);
    }
    row_end(&row);
}

/* Between two rows: only where a wall or gate runs. */
static void draw_gap(struct line *line, const struct view *v, int upper)
{
    struct row row = {line, 0};
    bool any = false;

    for (int column = 0; column < v->n; column++)
        any |= between(v, view_square(v, upper, column), view_square(v, upper + 1, column)) != 0;
    if (!any)
        return;
    for (int i = 0; i < 3; i++)
        row_char(&row, ' ');
    for (int column = 0; column < v->n; column++) {
        int edge = between(v, view_square(v, upper, column), view_square(v, upper + 1, column));
        char c = edge == 1 ? '=' : edge == 2 ? '.' : ' ';

        if (!v->options->is_narrow || v->fence[column])
            row_char(&row, ' ');
        row_char(&row, c);
        row_char(&row, c);
    }
    row_end(&row);
}

/* The names of the columns; numbers without room between them stand upright. */
static void draw_columns(struct line *line, const struct view *v)
{
    bool is_upright = v->options->is_narrow && v->is_turned;

    for (int part = is_upright ? 0 : 1; part < 2; part++) {
        struct row row = {line, 0};

        for (int i = 0; i < 3; i++)
            row_char(&row, ' ');
        for (int column = 0; column < v->n; column++) {
            int number = label_index(v, column, false) + 1;

            if (!v->options->is_narrow || v->fence[column])
                row_char(&row, ' ');
            if (!is_upright) {
                row_label(&row, v, column, !v->is_turned);
                continue;
            }
            row_char(&row, ' ');
            row_char(&row, part == 1 ? (char)('0' + number % 10) : number >= 10 ? '1' : ' ');
        }
        row_end(&row);
    }
}

/* ---------------------------------------------------------------- what there is to say */

static const char *condition_words(const struct game *game, enum condition condition)
{
    switch (condition) {
    case CONDITION_MATED:
        return "mated, inert";
    case CONDITION_STALEMATED:
        return "passed over: stalemate";
    case CONDITION_ABSENT:
        return game_has_inert_armies(game) ? "has left, inert" : "out of the game";
    case CONDITION_LIVE:
        break;
    }
    return "";
}

static void say_who(struct line *line, const struct game *game, enum seat seat)
{
    line_string(line, seat_colour(game, seat));
    line_string(line, " (");
    line_string(line, seat_name(seat));
    line_char(line, ')');
}

static void say_turn(struct line *line, const struct position *pos)
{
    const struct game *game = pos->variant.game;

    if (!position_is_over(pos)) {
        say_who(line, game, (enum seat)pos->turn);
        line_string(line, " to move.\n");
    } else if (pos->result == RESULT_DRAW) {
        line_string(line, "The game is drawn.\n");
    } else {
        enum seat first = pos->result == RESULT_TEAM0 ? SEAT_SOUTH : SEAT_WEST;

        line_string(line, seat_colour(game, first));
        line_string(line, " and ");
        line_string(line, seat_colour(game, seat_partner(first)));
        line_string(line, " have won.\n");
    }
}

static void say_checks(struct line *line, const struct position *pos)
{
    const struct game *game = pos->variant.game;

    for (unsigned i = 0; i < SEATS; i++) {
        enum seat seat = (enum seat)((pos->turn + i) & 3u);
        struct board men;
        int square;
        bool first = true;

        if (pos->condition[seat] == CONDITION_ABSENT || (pos->has_king >> seat & 1u) == 0 ||
            position_checkers(pos, seat, &men) == 0)
            continue;
        line_string(line, seat_colour(game, seat));
        line_string(line, "'s king on ");
        line_square(line, pos->king[seat]);
        line_string(line, pos->condition[seat] == CONDITION_MATED ? " is mated by "
                                                                  : " is in check from ");
        while ((square = board_take(&men)) != SQUARE_NONE) {
            if (!first)
                line_string(line, board_is_empty(&men) ? " and " : ", ");
            first = false;
            line_string(line, seat_colour(game, man_seat(pos->men[square])));
            line_string(line, "'s ");
            line_string(line, kind_name(man_kind(pos->men[square])));
            line_string(line, " on ");
            line_square(line, square);
        }
        line_string(line, ".\n");
    }
}

/* Copies text, with line ends for blanks where a line would be longer than width. */
static void wrap(struct line *line, const char *text, int width)
{
    size_t column = 0;

    for (size_t i = 0; text[i] != '\0';) {
        size_t word = 0, gap = 0;

        if (text[i] == '\n') {
            line_char(line, '\n');
            column = 0;
            i++;
            continue;
        }
        while (text[i + gap] == ' ')
            gap++;
        while (text[i + gap + word] != '\0' && text[i + gap + word] != ' ' &&
               text[i + gap + word] != '\n')
            word++;
        if (width > 0 && column > 0 && column + gap + word > (size_t)width) {
            line_char(line, '\n');
            column = 0;
        } else if (word > 0) {
            for (size_t k = 0; k < gap; k++)
                line_char(line, ' ');
            column += gap;
        }
        for (size_t k = 0; k < word; k++)
            line_char(line, text[i + gap + k]);
        column += word;
        i += gap + word;
    }
}

static void draw_legend(struct line *line, const struct view *v)
{
    const struct position *pos = v->pos;
    bool turned = !board_is_empty(&pos->kinds[KIND_TURNED]), inert = false, has_walls = false;

    for (int column = 1; column < v->n; column++)
        has_walls |= v->fence[column];
    line_char(line, '\n');
    for (int seat = 0; seat < SEATS; seat++) {
        const char *words = condition_words(v->game, (enum condition)pos->condition[seat]);

        line_char(line, seat_letter(v->game, (enum seat)seat));
        line_char(line, ' ');
        say_who(line, v->game, (enum seat)seat);
        if (words[0] != '\0') {
            line_string(line, ": ");
            line_string(line, words);
        }
        line_char(line, '\n');
        inert |= (pos->live >> seat & 1u) == 0 && !board_is_empty(&pos->seats[seat]);
    }
    if (turned)
        line_string(line, "V is a pawn that walks back.\n");
    if (inert)
        line_string(line, "Men with a small letter are inert.\n");
    if (has_walls)
        line_string(line, "# = is a wall, : .. a gate.\n");
    say_checks(line, pos);
    say_turn(line, pos);
}

size_t show_board(const struct position *pos, const struct show_options *options, char *text,
                  size_t size)
{
    struct line line = line_start(text, size);
    struct view v = {.pos = pos, .game = pos->variant.game, .options = options,
                     .n = game_files(pos->variant.game),
                     .is_turned = options->side == SEAT_WEST || options->side == SEAT_EAST};

    assert(v.n == game_ranks(v.game) && v.n <= BOX_MAX);
    for (int column = 1; column < v.n; column++)
        for (int row = 0; row < v.n; row++)
            v.fence[column] |=
                between(&v, view_square(&v, row, column - 1), view_square(&v, row, column)) != 0;
    for (int row = 0; row < v.n; row++) {
        draw_row(&line, &v, row);
        draw_gap(&line, &v, row);
    }
    draw_columns(&line, &v);
    if (options->has_legend) {
        char text_of_legend[LEGEND_MAX];
        struct line legend = line_start(text_of_legend, sizeof text_of_legend);

        draw_legend(&legend, &v);
        line_end(&legend);
        assert(legend.length < sizeof text_of_legend);
        wrap(&line, text_of_legend, options->is_narrow ? NARROW : 0);
    }
    return line_end(&line);
}

/* ---------------------------------------------------------------- spoken */

static void say_kind(struct line *line, const struct position *pos, enum seat seat, enum kind kind)
{
    struct board men = pos->kinds[kind];
    int n, square;
    bool first = true;

    for (int i = 0; i < 4; i++)
        men.word[i] &= pos->seats[seat].word[i];
    n = board_count(&men);
    if (n == 0)
        return;
    line_string(line, "; ");
    line_string(line, kind_name(kind));
    if (n > 1)
        line_char(line, 's');
    if (kind == KIND_TURNED)
        line_string(line, n > 1 ? " that walk back" : " that walks back");
    while ((square = board_take(&men)) != SQUARE_NONE) {
        line_string(line, first ? " " : ", ");
        first = false;
        line_square(line, square);
    }
}

static void say_army(struct line *line, const struct position *pos, enum seat seat)
{
    const char *words = condition_words(pos->variant.game, (enum condition)pos->condition[seat]);

    say_who(line, pos->variant.game, seat);
    if (words[0] != '\0') {
        line_string(line, ", ");
        line_string(line, words);
    }
    for (int kind = KIND_KING; kind < KINDS; kind++)
        say_kind(line, pos, seat, (enum kind)kind);
    if (board_is_empty(&pos->seats[seat]))
        line_string(line, "; no men");
    line_string(line, ".\n");
}

static void say_rights(struct line *line, const struct position *pos)
{
    const struct game *game = pos->variant.game;

    for (int seat = 0; seat < SEATS; seat++) {
        bool right = position_can_castle(pos, (enum seat)seat, false);
        bool left = position_can_castle(pos, (enum seat)seat, true);

        if (!right && !left)
            continue;
        line_string(line, seat_colour(game, (enum seat)seat));
        line_string(line, right && left ? " may still castle right and left.\n"
                          : right       ? " may still castle right.\n"
                                        : " may still castle left.\n");
    }
    for (int seat = 0; seat < SEATS; seat++) {
        if ((pos->passed_by >> seat & 1u) == 0)
            continue;
        line_string(line, seat_colour(game, (enum seat)seat));
        line_string(line, "'s pawn has just passed over ");
        line_square(line, pos->passed[seat]);
        line_string(line, ": en passant.\n");
    }
}

size_t show_spoken(const struct position *pos, const struct spoken *last, int width, char *text,
                   size_t size)
{
    char whole[SHOW_SPOKEN_MAX], said[SPOKEN_MAX];
    struct line line = line_start(whole, sizeof whole), out = line_start(text, size);
    const struct game *game = pos->variant.game;

    if (last != NULL) {
        line_string(&line, seat_colour(game, last->seat));
        line_string(&line, ": ");
        spoken_print(game, last, said, sizeof said);
        line_string(&line, said);
        line_string(&line, ".\n");
    }
    say_turn(&line, pos);
    say_checks(&line, pos);
    for (unsigned i = 0; i < SEATS; i++)
        say_army(&line, pos, (enum seat)((pos->turn + i) & 3u));
    say_rights(&line, pos);
    line_string(&line, "Game ");
    line_string(&line, game_name(game));
    line_string(&line, ", ply ");
    line_number(&line, pos->ply);
    line_string(&line, ", ");
    line_number(&line, pos->count);
    line_string(&line, pos->count == 1 ? " turn" : " turns");
    line_string(&line, " without progress.\n");
    line_end(&line);
    assert(line.length < sizeof whole);
    wrap(&out, whole, width);
    return line_end(&out);
}
