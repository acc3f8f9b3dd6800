/* toolrerank.h: ToolRerank (Zheng et al. 2024), which reorders tools by their providers. Contains the rules, the
 * classifier of requests, the function that runs all stages, and the settings in a config.json. */
#ifndef WT_RERANK_TOOLRERANK_H
#define WT_RERANK_TOOLRERANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "base/map.h"
#include "base/topk.h"
#include "catalog/tool.h"
#include "index/snapshot.h"

/* Rules that reorder candidates by their providers (sections 3.2 and 3.3 of the paper). Each rule works on an array of
 * candidates, the best first:
 *
 *   truncate     removes candidates beyond a depth, which differs for tools seen in training and unseen tools
 *   algorithm1   for requests that need one provider: the tools of the best provider come first
 *   algorithm2   for requests that need several providers: the best tools of each group of similar tools come first
 *
 * A query runs these stages (wt__toolrerank):
 *
 *   1. The first stage finds the candidates.
 *   2. truncate removes some of them.
 *   3. The cross-encoder scores the candidates, and they are sorted.
 *   4. The rule for this kind of request reorders them: algorithm1, algorithm2 or none.
 *   5. After algorithm1, the other tools of each chosen provider with `expand` are fetched, scored and merged.
 *
 * The paper calls the candidates that come first F1, and the other candidates F2. Algorithms 1 and 2 keep the order
 * within F1 and within F2. NaN counts as the lowest score. The algorithms read the first HIERARCHY_MAX_CANDIDATES
 * candidates, and later candidates keep their places. No rule allocates memory or fails. Settings come from
 * wt__hierarchy_paper, or must pass wt__hierarchy_validate. */

enum {
    HIERARCHY_MAX_CANDIDATES = 256, /* maximum number of candidates that the rules read */
    HIERARCHY_MAX_LEAN = 100        /* maximum of the settings prior and cover */
};

/* Provider number of a tool without a provider. Two such tools do not count as tools of one provider. */
#define HIERARCHY_NO_PROVIDER UINT32_MAX

struct candidate {
    uint32_t row;        /* row of the tool in the snapshot; unique within a list */
    uint32_t provider;   /* number of its provider, or HIERARCHY_NO_PROVIDER */
    bool seen;           /* true if training used the tool or, with rerank_rules.by_provider, its provider */
    float score;         /* 0 .. 1: the cross-encoder's probability, or `share` without a cross-encoder */
    float share;         /* 0 .. 1: the first stage's score divided by its best score */
    float lack;          /* 0 .. 2: see wt__request_lack */
    const float *vector; /* [D] of unit length, borrowed; NULL if the tool has no vector */
};

/* Kind of a request, from the classifier: needs one provider, several providers, or unknown. */
enum request_kind { REQUEST_UNKNOWN, REQUEST_SINGLE, REQUEST_MULTI, REQUEST_KINDS };

/* Rule for a kind of request. Table 6 of the paper tries every rule, and no rule, for each kind. */
enum hierarchy_rule { HIERARCHY_NONE, HIERARCHY_ALGORITHM1, HIERARCHY_ALGORITHM2, HIERARCHY_RULES };

/* Settings. In brackets: the name of the setting in the paper, or the table of the paper that varies the setting. */
struct hierarchy_settings {
    uint32_t seen_depth;   /* [m_s, Table 5] seen tools are kept among this number of first candidates */
    uint32_t unseen_depth; /* [m_u, Table 5] the same for unseen tools; may be less than seen_depth */
    float tau_s;           /* [Algorithm 1] score above which a tool brings its provider to the front */
    float tau_m;           /* [Algorithm 2] cosine above which two tools belong to one group */
    uint32_t group_most;   /* [n] maximum number of tools of a group that come first */
    float prior;           /* weight of `share` in the logit of a candidate; 0 in the paper */
    float cover;           /* weight of `lack`, subtracted from the logit for Algorithm 1; 0 in the paper */
    bool truncate;         /* if false, all tools are kept up to the greater of both depths */
    bool expand_seen;      /* [Table 7] add all tools of seen providers */
    bool expand_unseen;    /* [Table 7] add all tools of unseen providers */
    enum hierarchy_rule rule[REQUEST_KINDS]; /* [Table 6] */
};

/* The paper's best settings. Requests of unknown kind have no rule. */
extern const struct hierarchy_settings wt__hierarchy_paper;

/* Validates settings from a file or a user:
 *
 *   seen_depth, unseen_depth, group_most   1 .. HIERARCHY_MAX_CANDIDATES
 *   tau_s                                  0 .. 1
 *   tau_m                                  -1 .. 1
 *   prior, cover                           0 .. HIERARCHY_MAX_LEAN
 *   rule                                   a value of the enum below HIERARCHY_RULES
 *
 * Errors: WT_EINVAL, with the setting and its range in the message. */
int wt__hierarchy_validate(const struct hierarchy_settings *settings, wt_error *err);

/* Returns the number of first-stage candidates that the rules can use with these settings. */
size_t wt__hierarchy_depth(const struct hierarchy_settings *settings);

/* Applies section 3.2 of the paper: removes the candidates beyond their depth, and keeps the order. Accepts any count.
 * Returns the number of candidates kept, at most wt__hierarchy_depth. */
size_t wt__hierarchy_truncate(const struct hierarchy_settings *settings, struct candidate *candidates, size_t count);

/* Sorts by score, best first. The sort is stable. */
void wt__hierarchy_sort(struct candidate *candidates, size_t count);

/* Result of Algorithm 1. The first `first` candidates are F1. items [count] are the providers of F1 (X in the paper),
 * in the order of their best candidates. */
struct chosen_providers {
    size_t first, count;
    struct chosen_provider {
        uint32_t provider;
        bool seen;   /* true if any of its candidates is seen */
        bool expand; /* true if the settings require adding the other tools of the provider */
    } items[HIERARCHY_MAX_CANDIDATES];
};

/* Applies Algorithm 1: the candidates of the best candidate's provider come first, and those of each provider that has
 * a candidate with a score above `tau_s`. */
void wt__hierarchy_algorithm1(const struct hierarchy_settings *settings, struct candidate *candidates, size_t count,
                              struct chosen_providers *chosen);

/* Builds the extended F1 of section 3.3: merges the tools `found` into F1 by score. F2 follows unchanged. At equal
 * scores, a candidate of F1 comes first. Skips found tools that are already candidates. first: number of candidates in
 * F1. capacity: room of the array `candidates`; the last candidates are dropped if it is full. Returns the new
 * count. */
size_t wt__hierarchy_merge(struct candidate *candidates, size_t first, size_t count, size_t capacity,
                           const struct candidate *found, size_t found_count);

/* Applies Algorithm 2. Links candidates of one provider, and candidates with a cosine above `tau_m`. Linked candidates
 * form a group. The group_most best candidates of each group come first. dim: D. Returns the number of candidates that
 * come first. */
size_t wt__hierarchy_algorithm2(const struct hierarchy_settings *settings, struct candidate *candidates, size_t count,
                                size_t dim);

/* The classifier decides if a request needs one provider or several. The paper's classifier reads only the words of the
 * request. This classifier reads the rows nearest to each sub-query instead. It compares how well a single provider
 * covers all sub-queries with how well all providers together cover them. It does not depend on words, so it works for
 * other catalogues. */

/* First-stage results of a request. Text 0 is the whole request, and the other texts are its sub-queries. Without other
 * texts, text 0 is the only sub-query. */
struct request_texts {
    size_t texts;                    /* T */
    const struct scored *nearest;    /* [T, most] rows nearest to each text by cosine, best first */
    const size_t *counts;            /* [T] number of rows in `nearest` for each text */
    size_t most;                     /* maximum number of rows for each text */
    const struct snapshot_key *keys; /* provider number of each row of the snapshot */
    uint32_t no_provider;            /* provider number of tools without a provider; HIERARCHY_NO_PROVIDER if unknown */
};

/* Computes how much each provider lacks for the request. For a sub-query, the lack of a provider is the best cosine of
 * any tool minus the best cosine of the provider's tools. If the nearest rows have no tool of the provider, their
 * lowest cosine is subtracted instead. The lack for the request is the mean over the sub-queries.
 *
 * Returns the smallest lack of a provider. Sets `lack` of candidates [count] to the lack of their provider minus the
 * smallest lack. Results are finite for any texts. */
float wt__request_lack(const struct request_texts *texts, struct candidate *candidates, size_t count);

/* The classifier, a logistic function of the smallest lack. If all members are zero, every request is
 * REQUEST_UNKNOWN. */
struct request_classifier {
    float weight, constant;
    float margin; /* requests are REQUEST_UNKNOWN if their probability is within this distance of one half */
};

/* Returns the probability that the request needs several providers. */
float wt__request_probability(const struct request_classifier *classifier, float lack);
enum request_kind wt__request_kind(const struct request_classifier *classifier, float lack);

/* Callbacks of wt__toolrerank. It stops at a negative result and returns that result. */
struct toolrerank_source {
    void *context;
    size_t dim; /* D of the candidates' vectors */
    /* Sets the scores of candidates [count] with the cross-encoder. NULL without a cross-encoder. Then the candidates
     * keep their scores, and no tools are added, because added tools would have no scores. */
    int (*score)(void *context, struct candidate *candidates, size_t count, wt_error *err);
    /* Writes at most `most` tools of a provider, without scores. Returns their number. */
    int (*tools_of)(void *context, uint32_t provider, struct candidate *out, size_t most, wt_error *err);
};

/* Runs the stages of ToolRerank after the first stage (section 3.1). Queries and the tuning of the settings call it.
 *
 * candidates: room for HIERARCHY_MAX_CANDIDATES. On input, *count candidates in the order of the first stage. Their
 *   scores are the first stage's shares, which are copied to `share`; `lack` must be set. On output, *count candidates
 *   in final order.
 * *first: number of candidates that the rule put first; *count without a rule. */
int wt__toolrerank(const struct hierarchy_settings *settings, enum request_kind kind,
                   const struct toolrerank_source *source, struct candidate *candidates, size_t *count, size_t *first,
                   wt_error *err);

/* ToolRerank's settings and training data, as stored in a config.json. */
struct rerank_rules {
    struct hierarchy_settings settings;
    struct request_classifier classifier;
    bool across;      /* true if a cross-encoder scores the candidates; else scores are the first stage's shares */
    bool by_provider; /* true if `seen` has names of providers; false if it has ids of tools */
    struct map seen;  /* names that training used; with by_provider, also the ids of tools without a provider */
};

/* Rules of an untrained reranker. They have no effect, because the kind of every request is unknown. */
extern const struct rerank_rules wt__rules_default;

/* Reads the rules from a config.json. The caller disposes of out->seen. Errors: WT_EMODEL, WT_ENOMEM. */
int wt__rules_read(struct rerank_rules *out, const json_t *config, struct arena *arena, wt_error *err);
/* Returns the rules as JSON, for a config.json. seen: array of names; takes ownership. Returns NULL if out of
 * memory. */
json_t *wt__rules_write(const struct rerank_rules *rules, json_t *seen);
/* True if the training data contains the tool or, with by_provider, its provider. id: scratch memory; the caller must
 * check id->failed. */
bool wt__rules_seen(const struct rerank_rules *rules, const struct tool *tool, struct buffer *id);

#endif
