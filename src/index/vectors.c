/* vectors.c: stores and searches vectors (vectors.h).
 *
 * A chunk contains these arrays. C is VECTOR_CHUNK. P is dim rounded up to a multiple of PAD; vectors are padded with
 * zeros. x is the vector of a slot.
 *
 *   signs     [C, P] bits  signs of x after a rotation, in blocks (signs.h)
 *   factor    [C] fp32     factor of signs
 *   sign_sum  [C] u32      checksum of signs and factor
 *   codes     [C, P] s8    x is about scale * codes
 *   scale     [C] fp32
 *   error     [C] fp32     at least |x - scale * codes|
 *   norm      [C] fp32     at least |x|
 *   code_sum  [C] u64      checksum of codes, scale, error and norm
 *   row_sum   [C] u64      checksum of x
 *   x         [C, P] fp32
 *
 * The query y is quantised to bytes p1 with scale t1: y = t1 p1 + e1. The rest e1 is quantised again: e1 = t2 p2 + e2.
 * Then
 *   |x.y - scale t1 codes.p1|                   <=  |y| error + |e1| (norm + error) + rounding      coarse
 *   |x.y - scale (t1 codes.p1 + t2 codes.p2)|   <=  |y| error + |e2| (norm + error) + rounding      fine
 * `rounding` covers the fp32 sums on both sides: at most (P + 32) 2^-23 |x| |y|, in any order. The coarse bound is
 * computed for every slot. The fine bound is about half as wide, because |e2| is negligible. It is computed for the
 * slots that the coarse bound leaves. */
#include "index/vectors.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/file.h"
#include "base/memory.h"
#include "index/lexical.h"
#include "index/signs.h"
#include "nn/kernels/kernels.h"

enum {
    PAD = 64,
    PAGE = 4096,
    FETCHED_AHEAD = 8 /* slots whose bytes are fetched at once */
};
/* Arrays of a chunk, in order. */
enum { SIGNS, FACTOR, SIGN_SUM, CODES, SCALE, ERROR, NORM, CODE_SUM, ROW_SUM, ROWS };
#define NORM_MAX 1e15

size_t wt__vectors_padded(size_t dim)
{
    return (dim + PAD - 1) / PAD * PAD;
}

void wt__vectors_layout(size_t dim, struct vector_part parts[VECTOR_PARTS])
{
    const size_t stride = wt__vectors_padded(dim), number = sizeof(float), sum = sizeof(uint64_t);
    const size_t sizes[VECTOR_PARTS] = {
        wt__signs_bytes(stride), number, number, stride, number, number, number, sum, sum, stride * number};
    size_t offset = 0;
    for (size_t i = 0; i < VECTOR_PARTS; i++) {
        parts[i] = (struct vector_part){offset, sizes[i], i == SIGNS ? WT_BIT_ROWS : 1};
        offset += sizes[i] * VECTOR_CHUNK;
    }
}

static size_t count_chunk_bytes(const struct vector_part parts[VECTOR_PARTS])
{
    return parts[ROWS].offset + parts[ROWS].size * VECTOR_CHUNK;
}

size_t wt__vectors_chunk_bytes(size_t dim)
{
    struct vector_part parts[VECTOR_PARTS];
    wt__vectors_layout(dim, parts);
    return count_chunk_bytes(parts);
}

size_t wt__vectors_head_bytes(size_t dim)
{
    struct vector_part parts[VECTOR_PARTS];
    wt__vectors_layout(dim, parts);
    return parts[ROWS].offset;
}

/* Arrays of one chunk. `rows` is only valid if the chunk has them. */
struct chunk_view {
    const unsigned char *signs;
    const float *factor;
    const uint32_t *sign_sum;
    const int8_t *codes;
    const float *scale, *error, *norm;
    const uint64_t *code_sum, *row_sum;
    const float *rows;
};

static struct chunk_view view_chunk(const struct vectors *vectors, const struct vector_part *parts, size_t number)
{
    bool heads_only = vectors->file && vectors->file->heads_only;
    const unsigned char *base = vectors->chunks + number * (heads_only ? parts[ROWS].offset : count_chunk_bytes(parts));
    return (struct chunk_view){
        .signs = base,
        .factor = (const float *)(base + parts[FACTOR].offset),
        .sign_sum = (const uint32_t *)(base + parts[SIGN_SUM].offset),
        .codes = (const int8_t *)(base + parts[CODES].offset),
        .scale = (const float *)(base + parts[SCALE].offset),
        .error = (const float *)(base + parts[ERROR].offset),
        .norm = (const float *)(base + parts[NORM].offset),
        .code_sum = (const uint64_t *)(base + parts[CODE_SUM].offset),
        .row_sum = (const uint64_t *)(base + parts[ROW_SUM].offset),
        .rows = (const float *)(base + parts[ROWS].offset),
    };
}

/* Computes code_sum. The three numbers are mixed into the seed, so that a slot needs only one call of wt__checksum.
 * Opening a file checks every slot. */
static uint64_t compute_code_sum(const int8_t *codes, size_t stride, float scale, float error, float norm,
                                 uint64_t seed)
{
    const float notes[] = {scale, error, norm};
    uint32_t bits[3];
    memcpy(bits, notes, sizeof bits);
    seed += bits[0] * 0x9E3779B97F4A7C15u + bits[1] * 0xC2B2AE3D27D4EB4Fu + bits[2] * 0x165667B19E3779F9u;
    return wt__checksum(codes, stride, seed);
}

/* Computes the checksums of signs and factors of the block with `slot`. */
static void compute_sign_sums(const unsigned char *block, const float *factors, size_t stride, uint64_t seed,
                              uint32_t sums[WT_BIT_ROWS])
{
    for (size_t i = 0; i < WT_BIT_ROWS; i++) {
        uint32_t bits;
        memcpy(&bits, &factors[i], sizeof bits);
        sums[i] = (uint32_t)((seed + i) * 0x9E3779B97F4A7C15u >> 32) ^ bits;
    }
    wt__signs_checksums(block, stride, sums);
}

/* Returns a float not less than the number, which must not be negative. */
static float round_up(double number)
{
    return (float)(number * (1 + 1e-6)) + FLT_MIN;
}

static double vector_length(const float *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)x[i] * x[i];
    return sqrt(sum);
}

/* Quantises x, [n], to codes, [n], and returns the scale of the codes. rest, [n], is x - scale * codes and may be x. */
static float quantise_vector(const float *x, size_t n, int8_t *codes, float *rest)
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

/* Copies vector, [dim], to row, [P], and returns row. */
static float *pad_row(float *row, const float *vector, size_t dim)
{
    memset(row, 0, wt__vectors_padded(dim) * sizeof *row);
    memcpy(row, vector, dim * sizeof *row);
    return row;
}

/* Writes signs, factor and their checksum. Overwrites x, [P]. seed: seed of this slot. */
static void put_signs(unsigned char *chunk, const struct vector_part *parts, size_t at, float *x, uint64_t seed)
{
    size_t stride = parts[CODES].size, first = at / WT_BIT_ROWS * WT_BIT_ROWS, lane = at % WT_BIT_ROWS;
    unsigned char *block = chunk + parts[SIGNS].offset + first * parts[SIGNS].size;
    float *factors = (float *)(chunk + parts[FACTOR].offset) + first;
    uint32_t sums[WT_BIT_ROWS];
    factors[lane] = wt__signs_put(block, lane, x, stride);
    compute_sign_sums(block, factors, stride, seed - lane, sums);
    ((uint32_t *)(chunk + parts[SIGN_SUM].offset))[at] = sums[lane];
}

int wt__vectors_put(unsigned char *chunk, size_t dim, uint64_t seed, uint32_t slot, const float *vector, wt_error *err)
{
    struct vector_part parts[VECTOR_PARTS];
    size_t stride = wt__vectors_padded(dim), at = slot % VECTOR_CHUNK;
    wt__vectors_layout(dim, parts);
    double norm = vector_length(vector, dim);
    if (!(norm <= NORM_MAX))
        return wt__fail(err, WT_EMODEL, "a vector is not finite");
    int8_t *codes = (int8_t *)(chunk + parts[CODES].offset + at * stride);
    float *row = (float *)(chunk + parts[ROWS].offset) + at * stride;
    float *scale = (float *)(chunk + parts[SCALE].offset) + at, *error = (float *)(chunk + parts[ERROR].offset) + at;
    memset(codes, 0, stride);
    *scale = quantise_vector(vector, dim, codes, row);
    *error = round_up(vector_length(row, dim));
    ((float *)(chunk + parts[NORM].offset))[at] = round_up(norm);
    put_signs(chunk, parts, at, pad_row(row, vector, dim), seed + slot);
    pad_row(row, vector, dim);
    ((uint64_t *)(chunk + parts[CODE_SUM].offset))[at] =
        compute_code_sum(codes, stride, *scale, *error, round_up(norm), seed + slot);
    ((uint64_t *)(chunk + parts[ROW_SUM].offset))[at] = wt__checksum(row, stride * sizeof *row, seed + slot);
    return 0;
}

static int verify_signs(const struct vectors *vectors, wt_error *err)
{
    struct vector_part parts[VECTOR_PARTS];
    uint32_t sums[WT_BIT_ROWS];
    wt__vectors_layout(vectors->dim, parts);
    for (uint32_t slot = 0; slot < vectors->slots; slot++) {
        struct chunk_view chunk = view_chunk(vectors, parts, slot / VECTOR_CHUNK);
        size_t i = slot % VECTOR_CHUNK, lane = i % WT_BIT_ROWS;
        if (lane == 0)
            compute_sign_sums(chunk.signs + i * parts[SIGNS].size, chunk.factor + i, parts[CODES].size,
                              vectors->seed + slot, sums);
        if (sums[lane] != chunk.sign_sum[i])
            return wt__fail(err, WT_ESTORE, "vector %u is damaged", slot);
    }
    return 0;
}

int wt__vectors_verify(const struct vectors *vectors, wt_error *err)
{
    struct vector_part parts[VECTOR_PARTS];
    size_t stride = wt__vectors_padded(vectors->dim);
    wt__vectors_layout(vectors->dim, parts);
    if (vectors->reads_signs)
        WT_TRY(verify_signs(vectors, err));
    for (uint32_t slot = 0; slot < vectors->slots; slot++) {
        struct chunk_view chunk = view_chunk(vectors, parts, slot / VECTOR_CHUNK);
        size_t i = slot % VECTOR_CHUNK;
        if (compute_code_sum(chunk.codes + i * stride, stride, chunk.scale[i], chunk.error[i], chunk.norm[i],
                             vectors->seed + slot) != chunk.code_sum[i])
            return wt__fail(err, WT_ESTORE, "vector %u is damaged", slot);
    }
    return 0;
}

/* Returns the slot's fp32 vector after verifying it. Returns NULL if it is damaged. storage: as in
 * wt__vectors_of_row. */
static const float *read_row(const struct vectors *vectors, const struct vector_part *parts, uint32_t slot,
                             float *storage)
{
    struct chunk_view chunk = view_chunk(vectors, parts, slot / VECTOR_CHUNK);
    const struct vector_file *file = vectors->file;
    size_t i = slot % VECTOR_CHUNK, bytes = parts[ROWS].size;
    const float *row = file ? storage : chunk.rows + i * (bytes / sizeof *row);
    uint64_t offset = (uint64_t)(slot / VECTOR_CHUNK) * count_chunk_bytes(parts) + parts[ROWS].offset + i * bytes;
    if (file && wt__file_read_at(file->fd, storage, bytes, (off_t)(file->begin + offset)) != (ssize_t)bytes)
        return NULL;
    return wt__checksum(row, bytes, vectors->seed + slot) == chunk.row_sum[i] ? row : NULL;
}

int wt__vectors_check(const struct vectors *vectors, wt_error *err)
{
    struct vector_part parts[VECTOR_PARTS];
    wt__vectors_layout(vectors->dim, parts);
    WT_AUTO_FREE float *storage = wt__alloc_array(wt__vectors_padded(vectors->dim), sizeof *storage);
    WT_CHECK_ALLOC(storage, err);
    for (uint32_t slot = 0; slot < vectors->slots; slot++) {
        uint32_t row = vectors->row_of_slot[slot];
        if (!read_row(vectors, parts, slot, storage))
            return wt__fail(err, WT_ESTORE, "vector %u is damaged", slot);
        if (row != VECTOR_NONE && (row >= vectors->rows || vectors->slot_of_row[row] != slot))
            return wt__fail(err, WT_ESTORE, "damaged: vector %u does not belong to its row", slot);
    }
    for (uint32_t row = 0; row < vectors->rows; row++) {
        uint32_t slot = vectors->slot_of_row[row];
        if (slot != VECTOR_NONE && (slot >= vectors->slots || vectors->row_of_slot[slot] != row))
            return wt__fail(err, WT_ESTORE, "damaged: row %u does not belong to its vector", row);
    }
    if (!vectors->reads_signs)
        WT_TRY(verify_signs(vectors, err));
    return wt__vectors_verify(vectors, err);
}

const float *wt__vectors_of_row(const struct vectors *vectors, uint32_t row, float *storage)
{
    struct vector_part parts[VECTOR_PARTS];
    uint32_t slot = row < vectors->rows ? vectors->slot_of_row[row] : VECTOR_NONE;
    wt__vectors_layout(vectors->dim, parts);
    return slot < vectors->slots ? read_row(vectors, parts, slot, storage) : NULL;
}

void wt__vectors_scratch_dispose(struct vectors_scratch *scratch)
{
    free(scratch->block);
    for (size_t i = 0; i < VECTOR_MAX_QUERIES; i++) {
        free(scratch->candidates[i]);
        free(scratch->late[i]);
    }
    *scratch = (struct vectors_scratch){0};
}

/* A slot whose row may be among the k best. */
struct vector_candidate {
    uint32_t slot, row;
    float upper; /* fine upper bound of the score */
};

/* A slot whose bytes are read at the end of a scan, if its highest likely score still reaches the threshold. */
struct late_slot {
    uint32_t slot;
    float upper;
};

/* Factors of the distance from an approximate score to its bounds. The distance is error * .error + norm * .norm, with
 * the error and the norm of the slot. */
struct bound_factors {
    float error, norm;
};

/* A query as fp32 and as two levels of bytes, with its intermediate results. */
struct query_form {
    float *query;                /* [P] */
    int8_t *high, *low;          /* [P] p1 and p2 */
    float high_scale, low_scale; /* t1 and t2 */
    struct bound_factors coarse, fine;
    unsigned char *tables; /* tables of signs */
    struct sign_query signs;
    uint32_t *waiting; /* [C] slots whose estimates are among the k best; their bytes are being fetched */
    uint32_t waiting_count;
    size_t late_count; /* number of late slots in the scratch memory */
    struct topk lower; /* k best lower bounds */
    size_t candidates; /* number of candidates in the scratch memory */
};

struct vector_scan {
    const struct vectors *vectors;
    const uint64_t *allowed;
    struct vectors_scratch *scratch;
    struct vector_part parts[VECTOR_PARTS];
    size_t stride, n;
    bool reads_signs;
    int32_t *dots;  /* [C] inner products of a chunk's codes with `high` of a query */
    uint16_t *sums; /* [C] sums of a chunk's signs */
    float *rest;    /* [P] e1, then e2 */
    float *row;     /* [P] fp32 vector that was read from the file */
    struct query_form forms[VECTOR_MAX_QUERIES];
};

/* Reserves bytes at offset *at and advances *at, aligned to PAD. Returns the offset of the bytes. */
static size_t take_scratch(size_t *at, size_t bytes)
{
    size_t offset = *at;
    *at += (bytes + PAD - 1) / PAD * PAD;
    return offset;
}

/* Divides the scratch memory into the arrays of a scan for n queries. */
static int reserve_scan(struct vector_scan *scan, size_t k, wt_error *err)
{
    size_t at = 0, form_bytes = 0, stride = scan->stride, floats = stride * sizeof(float);
    size_t dots = take_scratch(&at, VECTOR_CHUNK * sizeof(int32_t)), rest = take_scratch(&at, floats);
    size_t row = take_scratch(&at, floats), sums = take_scratch(&at, VECTOR_CHUNK * sizeof(uint16_t)), forms = at;
    size_t query = take_scratch(&form_bytes, floats), high = take_scratch(&form_bytes, stride),
           low = take_scratch(&form_bytes, stride);
    size_t lower = take_scratch(&form_bytes, k * sizeof(struct scored));
    size_t tables = take_scratch(&form_bytes, scan->reads_signs ? wt__signs_table_bytes(stride) : 0);
    size_t waiting = take_scratch(&form_bytes, scan->reads_signs ? VECTOR_CHUNK * sizeof(uint32_t) : 0);
    size_t bytes = forms + scan->n * form_bytes;
    struct vectors_scratch *scratch = scan->scratch;
    if (bytes > scratch->bytes) {
        free(scratch->block);
        scratch->block = wt__alloc_aligned(bytes, 1);
        scratch->bytes = scratch->block ? bytes : 0;
        WT_CHECK_ALLOC(scratch->block, err);
    }
    char *base = scratch->block;
    scan->dots = (int32_t *)(base + dots);
    scan->rest = (float *)(base + rest);
    scan->row = (float *)(base + row);
    scan->sums = (uint16_t *)(base + sums);
    for (size_t i = 0; i < scan->n; i++) {
        char *form = base + forms + i * form_bytes;
        scan->forms[i] = (struct query_form){.query = (float *)(form + query),
                                             .high = (int8_t *)(form + high),
                                             .low = (int8_t *)(form + low),
                                             .tables = (unsigned char *)(form + tables),
                                             .waiting = (uint32_t *)(form + waiting),
                                             .lower = {(struct scored *)(form + lower), 0, k}};
    }
    return 0;
}

/* Returns the bound factors of a query. norm: length of the query. rest: part of the query that its bytes do not
 * represent. */
static struct bound_factors compute_bound_width(double norm, const float *rest, size_t stride)
{
    double left = round_up(vector_length(rest, stride)) + 1e-7 * norm;
    return (struct bound_factors){round_up(norm + left), round_up(left + (double)(stride + 32) * 0x1p-23 * norm)};
}

static int set_query(struct vector_scan *scan, struct query_form *form, const float *query, wt_error *err)
{
    size_t stride = scan->stride, dim = scan->vectors->dim;
    double norm = vector_length(query, dim);
    if (!(norm <= NORM_MAX))
        return wt__fail(err, WT_EINVAL, "the request's vector is not finite");
    memset(form->query, 0, stride * sizeof(float));
    memcpy(form->query, query, dim * sizeof(float));
    form->high_scale = quantise_vector(form->query, stride, form->high, scan->rest);
    form->coarse = compute_bound_width(norm, scan->rest, stride);
    form->low_scale = quantise_vector(scan->rest, stride, form->low, scan->rest);
    form->fine = compute_bound_width(norm, scan->rest, stride);
    if (scan->reads_signs)
        form->signs = wt__signs_prepare(pad_row(scan->rest, query, dim), stride, norm, form->tables);
    return 0;
}

/* k: 0 if the scan searches nothing. */
static int begin_scan(struct vector_scan *scan, const struct vectors *vectors, struct vectors_scratch *scratch,
                      const float *queries, size_t n, const uint64_t *allowed, size_t k, wt_error *err)
{
    *scan = (struct vector_scan){
        .vectors = vectors, .allowed = allowed, .scratch = scratch, .stride = wt__vectors_padded(vectors->dim), .n = n};
    scan->reads_signs = k > 0 && vectors->reads_signs;
    if (n > VECTOR_MAX_QUERIES)
        return wt__fail(err, WT_EINVAL, "%zu vectors in one search; at most %d are allowed", n, VECTOR_MAX_QUERIES);
    wt__vectors_layout(vectors->dim, scan->parts);
    WT_TRY(reserve_scan(scan, k, err));
    for (size_t i = 0; i < n; i++)
        WT_TRY(set_query(scan, &scan->forms[i], queries + i * vectors->dim, err));
    return 0;
}

/* Returns the slot's row if the search may return this row, else VECTOR_NONE. */
static uint32_t find_wanted_row(const struct vector_scan *scan, uint32_t slot)
{
    uint32_t row = scan->vectors->row_of_slot[slot];
    if (row >= scan->vectors->rows)
        return VECTOR_NONE;
    return wt__row_allowed(scan->allowed, row) ? row : VECTOR_NONE;
}

static bool has_wanted_rows(const struct vector_scan *scan, uint32_t begin, uint32_t count)
{
    for (uint32_t i = 0; scan->allowed && i < count; i++)
        if (find_wanted_row(scan, begin + i) != VECTOR_NONE)
            return true;
    return !scan->allowed;
}

/* Computes coarse upper bounds of the scores of a chunk's slots, [count]. Keeps the inner products in scan->dots. */
static void bound_chunk(const struct vector_scan *scan, const struct query_form *form, const struct chunk_view *chunk,
                        uint32_t count, float *restrict upper)
{
    const int32_t *restrict dots = scan->dots;
    wt__kernels()->dots_i8(form->high, chunk->codes, count, scan->stride, scan->dots);
    for (uint32_t i = 0; i < count; i++) {
        float bound = chunk->error[i] * form->coarse.error + chunk->norm[i] * form->coarse.norm;
        upper[i] = chunk->scale[i] * form->high_scale * (float)dots[i] + bound;
    }
}

static int reserve_candidates(struct vector_scan *scan, size_t number, size_t more, wt_error *err)
{
    struct vectors_scratch *scratch = scan->scratch;
    size_t count = scan->forms[number].candidates + more;
    if (wt__grow((void **)&scratch->candidates[number], &scratch->capacity[number], count,
                 sizeof *scratch->candidates[0]) < 0)
        return wt__fail_nomem(err);
    return 0;
}

/* Adds a slot to the candidates of query `number` if the slot may be among the k best. Updates the k best lower bounds
 * of the query. dot: inner product of the slot's codes with `high`. */
static void add_candidate(struct vector_scan *scan, size_t number, const struct chunk_view *chunk, uint32_t slot,
                          int32_t dot)
{
    struct query_form *form = &scan->forms[number];
    uint32_t row = scan->vectors->row_of_slot[slot], i = slot % VECTOR_CHUNK;
    int32_t low;
    wt__kernels()->dots_i8(form->low, chunk->codes + i * scan->stride, 1, scan->stride, &low);
    float middle = chunk->scale[i] * (form->high_scale * (float)dot + form->low_scale * (float)low);
    float bound = chunk->error[i] * form->fine.error + chunk->norm[i] * form->fine.norm;
    wt__topk_push(&form->lower, (struct scored){middle - bound, row});
    if (!(middle + bound < wt__topk_threshold(&form->lower)))
        scan->scratch->candidates[number][form->candidates++] = (struct vector_candidate){slot, row, middle + bound};
}

/* Adds the slots of a chunk that may be among the k best to the candidates of query `number`. */
static int add_chunk_candidates(struct vector_scan *scan, size_t number, const struct chunk_view *chunk, uint32_t begin,
                                uint32_t count, const float *upper, wt_error *err)
{
    WT_TRY(reserve_candidates(scan, number, count, err));
    for (uint32_t i = 0; i < count; i++)
        if (!(upper[i] < wt__topk_threshold(&scan->forms[number].lower)) &&
            find_wanted_row(scan, begin + i) != VECTOR_NONE)
            add_candidate(scan, number, chunk, begin + i, scan->dots[i]);
    return 0;
}

/* Starts to fetch what add_slot reads. */
static void prefetch_slot(const struct vector_scan *scan, uint32_t slot)
{
    struct chunk_view chunk = view_chunk(scan->vectors, scan->parts, slot / VECTOR_CHUNK);
    size_t i = slot % VECTOR_CHUNK;
    for (size_t b = 0; b < scan->stride; b += PAD)
        __builtin_prefetch(chunk.codes + i * scan->stride + b);
    __builtin_prefetch(chunk.scale + i);
    __builtin_prefetch(chunk.error + i);
    __builtin_prefetch(chunk.norm + i);
    __builtin_prefetch(scan->vectors->row_of_slot + slot);
}

/* Adds a slot to the candidates of a query if its bytes say that it may be among the k best. The slot may be dead: to
 * look up the rows of all slots that signs leave would cost more. */
static void add_slot(struct vector_scan *scan, size_t number, uint32_t slot)
{
    if (find_wanted_row(scan, slot) == VECTOR_NONE)
        return;
    struct chunk_view chunk = view_chunk(scan->vectors, scan->parts, slot / VECTOR_CHUNK);
    int32_t dot;
    wt__kernels()->dots_i8(scan->forms[number].high, chunk.codes + slot % VECTOR_CHUNK * scan->stride, 1, scan->stride,
                           &dot);
    add_candidate(scan, number, &chunk, slot, dot);
}

static int add_waiting_slots(struct vector_scan *scan, size_t number, wt_error *err)
{
    struct query_form *form = &scan->forms[number];
    WT_TRY(reserve_candidates(scan, number, form->waiting_count, err));
    for (uint32_t i = 0; i < form->waiting_count; i++)
        add_slot(scan, number, form->waiting[i]);
    form->waiting_count = 0;
    return 0;
}

/* Adds the late slots that the threshold of the whole scan leaves. */
static int add_late_slots(struct vector_scan *scan, size_t number, wt_error *err)
{
    const struct query_form *form = &scan->forms[number];
    struct late_slot *late = scan->scratch->late[number];
    float threshold = wt__topk_threshold(&form->lower);
    size_t count = 0;
    for (size_t i = 0; i < form->late_count; i++)
        if (!(late[i].upper < threshold))
            late[count++] = late[i];
    WT_TRY(reserve_candidates(scan, number, count, err));
    for (size_t i = 0; i < count; i++) {
        if (i + FETCHED_AHEAD < count)
            prefetch_slot(scan, late[i + FETCHED_AHEAD].slot);
        if (!(late[i].upper < wt__topk_threshold(&form->lower)))
            add_slot(scan, number, late[i].slot);
    }
    return 0;
}

/* Computes the highest likely scores of a chunk's slots, [C], from their signs. */
static void estimate_chunk(const struct vector_scan *scan, const struct query_form *form,
                           const struct chunk_view *chunk, float *restrict upper)
{
    const uint16_t *restrict sums = scan->sums;
    float step = form->signs.step, reach = form->signs.slack - form->signs.offset;
    wt__kernels()->sum_bits(form->tables, chunk->signs, VECTOR_CHUNK / WT_BIT_ROWS, scan->parts[SIGNS].size,
                            scan->sums);
    for (size_t i = 0; i < VECTOR_CHUNK; i++)
        upper[i] = chunk->factor[i] * (step * (float)sums[i] + reach);
}

/* Collects the slots of a chunk that may be among the k best. Those whose estimates are among them wait for their bytes
 * only, because they raise the threshold. The others are late: most of them are not among the k best of the whole scan,
 * so their bytes are never read. */
static int collect_slots(struct vector_scan *scan, size_t number, const struct chunk_view *chunk, uint32_t begin,
                         uint32_t count, const float *upper, wt_error *err)
{
    struct query_form *form = &scan->forms[number];
    struct vectors_scratch *scratch = scan->scratch;
    float threshold = wt__topk_threshold(&form->lower);
    if (wt__grow((void **)&scratch->late[number], &scratch->late_capacity[number], form->late_count + count,
                 sizeof *scratch->late[0]) < 0)
        return wt__fail_nomem(err);
    for (uint32_t first = 0; first < count; first += WT_BIT_ROWS) {
        unsigned found = 0;
        for (uint32_t i = first; i < first + WT_BIT_ROWS; i++)
            found |= !(upper[i] < threshold);
        for (uint32_t i = first; found && i < first + WT_BIT_ROWS && i < count; i++) {
            if (upper[i] < threshold || (scan->allowed && find_wanted_row(scan, begin + i) == VECTOR_NONE))
                continue;
            if (upper[i] - chunk->factor[i] * form->signs.slack < threshold) {
                scratch->late[number][form->late_count++] = (struct late_slot){begin + i, upper[i]};
                continue;
            }
            form->waiting[form->waiting_count++] = begin + i;
            prefetch_slot(scan, begin + i);
        }
    }
    return 0;
}

/* Starts to fetch each page of a chunk's signs, because processors do not fetch ahead into another page. */
static void prefetch_signs(const struct vector_scan *scan, size_t number)
{
    struct chunk_view chunk = view_chunk(scan->vectors, scan->parts, number);
    for (const unsigned char *page = chunk.signs; page < (const unsigned char *)chunk.sign_sum; page += PAGE)
        __builtin_prefetch(page);
}

/* Scans the signs of the slots once for all queries. The bytes of a chunk's slots are read after the signs of the next
 * chunk, so that they arrive meanwhile. */
static int scan_signs(struct vector_scan *scan, wt_error *err)
{
    for (uint32_t begin = 0; begin < scan->vectors->slots; begin += VECTOR_CHUNK) {
        uint32_t left = scan->vectors->slots - begin, count = left < VECTOR_CHUNK ? left : VECTOR_CHUNK;
        if (!has_wanted_rows(scan, begin, count))
            continue;
        struct chunk_view chunk = view_chunk(scan->vectors, scan->parts, begin / VECTOR_CHUNK);
        if (count < left)
            prefetch_signs(scan, begin / VECTOR_CHUNK + 1);
        for (size_t i = 0; i < scan->n; i++) {
            float upper[VECTOR_CHUNK];
            estimate_chunk(scan, &scan->forms[i], &chunk, upper);
            WT_TRY(add_waiting_slots(scan, i, err));
            WT_TRY(collect_slots(scan, i, &chunk, begin, count, upper, err));
        }
    }
    for (size_t i = 0; i < scan->n; i++) {
        WT_TRY(add_waiting_slots(scan, i, err));
        WT_TRY(add_late_slots(scan, i, err));
    }
    return 0;
}

/* Scans the bytes of the slots once for all queries. Skips chunks without allowed rows. */
static int scan_bytes(struct vector_scan *scan, wt_error *err)
{
    for (uint32_t begin = 0; begin < scan->vectors->slots; begin += VECTOR_CHUNK) {
        float upper[VECTOR_CHUNK];
        uint32_t left = scan->vectors->slots - begin, count = left < VECTOR_CHUNK ? left : VECTOR_CHUNK;
        if (!has_wanted_rows(scan, begin, count))
            continue;
        struct chunk_view chunk = view_chunk(scan->vectors, scan->parts, begin / VECTOR_CHUNK);
        for (size_t i = 0; i < scan->n; i++) {
            bound_chunk(scan, &scan->forms[i], &chunk, count, upper);
            WT_TRY(add_chunk_candidates(scan, i, &chunk, begin, count, upper, err));
        }
    }
    return 0;
}

/* Returns the fp32 vector of a slot after verifying it; valid until the next call. Returns NULL and sets err if it is
 * damaged. */
static const float *read_slot(const struct vector_scan *scan, uint32_t slot, wt_error *err)
{
    const float *vector = read_row(scan->vectors, scan->parts, slot, scan->row);
    if (!vector)
        wt__fail(err, WT_ESTORE, "vector %u is damaged", slot);
    return vector;
}

static float compute_inner_product(const struct vector_scan *scan, const struct query_form *form, const float *vector)
{
    float score;
    wt__kernels()->dots_f32(form->query, vector, 1, scan->stride, &score);
    return score;
}

/* Computes the final score of a slot from its fp32 vector. */
static int score_slot(const struct vector_scan *scan, const struct query_form *form, uint32_t slot, float *score,
                      wt_error *err)
{
    const float *vector = read_slot(scan, slot, err);
    if (!vector)
        return WT_ESTORE;
    *score = compute_inner_product(scan, form, vector);
    return 0;
}

/* Finds the k best rows by scoring every allowed row. For shared slots, which are scattered over many chunks. */
static int search_shared_slots(const struct vector_scan *scan, size_t k, struct scored *out, size_t *counts,
                               wt_error *err)
{
    const struct vectors *vectors = scan->vectors;
    struct topk top[VECTOR_MAX_QUERIES];
    for (size_t i = 0; i < scan->n; i++)
        top[i] = (struct topk){out + i * k, 0, k};
    for (uint32_t row = 0; row < vectors->rows; row++) {
        uint32_t slot = vectors->slot_of_row[row];
        if (slot >= vectors->slots || !wt__row_allowed(scan->allowed, row))
            continue;
        const float *vector = read_slot(scan, slot, err);
        if (!vector)
            return WT_ESTORE;
        for (size_t i = 0; i < scan->n; i++)
            wt__topk_push(&top[i], (struct scored){compute_inner_product(scan, &scan->forms[i], vector), row});
    }
    for (size_t i = 0; i < scan->n; i++) {
        wt__topk_sort(&top[i]);
        counts[i] = top[i].len;
    }
    return 0;
}

int wt__vectors_search(const struct vectors *vectors, struct vectors_scratch *scratch, const float *queries, size_t n,
                       size_t k, const uint64_t *allowed, struct scored *out, size_t *counts, wt_error *err)
{
    struct vector_scan scan;
    size_t most = k < vectors->slots ? k : vectors->slots;
    memset(counts, 0, n * sizeof *counts);
    WT_TRY(begin_scan(&scan, vectors, scratch, queries, n, allowed, most, err));
    if (most == 0)
        return 0;
    if (!vectors->row_of_slot)
        return search_shared_slots(&scan, k, out, counts, err);
    WT_TRY(scan.reads_signs ? scan_signs(&scan, err) : scan_bytes(&scan, err));
    for (size_t i = 0; i < n; i++) {
        const struct query_form *form = &scan.forms[i];
        const struct vector_candidate *candidates = scratch->candidates[i];
        struct topk top = {out + i * k, 0, most};
        float threshold = wt__topk_threshold(&form->lower);
        for (size_t c = 0; c < form->candidates; c++) {
            struct scored exact = {.row = candidates[c].row};
            if (candidates[c].upper < threshold)
                continue;
            WT_TRY(score_slot(&scan, form, candidates[c].slot, &exact.score, err));
            wt__topk_push(&top, exact);
        }
        wt__topk_sort(&top);
        counts[i] = top.len;
    }
    return 0;
}

int wt__vectors_search_plain(const struct vectors *vectors, struct vectors_scratch *scratch, const float *query,
                             size_t k, const uint64_t *allowed, struct scored *out, size_t *count, wt_error *err)
{
    struct vector_scan scan;
    struct topk top = {out, 0, k};
    *count = 0;
    WT_TRY(begin_scan(&scan, vectors, scratch, query, 1, allowed, 0, err));
    for (uint32_t slot = 0; slot < vectors->slots; slot++) {
        struct scored exact = {.row = find_wanted_row(&scan, slot)};
        if (exact.row == VECTOR_NONE)
            continue;
        WT_TRY(score_slot(&scan, &scan.forms[0], slot, &exact.score, err));
        wt__topk_push(&top, exact);
    }
    wt__topk_sort(&top);
    *count = top.len;
    return 0;
}

int wt__vectors_score_rows(const struct vectors *vectors, struct vectors_scratch *scratch, const float *queries,
                           size_t n, const uint32_t *rows, size_t count, float *const *scores, wt_error *err)
{
    struct vector_scan scan;
    WT_TRY(begin_scan(&scan, vectors, scratch, queries, n, NULL, 0, err));
    for (size_t i = 0; i < count; i++) {
        uint32_t slot = rows[i] < vectors->rows ? vectors->slot_of_row[rows[i]] : VECTOR_NONE;
        const float *vector = slot < vectors->slots ? read_slot(&scan, slot, err) : NULL;
        if (slot < vectors->slots && !vector)
            return WT_ESTORE;
        for (size_t q = 0; q < n; q++)
            scores[q][i] = vector ? compute_inner_product(&scan, &scan.forms[q], vector) : 0;
    }
    return 0;
}
