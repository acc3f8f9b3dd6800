/* dialect.c: see dialect.h. */
#include "store/dialect.h"

#include <string.h>

/* ---------------------------------------------------------------- statements */

static bool is_sql_word_character(char c)
{
    return wt__is_letter(c) || wt__is_digit(c) || c == '_';
}

static size_t measure_sql_word(const char *at)
{
    size_t len = 0;
    while (is_sql_word_character(at[len]))
        len++;
    return len;
}

/* Returns the text behind the blanks at `at`. */
static const char *skip_sql_blanks(const char *at)
{
    return at + strspn(at, " \n");
}

/* Returns the text behind `words`, which are separated by single blanks, if they stand at `at`; else NULL. */
static const char *after_words(const char *at, const char *words)
{
    size_t len = strlen(words);
    return strncmp(at, words, len) == 0 && !is_sql_word_character(at[len]) ? at + len : NULL;
}

/* True if the word is followed by the name of a table. */
static bool is_before_table(const char *at, size_t len)
{
    static const char *const words[] = {"FROM", "JOIN", "INTO", "UPDATE", "TABLE"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == len && memcmp(at, words[i], len) == 0)
            return true;
    return false;
}

static const char *copy_quoted(struct buffer *out, const char *at)
{
    const char *end = strchr(at + 1, *at);
    size_t len = end ? (size_t)(end - at) + 1 : strlen(at);
    wt__buffer_append(out, at, len);
    return at + len;
}

/* Translates the word at `at`. Returns the text behind it. */
static const char *translate_word(struct buffer *out, const char *at, const char *schema)
{
    const char *after;
    if (after_words(at, "CROSS JOIN"))
        return at + strlen("CROSS ");
    if ((after = after_words(at, "NOT INDEXED")))
        return after;
    if ((after = after_words(at, "INDEXED BY"))) {
        after = skip_sql_blanks(after);
        return after + measure_sql_word(after);
    }
    size_t len = measure_sql_word(at);
    wt__buffer_append(out, at, len);
    const char *next = skip_sql_blanks(at + len);
    if (!is_before_table(at, len) || *next < 'a' || *next > 'z')
        return at + len;
    wt__buffer_printf(out, " \"%s\".", schema);
    return next;
}

void wt__dialect_translate(struct buffer *out, const char *sql, const char *schema)
{
    for (const char *at = sql; *at;) {
        if (*at == '\'' || *at == '"') {
            at = copy_quoted(out, at);
        } else if (*at == '?') {
            wt__buffer_char(out, '$');
            at++;
        } else if (*at == 'x' && at[1] == '\'') {
            wt__buffer_text(out, "'\\x");
            size_t digits = strcspn(at + 2, "'");
            wt__buffer_append(out, at + 2, digits);
            wt__buffer_text(out, "'::bytea");
            at += digits + 3;
        } else if (is_sql_word_character(*at)) {
            at = translate_word(out, at, schema);
        } else {
            wt__buffer_char(out, *at++);
        }
    }
}

/* ---------------------------------------------------------------- texts */

/* UTF-8 of U+10FF00 to U+10FFFF: F4 8F BC 80 to F4 8F BF BF. */
#define ENCODED_HEAD "\xf4\x8f"
enum { ENCODED_BYTES = 4, ENCODED_THIRD = 0xbc };

static bool is_encoded_at(const char *at, size_t len)
{
    return len >= ENCODED_BYTES && memcmp(at, ENCODED_HEAD, 2) == 0 && (unsigned char)at[2] >= ENCODED_THIRD;
}

/* Returns the length of the character at the start of the text if it is stored as it is, else 0. */
static size_t plain_length(const char *at, size_t len)
{
    return *at == '\0' || is_encoded_at(at, len) ? 0 : wt__utf8_length(at, len);
}

bool wt__dialect_is_plain(struct str text)
{
    for (size_t i = 0; i < text.len;) {
        size_t len = (unsigned char)text.ptr[i] - 1u < 0x7f ? 1 : plain_length(text.ptr + i, text.len - i);
        if (len == 0)
            return false;
        i += len;
    }
    return true;
}

void wt__dialect_encode(struct buffer *out, struct str text)
{
    for (size_t i = 0; i < text.len;) {
        size_t len = plain_length(text.ptr + i, text.len - i);
        if (len > 0) {
            wt__buffer_append(out, text.ptr + i, len);
            i += len;
            continue;
        }
        unsigned char byte = (unsigned char)text.ptr[i++];
        const unsigned char encoded[] = {0xf4, 0x8f, (unsigned char)(ENCODED_THIRD + (byte >> 6)),
                                         (unsigned char)(0x80 + (byte & 0x3f))};
        wt__buffer_append(out, encoded, sizeof encoded);
    }
}

bool wt__dialect_is_encoded(struct str stored)
{
    const char *at = stored.ptr, *end = stored.ptr + stored.len;
    while (at < end && (at = memchr(at, 0xf4, (size_t)(end - at)))) {
        if (is_encoded_at(at, (size_t)(end - at)))
            return true;
        at++;
    }
    return false;
}

void wt__dialect_decode(struct buffer *out, struct str stored)
{
    for (size_t i = 0; i < stored.len;) {
        const char *at = stored.ptr + i;
        if (is_encoded_at(at, stored.len - i)) {
            wt__buffer_char(out, (char)(((unsigned char)at[2] - ENCODED_THIRD) << 6 | ((unsigned char)at[3] & 0x3f)));
            i += ENCODED_BYTES;
        } else {
            wt__buffer_char(out, *at);
            i++;
        }
    }
}
