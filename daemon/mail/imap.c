/* mail/imap.c - libetpan over a connection of libcurl's; see imap.h. */
#include "mail/imap.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <curl/curl.h>
#include <libetpan/libetpan.h>

#include "base/str.h"

enum {
    SEARCH_BYTES = 32 * 1024 * 1024, /* of an answer that is a list of numbers */
    ANSWER_BYTES = 1024 * 1024,      /* of any other, a letter's own bytes apart */
    IN_SIZE = 4096                   /* read ahead while waiting */
};

/*
 * What libetpan is told in place of a greeting: curl has heard that and has logged in.
 */
static const char preauth[] = "* PREAUTH ready\r\n";

/* The connection, as libetpan reads and writes it. */
struct wire {
    CURL *curl; /* borrowed */
    int fd, stop_fd;
    size_t preauth_at;    /* so much of preauth was read */
    size_t budget;        /* bytes that may still come for this command */
    char in[IN_SIZE];     /* read ahead */
    size_t in_at, in_len;
    bool is_stopped, is_late, is_over_budget, is_closed;
};

struct imap {
    CURLM *multi;
    CURL *curl;
    char curl_text[CURL_ERROR_SIZE];
    mailimap *session;
    struct wire wire;
    struct imap_state state;
    size_t letter_size;
    bool has_uidplus, is_broken;
};

/* ---------------------------------------------------------------- the wire */

/* Wait until the socket is ready.  False when told to stop or after wait_ms. */
static bool wire_wait(struct wire *w, short events, int wait_ms)
{
    struct pollfd waits[2] = {{.fd = w->fd, .events = events},
                              {.fd = w->stop_fd, .events = POLLIN}};
    int rc;

    do
        rc = poll(waits, 2, wait_ms);
    while (rc < 0 && errno == EINTR);
    if (rc > 0 && waits[1].revents) {
        w->is_stopped = true;
        return false;
    }
    if (rc == 0)
        w->is_late = true;
    return rc > 0;
}

/* What has come: > 0 bytes; 0: nothing yet; -1: the connection is at its end. */
static ssize_t wire_take(struct wire *w, void *bytes, size_t n)
{
    size_t got = 0;
    CURLcode rc = curl_easy_recv(w->curl, bytes, n, &got);

    if (rc == CURLE_AGAIN)
        return 0;
    if (rc != CURLE_OK || got == 0) {
        w->is_closed = true;
        return -1;
    }
    return (ssize_t)got;
}

static ssize_t wire_read(mailstream_low *low, void *bytes, size_t n)
{
    struct wire *w = low->data;
    size_t left = sizeof preauth - 1 - w->preauth_at;

    if (left > 0) {
        if (n > left)
            n = left;
        memcpy(bytes, preauth + w->preauth_at, n);
        w->preauth_at += n;
        return (ssize_t)n;
    }
    if (w->budget == 0) {
        w->is_over_budget = true;
        return -1;
    }
    if (n > w->budget)
        n = w->budget;
    if (w->in_at < w->in_len) {
        if (n > w->in_len - w->in_at)
            n = w->in_len - w->in_at;
        memcpy(bytes, w->in + w->in_at, n);
        w->in_at += n;
        w->budget -= n;
        return (ssize_t)n;
    }
    for (;;) { /* TLS may hold bytes that poll() does not know of: read first, then wait */
        ssize_t got = wire_take(w, bytes, n);
        if (got > 0)
            w->budget -= (size_t)got;
        if (got != 0)
            return got;
        if (!wire_wait(w, POLLIN, IMAP_REPLY_MS))
            return -1;
    }
}

static ssize_t wire_write(mailstream_low *low, const void *bytes, size_t n)
{
    struct wire *w = low->data;

    for (;;) {
        size_t sent = 0;
        CURLcode rc = curl_easy_send(w->curl, bytes, n, &sent);
        if (rc == CURLE_OK)
            return (ssize_t)sent;
        if (rc != CURLE_AGAIN) {
            w->is_closed = true;
            return -1;
        }
        if (!wire_wait(w, POLLOUT, IMAP_REPLY_MS))
            return -1;
    }
}

static int wire_close(mailstream_low *low)
{
    (void)low; /* curl closes it */
    return 0;
}

static int wire_fd(mailstream_low *low)
{
    const struct wire *w = low->data;

    return w->fd;
}

static void wire_free(mailstream_low *low)
{
    free(low); /* mailstream_low_new() has allocated it; the wire is part of struct imap */
}

static void wire_cancel(mailstream_low *low)
{
    (void)low;
}

static struct mailstream_cancel *wire_cancel_get(mailstream_low *low)
{
    (void)low;
    return NULL;
}

static carray *wire_chain_get(mailstream_low *low)
{
    (void)low;
    return NULL;
}

static int wire_no_idle(mailstream_low *low)
{
    (void)low;
    return -1; /* "not implemented": imap_wait() waits by itself */
}

static mailstream_low_driver wire_driver = {
    .mailstream_read = wire_read,
    .mailstream_write = wire_write,
    .mailstream_close = wire_close,
    .mailstream_get_fd = wire_fd,
    .mailstream_free = wire_free,
    .mailstream_cancel = wire_cancel,
    .mailstream_get_cancel = wire_cancel_get,
    .mailstream_get_certificate_chain = wire_chain_get,
    .mailstream_setup_idle = wire_no_idle,
    .mailstream_unsetup_idle = wire_no_idle,
    .mailstream_interrupt_idle = wire_no_idle,
};

/* ---------------------------------------------------------------- failures */

/* What the server or curl said, without controls. */
static void text_clean(char *ret, size_t size, const char *text)
{
    (void)str_copy(ret, size, text ? text : "");
    for (; *ret; ret++)
        if ((unsigned char)*ret < ' ' || *ret == 0x7f)
            *ret = '?';
}

/* A command of libetpan's failed: what it was, by the wire and by its code. */
static enum status command_failed(struct imap *imap, const char *what, int code, struct err *err)
{
    const struct wire *w = &imap->wire;
    char said[120];

    imap->is_broken = true;
    if (w->is_stopped)
        return err_set(err, ST_BUSY, "imap: told to stop");
    if (w->is_late)
        return err_set(err, ST_IO, "imap: %s: the server is silent", what);
    if (w->is_over_budget)
        return err_set(err, ST_INVALID, "imap: %s: the answer has no end", what);
    if (w->is_closed || code == MAILIMAP_ERROR_STREAM)
        return err_set(err, ST_IO, "imap: %s: the connection is lost", what);
    if (code == MAILIMAP_ERROR_MEMORY)
        return err_reason(err, REASON_NO_MEMORY, "imap: out of memory");
    text_clean(said, sizeof said, imap->session->imap_response);
    if (code == MAILIMAP_ERROR_PARSE || code == MAILIMAP_ERROR_PROTOCOL)
        return err_set(err, ST_INVALID, "imap: %s: the answer cannot be read", what);
    return err_set(err, ST_IO, "imap: %s: the server refuses: %s", what, said);
}

static bool is_fine(int code)
{
    return code == MAILIMAP_NO_ERROR || code == MAILIMAP_NO_ERROR_AUTHENTICATED;
}

/* ---------------------------------------------------------------- connecting */

static enum status connect_failed(struct imap *imap, CURLcode rc, struct err *err)
{
    enum status st;
    char text[160];

    switch (rc) {
    case CURLE_LOGIN_DENIED:
        st = ST_UNAUTHENTICATED;
        break;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_USE_SSL_FAILED:
        st = ST_FORBIDDEN;
        break;
    case CURLE_OUT_OF_MEMORY:
        st = ST_NOMEM;
        break;
    default:
        st = ST_IO;
    }
    text_clean(text, sizeof text, imap->curl_text[0] ? imap->curl_text : curl_easy_strerror(rc));
    return err_set(err, st, "imap: %s", text);
}

static bool curl_options_set(struct imap *imap, const struct imap_options *o, const char *url)
{
    CURL *c = imap->curl;
    bool is_encrypted = o->tls != MAIL_TLS_NONE;
    CURLcode rc = CURLE_OK;

    rc |= curl_easy_setopt(c, CURLOPT_URL, url);
    rc |= curl_easy_setopt(c, CURLOPT_CONNECT_ONLY, 1L);
    rc |= curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "imap,imaps");
    rc |= curl_easy_setopt(c, CURLOPT_USERNAME, o->user);
    rc |= curl_easy_setopt(c, CURLOPT_PASSWORD, o->password);
    rc |= curl_easy_setopt(c, CURLOPT_USE_SSL, is_encrypted ? (long)CURLUSESSL_ALL
                                                            : (long)CURLUSESSL_NONE);
    rc |= curl_easy_setopt(c, CURLOPT_SSL_VERIFYPEER, 1L);
    rc |= curl_easy_setopt(c, CURLOPT_SSL_VERIFYHOST, 2L);
    rc |= curl_easy_setopt(c, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    if (o->ca_file) {
        rc |= curl_easy_setopt(c, CURLOPT_CAINFO, o->ca_file);
        rc |= curl_easy_setopt(c, CURLOPT_CAPATH, NULL);
    }
    rc |= curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, (long)IMAP_CONNECT_MS);
    rc |= curl_easy_setopt(c, CURLOPT_SERVER_RESPONSE_TIMEOUT, (long)(IMAP_REPLY_MS / 1000));
    rc |= curl_easy_setopt(c, CURLOPT_TCP_KEEPALIVE, 1L);
    rc |= curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    rc |= curl_easy_setopt(c, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    rc |= curl_easy_setopt(c, CURLOPT_PROXY, "");
    rc |= curl_easy_setopt(c, CURLOPT_QUICK_EXIT, 1L); /* do not wait for a slow name server */
    rc |= curl_easy_setopt(c, CURLOPT_ERRORBUFFER, imap->curl_text);
    return rc == CURLE_OK;
}

/* Run curl until it has connected and logged in. */
static enum status curl_run(struct imap *imap, struct err *err)
{
    int running = 1, left;
    const CURLMsg *message;

    while (running) {
        struct curl_waitfd stop = {.fd = imap->wire.stop_fd, .events = CURL_WAIT_POLLIN};
        unsigned n_stop = imap->wire.stop_fd >= 0;
        if (curl_multi_perform(imap->multi, &running) != CURLM_OK)
            return err_set(err, ST_IO, "imap: the connection cannot be run");
        if (!running)
            break;
        if (curl_multi_poll(imap->multi, &stop, n_stop, IMAP_CONNECT_MS, NULL) != CURLM_OK)
            return err_set(err, ST_IO, "imap: the connection cannot be waited for");
        if (n_stop && stop.revents)
            return err_set(err, ST_BUSY, "imap: told to stop");
    }
    message = curl_multi_info_read(imap->multi, &left);
    if (!message || message->msg != CURLMSG_DONE)
        return err_set(err, ST_IO, "imap: the connection has no end");
    return message->data.result == CURLE_OK ? ST_OK
                                            : connect_failed(imap, message->data.result, err);
}

static enum status curl_connect(struct imap *imap, const struct imap_options *o, struct err *err)
{
    char url[300];
    const char *bracket = strchr(o->host, ':') ? "[" : "";
    curl_socket_t fd = CURL_SOCKET_BAD;
    enum status st;
    int n = snprintf(url, sizeof url, "%s://%s%s%s:%d/", o->tls == MAIL_TLS_IMPLICIT ? "imaps"
                                                                                     : "imap",
                     bracket, o->host, *bracket ? "]" : "", o->port);

    if (n < 0 || (size_t)n >= sizeof url || strpbrk(o->host, "/?#@%\\ \r\n"))
        return err_set(err, ST_INVALID, "imap: the host's name cannot be used");
    imap->multi = curl_multi_init();
    imap->curl = curl_easy_init();
    if (!imap->multi || !imap->curl || !curl_options_set(imap, o, url) ||
        curl_multi_add_handle(imap->multi, imap->curl) != CURLM_OK)
        return err_reason(err, REASON_NO_MEMORY, "imap: out of memory");
    st = curl_run(imap, err);
    if (st == ST_OK && (curl_easy_getinfo(imap->curl, CURLINFO_ACTIVESOCKET, &fd) != CURLE_OK ||
                        fd == CURL_SOCKET_BAD))
        st = err_set(err, ST_IO, "imap: the connection is lost");
    imap->wire.fd = (int)fd;
    return st;
}

static enum status session_begin(struct imap *imap, const char *mailbox, struct err *err)
{
    struct mailimap_capability_data *capabilities = NULL;
    mailstream_low *low = mailstream_low_new(&imap->wire, &wire_driver);
    mailstream *stream = low ? mailstream_new(low, 8192) : NULL;
    int rc;

    if (!stream) {
        if (low)
            mailstream_low_free(low);
        return err_reason(err, REASON_NO_MEMORY, "imap: out of memory");
    }
    rc = mailimap_connect(imap->session, stream);
    if (!is_fine(rc)) {
        if (!imap->session->imap_stream)
            (void)mailstream_close(stream);
        return command_failed(imap, "greeting", rc, err);
    }
    rc = mailimap_capability(imap->session, &capabilities);
    if (!is_fine(rc))
        return command_failed(imap, "capability", rc, err);
    mailimap_capability_data_free(capabilities);
    imap->state.has_idle = mailimap_has_idle(imap->session) != 0;
    imap->has_uidplus = mailimap_has_uidplus(imap->session) != 0;
    rc = mailimap_select(imap->session, mailbox);
    if (!is_fine(rc) || !imap->session->imap_selection_info)
        return command_failed(imap, "select", rc, err);
    imap->state.uidvalidity = imap->session->imap_selection_info->sel_uidvalidity;
    imap->state.uid_next = imap->session->imap_selection_info->sel_uidnext;
    return ST_OK;
}

enum status imap_open(const struct imap_options *options, struct imap **ret_imap, struct err *err)
{
    struct imap *imap = calloc(1, sizeof *imap);
    enum status st;

    assert(options->letter_size > 0 && options->letter_size < UINT32_MAX);
    if (!imap)
        return err_reason(err, REASON_NO_MEMORY, "imap: out of memory");
    imap->letter_size = options->letter_size;
    imap->wire.stop_fd = options->stop_fd;
    imap->wire.fd = -1;
    imap->session = mailimap_new(0, NULL);
    st = imap->session ? curl_connect(imap, options, err)
                       : err_reason(err, REASON_NO_MEMORY, "imap: out of memory");
    imap->wire.curl = imap->curl;
    imap->wire.budget = ANSWER_BYTES;
    if (st == ST_OK)
        st = session_begin(imap, options->mailbox, err);
    else
        imap->is_broken = true;
    if (st == ST_OK)
        *ret_imap = imap;
    else
        imap_close(imap);
    return st;
}

void imap_close(struct imap *imap)
{
    if (!imap)
        return;
    if (imap->session) {
        /* A stream that is broken is taken away, so that nothing more is said on it. */
        if (imap->is_broken && imap->session->imap_stream) {
            (void)mailstream_close(imap->session->imap_stream);
            imap->session->imap_stream = NULL;
        } else if (imap->session->imap_stream) {
            imap->wire.budget = ANSWER_BYTES;
            (void)mailimap_logout(imap->session);
        }
        mailimap_free(imap->session);
    }
    if (imap->curl) {
        if (imap->multi)
            (void)curl_multi_remove_handle(imap->multi, imap->curl);
        curl_easy_cleanup(imap->curl);
    }
    if (imap->multi)
        (void)curl_multi_cleanup(imap->multi);
    free(imap);
}

const struct imap_state *imap_state(const struct imap *imap)
{
    return &imap->state;
}

/* ---------------------------------------------------------------- looking */

static int uid_compare(const void *a, const void *b)
{
    const struct imap_item *x = a, *y = b;

    return x->uid < y->uid ? -1 : x->uid > y->uid;
}

/* Keep the lowest max UIDs above after_uid of a search's answer, ascending. */
static size_t uids_pick(clist *found, uint32_t after_uid, size_t max, struct imap_item *items)
{
    size_t n = 0;

    for (clistiter *i = clist_begin(found); i; i = clist_next(i)) {
        uint32_t uid = *(const uint32_t *)clist_content(i);
        if (uid <= after_uid) /* "n:*" names the last one, however low it is */
            continue;
        if (n < max) {
            items[n++] = (struct imap_item){.uid = uid};
        } else {
            size_t highest = 0;
            for (size_t k = 1; k < n; k++)
                if (items[k].uid > items[highest].uid)
                    highest = k;
            if (uid < items[highest].uid)
                items[highest].uid = uid;
        }
    }
    qsort(items, n, sizeof *items, uid_compare);
    return n;
}

/* Take UID and RFC822.SIZE of one message of a FETCH's answer. */
static void size_take(struct mailimap_msg_att *message, struct imap_item *items, size_t n)
{
    uint32_t uid = 0, size = 0;

    for (clistiter *i = clist_begin(message->att_list); i; i = clist_next(i)) {
        const struct mailimap_msg_att_item *item = clist_content(i);
        if (item->att_type != MAILIMAP_MSG_ATT_ITEM_STATIC)
            continue;
        if (item->att_data.att_static->att_type == MAILIMAP_MSG_ATT_UID)
            uid = item->att_data.att_static->att_data.att_uid;
        else if (item->att_data.att_static->att_type == MAILIMAP_MSG_ATT_RFC822_SIZE)
            size = item->att_data.att_static->att_data.att_rfc822_size;
    }
    for (size_t k = 0; k < n; k++)
        if (items[k].uid == uid)
            items[k].size = size;
}

static enum status sizes_fetch(struct imap *imap, struct imap_item *items, size_t n,
                               struct err *err)
{
    struct mailimap_set *set = mailimap_set_new_empty();
    struct mailimap_fetch_type *type = mailimap_fetch_type_new_fetch_att_list_empty();
    struct mailimap_fetch_att *atts[] = {mailimap_fetch_att_new_uid(),
                                         mailimap_fetch_att_new_rfc822_size()};
    clist *found = NULL;
    enum status st = ST_OK;
    bool is_built = set && type && atts[0] && atts[1];

    for (size_t k = 0; k < n && is_built; k++)
        is_built = is_fine(mailimap_set_add_single(set, items[k].uid));
    for (size_t k = 0; k < COUNT_OF(atts); k++) {
        if (is_built &&
            is_fine(mailimap_fetch_type_new_fetch_att_list_add(type, atts[k])))
            continue;
        is_built = false;
        if (atts[k])
            mailimap_fetch_att_free(atts[k]);
    }
    if (is_built) {
        int rc = mailimap_uid_fetch(imap->session, set, type, &found);
        if (!is_fine(rc))
            st = command_failed(imap, "fetch", rc, err);
    } else {
        imap->is_broken = true;
        st = err_reason(err, REASON_NO_MEMORY, "imap: out of memory");
    }
    if (st == ST_OK && found)
        for (clistiter *i = clist_begin(found); i; i = clist_next(i))
            size_take(clist_content(i), items, n);
    if (found)
        mailimap_fetch_list_free(found);
    if (type)
        mailimap_fetch_type_free(type);
    if (set)
        mailimap_set_free(set);
    return st;
}

enum status imap_list(struct imap *imap, uint32_t after_uid, size_t max,
                      struct imap_item *ret_items, size_t *ret_n, struct err *err)
{
    struct mailimap_set *set =
        after_uid < UINT32_MAX ? mailimap_set_new_interval(after_uid + 1, 0) : NULL;
    struct mailimap_search_key *key = set ? mailimap_search_key_new_uid(set) : NULL;
    clist *found = NULL;
    size_t n;
    int rc;

    if (after_uid == UINT32_MAX) {
        *ret_n = 0;
        return ST_OK;
    }
    if (!key) {
        if (set)
            mailimap_set_free(set);
        imap->is_broken = true;
        return err_reason(err, REASON_NO_MEMORY, "imap: out of memory");
    }
    imap->wire.budget = SEARCH_BYTES;
    rc = mailimap_uid_search(imap->session, NULL, key, &found);
    mailimap_search_key_free(key);
    if (!is_fine(rc))
        return command_failed(imap, "search", rc, err);
    n = found ? uids_pick(found, after_uid, max, ret_items) : 0;
    if (found)
        mailimap_search_result_free(found);
    imap->wire.budget = ANSWER_BYTES + n * 200;
    if (n > 0) {
        enum status st = sizes_fetch(imap, ret_items, n, err);
        if (st != ST_OK)
            return st;
    }
    *ret_n = n;
    return ST_OK;
}

/* The body in the answer about this UID; NULL when there is none. */
static const struct mailimap_msg_att_body_section *body_find(clist *found, uint32_t uid)
{
    for (clistiter *i = clist_begin(found); i; i = clist_next(i)) {
        const struct mailimap_msg_att *message = clist_content(i);
        const struct mailimap_msg_att_body_section *body = NULL;
        bool is_it = false;
        for (clistiter *k = clist_begin(message->att_list); k; k = clist_next(k)) {
            const struct mailimap_msg_att_item *item = clist_content(k);
            const struct mailimap_msg_att_static *att = item->att_data.att_static;
            if (item->att_type != MAILIMAP_MSG_ATT_ITEM_STATIC)
                continue;
            if (att->att_type == MAILIMAP_MSG_ATT_UID)
                is_it = att->att_data.att_uid == uid;
            else if (att->att_type == MAILIMAP_MSG_ATT_BODY_SECTION)
                body = att->att_data.att_body_section;
        }
        if (is_it && body && body->sec_body_part)
            return body;
    }
    return NULL;
}

enum status imap_fetch(struct imap *imap, uint32_t uid, struct buf *out, struct err *err)
{
    struct mailimap_set *set = mailimap_set_new_single(uid);
    struct mailimap_section *section = mailimap_section_new(NULL);
    /* One byte more than is taken tells that it is too large, without the rest. */
    struct mailimap_fetch_att *att =
        section ? mailimap_fetch_att_new_body_peek_section_partial(
                      section, 0, (uint32_t)imap->letter_size + 1)
                : NULL;
    struct mailimap_fetch_type *type = att ? mailimap_fetch_type_new_fetch_att(att) : NULL;
    const struct mailimap_msg_att_body_section *body;
    clist *found = NULL;
    enum status st = ST_OK;

    if (set && type) {
        int rc;
        imap->wire.budget = ANSWER_BYTES + imap->letter_size;
        rc = mailimap_uid_fetch(imap->session, set, type, &found);
        if (!is_fine(rc))
            st = command_failed(imap, "fetch", rc, err);
    } else {
        imap->is_broken = true;
        st = err_reason(err, REASON_NO_MEMORY, "imap: out of memory");
    }
    body = st == ST_OK && found ? body_find(found, uid) : NULL;
    if (st == ST_OK && !body)
        st = err_set(err, ST_NOT_FOUND, "imap: the letter is gone");
    else if (st == ST_OK && body->sec_length > imap->letter_size)
        st = err_set(err, ST_TOO_LARGE, "imap: the letter is larger than is read here");
    if (st == ST_OK) {
        buf_add(out, body->sec_body_part, body->sec_length);
        st = buf_status(out, "letter", err);
    }
    if (found)
        mailimap_fetch_list_free(found);
    if (type)
        mailimap_fetch_type_free(type);
    else if (att)
        mailimap_fetch_att_free(att);
    else if (section)
        mailimap_section_free(section);
    if (set)
        mailimap_set_free(set);
    return st;
}

/* ---------------------------------------------------------------- marking */

static enum status flag_store(struct imap *imap, struct mailimap_set *set, bool is_seen,
                              struct err *err)
{
    struct mailimap_flag_list *flags = mailimap_flag_list_new_empty();
    struct mailimap_flag *flag = is_seen ? mailimap_flag_new_seen() : mailimap_flag_new_deleted();
    struct mailimap_store_att_flags *store = NULL;
    int rc = MAILIMAP_ERROR_MEMORY;

    if (flags && flag && is_fine(mailimap_flag_list_add(flags, flag))) {
        flag = NULL; /* the list has it */
        store = mailimap_store_att_flags_new_add_flags_silent(flags);
        if (store) {
            flags = NULL;
            rc = mailimap_uid_store(imap->session, set, store);
            mailimap_store_att_flags_free(store);
        }
    }
    if (flag)
        mailimap_flag_free(flag);
    if (flags)
        mailimap_flag_list_free(flags);
    return is_fine(rc) ? ST_OK : command_failed(imap, "store", rc, err);
}

enum status imap_settle(struct imap *imap, uint32_t uid, bool is_kept, struct err *err)
{
    struct mailimap_set *set = mailimap_set_new_single(uid);
    enum status st;

    if (!set) {
        imap->is_broken = true;
        return err_reason(err, REASON_NO_MEMORY, "imap: out of memory");
    }
    imap->wire.budget = ANSWER_BYTES;
    st = flag_store(imap, set, is_kept, err);
    if (st == ST_OK && !is_kept) {
        int rc = imap->has_uidplus ? mailimap_uid_expunge(imap->session, set)
                                   : mailimap_expunge(imap->session);
        if (!is_fine(rc))
            st = command_failed(imap, "expunge", rc, err);
    }
    mailimap_set_free(set);
    return st;
}

/* ---------------------------------------------------------------- waiting */

/* Whether the server has said something; waits for it.  False also when told to stop. */
static bool wire_listen(struct imap *imap, int wait_ms)
{
    struct wire *w = &imap->wire;

    if (imap->session->imap_stream->read_buffer_len > 0 || w->in_at < w->in_len)
        return true;
    for (;;) {
        ssize_t got = wire_take(w, w->in, sizeof w->in);
        if (got != 0) {
            w->in_at = 0;
            w->in_len = got > 0 ? (size_t)got : 0;
            return true; /* at its end, too: DONE will tell */
        }
        if (!wire_wait(w, POLLIN, wait_ms)) {
            w->is_late = false; /* that nothing came is no failure here */
            return false;
        }
    }
}

static enum status idle_wait(struct imap *imap, int wait_ms, bool *ret_is_news, struct err *err)
{
    int rc;
    bool is_news;

    imap->wire.budget = ANSWER_BYTES;
    rc = mailimap_idle(imap->session);
    if (!is_fine(rc))
        return command_failed(imap, "idle", rc, err);
    is_news = wire_listen(imap, wait_ms);
    if (imap->wire.is_stopped)
        return command_failed(imap, "idle", MAILIMAP_ERROR_STREAM, err);
    rc = mailimap_idle_done(imap->session);
    if (!is_fine(rc))
        return command_failed(imap, "idle", rc, err);
    *ret_is_news = is_news;
    return ST_OK;
}

enum status imap_wait(struct imap *imap, int64_t wait_ms, bool *ret_is_news, struct err *err)
{
    int most = imap->state.has_idle ? IMAP_IDLE_MS : IMAP_NOOP_MS;
    int length = wait_ms < most ? (int)wait_ms : most, rc;

    if (imap->state.has_idle)
        return idle_wait(imap, length, ret_is_news, err);
    if (!wire_listen(imap, length) && imap->wire.is_stopped)
        return command_failed(imap, "wait", MAILIMAP_ERROR_STREAM, err);
    imap->wire.budget = ANSWER_BYTES;
    rc = mailimap_noop(imap->session);
    if (!is_fine(rc))
        return command_failed(imap, "noop", rc, err);
    *ret_is_news = true; /* what NOOP told is not looked at: a search is as cheap */
    return ST_OK;
}
