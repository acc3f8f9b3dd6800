/* options.c: the table of verbs, global options, exit codes, environment and files. The verbs' own options, examples
 * and texts are in options_*.c. */
#include "cli/option_macros.h"

const char wt__purpose[] = "find the few right tools for a request, out of hundreds to a million";

const struct cli_option wt__global_options[] = {
    OPTION(STORE, "store", FILE, "FILE",
           "Store of the catalogue, created if missing: a file, or postgres://USER@HOST/DATABASE. Default: "
           "$WHICHTOOL_STORE, else tools.wt in the data folder.",
           .letter = 's'),
    FLAG(JSON, "json", "Print JSON on standard output, one object a line."),
    FLAG(QUIET, "quiet", "Suppress notes, timings and progress on standard error.", .letter = 'q'),
    FLAG(NO_COLOR, "no-color", "Disable colours, as NO_COLOR does."),
    FLAG(HELP, "help", "Show help for the verb or the command.", .letter = 'h'),
    FLAG(VERSION, "version", "Print the version."),
};
const size_t wt__global_option_count = COUNT(wt__global_options);

static const struct cli_option help_options[] = {
    FLAG(RECIPES, "recipes", "List the recipes of find, pick and eval."),
    FLAG(MAN, "man", "Print the manual page."),
    CHOICE(COMPLETIONS, "completions", "SHELL", "bash zsh fish", "Print the completions for a shell."),
    FLAG(FOLLOW, "follow",
         "Print completions for the words after --. The first line names the kind: words (on the next lines), files, "
         "folders or stores."),
};
static const struct cli_example help_examples[] = {
    {"whichtool help find", "Shows help for one verb."},
    {"eval \"$(whichtool help --completions bash)\"", "Enables completions in the running shell."},
};

static const struct cli_verb version_verb = {
    .name = "version",
    .arguments = "",
    .summary = "Print the version",
    .text = "The command and its library have the same version.",
    .run = wt__cmd_version,
};

static const struct cli_verb help_verb = {
    .name = "help",
    .arguments = "[VERB]",
    .summary = "Show help for the command or a verb",
    .text = "Without VERB, lists all verbs.",
    .kind = VALUE_VERB,
    .max_words = MANY_WORDS,
    OPTIONS(help_options),
    EXAMPLES(help_examples),
    .run = wt__cmd_help,
};

const struct cli_verb *const wt__verbs[] = {
    &wt__add_verb,    &wt__find_verb,    &wt__pick_verb,     &wt__call_verb,  &wt__list_verb,    &wt__show_verb,
    &wt__remove_verb, &wt__status_verb,  &wt__rename_verb,   &wt__check_verb, &wt__vectors_verb, &wt__usage_verb,
    &wt__eval_verb,   &wt__train_verb,   &wt__generate_verb, &wt__mcp_verb,   &wt__distil_verb,  &wt__model_verb,
    &wt__serve_verb,  &wt__publish_verb, &wt__tenants_verb,  &version_verb,   &help_verb,
};
const size_t wt__verb_count = COUNT(wt__verbs);

const struct cli_meaning wt__exit_codes[] = {
    {"0", "Done."},
    {"1", "No tool was found; check: the audit has findings."},
    {"2", "Invalid command line."},
    {"3", "Invalid input: a source, a request or a data set."},
    {"4", "The store is empty, damaged, locked, or cannot be read or written."},
    {"5", "A required model or training is missing or damaged, or --complete cannot be met."},
    {"6", "The network or an MCP server failed; serve: cannot listen on the address."},
    {"7", "Out of memory, disk full, or an I/O error."},
    {"8", "A call lacks an argument or needs an answer."},
    {"124", "Timeout."},
    {"130", "Interrupted by Ctrl-C."},
};
const size_t wt__exit_code_count = COUNT(wt__exit_codes);

const struct cli_meaning wt__environment[] = {
    {"WHICHTOOL_STORE", "Store file, unless -s is given."},
    {"WHICHTOOL_MODELS", "Folder of the models, unless --models is given."},
    {"OPENAI_BASE_URL", "Server of the language model, unless --chat-url is given."},
    {"OPENAI_API_KEY",
     "API key of the language model's server, sent if set. OPENAI_ORG_ID and OPENAI_PROJECT_ID are sent with it."},
    {"XDG_DATA_HOME", "Parent of the data folder `whichtool`. Default: ~/.local/share."},
    {"XDG_CACHE_HOME", "Parent of the cache folder `whichtool`. Default: ~/.cache."},
    {"COLUMNS", "Width of tables. Default: the terminal's width. Output to a pipe or a file is not cut."},
    {"NO_COLOR", "Disables colours if set, like --no-color. TERM=dumb disables them as well."},
};
const size_t wt__environment_count = COUNT(wt__environment);

const struct cli_meaning wt__files[] = {
    {"tools.wt", "Data folder: the store. The index in tools.wt-index/ can be rebuilt."},
    {"tools.wt-tenants.jsonl", "Data folder: the tenants of the store, unless --tenants is given."},
    {"models/", "Data folder: one folder for each model."},
    {"eval/", "Cache folder: catalogues of evaluated data sets. May be deleted."},
};
const size_t wt__file_count = COUNT(wt__files);
