/* export.h: tools as complete definitions that a provider's API accepts. */
#ifndef WT_CATALOG_EXPORT_H
#define WT_CATALOG_EXPORT_H

#include "base/buffer.h"
#include "catalog/tool.h"

enum {
    EXPORT_OPENAI_DESCRIPTION = 1024, /* characters of a function's description */
    EXPORT_ANTHROPIC_KEY = 64,        /* bytes of a property's name at the top of a schema */
};

/* Appends one JSON array: what goes into the request's "tools", of format "openai" (chat completions),
 * "openai-responses", "anthropic", "gemini", "mcp"; or what answers a client's search, as wt_export has it, of
 * "anthropic-reference", "anthropic-inline", "openai-search". As it may be shown (text/shown.h). Errors: WT_EINVAL
 * (unknown format), WT_ENOMEM. */
int wt__export(const struct tool *tools, size_t count, struct str format, struct buffer *out, wt_error *err);

/* The format of the definitions that a model gets to read when tools come in this one: a reference is replaced by the
 * definition that it names, and wrapping is read by the API. The format itself where it is of definitions, or
 * unknown. */
struct str wt__export_read(struct str format);

#endif
