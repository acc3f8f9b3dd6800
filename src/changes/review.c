/* review.c: compares the definitions listed by a server with the approved definitions (whichtool/review.h).
 *
 *   listing -> tools, and the hash of each definition -> one transaction (store/review.h) -> vectors, a snapshot
 *
 * If a definition has the approved content in other bytes, such as another order of keys, the approved bytes are
 * imported. So the catalogue keeps the reviewed text, and nothing is encoded again. */
#include <stdlib.h>
#include <time.h>

#include "base/buffer.h"
#include "base/json.h"
#include "base/memory.h"
#include "catalog/names.h"
#include "catalog/pins.h"
#include "changes/add.h"
#include "engine/notice.h"
#include "engine/sized_options.h"
#include "engine/tools.h"
#include "store/review.h"
#include "whichtool/review.h"

struct review_report {
    wt_review_report public;     /* first member, so that the public pointer converts to struct review_report */
    struct import_report *added; /* owner of the issues and the notice */
    struct arena arena;
};

void wt_review_report_free(wt_review_report *public)
{
    if (!public)
        return;
    struct review_report *report = (struct review_report *)public;
    wt_add_report_free(report->added ? &report->added->public : NULL);
    wt__arena_dispose(&report->arena);
    free(report);
}

/* State of a review or an approval. */
struct review_run {
    wt_engine *engine;
    struct review_listing listing;
    struct import listed;     /* tools of the listing */
    struct import kept;       /* tools of kept_bytes */
    struct buffer kept_bytes; /* listing of definitions from the store (read_kept_definitions) */
    struct map offer_keys;    /* kinds and names of the prompts, resources and templates read so far */
    struct pins lock;         /* pins of the lock; empty without a lock */
    bool no_vectors;          /* do not encode the tools */
    struct progress progress;
    struct arena arena;
    wt_error *err;
};

static void dispose_review(struct review_run *r)
{
    wt__import_dispose(&r->listed);
    wt__import_dispose(&r->kept);
    wt__buffer_dispose(&r->kept_bytes);
    wt__map_dispose(&r->offer_keys);
    wt__pins_dispose(&r->lock);
    wt__progress_dispose(&r->progress);
    wt__arena_dispose(&r->arena);
}

/* Returns the id of a tool, or of the instructions if the name is empty, in the arena; NULL if out of memory. */
static const char *copy_review_id(struct arena *arena, struct str provider, struct str name)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer id = {0};
    if (name.len > 0)
        wt__tool_id(&id, provider, name);
    else
        wt__buffer_str(&id, provider);
    return id.failed ? NULL : wt__arena_copy(arena, wt__buffer_view(&id));
}

/* ---------------------------------------------------------------- reading */

static int read_listed_tools(struct review_run *r, struct import *out, struct str bytes)
{
    struct import_options reading = {.format = STR("mcp"),
                                     .provider = r->listing.provider,
                                     .source_name = r->listing.source,
                                     .progress = &r->progress};
    return wt__import_bytes(out, bytes, &reading, r->err);
}

/* Finds the row of a kind and name among the rows [count], sorted by kind and name; NULL if absent. */
static const struct review_row *find_review_row(const struct review_row *rows, size_t count, enum review_kind kind,
                                                struct str name)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2,
               shared = rows[middle].name.len < name.len ? rows[middle].name.len : name.len;
        int order = (rows[middle].kind > kind) - (rows[middle].kind < kind);
        if (order == 0 && shared > 0)
            order = memcmp(rows[middle].name.ptr, name.ptr, shared);
        if (order < 0 || (order == 0 && rows[middle].name.len < name.len))
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && rows[low].kind == kind && wt__str_equal(rows[low].name, name) ? &rows[low] : NULL;
}

/* Parses definitions [count] and writes the tool of definitions[i] to *tools[i], under the name names[i]. */
static int read_kept_definitions(struct review_run *r, const struct str *definitions, const struct str *names,
                                 struct tool **tools, size_t count)
{
    if (count == 0)
        return 0;
    for (size_t i = 0; i < count; i++) {
        wt__buffer_text(&r->kept_bytes, i == 0 ? "{\"tools\":[" : ",");
        wt__buffer_str(&r->kept_bytes, definitions[i]);
    }
    wt__buffer_text(&r->kept_bytes, "]}");
    if (r->kept_bytes.failed)
        return wt__fail_nomem(r->err);
    int rc = read_listed_tools(r, &r->kept, wt__buffer_view(&r->kept_bytes));
    if (rc == 0 && r->kept.tool_count != count)
        rc = wt__fail(r->err, WT_EFORMAT, "a waiting definition of %.*s is no longer a readable tool",
                      (int)r->listing.provider.len, r->listing.provider.ptr);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        struct tool *tool = &r->kept.tools[i];
        if (!wt__str_equal(tool->name, names[i]))
            tool->own_name = tool->own_name.len > 0 ? tool->own_name : tool->name;
        tool->name = names[i];
        *tools[i] = *tool;
    }
    return rc;
}

/* Replaces the tool of each item whose content is approved in other bytes by the tool in the approved bytes. */
static int keep_approved_bytes(struct review_run *r, const struct review_row *rows, size_t row_count)
{
    size_t count = 0, most = r->listing.count;
    struct str *definitions = wt__arena_array(&r->arena, struct str, most);
    struct str *names = wt__arena_array(&r->arena, struct str, most);
    struct tool **tools = wt__arena_array(&r->arena, struct tool *, most);
    WT_CHECK_ALLOC(definitions && names && tools, r->err);
    for (size_t i = 0; i < most; i++) {
        struct review_item *item = &r->listing.items[i];
        const struct review_row *row =
            wt__review_is_tool(item) ? find_review_row(rows, row_count, REVIEW_TOOL, item->tool.name) : NULL;
        if (!row || strcmp(row->approved_sha256, item->sha256) != 0 || wt__str_equal(row->approved, item->offered))
            continue;
        definitions[count] = row->approved;
        names[count] = item->tool.name;
        tools[count++] = &item->tool;
    }
    return read_kept_definitions(r, definitions, names, tools, count);
}

/* Sets item->locked if the lock has the hash of the item. */
static int check_lock(struct review_run *r, struct review_item *item)
{
    struct str provider = r->listing.provider, name = item->tool.name;
    const struct pin *pin;
    if (item->kind != REVIEW_TOOL) {
        pin = wt__pins_offer(&r->lock, wt__review_words[item->kind], provider, name);
    } else {
        const char *id = copy_review_id(&r->arena, provider, name);
        WT_CHECK_ALLOC(id, r->err);
        pin = name.len > 0 ? wt__pins_find(&r->lock, wt__str(id)) : wt__pins_instructions(&r->lock, wt__str(id));
    }
    item->locked = pin && strcmp(pin->sha256, item->sha256) == 0;
    return 0;
}

/* ---------------------------------------------------------------- prompts, resources and templates */

/* Lists of prompts, resources and templates, by kind. */
struct offer_lists {
    json_t *lists[REVIEW_KINDS]; /* NULL if the server did not send it */
    size_t count;                /* total of all lists */
};

/* Members with the name of an offer, by kind. */
static const char *const offer_names[REVIEW_KINDS] = {NULL, "name", "uri", "uriTemplate"};

static int read_offers(struct review_run *r, const wt_review_options *options, struct offer_lists *out)
{
    const char *const texts[REVIEW_KINDS] = {NULL, options->prompts, options->resources, options->templates};
    for (int kind = REVIEW_PROMPT; kind < REVIEW_KINDS; kind++) {
        if (!texts[kind])
            continue;
        WT_TRY(wt__json_parse(&out->lists[kind], texts[kind], strlen(texts[kind]), r->err));
        if (!json_is_array(out->lists[kind]))
            return wt__fail(r->err, WT_EFORMAT, "the list of %ss of %.*s is not an array", wt__review_words[kind],
                            (int)r->listing.provider.len, r->listing.provider.ptr);
        out->count += json_array_size(out->lists[kind]);
        r->listing.told[kind] = true;
    }
    return 0;
}

/* Notes the name of an offer. Returns 1 if it is new, 0 if an earlier offer of this kind has the name, or an error. */
static int note_offer(struct review_run *r, enum review_kind kind, struct str name)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer key = {0};
    bool added = false;
    wt__buffer_char(&key, (char)('0' + kind));
    wt__buffer_str(&key, name);
    const char *copy = key.failed ? NULL : wt__arena_copy(&r->arena, wt__buffer_view(&key));
    WT_CHECK_ALLOC(copy && wt__map_insert(&r->offer_keys, (struct str){copy, key.len}, 0, &added), r->err);
    return added;
}

/* Adds an offer. Skips an offer without a name, or with the name of an earlier offer, since such an offer cannot be
 * approved. */
static int add_offer(struct review_run *r, enum review_kind kind, const json_t *offer)
{
    struct str name = wt__json_str(offer, offer_names[kind]);
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    int rc = name.len > 0 && name.len <= REVIEW_NAME_BYTES_MAX ? note_offer(r, kind, name) : 0;
    if (rc <= 0)
        return rc;
    WT_CHECK_ALLOC(wt__json_write(&text, offer) == 0 && !text.failed, r->err);
    if (text.len > WT_MAX_DEFINITION_BYTES)
        return 0;
    struct review_item *item = &r->listing.items[r->listing.count++];
    *item = (struct review_item){.kind = kind,
                                 .tool.name = {wt__arena_copy(&r->arena, name), name.len},
                                 .offered = {wt__arena_copy(&r->arena, wt__buffer_view(&text)), text.len}};
    WT_CHECK_ALLOC(item->tool.name.ptr && item->offered.ptr, r->err);
    return wt__definition_hash(item->offered, item->sha256, NULL, r->err);
}

static void dispose_offers(struct offer_lists *offers)
{
    for (int kind = 0; kind < REVIEW_KINDS; kind++)
        json_decref(offers->lists[kind]);
}

/* ---------------------------------------------------------------- a listing */

/* Creates the items of a listing. instructions: NULL if the server did not send any. */
static int make_review_items(struct review_run *r, const char *instructions, const struct offer_lists *offers)
{
    struct review_listing *listing = &r->listing;
    size_t count = r->listed.tool_count;
    listing->items = wt__arena_array(&r->arena, struct review_item, count + offers->count + 1);
    WT_CHECK_ALLOC(listing->items, r->err);
    for (size_t i = 0; i < count; i++) {
        struct review_item *item = &listing->items[listing->count++];
        *item = (struct review_item){.tool = r->listed.tools[i], .offered = r->listed.tools[i].definition};
        WT_TRY(wt__definition_hash(item->offered, item->sha256, NULL, r->err));
    }
    listing->instructions = instructions != NULL;
    if (instructions && *instructions) {
        struct review_item *item = &listing->items[listing->count++];
        *item = (struct review_item){.offered = wt__str(instructions)};
        wt__bytes_hash(item->offered, item->sha256);
    }
    for (int kind = REVIEW_PROMPT; kind < REVIEW_KINDS; kind++)
        for (size_t i = 0; i < json_array_size(offers->lists[kind]); i++)
            WT_TRY(add_offer(r, (enum review_kind)kind, json_array_get(offers->lists[kind], i)));
    for (size_t i = 0; listing->lock && i < listing->count; i++)
        WT_TRY(check_lock(r, &listing->items[i]));
    return 0;
}

/* Reads rows of the provider. Returns 1, 0 if the provider was never reviewed, or an error. */
static int read_review_rows(struct review_run *r, enum review_rows which, struct review_row **rows, size_t *count)
{
    struct store *reader;
    WT_TRY(wt__engine_reader(r->engine, &reader, r->err));
    int rc = wt__store_reviews(reader, which, &r->listing.provider, &r->arena, rows, count, r->err);
    wt__engine_return_reader(r->engine, reader);
    return rc;
}

/* True if the text is a list of tools, possibly empty. */
static bool is_tool_list(struct str bytes)
{
    json_auto_t *whole = NULL;
    wt__json_parse(&whole, bytes.ptr, bytes.len, NULL);
    return json_is_array(whole) || wt__json_array(whole, "tools") ||
           wt__json_array(wt__json_object(whole, "result"), "tools");
}

/* Fails unless the listing is whole and a list of tools. */
static int check_complete(struct review_run *r, struct str bytes)
{
    struct str provider = r->listing.provider;
    if (!r->listed.whole)
        return wt__fail(r->err, WT_EFORMAT, "the list of %.*s is truncated; nothing was taken from it",
                        (int)provider.len, provider.ptr);
    if (r->listed.tool_count == 0 && !is_tool_list(bytes))
        return wt__fail(r->err, WT_EFORMAT, "the answer of %.*s is not a list of tools: {\"tools\":[...]}",
                        (int)provider.len, provider.ptr);
    return 0;
}

static int read_review_listing(struct review_run *r, struct str bytes, const wt_review_options *options)
{
    struct review_row *rows = NULL;
    WT_CLEANUP(dispose_offers) struct offer_lists offers = {0};
    size_t count = 0;
    r->listing.told[REVIEW_TOOL] = bytes.ptr != NULL;
    if (options->lock)
        WT_TRY(wt__pins_read(&r->lock, options->lock, options->lock_len, r->err));
    if (bytes.ptr) {
        WT_TRY(read_listed_tools(r, &r->listed, bytes));
        WT_TRY(check_complete(r, bytes));
    }
    WT_TRY(read_offers(r, options, &offers));
    WT_TRY(make_review_items(r, options->instructions, &offers));
    int rc = read_review_rows(r, REVIEWS_APPROVED, &rows, &count);
    return rc < 0 ? rc : keep_approved_bytes(r, rows, count);
}

/* Counts the items by verdict, and lists the ids of the tools that wait. */
static int count_waiting(struct review_run *r, struct review_report *report)
{
    wt_review_report *out = &report->public;
    size_t most = r->listing.count, count = 0;
    const char **ids = wt__arena_array(&report->arena, const char *, most);
    WT_CHECK_ALLOC(ids, r->err);
    for (size_t i = 0; i < most; i++) {
        const struct review_item *item = &r->listing.items[i];
        bool tool = wt__review_is_tool(item), waits = item->verdict == REVIEW_NEW || item->verdict == REVIEW_CHANGED;
        out->offers_waiting += item->kind != REVIEW_TOOL && item->verdict != REVIEW_APPROVED;
        out->approved += tool && item->verdict == REVIEW_APPROVED;
        out->waiting_new += tool && item->verdict == REVIEW_NEW;
        out->waiting_changed += tool && item->verdict == REVIEW_CHANGED;
        out->beyond += tool && item->verdict == REVIEW_BEYOND;
        out->instructions_wait |= item->kind == REVIEW_TOOL && !tool && waits;
        if (tool && waits && !(ids[count++] = copy_review_id(&report->arena, r->listing.provider, item->tool.name)))
            return wt__fail_nomem(r->err);
    }
    out->ids = ids;
    out->waiting_count = count;
    return 0;
}

/* Creates the report. Takes ownership of `added` on success. */
static int write_review_report(struct review_run *r, const struct review_changes *changes, struct import_report *added,
                               wt_review_report **out)
{
    struct review_report *report = calloc(1, sizeof *report);
    const struct store_changes *catalogue = &changes->catalogue;
    WT_CHECK_ALLOC(report, r->err);
    report->public = (wt_review_report){.returned = changes->returned,
                                        .removed = catalogue->removed,
                                        .changed = catalogue->added + catalogue->updated + catalogue->removed > 0,
                                        .skipped = added->public.skipped,
                                        .embedded = added->public.embedded,
                                        .issue_count = added->public.issue_count,
                                        .issues = added->public.issues,
                                        .notice = added->public.notice};
    int rc = count_waiting(r, report);
    if (rc < 0) {
        wt_review_report_free(&report->public);
        return rc;
    }
    report->added = added; /* owned by the report from here on */
    *out = &report->public;
    return 0;
}

/* ---------------------------------------------------------------- storing */

/* Stores a review or an approval, updates the index, and creates the report. *out is set even if the update was
 * cancelled. */
static int apply_review(struct review_run *r, bool approval, wt_review_report **out)
{
    struct import_report *added;
    struct review_changes changes = {0};
    WT_TRY(wt__report_new(&added, &r->listed, r->err));
    wt__engine_begin_import(r->engine);
    pthread_mutex_lock(&r->engine->store_lock);
    int rc = approval ? wt__store_approve(r->engine->store, &r->listing, &changes, r->err)
                      : wt__store_review(r->engine->store, &r->listing, &changes, r->err);
    pthread_mutex_unlock(&r->engine->store_lock);
    bool stored = rc == 0;
    added->own = (struct own_tools){.ids = changes.ids, .count = changes.tool_count};
    const struct store_changes *catalogue = &changes.catalogue;
    if (stored && catalogue->added + catalogue->updated + catalogue->removed > 0)
        rc = wt__make_searchable(r->engine, r->no_vectors, &r->progress, added, r->err);
    if (rc < 0) /* no newer index was built */
        wt__engine_changed(r->engine);
    wt__engine_end_import(r->engine);
    if (rc == 0 || (stored && rc == WT_ECANCELLED)) {
        int told = write_review_report(r, &changes, added, out);
        rc = told < 0 ? told : rc;
    }
    if (!*out)
        wt_add_report_free(&added->public);
    return rc;
}

static const char *name_review_source(struct review_run *r, const char *given)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    if (given)
        return given;
    wt__buffer_text(&text, "mcp:");
    wt__buffer_str(&text, r->listing.provider);
    return text.failed ? NULL : wt__arena_copy(&r->arena, wt__buffer_view(&text));
}

static int begin_review(struct review_run *r, const char *provider, const char *source)
{
    if (!provider || !*provider)
        return wt__fail(r->err, WT_EINVAL, "name the provider whose definitions to review");
    if (!wt__is_provider_name(wt__str(provider)))
        return wt__fail(r->err, WT_EINVAL, "\"%.200s\" is not a valid provider name", provider);
    r->listing.provider = wt__str(provider);
    r->listing.source = wt__str(name_review_source(r, source));
    r->listing.now = (int64_t)time(NULL);
    r->listing.progress = &r->progress;
    return r->listing.source.ptr ? 0 : wt__fail_nomem(r->err);
}

int wt_review(wt_engine *engine, const char *provider, const char *listing, size_t len, const wt_review_options *given,
              wt_review_report **out, wt_error *err)
{
    wt_review_options options;
    struct review_run r = {.engine = engine, .err = err};
    *out = NULL;
    WT_TRY(wt__options_read(&options, sizeof options, given, err));
    wt__progress_init(&r.progress, options.progress, options.progress_context);
    r.no_vectors = options.no_vectors != 0;
    r.listing.trust_first = options.trust_first != 0;
    r.listing.lock = options.lock != NULL;
    int rc = begin_review(&r, provider, options.source_name);
    if (rc == 0)
        rc = read_review_listing(&r, (struct str){listing, len}, &options);
    if (rc == 0)
        rc = apply_review(&r, false, out);
    dispose_review(&r);
    return rc;
}

/* ---------------------------------------------------------------- approving */

static int fail_not_waiting(struct review_run *r, enum review_kind kind, struct str name)
{
    if (kind == REVIEW_TOOL && name.len == 0)
        return wt__fail(r->err, WT_ENOTFOUND, "no instructions of %.*s wait for approval", (int)r->listing.provider.len,
                        r->listing.provider.ptr);
    return wt__fail(r->err, WT_ENOTFOUND, "nothing waits for approval as \"%.*s\" of %.*s", (int)name.len, name.ptr,
                    (int)r->listing.provider.len, r->listing.provider.ptr);
}

/* Writes pointers to the rows to approve to meant, without duplicates, and their number to *meant_count. rows [count]:
 * the waiting definitions. */
static int choose_rows(struct review_run *r, const wt_approve_options *options, const struct review_row *rows,
                       size_t count, const struct review_row **meant, size_t *meant_count)
{
    for (size_t i = 0; options->all && i < count; i++)
        meant[(*meant_count)++] = &rows[i];
    for (size_t i = 0; !options->all && i < options->name_count; i++) {
        struct str name = wt__str(options->names[i]);
        enum review_kind kind = options->whats ? (enum review_kind)options->whats[i] : REVIEW_TOOL;
        const struct review_row *row = find_review_row(rows, count, kind, name);
        const char *shown = options->sha256s ? options->sha256s[i] : NULL;
        bool again = false;
        for (size_t m = 0; m < *meant_count; m++)
            again |= meant[m] == row;
        if (!row)
            return fail_not_waiting(r, kind, name);
        if (shown && strcmp(shown, row->offered_sha256) != 0)
            return wt__fail(r->err, WT_EINVAL, "\"%.*s\" of %.*s has changed since it was shown; review it again",
                            (int)name.len, name.ptr, (int)r->listing.provider.len, r->listing.provider.ptr);
        if (!again)
            meant[(*meant_count)++] = row;
    }
    return 0;
}

static int read_chosen_rows(struct review_run *r, const struct review_row *const *meant, size_t count)
{
    struct review_listing *listing = &r->listing;
    size_t tools = 0;
    listing->items = wt__arena_array(&r->arena, struct review_item, count);
    struct str *definitions = wt__arena_array(&r->arena, struct str, count);
    struct str *names = wt__arena_array(&r->arena, struct str, count);
    struct tool **places = wt__arena_array(&r->arena, struct tool *, count);
    if (!listing->items || !definitions || !names || !places)
        return wt__fail_nomem(r->err);
    for (size_t i = 0; i < count; i++) {
        struct review_item *item = &listing->items[listing->count++];
        *item = (struct review_item){.kind = meant[i]->kind, .tool.name = meant[i]->name, .offered = meant[i]->offered};
        memcpy(item->sha256, meant[i]->offered_sha256, sizeof item->sha256);
        listing->source = meant[i]->source;
        if (!wt__review_is_tool(item))
            continue;
        definitions[tools] = meant[i]->offered;
        names[tools] = meant[i]->name;
        places[tools++] = &item->tool;
    }
    return read_kept_definitions(r, definitions, names, places, tools);
}

static int approve_rows(struct review_run *r, const wt_approve_options *options, wt_review_report **out)
{
    struct review_row *rows;
    size_t count = 0, meant_count = 0;
    int rc = read_review_rows(r, REVIEWS_WAITING, &rows, &count);
    if (rc < 0)
        return rc;
    if (!options->all && options->name_count == 0)
        return wt__fail(r->err, WT_EINVAL, "name the definitions to approve, or approve all");
    const struct review_row **meant =
        wt__arena_array(&r->arena, const struct review_row *, count + options->name_count);
    WT_CHECK_ALLOC(meant, r->err);
    if (rc == 0 || (options->all && count == 0))
        return wt__fail(r->err, WT_ENOTFOUND, "nothing of %.*s waits for approval", (int)r->listing.provider.len,
                        r->listing.provider.ptr);
    rc = choose_rows(r, options, rows, count, meant, &meant_count);
    if (rc == 0)
        rc = read_chosen_rows(r, meant, meant_count);
    return rc < 0 ? rc : apply_review(r, true, out);
}

int wt_approve(wt_engine *engine, const char *provider, const wt_approve_options *given, wt_review_report **out,
               wt_error *err)
{
    wt_approve_options options;
    struct review_run r = {.engine = engine, .err = err};
    *out = NULL;
    WT_TRY(wt__options_read(&options, sizeof options, given, err));
    wt__progress_init(&r.progress, options.progress, options.progress_context);
    r.no_vectors = options.no_vectors != 0;
    int rc = begin_review(&r, provider, NULL);
    if (rc == 0)
        rc = approve_rows(&r, &options, out);
    dispose_review(&r);
    return rc;
}
