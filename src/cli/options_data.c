/* options_data.c: the verbs for data: usage, eval and generate. */
#include "cli/option_macros.h"

#include "catalog/usage.h"

static const struct cli_option usage_options[] = {
    {.id = OPT_SPLIT,
     .name = "split",
     .kind = VALUE_TEXT,
     .value = "NAME",
     .help = "add: split of a data set in BEIR layout, qrels/NAME.tsv. Default: train."},
    {.id = OPT_STRICT, .name = "strict", .help = "add: import nothing and exit with 3 if a usage is invalid."},
    {.id = OPT_TOOL,
     .letter = 't',
     .name = "tool",
     .kind = VALUE_TEXT,
     .value = "NAME",
     .repeats = true,
     .help = "Only usages of this tool, by a name as in show or the recorded name of a removed tool. With --request: a "
             "tool that was used; repeat it for several."},
    {.id = OPT_REQUEST,
     .name = "request",
     .kind = VALUE_TEXT,
     .value = "TEXT",
     .help = "add: record one usage: this request with the tools of --tool."},
    {.id = OPT_ARGUMENTS,
     .name = "arguments",
     .kind = VALUE_TEXT,
     .value = "JSON",
     .repeats = true,
     .one_line = true,
     .help = "add --request: arguments of a tool's call, as a JSON object. Give one for each --tool, in the same "
             "order, and '' if unknown."},
    {.id = OPT_OUTCOME,
     .name = "outcome",
     .kind = VALUE_CHOICE,
     .value = "OUTCOME",
     .choices = USAGE_OUTCOME_WORDS,
     .help = "add --request: outcome of the call. The first two words are stored; the others are synonyms. Default: "
             "unknown, which counts as ok."},
    {.id = OPT_BEFORE,
     .name = "before",
     .kind = VALUE_TEXT,
     .value = "TIME",
     .help = "Only usages before a time, such as 2026-11-22 or 2026-11-22T08:30:00Z."},
    {.id = OPT_CLIENT,
     .name = "client",
     .kind = VALUE_TEXT,
     .value = "NAME",
     .help = "Only usages of this client, as recorded. With --request: the client whose request it was."},
    {.id = OPT_AFTER,
     .name = "after",
     .kind = VALUE_NUMBER,
     .value = "ID",
     .max = INT64_MAX / 16,
     .help = "list, export: start after the usage with this id."},
    {.id = OPT_LIMIT,
     .name = "limit",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = WT_MAX_USAGES,
     .help = "list, export: at most N."},
    {.id = OPT_ALL, .name = "all", .help = "forget: remove all usages."},
    {.id = OPT_YES, .letter = 'y', .name = "yes", .help = "forget: do not ask."},
    {.id = OPT_NO_VECTORS,
     .name = "no-vectors",
     .help = "add, forget: do not compute vectors of requests now; `whichtool vectors` or a later add does."},
    MODEL_OPTIONS,
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
    .arguments = "add|list|export|forget [SOURCE...]",
    .summary = "Record which tools requests used, to improve finding",
    .text =
        "add imports usages from files, data sets in BEIR layout (folders with queries.jsonl and qrels/SPLIT.tsv) or "
        "standard input (-), or records one usage given by --request and --tool. Each line of a file is one usage: "
        "{\"request\": \"...\", \"tools\": [\"provider/name\"], \"outcome\": \"ok\", "
        "\"time\": \"2026-11-22T08:30:00Z\", \"client\": \"c17\", \"key\": \"run-17/3\"}. outcome, time, client "
        "and key are optional; outcome is one of the words of --outcome. The client is any name for the sender of the "
        "request; a tool counts once for each client and request. A second usage with the same client and key is "
        "ignored. A line {\"key\": \"run-17/3\", \"client\": \"c17\", \"outcome\": \"failed\"} sets the outcome of an "
        "earlier usage. {\"tool\": \"provider/name\", \"arguments\": {...}} instead of a name records the arguments "
        "of "
        "the call.\nEach source is imported in one transaction. An unknown tool is reported, and the usage is kept "
        "with "
        "its other tools. A usage that is invalid, or has no known tool, is reported, skipped and counted. Failed "
        "usages "
        "are stored, but not used for training.\n"
        "list shows usages in the order of recording, with removed tools in brackets. export writes them in the form "
        "that add reads. forget removes them permanently; on a terminal it asks first, unless --yes is given.\n"
        "Requests and arguments are stored verbatim, in the store only. Arguments with names of credentials are left "
        "out, as in schemas; do not record other secrets.",
    .kind = VALUE_FILE,
    .choices = "add list export forget",
    .min_words = 1,
    .max_words = MANY_WORDS,
    OPTIONS(usage_options),
    EXAMPLES(usage_examples),
    .run = wt__cmd_usage,
};

static const struct cli_option eval_options[] = {
    {.id = OPT_SPLIT,
     .name = "split",
     .kind = VALUE_TEXT,
     .value = "NAME",
     .help = "Split of the data set: qrels/NAME.tsv. Default: test."},
    {.id = OPT_RECIPE,
     .letter = 'r',
     .name = "recipe",
     .kind = VALUE_RECIPE,
     .value = "A,B",
     .help = "Recipes to evaluate; the first is the baseline of the comparison. Default: all that can run."},
    {.id = OPT_K,
     .letter = 'k',
     .name = "k",
     .kind = VALUE_TEXT,
     .value = "1,3,5",
     .help = "Cutoffs of the metrics. Default: 1,3,5,7,10."},
    {.id = OPT_LIMIT,
     .name = "limit",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = UINT32_MAX,
     .help = "Evaluate only the first N queries."},
    {.id = OPT_RUN,
     .name = "run",
     .kind = VALUE_FILE,
     .value = "FILE",
     .help = "Write the rankings as a TREC run; an existing file is overwritten. With several recipes, write one file "
             "for each, with the recipe's name before the extension."},
    {.id = OPT_WITH_RUN,
     .name = "with-run",
     .kind = VALUE_FILE,
     .value = "FILE",
     .repeats = true,
     .help =
         "Measure another method as well: FILE is a TREC run with its rankings of the split's queries. It becomes a "
         "row under the file's name and is compared with the first recipe. May be repeated."},
    {.id = OPT_QRELS,
     .name = "qrels",
     .kind = VALUE_FILE,
     .value = "FILE",
     .help = "Write the relevance judgements as TREC qrels."},
    {.id = OPT_HTML,
     .name = "html",
     .kind = VALUE_FILE,
     .value = "FILE",
     .help =
         "Write the metrics and an error analysis as one HTML page: failed requests, distances between requests and "
         "tools, and a map of the embeddings."},
    {.id = OPT_TRAINED,
     .name = "trained",
     .kind = VALUE_FOLDER,
     .value = "FOLDER",
     .help =
         "Folder of `train --data DIR --out FOLDER` with the models for recipes that need training. Default: missing "
         "models are trained first."},
    {.id = OPT_USAGES,
     .name = "usages",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = WT_MAX_USAGES,
     .help = "Learn from at most N usages of each tool. Default: all."},
    {.id = OPT_OUT_OF_DOMAIN,
     .name = "out-of-domain",
     .kind = VALUE_FOLDER,
     .value = "DIR",
     .help = "Data set of requests that no tool answers: measure how often the recipe set abstains."},
    {.id = OPT_BOOTSTRAP,
     .name = "bootstrap",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = 1000000,
     .help = "Bootstrap resamples of the comparison. Default: 10,000."},
    {.id = OPT_TIMED,
     .name = "timed",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = 1000000,
     .help = "Measure latency on the first N queries, one after another. Default: 200."},
    MAX_PER_PROVIDER_OPTION,
    {.id = OPT_COPIES,
     .name = "all-copies",
     .help = "List near copies separately, as `find --all-copies` does. Identical tools are always listed separately, "
             "because judgements name tools by id."},
    AS_TYPED_OPTION,
    {.id = OPT_DENSE_WEIGHT,
     .name = "dense-weight",
     .kind = VALUE_TEXT,
     .value = "W,BRIEF",
     .help = "Weight of meaning in hybrid, such as 0.6; words weigh 1. A second number, as in 0.6,1.8, is for brief "
             "requests. Default: the model's own."},
    {.id = OPT_SEED,
     .name = "seed",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = UINT32_MAX,
     .help = "Random seed of the bootstrap, training and samples. Default: 1."},
    {.id = OPT_CACHE,
     .name = "cache",
     .kind = VALUE_FOLDER,
     .value = "FOLDER",
     .help = "Cache folder for imported catalogues and their embeddings."},
    {.id = OPT_ORACLE,
     .name = "oracle",
     .kind = VALUE_TEXT,
     .value = "RATE",
     .help =
         "For the recipe ptr: answer from the relevance judgements instead of a language model, with a share RATE of "
         "wrong decisions, 0 to 1. The figures say nothing about a real model."},
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
    .text =
        "A recipe is a search method; `whichtool help --recipes` lists them. DIR contains corpus.jsonl (tools), "
        "queries.jsonl (requests) and qrels/SPLIT.tsv (relevance judgements: the tools that each request needs). "
        "SPLIT "
        "is train, dev or test.\n"
        "The metrics are means over the requests, in percent: recall@k, the share of needed tools among the first k; "
        "ndcg@k, the same with more weight on early places; complete@k, the share of requests with all needed tools "
        "among the first k; mrr, the reciprocal rank of the first needed tool. p50, p95 and p99 are percentiles of "
        "the "
        "latency of one find on one thread. Recipes that pick a set also have tracc, the share of needed tools in the "
        "set with a penalty for sets of the wrong size; exact, the share of identical sets; set_precision, set_recall "
        "and set_f1; complete, the share of sets without a missing tool. docs/eval.md defines all metrics. A paired "
        "bootstrap compares each further recipe with the first.\n"
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
    {.id = OPT_OUT,
     .name = "out",
     .kind = VALUE_FOLDER,
     .value = "FOLDER",
     .help = "Output folder. Required. The same command resumes a stopped run in it."},
    {.id = OPT_USAGES,
     .name = "usages",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = WT_MAX_GENERATED_USAGES,
     .help =
         "toolbank: stop when every tool has N training requests; tools with fewer are sampled first. Default: 5, or "
         "no target with --items."},
    {.id = OPT_ITEMS,
     .name = "items",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = WT_MAX_GENERATED_REQUESTS,
     .help = "toolbank: maximum number of requests to ask for. Default: tools times --usages, at least 100."},
    {.id = OPT_DRAW,
     .name = "draw",
     .kind = VALUE_CHOICE,
     .value = "HOW",
     .choices = "random near",
     .help = "toolbank: how to sample the ten tools of a prompt: at random (default), or near: one tool and the tools "
             "most similar to it."},
    {.id = OPT_WITHIN,
     .name = "within",
     .kind = VALUE_CHOICE,
     .value = "WHAT",
     .choices = "provider category any",
     .help =
         "toolbank: sample the tools of a prompt from one provider, from several providers of one category, or from "
         "all tools (default): ToolBench's I1, I2 and I3."},
    {.id = OPT_EXAMPLES,
     .name = "examples",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = 5,
     .help = "toolbank: number of earlier generated requests that a prompt shows. Default: 5."},
    {.id = OPT_LIKE,
     .name = "like",
     .kind = VALUE_FOLDER,
     .value = "DIR",
     .help = "toolbank: data set of human requests; prompts show requests of its train split and ask for their style."},
    {.id = OPT_ONE_TOOL,
     .name = "one-tool",
     .help = "toolbank: generate each request for one tool, from a prompt without examples, and do not polish it; for "
             "small models."},
    {.id = OPT_NO_POLISH, .name = "no-polish", .help = "toolbank: do not polish requests."},
    {.id = OPT_UNANSWERABLE,
     .name = "unanswerable",
     .kind = VALUE_TEXT,
     .value = "SHARE",
     .help = "toolbank: share of requests that no tool should fit; their tools are removed from the data set. Default: "
             "0."},
    {.id = OPT_ROUND_TRIP,
     .name = "round-trip",
     .kind = VALUE_NUMBER,
     .value = "K",
     .max = WT_MAX_K,
     .or_zero = true,
     .help =
         "toolbank: keep a request only if a search finds its tools among the first K hits, with no near copy above "
         "them. Default: 0, off."},
    {.id = OPT_RECIPE,
     .letter = 'r',
     .name = "recipe",
     .kind = VALUE_RECIPE,
     .value = "NAME",
     .help = "toolbank: search method of --round-trip and of the trial. Default: hybrid, or bm25 without a model."},
    {.id = OPT_TRIAL,
     .name = "trial",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = WT_MAX_TRIAL,
     .or_zero = true,
     .help = "toolbank: number of first answers that decide whether the model is good enough. Default: 50. 0 disables "
             "the trial."},
    {.id = OPT_TRIAL_LIMIT,
     .name = "trial-limit",
     .kind = VALUE_TEXT,
     .value = "SHARE",
     .help =
         "toolbank: maximum share of trial answers that repeat the prompt, violate the schema, or name unknown tools. "
         "Default: 0.2."},
    {.id = OPT_TEST,
     .name = "test",
     .kind = VALUE_TEXT,
     .value = "SHARE",
     .help = "toolbank, rectools: share of requests in the test split. Default: 0.1."},
    {.id = OPT_TOOLS,
     .name = "tools",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = WT_MAX_GENERATED_TOOLS,
     .help = "toolselect: number of base tools, including the 8 built-in ones; with --from-catalogue, number of tools "
             "sampled from the store. Default: 60."},
    {.id = OPT_RELATED,
     .name = "related",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = WT_MAX_RELATED,
     .help = "Number of similar tools in a hard list. Default: 2."},
    {.id = OPT_INSTRUCTIONS,
     .name = "instructions",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = WT_MAX_INSTRUCTIONS,
     .help = "toolselect: number of instructions for each tool. Default: 3."},
    {.id = OPT_CHOICES,
     .name = "choices",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = WT_MAX_CHOICES,
     .help = "Number of tools in an easy list, including the right one. Default: 8."},
    {.id = OPT_HARD,
     .name = "hard",
     .kind = VALUE_TEXT,
     .value = "SHARE",
     .help =
         "Share of rows with a hard list, which contains only the right tool and similar ones. Default: 0.135 (75 of "
         "555)."},
    {.id = OPT_DUPLICATE,
     .name = "duplicate",
     .kind = VALUE_TEXT,
     .value = "COSINE",
     .help = "toolbank, toolselect, rectools: cosine similarity from which requests, tools or instructions are "
             "duplicates. Default: 0.93, or 0.8 for rectools. With 2, only identical words count."},
    {.id = OPT_TEMPERATURE,
     .name = "temperature",
     .kind = VALUE_TEXT,
     .value = "T",
     .help =
         "Sampling temperature of the language model, up to 2. Default: 0.9 for toolbank, 0.8 for rectools, else 0.7."},
    {.id = OPT_SMALLEST,
     .name = "smallest",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = WT_MAX_COMBINATION_TOOLS,
     .help = "rectools: size of the smallest sets. Default: 1."},
    {.id = OPT_LARGEST,
     .name = "largest",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = WT_MAX_COMBINATION_TOOLS,
     .help = "rectools: size of the largest sets. Default: 10."},
    {.id = OPT_COMBINATIONS,
     .name = "combinations",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = WT_MAX_COMBINATIONS,
     .help = "rectools: number of sets of each size. Default: 20."},
    {.id = OPT_REQUESTS,
     .name = "requests",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = WT_MAX_COMBINATION_REQUESTS,
     .help = "rectools: number of requests for each set. Default: 5."},
    {.id = OPT_RETRIES,
     .name = "retries",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = WT_MAX_RETRIES,
     .help = "rectools: number of retries after a duplicate or unusable request. Default: 5."},
    {.id = OPT_KEEP_ALL,
     .name = "keep-all",
     .help = "rectools: keep requests that do not qualify, with a mark. By default, they are dropped."},
    {.id = OPT_DATA,
     .name = "data",
     .kind = VALUE_FOLDER,
     .value = "FOLDER",
     .help = "verdicts: data set in BEIR layout. Required."},
    {.id = OPT_SPLIT,
     .name = "split",
     .kind = VALUE_TEXT,
     .value = "NAME",
     .help = "verdicts: split of the data set, qrels/NAME.tsv. Default: test."},
    {.id = OPT_FIRST,
     .name = "first",
     .kind = VALUE_FOLDER,
     .value = "FOLDER",
     .help = "comparison: data set whose wins are counted. Required."},
    {.id = OPT_SECOND,
     .name = "second",
     .kind = VALUE_FOLDER,
     .value = "FOLDER",
     .help = "comparison: data set to compare with. Default: the unpolished requests of the first one."},
    {.id = OPT_LABELS,
     .name = "labels",
     .kind = VALUE_FILE,
     .value = "FILE",
     .help = "comparison: sheet.tsv with the column verdict filled in by a person, to report agreement and Cohen's "
             "kappa."},
    {.id = OPT_FROM_CATALOGUE,
     .name = "from-catalogue",
     .help = "toolselect: use the store's tools; hard lists contain the best other hits of the recipe hybrid."},
    {.id = OPT_FROM,
     .name = "from",
     .kind = VALUE_FOLDER,
     .value = "FOLDER",
     .help = "fine-tuning: folder with samples.jsonl. Default: the store's recorded use."},
    {.id = OPT_DEV,
     .name = "dev",
     .kind = VALUE_TEXT,
     .value = "SHARE",
     .help = "toolbank, rectools, fine-tuning: share of requests in the dev split. Default: 0.1."},
    {.id = OPT_NOTES,
     .name = "notes",
     .help = "fine-tuning: have the language model write a reasoning note for each row of recorded use."},
    {.id = OPT_LIMIT,
     .name = "limit",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = WT_MAX_FINE_TUNING_ROWS,
     .help =
         "fine-tuning, verdicts, comparison: maximum number of rows, requests or pairs, sampled with --seed. Default: "
         "10000 rows of recorded use, all requests of the split, 100 pairs."},
    {.id = OPT_SEED,
     .name = "seed",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = UINT32_MAX,
     .help = "Random seed; the same seed and answers give the same data. Default: 1."},
    CHAT_OPTIONS("that generates the data"),
    {.id = OPT_CHAT_AT_ONCE,
     .name = "chat-at-once",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = WT_MAX_CHAT_AT_ONCE,
     .help = "Number of parallel questions to the language model; the results do not depend on it. Default: 4."},
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
