/* json.c: parses JSON with jansson, and adds the limits that jansson does not have. */
#include "base/json.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_check.h"
#include "base/memory.h"

enum { TYPED_DIGITS = 15 };

/* Returns the deepest nesting of brackets outside strings, without validating the text. Stops counting beyond the
 * limit. */
static int measure_nesting(const char *text, size_t len)
{
    int depth = 0, deepest = 0;
    bool quoted = false;
    for (size_t i = 0; i < len && deepest <= WT_MAX_JSON_DEPTH; i++) {
        char c = text[i];
        if (quoted) {
            if (c == '\\')
                i++;
            else if (c == '"')
                quoted = false;
        } else if (c == '"') {
            quoted = true;
        } else if (c == '{' || c == '[') {
            if (++depth > deepest)
                deepest = depth;
        } else if (c == '}' || c == ']') {
            depth--;
        }
    }
    return deepest;
}

/* jansson 2.14 reports most failed allocations as syntax errors. If a token of 16 bytes or more cannot grow, jansson
 * even drops a byte silently. Therefore allocate_or_note wraps the installed allocator and records failed
 * allocations. */
static json_malloc_t allocate;
static _Thread_local bool allocation_failed;

static void *allocate_or_note(size_t size)
{
    void *memory = allocate(size);
    allocation_failed |= !memory;
    return memory;
}

static void install_noting_allocator(void)
{
    json_free_t release;
    json_get_alloc_funcs(&allocate, &release);
    json_set_alloc_funcs(allocate_or_note, release);
}

/* Appends a number in the range of C types: integers beyond 64 bits become reals, and reals beyond the range of a
 * double become the largest or the smallest double. */
static void append_storable_number(struct buffer *out, const char *number, size_t len)
{
    char copy[JSON_CHECK_NUMBER_MAX + 1];
    bool whole = !memchr(number, '.', len) && !memchr(number, 'e', len) && !memchr(number, 'E', len);
    if (len > JSON_CHECK_NUMBER_MAX || !wt__json_is_number((struct str){number, len})) {
        wt__buffer_append(out, number, len); /* jansson will report the error */
        return;
    }
    memcpy(copy, number, len);
    copy[len] = '\0';
    double value = strtod(copy, NULL);
    errno = 0;
    strtoll(copy, NULL, 10);
    if (isinf(value))
        wt__buffer_printf(out, "%.17g", value < 0 ? -DBL_MAX : DBL_MAX);
    else
        wt__buffer_append(out, number, len);
    if (!isinf(value) && whole && errno == ERANGE)
        wt__buffer_text(out, "e0");
}

/* Returns the offset behind the closing quote of the string at `at`. */
static size_t find_string_end(const char *text, size_t len, size_t at)
{
    for (at++; at < len && text[at] != '"'; at++)
        at += text[at] == '\\' && at + 1 < len;
    return at < len ? at + 1 : len;
}

/* Appends the text with all numbers in the range of C types. */
static void append_storable_text(struct buffer *out, const char *text, size_t len)
{
    for (size_t at = 0, end; at < len; at = end) {
        bool is_number = text[at] == '-' || wt__is_digit(text[at]);
        end = text[at] == '"' ? find_string_end(text, len, at) : at + 1;
        while (is_number && end < len && (wt__is_digit(text[end]) || memchr("+-.eE", text[end], 5)))
            end++;
        if (is_number)
            append_storable_number(out, text + at, end - at);
        else
            wt__buffer_append(out, text + at, end - at);
    }
}

/* Parses the text. On error, returns NULL, and fills *why or sets `allocation_failed`. Numbers beyond the range of C
 * types are rounded, because a rounded bound in a schema is better than a lost tool. Callers that need every digit use
 * the text. */
static json_t *load_json(const char *text, size_t len, size_t more_flags, json_error_t *why)
{
    const size_t flags = JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | more_flags;
    allocation_failed = false;
    json_t *value = json_loadb(text, len, flags, why);
    if (!value && !allocation_failed && json_error_code(why) == json_error_numeric_overflow) {
        WT_CLEANUP(wt__buffer_dispose) struct buffer storable = {0};
        append_storable_text(&storable, text, len);
        allocation_failed = storable.failed;
        if (!allocation_failed)
            value = json_loadb(storable.ptr, storable.len, flags, why);
    }
    if (!allocation_failed)
        return value;
    json_decref(value);
    return NULL;
}

static int parse_strictly(json_t **out, const char *text, size_t len, size_t more_flags, wt_error *err)
{
    static pthread_once_t noting = PTHREAD_ONCE_INIT;
    pthread_once(&noting, install_noting_allocator);
    *out = NULL;
    if (measure_nesting(text, len) > WT_MAX_JSON_DEPTH)
        return wt__fail_at(err, WT_ETOOLONG, 1, 0, NULL, "JSON is nested deeper than %d levels", WT_MAX_JSON_DEPTH);
    json_error_t why;
    json_t *value = load_json(text, len, more_flags, &why);
    if (!value && allocation_failed) /* retry once: some callers cannot tell a syntax error from lack of memory */
        value = load_json(text, len, more_flags, &why);
    if (!value && allocation_failed)
        return wt__fail_nomem(err);
    if (!value)
        return wt__fail_at(err, WT_EFORMAT, why.line > 0 ? (size_t)why.line : 1,
                           why.position > 0 ? (size_t)why.position : 0, NULL, "not valid JSON: %s", why.text);
    *out = value;
    return 0;
}

int wt__json_parse(json_t **out, const char *text, size_t len, wt_error *err)
{
    return parse_strictly(out, text, len, 0, err);
}

int wt__json_parse_with_nul(json_t **out, const char *text, size_t len, wt_error *err)
{
    return parse_strictly(out, text, len, JSON_ALLOW_NUL, err);
}

/* Returns the end of the comment that starts at `at`, or `at` if no comment starts there. */
static size_t find_comment_end(const char *text, size_t len, size_t at)
{
    if (text[at] != '/' || at + 1 >= len || (text[at + 1] != '/' && text[at + 1] != '*'))
        return at;
    bool line = text[at + 1] == '/';
    for (at += 2; at < len && !(line ? text[at] == '\n' : text[at] == '*' && at + 1 < len && text[at + 1] == '/');)
        at++;
    return line || at == len ? at : at + 2;
}

/* Overwrites a range with blanks but keeps newlines, so that error positions stay valid. */
static void blank_out(char *text, size_t from, size_t to)
{
    for (; from < to; from++)
        if (text[from] != '\n')
            text[from] = ' ';
}

void wt__json_blank_comments(char *text, size_t len)
{
    static const char mark[] = "\xef\xbb\xbf";
    if (len >= 3 && memcmp(text, mark, 3) == 0)
        blank_out(text, 0, 3);
    for (size_t at = 0; at < len;) {
        size_t end = find_comment_end(text, len, at);
        if (end > at) {
            blank_out(text, at, end);
            at = end;
        } else {
            at = text[at] == '"' ? find_string_end(text, len, at) : at + 1;
        }
    }
}

/* Blanks out trailing commas. text must not have comments. */
static void blank_commas(char *text, size_t len)
{
    size_t comma = SIZE_MAX; /* last comma followed only by blanks */
    for (size_t at = 0; at < len;) {
        char c = text[at];
        if ((c == '}' || c == ']') && comma != SIZE_MAX)
            text[comma] = ' ';
        if (!wt__is_blank(c))
            comma = c == ',' ? at : SIZE_MAX;
        at = c == '"' ? find_string_end(text, len, at) : at + 1;
    }
}

int wt__json_parse_relaxed(json_t **out, struct str text, wt_error *err)
{
    WT_AUTO_FREE char *copy = wt__copy_string(text.ptr, text.len);
    *out = NULL;
    WT_CHECK_ALLOC(copy, err);
    wt__json_blank_comments(copy, text.len);
    blank_commas(copy, text.len);
    return wt__json_parse(out, copy, text.len, err);
}

struct str wt__json_str(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_string(value))
        return (struct str){"", 0};
    return (struct str){json_string_value(value), json_string_length(value)};
}

json_t *wt__json_object(const json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    return json_is_object(value) ? value : NULL;
}

json_t *wt__json_array(const json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    return json_is_array(value) ? value : NULL;
}

int64_t wt__json_int(const json_t *object, const char *key, int64_t fallback)
{
    const json_t *value = json_object_get(object, key);
    return json_is_integer(value) ? (int64_t)json_integer_value(value) : fallback;
}

double wt__json_real(const json_t *object, const char *key, double fallback)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : fallback;
}

bool wt__json_bool(const json_t *object, const char *key, bool fallback)
{
    const json_t *value = json_object_get(object, key);
    return json_is_boolean(value) ? json_is_true(value) : fallback;
}

json_t *wt__json_string(struct str text)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer bytes = {0}, quoted = {0};
    json_t *value = NULL;
    wt__buffer_str(&bytes, text);
    for (char *at = bytes.ptr;
         !bytes.failed && text.len > 0 && (at = memchr(at, 0, bytes.len - (size_t)(at - bytes.ptr)));)
        *at = (char)0xFF; /* invalid UTF-8, replaced below */
    wt__buffer_json(&quoted, wt__buffer_view(&bytes));
    if (!bytes.failed && !quoted.failed)
        wt__json_parse(&value, quoted.ptr, quoted.len, NULL);
    return value;
}

void wt__json_pointer_step(struct buffer *buffer, struct str key)
{
    wt__buffer_char(buffer, '/');
    for (size_t i = 0; i < key.len; i++) {
        if (key.ptr[i] == '~')
            wt__buffer_text(buffer, "~0");
        else if (key.ptr[i] == '/')
            wt__buffer_text(buffer, "~1");
        else
            wt__buffer_char(buffer, key.ptr[i]);
    }
}

static int append_dump(const char *bytes, size_t len, void *buffer)
{
    wt__buffer_append(buffer, bytes, len);
    return ((struct buffer *)buffer)->failed ? -1 : 0;
}

static int dump_json(struct buffer *buffer, const json_t *value, size_t flags)
{
    if (json_dump_callback(value, append_dump, buffer, JSON_COMPACT | JSON_ENCODE_ANY | flags) < 0 && !buffer->failed)
        buffer->failed = true;
    return buffer->failed ? WT_ENOMEM : 0;
}

int wt__json_write(struct buffer *buffer, const json_t *value)
{
    return dump_json(buffer, value, 0);
}

int wt__json_write_typed(struct buffer *buffer, const json_t *value)
{
    return dump_json(buffer, value, JSON_REAL_PRECISION(TYPED_DIGITS));
}
