/* ptr.h: the set of tools that a request needs, found with a language model: Precision-driven Tool Recommendation
 * (PTR, the paper's section 2), three stages over callbacks, so that any retriever and any model stand below them.
 *
 *   bundle      (2.1) the set of tools, of all those that past requests used together, that is most like this request
 *
 *   coverage    (2.2) the model names what the request requires, and for each requirement the tools of the bundle that
 *               meet it, or none. Tools that meet nothing are dropped; requirements without a tool are unsolved
 *
 *   re-ranking  (2.3, Algorithm 1) for each unsolved problem the tool that most of three views agree on: the tools
 *               nearest to its words, the tools of the past requests nearest to it, the tools like the first of the
 *               first view
 *
 * Where it departs from the paper, and why: docs/ptr.md.
 *
 * Descriptions of tools and what the model says are both hostile. A description is only ever the value of a slot of a
 * prompt; an answer is only ever numbers of the list that was shown, or none, and words to search with, cut at a
 * length. So neither can put a tool in the set that the bundle or a view did not hold.
 *
 * Invariant: a tool is in the set at most once; `set` is the kept tools in the order of the requirements, then the
 * tools of the problems in the order of those. */
#ifndef WT_CHOOSE_PTR_H
#define WT_CHOOSE_PTR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "llm/exchange.h"

enum {
    PTR_K = 7,                  /* of every view, as the paper's code has it */
    PTR_MOST_K = 32,            /* what `k` may be */
    PTR_AT_ONCE = 4,            /* questions under way at once */
    PTR_MOST_REQUIREMENTS = 16, /* of one request, as the prompt's schema has it; the paper's sets end at ten tools */
    PTR_MOST_LISTED = 128,      /* the first tools of a bundle that are looked at: as many as a usage may have */
    PTR_MAX_REQUIREMENT_BYTES = 512, /* of the words of one requirement; the rest is cut off */
    PTR_MAX_TOOL_BYTES = 4096, /* of a tool's name and description that go to the prompt, which has its own limit */
};

enum ptr_view { PTR_DSA, PTR_HQC, PTR_CTE, PTR_VIEWS }; /* in the order that breaks ties */

/* What may be left out, for the ablations; bits. A view that is left out has no vote, but the first tool of the nearest
 * ones stays what the third view starts from. */
enum {
    PTR_ABLATE_DSA = 1 << PTR_DSA,
    PTR_ABLATE_HQC = 1 << PTR_HQC,
    PTR_ABLATE_CTE = 1 << PTR_CTE,
    PTR_ABLATE_BUNDLE = 1 << PTR_VIEWS, /* every requirement is an unsolved problem */
    PTR_ABLATE_ALL = (PTR_ABLATE_BUNDLE << 1) - 1
};

struct ptr_tools {
    const uint32_t *rows;
    size_t count;
};

struct ptr_text {
    struct str name, description;
};

/* What PTR asks of the catalogue and of past use. Each returns 0 or an error, which ends the choosing; what they give
 * lives in the arena or longer. Lists are best first, may be shorter than wanted or empty, and a tool that counts twice
 * in one counts once. `text` is the request's or a model's, so anything in UTF-8. */
struct ptr_sources {
    void *self;
    /* The bundle most like the text, of the unique ones of past use; empty: there are none. */
    int (*bundle)(void *self, struct str text, struct arena *arena, struct ptr_tools *out, wt_error *err);
    /* The k tools nearest to the text. */
    int (*tools)(void *self, struct str text, size_t k, struct arena *arena, struct ptr_tools *out, wt_error *err);
    /* What each of the k past requests nearest to the text used. */
    int (*past)(void *self, struct str text, size_t k, struct arena *arena, const struct ptr_tools **out, size_t *count,
                wt_error *err);
    /* The k tools nearest to a tool's own text, that tool among them. */
    int (*similar)(void *self, uint32_t tool, size_t k, struct arena *arena, struct ptr_tools *out, wt_error *err);
    int (*describe)(void *self, uint32_t tool, struct arena *arena, struct ptr_text *out, wt_error *err);
};

/* What an evaluation knows of a request beforehand, for a stand-in model only (oracle.h): the tools that it needs, and
 * some that it does not, each with words that ask for it. */
struct ptr_label {
    uint32_t tool;
    struct str need;
};

struct ptr_labels {
    const struct ptr_label *needed, *wrong;
    size_t needed_count, wrong_count;
};

struct ptr_request {
    struct str text;
    const struct ptr_labels *labels; /* NULL but in evaluations; only handed on to the model */
    struct progress *progress;       /* handed on to the model, which hears from it when to stop; may be NULL */
};

struct ptr_options {
    size_t k;            /* 0: PTR_K */
    size_t requirements; /* the first of an answer that are looked at; 0: PTR_MOST_REQUIREMENTS */
    unsigned ablate;     /* PTR_ABLATE_..., or'ed */
};

/* chat_question.subject of PTR's questions. */
enum ptr_step { PTR_REQUIRE, PTR_MATCH };

struct ptr_subject {
    enum ptr_step step;
    const struct ptr_request *request;
    /* Of PTR_MATCH: */
    size_t place;            /* of the requirement in the answer to PTR_REQUIRE; PTR_WHOLE: the request itself */
    struct ptr_tools listed; /* number n of the prompt is rows[n - 1] */
};

#define PTR_WHOLE SIZE_MAX

struct ptr_requirement {
    struct str text;        /* the model's words, blanks for control characters, cut */
    size_t place;           /* as in ptr_subject */
    bool asked;             /* the model was asked for tools; not so without a bundle */
    struct ptr_tools tools; /* of the bundle, that meet it; empty: none does */
};

/* With every requirement met: no tool of the bundle is left over, or some are. Else partial, whether or not tools are
 * left over. */
enum ptr_verdict { PTR_EXACT, PTR_OVER, PTR_PARTIAL };

struct ptr_problem {
    size_t requirement;                /* its index in the trace's */
    struct ptr_tools views[PTR_VIEWS]; /* what each view holds, without duplicates; empty where left out */
    bool solved;                       /* some view held a tool */
    uint32_t tool;                     /* the first of those that most views hold, when solved */
    unsigned votes;                    /* how many do */
    bool already;                      /* it was in the set, so it was not added */
};

/* Everything that was seen and decided, stage by stage. Lives as long as the arena. */
struct ptr_trace {
    struct ptr_tools bundle; /* without duplicates, as it was listed */
    struct ptr_requirement *requirements;
    size_t requirement_count, ignored; /* ignored: requirements of the answer beyond the limit */
    enum ptr_verdict verdict;
    struct ptr_tools kept; /* tools of the bundle that meet a requirement */
    struct ptr_problem *problems;
    size_t problem_count;
    struct ptr_tools set;
    struct chat_exchange *exchanges; /* the question for requirements, then one for each that was asked about */
    size_t exchange_count;
    struct chat_cost cost;
};

/* The set that the request needs, in out->set; it may be empty. options: NULL for the defaults. On an error the trace
 * holds the stages up to it, its set is empty, and the cost counts what was answered.
 * Errors: WT_EINVAL (an option beyond its limit), those of chat.h but WT_EFORMAT, those of the sources, WT_ENOMEM. */
int wt__ptr_choose(const struct ptr_options *options, const struct ptr_sources *sources, struct chat_model *model,
                   const struct ptr_request *request, struct arena *arena, struct ptr_trace *out, wt_error *err);

const char *wt__ptr_verdict_name(enum ptr_verdict verdict); /* "exact", "over", "partial" */
const char *wt__ptr_view_name(enum ptr_view view);          /* "dsa", "hqc", "cte" */

#endif
