/* coverage.h: finds words of a request that its call does not account for.
 *
 * Requests rarely name an optional argument: "suitable for children" means family_friendly. No rule finds the argument.
 * But words that the call does not account for, while an optional argument is open, show that one may be meant. Then
 * the caller asks. */
#ifndef WT_CALL_COVERAGE_H
#define WT_CALL_COVERAGE_H

#include "call/arguments.h"
#include "call/intent.h"

enum {
    COVERAGE_OPEN = 1,          /* arguments that may be open without a question */
    COVERAGE_UNREAD = 1,        /* unread words that are tolerated while an argument is open */
    COVERAGE_WORDS = 512,       /* words of a request that are read; a longer one counts as unread */
    COVERAGE_BYTES = 2048,      /* bytes of a description or a past request that are read */
    COVERAGE_VALUE_BYTES = 200, /* longest value of a model that is looked for in the request */
    COVERAGE_PAST_ENOUGH = 3,   /* past calls without an argument that show it is rarely wanted */
};

/* Makes every open argument unsure if the request may say something about one. An optional argument is open if it takes
 * text, is absent, and is not missing from all past calls. A word is accounted for by an argument read from it, by the
 * tool's name and description, by names and descriptions of arguments that are not open, and by past requests whose
 * calls have none of the open arguments. */
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
