/* sha256.h: SHA-256 (FIPS 180-4), HMAC-SHA256 (RFC 2104) and constant-time comparison. */
#ifndef WT_BASE_SHA256_H
#define WT_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct sha256 {
    uint32_t state[8];
    uint64_t len;
    unsigned char block[64];
};

void wt__sha256_begin(struct sha256 *sha);
void wt__sha256_update(struct sha256 *sha, const void *bytes, size_t len);
void wt__sha256_end(struct sha256 *sha, unsigned char digest[32]);
void wt__sha256(const void *bytes, size_t len, unsigned char digest[32]);
/* Writes 64 lower-case hexadecimal digits and a NUL. */
void wt__sha256_hex(const unsigned char digest[32], char hex[65]);

struct hmac {
    struct sha256 inner, outer;
};

/* Starts a MAC. The key may have any length. */
void wt__hmac_begin(struct hmac *hmac, struct str key);
void wt__hmac_update(struct hmac *hmac, const void *bytes, size_t len);
void wt__hmac_end(struct hmac *hmac, unsigned char mac[32]);

/* True if the bytes are equal. The time does not depend on their content. */
bool wt__same_secret(const void *a, const void *b, size_t len);

#endif
