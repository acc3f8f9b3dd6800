/* ptr.h: finds the set of tools that a request needs with a language model: Precision-driven Tool Recommendation (PTR,
 * section 2 of the paper). PTR has three stages over callbacks, so it works with any retriever and any model.
 *
 *   bundle      (2.1) the set of tools most similar to this request, among all sets that past requests used
 *
 *   coverage    (2.2) The model lists the requirements of the request, and for each the tools of the bundle that meet
 *               it, if any. Tools without a requirement are dropped. Requirements without a tool are unsolved problems.
 *
 *   re-ranking  (2.3, Algorithm 1) For each unsolved problem, the tool with the most votes of three views: the tools
 *               nearest to its words, the tools of the past requests nearest to it, and the tools similar to the first
 *               tool of the first view.
 *
 * docs/ptr.md lists the differences from the paper with reasons.
 *
 * Tool descriptions and model answers are untrusted. A description is only inserted as the value of a prompt slot. An
 * answer is only used as numbers of the shown list, or as words to search with, cut at a length limit. Neither can add
 * a tool to the set that was not in the bundle or in a view.
 *
 * Invariant: each tool is in `set` at most once. The kept tools come first, in the order of the requirements, then the
 * tools of the problems in their order. */
#ifndef WT_CHOOSE_PTR_H
#define WT_CHOOSE_PTR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "llm/chat.h"
#include "llm/prompt.h"

enum {
    PTR_K = 7,                       /* tools per view, as in the paper's code */
    PTR_MOST_K = 32,                 /* maximum of `k` */
    PTR_AT_ONCE = 4,                 /* concurrent questions */
    PTR_MOST_REQUIREMENTS = 16,      /* per request, as in the prompt's schema; the paper's sets have up to ten tools */
    PTR_MOST_LISTED = 128,           /* tools of a bundle that are listed: the maximum of a usage */
    PTR_MAX_REQUIREMENT_BYTES = 512, /* maximum length of a requirement; the rest is cut off */
    PTR_MAX_TOOL_BYTES = 4096,       /* of a tool's name and description in the prompt, which has a limit of its own */
};

enum ptr_view { PTR_DSA, PTR_HQC, PTR_CTE, PTR_VIEWS }; /* in the order that breaks ties */

/* Parts to leave out in ablations; bits. A view that is left out has no vote, but the third view still starts from the
 * first tool of the first view. */
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

/* Callbacks for the catalogue and past use. Each returns 0 or an error, which ends the run. Results live in the arena
 * or longer. Lists are best first, may be short or empty, and duplicates in a list are ignored. `text` comes from the
 * request or the model and may be any UTF-8. */
struct ptr_sources {
    void *self;
    /* Finds the most similar bundle among the distinct ones of past use; empty without past use. */
    int (*bundle)(void *self, struct str text, struct arena *arena, struct ptr_tools *out, wt_error *err);
    /* Finds the k tools nearest to the text. */
    int (*tools)(void *self, struct str text, size_t k, struct arena *arena, struct ptr_tools *out, wt_error *err);
    /* Returns the tools of each of the k past requests nearest to the text. */
    int (*past)(void *self, struct str text, size_t k, struct arena *arena, const struct ptr_tools **out, size_t *count,
                wt_error *err);
    /* Finds the k tools nearest to a tool's own text, including that tool. */
    int (*similar)(void *self, uint32_t tool, size_t k, struct arena *arena, struct ptr_tools *out, wt_error *err);
    int (*describe)(void *self, uint32_t tool, struct arena *arena, struct ptr_text *out, wt_error *err);
};

/* Labels of a request in an evaluation, for a stand-in model only (struct oracle): needed tools and wrong tools, each
 * with words that ask for it. */
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
    const struct ptr_labels *labels; /* NULL outside evaluations; only passed to the model */
    struct progress *progress;       /* passed to the model, which uses it to stop; may be NULL */
};

struct ptr_options {
    size_t k;            /* 0 for PTR_K */
    size_t requirements; /* maximum number of requirements read from an answer; 0 for PTR_MOST_REQUIREMENTS */
    unsigned ablate;     /* PTR_ABLATE_..., or'ed */
};

/* chat_question.subject of PTR's questions. */
enum ptr_step { PTR_REQUIRE, PTR_MATCH };

struct ptr_subject {
    enum ptr_step step;
    const struct ptr_request *request;
    /* For PTR_MATCH only: */
    size_t place; /* index of the requirement in the answer to PTR_REQUIRE; PTR_WHOLE for the request itself */
    struct ptr_tools listed; /* number n of the prompt is rows[n - 1] */
};

#define PTR_WHOLE SIZE_MAX

struct ptr_requirement {
    struct str text;        /* the model's words, without control characters, cut */
    size_t place;           /* as in ptr_subject */
    bool asked;             /* the model was asked for tools; false without a bundle */
    struct ptr_tools tools; /* tools of the bundle that meet it; may be empty */
};

/* EXACT: all requirements are met and all tools of the bundle are used. OVER: all are met and some tools are unused.
 * PARTIAL: some requirements are not met. */
enum ptr_verdict { PTR_EXACT, PTR_OVER, PTR_PARTIAL };

struct ptr_problem {
    size_t requirement;                /* index into the trace's requirements */
    struct ptr_tools views[PTR_VIEWS]; /* tools of each view without duplicates; empty if left out */
    bool solved;                       /* true if any view has a tool */
    uint32_t tool;                     /* first tool with the most votes, if solved */
    unsigned votes;                    /* number of its votes */
    bool already;                      /* the tool was already in the set */
};

/* Record of all stages. Lives as long as the arena. */
struct ptr_trace {
    struct ptr_tools bundle; /* without duplicates, as listed in the prompt */
    struct ptr_requirement *requirements;
    size_t requirement_count, ignored; /* ignored: number of requirements beyond the limit */
    enum ptr_verdict verdict;
    struct ptr_tools kept; /* tools of the bundle that meet a requirement */
    struct ptr_problem *problems;
    size_t problem_count;
    struct ptr_tools set;
    struct chat_exchange *exchanges; /* the question for requirements, then one per requirement that was asked about */
    size_t exchange_count;
    struct chat_cost cost;
};

/* Finds the set for a request and stores it in out->set; it may be empty. options: NULL for defaults. On error the
 * trace has the completed stages, its set is empty, and its cost includes all answers. Errors: WT_EINVAL (option beyond
 * its limit), those of chat.h except WT_EFORMAT, those of the sources, WT_ENOMEM. */
int wt__ptr_choose(const struct ptr_options *options, const struct ptr_sources *sources, struct chat_model *model,
                   const struct ptr_request *request, struct arena *arena, struct ptr_trace *out, wt_error *err);

const char *wt__ptr_verdict_name(enum ptr_verdict verdict); /* "exact", "over", "partial" */
const char *wt__ptr_view_name(enum ptr_view view);          /* "dsa", "hqc", "cte" */

/* Replaces PTR's language model by the known answers, for tests and evaluations only. It separates the loss in PTR's
 * stages from the loss in the model, and shows the cost of a given rate of model errors.
 *
 * The oracle never reads a prompt. It uses the question's subject (struct ptr_subject) and the labels of the request,
 * so descriptions cannot influence its answers. Reports of its figures must show its name.
 *
 * At error rate e each decision is independently wrong with probability e:
 *   requirement    One for each needed tool, in the label's words. An error omits it. If the labels have wrong tools,
 *                  half of the errors keep it and add the requirement of a wrong tool.
 *   match          The tool that belongs to the requirement, or none if it is not listed. An error is any other listed
 *                  tool or none, with equal probability.
 *
 * Random numbers derive from a hash of seed, request and requirement. An answer therefore does not depend on earlier
 * questions, and an error at one rate is also an error at every higher rate. */

struct oracle {
    struct chat_model model; /* points to `name` below, so an oracle must not move */
    double error;
    uint64_t seed;
    char name[64]; /* "oracle, 10 % error" */
};

/* Initialises an oracle, which needs no disposal and is thread-safe. Errors: WT_EINVAL (rate outside 0..1). A question
 * without labels fails with WT_EINVAL. */
int wt__oracle_init(struct oracle *oracle, double error, uint64_t seed, wt_error *err);

#endif
