/* whichtool/generate.h: data sets that a language model helps to make: for learning to choose tools.
 *
 *   wt_toolselect_options options;
 *   wt_toolselect_options_init(&options);
 *   options.out = "select";                                        a folder; a stopped run goes on there
 *   wt_generate_toolselect(engine, &options, &made, &err);         the engine's language model writes
 *   wt_generate_fine_tuning(engine, &other, &made, &err);          rows for fine-tuning a language model
 *   wt_generate_toolbank(engine, &third, &made, &err);             requests for the store's tools, to train on
 *   wt_generate_rectools(engine, &fourth, &made, &err);            requests that take just the tools of a set
 *   wt_generate_verdicts(engine, &fifth, &made, &err);             whether the requests of a data set do
 *   wt_generate_comparison(engine, &sixth, &made, &err);           which of two data sets is written better
 *   wt_generate_names(engine, &seventh, &made, &err);              the store's tools under new names
 *
 * The conventions are those of whichtool.h, which includes this header. */
#ifndef WHICHTOOL_GENERATE_H
#define WHICHTOOL_GENERATE_H

#include "../whichtool.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Limits of what is asked for; more is WT_EINVAL. */
enum {
    WT_MAX_GENERATED_TOOLS = 1000,      /* tools of a data set, related ones not counted */
    WT_MAX_RELATED = 7,                 /* related tools of each */
    WT_MAX_INSTRUCTIONS = 10,           /* instructions of each tool */
    WT_MAX_CHOICES = 32,                /* tools of a list to choose from */
    WT_MAX_GENERATED_REQUESTS = 200000, /* answers asked for by one wt_generate_toolbank */
    WT_MAX_GENERATED_USAGES = 1000,     /* usages of a tool that it goes on for */
    WT_MAX_TRIAL = 1000,                /* answers that it begins with to see whether the model is of use */
    WT_MAX_COMBINATION_TOOLS = 10,      /* tools of a combination of wt_generate_rectools */
    WT_MAX_COMBINATIONS = 1000,         /* combinations of each size */
    WT_MAX_COMBINATION_REQUESTS = 20,   /* requests of each */
    WT_MAX_RETRIES = 20,                /* questions for a request beyond the first */
    WT_MAX_COMPARISONS = 10000,         /* pairs of one wt_generate_comparison */
    WT_MAX_FINE_TUNING_ROWS = 100000,   /* rows of one export, and of a samples.jsonl that is read */
    WT_MAX_NOTE_BYTES = 4096            /* a reasoning note */
};

/* What was made. Its strings live as long as it does. */
typedef struct wt_generated {
    const char *path;           /* the folder */
    size_t tools;               /* that its lists choose from; of a data set the corpus */
    size_t rows;                /* samples; requests; pairs; tools that are renamed */
    size_t hard;                /* of those, with a list of nothing but the tool and those like it */
    size_t train, dev;          /* how the rows are split; 0 where they are not */
    uint64_t questions;         /* that the language model was asked, in this run and earlier ones of the folder */
    uint64_t requests;          /* that this run sent to a server; recorded answers are none */
    uint64_t prompt_tokens;     /* of all questions; 0 where the server does not tell */
    uint64_t completion_tokens; /* the same */
    double model_ms, seconds;   /* that all answers took; that this run took */
    const char *report;         /* report.json: counts of every stage, on one line (docs/generate.md) */
    const char *notice;         /* one line on what to know, or NULL */
    size_t test;                /* of wt_generate_toolbank and _rectools: rows of that split; else 0 */
    size_t unanswerable;        /* of wt_generate_toolbank: rows that no tool of the corpus fits, in no split */
    const char *summary;        /* what came of it, some lines for a person to read, without a line end at the end; of
                                   wt_generate_rectools, _verdicts and _comparison, else NULL */
} wt_generated;

WT_API void wt_generated_free(wt_generated *generated);

typedef struct wt_toolselect_options {
    size_t size;
    const char *out;     /* folder; what an earlier run with the same options left there is gone on with */
    size_t tools;        /* base tools, the 8 that are built in among them; 0: 60. At least 8 */
    size_t related;      /* tools related to each; 0: 2 */
    size_t instructions; /* of each tool, related ones too; 0: 3 */
    size_t choices;      /* tools of an easy list, the right one among them; 0: 8. At least 2 */
    double hard;         /* share of the rows whose list holds the right tool and its related ones alone, at most 1; 0:
                            75 of 555; below 0: none */
    double duplicate;    /* cosine from which on two tools, or two instructions, count as the same one; 0: 0.93; over 1:
                            none do, but those with the same words */
    double temperature;  /* of the language model, at most 2; 0: 0.7 */
    uint64_t seed;       /* 0: 1 */
    int from_catalogue;  /* of the store's own tools, `tools` of them drawn by seed: instructions and notes alone are
                            written, and a hard list holds what the recipe hybrid puts beside the tool */
    wt_progress_fn progress;
    void *progress_context;
} wt_toolselect_options;

WT_INIT(wt_toolselect_options_init, wt_toolselect_options)

/* Makes a data set for learning which tool of a list an instruction needs, as ToolVerifier's ToolSelect was made
 * (section 2.1): tools, tools related to them, descriptions, instructions, lists easy and hard, and a note a row on why
 * that tool. The engine's language model (wt_open_options.chat_model) writes; the encoder that is built in
 * tells duplicates and keeps the examples of the prompts apart from each other, unless the engine has none. The folder
 * then holds
 *
 *   samples.jsonl   {"query", "choices": [{"name", "description"}, ...], "thought", "tool"} a line
 *   tools.jsonl     {"name", "description", "origin", "related_to"} a line; wt_add reads it
 *   report.json     how many were asked for, made and turned away at each stage, and why; beside the paper's figures
 *   answers.jsonl, settings.json   every answer so far, and what for: what a stopped run goes on from
 *
 * What the model answers is checked piece by piece, and what cannot be used is counted and asked for again, up to 4
 * times; where 40 answers in a row were of no use the stage ends with what it has. So a data set may be smaller than
 * was asked for: notice tells. A stop, a failure or a kill loses no answer. The same options, model and answers give
 * the same bytes. Errors: WT_EINVAL (no folder or one that holds something else, an option out of range, no language
 * model named), WT_EEMPTY (not one row came of it: the sentence and report.json say why; or the store has no tools),
 * WT_EBUSY (another process works in that folder), WT_ENETWORK, WT_ENOTFOUND (a replay lacks an answer), WT_ECANCELLED,
 * WT_EIO, ... */
WT_API int wt_generate_toolselect(wt_engine *engine, const wt_toolselect_options *options, wt_generated **out,
                                  wt_error *err);

typedef struct wt_fine_tuning_options {
    size_t size;
    const char *out;    /* folder; train.jsonl and dev.jsonl in it are replaced */
    const char *from;   /* a folder with samples.jsonl, as wt_generate_toolselect leaves it; NULL: the store's recorded
                           use */
    double dev;         /* share of the requests that are held out, below 1; 0: 0.1; below 0: none */
    uint64_t seed;      /* of that split and, of recorded use, of the lists; 0: 1 */
    size_t related;     /* of recorded use: tools of a hard list beside the right one; 0: 2 */
    size_t choices;     /* of recorded use: as in wt_toolselect_options */
    double hard;        /* the same */
    size_t limit;       /* of recorded use: rows, drawn by seed, at most WT_MAX_FINE_TUNING_ROWS; 0: 10,000 */
    int notes;          /* of recorded use: the engine's language model writes a note a row; else there are none */
    double temperature; /* the same as in wt_toolselect_options, for those */
    wt_progress_fn progress;
    void *progress_context;
} wt_fine_tuning_options;

WT_INIT(wt_fine_tuning_options_init, wt_fine_tuning_options)

/* Writes rows for fine-tuning a language model to choose tools, as conversations of a system, a user and an assistant
 * message in JSON Lines, in ToolVerifier's layout. Each says which part of it is to be learned: the assistant message;
 * instruction and list are masked. A file's first line holds the settings (docs/generate.md). All rows of a request are
 * on one side of the split. Recorded use: a row a request and tool that it used, of those that did not fail; the list
 * of a hard row is what the recipe hybrid puts beside the tool. engine may be NULL when options->from is given. Errors:
 * WT_EINVAL, WT_EEMPTY (no rows), WT_ENOTFOUND, WT_EFORMAT (with file and line), WT_ETOOLONG, WT_EBUSY, WT_ECANCELLED,
 * WT_EIO, ...; with notes those of wt_generate_toolselect. */
WT_API int wt_generate_fine_tuning(wt_engine *engine, const wt_fine_tuning_options *options, wt_generated **out,
                                   wt_error *err);

typedef struct wt_toolbank_options {
    size_t size;
    const char *out;    /* folder; what an earlier run with the same options left there is gone on with */
    size_t items;       /* answers that are asked for at most; 0: as many as tools times usages, at least 100 */
    size_t usages;      /* it ends when each tool has so many train requests, and draws tools that have fewer first; 0:
                           5, or with items no such end and no such order */
    size_t examples;    /* that a prompt shows, at most 5; 0: 5, the paper's (its script has 3) */
    const char *draw;   /* how the ten tools of a prompt are drawn: "random", or "near": one and some that are most
                           like it. NULL: "random" */
    const char *within; /* "provider": the tools of a prompt are one provider's; "category": several providers' of one
                           category; "any". NULL: "any" */
    const char *like; /* folder of a data set in BEIR's layout: the prompts show requests of its train split that two to
                         five tools answer, in place of those by hand and of those made so far, and ask for their
                         manner of speaking; NULL: none */
    int one_tool;     /* a request for each tool by itself, from a prompt without an example, and no polish: for
                         small models */
    int no_polish;    /* requests stay as they came */
    double unanswerable; /* share of the requests that no tool is to fit: as large a share of the tools is taken out of
                            the corpus for them, at most 0.5; 0: none */
    double dev, test;    /* shares of the splits, below 1 together; 0: 0.1 each; below 0: none */
    double duplicate;    /* cosine (WT_BUILT_IN_MODEL) from which on two requests count as the same one; 0: 0.93; over
                            1: none do, but those with the same words */
    double temperature;  /* of the language model, at most 2; 0: 0.9 */
    size_t round_trip;   /* a request is kept only when a search by it finds each of its tools among so many hits, and
                            none that is nearly the same as one of them stands above it; at most WT_MAX_K; 0: off */
    const char *recipe;  /* of that search, and of the trial's; NULL: "hybrid", or "bm25" without an encoder */
    size_t trial;        /* answers to begin with; 0: 50, or the items where they are fewer */
    double trial_limit;  /* share of these that may repeat the prompt, the same of those that break the schema, and of
                            those that name unknown tools; 0: 0.2; below 0: none may; 1: any may, so that there is no
                            trial. Half of them, or this share where it is more, may lead to none of their tools: a
                            search (recipe) by the request has none among ten hits */
    uint64_t seed;       /* 0: 1 */
    wt_progress_fn progress;
    void *progress_context;
} wt_toolbank_options;

WT_INIT(wt_toolbank_options_init, wt_toolbank_options)

/* Makes requests for the tools of the store, as ToolBank was made (Tool2Vec, section 3 and appendix C): of ten tools
 * that are drawn the engine's language model picks two to five and writes a request that takes them, beside examples of
 * what was made before; each is polished; what is no request, names unknown tools, says a tool's name, repeats its
 * prompt, or is nearly the same as an earlier one is dropped and counted. The folder then holds
 *
 *   corpus.jsonl, queries.jsonl, qrels/{train,dev,test}.tsv     BEIR, as wt_eval, wt_train and `usage add` read it; no
 *                                                set of tools has requests in two splits
 *   none/                                        the same of the requests that no tool fits (options->unanswerable)
 *   report.json                                  what was asked for, made, dropped and why; beside the paper's figures
 *   answers.jsonl, settings.json                 what a stopped run goes on from
 *
 * The same options, store, model and answers give the same bytes. The first answers are a trial: a model that repeats
 * its prompt, breaks the schema, invents tools, or writes what leads to none of its tools, in more than a share of
 * them, is refused with the figures, since what it writes would be no data: WT_EMODEL. Errors: that; WT_EINVAL (no
 * folder or one that holds something else, an option out of range, no language model named), WT_EEMPTY (no tools of
 * which a request can be made, or not one request came of it), WT_ERECIPE, WT_EBUSY, WT_ENETWORK, WT_ENOTFOUND (a
 * replay lacks an answer), WT_ECANCELLED, WT_EIO, ...
 */
WT_API int wt_generate_toolbank(wt_engine *engine, const wt_toolbank_options *options, wt_generated **out,
                                wt_error *err);

typedef struct wt_rectools_options {
    size_t size;
    const char *out;          /* folder; what an earlier run with the same options left there is gone on with */
    size_t smallest, largest; /* tools of a combination, 1 to 10: 0: 1, and 10 */
    size_t combinations;      /* of each size; 0: 20 */
    size_t requests;          /* of each combination; 0: 5 */
    size_t retries;           /* questions for a request beyond the first; 0: 5 */
    int keep_all;             /* what does not qualify stays in the data set, marked, as the paper has it */
    double dev, test;         /* shares of the splits, at most 1 together; 0: 0.1 each; below 0: none */
    double duplicate;         /* cosine (the engine's encoder; without one WT_BUILT_IN_MODEL) from which on two requests
                                 count as the same one; 0: 0.8; over 1: none do, but those with the same words */
    double temperature;       /* of the language model that writes, at most 2; 0: 0.8 */
    uint64_t seed;            /* 0: 1 */
    wt_progress_fn progress;
    void *progress_context;
} wt_rectools_options;

WT_INIT(wt_rectools_options_init, wt_rectools_options)

/* Makes requests for sets of the store's tools, as RecTools was made (PTR, section 4 and appendix C): of each size so
 * many sets are drawn, and for each the engine's language model writes so many requests that take all of its tools and
 * no other. Then it gives a verdict on each: with these tools (exact, over, or partial), and with one of them, drawn by
 * seed, taken away. A request qualifies where the first is exact and the second partial, and these are kept. The folder
 * then holds a data set in BEIR's layout, as that of wt_generate_toolbank, whose queries.jsonl has the verdicts as
 * metadata; report.json, which counts them by size, beside the paper's; answers.jsonl and settings.json. The same
 * options, store, model and answers give the same bytes; keep_all may change in a folder that is there, and asks
 * nothing. Errors: WT_EINVAL, WT_EEMPTY (no tools, or no request that qualifies), WT_EBUSY, WT_ENETWORK, WT_ENOTFOUND
 * (a replay lacks an answer), WT_ECANCELLED, WT_EIO, ... */
WT_API int wt_generate_rectools(wt_engine *engine, const wt_rectools_options *options, wt_generated **out,
                                wt_error *err);

typedef struct wt_verdicts_options {
    size_t size;
    const char *data;  /* folder of a data set in BEIR's layout, with corpus.jsonl */
    const char *out;   /* folder for what was answered; another one than data */
    const char *split; /* NULL: "test" */
    size_t limit;      /* requests, drawn by seed; 0: all of the split */
    uint64_t seed;     /* of these, and of the tool that is taken away; 0: 1 */
    wt_progress_fn progress;
    void *progress_context;
} wt_verdicts_options;

WT_INIT(wt_verdicts_options_init, wt_verdicts_options)

/* Those verdicts over a data set that there is (PTR, table 3): report.json counts them, verdicts.jsonl has each by its
 * request's id. Requests of more than 32 tools, or with one that the corpus lacks, are left out and counted. Errors:
 * those of wt_generate_rectools; WT_EFORMAT with file and line; WT_EEMPTY (no request that can be asked about, or not
 * one verdict). */
WT_API int wt_generate_verdicts(wt_engine *engine, const wt_verdicts_options *options, wt_generated **out,
                                wt_error *err);

typedef struct wt_comparison_options {
    size_t size;
    const char *first;  /* folder of a data set: its queries.jsonl */
    const char *second; /* of another; NULL: the first one's own requests as they were before their polish */
    const char *out;    /* folder for what was answered */
    const char *labels; /* file of verdicts by a person on the same pairs (docs/generate.md); NULL: none */
    size_t limit;       /* pairs, drawn by seed; 0: 100 */
    uint64_t seed;      /* 0: 1 */
    wt_progress_fn progress;
    void *progress_context;
} wt_comparison_options;

WT_INIT(wt_comparison_options_init, wt_comparison_options)

/* Which of two data sets has the better requests (Tool2Vec, section 3 and figure 1): the engine's language model
 * compares pairs of them in naturalness, fluency and coherence, each pair twice, with the order swapped. A verdict that
 * is not the same both times is a tie. The folder then holds report.json (wins, ties and losses of the first, each with
 * its 95 % interval), pairs.jsonl, sheet.tsv (the pairs in an order that is drawn, for a person to read), answers.jsonl
 * and settings.json. With labels, the report also has how far they agree, and Cohen's kappa; labels may be added in a
 * folder that is there, and ask nothing. Errors: those of wt_generate_verdicts; WT_EEMPTY (no pairs, or none that was
 * judged).
 */
WT_API int wt_generate_comparison(wt_engine *engine, const wt_comparison_options *options, wt_generated **out,
                                  wt_error *err);

typedef struct wt_names_options {
    size_t size;
    const char *out;    /* folder; what an earlier run with the same options left there is gone on with */
    double temperature; /* of the language model, at most 2; 0: 0.7 */
    uint64_t seed;      /* 0: 1 */
    wt_progress_fn progress;
    void *progress_context;
} wt_names_options;

WT_INIT(wt_names_options_init, wt_names_options)

/* Gives the store's tools new names that say what they do, as ToolBank's collections have them (Tool2Vec, C.2): for
 * each the engine's language model is asked for one, up to 4 times. A name is 3 to 64 letters, digits and '_', begins
 * with a letter, and is no other tool's, new or old, whatever the case and the '_'; a tool for which none came keeps
 * its own and is counted. The store stays as it is. The folder then holds corpus.jsonl, all tools of the store under
 * their ids in BEIR's layout, which wt_add reads, each renamed one with its old name as "original" of its metadata;
 * report.json, answers.jsonl and settings.json. *out: tools, and rows, those that are renamed. The same options, store,
 * model and answers give the same bytes. Errors: WT_EINVAL, WT_EEMPTY (no tools, or not one name), WT_EBUSY,
 * WT_ENETWORK, WT_ENOTFOUND (a replay lacks an answer), WT_ECANCELLED, WT_EIO, ... */
WT_API int wt_generate_names(wt_engine *engine, const wt_names_options *options, wt_generated **out, wt_error *err);

#ifdef __cplusplus
}
#endif
#endif
