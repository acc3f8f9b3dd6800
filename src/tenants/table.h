/* table.h: the tenants of a file, and what each of them sees.
 *
 * A file has one JSON object a line; blank lines are ignored:
 *
 *   {"tenant": "acme", "providers": ["github"], "tools": ["slack/post_*", "jira/create_issue"], "exclude":
 *   ["*delete*"]}
 *
 *   providers   all tools of these providers
 *   tools       ids, and patterns of ids and names (catalog/names.h)
 *   exclude     ids and patterns of tools that the tenant does not see, although another list has them
 *
 *   own         true: the tenant has a store of its own (own.h)
 *
 * A tenant without `providers` and `tools` sees no shared tool. Items that match no tool are allowed, because tools
 * come and go.
 *
 * 100,000 tenants with 300 tools each must fit into memory. So each text is stored once, a selection is a list of the
 * numbers of texts, and tenants with equal lists share one selection. A table is immutable and reference-counted. */
#ifndef WT_TENANTS_TABLE_H
#define WT_TENANTS_TABLE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/map.h"
#include "engine/row_pool.h"
#include "whichtool/tenants.h"

/* Lists of a selection. Items with '*' or '?' are patterns, all others ids. OWN_NAME has the name of a tenant with a
 * store of its own, so that no other tenant has the same selection, and is empty for others. */
enum selection_list {
    SELECT_PROVIDERS,
    SELECT_IDS,
    SELECT_PATTERNS,
    EXCLUDE_IDS,
    EXCLUDE_PATTERNS,
    OWN_NAME,
    SELECTION_LISTS
};

/* The numbers of the texts of all lists, one list after the other, each ascending. ends[list]: end of each list. */
struct tenant_selection {
    uint32_t ends[SELECTION_LISTS];
    uint32_t items[];
};

struct tenant_table {
    atomic_uint references;
    struct arena arena;
    struct map numbers; /* text -> number */
    struct str *texts;  /* [text_count] */
    size_t text_count, text_capacity;
    struct map known;                           /* bytes of a selection -> its index */
    const struct tenant_selection **selections; /* [selection_count] */
    size_t selection_count, selection_capacity;
    struct map names; /* name of a tenant -> index of its selection */
    size_t tenant_count;
    size_t bytes; /* memory of the texts, selections and names, without the maps */

    pthread_mutex_t lock; /* guards the members below */
    uint64_t serial;      /* pool of the arrays below; 0 before their first use */
    uint32_t *tool_rows;  /* [text_count] row of the tool with this id, or the number of rows */
    uint32_t *providers;  /* [text_count] index of the provider with this name, or the number of providers */
};

/* Reads a file. Errors: those of wt_tenants_open. */
int wt__tenant_table_read(struct tenant_table **out, const char *path, wt_error *err);
/* Parses a text in the form of a file. file: its name in errors. */
int wt__tenant_table_parse(struct tenant_table **out, struct str text, const char *file, wt_error *err);
struct tenant_table *wt__tenant_table_hold(struct tenant_table *table);
void wt__tenant_table_release(struct tenant_table *table); /* NULL is a no-op */
size_t wt__tenant_table_bytes(const struct tenant_table *table);

/* Returns the selection of a tenant, or selection_count. */
size_t wt__tenant_selection(const struct tenant_table *table, struct str name);
/* Returns the name of the only tenant of a selection with a store of its own; "" for another selection. */
struct str wt__tenant_own_name(const struct tenant_table *table, const struct tenant_selection *selection);
/* Returns the selection of `to` that equals a selection of `from`, or to->selection_count. Returns -1 if out of
 * memory. */
int64_t wt__tenant_same_selection(const struct tenant_table *to, const struct tenant_table *from,
                                  const struct tenant_selection *selection);
/* Sets the bits of the selected rows of a pool; all bits are 0 before. Errors: WT_ENOMEM. */
int wt__tenant_select(struct tenant_table *table, const struct tenant_selection *selection, const struct row_pool *pool,
                      uint64_t *bits, wt_error *err);
/* True if the selection has a tool, whether or not the tool exists. */
bool wt__tenant_selects(const struct tenant_table *table, const struct tenant_selection *selection, struct str provider,
                        struct str name);
/* True if the selection has all tools of a provider: it lists the provider and has no exclusions. */
bool wt__tenant_selects_provider(const struct tenant_table *table, const struct tenant_selection *selection,
                                 struct str provider);

#endif
