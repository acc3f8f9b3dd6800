/* options_data.c: the verbs for data: usage, eval and generate. */
#include "cli/option_macros.h"

#include "catalog/usage.h"

static const struct cli_option usage_options[] = {
    OPTION(SPLIT, "split", TEXT, "NAME", "add: split of a data set in BEIR layout, qrels/NAME.tsv. Default: train."),
    FLAG(STRICT, "strict", "add: import nothing and exit with 3 if a usage is invalid."),
    OPTION(TOOL, "tool", TEXT, "NAME",
           "Only usages of this tool, by a name as in show or the recorded name of a removed tool. With --request: a "
           "tool that was used; repeat it for several.",
           .letter = 't', .repeats = true),
    OPTION(REQUEST, "request", TEXT, "TEXT", "add: record one usage: this request with the tools of --tool."),
    OPTION(ARGUMENTS, "arguments", TEXT, "JSON",
           "add --request: arguments of a tool's call, as a JSON object. Give one for each --tool, in the same order, "
           "and '' if unknown.",
           .repeats = true, .one_line = true),
    CHOICE(OUTCOME, "outcome", "OUTCOME", USAGE_OUTCOME_WORDS,
           "add --request: outcome of the call. The first two words are stored; the others are synonyms. Default: "
           "unknown, which counts as ok."),
    OPTION(BEFORE, "before", TEXT, "TIME", "Only usages before a time, such as 2026-11-22 or 2026-11-22T08:30:00Z."),
    OPTION(CLIENT, "client", TEXT, "NAME",
           "Only usages of this client, as recorded. With --request: the client whose request it was."),
    NUMBER(AFTER, "after", "ID", INT64_MAX / 16, "list, export: start after the usage with this id."),
    NUMBER(LIMIT, "limit", "N", WT_MAX_USAGES, "list, export: at most N."),
    FLAG(ALL, "all", "forget: remove all usages."),
    FLAG(YES, "yes", "forget: do not ask.", .letter = 'y'),
    FLAG(NO_VECTORS, "no-vectors",
         "add, forget: do not compute vectors of requests now; `whichtool vectors` or a later add does."),
    MODEL_OPTIONS,
    OWN_TENANT_OPTIONS,
};
static const struct cli_example usage_examples[] = {
    {"whichtool usage add log.jsonl", "Imports usages, one on each line."},
    {"whichtool usage add --request \"do I need an umbrella?\" --tool weather/forecast", "Records one usage."},
    {"whichtool usage add --request \"rain in Oslo?\" --tool weather/forecast --arguments '{\"city\": \"Oslo\"}'",
     "Records the call's arguments as well."},
    {"tail -n 100 log.jsonl | whichtool usage add -", "Imports the output of another command."},
    {"whichtool usage list --tool book_table --limit 20", "Lists the first requests that used a tool."},
    {"whichtool usage export >log.jsonl", "Exports all usages in the form that add reads."},
    {"whichtool usage forget --before 2026-01-01", "Removes older usages."},
};

const struct cli_verb wt__usage_verb = {
    .name = "usage",
    .arguments = "add|list|export|forget|import-segments [SOURCE...]",
    .summary = "Record which tools requests used, to improve finding",
    .text =
        "add imports usages from files, data sets in BEIR layout (folders with queries.jsonl and qrels/SPLIT.tsv) or "
        "standard input (-), or records one usage given by --request and --tool. Each line of a file is one usage: "
        "{\"request\": \"...\", \"tools\": [\"provider/name\"], \"outcome\": \"ok\", \"time\": "
        "\"2026-11-22T08:30:00Z\", \"client\": \"c17\", \"key\": \"run-17/3\"}. outcome, time, client and key are "
        "optional; outcome is one of the words of --outcome. The client is any name for the sender of the request; a "
        "tool counts once for each client and request. A second usage with the same client and key is ignored. A line "
        "{\"key\": \"run-17/3\", \"client\": \"c17\", \"outcome\": \"failed\"} sets the outcome of an earlier usage. "
        "{\"tool\": \"provider/name\", \"arguments\": {...}} instead of a name records the arguments of the call.\n"
        "Each source is imported in one transaction. An unknown tool is reported, and the usage is kept with its other "
        "tools. A usage that is invalid, or has no known tool, is reported, skipped and counted. Failed usages are "
        "stored, but not used for training.\n"
        "list shows usages in the order of recording, with removed tools in brackets. export writes them in the form "
        "that add reads. forget removes them permanently; on a terminal it asks first, unless --yes is given. "
        "import-segments applies the segments that replicas have spooled in the given folders, each exactly once, and "
        "removes them (docs/replicas.md).\n"
        "Requests and arguments are stored verbatim, in the store only. Arguments with names of credentials are left "
        "out, as in schemas; do not record other secrets.",
    .kind = VALUE_FILE,
    .choices = "add list export forget import-segments",
    .min_words = 1,
    .max_words = MANY_WORDS,
    OPTIONS(usage_options),
    EXAMPLES(usage_examples),
    .run = wt__cmd_usage,
};

static const struct cli_option eval_options[] = {
    OPTION(SPLIT, "split", TEXT, "NAME", "Split of the data set: qrels/NAME.tsv. Default: test."),
    CHOICE(SPLIT_BY, "split-by", "KIND", "set",
           "Divide all requests into train, dev and test again, so that no set of tools is in two splits (set)."),
    OPTION(RECIPE, "recipe", RECIPE, "A,B",
           "Recipes to evaluate; the first is the baseline of the comparison. Default: all that can run.",
           .letter = 'r'),
    OPTION(K, "k", TEXT, "1,3,5", "Cutoffs of the metrics. Default: 1,3,5,7,10.", .letter = 'k'),
    NUMBER(LIMIT, "limit", "N", UINT32_MAX, "Evaluate only the first N queries."),
    OPTION(RUN, "run", FILE, "FILE",
           "Write the rankings as a TREC run; an existing file is overwritten. With several recipes, write one file "
           "for each, with the recipe's name before the extension."),
    OPTION(WITH_RUN, "with-run", FILE, "FILE",
           "Measure another method as well: FILE is a TREC run with its rankings of the split's queries. It becomes a "
           "row under the file's name and is compared with the first recipe. May be repeated.",
           .repeats = true),
    OPTION(QRELS, "qrels", FILE, "FILE", "Write the relevance judgements as TREC qrels."),
    OPTION(HTML, "html", FILE, "FILE",
           "Write the metrics and an error analysis as one HTML page: failed requests, distances between requests and "
           "tools, and a map of the embeddings."),
    OPTION(TRAINED, "trained", FOLDER, "FOLDER",
           "Folder of `train --data DIR --out FOLDER` with the models for recipes that need training. Default: missing "
           "models are trained first."),
    NUMBER(USAGES, "usages", "N", WT_MAX_USAGES, "Learn from at most N usages of each tool. Default: all."),
    OPTION(OUT_OF_DOMAIN, "out-of-domain", FOLDER, "DIR",
           "Data set of requests that no tool answers: measure how often the recipe set abstains."),
    NUMBER(BOOTSTRAP, "bootstrap", "N", 1000000, "Bootstrap resamples of the comparison. Default: 10,000."),
    NUMBER(TIMED, "timed", "N", 1000000, "Measure latency on the first N queries, one after another. Default: 200."),
    MAX_PER_PROVIDER_OPTION,
    FLAG(COPIES, "all-copies",
         "List near copies separately, as `find --all-copies` does. Identical tools are always listed separately, "
         "because judgements name tools by id."),
    AS_TYPED_OPTION,
    NUMBER(SEED, "seed", "N", UINT32_MAX, "Random seed of the bootstrap, training and samples. Default: 1."),
    OPTION(CACHE, "cache", FOLDER, "FOLDER", "Cache folder for imported catalogues and their embeddings."),
    OPTION(ORACLE, "oracle", TEXT, "RATE",
           "For the recipe ptr: answer from the relevance judgements instead of a language model, with a share RATE of "
           "wrong decisions, 0 to 1. The figures say nothing about a real model."),
    PTR_OPTIONS,
    MODEL_OPTIONS,
};
static const struct cli_example eval_examples[] = {
    {"whichtool eval data/mytools",
     "Evaluates every recipe on the test split, after training the models they need, which takes hours."},
    {"whichtool eval data/mytools --split dev --recipe bm25,hybrid --k 1,5,10 --json",
     "Evaluates two recipes on the dev split, as JSON lines."},
    {"whichtool eval data/mytools --recipe hybrid --with-run mine.run", "Compares your own method with hybrid."},
    {"whichtool eval data/mytools --recipe hybrid,tool2vec,auto --html report.html",
     "Evaluates three recipes, after training two of them, and writes a page about hits and misses."},
};

const struct cli_verb wt__eval_verb = {
    .name = "eval",
    .arguments = "DIR",
    .summary = "Measure recipes on a data set in BEIR layout",
    .text = "A recipe is a search method; `whichtool help --recipes` lists them. DIR contains corpus.jsonl (tools), "
            "queries.jsonl (requests) and qrels/SPLIT.tsv (relevance judgements: the tools that each request needs). "
            "SPLIT is train, dev or test.\n"
            "The metrics are means over the requests, in percent: recall@k, the share of needed tools among the first "
            "k; ndcg@k, the same with more weight on early places; complete@k, the share of requests with all needed "
            "tools among the first k; mrr, the reciprocal rank of the first needed tool. p50, p95 and p99 are "
            "percentiles of the latency of one find on one thread. Recipes that pick a set also have tracc, the share "
            "of needed tools in the set with a penalty for sets of the wrong size; exact, the share of identical sets; "
            "set_precision, set_recall and set_f1; complete, the share of sets without a missing tool. docs/eval.md "
            "defines all metrics. A paired bootstrap compares each further recipe with the first.\n"
            "Recipes that need training are trained on qrels/train.tsv, with models and parameters selected on "
            "qrels/dev.tsv; they are left out if there is no train split.\n"
            "The catalogue of a data set, its embeddings and the trained models are cached between evaluations.",
    .kind = VALUE_FOLDER,
    .min_words = 1,
    .max_words = 1,
    OPTIONS(eval_options),
    EXAMPLES(eval_examples),
    .run = wt__cmd_eval,
};

static const char generate_text[] =
    "toolbank generates requests for the store's tools (Tool2Vec's ToolBank): the language model picks two to five of "
    "ten sampled tools and writes a request that needs them. --out becomes a data set for `usage add`, `train --data` "
    "and `eval`. The first answers are a trial; a model that repeats its prompt or violates the schema is refused.\n"
    "rectools generates requests for sampled sets of tools. For each request, the model judges whether the set solves "
    "it exactly, and whether the set still does without one of its tools (PTR's RecTools). verdicts judges an existing "
    "data set in the same way.\n"
    "comparison has the model compare the requests of two data sets, or polished with unpolished requests of one, in "
    "naturalness, fluency and coherence. Each pair is compared in both orders (Tool2Vec's figure 1).\n"
    "toolselect generates tools, similar tools that are easily confused with them, instructions, and for each "
    "instruction a note on why its tool is the right choice (ToolVerifier's ToolSelect). --out gets samples.jsonl and "
    "tools.jsonl.\n"
    "fine-tuning converts such rows, or the store's recorded use, to conversations for fine-tuning a language model: "
    "train.jsonl and dev.jsonl, with the settings in the first line.\n"
    "names generates descriptive names for the store's tools, as in ToolBank's collections. --out gets corpus.jsonl, "
    "which `add` reads.\n"
    "Every answer is validated; report.json counts rejected answers with their reasons (docs/generate.md). Answers are "
    "stored in --out at once, so that the same command resumes after Ctrl-C, a server failure or kill -9.";

static const struct cli_option generate_options[] = {
    OPTION(OUT, "out", FOLDER, "FOLDER", "Output folder. Required. The same command resumes a stopped run in it."),
    NUMBER(USAGES, "usages", "N", WT_MAX_GENERATED_USAGES,
           "toolbank: stop when every tool has N training requests; tools with fewer are sampled first. Default: 5, or "
           "no target with --items."),
    NUMBER(ITEMS, "items", "N", WT_MAX_GENERATED_REQUESTS,
           "toolbank: maximum number of requests to ask for. Default: tools times --usages, at least 100."),
    CHOICE(DRAW, "draw", "HOW", "random near",
           "toolbank: how to sample the ten tools of a prompt: at random (default), or near: one tool and the tools "
           "most similar to it."),
    CHOICE(WITHIN, "within", "WHAT", "provider category any",
           "toolbank: sample the tools of a prompt from one provider, from several providers of one category, or from "
           "all tools (default): ToolBench's I1, I2 and I3."),
    NUMBER(EXAMPLES, "examples", "N", 5,
           "toolbank: number of earlier generated requests that a prompt shows. Default: 5."),
    OPTION(LIKE, "like", FOLDER, "DIR",
           "toolbank: data set of human requests; prompts show requests of its train split and ask for their style."),
    FLAG(ONE_TOOL, "one-tool",
         "toolbank: generate each request for one tool, from a prompt without examples, and do not polish it; for "
         "small models."),
    FLAG(NO_POLISH, "no-polish", "toolbank: do not polish requests."),
    OPTION(
        UNANSWERABLE, "unanswerable", TEXT, "SHARE",
        "toolbank: share of requests that no tool should fit; their tools are removed from the data set. Default: 0."),
    NUMBER(ROUND_TRIP, "round-trip", "K", WT_MAX_K,
           "toolbank: keep a request only if a search finds its tools among the first K hits, with no near copy above "
           "them. Default: 0, off.",
           .or_zero = true),
    OPTION(RECIPE, "recipe", RECIPE, "NAME",
           "toolbank: search method of --round-trip and of the trial. Default: hybrid, or bm25 without a model.",
           .letter = 'r'),
    NUMBER(TRIAL, "trial", "N", WT_MAX_TRIAL,
           "toolbank: number of first answers that decide whether the model is good enough. Default: 50. 0 disables "
           "the trial.",
           .or_zero = true),
    OPTION(TRIAL_LIMIT, "trial-limit", TEXT, "SHARE",
           "toolbank: maximum share of trial answers that repeat the prompt, violate the schema, or name unknown "
           "tools. Default: 0.2."),
    OPTION(TEST, "test", TEXT, "SHARE", "toolbank, rectools: share of requests in the test split. Default: 0.1."),
    NUMBER(TOOLS, "tools", "N", WT_MAX_GENERATED_TOOLS,
           "toolselect: number of base tools, including the 8 built-in ones; with --from-catalogue, number of tools "
           "sampled from the store. Default: 60."),
    NUMBER(RELATED, "related", "N", WT_MAX_RELATED, "Number of similar tools in a hard list. Default: 2."),
    NUMBER(INSTRUCTIONS, "instructions", "N", WT_MAX_INSTRUCTIONS,
           "toolselect: number of instructions for each tool. Default: 3."),
    NUMBER(CHOICES, "choices", "N", WT_MAX_CHOICES,
           "Number of tools in an easy list, including the right one. Default: 8."),
    OPTION(HARD, "hard", TEXT, "SHARE",
           "Share of rows with a hard list, which contains only the right tool and similar ones. Default: 0.135 (75 of "
           "555)."),
    OPTION(DUPLICATE, "duplicate", TEXT, "COSINE",
           "toolbank, toolselect, rectools: cosine similarity from which requests, tools or instructions are "
           "duplicates. Default: 0.93, or 0.8 for rectools. With 2, only identical words count."),
    OPTION(
        TEMPERATURE, "temperature", TEXT, "T",
        "Sampling temperature of the language model, up to 2. Default: 0.9 for toolbank, 0.8 for rectools, else 0.7."),
    NUMBER(SMALLEST, "smallest", "N", WT_MAX_COMBINATION_TOOLS, "rectools: size of the smallest sets. Default: 1."),
    NUMBER(LARGEST, "largest", "N", WT_MAX_COMBINATION_TOOLS, "rectools: size of the largest sets. Default: 10."),
    NUMBER(COMBINATIONS, "combinations", "N", WT_MAX_COMBINATIONS,
           "rectools: number of sets of each size. Default: 20."),
    NUMBER(REQUESTS, "requests", "N", WT_MAX_COMBINATION_REQUESTS,
           "rectools: number of requests for each set. Default: 5."),
    NUMBER(RETRIES, "retries", "N", WT_MAX_RETRIES,
           "rectools: number of retries after a duplicate or unusable request. Default: 5."),
    FLAG(KEEP_ALL, "keep-all",
         "rectools: keep requests that do not qualify, with a mark. By default, they are dropped."),
    OPTION(DATA, "data", FOLDER, "FOLDER", "verdicts: data set in BEIR layout. Required."),
    OPTION(SPLIT, "split", TEXT, "NAME", "verdicts: split of the data set, qrels/NAME.tsv. Default: test."),
    OPTION(FIRST, "first", FOLDER, "FOLDER", "comparison: data set whose wins are counted. Required."),
    OPTION(SECOND, "second", FOLDER, "FOLDER",
           "comparison: data set to compare with. Default: the unpolished requests of the first one."),
    OPTION(
        LABELS, "labels", FILE, "FILE",
        "comparison: sheet.tsv with the column verdict filled in by a person, to report agreement and Cohen's kappa."),
    FLAG(FROM_CATALOGUE, "from-catalogue",
         "toolselect: use the store's tools; hard lists contain the best other hits of the recipe hybrid."),
    OPTION(FROM, "from", FOLDER, "FOLDER",
           "fine-tuning: folder with samples.jsonl. Default: the store's recorded use."),
    OPTION(DEV, "dev", TEXT, "SHARE",
           "toolbank, rectools, fine-tuning: share of requests in the dev split. Default: 0.1."),
    FLAG(NOTES, "notes", "fine-tuning: have the language model write a reasoning note for each row of recorded use."),
    CHOICE(LAYOUT, "layout", "NAME", "call toolverifier",
           "fine-tuning: layout of the rows: the questions of `call` (call, the default), or that of the paper "
           "(toolverifier)."),
    NUMBER(NOTE_WORDS, "note-words", "N", UINT32_MAX,
           "fine-tuning: shorten notes to their first sentences, of at most N words together."),
    FLAG(RIGHT_FIRST, "right-first", "fine-tuning: put the right tool first in each list."),
    NUMBER(LIMIT, "limit", "N", WT_MAX_FINE_TUNING_ROWS,
           "fine-tuning, verdicts, comparison: maximum number of rows, requests or pairs, sampled with --seed. "
           "Default: 10000 rows of recorded use, all requests of the split, 100 pairs."),
    NUMBER(SEED, "seed", "N", UINT32_MAX, "Random seed; the same seed and answers give the same data. Default: 1."),
    CHAT_OPTIONS("that generates the data"),
    NUMBER(CHAT_AT_ONCE, "chat-at-once", "N", WT_MAX_CHAT_AT_ONCE,
           "Number of parallel questions to the language model; the results do not depend on it. Default: 4."),
    MODEL_OPTIONS,
};
static const struct cli_example generate_examples[] = {
    {"whichtool generate toolbank --chat-url http://127.0.0.1:8080/v1 --chat-model mine --out requests",
     "Generates requests for the store's tools, five training requests for each."},
    {"whichtool generate toolbank --one-tool --round-trip 5 --chat-model small --out requests",
     "Does so with a small model: one tool at a time, and only requests that find their tool."},
    {"whichtool generate rectools --chat-model mine --out sets",
     "Generates requests for sets of one to ten tools, with verdicts on the sets."},
    {"whichtool generate verdicts --data requests --chat-model other --out verdicts",
     "Judges an existing data set with another model."},
    {"whichtool generate comparison --first requests --second mine --limit 200 --chat-model other --out judged",
     "Measures which of two data sets has more natural requests."},
    {"whichtool generate toolselect --chat-url http://127.0.0.1:8080/v1 --chat-model mine --out select",
     "Generates 60 tools with two similar ones each, and rows for choosing among them."},
    {"whichtool generate toolselect --from-catalogue --tools 200 --chat-model mine --out own",
     "Generates such rows for tools of the store."},
    {"whichtool generate fine-tuning --from select --out tuning", "Writes rows for fine-tuning a language model."},
    {"whichtool generate names --chat-model mine --out names", "Generates new names for the store's tools."},
};

const struct cli_verb wt__generate_verb = {
    .name = "generate",
    .arguments = "toolbank|rectools|verdicts|comparison|toolselect|fine-tuning|names",
    .summary = "Generate data with a language model",
    .text = generate_text,
    .choices = "toolbank rectools verdicts comparison toolselect fine-tuning names",
    .min_words = 1,
    .max_words = 1,
    OPTIONS(generate_options),
    EXAMPLES(generate_examples),
    .run = wt__cmd_generate,
};
