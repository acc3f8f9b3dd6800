/* search.h: one request, from words to hits: what finding, picking and the chooser's training have in common.
 *
 *   recipe -> plan, with its models open -> index, up to date -> retrieve/, rerank/ -> hits, as rows of the index */
#ifndef WT_QUERY_SEARCH_H
#define WT_QUERY_SEARCH_H

#include "query/budget.h"
#include "query/conversation.h"
#include "engine/engine.h"
#include "engine/filter.h"
#include "engine/notice.h"
#include "query/search_plan.h"
#include "retrieve/spelling.h"

struct search {
    /* What is wanted; borrowed. */
    wt_engine *engine;
    struct str request;
    struct arena *arena;       /* for what is said of the search */
    bool untrained;            /* "auto" does without what was trained */
    const char *recipe;        /* NULL: "auto" */
    const wt_filter *filter;   /* of wt__filter_read; NULL: all tools */
    size_t k;                  /* hits */
    size_t max_per_provider;   /* 0: no cap */
    enum copies_placed copies; /* which copies have places of their own */
    bool use_recorded;       /* "auto" heeds what usages of this very request used; not where hits are measured, or read
                                by what was calibrated without */
    bool new_in_full;        /* new tools (new_tools.h) have all the places that they would have */
    bool as_typed;           /* no word of the request is corrected */
    bool features;           /* of the hits; past requests are then asked where there are any */
    const int64_t *excluded; /* [excluded_count] ids of tools that are not found */
    size_t excluded_count;
    const uint64_t *left_out;      /* past requests that are not asked; as in struct neighbours */
    struct budget budget;          /* what of the hits comes out (materialise.h) */
    struct progress *progress;     /* heard between the stages; may be NULL */
    const struct vectors *vectors; /* in place of the index's own, of the same rows; NULL: those */
    const float *encoded;          /* of what wt__retrieve_texts gives of the request, by encoded_by. NULL, or the plan
                                      or the words that are read are others: it is encoded when it is searched */
    const struct encoder *encoded_by;

    const struct conversation_input *conversation; /* whose last turn the request is, and what is kept; NULL: none */

    /* How it is done: decided by the first half of its run, and left alone by the second. */
    struct search_plan plan;
    struct scored *recorded; /* [recorded_count] as in struct view */
    size_t recorded_count;
    struct neighbours neighbours; /* those of the plan's labels, on this index; count 0: none */
    struct kept_tools_of kept;    /* of the conversation */
    uint32_t *kept_rows;          /* [kept_count] those of them that may be found, on this index */
    size_t kept_count;
    double context_ms; /* that its context took to encode */

    /* What came of it. */
    struct hit_list hits;       /* until the end of the search */
    struct index_handle *index; /* whose rows they are */
    const uint64_t *allowed;    /* those that may be found, as in struct retrieve_request */
    struct filter_mask *mask;   /* of the filter, on that index; NULL: none was wanted yet */
    struct notice notice;
    const char *encoder;          /* the same */
    const char *read_as;          /* the same */
    struct str read;              /* the request as it was read */
    struct unknown_words unknown; /* of that */
    double multi_provider_probability;
    struct workspace *workspace;
};

/* WT_ETOOLONG, or WT_EINVAL for one that is empty. */
int wt__request_check(struct str request, wt_error *err);

/* Runs it; ended by wt__search_end, whether it worked or not. Errors: those of wt_find. */
int wt__search_run(struct search *search, wt_error *err);
void wt__search_end(struct search *search);
/* Runs it once more, by what needs no training. */
int wt__search_untrained(struct search *search, wt_error *err);

/* *allowed: a bit for each row of its index that it may find, in its arena; NULL: all. Errors: those of
 * wt__filter_mask. */
int wt__search_allowed(struct search *search, const uint64_t **allowed, wt_error *err);

/* Whether a tool has at least that share of the usages of this very request. No search has to have run. */
int wt__search_is_recorded(const struct search *search, float share, bool *out, wt_error *err);
/* The share of usages of this very request that used the tool in `row` (catalog/), 0 where none did or they have no
 * say.
 */
float wt__search_recorded(const struct search *search, uint32_t row);

/* The words of the request that no tool has, where that is worth telling: no hit is likely to be needed, or the request
 * is nothing but keywords, of which each is meant. Else none. */
int wt__search_unknown(const struct search *search, const char *const **words, size_t *count, wt_error *err);

/* Adds to the notice which models would read the request better, where it seems to be in another language than English,
 * no tool has most of its words, and the encoder knows English alone. */
int wt__search_tell_language(struct search *search, wt_error *err);

/* The neighbours that were asked, or NULL. */
const struct neighbours *wt__search_neighbours(const struct search *search);

#endif
