/* complete.c: prints completion candidates for the last word of a command line. The words before it are parsed as in
 * parse.c, but without reporting errors. They determine the kind of candidates: verbs, options, values or names. Tools
 * are offered like files: first the providers, then the tools of one provider. */

#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

#include "recipe/recipes.h"

enum {
    FOLLOW_MOST = 1000, /* maximum number of offered tools, and of offered providers */
    HELP_COLUMNS = 60,  /* maximum columns of a description */
    BUSY_MS = 200       /* maximum wait for a locked store; short, because the user waits */
};

struct completion_state {
    struct cli *cli;
    struct buffer *out;
    struct str lead, word; /* fixed part of the last word, such as "--format=" or "bm25,", and the part to complete */
    const struct cli_verb *verb;
    const char *store, *models; /* values of --store and --models; NULL if absent */
    const char *first;          /* first word after the verb; NULL before it */
    size_t words;
    bool given[OPT_COUNT];
    bool words_only;               /* after "--" */
    const struct cli_option *open; /* option that expects a value, or NULL */
    wt_engine *engine;             /* opened on demand; NULL before that, or if the store cannot be opened */
};

/* ---------------------------------------------------------------- candidates */

/* True if escaping does not change the value, so that it can be printed as it is. */
static bool is_plain_text(struct str value)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer shown = {0};
    wt__text_escape(&shown, value, TEXT_LINE);
    return !shown.failed && wt__str_equal(wt__buffer_view(&shown), value);
}

static void offer_candidate(struct completion_state *f, struct str value, const char *help)
{
    if (!wt__str_starts(value, f->word) || value.len == 0 || !is_plain_text(value))
        return;
    if (f->lead.len == 0 && !f->open && value.ptr[0] == '-' && f->word.len == 0 && !f->words_only)
        return; /* the tool's name would be parsed as an option */
    wt__buffer_str(f->out, f->lead);
    wt__buffer_str(f->out, value);
    if (help && *help) {
        const char *end = strstr(help, ". ");
        size_t len = end ? (size_t)(end - help) : strlen(help);
        wt__buffer_char(f->out, '\t');
        wt__text_cut(f->out, (struct str){help, len - (len > 0 && help[len - 1] == '.')}, HELP_COLUMNS);
    }
    wt__buffer_char(f->out, '\n');
}

/* Offers the items of a list separated by blanks. */
static void offer_choices(struct completion_state *f, const char *choices)
{
    for (const char *at = choices; *at;) {
        size_t len = strcspn(at, " ");
        offer_candidate(f, (struct str){at, len}, NULL);
        at += len + (at[len] == ' ');
    }
}

static void leave_to_shell(struct completion_state *f, const char *who)
{
    wt__buffer_clear(f->out);
    wt__buffer_printf(f->out, "%s\n", who);
}

static void offer_verbs(struct completion_state *f)
{
    for (size_t i = 0; i < wt__verb_count; i++)
        offer_candidate(f, wt__str(wt__verbs[i]->name), wt__verbs[i]->summary);
}

static void offer_lessons(struct completion_state *f)
{
    const wt_lesson *lesson;
    for (size_t i = 0; (lesson = wt_lesson_at(i)); i++)
        offer_candidate(f, wt__str(lesson->name), lesson->summary);
    offer_candidate(f, STR("all"), "All of them, in this order");
}

static void offer_models(struct completion_state *f, bool installed)
{
    wt_models *models;
    if (memchr(f->word.ptr, '/', f->word.len)) {
        leave_to_shell(f, "folders");
        return;
    }
    if (wt_model_list(f->models, &models, NULL) < 0)
        return;
    for (size_t i = 0; i < models->len; i++)
        if (models->items[i]->installed || !installed)
            offer_candidate(f, wt__str(models->items[i]->name), NULL);
    wt_models_free(models);
}

/* Offers models for an action of `model`; merge takes several. */
static void offer_models_for(struct completion_state *f)
{
    bool merge = strcmp(f->first, "merge") == 0;
    if (strcmp(f->first, "list") != 0 && (merge || f->words == 1))
        offer_models(f, strcmp(f->first, "pull") != 0 && strcmp(f->first, "info") != 0);
}

/* ---------------------------------------------------------------- candidates of the store */

static wt_engine *open_completion_engine(struct completion_state *f)
{
    wt_open_options options;
    if (f->engine || (!f->store && wt__cli_find_store(f->cli) != 0))
        return f->engine;
    wt_open_options_init(&options);
    options.read_only = 1;
    options.busy_ms = BUSY_MS;
    options.models_dir = f->models;
    if (wt_open(&f->engine, f->store ? f->store : f->cli->store, &options, NULL) < 0)
        f->engine = NULL;
    return f->engine;
}

static wt_status *read_store_status(struct completion_state *f)
{
    wt_status *status = NULL;
    if (!open_completion_engine(f) || wt_get_status(f->engine, &status, NULL) < 0)
        return NULL;
    return status;
}

static void offer_providers(struct completion_state *f)
{
    wt_status *status = read_store_status(f);
    for (size_t i = 0; status && i < status->provider_count && i < FOLLOW_MOST; i++)
        offer_candidate(f, wt__str(status->providers[i]->name), NULL);
    wt_status_free(status);
}

/* Offers the tools of a provider ("" for none) whose ids start with the word; all tools if the word ends within the
 * provider's name. */
static void offer_tools_of(struct completion_state *f, const char *provider)
{
    wt_list_options options;
    wt_tools *tools;
    WT_CLEANUP(wt__buffer_dispose) struct buffer pattern = {0};
    bool all = *provider && f->word.len <= strlen(provider);
    wt__buffer_str(&pattern, f->word);
    wt__buffer_char(&pattern, '*');
    wt_list_options_init(&options);
    options.provider = provider;
    options.pattern = all || pattern.failed ? NULL : pattern.ptr;
    options.limit = FOLLOW_MOST;
    if (wt_list(f->engine, &options, &tools, NULL) == 0) {
        for (size_t i = 0; i < tools->len; i++)
            offer_candidate(f, wt__str(tools->items[i]->id), tools->items[i]->description);
        wt_tools_free(tools);
    }
}

/* Offers matching providers as folders. Offers the tools without a provider, and the tools of a provider that is typed
 * completely or is the only match. */
static void offer_tools(struct completion_state *f)
{
    wt_status *status = read_store_status(f);
    const char *only = NULL;
    size_t begun = 0;
    for (size_t i = 0; status && i < status->provider_count && begun < FOLLOW_MOST; i++) {
        const char *name = status->providers[i]->name;
        size_t len = strlen(name);
        bool whole = f->word.len > len && f->word.ptr[len] == '/' && memcmp(f->word.ptr, name, len) == 0;
        if (len == 0 || whole) {
            offer_tools_of(f, name);
        } else if (wt__str_starts(wt__str(name), f->word)) {
            begun++;
            only = name;
        }
    }
    for (size_t i = 0; begun > 1 && i < status->provider_count && begun <= FOLLOW_MOST; i++) {
        WT_CLEANUP(wt__buffer_dispose) struct buffer folder = {0};
        wt__buffer_printf(&folder, "%s/", status->providers[i]->name);
        if (folder.len > 1)
            offer_candidate(f, wt__buffer_view(&folder), NULL);
    }
    if (begun == 1)
        offer_tools_of(f, only);
    wt_status_free(status);
}

/* True if all models of the recipe are trained and fit the encoder. */
static bool is_recipe_trained(const struct recipe *recipe, const wt_status *status)
{
    for (const char *at = recipe->lessons; *at;) {
        size_t len = strcspn(at, " ");
        bool there = false;
        for (size_t i = 0; i < status->trained_count && !there; i++)
            there =
                !status->trained[i]->stale && wt__str_equal(wt__str(status->trained[i]->lesson), (struct str){at, len});
        if (!there)
            return false;
        at += len + (at[len] == ' ');
    }
    return true;
}

/* Offers the recipes that can run with the store and the models. For eval, offers all recipes. For --recipe of pick,
 * offers the recipes that return a set, except those for --complete (set-N). For any other option, offers the recipes
 * that return a ranking. */
static void offer_recipes(struct completion_state *f, enum option_id option)
{
    bool all = strcmp(f->verb->name, "eval") == 0, picks = strcmp(f->verb->name, "pick") == 0;
    wt_status *status = all ? NULL : read_store_status(f);
    const wt_recipe *recipe;
    picks = picks && option == OPT_RECIPE;
    for (size_t i = 0; (recipe = wt_recipe_at(i)); i++) {
        bool fits = all || (!recipe->picks == !picks && !(recipe->picks && recipe->complete > 0));
        bool model = all || !recipe->needs_model || !status || status->model_installed;
        bool trained =
            all || !recipe->needs_training || (status && is_recipe_trained(wt__recipe_named(recipe->name), status));
        if (fits && model && trained)
            offer_candidate(f, wt__str(recipe->name), recipe->summary);
    }
    if (!picks)
        offer_candidate(f, STR("auto"), "The best recipe that the store and the model allow");
    wt_status_free(status);
}

/* ---------------------------------------------------------------- parsing the line */

static void take_option_value(struct completion_state *f, const struct cli_option *option, const char *value)
{
    if (option->id == OPT_STORE)
        f->store = *value ? value : NULL;
    else if (option->id == OPT_MODELS)
        f->models = value;
    f->given[option->id] = true;
    f->open = NULL;
}

static void read_line_option(struct completion_state *f, const char *word)
{
    const char *equals = strchr(word, '=');
    const struct cli_option *option = NULL;
    if (word[1] == '-')
        option = wt__option_named(f->verb, word + 2, equals ? (size_t)(equals - word) - 2 : strlen(word) - 2);
    else
        for (const char *c = word + 1; *c; c++) {
            option = wt__option_lettered(f->verb, *c);
            if (option && option->kind != VALUE_NONE && c[1]) {
                take_option_value(f, option, c + 1 + (c[1] == '='));
                return;
            }
            if (option)
                f->given[option->id] = true;
        }
    if (!option)
        return;
    f->given[option->id] = true;
    if (option->kind != VALUE_NONE && word[1] == '-' && equals)
        take_option_value(f, option, equals + 1);
    else if (option->kind != VALUE_NONE)
        f->open = option;
}

/* Reads the words before the last one. Returns false if the verb is unknown. */
static bool read_line_words(struct completion_state *f, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *word = words[i];
        if (f->open) {
            take_option_value(f, f->open, word);
        } else if (!f->words_only && strcmp(word, "--") == 0) {
            f->words_only = true;
        } else if (!f->words_only && word[0] == '-' && word[1]) {
            read_line_option(f, word);
        } else if (f->verb) {
            f->first = f->words++ ? f->first : word;
        } else if (!(f->verb = wt__verb_find(word))) {
            return false;
        }
    }
    return true;
}

/* ---------------------------------------------------------------- completion by place */

/* Moves the start of the word behind its last comma, so that the last item of a list is completed. */
static void move_behind_comma(struct completion_state *f)
{
    for (size_t i = f->word.len; i > 0; i--)
        if (f->word.ptr[i - 1] == ',') {
            f->lead.len += i; /* the word follows its lead in memory */
            f->word = (struct str){f->word.ptr + i, f->word.len - i};
            return;
        }
}

/* True for --provider and other options that take a provider's name. */
static bool takes_provider(const struct cli_option *option)
{
    static const char name[] = "provider";
    size_t len = strlen(option->name), tail = sizeof name - 1;
    return option->kind == VALUE_TEXT && len >= tail && strcmp(option->name + len - tail, name) == 0;
}

static void offer_value(struct completion_state *f, const struct cli_option *option)
{
    if (option->id == OPT_STORE)
        leave_to_shell(f, "stores");
    else if (takes_provider(option))
        offer_providers(f);
    else if (option->id == OPT_TOOL)
        offer_tools(f);
    else if (option->id == OPT_MODEL)
        offer_models(f, true);
    else if (option->kind == VALUE_CHOICE)
        offer_choices(f, option->choices);
    else if (option->kind == VALUE_FILE || option->kind == VALUE_FOLDER)
        leave_to_shell(f, option->kind == VALUE_FILE ? "files" : "folders");
    else if (option->kind == VALUE_RECIPE) {
        if (strchr(option->value, ','))
            move_behind_comma(f);
        offer_recipes(f, option->id);
    }
}

static void offer_options(struct completion_state *f)
{
    const struct cli_option *option;
    for (size_t i = 0; (option = wt__option_at(f->verb, i)); i++) {
        WT_CLEANUP(wt__buffer_dispose) struct buffer name = {0};
        bool usage = f->verb && strcmp(f->verb->name, "usage") == 0 && f->first && i < f->verb->option_count;
        if ((f->given[option->id] && !option->repeats) || (usage && !wt__usage_allows(f->first, option->id)))
            continue;
        wt__buffer_printf(&name, "--%s", option->name);
        offer_candidate(f, wt__buffer_view(&name), option->help);
    }
}

/* Offers candidates for the verb's next word. */
static void offer_word(struct completion_state *f)
{
    const struct cli_verb *verb = f->verb;
    bool first = f->words == 0;
    if (f->words >= verb->max_words)
        return;
    if (verb->choices && first)
        offer_choices(f, verb->choices);
    else if (verb->run == wt__cmd_model)
        offer_models_for(f);
    else if (verb->run == wt__cmd_usage && (strcmp(f->first, "add") != 0 || f->given[OPT_REQUEST]))
        return;
    else if (verb->run == wt__cmd_show || verb->run == wt__cmd_remove || verb->run == wt__cmd_list)
        offer_tools(f);
    else if (verb->run == wt__cmd_rename && first)
        offer_providers(f);
    else if (verb->kind == VALUE_LESSON)
        offer_lessons(f);
    else if (verb->kind == VALUE_VERB)
        offer_verbs(f);
    else if (verb->kind == VALUE_FILE || verb->kind == VALUE_FOLDER)
        leave_to_shell(f, verb->kind == VALUE_FILE ? "files" : "folders");
}

void wt__complete_line(struct cli *cli, const char *const *words, size_t count, struct buffer *out)
{
    const char *last = count > 0 ? words[count - 1] : "", *equals = strchr(last, '=');
    struct completion_state f = {.cli = cli, .out = out, .lead = {last, 0}, .word = wt__str(last)};
    wt__buffer_text(out, "words\n");
    if (!read_line_words(&f, words, count > 0 ? count - 1 : 0))
        return;
    if (f.open) {
        offer_value(&f, f.open);
    } else if (!f.words_only && last[0] == '-' && last[1] == '-' && equals) {
        f.open = wt__option_named(f.verb, last + 2, (size_t)(equals - last) - 2);
        f.lead.len = (size_t)(equals - last) + 1;
        f.word = wt__str(equals + 1);
        if (f.open && f.open->kind != VALUE_NONE)
            offer_value(&f, f.open);
    } else if (!f.words_only && last[0] == '-') {
        offer_options(&f);
    } else if (f.verb) {
        offer_word(&f);
    } else {
        offer_verbs(&f);
    }
    wt_close(f.engine);
}
