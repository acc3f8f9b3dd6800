/* input.h: the compiled input schema of a tool. It validates and repairs arguments, and knows the arguments that modern
 * clients repeat in headers (x-mcp-header). A compiled schema is immutable; any number of threads may use it. */
#ifndef WT_SERVE_MCP_INPUT_H
#define WT_SERVE_MCP_INPUT_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/str.h"
#include "net/http_client.h"

enum {
    MCP_MIRRORS_MAX = 32,     /* maximum arguments of a tool repeated in headers */
    MCP_VIOLATIONS_TOLD = 10, /* maximum violations listed in a response */
};

struct mcp_input;

/* Extent of the schema that arguments are checked against. */
enum mcp_checks { MCP_CHECKS_ALL, MCP_CHECKS_PART, MCP_CHECKS_NOTHING };

/* Compiles a schema. "nullable": true next to a "type" allows null. If the schema does not compile, the keywords that
 * do are used (input.c). Errors: WT_EFORMAT (not JSON, or an invalid x-mcp-header), WT_ETOOLONG, WT_ENOMEM. */
int wt__mcp_input_open(struct mcp_input **out, struct str schema, wt_error *err);
/* Returns the reason why arguments are not fully checked, or NULL if they are. */
const char *wt__mcp_input_unchecked(const struct mcp_input *input);
enum mcp_checks wt__mcp_input_checks(const struct mcp_input *input);
void wt__mcp_input_close(struct mcp_input *input); /* NULL is a no-op */

/* Validates arguments (JSON). If they do not match, appends sentences for the model to out. Returns 1 if they match, 0
 * if not, or WT_ENOMEM. */
int wt__mcp_input_check(const struct mcp_input *input, struct str arguments, struct buffer *out);

/* Repairs arguments (JSON) without loss, such as "5" to 5, and appends them to out. wraps: a single value may become an
 * array of one item.
 * Returns 1 if the repaired arguments match, 0 if not, or WT_ENOMEM. */
int wt__mcp_input_repair(const struct mcp_input *input, struct str arguments, bool wraps, struct buffer *out);

/* Writes the headers for arguments (JSON) to out [MCP_MIRRORS_MAX]; texts are allocated in the arena. Absent and null
 * arguments get no header. Returns the number of headers, WT_EFORMAT or WT_ENOMEM. */
int wt__mcp_input_write_headers(const struct mcp_input *input, struct str arguments, struct arena *arena,
                                struct http_header *out, wt_error *err);

#endif
