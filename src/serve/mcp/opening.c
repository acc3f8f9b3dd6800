/* opening.c: how a client learns about the server. `initialize` opens a legacy session; `server/discover` gives a
 * modern client the same information without a session. */
#include "serve/mcp/inside.h"

static void write_capability(struct buffer *out, const char *name, bool offered, bool changes, bool watched)
{
    if (!offered)
        return;
    wt__buffer_printf(out, ",\"%s\":{%s%s%s}", name, changes ? "\"listChanged\":true" : "",
                      changes && watched ? "," : "", watched ? "\"subscribe\":true" : "");
}

static void write_capabilities(struct buffer *out, const struct mcp_features *features)
{
    wt__buffer_text(out, ",\"capabilities\":{\"logging\":{}");
    write_capability(out, "tools", features->tools.list, features->changes, false);
    write_capability(out, "resources", features->resources.list, features->changes, features->resources.watched);
    write_capability(out, "prompts", features->prompts.list, features->changes, false);
    write_capability(out, "completions", features->completions.complete, false, false);
    wt__buffer_char(out, '}');
}

static void write_mcp_instructions(struct buffer *out, const struct mcp_call *call)
{
    const struct mcp_features *features = &call->service->features;
    struct buffer text = {0};
    if (features->write_instructions)
        features->write_instructions(features->context, call->peer->principal, &text);
    else if (features->instructions)
        wt__buffer_text(&text, features->instructions);
    if (text.len > 0) {
        wt__buffer_text(out, ",\"instructions\":");
        wt__buffer_json(out, wt__buffer_view(&text));
    }
    out->failed |= text.failed;
    wt__buffer_dispose(&text);
}

/* True if clientInfo and capabilities are small enough to keep in a session; up to MCP_SESSIONS_MAX sessions may
 * exist. */
static bool fits_session(const json_t *capabilities, const json_t *client)
{
    struct buffer text = {.max = MCP_CLIENT_BYTES_MAX};
    wt__json_write(&text, capabilities);
    wt__json_write(&text, client);
    bool modest = !text.failed;
    wt__buffer_dispose(&text);
    return modest;
}

/* Opens the peer with deep copies, so that threads do not share reference counts. Returns 0, WT_EBUSY (already open) or
 * WT_ENOMEM. */
static int open_peer(struct mcp_peer *peer, const json_t *capabilities, const json_t *client, bool resumes)
{
    json_t *own_capabilities = json_deep_copy(capabilities), *own_client = json_deep_copy(client);
    pthread_mutex_lock(&peer->lock);
    int rc = peer->is_open ? WT_EBUSY : own_capabilities && own_client ? 0 : WT_ENOMEM;
    if (rc == 0) {
        peer->is_open = true;
        peer->can_resume = resumes;
        peer->capabilities = own_capabilities;
        peer->client = own_client;
    }
    pthread_mutex_unlock(&peer->lock);
    if (rc < 0) {
        json_decref(own_capabilities);
        json_decref(own_client);
    }
    return rc;
}

bool wt__mcp_run_initialize(struct mcp_call *call)
{
    struct mcp_peer *peer = call->peer;
    struct str wanted = wt__json_str(call->in.params, "protocolVersion");
    const json_t *capabilities = wt__json_object(call->in.params, "capabilities");
    const json_t *client = wt__json_object(call->in.params, "clientInfo");
    if (wanted.len == 0 || !capabilities || !client || !fits_session(capabilities, client)) {
        wt__mcp_refuse(call, MCP_INVALID_PARAMS,
                       "initialize needs protocolVersion, capabilities and clientInfo, of at most %d bytes",
                       MCP_CLIENT_BYTES_MAX);
        return false;
    }
    bool known = wt__mcp_is_legacy_version(wanted);
    struct str version = known ? wanted : STR(MCP_LEGACY_VERSION);
    switch (open_peer(peer, capabilities, client, wt__str_equal(version, STR(MCP_LEGACY_VERSION)))) {
    case 0:
        break;
    case WT_ENOMEM:
        wt__mcp_refuse(call, MCP_INTERNAL_ERROR, "out of memory");
        return false;
    default:
        wt__mcp_refuse(call, MCP_INVALID_REQUEST, "the session is already initialized");
        return false;
    }
    wt__buffer_printf(&call->result, ",\"protocolVersion\":\"%.*s\"", (int)version.len, version.ptr);
    write_capabilities(&call->result, &call->service->features);
    write_mcp_instructions(&call->result, call);
    wt__buffer_text(&call->result, ",\"serverInfo\":");
    wt__mcp_write_server_info(&call->result, &call->service->features, true);
    return false;
}

bool wt__mcp_run_discover(struct mcp_call *call)
{
    const struct mcp_features *features = &call->service->features;
    wt__buffer_text(&call->result, ",\"supportedVersions\":");
    wt__mcp_write_versions(&call->result);
    write_capabilities(&call->result, features);
    write_mcp_instructions(&call->result, call);
    wt__buffer_printf(&call->result, ",\"ttlMs\":%u,\"cacheScope\":\"%s\"", features->ttl_ms,
                      features->private_lists ? "private" : "public");
    return false;
}
