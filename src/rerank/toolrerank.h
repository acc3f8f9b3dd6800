/* toolrerank.h: ToolRerank (Zheng et al. 2024): its rules for providers, its classifier of requests, its stages, and its
 * settings in a config.json. */
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

/* Rules that reorder candidates by their providers (ToolRerank, Zheng et al. 2024, sections 3.2 and 3.3). Three rules
 * work on an array in the caller's memory, best candidate first:
 *
 *   truncate     keeps unseen tools (not in the training data) further down the list than seen ones   (section 3.2)
 *   algorithm1   for one provider: its tools come first                                               (Algorithm 1)
 *   algorithm2   for several providers: at most n of each group of similar tools come first           (Algorithm 2)
 *
 *   first stage -> truncate -> scores of the cross-encoder -> sort -> the rule for this kind of request:
 *     algorithm1 -> the other tools of each chosen provider with `expand`, fetched and scored by the caller -> merge
 *     algorithm2
 *
 * Rules only move candidates. Within F1 (the paper's name for the candidates that come first) and F2 (the rest) the
 * order is kept, so results follow from the input alone. NaN counts as the lowest score. The rules read the first
 * HIERARCHY_MAX_CANDIDATES; later ones keep their places. No rule allocates or fails. Settings come from
 * wt__hierarchy_paper, or must pass wt__hierarchy_validate. */

enum {
    HIERARCHY_MAX_CANDIDATES = 256, /* maximum number of candidates that the rules read */
    HIERARCHY_MAX_LEAN = 100        /* maximum of the settings prior and cover */
};

/* Provider number of a tool without a provider. Two such tools do not count as tools of one provider. */
#define HIERARCHY_NO_PROVIDER UINT32_MAX

struct candidate {
    uint32_t row; /* the tool; unique within a list */
    uint32_t provider;
    bool seen;           /* training used the tool or, if the caller counts providers, its provider */
    float score;         /* 0 .. 1: the cross-encoder's probability, or the first stage's share of its best */
    float share;         /* 0 .. 1: the first stage's share, which wt__toolrerank keeps when it replaces score */
    float lack;          /* 0 .. 2: lack of its provider minus the lowest lack of any provider (wt__request_lack) */
    const float *vector; /* [D] unit length, borrowed; NULL if the tool has no vector, and is similar to no tool */
};

/* Result of the query classifier. */
enum request_kind { REQUEST_UNKNOWN, REQUEST_SINGLE, REQUEST_MULTI, REQUEST_KINDS };

/* Rule for a kind of request. Table 6 also tries each kind with the other kind's rule, and with none. */
enum hierarchy_rule { HIERARCHY_NONE, HIERARCHY_ALGORITHM1, HIERARCHY_ALGORITHM2, HIERARCHY_RULES };

/* Settings; in brackets the paper's names, and the table that varies them. */
struct hierarchy_settings {
    uint32_t seen_depth;   /* [m_s, Table 5] maximum depth of a seen tool */
    uint32_t unseen_depth; /* [m_u, Table 5] maximum depth of an unseen tool; may be less than seen_depth */
    float tau_s;           /* [Algorithm 1] a tool with a score above it brings its provider to the front */
    float tau_m;           /* [Algorithm 2] a cosine above it links two tools to one group */
    uint32_t group_most;   /* [n] maximum number of tools of a group that come first */
    float prior;           /* weight of the first stage's share added to the cross-encoder's logit; 0 in the paper */
    float cover;        /* weight of the provider's lack subtracted from that logit for Algorithm 1; 0 in the paper */
    bool truncate;      /* if false, all tools are kept down to the greater of both depths */
    bool expand_seen;   /* [Table 7] add all tools of seen providers */
    bool expand_unseen; /* [Table 7] add all tools of unseen providers */
    enum hierarchy_rule rule[REQUEST_KINDS]; /* [Table 6] */
};

/* The paper's best settings: 10, 50, .85, .7, 3, all rules on, unseen providers expanded, and no rule for requests of
 * unknown kind. */
extern const struct hierarchy_settings wt__hierarchy_paper;

/* Validates settings from a file or a user. Depths and group_most are 1 .. HIERARCHY_MAX_CANDIDATES, tau_s 0 .. 1,
 * tau_m -1 .. 1, prior and cover 0 .. HIERARCHY_MAX_LEAN, rules those of the enum. Errors: WT_EINVAL; the message names
 * the setting and its range. */
int wt__hierarchy_validate(const struct hierarchy_settings *settings, wt_error *err);

/* Returns the number of first-stage candidates that the settings can use. */
size_t wt__hierarchy_depth(const struct hierarchy_settings *settings);

/* Applies section 3.2: keeps tools within their depth, in order. Accepts any count. Returns the number kept, at most
 * wt__hierarchy_depth. */
size_t wt__hierarchy_truncate(const struct hierarchy_settings *settings, struct candidate *candidates, size_t count);

/* Sorts by score, best first; stable. */
void wt__hierarchy_sort(struct candidate *candidates, size_t count);

/* Result of Algorithm 1: the first `first` candidates are F1, and items [count] are the providers of F1 (the paper's X) in
 * the order of their best candidate. */
struct chosen_providers {
    size_t first, count;
    struct chosen_provider {
        uint32_t provider;
        bool seen;   /* true if any of its candidates is seen */
        bool expand; /* true if the settings ask to add its other tools */
    } items[HIERARCHY_MAX_CANDIDATES];
};

/* Applies Algorithm 1: the tools of the best candidate's provider, and of each provider with a score above `tau_s`,
 * come first. */
void wt__hierarchy_algorithm1(const struct hierarchy_settings *settings, struct candidate *candidates, size_t count,
                              struct chosen_providers *chosen);

/* Builds the extended F1 of section 3.3: merges the first `first` candidates, which the caller may have rescored, with
 * `found` by score. At equal scores, candidates precede found ones. F2 follows unchanged. Found tools that are already
 * candidates are skipped. capacity: room of the array candidates; a longer list is cut off. Returns the new count. */
size_t wt__hierarchy_merge(struct candidate *candidates, size_t first, size_t count, size_t capacity,
                           const struct candidate *found, size_t found_count);

/* Applies Algorithm 2: candidates of one provider, or with a cosine above `tau_m`, are linked. Of each connected group
 * the group_most best scores come first. dim: D. Returns the number of candidates that come first. */
size_t wt__hierarchy_algorithm2(const struct hierarchy_settings *settings, struct candidate *candidates, size_t count,
                                size_t dim);

/* The classifier tells requests for one provider from requests for several. The paper's classifier reads only the request.
 * This classifier uses the first stage's result: how well a single provider covers all sub-queries, compared with all
 * providers together. It does not depend on words, so it can be used with other catalogues. */

/* First-stage results of a request. Text 0 is the whole request, the others its sub-queries. A single text is its own
 * sub-query. */
struct request_texts {
    size_t texts;                    /* T */
    const struct scored *nearest;    /* [T, most] rows nearest to each text by cosine, best first */
    const size_t *counts;            /* [T] number of these rows */
    size_t most;                     /* maximum number of these rows */
    const struct snapshot_key *keys; /* provider numbers of the rows */
    uint32_t nobody;                 /* provider number of tools without a provider; HIERARCHY_NO_PROVIDER if unknown */
};

/* Returns the smallest lack of any provider for the request, and sets the lack of candidates [count] to their
 * provider's lack minus this minimum. A provider's lack of a sub-query is the distance of its nearest tool from the
 * nearest tool of all. If it has no tool among the nearest, the last one's score counts. Its lack of the request is the
 * mean over sub-queries. Results are finite for any texts. */
float wt__request_lack(const struct request_texts *texts, struct candidate *candidates, size_t count);

/* Logistic function of the best provider's lack. All zero classifies every request as unknown. */
struct request_classifier {
    float weight, constant;
    float margin; /* a probability within this distance of one half means unknown */
};

/* Returns the probability that the request needs several providers. */
float wt__request_probability(const struct request_classifier *classifier, float lack);
enum request_kind wt__request_kind(const struct request_classifier *classifier, float lack);

/* Callbacks for scores and further tools. A negative result ends the run with that code. */
struct toolrerank_source {
    void *context;
    size_t dim; /* D of the candidates' vectors */
    /* Sets the scores of candidates [count] with the cross-encoder. If NULL, candidates keep their scores and no
     * further tools are fetched, because they would have no scores. */
    int (*score)(void *context, struct candidate *candidates, size_t count, wt_error *err);
    /* Writes at most `most` tools of a provider, without scores. Returns their number. */
    int (*tools_of)(void *context, uint32_t provider, struct candidate *out, size_t most, wt_error *err);
};

/* Runs ToolRerank after its first stage (section 3.1): truncate -> score -> sort -> the rule for this kind of request.
 * Queries and the search for settings both call it. candidates: [HIERARCHY_MAX_CANDIDATES], *count of them filled, in the first stage's order with its
 * shares as scores, and with their providers' lack. Afterwards they are in final order, without those that truncation
 * dropped. *first: number of candidates that the rule put first; *count without a rule. */
int wt__toolrerank(const struct hierarchy_settings *settings, enum request_kind kind,
                   const struct toolrerank_source *source, struct candidate *candidates, size_t *count, size_t *first,
                   wt_error *err);

/* ToolRerank's settings and training data, as stored in a config.json. */
struct rerank_rules {
    struct hierarchy_settings settings;
    struct request_classifier classifier;
    bool across;      /* true if scores come from the cross-encoder; else they are the first stage's shares */
    bool by_provider; /* true if `seen` has names of providers; false if it has ids of tools */
    struct map seen;  /* names in the training data; with by_provider, also ids of tools without a provider */
};

/* Rules of an untrained reranker, which have no effect, because the kind of every request is unknown. */
extern const struct rerank_rules wt__rules_default;

/* Reads the rules from a config.json. The caller disposes of out->seen. Errors: WT_EMODEL, WT_ENOMEM. */
int wt__rules_read(struct rerank_rules *out, const json_t *config, struct arena *arena, wt_error *err);
/* Writes the same members. seen: list of names; steals its reference. Returns NULL if out of memory. */
json_t *wt__rules_write(const struct rerank_rules *rules, json_t *seen);
/* True if training saw the tool or its provider. id: scratch; the caller checks id->failed. */
bool wt__rules_seen(const struct rerank_rules *rules, const struct tool *tool, struct buffer *id);

#endif
