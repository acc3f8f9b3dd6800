/* texts.h: visits every text of a tool that a language model reads.
 *
 * Models get definitions as JSON, so any string in it may influence them: titles and descriptions, but also
 * enumerations, defaults, examples and property names. Each text has a kind, so that rules can treat prose and data
 * differently. */
#ifndef WT_AUDIT_TEXTS_H
#define WT_AUDIT_TEXTS_H

#include <jansson.h>

#include "audit/auditing.h"

enum text_kind {
    TEXT_NAME,   /* name of the tool, a property, or any member */
    TEXT_PROSE,  /* titles and descriptions */
    TEXT_VALUE,  /* any other string */
    TEXT_PATTERN /* a regular expression */
};

struct tool_text {
    enum text_kind kind;
    struct str text;
    struct str member;     /* location, as "annotations.title"; in a schema relative to the parameter or the root, as
                          "items.description"; "name" for the name of a property */
    const char *parameter; /* name of the property; NULL if none */
    const char *schema;    /* "input schema", "output schema", or NULL */
};

/* Return non-zero to stop; wt__visit_tool_texts returns the value. */
typedef int (*text_visit)(void *context, const struct tool_text *text);

/* Visits name, titles and description, then the strings in the schemas of arguments and results. A tool without a name
 * is a server's instructions. schema: of the arguments. definition: from the source. Either may be NULL. Errors:
 * WT_ENOMEM. */
int wt__visit_tool_texts(const struct tool *tool, const json_t *schema, const json_t *definition, text_visit visit,
                         void *context, wt_error *err);

/* Returns the output schema, of any JSON type; NULL if not in one. */
const json_t *wt__output_schema(const json_t *definition);

/* Returns the location of a text for a message: `items.description of the parameter "n"`. In scratch; "" if out of
 * memory. */
const char *wt__describe_text_place(struct audit_run *a, const struct tool_text *text);

#endif
