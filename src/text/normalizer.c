/* normalizer.c: runs the passes of a normaliser on one character at a time. ASCII that no pass changes takes a fast
 * path. See normalizer.h.
 *
 * Stripping is the first pass in one set of passes and the last in the other. Here it always runs first. The result is
 * the same, because the other passes create blanks only from blanks. */
#include "text/normalizer.h"

#include "text/unicode.h"

enum { UNIT_BYTES = 4 };

#define LABEL_MASK 0x800000FFU /* label and top bit; only leaves have the top bit, so a leaf never matches a label */
#define VALUE_MASK 0x7FFFFFFFU

static uint32_t read_unit(const unsigned char *bytes)
{
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* Returns a unit, or 0 if the index is out of range. 0 never matches a label. */
static uint32_t read_unit_at(const struct precompiled *p, size_t index)
{
    return index < p->unit_count ? read_unit(p->units + index * UNIT_BYTES) : 0;
}

static size_t unit_offset(uint32_t unit)
{
    return (size_t)(unit >> 10) << ((unit & 0x200) >> 6);
}

bool wt__precompiled_open(struct precompiled *out, struct str map)
{
    *out = (struct precompiled){0};
    if (map.len < UNIT_BYTES)
        return false;
    const unsigned char *bytes = (const unsigned char *)map.ptr;
    size_t trie = read_unit(bytes);
    if (trie % UNIT_BYTES != 0 || trie > map.len - UNIT_BYTES)
        return false;
    out->units = bytes + UNIT_BYTES;
    out->unit_count = trie / UNIT_BYTES;
    out->replacements = (struct str){map.ptr + UNIT_BYTES + trie, map.len - UNIT_BYTES - trie};
    return true;
}

bool wt__precompiled_find(const struct precompiled *p, struct str text, struct str *replacement)
{
    size_t at = unit_offset(read_unit_at(p, 0));
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c == 0) /* NUL ends keys */
            return false;
        uint32_t unit = read_unit_at(p, at ^ c);
        if ((unit & LABEL_MASK) != c)
            return false;
        at = at ^ c ^ unit_offset(unit);
        if ((unit >> 8 & 1) == 0) /* no leaf among the children */
            continue;
        size_t start = read_unit_at(p, at) & VALUE_MASK;
        if (start >= p->replacements.len)
            return false;
        const char *from = p->replacements.ptr + start, *stop = memchr(from, 0, p->replacements.len - start);
        *replacement = (struct str){from, stop ? (size_t)(stop - from) : 0};
        return stop != NULL;
    }
    return false;
}

/* Output of the normaliser. */
struct normalizer_output {
    const struct normalizer *normalizer;
    normalizer_put put;
    void *context;
    bool stopped;                             /* true once `put` has returned false */
    bool spaced;                              /* true if the last character sent was U+0020 */
    uint32_t character[NORMALIZER_CHARACTER]; /* [count] code points to compose: decomposed, in canonical order */
    size_t count;
};

void wt__normalizer_prepare(struct normalizer *n)
{
    for (unsigned c = 0; c < 128; c++) {
        char byte = (char)c;
        struct str replacement;
        n->plain[c] = c >= ' ' && c < 0x7F && !(c == ' ' && n->squeeze_blanks) &&
                      !wt__precompiled_find(&n->map, (struct str){&byte, 1}, &replacement);
    }
}

static void emit_bytes(struct normalizer_output *s, struct str bytes)
{
    const char *at = bytes.ptr, *end = bytes.len > 0 ? at + bytes.len : at;
    if (!s->normalizer->collapse_spaces) {
        s->stopped = s->stopped || !s->put(s->context, bytes);
        return;
    }
    while (at < end && !s->stopped) {
        const char *space = memchr(at, ' ', (size_t)(end - at));
        const char *stop = space == at ? at + 1 : space ? space : end;
        if (space != at || !s->spaced)
            s->stopped = !s->put(s->context, (struct str){at, (size_t)(stop - at)});
        s->spaced = space == at;
        at = stop;
    }
}

static void send_character(struct normalizer_output *s, uint32_t c)
{
    char bytes[4];
    emit_bytes(s, (struct str){bytes, wt__utf8_put(c, bytes)});
}

/* Sends the replacement of a cluster or of a code point. Returns false if the map has no replacement. */
static bool send_mapped(struct normalizer_output *s, struct str cluster)
{
    struct str replacement;
    if (!wt__precompiled_find(&s->normalizer->map, cluster, &replacement))
        return false;
    emit_bytes(s, replacement);
    return true;
}

/* Sends the grapheme cluster at `at`, mapped as a whole or by code point, and returns the end of the cluster. */
static const char *add_cluster(struct normalizer_output *s, const char *at, const char *end)
{
    char bytes[NORMALIZER_CLUSTER + 4];
    const char *stop = at;
    int32_t state = 0;
    uint32_t c = wt__utf8_next(&stop, end);
    size_t len = wt__utf8_put(c, bytes);
    while (stop < end) {
        const char *behind = stop;
        uint32_t next = wt__utf8_next(&behind, end);
        if (!wt__unicode_joins(c, next, &state))
            break;
        c = next;
        stop = behind;
        if (len < NORMALIZER_CLUSTER)
            len += wt__utf8_put(c, bytes + len);
    }
    if (len < NORMALIZER_CLUSTER && send_mapped(s, (struct str){bytes, len}))
        return stop;
    while (at < stop && !s->stopped) {
        struct str character = {bytes, wt__utf8_put(wt__utf8_next(&at, stop), bytes)};
        if (!send_mapped(s, character))
            emit_bytes(s, character);
    }
    return stop;
}

static void finish_character(struct normalizer_output *s)
{
    size_t count = s->count > 1 ? wt__unicode_compose(s->character, s->count) : s->count;
    for (size_t i = 0; i < count; i++)
        send_character(s, s->character[i]);
    s->count = 0;
}

/* True if composition may join c to the characters before it: marks, and later parts of Hangul syllables. */
static bool may_follow(uint32_t c)
{
    return wt__unicode_kind(c) == UNICODE_MARK || (c >= 0x1160 && c <= 0x11FF);
}

static void add_composed(struct normalizer_output *s, uint32_t c)
{
    uint32_t parts[UNICODE_MAX_DECOMPOSED];
    unsigned count = wt__unicode_decompose(c, parts);
    for (unsigned i = 0; i < count; i++) {
        unsigned class = wt__unicode_combining_class(parts[i]);
        if (s->count == NORMALIZER_CHARACTER || (class == 0 && !may_follow(parts[i])))
            finish_character(s);
        size_t place = s->count++;
        for (; class > 0 && place > 0 && wt__unicode_combining_class(s->character[place - 1]) > class; place--)
            s->character[place] = s->character[place - 1];
        s->character[place] = parts[i];
    }
}

/* Sends a run of blanks or one code point at `at`, and returns the position after it. */
static const char *add_squeezed(struct normalizer_output *s, const char *at, const char *end)
{
    const struct normalizer *n = s->normalizer;
    const char *stop = at;
    uint32_t first = wt__utf8_next(&stop, end);
    if (n->squeeze_blanks && wt__unicode_blank(first)) {
        size_t blanks = 1;
        for (const char *behind = stop; behind < end && wt__unicode_blank(wt__utf8_next(&behind, end)); blanks++)
            stop = behind;
        if (blanks > 1 || first == '\n' || first == '\r' || first == '\t')
            first = ' ';
    }
    if (n->compose)
        add_composed(s, first);
    else
        send_character(s, first);
    return stop;
}

/* Returns the number of ASCII bytes from `at` on that no pass changes. Excludes the last byte before a non-ASCII
 * character, because the two may compose. */
static size_t measure_plain_run(const struct normalizer *n, const char *at, const char *end)
{
    size_t left = (size_t)(end - at), most = left < NORMALIZER_RUN ? left : NORMALIZER_RUN, len = 0;
    while (len < most && (unsigned char)at[len] < 0x80 && n->plain[(unsigned char)at[len]])
        len++;
    return len > 0 && len < left && (unsigned char)at[len] >= 0x80 ? len - 1 : len;
}

static struct str strip_blanks(const struct normalizer *n, struct str text)
{
    const char *at = text.ptr, *end = text.len > 0 ? at + text.len : at;
    while (n->strip_left && at < end) {
        const char *behind = at;
        if (!wt__unicode_blank(wt__utf8_next(&behind, end)))
            break;
        at = behind;
    }
    if (n->strip_right)
        end = wt__unicode_trim_end(at, end);
    return (struct str){at, (size_t)(end - at)};
}

void wt__normalizer_run(const struct normalizer *n, struct str text, normalizer_put put, void *context)
{
    struct normalizer_output s;
    bool mapped = n->map.unit_count > 0;
    s.normalizer = n;
    s.put = put;
    s.context = context;
    s.stopped = s.spaced = false;
    s.count = 0;
    text = strip_blanks(n, text);
    for (const char *at = text.ptr, *end = text.len > 0 ? at + text.len : at; at < end && !s.stopped;) {
        size_t plain = measure_plain_run(n, at, end);
        if (plain > 0) {
            finish_character(&s);
            emit_bytes(&s, (struct str){at, plain});
            at += plain;
        } else {
            at = mapped ? add_cluster(&s, at, end) : add_squeezed(&s, at, end);
        }
    }
    finish_character(&s);
}
