/* reranker.h: the second stage of a query: what reads the first stage's hits anew, together with the request.
 *
 *   a refiner          (refiner.h)          vectors of request and hits, by two layers
 *   a cross-encoder    (cross_encoder.h)    reads the request with each of the first N hits
 *   ToolRerank's rules (provider_rerank.c)  order hits by their providers, by whichever scores
 *
 * What reads words gets the tools through a tool_reader, since a snapshot holds none. */
#ifndef WT_RERANK_RERANKER_H
#define WT_RERANK_RERANKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "catalog/tool.h"
#include "rerank/cross_encoder.h"
#include "rerank/refiner.h"
#include "rerank/rules.h"
#include "retrieve/retrieve.h"

/* All zero: hits stay as they are. */
struct reranker {
    struct refiner *refiner;
    const struct rules *rules;   /* of ToolRerank; NULL: none */
    size_t reads;                /* how many the cross-encoder reads; 0: none */
    struct cross_encoder *cross; /* NULL where nothing reads */
};

/* Who has the tools of a snapshot's rows. What it gives lives in the arena. Errors: those of the store. */
struct tool_reader {
    void *context;
    /* out [count]; a tool that was removed meanwhile is empty. */
    int (*read)(void *context, const uint32_t *rows, size_t count, struct arena *arena, struct tool *out,
                wt_error *err);
    /* Up to `most` rows of a provider's tools; an empty name stands for having none. */
    int (*rows_of)(void *context, struct str provider, size_t most, struct arena *arena, uint32_t **rows, size_t *count,
                   wt_error *err);
};

/* What there is to work with; borrowed. */
struct rerank_input {
    const struct view *view;
    const struct retrieve_request *request; /* that gave the hits */
    struct tool_reader tools;
    struct arena *arena;                /* lives as long as the hits */
    double *multi_provider_probability; /* out: as in wt_hits; stays where nothing looked */
    struct progress *progress;          /* heard between a few tools; may be NULL */
};

/* Whether the cross-encoder reads anything. */
bool wt__reranker_reads(const struct reranker *reranker);

/* How many hits of the first stage it can make use of. */
size_t wt__reranker_depth(const struct reranker *reranker);

/* Gives the hits their new order, scores and stages. The hits that it did not look at stay behind those that it did.
 * Errors: those of opening and running its model, and of the reader. */
int wt__rerank(const struct reranker *reranker, const struct rerank_input *input, struct hit_list *hits, wt_error *err);

/* Its kinds, but for the refiner's; `hits` is not empty. */
int wt__rerank_across(const struct reranker *reranker, const struct rerank_input *input, struct hit_list *hits,
                      wt_error *err);
int wt__rerank_by_provider(const struct reranker *reranker, const struct rerank_input *input, struct hit_list *hits,
                           wt_error *err);

/* A hit's new score, told as the cross-encoder's share. */
void wt__hit_rescore(struct hit *hit, float score);

#endif
