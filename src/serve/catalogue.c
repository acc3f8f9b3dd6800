/* catalogue.c: the catalogue as an MCP server: its list of tools, its summary, and resources.
 *
 * A resource is a tool's definition, so that a person can attach the definition to a conversation. Its URI is the
 * tool's id after CATALOGUE_URI. Lists are in import order; completion filters ids by the typed text. */
#include "serve/internal.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "engine/engine.h"
#include "store/store.h"
#include "wire/body.h"

enum { SHOWN_MAX = 64 }; /* maximum number of names in a summary */

/* True if a provider's name is safe to show to a model. Such a name is short, has few words, and consists of letters,
 * digits and separators. */
static bool is_plain_provider_name(const char *name)
{
    size_t len = strlen(name), words = 1;
    if (len == 0 || len > SUMMARY_NAME_BYTES_MAX)
        return false;
    for (size_t i = 0; i < len; i++) {
        bool is_plain = wt__is_letter(name[i]) || wt__is_digit(name[i]);
        if (!is_plain && (i == 0 || !strchr(" ._-/", name[i])))
            return false;
        words += !is_plain;
    }
    return words <= SUMMARY_NAME_WORDS_MAX;
}

static int compare_provider_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void wt__catalogue_summary(struct buffer *out, const char *const *names, size_t count, size_t bytes)
{
    static const char begin[] = "Tools of ", others[] = " and others.";
    const char *shown[SHOWN_MAX];
    size_t shown_count = 0, used = sizeof begin + sizeof others;
    for (size_t i = 0; i < count && shown_count < SHOWN_MAX; i++) {
        const char *name = names[i];
        size_t len = strlen(name) + 2;
        if (!is_plain_provider_name(name))
            continue;
        if (used + len > bytes)
            break;
        shown[shown_count++] = name;
        used += len;
    }
    if (shown_count == 0)
        return;
    qsort(shown, shown_count, sizeof *shown, compare_provider_names);
    wt__buffer_text(out, begin);
    for (size_t i = 0; i < shown_count; i++) {
        wt__buffer_text(out, i == 0 ? "" : ", ");
        wt__buffer_text(out, shown[i]);
    }
    wt__buffer_text(out, shown_count < count ? others : ".");
}

/* ---------------------------------------------------------------- resources */

enum {
    LISTED = 200,    /* tools read from the store at once */
    COMPLETED = 101, /* ids read for a completion: one more than the client gets, to detect that more exist */
};

static const char template_definition[] =
    "{\"name\":\"tool\",\"title\":\"A tool's definition\",\"uriTemplate\":\"" CATALOGUE_URI
    "{+id}\",\"mimeType\":\"application/json\"}";

static bool is_uri_character(char c)
{
    return wt__is_letter(c) || wt__is_digit(c) || (c && strchr("-._~/", c));
}

static void put_tool_uri(struct buffer *out, const char *id)
{
    wt__buffer_text(out, CATALOGUE_URI);
    for (const char *c = id; *c; c++)
        wt__buffer_printf(out, is_uri_character(*c) ? "%c" : "%%%02X", (unsigned char)*c);
}

/* Returns the id, allocated in the arena, or NULL if the URI is invalid. */
static const char *read_tool_uri(struct arena *arena, struct str uri)
{
    char *id = NULL;
    size_t begin = sizeof CATALOGUE_URI - 1;
    if (!wt__str_starts(uri, STR(CATALOGUE_URI)) ||
        wt__percent_decode(&id, arena, (struct str){uri.ptr + begin, uri.len - begin}, false, NULL) < 0)
        return NULL;
    return id;
}

static bool add_resource(struct mcp_call *call, const wt_tool *tool, size_t position)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer item = {0}, uri = {0};
    char key[24];
    snprintf(key, sizeof key, "%zu", position);
    put_tool_uri(&uri, tool->id);
    wt__mcp_put_text(&item, "{\"uri\":", wt__buffer_view(&uri));
    wt__mcp_put_text(&item, ",\"name\":", wt__str(tool->id));
    wt__buffer_text(&item, ",\"mimeType\":\"application/json\"}");
    return !item.failed && !uri.failed && wt__mcp_add_item(call, wt__str(key), wt__buffer_view(&item));
}

/* Parses the key of a page, a position in import order. If tools are removed between two pages, the client may miss
 * other tools. */
static bool read_position(struct str after, size_t *position)
{
    *position = 0;
    for (size_t i = 0; i < after.len; i++) {
        if (!wt__is_digit(after.ptr[i]) || *position > WT_MAX_TOOLS)
            return false;
        *position = 10 * *position + (size_t)(after.ptr[i] - '0');
    }
    return true;
}

static void list_tool_resources(void *context, struct mcp_call *call, struct str after)
{
    const struct mcp_catalogue *catalogue = context;
    WT_CLEANUP(wt__tenant_hold_end) struct tenant_hold hold = {0};
    wt_list_options options;
    wt_list_options_init(&options);
    options.limit = LISTED;
    if (!read_position(after, &options.offset)) {
        wt__mcp_refuse_cursor(call);
        return;
    }
    if (!wt__catalogue_take_engine(catalogue, call, &hold))
        return;
    for (bool more = true; more; options.offset += LISTED) {
        wt_tools *listed = NULL;
        wt_error err;
        if (wt_list(hold.engine, &options, &listed, &err) < 0) {
            wt__mcp_refuse_error(call, &err);
            return;
        }
        size_t added = 0;
        while (added < listed->len && add_resource(call, listed->items[added], options.offset + added + 1))
            added++;
        more = added == LISTED;
        wt_tools_free(listed);
    }
}

static void list_tool_templates(void *context, struct mcp_call *call, struct str after)
{
    (void)context;
    if (after.len == 0)
        wt__mcp_add_item(call, STR("tool"), wt__str(template_definition));
    else if (!wt__str_equal(after, STR("tool")))
        wt__mcp_refuse_cursor(call);
}

static void read_tool_resource(void *context, struct mcp_call *call, struct str uri)
{
    const struct mcp_catalogue *catalogue = context;
    WT_CLEANUP(wt__buffer_dispose) struct buffer definition = {0};
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    WT_CLEANUP(wt__tenant_hold_end) struct tenant_hold hold = {0};
    wt_tools *found = NULL;
    const char *id = read_tool_uri(&arena, uri);
    if (!wt__catalogue_take_engine(catalogue, call, &hold))
        return;
    if (!id || wt_get(hold.engine, id, &found, NULL) < 0) {
        wt__mcp_refuse_unknown(call);
    } else {
        wt__catalogue_definition(&definition, found->items[0], "");
        if (definition.failed)
            wt__mcp_refuse(call, MCP_INTERNAL_ERROR, "out of memory");
        else
            wt__mcp_add_contents(call, uri, "application/json", wt__buffer_view(&definition), (struct str){0});
    }
    wt_tools_free(found);
}

static void complete_tool_id(void *context, struct mcp_call *call, const struct mcp_completion *what)
{
    const struct mcp_catalogue *catalogue = context;
    WT_CLEANUP(wt__buffer_dispose) struct buffer pattern = {0};
    WT_CLEANUP(wt__tenant_hold_end) struct tenant_hold hold = {0};
    wt_list_options options;
    wt_tools *listed = NULL;
    if (what->of_prompt || !wt__str_equal(what->argument, STR("id")))
        return;
    if (!wt__catalogue_take_engine(catalogue, call, &hold))
        return;
    wt__buffer_str(&pattern, what->value);
    wt_list_options_init(&options);
    options.limit = COMPLETED;
    options.pattern = pattern.ptr;
    if (!pattern.failed && wt_list(hold.engine, &options, &listed, NULL) >= 0)
        for (size_t i = 0; i < listed->len; i++)
            wt__mcp_add_value(call, wt__str(listed->items[i]->id));
    wt_tools_free(listed);
}

/* ---------------------------------------------------------------- tools */

/* The model reads the descriptions as instructions: they say when to use each tool. */
static const struct {
    const char *name, *title, *description;
    const char *schema;
    void (*run)(struct mcp_catalogue *catalogue, struct mcp_call *call);
    bool waits, is_summarised;
} tools[CATALOGUE_TOOLS] = {
    {"search_tools", "Search tools",
     "Finds tools for a task, best first, with their definitions. Say one task in plain words.",
     "{\"type\":\"object\",\"properties\":{"
     "\"query\":{\"type\":\"string\",\"minLength\":1,\"description\":\"such as: invite Ada to the channel\"},"
     "\"k\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":50,\"default\":5},"
     "\"detail\":{\"enum\":[\"name\",\"brief\",\"full\"],\"default\":\"full\"},"
     "\"provider\":{\"type\":\"string\"}},"
     "\"required\":[\"query\"],\"additionalProperties\":false}",
     wt__catalogue_search, false, true},
    {"get_tool_details", "Tool details", "Whole definitions of tools that search_tools cut short.",
     "{\"type\":\"object\",\"properties\":{"
     "\"names\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"maxItems\":20}},"
     "\"required\":[\"names\"]}",
     wt__catalogue_details, false, false},
    {"write_call", "Write a call",
     "Writes the call that a request asks for: the tool and its arguments, checked by the tool's schema. Values come "
     "from the request alone; what is missing is asked for. Nothing is called.",
     "{\"type\":\"object\",\"properties\":{"
     "\"request\":{\"type\":\"string\",\"minLength\":1,\"description\":\"What is wanted, with all values\"},"
     "\"tool\":{\"type\":\"string\",\"description\":\"The tool to call; without it the best one is chosen\"}},"
     "\"required\":[\"request\"],\"additionalProperties\":false}",
     wt__catalogue_write_call, true, false},
};

static void put_sentence(struct buffer *out, const char *sentence)
{
    wt__buffer_printf(out, "%s%s", *sentence ? " " : "", sentence);
}

/* Writes the cached summary again if the catalogue has changed since. Opens no model, because a client waits for the
 * answer to `initialize`. Leaves the summary as it is on failure. */
static int update_summary(struct mcp_catalogue *catalogue)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    WT_CLEANUP(wt__close_reader) struct engine_reader reader = {0};
    struct buffer summary = {0};
    struct provider_count *found;
    uint64_t generation;
    size_t count;
    WT_TRY(wt__open_reader(&reader, catalogue->engine, NULL));
    WT_TRY(wt__store_read_begin(reader.store, NULL));
    WT_TRY(wt__store_generation(reader.store, &generation, NULL));
    if (catalogue->summary && generation == catalogue->generation)
        return 0;
    WT_TRY(wt__store_providers(reader.store, &arena, &found, &count, NULL));
    const char **names = wt__arena_array(&arena, const char *, count + 1);
    WT_CHECK_ALLOC(names, NULL);
    for (size_t i = 0; i < count; i++)
        names[i] = found[i].name;
    wt__catalogue_summary(&summary, names, count, SUMMARY_BYTES_MAX);
    char *text = wt__buffer_take(&summary);
    WT_CHECK_ALLOC(text, NULL);
    free(catalogue->summary);
    catalogue->summary = text;
    catalogue->generation = generation;
    return 0;
}

/* Appends a blank and the summary. The cached summary keeps the tool list stable. */
static void put_summary(struct mcp_catalogue *catalogue, struct buffer *out)
{
    if (catalogue->options.summary) {
        put_sentence(out, catalogue->options.summary);
        return;
    }
    if (catalogue->options.tenants)
        return;
    pthread_mutex_lock(&catalogue->lock);
    (void)update_summary(catalogue);
    put_sentence(out, catalogue->summary ? catalogue->summary : "");
    pthread_mutex_unlock(&catalogue->lock);
}

/* Appends the definition of tools[index]. "anthropic/alwaysLoad" keeps the tool visible in clients that load tools on
 * demand. */
static void put_catalogue_tool(struct mcp_catalogue *catalogue, size_t index, struct buffer *out)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer description = {0};
    wt__buffer_text(&description, tools[index].description);
    if (tools[index].is_summarised)
        put_summary(catalogue, &description);
    wt__buffer_printf(out, "{\"name\":\"%s\",\"title\":\"%s\",\"description\":", tools[index].name, tools[index].title);
    wt__buffer_json(out, wt__buffer_view(&description));
    wt__buffer_printf(out,
                      ",\"inputSchema\":%s,\"annotations\":{\"readOnlyHint\":true,\"destructiveHint\":false,"
                      "\"idempotentHint\":true,\"openWorldHint\":false},\"_meta\":{\"anthropic/alwaysLoad\":true}}",
                      tools[index].schema);
    out->failed |= description.failed;
}

bool wt__catalogue_put_tool(struct mcp_catalogue *catalogue, const char *name, struct buffer *out)
{
    for (size_t i = 0; i < CATALOGUE_TOOLS; i++) {
        if (strcmp(tools[i].name, name) != 0)
            continue;
        put_catalogue_tool(catalogue, i, out);
        return true;
    }
    return false;
}

static void list_catalogue_tools(void *context, struct mcp_call *call, struct str after)
{
    bool is_behind = after.len == 0;
    for (size_t i = 0; i < CATALOGUE_TOOLS; i++) {
        WT_CLEANUP(wt__buffer_dispose) struct buffer tool = {0};
        if (is_behind)
            put_catalogue_tool(context, i, &tool);
        if (is_behind && (tool.failed || !wt__mcp_add_item(call, wt__str(tools[i].name), wt__buffer_view(&tool))))
            return;
        is_behind |= wt__str_equal(after, wt__str(tools[i].name));
    }
    if (!is_behind)
        wt__mcp_refuse_cursor(call);
}

static int find_catalogue_tool(void *context, struct mcp_call *call, struct str name, struct mcp_tool *out,
                               wt_error *err)
{
    struct mcp_catalogue *catalogue = context;
    (void)call;
    for (size_t i = 0; i < CATALOGUE_TOOLS; i++) {
        if (!wt__str_equal(name, wt__str(tools[i].name)))
            continue;
        *out = (struct mcp_tool){
            .input = catalogue->inputs[i], .repairs = true, .refuses_nul = true, .waits = tools[i].waits};
        return 0;
    }
    return wt__fail(err, WT_ENOTFOUND, "there is no such tool");
}

static void run_catalogue_tool(void *context, struct mcp_call *call, const struct mcp_tool *tool)
{
    struct mcp_catalogue *catalogue = context;
    for (size_t i = 0; i < CATALOGUE_TOOLS; i++)
        if (tool->input == catalogue->inputs[i])
            tools[i].run(catalogue, call);
}

/* ---------------------------------------------------------------- opening and closing */

static void write_catalogue_instructions(void *context, const char *principal, struct buffer *out)
{
    (void)principal;
    wt__buffer_text(out, "search_tools finds tools for a task; search before you say that something cannot be done.");
    put_summary(context, out);
}

static void report_catalogue_error(void *context, const wt_error *err)
{
    const struct catalogue_options *options = &((const struct mcp_catalogue *)context)->options;
    if (options->failed)
        options->failed(options->failed_context, err);
}

static void fill_catalogue_features(struct mcp_catalogue *catalogue)
{
    struct mcp_features *features = &catalogue->features;
    features->name = "whichtool";
    features->version = WT_VERSION;
    features->title = "whichtool: search over a catalogue of tools";
    features->write_instructions = write_catalogue_instructions;
    features->ttl_ms = 60000;
    features->private_lists = catalogue->options.tenants != NULL;
    features->context = catalogue;
    features->store_path = catalogue->engine->path;
    features->failed = report_catalogue_error;
    features->tools.list = list_catalogue_tools;
    features->tools.find = find_catalogue_tool;
    features->tools.run = run_catalogue_tool;
    features->resources.list = list_tool_resources;
    features->resources.templates = list_tool_templates;
    features->resources.read = read_tool_resource;
    features->completions.complete = complete_tool_id;
}

static void close_catalogue(struct mcp_catalogue **catalogue)
{
    wt__catalogue_close(*catalogue);
}

int wt__catalogue_open(struct mcp_catalogue **out, wt_engine *engine, const struct catalogue_options *options,
                       wt_error *err)
{
    WT_CLEANUP(close_catalogue) struct mcp_catalogue *catalogue = wt__alloc_zeros(1, sizeof *catalogue);
    *out = NULL;
    WT_CHECK_ALLOC(catalogue, err);
    pthread_mutex_init(&catalogue->lock, NULL);
    catalogue->engine = engine;
    if (options)
        catalogue->options = *options;
    if (catalogue->options.budget_bytes == 0)
        catalogue->options.budget_bytes = CATALOGUE_BUDGET_BYTES;
    if (catalogue->options.time_ms == 0)
        catalogue->options.time_ms = CATALOGUE_TIME_LIMIT_MS;
    for (size_t i = 0; i < CATALOGUE_TOOLS; i++)
        WT_TRY(wt__mcp_input_open(&catalogue->inputs[i], wt__str(tools[i].schema), err));
    fill_catalogue_features(catalogue);
    *out = WT_TAKE(catalogue);
    return 0;
}

const struct mcp_features *wt__catalogue_features(const struct mcp_catalogue *catalogue)
{
    return &catalogue->features;
}

void wt__catalogue_close(struct mcp_catalogue *catalogue)
{
    if (!catalogue)
        return;
    for (size_t i = 0; i < CATALOGUE_TOOLS; i++)
        wt__mcp_input_close(catalogue->inputs[i]);
    pthread_mutex_destroy(&catalogue->lock);
    free(catalogue->summary);
    free(catalogue);
}
