#include "main/admin.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "main/cli.h"
#include "main/cmd_receive.h"
#include "main/engine.h"
#include "store/audit.h"

void admin_request_init(struct admin_request *rq, const char *verb)
{
    rq->bytes = buf_make(ADMIN_REQUEST_MAX);
    buf_add(&rq->bytes, verb, strlen(verb) + 1);
}

void admin_request_add(struct admin_request *rq, const char *name, const char *value)
{
    if (!value)
        return;
    buf_add(&rq->bytes, name, strlen(name) + 1);
    buf_add(&rq->bytes, value, strlen(value) + 1);
}

void admin_request_body(struct admin_request *rq, const void *bytes, size_t n)
{
    buf_putc(&rq->bytes, '\0');
    buf_add(&rq->bytes, bytes, n);
}

void admin_request_release(struct admin_request *rq)
{
    buf_release(&rq->bytes);
}

const char *admin_value(const struct admin_call *call, const char *name)
{
    for (size_t i = 0; i < call->count; i++)
        if (str_eq(call->values[i].name, name))
            return call->values[i].value;
    return NULL;
}

/* A value that must be there. */
static enum status value_need(const struct admin_call *call, const char *name, const char **ret,
                              struct err *err)
{
    *ret = admin_value(call, name);
    return *ret ? ST_OK
                : err_reason(err, REASON_MISSING_FIELD, "%s needs %s", call->verb, name);
}

static enum status audit(struct store_txn *txn, const char *act, int64_t subject,
                         const char *detail, utc_ms now, struct err *err)
{
    struct audit_row row = {.at = now, .role = AUDIT_ADMINISTRATOR, .subject_id = subject};

    (void)str_copy(row.act, sizeof row.act, act);
    (void)str_copy(row.detail, sizeof row.detail, detail);
    return audit_add(txn, &row, err);
}

/* ------------------------------------------------------------------------------- users */

/* The account that the value "handle" names. */
static enum status user_need(const struct admin_call *call, struct store_txn *txn,
                             struct user_row *ret, struct err *err)
{
    char key[HANDLE_MAX + 1];
    const char *handle;
    enum status st = value_need(call, "handle", &handle, err);

    if (st != ST_OK)
        return st;
    handle_fold(handle, key);
    st = strlen(handle) > HANDLE_MAX ? ST_NOT_FOUND
                                     : users_find_handle(store_txn_conn(txn), key, ret, err);
    return st == ST_NOT_FOUND
               ? err_reason(err, REASON_NO_SUCH_USER, "there is no account \"%.40s\"", handle)
               : st;
}

static enum status user_add(struct admin_call *call, struct store_txn *txn, utc_ms now,
                            struct err *err)
{
    struct people_new user = {
        .name = admin_value(call, "name"),
        .address = admin_value(call, "address"),
        .is_verified = admin_value(call, "verified") != NULL,
        .zone = admin_value(call, "zone"),
        .language = admin_value(call, "language"),
        .password_hash = admin_value(call, "password_hash"),
        .is_operator = admin_value(call, "operator") != NULL,
    };
    int64_t id;
    enum status st = value_need(call, "handle", &user.handle, err);

    if (st == ST_OK)
        st = people_add(&call->engine->people, txn, &user, now, &id, err);
    if (st == ST_OK)
        buf_printf(call->out, "added %s\n", user.handle);
    return st;
}

/* A2: what waits for somebody before its start does not wait for an account that is shut.  His own
 * game is called off, his seats and the ones kept for him are open again.  game: room to work. */
static enum status open_game_give_up(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                                     int64_t user_id, int64_t game_id, struct game_row *game,
                                     struct err *err)
{
    const struct arbiter_actor admin = {.is_administrator = true}, he = {.user_id = user_id};
    struct seat_row seats[SEAT_COUNT];
    struct member_row member;
    enum status st = games_get(store_txn_conn(txn), game_id, game, err);

    if (st == ST_OK && game->organiser_id == user_id)
        return arbiter_abort(arb, txn, now, admin, game_id, NULL, game, err);
    if (st == ST_OK)
        st = seats_get(store_txn_conn(txn), game_id, seats, err);
    if (st == ST_OK && seats_of_user(seats, user_id) != 0)
        st = arbiter_leave(arb, txn, now, he, game_id, 0, game, err);
    if (st == ST_OK)
        st = members_get(store_txn_conn(txn), game_id, user_id, &member, err);
    if (st == ST_OK && member.is_invited)
        return arbiter_decline(arb, txn, now, he, game_id, NULL, game, err);
    return st == ST_NOT_FOUND ? ST_OK : st; /* who has left belongs to it no more */
}

static enum status open_games_give_up(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                                      int64_t user_id, struct err *err)
{
    enum { AT_ONCE = 16 };
    struct game_filter filter = GAME_FILTER_INIT;
    struct game_cursor from = {.id = 0};
    struct game_brief *rows = calloc(AT_ONCE, sizeof *rows);
    struct game_row *game = calloc(1, sizeof *game);
    enum status st = rows && game ? ST_OK : err_reason(err, REASON_NO_MEMORY, "out of memory");

    filter.player_id = filter.viewer_id = user_id;
    filter.state = GAME_OPEN;
    while (st == ST_OK) {
        size_t n = 0;

        st = games_list(store_txn_conn(txn), &filter, &from, rows, AT_ONCE, &n, &from, err);
        for (size_t i = 0; i < n && st == ST_OK; i++)
            st = open_game_give_up(arb, txn, now, user_id, rows[i].id, game, err);
        if (from.id == 0)
            break;
    }
    free(rows);
    free(game);
    return st;
}

static enum status user_disable(struct admin_call *call, struct store_txn *txn, utc_ms now,
                                struct err *err)
{
    bool is_disabled = str_eq(call->verb, "user-disable");
    struct user_row user;
    enum status st = user_need(call, txn, &user, err);

    if (st == ST_OK && is_disabled)
        st = open_games_give_up(&call->engine->arbiter, txn, now, user.id, err);
    if (st == ST_OK)
        st = people_disable(&call->engine->people, txn, 0, user.id, is_disabled, now, err);
    if (st == ST_OK)
        buf_printf(call->out, "%s %s\n", is_disabled ? "disabled" : "enabled", user.handle);
    return st;
}

static enum status user_operator(struct admin_call *call, struct store_txn *txn, utc_ms now,
                                 struct err *err)
{
    bool is_operator = admin_value(call, "revoke") == NULL;
    struct user_row user;
    enum status st = user_need(call, txn, &user, err);

    if (st == ST_OK && user.is_operator == is_operator)
        st = err_reason(err, REASON_ALREADY_DONE, "%s is %s operator already", user.handle,
                        is_operator ? "an" : "no");
    if (st == ST_OK)
        st = users_set_operator(txn, user.id, is_operator, now, err);
    if (st == ST_OK)
        st = audit(txn, is_operator ? "operator_grant" : "operator_revoke", user.id, "", now, err);
    if (st == ST_OK)
        buf_printf(call->out, "%s is %s operator\n", user.handle,
                   is_operator ? "now an" : "no longer an");
    return st;
}

static enum status user_password(struct admin_call *call, struct store_txn *txn, utc_ms now,
                                 struct err *err)
{
    const char *hash = admin_value(call, "password_hash");
    struct user_row user;
    enum status st = user_need(call, txn, &user, err);

    if (st == ST_OK && !hash && !user.password_hash[0])
        st = err_reason(err, REASON_ALREADY_DONE, "%s has no password", user.handle);
    if (st == ST_OK)
        st = people_password_set(&call->engine->people, txn, user.id, user.password_hash, hash,
                                 /* keep_session= */ 0, now, err);
    if (st == ST_OK)
        st = audit(txn, "user_password", user.id, hash ? "set" : "removed", now, err);
    if (st == ST_OK)
        buf_printf(call->out, "the password of %s is %s\n", user.handle,
                   hash ? "set" : "removed");
    return st;
}

static enum status user_token(struct admin_call *call, struct store_txn *txn, utc_ms now,
                              struct err *err)
{
    const char *name = admin_value(call, "name"), *words = admin_value(call, "scopes"),
               *life = admin_value(call, "life");
    char token[API_TOKEN_SIZE], word[16];
    unsigned scopes = 0;
    int64_t id, life_ms;
    utc_ms expires_at = UTC_NONE;
    struct user_row user;
    enum status st = user_need(call, txn, &user, err);

    if (st == ST_OK)
        st = people_is_open(&user, err);
    if (st != ST_OK)
        return st;
    for (const char *w = words ? words : "read,play"; *w;) {
        size_t len = strcspn(w, ",");
        unsigned scope = 0;
        if (len < sizeof word) {
            memcpy(word, w, len);
            word[len] = '\0';
            scope = scope_parse(word);
        }
        if (!scope)
            return err_reason(err, REASON_BAD_FIELD,
                              "scopes are read, play and manage, parted by commas");
        scopes |= scope;
        w += len + (w[len] == ',');
    }
    if (life) {
        st = length_parse(life, &life_ms, err);
        if (st != ST_OK)
            return st;
        expires_at = now + life_ms;
    }
    st = people_token_make(&call->engine->people, txn, user.id, SCOPES_ALL,
                           name ? name : "made by the administrator", scopes, expires_at, now,
                           token, &id, err);
    if (st == ST_OK)
        st = audit(txn, "user_token", user.id, "", now, err);
    if (st == ST_OK)
        buf_printf(call->out, "%s\n", token);
    return st;
}

static enum status user_link(struct admin_call *call, struct store_txn *txn, utc_ms now,
                             struct err *err)
{
    char secret[SECRET_SIZE];
    struct user_row user;
    enum status st = user_need(call, txn, &user, err);

    if (st == ST_OK)
        st = people_link_make(&call->engine->people, txn, user.id, now, secret, err);
    if (st == ST_OK)
        st = audit(txn, "user_link", user.id, "", now, err);
    if (st == ST_OK)
        buf_printf(call->out, "%s/login/%s\n", call->engine->public_url, secret);
    return st;
}

static enum status user_invite(struct admin_call *call, struct store_txn *txn, utc_ms now,
                               struct err *err)
{
    char secret[SECRET_SIZE];
    struct user_row user;
    enum status st = user_need(call, txn, &user, err);

    if (st == ST_OK)
        st = people_invite(&call->engine->people, txn, user.id, admin_value(call, "address"),
                           admin_value(call, "note"), now, secret, err);
    if (st == ST_OK)
        st = audit(txn, "user_invite", user.id, "", now, err);
    if (st == ST_OK)
        buf_printf(call->out, "%s/sign-in#invitation=%s\n", call->engine->public_url, secret);
    return st;
}

/* A link that went astray: nobody makes an account by it any more, nor by a registration that has
 * begun with it. */
static enum status user_uninvite(struct admin_call *call, struct store_txn *txn, utc_ms now,
                                 struct err *err)
{
    struct store_conn *conn = store_txn_conn(txn);
    const char *text;
    struct invite_row row;
    struct user_row user;
    int64_t id;
    enum status st;

    TRY(value_need(call, "number", &text, err));
    if (!str_to_int64(text, 1, INT64_MAX, &id))
        return err_reason(err, REASON_BAD_FIELD,
                          "an invitation is named by its number; user invites tells it");
    st = invites_get(conn, id, &row, err);
    if (st == ST_NOT_FOUND)
        return err_reason(err, REASON_NOT_FOUND, "there is no invitation %" PRId64, id);
    if (st != ST_OK)
        return st;
    if (row.used_by) {
        TRY(users_get(conn, row.used_by, &user, err));
        return err_reason(err, REASON_ALREADY_DONE,
                          "invitation %" PRId64 " has been used, by %s", id, user.handle);
    }
    if (row.revoked_at != UTC_NONE)
        return err_reason(err, REASON_ALREADY_DONE,
                          "invitation %" PRId64 " has been taken back already", id);
    TRY(invites_revoke(txn, id, now, err));
    TRY(audit(txn, "user_uninvite", row.created_by, "", now, err));
    buf_printf(call->out, "invitation %" PRId64 " is taken back\n", id);
    return ST_OK;
}

/* ------------------------------------------------------------------------------- games */

static enum status game_need(const struct admin_call *call, struct store_txn *txn,
                             struct game_row *ret, struct err *err)
{
    const char *id;
    enum status st = value_need(call, "game", &id, err);

    if (st != ST_OK)
        return st;
    st = games_find(store_txn_conn(txn), id, ret, err);
    return st == ST_NOT_FOUND || st == ST_TOO_LARGE
               ? err_reason(err, REASON_NO_SUCH_GAME, "there is no game \"%.40s\"", id)
               : st;
}

/* A result by its name here or as a score, as the API has it: South and North's side first. */
static enum status result_parse(const char *text, enum game_result *ret, struct err *err)
{
    static const struct {
        const char *score;
        enum game_result result;
    } scores[] = {{"1-0", GAME_RESULT_TEAM0}, {"0-1", GAME_RESULT_TEAM1},
                  {"1/2-1/2", GAME_RESULT_DRAW}};

    for (size_t i = 0; i < COUNT_OF(scores); i++)
        if (str_eq(text, scores[i].score)) {
            *ret = scores[i].result;
            return ST_OK;
        }
    if (game_result_parse(text, ret) && *ret != GAME_RESULT_NONE)
        return ST_OK;
    return err_reason(err, REASON_BAD_FIELD,
                      "a result is team0 or 1-0 (South and North), team1 or 0-1 (West and East), "
                      "draw or 1/2-1/2");
}

static enum status game_act(struct admin_call *call, struct store_txn *txn, utc_ms now,
                            struct err *err)
{
    const struct arbiter *arb = &call->engine->arbiter;
    const struct arbiter_actor actor = {.is_administrator = true};
    const char *note = admin_value(call, "note"), *value;
    struct game_row *game = calloc(1, sizeof *game);
    enum game_result result;
    int64_t length_ms;
    utc_ms until = UTC_NONE;
    char at[UTC_TEXT_SIZE];
    enum status st = game ? game_need(call, txn, game, err)
                          : err_reason(err, REASON_NO_MEMORY, "out of memory");

    if (st != ST_OK)
        goto out;
    if (str_eq(call->verb, "game-abort")) {
        st = arbiter_abort(arb, txn, now, actor, game->id, note, game, err);
    } else if (str_eq(call->verb, "game-pause")) {
        value = admin_value(call, "until");
        if (value)
            st = utc_parse(value, &until, err);
        if (st == ST_OK)
            st = arbiter_pause(arb, txn, now, actor, game->id, until, note, game, err);
    } else if (str_eq(call->verb, "game-resume")) {
        st = arbiter_resume(arb, txn, now, actor, game->id, note, game, err);
    } else if (str_eq(call->verb, "game-credit")) {
        st = value_need(call, "length", &value, err);
        if (st == ST_OK)
            st = length_parse(value, &length_ms, err);
        if (st == ST_OK)
            st = arbiter_credit(arb, txn, now, actor, game->id, length_ms, note, game, err);
    } else {
        st = value_need(call, "result", &value, err);
        if (st == ST_OK)
            st = result_parse(value, &result, err);
        if (st == ST_OK)
            st = arbiter_adjudicate(arb, txn, now, actor, game->id, result, note, game, err);
    }
    if (st != ST_OK)
        goto out;
    st = arbiter_pause_end(store_txn_conn(txn), game->id, &until, err);
    if (st != ST_OK)
        goto out;
    buf_printf(call->out, "%s %s%s ply=%d deadline=%s", game->public_id,
               game_state_str(game->state), game->paused_at != UTC_NONE ? " paused" : "",
               game->ply, cli_instant(game->deadline_at, at));
    if (game->paused_at != UTC_NONE)
        buf_printf(call->out, " until=%s", cli_instant(until, at));
    buf_printf(call->out, " result=%s\n", game_result_str(game->result));
out:
    free(game);
    return st;
}

/* ------------------------------------------------------------------------------- performing */

static const struct admin_verb verbs[] = {
    {"user-add", user_add, NULL},
    {"user-disable", user_disable, NULL},
    {"user-enable", user_disable, NULL},
    {"user-operator", user_operator, NULL},
    {"user-password", user_password, NULL},
    {"user-token", user_token, NULL},
    {"user-link", user_link, NULL},
    {"user-invite", user_invite, NULL},
    {"user-uninvite", user_uninvite, NULL},
    {"game-abort", game_act, NULL},
    {"game-pause", game_act, NULL},
    {"game-resume", game_act, NULL},
    {"game-credit", game_act, NULL},
    {"game-adjudicate", game_act, NULL},
    {"receive", NULL, receive_perform},
    {"inbox-retry", inbox_retry_run, inbox_retry_after},
    {NULL, NULL, NULL},
};

static const struct admin_verb *verb_find(const struct admin_verb *table, const char *name)
{
    for (; table && table->name; table++)
        if (str_eq(table->name, name))
            return table;
    return NULL;
}

struct performing {
    struct admin_call call;
    const struct admin_verb *verb;
};

static enum status performing_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct performing *p = arg;

    return p->verb->run(&p->call, txn, now, err);
}

/* The text at *at, ended by a NUL before end; NULL when there is none. */
static const char *text_take(const char **at, const char *end)
{
    const char *text = *at, *nul = memchr(text, '\0', (size_t)(end - text));

    if (nul)
        *at = nul + 1;
    return nul ? text : NULL;
}

/* Take the request apart; false when it is not one. */
static bool request_read(const char *bytes, size_t n, struct admin_call *call)
{
    const char *at = bytes, *end = bytes + n;

    call->verb = text_take(&at, end);
    if (!call->verb)
        return false;
    for (call->count = 0; at < end; call->count++) {
        const char *name = text_take(&at, end), *value;
        if (!name)
            return false;
        if (!*name) { /* all the rest is the body */
            call->body = at;
            call->body_len = (size_t)(end - at);
            return true;
        }
        value = text_take(&at, end);
        if (!value || call->count == ADMIN_VALUES_MAX || !utf8_is_valid(value, strlen(value)))
            return false;
        call->values[call->count].name = name;
        call->values[call->count].value = value;
    }
    return true;
}

enum status admin_perform(struct engine *engine, const struct admin_verb *more, const char *bytes,
                          size_t n, struct buf *out, struct err *err)
{
    struct performing p = {.call = {.engine = engine, .out = out}};
    struct writer_command command = {.name = "admin", .run = performing_run, .arg = &p};
    enum status st;

    if (!request_read(bytes, n, &p.call))
        return err_reason(err, REASON_BAD_REQUEST, "the request is not well-formed UTF-8 text");
    p.verb = verb_find(verbs, p.call.verb);
    if (!p.verb)
        p.verb = verb_find(more, p.call.verb);
    if (!p.verb)
        return err_reason(err, REASON_BAD_REQUEST, "the daemon does not know \"%.40s\"",
                          p.call.verb);
    st = p.verb->run ? writer_run(engine->writer, &command, err) : ST_OK;
    if (st == ST_OK && p.verb->after)
        st = p.verb->after(&p.call, err);
    if (st == ST_OK)
        st = buf_status(out, "answer", err);
    return st;
}
