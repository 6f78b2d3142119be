#include "intake/sender.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"

enum { LOCAL_MAX = 64 };

const char *sender_verdict_str(enum sender_verdict verdict)
{
    static const char *const words[] = {"owner",    "foreign",  "no_from",
                                        "no_token", "conflict", "stranger"};

    return words[verdict];
}

void address_mask(const char *address, char *ret, size_t size)
{
    const char *at = strrchr(address, '@');
    size_t first = 1;

    /* The first letter whole, however many bytes it has. */
    while (address[0] && ((unsigned char)address[first] & 0xc0) == 0x80)
        first++;
    if (!at || at == address)
        (void)str_copy(ret, size, "…");
    else
        (void)snprintf(ret, size, "%.*s…%s", (int)first, address, at);
}

/* "@", or how quoted-printable and URLs write it. */
static bool is_at(const char *text, size_t n)
{
    return (n > 0 && text[0] == '@') || (n > 2 && (text[0] == '=' || text[0] == '%') &&
                                         text[1] == '4' && text[2] == '0');
}

void intake_mask_tokens(const char *text, size_t n, struct buf *out)
{
    for (size_t i = 0; i < n;) {
        char token[SECRET_SIZE];
        size_t run = 0, skip;

        while (i + run < n && (char_is_digit(text[i + run]) || char_is_letter(text[i + run])))
            run++;
        if (run == 0) {
            buf_putc(out, text[i++]);
            continue;
        }
        /* the 2B of an encoded "+", or the 2D of "-", touches it */
        skip = run == SECRET_SIZE + 1 && i > 0 && strchr("=%", text[i - 1]) ? 2 : 0;
        if (run - skip == SECRET_SIZE - 1 && is_at(text + i + run, n - i - run)) {
            for (size_t k = 0; k < SECRET_SIZE - 1; k++)
                token[k] = char_lower(text[i + skip + k]);
            token[SECRET_SIZE - 1] = '\0';
            if (secret_is_shaped(token)) {
                buf_add(out, text + i, skip);
                buf_puts(out, "…");
                i += run;
                continue;
            }
        }
        buf_add(out, text + i, run);
        i += run;
    }
}

/* ------------------------------------------------------------------------------- recipients */

/* Where what follows PREFIX and the delimiter begins in a local part; NULL when it is another one,
 * "" when nothing follows. */
static const char *after(const char *local, const char *prefix, const char *delimiter)
{
    size_t n = strlen(prefix), d = strlen(delimiter);

    if (strncmp(local, prefix, n) != 0)
        return NULL;
    if (!local[n])
        return local + n;
    if (d == 0 || strncmp(local + n, delimiter, d) != 0 || !local[n + d])
        return NULL;
    return local + n + d;
}

/* The lower-case local part of ours, if the domains are the same. */
static bool same_domain(const char *domain, const char *ours, char ret_local[LOCAL_MAX + 1])
{
    const char *at = ours ? strrchr(ours, '@') : NULL;
    size_t n = at ? (size_t)(at - ours) : 0;

    if (!at || n > LOCAL_MAX || !str_case_eq(at + 1, domain))
        return false;
    for (size_t i = 0; i < n; i++)
        ret_local[i] = char_lower(ours[i]);
    ret_local[n] = '\0';
    return true;
}

enum intake_recipient recipient_read(const struct intake_options *o, const char *address,
                                     char ret_token[SECRET_SIZE])
{
    const char *at = address ? strrchr(address, '@') : NULL, *rest;
    const char *delimiter = o->delimiter ? o->delimiter : "+";
    const char *other = *delimiter ? delimiter : "-"; /* of bounces and unsubscriptions */
    char local[LOCAL_MAX + 1], ours[LOCAL_MAX + 1];
    size_t n = at ? (size_t)(at - address) : 0;

    ret_token[0] = '\0';
    if (n == 0 || n > LOCAL_MAX)
        return INTAKE_FOREIGN;
    for (size_t i = 0; i < n; i++) /* servers change the case of local parts (P20) */
        local[i] = char_lower(address[i]);
    local[n] = '\0';
    if (same_domain(at + 1, o->bounce_address, ours) && after(local, ours, other))
        return INTAKE_BOUNCE;
    if (same_domain(at + 1, o->unsubscribe_address, ours)) {
        rest = after(local, ours, other);
        if (rest && secret_is_shaped(rest)) {
            (void)str_copy(ret_token, SECRET_SIZE, rest);
            return INTAKE_UNSUBSCRIBE;
        }
    }
    if (!same_domain(at + 1, o->address, ours))
        return INTAKE_FOREIGN;
    rest = *delimiter ? after(local, ours, delimiter)
           : str_eq(local, ours) ? ""
                                 : local;
    if (!rest)
        return INTAKE_FOREIGN;
    if (!*rest)
        return INTAKE_PLAY;
    if (!secret_is_shaped(rest))
        return INTAKE_FOREIGN;
    (void)str_copy(ret_token, SECRET_SIZE, rest);
    return INTAKE_PLAY;
}

/* ------------------------------------------------------------------------------- the token */

struct candidate {
    bool has, conflict;
    unsigned char hash[DIGEST_SIZE];
};

static void candidate_hash(struct candidate *c, const unsigned char hash[DIGEST_SIZE])
{
    if (c->has && memcmp(c->hash, hash, DIGEST_SIZE) != 0)
        c->conflict = true;
    memcpy(c->hash, hash, DIGEST_SIZE);
    c->has = true;
}

static void candidate_token(struct candidate *c, const char *token)
{
    unsigned char hash[DIGEST_SIZE];

    secret_hash(token, hash);
    candidate_hash(c, hash);
}

/* "reply.TOKEN@…", whatever stands behind the @: relays rewrite much, but hardly this. */
static void candidate_reference(struct candidate *c, const char *id)
{
    static const char prefix[] = "reply.";
    const char *at = strchr(id, '@');
    char token[SECRET_SIZE];
    size_t n;

    if (!at || strncmp(id, prefix, sizeof prefix - 1) != 0)
        return;
    id += sizeof prefix - 1;
    n = (size_t)(at - id);
    if (n != SECRET_SIZE - 1)
        return;
    for (size_t i = 0; i < n; i++)
        token[i] = char_lower(id[i]);
    token[n] = '\0';
    if (secret_is_shaped(token))
        candidate_token(c, token);
}

static struct candidate find_candidate(const struct intake_options *o, const struct inbox_row *row,
                                       const struct letter *letter, bool *ret_in_references)
{
    struct candidate c = {.has = false};
    char token[SECRET_SIZE];

    *ret_in_references = false;
    if (row->has_token)
        candidate_hash(&c, row->token_hash);
    for (size_t i = 0; i < letter->recipient_count; i++)
        if (recipient_read(o, letter->recipients[i].address, token) == INTAKE_PLAY && *token)
            candidate_token(&c, token);
    if (c.has)
        return c;
    for (size_t i = 0; i < letter->reference_count; i++)
        candidate_reference(&c, letter->references[i]);
    candidate_reference(&c, letter->in_reply_to);
    *ret_in_references = c.has;
    return c;
}

/* ------------------------------------------------------------------------------- the whole */

static bool is_believed(enum intake_dmarc policy, enum auth_verdict auth)
{
    switch (policy) {
    case INTAKE_DMARC_IGNORE:
        return true;
    case INTAKE_DMARC_PREFER:
        return auth != AUTH_FAIL;
    case INTAKE_DMARC_REQUIRE:
        return auth == AUTH_PASS;
    }
    return false;
}

static bool is_open(const struct user_row *user)
{
    return user->disabled_at == UTC_NONE;
}

enum status sender_find(const struct intake_options *o, struct store_conn *conn,
                        const struct inbox_row *row, const struct letter *letter,
                        struct sender *ret, struct err *err)
{
    struct sender s = {.verdict = SENDER_STRANGER};
    struct candidate c = find_candidate(o, row, letter, &s.was_in_references);
    char key[ADDRESS_MAX + 1] = "";
    enum status st;

    s.auth = authres_judge((const char *const *)letter->authentication_results,
                           letter->authentication_result_count,
                           o->authserv_id ? o->authserv_id : "", letter->from_domain);
    s.is_believed = letter->has_from && is_believed(o->dmarc, s.auth);
    if (letter->has_from && strlen(letter->from) <= ADDRESS_MAX)
        address_fold(letter->from, key);
    if (c.has && !c.conflict) {
        st = tokens_find(conn, c.hash, &s.token, err);
        if (st != ST_OK && st != ST_NOT_FOUND)
            return st;
        s.has_token = st == ST_OK;
    }
    if (s.has_token) {
        st = users_get(conn, s.token.user_id, &s.user, err);
        if (st != ST_OK)
            return st;
        s.has_user = true;
        if (!is_open(&s.user))
            s.verdict = SENDER_STRANGER;
        else if (!key[0])
            s.verdict = SENDER_NO_FROM;
        else
            s.verdict = s.is_believed && s.user.verified_at != UTC_NONE &&
                                str_eq(s.user.address_key, key)
                            ? SENDER_OWNER
                            : SENDER_FOREIGN;
    } else if (key[0] && s.is_believed) {
        st = users_find_address(conn, key, &s.user, err);
        if (st != ST_OK && st != ST_NOT_FOUND)
            return st;
        s.has_user = st == ST_OK;
        if (s.has_user && is_open(&s.user))
            s.verdict = c.conflict ? SENDER_CONFLICT : SENDER_NO_TOKEN;
    }
    *ret = s;
    return ST_OK;
}
