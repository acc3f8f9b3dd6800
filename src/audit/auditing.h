/* auditing.h: state of a running audit: the catalogue, the findings so far, and helpers for the families of rules.
 *
 * Findings are added by one thread in any order, and sorted by rule at the end. Texts of findings live in the result's
 * arena, temporary data in `scratch`. */
#ifndef WT_AUDIT_AUDITING_H
#define WT_AUDIT_AUDITING_H

#include "audit/render.h"
#include "audit/rules.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/progress.h"
#include "catalog/tool.h"
#include "engine/engine.h"

enum {
    AUDIT_LISTED = 10,      /* tools that a finding lists */
    AUDIT_QUOTED = 120,     /* bytes of a text that a message quotes */
    AUDIT_FIRST_PLACES = 5, /* hits shown to a user or model: the default k of wt_find */
};

struct audited_tool {
    struct tool tool; /* views in the arena */
    int64_t key;      /* the store's id */
    uint32_t provider;
    const char *id;     /* same as in wt_tool */
    const char *source; /* file or name of the source, in the result's arena; "" if unknown */
    uint64_t text_hash; /* hash of the description, ignoring case, blanks and punctuation; 0 if empty */
};

struct audited_provider {
    struct str name;
    size_t tools;
};

/* Suppresses the findings of one rule for tools that match the pattern (catalog/names.h). */
struct rule_exception {
    enum audit_rule rule;
    struct str pattern;
};

struct audit_run {
    wt_engine *engine;
    wt_audit_options options;
    bool wanted[AUDIT_RULES];
    struct rule_exception *exceptions; /* [exception_count] */
    size_t exception_count;
    struct progress progress;
    struct arena *arena;        /* the result's */
    struct arena scratch;       /* freed when the audit ends */
    struct audited_tool *tools; /* [count] by key */
    size_t count, capacity;
    struct audited_provider *providers; /* [provider_count] in the order of their first tools */
    size_t provider_count, provider_capacity;
    bool scoped;
    uint32_t scope; /* if scoped: the only provider to report findings for */
    struct kept_finding {
        struct placed_finding finding;
        enum audit_rule rule;
        size_t order; /* order of discovery */
    } * findings;     /* [finding_count] */
    size_t finding_count, finding_capacity;
    const char *notice;
    const char *store; /* file name of the store */
    const char *pins;  /* absolute path of the pins file; NULL if unknown */
};

/* Finding to report: about tools, or about a provider if `count` is 0. */
struct new_finding {
    enum audit_rule rule;
    const uint32_t *tools; /* [count] the first is the subject */
    size_t count;
    uint32_t provider;                    /* used if count is 0 */
    struct str removed, removed_provider; /* id and provider of a removed tool, instead of the above; "" if unused */
    size_t line;                          /* line in the pins file, for a removed tool */
    double figure;                        /* NaN if none */
    const char *advice;                   /* NULL for the rule's own advice */
};

/* True if the finding should be reported: the rule is enabled, no exception matches, and it is in scope. */
bool wt__audit_wants_finding(const struct audit_run *a, const struct new_finding *found);

/* Formats the message and keeps the finding, if wt__audit_wants_finding. Errors: WT_ENOMEM. */
int wt__audit_add_finding(struct audit_run *a, const struct new_finding *found, wt_error *err, const char *format, ...)
    WT_PRINTF(4, 5);

/* Same as wt__audit_add_finding, for one tool and without a figure. */
int wt__audit_add_tool_finding(struct audit_run *a, enum audit_rule rule, size_t tool, wt_error *err,
                               const char *format, ...) WT_PRINTF(5, 6);

/* Returns the beginning of a text on one line, for use in a message. Invisible characters become [U+XXXX]. The result
 * is in scratch; "" if out of memory. */
const char *wt__audit_quote(struct audit_run *a, struct str text);

/* Returns the index of the tool with that store id; `count` if not found. */
size_t wt__audit_tool_index(const struct audit_run *a, int64_t key);

#endif
