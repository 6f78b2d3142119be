#include "main/cmd_read.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arbiter/arbiter.h"
#include "base/str.h"
#include "main/cmd_config.h"
#include "main/engine.h"
#include "rules/show.h"
#include "store/backup.h"
#include "store/verify.h"

enum { PAGE = 100 };

const struct cli_option user_list_options[] = {
    {"addresses", 'a', NULL, "show mail addresses too"},
    {NULL, 0, NULL, NULL},
};
const struct cli_option user_invites_options[] = {
    {"addresses", 'a', NULL, "show whom each is for"},
    {"all", 0, NULL, "those too that are used, taken back or past their time"},
    {NULL, 0, NULL, NULL},
};
const struct cli_option game_list_options[] = {
    {"state", 0, "STATE", "only open, placing, running, finished or aborted games"},
    {"player", 'p', "HANDLE", "only games of this player"},
    {"limit", 'n', "N", "at most N games, newest first (default 100)"},
    {NULL, 0, NULL, NULL},
};
const struct cli_option game_show_options[] = {
    {"spoken", 0, NULL, "tell the position in sentences instead of drawing it"},
    {NULL, 0, NULL, NULL},
};
const struct cli_option verify_options_cli[] = {
    {"quick", 'q', NULL, "SQLite's quick check instead of the whole one"},
    {NULL, 0, NULL, NULL},
};

/* The database of the settings, which have been loaded. */
static enum status reading_open(struct reading *r, struct err *err)
{
    enum status st = store_open_to_read(&r->settings, &r->store, err);

    if (st == ST_OK)
        st = store_reader_open(r->store, &r->reader, err);
    if (st == ST_OK)
        r->conn = store_reader_conn(r->reader);
    return st;
}

int reading_begin(struct cli *cli, struct reading *r)
{
    struct err err = ERR_INIT;
    int result;

    memset(r, 0, sizeof *r);
    result = config_load(cli, &r->settings);
    if (result != CLI_OK)
        return result;
    return reading_open(r, &err) == ST_OK ? CLI_OK : cli_fail(CLI_FAILED, "%s", err.text);
}

void reading_end(struct reading *r)
{
    store_reader_close(r->reader);
    store_close(r->store);
    settings_release(&r->settings);
}

int cmd_user_list(struct cli *cli)
{
    struct user_row *rows = calloc(PAGE, sizeof *rows);
    char after[HANDLE_SIZE] = "", at[UTC_TEXT_SIZE];
    struct reading r;
    struct err err = ERR_INIT;
    size_t n = PAGE;
    int result = reading_begin(cli, &r);

    if (result == CLI_OK && !rows)
        result = cli_fail(CLI_FAILED, "out of memory");
    while (result == CLI_OK && n == PAGE) {
        if (users_list(r.conn, after, rows, PAGE, &n, &err) != ST_OK) {
            result = cli_fail(CLI_FAILED, "%s", err.text);
            break;
        }
        for (size_t i = 0; i < n; i++) {
            const struct user_row *u = &rows[i];
            const char *address = cli_flag(cli, "addresses") ? u->address : "";
            printf("%-20s %s %-6s %-20s %s%s%s%s%s%s\"%s\"\n", u->handle,
                   cli_instant(u->created_at, at), u->language, u->zone,
                   u->is_operator ? "operator " : "",
                   u->disabled_at != UTC_NONE ? "disabled " : "",
                   u->password_hash[0] ? "password " : "",
                   !u->address[0]                 ? "no-address "
                   : u->verified_at == UTC_NONE   ? "unverified "
                   : u->address_state != ADDRESS_OK ? "suspended "
                                                  : "",
                   address, *address ? " " : "", u->display_name);
            (void)str_copy(after, sizeof after, u->handle_key);
        }
    }
    reading_end(&r);
    free(rows);
    return result;
}

void reading_handle(struct store_conn *conn, int64_t user_id, char ret_handle[HANDLE_SIZE])
{
    struct user_row user;

    (void)str_copy(ret_handle, HANDLE_SIZE,
                   user_id && users_get(conn, user_id, &user, NULL) == ST_OK ? user.handle : "-");
}

/* What becomes of an invitation: it is good until it is one of the others. */
static const char *invite_state(const struct invite_row *row, utc_ms now)
{
    return row->used_by                   ? "used"
           : row->revoked_at != UTC_NONE ? "withdrawn"
           : row->expires_at <= now      ? "expired"
                                         : "good";
}

static void invite_print(struct store_conn *conn, const struct invite_row *row, const char *state,
                         bool with_address)
{
    char made[UTC_TEXT_SIZE], until[UTC_TEXT_SIZE], by[HANDLE_SIZE], who[HANDLE_SIZE];

    reading_handle(conn, row->created_by, by);
    reading_handle(conn, row->used_by, who);
    printf("%" PRId64 " %-9s made=%s until=%s by=%s became=%s", row->id, state,
           cli_instant(row->created_at, made), cli_instant(row->expires_at, until), by, who);
    if (with_address)
        printf(" for=%s", row->address[0] ? row->address : "-");
    if (row->note[0]) {
        printf("  \"");
        for (const char *c = row->note; *c; c++) /* a line each, and safe for a terminal */
            putchar((unsigned char)*c < ' ' || *c == 0x7f ? '?' : *c);
        putchar('"');
    }
    putchar('\n');
}

int cmd_user_invites(struct cli *cli)
{
    const struct clock clock =
        cli->seams && cli->seams->clock.read ? cli->seams->clock : clock_os();
    const utc_ms now = clock.read(clock.arg).wall_at;
    struct invite_row *rows = calloc(PAGE, sizeof *rows);
    struct reading r;
    struct err err = ERR_INIT;
    int64_t before = 0;
    size_t n = PAGE;
    int result = reading_begin(cli, &r);

    if (result == CLI_OK && !rows)
        result = cli_fail(CLI_FAILED, "out of memory");
    while (result == CLI_OK && n == PAGE) {
        if (invites_list(r.conn, before, rows, PAGE, &n, &err) != ST_OK) {
            result = cli_fail(CLI_FAILED, "%s", err.text);
            break;
        }
        for (size_t i = 0; i < n; i++) {
            const char *state = invite_state(&rows[i], now);
            if (cli_flag(cli, "all") || str_eq(state, "good"))
                invite_print(r.conn, &rows[i], state, cli_flag(cli, "addresses"));
            before = rows[i].id;
        }
    }
    reading_end(&r);
    free(rows);
    return result;
}

static void seats_print(const struct game_brief *g)
{
    for (int i = 0; i < SEAT_COUNT; i++)
        printf("%s%s%s", i ? " " : "", g->seats[i].handle[0] ? g->seats[i].handle : "-",
               g->seats[i].left_how != SEAT_STAYED ? "(left)" : "");
}

static void brief_print(const struct game_brief *g)
{
    char at[UTC_TEXT_SIZE];

    printf("%s %-8s %-8s%s ply=%d turn=%s deadline=%s result=%s  ", g->public_id,
           game_variant_str(g->variant), game_state_str(g->state),
           g->paused_at != UTC_NONE ? " paused" : "", g->ply,
           g->turn_seat >= 0 && g->seats[g->turn_seat].handle[0] ? g->seats[g->turn_seat].handle
                                                                 : "-",
           cli_instant(g->deadline_at, at), game_result_str(g->result));
    seats_print(g);
    putchar('\n');
}

/* The filter that the options ask for. */
static int filter_make(struct cli *cli, struct store_conn *conn, struct game_filter *ret,
                       int64_t *ret_limit)
{
    const char *state = cli_value(cli, "state"), *player = cli_value(cli, "player"),
               *limit = cli_value(cli, "limit");
    struct game_filter f = GAME_FILTER_INIT;
    char key[HANDLE_MAX + 1];
    struct user_row user;
    enum game_state wanted;
    struct err err = ERR_INIT;

    f.sees_all = true;
    *ret_limit = PAGE;
    if (limit && !str_to_int64(limit, 1, 1000000, ret_limit))
        return cli_fail(CLI_USAGE, "-n (--limit) should be a number from 1 to 1000000");
    if (state) {
        if (!game_state_parse(state, &wanted))
            return cli_fail(CLI_USAGE,
                            "--state should be open, placing, running, finished or aborted");
        f.state = (int)wanted;
    }
    if (player) {
        handle_fold(player, key);
        if (strlen(player) > HANDLE_MAX || users_find_handle(conn, key, &user, &err) != ST_OK)
            return cli_fail(CLI_FAILED, "there is no account \"%.40s\"", player);
        f.player_id = user.id;
    }
    *ret = f;
    return CLI_OK;
}

int cmd_game_list(struct cli *cli)
{
    struct game_brief *rows = calloc(PAGE, sizeof *rows);
    struct game_filter filter = GAME_FILTER_INIT;
    struct game_cursor cursor = {0, 0};
    struct reading r;
    struct err err = ERR_INIT;
    int64_t left = 0;
    size_t n;
    int result = reading_begin(cli, &r);

    if (result == CLI_OK && !rows)
        result = cli_fail(CLI_FAILED, "out of memory");
    if (result == CLI_OK)
        result = filter_make(cli, r.conn, &filter, &left);
    while (result == CLI_OK && left > 0) {
        size_t want = left < PAGE ? (size_t)left : PAGE;
        if (games_list(r.conn, &filter, &cursor, rows, want, &n, &cursor, &err) != ST_OK) {
            result = cli_fail(CLI_FAILED, "%s", err.text);
            break;
        }
        for (size_t i = 0; i < n; i++)
            brief_print(&rows[i]);
        left -= (int64_t)n;
        if (cursor.id == 0 || n == 0)
            break;
    }
    reading_end(&r);
    free(rows);
    return result;
}

/* pause_end: UTC_NONE for none. */
static void game_print(const struct game_row *g, utc_ms pause_end)
{
    char at[UTC_TEXT_SIZE], move[48], grace[48];

    printf("game        %s\n", g->public_id);
    printf("rules       %s\n", g->rules);
    printf("state       %s%s, number %" PRId64 "\n", game_state_str(g->state),
           g->paused_at != UTC_NONE ? " (paused)" : "", g->state_no);
    if (g->paused_at != UTC_NONE) {
        printf("paused      since %s", cli_instant(g->paused_at, at));
        printf(", until %s\n", pause_end == UTC_NONE ? "resumed" : cli_instant(pause_end, at));
    }
    if (g->state == GAME_FINISHED || g->state == GAME_ABORTED)
        printf("result      %s, %s\n", game_result_str(g->result), game_cause_str(g->cause));
    length_format(g->per_move_ms, move, sizeof move);
    length_format(g->grace_ms, grace, sizeof grace);
    printf("time        %s a move, grace %s\n", move, grace);
    printf("rated       %s\n", g->is_rated ? "yes" : "no");
    printf("visible     to %s\n", g->visibility == GAME_PUBLIC ? "everybody" : "its players");
    printf("created     %s\n", cli_instant(g->created_at, at));
    printf("started     %s\n", cli_instant(g->started_at, at));
    printf("ply         %d\n", g->ply);
    printf("turn since  %s\n", cli_instant(g->turn_at, at));
    printf("deadline    %s\n", cli_instant(g->deadline_at, at));
    printf("ended       %s\n", cli_instant(g->ended_at, at));
}

static int position_show(const struct game_row *g, bool is_spoken)
{
    char text[(int)SHOW_SPOKEN_MAX + (int)SHOW_BOARD_MAX]; /* more than either needs */
    struct position pos;
    struct err err = ERR_INIT;

    if (!g->position[0])
        return CLI_OK; /* not started */
    if (arbiter_position(g, &pos, &err) != ST_OK)
        return cli_fail(CLI_FAILED, "%s", err.text);
    if (is_spoken)
        (void)show_spoken(&pos, NULL, 0, text, sizeof text);
    else
        (void)show_board(&pos, &(struct show_options){.side = SEAT_SOUTH, .has_legend = true},
                         text, sizeof text);
    printf("position    %s\n\n%s", g->position, text);
    return CLI_OK;
}

int cmd_game_show(struct cli *cli)
{
    static const char *const names[] = {"South", "West", "North", "East"};
    struct game_row *game = calloc(1, sizeof *game);
    struct seat_row seats[SEAT_COUNT];
    struct reading r;
    struct err err = ERR_INIT;
    utc_ms pause_end = UTC_NONE;
    int result = reading_begin(cli, &r);

    if (result == CLI_OK && !game)
        result = cli_fail(CLI_FAILED, "out of memory");
    if (result == CLI_OK) {
        enum status st = games_find(r.conn, cli->operands[0], game, &err);
        if (st == ST_NOT_FOUND || st == ST_TOO_LARGE)
            result = cli_fail(CLI_FAILED, "there is no game \"%.40s\"", cli->operands[0]);
        else if (st != ST_OK || seats_get(r.conn, game->id, seats, &err) != ST_OK ||
                 arbiter_pause_end(r.conn, game->id, &pause_end, &err) != ST_OK)
            result = cli_fail(CLI_FAILED, "%s", err.text);
    }
    if (result == CLI_OK) {
        game_print(game, pause_end);
        for (int i = 0; i < SEAT_COUNT; i++)
            printf("%-11s %s%s%s%s\n", names[i],
                   seats[i].user_id ? seats[i].handle : seat_state_str(seats[i].state),
                   i == game->turn_seat ? " (to move)" : "",
                   seats[i].left_how != SEAT_STAYED ? " " : "",
                   seats[i].left_how != SEAT_STAYED ? seat_left_how_str(seats[i].left_how) : "");
        result = position_show(game, cli_flag(cli, "spoken"));
    }
    reading_end(&r);
    free(game);
    return result;
}

/* ------------------------------------------------------------------------------- verify, backup */

static void fault_print(void *arg, const struct verify_fault *fault)
{
    (void)arg;
    printf("%s%s%s\n", fault->public_id[0] ? fault->public_id : "file", ": ", fault->what);
}

int cmd_verify(struct cli *cli)
{
    struct arbiter arbiter = {.entropy = people_entropy(),
                              .digest = people_digest(),
                              .limits = arbiter_limits_usual()};
    struct verify_options options = {.fault = fault_print,
                                     .game = arbiter_verify_game,
                                     .arg = &arbiter,
                                     .quick = cli_flag(cli, "quick")};
    struct verify_report report = {0, 0, 0, 0};
    struct reading r = {.settings = SETTINGS_INIT};
    struct err err = ERR_INIT;
    enum status st = ST_OK;
    int result = config_load(cli, &r.settings);

    if (result != CLI_OK)
        goto out;
    st = reading_open(&r, &err);
    if (st == ST_OK)
        st = verify_run(r.store, &options, &report, &err);
    if (st == ST_CORRUPT) { /* too broken to go on: a fault like others, and the last */
        fault_print(NULL, &(struct verify_fault){.what = err.text});
        report.faults++;
    } else if (st != ST_OK) {
        result = cli_fail(CLI_FAILED, "%s", err.text);
        goto out;
    }
    printf("%s: %" PRId64 " games, %" PRId64 " moves, %" PRId64 " events, %" PRId64 " faults\n",
           report.faults ? "FAULTY" : "OK", report.games, report.moves, report.events,
           report.faults);
    result = report.faults ? CLI_FAILED : CLI_OK;
out:
    reading_end(&r);
    return result;
}

int cmd_backup(struct cli *cli)
{
    struct backup_report report = {0, 0, 0, 0};
    struct reading r;
    struct err err = ERR_INIT;
    int result = reading_begin(cli, &r);

    if (result == CLI_OK && backup_make(r.store, cli->operands[0], &report, &err) != ST_OK)
        result = cli_fail(CLI_FAILED, "%s", err.text);
    if (result == CLI_OK)
        printf("%s: %" PRId64 " bytes, %" PRId64 " rows, %" PRId64 " games, %" PRId64
               " events, verified\n",
               cli->operands[0], report.bytes, report.rows, report.games, report.events);
    reading_end(&r);
    return result;
}
