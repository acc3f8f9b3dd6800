/* vectors.c: see vectors.h. One chunk holds, for its VECTOR_CHUNK slots, C slots below:
 *
 *   codes     [C, P] s8    x is about scale * codes; P is dim padded with zeros to a multiple of PAD
 *   scale     [C] fp32
 *   error     [C] fp32     at least |x - scale * codes|
 *   norm      [C] fp32     at least |x|
 *   code_sum  [C] u64      checksum of the four above
 *   row_sum   [C] u64      checksum of x
 *   x         [C, P] fp32
 *
 * The query y is split into two levels of bytes, y = t1 p1 + t2 p2 + e, so that |e| hardly counts; the second pass
 * over a chunk's codes finds them in the cache. Then
 *   |x.y - scale (t1 codes.p1 + t2 codes.p2)|  <=  |y| error + |e| (norm + error) + rounding
 * where rounding covers the fp32 sums of both sides: at most (P + 32) 2^-23 |x| |y|, whatever their order. */
#include "index/vectors.h"

#include <float.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/memory.h"
#include "nn/kernels/kernels.h"

enum { PAD = 64 };
enum { CODES, SCALE, ERROR, NORM, CODE_SUM, ROW_SUM, ROWS };
#define NORM_MAX 1e15

static size_t padded(size_t dim)
{
    return (dim + PAD - 1) / PAD * PAD;
}

void wt__vectors_layout(size_t dim, struct vector_part parts[VECTOR_PARTS])
{
    const size_t sizes[VECTOR_PARTS] = {padded(dim),
                                        sizeof(float),
                                        sizeof(float),
                                        sizeof(float),
                                        sizeof(uint64_t),
                                        sizeof(uint64_t),
                                        padded(dim) * sizeof(float)};
    size_t offset = 0;
    for (size_t i = 0; i < VECTOR_PARTS; i++) {
        parts[i] = (struct vector_part){offset, sizes[i]};
        offset += sizes[i] * VECTOR_CHUNK;
    }
}

size_t wt__vectors_chunk_bytes(size_t dim)
{
    struct vector_part parts[VECTOR_PARTS];
    wt__vectors_layout(dim, parts);
    return parts[ROWS].offset + parts[ROWS].size * VECTOR_CHUNK;
}

/* The arrays of one chunk. */
struct chunk {
    const int8_t *codes;
    const float *scale, *error, *norm;
    const uint64_t *code_sum, *row_sum;
    const float *rows;
};

static struct chunk chunk_at(const struct vectors *vectors, const struct vector_part *parts, size_t number)
{
    const unsigned char *base = vectors->chunks + number * wt__vectors_chunk_bytes(vectors->dim);
    return (struct chunk){
        .codes = (const int8_t *)base,
        .scale = (const float *)(base + parts[SCALE].offset),
        .error = (const float *)(base + parts[ERROR].offset),
        .norm = (const float *)(base + parts[NORM].offset),
        .code_sum = (const uint64_t *)(base + parts[CODE_SUM].offset),
        .row_sum = (const uint64_t *)(base + parts[ROW_SUM].offset),
        .rows = (const float *)(base + parts[ROWS].offset),
    };
}

static uint64_t sum_of_codes(const int8_t *codes, size_t stride, float scale, float error, float norm, uint64_t seed)
{
    const float notes[] = {scale, error, norm};
    return wt__checksum(notes, sizeof notes, wt__checksum(codes, stride, seed));
}

/* A float not below the number. */
static float round_up(double number)
{
    return (float)(number * (1 + 1e-6)) + FLT_MIN;
}

static double length_of(const float *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)x[i] * x[i];
    return sqrt(sum);
}

/* codes [n] and their scale for x; rest [n] = x - scale * codes. */
static float quantise(const float *x, size_t n, int8_t *codes, float *rest)
{
    float max = 0;
    for (size_t i = 0; i < n; i++)
        max = fabsf(x[i]) > max ? fabsf(x[i]) : max;
    float scale = max / 127;
    if (scale < FLT_MIN)
        scale = 0;
    for (size_t i = 0; i < n; i++) {
        float code = scale > 0 ? rintf(x[i] / scale) : 0;
        code = code > 127 ? 127 : code < -127 ? -127 : code;
        codes[i] = (int8_t)code;
        rest[i] = (float)((double)x[i] - (double)scale * code);
    }
    return scale;
}

int wt__vectors_put(unsigned char *chunk, size_t dim, uint64_t seed, uint32_t slot, const float *vector, wt_error *err)
{
    struct vector_part parts[VECTOR_PARTS];
    size_t stride = padded(dim), at = slot % VECTOR_CHUNK;
    wt__vectors_layout(dim, parts);
    double norm = length_of(vector, dim);
    if (!(norm <= NORM_MAX))
        return wt__fail(err, WT_EMODEL, "a vector is not finite");
    int8_t *codes = (int8_t *)(chunk + at * stride);
    float *row = (float *)(chunk + parts[ROWS].offset) + at * stride;
    float *scale = (float *)(chunk + parts[SCALE].offset) + at, *error = (float *)(chunk + parts[ERROR].offset) + at;
    memset(codes, 0, stride);
    *scale = quantise(vector, dim, codes, row);
    *error = round_up(length_of(row, dim));
    ((float *)(chunk + parts[NORM].offset))[at] = round_up(norm);
    memset(row, 0, stride * sizeof *row);
    memcpy(row, vector, dim * sizeof *row);
    ((uint64_t *)(chunk + parts[CODE_SUM].offset))[at] =
        sum_of_codes(codes, stride, *scale, *error, round_up(norm), seed + slot);
    ((uint64_t *)(chunk + parts[ROW_SUM].offset))[at] = wt__checksum(row, stride * sizeof *row, seed + slot);
    return 0;
}

int wt__vectors_verify(const struct vectors *vectors, wt_error *err)
{
    struct vector_part parts[VECTOR_PARTS];
    size_t stride = padded(vectors->dim);
    wt__vectors_layout(vectors->dim, parts);
    for (uint32_t slot = 0; slot < vectors->slots; slot++) {
        struct chunk chunk = chunk_at(vectors, parts, slot / VECTOR_CHUNK);
        size_t i = slot % VECTOR_CHUNK;
        if (sum_of_codes(chunk.codes + i * stride, stride, chunk.scale[i], chunk.error[i], chunk.norm[i],
                         vectors->seed + slot) != chunk.code_sum[i])
            return wt__fail(err, WT_ESTORE, "vector %u is damaged", slot);
    }
    return 0;
}

/* The slot's fp32, verified, or NULL. */
static const float *row_at(const struct vectors *vectors, const struct vector_part *parts, uint32_t slot)
{
    struct chunk chunk = chunk_at(vectors, parts, slot / VECTOR_CHUNK);
    size_t stride = padded(vectors->dim), i = slot % VECTOR_CHUNK;
    const float *row = chunk.rows + i * stride;
    return wt__checksum(row, stride * sizeof *row, vectors->seed + slot) == chunk.row_sum[i] ? row : NULL;
}

const float *wt__vectors_of_row(const struct vectors *vectors, uint32_t row)
{
    struct vector_part parts[VECTOR_PARTS];
    uint32_t slot = row < vectors->rows ? vectors->slot_of_row[row] : VECTOR_NONE;
    wt__vectors_layout(vectors->dim, parts);
    return slot < vectors->slots ? row_at(vectors, parts, slot) : NULL;
}

void wt__vectors_scratch_dispose(struct vectors_scratch *scratch)
{
    free(scratch->block);
    *scratch = (struct vectors_scratch){0};
}

/* One search: the query in its three forms, and the scratch cut into arrays. */
struct scan {
    const struct vectors *vectors;
    const uint64_t *allowed;
    struct vector_part parts[VECTOR_PARTS];
    size_t stride;
    float *query;         /* [P] */
    int8_t *high, *low;   /* [P] p1 and p2 */
    float *rest;          /* [P] */
    int32_t *dots;        /* [2, C] */
    float *upper;         /* [slots up to a whole chunk] */
    struct scored *lower; /* [k] */
    float high_scale, low_scale;
    float error_weight, norm_weight; /* |y| + |e|, and |e| + rounding */
};

static size_t take(size_t *at, size_t bytes)
{
    size_t offset = *at;
    *at += (bytes + PAD - 1) / PAD * PAD;
    return offset;
}

static int scan_begin(struct scan *scan, const struct vectors *vectors, struct vectors_scratch *scratch,
                      const float *query, const uint64_t *allowed, size_t k, wt_error *err)
{
    size_t stride = padded(vectors->dim), bytes = 0;
    size_t slots = ((size_t)vectors->slots + VECTOR_CHUNK - 1) / VECTOR_CHUNK * VECTOR_CHUNK;
    double norm = length_of(query, vectors->dim);
    if (!(norm <= NORM_MAX))
        return wt__fail(err, WT_EUSAGE, "the request's vector is not finite");
    size_t query_at = take(&bytes, stride * sizeof(float)), rest_at = take(&bytes, stride * sizeof(float));
    size_t high_at = take(&bytes, stride), low_at = take(&bytes, stride);
    size_t dots_at = take(&bytes, 2 * VECTOR_CHUNK * sizeof(int32_t)), upper_at = take(&bytes, slots * sizeof(float));
    size_t lower_at = take(&bytes, k * sizeof(struct scored));
    if (bytes > scratch->bytes) {
        wt__vectors_scratch_dispose(scratch);
        scratch->block = wt__alloc_aligned(bytes, 1);
        if (!scratch->block)
            return wt__fail_nomem(err);
        scratch->bytes = bytes;
    }
    char *base = scratch->block;
    *scan = (struct scan){.vectors = vectors,
                          .allowed = allowed,
                          .stride = stride,
                          .query = (float *)(base + query_at),
                          .high = (int8_t *)(base + high_at),
                          .low = (int8_t *)(base + low_at),
                          .rest = (float *)(base + rest_at),
                          .dots = (int32_t *)(base + dots_at),
                          .upper = (float *)(base + upper_at),
                          .lower = (struct scored *)(base + lower_at)};
    wt__vectors_layout(vectors->dim, scan->parts);
    memset(scan->query, 0, stride * sizeof(float));
    memcpy(scan->query, query, vectors->dim * sizeof(float));
    scan->high_scale = quantise(scan->query, stride, scan->high, scan->rest);
    scan->low_scale = quantise(scan->rest, stride, scan->low, scan->rest);
    double rest = round_up(length_of(scan->rest, stride)) + 1e-7 * norm;
    scan->error_weight = round_up(norm + rest);
    scan->norm_weight = round_up(rest + (double)(stride + 32) * 0x1p-23 * norm);
    return 0;
}

/* The slot's row if a search may return it, else VECTOR_NONE. */
static uint32_t wanted_row(const struct scan *scan, uint32_t slot)
{
    uint32_t row = scan->vectors->row_of_slot[slot];
    if (row >= scan->vectors->rows)
        return VECTOR_NONE;
    return !scan->allowed || scan->allowed[row / 64] >> row % 64 & 1 ? row : VECTOR_NONE;
}

static bool any_wanted(const struct scan *scan, uint32_t begin, uint32_t count)
{
    for (uint32_t i = 0; scan->allowed && i < count; i++)
        if (wanted_row(scan, begin + i) != VECTOR_NONE)
            return true;
    return !scan->allowed;
}

/* Bounds the scores of one chunk's slots: upper to scan->upper, and the k best lower ones into top. */
static void bound_chunk(struct scan *scan, uint32_t begin, uint32_t count, struct topk *top)
{
    struct chunk chunk = chunk_at(scan->vectors, scan->parts, begin / VECTOR_CHUNK);
    const struct kernels *kernels = wt__kernels();
    int32_t *high = scan->dots, *low = scan->dots + VECTOR_CHUNK;
    float lower[VECTOR_CHUNK], *upper = scan->upper + begin;
    kernels->dots_i8(scan->high, chunk.codes, count, scan->stride, high);
    kernels->dots_i8(scan->low, chunk.codes, count, scan->stride, low);
    for (uint32_t i = 0; i < count; i++) {
        float middle = chunk.scale[i] * (scan->high_scale * (float)high[i] + scan->low_scale * (float)low[i]);
        float bound = chunk.error[i] * scan->error_weight + chunk.norm[i] * scan->norm_weight;
        upper[i] = middle + bound;
        lower[i] = middle - bound;
    }
    float threshold = wt__topk_threshold(top);
    for (uint32_t i = 0; i < count; i++) {
        if (!(lower[i] > threshold))
            continue;
        uint32_t row = wanted_row(scan, begin + i);
        if (row == VECTOR_NONE)
            continue;
        wt__topk_push(top, (struct scored){lower[i], row});
        threshold = wt__topk_threshold(top);
    }
}

/* Every slot's upper bound; returns the k-th best lower bound. Slots that no result may hold have no chance. */
static float bound_all(struct scan *scan, size_t k)
{
    struct topk top = {scan->lower, 0, k};
    for (uint32_t begin = 0; begin < scan->vectors->slots; begin += VECTOR_CHUNK) {
        uint32_t left = scan->vectors->slots - begin, count = left < VECTOR_CHUNK ? left : VECTOR_CHUNK;
        if (any_wanted(scan, begin, count)) {
            bound_chunk(scan, begin, count, &top);
        } else {
            for (uint32_t i = 0; i < count; i++)
                scan->upper[begin + i] = -INFINITY;
        }
    }
    return wt__topk_threshold(&top);
}

static int damaged(uint32_t slot, wt_error *err)
{
    return wt__fail(err, WT_ESTORE, "vector %u is damaged", slot);
}

/* Pushes the exact scores of the slots whose upper bound reaches the threshold. */
static int score_slots(const struct scan *scan, float threshold, const float *upper, struct topk *top, wt_error *err)
{
    const struct kernels *kernels = wt__kernels();
    for (uint32_t slot = 0; slot < scan->vectors->slots; slot++) {
        if (upper && upper[slot] < threshold)
            continue;
        uint32_t row = wanted_row(scan, slot);
        if (row == VECTOR_NONE)
            continue;
        const float *vector = row_at(scan->vectors, scan->parts, slot);
        if (!vector)
            return damaged(slot, err);
        struct scored candidate = {.row = row};
        kernels->dots_f32(scan->query, vector, 1, scan->stride, &candidate.score);
        wt__topk_push(top, candidate);
    }
    wt__topk_sort(top);
    return 0;
}

int wt__vectors_search(const struct vectors *vectors, struct vectors_scratch *scratch, const float *query, size_t k,
                       const uint64_t *allowed, struct scored *out, size_t *count, wt_error *err)
{
    struct scan scan;
    *count = 0;
    k = k < vectors->slots ? k : vectors->slots;
    int rc = scan_begin(&scan, vectors, scratch, query, allowed, k, err);
    if (rc < 0 || k == 0)
        return rc;
    struct topk top = {out, 0, k};
    float threshold = bound_all(&scan, k);
    rc = score_slots(&scan, threshold, scan.upper, &top, err);
    *count = rc == 0 ? top.len : 0;
    return rc;
}

int wt__vectors_search_plain(const struct vectors *vectors, struct vectors_scratch *scratch, const float *query,
                             size_t k, const uint64_t *allowed, struct scored *out, size_t *count, wt_error *err)
{
    struct scan scan;
    *count = 0;
    k = k < vectors->slots ? k : vectors->slots;
    int rc = scan_begin(&scan, vectors, scratch, query, allowed, k, err);
    if (rc < 0 || k == 0)
        return rc;
    struct topk top = {out, 0, k};
    rc = score_slots(&scan, -INFINITY, NULL, &top, err);
    *count = rc == 0 ? top.len : 0;
    return rc;
}

int wt__vectors_score_rows(const struct vectors *vectors, struct vectors_scratch *scratch, const float *query,
                           const uint32_t *rows, size_t count, float *scores, wt_error *err)
{
    struct scan scan;
    int rc = scan_begin(&scan, vectors, scratch, query, NULL, 0, err);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        uint32_t slot = rows[i] < vectors->rows ? vectors->slot_of_row[rows[i]] : VECTOR_NONE;
        scores[i] = 0;
        if (slot >= vectors->slots)
            continue;
        const float *vector = row_at(vectors, scan.parts, slot);
        if (!vector)
            rc = damaged(slot, err);
        else
            wt__kernels()->dots_f32(scan.query, vector, 1, scan.stride, &scores[i]);
    }
    return rc;
}
