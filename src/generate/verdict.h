/* verdict.h: asks if a set of tools solves a request exactly (PTR, appendix C.2).
 *
 *   exact     the tools fulfil the whole request, and each of them is needed
 *   over      they fulfil the whole request, and at least one is not needed
 *   partial   they do not fulfil the whole request
 *
 * The model is asked twice about each request: with all its tools, and with one of them, drawn by seed, removed. A
 * request qualifies if the first verdict is exact and the second partial. Both use temperature 0. */
#ifndef WT_GENERATE_VERDICT_H
#define WT_GENERATE_VERDICT_H

#include "generate/stage.h"

enum {
    VERDICT_TOOLS_MAX = 32,  /* maximum of a request, and of the prompt's slot */
    VERDICT_LINE_BYTES = 420 /* maximum of a tool's "name: description" */
};

enum verdict { VERDICT_NONE, VERDICT_EXACT, VERDICT_OVER, VERDICT_PARTIAL, VERDICTS };

struct verdict_case {
    struct str request;
    const struct str *tools; /* [tool_count] lines; at least one */
    size_t tool_count;
    size_t removed;             /* index of the tool removed for the second question */
    enum verdict first, second; /* VERDICT_NONE if there was no usable answer */
};

/* Sets removed, first and second of cases [count]. Errors: those of wt__stage_run. */
int wt__verdicts_ask(struct stage_runner *asker, struct verdict_case *cases, size_t count, wt_error *err);

static inline bool wt__verdict_qualifies(const struct verdict_case *verdict)
{
    return verdict->first == VERDICT_EXACT && verdict->second == VERDICT_PARTIAL;
}

/* Returns "none", "exact", "over" or "partial". */
const char *wt__verdict_name(enum verdict verdict);

/* Appends "verdicts":{...}: counts in total and by the number of tools, with the paper's for comparison. */
void wt__verdicts_report(const struct verdict_case *cases, size_t count, struct buffer *out);

/* Appends the same as a table to read, with the model's name. */
void wt__verdicts_text(const struct verdict_case *cases, size_t count, const char *model, struct buffer *out);

#endif
