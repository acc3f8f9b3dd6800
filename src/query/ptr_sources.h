/* ptr_sources.h: the sources of PTR (choose/ptr.h) on an engine:
 *
 *   tools, similar   tools near a text or a tool: the hits of the base retriever
 *   past             tools of the past requests most similar to a text
 *   bundle           bundle most similar to a request
 *
 * Past requests and bundles come from training only (STORE-models/neighbours), so that an evaluation never uses the
 * requests that it evaluates. All lists respect the filter and omit removed tools.
 *
 * All rows belong to the index of `home`. The sources hold that index until they are closed, so the catalogue may
 * change meanwhile. */
#ifndef WT_QUERY_PTR_SOURCES_H
#define WT_QUERY_PTR_SOURCES_H

#include "choose/ptr.h"
#include "engine/bundles.h"
#include "query/search.h"

struct ptr_engine_sources {
    struct search home;              /* search for the request by the base retriever; owns the index */
    const uint64_t *allowed;         /* one bit per row of the index; NULL for all */
    struct neighbours past;          /* count 0 without training */
    const struct encoder *encoder;   /* encoder of `past`; NULL without training */
    struct encoder_scratch *scratch; /* NULL before first use */
    const struct bundles *bundles;   /* NULL before first use */
};

/* Opens the sources and runs the search `home`. Before the call, set the inputs of `home` and zero the other members.
 * Call wt__ptr_sources_close afterwards, also on an error. Errors: those of wt_find. */
int wt__ptr_sources_open(struct ptr_engine_sources *engine_sources, wt_error *err);
void wt__ptr_sources_close(struct ptr_engine_sources *engine_sources);

/* Prepares the engine for the first query after training: builds the index with the rows of the past requests' tools,
 * builds the bundles, and encodes new bundles. Errors: those of wt_find. */
int wt__ptr_prepare(wt_engine *engine, struct progress *progress, wt_error *err);

/* Returns the sources; their `self` is engine_sources. Use them from one thread at a time. */
struct ptr_sources wt__ptr_sources(struct ptr_engine_sources *engine_sources);

/* Parses a comma-separated list of the parts of PTR to leave out, and adds the PTR_ABLATE_... bits of these parts to
 * *out. list: may be NULL. Errors: WT_EINVAL for an unknown name. */
int wt__ptr_ablations(const char *list, unsigned *out, wt_error *err);

/* Works like wt__ptr_ablations, for the names of variants and the bits PTR_ASK_PROBLEMS, ... */
int wt__ptr_variants(const char *list, unsigned *out, wt_error *err);

#endif
