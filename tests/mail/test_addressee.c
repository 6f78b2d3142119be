/* Whom a letter without an envelope was for, by its header lines. */
#include "support/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "mail/addressee.h"

/* play@example.org is ours, play+…@example.org exactly so; arg counts the questions. */
static int judge(void *arg, const char *address)
{
    if (arg)
        ++*(int *)arg;
    return str_eq(address, "play@example.org")                                           ? 1
           : str_starts(address, "play+") && strstr(address, "@example.org") != NULL ? 2
                                                                                         : 0;
}

static void test_the_best_known_address_wins_and_among_equals_the_first(void **state)
{
    static const struct {
        const char *letter, *found;
    } letters[] = {
        {"Delivered-To: play+a@example.org\r\nTo: play+b@example.org\r\n\r\n",
         "play+a@example.org"},
        {"To: play+b@example.org\nDelivered-To: play+a@example.org\n\n", "play+a@example.org"},
        {"Delivered-To: play@example.org\nTo: \"x\" <play+b@example.org>\n\n",
         "play+b@example.org"},
        {"Delivered-To: play@example.org\nX-Original-To: play@example.org\nTo: list@x.example\n\n",
         "play@example.org"},
        {"delivered-to : <play+a@example.org>\n\n", "play+a@example.org"},
        {"To: Anna <anna@x.example>,\n\tPlay <play+c@example.org>\n\n", "play+c@example.org"},
        {"Cc: play+d@example.org\nX: play+e@example.org\n\n", "play+d@example.org"},
        {"Subject: play+e@example.org\nTo: nobody@x.example\n\nTo: play+f@example.org\n", NULL},
        {"Delivered-To: a@b\nDelivered-To: play+g@example.org\n\n", "play+g@example.org"},
        {"From joe Mon Jan 1\nTo: play+h@example.org\n", "play+h@example.org"},
        {"\r\n\nFrom joe Mon Jan 1\nTo: play+h@example.org\n", "play+h@example.org"},
        {"\r\rX: y\rTo: play+h@example.org\r\r", "play+h@example.org"},
        {"\n\n\n", NULL},
        {"To: play+i@example.org", "play+i@example.org"}, /* and nothing after it */
        {"To:\n", NULL},
        {"To: @example.org play+@\n", NULL},
        {":\n::\nTo: play+j@example.org\n", "play+j@example.org"},
        {"\n", NULL},
        {"", NULL},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(letters); i++) {
        char address[ADDRESSEE_SIZE] = "untouched";
        bool found = addressee_find(letters[i].letter, strlen(letters[i].letter), judge, NULL,
                                    address);
        assert_int_equal(found, letters[i].found != NULL);
        assert_string_equal(address, letters[i].found ? letters[i].found : "untouched");
    }
}

static void test_an_address_that_is_too_long_is_none(void **state)
{
    char letter[1000], address[ADDRESSEE_SIZE];
    int room = ADDRESSEE_SIZE - 1 - (int)strlen("play+@example.org");

    (void)state;
    snprintf(letter, sizeof letter, "To: play+%0*d@example.org\n", room, 0);
    assert_true(addressee_find(letter, strlen(letter), judge, NULL, address));
    assert_int_equal(strlen(address), ADDRESSEE_SIZE - 1);
    snprintf(letter, sizeof letter, "To: play+%0*d@example.org\n", room + 1, 0);
    assert_false(addressee_find(letter, strlen(letter), judge, NULL, address));
}

static void test_only_the_beginning_of_an_endless_header_is_read(void **state)
{
    size_t n = ADDRESSEE_HEADER_MAX + 100;
    char *letter = malloc(n + 1), address[ADDRESSEE_SIZE];
    int asked = 0;

    (void)state;
    assert_non_null(letter);
    for (size_t i = 0; i + 8 <= n; i += 8)
        memcpy(letter + i, "To: a@b\n", 8);
    strcpy(letter + n - 30, "\nTo: play+x@example.org\n");
    assert_false(addressee_find(letter, n, judge, &asked, address));
    assert_int_equal(asked, ADDRESSEE_HEADER_MAX / 8);
    free(letter);
}

static void test_the_envelopes_sender_is_the_return_path(void **state)
{
    char address[ADDRESSEE_SIZE] = "untouched";
    static const char none[] = "From: a@b\n\nReturn-Path: <c@d>\n";

    (void)state;
    assert_false(addressee_sender(none, strlen(none), address));
    assert_string_equal(address, "untouched");
    assert_true(addressee_sender("Return-Path: <>\nx: y\n", 21, address)); /* a bounce */
    assert_string_equal(address, "");
    assert_true(addressee_sender("X: y\r\nReturn-path: <a+b@c.example>\r\n\r\n", 40, address));
    assert_string_equal(address, "a+b@c.example");
    assert_true(addressee_sender("\n\nReturn-Path: <d@c.example>\n\n", 30, address));
    assert_string_equal(address, "d@c.example");
    assert_false(addressee_sender("Return-Path: <\n>", 16, address));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_best_known_address_wins_and_among_equals_the_first),
        cmocka_unit_test(test_an_address_that_is_too_long_is_none),
        cmocka_unit_test(test_only_the_beginning_of_an_endless_header_is_read),
        cmocka_unit_test(test_the_envelopes_sender_is_the_return_path),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
