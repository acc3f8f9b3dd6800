/* import.h: an import in progress, shared by import.c (decides on each tool), import_rows.c (rows that it has stored),
 * import_batch.c (reads and writes many rows with one statement) and removal.c (removes the tools that the source no
 * longer has). */
#ifndef WT_STORE_IMPORT_H
#define WT_STORE_IMPORT_H

#include "base/map.h"
#include "store/internal.h"

/* Number of columns shared by insert and update, and number of all columns that insert writes. */
enum { TEXT_COLUMNS = 6, CONTENT_COLUMNS = 4 + TEXT_COLUMNS, ROW_COLUMNS = CONTENT_COLUMNS + 3 };

/* A provider in the import. */
struct stored_provider {
    int64_t id;
    struct str name; /* current name; the imported tools may use a former name */
};

/* Set of the ids of rows that this import added, changed or confirmed. A hash table with open addressing, at most half
 * full. */
struct row_set {
    int64_t *slots; /* ids of rows; 0 if free */
    size_t mask;
};

/* A row of the table tool, compared with a tool of the import. */
struct stored_row {
    int64_t id, source;
    bool same;            /* all columns are equal */
    bool same_definition; /* definition, source id and schema are equal */
};

struct import_batch;

struct tool_import {
    struct store *store;
    const struct tool *tools;
    size_t count;
    const struct store_import_options *options;
    uint64_t generation;
    struct owner owner; /* source of the current tool */
    bool owner_is_new;  /* true if the owner had no tools when it became the current owner */
    struct row_set taken;
    struct map provider_index; /* name -> index of providers */
    struct stored_provider *providers;
    size_t provider_capacity;
    struct families families;
    int64_t *ids;               /* [count] receives the ids of the tools; may be NULL */
    int64_t last_taken;         /* id of the row that was taken last */
    struct arena arena;         /* names of providers, and keys of skipped tools */
    bool lost_labels;           /* true if the store had labels without a tool before the import */
    bool bare_ids;              /* true if a provider has the empty name, so that names of tools can be ids */
    size_t at;                  /* index of the current tool */
    struct import_batch *batch; /* NULL if each tool is stored at once */
    struct store_changes changes;
    wt_error *err;
};

/* Rows (import_rows.c). Prepares the set of taken rows. */
int wt__import_rows_open(struct tool_import *import);
bool wt__import_has_taken(const struct tool_import *import, int64_t id);
void wt__import_take(struct tool_import *import, int64_t id);
/* Inserts the row with the first free exported name, and writes its id to *id. values [ROW_COLUMNS + 1] are complete
 * except for the exported name. */
int wt__import_insert(struct tool_import *import, struct str provider, struct sql_value *values, int64_t *id);

/* Starts a batch if the database has arrays and the import has many tools; import->batch stays NULL if not. */
int wt__import_batch_open(struct tool_import *import);
void wt__import_batch_close(struct import_batch *batch); /* NULL is a no-op */
/* Inserts the waiting rows. The functions below need a batch; this one does nothing without. */
int wt__import_batch_flush(struct tool_import *import);
/* True if the store certainly has no row with this provider and name. */
bool wt__import_batch_lacks(const struct tool_import *import, int64_t provider, struct str name);
/* Notes that the store has a row with this provider and name. */
int wt__import_batch_note(struct tool_import *import, int64_t provider, struct str name);
/* Lets a row wait to be inserted. The texts of the tool outlive the import. values: as for wt__import_insert. */
int wt__import_batch_insert(struct tool_import *import, struct str provider, struct sql_value *values);
/* Finds the row with the provider and name of the current tool among the rows read ahead. Returns 1 with *out; 0 if the
 * row must be looked up alone, because it was not read or may have changed since; or an error. */
int wt__import_batch_find(struct tool_import *import, struct stored_row *out);

/* Removes the rows of the source that this import neither stored nor skipped. */
int wt__import_remove_missing(struct tool_import *import);
/* Increments usage_generation if a removal has deleted links. before: number of links before the removal. */
int wt__removal_note_links(struct store *store, int64_t before, wt_error *err);
int wt__removal_empty_providers(struct store *store, wt_error *err);

#endif
