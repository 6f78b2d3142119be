/*
 * http/metrics_listener.h - the door for Prometheus: GET /metrics, on a socket of its own.
 *
 * What is counted is in metrics.h; main adds lines of its own (http_options.metrics).
 *
 * Threads: one of MHD's, of this listener alone.
 */
#ifndef FH_HTTP_METRICS_LISTENER_H
#define FH_HTTP_METRICS_LISTENER_H

#include <microhttpd.h>
#include <stddef.h>

/* MHD_AccessHandlerCallback; its argument is the server. */
enum MHD_Result metrics_on_request(void *arg, struct MHD_Connection *conn, const char *url,
                                   const char *method, const char *version, const char *upload,
                                   size_t *upload_size, void **context);

#endif
