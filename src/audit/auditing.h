/* auditing.h: an audit under way: the catalogue as it was read, what was found, and what the families of rules share.
 *
 * Findings may come in any order and from one thread; they are sorted by rule in the end. What a rule says lives in
 * the result's arena, what it needs meanwhile in `scratch`. */
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
    AUDIT_FIRST_PLACES = 5, /* what a user or a model is shown: the default of wt_find */
};

struct audited_tool {
    struct tool tool; /* views in the arena */
    int64_t key;      /* the store's id */
    uint32_t provider;
    const char *id;     /* as in wt_tool */
    const char *source; /* in the result's arena: the file that it comes from, or a name; "": it is not known */
    uint64_t says;      /* a hash of the description, but for case, blanks and punctuation; 0: it has none */
};

struct audited_provider {
    struct str name;
    size_t tools;
};

/* Of tools that fit the pattern (catalog/names.h) a rule's findings are not wanted. */
struct exception {
    enum audit_rule rule;
    struct str pattern;
};

struct auditing {
    wt_engine *engine;
    wt_audit_options options;
    bool wanted[AUDIT_RULES];
    struct exception *exceptions; /* [exception_count] */
    size_t exception_count;
    struct progress progress;
    struct arena *arena;        /* the result's */
    struct arena scratch;       /* of the audit */
    struct audited_tool *tools; /* [count] by key */
    size_t count, capacity;
    struct audited_provider *providers; /* [provider_count] in the order of their first tools */
    size_t provider_count, provider_capacity;
    bool scoped;
    uint32_t scope; /* with scoped: the only provider whose findings are wanted */
    struct kept_finding {
        struct placed_finding finding;
        enum audit_rule rule;
        size_t order; /* as it was found */
    } * findings;     /* [finding_count] */
    size_t finding_count, finding_capacity;
    const char *notice;
    const char *store; /* the name of its file */
    const char *pins;  /* the whole path of theirs; NULL: it is not known */
};

/* What is found: of tools, or of a provider without one. */
struct found {
    enum audit_rule rule;
    const uint32_t *tools; /* [count] the first is what it is about */
    size_t count;
    uint32_t provider;              /* where count is 0 */
    struct str gone, gone_provider; /* id of a tool that is not here, in place of all these; "": none */
    size_t line;                    /* of the pins, where it is gone */
    double figure;                  /* NaN: none */
    const char *advice;             /* NULL: the rule's */
};

/* Whether anybody wants it. */
bool wt__audit_wants(const struct auditing *a, const struct found *found);

/* Keeps the finding with its message, where it is wanted. */
int wt__audit_find(struct auditing *a, const struct found *found, wt_error *err, const char *format, ...)
    WT_PRINTF(4, 5);

/* The same of one tool, without a figure. */
int wt__audit_find_one(struct auditing *a, enum audit_rule rule, size_t tool, wt_error *err, const char *format, ...)
    WT_PRINTF(5, 6);

/* The beginning of a text on one line, as a message quotes it: characters that nobody sees as U+XXXX. In scratch; ""
 * when memory is out. */
const char *wt__audit_quoted(struct auditing *a, struct str text);

/* The place of the tool with that id of the store; `count` where there is none. */
size_t wt__audit_place(const struct auditing *a, int64_t key);

#endif
