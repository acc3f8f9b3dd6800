/* seal.c: see seal.h. The text is the base64 of
 *
 *   mac 32   over a label, the end, the subject's digest, and the payload
 *   end 8    milliseconds, big-endian
 *   payload */
#include "serve/mcp/seal.h"

#include "base/base64.h"
#include "base/hmac.h"
#include "serve/mcp/service.h"

enum { MAC_BYTES = 32, END_BYTES = 8 };

static const char label[] = "whichtool requestState 1";

/* Hashes a part after its length, so that different subjects cannot give the same input. */
static void digest_part(struct sha256 *sha, struct str part)
{
    unsigned char length[8];
    for (unsigned i = 0; i < 8; i++)
        length[i] = (unsigned char)((uint64_t)part.len >> (56 - 8 * i));
    wt__sha256_update(sha, length, sizeof length);
    if (part.len > 0)
        wt__sha256_update(sha, part.ptr, part.len);
}

static bool digest_subject(unsigned char digest[32], const struct mcp_sealed_for *subject)
{
    struct sha256 sha;
    char *arguments = subject->arguments ? json_dumps(subject->arguments, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    if (subject->arguments && !arguments)
        return false;
    wt__sha256_begin(&sha);
    digest_part(&sha, wt__str(subject->principal));
    digest_part(&sha, subject->method);
    digest_part(&sha, subject->name);
    digest_part(&sha, arguments ? wt__str(arguments) : STR("{}"));
    wt__sha256_end(&sha, digest);
    free(arguments);
    return true;
}

static void compute_mac(unsigned char mac[MAC_BYTES], const unsigned char key[32], const unsigned char digest[32],
                        struct str sealed)
{
    struct hmac hmac;
    wt__hmac_begin(&hmac, (struct str){(const char *)key, 32});
    wt__hmac_update(&hmac, label, sizeof label);
    wt__hmac_update(&hmac, digest, 32);
    wt__hmac_update(&hmac, sealed.ptr, sealed.len);
    wt__hmac_end(&hmac, mac);
}

bool wt__mcp_seal(struct buffer *out, const unsigned char key[32], const struct mcp_sealed_for *subject, double ends_ms,
                  struct str payload)
{
    struct buffer sealed = {0};
    unsigned char digest[32], mac[MAC_BYTES] = {0}, end[END_BYTES];
    uint64_t ends = ends_ms > 0 ? (uint64_t)ends_ms : 0;
    if (!digest_subject(digest, subject))
        return false;
    for (unsigned i = 0; i < END_BYTES; i++)
        end[i] = (unsigned char)(ends >> (56 - 8 * i));
    wt__buffer_append(&sealed, mac, sizeof mac);
    wt__buffer_append(&sealed, end, sizeof end);
    wt__buffer_str(&sealed, payload);
    if (!sealed.failed) {
        compute_mac(mac, key, digest, (struct str){sealed.ptr + MAC_BYTES, sealed.len - MAC_BYTES});
        memcpy(sealed.ptr, mac, sizeof mac);
        wt__base64_url(out, wt__buffer_view(&sealed));
    }
    bool done = !sealed.failed && !out->failed;
    wt__buffer_dispose(&sealed);
    return done;
}

const char *wt__mcp_unseal(struct buffer *payload, const unsigned char key[32], const struct mcp_sealed_for *subject,
                           double now_ms, struct str state)
{
    struct buffer sealed = {0};
    unsigned char digest[32], mac[MAC_BYTES];
    uint64_t ends = 0;
    const char *reason = NULL;
    if (state.len > MCP_STATE_BYTES_MAX || !wt__base64_url_decode(&sealed, state) ||
        sealed.len < MAC_BYTES + END_BYTES || sealed.failed || !digest_subject(digest, subject)) {
        wt__buffer_dispose(&sealed);
        return "is not one of ours";
    }
    compute_mac(mac, key, digest, (struct str){sealed.ptr + MAC_BYTES, sealed.len - MAC_BYTES});
    for (size_t i = 0; i < END_BYTES; i++)
        ends = ends << 8 | (unsigned char)sealed.ptr[MAC_BYTES + i];
    if (!wt__same_secret(mac, sealed.ptr, MAC_BYTES))
        reason = "is not one of ours for this request";
    else if (now_ms > (double)ends)
        reason = "has expired; send the request without it";
    else
        wt__buffer_append(payload, sealed.ptr + MAC_BYTES + END_BYTES, sealed.len - MAC_BYTES - END_BYTES);
    wt__buffer_dispose(&sealed);
    return reason;
}
