/* demonstrations.h: what past calls of a tool say of its parameters: examples of values that requests say, and what is
 * usually given where the request says nothing ("units": "metric"). ToolVerifier (2.3) shows such calls to a language
 * model; here they stand in for what the schema does not tell. */
#ifndef WT_CALL_DEMONSTRATIONS_H
#define WT_CALL_DEMONSTRATIONS_H

#include "call/parameters.h"

enum { DEMONSTRATIONS_MOST = 32 /* of a tool, the newest, that are looked at */ };

struct demonstration {
    struct str request;      /* "": it is not known */
    const json_t *arguments; /* an object */
};

/* Adds to the parameters what the calls say; they borrow from both. A text that its request says, or of which the
 * request is not known, becomes an example, as if the description quoted it. Of values that their requests do not say,
 * one that at least half of the calls without a said value have becomes the usual one, which a required parameter has
 * when the request says nothing. A parameter of any type has that of the numbers that it was called with. 0 or
 * WT_ENOMEM. */
int wt__parameters_learn(struct parameters *parameters, const struct demonstration *calls, size_t count,
                         struct arena *arena);

#endif
