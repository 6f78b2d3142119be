#include "support/harness.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

static void test_an_empty_buffer_reads_as_the_empty_string(void **state)
{
    struct buf b = buf_make(10);

    (void)state;
    assert_string_equal(b.data, "");
    buf_release(&b);
    buf_release(&b);
    buf_release(NULL);
}

static void test_the_limit_itself_fits_and_one_byte_more_does_not(void **state)
{
    struct buf b = buf_make(4);
    struct err err = ERR_INIT;

    (void)state;
    buf_puts(&b, "abcd");
    assert_false(buf_failed(&b));
    buf_putc(&b, 'e');
    assert_true(buf_failed(&b));
    assert_string_equal(b.data, "abcd");
    assert_int_equal(buf_status(&b, "the letter", &err), ST_TOO_LARGE);
    assert_string_equal(err.text, "the letter is over 4 bytes");
    buf_puts(&b, "");
    buf_add(&b, "x", 0);
    assert_true(buf_failed(&b)); /* a failure stays until it is cleared */
    buf_clear(&b);
    buf_puts(&b, "ok");
    assert_ok(buf_status(&b, "the letter", &err), err);
    assert_string_equal(b.data, "ok");
    buf_release(&b);
}

static void test_formatting_grows_the_buffer(void **state)
{
    struct buf b = buf_make(100000);
    size_t n = 0;

    (void)state;
    for (int i = 0; i < 10000; i++)
        buf_printf(&b, "%d,", i % 10);
    assert_int_equal(b.len, 20000);
    char *taken = buf_take(&b, &n);
    assert_int_equal(n, 20000);
    assert_int_equal(strlen(taken), 20000);
    free(taken);
    assert_int_equal(b.len, 0);
    assert_string_equal(b.data, "");
    taken = buf_take(&b, NULL);
    assert_string_equal(taken, "");
    free(taken);
    buf_release(&b);
}

static void test_bytes_may_hold_nul(void **state)
{
    struct buf b = buf_make(16);

    (void)state;
    buf_add(&b, "a\0b", 3);
    assert_int_equal(b.len, 3);
    assert_memory_equal(b.data, "a\0b", 4);
    buf_release(&b);
}

static void test_text_cannot_become_markup(void **state)
{
    struct buf b = buf_make(100);

    (void)state;
    buf_puts_markup(&b, "<b title=\"x\">Tom & 'Ann'</b>");
    assert_string_equal(b.data, "&lt;b title=&quot;x&quot;&gt;Tom &amp; 'Ann'&lt;/b&gt;");
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_empty_buffer_reads_as_the_empty_string),
        cmocka_unit_test(test_the_limit_itself_fits_and_one_byte_more_does_not),
        cmocka_unit_test(test_formatting_grows_the_buffer),
        cmocka_unit_test(test_bytes_may_hold_nul),
        cmocka_unit_test(test_text_cannot_become_markup),
    };
    return cmocka_run_group_tests_name("base/buf", tests, NULL, NULL);
}
