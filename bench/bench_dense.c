/* bench_dense.c: exact top 10 of 16 k, 100 k and 1 M vectors of 384 by inner product, one query at a time and seven at
 * once (a request and its six parts).
 *
 *   bench_dense
 *
 * Vectors have unit length and lie around 2,000 centres, like sentence vectors of catalogues. dense_faiss.py generates
 * its vectors in the same way. Times are processor times, since machines are shared. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/memory.h"
#include "base/rng.h"
#include "index/vectors.h"
#include "nn/kernels/kernels.h"

enum { DIM = 384, CENTRES = 2000, K = 10, TOGETHER = 7, QUERIES = 3 * TOGETHER };

static const struct {
    const char *name;
    uint32_t slots;
    int rounds;
} sizes[] = {{"16k", 16000, 21}, {"100k", 100000, 9}, {"1M", 1000000, 5}};

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Returns a nearly normal number: the sum of four uniform ones. */
static float noise(struct rng *rng)
{
    uint64_t bits = wt__rng_next(rng);
    float sum = 0;
    for (int i = 0; i < 4; i++, bits >>= 16)
        sum += (float)(bits & 0xffff);
    return (sum / 65536 - 2) * 1.732F;
}

static void make_vector(const float *centres, struct rng *rng, float *x)
{
    const float *centre = centres + wt__rng_below(rng, CENTRES) * DIM;
    float sum = 0;
    for (size_t i = 0; i < DIM; i++) {
        x[i] = centre[i] + 0.7F * noise(rng);
        sum += x[i] * x[i];
    }
    for (size_t i = 0; i < DIM; i++)
        x[i] /= sqrtf(sum);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Returns milliseconds per query, the median over rounds. `together` queries are searched at once. plain: score all
 * vectors in fp32; requires together == 1. */
static double measure_dense(const struct vectors *vectors, const float *queries, int rounds, size_t together, int plain)
{
    double times[32];
    struct vectors_scratch scratch = {0};
    struct scored hits[TOGETHER * K];
    size_t counts[TOGETHER];
    for (int round = 0; round < rounds; round++) {
        double start = now_ms();
        for (size_t q = 0; q < QUERIES; q += together) {
            const float *query = queries + q * DIM;
            int rc = plain ? wt__vectors_search_plain(vectors, &scratch, query, K, NULL, hits, counts, NULL)
                           : wt__vectors_search(vectors, &scratch, query, together, K, NULL, hits, counts, NULL);
            if (rc < 0)
                exit(1);
        }
        times[round] = (now_ms() - start) / QUERIES;
    }
    wt__vectors_scratch_dispose(&scratch);
    qsort(times, (size_t)rounds, sizeof *times, compare_doubles);
    return times[rounds / 2];
}

static void bench_size(const float *centres, const float *queries, const char *name, uint32_t slots, int rounds)
{
    struct rng rng;
    float x[DIM];
    size_t chunk_bytes = wt__vectors_chunk_bytes(DIM);
    unsigned char *chunks = wt__alloc_aligned((slots + VECTOR_CHUNK - 1) / VECTOR_CHUNK, chunk_bytes);
    uint32_t *rows = wt__alloc_array(slots, sizeof *rows);
    if (!chunks || !rows)
        exit(1);
    wt__rng_seed(&rng, 2);
    for (uint32_t slot = 0; slot < slots; slot++) {
        make_vector(centres, &rng, x);
        rows[slot] = slot;
        if (wt__vectors_put(chunks + slot / VECTOR_CHUNK * chunk_bytes, DIM, 1, slot, x, NULL) < 0)
            exit(1);
    }
    struct vectors vectors = {chunks, DIM, slots, slots, 1, rows, rows};
    double start = now_ms();
    if (wt__vectors_verify(&vectors, NULL) < 0)
        exit(1);
    fprintf(stderr, "dense: %s vectors verified in %.1f ms\n", name, now_ms() - start);
    printf("dense top 10 of %s vectors\twhichtool\t%.3f\tms\n", name, measure_dense(&vectors, queries, rounds, 1, 0));
    printf("dense top 10 of %s vectors\tevery fp32\t%.3f\tms\n", name, measure_dense(&vectors, queries, 3, 1, 1));
    printf("dense top 10 of %s vectors, 7 queries at once\twhichtool\t%.3f\tms\n", name,
           measure_dense(&vectors, queries, rounds, TOGETHER, 0));
    fflush(stdout);
    free(chunks);
    free(rows);
}

int main(void)
{
    struct rng rng;
    float *centres = wt__alloc_array(CENTRES * DIM, sizeof *centres);
    float *queries = wt__alloc_array(QUERIES * DIM, sizeof *queries);
    if (!centres || !queries)
        return 1;
    fprintf(stderr, "dense: kernels %s\n", wt__kernels()->name);
    wt__rng_seed(&rng, 1);
    for (size_t i = 0; i < CENTRES * DIM; i++)
        centres[i] = noise(&rng);
    for (size_t i = 0; i < QUERIES; i++)
        make_vector(centres, &rng, queries + i * DIM);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        bench_size(centres, queries, sizes[s].name, sizes[s].slots, sizes[s].rounds);
    free(centres);
    free(queries);
    return 0;
}
