#include "wire/compact.h"

#include "text/unicode.h"
#include "whichtool.h"

enum { DIGITS_MAX = 18 }; /* of a number that no integer of 64 bits is too small for */

struct look {
    const char *at, *end;
    unsigned depth;
};

static bool take(struct look *look, char c)
{
    if (look->at == look->end || *look->at != c)
        return false;
    look->at++;
    return true;
}

/* Plain characters, and the escapes that have one form. */
static bool string(struct look *look)
{
    if (!take(look, '"'))
        return false;
    const char *begin = look->at;
    bool ascii = true;
    while (look->at < look->end && *look->at != '"') {
        unsigned char c = (unsigned char)*look->at++;
        if (c < 0x20 || c == 0x7F)
            return false;
        ascii &= c < 0x80;
        if (c == '\\' && (look->at == look->end || !memchr("\"\\bfnrt", *look->at++, 7)))
            return false;
    }
    struct str text = {begin, (size_t)(look->at - begin)};
    return take(look, '"') && (ascii || wt__utf8_valid(text));
}

/* A whole number; "-0" is none, for it is written as 0. */
static bool number(struct look *look)
{
    bool negative = take(look, '-');
    const char *begin = look->at;
    while (look->at < look->end && *look->at >= '0' && *look->at <= '9')
        look->at++;
    size_t digits = (size_t)(look->at - begin);
    if (digits == 0 || digits > DIGITS_MAX || (*begin == '0' && (digits > 1 || negative)))
        return false;
    return look->at == look->end || !memchr(".eE", *look->at, 3);
}

static bool word(struct look *look, struct str word)
{
    if ((size_t)(look->end - look->at) < word.len || memcmp(look->at, word.ptr, word.len) != 0)
        return false;
    look->at += word.len;
    return true;
}

static bool value(struct look *look);

static bool members(struct look *look, char close, bool keyed)
{
    bool fine = ++look->depth <= WT_MAX_JSON_DEPTH;
    look->at++;
    if (!take(look, close)) {
        do
            fine = fine && (!keyed || (string(look) && take(look, ':'))) && value(look);
        while (fine && take(look, ','));
        fine = fine && take(look, close);
    }
    look->depth--;
    return fine;
}

static bool value(struct look *look)
{
    switch (look->at < look->end ? *look->at : '\0') {
    case '{':
        return members(look, '}', true);
    case '[':
        return members(look, ']', false);
    case '"':
        return string(look);
    case 't':
        return word(look, STR("true"));
    case 'f':
        return word(look, STR("false"));
    case 'n':
        return word(look, STR("null"));
    default:
        return number(look);
    }
}

bool wt__is_compact(struct str text)
{
    struct look look = {text.ptr, text.ptr + text.len, 0};
    return text.len > 0 && value(&look) && look.at == look.end;
}
