/*
 * main/serve.h - the daemon: every part started, watched and stopped in order.
 *
 * Ownership: everything is given back when cmd_serve() returns.  Threads: called on the main one;
 * starts the writer's, the courier's, the ticker's, http's, the passwords' and control.sock's.
 * Errors: one line on standard error and CLI_FAILED when something does not start.
 */
#ifndef FH_MAIN_SERVE_H
#define FH_MAIN_SERVE_H

#include "main/cli.h"

/*
 * Serve until a signal.  When everything is up, one line goes to standard output:
 * "ready http://127.0.0.1:8484" or "ready unix:/path", followed by " metrics http://…" and by
 * " lmtp 127.0.0.1:4711" or " lmtp unix:/path" when there are such listeners.  The first SIGTERM
 * or SIGINT stops in order: no new connections, requests under way end (http.shutdown_time), what
 * the writer was given is done, the store is closed.  The second exits at once, which loses
 * nothing: what is not finished is not acknowledged.
 */
int cmd_serve(struct cli *cli);

#endif
