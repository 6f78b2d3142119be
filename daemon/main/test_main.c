/*
 * fourhanded-test: the same program with a clock that a test can move, for the end-to-end tests.
 * It is built with the tests and never installed.
 *
 *   fourhanded-test clock advance LENGTH   the running daemon's clocks are that much later, as if
 *                                          it had been up all the time
 *   fourhanded-test clock creep LENGTH     the same, but nothing that is due is done for it
 *   fourhanded-test clock ahead LENGTH     somebody sets its wall clock ahead, or back; the
 *   fourhanded-test clock back LENGTH      monotonic clock runs on
 *   fourhanded-test clock hold             they stand still: only the others move them
 *   fourhanded-test settle                 nothing but what the others do, too:
 *
 * Before the others return what is due is done: timers by the arbiter, letters and webhooks by
 * the courier, who then waits for no answer any more.  (Settle before moving the clocks far: what
 * is under way meanwhile loses its lease.)
 *
 * tests/faults/vfs_env.c, linked in too, lets the environment put a failing disk under it.
 *
 * FOURHANDED_TEST_CLOCK in the environment is where a start begins (for a restart after the clock
 * was moved): a LENGTH that the clocks are ahead of the machine's, or an instant at which they
 * stand.  FOURHANDED_TEST_JITTER, "shortest" or "longest", puts each wait for another try at that
 * end of its spread, so that a test can hold both.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "intake/intake.h"
#include "main/admin.h"
#include "main/cli.h"
#include "main/cmd_admin.h"
#include "main/engine.h"
#include "main/fourhanded.h"
#include "main/ticker.h"
#include "notify/courier.h"
#include "store/outage.h"

static struct {
    pthread_mutex_t lock;
    int64_t offset_ms;      /* of both clocks */
    int64_t wall_offset_ms; /* of the wall clock, besides */
    bool is_held;
    struct clock_reading held; /* stands for the machine's reading then */
} moved = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct clock_reading machine_read(void)
{
    struct clock machine = clock_os();

    return machine.read(machine.arg);
}

static struct clock_reading read_moved(void *arg)
{
    struct clock_reading reading;

    (void)arg;
    pthread_mutex_lock(&moved.lock); /* else the two clocks seem to part */
    reading = moved.is_held ? moved.held : machine_read();
    reading.wall_at += moved.offset_ms + moved.wall_offset_ms;
    reading.monotonic_ms += moved.offset_ms;
    pthread_mutex_unlock(&moved.lock);
    return reading;
}

static void move(int64_t both_ms, int64_t wall_ms)
{
    pthread_mutex_lock(&moved.lock);
    moved.offset_ms += both_ms;
    moved.wall_offset_ms += wall_ms;
    pthread_mutex_unlock(&moved.lock);
}

static void hold(void)
{
    pthread_mutex_lock(&moved.lock);
    if (!moved.is_held)
        moved.held = machine_read();
    moved.is_held = true;
    pthread_mutex_unlock(&moved.lock);
}

static enum status move_run(struct admin_call *call, struct store_txn *txn, utc_ms now,
                            struct err *err)
{
    const char *length = admin_value(call, "length");
    int64_t ms;
    enum status st = length_parse(length ? length : "", &ms, err);

    if (st != ST_OK)
        return st;
    if (str_eq(call->verb, "clock-ahead")) {
        move(0, ms);
    } else if (str_eq(call->verb, "clock-back")) {
        move(0, -ms);
    } else { /* alive all the time: nothing is credited */
        st = heartbeat_set(txn, now + ms, /* is_start= */ false, err);
        if (st == ST_OK)
            move(ms, 0);
    }
    return st;
}

static enum status hold_run(struct admin_call *call, struct store_txn *txn, utc_ms now,
                            struct err *err)
{
    (void)call;
    (void)txn;
    (void)now;
    (void)err;
    hold();
    return ST_OK;
}

static enum status settle_run(struct admin_call *call, struct store_txn *txn, utc_ms now,
                              struct err *err)
{
    (void)call;
    (void)txn;
    (void)now;
    (void)err;
    return ST_OK;
}

static enum status settle_after(struct admin_call *call, struct err *err)
{
    char at[UTC_TEXT_SIZE];
    utc_ms next_at;
    enum status st;

    intake_settle(call->engine->intake);
    st = ticker_run(call->engine, /* is_start= */ false, &next_at, err);
    if (call->engine->courier)
        courier_settle(call->engine->courier);
    utc_format(clock_guard_now(&call->engine->guard), at);
    buf_printf(call->out, "%s\n", at);
    return st;
}

static const struct admin_verb verbs[] = {
    {"settle", settle_run, settle_after},
    {"clock-hold", hold_run, settle_after},
    {"clock-advance", move_run, settle_after},
    {"clock-creep", move_run, NULL},
    {"clock-ahead", move_run, settle_after},
    {"clock-back", move_run, settle_after},
    {NULL, NULL, NULL},
};

static int verb_run(struct cli *cli, const char *verb)
{
    struct admin_request rq;

    admin_request_init(&rq, verb);
    admin_request_add(&rq, "length", cli->operand_count ? cli->operands[0] : NULL);
    return admin_submit(cli, &rq);
}

static int cmd_settle(struct cli *cli)
{
    return verb_run(cli, "settle");
}

static int cmd_clock_hold(struct cli *cli)
{
    return verb_run(cli, "clock-hold");
}

static int cmd_clock_advance(struct cli *cli)
{
    return verb_run(cli, "clock-advance");
}

static int cmd_clock_creep(struct cli *cli)
{
    return verb_run(cli, "clock-creep");
}

static int cmd_clock_ahead(struct cli *cli)
{
    return verb_run(cli, "clock-ahead");
}

static int cmd_clock_back(struct cli *cli)
{
    return verb_run(cli, "clock-back");
}

static const struct cli_command commands[] = {
    {.words = "clock advance", .operands = "LENGTH", .doc = "Move the daemon's clocks",
     .operands_min = 1, .operands_max = 1, .is_configured = true, .run = cmd_clock_advance},
    {.words = "clock creep", .operands = "LENGTH", .doc = "Move the daemon's clocks unnoticed",
     .operands_min = 1, .operands_max = 1, .is_configured = true, .run = cmd_clock_creep},
    {.words = "clock ahead", .operands = "LENGTH", .doc = "Set the daemon's wall clock ahead",
     .operands_min = 1, .operands_max = 1, .is_configured = true, .run = cmd_clock_ahead},
    {.words = "clock back", .operands = "LENGTH", .doc = "Set the daemon's wall clock back",
     .operands_min = 1, .operands_max = 1, .is_configured = true, .run = cmd_clock_back},
    {.words = "clock hold", .operands = "", .doc = "Let the daemon's clocks stand",
     .is_configured = true, .run = cmd_clock_hold},
    {.words = "settle", .operands = "", .doc = "Do what is due",
     .is_configured = true, .run = cmd_settle},
    {.words = NULL},
};

/* arg: the byte that all of them are. */
static void fill_alike(void *arg, void *bytes, size_t n)
{
    memset(bytes, *(const unsigned char *)arg, n);
}

static bool jitter_parse(const char *text, struct entropy *ret)
{
    static unsigned char shortest = 0, longest = 0xff;

    if (!str_eq(text, "shortest") && !str_eq(text, "longest"))
        return false;
    *ret = (struct entropy){fill_alike, str_eq(text, "shortest") ? &shortest : &longest};
    return true;
}

int main(int argc, char **argv)
{
    struct main_seams seams = {
        .clock = {.read = read_moved}, .commands = commands, .verbs = verbs};
    const char *begin = getenv("FOURHANDED_TEST_CLOCK");
    const char *jitter = getenv("FOURHANDED_TEST_JITTER");
    struct err err = ERR_INIT;
    int64_t ms;

    if (begin && *begin) {
        if (utc_parse(begin, &ms, NULL) == ST_OK) {
            hold();
            ms -= moved.held.wall_at;
        } else if (length_parse(begin, &ms, &err) != ST_OK) {
            return cli_fail(CLI_USAGE, "FOURHANDED_TEST_CLOCK: %s", err.text);
        }
        move(ms, 0);
    }
    if (jitter && *jitter && !jitter_parse(jitter, &seams.jitter))
        return cli_fail(CLI_USAGE, "FOURHANDED_TEST_JITTER: \"shortest\" or \"longest\"");
    return fourhanded_main(argc, argv, &seams);
}
