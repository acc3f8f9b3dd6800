/* old_members.h: the config.json of a model that an earlier version trained, with its members as they are called now.
 */
#ifndef WT_RECIPE_OLD_MEMBERS_H
#define WT_RECIPE_OLD_MEMBERS_H

#include "base/json.h"

/* Renames what is called by an old name; a member that has the new name, too, keeps its value. False when memory is
 * out. */
bool wt__rename_members(json_t *config);

#endif
