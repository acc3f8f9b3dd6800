/* bench_cross.c: time of a cross-encoder for a request and TOOLS candidates with cached tokens, on one thread.
 *
 *   bench_cross make MODEL FOLDER        writes MODEL to FOLDER, and adds a classifier with random weights
 *   bench_cross FOLDER CORPUS [BYTES]    prints the time of a call; CORPUS: a corpus.jsonl of tools; BYTES: "by bytes"
 *                                        for a quantized model
 *   bench_cross FOLDER CORPUS --serve    answers each line of stdin, so that a script can alternate with a peer:
 *                                          texts    the request and the tools, one a line, then an empty line
 *                                          logits   the logits, in one line
 *                                          time     milliseconds of one call, including tokenising the request */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/rng.h"
#include "nn/kernels/kernels.h"
#include "nn/safetensors.h"
#include "rerank/cross.h"
#include "support.h"

enum { TOOLS = 30, ROUNDS = 21, MAX_TEXT = 4096 };

/* The request has 30 tokens. */
static const char request[] = "I'm planning a trip to Lisbon next Friday. Can you find me a cheap flight from London, "
                              "and a hotel near the old centre?";

struct cross_bench {
    struct cross *cross;
    char texts[TOOLS][MAX_TEXT];
    int32_t ids[TOOLS][CROSS_TOKENS];
    struct token_run tools[TOOLS];
};

/* ---------------------------------------------------------------- the model */

static int make_weights(const char *from, const char *to, size_t hidden, struct arena *arena, wt_error *err)
{
    struct safetensors file = {0};
    struct mapping map = {0};
    struct rng rng;
    size_t count = 0;
    int rc = wt__file_map(&map, from, err);

    if (rc == 0)
        rc = wt__safetensors_open(&file, from, map.ptr, map.len, err);
    struct tensor_source *all = wt__arena_array(arena, struct tensor_source, file.count + 2);
    float *score = wt__arena_array(arena, float, hidden), *bias = wt__arena_array(arena, float, 1);
    if (rc == 0 && (!all || !score || !bias))
        rc = wt__fail_nomem(err);
    for (size_t i = 0; rc == 0 && i < file.count; i++) {
        const struct tensor *t = &file.tensors[i];
        struct buffer name = {0};
        float *data = wt__arena_array(arena, float, t->count);

        wt__buffer_printf(&name, "bert.%s", t->name);
        if (!data || name.failed)
            rc = wt__fail_nomem(err);
        else if (t->dtype < DTYPE_I64) { /* integers are not weights */
            all[count] = (struct tensor_source){wt__arena_copy(arena, wt__str(name.ptr)), data, t->rank, {0}};
            memcpy(all[count++].shape, t->shape, sizeof t->shape);
            rc = wt__tensor_floats(t, data, err);
        }
        wt__buffer_dispose(&name);
    }
    if (rc == 0) {
        wt__rng_seed(&rng, 1);
        for (size_t i = 0; i < hidden; i++)
            score[i] = (float)wt__rng_unit(&rng) - 0.5f;
        all[count++] = (struct tensor_source){"classifier.weight", score, 2, {1, hidden}};
        all[count++] = (struct tensor_source){"classifier.bias", bias, 1, {1}};
        rc = wt__safetensors_write(to, all, count, NULL, err);
    }
    wt__safetensors_dispose(&file);
    wt__file_unmap(&map);
    return rc;
}

static int make_model(const char *model, const char *folder, wt_error *err)
{
    static const char *const files[] = {"config.json", "tokenizer.json", "tokenizer_config.json", "vocab.txt",
                                        "model.safetensors"};
    struct arena arena = {0};
    struct buffer text = {0};
    json_t *config = NULL;
    int rc = wt__make_folders(folder, err);

    for (size_t i = 0; rc == 0 && i < 5; i++) {
        char *from = wt__path_join(&arena, model, files[i]), *to = wt__path_join(&arena, folder, files[i]), *bytes;
        size_t len;

        if (!from || !to)
            rc = wt__fail_nomem(err);
        else if (i == 4)
            rc = make_weights(from, to, (size_t)wt__json_int(config, "hidden_size", 0), &arena, err);
        else if (!wt__is_file(from))
            continue;
        else if ((rc = wt__file_read(&bytes, &len, from, (size_t)64 << 20, err)) == 0) {
            if (i == 0 && (rc = wt__json_parse(&config, bytes, len, err)) == 0) {
                json_object_set_new(config, "architectures", json_pack("[s]", "BertForSequenceClassification"));
                json_object_set_new(config, "id2label", json_pack("{s:s}", "0", "LABEL_0"));
                json_object_set_new(config, "label2id", json_pack("{s:i}", "LABEL_0", 0));
                rc = wt__json_write(&text, config);
            }
            if (rc == 0)
                rc = wt__file_replace(to, i ? bytes : text.ptr, i ? len : text.len, err);
            free(bytes);
        }
    }
    json_decref(config);
    wt__buffer_dispose(&text);
    wt__arena_dispose(&arena);
    return rc;
}

/* ---------------------------------------------------------------- the tools */

static void take_tool(struct cross_bench *b, size_t i, const char *line, size_t len)
{
    json_t *tool = json_loadb(line, len, 0, NULL);
    const json_t *metadata = json_object_get(tool, "metadata");
    struct str parts[] = {wt__json_str(metadata, "category"), wt__json_str(metadata, "provider"),
                          wt__json_str(tool, "title"), wt__json_str(tool, "text")};
    int at = 0;

    for (size_t p = 0; p < 4 && at < MAX_TEXT - 1; p++)
        at += snprintf(b->texts[i] + at, (size_t)(MAX_TEXT - at), "%s%.*s", p ? " " : "", (int)parts[p].len,
                       parts[p].len ? parts[p].ptr : "");
    for (char *c = b->texts[i]; *c; c++)
        if (*c == '\n' || *c == '\r')
            *c = ' ';
    json_decref(tool);
    b->tools[i] = wt__cross_tokens(b->cross, wt__str(b->texts[i]), b->ids[i]);
}

/* Samples tools at equal distances in the file. */
static int take_tools(struct cross_bench *b, const char *path, wt_error *err)
{
    char *text;
    size_t len, next = 0;
    int rc = wt__file_read(&text, &len, path, (size_t)1 << 30, err);

    if (rc < 0)
        return rc;
    for (char *line = text, *stop; next < TOOLS && (stop = memchr(line, '\n', len - (size_t)(line - text)));
         line = stop + 1)
        if ((size_t)(line - text) >= next * (len / TOOLS))
            take_tool(b, next++, line, (size_t)(stop - line));
    free(text);
    return next == TOOLS ? 0 : wt__fail(err, WT_EFORMAT, "%s: fewer than %d tools", path, TOOLS);
}

/* ---------------------------------------------------------------- the time */

static double time_scoring(struct cross_bench *b, float *logits)
{
    double began = wt__now_ms();

    if (wt__cross_score(b->cross, wt__str(request), b->tools, TOOLS, NULL, logits, NULL) < 0)
        return -1;
    return wt__now_ms() - began;
}

static void serve_cross_requests(struct cross_bench *b)
{
    float logits[TOOLS];
    char line[64];

    while (fgets(line, sizeof line, stdin)) {
        double took = time_scoring(b, logits);

        if (strcmp(line, "texts\n") == 0) {
            puts(request);
            for (size_t i = 0; i < TOOLS; i++)
                puts(b->texts[i]);
            puts("");
        } else if (strcmp(line, "logits\n") == 0) {
            for (size_t i = 0; i < TOOLS; i++)
                printf("%.7g%c", (double)logits[i], i + 1 < TOOLS ? ' ' : '\n');
        } else {
            printf("%.6f\n", took);
        }
        fflush(stdout);
    }
}

/* what: added to the name of the measure. */
static void print_cross_report(struct cross_bench *b, const char *what)
{
    double times[ROUNDS];
    float logits[TOOLS];

    for (int round = 0; round < ROUNDS; round++)
        times[round] = time_scoring(b, logits);
    print_result(times, ROUNDS, "ms", "whichtool", "cross-encode %d tools%s%s", TOOLS, *what ? ", " : "", what);
}

int main(int argc, char **argv)
{
    static struct cross_bench b;
    wt_error err = {0};
    int rc;

    if (argc < 3 || argc > 4) {
        fprintf(stderr, "usage: bench_cross make MODEL FOLDER | bench_cross FOLDER CORPUS [BYTES | --serve]\n");
        return 2;
    }
    if (argc == 4 && strcmp(argv[1], "make") == 0) {
        rc = make_model(argv[2], argv[3], &err);
    } else {
        rc = wt__cross_open(&b.cross, argv[1], NULL, &err);
        if (rc == 0)
            rc = take_tools(&b, argv[2], &err);
        fprintf(stderr, "bench_cross: kernels %s\n", wt__kernels()->name);
        if (rc == 0 && argc == 4 && strcmp(argv[3], "--serve") == 0)
            serve_cross_requests(&b);
        else if (rc == 0)
            print_cross_report(&b, argc == 4 ? argv[3] : "");
        wt__cross_close(b.cross);
    }
    if (rc < 0)
        fprintf(stderr, "bench_cross: %s\n", err.message);
    return rc < 0;
}
