/*
 * main/cmd_receive.h - `receive`, which hands one letter in, and `inbox …`, which looks at those
 * that came.
 *
 * `receive` is what a mail server's pipe or alias runs, and what a person tries a letter with.  The
 * letter goes to the daemon through control.sock or, while none runs, into the database by an
 * engine of its own; the daemon then acts on it.
 *
 * Exit status of receive, for mail servers (sysexits.h): 0 it is durable; 64 the command line is
 * wrong; 65 the letter cannot be taken (empty, too large); 67 the recipient is none of ours; 75
 * anything else: the sender keeps the letter and comes again – no daemon answers in time, the
 * database is locked or full, the configuration is broken.  It may be durable all the same; a
 * repeat has no second effect.
 *
 * Errors: one line on standard error.  Ownership: nothing outlives a call.  Threads: cmd_… on the
 * main thread, …_perform() as main/admin.h says.
 */
#ifndef FH_MAIN_CMD_RECEIVE_H
#define FH_MAIN_CMD_RECEIVE_H

#include "main/admin.h"
#include "main/cli.h"

enum {
    RECEIVE_USAGE = 64, /* EX_USAGE */
    RECEIVE_DATA = 65,  /* EX_DATAERR */
    RECEIVE_NOBODY = 67, /* EX_NOUSER */
    RECEIVE_LATER = 75, /* EX_TEMPFAIL */
};

extern const struct cli_option receive_options[], inbox_list_options[], inbox_show_options[];

int cmd_receive(struct cli *cli);
int cmd_inbox_list(struct cli *cli);
int cmd_inbox_show(struct cli *cli);
int cmd_inbox_retry(struct cli *cli);

/* The verb "receive": `after` of main/admin.h.  Its answer's first word says what became of the
 * letter, whatever that is. */
enum status receive_perform(struct admin_call *call, struct err *err);
/* The verb "inbox-retry": in a command; and after it. */
enum status inbox_retry_run(struct admin_call *call, struct store_txn *txn, utc_ms now,
                            struct err *err);
enum status inbox_retry_after(struct admin_call *call, struct err *err);

#endif
