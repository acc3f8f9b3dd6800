/* names.c: see names.h. A part is cut at PART_MAX bytes before it is escaped, so that everything fits on the stack and
 * naming a tool cannot fail. That changes nothing: a part so long is hashed under every rule, and the hash is of the
 * whole id. */
#include "catalog/names.h"

#include "base/sha256.h"

enum {
    PART_MAX = 2 * WIRE_MAX, /* bytes of one part that are looked at: more is too long under every rule */
    HASH_DIGITS = 16,
    TAIL = 2 + HASH_DIGITS, /* "_h" and the digits */
    DRAFT_MAX = 2 * 4 * PART_MAX + 2 + 4,
};

static const struct wire_rule rules[] = {
    {"openai", "-", 64, false},     {"openai-responses", "-", 64, false},
    {"anthropic", "-", 128, false}, {"gemini", "-.:", 64, true},
    {"mcp", "-.", 128, false},
};

const struct wire_rule *wt__wire_rule(struct str format)
{
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (wt__str_equal(format, wt__str(rules[i].name)))
            return &rules[i];
    return NULL;
}

void wt__tool_id(struct buffer *out, struct str provider, struct str name)
{
    wt__buffer_str(out, provider);
    if (provider.len > 0)
        wt__buffer_char(out, '/');
    wt__buffer_str(out, name);
}

uint64_t wt__id_hash(struct str provider, struct str name)
{
    struct sha256 sha;
    unsigned char digest[32];
    wt__sha256_begin(&sha);
    wt__sha256_update(&sha, provider.ptr, provider.len);
    if (provider.len > 0)
        wt__sha256_update(&sha, "/", 1);
    wt__sha256_update(&sha, name.ptr, name.len);
    wt__sha256_end(&sha, digest);
    uint64_t hash = 0;
    for (int i = 0; i < 8; i++)
        hash = hash << 8 | digest[i];
    return hash;
}

/* ---------------------------------------------------------------- escaping */

static bool letter_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool hex_digit(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

static int hex_value(char c)
{
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

static bool allowed(const char *extra, char c)
{
    return letter_or_digit(c) || c == '_' || (c != '\0' && strchr(extra, c));
}

static size_t put_escape(char *out, char c)
{
    static const char digits[] = "0123456789abcdef";
    out[0] = '_';
    out[1] = 'x';
    out[2] = digits[(unsigned char)c >> 4];
    out[3] = digits[(unsigned char)c & 15];
    return 4;
}

/* Whether decoding would take what begins at part[i] for an escape. */
static bool looks_escaped(struct str part, size_t i)
{
    return i + 3 < part.len && part.ptr[i] == '_' && part.ptr[i + 1] == 'x' && hex_digit(part.ptr[i + 2]) &&
           hex_digit(part.ptr[i + 3]);
}

/* Escapes one part into out, which has room for 4 bytes a byte. apart: no "__" may arise in it, nor where it meets the
 * separator behind it. */
static size_t escape(char *out, struct str part, const char *extra, bool apart, bool letter_first)
{
    size_t len = 0;
    for (size_t i = 0; i < part.len; i++) {
        char c = part.ptr[i];
        bool last = i + 1 == part.len;
        bool plain = allowed(extra, c) && !looks_escaped(part, i);
        if (plain && apart && c == '_')
            plain = !last && part.ptr[i + 1] != '_' && allowed(extra, part.ptr[i + 1]);
        if (plain && i == 0 && letter_first)
            plain = c == '_' || (letter_or_digit(c) && !(c >= '0' && c <= '9'));
        if (plain)
            out[len++] = c;
        else
            len += put_escape(out + len, c);
    }
    return len;
}

static bool ends_hashed(const char *wire, size_t len)
{
    if (len < TAIL || wire[len - TAIL] != '_' || wire[len - TAIL + 1] != 'h')
        return false;
    for (size_t i = len - HASH_DIGITS; i < len; i++)
        if (!hex_digit(wire[i]))
            return false;
    return true;
}

static struct str bounded(struct str part)
{
    return (struct str){part.ptr, part.len < PART_MAX ? part.len : PART_MAX};
}

/* The escaped name, hashed when it is over max. sum: of the whole. Returns the length in out. */
static size_t finish(char *draft, size_t len, size_t max, uint64_t sum, char *out)
{
    if (ends_hashed(draft, len)) {
        char last = draft[len - 1];
        len += put_escape(draft + len - 1, last) - 1;
    }
    if (len > max) {
        char tail[TAIL + 1];
        tail[0] = '_';
        tail[1] = 'h';
        for (int i = 0; i < HASH_DIGITS; i++)
            tail[2 + i] = "0123456789abcdef"[sum >> (60 - 4 * i) & 15];
        memcpy(draft + max - TAIL, tail, TAIL);
        len = max;
    }
    memcpy(out, draft, len);
    out[len] = '\0';
    return len;
}

size_t wt__wire_name(const struct wire_rule *rule, struct str provider, struct str name, char out[WIRE_MAX + 1])
{
    char draft[DRAFT_MAX];
    size_t len = 0;
    if (provider.len > 0) {
        len = escape(draft, bounded(provider), rule->extra, true, rule->letter_first);
        draft[len++] = '_';
        draft[len++] = '_';
    }
    len += escape(draft + len, bounded(name), rule->extra, provider.len == 0, rule->letter_first && provider.len == 0);
    return finish(draft, len, rule->max, len > rule->max - 4 ? wt__id_hash(provider, name) : 0, out);
}

void wt__wire_escape(struct buffer *out, struct str key, const char *extra, size_t max)
{
    char draft[DRAFT_MAX], name[WIRE_MAX + 1];
    size_t len = escape(draft, bounded(key), extra, false, false);
    wt__buffer_append(out, name, finish(draft, len, max, wt__id_hash((struct str){"", 0}, key), name));
}

/* ---------------------------------------------------------------- decoding */

static void unescape(struct buffer *out, struct str part)
{
    for (size_t i = 0; i < part.len; i++) {
        if (looks_escaped(part, i)) {
            wt__buffer_char(out, (char)(hex_value(part.ptr[i + 2]) << 4 | hex_value(part.ptr[i + 3])));
            i += 3;
        } else {
            wt__buffer_char(out, part.ptr[i]);
        }
    }
}

enum wire_kind wt__wire_decode(struct str wire, struct buffer *provider, struct buffer *name, uint64_t *hash)
{
    *hash = 0;
    if (ends_hashed(wire.ptr, wire.len)) {
        for (size_t i = wire.len - HASH_DIGITS; i < wire.len; i++)
            *hash = *hash << 4 | (uint64_t)hex_value(wire.ptr[i]);
        return WIRE_HASHED;
    }
    const char *separator = wire.len > 0 ? memmem(wire.ptr, wire.len, "__", 2) : NULL;
    if (separator) {
        size_t len = (size_t)(separator - wire.ptr);
        unescape(provider, (struct str){wire.ptr, len});
        wire = (struct str){separator + 2, wire.len - len - 2};
    }
    unescape(name, wire);
    return WIRE_EXACT;
}
