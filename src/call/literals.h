/* literals.h: what of a request may stand as an argument as it is: numbers, dates, times, addresses, quoted texts,
 * identifiers and names of things (Mekala et al. 2024, "ToolVerifier", 2.3, has a language model write arguments; this
 * is what is there to choose from without one). Rules of spelling only: nothing is known of the tool here.
 *
 * Values are normalised by these rules: a number loses its thousands separators, its currency and its percent sign,
 * and "k", "million" or "billion" behind it multiplies it; number words from two to twenty and "dozen" are numbers; a
 * date with a year becomes YYYY-MM-DD, of "3/4/2023" the month stands first, unless it is above twelve; a time becomes
 * HH:MM, or with seconds HH:MM:SS and the zone behind it. What needs a calendar or a clock to be told ("tomorrow",
 * "next Friday") is none. */
#ifndef WT_CALL_LITERALS_H
#define WT_CALL_LITERALS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"

enum { LITERALS_MOST = 64 }; /* of one request; later ones are not read */

enum literal_kind {
    LITERAL_NUMBER,
    LITERAL_DATE,
    LITERAL_TIME,
    LITERAL_DATE_TIME, /* of RFC 3339, as it is */
    LITERAL_EMAIL,
    LITERAL_URL,
    LITERAL_QUOTED,
    LITERAL_CODE, /* letters and digits in one: an identifier */
    LITERAL_NAME, /* words with capitals */
};

struct literal {
    enum literal_kind kind;
    size_t start, end; /* bytes of the request */
    struct str text;   /* as an argument: normalised; lives as long as the arena or the request */
    double number;     /* of a number */
    bool spelled;      /* a number word, which may be none: "two of them" */
    bool money, percent;
    bool utc;            /* of a time, that it says so: "14:30 UTC"; its text has no zone then */
    struct str currency; /* of an amount of money, its code, "USD"; empty: it has none */
};

/* A request with its literals in its order, none within another: read once, for all tools that it may call. */
struct literals {
    struct str request;    /* borrowed */
    struct literal *items; /* [len] in the arena, at most LITERALS_MOST */
    size_t len;
};

/* "USD": a code of a currency that amounts are read with. */
bool wt__is_currency(struct str word);

/* 0 or WT_ENOMEM. */
int wt__literals_read(struct literals *out, struct str request, struct arena *arena);

#endif
