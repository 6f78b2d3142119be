/* mail/authres.c - see authres.h. */
#include "mail/authres.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "mail/scan.h"

enum { VALUE_MAX = 1100 }; /* longer than any envelope sender */

const char *auth_verdict_str(enum auth_verdict verdict)
{
    static const char *const words[] = {"none", "pass", "fail"};

    return words[verdict];
}

/* ---------------------------------------------------------------- tokens */

/* A quoted string at p, without its quotes, appended to ret; false when it does not end or fit.
 * With ret NULL it is passed over, however long. */
static bool read_quoted(const char **p, char *ret, size_t *n)
{
    for ((*p)++; **p != '"'; (*p)++) {
        if (**p == '\\')
            (*p)++;
        if (**p == '\0' || (ret && *n + 1 >= VALUE_MAX))
            return false;
        if (ret)
            ret[(*n)++] = **p;
    }
    (*p)++;
    if (ret)
        ret[*n] = '\0';
    return true;
}

/* A run of bytes but blanks, quotes, parentheses and those in stop. */
static bool read_run(const char **p, const char *stop, char ret[VALUE_MAX], size_t *n)
{
    size_t before = *n;

    while (**p != '\0' && strchr(" \t\r\n\"()", **p) == NULL && strchr(stop, **p) == NULL) {
        if (*n + 1 >= VALUE_MAX)
            return false;
        ret[(*n)++] = *(*p)++;
    }
    ret[*n] = '\0';
    return *n > before;
}

/* A keyword or a property name: method, "reason", "header.from". */
static bool read_name(const char **p, char ret[VALUE_MAX])
{
    size_t n = 0;

    return scan_skip_cfws(p) && read_run(p, ";=/@", ret, &n);
}

/* A value: tokens, quoted strings and "@" in any order, or nothing.  *ret_at: where in ret the
 * domain begins that follows the last "@" outside quotes, or 0. */
static bool read_value(const char **p, char ret[VALUE_MAX], size_t *ret_at)
{
    size_t n = 0;

    *ret_at = 0;
    ret[0] = '\0';
    if (!scan_skip_cfws(p))
        return false;
    for (;;) {
        if (**p == '"') {
            if (!read_quoted(p, ret, &n))
                return false;
        } else if (**p == '@') {
            (*p)++;
            if (n + 1 >= VALUE_MAX)
                return false;
            ret[n++] = '@';
            ret[n] = '\0';
            *ret_at = n;
        } else if (**p == '\0' || strchr(" \t\r\n;(", **p) != NULL) {
            return true;
        } else if (!read_run(p, ";@", ret, &n)) {
            return false;
        }
    }
}

/* To the next ";" outside quotes and comments, or the end; false when one of these does not end. */
static bool skip_result(const char **p)
{
    while (**p != '\0' && **p != ';') {
        if (**p == '(') {
            if (!scan_skip_cfws(p))
                return false;
        } else if (**p == '"') {
            if (!read_quoted(p, NULL, NULL))
                return false;
        } else {
            (*p)++;
        }
    }
    return true;
}

static bool read_sign(const char **p, char sign)
{
    if (!scan_skip_cfws(p) || **p != sign)
        return false;
    (*p)++;
    return true;
}

/* ---------------------------------------------------------------- one header */

/* domain is wanted or a parent of it that is no top level domain. */
static bool is_aligned(const char *domain, const char *wanted)
{
    size_t n = strlen(domain), m = strlen(wanted);

    if (n == 0 || n > m || strcasecmp(wanted + (m - n), domain) != 0)
        return false;
    return n == m || (wanted[m - n - 1] == '.' && strchr(domain, '.') != NULL);
}

struct findings {
    bool dmarc_pass, dmarc_fail;
    bool other_pass, other_fail; /* of dkim and spf */
    bool is_broken;              /* something could not be read: no pass counts */
};

/* One method's result and its properties; p stands after the ";". */
static bool read_result(const char **p, const char *from_domain, struct findings *f)
{
    char method[VALUE_MAX], result[VALUE_MAX], name[VALUE_MAX], value[VALUE_MAX];
    size_t at = 0;
    bool is_from_named = false, is_from_ours = false, is_domain_ours = false;

    if (!read_name(p, method) || !scan_skip_cfws(p))
        return false;
    if (**p == '/') { /* method "/" version */
        (*p)++;
        if (!read_name(p, name))
            return false;
    }
    if (!read_sign(p, '=') || !read_name(p, result))
        return false;
    /* A failure counts whatever stands behind it: the sender writes some of that himself. */
    if (str_case_eq(method, "dmarc"))
        f->dmarc_fail = f->dmarc_fail || str_case_eq(result, "fail");
    else if (str_case_eq(method, "dkim") || str_case_eq(method, "spf"))
        f->other_fail = f->other_fail || str_case_eq(result, "fail") ||
                        str_case_eq(result, "hardfail");
    if (!scan_skip_cfws(p))
        return false;
    while (**p != '\0' && **p != ';') {
        const char *domain;

        if (!read_name(p, name) || !read_sign(p, '=') || !read_value(p, value, &at) ||
            !scan_skip_cfws(p))
            return false;
        domain = value + at;
        if (str_case_eq(name, "header.from")) {
            is_from_named = true;
            is_from_ours = strcasecmp(domain, from_domain) == 0;
        } else if (str_case_eq(name, "header.d") || str_case_eq(name, "smtp.mailfrom") ||
                   (str_case_eq(name, "header.i") && at > 0)) {
            is_domain_ours = is_domain_ours || is_aligned(domain, from_domain);
        }
    }
    if (str_case_eq(method, "dmarc")) {
        f->dmarc_pass = f->dmarc_pass ||
                        (str_case_eq(result, "pass") && (!is_from_named || is_from_ours));
    } else if (str_case_eq(method, "dkim") || str_case_eq(method, "spf")) {
        f->other_pass = f->other_pass || (str_case_eq(result, "pass") && is_domain_ours);
    }
    return true;
}

/* The authserv-id at the beginning and the version that may follow it. */
static bool read_id(const char **p, char ret[VALUE_MAX])
{
    size_t n = 0;

    if (!scan_skip_cfws(p))
        return false;
    ret[0] = '\0';
    if (**p == '"' ? !read_quoted(p, ret, &n) : !read_run(p, ";", ret, &n))
        return false;
    if (!scan_skip_cfws(p))
        return false;
    while (char_is_digit(**p))
        (*p)++;
    return scan_skip_cfws(p) && (**p == ';' || **p == '\0');
}

/* All results of one header; p stands after the id. */
static void results_read(const char *p, const char *from_domain, struct findings *f)
{
    while (*p == ';') {
        p++;
        if (!scan_skip_cfws(&p)) {
            f->is_broken = true;
            return;
        }
        if (*p == '\0')
            return; /* a ";" at the very end */
        if (strncasecmp(p, "none", 4) == 0 && (p[4] == '\0' || strchr(" \t\r\n;(", p[4]))) {
            p += 4;
            f->is_broken = !scan_skip_cfws(&p) || f->is_broken;
        } else if (!read_result(&p, from_domain, f)) {
            f->is_broken = true;
            if (!skip_result(&p))
                return;
        }
    }
    f->is_broken = f->is_broken || *p != '\0';
}

enum auth_verdict authres_judge(const char *const *values, size_t count, const char *authserv_id,
                                const char *from_domain)
{
    struct findings f = {.dmarc_pass = false};
    bool has_own = false;

    if (authserv_id == NULL || authserv_id[0] == '\0' || from_domain == NULL ||
        from_domain[0] == '\0')
        return AUTH_NONE;
    for (size_t i = 0; i < count; i++) {
        struct findings below = {.dmarc_pass = false};
        const char *p = values[i];
        char id[VALUE_MAX] = "";
        bool is_id = *p != '\0' && read_id(&p, id);
        bool is_own = str_case_eq(id, authserv_id);

        /* Too long for letter_read(), or ours and broken: perhaps it said that it is not he. */
        if (!has_own && (values[i][0] == '\0' || (is_own && !is_id)))
            return AUTH_FAIL;
        if (!has_own && !is_own)
            continue;
        if (has_own && !(is_own && is_id))
            break;
        results_read(p, from_domain, has_own ? &below : &f);
        /* What stands below our first line may be forged, so it can only speak against him. */
        f.dmarc_fail = f.dmarc_fail || below.dmarc_fail;
        f.other_fail = f.other_fail || below.other_fail;
        has_own = true;
    }
    if (f.dmarc_fail || f.is_broken)
        return AUTH_FAIL;
    if (f.dmarc_pass || f.other_pass)
        return AUTH_PASS;
    return f.other_fail ? AUTH_FAIL : AUTH_NONE;
}
