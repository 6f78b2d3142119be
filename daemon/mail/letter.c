/* mail/letter.c - see letter.h. */
#include "mail/letter.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/str.h"
#include "mail/address.h"
#include "mail/body.h"
#include "mail/decode.h"
#include "mail/machine.h"
#include "mail/message.h"
#include "mail/scan.h"

enum {
    RECIPIENT_MAX = 320, /* bytes of an address that is kept */
    ID_MAX = 500,        /* bytes of a message id that is kept */
    VALUE_MAX = 8192     /* bytes of an Authentication-Results value that is kept */
};

const char *letter_mark_str(enum letter_mark mark)
{
    static const char *const words[LETTER_MARKS] = {
        "none",        "loop",     "report",     "reaction", "calendar", "auto_submitted",
        "null_sender", "auto_header", "suppress", "precedence", "list",  "daemon"};

    return words[mark];
}

const char *letter_from_fault_str(enum letter_from_fault fault)
{
    static const char *const words[LETTER_FROM_FAULTS] = {"ok", "missing", "several", "group",
                                                          "bad"};

    return words[fault];
}

const char *letter_problem_str(enum letter_problem problem)
{
    static const char *const words[LETTER_PROBLEMS] = {"fine", "no_text", "encrypted", "tnef"};

    return words[problem];
}

void letter_free(struct letter *letter)
{
    if (letter == NULL)
        return;
    free(letter->from);
    free(letter->from_domain);
    free(letter->from_name);
    free(letter->subject);
    free(letter->message_id);
    free(letter->in_reply_to);
    for (size_t i = 0; i < letter->reference_count; i++)
        free(letter->references[i]);
    free(letter->references);
    for (size_t i = 0; i < letter->recipient_count; i++)
        free(letter->recipients[i].address);
    free(letter->recipients);
    free(letter->loop_id);
    for (size_t i = 0; i < letter->authentication_result_count; i++)
        free(letter->authentication_results[i]);
    free(letter->authentication_results);
    report_release(&letter->report);
    free(letter->text);
    free(letter->html_text);
    free(letter);
}

static enum status no_memory(struct err *err)
{
    return err_set(err, ST_NOMEM, "no memory to read a letter");
}

/* ---------------------------------------------------------------- who and to whom */

static enum status read_from(struct letter *letter, const struct scan *scan, struct err *err)
{
    size_t index = 0;
    const char *value = scan_next(scan, "From", &index);
    enum status st = ST_OK;

    letter->from_fault = LETTER_FROM_MISSING;
    if (value && scan_next(scan, "From", &index) != NULL)
        letter->from_fault = LETTER_FROM_SEVERAL;
    else if (value)
        st = address_from(value, &letter->from_fault, &letter->from, &letter->from_name, err);
    if (st != ST_OK)
        return st;
    letter->has_from = letter->from != NULL;
    if (!letter->has_from) {
        letter->from = str_dup("");
        letter->from_name = str_dup("");
    }
    letter->from_domain = str_dup(letter->has_from ? strrchr(letter->from, '@') + 1 : "");
    return letter->from && letter->from_name && letter->from_domain ? ST_OK : no_memory(err);
}

struct gathering {
    struct letter *letter;
    enum letter_source source;
    bool is_out_of_memory;
};

static bool take_recipient(void *arg, const char *address, size_t n)
{
    struct gathering *g = arg;
    struct letter *l = g->letter;

    if (l->recipient_count == LETTER_RECIPIENTS_MAX)
        return false;
    if (n > RECIPIENT_MAX)
        return true;
    l->recipients[l->recipient_count].source = g->source;
    l->recipients[l->recipient_count].address = str_ndup(address, n);
    g->is_out_of_memory = l->recipients[l->recipient_count].address == NULL;
    l->recipient_count += !g->is_out_of_memory;
    return !g->is_out_of_memory;
}

static enum status read_recipients(struct letter *letter, const struct scan *scan,
                                   struct err *err)
{
    static const struct {
        const char *name;
        enum letter_source source;
    } fields[] = {
        {"Delivered-To", LETTER_DELIVERED_TO}, {"X-Original-To", LETTER_X_ORIGINAL_TO},
        {"Envelope-To", LETTER_ENVELOPE_TO},   {"X-Envelope-To", LETTER_ENVELOPE_TO},
        {"To", LETTER_TO},                     {"Cc", LETTER_CC},
    };

    letter->recipients = calloc(LETTER_RECIPIENTS_MAX, sizeof *letter->recipients);
    if (letter->recipients == NULL)
        return no_memory(err);
    for (size_t i = 0; i < COUNT_OF(fields); i++) {
        struct gathering g = {.letter = letter, .source = fields[i].source};
        size_t index = 0;

        for (const char *value; (value = scan_next(scan, fields[i].name, &index)) != NULL;) {
            address_each(value, take_recipient, &g);
            if (g.is_out_of_memory)
                return no_memory(err);
        }
    }
    return ST_OK;
}

/* ---------------------------------------------------------------- ids */

/* The next "<…>" of a value, without blanks inside; false: no more. */
static bool next_id(const char **p, const char **ret_id, size_t *ret_n)
{
    for (const char *lt; (lt = strchr(*p, '<')) != NULL;) {
        size_t n = strcspn(lt + 1, "<> ");

        *p = lt + 1 + n;
        if (**p == '>' && n > 0 && n <= ID_MAX) {
            *ret_id = lt + 1;
            *ret_n = n;
            return true;
        }
    }
    return false;
}

static char *first_id(const char *value)
{
    const char *id = NULL;
    size_t n = 0;
    char *text;

    if (value == NULL || !next_id(&value, &id, &n))
        return str_dup("");
    text = str_ndup(id, n);
    if (text && !utf8_is_valid(text, n))
        text[0] = '\0';
    return text;
}

static bool take_references(struct letter *letter, const char *value)
{
    const char *id = NULL;
    size_t n = 0;

    while (value && next_id(&value, &id, &n)) {
        char *text;

        if (!utf8_is_valid(id, n))
            continue;
        if ((text = str_ndup(id, n)) == NULL)
            return false;
        if (letter->reference_count == LETTER_REFERENCES_MAX) {
            free(letter->references[0]);
            memmove(letter->references, letter->references + 1,
                    (LETTER_REFERENCES_MAX - 1) * sizeof letter->references[0]);
            letter->reference_count--;
        }
        letter->references[letter->reference_count++] = text;
    }
    return true;
}

static enum status read_ids(struct letter *letter, const struct scan *scan, struct err *err)
{
    const char *in_reply_to = scan_first(scan, "In-Reply-To");

    letter->message_id = first_id(scan_first(scan, "Message-ID"));
    letter->in_reply_to = first_id(in_reply_to);
    letter->references = calloc(LETTER_REFERENCES_MAX, sizeof *letter->references);
    if (letter->message_id == NULL || letter->in_reply_to == NULL || letter->references == NULL ||
        !take_references(letter, scan_first(scan, "References")) ||
        !take_references(letter, in_reply_to))
        return no_memory(err);
    return ST_OK;
}

static enum status read_authentication(struct letter *letter, const struct scan *scan,
                                       struct err *err)
{
    size_t index = 0;

    letter->authentication_results = calloc(LETTER_AUTHRES_MAX, sizeof(char *));
    if (letter->authentication_results == NULL)
        return no_memory(err);
    for (const char *value; letter->authentication_result_count < LETTER_AUTHRES_MAX &&
                            (value = scan_next(scan, "Authentication-Results", &index)) != NULL;) {
        size_t n = strlen(value);
        /* One that is too long says nothing, but keeps its place: authres_judge() stops there. */
        char *kept = str_ndup(value, n > VALUE_MAX ? 0 : n);

        if (kept == NULL)
            return no_memory(err);
        letter->authentication_results[letter->authentication_result_count++] = kept;
    }
    return ST_OK;
}

/* ---------------------------------------------------------------- machines */

static void read_marks(struct letter *letter, const struct scan *scan, const struct body *body)
{
    if (letter->loop_id[0] != '\0')
        letter->mark = LETTER_MARK_LOOP;
    else if (body->has_report)
        letter->mark = LETTER_MARK_REPORT;
    else if (body->has_reaction)
        letter->mark = LETTER_MARK_REACTION;
    else if (body->has_calendar_reply)
        letter->mark = LETTER_MARK_CALENDAR;
    else
        letter->mark = machine_header_mark(letter->has_from ? letter->from : NULL, scan);
}

/* ---------------------------------------------------------------- the whole */

static enum status read_headers(struct letter *letter, const struct scan *scan, struct err *err)
{
    const char *subject = scan_first(scan, "Subject");
    const char *loop_id = scan_first(scan, "X-Loop-Id");
    enum status st = read_from(letter, scan, err);

    if (st == ST_OK)
        st = read_recipients(letter, scan, err);
    if (st == ST_OK)
        st = read_ids(letter, scan, err);
    if (st == ST_OK)
        st = read_authentication(letter, scan, err);
    if (st != ST_OK)
        return st;
    letter->subject = decode_header(subject ? subject : "", MAIL_HEADER_TEXT_MAX, NULL);
    letter->loop_id = decode_header(loop_id ? loop_id : "", MAIL_HEADER_TEXT_MAX, NULL);
    return letter->subject && letter->loop_id ? ST_OK : no_memory(err);
}

/* Plain before HTML; the other one is kept beside it.  But a plain twin does not show what was
 * struck out: then the HTML is what was written. */
static enum status read_text(struct letter *letter, struct body *body, struct err *err)
{
    bool is_plain = body->plain.len > 0 && !body->hides;
    struct buf *text = is_plain ? &body->plain : &body->html;

    letter->is_cut = letter->is_cut || body->is_cut;
    letter->problem = text->len > 0         ? LETTER_FINE
                      : body->has_encrypted ? LETTER_ENCRYPTED
                      : body->has_tnef      ? LETTER_TNEF
                                            : LETTER_NO_TEXT;
    letter->text = str_dup(text->data);
    if (letter->text == NULL)
        return no_memory(err);
    if (is_plain && body->html.len > 0) {
        letter->html_text = str_dup(body->html.data);
        if (letter->html_text == NULL)
            return no_memory(err);
    }
    letter->has_report = body->has_report;
    letter->report = body->report;
    body->report = REPORT_INIT;
    return ST_OK;
}

enum status letter_read(const void *bytes, size_t n, const struct letter_limits *limits,
                        struct letter **ret_letter, struct err *err)
{
    struct letter *letter = calloc(1, sizeof *letter);
    struct scan scan = SCAN_INIT;
    struct body body = {.report = REPORT_INIT};
    enum status st = letter ? scan_letter(bytes, n, limits, &scan, err) : no_memory(err);

    if (st != ST_OK)
        goto out;
    st = read_headers(letter, &scan, err);
    letter->is_cut = scan.is_cut;
    if (st == ST_OK)
        st = body_read(&scan.entity, limits, &body, err);
    if (st != ST_OK)
        goto out;
    read_marks(letter, &scan, &body);
    st = read_text(letter, &body, err);
    body_release(&body);
    if (st == ST_OK)
        st = machine_read_wording(letter->subject, letter->text, &letter->mark,
                                  &letter->is_perhaps_automatic, err);
    if (st != ST_OK)
        goto out;
    letter->is_automatic = letter->mark != LETTER_MARK_NONE;
    *ret_letter = letter;
    letter = NULL;
out:
    scan_release(&scan);
    letter_free(letter);
    return st;
}

/* ---------------------------------------------------------------- the fingerprint */

/* Digests of any length without memory: each piece is digested behind the sum so far. */
struct summing {
    const struct digest *digest;
    unsigned char block[DIGEST_SIZE + 4096];
    size_t n;
};

static void sum_flush(struct summing *s)
{
    unsigned char sum[DIGEST_SIZE];

    s->digest->sha256(s->digest->arg, s->block, DIGEST_SIZE + s->n, sum);
    memcpy(s->block, sum, DIGEST_SIZE);
    s->n = 0;
}

static void sum_add(struct summing *s, const char *bytes, size_t n)
{
    while (n > 0) {
        size_t room = sizeof s->block - DIGEST_SIZE - s->n;
        size_t take = n < room ? n : room;

        memcpy(s->block + DIGEST_SIZE + s->n, bytes, take);
        s->n += take;
        bytes += take;
        n -= take;
        if (s->n == sizeof s->block - DIGEST_SIZE)
            sum_flush(s);
    }
}

/* The header lines that count, their folds with them; where the body begins. */
static size_t sum_headers(struct summing *s, const char *bytes, size_t n, size_t cr)
{
    bool is_ours = false;
    size_t at = 0, next = 0;

    for (; at < n; at += next) {
        size_t len = scan_line(bytes + at, n - at, at >= cr, &next);
        const char *line = bytes + at;
        size_t name = 0;

        if (len == 0)
            return at + next;
        if (len >= 5 && (memcmp(line, "From ", 5) == 0 || (*line == '>' && len >= 6))) {
            continue;
        } else if (*line != ' ' && *line != '\t') {
            if (!scan_is_header(line, len, &name))
                return at;
            is_ours = (name == 4 && strncasecmp(line, "From", 4) == 0) ||
                      (name == 10 && strncasecmp(line, "Message-ID", 10) == 0);
        }
        if (is_ours) {
            sum_add(s, line, len);
            sum_add(s, "\n", 1);
        }
    }
    return at;
}

void mail_fingerprint(const void *bytes, size_t n, const struct digest *digest,
                      unsigned char ret[DIGEST_SIZE])
{
    struct summing s = {.digest = digest, .n = 0};
    const char *p = bytes;
    size_t cr = scan_cr_from(p, n);
    size_t at = sum_headers(&s, p, n, cr), next;
    size_t blank = 0; /* line ends not summed yet: those at the very end don't count */

    sum_add(&s, "\n", 1);
    for (; at < n; at += next) {
        size_t len = scan_line(p + at, n - at, at >= cr, &next);

        for (; len > 0 && blank > 0; blank--)
            sum_add(&s, "\n", 1);
        sum_add(&s, p + at, len);
        blank++;
    }
    sum_flush(&s);
    memcpy(ret, s.block, DIGEST_SIZE);
}
