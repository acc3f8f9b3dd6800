/* literals.h: finds the parts of a request usable as arguments: numbers, dates, times, addresses, quoted texts,
 * identifiers and names. It uses spelling alone and does not know the tool. (In ToolVerifier 2.3, Mekala et al. 2024, a
 * language model writes arguments; these are the candidates without a model.)
 *
 * Values are normalised:
 *   - Numbers: without thousands separators, currency and percent sign. "k", "million" and "billion" multiply. Number
 *   words from "two" to "twenty" and "dozen" are numbers.
 *   - Dates: YYYY-MM-DD, if the date has a year. The month comes first in "3/4/2023" unless it is above twelve.
 *   - Times: HH:MM, or HH:MM:SS with the zone if the request has seconds.
 *
 * Dates relative to the calendar or clock ("tomorrow", "next Friday") are not literals. */
#ifndef WT_CALL_LITERALS_H
#define WT_CALL_LITERALS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"

enum { LITERALS_MOST = 64 }; /* maximum literals read of a request */

enum literal_kind {
    LITERAL_NUMBER,
    LITERAL_DATE,
    LITERAL_TIME,
    LITERAL_DATE_TIME, /* RFC 3339, unchanged */
    LITERAL_EMAIL,
    LITERAL_URL,
    LITERAL_QUOTED,
    LITERAL_CODE, /* identifier with letters and digits */
    LITERAL_NAME, /* words with capitals */
};

struct literal {
    enum literal_kind kind;
    size_t start, end; /* bytes of the request */
    struct str text;   /* normalised; lives as long as the arena or the request */
    double number;     /* value of a number */
    bool spelled;      /* a number word; may not be meant as a number: "two of them" */
    bool money, percent;
    bool utc;            /* "UTC" follows the time, and is not in text */
    struct str currency; /* currency code of an amount ("USD"); empty if absent */
};

/* A request and its literals, in order and without overlaps. Read once for all tools. */
struct literals {
    struct str request;    /* borrowed */
    struct literal *items; /* [len] in the arena, at most LITERALS_MOST */
    size_t len;
};

/* True if the word is a known currency code, such as "USD". */
bool wt__is_currency(struct str word);

/* Finds the literals of the request. 0 or WT_ENOMEM. */
int wt__literals_read(struct literals *out, struct str request, struct arena *arena);

#endif
