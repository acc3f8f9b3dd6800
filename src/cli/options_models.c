/* options_models.c: the verbs for models: train, distil and model. */
#include "cli/option_macros.h"

static const struct cli_option train_options[] = {
    OPTION(DATA, "data", FOLDER, "DIR",
           "Train on a data set in BEIR layout instead of the store: fit on its train split, select on dev. Given "
           "several times, encoder and cross train on all of them.",
           .repeats = true),
    OPTION(MOST, "most", TEXT, "[NAME=]N",
           "At most N training requests of each data set, or of the data set in the folder NAME, sampled with --seed. "
           "May be repeated. Default: all.",
           .repeats = true),
    OPTION(JOIN, "join", TEXT, "SHARE",
           "For encoder and cross: share of training requests, such as 0.3, that are created by joining two or three "
           "requests of one data set. Off by default."),
    OPTION(OUT, "out", FOLDER, "FOLDER",
           "Output folder, with a subfolder for each model. Required with --data. Default: STORE-models."),
    OPTION(EPOCHS, "epochs", TEXT, "N",
           "Training epochs, such as 2 or 0.5. Default: depends on the number of requests."),
    NUMBER(BATCH, "batch", "N", 65536, "Batch size. Default: 32 for encoder, 8 for cross."),
    NUMBER(ACCUMULATE, "accumulate", "N", 65536,
           "Gradient accumulation: number of batches in a step, to save memory. Default: 1."),
    OPTION(LR, "lr", TEXT, "RATE", "Peak learning rate, such as 5e-5. Default: the model's own."),
    NUMBER(LAYERS, "layers", "N", 1024,
           "For encoder and cross: keep only the first N layers of the model, for a faster model. Default: all. For "
           "refiners: request and candidates meet in the last N layers. Default: 2."),
    NUMBER(FREEZE, "freeze", "N", 1024, "Freeze the embeddings and the first N layers."),
    OPTION(LOSS, "loss", TEXT, "NAME",
           "Training loss. encoder: contrast (default), triplet, softmax, bce or likeness. mlc: contrast (default), "
           "softmax, bce, or kept, which keeps the head that encoder trained with --loss softmax or bce. Refiners and "
           "cross: softmax (default) or bce; cross also both, their sum."),
    OPTION(TEACHER, "teacher", TEXT, "MODEL",
           "Name or folder of the model that teaches --loss likeness the similarity of texts."),
    OPTION(PRECISION, "precision", TEXT, "NAME",
           "Number type: fp32, or bf16 for matrix products in bfloat16 with sums in fp32. Default: bf16 if it is "
           "faster on this processor."),
    NUMBER(CANDIDATES, "candidates", "N", 1024, "Number of candidates that a refiner reranks."),
    OPTION(FIELDS, "fields", TEXT, "A,B",
           "Fields of a tool that encoder or cross reads: some of category, provider, name, description and "
           "parameters. Default: provider,name,description."),
    NUMBER(
        NEGATIVES, "negatives", "N", 8,
        "Number of hard negatives of each request: tools that the data set judges wrong, or else the wrong tools that "
        "the model ranks highest. By default, "
        "encoder uses none and cross uses 4."),
    NUMBER(SIBLINGS, "siblings", "N", 8,
           "For encoder with --loss contrast: number of sibling tools of each request as further hard negatives. These "
           "are tools of a right tool's provider whose names share words with its name, used or not. Off by default."),
    NUMBER(SYNTHETIC, "synthetic", "N", 1000000,
           "For encoder and cross: number of synthetic training requests for each catalogue, made from the tools' "
           "descriptions (inverse cloze task). They complement or replace recorded requests. Off by default."),
    NUMBER(SEED, "seed", "N", UINT32_MAX,
           "Random seed; the same seed and number of threads give the same model. Default: 1."),
    CHOICE(DEV, "dev", "KIND", "use description hybrid head",
           "What to measure on dev for encoder: recall by descriptions and training requests (use, the default), "
           "recall by descriptions only (description), recall of the recipe hybrid, or recall of the head that --loss "
           "softmax or bce trains (head)."),
    NUMBER(DEV_TOOLS, "dev-tools", "N", UINT32_MAX,
           "Measure encoder on dev over N tools of each data set, including all tools that dev requests need, to save "
           "time. Default: all."),
    CHOICE(KEEP, "keep", "WHICH", "best last",
           "Model to keep: the best on dev (default), or the last, which also disables early stopping."),
    FLAG(RESUME, "resume", "Resume an interrupted training with the same options."),
    NUMBER(THREADS, "threads", "N", 256, "Number of threads. Default: one a processor."),
    NUMBER(MEMORY, "memory", "MB", 1 << 24,
           "Memory limit in MB; training that needs more is refused. Default: the machine's available memory."),
    OPTION(CACHE, "cache", FOLDER, "FOLDER", "Cache folder for catalogues of data sets, as in eval."),
    MODEL_OPTIONS,
    OWN_TENANT_OPTIONS,
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
    .text = "Run `whichtool train all` for a store. find then uses the recipe that did best, and `whichtool status` "
            "shows which one.\n"
            "Training data are requests with known tools: the store's recorded use (`whichtool usage add`), or the "
            "train split of a data set in BEIR layout. A tenth of the recorded requests, or the split dev, is held "
            "out. Figures \"on dev\" are measured on held-out requests; a model replaces an earlier one only if it is "
            "better there, and training stops early if it does not improve.\n"
            "MODEL is one of the following, or all of them in this order (all): encoder (the model that computes "
            "vectors); dpr (dense retrieval over the tools' texts); tool2vec, mlc and neighbours (past requests as "
            "embeddings of tools, as classes of a classifier, and as nearest neighbours); two refiners, which rerank "
            "them; auto, which selects among these and their combinations; set (set prediction from auto's hits, for "
            "`pick`); and toolrerank (reranking of dpr's hits by provider). The cross-encoder, cross, is trained only "
            "if named; train toolrerank again after it.\n"
            "Ctrl-C, or even kill -9, loses only minutes: the best model so far is kept, and --resume with the same "
            "options continues. Trained models are folders in the layout of the Hugging Face hub; their config.json "
            "records the training data.",
    .kind = VALUE_LESSON,
    .min_words = 1,
    .max_words = 1,
    OPTIONS(train_options),
    EXAMPLES(train_examples),
    .run = wt__cmd_train,
};

static const struct cli_option distil_options[] = {
    OPTION(DATA, "data", FOLDER, "DIR",
           "Data set in BEIR layout to learn from, instead of the store: its tools' texts and training requests. A "
           "catalogue without requests is enough. May be repeated.",
           .repeats = true),
    OPTION(OUT, "out", FOLDER, "FOLDER", "Folder of the new model. Required; it must not contain a model."),
    NUMBER(DIMENSION, "dimension", "N", 8192,
           "Dimension of the vectors, stored as one byte a number. Default: 256, or the teacher's if that is less."),
    OPTION(EPOCHS, "epochs", TEXT, "N",
           "Epochs of fitting texts to the teacher's vectors. Default: depends on the number of texts."),
    OPTION(CONTRAST_EPOCHS, "contrast-epochs", TEXT, "N",
           "Epochs of contrastive training on requests and their tools. Default: depends on the number of requests."),
    OPTION(SMOOTHING, "smoothing", TEXT, "A",
           "Initial weight of a token: A / (A + p), where p is its share of all tokens. Default: 0.001."),
    OPTION(ABLATE, "ablate", TEXT, "A,B",
           "For experiments: leave out some of weights (of tokens), fit, likeness (of pairs of texts, in the fit), "
           "contrast and merge (keep all changes of contrast instead of half)."),
    NUMBER(SEED, "seed", "N", UINT32_MAX, "Random seed; the same seed gives the same model. Default: 1."),
    NUMBER(THREADS, "threads", "N", 256, "Number of threads. Default: one a processor."),
    OPTION(CACHE, "cache", FOLDER, "FOLDER", "Cache folder for catalogues of data sets, as in eval."),
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
    .text = "A static encoder is a table with one vector for each token; the vector of a text is their sum. It encodes "
            "a text in microseconds instead of milliseconds, and is less accurate than MODEL, its teacher.\n"
            "The table starts from the teacher's vectors of single tokens, is fitted to the teacher's vectors of tool "
            "texts and training requests, and is then trained to bring requests near their tools. The texts come from "
            "the store or from data sets. docs/encoders.md measures each step.\n"
            "Distilling takes minutes, most of them for the teacher. Ctrl-C leaves no model and cannot be resumed.",
    .kind = VALUE_TEXT,
    .min_words = 1,
    .max_words = 1,
    OPTIONS(distil_options),
    EXAMPLES(distil_examples),
    .run = wt__cmd_distil,
};

static const struct cli_option model_options[] = {
    OPTION(WEIGHT, "weight", TEXT, "W", "merge, two models: weight of the second one, 0 to 1. Default: 0.5."),
    CHOICE(PRECISION, "precision", "TYPE", "int8 fp16", "quantize: number type. Default: int8."),
    OPTION(OUT, "out", FOLDER, "FOLDER", "merge, quantize: folder of the new model."),
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
