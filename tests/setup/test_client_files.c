/* Tests the paths of clients' files, and which servers can move. Damaged files must be edited correctly or skipped, and
 * undo must restore them byte for byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "setup/client_files.h"
#include "setup/internal.h"
#include "mcp/config.h"

static wt_error err;

/* ---------------------------------------------------------------- places */

static const struct {
    const char *client;
    enum client_scope scope;
    const char *linux_file, *mac_file;
} files[] = {
    {"claude-code", CLIENT_OF_USER, "/h/.claude.json", "/h/.claude.json"},
    {"claude-desktop", CLIENT_OF_USER, "/x/Claude/claude_desktop_config.json",
     "/h/Library/Application Support/Claude/claude_desktop_config.json"},
    {"cursor", CLIENT_OF_USER, "/h/.cursor/mcp.json", "/h/.cursor/mcp.json"},
    {"vscode", CLIENT_OF_USER, "/x/Code/User/mcp.json", "/h/Library/Application Support/Code/User/mcp.json"},
    {"vscode-insiders", CLIENT_OF_USER, "/x/Code - Insiders/User/mcp.json",
     "/h/Library/Application Support/Code - Insiders/User/mcp.json"},
    {"windsurf", CLIENT_OF_USER, "/h/.codeium/windsurf/mcp_config.json", "/h/.codeium/windsurf/mcp_config.json"},
    {"gemini-cli", CLIENT_OF_USER, "/h/.gemini/settings.json", "/h/.gemini/settings.json"},
    {"zed", CLIENT_OF_USER, "/x/zed/settings.json", "/h/.config/zed/settings.json"},
    {"cline", CLIENT_OF_USER, "/x/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
     "/h/Library/Application Support/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"},
    {"codex", CLIENT_OF_USER, "/c/config.toml", "/c/config.toml"},
    {"claude-code", CLIENT_OF_PROJECT, "/p/.mcp.json", "/p/.mcp.json"},
    {"vscode", CLIENT_OF_PROJECT, "/p/.vscode/mcp.json", "/p/.vscode/mcp.json"},
};

/* Returns the first place of a client in a scope. */
static const struct client_place *place_of(const char *client, enum client_scope scope)
{
    size_t count;
    const struct client_place *places = wt__client_places(&count);
    for (size_t i = 0; i < count; i++)
        if (places[i].scope == scope && strcmp(places[i].client, client) == 0)
            return &places[i];
    fail_msg("no place of %s", client);
    return NULL;
}

static void clients_files_have_known_paths(void **state)
{
    struct arena arena = {0};
    const char *file = NULL;
    (void)state;
    setenv("HOME", "/h", 1);
    setenv("XDG_CONFIG_HOME", "/x", 1);
    setenv("CODEX_HOME", "/c", 1);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const struct client_place *place = place_of(files[i].client, files[i].scope);
        assert_int_equal(wt__client_file(&file, &arena, place, CLIENT_LINUX, "/p", &err), 0);
        assert_string_equal(file, files[i].linux_file);
        assert_int_equal(wt__client_file(&file, &arena, place, CLIENT_MACOS, "/p", &err), 0);
        assert_string_equal(file, files[i].mac_file);
    }
    setenv("XDG_CONFIG_HOME", "relative", 1);
    assert_int_equal(wt__client_file(&file, &arena, place_of("zed", CLIENT_OF_USER), CLIENT_LINUX, NULL, &err), 0);
    assert_string_equal(file, "/h/.config/zed/settings.json");
    unsetenv("HOME");
    assert_int_equal(wt__client_file(&file, &arena, place_of("zed", CLIENT_OF_USER), CLIENT_LINUX, NULL, &err),
                     WT_ENOTFOUND);
    assert_string_equal(err.message, "HOME is not an absolute path; clients keep their files there");
    assert_true(wt__client_is_known("cursor"));
    assert_false(wt__client_is_known("emacs"));
    unsetenv("CODEX_HOME");
    wt__arena_dispose(&arena);
}

/* ---------------------------------------------------------------- one server */

/* Entries of clients' files. becomes: the definition in whichtool's file and the names of its variables, or the reason
 * why the server stays. The environment variable SET is set, and UNSET is not. */
static const struct {
    const char *client, *entry, *becomes;
} servers[] = {
    {"cursor", "{\"command\":\"c\",\"args\":[\"a\"],\"env\":{\"K\":\"v\"},\"cwd\":\"/x\",\"timeout\":5}",
     "{\"command\":\"c\",\"args\":[\"a\"],\"env\":{\"K\":\"v\"},\"cwd\":\"/x\"}"},
    {"cursor", "{\"command\":\"c\",\"cwd\":null,\"disabled\":false,\"autoApprove\":[\"x\"]}", "{\"command\":\"c\"}"},
    {"cursor", "{\"command\":\"c\",\"enabled\":false}", "it is disabled"},
    {"cursor", "{\"command\":\"c\",\"args\":[\"${env:SET}\"]}", "{\"command\":\"c\",\"args\":[\"${env:SET}\"]} SET"},
    {"cursor", "{\"command\":\"c\",\"args\":[\"${SET}\"]}", "only its client knows what ${SET} is"},
    {"cursor", "{\"command\":\"c\",\"args\":[\"${env:UNSET}\"]}", "it needs a variable that is not set: UNSET"},
    {"cursor", "{\"command\":\"c\",\"args\":[\"$SET ${open\"]}", "{\"command\":\"c\",\"args\":[\"$SET ${open\"]}"},
    {"cursor", "{\"command\":\"c\",\"envFile\":\".env\"}", "only its client reads its \"envFile\""},
    {"vscode", "{\"command\":\"c\",\"sandboxEnabled\":true}", "only its client supports its \"sandboxEnabled\""},
    {"vscode", "{\"command\":\"c\",\"env\":{\"K\":\"${input:k}\"}}", "only its client knows what ${input:k} is"},
    {"claude-code", "{\"command\":\"c\",\"env\":{\"K\":\"${SET}${SET:-d}\"}}",
     "{\"command\":\"c\",\"env\":{\"K\":\"${SET}${SET:-d}\"}} SET"},
    {"claude-code", "{\"command\":\"c\",\"args\":[\"${env:SET}\"]}", "only its client knows what ${env:SET} is"},
    {"claude-code", "{\"type\":\"sse\",\"url\":\"https://h/sse\"}",
     "it has no key, so its client may sign in there, which whichtool cannot"},
    {"claude-code", "{\"type\":\"sse\",\"url\":\"https://h/sse\",\"headers\":{\"A\":\"b\"}}",
     "{\"url\":\"https://h/sse\",\"headers\":{\"A\":\"b\"}}"},
    {"vscode", "{\"type\":\"sse\",\"url\":\"http://[::1]:80/events\"}", "{\"url\":\"http://[::1]:80/events\"}"},
    {"claude-code", "{\"type\":\"http\",\"url\":\"https://h/mcp\",\"headers\":{\"A\":\"b\"}}",
     "{\"url\":\"https://h/mcp\",\"headers\":{\"A\":\"b\"}}"},
    {"claude-code", "{\"type\":\"http\",\"url\":\"https://h/mcp\"}",
     "it has no key, so its client may sign in there, which whichtool cannot"},
    {"claude-code", "{\"type\":\"http\",\"url\":\"http://localhost:80/mcp\"}", "{\"url\":\"http://localhost:80/mcp\"}"},
    {"claude-code", "{\"type\":\"http\",\"url\":\"http://localhost.example.com/\"}",
     "it has no key, so its client may sign in there, which whichtool cannot"},
    {"claude-code", "{\"type\":\"ws\",\"url\":\"http://localhost/\"}", "its \"type\" is unknown"},
    {"claude-code", "{\"type\":\"ws\",\"command\":\"c\"}", "its \"type\" is unknown"},
    {"claude-code", "{\"url\":\"http://localhost/sse/?x=1\"}", "{\"url\":\"http://localhost/sse/?x=1\"}"},
    {"claude-code", "{\"type\":\"http\",\"url\":\"https://h\",\"headersHelper\":\"x\"}",
     "only its client supports its \"headersHelper\""},
    {"claude-desktop", "{\"command\":\"c\",\"args\":[\"${SET}\"]}",
     "its client passes ${SET} unchanged, but whichtool would replace it by a value"},
    {"gemini-cli", "{\"command\":\"c\",\"env\":{\"K\":\"$SET\"}}",
     "only its client replaces $NAME by a variable; write ${NAME} to move it"},
    {"gemini-cli", "{\"command\":\"c\",\"args\":[\"$5\"]}", "{\"command\":\"c\",\"args\":[\"$5\"]}"},
    {"gemini-cli", "{\"url\":\"http://localhost/mcp\"}", "{\"url\":\"http://localhost/mcp\"}"},
    {"gemini-cli", "{\"url\":\"http://h/sse\"}",
     "it has no key, so its client may sign in there, which whichtool cannot"},
    {"gemini-cli", "{\"httpUrl\":\"http://localhost/mcp\"}", "{\"httpUrl\":\"http://localhost/mcp\"}"},
    {"gemini-cli", "{\"command\":\"c\",\"excludeTools\":[\"x\"]}",
     "its client leaves out some tools by \"excludeTools\""},
    {"windsurf", "{\"command\":\"c\",\"disabledTools\":[]}", "{\"command\":\"c\"}"},
    {"zed", "{\"command\":\"/opt/bin/whichtool\",\"args\":[\"mcp\"]}", "it is whichtool itself"},
    {"zed", "{\"command\":{\"path\":\"x\"}}", "its \"command\" is an object, an older format of its client"},
    {"zed", "7", "it is not an object"},
};

static void servers_move_or_have_a_reason_to_stay(void **state)
{
    (void)state;
    setenv("SET", "value", 1);
    unsetenv("UNSET");
    for (size_t i = 0; i < sizeof servers / sizeof *servers; i++) {
        struct arena arena = {0};
        struct buffer text = {0}, out = {0};
        struct mcp_config config;
        struct client_server server;
        json_t *entry = NULL;
        wt__buffer_printf(&text, "{\"mcpServers\":{\"s\":%s}}", servers[i].entry);
        assert_int_equal(wt__mcp_config_parse(&config, wt__buffer_view(&text), "f", &err), 0);
        assert_int_equal(wt__json_parse(&entry, servers[i].entry, strlen(servers[i].entry), &err), 0);
        assert_int_equal(wt__client_check_server(&server, &arena, place_of(servers[i].client, CLIENT_OF_USER),
                                                 &config.servers[0], entry, &err),
                         0);
        if (server.why)
            wt__buffer_text(&out, server.why);
        else
            wt__json_write(&out, server.definition);
        for (size_t v = 0; !server.why && v < server.variable_count; v++)
            wt__buffer_printf(&out, " %s", server.variables[v]);
        if (strcmp(out.ptr, servers[i].becomes) != 0)
            fail_msg("%s: %s: %s", servers[i].client, servers[i].entry, out.ptr);
        assert_int_equal(!server.why, server.definition != NULL);
        json_decref(server.definition);
        json_decref(entry);
        wt__mcp_config_dispose(&config);
        wt__buffer_dispose(&text);
        wt__buffer_dispose(&out);
        wt__arena_dispose(&arena);
    }
}

/* ---------------------------------------------------------------- damaged files */

static char home[] = "/tmp/whichtool-clients-XXXXXX";
static char client_file[64], folder[64];

static int make_home(void **state)
{
    (void)state;
    if (!mkdtemp(home))
        return -1;
    setenv("HOME", home, 1);
    snprintf(client_file, sizeof client_file, "%s/.claude.json", home);
    snprintf(folder, sizeof folder, "%s/own", home);
    return 0;
}

static int remove_home(void **state)
{
    static const char *const names[] = {"own/init.lock", "own", ".claude.json", ""};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", home, names[i]);
        remove(path);
    }
    return 0;
}

static void put_text(const char *path, struct str text)
{
    assert_int_equal(wt__file_replace(path, text.ptr, text.len, &err), 0);
}

static struct str get_text(char **out, const char *path)
{
    size_t len = 0;
    assert_int_equal(wt__file_read(out, &len, path, 1 << 20, &err), 0);
    return (struct str){*out, len};
}

/* Writes the text to the client's file, moves its servers, and restores the file. Returns the number of moved
 * servers. */
static size_t there_and_back(struct str text)
{
    static const char *const client[] = {"claude-code"};
    const struct client_import_options options = {
        .clients = client, .client_count = 1, .folder = folder, .program = "/bin/whichtool"};
    struct client_import import;
    struct client_undo undo;
    json_t *parsed = NULL;
    char *now = NULL;
    put_text(client_file, text);
    assert_int_equal(wt__client_import_plan(&import, &options, &err), 0);
    assert_int_equal(import.count, 1);
    size_t moving = import.moving;
    assert_true(moving == 0 || !import.files[0].why);
    if (moving > 0) {
        assert_int_equal(wt__client_import_apply(&import, &err), 0);
        struct str after = get_text(&now, client_file);
        assert_int_equal(wt__json_parse_relaxed(&parsed, after, &err), 0);
        assert_non_null(json_object_get(json_object_get(parsed, "mcpServers"), import.files[0].entry));
        json_decref(parsed);
        free(now);
    }
    wt__client_import_dispose(&import);
    assert_int_equal(wt__client_undo_plan(&undo, &options, &err), 0);
    assert_int_equal(undo.count, moving > 0);
    assert_int_equal(wt__client_undo_apply(&undo, &err), 0);
    wt__client_undo_dispose(&undo);
    assert_true(wt__str_equal(get_text(&now, client_file), text));
    free(now);
    return moving;
}

static const char hostile[] = "// c\n{\"x\": 1.50, \"mcpServers\": {\n\t\"a\": {\"command\": \"c\"}, // a\n"
                              "\t\"b\": {\"command\": \"d\", \"args\": [\"}\"],},\n\t\"c\": {\"url\": \"u\"}\n}}\n";

static void truncated_files_are_restored_or_skipped(void **state)
{
    size_t len = strlen(hostile);
    (void)state;
    assert_int_equal(there_and_back((struct str){hostile, len}), 2);
    for (size_t i = 0; i < len; i++)
        assert_true(there_and_back((struct str){hostile, i}) == (i == len - 1 ? 2 : 0));
}

static void damaged_files_are_restored_or_skipped(void **state)
{
    static const char others[] = {'\0', '"', '{', '}', ',', ':', '/', '\\', '\n', ' ', '*', 'x', (char)0xff};
    size_t len = strlen(hostile), moved = 0;
    char *text = malloc(len);
    (void)state;
    assert_non_null(text);
    for (size_t i = 0; i < len; i++) {
        memcpy(text, hostile, len);
        text[i] = others[i % sizeof others];
        moved += there_and_back((struct str){text, len}) > 0;
    }
    assert_true(moved > 0 && moved < len);
    free(text);
}

static void broken_link_is_skipped(void **state)
{
    static const char *const client[] = {"claude-code"};
    const struct client_import_options options = {
        .clients = client, .client_count = 1, .folder = folder, .program = "/bin/whichtool"};
    struct client_import import;
    (void)state;
    unlink(client_file);
    assert_int_equal(symlink("nowhere", client_file), 0);
    assert_int_equal(wt__client_import_plan(&import, &options, &err), 0);
    assert_int_equal(import.count, 1);
    assert_int_equal(import.moving, 0);
    assert_string_equal(import.files[0].why, "it is a broken link");
    wt__client_import_dispose(&import);
    unlink(client_file);
}

/* ---------------------------------------------------------------- several clients */

static void undo_clients(const char *const *clients, size_t count)
{
    const struct client_import_options options = {
        .clients = clients, .client_count = count, .folder = folder, .program = "/bin/whichtool"};
    struct client_undo undo;
    assert_int_equal(wt__client_undo_plan(&undo, &options, &err), 0);
    assert_int_equal(wt__client_undo_apply(&undo, &err), 0);
    wt__client_undo_dispose(&undo);
}

static bool file_contains(const char *path, const char *words)
{
    char *text;
    get_text(&text, path);
    bool found = strstr(text, words) != NULL;
    free(text);
    return found;
}

static void undo_of_one_client_keeps_other_clients(void **state)
{
    static const struct str one = STR("{\"mcpServers\": {\"one\": {\"command\": \"c\"}}}\n"),
                            two = STR("{\"mcpServers\": {\"two\": {\"command\": \"d\"}}}\n");
    static const char *const clients[] = {"claude-code", "windsurf", "gemini-cli"};
    static const char *const folders[] = {".gemini", ".codeium", ".codeium/windsurf"};
    const struct client_import_options options = {
        .clients = clients, .client_count = 3, .folder = folder, .program = "/bin/whichtool"};
    char path[128], other_file[128], link_file[128], servers_file[128];
    struct client_import import;
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", home, folders[i]);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    snprintf(other_file, sizeof other_file, "%s/.gemini/settings.json", home);
    snprintf(link_file, sizeof link_file, "%s/.codeium/windsurf/mcp_config.json", home);
    put_text(client_file, one);
    put_text(other_file, two);
    assert_int_equal(symlink(client_file, link_file), 0);

    assert_int_equal(wt__client_import_plan(&import, &options, &err), 0);
    assert_int_equal(import.count, 3);
    assert_string_equal(import.files[1].why, "it is a link to a file above");
    assert_int_equal(import.moving, 2);
    assert_int_equal(wt__client_import_apply(&import, &err), 0);
    snprintf(servers_file, sizeof servers_file, "%s", import.servers_path);
    wt__client_import_dispose(&import);
    assert_true(file_contains(servers_file, "\"one\"") && file_contains(servers_file, "\"two\""));

    undo_clients(&clients[2], 1);
    assert_true(file_contains(servers_file, "\"one\"") && !file_contains(servers_file, "\"two\""));
    assert_true(file_contains(other_file, two.ptr) && !file_contains(client_file, one.ptr));
    undo_clients(clients, 3);
    assert_true(file_contains(client_file, one.ptr));
    assert_int_equal(access(servers_file, F_OK), -1);
    unlink(link_file);
    unlink(other_file);
    for (size_t i = 3; i-- > 0;) {
        snprintf(path, sizeof path, "%s/%s", home, folders[i]);
        assert_int_equal(rmdir(path), 0);
    }
}

/* ---------------------------------------------------------------- concurrent changes */

#define SERVERS "\"mcpServers\": {\"one\": {\"command\": \"c\"}}}\n"
static const char before_text[] = "{\"starts\": 1, " SERVERS, later_text[] = "{\"starts\": 2, " SERVERS,
                  other_text[] = "{\"mcpServers\": {\"one\": {\"command\": \"c\"}, \"two\": {\"command\": \"d\"}}}\n";

static void check_content(const char *path, const char *text)
{
    char *now = NULL;
    if (!wt__str_equal(get_text(&now, path), wt__str(text)))
        fail_msg("%s: %s", path, now);
    free(now);
}

/* The client edits its file after the plan. The file keeps the edit, and the backup holds the edited text. */
static void edit_between_plan_and_write_is_kept(void **state)
{
    static const char *const client[] = {"claude-code"};
    const struct client_import_options options = {
        .clients = client, .client_count = 1, .folder = folder, .program = "/bin/whichtool"};
    struct client_import import;
    struct client_undo undo;
    char backup[128], second[128];
    (void)state;
    put_text(client_file, wt__str(before_text));
    assert_int_equal(wt__client_import_plan(&import, &options, &err), 0);
    put_text(client_file, wt__str(later_text));
    assert_int_equal(wt__client_import_apply(&import, &err), 0);
    assert_true(import.files[0].written);
    snprintf(backup, sizeof backup, "%s", import.files[0].backup);
    wt__client_import_dispose(&import);
    assert_true(file_contains(client_file, "\"starts\": 2") && file_contains(client_file, "\"whichtool\""));
    check_content(backup, later_text);
    snprintf(second, sizeof second, "%s.whichtool-backup", client_file);
    assert_int_not_equal(access(second, F_OK), 0); /* no backup of before_text, which the import did not replace */

    char *moved = NULL;
    struct str text = get_text(&moved, client_file);
    *strstr(moved, "2") = '3';
    assert_int_equal(wt__client_undo_plan(&undo, &options, &err), 0);
    put_text(client_file, text);
    assert_int_equal(wt__client_undo_apply(&undo, &err), 0);
    assert_int_equal(undo.files[0].state, UNDO_EDITED);
    assert_true(undo.files[0].written);
    wt__client_undo_dispose(&undo);
    assert_true(file_contains(client_file, "\"starts\": 3") && file_contains(client_file, "\"one\"") &&
                !file_contains(client_file, "whichtool"));
    check_content(second, moved);
    free(moved);
    unlink(second);
    unlink(backup);
}

/* If a server was added after the plan, the import is refused, because the user has not accepted the move of this
 * server. */
static void new_servers_are_not_moved(void **state)
{
    static const char *const client[] = {"claude-code"};
    const struct client_import_options options = {
        .clients = client, .client_count = 1, .folder = folder, .program = "/bin/whichtool"};
    struct client_import import;
    char backup[128];
    (void)state;
    put_text(client_file, wt__str(before_text));
    assert_int_equal(wt__client_import_plan(&import, &options, &err), 0);
    put_text(client_file, wt__str(other_text));
    assert_int_equal(wt__client_import_apply(&import, &err), WT_EBUSY);
    snprintf(backup, sizeof backup, "%s", import.files[0].backup);
    wt__client_import_dispose(&import);
    check_content(client_file, other_text);
    undo_clients(client, 1);
    unlink(backup);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clients_files_have_known_paths),
        cmocka_unit_test(servers_move_or_have_a_reason_to_stay),
        cmocka_unit_test_setup_teardown(truncated_files_are_restored_or_skipped, make_home, NULL),
        cmocka_unit_test(broken_link_is_skipped),
        cmocka_unit_test(undo_of_one_client_keeps_other_clients),
        cmocka_unit_test(edit_between_plan_and_write_is_kept),
        cmocka_unit_test(new_servers_are_not_moved),
        cmocka_unit_test_teardown(damaged_files_are_restored_or_skipped, remove_home),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
