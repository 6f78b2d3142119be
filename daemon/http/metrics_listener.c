/*
 * http/metrics_listener.c - see metrics_listener.h.
 */
#include "http/metrics_listener.h"

#include <string.h>

#include "http/server.h"

static void route_label(size_t i, char *ret, size_t size)
{
    snprintf(ret, size, "%s %s", method_str(routes[i].method), routes[i].path);
}

enum MHD_Result metrics_on_request(void *arg, struct MHD_Connection *conn, const char *url,
                                   const char *method, const char *version, const char *upload,
                                   size_t *upload_size, void **context)
{
    static char seen;
    struct http *http = arg;
    struct buf out;
    struct MHD_Response *response;
    bool is_get = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
    unsigned status = 200;
    enum MHD_Result result;
    size_t len;
    char *bytes;

    (void)version;
    (void)upload;
    if (!*context) {
        *context = &seen;
        return MHD_YES;
    }
    if (*upload_size > 0) {
        *upload_size = 0;
        return MHD_YES;
    }
    out = buf_make(1024 * 1024);
    if (!is_get) {
        status = 405;
        buf_puts(&out, "only GET and HEAD are known here\n");
    } else if (strcmp(url, "/metrics") != 0) {
        status = 404;
        buf_puts(&out, "there is only /metrics here\n");
    } else {
        buf_puts(&out, "# HELP fourhanded_build_info Which program this is.\n"
                       "# TYPE fourhanded_build_info gauge\n"
                       "fourhanded_build_info{version=\"" FH_VERSION "\"} 1\n");
        metrics_print(&http->metrics, routes_count, route_label, &out);
        if (http->options.metrics)
            http->options.metrics(http->options.metrics_arg, &out);
        if (buf_failed(&out)) {
            buf_clear(&out);
            status = 503;
            buf_puts(&out, "the metrics did not fit\n");
        }
    }
    bytes = buf_take(&out, &len);
    buf_release(&out);
    if (!bytes)
        return MHD_NO;
    response = MHD_create_response_from_buffer(len, bytes, MHD_RESPMEM_MUST_FREE);
    if (!response) {
        free(bytes);
        return MHD_NO;
    }
    MHD_add_response_header(response, "Content-Type",
                            status == 200 ? "text/plain; version=0.0.4; charset=utf-8"
                                          : "text/plain; charset=utf-8");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    if (status == 405)
        MHD_add_response_header(response, "Allow", "GET, HEAD");
    result = MHD_queue_response(conn, status, response);
    MHD_destroy_response(response);
    return result;
}
