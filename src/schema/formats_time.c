/* formats_time.c: dates, times and durations of RFC 3339. A leap second is valid only at 23:59:60 UTC. */
#include "schema/formats_inside.h"

/* Parses `count` digits at *at. Returns -1 if there are fewer. */
static int parse_digits(struct str text, size_t *at, size_t count)
{
    int value = 0;
    for (size_t i = 0; i < count; i++, (*at)++) {
        if (*at >= text.len || !wt__is_digit(text.ptr[*at]))
            return -1;
        value = value * 10 + (text.ptr[*at] - '0');
    }
    return value;
}

static bool accept_char(struct str text, size_t *at, char wanted)
{
    bool there = *at < text.len && text.ptr[*at] == wanted;
    *at += there;
    return there;
}

static bool parse_date(struct str text, size_t *at)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year = parse_digits(text, at, 4);
    if (year < 0 || !accept_char(text, at, '-'))
        return false;
    int month = parse_digits(text, at, 2);
    if (month < 1 || month > 12 || !accept_char(text, at, '-'))
        return false;
    int day = parse_digits(text, at, 2);
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return day >= 1 && day <= days[month - 1] + (month == 2 && leap);
}

/* Parses a UTC offset. minutes: how far local time is ahead of UTC. */
static bool parse_utc_offset(struct str text, size_t *at, int *minutes)
{
    *minutes = 0;
    if (accept_char(text, at, 'Z') || accept_char(text, at, 'z'))
        return true;
    bool ahead = accept_char(text, at, '+');
    if (!ahead && !accept_char(text, at, '-'))
        return false;
    int hour = parse_digits(text, at, 2);
    if (hour < 0 || hour > 23 || !accept_char(text, at, ':'))
        return false;
    int minute = parse_digits(text, at, 2);
    *minutes = (hour * 60 + minute) * (ahead ? 1 : -1);
    return minute >= 0 && minute <= 59;
}

static bool parse_time_of_day(struct str text, size_t *at)
{
    int minutes, hour = parse_digits(text, at, 2);
    if (hour < 0 || hour > 23 || !accept_char(text, at, ':'))
        return false;
    int minute = parse_digits(text, at, 2);
    if (minute < 0 || minute > 59 || !accept_char(text, at, ':'))
        return false;
    int second = parse_digits(text, at, 2);
    if (second < 0 || second > 60)
        return false;
    if (accept_char(text, at, '.')) {
        if (parse_digits(text, at, 1) < 0)
            return false;
        while (*at < text.len && wt__is_digit(text.ptr[*at]))
            (*at)++;
    }
    if (!parse_utc_offset(text, at, &minutes))
        return false;
    int utc = (hour * 60 + minute - minutes + 2 * 24 * 60) % (24 * 60);
    return second < 60 || utc == 23 * 60 + 59;
}

bool wt__is_date(struct str text)
{
    size_t at = 0;
    return parse_date(text, &at) && at == text.len;
}

bool wt__is_time(struct str text)
{
    size_t at = 0;
    return parse_time_of_day(text, &at) && at == text.len;
}

bool wt__is_date_time(struct str text)
{
    size_t at = 0;
    if (!parse_date(text, &at) || !(accept_char(text, &at, 'T') || accept_char(text, &at, 't')))
        return false;
    return parse_time_of_day(text, &at) && at == text.len;
}

/* Parses elements of a duration: digits followed by one of the units. Units must appear in the given order, at most
 * once and without gaps: hours and seconds need minutes between them. Returns the number of elements, or -1 if invalid.
 */
static int count_duration_elements(struct str text, size_t *at, const char *units)
{
    const char *last = NULL;
    int count = 0;
    while (*at < text.len && wt__is_digit(text.ptr[*at])) {
        while (*at < text.len && wt__is_digit(text.ptr[*at]))
            (*at)++;
        const char *unit = *at < text.len && text.ptr[*at] != '\0' ? strchr(units, text.ptr[*at]) : NULL;
        if (!unit || (last && unit != last + 1))
            return -1;
        last = unit;
        (*at)++;
        count++;
    }
    return count;
}

bool wt__is_duration(struct str text)
{
    size_t at = 0;
    if (!accept_char(text, &at, 'P'))
        return false;
    size_t start = at;
    if (count_duration_elements(text, &at, "W") == 1)
        return at == text.len;
    at = start;
    int days = count_duration_elements(text, &at, "YMD"), times = 0;
    if (days < 0)
        return false;
    if (accept_char(text, &at, 'T') && (times = count_duration_elements(text, &at, "HMS")) <= 0)
        return false;
    return at == text.len && days + times > 0;
}
