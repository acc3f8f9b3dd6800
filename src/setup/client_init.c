/* client_init.c: the import part of client_files.h. Planning checks each client's file, chooses names for the moving
 * servers in our file, and edits copies of the texts in memory. Applying writes backups, the record, our file and the
 * clients' files, in that order. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json_edit.h"
#include "base/memory.h"
#include "setup/internal.h"
#include "mcp/config.h"
#include "net/process.h"
#include "text/unicode.h"

enum { OFFERED_MAX = 16 /* maximum variables in `offered` */ };

static const char *const our_path[] = {"mcpServers", NULL};

/* Reads our file of servers, if it exists. */
static int read_gateway_servers(struct client_import *import, wt_error *err)
{
    WT_CLEANUP(json_decrefp) json_t *root = NULL;
    const char *why = NULL;
    import->servers = NULL;
    if (access(import->servers_path, F_OK) != 0) {
        import->servers = json_object();
        return import->servers ? 0 : wt__fail_nomem(err);
    }
    int rc = wt__client_text_read(&import->present, &why, &import->arena, import->servers_path, err);
    if (rc == 0)
        return wt__fail(err, WT_EIO, "%s: %s", import->servers_path, why);
    if (rc > 0)
        rc = wt__json_parse_relaxed(&root, import->present.text, err);
    if (rc == 0 && wt__json_object(root, our_path[0]))
        import->servers = json_incref(wt__json_object(root, our_path[0]));
    else if (rc == 0)
        rc = wt__fail(err, WT_EFORMAT, "it has no \"mcpServers\" object");
    return rc == 0 || rc == WT_ENOMEM
               ? rc
               : wt__fail_context(err, rc, "%s exists already and is invalid", import->servers_path);
}

/* Names a server in our file: reuses an entry with the same definition, or adds a new entry. */
static int name_server(struct client_import *import, struct client_import_server *server, json_t *definition,
                       wt_error *err)
{
    for (size_t number = 1; number <= CLIENT_NAMES_MAX; number++) {
        WT_CLEANUP(wt__buffer_dispose) struct buffer name = {0};
        wt__buffer_text(&name, server->name);
        if (number > 1)
            wt__buffer_printf(&name, "-%zu", number);
        const char *as = name.failed ? NULL : wt__arena_copy(&import->arena, wt__buffer_view(&name));
        WT_CHECK_ALLOC(as, err);
        const json_t *there = json_object_get(import->servers, as);
        server->shared = there && json_equal(there, definition);
        if (there && !server->shared)
            continue;
        server->as = as;
        if (!there && json_object_set(import->servers, as, definition) < 0)
            return wt__fail_nomem(err);
        return 0;
    }
    server->why = "too many servers behind whichtool have the same name";
    return 0;
}

/* ---------------------------------------------------------------- the entry */

/* Returns an unused name for whichtool's entry in the client's file; NULL if all names are used or out of memory. */
static const char *choose_entry_name(struct arena *arena, const json_t *servers)
{
    static const char name[] = "whichtool";
    if (!json_object_get(servers, name))
        return name;
    for (int number = 2; number <= CLIENT_NAMES_MAX; number++) {
        WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
        wt__buffer_printf(&text, "%s-%d", name, number);
        const char *out = text.failed ? NULL : wt__arena_copy(arena, wt__buffer_view(&text));
        if (!out || !json_object_get(servers, out))
            return out;
    }
    return NULL;
}

/* Begins a member, on a line of its own if the file is indented. */
static void begin_member(struct buffer *out, const struct json_members *members, const char *key, bool first)
{
    if (!first)
        wt__buffer_char(out, ',');
    if (members->indent)
        wt__buffer_printf(out, "%s%s%s", members->line_end, members->indent, members->deeper);
    else if (!first)
        wt__buffer_char(out, ' ');
    wt__buffer_json(out, wt__str(key));
    wt__buffer_text(out, ": ");
}

/* Appends the value of "env": an object with the variables, in the syntax of the client. */
static void put_variables(struct buffer *out, const struct client_place *place, const char *const *names, size_t count)
{
    static const char *const forms[] = {
        [VARIABLES_BRACES] = "${%s:-}", [VARIABLES_ENV] = "${env:%s}", [VARIABLES_DOLLAR] = "${%s}"};
    wt__buffer_char(out, '{');
    for (size_t i = 0; i < count; i++) {
        const char *form = forms[place->variables], *mark = strstr(form, "%s");
        WT_CLEANUP(wt__buffer_dispose) struct buffer value = {0};
        wt__buffer_append(&value, form, (size_t)(mark - form));
        wt__buffer_text(&value, names[i]);
        wt__buffer_text(&value, mark + 2);
        wt__buffer_text(out, i ? ", " : "");
        wt__buffer_json(out, wt__str(names[i]));
        wt__buffer_text(out, ": ");
        wt__buffer_json(out, wt__buffer_view(&value));
        out->failed |= value.failed;
    }
    wt__buffer_char(out, '}');
}

static int write_entry(struct client_import_file *file, struct client_import *import,
                       const struct client_import_options *options, const struct json_members *members,
                       const char *const *variables, size_t variable_count, wt_error *err)
{
    const char *arguments[] = {"-s", options->store, "mcp", "--servers", import->servers_path};
    WT_CLEANUP(wt__buffer_dispose) struct buffer out = {0};
    wt__buffer_char(&out, '{');
    if (file->place->extra) {
        begin_member(&out, members, file->place->extra, true);
        wt__buffer_json(&out, wt__str(file->place->value));
    }
    begin_member(&out, members, "command", !file->place->extra);
    wt__buffer_json(&out, wt__str(options->program));
    begin_member(&out, members, "args", false);
    for (size_t i = options->store ? 0 : 2, first = i; i < sizeof arguments / sizeof *arguments; i++) {
        wt__buffer_text(&out, i == first ? "[" : ", ");
        wt__buffer_json(&out, wt__str(arguments[i]));
    }
    wt__buffer_char(&out, ']');
    if (variable_count > 0) {
        begin_member(&out, members, "env", false);
        put_variables(&out, file->place, variables, variable_count);
    }
    if (members->indent)
        wt__buffer_printf(&out, "%s%s", members->line_end, members->indent);
    wt__buffer_char(&out, '}');
    file->entry_text = out.failed ? NULL : wt__arena_copy(&import->arena, wt__buffer_view(&out));
    return file->entry_text ? 0 : wt__fail_nomem(err);
}

/* ---------------------------------------------------------------- one file */

struct file_plan {
    struct client_import *import;
    const struct client_import_options *options;
    struct client_import_file *file;
    struct json_members members;
    struct mcp_config config;
    json_t *root, *servers;
    const char **variables; /* [variable_count] variables that whichtool's entry passes on */
    size_t variable_count, variable_capacity;
    bool hands_on[OFFERED_MAX]; /* true if a moving server gets offered[i] */
};

static int skip_file(struct file_plan *r, const char *why, wt_error *err)
{
    r->file->why = wt__arena_copy(&r->import->arena, wt__str(why));
    r->file->moving = 0;
    return r->file->why ? 0 : wt__fail_nomem(err);
}

/* True if whichtool's existing entry passes the variable on, or the file has no such entry yet. */
static bool passes_on(const struct file_plan *r, const char *name)
{
    const json_t *entry = r->file->entry ? json_object_get(r->servers, r->file->entry) : NULL;
    return !entry || json_object_get(wt__json_object(entry, "env"), name);
}

static int add_variable(struct file_plan *r, const char *name, wt_error *err)
{
    for (size_t k = 0; k < r->variable_count; k++)
        if (strcmp(r->variables[k], name) == 0)
            return 0;
    if (wt__grow((void **)&r->variables, &r->variable_capacity, r->variable_count + 1, sizeof *r->variables) < 0)
        return wt__fail_nomem(err);
    r->variables[r->variable_count++] = name;
    return 0;
}

static int add_variables(struct file_plan *r, const struct client_server *server, wt_error *err)
{
    for (size_t i = 0; i < server->variable_count; i++)
        WT_TRY(add_variable(r, server->variables[i], err));
    return 0;
}

/* Fills server->moved, for undo. */
static int note_moved(struct file_plan *r, struct client_import_server *server, const json_t *definition, wt_error *err)
{
    const struct json_member *member = wt__json_member_named(&r->members, server->name);
    struct arena *arena = &r->import->arena;
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    wt__json_write_typed(&text, definition);
    server->moved =
        (struct client_moved){.name = server->name,
                              .as = server->as,
                              .text = member ? wt__arena_copy(arena, member->text) : NULL,
                              .definition = text.failed ? NULL : wt__arena_copy(arena, wt__buffer_view(&text))};
    return server->moved.text && server->moved.definition ? 0 : wt__fail_nomem(err);
}

/* True if a list of Gemini CLI, "allowed" or "excluded", contains the name. With name NULL, true if the list has any
 * element. */
static bool is_server_listed(const struct file_plan *r, const char *list, const char *name)
{
    const json_t *names = wt__json_array(wt__json_object(r->root, "mcp"), list), *item;
    size_t i;
    json_array_foreach((json_t *)names, i, item)
    {
        if (!name || (json_is_string(item) && strcmp(json_string_value(item), name) == 0))
            return true;
    }
    return false;
}

/* Returns the server's program if it is not found, else NULL. The server moves anyway, since its client may have
 * another PATH. */
static const char *find_missing_program(struct arena *arena, const struct mcp_server *server)
{
    const struct child child = {.argv = server->argv, .environment = server->environment};
    if (!server->argv ||
        (server->argv[0][0] == '/' ? access(server->argv[0], X_OK) == 0 : wt__process_can_find(&child)))
        return NULL;
    return wt__arena_copy(arena, wt__str(server->argv[0]));
}

/* ---------------------------------------------------------------- offered variables */

/* Environment variables that configure Docker and the network on this machine. whichtool passes on few variables, so a
 * server that needs one of these would fail without it. */
static const char *const offered[] = {"DOCKER_HOST", "HTTPS_PROXY",   "HTTP_PROXY",
                                      "NO_PROXY",    "https_proxy",   "http_proxy",
                                      "no_proxy",    "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"};
enum { OFFERED = sizeof offered / sizeof *offered };
_Static_assert((int)OFFERED <= (int)OFFERED_MAX, "hands_on has a flag for each offered variable");

static bool is_offered(const struct file_plan *r, const char *name)
{
    const char *value = getenv(name);
    return !r->options->no_environment && value && *value;
}

/* Adds to the definition of a program each offered variable that this process has, as "${NAME:-}". */
static int offer_variables(struct file_plan *r, json_t *definition, wt_error *err)
{
    json_t *environment = wt__json_object(definition, "env");
    WT_CLEANUP(json_decrefp) json_t *copy = environment ? json_copy(environment) : json_object();
    bool failed = !copy;
    for (size_t i = 0; !failed && i < OFFERED; i++) {
        if (!is_offered(r, offered[i]) || json_object_get(copy, offered[i]))
            continue;
        failed = json_object_set_new(copy, offered[i], json_sprintf("${%s:-}", offered[i])) < 0;
        r->hands_on[i] = true;
    }
    if (!failed && json_object_size(copy) > 0)
        failed = json_object_set(definition, "env", copy) < 0;
    return failed ? wt__fail_nomem(err) : 0;
}

/* Lists the added variables in file->handed_on. If the client replaces variables, a new entry passes them on. */
static int note_offered(struct file_plan *r, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer names = {0};
    for (size_t i = 0; i < OFFERED; i++) {
        if (!r->hands_on[i])
            continue;
        wt__buffer_printf(&names, "%s%s", names.len > 0 ? ", " : "", offered[i]);
        if (r->file->place->variables != VARIABLES_NONE)
            WT_TRY(add_variable(r, offered[i], err));
    }
    if (names.len == 0)
        return 0;
    r->file->handed_on = wt__arena_copy(&r->import->arena, wt__buffer_view(&names));
    return r->file->handed_on ? 0 : wt__fail_nomem(err);
}

static int plan_server(struct file_plan *r, size_t index, wt_error *err)
{
    const struct mcp_server *configured = &r->config.servers[index];
    const json_t *entry = json_object_get(r->servers, configured->name);
    struct client_import_server *out = &r->file->servers[r->file->count];
    struct arena *arena = &r->import->arena;
    struct client_server judged;
    if (wt__client_entry_is_ours(entry, r->import->servers_path))
        return 0;
    r->file->count++;
    *out = (struct client_import_server){.name = wt__arena_copy(arena, wt__str(configured->name))};
    WT_CHECK_ALLOC(out->name, err);
    WT_TRY(wt__client_check_server(&judged, arena, r->file->place, configured, entry, err));
    WT_CLEANUP(json_decrefp) json_t *definition = judged.definition;
    out->why = judged.why;
    for (size_t i = 0; !out->why && i < judged.variable_count; i++)
        if (!passes_on(r, judged.variables[i]))
            out->why = "it uses a variable that is not in the \"env\" of whichtool's entry";
    if (!out->why && is_server_listed(r, "excluded", out->name))
        out->why = "its client lists it in \"excluded\"";
    if (out->why)
        return 0;
    if (configured->argv)
        WT_TRY(offer_variables(r, definition, err));
    WT_TRY(name_server(r->import, out, definition, err));
    if (!out->as)
        return 0;
    r->file->moving++;
    out->missing = find_missing_program(arena, configured);
    WT_TRY(note_moved(r, out, definition, err));
    return add_variables(r, &judged, err);
}

/* Parses the servers of the file, in file order. */
static int read_config(struct file_plan *r, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    wt__buffer_text(&text, "{\"mcpServers\":");
    wt__buffer_append(&text, r->file->text.text.ptr + r->members.open, r->members.close + 1 - r->members.open);
    wt__buffer_text(&text, "\n}");
    return text.failed ? wt__fail_nomem(err)
                       : wt__mcp_config_parse(&r->config, wt__buffer_view(&text), r->file->path, err);
}

/* Sets *right to true if the new text differs from the old one only by the moved servers and the entry. Modifies
 * r->root, so it is called last. */
static int check_edit(struct file_plan *r, struct str after, bool *right, wt_error *err)
{
    WT_CLEANUP(json_decrefp) json_t *have = NULL;
    WT_CLEANUP(json_decrefp) json_t *entry = NULL;
    int rc = wt__json_parse_relaxed(&have, after, NULL);
    for (size_t i = 0; i < r->file->count; i++)
        if (r->file->servers[i].as)
            json_object_del(r->servers, r->file->servers[i].name);
    if (rc == 0 && r->file->entry_text)
        rc = wt__json_parse(&entry, r->file->entry_text, strlen(r->file->entry_text), NULL);
    if (rc == 0 && entry && json_object_set(r->servers, r->file->entry, entry) < 0)
        rc = WT_ENOMEM;
    *right = rc == 0 && json_equal(have, r->root);
    return rc == WT_ENOMEM ? wt__fail_nomem(err) : 0;
}

static int edit_file(struct file_plan *r, wt_error *err)
{
    struct client_import_file *file = r->file;
    struct arena *arena = &r->import->arena;
    bool *drop = wt__arena_array(arena, bool, r->members.count + 1), right = false;
    WT_CHECK_ALLOC(drop, err);
    for (size_t i = 0; i < r->members.count; i++)
        for (size_t k = 0; k < file->count; k++)
            drop[i] |= file->servers[k].as && strcmp(r->members.members[i].name, file->servers[k].name) == 0;
    if (!file->entry) {
        file->entry = choose_entry_name(arena, r->servers);
        WT_CHECK_ALLOC(file->entry, err);
        WT_TRY(write_entry(file, r->import, r->options, &r->members, r->variables, r->variable_count, err));
    }
    const struct json_new_member added = {file->entry, wt__str(file->entry_text)};
    WT_CLEANUP(wt__buffer_dispose) struct buffer out = {0};
    wt__json_edit(&out, &r->members, drop, &added, file->entry_text ? 1 : 0);
    file->after = (struct str){out.failed ? NULL : wt__arena_copy(arena, wt__buffer_view(&out)), out.len};
    WT_CHECK_ALLOC(file->after.ptr, err);
    WT_TRY(check_edit(r, file->after, &right, err));
    return right ? 0 : skip_file(r, "it cannot be edited without changing other parts of it", err);
}

/* Notes the servers that Claude Code keeps per project. They stay, since in our file all projects would get them. */
static int note_projects(struct file_plan *r, wt_error *err)
{
    const char *path;
    json_t *project;
    size_t count = 0;
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    json_object_foreach(wt__json_object(r->root, "projects"), path, project)
    {
        count += json_object_size(wt__json_object(project, "mcpServers"));
    }
    if (count == 0)
        return 0;
    wt__buffer_printf(&text, "%zu servers of single projects (in its \"projects\") stay there", count);
    r->file->note = text.failed ? NULL : wt__arena_copy(&r->import->arena, wt__buffer_view(&text));
    return r->file->note ? 0 : wt__fail_nomem(err);
}

/* Finds the entry of an earlier run. */
static void find_entry(struct file_plan *r)
{
    for (size_t i = 0; !r->file->entry && i < r->members.count; i++)
        if (wt__client_entry_is_ours(json_object_get(r->servers, r->members.members[i].name), r->import->servers_path))
            r->file->entry = r->members.members[i].name;
}

static int plan_servers(struct file_plan *r, wt_error *err)
{
    const struct client_place *place = r->file->place;
    const json_t *outer = place->outer ? wt__json_object(r->root, place->outer) : r->root;
    r->servers = wt__json_object(outer, place->inner);
    wt_error why;
    WT_TRY(note_projects(r, err));
    if (!r->servers)
        return 0;
    if (is_server_listed(r, "allowed", NULL))
        return skip_file(r, "its \"allowed\" lists the servers that its client starts", err);
    int rc = read_config(r, &why);
    if (rc < 0)
        return rc == WT_ENOMEM ? wt__fail_nomem(err) : skip_file(r, why.message, err);
    find_entry(r);
    r->file->servers = wt__arena_array(&r->import->arena, struct client_import_server, r->config.count + 1);
    WT_CHECK_ALLOC(r->file->servers, err);
    for (size_t i = 0; i < r->config.count; i++)
        WT_TRY(plan_server(r, i, err));
    WT_TRY(note_offered(r, err));
    return r->file->moving > 0 ? edit_file(r, err) : 0;
}

static int read_file(struct file_plan *r, wt_error *err)
{
    const struct client_place *place = r->file->place;
    struct arena *arena = &r->import->arena;
    const char *both[] = {place->outer, place->inner, NULL};
    const char *why = NULL;
    wt_error read_error;
    if (!place->inner)
        return skip_file(r, "it is TOML, which whichtool cannot edit", err);
    int rc = wt__client_text_read(&r->file->text, &why, arena, r->file->path, err);
    if (rc < 0)
        return rc;
    if (rc == 0)
        return skip_file(r, why, err);
    if (!wt__utf8_valid(wt__str(r->file->text.path)))
        return skip_file(r, "its path is not valid UTF-8", err);
    if (wt__str_trim(r->file->text.text).len == 0)
        return 0;
    rc = wt__json_members(&r->members, arena, r->file->text.text, place->outer ? both : both + 1, &read_error);
    if (rc >= 0)
        rc = wt__json_parse_relaxed(&r->root, r->file->text.text, &read_error);
    if (rc < 0)
        return rc == WT_ENOMEM ? wt__fail_nomem(err) : skip_file(r, read_error.message, err);
    return plan_servers(r, err);
}

static void dispose_file_plan(struct file_plan *r)
{
    wt__mcp_config_dispose(&r->config);
    json_decref(r->root);
    free(r->variables);
}

static int plan_file(struct client_import *import, const struct client_import_options *options,
                     struct client_import_file *file, wt_error *err)
{
    WT_CLEANUP(dispose_file_plan) struct file_plan r = {.import = import, .options = options, .file = file};
    int rc = read_file(&r, err);
    import->moving += file->moving;
    return rc;
}

/* ---------------------------------------------------------------- all files */

/* True if the file of an earlier place has the same path after resolving links. */
static bool is_seen_file(const struct client_import *import, const struct client_text *text)
{
    for (size_t i = 0; text->path && i + 1 < import->count; i++)
        if (import->files[i].text.path && strcmp(import->files[i].text.path, text->path) == 0)
            return true;
    return false;
}

static int plan_place(struct client_import *import, const struct client_import_options *options,
                      const struct client_place *place, wt_error *err)
{
    struct client_import_file *file = &import->files[import->count];
    struct stat info;
    bool wanted = place->scope == (options->project ? CLIENT_OF_PROJECT : CLIENT_OF_USER);
    if (!wanted || !wt__client_is_chosen(options, place->client))
        return 0;
    *file = (struct client_import_file){.place = place};
    int rc = wt__client_file(&file->path, &import->arena, place, options->system, options->project, err);
    if (rc < 0 || (lstat(file->path, &info) != 0 && (errno == ENOENT || errno == ENOTDIR)))
        return rc;
    import->count++;
    WT_AUTO_FREE char *real = realpath(file->path, NULL);
    file->text.path = real ? wt__arena_copy(&import->arena, wt__str(real)) : NULL;
    if (is_seen_file(import, &file->text)) {
        file->why = "it is a link to a file above";
        return 0;
    }
    return plan_file(import, options, file, err);
}

/* Adds the new servers to the text of our file. */
static int add_our_servers(struct client_import *import, wt_error *err)
{
    static const struct str empty = STR("{\n  \"mcpServers\": {\n  }\n}\n");
    struct json_members members;
    struct json_new_member *added =
        wt__arena_array(&import->arena, struct json_new_member, json_object_size(import->servers) + 1);
    size_t count = 0;
    const char *name;
    json_t *definition;
    WT_CHECK_ALLOC(added, err);
    int rc =
        wt__json_members(&members, &import->arena, import->present.path ? import->present.text : empty, our_path, err);
    if (rc <= 0)
        return rc;
    bool *drop = wt__arena_array(&import->arena, bool, members.count + 1);
    WT_CHECK_ALLOC(drop, err);
    json_object_foreach(import->servers, name, definition)
    {
        WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
        if (wt__json_member_named(&members, name))
            continue;
        wt__json_write_typed(&text, definition);
        added[count] = (struct json_new_member){
            name, {text.failed ? NULL : wt__arena_copy(&import->arena, wt__buffer_view(&text)), text.len}};
        WT_CHECK_ALLOC(added[count].value.ptr, err);
        count++;
    }
    WT_CLEANUP(wt__buffer_dispose) struct buffer out = {0};
    wt__json_edit(&out, &members, drop, added, count);
    import->servers_after =
        (struct str){out.failed ? NULL : wt__arena_copy(&import->arena, wt__buffer_view(&out)), out.len};
    return import->servers_after.ptr ? 0 : wt__fail_nomem(err);
}

/* Checks that the paths are valid UTF-8, as JSON requires. */
static int check_paths(const struct client_import *import, const struct client_import_options *options, wt_error *err)
{
    const char *const paths[] = {import->servers_path, options->program, options->store};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (paths[i] && !wt__utf8_valid(wt__str(paths[i])))
            return wt__fail(err, WT_EFORMAT, "%s is not valid UTF-8, so JSON files cannot contain it", paths[i]);
    return 0;
}

int wt__client_import_plan(struct client_import *out, const struct client_import_options *options, wt_error *err)
{
    size_t count;
    const struct client_place *places = wt__client_places(&count);
    *out = (struct client_import){.options = options, .folder = options->folder, .lock = -1};
    WT_TRY(wt__client_own_paths(options->folder, &out->arena, &out->servers_path, &out->record_path, err));
    out->files = wt__arena_array(&out->arena, struct client_import_file, count);
    WT_CHECK_ALLOC(out->files, err);
    WT_TRY(check_paths(out, options, err));
    WT_TRY(read_gateway_servers(out, err));
    for (size_t i = 0; i < count; i++)
        WT_TRY(plan_place(out, options, &places[i], err));
    if (json_object_size(out->servers) > MCP_SERVERS_MAX)
        return wt__fail(err, WT_ETOOLONG, "%s would have more than %d servers: choose clients with --client",
                        out->servers_path, MCP_SERVERS_MAX);
    return add_our_servers(out, err);
}

void wt__client_import_dispose(struct client_import *import)
{
    wt__unlock_file(import->lock);
    json_decref(import->servers);
    wt__arena_dispose(&import->arena);
    *import = (struct client_import){.lock = -1};
}

/* ---------------------------------------------------------------- apply */

static int add_change(struct client_import *import, struct client_change *out, const struct client_import_file *file,
                      wt_error *err)
{
    struct arena *arena = &import->arena;
    *out = (struct client_change){.client = file->place->client,
                                  .file = file->text.path,
                                  .outer = file->place->outer,
                                  .inner = file->place->inner,
                                  .backup = file->backup,
                                  .before = wt__text_hash(arena, file->text.text),
                                  .after = wt__text_hash(arena, file->after),
                                  .entry = file->entry_text ? file->entry : NULL};
    out->moved = wt__arena_array(arena, struct client_moved, file->moving + 1);
    if (!out->before || !out->after || !out->moved)
        return wt__fail_nomem(err);
    for (size_t i = 0; i < file->count; i++)
        if (file->servers[i].as)
            out->moved[out->moved_count++] = file->servers[i].moved;
    return 0;
}

/* Drops from the record the changes of a file that the user has undone by hand. hash: hash of the file's present
 * content. If a change has this hash as `before`, the user has undone this change and all later changes of the file. */
static void forget_undone(struct client_record *record, const char *file, const char *hash)
{
    size_t kept = 0, from = SIZE_MAX;
    for (size_t i = 0; i < record->count && from == SIZE_MAX; i++)
        if (strcmp(record->changes[i].file, file) == 0 && strcmp(record->changes[i].before, hash) == 0)
            from = i;
    for (size_t i = 0; i < record->count; i++)
        if (i < from || strcmp(record->changes[i].file, file) != 0)
            record->changes[kept++] = record->changes[i];
    record->count = kept;
}

static int record_changes(struct client_import *import, wt_error *err)
{
    struct client_record *record = &import->record, next = {.count = 0};
    next.made_servers = record->count > 0 ? record->made_servers : !import->present.path;
    next.changes = wt__arena_array(&import->arena, struct client_change, record->count + import->count);
    WT_CHECK_ALLOC(next.changes, err);
    if (record->count > 0)
        memcpy(next.changes, record->changes, record->count * sizeof *next.changes);
    next.count = record->count;
    for (size_t i = 0; i < import->count; i++) {
        struct client_import_file *file = &import->files[i];
        struct client_change change;
        if (file->moving == 0)
            continue;
        WT_TRY(wt__client_backup(&file->backup, &file->has_new_backup, &import->arena, &file->text, err));
        WT_TRY(add_change(import, &change, file, err));
        forget_undone(&next, change.file, change.before);
        next.changes[next.count++] = change;
    }
    if (next.count > CLIENT_CHANGES_MAX)
        return wt__fail(err, WT_ETOOLONG, "%s has more than %d changes: run `mcp undo` first", import->record_path,
                        CLIENT_CHANGES_MAX);
    *record = next;
    return wt__client_record_write(record, import->record_path, err);
}

/* Creates the folder. Only its owner may open it, since its files may hold secrets. */
static int make_private_folder(const char *folder, wt_error *err)
{
    bool there = wt__is_folder(folder);
    WT_TRY(wt__make_folders(folder, err));
    return there || chmod(folder, 0700) == 0 ? 0 : wt__fail_errno(err, "create", folder);
}

/* True if a file that could not be written may have its new content. A write can fail after the rename, and an
 * unreadable file may have either content. */
static bool may_hold(const struct client_import_file *file)
{
    WT_AUTO_FREE char *text = NULL;
    size_t len = 0;
    int rc = wt__file_read(&text, &len, file->text.path, JSON_EDIT_BYTES_MAX, NULL);
    return rc < 0 || wt__str_equal((struct str){text, len}, file->after);
}

/* Removes from the record the changes of files that could not be written. */
static int drop_failed(struct client_import *import, wt_error *err)
{
    struct client_record *record = &import->record;
    size_t kept = 0;
    for (size_t i = 0; i < record->count; i++) {
        bool failed = false;
        for (size_t k = 0; k < import->count; k++)
            failed |= import->files[k].backup == record->changes[i].backup && import->files[k].why &&
                      !may_hold(&import->files[k]);
        if (!failed)
            record->changes[kept++] = record->changes[i];
    }
    record->count = kept;
    return wt__client_record_write(record, import->record_path, err);
}

/* Locks the folder, and writes the backups, the record and our file. */
static int write_before_clients(struct client_import *import, wt_error *err)
{
    WT_TRY(make_private_folder(import->folder, err));
    WT_TRY(wt__client_lock(&import->lock, import->folder, &import->arena, err));
    WT_TRY(wt__client_record_read(&import->record, &import->arena, import->record_path, err));
    if (!import->present.path && access(import->servers_path, F_OK) == 0)
        return wt__fail(err, WT_EBUSY, "%s was created meanwhile: try again", import->servers_path);
    WT_TRY(record_changes(import, err));
    return import->present.path ? wt__client_text_write(&import->present, import->servers_after, err)
                                : wt__private_write(import->servers_path, import->servers_after, err);
}

/* ---------------------------------------------------------------- a file changed by its client */

/* Returns the moving server of the file with the same name and the same new name as `server`, or NULL. */
static struct client_import_server *find_same_server(const struct client_import_file *file,
                                                     const struct client_import_server *server)
{
    for (size_t i = 0; i < file->count; i++)
        if (file->servers[i].as && strcmp(file->servers[i].name, server->name) == 0)
            return strcmp(file->servers[i].as, server->as) == 0 ? &file->servers[i] : NULL;
    return NULL;
}

/* Plans a changed file again. Returns 1 and replaces *file if the same servers move. Returns 0 if other servers move or
 * the file can no longer be edited. Returns a negative code on other errors. */
static int plan_file_again(struct client_import *import, struct client_import_file *file, wt_error *err)
{
    struct client_import_file next = {.place = file->place, .path = file->path};
    WT_CLEANUP(dispose_file_plan)
    struct file_plan r = {.import = import, .options = import->options, .file = &next};
    int rc = read_file(&r, err);
    bool same = rc == 0 && !next.why && next.moving == file->moving;
    for (size_t i = 0; same && i < next.count; i++) {
        const struct client_import_server *before =
            next.servers[i].as ? find_same_server(file, &next.servers[i]) : NULL;
        same = before || !next.servers[i].as;
        next.servers[i].shared = before && before->shared;
    }
    if (!same)
        return rc;
    next.backup = file->backup;
    next.has_new_backup = file->has_new_backup;
    *file = next;
    return 1;
}

/* Replaces the change of a file in the record by the change of its new plan. */
static int record_again(struct client_import *import, struct client_import_file *file, wt_error *err)
{
    struct client_record *record = &import->record;
    struct client_change change;
    const char *old = file->backup;
    const bool had_new = file->has_new_backup;
    size_t at = 0;
    WT_TRY(wt__client_backup(&file->backup, &file->has_new_backup, &import->arena, &file->text, err));
    WT_TRY(add_change(import, &change, file, err));
    while (at < record->count && record->changes[at].backup != old)
        at++;
    if (at < record->count)
        record->changes[at] = change;
    WT_TRY(wt__client_record_write(record, import->record_path, err));
    if (had_new && strcmp(old, file->backup) != 0)
        unlink(old); /* the file was not replaced, so this backup is not needed */
    return 0;
}

/* Writes a client's file. If its client changes the file meanwhile, plans the new text and tries again. Also tries
 * again if the new text is invalid, since the client may still be writing it. */
static int write_client_file(struct client_import *import, struct client_import_file *file, wt_error *err)
{
    int rc = wt__client_text_write(&file->text, file->after, err);
    for (int tries = 0; rc == WT_EBUSY && tries < CLIENT_TRIES; tries++) {
        wt_error why;
        wt__client_pause(tries);
        int again = plan_file_again(import, file, &why);
        if (again == 1)
            again = record_again(import, file, &why) < 0 ? why.code : 1;
        if (again < 0)
            rc = wt__fail(err, again, "%s", why.message);
        else if (again == 1)
            rc = wt__client_text_write(&file->text, file->after, err);
    }
    return rc;
}

int wt__client_import_apply(struct client_import *import, wt_error *err)
{
    wt_error why;
    if (import->moving == 0)
        return 0;
    WT_TRY(write_before_clients(import, err));
    int rc = 0;
    for (size_t i = 0; i < import->count; i++) {
        struct client_import_file *file = &import->files[i];
        int written = file->moving > 0 ? write_client_file(import, file, &why) : 0;
        file->written = file->moving > 0 && written == 0;
        if (written < 0) {
            file->why = wt__arena_copy(&import->arena, wt__str(why.message));
            if (!file->why)
                file->why = "out of memory";
            if (rc == 0)
                rc = wt__fail(err, written, "%s", why.message);
        }
    }
    if (rc < 0)
        drop_failed(import, NULL); /* ignore errors: undo skips recorded changes that were never made */
    return rc;
}
