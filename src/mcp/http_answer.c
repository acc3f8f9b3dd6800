/* http_answer.c: interprets HTTP answers: their types, the errors that they mean, and the targets of redirects. */
#include <stdlib.h>
#include <strings.h>

#include "base/memory.h"
#include "mcp/internal.h"
#include "net/http_client.h"

bool wt__mcp_http_is_stream(const struct http_head *head)
{
    return strncasecmp(head->type, MCP_EVENT_STREAM, sizeof MCP_EVENT_STREAM - 1) == 0;
}

bool wt__mcp_http_is_error_page(const struct http_head *head, struct str body)
{
    struct mcp_message message;
    return head->status >= 400 && !wt__mcp_http_is_stream(head) &&
           (wt__mcp_parse_message(body, &message) != MCP_ANSWER ||
            (message.error.len > 0 && message.error.ptr[0] != '{') || message.jsonrpc.len == 0);
}

/* Appends the target of a redirect without user, query and fragment, which may hold secrets. */
static void put_target(struct buffer *out, const char *location)
{
    const char *mark = strstr(location, "://"), *from = mark ? mark + 3 : location;
    size_t len = strcspn(from, "?#"), host = mark ? strcspn(from, "/?#") : 0;
    const char *user = host > 0 ? memrchr(from, '@', host) : NULL;
    size_t skipped = user ? (size_t)(user + 1 - from) : 0;
    WT_CLEANUP(wt__buffer_dispose) struct buffer target = {0};
    wt__buffer_append(&target, location, (size_t)(from - location));
    wt__buffer_append(&target, from + skipped, len - skipped);
    if (target.failed || target.len == 0)
        wt__buffer_text(out, "another address");
    else
        wt__mcp_put_server_text(out, wt__buffer_view(&target));
}

void wt__mcp_http_fail_status(const char *shown, const char *method, const struct http_head *head, struct str body,
                              wt_error *err)
{
    int status = head->status;
    WT_CLEANUP(wt__buffer_dispose) struct buffer target = {0}, reason = {0};
    put_target(&target, head->location);
    if (status >= 400)
        wt__mcp_put_reason(&reason, head->type, body);
    const char *says = reason.len > 0 && !reason.failed ? "; it says: " : "";
    const char *words = *says ? reason.ptr : "";
    if (status >= STATUS_OK && status < 300)
        wt__fail(err, WT_ENETWORK, "%s sent an invalid answer to `%s`; check that it is an MCP server", shown, method);
    else if (status == STATUS_UNAUTHORISED || status == STATUS_FORBIDDEN)
        wt__fail(err, WT_ENETWORK,
                 "%s requires authentication (HTTP status %d): add its header to \"headers\" in the configuration%s%s",
                 shown, status, says, words);
    else if (status >= 300 && status < 400)
        wt__fail(
            err, WT_ENETWORK,
            "%s redirects to %s (HTTP status %d), which is not followed: use that address in the configuration if it "
            "is the server's",
            shown, target.failed ? "another address" : target.ptr, status);
    else if (status == STATUS_NOT_FOUND)
        wt__fail(err, WT_ENETWORK, "%s has no MCP server at this path (HTTP status %d)%s%s", shown, status, says,
                 words);
    else
        wt__fail(err, WT_ENETWORK, "%s answered with HTTP status %d and no message%s%s", shown, status, says, words);
}

/* Returns the URL with a slash added to the end of its path, or removed from there; NULL if out of memory. The caller
 * frees it. */
static char *toggle_slash(const char *url)
{
    size_t path = strcspn(url, "?#");
    bool has = path > 0 && url[path - 1] == '/';
    struct buffer out = {0};
    wt__buffer_append(&out, url, path - has);
    wt__buffer_text(&out, has ? "" : "/");
    wt__buffer_text(&out, url + path);
    return wt__buffer_take(&out);
}

/* Returns the path of a URL, without query and fragment. with_host: the result begins with host and port. */
static struct str without_scheme(const char *url, bool with_host)
{
    const char *mark = strstr(url, "://"), *from = mark ? mark + 3 : url;
    size_t host = mark ? strcspn(from, "/?#") : 0;
    const char *user = host > 0 ? memrchr(from, '@', host) : NULL;
    from = !with_host ? from + host : user ? user + 1 : from;
    return (struct str){from, strcspn(from, "?#")};
}

/* True if location has the path of target and, if it is not relative, its host. Scheme and port may differ, since a
 * server behind a TLS proxy often does not know them. */
static bool is_same_place(const char *location, const char *target)
{
    bool whole = strstr(location, "://") != NULL;
    struct str one = without_scheme(location, true), two = without_scheme(target, true);
    size_t host = strcspn(one.ptr, ":/?#");
    return wt__str_equal(without_scheme(location, false), without_scheme(target, false)) &&
           (!whole || (host == strcspn(two.ptr, ":/?#") && strncasecmp(one.ptr, two.ptr, host) == 0));
}

char *wt__mcp_http_redirect(const char *base, const struct http_head *head)
{
    bool keeps_method = head->status == STATUS_TEMPORARY_REDIRECT || head->status == STATUS_PERMANENT_REDIRECT;
    WT_AUTO_FREE char *toggled = toggle_slash(base);
    char *target = NULL;
    if (toggled && is_same_place(head->location, toggled))
        return WT_TAKE(toggled);
    if (keeps_method)
        wt__http_resolve(&target, base, wt__str(head->location), NULL);
    return target;
}
