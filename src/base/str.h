/* str.h: a borrowed view of bytes, and name patterns. */
#ifndef WT_BASE_STR_H
#define WT_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct str {
    const char *ptr; /* not necessarily NUL-terminated; may be NULL if len is 0 */
    size_t len;
};

#define STR(literal) ((struct str){(literal), sizeof(literal) - 1})

static inline struct str wt__str(const char *text)
{
    return (struct str){text, text ? strlen(text) : 0};
}

static inline bool wt__str_equal(struct str a, struct str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline bool wt__str_starts(struct str s, struct str prefix)
{
    return s.len >= prefix.len && (prefix.len == 0 || memcmp(s.ptr, prefix.ptr, prefix.len) == 0);
}

/* True if text equals one of the words, ignoring case. */
bool wt__str_among(struct str text, const char *const *words, size_t count);

/* The character tests are for ASCII and ignore the locale. */
static inline bool wt__is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool wt__is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Returns the value 0 to 15 of a hexadecimal digit, or -1. */
static inline int wt__hex_digit(char c)
{
    if (wt__is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* True for an ASCII blank. */
static inline bool wt__is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Returns the next non-empty line of *text and moves *text behind it. Returns false at the end. */
bool wt__str_line(const char **text, struct str *line);

/* Returns s without leading and trailing blanks. */
struct str wt__str_trim(struct str s);

/* True if s is one of the alternatives, which are separated by '|'. */
bool wt__str_is_one_of(struct str s, struct str alternatives);

/* Returns the start of text, at most `most` bytes, cut between characters of UTF-8. */
struct str wt__str_cut(struct str text, size_t most);

/* Returns the start of text, at most `most` bytes, cut between words. A very long word is cut between characters. */
struct str wt__str_head(struct str text, size_t most);

/* Returns the length of the prefix that needs no escaping in JSON: printable ASCII except quotation marks and
 * backslashes. */
size_t wt__str_plain(struct str s);

/* Returns the length of the valid UTF-8 sequence at text[0..len), len > 0; 0 if it is invalid, overlong or a
 * surrogate. */
size_t wt__utf8_length(const char *text, size_t len);

/* Matches a name against a pattern with two wildcards. '*' matches any run of characters, including '/' and the empty
 * run. '?' matches one character. All other characters match themselves, case-sensitively. Time is at most pattern
 * length times text length. */
bool wt__glob_matches(struct str pattern, struct str text);

#endif
