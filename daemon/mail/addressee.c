/* mail/addressee.c - addresses in header lines; see addressee.h. */
#include "mail/addressee.h"

#include <string.h>

#include "base/str.h"
#include "mail/scan.h"

/* In the order in which they are believed. */
static const char *const fields[] = {"Delivered-To", "X-Original-To",   "Envelope-To",
                                     "X-Envelope-To", "To", "Cc"};

struct span {
    const char *at;
    size_t n;
};

/* The header's next field from *p on: its name and its value, continuation lines included; from cr
 * on, lines end by CR alone.  False at the end of the header. */
static bool field_next(const char **p, const char *cr, const char *end, struct span *ret_name,
                       struct span *ret_value)
{
    while (*p < end && **p != '\n' && **p != '\r') {
        const char *line = *p, *colon;
        size_t next = 0;
        do { /* to the end of the line that no continuation follows */
            (void)scan_line(*p, (size_t)(end - *p), *p >= cr, &next);
            *p += next;
        } while (*p < end && (**p == ' ' || **p == '\t'));
        colon = memchr(line, ':', (size_t)(*p - line));
        if (!colon || colon == line)
            continue; /* "From joe Mon …", ">From": no field */
        *ret_name = (struct span){line, (size_t)(colon - line)};
        while (ret_name->n > 0 && strchr(" \t", line[ret_name->n - 1]))
            ret_name->n--;
        *ret_value = (struct span){colon + 1, (size_t)(*p - colon - 1)};
        return true;
    }
    return false;
}

/* Past the empty lines that a file may begin with: no header ends where none has begun (P38). */
static const char *header_begin(const char *p, const char *end)
{
    while (p < end && (*p == '\n' || *p == '\r'))
        p++;
    return p;
}

static bool name_is(struct span name, const char *word)
{
    char text[20];

    if (name.n != strlen(word) || name.n >= sizeof text)
        return false;
    memcpy(text, name.at, name.n);
    text[name.n] = '\0';
    return str_case_eq(text, word);
}

/* What may stand in an address as we look for them; quoted local parts are none of ours. */
static bool is_address_char(char c)
{
    unsigned char u = (unsigned char)c;

    return (u >= 'a' && u <= 'z') || (u >= 'A' && u <= 'Z') || (u >= '0' && u <= '9') ||
           u >= 0x80 || (u && strchr("!#$%&'*+-/=?^_`{|}~.", c) != NULL);
}

/* The next address at or after *p: a run of address characters with an @ in it. */
static bool address_next(const char **p, const char *end, char ret[ADDRESSEE_SIZE])
{
    while (*p < end) {
        const char *at = memchr(*p, '@', (size_t)(end - *p)), *from, *to;
        if (!at)
            break;
        for (from = at; from > *p && is_address_char(from[-1]); from--)
            ;
        for (to = at + 1; to < end && is_address_char(*to); to++)
            ;
        *p = to;
        if (from < at && to > at + 1 && to - from < ADDRESSEE_SIZE) {
            memcpy(ret, from, (size_t)(to - from));
            ret[to - from] = '\0';
            return true;
        }
    }
    return false;
}

bool addressee_find(const void *bytes, size_t n, addressee_judge_fn *judge, void *arg,
                    char ret_address[ADDRESSEE_SIZE])
{
    const char *begin = bytes, *end = begin + (n < ADDRESSEE_HEADER_MAX ? n : ADDRESSEE_HEADER_MAX);
    const char *cr = begin + scan_cr_from(begin, n);
    char address[ADDRESSEE_SIZE];
    int best = 0;

    for (size_t i = 0; i < COUNT_OF(fields) && best < 2; i++) {
        const char *p = header_begin(begin, end), *q;
        struct span name, value;
        while (best < 2 && field_next(&p, cr, end, &name, &value)) {
            if (!name_is(name, fields[i]))
                continue;
            q = value.at;
            while (best < 2 && address_next(&q, value.at + value.n, address)) {
                int judged = judge(arg, address);
                if (judged > best) {
                    best = judged;
                    (void)str_copy(ret_address, ADDRESSEE_SIZE, address);
                }
            }
        }
    }
    return best > 0;
}

bool addressee_sender(const void *bytes, size_t n, char ret_address[ADDRESSEE_SIZE])
{
    const char *p = bytes, *end = p + (n < ADDRESSEE_HEADER_MAX ? n : ADDRESSEE_HEADER_MAX);
    const char *cr = p + scan_cr_from(p, n);
    struct span name, value;

    p = header_begin(p, end);
    while (field_next(&p, cr, end, &name, &value)) {
        const char *q = value.at, *stop = value.at + value.n;
        if (!name_is(name, "Return-Path"))
            continue;
        if (address_next(&q, stop, ret_address))
            return true;
        for (q = value.at; q + 1 < stop; q++) {
            if (q[0] == '<' && q[1] == '>') {
                ret_address[0] = '\0';
                return true;
            }
        }
    }
    return false;
}
