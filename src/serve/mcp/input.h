/* input.h: the input schema of a tool, made ready: arguments are checked and repaired by it, and the arguments that a
 * modern client repeats in headers (x-mcp-header) are known. Immutable; any number of threads may use one. */
#ifndef WT_SERVE_MCP_INPUT_H
#define WT_SERVE_MCP_INPUT_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "net/http_client.h"

enum {
    MCP_MIRRORS_MAX = 32,     /* arguments of one tool that are repeated in headers */
    MCP_VIOLATIONS_TOLD = 10, /* of arguments, in an answer */
};

struct mcp_input;

/* How much of a schema arguments are checked against. */
enum mcp_checks { MCP_CHECKS_ALL, MCP_CHECKS_PART, MCP_CHECKS_NOTHING };

/* schema: JSON, in which "nullable": true beside a "type" means that null fits. Of a schema that does not compile, the
 * keywords that do are checked (input_schema.c). Errors: WT_EFORMAT (not JSON, or an x-mcp-header that breaks the
 * protocol's rules), WT_ETOOLONG, WT_ENOMEM. */
int wt__mcp_input_open(struct mcp_input **out, struct str schema, wt_error *err);
/* Why the schema does not compile whole, so that arguments are not fully checked; NULL if they are. */
const char *wt__mcp_input_unchecked(const struct mcp_input *input);
enum mcp_checks wt__mcp_input_checks(const struct mcp_input *input);
void wt__mcp_input_close(struct mcp_input *input); /* NULL is a no-op */

/* Whether the arguments fit; else sentences that a model can act on are appended to out. arguments: JSON. Returns 1, 0,
 * or WT_ENOMEM. */
int wt__mcp_input_check(const struct mcp_input *input, struct str arguments, struct buffer *out);

/* Repairs arguments that do not fit, without loss. wraps: one value becomes an array of one where an array is expected.
 * Returns 1 if the repaired ones fit, which are appended to out; 0; or WT_ENOMEM. arguments: JSON. */
int wt__mcp_input_repair(const struct mcp_input *input, struct str arguments, bool wraps, struct buffer *out);

/* The headers by which a client repeats arguments, in out [MCP_MIRRORS_MAX]; texts are in the arena. What is not among
 * the arguments, or null, has none. arguments: JSON. Returns how many, WT_EFORMAT, WT_ENOMEM. */
int wt__mcp_input_repeat(const struct mcp_input *input, struct str arguments, struct arena *arena,
                         struct http_header *out, wt_error *err);

#endif
