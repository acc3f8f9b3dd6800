/* generate_options.h: options and examples of `whichtool generate`. A part of the table of options.c, by itself for
 * that file's length: read there alone, by whose macros it is written. */
#ifndef WT_CLI_GENERATE_OPTIONS_H
#define WT_CLI_GENERATE_OPTIONS_H

static const char generate_text[] =
    "toolbank has a language model write requests for the store's tools (Tool2Vec's ToolBank): of ten that are drawn "
    "it "
    "picks two to five and writes what takes these. --out is then a data set that `usage add`, `train --data` and "
    "`eval` "
    "read. The first answers are a trial: a model that repeats its prompt or breaks the schema is refused.\n"
    "toolselect has a language model write tools, tools that are easily taken for them, instructions, and for each "
    "instruction a note on why its tool is the right one of a list (ToolVerifier's ToolSelect): samples.jsonl and "
    "tools.jsonl in --out.\n"
    "fine-tuning writes such rows, or the store's recorded use, as conversations for fine-tuning a language model: "
    "train.jsonl and dev.jsonl, whose first lines hold the settings.\n"
    "What the model says is checked piece by piece; report.json counts what was turned away, and why "
    "(docs/generate.md). Ctrl-C, a server that fails, or even kill -9 loses no answer: they are kept in --out, and the "
    "same command goes on.";

static const struct option generate_options[] = {
    {.id = OPT_OUT,
     .name = "out",
     .kind = VALUE_FOLDER,
     .value = "FOLDER",
     .help = "Folder of the data. Required; the same command goes on with what a stopped run left there."},
    {.id = OPT_USAGES,
     .name = "usages",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = WT_MAX_GENERATED_USAGES,
     .help =
         "toolbank: end when every tool has so many requests to train on; tools with fewer are drawn first. Default: "
         "5, and with --items none."},
    {.id = OPT_ITEMS,
     .name = "items",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = WT_MAX_GENERATED_REQUESTS,
     .help = "toolbank: requests that are asked for at most. Default: tools times --usages, at least 100."},
    {.id = OPT_DRAW,
     .name = "draw",
     .kind = VALUE_CHOICE,
     .value = "HOW",
     .choices = "random near",
     .help = "toolbank: how the ten tools of a prompt are drawn: random (default), or near, one and some that are most "
             "like it."},
    {.id = OPT_WITHIN,
     .name = "within",
     .kind = VALUE_CHOICE,
     .value = "WHAT",
     .choices = "provider category any",
     .help =
         "toolbank: the tools of a prompt are one provider's, several providers' of one category, or any (default): "
         "ToolBench's I1, I2, I3."},
    {.id = OPT_EXAMPLES,
     .name = "examples",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = 5,
     .help = "toolbank: requests that a prompt shows, of those made so far. Default: 5."},
    {.id = OPT_ONE_TOOL,
     .name = "one-tool",
     .help = "toolbank: a request for each tool by itself, from a prompt without examples, and no polish: for small "
             "models."},
    {.id = OPT_NO_POLISH, .name = "no-polish", .help = "toolbank: requests stay as they came."},
    {.id = OPT_UNANSWERABLE,
     .name = "unanswerable",
     .kind = VALUE_TEXT,
     .value = "SHARE",
     .help = "toolbank: share of the requests that no tool is to fit: as many tools are taken out of the data set. "
             "Default: 0."},
    {.id = OPT_ROUND_TRIP,
     .name = "round-trip",
     .kind = VALUE_NUMBER,
     .value = "K",
     .max = WT_MAX_K,
     .or_zero = true,
     .help = "toolbank: keep a request only when a search by it finds its tools among K hits, and none that is nearly "
             "the same above them. Default: 0, off."},
    {.id = OPT_RECIPE,
     .letter = 'r',
     .name = "recipe",
     .kind = VALUE_RECIPE,
     .value = "NAME",
     .help = "toolbank: of that search, and of the trial's. Default: hybrid, or bm25 without a model."},
    {.id = OPT_TRIAL,
     .name = "trial",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = WT_MAX_TRIAL,
     .or_zero = true,
     .help = "toolbank: answers to begin with, by which a model of no use is told and refused. Default: 50; 0: none is "
             "refused."},
    {.id = OPT_TRIAL_LIMIT,
     .name = "trial-limit",
     .kind = VALUE_TEXT,
     .value = "SHARE",
     .help = "toolbank: share of these that may repeat the prompt, break the schema, or name unknown tools. Default: "
             "0.2."},
    {.id = OPT_TEST,
     .name = "test",
     .kind = VALUE_TEXT,
     .value = "SHARE",
     .help = "toolbank: share of the requests that go to the test split. Default: 0.1; 0: none."},
    {.id = OPT_TOOLS,
     .name = "tools",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = WT_MAX_GENERATED_TOOLS,
     .help = "toolselect: base tools, the 8 that are built in among them; with --from-catalogue, tools drawn from the "
             "store. Default: 60."},
    {.id = OPT_RELATED,
     .name = "related",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = WT_MAX_RELATED,
     .help = "Related tools of each tool, which its hard lists hold. Default: 2."},
    {.id = OPT_INSTRUCTIONS,
     .name = "instructions",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = WT_MAX_INSTRUCTIONS,
     .help = "toolselect: instructions of each tool. Default: 3."},
    {.id = OPT_CHOICES,
     .name = "choices",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = WT_MAX_CHOICES,
     .help = "Tools of an easy list, the right one among them. Default: 8."},
    {.id = OPT_HARD,
     .name = "hard",
     .kind = VALUE_TEXT,
     .value = "SHARE",
     .help = "Share of rows with a hard list: the right tool and related ones alone. Default: 0.135 (75 of 555); 0: "
             "none."},
    {.id = OPT_DUPLICATE,
     .name = "duplicate",
     .kind = VALUE_TEXT,
     .value = "COSINE",
     .help = "toolbank, toolselect: requests, tools or instructions whose vectors are this near are duplicates. "
             "Default: 0.93; 2: "
             "only those with the same words."},
    {.id = OPT_TEMPERATURE,
     .name = "temperature",
     .kind = VALUE_TEXT,
     .value = "T",
     .help = "Temperature of the language model, up to 2. Default: 0.9 of toolbank, else 0.7."},
    {.id = OPT_FROM_CATALOGUE,
     .name = "from-catalogue",
     .help = "toolselect: of the store's own tools; hard lists hold what the recipe hybrid puts beside the right one."},
    {.id = OPT_FROM,
     .name = "from",
     .kind = VALUE_FOLDER,
     .value = "FOLDER",
     .help = "fine-tuning: a folder with samples.jsonl. Default: the store's recorded use."},
    {.id = OPT_DEV,
     .name = "dev",
     .kind = VALUE_TEXT,
     .value = "SHARE",
     .help = "toolbank, fine-tuning: share of the requests that go to dev. Default: 0.1; 0: none."},
    {.id = OPT_NOTES,
     .name = "notes",
     .help = "fine-tuning: the language model writes a reasoning note for each row of recorded use."},
    {.id = OPT_LIMIT,
     .name = "limit",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = WT_MAX_FINE_TUNING_ROWS,
     .help = "fine-tuning: rows of recorded use, drawn by seed. Default: 10000."},
    {.id = OPT_SEED,
     .name = "seed",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = UINT32_MAX,
     .help = "Random seed; the same seed and answers give the same data. Default: 1."},
    CHAT_OPTIONS("that writes"),
    MODEL_OPTIONS,
};
static const struct example generate_examples[] = {
    {"whichtool generate toolbank --chat-url http://127.0.0.1:8080/v1 --chat-model mine --out requests",
     "Requests for the store's tools, five to train on for each."},
    {"whichtool generate toolbank --one-tool --round-trip 5 --chat-model small --out requests",
     "The same by a small model: one tool at a time, and only requests that find their tool."},
    {"whichtool generate toolselect --chat-url http://127.0.0.1:8080/v1 --chat-model mine --out select",
     "60 tools with two related ones each, and rows for choosing among them."},
    {"whichtool generate toolselect --from-catalogue --tools 200 --chat-model mine --out own",
     "The same for tools of the store."},
    {"whichtool generate fine-tuning --from select --out tuning", "Rows for fine-tuning a language model."},
};

#endif
