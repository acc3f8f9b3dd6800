/* search.h: a search for one request, used by finding, picking and the training of the chooser.
 *
 *   recipe -> plan with open models -> current index -> retrieve/, rerank/ -> hits as rows of the index */
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
    /* Input; borrowed. */
    wt_engine *engine;
    struct str request;
    struct arena *arena;       /* for the results */
    bool untrained;            /* "auto" ignores trained models */
    const char *recipe;        /* NULL for "auto" */
    const wt_filter *filter;   /* from wt__filter_read; NULL for all tools */
    size_t k;                  /* hits */
    size_t max_per_provider;   /* 0 for no limit */
    enum copies_placed copies; /* which copies get separate places */
    /* "auto" uses recorded usages of the same request. False in measurements, and for models calibrated without. */
    bool use_recorded;
    bool new_in_full;        /* do not limit new tools (new_tools.h) */
    bool as_typed;           /* do not correct spelling */
    bool features;           /* compute features of the hits, including past requests if there are any */
    const int64_t *excluded; /* [excluded_count] ids of tools to exclude */
    size_t excluded_count;
    const uint64_t *left_out;      /* past requests to ignore, as in struct neighbours */
    struct budget budget;          /* limits the materialised hits (materialise.h) */
    struct progress *progress;     /* polled between the stages; may be NULL */
    const struct vectors *vectors; /* replaces the vectors of the index, for the same rows; or NULL */
    /* Vectors of the texts of wt__retrieve_texts by encoded_by, or NULL. Ignored if the plan has another encoder or
     * the request was corrected. */
    const float *encoded;
    const struct encoder *encoded_by;

    const struct conversation_input *conversation; /* the conversation of the request, or NULL */

    /* State: set by the first half of a run, read by the second. */
    struct search_plan plan;
    struct scored *recorded; /* [recorded_count] recorded usages, as in struct view */
    size_t recorded_count;
    struct neighbours neighbours; /* past requests of the plan's labels, on this index; count may be 0 */
    struct kept_ids kept;         /* kept tools of the conversation */
    uint32_t *kept_rows;          /* [kept_count] rows of the kept tools, if allowed */
    size_t kept_count;
    double context_ms; /* time to encode its context */

    /* Results. */
    struct hit_list hits;       /* valid until wt__search_end */
    struct index_handle *index; /* index of their rows */
    const uint64_t *allowed;    /* bits, as in struct retrieve_request */
    struct filter_mask *mask;   /* mask of the filter on the index; NULL before first use */
    struct notice notice;
    const char *encoder;          /* name; "" without one */
    const char *read_as;          /* corrected request; NULL if not corrected */
    struct str read;              /* the request that was searched for */
    struct unknown_words unknown; /* words of the request that no tool has */
    double multi_provider_probability;
    struct workspace *workspace;
};

/* Validates a request. Errors: WT_ETOOLONG, WT_EINVAL if it is empty. */
int wt__request_check(struct str request, wt_error *err);

/* Runs a search. Call wt__search_end afterwards, also on an error. Errors: those of wt_find. */
int wt__search_run(struct search *search, wt_error *err);
void wt__search_end(struct search *search);
/* Repeats the search without trained models. */
int wt__search_repeat_untrained(struct search *search, wt_error *err);

/* Returns the tools allowed by the filter. *allowed: one bit per row of the index, in the search's arena or its mask;
 * NULL for all. Errors: those of wt__filter_mask. */
int wt__search_allowed(struct search *search, const uint64_t **allowed, wt_error *err);

/* *out: true if some tool has at least this share of the recorded usages of the same request. Works before the search
 * ran. */
int wt__search_is_recorded(const struct search *search, float share, bool *out, wt_error *err);
/* Returns the share of the tool in `row` among the recorded usages of the same request, 0 if none or if they are
 * ignored. */
float wt__search_recorded(const struct search *search, uint32_t row);

/* Returns the words of the request that no tool has. Empty unless the request consists of keywords or no hit is likely
 * to be needed. */
int wt__search_unknown(const struct search *search, const char *const **words, size_t *count, wt_error *err);

/* Adds a notice with suitable models if the request seems not to be English, many of its words are unknown to the
 * catalogue, and the encoder only supports English. */
int wt__search_note_language(struct search *search, wt_error *err);

/* Returns the past requests used by the search, or NULL. */
const struct neighbours *wt__search_neighbours(const struct search *search);

#endif
