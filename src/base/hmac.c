#include "base/hmac.h"

enum { BLOCK_BYTES = 64 };

void wt__hmac_begin(struct hmac *hmac, struct str key)
{
    unsigned char pad[BLOCK_BYTES] = {0};
    if (key.len > BLOCK_BYTES)
        wt__sha256(key.ptr, key.len, pad);
    else if (key.len > 0)
        memcpy(pad, key.ptr, key.len);
    for (size_t i = 0; i < BLOCK_BYTES; i++)
        pad[i] ^= 0x36;
    wt__sha256_begin(&hmac->inner);
    wt__sha256_update(&hmac->inner, pad, sizeof pad);
    for (size_t i = 0; i < BLOCK_BYTES; i++)
        pad[i] ^= 0x36 ^ 0x5c;
    wt__sha256_begin(&hmac->outer);
    wt__sha256_update(&hmac->outer, pad, sizeof pad);
}

void wt__hmac_update(struct hmac *hmac, const void *bytes, size_t len)
{
    wt__sha256_update(&hmac->inner, bytes, len);
}

void wt__hmac_end(struct hmac *hmac, unsigned char mac[32])
{
    unsigned char digest[32];
    wt__sha256_end(&hmac->inner, digest);
    wt__sha256_update(&hmac->outer, digest, sizeof digest);
    wt__sha256_end(&hmac->outer, mac);
}

bool wt__same_secret(const void *a, const void *b, size_t len)
{
    const volatile unsigned char *left = a, *right = b;
    unsigned char different = 0;
    for (size_t i = 0; i < len; i++)
        different |= left[i] ^ right[i];
    return different == 0;
}
