/* listing.c: lists the tools of a server, and collects the pages of a list (listing.h). */
#include "mcp/listing.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/json_scan.h"
#include "base/memory.h"
#include "mcp/internal.h"

void wt__mcp_pages_params(const struct mcp_pages *pages, struct buffer *out)
{
    if (pages->cursor.len == 0)
        return;
    wt__buffer_text(out, "\"cursor\":");
    wt__buffer_str(out, pages->cursor);
}

/* True if the configuration leaves the tool out. */
static bool is_left_out(const struct mcp_pages *pages, struct str tool)
{
    const struct mcp_server *server = pages->server;
    json_auto_t *read = NULL;
    struct str name;
    if (!server || (!server->allowed && !server->denied) || tool.len == 0 || tool.ptr[0] != '{' ||
        !wt__mcp_member(tool, "name", &name) || name.len == 0)
        return false;
    bool known = wt__json_parse(&read, name.ptr, name.len, NULL) == 0 && json_is_string(read);
    return !known || !wt__mcp_offers(server, (struct str){json_string_value(read), json_string_length(read)});
}

/* Appends the bytes from begin to end of a list. They are whole items. */
static void append_items(struct mcp_pages *pages, struct str list, size_t begin, size_t end)
{
    if (end > begin && pages->items.len > 0)
        wt__buffer_char(&pages->items, ',');
    wt__buffer_append(&pages->items, list.ptr + begin, end - begin);
}

/* Appends the items of a page, without those that the configuration leaves out. */
static int take_items(struct mcp_pages *pages, struct str list, wt_error *err)
{
    /* The bytes from begin to end are items to append. Neighbouring items are copied in one piece. */
    struct json_scan scan;
    struct json_item item;
    size_t begin = 0, end = 0, bytes = 0;
    int rc;
    wt__json_scan_open(&scan, list, 0, 1);
    while ((rc = wt__json_scan_next(&scan, &item)) > 0) {
        if (is_left_out(pages, item.value)) {
            append_items(pages, list, begin, end);
            begin = end = 0;
            continue;
        }
        begin = end == 0 ? item.byte : begin;
        end = item.byte + item.value.len;
        bytes += item.value.len;
        if (++pages->item_count > MCP_TOOLS_MAX)
            return wt__fail(err, WT_ETOOLONG, "it lists more than %d %s", MCP_TOOLS_MAX, pages->member);
        if (pages->items.len + bytes > MCP_TOOLS_BYTES_MAX)
            return wt__fail(err, WT_ETOOLONG, "its %s have more than %d MB", pages->member, MCP_TOOLS_BYTES_MAX >> 20);
    }
    if (rc < 0 || list.ptr[0] != '[')
        return wt__fail(err, WT_ENETWORK, "the answer to `%s` is invalid: %s%s%s", pages->method,
                        rc < 0 ? scan.reason : "\"", rc < 0 ? "" : pages->member, rc < 0 ? "" : "\" is not a list");
    append_items(pages, list, begin, end);
    return pages->items.failed ? wt__fail_nomem(err) : 0;
}

/* Ends the list with the items so far. Returns 0. */
static int end_early(struct mcp_pages *pages, const char *warning)
{
    pages->warning = warning;
    return 0;
}

/* Keeps the cursor of the next page. Returns 1, 0 if this is the last page, or an error. */
static int take_cursor(struct mcp_pages *pages, struct str result, wt_error *err)
{
    struct str cursor;
    json_auto_t *read = NULL;
    bool added = false, sound = wt__mcp_member(result, "nextCursor", &cursor);
    if (sound && (cursor.len == 0 || wt__str_equal(cursor, STR("null"))))
        return 0;
    int rc =
        sound && cursor.len <= MCP_CURSOR_BYTES_MAX ? wt__json_parse(&read, cursor.ptr, cursor.len, NULL) : WT_EFORMAT;
    bool text = rc == 0 && json_is_string(read);
    pages->is_odd = !text || json_string_length(read) == 0;
    sound = text || (rc == 0 && json_is_number(read));
    if (rc == WT_ENOMEM)
        return wt__fail_nomem(err);
    if (!sound)
        return end_early(pages, "its list ended early: a cursor is neither a string nor a number, or is too long");
    pages->cursor = (struct str){wt__arena_copy(&pages->arena, cursor), cursor.len};
    if (!pages->cursor.ptr || !wt__map_insert(&pages->cursors, pages->cursor, 0, &added))
        return wt__fail_nomem(err);
    return added ? 1 : end_early(pages, "its list ended early: the server repeated a cursor");
}

/* True if the new page equals the first page: servers that ignore cursors start over. before: length of the items
 * before the new page. */
static bool is_first_again(const struct mcp_pages *pages, size_t before)
{
    size_t from = before > 0 ? before + 1 : 0; /* skip the comma */
    return pages->page_count > 0 && pages->first_bytes > 0 && pages->items.len > from &&
           pages->items.len - from == pages->first_bytes &&
           memcmp(pages->items.ptr, pages->items.ptr + from, pages->first_bytes) == 0;
}

bool wt__mcp_pages_refused(struct mcp_pages *pages)
{
    if (pages->page_count > 0 && pages->is_odd)
        end_early(pages, "its list ended early: it refused its own cursor");
    return pages->page_count > 0 && pages->is_odd;
}

int wt__mcp_pages_take(struct mcp_pages *pages, struct str result, wt_error *err)
{
    struct str list;
    if (result.len == 0 || result.ptr[0] != '{' || !wt__mcp_member(result, pages->member, &list) || list.len == 0)
        return wt__fail(err, WT_ENETWORK, "the answer to `%s` has no \"%s\"", pages->method, pages->member);
    if (wt__str_equal(list, STR("null")))
        return end_early(pages, "its list is null, and read as empty");
    size_t before = pages->items.len, count = pages->item_count;
    int rc = take_items(pages, list, err);
    if (rc == 0 && is_first_again(pages, before)) {
        wt__buffer_cut(&pages->items, before);
        pages->item_count = count;
        pages->page_count++;
        return end_early(pages, "its list ended early: a cursor led to the first page again");
    }
    if (pages->page_count == 0)
        pages->first_bytes = pages->items.len;
    if (rc == 0)
        rc = take_cursor(pages, result, err);
    if (++pages->page_count >= MCP_PAGES_MAX && rc > 0)
        return wt__fail(err, WT_ETOOLONG, "it lists its %s on more than %d pages", pages->member, MCP_PAGES_MAX);
    return rc;
}

void wt__mcp_pages_dispose(struct mcp_pages *pages)
{
    wt__buffer_dispose(&pages->items);
    wt__map_dispose(&pages->cursors);
    wt__arena_dispose(&pages->arena);
}

/* State of wt__mcp_list_tools. */
struct listing_client {
    struct mcp_connection *connection;
    struct mcp_exchange *exchange; /* owns the answer being read */
    struct mcp_listing *out;
    struct progress *progress;
    double until_ms;     /* end of the timeout, by wt__now_ms */
    unsigned timeout_ms; /* timeout of the whole listing */
    bool has_tools;      /* true unless a legacy server declares capabilities without "tools" */
};

/* Sends a request and waits for its answer, which lives until the next call. */
static int request_listing(struct listing_client *client, const char *method, struct str params,
                           struct mcp_message *answer, wt_error *err)
{
    double left = client->until_ms - wt__now_ms();
    const struct mcp_request request = {
        .method = method, .params = params, .timeout_ms = left > 1 ? (unsigned)left : 1};
    struct mcp_event event;
    wt__mcp_exchange_end(client->exchange);
    int rc = wt__mcp_exchange_begin(&client->exchange, client->connection, &request, err);
    do
        rc = rc < 0 ? rc : wt__mcp_exchange_wait(client->exchange, &event, client->progress, 0, err);
    while (rc == 0 && event.kind != MCP_EVENT_RESULT && event.kind != MCP_EVENT_REFUSED);
    if (rc == 0)
        *answer = (struct mcp_message){.result = event.result, .error = event.error};
    return rc == WT_ETIMEOUT ? wt__fail(err, WT_ETIMEOUT, "no answer came within %.3g s", client->timeout_ms / 1000.0)
                             : rc;
}

/* Connects, and reads the server's name, its era and whether it has tools. */
static int connect_client(struct listing_client *client, const struct mcp_server *server, wt_error *err)
{
    const struct mcp_connection_options options = {
        .era = MCP_ERA_LEGACY, .lists_only = true, .timeout_ms = client->timeout_ms, .progress = client->progress};
    struct mcp_listing *out = client->out;
    json_auto_t *self = NULL;
    WT_TRY(wt__mcp_connect(&client->connection, server, &options, err));
    struct str text = wt__mcp_connection_self(client->connection);
    if (wt__json_parse(&self, text.ptr, text.len, NULL) == WT_ENOMEM)
        return wt__fail_nomem(err);
    struct str name = wt__json_str(wt__json_object(self, "serverInfo"), "name");
    if (name.len < sizeof out->name)
        snprintf(out->name, sizeof out->name, "%.*s", (int)name.len, name.ptr);
    out->modern = wt__mcp_connection_era(client->connection) == MCP_ERA_MODERN;
    const json_t *capabilities = wt__json_object(self, "capabilities");
    client->has_tools = out->modern || !capabilities || json_object_get(capabilities, "tools");
    return 0;
}

/* Requests one page. Returns 1 if another page follows, 0 after the last page, or an error. */
static int request_page(struct listing_client *client, struct mcp_pages *pages, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer params = {0};
    struct mcp_message answer;
    int64_t code;
    wt__mcp_pages_params(pages, &params);
    if (params.failed)
        return wt__fail_nomem(err);
    WT_TRY(request_listing(client, pages->method, wt__buffer_view(&params), &answer, err));
    if (answer.error.len == 0)
        return wt__mcp_pages_take(pages, answer.result, err);
    if (wt__mcp_pages_refused(pages))
        return 0;
    int rc = wt__mcp_fail(&answer, "`tools/list`", &code, err);
    return rc == WT_ENETWORK && code == MCP_METHOD_NOT_FOUND && !client->has_tools ? 0 : rc;
}

static int request_pages(struct listing_client *client, const struct mcp_server *server, wt_error *err)
{
    struct mcp_pages pages = {.method = "tools/list", .member = "tools", .server = server};
    struct mcp_listing *out = client->out;
    int rc = connect_client(client, server, err);
    for (int more = 1; rc == 0 && more > 0;) {
        more = request_page(client, &pages, err);
        rc = more < 0 ? more : 0;
    }
    wt__buffer_text(&out->tools, "{\"tools\":[");
    wt__buffer_str(&out->tools, wt__buffer_view(&pages.items));
    wt__buffer_text(&out->tools, "]}");
    out->tool_count = pages.item_count;
    out->page_count = pages.page_count;
    wt__mcp_pages_dispose(&pages);
    return rc == 0 && out->tools.failed ? wt__fail_nomem(err) : rc;
}

int wt__mcp_list_tools(struct mcp_listing *out, const struct mcp_server *server, unsigned timeout_ms,
                       struct progress *progress, wt_error *err)
{
    struct listing_client client = {
        .out = out, .progress = progress, .timeout_ms = timeout_ms, .until_ms = wt__now_ms() + timeout_ms};
    char words[CHILD_TAIL_BYTES] = "";
    wt_error scratch;
    err = err ? err : &scratch;
    *out = (struct mcp_listing){.tool_count = 0};
    int rc = request_pages(&client, server, err);
    wt__mcp_exchange_end(client.exchange);
    wt__mcp_disconnect_with_output(client.connection, rc < 0, words);
    if (rc < 0) {
        wt__mcp_add_last_output(err, rc == WT_ECANCELLED || rc == WT_ENOMEM ? "" : words, server);
        wt__buffer_dispose(&out->tools);
    }
    return rc;
}
