/* input.h: the compiled input schema of a tool. It validates and repairs arguments. It also handles arguments that
 * modern clients repeat in headers (x-mcp-header). A compiled schema is immutable and can be used by many threads. */
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

/* Compiles a schema. "nullable": true next to a "type" allows null. If the schema is invalid, its valid keywords are
 * used (input.c). Errors: WT_EFORMAT (not a JSON object, or an invalid x-mcp-header), WT_ETOOLONG, WT_ENOMEM. */
int wt__mcp_input_open(struct mcp_input **out, struct str schema, wt_error *err);
/* Returns the reason why arguments are not fully checked, or NULL if they are. */
const char *wt__mcp_input_unchecked(const struct mcp_input *input);
enum mcp_checks wt__mcp_input_checks(const struct mcp_input *input);
void wt__mcp_input_close(struct mcp_input *input); /* NULL is a no-op */

/* Arguments are passed as a parsed object. Functions that need the exact bytes also get the text, because parsing loses
 * digits of numbers and the client's spelling. */

/* Validates arguments. If they do not match, appends sentences for the model to out. Returns 1 if they match or if no
 * part of the schema compiles, 0 if they do not match, or WT_ENOMEM. */
int wt__mcp_input_check(const struct mcp_input *input, const json_t *arguments, struct buffer *out);

/* Repairs arguments without loss. wraps: a single value may become an array with one item. Returns 1 if the repaired
 * arguments match: their text is appended to out, and they replace *tree. Returns 0 if they do not match, or
 * WT_ENOMEM. */
int wt__mcp_input_repair(const struct mcp_input *input, struct str arguments, json_t **tree, bool wraps,
                         struct buffer *out);

/* Writes the headers for arguments to out [MCP_MIRRORS_MAX]; texts are allocated in the arena. Absent and null
 * arguments get no header. Returns the number of headers, or WT_ENOMEM. */
int wt__mcp_input_write_headers(const struct mcp_input *input, struct str arguments, const json_t *tree,
                                struct arena *arena, struct http_header *out, wt_error *err);

#endif
