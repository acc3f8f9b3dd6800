/* config.c: see config.h. */
#include "mcp/config.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/json.h"

enum {
    TIMEOUT_SECONDS_MAX = 3600, /* larger values are milliseconds */
    TIMEOUT_MS_MAX = 24 * 3600000
};

/* Where the servers may be: the member, or the member of a member. */
static const struct {
    const char *outer, *inner;
} places[] = {{NULL, "mcpServers"}, {"mcp", "servers"}, {"mcp", "mcpServers"}, {NULL, "servers"}};

/* How clients name an address. */
static const char *const address_keys[] = {"url", "serverUrl", "httpUrl"};

struct parsing {
    struct mcp_config *out;
    struct mcp_server *server; /* that is being read */
    bool failed;               /* memory was out */
};

static const char *keep(struct parsing *p, struct buffer *text)
{
    const char *out = text->failed ? NULL : wt__arena_copy(&p->out->arena, wt__buffer_view(text));
    p->failed |= !out;
    wt__buffer_dispose(text);
    return out;
}

/* The first reason stands. name: of what is wrong, or NULL. */
static void refuse(struct parsing *p, const char *why, const char *name)
{
    struct buffer reason = {0};
    if (p->server->refusal)
        return;
    wt__buffer_printf(&reason, "%s%s%.64s", why, name ? ": " : "", name ? name : "");
    p->server->refusal = keep(p, &reason);
}

/* ---------------------------------------------------------------- variables */

/* What ${inside} stands for. */
static void put_variable(struct parsing *p, struct str inside, struct buffer *out)
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
        refuse(p, "it needs what only its client can ask for", name);
    else
        refuse(p, "it needs a variable that is not set", name);
}

/* A ${ that nothing closes stands for itself. */
static const char *expand(struct parsing *p, struct str text)
{
    struct buffer out = {0};
    for (size_t at = 0; at < text.len;) {
        const char *from = text.ptr + at, *open = memmem(from, text.len - at, "${", 2);
        const char *close = open ? memchr(open, '}', text.len - (size_t)(open - text.ptr)) : NULL;
        if (!close) {
            wt__buffer_append(&out, from, text.len - at);
            break;
        }
        wt__buffer_append(&out, from, (size_t)(open - from));
        put_variable(p, (struct str){open + 2, (size_t)(close - open) - 2}, &out);
        at = (size_t)(close + 1 - text.ptr);
    }
    return keep(p, &out);
}

/* ---------------------------------------------------------------- a server */

static struct str text_of(const json_t *value)
{
    return (struct str){json_string_value(value), json_string_length(value)};
}

/* A number or a truth value is what it looks like; NULL for what cannot be a text. */
static const char *scalar(struct parsing *p, const json_t *value)
{
    struct buffer text = {0};
    if (json_is_string(value))
        return expand(p, text_of(value));
    if (!json_is_number(value) && !json_is_boolean(value))
        return NULL;
    wt__json_write(&text, value);
    return keep(p, &text);
}

/* A member that is there and no null. */
static const json_t *member(const json_t *entry, const char *key)
{
    const json_t *value = json_object_get(entry, key);
    return json_is_null(value) ? NULL : value;
}

/* By the program's name alone: a client's file that names whichtool may be the one that this whichtool reads, and then
 * each would start another. */
static bool is_whichtool(const char *program)
{
    const char *slash = strrchr(program, '/');
    return strcmp(slash ? slash + 1 : program, "whichtool") == 0;
}

static void read_command(struct parsing *p, const json_t *entry)
{
    const json_t *command = json_object_get(entry, "command"), *given = member(entry, "args");
    const json_t *folder = member(entry, "cwd");
    size_t count = json_array_size(given);
    const char **argv = wt__arena_array(&p->out->arena, const char *, count + 2);
    if (!argv) {
        p->failed = true;
        return;
    }
    argv[0] = expand(p, text_of(command));
    if (argv[0] && !*argv[0])
        refuse(p, "its \"command\" is empty", NULL);
    p->server->itself = argv[0] && is_whichtool(argv[0]);
    if (p->server->itself)
        p->server->refusal = MCP_ITSELF;
    if (given && !json_is_array(given))
        refuse(p, "its \"args\" are no list", NULL);
    for (size_t i = 0; i < count; i++) {
        argv[i + 1] = scalar(p, json_array_get(given, i));
        if (!argv[i + 1] && !p->failed)
            refuse(p, "one of its \"args\" is no text", NULL);
    }
    p->server->argv = argv;
    if (json_is_string(folder))
        p->server->folder = expand(p, text_of(folder));
    else if (folder)
        refuse(p, "its \"cwd\" is no text", NULL);
}

static void read_environment(struct parsing *p, const json_t *entry)
{
    const json_t *given = member(entry, "env");
    const char **environment = wt__arena_array(&p->out->arena, const char *, json_object_size(given) + 1), *key;
    size_t count = 0;
    json_t *value;
    p->failed |= !environment;
    if (given && !json_is_object(given))
        refuse(p, "its \"env\" is no object", NULL);
    json_object_foreach((json_t *)given, key, value)
    {
        struct buffer text = {0};
        if (p->failed || json_is_null(value))
            continue;
        const char *written = scalar(p, value);
        if (!written || !*key || strchr(key, '=')) {
            refuse(p, "its \"env\" has what is no variable", key);
            continue;
        }
        wt__buffer_printf(&text, "%s=%s", key, written);
        environment[count++] = keep(p, &text);
    }
    p->server->environment = environment;
}

static void read_headers(struct parsing *p, const json_t *entry)
{
    const json_t *given = member(entry, "headers");
    struct http_header *headers = wt__arena_array(&p->out->arena, struct http_header, json_object_size(given));
    const char *key;
    json_t *value;
    p->failed |= !headers;
    if (given && !json_is_object(given))
        refuse(p, "its \"headers\" are no object", NULL);
    json_object_foreach((json_t *)given, key, value)
    {
        const char *written = p->failed ? NULL : scalar(p, value);
        if (!written || !*key || key[strcspn(key, ": \r\n")]) {
            refuse(p, "its \"headers\" have what is no header", key);
            continue;
        }
        headers[p->server->header_count++] =
            (struct http_header){wt__arena_copy(&p->out->arena, wt__str(key)), written};
        p->failed |= !headers[p->server->header_count - 1].name;
    }
    p->server->headers = headers;
}

static void read_address(struct parsing *p, const json_t *entry, const json_t *url)
{
    p->server->url = expand(p, text_of(url));
    if (p->server->url && !wt__mcp_is_url(p->server->url))
        refuse(p, "its address does not begin with https:// or http://", NULL);
    read_headers(p, entry);
}

/* Clients disagree on the unit of a time-out. Values up to TIMEOUT_SECONDS_MAX are seconds (Cline, Roo Code), larger
 * ones are milliseconds (Gemini CLI, LibreChat); "..._sec" (Codex) says it. A value that is no time-out is ignored: it
 * is no reason to do without the server. */
static const struct {
    const char *key;
    bool of_start, in_seconds;
} timeout_keys[] = {{"timeout", false, false},
                    {"tool_timeout_sec", false, true},
                    {"initTimeout", true, false},
                    {"startup_timeout_sec", true, true}};

static void read_timeouts(struct parsing *p, const json_t *entry)
{
    for (size_t i = 0; i < sizeof timeout_keys / sizeof *timeout_keys; i++) {
        const json_t *given = member(entry, timeout_keys[i].key);
        double value = json_number_value(given);
        bool in_seconds = timeout_keys[i].in_seconds || value <= TIMEOUT_SECONDS_MAX;
        double ms = in_seconds ? value * 1000 : value;
        if (json_is_number(given) && ms >= 1 && ms <= TIMEOUT_MS_MAX)
            *(timeout_keys[i].of_start ? &p->server->start_timeout_ms : &p->server->call_timeout_ms) = (unsigned)ms;
    }
}

static void read_protocol(struct parsing *p, const json_t *entry)
{
    const json_t *given = member(entry, "protocol");
    const char *word = json_is_string(given) ? json_string_value(given) : "";
    if (strcmp(word, "legacy") == 0)
        p->server->protocol = MCP_ERA_LEGACY;
    else if (strcmp(word, "modern") == 0)
        p->server->protocol = MCP_ERA_MODERN;
    else if (given)
        refuse(p, "its \"protocol\" should be \"legacy\" or \"modern\"", NULL);
}

static void read_server(struct parsing *p, const char *name, const json_t *entry)
{
    const json_t *url = NULL, *enabled = json_object_get(entry, "enabled");
    p->server = &p->out->servers[p->out->count++];
    *p->server = (struct mcp_server){.name = wt__arena_copy(&p->out->arena, wt__str(name))};
    p->failed |= !p->server->name;
    if (!*name)
        refuse(p, "its name is empty", NULL);
    for (size_t i = 0; i < sizeof address_keys / sizeof *address_keys && !json_is_string(url); i++)
        url = json_object_get(entry, address_keys[i]);
    p->server->disabled = wt__json_bool(entry, "disabled", false) || json_is_false(enabled);
    if (json_is_string(json_object_get(entry, "command"))) {
        read_command(p, entry);
        read_environment(p, entry);
    } else if (json_is_string(url)) {
        read_address(p, entry, url);
    } else {
        refuse(p, "it has neither a \"command\" nor a \"url\"", NULL);
    }
    read_protocol(p, entry);
    read_timeouts(p, entry);
}

/* ---------------------------------------------------------------- the file */

static const json_t *find_servers(const json_t *root)
{
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const json_t *outer = places[i].outer ? json_object_get(root, places[i].outer) : root;
        const json_t *servers = wt__json_object(outer, places[i].inner);
        if (servers)
            return servers;
    }
    return NULL;
}

int wt__mcp_config_parse(struct mcp_config *out, struct str text, const char *file, wt_error *err)
{
    struct parsing p = {.out = out};
    json_t *root = NULL, *entry;
    const char *name;
    *out = (struct mcp_config){.count = 0};
    int rc = wt__json_parse_relaxed(&root, text, err);
    if (rc < 0)
        return rc == WT_ENOMEM ? rc : wt__fail_context(err, rc, "%s", file);
    const json_t *servers = find_servers(root);
    if (!servers)
        rc = wt__fail(err, WT_EFORMAT, "%s names no MCP servers: it should have \"mcpServers\", or \"servers\"", file);
    else if (json_object_size(servers) > MCP_SERVERS_MAX)
        rc = wt__fail(err, WT_ETOOLONG, "%s names more than %d MCP servers", file, MCP_SERVERS_MAX);
    else
        out->servers = wt__arena_array(&out->arena, struct mcp_server, json_object_size(servers) + 1);
    if (rc == 0 && !out->servers)
        rc = wt__fail_nomem(err);
    json_object_foreach((json_t *)(rc == 0 ? servers : NULL), name, entry)
    {
        read_server(&p, name, entry);
    }
    if (rc == 0 && p.failed)
        rc = wt__fail_nomem(err);
    json_decref(root);
    if (rc < 0)
        wt__mcp_config_dispose(out);
    return rc;
}

int wt__mcp_config_read(struct mcp_config *out, const char *path, wt_error *err)
{
    char *text = NULL;
    size_t len = 0;
    *out = (struct mcp_config){.count = 0};
    int rc = wt__file_read(&text, &len, path, MCP_CONFIG_BYTES_MAX, err);
    if (rc == 0)
        rc = wt__mcp_config_parse(out, (struct str){text, len}, path, err);
    free(text);
    return rc;
}

void wt__mcp_config_dispose(struct mcp_config *config)
{
    wt__arena_dispose(&config->arena);
    *config = (struct mcp_config){.count = 0};
}
