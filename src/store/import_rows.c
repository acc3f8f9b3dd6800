/* import_rows.c: the rows of an import: which ones it has stored, and the insertion of one. */
#include "store/import.h"

#include <stdlib.h>

#include "base/memory.h"
#include "catalog/names.h"

int wt__import_rows_open(struct tool_import *import)
{
    struct row_set *taken = &import->taken;
    size_t capacity = 16;
    while (capacity < 2 * (import->count + 1))
        capacity *= 2;
    taken->mask = capacity - 1;
    taken->slots = calloc(capacity, sizeof *taken->slots);
    WT_CHECK_ALLOC(taken->slots, import->err);
    return 0;
}

/* Returns the slot with this id, or the free slot for the id if it is not in the set. */
static int64_t *taken_slot(const struct row_set *taken, int64_t id)
{
    size_t at = (size_t)((uint64_t)id * 0x9e3779b97f4a7c15u >> 20) & taken->mask;
    while (taken->slots[at] != 0 && taken->slots[at] != id)
        at = (at + 1) & taken->mask;
    return &taken->slots[at];
}

bool wt__import_has_taken(const struct tool_import *import, int64_t id)
{
    return *taken_slot(&import->taken, id) == id;
}

void wt__import_take(struct tool_import *import, int64_t id)
{
    import->last_taken = id;
    *taken_slot(&import->taken, id) = id;
}

int wt__import_insert(struct tool_import *import, struct str provider, struct sql_value *values, int64_t *id)
{
    char export_name[EXPORT_NAME_MAX + 1];
    struct str name = values[CONTENT_COLUMNS + 1].bytes;
    for (unsigned attempt = 0;; attempt++) {
        if (import->bare_ids)
            WT_TRY(wt__names_attempt(import->store, provider, name, &attempt, export_name, import->err));
        else
            wt__export_name(provider, name, attempt, export_name);
        values[CONTENT_COLUMNS + 2] = sql_string(export_name);
        int rc = wt__sql_find(import->store,
                              "INSERT INTO tool (source, generation, sha256, definition, source_id, format,"
                              " category, title, description, schema, provider, name, export_name)"
                              " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)"
                              " ON CONFLICT (export_name) DO NOTHING RETURNING id",
                              values, id, import->err);
        if (rc != 0)
            return rc < 0 ? rc : 0;
    }
}
