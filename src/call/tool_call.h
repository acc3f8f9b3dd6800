/* tool_call.h: a call as the API that carries it out wants it: one object in the form of a provider, or the lines in
 * which ToolVerifier writes calls (A.4.7, figure 2). */
#ifndef WT_CALL_TOOL_CALL_H
#define WT_CALL_TOOL_CALL_H

#include <jansson.h>

#include "base/buffer.h"
#include "base/error.h"

/* Appends the call. form: "arguments" (the object alone), "openai" (chat completions), "openai-responses", "anthropic",
 * "gemini", "mcp" (a request without its number), "lines". Tools go by their exported name, in "mcp" and "lines" by
 * their own. Ids of calls are a hash of the call, so the same call has the same one. As it may be shown (text/shown.h).
 * Errors: WT_EINVAL (unknown form), WT_ENOMEM. */
int wt__tool_call_write(struct buffer *out, struct str form, struct str name, struct str export_name,
                        const json_t *schema, const json_t *arguments, wt_error *err);

/* WT_EINVAL where there is no such form. */
int wt__tool_call_check(struct str form, wt_error *err);

#endif
