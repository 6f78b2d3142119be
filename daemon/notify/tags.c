/* notify/tags.c - what stands in links and addresses of letters: unsubscribe tokens, VERP, reply
 * addresses; see notify.h. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include "base/str.h"
#include "notify/internal.h"

static const char base32[] = "abcdefghijklmnopqrstuvwxyz234567";

static void hmac(const unsigned char key[NOTIFY_KEY_SIZE], const char *purpose, const void *bytes,
                 size_t size, unsigned char ret[crypto_auth_hmacsha256_BYTES])
{
    crypto_auth_hmacsha256_state state;

    (void)crypto_auth_hmacsha256_init(&state, key, NOTIFY_KEY_SIZE);
    (void)crypto_auth_hmacsha256_update(&state, (const unsigned char *)purpose,
                                        strlen(purpose) + 1);
    (void)crypto_auth_hmacsha256_update(&state, bytes, size);
    (void)crypto_auth_hmacsha256_final(&state, ret);
}

/* n bytes as characters, five bits each, and a NUL; returns how many. */
static size_t base32_put(const unsigned char *bytes, size_t n, char *ret)
{
    unsigned bits = 0, have = 0;
    size_t used = 0;

    for (size_t i = 0; i < n; i++) {
        bits = bits << 8 | bytes[i];
        for (have += 8; have >= 5; have -= 5)
            ret[used++] = base32[bits >> (have - 5) & 31u];
        bits &= (1u << have) - 1u;
    }
    if (have > 0)
        ret[used++] = base32[bits << (5 - have) & 31u];
    ret[used] = '\0';
    return used;
}

/* The value of a character in either case; -1. */
static int base32_value(char c)
{
    const char *at;

    at = c != '\0' ? strchr(base32, char_lower(c)) : NULL;
    return at != NULL ? (int)(at - base32) : -1;
}

/* ---------------------------------------------------------------- unsubscribing */

/*
 * 16 bytes in base32: ten of MAC over six plain ones, and those hidden under a key stream made of
 * that MAC; so the same letter has the same token, two letters' tokens share nothing to be seen,
 * and nobody can make one.  The plain ones are user and class, or the beginning of a keyed hash of
 * an address.
 */
enum { TOKEN_MAC = 10, TOKEN_PLAIN = 6, TOKEN_BYTES = TOKEN_MAC + TOKEN_PLAIN };
_Static_assert((int)TOKEN_PLAIN == (int)ADDRESS_BLOCK_SIZE, "an address's hash is what is plain");

static void token_put(const struct notify *n, const char *purpose,
                      const unsigned char plain[TOKEN_PLAIN], char ret[UNSUBSCRIBE_TOKEN_SIZE])
{
    unsigned char mac[crypto_auth_hmacsha256_BYTES], stream[crypto_auth_hmacsha256_BYTES],
        bytes[TOKEN_BYTES];

    hmac(n->key, purpose, plain, TOKEN_PLAIN, mac);
    hmac(n->key, "hide", mac, TOKEN_MAC, stream);
    memcpy(bytes, mac, TOKEN_MAC);
    for (int i = 0; i < TOKEN_PLAIN; i++)
        bytes[TOKEN_MAC + i] = plain[i] ^ stream[i];
    (void)base32_put(bytes, sizeof bytes, ret);
}

static bool token_read(const struct notify *n, const char *purpose, const char *token,
                       unsigned char ret_plain[TOKEN_PLAIN])
{
    unsigned char bytes[TOKEN_BYTES] = {0}, stream[crypto_auth_hmacsha256_BYTES],
                  mac[crypto_auth_hmacsha256_BYTES];
    unsigned bits = 0, have = 0;
    size_t used = 0, length = strlen(token);

    if (length != UNSUBSCRIBE_TOKEN_SIZE - 1)
        return false;
    for (size_t i = 0; i < length; i++) {
        int value = base32_value(token[i]);

        if (value < 0)
            return false;
        bits = bits << 5 | (unsigned)value;
        have += 5;
        if (have >= 8 && used < TOKEN_BYTES) {
            bytes[used++] = (unsigned char)(bits >> (have - 8));
            have -= 8;
            bits &= (1u << have) - 1u;
        }
    }
    if (bits != 0) /* one token has one spelling */
        return false;
    hmac(n->key, "hide", bytes, TOKEN_MAC, stream);
    for (int i = 0; i < TOKEN_PLAIN; i++)
        ret_plain[i] = bytes[TOKEN_MAC + i] ^ stream[i];
    hmac(n->key, purpose, ret_plain, TOKEN_PLAIN, mac);
    return sodium_memcmp(mac, bytes, TOKEN_MAC) == 0;
}

void unsubscribe_token(const struct notify *n, int64_t user_id, enum notice_class cls,
                       char ret[UNSUBSCRIBE_TOKEN_SIZE])
{
    unsigned char plain[TOKEN_PLAIN];

    assert(user_id > 0 && user_id < INT64_C(1) << 40);
    for (int i = 0; i < 5; i++)
        plain[i] = (unsigned char)(user_id >> (32 - 8 * i));
    plain[5] = (unsigned char)cls;
    token_put(n, "unsubscribe", plain, ret);
}

void address_block_hash(const struct notify *n, const char *address_key,
                        unsigned char ret[ADDRESS_BLOCK_SIZE])
{
    unsigned char mac[crypto_auth_hmacsha256_BYTES];

    hmac(n->key, "address", address_key, strlen(address_key), mac);
    memcpy(ret, mac, ADDRESS_BLOCK_SIZE);
}

void unsubscribe_address_token(const struct notify *n, const char *address_key,
                               char ret[UNSUBSCRIBE_TOKEN_SIZE])
{
    unsigned char plain[ADDRESS_BLOCK_SIZE];

    address_block_hash(n, address_key, plain);
    token_put(n, "unsubscribe address", plain, ret);
}

static enum status not_ours(struct err *err)
{
    return err_detail(err, REASON_LINK_EXPIRED, "refusal.unsubscribe_foreign",
                      "this unsubscribe link is not one of ours");
}

enum status unsubscribe_read(void *notify, const char *token, int64_t *ret_user_id,
                             enum notice_class *ret_class, struct err *err)
{
    const struct notify *n = notify;
    unsigned char plain[TOKEN_PLAIN];
    int64_t user_id = 0;

    if (token_read(n, "unsubscribe address", token, plain)) {
        *ret_user_id = 0;
        *ret_class = NOTICE_INVITATION;
        return ST_OK;
    }
    if (!token_read(n, "unsubscribe", token, plain) || plain[5] >= NOTICE_CLASS_COUNT_)
        return not_ours(err);
    for (int i = 0; i < 5; i++)
        user_id = user_id << 8 | plain[i];
    *ret_user_id = user_id;
    *ret_class = (enum notice_class)plain[5];
    return ST_OK;
}

enum status unsubscribe_address_block(void *notify, struct store_txn *txn, const char *token,
                                      utc_ms now, struct err *err)
{
    unsigned char plain[TOKEN_PLAIN];

    if (!token_read(notify, "unsubscribe address", token, plain))
        return not_ours(err);
    return address_blocks_put(txn, plain, now, err);
}

/* ---------------------------------------------------------------- addresses with a tag */

static bool is_set(const char *text)
{
    return text != NULL && text[0] != '\0';
}

/* play@example.org and a tag → play+TAG@example.org; with a delimiter of "" the tag alone. */
static void tagged(const char *address, const char *delimiter, const char *tag,
                   char ret[ADDRESS_SIZE])
{
    const char *at = strrchr(address, '@');
    size_t local = (size_t)(at - address);

    if (delimiter[0] == '\0')
        (void)snprintf(ret, ADDRESS_SIZE, "%s%s", tag, at);
    else
        (void)snprintf(ret, ADDRESS_SIZE, "%.*s%s%s%s", (int)local, address, delimiter, tag, at);
}

static const char *delimiter_of(const struct notify *n)
{
    return is_set(n->options.reply_delimiter) ? n->options.reply_delimiter : "";
}

/* Where the tag may not be the whole local part, since other addresses of ours stand beside it. */
static const char *delimiter_or_hyphen(const struct notify *n)
{
    return is_set(n->options.reply_delimiter) ? n->options.reply_delimiter : "-";
}

/* The longest id: 63 bits. */
enum { VERP_ID_CHARS = 13, VERP_MAC_BYTES = 7 };

static enum status check_one(const char *name, const char *address, size_t tag, struct err *err)
{
    if (!mail_address_is_ok(address))
        return err_set(err, ST_INVALID, "%s: \"%.80s\" is not a mail address", name, address);
    if (strcspn(address, "@") + 1 + tag > NOTIFY_LOCAL_MAX)
        return err_set(err, ST_INVALID, "%s: at most %d characters may stand before the \"@\"",
                       name, (int)(NOTIFY_LOCAL_MAX - 1 - tag));
    return ST_OK;
}

enum status tags_check(const struct notify_options *o, struct err *err)
{
    enum status st = ST_OK;

    if (is_set(o->reply_delimiter) && strlen(o->reply_delimiter) != 1)
        return err_set(err, ST_INVALID, "the delimiter of reply addresses must be one character");
    if (is_set(o->reply_address))
        st = check_one("the address for play by mail", o->reply_address, SECRET_SIZE - 1, err);
    if (st == ST_OK && is_set(o->bounce_address))
        st = check_one("the address for bounces", o->bounce_address,
                       VERP_ID_CHARS + 1 + VERP_MAC_CHARS, err);
    if (st == ST_OK && is_set(o->unsubscribe_address))
        st = check_one("the address for unsubscribing", o->unsubscribe_address,
                       UNSUBSCRIBE_TOKEN_SIZE - 1, err);
    return st;
}

bool notify_takes_answers(const struct notify *n)
{
    return is_set(n->options.reply_address);
}

void reply_address(const struct notify *n, const char *token, char ret[ADDRESS_SIZE])
{
    tagged(n->options.reply_address, delimiter_of(n), token, ret);
}

const char *unsubscribe_mailto(const struct notify *n, const char *token, char ret[ADDRESS_SIZE])
{
    if (!is_set(n->options.unsubscribe_address))
        return NULL;
    tagged(n->options.unsubscribe_address, delimiter_or_hyphen(n), token, ret);
    return ret;
}

/* ---------------------------------------------------------------- VERP */

static void verp_mac(const struct notify *n, int64_t outbox_id, char ret[VERP_MAC_CHARS + 1])
{
    unsigned char mac[crypto_auth_hmacsha256_BYTES];
    char whole[16], id[24];

    (void)snprintf(id, sizeof id, "%" PRId64, outbox_id);
    hmac(n->verp_key, "verp", id, strlen(id), mac);
    (void)base32_put(mac, VERP_MAC_BYTES, whole);
    memcpy(ret, whole, VERP_MAC_CHARS);
    ret[VERP_MAC_CHARS] = '\0';
}

void verp_address(const struct notify *n, int64_t outbox_id, char ret[ADDRESS_SIZE])
{
    char tag[VERP_ID_CHARS + VERP_MAC_CHARS + 2], id[VERP_ID_CHARS + 1], mac[VERP_MAC_CHARS + 1];
    size_t used = sizeof id - 1;

    assert(outbox_id > 0);
    ret[0] = '\0';
    if (!is_set(n->options.bounce_address))
        return;
    id[used] = '\0';
    for (int64_t rest = outbox_id; rest > 0; rest >>= 5)
        id[--used] = base32[rest & 31];
    verp_mac(n, outbox_id, mac);
    (void)snprintf(tag, sizeof tag, "%s.%s", id + used, mac);
    tagged(n->options.bounce_address, delimiter_or_hyphen(n), tag, ret);
}

enum status verp_read(void *notify, const char *local_part, int64_t *ret_outbox_id,
                      struct err *err)
{
    const struct notify *n = notify;
    const char *base = n->options.bounce_address, *delimiter = delimiter_or_hyphen(n), *p;
    char mac[VERP_MAC_CHARS + 1], given[VERP_MAC_CHARS + 1];
    size_t local, used = 0;
    int64_t id = 0;

    if (!is_set(base))
        goto bad;
    local = strcspn(base, "@");
    if (strlen(local_part) <= local + 1 || strlen(local_part) > NOTIFY_LOCAL_MAX ||
        local_part[local] != delimiter[0])
        goto bad;
    for (size_t i = 0; i < local; i++) {
        const char a[2] = {local_part[i], '\0'}, b[2] = {base[i], '\0'};

        if (!str_case_eq(a, b))
            goto bad;
    }
    for (p = local_part + local + 1; *p != '\0' && *p != '.'; p++) {
        int value = base32_value(*p);

        if (value < 0 || id > INT64_MAX >> 5 || (id == 0 && value == 0))
            goto bad; /* no number of ours; one number has one spelling */
        id = id << 5 | value;
    }
    if (id == 0 || *p != '.')
        goto bad;
    for (p++; *p != '\0' && used < VERP_MAC_CHARS; p++) {
        int value = base32_value(*p);

        if (value < 0)
            goto bad;
        given[used++] = base32[value];
    }
    if (*p != '\0' || used != VERP_MAC_CHARS)
        goto bad;
    verp_mac(n, id, mac);
    if (sodium_memcmp(mac, given, VERP_MAC_CHARS) != 0)
        goto bad;
    *ret_outbox_id = id;
    return ST_OK;
bad:
    return err_reason(err, REASON_LINK_EXPIRED, "this bounce address is not one of ours");
}
