/* families.h: the families of rules. Each checks one tool or the whole catalogue, and reports findings.
 *
 * All return 0 or an error code. A defect of a tool is a finding, never an error. */
#ifndef WT_AUDIT_FAMILIES_H
#define WT_AUDIT_FAMILIES_H

#include <jansson.h>

#include "audit/auditing.h"
#include "audit/searches.h"
#include "audit/wording.h"

/* Limits above which a schema or name is reported as too large. */
enum {
    AUDIT_SCHEMA_BYTES = 16 << 10,
    AUDIT_SCHEMA_DEPTH = 12, /* levels of nesting */
    AUDIT_SCHEMA_PARAMETERS = 50,
    AUDIT_NAME_WORDS = 12, /* maximum words of a name */
};

/* The tool under examination. */
struct checked_tool {
    size_t tool;
    const json_t *schema;     /* stored schema of the arguments; NULL if not valid JSON */
    const json_t *definition; /* definition from the source; NULL if not valid JSON */
    struct wording wording;   /* scratch */
};

int wt__audit_description(struct audit_run *a, struct checked_tool *at, wt_error *err); /* descriptions.c */
int wt__audit_instructions(struct audit_run *a, struct checked_tool *at, wt_error *err);
int wt__audit_characters(struct audit_run *a, struct checked_tool *at, wt_error *err); /* characters.c */
int wt__audit_schema(struct audit_run *a, struct checked_tool *at, wt_error *err);     /* schemas.c */
int wt__audit_name(struct audit_run *a, struct checked_tool *at, wt_error *err);       /* names.c */

/* Check all tools. */
int wt__audit_duplicates(struct audit_run *a, wt_error *err); /* descriptions.c */
int wt__audit_pinned(struct audit_run *a, wt_error *err);     /* pinned.c; needs options->pins */

/* Evaluate the searches. */
int wt__audit_reach(struct audit_run *a, const struct audit_searches *searches, wt_error *err);
int wt__audit_copies(struct audit_run *a, const struct audit_searches *searches, wt_error *err);
int wt__audit_capture(struct audit_run *a, const struct audit_searches *searches, wt_error *err);

/* True if these shares of the first places and of the tools are those of a flood (capture.c). */
bool wt__is_capture(double of_places, double of_tools);

#endif
