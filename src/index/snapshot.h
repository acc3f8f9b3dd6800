/* snapshot.h: all data needed for searching, built once from a store and then mapped by every process.
 *
 * A folder STORE-index/ contains:
 *   snapshot                    keys of the rows (tools), the lexical index, names, copies, and the vector slot of each
 *                               row. The file is replaced atomically, so a reader sees either the old or the new file
 *   vectors-MODEL-KIND-NUMBER   slots of vectors (vectors.h), append-only. Slots beyond the count in the snapshot file
 *                               are ignored. An abandoned file is never rewritten: a file with another number replaces
 *                               it
 *   lock                        held by the writing process
 *
 * Everything can be rebuilt. Opening a file that is truncated, changed, or of another byte order or older version fails
 * with WT_ESTORE, and the caller builds a new snapshot. The snapshot file and the byte form of vectors are verified
 * when they are opened, fp32 vectors when they are read. Row i is row i of the content that was written. */
#ifndef WT_INDEX_SNAPSHOT_H
#define WT_INDEX_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/checksum.h"
#include "base/error.h"
#include "base/str.h"
#include "index/lexical.h"
#include "index/names.h"
#include "index/row_words.h"
#include "index/vectors.h"

enum {
    SNAPSHOT_MAX_SETS = 6,     /* maximum kinds of vectors */
    SNAPSHOT_NAME_BYTES = 24,  /* kind with its NUL: letters, digits, '_' */
    SNAPSHOT_MODEL_BYTES = 68, /* hash of a model with its NUL: letters and digits */
    SNAPSHOT_BATCH = 4096      /* maximum vectors per fetch */
};

/* Key of a row. A tool with changed text gets a new generation, so that its vectors are fetched again. */
struct snapshot_key {
    int64_t id; /* number of the tool in the store */
    uint64_t generation;
    uint32_t provider;        /* number of the tool's provider in the store */
    uint32_t id_hash;         /* wt__snapshot_id_hash of the tool's id */
    uint64_t name_hash;       /* wt__document_name_hash; equal for similar names */
    uint64_t provider_hash;   /* wt__provider_hash */
    float provider_precision; /* wt__name_precision */
    uint32_t actions;         /* wt__tool_actions: actions of the tool according to the catalogue */
    uint32_t group;           /* start of the tool's group in copy_groups.rows, counted from 1; 0 if it has no copies */
    uint32_t method_twin;     /* 1 if wt__document_method_twin, else 0 */
    uint32_t verbs;           /* wt__tool_verbs: actions according to its name and description */
};

/* Returns a 32-bit hash of a tool's id. The hash finds the row of a tool for data from another store with the same
 * tools. Two tools may share a hash. */
static inline uint32_t wt__snapshot_id_hash(struct str id)
{
    return (uint32_t)wt__checksum(id.ptr, id.len, 0);
}

enum { COPY_GROUP_READ = 1000 /* maximum rows of a group read by a query */ };

/* Groups of rows that are exact copies of each other, such as tools of forked servers. The caller supplies a hash for
 * each tool (retrieve/document.h). Rows with equal hashes form a group if wt__are_copies is true for two of them.
 * Groups are stored one after the other, each with at least two rows in ascending order. snapshot_key.group gives the
 * position of a row's group. A zeroed struct has no groups. */
struct copy_groups {
    const uint32_t *rows; /* [count] */
    size_t count;
};

/* Immutable and thread-safe. */
struct snapshot {
    uint64_t generation; /* generation of its store */
    uint64_t settings;   /* settings of the analyser and the fields: everything that affects the lexical index */
    uint32_t rows;       /* number of tools */
    const struct snapshot_key *keys; /* [rows] */
    struct lexical lexical;
    struct name_index names;
    struct copy_groups copies;
    struct row_words words;
    size_t set_count;
    struct snapshot_set {
        const char *model, *kind;
        uint32_t former; /* vector_source.former at the time of writing */
        struct vectors vectors;
    } sets[SNAPSHOT_MAX_SETS];
    struct snapshot_memory *memory; /* owner of all memory */
};

/* Opens a valid snapshot of this store generation and these settings. Errors: WT_ENOTFOUND (no snapshot), WT_ESTORE
 * (damaged, or another generation or settings), WT_ENEWER (written by a newer version), WT_EREADONLY, WT_EIO,
 * WT_ENOMEM. */
int wt__snapshot_open(struct snapshot **out, const char *folder, uint64_t generation, uint64_t settings, wt_error *err);
void wt__snapshot_free(struct snapshot *snapshot);

/* Returns the set of this model and kind, or NULL. */
const struct vectors *wt__snapshot_vectors(const struct snapshot *snapshot, const char *model, const char *kind);

/* Returns the row of a tool, or the number of rows if the snapshot does not contain it. */
size_t wt__snapshot_row(const struct snapshot *snapshot, int64_t id);

/* Checks everything that opening does not check: fp32 vectors, the order of terms, postings, names, copies and ids, and
 * that all rows exist. Fails with WT_ESTORE. */
int wt__snapshot_validate(const struct snapshot *snapshot, wt_error *err);
/* Opens the folder's snapshot of any generation and settings, and validates it. Errors: those of opening. */
int wt__snapshot_check(const char *folder, wt_error *err);

/* Source of the vectors that the previous snapshot lacks. fetch writes vectors, [count, dim], for `count` ascending
 * rows, at most SNAPSHOT_BATCH. If fetch returns a negative code, the writing stops with this code. */
struct vector_source {
    const char *model, *kind;
    size_t dim;
    const bool *has; /* [rows] rows that have a vector; NULL for all. Other rows have no vector */
    int (*fetch)(void *context, const uint32_t *rows, size_t count, float *vectors, wt_error *err);
    void *context;
    uint32_t former; /* number of vectors of the previous document kind that are not yet replaced; for status */
};

struct snapshot_content {
    uint64_t generation, settings;
    const struct snapshot_key *keys; /* [rows] with unique ids, ascending for wt__snapshot_row */
    size_t rows;
    const void *lexical; /* from wt__lexical_builder_finish, with the same number of rows */
    size_t lexical_len;
    const struct vector_source *sources; /* sets to write; all others are removed */
    size_t source_count;
    struct name_index names;   /* sorted; empty if names are not searched */
    struct copy_groups copies; /* must match keys */
    struct row_words words;    /* words of all rows, or zero */
};

/* Writes the content as the folder's new snapshot and opens it.
 *
 * Vectors are kept from the folder's previous snapshot, whatever its generation and settings, if the row has the same
 * id and generation. Only missing vectors are fetched. If another process has written the same content meanwhile, its
 * snapshot is opened. If fetching fails, the vectors fetched so far are usually kept for the next call.
 *
 * Waits up to wait_ms for another writer (WT_EBUSY). Errors: WT_EREADONLY, WT_EFULL, WT_EIO, WT_EMODEL (a vector is not
 * finite), WT_EINVAL, WT_ENOMEM, those of fetch. */
int wt__snapshot_write(struct snapshot **out, const char *folder, const struct snapshot_content *content,
                       unsigned wait_ms, wt_error *err);

/* Builds a snapshot in memory, for stores without a writable folder. Vectors of unchanged rows are copied from
 * `previous`, which may be NULL. */
int wt__snapshot_build(struct snapshot **out, const struct snapshot *previous, const struct snapshot_content *content,
                       wt_error *err);

/* Gives a snapshot of wt__snapshot_build the vectors of another snapshot, `of`, which must outlive it. The snapshot
 * must be built without sets. rows: [snapshot->rows] row in `of` of each row. Only sets of this kind are shared.
 * Returns 0 or WT_ENOMEM. */
int wt__snapshot_share_vectors(struct snapshot *snapshot, const struct snapshot *of, const char *kind,
                               const uint32_t *rows, wt_error *err);

/* Tries wt__snapshot_write. If folder is "" or the write fails, calls wt__snapshot_build instead. */
int wt__snapshot_make(struct snapshot **out, const char *folder, unsigned wait_ms, const struct snapshot *previous,
                      const struct snapshot_content *content, wt_error *err);

/* Deletes the folder's snapshot, so that the next write keeps no vectors. Use it after a search found a damaged
 * vector. */
int wt__snapshot_discard(const char *folder, unsigned wait_ms, wt_error *err);

/* Sets keys[].group from hashes, [rows]. A row with hash 0 has no copies. *grouped: rows of all groups, [*count], to be
 * freed with free(). Returns 0 or WT_ENOMEM. */
int wt__copy_groups_build(uint32_t **grouped, size_t *count, struct snapshot_key *keys, const uint64_t *hashes,
                          size_t rows, wt_error *err);

/* True if two rows with equal hashes are copies and may share one result place: they have different providers, or both
 * have method_twin set (one operation under two HTTP methods). */
bool wt__are_copies(const struct snapshot_key *a, const struct snapshot_key *b);

/* Returns the first rows of the row's group, at most COPY_GROUP_READ. The group includes the row itself. *count: number
 * of rows returned; 0 if the row has no copies. */
const uint32_t *wt__copy_group(const struct snapshot *snapshot, uint32_t row, size_t *count);

/* Checks that groups and keys agree. Fails with WT_ESTORE. */
int wt__copy_groups_check(const struct snapshot *snapshot, wt_error *err);

#endif
