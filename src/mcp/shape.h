/* shape.h: the types that MCP requires of what a server sends, as tables. What a gateway forwards is checked by them
 * first, so that a client of any language can read it: many clients drop a message of the wrong type without a word,
 * and the call that it answers never ends.
 *
 * Both revisions share the tables. Members that are not in a table may be anything; an optional member may be null. The
 * text must be valid JSON (base/json_check.h). */
#ifndef WT_MCP_SHAPE_H
#define WT_MCP_SHAPE_H

#include <stdbool.h>

#include "base/str.h"

struct mcp_misfit {
    const char *member; /* its name, static; "" for the value itself */
    const char *wanted; /* what it should be, as "a string"; static */
};

/* True if the result is what the method answers with. A result with resultType input_required holds questions. */
bool wt__mcp_result_fits(const char *method, struct str result, struct mcp_misfit *out);
/* JSON-RPC's error object. */
bool wt__mcp_error_fits(struct str error, struct mcp_misfit *out);
/* The params of a server's request; a method that is not known fits. Empty params are an empty object. */
bool wt__mcp_question_fits(struct str method, struct str params, struct mcp_misfit *out);
/* The params of a notification, likewise. Progress is without its token. */
bool wt__mcp_notice_fits(struct str method, struct str params, struct mcp_misfit *out);
/* An item of a list: member is "tools", "resources", "resourceTemplates" or "prompts". */
bool wt__mcp_item_fits(const char *member, struct str item, struct mcp_misfit *out);

#endif
