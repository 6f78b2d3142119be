/* mail/machine.c - see machine.h. */
#include "mail/machine.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <gmime/gmime.h>

#include "base/buf.h"
#include "base/str.h"
#include "mail/decode.h"
#include "mail/machine_words.h"
#include "mail/reply.h"
#include "mail/reply_line.h"

enum {
    GREETING_MAX = 50,   /* bytes of a line that only greets */
    REACTION_MAX = 240,  /* bytes of a line that tells of a reaction */
    OPENING_LINES = 6,   /* lines of a text that are looked at for machines' words … */
    WORDING_MAX = 1000   /* … and bytes of them, or of a subject */
};

/* ---------------------------------------------------------------- headers */

static bool begins(const char *text, size_t n, const char *what)
{
    size_t m = strlen(what);

    return n >= m && strncasecmp(text, what, m) == 0;
}

bool letter_address_is_machine(const char *address)
{
    static const char *const whole[] = {"mailer-daemon", "mailerdaemon", "mail-daemon",
                                        "maildaemon",    "mdaemon",      "daemon",
                                        "postmaster",    "bounce",       "bounces",
                                        "autoreply",     "auto-reply",   "autoresponder",
                                        "autorespond",   "mailer"};
    static const char *const beginnings[] = {
        "noreply",     "no-reply",    "no_reply",   "no.reply",       "donotreply", "do-not-reply",
        "do_not_reply", "do.not.reply", "dontreply", "mailer-daemon", "bounce-",    "bounce+",
        "bounce_",     "bounces-",    "bounces+",   "bounces_",       "bounce.",    "bounces.",
        "noresponse",  "no-response", "notreply",   "not-reply"};
    size_t n = strcspn(address, "@");

    if (n == 0)
        return true; /* the null sender */
    for (size_t i = 0; i < COUNT_OF(whole); i++)
        if (strlen(whole[i]) == n && begins(address, n, whole[i]))
            return true;
    for (size_t i = 0; i < COUNT_OF(beginnings); i++)
        if (begins(address, n, beginnings[i]))
            return true;
    return false;
}

/* The first word of a value is one of the list (ended by NULL). */
static bool value_is(const char *value, const char *const *list)
{
    size_t n = strcspn(value, " ;,(");

    for (; *list; list++)
        if (strlen(*list) == n && strncasecmp(value, *list, n) == 0)
            return true;
    return false;
}

static bool says_no(const char *value)
{
    static const char *const no[] = {"no", "none", "false", "0", NULL};

    return value_is(value, no);
}

/* word, of ASCII in lower case, somewhere in value, in any case. */
static bool holds_word(const char *value, const char *word)
{
    size_t n = strlen(word);

    for (; *value != '\0'; value++)
        if (strncasecmp(value, word, n) == 0)
            return true;
    return false;
}

/* One of the headers (ended by NULL) is there and doesn't say no. */
static bool has_header(const struct scan *scan, const char *const *names)
{
    for (; *names; names++) {
        size_t index = 0;

        for (const char *value; (value = scan_next(scan, *names, &index)) != NULL;)
            if (!says_no(value))
                return true;
    }
    return false;
}

static bool is_null_sender(const char *return_path)
{
    return return_path && (*return_path == '\0' || strncmp(return_path, "<>", 2) == 0 ||
                           strncmp(return_path, "< >", 3) == 0);
}

/* A header that is named after what its program does, whichever it is: "X-Autoreply",
 * "X-Mail-Auto-Responder", "X-Vacation".  X-Auto-Response-Suppress is judged by itself. */
static bool names_machine(const struct scan *scan)
{
    static const char *const stems[] = {"autorepl", "autorespon", "autogenerat", "vacation",
                                        "outofoffice", "machinegenerat"};
    char name[80];

    for (size_t i = 0; i < scan->count; i++) {
        const struct scan_header *h = &scan->headers[i];
        size_t n = 0;

        for (const char *p = h->name; *p != '\0' && n + 1 < sizeof name; p++)
            if (*p != '-' && *p != '_')
                name[n++] = char_lower(*p);
        name[n] = '\0';
        if ((name[0] != 'x' && !str_starts(name, "auto")) ||
            str_eq(name, "xautoresponsesuppress") || says_no(h->value))
            continue;
        for (size_t k = 0; k < COUNT_OF(stems); k++)
            if (strstr(name, stems[k]) != NULL)
                return true;
    }
    return false;
}

/* Programs that say it in the value of a header with other uses. */
static bool is_autoresponder(const struct scan *scan)
{
    static const struct {
        const char *name;
        const char *word; /* in any case, somewhere in its value */
    } said[] = {{"X-POST-MessageClass", "autoresponder"}, {"Preference", "auto_reply"},
                {"X-Mailer", "autorespon"},               {"X-Mailer", "auto-respon"},
                {"X-Mailer", "vacation"},                 {"User-Agent", "autorespon"},
                {"X-Generated-By", "autorespon"},         {"X-Notes-Item", "outofoffice"},
                {"X-Delivery-Agent", "tmda"},
                {"Message-Class", "ipm.note.rules."},     {"X-Message-Class", "ipm.note.rules."},
                {"Message-Class", "report.ipm."},         {"X-Message-Class", "report.ipm."},
                {"Content-Class", "content-classes:dsn"}, {"Content-Class", "content-classes:mdn"}};

    for (size_t i = 0; i < COUNT_OF(said); i++) {
        size_t index = 0;

        for (const char *value; (value = scan_next(scan, said[i].name, &index)) != NULL;)
            if (holds_word(value, said[i].word))
                return true;
    }
    for (size_t index = 0;;) { /* qmail's */
        const char *value = scan_next(scan, "Delivered-To", &index);

        if (value == NULL)
            return false;
        if (str_case_eq(value, "autoresponder"))
            return true;
    }
}

enum letter_mark machine_header_mark(const char *from, const struct scan *scan)
{
    static const char *const precedences[] = {"bulk",       "junk",       "list",
                                              "auto_reply", "auto-reply", "autoreply", NULL};
    static const char *const auto_headers[] = {
        "X-Amazon-Auto-Reply",  "X-Failed-Recipients", "X-Facebook-Notify", "X-Cron-Env",
        "X-OTRS-Loop",          "X-JIRA-FingerPrint",  "RT-Ticket",         "X-RT-Loop-Prevention",
        "X-ServiceNow-Generated", "X-MS-Exchange-Generated-Message-Source", NULL};
    static const char *const suppress[] = {"X-Auto-Response-Suppress", NULL};
    /* Not Feedback-ID: some providers put it into what people write. */
    static const char *const list_headers[] = {
        "List-Id",   "List-Unsubscribe", "List-Post",      "List-Help",
        "X-List-Id", "Mailing-List",     "X-Mailing-List", "X-BeenThere", NULL};
    static const char *const no[] = {"no", NULL};
    size_t index = 0;

    for (const char *value; (value = scan_next(scan, "Auto-Submitted", &index)) != NULL;)
        if (!value_is(value, no))
            return LETTER_MARK_AUTO_SUBMITTED;
    index = 0;
    if (is_null_sender(scan_first(scan, "Return-Path")))
        return LETTER_MARK_NULL_SENDER;
    if (has_header(scan, auto_headers) || names_machine(scan) || is_autoresponder(scan))
        return LETTER_MARK_AUTO_HEADER;
    if (has_header(scan, suppress))
        return LETTER_MARK_SUPPRESS;
    for (const char *value; (value = scan_next(scan, "Precedence", &index)) != NULL;)
        if (value_is(value, precedences))
            return LETTER_MARK_PRECEDENCE;
    if (has_header(scan, list_headers))
        return LETTER_MARK_LIST;
    if (from && letter_address_is_machine(from))
        return LETTER_MARK_DAEMON;
    return LETTER_MARK_NONE;
}

/* ---------------------------------------------------------------- wording */

/* What a program says of a reaction in any language: a picture or a colon at the end, the stem of
 * the word, and mail. */
static bool tells_reaction(const char *line)
{
    static const char *const stems[] = {
        "reacted", "reagiert", "réagi", "reaccion", "reagito", "reagiu", "gereageerd", "zareagow",
        "отреагир", "відреагув", "reacționat", "reagera", "reageret", "reagert", "reagoi",
        "reagova", "reagált", "tepki verdi", "αντέδρασε", "リアクション", "反应", "回应", "回應",
        "반응", "реагира", "reagira", "bày tỏ cảm xúc", "bereaksi", "הגיב", "تفاعل", NULL};
    const char *at = line;
    size_t n = strlen(line);
    unsigned first = n > 0 ? decode_char(&at) : 0;
    bool is_picture =
        (first >= 0x2190 && first <= 0x2bff) || (first >= 0x1f000 && first <= 0x1faff);

    return n > 0 && n <= REACTION_MAX && (is_picture || line[n - 1] == ':') &&
           line_has_stem(line, stems) && line_is_about_mail(line);
}

/* text (normalised, its beginning) with its letters in lower case, as far as they have two. */
static char *folded(const char *text, size_t n)
{
    char *plain, *ret;

    if (n > WORDING_MAX)
        for (n = WORDING_MAX; n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80;)
            n--;
    plain = reply_normalise(text, n);
    ret = plain ? decode_lower(plain) : NULL;
    free(plain);
    return ret;
}

/* Past "Re:", "AW:" and their like. */
static const char *skip_reply_marks(const char *subject)
{
    static const char *const marks[] = {"re:", "aw:", "sv:", "vs:", "antw:", "odp:", "res:", "rif:",
                                        "ynt:", "на:", "re :", "fw:", "fwd:", "wg:"};

    for (size_t i = 0; i < COUNT_OF(marks); i++) {
        if (str_starts(subject, marks[i])) {
            subject += strlen(marks[i]);
            subject += strspn(subject, " ");
            i = (size_t)-1; /* from the first one again */
        }
    }
    return subject;
}

/* One of the list (ended by NULL) somewhere in text. */
static bool has_any(const char *text, const char *const *list)
{
    for (; *list; list++)
        if (strstr(text, *list) != NULL)
            return true;
    return false;
}

static bool subject_is_automatic(const char *subject)
{
    const char *p = skip_reply_marks(subject);

    for (const char *const *begin = machine_subjects; *begin; begin++)
        if (str_starts(p, *begin))
            return true;
    return false;
}

/* "Guten Tag," and its like: what the letter has to say comes below. */
static bool is_greeting(const char *line, size_t n)
{
    static const char *const ends[] = {",", "!", "\u3002", "\uff0c", "\uff01", "\u3001"};

    while (n > 0 && (line[n - 1] == ' ' || line[n - 1] == '\t'))
        n--;
    for (size_t i = 0; n <= GREETING_MAX && i < COUNT_OF(ends); i++) {
        size_t m = strlen(ends[i]);

        if (n >= m && memcmp(line + n - m, ends[i], m) == 0)
            return true;
    }
    return false;
}

/* Nothing that can be read out: blanks, signs, a picture. */
static bool is_signs(const char *line, size_t n)
{
    for (const char *end = line + n; line < end;)
        if (g_unichar_isalnum(decode_char(&line)))
            return false;
    return true;
}

/* More than a command or a word or two: a sentence, that more of its kind may follow. */
static bool is_sentence(const char *line, size_t n)
{
    size_t blanks = 0;

    for (size_t i = 0; i < n; i++)
        blanks += line[i] == ' ';
    return blanks >= 3 || ((unsigned char)*line >= 0xe0 && n >= 24); /* no blanks in Chinese */
}

/* The first lines of what the letter says itself, one behind the other: its greeting, and a line
 * below it, or several if that is a sentence.  Who begins with a command and tells of his holidays
 * below is no machine.  In ret_first the very first that is neither signs alone nor a greeting. */
static void put_opening(const char *text, struct buf *out, struct buf *ret_first)
{
    for (size_t lines = 0; *text != '\0' && *text != '>' && lines < OPENING_LINES;) {
        size_t n = strcspn(text, "\n");

        if (strspn(text, " \t\r") < n) {
            bool is_first = ret_first->len == 0 && !is_signs(text, n) && !is_greeting(text, n);

            if (is_first)
                buf_add(ret_first, text, n);
            if (out->len < WORDING_MAX) {
                buf_add(out, text, n);
                buf_putc(out, ' ');
            }
            if (is_first && !is_sentence(text, n))
                break;
            lines++;
        }
        text += n + (text[n] == '\n');
    }
}

enum status machine_read_wording(const char *subject_text, const char *text,
                                 enum letter_mark *ret_mark, bool *ret_is_perhaps, struct err *err)
{
    struct buf opening = buf_make(strlen(text) + OPENING_LINES + 1);
    struct buf line = buf_make(strlen(text) + 1);
    char *first = NULL, *whole = NULL, *subject = folded(subject_text, strlen(subject_text));
    enum status st = ST_OK;

    put_opening(text, &opening, &line);
    if (!buf_failed(&opening) && !buf_failed(&line)) {
        first = folded(line.len > 0 ? line.data : "", line.len);
        whole = folded(opening.len > 0 ? opening.data : "", opening.len);
    }
    if (!subject || !first || !whole) {
        st = err_set(err, ST_NOMEM, "no memory to read a letter");
        goto out;
    }
    if (*ret_mark == LETTER_MARK_NONE &&
        (tells_reaction(first) || has_any(first, machine_reactions) ||
         (has_any(subject, machine_reactions) && skip_reply_marks(subject) == subject)))
        *ret_mark = LETTER_MARK_REACTION;
    *ret_is_perhaps = subject_is_automatic(subject) || has_any(whole, machine_wordings);
out:
    buf_release(&opening);
    buf_release(&line);
    free(subject);
    free(first);
    free(whole);
    return st;
}
