/* verdict.h: does a set of tools solve a request exactly? (PTR, appendix C.2)
 *
 *   exact     the tools meet all that is asked for, and each of them is needed
 *   over      they meet all of it, and at least one is not needed
 *   partial   something of it is met by none of them
 *
 * A language model is asked twice for each request: with its tools, and with one of them, drawn by seed, taken away. A
 * request qualifies where the first verdict is exact and the second one partial. Both are asked at temperature 0. */
#ifndef WT_GENERATE_VERDICT_H
#define WT_GENERATE_VERDICT_H

#include "generate/stage.h"

enum {
    VERDICT_TOOLS_MAX = 32,  /* of a request; the prompt's slot takes as many */
    VERDICT_LINE_BYTES = 420 /* of a tool, "name: description" */
};

enum verdict { VERDICT_NONE, VERDICT_EXACT, VERDICT_OVER, VERDICT_PARTIAL, VERDICTS };

struct verdict_case {
    struct str request;
    const struct str *tools; /* [tool_count] lines; at least one */
    size_t tool_count;
    size_t removed;             /* of these, the second time */
    enum verdict first, second; /* VERDICT_NONE: no answer of use */
};

/* Sets removed, first and second of cases [count]. Errors: those of wt__stage_run. */
int wt__verdicts_ask(struct asker *asker, struct verdict_case *cases, size_t count, wt_error *err);

static inline bool wt__verdict_qualifies(const struct verdict_case *verdict)
{
    return verdict->first == VERDICT_EXACT && verdict->second == VERDICT_PARTIAL;
}

/* "none", "exact", "over", "partial". */
const char *wt__verdict_name(enum verdict verdict);

/* Appends "verdicts":{...}: how many of each, in all and by the number of tools; and the paper's own beside them. */
void wt__verdicts_report(const struct verdict_case *cases, size_t count, struct buffer *out);

/* Appends a table of the same to be read by a person, with the model's name. */
void wt__verdicts_text(const struct verdict_case *cases, size_t count, const char *model, struct buffer *out);

#endif
