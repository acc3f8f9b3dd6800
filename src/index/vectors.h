/* vectors.h: top k by inner product, while reading few of the bytes.
 *
 * Vectors are stored in slots, append-only. A written slot never changes, so a file can grow while other processes read
 * it. A slot belongs to one row (tool) or is dead.
 *
 * Each vector is stored twice: as fp32, which gives the scores, and as signed bytes with a scale. The error of an inner
 * product of bytes is bounded by the rounding error of the vector (Cauchy-Schwarz). A search reads the bytes of all
 * chunks that have an allowed row. Then it reads the fp32 vectors of the slots whose highest possible score reaches the
 * k-th best lower bound. The result equals that of a full fp32 scan, bit for bit.
 *
 * In a large set, a search first reads one bit per value (signs.h), and then the bytes of the slots whose estimated
 * score may reach the k best. The scores are still those of a full fp32 scan. A slot of the k best is missed with a
 * probability below .001, because the error of an estimate has no strict bound.
 *
 * On disk and in memory, slots are grouped in chunks of VECTOR_CHUNK, and each chunk has its own arrays (see
 * vectors.c). Each slot has three checksums. Those of its bytes and its bits are verified when a file is opened, that
 * of its fp32 vector on each read. So opening need not read all fp32 vectors. The fp32 vectors of a large set stay in
 * its file, and are read one by one: they are three quarters of the bytes, and a search needs few of them. */
#ifndef WT_INDEX_VECTORS_H
#define WT_INDEX_VECTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/topk.h"

enum { VECTOR_CHUNK = 2048, VECTOR_PARTS = 10, VECTOR_MAX_DIM = 8192, VECTOR_MAX_QUERIES = 16 };
/* Slots from which on reading signs first is faster. */
enum { SIGNS_LEAST = 32768 };
#define VECTOR_NONE UINT32_MAX /* no slot or no row */

/* The file of a set whose fp32 vectors are read from there. */
struct vector_file {
    int fd;
    uint64_t begin;  /* offset of the first chunk */
    bool heads_only; /* true if the chunks in memory end before their fp32 vectors */
};

/* A view of slots. The caller owns all memory. */
struct vectors {
    const unsigned char *chunks; /* aligned to 64 bytes; VECTOR_CHUNK slots each, the last one padded */
    size_t dim;
    uint32_t slots, rows;
    uint64_t seed; /* seed of the checksums; each vector file has another seed */
    /* [slots] VECTOR_NONE for dead slots. NULL for the slots of another snapshot (wt__snapshot_share_vectors) */
    const uint32_t *row_of_slot;
    const uint32_t *slot_of_row;    /* [rows] VECTOR_NONE for rows without a vector */
    bool reads_signs;               /* true if searches read signs first */
    const struct vector_file *file; /* NULL if the fp32 vectors are read from the chunks */
};

/* An array of a chunk: `size` bytes per slot, starting at `offset`. Blocks of `lanes` slots, usually 1, are
 * interleaved: byte b of slot i is at offset + (i / lanes * size + b) * lanes + i % lanes. */
struct vector_part {
    size_t offset, size, lanes;
};
void wt__vectors_layout(size_t dim, struct vector_part parts[VECTOR_PARTS]);
size_t wt__vectors_chunk_bytes(size_t dim);
/* Bytes of a chunk before its fp32 vectors. */
size_t wt__vectors_head_bytes(size_t dim);
/* Values of a vector with its padding, which reading one from a file needs. */
size_t wt__vectors_padded(size_t dim);

/* Writes vector, [dim], to `slot`, whose chunk is `chunk`. Fails with WT_EMODEL if a value is not finite or the
 * Euclidean length is over 1e15. */
int wt__vectors_put(unsigned char *chunk, size_t dim, uint64_t seed, uint32_t slot, const float *vector, wt_error *err);

/* Verifies what searches read of every slot, except its fp32 vector. Fails with WT_ESTORE. */
int wt__vectors_verify(const struct vectors *vectors, wt_error *err);

/* Verifies all forms of every slot, and that rows and slots refer to each other. Fails with WT_ESTORE. */
int wt__vectors_check(const struct vectors *vectors, wt_error *err);

/* Scratch memory, reused so that warm searches allocate nothing. Initialise with zeros. */
struct vectors_scratch {
    void *block;
    size_t bytes;
    struct vector_candidate *candidates[VECTOR_MAX_QUERIES];
    struct late_slot *late[VECTOR_MAX_QUERIES];
    size_t capacity[VECTOR_MAX_QUERIES], late_capacity[VECTOR_MAX_QUERIES];
};
void wt__vectors_scratch_dispose(struct vectors_scratch *scratch);

/* Finds the k best rows for each of n queries in one pass. queries: [n, dim], finite; out: [n, k], best first; counts:
 * [n] numbers of results. allowed: one bit per row (row & 63 of word row / 64), or NULL for all. Errors: WT_EINVAL (a
 * query is not finite or its length is over 1e15, or n is over VECTOR_MAX_QUERIES), WT_ESTORE (damaged vector),
 * WT_ENOMEM. */
int wt__vectors_search(const struct vectors *vectors, struct vectors_scratch *scratch, const float *queries, size_t n,
                       size_t k, const uint64_t *allowed, struct scored *out, size_t *counts, wt_error *err);
/* Gives the same result for one query by scanning all fp32 vectors. Reference for wt__vectors_search in tests. */
int wt__vectors_search_plain(const struct vectors *vectors, struct vectors_scratch *scratch, const float *query,
                             size_t k, const uint64_t *allowed, struct scored *out, size_t *count, wt_error *err);

/* Computes scores[q][i] of query q and rows[i]. The score is 0 if the row has no vector. queries: [n, dim]. rows may be
 * in any order. Each vector is read and verified once for all queries. Errors as in wt__vectors_search. */
int wt__vectors_score_rows(const struct vectors *vectors, struct vectors_scratch *scratch, const float *queries,
                           size_t n, const uint32_t *rows, size_t count, float *const *scores, wt_error *err);

/* Returns the row's vector, [dim], after verifying it; borrowed. NULL if the row has no vector or it is damaged.
 * storage: [wt__vectors_padded] holds the vector if it is read from a file; may be NULL if vectors->file is NULL. */
const float *wt__vectors_of_row(const struct vectors *vectors, uint32_t row, float *storage);

#endif
