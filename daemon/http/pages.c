#include "http/pages.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "http/handlers.h"
#include "store/prefs.h"
#include "store/users.h"

enum { PAGE_BYTES = 32 * 1024 };

/* RFC 9110, 12.4.2: "0.25" as 250; -1 when it is none. */
static int read_weight(const char *text, size_t n)
{
    int weight, unit = 100;

    if (n == 0 || n > 5 || (text[0] != '0' && text[0] != '1') || (n > 1 && text[1] != '.'))
        return -1;
    weight = (text[0] - '0') * 1000;
    for (size_t i = 2; i < n; i++, unit /= 10) {
        if (!isdigit((unsigned char)text[i]))
            return -1;
        weight += (text[i] - '0') * unit;
    }
    return weight > 1000 ? -1 : weight;
}

static bool is_language_range(const char *text, size_t n)
{
    size_t part = 0;
    bool is_first = true;

    if (n == 1 && *text == '*')
        return true;
    for (size_t i = 0; i <= n; i++) {
        if (i == n || text[i] == '-') {
            if (part == 0 || part > 8)
                return false;
            part = 0;
            is_first = false;
        } else if (isalpha((unsigned char)text[i]) ||
                   (!is_first && isdigit((unsigned char)text[i]))) {
            part++;
        } else {
            return false;
        }
    }
    return true;
}

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    return at;
}

/* One member of the list, at…end: its range and its weight.  False when it is malformed. */
static bool read_member(const char *at, const char *end, char tag[36], int *ret_weight)
{
    const char *rest;
    size_t n;

    at = skip_blanks(at, end);
    while (end > at && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    for (n = 0; at + n < end && at[n] != ';' && at[n] != ' ' && at[n] != '\t'; n++)
        ;
    if (n >= 36 || !is_language_range(at, n))
        return false;
    memcpy(tag, at, n);
    tag[n] = '\0';
    *ret_weight = 1000;
    rest = skip_blanks(at + n, end);
    if (rest == end)
        return true;
    if (*rest++ != ';')
        return false;
    rest = skip_blanks(rest, end);
    if (end - rest < 3 || (rest[0] != 'q' && rest[0] != 'Q') || rest[1] != '=')
        return false;
    *ret_weight = read_weight(rest + 2, (size_t)(end - rest - 2));
    return *ret_weight >= 0;
}

enum lang language_wanted(const char *accept, enum lang fallback)
{
    int weight[LANGS], place[LANGS], any = -1, n = 0;
    bool is_out[LANGS] = {false};
    enum lang lang, best = fallback;

    if (!accept)
        return fallback;
    for (int i = 0; i < LANGS; i++)
        weight[i] = place[i] = -1;
    for (const char *at = accept, *end; *at; at = *end ? end + 1 : end, n++) {
        char tag[36];
        int w;

        end = at + strcspn(at, ",");
        if (!read_member(at, end, tag, &w))
            continue;
        if (tag[0] == '*') {
            any = w > any ? w : any;
        } else if (lang_find(tag, &lang)) {
            if (w == 0 && tag[2] == '\0')
                is_out[lang] = true;
            if (w > weight[lang]) {
                weight[lang] = w;
                place[lang] = n;
            }
        }
    }
    for (int i = 0; i < LANGS; i++) {
        if (weight[i] < 0) {
            weight[i] = any;
            place[i] = i == (int)fallback ? n : n + 1;
        }
        if (is_out[i])
            weight[i] = 0;
    }
    for (int i = 0; i < LANGS; i++)
        if (weight[i] > 0 &&
            (weight[best] <= 0 || weight[i] > weight[best] ||
             (weight[i] == weight[best] && place[i] < place[best])))
            best = (enum lang)i;
    return best;
}

enum lang page_language(const struct request *r)
{
    return language_wanted(request_header(r, "Accept-Language"),
                           lang_of(r->http->options.language));
}

/* Make a page the answer.  text is what it says; button NULL: no form. */
static enum status page_answer(struct request *r, int status, enum lang lang,
                               const char *title_code, const char *text, const char *button,
                               struct err *err)
{
    struct buf *out = &r->answer.body;
    const char *version = files_version(r->http->files);

    buf_clear(out);
    out->limit = PAGE_BYTES;
    buf_printf(out, "<!doctype html>\n<html lang=\"%s\">\n<head>\n<meta charset=\"utf-8\">\n",
               lang_tag(lang));
    buf_puts(out, "<title>");
    buf_puts_markup(out, words_plain(lang, title_code));
    buf_puts(out, " - ");
    buf_puts_markup(out, r->http->options.site_name);
    buf_puts(out, "</title>\n<meta name=\"viewport\" content=\"width=device-width, "
                  "initial-scale=1\">\n<meta name=\"robots\" content=\"noindex\">\n");
    buf_printf(out, "<link rel=\"stylesheet\" href=\"/-/%s/style.css\">\n</head>\n<body>\n"
                    "<main class=\"page\">\n<h1>",
               version);
    buf_puts_markup(out, words_plain(lang, title_code));
    buf_puts(out, "</h1>\n<p>");
    buf_puts_markup(out, text);
    buf_puts(out, "</p>\n");
    if (button) {
        /* To where the page itself is: no address of ours need be told twice. */
        buf_puts(out, "<form method=\"post\" action=\"\">\n<input type=\"hidden\" "
                      "name=\"List-Unsubscribe\" value=\"One-Click\">\n<button type=\"submit\">");
        buf_puts_markup(out, button);
        buf_puts(out, "</button>\n</form>\n");
    } else {
        buf_puts(out, "<p><a href=\"/\">");
        buf_puts_markup(out, words_plain(lang, "page.home"));
        buf_puts(out, "</a></p>\n");
    }
    buf_puts(out, "</main>\n</body>\n</html>\n");
    r->answer.status = status;
    r->answer.type = "text/html; charset=utf-8";
    r->answer.is_document = true;
    r->answer.cache = "no-store";
    answer_header(r, "Content-Language", lang_tag(lang));
    return buf_status(out, "the page", err);
}

void page_failure(struct request *r, const struct err *err)
{
    enum lang lang = page_language(r);
    struct err ignored = ERR_INIT;
    char text[256];
    const char *title = "page.failed.title";
    struct words_arg args[] = {WORDS_TEXT("reason", words_reason(lang, err->reason))};

    if (err->reason == REASON_LINK_EXPIRED) {
        title = "page.expired.title";
        str_copy(text, sizeof text, words_plain(lang, "page.expired.text"));
    } else if (err->reason == REASON_HANDLE_TAKEN || err->reason == REASON_ALREADY_DONE) {
        title = "page.taken.title";
        str_copy(text, sizeof text, words_plain(lang, "page.taken.text"));
    } else {
        words_print(text, sizeof text, lang, "page.failed.text", args, COUNT_OF(args));
    }
    if (r->route == NULL || page_answer(r, status_http(err->code), lang, title, text, NULL,
                                        &ignored) != ST_OK) {
        if (r->route)
            answer_problem(r, err);
        else if (page_answer(r, status_http(err->code), lang, title, text, NULL, &ignored) !=
                 ST_OK)
            answer_problem(r, err);
    }
}

/* ------------------------------------------------------------------------------ login */

struct link_page {
    const char *title, *text, *button;
};

static struct link_page page_of(enum people_link kind)
{
    switch (kind) {
    case LINK_LOGIN:
        return (struct link_page){"page.login.title", "page.login.text", "page.login.button"};
    case LINK_REGISTRATION:
        return (struct link_page){"page.register.title", "page.register.text",
                                  "page.register.button"};
    case LINK_ADDRESS_OLD:
        return (struct link_page){"page.address_old.title", "page.address_old.text",
                                  "page.address.button"};
    case LINK_ADDRESS_NEW:
        break;
    }
    return (struct link_page){"page.address_new.title", "page.address_new.text",
                              "page.address.button"};
}

/* Whoever fetches it – a letter scanner too – changes nothing; what a dead link is, it says. */
static enum status show_link(struct request *r, bool is_login, struct err *err)
{
    struct people_link_info info;
    struct store_conn *conn = NULL;
    struct err why = ERR_INIT;
    enum lang lang = page_language(r);
    char text[512];
    enum status st = request_conn(r, &conn, err);

    if (st != ST_OK)
        return st;
    st = secret_is_shaped(r->params[0])
             ? people_link_peek(conn, r->params[0], http_now(r->http), &info, &why)
             : err_detail(&why, REASON_LINK_EXPIRED, "refusal.link_foreign",
                          "this is no link of ours");
    if (st == ST_OK &&
        is_login != (info.kind == LINK_LOGIN || info.kind == LINK_REGISTRATION))
        st = err_detail(&why, REASON_LINK_EXPIRED, "refusal.link_foreign",
                        "this is no link of ours");
    if (st != ST_OK && why.reason == REASON_LINK_EXPIRED)
        return page_answer(r, 410, lang, "page.expired.title",
                           words_plain(lang, "page.expired.text"), NULL, err);
    if (st != ST_OK) {
        *err = why;
        return st;
    }
    lang = lang_of(info.language);
    {
        struct link_page page = page_of(info.kind);
        struct words_arg args[] = {WORDS_TEXT("handle", info.handle)};

        words_print(text, sizeof text, lang, page.text, args, COUNT_OF(args));
        return page_answer(r, 200, lang, page.title, text, words_plain(lang, page.button), err);
    }
}

enum status login_page_read(struct request *r, struct err *err)
{
    return show_link(r, true, err);
}

enum status confirm_page_read(struct request *r, struct err *err)
{
    return show_link(r, false, err);
}

enum status login_by_page_act(struct request *r, struct store_txn *txn, utc_ms now,
                              struct err *err)
{
    struct people_login login;
    const char *agent = request_header(r, "User-Agent");
    char cut[AGENT_SIZE];
    enum status st;

    if (!secret_is_shaped(r->params[0]))
        return err_detail(err, REASON_LINK_EXPIRED, "refusal.link_foreign",
                          "this is no link of ours");
    if (!agent || !utf8_is_valid(agent, strlen(agent)))
        agent = "";
    str_copy(cut, sizeof cut, agent);
    st = people_login_by_link(r->http->options.people, txn, r->params[0], cut, now, &login, err);
    if (st == ST_CONFLICT) /* the name was taken meanwhile: the link is of no use any more */
        st = err_set(err, ST_GONE, "somebody was quicker");
    if (st != ST_OK)
        return st;
    answer_empty(r, 303);
    answer_header(r, "Location", "/");
    answer_session(r, login.secret, now, login.expires_at);
    return ST_OK;
}

enum status confirm_by_page_act(struct request *r, struct store_txn *txn, utc_ms now,
                                struct err *err)
{
    struct people_link_info info;
    bool is_complete = false;
    enum lang lang;
    enum status st;

    if (!secret_is_shaped(r->params[0]))
        return err_detail(err, REASON_LINK_EXPIRED, "refusal.link_foreign",
                          "this is no link of ours");
    st = people_link_peek(store_txn_conn(txn), r->params[0], now, &info, err);
    if (st == ST_OK)
        st = people_address_confirm(r->http->options.people, txn, r->params[0], now, &is_complete,
                                    err);
    if (st != ST_OK)
        return st;
    lang = lang_of(info.language);
    return page_answer(r, 200, lang, page_of(info.kind).title,
                       words_plain(lang, is_complete ? "page.address.done" : "page.address.half"),
                       NULL, err);
}

/* ------------------------------------------------------------------------------ unsubscribe */

struct unsubscribe_data {
    int64_t user_id;
    enum notice_class cls;
    enum lang lang;
};

static enum status read_unsubscribe(struct request *r, struct unsubscribe_data *ret,
                                    struct err *err)
{
    const struct http_notices *notices = &r->http->options.notices;
    struct store_conn *conn = NULL;
    struct user_row *user;
    enum status st;

    if (!notices->unsubscribe_read || !secret_is_shaped(r->params[0]))
        return err_detail(err, REASON_LINK_EXPIRED, "refusal.link_foreign",
                          "this is no link of ours");
    st = notices->unsubscribe_read(notices->arg, r->params[0], &ret->user_id, &ret->cls, err);
    if (st != ST_OK)
        return st;
    if (ret->user_id == 0) { /* nobody whose language is known */
        ret->lang = page_language(r);
        return notices->address_block ? ST_OK
                                      : err_detail(err, REASON_LINK_EXPIRED, "refusal.link_foreign",
                                                   "this is no link of ours");
    }
    user = calloc(1, sizeof *user);
    if (!user)
        return err_reason(err, REASON_NO_MEMORY, "a page");
    st = request_conn(r, &conn, err);
    if (st == ST_OK)
        st = users_get(conn, ret->user_id, user, err);
    if (st == ST_NOT_FOUND)
        st =
            err_detail(err, REASON_LINK_EXPIRED, "refusal.link_foreign", "this is no link of ours");
    ret->lang = st == ST_OK ? lang_of(user->language) : LANG_EN;
    free(user);
    return st;
}

static enum status unsubscribe_answer(struct request *r, const struct unsubscribe_data *data,
                                      bool is_done, struct err *err)
{
    char code[64], text[512];
    struct words_arg args[1];

    if (data->user_id == 0)
        return page_answer(r, 200, data->lang, "page.block.title",
                           words_plain(data->lang, is_done ? "page.block.done" : "page.block.text"),
                           is_done ? NULL : words_plain(data->lang, "page.block.button"), err);
    snprintf(code, sizeof code, "ui.class.%s", notice_class_str(data->cls));
    args[0] = WORDS_TEXT("class", words_has(code) ? words_plain(data->lang, code)
                                                  : notice_class_str(data->cls));
    words_print(text, sizeof text, data->lang,
                is_done ? "page.unsubscribe.done" : "page.unsubscribe.text", args, 1);
    return page_answer(r, 200, data->lang, "page.unsubscribe.title", text,
                       is_done ? NULL : words_plain(data->lang, "page.unsubscribe.button"), err);
}

enum status unsubscribe_page_read(struct request *r, struct err *err)
{
    struct unsubscribe_data data;
    enum status st = read_unsubscribe(r, &data, err);

    return st == ST_OK ? unsubscribe_answer(r, &data, false, err) : st;
}

/* The body must say so, urlencoded or multipart (RFC 8058). */
static enum status check_one_click(const struct request *r, struct err *err)
{
    const char *type = request_header(r, "Content-Type");
    const char *body = r->body.data;

    if (strlen(body) != r->body.len)
        return err_detail(err, REASON_BAD_REQUEST, "refusal.body_nul", "the body holds a NUL");
    if (!type || strncasecmp(type, "application/x-www-form-urlencoded", 33) == 0) {
        static const char want[] = "List-Unsubscribe=One-Click";

        for (const char *at = body; at;) {
            size_t n = strcspn(at, "&\r\n");

            if (n == sizeof want - 1 && strncasecmp(at, want, n) == 0)
                return ST_OK;
            at = at[n] == '&' ? at + n + 1 : NULL;
        }
    } else if (strncasecmp(type, "multipart/form-data", 19) == 0) {
        const char *name = strstr(body, "name=\"List-Unsubscribe\"");
        const char *value = name ? strstr(name, "\r\n\r\n") : NULL;

        if (value && strncmp(value + 4, "One-Click\r\n", 11) == 0)
            return ST_OK;
    } else {
        return err_detail(
            err, REASON_MEDIA_TYPE, "refusal.body_form",
            "the body must be `application/x-www-form-urlencoded` or `multipart/form-data`");
    }
    return err_detail(err, REASON_BAD_REQUEST, "refusal.body_one_click",
                      "the body must be `List-Unsubscribe=One-Click`");
}

enum status unsubscribe_prepare(struct request *r, struct err *err)
{
    struct unsubscribe_data *data = calloc(1, sizeof *data);
    enum status st;

    r->data = data;
    r->data_free = free;
    if (!data)
        return err_reason(err, REASON_NO_MEMORY, "the request did not fit into memory");
    st = check_one_click(r, err);
    return st == ST_OK ? read_unsubscribe(r, data, err) : st;
}

enum status unsubscribe_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err)
{
    struct unsubscribe_data *data = r->data;
    const struct http_notices *notices = &r->http->options.notices;
    enum status st = data->user_id == 0
                         ? notices->address_block(notices->arg, txn, r->params[0], now, err)
                         : prefs_set(txn, data->user_id, data->cls, CHANNEL_MAIL, PREF_OFF,
                                     PREF_VIA_UNSUBSCRIBE, now, err);

    return st == ST_OK ? unsubscribe_answer(r, data, true, err) : st;
}
