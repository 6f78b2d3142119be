/* A letter: whatever comes in, what is read of it is valid UTF-8 within its limits, and every line
 * of its text is of some kind. */
#include "fuzz.h"

#include "base/str.h"
#include "mail/authres.h"
#include "mail/letter.h"
#include "mail/message.h"
#include "mail/reply.h"

static void toy_sha256(void *arg, const void *bytes, size_t n, unsigned char ret[DIGEST_SIZE])
{
    const unsigned char *p = bytes;
    unsigned sum = 0;

    (void)arg;
    for (size_t i = 0; i < n; i++)
        sum = sum * 31 + p[i];
    memset(ret, (int)(sum & 0xff), DIGEST_SIZE);
}

static void text_is_ok(const char *text)
{
    must(text != NULL);
    must(utf8_is_valid(text, strlen(text)));
}

/* What goes into headers and answers holds no control. */
static void field_is_ok(const char *text)
{
    text_is_ok(text);
    for (const unsigned char *p = (const unsigned char *)text; *p; p++)
        must(*p >= 0x20 && *p != 0x7f);
}

static void reply_is_ok(const char *text)
{
    static const char *const words[] = {"note"};
    static const char *const markers[] = {"--- Reply above"};
    static const char *const banners[] = {"Poczta"};
    const struct reply_options options = {.own_words = words, .own_word_count = 1,
                                          .markers = markers, .marker_count = 1,
                                          .banners = banners, .banner_count = 1};
    struct reply reply = REPLY_INIT;
    struct err err = ERR_INIT;
    bool has_top = false;

    must(reply_split(text, &options, &reply, &err) == ST_OK);
    must(reply.count <= REPLY_LINES_MAX);
    for (size_t i = 0; i < reply.count; i++) {
        const struct reply_line *line = &reply.lines[i];

        must(line->kind < REPLY_KINDS);
        field_is_ok(line->text);
        field_is_ok(line->raw);
        if (line->latin)
            field_is_ok(line->latin);
        must(strchr(line->raw, '\n') == NULL);
        has_top = has_top || (line->kind == REPLY_TOP && *line->text);
    }
    must(reply.has_top == has_top);
    reply_release(&reply);
}

static void letter_is_ok(const struct letter *letter)
{
    text_is_ok(letter->text);
    must(strlen(letter->text) <= 64 * 1024);
    must(strchr(letter->text, '\r') == NULL);
    field_is_ok(letter->subject);
    field_is_ok(letter->from_name);
    field_is_ok(letter->message_id);
    field_is_ok(letter->in_reply_to);
    must(strlen(letter->subject) <= MAIL_HEADER_TEXT_MAX);
    must(!letter->has_from || mail_address_is_ok(letter->from));
    must(letter->is_automatic == (letter->mark != LETTER_MARK_NONE));
    must((letter->problem == LETTER_FINE) == (letter->text[0] != '\0'));
    for (size_t i = 0; i < letter->reference_count; i++)
        field_is_ok(letter->references[i]);
    for (size_t i = 0; i < letter->recipient_count; i++)
        must(strchr(letter->recipients[i].address, '@') != NULL);
    for (size_t i = 0; i < letter->report.recipient_count; i++) {
        field_is_ok(letter->report.recipients[i].diagnostic);
        field_is_ok(letter->report.recipients[i].final_recipient);
    }
    (void)authres_judge((const char *const *)letter->authentication_results,
                        letter->authentication_result_count, "mx.club.example",
                        letter->from_domain);
    reply_is_ok(letter->text);
    if (letter->html_text) {
        text_is_ok(letter->html_text);
        reply_is_ok(letter->html_text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct digest digest = {toy_sha256, NULL};
    unsigned char print[DIGEST_SIZE];
    struct letter *letter = NULL;
    struct err err = ERR_INIT;
    enum status st;

    mail_library_init();
    mail_fingerprint(data, size, &digest, print);
    st = letter_read(data, size, NULL, &letter, &err);
    must(st == ST_OK || st == ST_INVALID || st == ST_TOO_LARGE);
    if (st == ST_OK)
        letter_is_ok(letter);
    letter_free(letter);
    return 0;
}
