/* toolrerank.h: ToolRerank (Zheng et al. 2024), which reorders tools by their providers. Contains its rules, the
 * classifier of requests, the stages, and the settings in a config.json. */
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
 *   truncate     cuts the list off, for tools seen in training earlier than for unseen tools         (section 3.2)
 *   algorithm1   for requests that need one provider: the tools of the best provider come first      (Algorithm 1)
 *   algorithm2   for requests that need several: at most n of each group of similar tools come first (Algorithm 2)
 *
 *   The stages: first stage -> truncate -> scores of the cross-encoder -> sort -> the rule for this kind of request:
 *     algorithm1 -> the other tools of each chosen provider with `expand`, fetched and scored by the caller -> merge
 *     algorithm2
 *
 * The paper calls the candidates that come first F1, and the rest F2. Algorithms 1 and 2 keep the order within F1 and
 * within F2. NaN counts as the lowest score. The rules read the first HIERARCHY_MAX_CANDIDATES candidates; later
 * candidates keep their places. No rule allocates memory or fails. Settings come from wt__hierarchy_paper, or must pass
 * wt__hierarchy_validate. */

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
    float score;         /* 0 .. 1: the cross-encoder's probability, or the share below */
    float share;         /* 0 .. 1: the first stage's score divided by its best score */
    float lack;          /* 0 .. 2: see wt__request_lack */
    const float *vector; /* [D] of unit length, borrowed; NULL if the tool has no vector */
};

/* Kind of a request, from the classifier: needs one provider, several providers, or unknown. */
enum request_kind { REQUEST_UNKNOWN, REQUEST_SINGLE, REQUEST_MULTI, REQUEST_KINDS };

/* Rule for a kind of request. Table 6 of the paper also applies to each kind the rule of the other kind, and no
 * rule. */
enum hierarchy_rule { HIERARCHY_NONE, HIERARCHY_ALGORITHM1, HIERARCHY_ALGORITHM2, HIERARCHY_RULES };

/* Settings. The paper's name, or its table that varies the setting, is in brackets. */
struct hierarchy_settings {
    uint32_t seen_depth;   /* [m_s, Table 5] number of first candidates among which seen tools are kept */
    uint32_t unseen_depth; /* [m_u, Table 5] the same for unseen tools; may be less than seen_depth */
    float tau_s;           /* [Algorithm 1] score above which a tool brings its provider to the front */
    float tau_m;           /* [Algorithm 2] cosine above which two tools belong to one group */
    uint32_t group_most;   /* [n] maximum number of tools of a group that come first */
    float prior;           /* weight of the first stage's share added to the cross-encoder's logit; 0 in the paper */
    float cover;           /* weight of `lack`, subtracted from this logit for Algorithm 1; 0 in the paper */
    bool truncate;         /* if false, all tools are kept up to the greater of both depths */
    bool expand_seen;      /* [Table 7] add all tools of seen providers */
    bool expand_unseen;    /* [Table 7] add all tools of unseen providers */
    enum hierarchy_rule rule[REQUEST_KINDS]; /* [Table 6] */
};

/* The paper's best settings: 10, 50, .85, .7, 3, all rules on, unseen providers expanded, and no rule for requests of
 * unknown kind. */
extern const struct hierarchy_settings wt__hierarchy_paper;

/* Validates settings from a file or a user. Depths and group_most are 1 .. HIERARCHY_MAX_CANDIDATES, tau_s 0 .. 1,
 * tau_m -1 .. 1, prior and cover 0 .. HIERARCHY_MAX_LEAN, rules those of the enum. Errors: WT_EINVAL; the message names
 * the setting and its range. */
int wt__hierarchy_validate(const struct hierarchy_settings *settings, wt_error *err);

/* Returns the number of first-stage candidates that the rules can use with these settings. */
size_t wt__hierarchy_depth(const struct hierarchy_settings *settings);

/* Applies section 3.2 of the paper: removes the candidates beyond their depth, and keeps the order. Accepts any count.
 * Returns the number of candidates kept, at most wt__hierarchy_depth. */
size_t wt__hierarchy_truncate(const struct hierarchy_settings *settings, struct candidate *candidates, size_t count);

/* Sorts by score, best first; stable. */
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

/* Applies Algorithm 1: the tools of the best candidate's provider, and of each provider with a score above `tau_s`,
 * come first. */
void wt__hierarchy_algorithm1(const struct hierarchy_settings *settings, struct candidate *candidates, size_t count,
                              struct chosen_providers *chosen);

/* Builds the extended F1 of section 3.3: merges F1, the first `first` candidates, with the tools `found` by score. At
 * equal scores, a candidate of F1 comes first. F2 follows unchanged. Found tools that are already candidates are
 * skipped. capacity: room of the array `candidates`; a longer list is cut off. Returns the new count. */
size_t wt__hierarchy_merge(struct candidate *candidates, size_t first, size_t count, size_t capacity,
                           const struct candidate *found, size_t found_count);

/* Applies Algorithm 2: candidates of one provider, or with a cosine above `tau_m`, are linked. Of each connected group
 * the group_most best scores come first. dim: D. Returns the number of candidates that come first. */
size_t wt__hierarchy_algorithm2(const struct hierarchy_settings *settings, struct candidate *candidates, size_t count,
                                size_t dim);

/* The classifier decides if a request needs one provider or several. The paper's classifier reads only the words of the
 * request. This classifier reads the first stage's result: how well a single provider covers all sub-queries, compared
 * with all providers together. It does not depend on words, so it works for other catalogues. */

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
 * any tool minus the best cosine of the provider's tools. If none of its tools is among the nearest, the lowest cosine
 * among these is used. The lack for the request is the mean over the sub-queries. Sets `lack` of candidates [count] to
 * the lack of their provider minus the smallest lack, and returns the smallest lack. Results are finite for any
 * texts. */
float wt__request_lack(const struct request_texts *texts, struct candidate *candidates, size_t count);

/* Logistic function of the smallest lack. If all members are zero, every request is REQUEST_UNKNOWN. */
struct request_classifier {
    float weight, constant;
    float margin; /* REQUEST_UNKNOWN if the probability differs from one half by at most this */
};

/* Returns the probability that the request needs several providers. */
float wt__request_probability(const struct request_classifier *classifier, float lack);
enum request_kind wt__request_kind(const struct request_classifier *classifier, float lack);

/* Callbacks of wt__toolrerank. A negative result ends the run, and is returned. */
struct toolrerank_source {
    void *context;
    size_t dim; /* D of the candidates' vectors */
    /* Sets the scores of candidates [count] with the cross-encoder. NULL without a cross-encoder: the candidates then
     * keep their scores, and no further tools are added, since they would have no scores. */
    int (*score)(void *context, struct candidate *candidates, size_t count, wt_error *err);
    /* Writes at most `most` tools of a provider, without scores. Returns their number. */
    int (*tools_of)(void *context, uint32_t provider, struct candidate *out, size_t most, wt_error *err);
};

/* Runs the stages of ToolRerank after the first stage (section 3.1): truncate -> score -> sort -> the rule for this
 * kind of request. Called by queries, and by the tuning of the settings.
 *
 * candidates: room for HIERARCHY_MAX_CANDIDATES. Input: *count candidates in the order of the first stage, with score,
 *   share and lack. Output: *count candidates in final order, without those beyond their depth.
 * *first: number of candidates that the rule put first; *count without a rule */
int wt__toolrerank(const struct hierarchy_settings *settings, enum request_kind kind,
                   const struct toolrerank_source *source, struct candidate *candidates, size_t *count, size_t *first,
                   wt_error *err);

/* ToolRerank's settings and training data, as stored in a config.json. */
struct rerank_rules {
    struct hierarchy_settings settings;
    struct request_classifier classifier;
    bool across;      /* true if a cross-encoder scores the candidates; else scores are the first stage's shares */
    bool by_provider; /* true if `seen` has names of providers; false if it has ids of tools */
    struct map seen;  /* names in the training data; with by_provider, also ids of tools without a provider */
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
