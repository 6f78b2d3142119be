/*
 * http/change.c - see change.h.
 */
#include "http/change.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "http/readers.h"
#include "http/server.h"
#include "store/idempotency.h"
#include "store/store.h"

/* ------------------------------------------------------------------------------ waiting */

void request_wait(struct request *r)
{
    struct http *http = r->http;

    pool_conn_done(r->http);
    pthread_mutex_lock(&http->lock);
    http->waiting++;
    pthread_mutex_unlock(&http->lock);
    atomic_fetch_add(&http->metrics.waiting, 1);
    r->is_done = false;
    r->phase = PHASE_WAITING;
    MHD_suspend_connection(r->conn);
}

void request_done(struct request *r, enum status st, const struct err *err)
{
    struct http *http = r->http;

    r->outcome = st;
    if (st != ST_OK)
        r->outcome_err = *err;
    r->is_done = true;
    atomic_fetch_sub(&http->metrics.waiting, 1);
    MHD_resume_connection(r->conn);
    /* r is the pool thread's from here on. */
    pthread_mutex_lock(&http->lock);
    if (--http->waiting == 0)
        pthread_cond_broadcast(&http->idle);
    pthread_mutex_unlock(&http->lock);
}

/* ------------------------------------------------------------------------------ the same twice */

/* "key" or key: 1 to 128 printable characters. */
enum status change_read_key(struct request *r, struct err *err)
{
    const char *text = request_header(r, "Idempotency-Key");
    const struct digest *digest = &r->http->options.digest;
    struct buf all;
    enum status st;
    size_t n;

    if (!text || !(r->route->flags & ROUTE_REPEATABLE) || !request_is_logged_in(r))
        return ST_OK;
    n = strlen(text);
    if (n >= 2 && text[0] == '"' && text[n - 1] == '"') {
        text++;
        n -= 2;
    }
    for (size_t i = 0; i < n; i++)
        if (text[i] <= 0x20 || text[i] >= 0x7f)
            n = 0;
    if (n == 0 || n >= IDEMPOTENCY_KEY_SIZE)
        return ERR_DETAIL(err, REASON_BAD_REQUEST, "refusal.key_shape",
                          "`Idempotency-Key` has 1 to {most} printable characters without blanks",
                          ERR_NUMBER("most", IDEMPOTENCY_KEY_SIZE - 1));
    memcpy(r->key_text, text, n);
    r->key_text[n] = '\0';
    r->key = r->key_text;
    all = buf_make(r->http->options.body_size + HTTP_TARGET_MAX + 64);
    buf_printf(&all, "%s\n%s\n", method_str(r->method), r->target);
    buf_add(&all, r->body.data, r->body.len);
    st = buf_status(&all, "Idempotency-Key", err);
    if (st == ST_OK)
        digest->sha256(digest->arg, all.data, all.len, r->key_hash);
    buf_release(&all);
    return st;
}

/* The answer as it was given the first time. */
static void repeat_answer(struct request *r, const struct idempotency_row *row)
{
    static const char *const types[] = {"application/json", "application/problem+json"};
    const char *line = row->headers;

    buf_clear(&r->answer.body);
    buf_add(&r->answer.body, row->body, row->body_len);
    r->answer.status = row->status;
    r->answer.type = NULL;
    for (size_t i = 0; i < COUNT_OF(types); i++)
        if (strcmp(row->content_type, types[i]) == 0)
            r->answer.type = types[i];
    while (*line) {
        static const char *const known[] = {"ETag", "Location"};
        size_t len = strcspn(line, "\n");

        for (size_t i = 0; i < COUNT_OF(known); i++) {
            size_t n = strlen(known[i]);

            if (strncmp(line, known[i], n) == 0 && strncmp(line + n, ": ", 2) == 0) {
                char *value = str_ndup(line + n + 2, len - n - 2);

                if (value)
                    answer_header(r, known[i], value);
                free(value);
            }
        }
        line += len + (line[len] == '\n');
    }
}

static enum status keep_answer(struct request *r, struct store_txn *txn, utc_ms now,
                               struct err *err)
{
    struct idempotency_row *row = calloc(1, sizeof *row);
    size_t used = 0;
    enum status st;

    if (!row)
        return err_reason(err, REASON_NO_MEMORY, "the answer could not be kept");
    memcpy(row->request_hash, r->key_hash, sizeof row->request_hash);
    row->status = r->answer.status;
    for (size_t i = 0; i < r->answer.n_headers; i++) {
        const struct header *h = &r->answer.headers[i];

        if (strcmp(h->name, "ETag") != 0 && strcmp(h->name, "Location") != 0)
            continue;
        if (used < sizeof row->headers)
            used += (size_t)snprintf(row->headers + used, sizeof row->headers - used, "%s: %s\n",
                                     h->name, h->value);
    }
    str_copy(row->content_type, sizeof row->content_type, r->answer.type ? r->answer.type : "");
    row->body = r->answer.body.data;
    row->body_len = r->answer.body.len;
    row->created_at = now;
    st = idempotency_put(txn, r->who.user_id, r->key, row, err);
    free(row);
    return st;
}

/* ------------------------------------------------------------------------------ the command */

/* What is kept is bounded: a key that is new takes one of the account's for a day. */
static enum status take_key(struct request *r, struct err *err)
{
    struct rate_answer answer =
        rate_take(r->http->rate, RATE_KEYS, (uint64_t)r->who.user_id, http_now_ms(r->http));

    if (answer.is_allowed)
        return ST_OK;
    r->retry_s = answer.wait_s;
    atomic_fetch_add(&r->http->metrics.rate_limited, 1);
    return ERR_DETAIL(err, REASON_RATE_LIMIT, "refusal.keys_many",
                      "at most {most} new `Idempotency-Key` a day; without one it goes on",
                      ERR_NUMBER("most", r->http->options.keys_a_day));
}

/*
 * The command of a change.  With a key, what was refused is remembered as well as what was done, so
 * the act runs in a part of the transaction of its own.
 */
static enum status change_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct request *r = arg;
    struct idempotency_row row = {.status = 0};
    struct err refusal = ERR_INIT;
    enum status st, part;

    if (!r->key) {
        st = r->route->act(r, txn, now, err);
        return st;
    }
    st = idempotency_get(store_txn_conn(txn), r->who.user_id, r->key, &row, err);
    if (st == ST_OK && row.created_at <= now - IDEMPOTENCY_LIFE_MS) {
        int64_t n;

        /* It is over to the millisecond, also between two rounds of the ticker's. */
        idempotency_release(&row);
        st = idempotency_purge(txn, now - IDEMPOTENCY_LIFE_MS + 1, INT_MAX, &n, err);
        if (st != ST_OK)
            return st;
        st = ST_NOT_FOUND;
    }
    if (st == ST_OK) {
        if (memcmp(row.request_hash, r->key_hash, sizeof row.request_hash) == 0)
            repeat_answer(r, &row);
        else
            st = err_detail(err, REASON_KEY_REUSED, "refusal.key_reused",
                            "this `Idempotency-Key` came with another request before");
        idempotency_release(&row);
        return st;
    }
    if (st != ST_NOT_FOUND)
        return st;
    *err = ERR_INIT;
    st = take_key(r, err);
    if (st == ST_OK)
        st = store_part_begin(txn, err);
    if (st != ST_OK)
        return st;
    st = r->route->act(r, txn, now, &refusal);
    part = st == ST_OK ? store_part_keep(txn, err) : store_part_undo(txn, err);
    if (part != ST_OK)
        return part;
    if (st != ST_OK) {
        int http = status_http(st);

        if (http >= 500 || http == 429) {
            *err = refusal;
            return st;
        }
        answer_problem(r, &refusal);
    }
    return keep_answer(r, txn, now, err);
}

static void change_done(void *arg, enum status st, const struct err *err)
{
    struct request *r = arg;

    request_done(r, st, err);
}

enum status request_submit(struct request *r, struct err *err)
{
    enum status st;

    request_wait(r);
    st = writer_submit(r->http->options.writer,
                       &(struct writer_command){.name = r->route->path,
                                                .run = change_run,
                                                .done = change_done,
                                                .arg = r},
                       err);
    /* Suspended already: the refusal takes the same way back. */
    if (st != ST_OK)
        request_done(r, st, err);
    return ST_OK;
}
