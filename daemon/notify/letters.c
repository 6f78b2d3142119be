/* notify/letters.c - what all letters share, and letters about the account; see internal.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/str.h"
#include "notify/internal.h"

enum { LINE_MAX_OURS = 4000 };

/* The name beside the sender's address: "Chess Club – your move".  The subject stays the same for
 * all letters of a game, so that they make one thread; the news stands here. */
static void sender_name(const struct notify *n, const char *news, char *ret, size_t size)
{
    char whole[MAIL_HEADER_TEXT_MAX];

    (void)snprintf(whole, sizeof whole, "%.100s – %.250s", n->options.site_name, news);
    (void)str_copy(ret, size, whole);
}

/* Header fields take no controls; names were checked when they were taken, but a letter must not
 * fail for one that was not. */
void without_controls(char *text)
{
    for (char *p = text; *p != '\0'; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            *p = ' ';
}

enum status letter_finish(const struct notify *n, const struct intent_row *intent,
                          const struct user_row *user, const char *news, struct mail_message *m,
                          struct notice *notice, struct err *err)
{
    char from[MAIL_HEADER_TEXT_MAX], to[DISPLAY_NAME_SIZE];
    const char *address = intent->address[0] != '\0' ? intent->address : user->address;
    const char *envelope = n->options.mail_envelope_from;
    bool is_answer = intent->cls == NOTICE_ANSWER;
    enum status st;

    sender_name(n, news, from, sizeof from);
    without_controls(from);
    (void)str_copy(to, sizeof to, user->display_name);
    without_controls(to);
    m->from = (struct mail_address){from, n->options.mail_from};
    m->to = (struct mail_address){to[0] != '\0' ? to : NULL, address};
    m->message_id = notice->message_id;
    m->auto_submitted = is_answer ? MAIL_AUTO_REPLIED : MAIL_AUTO_GENERATED;
    m->loop_id = n->domain;
    st = mail_compose(m, &notice->bytes, err);
    if (st != ST_OK)
        return st;
    if (is_answer) /* nobody is to be told when it does not arrive */
        notice->envelope_from[0] = '\0';
    else
        verp_address(n, intent->id, notice->envelope_from);
    if (!is_answer && notice->envelope_from[0] == '\0')
        (void)str_copy(notice->envelope_from, sizeof notice->envelope_from,
                       envelope != NULL ? envelope : n->options.mail_from);
    (void)str_copy(notice->envelope_to, sizeof notice->envelope_to, address);
    return ST_OK;
}

/* ---------------------------------------------------------------- account letters */

/* What each says: under the head a link to `path`, with the secret if the letter has one, then
 * `after` and a link to `after_path`; NULL: none. */
static const struct account_letter {
    const char *template_name, *subject, *news, *head, *path, *after, *after_path;
    int64_t life_ms; /* told as {length} */
} letters[] = {
    {"login", "subject.login", "news.login", "head.login", "/login/", "letter.not_you", NULL,
     LINK_LIFE_MS},
    {"register", "subject.register", "news.register", "head.register", "/login/",
     "letter.not_you_register", NULL, REGISTRATION_LIFE_MS},
    {"register_known", "subject.login", "news.login", "head.register_known", "/login/",
     "letter.not_you", NULL, LINK_LIFE_MS},
    {"address_old", "subject.address", "news.address", "head.address_old", "/confirm/",
     "letter.not_you_address", NULL, ADDRESS_CHANGE_LIFE_MS},
    {"address_new", "subject.address", "news.address", "head.address_new", "/confirm/",
     "letter.not_you", NULL, ADDRESS_CHANGE_LIFE_MS},
    {"address_changed", "subject.address", "news.address", "head.address_changed", NULL, NULL, NULL,
     0},
    {"password_changed", "subject.password", "news.password", "head.password_changed", NULL,
     "letter.not_you_password", "/sign-in", 0},
    {"webhook_disabled", "subject.webhook", "news.webhook", "head.webhook_disabled", "/settings",
     NULL, NULL, 0},
    {"webhook_failing", "subject.webhook", "news.webhook", "head.webhook_failing", "/settings",
     NULL, NULL, 0},
};

/* What params name besides ids, as texts for the letter. */
struct particulars {
    json_t *params;
    const char *host, *cause;
    char code[64];
};

static struct particulars particulars_of(const struct intent_row *intent, enum lang lang)
{
    struct particulars p = {.params = intent->params ? json_loads(intent->params, 0, NULL) : NULL,
                            .host = "", .cause = ""};
    const char *host = json_string_value(json_object_get(p.params, "host"));
    const char *cause = json_string_value(json_object_get(p.params, "cause"));

    if (host != NULL)
        p.host = host;
    if (cause != NULL) {
        (void)snprintf(p.code, sizeof p.code, "webhook.%.40s", cause);
        p.cause = words_has(p.code) ? words_plain(lang, p.code) : cause;
    }
    return p;
}

static const struct account_letter *letter_of(const char *template_name)
{
    for (size_t i = 0; i < COUNT_OF(letters); i++)
        if (str_eq(letters[i].template_name, template_name))
            return &letters[i];
    return NULL;
}

/* A text of the catalogue as a paragraph, or in small letters. */
static void put_words(void (*put)(struct page *page, const char *text), struct page *page,
                      enum lang lang, const char *code, const struct words_arg *args, size_t n)
{
    struct buf text = buf_make(LINE_MAX_OURS);

    words_put(&text, lang, code, args, n);
    put(page, text.data);
    buf_release(&text);
}

static void put_link(struct page *page, const struct notify *n, const char *path,
                     const char *secret)
{
    char url[NOTIFY_URL_SIZE];

    (void)snprintf(url, sizeof url, "%s%s%s", n->options.public_url, path,
                   secret != NULL ? secret : "");
    page_link(page, url);
}

/* Its greeting, what it says, and its links. */
static void put_body(struct page *page, const struct notify *n, const struct account_letter *what,
                     bool has_account, const char *secret, enum lang lang,
                     const struct words_arg *args, size_t n_args)
{
    put_words(page_para, page, lang, has_account ? "letter.hello" : "letter.hello_nobody", args,
              n_args);
    put_words(page_para, page, lang, what->head, args, n_args);
    if (what->path != NULL)
        put_link(page, n, what->path, secret);
    if (what->after != NULL)
        page_para(page, words_plain(lang, what->after));
    if (what->after_path != NULL)
        put_link(page, n, what->after_path, NULL);
}

enum status account_letter_compose(const struct notify *n, struct store_conn *conn,
                                   const struct intent_row *intent, utc_ms now, const char *secret,
                                   const char *language, const char *handle,
                                   struct notice *notice, struct err *err)
{
    const struct account_letter *what = letter_of(intent->template_name);
    struct user_row user = {0};
    struct page page = page_make();
    struct particulars p = {0};
    struct mail_message m = {0};
    struct buf length = buf_make(200);
    char subject[MAIL_HEADER_TEXT_MAX], list[300], unsubscribe[NOTIFY_URL_SIZE],
        token[UNSUBSCRIBE_TOKEN_SIZE], mailto[ADDRESS_SIZE];
    enum lang lang;
    enum status st = ST_OK;

    if (what == NULL) {
        st = err_set(err, ST_INTERNAL, "notice %lld: no such letter: %s", (long long)intent->id,
                     intent->template_name);
        goto out;
    }
    if (intent->user_id != 0)
        TRY_OUT(users_get(conn, intent->user_id, &user, err));
    lang = lang_of(user.id != 0 ? user.language : language);
    p = particulars_of(intent, lang);
    words_length(&length, lang, what->life_ms);
    const struct words_arg args[] = {
        WORDS_TEXT("site", n->options.site_name),
        WORDS_TEXT("handle", user.id != 0 ? user.handle : handle),
        WORDS_TEXT("length", length.data),
        WORDS_TEXT("host", p.host),
        WORDS_TEXT("cause", p.cause),
        WORDS_TEXT("url", n->options.public_url),
        WORDS_TEXT("name", user.display_name[0] != '\0' ? user.display_name : user.handle),
    };

    put_body(&page, n, what, user.id != 0, secret, lang, args, COUNT_OF(args));
    page_pre(&page, "-- ");
    put_words(page_small, &page, lang, "letter.footer_plain", args, COUNT_OF(args));
    if (notice_is_switchable(intent->cls) && user.id != 0) {
        unsubscribe_token(n, user.id, intent->cls, token);
        (void)snprintf(unsubscribe, sizeof unsubscribe, "%s/u/%s", n->options.public_url, token);
        put_words(page_small, &page, lang, "letter.footer_stop",
                  (const struct words_arg[]){WORDS_TEXT("url", unsubscribe)}, 1);
        (void)snprintf(list, sizeof list, "%s.%s", notice_class_str(intent->cls), n->domain);
        for (char *c = list; *c != '\0'; c++)
            *c = *c == '_' ? '-' : *c;
        m.unsubscribe_url = unsubscribe;
        m.unsubscribe_mailto = unsubscribe_mailto(n, token, mailto);
        m.list_name = n->options.site_name;
        m.list_id = list;
    }

    (void)words_print(subject, sizeof subject, lang, what->subject, args, COUNT_OF(args));
    without_controls(subject);
    page_end(&page, lang_tag(lang), subject);
    TRY_OUT(buf_status(&page.text, "a letter", err));
    TRY_OUT(buf_status(&page.html, "a letter", err));
    message_id_of(n, intent, "", notice->message_id);
    m.subject = subject;
    m.text = page.text.data;
    m.html = page.html.data;
    m.date = now;
    TRY_OUT(letter_finish(n, intent, &user, words_plain(lang, what->news), &m, notice, err));
out:
    json_decref(p.params);
    page_release(&page);
    buf_release(&length);
    return st;
}
