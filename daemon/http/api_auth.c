/*
 * http/api_auth.c - coming in, going out, registering.
 *
 * A password is checked on the password worker: the connection waits for it, then for the writer.
 */
#include <stdlib.h>
#include <string.h>

#include "arbiter/arbiter.h"
#include "clock/zone.h"
#include "http/handlers.h"
#include "http/render.h"
#include "people/passwords.h"
#include "store/users.h"

struct auth_data {
    const char *login, *token, *password, *current;
    struct people_wish wish;
    int64_t user_id;
    char hash[PASSWORD_HASH_SIZE];
    bool has_new_hash;
    char new_hash[PASSWORD_HASH_SIZE];
};

static struct auth_data *data_of(struct request *r, struct err *err)
{
    if (!r->data) {
        r->data = calloc(1, sizeof(struct auth_data));
        r->data_free = free;
        if (!r->data)
            (void)err_reason(err, REASON_NO_MEMORY, "the request did not fit into memory");
    }
    return r->data;
}

static const char *agent_of(const struct request *r, char ret[AGENT_SIZE])
{
    const char *agent = request_header(r, "User-Agent");

    /* Only what is fit to be shown again. */
    if (!agent || !utf8_is_valid(agent, strlen(agent)))
        agent = "";
    str_copy(ret, AGENT_SIZE, agent);
    return ret;
}

/* ------------------------------------------------------------------------------ the profile */

static json_t *scopes_of(unsigned scopes)
{
    static const unsigned all[] = {SCOPE_READ, SCOPE_PLAY, SCOPE_MANAGE};
    json_t *list = json_array();

    for (size_t i = 0; i < COUNT_OF(all); i++)
        if (scopes & all[i])
            json_array_append_new(list, json_string(scope_str(all[i])));
    return list;
}

static enum status answer_me(struct request *r, struct store_conn *conn, int64_t user_id,
                             unsigned scopes, utc_ms now, struct err *err)
{
    struct user_row *user = calloc(1, sizeof *user);
    char pending[ADDRESS_SIZE] = "";
    enum status st;

    if (!user)
        return err_reason(err, REASON_NO_MEMORY, "a profile");
    st = users_get(conn, user_id, user, err);
    if (st == ST_OK)
        st = people_address_pending(conn, user_id, now, pending, sizeof pending, err);
    if (st == ST_OK)
        st = answer_json(
            r, 200,
            json_pack("{s:s, s:s, s:o, s:o, s:s, s:o, s:s, s:s, s:b, s:b, s:o, s:o}", "handle",
                      user->handle, "name", user->display_name, "address",
                      render_text(user->address), "pending_address", render_text(pending),
                      "address_state", address_state_str(user->address_state), "mail_hold_ms",
                      user->hold_ms < 0 ? json_null() : json_integer(user->hold_ms), "time_zone",
                      user->zone, "language", user->language, "operator", user->is_operator,
                      "has_password", user->password_hash[0] != '\0', "scopes", scopes_of(scopes),
                      "created_at", render_instant(user->created_at)),
            err);
    free(user);
    return st;
}

/* ------------------------------------------------------------------------------ what fits */

/* What people/ would refuse one by one, all at once.  NULL: not said, or wrong already. */
static void check_person(struct request *r, const char *name, const char *zone,
                         const char *language)
{
    const struct people *people = r->http->options.people;
    const struct zone *found;
    struct err why = ERR_INIT;

    if (name && name_is_fit(name, &why) != ST_OK)
        form_refuse(&r->form, "/name", &why);
    if (zone && zone_cache_get(people->zones, zone, &found, &why) != ST_OK)
        form_refuse(&r->form, "/time_zone", &why);
    if (language && language_is_fit(language, people->languages, &why) != ST_OK)
        form_refuse(&r->form, "/language", &why);
}

static void check_own_address(struct request *r, const char *address)
{
    struct err why = ERR_INIT;

    if (address && people_address_check(r->http->options.people, address, &why) != ST_OK)
        form_refuse(&r->form, "/address", &why);
}

/* ------------------------------------------------------------------------------ links */

enum status request_link_prepare(struct request *r, struct err *err)
{
    struct auth_data *data = data_of(r, err);

    if (!data)
        return err->code;
    form_str(&r->form, "login", FIELD_NEEDED, 1, ADDRESS_MAX, &data->login);
    return form_end(&r->form, err);
}

enum status request_link_act(struct request *r, struct store_txn *txn, utc_ms now,
                             struct err *err)
{
    struct auth_data *data = r->data;
    enum status st = people_ask_login(r->http->options.people, txn, data->login, now, err);

    return st == ST_OK ? answer_accepted(r, err) : st;
}

static enum status read_token(struct request *r, struct err *err)
{
    struct auth_data *data = data_of(r, err);

    if (!data)
        return err->code;
    form_str(&r->form, "token", FIELD_NEEDED, 1, 64, &data->token);
    return form_end(&r->form, err);
}

enum status consume_link_prepare(struct request *r, struct err *err)
{
    return read_token(r, err);
}

enum status consume_link_act(struct request *r, struct store_txn *txn, utc_ms now,
                             struct err *err)
{
    struct auth_data *data = r->data;
    struct people_login login;
    char agent[AGENT_SIZE];
    enum status st = people_login_by_link(r->http->options.people, txn, data->token,
                                          agent_of(r, agent), now, &login, err);

    if (st == ST_OK)
        st = answer_me(r, store_txn_conn(txn), login.user_id, SCOPES_ALL, now, err);
    if (st == ST_OK)
        answer_session(r, login.secret, now, login.expires_at);
    return st;
}

enum status confirm_address_prepare(struct request *r, struct err *err)
{
    return read_token(r, err);
}

enum status confirm_address_act(struct request *r, struct store_txn *txn, utc_ms now,
                                struct err *err)
{
    struct auth_data *data = r->data;
    bool is_complete = false;
    enum status st = people_address_confirm(r->http->options.people, txn, data->token, now,
                                            &is_complete, err);

    if (st != ST_OK)
        return st;
    return answer_json(r, 200, json_pack("{s:b}", "complete", is_complete), err);
}

enum status register_prepare(struct request *r, struct err *err)
{
    struct auth_data *data = data_of(r, err);
    struct people_wish *wish;
    struct err why = ERR_INIT;

    if (!data)
        return err->code;
    wish = &data->wish;
    form_str(&r->form, "handle", FIELD_NEEDED, 1, HANDLE_MAX, &wish->handle);
    form_str(&r->form, "name", 0, 0, NAME_MAX_CHARS, &wish->name);
    form_str(&r->form, "address", FIELD_NEEDED, 3, ADDRESS_MAX, &wish->address);
    form_str(&r->form, "time_zone", 0, 1, 64, &wish->zone);
    form_str(&r->form, "language", 0, 1, LANGUAGE_MAX, &wish->language);
    form_str(&r->form, "invitation", 0, 1, 64, &wish->invitation);
    if (wish->name && !*wish->name)
        wish->name = NULL;
    if (wish->handle && handle_is_fit(wish->handle, &why) != ST_OK)
        form_refuse(&r->form, "/handle", &why);
    check_person(r, wish->name, wish->zone, wish->language);
    check_own_address(r, wish->address);
    return form_end(&r->form, err);
}

enum status register_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err)
{
    struct auth_data *data = r->data;
    enum status st = people_register(r->http->options.people, txn, &data->wish, now, err);

    return st == ST_OK ? answer_accepted(r, err) : st;
}

enum status logout_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err)
{
    struct err over = ERR_INIT;
    enum status st =
        people_session_end(txn, r->who.user_id, r->who.session_id, now, &over);

    if (st != ST_OK && st != ST_NOT_FOUND) {
        *err = over;
        return st;
    }
    answer_empty(r, 204);
    answer_session(r, NULL, now, now);
    return ST_OK;
}

/* ------------------------------------------------------------------------------ passwords */

static void password_answered(void *arg, const struct password_result *result)
{
    struct request *r = arg;
    struct auth_data *data = r->data;
    struct err err = ERR_INIT;

    if (result->st == ST_OK && result->has_new_hash) {
        data->has_new_hash = true;
        memcpy(data->new_hash, result->new_hash, sizeof data->new_hash);
    }
    if (result->st == ST_UNAUTHENTICATED)
        (void)err_detail(&err, REASON_BAD_CREDENTIALS, "refusal.login_bad",
                         "no such account, or not its password");
    else if (result->st != ST_OK)
        err = result->err;
    request_done(r, err.code, &err);
}

enum status login_by_password_read(struct request *r, struct err *err)
{
    struct auth_data *data = data_of(r, err);
    struct passwords *worker = r->http->options.passwords;
    struct store_conn *conn = NULL;
    enum status st;

    if (!data)
        return err->code;
    form_str(&r->form, "login", FIELD_NEEDED, 1, ADDRESS_MAX, &data->login);
    form_str(&r->form, "password", FIELD_NEEDED, 1, PASSWORD_MAX, &data->password);
    st = form_end(&r->form, err);
    if (st == ST_OK)
        st = request_conn(r, &conn, err);
    if (st == ST_OK)
        st = people_password_find(conn, data->login, &data->user_id, data->hash,
                                  sizeof data->hash, err);
    if (st != ST_OK)
        return st;
    r->resumed = request_submit;
    request_wait(r);
    st = passwords_check(worker, data->user_id ? data->hash : passwords_dummy(worker),
                         data->password, password_answered, r, err);
    if (st != ST_OK)
        request_done(r, st, err);
    return ST_OK;
}

enum status login_by_password_act(struct request *r, struct store_txn *txn, utc_ms now,
                                  struct err *err)
{
    struct auth_data *data = r->data;
    struct people_login login;
    char agent[AGENT_SIZE];
    enum status st;

    if (data->user_id == 0) /* the dummy's password was guessed: there is none */
        return err_detail(err, REASON_BAD_CREDENTIALS, "refusal.login_bad",
                          "no such account, or not its password");
    st = people_login_by_password(r->http->options.people, txn, data->user_id, data->hash,
                                  data->has_new_hash ? data->new_hash : NULL, agent_of(r, agent),
                                  now, &login, err);
    if (st == ST_OK)
        st = answer_me(r, store_txn_conn(txn), login.user_id, SCOPES_ALL, now, err);
    if (st == ST_OK)
        answer_session(r, login.secret, now, login.expires_at);
    return st;
}

enum status set_password_read(struct request *r, struct err *err)
{
    struct auth_data *data = data_of(r, err);
    struct store_conn *conn = NULL;
    struct user_row *user;
    struct err why = ERR_INIT;
    enum status st;

    if (!data)
        return err->code;
    form_str(&r->form, "current", 0, 0, PASSWORD_MAX, &data->current);
    form_str(&r->form, "password", FIELD_NEEDED, PASSWORD_MIN, PASSWORD_MAX, &data->password);
    st = form_end(&r->form, err);
    if (st == ST_OK)
        st = request_conn(r, &conn, err);
    if (st != ST_OK)
        return st;
    user = calloc(1, sizeof *user);
    if (!user)
        return err_reason(err, REASON_NO_MEMORY, "a profile");
    st = users_get(conn, r->who.user_id, user, err);
    if (st == ST_OK && password_is_fit(data->password, user->handle, &why) != ST_OK) {
        form_refuse(&r->form, "/password", &why);
        st = form_end(&r->form, err);
    }
    free(user);
    if (st == ST_OK)
        st = people_password_of(conn, r->who.user_id, data->hash, sizeof data->hash, err);
    if (st != ST_OK)
        return st;
    if (data->hash[0] && !data->current) {
        form_error(&r->form, REASON_MISSING_FIELD, "/current", "refusal.needed_password",
                   "the current password is needed");
        return form_end(&r->form, err);
    }
    r->resumed = request_submit;
    request_wait(r);
    st = passwords_change(r->http->options.passwords, data->hash,
                          data->current ? data->current : "", data->password, password_answered, r,
                          err);
    if (st != ST_OK)
        request_done(r, st, err);
    return ST_OK;
}

enum status set_password_act(struct request *r, struct store_txn *txn, utc_ms now,
                             struct err *err)
{
    struct auth_data *data = r->data;
    enum status st = people_password_set(r->http->options.people, txn, r->who.user_id, data->hash,
                                         data->new_hash, r->who.session_id, now, err);

    if (st == ST_OK)
        answer_empty(r, 204);
    return st;
}

enum status delete_password_act(struct request *r, struct store_txn *txn, utc_ms now,
                                struct err *err)
{
    char hash[PASSWORD_HASH_SIZE];
    enum status st = people_password_of(store_txn_conn(txn), r->who.user_id, hash, sizeof hash,
                                        err);

    if (st == ST_OK && hash[0])
        st = people_password_set(r->http->options.people, txn, r->who.user_id, hash, NULL,
                                 r->who.session_id, now, err);
    if (st == ST_OK)
        answer_empty(r, 204);
    return st;
}

/* ------------------------------------------------------------------------------ /me */

enum status get_me_read(struct request *r, struct err *err)
{
    struct store_conn *conn = NULL;
    enum status st = request_conn(r, &conn, err);

    if (st != ST_OK)
        return st;
    return answer_me(r, conn, r->who.user_id, r->who.scopes, http_now(r->http), err);
}

struct profile_data {
    struct people_profile profile;
    bool has_hold;
    int64_t hold_ms;
    const char *address;
};

static struct profile_data *profile_of(struct request *r, struct err *err)
{
    if (!r->data) {
        r->data = calloc(1, sizeof(struct profile_data));
        r->data_free = free;
        if (!r->data)
            (void)err_reason(err, REASON_NO_MEMORY, "the request did not fit into memory");
    }
    return r->data;
}

/* null (as the installation has it) or milliseconds. */
static void read_hold(struct form *form, struct profile_data *data)
{
    if (!form_has(form, "mail_hold_ms"))
        return;
    data->has_hold = true;
    data->hold_ms = -1;
    if (!json_is_null(json_object_get(form->object, "mail_hold_ms")))
        form_int(form, "mail_hold_ms", 0, 0, ARBITER_HOLD_MAX_MS, &data->hold_ms);
}

enum status patch_me_prepare(struct request *r, struct err *err)
{
    struct profile_data *data = profile_of(r, err);

    if (!data)
        return err->code;
    form_str(&r->form, "name", 0, 1, NAME_MAX_CHARS, &data->profile.name);
    form_str(&r->form, "time_zone", 0, 1, 64, &data->profile.zone);
    form_str(&r->form, "language", 0, 1, LANGUAGE_MAX, &data->profile.language);
    read_hold(&r->form, data);
    check_person(r, data->profile.name, data->profile.zone, data->profile.language);
    if (json_object_size(r->form.object) == 0)
        form_error(&r->form, REASON_MISSING_FIELD, "", "refusal.field_needed",
                   "at least one field is needed");
    return form_end(&r->form, err);
}

enum status patch_me_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err)
{
    struct profile_data *data = r->data;
    enum status st = people_profile_set(r->http->options.people, txn, r->who.user_id,
                                        &data->profile, now, err);

    if (st == ST_OK && data->has_hold)
        st = users_set_hold(txn, r->who.user_id, data->hold_ms, now, err);
    if (st != ST_OK)
        return st;
    return answer_me(r, store_txn_conn(txn), r->who.user_id, r->who.scopes, now, err);
}

enum status change_address_prepare(struct request *r, struct err *err)
{
    struct profile_data *data = profile_of(r, err);

    if (!data)
        return err->code;
    form_str(&r->form, "address", FIELD_NEEDED, 3, ADDRESS_MAX, &data->address);
    check_own_address(r, data->address);
    return form_end(&r->form, err);
}

enum status change_address_act(struct request *r, struct store_txn *txn, utc_ms now,
                               struct err *err)
{
    struct profile_data *data = r->data;
    enum status st = people_address_change(r->http->options.people, txn, r->who.user_id,
                                           data->address, now, err);

    return st == ST_OK ? answer_accepted(r, err) : st;
}

/* ------------------------------------------------------------------------------ sessions */

enum status list_sessions_read(struct request *r, struct err *err)
{
    struct session_row *rows = calloc(PEOPLE_SESSIONS_MAX, sizeof *rows);
    struct store_conn *conn = NULL;
    json_t *items = NULL;
    size_t n = 0;
    enum status st;

    if (!rows)
        return err_reason(err, REASON_NO_MEMORY, "sessions");
    st = request_conn(r, &conn, err);
    if (st == ST_OK)
        st = people_sessions(conn, r->who.user_id, http_now(r->http), rows, PEOPLE_SESSIONS_MAX,
                             &n, err);
    if (st == ST_OK) {
        items = json_array();
        for (size_t i = 0; i < n; i++)
            json_array_append_new(
                items, json_pack("{s:I, s:o, s:o, s:o, s:o, s:b}", "id", (json_int_t)rows[i].id,
                                 "created_at", render_instant(rows[i].created_at), "last_used_at",
                                 render_instant(rows[i].last_used_at), "expires_at",
                                 render_instant(rows[i].expires_at), "agent",
                                 render_text(rows[i].agent), "current",
                                 rows[i].id == r->who.session_id));
        st = answer_json(r, 200, json_pack("{s:o}", "items", items), err);
    }
    free(rows);
    return st;
}

enum status end_other_sessions_act(struct request *r, struct store_txn *txn, utc_ms now,
                                   struct err *err)
{
    enum status st = people_sessions_end(txn, r->who.user_id, r->who.session_id, now, err);

    if (st == ST_OK)
        answer_empty(r, 204);
    return st;
}

enum status end_session_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err)
{
    int64_t id;
    enum status st;

    request_param_id(r, 0, &id);
    st = form_end(&r->form, err);
    if (st == ST_OK)
        st = people_session_end(txn, r->who.user_id, id, now, err);
    if (st == ST_OK)
        answer_empty(r, 204);
    if (st == ST_OK && id == r->who.session_id)
        answer_session(r, NULL, now, now);
    return st;
}

/* ------------------------------------------------------------------------------ tokens */

enum { TOKENS_SHOWN = PEOPLE_TOKENS_MAX, TOKEN_NAME_MAX = 64 };

static json_t *token_json(const struct api_token_row *info)
{
    return json_pack("{s:I, s:s, s:o, s:o, s:o, s:o}", "id", (json_int_t)info->id, "name",
                     info->name, "scopes", scopes_of((unsigned)info->scopes), "created_at",
                     render_instant(info->created_at), "last_used_at",
                     render_instant(info->last_used_at), "expires_at",
                     render_instant(info->expires_at));
}

static enum status tokens_of(struct store_conn *conn, int64_t user_id, utc_ms now,
                             struct api_token_row **ret, size_t *ret_n, struct err *err)
{
    struct api_token_row *rows = calloc(TOKENS_SHOWN, sizeof *rows);
    enum status st;

    if (!rows)
        return err_reason(err, REASON_NO_MEMORY, "tokens");
    st = people_tokens(conn, user_id, now, rows, TOKENS_SHOWN, ret_n, err);
    if (st == ST_OK)
        *ret = rows;
    else
        free(rows);
    return st;
}

enum status list_tokens_read(struct request *r, struct err *err)
{
    struct api_token_row *rows = NULL;
    struct store_conn *conn = NULL;
    json_t *items;
    size_t n = 0;
    enum status st = request_conn(r, &conn, err);

    if (st == ST_OK)
        st = tokens_of(conn, r->who.user_id, http_now(r->http), &rows, &n, err);
    if (st != ST_OK)
        return st;
    items = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(items, token_json(&rows[i]));
    free(rows);
    return answer_json(r, 200, json_pack("{s:o}", "items", items), err);
}

struct token_data {
    const char *name;
    unsigned scopes;
    utc_ms expires_at;
};

enum status create_token_prepare(struct request *r, struct err *err)
{
    struct token_data *data = calloc(1, sizeof *data);
    json_t *scopes, *word;
    size_t i;

    if (!data)
        return err_reason(err, REASON_NO_MEMORY, "the request did not fit into memory");
    r->data = data;
    r->data_free = free;
    data->expires_at = UTC_NONE;
    form_str(&r->form, "name", FIELD_NEEDED, 1, TOKEN_NAME_MAX, &data->name);
    form_instant(&r->form, "expires_at", &data->expires_at);
    scopes = form_any(&r->form, "scopes", FIELD_NEEDED, JSON_ARRAY);
    json_array_foreach (scopes, i, word) {
        unsigned scope = json_is_string(word) ? scope_parse(json_string_value(word)) : 0;
        char pointer[32];

        snprintf(pointer, sizeof pointer, "/scopes/%zu", i);
        if (!scope)
            FORM_ERROR(&r->form, REASON_BAD_FIELD, pointer, "refusal.must_be_one",
                       "must be one of `{list}`", ERR_TEXT("list", "read, play, manage"));
        else if (data->scopes & scope)
            form_error(&r->form, REASON_BAD_FIELD, pointer, "refusal.twice", "is there twice");
        data->scopes |= scope;
    }
    if (data->name)
        check_person(r, data->name, NULL, NULL);
    if (data->expires_at != UTC_NONE && data->expires_at <= http_now(r->http))
        form_error(&r->form, REASON_BAD_FIELD, "/expires_at", "refusal.token_expiry",
                   "a token expires in the future, or never");
    if (data->name && strlen(data->name) >= TOKEN_NAME_SIZE)
        FORM_ERROR(&r->form, REASON_BAD_FIELD, "/name", "refusal.must_bytes",
                   "must have at most {most} bytes", ERR_NUMBER("most", TOKEN_NAME_SIZE - 1));
    if (scopes && json_array_size(scopes) == 0)
        form_error(&r->form, REASON_BAD_FIELD, "/scopes", "refusal.one_needed",
                   "at least one is needed");
    return form_end(&r->form, err);
}

enum status create_token_act(struct request *r, struct store_txn *txn, utc_ms now,
                             struct err *err)
{
    struct token_data *data = r->data;
    struct api_token_row info = {.scopes = (int)data->scopes,
                                     .created_at = now,
                                     .last_used_at = UTC_NONE,
                                     .expires_at = data->expires_at};
    char token[API_TOKEN_SIZE];
    json_t *root;
    enum status st = people_token_make(r->http->options.people, txn, r->who.user_id, r->who.scopes,
                                       data->name, data->scopes, data->expires_at, now, token,
                                       &info.id, err);

    if (st != ST_OK)
        return st;
    str_copy(info.name, sizeof info.name, data->name);
    root = token_json(&info);
    json_object_set_new(root, "token", json_string(token));
    r->answer.cache = "no-store";
    return answer_json(r, 201, root, err);
}

enum status revoke_token_act(struct request *r, struct store_txn *txn, utc_ms now,
                             struct err *err)
{
    int64_t id;
    enum status st;

    request_param_id(r, 0, &id);
    st = form_end(&r->form, err);
    if (st == ST_OK)
        st = people_token_revoke(txn, r->who.user_id, id, now, err);
    if (st == ST_OK)
        answer_empty(r, 204);
    return st;
}
