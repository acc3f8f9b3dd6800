/* coverage.h: whether a call says all that its request does, as far as words tell. What a request wants of an optional
 * argument it seldom says in the words of that argument: "suitable for children" is family_friendly. No rule finds what
 * is meant; but words that nothing of the call accounts for, while an argument is open that such words may be for, show
 * that something may be. Then that is asked for. */
#ifndef WT_CALL_COVERAGE_H
#define WT_CALL_COVERAGE_H

#include "call/arguments.h"
#include "call/intent.h"

enum {
    COVERAGE_OPEN = 1,     /* arguments that may be open, whatever the request says */
    COVERAGE_UNREAD = 1,   /* words that may be unread while one is */
    COVERAGE_WORDS = 512,  /* of a request; one that is longer leaves some unread */
    COVERAGE_BYTES = 2048, /* of what a tool says of itself, and of a past request: their words account for others */
    COVERAGE_VALUE_BYTES =
        200,                  /* of a model's value that is looked for in the request; a longer one is in other words */
    COVERAGE_PAST_ENOUGH = 3, /* past calls, none of which has an argument: it is seldom wanted */
};

/* Makes every open argument unsure where the request may say something of one. Open is an optional argument for words
 * (not a number, and not yes or no) that is absent, and that past calls do not do without. What accounts for a word: an
 * argument that is from it, the tool's name and description, names and descriptions of arguments that are not open, and
 * past requests whose calls have none of the open ones. */
void wt__coverage_check(struct call_arguments *arguments, struct str request, struct str about,
                        const struct parameters *parameters);

/* Returns the first word that the request orders and the call of a tool that acts does not account for: "kitchen" of
 * "cancel all kitchen timers", whose call is {}. Empty if every word is accounted for. A word is accounted for by what
 * wt__coverage_check takes, by the verb of its clause, by a value, or because it never narrows what is acted on
 * ("now"). An optional argument that the request declines ("label: none") accounts for all, and so does an identifier
 * of what the tool acts on. tool: its name, in words. */
struct str wt__coverage_unread(const struct call_arguments *arguments, const struct intent *intent, struct str request,
                               struct str tool, struct str description, const struct parameters *parameters);

#endif
