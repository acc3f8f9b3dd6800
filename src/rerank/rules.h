/* rules.h: ToolRerank's settings and training data in a config.json. */
#ifndef WT_RERANK_RULES_H
#define WT_RERANK_RULES_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "base/map.h"
#include "catalog/tool.h"
#include "rerank/toolrerank.h"

struct rerank_rules {
    struct hierarchy_settings settings;
    struct request_classifier classifier;
    bool across;      /* scores come from the cross-encoder; otherwise from the first stage, divided by its best */
    bool by_provider; /* `seen` has providers rather than tools */
    struct map seen;  /* providers in the training data and tools without a provider, or all tools */
};

/* For untrained use: all rules are off, because the kind of a request is unknown. */
extern const struct rerank_rules wt__rules_default;

/* Reads FOLDER/toolrerank/config.json. The caller disposes of the map. Errors: WT_EMODEL, WT_ENOMEM. */
int wt__rules_read(struct rerank_rules *out, const json_t *config, struct arena *arena, wt_error *err);
/* Writes the same members. seen: list of names; steals its reference. Returns NULL if out of memory. */
json_t *wt__rules_write(const struct rerank_rules *rules, json_t *seen);
bool wt__rules_seen(const struct rerank_rules *rules, const struct tool *tool, struct buffer *id); /* id: scratch */

#endif
