#include "wire/compact.h"

#include "text/unicode.h"
#include "whichtool.h"

enum { DIGITS_MAX = 18 }; /* maximum digits of a number that always fits into 64 bits */

struct compact_scan {
    const char *at, *end;
    unsigned depth;
};

static bool skip_char(struct compact_scan *scan, char c)
{
    if (scan->at == scan->end || *scan->at != c)
        return false;
    scan->at++;
    return true;
}

/* Skips a string of plain characters and escapes with only one form. */
static bool skip_json_string(struct compact_scan *scan)
{
    if (!skip_char(scan, '"'))
        return false;
    const char *begin = scan->at;
    bool ascii = true;
    while (scan->at < scan->end && *scan->at != '"') {
        unsigned char c = (unsigned char)*scan->at++;
        if (c < 0x20 || c == 0x7F)
            return false;
        ascii &= c < 0x80;
        if (c == '\\' && (scan->at == scan->end || !memchr("\"\\bfnrt", *scan->at++, 7)))
            return false;
    }
    struct str text = {begin, (size_t)(scan->at - begin)};
    return skip_char(scan, '"') && (ascii || wt__utf8_valid(text));
}

/* Skips a whole number. False for "-0", because the writer writes 0. */
static bool skip_number(struct compact_scan *scan)
{
    bool negative = skip_char(scan, '-');
    const char *begin = scan->at;
    while (scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9')
        scan->at++;
    size_t digits = (size_t)(scan->at - begin);
    if (digits == 0 || digits > DIGITS_MAX || (*begin == '0' && (digits > 1 || negative)))
        return false;
    return scan->at == scan->end || !memchr(".eE", *scan->at, 3);
}

static bool skip_word(struct compact_scan *scan, struct str word)
{
    if ((size_t)(scan->end - scan->at) < word.len || memcmp(scan->at, word.ptr, word.len) != 0)
        return false;
    scan->at += word.len;
    return true;
}

static bool skip_json_value(struct compact_scan *scan);

static bool skip_members(struct compact_scan *scan, char close, bool keyed)
{
    bool fine = ++scan->depth <= WT_MAX_JSON_DEPTH;
    scan->at++;
    if (!skip_char(scan, close)) {
        do
            fine = fine && (!keyed || (skip_json_string(scan) && skip_char(scan, ':'))) && skip_json_value(scan);
        while (fine && skip_char(scan, ','));
        fine = fine && skip_char(scan, close);
    }
    scan->depth--;
    return fine;
}

static bool skip_json_value(struct compact_scan *scan)
{
    switch (scan->at < scan->end ? *scan->at : '\0') {
    case '{':
        return skip_members(scan, '}', true);
    case '[':
        return skip_members(scan, ']', false);
    case '"':
        return skip_json_string(scan);
    case 't':
        return skip_word(scan, STR("true"));
    case 'f':
        return skip_word(scan, STR("false"));
    case 'n':
        return skip_word(scan, STR("null"));
    default:
        return skip_number(scan);
    }
}

bool wt__is_compact(struct str text)
{
    struct compact_scan scan = {text.ptr, text.ptr + text.len, 0};
    return text.len > 0 && skip_json_value(&scan) && scan.at == scan.end;
}
