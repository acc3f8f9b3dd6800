/* source.h: a source of evidence that a request needs a tool. The table in fuse.c lists all sources. Each source has a
 * file of its own, but past_requests.c has two: past requests (neighbours) and recorded use.
 *
 * For every text of a request, each source first searches for its best tools. The results of all sources together
 * are the candidates. Each source then scores every candidate. A source stores its results for a text in a ranking. */
#ifndef WT_RETRIEVE_SOURCE_H
#define WT_RETRIEVE_SOURCE_H

#include "encoder/packed.h"
#include "index/lexical.h"
#include "index/vectors.h"
#include "retrieve/compose.h"
#include "retrieve/document.h"
#include "retrieve/mood.h"
#include "retrieve/named_provider.h"
#include "retrieve/request_names.h"
#include "retrieve/retrieve.h"
#include "text/analyser.h"

/* Evidence of one source for one text. All zero if empty. */
struct ranking {
    struct scored *top; /* [len] best first */
    size_t len;
    float *scores; /* [N] scores of the candidates on the source's own scale; zero until scored */
    float best;    /* best score if above 0, else 0 */
};

struct text {
    struct str bytes;    /* with alternatives (alternatives.h) */
    struct str written;  /* without them */
    const float *vector; /* [D]; the vectors of all texts are contiguous */
    struct ranking rankings[SOURCES];

    /* Used by words only: */
    struct lexical_term *terms; /* [term_count] distinct terms, sorted by their bytes */
    size_t term_count;
    unsigned *fields; /* [term_count] matching fields of the tool being explained; NULL before the first */
    float *idf;       /* [term_count] idf times the term's weight */
    float most;       /* maximum BM25 score for these terms */
    float coverage;   /* share of `most` that the best tool reaches */
    float *shares;    /* [term_count] scratch of wt__word_share */

    struct provider_names providers; /* used by providers only */
    struct request_mood mood;        /* used by actions only */
};

struct workspace {
    struct arena arena; /* memory of this query */
    struct text texts[TEXTS_MAX];
    size_t text_count;
    struct expanded_text expanded; /* the whole request with the places of its alternatives */
    struct str denied;             /* denied parts of the request (negation.h); may be empty */
    struct analyser *analyser;
    struct token_list tokens, soft_tokens; /* soft_tokens: of one word (scorer_features.c) */
    struct document document;
    struct packed word_vectors;                  /* the built-in encoder, whose tokens are vectors of words */
    struct request_names names;                  /* names in this query's request, if the query looks for names */
    struct lexical_query queries[TEXTS_MAX + 1]; /* the last one is for `denied` */
    struct encoder_scratch *scratch;
    const struct encoder *scratch_of; /* encoder that scratch belongs to */
    struct vectors_scratch vectors;
    const struct scored_request *scored; /* inputs of the scorer for this query; NULL if it was not used (scorer.c) */
};

/* State of a request while it is searched. */
struct source_query {
    const struct retriever *retriever;
    const struct view *view;
    const struct retrieve_request *request;
    struct workspace *workspace;
    struct hit_list *out;
    size_t depth;           /* candidates per source for the whole request; see wt__text_depth */
    bool fused;             /* words and meaning are both used and must share a scale */
    float weights[SOURCES]; /* the retriever's weights, adapted to this request */
    float weight_sum;       /* of the sources whose weights are not preset */
    float context_needed;   /* wt__context_needed of this query */
    uint32_t *rows;
    size_t count;       /* N candidates: rows [count], ascending */
    float *probability; /* [N] by the learned scorer; NULL if it was not used */
    float scorer_best;  /* greatest score of the learned scorer for any text; unset if it was not used */
};

/* Sub-queries add 1 / SUBQUERY_PART as many candidates as the whole request. With as many, recall at 5 differs by at
 * most .4 points on dev, and a find of 20 words takes a tenth longer. */
enum { SUBQUERY_PART = 4 };

/* Returns the maximum number of candidates of a source for text t. */
static inline size_t wt__text_depth(const struct source_query *query, size_t t)
{
    return t > 0 ? query->depth / SUBQUERY_PART : query->depth;
}

/* Bits of the sources whose evidence the learned scorer reads. They find its candidates. */
enum { SCORER_READS = 1u << SOURCE_BM25 | 1u << SOURCE_DENSE | 1u << SOURCE_PROVIDER | 1u << SOURCE_ACTION };

enum { SOURCE_TRIED = 8 };

/* Added to a candidate's value before a factor multiplies it, as a share of weight_sum. Otherwise no factor could raise
 * a candidate for which no other source has evidence. */
#define VALUE_LEAST 0.03f

struct source {
    struct {                /* without a name, so that an initialiser can list these members in braces */
        const char *name;   /* name of the stage */
        const char *weight; /* key among the weights of a trained recipe; NULL if is_preset */

        /* True if the view has the data of this source; NULL if always. */
        bool (*has_data)(const struct view *view);
        /* Finds the best tools of each text. At most wt__text_depth of them become candidates. */
        int (*search)(struct source_query *query, wt_error *err);
        /* Sets scores [N] of the candidates for each text. */
        int (*score_rows)(struct source_query *query, wt_error *err);
        /* Returns the contribution of the source to the value of candidate c for text t. weight: above 0. Contributions
         * of all sources are added, so they must be on one scale; scores need not be. NULL if the contribution is the
         * product of weight and score. See also `multiplies`. */
        float (*value)(const struct source_query *query, float weight, size_t t, size_t c);
        /* Sets the features of candidate c that this source provides. Also called if the source was not queried.
         * NULL if it provides none. */
        void (*features)(const struct source_query *query, size_t c, float *out);
    };
    bool is_preset;     /* the search sets the weight; training does not */
    bool multiplies;    /* `value` is a factor of the contributions of the sources before it, plus VALUE_LEAST */
    bool is_sparse;     /* has no evidence about most tools; a hit with score 0 omits this source */
    bool needs_vectors; /* reads the vectors of the texts */
    bool for_features;  /* runs if features are wanted */
    bool ranks_all;     /* finds no tools itself; a hit's rank is its rank among all candidates */

    /* Weights that training tries on dev, in order of preference. Words and meaning have a search of their own. */
    float tried[SOURCE_TRIED];
    size_t tried_count;
};

/* Table of sources by source_id, defined in fuse.c. */
extern const struct source *const wt__sources[SOURCES];

static inline struct ranking *wt__ranking(const struct source_query *query, size_t t, enum source_id source)
{
    return &query->workspace->texts[t].rankings[source];
}

/* Returns the dependence on earlier turns: 1 for a request that means nothing alone, 0 without earlier turns or after a
 * change of subject. Defined in context.c. */
float wt__context_needed(const struct source_query *query);

/* Raises the scorer's probabilities by those of the conversation, as far as the request depends on it. Defined in
 * context.c. */
void wt__context_raise(struct source_query *query);

/* Reads the terms of a text. Defined in bm25.c. */
int wt__text_terms(struct workspace *workspace, struct text *text, wt_error *err);

/* Compares two struct lexical_term by the bytes of their texts, for qsort. Defined in bm25.c. */
int wt__compare_terms(const void *a, const void *b);

/* Reduces the word scores of tools with unusually many words, after words and meaning have scored. Defined in
 * bm25.c. */
void wt__damp_words(struct source_query *query);

/* Returns the factor by which the words of candidate c are damped for text t: below 1 for a tool with unusually many
 * words that is not near by meaning. Defined in bm25.c. */
float wt__word_damping(const struct source_query *query, size_t t, size_t c);

/* True if the query uses this source. Defined in fuse.c. */
bool wt__query_uses(const struct source_query *query, enum source_id source);

/* Computes the value of each candidate for each text from all weighted sources. */
int wt__fuse(struct source_query *query, struct evidence *out, wt_error *err);

/* Returns the words of the whole request that candidate c has. Defined in bm25.c. */
struct word_share wt__word_share(const struct source_query *query, size_t c);

/* Fills a hit for a chosen candidate with the evidence of each source and its features. first: the best choice. */
void wt__fuse_hit(const struct source_query *query, const struct evidence *evidence,
                  const struct chosen_candidate *choice, const struct chosen_candidate *first, struct hit *out);

/* Ranks the tools that a request names: fills evidence `leads` and `named`. Does nothing if the request names
 * no tools. Must run after all other sources have scored. Defined in named.c. */
int wt__named_order(struct source_query *query, struct evidence *evidence, wt_error *err);

/* Fills the name fields of a hit. Defined in named.c. */
void wt__named_hit(const struct source_query *query, const struct evidence *evidence,
                   const struct chosen_candidate *choice, struct hit *out);

#endif
