/*
 * rules/judge.c - is a move legal, and if not, why not.
 *
 * The engine alone decides what is legal.  Only when a move is not among its moves is the reason
 * looked for, in the order in which a player would see it: whose man, how it goes, what is in the
 * way, what stands there, and last the kings.
 */
#include <assert.h>
#include <string.h>

#include "rules/engine.h"
#include "rules/game.h"
#include "rules/line.h"
#include "rules/state.h"

/* ---------------------------------------------------------------- reasons */

static enum move_verdict say(struct move_judgement *j, enum move_verdict code)
{
    j->code = code;
    return code;
}

/* The man on `square` is in the way. */
static enum move_verdict say_by(struct move_judgement *j, enum move_verdict code,
                                const struct position *pos, int square)
{
    uint8_t man = pos->men[square];

    j->by_square = square;
    j->by_kind = man_kind(man);
    j->other = man == MAN_NONE ? -1 : (int)man_seat(man);
    return say(j, code);
}

static int square_towards(int square, unsigned way)
{
    int file = square_file(square) + way_file[way], rank = square_rank(square) + way_rank[way];

    return file < 0 || file > 15 || rank < 0 || rank > 15 ? SQUARE_NONE : square_of(file, rank);
}

/* One step from `square`: MOVE_LEGAL, or a wall or the edge. */
static enum move_verdict step_verdict(const struct position *pos, struct move_judgement *j,
                                      int square, unsigned way)
{
    const struct game *game = pos->variant.game;
    int next = square_towards(square, way);

    if (next != SQUARE_NONE && board_has(&game->steps[square], next))
        return MOVE_LEGAL;
    j->by_square = next;
    if (!square_is_on_board(game, next))
        return say(j, MOVE_WAY_OFF_BOARD);
    j->square = square;
    return say(j, MOVE_WALL);
}

static enum move_verdict slide_verdict(const struct position *pos, struct move_judgement *j)
{
    enum kind kind = j->kind;
    int way = way_between(j->move.from, j->move.to), square = j->move.from;
    enum move_verdict verdict;

    if (way < 0 || (way % 2 == 0 ? kind == KIND_BISHOP : kind == KIND_ROOK))
        return say(j, MOVE_NOT_ITS_WAY);
    for (;;) {
        verdict = step_verdict(pos, j, square, (unsigned)way);
        if (verdict != MOVE_LEGAL)
            return verdict;
        square = square_towards(square, (unsigned)way);
        if (square == j->move.to)
            return MOVE_LEGAL;
        if (pos->men[square] != MAN_NONE)
            return say_by(j, MOVE_WAY_BLOCKED, pos, square);
    }
}

static enum move_verdict knight_verdict(const struct position *pos, struct move_judgement *j)
{
    int files = square_file(j->move.to) - square_file(j->move.from);
    int ranks = square_rank(j->move.to) - square_rank(j->move.from);

    if (files * files + ranks * ranks != 5)
        return say(j, MOVE_NOT_ITS_WAY);
    if (!board_has(&pos->variant.game->leaps[j->move.from], j->move.to))
        return say(j, MOVE_KNIGHT_WALL);
    return MOVE_LEGAL;
}

/* The first live enemy that attacks the square as the position stands; SQUARE_NONE if none. */
static int attacker_of(const struct position *pos, enum seat seat, int square)
{
    unsigned foes = seat_team(seat) == 0 ? 1u << SEAT_WEST | 1u << SEAT_EAST
                                         : 1u << SEAT_SOUTH | 1u << SEAT_NORTH;
    struct board men;

    position_attackers(pos, square, foes & pos->live, &men);
    return board_take(&men);
}

static enum move_verdict castling_verdict(const struct position *pos, struct move_judgement *j,
                                          unsigned left)
{
    enum seat seat = (enum seat)pos->turn;
    const struct castle *castle = &pos->variant.game->castle[seat][left];
    struct board path = castle->path;
    struct position without = *pos; /* the king, who shields nothing from himself */
    int square;

    if (!position_can_castle(pos, seat, left != 0))
        return say(j, MOVE_CASTLING_LOST);
    if (pos->men[castle->at.king_from] != man_of(seat, KIND_KING) ||
        pos->men[castle->at.rook_from] != man_of(seat, KIND_ROOK))
        return say(j, MOVE_CASTLING_LOST);
    while ((square = board_take(&path)) != SQUARE_NONE)
        if (pos->men[square] != MAN_NONE)
            return say_by(j, MOVE_CASTLING_BLOCKED, pos, square);
    square = attacker_of(pos, seat, castle->way[0]);
    if (square != SQUARE_NONE)
        return say_by(j, MOVE_CASTLING_IN_CHECK, pos, square);
    position_put(&without, castle->way[0], MAN_NONE);
    for (int i = 1; i < 3; i++) {
        square = attacker_of(&without, seat, castle->way[i]);
        if (square != SQUARE_NONE) {
            j->square = castle->way[i];
            return say_by(j, MOVE_CASTLING_THROUGH_CHECK, pos, square);
        }
    }
    assert(false && "castling is illegal for some reason");
    return say(j, MOVE_NOT_ITS_WAY);
}

static enum move_verdict king_verdict(const struct position *pos, struct move_judgement *j)
{
    const struct game *game = pos->variant.game;
    int from = j->move.from, to = j->move.to, way = way_between(from, to);
    int next;

    if (way < 0)
        return say(j, MOVE_NOT_ITS_WAY);
    next = square_towards(from, (unsigned)way);
    if (next == to)
        return step_verdict(pos, j, from, (unsigned)way);
    if (way % 2 != 0 || square_towards(next, (unsigned)way) != to)
        return say(j, MOVE_NOT_ITS_WAY);
    for (unsigned left = 0; left < 2 && game_has_castling(game); left++) {
        const struct castling *at = &game->castle[pos->turn][left].at;

        if (at->king_from == from && at->king_to == to)
            return castling_verdict(pos, j, left);
    }
    return say(j, MOVE_NO_CASTLING);
}

/* Two squares straight ahead. */
static enum move_verdict pawn_two_verdict(const struct position *pos, struct move_judgement *j,
                                          unsigned way, int next)
{
    const struct game *game = pos->variant.game;
    enum seat seat = (enum seat)pos->turn;
    enum move_verdict verdict;
    bool doubles = j->kind == KIND_PAWN && board_has(&game->double_from[seat], j->move.from);

    verdict = step_verdict(pos, j, j->move.from, way);
    if (verdict == MOVE_LEGAL)
        verdict = step_verdict(pos, j, next, way);
    if (verdict != MOVE_LEGAL)
        return verdict;
    if (game->table->pawn_leaps && pos->men[next] != MAN_NONE) {
        uint8_t man = pos->men[next];

        if (man_seat(man) != seat_partner(seat) || !kind_is_pawn(man_kind(man)))
            return say_by(j, MOVE_PAWN_NO_LEAP, pos, next);
    } else if (!doubles) {
        return say(j, MOVE_PAWN_NO_DOUBLE);
    } else if (pos->men[next] != MAN_NONE) {
        return say_by(j, MOVE_PAWN_BLOCKED, pos, next);
    }
    if (pos->men[j->move.to] != MAN_NONE)
        return say_by(j, MOVE_PAWN_BLOCKED, pos, j->move.to);
    return MOVE_LEGAL;
}

static bool is_passed_square(const struct position *pos, int square)
{
    for (unsigned foe = 0; foe < SEATS; foe++)
        if (seats_are_enemies((enum seat)pos->turn, (enum seat)foe) &&
            (pos->passed_by >> foe & 1u) != 0 && pos->passed[foe] == square)
            return true;
    return false;
}

/* Can the chance on that square be used at all: does the pawn still stand beyond it? */
static bool is_passed_alive(const struct position *pos, int square)
{
    for (unsigned foe = 0; foe < SEATS; foe++) {
        int beyond = square_towards(square, way_forward((enum seat)foe));

        if (seats_are_enemies((enum seat)pos->turn, (enum seat)foe) &&
            (pos->passed_by >> foe & 1u) != 0 && pos->passed[foe] == square &&
            beyond != SQUARE_NONE && pos->men[beyond] == man_of((enum seat)foe, KIND_PAWN))
            return true;
    }
    return false;
}

static enum move_verdict pawn_verdict(const struct position *pos, struct move_judgement *j)
{
    unsigned ahead = way_of_pawn((enum seat)pos->turn, j->kind == KIND_TURNED);
    int from = j->move.from, to = j->move.to, way = way_between(from, to);
    unsigned turn;
    enum move_verdict verdict;
    int next;

    if (way < 0)
        return say(j, MOVE_NOT_ITS_WAY);
    turn = ((unsigned)way - ahead) & 7u; /* 0 ahead, 1 and 7 its captures, 3 to 5 backward */
    next = square_towards(from, (unsigned)way);
    if (turn == 2 || turn == 6 ||
        (next != to && (turn % 2 == 1 || square_towards(next, (unsigned)way) != to)))
        return say(j, MOVE_NOT_ITS_WAY);
    if (turn >= 3 && turn <= 5)
        return say(j, MOVE_PAWN_BACKWARD);
    if (next != to)
        return pawn_two_verdict(pos, j, ahead, next);
    verdict = step_verdict(pos, j, from, (unsigned)way);
    if (verdict != MOVE_LEGAL)
        return verdict;
    if (turn == 0)
        return pos->men[to] == MAN_NONE ? MOVE_LEGAL : say_by(j, MOVE_PAWN_BLOCKED, pos, to);
    if (pos->men[to] == MAN_NONE && !is_passed_alive(pos, to))
        return say(j, is_passed_square(pos, to) ? MOVE_EN_PASSANT_GONE : MOVE_PAWN_NO_VICTIM);
    return MOVE_LEGAL;
}

/* What stands on the square of arrival. */
static enum move_verdict arrival_verdict(const struct position *pos, struct move_judgement *j)
{
    uint8_t man = pos->men[j->move.to];
    enum seat seat;

    if (man == MAN_NONE)
        return MOVE_LEGAL;
    seat = man_seat(man);
    j->square = j->move.to;
    j->other = (int)seat;
    j->kind = man_kind(man);
    if (seat == pos->turn)
        return say(j, MOVE_ONTO_OWN);
    if (seat == seat_partner((enum seat)pos->turn))
        return say(j, MOVE_ONTO_PARTNER);
    if (man_kind(man) == KIND_KING)
        return say(j, MOVE_ONTO_KING);
    if (pos->condition[seat] == CONDITION_ABSENT)
        return say(j, MOVE_ONTO_ABSENT);
    if (pos->condition[seat] == CONDITION_MATED && pos->variant.inert != INERT_CAPTURABLE)
        return say(j, MOVE_ONTO_MATED);
    j->square = SQUARE_NONE;
    j->other = -1;
    j->kind = man_kind(pos->men[j->move.from]);
    return MOVE_LEGAL;
}

/* The type of a move that only the kings or R-V14 can forbid. */
static enum move_type type_of(const struct position *pos, const struct move_judgement *j)
{
    int from = j->move.from, to = j->move.to;

    if (!kind_is_pawn(j->kind))
        return MOVE_PLAIN;
    if (way_between(from, to) % 2 == 1)
        return pos->men[to] == MAN_NONE ? MOVE_EN_PASSANT : MOVE_PLAIN;
    if (square_towards(from, (unsigned)way_between(from, to)) == to)
        return MOVE_PLAIN;
    return pos->variant.game->table->pawn_leaps ? MOVE_LEAP : MOVE_DOUBLE;
}

static void board_keep(struct board *board, const struct board *other)
{
    for (int i = 0; i < 4; i++)
        board->word[i] &= other->word[i];
}

/* R-C3, R-V5, R-V14, R-V18: looks at the position after the move. */
static enum move_verdict kings_verdict(const struct position *pos, struct move_judgement *j)
{
    enum seat seat = (enum seat)pos->turn, partner = seat_partner(seat);
    struct position after = *pos;
    struct board men, before;
    struct undo undo;
    int square;

    j->move.type = (uint8_t)type_of(pos, j);
    engine()->make(&after, (struct move){j->move.from, j->move.to, KIND_NONE, j->move.type}, &undo);
    if (position_checkers(&after, seat, &men) != 0) {
        position_checkers(pos, seat, &before);
        board_keep(&before, &men);
        j->square = after.king[seat];
        square = board_take(j->kind == KIND_KING || board_is_empty(&before) ? &men : &before);
        if (j->kind == KIND_KING)
            return say_by(j, MOVE_KING_INTO_CHECK, &after, square);
        return say_by(j, board_has(&men, square) ? MOVE_LEAVES_CHECK : MOVE_OPENS_CHECK, &after,
                      square);
    }
    position_checkers(&after, partner, &men);
    position_checkers(pos, partner, &before);
    if (!pos->variant.game->table->shields_partner || (pos->live >> partner & 1u) == 0)
        men = (struct board){{0}};
    while ((square = board_take(&men)) != SQUARE_NONE) {
        if (board_has(&before, square))
            continue;
        j->square = after.king[partner];
        return say_by(j, MOVE_OPENS_PARTNER_CHECK, &after, square);
    }
    if (undo.captured != MAN_NONE && pos->condition[man_seat(undo.captured)] == CONDITION_MATED) {
        j->other = (int)man_seat(undo.captured);
        j->square = j->move.to;
        j->kind = man_kind(undo.captured);
        return say(j, MOVE_WOULD_RELEASE);
    }
    assert(false && "the move is illegal for some reason");
    return say(j, MOVE_NOT_ITS_WAY);
}

static enum move_verdict explain(const struct position *pos, struct move_judgement *j)
{
    const struct game *game = pos->variant.game;
    uint8_t man = pos->men[j->move.from];
    enum move_verdict verdict = MOVE_LEGAL;

    if (!square_is_on_board(game, j->move.from)) {
        j->square = j->move.from;
        return say(j, MOVE_FROM_OFF_BOARD);
    }
    if (!square_is_on_board(game, j->move.to)) {
        j->square = j->move.to;
        return say(j, MOVE_TO_OFF_BOARD);
    }
    if (man == MAN_NONE) {
        j->square = j->move.from;
        return say(j, MOVE_FROM_EMPTY);
    }
    j->kind = man_kind(man);
    if (man_seat(man) != pos->turn) {
        j->other = (int)man_seat(man);
        return say(j, (pos->live >> man_seat(man) & 1u) != 0 ? MOVE_NOT_YOUR_TURN : MOVE_MAN_INERT);
    }
    if ((pos->live >> pos->turn & 1u) == 0) {
        j->other = pos->turn;
        return say(j, MOVE_MAN_INERT);
    }
    if (j->move.from == j->move.to)
        return say(j, MOVE_NOWHERE);
    switch (j->kind) {
    case KIND_KING:
        verdict = king_verdict(pos, j);
        break;
    case KIND_QUEEN:
    case KIND_ROOK:
    case KIND_BISHOP:
        verdict = slide_verdict(pos, j);
        break;
    case KIND_KNIGHT:
        verdict = knight_verdict(pos, j);
        break;
    case KIND_PAWN:
    case KIND_TURNED:
        verdict = pawn_verdict(pos, j);
        break;
    case KIND_NONE:
    case KINDS:
        break;
    }
    if (verdict == MOVE_LEGAL)
        verdict = arrival_verdict(pos, j);
    if (verdict == MOVE_LEGAL)
        verdict = kings_verdict(pos, j);
    return verdict;
}

enum move_verdict position_judge_move(const struct position *pos, struct move move,
                                      struct move_judgement *ret_judgement)
{
    struct move_judgement j = {.code = MOVE_LEGAL,
                               .move = move,
                               .seat = pos->turn,
                               .other = -1,
                               .square = SQUARE_NONE,
                               .by_square = SQUARE_NONE};
    struct move_list moves;
    bool found = false, promotes = false;

    if (position_is_over(pos)) {
        say(&j, MOVE_GAME_OVER);
        goto out;
    }
    position_legal_moves(pos, &moves);
    for (int i = 0; i < moves.count; i++) {
        if (moves.at[i].from != move.from || moves.at[i].to != move.to)
            continue;
        j.kind = man_kind(pos->men[move.from]);
        found = true;
        promotes = moves.at[i].promotion != KIND_NONE;
        if (moves.at[i].promotion == move.promotion ||
            (promotes && move.promotion == KIND_NONE && variant_choices(&pos->variant) == 1)) {
            j.move = moves.at[i];
            goto out;
        }
    }
    if (!found)
        explain(pos, &j);
    else if (!promotes)
        say(&j, MOVE_PROMOTION_NONE);
    else
        say(&j, move.promotion == KIND_NONE ? MOVE_PROMOTION_MISSING : MOVE_PROMOTION_BAD);
out:
    if (ret_judgement != NULL)
        *ret_judgement = j;
    return j.code;
}

/* ---------------------------------------------------------------- words */

const char *move_verdict_str(enum move_verdict verdict)
{
    static const char *const strings[] = {
        [MOVE_LEGAL] = "legal",
        [MOVE_GAME_OVER] = "game-over",
        [MOVE_FROM_OFF_BOARD] = "from-off-board",
        [MOVE_TO_OFF_BOARD] = "to-off-board",
        [MOVE_FROM_EMPTY] = "from-empty",
        [MOVE_NOT_YOUR_TURN] = "not-your-turn",
        [MOVE_MAN_INERT] = "man-inert",
        [MOVE_NOWHERE] = "nowhere",
        [MOVE_ONTO_OWN] = "onto-own",
        [MOVE_ONTO_PARTNER] = "onto-partner",
        [MOVE_ONTO_KING] = "onto-king",
        [MOVE_ONTO_MATED] = "onto-mated",
        [MOVE_ONTO_ABSENT] = "onto-absent",
        [MOVE_WOULD_RELEASE] = "would-release",
        [MOVE_NOT_ITS_WAY] = "not-its-way",
        [MOVE_WAY_BLOCKED] = "way-blocked",
        [MOVE_WAY_OFF_BOARD] = "way-off-board",
        [MOVE_WALL] = "wall",
        [MOVE_KNIGHT_WALL] = "knight-wall",
        [MOVE_PAWN_BACKWARD] = "pawn-backward",
        [MOVE_PAWN_BLOCKED] = "pawn-blocked",
        [MOVE_PAWN_NO_VICTIM] = "pawn-no-victim",
        [MOVE_PAWN_NO_DOUBLE] = "pawn-no-double",
        [MOVE_PAWN_NO_LEAP] = "pawn-no-leap",
        [MOVE_EN_PASSANT_GONE] = "en-passant-gone",
        [MOVE_NO_CASTLING] = "no-castling",
        [MOVE_CASTLING_LOST] = "castling-lost",
        [MOVE_CASTLING_BLOCKED] = "castling-blocked",
        [MOVE_CASTLING_IN_CHECK] = "castling-in-check",
        [MOVE_CASTLING_THROUGH_CHECK] = "castling-through-check",
        [MOVE_KING_INTO_CHECK] = "king-into-check",
        [MOVE_LEAVES_CHECK] = "leaves-check",
        [MOVE_OPENS_CHECK] = "opens-check",
        [MOVE_OPENS_PARTNER_CHECK] = "opens-partner-check",
        [MOVE_PROMOTION_MISSING] = "promotion-missing",
        [MOVE_PROMOTION_NONE] = "promotion-none",
        [MOVE_PROMOTION_BAD] = "promotion-bad",
    };

    return strings[verdict];
}

/* The sentences: words stand for themselves; % and a letter for what the judgement says:
 * %f %t the squares of the move, %k kind, %s square, %K by_kind, %S by_square, %T colour on turn,
 * %O colour of other. */
static const char *const sentences[] = {
    [MOVE_LEGAL] = "is legal",
    [MOVE_GAME_OVER] = "the game is over",
    [MOVE_FROM_OFF_BOARD] = "%s is not on the board",
    [MOVE_TO_OFF_BOARD] = "%s is not on the board",
    [MOVE_FROM_EMPTY] = "there is no man on %s",
    [MOVE_NOT_YOUR_TURN] = "it is %T's turn, and the %k on %f is %O's",
    [MOVE_MAN_INERT] = "the %k on %f belongs to %O, whose army is out of play",
    [MOVE_NOWHERE] = "the %k would stay where it is",
    [MOVE_ONTO_OWN] = "your own %k stands on %s",
    [MOVE_ONTO_PARTNER] = "your partner's %k stands on %s",
    [MOVE_ONTO_KING] = "%O's king stands on %s, and a king is never captured",
    [MOVE_ONTO_MATED] = "the %k on %s belongs to a mated army and cannot be captured",
    [MOVE_ONTO_ABSENT] = "the %k on %s belongs to an army that has left and cannot be captured",
    [MOVE_WOULD_RELEASE] = "capturing the %k on %s would release %O's mated army",
    [MOVE_NOT_ITS_WAY] = "a %k does not go from %f to %t",
    [MOVE_WAY_BLOCKED] = "the %K on %S stands in the way",
    [MOVE_WAY_OFF_BOARD] = "the way from %f to %t leaves the board",
    [MOVE_WALL] = "a wall stands between %s and %S",
    [MOVE_KNIGHT_WALL] = "a wall bars the knight's leap from %f to %t",
    [MOVE_PAWN_BACKWARD] = "that pawn walks the other way",
    [MOVE_PAWN_BLOCKED] = "the %K on %S blocks the pawn",
    [MOVE_PAWN_NO_VICTIM] =
        "there is nothing to capture on %t, and a pawn goes diagonally only to capture",
    [MOVE_PAWN_NO_DOUBLE] = "the pawn on %f moves one square only",
    [MOVE_PAWN_NO_LEAP] = "a pawn leaps only a pawn of its partner",
    [MOVE_EN_PASSANT_GONE] = "the pawn that passed %t no longer stands beyond it",
    [MOVE_NO_CASTLING] = "the king moves one square, and there is no castling here",
    [MOVE_CASTLING_LOST] = "the king or that rook has moved, so this castling is lost",
    [MOVE_CASTLING_BLOCKED] = "the %K on %S stands between king and rook",
    [MOVE_CASTLING_IN_CHECK] = "the king is in check from the %K on %S and cannot castle",
    [MOVE_CASTLING_THROUGH_CHECK] = "castling takes the king over %s, which the %K on %S attacks",
    [MOVE_KING_INTO_CHECK] = "puts your king in check from the %K on %S",
    [MOVE_LEAVES_CHECK] = "leaves your king in check from the %K on %S",
    [MOVE_OPENS_CHECK] = "opens a check on your king from the %K on %S",
    [MOVE_OPENS_PARTNER_CHECK] = "opens a check on your partner's king from the %K on %S",
    [MOVE_PROMOTION_MISSING] = "say which piece the pawn becomes on %t: q, r, b or n",
    [MOVE_PROMOTION_NONE] = "nothing is promoted by going from %f to %t",
    [MOVE_PROMOTION_BAD] = "the pawn on %t cannot become that",
};

static void line_field(struct line *line, const struct position *pos,
                       const struct move_judgement *j, char field)
{
    const struct game *game = pos->variant.game;

    switch (field) {
    case 'f':
        line_square(line, j->move.from);
        break;
    case 't':
        line_square(line, j->move.to);
        break;
    case 'k':
        line_string(line, kind_name(j->kind));
        break;
    case 'K':
        line_string(line, kind_name(j->by_kind));
        break;
    case 's':
        line_square(line, j->square);
        break;
    case 'S':
        line_square(line, j->by_square);
        break;
    case 'T':
        line_string(line, seat_colour(game, (enum seat)j->seat));
        break;
    default:
        assert(field == 'O' && j->other >= 0);
        line_string(line, seat_colour(game, (enum seat)j->other));
        break;
    }
}

size_t move_judgement_sentence(const struct position *pos,
                               const struct move_judgement *judgement, char *text, size_t size)
{
    struct line line = line_start(text, size);

    for (const char *at = sentences[judgement->code]; *at != '\0'; at++) {
        if (*at == '%')
            line_field(&line, pos, judgement, *++at);
        else
            line_char(&line, *at);
    }
    return line_end(&line);
}
