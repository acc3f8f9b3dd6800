/* filter.c: filter masks, and the limit of new tools. */
#include "engine/filter.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/nearest.h"
#include "base/sort.h"
#include "catalog/names.h"
#include "engine/sized_options.h"
#include "store/review.h"

enum {
    MASKS_BYTES = 16 << 20, /* memory for the masks of an index: 128 masks of a million tools */
    MASKS_MOST = 256,       /* maximum masks of an index; each query searches their list linearly */
    NOTICES = 3,            /* maximum remarks on each list of a filter */
    STEP = 4096             /* names visited between two reports of progress */
};

/* ---------------------------------------------------------------- validation */

static int check_filter_list(const char *const *items, size_t count, size_t longest, wt_error *err)
{
    if (count > WT_MAX_FILTER_ITEMS)
        return wt__fail(err, WT_EINVAL, "the filter has a list of %zu providers or patterns; at most %d are allowed",
                        count, WT_MAX_FILTER_ITEMS);
    for (size_t i = 0; i < count; i++) {
        if (!items || !items[i])
            return wt__fail(err, WT_EINVAL, "item %zu of a list of the filter is NULL", i);
        if (strlen(items[i]) > longest)
            return wt__fail(err, WT_EINVAL, "the pattern \"%.40s...\" is longer than %zu bytes", items[i], longest);
    }
    return 0;
}

int wt__filter_read(const wt_filter *given, const char *provider, struct arena *arena, const wt_filter **out,
                    wt_error *err)
{
    *out = NULL;
    if (!given && !provider)
        return 0;
    wt_filter *filter = wt__arena_array(arena, wt_filter, 1);
    WT_CHECK_ALLOC(filter, err);
    WT_TRY(wt__options_read(filter, sizeof *filter, given, err));
    WT_TRY(check_filter_list(filter->providers, filter->provider_count, SIZE_MAX, err));
    WT_TRY(check_filter_list(filter->excluded_providers, filter->excluded_provider_count, SIZE_MAX, err));
    WT_TRY(check_filter_list(filter->only, filter->only_count, WT_MAX_PATTERN_BYTES, err));
    WT_TRY(check_filter_list(filter->excluded, filter->excluded_count, WT_MAX_PATTERN_BYTES, err));
    if (provider) {
        const char **all = wt__arena_array(arena, const char *, filter->provider_count + 1);
        WT_CHECK_ALLOC(all, err);
        if (filter->provider_count > 0)
            memcpy(all, filter->providers, filter->provider_count * sizeof *all);
        all[filter->provider_count++] = provider;
        filter->providers = all;
    }
    if (!filter->condition != !filter->condition_name)
        return wt__fail(err, WT_EINVAL, "the filter has a condition without a name, or a name without a condition");
    if (filter->condition ||
        filter->provider_count + filter->excluded_provider_count + filter->only_count + filter->excluded_count > 0)
        *out = filter;
    return 0;
}

/* ---------------------------------------------------------------- making a mask */

/* A provider or pattern of a filter. */
struct filter_item {
    struct str text;
    bool is_matched; /* some tool matches */
};

/* One of a filter's lists. */
struct filter_list {
    struct filter_item *items;
    size_t count;
    uint32_t *numbers; /* matching providers, ascending */
    size_t number_count;
};

struct numbered_provider {
    uint32_t number;
    struct str name;
};

struct mask_builder {
    wt_engine *engine;
    const struct index_handle *index;
    struct progress *progress;
    struct arena *arena;  /* of the mask */
    struct arena scratch; /* freed once the mask is made */
    wt_error *err;
    const wt_filter *filter;
    struct filter_list providers, excluded_providers, only, excluded;
    bool ids;                     /* a pattern or the condition needs ids */
    struct numbered_provider *of; /* [of_count] all providers by number, collected only if `ids` is set */
    size_t of_count, of_capacity;
    struct buffer id;        /* id of the row being matched */
    uint64_t *bits, *wanted; /* one bit per row: rows of the mask, and rows that match a pattern of `only` */
    size_t seen;             /* number of names visited */
};

/* Adds the provider's number to the list if the list names the provider. Adds a number only once, although a provider
 * may be visited more than once and occur more than once in the list. */
static void note_filter_provider(struct filter_list *list, uint32_t number, struct str name)
{
    bool named = false;
    for (size_t i = 0; i < list->count; i++)
        if (wt__str_equal(list->items[i].text, name))
            named = list->items[i].is_matched = true;
    for (size_t i = 0; named && i < list->number_count; i++)
        named = list->numbers[i] != number;
    if (named)
        list->numbers[list->number_count++] = number;
}

static int number_provider(void *context, int64_t provider, struct str name)
{
    struct mask_builder *m = context;
    note_filter_provider(&m->providers, (uint32_t)provider, name);
    note_filter_provider(&m->excluded_providers, (uint32_t)provider, name);
    if (!m->ids)
        return 0;
    if (wt__grow((void **)&m->of, &m->of_capacity, m->of_count + 1, sizeof *m->of) < 0)
        return wt__fail_nomem(m->err);
    char *copy = wt__arena_copy(&m->scratch, name);
    WT_CHECK_ALLOC(copy, m->err);
    m->of[m->of_count++] = (struct numbered_provider){(uint32_t)provider, {copy, name.len}};
    return 0;
}

static int order_providers(const void *a, const void *b)
{
    uint32_t x = ((const struct numbered_provider *)a)->number, y = ((const struct numbered_provider *)b)->number;
    return (x > y) - (x < y);
}

static bool list_has_number(const struct filter_list *list, uint32_t number)
{
    size_t at = wt__lower_bound_u32(list->numbers, list->number_count, number);
    return at < list->number_count && list->numbers[at] == number;
}

/* Sets the bits of rows whose provider is allowed. Rows of a provider are mostly contiguous, so the last answer is
 * reused. */
static void mark_allowed_providers(struct mask_builder *m)
{
    const struct snapshot *snapshot = m->index->snapshot;
    uint32_t last = 0;
    bool wanted = false;
    for (size_t row = 0; row < snapshot->rows; row++) {
        uint32_t provider = snapshot->keys[row].provider;
        if (row == 0 || provider != last)
            wanted = (m->providers.count == 0 || list_has_number(&m->providers, provider)) &&
                     !list_has_number(&m->excluded_providers, provider);
        last = provider;
        m->bits[row / 64] |= (uint64_t)wanted << row % 64;
    }
}

/* Returns true if a pattern matches. Sets is_matched of every matching pattern. */
static bool match_patterns(struct filter_list *patterns, struct str name, struct str id)
{
    bool any = false;
    for (size_t i = 0; i < patterns->count; i++) {
        struct filter_item *pattern = &patterns->items[i];
        if (!(any && pattern->is_matched) && wt__pattern_fits(pattern->text, id, name))
            any = pattern->is_matched = true;
    }
    return any;
}

static struct str write_mask_id(struct mask_builder *m, int64_t number, struct str name)
{
    struct numbered_provider key = {.number = (uint32_t)number};
    const struct numbered_provider *provider =
        m->of_count ? bsearch(&key, m->of, m->of_count, sizeof key, order_providers) : NULL;
    wt__buffer_clear(&m->id);
    wt__tool_id(&m->id, provider ? provider->name : STR(""), name);
    return wt__buffer_view(&m->id);
}

static void set_row_bit(const struct mask_builder *m, uint64_t *bits, int64_t id, bool value)
{
    size_t row = wt__snapshot_row(m->index->snapshot, id);
    uint64_t bit = (uint64_t)1 << row % 64;
    if (row < m->index->snapshot->rows)
        bits[row / 64] = value ? bits[row / 64] | bit : bits[row / 64] & ~bit;
}

static int mark_name(void *context, int64_t id, int64_t provider, struct str name)
{
    struct mask_builder *m = context;
    struct str whole = m->ids ? write_mask_id(m, provider, name) : name; /* without ids, no pattern looks at the id */
    if (m->id.failed)
        return wt__fail_nomem(m->err);
    if (m->only.count > 0 && match_patterns(&m->only, name, whole))
        set_row_bit(m, m->wanted, id, true);
    if (match_patterns(&m->excluded, name, whole) ||
        (m->filter->condition && !m->filter->condition(m->filter->condition_context, whole.ptr)))
        set_row_bit(m, m->bits, id, false);
    return ++m->seen % STEP == 0 && wt__progress_step(m->progress, STEP) ? wt__fail_cancelled(m->err) : 0;
}

static int mark_matching_names(struct mask_builder *m, wt_error *err)
{
    size_t words = (m->index->snapshot->rows + (size_t)63) / 64;
    if (m->only.count + m->excluded.count == 0 && !m->filter->condition)
        return 0;
    m->wanted = wt__arena_array(&m->scratch, uint64_t, words);
    WT_CHECK_ALLOC(m->wanted, err);
    if (m->of_count > 0)
        qsort(m->of, m->of_count, sizeof *m->of, order_providers);
    int rc = wt__index_each_name(m->engine, m->index, mark_name, m, err);
    for (size_t i = 0; rc == 0 && m->only.count > 0 && i < words; i++)
        m->bits[i] &= m->wanted[i];
    return rc;
}

/* ---------------------------------------------------------------- unmatched names */

static int compare_unmatched_provider(void *context, int64_t provider, struct str name)
{
    (void)provider;
    wt__nearest_show(context, name);
    return 0;
}

/* Writes a sentence about an item that matches no tool, with the nearest provider as a suggestion. */
static int describe_unmatched(struct mask_builder *m, struct str text, bool provider, struct buffer *out)
{
    struct nearest nearest;
    int shown = (int)(text.len < 80 ? text.len : 80);
    wt__nearest_begin(&nearest, text);
    int rc = wt__index_each_provider(m->engine, m->index, compare_unmatched_provider, &nearest, m->err);
    wt__buffer_printf(out, provider ? "no tool has the provider \"%.*s\"" : "no tool matches \"%.*s\"", shown,
                      text.ptr);
    if (!provider && nearest.best[0] && nearest.edits == 0)
        wt__buffer_printf(out, "; the tools of that provider are \"%s/*\"", nearest.best);
    else if (provider && nearest.best[0])
        wt__buffer_printf(out, "; did you mean \"%s\"?", nearest.best);
    return rc;
}

/* Adds remarks on the unmatched items of a list. needed: fail if the list has items and none of them matches. */
static int report_unmatched(struct mask_builder *m, const struct filter_list *list, bool provider, bool needed,
                            struct notice *notice)
{
    size_t matched = 0, told = 0;
    for (size_t i = 0; i < list->count; i++)
        matched += list->items[i].is_matched;
    for (size_t i = 0; i < list->count && told < NOTICES; i++) {
        if (list->items[i].is_matched)
            continue;
        WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
        WT_TRY(describe_unmatched(m, list->items[i].text, provider, &text));
        if (needed && matched == 0 && !text.failed)
            return wt__fail(m->err, WT_ENOTFOUND, "%s", text.ptr);
        WT_TRY(wt__take_notice(notice, WT_NOTICE_FILTER, &text, m->arena, m->err));
        told++;
    }
    return 0;
}

static int report_filter(struct mask_builder *m, struct notice *notice)
{
    const struct snapshot *snapshot = m->index->snapshot;
    uint64_t any = 0;
    WT_TRY(report_unmatched(m, &m->providers, true, true, notice));
    WT_TRY(report_unmatched(m, &m->excluded_providers, true, false, notice));
    WT_TRY(report_unmatched(m, &m->only, false, true, notice));
    WT_TRY(report_unmatched(m, &m->excluded, false, false, notice));
    for (size_t i = 0; i < (snapshot->rows + (size_t)63) / 64; i++)
        any |= m->bits[i];
    return any ? 0 : wt__add_notice(notice, WT_NOTICE_FILTER, "the filter excludes every tool", m->arena, m->err);
}

/* ---------------------------------------------------------------- masks */

static int init_filter_list(struct mask_builder *m, struct filter_list *list, const char *const *items, size_t count)
{
    list->items = wt__arena_array(&m->scratch, struct filter_item, count);
    list->numbers = wt__arena_array(&m->scratch, uint32_t, count);
    WT_CHECK_ALLOC(list->items && list->numbers, m->err);
    for (; list->count < count; list->count++)
        list->items[list->count] = (struct filter_item){wt__str(items[list->count]), false};
    return 0;
}

static bool has_id_pattern(const struct filter_list *patterns)
{
    for (size_t i = 0; i < patterns->count; i++)
        if (wt__pattern_of_ids(patterns->items[i].text))
            return true;
    return false;
}

static int compile_filter(struct mask_builder *m, const wt_filter *filter, struct notice *notice, wt_error *err)
{
    WT_TRY(init_filter_list(m, &m->providers, filter->providers, filter->provider_count));
    WT_TRY(init_filter_list(m, &m->excluded_providers, filter->excluded_providers, filter->excluded_provider_count));
    WT_TRY(init_filter_list(m, &m->only, filter->only, filter->only_count));
    WT_TRY(init_filter_list(m, &m->excluded, filter->excluded, filter->excluded_count));
    m->ids = has_id_pattern(&m->only) || has_id_pattern(&m->excluded) || filter->condition;
    if (m->ids || m->providers.count + m->excluded_providers.count > 0)
        WT_TRY(wt__index_each_provider(m->engine, m->index, number_provider, m, err));
    wt__sort_u32(m->providers.numbers, m->providers.number_count);
    wt__sort_u32(m->excluded_providers.numbers, m->excluded_providers.number_count);
    mark_allowed_providers(m);
    WT_TRY(mark_matching_names(m, err));
    return report_filter(m, notice);
}

static void append_to_key(struct buffer *key, const char *const *items, size_t count)
{
    wt__buffer_printf(key, "%zu:", count);
    for (size_t i = 0; i < count; i++)
        wt__buffer_append(key, items[i], strlen(items[i]) + 1);
}

static void write_filter_key(struct buffer *key, const wt_filter *filter)
{
    append_to_key(key, filter->providers, filter->provider_count);
    append_to_key(key, filter->excluded_providers, filter->excluded_provider_count);
    append_to_key(key, filter->only, filter->only_count);
    append_to_key(key, filter->excluded, filter->excluded_count);
    append_to_key(key, &filter->condition_name, filter->condition ? 1 : 0);
}

void wt__filter_mask_release(struct filter_mask *mask)
{
    if (!mask || atomic_fetch_sub(&mask->references, 1) > 1)
        return;
    wt__arena_dispose(&mask->arena);
    free(mask);
}

void wt__filter_masks_free(struct filter_mask *masks)
{
    while (masks) {
        struct filter_mask *mask = masks;
        masks = mask->next;
        wt__filter_mask_release(mask);
    }
}

/* Makes a mask. A filter that matches nothing (WT_ENOTFOUND) also becomes a mask, with the error in `why`, so that it
 * is cached; other errors are returned. */
static int make_mask(wt_engine *engine, const struct index_handle *index, const wt_filter *filter, struct str key,
                     struct progress *progress, struct filter_mask **out, wt_error *err)
{
    struct filter_mask *mask = calloc(1, sizeof *mask);
    WT_CHECK_ALLOC(mask, err);
    atomic_init(&mask->references, 1);
    size_t words = (index->snapshot->rows + (size_t)63) / 64;
    uint64_t *bits = wt__arena_array(&mask->arena, uint64_t, words);
    char *copy = wt__arena_copy(&mask->arena, key);
    struct mask_builder m = {.engine = engine,
                             .index = index,
                             .progress = progress,
                             .filter = filter,
                             .arena = &mask->arena,
                             .err = &mask->why,
                             .bits = bits};
    int rc = bits && copy ? compile_filter(&m, filter, &mask->notice, &mask->why) : wt__fail_nomem(&mask->why);
    free(m.of);
    wt__buffer_dispose(&m.id);
    wt__arena_dispose(&m.scratch);
    mask->bits = bits;
    mask->key = (struct str){copy, key.len};
    mask->bytes = sizeof *mask + words * sizeof *bits + key.len;
    if (rc == 0)
        mask->why = (wt_error){0};
    if (rc < 0 && rc != WT_ENOTFOUND) {
        wt__fail_same(err, &mask->why);
        wt__filter_mask_release(mask);
        return rc;
    }
    *out = mask;
    return 0;
}

/* Returns the cached mask of the key with a reference, and moves the mask to the front of the cache. Returns NULL if no
 * mask of this key is cached. Requires engine->lock. */
static struct filter_mask *find_cached_mask(struct index_handle *index, struct str key)
{
    for (struct filter_mask **at = &index->masks; *at; at = &(*at)->next) {
        struct filter_mask *mask = *at;
        if (!wt__str_equal(mask->key, key))
            continue;
        *at = mask->next;
        mask->next = index->masks;
        index->masks = mask;
        atomic_fetch_add(&mask->references, 1);
        return mask;
    }
    return NULL;
}

/* Adds a mask at the front of the cache and returns the list of evicted masks. Requires engine->lock. */
static struct filter_mask *cache_mask(struct index_handle *index, struct filter_mask *mask)
{
    size_t bytes = mask->bytes, count = 1;
    atomic_fetch_add(&mask->references, 1);
    mask->next = index->masks;
    index->masks = mask;
    struct filter_mask **at = &mask->next;
    for (; *at && (bytes += (*at)->bytes) <= MASKS_BYTES && ++count <= MASKS_MOST; at = &(*at)->next)
        ;
    struct filter_mask *rest = *at;
    *at = NULL;
    return rest;
}

int wt__filter_mask(wt_engine *engine, struct index_handle *index, const wt_filter *filter, struct progress *progress,
                    struct filter_mask **out, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer key = {0};
    struct filter_mask *fresh = NULL, *gone = NULL;
    *out = NULL;
    write_filter_key(&key, filter);
    if (key.failed)
        return wt__fail_nomem(err);
    struct str view = wt__buffer_view(&key);
    pthread_mutex_lock(&engine->lock);
    *out = find_cached_mask(index, view);
    pthread_mutex_unlock(&engine->lock);
    atomic_fetch_add_explicit(*out ? &engine->mask_hits : &engine->mask_misses, 1, memory_order_relaxed);
    if (!*out) {
        WT_TRY(make_mask(engine, index, filter, view, progress, &fresh, err));
        pthread_mutex_lock(&engine->lock);
        *out = find_cached_mask(index, view); /* another query may have cached the mask meanwhile */
        if (!*out) {
            gone = cache_mask(index, fresh);
            *out = WT_TAKE(fresh);
        }
        pthread_mutex_unlock(&engine->lock);
    }
    wt__filter_mask_release(fresh);
    wt__filter_masks_free(gone);
    if ((*out)->why.code == 0)
        return 0;
    int rc = wt__fail_same(err, &(*out)->why);
    wt__filter_mask_release(*out);
    *out = NULL;
    return rc;
}

/* ---------------------------------------------------------------- new tools */

struct new_tool {
    uint32_t row;
    int64_t until;      /* time at which the tool is no longer new, in seconds since 1970 */
    atomic_bool called; /* this engine recorded a usage of the tool */
};

struct new_tools {
    size_t count;
    struct new_tool items[]; /* [count] ascending by row */
};

enum { DAY_SECONDS = 24 * 60 * 60, NEW_SECONDS = WT_NEW_TOOL_DAYS * DAY_SECONDS };

static int order_new_tools(const void *one, const void *other)
{
    uint32_t a = ((const struct new_tool *)one)->row, b = ((const struct new_tool *)other)->row;
    return (a > b) - (a < b);
}

static int list_new_tools(wt_engine *engine, struct arena *arena, struct stored_new_tool **list, size_t *count,
                          wt_error *err)
{
    WT_CLEANUP(wt__close_reader) struct engine_reader reader = {0};
    WT_TRY(wt__open_reader(&reader, engine, err));
    return wt__store_new_tools(reader.store, arena, list, count, err);
}

int wt__new_tools_read(struct new_tools **out, wt_engine *engine, const struct snapshot *snapshot, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    struct stored_new_tool *list;
    size_t count = 0;
    *out = NULL;
    WT_TRY(list_new_tools(engine, &arena, &list, &count, err));
    if (count == 0)
        return 0;
    struct new_tools *tools = calloc(1, sizeof *tools + count * sizeof *tools->items);
    WT_CHECK_ALLOC(tools, err);
    for (size_t i = 0; i < count; i++) {
        size_t row = wt__snapshot_row(snapshot, list[i].tool);
        if (row >= snapshot->rows)
            continue;
        struct new_tool *item = &tools->items[tools->count++];
        item->row = (uint32_t)row;
        item->until = list[i].since + NEW_SECONDS;
        atomic_init(&item->called, false);
    }
    qsort(tools->items, tools->count, sizeof *tools->items, order_new_tools);
    *out = tools;
    return 0;
}

void wt__new_tools_free(struct new_tools *tools)
{
    free(tools);
}

static const struct new_tool *find_new_tool(const struct new_tools *tools, uint32_t row)
{
    const struct new_tool wanted = {.row = row};
    return bsearch(&wanted, tools->items, tools->count, sizeof wanted, order_new_tools);
}

static bool is_still_new(const struct new_tool *tool, int64_t now)
{
    return tool && now < tool->until && !atomic_load(&tool->called);
}

size_t wt__new_tools_count(const struct new_tools *tools, int64_t now)
{
    size_t count = 0;
    for (size_t i = 0; tools && i < tools->count; i++)
        count += is_still_new(&tools->items[i], now);
    return count;
}

/* True if a new tool of the same provider is among the first `count` hits. */
static bool has_earlier_new_tool(const struct new_tools *tools, int64_t now, const struct snapshot_key *keys,
                                 const struct hit *hits, size_t count, uint32_t row)
{
    for (size_t i = 0; i < count; i++)
        if (keys[hits[i].row].provider == keys[row].provider && is_still_new(find_new_tool(tools, hits[i].row), now))
            return true;
    return false;
}

void wt__new_tools_limit(const struct new_tools *tools, int64_t now, const struct snapshot_key *keys,
                         struct hit_list *hits)
{
    size_t kept = 0, named = 0;
    for (size_t i = 0; i < hits->len; i++) {
        uint32_t row = hits->items[i].row;
        if (is_still_new(find_new_tool(tools, row), now) &&
            has_earlier_new_tool(tools, now, keys, hits->items, kept, row))
            continue;
        named += i < hits->named;
        hits->items[kept++] = hits->items[i];
    }
    hits->len = kept;
    hits->named = named;
}

void wt__new_tools_called(wt_engine *engine, const struct usage *usages, size_t count)
{
    pthread_mutex_lock(&engine->lock);
    struct index_handle *index = engine->index;
    for (size_t i = 0; index && index->new_tools && i < count; i++)
        for (size_t t = 0; t < usages[i].tool_count; t++) {
            size_t row = wt__snapshot_row(index->snapshot, usages[i].tools[t].tool);
            const struct new_tool *tool =
                row < index->snapshot->rows ? find_new_tool(index->new_tools, (uint32_t)row) : NULL;
            if (tool)
                atomic_store(&index->new_tools->items[tool - index->new_tools->items].called, true);
        }
    pthread_mutex_unlock(&engine->lock);
}
