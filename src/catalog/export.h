/* export.h: writes tools in the formats of model APIs: as definitions, or as references to definitions. */
#ifndef WT_CATALOG_EXPORT_H
#define WT_CATALOG_EXPORT_H

#include "base/buffer.h"
#include "catalog/tool.h"

enum {
    EXPORT_OPENAI_DESCRIPTION = 1024, /* maximum characters of a function's description */
    EXPORT_ANTHROPIC_KEY = 64,        /* maximum bytes of a property's name at the top level */
};

/* Appends the tools as one JSON array. Texts are escaped for display (text/shown.h). The formats are:
 * - for the member "tools" of a request: "openai" (chat completions), "openai-responses", "anthropic", "gemini", "mcp"
 * - for the answer to a client's search: "anthropic-reference", "anthropic-inline", "openai-search"
 * Errors: WT_EINVAL (unknown format), WT_ENOMEM. */
int wt__export(const struct tool *tools, size_t count, struct str format, struct buffer *out, wt_error *err);

/* Returns the format in which the model sees the tools if the client sends them in `format`. The two differ if the API
 * replaces references by definitions or removes wrappers. Returns `format` itself if they do not differ, or if it is
 * unknown. */
struct str wt__export_read(struct str format);

#endif
