/* plain/scatter.c - see scatter.h. */
#include "plain/scatter.h"

#include <stdlib.h>
#include <string.h>

void scatter_seed(struct scatter *s, uint64_t seed)
{
    s->state = seed;
}

uint32_t scatter_below(struct scatter *s, uint32_t n)
{
    uint64_t z = s->state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return (uint32_t)((z >> 32) * n >> 32);
}

bool scatter_chance(struct scatter *s, unsigned percent)
{
    return scatter_below(s, 100) < percent;
}

static int box_of(enum plain_game game)
{
    return game == PLAIN_FORTRESS ? 16 : 14;
}

static struct plain_square any_square(struct scatter *s, enum plain_game game)
{
    struct plain_square at;

    do {
        at.file = 1 + (int)scatter_below(s, (uint32_t)box_of(game));
        at.rank = 1 + (int)scatter_below(s, (uint32_t)box_of(game));
    } while (!plain_on_board(game, at));
    return at;
}

/* How far a square is from its owner's edge, the edge itself being 1; and the other measure,
 * from the owner's left. */
static void measure(enum plain_game game, int seat, struct plain_square at, int *ret_up,
                    int *ret_across)
{
    int n = box_of(game) + 1;
    const int up[4] = {at.rank, at.file, n - at.rank, n - at.file};
    const int across[4] = {at.file, n - at.rank, n - at.file, at.rank};

    *ret_up = up[seat];
    *ret_across = across[seat];
}

/* Could a pawn of the seat ever stand there? */
static bool pawn_may_stand(enum plain_game game, int seat, char kind, struct plain_square at)
{
    int up, across;

    measure(game, seat, at, &up, &across);
    switch (game) {
    case PLAIN_VERNEY:
        if (across == 1 || across == 14)
            return false; /* an enemy's outermost line: it queened */
        return kind == 'P' ? up != 14 : up > 2 && !(up == 14 && (across < 4 || across > 11));
    case PLAIN_FORTRESS:
        return up >= 4 && !((across == 3 || across == 14) && up >= 5 && up <= 12) &&
               !(up == 14 && across >= 5 && across <= 12) &&
               !(up == 16 && (across <= 4 || across >= 13));
    case PLAIN_TEAMS:
        return up >= 2 && up < 11;
    }
    return false;
}

/* Where pawns have a life before them: on the home line, or near enough to where they change. */
static struct plain_square pawn_square(struct scatter *s, enum plain_game game, int seat, char kind)
{
    struct plain_square at = {0, 0};
    int tries, up, across, wanted = (int)scatter_below(s, 4);

    for (tries = 0; tries < 400; tries++) {
        at = any_square(s, game);
        if (!pawn_may_stand(game, seat, kind, at))
            continue;
        measure(game, seat, at, &up, &across);
        if (wanted == 0 && up != (game == PLAIN_FORTRESS ? 4 : 2))
            continue; /* home */
        if (wanted == 1 && (kind == 'V' ? up > 4 : up < 9))
            continue; /* nearly there */
        if (wanted == 2 && across > 3 && across < box_of(game) - 2)
            continue; /* at a side */
        return at;
    }
    return (struct plain_square){0, 0};
}

static bool at_edge(enum plain_game game, struct plain_square at)
{
    const struct plain_square around[4] = {{at.file + 1, at.rank},
                                           {at.file - 1, at.rank},
                                           {at.file, at.rank + 1},
                                           {at.file, at.rank - 1}};
    int i;

    for (i = 0; i < 4; i++)
        if (!plain_on_board(game, around[i]))
            return true;
    return false;
}

static void put_man(struct plain_position *p, struct plain_square at, int seat, char kind)
{
    if (at.file != 0 && p->at[at.file][at.rank].kind == 0)
        p->at[at.file][at.rank] = (struct plain_man){(signed char)seat, kind};
}

/* A few men each, anywhere; or one side strong against two nearly bare kings. */
static void strew(struct scatter *s, struct plain_position *p)
{
    unsigned few = p->house.inert_capturable || scatter_chance(s, 25) ? 6 : 3;
    int seat, i, men, strong = scatter_chance(s, 50) ? (int)scatter_below(s, 2) : -1;
    int lone = (int)scatter_below(s, 2);
    unsigned most = 2 + scatter_below(s, 5);

    /* in fortress often a bare king alone against two: a stalemate is a draw */
    if (p->game == PLAIN_FORTRESS && strong >= 0 && !memchr(p->condition, 'x', 4) &&
        scatter_chance(s, 40))
        p->condition[1 - strong + 2 * lone] = 'x';
    for (seat = 0; seat < 4; seat++) {
        bool edge = scatter_chance(s, 70) || (strong >= 0 && seat % 2 != strong);
        struct plain_square at;

        if (p->condition[seat] == 'x' && p->game == PLAIN_FORTRESS)
            continue;
        do
            at = any_square(s, p->game);
        while (p->at[at.file][at.rank].kind != 0 || (edge && !at_edge(p->game, at)));
        put_man(p, at, seat, 'K');
        men = scatter_chance(s, 20) ? 0 : (int)scatter_below(s, most + 1);
        if (strong >= 0)
            men = seat % 2 == strong ? 3 + (int)scatter_below(s, 4)
                                     : (int)scatter_below(s, few);
        if (p->condition[(seat + 2) % 4] == 'x' && scatter_chance(s, 60))
            men = 0;
        for (i = 0; i < men; i++) {
            char kind = "QQRRBNPPPP"[scatter_below(s, strong >= 0 && seat % 2 == strong ? 8 : 10)];

            if (kind == 'P' && p->game == PLAIN_VERNEY && scatter_chance(s, 40))
                kind = 'V';
            put_man(p,
                    kind == 'P' || kind == 'V' ? pawn_square(s, p->game, seat, kind)
                                               : any_square(s, p->game),
                    seat, kind);
        }
    }
}

static struct plain_square forward_of(int seat, struct plain_square at)
{
    at.rank += seat == 0 ? 1 : seat == 2 ? -1 : 0;
    at.file += seat == 1 ? 1 : seat == 3 ? -1 : 0;
    return at;
}

/* Pawns of partners close together, head on: they leap, they block. */
static void strew_pawn_walls(struct scatter *s, struct plain_position *p)
{
    int i, pairs = 1 + (int)scatter_below(s, 4);

    for (i = 0; i < pairs; i++) {
        int seat = (int)scatter_below(s, 4), up, across;
        struct plain_square at = pawn_square(s, p->game, seat, 'P'), front;

        if (at.file == 0 || p->condition[seat] == 'x' || p->condition[(seat + 2) % 4] == 'x')
            continue;
        front = forward_of(seat, at);
        measure(p->game, seat, front, &up, &across);
        if (!plain_on_board(p->game, front) ||
            !pawn_may_stand(p->game, (seat + 2) % 4, 'P', front))
            continue;
        put_man(p, at, seat, 'P');
        put_man(p, front, (seat + 2) % 4, 'P');
    }
}

static bool is_free(const struct plain_position *p, struct plain_square at)
{
    return plain_on_board(p->game, at) && p->at[at.file][at.rank].kind == 0;
}

/* A square from which a pawn of the seat, walking forward, or back if kind is V, strikes `at`. */
static struct plain_square striking(struct scatter *s, int seat, char kind, struct plain_square at)
{
    struct plain_square from = forward_of(kind == 'V' ? seat : (seat + 2) % 4, at);
    int aside = scatter_chance(s, 50) ? 1 : -1;

    if (seat % 2 == 0)
        from.file += aside;
    else
        from.rank += aside;
    return from;
}

/* Verney: a pawn that can take a man on an enemy's outermost line (R-V6). */
static void plant_queening(struct scatter *s, struct plain_position *p)
{
    int seat = (int)scatter_below(s, 4), victim = (seat + (scatter_chance(s, 50) ? 1 : 3)) % 4;
    int owner = scatter_chance(s, 80) ? victim : (victim + 2) % 4;
    char kind = scatter_chance(s, 30) ? 'V' : 'P';
    char prey = "QRBN"[scatter_below(s, 4)];
    int up, across;
    struct plain_square line, from;

    do {
        line = any_square(s, p->game);
        measure(p->game, victim, line, &up, &across);
    } while (up != 1);
    from = striking(s, seat, kind, line);
    if (p->condition[seat] == 'x' || p->condition[victim] == 'x' || !is_free(p, from) ||
        !pawn_may_stand(p->game, seat, kind, from))
        return;
    put_man(p, line, owner, prey);
    put_man(p, from, seat, kind);
}

/* A pawn at home with an enemy's pawn, or both enemies', beside its double step (R-F9). */
static void plant_en_passant(struct scatter *s, struct plain_position *p)
{
    int seat = (int)scatter_below(s, 4), up, across, i;
    struct plain_square home, passed;

    do {
        home = any_square(s, p->game);
        measure(p->game, seat, home, &up, &across);
    } while (up != (p->game == PLAIN_FORTRESS ? 4 : 2) || across <= 4 ||
             across > box_of(p->game) - 4);
    passed = forward_of(seat, home);
    if (p->condition[seat] == 'x' || !is_free(p, home) || !is_free(p, passed) ||
        !is_free(p, forward_of(seat, passed)))
        return;
    put_man(p, home, seat, 'P');
    for (i = 1; i < 4; i += 2) {
        int enemy = (seat + i) % 4;
        struct plain_square from = striking(s, enemy, 'P', passed);

        if (p->condition[enemy] != 'x' && is_free(p, from) &&
            pawn_may_stand(p->game, enemy, 'P', from) && scatter_chance(s, 75))
            put_man(p, from, enemy, 'P');
    }
    if (scatter_chance(s, 60))
        p->turn = seat;
}

static void drop_lost_rights(struct plain_position *p)
{
    struct plain_position array;
    int f, r, left;

    plain_start(p->game, p->house, &array);
    for (f = 1; f <= 16; f++)
        for (r = 1; r <= 16; r++) {
            struct plain_man was = array.at[f][r];
            int up, across;

            if (was.kind != 'R' || p->at[f][r].kind != 0)
                continue;
            measure(p->game, was.seat, (struct plain_square){f, r}, &up, &across);
            if (up != (p->game == PLAIN_FORTRESS ? 3 : 1))
                continue; /* of the reserve */
            left = across < box_of(p->game) / 2;
            p->castling[was.seat][left] = false;
        }
}

/* The array, much of it gone. */
static void thin(struct scatter *s, struct plain_position *p)
{
    unsigned pieces = 20 + scatter_below(s, 70), pawns = 20 + scatter_below(s, 70);
    int f, r;

    for (f = 1; f <= 16; f++)
        for (r = 1; r <= 16; r++) {
            char kind = p->at[f][r].kind;

            if (kind != 0 && kind != 'K' && scatter_chance(s, kind == 'P' ? pawns : pieces))
                p->at[f][r].kind = 0;
        }
    drop_lost_rights(p);
}

static bool is_mated(const struct plain_position *p, int seat)
{
    return plain_in_check(p, seat) && !plain_has_legal_move(p, seat);
}

/* Call mated, in verney, whoever is; false if it does not hold then, or the game is over. */
static bool settle(struct plain_position *p)
{
    char found[4];
    int seat;

    memcpy(found, p->condition, 4);
    for (seat = 0; seat < 4 && p->game == PLAIN_VERNEY; seat++)
        if (seat != p->turn && p->condition[seat] == 'a' && is_mated(p, seat))
            found[seat] = 'm';
    memcpy(p->condition, found, 4);
    for (seat = 0; seat < 4; seat++) {
        if (found[seat] == 'm' && !is_mated(p, seat))
            return false;
        if (found[seat] != 'a' && found[(seat + 2) % 4] != 'a')
            return false;
    }
    return plain_has_legal_move(p, p->turn);
}

/* Fortress: a seat whose partner is gone and whose king can hardly move. */
static bool is_cornered(const struct plain_position *p)
{
    static struct plain_move moves[PLAIN_MOVES];
    int seat;

    for (seat = 0; seat < 4; seat++)
        if (p->condition[seat] == 'x')
            return p->turn % 2 != seat % 2 && plain_legal_moves(p, (seat + 2) % 4, moves) <= 2;
    return false;
}

void scatter_position(struct scatter *s, enum plain_game game, struct plain_house house,
                      struct plain_position *ret)
{
    bool hunt = game == PLAIN_VERNEY && scatter_chance(s, 35);
    bool corner = game == PLAIN_FORTRESS && scatter_chance(s, 8);

    do {
        int i;

        plain_start(game, house, ret);
        ret->turn = (int)scatter_below(s, 4);
        if (!hunt && !corner && scatter_chance(s, 20)) {
            thin(s, ret);
            continue;
        }
        memset(ret->at, 0, sizeof ret->at);
        memset(ret->castling, 0, sizeof ret->castling);
        if (game != PLAIN_TEAMS && scatter_chance(s, 15))
            ret->condition[scatter_below(s, 4)] = 'x';
        strew(s, ret);
        if (game != PLAIN_TEAMS && scatter_chance(s, 30))
            strew_pawn_walls(s, ret);
        for (i = 0; i < 3 && scatter_chance(s, 60); i++) {
            if (game == PLAIN_VERNEY)
                plant_queening(s, ret);
            else
                plant_en_passant(s, ret);
        }
    } while (ret->condition[ret->turn] == 'x' || !settle(ret) ||
             (hunt && !memchr(ret->condition, 'm', 4)) || (corner && !is_cornered(ret)));
}

struct deed deed_of(const struct plain_position *before, const struct plain_move *m)
{
    struct plain_man man = before->at[m->from.file][m->from.rank];
    bool pawn = man.kind == 'P' || man.kind == 'V';
    int files = abs(m->to.file - m->from.file), ranks = abs(m->to.rank - m->from.rank);
    struct plain_man prey = before->at[m->to.file][m->to.rank];
    struct deed d = {.capture = prey.kind != 0};
    int up, across;

    measure(before->game, man.seat, m->to, &up, &across);
    d.en_passant = pawn && files == 1 && ranks == 1 && !d.capture;
    d.inert_capture = d.capture && before->condition[prey.seat] == 'm';
    d.capture = d.capture || d.en_passant;
    d.leap = pawn && files + ranks == 2 && files != ranks && before->game == PLAIN_VERNEY;
    d.double_step = pawn && files + ranks == 2 && files != ranks && !d.leap;
    d.castling = man.kind == 'K' && files + ranks == 2 && files != ranks;
    d.promotion = m->promotion != 0;
    d.turning = before->game == PLAIN_VERNEY && !d.promotion &&
                ((man.kind == 'P' && up == 14) || (man.kind == 'V' && up <= 2));
    return d;
}

/* How glad a move makes the one who waits for rare things. */
static int worth(const struct plain_position *p, const struct plain_move *m)
{
    struct plain_position next = *p;
    int seat, sum;

    plain_play(&next, m);
    sum = 20 * next.mated_on_turn;
    if (next.result != PLAIN_GOING)
        return next.result == PLAIN_DRAW ? 9 : 4;
    for (seat = 0; seat < 4; seat++) {
        if (next.condition[seat] != p->condition[seat])
            sum += 5;
        else if (next.condition[seat] == 'a' && seat != p->turn && plain_in_check(&next, seat))
            sum += 1;
    }
    return sum;
}

/* Is somebody out of the game, for the time being or for good? */
static bool somebody_is_out(const struct plain_position *p)
{
    return memchr(p->condition, 'm', 4) || memchr(p->condition, 'x', 4);
}

size_t scatter_move(struct scatter *s, const struct plain_position *p,
                    const struct plain_move *moves, size_t n)
{
    uint32_t mood = scatter_below(s, 100), i;
    size_t best = scatter_below(s, (uint32_t)n);
    bool near = somebody_is_out(p);

    if (mood < 30) { /* something with a pawn, or castling, if the eye falls on it */
        for (i = 0; i < n; i++) {
            size_t at = (best + i) % n;
            struct deed d = deed_of(p, &moves[at]);

            if (d.en_passant || d.leap || d.castling || d.promotion || d.turning ||
                d.inert_capture || (d.double_step && mood < 20))
                return at;
        }
    } else if (mood < (near ? 95u : 70u)) {
        /* the most eventful of a few; of all, when the end may be near */
        int most = -1;
        size_t chosen = best;

        for (i = 0; i < (near ? n : 8); i++) {
            size_t at = near ? (best + i) % n : scatter_below(s, (uint32_t)n);
            int value = worth(p, &moves[at]);

            if (value > most) {
                most = value;
                chosen = at;
            }
        }
        best = chosen;
    }
    return best;
}
