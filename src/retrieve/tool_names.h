/* tool_names.h: the names under which a request finds a tool:
 *
 *   name, with and without the number that the store appended
 *   title; without one, the description if it is one short sentence
 *   provider and name, exported name, and identifier in the source
 *   method and path, if the source or the name has them (path_name.h) */
#ifndef WT_RETRIEVE_TOOL_NAMES_H
#define WT_RETRIEVE_TOOL_NAMES_H

#include "catalog/tool.h"
#include "index/names.h"

/* Maximum words of a title or sentence that is a name, and of an unpunctuated name in a request. */
enum { NAME_WORDS_MAX = 20 };

/* Increment when the names of a tool or their hashes change. */
enum { TOOL_NAMES_VERSION = 2 };

/* Adds the names of one tool. Errors: WT_ENOMEM. */
int wt__tool_names_add(struct names_builder *builder, const struct tool *tool, uint32_t row, wt_error *err);

#endif
