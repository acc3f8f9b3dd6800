/* ptr_sources.h: the sources of PTR (choose/ptr.h) on an engine: tools near a text, the use of past requests, and the
 * bundle most similar to a request.
 *
 *   tools, similar   hits of the base retriever
 *   past, bundle     past requests of training only (STORE-models/neighbours), so an evaluation never asks its own
 *     requests
 *
 * All lists respect the filter and omit removed tools. Rows are those of one index, which is held to the end, so that
 * the catalogue may change meanwhile. */
#ifndef WT_QUERY_PTR_SOURCES_H
#define WT_QUERY_PTR_SOURCES_H

#include "choose/ptr.h"
#include "engine/bundles.h"
#include "query/search.h"

struct ptr_engine_sources {
    struct search home;      /* search for the request by the base retriever; owns the index */
    const uint64_t *allowed; /* one bit per row of the index; NULL for all */
    struct neighbours past;  /* count 0 without training */
    const struct encoder *encoder;
    struct encoder_scratch *scratch; /* NULL before first use */
    const struct bundles *bundles;   /* NULL before first use */
};

/* Opens the sources. The caller has set the request, arena, recipe, filter and k of `home`, and this runs the search.
 * Call wt__ptr_sources_close afterwards, also on an error. Errors: those of wt_find. */
int wt__ptr_sources_open(struct ptr_engine_sources *engine_sources, wt_error *err);
void wt__ptr_sources_close(struct ptr_engine_sources *engine_sources);

/* Prepares for the first query after training: builds the index with the label rows, and the bundles of past requests,
 * and encodes new bundles. Errors: those of wt_find. */
int wt__ptr_prepare(wt_engine *engine, struct progress *progress, wt_error *err);

/* Returns the sources; their `self` is engine_sources. Use them from one thread at a time. */
struct ptr_sources wt__ptr_sources(struct ptr_engine_sources *engine_sources);

/* Parses a comma-separated list of parts to leave out and adds their PTR_ABLATE_... bits to *out. Errors: WT_EINVAL for
 * an unknown name. */
int wt__ptr_ablations(const char *list, unsigned *out, wt_error *err);

#endif
