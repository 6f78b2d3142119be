#include "support/harness.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <gmime/gmime.h>

#include "mail/golden.h"
#include "mail/message.h"

static const unsigned char picture[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n', 0, 1, 2, 3};

static struct mail_message usual(void)
{
    return (struct mail_message){
        .from = {"Chess Club (game 7k2m)", "games@club.example"},
        .reply_to = {NULL, "games@club.example"},
        .to = {"Anna Ț", "anna@example.org"},
        .subject = "[7k2m] Your move – ход за вами",
        .date = 1767225600000, /* 2026-01-01T00:00:00Z */
        .message_id = "7k2m.14.o9@club.example",
        .in_reply_to = "7k2m.root@club.example",
        .references = {"7k2m.root@club.example", "7k2m.13.o5@club.example"},
        .references_count = 2,
        .list_name = "game notices",
        .list_id = "games.club.example",
        .unsubscribe_url = "https://club.example/u/OPAQUE",
        .unsubscribe_mailto = "unsub+OPAQUE@club.example",
        .game = "7k2m",
        .loop_id = "games.club.example",
        .text = "Ход за вами.\n\n  1 . .\n.\nFrom here on\ntrailing blank \n",
        .html = "<p>Ход за вами.</p><img src=\"cid:b@club.example\" alt=\"x\">\n",
        .png = picture,
        .png_size = sizeof picture,
        .png_cid = "b@club.example",
    };
}

static struct buf composed(const struct mail_message *m)
{
    struct buf out = buf_make(MAIL_MESSAGE_MAX);
    struct err err = ERR_INIT;

    assert_ok(mail_compose(m, &out, &err), err);
    return out;
}

/* CRLF only, no line over 998 bytes, ASCII only. */
static void assert_wire_form(const struct buf *b)
{
    size_t column = 0;

    for (size_t i = 0; i < b->len; i++) {
        if (b->data[i] == '\n')
            assert_true(i > 0 && b->data[i - 1] == '\r');
        if (b->data[i] == '\r')
            assert_true(i + 1 < b->len && b->data[i + 1] == '\n');
        assert_true((unsigned char)b->data[i] < 0x80);
        column = b->data[i] == '\n' ? 0 : column + 1;
        assert_true(column <= 999);
    }
    assert_memory_equal(b->data + b->len - 2, "\r\n", 2);
}

static GMimeMessage *parsed(const struct buf *b)
{
    GMimeStream *stream = g_mime_stream_mem_new_with_buffer(b->data, b->len);
    GMimeParser *parser = g_mime_parser_new_with_stream(stream);
    GMimeMessage *message = g_mime_parser_construct_message(parser, NULL);

    g_object_unref(parser);
    g_object_unref(stream);
    assert_non_null(message);
    return message;
}

static GMimeObject *part_at(GMimeObject *multipart, int index)
{
    return g_mime_multipart_get_part((GMimeMultipart *)multipart, index);
}

static void test_a_whole_letter_is_what_it_was_last_time(void **state)
{
    struct mail_message m = usual();
    struct buf b = composed(&m);

    (void)state;
    assert_wire_form(&b);
    assert_golden("mail/golden/whole.eml", b.data, b.len);
    buf_release(&b);
}

static void test_the_same_fields_give_the_same_bytes(void **state)
{
    struct mail_message m = usual();
    struct buf a = composed(&m), b = composed(&m);

    (void)state;
    assert_int_equal(a.len, b.len);
    assert_memory_equal(a.data, b.data, a.len);
    buf_release(&a);
    buf_release(&b);
}

static void test_a_reader_gets_text_html_and_picture_unchanged(void **state)
{
    struct mail_message m = usual();
    struct buf b = composed(&m);
    GMimeMessage *message = parsed(&b);
    GMimeObject *top = g_mime_message_get_mime_part(message);
    GMimeObject *related;
    char *text, *html;
    GMimeStream *bytes = g_mime_stream_mem_new();

    (void)state;
    assert_string_equal(g_mime_message_get_subject(message), m.subject);
    assert_true(GMIME_IS_MULTIPART(top));
    assert_int_equal(g_mime_multipart_get_count((GMimeMultipart *)top), 2);
    text = g_mime_text_part_get_text((GMimeTextPart *)part_at(top, 0));
    related = part_at(top, 1);
    assert_string_equal(g_mime_content_type_get_media_subtype(
                            g_mime_object_get_content_type(related)),
                        "related");
    html = g_mime_text_part_get_text((GMimeTextPart *)part_at(related, 0));
    /* the line end before a boundary belongs to the boundary */
    assert_string_equal(
        text, "Ход за вами.\r\n\r\n  1 . .\r\n.\r\nFrom here on\r\ntrailing blank ");
    assert_string_equal(html,
                        "<p>Ход за вами.</p><img src=\"cid:b@club.example\" alt=\"x\">");
    assert_string_equal(g_mime_object_get_content_id(part_at(related, 1)), "b@club.example");
    g_mime_data_wrapper_write_to_stream(
        g_mime_part_get_content((GMimePart *)part_at(related, 1)), bytes);
    {
        GByteArray *array = g_mime_stream_mem_get_byte_array((GMimeStreamMem *)bytes);

        assert_int_equal(array->len, sizeof picture);
        assert_memory_equal(array->data, picture, sizeof picture);
    }
    g_object_unref(bytes);
    g_free(text);
    g_free(html);
    g_object_unref(message);
    buf_release(&b);
}

static void test_text_alone_is_one_plain_part(void **state)
{
    struct mail_message m = usual();
    struct buf b;

    (void)state;
    m.html = NULL;
    m.png = NULL;
    b = composed(&m);
    assert_wire_form(&b);
    assert_null(strstr(b.data, "multipart"));
    assert_non_null(strstr(b.data, "\r\nContent-Type: text/plain; charset=utf-8\r\n"));
    buf_release(&b);
}

/* RFC 2047: encoded words end beside a blank where they can, never within a character, have at most
 * 75 characters, and are read back as they were. */
static void test_encoded_words_end_between_words(void **state)
{
    static const struct {
        const char *name;
        bool splits_words; /* a word is too long for one */
    } table[] = {
        {"Шахматный клуб – ход за вами", false},
        {"Шахматный клуб любителей четверной игры – приглашение в новую партию", false},
        {"Clubul de șah în patru din Chișinău – este rândul dumneavoastră acum, vă rugăm", false},
        {"Достопримечательностями высокопревосходительства человеконенавистничество", true},
        {"ёжёжёжёжёжёжёжёжёжёжёжёжёжёжёжёжёжёжёжёжёжёжёжёжёжёж конец", true},
        {"a plain beginning, and then Ț at the very end of it all, far to the right Ș", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct mail_message m = usual();
        InternetAddressList *list;
        GMimeMessage *message;
        struct buf b;

        m.to.name = NULL;
        m.from.name = m.subject = table[i].name;
        b = composed(&m);
        message = parsed(&b);
        assert_string_equal(g_mime_message_get_subject(message), table[i].name);
        list = g_mime_message_get_from(message);
        assert_string_equal(
            internet_address_get_name(internet_address_list_get_address(list, 0)), table[i].name);
        for (const char *p = b.data; (p = strstr(p, "=?UTF-8?")) != NULL;) {
            const char *end = strstr(p + 10, "?=");
            char word[80], *decoded;
            size_t n;

            assert_non_null(end);
            n = (size_t)(end + 2 - p);
            assert_true(n <= 75);
            memcpy(word, p, n);
            word[n] = '\0';
            decoded = g_mime_utils_header_decode_text(NULL, word);
            assert_true(g_utf8_validate(decoded, -1, NULL));
            if (!table[i].splits_words) { /* it is whole words of the name */
                const char *at = strstr(table[i].name, decoded);
                size_t length = strlen(decoded);

                if (at == NULL)
                    fail_msg("\"%s\" of \"%s\" is not in \"%s\"", decoded, word, table[i].name);
                assert_true(at == table[i].name || at[-1] == ' ' || at[0] == ' ');
                assert_true(at[length] == '\0' || at[length] == ' ' || at[length - 1] == ' ');
            }
            g_free(decoded);
            p = end + 2;
        }
        g_object_unref(message);
        buf_release(&b);
    }
}

/* P40: RFC 8058 wants the header on one unencoded line, however long. */
static void test_a_long_unsubscribe_header_stays_on_one_line(void **state)
{
    struct mail_message m = usual();
    char url[1000] = "https://club.example/u/";
    char line[1100];
    struct buf b;
    struct err err = ERR_INIT;
    struct buf out = buf_make(MAIL_MESSAGE_MAX);

    (void)state;
    while (strlen(url) < 900)
        strcat(url, "x");
    m.unsubscribe_url = url;
    b = composed(&m);
    (void)snprintf(line, sizeof line,
                   "\r\nList-Unsubscribe: <%s>, "
                   "<mailto:unsub+OPAQUE@club.example?subject=unsubscribe>\r\n"
                   "List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n",
                   url);
    assert_non_null(strstr(b.data, line));
    assert_wire_form(&b);
    buf_release(&b);

    /* 998 fit, 999 do not */
    m.unsubscribe_mailto = NULL;
    memset(url + 23, 'x', 998 - strlen("List-Unsubscribe: <>") - 23);
    url[998 - strlen("List-Unsubscribe: <>")] = '\0';
    b = composed(&m);
    buf_release(&b);
    strcat(url, "x");
    assert_st(mail_compose(&m, &out, &err), ST_INVALID, err);
    assert_int_equal(out.len, 0);
    buf_release(&out);
}

static void refuse(const struct mail_message *m)
{
    struct buf out = buf_make(MAIL_MESSAGE_MAX);
    struct err err = ERR_INIT;

    assert_st(mail_compose(m, &out, &err), ST_INVALID, err);
    assert_int_equal(out.len, 0);
    assert_true(err.text[0] != '\0');
    buf_release(&out);
}

/* P31: line breaks in any field that reaches a header are refused, not mended. */
static void test_line_breaks_in_header_fields_are_refused(void **state)
{
    static const char *const evil[] = {"x\r\nBcc: evil@example.net", "x\nBcc: evil@example.net",
                                       "x\rBcc: e@x", "tab\there", "del\x7f", "bad \xff utf-8"};

    (void)state;
    for (size_t i = 0; i < sizeof evil / sizeof evil[0]; i++) {
        struct mail_message m = usual();

        m.subject = evil[i];
        refuse(&m);
        m = usual();
        m.from.name = evil[i];
        refuse(&m);
        m = usual();
        m.to.name = evil[i];
        refuse(&m);
        m = usual();
        m.to.address = evil[i];
        refuse(&m);
        m = usual();
        m.reply_to.address = evil[i];
        refuse(&m);
        m = usual();
        m.message_id = evil[i];
        refuse(&m);
        m = usual();
        m.in_reply_to = evil[i];
        refuse(&m);
        m = usual();
        m.references[1] = evil[i];
        refuse(&m);
        m = usual();
        m.list_name = evil[i];
        refuse(&m);
        m = usual();
        m.list_id = evil[i];
        refuse(&m);
        m = usual();
        m.unsubscribe_url = evil[i];
        refuse(&m);
        m = usual();
        m.unsubscribe_mailto = evil[i];
        refuse(&m);
        m = usual();
        m.game = evil[i];
        refuse(&m);
        m = usual();
        m.loop_id = evil[i];
        refuse(&m);
        m = usual();
        m.png_cid = evil[i];
        refuse(&m);
    }
}

/* P31: what looks like an encoded word is shown as it was written, not as what it decodes to. */
static void test_a_subject_that_looks_encoded_is_shown_as_written(void **state)
{
    static const char *const text[] = {
        "=?utf-8?B?eAoKQmNjOiBldmls?=", "Re: =?utf-8?Q?x=0ABcc:_evil?= and more of it, so that "
                                         "it takes several words – всё вместе длинное"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct mail_message m = usual();
        struct buf b;
        GMimeMessage *message;

        m.subject = text[i];
        m.to.name = text[i];
        b = composed(&m);
        message = parsed(&b);
        assert_string_equal(g_mime_message_get_subject(message), text[i]);
        assert_string_equal(internet_address_get_name(internet_address_list_get_address(
                                g_mime_message_get_to(message), 0)),
                            text[i]);
        assert_int_equal(internet_address_list_length(g_mime_message_get_to(message)), 1);
        assert_null(g_mime_message_get_bcc(message) &&
                            internet_address_list_length(g_mime_message_get_bcc(message)) > 0
                        ? text
                        : NULL);
        g_object_unref(message);
        buf_release(&b);
    }
}

static void test_a_name_of_any_characters_is_read_back(void **state)
{
    static const char *const name[] = {"Anna Maria", "O'Neil", "a\"b", "a\\b", "a\\\"b", "\"q\" x",
                                       "a, b <c@d.example>", "x.y", "a  b", "(c) d", "@", "\\"};

    (void)state;
    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++) {
        struct mail_message m = usual();
        struct buf b;
        GMimeMessage *message;
        InternetAddressList *to;

        m.to.name = name[i];
        b = composed(&m);
        message = parsed(&b);
        to = g_mime_message_get_to(message);
        assert_int_equal(internet_address_list_length(to), 1);
        assert_string_equal(
            internet_address_get_name(internet_address_list_get_address(to, 0)), name[i]);
        /* without quotation marks only where a reader of any program sees it the same */
        assert_true((strstr(b.data, "\r\nTo: \"") != NULL) == (i > 1));
        g_object_unref(message);
        buf_release(&b);
    }
}

static void test_long_subjects_are_folded_and_read_back_whole(void **state)
{
    struct mail_message m = usual();
    char subject[MAIL_HEADER_TEXT_MAX + 1] = "";
    struct buf b;
    GMimeMessage *message;

    (void)state;
    while (strlen(subject) + strlen("длинное слово ") < MAIL_HEADER_TEXT_MAX)
        strcat(subject, "длинное слово ");
    strcat(subject, "!");
    m.subject = subject;
    b = composed(&m);
    for (char *line = b.data; line != NULL && strncmp(line, "\r\n\r\n", 4) != 0;) {
        char *end = strstr(line, "\r\n");

        if (strncmp(line, "List-Unsubscribe:", 17) != 0)
            assert_true(end - line <= 78);
        if (end[2] == '\r')
            break;
        line = end + 2;
    }
    message = parsed(&b);
    assert_string_equal(g_mime_message_get_subject(message), subject);
    g_object_unref(message);
    buf_release(&b);
}

/* P32: dots, bare line feeds and carriage returns in the text. */
static void test_lines_of_dots_and_bare_line_ends_are_harmless(void **state)
{
    struct mail_message m = usual();
    struct buf b;
    GMimeMessage *message;
    char *text;
    char longline[300];

    (void)state;
    memset(longline, 'a', 74);
    memset(longline + 74, '.', 30); /* wraps in the middle of the dots */
    strcpy(longline + 104, "\n.\n..\r\n.\r.\nFrom me\n");
    m.text = longline;
    m.html = NULL;
    m.png = NULL;
    b = composed(&m);
    assert_wire_form(&b);
    assert_null(strstr(b.data, "\r\n."));
    assert_null(strstr(b.data, "\r\nFrom me"));
    message = parsed(&b);
    text = g_mime_text_part_get_text((GMimeTextPart *)g_mime_message_get_mime_part(message));
    strcpy(longline + 104, "\r\n.\r\n..\r\n.\r.\r\nFrom me\r\n");
    assert_string_equal(text, longline);
    g_free(text);
    g_object_unref(message);
    buf_release(&b);
}

static void test_quoted_printable_lines_are_at_most_76_long(void **state)
{
    struct mail_message m = usual();
    struct buf b;
    const char *body;

    (void)state;
    m.text = "ааааааааааааааааааааааааааааааааааааааааааааааааааааааааа\n"
             "123456789012345678901234567890123456789012345678901234567890123456789012345\n"
             "1234567890123456789012345678901234567890123456789012345678901234567890123456\n"
             "12345678901234567890123456789012345678901234567890123456789012345678901234567\n"
             "123456789012345678901234567890123456789012345678901234567890123456789012345 \n"
             "=========================================================================\n";
    m.html = NULL;
    m.png = NULL;
    b = composed(&m);
    body = strstr(b.data, "\r\n\r\n") + 4;
    while (*body != '\0') {
        const char *end = strstr(body, "\r\n");

        assert_true(end - body <= 76);
        body = end + 2;
    }
    assert_non_null(strstr(b.data, "\r\n1234567890123456789012345678901234567890123456789012345678"
                                   "901234567890123456\r\n")); /* 76 need no break */
    buf_release(&b);
}

static void test_addresses_of_the_documented_form_only(void **state)
{
    static const char *const good[] = {"a@b", "a.b+c@example.org", "!#$%&'*+/=?^_`{|}~-@x-y.z"};
    static const char *const bad[] = {
        "", "a", "@b", "a@", "a@b@c", ".a@b", "a.@b", "a..b@c", "a b@c", "\"a\"@b", "<a@b>",
        "a@b.", "a@.b", "a@-b", "a@b-", "a@b..c", "a@[127.0.0.1]", "ä@b", "a@ö", "a@b\r\n", "a,b@c",
        "a@b>\r\nRCPT TO:<evil@x", "a@b c",
        "1234567890123456789012345678901234567890123456789012345678901234x@b"};

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_true(mail_address_is_ok(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (mail_address_is_ok(bad[i]))
            fail_msg("taken: %s", bad[i]);
    assert_false(mail_address_is_ok(NULL));
    assert_true(mail_address_is_ok(
        "123456789012345678901234567890123456789012345678901234567890123x@b")); /* 64 */
}

static void test_a_letter_that_cannot_be_switched_off_has_no_list_headers(void **state)
{
    struct mail_message m = usual();
    struct buf b;

    (void)state;
    m.list_id = m.list_name = m.unsubscribe_url = m.unsubscribe_mailto = NULL;
    b = composed(&m);
    assert_null(strstr(b.data, "List-"));
    assert_non_null(strstr(b.data, "\r\nAuto-Submitted: auto-generated\r\n"));
    assert_null(strstr(b.data, "Precedence"));
    buf_release(&b);
}

static void test_unsubscribe_links_are_https_or_to_this_machine(void **state)
{
    struct mail_message m = usual();
    struct buf b;

    (void)state;
    m.unsubscribe_url = "http://127.0.0.1:8080/u/x";
    b = composed(&m);
    buf_release(&b);
    m.unsubscribe_url = "http://club.example/u/x";
    refuse(&m);
    m.unsubscribe_url = "https://club.example/u/x>,<https://evil/";
    refuse(&m);
}

static int set_up(void **state)
{
    (void)state;
    mail_library_init();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_whole_letter_is_what_it_was_last_time),
        cmocka_unit_test(test_the_same_fields_give_the_same_bytes),
        cmocka_unit_test(test_a_reader_gets_text_html_and_picture_unchanged),
        cmocka_unit_test(test_text_alone_is_one_plain_part),
        cmocka_unit_test(test_encoded_words_end_between_words),
        cmocka_unit_test(test_a_long_unsubscribe_header_stays_on_one_line),
        cmocka_unit_test(test_line_breaks_in_header_fields_are_refused),
        cmocka_unit_test(test_a_subject_that_looks_encoded_is_shown_as_written),
        cmocka_unit_test(test_a_name_of_any_characters_is_read_back),
        cmocka_unit_test(test_long_subjects_are_folded_and_read_back_whole),
        cmocka_unit_test(test_lines_of_dots_and_bare_line_ends_are_harmless),
        cmocka_unit_test(test_quoted_printable_lines_are_at_most_76_long),
        cmocka_unit_test(test_addresses_of_the_documented_form_only),
        cmocka_unit_test(test_a_letter_that_cannot_be_switched_off_has_no_list_headers),
        cmocka_unit_test(test_unsubscribe_links_are_https_or_to_this_machine),
    };

    return cmocka_run_group_tests_name("mail/message", tests, set_up, NULL);
}
