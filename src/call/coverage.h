/* coverage.h: finds words of a request that its call does not account for.
 *
 * Requests rarely name an optional argument: "suitable for children" means family_friendly. No rule finds the argument.
 * But unread words show that an open optional argument may be meant. Then the caller asks. */
#ifndef WT_CALL_COVERAGE_H
#define WT_CALL_COVERAGE_H

#include "call/arguments.h"
#include "call/intent.h"

enum {
    COVERAGE_OPEN = 1,          /* arguments that may be open without a question */
    COVERAGE_UNREAD = 1,        /* unread words tolerated while an argument is open */
    COVERAGE_WORDS = 512,       /* maximum words read of a request; a longer request counts as unread */
    COVERAGE_BYTES = 2048,      /* bytes read of a description or a past request */
    COVERAGE_VALUE_BYTES = 200, /* longest value of a model to search for in the request */
    COVERAGE_PAST_ENOUGH = 3,   /* past calls without an argument needed to regard it as rare */
};

/* Makes every open argument unsure if the request may be about one. An optional argument is open if it takes text, is
 * absent, and is in some past call. A word is accounted for by the argument read from it, by the tool's name and
 * description, by names and descriptions of other arguments, and by past requests whose calls have none of the open
 * arguments. */
void wt__coverage_check(struct call_arguments *arguments, struct str request, struct str about,
                        const struct parameters *parameters);

/* Returns the first ordered word unaccounted for by the call of a tool with side effects: "kitchen" of "cancel all
 * kitchen timers", whose call is {}. Empty if every word is accounted for. A word is accounted for as in
 * wt__coverage_check, by the verb of its clause, by a value, or because it never narrows an action ("now"). A declined
 * optional argument ("label: none") accounts for all words, and so does an identifier of the tool's object. tool: its
 * name, in words. */
struct str wt__coverage_unread(const struct call_arguments *arguments, const struct intent *intent, struct str request,
                               struct str tool, struct str description, const struct parameters *parameters);

#endif
