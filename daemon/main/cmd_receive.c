#include "main/cmd_receive.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "intake/intake.h"
#include "main/cmd_admin.h"
#include "main/cmd_config.h"
#include "main/cmd_read.h"
#include "main/control.h"
#include "main/engine.h"
#include "mail/message.h"
#include "store/audit.h"
#include "store/games.h"

#define RECEIVE_WAIT_MS (30 * MS_SECOND)
enum { LIST_MAX = 1000 };

const struct cli_option receive_options[] = {
    {"recipient", 'r', "ADDR", "whom it was sent to (default what its header lines say)"},
    {"sender", 'f', "ADDR", "who sent it, \"\" for nobody (default what Return-Path says)"},
    {"dry-run", 'n', NULL, "tell what would be done and why, and do nothing"},
    {"wait", 'w', "LENGTH", "how long the daemon may take, as 30s (the default)"},
    {NULL, 0, NULL, NULL},
};
const struct cli_option inbox_list_options[] = {
    {"state", 0, "STATE", "only received, claimed, held, done or quarantined ones"},
    {"limit", 'n', "N", "at most N letters, newest first (default 50)"},
    {NULL, 0, NULL, NULL},
};
const struct cli_option inbox_show_options[] = {
    {"raw", 0, NULL, "print the whole letter as it came, and nothing else"},
    {NULL, 0, NULL, NULL},
};

/* ------------------------------------------------------------------------------- performing */

/* The first words of an answer, and the exit status each means. */
static const struct {
    const char *word;
    int result;
} outcomes[] = {
    {"taken", CLI_OK},        {"known", CLI_OK},          {"tried", CLI_OK},
    {"nobody", RECEIVE_NOBODY}, {"refused", RECEIVE_DATA}, {"later", RECEIVE_LATER},
};

enum status receive_perform(struct admin_call *call, struct err *err)
{
    struct intake *intake = call->engine->intake;
    struct intake_arrival arrival = {.way = INBOX_BY_COMMAND,
                                     .sender = admin_value(call, "sender"),
                                     .recipient = admin_value(call, "recipient"),
                                     .bytes = call->body,
                                     .n = call->body_len,
                                     .received_at = UTC_NONE};
    bool is_tried = admin_value(call, "dry_run") != NULL;
    struct intake_accepted accepted = {.id = 0};
    struct buf told = buf_make(ADMIN_ANSWER_MAX - 100);
    enum status st;

    if (!call->body)
        return err_reason(err, REASON_MISSING_FIELD, "there is no letter");
    if (!intake)
        st = err_set(err, ST_CONFLICT, "play by mail is off: mail_in.address is not set");
    else if (is_tried)
        st = intake_try(intake, &arrival, &told, err);
    else
        st = intake_accept(intake, &arrival, &accepted, err);
    if (st == ST_OK && is_tried)
        buf_printf(call->out, "tried\n%s", told.data);
    else if (st == ST_OK)
        buf_printf(call->out, "%s %" PRId64 "\n", accepted.is_new ? "taken" : "known",
                   accepted.id);
    else
        buf_printf(call->out, "%s %s\n",
                   st == ST_INVALID     ? "nobody"
                   : st == ST_TOO_LARGE ? "refused"
                                        : "later",
                   err->text);
    buf_release(&told);
    return ST_OK;
}

/* The letter that a request is about. */
static enum status letter_need(const struct admin_call *call, int64_t *ret_id, struct err *err)
{
    const char *text = admin_value(call, "letter");

    return text && str_to_int64(text, 1, INT64_MAX, ret_id)
               ? ST_OK
               : err_reason(err, REASON_BAD_FIELD, "a letter is named by its number");
}

enum status inbox_retry_run(struct admin_call *call, struct store_txn *txn, utc_ms now,
                            struct err *err)
{
    struct audit_row row = {.at = now, .role = AUDIT_ADMINISTRATOR};
    int64_t id;
    enum status st = letter_need(call, &id, err);

    if (st == ST_OK)
        st = inbox_retry(txn, id, err);
    if (st != ST_OK)
        return st;
    (void)str_copy(row.act, sizeof row.act, "inbox_retry");
    (void)snprintf(row.detail, sizeof row.detail, "%" PRId64, id);
    buf_printf(call->out, "letter %" PRId64 " will be read again\n", id);
    return audit_add(txn, &row, err);
}

enum status inbox_retry_after(struct admin_call *call, struct err *err)
{
    (void)err;
    if (call->engine->intake)
        intake_wake(call->engine->intake);
    return ST_OK;
}

/* ------------------------------------------------------------------------------- receive */

/* The letter of the operand, or of standard input.  A first line "From …" of an mbox, which some
 * mail servers put before what they pipe, is taken off. */
static int letter_read(struct cli *cli, size_t most, struct buf *ret)
{
    const char *name = cli->operand_count && !str_eq(cli->operands[0], "-") ? cli->operands[0]
                                                                            : NULL;
    int fd = name ? open(name, O_RDONLY | O_CLOEXEC) : STDIN_FILENO, result = CLI_OK;
    char bytes[16 * 1024];
    ssize_t n = 0;

    if (fd < 0)
        return cli_fail(RECEIVE_DATA, "%s: %s", name, strerror(errno));
    *ret = buf_make(most + sizeof bytes);
    while (ret->len <= most && (n = read(fd, bytes, sizeof bytes)) != 0) {
        size_t from = 0;
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            result = cli_fail(RECEIVE_LATER, "%s: %s", name ? name : "standard input",
                              strerror(errno));
            break;
        }
        if (ret->len == 0 && n > 5 && memcmp(bytes, "From ", 5) == 0) {
            const char *end = memchr(bytes, '\n', (size_t)n);
            from = end ? (size_t)(end + 1 - bytes) : 0;
        }
        buf_add(ret, bytes + from, (size_t)n - from);
    }
    if (name)
        close(fd);
    if (result == CLI_OK && buf_failed(ret))
        result = cli_fail(RECEIVE_LATER, "out of memory");
    if (result == CLI_OK && ret->len > most)
        result = cli_fail(RECEIVE_DATA, "the letter is larger than mail_in.letter_size");
    if (result == CLI_OK && ret->len == 0)
        result = cli_fail(RECEIVE_DATA, "the letter is empty");
    return result;
}

/* What the answer says: printed, and its exit status. */
static int answer_tell(const char *answer)
{
    size_t n = strcspn(answer, " \n");

    for (size_t i = 0; i < COUNT_OF(outcomes); i++) {
        if (strlen(outcomes[i].word) != n || strncmp(outcomes[i].word, answer, n) != 0)
            continue;
        answer += n + (answer[n] != '\0');
        if (str_eq(outcomes[i].word, "tried"))
            fputs(answer, stdout);
        else if (outcomes[i].result == CLI_OK)
            printf("%s %s", outcomes[i].word, answer);
        else
            return cli_fail(outcomes[i].result, "%.*s", (int)strcspn(answer, "\n"), answer);
        return CLI_OK;
    }
    return cli_fail(RECEIVE_LATER, "the daemon's answer is not understood");
}

static int letter_hand(struct cli *cli, const struct settings *s, const struct buf *letter,
                       int64_t wait_ms)
{
    struct admin_request rq;
    struct buf out = buf_make(ADMIN_ANSWER_MAX);
    struct err err = ERR_INIT;
    enum status st;
    int result;

    admin_request_init(&rq, "receive");
    admin_request_add(&rq, "recipient", cli_value(cli, "recipient"));
    admin_request_add(&rq, "sender", cli_value(cli, "sender"));
    admin_request_add(&rq, "dry_run", cli_value(cli, "dry-run"));
    admin_request_body(&rq, letter->data, letter->len);
    st = control_call(s->control_socket, s->database, &rq, wait_ms, &out, &err);
    if (st == ST_NOT_FOUND) {
        mail_library_init();
        st = admin_perform_here(cli, s, &rq, &out, &err);
    }
    result = st == ST_OK ? answer_tell(out.data) : cli_fail(RECEIVE_LATER, "%s", err.text);
    admin_request_release(&rq);
    buf_release(&out);
    return result;
}

int cmd_receive(struct cli *cli)
{
    struct settings s = SETTINGS_INIT;
    struct buf letter = buf_make(0);
    struct err err = ERR_INIT;
    const char *wait = cli_value(cli, "wait"), *recipient = cli_value(cli, "recipient");
    int64_t wait_ms = RECEIVE_WAIT_MS;
    int result;

    if (wait && length_parse(wait, &wait_ms, &err) != ST_OK)
        return cli_fail(RECEIVE_USAGE, "--wait: %s", err.text);
    if (recipient && !*recipient)
        return cli_fail(RECEIVE_USAGE, "--recipient needs an address");
    result = config_load(cli, &s) == CLI_OK ? CLI_OK : RECEIVE_LATER;
    if (result == CLI_OK)
        result = letter_read(cli, (size_t)s.mail_in.letter_size, &letter);
    if (result == CLI_OK)
        result = letter_hand(cli, &s, &letter, wait_ms);
    buf_release(&letter);
    settings_release(&s);
    return result;
}

/* ------------------------------------------------------------------------------- inbox */

/* Whose letter it was and about which game, as the other subcommands name them. */
static void names_get(struct store_conn *conn, const struct inbox_row *row,
                      char ret_handle[HANDLE_SIZE], char ret_game[GAME_PUBLIC_ID_SIZE])
{
    struct game_row *game = calloc(1, sizeof *game);

    reading_handle(conn, row->user_id, ret_handle);
    (void)str_copy(ret_game, GAME_PUBLIC_ID_SIZE, "-");
    if (game && row->game_id && games_get(conn, row->game_id, game, NULL) == ST_OK)
        (void)str_copy(ret_game, GAME_PUBLIC_ID_SIZE, game->public_id);
    free(game);
}

static void row_print(struct store_conn *conn, const struct inbox_row *row)
{
    char at[UTC_TEXT_SIZE], handle[HANDLE_SIZE], game[GAME_PUBLIC_ID_SIZE];

    names_get(conn, row, handle, game);
    printf("%" PRId64 " %s %-7s %-11s %-12s %-20s %-8s%s%s%s\n", row->id,
           cli_instant(row->received_at, at), inbox_way_str(row->way), inbox_state_str(row->state),
           inbox_verdict_str(row->verdict), handle, game, row->reason[0] ? "  \"" : "",
           row->reason, row->reason[0] ? "\"" : "");
}

int cmd_inbox_list(struct cli *cli)
{
    const char *state = cli_value(cli, "state"), *limit = cli_value(cli, "limit");
    struct inbox_row *rows = calloc(LIST_MAX, sizeof *rows);
    enum inbox_state wanted = INBOX_RECEIVED;
    struct reading r;
    struct err err = ERR_INIT;
    int64_t most = 50;
    size_t n = 0;
    int result = reading_begin(cli, &r);

    if (result == CLI_OK && !rows)
        result = cli_fail(CLI_FAILED, "out of memory");
    if (result == CLI_OK && state && !inbox_state_parse(state, &wanted))
        result = cli_fail(CLI_USAGE, "--state is one of received, claimed, held, done and "
                                     "quarantined");
    if (result == CLI_OK && limit && !str_to_int64(limit, 1, LIST_MAX, &most))
        result = cli_fail(CLI_USAGE, "-n (--limit) should be a number from 1 to %d", LIST_MAX);
    if (result == CLI_OK && inbox_list(r.conn, state ? (int)wanted : INBOX_ANY,
                                       0, 0, rows, (size_t)most, &n, &err) != ST_OK)
        result = cli_fail(CLI_FAILED, "%s", err.text);
    for (size_t i = 0; i < n; i++)
        row_print(r.conn, &rows[i]);
    reading_end(&r);
    free(rows);
    return result;
}

/* Bytes without tokens, and safe for a terminal.  Returns false when there was no memory. */
static bool masked_print(const char *bytes, size_t n)
{
    struct buf text = buf_make(4 * n + 16), safe = buf_make(4 * n + 16);
    bool is_good;

    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)bytes[i];

        if (c != '\r')
            buf_putc(&safe, c == '\n' || c == '\t' || (c >= ' ' && c < 0x7f) ? (char)c : '?');
    }
    intake_mask_tokens(safe.data, safe.len, &text);
    is_good = !buf_failed(&text) && !buf_failed(&safe);
    if (is_good)
        fputs(text.data, stdout);
    buf_release(&text);
    buf_release(&safe);
    return is_good;
}

/* How long the header is, with the end of its last line. */
static size_t header_length(const unsigned char *bytes, size_t n)
{
    bool is_line_empty = true;

    for (size_t i = 0; i < n; i++) {
        if (bytes[i] == '\n' && is_line_empty)
            return i;
        if (bytes[i] != '\r')
            is_line_empty = bytes[i] == '\n';
    }
    return n;
}

static int letter_print(struct store_conn *conn, const struct inbox_row *row)
{
    struct buf recipient = buf_make(2 * ADDRESS_SIZE);
    char at[UTC_TEXT_SIZE];
    bool is_good = true;
    size_t n;

    row_print(conn, row);
    intake_mask_tokens(row->recipient, strlen(row->recipient), &recipient);
    printf("recipient %s\nsize %" PRId64 "\nattempts %d\nrepeats %" PRId64 "\n",
           buf_failed(&recipient) ? "?" : recipient.data, row->size, row->attempts, row->repeats);
    buf_release(&recipient);
    printf("settled %s\n\n", cli_instant(row->settled_at, at));
    if (!row->raw) {
        printf("(its bytes are not kept any more)\n");
    } else {
        n = header_length(row->raw, row->raw_len);
        is_good = masked_print((const char *)row->raw, n);
        if (n > 0 && row->raw[n - 1] != '\n' && row->raw[n - 1] != '\r')
            putchar('\n');
    }
    return is_good ? CLI_OK : cli_fail(CLI_FAILED, "out of memory");
}

int cmd_inbox_show(struct cli *cli)
{
    struct inbox_row *row = calloc(1, sizeof *row);
    struct reading r;
    struct err err = ERR_INIT;
    int64_t id;
    int result = reading_begin(cli, &r);

    if (result == CLI_OK && !row)
        result = cli_fail(CLI_FAILED, "out of memory");
    if (result == CLI_OK && !str_to_int64(cli->operands[0], 1, INT64_MAX, &id))
        result = cli_fail(CLI_USAGE, "a letter is named by its number; inbox list tells it");
    if (result == CLI_OK && inbox_get(r.conn, id, /* with_raw= */ true, row,
                                      &err) != ST_OK)
        result = cli_fail(CLI_FAILED, "%s", err.text);
    if (result == CLI_OK && !cli_flag(cli, "raw"))
        result = letter_print(r.conn, row);
    else if (result == CLI_OK && !row->raw)
        result = cli_fail(CLI_FAILED, "its bytes are not kept any more");
    else if (result == CLI_OK && fwrite(row->raw, 1, row->raw_len, stdout) != row->raw_len)
        result = cli_fail(CLI_FAILED, "standard output: %s", strerror(errno));
    inbox_row_release(row);
    free(row);
    reading_end(&r);
    return result;
}

int cmd_inbox_retry(struct cli *cli)
{
    struct admin_request rq;

    admin_request_init(&rq, "inbox-retry");
    admin_request_add(&rq, "letter", cli->operands[0]);
    return admin_submit(cli, &rq);
}
