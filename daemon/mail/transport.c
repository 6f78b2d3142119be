/* mail/transport.c - see transport.h. */
#include "mail/transport.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/str.h"
#include "mail/message.h"

#define UPLOAD_BUFFER 65536L
enum { LINE_KEPT = 512, NAME_KEPT = 200, PATH_MAX_OURS = 4096 };

struct mail_sending {
    CURL *easy;
    struct curl_slist *recipients; /* curl does not copy it */
    const char *bytes;             /* the caller's */
    size_t size, sent;
    char complaint[CURL_ERROR_SIZE];
    char last_line[LINE_KEPT]; /* the server's last line that is no success */
};

/* ---------------------------------------------------------------- curl's callbacks */

static size_t on_read(char *buffer, size_t one, size_t count, void *arg)
{
    struct mail_sending *s = arg;
    size_t room = one * count, left = s->size - s->sent;
    size_t n = left < room ? left : room;

    memcpy(buffer, s->bytes + s->sent, n);
    s->sent += n;
    return n;
}

static int on_seek(void *arg, curl_off_t offset, int origin)
{
    struct mail_sending *s = arg;

    if (origin != SEEK_SET || offset < 0 || (size_t)offset > s->size)
        return CURL_SEEKFUNC_CANTSEEK;
    s->sent = (size_t)offset;
    return CURL_SEEKFUNC_OK;
}

static size_t on_line(char *line, size_t one, size_t count, void *arg)
{
    struct mail_sending *s = arg;
    size_t n = one * count;

    if (n >= 3 && (line[0] == '4' || line[0] == '5')) {
        size_t keep = n < sizeof s->last_line - 1 ? n : sizeof s->last_line - 1;

        memcpy(s->last_line, line, keep);
        s->last_line[keep] = '\0';
    }
    return n;
}

static size_t on_body(char *bytes, size_t one, size_t count, void *arg)
{
    (void)bytes;
    (void)arg;
    return one * count;
}

/* ---------------------------------------------------------------- one letter by SMTP */

static bool has_bare_line_ends(const void *bytes, size_t size)
{
    const char *at = bytes, *end = at + size;

    while (at < end) {
        const char *cr = memchr(at, '\r', (size_t)(end - at));

        if (memchr(at, '\n', (size_t)((cr ? cr : end) - at)) != NULL)
            return true;
        if (cr == NULL)
            break;
        if (cr + 1 == end || cr[1] != '\n')
            return true;
        at = cr + 2;
    }
    return false;
}

/* A host name, an IPv4 or a bare IPv6 address. */
static bool host_is_ok(const char *host)
{
    size_t n = host ? strlen(host) : 0;

    return n > 0 && n <= 253 &&
           strspn(host, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:") == n;
}

static bool helo_is_ok(const char *helo)
{
    size_t n = helo ? strlen(helo) : 0;

    return n > 0 && n <= 253 &&
           strspn(helo, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-") == n;
}

static enum status check_server(const struct mail_smtp *smtp, struct err *err)
{
    if (!host_is_ok(smtp->host) || smtp->port < 1 || smtp->port > 65535)
        return err_set(err, ST_INVALID, "smtp: the server must be a host name and a port");
    if (!helo_is_ok(smtp->helo))
        return err_set(err, ST_INVALID, "smtp: our own name must be a domain name");
    return ST_OK;
}

static enum status check_letter(const struct mail_envelope *envelope, const void *bytes,
                                size_t size, struct err *err)
{
    if (envelope->from[0] != '\0' && !mail_address_is_ok(envelope->from))
        return err_set(err, ST_INVALID, "smtp: the sender is not a plain address");
    if (!mail_address_is_ok(envelope->to))
        return err_set(err, ST_INVALID, "smtp: the recipient is not one plain address");
    if (size == 0 || has_bare_line_ends(bytes, size))
        return err_set(err, ST_INVALID, "smtp: the message must have CRLF line ends only");
    return ST_OK;
}

/* Each option is set or the letter is not sent. */
#define SET(option, value)                                                                         \
    do {                                                                                           \
        if (curl_easy_setopt(s->easy, option, value) != CURLE_OK)                                  \
            return false;                                                                          \
    } while (0)

static bool set_letter(struct mail_sending *s, const char *from)
{
    SET(CURLOPT_MAIL_FROM, from);
    SET(CURLOPT_MAIL_RCPT, s->recipients);
    SET(CURLOPT_INFILESIZE_LARGE, (curl_off_t)s->size);
    return true;
}

static bool set_options(struct mail_sending *s, const struct mail_smtp *smtp, const char *url)
{
    SET(CURLOPT_ERRORBUFFER, s->complaint);
    SET(CURLOPT_PRIVATE, s);
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_QUICK_EXIT, 1L); /* who gives up does not wait for a name's look-up to end */
    SET(CURLOPT_PROXY, "");
    SET(CURLOPT_PROTOCOLS_STR, "smtp,smtps");
    SET(CURLOPT_URL, url);
    SET(CURLOPT_USE_SSL, (long)(smtp->tls == MAIL_TLS_NONE ? CURLUSESSL_NONE : CURLUSESSL_ALL));
    SET(CURLOPT_SSL_VERIFYPEER, 1L);
    SET(CURLOPT_SSL_VERIFYHOST, 2L);
    SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    if (smtp->ca_file != NULL)
        SET(CURLOPT_CAINFO, smtp->ca_file);
    if (smtp->user != NULL) {
        SET(CURLOPT_USERNAME, smtp->user);
        SET(CURLOPT_PASSWORD, smtp->password ? smtp->password : "");
    }
    SET(CURLOPT_UPLOAD, 1L);
    SET(CURLOPT_UPLOAD_BUFFERSIZE, UPLOAD_BUFFER); /* made anew for each letter, and twice that */
    SET(CURLOPT_READFUNCTION, on_read);
    SET(CURLOPT_READDATA, s);
    SET(CURLOPT_SEEKFUNCTION, on_seek);
    SET(CURLOPT_SEEKDATA, s);
    SET(CURLOPT_HEADERFUNCTION, on_line);
    SET(CURLOPT_HEADERDATA, s);
    SET(CURLOPT_WRITEFUNCTION, on_body);
    SET(CURLOPT_CONNECTTIMEOUT_MS, smtp->connect_timeout_ms ? smtp->connect_timeout_ms : 15000L);
    SET(CURLOPT_SERVER_RESPONSE_TIMEOUT,
        smtp->response_timeout_ms ? (smtp->response_timeout_ms + 999L) / 1000L : 60L);
    SET(CURLOPT_TIMEOUT_MS, smtp->total_timeout_ms ? smtp->total_timeout_ms : 180000L);
    return true;
}

enum status mail_sending_next(struct mail_sending *s, const struct mail_envelope *envelope,
                              const void *bytes, size_t size, struct err *err)
{
    char from[MAIL_ADDRESS_MAX + 3], to[MAIL_ADDRESS_MAX + 3];
    struct curl_slist *recipients, *before = s->recipients;
    enum status st = check_letter(envelope, bytes, size, err);

    if (st != ST_OK)
        return st;
    (void)snprintf(from, sizeof from, "<%s>", envelope->from);
    (void)snprintf(to, sizeof to, "<%s>", envelope->to);
    recipients = curl_slist_append(NULL, to);
    if (recipients == NULL)
        return err_set(err, ST_NOMEM, "smtp: a letter");
    s->recipients = recipients;
    s->bytes = bytes;
    s->size = size;
    s->sent = 0;
    s->complaint[0] = s->last_line[0] = '\0';
    if (!set_letter(s, from))
        st = err_set(err, ST_NOMEM, "smtp: a letter");
    curl_slist_free_all(before);
    return st;
}

enum status mail_sending_new(const struct mail_smtp *smtp, const struct mail_envelope *envelope,
                             const void *bytes, size_t size, struct mail_sending **ret_sending,
                             struct err *err)
{
    struct mail_sending *s = NULL;
    char url[640];
    bool is_v6 = smtp->host != NULL && strchr(smtp->host, ':') != NULL;
    enum status st = check_server(smtp, err);

    if (st != ST_OK)
        goto out;
    (void)snprintf(url, sizeof url, "%s://%s%s%s:%d/%s",
                   smtp->tls == MAIL_TLS_IMPLICIT ? "smtps" : "smtp", is_v6 ? "[" : "",
                   smtp->host, is_v6 ? "]" : "", smtp->port, smtp->helo);
    s = calloc(1, sizeof *s);
    if (s == NULL) {
        st = err_set(err, ST_NOMEM, "smtp: a letter");
        goto out;
    }
    s->easy = curl_easy_init();
    if (s->easy == NULL || !set_options(s, smtp, url)) {
        st = err_set(err, ST_NOMEM, "smtp: a letter");
        goto out;
    }
    st = mail_sending_next(s, envelope, bytes, size, err);
    if (st != ST_OK)
        goto out;
    *ret_sending = s;
    s = NULL;
out:
    mail_sending_free(s);
    return st;
}

CURL *mail_sending_handle(struct mail_sending *sending)
{
    return sending->easy;
}

void mail_sending_free(struct mail_sending *s)
{
    if (s == NULL)
        return;
    curl_easy_cleanup(s->easy);
    curl_slist_free_all(s->recipients);
    free(s);
}

/* ---------------------------------------------------------------- judgement */

const char *mail_outcome_str(enum mail_outcome outcome)
{
    static const char *const word[MAIL_OUTCOMES] = {"sent", "later", "refused"};

    assert(outcome < MAIL_OUTCOMES);
    return word[outcome];
}

/* "550 5.1.1 no such user" → "5.1.1"; class, subject and detail of one to three digits each. */
static void enhanced_of(const char *line, char ret[12])
{
    const char *p = line;
    size_t n = 0;
    int dots = 0, digits = 0;

    ret[0] = '\0';
    if (strlen(line) < 9 || (line[3] != ' ' && line[3] != '-'))
        return;
    p += 4;
    if ((*p != '2' && *p != '4' && *p != '5') || p[1] != '.')
        return;
    for (; p[n] != '\0' && p[n] != ' ' && p[n] != '\r' && p[n] != '\n'; n++) {
        if (n >= 11)
            return;
        if (p[n] == '.') {
            if (digits == 0 || ++dots > 2)
                return;
            digits = 0;
        } else if (p[n] >= '0' && p[n] <= '9') {
            if (++digits > 3)
                return;
        } else {
            return;
        }
    }
    if (dots != 2 || digits == 0)
        return;
    memcpy(ret, p, n);
    ret[n] = '\0';
}

enum mail_blame mail_blame_of(const char *enhanced)
{
    static const char *const address[] = {"5.1.1", "5.1.2", "5.1.3", "5.1.6", "5.1.10", "5.2.1"};

    if (enhanced[0] == '\0')
        return MAIL_BLAME_MAYBE;
    for (size_t i = 0; i < COUNT_OF(address); i++)
        if (str_eq(enhanced, address[i]))
            return MAIL_BLAME_ADDRESS;
    return str_starts(enhanced, "5.7.") ? MAIL_BLAME_POLICY : MAIL_BLAME_NONE;
}

void mail_reply_judge(CURLcode result, long code, bool is_uploaded, const char *last_line,
                      const char *complaint, struct mail_result *ret_result)
{
    struct mail_result r = {.outcome = MAIL_LATER, .code = (int)code};
    bool line_is_of_code = strlen(last_line) >= 3 && code >= 100 && code <= 999 &&
                           last_line[0] == (char)('0' + code / 100) &&
                           last_line[1] == (char)('0' + code / 10 % 10) &&
                           last_line[2] == (char)('0' + code % 10);
    /* A refusal of the session is the server's or our set-up's fault, not the message's. */
    bool is_about_session =
        result == CURLE_LOGIN_DENIED || result == CURLE_REMOTE_ACCESS_DENIED ||
        result == CURLE_USE_SSL_FAILED || (result == CURLE_WEIRD_SERVER_REPLY && !is_uploaded);

    if (line_is_of_code) {
        enhanced_of(last_line, r.enhanced);
        (void)str_copy(r.text, sizeof r.text, last_line);
    } else {
        (void)str_copy(r.text, sizeof r.text, complaint);
    }
    for (char *p = r.text; *p != '\0'; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            *p = p[1] == '\0' || p[1] == '\n' || p[1] == '\r' ? '\0' : '?';

    if (result == CURLE_OK && code >= 200 && code < 300) {
        r.outcome = MAIL_SENT;
        r.text[0] = '\0';
    } else if (code >= 500 && code < 600 && !is_about_session) {
        /* A 5yz reply with a 4.y.z enhanced code contradicts itself: count it as temporary. */
        r.outcome = r.enhanced[0] == '4' ? MAIL_LATER : MAIL_REFUSED;
        if (r.outcome == MAIL_REFUSED)
            r.blame = mail_blame_of(r.enhanced);
    }
    if (r.outcome == MAIL_LATER && is_about_session && code >= 500)
        r.blame = MAIL_BLAME_POLICY;
    *ret_result = r;
}

void mail_sending_judge(const struct mail_sending *s, CURLcode result,
                        struct mail_result *ret_result)
{
    long code = 0;
    const char *complaint = s->complaint[0] != '\0' ? s->complaint : curl_easy_strerror(result);

    (void)curl_easy_getinfo(s->easy, CURLINFO_RESPONSE_CODE, &code);
    mail_reply_judge(result, code, s->sent == s->size, s->last_line, complaint, ret_result);
}

/* ---------------------------------------------------------------- directory */

static bool name_is_ok(const char *name)
{
    size_t n = name ? strlen(name) : 0;

    return n > 0 && n <= NAME_KEPT && name[0] != '.' &&
           strspn(name, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ._-") == n;
}

static int write_all(int fd, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t done = write(fd, bytes, n);

        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return -1;
        bytes += done;
        n -= (size_t)done;
    }
    return 0;
}

enum status mail_directory_drop(const char *directory, const char *name, const void *bytes,
                                size_t size, struct err *err)
{
    char fresh[NAME_KEPT + 16], final[NAME_KEPT + 16];
    enum status st = ST_OK;
    int dir = -1, fd = -1;
    bool is_there = false;

    if (!name_is_ok(name)) {
        st = err_set(err, ST_INVALID, "letter file: not a name for a file");
        goto out;
    }
    (void)snprintf(fresh, sizeof fresh, ".%s.part", name);
    (void)snprintf(final, sizeof final, "%s.eml", name);
    dir = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0) {
        st = err_set(err, ST_IO, "mail directory: %s", strerror(errno));
        goto out;
    }
    fd = openat(dir, fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        st = err_set(err, ST_IO, "letter file: %s", strerror(errno));
        goto out;
    }
    is_there = true;
    if (write_all(fd, bytes, size) != 0 || fsync(fd) != 0) {
        st = err_set(err, ST_IO, "letter file: %s", strerror(errno));
        goto out;
    }
    if (renameat(dir, fresh, dir, final) != 0) {
        st = err_set(err, ST_IO, "letter file: %s", strerror(errno));
        goto out;
    }
    is_there = false;
    if (fsync(dir) != 0)
        st = err_set(err, ST_IO, "mail directory: %s", strerror(errno));
out:
    if (is_there)
        (void)unlinkat(dir, fresh, 0);
    if (fd >= 0)
        (void)close(fd);
    if (dir >= 0)
        (void)close(dir);
    return st;
}
