/* What a player notes on a game (arbiter/notes.h): who may, and what is noted with it. */
#include "arbiter/table.h"

#include <string.h>

#include "arbiter/notes.h"

/* One note, as a command of the writer. */
struct noting {
    struct table *t;
    int64_t game;
    int user;
    const char *text;
    struct note_row *ret;
};

static enum status noting_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    const struct noting *n = arg;
    struct game_row game = game_get(n->t, n->game);
    struct seat_row seats[SEAT_COUNT];
    enum status st = seats_get(store_txn_conn(txn), n->game, seats, err);

    if (st != ST_OK)
        return st;
    return arbiter_note(txn, now, &game, seats, n->t->user[n->user], n->text, n->ret, err);
}

static enum status note(struct table *t, int64_t game, int user, const char *text,
                        struct note_row *ret, struct err *err)
{
    struct noting n = {.t = t, .game = game, .user = user, .text = text, .ret = ret};
    struct writer_command command = {.name = "note", .run = noting_run, .arg = &n};

    return writer_run(t->writer, &command, err);
}

static size_t count_notes(struct table *t, int64_t game, int user)
{
    struct note_row rows[8];
    struct err err = ERR_INIT;
    size_t n = 0;

    assert_ok(notes_list(store_reader_conn(t->reader), game, t->user[user], 0, rows, 8, &n, &err),
              err);
    return n;
}

static void test_a_note_says_when_in_the_game_it_was_written(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");
    struct note_row row = {.id = 0}, read;
    struct err err = ERR_INIT;
    struct game_row before;
    size_t n = 0;

    move_ok(t, game, "e2e3");
    before = game_get(t, game);
    assert_ok(note(t, game, NORTH, "West will castle", &row, &err), err);
    assert_true(row.id > 0);
    assert_int_equal(row.game_id, game);
    assert_int_equal(row.user_id, t->user[NORTH]);
    assert_int_equal(row.ply, 1);
    assert_int_equal(row.state_no, before.state_no);
    assert_int_equal(row.at, now_of(t));
    assert_string_equal(row.text, "West will castle");
    assert_ok(notes_list(store_reader_conn(t->reader), game, t->user[NORTH], 0, &read, 1, &n, &err),
              err);
    assert_int_equal(n, 1);
    assert_int_equal(read.id, row.id);
    /* The game is as it was. */
    assert_int_equal(game_get(t, game).state_no, before.state_no);
    assert_ok(note(t, game, NORTH, "… or not", NULL, &err), err);
    assert_int_equal(count_notes(t, game, NORTH), 2);
    assert_int_equal(count_notes(t, game, SOUTH), 0);
}

static void test_only_who_has_or_had_a_seat_notes_things(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");
    struct note_row row = {.id = -1};
    struct err err = ERR_INIT;
    struct seat_row seats[SEAT_COUNT];
    struct call c = acts(t, OP_RESIGN, game, SOUTH);

    call_ok(&c);
    assert_ok(note(t, game, SOUTH, "that was early", NULL, &err), err);
    assert_st(note(t, game, ORGANISER, "a", &row, &err), ST_FORBIDDEN, err);
    assert_int_equal(err.reason, REASON_NOT_YOUR_GAME);
    assert_int_equal(row.id, -1);
    assert_int_equal(count_notes(t, game, ORGANISER), 0);
    assert_ok(seats_get(store_reader_conn(t->reader), game, seats, &err), err);
    assert_ok(arbiter_may_note(seats, t->user[SOUTH], &err), err);
    assert_st(arbiter_may_note(seats, t->user[STRANGER], &err), ST_FORBIDDEN, err);
    assert_st(arbiter_may_note(seats, 0, &err), ST_FORBIDDEN, err);
}

static void test_a_note_that_is_too_long_is_not_cut(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");
    struct err err = ERR_INIT;
    char text[NOTE_SIZE + 1];

    memset(text, 'x', sizeof text);
    text[NOTE_SIZE] = '\0';
    assert_st(note(t, game, SOUTH, text, NULL, &err), ST_TOO_LARGE, err);
    text[NOTE_SIZE - 1] = '\0';
    assert_ok(note(t, game, SOUTH, text, NULL, &err), err);
    assert_int_equal(count_notes(t, game, SOUTH), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_note_says_when_in_the_game_it_was_written,
                                        table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_only_who_has_or_had_a_seat_notes_things, table_setup,
                                        table_teardown),
        cmocka_unit_test_setup_teardown(test_a_note_that_is_too_long_is_not_cut, table_setup,
                                        table_teardown),
    };

    return cmocka_run_group_tests_name("arbiter: notes", tests, NULL, NULL);
}
