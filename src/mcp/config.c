/* config.c: parses the configuration files of MCP clients (config.h). */
#include "mcp/config.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"

enum {
    TIMEOUT_SECONDS_MAX = 3600, /* larger values are milliseconds */
    TIMEOUT_MS_MAX = 24 * 3600000,
    NOTED_BYTES = 64, /* maximum length of a name in a note */
};

/* Places of the servers in a file: member `inner` of member `outer`, or of the root if outer is NULL. */
static const struct {
    const char *outer, *inner;
} places[] = {{NULL, "mcpServers"}, {"mcp", "servers"},        {"mcp", "mcpServers"},
              {NULL, "servers"},    {NULL, "context_servers"}, {NULL, "mcp"}};

/* Keys of lists that select the tools of a server. alwaysAllow and autoApprove are ignored, since they only list tools
 * that need no confirmation. */
static const char *const denying_keys[] = {"disabledTools", "disabled_tools", "excludeTools", "exclude_tools"};
static const char *const allowing_keys[] = {"allowedTools", "allowed_tools", "includeTools", "include_tools",
                                            "enabledTools", "enabled_tools", "tools"};

/* Keys of a server's URL. */
static const char *const address_keys[] = {"url", "serverUrl", "httpUrl"};

struct config_parsing {
    struct mcp_config *out;
    struct mcp_server *server; /* server being parsed */
    bool failed;               /* out of memory */
};

/* Returns the text in the configuration's arena, or NULL if out of memory, and disposes of the buffer. */
static const char *keep_config_text(struct config_parsing *p, struct buffer *text)
{
    const char *out = text->failed ? NULL : wt__arena_copy(&p->out->arena, wt__buffer_view(text));
    p->failed |= !out;
    wt__buffer_dispose(text);
    return out;
}

/* Sets the refusal of the server, unless it is set already. name: name of the faulty member or variable, or NULL. */
static void refuse_server(struct config_parsing *p, const char *why, const char *name)
{
    struct buffer reason = {0};
    if (p->server->refusal)
        return;
    wt__buffer_printf(&reason, "%s%s%.64s", why, name ? ": " : "", name ? name : "");
    p->server->refusal = keep_config_text(p, &reason);
}

/* ---------------------------------------------------------------- variables */

/* Appends the value of a variable. inside: text between the braces, such as "env:NAME" or "NAME:-default". */
static void put_variable(struct config_parsing *p, struct str inside, struct buffer *out)
{
    static const struct str prefix = STR("env:");
    if (wt__str_starts(inside, prefix))
        inside = (struct str){inside.ptr + prefix.len, inside.len - prefix.len};
    const char *mark = memmem(inside.ptr, inside.len, ":-", 2);
    size_t len = mark ? (size_t)(mark - inside.ptr) : inside.len;
    const char *name = wt__arena_copy(&p->out->arena, (struct str){inside.ptr, len});
    const char *value = name ? getenv(name) : NULL;
    p->failed |= !name;
    if (value && (*value || !mark))
        wt__buffer_text(out, value);
    else if (mark)
        wt__buffer_append(out, mark + 2, inside.len - len - 2);
    else if (wt__str_starts(inside, STR("input:")))
        refuse_server(p, "it needs an input that only its client can ask for", name);
    else
        refuse_server(p, "it needs a variable that is not set", name);
}

/* Adds a note about the first $NAME in the text. Shells and some clients expand such a name, but whichtool does not. */
static void note_bare_variable(struct config_parsing *p, struct str text)
{
    for (size_t at = 0; at + 1 < text.len && !p->server->note; at++) {
        size_t len = 0;
        while (at + 1 + len < text.len &&
               (isupper((unsigned char)text.ptr[at + 1 + len]) || text.ptr[at + 1 + len] == '_' ||
                (len > 0 && isdigit((unsigned char)text.ptr[at + 1 + len]))))
            len++;
        if (text.ptr[at] != '$' || len == 0)
            continue;
        struct buffer note = {0};
        int shown = (int)(len < NOTED_BYTES ? len : NOTED_BYTES);
        const char *name = text.ptr + at + 1;
        wt__buffer_printf(&note, "$%.*s in its entry is passed on unchanged: write ${%.*s} for the variable", shown,
                          name, shown, name);
        p->server->note = keep_config_text(p, &note);
    }
}

/* Returns the length of the mark that begins a variable, "${" or the brace of OpenCode's "{env:NAME}", or 0. */
static size_t variable_mark(struct str rest)
{
    return wt__str_starts(rest, STR("${")) ? 2 : wt__str_starts(rest, STR("{env:")) ? 1 : 0;
}

/* Replaces variables by their values. A mark without a closing brace is kept as text. */
static const char *expand_variables(struct config_parsing *p, struct str text)
{
    struct buffer out = {0};
    note_bare_variable(p, text);
    for (size_t at = 0, plain = 0; at <= text.len;) {
        struct str rest = {text.ptr + at, text.len - at};
        size_t mark = rest.len > 0 ? variable_mark(rest) : 0;
        const char *close = mark ? memchr(rest.ptr, '}', rest.len) : NULL;
        if (!close && rest.len > 0) {
            at++;
            continue;
        }
        wt__buffer_append(&out, text.ptr + plain, at - plain);
        if (!close)
            break;
        put_variable(p, (struct str){rest.ptr + mark, (size_t)(close - rest.ptr) - mark}, &out);
        at = plain = (size_t)(close + 1 - text.ptr);
    }
    return keep_config_text(p, &out);
}

/* ---------------------------------------------------------------- a server */

static struct str string_value(const json_t *value)
{
    return (struct str){json_string_value(value), json_string_length(value)};
}

/* Returns a string, number or boolean as text; NULL for other types. */
static const char *expand_scalar(struct config_parsing *p, const json_t *value)
{
    struct buffer text = {0};
    if (json_is_string(value))
        return expand_variables(p, string_value(value));
    if (!json_is_number(value) && !json_is_boolean(value))
        return NULL;
    wt__json_write(&text, value);
    return keep_config_text(p, &text);
}

/* Returns a member; NULL if absent or null. */
static const json_t *find_present(const json_t *entry, const char *key)
{
    const json_t *value = json_object_get(entry, key);
    return json_is_null(value) ? NULL : value;
}

/* True if the name of the program is whichtool. Such an entry would make whichtool start itself forever. */
static bool is_whichtool(const char *program)
{
    const char *slash = strrchr(program, '/');
    return strcmp(slash ? slash + 1 : program, "whichtool") == 0;
}

/* JSON values of an entry's command line. Most clients write a string in "command" and a list in "args". OpenCode
 * writes a list in "command". Older versions of Zed write an object in "command", with "path" and "args". */
struct command_words {
    const json_t *first, *list, *rest; /* list: the program and its arguments; rest: arguments only */
};

/* Returns the values of the command line; each may be NULL. */
static struct command_words find_words(const json_t *entry)
{
    const json_t *command = json_object_get(entry, "command");
    const json_t *from = json_is_object(command) ? command : entry;
    const json_t *first = json_is_object(command) ? json_object_get(command, "path") : command;
    return (struct command_words){.first = json_is_array(first) ? json_array_get(first, 0) : first,
                                  .list = json_is_array(first) ? first : NULL,
                                  .rest = find_present(from, "args")};
}

/* Appends the values of a list as texts, without the first `skipped` values. */
static void add_arguments(struct config_parsing *p, const char **argv, size_t *count, const json_t *list,
                          size_t skipped)
{
    for (size_t i = skipped; i < json_array_size(list); i++) {
        argv[*count] = expand_scalar(p, json_array_get(list, i));
        if (!argv[(*count)++] && !p->failed)
            refuse_server(p, "one of its \"args\" is not a string", NULL);
    }
}

static void read_command(struct config_parsing *p, const json_t *entry)
{
    const struct command_words words = find_words(entry);
    const json_t *folder = find_present(entry, "cwd");
    size_t count = 1, most = json_array_size(words.list) + json_array_size(words.rest) + 2;
    const char **argv = wt__arena_array(&p->out->arena, const char *, most);
    if (!argv) {
        p->failed = true;
        return;
    }
    argv[0] = expand_variables(p, string_value(words.first));
    if (argv[0] && !*argv[0])
        refuse_server(p, "its \"command\" is empty", NULL);
    p->server->itself = argv[0] && is_whichtool(argv[0]);
    if (p->server->itself)
        p->server->refusal = MCP_ITSELF;
    if (words.rest && !json_is_array(words.rest))
        refuse_server(p, "its \"args\" is not a list", NULL);
    add_arguments(p, argv, &count, words.list, 1);
    add_arguments(p, argv, &count, words.rest, 0);
    p->server->argv = argv;
    if (json_is_string(folder))
        p->server->folder = expand_variables(p, string_value(folder));
    else if (folder)
        refuse_server(p, "its \"cwd\" is not a string", NULL);
}

/* Returns the environment, which Zed has inside "command" and OpenCode calls "environment". */
static const json_t *find_environment(const json_t *entry)
{
    const json_t *env = find_present(entry, "env"), *command = json_object_get(entry, "command");
    env = env ? env : find_present(command, "env");
    return env ? env : find_present(entry, "environment");
}

/* True for a value such as "${NAME:-}". If NAME is unset or empty, the server does not get the variable at all, since
 * many programs treat an empty variable differently from a missing one. */
static bool is_optional(struct str text)
{
    return text.len > 5 && wt__str_starts(text, STR("${")) && memcmp(text.ptr + text.len - 3, ":-}", 3) == 0 &&
           memchr(text.ptr, '}', text.len) == text.ptr + text.len - 1;
}

static void read_environment(struct config_parsing *p, const json_t *entry)
{
    const json_t *given = find_environment(entry);
    const char **environment = wt__arena_array(&p->out->arena, const char *, json_object_size(given) + 1), *key;
    size_t count = 0;
    json_t *value;
    p->failed |= !environment;
    if (given && !json_is_object(given))
        refuse_server(p, "its \"env\" is not an object: write {\"NAME\": \"value\"}", NULL);
    json_object_foreach((json_t *)given, key, value)
    {
        struct buffer text = {0};
        if (p->failed || json_is_null(value))
            continue;
        const char *written = expand_scalar(p, value);
        if (written && !*written && is_optional(string_value(value)))
            continue;
        if (!written || !*key || strchr(key, '=')) {
            refuse_server(p, "its \"env\" has an invalid variable", key);
            continue;
        }
        wt__buffer_printf(&text, "%s=%s", key, written);
        environment[count++] = keep_config_text(p, &text);
    }
    p->server->environment = environment;
}

static void read_config_headers(struct config_parsing *p, const json_t *entry)
{
    const json_t *given = find_present(entry, "headers");
    struct http_header *headers = wt__arena_array(&p->out->arena, struct http_header, json_object_size(given));
    const char *key;
    json_t *value;
    p->failed |= !headers;
    if (given && !json_is_object(given))
        refuse_server(p, "its \"headers\" is not an object", NULL);
    json_object_foreach((json_t *)given, key, value)
    {
        const char *written = p->failed ? NULL : expand_scalar(p, value);
        if (!written || !*key || key[strcspn(key, ": \r\n")]) {
            refuse_server(p, "its \"headers\" has an invalid header", key);
            continue;
        }
        headers[p->server->header_count++] =
            (struct http_header){wt__arena_copy(&p->out->arena, wt__str(key)), written};
        p->failed |= !headers[p->server->header_count - 1].name;
    }
    p->server->headers = headers;
}

static void read_address(struct config_parsing *p, const json_t *entry, const json_t *url)
{
    p->server->url = expand_variables(p, string_value(url));
    if (p->server->url && !wt__mcp_is_url(p->server->url))
        refuse_server(p, "its URL does not begin with https:// or http://", NULL);
    read_config_headers(p, entry);
}

/* Keys of timeouts. Clients disagree on the unit: values up to TIMEOUT_SECONDS_MAX are seconds (Cline, Roo Code),
 * larger values are milliseconds (Gemini CLI, LibreChat), and "..._sec" (Codex) is always seconds. Invalid values are
 * ignored. */
static const struct {
    const char *key;
    bool of_start;   /* timeout of starting the server; false for a timeout of requests */
    bool in_seconds; /* the value is always in seconds */
} timeout_keys[] = {{"timeout", false, false},
                    {"tool_timeout_sec", false, true},
                    {"initTimeout", true, false},
                    {"startup_timeout_sec", true, true}};

static void read_timeouts(struct config_parsing *p, const json_t *entry)
{
    for (size_t i = 0; i < sizeof timeout_keys / sizeof *timeout_keys; i++) {
        const json_t *given = find_present(entry, timeout_keys[i].key);
        double value = json_number_value(given);
        bool in_seconds = timeout_keys[i].in_seconds || value <= TIMEOUT_SECONDS_MAX;
        double ms = in_seconds ? value * 1000 : value;
        if (json_is_number(given) && ms >= 1 && ms <= TIMEOUT_MS_MAX)
            *(timeout_keys[i].of_start ? &p->server->start_timeout_ms : &p->server->call_timeout_ms) = (unsigned)ms;
    }
}

static void read_protocol(struct config_parsing *p, const json_t *entry)
{
    const json_t *given = find_present(entry, "protocol");
    const char *word = json_is_string(given) ? json_string_value(given) : "";
    if (strcmp(word, "legacy") == 0)
        p->server->protocol = MCP_ERA_LEGACY;
    else if (strcmp(word, "modern") == 0)
        p->server->protocol = MCP_ERA_MODERN;
    else if (given)
        refuse_server(p, "its \"protocol\" should be \"legacy\" or \"modern\"", NULL);
}

/* Returns the tool names of all lists with these keys, or NULL if the entry has no such list. An invalid list refuses
 * the server, since ignoring the list would offer tools that the user left out. */
static const char *const *read_names(struct config_parsing *p, const json_t *entry, const char *const *keys,
                                     size_t key_count)
{
    size_t most = 1, count = 0;
    bool any = false;
    for (size_t i = 0; i < key_count; i++)
        most += json_array_size(json_object_get(entry, keys[i]));
    const char **names = wt__arena_array(&p->out->arena, const char *, most);
    p->failed |= !names;
    for (size_t i = 0; i < key_count && !p->failed; i++) {
        const json_t *list = find_present(entry, keys[i]), *name;
        size_t at;
        if (list && !json_is_array(list))
            refuse_server(p, "not a list of tool names", keys[i]);
        any |= list != NULL;
        json_array_foreach((json_t *)list, at, name)
        {
            names[count] = json_is_string(name) ? wt__arena_copy(&p->out->arena, string_value(name)) : NULL;
            p->failed |= json_is_string(name) && !names[count];
            if (!names[count])
                refuse_server(p, "not a list of tool names", keys[i]);
            else
                count++;
        }
    }
    return any ? names : NULL;
}

static bool has_command(const json_t *entry)
{
    return json_is_string(find_words(entry).first);
}

/* Returns the URL of a server, or NULL. */
static const json_t *find_address(const json_t *entry)
{
    for (size_t i = 0; i < sizeof address_keys / sizeof *address_keys; i++)
        if (json_is_string(json_object_get(entry, address_keys[i])))
            return json_object_get(entry, address_keys[i]);
    return NULL;
}

static void read_server(struct config_parsing *p, const char *name, const json_t *entry)
{
    const json_t *url = find_address(entry), *enabled = json_object_get(entry, "enabled");
    p->server = &p->out->servers[p->out->count++];
    *p->server = (struct mcp_server){.name = wt__arena_copy(&p->out->arena, wt__str(name))};
    p->failed |= !p->server->name;
    if (!*name)
        refuse_server(p, "its name is empty", NULL);
    p->server->disabled = wt__json_bool(entry, "disabled", false) || json_is_false(enabled);
    if (has_command(entry)) {
        read_command(p, entry);
        read_environment(p, entry);
    } else if (url) {
        read_address(p, entry, url);
    } else if (wt__json_object(entry, "transport")) {
        refuse_server(
            p, "its \"transport\" is an object, which is not supported: write \"command\" or \"url\" next to its name",
            NULL);
    } else {
        refuse_server(p, "it has neither a \"command\" nor a \"url\"", NULL);
    }
    read_protocol(p, entry);
    read_timeouts(p, entry);
    p->server->denied = read_names(p, entry, denying_keys, sizeof denying_keys / sizeof *denying_keys);
    p->server->allowed = read_names(p, entry, allowing_keys, sizeof allowing_keys / sizeof *allowing_keys);
}

/* ---------------------------------------------------------------- the file */

static bool is_entry(const json_t *entry)
{
    return find_address(entry) || has_command(entry);
}

/* True if root is a map from names to entries, or a list of entries with names. */
static bool is_bare(const json_t *root)
{
    const char *key;
    json_t *entry;
    size_t i;
    json_object_foreach((json_t *)root, key, entry)
    {
        if (!is_entry(entry))
            return false;
    }
    json_array_foreach((json_t *)root, i, entry)
    {
        if (!is_entry(entry) || wt__json_str(entry, "name").len == 0)
            return false;
    }
    return json_object_size(root) + json_array_size(root) > 0;
}

/* Returns the servers, an object or a list; NULL if absent. */
static const json_t *find_servers(const json_t *root)
{
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const json_t *outer = places[i].outer ? json_object_get(root, places[i].outer) : root;
        const json_t *servers = json_object_get(outer, places[i].inner);
        if (json_is_object(servers) || (json_is_array(servers) && is_bare(servers)))
            return servers;
    }
    return is_bare(root) ? root : NULL;
}

static int read_config_servers(struct config_parsing *p, const json_t *servers, const char *file, wt_error *err)
{
    size_t count = json_object_size(servers) + json_array_size(servers), i;
    const char *name;
    json_t *entry;
    if (count > MCP_SERVERS_MAX)
        return wt__fail(err, WT_ETOOLONG, "%s names more than %d MCP servers", file, MCP_SERVERS_MAX);
    p->out->servers = wt__arena_array(&p->out->arena, struct mcp_server, count + 1);
    WT_CHECK_ALLOC(p->out->servers, err);
    json_object_foreach((json_t *)servers, name, entry)
    {
        read_server(p, name, entry);
    }
    json_array_foreach((json_t *)servers, i, entry)
    {
        read_server(p, json_string_value(json_object_get(entry, "name")), entry);
    }
    return p->failed ? wt__fail_nomem(err) : 0;
}

int wt__mcp_config_parse(struct mcp_config *out, struct str text, const char *file, wt_error *err)
{
    struct config_parsing p = {.out = out};
    json_auto_t *root = NULL;
    *out = (struct mcp_config){.count = 0};
    int rc = wt__json_parse_relaxed(&root, text, err);
    if (rc < 0)
        return rc == WT_ENOMEM ? rc : wt__fail_context(err, rc, "%s", file);
    const json_t *servers = find_servers(root);
    rc = servers ? read_config_servers(&p, servers, file, err)
                 : wt__fail(err, WT_EFORMAT, "%s names no MCP servers: it should have \"mcpServers\", or \"servers\"",
                            file);
    if (rc < 0)
        wt__mcp_config_dispose(out);
    return rc;
}

int wt__mcp_config_read(struct mcp_config *out, const char *path, wt_error *err)
{
    WT_AUTO_FREE char *text = NULL;
    size_t len = 0;
    *out = (struct mcp_config){.count = 0};
    WT_TRY(wt__file_read(&text, &len, path, MCP_CONFIG_BYTES_MAX, err));
    return wt__mcp_config_parse(out, (struct str){text, len}, path, err);
}

void wt__mcp_config_dispose(struct mcp_config *config)
{
    wt__arena_dispose(&config->arena);
    *config = (struct mcp_config){.count = 0};
}
