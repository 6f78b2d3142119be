/* A little HTTP receiver for webhooks: one thread, one request a connection, scripted answers. */
#ifndef FH_TESTS_RECEIVER_H
#define FH_TESTS_RECEIVER_H

struct receiver;

/* answer: a whole HTTP answer, e.g. "HTTP/1.1 204 No Content\r\n\r\n"; "" closes the connection. */
struct receiver *receiver_start(const char *answer);
int receiver_port(const struct receiver *receiver);
void receiver_set(struct receiver *receiver, const char *answer);
int receiver_count(struct receiver *receiver);
/* Copy of the newest request: head and body.  The caller frees. */
char *receiver_last(struct receiver *receiver);
void receiver_stop(struct receiver *receiver); /* and free */

#endif
