#include "main/cmd_admin.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "main/cmd_config.h"
#include "main/control.h"
#include "main/engine.h"
#include "people/passwords.h"

const struct cli_option user_add_options[] = {
    {"name", 'n', "NAME", "the name that others see (default the handle)"},
    {"verified", 'v', NULL, "the address is right; else the first mailed link proves it"},
    {"zone", 'z', "ZONE", "IANA name, such as Europe/Berlin"},
    {"language", 'l', "TAG", "language of letters: en, ru, ro"},
    {"operator", 'o', NULL, "the account may run the server"},
    {"password-file", 'p', "FILE", "read a password from the first line of FILE"},
    {"password-stdin", 0, NULL, "read a password from the first line of the input"},
    {NULL, 0, NULL, NULL},
};
const struct cli_option user_operator_options[] = {
    {"revoke", 0, NULL, "take the role away"},
    {NULL, 0, NULL, NULL},
};
const struct cli_option user_password_options[] = {
    {"password-file", 'p', "FILE", "read it from the first line of FILE"},
    {"password-stdin", 0, NULL, "read it from the first line of the input"},
    {"remove", 0, NULL, "have no password: log in by links only"},
    {NULL, 0, NULL, NULL},
};
const struct cli_option user_token_options[] = {
    {"name", 'n', "NAME", "what the token is for"},
    {"scopes", 0, "LIST", "of read, play, manage, parted by commas (default read,play)"},
    {"life", 0, "LENGTH", "how long it is good, as 90d (default for ever)"},
    {NULL, 0, NULL, NULL},
};
const struct cli_option user_invite_options[] = {
    {"address", 'a', "ADDRESS", "good for this address only"},
    {"note", 0, "TEXT", "a reminder of what it was for"},
    {NULL, 0, NULL, NULL},
};
const struct cli_option game_note_options[] = {
    {"note", 0, "TEXT", "words for the players"},
    {NULL, 0, NULL, NULL},
};
const struct cli_option game_pause_options[] = {
    {"note", 0, "TEXT", "words for the players"},
    {"until", 0, "INSTANT", "resume by itself then, as 2026-12-24T12:00:00Z"},
    {NULL, 0, NULL, NULL},
};

enum status admin_perform_here(struct cli *cli, const struct settings *s,
                               const struct admin_request *rq, struct buf *out, struct err *err)
{
    struct engine *engine = calloc(1, sizeof *engine);
    enum status st;

    if (!engine)
        return err_reason(err, REASON_NO_MEMORY, "out of memory");
    st = owner_become(s->database, err);
    if (st == ST_OK)
        st = engine_open(engine, s, cli->seams, err);
    if (st == ST_OK)
        st = admin_perform(engine, cli->seams ? cli->seams->verbs : NULL, rq->bytes.data,
                           rq->bytes.len, out, err);
    engine_close(engine);
    free(engine);
    return st;
}

int admin_submit(struct cli *cli, struct admin_request *rq)
{
    struct settings s = SETTINGS_INIT;
    struct buf out = buf_make(ADMIN_ANSWER_MAX);
    struct err err = ERR_INIT;
    enum status st;
    int result = config_load(cli, &s);

    if (result != CLI_OK)
        goto out;
    st = buf_status(&rq->bytes, "request", &err);
    if (st == ST_OK) {
        st = control_call(s.control_socket, s.database, rq, CONTROL_ANSWER_MS, &out, &err);
        if (st == ST_NOT_FOUND)
            st = admin_perform_here(cli, &s, rq, &out, &err);
    }
    if (st == ST_OK)
        fputs(out.data, stdout);
    else
        result = cli_fail(CLI_FAILED, "%s", err.text);
out:
    admin_request_release(rq);
    settings_release(&s);
    buf_release(&out);
    return result;
}

/* The file that the options name, "-" for standard input, NULL for none. */
static const char *password_file(struct cli *cli)
{
    return cli_flag(cli, "password-stdin") ? "-" : cli_value(cli, "password-file");
}

/* The first line of path ("-": standard input), hashed. */
static int password_read(const char *path, const char *handle, char ret_hash[PASSWORD_HASH_SIZE])
{
    char line[PASSWORD_MAX + 3];
    struct err err = ERR_INIT;
    FILE *file = str_eq(path, "-") ? stdin : fopen(path, "re");
    int result = CLI_OK;
    size_t len;

    if (!file)
        return cli_fail(CLI_FAILED, "%s: %s", path, strerror(errno));
    if (!fgets(line, sizeof line, file)) {
        result = cli_fail(CLI_FAILED, "%s: there is no password in it", path);
        goto out;
    }
    len = strcspn(line, "\r\n");
    line[len] = '\0';
    if (password_is_fit(line, handle, &err) != ST_OK ||
        passwords_hash_now(PASSWORDS_COST, line, ret_hash, &err) != ST_OK)
        result = cli_fail(CLI_FAILED, "%s", err.text);
out:
    memset(line, 0, sizeof line);
    if (file != stdin)
        fclose(file);
    return result;
}

int cmd_user_add(struct cli *cli)
{
    struct admin_request rq;
    char hash[PASSWORD_HASH_SIZE];
    const char *file = password_file(cli);
    int result = file ? password_read(file, cli->operands[0], hash) : CLI_OK;

    if (result != CLI_OK)
        return result;
    admin_request_init(&rq, "user-add");
    admin_request_add(&rq, "handle", cli->operands[0]);
    admin_request_add(&rq, "name", cli_value(cli, "name"));
    admin_request_add(&rq, "address", cli->operand_count > 1 ? cli->operands[1] : NULL);
    admin_request_add(&rq, "verified", cli_value(cli, "verified"));
    admin_request_add(&rq, "zone", cli_value(cli, "zone"));
    admin_request_add(&rq, "language", cli_value(cli, "language"));
    admin_request_add(&rq, "operator", cli_value(cli, "operator"));
    admin_request_add(&rq, "password_hash", file ? hash : NULL);
    return admin_submit(cli, &rq);
}

/* A verb on the account of the first operand, with up to three options as they are. */
static int user_verb(struct cli *cli, const char *verb, const char *const *options)
{
    struct admin_request rq;

    admin_request_init(&rq, verb);
    admin_request_add(&rq, "handle", cli->operands[0]);
    for (; options && *options; options++)
        admin_request_add(&rq, *options, cli_value(cli, *options));
    return admin_submit(cli, &rq);
}

int cmd_user_disable(struct cli *cli)
{
    return user_verb(cli, "user-disable", NULL);
}

int cmd_user_enable(struct cli *cli)
{
    return user_verb(cli, "user-enable", NULL);
}

int cmd_user_operator(struct cli *cli)
{
    return user_verb(cli, "user-operator", (const char *const[]){"revoke", NULL});
}

int cmd_user_password(struct cli *cli)
{
    struct admin_request rq;
    char hash[PASSWORD_HASH_SIZE];
    const char *file = password_file(cli);
    int result;

    if ((file != NULL) == cli_flag(cli, "remove"))
        return cli_fail(CLI_USAGE, "user password needs one of --password-file, --password-stdin "
                                   "and --remove");
    result = file ? password_read(file, cli->operands[0], hash) : CLI_OK;
    if (result != CLI_OK)
        return result;
    admin_request_init(&rq, "user-password");
    admin_request_add(&rq, "handle", cli->operands[0]);
    admin_request_add(&rq, "password_hash", file ? hash : NULL);
    return admin_submit(cli, &rq);
}

int cmd_user_token(struct cli *cli)
{
    return user_verb(cli, "user-token", (const char *const[]){"name", "scopes", "life", NULL});
}

int cmd_user_link(struct cli *cli)
{
    return user_verb(cli, "user-link", NULL);
}

int cmd_user_invite(struct cli *cli)
{
    return user_verb(cli, "user-invite", (const char *const[]){"address", "note", NULL});
}

int cmd_user_uninvite(struct cli *cli)
{
    struct admin_request rq;

    admin_request_init(&rq, "user-uninvite");
    admin_request_add(&rq, "number", cli->operands[0]);
    return admin_submit(cli, &rq);
}

/* A verb on the game of the first operand; name: what the second one is, NULL for none. */
static int game_verb(struct cli *cli, const char *verb, const char *name, const char *value,
                     const char *until)
{
    struct admin_request rq;

    admin_request_init(&rq, verb);
    admin_request_add(&rq, "game", cli->operands[0]);
    if (name)
        admin_request_add(&rq, name, value);
    admin_request_add(&rq, "until", until);
    admin_request_add(&rq, "note", cli_value(cli, "note"));
    return admin_submit(cli, &rq);
}

int cmd_game_abort(struct cli *cli)
{
    return game_verb(cli, "game-abort", NULL, NULL, NULL);
}

int cmd_game_pause(struct cli *cli)
{
    return game_verb(cli, "game-pause", NULL, NULL, cli_value(cli, "until"));
}

int cmd_game_resume(struct cli *cli)
{
    return game_verb(cli, "game-resume", NULL, NULL, NULL);
}

int cmd_game_credit(struct cli *cli)
{
    return game_verb(cli, "game-credit", "length", cli->operands[1], NULL);
}

int cmd_game_adjudicate(struct cli *cli)
{
    return game_verb(cli, "game-adjudicate", "result", cli->operands[1], NULL);
}
