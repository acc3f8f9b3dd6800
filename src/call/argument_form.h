/* argument_form.h: shows the parameters of a tool to a language model, builds the JSON schema for its answer, and reads
 * values from the answer.
 *
 * The tool's own schema is hostile text. The answer schema is sent to the server outside the quoted slots, and a repair
 * round shows it to the model. So it keeps only names, types and limits. Titles and descriptions are dropped, and so
 * are enumerations with blanks in their values. If a name is not an identifier, the answer may be any object. Keywords
 * unsupported by llm/answer.h are dropped too. The answer schema can thus accept more than the tool does, so always
 * validate the answer. */
#ifndef WT_CALL_ARGUMENT_FORM_H
#define WT_CALL_ARGUMENT_FORM_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "call/parameters.h"

enum {
    ARGUMENT_NAME_BYTES = 64,          /* longest name or enumeration value in an answer schema */
    ARGUMENT_SCHEMA_BYTES = 32 << 10,  /* maximum size of an answer schema; a larger one becomes "any object" */
    ARGUMENT_MOST_COUNT = 1000,        /* largest limit of a length or count in an answer schema */
    ARGUMENT_MOST_NUMBER = 1000000000, /* largest absolute limit of a number in an answer schema */
    ARGUMENT_MOST_THOUGHT = 2000,      /* maximum characters of the thought before the arguments */
    ARGUMENT_SHOWN_VALUES = 16,        /* enumeration values shown in the line of a parameter */
};

/* Builds the schema of {"arguments": {...}}; with thought, a "thought" member comes first. All parameters are required
 * and may be null. Free *out with json_decref. 0 or WT_ENOMEM. */
int wt__argument_schema(json_t **out, const struct parameters *parameters, bool thought, wt_error *err);

/* Appends a line with the parameter's name, type, whether it is required, values and description. */
void wt__argument_line(struct buffer *out, const struct parameter *parameter);

/* Appends a string as it is, and any other value as JSON. */
void wt__argument_value(struct buffer *out, const json_t *value);

/* True if the model's value means "no value": NULL, null, a blank string, or a word such as "none" or "n/a" unless the
 * parameter has this word as a value. */
bool wt__argument_is_absent(const json_t *value, const struct parameter *parameter);

/* True if two predictions are equal. Numbers compare by value; strings ignore case and surrounding blanks. */
bool wt__argument_equal(const json_t *a, const json_t *b);

#endif
