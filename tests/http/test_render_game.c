/* A game as text: what a JSON library would have written, byte for byte. */
#include "support/harness.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "http/render.h"

static struct game_facts *facts_made(void)
{
    struct game_facts *f = calloc(1, sizeof *f);
    struct game_row *g;

    assert_non_null(f);
    g = &f->view.game;
    *g = (struct game_row){.per_move_ms = 14 * MS_DAY, .grace_ms = 12 * MS_HOUR, .organiser_id = 9,
                           .state = GAME_RUNNING, .paused_at = UTC_NONE, .ply = 1, .turn_seat = 1,
                           .state_no = 8, .last_seq = 9, .turn_at = 1764444493000,
                           .deadline_at = 1765654093000, .expires_at = UTC_NONE,
                           .created_at = 1764444000000, .started_at = 1764444400000,
                           .ended_at = UTC_NONE, .position_hash = UINT64_C(0xfedcba9876543210)};
    (void)str_copy(g->public_id, sizeof g->public_id, "7k2m9qx4");
    (void)str_copy(g->rules, sizeof g->rules, "verney inert=safe reserve=none queens=light");
    (void)str_copy(g->position, sizeof g->position, "no position that can be read");
    (void)str_copy(g->conditions, sizeof g->conditions, "amsx");
    (void)str_copy(g->explanation, sizeof g->explanation,
                   "start 1764444493000 0 0;budget 1764444493000 1209600000 0");
    for (int i = 0; i < SEAT_COUNT; i++) {
        f->view.seats[i] = (struct seat_row){.seat = i, .state = SEAT_TAKEN, .user_id = i + 1};
        (void)str_copy(f->view.seats[i].handle, HANDLE_SIZE, "anna");
    }
    (void)str_copy(f->view.seats[0].display_name, DISPLAY_NAME_SIZE,
                   "A \"q\" \\ /\b\f\n\r\t\v\x1f\x7f");
    (void)str_copy(f->view.seats[1].display_name, DISPLAY_NAME_SIZE, "Анна Țurcanu");
    f->view.seats[2].left_how = SEAT_RESIGNED;
    f->has_last = true;
    f->last = (struct move_row){.ply = 1, .used_ms = 1234, .seq = 7, .at = 1764444450000};
    (void)str_copy(f->last.move, sizeof f->last.move, "e2e3");
    (void)str_copy(f->last.san, sizeof f->last.san, "e3");
    return f;
}

/* Reading it and writing it again, in its own order, changes nothing. */
static json_t *read_back(const struct game_facts *facts)
{
    struct buf out = buf_make(GAME_ANSWER_MAX);
    json_error_t fault;
    json_t *root;
    char *again;

    render_facts(&out, facts);
    assert_false(buf_failed(&out));
    root = json_loadb(out.data, out.len, JSON_REJECT_DUPLICATES, &fault);
    if (!root)
        fail_msg("%s at %d of %s", fault.text, fault.position, out.data);
    again = json_dumps(root, JSON_COMPACT);
    assert_string_equal(out.data, again);
    free(again);
    buf_release(&out);
    return root;
}

static void test_it_is_what_a_library_would_write(void **state)
{
    struct game_facts *f = facts_made();
    json_t *root;

    (void)state;
    json_decref(read_back(f)); /* for a stranger */
    f->viewer.user_id = 3;
    f->has_offer = true;
    f->offer_seat = 2;
    f->offered_at = 1764444460000;
    f->accepted = 5;
    f->invited = 2;
    root = read_back(f);
    assert_string_equal(json_string_value(json_object_get(
                            json_array_get(json_object_get(root, "seats"), 1), "condition")),
                        "mated");
    assert_int_equal(json_array_size(json_object_get(json_object_get(root, "you"), "seats")), 1);
    assert_int_equal(
        json_array_size(json_object_get(json_object_get(root, "draw_offer"), "accepted")), 2);
    json_decref(root);
    free(f);
}

static void test_a_game_of_each_state(void **state)
{
    struct game_facts *f = facts_made();
    struct game_row *g = &f->view.game;
    json_t *root, *left;

    (void)state;
    for (int i = 0; i < SEAT_COUNT; i++)
        f->view.seats[i].left_how = SEAT_STAYED;
    for (int s = 0; s < GAME_STATE_COUNT_; s++) {
        g->state = (enum game_state)s;
        g->turn_seat = g->state == GAME_RUNNING ? 0 : -1;
        g->result = g->state == GAME_FINISHED ? GAME_RESULT_TEAM1 : GAME_RESULT_NONE;
        g->cause = g->state == GAME_FINISHED ? GAME_CAUSE_MATE : GAME_CAUSE_NONE;
        root = read_back(f);
        assert_true(json_is_null(json_object_get(root, "turn")) == (s != GAME_RUNNING));
        assert_true(json_is_null(json_object_get(root, "result")) == (s != GAME_FINISHED));
        if (s == GAME_FINISHED) /* one is mated, the other has gone: the result tells */
            assert_int_equal(
                json_array_size(json_object_get(json_object_get(root, "result"), "left")), 0);
        assert_true(json_is_null(json_object_get(root, "placing_deadline")) ==
                    (s != GAME_PLACING));
        json_decref(root);
    }
    g->state = GAME_FINISHED;
    f->view.seats[0].left_how = SEAT_RESIGNED;
    f->view.seats[3].left_how = SEAT_FORFEITED;
    root = read_back(f);
    left = json_object_get(json_object_get(root, "result"), "left");
    assert_int_equal(json_array_size(left), 2);
    assert_string_equal(json_string_value(json_object_get(json_array_get(left, 0), "seat")),
                        "south");
    assert_string_equal(json_string_value(json_object_get(json_array_get(left, 0), "how")),
                        "resigned");
    assert_string_equal(json_string_value(json_object_get(json_array_get(left, 1), "seat")),
                        "east");
    assert_string_equal(json_string_value(json_object_get(json_array_get(left, 1), "how")),
                        "forfeited");
    json_decref(root);
    f->has_last = false;
    g->position[0] = g->rules[0] = g->explanation[0] = '\0';
    json_decref(read_back(f));
    free(f);
}

static void test_a_buffer_that_is_too_small_fails(void **state)
{
    struct game_facts *f = facts_made();

    (void)state;
    f->viewer.user_id = 1;
    for (size_t limit = 0; limit < 2000; limit += 7) {
        struct buf out = buf_make(limit);

        render_facts(&out, f);
        assert_true(buf_failed(&out));
        buf_release(&out);
    }
    free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_is_what_a_library_would_write),
        cmocka_unit_test(test_a_game_of_each_state),
        cmocka_unit_test(test_a_buffer_that_is_too_small_fails),
    };

    return cmocka_run_group_tests_name("http/render_game", tests, NULL, NULL);
}
