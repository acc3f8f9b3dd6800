/* export.h: writes tools as complete definitions for the API of a provider. */
#ifndef WT_CATALOG_EXPORT_H
#define WT_CATALOG_EXPORT_H

#include "base/buffer.h"
#include "catalog/tool.h"

enum {
    EXPORT_OPENAI_DESCRIPTION = 1024, /* maximum characters of a function's description */
    EXPORT_ANTHROPIC_KEY = 64,        /* maximum bytes of a property's name at the top level */
};

/* Appends one JSON array. Formats for the request's "tools": "openai" (chat completions), "openai-responses",
 * "anthropic", "gemini", "mcp". Formats that answer a client's search, as in wt_export: "anthropic-reference",
 * "anthropic-inline", "openai-search". Texts are escaped for display (text/shown.h). Errors: WT_EINVAL (unknown
 * format), WT_ENOMEM. */
int wt__export(const struct tool *tools, size_t count, struct str format, struct buffer *out, wt_error *err);

/* Returns the format in which the model sees the tools if the client sends them in `format`. The two differ if the API
 * replaces references by definitions or removes wrappers. Returns `format` itself if they do not differ, or if it is
 * unknown. */
struct str wt__export_read(struct str format);

#endif
