/* demonstrations.h: learns about the parameters of a tool from past calls: example values, and the usual value absent
 * from requests ("units": "metric"). ToolVerifier (2.3) shows such calls to a language model; here they complement the
 * schema. */
#ifndef WT_CALL_DEMONSTRATIONS_H
#define WT_CALL_DEMONSTRATIONS_H

#include "call/parameters.h"

enum { DEMONSTRATIONS_MOST = 32 /* maximum past calls read of a tool, newest first */ };

struct demonstration {
    struct str request;      /* "" if unknown */
    const json_t *arguments; /* an object */
};

/* Extends the parameters, which borrow from the calls. A text found in its request, or of an unknown request, becomes
 * an example, like one quoted in the description. The usual value is a value absent from requests and used by at least
 * half of these calls; a required parameter falls back to it. A parameter without a type becomes a number if its past
 * values are numbers. 0 or WT_ENOMEM. */
int wt__parameters_learn(struct parameters *parameters, const struct demonstration *calls, size_t count,
                         struct arena *arena);

#endif
