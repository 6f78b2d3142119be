#include "support/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "intake/grammar.h"

enum { LINES = 400 };

static struct grammar g;

/* Reads a text whose lines are parted by \n. */
static enum grammar_fault read_with(const char *text,
                                    enum grammar_fault (*fn)(const struct grammar_line *, size_t,
                                                             struct grammar *))
{
    static char copy[16384];
    static struct grammar_line lines[LINES];
    size_t n = 0;
    char *at = copy;

    assert_true(str_copy(copy, sizeof copy, text));
    while (at && n < LINES) {
        char *end = strchr(at, '\n');

        if (end)
            *end = '\0';
        lines[n] = (struct grammar_line){.text = at, .number = (int)n + 1};
        n++;
        at = end ? end + 1 : NULL;
    }
    return fn(lines, n, &g);
}

static enum grammar_fault read(const char *text)
{
    return read_with(text, grammar_read);
}

/* The commands' words, joined by blanks: "move draw offer". */
static const char *kinds(void)
{
    static char text[1024];

    text[0] = '\0';
    for (size_t i = 0; i < g.n; i++) {
        if (i > 0)
            strcat(text, " ");
        strcat(text, command_word(g.commands[i].kind));
    }
    return text;
}

static void test_each_command_in_each_form(void **state)
{
    static const struct {
        const char *line, *word, *text;
        int square;
    } rows[] = {
        {"resign", "resign", "", -1},
        {"RESIGN", "resign", "", -1},
        {"  Resign.  ", "resign", "", -1},
        {"**resign**", "resign", "", -1},
        {"\"resign\"", "resign", "", -1},
        {"draw", "draw offer", "", -1},
        {"Draw!", "draw offer", "", -1},
        {"draw offer", "draw offer", "", -1},
        {"offer draw", "draw offer", "", -1},
        {"draw accept", "draw accept", "", -1},
        {"accept  draw", "draw accept", "", -1},
        {"draw decline", "draw decline", "", -1},
        {"claim draw", "claim draw", "", -1},
        {"claim", "claim draw", "", -1},
        {"draw claim", "claim draw", "", -1},
        {"undo", "undo", "", -1},
        {"accept", "accept", "", -1},
        {"decline", "decline", "", -1},
        {"confirm", "confirm", "", -1},
        {"board", "board", "", -1},
        {"moves", "moves", "", -1},
        {"moves E2", "moves", "", 16 + 4},
        {"m", "moves", "", -1},
        {"m e2", "moves", "", 16 + 4},
        {"status", "status", "", -1},
        {"games", "games", "", -1},
        {"why", "why", "", -1},
        {"spoken", "spoken", "", -1},
        {"clocks", "clocks", "", -1},
        {"c", "clocks", "", -1},
        {"C", "clocks", "", -1},
        {"last", "last", "", -1},
        {"l", "last", "", -1},
        {"opponents", "opponents", "", -1},
        {"o", "opponents", "", -1},
        {"pieces", "pieces", "", -1},
        {"pieces Red", "pieces", "Red", -1},
        {"p", "pieces", "", -1},
        {"p y", "pieces", "y", -1},
        {"square p16", "square", "", 15 * 16 + 15},
        {"s e4", "square", "", 3 * 16 + 4},
        {"s 4", "square", "4", -1},
        {"s E", "square", "e", -1},
        {"resend", "resend", "", -1},
        {"help", "help", "", -1},
        {"why?", "why", "", -1},
        {"Why ?", "why", "", -1},
        {"moves e2?", "moves", "", 16 + 4},
        {"pieces red?", "pieces", "red", -1},
        {"pieces красные", "pieces", "красные", -1},
        {"pieces roșu", "pieces", "roșu", -1},
        {"help draw", "help", "draw", -1},
        {"?", "help", "", -1},
        {"note", "note", "", -1},
        {"e2-e4", "move", "e2-e4", -1},
        {"e2 e4", "move", "e2 e4", -1},
        {"E2-E4", "move", "E2-E4", -1},
        {"Nf3", "move", "Nf3", -1},
        {"exd4", "move", "exd4", -1},
        {"N1f3+", "move", "N1f3+", -1},
        {"Qg1xQn8+", "move", "Qg1xQn8+", -1},
        {"O-O", "move", "O-O", -1},
        {"0-0-0", "move", "0-0-0", -1},
        {"oo", "move", "oo", -1},
        {"k13l14q", "move", "k13l14q", -1},
        {"k13-l14=Q", "move", "k13-l14=Q", -1},
        {"kxl14(Q)", "move", "kxl14(Q)", -1},
        {"exd6 e.p.", "move", "exd6 e.p.", -1},
        {"exd6 e.  p.", "move", "exd6 e.  p.", -1},
        {"e2-e4.", "move", "e2-e4", -1}, /* P33 */
        {"12. Nf3.", "move", "Nf3", -1},
        {"k13-l14=Q+.", "move", "k13-l14=Q+", -1},
        {"b4", "move", "b4", -1},
        {"e2–e4", "move", "e2–e4", -1},
        {"e2−e4!?", "move", "e2−e4!?", -1},
        {"Rd4×d8", "move", "Rd4×d8", -1},
        /* a letter of U2 where it can be a pawn's move is that */
        {"m n4", "move", "m n4", -1},
        {"m l12", "move", "m l12", -1},
        {"p e4", "move", "p e4", -1},
        {"c d4", "move", "c d4", -1},
        {"o o", "move", "o o", -1},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (read(rows[i].line) != GRAMMAR_NONE || strcmp(kinds(), rows[i].word) != 0)
            fail_msg("%s: %s, %s", rows[i].line, grammar_fault_slug(g.fault), kinds());
        assert_string_equal(g.commands[0].text, rows[i].text);
        if (g.commands[0].square != rows[i].square)
            fail_msg("%s: square %d", rows[i].line, g.commands[0].square);
        assert_int_equal(g.commands[0].line, 1);
    }
}

static void test_a_move_may_have_its_number(void **state)
{
    static const struct {
        const char *line, *move;
        int number;
    } rows[] = {{"12. Rd4-d8", "Rd4-d8", 12}, {"12.Rd4-d8", "Rd4-d8", 12},
                {"12... e5", "e5", 12},       {"1. e2-e4", "e2-e4", 1},
                {"1234. O-O", "O-O", 1234}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_int_equal(read(rows[i].line), GRAMMAR_NONE);
        assert_int_equal(g.commands[0].kind, COMMAND_MOVE);
        assert_string_equal(g.commands[0].text, rows[i].move);
        assert_int_equal(g.commands[0].number, rows[i].number);
    }
    assert_int_equal(read("12."), GRAMMAR_UNKNOWN);
    assert_int_equal(read("0. e4"), GRAMMAR_UNKNOWN);
    assert_int_equal(read("12. resign"), GRAMMAR_UNKNOWN);
}

static void test_words_are_not_moves(void **state)
{
    static const char *const words[] = {
        "Hello",  "Anna",     "Dear server", "a",      "e",   "42",     "e4 is best", "I resign",
        "Area51", "thanks",   "Best",        "N",      "x",   "=",      "(=)",        "-a",
        "draws",  "resigned", "e2-e4-e5-e6", "o-o-o-o", "0-", "2026-12-03"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        if (read(words[i]) != GRAMMAR_UNKNOWN)
            fail_msg("%s: %s, %s", words[i], grammar_fault_slug(g.fault), kinds());
        assert_false(grammar_is_move(words[i]));
    }
}

static void test_a_seat_may_follow_resign_and_undo(void **state)
{
    static const char *const seats[] = {"south", "West", "NORTH", "east."};
    char text[64];

    (void)state;
    for (int i = 0; i < 4; i++)
        for (int is_undo = 0; is_undo < 2; is_undo++) {
            (void)snprintf(text, sizeof text, "%s %s", is_undo ? "Undo" : "resign", seats[i]);
            assert_int_equal(read(text), GRAMMAR_NONE);
            assert_int_equal(g.commands[0].kind, is_undo ? COMMAND_UNDO : COMMAND_RESIGN);
            assert_int_equal(g.commands[0].seat, i);
        }
    assert_int_equal(read("undo\nresign"), GRAMMAR_NONE);
    assert_int_equal(g.commands[0].seat, -1);
    assert_int_equal(g.commands[1].seat, -1);
}

static void test_games_are_named_by_their_ids(void **state)
{
    static const struct {
        const char *line;
        enum command_kind kind;
        const char *text;
        int seat;
    } rows[] = {{"join 7k2mq0xd", COMMAND_JOIN, "7k2mq0xd", -1},
                {"Join 7K2MQ0XD North.", COMMAND_JOIN, "7k2mq0xd", 2},
                {"leave", COMMAND_LEAVE, "", -1},
                {"leave east", COMMAND_LEAVE, "", 3},
                {"leave 7k2mq0xd", COMMAND_LEAVE, "7k2mq0xd", -1},
                {"leave 7k2mq0xd south", COMMAND_LEAVE, "7k2mq0xd", 0},
                {"status 7k2mq0xd", COMMAND_STATUS, "7k2mq0xd", -1},
                {"board 7k2mq0xd", COMMAND_BOARD, "7k2mq0xd", -1},
                {"join [7k2mq0xd] east", COMMAND_JOIN, "7k2mq0xd", 3}}; /* as in subjects */

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_int_equal(read(rows[i].line), GRAMMAR_NONE);
        assert_int_equal(g.commands[0].kind, rows[i].kind);
        assert_string_equal(g.commands[0].text, rows[i].text);
        assert_int_equal(g.commands[0].seat, rows[i].seat);
    }
    /* What people write below their moves is none of these. */
    assert_int_equal(read("e2-e4\n\nLeave tomorrow"), GRAMMAR_NONE);
    assert_int_equal(g.n, 1);
    assert_int_equal(read("e2-e4\n\nJoin us on Sunday!"), GRAMMAR_NONE);
    assert_int_equal(g.n, 1);
}

static void test_arguments_that_cannot_be_name_the_command(void **state)
{
    static const struct {
        const char *line;
        enum command_kind kind;
    } rows[] = {{"resign now", COMMAND_RESIGN},         {"draw perhaps", COMMAND_DRAW_OFFER},
                {"claim victory", COMMAND_CLAIM_DRAW},  {"place R p4 N n3", COMMAND_PLACE},
                {"place R p4 N n3 R o1", COMMAND_PLACE}, {"place", COMMAND_PLACE},
                {"place R p4 N n3 B", COMMAND_PLACE},   {"place R z9 N n3 B o1", COMMAND_PLACE},
                {"seat south", COMMAND_SEAT},           {"seat left anna", COMMAND_SEAT},
                {"create", COMMAND_CREATE},             {"create days=3", COMMAND_CREATE},
                {"create verney days=x", COMMAND_CREATE},
                {"create verney fast", COMMAND_CREATE}, {"moves along", COMMAND_MOVES},
                {"square 17", COMMAND_SQUARE},          {"square", COMMAND_SQUARE},
                {"pieces 4", COMMAND_PIECES},           {"undo that", COMMAND_UNDO},
                {"join", COMMAND_JOIN},                 {"join north", COMMAND_JOIN},
                {"join 7k2mq0x", COMMAND_JOIN},         {"join 7k2mq0xdd", COMMAND_JOIN},
                {"join 7k2mq0xo", COMMAND_JOIN},        {"join 7k2mq0xd up", COMMAND_JOIN},
                {"leave now", COMMAND_LEAVE},           {"leave north 7k2mq0xd", COMMAND_LEAVE},
                {"status quo", COMMAND_STATUS},         {"status 7k2mq0xd north", COMMAND_STATUS},
                {"undo south north", COMMAND_UNDO},     {"resign e4", COMMAND_RESIGN},
                {"board games are fun", COMMAND_BOARD}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (read(rows[i].line) != GRAMMAR_ARGUMENT || g.fault_command != rows[i].kind)
            fail_msg("%s: %s", rows[i].line, grammar_fault_slug(g.fault));
        assert_int_equal(g.fault_line, 1);
        assert_int_equal(g.n, 0);
    }
}

/* Which word is wrong, what could stand there, and what was meant perhaps. */
static void test_the_word_that_is_wrong_is_named(void **state)
{
    static const struct {
        const char *line, *word;
        enum grammar_want want;
        const char *guess;
    } rows[] = {
        {"create verney privat", "privat", WANT_OPTION, "create verney private"},
        {"create verney ratd days=3", "ratd", WANT_OPTION, "create verney rated days=3"},
        {"create verney fast", "fast", WANT_OPTION, ""},
        {"create verny", "verny", WANT_VARIANT, "create verney"},
        {"create a verney game", "a", WANT_VARIANT, "create verney"},
        {"create new verney private", "new", WANT_VARIANT, "create verney private"},
        {"create verney days = 7", "days", WANT_OPTION, "create verney days=7"},
        {"create verney days =7 rated", "days", WANT_OPTION, "create verney days=7 rated"},
        {"create verney days 7", "days", WANT_OPTION, "create verney days=7"},
        {"create verney 7 days", "7", WANT_OPTION, "create verney days=7"},
        {"create verney days:7", "days:7", WANT_OPTION, "create verney days=7"},
        {"create verney inert = capturable", "inert", WANT_OPTION,
         "create verney inert=capturable"},
        {"create verney 7", "7", WANT_OPTION, ""},
        {"seat south = me", "=", WANT_PLAYER, "seat south me"},
        {"create verney days=x", "days=x", WANT_DAYS, ""},
        {"create verney days=3 days=4", "days=4", WANT_DAYS, ""},
        {"create", "", WANT_VARIANT, ""},
        {"create inert=safe", "inert=safe", WANT_VARIANT, ""},
        {"create days=3", "", WANT_VARIANT, ""},
        {"seat norht me", "norht", WANT_SEAT, "seat north me"},
        {"seat Nord anna", "Nord", WANT_SEAT, "seat north anna"},
        {"seat Север me", "Север", WANT_SEAT, "seat north me"},
        {"seat left anna", "left", WANT_SEAT, ""},
        {"seat", "", WANT_SEAT, ""},
        {"seat south", "", WANT_PLAYER, ""},
        {"seat south anna boris", "boris", WANT_NOTHING, "seat south anna"},
        {"join 7k2mq0xd nord", "nord", WANT_SEAT, "join 7k2mq0xd north"},
        {"join 7k2mq0xd norht", "norht", WANT_SEAT, "join 7k2mq0xd north"},
        {"join 7k2mq0xd north now", "now", WANT_NOTHING, "join 7k2mq0xd north"},
        {"join north", "north", WANT_GAME, ""},
        {"join 7k2mq0x", "7k2mq0x", WANT_GAME, ""},
        {"join", "", WANT_GAME, ""},
        {"leave eats", "eats", WANT_GAME_OR_SEAT, "leave east"},
        {"leave 7k2mq0xd up", "up", WANT_SEAT, "leave 7k2mq0xd"},
        {"board foo", "foo", WANT_GAME, "board"},
        {"status quo", "quo", WANT_GAME, "status"},
        {"status 7k2mq0xd north", "north", WANT_NOTHING, "status 7k2mq0xd"},
        {"moves zz9", "zz9", WANT_SQUARE, "moves"},
        {"moves e2 e4", "e4", WANT_NOTHING, "moves e2"},
        {"square", "", WANT_LINE, ""},
        {"square 17", "17", WANT_LINE, ""},
        {"square e4 e5", "e5", WANT_NOTHING, "square e4"},
        {"pieces 4", "4", WANT_COLOUR, "pieces"},
        {"resign norht", "norht", WANT_SEAT, "resign north"},
        {"resign now", "now", WANT_SEAT, "resign"},
        {"undo south north", "north", WANT_NOTHING, "undo south"},
        {"draw foo", "foo", WANT_DRAW_ACT, "draw"},
        {"draw acept", "acept", WANT_DRAW_ACT, "draw accept"},
        {"draw accept please", "please", WANT_NOTHING, "draw accept"},
        {"accept foo", "foo", WANT_DRAW, "accept"},
        {"decline drew", "drew", WANT_DRAW, "decline draw"},
        {"claim victory", "victory", WANT_DRAW, "claim"},
        {"offer", "", WANT_DRAW, ""},
        {"offer a draw", "a", WANT_DRAW, "offer draw"},
        {"moves of e2", "of", WANT_SQUARE, "moves e2"},
        {"draw yes", "yes", WANT_DRAW_ACT, "draw accept"},
        {"place", "", WANT_MAN, ""},
        {"place R p4 N n3", "", WANT_MAN, ""},
        {"place R p4 N n3 B", "", WANT_SQUARE, ""},
        {"place R z9 N n3 B o1", "z9", WANT_SQUARE, ""},
        {"place R p4 N n3 R o1", "R", WANT_MAN, ""},
        {"place R p4 N n3 B o1 Q o2", "Q", WANT_NOTHING, "place R p4 N n3 B o1"},
        {"games please", "please", WANT_NOTHING, "games"},
        {"why not", "not", WANT_NOTHING, "why"},
        {"confirm that", "that", WANT_NOTHING, "confirm"},
        {"help me with this", "this", WANT_NOTHING, "help me with"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (read(rows[i].line) != GRAMMAR_ARGUMENT || strcmp(g.fault_word, rows[i].word) != 0 ||
            g.fault_want != rows[i].want || strcmp(g.guess, rows[i].guess) != 0)
            fail_msg("%s: %s, word \"%s\", want %s, guess \"%s\"", rows[i].line,
                     grammar_fault_slug(g.fault), g.fault_word, grammar_want_slug(g.fault_want),
                     g.guess);
    }
    /* Nothing is left behind of what turned out to be prose. */
    assert_int_equal(read("e2-e4\n\nboard\nboard games"), GRAMMAR_NONE);
    assert_string_equal(g.fault_word, "");
    assert_string_equal(g.guess, "");
}

/* A comma behind a word says nothing. */
static void test_commas_part_words(void **state)
{
    (void)state;
    assert_int_equal(read("create verney, days=3, private"), GRAMMAR_NONE);
    assert_string_equal(g.commands[0].text, "verney");
    assert_int_equal(g.commands[0].create.days, 3);
    assert_int_equal(read("create private days=3 teams"), GRAMMAR_NONE); /* in any order */
    assert_string_equal(g.commands[0].text, "teams");
    assert_int_equal(g.commands[0].create.days, 3);
    assert_int_equal(read("seat south \"anna\""), GRAMMAR_NONE);
    assert_string_equal(g.commands[0].text, "anna");
    assert_int_equal(read("seat south, me"), GRAMMAR_NONE);
    assert_int_equal(g.commands[0].seat, 0);
}

/* What is no command may be one in another language, or behind a word of courtesy. */
static void test_a_guess_knows_other_languages_and_courtesy(void **state)
{
    static const struct {
        const char *line, *guess;
    } rows[] = {
        {"Сдаюсь", "resign"},
        {"СДАЮСЬ!", "resign"},
        {"ничья", "draw"},
        {"помощь", "help"},
        {"ходы e2", "moves e2"},
        {"Рокировка", "O-O"},
        {"пожалуйста, доска", "board"},
        {"Remiză", "draw"},
        {"MUTĂRI", "moves"},
        {"mutări e2", "moves e2"},
        {"înapoi", "undo"},
        {"please resign", "resign"},
        {"I accept the draw", "accept"},
        {"I resign now", "resign"},
        {"can I see the board?", "board"},
        {"resign...", "resign"},
        {"resign?", "resign"}, /* it may ask or act */
        {"draw?", "draw"},
        {"ничья?", "draw"},
        {"предлагаю ничью", "offer draw"},
        {"ofer remiză", "offer draw"},
        {"deadline", "clocks"}, /* and not "decline" */
        {"yes", "accept"},
        {"нет", "decline"},
        {"no problem", ""},
        {"Move: e2-e4", "e2-e4"}, /* and not "moves" */
        {"Мой ход: е2-е4", "e2-e4"},
        {"e2 to e4", "e2-e4"},
        {"e2->e4", "e2-e4"},
        {"e2\xe2\x86\x92" "e4", "e2-e4"},
        {"(e2-e4)", "e2-e4"},
        {"e2/e4", "e2-e4"},
        {"e2-e4 e2-e4", ""},
        {"e2 looks better to me than e4", ""},
        {"z9 to e4", ""},
        {"I resign", "resign"},
        {"could I have the board", "board"},
        {"resign, please", "resign"},
        {"(=)", "draw offer"},
        {"=", "draw offer"},
        {"e2-e4 please", "e2-e4"},
        {"moevs e2", "moves e2"},
        {"e2-e4 or d2-d4", ""},
        {"Dear all", ""},
        {"Привет", ""},
        {"Good morning to you all there, board", ""},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (read(rows[i].line) != GRAMMAR_UNKNOWN || strcmp(g.guess, rows[i].guess) != 0)
            fail_msg("%s: %s, %s", rows[i].line, grammar_fault_slug(g.fault), g.guess);
    assert_string_equal(command_near("resing"), "resign");
    assert_string_equal(command_near("помощь"), "help");
    assert_null(command_near("zugzwang"));
    assert_null(command_near("север")); /* no command */
}

/* P33: a full stop, dashes, a smile alone on a line are no commands, and refuse none. */
static void test_a_line_of_marks_counts_as_empty(void **state)
{
    static const char *const marks[] = {".", "..", "-", "--", "---", "\xe2\x80\x94", /* — */
                                        "\xe2\x80\x93", "***", "_____", "====", ":-)", "!", "+",
                                        "\xe2\x80\xa6", "\xf0\x9f\x91\x8d", /* a thumb */
                                        "\xe2\x99\x98", "\xc2\xbf?", "??"};
    char text[128];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(marks); i++) {
        (void)snprintf(text, sizeof text, "e2-e4\n%s", marks[i]);
        if (read(text) != GRAMMAR_NONE || strcmp(kinds(), "move") != 0)
            fail_msg("%s: %s, %s", marks[i], grammar_fault_slug(g.fault), kinds());
        assert_int_equal(g.uses[1], LINE_EMPTY);
        (void)snprintf(text, sizeof text, "%s\ne2-e4\n%s\nAnna\n%s\nresign", marks[i], marks[i],
                       marks[i]);
        assert_int_equal(read(text), GRAMMAR_NONE);
        assert_string_equal(kinds(), "move");
        assert_int_equal(g.unread_from, 4);
        (void)snprintf(text, sizeof text, "e2-e4\n%s\ndraw", marks[i]);
        assert_int_equal(read(text), GRAMMAR_NONE);
        assert_string_equal(kinds(), "move draw offer");
        assert_int_equal(read(marks[i]), GRAMMAR_EMPTY);
    }
    assert_int_equal(read("e2-e4\n?"), GRAMMAR_NONE);
    assert_string_equal(kinds(), "move help");
    assert_int_equal(read("e2-e4\n="), GRAMMAR_UNKNOWN); /* elsewhere that offers a draw */
    assert_int_equal(read("e2-e4\n\xd0\xb0"), GRAMMAR_UNKNOWN);
    /* In a note that goes on they are its words. */
    assert_int_equal(read("note I think that Red is going to attack my bishop on the left\n"
                          "...\nor so"),
                     GRAMMAR_NONE);
    assert_non_null(strstr(g.note, "left ... or so"));
}

static void test_a_reserve_is_placed_in_any_order(void **state)
{
    static const char *const lines[] = {"place R p4 N n3 B o1", "PLACE b o1 r p4 n n3",
                                        "place Nn3 Bo1 Rp4", "place R p4, N n3, B o1",
                                        "place Rp4,Nn3,Bo1", "place R:p4; N:n3; B:o1",
                                        "place R=p4 N=n3 B=o1",
                                        "place rook p4, Knight n3, bishop o1"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        assert_int_equal(read(lines[i]), GRAMMAR_NONE);
        assert_int_equal(g.commands[0].squares[0], 3 * 16 + 15);
        assert_int_equal(g.commands[0].squares[1], 14);
        assert_int_equal(g.commands[0].squares[2], 2 * 16 + 13);
    }
}

static void test_a_game_is_made_with_its_seats(void **state)
{
    (void)state;
    assert_int_equal(read("create Verney inert=capturable days=7 private rated talk\n"
                          "seat south me\nseat WEST Anna\nseat north open\n"
                          "seat east bo@example.org"),
                     GRAMMAR_NONE);
    assert_string_equal(kinds(), "create seat seat seat seat");
    assert_string_equal(g.commands[0].text, "verney inert=capturable");
    assert_int_equal(g.commands[0].create.days, 7);
    assert_true(g.commands[0].create.is_private);
    assert_true(g.commands[0].create.is_rated);
    assert_true(g.commands[0].create.table_talk);
    assert_int_equal(g.commands[1].offer, SEAT_OFFER_ME);
    assert_int_equal(g.commands[2].seat, 1);
    assert_int_equal(g.commands[2].offer, SEAT_OFFER_HANDLE);
    assert_string_equal(g.commands[2].text, "Anna");
    assert_int_equal(g.commands[3].offer, SEAT_OFFER_OPEN);
    assert_int_equal(g.commands[4].offer, SEAT_OFFER_ADDRESS);
    assert_string_equal(g.commands[4].text, "bo@example.org");
}

static void test_prose_below_an_empty_line_is_left_alone(void **state)
{
    static const struct {
        const char *text, *kinds;
        int unread_from;
    } rows[] = {
        {"e2-e4\n\nGood luck, Anna", "move", 3},
        {"\n\ne2-e4\n\nGood luck,\nAnna", "move", 5},
        {"e2-e4", "move", 0},
        {"e2-e4\n", "move", 0},
        {"e2-e4\nend\nGood luck", "move", 0},
        {"e2-e4\nend", "move", 0},
        {"e2-e4\n\nend\n\nresign", "move", 0},
        /* a paragraph of commands counts: mail programs double line ends */
        {"e2-e4\n\ndraw\n\nnote good", "move draw offer note", 0},
        /* below prose nothing does */
        {"e2-e4\n\nThanks!\n\nresign", "move", 3},
        {"e2-e4\n\nThanks!\nresign", "move", 3},
        /* a letter alone below is a signature, and a question with prose is prose */
        {"e2-e4\n\nM", "move", 3},
        {"e2-e4\n\nWhy\nnot?", "move", 3},
        {"e2-e4\n\nBoard games are fun", "move", 3},
        {"e2-e4\n\ndraw was not in my mind", "move", 3},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (read(rows[i].text) != GRAMMAR_NONE || strcmp(kinds(), rows[i].kinds) != 0)
            fail_msg("%s: %s, %s", rows[i].text, grammar_fault_slug(g.fault), kinds());
        assert_int_equal(g.unread_from, rows[i].unread_from);
    }
}

static void test_a_line_that_is_none_refuses_the_letter(void **state)
{
    static const struct {
        const char *text;
        enum grammar_fault fault;
        int line;
        const char *guess;
    } rows[] = {
        {"Hello!\ne2-e4", GRAMMAR_UNKNOWN, 1, ""},
        {"e2-e4\nAnna", GRAMMAR_UNKNOWN, 2, ""},
        {"resing", GRAMMAR_UNKNOWN, 1, "resign"},
        {"accpet", GRAMMAR_UNKNOWN, 1, "accept"},
        {"", GRAMMAR_EMPTY, 0, ""},
        {"\n  \n", GRAMMAR_EMPTY, 0, ""},
        {"end\ne2-e4", GRAMMAR_EMPTY, 0, ""},
        {"e2-e4\n\nresign\nthank you", GRAMMAR_MIXED, 4, ""},
        /* P33: Cyrillic letters */
        {"е2-е4", GRAMMAR_LOOKALIKE, 1, "e2-e4"},
        {"О-О", GRAMMAR_LOOKALIKE, 1, "O-O"},
        {"Кf3", GRAMMAR_LOOKALIKE, 1, "Kf3"},
        {"Привет", GRAMMAR_UNKNOWN, 1, ""},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (read(rows[i].text) != rows[i].fault)
            fail_msg("%s: %s, %s", rows[i].text, grammar_fault_slug(g.fault), kinds());
        assert_int_equal(g.fault_line, rows[i].line);
        assert_string_equal(g.guess, rows[i].guess);
        assert_int_equal(g.n, 0);
    }
}

static void test_notes_keep_their_words_and_may_be_wrapped(void **state)
{
    static const char longish[] = "note I think that Red is going to attack my bishop on the left";

    (void)state;
    assert_int_equal(read("Note: Qg5 is  a threat"), GRAMMAR_NONE);
    assert_string_equal(g.note, "Qg5 is  a threat");
    assert_int_equal(read("note short\ne2-e4"), GRAMMAR_NONE);
    assert_string_equal(kinds(), "note move");
    {
        char text[400];

        (void)snprintf(text, sizeof text, "e2-e4\n%s\nside next, or so it seems.\n\nBye", longish);
        assert_int_equal(read(text), GRAMMAR_NONE);
        assert_string_equal(kinds(), "move note");
        assert_string_equal(g.note, "I think that Red is going to attack my bishop on the left "
                                    "side next, or so it seems.");
        assert_int_equal(g.uses[2], LINE_NOTE_GOES_ON);
        (void)snprintf(text, sizeof text, "%s\nresign", longish);
        assert_int_equal(read(text), GRAMMAR_NOTE_WRAPPED);
        assert_int_equal(g.fault_line, 2);
        (void)snprintf(text, sizeof text, "%s\n\nresign", longish);
        assert_int_equal(read(text), GRAMMAR_NONE);
        assert_string_equal(kinds(), "note resign");
    }
    assert_int_equal(read("note one\nnote two"), GRAMMAR_TOO_MANY);
    assert_int_equal(read("note\nnote two"), GRAMMAR_NONE);
}

static void test_notes_keep_what_was_written_not_what_was_matched(void **state)
{
    const struct grammar_line lines[] = {
        {.text = "note \"he can't\" - I think",
         .raw = "Note:\u00a0 “he can’t” — I think",
         .number = 1},
        {.text = "", .raw = "", .number = 2}};

    (void)state;
    assert_int_equal(grammar_read(lines, 1, &g), GRAMMAR_NONE);
    assert_string_equal(g.note, "\u00a0 “he can’t” — I think");
}

static void test_limits_come_in_pairs(void **state)
{
    char text[12000] = "";

    (void)state;
    for (int i = 0; i < GRAMMAR_COMMANDS_MAX; i++)
        strcat(text, i > 0 ? "\nboard" : "board");
    assert_int_equal(read(text), GRAMMAR_NONE);
    assert_int_equal(g.n, GRAMMAR_COMMANDS_MAX);
    strcat(text, "\nboard");
    assert_int_equal(read(text), GRAMMAR_TOO_MANY);
    assert_int_equal(g.fault_line, GRAMMAR_COMMANDS_MAX + 1);

    (void)strcpy(text, "note ");
    memset(text + 5, 'x', GRAMMAR_TEXT_SIZE - 1);
    text[5 + GRAMMAR_TEXT_SIZE - 1] = '\0';
    assert_int_equal(read(text), GRAMMAR_NONE);
    assert_int_equal(g.note_len, GRAMMAR_TEXT_SIZE - 1);
    strcat(text, "x");
    assert_int_equal(read(text), GRAMMAR_TOO_LONG);
}

/* P10 */
static void test_between_quotes_exactly_one_command_counts(void **state)
{
    (void)state;
    assert_int_equal(read_with("I take it.\ne2-e4\nRegards", grammar_read_between), GRAMMAR_NONE);
    assert_string_equal(kinds(), "move");
    assert_int_equal(read_with("e2-e4\n\nresign", grammar_read_between), GRAMMAR_NOT_ONE);
    assert_int_equal(g.n, 0);
    assert_int_equal(read_with("Hello\nm\nBye", grammar_read_between), GRAMMAR_NOT_ONE);
    assert_int_equal(read_with("", grammar_read_between), GRAMMAR_NOT_ONE);
}

static void test_every_word_is_found_and_every_line_accounted_for(void **state)
{
    enum command_kind kind;

    (void)state;
    for (int i = 0; i < COMMAND_COUNT_; i++) {
        assert_true(command_find(command_word((enum command_kind)i), &kind));
        assert_int_equal(kind, i);
    }
    assert_false(command_find("castle", &kind));
    assert_int_equal(read("\ne2-e4\n\nGood luck\nAnna\n"), GRAMMAR_NONE);
    assert_int_equal(g.n_uses, 6);
    assert_int_equal(g.uses[0], LINE_EMPTY);
    assert_int_equal(g.uses[1], LINE_COMMAND);
    assert_int_equal(g.uses[3], LINE_PROSE);
    assert_int_equal(g.uses[4], LINE_PROSE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_command_in_each_form),
        cmocka_unit_test(test_a_move_may_have_its_number),
        cmocka_unit_test(test_words_are_not_moves),
        cmocka_unit_test(test_a_seat_may_follow_resign_and_undo),
        cmocka_unit_test(test_games_are_named_by_their_ids),
        cmocka_unit_test(test_arguments_that_cannot_be_name_the_command),
        cmocka_unit_test(test_the_word_that_is_wrong_is_named),
        cmocka_unit_test(test_commas_part_words),
        cmocka_unit_test(test_a_guess_knows_other_languages_and_courtesy),
        cmocka_unit_test(test_a_line_of_marks_counts_as_empty),
        cmocka_unit_test(test_a_reserve_is_placed_in_any_order),
        cmocka_unit_test(test_a_game_is_made_with_its_seats),
        cmocka_unit_test(test_prose_below_an_empty_line_is_left_alone),
        cmocka_unit_test(test_a_line_that_is_none_refuses_the_letter),
        cmocka_unit_test(test_notes_keep_their_words_and_may_be_wrapped),
        cmocka_unit_test(test_notes_keep_what_was_written_not_what_was_matched),
        cmocka_unit_test(test_limits_come_in_pairs),
        cmocka_unit_test(test_between_quotes_exactly_one_command_counts),
        cmocka_unit_test(test_every_word_is_found_and_every_line_accounted_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
