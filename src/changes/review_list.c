/* review_list.c: lists waiting and approved definitions, creates the content of lock files, and reserves and releases
 * providers (whichtool/review.h). */
#include <stdlib.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "catalog/definition_changes.h"
#include "catalog/names.h"
#include "catalog/pins.h"
#include "engine/engine.h"
#include "engine/tools.h"
#include "store/review.h"
#include "whichtool/review.h"

struct waiting_list {
    wt_waiting_list public; /* first member, so that the public pointer converts to struct waiting_list */
    struct arena arena;
};

void wt_waiting_list_free(wt_waiting_list *public)
{
    if (!public)
        return;
    struct waiting_list *list = (struct waiting_list *)public;
    wt__arena_dispose(&list->arena);
    free(list);
}

/* Reads the rows of one provider, or of all providers if NULL. Fails if the provider was never reviewed. */
static int read_provider_rows(wt_engine *engine, enum review_rows which, const char *provider, struct arena *arena,
                              struct review_row **rows, size_t *count, wt_error *err)
{
    struct str name = wt__str(provider);
    struct store *reader;
    WT_TRY(wt__engine_reader(engine, &reader, err));
    int rc = wt__store_reviews(reader, which, provider ? &name : NULL, arena, rows, count, err);
    wt__engine_return_reader(engine, reader);
    return rc == 0 ? wt__fail(err, WT_ENOTFOUND, "no server was ever reviewed as \"%.200s\"", provider) : rc;
}

/* Writes the id of a row: "github/create_issue" or "github/prompt:review"; "github" for instructions. */
static void write_review_id(struct buffer *out, const struct review_row *row)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer name = {0};
    if (row->kind != REVIEW_TOOL)
        wt__buffer_printf(&name, "%s:", wt__review_words[row->kind]);
    wt__buffer_str(&name, row->name);
    if (name.len > 0)
        wt__tool_id(out, row->provider, wt__buffer_view(&name));
    else
        wt__buffer_str(out, row->provider);
    out->failed |= name.failed;
}

/* Fills a waiting definition, except its changes. Its texts live in the arena. */
static int fill_waiting(const struct review_row *row, struct arena *arena, wt_waiting *out, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer id = {0};
    bool ever = row->approved_sha256[0] != '\0';
    write_review_id(&id, row);
    *out = (wt_waiting){
        .id = id.failed ? NULL : wt__arena_copy(arena, wt__buffer_view(&id)),
        .provider = row->provider.ptr,
        .name = row->name.ptr,
        .kind = ever ? WT_WAITING_CHANGED : WT_WAITING_NEW,
        .since = row->offered_since,
        .offered = row->offered.ptr,
        .offered_len = row->offered.len,
        .sha256 = wt__arena_copy(arena, wt__str(row->offered_sha256)),
        .approved = ever ? row->approved.ptr : NULL,
        .approved_len = ever ? row->approved.len : 0,
        .approved_sha256 = ever ? wt__arena_copy(arena, wt__str(row->approved_sha256)) : NULL,
        .approved_since = ever ? row->approved_since : 0,
        .what = (int)row->kind,
    };
    return out->id && out->sha256 && (!ever || out->approved_sha256) ? 0 : wt__fail_nomem(err);
}

static int fill_waiting_changes(const struct review_row *row, struct arena *arena, wt_waiting *out, wt_error *err)
{
    struct definition_changes changes;
    const struct str *before = out->approved ? &row->approved : NULL;
    bool is_definition = row->kind != REVIEW_TOOL || row->name.len > 0;
    WT_TRY(is_definition ? wt__definition_changes(&changes, before, row->offered, arena, err)
                         : wt__plain_text_changes(&changes, "instructions", before, row->offered, arena, err));
    out->changes = changes.items;
    out->change_count = changes.count;
    out->more_changes = changes.more;
    return 0;
}

static int fill_waiting_list(wt_engine *engine, const char *provider, struct waiting_list *list, wt_error *err)
{
    struct review_row *rows = NULL;
    size_t count = 0;
    int rc = read_provider_rows(engine, REVIEWS_WAITING, provider, &list->arena, &rows, &count, err);
    if (rc < 0)
        return rc;
    wt_waiting *items = wt__arena_array(&list->arena, wt_waiting, count);
    WT_CHECK_ALLOC(items, err);
    for (size_t i = 0; i < count; i++) {
        WT_TRY(fill_waiting(&rows[i], &list->arena, &items[i], err));
        WT_TRY(fill_waiting_changes(&rows[i], &list->arena, &items[i], err));
    }
    list->public.len = count;
    list->public.items = wt__arena_pointers(&list->arena, items, count, sizeof *items);
    return list->public.items ? 0 : wt__fail_nomem(err);
}

int wt_list_waiting(wt_engine *engine, const char *provider, wt_waiting_list **out, wt_error *err)
{
    struct waiting_list *list = calloc(1, sizeof *list);
    *out = NULL;
    WT_CHECK_ALLOC(list, err);
    int rc = fill_waiting_list(engine, provider, list, err);
    if (rc < 0)
        wt_waiting_list_free(&list->public);
    else
        *out = &list->public;
    return rc;
}

int wt_approved_instructions(wt_engine *engine, const char *provider, char **out, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    struct review_row *rows = NULL;
    size_t count = 0;
    struct store *reader;
    struct str name = wt__str(provider);
    *out = NULL;
    WT_TRY(wt__engine_reader(engine, &reader, err));
    int rc = wt__store_reviews(reader, REVIEWS_INSTRUCTIONS, &name, &arena, &rows, &count, err);
    wt__engine_return_reader(engine, reader);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < count; i++)
        if (rows[i].listed && rows[i].offered_sha256[0] == '\0')
            wt__buffer_str(&text, rows[i].approved);
    *out = wt__buffer_take(&text);
    return *out ? 0 : wt__fail_nomem(err);
}

int wt_approved_offers(wt_engine *engine, const char *provider, int what, char **out, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    struct review_row *rows = NULL;
    size_t count = 0;
    *out = NULL;
    if (what <= WT_REVIEW_TOOL || what >= REVIEW_KINDS)
        return wt__fail(err, WT_EINVAL, "%d is not the kind of a prompt, resource or template", what);
    int rc = read_provider_rows(engine, REVIEWS_APPROVED, provider, &arena, &rows, &count, err);
    if (rc < 0)
        return rc;
    wt__buffer_char(&text, '[');
    for (size_t i = 0; i < count; i++) {
        if ((int)rows[i].kind != what || !rows[i].listed || rows[i].offered_sha256[0] != '\0')
            continue;
        wt__buffer_text(&text, text.len > 1 ? "," : "");
        wt__buffer_str(&text, rows[i].approved);
    }
    wt__buffer_char(&text, ']');
    *out = wt__buffer_take(&text);
    return *out ? 0 : wt__fail_nomem(err);
}

int wt_list_approved(wt_engine *engine, const char *provider, wt_tools **out, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    struct store *reader;
    int64_t *ids;
    size_t count;
    *out = NULL;
    WT_TRY(wt__engine_reader(engine, &reader, err));
    int rc = wt__store_read_begin(reader, err);
    if (rc == 0)
        rc = wt__store_approved_tools(reader, wt__str(provider), &arena, &ids, &count, err);
    if (rc == 0)
        rc = wt__tool_list(reader, ids, count, out, err);
    wt__store_read_end(reader);
    wt__engine_return_reader(engine, reader);
    return rc;
}

int wt_reserve_provider(wt_engine *engine, const char *provider, wt_error *err)
{
    if (!provider || !wt__is_provider_name(wt__str(provider)))
        return wt__fail(err, WT_EINVAL,
                        "\"%.200s\" is not a valid provider name: use 1 to %d bytes of UTF-8 without control "
                        "characters or surrounding blanks",
                        provider ? provider : "", WT_MAX_NAME_BYTES);
    pthread_mutex_lock(&engine->store_lock);
    int rc = wt__store_reserve_provider(engine->store, wt__str(provider), err);
    pthread_mutex_unlock(&engine->store_lock);
    return rc;
}

int64_t wt_release_provider(wt_engine *engine, const char *provider, wt_error *err)
{
    wt_waiting_list *waiting = NULL;
    int known = wt_list_waiting(engine, provider ? provider : "", &waiting, err);
    wt_waiting_list_free(waiting);
    if (known < 0)
        return known;
    pthread_mutex_lock(&engine->store_lock);
    int64_t removed = wt__store_release_provider(engine->store, wt__str(provider), err);
    pthread_mutex_unlock(&engine->store_lock);
    wt__engine_changed(engine);
    return removed;
}

int wt_lock(wt_engine *engine, const char *provider, char **out, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0}, id = {0};
    struct review_row *rows = NULL;
    size_t count = 0;
    *out = NULL;
    int rc = read_provider_rows(engine, REVIEWS_APPROVED, provider, &arena, &rows, &count, err);
    if (rc < 0)
        return rc;
    wt__pins_begin(&text);
    for (size_t i = 0; i < count; i++) {
        const struct tool tool = {.provider = rows[i].provider, .definition = rows[i].approved};
        wt__buffer_clear(&id);
        wt__tool_id(&id, rows[i].provider, rows[i].name);
        if (rows[i].kind != REVIEW_TOOL)
            wt__pins_add_offer(&text, wt__review_words[rows[i].kind], rows[i].provider, rows[i].name,
                               rows[i].approved_sha256);
        else if (rows[i].name.len == 0)
            wt__pins_add_instructions(&text, rows[i].provider, rows[i].approved_sha256);
        else
            WT_TRY(id.failed ? wt__fail_nomem(err) : wt__pins_add(&text, wt__buffer_view(&id), &tool, err));
    }
    *out = wt__buffer_take(&text);
    return *out ? 0 : wt__fail_nomem(err);
}
