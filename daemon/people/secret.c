/* Secrets: made, told by their shape, and stored as hashes only. */
#include <sodium.h>
#include <string.h>

#include "people/people.h"

static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz234567";

static void fill(void *arg, void *bytes, size_t n)
{
    (void)arg;
    randombytes_buf(bytes, n);
}

static void sha256(void *arg, const void *bytes, size_t n, unsigned char ret[DIGEST_SIZE])
{
    (void)arg;
    _Static_assert((int)DIGEST_SIZE == (int)crypto_hash_sha256_BYTES, "SHA-256");
    (void)crypto_hash_sha256(ret, bytes, n);
}

void fingerprint_make(const unsigned char key[FINGERPRINT_KEY_SIZE], const void *bytes, size_t n,
                      unsigned char ret[FINGERPRINT_SIZE])
{
    _Static_assert((int)FINGERPRINT_SIZE == (int)crypto_shorthash_siphashx24_BYTES, "128 bits");
    _Static_assert((int)FINGERPRINT_KEY_SIZE == (int)crypto_shorthash_siphashx24_KEYBYTES, "key");
    (void)crypto_shorthash_siphashx24(ret, bytes, n, key);
}

enum status people_init(struct err *err)
{
    if (sodium_init() < 0)
        return err_set(err, ST_INTERNAL, "libsodium does not start");
    return ST_OK;
}

struct entropy people_entropy(void)
{
    return (struct entropy){.fill = fill};
}

struct digest people_digest(void)
{
    return (struct digest){.sha256 = sha256};
}

void secret_make(const struct people *p, char ret[SECRET_SIZE])
{
    unsigned char bytes[SECRET_SIZE - 1];

    p->entropy.fill(p->entropy.arg, bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        ret[i] = alphabet[bytes[i] & 31];
    ret[SECRET_SIZE - 1] = '\0';
    sodium_memzero(bytes, sizeof bytes);
}

bool secret_is_shaped(const char *text)
{
    return strlen(text) == SECRET_SIZE - 1 && strspn(text, alphabet) == SECRET_SIZE - 1;
}

void secret_hash(const char *secret, unsigned char ret[DIGEST_SIZE])
{
    (void)crypto_hash_sha256(ret, (const unsigned char *)secret, strlen(secret));
}
