/* reranker.h: the second stage of a query: what reads the first stage's hits anew, together with the request.
 * A kind a file:
 *
 *   refiner.c          vectors of request and hits, by two layers
 *   cross_encoder.c    reads the request with each of the first N hits
 *   provider_rerank.c  ToolRerank's rules: orders hits by their providers, by whichever scores
 *
 * What reads words gets the tools through a tool_reader, since a snapshot holds none. */
#ifndef WT_RERANK_RERANKER_H
#define WT_RERANK_RERANKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "catalog/tool.h"
#include "rerank/cross_encoder.h"
#include "retrieve/retrieve.h"

/* All zero: hits stay as they are. */
struct reranker {
    const struct rerank_kind *kind;
    void *model;                 /* of the kind; NULL where it has none */
    struct cross_encoder *cross; /* NULL where nothing reads */
    size_t reads;                /* hits, where the kind leaves that open */
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

/* What training left for a reranker; borrowed, the encoder and the arena as long as it is open. */
struct rerank_folder {
    const char *weights; /* the path of their file */
    const json_t *config;
    const struct encoder *encoder;
    struct arena *arena;
    const char *first;          /* the recipe with which it begins, */
    const char *first_identity; /* and of which training that is */
};

struct rerank_kind {
    bool features;     /* the hits must have theirs */
    const void *plain; /* its model where nothing was trained; NULL: it needs training, or no model */

    /* out->model, and what else is not set, from its folder. NULL: it has none. Errors: WT_EMODEL, WT_ENOMEM. */
    int (*open)(struct reranker *out, const struct rerank_folder *folder, wt_error *err);
    void (*close)(void *model);
    /* Reads what of its model no other recipe has a use for, once; NULL: there is nothing. What is wrong with it is
     * told here, before anything is searched. Errors: WT_EMODEL, WT_ENOMEM. */
    int (*load)(const struct reranker *reranker, wt_error *err);
    /* How many hits of the first stage it can make use of. */
    size_t (*depth)(const struct reranker *reranker);
    /* Gives the hits, of which there are some, their new order, scores and stages. Those that it did not look at stay
     * behind those that it did. Errors: those of its model, and of the reader. */
    int (*run)(const struct reranker *reranker, const struct rerank_input *input, struct hit_list *hits, wt_error *err);
};

/* The kinds. */
extern const struct rerank_kind wt__rerank_refiner, wt__rerank_cross, wt__rerank_rules;

/* One of that kind where nothing was trained. */
struct reranker wt__reranker_plain(const struct rerank_kind *kind);

/* Of any reranker, also of none. */
int wt__reranker_load(const struct reranker *reranker, wt_error *err);
size_t wt__reranker_depth(const struct reranker *reranker);
int wt__rerank(const struct reranker *reranker, const struct rerank_input *input, struct hit_list *hits, wt_error *err);

/* A hit's new score, told as the cross-encoder's share. */
void wt__hit_rescore(struct hit *hit, float score);

/* Sorts hits [count] by keys [count], the greatest first, and the keys with them; equal ones stay in their order. */
void wt__hits_sort(struct hit *hits, float *keys, size_t count);

/* The model's evidence of a hit, as it stands among its stages. */
#define CROSS_STAGE "cross"

#endif
