/* bench_dense.c: top 10 by inner product of 16 k, 100 k, 1 M and 2 M vectors, one query at a time and seven at once (a
 * request and its six parts).
 *
 *   bench_dense TOOLS REQUESTS [FOLDER]
 *
 * TOOLS and REQUESTS are files of fp32 vectors with 384 values, written by `bench_encode MODEL --serve` for texts of
 * real tools and requests. A catalogue has the vectors of the real tools, and then mixtures of two of them, like tools
 * whose texts combine those of two tools. With FOLDER, the vectors are written to FOLDER/dense-SIZE.f32 for
 * dense_faiss.py. Times are processor times, since machines are shared. "every byte" is the search that reads the
 * bytes of all vectors. "agreement" is the part of the exact top 10, or top 100, that the search returns. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/rng.h"
#include "index/vectors.h"
#include "nn/kernels/kernels.h"
#include "support.h"

enum { DIM = 384, K = 10, DEEP = 100, TOGETHER = 7, QUERIES = 3 * TOGETHER, JUDGED = 200, ROUNDS_MAX = 21 };

static const struct {
    const char *name;
    uint32_t slots;
    int rounds;
} sizes[] = {{"16k", 16000, 21}, {"100k", 100000, 9}, {"1M", 1000000, 9}, {"2M", 2000000, 5}};

struct dense_bench {
    const float *tools, *requests; /* [tool_count, DIM], [request_count, DIM] */
    size_t tool_count, request_count;
    const char *folder; /* NULL if vectors are not written */
    struct vectors vectors;
    struct vectors_scratch scratch;
};

/* Writes vector `number` of a catalogue. */
static void make_vector(const struct dense_bench *b, struct rng *rng, uint32_t number, float *x)
{
    if (number < b->tool_count) {
        memcpy(x, b->tools + (size_t)number * DIM, DIM * sizeof *x);
        return;
    }
    const float *first = b->tools + wt__rng_below(rng, b->tool_count) * DIM;
    const float *second = b->tools + wt__rng_below(rng, b->tool_count) * DIM;
    float share = (float)(.5 + wt__rng_unit(rng) / 2), sum = 0;
    for (size_t i = 0; i < DIM; i++) {
        x[i] = share * first[i] + (1 - share) * second[i];
        sum += x[i] * x[i];
    }
    for (size_t i = 0; i < DIM; i++)
        x[i] /= sqrtf(sum);
}

/* Searches `together` queries from `query` on. */
static void search_queries(struct dense_bench *b, size_t query, size_t together, size_t k, struct scored *hits)
{
    size_t counts[TOGETHER];
    const float *from = b->requests + query % b->request_count * DIM;
    if (wt__vectors_search(&b->vectors, &b->scratch, from, together, k, NULL, hits, counts, NULL) < 0)
        exit(1);
}

/* Prints milliseconds per query. */
static void measure_dense(struct dense_bench *b, const char *name, const char *who, int rounds, size_t together,
                          size_t k)
{
    double times[ROUNDS_MAX];
    struct scored hits[TOGETHER * DEEP];
    for (int round = 0; round < rounds; round++) {
        double start = processor_ms();
        for (size_t q = 0; q < QUERIES; q += together)
            search_queries(b, q, together, k, hits);
        times[round] = (processor_ms() - start) / QUERIES;
    }
    print_result(times, (size_t)rounds, "ms", who, "dense top %zu of %s vectors%s", k, name,
                 together > 1 ? ", 7 queries at once" : "");
}

/* Measures the part of the exact top K and top DEEP that the search returns. */
static void measure_agreement(struct dense_bench *b, double agreement[2])
{
    static const size_t depths[2] = {K, DEEP};
    bool reads_signs = b->vectors.reads_signs;
    agreement[0] = agreement[1] = 0;
    for (size_t q = 0; q < JUDGED; q++) {
        struct scored quick[DEEP], exact[DEEP];
        b->vectors.reads_signs = false;
        search_queries(b, q, 1, DEEP, exact);
        b->vectors.reads_signs = reads_signs;
        for (size_t d = 0; d < 2; d++) {
            size_t k = depths[d], same = 0;
            search_queries(b, q, 1, k, quick);
            for (size_t i = 0; i < k * k; i++)
                same += exact[i / k].row == quick[i % k].row;
            agreement[d] += (double)same / (double)(JUDGED * k);
        }
    }
}

/* Stores the vectors of a catalogue, and writes them to the folder. */
static void fill_catalogue(const struct dense_bench *b, const char *name, uint32_t slots, unsigned char *chunks,
                           uint32_t *rows)
{
    struct rng rng;
    float x[DIM];
    char path[4200];
    FILE *file = NULL;
    snprintf(path, sizeof path, "%s/dense-%s.f32", b->folder ? b->folder : "", name);
    if (b->folder && !(file = fopen(path, "wb")))
        exit(1);
    wt__rng_seed(&rng, 2);
    for (uint32_t slot = 0; slot < slots; slot++) {
        unsigned char *chunk = chunks + slot / VECTOR_CHUNK * wt__vectors_chunk_bytes(DIM);
        make_vector(b, &rng, slot, x);
        rows[slot] = slot;
        if (wt__vectors_put(chunk, DIM, 1, slot, x, NULL) < 0 || (file && fwrite(x, sizeof x, 1, file) != 1))
            exit(1);
    }
    if (file && fclose(file) != 0)
        exit(1);
}

static void bench_size(struct dense_bench *b, const char *name, uint32_t slots, int rounds)
{
    unsigned char *chunks = wt__alloc_aligned((slots - 1) / VECTOR_CHUNK + 1, wt__vectors_chunk_bytes(DIM));
    uint32_t *rows = wt__alloc_array(slots, sizeof *rows);
    double agreement[2];
    if (!chunks || !rows)
        exit(1);
    double start = processor_ms();
    fill_catalogue(b, name, slots, chunks, rows);
    fprintf(stderr, "dense: %s vectors stored in %.0f ms\n", name, processor_ms() - start);
    b->vectors = (struct vectors){chunks, DIM, slots, slots, 1, rows, rows, slots >= SIGNS_LEAST, NULL};
    start = processor_ms();
    if (wt__vectors_verify(&b->vectors, NULL) < 0)
        exit(1);
    fprintf(stderr, "dense: %s vectors verified in %.1f ms\n", name, processor_ms() - start);
    measure_dense(b, name, "whichtool", rounds, 1, K);
    measure_dense(b, name, "whichtool", rounds, 1, DEEP);
    measure_dense(b, name, "whichtool", rounds, TOGETHER, K);
    measure_agreement(b, agreement);
    printf("dense top 10 of %s vectors, agreement\twhichtool\t%.5f\t\n", name, agreement[0]);
    printf("dense top 100 of %s vectors, agreement\twhichtool\t%.5f\t\n", name, agreement[1]);
    b->vectors.reads_signs = false;
    measure_dense(b, name, "every byte", 3, 1, K);
    free(chunks);
    free(rows);
}

static const float *read_vectors(const char *path, size_t *count)
{
    char *bytes;
    size_t len;
    if (wt__file_read(&bytes, &len, path, (size_t)1 << 32, NULL) < 0 || len < QUERIES * DIM * sizeof(float)) {
        fprintf(stderr, "bench_dense: %s: not a file of vectors\n", path);
        exit(1);
    }
    *count = len / sizeof(float) / DIM;
    return (const float *)(const void *)bytes;
}

int main(int argc, char **argv)
{
    struct dense_bench b = {.folder = argc > 3 ? argv[3] : NULL};
    if (argc < 3) {
        fprintf(stderr, "usage: bench_dense TOOLS REQUESTS [FOLDER]\n");
        return 2;
    }
    b.tools = read_vectors(argv[1], &b.tool_count);
    b.requests = read_vectors(argv[2], &b.request_count);
    b.request_count = b.request_count / TOGETHER * TOGETHER;
    fprintf(stderr, "dense: kernels %s\n", wt__kernels()->name);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        bench_size(&b, sizes[s].name, sizes[s].slots, sizes[s].rounds);
    wt__vectors_scratch_dispose(&b.scratch);
    free((void *)b.tools);
    free((void *)b.requests);
    return 0;
}
