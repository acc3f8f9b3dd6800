/* reranker.h: the second stage of a query, which reranks the first stage's hits together with the request. Each kind
 * has a file:
 *
 *   refiner.c          runs the request and the vectors of the hits through some encoder layers
 *   cross.c            reads the request together with each of the first N hits
 *   provider_rerank.c  ToolRerank's rules, which order hits by their providers
 *
 * A kind that reads texts gets the tools from a tool_reader, because a snapshot has no texts. */
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

/* A second stage. If zeroed, it keeps the hits as they are. */
struct reranker {
    const struct rerank_kind *kind;
    void *model;                 /* depends on the kind; NULL if it has no model */
    struct cross_encoder *cross; /* NULL without a cross-encoder */
    size_t reads;                /* number of hits to read; only for wt__rerank_cross */
};

/* Access to the tools of a snapshot's rows. Results live in the arena. Errors: those of the store. */
struct tool_reader {
    void *context;
    /* Reads out [count]; a tool that was removed in the meantime is empty. */
    int (*read)(void *context, const uint32_t *rows, size_t count, struct arena *arena, struct tool *out,
                wt_error *err);
    /* Lists up to `most` rows of a provider's tools; an empty name means tools without a provider. */
    int (*rows_of)(void *context, struct str provider, size_t most, struct arena *arena, uint32_t **rows, size_t *count,
                   wt_error *err);
};

/* Input of a second stage; borrowed. */
struct rerank_input {
    const struct view *view;
    const struct retrieve_request *request; /* the request that found the hits */
    struct tool_reader tools;
    struct arena *arena;                /* for memory that lives as long as the hits */
    double *multi_provider_probability; /* output, as in wt_hits; unchanged if not computed */
    struct progress *progress;          /* reported after every few tools; may be NULL */
};

/* Trained data of a reranker. Borrowed; encoder and arena must outlive the reranker. */
struct rerank_folder {
    const char *weights; /* path of the file with the weights */
    const json_t *config;
    const struct encoder *encoder;
    struct arena *arena;
    const char *first;          /* recipe of the first stage */
    const char *first_identity; /* identity of that recipe's training */
};

struct rerank_kind {
    bool features;     /* requires hits with features */
    const void *plain; /* model of an untrained reranker; NULL if it has no model or must be trained */

    /* Fills out->model and other unset members from the folder. NULL if the kind has no folder. Errors: WT_EMODEL,
     * WT_ENOMEM. */
    int (*open)(struct reranker *out, const struct rerank_folder *folder, wt_error *err);
    void (*close)(void *model);
    /* Loads the model on first use, before the search, so that its errors are reported early. NULL if `open` loads all.
     * Errors: WT_EMODEL, WT_ENOMEM. */
    int (*load)(const struct reranker *reranker, wt_error *err);
    /* Returns the number of first-stage hits that the reranker can use. */
    size_t (*depth)(const struct reranker *reranker);
    /* Sets the order, scores and stages of the hits, of which there is at least one. Hits that were not read stay after
     * the others. Errors: those of the model and of the reader. */
    int (*run)(const struct reranker *reranker, const struct rerank_input *input, struct hit_list *hits, wt_error *err);
};

/* The kinds. */
extern const struct rerank_kind wt__rerank_refiner, wt__rerank_cross, wt__rerank_rules;

/* Returns an untrained reranker of the given kind. */
struct reranker wt__reranker_plain(const struct rerank_kind *kind);

/* Call the function of the reranker's kind; do nothing, or return 0, if the reranker has no kind. */
int wt__reranker_load(const struct reranker *reranker, wt_error *err);
size_t wt__reranker_depth(const struct reranker *reranker);
int wt__rerank(const struct reranker *reranker, const struct rerank_input *input, struct hit_list *hits, wt_error *err);

/* Sets a hit's score and records the difference as the cross-encoder's share. */
void wt__hit_rescore(struct hit *hit, float score);

/* Sorts hits [count] and keys [count] by key, greatest first; stable. */
void wt__hits_sort(struct hit *hits, float *keys, size_t count);

/* Name of the model's evidence among the stages of a hit. */
#define CROSS_STAGE "cross"

#endif
