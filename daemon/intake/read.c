#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "intake/internal.h"

void reading_free(struct reading *r)
{
    if (!r)
        return;
    letter_free(r->letter);
    reply_release(&r->reply);
    reading_free(r->held);
    free(r);
}

/* The recipient as the row keeps it, the token replaced. */
static enum intake_recipient kind_of(const struct intake_options *o, const struct inbox_row *row)
{
    char token[SECRET_SIZE];

    if (row->has_token || strstr(row->recipient, "…"))
        return INTAKE_PLAY;
    return recipient_read(o, row->recipient, token);
}

/* A command below the quoted letter is not read where something stands above it: that is told. */
static void note_unread(struct reading *r)
{
    struct grammar *g = &r->grammar;

    for (size_t i = 0; g->n > 0 && i < r->reply.count; i++)
        if (r->reply.lines[i].kind == REPLY_BETWEEN && r->reply.lines[i].text[0] &&
            grammar_would_act(r->reply.lines[i].text)) {
            if (g->unread_from == 0)
                g->unread_from = (int)i + 1;
            return;
        }
}

/* Split a text and read its commands. */
static enum status read_text(const struct intake_options *o, const char *text, struct reading *r,
                             struct err *err)
{
    /* A note, and an address that is given a seat, may look like a signature. */
    static const char *const own_words[] = {"note", "seat"};
    const char *markers[LANGS];
    const struct reply_options options = {.banners = o->banners,
                                          .banner_count = o->n_banners,
                                          .markers = markers,
                                          .marker_count = LANGS,
                                          .own_words = own_words,
                                          .own_word_count = COUNT_OF(own_words)};
    struct grammar_line *lines;
    enum reply_kind kind;
    size_t n = 0;
    enum status st;

    for (int lang = 0; lang < LANGS; lang++) /* whoever's letter it was, in whatever language */
        markers[lang] = words_plain((enum lang)lang, "letter.reply_above");
    reply_release(&r->reply);
    r->reply = REPLY_INIT;
    st = reply_split(text, &options, &r->reply, err);
    if (st != ST_OK)
        return st;
    lines = calloc(r->reply.count + 1, sizeof *lines);
    if (!lines)
        return err_reason(err, REASON_NO_MEMORY, "a letter");
    r->is_between = !r->reply.has_top && r->reply.has_between;
    kind = r->is_between ? REPLY_BETWEEN : REPLY_TOP;
    for (size_t i = 0; i < r->reply.count; i++)
        if (r->reply.lines[i].kind == kind)
            lines[n++] = (struct grammar_line){.text = r->reply.lines[i].text,
                                               .raw = r->reply.lines[i].raw,
                                               .number = (int)i + 1};
    if (r->is_between)
        (void)grammar_read_between(lines, n, &r->grammar);
    else
        (void)grammar_read(lines, n, &r->grammar);
    free(lines);
    if (!r->is_between && r->grammar.fault == GRAMMAR_NONE)
        note_unread(r);
    return ST_OK;
}

static enum status read_commands(const struct intake_options *o, struct reading *r,
                                 struct err *err)
{
    const struct letter *letter = r->letter;
    enum status st;

    r->grammar.fault = GRAMMAR_EMPTY;
    if (letter->problem != LETTER_FINE)
        return ST_OK;
    st = read_text(o, letter->text, r, err);
    if (st == ST_OK && letter->is_cut && r->is_between)
        r->grammar.fault = GRAMMAR_NOT_ONE; /* what was cut off may hold another one */
    if (st == ST_OK && r->grammar.n == 0 && r->grammar.fault != GRAMMAR_ARGUMENT &&
        letter->html_text) {
        struct reading plain = *r, html = *r;

        /* A plain twin may be a stub ("this letter is HTML"): look at the other, but keep the
         * plain one's fault if that has no command either (P05, P06). */
        html.reply = REPLY_INIT;
        st = read_text(o, letter->html_text, &html, err);
        if (st == ST_OK && html.grammar.fault == GRAMMAR_NONE) {
            html.is_html = true;
            reply_release(&plain.reply);
            *r = html;
        } else {
            reply_release(&html.reply);
        }
    }
    if (st == ST_INVALID || st == ST_TOO_LARGE) { /* what reply_split() will not look at */
        r->grammar.fault = GRAMMAR_TOO_LONG;
        r->grammar.n = 0;
        st = ST_OK;
    }
    return st;
}

enum status reading_make(const struct intake_options *o, const struct inbox_row *row,
                         const void *raw, size_t n, struct reading **ret, struct err *err)
{
    const struct letter_limits limits = {.message = o->letter_size};
    struct reading *r = calloc(1, sizeof *r);
    enum status st;

    if (!r)
        return err_reason(err, REASON_NO_MEMORY, "a letter");
    r->row = *row;
    r->row.raw = NULL;
    r->row.raw_len = 0;
    r->to = kind_of(o, row);
    if (!raw) {
        (void)err_set(&r->fault, ST_GONE, "its bytes are not kept any more");
        *ret = r;
        return ST_OK;
    }
    st = letter_read(raw, n, &limits, &r->letter, &r->fault);
    if (st == ST_NOMEM)
        goto fail;
    r->has_letter = st == ST_OK;
    if (r->has_letter) {
        st = read_commands(o, r, err);
        if (st != ST_OK)
            goto out;
    }
    *ret = r;
    return ST_OK;
fail:
    if (err)
        *err = r->fault;
out:
    reading_free(r);
    return st;
}

static enum status load_one(const struct intake_options *o, struct store_conn *conn,
                            int64_t inbox_id, struct reading **ret, struct err *err)
{
    struct inbox_row row = INBOX_ROW_INIT;
    enum status st = inbox_get(conn, inbox_id, true, &row, err);

    if (st == ST_OK)
        st = reading_make(o, &row, row.raw, row.raw_len, ret, err);
    inbox_row_release(&row);
    return st;
}

/* The letter that a confirm token is about. */
enum status reading_find_held(const struct intake_options *o, struct store_conn *conn,
                              struct reading *r, struct err *err)
{
    struct sender *sender;
    enum status st;

    if (!r->has_letter || r->to != INTAKE_PLAY)
        return ST_OK;
    sender = calloc(1, sizeof *sender);
    if (!sender)
        return err_reason(err, REASON_NO_MEMORY, "a letter");
    st = sender_find(o, conn, &r->row, r->letter, sender, err);
    if (st == ST_OK && sender->has_token && sender->token.purpose == TOKEN_CONFIRM &&
        sender->token.inbox_id != 0) {
        st = load_one(o, conn, sender->token.inbox_id, &r->held, err);
        if (st == ST_NOT_FOUND) /* purged meanwhile */
            st = ST_OK;
    }
    free(sender);
    return st;
}

enum status reading_load(const struct intake_options *o, struct store_conn *conn,
                         int64_t inbox_id, struct reading **ret, struct err *err)
{
    struct reading *r = NULL;
    enum status st = load_one(o, conn, inbox_id, &r, err);

    if (st == ST_OK)
        st = reading_find_held(o, conn, r, err);
    if (st == ST_OK)
        *ret = r;
    else
        reading_free(r);
    return st;
}
