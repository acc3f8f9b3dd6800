/* pages.c: see pages.h. */
#include "mcp/pages.h"

#include "base/json.h"
#include "base/json_scan.h"

void wt__mcp_pages_params(const struct mcp_pages *pages, struct buffer *out)
{
    if (pages->cursor.len == 0)
        return;
    wt__buffer_text(out, "\"cursor\":");
    wt__buffer_str(out, pages->cursor);
}

/* The items of a page: the bytes between the brackets of its list. */
static int take_items(struct mcp_pages *pages, struct str list, wt_error *err)
{
    struct json_scan scan;
    struct json_item item;
    size_t begin = 0, end = 0;
    int rc;
    wt__json_scan_open(&scan, list, 0, 1);
    while ((rc = wt__json_scan_next(&scan, &item)) > 0) {
        begin = end == 0 ? item.byte : begin;
        end = item.byte + item.value.len;
        if (++pages->item_count > MCP_TOOLS_MAX)
            return wt__fail(err, WT_ETOOLONG, "it lists more than %d %s", MCP_TOOLS_MAX, pages->member);
    }
    if (rc < 0 || list.ptr[0] != '[')
        return wt__fail(err, WT_ENETWORK, "the answer to `%s` is broken: %s%s%s", pages->method,
                        rc < 0 ? scan.reason : "\"", rc < 0 ? "" : pages->member, rc < 0 ? "" : "\" is no list");
    if (pages->items.len + (end - begin) > MCP_TOOLS_BYTES_MAX)
        return wt__fail(err, WT_ETOOLONG, "its %s have more than %d MB", pages->member, MCP_TOOLS_BYTES_MAX >> 20);
    if (end > 0 && pages->items.len > 0)
        wt__buffer_char(&pages->items, ',');
    wt__buffer_append(&pages->items, list.ptr + begin, end - begin);
    return pages->items.failed ? wt__fail_nomem(err) : 0;
}

/* 1: there is a next page, and its cursor is kept as it is written, with its quotes. */
static int take_cursor(struct mcp_pages *pages, struct str result, wt_error *err)
{
    struct str cursor;
    json_t *text = NULL;
    bool added = false;
    bool sound = wt__mcp_member(result, "nextCursor", &cursor);
    if (sound && (cursor.len == 0 || wt__str_equal(cursor, STR("null"))))
        return 0;
    int rc =
        sound && cursor.len <= MCP_CURSOR_BYTES_MAX ? wt__json_parse(&text, cursor.ptr, cursor.len, NULL) : WT_EFORMAT;
    sound = rc == 0 && json_is_string(text);
    json_decref(text);
    if (rc == WT_ENOMEM)
        return wt__fail_nomem(err);
    if (!sound)
        return wt__fail(err, WT_ENETWORK, "the answer to `%s` is broken: its cursor is no string of at most %d bytes",
                        pages->method, MCP_CURSOR_BYTES_MAX);
    pages->cursor = (struct str){wt__arena_copy(&pages->arena, cursor), cursor.len};
    if (!pages->cursor.ptr || !wt__map_insert(&pages->cursors, pages->cursor, 0, &added))
        return wt__fail_nomem(err);
    return added ? 1 : wt__fail(err, WT_ENETWORK, "its pages of %s go round in a circle", pages->member);
}

int wt__mcp_pages_take(struct mcp_pages *pages, struct str result, wt_error *err)
{
    struct str list;
    if (result.len == 0 || result.ptr[0] != '{' || !wt__mcp_member(result, pages->member, &list) || list.len == 0)
        return wt__fail(err, WT_ENETWORK, "the answer to `%s` has no \"%s\"", pages->method, pages->member);
    int rc = take_items(pages, list, err);
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
