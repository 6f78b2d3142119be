/* mail/cms.c - see cms.h. */
#include "mail/cms.h"

#include <string.h>

enum {
    LEVELS_MAX = 12,
    TAG_OCTETS = 0x04,
    TAG_OID = 0x06,
    TAG_OCTETS_PIECES = 0x24, /* constructed: OCTET STRINGs one after the other */
    TAG_SEQUENCE = 0x30,
    TAG_0 = 0xa0 /* [0], constructed */
};

/* A run of bytes that is read from the front. */
struct span {
    const unsigned char *p;
    size_t n;
};

struct value {
    unsigned tag;
    struct span body;
};

static bool value_read(struct span *from, struct value *ret, int level);

/* The length of a body of indefinite length: all values up to two zero bytes. */
static bool indefinite_length(struct span from, size_t *ret_n, int level)
{
    const unsigned char *begin = from.p;

    while (from.n >= 2 && !(from.p[0] == 0 && from.p[1] == 0)) {
        struct value skipped;

        if (level == 0 || !value_read(&from, &skipped, level - 1))
            return false;
    }
    *ret_n = (size_t)(from.p - begin);
    return from.n >= 2;
}

/* The next tag, length and body; *from moves past them. */
static bool value_read(struct span *from, struct value *ret, int level)
{
    struct span s = *from;
    size_t n, end = 0;

    if (s.n < 2 || (s.p[0] & 0x1f) == 0x1f)
        return false;
    ret->tag = s.p[0];
    n = s.p[1];
    s.p += 2;
    s.n -= 2;
    if (n == 0x80) {
        if (!(ret->tag & 0x20) || !indefinite_length(s, &n, level))
            return false;
        end = 2;
    } else if (n > 0x80) {
        size_t bytes = n - 0x80;

        if (bytes > 4 || bytes > s.n)
            return false;
        for (n = 0; bytes > 0; bytes--, s.p++, s.n--)
            n = n << 8 | *s.p;
    }
    if (n > s.n || end > s.n - n)
        return false;
    ret->body = (struct span){s.p, n};
    from->p = s.p + n + end;
    from->n = s.n - n - end;
    return true;
}

/* The next value has this tag: step into it. */
static bool enter(struct span *s, unsigned tag)
{
    struct value v;

    if (!value_read(s, &v, LEVELS_MAX) || v.tag != tag)
        return false;
    *s = v.body;
    return true;
}

static bool skip(struct span *s)
{
    struct value v;

    return value_read(s, &v, LEVELS_MAX);
}

/* The bytes of an OCTET STRING, whole or in pieces. */
static bool put_octets(const struct value *v, struct buf *out, int level)
{
    struct span pieces = v->body;
    struct value piece;

    if (v->tag == TAG_OCTETS) {
        buf_add(out, v->body.p, v->body.n);
        return true;
    }
    if (v->tag != TAG_OCTETS_PIECES || level == 0)
        return false;
    while (pieces.n > 0)
        if (!value_read(&pieces, &piece, LEVELS_MAX) || !put_octets(&piece, out, level - 1))
            return false;
    return true;
}

static bool oid_is(struct span *s, const char *bytes, size_t n)
{
    struct value v;

    return value_read(s, &v, LEVELS_MAX) && v.tag == TAG_OID && v.body.n == n &&
           memcmp(v.body.p, bytes, n) == 0;
}

bool cms_signed_content(const void *bytes, size_t n, struct buf *out)
{
    static const char signed_data[] = "\x2a\x86\x48\x86\xf7\x0d\x01\x07\x02";
    static const char data[] = "\x2a\x86\x48\x86\xf7\x0d\x01\x07\x01";
    struct span s = {bytes, n};
    struct value content;

    /* ContentInfo { signedData, [0] SignedData { version, digests, { data, [0] OCTETS }, … } } */
    return enter(&s, TAG_SEQUENCE) && oid_is(&s, signed_data, 9) && enter(&s, TAG_0) &&
           enter(&s, TAG_SEQUENCE) && skip(&s) && skip(&s) && enter(&s, TAG_SEQUENCE) &&
           oid_is(&s, data, 9) && enter(&s, TAG_0) && value_read(&s, &content, LEVELS_MAX) &&
           put_octets(&content, out, 3) && !buf_failed(out);
}
