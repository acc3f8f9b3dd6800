/* client_server.c: decides if whichtool can start a server of a client's file, and extracts its definition. */
#include <ctype.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "setup/internal.h"

/* Members that move with the server. A member in none of these lists keeps the server with its client. */
static const char *const moving[] = {"command", "args", "env", "cwd", "url", "serverUrl", "httpUrl", "headers"};
static const char *const idle[] = {"type",        "transport",   "disabled", "enabled", "timeout",
                                   "autoApprove", "alwaysAllow", "trust",    "name",    "description",
                                   "gallery",     "version",     "source"}; /* dropped, or checked elsewhere */
/* Members that list tools; a server stays if one of these lists is not empty. */
static const char *const choosing[] = {"disabledTools", "disabled_tools", "enabledTools", "enabled_tools",
                                       "includeTools",  "excludeTools",   "tools"};
/* Types of servers with a URL. The type is dropped, since the connection detects the transport. */
static const char *const transports[] = {"http", "streamable-http", "streamablehttp", "streamable_http", "sse"};

#define IS_LISTED(word, list) is_listed_word((word), (list), sizeof(list) / sizeof *(list))

static bool is_listed_word(const char *word, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(word, list[i]) == 0)
            return true;
    return false;
}

struct server_check {
    struct client_server *out;
    struct arena *arena;
    const struct client_place *place;
    bool failed; /* out of memory */
};

/* Sets the reason why the server stays, unless an earlier check has set one. */
static void refuse_move(struct server_check *j, const char *before, const char *name, const char *after)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    if (j->out->why)
        return;
    wt__buffer_printf(&text, "%s%.64s%s", before, name, after);
    j->out->why = text.failed ? NULL : wt__arena_copy(j->arena, wt__buffer_view(&text));
    j->failed |= !j->out->why;
}

static void note_variable(struct server_check *j, struct str name)
{
    struct client_server *out = j->out;
    const char *kept = wt__arena_copy(j->arena, name);
    j->failed |= !kept;
    if (!kept || is_listed_word(kept, out->variables, out->variable_count))
        return;
    if (out->variable_count == CLIENT_VARIABLES_MAX)
        refuse_move(j, "it uses too many variables", "", "");
    else
        out->variables[out->variable_count++] = kept;
}

/* Checks the text between ${ and }. */
static void check_braces(struct server_check *j, struct str inside)
{
    static const struct str env = STR("env:");
    bool says_env = wt__str_starts(inside, env);
    const char *name = wt__arena_copy(j->arena, inside);
    const char *mark = memmem(inside.ptr, inside.len, ":-", 2);
    if (!name)
        j->failed = true;
    else if (j->place->variables == VARIABLES_NONE)
        refuse_move(j, "its client passes ${", name, "} unchanged, but whichtool would replace it by a value");
    else if (says_env != (j->place->variables == VARIABLES_ENV))
        refuse_move(j, "only its client knows what ${", name, "} is");
    else if (says_env)
        note_variable(j, (struct str){inside.ptr + env.len, inside.len - env.len});
    else
        note_variable(j, (struct str){inside.ptr, mark ? (size_t)(mark - inside.ptr) : inside.len});
}

static void check_text(struct server_check *j, struct str text)
{
    for (size_t at = 0; at + 1 < text.len; at++) {
        char next = text.ptr[at + 1];
        if (text.ptr[at] != '$')
            continue;
        const char *close = next == '{' ? memchr(text.ptr + at, '}', text.len - at) : NULL;
        if (close) {
            check_braces(j, (struct str){text.ptr + at + 2, (size_t)(close - text.ptr) - at - 2});
            at = (size_t)(close - text.ptr);
        } else if (j->place->variables == VARIABLES_DOLLAR && (isalpha((unsigned char)next) || next == '_')) {
            refuse_move(j, "only its client replaces $NAME by a variable; write ${NAME} to move it", "", "");
        }
    }
}

/* Checks the string of a member, or all strings in its list or object. Deeper values are not checked. */
static void check_texts(struct server_check *j, const json_t *value)
{
    const char *key;
    json_t *item;
    size_t i;
    if (json_is_string(value))
        check_text(j, (struct str){json_string_value(value), json_string_length(value)});
    json_array_foreach((json_t *)value, i, item)
    {
        if (json_is_string(item))
            check_text(j, (struct str){json_string_value(item), json_string_length(item)});
    }
    json_object_foreach((json_t *)value, key, item)
    {
        if (json_is_string(item))
            check_text(j, (struct str){json_string_value(item), json_string_length(item)});
    }
}

static bool is_empty_value(const json_t *value)
{
    return json_is_null(value) || (json_is_array(value) && json_array_size(value) == 0);
}

static void check_server_members(struct server_check *j, const json_t *entry)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)entry, key, value)
    {
        if (json_is_null(value) || IS_LISTED(key, idle))
            continue;
        if (IS_LISTED(key, choosing)) {
            if (!is_empty_value(value))
                refuse_move(j, "its client leaves out some tools by \"", key, "\"");
        } else if (json_is_object(value) && strcmp(key, "command") == 0) {
            refuse_move(j, "its \"command\" is an object, an older format of its client", "", "");
        } else if (!IS_LISTED(key, moving)) {
            refuse_move(j, "only its client supports its \"", key, "\"");
        } else {
            check_texts(j, value);
            j->failed |= !j->out->definition || json_object_set(j->out->definition, key, value) < 0;
        }
    }
}

/* True if a URL is on this machine, where servers require no sign-in. */
static bool is_local(const char *url)
{
    static const char *const hosts[] = {"localhost", "127.0.0.1", "[::1]"};
    const char *host = strstr(url, "://");
    for (size_t i = 0; host && i < sizeof hosts / sizeof *hosts; i++) {
        size_t len = strlen(hosts[i]);
        if (strncmp(host + 3, hosts[i], len) == 0 && (!host[3 + len] || strchr(":/?#", host[3 + len])))
            return true;
    }
    return false;
}

static void check_server_url(struct server_check *j, const struct mcp_server *server, const json_t *entry)
{
    struct str type = wt__json_str(entry, "type").len ? wt__json_str(entry, "type") : wt__json_str(entry, "transport");
    if (type.len > 0 && !wt__str_among(type, transports, sizeof transports / sizeof *transports))
        refuse_move(j, "its \"type\" is unknown", "", "");
    else if (server->header_count == 0 && !is_local(server->url))
        refuse_move(j, "it has no key, so its client may sign in there, which whichtool cannot", "", "");
}

static void check_command(struct server_check *j, const json_t *entry)
{
    struct str type = wt__json_str(entry, "type");
    if (type.len > 0 && !wt__str_equal(type, STR("stdio")))
        refuse_move(j, "its \"type\" is unknown", "", "");
}

int wt__client_check_server(struct client_server *out, struct arena *arena, const struct client_place *place,
                            const struct mcp_server *server, const json_t *entry, wt_error *err)
{
    struct server_check j = {.out = out, .arena = arena, .place = place};
    *out = (struct client_server){.definition = json_object()};
    if (server->disabled)
        refuse_move(&j, "it is disabled", "", "");
    if (!json_is_object(entry))
        refuse_move(&j, "it is not an object", "", "");
    if (json_is_string(json_object_get(entry, "envFile")))
        refuse_move(&j, "only its client reads its \"envFile\"", "", "");
    if (strlen(server->name) > WT_MAX_NAME_BYTES)
        refuse_move(&j, "its name is too long", "", "");
    check_server_members(&j, entry);
    if (server->refusal)
        refuse_move(&j, server->refusal, "", "");
    else if (server->url)
        check_server_url(&j, server, entry);
    else
        check_command(&j, entry);
    if (out->why || j.failed) {
        json_decref(out->definition);
        out->definition = NULL;
    }
    return j.failed ? wt__fail_nomem(err) : 0;
}

bool wt__client_entry_is_ours(const json_t *entry, const char *servers_path)
{
    const json_t *arguments = wt__json_array(entry, "args"), *argument;
    size_t i;
    json_array_foreach((json_t *)arguments, i, argument)
    {
        const json_t *before = i > 0 ? json_array_get(arguments, i - 1) : NULL;
        if (json_is_string(argument) && json_is_string(before) && strcmp(json_string_value(before), "--servers") == 0 &&
            strcmp(json_string_value(argument), servers_path) == 0)
            return true;
    }
    return false;
}
