/* demonstrations.h: learns about the parameters of a tool from past calls: example values, and the usual value where a
 * request does not say one ("units": "metric"). ToolVerifier (2.3) shows such calls to a language model; here they add
 * to the schema. */
#ifndef WT_CALL_DEMONSTRATIONS_H
#define WT_CALL_DEMONSTRATIONS_H

#include "call/parameters.h"

enum { DEMONSTRATIONS_MOST = 32 /* newest calls of a tool that are read */ };

struct demonstration {
    struct str request;      /* "" if it is unknown */
    const json_t *arguments; /* an object */
};

/* Adds what the calls show to the parameters, which borrow from the calls. A text that stands in its request, or whose
 * request is unknown, becomes an example, as if the description quoted it. The usual value is one that at least half of
 * the calls have whose requests do not say a value; a required parameter gets it if the request says none. A parameter
 * without a type becomes a number if its past values are. 0 or WT_ENOMEM. */
int wt__parameters_learn(struct parameters *parameters, const struct demonstration *calls, size_t count,
                         struct arena *arena);

#endif
