/* table.c: reads a file of tenants, and finds the rows that a tenant sees (table.h). */
#include "tenants/table.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/sort.h"
#include "catalog/names.h"
#include "tenants/tenants.h"

enum { READ_BYTES = 1 << 20 };

bool wt__is_tenant_name(struct str name)
{
    for (size_t i = 0; i < name.len; i++)
        if (!wt__is_letter(name.ptr[i]) && !wt__is_digit(name.ptr[i]) && !memchr("._-@", name.ptr[i], 4))
            return false;
    return name.len > 0 && name.len <= WT_MAX_TENANT_NAME_BYTES;
}

static bool has_wildcard(struct str text)
{
    return text.len > 0 && (memchr(text.ptr, '*', text.len) || memchr(text.ptr, '?', text.len));
}

/* ---------------------------------------------------------------- parsing */

/* Numbers of the items of one line, by list. Reused for the next line. */
struct line_lists {
    uint32_t *items[SELECTION_LISTS];
    size_t counts[SELECTION_LISTS], capacities[SELECTION_LISTS];
};

struct table_reader {
    struct tenant_table *table;
    bool owns; /* the tenant of the current line has a store of its own */
    const char *file;
    size_t line;
    struct line_lists lists;
    uint32_t *block; /* bytes of the current selection */
    size_t block_capacity;
    wt_error *err;
};

static int fail_line(const struct table_reader *r, const char *what)
{
    return wt__fail_at(r->err, WT_EFORMAT, r->line, 0, NULL, "%s:%zu: %s", r->file, r->line, what);
}

/* Returns the number of a text, which is stored when it first comes. Returns -1 if out of memory. */
static int64_t number_text(struct tenant_table *table, struct str text)
{
    const uint32_t *known = wt__map_get(&table->numbers, text);
    if (known)
        return *known;
    if (wt__grow((void **)&table->texts, &table->text_capacity, table->text_count + 1, sizeof *table->texts) < 0)
        return -1;
    const char *copy = wt__arena_copy(&table->arena, text);
    if (!copy)
        return -1;
    const struct str kept = {copy, text.len};
    if (!wt__map_insert(&table->numbers, kept, (uint32_t)table->text_count, NULL))
        return -1;
    table->texts[table->text_count] = kept;
    table->bytes += text.len + 1;
    return (int64_t)table->text_count++;
}

static int add_item(struct table_reader *r, enum selection_list list, struct str text)
{
    struct line_lists *lists = &r->lists;
    int64_t number = number_text(r->table, text);
    if (number < 0 || wt__grow((void **)&lists->items[list], &lists->capacities[list], lists->counts[list] + 1,
                               sizeof *lists->items[list]) < 0)
        return wt__fail_nomem(r->err);
    lists->items[list][lists->counts[list]++] = (uint32_t)number;
    return 0;
}

/* Reads a list of texts. ids: list of the items without wildcards. patterns: list of the others. */
static int read_selection_list(struct table_reader *r, const json_t *value, const char *member, enum selection_list ids,
                               enum selection_list patterns)
{
    char what[96];
    snprintf(what, sizeof what, "\"%s\" must be a list of non-empty strings", member);
    if (!json_is_array(value))
        return fail_line(r, what);
    for (size_t i = 0; i < json_array_size(value); i++) {
        const json_t *item = json_array_get(value, i);
        struct str text = {json_string_value(item), json_string_length(item)};
        if (!json_is_string(item) || text.len == 0)
            return fail_line(r, what);
        if (text.len > WT_MAX_NAME_BYTES * 2)
            return fail_line(r, "an item is too long to be an id");
        WT_TRY(add_item(r, has_wildcard(text) && ids != patterns ? patterns : ids, text));
    }
    return 0;
}

static int read_tenant_member(struct table_reader *r, const char *key, const json_t *value, struct str *name)
{
    if (strcmp(key, "tenant") == 0) {
        *name = (struct str){json_string_value(value), json_string_length(value)};
        if (json_is_string(value) && wt__is_tenant_name(*name))
            return 0;
        return fail_line(r, "\"tenant\" must be a name of 1 to 64 letters, digits, '.', '_', '-' and '@'");
    }
    if (strcmp(key, "providers") == 0)
        return read_selection_list(r, value, key, SELECT_PROVIDERS, SELECT_PROVIDERS);
    if (strcmp(key, "tools") == 0)
        return read_selection_list(r, value, key, SELECT_IDS, SELECT_PATTERNS);
    if (strcmp(key, "exclude") == 0)
        return read_selection_list(r, value, key, EXCLUDE_IDS, EXCLUDE_PATTERNS);
    if (strcmp(key, "own") == 0) {
        r->owns = json_is_true(value);
        return json_is_boolean(value) ? 0 : fail_line(r, "\"own\" must be true or false");
    }
    return fail_line(r, "unknown member; members are tenant, providers, tools, exclude and own");
}

/* Stores the lists as a selection, unless an equal one is known. Returns its index, or a negative code. */
static int64_t store_selection(struct table_reader *r)
{
    struct tenant_table *table = r->table;
    size_t len = SELECTION_LISTS;
    for (size_t list = 0; list < SELECTION_LISTS; list++) {
        r->lists.counts[list] = wt__sort_unique_u32(r->lists.items[list], r->lists.counts[list]);
        len += r->lists.counts[list];
    }
    if (len > WT_MAX_TENANT_ITEMS + SELECTION_LISTS)
        return wt__fail(r->err, WT_ETOOLONG, "%s:%zu: a tenant has more than %d items", r->file, r->line,
                        WT_MAX_TENANT_ITEMS);
    if (wt__grow((void **)&r->block, &r->block_capacity, len, sizeof *r->block) < 0)
        return wt__fail_nomem(r->err);
    uint32_t *at = r->block + SELECTION_LISTS;
    for (size_t list = 0; list < SELECTION_LISTS; list++) {
        if (r->lists.counts[list] > 0)
            memcpy(at, r->lists.items[list], r->lists.counts[list] * sizeof *at);
        at += r->lists.counts[list];
        r->block[list] = (uint32_t)(at - r->block - SELECTION_LISTS);
    }
    const struct str bytes = {(const char *)r->block, len * sizeof *r->block};
    const uint32_t *known = wt__map_get(&table->known, bytes);
    if (known)
        return *known;
    uint32_t *copy = wt__arena_alloc(&table->arena, bytes.len, sizeof *copy);
    if (!copy || wt__grow((void **)&table->selections, &table->selection_capacity, table->selection_count + 1,
                          sizeof *table->selections) < 0)
        return wt__fail_nomem(r->err);
    memcpy(copy, bytes.ptr, bytes.len);
    if (!wt__map_insert(&table->known, (struct str){(const char *)copy, bytes.len}, (uint32_t)table->selection_count,
                        NULL))
        return wt__fail_nomem(r->err);
    table->bytes += bytes.len;
    table->selections[table->selection_count] = (const struct tenant_selection *)copy;
    return (int64_t)table->selection_count++;
}

static int store_tenant(struct table_reader *r, struct str name)
{
    struct tenant_table *table = r->table;
    bool added = false;
    if (name.len == 0)
        return fail_line(r, "the member \"tenant\" is missing");
    if (table->tenant_count == WT_MAX_TENANTS)
        return wt__fail(r->err, WT_ETOOLONG, "%s has more than %d tenants", r->file, WT_MAX_TENANTS);
    if (r->owns)
        WT_TRY(add_item(r, OWN_NAME, name));
    int64_t selection = store_selection(r);
    if (selection < 0)
        return (int)selection;
    const char *copy = wt__arena_copy(&table->arena, name);
    if (!copy || !wt__map_insert(&table->names, (struct str){copy, name.len}, (uint32_t)selection, &added))
        return wt__fail_nomem(r->err);
    if (!added)
        return fail_line(r, "a tenant of this name comes twice");
    table->bytes += name.len + 1;
    table->tenant_count++;
    return 0;
}

static int read_line(struct table_reader *r, struct str line)
{
    json_auto_t *row = NULL;
    wt_error why;
    struct str name = {NULL, 0};
    const char *key;
    json_t *value;
    r->line++;
    line = wt__str_trim(line);
    if (line.len == 0)
        return 0;
    int rc = wt__json_parse(&row, line.ptr, line.len, &why);
    if (rc < 0)
        return rc == WT_ENOMEM ? wt__fail_nomem(r->err) : fail_line(r, why.message);
    if (!json_is_object(row))
        return fail_line(r, "a line must be a JSON object");
    memset(r->lists.counts, 0, sizeof r->lists.counts);
    r->owns = false;
    json_object_foreach(row, key, value)
    {
        WT_TRY(read_tenant_member(r, key, value, &name));
    }
    return store_tenant(r, name);
}

/* Reads all whole lines of the text; the last line too if `last`. Returns the number of bytes read, or a code. */
static int64_t read_lines(struct table_reader *r, struct str text, bool last)
{
    size_t at = 0;
    while (at < text.len) {
        const char *end = memchr(text.ptr + at, '\n', text.len - at);
        if (!end && !last)
            break;
        size_t len = end ? (size_t)(end - text.ptr) - at : text.len - at;
        if (len > WT_MAX_TENANT_LINE_BYTES)
            break;
        WT_TRY(read_line(r, (struct str){text.ptr + at, len}));
        at += len + (end != NULL);
    }
    if (text.len - at > WT_MAX_TENANT_LINE_BYTES)
        return wt__fail(r->err, WT_ETOOLONG, "%s:%zu: the line is longer than %d bytes", r->file, r->line + 1,
                        WT_MAX_TENANT_LINE_BYTES);
    return (int64_t)at;
}

/* ---------------------------------------------------------------- life */

struct tenant_table *wt__tenant_table_hold(struct tenant_table *table)
{
    atomic_fetch_add(&table->references, 1);
    return table;
}

void wt__tenant_table_release(struct tenant_table *table)
{
    if (!table || atomic_fetch_sub(&table->references, 1) > 1)
        return;
    wt__map_dispose(&table->numbers);
    wt__map_dispose(&table->known);
    wt__map_dispose(&table->names);
    wt__arena_dispose(&table->arena);
    free(table->texts);
    free((void *)table->selections);
    free(table->tool_rows);
    free(table->providers);
    pthread_mutex_destroy(&table->lock);
    free(table);
}

size_t wt__tenant_table_bytes(const struct tenant_table *table)
{
    size_t slots = table->numbers.capacity + table->known.capacity + table->names.capacity;
    return sizeof *table + table->bytes + slots * sizeof(struct map_slot) +
           table->text_capacity * (sizeof *table->texts + 2 * sizeof(uint32_t)) +
           table->selection_capacity * sizeof *table->selections;
}

static int begin_reader(struct table_reader *r, const char *file, wt_error *err)
{
    *r = (struct table_reader){.table = wt__alloc_zeros(1, sizeof *r->table), .file = file, .err = err};
    WT_CHECK_ALLOC(r->table, err);
    atomic_init(&r->table->references, 1);
    pthread_mutex_init(&r->table->lock, NULL);
    return 0;
}

/* Frees the reader. Moves its table to *out if rc is not negative. */
static int end_reader(struct table_reader *r, int64_t rc, struct tenant_table **out)
{
    for (size_t list = 0; list < SELECTION_LISTS; list++)
        free(r->lists.items[list]);
    free(r->block);
    *out = rc < 0 ? NULL : r->table;
    if (rc < 0)
        wt__tenant_table_release(r->table);
    return rc < 0 ? (int)rc : 0;
}

int wt__tenant_table_parse(struct tenant_table **out, struct str text, const char *file, wt_error *err)
{
    struct table_reader r;
    *out = NULL;
    WT_TRY(begin_reader(&r, file, err));
    return end_reader(&r, read_lines(&r, text, true), out);
}

/* Reads the file piece by piece: a file of 100,000 tenants can have a gigabyte. */
static int64_t read_pieces(struct table_reader *r, int fd)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    WT_AUTO_FREE char *piece = wt__alloc_array(READ_BYTES, 1);
    ssize_t got = 1;
    WT_CHECK_ALLOC(piece, r->err);
    while (got > 0) {
        got = read(fd, piece, READ_BYTES);
        if (got < 0)
            return wt__fail_errno(r->err, "read", r->file);
        wt__buffer_append(&text, piece, (size_t)got);
        if (text.failed)
            return wt__fail_nomem(r->err);
        int64_t taken = read_lines(r, wt__buffer_view(&text), got == 0);
        if (taken < 0)
            return taken;
        memmove(text.ptr, text.ptr + taken, text.len - (size_t)taken);
        wt__buffer_cut(&text, text.len - (size_t)taken);
    }
    return 0;
}

int wt__tenant_table_read(struct tenant_table **out, const char *path, wt_error *err)
{
    struct table_reader r;
    *out = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return wt__fail_errno(err, "open", path);
    int64_t rc = begin_reader(&r, path, err);
    if (rc == 0)
        rc = end_reader(&r, read_pieces(&r, fd), out);
    close(fd);
    return (int)rc;
}

/* ---------------------------------------------------------------- selecting */

size_t wt__tenant_selection(const struct tenant_table *table, struct str name)
{
    const uint32_t *at = wt__map_get(&table->names, name);
    return at ? *at : table->selection_count;
}

/* Returns the items of a list, [*count]. */
static const uint32_t *list_items(const struct tenant_selection *selection, enum selection_list list, size_t *count)
{
    uint32_t first = list > 0 ? selection->ends[list - 1] : 0;
    *count = selection->ends[list] - first;
    return selection->items + first;
}

struct str wt__tenant_own_name(const struct tenant_table *table, const struct tenant_selection *selection)
{
    size_t count;
    const uint32_t *items = list_items(selection, OWN_NAME, &count);
    return count > 0 ? table->texts[*items] : STR("");
}

int64_t wt__tenant_same_selection(const struct tenant_table *to, const struct tenant_table *from,
                                  const struct tenant_selection *selection)
{
    size_t len = SELECTION_LISTS + selection->ends[SELECTION_LISTS - 1];
    WT_AUTO_FREE uint32_t *block = wt__alloc_array(len, sizeof *block);
    if (!block)
        return -1;
    memcpy(block, selection->ends, sizeof selection->ends);
    uint32_t *at = block + SELECTION_LISTS;
    for (enum selection_list list = 0; list < SELECTION_LISTS; list++) {
        size_t count;
        const uint32_t *items = list_items(selection, list, &count);
        for (size_t i = 0; i < count; i++) {
            const uint32_t *number = wt__map_get(&to->numbers, from->texts[items[i]]);
            if (!number)
                return (int64_t)to->selection_count;
            at[i] = *number;
        }
        wt__sort_u32(at, count);
        at += count;
    }
    const uint32_t *known = wt__map_get(&to->known, (struct str){(const char *)block, len * sizeof *block});
    return known ? *known : (int64_t)to->selection_count;
}

/* Looks up all texts in a pool. Requires table->lock. */
static int look_up_texts(struct tenant_table *table, const struct row_pool *pool, wt_error *err)
{
    if (table->serial == pool->serial)
        return 0;
    if (!table->tool_rows) {
        table->tool_rows = wt__alloc_array(table->text_count, sizeof *table->tool_rows);
        table->providers = wt__alloc_array(table->text_count, sizeof *table->providers);
        WT_CHECK_ALLOC(table->tool_rows && table->providers, err);
    }
    for (size_t i = 0; i < table->text_count; i++) {
        table->tool_rows[i] = wt__row_pool_find(pool, table->texts[i]);
        table->providers[i] = wt__row_pool_find_provider(pool, table->texts[i]);
    }
    table->serial = pool->serial;
    return 0;
}

static void set_row(uint64_t *bits, uint32_t row, bool value)
{
    uint64_t bit = UINT64_C(1) << row % 64;
    bits[row / 64] = value ? bits[row / 64] | bit : bits[row / 64] & ~bit;
}

static void set_ids(const struct tenant_table *table, const struct tenant_selection *selection,
                    enum selection_list list, const struct row_pool *pool, uint64_t *bits, bool value)
{
    size_t count;
    const uint32_t *items = list_items(selection, list, &count);
    for (size_t i = 0; i < count; i++)
        for (uint32_t row = table->tool_rows[items[i]]; row < pool->rows; row = pool->same_id[row])
            set_row(bits, row, value);
}

static void set_providers(const struct tenant_table *table, const struct tenant_selection *selection,
                          const struct row_pool *pool, uint64_t *bits)
{
    size_t count, rows;
    const uint32_t *items = list_items(selection, SELECT_PROVIDERS, &count);
    for (size_t i = 0; i < count; i++) {
        if (table->providers[items[i]] >= pool->provider_count)
            continue;
        const uint32_t *of = wt__row_pool_provider_rows(pool, table->providers[items[i]], &rows);
        for (size_t row = 0; row < rows; row++)
            set_row(bits, of[row], true);
    }
}

static void set_patterns(const struct tenant_table *table, const struct tenant_selection *selection,
                         enum selection_list list, const struct row_pool *pool, uint64_t *bits, bool value)
{
    size_t count;
    const uint32_t *items = list_items(selection, list, &count);
    for (uint32_t row = 0; count > 0 && row < pool->rows; row++)
        for (size_t i = 0; i < count; i++)
            if (wt__pattern_fits(table->texts[items[i]], pool->ids[row], pool->tool_names[row]))
                set_row(bits, row, value);
}

int wt__tenant_select(struct tenant_table *table, const struct tenant_selection *selection, const struct row_pool *pool,
                      uint64_t *bits, wt_error *err)
{
    pthread_mutex_lock(&table->lock);
    int rc = look_up_texts(table, pool, err);
    if (rc == 0) {
        set_providers(table, selection, pool, bits);
        set_ids(table, selection, SELECT_IDS, pool, bits, true);
        set_patterns(table, selection, SELECT_PATTERNS, pool, bits, true);
        set_ids(table, selection, EXCLUDE_IDS, pool, bits, false);
        set_patterns(table, selection, EXCLUDE_PATTERNS, pool, bits, false);
    }
    pthread_mutex_unlock(&table->lock);
    return rc;
}

static bool list_has_text(const struct tenant_table *table, const struct tenant_selection *selection,
                          enum selection_list list, struct str text)
{
    size_t count;
    const uint32_t *items = list_items(selection, list, &count), *number = wt__map_get(&table->numbers, text);
    size_t at = number ? wt__lower_bound_u32(items, count, *number) : count;
    return at < count && items[at] == *number;
}

static bool list_fits(const struct tenant_table *table, const struct tenant_selection *selection,
                      enum selection_list list, struct str id, struct str name)
{
    size_t count;
    const uint32_t *items = list_items(selection, list, &count);
    for (size_t i = 0; i < count; i++)
        if (wt__pattern_fits(table->texts[items[i]], id, name))
            return true;
    return false;
}

bool wt__tenant_selects(const struct tenant_table *table, const struct tenant_selection *selection, struct str provider,
                        struct str name)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    wt__tool_id(&text, provider, name);
    const struct str id = wt__buffer_view(&text);
    if (text.failed || list_has_text(table, selection, EXCLUDE_IDS, id) ||
        list_fits(table, selection, EXCLUDE_PATTERNS, id, name))
        return false;
    return list_has_text(table, selection, SELECT_PROVIDERS, provider) ||
           list_has_text(table, selection, SELECT_IDS, id) || list_fits(table, selection, SELECT_PATTERNS, id, name);
}

bool wt__tenant_selects_provider(const struct tenant_table *table, const struct tenant_selection *selection,
                                 struct str provider)
{
    return selection->ends[EXCLUDE_PATTERNS] == selection->ends[SELECT_PATTERNS] &&
           list_has_text(table, selection, SELECT_PROVIDERS, provider);
}
