/* action.h: what a tool does, as its catalogue says it: by its HTTP method or MCP's
 * annotations. */
#ifndef WT_RETRIEVE_ACTION_H
#define WT_RETRIEVE_ACTION_H

#include "catalog/tool.h"
#include "retrieve/verbs.h"

/* Bits of enum action; 0 where the catalogue says nothing, whatever the tool is called. */
unsigned wt__tool_actions(const struct tool *tool);

#endif
