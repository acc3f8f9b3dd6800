/* aliases.h: how the command line was spelt in earlier versions. Old spellings are understood for one version more, and
 * help, manual page and completions do not show them. */
#ifndef WT_CLI_ALIASES_H
#define WT_CLI_ALIASES_H

#include "base/arena.h"
#include "cli/options.h"

/* What the option --name [len] is called now; NULL: nothing had this name. */
const char *wt__alias_option(const char *name, size_t len);

/* The option's value, a list with commas, with its items as they are called now: value itself where all are, else in
 * the arena. NULL when memory is out. */
const char *wt__alias_items(enum option_id option, const char *value, struct arena *arena);

#endif
