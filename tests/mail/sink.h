/*
 * A scripted SMTP server for tests: a thread a session, at most 64 at once, on a port of loopback
 * that the system picks.  It answers each command with the line of its script and writes down what
 * it heard.
 */
#ifndef FH_TEST_SINK_H
#define FH_TEST_SINK_H

#include <stddef.h>

/* A reply of NULL means the usual one; "" means: close the connection without a word. */
struct sink_script {
    const char *greeting, *ehlo, *mail, *rcpt, *data, *message;
};

struct sink;

/* The script is copied by value; its strings must last.  The server serves until stopped. */
struct sink *sink_start(const struct sink_script *script);
int sink_port(const struct sink *sink);
/* Another script, from the next command on. */
void sink_set(struct sink *sink, const struct sink_script *script);
/* Stop and join.  After this the records may be read; before it only while no letter comes. */
void sink_stop(struct sink *sink);
/* All command lines heard, each ended by "\n"; and the bytes of the last message as they came on
 * the wire, dot-stuffing undone, and as they came raw. */
const char *sink_commands(const struct sink *sink);
const char *sink_message(const struct sink *sink);
const char *sink_raw(const struct sink *sink);
/* The heads of all messages taken with a 250, in the order in which they were. */
const char *sink_heads(const struct sink *sink);
int sink_messages(const struct sink *sink); /* how many were taken with a 250 */
int sink_sessions(const struct sink *sink); /* connections there have been … */
int sink_at_once(const struct sink *sink);  /* … and most that were open at the same time */
void sink_free(struct sink *sink);

#endif
