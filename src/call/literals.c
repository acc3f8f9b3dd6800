/* literals.c: finds the literals of a request; see arguments.h. At every word and every sign, the readers for the
 * kinds of literals are tried in a fixed order. The first match wins, and the scan continues after the match. */
#include "call/arguments.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/error.h"
#include "retrieve/words.h"
#include "text/unicode.h"

enum {
    NUMBER_DIGITS = 15,   /* digits held exactly by a double */
    NAME_WORDS = 6,       /* maximum words of a name */
    QUOTED_BYTES = 200,   /* quoted texts must be shorter */
    FRACTION_DIGITS = 9,  /* maximum digits of a fraction of a second */
    TIME_BYTES = 32,      /* buffer for a normalised time */
    ADDRESS_BYTES = 4096, /* addresses must be shorter; longer ones are ignored */
};

struct scan {
    struct str request;
    size_t at;                /* current byte of the request */
    size_t no_address_before; /* no address begins before this byte; avoids scanning a long run without blanks again */
    struct arena *arena;
};

static char byte_at(const struct scan *scan, size_t at)
{
    return at < scan->request.len ? scan->request.ptr[at] : 0;
}

/* Returns the end of the letter or digit at byte `at`, in any script; `at` if the character there is neither. */
static size_t find_letter_end(const struct scan *scan, size_t at)
{
    char c = byte_at(scan, at);
    if ((unsigned char)c < 0x80)
        return at + (isalnum((unsigned char)c) != 0);
    const char *next = scan->request.ptr + at;
    enum unicode_kind kind = wt__unicode_kind(wt__utf8_next(&next, scan->request.ptr + scan->request.len));
    return kind == UNICODE_OTHER ? at : (size_t)(next - scan->request.ptr);
}

/* True if a letter or digit begins at `at`. */
static bool has_word_at(const struct scan *scan, size_t at)
{
    return find_letter_end(scan, at) > at;
}

/* True if a letter or digit ends at `at`. */
static bool is_word_before(const struct scan *scan, size_t at)
{
    size_t begin = at;
    do
        begin -= begin > 0;
    while (begin > 0 && at - begin < 4 && (byte_at(scan, begin) & 0xC0) == 0x80);
    return begin < at && find_letter_end(scan, begin) == at;
}

static bool is_capital_at(const struct scan *scan, size_t at)
{
    char c = byte_at(scan, at);
    if ((unsigned char)c < 0x80)
        return isupper((unsigned char)c) != 0;
    const char *next = scan->request.ptr + at;
    return wt__unicode_kind(wt__utf8_next(&next, scan->request.ptr + scan->request.len)) == UNICODE_UPPER;
}

/* Returns the end of `text` in the request if the request has `text` at `at`; else `at`. */
static size_t skip_text(const struct scan *scan, size_t at, const char *text)
{
    size_t len = strlen(text);
    bool there =
        at < scan->request.len && len <= scan->request.len - at && memcmp(scan->request.ptr + at, text, len) == 0;
    return there ? at + len : at;
}

/* True for a control character, which ends any literal. NUL stands for the end of the request (byte_at). */
static bool ends_literal(char c)
{
    return (unsigned char)c < ' ' || c == 0x7F;
}

static size_t find_literal_word_end(const struct scan *scan, size_t at)
{
    for (size_t next; (next = find_letter_end(scan, at)) > at;)
        at = next;
    return at;
}

static struct str slice_scan(const struct scan *scan, size_t start, size_t end)
{
    return (struct str){scan->request.ptr + start, end - start};
}

static int set_literal(struct scan *scan, struct literal *out, enum literal_kind kind, size_t end)
{
    *out = (struct literal){kind, scan->at, end, .text = slice_scan(scan, scan->at, end)};
    return 1;
}

/* ---------------------------------------------------------------- numbers */

/* Words for the numbers 2 to 20, in order. */
static const char *const number_words[] = {
    "two",    "three",    "four",     "five",    "six",     "seven",     "eight",    "nine",     "ten",   "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"};

static const struct {
    const char *word;
    double factor;
} magnitudes[] = {{"k", 1e3}, {"thousand", 1e3}, {"million", 1e6}, {"billion", 1e9}};

/* Units that may follow a number without a blank. */
static const char *const units[] = {"km", "m",  "cm",  "mm", "kg", "g",  "mg", "lb",  "lbs", "oz",  "mi",  "ft", "mph",
                                    "l",  "ml", "s",   "ms", "h",  "hr", "hz", "kb",  "mb",  "gb",  "tb",  "px", "sqft",
                                    "w",  "kw", "kwh", "v",  "c",  "f",  "k",  "min", "usd", "eur", "gbp", "x"};

static bool is_same_word(struct str a, const char *word)
{
    return wt__str_among(a, &word, 1);
}

/* Parses digits, optionally with a decimal point and with commas between groups of three digits. Returns the end, or
 * `start` if there are no digits or more digits than a double holds exactly. */
static size_t read_literal_decimal(const struct scan *scan, size_t start, double *value)
{
    char digits[NUMBER_DIGITS + 3];
    size_t len = 0, at = start;
    bool point = false;
    for (;; at++) {
        char c = byte_at(scan, at);
        if (c == ',' && !point && at > start && wt__is_digit(byte_at(scan, at + 1)) &&
            wt__is_digit(byte_at(scan, at + 2)) && wt__is_digit(byte_at(scan, at + 3)) &&
            !wt__is_digit(byte_at(scan, at + 4)))
            continue;
        bool decimal = c == '.' && !point && wt__is_digit(byte_at(scan, at + 1));
        if (!wt__is_digit(c) && !decimal)
            break;
        if (len - point == NUMBER_DIGITS && !decimal)
            return start;
        point |= decimal;
        digits[len++] = c;
    }
    digits[len] = 0;
    *value = len > 0 ? strtod(digits, NULL) : 0;
    return at;
}

/* Multiplies *value by the magnitude word at `end`: "20k", "3 million". Returns the end of the word, or `end` without
 * such a word. */
static size_t apply_magnitude(const struct scan *scan, size_t end, double *value)
{
    size_t word = end + (byte_at(scan, end) == ' ');
    struct str text = slice_scan(scan, word, find_literal_word_end(scan, word));
    for (size_t i = 0; i < sizeof magnitudes / sizeof *magnitudes; i++)
        if (is_same_word(text, magnitudes[i].word) && (text.len > 1 || word == end)) {
            *value *= magnitudes[i].factor;
            return word + text.len;
        }
    return end;
}

/* Copies a normalised text to the arena. Returns 1 or WT_ENOMEM. */
static int copy_literal_text(struct literal *out, struct arena *arena, const char *text)
{
    char *copy = wt__arena_copy(arena, wt__str(text));
    out->text = wt__str(copy);
    return copy ? 1 : WT_ENOMEM;
}

static size_t skip_digits(const struct scan *scan, size_t at)
{
    while (wt__is_digit(byte_at(scan, at)))
        at++;
    return at;
}

/* Skips digits, and points and commas that a digit follows. */
static size_t skip_number(const struct scan *scan, size_t at)
{
    while (wt__is_digit(byte_at(scan, at)) ||
           ((byte_at(scan, at) == '.' || byte_at(scan, at) == ',') && wt__is_digit(byte_at(scan, at + 1))))
        at++;
    return at;
}

/* Sets the text of a number. Digits with leading zeros stay as written, because "02139" may be a ZIP code. */
static int write_literal_number(const struct scan *scan, struct literal *out)
{
    char text[32];
    bool padded = byte_at(scan, out->start) == '0' && out->end > out->start + 1;
    if (padded && skip_digits(scan, out->start) == out->end) {
        out->text = slice_scan(scan, out->start, out->end);
        return 1;
    }
    bool whole = out->number == floor(out->number) && fabs(out->number) < 1e15;
    snprintf(text, sizeof text, whole ? "%.0f" : "%.15g", out->number);
    return copy_literal_text(out, scan->arena, text);
}

static size_t skip_minus(const struct scan *scan, size_t at)
{
    if (is_word_before(scan, at))
        return at;
    size_t end = skip_text(scan, at, "-");
    return end > at ? end : skip_text(scan, at, "\xe2\x88\x92"); /* U+2212 */
}

static size_t skip_currency_sign(const struct scan *scan, size_t at)
{
    static const char *const signs[] = {"$", "\xe2\x82\xac", "\xc2\xa3", "\xc2\xa5"}; /* euro, pound, yen */
    size_t end = at;
    for (size_t i = 0; i < sizeof signs / sizeof *signs && end == at; i++)
        end = skip_text(scan, at, signs[i]);
    return end;
}

/* ISO 4217 codes. The first CURRENCIES_ANY_CASE codes also match in lower case, the other codes only in capitals. */
static const char *const currencies[] = {"USD", "EUR", "GBP", "JPY", "CNY", "INR", "CAD", "AUD", "CHF", "SEK",
                                         "NOK", "DKK", "BRL", "MXN", "CZK", "PLN", "HUF", "NZD", "SGD", "HKD",
                                         "KRW", "ZAR", "THB", "IDR", "MYR", "AED", "SAR", "TWD", "VND", "UAH"};
enum { CURRENCIES_ANY_CASE = 14 };

/* Returns the currency code that equals the word; NULL if the word is not a currency code. any_case: true to match the
 * first CURRENCIES_ANY_CASE codes in any case. */
static const char *find_currency(struct str word, bool any_case)
{
    for (size_t i = 0; i < sizeof currencies / sizeof *currencies; i++)
        if ((any_case && i < CURRENCIES_ANY_CASE && is_same_word(word, currencies[i])) ||
            wt__str_equal(word, wt__str(currencies[i])))
            return currencies[i];
    return NULL;
}

bool wt__is_currency(struct str word)
{
    return find_currency(word, false) != NULL;
}

/* Returns the end of the currency name at `at`, as in "500 USD" or "20 dollars"; `at` if absent. *code: the currency
 * code; empty for other names. */
static size_t skip_currency_name(const struct scan *scan, size_t at, struct str *code)
{
    static const char *const names[] = {"dollars", "euros"};
    size_t word = at + (byte_at(scan, at) == ' '), end = find_literal_word_end(scan, word);
    const char *known = find_currency(slice_scan(scan, word, end), true);
    *code = known ? wt__str(known) : (struct str){0};
    return known || wt__str_among(slice_scan(scan, word, end), names, sizeof names / sizeof *names) ? end : at;
}

/* Skips the rest of a number in another notation: "192.168.0.1", "1.234,56". start: first digit; at: end of the part
 * parsed as a decimal. Returns `at` if the number ends there. */
static size_t skip_other_digits(const struct scan *scan, size_t start, size_t at)
{
    bool points = byte_at(scan, at) == '.' && wt__is_digit(byte_at(scan, at + 1));
    bool comma = byte_at(scan, at) == ',' && wt__is_digit(byte_at(scan, at + 1)) && at - start > 4 &&
                 byte_at(scan, at - 4) == '.' && !wt__is_digit(byte_at(scan, at + 3));
    if (!points && !comma)
        return at;
    return skip_number(scan, at);
}

/* Returns the end of a degree sign with its scale or direction ("11.6° N"); `at` if absent. *negative: true for south
 * and west, which some APIs write as negative numbers. */
static size_t skip_degrees(const struct scan *scan, size_t at, bool *negative)
{
    size_t end = skip_text(scan, at, "\xc2\xb0"), letter = end + (byte_at(scan, end) == ' ');
    char c = byte_at(scan, letter);
    *negative = false;
    if (end == at || c == 0 || !strchr("CFNESW", c) || has_word_at(scan, letter + 1))
        return end;
    *negative = c == 'S' || c == 'W';
    return letter + 1;
}

/* Reads a number with more digits than a double holds, such as a card number, as a code. */
static int read_long_code(struct scan *scan, struct literal *out)
{
    size_t end = wt__is_digit(byte_at(scan, scan->at)) ? skip_number(scan, scan->at) : scan->at;
    return end > scan->at && !has_word_at(scan, end) ? set_literal(scan, out, LITERAL_CODE, end) : 0;
}

static int read_number_literal(struct scan *scan, struct literal *out)
{
    bool negative;
    size_t start = scan->at, unsigned_at = skip_minus(scan, start), digits = skip_currency_sign(scan, unsigned_at);
    double value = 0;
    size_t end = read_literal_decimal(scan, digits, &value);
    if (end == digits)
        return read_long_code(scan, out);
    size_t other = skip_other_digits(scan, digits, end), degrees = skip_degrees(scan, end, &negative);
    if (other > end || negative)
        return set_literal(scan, out, LITERAL_CODE, negative ? degrees : other);
    bool percent = byte_at(scan, end) == '%', money = digits > unsigned_at || skip_currency_sign(scan, end) > end;
    end = degrees > end ? degrees : apply_magnitude(scan, end, &value);
    struct str currency;
    size_t named = skip_currency_name(scan, end, &currency);
    money |= named > end;
    end = named;
    /* "3D", "1st" and "8tq" are not numbers; "5km" is. */
    struct str suffix = slice_scan(scan, end, find_literal_word_end(scan, end));
    if (suffix.len > 0 && !wt__str_among(suffix, units, sizeof units / sizeof *units))
        return 0;
    *out = (struct literal){LITERAL_NUMBER,
                            start,
                            end,
                            .number = unsigned_at > start ? -value : value,
                            .money = money,
                            .percent = percent,
                            .currency = currency};
    return write_literal_number(scan, out);
}

static int read_number_word_literal(struct scan *scan, struct literal *out)
{
    struct str word = slice_scan(scan, scan->at, find_literal_word_end(scan, scan->at));
    double number = is_same_word(word, "dozen") ? 12 : 0;
    for (size_t i = 0; i < sizeof number_words / sizeof *number_words; i++)
        number = is_same_word(word, number_words[i]) ? (double)i + 2 : number;
    *out = (struct literal){LITERAL_NUMBER, scan->at, scan->at + word.len, .number = number, .spelled = true};
    return number > 0 ? write_literal_number(scan, out) : 0;
}

/* ---------------------------------------------------------------- dates and times */

static unsigned read_digit_run(const struct scan *scan, size_t *at, size_t most)
{
    unsigned value = 0;
    for (size_t i = 0; i < most && wt__is_digit(byte_at(scan, *at)); i++)
        value = 10 * value + (unsigned)(byte_at(scan, (*at)++) - '0');
    return value;
}

static bool is_valid_date(unsigned year, unsigned month, unsigned day)
{
    static const unsigned char days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return month >= 1 && month <= 12 && day >= 1 && day <= days[month - 1] && !(month == 2 && day == 29 && !leap) &&
           year >= 1000 && year <= 9999;
}

static int write_iso_date(struct scan *scan, struct literal *out, size_t end, unsigned year, unsigned month,
                          unsigned day)
{
    if (!is_valid_date(year, month, day) || has_word_at(scan, end))
        return 0;
    char text[16];
    snprintf(text, sizeof text, "%04u-%02u-%02u", year, month, day);
    *out = (struct literal){.kind = LITERAL_DATE, .start = scan->at, .end = end};
    return copy_literal_text(out, scan->arena, text);
}

/* Reads "2023-04-15", "2023/04/15", "4/15/2023" and "15.4.2023". */
static int read_numeric_date_literal(struct scan *scan, struct literal *out)
{
    size_t at = scan->at;
    unsigned first = read_digit_run(scan, &at, 4);
    size_t width = at - scan->at;
    char between = byte_at(scan, at);
    if (width == 0 || (between != '-' && between != '/' && between != '.'))
        return 0;
    size_t part = ++at;
    unsigned second = read_digit_run(scan, &at, 2);
    if (at == part || byte_at(scan, at) != between)
        return 0;
    part = ++at;
    unsigned third = read_digit_run(scan, &at, 4);
    if (width == 4)
        return at - part > 2 ? 0 : write_iso_date(scan, out, at, first, second, third);
    if (at - part != 4 || width > 2)
        return 0;
    bool day_first = between == '.' || first > 12;
    return write_iso_date(scan, out, at, third, day_first ? second : first, day_first ? first : second);
}

/* Returns the number (1 to 12) of the month whose name is at *at, and moves *at behind the name; 0 if absent. */
static unsigned read_month(const struct scan *scan, size_t *at)
{
    static const char *const months[] = {"january", "february", "march",     "april",   "may",      "june",
                                         "july",    "august",   "september", "october", "november", "december"};
    size_t end = find_literal_word_end(scan, *at);
    struct str word = slice_scan(scan, *at, end);
    for (unsigned m = 0; m < 12; m++) {
        bool brief = word.len == 3 || (word.len == 4 && m == 8); /* "sept" */
        if (!is_same_word(word, months[m]) && !(brief && strncasecmp(word.ptr, months[m], word.len) == 0))
            continue;
        *at = end + (byte_at(scan, end) == '.');
        return m + 1;
    }
    return 0;
}

static void skip_date_separator(const struct scan *scan, size_t *at)
{
    while (byte_at(scan, *at) == ' ' || byte_at(scan, *at) == ',')
        (*at)++;
}

static unsigned read_day(const struct scan *scan, size_t *at)
{
    static const char *const ordinals[] = {"st", "nd", "rd", "th"};
    unsigned day = read_digit_run(scan, at, 2);
    if (wt__str_among(slice_scan(scan, *at, find_literal_word_end(scan, *at)), ordinals,
                      sizeof ordinals / sizeof *ordinals))
        *at += 2;
    return day;
}

/* Reads "April 15th, 2023", "15 April 2023" and "15th of April 2023". */
static int read_written_date_literal(struct scan *scan, struct literal *out)
{
    size_t at = scan->at;
    unsigned day = 0, month = read_month(scan, &at);
    if (month == 0) {
        if (!wt__is_digit(byte_at(scan, at)))
            return 0;
        day = read_day(scan, &at);
        skip_date_separator(scan, &at);
        if (is_same_word(slice_scan(scan, at, find_literal_word_end(scan, at)), "of"))
            at += 3;
        month = read_month(scan, &at);
    } else {
        skip_date_separator(scan, &at);
        day = read_day(scan, &at);
    }
    skip_date_separator(scan, &at);
    unsigned year = read_digit_run(scan, &at, 4);
    return month == 0 || day == 0 ? 0 : write_iso_date(scan, out, at, year, month, day);
}

/* Returns the end of `sign` and two digits with a value of at most `most`, such as ":59"; `at` if the request has other
 * text there. */
static size_t skip_time_part(const struct scan *scan, size_t at, char sign, unsigned most, unsigned *value)
{
    size_t end = at + 1;
    if (byte_at(scan, at) != sign || !wt__is_digit(byte_at(scan, end)) || !wt__is_digit(byte_at(scan, end + 1)))
        return at;
    *value = read_digit_run(scan, &end, 2);
    return *value <= most && !wt__is_digit(byte_at(scan, end)) ? end : at;
}

/* Returns the end of ":SS" at `at` with an optional fraction and zone (RFC 3339); `at` without seconds. */
static size_t skip_seconds(const struct scan *scan, size_t at)
{
    unsigned value;
    size_t end = skip_time_part(scan, at, ':', 59, &value);
    if (end == at)
        return at;
    if (byte_at(scan, end) == '.' && wt__is_digit(byte_at(scan, end + 1))) {
        end++;
        read_digit_run(scan, &end, FRACTION_DIGITS);
    }
    char zone = byte_at(scan, end);
    if ((zone == 'Z' || zone == 'z') && !has_word_at(scan, end + 1))
        return end + 1;
    size_t hours = zone == '+' || zone == '-' ? skip_time_part(scan, end, zone, 23, &value) : end;
    size_t minutes = hours > end ? skip_time_part(scan, hours, ':', 59, &value) : hours;
    return minutes > hours ? minutes : end;
}

/* Reads "2026-12-01T19:30:00Z" as one literal. The seconds are optional. A zone is read only after seconds. */
static int read_date_time_literal(struct scan *scan, struct literal *out)
{
    unsigned month = 0, day = 0, hour = 0, minute = 0;
    size_t at = scan->at;
    unsigned year = read_digit_run(scan, &at, 4);
    size_t behind_month = skip_time_part(scan, at, '-', 12, &month);
    size_t behind_day = skip_time_part(scan, behind_month, '-', 31, &day);
    char between = (char)(byte_at(scan, behind_day) | 0x20);
    size_t behind_hour = skip_time_part(scan, behind_day, byte_at(scan, behind_day), 23, &hour);
    size_t end = skip_time_part(scan, behind_hour, ':', 59, &minute);
    bool whole = at == scan->at + 4 && between == 't' && behind_hour > behind_day && end > behind_hour;
    end = skip_seconds(scan, end);
    return whole && is_valid_date(year, month, day) && !has_word_at(scan, end)
               ? set_literal(scan, out, LITERAL_DATE_TIME, end)
               : 0;
}

/* Returns the end of "UTC" or "Z" after a time; `at` if absent. */
static size_t skip_utc(const struct scan *scan, size_t at)
{
    size_t word = at + (byte_at(scan, at) == ' '), end = find_literal_word_end(scan, word);
    struct str zone = slice_scan(scan, word, end);
    return wt__str_equal(zone, STR("UTC")) || wt__str_equal(zone, STR("Z")) ? end : at;
}

static int read_time_literal(struct scan *scan, struct literal *out)
{
    size_t at = scan->at;
    unsigned hour = read_digit_run(scan, &at, 2), minute = 0;
    if (at == scan->at)
        return 0;
    bool colon = byte_at(scan, at) == ':' && wt__is_digit(byte_at(scan, at + 1)) && wt__is_digit(byte_at(scan, at + 2));
    if (colon) {
        at++;
        minute = read_digit_run(scan, &at, 2);
    }
    struct str seconds = slice_scan(scan, at, colon ? skip_seconds(scan, at) : at);
    at += seconds.len;
    size_t half = at + (byte_at(scan, at) == ' ');
    char letter = (char)(byte_at(scan, half) | 0x20);
    size_t dots = byte_at(scan, half + 1) == '.';
    bool is_half = (letter == 'a' || letter == 'p') && (byte_at(scan, half + 1 + dots) | 0x20) == 'm' &&
                   !has_word_at(scan, half + 2 + dots);
    if ((!colon && !is_half) || hour > 23 || minute > 59 || (is_half && (hour < 1 || hour > 12)))
        return 0;
    if (is_half) {
        hour = hour % 12 + (letter == 'p' ? 12 : 0);
        at = half + 2 + dots + (dots && byte_at(scan, half + 2 + dots) == '.');
    }
    enum { SECONDS = 3 }; /* bytes of ":15"; longer with a fraction or a zone */
    size_t zone = seconds.len > SECONDS ? at : skip_utc(scan, at);
    char text[TIME_BYTES];
    snprintf(text, sizeof text, "%02u:%02u%.*s", hour, minute, (int)seconds.len, seconds.ptr);
    *out = (struct literal){LITERAL_TIME, scan->at, zone, .utc = zone > at};
    return copy_literal_text(out, scan->arena, text);
}

/* ---------------------------------------------------------------- texts */

/* Reads an email or web address up to the next blank, without punctuation at its end. */
static int read_address_literal(struct scan *scan, struct literal *out)
{
    size_t end = scan->at;
    bool at_sign = false, scheme = false, may_be = false, word = true; /* word: all bytes so far fit a URL scheme */
    if ((byte_at(scan, end) && strchr("([<\"'`", byte_at(scan, end))) || end < scan->no_address_before)
        return 0;
    for (; !ends_literal(byte_at(scan, end)) && byte_at(scan, end) != ' ' && end - scan->at < ADDRESS_BYTES; end++) {
        char c = byte_at(scan, end);
        bool parts_scheme = skip_text(scan, end, "://") > end;
        may_be |= c == '@' || parts_scheme;
        at_sign |= c == '@' && end > scan->at;
        scheme |= word && parts_scheme;
        word &= isalnum((unsigned char)c) || strchr("+-.", c);
    }
    bool is_too_long = end - scan->at == ADDRESS_BYTES;
    scan->no_address_before = may_be && !is_too_long ? scan->no_address_before : end;
    if (is_too_long)
        return 0;
    while (end > scan->at && strchr(".,;:!?'\")>]", byte_at(scan, end - 1)))
        end--;
    if (scheme)
        return set_literal(scan, out, LITERAL_URL, end);
    return at_sign && memchr(scan->request.ptr + scan->at, '.', end - scan->at)
               ? set_literal(scan, out, LITERAL_EMAIL, end)
               : 0;
}

/* Reads "..." or '...', also with typographic quotes. An apostrophe within a word does not open a quote. */
static int read_quoted_literal(struct scan *scan, struct literal *out)
{
    static const struct {
        const char *open, *close;
    } quotes[] = {{"\"", "\""},
                  {"'", "'"},
                  {"`", "`"},
                  {"\xe2\x80\x9c", "\xe2\x80\x9d"},
                  {"\xe2\x80\x98", "\xe2\x80\x99"},
                  {"\xc2\xab", "\xc2\xbb"}};
    size_t begin = scan->at, q = 0;
    while (q < sizeof quotes / sizeof *quotes && (begin = skip_text(scan, scan->at, quotes[q].open)) == scan->at)
        q++;
    if (begin == scan->at || is_word_before(scan, scan->at))
        return 0;
    for (size_t end = begin; !ends_literal(byte_at(scan, end)) && end - begin < QUOTED_BYTES; end++) {
        size_t behind = skip_text(scan, end, quotes[q].close);
        if (behind > end && end > begin && !has_word_at(scan, behind)) {
            *out = (struct literal){LITERAL_QUOTED, scan->at, behind, .text = slice_scan(scan, begin, end)};
            return 1;
        }
    }
    return 0;
}

static int read_code_literal(struct scan *scan, struct literal *out)
{
    size_t end = scan->at;
    bool letter = false, digit = false, lower_then_upper = false;
    for (size_t next;; end = next) {
        char c = byte_at(scan, end);
        bool joint = (c == '-' || c == '_') && end > scan->at && has_word_at(scan, end + 1);
        next = joint ? end + 1 : find_letter_end(scan, end);
        if (next == end)
            break;
        letter |= isalpha((unsigned char)c) != 0;
        digit |= wt__is_digit(c);
        lower_then_upper |=
            end > scan->at && isupper((unsigned char)c) && islower((unsigned char)byte_at(scan, end - 1));
    }
    return (letter && digit) || (lower_then_upper && letter) ? set_literal(scan, out, LITERAL_CODE, end) : 0;
}

static bool is_sentence_start(const struct scan *scan, size_t at)
{
    while (at > 0 && (wt__is_blank(byte_at(scan, at - 1)) || strchr("\"'(", byte_at(scan, at - 1))))
        at--;
    return at == 0 || strchr(".!?:", byte_at(scan, at - 1)) != NULL;
}

/* True for capitalised words that are not names: "I", formats such as "PDF", kinds of identifiers such as "UUID", and
 * stop words. */
static bool is_nameless_word(struct str word)
{
    static const char *const none[] = {"I",  "I'm", "ID", "IDs", "API", "APIs", "URL",  "UUID", "IP",  "PM",
                                       "AM", "OK",  "TV", "FAQ", "PDF", "CSV",  "JSON", "HTML", "ISO", "UTC"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (wt__str_equal(word, wt__str(none[i])))
            return true;
    return wt__is_stopword_any_case(word);
}

/* Returns the start of the next capitalised word of a name, or 0 if the name ends at `at`. Skips a blank or a hyphen,
 * and then a small word such as "of". Also skips a comma before the two letters of a state: "Austin, TX". */
static size_t find_next_name_word(const struct scan *scan, size_t at)
{
    static const char *const small[] = {"of", "de", "la", "the", "van", "von", "del"};
    at += byte_at(scan, at) == '.' && at - scan->at <= 3;
    bool comma = byte_at(scan, at) == ',' && byte_at(scan, at + 1) == ' ';
    if (!comma && byte_at(scan, at) != ' ' && byte_at(scan, at) != '-')
        return 0;
    at += comma ? 2 : 1;
    struct str word = slice_scan(scan, at, find_literal_word_end(scan, at));
    if (comma)
        return word.len == 2 && isupper((unsigned char)word.ptr[0]) && isupper((unsigned char)word.ptr[1]) ? at : 0;
    if (wt__str_among(word, small, sizeof small / sizeof *small) && !isupper((unsigned char)word.ptr[0]))
        at += word.len + 1;
    return is_capital_at(scan, at) ? at : 0;
}

/* Reads capitalised words as a name. The first word of a sentence is always capitalised, so this word alone is not a
 * name. */
static int read_name_literal(struct scan *scan, struct literal *out)
{
    size_t end = find_literal_word_end(scan, scan->at), words = 1;
    struct str first = slice_scan(scan, scan->at, end);
    struct verb verb = wt__verb(first);
    bool begins = is_sentence_start(scan, scan->at), says_nothing = is_nameless_word(first);
    bool asks = verb.actions != 0 && !verb.noun && begins;
    if (!is_capital_at(scan, scan->at) || (says_nothing && (begins || first.len < 3)) || asks)
        return 0;
    for (size_t at; words < NAME_WORDS && (at = find_next_name_word(scan, end)) > 0; words++)
        end = find_literal_word_end(scan, at);
    return words == 1 && (begins || says_nothing) ? 0 : set_literal(scan, out, LITERAL_NAME, end);
}

int wt__literals_read(struct literals *out, struct str request, struct arena *arena)
{
    static int (*const readers[])(struct scan *, struct literal *) = {
        read_quoted_literal,       read_address_literal, read_date_time_literal, read_numeric_date_literal,
        read_written_date_literal, read_time_literal,    read_number_literal,    read_number_word_literal,
        read_code_literal,         read_name_literal};
    struct scan scan = {.request = request, .arena = arena};
    *out = (struct literals){.request = request, .items = wt__arena_array(arena, struct literal, LITERALS_MOST)};
    if (!out->items)
        return WT_ENOMEM;
    while (scan.at < request.len && out->len < LITERALS_MOST) {
        int rc = 0;
        for (size_t r = 0; r < sizeof readers / sizeof *readers && rc == 0; r++)
            rc = readers[r](&scan, &out->items[out->len]);
        if (rc < 0)
            return rc;
        if (rc > 0)
            scan.at = out->items[out->len++].end;
        else if (has_word_at(&scan, scan.at))
            scan.at = find_literal_word_end(&scan, scan.at);
        else
            scan.at++;
    }
    return 0;
}
