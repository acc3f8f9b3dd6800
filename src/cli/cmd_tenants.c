/* cmd_tenants.c: `whichtool tenants`: lists, shows, adds and removes the tenants of a file (docs/tenants.md). */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "cli/cli.h"
#include "tenants/tenants.h"

#define FILE_BYTES_MAX ((size_t)4 << 30)

/* The file, line by line. */
struct tenants_file {
    const char *path;
    char *text;
    size_t len, at; /* at: start of the next line */
};

static void tenants_file_dispose(struct tenants_file *file)
{
    free(file->text);
}

/* Reads the file; a missing file is empty. */
static int read_tenants_file(struct cli *cli, struct tenants_file *file)
{
    wt_error err;
    WT_TRY(wt__cli_tenants_path(cli, &file->path));
    int rc = wt__file_read(&file->text, &file->len, file->path, FILE_BYTES_MAX, &err);
    return rc < 0 && rc != WT_ENOTFOUND ? wt__cli_fail_input(cli, &err) : 0;
}

/* Takes the next line, with its line break. *tenant: its object, a new reference, or NULL for a blank or invalid line.
 * Returns false at the end. */
static bool next_tenant_line(struct tenants_file *file, struct str *line, json_t **tenant)
{
    *tenant = NULL;
    if (file->at >= file->len)
        return false;
    const char *start = file->text + file->at, *end = memchr(start, '\n', file->len - file->at);
    *line = (struct str){start, end ? (size_t)(end - start) + 1 : file->len - file->at};
    file->at += line->len;
    if (wt__json_parse(tenant, line->ptr, line->len, NULL) < 0)
        *tenant = NULL;
    return true;
}

static bool is_tenant(const json_t *tenant, const char *name)
{
    return tenant && wt__str_equal(wt__json_str(tenant, "tenant"), wt__str(name));
}

/* Replaces the lines of a tenant by `with`, which may be empty. Returns 1 if the file had the tenant, 0 if not, or a
 * code of the library. */
static int replace_tenant(struct tenants_file *file, const char *name, struct str with, wt_error *err)
{
    WT_CLEANUP(wt__replace_abort) struct replace replace = {.fd = -1};
    struct str line;
    json_t *tenant;
    bool ends = true;
    int found = 0;
    WT_TRY(wt__replace_begin(&replace, file->path, err));
    while (next_tenant_line(file, &line, &tenant)) {
        bool is_named = is_tenant(tenant, name);
        json_decref(tenant);
        found |= is_named;
        if (is_named)
            continue;
        WT_TRY(wt__replace_write(&replace, line.ptr, line.len, err));
        ends = line.ptr[line.len - 1] == '\n';
    }
    if (!ends && with.len > 0)
        WT_TRY(wt__replace_write(&replace, "\n", 1, err));
    if (with.len > 0)
        WT_TRY(wt__replace_write(&replace, with.ptr, with.len, err));
    WT_TRY(wt__replace_commit(&replace, err));
    return found;
}

/* ---------------------------------------------------------------- list and show */

static void put_item_count(struct buffer *out, const json_t *tenant, const char *member, const char *one,
                           const char *many)
{
    size_t count = json_array_size(json_object_get(tenant, member));
    if (count > 0)
        wt__buffer_printf(out, "%s%zu %s", out->len > 0 ? ", " : "", count, count == 1 ? one : many);
}

static void put_tenant_row(const struct cli *cli, struct buffer *out, const json_t *tenant)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer counts = {0};
    if (cli->json) {
        out->failed |= wt__json_write(out, tenant) < 0;
        wt__buffer_char(out, '\n');
        return;
    }
    put_item_count(&counts, tenant, "providers", "provider", "providers");
    put_item_count(&counts, tenant, "tools", "tool or pattern", "tools or patterns");
    put_item_count(&counts, tenant, "exclude", "exclusion", "exclusions");
    if (json_is_true(json_object_get(tenant, "own")))
        wt__buffer_text(&counts, counts.len > 0 ? ", its own store" : "its own store");
    wt__text_escape(out, wt__json_str(tenant, "tenant"), TEXT_LINE);
    wt__buffer_text(out, "  ");
    wt__buffer_text(out, counts.ptr ? counts.ptr : "sees no tools");
    wt__buffer_char(out, '\n');
    out->failed |= counts.failed;
}

static int list_tenants(struct cli *cli)
{
    WT_CLEANUP(tenants_file_dispose) struct tenants_file file = {0};
    struct buffer out = {0};
    struct str line;
    json_t *tenant;
    size_t count = 0;
    WT_TRY(read_tenants_file(cli, &file));
    while (next_tenant_line(&file, &line, &tenant)) {
        if (tenant)
            put_tenant_row(cli, &out, tenant);
        count += tenant != NULL;
        json_decref(tenant);
    }
    if (!wt__cli_print(&out))
        return END_SYSTEM;
    if (count == 0)
        wt__cli_note(cli, "%s has no tenants; add one with `whichtool tenants add NAME --provider PROVIDER`.",
                     file.path);
    return count > 0 ? END_DONE : END_NOTHING;
}

static void put_texts(struct buffer *out, const json_t *tenant, const char *member, const char *title)
{
    const json_t *list = json_object_get(tenant, member);
    for (size_t i = 0; i < json_array_size(list); i++) {
        wt__buffer_printf(out, "%s ", title);
        wt__text_escape(out, wt__str(json_string_value(json_array_get(list, i))), TEXT_LINE);
        wt__buffer_char(out, '\n');
    }
}

/* Counts the tools that the tenant sees now. Returns 0, or an exit code after reporting the error. */
static int count_visible(struct cli *cli, const char *path, const char *name, uint64_t *tools)
{
    wt_engine *engine = NULL;
    wt_catalog_info info;
    wt_error err;
    wt_catalog_info_init(&info);
    WT_TRY(wt__cli_open(cli, OPEN_EXISTING, "", &engine));
    int rc = wt__tenant_engine_open(&engine, path, name, &err);
    if (rc == 0)
        rc = wt_info(engine, &info, &err);
    wt__tenant_engine_close(engine);
    *tools = info.tools;
    return rc < 0 ? wt__cli_fail(cli, &err) : 0;
}

static int show_tenant(struct cli *cli)
{
    WT_CLEANUP(tenants_file_dispose) struct tenants_file file = {0};
    const char *name = cli->arguments.words[1];
    struct buffer out = {0};
    struct str line;
    json_t *tenant;
    uint64_t tools = 0;
    WT_TRY(read_tenants_file(cli, &file));
    do {
        if (!next_tenant_line(&file, &line, &tenant))
            return wt__cli_report(cli, END_NOTHING, "%s has no tenant \"%s\"", file.path, name);
        if (!is_tenant(tenant, name)) {
            json_decref(tenant);
            tenant = NULL;
        }
    } while (!tenant);
    int code = count_visible(cli, file.path, name, &tools);
    if (code == 0 && cli->json) {
        json_object_set_new(tenant, "visible", json_integer((json_int_t)tools));
        put_tenant_row(cli, &out, tenant);
    } else if (code == 0) {
        put_texts(&out, tenant, "providers", "provider");
        put_texts(&out, tenant, "tools", "tools   ");
        put_texts(&out, tenant, "exclude", "exclude ");
        wt__buffer_printf(&out, "%llu tool%s visible now\n", (unsigned long long)tools, tools == 1 ? " is" : "s are");
    }
    json_decref(tenant);
    return code != 0 || wt__cli_print(&out) ? code : END_SYSTEM;
}

/* ---------------------------------------------------------------- changes */

static bool add_texts(struct cli *cli, json_t *tenant, const char *member, enum option_id option)
{
    const char *const *items = NULL;
    size_t count = 0;
    json_t *list = json_array();
    bool whole = list && wt__option_lines(cli, option, &items, &count);
    for (size_t i = 0; whole && i < count; i++)
        whole = json_array_append_new(list, json_string(items[i])) == 0;
    if (!whole || count == 0) {
        json_decref(list);
        return whole;
    }
    return json_object_set_new(tenant, member, list) == 0;
}

/* Makes the folder of the file, since the data folder of a store in a database may not exist yet. */
static int make_tenants_folder(struct cli *cli, const char *path, wt_error *err)
{
    const char *slash = strrchr(path, '/');
    const char *folder = slash > path ? wt__arena_copy(&cli->arena, (struct str){path, (size_t)(slash - path)}) : NULL;
    if (slash > path)
        WT_CHECK_ALLOC(folder, err);
    return folder ? wt__make_folders(folder, err) : 0;
}

static int write_tenant(struct cli *cli, const json_t *tenant, const char *name)
{
    WT_CLEANUP(tenants_file_dispose) struct tenants_file file = {0};
    WT_CLEANUP(wt__buffer_dispose) struct buffer line = {0};
    wt_error err;
    WT_TRY(read_tenants_file(cli, &file));
    if (wt__json_write(&line, tenant) < 0)
        return wt__cli_report(cli, END_SYSTEM, "out of memory");
    wt__buffer_char(&line, '\n');
    int rc = line.failed ? wt__fail_nomem(&err) : make_tenants_folder(cli, file.path, &err);
    if (rc == 0)
        rc = replace_tenant(&file, name, wt__buffer_view(&line), &err);
    if (rc < 0)
        return wt__cli_fail(cli, &err);
    wt__cli_note(cli, rc > 0 ? "The tenant %s was replaced in %s." : "The tenant %s was added to %s.", name, file.path);
    return END_DONE;
}

static int add_tenant(struct cli *cli)
{
    const char *name = cli->arguments.words[1];
    if (!wt__is_tenant_name(wt__str(name)))
        return wt__cli_usage(cli, "the name of a tenant must be 1 to %d letters, digits, '.', '_', '-' and '@'",
                             WT_MAX_TENANT_NAME_BYTES);
    json_auto_t *tenant = json_pack("{s:s}", "tenant", name);
    if (!tenant || !add_texts(cli, tenant, "providers", OPT_PROVIDER) || !add_texts(cli, tenant, "tools", OPT_ONLY) ||
        !add_texts(cli, tenant, "exclude", OPT_EXCLUDE) ||
        (wt__has_option(cli, OPT_OWN) && json_object_set_new(tenant, "own", json_true()) < 0))
        return wt__cli_report(cli, END_SYSTEM, "out of memory");
    return write_tenant(cli, tenant, name);
}

static int remove_tenant(struct cli *cli)
{
    WT_CLEANUP(tenants_file_dispose) struct tenants_file file = {0};
    const char *name = cli->arguments.words[1];
    wt_error err;
    WT_TRY(read_tenants_file(cli, &file));
    int rc = replace_tenant(&file, name, STR(""), &err);
    if (rc < 0)
        return wt__cli_fail(cli, &err);
    if (rc == 0)
        return wt__cli_report(cli, END_NOTHING, "%s has no tenant \"%s\"", file.path, name);
    wt__cli_note(cli, "The tenant %s was removed from %s.", name, file.path);
    return END_DONE;
}

/* ---------------------------------------------------------------- check */

static int check_tenants(struct cli *cli)
{
    WT_CLEANUP(wt__close_engine) wt_engine *engine = NULL;
    wt_tenants *tenants = NULL;
    wt_tenants_info info;
    const char *path;
    struct buffer out = {0};
    wt_error err;
    wt_tenants_info_init(&info);
    WT_TRY(wt__cli_tenants_path(cli, &path));
    WT_TRY(wt__cli_open(cli, OPEN_EXISTING, "", &engine));
    if (wt_tenants_open(&tenants, engine, path, NULL, &err) < 0)
        return wt__cli_fail_input(cli, &err);
    wt_tenants_get_info(tenants, &info, NULL);
    wt_tenants_close(tenants);
    if (cli->json) {
        wt__buffer_char(&out, '{');
        wt__json_text(&out, "file", path);
        wt__json_count(&out, "tenants", info.tenants);
        wt__json_count(&out, "selections", info.selections);
        wt__json_count(&out, "table_bytes", info.table_bytes);
        wt__buffer_text(&out, "}\n");
    } else {
        wt__buffer_printf(&out, "%s: %llu tenants with %llu different selections, %.1f MB in memory\n", path,
                          (unsigned long long)info.tenants, (unsigned long long)info.selections,
                          (double)info.table_bytes / 1e6);
    }
    return wt__cli_print(&out) ? END_DONE : END_SYSTEM;
}

int wt__cmd_tenants(struct cli *cli)
{
    static const struct {
        const char *action;
        size_t words;
        int (*run)(struct cli *cli);
    } actions[] = {{"list", 1, list_tenants},
                   {"show", 2, show_tenant},
                   {"add", 2, add_tenant},
                   {"remove", 2, remove_tenant},
                   {"check", 1, check_tenants}};
    const char *action = cli->arguments.word_count > 0 ? cli->arguments.words[0] : "list";
    size_t at = 0, words = cli->arguments.word_count > 0 ? cli->arguments.word_count : 1;
    while (strcmp(actions[at].action, action) != 0) /* the parser accepts known actions only */
        at++;
    if (words != actions[at].words)
        return wt__cli_usage(cli, "`tenants %s` takes %s", action, actions[at].words == 1 ? "no NAME" : "one NAME");
    return actions[at].run(cli);
}
