/* names.c: ids, patterns and exported names of tools (names.h). All data fits on the stack, so that naming a tool
 * cannot fail. */
#include "catalog/names.h"

#include "base/str.h"
#include "base/sha256.h"
#include "text/unicode.h"

enum {
    PROVIDER_LEAST = 12,   /* bytes that a provider keeps if the tool's part is cut */
    WORD_LEAST = 8,        /* minimum bytes of a word that is cut */
    UNREADABLE_DIGITS = 6, /* digits of the hash of a text without a readable form */
    DIGITS_MIN = 4,        /* digits of the first attempt */
    DIGITS_MAX = 16,       /* maximum digits of an attempt */
    WORDS_MAX = READABLE_SOURCE / 2 + 1,
};

bool wt__pattern_of_ids(struct str pattern)
{
    return memchr(pattern.ptr, '/', pattern.len) != NULL;
}

bool wt__pattern_fits(struct str pattern, struct str id, struct str name)
{
    return wt__glob_matches(pattern, name) || (wt__pattern_of_ids(pattern) && wt__glob_matches(pattern, id));
}

static char lower_ascii(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

static bool contains_ignoring_case(struct str text, struct str part)
{
    for (size_t at = 0; at + part.len <= text.len; at++) {
        size_t i = 0;
        while (i < part.len && lower_ascii(text.ptr[at + i]) == lower_ascii(part.ptr[i]))
            i++;
        if (i == part.len)
            return true;
    }
    return false;
}

bool wt__list_pattern_fits(struct str pattern, struct str id, struct str name)
{
    bool glob = pattern.len > 0 && (memchr(pattern.ptr, '*', pattern.len) || memchr(pattern.ptr, '?', pattern.len));
    return glob ? wt__pattern_fits(pattern, id, name) : contains_ignoring_case(id, pattern);
}

void wt__tool_id(struct buffer *out, struct str provider, struct str name)
{
    wt__buffer_str(out, provider);
    if (provider.len > 0)
        wt__buffer_char(out, '/');
    wt__buffer_str(out, name);
}

struct str wt__name_stem(struct str name)
{
    return wt__str_cut(name, WT_MAX_NAME_BYTES - NAME_NUMBER_MAX);
}

struct str wt__name_without_number(struct str name)
{
    size_t len = name.len;
    while (len > 0 && wt__is_digit(name.ptr[len - 1]))
        len--;
    return len > 1 && len < name.len && name.ptr[len - 1] == '~' ? (struct str){name.ptr, len - 1} : name;
}

/* ---------------------------------------------------------------- readable text */

static bool is_word_letter(char c)
{
    return wt__is_letter(c) || wt__is_digit(c);
}

/* Latin letters without a canonical decomposition, and their ASCII forms. */
static const struct {
    uint32_t letter;
    const char *plain;
} latin[] = {
    {0xc6, "AE"}, {0xd0, "D"},  {0xd8, "O"},  {0xde, "Th"}, {0xdf, "ss"}, {0xe6, "ae"}, {0xf0, "d"},   {0xf8, "o"},
    {0xfe, "th"}, {0x110, "D"}, {0x111, "d"}, {0x131, "i"}, {0x141, "L"}, {0x142, "l"}, {0x152, "OE"}, {0x153, "oe"},
};

struct readable_writer {
    char *out;
    size_t len;
    char between; /* separator before the next letter: 0, '-', or '_' */
};

static void put_letter(struct readable_writer *w, char c)
{
    if (w->len + 2 > READABLE_SOURCE)
        return;
    if (w->between && w->len > 0)
        w->out[w->len++] = w->between;
    w->between = 0;
    w->out[w->len++] = c;
}

/* Writes the ASCII form of a character, or notes a separator. */
static void put_character(struct readable_writer *w, uint32_t c)
{
    uint32_t parts[UNICODE_MAX_DECOMPOSED];
    unsigned count = wt__unicode_decompose(c, parts);
    if (parts[0] < 0x80 && is_word_letter((char)parts[0])) {
        put_letter(w, (char)parts[0]);
        return;
    }
    if (count == 1 && wt__unicode_kind(c) == UNICODE_MARK)
        return; /* mark of the letter before it */
    for (size_t i = 0; i < sizeof latin / sizeof latin[0]; i++) {
        if (latin[i].letter == parts[0]) {
            for (const char *plain = latin[i].plain; *plain; plain++)
                put_letter(w, *plain);
            return;
        }
    }
    w->between = c == '-' && !w->between ? '-' : '_';
}

size_t wt__readable(char out[READABLE_SOURCE], struct str text)
{
    struct readable_writer w = {.out = out};
    if (text.len == 0)
        return 0;
    const char *at = text.ptr, *end = text.ptr + (text.len < READABLE_SOURCE ? text.len : READABLE_SOURCE);
    while (at < end) {
        if (is_word_letter(*at))
            put_letter(&w, *at++);
        else
            put_character(&w, wt__utf8_next(&at, end));
    }
    return w.len;
}

/* True if a word begins at text[i]. */
static bool word_begins(const char *text, size_t i)
{
    bool upper = text[i] >= 'A' && text[i] <= 'Z', after_upper = text[i - 1] >= 'A' && text[i - 1] <= 'Z';
    return !is_word_letter(text[i]) || (upper && !after_upper);
}

size_t wt__readable_cut(const char *text, size_t len, size_t max)
{
    if (len <= max)
        return len;
    size_t cut = max;
    while (cut > max / 2 && !word_begins(text, cut))
        cut--;
    if (cut <= max / 2)
        cut = max;
    while (cut > 0 && !is_word_letter(text[cut - 1]))
        cut--;
    return cut;
}

bool wt__is_form_word(struct str word)
{
    static const char *const words[] = {
        "api",    "apis",        "rest",          "restful",       "openapi",  "swagger",     "spec",       "specs",
        "schema", "json",        "http",          "specification", "official", "public",      "definition", "document",
        "docs",   "definitions", "documentation", "mcp",           "server",   "description", "version",    "reference",
    };
    return wt__str_among(word, words, sizeof words / sizeof words[0]);
}

bool wt__is_small_word(struct str word)
{
    static const char *const words[] = {"the", "of", "for", "and", "a", "an", "by", "with", "to", "in", "on", "from"};
    return wt__str_among(word, words, sizeof words / sizeof words[0]);
}

/* ---------------------------------------------------------------- the provider's part */

struct name_part {
    char text[READABLE_SOURCE];
    size_t len;
    size_t scope; /* bytes of text from before the last '/' of the provider */
};

/* Writes `digits` hexadecimal digits of a SHA-256. */
static void put_digits(char *out, size_t digits, const unsigned char sha256[32])
{
    for (size_t i = 0; i < digits; i++)
        out[i] = "0123456789abcdef"[sha256[i / 2] >> (i % 2 ? 0 : 4) & 15];
}

/* Fills a part with the readable form of text, or with digits of its hash if it has none. */
static void read_name_part(struct name_part *part, struct str text)
{
    part->len = wt__readable(part->text, text);
    part->scope = 0;
    if (text.len > 0 && part->len == 0) {
        unsigned char sha256[32];
        wt__sha256(text.ptr, text.len, sha256);
        put_digits(part->text, UNREADABLE_DIGITS, sha256);
        part->len = UNREADABLE_DIGITS;
    }
}

static void read_provider(struct name_part *part, struct str provider)
{
    const char *slash = provider.len > 0 ? memrchr(provider.ptr, '/', provider.len) : NULL;
    char scope[READABLE_SOURCE];
    read_name_part(part, provider);
    if (slash)
        part->scope = wt__readable(scope, (struct str){provider.ptr, (size_t)(slash - provider.ptr)});
}

struct provider_words {
    struct str word[WORDS_MAX];
    bool gone[WORDS_MAX]; /* the word was removed */
    size_t count;
    size_t left, bytes; /* number of words that are not gone, and their joined length */
};

static void split_words(struct provider_words *words, const struct name_part *part)
{
    *words = (struct provider_words){0};
    for (size_t at = 0, end; at < part->len; at = end + 1) {
        for (end = at; end < part->len && is_word_letter(part->text[end]); end++)
            ;
        words->word[words->count++] = (struct str){part->text + at, end - at};
    }
    words->left = words->count;
    words->bytes = part->len;
}

/* Removes a word, unless it was removed before or is the only word left. */
static void drop_word(struct provider_words *words, size_t i)
{
    if (words->gone[i] || words->left == 1)
        return;
    words->gone[i] = true;
    words->left--;
    words->bytes -= words->word[i].len + 1;
}

/* Removes whole words until at most max bytes are left: first generic words, then words of the scope, then words from
 * the end. If the only word left is too long, it is cut to max bytes, or removed if max is less than WORD_LEAST. */
static void shorten_part(struct name_part *part, size_t max)
{
    struct provider_words words;
    if (part->len <= max)
        return;
    split_words(&words, part);
    for (size_t i = words.count; i-- > 0 && words.bytes > max;)
        if (wt__is_form_word(words.word[i]) || wt__is_small_word(words.word[i]))
            drop_word(&words, i);
    for (size_t i = words.count; i-- > 0 && words.bytes > max;)
        if (words.word[i].ptr < part->text + part->scope)
            drop_word(&words, i);
    for (size_t i = words.count; i-- > 0 && words.bytes > max;)
        drop_word(&words, i);
    size_t len = 0;
    for (size_t i = 0; i < words.count; i++) {
        if (words.gone[i])
            continue;
        if (len > 0)
            part->text[len++] = words.word[i].ptr[-1];
        memmove(part->text + len, words.word[i].ptr, words.word[i].len);
        len += words.word[i].len;
    }
    part->len = len <= max || max >= WORD_LEAST ? wt__readable_cut(part->text, len, max) : 0;
    part->scope = 0;
}

/* ---------------------------------------------------------------- the name */

/* Writes the digits for an attempt, from 1. Each attempt has other digits, and later attempts have more digits, since
 * the names of the earlier attempts are taken. Returns the number of digits. */
static size_t attempt_digits(struct str provider, struct str name, unsigned attempt, char out[DIGITS_MAX])
{
    struct sha256 sha;
    unsigned char sha256[32];
    size_t digits = DIGITS_MIN * attempt < DIGITS_MAX ? DIGITS_MIN * attempt : DIGITS_MAX;
    wt__sha256_begin(&sha);
    wt__sha256_update(&sha, provider.ptr, provider.len);
    wt__sha256_update(&sha, "/", 1);
    wt__sha256_update(&sha, name.ptr, name.len);
    for (unsigned i = 1; i < attempt; i++)
        wt__sha256_update(&sha, "~", 1);
    wt__sha256_end(&sha, sha256);
    put_digits(out, digits, sha256);
    return digits;
}

/* True if a '_' must precede the part, since an exported name begins with a letter or '_'. */
static bool needs_underscore(const struct name_part *part)
{
    return part->len > 0 && !wt__is_letter(part->text[0]);
}

/* Cuts both parts so that the name has at most `room` bytes. The name also includes "__" between the parts, and a '_'
 * at the start if the first part does not begin with a letter. */
static void fit_parts(struct name_part *provider, struct name_part *tool, size_t room)
{
    size_t least = provider->len < PROVIDER_LEAST ? provider->len : PROVIDER_LEAST;
    if (tool->len + needs_underscore(tool) > room)
        tool->len = wt__readable_cut(tool->text, tool->len, room - 1 - (least > 0 ? least + 2 : 0));
    size_t left = room - tool->len;
    shorten_part(provider, left > 2 ? left - 2 : 0);
    if (needs_underscore(provider) && 1 + provider->len + 2 > left)
        shorten_part(provider, provider->len - 1);
}

static size_t append_str(char *out, size_t len, struct str text)
{
    memcpy(out + len, text.ptr, text.len);
    return len + text.len;
}

size_t wt__export_name(struct str provider, struct str name, unsigned attempt, char out[EXPORT_NAME_MAX + 1])
{
    struct name_part before, tool;
    char digits[DIGITS_MAX];
    size_t digit_count = attempt ? attempt_digits(provider, name, attempt, digits) : 0, len = 0;
    read_provider(&before, provider);
    read_name_part(&tool, name);
    fit_parts(&before, &tool, EXPORT_NAME_MAX - (attempt ? 1 + digit_count : 0));
    if (needs_underscore(before.len > 0 ? &before : &tool))
        out[len++] = '_';
    if (before.len > 0) {
        len = append_str(out, len, (struct str){before.text, before.len});
        len = append_str(out, len, STR("__"));
    }
    len = append_str(out, len, (struct str){tool.text, tool.len});
    if (attempt) {
        out[len++] = '_';
        len = append_str(out, len, (struct str){digits, digit_count});
    }
    out[len] = '\0';
    return len;
}
