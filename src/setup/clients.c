/* clients.c: see clients.h. */
#include "setup/clients.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"

#define CODE_STORAGE "CONFIG/Code/User/globalStorage/"

static const struct client_place places[] = {
    {.client = "claude-code",
     .title = "Claude Code",
     .file = "~/.claude.json",
     .variable = "CLAUDE_CONFIG_DIR",
     .inner = "mcpServers",
     .extra = "type",
     .value = "stdio",
     .variables = VARIABLES_BRACES},
    {.client = "claude-desktop",
     .title = "Claude Desktop",
     .file = "CONFIG/Claude/claude_desktop_config.json",
     .inner = "mcpServers"},
    {.client = "cursor",
     .title = "Cursor",
     .file = "~/.cursor/mcp.json",
     .inner = "mcpServers",
     .variables = VARIABLES_ENV},
    {.client = "vscode",
     .title = "VS Code",
     .file = "CONFIG/Code/User/mcp.json",
     .inner = "servers",
     .extra = "type",
     .value = "stdio",
     .variables = VARIABLES_ENV},
    {.client = "vscode",
     .title = "VS Code (settings)",
     .file = "CONFIG/Code/User/settings.json",
     .outer = "mcp",
     .inner = "servers",
     .extra = "type",
     .value = "stdio",
     .variables = VARIABLES_ENV},
    {.client = "vscode-insiders",
     .title = "VS Code Insiders",
     .file = "CONFIG/Code - Insiders/User/mcp.json",
     .inner = "servers",
     .extra = "type",
     .value = "stdio",
     .variables = VARIABLES_ENV},
    {.client = "windsurf",
     .title = "Windsurf",
     .file = "~/.codeium/windsurf/mcp_config.json",
     .inner = "mcpServers",
     .variables = VARIABLES_ENV},
    {.client = "gemini-cli",
     .title = "Gemini CLI",
     .file = "~/.gemini/settings.json",
     .inner = "mcpServers",
     .variables = VARIABLES_DOLLAR},
    {.client = "zed",
     .title = "Zed",
     .file = "CONFIG/zed/settings.json",
     .mac_file = "~/.config/zed/settings.json",
     .inner = "context_servers",
     .extra = "source",
     .value = "custom"},
    {.client = "cline",
     .title = "Cline",
     .file = CODE_STORAGE "saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
     .inner = "mcpServers",
     .variables = VARIABLES_ENV},
    {.client = "cline",
     .title = "Cline (command line)",
     .file = "~/.cline/data/settings/cline_mcp_settings.json",
     .inner = "mcpServers",
     .variables = VARIABLES_ENV},
    {.client = "roo-code",
     .title = "Roo Code",
     .file = CODE_STORAGE "rooveterinaryinc.roo-cline/settings/mcp_settings.json",
     .inner = "mcpServers",
     .variables = VARIABLES_ENV},
    {.client = "codex", .title = "Codex", .file = "~/.codex/config.toml", .variable = "CODEX_HOME"},

    {.client = "claude-code",
     .title = "Claude Code",
     .scope = CLIENT_OF_PROJECT,
     .file = ".mcp.json",
     .inner = "mcpServers",
     .extra = "type",
     .value = "stdio",
     .variables = VARIABLES_BRACES},
    {.client = "cursor",
     .title = "Cursor",
     .scope = CLIENT_OF_PROJECT,
     .file = ".cursor/mcp.json",
     .inner = "mcpServers",
     .variables = VARIABLES_ENV},
    {.client = "vscode",
     .title = "VS Code",
     .scope = CLIENT_OF_PROJECT,
     .file = ".vscode/mcp.json",
     .inner = "servers",
     .extra = "type",
     .value = "stdio",
     .variables = VARIABLES_ENV},
    {.client = "gemini-cli",
     .title = "Gemini CLI",
     .scope = CLIENT_OF_PROJECT,
     .file = ".gemini/settings.json",
     .inner = "mcpServers",
     .variables = VARIABLES_DOLLAR},
    {.client = "roo-code",
     .title = "Roo Code",
     .scope = CLIENT_OF_PROJECT,
     .file = ".roo/mcp.json",
     .inner = "mcpServers",
     .variables = VARIABLES_ENV},
    {.client = "codex", .title = "Codex", .scope = CLIENT_OF_PROJECT, .file = ".codex/config.toml"},
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
