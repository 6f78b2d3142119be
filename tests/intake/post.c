#include "intake/post.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <sqlite3.h>

#include "base/str.h"
#include "mail/message.h"
#include "store/held.h"

static struct post_result result;

/* ---------------------------------------------------------------- hooks */

static enum status bounce_read(void *arg, const char *local_part, int64_t *ret_id,
                               struct err *err)
{
    struct post *p = arg;

    if (p->bounced_row == 0 || !strstr(local_part, ".goodgood12"))
        return err_reason(err, REASON_LINK_EXPIRED, "not ours");
    *ret_id = p->bounced_row;
    return ST_OK;
}

static enum status unsubscribe(void *arg, const char *token, int64_t *ret_user,
                               enum notice_class *ret_class, struct err *err)
{
    struct post *p = arg;

    if (strcmp(token, POST_TOKEN) != 0)
        return err_reason(err, REASON_LINK_EXPIRED, "not ours");
    *ret_user = p->t->user[SOUTH];
    *ret_class = NOTICE_MATE;
    return ST_OK;
}

static enum status on_suspended(struct store_txn *txn, int64_t user_id, utc_ms now, void *arg,
                                struct err *err)
{
    struct post *p = arg;

    (void)txn;
    (void)user_id;
    (void)now;
    (void)err;
    p->suspended++;
    return ST_OK;
}

static enum status on_reached(struct store_txn *txn, int64_t user_id, utc_ms now, void *arg,
                              struct err *err)
{
    struct post *p = arg;

    p->reached++;
    return users_reached(txn, user_id, now, err);
}

static enum status resend(struct store_txn *txn, const struct game_row *game, int64_t user_id,
                          utc_ms now, void *arg, struct err *err)
{
    struct post *p = arg;

    (void)txn;
    (void)now;
    if (game->turn_user_id != user_id)
        return err_reason(err, REASON_NOT_FOUND, "it does not wait for him");
    p->resent++;
    return ST_OK;
}

/* ---------------------------------------------------------------- setting up */

static utc_ms time_now(void *arg)
{
    return clock_guard_now(arg);
}

void post_open(struct post *p)
{
    struct err err = ERR_INIT;

    assert_ok(intake_open(&p->options, &p->intake, &err), err);
}

void post_close(struct post *p)
{
    intake_close(p->intake);
    p->intake = NULL;
}

int post_setup(void **state)
{
    struct post *p = calloc(1, sizeof *p);
    struct err err = ERR_INIT;
    void *table = NULL;

    assert_non_null(p);
    mail_library_init();
    assert_int_equal(table_setup(&table), 0);
    p->t = table;
    p->zones = zone_cache_new(NULL);
    assert_non_null(p->zones);
    assert_ok(people_init(&err), err);
    p->people = (struct people){.entropy = p->t->arb.entropy, .zones = p->zones,
                                .door = DOOR_OPEN, .default_zone = "UTC",
                                .default_language = "en", .letters_an_hour = 5,
                                .accounts_an_hour = 100, .tokens_max = 20};
    p->options = (struct intake_options){
        .store = p->t->store,
        .writer = p->t->writer,
        .arbiter = &p->t->arb,
        .people = &p->people,
        .zones = p->zones,
        .time = {time_now, &p->t->guard},
        .entropy = p->t->arb.entropy,
        .digest = p->t->arb.digest,
        .address = "play@club.example",
        .delimiter = "+",
        .bounce_address = "bounce@club.example",
        .unsubscribe_address = "unsubscribe@club.example",
        .authserv_id = "mx.club.example",
        .dmarc = INTAKE_DMARC_PREFER,
        .hold_ms = 10 * MS_MINUTE,
        .answers_an_hour = 20,
        .public_url = "https://club.example",
        .site_name = "Chess Club",
        .mail_from = "games@club.example",
        .hooks = {.bounce_read = bounce_read, .unsubscribe_read = unsubscribe,
                  .on_suspended = on_suspended, .on_reached = on_reached, .resend = resend,
                  .arg = p},
    };
    post_open(p);
    *state = p;
    return 0;
}

int post_teardown(void **state)
{
    struct post *p = *state;
    void *table = p->t;

    post_close(p);
    zone_cache_free(p->zones);
    assert_int_equal(table_teardown(&table), 0);
    free(p);
    return 0;
}

/* ---------------------------------------------------------------- tokens */

static enum status token_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct token_row *token = arg;

    token->created_at = now;
    return tokens_put(txn, token, &token->id, err);
}

void post_token_put(struct post *p, const char *text, int user, enum token_purpose purpose,
                    int64_t game, int64_t state_no, int64_t inbox_id, utc_ms expires_at)
{
    struct token_row token = TOKEN_ROW_INIT;
    struct writer_command command = {.name = "token", .run = token_run, .arg = &token};
    struct err err = ERR_INIT;

    secret_hash(text, token.hash);
    token.purpose = purpose;
    token.user_id = p->t->user[user];
    token.game_id = game;
    token.state_no = state_no;
    token.inbox_id = inbox_id;
    token.expires_at = expires_at;
    assert_ok(writer_run(p->t->writer, &command, &err), err);
}

const char *post_token(struct post *p, int user, enum token_purpose purpose, int64_t game)
{
    int64_t state_no = game != 0 ? game_get(p->t, game).state_no : 0;
    int64_t n = ++p->tokens;

    (void)str_copy(p->token, sizeof p->token, "tokentokentokentokentokena");
    for (size_t i = 25; n > 0; i--, n /= 26)
        p->token[i] = (char)('a' + n % 26);
    post_token_put(p, p->token, user, purpose, game, state_no, 0, now_of(p->t) + 60 * MS_DAY);
    return p->token;
}

/* ---------------------------------------------------------------- letters */

struct inbox_row post_row(struct post *p, int64_t id)
{
    struct inbox_row row = INBOX_ROW_INIT;
    struct err err = ERR_INIT;

    assert_ok(inbox_get(store_reader_conn(p->t->reader), id, false, &row, &err), err);
    return row;
}

static void read_answer(struct post *p, struct post_result *r)
{
    struct intent_row intent = INTENT_ROW_INIT;
    struct err err = ERR_INIT;
    json_t *params;

    r->has_answer = r->row.answer_id != 0;
    r->text[0] = r->params[0] = r->template_name[0] = '\0';
    r->to_user = 0;
    if (!r->has_answer)
        return;
    assert_ok(outbox_get(store_reader_conn(p->t->reader), r->row.answer_id, &intent, &err), err);
    assert_int_equal(intent.cls, NOTICE_ANSWER);
    (void)str_copy(r->template_name, sizeof r->template_name, intent.template_name);
    (void)str_copy(r->params, sizeof r->params, intent.params);
    r->to_user = intent.user_id;
    params = json_loads(intent.params, 0, NULL);
    assert_non_null(params); /* it is JSON whatever the player wrote */
    assert_true(
        str_copy(r->text, sizeof r->text, json_string_value(json_object_get(params, "text"))
                                              ? json_string_value(json_object_get(params, "text"))
                                              : ""));
    json_decref(params);
    intent_release(&intent);
}

const struct post_result *post_raw(struct post *p, const char *sender, const char *recipient,
                                   const void *bytes, size_t n)
{
    struct intake_arrival arrival = {.way = INBOX_BY_LMTP, .sender = sender,
                                     .recipient = recipient, .bytes = bytes, .n = n,
                                     .received_at = UTC_NONE};
    struct intake_accepted accepted;
    struct err err = ERR_INIT;

    assert_ok(intake_accept(p->intake, &arrival, &accepted, &err), err);
    assert_ok(intake_step(p->intake, NULL, &err), err);
    result.row = post_row(p, accepted.id);
    read_answer(p, &result);
    return &result;
}

const struct post_result *post_say(struct post *p, int user, const char *token, const char *text)
{
    static const char *const handles[USERS] = {"anna",   "boris", "clara", "david",
                                               "orga",   "opal",  "stan",  "otto"};
    struct buf b = buf_make(256 * 1024);
    char sender[64], recipient[96];
    const struct post_result *r;

    (void)snprintf(sender, sizeof sender, "%s@example.org", handles[user]);
    (void)snprintf(recipient, sizeof recipient, "play%s%s@club.example", token ? "+" : "",
                   token ? token : "");
    buf_printf(&b,
               "From: %s\r\nTo: %s\r\nSubject: Re: your game\r\n"
               "Message-ID: <%" PRId64 "@example.org>\r\nMIME-Version: 1.0\r\n"
               "Content-Type: text/plain; charset=utf-8\r\n\r\n%s\r\n",
               sender, recipient, ++p->letters, text);
    assert_false(buf_failed(&b));
    r = post_raw(p, sender, recipient, b.data, b.len);
    buf_release(&b);
    return r;
}

const struct post_result *post_play(struct post *p, int user, int64_t game, const char *text)
{
    return post_say(p, user, post_token(p, user, TOKEN_TURN, game), text);
}

bool is_held(struct post *p, int64_t game)
{
    struct held_row held;

    return held_get(store_reader_conn(p->t->reader), game, &held, NULL) == ST_OK;
}

int64_t post_count(struct post *p, const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *q = NULL;
    int64_t n;

    assert_int_equal(sqlite3_open_v2(p->t->path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &q, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(q), SQLITE_ROW);
    n = sqlite3_column_int64(q, 0);
    (void)sqlite3_finalize(q);
    (void)sqlite3_close(db);
    return n;
}

/* ---------------------------------------------------------------- expectations */

void expect(const struct post_result *r, enum inbox_verdict verdict)
{
    if (r->row.verdict != verdict)
        fail_msg("%s (%s), not %s:\n%s", inbox_verdict_str(r->row.verdict), r->row.reason,
                 inbox_verdict_str(verdict), r->text);
}

void expect_says(const struct post_result *r, const char *words)
{
    if (!r->has_answer || !strstr(r->text, words))
        fail_msg("the answer lacks \"%s\":\n%s", words, r->text);
}

void expect_silent(const struct post_result *r, const char *words)
{
    if (strstr(r->text, words))
        fail_msg("the answer has \"%s\":\n%s", words, r->text);
}
