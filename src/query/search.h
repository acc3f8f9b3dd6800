/* search.h: a search for one request, used by finding, picking and the training of the chooser.
 *
 *   recipe -> plan with open models -> current index -> retrieve/, rerank/ -> hits as rows of the index */
#ifndef WT_QUERY_SEARCH_H
#define WT_QUERY_SEARCH_H

#include "base/json.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "choose/relevance.h"
#include "engine/engine.h"
#include "engine/filter.h"
#include "engine/notice.h"
#include "query/budget.h"
#include "retrieve/retrieve.h"
#include "retrieve/spelling.h"
#include "whichtool.h"

/* ---------------------------------------------------------------- times */

/* Times of a search, on the clock of wt__now_ms, for traces and metrics. A time is 0 if its stage did not run. */
struct search_times {
    double begun;
    double encode_ms, encoded; /* duration of encoding the request, and its end */
    double retrieved;          /* end of the retrieval, including the encoding */
    double reranked;           /* end of the reranker */
    double ended;
};

/* Return the times of a result. */
struct search_times wt__hits_times(const wt_hits *hits);
struct search_times wt__picked_times(const wt_picked *picked);

/* ---------------------------------------------------------------- plan */

/* The plan of a search: the retriever, the models and the vectors that a recipe uses on this engine. Created before the
 * index is opened, with all models open, and only read afterwards. Its strings are in the arena of the search. */
struct search_plan {
    struct retriever retriever;
    struct reranker reranker;                /* kind is NULL for no reranking */
    const struct encoder *encoder;           /* encoder of requests; NULL for a lexical search */
    struct index_set set;                    /* vectors to search; kind is NULL without vectors */
    bool may_use_fallback;                   /* the fallback encoder may be used */
    const struct trained *labels;            /* trained models whose past requests are used; NULL for none */
    bool recorded;                           /* the recipe "auto" was requested, so recorded usages may count */
    const struct relevance_model *relevance; /* fitted to the hits of this recipe; NULL for the default */
    const char *ran;                         /* name of the recipe that runs */
    const char *why;                         /* reason of the choice, as in wt_hits */
    struct notice notice;
};

/* ---------------------------------------------------------------- conversation */

/* A search for a conversation. The request is the given request or else the user's last turn. Other turns and the
 * called tools are context (retrieve/context.c). Called tools and the caller's own tools are kept in the result, so an
 * agent's set of tools only grows. The filter applies to kept tools too, because a conversation is untrusted text and
 * must not bypass the filter. */

/* Fields as in wt_find_options; borrowed. */
struct conversation_options {
    struct str request;
    const char *messages;
    size_t messages_len;
    const char *const *have;
    size_t have_count;
    const json_t *parsed; /* messages already parsed, used instead of `messages`; or NULL */
};

struct conversation_input {
    struct str request; /* the given request, or the user's last turn if the given request is blank */
    struct str context; /* latest other turns, followed by the request; empty without other turns */
    const char **names; /* [name_count] names of the tools to keep; the first `called` are called tools */
    size_t name_count, called;
    bool has_messages;
    struct notice notice; /* skipped messages and calls */
};

/* Reads a conversation into the arena. Errors: those of wt__messages_read, WT_EFORMAT (no turn of the user), WT_EINVAL
 * (too many names). */
int wt__conversation_read(struct conversation_input *out, const struct conversation_options *options,
                          struct arena *arena, wt_error *err);

/* The tools to keep, as ids of a store. */
struct kept_ids {
    int64_t *ids; /* [count] distinct, in the order of the names; the first `called` are called tools */
    size_t count, called;
};

/* ---------------------------------------------------------------- search */

struct search {
    /* Input; borrowed. */
    wt_engine *engine;
    struct str request;
    struct arena *arena;       /* for the results */
    bool untrained;            /* "auto" ignores trained models */
    const char *recipe;        /* NULL for "auto" */
    const wt_filter *filter;   /* from wt__filter_read; NULL for all tools */
    size_t k;                  /* number of hits */
    size_t max_per_provider;   /* 0 for no limit */
    enum copies_placed copies; /* which copies get separate places */
    /* Use recorded usages of the same request, if the recipe is "auto". False if the request has a context, or if the
     * caller's probabilities were calibrated without recorded usages. */
    bool use_recorded;
    bool new_in_full;        /* do not limit new tools (engine/filter.h) */
    bool as_typed;           /* do not correct spelling */
    bool joint;              /* "auto" without training runs the recipe joint, if its model is installed */
    bool features;           /* compute features of the hits, including past requests if there are any */
    const int64_t *excluded; /* [excluded_count] ids of tools to exclude */
    size_t excluded_count;
    const uint64_t *left_out;      /* past requests to ignore, as in struct neighbours */
    struct budget budget;          /* limits the materialised hits */
    struct progress *progress;     /* polled between the stages; may be NULL */
    const struct vectors *vectors; /* used instead of the vectors of the index, for the same rows; or NULL */
    /* Vectors of the texts of wt__retrieve_texts, computed by the encoder encoded_by; or NULL. Ignored if the plan has
     * another encoder or the request was corrected. */
    const float *encoded;
    const struct encoder *encoded_by;

    const struct conversation_input *conversation; /* the conversation of the request, or NULL */

    /* State of a run. */
    struct search_plan plan;
    struct scored *recorded; /* [recorded_count] recorded usages, as in struct view */
    size_t recorded_count;
    struct neighbours neighbours; /* past requests of plan.labels, with rows of `index`; count 0 for none */
    struct kept_ids kept;         /* kept tools of the conversation */
    uint32_t *kept_rows;          /* [kept_count] rows of the kept tools that the filter allows */
    size_t kept_count;
    bool absent_service;       /* no tool mentions a service of the request */
    struct str background;     /* beginning of a long request whose wish is searched (retrieve/wish.h), or empty */
    double context_ms;         /* time to encode the context */
    struct search_times times; /* without begun and ended */

    /* Results. */
    struct hit_list hits;       /* valid until wt__search_end */
    struct index_handle *index; /* index that the rows of the hits belong to */
    const uint64_t *allowed;    /* one bit per row, as in struct retrieve_request; NULL for all */
    struct filter_mask *mask;   /* mask of the filter on the index; NULL before first use */
    struct notice notice;
    const char *encoder;               /* name of the encoder; "" for a lexical search */
    const char *read_as;               /* corrected request; NULL if not corrected */
    struct str read;                   /* text that was searched for: the corrected or the original request */
    struct unknown_words unknown;      /* words of the request that no tool has */
    double multi_provider_probability; /* NaN if unknown */
    struct workspace *workspace;
};

/* Validates a request. Errors: WT_ETOOLONG, WT_EINVAL if it is empty. */
int wt__request_check(struct str request, wt_error *err);

/* Runs a search. Call wt__search_end afterwards, also on an error. Errors: those of wt_find. */
int wt__search_run(struct search *search, wt_error *err);
void wt__search_end(struct search *search);
/* Repeats the search without trained models. */
int wt__search_repeat_untrained(struct search *search, wt_error *err);

/* Finds the tools that the filter allows, without the excluded ids. *allowed: one bit per row of the index, NULL for
 * all; valid until wt__search_end. Errors: those of wt__filter_mask. */
int wt__search_allowed(struct search *search, const uint64_t **allowed, wt_error *err);

/* *out: true if some tool has at least this share of the recorded usages of the same request. Can be called before
 * wt__search_run. */
int wt__search_is_recorded(const struct search *search, float share, bool *out, wt_error *err);
/* Returns the share of the tool in `row` among the recorded usages of the same request. Returns 0 if the search ignores
 * recorded usages. */
float wt__search_recorded(const struct search *search, uint32_t row);

/* Lists the words of the request that no tool has. The list is empty unless the request consists of keywords or no hit
 * is likely to be needed. Errors: WT_ENOMEM. */
int wt__search_unknown(const struct search *search, const char *const **words, size_t *count, wt_error *err);

/* Adds a notice that suggests multilingual models. Does so only if the request seems not to be English, many of its
 * words are unknown to the catalogue, and the encoder supports only English. */
int wt__search_note_language(struct search *search, wt_error *err);

/* Returns the past requests used by the search, or NULL. */
const struct neighbours *wt__search_neighbours(const struct search *search);

/* ---------------------------------------------------------------- conversation of a search */

/* Resolves the names to tools, once per search. Unresolved names are reported in search->notice. */
int wt__conversation_resolve(struct search *search, wt_error *err);

/* Finds the rows of the kept tools that request->allowed contains, and the context of the request: that of its
 * conversation, or else its background. *out is NULL without a context. Errors: those of wt__retrieve. */
int wt__conversation_context(struct search *search, const struct view *view, const struct retrieve_request *request,
                             const struct context **out, wt_error *err);

/* Marks the hits among the kept tools. */
void wt__conversation_mark(struct search *search);

/* Truncates the hits after the first `wanted` hits that are not kept tools, so that kept tools do not use up places. */
void wt__conversation_cut(struct search *search, size_t wanted);

/* Appends the kept tools missing from the hits. */
int wt__conversation_append(struct search *search, wt_error *err);

/* ---------------------------------------------------------------- public hits */

/* Makes public hits in the search's arena. which: [count] indices of the search's hits, in the order of the result.
 * Skips tools that were removed meanwhile or do not fit the budget. */
int wt__materialise_hits(struct search *search, const uint32_t *which, size_t count, bool explain,
                         const wt_hit *const **out, size_t *len, wt_error *err);

/* Works like wt_find, but gives identical tools separate places. An evaluation needs this, because a judgement names
 * one of several identical tools. options->copies still decides about near-copies. */
int wt__find_by_id(wt_engine *engine, struct str request, const wt_find_options *options, wt_hits **out, wt_error *err);

/* Works like wt_find, but reads the first hits of "auto" with the joint scorer if its model is installed. */
int wt__find_jointly(wt_engine *engine, struct str request, const wt_find_options *options, wt_hits **out,
                     wt_error *err);

/* Works like wt_find with the messages of a conversation already parsed, instead of options->messages. messages: NULL
 * for none. */
int wt__find_parsed(wt_engine *engine, struct str request, const wt_find_options *options, const json_t *messages,
                    wt_hits **out, wt_error *err);

#endif
