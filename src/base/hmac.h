/* hmac.h: HMAC-SHA256 (RFC 2104) and constant-time comparison. */
#ifndef WT_BASE_HMAC_H
#define WT_BASE_HMAC_H

#include "base/sha256.h"
#include "base/str.h"

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
