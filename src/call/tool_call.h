/* tool_call.h: writes a call in the form of the API that executes it: one object in a provider's form, or lines as in
 * ToolVerifier (A.4.7, figure 2). */
#ifndef WT_CALL_TOOL_CALL_H
#define WT_CALL_TOOL_CALL_H

#include <jansson.h>

#include "base/buffer.h"
#include "base/error.h"

/* Appends the call, safe to show (text/shown.h). form: "arguments" (the object alone), "openai" (chat completions),
 * "openai-responses", "anthropic", "gemini", "mcp" (a request without its number), "lines". Tools have their exported
 * name; in "mcp" and "lines" their own. The id of a call is a hash of the call. Errors: WT_EINVAL (unknown form),
 * WT_ENOMEM. */
int wt__tool_call_write(struct buffer *out, struct str form, struct str name, struct str export_name,
                        const json_t *schema, const json_t *arguments, wt_error *err);

/* Returns WT_EINVAL for an unknown form. */
int wt__tool_call_check(struct str form, wt_error *err);

#endif
