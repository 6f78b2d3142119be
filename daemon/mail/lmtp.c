/* mail/lmtp.c - the dialogue; see lmtp.h. */
#include "mail/lmtp.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

enum lmtp_state {
    LMTP_GREETED,   /* LHLO has to come first */
    LMTP_READY,     /* MAIL may come */
    LMTP_SENDER,    /* MAIL was taken; RCPT, then DATA */
    LMTP_DATA,      /* the letter is coming */
    LMTP_SWALLOW,   /* … and is too large, or there is no memory for it */
    LMTP_ANSWERING, /* a letter waits for the verdicts on its recipients */
    LMTP_ENDED
};

/* How far the end of the letter, CR LF . CR LF, has come. */
enum data_mark {
    MARK_LINE,    /* at the beginning of a line: after CR LF, or of the letter */
    MARK_TEXT,    /* in a line */
    MARK_CR,      /* after a CR */
    MARK_DOT,     /* a dot began the line */
    MARK_DOT_CR,  /* … and a CR followed */
};

struct recipient {
    bool is_answered;
    enum lmtp_verdict verdict;
};

struct lmtp {
    char name[256];
    size_t size_max;
    bool (*is_ours)(void *arg, const char *recipient);
    void *arg;
    enum lmtp_state state;
    enum data_mark mark;
    int errors;
    bool is_too_large, is_utf8, is_line_too_long;
    bool has_refused; /* a recipient of this letter was refused */

    char line[LMTP_LINE_MAX + 1];
    size_t line_len;

    char sender[LMTP_ADDRESS_MAX + 1];
    char *addresses[LMTP_RECIPIENTS_MAX];
    struct recipient recipients[LMTP_RECIPIENTS_MAX];
    size_t n_recipients, n_told; /* told: replies that went out */
    struct buf bytes;
    struct lmtp_letter letter;
};

enum status lmtp_new(const struct lmtp_options *options, struct buf *out, struct lmtp **ret_lmtp,
                     struct err *err)
{
    struct lmtp *l = calloc(1, sizeof *l);

    assert(options->name && options->size_max > 0 && options->is_ours);
    if (!l)
        return err_reason(err, REASON_NO_MEMORY, "lmtp: out of memory");
    (void)str_copy(l->name, sizeof l->name, options->name);
    l->size_max = options->size_max;
    l->is_ours = options->is_ours;
    l->arg = options->arg;
    l->bytes = buf_make(options->size_max);
    buf_printf(out, "220 %s LMTP Fourhanded\r\n", options->name);
    *ret_lmtp = l;
    return ST_OK;
}

/* Forget the letter; the memory for its bytes is kept for the next one unless it is much. */
static void letter_drop(struct lmtp *l)
{
    enum { KEPT_MAX = 64 * 1024 };

    for (size_t i = 0; i < l->n_recipients; i++)
        free(l->addresses[i]);
    l->n_recipients = l->n_told = 0;
    l->sender[0] = '\0';
    l->is_too_large = l->is_utf8 = l->has_refused = false;
    if (l->bytes.cap > KEPT_MAX)
        buf_release(&l->bytes);
    else
        buf_clear(&l->bytes);
}

void lmtp_free(struct lmtp *l)
{
    if (!l)
        return;
    letter_drop(l);
    buf_release(&l->bytes);
    free(l);
}

const struct lmtp_letter *lmtp_letter(const struct lmtp *l)
{
    return l->state == LMTP_ANSWERING ? &l->letter : NULL;
}

bool lmtp_is_idle(const struct lmtp *l)
{
    return l->state == LMTP_GREETED || l->state == LMTP_READY || l->state == LMTP_ENDED;
}

const char *lmtp_full_line(void)
{
    return "421 4.3.2 Too many connections, come again later\r\n";
}

void lmtp_shut(struct lmtp *l, enum lmtp_why why, struct buf *out)
{
    assert(l->state != LMTP_ANSWERING);
    if (l->state == LMTP_ENDED)
        return;
    buf_puts(out, why == LMTP_SILENT     ? "421 4.4.2 Nothing came for too long\r\n"
                  : why == LMTP_STOPPING ? "421 4.3.2 The server stops, come again later\r\n"
                                         : lmtp_full_line());
    letter_drop(l);
    l->state = LMTP_ENDED;
}

/* ---------------------------------------------------------------- commands */

/* A reply to a command that makes no sense; too many of them end the dialogue. */
static void nonsense(struct lmtp *l, const char *reply, struct buf *out)
{
    if (++l->errors < LMTP_ERRORS_MAX) {
        buf_puts(out, reply);
        return;
    }
    buf_puts(out, "421 4.7.0 Too many errors\r\n");
    letter_drop(l);
    l->state = LMTP_ENDED;
}

/* A letter of an address outside quotes: what an atom may hold (RFC 5322), UTF-8 apart. */
static bool is_atom_char(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("!#$%&'*+-/=?^_`{|}~.", c) != NULL) || c >= 0x80;
}

/* The end of a local part that begins at p, or NULL. */
static const char *local_end(const char *p)
{
    if (*p != '"') {
        const char *from = p;
        while (is_atom_char((unsigned char)*p))
            p++;
        return p > from ? p : NULL;
    }
    for (p++; *p && *p != '"'; p++) {
        if (*p == '\\' && p[1])
            p++;
        if ((unsigned char)*p < ' ')
            return NULL;
    }
    return *p == '"' ? p + 1 : NULL;
}

/* The end of a domain that begins at p, or NULL. */
static const char *domain_end(const char *p)
{
    const char *from = p;

    if (*p == '[') {
        while (*p && *p != ']' && (unsigned char)*p > ' ')
            p++;
        return *p == ']' ? p + 1 : NULL;
    }
    while ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') ||
           *p == '.' || *p == '-' || *p == '_' || (unsigned char)*p >= 0x80)
        p++;
    return p > from ? p : NULL;
}

/*
 * Read "<address>" at p into ret; a source route ("<@a,@b:user@host>") is dropped.  may_be_empty:
 * <> is an address too.  A recipient may lack its domain (<postmaster>).  Returns what follows the
 * '>', or NULL when it is no address.
 */
static const char *path_read(const char *p, bool may_be_empty, char ret[LMTP_ADDRESS_MAX + 1])
{
    const char *from, *end;

    if (*p++ != '<')
        return NULL;
    if (*p == '>' && may_be_empty) {
        ret[0] = '\0';
        return p + 1;
    }
    if (*p == '@') {
        p = strchr(p, ':');
        if (!p)
            return NULL;
        p++;
    }
    from = p;
    end = local_end(p);
    if (end && *end == '@')
        end = domain_end(end + 1);
    if (!end || *end != '>' || end - from > LMTP_ADDRESS_MAX)
        return NULL;
    memcpy(ret, from, (size_t)(end - from));
    ret[end - from] = '\0';
    return end + 1;
}

/* The next parameter at *p ("SIZE=100"), cut out of the line by a NUL; NULL at the end. */
static char *parameter_next(char **p)
{
    char *from;

    while (**p == ' ')
        (*p)++;
    if (!**p)
        return NULL;
    from = *p;
    *p += strcspn(*p, " ");
    if (**p)
        *(*p)++ = '\0';
    return from;
}

/* Whether text begins with word in any case; what follows it is *ret_rest. */
static bool word_is(const char *text, const char *word, const char **ret_rest)
{
    size_t n = strlen(word);
    char head[16];

    assert(n < sizeof head);
    if (strlen(text) < n)
        return false;
    memcpy(head, text, n);
    head[n] = '\0';
    if (!str_case_eq(head, word))
        return false;
    *ret_rest = text + n;
    return true;
}

/* Bytes beyond ASCII only if SMTPUTF8 was asked for (RFC 6531), and as UTF-8. */
static bool is_address_allowed(const struct lmtp *l, const char *address)
{
    size_t n = strlen(address);

    return bytes_are_ascii(address, n) || (l->is_utf8 && utf8_is_valid(address, n));
}

static void mail_take(struct lmtp *l, char *args, struct buf *out)
{
    char address[LMTP_ADDRESS_MAX + 1];
    const char *rest;
    char *p, *word;
    int64_t size;

    if (l->state == LMTP_GREETED) {
        nonsense(l, "503 5.5.1 Say LHLO first\r\n", out);
        return;
    }
    if (l->state == LMTP_SENDER) {
        nonsense(l, "503 5.5.1 There is a sender already\r\n", out);
        return;
    }
    if (!word_is(args, "FROM:", &rest)) {
        nonsense(l, "501 5.5.4 MAIL FROM:<address>\r\n", out);
        return;
    }
    while (*rest == ' ')
        rest++;
    rest = path_read(rest, /* may_be_empty= */ true, address);
    if (!rest || (*rest && *rest != ' ') ||
        (address[0] && !strchr(address, '@'))) {
        nonsense(l, "501 5.1.7 That is no sender's address\r\n", out);
        return;
    }
    l->is_utf8 = false;
    p = args + (rest - args);
    while ((word = parameter_next(&p))) {
        if (word_is(word, "SIZE=", &rest)) {
            if (strlen(rest) > 20 || !*rest || rest[strspn(rest, "0123456789")]) {
                nonsense(l, "501 5.5.4 SIZE= wants a number\r\n", out);
                return;
            }
            if (!str_to_int64(rest, 0, INT64_MAX, &size) || (uint64_t)size > l->size_max) {
                buf_puts(out, "552 5.3.4 The letter is larger than is read here\r\n");
                return;
            }
        } else if (word_is(word, "BODY=", &rest)) {
            if (!str_case_eq(rest, "7BIT") && !str_case_eq(rest, "8BITMIME")) {
                nonsense(l, "501 5.5.4 BODY= is 7BIT or 8BITMIME\r\n", out);
                return;
            }
        } else if (str_case_eq(word, "SMTPUTF8")) {
            l->is_utf8 = true;
        } else {
            nonsense(l, "555 5.5.4 A parameter is not known here\r\n", out);
            return;
        }
    }
    if (!is_address_allowed(l, address)) {
        l->is_utf8 = false;
        nonsense(l, "553 5.6.7 The sender's address needs SMTPUTF8\r\n", out);
        return;
    }
    (void)str_copy(l->sender, sizeof l->sender, address);
    l->state = LMTP_SENDER;
    buf_puts(out, "250 2.1.0 OK\r\n");
}

static void rcpt_take(struct lmtp *l, const char *args, struct buf *out)
{
    char address[LMTP_ADDRESS_MAX + 1];
    const char *rest;

    if (l->state != LMTP_SENDER) {
        nonsense(l, "503 5.5.1 MAIL comes before RCPT\r\n", out);
        return;
    }
    if (!word_is(args, "TO:", &rest)) {
        nonsense(l, "501 5.5.4 RCPT TO:<address>\r\n", out);
        return;
    }
    while (*rest == ' ')
        rest++;
    rest = path_read(rest, /* may_be_empty= */ false, address);
    if (!rest) {
        nonsense(l, "501 5.1.3 That is no address\r\n", out);
        return;
    }
    if (rest[strspn(rest, " ")]) {
        nonsense(l, "555 5.5.4 A parameter is not known here\r\n", out);
        return;
    }
    if (!is_address_allowed(l, address)) {
        nonsense(l, "553 5.6.7 The address needs SMTPUTF8\r\n", out);
        return;
    }
    if (!l->is_ours(l->arg, address)) {
        l->has_refused = true;
        buf_puts(out, "550 5.1.1 Nobody of that address is here\r\n");
        return;
    }
    if (l->n_recipients == LMTP_RECIPIENTS_MAX) {
        buf_puts(out, "452 4.5.3 Too many recipients at once\r\n");
        return;
    }
    l->addresses[l->n_recipients] = str_dup(address);
    if (!l->addresses[l->n_recipients]) {
        buf_puts(out, "452 4.3.1 Out of memory\r\n");
        return;
    }
    l->recipients[l->n_recipients++] = (struct recipient){.is_answered = false};
    buf_puts(out, "250 2.1.5 OK\r\n");
}

static void data_take(struct lmtp *l, const char *args, struct buf *out)
{
    if (*args) {
        nonsense(l, "501 5.5.4 DATA stands alone\r\n", out);
    } else if (l->state != LMTP_SENDER) {
        nonsense(l, "503 5.5.1 MAIL and RCPT come before DATA\r\n", out);
    } else if (l->n_recipients == 0 && l->has_refused) {
        buf_puts(out, "503 5.5.1 No recipient was taken\r\n"); /* pipelined: no nonsense */
    } else if (l->n_recipients == 0) {
        nonsense(l, "503 5.5.1 RCPT comes before DATA\r\n", out);
    } else {
        buf_puts(out, "354 The letter, then a line with a dot alone\r\n");
        l->state = LMTP_DATA;
        l->mark = MARK_LINE;
    }
}

static void lhlo_take(struct lmtp *l, const char *args, struct buf *out)
{
    if (!*args) {
        nonsense(l, "501 5.5.4 LHLO wants a name\r\n", out);
        return;
    }
    letter_drop(l);
    l->state = LMTP_READY;
    buf_printf(out,
               "250-%s\r\n250-PIPELINING\r\n250-ENHANCEDSTATUSCODES\r\n250-8BITMIME\r\n"
               "250-SMTPUTF8\r\n250 SIZE %zu\r\n",
               l->name, l->size_max);
}

/* Do what the line says; it has no line end any more. */
static void line_take(struct lmtp *l, struct buf *out)
{
    char *line = l->line, *args;
    size_t len = l->line_len;

    l->line_len = 0;
    if (len > 0 && line[len - 1] == '\r')
        len--;
    while (len > 0 && line[len - 1] == ' ')
        len--;
    line[len] = '\0';
    for (size_t i = 0; i < len; i++) {
        if ((unsigned char)line[i] < ' ' || line[i] == 0x7f) {
            nonsense(l, "500 5.5.2 A control character stands in the command\r\n", out);
            return;
        }
    }
    args = line + strcspn(line, " ");
    if (*args)
        *args++ = '\0';
    args += strspn(args, " ");
    if (str_case_eq(line, "LHLO")) {
        lhlo_take(l, args, out);
    } else if (str_case_eq(line, "MAIL")) {
        mail_take(l, args, out);
    } else if (str_case_eq(line, "RCPT")) {
        rcpt_take(l, args, out);
    } else if (str_case_eq(line, "DATA")) {
        data_take(l, args, out);
    } else if (str_case_eq(line, "RSET")) {
        letter_drop(l);
        if (l->state != LMTP_GREETED)
            l->state = LMTP_READY;
        buf_puts(out, "250 2.0.0 OK\r\n");
    } else if (str_case_eq(line, "NOOP")) {
        buf_puts(out, "250 2.0.0 OK\r\n");
    } else if (str_case_eq(line, "VRFY")) {
        buf_puts(out, "252 2.5.2 Try to deliver, then it will be known\r\n");
    } else if (str_case_eq(line, "QUIT")) {
        buf_puts(out, "221 2.0.0 Good bye\r\n");
        letter_drop(l);
        l->state = LMTP_ENDED;
    } else if (str_case_eq(line, "HELO") || str_case_eq(line, "EHLO")) {
        nonsense(l, "500 5.5.1 This is LMTP: say LHLO\r\n", out);
    } else {
        nonsense(l, "502 5.5.1 That command is not known here\r\n", out);
    }
}

/* Gather the bytes of a command's line; returns how many were read, at most one line's. */
static size_t line_feed(struct lmtp *l, const char *bytes, size_t n, struct buf *out)
{
    const char *end = memchr(bytes, '\n', n);
    size_t piece = end ? (size_t)(end - bytes) : n;

    if (l->line_len + piece > LMTP_LINE_MAX - 1) /* all but the LF */
        l->is_line_too_long = true;
    if (!l->is_line_too_long) {
        memcpy(l->line + l->line_len, bytes, piece);
        l->line_len += piece;
    }
    if (!end)
        return n;
    if (l->is_line_too_long) {
        l->is_line_too_long = false;
        l->line_len = 0;
        nonsense(l, "500 5.5.2 The line is too long\r\n", out);
    } else {
        line_take(l, out);
    }
    return piece + 1;
}

/* ---------------------------------------------------------------- the letter */

static void letter_add(struct lmtp *l, const char *bytes, size_t n)
{
    if (l->state != LMTP_DATA)
        return;
    buf_add(&l->bytes, bytes, n);
    if (buf_failed(&l->bytes)) {
        l->is_too_large = l->bytes.st == ST_TOO_LARGE;
        l->state = LMTP_SWALLOW;
        buf_release(&l->bytes); /* and its memory is free while the rest is swallowed */
    }
}

/* The dot has come. */
static void letter_end(struct lmtp *l, struct buf *out)
{
    const char *reply = l->is_too_large ? "552 5.3.4 The letter is larger than is read here\r\n"
                                        : "452 4.3.1 Out of memory\r\n";

    if (l->state == LMTP_SWALLOW) {
        for (size_t i = 0; i < l->n_recipients; i++)
            buf_puts(out, reply);
        letter_drop(l);
        l->state = LMTP_READY;
        return;
    }
    l->letter = (struct lmtp_letter){.sender = l->sender,
                                     .recipients = (const char *const *)l->addresses,
                                     .n_recipients = l->n_recipients,
                                     .bytes = l->bytes.data,
                                     .size = l->bytes.len,
                                     .is_utf8 = l->is_utf8};
    l->errors = 0;
    l->state = LMTP_ANSWERING;
}

/* Read the letter's bytes, at most to its end; returns how many were read. */
static size_t data_feed(struct lmtp *l, const char *bytes, size_t n, struct buf *out)
{
    size_t from = 0; /* what is not yet added begins here */

    for (size_t i = 0; i < n; i++) {
        char c = bytes[i];
        switch (l->mark) {
        case MARK_LINE:
            if (c == '.') { /* dropped: a stuffed one, or the end */
                letter_add(l, bytes + from, i - from);
                from = i + 1;
                l->mark = MARK_DOT;
                continue;
            }
            break;
        case MARK_DOT:
            if (c == '\r') {
                letter_add(l, bytes + from, i - from);
                from = i + 1; /* held back until it is known whether the end is here */
                l->mark = MARK_DOT_CR;
                continue;
            }
            break;
        case MARK_DOT_CR:
            if (c == '\n') {
                letter_end(l, out);
                return i + 1;
            }
            letter_add(l, "\r", 1); /* ".\r" and something else: a line with a bare CR in it */
            break;
        case MARK_CR:
            if (c == '\n') {
                l->mark = MARK_LINE;
                continue;
            }
            break;
        case MARK_TEXT: {
            /* Most of a letter: to the next CR in one go. */
            const char *cr = memchr(bytes + i, '\r', n - i);
            i = cr ? (size_t)(cr - bytes) : n - 1;
            c = bytes[i];
            break;
        }
        }
        l->mark = c == '\r' ? MARK_CR : MARK_TEXT;
    }
    letter_add(l, bytes + from, n - from);
    return n;
}

/* ---------------------------------------------------------------- from outside */

enum lmtp_step lmtp_feed(struct lmtp *l, const void *bytes, size_t n, size_t *ret_used,
                         struct buf *out)
{
    const char *p = bytes;
    size_t used = 0;

    while (used < n && l->state != LMTP_ANSWERING && l->state != LMTP_ENDED) {
        if (l->state == LMTP_DATA || l->state == LMTP_SWALLOW)
            used += data_feed(l, p + used, n - used, out);
        else
            used += line_feed(l, p + used, n - used, out);
    }
    *ret_used = used;
    return l->state == LMTP_ANSWERING ? LMTP_LETTER : l->state == LMTP_ENDED ? LMTP_END
                                                                             : LMTP_MORE;
}

bool lmtp_answer(struct lmtp *l, size_t i, enum lmtp_verdict verdict, struct buf *out)
{
    static const char *const replies[] = {
        [LMTP_TAKEN] = "250 2.0.0 Taken\r\n",
        [LMTP_LATER] = "451 4.3.0 It could not be kept, come again later\r\n",
        [LMTP_NOT_OURS] = "550 5.1.1 Nobody of that address is here\r\n",
        [LMTP_TOO_LARGE] = "552 5.3.4 The letter is larger than is read here\r\n",
    };

    assert(l->state == LMTP_ANSWERING && i < l->n_recipients && !l->recipients[i].is_answered);
    l->recipients[i] = (struct recipient){.is_answered = true, .verdict = verdict};
    while (l->n_told < l->n_recipients && l->recipients[l->n_told].is_answered)
        buf_puts(out, replies[l->recipients[l->n_told++].verdict]);
    if (l->n_told < l->n_recipients)
        return false;
    letter_drop(l);
    l->state = LMTP_READY;
    return true;
}
