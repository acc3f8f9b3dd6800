/* source.h: a source of evidence that a request needs a tool: a file each, and a row each in fuse.c's table.
 *
 * A source is asked twice of every text of a request: which tools it finds best, and then how well it thinks of each of
 * the candidates, which are all that any source found. What it says stands in its ranking of the text. */
#ifndef WT_RETRIEVE_SOURCE_H
#define WT_RETRIEVE_SOURCE_H

#include "index/lexical.h"
#include "index/vectors.h"
#include "retrieve/compose.h"
#include "retrieve/document.h"
#include "retrieve/named_provider.h"
#include "retrieve/request_names.h"
#include "retrieve/retrieve.h"
#include "text/analyser.h"

/* What one source says of one text. All zero: nothing. */
struct ranking {
    struct scored *top; /* [len] best first */
    size_t len;
    float *scores; /* [N] of the candidates, on the source's own scale; zeros before they are scored */
    float best;    /* score, above 0; or 0 */
};

struct text {
    struct str bytes;
    const float *vector; /* [D]; those of all texts lie behind each other */
    struct ranking rankings[SOURCES];

    /* Of words alone: */
    struct lexical_term *terms; /* [term_count] sorted */
    size_t term_count;
    unsigned *fields; /* [term_count] in which fields of the tool being explained; NULL before the first */
    float *idf;       /* [term_count] by the term's weight */
    float most;       /* that these terms could give */
    float coverage;
    float *shares; /* [term_count] scratch of wt__word_share */

    struct provider_names providers; /* of providers alone */
    unsigned actions;                /* of actions alone; enum action */
};

struct workspace {
    struct arena arena; /* of this query */
    struct text texts[TEXTS_MAX];
    size_t text_count;
    struct analyser *analyser;
    struct token_list tokens;
    struct document document;
    struct request_names names; /* of this query's request, where it asks for them */
    struct lexical_query queries[TEXTS_MAX];
    struct encoder_scratch *scratch;
    const struct encoder *scratch_of; /* the encoder that scratch belongs to */
    struct vectors_scratch vectors;
};

/* A request on its way to hits. */
struct query {
    const struct retriever *retriever;
    const struct view *view;
    const struct retrieve_request *request;
    struct workspace *workspace;
    struct hit_list *out;
    size_t depth;           /* candidates of a text and source */
    bool fused;             /* words and meaning both have a weight: they have to be on one scale */
    float weights[SOURCES]; /* the retriever's, as they are for this request */
    float context_needed;   /* wt__context_needed of it */
    uint32_t *rows;
    size_t count; /* N candidates: rows [count], ascending */
};

enum { SOURCE_TRIED = 8 };

struct source {
    const char *name;   /* the stage's */
    bool given;         /* its weight is the search's; training has none for it, and `weight` is NULL */
    bool seldom;        /* it says nothing of most tools, and then is not told of */
    const char *weight; /* its member among the weights of a trained recipe */
    bool encodes;       /* reads the texts' vectors */
    bool for_features;  /* asked whenever features are wanted */

    /* Weights that training tries on dev beside those of words and meaning, in order of preference. */
    float tried[SOURCE_TRIED];
    size_t tried_count;

    /* Whether the view has what it looks at; NULL: always. */
    bool (*there)(const struct view *view);
    /* The best tools of each text, at most query->depth. */
    int (*search)(struct query *query, wt_error *err);
    /* scores [N] of the candidates for each text. */
    int (*score_rows)(struct query *query, wt_error *err);
    /* What candidate c counts for text t by a weight above 0. A score says that to itself; what is added up has to be
     * on one scale. */
    float (*value)(const struct query *query, float weight, size_t t, size_t c);
    /* Those of its features that candidate c has, whether it was asked or not. */
    void (*features)(const struct query *query, size_t c, float *out);
};

/* The table, by source_id; rows in fuse.c. */
extern const struct source *const wt__sources[SOURCES];

static inline struct ranking *wt__ranking(const struct query *query, size_t t, enum source_id source)
{
    return &query->workspace->texts[t].rankings[source];
}

/* context.c: how much a request needs what was said before it to be understood: 1 where it says nothing by itself, 0
 * where nothing was said, or something else. */
float wt__context_needed(const struct query *query);

/* bm25.c: what words say of tools that hold very many of them counts less, once all sources have scored. */
void wt__damp_words(struct query *query);

/* fuse.c: whether the query asks this source. */
bool wt__query_asks(const struct query *query, enum source_id source);

/* The value of each candidate for each text, from every source that has a weight. */
int wt__fuse(struct query *query, struct evidence *out, wt_error *err);

/* bm25.c: what of the whole request's words candidate c has. */
struct word_share wt__word_share(const struct query *query, size_t c);

/* The candidate that was chosen, with what each source said of it and, where they are wanted, its features; `first` is
 * the best of them. */
void wt__fuse_hit(const struct query *query, const struct evidence *evidence, const struct choice *choice,
                  const struct choice *first, struct hit *out);

#endif
