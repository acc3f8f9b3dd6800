/* retrieve.h: from a request in words to hits.
 *
 * A request is read as a whole and, when it has several sub-queries ("find a hotel and tell me the weather"), sub-query
 * by sub-query. Each of these texts gets evidence from several sources (source.h): words (BM25 over the tool's fields),
 * meaning (the inner product of unit vectors), past requests. A retriever is a weighing of them; compose.h turns the
 * evidence into an order. docs/retrieval.md has the formulas and what each step is worth. */
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
#include "retrieve/copies.h"
#include "retrieve/neighbours.h"

/* Different words, but stop words, of a request that is brief, and of one that is not any more. */
enum { BRIEF_WORDS = 6, LONG_WORDS = 25 };

/* Kinds of evidence; a row each in fuse.c. */
enum source_id {
    SOURCE_BM25,
    SOURCE_DENSE,
    SOURCE_PROVIDER,
    SOURCE_ACTION,
    SOURCE_NEIGHBOURS,
    SOURCE_RECORDED,
    SOURCE_NAMED,
    SOURCE_CONTEXT,
    SOURCES
};

/* How much each kind of evidence weighs. */
struct retriever {
    float
        weights[SOURCES]; /* 0: not looked at; of SOURCE_RECORDED and SOURCE_CONTEXT a share of all others' together */
    float brief;          /* what meaning weighs in a brief request, where words weigh too; 0: as in any other */
    float subquery;       /* what a sub-query of the request counts beside the whole */
    unsigned also;        /* sources, 1u << source_id, looked at without a weight all the same: for the features */
};

extern const struct retriever wt__bm25, wt__dense, wt__hybrid;

bool wt__retriever_asks(const struct retriever *retriever, enum source_id source);

/* Gives meaning that weight where the retriever weighs words, too: an encoder's own (wt__encoder_dense_weight), in
 * place of that of wt__hybrid. */
void wt__retriever_weigh_meaning(struct retriever *retriever, struct dense_weight weight);

/* weights[SOURCE_RECORDED] where usages of the very same request (recorded.c) are to have a say. */
#define RECORDED_SHARE 1.5f

/* weights[SOURCE_CONTEXT] where the request is the last turn of a conversation (context.c) and says next to nothing. */
#define CONTEXT_SHARE 1.0f

#define WEIGHT_MAX 1e6 /* products of weights and vectors are what an index takes */

/* A weight as the config of a trained model has it: finite, and not so large that sums of them overflow; else 0. */
static inline float wt__config_weight(const json_t *object, const char *key, double fallback)
{
    double value = wt__json_real(object, key, fallback);
    return fabs(value) < WEIGHT_MAX ? (float)value : 0;
}

/* As the member "weights" of a trained recipe's config has it. What is missing is 0, but for the sub-queries', which
 * is 1. Writing gives NULL when memory is out. */
struct retriever wt__retriever_read(const json_t *weights);
json_t *wt__retriever_write(const struct retriever *retriever);

/* What a conversation says of the tools, apart from its last turn, which is the request. */
struct context {
    const struct context_tool {
        uint32_t row;
        float share;          /* of the score that the best tool has for the conversation, 0 to 1 */
        float meaning, words; /* FEATURE_SUBQUERY_MEANING and _WORDS of it */
    } * tools;                /* [count] by row */
    size_t count;
    const uint32_t *providers; /* [provider_count] ascending, of the tools that were called in it */
    size_t provider_count;
    float best_meaning; /* greatest cosine of any tool with the conversation; 0: not looked at */
};

/* What a query may look at; borrowed for the call. */
struct view {
    const struct snapshot *snapshot;
    const struct encoder *encoder;       /* of requests; needed when the retriever weighs more than words */
    const struct vectors *vectors;       /* of the tools, of that encoder; NULL: none has one yet */
    const struct neighbours *neighbours; /* past requests, by that encoder; NULL: there are none */
    const struct scored *recorded; /* [recorded_count] what usages of this very request used and may be found, by row */
    size_t recorded_count;
    const struct context *context; /* of the conversation that the request ends; NULL: there was none before it */
};

struct retrieve_request {
    struct str text;
    size_t k;
    const uint64_t *allowed;      /* a bit a row; NULL: every tool */
    size_t max_per_provider;      /* 0: no cap */
    enum copies_placed copies;    /* which copies have places of their own */
    const float *encoded;         /* what an earlier hit_list of this text and encoder gave; NULL: encode it now */
    struct neighbour_votes votes; /* the same, of these neighbours and `allowed`; without items: ask them now */
    bool features;                /* of the hits are wanted whole: words are looked at for them even if not weighed */
};

/* What a later stage may weigh anew, whatever the retriever weighs: */
enum feature {
    FEATURE_SCORE,            /* the hit's, by the best hit's */
    FEATURE_MEANING,          /* cosine with the whole request */
    FEATURE_WORDS,            /* sqrt(coverage) * words / best words, of the whole request */
    FEATURE_SUBQUERY_MEANING, /* the same two of the sub-query that is nearest; of the whole where there are no
                                 sub-queries */
    FEATURE_SUBQUERY_WORDS,
    FEATURE_NEIGHBOUR_VOTES, /* of neighbours, where the retriever looks at them */
    RETRIEVE_FEATURES
};

/* What one stage said of a hit. */
struct stage_evidence {
    const char *name; /* NULL: no stage */
    size_t rank;      /* 1-based among the stage's candidates; 0: beyond them */
    float score;      /* the stage's own scale */
    float share;      /* what it added to the hit's score */
    float weight;     /* that its evidence has there; 0: it has none */
};

/* What of a request's different words, stop words aside, a tool has; all zero where words were not looked at. */
struct word_share {
    unsigned count;
    float weight; /* by idf, 0 to 1 */
};

/* Every source, the sub-query of the request, and what two second stages can say. */
enum { HIT_STAGES = SOURCES + 3 };

struct hit {
    uint32_t row;
    float score;
    struct stage_evidence stages[HIT_STAGES]; /* in the order in which they spoke */
    float features[RETRIEVE_FEATURES];        /* 0 for what was not looked at */
    float probability;                        /* that the request needs it; NaN where nothing tells */
    struct word_share words;                  /* what of the request's words the tool has */
    bool weak;                                /* hardly anything speaks for it, where that was looked at */
    bool brought;                             /* a reranker brought it in: retrieval did not look at it */
    bool kept;                                /* it was called in the conversation, or is had already */
    unsigned lead;       /* it leads, as the tool of that one of the request's names, from 1; 0: it does not */
    struct str name;     /* that name, as the request has it */
    struct str subquery; /* the sub-query of the request that this hit answers best; empty when it has only one */
};

#define SUBQUERY_STAGE "subquery"
#define ACTION_STAGE "action"
#define NAME_STAGE "name"

/* What the stage of that name said of the hit; a new one where it said nothing yet. The name is borrowed. */
struct stage_evidence *wt__hit_stage(struct hit *hit, const char *name);

/* Lives in the workspace until its next use. */
struct hit_list {
    struct hit *items;
    size_t len;
    const float *encoded; /* [texts, D] vectors of the request and its sub-queries; NULL: no meaning was weighed */
    size_t texts;
    struct neighbour_votes votes; /* of neighbours; without items: none were weighed */
    const struct scored *nearest; /* [texts, nearest_most] of each text by meaning, best first; NULL: none weighed */
    const size_t *nearest_counts; /* [texts] */
    size_t nearest_most;
    double encode_ms;
    size_t named;             /* hits that lead: the first ones */
    bool named_only;          /* it says nothing else */
    const struct copy *given; /* [given_count] copies that gave their places to others on the way to these */
    size_t given_count;
    const struct provider_names *asked; /* providers that the request names; NULL: copies word for word have places */
};

/* Brings those that lead to the front again, after a later stage gave all their order; scores do not rise then. */
void wt__named_first(struct hit_list *hits);

/* After a later stage brought other tools: copies word for word share a place again, where they shall. */
void wt__hits_share_places(struct hit_list *hits, const struct snapshot_key *keys);

/* Scratch of one running query: analyser, encoder scratch, cursors, arena. Warm, a query allocates nothing per tool. */
struct workspace;
int wt__workspace_open(struct workspace **out, wt_error *err);
void wt__workspace_close(struct workspace *workspace); /* NULL is a no-op */

/* The tools that the request needs, best first, at most k. Errors: WT_ENOMEM, WT_EMODEL, WT_ESTORE (a damaged vector
 * was met). */
int wt__retrieve(const struct retriever *retriever, const struct view *view, const struct retrieve_request *request,
                 struct workspace *workspace, struct hit_list *out, wt_error *err);

/* What the encoder reads of a request, texts [TEXTS_MAX] (compose.h): it and, when there are at least two, its
 * sub-queries. Vectors of these are what retrieve_request.encoded may bring. Returns how many. */
size_t wt__retrieve_texts(struct str request, struct str *texts);

/* A word of the request that a tool matched. */
struct word_match {
    struct str word; /* as analysed */
    unsigned fields; /* bits of enum field (document.h) */
    float score;     /* what it adds to the tool's BM25 score for the whole request */
};

struct tool;
/* The words of the last request of this workspace that the tool in `row` matched, best first, in the arena. */
int wt__retrieve_explain(struct workspace *workspace, uint32_t row, const struct tool *tool, struct arena *arena,
                         struct word_match **out, size_t *count, wt_error *err);

#endif
