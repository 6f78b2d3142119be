#include "rules/notation.h"

#include <assert.h>
#include <string.h>

#include "rules/line.h"

/* ---------------------------------------------------------------- what a move does */

static bool move_takes(const struct position *pos, struct move move)
{
    return pos->men[move.to] != MAN_NONE || move.type == MOVE_EN_PASSANT;
}

/* A move as the library itself would give it; asserts that it is legal. */
static struct move move_completed(const struct position *pos, struct move move)
{
    struct move_judgement judgement;
    enum move_verdict verdict = position_judge_move(pos, move, &judgement);

    assert(verdict == MOVE_LEGAL);
    return verdict == MOVE_LEGAL ? judgement.move : move;
}

/* The kind as notation tells kinds apart: turned pawns are pawns. */
static enum kind kind_class(enum kind kind)
{
    return kind == KIND_TURNED ? KIND_PAWN : kind;
}

enum move_verdict spoken_of_move(const struct position *pos, struct move move,
                                 struct spoken *ret_spoken)
{
    struct move_judgement judgement;
    struct outcome outcome;
    struct position after;
    struct spoken s = {.victim_square = SQUARE_NONE, .rook_from = SQUARE_NONE,
                       .rook_to = SQUARE_NONE, .leapt = SQUARE_NONE};
    enum move_verdict verdict = position_judge_move(pos, move, &judgement);

    if (verdict != MOVE_LEGAL)
        return verdict;
    after = *pos;
    verdict = position_play(&after, judgement.move, &outcome, NULL);
    assert(verdict == MOVE_LEGAL);

    s.seat = (enum seat)pos->turn;
    s.move = judgement.move;
    s.kind = man_kind(pos->men[s.move.from]);
    if (s.move.type == MOVE_CASTLE) {
        for (int left = 0; left < 2; left++) {
            struct castling c;
            if (game_castling(pos->variant.game, s.seat, left != 0, &c) &&
                c.king_to == s.move.to) {
                s.castles_left = left != 0;
                s.rook_from = c.rook_from;
                s.rook_to = c.rook_to;
            }
        }
    }
    for (int i = 0; i < outcome.count; i++) {
        const struct event *e = &outcome.at[i];
        unsigned seat = 1u << e->seat;

        switch ((enum event_type)e->type) {
        case EVENT_CAPTURED:
            s.victim = (enum kind)e->by_kind;
            s.victim_seat = (enum seat)e->other;
            s.victim_square = e->to;
            s.is_inert_victim = (pos->live >> e->other & 1u) == 0;
            break;
        case EVENT_LEAPT:
            s.leapt = e->to;
            break;
        case EVENT_PROMOTED:
            s.becomes = (enum kind)e->kind;
            break;
        case EVENT_TURNED:
            s.turns_back = e->kind == KIND_TURNED;
            s.turns_forward = e->kind == KIND_PAWN;
            break;
        case EVENT_CHECK:
            s.checks_and_mates |= 1u << e->other;
            break;
        case EVENT_MATED:
            s.mates |= seat;
            break;
        case EVENT_RELEASED:
            s.releases |= seat;
            break;
        case EVENT_PASSED:
            s.passes |= seat;
            break;
        case EVENT_REMOVED:
            s.removals |= seat;
            break;
        default:
            break;
        }
    }
    /* A seat that was mated and woke up again within one move has only been disturbed. */
    for (int seat = 0; seat < SEATS; seat++) {
        unsigned bit = 1u << seat;
        if ((s.mates & s.releases & bit) != 0 && after.condition[seat] != CONDITION_MATED) {
            s.mates &= ~bit;
            if (pos->condition[seat] != CONDITION_MATED)
                s.releases &= ~bit;
        }
    }
    for (int seat = 0; seat < SEATS; seat++)
        if (after.condition[seat] == CONDITION_MATED && (s.mates >> seat & 1u) == 0)
            s.checks_and_mates &= ~(1u << seat); /* mated before */
    s.checks = s.checks_and_mates & ~s.mates;
    s.result = (enum result)after.result;
    s.cause = (enum cause)after.cause;
    s.next = after.turn;
    *ret_spoken = s;
    return MOVE_LEGAL;
}

/* ---------------------------------------------------------------- writing */

static void write_coordinate(struct line *line, struct move move)
{
    line_square(line, move.from);
    line_square(line, move.to);
    if (move.promotion != KIND_NONE)
        line_char(line, (char)(kind_letter((enum kind)move.promotion) - 'A' + 'a'));
}

size_t move_print_coordinate(struct move move, char *text, size_t size)
{
    struct line line = line_start(text, size);

    write_coordinate(&line, move);
    return line_end(&line);
}

/* Its text as a number, the first character weighing most, so that numbers compare as texts do. */
static uint64_t coordinate_key(struct move move)
{
    char text[MOVE_COORDINATE_MAX];
    size_t n = move_print_coordinate(move, text, sizeof text);
    uint64_t key = 0;

    for (size_t i = 0; i < sizeof text; i++)
        key = key << 8 | (i < n ? (unsigned char)text[i] : 0);
    return key;
}

/* Shell's sort: in place, and quick enough for the largest list. */
void moves_sort(struct move_list *moves)
{
    static const int gaps[] = {701, 301, 132, 57, 23, 10, 4, 1};

    for (size_t g = 0; g < sizeof gaps / sizeof gaps[0]; g++) {
        int gap = gaps[g];

        for (int i = gap; i < moves->count; i++) {
            struct move move = moves->at[i];
            uint64_t key = coordinate_key(move);
            int to = i;

            for (; to >= gap && coordinate_key(moves->at[to - gap]) > key; to -= gap)
                moves->at[to] = moves->at[to - gap];
            moves->at[to] = move;
        }
    }
}

static int seats_in(unsigned set)
{
    int n = 0;

    for (; set != 0; set &= set - 1)
        n++;
    return n;
}

static void write_times(struct line *line, char c, int n)
{
    while (n-- > 0)
        line_char(line, c);
}

/* Which of the moving man's file and rank must be named. */
static void write_which(struct line *line, const struct position *pos, struct move move)
{
    struct move_list moves;
    enum kind kind = kind_class(man_kind(pos->men[move.from]));
    bool takes = move_takes(pos, move), other = false, same_file = false, same_rank = false;

    position_legal_moves(pos, &moves);
    for (int i = 0; i < moves.count; i++) {
        struct move m = moves.at[i];

        if (m.to != move.to || m.from == move.from ||
            kind_class(man_kind(pos->men[m.from])) != kind)
            continue;
        if (kind == KIND_PAWN && move_takes(pos, m) != takes)
            continue;
        other = true;
        same_file |= square_file(m.from) == square_file(move.from);
        same_rank |= square_rank(m.from) == square_rank(move.from);
    }
    if (kind == KIND_PAWN) {
        if (other && same_file)
            line_square(line, move.from);
        else if (other || takes)
            line_char(line, (char)('a' + square_file(move.from)));
    } else if (other) {
        if (!same_file || same_rank)
            line_char(line, (char)('a' + square_file(move.from)));
        if (same_file)
            line_number(line, (uint64_t)square_rank(move.from) + 1);
    }
}

size_t move_print_short(const struct position *pos, struct move move, bool marks, char *text,
                        size_t size)
{
    struct line line = line_start(text, size);
    struct spoken s;

    move = move_completed(pos, move);
    if (move.type == MOVE_CASTLE) {
        struct castling right;

        (void)game_castling(pos->variant.game, (enum seat)pos->turn, false, &right);
        line_string(&line, move.to == right.king_to ? "O-O" : "O-O-O");
    } else {
        enum kind kind = man_kind(pos->men[move.from]);

        if (!kind_is_pawn(kind))
            line_char(&line, kind_letter(kind));
        write_which(&line, pos, move);
        if (move_takes(pos, move))
            line_char(&line, 'x');
        line_square(&line, move.to);
        if (move.promotion != KIND_NONE) {
            line_char(&line, '=');
            line_char(&line, kind_letter((enum kind)move.promotion));
        }
    }
    if (marks && spoken_of_move(pos, move, &s) == MOVE_LEGAL) {
        write_times(&line, '+', seats_in(s.checks));
        write_times(&line, '#', seats_in(s.mates));
    }
    return line_end(&line);
}

size_t move_print_long(const struct position *pos, struct move move, char *text, size_t size)
{
    struct line line = line_start(text, size);
    struct spoken s = {0};
    enum move_verdict verdict = spoken_of_move(pos, move, &s);

    assert(verdict == MOVE_LEGAL);
    (void)verdict;
    if (s.move.type == MOVE_CASTLE) {
        line_string(&line, s.castles_left ? "O-O-O" : "O-O");
    } else {
        if (!kind_is_pawn(s.kind))
            line_char(&line, kind_letter(s.kind));
        line_square(&line, s.move.from);
        line_char(&line, s.victim != KIND_NONE ? 'x' : '-');
        if (s.victim != KIND_NONE && !kind_is_pawn(s.victim))
            line_char(&line, kind_letter(s.victim));
        line_square(&line, s.move.to);
        if (s.move.promotion != KIND_NONE) {
            line_char(&line, '=');
            line_char(&line, kind_letter((enum kind)s.move.promotion));
        }
        write_times(&line, '+', seats_in(s.checks_and_mates));
    }
    write_times(&line, '#', seats_in(s.mates));
    return line_end(&line);
}

/* "Red", "Red and Black", "White, Red and Yellow". */
static void write_seats(struct line *line, const struct game *game, unsigned seats)
{
    int left = seats_in(seats);

    for (int seat = 0; seat < SEATS; seat++) {
        if ((seats >> seat & 1u) == 0)
            continue;
        line_string(line, seat_colour(game, (enum seat)seat));
        left--;
        if (left > 1)
            line_string(line, ", ");
        else if (left == 1)
            line_string(line, " and ");
    }
}

static void write_what(struct line *line, const struct game *game, unsigned seats,
                       const char *one, const char *several)
{
    if (seats == 0)
        return;
    line_string(line, ", ");
    write_seats(line, game, seats);
    line_string(line, seats_in(seats) == 1 ? one : several);
}

size_t spoken_print(const struct game *game, const struct spoken *s, char *text, size_t size)
{
    struct line line = line_start(text, size);

    if (s->move.type == MOVE_CASTLE) {
        line_string(&line, s->castles_left ? "castles left" : "castles right");
        line_string(&line, ", king from ");
        line_square(&line, s->move.from);
        line_string(&line, " to ");
        line_square(&line, s->move.to);
        line_string(&line, ", rook from ");
        line_square(&line, s->rook_from);
        line_string(&line, " to ");
        line_square(&line, s->rook_to);
    } else {
        line_string(&line, kind_name(s->kind));
        line_string(&line, " from ");
        line_square(&line, s->move.from);
        if (s->victim != KIND_NONE) {
            line_string(&line, s->is_inert_victim ? " takes inert " : " takes ");
            line_string(&line, kind_name(s->victim));
            line_char(&line, ' ');
            line_square(&line, s->victim_square);
        }
        if (s->move.type == MOVE_EN_PASSANT) {
            line_string(&line, " en passant, to ");
            line_square(&line, s->move.to);
        }
        if (s->leapt != SQUARE_NONE) {
            line_string(&line, " leaps over ");
            line_square(&line, s->leapt);
        }
        if (s->victim == KIND_NONE) {
            line_string(&line, " to ");
            line_square(&line, s->move.to);
        }
        if (s->becomes != KIND_NONE) {
            line_string(&line, ", becomes ");
            line_string(&line, kind_name(s->becomes));
        }
        if (s->turns_back)
            line_string(&line, ", walks back from now on");
        if (s->turns_forward)
            line_string(&line, ", walks forward again");
    }
    if (s->checks != 0) {
        line_string(&line, ", check to ");
        write_seats(&line, game, s->checks);
    }
    write_what(&line, game, s->mates, " is mated", " are mated");
    write_what(&line, game, s->removals & ~s->mates, " is removed", " are removed");
    write_what(&line, game, s->releases, " is released", " are released");
    write_what(&line, game, s->passes, " passes: stalemate", " pass: stalemate");
    if (s->result == RESULT_DRAW) {
        line_string(&line, ", the game is drawn");
    } else if (s->result != RESULT_NONE) {
        line_string(&line, ", ");
        write_seats(&line, game, s->result == RESULT_TEAM0 ? 5u : 10u);
        line_string(&line, " have won");
    }
    return line_end(&line);
}

/* ---------------------------------------------------------------- reading: text to patterns */

/* What a text may mean; several of them when it can be taken in more than one way. */
struct pattern {
    enum kind kind;             /* the man's; KIND_NONE: whatever stands on the square */
    int from_file, from_rank;   /* -1: not said */
    int to;
    bool takes;
    enum kind victim;           /* KIND_NONE: not said */
    enum kind promotion;
};

enum { PATTERNS_MAX = 8 };

struct reader {
    char c[MOVE_READ_MAX + 1]; /* without blanks, dashes as '-', NUL-ended */
    size_t at[MOVE_READ_MAX + 1]; /* where each stood in the text */
    size_t n;
    size_t furthest;           /* up to where anything made sense */
    bool fold;                 /* files may be capital, men small */
    struct pattern pattern[PATTERNS_MAX];
    int patterns;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}
static char to_small(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}
static char to_capital(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

/* U+2010–2015 and U+2212 are dashes, U+00D7 a cross; their length in bytes, or 0. */
static size_t read_sign(const char *text, size_t size, char *ret)
{
    const unsigned char *u = (const unsigned char *)text;

    if (size >= 2 && u[0] == 0xc3 && u[1] == 0x97) {
        *ret = 'x';
        return 2;
    }
    if (size >= 3 && u[0] == 0xe2 &&
        ((u[1] == 0x80 && u[2] >= 0x90 && u[2] <= 0x95) || (u[1] == 0x88 && u[2] == 0x92))) {
        *ret = '-';
        return 3;
    }
    return 0;
}

static bool ends_with(const struct reader *r, const char *end)
{
    size_t n = strlen(end);

    if (r->n <= n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (to_small(r->c[r->n - n + i]) != end[i])
            return false;
    return true;
}

static enum read_verdict reader_load(struct reader *r, const char *text, size_t size)
{
    *r = (struct reader){.n = 0};
    while (size > 0 && is_blank(text[size - 1]))
        size--;
    if (size > MOVE_READ_MAX + 16)
        return READ_TOO_LONG;
    for (size_t i = 0; i < size;) {
        char c = text[i];
        size_t bytes = read_sign(text + i, size - i, &c);

        if (bytes == 0)
            bytes = 1;
        if (!is_blank(c)) {
            if (r->n == MOVE_READ_MAX)
                return READ_TOO_LONG;
            r->at[r->n] = i;
            r->c[r->n++] = c == '\0' ? '\1' : c;
        }
        i += bytes;
    }
    if (r->n == 0)
        return READ_EMPTY;
    for (bool again = true; again;) {
        char last = r->c[r->n - 1];

        again = true;
        if (r->n > 1 && (last == '+' || last == '#' || last == '!' || last == '?'))
            r->n--;
        else if (ends_with(r, "e.p."))
            r->n -= 4;
        else if (ends_with(r, "ep"))
            r->n -= 2;
        else
            again = false;
    }
    r->at[r->n] = size;
    r->c[r->n] = '\0';
    return READ_MOVE;
}

/* A rank's number at p: its length, 0 if there is none from 1 to 16. */
static size_t read_rank(const struct reader *r, size_t p, int *ret_rank)
{
    int n = 0;
    size_t i = p;

    if (r->c[p] < '1' || r->c[p] > '9')
        return 0;
    for (; r->c[i] >= '0' && r->c[i] <= '9' && i < p + 3; i++)
        n = n * 10 + (r->c[i] - '0');
    if (n > 16)
        return 0;
    *ret_rank = n - 1;
    return i - p;
}

static size_t read_file(const struct reader *r, size_t p, int *ret_file)
{
    char c = r->fold ? to_small(r->c[p]) : r->c[p];

    if (c < 'a' || c > 'p')
        return 0;
    *ret_file = c - 'a';
    return 1;
}

static size_t read_square(const struct reader *r, size_t p, int *ret_file, int *ret_rank)
{
    int file = 0, rank = 0;
    size_t n = read_file(r, p, &file), m = n != 0 ? read_rank(r, p + n, &rank) : 0;

    if (m == 0)
        return 0;
    *ret_file = file;
    *ret_rank = rank;
    return n + m;
}

static void reached(struct reader *r, size_t p)
{
    if (p > r->furthest)
        r->furthest = p;
}

static void read_promotion(struct reader *r, size_t p, struct pattern *pat)
{
    bool signed_one = r->c[p] == '=' || r->c[p] == '/' || r->c[p] == '(';
    char close = r->c[p] == '(' ? ')' : '\0';
    char c;

    reached(r, p);
    if (r->c[p] != '\0') {
        if (signed_one)
            p++;
        c = to_capital(r->c[p]);
        pat->promotion = kind_of_letter(c);
        if (pat->promotion == KIND_NONE)
            return;
        if (!signed_one && (pat->promotion < KIND_QUEEN || pat->promotion > KIND_KNIGHT))
            return;
        p++;
        if (close != '\0' && r->c[p++] != close)
            return;
        reached(r, p);
    }
    if (r->c[p] == '\0' && r->patterns < PATTERNS_MAX)
        r->pattern[r->patterns++] = *pat;
}

/* From the sign between the squares on. */
static void read_goal(struct reader *r, size_t p, struct pattern pat)
{
    int file = 0, rank = 0;
    size_t n = 0;
    char c = r->c[p];

    if (c == '-' || c == ':' || c == '*' || c == 'x' || c == 'X') {
        pat.takes = c != '-';
        p++;
        reached(r, p);
    }
    n = read_square(r, p, &file, &rank);
    if (n == 0 && pat.takes && kind_of_letter(r->c[p]) != KIND_NONE) {
        pat.victim = kind_of_letter(r->c[p]);
        p++;
        reached(r, p);
        n = read_square(r, p, &file, &rank);
    }
    if (n == 0)
        return;
    pat.to = square_of(file, rank);
    read_promotion(r, p + n, &pat);
}

/* From after the man's letter on; kind NONE: there was none. */
static void read_way(struct reader *r, size_t p, enum kind kind)
{
    struct pattern none = {.kind = kind, .from_file = -1, .from_rank = -1}, pat = none;
    enum kind unsaid = kind == KIND_NONE ? KIND_PAWN : kind;
    int file = 0, rank = 0;
    size_t n = read_square(r, p, &file, &rank);

    reached(r, p);
    if (n != 0) {
        int had = r->patterns;

        pat.from_file = file;
        pat.from_rank = rank;
        reached(r, p + n);
        read_goal(r, p + n, pat);
        if (r->patterns > had)
            return; /* both squares are there: nothing else can be meant */
    }
    pat = none;
    pat.kind = unsaid;
    if (n == 0 && read_file(r, p, &file) != 0) {
        pat.from_file = file;
        read_goal(r, p + 1, pat);
    }
    pat = none;
    pat.kind = unsaid;
    n = read_rank(r, p, &rank);
    if (n != 0) {
        pat.from_rank = rank;
        read_goal(r, p + n, pat);
    }
    pat = none;
    pat.kind = unsaid;
    read_goal(r, p, pat);
}

static bool is_pawn_of_file(const struct pattern *pat)
{
    return pat->kind == KIND_PAWN && pat->from_file >= 0 && pat->from_rank < 0;
}

/* A pawn of a file whose letter may also be a man's: only to the files beside it. */
static void drop_far_pawns(struct reader *r, int from)
{
    int kept = from;

    for (int i = from; i < r->patterns; i++) {
        const struct pattern *pat = &r->pattern[i];
        int way = square_file(pat->to) - pat->from_file;

        if (is_pawn_of_file(pat) && kind_of_letter(to_capital(r->c[0])) != KIND_NONE &&
            way != 1 && way != -1)
            continue;
        r->pattern[kept++] = *pat;
    }
    r->patterns = kept;
}

static void read_patterns(struct reader *r)
{
    char first = r->c[0];
    enum kind kind = kind_of_letter(to_capital(first));
    bool is_small = first != to_capital(first);
    int had = 0;

    read_way(r, 0, KIND_NONE);
    drop_far_pawns(r, 0);
    had = r->patterns;
    if (kind != KIND_NONE && (!is_small || had == 0))
        read_way(r, 1, kind);
}

/* ---------------------------------------------------------------- reading: patterns to moves */

static bool kind_fits(enum kind said, enum kind there)
{
    if (said == KIND_NONE)
        return true;
    if (said == KIND_PAWN)
        return kind_is_pawn(there);
    return said == there;
}

static bool way_fits(const struct pattern *pat, const struct position *pos, int from)
{
    return kind_fits(pat->kind, man_kind(pos->men[from])) &&
           (pat->from_file < 0 || pat->from_file == square_file(from)) &&
           (pat->from_rank < 0 || pat->from_rank == square_rank(from));
}

/* Without a piece said, is it one of those promotions that need none? */
static bool promotion_fits(const struct pattern *pat, const struct position *pos, struct move m)
{
    if (pat->promotion != KIND_NONE || m.promotion == KIND_NONE)
        return pat->promotion == (enum kind)m.promotion;
    m.promotion = KIND_NONE;
    return position_judge_move(pos, m, NULL) == MOVE_LEGAL;
}

static enum kind move_victim(const struct position *pos, struct move m)
{
    return m.type == MOVE_EN_PASSANT ? KIND_PAWN : man_kind(pos->men[m.to]);
}

static bool capture_fits(const struct pattern *pat, const struct position *pos, struct move m)
{
    enum kind victim = move_victim(pos, m);

    if (pat->takes && victim == KIND_NONE)
        return false;
    return pat->victim == KIND_NONE || kind_fits(pat->victim, victim);
}

static bool move_is_before(struct move a, struct move b)
{
    if (a.from != b.from)
        return a.from < b.from;
    if (a.to != b.to)
        return a.to < b.to;
    return a.promotion < b.promotion;
}

static void add_candidate(struct move_reading *ret, struct move m)
{
    int n = ret->candidates < MOVE_CANDIDATES_MAX ? ret->candidates : MOVE_CANDIDATES_MAX, i = n;

    for (int k = 0; k < n; k++)
        if (move_is_same(ret->candidate[k], m))
            return;
    ret->candidates++;
    for (; i > 0 && move_is_before(m, ret->candidate[i - 1]); i--)
        if (i < MOVE_CANDIDATES_MAX)
            ret->candidate[i] = ret->candidate[i - 1];
    if (i < MOVE_CANDIDATES_MAX)
        ret->candidate[i] = m;
}

static enum read_verdict capture_verdict(const struct pattern *pat, const struct position *pos,
                                         struct move m, struct move_reading *ret)
{
    ret->move = m;
    ret->there = move_victim(pos, m);
    ret->kind = pat->victim;
    return ret->there == KIND_NONE ? READ_NO_CAPTURE : READ_WRONG_VICTIM;
}

/* Both squares are named. */
static enum read_verdict read_by_squares(const struct position *pos, const struct pattern *pat,
                                         struct move_reading *ret)
{
    int from = square_of(pat->from_file, pat->from_rank);
    uint8_t man = pos->men[from];
    struct move move = {.from = (uint8_t)from, .to = (uint8_t)pat->to,
                        .promotion = (uint8_t)pat->promotion};

    ret->from = from;
    ret->to = pat->to;
    ret->kind = pat->kind;
    if (man != MAN_NONE && man_seat(man) == (enum seat)pos->turn &&
        !kind_fits(pat->kind, man_kind(man))) {
        ret->there = man_kind(man);
        return READ_WRONG_MAN;
    }
    if (position_judge_move(pos, move, &ret->judgement) != MOVE_LEGAL)
        return READ_ILLEGAL;
    move = ret->judgement.move;
    if (!capture_fits(pat, pos, move))
        return capture_verdict(pat, pos, move, ret);
    ret->move = move;
    return READ_MOVE;
}

/* Does the verdict say that the man could go there at all, were it not for something else? */
static bool is_near_miss(enum move_verdict verdict)
{
    switch (verdict) {
    case MOVE_ONTO_OWN:
    case MOVE_NOT_ITS_WAY:
    case MOVE_WAY_BLOCKED:
    case MOVE_WAY_OFF_BOARD:
    case MOVE_WALL:
    case MOVE_KNIGHT_WALL:
    case MOVE_PAWN_BACKWARD:
    case MOVE_PAWN_NO_VICTIM:
    case MOVE_PAWN_NO_DOUBLE:
    case MOVE_PAWN_NO_LEAP:
        return false;
    default:
        return true;
    }
}

/* Nothing legal fits: which move was meant, if that can be said? */
static enum read_verdict read_miss(const struct position *pos, const struct pattern *pat,
                                   struct move_reading *ret)
{
    struct move_judgement best = {.code = MOVE_LEGAL}, only = {.code = MOVE_LEGAL};
    int men = 0, near = 0;

    ret->kind = pat->kind;
    ret->to = pat->to;
    if (!square_is_on_board(pos->variant.game, pat->to)) {
        ret->judgement = (struct move_judgement){
            .code = MOVE_TO_OFF_BOARD, .seat = (int)pos->turn, .other = -1, .kind = pat->kind,
            .square = pat->to, .by_square = SQUARE_NONE,
            .move = {.to = (uint8_t)pat->to}};
        return READ_ILLEGAL;
    }
    for (int from = 0; from < SQUARES; from++) {
        struct move m = {.from = (uint8_t)from, .to = (uint8_t)pat->to,
                         .promotion = (uint8_t)pat->promotion};
        struct move_judgement j;

        if (pos->men[from] == MAN_NONE || man_seat(pos->men[from]) != (enum seat)pos->turn ||
            !way_fits(pat, pos, from))
            continue;
        if (position_judge_move(pos, m, &j) == MOVE_LEGAL)
            continue; /* a pawn's capture that names no file */
        men++;
        only = j;
        if (is_near_miss(j.code)) {
            near++;
            best = j;
        }
    }
    if (near == 1 || men == 1) {
        ret->judgement = near == 1 ? best : only;
        ret->from = ret->judgement.move.from;
        return READ_ILLEGAL;
    }
    return READ_NONE;
}

/* One of the squares is not named: whatever legal moves fit. */
static enum read_verdict read_by_search(const struct position *pos, const struct reader *r,
                                        struct move_reading *ret)
{
    struct move_list moves;
    const struct pattern *false_claim = NULL;
    struct move claimed = {0};

    ret->candidates = 0;
    position_legal_moves(pos, &moves);
    for (int i = 0; i < moves.count; i++) {
        struct move m = moves.at[i];

        for (int k = 0; k < r->patterns; k++) {
            const struct pattern *pat = &r->pattern[k];

            if (pat->to != m.to || !way_fits(pat, pos, m.from) || !promotion_fits(pat, pos, m))
                continue;
            if (!capture_fits(pat, pos, m)) {
                false_claim = pat;
                claimed = m;
                continue;
            }
            if (pat->kind == KIND_PAWN && pat->from_file < 0 && pat->from_rank < 0 &&
                !pat->takes && move_takes(pos, m))
                continue;
            add_candidate(ret, m);
        }
    }
    if (ret->candidates == 1) {
        ret->move = ret->candidate[0];
        ret->kind = man_kind(pos->men[ret->move.from]);
        ret->from = ret->move.from;
        ret->to = ret->move.to;
        return READ_MOVE;
    }
    if (ret->candidates > 1) {
        ret->kind = r->pattern[0].kind;
        ret->to = r->pattern[0].to;
        return READ_SEVERAL;
    }
    if (false_claim != NULL)
        return capture_verdict(false_claim, pos, claimed, ret);
    return read_miss(pos, &r->pattern[0], ret);
}

/* O-O, O-O-O: 2 or 3, else 0. */
static int read_castling(const struct reader *r)
{
    int letters = 0;

    for (size_t i = 0; i < r->n; i++) {
        char c = r->c[i];

        if (c == 'O' || c == 'o' || c == '0')
            letters++;
        else if (c != '-' || i == 0 || i + 1 == r->n || r->c[i - 1] == '-')
            return 0;
    }
    return letters == 2 || letters == 3 ? letters : 0;
}

static enum read_verdict castle(const struct position *pos, bool left, struct move_reading *ret)
{
    struct castling c;
    enum seat turn = (enum seat)pos->turn;

    ret->kind = KIND_KING;
    if (position_is_over(pos) || !game_castling(pos->variant.game, turn, left, &c) ||
        pos->men[c.king_from] != man_of(turn, KIND_KING)) {
        ret->judgement = (struct move_judgement){
            .code = position_is_over(pos) ? MOVE_GAME_OVER : MOVE_NO_CASTLING, .seat = (int)turn,
            .other = -1, .kind = KIND_KING, .square = SQUARE_NONE, .by_square = SQUARE_NONE};
        return READ_ILLEGAL;
    }
    ret->from = c.king_from;
    ret->to = c.king_to;
    if (position_judge_move(pos, (struct move){.from = c.king_from, .to = c.king_to},
                            &ret->judgement) != MOVE_LEGAL)
        return READ_ILLEGAL;
    ret->move = ret->judgement.move;
    return READ_MOVE;
}

static bool has_both_squares(const struct reader *r)
{
    return r->patterns == 1 && r->pattern[0].from_file >= 0 && r->pattern[0].from_rank >= 0;
}

static enum read_verdict read_text(const struct position *pos, const char *text, size_t size,
                                   struct move_reading *ret)
{
    struct reader r;
    enum read_verdict verdict = reader_load(&r, text, size);
    int letters = 0;

    if (verdict != READ_MOVE)
        return verdict;
    letters = read_castling(&r);
    if (letters != 0)
        return castle(pos, letters == 3, ret);
    read_patterns(&r);
    if (r.patterns == 0) {
        r.fold = true;
        read_patterns(&r);
        if (r.patterns == 0) {
            ret->offset = r.at[r.furthest];
            return READ_NOT_A_MOVE;
        }
    }
    verdict = has_both_squares(&r) ? read_by_squares(pos, &r.pattern[0], ret)
                                   : read_by_search(pos, &r, ret);
    if (!r.fold && verdict != READ_MOVE && verdict != READ_SEVERAL && r.c[0] != to_small(r.c[0]) &&
        r.c[1] >= '1' && r.c[1] <= '9') {
        /* "B2B3", "B2b3": the capital may be a file that a telephone made large. */
        struct reader again = r;
        struct move_reading other = *ret;

        again.fold = true;
        again.patterns = 0;
        read_way(&again, 0, KIND_NONE);
        if (has_both_squares(&again) &&
            read_by_squares(pos, &again.pattern[0], &other) == READ_MOVE) {
            *ret = other;
            return READ_MOVE;
        }
    }
    return verdict;
}

enum read_verdict move_read(const struct position *pos, const char *text, size_t size,
                            struct move_reading *ret_reading)
{
    struct move_reading ret;

    memset(&ret, 0, sizeof ret);
    ret.from = ret.to = SQUARE_NONE;
    ret.code = read_text(pos, text, size, &ret);
    if (ret.code == READ_MOVE) {
        ret.candidates = 1;
        ret.candidate[0] = ret.move;
    } else if (ret.code != READ_SEVERAL) {
        ret.candidates = 0;
    }
    *ret_reading = ret;
    return ret.code;
}

const char *read_verdict_str(enum read_verdict verdict)
{
    static const char *const words[] = {"move",       "several",      "illegal",    "none",
                                        "wrong-man",  "no-capture",   "wrong-victim",
                                        "not-a-move", "empty",        "too-long"};

    assert((size_t)verdict < sizeof words / sizeof words[0]);
    return words[verdict];
}

static void write_a(struct line *line, enum kind kind)
{
    line_string(line, "a ");
    line_string(line, kind_name(kind));
}

size_t move_reading_sentence(const struct position *pos, const struct move_reading *reading,
                             char *text, size_t size)
{
    struct line line = line_start(text, size);
    const struct game *game = pos->variant.game;

    switch (reading->code) {
    case READ_MOVE:
        line_string(&line, "it means ");
        write_coordinate(&line, reading->move);
        break;
    case READ_SEVERAL:
        line_string(&line, "it could mean ");
        for (int i = 0; i < reading->candidates && i < MOVE_CANDIDATES_MAX; i++) {
            if (i > 0)
                line_string(&line, i + 1 == reading->candidates ? " or " : ", ");
            write_coordinate(&line, reading->candidate[i]);
        }
        if (reading->candidates > MOVE_CANDIDATES_MAX) {
            line_string(&line, " or ");
            line_number(&line, (uint64_t)(reading->candidates - MOVE_CANDIDATES_MAX));
            line_string(&line, " more");
        }
        break;
    case READ_ILLEGAL:
        return move_judgement_sentence(pos, &reading->judgement, text, size);
    case READ_NONE:
        line_string(&line, "no ");
        line_string(&line, reading->kind == KIND_NONE ? "man" : kind_name(reading->kind));
        line_string(&line, " of ");
        line_string(&line, seat_colour(game, (enum seat)pos->turn));
        line_string(&line, reading->kind == KIND_PAWN ? " that is meant so can go to "
                                                      : " can go to ");
        line_square(&line, reading->to);
        if (reading->kind == KIND_PAWN)
            line_string(&line, "; a pawn that takes names its file, as in exd5");
        break;
    case READ_WRONG_MAN:
        write_a(&line, reading->there);
        line_string(&line, " stands on ");
        line_square(&line, reading->from);
        line_string(&line, ", not ");
        write_a(&line, reading->kind);
        if (reading->kind == KIND_TURNED)
            line_string(&line, " that walks back");
        break;
    case READ_NO_CAPTURE:
        write_coordinate(&line, reading->move);
        line_string(&line, " takes nothing, though x is written");
        break;
    case READ_WRONG_VICTIM:
        write_coordinate(&line, reading->move);
        line_string(&line, " takes ");
        write_a(&line, reading->there);
        line_string(&line, ", not ");
        write_a(&line, reading->kind);
        break;
    case READ_NOT_A_MOVE:
        line_string(&line, "it cannot be read as a move: from character ");
        line_number(&line, (uint64_t)reading->offset + 1);
        line_string(&line, " on it fits nothing; write the two squares, as in e2e3");
        break;
    case READ_EMPTY:
        line_string(&line, "there is no move; write the two squares, as in e2e3");
        break;
    case READ_TOO_LONG:
        line_string(&line, "it is too long for a move; write the two squares, as in e2e3");
        break;
    }
    return line_end(&line);
}

/* ---------------------------------------------------------------- leaving */

/* The next word from *p on, its length; *p is moved behind it. */
static size_t next_word(const char *text, size_t size, size_t *p, const char **ret_word)
{
    size_t from;

    while (*p < size && is_blank(text[*p]))
        ++*p;
    from = *p;
    while (*p < size && !is_blank(text[*p]))
        ++*p;
    *ret_word = text + from;
    return *p - from;
}

static bool word_is(const char *word, size_t n, const char *wanted)
{
    for (size_t i = 0; i < n; i++)
        if (wanted[i] == '\0' || to_small(word[i]) != to_small(wanted[i]))
            return false;
    return wanted[n] == '\0';
}

enum leave_read_verdict leave_read(const struct position *pos, const char *text, size_t size,
                                   bool seat_needed, enum seat *ret_seat, enum leave_how *ret_how)
{
    const struct game *game = pos->variant.game;
    const char *word = NULL;
    size_t p = 0, n = next_word(text, size, &p, &word);
    enum leave_how how = LEAVE_RESIGN;

    if (word_is(word, n, "forfeit"))
        how = LEAVE_FORFEIT;
    else if (!word_is(word, n, "resign"))
        return LEAVE_READ_OTHER;
    n = next_word(text, size, &p, &word);
    if (n == 0) {
        if (seat_needed)
            return LEAVE_READ_NO_SEAT;
        *ret_seat = (enum seat)pos->turn;
        *ret_how = how;
        return LEAVE_READ_OK;
    }
    for (int seat = 0; seat < SEATS; seat++) {
        const char letter[2] = {seat_letter(game, (enum seat)seat), '\0'};
        const char *rest = NULL;

        if (!word_is(word, n, letter) && !word_is(word, n, seat_colour(game, (enum seat)seat)) &&
            !word_is(word, n, seat_name((enum seat)seat)))
            continue;
        if (next_word(text, size, &p, &rest) != 0)
            break;
        *ret_seat = (enum seat)seat;
        *ret_how = how;
        return LEAVE_READ_OK;
    }
    return LEAVE_READ_BAD_SEAT;
}
