#include "http/metrics.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/str.h"

/* Upper ends in milliseconds. */
static const int64_t ends_ms[METRICS_BUCKETS] = {1, 2, 5, 10, 25, 50, 100, 500, 2500, 10000};

void metrics_answer(struct metrics *metrics, int route, int status, int64_t took_ms)
{
    size_t row = route >= 0 && route < METRICS_ROUTES_MAX - 1 ? (size_t)route
                                                              : METRICS_ROUTES_MAX - 1;
    size_t class = status >= 100 && status < 600 ? (size_t)(status / 100 - 1) : 4;
    size_t bucket = 0;

    atomic_fetch_add_explicit(&metrics->answers[row][class], 1, memory_order_relaxed);
    while (bucket < METRICS_BUCKETS && took_ms > ends_ms[bucket])
        bucket++;
    atomic_fetch_add_explicit(&metrics->durations[bucket], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&metrics->duration_sum_ms, (uint_fast64_t)(took_ms > 0 ? took_ms : 0),
                              memory_order_relaxed);
}

/* A label's value with quotes, backslashes and line ends escaped. */
static void metrics_label(struct buf *out, const char *value)
{
    for (; *value; value++) {
        if (*value == '"' || *value == '\\')
            buf_putc(out, '\\');
        if (*value == '\n')
            buf_puts(out, "\\n");
        else
            buf_putc(out, *value);
    }
}

static void print_one(struct buf *out, const char *name, const char *type, const char *help,
                      uint64_t value)
{
    buf_printf(out, "# HELP fourhanded_%s %s\n# TYPE fourhanded_%s %s\nfourhanded_%s %" PRIu64 "\n",
               name, help, name, type, name, value);
}

void metrics_print(struct metrics *metrics, size_t routes,
                   void (*name)(size_t route, char *ret, size_t size), struct buf *out)
{
    uint64_t count = 0;

    assert(routes < METRICS_ROUTES_MAX);
    buf_puts(out, "# HELP fourhanded_http_requests_total Requests answered, by route and class of "
                  "status.\n# TYPE fourhanded_http_requests_total counter\n");
    for (size_t r = 0; r < METRICS_ROUTES_MAX; r++) {
        for (size_t c = 0; c < METRICS_CLASSES; c++) {
            uint64_t n = atomic_load_explicit(&metrics->answers[r][c], memory_order_relaxed);
            char label[160] = "other";

            if (n == 0)
                continue;
            if (r < routes)
                name(r, label, sizeof label);
            buf_puts(out, "fourhanded_http_requests_total{route=\"");
            metrics_label(out, label);
            buf_printf(out, "\",code=\"%zuxx\"} %" PRIu64 "\n", c + 1, n);
        }
    }
    buf_puts(out, "# HELP fourhanded_http_duration_seconds From the request line to the answer; "
                  "streams are not counted.\n# TYPE fourhanded_http_duration_seconds histogram\n");
    for (size_t b = 0; b <= METRICS_BUCKETS; b++) {
        count += atomic_load_explicit(&metrics->durations[b], memory_order_relaxed);
        if (b < METRICS_BUCKETS)
            buf_printf(out, "fourhanded_http_duration_seconds_bucket{le=\"%g\"} %" PRIu64 "\n",
                       (double)ends_ms[b] / 1000.0, count);
        else
            buf_printf(out,
                       "fourhanded_http_duration_seconds_bucket{le=\"+Inf\"} %" PRIu64 "\n"
                       "fourhanded_http_duration_seconds_sum %g\n"
                       "fourhanded_http_duration_seconds_count %" PRIu64 "\n",
                       count, (double)atomic_load(&metrics->duration_sum_ms) / 1000.0, count);
    }
    print_one(out, "http_connections", "gauge", "Connections open.",
              (uint64_t)atomic_load(&metrics->connections));
    print_one(out, "http_connections_total", "counter", "Connections accepted.",
              atomic_load(&metrics->connections_accepted));
    print_one(out, "http_connections_refused_total", "counter",
              "Connections answered 503 for being too many.",
              atomic_load(&metrics->connections_refused));
    print_one(out, "http_connections_cut_total", "counter",
              "Connections cut off for being too slow.", atomic_load(&metrics->connections_cut));
    print_one(out, "http_streams", "gauge", "Event streams open.",
              (uint64_t)atomic_load(&metrics->streams));
    print_one(out, "http_stream_events_total", "counter", "Events written to streams.",
              atomic_load(&metrics->stream_events));
    print_one(out, "http_waiting", "gauge", "Requests that wait for the writer.",
              (uint64_t)atomic_load(&metrics->waiting));
    print_one(out, "http_rate_limited_total", "counter", "Requests answered 429.",
              atomic_load(&metrics->rate_limited));
    print_one(out, "http_pictures_drawn_total", "counter", "Boards drawn as PNG.",
              atomic_load(&metrics->pictures_drawn));
    print_one(out, "http_pictures_kept_total", "counter", "Boards that were drawn already.",
              atomic_load(&metrics->pictures_kept));
    print_one(out, "http_undeclared_total", "counter",
              "Answers whose status openapi.yaml does not name: a fault of ours.",
              atomic_load(&metrics->undeclared));
}
