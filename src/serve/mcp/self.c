/* self.c: the server's name and version, supported protocol revisions, and clock. */
#include "base/clock.h"
#include "serve/mcp/inside.h"

void wt__mcp_write_server_info(struct buffer *out, const struct mcp_features *features, bool with_title)
{
    wt__buffer_text(out, "{\"name\":");
    wt__buffer_json(out, wt__str(features->name));
    if (with_title && features->title) {
        wt__buffer_text(out, ",\"title\":");
        wt__buffer_json(out, wt__str(features->title));
    }
    wt__buffer_text(out, ",\"version\":");
    wt__buffer_json(out, wt__str(features->version));
    wt__buffer_char(out, '}');
}

bool wt__mcp_is_legacy_version(struct str version)
{
    static const char *const versions[] = {MCP_LEGACY_VERSION, "2025-06-18", "2025-03-26", "2024-11-05"};
    return wt__str_among(version, versions, sizeof versions / sizeof *versions);
}

void wt__mcp_write_versions(struct buffer *out)
{
    wt__buffer_text(out, "[\"" MCP_MODERN_VERSION "\",\"" MCP_LEGACY_VERSION
                         "\",\"2025-06-18\",\"2025-03-26\",\"2024-11-05\"]");
}

double wt__mcp_steady_ms(const struct mcp_service *service)
{
    return service->now_ms ? service->now_ms() : wt__now_ms();
}
