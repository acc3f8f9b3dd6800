/* export.h: tools as complete definitions that a provider's API accepts. */
#ifndef WT_CATALOG_EXPORT_H
#define WT_CATALOG_EXPORT_H

#include "base/buffer.h"
#include "catalog/tool.h"

enum {
    EXPORT_OPENAI_DESCRIPTION = 1024, /* characters of a function's description */
    EXPORT_ANTHROPIC_KEY = 64,        /* bytes of a property's name at the top of a schema */
};

/* Appends one JSON array: what goes into the request's "tools". format: "openai" (chat completions),
 * "openai-responses", "anthropic", "gemini", "mcp". As it may be shown (text/shown.h). Errors: WT_EINVAL (unknown
 * format), WT_ENOMEM. */
int wt__export(const struct tool *tools, size_t count, struct str format, struct buffer *out, wt_error *err);

#endif
