#include "http/wire.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include "base/log.h"
#include "http/server.h"

/* ------------------------------------------------------------------------------ the head */

struct head {
    const char *at; /* where the next line must begin */
    bool is_whole;
};

static enum MHD_Result check_line(void *arg, enum MHD_ValueKind kind, const char *name,
                                  size_t name_size, const char *value, size_t value_size)
{
    struct head *head = arg;

    (void)kind;
    if (name != head->at || !value || value <= name + name_size) {
        head->is_whole = false;
        return MHD_NO;
    }
    head->at = value + value_size + 2; /* CRLF */
    return MHD_YES;
}

/* The library ends every piece with NULs where it stands and keeps no copies, so that the lines of
 * a proper head lie end to end. */
bool wire_head_is_whole(struct request *r, const char *method, const char *version)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(r->conn, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    struct head head = {.at = version + strlen(version) + 2, .is_whole = true};

    if (!info || method + strlen(method) + 1 != r->uri || r->uri + r->uri_len + 1 != version)
        return false;
    MHD_get_connection_values_n(r->conn, MHD_HEADER_KIND, check_line, &head);
    return head.is_whole && head.at + 2 == method + info->header_size;
}

/* ------------------------------------------------------------------------------ refusals */

static const char *status_words(int status)
{
    switch (status) {
    case 400:
        return "Bad Request";
    case 408:
        return "Request Timeout";
    case 413:
        return "Content Too Large";
    case 414:
        return "URI Too Long";
    case 431:
        return "Request Header Fields Too Large";
    case 505:
        return "HTTP Version Not Supported";
    default:
        return "Refused";
    }
}

void wire_print_problem(struct buf *out, const struct err *why, int status, enum lang lang,
                        const char *target, utc_ms now)
{
    static const char *const days[] = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
    static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    struct civil at = civil_from_ms(now);
    struct buf detail = buf_make(1024);
    char type[96], *body;
    json_t *root;

    (void)words_refusal(&detail, lang, why);
    snprintf(type, sizeof type, "/problems/%s", reason_slug(why->reason));
    root = json_pack("{s:s, s:s, s:i, s:s, s:s}", "type", type, "title",
                     words_reason(lang, why->reason), "status", status, "code",
                     reason_slug(why->reason), "detail", detail.data);
    if (root)
        problem_instance(target, root);
    body = root ? json_dumps(root, JSON_COMPACT) : NULL;
    buf_printf(out,
               "HTTP/1.1 %d %s\r\nDate: %s, %02d %s %04d %02d:%02d:%02d GMT\r\n"
               "Content-Type: application/problem+json\r\nContent-Language: %s\r\n"
               "Content-Length: %zu\r\n"
               "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
               "Content-Security-Policy: " HTTP_DATA_CSP "\r\nConnection: close\r\n\r\n%s",
               status, status_words(status), days[at.weekday], at.day, months[at.month - 1],
               at.year, at.hour, at.minute, at.second, lang_tag(lang), body ? strlen(body) : 0,
               body ? body : "");
    free(body);
    json_decref(root);
    buf_release(&detail);
}

/* What the library is about to refuse, as far as its words tell. */
enum fault {
    FAULT_OTHER,
    FAULT_VERSION, /* of the request line: there is no request yet */
    FAULT_TARGET,  /* likewise */
    FAULT_LINE,    /* the request line, or a header line */
    FAULT_HEAD,
    FAULT_LENGTH,
    FAULT_LENGTH_TOO_LARGE,
    FAULT_CHUNK,
    FAULT_CHUNK_TOO_LARGE
};

static enum fault fault_of(unsigned status, const char *message)
{
    bool is_chunk = strstr(message, "chunk") != NULL;

    if (status == 505)
        return FAULT_VERSION;
    if (status == 414)
        return FAULT_TARGET;
    if (status == 431)
        return FAULT_HEAD;
    if (status == 400 && strstr(message, "syntactically") && !is_chunk)
        return FAULT_LINE;
    if (status == 400 && strstr(message, "Content-Length"))
        return FAULT_LENGTH;
    /* A chunk's first line does not fit, and the library blames its reader. */
    if (status == 500 && strstr(message, "connection management"))
        return FAULT_CHUNK;
    if (status == 413)
        return is_chunk ? FAULT_CHUNK_TOO_LARGE : FAULT_LENGTH_TOO_LARGE;
    return status == 400 && is_chunk ? FAULT_CHUNK : FAULT_OTHER;
}

/* Whether the fault may be that of a connection as it is now. */
static bool may_be_of(enum fault fault, const struct link *link)
{
    if (!link->reading)
        return link->is_awaited &&
               (fault == FAULT_VERSION || fault == FAULT_TARGET || fault == FAULT_LINE);
    if (link->reading->phase == PHASE_NEW)
        return fault == FAULT_HEAD || fault == FAULT_LINE;
    /* Behind the last chunk there may be header lines too. */
    return fault == FAULT_HEAD || fault == FAULT_LINE || fault == FAULT_CHUNK ||
           fault == FAULT_CHUNK_TOO_LARGE;
}

/* The link that this thread must be at; NULL when it is not certain. */
static struct link *find_link(struct http *http, enum fault fault)
{
    struct link *found = NULL;
    int n = 0;

    for (struct link *l = http->links; l; l = l->next) {
        if (!pthread_equal(l->thread, pthread_self()))
            continue;
        /* Past its head and not begun: that is between two steps of one call of the library. */
        if (l->reading && l->reading->phase == PHASE_NEW &&
            MHD_get_connection_info(l->reading->conn, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE))
            return l;
        if (may_be_of(fault, l)) {
            found = l;
            n++;
        }
    }
    return n == 1 ? found : NULL;
}

static void tell(struct http *http, struct link *link, enum fault fault, int status)
{
    struct buf out = buf_make(4096);
    enum reason reason = status == 400 ? REASON_BAD_REQUEST : REASON_TOO_LARGE;
    struct err why = ERR_INIT;

    switch (fault) {
    case FAULT_VERSION:
        (void)err_detail(&why, REASON_BAD_REQUEST, "refusal.http_version",
                         "what is spoken here is HTTP/1.0 and HTTP/1.1");
        break;
    case FAULT_LINE:
        (void)err_detail(&why, reason, "refusal.head_line",
                         "the request line or a header line is not well-formed");
        break;
    case FAULT_TARGET:
        (void)ERR_DETAIL(&why, reason, "refusal.target_long",
                         "the request target has at most {most} bytes",
                         ERR_NUMBER("most", HTTP_TARGET_MAX));
        break;
    case FAULT_LENGTH:
        (void)err_detail(&why, reason, "refusal.length_number", "`Content-Length` is not a number");
        break;
    case FAULT_HEAD:
        (void)err_detail(&why, reason, "refusal.head_long", "the header lines are too long");
        break;
    case FAULT_CHUNK:
        (void)err_detail(&why, reason, "refusal.chunks_bad",
                         "the chunks of the body are not well-formed");
        break;
    default:
        (void)ERR_DETAIL(&why, reason, "refusal.body_most", "a body has at most {most} bytes",
                         ERR_NUMBER("most", http->options.body_size));
        break;
    }
    wire_print_problem(&out, &why, status, lang_of(http->options.language),
                       link->reading ? problem_target(link->reading) : NULL, http_now(http));
    if (!buf_failed(&out)) {
        (void)send(link->fd, out.data, out.len, MSG_DONTWAIT | MSG_NOSIGNAL);
        (void)shutdown(link->fd, SHUT_WR);
        metrics_answer(&http->metrics, -1, status,
                       link->reading ? http_now_ms(http) - link->reading->began_ms : 0);
    }
    buf_release(&out);
}

void wire_library_says(struct http *http, const char *fmt, va_list args)
{
    static const char refusing[] = "Error processing request (HTTP response code is %u ('%s'))";
    struct link *link;
    enum fault fault;
    unsigned status;

    if (strncmp(fmt, refusing, strlen(refusing)) != 0)
        return;
    status = va_arg(args, unsigned);
    fault = fault_of(status, va_arg(args, const char *));
    if (fault == FAULT_OTHER)
        return;
    pthread_mutex_lock(&http->lock);
    link = find_link(http, fault);
    if (link) {
        tell(http, link, fault, fault == FAULT_CHUNK ? 400 : (int)status);
        link->is_awaited = false;
        link->reading = NULL;
    }
    pthread_mutex_unlock(&http->lock);
}
