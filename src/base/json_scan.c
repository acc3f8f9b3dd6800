/* json_scan.c: finds the values of a container. A table selects the bytes that need handling: quotes, brackets, commas
 * and newlines. */
#include "base/json_scan.h"

enum byte_class { PLAIN, QUOTE, OPEN, CLOSE, COMMA, NEWLINE };

static const unsigned char classes[256] = {
    ['"'] = QUOTE, ['{'] = OPEN, ['['] = OPEN, ['}'] = CLOSE, [']'] = CLOSE, [','] = COMMA, ['\n'] = NEWLINE};

static bool is_scan_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void skip_scan_blanks(struct json_scan *scan)
{
    while (scan->at < scan->text.len && is_scan_blank(scan->text.ptr[scan->at]))
        if (scan->text.ptr[scan->at++] == '\n')
            scan->line++;
}

/* Skips a string. scan->at moves from the opening quote of the string to the byte after the closing quote. Returns
 * false if the text ends first. */
static bool skip_string(struct json_scan *scan)
{
    const char *text = scan->text.ptr;
    size_t len = scan->text.len;
    for (size_t at = scan->at + 1; at < len; at++) {
        if (text[at] == '"') {
            scan->at = at + 1;
            return true;
        }
        if (text[at] == '\\' && at + 1 < len)
            at++;
        if (text[at] == '\n')
            scan->line++;
    }
    scan->at = len;
    return false;
}

/* Moves scan->at to the comma or closing bracket after a value. For a root value, moves it to the byte after the
 * closing bracket. Returns true if the text ends inside the value. */
static bool skip_value(struct json_scan *scan, bool root)
{
    size_t depth = 0;
    while (scan->at < scan->text.len) {
        switch (classes[(unsigned char)scan->text.ptr[scan->at]]) {
        case QUOTE:
            if (!skip_string(scan))
                return true;
            continue;
        case OPEN:
            depth++;
            break;
        case CLOSE:
            if (depth == 0 && !root)
                return false;
            if (depth > 0 && --depth == 0 && root) {
                scan->at++;
                return false;
            }
            break;
        case COMMA:
            if (depth == 0 && !root)
                return false;
            break;
        case NEWLINE:
            scan->line++;
            break;
        default:
            break;
        }
        scan->at++;
    }
    return depth > 0;
}

/* Reads the value at scan->at. A bare word or number at the end of the text counts as cut, because more may follow. */
static void scan_value(struct json_scan *scan, struct json_item *item, bool root)
{
    item->byte = scan->at;
    item->line = scan->line;
    item->cut = skip_value(scan, root);
    size_t end = scan->at;
    while (end > item->byte && is_scan_blank(scan->text.ptr[end - 1]))
        end--;
    item->value = (struct str){scan->text.ptr + item->byte, end - item->byte};
    if (!root && scan->at == scan->text.len)
        item->cut = item->cut || end == item->byte || !memchr("\"}]", scan->text.ptr[end - 1], 3);
}

/* Returns text with a non-NULL pointer, because offsets are computed from it. */
static struct str ensure_pointer(struct str text)
{
    return text.len > 0 ? text : (struct str){"", 0};
}

static int fail_scan(struct json_scan *scan, const char *reason)
{
    scan->reason = reason;
    return -1;
}

void wt__json_scan_open(struct json_scan *scan, struct str text, size_t at, size_t line)
{
    *scan = (struct json_scan){.text = ensure_pointer(text), .at = at, .line = line};
    if (at < text.len && (text.ptr[at] == '{' || text.ptr[at] == '[')) {
        scan->close = text.ptr[at] == '{' ? '}' : ']';
        scan->at++;
    }
}

static int scan_key(struct json_scan *scan, struct json_item *item)
{
    if (scan->text.ptr[scan->at] != '"')
        return fail_scan(scan, "expected a key in double quotes");
    size_t begin = scan->at + 1;
    if (!skip_string(scan))
        return fail_scan(scan, "the text ends inside a key");
    item->key = (struct str){scan->text.ptr + begin, scan->at - 1 - begin};
    skip_scan_blanks(scan);
    if (scan->at >= scan->text.len)
        return fail_scan(scan, "the text ends after a key");
    if (scan->text.ptr[scan->at] != ':')
        return fail_scan(scan, "expected ':' after a key");
    scan->at++;
    skip_scan_blanks(scan);
    return 0;
}

int wt__json_scan_next(struct json_scan *scan, struct json_item *item)
{
    *item = (struct json_item){.key = {"", 0}};
    if (scan->close == 0)
        return fail_scan(scan, "expected '{' or '['");
    skip_scan_blanks(scan);
    if (scan->at >= scan->text.len)
        return fail_scan(scan, scan->close == '}' ? "the text ends before the closing '}'"
                                                  : "the text ends before the closing ']'");
    if (!scan->more && scan->text.ptr[scan->at] == scan->close) {
        scan->at++;
        return 0;
    }
    if (scan->close == '}' && scan_key(scan, item) < 0)
        return -1;
    scan_value(scan, item, false);
    scan->more = false;
    if (scan->at < scan->text.len) {
        char end = scan->text.ptr[scan->at];
        if (end == ',') {
            scan->more = true;
            scan->at++;
        } else if (end != scan->close) {
            return fail_scan(scan, scan->close == '}' ? "']' where '}' was expected" : "'}' where ']' was expected");
        }
    }
    return 1;
}

void wt__json_scan_root(struct str text, size_t at, size_t line, struct json_item *item)
{
    struct json_scan scan = {.text = ensure_pointer(text), .at = at, .line = line};
    *item = (struct json_item){.key = {"", 0}};
    skip_scan_blanks(&scan);
    scan_value(&scan, item, true);
}

/* Returns the next byte of a key, or the character of an escape, and moves *at past it; -1 if the escape is invalid or
 * not ASCII. */
static int next_key_character(struct str key, size_t *at)
{
    static const char kinds[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    int code = 0;
    if (key.ptr[*at] != '\\' || *at + 1 >= key.len)
        return (unsigned char)key.ptr[(*at)++];
    const char *kind = memchr(kinds, key.ptr[*at + 1], sizeof kinds - 1);
    if (kind) {
        *at += 2;
        return meant[kind - kinds];
    }
    if (key.ptr[*at + 1] != 'u' || key.len - *at < 6)
        return -1;
    for (size_t i = 2; i < 6; i++) {
        int digit = wt__hex_digit(key.ptr[*at + i]);
        if (digit < 0)
            return -1;
        code = code << 4 | digit;
    }
    *at += 6;
    return code < 0x80 ? code : -1;
}

bool wt__json_key_is(struct str key, struct str name)
{
    size_t at = 0, i = 0;
    if (key.len == name.len)
        return wt__str_equal(key, name);
    if (key.len < name.len)
        return false;
    while (at < key.len && i < name.len)
        if (next_key_character(key, &at) != (unsigned char)name.ptr[i++])
            return false;
    return at == key.len && i == name.len;
}
