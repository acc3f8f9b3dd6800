/* hierarchy.h: what the catalogue's shape (tools belong to providers) says of a list of candidates (ToolRerank, Zheng
 * et al. 2024, sections 3.2 and 3.3). Three rules over a plain array, best first, in the caller's memory:
 *
 *   truncate     tools that training never saw are looked at further down the list                 (section 3.2)
 *   algorithm1   one provider answers the request: its tools come first, maybe with its others     (Algorithm 1)
 *   algorithm2   several providers are needed: at most n of each group of look-alikes come first   (Algorithm 2)
 *
 *   first stage -> truncate -> scores of the cross-encoder -> sort -> the rule for this kind of request:
 *     algorithm1 -> the other tools of each chosen provider with `expand`, fetched and scored by the caller -> merge
 *     algorithm2
 *
 * Each rule only moves candidates: within F1 and within F2 (the paper's names for those that come first and the rest)
 * the earlier order stays, so that any result can be told from the input alone. A score that is not a number counts as
 * the lowest. The rules look at the first HIERARCHY_MAX_CANDIDATES; those behind them stay behind them. No rule
 * allocates or fails; settings come from wt__hierarchy_paper, or from elsewhere by way of wt__hierarchy_validate. */
#ifndef WT_RERANK_HIERARCHY_H
#define WT_RERANK_HIERARCHY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { HIERARCHY_MAX_CANDIDATES = 256, HIERARCHY_MAX_LEAN = 100 };

/* The provider of a tool that has none: unlike every other, also another one of these. */
#define HIERARCHY_NO_PROVIDER UINT32_MAX

struct candidate {
    uint32_t row; /* the tool; no two candidates of a list have the same */
    uint32_t provider;
    bool seen;           /* training named the tool or, where the caller counts so, its provider */
    float score;         /* 0 .. 1: the cross-encoder's probability, else the first stage's share of its best */
    float share;         /* 0 .. 1: the latter, kept by wt__toolrerank */
    float lack;          /* 0 .. 2: how much worse its provider covers the request than the best one does */
    const float *vector; /* [D] unit length, borrowed; NULL: like no other tool */
};

/* What the query classifier says of a request. */
enum request_kind { REQUEST_UNKNOWN, REQUEST_SINGLE, REQUEST_MULTI, REQUEST_KINDS };

/* What is done with it. Table 6 gives one kind's rule to another, or none to both. */
enum hierarchy_rule { HIERARCHY_NONE, HIERARCHY_ALGORITHM1, HIERARCHY_ALGORITHM2, HIERARCHY_RULES };

/* In brackets the paper's names, and the table whose rows differ in it. */
struct hierarchy_settings {
    uint32_t seen_depth;   /* [m_s, Table 5] how far down a seen tool is kept */
    uint32_t unseen_depth; /* [m_u, Table 5] and any other; may be less, as in that table's last rows */
    float tau_s;           /* [Algorithm 1] a score above it puts a tool's provider first */
    float tau_m;           /* [Algorithm 2] two tools with a cosine above it are in one group */
    uint32_t group_most;   /* [n] of a group come first */
    float prior;           /* what the first stage's share adds to the cross-encoder's logit; 0: as in the paper */
    float cover;           /* what its provider's lack takes from it under Algorithm 1; 0: as in the paper */
    bool truncate;         /* off: all are kept as far down as the greater of the two depths */
    bool expand_seen;      /* [Table 7] whole providers: those that training saw */
    bool expand_unseen;    /* [Table 7] and those that it did not */
    enum hierarchy_rule rule[REQUEST_KINDS]; /* [Table 6] */
};

/* The best settings of the paper: 10, 50, .85, .7, 3, every rule on, unseen providers expanded, and nothing done with a
 * request of unknown kind. */
extern const struct hierarchy_settings wt__hierarchy_paper;

/* Settings that came from a file or a person. Depths and group_most are 1 .. HIERARCHY_MAX_CANDIDATES, tau_s 0 .. 1,
 * tau_m -1 .. 1, prior and cover 0 .. HIERARCHY_MAX_LEAN, rules those of the list. Errors: WT_EINVAL, whose sentence
 * names the setting and its range. */
int wt__hierarchy_validate(const struct hierarchy_settings *settings, wt_error *err);

/* How many candidates of the first stage the settings can make use of. */
size_t wt__hierarchy_depth(const struct hierarchy_settings *settings);

/* Section 3.2: keeps those that stand high enough, in their order. Any count is good. Returns how many are left, at
 * most wt__hierarchy_depth. */
size_t wt__hierarchy_truncate(const struct hierarchy_settings *settings, struct candidate *candidates, size_t count);

/* Best score first; equal ones stay in their order. */
void wt__hierarchy_sort(struct candidate *candidates, size_t count);

/* What Algorithm 1 found: F1 is the first `first` candidates, X the providers that they belong to, in the order of
 * their best candidate. */
struct chosen_providers {
    size_t first, count;
    struct chosen_provider {
        uint32_t provider;
        bool seen;   /* any of its candidates is */
        bool expand; /* the settings want its other tools too */
    } items[HIERARCHY_MAX_CANDIDATES];
};

/* Algorithm 1: first the tools of the best candidate's provider and of each provider with a score above `tau_s`. */
void wt__hierarchy_algorithm1(const struct hierarchy_settings *settings, struct candidate *candidates, size_t count,
                              struct chosen_providers *chosen);

/* The extended F1 of section 3.3: the first `first` candidates (whose scores the caller may have made anew) and the
 * `found` ones together, best score first and equal ones in the order candidates, found; behind them F2 as it was. A
 * found tool that is among the candidates already is passed over. capacity: of candidates; what is beyond it is cut
 * off the end. Returns the new count. */
size_t wt__hierarchy_merge(struct candidate *candidates, size_t first, size_t count, size_t capacity,
                           const struct candidate *found, size_t found_count);

/* Algorithm 2: candidates of one provider, or with a cosine above `tau_m`, are linked; of each group that hangs
 * together by links the group_most best scores come first. dim: D. Returns how many came first. */
size_t wt__hierarchy_algorithm2(const struct hierarchy_settings *settings, struct candidate *candidates, size_t count,
                                size_t dim);

#endif
