/* embed.h: vectors for the tools that have none yet. */
#ifndef WT_ENGINE_EMBED_H
#define WT_ENGINE_EMBED_H

#include "engine/engine.h"

/* Encodes every tool without a vector of this model. *embedded: how many, up to where it ended. */
int wt__embed_missing(wt_engine *engine, const struct encoder *encoder, struct progress *progress, size_t *embedded,
                      wt_error *err);

#endif
