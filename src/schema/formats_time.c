/* formats_time.c: dates, times and durations of RFC 3339. A leap second is valid only at 23:59:60 UTC. */
#include "schema/formats_inside.h"

/* Parses `count` digits at *at. Returns -1 if there are fewer. */
static int digits(struct str text, size_t *at, size_t count)
{
    int value = 0;
    for (size_t i = 0; i < count; i++, (*at)++) {
        if (*at >= text.len || !wt__is_digit(text.ptr[*at]))
            return -1;
        value = value * 10 + (text.ptr[*at] - '0');
    }
    return value;
}

static bool sign(struct str text, size_t *at, char wanted)
{
    bool there = *at < text.len && text.ptr[*at] == wanted;
    *at += there;
    return there;
}

static bool date(struct str text, size_t *at)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year = digits(text, at, 4);
    if (year < 0 || !sign(text, at, '-'))
        return false;
    int month = digits(text, at, 2);
    if (month < 1 || month > 12 || !sign(text, at, '-'))
        return false;
    int day = digits(text, at, 2);
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return day >= 1 && day <= days[month - 1] + (month == 2 && leap);
}

/* Parses a UTC offset. minutes: how far local time is ahead of UTC. */
static bool offset(struct str text, size_t *at, int *minutes)
{
    *minutes = 0;
    if (sign(text, at, 'Z') || sign(text, at, 'z'))
        return true;
    bool ahead = sign(text, at, '+');
    if (!ahead && !sign(text, at, '-'))
        return false;
    int hour = digits(text, at, 2);
    if (hour < 0 || hour > 23 || !sign(text, at, ':'))
        return false;
    int minute = digits(text, at, 2);
    *minutes = (hour * 60 + minute) * (ahead ? 1 : -1);
    return minute >= 0 && minute <= 59;
}

static bool time_of_day(struct str text, size_t *at)
{
    int minutes, hour = digits(text, at, 2);
    if (hour < 0 || hour > 23 || !sign(text, at, ':'))
        return false;
    int minute = digits(text, at, 2);
    if (minute < 0 || minute > 59 || !sign(text, at, ':'))
        return false;
    int second = digits(text, at, 2);
    if (second < 0 || second > 60)
        return false;
    if (sign(text, at, '.')) {
        if (digits(text, at, 1) < 0)
            return false;
        while (*at < text.len && wt__is_digit(text.ptr[*at]))
            (*at)++;
    }
    if (!offset(text, at, &minutes))
        return false;
    int utc = (hour * 60 + minute - minutes + 2 * 24 * 60) % (24 * 60);
    return second < 60 || utc == 23 * 60 + 59;
}

bool wt__is_date(struct str text)
{
    size_t at = 0;
    return date(text, &at) && at == text.len;
}

bool wt__is_time(struct str text)
{
    size_t at = 0;
    return time_of_day(text, &at) && at == text.len;
}

bool wt__is_date_time(struct str text)
{
    size_t at = 0;
    if (!date(text, &at) || !(sign(text, &at, 'T') || sign(text, &at, 't')))
        return false;
    return time_of_day(text, &at) && at == text.len;
}

/* Parses elements of a duration: digits followed by one of the units. Units must appear in the given order, at most
 * once and without gaps: hours and seconds need minutes between them. Returns the number of elements, or -1 if invalid.
 */
static int elements(struct str text, size_t *at, const char *units)
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
    if (!sign(text, &at, 'P'))
        return false;
    size_t start = at;
    if (elements(text, &at, "W") == 1)
        return at == text.len;
    at = start;
    int days = elements(text, &at, "YMD"), times = 0;
    if (days < 0)
        return false;
    if (sign(text, &at, 'T') && (times = elements(text, &at, "HMS")) <= 0)
        return false;
    return at == text.len && days + times > 0;
}
