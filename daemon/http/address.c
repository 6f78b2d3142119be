#include "http/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "base/str.h"

static const unsigned char mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

struct address address_of(const struct sockaddr *sa)
{
    struct address address = {.is_local = true};

    if (sa && sa->sa_family == AF_INET) {
        struct sockaddr_in in;

        memcpy(&in, sa, sizeof in);
        memcpy(address.bytes, mapped, sizeof mapped);
        memcpy(address.bytes + 12, &in.sin_addr, 4);
        address.is_local = false;
    } else if (sa && sa->sa_family == AF_INET6) {
        struct sockaddr_in6 in6;

        memcpy(&in6, sa, sizeof in6);
        memcpy(address.bytes, &in6.sin6_addr, 16);
        address.is_local = false;
    }
    return address;
}

bool address_parse(const char *text, size_t len, struct address *ret)
{
    char host[INET6_ADDRSTRLEN + 1];
    struct in_addr in;
    struct in6_addr in6;
    struct address got = {.is_local = false};

    while (len > 0 && (*text == ' ' || *text == '\t' || *text == '"')) {
        text++;
        len--;
    }
    while (len > 0 && (text[len - 1] == ' ' || text[len - 1] == '\t' || text[len - 1] == '"'))
        len--;
    if (len > 0 && *text == '[') {
        const char *end = memchr(text, ']', len);

        if (!end)
            return false;
        len = (size_t)(end - text - 1);
        text++;
    } else {
        const char *colon = memchr(text, ':', len);

        /* One colon parts an IPv4 address from a port; an IPv6 one has more. */
        if (colon && !memchr(colon + 1, ':', len - (size_t)(colon + 1 - text)))
            len = (size_t)(colon - text);
    }
    if (len == 0 || len >= sizeof host)
        return false;
    memcpy(host, text, len);
    host[len] = '\0';
    if (inet_pton(AF_INET, host, &in) == 1) {
        memcpy(got.bytes, mapped, sizeof mapped);
        memcpy(got.bytes + 12, &in, 4);
    } else if (inet_pton(AF_INET6, host, &in6) == 1) {
        memcpy(got.bytes, &in6, 16);
    } else {
        return false;
    }
    *ret = got;
    return true;
}

enum status network_parse(const char *text, struct network *ret, struct err *err)
{
    const char *slash = strchr(text, '/');
    size_t len = slash ? (size_t)(slash - text) : strlen(text);
    struct network got = {.prefix = 128};
    struct address address;
    bool is_v4;

    if (!address_parse(text, len, &address))
        return err_set(err, ST_INVALID,
                       "'%s' is not an address or network such as 10.0.0.0/8 or ::1", text);
    is_v4 = memcmp(address.bytes, mapped, sizeof mapped) == 0;
    memcpy(got.bytes, address.bytes, sizeof got.bytes);
    if (slash) {
        int64_t bits;

        if (!str_to_int64(slash + 1, 0, is_v4 ? 32 : 128, &bits))
            return err_set(err, ST_INVALID, "'%s': the prefix must be a number from 0 to %d", text,
                           is_v4 ? 32 : 128);
        got.prefix = (unsigned)bits + (is_v4 ? 96u : 0u);
    }
    *ret = got;
    return ST_OK;
}

bool network_has(const struct network *network, const struct address *address)
{
    unsigned whole = network->prefix / 8, bits = network->prefix % 8;

    if (address->is_local)
        return false;
    if (memcmp(network->bytes, address->bytes, whole) != 0)
        return false;
    if (bits == 0)
        return true;
    return ((network->bytes[whole] ^ address->bytes[whole]) >> (8 - bits)) == 0;
}

bool networks_have(const struct network *networks, size_t n, const struct address *address)
{
    if (address->is_local)
        return true;
    for (size_t i = 0; i < n; i++)
        if (network_has(&networks[i], address))
            return true;
    return false;
}

struct address address_of_client(const struct address *peer, const char *forwarded,
                                 const struct network *trusted, size_t n_trusted)
{
    struct address client = *peer;
    const char *end = forwarded ? forwarded + strlen(forwarded) : NULL;

    while (end && networks_have(trusted, n_trusted, &client)) {
        const char *start = end;
        struct address next;

        while (start > forwarded && start[-1] != ',')
            start--;
        if (!address_parse(start, (size_t)(end - start), &next))
            break;
        client = next;
        end = start > forwarded ? start - 1 : NULL;
    }
    return client;
}

uint64_t address_hash(const struct address *address, uint64_t salt)
{
    /* FNV-1a with a salt and a last mixing: the table it indexes is small and private. */
    uint64_t h = UINT64_C(0xcbf29ce484222325) ^ salt;
    size_t n = memcmp(address->bytes, mapped, sizeof mapped) == 0 ? 16 : 8;

    if (address->is_local)
        n = 0;
    for (size_t i = 0; i < n; i++)
        h = (h ^ address->bytes[i]) * UINT64_C(0x100000001b3);
    h ^= h >> 32;
    h *= UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

bool address_is_same(const struct address *a, const struct address *b)
{
    return a->is_local == b->is_local && memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}
