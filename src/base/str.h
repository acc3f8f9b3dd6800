/* str.h: a view of bytes that somebody else owns. */
#ifndef WT_BASE_STR_H
#define WT_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct str {
    const char *ptr; /* need not end in NUL; may be NULL when len is 0 */
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

/* Whether text is one of these words, in upper or lower case. */
bool wt__str_among(struct str text, const char *const *words, size_t count);

/* ASCII alone; no locale has a say. */
static inline bool wt__is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool wt__is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* 0 to 15; -1 for what is no hexadecimal digit. */
static inline int wt__hex_digit(char c)
{
    if (wt__is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* An ASCII blank. */
static inline bool wt__is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The next line of *text that is not empty, which *text then stands behind; false where there is none. */
bool wt__str_line(const char **text, struct str *line);

/* s without the blanks at both ends. */
struct str wt__str_trim(struct str s);

/* The beginning of a text, at most so many bytes: cut between two words, or between two characters of a very long one.
 */
struct str wt__str_head(struct str text, size_t most);

/* How many bytes it begins with that are the same in JSON: printable ASCII, but for quotation marks and backslashes. */
size_t wt__str_plain(struct str s);

/* Length of the valid UTF-8 sequence at text[0..len), len > 0; 0 if it is invalid, overlong or a surrogate. */
size_t wt__utf8_length(const char *text, size_t len);

#endif
