/* clients.c: see clients.h. */
#include "setup/clients.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"

#define CODE_STORAGE "CONFIG/Code/User/globalStorage/"

/* Rows of the table. Further fields may follow the path. */
#define USER_FILE(name, heading, ...)                                                                                  \
    {                                                                                                                  \
        .client = (name), .title = (heading), .scope = CLIENT_OF_USER, .file = __VA_ARGS__                             \
    }
#define PROJECT_FILE(name, heading, ...)                                                                               \
    {                                                                                                                  \
        .client = (name), .title = (heading), .scope = CLIENT_OF_PROJECT, .file = __VA_ARGS__                          \
    }
#define STDIO_TYPE .extra = "type", .value = "stdio"

static const struct client_place places[] = {
    USER_FILE("claude-code", "Claude Code", "~/.claude.json", .variable = "CLAUDE_CONFIG_DIR", .inner = "mcpServers",
              STDIO_TYPE, .variables = VARIABLES_BRACES),
    USER_FILE("claude-desktop", "Claude Desktop", "CONFIG/Claude/claude_desktop_config.json", .inner = "mcpServers"),
    USER_FILE("cursor", "Cursor", "~/.cursor/mcp.json", .inner = "mcpServers", .variables = VARIABLES_ENV),
    USER_FILE("vscode", "VS Code", "CONFIG/Code/User/mcp.json", .inner = "servers", STDIO_TYPE,
              .variables = VARIABLES_ENV),
    USER_FILE("vscode", "VS Code (settings)", "CONFIG/Code/User/settings.json", .outer = "mcp", .inner = "servers",
              STDIO_TYPE, .variables = VARIABLES_ENV),
    USER_FILE("vscode-insiders", "VS Code Insiders", "CONFIG/Code - Insiders/User/mcp.json", .inner = "servers",
              STDIO_TYPE, .variables = VARIABLES_ENV),
    USER_FILE("windsurf", "Windsurf", "~/.codeium/windsurf/mcp_config.json", .inner = "mcpServers",
              .variables = VARIABLES_ENV),
    USER_FILE("gemini-cli", "Gemini CLI", "~/.gemini/settings.json", .inner = "mcpServers",
              .variables = VARIABLES_DOLLAR),
    USER_FILE("zed", "Zed", "CONFIG/zed/settings.json", .mac_file = "~/.config/zed/settings.json",
              .inner = "context_servers", .extra = "source", .value = "custom"),
    USER_FILE("cline", "Cline", CODE_STORAGE "saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
              .inner = "mcpServers", .variables = VARIABLES_ENV),
    USER_FILE("cline", "Cline (command line)", "~/.cline/data/settings/cline_mcp_settings.json", .inner = "mcpServers",
              .variables = VARIABLES_ENV),
    USER_FILE("roo-code", "Roo Code", CODE_STORAGE "rooveterinaryinc.roo-cline/settings/mcp_settings.json",
              .inner = "mcpServers", .variables = VARIABLES_ENV),
    USER_FILE("codex", "Codex", "~/.codex/config.toml", .variable = "CODEX_HOME"),
    PROJECT_FILE("claude-code", "Claude Code", ".mcp.json", .inner = "mcpServers", STDIO_TYPE,
                 .variables = VARIABLES_BRACES),
    PROJECT_FILE("cursor", "Cursor", ".cursor/mcp.json", .inner = "mcpServers", .variables = VARIABLES_ENV),
    PROJECT_FILE("vscode", "VS Code", ".vscode/mcp.json", .inner = "servers", STDIO_TYPE, .variables = VARIABLES_ENV),
    PROJECT_FILE("gemini-cli", "Gemini CLI", ".gemini/settings.json", .inner = "mcpServers",
                 .variables = VARIABLES_DOLLAR),
    PROJECT_FILE("roo-code", "Roo Code", ".roo/mcp.json", .inner = "mcpServers", .variables = VARIABLES_ENV),
    PROJECT_FILE("codex", "Codex", ".codex/config.toml"),
};

const struct client_place *wt__client_places(size_t *count)
{
    *count = sizeof places / sizeof *places;
    return places;
}

bool wt__client_is_known(const char *client)
{
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (strcmp(places[i].client, client) == 0)
            return true;
    return false;
}

enum client_system wt__client_system(void)
{
#ifdef __APPLE__
    return CLIENT_MACOS;
#else
    return CLIENT_LINUX;
#endif
}

/* Returns a variable's value if it is an absolute path, else NULL. XDG ignores relative paths too. */
static const char *absolute_variable(const char *variable)
{
    const char *value = variable ? getenv(variable) : NULL;
    return value && value[0] == '/' ? value : NULL;
}

int wt__client_file(const char **out, struct arena *arena, const struct client_place *place, enum client_system system,
                    const char *project, wt_error *err)
{
    static const char config[] = "CONFIG/";
    const char *file = system == CLIENT_MACOS && place->mac_file ? place->mac_file : place->file, *base = project;
    const char *home = absolute_variable("HOME"), *named = absolute_variable(place->variable);
    *out = NULL;
    if (place->scope == CLIENT_OF_USER && !home)
        return wt__fail(err, WT_ENOTFOUND, "HOME is not an absolute path; clients keep their files there");
    if (named) {
        base = named;
        file = strrchr(file, '/') + 1;
    } else if (file[0] == '~') {
        base = home;
        file += 2;
    } else if (strncmp(file, config, sizeof config - 1) == 0) {
        const char *xdg = system == CLIENT_LINUX ? absolute_variable("XDG_CONFIG_HOME") : NULL;
        file += sizeof config - 1;
        base =
            xdg ? xdg : wt__path_join(arena, home, system == CLIENT_MACOS ? "Library/Application Support" : ".config");
    }
    *out = base ? wt__path_join(arena, base, file) : NULL;
    return *out ? 0 : wt__fail_nomem(err);
}
