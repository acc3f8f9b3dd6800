/* reranker.h: the second stage of a query, which reranks the hits of the first stage. Each kind of reranker has a file:
 *
 *   refiner.c          runs the request and the vectors of the hits through some encoder layers
 *   cross.c            runs a cross-encoder on the request and each of the first N hits
 *   joint.c            adds the logits of whichtool's own cross-encoder to the evidence of the first stage
 *   provider_rerank.c  applies ToolRerank's rules, which order hits by their providers
 *
 * A snapshot has no texts of tools, so a kind that needs texts reads the tools with a tool_reader. */
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
#include "rerank/cross.h"
#include "retrieve/retrieve.h"

/* A second stage. */
struct reranker {
    const struct rerank_kind *kind; /* NULL to keep the hits unchanged */
    void *model;                    /* data of the kind; NULL if the kind needs none */
    struct cross_encoder *cross;    /* NULL without a cross-encoder */
    size_t reads;                   /* number of hits to read, for wt__rerank_cross; else 0 */
};

/* Callbacks that read the tools of a snapshot's rows. Results live in the arena. Errors: those of the store. */
struct tool_reader {
    void *context; /* first argument of the callbacks */
    /* Reads the tools of rows [count] to out [count]. A tool that was removed in the meantime is empty. */
    int (*read)(void *context, const uint32_t *rows, size_t count, struct arena *arena, struct tool *out,
                wt_error *err);
    /* Lists at most `most` rows of the tools of a provider. An empty name means the tools without a provider. */
    int (*rows_of)(void *context, struct str provider, size_t most, struct arena *arena, uint32_t **rows, size_t *count,
                   wt_error *err);
};

/* Input of a second stage. Borrowed. */
struct rerank_input {
    const struct view *view;
    const struct retrieve_request *request; /* the request that found the hits */
    struct tool_reader tools;
    struct arena *arena;                /* for memory that lives as long as the hits */
    double *multi_provider_probability; /* output, as in wt_hits; left unchanged if the kind does not compute it */
    struct progress *progress;          /* reported after every few tools; may be NULL */
};

/* Trained data of a reranker. Borrowed; encoder and arena must outlive the reranker. */
struct rerank_folder {
    const char *weights;  /* path of model.safetensors, which may not exist */
    const json_t *config; /* content of config.json */
    const struct encoder *encoder;
    struct arena *arena;
    const char *first;          /* name of the recipe of the first stage */
    const char *first_identity; /* identity of that recipe's training */
};

struct rerank_kind {
    bool features;     /* requires hits with features */
    const void *plain; /* model of an untrained reranker; NULL if the kind has no model or must be trained */

    /* Fills `out` from the folder of a recipe. NULL if no recipe of this kind has a folder. Errors: WT_EMODEL,
     * WT_ENOMEM. */
    int (*open)(struct reranker *out, const struct rerank_folder *folder, wt_error *err);
    void (*close)(void *model);
    /* Loads the model on first use. Called before the search, so that errors are reported early. NULL if `open` or
     * `run` loads the model. Errors: WT_EMODEL, WT_ENOMEM. */
    int (*load)(const struct reranker *reranker, wt_error *err);
    /* Returns the number of first-stage hits that the reranker can use. */
    size_t (*depth)(const struct reranker *reranker);
    /* Sets the order, scores and stages of the hits. The list has at least one hit. Hits that the reranker does not
     * read stay behind the reranked hits. Errors: those of the model and of the tool_reader. */
    int (*run)(const struct reranker *reranker, const struct rerank_input *input, struct hit_list *hits, wt_error *err);
};

/* The kinds. */
extern const struct rerank_kind wt__rerank_refiner, wt__rerank_cross, wt__rerank_joint, wt__rerank_rules;

/* Returns an untrained reranker of the given kind. kind: NULL for no reranking. */
struct reranker wt__reranker_plain(const struct rerank_kind *kind);

/* Call the function of the reranker's kind. If the reranker has no kind, return 0. wt__rerank also moves named
 * hits back to the front (wt__named_first). */
int wt__reranker_load(const struct reranker *reranker, wt_error *err);
size_t wt__reranker_depth(const struct reranker *reranker);
int wt__rerank(const struct reranker *reranker, const struct rerank_input *input, struct hit_list *hits, wt_error *err);

/* Sets a hit's score, and records the difference from its old score as the share of the stage CROSS_STAGE. */
void wt__hit_rescore(struct hit *hit, float score);

/* Sorts hits [count] and their keys [count] by key, greatest first. The sort is stable. */
void wt__hits_sort(struct hit *hits, float *keys, size_t count);

/* Sorts the first `count` hits by key, and records their ranks in the stage CROSS_STAGE. Later hits keep their order.
 * Their scores are limited to the lowest score of the sorted hits. */
void wt__hits_order(struct hit_list *hits, float *keys, size_t count);

/* Computes the logits [count] of the first hits with reranker->cross. Each pair has the whole request, even if a
 * sub-query found the hit: other parts of a request often tell what a part means. */
int wt__cross_score_hits(const struct reranker *reranker, const struct rerank_input *input, const struct hit_list *hits,
                         size_t count, struct arena *arena, float *logits, wt_error *err);

/* Name of the cross-encoder among the stages of a hit. */
#define CROSS_STAGE "cross"

#endif
