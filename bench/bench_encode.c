/* bench_encode.c: latency of encoding a request, and throughput of batches, on one thread.
 *
 *   bench_encode MODEL [TEXTS]      prints a report; TEXTS: a file of texts, one a line (default: generated texts)
 *   bench_encode MODEL --serve      answers each line of stdin, so that a script can alternate with a peer:
 *                                     latency N     milliseconds of one request of N tokens batch FILE    seconds for
 *                                     the lines of FILE vectors FILE  as batch, and writes the fp32 vectors to
 *                                     FILE.vectors warm          milliseconds to open the packed model
 *
 * Times include the tokenizer. The report has medians of latencies and opening times, and the rate of one batch. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "encoder/encoder.h"
#include "nn/kernels/kernels.h"
#include "support.h"

enum { ROUNDS = 41, MAX_TEXTS = 1 << 20, OWN_TEXTS = 512 };

struct encode_bench {
    const char *folder;
    struct encoder *encoder;
    struct encoder_scratch *scratch;
    float *vectors; /* [D] vector of one request */
};

/* Words of one token in every uncased English vocabulary. */
static const char *const words[] = {"find", "the", "next",   "train", "from", "london", "to",    "paris",
                                    "for",  "two", "people", "and",   "book", "a",      "table", "near"};

static struct str words_text(size_t count, char *text, size_t size)
{
    size_t len = 0;

    for (size_t i = 0; i < count && len + 8 < size; i++)
        len += (size_t)snprintf(text + len, size - len, "%s ", words[i * 7 % 16]);
    return (struct str){text, len};
}

static double latency(struct encode_bench *b, size_t tokens)
{
    char text[8192];
    size_t frame = wt__encoder_is_static(b->encoder) ? 0 : 2;
    struct str request = words_text(tokens - frame, text, sizeof text);

    double began = wt__now_ms();
    wt__encode(b->encoder, b->scratch, TEXT_REQUEST, &request, 1, b->vectors, NULL);
    return wt__now_ms() - began;
}

/* Reads texts from the lines of path. If path is NULL, generates texts with the lengths of tools' descriptions. */
static size_t take_texts(const char *path, char **storage, struct str *texts)
{
    size_t len, count = 0;

    if (!path) {
        *storage = malloc(OWN_TEXTS * 1024);
        for (; *storage && count < OWN_TEXTS; count++)
            texts[count] = words_text(4 + count * count % 89, *storage + count * 1024, 1024);
        return count;
    }
    if (wt__file_read(storage, &len, path, (size_t)1 << 30, NULL) < 0)
        return 0;
    for (char *line = *storage, *stop; count < MAX_TEXTS && (stop = strchr(line, '\n')); line = stop + 1)
        texts[count++] = (struct str){line, (size_t)(stop - line)};
    return count;
}

static void write_vectors(const char *path, const float *vectors, size_t floats)
{
    char to[4200];
    snprintf(to, sizeof to, "%s.vectors", path);
    FILE *file = fopen(to, "wb");
    if (!file || fwrite(vectors, sizeof(float), floats, file) != floats)
        fprintf(stderr, "bench_encode: cannot write %s\n", to);
    if (file)
        fclose(file);
}

/* Encodes the texts of take_texts. Returns seconds, or 0 on error. kept: true to write the vectors to PATH.vectors. */
static double batch(struct encode_bench *b, const char *path, size_t *count, bool kept)
{
    struct str *texts = malloc(MAX_TEXTS * sizeof *texts);
    char *storage = NULL;
    double took = 0;

    *count = texts ? take_texts(path, &storage, texts) : 0;
    float *vectors = malloc((*count * wt__encoder_dim(b->encoder) + 1) * sizeof(float));
    if (vectors && *count > 0) {
        double began = wt__now_ms();
        if (wt__encode_many(b->encoder, TEXT_REQUEST, texts, *count, 1, vectors, NULL, NULL) == 0)
            took = (wt__now_ms() - began) / 1e3;
        if (kept)
            write_vectors(path, vectors, *count * wt__encoder_dim(b->encoder));
    }
    free(vectors);
    free(storage);
    free(texts);
    return took;
}

static double open_time(const char *folder)
{
    struct encoder *encoder;
    double began = wt__now_ms(), took = -1;

    if (wt__encoder_open(&encoder, folder, NULL) == 0) {
        took = wt__now_ms() - began;
        wt__encoder_close(encoder);
    }
    return took;
}

static void serve_encode_requests(struct encode_bench *b)
{
    char line[4096];
    size_t count;

    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "latency ", 8) == 0 && atoi(line + 8) > 2)
            printf("%.6f\n", latency(b, (size_t)atoi(line + 8)));
        else if (strncmp(line, "batch ", 6) == 0)
            printf("%.6f\n", batch(b, line + 6, &count, false));
        else if (strncmp(line, "vectors ", 8) == 0)
            printf("%.6f\n", batch(b, line + 8, &count, true));
        else
            printf("%.6f\n", open_time(b->folder));
        fflush(stdout);
    }
}

static void print_encode_report(struct encode_bench *b, const char *path)
{
    static const size_t tokens[] = {8, 20, 64, 128};
    double times[ROUNDS];
    size_t count;

    for (size_t i = 0; i < sizeof tokens / sizeof tokens[0]; i++) {
        for (int round = 0; round < ROUNDS; round++)
            times[round] = latency(b, tokens[i]);
        print_result(times, ROUNDS, "ms", "whichtool", "encode %zu tokens", tokens[i]);
    }
    for (int round = 0; round < ROUNDS; round++)
        times[round] = open_time(b->folder);
    print_result(times, ROUNDS, "ms", "whichtool", "open a packed model");
    double took = batch(b, path, &count, false);
    if (took > 0)
        printf("encode in batches\twhichtool\t%.0f\t/s\n", (double)count / took);
}

int main(int argc, char **argv)
{
    struct encode_bench b = {.folder = argc > 1 ? argv[1] : ""};
    wt_error err = {0};

    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: bench_encode MODEL [TEXTS | --serve]\n");
        return 2;
    }
    if (wt__encoder_open(&b.encoder, b.folder, &err) < 0 || wt__encoder_scratch_new(&b.scratch, b.encoder, &err) < 0) {
        fprintf(stderr, "bench_encode: %s\n", err.message);
        return 1;
    }
    b.vectors = malloc(wt__encoder_dim(b.encoder) * sizeof(float));
    fprintf(stderr, "bench_encode: kernels %s\n", wt__kernels()->name);
    if (b.vectors && argc > 2 && strcmp(argv[2], "--serve") == 0)
        serve_encode_requests(&b);
    else if (b.vectors)
        print_encode_report(&b, argc > 2 ? argv[2] : NULL);
    free(b.vectors);
    wt__encoder_scratch_free(b.scratch);
    wt__encoder_close(b.encoder);
    return 0;
}
