/* answer.h: parses a language model's answer and validates it against the schema of the question.
 *
 * The parser is strict on purpose. An answer is one JSON object or array, optionally in one code fence. JSON inside
 * prose is rejected: a model may repeat a tool's description, which could then supply the answer. The caller may ask
 * again with the error (client.h). */
#ifndef WT_LLM_ANSWER_H
#define WT_LLM_ANSWER_H

#include "base/error.h"
#include "base/json.h"
#include "base/str.h"

/* Checks that a schema uses supported keywords only. Supported are type (a name or a list of names), enum, properties,
 * required, additionalProperties (true or false), items (one schema), minItems, maxItems, minLength, maxLength (in
 * characters), minimum and maximum. title and description are ignored. Errors: WT_EFORMAT, with a pointer, for other
 * keywords and invalid values. */
int wt__answer_check_schema(const json_t *schema, wt_error *err);

/* Parses an answer that must match the schema, which must have passed wt__answer_check_schema. Free *out with
 * json_decref; NULL on error. Errors: WT_EFORMAT, WT_ENOMEM. The message can be sent to the model: it quotes the
 * schema, never the answer. */
int wt__answer_parse(json_t **out, struct str text, const json_t *schema, wt_error *err);

#endif
