/* texts.h: every text of a tool that a language model reads, and where it stands.
 *
 * A model is given a definition as JSON, so that whatever is a string there can speak to it: beside titles and
 * descriptions the values of enumerations, defaults, examples, and names of properties. Those say "one of these", or
 * "such as this", and are told apart from prose, which says what the tool is. */
#ifndef WT_AUDIT_TEXTS_H
#define WT_AUDIT_TEXTS_H

#include <jansson.h>

#include "audit/auditing.h"

enum text_kind {
    TEXT_NAME,   /* of the tool, of a property, of any member */
    TEXT_PROSE,  /* titles and descriptions */
    TEXT_VALUE,  /* any other string */
    TEXT_PATTERN /* a regular expression */
};

struct tool_text {
    enum text_kind kind;
    struct str text;
    struct str member; /* where it stands: "annotations.title"; within a schema "items.description", from the property
                          on whose it is, or from the schema's top; of a property's name "name" */
    const char *parameter; /* the property; NULL: none */
    const char *schema;    /* "input schema", "output schema"; NULL: neither */
};

/* Non-zero stops and is the result. */
typedef int (*text_visit)(void *context, const struct tool_text *text);

/* A tool without a name stands for a server's instructions.
 * Name, titles and description, then all that the schemas of arguments and of results hold. schema: of the arguments;
 * definition: as its source has it. Either may be NULL. Errors: WT_ENOMEM. */
int wt__tool_texts(const struct tool *tool, const json_t *schema, const json_t *definition, text_visit visit,
                   void *context, wt_error *err);

/* Its schema of results, of any JSON type; NULL: it has none. */
const json_t *wt__output_schema(const json_t *definition);

/* `items.description of the parameter "n"`, as a message has it behind "The". In scratch; "" when memory is out. */
const char *wt__text_place(struct auditing *a, const struct tool_text *text);

#endif
