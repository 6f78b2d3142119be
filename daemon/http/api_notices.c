/*
 * http/api_notices.c - which notices somebody wants, and where his webhooks are.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "http/handlers.h"
#include "http/render.h"
#include "store/outbox.h"
#include "store/prefs.h"
#include "store/webhooks.h"

enum {
    WEBHOOK_SECRET_BYTES = 32,
    WEBHOOKS_SHOWN = 64,
    ATTEMPTS_SHOWN = 16,
    WEBHOOK_NAME_MAX = 64,
    WEBHOOK_AUTH_MAX = 512,
    PAGE_MAX = 100,
    PAGE_DEFAULT = 50
};
#define OVERLAP_MS MS_DAY  /* the old secret signs on for so long */
enum { PINGS_WAITING_MAX = 5 }; /* of one webhook */
#define DELIVERY_MS (3 * MS_DAY) /* a ping or redelivery is tried for so long */

/* ------------------------------------------------------------------------------ switches */

static bool is_on(const struct prefs *prefs, enum notice_class cls, enum notice_channel channel)
{
    enum pref pref = prefs->at[cls][channel];

    return pref == PREF_DEFAULT ? notice_default(cls, channel) : pref == PREF_ON;
}

static enum status answer_notices(struct request *r, struct store_conn *conn, struct err *err)
{
    struct prefs prefs;
    json_t *root = json_object();
    enum status st = prefs_get(conn, r->who.user_id, &prefs, err);

    if (st != ST_OK) {
        json_decref(root);
        return st;
    }
    for (int channel = 0; channel < NOTICE_CHANNEL_COUNT_; channel++) {
        json_t *list = json_object();

        for (int cls = 0; cls < NOTICE_CLASS_COUNT_; cls++)
            if (notice_is_switchable((enum notice_class)cls))
                json_object_set_new(list, notice_class_str((enum notice_class)cls),
                                    json_boolean(is_on(&prefs, (enum notice_class)cls,
                                                       (enum notice_channel)channel)));
        json_object_set_new(root, notice_channel_str((enum notice_channel)channel), list);
    }
    return answer_json(r, 200, root, err);
}

enum status get_notices_read(struct request *r, struct err *err)
{
    struct store_conn *conn = NULL;
    enum status st = request_conn(r, &conn, err);

    return st == ST_OK ? answer_notices(r, conn, err) : st;
}

enum status patch_notices_prepare(struct request *r, struct err *err)
{
    for (int channel = 0; channel < NOTICE_CHANNEL_COUNT_; channel++) {
        const char *name = notice_channel_str((enum notice_channel)channel), *key;
        json_t *list = form_any(&r->form, name, 0, JSON_OBJECT), *value;

        json_object_foreach (list, key, value) {
            enum notice_class cls;
            char pointer[96], parent[32];

            snprintf(parent, sizeof parent, "/%s", name);
            form_pointer(pointer, sizeof pointer, parent, key);
            if (!notice_class_parse(key, &cls))
                form_error(&r->form, REASON_UNKNOWN_FIELD, pointer, "refusal.no_class",
                           "no such class of notices");
            else if (!notice_is_switchable(cls))
                form_error(&r->form, REASON_BAD_FIELD, pointer, "refusal.no_switch",
                           "these cannot be switched");
            else if (!json_is_boolean(value))
                FORM_ERROR(&r->form, REASON_BAD_FIELD, pointer, "refusal.must_be_one",
                           "must be one of `{list}`", ERR_TEXT("list", "true, false"));
        }
    }
    if (json_object_size(r->form.object) == 0)
        form_error(&r->form, REASON_MISSING_FIELD, "", "refusal.field_needed",
                   "at least one field is needed");
    return form_end(&r->form, err);
}

enum status patch_notices_act(struct request *r, struct store_txn *txn, utc_ms now,
                              struct err *err)
{
    enum status st = ST_OK;

    for (int channel = 0; channel < NOTICE_CHANNEL_COUNT_; channel++) {
        const char *name = notice_channel_str((enum notice_channel)channel), *key;
        json_t *list = json_object_get(r->form.object, name), *value;

        json_object_foreach (list, key, value) {
            enum notice_class cls;

            if (st != ST_OK || !notice_class_parse(key, &cls))
                continue;
            st = prefs_set(txn, r->who.user_id, cls, (enum notice_channel)channel,
                           json_is_true(value) ? PREF_ON : PREF_OFF, PREF_VIA_SETTINGS, now, err);
        }
    }
    return st == ST_OK ? answer_notices(r, store_txn_conn(txn), err) : st;
}

/* ------------------------------------------------------------------------------ webhooks */

/* The path of a hook's address is often the secret itself. */
static json_t *masked(const char *url)
{
    const char *host = strstr(url, "://");
    char text[WEBHOOK_URL_SIZE + 8];
    size_t n;

    host = host ? host + 3 : url;
    n = (size_t)(host - url) + strcspn(host, "/?#");
    snprintf(text, sizeof text, "%.*s%s", (int)n, url,
             url[n] == '\0' || (url[n] == '/' && url[n + 1] == '\0') ? url + n : "/…");
    return json_string(text);
}

static json_t *classes_of(const char *words)
{
    json_t *list = json_array();
    char word[32];

    while (*words) {
        size_t n;

        words += strspn(words, " ");
        n = strcspn(words, " ");
        if (n > 0 && n < sizeof word) {
            memcpy(word, words, n);
            word[n] = '\0';
            json_array_append_new(list, json_string(word));
        }
        words += n;
    }
    return list;
}

static json_t *webhook_json(const struct webhook_row *row)
{
    json_t *root = json_object();

    json_object_set_new(root, "id", json_integer(row->id));
    json_object_set_new(root, "url", masked(row->url));
    json_object_set_new(root, "kind", json_string(webhook_kind_str(row->kind)));
    json_object_set_new(root, "name", json_string(row->name));
    json_object_set_new(root, "classes", classes_of(row->events));
    json_object_set_new(root, "has_auth", json_boolean(row->auth[0] != '\0'));
    json_object_set_new(root, "state", json_string(webhook_state_str(row->state)));
    json_object_set_new(root, "disabled_cause", render_text(row->disabled_cause));
    json_object_set_new(root, "failing_since", render_instant(row->failing_since_at));
    json_object_set_new(root, "succeeded_at", render_instant(row->succeeded_at));
    json_object_set_new(root, "old_secret_until", render_instant(row->old_secret_until));
    json_object_set_new(root, "created_at", render_instant(row->created_at));
    return root;
}

static enum status answer_webhook(struct request *r, struct store_conn *conn, int status,
                                  int64_t id, bool with_secret, struct err *err)
{
    struct webhook_row *row = calloc(1, sizeof *row);
    json_t *root;
    enum status st;

    if (!row)
        return err_reason(err, REASON_NO_MEMORY, "a webhook");
    st = webhooks_get(conn, id, row, err);
    if (st == ST_OK) {
        root = webhook_json(row);
        if (with_secret) {
            const struct http_notices *notices = &r->http->options.notices;
            char secret[96] = "";

            if (notices->webhook_secret_print)
                notices->webhook_secret_print(notices->arg, row->secret, row->secret_len, secret);
            json_object_set_new(root, "secret", json_string(secret));
            r->answer.cache = "no-store";
        }
        st = answer_json(r, status, root, err);
    }
    free(row);
    return st;
}

/* One's own, or none; with it the reading of the request ends. */
static enum status find_own(struct request *r, struct store_conn *conn, struct webhook_row *row,
                            struct err *err)
{
    int64_t id;
    enum status st;

    request_param_id(r, 0, &id);
    st = form_end(&r->form, err);
    if (st == ST_OK)
        st = webhooks_get(conn, id, row, err);
    if (st == ST_OK && row->user_id != r->who.user_id)
        st = err_detail(err, REASON_NOT_FOUND, "refusal.no_webhook",
                        "there is no such webhook of yours");
    return st;
}

enum status list_webhooks_read(struct request *r, struct err *err)
{
    struct webhook_row *rows = calloc(WEBHOOKS_SHOWN, sizeof *rows);
    struct store_conn *conn = NULL;
    json_t *items;
    size_t n = 0;
    enum status st;

    if (!rows)
        return err_reason(err, REASON_NO_MEMORY, "webhooks");
    st = request_conn(r, &conn, err);
    if (st == ST_OK)
        st = webhooks_of_user(conn, r->who.user_id, rows, WEBHOOKS_SHOWN, &n, err);
    if (st == ST_OK) {
        items = json_array();
        for (size_t i = 0; i < n; i++)
            json_array_append_new(items, webhook_json(&rows[i]));
        st = answer_json(r, 200, json_pack("{s:o}", "items", items), err);
    }
    free(rows);
    return st;
}

enum status get_webhook_read(struct request *r, struct err *err)
{
    struct webhook_row *row = calloc(1, sizeof *row);
    struct store_conn *conn = NULL;
    enum status st;

    if (!row)
        return err_reason(err, REASON_NO_MEMORY, "a webhook");
    st = request_conn(r, &conn, err);
    if (st == ST_OK)
        st = find_own(r, conn, row, err);
    if (st == ST_OK)
        st = answer_json(r, 200, webhook_json(row), err);
    free(row);
    return st;
}

struct webhook_data {
    const char *url, *name, *auth;
    int kind;  /* enum webhook_kind, -1: not said */
    int state; /* enum webhook_state, -1: not said */
    bool has_classes;
    char classes[WEBHOOK_EVENTS_SIZE];
    char checked[WEBHOOK_URL_SIZE];
};

static enum status check_url(struct request *r, struct webhook_data *data, enum webhook_kind kind,
                             const char *url, struct err *err)
{
    const struct http_notices *notices = &r->http->options.notices;
    struct buf out = buf_make(WEBHOOK_URL_SIZE - 1);
    struct err why = ERR_INIT;
    enum status st;

    if (!notices->webhook_check) {
        buf_release(&out);
        return err_detail(err, REASON_BLOCKED_ADDRESS, "refusal.webhooks_off",
                          "webhooks are off on this server");
    }
    st = notices->webhook_check(notices->arg, url, kind, &out, &why);
    if (st == ST_OK)
        st = buf_status(&out, "the address", &why);
    if (st == ST_OK) {
        str_copy(data->checked, sizeof data->checked, out.data);
    } else if (why.reason == REASON_BAD_FIELD || why.reason == REASON_BLOCKED_ADDRESS) {
        form_refuse(&r->form, "/url", &why);
        st = form_end(&r->form, err);
    } else {
        *err = why;
    }
    buf_release(&out);
    return st;
}

/* An access token is sent with those two alone; to another it would be kept for nothing. */
static void check_auth(struct form *form, const char *auth, enum webhook_kind kind)
{
    if (auth && *auth && kind != WEBHOOK_NTFY && kind != WEBHOOK_MATRIX)
        form_error(form, REASON_BAD_FIELD, "/auth", "refusal.auth_kind",
                   "only webhooks of the kinds `ntfy` and `matrix` take it");
}

static enum status read_webhook(struct request *r, bool is_new, struct err *err)
{
    struct webhook_data *data = calloc(1, sizeof *data);
    const char *kinds[WEBHOOK_KIND_COUNT_];
    static const char *const states[] = {"on", "off"};
    json_t *classes, *word;
    int64_t id;
    size_t i, used = 0;
    unsigned chosen = 0;

    if (!data)
        return err_reason(err, REASON_NO_MEMORY, "the request did not fit into memory");
    r->data = data;
    r->data_free = free;
    data->kind = data->state = -1;
    for (int k = 0; k < WEBHOOK_KIND_COUNT_; k++)
        kinds[k] = webhook_kind_str((enum webhook_kind)k);
    form_str(&r->form, "url", is_new ? FIELD_NEEDED : 0, 1, WEBHOOK_URL_SIZE - 1, &data->url);
    form_word(&r->form, "kind", 0, kinds, WEBHOOK_KIND_COUNT_, &data->kind);
    form_str(&r->form, "name", 0, 0, WEBHOOK_NAME_MAX, &data->name);
    form_str(&r->form, "auth", 0, 0, WEBHOOK_AUTH_MAX, &data->auth);
    if (data->auth)
        for (const char *p = data->auth; *p; p++)
            if ((unsigned char)*p <= 0x20 || (unsigned char)*p >= 0x7f) {
                form_error(&r->form, REASON_BAD_FIELD, "/auth", "refusal.printable",
                           "must be printable characters without blanks");
                break;
            }
    if (data->name && strlen(data->name) >= WEBHOOK_NAME_SIZE)
        FORM_ERROR(&r->form, REASON_BAD_FIELD, "/name", "refusal.must_bytes",
                   "must have at most {most} bytes", ERR_NUMBER("most", WEBHOOK_NAME_SIZE - 1));
    if (!is_new)
        form_word(&r->form, "state", 0, states, COUNT_OF(states), &data->state);
    classes = form_any(&r->form, "classes", 0, JSON_ARRAY);
    data->has_classes = classes != NULL;
    json_array_foreach (classes, i, word) {
        enum notice_class cls;
        char pointer[32];

        snprintf(pointer, sizeof pointer, "/classes/%zu", i);
        if (!json_is_string(word) || !notice_class_parse(json_string_value(word), &cls) ||
            !notice_is_switchable(cls)) {
            form_error(&r->form, REASON_BAD_FIELD, pointer, "refusal.no_class",
                       "no such class of notices");
        } else if (chosen & 1u << cls) {
            form_error(&r->form, REASON_BAD_FIELD, pointer, "refusal.twice", "is there twice");
        } else if (strlen(data->classes) + 40 < sizeof data->classes) {
            chosen |= 1u << cls;
            used += (size_t)snprintf(data->classes + used, sizeof data->classes - used, "%s%s",
                                     used ? " " : "", notice_class_str(cls));
        }
    }
    if (!is_new)
        request_param_id(r, 0, &id);
    if (!is_new && json_object_size(r->form.object) == 0)
        form_error(&r->form, REASON_MISSING_FIELD, "", "refusal.field_needed",
                   "at least one field is needed");
    if (is_new && data->kind < 0 && data->auth)
        data->kind = WEBHOOK_STANDARD;
    if (data->kind >= 0)
        check_auth(&r->form, data->auth, (enum webhook_kind)data->kind);
    return form_end(&r->form, err);
}

enum status create_webhook_prepare(struct request *r, struct err *err)
{
    struct webhook_data *data;
    enum status st = read_webhook(r, true, err);

    if (st != ST_OK)
        return st;
    data = r->data;
    if (data->kind < 0)
        data->kind = WEBHOOK_STANDARD;
    return check_url(r, data, (enum webhook_kind)data->kind, data->url, err);
}

enum status create_webhook_act(struct request *r, struct store_txn *txn, utc_ms now,
                               struct err *err)
{
    struct webhook_data *data = r->data;
    const struct entropy *entropy = &r->http->options.entropy;
    struct webhook_row *rows = calloc(WEBHOOKS_SHOWN, sizeof *rows);
    struct webhook_row *row = calloc(1, sizeof *row);
    size_t n = 0;
    enum status st;

    if (!rows || !row) {
        st = err_reason(err, REASON_NO_MEMORY, "a webhook");
        goto out;
    }
    st = webhooks_of_user(store_txn_conn(txn), r->who.user_id, rows, WEBHOOKS_SHOWN, &n, err);
    if (st != ST_OK)
        goto out;
    if (n >= (size_t)r->http->options.webhooks_per_user) {
        st = ERR_DETAIL(err, REASON_LIMIT, "refusal.webhooks_most",
                        "you have {n} webhooks already; there may be no more",
                        ERR_NUMBER("n", n));
        goto out;
    }
    row->user_id = r->who.user_id;
    str_copy(row->url, sizeof row->url, data->checked);
    row->kind = (enum webhook_kind)data->kind;
    str_copy(row->name, sizeof row->name, data->name ? data->name : "");
    str_copy(row->events, sizeof row->events, data->classes);
    str_copy(row->auth, sizeof row->auth, data->auth ? data->auth : "");
    row->secret_len = WEBHOOK_SECRET_BYTES;
    entropy->fill(entropy->arg, row->secret, row->secret_len);
    row->old_secret_until = row->disabled_at = row->failing_since_at = row->succeeded_at = UTC_NONE;
    row->state = WEBHOOK_ON;
    row->created_at = row->updated_at = now;
    st = webhooks_create(txn, row, &row->id, err);
    if (st == ST_OK)
        st = answer_webhook(r, store_txn_conn(txn), 201, row->id, true, err);
out:
    free(rows);
    free(row);
    return st;
}

enum status patch_webhook_prepare(struct request *r, struct err *err)
{
    struct webhook_row *row;
    struct webhook_data *data;
    struct store_conn *conn = NULL;
    enum status st = read_webhook(r, false, err);

    if (st != ST_OK)
        return st;
    data = r->data;
    row = calloc(1, sizeof *row);
    if (!row)
        return err_reason(err, REASON_NO_MEMORY, "a webhook");
    st = request_conn(r, &conn, err);
    if (st == ST_OK)
        st = find_own(r, conn, row, err);
    if (st == ST_OK && data->kind < 0) {
        check_auth(&r->form, data->auth, row->kind);
        st = form_end(&r->form, err);
    }
    if (st == ST_OK && (data->url || data->kind >= 0))
        st = check_url(r, data, data->kind >= 0 ? (enum webhook_kind)data->kind : row->kind,
                       data->url ? data->url : row->url, err);
    free(row);
    return st;
}

/* Scheme, host and port; of addresses as webhook_check() writes them. */
static bool is_same_origin(const char *url, const char *other)
{
    const char *host = strstr(url, "://");
    size_t n = host ? (size_t)(host - url) + 3 + strcspn(host + 3, "/?#") : strlen(url);

    return strncmp(url, other, n) == 0 && (other[n] == '\0' || strchr("/?#", other[n]));
}

enum status patch_webhook_act(struct request *r, struct store_txn *txn, utc_ms now,
                              struct err *err)
{
    struct webhook_data *data = r->data;
    struct webhook_row *row = calloc(1, sizeof *row);
    enum status st;

    if (!row)
        return err_reason(err, REASON_NO_MEMORY, "a webhook");
    st = find_own(r, store_txn_conn(txn), row, err);
    if (st != ST_OK)
        goto out;
    /* The other side's token is for the other side: it does not go to another host on the word of
     * whoever may not even see it. */
    if (data->checked[0] && !is_same_origin(data->checked, row->url))
        row->auth[0] = '\0';
    if (data->checked[0])
        str_copy(row->url, sizeof row->url, data->checked);
    if (data->kind >= 0)
        row->kind = (enum webhook_kind)data->kind;
    if (data->kind >= 0 && row->kind != WEBHOOK_NTFY && row->kind != WEBHOOK_MATRIX)
        row->auth[0] = '\0';
    if (data->name)
        str_copy(row->name, sizeof row->name, data->name);
    if (data->auth)
        str_copy(row->auth, sizeof row->auth, data->auth);
    if (data->has_classes)
        str_copy(row->events, sizeof row->events, data->classes);
    if (data->state >= 0)
        row->state = data->state == 0 ? WEBHOOK_ON : WEBHOOK_OFF;
    st = webhooks_update(txn, row, now, err);
    if (st == ST_OK)
        st = answer_webhook(r, store_txn_conn(txn), 200, row->id, false, err);
out:
    free(row);
    return st;
}

/* The acts below begin alike. */
static enum status take_own(struct request *r, struct store_txn *txn, struct webhook_row **ret,
                            struct err *err)
{
    struct webhook_row *row = calloc(1, sizeof *row);
    enum status st;

    if (!row)
        return err_reason(err, REASON_NO_MEMORY, "a webhook");
    st = find_own(r, store_txn_conn(txn), row, err);
    if (st == ST_OK)
        *ret = row;
    else
        free(row);
    return st;
}

enum status delete_webhook_act(struct request *r, struct store_txn *txn, utc_ms now,
                               struct err *err)
{
    struct webhook_row *row = NULL;
    enum status st = take_own(r, txn, &row, err);

    if (st == ST_OK)
        st = webhooks_delete(txn, row->id, now, err);
    if (st == ST_OK)
        answer_empty(r, 204);
    free(row);
    return st;
}

enum status rotate_webhook_act(struct request *r, struct store_txn *txn, utc_ms now,
                               struct err *err)
{
    const struct entropy *entropy = &r->http->options.entropy;
    unsigned char secret[WEBHOOK_SECRET_BYTES];
    struct webhook_row *row = NULL;
    enum status st = take_own(r, txn, &row, err);

    if (st == ST_OK) {
        entropy->fill(entropy->arg, secret, sizeof secret);
        st = webhooks_rotate(txn, row->id, secret, sizeof secret, now + OVERLAP_MS, now, err);
    }
    if (st == ST_OK)
        st = answer_webhook(r, store_txn_conn(txn), 200, row->id, true, err);
    free(row);
    return st;
}

enum status ping_webhook_act(struct request *r, struct store_txn *txn, utc_ms now,
                             struct err *err)
{
    const struct entropy *entropy = &r->http->options.entropy;
    struct webhook_row *row = NULL;
    struct intent_row *intent = NULL;
    uint64_t random;
    int64_t waiting = 0;
    enum status st = take_own(r, txn, &row, err);

    if (st == ST_OK && row->state != WEBHOOK_ON)
        st = err_detail(err, REASON_WEBHOOK_OFF, "refusal.webhook_off",
                        "switch the webhook on first");
    if (st == ST_OK)
        st = outbox_tests_waiting(store_txn_conn(txn), row->id, &waiting, err);
    if (st == ST_OK && waiting >= PINGS_WAITING_MAX)
        st = ERR_DETAIL(err, REASON_LIMIT, "refusal.pings_most",
                        "{n} pings of this webhook are waiting; see its deliveries",
                        ERR_NUMBER("n", waiting));
    if (st != ST_OK)
        goto out;
    intent = calloc(1, sizeof *intent);
    if (!intent) {
        st = err_reason(err, REASON_NO_MEMORY, "a delivery");
        goto out;
    }
    *intent = INTENT_ROW_INIT;
    entropy->fill(entropy->arg, &random, sizeof random);
    snprintf(intent->dedupe_key, sizeof intent->dedupe_key, "ping:%" PRId64 ":%016" PRIx64,
             row->id, random);
    intent->cls = NOTICE_TEST;
    intent->channel = CHANNEL_WEBHOOK;
    str_copy(intent->template_name, sizeof intent->template_name, "ping");
    intent->user_id = r->who.user_id;
    intent->webhook_id = row->id;
    intent->due_at = now;
    intent->expires_at = now + MS_DAY;
    intent->created_at = now;
    st = outbox_put(txn, intent, NULL, err);
    if (st == ST_OK)
        st = answer_accepted(r, err);
out:
    free(intent);
    free(row);
    return st;
}

/* ------------------------------------------------------------------------------ deliveries */

static enum status delivery_json(struct store_conn *conn, const struct intent_row *row,
                                 json_t **ret, struct err *err)
{
    struct attempt_row *rows = calloc(ATTEMPTS_SHOWN, sizeof *rows);
    json_t *attempts = json_array(), *root;
    struct game_brief *brief = NULL;
    size_t n = 0;
    enum status st;

    if (!rows) {
        st = err_reason(err, REASON_NO_MEMORY, "deliveries");
        goto out;
    }
    st = attempts_of(conn, row->id, rows, ATTEMPTS_SHOWN, &n, err);
    if (st != ST_OK)
        goto out;
    if (row->game_id) {
        brief = calloc(1, sizeof *brief);
        if (!brief) {
            st = err_reason(err, REASON_NO_MEMORY, "deliveries");
            goto out;
        }
        st = games_brief(conn, row->game_id, brief, err);
        if (st != ST_OK)
            goto out;
    }
    for (size_t i = 0; i < n; i++)
        json_array_append_new(
            attempts,
            json_pack("{s:o, s:s, s:o, s:I, s:o}", "at", render_instant(rows[i].at), "outcome",
                      attempt_outcome_str(rows[i].outcome), "http_status",
                      rows[i].code ? json_integer(rows[i].code) : json_null(), "took_ms",
                      (json_int_t)rows[i].took_ms, "text", json_string(rows[i].text)));
    root = json_object();
    json_object_set_new(root, "id", json_integer(row->id));
    json_object_set_new(root, "webhook_id", render_text(row->message_id));
    json_object_set_new(root, "class", json_string(notice_class_str(row->cls)));
    json_object_set_new(root, "game", brief ? json_string(brief->public_id) : json_null());
    json_object_set_new(root, "state", json_string(outbox_state_str(row->state)));
    json_object_set_new(root, "created_at", render_instant(row->created_at));
    json_object_set_new(root, "next_attempt_at",
                        render_instant(row->settled_at == UTC_NONE ? row->due_at : UTC_NONE));
    json_object_set(root, "attempts", attempts);
    *ret = root;
out:
    json_decref(attempts);
    free(rows);
    free(brief);
    return st;
}

enum status list_deliveries_read(struct request *r, struct err *err)
{
    static const char *const names[] = {"limit", "after", NULL};
    struct webhook_row *hook = calloc(1, sizeof *hook);
    struct intent_row *rows = calloc(PAGE_MAX, sizeof *rows);
    struct store_conn *conn = NULL;
    const char *after = request_query(r, "after");
    json_t *items = json_array();
    int64_t limit, before = 0;
    size_t n = 0;
    enum status st = ST_OK;

    request_query_only(r, names);
    request_query_int(r, "limit", 1, PAGE_MAX, PAGE_DEFAULT, &limit);
    if (after && !str_to_int64(after, 1, INT64_MAX, &before))
        form_error(&r->form, REASON_BAD_CURSOR, "after", "refusal.bad_cursor",
                   "`after` must be the `next` of the page before");
    if (!hook || !rows)
        st = err_reason(err, REASON_NO_MEMORY, "deliveries");
    if (st == ST_OK)
        st = request_conn(r, &conn, err);
    if (st == ST_OK)
        st = find_own(r, conn, hook, err);
    if (st == ST_OK)
        st = outbox_of_webhook(conn, hook->id, before, rows, (size_t)limit, &n, err);
    for (size_t i = 0; i < n && st == ST_OK; i++) {
        json_t *item = NULL;

        st = delivery_json(conn, &rows[i], &item, err);
        json_array_append_new(items, item);
    }
    if (st == ST_OK) {
        char next[24] = "";

        if (n == (size_t)limit) {
            char link[256];

            snprintf(next, sizeof next, "%" PRId64, rows[n - 1].id);
            snprintf(link, sizeof link,
                     "</api/v1/me/webhooks/%" PRId64 "/deliveries?limit=%" PRId64
                     "&after=%s>; rel=\"next\"",
                     hook->id, limit, next);
            answer_header(r, "Link", link);
        }
        st = answer_json(r, 200,
                         json_pack("{s:O, s:o}", "items", items, "next", render_text(next)), err);
    }
    for (size_t i = 0; i < n; i++)
        intent_release(&rows[i]);
    json_decref(items);
    free(rows);
    free(hook);
    return st;
}

enum status redeliver_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err)
{
    struct webhook_row *row = NULL;
    struct intent_row *intent = NULL;
    int64_t id;
    enum status st;

    request_param_id(r, 1, &id);
    st = take_own(r, txn, &row, err);
    if (st == ST_OK && row->state != WEBHOOK_ON)
        st = err_detail(err, REASON_WEBHOOK_OFF, "refusal.webhook_off",
                        "switch the webhook on first");
    if (st == ST_OK) {
        intent = calloc(1, sizeof *intent);
        st = intent ? outbox_get(store_txn_conn(txn), id, intent, err)
                    : err_reason(err, REASON_NO_MEMORY, "a delivery");
    }
    if (st == ST_OK && intent->webhook_id != row->id)
        st = err_detail(err, REASON_NOT_FOUND, "refusal.no_delivery", "there is no such delivery");
    if (st == ST_OK)
        st = outbox_again(txn, id, now, now + DELIVERY_MS, err);
    if (st == ST_GONE) /* kept no longer than needed */
        st = err_detail(err, REASON_NOT_FOUND, "refusal.delivery_gone",
                        "what was sent is not kept any more");
    if (st == ST_OK)
        st = answer_accepted(r, err);
    if (intent)
        intent_release(intent);
    free(intent);
    free(row);
    return st;
}
