/* bench_train.c: time of a training step, and the memory of training.
 *
 *   bench_train MODEL [THREADS [PRECISION]]     answers each line of stdin, so that a script can alternate with a peer:
 *                                     contrast   one step: BATCH requests of TOKENS tokens against as many tool texts
 *                                     mlc        one step: BATCH requests of TOKENS tokens, linear head of LABELS tools
 *                                     memory     peak memory of the process so far
 *
 * PRECISION is fp32 (default) or bf16. bf16 rounds the factors of products to bfloat16, if the processor supports it.
 *
 * The answer to a step is its milliseconds and its loss. The answer to `memory` is in megabytes. The peer generates the
 * same tokens, so equal losses show that both programs compute the same. A step is forward, loss, backward, clipping
 * and AdamW, as in the training loop of learn/. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/pool.h"
#include "learn/training_batch.h"
#include "nn/adamw.h"
#include "nn/kernels/kernels.h"
#include "nn/loss.h"
#include "nn/matrix.h"

enum { BATCH = 32, TOKENS = 32, LABELS = 1419, GOLD = 3 };
static const float RATE = 5e-5f, SCALE = 20;

struct train_bench {
    struct trainable *model;
    struct training_batch training_batch;
    unsigned threads;
    bool open, contrast;
    struct model_parameter *parameters; /* parameters of the model and the head */
    size_t count;
    struct adamw adamw;
    int32_t ids[2 * BATCH][TOKENS];
    float *head, *dhead; /* [LABELS, H] */
    float *scores;       /* [BATCH, LABELS] */
    size_t starts[BATCH + 1];
    int32_t labels[BATCH * GOLD];
    uint64_t step;
};

/* Generates the tokens of step `step`; the peer uses the same formula. */
static void make_batch(struct train_bench *b)
{
    size_t texts = b->contrast ? 2 * BATCH : BATCH;
    wt__batch_begin(&b->training_batch);
    for (size_t i = 0; i < texts; i++) {
        for (size_t t = 0; t < TOKENS; t++)
            b->ids[i][t] = (int32_t)(1000 + ((b->step * 64 + i) * 7919 + t * 104729) % 20000);
        b->ids[i][0] = 101;
        b->ids[i][TOKENS - 1] = 102;
        wt__batch_add(&b->training_batch, b->ids[i], TOKENS);
    }
    wt__batch_share(&b->training_batch);
    for (size_t i = 0; i < BATCH; i++) {
        b->starts[i] = i * GOLD;
        for (size_t g = 0; g < GOLD; g++)
            b->labels[i * GOLD + g] = (int32_t)((b->step * 97 + i * 31 + g * 211) % LABELS);
    }
    b->starts[BATCH] = BATCH * GOLD;
}

static int forward(void *context, size_t share, unsigned thread)
{
    struct train_bench *b = context;
    (void)thread;
    wt__batch_forward(&b->training_batch, (unsigned)share);
    return 0;
}

static int backward_contrast_share(void *context, size_t share, unsigned thread)
{
    struct train_bench *b = context;
    (void)thread;
    wt__batch_backward(&b->training_batch, (unsigned)share);
    return 0;
}

static int reduce(void *context, size_t part, unsigned thread)
{
    struct train_bench *b = context;
    (void)thread;
    wt__batch_reduce(&b->training_batch, (unsigned)part, b->threads);
    return 0;
}

static float contrast_loss(struct train_bench *b)
{
    size_t hidden = b->training_batch.hidden;
    struct contrast contrast = {.rows = BATCH,
                                .columns = BATCH,
                                .width = hidden,
                                .queries = b->training_batch.vectors,
                                .documents = b->training_batch.vectors + BATCH * hidden,
                                .scale = SCALE,
                                .scores = b->scores};
    return wt__loss_contrast(&contrast, b->training_batch.dvectors, b->training_batch.dvectors + BATCH * hidden);
}

/* logits = x W^T; dx = dlogits W; dW += dlogits^T x */
static float head_loss(struct train_bench *b)
{
    size_t hidden = b->training_batch.hidden;
    struct label_rows gold = {b->starts, b->labels};
    wt__matmul(&(struct matmul){.m = BATCH,
                                .n = LABELS,
                                .k = hidden,
                                .a = b->training_batch.vectors,
                                .a_stride = hidden,
                                .b = b->head,
                                .b_stride = hidden,
                                .b_transposed = true,
                                .c = b->scores,
                                .c_stride = LABELS});
    float loss = wt__loss_multilabel_softmax(b->scores, &gold, BATCH, LABELS, b->scores);
    wt__matmul(&(struct matmul){.m = BATCH,
                                .n = hidden,
                                .k = LABELS,
                                .a = b->scores,
                                .a_stride = LABELS,
                                .b = b->head,
                                .b_stride = hidden,
                                .c = b->training_batch.dvectors,
                                .c_stride = hidden});
    wt__matmul(&(struct matmul){.m = LABELS,
                                .n = hidden,
                                .k = BATCH,
                                .a = b->scores,
                                .a_stride = LABELS,
                                .a_transposed = true,
                                .b = b->training_batch.vectors,
                                .b_stride = hidden,
                                .c = b->dhead,
                                .c_stride = hidden,
                                .accumulate = true});
    return loss;
}

static void answer_step(struct train_bench *b)
{
    double began = wt__now_ms();
    make_batch(b);
    wt__pool_run(b->threads, b->threads, forward, b);
    float loss = b->contrast ? contrast_loss(b) : head_loss(b);
    wt__pool_run(b->threads, b->threads, backward_contrast_share, b);
    wt__pool_run(b->threads, b->threads, reduce, b);
    wt__adamw_step(&b->adamw, RATE, 1, b->threads);
    wt__gradients_clear(b->parameters, b->count);
    b->step++;
    printf("%.6f %.6f\n", wt__now_ms() - began, (double)loss);
}

/* Opens the state for one kind of step. A process runs only the kind of its first step. */
static int open_kind(struct train_bench *b, bool contrast, wt_error *err)
{
    struct batch_limits limits = {
        .texts = contrast ? 2 * BATCH : BATCH, .rows = (contrast ? 2 : 1) * BATCH * TOKENS, .longest = TOKENS};
    struct model_parameter *list;
    size_t head = LABELS * wt__trainable_config(b->model)->hidden;
    b->contrast = contrast;
    wt__trainable_parameters(b->model, &list, &b->count);
    b->parameters = wt__alloc_array(b->count + 1, sizeof *b->parameters);
    b->scores = wt__alloc_aligned(BATCH * LABELS, sizeof *b->scores);
    b->head = wt__alloc_aligned(head, sizeof *b->head);
    b->dhead = wt__alloc_aligned(head, sizeof *b->dhead);
    if (!b->parameters || !b->scores || !b->head || !b->dhead)
        return wt__fail_nomem(err);
    memcpy(b->parameters, list, b->count * sizeof *list);
    for (size_t i = 0; i < head; i++)
        b->head[i] = (float)((double)(i * 7919 % 2003) / 2003 - .5) * .1f;
    if (!contrast)
        b->parameters[b->count++] = (struct model_parameter){
            .name = "head", .value = b->head, .gradient = b->dhead, .count = head, .decays = true, .rate = 1};
    int rc =
        wt__batch_open(&b->training_batch, b->model, contrast ? BATCH_UNIT : BATCH_POOLED, b->threads, &limits, err);
    if (rc == 0)
        rc = wt__adamw_open(&b->adamw, b->parameters, b->count, &ADAMW_DEFAULTS, err);
    if (rc == 0)
        wt__gradients_clear(b->parameters, b->count);
    b->open = rc == 0;
    return rc;
}

/* Returns the peak resident memory in megabytes; getrusage would include the parent's memory before exec. */
static double peak(void)
{
    char line[256];
    double kilobytes = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "VmHWM:", 6) == 0)
            kilobytes = atof(line + 6);
    if (file)
        fclose(file);
    return kilobytes / 1e3;
}

static int serve_train_steps(struct train_bench *b, wt_error *err)
{
    char line[64];
    while (fgets(line, sizeof line, stdin)) {
        bool contrast = strncmp(line, "contrast", 8) == 0;
        if (strncmp(line, "memory", 6) == 0) {
            printf("%.1f\n", peak());
        } else {
            int rc = b->open ? 0 : open_kind(b, contrast, err);
            if (rc < 0)
                return rc;
            answer_step(b);
        }
        fflush(stdout);
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct train_bench b = {.threads = argc > 2 ? (unsigned)atoi(argv[2]) : 1};
    wt_error err = {0};
    if (argc < 2 || b.threads < 1) {
        fprintf(stderr, "usage: bench_train MODEL [THREADS [PRECISION]]\n");
        return 2;
    }
    wt__blas_load(NULL);
    int rc = wt__trainable_open(&b.model, argv[1], &err);
    if (rc == 0 && argc > 3 && strcmp(argv[3], "bf16") == 0 && wt__amx_ready())
        wt__trainable_allow_bfloat16(b.model);
    if (rc == 0)
        rc = serve_train_steps(&b, &err);
    if (rc < 0)
        fprintf(stderr, "bench_train: %s\n", err.message);
    wt__adamw_dispose(&b.adamw);
    wt__batch_dispose(&b.training_batch);
    wt__trainable_close(b.model);
    free(b.parameters);
    free(b.scores);
    free(b.head);
    free(b.dhead);
    return rc < 0;
}
