/* options.h: the command line as one table of verbs, options, arguments and examples, with their help texts. Parser,
 * help, manual page and completions use this table. */
#ifndef WT_CLI_OPTIONS_H
#define WT_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buffer.h"

struct cli;

enum option_id {
    OPT_STORE,
    OPT_JSON,
    OPT_QUIET,
    OPT_NO_COLOR,
    OPT_HELP,
    OPT_VERSION,
    OPT_ABSTAIN,
    OPT_ACCUMULATE,
    OPT_AFTER,
    OPT_ALL,
    OPT_BATCH,
    OPT_BEFORE,
    OPT_CLIENT,
    OPT_NO_ENV,
    OPT_ARGUMENTS,
    OPT_BASE_RETRIEVER,
    OPT_BOOTSTRAP,
    OPT_CACHE,
    OPT_CANDIDATES,
    OPT_CHAT_AT_ONCE,
    OPT_CHAT_MODEL,
    OPT_CHAT_URL,
    OPT_COMPLETE,
    OPT_COMPLETIONS,
    OPT_CONTRAST_EPOCHS,
    OPT_COPIES,
    OPT_AS_TYPED,
    OPT_DATA,
    OPT_DEFINITION,
    OPT_DIMENSION,
    OPT_EPOCHS,
    OPT_EXCLUDE,
    OPT_EXCLUDE_PROVIDER,
    OPT_EXPLAIN,
    OPT_FIELDS,
    OPT_OUT_OF_DOMAIN,
    OPT_FORMAT,
    OPT_HTML,
    OPT_FOLLOW,
    OPT_FOLLOW_PUBLICATION,
    OPT_GRACE,
    OPT_POLL,
    OPT_TOKEN,
    OPT_WATCH,
    OPT_WRITER,
    OPT_WRITER_KEY,
    OPT_LAYERS,
    OPT_FREEZE,
    OPT_K,
    OPT_LIKE,
    OPT_LAYOUT,
    OPT_NOTE_WORDS,
    OPT_RIGHT_FIRST,
    OPT_LIMIT,
    OPT_LOSS,
    OPT_PRECISION,
    OPT_LR,
    OPT_SYNTHETIC,
    OPT_MAN,
    OPT_MAX_PER_PROVIDER,
    OPT_MAX_TOKENS,
    OPT_MCP,
    OPT_MEMORY,
    OPT_MODEL,
    OPT_MODELS,
    OPT_MOST,
    OPT_JOIN,
    OPT_KEEP,
    OPT_DEV,
    OPT_DEV_TOOLS,
    OPT_TEACHER,
    OPT_NEGATIVES,
    OPT_SIBLINGS,
    OPT_NONE_IF_UNSURE,
    OPT_NO_VECTORS,
    OPT_OFFSET,
    OPT_ONLY,
    OPT_ORACLE,
    OPT_OUTCOME,
    OPT_OUT,
    OPT_PROJECT,
    OPT_PROVIDER,
    OPT_PROVIDERS,
    OPT_QRELS,
    OPT_RECIPE,
    OPT_RECIPES,
    OPT_RECORD,
    OPT_REPLAY,
    OPT_REQUEST,
    OPT_RESUME,
    OPT_RUN,
    OPT_WITH_RUN,
    OPT_SCHEMA,
    OPT_SEED,
    OPT_SMOOTHING,
    OPT_SPLIT,
    OPT_SPLIT_BY,
    OPT_STRICT,
    OPT_SYNC,
    OPT_THREADS,
    OPT_TIMED,
    OPT_TIMEOUT,
    OPT_TOOL,
    OPT_TRAINED,
    OPT_USAGES,
    OPT_WEIGHT,
    OPT_ABLATE,
    OPT_VARIANT,
    OPT_YES,
    OPT_MESSAGES,
    OPT_HAVE,
    OPT_SELECTION,
    OPT_GENERATION,
    OPT_SECOND_CHAT_MODEL,
    OPT_PREPARE,
    OPT_VERIFY_CHAT_MODEL,
    OPT_ARGUMENT_CHAT_MODEL,
    OPT_SAMPLES,
    OPT_TOP_P,
    OPT_CONSTRUCTION,
    OPT_CHOICES,
    OPT_DUPLICATE,
    OPT_FROM,
    OPT_FROM_CATALOGUE,
    OPT_HARD,
    OPT_INSTRUCTIONS,
    OPT_NOTES,
    OPT_RELATED,
    OPT_TEMPERATURE,
    OPT_TOOLS,
    OPT_DRAW,
    OPT_EXAMPLES,
    OPT_ITEMS,
    OPT_NO_POLISH,
    OPT_ONE_TOOL,
    OPT_ROUND_TRIP,
    OPT_TEST,
    OPT_TRIAL,
    OPT_TRIAL_LIMIT,
    OPT_UNANSWERABLE,
    OPT_WITHIN,
    OPT_SUMMARY,
    OPT_SERVERS,
    OPT_FACE,
    OPT_POLICY,
    OPT_PROFILE,
    OPT_AUDIT,
    OPT_AUDIT_KEY,
    OPT_ROTATE,
    OPT_BARE_NAMES,
    OPT_LEARN,
    OPT_CALL_TIMEOUT,
    OPT_PASS_HEADER,
    OPT_LIST_WAIT,
    OPT_REVIEW_FIRST,
    OPT_LOCK,
    OPT_BUDGET,
    OPT_AGAINST,
    OPT_DAMAGE,
    OPT_DRY_RUN,
    OPT_IGNORE,
    OPT_LEVEL,
    OPT_PIN,
    OPT_RULE,
    OPT_SEARCHES,
    OPT_COMBINATIONS,
    OPT_FIRST,
    OPT_KEEP_ALL,
    OPT_LABELS,
    OPT_LARGEST,
    OPT_REQUESTS,
    OPT_RETRIES,
    OPT_SECOND,
    OPT_SMALLEST,
    OPT_HOST,
    OPT_KEYS,
    OPT_LISTEN,
    OPT_LOG,
    OPT_LOG_REQUESTS,
    OPT_LOG_LEVEL,
    OPT_OTLP_ENDPOINT,
    OPT_TRACE_REQUESTS,
    OPT_DRAIN_SECONDS,
    OPT_UNTIL_EOF,
    OPT_NEW_KEY,
    OPT_ORIGIN,
    OPT_QUEUE,
    OPT_SCOPES,
    OPT_TENANT,
    OPT_OWN,
    OPT_TENANTS,
    OPT_TIME_LIMIT,
    OPT_WORKERS,
    OPT_COUNT
};

/* Kind of an option's value or a verb's arguments, which decides validation and completion. */
enum value_kind {
    VALUE_NONE,
    VALUE_TEXT,
    VALUE_NUMBER,
    VALUE_CHOICE,
    VALUE_RECIPE,
    VALUE_LESSON,
    VALUE_FILE,
    VALUE_FOLDER,
    VALUE_VERB
};

struct cli_option {
    enum option_id id;
    enum value_kind kind;
    const char *name;
    const char *value;   /* name of the value in help */
    const char *choices; /* values of VALUE_CHOICE, separated by blanks */
    uint64_t max;        /* maximum of VALUE_NUMBER; the minimum is 1, or 0 with or_zero */
    const char *help;    /* one or two sentences */
    char letter;         /* 0 if absent */
    bool repeats;        /* may be repeated; the values become lines of arguments.text */
    bool or_zero;        /* 0 is allowed for VALUE_NUMBER */
    bool one_line;       /* true to replace line ends in the value by blanks, since JSON may span lines */
};

struct cli_example {
    const char *command, *says;
};

struct cli_verb {
    const char *name, *arguments;
    const char *summary;  /* one line */
    const char *text;     /* paragraphs, separated by \n */
    enum value_kind kind; /* kind of the arguments */
    const char *choices;  /* values of the first argument; NULL if any */
    size_t min_words, max_words;
    const struct cli_option *options;
    size_t option_count;
    const struct cli_example *examples;
    size_t example_count;
    int (*run)(struct cli *cli);
};

/* A word of a list in the help, such as an exit code, and its meaning. */
struct cli_meaning {
    const char *word, *means;
};

/* Rows of wt__verbs, by file: options_find.c, options_catalogue.c, options_models.c, options_data.c,
 * options_serve.c. */
extern const struct cli_verb wt__find_verb, wt__pick_verb, wt__call_verb;
extern const struct cli_verb wt__add_verb, wt__list_verb, wt__show_verb, wt__remove_verb, wt__status_verb,
    wt__rename_verb, wt__check_verb, wt__vectors_verb;
extern const struct cli_verb wt__train_verb, wt__distil_verb, wt__model_verb;
extern const struct cli_verb wt__usage_verb, wt__eval_verb, wt__generate_verb;
extern const struct cli_verb wt__mcp_verb, wt__publish_verb, wt__serve_verb, wt__tenants_verb;

extern const struct cli_verb *const wt__verbs[];
extern const size_t wt__verb_count;
extern const struct cli_option wt__global_options[];
extern const size_t wt__global_option_count;
extern const struct cli_meaning wt__exit_codes[], wt__environment[], wt__files[];
extern const size_t wt__exit_code_count, wt__environment_count, wt__file_count;
extern const char wt__purpose[]; /* one sentence */

enum { MANY_WORDS = 100000 }; /* max_words of verbs that accept any number of words */

/* ---------------------------------------------------------------- parser */

struct arguments {
    const struct cli_verb *verb; /* NULL if absent */
    bool given[OPT_COUNT];
    const char *text[OPT_COUNT]; /* NULL if absent; one line for each value of a repeatable option */
    uint64_t number[OPT_COUNT];  /* 0 if absent */
    const char **words;          /* [word_count], borrowed from argv */
    size_t word_count;
    struct arena arena; /* memory of joined texts */
};

/* Parses argv. Options may come before or after words; "--" ends the options. Returns 0, or -1 with a message
 * in `why`. */
int wt__arguments_parse(struct arguments *out, int argc, char **argv, struct buffer *why);
void wt__arguments_dispose(struct arguments *arguments);

const struct cli_verb *wt__verb_find(const char *name);

/* Look up an option by index, name [len] or letter, first among the options of the verb (skipped if NULL), then among
 * the global options. Return NULL if not found. */
const struct cli_option *wt__option_at(const struct cli_verb *verb, size_t index);
const struct cli_option *wt__option_named(const struct cli_verb *verb, const char *name, size_t len);
const struct cli_option *wt__option_lettered(const struct cli_verb *verb, char letter);

/* True if the word is one of the choices, which are separated by blanks. */
bool wt__is_choice(const char *choices, const char *word);

/* Appends the names of trainable models, separated by blanks. */
void wt__put_lesson_names(struct buffer *out);

/* ---------------------------------------------------------------- suggestions */

/* Returns the word closest to `word`, ignoring case; NULL if all are NEAREST_EDITS or more edits away.
 * next returns the lower-case candidates by index, and NULL after the last. */
const char *wt__closest_word(const char *word, const char *(*next)(const void *context, size_t index),
                             const void *context);

/* Appends "; did you mean `find`?" or another hint, if there is one, to a message on an unknown verb. */
void wt__suggest_verb(struct buffer *out, const char *word);

/* Returns the name of the option that other programs call `name`, if the verb (unless NULL) or the global options have
 * it; else NULL. */
const char *wt__suggest_option(const struct cli_verb *verb, const char *name);

#endif
