/* clients.c: `whichtool mcp init` and `mcp undo`, which change configuration files of MCP clients. Both print all
 * planned changes first and then ask, because the files belong to other programs. Without a terminal, --yes is
 * required. */

#include "cli/cli.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "setup/client_files.h"
#include "store/location.h"
#include "wire/members.h"

enum { LABEL_INDENT = 4, PROJECT_DIGITS = 12 };

/* ---------------------------------------------------------------- options */

/* Returns the path by which clients start this program. This is its path in $PATH, because the path of the executable
 * may contain the version of a package. If $PATH does not lead to this program, returns the path of the executable. */
static const char *find_program(struct cli *cli)
{
    char own[PATH_MAX];
    struct stat self, there;
    ssize_t len = readlink("/proc/self/exe", own, sizeof own - 1);
    if (len <= 0 || (size_t)len >= sizeof own - 1)
        return "whichtool";
    own[len] = '\0';
    const char *path = getenv("PATH");
    while (path && *path && stat(own, &self) == 0) {
        size_t folder = strcspn(path, ":");
        char *named = wt__arena_copy(&cli->arena, (struct str){path, folder});
        named = named && named[0] == '/' ? wt__path_join(&cli->arena, named, "whichtool") : NULL;
        if (named && stat(named, &there) == 0 && there.st_dev == self.st_dev && there.st_ino == self.st_ino)
            return named;
        path += folder + (path[folder] == ':');
    }
    return wt__arena_copy(&cli->arena, wt__str(own));
}

/* Returns the folder for a project's servers, FOLDER/projects/NAME-DIGITS. NAME is the last part of the project's path.
 * DIGITS are the first digits of the hash of this path. Returns NULL if out of memory. */
static const char *project_folder(struct cli *cli, const char *folder, const char *project)
{
    struct buffer name = {0};
    const char *slash = strrchr(project, '/'), *hash = wt__text_hash(&cli->arena, wt__str(project));
    wt__buffer_printf(&name, "%s/projects/%s-%.*s", folder, slash ? slash + 1 : project, PROJECT_DIGITS,
                      hash ? hash : "");
    const char *out = name.failed || !hash ? NULL : wt__arena_copy(&cli->arena, wt__buffer_view(&name));
    wt__buffer_dispose(&name);
    return out;
}

static int read_absolute_store(struct cli *cli, struct client_import_options *out)
{
    char here[PATH_MAX];
    const char *store = wt__option_text(cli, OPT_STORE);
    if (!store || !*store)
        return 0;
    if (wt__has_store_password(store))
        return wt__cli_usage(cli,
                             "the configuration of a client must not contain the password of the store: write it to "
                             "~/.pgpass, and leave it out of the URL");
    if (store[0] != '/' && !wt__is_store_url(store))
        store = getcwd(here, sizeof here) ? wt__path_join(&cli->arena, here, store) : NULL;
    out->store = store;
    return store ? 0 : wt__cli_report(cli, END_SYSTEM, "cannot determine the current folder");
}

static const char *client_name_at(const void *context, size_t index)
{
    size_t count;
    const struct client_place *places = wt__client_places(&count);
    (void)context;
    return index < count ? places[index].client : NULL;
}

static int refuse_client(const struct cli *cli, const char *name)
{
    const char *near = wt__closest_word(name, client_name_at, NULL);
    return near ? wt__cli_usage(cli, "unknown client \"%s\"; did you mean %s?", name, near)
                : wt__cli_usage(cli, "unknown client \"%s\"; `whichtool help mcp` lists the clients", name);
}

/* Returns 0, or an exit code after reporting the error. */
static int read_import_options(struct cli *cli, struct client_import_options *out)
{
    char here[PATH_MAX], *folder = NULL;
    wt_error err;
    *out = (struct client_import_options){
        .system = wt__client_system(), .program = find_program(cli), .no_environment = wt__has_option(cli, OPT_NO_ENV)};
    if (cli->arguments.word_count > 1)
        return wt__cli_usage(cli, "`mcp %s` takes no arguments, but \"%s\" was given", cli->arguments.words[0],
                             cli->arguments.words[1]);
    if (!out->program || !wt__option_lines(cli, OPT_CLIENT, &out->clients, &out->client_count))
        return wt__cli_report(cli, END_SYSTEM, "out of memory");
    for (size_t i = 0; i < out->client_count; i++)
        if (!wt__client_is_known(out->clients[i]))
            return refuse_client(cli, out->clients[i]);
    if (wt__config_folder(&folder, &cli->arena, &err) < 0)
        return wt__cli_report(cli, END_SYSTEM, "%s", err.message);
    out->folder = folder;
    if (wt__has_option(cli, OPT_PROJECT)) {
        const char *project = getcwd(here, sizeof here) ? wt__arena_copy(&cli->arena, wt__str(here)) : NULL;
        out->project = project;
        out->folder = project ? project_folder(cli, folder, project) : NULL;
        if (!out->folder)
            return wt__cli_report(cli, END_SYSTEM, "cannot determine the current folder");
    }
    return read_absolute_store(cli, out);
}

/* Reports a failure of a client's file. wt__cli_fail is not used, because its exit codes are for failures of the
 * store. */
static int fail_on_client_file(struct cli *cli, const wt_error *err)
{
    bool input = err->code == WT_EFORMAT || err->code == WT_ETOOLONG;
    return wt__cli_report(cli, input ? END_INPUT : END_SYSTEM, "%s", err->message);
}

/* ---------------------------------------------------------------- text */

static void put_labelled_line(const struct cli *cli, struct buffer *out, const char *label, const char *text)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer escaped = {0};
    wt__text_escape(&escaped, wt__str(text), TEXT_LINE);
    wt__text_pad(out, LABEL_INDENT);
    wt__print_field(cli, out, label, escaped.ptr ? escaped.ptr : "");
    out->failed |= escaped.failed;
}

static void put_title(const struct cli *cli, struct buffer *out, const char *title, const char *path)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer line = {0}, escaped = {0};
    wt__buffer_printf(&line, "%s: %s", title, path);
    wt__text_escape(&escaped, wt__buffer_view(&line), TEXT_LINE);
    wt__style_begin(out, cli->color_out, STYLE_BOLD);
    wt__buffer_str(out, wt__buffer_view(&escaped));
    wt__style_end(out, cli->color_out);
    wt__buffer_char(out, '\n');
    out->failed |= line.failed || escaped.failed;
}

static bool can_proceed(const struct cli *cli)
{
    return wt__has_option(cli, OPT_YES) || wt__has_option(cli, OPT_DRY_RUN) || wt__can_ask(cli);
}

/* Asks on the terminal; true only for a yes, or with --yes. */
static bool confirm_changes(const struct cli *cli, const char *verb, size_t files)
{
    if (wt__has_option(cli, OPT_YES))
        return true;
    wt__cli_note(cli, "Close these clients first: some write their file on exit.");
    fprintf(stderr, "%s %zu file%s? [y/N] ", verb, files, files == 1 ? "" : "s");
    return wt__answer_is_yes();
}

static int refuse_without_terminal(const struct cli *cli)
{
    return wt__cli_usage(cli, "cannot ask without a terminal; preview with --dry-run, or apply with --yes");
}

/* ---------------------------------------------------------------- init */

static const char *import_state(const struct client_import_file *file)
{
    if (file->why)
        return "left";
    if (file->written)
        return "changed";
    return file->moving > 0 ? "planned" : "unchanged";
}

static void json_import_file(struct buffer *out, const struct client_import_file *file)
{
    wt__buffer_char(out, '{');
    wt__json_text(out, "client", file->place->client);
    wt__json_text(out, "path", file->path);
    wt__json_text(out, "state", import_state(file));
    wt__json_text_or_null(out, "reason", file->why);
    wt__json_text_or_null(out, "note", file->note);
    wt__json_text_or_null(out, "entry", file->entry);
    wt__json_text_or_null(out, "backup", file->backup);
    wt__json_text_or_null(out, "handed_on", file->handed_on);
    wt__json_key(out, "servers");
    wt__buffer_char(out, '[');
    for (size_t i = 0; i < file->count; i++) {
        const struct client_import_server *server = &file->servers[i];
        wt__buffer_text(out, i ? ",{" : "{");
        wt__json_text(out, "name", server->name);
        wt__json_text_or_null(out, "becomes", server->as);
        wt__json_text_or_null(out, "stays_because", server->why);
        wt__json_text_or_null(out, "not_found", server->missing);
        wt__buffer_char(out, '}');
    }
    wt__buffer_text(out, "]}");
}

static bool json_import(const struct client_import *import)
{
    struct buffer out = {0};
    wt__buffer_char(&out, '{');
    wt__json_text(&out, "servers_file", import->servers_path);
    wt__json_count(&out, "moving", import->moving);
    wt__json_key(&out, "files");
    wt__buffer_char(&out, '[');
    for (size_t i = 0; i < import->count; i++) {
        wt__buffer_text(&out, i ? "," : "");
        json_import_file(&out, &import->files[i]);
    }
    wt__buffer_text(&out, "]}\n");
    return wt__cli_print(&out);
}

static void put_moved_server(const struct cli *cli, struct buffer *out, const struct client_import_server *server)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer line = {0};
    if (!server->as)
        wt__buffer_printf(&line, "%s: %s", server->name, server->why);
    else if (strcmp(server->as, server->name) != 0)
        wt__buffer_printf(&line, "%s, as %s, because another client has a different server of that name", server->name,
                          server->as);
    else if (server->shared)
        wt__buffer_printf(&line, "%s, same as another client's", server->name);
    else
        wt__buffer_text(&line, server->name);
    if (server->as && server->missing)
        wt__buffer_printf(&line, "; %s was not found", server->missing);
    put_labelled_line(cli, out, server->as ? "moves" : "stays", line.ptr ? line.ptr : "");
    out->failed |= line.failed;
}

static void put_import_file(const struct cli *cli, struct buffer *out, const struct client_import_file *file)
{
    if (!file->why && !file->note && file->count == 0 && !file->entry)
        return; /* no servers */
    put_title(cli, out, file->place->title, file->path);
    for (size_t i = 0; !file->why && i < file->count; i++)
        put_moved_server(cli, out, &file->servers[i]);
    if (file->why)
        put_labelled_line(cli, out, "left", file->why);
    if (file->note)
        put_labelled_line(cli, out, "note", file->note);
    if (!file->why && file->handed_on)
        put_labelled_line(cli, out, "adds env", file->handed_on);
    if (!file->why && file->entry_text)
        put_labelled_line(cli, out, "instead", file->entry);
    else if (!file->why && file->entry)
        put_labelled_line(cli, out, "has", file->entry);
}

static size_t count_changed_files(const struct client_import *import, bool written)
{
    size_t count = 0;
    for (size_t i = 0; i < import->count; i++)
        count += written ? import->files[i].written : import->files[i].moving > 0;
    return count;
}

static bool put_import(const struct cli *cli, const struct client_import *import,
                       const struct client_import_options *options)
{
    struct buffer out = {0}, entry = {0};
    for (size_t i = 0; i < import->count; i++)
        put_import_file(cli, &out, &import->files[i]);
    if (import->moving > 0) {
        put_title(cli, &out, "Servers move to", import->servers_path);
        wt__buffer_printf(&entry, "%s%s%s mcp --servers %s", options->program, options->store ? " -s " : "",
                          options->store ? options->store : "", import->servers_path);
        put_labelled_line(cli, &out, "entry", entry.ptr ? entry.ptr : "");
        if (import->present.path || count_changed_files(import, false) > 1)
            put_labelled_line(cli, &out, "note", "every client with this entry gets all servers of this file");
    }
    out.failed |= entry.failed;
    wt__buffer_dispose(&entry);
    return wt__cli_print(&out);
}

/* Reports the changed files. */
static void note_changed(const struct cli *cli, const struct client_import *import)
{
    for (size_t i = 0; i < import->count; i++)
        if (import->files[i].written)
            wt__cli_note(cli, "%s was changed; its backup is %s", import->files[i].path, import->files[i].backup);
    if (count_changed_files(import, true) > 0)
        wt__cli_note(cli, "Restart the clients. `whichtool mcp undo%s` restores their files.",
                     wt__has_option(cli, OPT_PROJECT) ? " --project" : "");
}

static int apply_import(struct cli *cli, struct client_import *import)
{
    wt_error err;
    if (!confirm_changes(cli, "Change", count_changed_files(import, false)))
        return wt__cli_report(cli, END_NOTHING, "nothing was changed");
    int rc = wt__client_import_apply(import, &err);
    if (cli->json && !json_import(import))
        return END_SYSTEM;
    note_changed(cli, import);
    return rc < 0 ? fail_on_client_file(cli, &err) : 0;
}

static int run_init(struct cli *cli, struct client_import *import, const struct client_import_options *options)
{
    bool dry = wt__has_option(cli, OPT_DRY_RUN), acts = import->moving > 0 && !dry;
    if (import->count == 0)
        return wt__cli_report(cli, END_NOTHING, "no configuration file of an MCP client was found%s%s",
                              options->project ? " in " : "", options->project ? options->project : "");
    if (acts && !can_proceed(cli))
        return refuse_without_terminal(cli);
    if (!cli->json && !put_import(cli, import, options))
        return END_SYSTEM;
    if (acts)
        return apply_import(cli, import);
    if (cli->json && !json_import(import))
        return END_SYSTEM;
    wt__cli_note(cli, import->moving > 0 ? "Nothing was changed (--dry-run)." : "There is nothing to move.");
    return 0;
}

int wt__mcp_init(struct cli *cli)
{
    struct client_import_options options;
    struct client_import import;
    wt_error err;
    WT_TRY(read_import_options(cli, &options));
    int code = wt__client_import_plan(&import, &options, &err) < 0 ? fail_on_client_file(cli, &err)
                                                                   : run_init(cli, &import, &options);
    wt__client_import_dispose(&import);
    return code;
}

/* ---------------------------------------------------------------- undo */

static const struct {
    const char *json, *says;
} states[] = {
    [UNDO_BYTES] = {"restored", "is restored byte for byte"},
    [UNDO_EDITED] = {"edited", "was changed since: the entry of whichtool is removed, and the servers are put back"},
    [UNDO_NEVER] = {"unchanged", "is unchanged"},
    [UNDO_GONE] = {"gone", "no longer exists; its backup is kept"},
    [UNDO_LEFT] = {"left", ""},
};

static bool json_undo(const struct client_undo *undo)
{
    struct buffer out = {0};
    wt__buffer_char(&out, '{');
    wt__json_text(&out, "servers_file", undo->servers_path);
    wt__json_texts(&out, "servers_left", undo->left, undo->left_count);
    wt__json_texts(&out, "servers_added", undo->added, undo->added_count);
    wt__json_key(&out, "files");
    wt__buffer_char(&out, '[');
    for (size_t i = 0; i < undo->count; i++) {
        const struct client_undo_file *file = &undo->files[i];
        wt__buffer_text(&out, i ? ",{" : "{");
        wt__json_text(&out, "client", file->client);
        wt__json_text(&out, "path", file->path);
        wt__json_text(&out, "state", states[file->state].json);
        wt__json_text_or_null(&out, "reason", file->why);
        wt__json_text(&out, "backup", file->backup);
        wt__json_flag(&out, "written", file->written);
        wt__json_texts(&out, "back", file->back, file->back_count);
        wt__json_texts(&out, "there_already", file->kept, file->kept_count);
        wt__buffer_char(&out, '}');
    }
    wt__buffer_text(&out, "]}\n");
    return wt__cli_print(&out);
}

/* Returns the client's display name. */
static const char *client_title(const char *client)
{
    size_t count;
    const struct client_place *places = wt__client_places(&count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(places[i].client, client) == 0)
            return places[i].title;
    return client;
}

/* Lists the backups of a file; each init that changed the file made a backup. */
static void put_backups(const struct cli *cli, struct buffer *out, const struct client_undo *undo, const char *path)
{
    for (size_t i = 0; i < undo->record.count; i++)
        if (undo->taken[i] && strcmp(undo->record.changes[i].file, path) == 0)
            put_labelled_line(cli, out, "backup", undo->record.changes[i].backup);
}

static bool put_undo(const struct cli *cli, const struct client_undo *undo)
{
    struct buffer out = {0};
    for (size_t i = 0; i < undo->count; i++) {
        const struct client_undo_file *file = &undo->files[i];
        put_title(cli, &out, client_title(file->client), file->path);
        put_labelled_line(cli, &out, file->state == UNDO_LEFT ? "left" : "file",
                          file->state == UNDO_LEFT ? file->why : states[file->state].says);
        for (size_t k = 0; file->state != UNDO_LEFT && k < file->back_count; k++)
            put_labelled_line(cli, &out, "back", file->back[k]);
        for (size_t k = 0; file->state != UNDO_LEFT && k < file->kept_count; k++)
            put_labelled_line(cli, &out, "there", file->kept[k]);
        if (file->state == UNDO_LEFT || file->state == UNDO_EDITED || file->state == UNDO_GONE)
            put_backups(cli, &out, undo, file->path);
    }
    return wt__cli_print(&out);
}

/* Reports what was restored and what was left. */
static void note_restored(struct cli *cli, const struct client_undo *undo)
{
    size_t written = 0;
    for (size_t i = 0; i < undo->count; i++)
        written += undo->files[i].written;
    wt__cli_note(cli, "%zu file%s restored. Restart the clients.", written, written == 1 ? "" : "s");
    for (size_t i = 0; i < undo->left_count; i++)
        wt__cli_note(cli, "The server %s was changed in %s since init, and stays there.", undo->left[i],
                     undo->servers_path);
    for (size_t i = 0; i < undo->added_count; i++)
        wt__cli_note(cli, "The server %s was added to %s by another program, and stays there.", undo->added[i],
                     undo->servers_path);
    if (wt__cli_find_store(cli) == 0 && wt__cli_has_store(cli))
        wt__cli_note(cli, "The store %s keeps the listed tools; `whichtool mcp forget NAME` removes them.",
                     cli->store_shown);
}

static int apply_undo(struct cli *cli, struct client_undo *undo)
{
    wt_error err;
    bool failed = false;
    if (!confirm_changes(cli, "Restore", undo->count))
        return wt__cli_report(cli, END_NOTHING, "nothing was changed");
    int rc = wt__client_undo_apply(undo, &err);
    if (cli->json && !json_undo(undo))
        return END_SYSTEM;
    for (size_t i = 0; i < undo->count; i++)
        failed |= undo->files[i].state == UNDO_LEFT;
    note_restored(cli, undo);
    if (rc < 0)
        return fail_on_client_file(cli, &err);
    return failed ? wt__cli_report(cli, END_INPUT,
                                   "some files were not restored; they are listed above with their backups")
                  : 0;
}

static int run_undo(struct cli *cli, struct client_undo *undo)
{
    bool dry = wt__has_option(cli, OPT_DRY_RUN);
    if (undo->count == 0)
        return wt__cli_report(cli, END_NOTHING, "there is nothing to restore");
    if (!can_proceed(cli))
        return refuse_without_terminal(cli);
    if (!cli->json && !put_undo(cli, undo))
        return END_SYSTEM;
    if (!dry)
        return apply_undo(cli, undo);
    if (cli->json && !json_undo(undo))
        return END_SYSTEM;
    wt__cli_note(cli, "Nothing was changed (--dry-run).");
    return 0;
}

int wt__mcp_undo(struct cli *cli)
{
    struct client_import_options options;
    struct client_undo undo;
    wt_error err;
    WT_TRY(read_import_options(cli, &options));
    int code = wt__client_undo_plan(&undo, &options, &err) < 0 ? fail_on_client_file(cli, &err) : run_undo(cli, &undo);
    wt__client_undo_dispose(&undo);
    return code;
}
