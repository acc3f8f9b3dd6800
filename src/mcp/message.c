/* message.c: see message.h. */
#include "mcp/message.h"

#include <inttypes.h>

#include "base/json.h"
#include "base/json_scan.h"

enum { WORDS_BYTES = 300 }; /* of a server's message that an error repeats */

#define CLIENT_INFO "{\"name\":\"whichtool\",\"version\":\"" WT_VERSION "\"}"
#define META "io.modelcontextprotocol/"

/* ---------------------------------------------------------------- reading */

bool wt__mcp_member(struct str object, const char *key, struct str *value)
{
    struct json_scan scan;
    struct json_item item;
    bool twice = false;
    int rc;
    *value = (struct str){"", 0};
    wt__json_scan_open(&scan, object, 0, 1);
    while ((rc = wt__json_scan_next(&scan, &item)) > 0) {
        if (!wt__str_equal(item.key, wt__str(key)))
            continue;
        twice |= value->len > 0;
        *value = item.value;
    }
    return rc == 0 && !twice;
}

/* A number or a string, as JSON-RPC has ids. */
static bool is_id(struct str id)
{
    return id.len > 0 && id.len <= MCP_ID_BYTES_MAX &&
           (id.ptr[0] == '"' || id.ptr[0] == '-' || (id.ptr[0] >= '0' && id.ptr[0] <= '9'));
}

/* Some servers give a number back as a string. */
static bool is_ours(struct str id, int64_t ours)
{
    char text[32];
    int len = snprintf(text, sizeof text, "\"%" PRId64 "\"", ours);
    return wt__str_equal(id, (struct str){text, (size_t)len}) ||
           wt__str_equal(id, (struct str){text + 1, (size_t)len - 2});
}

enum mcp_kind wt__mcp_read(struct str text, int64_t id, struct mcp_message *out)
{
    struct str message = wt__str_trim(text);
    *out = (struct mcp_message){.id = {"", 0}};
    if (message.len == 0 || message.ptr[0] != '{' || !wt__mcp_member(message, "id", &out->id) ||
        !wt__mcp_member(message, "method", &out->method) || !wt__mcp_member(message, "result", &out->result) ||
        !wt__mcp_member(message, "error", &out->error))
        return MCP_NO_MESSAGE;
    if (out->method.len > 0)
        return out->id.len > 0 ? MCP_REQUEST : MCP_NOTIFICATION;
    if ((out->result.len > 0) == (out->error.len > 0))
        return MCP_NO_MESSAGE;
    /* Who could not read a request cannot name it; there is one at a time. */
    bool nameless = out->error.len > 0 && (out->id.len == 0 || wt__str_equal(out->id, STR("null")));
    return nameless || is_ours(out->id, id) ? MCP_ANSWER : MCP_OTHER_ANSWER;
}

/* ---------------------------------------------------------------- writing */

void wt__mcp_write_request(struct buffer *out, int64_t id, const char *method, bool modern, struct str params)
{
    wt__buffer_printf(out, "{\"jsonrpc\":\"2.0\",\"id\":%" PRId64 ",\"method\":\"%s\",\"params\":{", id, method);
    if (modern)
        wt__buffer_printf(out,
                          "\"_meta\":{\"" META "protocolVersion\":\"" MCP_MODERN_VERSION "\",\"" META
                          "clientInfo\":" CLIENT_INFO ",\"" META "clientCapabilities\":{}}%s",
                          params.len > 0 ? "," : "");
    wt__buffer_str(out, params);
    wt__buffer_text(out, "}}");
}

void wt__mcp_write_notification(struct buffer *out, const char *method)
{
    wt__buffer_printf(out, "{\"jsonrpc\":\"2.0\",\"method\":\"%s\"}", method);
}

void wt__mcp_write_reply(struct buffer *out, const struct mcp_message *request)
{
    if (!is_id(request->id))
        return;
    wt__buffer_text(out, "{\"jsonrpc\":\"2.0\",\"id\":");
    wt__buffer_str(out, request->id);
    if (wt__str_equal(request->method, STR("\"ping\"")))
        wt__buffer_text(out, ",\"result\":{}}");
    else
        wt__buffer_printf(out, ",\"error\":{\"code\":%d,\"message\":\"whichtool only lists tools\"}}",
                          MCP_METHOD_NOT_FOUND);
}

/* ---------------------------------------------------------------- errors */

int wt__mcp_fail(const struct mcp_message *answer, const char *subject, int64_t *code, wt_error *err)
{
    json_t *error = NULL;
    *code = 0;
    if (wt__json_parse(&error, answer->error.ptr, answer->error.len, NULL) == WT_ENOMEM)
        return wt__fail_nomem(err);
    struct str words = wt__json_str(error, "message");
    *code = wt__json_int(error, "code", 0);
    if (words.len == 0)
        words = STR("no reason is given");
    size_t len = words.len < WORDS_BYTES ? words.len : WORDS_BYTES;
    while (len < words.len && len > 0 && words.ptr[len - 1] != ' ') /* half a word may be half a secret */
        len--;
    int rc = wt__fail(err, WT_ENETWORK, "%s is refused: %.*s%s (error %" PRId64 ")", subject, (int)len, words.ptr,
                      len < words.len ? "..." : "", *code);
    json_decref(error);
    return rc;
}
