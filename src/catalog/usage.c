/* usage.c: validates and writes the fields of a usage. */
#include "catalog/usage.h"

#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/json.h"
#include "text/unicode.h"

static const char *const outcome_names[USAGE_OUTCOMES] = {"", "ok", "failed"};

const char *wt__usage_outcome_name(enum usage_outcome outcome)
{
    return outcome_names[outcome];
}

/* including the words of agents' logs */
static const struct {
    const char *word;
    enum usage_outcome outcome;
} outcome_words[] = {{"", USAGE_UNTOLD},        {"ok", USAGE_OK},        {"success", USAGE_OK},
                     {"succeeded", USAGE_OK},   {"true", USAGE_OK},      {"failed", USAGE_FAILED},
                     {"failure", USAGE_FAILED}, {"error", USAGE_FAILED}, {"false", USAGE_FAILED}};

bool wt__usage_outcome_read(struct str word, enum usage_outcome *out)
{
    for (size_t i = 0; i < sizeof outcome_words / sizeof *outcome_words; i++) {
        if (wt__str_equal(word, wt__str(outcome_words[i].word))) {
            *out = outcome_words[i].outcome;
            return true;
        }
    }
    return false;
}

/* True if text has only blanks of any alphabet, and control characters. */
static bool is_blank_text(struct str text)
{
    const char *end = text.ptr + text.len;
    for (const char *at = text.ptr; at < end;) {
        uint32_t c = wt__utf8_next(&at, end);
        bool blank = c <= ' ' || c == 0x7f || c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200b) ||
                     c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000 || c == 0xfeff;
        if (!blank)
            return false;
    }
    return true;
}

int wt__usage_check_request(struct str request, wt_error *err)
{
    if (request.len > WT_MAX_REQUEST_BYTES)
        return wt__fail(err, WT_ETOOLONG, "the request has %zu bytes; at most %d are allowed", request.len,
                        WT_MAX_REQUEST_BYTES);
    const char *nul = request.len ? memchr(request.ptr, '\0', request.len) : NULL;
    if (nul)
        return wt__fail(err, WT_EFORMAT, "the request has a NUL at byte %zu; it must be text",
                        (size_t)(nul - request.ptr));
    if (!wt__utf8_valid(request))
        return wt__fail(err, WT_EFORMAT, "the request is not valid UTF-8");
    if (is_blank_text(request))
        return wt__fail(err, WT_EFORMAT, "the request is empty");
    return 0;
}

static int check_usage_name(const char *what, struct str name, size_t most, wt_error *err)
{
    if (name.len > most)
        return wt__fail(err, WT_ETOOLONG, "the %s has %zu bytes; at most %zu are allowed", what, name.len, most);
    if ((name.len && memchr(name.ptr, '\0', name.len)) || !wt__utf8_valid(name))
        return wt__fail(err, WT_EFORMAT, "the %s is not valid UTF-8, or has a NUL", what);
    return 0;
}

int wt__usage_check_client(struct str client, wt_error *err)
{
    return check_usage_name("client", client, WT_MAX_CLIENT_BYTES, err);
}

int wt__usage_check_key(struct str key, wt_error *err)
{
    return check_usage_name("key", key, WT_MAX_USAGE_KEY_BYTES, err);
}

/* ---------------------------------------------------------------- arguments */

#define WANTED "give a JSON object, such as {\"city\": \"Oslo\"}"

static int check_arguments_length(size_t len, wt_error *err)
{
    if (len <= WT_MAX_ARGUMENTS_BYTES)
        return 0;
    return wt__fail(err, WT_ETOOLONG, "the arguments have %zu bytes; at most %d are allowed", len,
                    WT_MAX_ARGUMENTS_BYTES);
}

int wt__usage_read_arguments(json_t **out, struct str text, wt_error *err)
{
    wt_error why = {0};
    *out = NULL;
    int rc = check_arguments_length(text.len, err);
    if (rc < 0)
        return rc;
    rc = wt__json_parse(out, text.ptr, text.len, &why);
    if (rc == WT_ENOMEM)
        return wt__fail_nomem(err);
    if (rc == WT_ETOOLONG)
        return wt__fail(err, WT_EFORMAT, "the arguments are nested deeper than %d levels", WT_MAX_JSON_DEPTH);
    if (rc < 0) /* the parser's own message quotes the text */
        return wt__fail(err, WT_EFORMAT, "the arguments are not valid JSON at byte %zu; " WANTED, why.byte);
    if (json_is_object(*out))
        return 0;
    json_decref(*out);
    *out = NULL;
    return wt__fail(err, WT_EFORMAT, "the arguments are not an object; " WANTED);
}

int wt__usage_write_arguments(struct buffer *out, const json_t *arguments, wt_error *err)
{
    size_t before = out->len;
    if (wt__json_write_typed(out, arguments) < 0)
        return wt__fail_nomem(err);
    return check_arguments_length(out->len - before, err);
}

int wt__usage_check_arguments(struct str text, wt_error *err)
{
    json_t *object;
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] < ' ')
            return wt__fail(err, WT_EFORMAT, "the arguments have a control character at byte %zu", i);
    int rc = wt__usage_read_arguments(&object, text, err);
    json_decref(object);
    return rc;
}

/* ---------------------------------------------------------------- times */

/* Reads `digits` digits and moves *text past them. Returns -1 if there are fewer. */
static int64_t read_fixed_digits(struct str *text, size_t digits)
{
    int64_t value = 0;
    if (text->len < digits)
        return -1;
    for (size_t i = 0; i < digits; i++) {
        if (text->ptr[i] < '0' || text->ptr[i] > '9')
            return -1;
        value = value * 10 + (text->ptr[i] - '0');
    }
    *text = (struct str){text->ptr + digits, text->len - digits};
    return value;
}

static bool read_character(struct str *text, const char *marks)
{
    if (text->len == 0 || !text->ptr[0] || !strchr(marks, text->ptr[0]))
        return false;
    *text = (struct str){text->ptr + 1, text->len - 1};
    return true;
}

/* Reads "Z" or "+01:00" as seconds east of UTC. */
static bool read_utc_offset(struct str *text, int64_t *east)
{
    *east = 0;
    if (read_character(text, "Zz"))
        return true;
    bool west = text->len > 0 && text->ptr[0] == '-';
    if (!read_character(text, "+-"))
        return false;
    int64_t hours = read_fixed_digits(text, 2);
    int64_t minutes = read_character(text, ":") ? read_fixed_digits(text, 2) : -1;
    if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59)
        return false;
    *east = (hours * 60 + minutes) * (west ? -60 : 60);
    return true;
}

static bool read_clock(struct str *text, struct tm *clock, int64_t *east)
{
    int64_t hour = read_fixed_digits(text, 2);
    int64_t minute = read_character(text, ":") ? read_fixed_digits(text, 2) : -1;
    int64_t second = read_character(text, ":") ? read_fixed_digits(text, 2) : -1;
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60) /* 60 is a leap second */
        return false;
    if (read_character(text, ".")) {
        if (read_fixed_digits(text, 1) < 0)
            return false;
        while (read_fixed_digits(text, 1) >= 0) {
        }
    }
    clock->tm_hour = (int)hour;
    clock->tm_min = (int)minute;
    clock->tm_sec = (int)second;
    return read_utc_offset(text, east);
}

bool wt__usage_time_read(struct str text, int64_t *seconds)
{
    int64_t east = 0;
    int64_t year = read_fixed_digits(&text, 4);
    int64_t month = read_character(&text, "-") ? read_fixed_digits(&text, 2) : -1;
    int64_t day = read_character(&text, "-") ? read_fixed_digits(&text, 2) : -1;
    struct tm clock = {.tm_year = (int)year - 1900, .tm_mon = (int)month - 1, .tm_mday = (int)day};
    if (year < 1970 || month < 1 || month > 12 || day < 1)
        return false;
    time_t midnight = timegm(&clock);
    if (clock.tm_mday != day) /* 31 April is 1 May */
        return false;
    if (text.len > 0 && (!read_character(&text, "Tt ") || !read_clock(&text, &clock, &east) || text.len > 0))
        return false;
    *seconds = midnight + clock.tm_hour * 3600 + clock.tm_min * 60 + clock.tm_sec - east;
    return *seconds >= 0 && *seconds <= CLOCK_TEXT_MAX;
}
