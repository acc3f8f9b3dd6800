/* conversation.c: reads a conversation, resolves the names of its tools, and computes the context of its request. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "catalog/messages.h"
#include "catalog/names.h"
#include "query/search.h"
#include "engine/tools.h"

/* Limits of the context: the latest turns of the user, and the last turn of the agent. */
enum {
    CONTEXT_USER_TURNS = 2,
    CONTEXT_AGENT_TURNS = 1,
    CONTEXT_TURN_BYTES = 600, /* maximum bytes of a turn, from its beginning */
    CONTEXT_DEPTH = 100,      /* maximum hits of the search for the context */
    NAMES_TOLD = 3,           /* maximum names of unknown tools in a notice */
    NAME_SHOWN = 80           /* maximum bytes of a name in a notice */
};

/* ---------------------------------------------------------------- reading */

/* Joins the latest turns in order, followed by the request, as the context. Leaves the context empty if there are no
 * turns besides the request. leads: index of the turn that is the request, or conversation->len for none. */
static int join_context_turns(struct conversation_input *out, const struct conversation *conversation, size_t leads,
                              struct arena *arena, wt_error *err)
{
    size_t left[2] = {CONTEXT_AGENT_TURNS, CONTEXT_USER_TURNS}, first = conversation->len;
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    bool *taken = wt__arena_array(arena, bool, conversation->len + 1);
    WT_CHECK_ALLOC(taken, err);
    for (size_t i = conversation->len; i > 0 && left[0] + left[1] > 0; i--) {
        const struct turn *turn = &conversation->turns[i - 1];
        if (i - 1 == leads || left[turn->user] == 0)
            continue;
        left[turn->user]--;
        taken[i - 1] = true;
        first = i - 1;
    }
    if (first == conversation->len)
        return 0;
    for (size_t i = first; i < conversation->len; i++)
        if (taken[i]) {
            wt__buffer_str(&text, wt__str_head(conversation->turns[i].text, CONTEXT_TURN_BYTES));
            wt__buffer_char(&text, '\n');
        }
    wt__buffer_str(&text, wt__str_head(out->request, CONTEXT_TURN_BYTES));
    const char *copy = text.failed ? NULL : wt__arena_copy(arena, wt__buffer_view(&text));
    WT_CHECK_ALLOC(copy, err);
    out->context = wt__str(copy);
    return 0;
}

static int note_skipped_parts(struct conversation_input *out, const struct conversation *conversation,
                              struct arena *arena, wt_error *err)
{
    struct buffer text = {0};
    if (conversation->left_out > 0)
        wt__buffer_printf(&text, "%zu %s left out of the conversation%s: %s", conversation->left_out,
                          conversation->left_out == 1 ? "message is" : "messages are",
                          conversation->left_out == 1 ? "" : ", the first", conversation->reason);
    if (conversation->calls_over > 0)
        wt__buffer_printf(&text, "%sonly the first %d called tools are kept", text.len > 0 ? "; " : "", WT_MAX_KEPT);
    return wt__take_notice(&out->notice, WT_NOTICE_CONVERSATION, &text, arena, err);
}

/* Lists the names of the called tools, then those of the caller's own tools. */
static int list_kept_names(struct conversation_input *out, const struct conversation *conversation,
                           const struct conversation_options *options, struct arena *arena, wt_error *err)
{
    if (options->have_count > WT_MAX_KEPT)
        return wt__fail(err, WT_EINVAL, "%zu tools to keep were given; at most %d are allowed", options->have_count,
                        WT_MAX_KEPT);
    out->names = wt__arena_array(arena, const char *, conversation->call_count + options->have_count);
    WT_CHECK_ALLOC(out->names, err);
    for (size_t i = 0; i < conversation->call_count; i++)
        out->names[out->name_count++] = conversation->calls[i].ptr;
    out->called = out->name_count;
    for (size_t i = 0; i < options->have_count; i++) {
        if (!options->have[i])
            return wt__fail(err, WT_EINVAL, "the name of a tool to keep is NULL");
        out->names[out->name_count++] = options->have[i];
    }
    return 0;
}

int wt__conversation_read(struct conversation_input *out, const struct conversation_options *options,
                          struct arena *arena, wt_error *err)
{
    struct conversation conversation = {0};
    *out =
        (struct conversation_input){.request = options->request, .has_messages = options->messages || options->parsed};
    if (options->parsed)
        WT_TRY(wt__messages_read_tree(&conversation, options->parsed, arena, err));
    else if (options->messages)
        WT_TRY(wt__messages_read(&conversation, (struct str){options->messages, options->messages_len}, arena, err));
    size_t leads = conversation.len;
    if (out->has_messages && wt__str_trim(options->request).len == 0) {
        leads = wt__messages_last_user(&conversation);
        if (leads == conversation.len)
            return wt__fail(err, WT_EFORMAT,
                            "the conversation has no text of the user%s%s; give a message with "
                            "the role \"user\" and a text",
                            conversation.reason ? ": " : "", conversation.reason ? conversation.reason : "");
        out->request = conversation.turns[leads].text;
    }
    WT_TRY(join_context_turns(out, &conversation, leads, arena, err));
    WT_TRY(list_kept_names(out, &conversation, options, arena, err));
    return note_skipped_parts(out, &conversation, arena, err);
}

/* ---------------------------------------------------------------- kept tools */

/* Prefix that clients of several MCP servers put before the name of a server. */
static const char *const client_prefix = "mcp__";

static int resolve_name(const struct search *search, struct store *reader, const char *name, int64_t *id, wt_error *err)
{
    return search->engine->view ? search->engine->view->resolve(search->engine, name, id, err)
                                : wt__tool_resolve(reader, name, id, err);
}

/* Returns 1 and *id if the name resolves to one tool, 0 if not. */
static int resolve_kept_name(const struct search *search, struct store *reader, const char *name, int64_t *id,
                             wt_error *err)
{
    wt_error why;
    size_t prefix = strlen(client_prefix);
    int rc = resolve_name(search, reader, name, id, &why);
    if (rc == WT_ENOTFOUND && strncmp(name, client_prefix, prefix) == 0 && name[prefix])
        rc = resolve_name(search, reader, name + prefix, id, &why);
    if (rc == WT_ENOTFOUND || rc == WT_EINVAL)
        return 0;
    return rc < 0 ? wt__fail_same(err, &why) : 1;
}

static bool has_kept_id(const int64_t *ids, size_t count, int64_t id)
{
    for (size_t i = 0; i < count; i++)
        if (ids[i] == id)
            return true;
    return false;
}

static int resolve_kept_names(struct search *search, struct store *reader, struct buffer *unknown, size_t *missing,
                              wt_error *err)
{
    const struct conversation_input *input = search->conversation;
    struct kept_ids *kept = &search->kept;
    for (size_t i = 0; i < input->name_count; i++) {
        int64_t id;
        int rc = resolve_kept_name(search, reader, input->names[i], &id, err);
        if (rc < 0)
            return rc;
        if (rc == 0 && (*missing)++ < NAMES_TOLD)
            wt__buffer_printf(unknown, "%s\"%.*s\"", *missing > 1 ? ", " : "", NAME_SHOWN, input->names[i]);
        if (rc == 1 && !has_kept_id(kept->ids, kept->count, id))
            kept->ids[kept->count++] = id;
        kept->called = i < input->called ? kept->count : kept->called;
    }
    return 0;
}

int wt__conversation_resolve(struct search *search, wt_error *err)
{
    const struct conversation_input *input = search->conversation;
    WT_CLEANUP(wt__buffer_dispose) struct buffer unknown = {0}, text = {0};
    WT_CLEANUP(wt__close_reader) struct engine_reader reader = {0};
    size_t missing = 0;
    if (!input)
        return 0;
    WT_TRY(wt__join_notices(&search->notice, &input->notice, search->arena, err));
    if (input->name_count == 0)
        return 0;
    search->kept.ids = wt__arena_array(search->arena, int64_t, input->name_count);
    WT_CHECK_ALLOC(search->kept.ids, err);
    WT_TRY(wt__open_reader(&reader, search->engine, err));
    WT_TRY(wt__store_read_begin(reader.store, err));
    WT_TRY(resolve_kept_names(search, reader.store, &unknown, &missing, err));
    if (missing == 0)
        return 0;
    wt__buffer_printf(&text, "cannot keep %s%s: no tool or several tools have that name", unknown.ptr,
                      missing > NAMES_TOLD ? ", ..." : "");
    text.failed |= unknown.failed;
    return wt__take_notice(&search->notice, WT_NOTICE_CONVERSATION, &text, search->arena, err);
}

/* ---------------------------------------------------------------- context */

static int order_context_tools(const void *a, const void *b)
{
    uint32_t x = ((const struct context_tool *)a)->row, y = ((const struct context_tool *)b)->row;
    return (x > y) - (x < y);
}

/* Finds the rows of the kept tools, and the providers of the called tools. */
static int find_kept_rows(struct search *search, const uint64_t *allowed, struct context *context, wt_error *err)
{
    const struct snapshot *snapshot = search->index->snapshot;
    const struct kept_ids *kept = &search->kept;
    uint32_t *providers = wt__arena_array(search->arena, uint32_t, kept->count);
    search->kept_rows = wt__arena_array(search->arena, uint32_t, kept->count);
    search->kept_count = 0;
    WT_CHECK_ALLOC(providers && search->kept_rows, err);
    for (size_t i = 0; i < kept->count; i++) {
        size_t row = wt__snapshot_row(snapshot, kept->ids[i]);
        if (row >= snapshot->rows || !wt__row_allowed(allowed, (uint32_t)row))
            continue;
        search->kept_rows[search->kept_count++] = (uint32_t)row;
        if (i < kept->called)
            providers[context->provider_count++] = snapshot->keys[row].provider;
    }
    context->provider_count = wt__sort_unique_u32(providers, context->provider_count);
    context->providers = providers;
    return 0;
}

/* Returns the text of the context, or an empty view. */
static struct str context_text(const struct search *search)
{
    bool turns = search->conversation && search->conversation->context.len > 0;
    return turns ? search->conversation->context : search->background;
}

/* Searches with the whole context as one request. Does not split the context into sub-queries, because earlier turns
 * were answered already and only give the topic. */
static int find_context_tools(struct search *search, const struct view *view, const struct retrieve_request *request,
                              struct context *context, wt_error *err)
{
    struct retrieve_request joined = *request;
    struct view alone = *view;
    struct hit_list found;
    joined.text = context_text(search);
    joined.k = CONTEXT_DEPTH;
    joined.max_per_provider = 0;
    joined.copies = joined.features = joined.whole = true;
    alone.context = NULL;
    alone.recorded_count = 0;
    WT_TRY(wt__retrieve(&search->plan.retriever, &alone, &joined, search->workspace, &found, err));
    struct context_tool *tools = wt__arena_array(search->arena, struct context_tool, found.len);
    WT_CHECK_ALLOC(tools, err);
    float best = found.len > 0 && found.items[0].score > 0 ? found.items[0].score : 0;
    for (size_t i = 0; i < found.len; i++)
        tools[i] = (struct context_tool){.row = found.items[i].row,
                                         .share = best > 0 ? fmaxf(found.items[i].score / best, 0) : 0,
                                         .meaning = found.items[i].features[FEATURE_SUBQUERY_MEANING],
                                         .words = found.items[i].features[FEATURE_SUBQUERY_WORDS],
                                         .estimate = found.items[i].estimate};
    if (found.len > 1)
        qsort(tools, found.len, sizeof *tools, order_context_tools);
    context->tools = tools;
    context->count = found.len;
    context->best_meaning = found.nearest && found.nearest_counts[0] > 0 ? found.nearest[0].score : 0;
    context->fits = found.fits;
    context->fits_quantile = found.fits_quantile;
    search->context_ms = found.encode_ms;
    return 0;
}

int wt__conversation_context(struct search *search, const struct view *view, const struct retrieve_request *request,
                             const struct context **out, wt_error *err)
{
    *out = NULL;
    if (context_text(search).len == 0 && !search->conversation)
        return 0;
    struct context *context = wt__arena_array(search->arena, struct context, 1);
    WT_CHECK_ALLOC(context, err);
    if (search->conversation)
        WT_TRY(find_kept_rows(search, request->allowed, context, err));
    if (context_text(search).len > 0)
        WT_TRY(find_context_tools(search, view, request, context, err));
    *out = context->count + context->provider_count > 0 ? context : NULL;
    return 0;
}

/* ---------------------------------------------------------------- hits */

static bool is_kept_row(const struct search *search, uint32_t row)
{
    for (size_t i = 0; i < search->kept_count; i++)
        if (search->kept_rows[i] == row)
            return true;
    return false;
}

void wt__conversation_mark(struct search *search)
{
    for (size_t i = 0; i < search->hits.len && search->kept_count > 0; i++)
        search->hits.items[i].kept = is_kept_row(search, search->hits.items[i].row);
}

void wt__conversation_cut(struct search *search, size_t wanted)
{
    size_t end = 0;
    for (size_t found = 0; end < search->hits.len && found < wanted; end++)
        found += !search->hits.items[end].kept;
    search->hits.len = end;
}

static bool is_hit_row(const struct hit_list *hits, size_t count, uint32_t row)
{
    for (size_t i = 0; i < count; i++)
        if (hits->items[i].row == row)
            return true;
    return false;
}

int wt__conversation_append(struct search *search, wt_error *err)
{
    struct hit_list *hits = &search->hits;
    size_t found = hits->len;
    if (search->kept_count == 0)
        return 0;
    struct hit *items = wt__arena_array(search->arena, struct hit, found + search->kept_count);
    WT_CHECK_ALLOC(items, err);
    if (found > 0)
        memcpy(items, hits->items, found * sizeof *items);
    for (size_t i = 0; i < search->kept_count; i++)
        if (!is_hit_row(hits, found, search->kept_rows[i]))
            items[hits->len++] = (struct hit){.row = search->kept_rows[i], .probability = NAN, .kept = true};
    hits->items = items;
    return 0;
}
