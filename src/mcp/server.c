/* server.c: the environment, secrets and names of configured servers (server.h). */
#include "mcp/server.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/memory.h"

enum { SECRET_BYTES_MIN = 4 /* shorter values ("1", "yes") occur in too many words to be hidden */ };

/* Variables that every program gets. Other variables of this process may be keys and tokens, and are not inherited. */
static const char *const inherited[] = {"HOME",
                                        "LOGNAME",
                                        "PATH",
                                        "SHELL",
                                        "TERM",
                                        "USER",
                                        "LANG",
                                        "LC_ALL",
                                        "LC_CTYPE",
                                        "TZ",
                                        "TMPDIR",
                                        "XDG_CACHE_HOME",
                                        "XDG_CONFIG_HOME",
                                        "XDG_DATA_HOME",
                                        MCP_GATEWAY_VARIABLE};
enum { INHERITED = sizeof inherited / sizeof *inherited };

/* True if the configuration sets the variable. */
static bool sets_variable(const struct mcp_server *server, const char *name)
{
    size_t len = strlen(name);
    for (size_t i = 0; server->environment && server->environment[i]; i++)
        if (strncmp(server->environment[i], name, len) == 0 && server->environment[i][len] == '=')
            return true;
    return false;
}

const char *const *wt__mcp_environment(struct arena *arena, const struct mcp_server *server)
{
    size_t written = 0, count = 0;
    while (server->environment && server->environment[written])
        written++;
    const char **out = wt__arena_array(arena, const char *, written + INHERITED + 1);
    for (size_t i = 0; out && i < INHERITED; i++) {
        const char *value = getenv(inherited[i]);
        WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
        if (!value || sets_variable(server, inherited[i]))
            continue;
        wt__buffer_printf(&text, "%s=%s", inherited[i], value);
        out[count] = text.failed ? NULL : wt__arena_copy(arena, wt__buffer_view(&text));
        if (!out[count++])
            return NULL;
    }
    if (out && written > 0)
        memcpy(out + count, server->environment, written * sizeof *out);
    return out;
}

/* True if the list, which ends in NULL, has the tool or "*". */
static bool names_tool(const char *const *names, struct str tool)
{
    for (; *names; names++)
        if (wt__str_equal(tool, wt__str(*names)) || strcmp(*names, "*") == 0)
            return true;
    return false;
}

bool wt__mcp_offers(const struct mcp_server *server, struct str tool)
{
    return !(server->denied && names_tool(server->denied, tool)) &&
           (!server->allowed || names_tool(server->allowed, tool));
}

bool wt__mcp_is_url(const char *text)
{
    return strncasecmp(text, "http://", 7) == 0 || strncasecmp(text, "https://", 8) == 0;
}

/* Parts of a URL, such as "https://", "user:password", "host:port" and "/path?query". Each part may be "". The URL may
 * be invalid. */
struct url_parts {
    struct str scheme, user, host, rest;
};

static struct url_parts split_url(const char *url)
{
    struct url_parts parts = {.user = {"", 0}};
    const char *mark = strstr(url, "://");
    const char *from = mark ? mark + 3 : url, *end = from + strcspn(from, "/?#\\"), *at = end;
    while (at > from && at[-1] != '@')
        at--;
    parts.scheme = (struct str){url, (size_t)(from - url)};
    if (at > from)
        parts.user = (struct str){from, (size_t)(at - 1 - from)};
    parts.host = (struct str){at, (size_t)(end - at)};
    parts.rest = wt__str(end);
    return parts;
}

const char *wt__mcp_shown_url(struct arena *arena, const char *url)
{
    struct url_parts parts = split_url(url);
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    wt__buffer_str(&text, parts.scheme);
    wt__buffer_str(&text, parts.host);
    return text.failed ? NULL : wt__arena_copy(arena, wt__buffer_view(&text));
}

/* Replaces all occurrences of the secret in text. */
static void hide_secret(char *text, struct str secret)
{
    static const char stars[] = "***";
    const size_t shown = sizeof stars - 1;
    if (secret.len < SECRET_BYTES_MIN)
        return;
    for (char *at = text; (at = memmem(at, strlen(at), secret.ptr, secret.len)) != NULL; at += shown) {
        memcpy(at, stars, shown); /* never longer than the secret */
        memmove(at + shown, at + secret.len, strlen(at + secret.len) + 1);
    }
}

/* Hides each part of a user or path between separators. */
static void hide_url_parts(char *text, struct str of)
{
    for (size_t from = 0, at = 0; at <= of.len; at++)
        if (at == of.len || strchr(":/?&=#", of.ptr[at])) {
            hide_secret(text, (struct str){of.ptr + from, at - from});
            from = at + 1;
        }
}

/* Hides user, path and query of a URL. Many hosted servers have a key in the path. */
static void hide_url(char *text, const char *url)
{
    struct url_parts parts = split_url(url);
    hide_secret(text, parts.user);
    hide_url_parts(text, parts.user);
    hide_url_parts(text, parts.rest);
}

void wt__mcp_hide_secrets(char *text, size_t room, const struct mcp_server *server)
{
    text[room - 1] = '\0';
    for (size_t i = 0; server->environment && server->environment[i]; i++)
        hide_secret(text, wt__str(strchr(server->environment[i], '=') + 1));
    for (size_t i = 0; i < server->header_count; i++) {
        const char *value = server->headers[i].value, *blank = strchr(value, ' ');
        hide_secret(text, wt__str(value));
        if (blank) /* "Bearer KEY" */
            hide_secret(text, wt__str(blank + 1));
    }
    if (server->url)
        hide_url(text, server->url);
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = ' ';
}

/* Removes a prefix, ignoring case, unless the prefix is the whole name. Returns true if the prefix was removed. */
static bool drop_front(struct str *name, const char *word)
{
    size_t len = strlen(word);
    if (name->len <= len || strncasecmp(name->ptr, word, len) != 0)
        return false;
    *name = (struct str){name->ptr + len, name->len - len};
    return true;
}

/* Removes a suffix, ignoring case, unless the suffix is the whole name. Returns true if the suffix was removed. */
static bool drop_end(struct str *name, const char *word)
{
    size_t len = strlen(word);
    if (name->len <= len || strncasecmp(name->ptr + name->len - len, word, len) != 0)
        return false;
    name->len -= len;
    return true;
}

/* Drops folders, a version, and generic prefixes and suffixes from a name. Lowercases the rest and joins its words by
 * dashes. Keeps letters, digits, dots and underscores. Returns "" if only a generic word is left, or NULL if out of
 * memory. */
static const char *shorten_name(struct arena *arena, struct str name)
{
    static const char *const fronts[] = {"mcp-server-", "mcp-", "mcp_", "server-"};
    static const char *const ends[] = {"-mcp-server", "-server-mcp", "_mcp_server", " mcp server", "-server",
                                       " server",     "-mcp",        "_mcp",        " mcp"};
    char *out = wt__arena_alloc(arena, name.len + 1, 1);
    size_t len = 0;
    if (!out)
        return NULL;
    for (size_t i = 0; i < name.len; i++) /* "@scope/package", "folder/program" */
        if (name.ptr[i] == '/' && i + 1 < name.len)
            name = (struct str){name.ptr + i + 1, name.len - i - 1}, i = 0;
    for (size_t i = 1; i < name.len; i++) /* "package@1.2" */
        if (name.ptr[i] == '@')
            name.len = i;
    for (size_t i = 0; i < sizeof fronts / sizeof *fronts; i++)
        if (drop_front(&name, fronts[i]))
            break;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (drop_end(&name, ends[i]))
            break;
    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.ptr[i];
        if (isalnum(c) || c == '.' || c == '_' || c >= 0x80)
            out[len++] = (char)tolower(c);
        else if (len > 0 && out[len - 1] != '-')
            out[len++] = '-';
    }
    while (len > 0 && out[len - 1] == '-')
        len--;
    out[len] = '\0';
    /* Generic names do not identify a server. */
    return strcmp(out, "mcp") == 0 || strcmp(out, "server") == 0 || strcmp(out, "mcp-server") == 0 ? "" : out;
}

static bool is_word_among(const char *const *words, size_t count, const char *word)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(words[i], word) == 0)
            return true;
    return false;
}

/* True for a program that runs other programs, and for a subcommand of such a program. */
static bool is_runner(const char *word)
{
    static const char *const runners[] = {"npx",  "uvx",  "bunx", "pnpx",   "pipx",    "uv",  "bun",
                                          "deno", "node", "npm",  "python", "python3", "env", "sh"};
    static const char *const verbs[] = {"run", "exec", "dlx", "tool", "x"};
    const char *slash = strrchr(word, '/');
    return is_word_among(runners, sizeof runners / sizeof *runners, slash ? slash + 1 : word) ||
           is_word_among(verbs, sizeof verbs / sizeof *verbs, word);
}

/* Returns the package of a package runner, the script of an interpreter, or else the program, without a script's
 * extension. */
static struct str find_program_name(const char *const *argv)
{
    static const char *const endings[] = {".js", ".mjs", ".cjs", ".ts", ".py", ".sh"};
    size_t at = 0;
    if (is_runner(argv[0]))
        while (argv[at] && (is_runner(argv[at]) || argv[at][0] == '-' || strchr(argv[at], '=')))
            at++;
    struct str out = wt__str(argv[at] ? argv[at] : argv[0]);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        drop_end(&out, endings[i]);
    return out;
}

/* Returns the distinctive part of a host: "example" of "mcp.example.com". IP addresses stay whole. */
static struct str find_host_name(const char *url)
{
    struct str host = split_url(url).host;
    const char *colon = memchr(host.ptr, ':', host.len);
    if (colon && host.ptr[0] != '[')
        host.len = (size_t)(colon - host.ptr);
    if (host.len == 0 || host.ptr[0] == '[' || isdigit((unsigned char)host.ptr[host.len - 1]))
        return host;
    while (drop_front(&host, "mcp.") || drop_front(&host, "api.") || drop_front(&host, "www."))
        ;
    const char *dot = memchr(host.ptr, '.', host.len);
    return dot ? (struct str){host.ptr, (size_t)(dot - host.ptr)} : host;
}

const char *wt__mcp_short_name(struct arena *arena, const struct mcp_server *server, struct str said)
{
    const char *out = shorten_name(arena, said);
    if (out && !*out)
        out = shorten_name(arena, server->argv ? find_program_name(server->argv) : find_host_name(server->url));
    return out && !*out ? "mcp" : out;
}

void wt__mcp_add_last_output(wt_error *err, const char *words, const struct mcp_server *server)
{
    size_t len = strlen(err->message);
    if (words && *words && len < sizeof err->message)
        snprintf(err->message + len, sizeof err->message - len, "; it said last: %s", words);
    wt__mcp_hide_secrets(err->message, sizeof err->message, server);
}
