/* ptr.h: Precision-driven Tool Recommendation (PTR), which uses a language model to find the set of tools that a
 * request needs. Tools and past use are read with callbacks, so PTR works with any retriever and any model. The three
 * stages, with their sections in the paper:
 *
 *   bundle      (2.1) Among all sets of tools that past requests used, finds the set most similar to the request.
 *
 *   coverage    (2.2) The model lists the requirements of the request, and for each the tools of the bundle that meet
 *               it, if any. Tools without a requirement are dropped. Requirements without a tool are unsolved problems.
 *
 *   re-ranking  (2.3, Algorithm 1) For each unsolved problem, adds the tool with the most votes of three lists of
 *               tools, the views: the tools nearest to the problem's words, the tools of the past requests nearest to
 *               these words, and the tools similar to the first tool of the first view.
 *
 * docs/ptr.md lists the differences from the paper with reasons.
 *
 * Tool descriptions and model answers are untrusted. A description is only inserted as the value of a prompt slot. An
 * answer is only used as numbers of the shown list, or as words to search with. Neither can add a tool from outside the
 * bundle and the views.
 *
 * Invariant: each tool is in ptr_trace.set at most once. First come the tools of the bundle that meet a requirement, in
 * the order of the requirements. Then come the tools of the problems, in the order of the problems. */
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
    PTR_K = 7,                       /* default number of tools per view, as in the paper's code */
    PTR_MOST_K = 32,                 /* maximum of ptr_options.k */
    PTR_AT_ONCE = 4,                 /* maximum concurrent questions */
    PTR_MOST_REQUIREMENTS = 16,      /* maximum requirements of a request, as in the prompt's schema */
    PTR_MOST_LISTED = 128,           /* maximum tools of a bundle listed in a prompt: the maximum of a usage */
    PTR_MAX_REQUIREMENT_BYTES = 512, /* maximum length of a requirement; the rest is cut off */
    PTR_MAX_TOOL_BYTES = 4096,       /* maximum bytes of a tool's name and description in a prompt */
};

enum ptr_view { PTR_DSA, PTR_HQC, PTR_CTE, PTR_VIEWS }; /* see ptr.c; at a tie, the earlier view wins */

/* Bits for the parts to leave out in an ablation. A view that is left out has no vote. The third view still starts from
 * the first tool of the first view, even if the first view is left out. */
enum {
    PTR_ABLATE_DSA = 1 << PTR_DSA,
    PTR_ABLATE_HQC = 1 << PTR_HQC,
    PTR_ABLATE_CTE = 1 << PTR_CTE,
    PTR_ABLATE_BUNDLE = 1 << PTR_VIEWS, /* no bundle: every requirement is an unsolved problem */
    PTR_ABLATE_ALL = (PTR_ABLATE_BUNDLE << 1) - 1
};

/* Bits for variants of the method. */
enum {
    PTR_ASK_PROBLEMS = 1,   /* ask the model for the unsolved problems, as in the paper (D.3), instead of taking the
                               requirements without a tool */
    PTR_PROTECT_BUNDLE = 2, /* drop a tool of the bundle only if the model agrees in a second question */
    PTR_EXAMPLES = 4,       /* prompts with examples */
    PTR_VARIANT_ALL = 7
};

struct ptr_tools {
    const uint32_t *rows; /* [count] rows of the tools in the snapshot */
    size_t count;
};

struct ptr_text {
    struct str name, description;
};

/* Callbacks for the catalogue and past use. Each returns 0 or an error, which ends the run. Results live in the arena
 * or longer. Lists have the best tool first, may have fewer than k tools or be empty, and may have duplicates. `text`
 * is from the request or the model, and may be any UTF-8. */
struct ptr_sources {
    void *self;
    /* Finds the most similar set of tools among those of past use; empty without past use. */
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

/* A tool, and words that ask for the tool. Only evaluations with an oracle use labels (struct oracle). */
struct ptr_label {
    uint32_t tool;
    struct str need;
};

/* Labels of a request: the needed tools, and wrong tools. */
struct ptr_labels {
    const struct ptr_label *needed, *wrong;
    size_t needed_count, wrong_count;
};

struct ptr_request {
    struct str text;
    const struct ptr_labels *labels; /* NULL outside evaluations; only passed to the model */
    struct progress *progress;       /* passed to the model, which checks it for cancellation; may be NULL */
};

struct ptr_options {
    size_t k;            /* number of tools per view; 0 for PTR_K */
    size_t requirements; /* maximum number of requirements read from an answer; 0 for PTR_MOST_REQUIREMENTS */
    unsigned ablate;     /* PTR_ABLATE_ bits; 0 to run all parts */
    unsigned variant;    /* bits of the variants; 0 for none */
};

/* chat_question.subject of PTR's questions. */
enum ptr_step { PTR_REQUIRE, PTR_MATCH, PTR_PROTECT, PTR_PROBLEMS };

struct ptr_subject {
    enum ptr_step step;
    const struct ptr_request *request;
    size_t place; /* PTR_MATCH: index of the requirement in the answer to PTR_REQUIRE; PTR_WHOLE for the request */
    /* PTR_MATCH: number n of the prompt is rows[n - 1]. PTR_PROTECT: the tool. PTR_PROBLEMS: the kept tools. */
    struct ptr_tools listed;
};

#define PTR_WHOLE SIZE_MAX

struct ptr_requirement {
    struct str text;        /* the model's words, sanitised and truncated */
    size_t place;           /* index in the answer to PTR_REQUIRE; PTR_WHOLE for the request itself */
    bool asked;             /* true if the model was asked for matching tools; false without a bundle */
    struct ptr_tools tools; /* tools of the bundle that meet the requirement; may be empty */
};

/* EXACT: every requirement is met, and every tool of the bundle is used. OVER: every requirement is met, and some tools
 * are not used. PARTIAL: a requirement is not met. */
enum ptr_verdict { PTR_EXACT, PTR_OVER, PTR_PARTIAL };

/* An unsolved problem: a requirement that no tool of the bundle meets, or the model's words (PTR_ASK_PROBLEMS). */
struct ptr_problem {
    struct str text;
    struct ptr_tools views[PTR_VIEWS]; /* tools of each view without duplicates; empty if the view is left out */
    bool solved;                       /* true if any view has a tool */
    uint32_t tool;                     /* tool with the most votes, if solved */
    unsigned votes;                    /* number of votes for this tool */
    bool already;                      /* true if the set already had this tool */
};

/* Record of all stages of a run. Lives as long as the arena. */
struct ptr_trace {
    struct ptr_tools bundle;              /* without duplicates, as listed in the prompt */
    struct ptr_requirement *requirements; /* [requirement_count] */
    size_t requirement_count, ignored;    /* ignored: number of requirements beyond the limit */
    enum ptr_verdict verdict;
    struct ptr_tools kept;        /* tools of the bundle that meet a requirement, then the protected ones */
    size_t protected_count;       /* number of tools kept only by PTR_PROTECT_BUNDLE */
    struct ptr_problem *problems; /* [problem_count] */
    size_t problem_count;
    struct ptr_tools set; /* the result */
    /* [exchange_count] questions and answers: first for the requirements, then for each requirement asked about */
    struct chat_exchange *exchanges;
    size_t exchange_count;
    struct chat_cost cost;
};

/* Finds the set of tools for a request, out->set, which may be empty. options: NULL for defaults. On an error, `out`
 * has the completed stages, an empty set, and the cost of all answers. Errors: WT_EINVAL (option beyond its limit),
 * those of chat.h except WT_EFORMAT, those of the sources, WT_ENOMEM. */
int wt__ptr_choose(const struct ptr_options *options, const struct ptr_sources *sources, struct chat_model *model,
                   const struct ptr_request *request, struct arena *arena, struct ptr_trace *out, wt_error *err);

const char *wt__ptr_verdict_name(enum ptr_verdict verdict); /* "exact", "over", "partial" */
const char *wt__ptr_view_name(enum ptr_view view);          /* "dsa", "hqc", "cte" */

/* The oracle replaces PTR's language model by the correct answers, for tests and evaluations only. It separates the
 * errors of PTR's stages from those of the model, and shows the effect of a given rate of model errors.
 *
 * The oracle never reads a prompt. It uses the subject of the question (struct ptr_subject) and the labels of the
 * request, so descriptions cannot influence its answers. Reports must show the name of the oracle with its figures.
 *
 * At error rate e each decision is independently wrong with probability e:
 *   requirement    One requirement for each needed tool, in the label's words. An error omits the requirement. If the
 *                  labels have wrong tools, half of the errors instead add the requirement of a wrong tool.
 *   match          The tool that belongs to the requirement, or none if it is not listed. An error is any other listed
 *                  tool or none, with equal probability.
 *   protect        True if the request needs the tool. An error is the other answer.
 *   problem        One problem for each needed tool that is not kept, with the errors of requirements.
 *
 * Random numbers derive from a hash of seed, request and requirement. An answer thus does not depend on earlier
 * questions, and an error at one rate is also an error at every higher rate. */

struct oracle {
    struct chat_model model; /* points to `name` below, so an oracle must not move */
    double error;            /* rate e, 0 .. 1 */
    uint64_t seed;
    char name[64]; /* "oracle, 10 % error" */
};

/* Initialises an oracle, which needs no disposal and is thread-safe. Errors: WT_EINVAL (rate outside 0..1). A question
 * without labels fails with WT_EINVAL. */
int wt__oracle_init(struct oracle *oracle, double error, uint64_t seed, wt_error *err);

#endif
