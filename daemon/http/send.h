/*
 * http/send.h - an answer that has been made, on its way out: the headers that all answers have.
 *
 * Security headers by the kind of answer, CORS for token clients, the state of the rate limit; what
 * is sent is counted and logged here.
 *
 * Threads: the request's pool thread.
 */
#ifndef FH_HTTP_SEND_H
#define FH_HTTP_SEND_H

#include <microhttpd.h>

#include "base/status.h"

struct request;

/* Queue r->answer; the request is over then.  MHD_NO closes the connection. */
enum MHD_Result send_answer(struct request *r);

/* The same with a failure: as a page where people look on, else as a problem document. */
enum MHD_Result send_failure(struct request *r, const struct err *err);

#endif
