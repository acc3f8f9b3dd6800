/* retrieve.h: finds the tools for a request in words.
 *
 * A request is searched as a whole. If it has several sub-queries ("find a hotel and tell me the weather"), each is
 * searched as well. Several sources (source.h) give evidence for each of these texts, among them:
 *
 *   words           BM25 over the tool's fields
 *   meaning         inner product of unit vectors
 *   past requests   votes of similar past requests
 *
 * A retriever is a set of weights for the sources. compose.h ranks by the evidence. docs/retrieval.md has the formulas
 * and the effect of each step. */
#ifndef WT_RETRIEVE_RETRIEVE_H
#define WT_RETRIEVE_RETRIEVE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "encoder/encoder.h"
#include "index/snapshot.h"
#include "retrieve/alternatives.h"
#include "retrieve/compose.h"
#include "retrieve/past_requests.h"

/* Kinds of evidence; each has a row in fuse.c. */
enum source_id {
    SOURCE_BM25,
    SOURCE_DENSE,
    SOURCE_PROVIDER,
    SOURCE_ACTION,
    SOURCE_SCORER,
    SOURCE_NEIGHBOURS,
    SOURCE_RECORDED,
    SOURCE_NAMED,
    SOURCE_CONTEXT, /* last, because it multiplies the contributions of the others */
    SOURCES
};

/* Weight of each kind of evidence. */
struct retriever {
    /* 0 if unused. For SOURCE_RECORDED and SOURCE_NAMED a share of the sum of the other weights; for SOURCE_CONTEXT the
     * exponent of its factor. */
    float weights[SOURCES];
    float subquery; /* weight of a sub-query relative to the whole request */
    unsigned also;  /* bits 1u << source_id of sources that are computed without a weight, for the features */
};

extern const struct retriever wt__bm25, wt__dense, wt__hybrid;

bool wt__retriever_uses(const struct retriever *retriever, enum source_id source);

/* weights[SOURCE_RECORDED] if recorded uses of the same request count (past_requests.c). */
#define RECORDED_SHARE 3.0f

#define WEIGHT_MAX 1e6 /* keeps products of weights and vectors within the range of an index */

/* Reads a weight from the config of a trained model. Returns `fallback` if it is missing, and 0 if it is not finite
 * or its magnitude is WEIGHT_MAX or more. */
static inline float wt__config_weight(const json_t *object, const char *key, double fallback)
{
    double value = wt__json_real(object, key, fallback);
    return fabs(value) < WEIGHT_MAX ? (float)value : 0;
}

/* Reads and writes the member "weights" of a trained recipe's config. A missing weight is 0, a missing sub-query weight
 * 1. Writing returns NULL if out of memory. */
struct retriever wt__retriever_read(const json_t *weights);
json_t *wt__retriever_write(const struct retriever *retriever);

/* Evidence from the turns of a conversation before the last one, which is the request. */
struct context {
    const struct context_tool {
        uint32_t row;
        float share;          /* score as a share of the best tool's score for the conversation, 0 to 1 */
        float meaning, words; /* FEATURE_SUBQUERY_MEANING and _WORDS for the conversation */
        float estimate;       /* as in struct hit, for the conversation */
    } * tools;                /* [count] by row */
    size_t count;
    const uint32_t *providers; /* [provider_count] ascending, of the tools called in the conversation */
    size_t provider_count;
    float best_meaning;        /* greatest cosine of any tool with the conversation; 0 if unknown */
    float fits, fits_quantile; /* as in struct hit_list, for the conversation */
};

/* Data that a query searches. Borrowed for the call. */
struct view {
    const struct snapshot *snapshot;
    const struct encoder *encoder;       /* encoder of requests; required if the retriever weighs more than words */
    const struct vectors *vectors;       /* tool vectors by that encoder; NULL if no tool has a vector yet */
    const struct neighbours *neighbours; /* past requests by that encoder; NULL if none are stored */
    const struct scored *recorded; /* [recorded_count] allowed tools in recorded uses of the same request, by row */
    size_t recorded_count;
    const struct context *context; /* conversation before the request; NULL if it has no earlier turns */
    struct vector_cache *cache;    /* vectors of recent requests; NULL to encode every request */
};

struct retrieve_request {
    struct str text;
    size_t k;
    const uint64_t *allowed;   /* bitmap of rows; NULL for all tools */
    size_t max_per_provider;   /* 0 for no cap */
    enum copies_placed copies; /* copies that keep places of their own */
    const float *encoded;      /* `encoded` of an earlier hit_list for the same text and encoder; NULL to encode now */
    struct neighbour_votes votes; /* `votes` of the same hit_list; items is NULL to vote now */
    bool whole;                   /* do not split the text into sub-queries */
    bool features;                /* fill all features, and compute words for them even if words have no weight */
};

/* Features for a later stage, independent of the retriever's weights. */
enum feature {
    FEATURE_SCORE,            /* score divided by the best hit's score */
    FEATURE_MEANING,          /* cosine with the whole request */
    FEATURE_WORDS,            /* sqrt(coverage) * words / best words, of the whole request */
    FEATURE_SUBQUERY_MEANING, /* this and the next: best of the sub-queries, or of the whole request if it has none */
    FEATURE_SUBQUERY_WORDS,
    FEATURE_NEIGHBOUR_VOTES, /* neighbour votes, if the retriever uses neighbours */
    RETRIEVE_FEATURES
};

/* Evidence of one stage for a hit. */
struct stage_evidence {
    const char *name; /* NULL if unused */
    size_t rank;      /* 1-based among the stage's candidates; 0 if not among them */
    float score;      /* on the stage's own scale */
    float share;      /* part of the hit's score */
    float weight;     /* weight of this evidence; 0 if it has no weight */
};

/* Distinct words of the request, without stop words, that a tool has. All zero if words were not computed. */
struct word_share {
    unsigned count;
    float weight; /* share of all such words, weighted by idf, 0 to 1 */
};

/* All sources, the sub-query, and two second stages. */
enum { HIT_STAGES = SOURCES + 3 };

struct hit {
    uint32_t row;
    float score;
    struct stage_evidence stages[HIT_STAGES]; /* in order of evaluation */
    float features[RETRIEVE_FEATURES];        /* 0 if not computed */
    float probability;                        /* probability that the request needs the tool; NaN if unknown */
    float estimate;                           /* the same by the learned scorer alone; NaN if it was not used */
    struct word_share words;                  /* request words that the tool has */
    bool weak;                                /* hardly any evidence supports it */
    bool brought;                             /* added by a reranker rather than by retrieval */
    bool kept;                                /* called earlier in the conversation, or listed by the caller as a
                                               * tool to keep */
    unsigned lead;       /* 1-based index of the name in the request that this tool leads, else 0 */
    struct str name;     /* the name as written in the request */
    struct str subquery; /* sub-query that this hit answers best; empty if the request has only one */
};

#define SUBQUERY_STAGE "subquery"
#define ACTION_STAGE "action"
#define NAME_STAGE "name"

/* Returns the evidence entry of the named stage, and adds one if the hit has none. Borrows the name. */
struct stage_evidence *wt__hit_stage(struct hit *hit, const char *name);

/* Valid until the next use of the workspace. */
struct hit_list {
    struct hit *items;
    size_t len;
    const float *encoded; /* [texts, D] vectors of the request and its sub-queries; NULL if meaning was not used */
    size_t texts;
    struct neighbour_votes votes; /* votes of neighbours; items is NULL if they were not used */
    const struct scored *nearest; /* [texts, nearest_most] nearest tools per text, best first; NULL without meaning */
    const size_t *nearest_counts; /* [texts] */
    size_t nearest_most;
    double encode_ms;
    double encoded_at_ms; /* end of the encoding on the clock of wt__now_ms; 0 if nothing was encoded */
    bool absent_service;  /* the request names a service that no tool mentions; set by the search */
    float fits;           /* probability that any tool fits, by the learned scorer; NaN if the scorer was not used or
                               * the request is not English */
    float fits_quantile;  /* share of requests with a fitting tool whose `fits` is lower, by dev requests */
    bool read_jointly;    /* the joint scorer changed these two and the probabilities of the first hits */
    size_t named;         /* number of hits that lead for a name in the request (named.c); they come first */
    bool named_only;      /* the request consists only of tool names */
    const struct copy *given; /* [given_count] copies that gave their places to other tools */
    size_t given_count;
    const struct provider_names *asked; /* providers named in the request; NULL if exact copies keep their places */
};

/* Moves the hits that lead for a name back to the front after a later stage has reordered the hits. Raises scores
 * where needed so that they never rise along the list. */
void wt__named_first(struct hit_list *hits);

/* Removes hits that are exact copies of a hit before them, after a later stage has added tools. Keeps leading hits
 * and the tools of providers named in the request. Does nothing if exact copies keep their places. */
void wt__hits_share_places(struct hit_list *hits, const struct snapshot_key *keys);

/* Scratch of one running query: analyser, encoder scratch, cursors, arena. Once warm, a query allocates nothing per
 * tool. */
struct workspace;
int wt__workspace_open(struct workspace **out, wt_error *err);
void wt__workspace_close(struct workspace *workspace); /* NULL is a no-op */

/* Finds at most k tools for a request, best first. Errors: WT_ENOMEM, WT_EMODEL, WT_ESTORE (damaged vector). */
int wt__retrieve(const struct retriever *retriever, const struct view *view, const struct retrieve_request *request,
                 struct workspace *workspace, struct hit_list *out, wt_error *err);

struct scorer_table;

/* Candidates of a request with the inputs of the learned scorer (scorer.h), for its training. Valid until the next use
 * of the workspace. z_scores: see struct scorer. */
struct candidate_list {
    size_t texts, count;  /* count: N */
    const uint32_t *rows; /* [N] ascending */
    const float *inputs;  /* [texts][wt__scorer_inputs][N] */
};
int wt__retrieve_candidates(const struct view *view, const struct retrieve_request *request,
                            const struct scorer_table *table, bool z_scores, struct workspace *workspace,
                            struct candidate_list *out, wt_error *err);

/* Texts that the encoder reads: the request without its denied parts (negation.h) and, if there are at least two, its
 * sub-queries. */
struct retrieve_texts {
    struct str texts[TEXTS_MAX];   /* [count] with alternatives (alternatives.h) */
    struct str written[TEXTS_MAX]; /* [count] the same without them */
    struct expanded_text expanded; /* texts[0] with the places of the alternatives */
    struct str denied;             /* denied parts */
    size_t count;
};
/* Splits a request. The texts are views of the request, or are in the arena. retrieve_request.encoded holds vectors of
 * these texts. Errors: WT_ENOMEM. */
int wt__retrieve_texts(struct str request, struct arena *arena, struct retrieve_texts *out, wt_error *err);

/* Request word that a tool matched. */
struct word_match {
    struct str word; /* after analysis */
    unsigned fields; /* bits of enum field (document.h) */
    float score;     /* part of the tool's BM25 score for the whole request */
};

struct tool;
/* Returns in the arena the words of the workspace's last request that the tool in `row` matched, best first. */
int wt__retrieve_explain(struct workspace *workspace, uint32_t row, const struct tool *tool, struct arena *arena,
                         struct word_match **out, size_t *count, wt_error *err);

#endif
