/* copies.h: copies among the candidates of a request. A provider that offers again what another one offers takes places
 * that tell the request nothing new, so copies by several providers share one place. Tools of one provider are often
 * described alike and do different things, so only one operation under two HTTP methods shares a place. There are two
 * kinds:
 *
 *   word for word   forked servers, whose tools are the same but for their provider (index/copy_groups.h). The first
 *                   that comes has the place, or that of the provider which the request names. One that a cap keeps
 *                   out has no place to share.
 *   near            one that is younger than a tool named alike with much the same vector that came before it. Who was
 *                   there first is told by the row: rows are in the order of import. One that the request prefers to
 *                   its elder is no copy to that request. docs/floods.md has what each condition is worth. */
#ifndef WT_RETRIEVE_COPIES_H
#define WT_RETRIEVE_COPIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "index/snapshot.h"
#include "retrieve/named_provider.h"

/* Which copies have places of their own. */
enum copies_placed {
    COPIES_BY_ID,  /* those word for word: where hits are judged by id, and a judgement names any one of them */
    COPIES_SHARED, /* none */
    COPIES_ALL
};

/* A tool that gave its place to another one's. */
struct copy {
    uint32_t row, of;
};

struct copies {
    const struct snapshot_key *keys;    /* of all rows */
    size_t candidates;                  /* N */
    const uint32_t *rows;               /* [N] of the candidates, ascending */
    const struct provider_names *asked; /* providers that the request names; NULL: copies word for word have places */
    const struct vectors *vectors;      /* of the tools' own texts; NULL: near-copies have places */
    struct vectors_scratch *scratch;
    uint32_t *met; /* [N] rows of the candidates that came before */
    size_t met_count;
    uint32_t *older;  /* [N] scratch */
    float *cosines;   /* [N] scratch */
    uint32_t *placed; /* [N] rows that have a place */
    size_t placed_count;
    struct copy *given; /* [N] candidates that gave their place to one that came before */
    size_t given_count;
    size_t words; /* how many of those are so word for word */
};

/* For N candidates; arrays in the arena. 0, or WT_ENOMEM. */
int wt__copies_begin(struct copies *copies, struct arena *arena, wt_error *err);

/* Whether the next candidate, best first, gives its place to one that came before, and then notes that; else others may
 * be copies of it, whether it gets a place or not. COPY_PLACED: it has its place already (wt__copy_asked_for). Errors:
 * WT_ESTORE (a damaged vector was met), WT_ENOMEM. */
enum { COPY_NONE, COPY_GIVEN, COPY_PLACED };
int wt__copy_next(struct copies *copies, uint32_t row, wt_error *err);

/* The last one that was COPY_GIVEN keeps its place all the same. */
void wt__copy_keep(struct copies *copies);

/* Which candidate is shown in the place of candidate c: c itself, or a copy by a provider that the request names. */
size_t wt__copy_asked_for(const struct copies *copies, size_t c);

/* The candidate that came next has a place, which `shown` is shown in: that very row, or another one of its words. */
void wt__copy_place(struct copies *copies, uint32_t row, uint32_t shown);

#endif
