/*
 * http/flow.h - the way of a request through the room; what it is, server.h tells.
 *
 * Callbacks of MHD, whose argument is the server.  Threads: the pool's.
 */
#ifndef FH_HTTP_FLOW_H
#define FH_HTTP_FLOW_H

#include <microhttpd.h>
#include <stddef.h>

/* The request line is there: begin a request (MHD_OPTION_URI_LOG_CALLBACK). */
void *flow_on_target(void *arg, const char *uri, struct MHD_Connection *conn);

/* The head is there, a piece of the body is, all is, or what it waited for is done. */
enum MHD_Result flow_on_request(void *arg, struct MHD_Connection *conn, const char *url,
                                const char *method, const char *version, const char *upload,
                                size_t *upload_size, void **context);

/* It is over, however it went. */
void flow_on_completed(void *arg, struct MHD_Connection *conn, void **context,
                       enum MHD_RequestTerminationCode code);

#endif
