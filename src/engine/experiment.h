/* experiment.h: parses the option `experiment`. Its settings serve only to reproduce comparisons in papers. */
#ifndef WT_ENGINE_EXPERIMENT_H
#define WT_ENGINE_EXPERIMENT_H

#include "base/arena.h"
#include "base/error.h"

struct experiment_setting {
    const char *name;
    const char **value; /* receives the value, in the arena; NULL if the setting is absent */
};

/* Parses "NAME=VALUE; NAME=VALUE", with the names of `settings` [count]. text: NULL or "" for no settings.
 * Errors: WT_EINVAL (an unknown or repeated name, or a name without a value), WT_ENOMEM. */
int wt__experiment_read(const char *text, const struct experiment_setting *settings, size_t count, struct arena *arena,
                        wt_error *err);

#endif
