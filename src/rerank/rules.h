/* rules.h: what ToolRerank knows beside its encoders, to and from a config.json. */
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

struct rules {
    struct hierarchy_settings settings;
    struct request_classifier classifier;
    bool across;      /* scores are the cross-encoder's; else the first stage's shares of its best */
    bool by_provider; /* what `seen` names */
    struct map seen;  /* providers that training used, and tools that have none; or else tools */
};

/* Where nothing was trained: every rule is off, since nothing tells which one a request needs. */
extern const struct rules wt__rules_default;

/* FOLDER/toolrerank/config.json. Errors: WT_EMODEL, WT_ENOMEM. The map is the caller's to dispose of. */
int wt__rules_read(struct rules *out, const json_t *config, struct arena *arena, wt_error *err);
/* The members that it reads back; seen: a list of names, whose reference is taken. NULL when memory is out. */
json_t *wt__rules_write(const struct rules *rules, json_t *seen);
bool wt__rules_seen(const struct rules *rules, const struct tool *tool, struct buffer *id); /* id: scratch */

#endif
