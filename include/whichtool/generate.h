/* whichtool/generate.h: creates data sets with a language model, for training models that choose tools.
 *
 *   wt_toolselect_options options;
 *   wt_toolselect_options_init(&options);
 *   options.out = "select";                                        a folder; a stopped run continues there
 *   wt_generate_toolselect(engine, &options, &made, &err);         instructions with lists of tools
 *   wt_generate_fine_tuning(engine, &other, &made, &err);          rows for fine-tuning a language model
 *   wt_generate_toolbank(engine, &third, &made, &err);             requests for the store's tools
 *   wt_generate_rectools(engine, &fourth, &made, &err);            requests that need exactly a set of tools
 *   wt_generate_verdicts(engine, &fifth, &made, &err);             how well a data set's requests fit their tools
 *   wt_generate_comparison(engine, &sixth, &made, &err);           quality of two data sets, side by side
 *   wt_generate_names(engine, &seventh, &made, &err);              the store's tools under descriptive names
 *
 * The engine's language model (wt_open_options) answers the questions. Every answer is appended to answers.jsonl in the
 * output folder before it is used. Stopping, failing or being killed therefore loses no answer, and a run with the same
 * options in the same folder continues. The same options, store, model and answers give identical bytes.
 *
 * Errors of all functions:
 * - WT_EINVAL: no output folder, a folder with other contents or settings, an option out of range, no language model.
 * - WT_EBUSY: another process works in the folder.
 * - WT_ENETWORK: the server of the language model does not answer.
 * - WT_ENOTFOUND: wt_open_options.replay_path lacks an answer.
 * - WT_EREADONLY, WT_EFULL, WT_EIO, WT_ECANCELLED, WT_ENOMEM.
 *
 * The conventions are those of whichtool.h, which includes this header. */
#ifndef WHICHTOOL_GENERATE_H
#define WHICHTOOL_GENERATE_H

#include "engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Limits of the options; more is WT_EINVAL. */
enum {
    WT_MAX_GENERATED_TOOLS = 1000,      /* tools of a data set, without related ones */
    WT_MAX_RELATED = 7,                 /* related tools of each */
    WT_MAX_INSTRUCTIONS = 10,           /* instructions of each tool */
    WT_MAX_CHOICES = 32,                /* tools of a list to choose from */
    WT_MAX_GENERATED_REQUESTS = 200000, /* answers requested by one wt_generate_toolbank */
    WT_MAX_GENERATED_USAGES = 1000,     /* target number of usages per tool */
    WT_MAX_TRIAL = 1000,                /* trial answers that test the language model */
    WT_MAX_COMBINATION_TOOLS = 10,      /* tools of a combination of wt_generate_rectools */
    WT_MAX_COMBINATIONS = 1000,         /* combinations of each size */
    WT_MAX_COMBINATION_REQUESTS = 20,   /* requests of each combination */
    WT_MAX_RETRIES = 20,                /* further questions for a request */
    WT_MAX_COMPARISONS = 10000,         /* pairs of one wt_generate_comparison */
    WT_MAX_FINE_TUNING_ROWS = 100000,   /* rows of one export, and of a samples.jsonl to read */
    WT_MAX_NOTE_BYTES = 4096            /* one reasoning note */
};

/* Result of a run. Its strings live as long as it does. */
typedef struct wt_generated {
    const char *path;           /* output folder */
    size_t tools;               /* tools of the lists, or of the corpus */
    size_t rows;                /* samples, requests, pairs, or renamed tools */
    size_t hard;                /* rows whose list has only the right tool and similar ones */
    size_t train, dev;          /* rows of each split; 0 without splits */
    uint64_t questions;         /* questions to the language model, in all runs of this folder */
    uint64_t requests;          /* requests sent to a server by this run, so without recorded answers */
    uint64_t prompt_tokens;     /* tokens of all questions; 0 if the server does not report them */
    uint64_t completion_tokens; /* tokens of all answers; 0 if the server does not report them */
    double model_ms, seconds;   /* time of all answers; time of this run */
    const char *report;         /* report.json on one line: counts of every stage (docs/generate.md) */
    const char *notice;         /* remark in one line, or NULL */
    size_t test;                /* wt_generate_toolbank and _rectools: rows of the test split; else 0 */
    size_t unanswerable;        /* wt_generate_toolbank: requests that no tool of the corpus fits, outside the splits */
    const char *summary;        /* wt_generate_rectools, _verdicts and _comparison: some lines of text for people,
                                   without a final newline; else NULL */
} wt_generated;

WT_API void wt_generated_free(wt_generated *generated);

/* ---------------------------------------------------------------- ToolSelect */

typedef struct wt_toolselect_options {
    size_t size;
    const char *out;     /* output folder; a run with the same options continues there */
    size_t tools;        /* base tools, including the 8 built-in ones: at least 8, or 2 with from_catalogue; 0: 60 */
    size_t related;      /* related tools of each base tool; 0: 2 */
    size_t instructions; /* instructions of each tool, related ones included; 0: 3 */
    size_t choices;      /* tools of an easy list, including the right one, at least 2; 0: 8 */
    double hard;         /* share of rows whose list has only the right tool and its related ones, at most 1; 0: 75 of
                            555; below 0: no such rows */
    double duplicate;    /* cosine from which two tools or two instructions are duplicates; 0: 0.93; above 1: only
                            identical wording */
    double temperature;  /* sampling temperature of the language model, at most 2; 0: 0.7 */
    uint64_t seed;       /* 0: 1 */
    int from_catalogue;  /* true: use `tools` of the store's tools, drawn by seed. The model then writes only
                            instructions and notes, and a hard list has the tool's neighbours in "hybrid" */
    wt_progress_fn progress;
    void *progress_context;
} wt_toolselect_options;

WT_INIT(wt_toolselect_options_init, wt_toolselect_options)

/* Creates a data set for learning to choose the tool of a list for an instruction, like ToolSelect of ToolVerifier
 * (section 2.1): tools, related tools, descriptions, instructions, easy and hard lists, and a reasoning note per row.
 * The built-in encoder finds duplicates and selects diverse examples for the prompts, unless the engine has no encoder.
 *
 * Files in the folder:
 *
 *   samples.jsonl                  per line {"query", "choices": [{"name", "description"}, ...], "thought", "tool"}
 *   tools.jsonl                    per line {"name", "description", "origin", "related_to"}, readable by wt_add
 *   report.json                    counts requested, made and rejected per stage, with reasons, next to the paper's
 *   answers.jsonl, settings.json   all answers and the options, to continue a stopped run
 *
 * Every answer is checked. An unusable answer is counted, and the question is asked again, at most 4 times in all.
 * After 40 unusable answers in a row, the stage ends with what it has. The data set may then be smaller than requested,
 * and notice says so.
 *
 * Errors: see the top of this header; WT_EEMPTY (no rows were made, and report.json says why; or the store has no
 * tools). */
WT_API int wt_generate_toolselect(wt_engine *engine, const wt_toolselect_options *options, wt_generated **out,
                                  wt_error *err);

/* ---------------------------------------------------------------- fine-tuning rows */

typedef struct wt_fine_tuning_options {
    size_t size;
    const char *out;    /* output folder; its train.jsonl and dev.jsonl are replaced */
    const char *from;   /* folder with samples.jsonl of wt_generate_toolselect; NULL: the store's recorded use */
    double dev;         /* share of requests for dev, at most 0.9; 0: 0.1; below 0: no dev split */
    uint64_t seed;      /* seed of the split, and of the lists of recorded use; 0: 1 */
    size_t related;     /* recorded use: similar tools in a hard list; 0: 2 */
    size_t choices;     /* recorded use: same as in wt_toolselect_options */
    double hard;        /* recorded use: same as in wt_toolselect_options */
    size_t limit;       /* recorded use: maximum rows, drawn by seed, at most WT_MAX_FINE_TUNING_ROWS; 0: 10,000 */
    int notes;          /* recorded use: true to have the language model write a note per row */
    double temperature; /* temperature for these notes, as in wt_toolselect_options */
    wt_progress_fn progress;
    void *progress_context;
    const char *layout; /* "call": the question with which wt_call chooses a tool, and its answer; "toolverifier": the
                           layout of the paper. NULL: "call" */
    size_t note_words;  /* shorten notes to their first sentences, of at most so many words; 0: do not. The paper's
                           ablation "Short Reasoning" (figure 4) */
    int right_first;    /* put the right tool first in each list: the paper's ablation "No Shuffle" (figure 4) */
} wt_fine_tuning_options;

WT_INIT(wt_fine_tuning_options_init, wt_fine_tuning_options)

/* Writes rows for fine-tuning a language model to choose tools: conversations as JSON Lines. The model learns the
 * assistant's message, and the messages before it are masked. wt_call can use the tuned model. The first line of each
 * file has the settings (docs/generate.md).
 *
 * All rows of a request are in the same split. Recorded use gives a row for each request and tool, without failed
 * usages; a hard list has the neighbours of the tool in "hybrid".
 *
 * engine: may be NULL with options->from.
 *
 * Errors: WT_EINVAL, WT_EEMPTY (no rows), WT_ENOTFOUND, WT_EFORMAT (with file and line), WT_ETOOLONG, WT_EBUSY,
 * WT_ECANCELLED, WT_EIO, ...; with notes also those of wt_generate_toolselect. */
WT_API int wt_generate_fine_tuning(wt_engine *engine, const wt_fine_tuning_options *options, wt_generated **out,
                                   wt_error *err);

/* ---------------------------------------------------------------- ToolBank */

typedef struct wt_toolbank_options {
    size_t size;
    const char *out;  /* output folder; a run with the same options continues there */
    size_t items;     /* maximum answers to request; 0: tools times usages, at least 100 */
    size_t usages;    /* target number of train requests per tool. Tools below it are drawn first, and the run ends when
                         all reach it. 0: 5, or no target if items is set */
    size_t examples;  /* examples per prompt, at most 5; 0: 5, as in the paper (its script has 3) */
    const char *draw; /* choice of the ten tools of a prompt: "random", or "near": one tool and some of its neighbours.
                         NULL: "random" */
    /* tools of one prompt: "provider": from one provider; "category": from several providers, in one category;
     * "any". NULL: "any" */
    const char *within;
    const char *like; /* BEIR data set whose style the requests should imitate: the prompts show requests of its train
                         split that need two to five tools, instead of the built-in and generated requests. Not
                         with one_tool. NULL: do not imitate */
    int one_tool;     /* true: one request per tool, from a prompt without examples and without polishing; for small
                         models */
    int no_polish;    /* true: keep the requests as first written */
    double unanswerable; /* share of requests that no tool should fit, at most 0.5: the same share of tools is withheld
                            from the corpus for them; 0: no such requests */
    double dev, test;    /* shares of these splits, together below 1; 0: 0.1 each; below 0: no such split */
    double duplicate;    /* cosine (WT_BUILT_IN_MODEL) from which two requests are duplicates; 0: 0.93; above 1: only
                            identical wording */
    double temperature;  /* sampling temperature of the language model, at most 2; 0: 0.9 */
    size_t round_trip;   /* number of hits in which a search with the request must find each of its tools, with no
                            near-duplicate of these ranked higher; else the request is dropped. At most WT_MAX_K; 0: do
                            not search */
    const char *recipe;  /* recipe of that search and of the trial's; NULL: "hybrid", or "bm25" without an encoder */
    size_t trial;        /* number of trial answers, limited to items; 0: 50 */
    /* Maximum share of trial answers with each of three faults: the answer repeats the prompt, breaks the schema, or
     * names unknown tools. 0: 0.2; below 0: no such answers allowed; 1: no trial. A fourth fault is a request whose
     * search finds none of its tools in ten hits. Its maximum share is this share or a half, whichever is larger. */
    double trial_limit;
    uint64_t seed; /* 0: 1 */
    wt_progress_fn progress;
    void *progress_context;
} wt_toolbank_options;

WT_INIT(wt_toolbank_options_init, wt_toolbank_options)

/* Creates requests for the store's tools, like ToolBank (Tool2Vec, section 3 and appendix C). The language model picks
 * two to five of ten drawn tools and writes a request that needs them, next to examples of earlier requests. It then
 * polishes the request.
 *
 * A text is dropped and counted if it is not a request, names unknown tools, says a tool's name, repeats its prompt, or
 * nearly duplicates an earlier request.
 *
 * The first answers are a trial. If too many of them are unusable, the model is refused with the figures (WT_EMODEL).
 *
 * Files in the folder:
 *
 *   corpus.jsonl, queries.jsonl, qrels/{train,dev,test}.tsv
 *                                  BEIR layout for wt_eval, wt_train and `usage add`. Requests for the same set of
 *                                  tools are in the same split
 *   none/                          the same, for requests that no tool fits (options->unanswerable)
 *   report.json                    counts requested, made and dropped, with reasons, next to the paper's
 *   answers.jsonl, settings.json   all answers and the options, to continue a stopped run
 *
 * Errors: see the top of this header; WT_EMODEL (failed trial), WT_EEMPTY (no tools that a request can be made for, or
 * no requests were made), WT_ERECIPE. */
WT_API int wt_generate_toolbank(wt_engine *engine, const wt_toolbank_options *options, wt_generated **out,
                                wt_error *err);

/* ---------------------------------------------------------------- RecTools */

typedef struct wt_rectools_options {
    size_t size;
    const char *out;          /* output folder; a run with the same options continues there */
    size_t smallest, largest; /* minimum and maximum tools of a combination, 1 to 10; 0: 1 and 10 */
    size_t combinations;      /* combinations of each size; 0: 20 */
    size_t requests;          /* requests for each combination; 0: 5 */
    size_t retries;           /* further questions for an unusable request; 0: 5 */
    int keep_all;             /* true: keep unqualified requests in the data set, marked, as in the paper */
    double dev, test;         /* shares of these splits, together at most 1; 0: 0.1 each; below 0: no such split */
    double duplicate;         /* cosine (of the engine's encoder, else WT_BUILT_IN_MODEL) from which two requests are
                                 duplicates; 0: 0.8; above 1: only identical wording */
    double temperature;       /* sampling temperature for writing, at most 2; 0: 0.8 */
    uint64_t seed;            /* 0: 1 */
    wt_progress_fn progress;
    void *progress_context;
} wt_rectools_options;

WT_INIT(wt_rectools_options_init, wt_rectools_options)

/* Creates requests for sets of the store's tools, like RecTools (PTR, section 4 and appendix C).
 *
 * Draws combinations of each size, and has the language model write requests that need all tools of a combination and
 * no others. The model then judges each request twice: with these tools (exact, over or partial), and with one of them
 * removed, drawn by seed. A request qualifies, and is kept, if the first verdict is exact and the second partial.
 *
 * Files in the folder: a data set in BEIR layout as from wt_generate_toolbank, with the verdicts as metadata in
 * queries.jsonl; report.json with verdicts by size next to the paper's; answers.jsonl and settings.json. keep_all may
 * change in an existing folder, without new questions.
 *
 * Errors: see the top of this header; WT_EEMPTY (no tools, or no qualifying request). */
WT_API int wt_generate_rectools(wt_engine *engine, const wt_rectools_options *options, wt_generated **out,
                                wt_error *err);

/* ---------------------------------------------------------------- verdicts */

typedef struct wt_verdicts_options {
    size_t size;
    const char *data;  /* folder of a data set in BEIR layout, with corpus.jsonl */
    const char *out;   /* output folder, different from data */
    const char *split; /* NULL: "test" */
    size_t limit;      /* maximum requests, drawn by seed; 0: all of the split */
    uint64_t seed;     /* seed of the requests and of the removed tool; 0: 1 */
    wt_progress_fn progress;
    void *progress_context;
} wt_verdicts_options;

WT_INIT(wt_verdicts_options_init, wt_verdicts_options)

/* Gives the verdicts of wt_generate_rectools for an existing data set (PTR, table 3). report.json has the counts, and
 * verdicts.jsonl each verdict by request id. Requests with more than 32 tools, or with a tool missing from the corpus,
 * are left out and counted.
 *
 * Errors: see the top of this header; WT_EFORMAT (with file and line), WT_EEMPTY (no suitable request, or no verdict).
 */
WT_API int wt_generate_verdicts(wt_engine *engine, const wt_verdicts_options *options, wt_generated **out,
                                wt_error *err);

/* ---------------------------------------------------------------- comparison */

typedef struct wt_comparison_options {
    size_t size;
    const char *first;  /* folder of the first data set, with queries.jsonl */
    const char *second; /* folder of the second; NULL: the first one's requests before they were polished */
    const char *out;    /* output folder */
    const char *labels; /* file with a person's verdicts on the same pairs (docs/generate.md); NULL: without */
    size_t limit;       /* number of pairs, drawn by seed; 0: 100 */
    uint64_t seed;      /* 0: 1 */
    wt_progress_fn progress;
    void *progress_context;
} wt_comparison_options;

WT_INIT(wt_comparison_options_init, wt_comparison_options)

/* Compares the quality of two data sets (Tool2Vec, section 3 and figure 1). The language model compares pairs of their
 * requests in naturalness, fluency and coherence, each pair in both orders. Contradicting verdicts are a tie.
 *
 * Files in the folder: report.json (wins, ties and losses of the first data set, with 95 % intervals), pairs.jsonl,
 * sheet.tsv (the pairs in random order, for a person to judge), answers.jsonl and settings.json. With labels, the
 * report also has the agreement and Cohen's kappa. Labels may be added in an existing folder, without new questions.
 *
 * Errors: see the top of this header; WT_EFORMAT (with file and line), WT_EEMPTY (no pairs, or no verdict). */
WT_API int wt_generate_comparison(wt_engine *engine, const wt_comparison_options *options, wt_generated **out,
                                  wt_error *err);

/* ---------------------------------------------------------------- names */

typedef struct wt_names_options {
    size_t size;
    const char *out;    /* output folder; a run with the same options continues there */
    double temperature; /* sampling temperature of the language model, at most 2; 0: 0.7 */
    uint64_t seed;      /* 0: 1 */
    wt_progress_fn progress;
    void *progress_context;
} wt_names_options;

WT_INIT(wt_names_options_init, wt_names_options)

/* Gives the store's tools new names that describe them, like the collections of ToolBank (Tool2Vec, C.2). Asks the
 * language model for each tool, up to 4 times. The store is not changed.
 *
 * A name is 3 to 64 letters, digits and '_', and begins with a letter. Ignoring case and '_', it differs from all other
 * names, old and new. A tool without a usable answer keeps its name, and is counted.
 *
 * Files in the folder: corpus.jsonl, with all tools under their ids in BEIR layout, readable by wt_add, and the old
 * name of a renamed tool as "original" in its metadata; report.json, answers.jsonl and settings.json.
 * wt_generated.rows is the number of renamed tools.
 *
 * Errors: see the top of this header; WT_EEMPTY (no tools, or no names). */
WT_API int wt_generate_names(wt_engine *engine, const wt_names_options *options, wt_generated **out, wt_error *err);

#ifdef __cplusplus
}
#endif
#endif
