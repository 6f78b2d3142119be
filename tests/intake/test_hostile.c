/*
 * Letters of 1 MiB made to cost as much as they can (P29): what reading one takes, from its bytes
 * to its commands, in memory and in work.  Work is counted, not timed: allocations, the bytes of
 * all of them, and the lines that are left.  tests/bench/mail measures the processor's time.
 */
#include "support/harness.h"

#include "intake/heap.h"
#include "intake/internal.h"
#include "mail/hostile.h"
#include "mail/message.h"

enum {
    MEMORY_MAX = 32 * 1024 * 1024,
    TIMES_MAX = 200 * 1000,     /* allocations */
    SUM_MAX = 64 * 1024 * 1024  /* bytes of all of them */
};

static const char *token = "k3v7mq2xz5b4n6c7d2f3g4h5j6";

static struct heap_use use_of(const struct buf *letter, size_t *ret_lines)
{
    const struct intake_options options = {.letter_size = HOSTILE_SIZE};
    struct inbox_row row = INBOX_ROW_INIT;
    struct reading *reading = NULL;
    struct err err = ERR_INIT;
    struct heap_use use;

    row.has_token = true;
    heap_begin();
    assert_ok(reading_make(&options, &row, letter->data, letter->len, &reading, &err), err);
    use = heap_end();
    *ret_lines = reading->reply.count;
    reading_free(reading);
    return use;
}

static void test_a_hostile_letter_is_read_within_bounds(void **state)
{
    int failed = 0;

    (void)state;
    for (size_t i = 0; i < hostile_count(); i++) {
        struct buf letter = buf_make(HOSTILE_SIZE);
        struct heap_use use;
        size_t lines = 0;

        hostile_make(i, token, &letter);
        assert_false(buf_failed(&letter));
        assert_in_range(letter.len, HOSTILE_SIZE - 2048, HOSTILE_SIZE);
        use = use_of(&letter, &lines);
        if (use.peak > MEMORY_MAX || use.times > TIMES_MAX || use.sum > SUM_MAX ||
            lines > REPLY_LINES_MAX) {
            print_message("NOT OK %s: %zu KiB at most, %zu allocations of %zu KiB, %zu lines\n",
                          hostile_name(i), use.peak / 1024, use.times, use.sum / 1024, lines);
            failed++;
        }
        buf_release(&letter);
    }
    if (failed > 0)
        fail_msg("%d letters cost too much", failed);
}

/* The counting itself: a letter costs something. */
static void test_what_is_counted_is_there(void **state)
{
    struct buf letter = buf_make(HOSTILE_SIZE);
    struct heap_use use;
    size_t lines = 0;

    (void)state;
    hostile_make(0, token, &letter);
    use = use_of(&letter, &lines);
    if (use.is_counted) {
        assert_true(use.peak > letter.len);
        assert_true(use.times > 100);
        assert_true(use.sum >= use.peak);
    }
    assert_true(lines > 100);
    buf_release(&letter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_counted_is_there),
        cmocka_unit_test(test_a_hostile_letter_is_read_within_bounds),
    };

    mail_library_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
