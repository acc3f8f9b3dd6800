/* shape.h: checks the types in a server's messages against tables. A gateway checks a message before it forwards it:
 * many clients drop a message of the wrong type silently, and then the call never ends.
 *
 * Both eras of the protocol share the tables. A member outside the tables may have any value. An optional member may be
 * null. The text must be valid JSON (base/json_check.h). If a check returns false, it fills *out. */
#ifndef WT_MCP_SHAPE_H
#define WT_MCP_SHAPE_H

#include <stdbool.h>

#include "base/str.h"

struct mcp_misfit {
    const char *member; /* static; "" for the value itself */
    const char *wanted; /* what the member should be, such as "a string", or "there" if it is missing; static */
};

/* True if the result fits the method. If its resultType is input_required, its questions are checked instead. */
bool wt__mcp_result_fits(const char *method, struct str result, struct mcp_misfit *out);
/* True if the error is a JSON-RPC error object. */
bool wt__mcp_error_fits(struct str error, struct mcp_misfit *out);
/* True if the params fit a server's request. For an unknown method, checks only that the params are an
 * object, and its _meta. Empty params count as an empty object. */
bool wt__mcp_question_fits(struct str method, struct str params, struct mcp_misfit *out);
/* True if the params fit a notification. Progress notifications lack their token here (see mcp_event). */
bool wt__mcp_notice_fits(struct str method, struct str params, struct mcp_misfit *out);
/* True if a list's item fits. member: "tools", "resources", "resourceTemplates" or "prompts". */
bool wt__mcp_item_fits(const char *member, struct str item, struct mcp_misfit *out);

#endif
