/* embed.h: vectors for the tools that have none yet. */
#ifndef WT_ENGINE_EMBED_H
#define WT_ENGINE_EMBED_H

#include "engine/engine.h"

/* Encodes every tool without a vector of this model. Returns how many. */
int64_t wt__embed_missing(wt_engine *engine, const struct encoder *encoder, struct progress *progress, wt_error *err);

#endif
