/* action.h: the kind of action a tool performs, according to its HTTP method or its MCP annotations. */
#ifndef WT_RETRIEVE_ACTION_H
#define WT_RETRIEVE_ACTION_H

#include "catalog/tool.h"
#include "retrieve/verbs.h"

/* Returns bits of enum action, or 0 if the catalogue declares no action. The tool's name alone is not enough. */
unsigned wt__tool_actions(const struct tool *tool);

#endif
