/* snapshot.h: everything a search needs, made from a store once and mapped by every process after that.
 *
 * A folder STORE-index/ holds two kinds of files:
 *   snapshot                         which tools are the rows, the lexical index, their names, which are copies of
 *                                    each other, and which slot of which
 *                                    vector file each row has; replaced in one step, so a reader has all of the old or
 *                                    all of the new one
 *   vectors-MODEL-KIND-NUMBER        slots of vectors (vectors.h), appended to; what lies past the count that the
 *                                    snapshot file names does not exist. A file that was given up is replaced by
 *                                    one of another number, never rewritten
 *   lock                             held by the one process that writes
 *
 * Everything here can be made again: a file that is cut short, changed, of another byte order or another version is
 * told as WT_ESTORE with a sentence, and the caller makes a new snapshot. The snapshot file and the byte form of the
 * vectors are verified when opened; fp32 vectors when read. Row numbers are those of the content that was written. */
#ifndef WT_INDEX_SNAPSHOT_H
#define WT_INDEX_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/checksum.h"
#include "base/error.h"
#include "base/str.h"
#include "index/copy_groups.h"
#include "index/lexical.h"
#include "index/names.h"
#include "index/vectors.h"

enum {
    SNAPSHOT_MAX_SETS = 6,     /* kinds of vectors beside each other */
    SNAPSHOT_NAME_BYTES = 24,  /* of a kind, with its NUL: letters, digits, '_' */
    SNAPSHOT_MODEL_BYTES = 68, /* of a model's hash, with its NUL: letters and digits */
    SNAPSHOT_BATCH = 4096      /* vectors asked for at once */
};

/* One row. A tool whose text changed has another generation, so that its vectors are asked for again. */
struct snapshot_key {
    int64_t id;
    uint64_t generation;
    uint32_t provider;
    uint32_t id_hash;         /* wt__snapshot_id_hash of the tool's id */
    uint64_t name_hash;       /* wt__document_name_hash: tools that share it are named alike */
    uint64_t provider_hash;   /* wt__provider_hash */
    float provider_precision; /* wt__name_precision */
    uint32_t actions;         /* wt__tool_actions: what its catalogue says that it does */
    uint32_t group;           /* of word-for-word copies (copy_groups.h): where it begins, from 1; 0: of none */
    uint32_t method_twin;     /* 1 if wt__document_method_twin, else 0 */
};

/* 32 bits of a tool's id, by which what was made of another store of the same tools finds its rows. Two tools may
 * share them: for evidence, not for identity. */
static inline uint32_t wt__snapshot_id_hash(struct str id)
{
    return (uint32_t)wt__checksum(id.ptr, id.len, 0);
}

/* Immutable, readable from any number of threads. */
struct snapshot {
    uint64_t generation; /* of the store that it was made from */
    uint64_t settings;   /* of the analyser and the fields: whatever changes the lexical index */
    uint32_t rows;
    const struct snapshot_key *keys; /* [rows] */
    struct lexical lexical;
    struct names names;
    struct copy_groups copies;
    size_t set_count;
    struct snapshot_set {
        const char *model, *kind;
        uint32_t former; /* vectors that are of the kind before, as vector_source tells it */
        struct vectors vectors;
    } sets[SNAPSHOT_MAX_SETS];
    struct snapshot_memory *memory; /* what all of it lies in */
};

/* The sound snapshot of that store generation and settings. Errors: WT_ENOTFOUND (there is none), WT_ESTORE (damaged,
 * or of another generation or settings), WT_ENEWER (written by a newer version), WT_EREADONLY, WT_EIO, WT_ENOMEM. */
int wt__snapshot_open(struct snapshot **out, const char *folder, uint64_t generation, uint64_t settings, wt_error *err);
void wt__snapshot_free(struct snapshot *snapshot);

/* The set of that model and kind, or NULL. */
const struct vectors *wt__snapshot_vectors(const struct snapshot *snapshot, const char *model, const char *kind);

/* The row of a tool, or the number of rows when the snapshot does not hold it. */
size_t wt__snapshot_row(const struct snapshot *snapshot, int64_t id);

/* Checks everything that a search only checks where it meets it: the fp32 of all vectors, the order of terms and
 * postings, that of names, copies, rows within bounds; and that keys are in order of id. WT_ESTORE. */
int wt__snapshot_validate(const struct snapshot *snapshot, wt_error *err);
/* The same of the folder's snapshot, of whatever generation and settings. Errors: those of opening, too. */
int wt__snapshot_check(const char *folder, wt_error *err);

/* Where vectors come from that no older snapshot has: fills vectors [count, dim] for the rows, ascending and at most
 * SNAPSHOT_BATCH. A negative result ends the writing with that code. */
struct vector_source {
    const char *model, *kind;
    size_t dim;
    const bool *has; /* [rows] which rows have a vector; NULL: all. The others stay without one */
    int (*fetch)(void *context, const uint32_t *rows, size_t count, float *vectors, wt_error *err);
    void *context;
    uint32_t former; /* how many vectors are of the kind before, until new ones are made: kept to be told */
};

struct snapshot_content {
    uint64_t generation, settings;
    const struct snapshot_key *keys; /* [rows], ids all different */
    size_t rows;
    const void *lexical; /* of wt__lexical_builder_finish, of as many rows */
    size_t lexical_len;
    const struct vector_source *sources; /* the sets wanted; others are removed */
    size_t source_count;
    struct names names;        /* in order; none where nobody asks for names */
    struct copy_groups copies; /* as keys have them */
};

/* Writes the content as the folder's new snapshot and opens it. Vectors of rows with the same id and generation are
 * kept from the folder's snapshot, whatever its generation; only the missing ones are fetched and appended. When
 * another process wrote this very content meanwhile, that is opened. When fetching fails half-way, what was fetched is
 * kept for the next call.
 * Waits up to wait_ms for another writer (WT_EBUSY). Errors: WT_EREADONLY, WT_EFULL, WT_EIO, WT_EMODEL (a vector is
 * not finite), WT_EINVAL, WT_ENOMEM, those of fetch. */
int wt__snapshot_write(struct snapshot **out, const char *folder, const struct snapshot_content *content,
                       unsigned wait_ms, wt_error *err);

/* The same in memory alone, for a store without a folder or one that cannot be written. Vectors are kept from
 * previous, which may be NULL. */
int wt__snapshot_build(struct snapshot **out, const struct snapshot *previous, const struct snapshot_content *content,
                       wt_error *err);

/* The first of these two that succeeds. "" is no folder: in memory alone, as where anything is wrong with the folder,
 * which makes no difference but time. */
int wt__snapshot_make(struct snapshot **out, const char *folder, unsigned wait_ms, const struct snapshot *previous,
                      const struct snapshot_content *content, wt_error *err);

/* Forgets the folder's snapshot, so that the next write keeps nothing: for when a search met a damaged vector. */
int wt__snapshot_discard(const char *folder, unsigned wait_ms, wt_error *err);

#endif
