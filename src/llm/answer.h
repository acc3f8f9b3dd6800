/* answer.h: what a language model says, held to the schema of what it was asked.
 *
 * Strict on purpose. An answer is one JSON object or array, alone or alone in one code fence; JSON that is found in the
 * midst of prose is no answer, since a model that repeats a tool's description would answer with what the description
 * says. Whoever wants more gives the model a second try and says what was wrong (client.h). */
#ifndef WT_LLM_ANSWER_H
#define WT_LLM_ANSWER_H

#include "base/error.h"
#include "base/json.h"
#include "base/str.h"

/* The keywords of JSON Schema that are held: type (a name or a list of names), enum, properties, required,
 * additionalProperties (true or false), items (one schema), minItems, maxItems, minLength, maxLength (in characters),
 * minimum, maximum; title and description say nothing. WT_EFORMAT, with a pointer, for any other keyword or a wrong
 * value: a schema that cannot be held is not taken. */
int wt__answer_check_schema(const json_t *schema, wt_error *err);

/* The answer as JSON that matches schema (one that wt__answer_check_schema took). *out ends with json_decref; NULL on
 * error. WT_EFORMAT: err says what is wrong in words that can be given to the model; they quote the schema, never the
 * answer. WT_ENOMEM. */
int wt__answer_parse(json_t **out, struct str text, const json_t *schema, wt_error *err);

#endif
