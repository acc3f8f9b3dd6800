/* options_catalogue.c: the verbs for the catalogue: add, list, show, remove, status, rename, check and vectors. */
#include "cli/option_macros.h"

#include "import/formats.h"

static const struct cli_option add_options[] = {
    CHOICE(FORMAT, "format", "FORMAT", IMPORT_FORMAT_NAMES, "Format of the source. Default: detected.", .letter = 'f'),
    FLAG(MCP, "mcp",
         "List the tools of MCP servers. SOURCE is a client's configuration (a name that ends in .json), an http:// or "
         "https:// address, or a command: quoted as one word, or as words after --."),
    OPTION(PROVIDER, "provider", TEXT, "NAME", "Provider of the tools; overrides the source's own.", .letter = 'p'),
    FLAG(SYNC, "sync",
         "Remove tools that an earlier import of the same source added and the source no longer contains. A folder "
         "covers all files below it, including deleted ones. A stored OpenAPI operation stays if it is now skipped as "
         "invalid."),
    FLAG(STRICT, "strict", "Import nothing and exit with 3 if a tool is invalid."),
    FLAG(NO_VECTORS, "no-vectors",
         "Do not compute vectors now; `whichtool vectors` or a later add does. Finding by words works at once."),
    NUMBER(TIMEOUT, "timeout", "SECONDS", TIMEOUT_MAX,
           "With --mcp: time limit of a server, from its start to its last tool. Default: 60."),
    MODEL_OPTIONS,
    OWN_TENANT_OPTIONS,
};
static const struct cli_example add_examples[] = {
    {"whichtool add tools.json", "Imports a file and detects its format."},
    {"whichtool add --sync --provider github mcp-github.json",
     "Updates the tools of one server and removes those it dropped."},
    {"curl -s https://example.com/openapi.json | whichtool add --format openapi -",
     "Imports the output of another command."},
    {"whichtool add --mcp ~/.cursor/mcp.json",
     "Starts the MCP servers of a client's configuration and lists their tools."},
    {"whichtool add --mcp -- npx -y @modelcontextprotocol/server-memory",
     "Lists the tools of one server, given as a command."},
    {"whichtool add --mcp https://mcp.example.com/mcp", "Lists the tools of a server at an address."},
};

const struct cli_verb wt__add_verb = {
    .name = "add",
    .arguments = "SOURCE...",
    .summary = "Import tools from files, folders, standard input or MCP servers",
    .text =
        "SOURCE is a file, a folder of files, a BEIR folder, or - for standard input. Recognised formats: MCP tool "
        "lists; function arrays of OpenAI, Anthropic and Gemini; OpenAPI and Swagger documents (JSON or YAML); "
        "RapidAPI descriptions; JSON Lines. Arguments that are credentials, such as api_key, are left out.\n"
        "Each source is imported in one transaction. Unchanged tools are left alone. An invalid tool is reported, "
        "skipped and counted; a source without a valid tool is bad input. Vectors are computed after the import, if a "
        "model is present. An interrupted add keeps the tools, and the next add computes the missing vectors.\n"
        "With --mcp, all servers are started at once, without a shell and with few environment variables, and stopped "
        "after listing. Each server is a source, with its name as provider. If one server fails, the others are still "
        "imported, and the exit code is 6. docs/mcp.md has details.",
    .kind = VALUE_FILE,
    .min_words = 1,
    .max_words = MANY_WORDS,
    OPTIONS(add_options),
    EXAMPLES(add_examples),
    .run = wt__cmd_add,
};

static const struct cli_option list_options[] = {
    OPTION(PROVIDER, "provider", TEXT, "NAME", "Only tools of this provider.", .letter = 'p'),
    FLAG(PROVIDERS, "providers", "List the providers and their number of tools."),
    NUMBER(LIMIT, "limit", "N", WT_MAX_TOOLS, "At most N."),
    NUMBER(OFFSET, "offset", "N", WT_MAX_TOOLS, "Skip the first N."),
    TENANT_OPTIONS,
};
static const struct cli_example list_examples[] = {
    {"whichtool list --providers", "Lists the providers of the catalogue."},
    {"whichtool list issue", "Lists tools with \"issue\" in their id."},
    {"whichtool list 'create_*'", "Lists tools by a name pattern; 'git*/create_*' also matches the provider."},
    {"whichtool list --provider github --json", "Lists one provider's tools as JSON."},
};

const struct cli_verb wt__list_verb = {
    .name = "list",
    .arguments = "[PATTERN]",
    .summary = "List the tools or the providers of the catalogue",
    .text = "Tools are listed in import order. PATTERN matches a part of the id (provider/name), ignoring case. A "
            "PATTERN with * (any characters) or ? (one character) must match the whole name, or with a / the whole id. "
            "Quote it, so that the shell does not expand it.",
    .kind = VALUE_TEXT,
    .max_words = 1,
    OPTIONS(list_options),
    EXAMPLES(list_examples),
    .run = wt__cmd_list,
};

static const struct cli_option show_options[] = {
    FLAG(DEFINITION, "definition", "Print the definition byte for byte as in the source."),
    FLAG(SCHEMA, "schema", "Print the JSON Schema of the arguments."),
    CHOICE(FORMAT, "format", "FORMAT", EXPORT_FORMATS " " LOADING_FORMATS,
           "Print the definition as the provider's API accepts it.", .letter = 'f'),
    TENANT_OPTIONS,
};
static const struct cli_example show_examples[] = {
    {"whichtool show github/create_issue", "Shows one tool."},
    {"whichtool show --format anthropic create_issue", "Prints its definition for another API."},
};

const struct cli_verb wt__show_verb = {
    .name = "show",
    .arguments = "NAME",
    .summary = "Show one tool",
    .text = "NAME is an id such as provider/name, a bare name that is unique, the source's own identifier, or an "
            "exported name of `find --format`.",
    .kind = VALUE_TEXT,
    .min_words = 1,
    .max_words = 1,
    OPTIONS(show_options),
    EXAMPLES(show_examples),
    .run = wt__cmd_show,
};

static const struct cli_option remove_options[] = {
    OPTION(PROVIDER, "provider", TEXT, "NAME", "Remove every tool of this provider.", .letter = 'p'),
    FLAG(YES, "yes", "Do not ask.", .letter = 'y'),
    OWN_TENANT_OPTIONS,
};
static const struct cli_example remove_examples[] = {
    {"whichtool remove github/create_issue", "Removes one tool."},
    {"whichtool remove --yes --provider github", "Removes all tools of a provider without asking."},
};

const struct cli_verb wt__remove_verb = {
    .name = "remove",
    .arguments = "[NAME...]",
    .summary = "Remove tools, or all tools of a provider",
    .text = "NAME is as in show. If a NAME does not exist, no tool is removed. On a terminal, removing more than one "
            "tool asks first, unless --yes is given.",
    .kind = VALUE_TEXT,
    .max_words = MANY_WORDS,
    OPTIONS(remove_options),
    EXAMPLES(remove_examples),
    .run = wt__cmd_remove,
};

static const struct cli_option status_options[] = {MODEL_OPTIONS, TENANT_OPTIONS};
static const struct cli_example status_examples[] = {
    {"whichtool status", "Shows the store and its contents."},
    {"whichtool status --json | jq .untrained", "Prints the number of requests that no training has used."},
};

const struct cli_verb wt__status_verb = {
    .name = "status",
    .arguments = "",
    .summary = "Show tools, vectors, recorded use, trained models and sizes",
    .text = "Shows how many tools have vectors, how many usages no training has used, and for each trained model its "
            "date, data and figure on held-out requests before and after. Also shows which recipe find uses and why.\n"
            "status opens only the store and takes milliseconds; `whichtool check` looks for damage.",
    OPTIONS(status_options),
    EXAMPLES(status_examples),
    .run = wt__cmd_status,
};

static const struct cli_option rename_options[] = {
    FLAG(NO_VECTORS, "no-vectors", "Do not recompute vectors now; the next add does. Finding by words works at once."),
    MODEL_OPTIONS,
};
static const struct cli_example rename_examples[] = {
    {"whichtool rename pet-shop-of-springfield pets",
     "Exported names then begin with the new name, such as pets__list_pets."},
};

const struct cli_verb wt__rename_verb = {
    .name = "rename",
    .arguments = "OLD NEW",
    .summary = "Give a provider another name",
    .text = "The tools keep their usages. Their ids and exported names begin with the new name. Later imports of the "
            "old name use the new name.",
    .kind = VALUE_TEXT,
    .min_words = 2,
    .max_words = 2,
    OPTIONS(rename_options),
    EXAMPLES(rename_examples),
    .run = wt__cmd_rename,
};

static const struct cli_option check_options[] = {
    CHOICE(LEVEL, "level", "LEVEL", "error warning note",
           "Exit with 1 if a finding has this level or a worse one. Default: error."),
    OPTION(RULE, "rule", TEXT, "ID",
           "Only this rule, such as empty-description. May be repeated. The rules about pins need --against.",
           .repeats = true),
    OPTION(
        IGNORE, "ignore", TEXT, "ID[:PATTERN]",
        "Ignore this rule; with a pattern, such as 'unknown-required:shop/get_*', ignore it for matching tools only. "
        "PATTERN is as in --only of find. If a finding names several tools, the first one counts. May be repeated.",
        .repeats = true),
    OPTION(PROVIDER, "provider", TEXT, "NAME",
           "Only findings about tools of this provider. They are still compared with all tools.", .letter = 'p'),
    FLAG(ALL, "all", "Show every finding. By default, the first 5 of each rule."),
    CHOICE(FORMAT, "format", "FORMAT", "text json sarif html",
           "Format of the findings: text to read, one JSON object (like --json), SARIF 2.1.0, or an HTML page. "
           "Default: text.",
           .letter = 'f'),
    OPTION(PIN, "pin", FILE, "FILE", "Write hashes of all current definitions to FILE, and skip the audit."),
    OPTION(AGAINST, "against", FILE, "FILE",
           "Also report definitions that are new, changed or missing since --pin wrote FILE."),
    NUMBER(SEARCHES, "searches", "N", WT_MAX_AUDIT_SEARCHES,
           "Maximum number of test searches of each kind; more requests are sampled. Default: 20000."),
    NUMBER(SEED, "seed", "N", UINT32_MAX, "Random seed of the samples. Default: 1."),
    FLAG(DAMAGE, "damage", "Only look for damage; skip the audit."),
    MODEL_OPTIONS,
};
static const struct cli_example check_examples[] = {
    {"whichtool check", "Audits the catalogue and suggests what to write instead."},
    {"whichtool check --level warning --format sarif > findings.sarif",
     "Writes findings for a code host; exits with 1 if there are warnings."},
    {"whichtool check --pin tools.pins", "Records the current definitions."},
    {"whichtool check --against tools.pins --rule pin-changed --rule pin-new --level warning",
     "Fails if a definition changed or a tool is new."},
    {"whichtool check --ignore claims-priority:shop/checkout", "Ignores one reviewed finding about one tool."},
    {"whichtool check --damage && cp ~/.local/share/whichtool/tools.wt backup.wt",
     "Copies the store after checking it for damage."},
};

const struct cli_verb wt__check_verb = {
    .name = "check",
    .arguments = "",
    .summary = "Look for damage, and audit the catalogue",
    .text = "Reads the whole store and index. Reports damage with a remedy, and exits with 4. Then audits the "
            "catalogue (docs/audit.md): descriptions, schemas, names, hidden characters, tools that no request finds, "
            "copies, and providers that displace others. Each finding suggests what to write instead.",
    OPTIONS(check_options),
    EXAMPLES(check_examples),
    .run = wt__cmd_check,
};

static const struct cli_option vectors_options[] = {MODEL_OPTIONS, OWN_TENANT_OPTIONS};
static const struct cli_example vectors_examples[] = {
    {"whichtool add --no-vectors tools.json && whichtool vectors", "Imports the tools, then computes their vectors."},
};

const struct cli_verb wt__vectors_verb = {
    .name = "vectors",
    .arguments = "",
    .summary = "Compute missing vectors, which finding by meaning needs",
    .text = "A vector represents the meaning of a text. `add` computes one for each tool, unless it ran with "
            "--no-vectors, was interrupted or found no model. This verb computes the missing ones, also for recorded "
            "requests. If the model is missing, it says how to download it.\n"
            "Ctrl-C keeps finished vectors; the next run continues.",
    OPTIONS(vectors_options),
    EXAMPLES(vectors_examples),
    .run = wt__cmd_vectors,
};
