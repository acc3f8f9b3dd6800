/* argument_form.h: how a language model is shown the parameters of a tool, which JSON it may answer with, and what of
 * its answer is a value.
 *
 * The tool's own schema is hostile, and its words would stand outside every slot: a server gets the schema of an answer
 * as it is, and a round of repair shows it to the model. So the schema of an answer has of it the names of parameters,
 * their types and limits, and no sentences: no titles, no descriptions, of enumerations those without a blank. A tool
 * that has a name which is no identifier is answered with an object of any members. Keywords that llm/internal.h does
 * not hold are left out, which allows more than the tool does: what is answered has to be validated in any case. */
#ifndef WT_CALL_ARGUMENT_FORM_H
#define WT_CALL_ARGUMENT_FORM_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "call/parameters.h"

enum {
    ARGUMENT_NAME_BYTES = 64,          /* the longest name or value of an enumeration that a schema has */
    ARGUMENT_SCHEMA_BYTES = 32 << 10,  /* of a schema; a larger one becomes that of any object */
    ARGUMENT_MOST_COUNT = 1000,        /* the largest limit of a length that a schema has */
    ARGUMENT_MOST_NUMBER = 1000000000, /* the largest limit of a number, either way */
    ARGUMENT_MOST_THOUGHT = 2000,      /* characters of the thought before the arguments */
    ARGUMENT_SHOWN_VALUES = 16,        /* of an enumeration, in a parameter's line */
};

/* The schema of {"arguments": {...}}, with a member "thought" before it where that is wanted. Every parameter is
 * required and may be null. *out ends with json_decref. 0 or WT_ENOMEM. */
int wt__argument_schema(json_t **out, const struct parameters *parameters, bool thought, wt_error *err);

/* Appends the parameter as one line: its name, type, whether it is required, its values, and its description. */
void wt__argument_line(struct buffer *out, const struct parameter *parameter);

/* Appends a value as it is shown: a string as it is, anything else as JSON. */
void wt__argument_value(struct buffer *out, const json_t *value);

/* Whether what a model gives as a value says that there is none: null, a blank string, or, where the parameter has no
 * such value, a word for it ("none", "n/a"). NULL is none as well. */
bool wt__argument_is_nothing(const json_t *value, const struct parameter *parameter);

/* Whether two predictions are one: numbers by their values, strings but for case and blanks at their ends. */
bool wt__argument_same(const json_t *a, const json_t *b);

#endif
