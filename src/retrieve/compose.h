/* compose.h: ranks tools by the evidence that each text of a request gives, and lets copies share places.
 *
 * Copies of one tool by several providers share one place, because repeating them tells the caller nothing new. Tools
 * of one provider often have similar descriptions and do different things. They share a place only if they are one
 * operation under two HTTP methods. There are two kinds of copies:
 *
 *   exact   All texts are equal except the provider, as in forked servers (index/snapshot.h). The place goes to the
 *           first copy, or to the copy of a provider named in the request.
 *   near    The tool has the same name and a very similar vector as a candidate before it, but another provider, and
 *           was imported later. Rows are in import order, so the later import has the higher row. If it ranks before
 *           the earlier import, it is not treated as a copy. docs/floods.md measures each condition. */
#ifndef WT_RETRIEVE_COMPOSE_H
#define WT_RETRIEVE_COMPOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "index/snapshot.h"
#include "retrieve/named_provider.h"
#include "retrieve/segment.h"

/* Copies that keep places of their own. */
enum copies_placed {
    COPIES_BY_ID,  /* exact copies, for evaluations that list only one of them as correct */
    COPIES_SHARED, /* no copies */
    COPIES_ALL     /* all copies */
};

/* Tool `row`, which gave its place to tool `of`. */
struct copy {
    uint32_t row, of;
};

/* Copies among the candidates of a request. */
struct copies {
    const struct snapshot_key *keys;    /* keys of all rows */
    size_t candidates;                  /* N */
    const uint32_t *rows;               /* [N] rows of the candidates, ascending */
    const struct provider_names *asked; /* providers named in the request; NULL if exact copies keep their places */
    const struct vectors *vectors;      /* vectors of the tools' own texts; NULL if near-copies keep their places */
    struct vectors_scratch *scratch;
    float *storage; /* for a vector that is read from a file */
    uint32_t *met;  /* [N] rows of the candidates seen so far */
    size_t met_count;
    uint32_t *older;  /* [N] scratch */
    float *cosines;   /* [N] scratch */
    uint32_t *placed; /* [N] rows that have a place */
    size_t placed_count;
    struct copy *given; /* [N] candidates that gave their place to an earlier one */
    size_t given_count;
    size_t exact_count; /* number of exact copies among `given` */
};

/* Allocates the arrays for N candidates in the arena. Returns 0 or WT_ENOMEM. */
int wt__copies_begin(struct copies *copies, struct arena *arena, wt_error *err);

/* Processes the next candidate, best first. Returns COPY_GIVEN if the candidate gave its place to an earlier one
 * (recorded in `given`), COPY_PLACED if it already has a place because the request asked for it
 * (wt__copy_asked_for), else COPY_NONE. After COPY_NONE, later candidates may be copies of this one, even if it gets
 * no place. Errors: WT_ESTORE (damaged vector), WT_ENOMEM. */
enum { COPY_NONE, COPY_GIVEN, COPY_PLACED };
int wt__copy_next(struct copies *copies, uint32_t row, wt_error *err);

/* Undoes the last COPY_GIVEN: the candidate keeps its place. */
void wt__copy_keep(struct copies *copies);

/* Returns the candidate to show in place of candidate c: an exact copy by a provider named in the request, or c. */
size_t wt__copy_asked_for(const struct copies *copies, size_t c);

/* Records that candidate `row` got a place and is shown as `shown`, either itself or an exact copy. */
void wt__copy_place(struct copies *copies, uint32_t row, uint32_t shown);

/* The whole request and its sub-queries. */
enum { TEXTS_MAX = 1 + SUBQUERIES_MAX };

/* Evidence of each text for each candidate. Text 0 is the whole request. The others are its sub-queries, if it has
 * several. value[t] is [N]. All texts use one scale: the best tool of a text scores about the retriever's total
 * weight. */
struct evidence {
    size_t texts, candidates; /* candidates: N */
    const uint32_t *rows;     /* [N] */
    const uint32_t *provider; /* [N] number of the provider, for the cap */
    float *value[TEXTS_MAX];
    float subquery_weight; /* weight of a sub-query relative to the whole request; 1 if untrained */
    uint16_t *leads;       /* [N] 1-based index of the name that this tool leads (named.c), or 0; NULL without names */
    float *named;          /* [N] score of a named tool or namesake (named.c), else 0; NULL without names */
    struct copies *copies; /* candidates that share places; NULL if copies are ranked like other tools */
};

struct chosen_candidate {
    uint32_t candidate;
    uint32_t text;  /* sub-query that counted; 0 if the request has only one */
    float score;    /* of the best copy, if copies share the place */
    float subquery; /* part of `score` added by the sub-query, after decay */
};

/* Picks at most k candidates, best first, into out [k] and sets *count. Candidates must be in ascending row order; ties
 * go to the lower row. max_per_provider is 0 for no cap. Errors: WT_ENOMEM and those of wt__copy_next. */
int wt__compose(const struct evidence *evidence, size_t k, size_t max_per_provider, struct arena *scratch,
                struct chosen_candidate *out, size_t *count, wt_error *err);

#endif
