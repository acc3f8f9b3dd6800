/* review.c: approved and waiting definitions of MCP servers (store/review.h). A listing takes these steps:
 *
 *   decide on each item by its stored row, and write the row if it has changed
 *   update the rows whose items are not listed any more
 *   import the approved tools, and remove all other tools of the provider
 *   link the rows with the tools
 *
 * An unchanged listing writes nothing. Changed definitions are decided before new definitions, so that many new
 * definitions cannot use up the limits before the changed definitions are stored. */
#include <stdlib.h>
#include <time.h>

#include "base/memory.h"
#include "base/sort.h"
#include "store/review.h"
#include "store/internal.h"

enum { DAY_SECONDS = 24 * 60 * 60 };

/* The stored state of an item. */
struct known_row {
    int64_t id;   /* row of the item; 0 if absent */
    int64_t tool; /* row of the tool in the catalogue; 0 if absent */
    bool listed, approved, offered;
    char approved_sha256[DEFINITION_DIGITS + 1], offered_sha256[DEFINITION_DIGITS + 1];
};

struct store_review {
    struct store *store;
    const struct review_listing *listing;
    int64_t server;          /* row of the server */
    int64_t baseline;        /* bits of the kinds listed before this listing */
    bool any_approved;       /* a tool of the server was approved before */
    struct known_row *known; /* [count] states of the items */
    struct tool *tools;      /* [tool_count] approved tools */
    size_t *places;          /* [tool_count] indexes of the tools' items in the listing */
    int64_t *ids;            /* [tool_count] ids of the tools in the catalogue */
    size_t tool_count;
    size_t waiting, waiting_bytes; /* number and bytes of the waiting definitions */
    int64_t last_usage;            /* id of the newest usage in the store */
    struct review_changes changes;
    struct arena arena;
    wt_error *err;
};

/* ---------------------------------------------------------------- rows */

static void copy_hash(char out[DEFINITION_DIGITS + 1], struct str hash)
{
    size_t len = hash.len == DEFINITION_DIGITS ? hash.len : 0;
    if (len > 0)
        memcpy(out, hash.ptr, len);
    out[len] = '\0';
}

/* Finds or inserts the server's row, and sets its source. */
static int open_server(struct store_review *r)
{
    const struct review_listing *listing = r->listing;
    WT_TRY(wt__reserved_find(r->store, listing->provider, &r->server, r->err));
    if (r->server == 0)
        WT_TRY(wt__reserved_drop_aliases(r->store, listing->provider, r->err));
    WT_TRY(wt__sql_run(r->store,
                       "INSERT INTO review_server (name, source) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE"
                       " SET source = ?2 WHERE review_server.source <> ?2",
                       SQL_VALUES(sql_text(listing->provider), sql_text(listing->source)), r->err));
    return wt__reserved_find(r->store, listing->provider, &r->server, r->err);
}

static int find_known(struct store_review *r, const struct review_item *item, struct known_row *out)
{
    WT_CLEANUP(wt__sql_close) struct sql_statement *row = NULL;
    *out = (struct known_row){0};
    WT_TRY(wt__sql_open(r->store,
                        "SELECT id, tool, listed, approved_sha256, offered_sha256 FROM review"
                        " WHERE server = ?1 AND kind = ?2 AND name = ?3",
                        SQL_VALUES(sql_integer(r->server), sql_integer(item->kind), sql_text(item->tool.name)), &row,
                        r->err));
    int rc = wt__sql_step(r->store, row, r->err);
    if (rc <= 0)
        return rc;
    out->id = wt__sql_integer(row, 0);
    out->tool = wt__sql_integer(row, 1);
    out->listed = wt__sql_integer(row, 2) != 0;
    copy_hash(out->approved_sha256, wt__sql_column(row, 3));
    copy_hash(out->offered_sha256, wt__sql_column(row, 4));
    out->approved = out->approved_sha256[0] != '\0';
    out->offered = out->offered_sha256[0] != '\0';
    return 0;
}

/* Inserts the row unless it exists. */
static int make_review_row(struct store_review *r, const struct review_item *item, struct known_row *known)
{
    if (known->id != 0)
        return 0;
    known->listed = true;
    return wt__sql_insert(
        r->store, "INSERT INTO review (server, kind, name, listed) VALUES (?1, ?2, ?3, 1) RETURNING id",
        SQL_VALUES(sql_integer(r->server), sql_integer(item->kind), sql_text(item->tool.name)), &known->id, r->err);
}

bool wt__review_is_tool(const struct review_item *item)
{
    return item->kind == REVIEW_TOOL && item->tool.name.len > 0;
}

static bool is_instructions(const struct review_item *item)
{
    return item->kind == REVIEW_TOOL && item->tool.name.len == 0;
}

/* Stores an approval. asked: track the tool as new until a usage calls it. */
static int write_approved(struct store_review *r, const struct review_item *item, struct known_row *known, bool asked)
{
    bool tracked = asked && wt__review_is_tool(item);
    WT_TRY(make_review_row(r, item, known));
    return wt__sql_run(r->store,
                       "UPDATE review SET listed = 1, approved_sha256 = ?2, approved = ?3, approved_since = ?4,"
                       " approved_after = ?5, offered_sha256 = NULL, offered = NULL, offered_since = NULL"
                       " WHERE id = ?1",
                       SQL_VALUES(sql_integer(known->id), sql_string(item->sha256),
                                  sql_blob(item->offered.ptr, item->offered.len), sql_integer(r->listing->now),
                                  tracked ? sql_integer(r->last_usage) : sql_null()),
                       r->err);
}

static int write_offered(struct store_review *r, const struct review_item *item, struct known_row *known)
{
    WT_TRY(make_review_row(r, item, known));
    return wt__sql_run(r->store,
                       "UPDATE review SET listed = 1, offered_sha256 = ?2, offered = ?3, offered_since = ?4"
                       " WHERE id = ?1",
                       SQL_VALUES(sql_integer(known->id), sql_string(item->sha256),
                                  sql_blob(item->offered.ptr, item->offered.len), sql_integer(r->listing->now)),
                       r->err);
}

/* Removes the waiting definition of a row and sets whether it is listed. */
static int clear_offer(struct store_review *r, int64_t id, bool listed)
{
    return wt__sql_run(r->store,
                       "UPDATE review SET listed = ?2, offered_sha256 = NULL, offered = NULL, offered_since = NULL"
                       " WHERE id = ?1",
                       SQL_VALUES(sql_integer(id), sql_integer(listed)), r->err);
}

/* ---------------------------------------------------------------- judging */

static bool may_approve(const struct store_review *r, const struct review_item *item, const struct known_row *known)
{
    const struct review_listing *listing = r->listing;
    if (listing->lock)
        return item->locked;
    bool first = (r->baseline >> item->kind & 1) == 0;
    return (listing->trust_first && first) || (known->approved && strcmp(known->approved_sha256, item->sha256) == 0);
}

static int approve_item(struct store_review *r, struct review_item *item, struct known_row *known)
{
    bool same = known->approved && strcmp(known->approved_sha256, item->sha256) == 0;
    item->verdict = REVIEW_APPROVED;
    if (!same)
        return write_approved(r, item, known, r->any_approved);
    r->changes.returned += known->offered && wt__review_is_tool(item);
    return known->offered || !known->listed ? clear_offer(r, known->id, true) : 0;
}

static int hold_item(struct store_review *r, struct review_item *item, struct known_row *known)
{
    bool same = known->offered && strcmp(known->offered_sha256, item->sha256) == 0;
    bool fits = r->waiting < WT_MAX_WAITING && item->offered.len <= WT_MAX_WAITING_BYTES - r->waiting_bytes &&
                (!is_instructions(item) || item->offered.len <= WT_MAX_INSTRUCTIONS_BYTES);
    if (!fits) {
        item->verdict = REVIEW_BEYOND;
        return known->id != 0 && (known->offered || known->listed) ? clear_offer(r, known->id, false) : 0;
    }
    item->verdict = known->approved ? REVIEW_CHANGED : REVIEW_NEW;
    r->waiting++;
    r->waiting_bytes += item->offered.len;
    return same && known->listed ? 0 : write_offered(r, item, known);
}

/* Decides on all items: approved items first, then changed definitions, then new definitions. */
static int judge_items(struct store_review *r)
{
    static const enum review_verdict order[] = {REVIEW_APPROVED, REVIEW_CHANGED, REVIEW_NEW};
    const struct review_listing *listing = r->listing;
    for (size_t i = 0; i < listing->count; i++) {
        struct review_item *item = &listing->items[i];
        WT_TRY(find_known(r, item, &r->known[i]));
        item->verdict = may_approve(r, item, &r->known[i]) ? REVIEW_APPROVED
                        : r->known[i].approved             ? REVIEW_CHANGED
                                                           : REVIEW_NEW;
    }
    for (size_t at = 0; at < sizeof order / sizeof *order; at++) {
        for (size_t i = 0; i < listing->count; i++) {
            struct review_item *item = &listing->items[i];
            if (item->verdict != order[at])
                continue;
            WT_TRY(item->verdict == REVIEW_APPROVED ? approve_item(r, item, &r->known[i])
                                                    : hold_item(r, item, &r->known[i]));
        }
    }
    return 0;
}

/* Returns the bits of the kinds for which the listing is complete. */
static int64_t list_complete_kinds(const struct review_listing *listing)
{
    int64_t bits = 0;
    for (int kind = 0; kind < REVIEW_KINDS; kind++)
        bits |= (int64_t)listing->told[kind] << kind;
    return bits;
}

/* Removes waiting definitions that are not listed any more. Approvals stay in case the server lists them again. */
static int clear_unlisted(struct store_review *r)
{
    size_t count = r->listing->count, stored_count;
    int64_t *seen = wt__arena_array(&r->arena, int64_t, count), *stored;
    WT_CHECK_ALLOC(seen, r->err);
    for (size_t i = 0; i < count; i++)
        seen[i] = r->known[i].id;
    wt__sort_i64(seen, count);
    WT_TRY(
        wt__sql_list_integers(r->store,
                              "SELECT id FROM review WHERE server = ?1"
                              " AND CASE WHEN kind = 0 AND name = '' THEN ?2 ELSE ?3 >> CAST(kind AS int) & 1 END = 1"
                              " AND (listed = 1 OR offered_sha256 IS NOT NULL)",
                              SQL_VALUES(sql_integer(r->server), sql_integer(r->listing->instructions),
                                         sql_integer(list_complete_kinds(r->listing))),
                              &r->arena, &stored, &stored_count, r->err));
    for (size_t i = 0; i < stored_count; i++) {
        size_t at = wt__lower_bound_i64(seen, count, stored[i]);
        if (at < count && seen[at] == stored[i])
            continue;
        WT_TRY(wt__sql_run(r->store, "DELETE FROM review WHERE id = ?1 AND approved_sha256 IS NULL",
                           SQL_VALUES(sql_integer(stored[i])), r->err));
        WT_TRY(clear_offer(r, stored[i], false));
    }
    return 0;
}

/* ---------------------------------------------------------------- the catalogue */

static void collect_approved_tools(struct store_review *r)
{
    for (size_t i = 0; i < r->listing->count; i++) {
        const struct review_item *item = &r->listing->items[i];
        if (!wt__review_is_tool(item) || item->verdict != REVIEW_APPROVED)
            continue;
        r->places[r->tool_count] = i;
        r->tools[r->tool_count++] = item->tool;
    }
}

static int import_approved(struct store_review *r, bool sync)
{
    const struct store_import_options options = {
        .source = r->listing->source, .sync = sync, .reviewed = r->listing->provider, .progress = r->listing->progress};
    WT_TRY(wt__import_within(r->store, r->tools, r->tool_count, &options, r->ids, &r->changes.catalogue, r->err));
    for (size_t i = 0; i < r->tool_count; i++) {
        const struct known_row *known = &r->known[r->places[i]];
        if (known->tool != r->ids[i])
            WT_TRY(wt__sql_run(r->store, "UPDATE review SET tool = ?2 WHERE id = ?1",
                               SQL_VALUES(sql_integer(known->id), sql_integer(r->ids[i])), r->err));
    }
    return 0;
}

/* ---------------------------------------------------------------- the two changes */

static int begin_store_review(struct store_review *r)
{
    size_t count = r->listing->count + 1;
    r->known = wt__arena_array(&r->arena, struct known_row, count);
    r->tools = wt__arena_array(&r->arena, struct tool, count);
    r->places = wt__arena_array(&r->arena, size_t, count);
    r->ids = wt__alloc_array(count, sizeof *r->ids);
    if (!r->known || !r->tools || !r->places || !r->ids)
        return wt__fail_nomem(r->err);
    for (size_t i = 0; i < r->listing->count; i++)
        if (wt__review_is_tool(&r->listing->items[i]))
            WT_TRY(wt__import_check(&r->listing->items[i].tool, 1, r->err));
    r->store->progress = r->listing->progress;
    WT_TRY(wt__sql_begin_bulk(r->store, r->err));
    return wt__store_last_usage(r->store, &r->last_usage, r->err);
}

static int end_store_review(struct store_review *r, int rc, struct progress *before, struct review_changes *out)
{
    rc = wt__sql_end_bulk(r->store, rc, r->err);
    r->store->progress = before;
    if (rc == 0) {
        *out = r->changes;
        out->ids = r->ids;
        out->tool_count = r->tool_count;
    } else {
        free(r->ids);
    }
    wt__arena_dispose(&r->arena);
    return rc;
}

/* Reads the server's baseline, and whether any of its tools was approved. */
static int read_review_state(struct store_review *r)
{
    WT_CLEANUP(wt__sql_close) struct sql_statement *row = NULL;
    WT_TRY(wt__sql_open(r->store,
                        "SELECT baseline, EXISTS (SELECT 1 FROM review WHERE server = ?1 AND kind = 0"
                        " AND name <> '' AND approved_sha256 IS NOT NULL) FROM review_server WHERE id = ?1",
                        SQL_VALUES(sql_integer(r->server)), &row, r->err));
    int rc = wt__sql_step(r->store, row, r->err);
    if (rc <= 0)
        return rc;
    r->baseline = wt__sql_integer(row, 0);
    r->any_approved = wt__sql_integer(row, 1) != 0;
    return 0;
}

/* Adds the kinds of the listing to the baseline, also if their lists are empty. Otherwise a server could list nothing
 * first and be trusted later. */
static int keep_baseline(struct store_review *r)
{
    int64_t bits = r->baseline | list_complete_kinds(r->listing);
    if (bits == r->baseline)
        return 0;
    return wt__sql_run(r->store, "UPDATE review_server SET baseline = ?2 WHERE id = ?1",
                       SQL_VALUES(sql_integer(r->server), sql_integer(bits)), r->err);
}

static int apply_listing(struct store_review *r)
{
    WT_TRY(open_server(r));
    WT_TRY(read_review_state(r));
    WT_TRY(judge_items(r));
    WT_TRY(clear_unlisted(r));
    WT_TRY(keep_baseline(r));
    if (!r->listing->told[REVIEW_TOOL])
        return 0;
    collect_approved_tools(r);
    return import_approved(r, true);
}

/* Decides on an item by the published approvals. A replica trusts no first list: the writer has reviewed it. */
static int judge_published(struct store_review *r, struct review_item *item)
{
    struct known_row known = {0};
    if (r->server != 0)
        WT_TRY(find_known(r, item, &known));
    bool same = known.approved && strcmp(known.approved_sha256, item->sha256) == 0;
    bool approved = same && (!r->listing->lock || item->locked);
    item->verdict = approved ? REVIEW_APPROVED : known.approved ? REVIEW_CHANGED : REVIEW_NEW;
    if (approved && wt__review_is_tool(item) && known.tool != 0)
        r->ids[r->tool_count++] = known.tool;
    return 0;
}

/* Checks a listing on a replica, whose approvals are those of the writer, and stores nothing. */
static int review_on_replica(struct store_review *r, struct review_changes *out)
{
    WT_AUTO_FREE int64_t *ids = wt__alloc_array(r->listing->count + 1, sizeof *ids);
    WT_CHECK_ALLOC(ids, r->err);
    r->ids = ids;
    WT_TRY(wt__reserved_find(r->store, r->listing->provider, &r->server, r->err));
    for (size_t i = 0; i < r->listing->count; i++)
        WT_TRY(judge_published(r, &r->listing->items[i]));
    out->ids = WT_TAKE(ids);
    out->tool_count = r->tool_count;
    return 0;
}

int wt__store_review(struct store *store, const struct review_listing *listing, struct review_changes *out,
                     wt_error *err)
{
    struct store_review r = {.store = store, .listing = listing, .err = err};
    struct progress *before = store->progress;
    *out = (struct review_changes){0};
    if (store->replica_of)
        return review_on_replica(&r, out);
    int rc = begin_store_review(&r);
    if (rc == 0)
        rc = apply_listing(&r);
    return end_store_review(&r, rc, before, out);
}

/* Approves an item if the waiting definition has its hash. */
static int approve_waiting(struct store_review *r, const struct review_item *item, struct known_row *known)
{
    struct str name = is_instructions(item) ? STR("the instructions") : item->tool.name;
    WT_TRY(find_known(r, item, known));
    if (!known->offered)
        return wt__fail(r->err, WT_ENOTFOUND, "\"%.*s\" of %.*s does not wait for approval", (int)name.len, name.ptr,
                        (int)r->listing->provider.len, r->listing->provider.ptr);
    if (strcmp(known->offered_sha256, item->sha256) != 0)
        return wt__fail(r->err, WT_EINVAL, "\"%.*s\" of %.*s has changed again since it was shown; review it again",
                        (int)name.len, name.ptr, (int)r->listing->provider.len, r->listing->provider.ptr);
    return write_approved(r, item, known, true);
}

/* Increments the store's generation for approvals of other kinds than tools, so that gateways of other processes read
 * them. A change of the catalogue has incremented it already. */
static int announce_approved_offers(struct store_review *r)
{
    const struct store_changes *catalogue = &r->changes.catalogue;
    bool has_offers = false;
    for (size_t i = 0; i < r->listing->count; i++)
        has_offers |= r->listing->items[i].kind != REVIEW_TOOL;
    bool changed = catalogue->added + catalogue->updated + catalogue->removed > 0;
    return has_offers && !changed ? wt__sql_increment_generation(r->store, r->err) : 0;
}

int wt__store_approve(struct store *store, const struct review_listing *listing, struct review_changes *out,
                      wt_error *err)
{
    struct store_review r = {.store = store, .listing = listing, .err = err};
    struct progress *before = store->progress;
    *out = (struct review_changes){0};
    int rc = begin_store_review(&r);
    if (rc == 0)
        rc = wt__reserved_find(store, listing->provider, &r.server, err);
    for (size_t i = 0; rc == 0 && i < listing->count; i++) {
        rc = approve_waiting(&r, &listing->items[i], &r.known[i]);
        listing->items[i].verdict = REVIEW_APPROVED;
    }
    collect_approved_tools(&r);
    if (rc == 0 && r.tool_count > 0)
        rc = import_approved(&r, false);
    if (rc == 0)
        rc = announce_approved_offers(&r);
    return end_store_review(&r, rc, before, out);
}

/* ---------------------------------------------------------------- reading */

static int read_review_row(struct sql_statement *row, struct arena *arena, void *item)
{
    struct review_row *out = item;
    struct str *texts[] = {&out->provider, &out->source, &out->name, &out->approved, &out->offered};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        *texts[i] = wt__sql_copy(row, (int)i, arena);
        if (!texts[i]->ptr)
            return -1;
    }
    copy_hash(out->approved_sha256, wt__sql_column(row, 5));
    copy_hash(out->offered_sha256, wt__sql_column(row, 6));
    out->approved_since = wt__sql_integer(row, 7);
    out->offered_since = wt__sql_integer(row, 8);
    out->listed = wt__sql_integer(row, 9) != 0;
    out->kind = (enum review_kind)wt__sql_integer(row, 10);
    return 0;
}

#define ROWS_SELECT                                                                                                    \
    "SELECT s.name, s.source, r.name, r.approved, r.offered, r.approved_sha256, r.offered_sha256,"                     \
    " r.approved_since, r.offered_since, r.listed, r.kind FROM review_server s CROSS JOIN review r ON r.server = s.id" \
    " WHERE (s.name = ?1 OR ?2 = 1)"
#define ROWS_ORDER " ORDER BY s.name, r.kind, r.name"

int wt__store_reviews(struct store *store, enum review_rows which, const struct str *provider, struct arena *arena,
                      struct review_row **out, size_t *count, wt_error *err)
{
    static const char *const selects[] = {
        [REVIEWS_WAITING] = ROWS_SELECT " AND r.offered_sha256 IS NOT NULL" ROWS_ORDER,
        [REVIEWS_APPROVED] = ROWS_SELECT " AND r.approved_sha256 IS NOT NULL" ROWS_ORDER,
        [REVIEWS_INSTRUCTIONS] =
            ROWS_SELECT " AND r.approved_sha256 IS NOT NULL AND r.kind = 0 AND r.name = ''" ROWS_ORDER,
    };
    int64_t server = 1;
    *out = NULL;
    *count = 0;
    if (provider)
        WT_TRY(wt__reserved_find(store, *provider, &server, err));
    WT_TRY(wt__sql_list(store, selects[which],
                        SQL_VALUES(sql_text(provider ? *provider : STR("")), sql_integer(!provider)), read_review_row,
                        sizeof **out, arena, (void **)out, count, err));
    return server != 0;
}

int wt__store_approved_tools(struct store *store, struct str provider, struct arena *arena, int64_t **ids,
                             size_t *count, wt_error *err)
{
    return wt__sql_list_integers(
        store,
        "SELECT t.id FROM review_server s CROSS JOIN review r ON r.server = s.id"
        " CROSS JOIN tool t ON t.id = r.tool CROSS JOIN provider p ON p.id = t.provider"
        " WHERE s.name = ?1 AND p.name = ?1 AND r.kind = 0 AND t.name = r.name AND r.listed = 1"
        " AND r.offered IS NULL AND t.definition = r.approved ORDER BY t.id",
        SQL_VALUES(sql_text(provider)), arena, ids, count, err);
}

static int read_new_tool(struct sql_statement *row, struct arena *arena, void *item)
{
    (void)arena;
    *(struct stored_new_tool *)item = (struct stored_new_tool){wt__sql_integer(row, 0), wt__sql_integer(row, 1)};
    return 0;
}

int wt__store_new_tools(struct store *store, struct arena *arena, struct stored_new_tool **out, size_t *count,
                        wt_error *err)
{
    int64_t since = (int64_t)time(NULL) - (int64_t)WT_NEW_TOOL_DAYS * DAY_SECONDS;
    return wt__sql_list(store,
                        "SELECT r.tool, r.approved_since FROM review r INDEXED BY review_new"
                        " WHERE r.approved_after IS NOT NULL AND r.approved_since > ?1 AND r.tool IS NOT NULL"
                        " AND NOT EXISTS (SELECT 1 FROM label l CROSS JOIN usage_tool x ON x.label = l.id"
                        " WHERE l.tool = r.tool AND x.usage > r.approved_after)",
                        SQL_VALUES(sql_integer(since)), read_new_tool, sizeof **out, arena, (void **)out, count, err);
}
