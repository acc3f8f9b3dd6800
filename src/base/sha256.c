/* sha256.c: SHA-256 according to FIPS 180-4. It hashes model files of 90 MB and definitions of tools. SHA instructions
 * of the processor would not be worth a second implementation. */
#include "base/sha256.h"

#include <string.h>

static const uint32_t ROUND[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate_right(uint32_t x, unsigned by)
{
    return x >> by | x << (32 - by);
}

static void expand_block(const unsigned char *block, uint32_t w[64])
{
    for (unsigned i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 | (uint32_t)block[4 * i + 2] << 8 |
               block[4 * i + 3];
    for (unsigned i = 16; i < 64; i++) {
        uint32_t s0 = rotate_right(w[i - 15], 7) ^ rotate_right(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t s1 = rotate_right(w[i - 2], 17) ^ rotate_right(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
}

/* One round; writes d and h. Rotating the arguments of the next round saves moving the eight values. */
#define ROUND_STEP(a, b, c, d, e, f, g, h, i)                                                                          \
    do {                                                                                                               \
        uint32_t t1 = (h) + (rotate_right(e, 6) ^ rotate_right(e, 11) ^ rotate_right(e, 25)) +                         \
                      (((e) & (f)) ^ (~(e) & (g))) + ROUND[i] + w[i];                                                  \
        (d) += t1;                                                                                                     \
        (h) = t1 + (rotate_right(a, 2) ^ rotate_right(a, 13) ^ rotate_right(a, 22)) +                                  \
              (((a) & (b)) ^ ((a) & (c)) ^ ((b) & (c)));                                                               \
    } while (0)

static void compress_block(uint32_t state[8], const unsigned char *block)
{
    uint32_t w[64], s[8];
    expand_block(block, w);
    memcpy(s, state, sizeof s);
    for (unsigned i = 0; i < 64; i += 8) {
        ROUND_STEP(s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], i);
        ROUND_STEP(s[7], s[0], s[1], s[2], s[3], s[4], s[5], s[6], i + 1);
        ROUND_STEP(s[6], s[7], s[0], s[1], s[2], s[3], s[4], s[5], i + 2);
        ROUND_STEP(s[5], s[6], s[7], s[0], s[1], s[2], s[3], s[4], i + 3);
        ROUND_STEP(s[4], s[5], s[6], s[7], s[0], s[1], s[2], s[3], i + 4);
        ROUND_STEP(s[3], s[4], s[5], s[6], s[7], s[0], s[1], s[2], i + 5);
        ROUND_STEP(s[2], s[3], s[4], s[5], s[6], s[7], s[0], s[1], i + 6);
        ROUND_STEP(s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[0], i + 7);
    }
    for (unsigned i = 0; i < 8; i++)
        state[i] += s[i];
}

void wt__sha256_begin(struct sha256 *sha)
{
    *sha = (struct sha256){
        .state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void wt__sha256_update(struct sha256 *sha, const void *data, size_t len)
{
    const unsigned char *bytes = data;
    size_t held = sha->len % sizeof sha->block;
    if (len == 0) /* an empty view may be NULL */
        return;
    sha->len += len;
    if (held) {
        size_t take = sizeof sha->block - held < len ? sizeof sha->block - held : len;
        memcpy(sha->block + held, bytes, take);
        bytes += take;
        len -= take;
        if (held + take < sizeof sha->block)
            return;
        compress_block(sha->state, sha->block);
    }
    for (; len >= sizeof sha->block; bytes += sizeof sha->block, len -= sizeof sha->block)
        compress_block(sha->state, bytes);
    if (len)
        memcpy(sha->block, bytes, len);
}

void wt__sha256_end(struct sha256 *sha, unsigned char digest[32])
{
    static const unsigned char padding[64] = {0x80};
    uint64_t bits = sha->len * 8;
    size_t held = sha->len % 64;
    unsigned char length[8];
    for (unsigned i = 0; i < 8; i++)
        length[i] = (unsigned char)(bits >> (56 - 8 * i));
    wt__sha256_update(sha, padding, held < 56 ? 56 - held : 120 - held);
    wt__sha256_update(sha, length, sizeof length);
    for (unsigned i = 0; i < 32; i++)
        digest[i] = (unsigned char)(sha->state[i / 4] >> (24 - 8 * (i % 4)));
}

void wt__sha256(const void *bytes, size_t len, unsigned char digest[32])
{
    struct sha256 sha;
    wt__sha256_begin(&sha);
    wt__sha256_update(&sha, bytes, len);
    wt__sha256_end(&sha, digest);
}

void wt__sha256_hex(const unsigned char digest[32], char hex[65])
{
    static const char digits[] = "0123456789abcdef";
    for (unsigned i = 0; i < 32; i++) {
        hex[2 * i] = digits[digest[i] >> 4];
        hex[2 * i + 1] = digits[digest[i] & 15];
    }
    hex[64] = '\0';
}

/* ---------------------------------------------------------------- HMAC */

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
