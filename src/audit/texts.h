/* texts.h: every text of a tool that a language model reads, and where it stands. */
#ifndef WT_AUDIT_TEXTS_H
#define WT_AUDIT_TEXTS_H

#include <jansson.h>

#include "catalog/tool.h"

enum text_kind { TEXT_NAME, TEXT_PROSE, TEXT_PARAMETER_NAME, TEXT_PARAMETER_PROSE };

struct tool_text {
    enum text_kind kind;
    struct str text;
    const char *parameter; /* whose it is; NULL: the tool's own */
};

/* Non-zero stops and is the result. */
typedef int (*text_visit)(void *context, const struct tool_text *text);

/* Name, title and description, then those of the schema: names of properties, titles and descriptions at any depth. */
int wt__tool_texts(const struct tool *tool, const json_t *schema, text_visit visit, void *context);

#endif
