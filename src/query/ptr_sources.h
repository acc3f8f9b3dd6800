/* ptr_sources.h: PTR (choose/ptr.h) over an engine: which tools are near a text, what past requests used, and which set
 * of theirs is most like a request.
 *
 *   tools, similar hits of the base retriever
 *   past, bundle   past requests of training alone (STORE-models/neighbours), so that an evaluation never asks its own
 *
 * Every list leaves out what the search may not find (another provider's tools, and those that are gone). Rows are
 * those of one index, held from the first search to the end, so that the catalogue may change meanwhile. */
#ifndef WT_QUERY_PTR_SOURCES_H
#define WT_QUERY_PTR_SOURCES_H

#include "choose/ptr.h"
#include "engine/bundles.h"
#include "query/search.h"

struct ptr_reach {
    struct search home;      /* the request by the base retriever; whose index the rows are of */
    const uint64_t *allowed; /* of its rows; NULL: all */
    struct neighbours past;  /* count 0: nobody's */
    const struct encoder *encoder;
    struct encoder_scratch *scratch; /* made when first wanted */
    const struct bundles *bundles;   /* the same */
};

/* home: its request, arena, recipe and provider, and hits as many as wanted; it is run here. Ends with wt__ptr_leave,
 * whether it worked or not. Errors: those of wt_find. */
int wt__ptr_reach(struct ptr_reach *reach, wt_error *err);
void wt__ptr_leave(struct ptr_reach *reach);

/* Makes what the first query after training would make: the index with what was trained in it, and the bundles of past
 * requests, of which those that are new are encoded. Errors: those of wt_find. */
int wt__ptr_prepare(wt_engine *engine, struct progress *progress, wt_error *err);

/* self is the reach. One thread at a time. */
struct ptr_sources wt__ptr_sources(struct ptr_reach *reach);

/* What was seen and decided, as JSON text in the arena. */
int wt__ptr_write_trace(struct ptr_reach *reach, const struct ptr_trace *trace, struct arena *arena, const char **out,
                        wt_error *err);

/* A list of what is left out, as PTR_ABLATE_... bits added to *out. WT_EINVAL: nothing has one of its names. */
int wt__ptr_ablations(const char *list, unsigned *out, wt_error *err);
/* The same, from the option `experiment`. */
int wt__ptr_experiment(const char *experiment, struct arena *arena, unsigned *out, wt_error *err);

#endif
