/* vectors.h: the exact top k of inner products with one query, reading a quarter of the bytes.
 *
 * Vectors live in slots, S of them, append-only: a slot that was written never changes, so that a file of them can
 * grow under its readers. A slot belongs to one row (tool) or is dead. Each vector is kept twice: as fp32, which
 * decides, and as signed bytes with a scale, whose inner product is off by at most a bound known from the row's own
 * rounding error (Cauchy and Schwarz). A search reads the bytes of all slots, then the fp32 of only those whose upper
 * bound reaches the k-th best lower bound: the result is that of the fp32 scan, bit for bit.
 *
 * On disk and in memory: chunks of VECTOR_CHUNK slots, each chunk its own arrays (see vectors.c). Every slot carries
 * a checksum of its bytes, verified when a file is opened, and one of its fp32, verified whenever that is read: a cold
 * process must not read all of it first, and the check costs less than the memory access before it. */
#ifndef WT_INDEX_VECTORS_H
#define WT_INDEX_VECTORS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/topk.h"

enum { VECTOR_CHUNK = 256, VECTOR_PARTS = 7, VECTOR_MAX_DIM = 8192, VECTOR_MAX_QUERIES = 16 };
#define VECTOR_NONE UINT32_MAX /* no such slot; no such row */

/* A view of slots; all memory belongs to the caller. */
struct vectors {
    const unsigned char *chunks; /* on a 64-byte boundary; VECTOR_CHUNK slots each, the last one padded */
    size_t dim;
    uint32_t slots, rows;
    uint64_t seed;               /* of the checksums: tells one file's slots from another's */
    const uint32_t *row_of_slot; /* [slots] VECTOR_NONE: dead */
    const uint32_t *slot_of_row; /* [rows] VECTOR_NONE: has no vector */
};

/* One array of a chunk: `size` bytes a slot, from `offset` on. */
struct vector_part {
    size_t offset, size;
};
void wt__vectors_layout(size_t dim, struct vector_part parts[VECTOR_PARTS]);
size_t wt__vectors_chunk_bytes(size_t dim);

/* Writes vector [dim] into its slot's place in chunk, the one that the slot belongs to. WT_EMODEL when a value is not
 * finite or the length over 1e15. */
int wt__vectors_put(unsigned char *chunk, size_t dim, uint64_t seed, uint32_t slot, const float *vector, wt_error *err);

/* Checks the byte form of every slot; WT_ESTORE when one is damaged. */
int wt__vectors_verify(const struct vectors *vectors, wt_error *err);

/* Checks the fp32 of every slot too, and that rows and slots name each other; WT_ESTORE. */
int wt__vectors_check(const struct vectors *vectors, wt_error *err);

/* Reused from search to search, so that a warm one allocates nothing. All zero at first. */
struct vectors_scratch {
    void *block;
    size_t bytes;
    struct vector_candidate *candidates[VECTOR_MAX_QUERIES];
    size_t capacity[VECTOR_MAX_QUERIES];
};
void wt__vectors_scratch_dispose(struct vectors_scratch *scratch);

/* The k best rows for each of n queries, in one pass. queries: [n, dim], finite; out: [n, k], each best first;
 * counts: [n] how many. allowed: a bit a row (row & 63 of word row / 64), or NULL for all.
 * Errors: WT_EINVAL (a query is not finite, or n is over VECTOR_MAX_QUERIES), WT_ESTORE (a damaged vector was met),
 * WT_ENOMEM. */
int wt__vectors_search(const struct vectors *vectors, struct vectors_scratch *scratch, const float *queries, size_t n,
                       size_t k, const uint64_t *allowed, struct scored *out, size_t *counts, wt_error *err);
/* The same for one query, by the fp32 of every slot: what the search must equal. */
int wt__vectors_search_plain(const struct vectors *vectors, struct vectors_scratch *scratch, const float *query,
                             size_t k, const uint64_t *allowed, struct scored *out, size_t *count, wt_error *err);

/* scores[q][i] of query q and rows[i], in any order; 0 for a row without a vector. queries: [n, D]. Each vector is
 * read, and verified, once. Errors as in search. */
int wt__vectors_score_rows(const struct vectors *vectors, struct vectors_scratch *scratch, const float *queries,
                           size_t n, const uint32_t *rows, size_t count, float *const *scores, wt_error *err);

/* The row's vector, [dim], verified: borrowed from the view. NULL when it has none or is damaged. */
const float *wt__vectors_of_row(const struct vectors *vectors, uint32_t row);

#endif
