/* whichtool/find.h: finds tools for a request, or picks the exact set.
 *
 * The conventions are those of whichtool.h, which includes this header. */
#ifndef WHICHTOOL_FIND_H
#define WHICHTOOL_FIND_H

#include "engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- finding tools */

/* Restricts a search to the tools of `providers` (empty: of any) that match a pattern of `only` (empty: any tool),
 * except tools of `excluded_providers` and tools that match a pattern of `excluded`. The search skips the other tools,
 * so it still returns as many hits as requested. No recipe, reranker, set or past use brings an excluded tool back.
 *
 * A pattern must match the whole name, such as "delete_*" or "issues/create*". A pattern with a '/' may instead match
 * the whole id, such as "github/delete_*" or "mail?/send". '*' matches any run of characters including '/', '?' matches
 * one character, and all other characters match themselves, case included.
 *
 * The result's notice lists names and patterns without a tool, with suggestions. If no tool has any of `providers`, or
 * none matches any of `only`, the search fails with WT_ENOTFOUND.
 *
 * Cost: the first search with a filter visits all providers, and with patterns all names (docs/find.md has times for a
 * million). Later searches with the same filter reuse the result until the catalogue changes.
 *
 * A list of more than WT_MAX_FILTER_ITEMS, a NULL in a list, or a pattern of more than WT_MAX_PATTERN_BYTES is
 * WT_EINVAL. Lists and strings are borrowed for the call. */
typedef struct wt_filter {
    size_t size;
    const char *const *providers; /* [provider_count] */
    size_t provider_count;
    const char *const *excluded_providers; /* [excluded_provider_count] */
    size_t excluded_provider_count;
    const char *const *only; /* [only_count] patterns */
    size_t only_count;
    const char *const *excluded; /* [excluded_count] patterns */
    size_t excluded_count;
    /* Callback for conditions that lists cannot express: returns non-zero if the tool with this id may be found. Called
     * at most once for each tool, from the searching thread. The result is reused for filters with the same lists and
     * condition_name until the catalogue changes. Give a changed condition a new name. condition and condition_name
     * must both be set, or both be NULL. */
    int (*condition)(void *context, const char *id);
    void *condition_context;
    const char *condition_name;
} wt_filter;

WT_INIT(wt_filter_init, wt_filter)

typedef struct wt_find_options {
    size_t size;
    size_t k;                /* maximum number of hits, at most WT_MAX_K; 0: 5 */
    const char *recipe;      /* name from wt_recipe_at; NULL or "auto": the best that this store can run */
    const char *provider;    /* only tools of this provider, added to filter->providers; NULL: not restricted */
    size_t max_per_provider; /* maximum hits per provider; 0: unlimited */
    int explain;             /* fill the stages and matches of each hit */
    double abstain;          /* same as in wt_pick_options, except that 0 means WT_OFF. Only with "auto" */
    int copies; /* give copies places of their own. Copies are tools of other providers that are identical, or nearly
                   identical with a similar name (docs/floods.md) */
    /* Called between stages, while a reranker runs, while models are loaded, and while the index is built or waited
     * for. May be called from a thread of the library. */
    wt_progress_fn progress;
    void *progress_context;
    unsigned time_limit_ms;  /* time limit, checked where progress is reported, then WT_ETIMEOUT; 0: unlimited */
    const wt_filter *filter; /* tools that may be found; NULL: all */
    /* Token budget for the definitions of all hits together. In rank order, each hit that still fits is included. The
     * notice names the first hits that do not fit. 0: unlimited.
     *
     * The estimate is a quarter of the bytes that wt_export writes for the tool alone (docs/find.md has the
     * error). For a format that answers a client's search, such as "anthropic-reference", the definitions that the
     * answer loads are estimated. */
    size_t max_tokens;
    const char *format; /* format of those definitions, as in wt_export; NULL: "openai" */
    int as_typed;       /* neither correct spelling nor shorten a long request (wt_hits.read_as) */
    int none_if_unsure; /* omit weak hits (wt_hit.weak); the result may be empty */
    /* Conversation whose next step needs tools, as JSON: messages of OpenAI's or Anthropic's API, or plain ones
     * (docs/json.md). NULL without one.
     *
     * The user's last turn is the request. If wt_find is given a request as well, this request is the last turn.
     * Earlier turns and the tools called in them are context (docs/retrieval.md). Only text is read. A malformed
     * message is skipped and mentioned in the notice. */
    const char *messages;
    size_t messages_len;
    const char *const *have; /* [have_count] tools that the caller has loaded, named as in wt_get. They stay in the
                                result, as do tools called in the conversation: wt_hit.kept */
    size_t have_count;       /* at most WT_MAX_KEPT */
} wt_find_options;

WT_INIT(wt_find_options_init, wt_find_options)

/* Contribution of one stage of the recipe to a hit. */
typedef struct wt_stage_score {
    const char *stage; /* "bm25", "dense", ... */
    size_t rank;       /* 1-based; 0 if beyond the stage's candidates */
    double score;      /* on the stage's own scale */
    double share;      /* part of the hit's score */
    double weight;     /* weight of this evidence in the score; 0 if the stage reorders instead */
} wt_stage_score;

/* A word of the request that a hit matched. */
typedef struct wt_match {
    const char *word;   /* lower case and stemmed */
    const char *fields; /* fields of the tool that contain it, such as "name description" */
    double score;       /* part of the lexical score */
} wt_match;

/* A feature of the learned scorer that changed the rank of a hit. */
typedef struct wt_feature_share {
    const char *feature; /* "cosine", "name_share", ...: a row of the table in src/retrieve/scorer_features.c */
    double value;        /* for the whole request */
    double share;        /* how much lower the scorer's score would be with an average value */
} wt_feature_share;

typedef struct wt_hit {
    const wt_tool *tool;
    double score; /* higher is better; comparable only within one result */
    size_t stage_count, match_count;
    const wt_stage_score *const *stages; /* empty without options->explain */
    const wt_match *const *matches;      /* empty without options->explain; best first */
    /* Probability that the request needs the tool, 0 to 1, comparable across requests.
     *
     * NaN if unknown: with "ptr" and "bundle", and for a tool that a reranker added. At most 1 - no_answer_probability
     * if that is known. If this exact request has usages that count, the probability is at least the tool's share of
     * these usages, smoothed by 1.
     *
     * The estimate assumes that one request in five needs no tool of the catalogue. Without training, the estimate
     * holds for the default encoder. `whichtool train all` calibrates the estimate for this store if there are at least
     * 20 dev requests, which takes about 200 usages (docs/retrieval.md). */
    double probability;
    size_t tokens; /* estimated tokens of the definition; 0 without options->max_tokens */
    int weak;      /* 1 if there is hardly any evidence for the hit (docs/retrieval.md); 0 with "ptr" and "bundle" */
    /* 1 if the conversation called the tool or the caller has loaded it. Such hits do not count towards options->k.
     * max_tokens, abstain and none_if_unsure do not remove them; the filter does. Kept hits that the search did not
     * find come last, with score 0 and probability NaN. */
    int kept;
    const char *const *more_like_it; /* [more_listed] ids of copies that share its place, at most WT_MAX_MORE_LIKE_IT:
                                        identical tools of other providers, and younger near-copies that were also
                                        found (docs/floods.md) */
    size_t more_listed;
    size_t more_count; /* number of copies, counting at most 1,000 identical tools; 0 with options->copies */
    /* [feature_count] the features that changed the score of "scorer" most, the greatest change first. Empty without
     * options->explain, and for recipes that do not use the scorer. */
    const wt_feature_share *const *features;
    size_t feature_count;
} wt_hit;

typedef struct wt_hits {
    size_t len; /* 0 if nothing matched, which is not an error */
    const wt_hit *const *items;
    const char *recipe; /* recipe that ran; differs from options->recipe only for "auto" */
    const char *notice; /* anything missing, such as the model or vectors, in one line; NULL if complete */
    double encode_ms, search_ms, total_ms;
    const char *why;                   /* with "auto": how the recipe was chosen, one sentence; else NULL */
    double multi_provider_probability; /* with "toolrerank": probability that the request needs tools of several
                                          providers (docs/toolrerank.md); NaN otherwise */
    double no_answer_probability;      /* with options->abstain: probability that no tool fits; else NaN */
    size_t copies;                     /* copies that share the places of these hits: the sum of more_count */
    size_t tokens;                     /* estimated tokens of all hits; 0 without options->max_tokens */
    size_t over_budget;                /* hits omitted because of options->max_tokens */
    /* encoder of the request: name of the model, or "encoder" for a model trained here; "" if no encoder was used */
    const char *encoder;
    const char *better;  /* WT_BASE_MODEL if it is the default but not installed, so that the less accurate built-in
                            encoder was used; else NULL */
    const char *read_as; /* the request as searched, with unknown words corrected, or only the ends of a long request
                            (docs/find.md); NULL if unchanged */
    const char *const *unknown_words; /* [unknown_count] words of the request that no tool has. Only set if no hit is
                                         likely, or the request is just a few keywords */
    size_t unknown_count;
    size_t weak;           /* hits omitted because of options->none_if_unsure */
    const char *last_turn; /* with options->messages: the turn that was searched for; else NULL */
    size_t kept;           /* hits with wt_hit.kept */
    unsigned notice_codes; /* WT_NOTICE_... of notice */
} wt_hits;

WT_API void wt_hits_free(wt_hits *hits);

/* Finds the tools that a request needs, best first. Any thread.
 *
 * request: at most WT_MAX_REQUEST_BYTES. May be NULL with length 0 if options->messages has a turn of the user. Invalid
 * UTF-8 is read as replacement characters.
 *
 * Errors:
 * - WT_EEMPTY: the store has no tools.
 * - WT_ENOTFOUND: no tool has the providers or matches the patterns of the filter.
 * - WT_ERECIPE: unknown recipe, or it needs training.
 * - WT_EMODEL: the recipe needs an encoder.
 * - WT_EINVAL: the request is blank, or an option is out of range.
 * - WT_EFORMAT: options->messages is not JSON, is truncated, or has no text of the user.
 * - WT_ETOOLONG, WT_ESTORE, WT_ECANCELLED, WT_ETIMEOUT, WT_ENOMEM. */
WT_API int wt_find(wt_engine *engine, const char *request, size_t request_len, const wt_find_options *options,
                   wt_hits **out, wt_error *err);

typedef struct wt_recipe {
    const char *name;
    const char *summary; /* one line */
    int needs_model;     /* true if it needs an encoder */
    int needs_training;  /* true if it needs wt_train of the same name; rerank-N needs dpr and cross */
    int picks;           /* true if it returns a set, through wt_pick only. "set-N" is complete for N % of requests */
    double complete;     /* completeness target of such a set, as in wt_pick_options */
} wt_recipe;

/* Returns the recipe at an index from 0, or NULL past the last. Static. */
WT_API const wt_recipe *wt_recipe_at(size_t index);

/* ---------------------------------------------------------------- picking a set */

typedef struct wt_pick_options {
    size_t size;
    /* Share of requests whose set should contain every needed tool, below 1. The set is as small as held-out requests
     * allow, at most WT_MAX_COMPLETE tools. Requires training. 0: the set of the greatest expected TRACC instead. */
    double complete;
    /* Share of requests with a fitting tool that may get an empty set, in exchange for fewer wrong tools, below 1. 0:
     * the default, 0.05. Before training, a need whose best tool has a probability below 5 % also gets no tool.
     * WT_OFF: never abstain. */
    double abstain;
    const char *provider; /* only tools of this provider, added to filter->providers; NULL: not restricted */
    int explain;          /* fill the stages and matches of each hit; for "ptr" and "bundle", wt_picked.trace */
    /* A recipe that picks, from wt_recipe_at. complete and abstain require "set". NULL: "set"; but if the engine has a
     * language model, and training found no recorded set near the request, "ptr" chooses the set */
    const char *recipe;
    /* Only for "ptr" and "bundle": */
    const char *base_retriever; /* recipe that finds the tools to add; NULL: "auto" */
    const char *experiment;     /* reproduces a comparison of the paper, as "NAME=VALUE; NAME=VALUE"; may be NULL.
                                   without: comma-separated parts to leave out: bundle, dsa, hqc, cte.
                                   variant: comma-separated changes (docs/ptr.md): problems, protect, examples. Only for
                                   "ptr" */
    size_t k;                   /* tools or past requests per view (docs/ptr.md), at most 32; 0: 7. Only for "ptr" */
    /* For every recipe: */
    wt_progress_fn progress; /* same as in wt_find_options; also about once a second while a language model answers */
    void *progress_context;
    unsigned time_limit_ms;  /* same as in wt_find_options */
    const wt_filter *filter; /* tools that may be found; NULL: all */
    /* same as in wt_find_options. If the budget shortens the set, tracc and complete are NaN. If `complete` cannot be
     * met, the first tools that fit are returned instead of an error */
    size_t max_tokens;
    const char *format;   /* same as in wt_find_options */
    int as_typed;         /* same as in wt_find_options */
    const char *messages; /* same as in wt_find_options, as are the next three fields. Only for "set", else WT_EINVAL */
    size_t messages_len;
    const char *const *have; /* [have_count] */
    size_t have_count;
} wt_pick_options;

WT_INIT(wt_pick_options_init, wt_pick_options)

typedef struct wt_picked {
    size_t len;                   /* 0 if no tool fits, which is not an error */
    const wt_hit *const *items;   /* likeliest first; score: probability that the request needs the tool, given that it
                                     needs any */
    double no_answer_probability; /* probability that no tool fits; NaN if unknown */
    double tracc;                 /* expected TRACC of the set; NaN with `complete`, for an empty set, and if unknown */
    double complete;              /* probability that the set has all needed tools: options->complete, or else the
                                     chooser's estimate; NaN if unknown */
    const char *recipe;           /* recipe that found the candidates */
    const char *notice;           /* anything missing, in one line; NULL if complete */
    double encode_ms, search_ms, total_ms;
    /* With "ptr" and "bundle", no_answer_probability, tracc and complete are NaN. The score is 1 for a tool of the past
     * set, and the share of views that contain it for an added tool. */
    const char *trace; /* with explain: all lists, decisions, questions and answers by stage, as a JSON object
                          (docs/ptr.md); else NULL */
    size_t questions;  /* questions that the language model answered, recorded answers included */
    uint64_t prompt_tokens, completion_tokens; /* tokens of these questions and answers, if the server reports them */
    double model_ms;                  /* time to answer; for a recorded answer, as measured when it was recorded */
    size_t tokens, over_budget;       /* same as in wt_hits */
    const char *encoder;              /* same as in wt_hits */
    const char *read_as;              /* same as in wt_hits; NULL with "ptr" and "bundle" */
    const char *const *unknown_words; /* [unknown_count] same as in wt_hits; empty with "ptr" and "bundle" */
    size_t unknown_count;
    const char *last_turn; /* same as in wt_hits */
    size_t kept;           /* same as in wt_hits. Figures about the set exclude kept tools that were not picked */
    unsigned notice_codes; /* WT_NOTICE_... of notice */
} wt_picked;

WT_API void wt_picked_free(wt_picked *picked);

/* Picks the set of tools that a request needs, no more and no less (docs/recommend.md). Only the recipe "ptr" asks a
 * language model. If the recipe is open, and the model of "ptr" fails, the result is that of "set", with a notice. Any
 * thread.
 *
 * Recipes:
 * - "set": `whichtool train all` calibrates its probabilities. Without training they come from other catalogues, and
 *   the notice says so. options->abstain applies first: a request that no tool seems to fit gets an empty set.
 * - "bundle": the set of tools used together by past requests that is most similar to the request. Needs `whichtool
 *   train neighbours`.
 * - "ptr": a language model corrects the set of "bundle". If nothing was trained, the model builds a set from scratch
 *   (docs/ptr.md).
 *
 * options->complete uses conformal prediction. The set grows until such sets would contain all needed tools for that
 * share of the dev requests. Tools used before and tools never used are treated separately. New requests meet the share
 * approximately, and without a guarantee, because training made other choices on the same dev requests. The notice
 * gives the number of dev requests.
 *
 * A completeness target fails with WT_ERECIPE, and the message says which share can be promised, if
 * - the store has no training, or too few dev requests,
 * - too many dev requests did not find all their tools, or
 * - this request needs more than WT_MAX_COMPLETE tools.
 * With options->max_tokens the first tools that fit are returned instead, with a notice.
 *
 * Errors: those of wt_find; WT_EINVAL (an option out of range, or of another recipe). With "ptr" also those of the
 * language model:
 * - WT_ENETWORK: no answer, or libcurl is missing.
 * - WT_EINVAL: no model name, a malformed URL, or no key.
 * - WT_ENOTFOUND: replay_path does not exist or lacks an answer.
 * - WT_EREADONLY, WT_EIO, WT_EFULL. */
WT_API int wt_pick(wt_engine *engine, const char *request, size_t request_len, const wt_pick_options *options,
                   wt_picked **out, wt_error *err);

#ifdef __cplusplus
}
#endif
#endif
