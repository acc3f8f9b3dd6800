#include "wire/compact.h"

#include "text/unicode.h"
#include "whichtool.h"

enum { DIGITS_MAX = 18 }; /* maximum digits of a number that always fits into 64 bits */

struct look {
    const char *at, *end;
    unsigned depth;
};

static bool skip_char(struct look *look, char c)
{
    if (look->at == look->end || *look->at != c)
        return false;
    look->at++;
    return true;
}

/* Skips a string of plain characters and escapes with only one form. */
static bool skip_json_string(struct look *look)
{
    if (!skip_char(look, '"'))
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
    return skip_char(look, '"') && (ascii || wt__utf8_valid(text));
}

/* Skips a whole number. False for "-0", because the writer writes 0. */
static bool skip_number(struct look *look)
{
    bool negative = skip_char(look, '-');
    const char *begin = look->at;
    while (look->at < look->end && *look->at >= '0' && *look->at <= '9')
        look->at++;
    size_t digits = (size_t)(look->at - begin);
    if (digits == 0 || digits > DIGITS_MAX || (*begin == '0' && (digits > 1 || negative)))
        return false;
    return look->at == look->end || !memchr(".eE", *look->at, 3);
}

static bool skip_word(struct look *look, struct str word)
{
    if ((size_t)(look->end - look->at) < word.len || memcmp(look->at, word.ptr, word.len) != 0)
        return false;
    look->at += word.len;
    return true;
}

static bool skip_json_value(struct look *look);

static bool skip_members(struct look *look, char close, bool keyed)
{
    bool fine = ++look->depth <= WT_MAX_JSON_DEPTH;
    look->at++;
    if (!skip_char(look, close)) {
        do
            fine = fine && (!keyed || (skip_json_string(look) && skip_char(look, ':'))) && skip_json_value(look);
        while (fine && skip_char(look, ','));
        fine = fine && skip_char(look, close);
    }
    look->depth--;
    return fine;
}

static bool skip_json_value(struct look *look)
{
    switch (look->at < look->end ? *look->at : '\0') {
    case '{':
        return skip_members(look, '}', true);
    case '[':
        return skip_members(look, ']', false);
    case '"':
        return skip_json_string(look);
    case 't':
        return skip_word(look, STR("true"));
    case 'f':
        return skip_word(look, STR("false"));
    case 'n':
        return skip_word(look, STR("null"));
    default:
        return skip_number(look);
    }
}

bool wt__is_compact(struct str text)
{
    struct look look = {text.ptr, text.ptr + text.len, 0};
    return text.len > 0 && skip_json_value(&look) && look.at == look.end;
}
