/* old_members.h: converts the config.json of a model trained by an earlier version to current member names. */
#ifndef WT_RECIPE_OLD_MEMBERS_H
#define WT_RECIPE_OLD_MEMBERS_H

#include "base/json.h"

/* Renames members with old names. If the new name exists as well, it keeps its value. False if out of memory. */
bool wt__rename_members(json_t *config);

#endif
