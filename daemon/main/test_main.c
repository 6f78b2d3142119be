/*
 * fourhanded-test: the same program with a clock that a test can move, for the end-to-end tests.
 * It is built with the tests and never installed.
 *
 *   fourhanded-test clock advance LENGTH   the running daemon's clocks are that much later, as if
 *                                          it had been up all the time; what is due is done before
 *                                          the command returns
 *
 * tests/faults/vfs_env.c, linked in too, lets the environment put a failing disk under it.
 *
 * FOURHANDED_TEST_CLOCK=LENGTH in the environment is where a start begins (for a restart after the
 * clock was moved).
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "main/admin.h"
#include "main/cli.h"
#include "main/cmd_admin.h"
#include "main/engine.h"
#include "main/fourhanded.h"
#include "main/ticker.h"
#include "store/outage.h"

static atomic_llong offset_ms;

static struct clock_reading read_moved(void *arg)
{
    struct clock machine = clock_os();
    struct clock_reading reading = machine.read(machine.arg);

    (void)arg;
    reading.wall_at += atomic_load(&offset_ms);
    reading.monotonic_ms += atomic_load(&offset_ms);
    return reading;
}

static enum status advance_run(struct admin_call *call, struct store_txn *txn, utc_ms now,
                               struct err *err)
{
    const char *length = admin_value(call, "length");
    int64_t ms;
    enum status st = length_parse(length ? length : "", &ms, err);

    if (st == ST_OK) /* alive all the time: nothing is credited */
        st = heartbeat_set(txn, now + ms, /* is_start= */ false, err);
    if (st == ST_OK)
        atomic_fetch_add(&offset_ms, ms);
    return st;
}

static enum status advance_after(struct admin_call *call, struct err *err)
{
    char at[UTC_TEXT_SIZE];
    utc_ms next_at;
    enum status st = ticker_run(call->engine, /* is_start= */ false, &next_at, err);

    utc_format(clock_guard_now(&call->engine->guard), at);
    buf_printf(call->out, "%s\n", at);
    return st;
}

static const struct admin_verb verbs[] = {
    {"clock-advance", advance_run, advance_after},
    {NULL, NULL, NULL},
};

static int cmd_clock_advance(struct cli *cli)
{
    struct admin_request rq;

    admin_request_init(&rq, "clock-advance");
    admin_request_add(&rq, "length", cli->operands[0]);
    return admin_submit(cli, &rq);
}

static const struct cli_command commands[] = {
    {.words = "clock advance", .operands = "LENGTH", .doc = "Move the daemon's clocks",
     .operands_min = 1, .operands_max = 1, .is_configured = true, .run = cmd_clock_advance},
    {.words = NULL},
};

int main(int argc, char **argv)
{
    const struct main_seams seams = {
        .clock = {.read = read_moved}, .commands = commands, .verbs = verbs};
    const char *begin = getenv("FOURHANDED_TEST_CLOCK");
    struct err err = ERR_INIT;
    int64_t ms;

    if (begin && *begin) {
        if (length_parse(begin, &ms, &err) != ST_OK)
            return cli_fail(CLI_USAGE, "FOURHANDED_TEST_CLOCK: %s", err.text);
        atomic_store(&offset_ms, ms);
    }
    return fourhanded_main(argc, argv, &seams);
}
