/* cmd_tools.c: `whichtool list`, `show`, `remove` and `rename`: the tools of the catalogue. */
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/json.h"
#include "base/map.h"
#include "base/memory.h"
#include "text/shown.h"

/* ---------------------------------------------------------------- list */

/* Numbers of tools in a page. A list is read in pages, so that a list of any length needs little memory. With a
 * pattern, the size of the pages grows by the factor PAGE_GROWS up to PAGE_MOST, because each page matches the pattern
 * against all names. */
enum { PAGE = 1000, PAGE_GROWS = 4, PAGE_MOST = 16000 };

typedef bool (*page_fn)(void *context, const wt_tools *page); /* returns false to stop with END_SYSTEM */

static const char *list_pattern(const struct cli *cli)
{
    return cli->arguments.word_count ? cli->arguments.words[0] : NULL;
}

/* Calls `take` for each page of the tools that match --provider and the pattern. Skips the first `offset` tools, and
 * lists at most `limit` tools (0 for all). *seen: number of listed tools. Returns 0 or an exit code. */
static int list_pages(struct cli *cli, wt_engine *engine, size_t offset, size_t limit, page_fn take, void *context,
                      size_t *seen)
{
    wt_list_options options;
    wt_list_options_init(&options);
    options.provider = wt__option_text(cli, OPT_PROVIDER);
    options.pattern = list_pattern(cli);
    options.offset = offset;
    *seen = 0;
    size_t size = PAGE;
    for (bool more = true; more;) {
        wt_tools *page = NULL;
        wt_error err;
        options.limit = limit && limit - *seen < size ? limit - *seen : size;
        if (wt_list(engine, &options, &page, &err) < 0)
            return wt__cli_fail(cli, &err);
        *seen += page->len;
        options.offset += page->len;
        bool taken = take(context, page);
        more = page->len == size && *seen != limit;
        size = options.pattern && size < PAGE_MOST ? size * PAGE_GROWS : size;
        wt_tools_free(page);
        if (!taken)
            return END_SYSTEM;
    }
    return 0;
}

static bool print_tool_page(void *context, const wt_tools *page)
{
    struct cli *cli = context;
    struct buffer out = {0};
    size_t id_width = 0;
    for (size_t i = 0; i < page->len && !cli->json; i++)
        id_width = wt__id_width(cli, page->items[i], id_width);
    for (size_t i = 0; i < page->len; i++) {
        if (cli->json) {
            wt__buffer_char(&out, '{');
            wt__json_tool(&out, page->items[i]);
            wt__buffer_text(&out, "}\n");
        } else {
            struct list_row row = {"", 0, page->items[i]};
            wt__put_tool_row(cli, &out, &row, id_width);
        }
    }
    return wt__cli_print(&out);
}

struct provider_tools {
    char *name;
    size_t tools;
};

/* Providers in the order of their first tool. */
struct provider_counts {
    struct arena arena;
    struct map by_name;
    struct provider_tools *items;
    size_t len, capacity;
    bool failed;
};

static bool count_page_providers(void *context, const wt_tools *page)
{
    struct provider_counts *p = context;
    for (size_t i = 0; i < page->len; i++) {
        uint32_t *at = wt__map_get(&p->by_name, wt__str(page->items[i]->provider));
        if (!at) {
            char *name = wt__arena_copy(&p->arena, wt__str(page->items[i]->provider));
            p->failed = !name || wt__grow((void **)&p->items, &p->capacity, p->len + 1, sizeof *p->items) < 0 ||
                        !(at = wt__map_insert(&p->by_name, wt__str(name), (uint32_t)p->len, NULL));
            if (p->failed)
                return false;
            p->items[p->len++] = (struct provider_tools){name, 0};
        }
        p->items[*at].tools++;
    }
    return true;
}

static int print_provider_counts(struct cli *cli, const struct provider_counts *p)
{
    struct buffer out = {0};
    for (size_t i = 0; i < p->len; i++) {
        if (cli->json) {
            wt__buffer_char(&out, '{');
            wt__json_text(&out, "provider", p->items[i].name);
            wt__json_count(&out, "tools", p->items[i].tools);
            wt__buffer_text(&out, "}\n");
            continue;
        }
        WT_CLEANUP(wt__buffer_dispose) struct buffer count = {0};
        wt__put_grouped(&count, p->items[i].tools);
        wt__text_pad(&out, count.len < 9 ? 9 - count.len : 0);
        wt__buffer_str(&out, wt__buffer_view(&count));
        wt__buffer_text(&out, "  ");
        wt__text_cut(&out, wt__str(*p->items[i].name ? p->items[i].name : "(none)"),
                     cli->width > 20 ? cli->width - 11 : 0);
        wt__buffer_char(&out, '\n');
    }
    return wt__cli_print(&out) ? 0 : END_SYSTEM;
}

static int print_provider_list(struct cli *cli, wt_engine *engine, size_t *seen)
{
    struct provider_counts p = {0};
    int code = list_pages(cli, engine, 0, 0, count_page_providers, &p, seen);
    if (p.failed)
        code = wt__cli_report(cli, END_SYSTEM, "out of memory");
    else if (code == 0)
        code = print_provider_counts(cli, &p);
    wt__map_dispose(&p.by_name);
    wt__arena_dispose(&p.arena);
    free(p.items);
    return code;
}

static int report_empty_list(struct cli *cli, wt_engine *engine)
{
    wt_catalog_info info;
    wt_error err;
    const char *provider = wt__option_text(cli, OPT_PROVIDER);
    wt_catalog_info_init(&info);
    if (wt_info(engine, &info, &err) < 0)
        return wt__cli_fail(cli, &err);
    if (info.tools == 0)
        return wt__cli_fail_empty(cli);
    if (list_pattern(cli))
        wt__cli_note(cli, "No tools match \"%s\"%s%s; the catalogue has %llu tools.", list_pattern(cli),
                     provider ? " of provider " : "", provider ? provider : "", (unsigned long long)info.tools);
    else if (provider)
        wt__cli_note(cli, "No tools of provider %s.", provider);
    else
        wt__cli_note(cli, "No tools in this range; the catalogue has %llu tools.", (unsigned long long)info.tools);
    return END_NOTHING;
}

int wt__cmd_list(struct cli *cli)
{
    WT_CLEANUP(wt__close_engine) wt_engine *engine = NULL;
    size_t seen = 0;
    WT_TRY(wt__cli_open(cli, OPEN_EXISTING, "", &engine));
    if (wt__has_option(cli, OPT_PROVIDERS))
        WT_TRY(print_provider_list(cli, engine, &seen));
    else
        WT_TRY(list_pages(cli, engine, (size_t)cli->arguments.number[OPT_OFFSET],
                          (size_t)cli->arguments.number[OPT_LIMIT], print_tool_page, cli, &seen));
    return seen == 0 ? report_empty_list(cli, engine) : 0;
}

/* ---------------------------------------------------------------- show */

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

static void put_left_out_name(struct buffer *out, const json_t *kept, const char *name)
{
    if (*name && !json_object_get(kept, name))
        wt__buffer_printf(out, "%s%s", out->len > 0 ? ", " : "", name);
}

/* Appends names of a list of {name, ...}, without the body parameter of Swagger 2.0, whose name is not an argument. */
static void put_listed_names(struct buffer *out, const json_t *kept, const json_t *list)
{
    json_t *argument;
    size_t i;
    json_array_foreach(list, i, argument)
    {
        if (!wt__str_equal(wt__json_str(argument, "in"), STR("body")))
            put_left_out_name(out, kept, wt__json_str(argument, "name").ptr);
    }
}

/* Appends the names of the arguments in a schema, a list, or a pair of lists (required and optional). */
static void put_schema_names(struct buffer *out, const json_t *kept, const json_t *arguments)
{
    const char *name;
    json_t *argument;
    json_object_foreach(wt__json_object(arguments, "properties"), name, argument)
    {
        put_left_out_name(out, kept, name);
    }
    put_listed_names(out, kept, arguments);
    put_listed_names(out, kept, json_object_get(arguments, "required"));
    put_listed_names(out, kept, json_object_get(arguments, "optional"));
}

/* Appends the names of the arguments that are in the definition but not in the schema, such as credentials. The import
 * does not store these names, so this function looks in every member in which a format lists arguments. */
static void put_left_out_arguments(struct buffer *out, const wt_tool *tool)
{
    static const char *const members[] = {"inputSchema",          "input_schema",           "parameters",
                                          "parametersJsonSchema", "parameters_json_schema", "required_parameters",
                                          "optional_parameters"};
    json_t *definition = NULL, *schema = NULL;
    if (wt__json_parse(&definition, tool->definition, tool->definition_len, NULL) == 0 &&
        wt__json_parse(&schema, tool->schema, strlen(tool->schema), NULL) == 0) {
        const json_t *holders[] = {definition, wt__json_object(definition, "function"),
                                   wt__json_object(definition, "metadata")};
        for (size_t h = 0; h < COUNT(holders); h++)
            for (size_t m = 0; m < COUNT(members); m++)
                put_schema_names(out, wt__json_object(schema, "properties"), json_object_get(holders[h], members[m]));
    }
    json_decref(schema);
    json_decref(definition);
}

enum { INDENT = 2 };

/* Appends the type of a schema, such as "string" or "string or null". */
static void put_schema_type(struct buffer *out, const json_t *schema)
{
    json_t *type = json_object_get(schema, "type"), *one;
    size_t index;
    if (json_is_string(type))
        wt__buffer_text(out, json_string_value(type));
    json_array_foreach(type, index, one) if (json_is_string(one))
        wt__buffer_printf(out, "%s%s", index ? " or " : "", json_string_value(one));
}

static bool is_required_argument(const json_t *required, const char *name)
{
    json_t *one;
    size_t index;
    json_array_foreach(required, index,
                       one) if (json_is_string(one) && strcmp(json_string_value(one), name) == 0) return true;
    return false;
}

static void print_tool_arguments(const struct cli *cli, struct buffer *out, const char *schema)
{
    json_t *root = NULL, *property;
    const char *name;
    if (wt__json_parse(&root, schema, strlen(schema), NULL) < 0)
        return;
    json_t *properties = wt__json_object(root, "properties"), *required = wt__json_array(root, "required");
    if (json_object_size(properties) > 0)
        wt__print_field(cli, out, "arguments", " ");
    json_object_foreach(properties, name, property)
    {
        WT_CLEANUP(wt__buffer_dispose) struct buffer line = {0};
        wt__buffer_printf(&line, "%s (", name);
        put_schema_type(&line, property);
        wt__buffer_printf(&line, "%s%s) ", line.len && line.ptr[line.len - 1] != '(' ? ", " : "",
                          is_required_argument(required, name) ? "required" : "optional");
        wt__buffer_str(&line, wt__json_str(property, "description"));
        wt__text_pad(out, INDENT);
        wt__text_wrap(out, wt__buffer_view(&line), 2 * INDENT, cli->width);
        wt__buffer_char(out, '\n');
        out->failed |= line.failed;
    }
    json_decref(root);
}

static void print_left_out(const struct cli *cli, struct buffer *out, const wt_tool *tool)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer names = {0};
    put_left_out_arguments(&names, tool);
    if (names.len > 0)
        wt__buffer_text(&names, " (credentials and similar arguments, set by the calling program)");
    wt__print_field(cli, out, "left out", names.ptr ? names.ptr : "");
    out->failed |= names.failed;
}

static void print_tool_fields(const struct cli *cli, struct buffer *out, const wt_tool *tool)
{
    wt__print_field(cli, out, "tool", tool->id);
    wt__print_field(cli, out, "title", tool->title);
    wt__print_field(cli, out, "exported as", tool->export_name);
    wt__print_field(cli, out, "provider", tool->provider);
    wt__print_field(cli, out, "category", tool->category);
    wt__print_field(cli, out, "source id", tool->source_id);
    wt__print_field(cli, out, "format", tool->format);
    wt__print_field(cli, out, "sha256", tool->sha256);
    wt__print_field(cli, out, "about", tool->description);
    print_tool_arguments(cli, out, tool->schema);
    print_left_out(cli, out, tool);
}

/* Prints the definition byte for byte. On a terminal, control characters are escaped. */
static void print_definition(const struct cli *cli, struct buffer *out, const wt_tool *tool)
{
    if (cli->tty_out) {
        wt__text_escape(out, (struct str){tool->definition, tool->definition_len}, TEXT_LINES);
        wt__buffer_char(out, '\n');
    } else {
        wt__buffer_append(out, tool->definition, tool->definition_len);
    }
}

static int print_in_format(struct cli *cli, const wt_tool *tool)
{
    struct buffer out = {0};
    if (wt__has_option(cli, OPT_FORMAT))
        return wt__print_export(cli, &tool, 1, wt__option_text(cli, OPT_FORMAT));
    if (cli->json) {
        wt__buffer_char(&out, '{');
        wt__json_tool(&out, tool);
        wt__json_text(&out, "definition", tool->definition);
        wt__buffer_text(&out, "}\n");
    } else if (wt__has_option(cli, OPT_DEFINITION)) {
        print_definition(cli, &out, tool);
    } else if (wt__has_option(cli, OPT_SCHEMA)) {
        wt__shown_json(&out, wt__str(tool->schema));
        wt__buffer_char(&out, '\n');
    } else {
        print_tool_fields(cli, &out, tool);
    }
    return wt__cli_print(&out) ? 0 : END_SYSTEM;
}

int wt__cmd_show(struct cli *cli)
{
    WT_CLEANUP(wt__close_engine) wt_engine *engine = NULL;
    wt_tools *tools = NULL;
    wt_error err;
    if (wt__has_option(cli, OPT_FORMAT) + wt__has_option(cli, OPT_DEFINITION) + wt__has_option(cli, OPT_SCHEMA) > 1)
        return wt__cli_usage(cli, "give only one of --definition, --schema and --format");
    WT_TRY(wt__cli_open(cli, OPEN_EXISTING, "", &engine));
    if (wt_get(engine, cli->arguments.words[0], &tools, &err) < 0)
        return wt__cli_fail(cli, &err);
    int code = print_in_format(cli, tools->items[0]);
    wt_tools_free(tools);
    return code;
}

/* ---------------------------------------------------------------- remove */

/* Asks on the terminal; true only for a yes. Returns true without asking for fewer than two tools, without a terminal,
 * or with --yes. */
static bool confirm_removal(struct cli *cli, size_t tools)
{
    if (tools < 2 || wt__has_option(cli, OPT_YES) || !wt__can_ask(cli))
        return true;
    fprintf(stderr, "Remove %zu tools? [y/N] ", tools);
    return wt__answer_is_yes();
}

static int print_removed(struct cli *cli, int64_t removed)
{
    struct buffer out = {0};
    if (cli->json) {
        wt__buffer_char(&out, '{');
        wt__json_count(&out, "removed", (uint64_t)removed);
        wt__buffer_text(&out, "}\n");
    } else {
        wt__buffer_printf(&out, "%lld removed\n", (long long)removed);
    }
    return wt__cli_print(&out) ? 0 : END_SYSTEM;
}

static int remove_provider_tools(struct cli *cli, wt_engine *engine, const char *provider)
{
    wt_list_options options;
    wt_list_options_init(&options);
    options.provider = provider;
    wt_tools *tools = NULL;
    wt_error err;
    if (wt_list(engine, &options, &tools, &err) < 0)
        return wt__cli_fail(cli, &err);
    size_t count = tools->len;
    wt_tools_free(tools);
    if (!confirm_removal(cli, count))
        return wt__cli_report(cli, END_NOTHING, "nothing was removed");
    int64_t removed = wt_remove_provider(engine, provider, &err);
    return removed < 0 ? wt__cli_fail(cli, &err) : print_removed(cli, removed);
}

/* Looks up all names before removing the first, so that an unknown name removes nothing. */
static int remove_named_tools(struct cli *cli, wt_engine *engine)
{
    const struct arguments *a = &cli->arguments;
    wt_error err;
    for (size_t i = 0; i < a->word_count; i++) {
        wt_tools *tools = NULL;
        if (wt_get(engine, a->words[i], &tools, &err) < 0)
            return wt__cli_fail(cli, &err);
        wt_tools_free(tools);
    }
    if (!confirm_removal(cli, a->word_count))
        return wt__cli_report(cli, END_NOTHING, "nothing was removed");
    int64_t removed = 0;
    for (size_t i = 0; i < a->word_count; i++) {
        int rc = wt_remove(engine, a->words[i], &err);
        if (rc < 0 && rc != WT_ENOTFOUND) /* a tool may be named twice */
            return wt__cli_fail(cli, &err);
        removed += rc > 0;
    }
    return print_removed(cli, removed);
}

int wt__cmd_remove(struct cli *cli)
{
    const char *provider = wt__option_text(cli, OPT_PROVIDER);
    if (!provider == !cli->arguments.word_count)
        return wt__cli_usage(cli, "name the tools to remove: either NAME... or --provider NAME");
    WT_CLEANUP(wt__close_engine) wt_engine *engine = NULL;
    WT_TRY(wt__cli_open(cli, OPEN_EXISTING, "", &engine));
    return provider ? remove_provider_tools(cli, engine, provider) : remove_named_tools(cli, engine);
}

/* ---------------------------------------------------------------- rename */

/* Recomputes the vectors, which depend on the name. Vectors are derived data, so an error is only noted. */
static int64_t recompute_vectors(struct cli *cli, wt_engine *engine)
{
    struct progress_line line;
    wt_error err;
    wt__watch_interrupt();
    wt__progress_begin(&line, cli);
    int64_t made = wt_embed_missing(engine, wt__progress_show, &line, &err);
    wt__progress_clear();
    if (made < 0)
        wt__cli_note(cli, "Note: vectors were not computed; the next `whichtool add` computes them: %s", err.message);
    return made < 0 ? 0 : made;
}

int wt__cmd_rename(struct cli *cli)
{
    const char *from = cli->arguments.words[0], *to = cli->arguments.words[1];
    bool no_vectors = wt__has_option(cli, OPT_NO_VECTORS);
    WT_CLEANUP(wt__close_engine) wt_engine *engine = NULL;
    wt_error err;
    struct buffer out = {0};
    WT_TRY(wt__cli_open(cli, OPEN_EXISTING, no_vectors ? "" : NULL, &engine));
    int64_t tools = wt_rename_provider(engine, from, to, &err);
    if (tools < 0)
        return wt__cli_fail(cli, &err);
    int64_t vectors = no_vectors ? 0 : recompute_vectors(cli, engine);
    if (cli->json) {
        wt__buffer_char(&out, '{');
        wt__json_count(&out, "renamed", (uint64_t)tools);
        wt__json_count(&out, "embedded", (uint64_t)vectors);
        wt__buffer_text(&out, "}\n");
    } else {
        wt__put_grouped(&out, (uint64_t)tools);
        wt__buffer_text(&out, tools == 1 ? " tool renamed; " : " tools renamed; ");
        wt__put_grouped(&out, (uint64_t)vectors);
        wt__buffer_text(&out, " vectors\n");
    }
    return wt__cli_print(&out) ? 0 : END_SYSTEM;
}
