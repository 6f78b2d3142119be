/*
 * rules/game.c - the tables of the games, and the step tables made from them.
 */
#include "rules/game.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

#include "rules/line.h"

const int8_t way_file[WAYS] = {0, 1, 1, 1, 0, -1, -1, -1};
const int8_t way_rank[WAYS] = {1, 1, 0, -1, -1, -1, 0, 1};
const int8_t leap_file[LEAPS] = {1, 2, 2, 1, -1, -2, -2, -1};
const int8_t leap_rank[LEAPS] = {2, 1, -1, -2, -2, -1, 1, 2};

struct board square_boards[SQUARES];
uint64_t hash_keys[HASH_KEYS];
uint8_t way_by_delta[DELTAS];

/* ---------------------------------------------------------------- the facts */

static const struct game_table verney_table = {
    .name = "verney",
    .number = 0,
    .files = 14,
    .ranks = 14,
    .letters = "wryb",
    .colours = {"White", "Red", "Yellow", "Black"},   /* R-V2 */
    .board = "d1k14 a4n11",                           /* R-V1 */
    .odd_is_light = false,
    .home = "d1k1",
    .pawns = "d2k2",
    .arrays = {{"RNBQKBNR", "RNBKQBNR", "RNBQKBNR", "RNBKQBNR"},   /* R-V3 */
               {"RNBQKBNR", "RNBQKBNR", "RNBQKBNR", "RNBQKBNR"}},
    .pawn_leaps = true,                               /* R-V9 */
    .promote_capture = "a4a11 n4n11",                 /* R-V6 */
    .turn_back = "d14k14",                            /* R-V7 */
    .turn_forward = "d1k2",                           /* R-V8 */
    .shields_partner = true,                          /* R-V5 */
    .mate = MATE_INERT,                               /* R-V12, R-V13 */
    .house_inert = true,
    .house_queens = true,
    .house_promotion = true,
};

static const struct game_table fortress_table = {
    .name = "fortress",
    .number = 1,
    .files = 16,
    .ranks = 16,
    .letters = "wbru",
    .colours = {"White", "Black", "Red", "Blue"},     /* R-F2 */
    .board = "c3n14 a1d4 a13d16 m13p16 m1p4",         /* R-F1 */
    .odd_is_light = true,
    .fortress = "m1p4",                               /* R-F3 */
    .gate = "l3m3 l4m4",                              /* R-F4 */
    .knight_needs_way = true,                         /* R-F6 */
    .home = "e3l3",                                   /* R-F7 */
    .pawns = "e4l4",
    .arrays = {{"RNBQKBNR", "RNBQKBNR", "RNBQKBNR", "RNBQKBNR"},
               {"RNBQKBNR", "RNBQKBNR", "RNBQKBNR", "RNBQKBNR"}},
    .reserve = {"p4 o1 n3", "d1 a2 c3", "a13 b16 c14", "m16 p15 n14"},
    .pawn_doubles = true,                             /* R-F9 */
    .promotion_choice = true,                         /* R-F11 */
    .promote_step = "c5c12 n5n12 e14l14 a16d16 m16p16",
    .promote_capture = "c5c12 n5n12 e14l14 a16d16 m16p16",
    .castling = {"i3k3 l3j3", "i3g3 e3h3"},           /* R-F10 */
    .mate = MATE_REMOVES,                             /* R-F14 */
    .pawn_move_resets_count = true,                   /* R-C8 */
    .house_reserve = true,
};

static const struct game_table teams_table = {
    .name = "teams",
    .number = 2,
    .files = 14,
    .ranks = 14,
    .letters = "rbyg",
    .colours = {"Red", "Blue", "Yellow", "Green"},    /* R-M1 */
    .board = "d1k14 a4n11",
    .odd_is_light = false,
    .home = "d1k1",
    .pawns = "d2k2",
    .arrays = {{"RNBQKBNR", "RNBQKBNR", "RNBQKBNR", "RNBQKBNR"},
               {"RNBQKBNR", "RNBQKBNR", "RNBQKBNR", "RNBQKBNR"}},
    .pawn_doubles = true,                             /* R-M2 */
    .promotion_choice = true,
    .promote_step = "a11n11",
    .promote_capture = "a11n11",
    .castling = {"h1j1 k1i1", "h1f1 d1g1"},
    .mate = MATE_DECIDES,                             /* R-M3 */
    .stalemate_draws = true,
    .pawn_move_resets_count = true,
};

/* ---------------------------------------------------------------- reading the tables */

/* Reads the next square of a list; SQUARE_NONE at its end. */
static int next_square(const char **list)
{
    int square = SQUARE_NONE;
    size_t n;

    if (*list == NULL)
        return SQUARE_NONE;
    *list += strspn(*list, " ");
    n = square_read(*list, strlen(*list), &square);
    assert(n > 0 || **list == '\0');
    *list += n;
    return square;
}

/* A quarter turn clockwise: what South has, West has. */
static int turned_square(const struct game_table *table, int square)
{
    return square_of(square_rank(square), table->files - 1 - square_file(square));
}

static int seat_square(const struct game_table *table, enum seat seat, int square)
{
    for (unsigned i = 0; i < seat; i++)
        square = turned_square(table, square);
    return square;
}

/* The rectangles of a list, turned to the seat. */
static struct board read_rectangles(const struct game_table *table, enum seat seat,
                                    const char *list)
{
    struct board set = {{0}};
    int a, b;

    while ((a = next_square(&list)) != SQUARE_NONE) {
        b = next_square(&list);
        assert(b != SQUARE_NONE);
        for (int rank = square_rank(a); rank <= square_rank(b); rank++)
            for (int file = square_file(a); file <= square_file(b); file++)
                board_add(&set, seat_square(table, seat, square_of(file, rank)));
    }
    return set;
}

int line_square_at(const struct game *game, enum seat seat, const char *south_line, int along)
{
    int left = next_square(&south_line);

    return seat_square(game->table, seat, left + along);
}

/* Edges between neighbours that carry a wall: upright[f][r] parts file f - 1 from file f at rank
 * r, level[f][r] rank r - 1 from rank r at file f. */
struct walls {
    bool upright[17][16], level[16][17];
};

static bool *wall_edge(struct walls *walls, int a, int b)
{
    int file = square_file(a), rank = square_rank(a);

    switch (b - a) {
    case 1:
        return &walls->upright[file + 1][rank];
    case -1:
        return &walls->upright[file][rank];
    case 16:
        return &walls->level[file][rank + 1];
    default:
        assert(b - a == -16);
        return &walls->level[file][rank];
    }
}

static void read_walls(const struct game_table *table, struct walls *walls)
{
    const char *list;
    int a, b;

    memset(walls, 0, sizeof *walls);
    for (unsigned seat = 0; table->fortress != NULL && seat < SEATS; seat++) { /* R-F4 */
        struct board yard = read_rectangles(table, seat, table->fortress);

        for (int square = 0; square < SQUARES; square++) {
            int file = square_file(square), rank = square_rank(square);

            if (!board_has(&yard, square))
                continue;
            walls->upright[file][rank] |= file == 0 || !board_has(&yard, square - 1);
            walls->upright[file + 1][rank] |= file == 15 || !board_has(&yard, square + 1);
            walls->level[file][rank] |= rank == 0 || !board_has(&yard, square - 16);
            walls->level[file][rank + 1] |= rank == 15 || !board_has(&yard, square + 16);
        }
    }
    for (unsigned seat = 0; seat < SEATS; seat++) {
        for (list = table->gate; (a = next_square(&list)) != SQUARE_NONE;) {
            b = next_square(&list);
            *wall_edge(walls, seat_square(table, seat, a), seat_square(table, seat, b)) = false;
        }
    }
    for (list = table->walls; (a = next_square(&list)) != SQUARE_NONE;) {
        b = next_square(&list);
        *wall_edge(walls, a, b) = true;
    }
}

/* R-F5: may a man step from the square that way?  Both squares on the board, no wall across, nor
 * at the corner point a diagonal step goes through. */
static bool step_is_open(const struct board *on_board, const struct walls *walls, int square,
                         unsigned way)
{
    int file = square_file(square), rank = square_rank(square);
    int to_file = file + way_file[way], to_rank = rank + way_rank[way];
    int corner_file = file > to_file ? file : to_file;
    int corner_rank = rank > to_rank ? rank : to_rank;

    if (to_file < 0 || to_file > 15 || to_rank < 0 || to_rank > 15 ||
        !board_has(on_board, square) || !board_has(on_board, square_of(to_file, to_rank)))
        return false;
    if (to_rank == rank)
        return !walls->upright[corner_file][rank];
    if (to_file == file)
        return !walls->level[file][corner_rank];
    return !walls->upright[corner_file][corner_rank - 1] &&
           !walls->upright[corner_file][corner_rank] &&
           !walls->level[corner_file - 1][corner_rank] && !walls->level[corner_file][corner_rank];
}

/* R-F6: one straight step and then one diagonal onward, or the other way about. */
static bool leap_has_way(const struct board *on_board, const struct walls *walls, int square,
                         unsigned leap)
{
    /* Leap 0 goes NNE: by NORTH and NORTH_EAST; leap 1 ENE: by NORTH_EAST and EAST; and so on. */
    unsigned ways[2] = {leap, (leap + 1) & 7};

    for (int i = 0; i < 2; i++) {
        unsigned first = ways[i], second = ways[1 - i];
        int between = square + way_file[first] + 16 * way_rank[first];

        if (step_is_open(on_board, walls, square, first) &&
            step_is_open(on_board, walls, between, second))
            return true;
    }
    return false;
}

static void build_steps(struct game *game, const struct walls *walls)
{
    for (int square = 0; square < SQUARES; square++) {
        for (unsigned way = 0; way < WAYS; way++) {
            int to = square + way_file[way] + 16 * way_rank[way];

            if (!step_is_open(&game->on_board, walls, square, way))
                continue;
            board_add(&game->enter[way], to);
            board_add(&game->steps[square], to);
            if (way % 2 == 1) { /* a pawn that walks to either side of it captures so */
                board_add(&game->pawn_sources[(way - 1) / 2][to], square);
                board_add(&game->pawn_sources[(way + 1) % WAYS / 2][to], square);
            }
        }
        for (unsigned leap = 0; leap < LEAPS; leap++) {
            int to_file = square_file(square) + leap_file[leap];
            int to_rank = square_rank(square) + leap_rank[leap];

            if (to_file < 0 || to_file > 15 || to_rank < 0 || to_rank > 15 ||
                !board_has(&game->on_board, square) ||
                !board_has(&game->on_board, square_of(to_file, to_rank)))
                continue;
            if (game->table->knight_needs_way &&
                !leap_has_way(&game->on_board, walls, square, leap))
                continue;
            board_add(&game->leap_enter[leap], square_of(to_file, to_rank));
            board_add(&game->leaps[square], square_of(to_file, to_rank));
        }
    }
    for (int square = 0; square < SQUARES; square++) {
        for (unsigned way = 0; way < WAYS; way++) {
            int at = square;

            while (step_is_open(&game->on_board, walls, at, way)) {
                at += way_file[way] + 16 * way_rank[way];
                board_add(&game->ray[square][way], at);
                board_add(way % 2 == 0 ? &game->straight[square] : &game->diagonal[square], at);
            }
        }
    }
}

static void build_castle(const struct game_table *table, enum seat seat, const char *text,
                         struct castle *ret_castle)
{
    int king_from = seat_square(table, seat, next_square(&text));
    int king_to = seat_square(table, seat, next_square(&text));
    int rook_from = seat_square(table, seat, next_square(&text));
    int rook_to = seat_square(table, seat, next_square(&text));
    int step = king_to > king_from ? (king_to - king_from) / 2 : -((king_from - king_to) / 2);

    ret_castle->at = (struct castling){(uint8_t)king_from, (uint8_t)king_to, (uint8_t)rook_from,
                                       (uint8_t)rook_to};
    for (int square = king_from + step; square != rook_from; square += step)
        board_add(&ret_castle->path, square);
    for (int i = 0; i < 3; i++)
        ret_castle->way[i] = (uint8_t)(king_from + i * step);
}

/* A pawn comes to a square: what becomes of it?  0 pawn, 1 turned pawn, -1 a piece. */
static int arrival(const struct game *game, enum seat seat, int turned, int square, bool captures)
{
    if (board_has(captures ? &game->promote_capture[seat] : &game->promote_step[seat], square))
        return -1;
    if (turned == 0 && board_has(&game->turning[0][seat], square))
        return 1;
    if (turned == 1 && board_has(&game->turning[1][seat], square))
        return 0;
    return turned;
}

/* Where pawns can come to from their first squares by steps, leaps and captures. */
static void build_pawn_range(struct game *game, enum seat seat)
{
    uint16_t queue[2 * SQUARES]; /* turned * 256 + square */
    int head = 0, tail = 0;

    for (int square = 0; square < SQUARES; square++)
        if (board_has(&game->pawn_squares[seat], square)) {
            board_add(&game->pawn_range[seat][0], square);
            queue[tail++] = (uint16_t)square;
        }
    while (head < tail) {
        int square = queue[head] & 255, turned = queue[head] >> 8;
        unsigned ahead = way_of_pawn(seat, turned == 1);

        head++;
        for (unsigned i = 0; i < 4; i++) { /* captures to either side, step, leap */
            unsigned way = (ahead + (i == 0 ? 7 : i == 1 ? 1 : 0)) & 7;
            int to = square + way_file[way] + 16 * way_rank[way];
            int now;

            if (to < 0 || to >= SQUARES || !board_has(&game->ray[square][way], to))
                continue;
            if (i == 3) {
                to += way_file[way] + 16 * way_rank[way];
                if (!game->table->pawn_leaps || to < 0 || to >= SQUARES ||
                    !board_has(&game->ray[square][way], to))
                    continue;
            }
            now = arrival(game, seat, turned, to, i < 2);
            if (now < 0 || board_has(&game->pawn_range[seat][now], to))
                continue;
            board_add(&game->pawn_range[seat][now], to);
            queue[tail++] = (uint16_t)(now * 256 + to);
        }
    }
}

static void build_seat(struct game *game, enum seat seat)
{
    const struct game_table *table = game->table;

    game->home_squares[seat] = read_rectangles(table, seat, table->home);
    game->pawn_squares[seat] = read_rectangles(table, seat, table->pawns);
    if (table->pawn_doubles)
        game->double_from[seat] = game->pawn_squares[seat];
    game->promote_step[seat] = read_rectangles(table, seat, table->promote_step);
    game->promote_capture[seat] = read_rectangles(table, seat, table->promote_capture);
    game->turning[0][seat] = read_rectangles(table, seat, table->turn_back);
    game->turning[1][seat] = read_rectangles(table, seat, table->turn_forward);
    game->fortress[seat] = read_rectangles(table, seat, table->fortress);
    build_pawn_range(game, seat);
    for (unsigned left = 0; left < 2 && table->castling[left] != NULL; left++) {
        struct castle *castle = &game->castle[seat][left];
        uint8_t bit = (uint8_t)(1u << (seat * 2 + left));

        build_castle(table, seat, table->castling[left], castle);
        game->castling_lost[castle->at.king_from] |= bit;
        game->castling_lost[castle->at.rook_from] |= bit;
    }
}

/* ---------------------------------------------------------------- built once */

static struct game games[GAMES];
static atomic_int tables_state; /* 0 not built, 1 being built, 2 built */

static void build_keys(void)
{
    for (uint64_t n = 0; n < HASH_KEYS; n++) { /* splitmix64, as position_hash() documents */
        uint64_t z = UINT64_C(0x466f757268616e64) + (n + 1) * UINT64_C(0x9e3779b97f4a7c15);

        z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
        hash_keys[n] = z ^ z >> 31;
    }
}

static void build_game(const struct game_table *table, struct game *ret_game)
{
    struct walls walls;

    assert(table->files == table->ranks && table->files <= 16);
    assert(!table->shields_partner || (!table->pawn_doubles && table->castling[0] == NULL));
    assert((table->mate == MATE_INERT) == table->shields_partner);
    memset(ret_game, 0, sizeof *ret_game);
    ret_game->table = table;
    ret_game->on_board = read_rectangles(table, SEAT_SOUTH, table->board);
    read_walls(table, &walls);
    build_steps(ret_game, &walls);
    for (unsigned seat = 0; seat < SEATS; seat++)
        build_seat(ret_game, seat);
}

static void tables_need(void)
{
    int state = 0;

    if (atomic_load_explicit(&tables_state, memory_order_acquire) == 2)
        return;
    if (!atomic_compare_exchange_strong(&tables_state, &state, 1)) {
        while (atomic_load_explicit(&tables_state, memory_order_acquire) != 2)
            ; /* another thread builds them; it takes about a millisecond */
        return;
    }
    build_keys();
    for (int square = 0; square < SQUARES; square++)
        board_add(&square_boards[square], square);
    for (int a = 0; a < SQUARES; a++)
        for (int b = 0; b < SQUARES; b++)
            if (way_between(a, b) >= 0)
                way_by_delta[(b + (b & 0xf0)) - (a + (a & 0xf0)) + DELTAS / 2] =
                    (uint8_t)way_between(a, b);
    build_game(&verney_table, &games[0]);
    build_game(&fortress_table, &games[1]);
    build_game(&teams_table, &games[2]);
    atomic_store_explicit(&tables_state, 2, memory_order_release);
}

void game_build(const struct game_table *table, struct game *ret_game)
{
    tables_need();
    build_game(table, ret_game);
}

const struct game *game_at(int index)
{
    if (index < 0 || index >= GAMES)
        return NULL;
    tables_need();
    return &games[index];
}

/* ---------------------------------------------------------------- geometry for callers */

int way_between(int a, int b)
{
    int files = square_file(b) - square_file(a), ranks = square_rank(b) - square_rank(a);

    if (a == b || (files != 0 && ranks != 0 && files != ranks && files != -ranks))
        return -1;
    files = (files > 0) - (files < 0);
    ranks = (ranks > 0) - (ranks < 0);
    for (int way = 0; way < WAYS; way++)
        if (way_file[way] == files && way_rank[way] == ranks)
            return way;
    return -1;
}

const char *game_name(const struct game *game)
{
    return game->table->name;
}

int game_files(const struct game *game)
{
    return game->table->files;
}

int game_ranks(const struct game *game)
{
    return game->table->ranks;
}

bool square_is_on_board(const struct game *game, int square)
{
    return square >= 0 && square < SQUARES && board_has(&game->on_board, square);
}

bool square_is_light(const struct game *game, int square)
{
    bool odd = ((square_file(square) + square_rank(square)) & 1) != 0;

    return odd == game->table->odd_is_light;
}

char seat_letter(const struct game *game, enum seat seat)
{
    return game->table->letters[seat];
}

const char *seat_colour(const struct game *game, enum seat seat)
{
    return game->table->colours[seat];
}

const char *seat_name(enum seat seat)
{
    static const char *const names[SEATS] = {"South", "West", "North", "East"};

    return names[seat];
}

bool seat_of_letter(const struct game *game, char letter, enum seat *ret_seat)
{
    const char *at = letter == '\0' ? NULL : strchr(game->table->letters, letter);

    if (at == NULL)
        return false;
    *ret_seat = (enum seat)(at - game->table->letters);
    return true;
}

bool game_has_castling(const struct game *game)
{
    return game->table->castling[0] != NULL;
}

bool game_has_en_passant(const struct game *game)
{
    return game->table->pawn_doubles;
}

bool game_has_turning(const struct game *game)
{
    return game->table->turn_back != NULL;
}

bool game_has_inert_armies(const struct game *game)
{
    return game->table->mate == MATE_INERT;
}

bool game_castling(const struct game *game, enum seat seat, bool left, struct castling *ret)
{
    if (!game_has_castling(game))
        return false;
    *ret = game->castle[seat][left ? 1 : 0].at;
    return true;
}

bool game_has_wall(const struct game *game, int a, int b)
{
    int way = way_between(a, b);

    return way >= 0 && square_is_on_board(game, a) && square_is_on_board(game, b) &&
           a + way_file[way] + 16 * way_rank[way] == b && !board_has(&game->steps[a], b);
}

bool game_reserve_squares(const struct game *game, enum seat seat, struct board *ret_squares)
{
    if (game->table->fortress == NULL)
        return false;
    *ret_squares = game->fortress[seat];
    return true;
}

/* ---------------------------------------------------------------- names */

size_t square_print(int square, char text[SQUARE_TEXT_MAX])
{
    struct line line = line_start(text, SQUARE_TEXT_MAX);

    assert(square >= 0 && square < SQUARES);
    line_square(&line, square);
    return line_end(&line);
}

size_t square_read(const char *text, size_t size, int *ret_square)
{
    int rank;

    if (size < 2 || text[0] < 'a' || text[0] > 'p' || text[1] < '1' || text[1] > '9')
        return 0;
    rank = text[1] - '0';
    if (rank != 1 || size < 3 || text[2] < '0' || text[2] > '9') {
        if (size >= 3 && text[2] >= '0' && text[2] <= '9')
            return 0;
        *ret_square = square_of(text[0] - 'a', rank - 1);
        return 2;
    }
    rank = 10 + text[2] - '0';
    if (rank > 16 || (size >= 4 && text[3] >= '0' && text[3] <= '9'))
        return 0;
    *ret_square = square_of(text[0] - 'a', rank - 1);
    return 3;
}

char kind_letter(enum kind kind)
{
    return "?KQRBNPV"[kind];
}

enum kind kind_of_letter(char letter)
{
    static const char letters[] = "KQRBNPV";
    const char *at = letter == '\0' ? NULL : strchr(letters, letter);

    return at == NULL ? KIND_NONE : (enum kind)(at - letters + KIND_KING);
}

const char *kind_name(enum kind kind)
{
    static const char *const names[KINDS] = {"nothing", "king",   "queen", "rook",
                                             "bishop",  "knight", "pawn",  "pawn"};

    return names[kind];
}

int board_count(const struct board *board)
{
    int count = 0;

    for (int i = 0; i < 4; i++)
        count += __builtin_popcountll(board->word[i]);
    return count;
}

int board_take(struct board *board)
{
    for (int i = 0; i < 4; i++) {
        if (board->word[i] != 0) {
            int square = i * 64 + __builtin_ctzll(board->word[i]);

            board->word[i] &= board->word[i] - 1;
            return square;
        }
    }
    return SQUARE_NONE;
}
