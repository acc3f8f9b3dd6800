/* json_check.c: checks JSON byte by byte. The state is a position, a depth, and one bit per level, so that deep nesting
 * needs neither recursion nor memory. */
#include "base/json_check.h"

#include <stdint.h>

struct checker {
    struct str text;
    size_t at;
    uint64_t objects; /* bit i is set if level i is an object */
    unsigned depth;
    const char *reason; /* NULL while the text is valid */
};

enum expected { EXPECT_VALUE, EXPECT_VALUE_OR_END, EXPECT_KEY, EXPECT_KEY_OR_END, EXPECT_SEPARATOR };

static bool reject_json(struct checker *c, const char *reason)
{
    c->reason = reason;
    return false;
}

static char peek_byte(const struct checker *c)
{
    return c->at < c->text.len ? c->text.ptr[c->at] : '\0';
}

static void skip_json_blanks(struct checker *c)
{
    while (c->at < c->text.len) {
        char byte = c->text.ptr[c->at];
        if (byte != ' ' && byte != '\n' && byte != '\r' && byte != '\t')
            return;
        c->at++;
    }
}

/* Reads four hexadecimal digits at c->at. Returns -1 if they are missing. */
static int read_code_unit(struct checker *c)
{
    int unit = 0;
    if (c->text.len - c->at < 4)
        return -1;
    for (size_t i = 0; i < 4; i++) {
        int digit = wt__hex_digit(c->text.ptr[c->at + i]);
        if (digit < 0)
            return -1;
        unit = unit << 4 | digit;
    }
    c->at += 4;
    return unit;
}

/* Checks a \u escape. A high surrogate must be followed by a low surrogate, and a low surrogate must follow a high
 * surrogate. */
static bool check_unicode_escape(struct checker *c)
{
    int unit = read_code_unit(c);
    if (unit < 0)
        return reject_json(c, "an invalid escape");
    if (unit < 0xD800 || unit > 0xDFFF)
        return true;
    bool pair =
        unit < 0xDC00 && c->text.len - c->at >= 2 && c->text.ptr[c->at] == '\\' && c->text.ptr[c->at + 1] == 'u';
    if (pair) {
        c->at += 2;
        unit = read_code_unit(c);
        pair = unit >= 0xDC00 && unit <= 0xDFFF;
    }
    return pair || reject_json(c, "a lone surrogate");
}

static bool check_escape(struct checker *c)
{
    char kind = (c->at++, peek_byte(c));
    c->at++;
    if (kind == 'u')
        return check_unicode_escape(c);
    return (kind != '\0' && strchr("\"\\/bfnrt", kind)) || reject_json(c, "an invalid escape");
}

/* Checks a string and moves behind its closing quote. */
static bool check_string(struct checker *c)
{
    for (c->at++;;) {
        c->at += wt__str_plain((struct str){c->text.ptr + c->at, c->text.len - c->at});
        if (c->at >= c->text.len)
            return reject_json(c, "a string without an end");
        unsigned char byte = (unsigned char)c->text.ptr[c->at];
        if (byte == '"') {
            c->at++;
            return true;
        }
        if (byte < 0x20)
            return reject_json(c, "a control character in a string");
        if (byte == '\\') {
            if (!check_escape(c))
                return false;
            continue;
        }
        size_t length = wt__utf8_length(c->text.ptr + c->at, c->text.len - c->at);
        if (length == 0)
            return reject_json(c, "bytes that are not UTF-8");
        c->at += length;
    }
}

static bool skip_json_digits(struct checker *c)
{
    size_t begin = c->at;
    while (wt__is_digit(peek_byte(c)))
        c->at++;
    return c->at > begin;
}

static bool check_number(struct checker *c)
{
    size_t begin = c->at;
    c->at += peek_byte(c) == '-';
    bool zero = peek_byte(c) == '0';
    bool valid = skip_json_digits(c) && (!zero || c->at - begin == 1 + (size_t)(c->text.ptr[begin] == '-'));
    if (valid && peek_byte(c) == '.') {
        c->at++;
        valid = skip_json_digits(c);
    }
    if (valid && (peek_byte(c) | 0x20) == 'e') {
        c->at++;
        c->at += peek_byte(c) == '+' || peek_byte(c) == '-';
        valid = skip_json_digits(c);
    }
    if (!valid)
        return reject_json(c, "an invalid number");
    return c->at - begin <= JSON_CHECK_NUMBER_MAX || reject_json(c, "a number of more than 1024 bytes");
}

static bool check_word(struct checker *c)
{
    static const struct str words[] = {{"true", 4}, {"false", 5}, {"null", 4}};
    struct str rest = {c->text.ptr + c->at, c->text.len - c->at};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (wt__str_starts(rest, words[i])) {
            c->at += words[i].len;
            return true;
        }
    return reject_json(c, rest.len == 0 ? "an end where a value should be" : "a byte where a value should be");
}

static bool is_in_object(const struct checker *c)
{
    return c->objects >> (c->depth - 1) & 1;
}

static bool open_json_level(struct checker *c, bool object, enum expected *next)
{
    if (c->depth == JSON_CHECK_DEPTH_MAX)
        return reject_json(c, "nesting of more than 64 levels");
    uint64_t bit = UINT64_C(1) << c->depth++;
    c->objects = object ? c->objects | bit : c->objects & ~bit;
    c->at++;
    *next = object ? EXPECT_KEY_OR_END : EXPECT_VALUE_OR_END;
    return true;
}

static bool close_json_level(struct checker *c, enum expected *next)
{
    c->at++;
    c->depth--;
    *next = EXPECT_SEPARATOR;
    return true;
}

static bool check_value(struct checker *c, enum expected *next)
{
    char byte = peek_byte(c);
    if (byte == '{' || byte == '[')
        return open_json_level(c, byte == '{', next);
    *next = EXPECT_SEPARATOR;
    if (byte == '"')
        return check_string(c);
    return byte == '-' || wt__is_digit(byte) ? check_number(c) : check_word(c);
}

static bool check_key(struct checker *c, enum expected *next)
{
    if (peek_byte(c) != '"')
        return reject_json(c, "a member without a key");
    if (!check_string(c))
        return false;
    skip_json_blanks(c);
    if (peek_byte(c) != ':')
        return reject_json(c, "a key without a colon");
    c->at++;
    *next = EXPECT_VALUE;
    return true;
}

static bool check_separator(struct checker *c, enum expected *next)
{
    char byte = peek_byte(c);
    bool object = is_in_object(c);
    if (byte == (object ? '}' : ']'))
        return close_json_level(c, next);
    if (byte != ',')
        return reject_json(c, c->at >= c->text.len ? "an end where a bracket should close"
                                                   : "a byte where a comma or a closing bracket should be");
    c->at++;
    *next = object ? EXPECT_KEY : EXPECT_VALUE;
    return true;
}

static bool check_next(struct checker *c, enum expected *next)
{
    bool may_end = *next == EXPECT_KEY_OR_END || *next == EXPECT_VALUE_OR_END;
    if (may_end && peek_byte(c) == (*next == EXPECT_KEY_OR_END ? '}' : ']'))
        return close_json_level(c, next);
    switch (*next) {
    case EXPECT_KEY:
    case EXPECT_KEY_OR_END:
        return check_key(c, next);
    case EXPECT_SEPARATOR:
        return check_separator(c, next);
    default:
        return check_value(c, next);
    }
}

bool wt__json_check(struct str text, struct json_fault *fault)
{
    struct checker c = {.text = text.len > 0 ? text : (struct str){"", 0}};
    enum expected next = EXPECT_VALUE;
    do
        skip_json_blanks(&c);
    while (!(next == EXPECT_SEPARATOR && c.depth == 0) && check_next(&c, &next));
    if (!c.reason && c.at < text.len)
        c.reason = "more text after the value";
    if (c.reason && fault)
        *fault = (struct json_fault){c.at, c.reason};
    return !c.reason;
}

bool wt__json_is_number(struct str text)
{
    struct checker c = {.text = text};
    return text.len > 0 && check_number(&c) && c.at == text.len;
}
