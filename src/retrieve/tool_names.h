/* tool_names.h: by which names a tool is found when a request says one of them:
 *
 *   its name, with and without the number that the store put behind it
 *   its title; where it has none and is described in one short sentence, that
 *   provider and name, the exported name, and the identifier of its source
 *   method and path, where its source or its name has these (path_name.h)
 */
#ifndef WT_RETRIEVE_TOOL_NAMES_H
#define WT_RETRIEVE_TOOL_NAMES_H

#include "catalog/tool.h"
#include "index/names.h"

/* Words of a title or a sentence that is a name, and of what a request says for one without signs between. */
enum { NAME_WORDS_MAX = 20 };

/* Changes whenever the names of a tool, or their hashes, do. */
enum { TOOL_NAMES_VERSION = 2 };

/* Adds those of one tool. Errors: WT_ENOMEM. */
int wt__tool_names_add(struct names_builder *builder, const struct tool *tool, uint32_t row, wt_error *err);

#endif
