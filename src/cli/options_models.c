/* options_models.c: the verbs for models: train, distil and model. */
#include "cli/option_macros.h"

static const struct cli_option train_options[] = {
    {.id = OPT_DATA,
     .name = "data",
     .kind = VALUE_FOLDER,
     .value = "DIR",
     .repeats = true,
     .help = "Train on a data set in BEIR layout instead of the store: fit on its train split, select on dev. Given "
             "several times, encoder and cross train on all of them."},
    {.id = OPT_MOST,
     .name = "most",
     .kind = VALUE_TEXT,
     .value = "[NAME=]N",
     .repeats = true,
     .help =
         "At most N training requests of each data set, or of the data set in the folder NAME, sampled with --seed. "
         "May be repeated. Default: all."},
    {.id = OPT_JOIN,
     .name = "join",
     .kind = VALUE_TEXT,
     .value = "SHARE",
     .help = "For encoder and cross: share of training requests, such as 0.3, that are created by joining two or three "
             "requests of one data set. Default: none."},
    {.id = OPT_OUT,
     .name = "out",
     .kind = VALUE_FOLDER,
     .value = "FOLDER",
     .help = "Output folder, with a subfolder for each model. Required with --data. Default: STORE-models."},
    {.id = OPT_EPOCHS,
     .name = "epochs",
     .kind = VALUE_TEXT,
     .value = "N",
     .help = "Training epochs, such as 2 or 0.5. Default: depends on the number of requests."},
    {.id = OPT_BATCH,
     .name = "batch",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = 65536,
     .help = "Batch size. Default: 32 for encoder, 8 for cross."},
    {.id = OPT_ACCUMULATE,
     .name = "accumulate",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = 65536,
     .help = "Gradient accumulation: number of batches in a step, to save memory. Default: 1."},
    {.id = OPT_LR,
     .name = "lr",
     .kind = VALUE_TEXT,
     .value = "RATE",
     .help = "Peak learning rate, such as 5e-5. Default: the model's own."},
    {.id = OPT_FREEZE,
     .name = "freeze",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = 1024,
     .help = "Freeze the embeddings and the first N layers."},
    {.id = OPT_LOSS,
     .name = "loss",
     .kind = VALUE_TEXT,
     .value = "NAME",
     .help =
         "Training loss. encoder: contrast (default), triplet, softmax, bce or likeness. mlc: contrast (default), "
         "softmax, bce, or kept, which keeps the head that encoder trained with --loss softmax or bce. Refiners and "
         "cross: softmax (default) or bce."},
    {.id = OPT_TEACHER,
     .name = "teacher",
     .kind = VALUE_TEXT,
     .value = "MODEL",
     .help = "Name or folder of the model that teaches --loss likeness the similarity of texts."},
    {.id = OPT_PRECISION,
     .name = "precision",
     .kind = VALUE_TEXT,
     .value = "NAME",
     .help =
         "Number type: fp32, or bf16 for matrix products in bfloat16 with sums in fp32. Default: bf16 if it is faster "
         "on this processor."},
    {.id = OPT_CANDIDATES,
     .name = "candidates",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = 1024,
     .help = "Number of candidates that a refiner reranks."},
    {.id = OPT_FIELDS,
     .name = "fields",
     .kind = VALUE_TEXT,
     .value = "A,B",
     .help = "Fields of a tool that encoder or cross reads: some of category, provider, name, description and "
             "parameters. Default: provider,name,description."},
    {.id = OPT_NEGATIVES,
     .name = "negatives",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = 8,
     .help =
         "Number of hard negatives of each request: the wrong tools that the model ranks highest. Default: none for "
         "encoder, 4 for cross."},
    {.id = OPT_SYNTHETIC,
     .name = "synthetic",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = 1000000,
     .help = "For encoder and cross: number of synthetic training requests for each catalogue, made from the tools' "
             "descriptions (inverse cloze task). They complement or replace recorded requests. Default: none."},
    {.id = OPT_SEED,
     .name = "seed",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = UINT32_MAX,
     .help = "Random seed; the same seed and number of threads give the same model. Default: 1."},
    {.id = OPT_DEV,
     .name = "dev",
     .kind = VALUE_CHOICE,
     .value = "KIND",
     .choices = "use description hybrid head",
     .help =
         "What to measure on dev for encoder: recall by descriptions and training requests (use, the default), recall "
         "by descriptions only (description), recall of the recipe hybrid, or recall of the head that --loss softmax "
         "or "
         "bce trains (head)."},
    {.id = OPT_DEV_TOOLS,
     .name = "dev-tools",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = UINT32_MAX,
     .help =
         "Measure encoder on dev over N tools of each data set, including all tools that dev requests need, to save "
         "time. Default: all."},
    {.id = OPT_KEEP,
     .name = "keep",
     .kind = VALUE_CHOICE,
     .value = "WHICH",
     .choices = "best last",
     .help = "Model to keep: the best on dev (default), or the last, which also disables early stopping."},
    {.id = OPT_RESUME, .name = "resume", .help = "Resume an interrupted training with the same options."},
    {.id = OPT_THREADS,
     .name = "threads",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = 256,
     .help = "Number of threads. Default: one a processor."},
    {.id = OPT_MEMORY,
     .name = "memory",
     .kind = VALUE_NUMBER,
     .value = "MB",
     .max = 1 << 24,
     .help = "Memory limit in MB; training that needs more is refused. Default: the machine's available memory."},
    {.id = OPT_CACHE,
     .name = "cache",
     .kind = VALUE_FOLDER,
     .value = "FOLDER",
     .help = "Cache folder for catalogues of data sets, as in eval."},
    MODEL_OPTIONS,
};
static const struct cli_example train_examples[] = {
    {"whichtool train all", "Trains every model on the store's recorded use."},
    {"whichtool train encoder --data data/mytools --out models/mytools", "Trains one model on a data set."},
    {"whichtool train encoder --data data/one --data data/two --most 5000 --out models/both",
     "Trains one encoder on two data sets."},
    {"whichtool train encoder --resume", "Resumes after Ctrl-C."},
};

const struct cli_verb wt__train_verb = {
    .name = "train",
    .arguments = "MODEL",
    .summary = "Train a model on recorded use or on a data set",
    .text =
        "Run `whichtool train all` for a store. find then uses the recipe that did best, and `whichtool status` shows "
        "which one.\n"
        "Training data are requests with known tools: the store's recorded use (`whichtool usage add`), or the train "
        "split of a data set in BEIR layout. A tenth of the recorded requests, or the split dev, is held out. Figures "
        "\"on dev\" are measured on held-out requests; a model replaces an earlier one only if it is better there, "
        "and "
        "training stops early if it does not improve.\n"
        "MODEL is one of the following, or all of them in this order (all): encoder (the model that computes "
        "vectors); "
        "dpr (dense retrieval over the tools' texts); tool2vec, mlc and neighbours (past requests as embeddings of "
        "tools, as classes of a classifier, and as nearest neighbours); two refiners, which rerank them; auto, which "
        "selects among these and their combinations; set (set prediction from auto's hits, for `pick`); and "
        "toolrerank "
        "(reranking of dpr's hits by provider). The cross-encoder, cross, is trained only if named; train toolrerank "
        "again after it.\n"
        "Ctrl-C, or even kill -9, loses only minutes: the best model so far is kept, and --resume with the same "
        "options "
        "continues. Trained models are folders in the layout of the Hugging Face hub; their config.json records the "
        "training data.",
    .kind = VALUE_LESSON,
    .min_words = 1,
    .max_words = 1,
    OPTIONS(train_options),
    EXAMPLES(train_examples),
    .run = wt__cmd_train,
};

static const struct cli_option distil_options[] = {
    {.id = OPT_DATA,
     .name = "data",
     .kind = VALUE_FOLDER,
     .value = "DIR",
     .repeats = true,
     .help = "Data set in BEIR layout to learn from, instead of the store: its tools' texts and training requests. A "
             "catalogue without requests is enough. May be repeated."},
    {.id = OPT_OUT,
     .name = "out",
     .kind = VALUE_FOLDER,
     .value = "FOLDER",
     .help = "Folder of the new model. Required; it must not contain a model."},
    {.id = OPT_DIMENSION,
     .name = "dimension",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = 8192,
     .help = "Dimension of the vectors, stored as one byte a number. Default: 256, or the teacher's if that is less."},
    {.id = OPT_EPOCHS,
     .name = "epochs",
     .kind = VALUE_TEXT,
     .value = "N",
     .help = "Epochs of fitting texts to the teacher's vectors. Default: depends on the number of texts."},
    {.id = OPT_CONTRAST_EPOCHS,
     .name = "contrast-epochs",
     .kind = VALUE_TEXT,
     .value = "N",
     .help = "Epochs of contrastive training on requests and their tools. Default: depends on the number of requests."},
    {.id = OPT_SMOOTHING,
     .name = "smoothing",
     .kind = VALUE_TEXT,
     .value = "A",
     .help = "Initial weight of a token: A / (A + p), where p is its share of all tokens. Default: 0.001."},
    {.id = OPT_DENSE_WEIGHT,
     .name = "dense-weight",
     .kind = VALUE_TEXT,
     .value = "W,BRIEF",
     .help = "Weight of meaning in hybrid to write into config.json; words weigh 1. A second number, as in 0.6,1.8, is "
             "for brief requests. Default: not written."},
    {.id = OPT_ABLATE,
     .name = "ablate",
     .kind = VALUE_TEXT,
     .value = "A,B",
     .help = "For experiments: leave out some of weights (of tokens), fit, likeness (of pairs of texts, in the fit), "
             "contrast and merge (keep all changes of contrast instead of half)."},
    {.id = OPT_SEED,
     .name = "seed",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = UINT32_MAX,
     .help = "Random seed; the same seed gives the same model. Default: 1."},
    {.id = OPT_THREADS,
     .name = "threads",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = 256,
     .help = "Number of threads. Default: one a processor."},
    {.id = OPT_CACHE,
     .name = "cache",
     .kind = VALUE_FOLDER,
     .value = "FOLDER",
     .help = "Cache folder for catalogues of data sets, as in eval."},
    MODELS_OPTION,
};
static const struct cli_example distil_examples[] = {
    {"whichtool distil " WT_BASE_MODEL " --out models/mine", "Makes a static encoder for the store's tools."},
    {"whichtool distil models/tuned --data data/one --data data/two --out models/static",
     "Makes one from two data sets, for `whichtool find --model models/static ...`."},
};

const struct cli_verb wt__distil_verb = {
    .name = "distil",
    .arguments = "MODEL",
    .summary = "Distil a model into a small, fast static encoder",
    .text = "A static encoder is a table with one vector for each token; the vector of a text is their sum. It "
            "encodes a text in microseconds instead of milliseconds, and is less accurate than MODEL, its "
            "teacher.\nThe table starts from the teacher's vectors of single tokens, is fitted to the teacher's "
            "vectors of tool texts and training requests, and is then trained to bring requests near their tools. The "
            "texts come from the store or from data sets. docs/encoders.md measures each step.\nDistilling takes "
            "minutes, most of them for the teacher. Ctrl-C leaves no model and cannot be resumed.",
    .kind = VALUE_TEXT,
    .min_words = 1,
    .max_words = 1,
    OPTIONS(distil_options),
    EXAMPLES(distil_examples),
    .run = wt__cmd_distil,
};

static const struct cli_option model_options[] = {
    {.id = OPT_WEIGHT,
     .name = "weight",
     .kind = VALUE_TEXT,
     .value = "W",
     .help = "merge, two models: weight of the second one, 0 to 1. Default: 0.5."},
    {.id = OPT_PRECISION,
     .name = "precision",
     .kind = VALUE_CHOICE,
     .value = "TYPE",
     .choices = "int8 fp16",
     .help = "quantize: number type. Default: int8."},
    {.id = OPT_OUT,
     .name = "out",
     .kind = VALUE_FOLDER,
     .value = "FOLDER",
     .help = "merge, quantize: folder of the new model."},
    MODELS_OPTION,
};
static const struct cli_example model_examples[] = {
    {"whichtool model list", "Lists known and present models."},
    {"whichtool model pull " WT_BASE_MODEL, "Downloads and verifies the model that the default was tuned from."},
    {"whichtool model pull intfloat/multilingual-e5-small",
     "Downloads a multilingual model, for `--model intfloat/multilingual-e5-small`."},
    {"whichtool model merge " WT_BASE_MODEL " ./tuned --weight 0.7 --out ./merged",
     "Mixes a model (0.3) with one tuned from it (0.7)."},
};

const struct cli_verb wt__model_verb = {
    .name = "model",
    .arguments = "[list|info|pull|pack|merge|quantize] [NAME...]",
    .summary = "List, inspect, fetch, pack, merge or quantize the models that make vectors",
    .text =
        "list shows known and installed models; info shows one model. pull downloads a model and verifies the SHA-256 "
        "of every file; it resumes an interrupted download. ORG/NAME or ORG/NAME@REVISION is a model of the Hugging "
        "Face hub, or of $HF_ENDPOINT if set. The first pull records its hashes, and later pulls verify them. "
        "$HF_TOKEN, for gated models, is sent to that host only. pack writes the cache that speeds up loading; the "
        "first use also writes it. NAME defaults to the default model. " WT_BUILT_IN_MODEL " is built in.\n"
        "merge writes the weighted mean of several models to a new folder, such as a tuned model and its base, or "
        "several seeds. All must have the same architecture, dimensions and tokenizer. quantize stores a model in a "
        "quarter (int8) or half (fp16) of the space; int8 is also faster on processors with fast byte multiplication.",
    .kind = VALUE_TEXT,
    .choices = "list info pull pack merge quantize",
    .max_words = 1 + WT_MAX_MERGED,
    OPTIONS(model_options),
    EXAMPLES(model_examples),
    .run = wt__cmd_model,
};
