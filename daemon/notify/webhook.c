/* notify/webhook.c - signatures, addresses, retries; see webhook.h. */
#include "notify/webhook.h"

#include <arpa/inet.h>
#include <assert.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <curl/curl.h>
#include <sodium.h>

#include "base/str.h"
#include "notify/internal.h"

/* ---------------------------------------------------------------- signatures */

static void sign_one(struct webhook_key key, const char *id, int64_t timestamp_s, const void *body,
                     size_t n, char *ret, size_t size)
{
    crypto_auth_hmacsha256_state state;
    unsigned char mac[crypto_auth_hmacsha256_BYTES];
    char head[400];
    int length = snprintf(head, sizeof head, "%s.%" PRId64 ".", id, timestamp_s);

    assert(length > 0 && (size_t)length < sizeof head);
    (void)crypto_auth_hmacsha256_init(&state, key.bytes, key.n);
    (void)crypto_auth_hmacsha256_update(&state, (const unsigned char *)head,
                                        (unsigned long long)length);
    (void)crypto_auth_hmacsha256_update(&state, body, n);
    (void)crypto_auth_hmacsha256_final(&state, mac);
    (void)str_copy(ret, size, "v1,");
    (void)sodium_bin2base64(ret + 3, size - 3, mac, sizeof mac, sodium_base64_VARIANT_ORIGINAL);
}

void webhook_sign(struct webhook_key key, struct webhook_key old, const char *id,
                  int64_t timestamp_s, const void *body, size_t n,
                  char ret[WEBHOOK_SIGNATURE_SIZE])
{
    size_t used;

    sign_one(key, id, timestamp_s, body, n, ret, WEBHOOK_SIGNATURE_SIZE);
    if (old.n == 0)
        return;
    used = strlen(ret);
    ret[used++] = ' ';
    sign_one(old, id, timestamp_s, body, n, ret + used, WEBHOOK_SIGNATURE_SIZE - used);
}

void webhook_secret_print(void *notify, const unsigned char *secret, size_t n,
                          char ret[WEBHOOK_SECRET_TEXT_SIZE])
{
    (void)notify;
    assert(n <= 64);
    (void)str_copy(ret, WEBHOOK_SECRET_TEXT_SIZE, "whsec_");
    (void)sodium_bin2base64(ret + 6, WEBHOOK_SECRET_TEXT_SIZE - 6, secret, n,
                            sodium_base64_VARIANT_ORIGINAL);
}

/* ---------------------------------------------------------------- addresses */

static bool net_has(const unsigned char *net, int bits, const unsigned char *address)
{
    int bytes = bits / 8, rest = bits % 8;

    if (memcmp(net, address, (size_t)bytes) != 0)
        return false;
    return rest == 0 || (net[bytes] ^ address[bytes]) >> (8 - rest) == 0;
}

static void map_v4(const unsigned char v4[4], unsigned char ret[16])
{
    memset(ret, 0, 10);
    ret[10] = ret[11] = 0xff;
    memcpy(ret + 12, v4, 4);
}

static bool is_mapped(const unsigned char address[16])
{
    static const unsigned char head[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

    return memcmp(address, head, sizeof head) == 0;
}

/* "192.0.2.1" or "2001:db8::1", v4 mapped into v6. */
static bool address_read(const char *text, unsigned char ret[16], bool *ret_is_v4)
{
    unsigned char v4[4];

    if (inet_pton(AF_INET, text, v4) == 1) {
        map_v4(v4, ret);
        *ret_is_v4 = true;
        return true;
    }
    *ret_is_v4 = false;
    return inet_pton(AF_INET6, text, ret) == 1;
}

enum status net_list_add(struct net_list *list, const char *text, struct err *err)
{
    char address[64];
    const char *slash = strchr(text, '/');
    struct net net = {.bits = 128};
    int64_t bits = 0;
    bool is_v4 = false;

    if (list->count == NETS_MAX)
        return err_set(err, ST_TOO_LARGE, "more than %d networks", NETS_MAX);
    if (!str_copy(address, sizeof address, text))
        goto bad;
    if (slash != NULL)
        address[slash - text] = '\0';
    if (!address_read(address, net.address, &is_v4))
        goto bad;
    if (slash != NULL) {
        if (!str_to_int64(slash + 1, 0, is_v4 ? 32 : 128, &bits))
            goto bad;
        net.bits = (int)bits + (is_v4 ? 96 : 0);
    }
    list->at[list->count++] = net;
    return ST_OK;
bad:
    return err_set(err, ST_INVALID, "not a network: \"%.60s\"; write 10.1.2.0/24 or fd00::/8",
                   text);
}

static bool net_list_has(const struct net_list *list, const unsigned char address[16])
{
    for (size_t i = 0; list != NULL && i < list->count; i++)
        if (net_has(list->at[i].address, list->at[i].bits, address))
            return true;
    return false;
}

static const char *denied_v4(const unsigned char a[4])
{
    static const struct {
        unsigned char net[4];
        int bits;
        const char *what;
    } table[] = {
        {{0, 0, 0, 0}, 8, "this network"},
        {{10, 0, 0, 0}, 8, "private"},
        {{100, 64, 0, 0}, 10, "shared (carrier)"},
        {{127, 0, 0, 0}, 8, "loopback"},
        {{169, 254, 0, 0}, 16, "link-local"},
        {{172, 16, 0, 0}, 12, "private"},
        {{192, 0, 0, 0}, 24, "reserved"},
        {{192, 0, 2, 0}, 24, "documentation"},
        {{192, 88, 99, 0}, 24, "relay"},
        {{192, 168, 0, 0}, 16, "private"},
        {{198, 18, 0, 0}, 15, "benchmarking"},
        {{198, 51, 100, 0}, 24, "documentation"},
        {{203, 0, 113, 0}, 24, "documentation"},
        {{224, 0, 0, 0}, 4, "multicast"},
        {{240, 0, 0, 0}, 4, "reserved"},
    };

    for (size_t i = 0; i < COUNT_OF(table); i++)
        if (net_has(table[i].net, table[i].bits, a))
            return table[i].what;
    return NULL;
}

static const char *denied_v6(const unsigned char a[16])
{
    static const struct {
        unsigned char net[16];
        int bits;
        int embedded; /* where a v4 address stands in it; -1: nowhere */
        const char *what;
    } table[] = {
        {{0}, 128, -1, "unspecified"},
        {{[15] = 1}, 128, -1, "loopback"},
        {{[10] = 0xff, [11] = 0xff}, 96, 12, NULL},
        {{0}, 96, 12, NULL},
        {{0x00, 0x64, 0xff, 0x9b}, 96, 12, NULL},
        {{0x00, 0x64, 0xff, 0x9b, 0x00, 0x01}, 48, -1, "translated"},
        {{0x01, 0x00}, 64, -1, "discard"},
        {{0x20, 0x01, 0x00, 0x00}, 23, -1, "reserved"},
        {{0x20, 0x01, 0x0d, 0xb8}, 32, -1, "documentation"},
        {{0x20, 0x02}, 16, 2, NULL},
        {{0xfc, 0x00}, 7, -1, "private"},
        {{0xfe, 0x80}, 10, -1, "link-local"},
        {{0xfe, 0xc0}, 10, -1, "site-local"},
        {{0xff, 0x00}, 8, -1, "multicast"},
    };

    for (size_t i = 0; i < COUNT_OF(table); i++) {
        if (!net_has(table[i].net, table[i].bits, a))
            continue;
        if (table[i].embedded < 0)
            return table[i].what;
        return denied_v4(a + table[i].embedded);
    }
    /* only what is handed out for use in the world (2000::/3) is left */
    return (a[0] & 0xe0) == 0x20 ? NULL : "reserved";
}

static const char *denied_bytes(const struct net_list *allow, const unsigned char a[16])
{
    if (net_list_has(allow, a))
        return NULL;
    return is_mapped(a) ? denied_v4(a + 12) : denied_v6(a);
}

const char *address_denied(const struct net_list *allow, const struct sockaddr *address)
{
    unsigned char bytes[16];

    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)address;

        map_v4((const unsigned char *)&v4->sin_addr, bytes);
    } else if (address->sa_family == AF_INET6) {
        memcpy(bytes, &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr, 16);
    } else {
        return "no internet address";
    }
    return denied_bytes(allow, bytes);
}

/* Without brackets and zone. */
static bool literal_read(const char *text, unsigned char ret[16])
{
    char bare[80];
    size_t n;
    bool is_v4;

    if (!str_copy(bare, sizeof bare, text[0] == '[' ? text + 1 : text))
        return false;
    n = strcspn(bare, "]%");
    bare[n] = '\0';
    return address_read(bare, ret, &is_v4);
}

/* address_denied() of a literal, as URLs have it; NULL also when text is no literal address. */
static const char *literal_denied(const struct net_list *allow, const char *text)
{
    unsigned char bytes[16];

    return literal_read(text, bytes) ? denied_bytes(allow, bytes) : NULL;
}

/* A literal address that only the allow-list opens: then http and any port will do. */
static bool literal_is_allowed(const struct net_list *allow, const char *text)
{
    unsigned char bytes[16];

    return literal_read(text, bytes) && net_list_has(allow, bytes);
}

enum status webhook_url_check(const struct net_list *allow, const char *url, struct buf *ret,
                              struct err *err)
{
    CURLU *u = curl_url();
    char *scheme = NULL, *host = NULL, *port = NULL, *fragment = NULL, *whole = NULL;
    int64_t port_number = 0;
    const char *denied;
    bool is_allowed;
    enum status st = ST_OK;

    if (u == NULL)
        return err_set(err, ST_NOMEM, "url");
    for (const unsigned char *p = (const unsigned char *)url; *p != '\0'; p++)
        if (*p <= 0x20 || *p >= 0x7f || *p == '\\') {
            st = err_detail(err, REASON_BAD_FIELD, "refusal.url_characters",
                            "no blanks, backslashes, control or non-ASCII characters");
            goto out;
        }
    if (curl_url_set(u, CURLUPART_URL, url, CURLU_DISALLOW_USER | CURLU_NON_SUPPORT_SCHEME) !=
            CURLUE_OK ||
        curl_url_get(u, CURLUPART_SCHEME, &scheme, 0) != CURLUE_OK ||
        curl_url_get(u, CURLUPART_HOST, &host, 0) != CURLUE_OK ||
        curl_url_get(u, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) != CURLUE_OK ||
        curl_url_get(u, CURLUPART_URL, &whole, 0) != CURLUE_OK) {
        st = err_detail(err, REASON_BAD_FIELD, "refusal.url_shape",
                        "must be an https address without user and password");
        goto out;
    }
    is_allowed = literal_is_allowed(allow, host);
    if (!str_eq(scheme, "https") && !(str_eq(scheme, "http") && is_allowed)) {
        st = err_detail(err, REASON_BAD_FIELD, "refusal.url_https", "must begin with https://");
        goto out;
    }
    if (curl_url_get(u, CURLUPART_FRAGMENT, &fragment, 0) == CURLUE_OK) {
        st = err_detail(err, REASON_BAD_FIELD, "refusal.url_fragment", "must have no # fragment");
        goto out;
    }
    if (!str_to_int64(port, 1, 65535, &port_number) ||
        (port_number != 443 && port_number < 1024 && !is_allowed)) {
        st = err_detail(err, REASON_BAD_FIELD, "refusal.url_port",
                        "the port must be 443, or 1024 and up");
        goto out;
    }
    denied = literal_denied(allow, host);
    if (denied != NULL || str_case_eq(host, "localhost")) {
        st = ERR_DETAIL(err, REASON_BLOCKED_ADDRESS, "refusal.url_denied",
                        "that address is not allowed (`{kind}`)",
                        ERR_TEXT("kind", denied ? denied : "loopback"));
        goto out;
    }
    buf_puts(ret, whole);
    st = buf_status(ret, "a webhook's address", err);
out:
    curl_free(scheme);
    curl_free(host);
    curl_free(port);
    curl_free(fragment);
    curl_free(whole);
    curl_url_cleanup(u);
    return st;
}

enum status webhook_check(void *notify, const char *url, enum webhook_kind kind, struct buf *ret,
                          struct err *err)
{
    const struct notify *n = notify;
    struct buf normal = buf_make(8192);
    enum status st = webhook_url_check(&n->allow, url, &normal, err);

    if (st != ST_OK)
        goto out;
    if (kind == WEBHOOK_NTFY) {
        const char *path = strstr(normal.data, "://") + 3;
        const char *topic = strrchr(path, '/');

        if (topic == NULL || topic[1] == '\0' || strchr(topic, '?') != NULL) {
            st = err_detail(err, REASON_BAD_FIELD, "refusal.url_ntfy",
                            "for ntfy the topic must be the last part of the path");
            goto out;
        }
    }
    buf_add(ret, normal.data, normal.len);
    st = buf_status(ret, "a webhook's address", err);
out:
    buf_release(&normal);
    return st;
}

/* ---------------------------------------------------------------- retries */

static int64_t spread(int64_t ms, uint32_t random)
{
    /* 0.8 … 1.2 times */
    return ms * 4 / 5 + (int64_t)((uint64_t)(ms * 2 / 5) * random / UINT32_MAX);
}

int64_t webhook_retry_ms(int attempt, uint32_t random)
{
    static const int64_t after[] = {5 * MS_SECOND, 5 * MS_MINUTE, 30 * MS_MINUTE,
                                    2 * MS_HOUR,   5 * MS_HOUR,   10 * MS_HOUR,
                                    14 * MS_HOUR,  20 * MS_HOUR,  24 * MS_HOUR};

    if (attempt < 1 || (size_t)attempt > COUNT_OF(after))
        return -1;
    return spread(after[attempt - 1], random);
}

int64_t mail_retry_ms(int attempt, uint32_t random)
{
    static const int64_t after[] = {MS_MINUTE,   5 * MS_MINUTE, 15 * MS_MINUTE, MS_HOUR,
                                    3 * MS_HOUR, 6 * MS_HOUR,   12 * MS_HOUR,   24 * MS_HOUR};

    if (attempt < 1)
        return -1;
    return spread(after[(size_t)attempt > COUNT_OF(after) ? COUNT_OF(after) - 1
                                                          : (size_t)attempt - 1],
                  random);
}

int64_t retry_after_ms(const char *value, utc_ms now)
{
    int64_t seconds = 0, ms;
    time_t at;

    while (*value == ' ' || *value == '\t')
        value++;
    if (str_to_int64(value, 0, 366 * 86400, &seconds)) {
        ms = seconds * MS_SECOND;
    } else {
        at = curl_getdate(value, NULL);
        if (at == (time_t)-1)
            return -1;
        ms = (int64_t)at * MS_SECOND - now;
        if (ms < 0)
            ms = 0;
    }
    return ms > MS_DAY ? MS_DAY : ms;
}
