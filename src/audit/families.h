/* families.h: the families of rules. Each looks at one tool, or at the whole catalogue, and tells what it finds.
 *
 * All return 0 or an error; what is wrong with a tool is a finding, never an error. */
#ifndef WT_AUDIT_FAMILIES_H
#define WT_AUDIT_FAMILIES_H

#include <jansson.h>

#include "audit/auditing.h"
#include "audit/searches.h"
#include "audit/wording.h"

/* Limits beyond which a schema is told as enormous, and a description as too long. */
enum {
    AUDIT_SCHEMA_BYTES = 16 << 10,
    AUDIT_SCHEMA_DEPTH = 12, /* values within values */
    AUDIT_SCHEMA_PARAMETERS = 50,
    AUDIT_NAME_WORDS = 12, /* a name of more is no name */
};

/* One tool, as the families look at it. */
struct looked_at {
    size_t tool;
    const json_t *schema;     /* of its arguments, as it is stored; NULL: it is no JSON */
    const json_t *definition; /* as its source has it; the same */
    struct wording wording;   /* scratch */
};

int wt__audit_description(struct auditing *a, struct looked_at *at, wt_error *err); /* descriptions.c */
int wt__audit_instructions(struct auditing *a, struct looked_at *at, wt_error *err);
int wt__audit_hidden(struct auditing *a, struct looked_at *at, wt_error *err); /* characters.c */
int wt__audit_schema(struct auditing *a, struct looked_at *at, wt_error *err); /* schemas.c */
int wt__audit_name(struct auditing *a, struct looked_at *at, wt_error *err);   /* names.c */

/* Of all tools. */
int wt__audit_duplicates(struct auditing *a, wt_error *err); /* descriptions.c */
int wt__audit_pinned(struct auditing *a, wt_error *err);     /* pinned.c; with options->pins */

/* By what was searched. */
int wt__audit_reach(struct auditing *a, const struct searches *searches, wt_error *err);
int wt__audit_copies(struct auditing *a, const struct searches *searches, wt_error *err);
int wt__audit_capture(struct auditing *a, const struct searches *searches, wt_error *err);

/* Whether who has that share of the tools and of the first places takes what a flood takes (capture.c). */
bool wt__is_capture(double of_places, double of_tools);

#endif
