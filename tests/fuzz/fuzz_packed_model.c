/* Fuzzes packed models. The checksums are corrected first, because a fuzzer cannot guess them and an attacker can
 * compute them. Every opened model can be run. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "encoder/internal.h"
#include "encoder/seal.h"
#include "encoder/transformer.h"

enum { MOST_WORK = 1 << 22 /* weights; larger models are valid, but slow */ };

/* Runs a static encoder, also on invalid token ids, not produced by its tokenizer. */
static void run_table(const struct packed *packed)
{
    int32_t ids[66] = {-1, INT32_MAX};
    size_t count =
        2 + wt__tokenizer_pieces(&packed->tokenizer, STR("find the table for \xe4\xb8\xad two"), 64, ids + 2);
    float *out = malloc(packed->table.dim * sizeof *out);

    if (out)
        wt__token_table_sum(&packed->table, ids, count, packed->tokenizer.special[TOKENIZER_UNK], out);
    free(out);
}

static void run_packed_model(const struct packed *packed)
{
    const struct model_config *c = &packed->header->config;
    struct str text = STR("find the table [MASK] for \xe4\xb8\xad two books");
    int32_t ids[64];
    size_t most = c->max_tokens < 64 ? c->max_tokens : 64;
    size_t starts[2] = {0, wt__tokenizer_encode(&packed->tokenizer, text, most, ids)};
    struct token_batch batch = {.count = 1, .starts = starts, .ids = ids};
    struct activation_limits limits = {.rows = most, .longest = most, .bytes = true};
    struct activations a;
    struct weight_plan plan;

    wt__weight_plan(&plan, c, LAYOUT_PACKED);
    if (plan.model + plan.layer * c->layers >= MOST_WORK)
        return;
    size_t floats = wt__activations_place(&a, &packed->model, &limits, false, NULL);
    float *memory = floats ? wt__alloc_aligned(floats, sizeof(float)) : NULL;
    if (memory) {
        wt__activations_place(&a, &packed->model, &limits, false, memory);
        wt__transformer_forward(&packed->model, &batch, &a);
        if (c->labels == 1) {
            float logit;

            wt__transformer_forward_first(&packed->model, &batch, &a);
            wt__head_forward(&packed->model, a.x, a.stride, 1, a.layers[0].context, &logit);
        }
    }
    free(memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct packed packed;
    wt_error err = {0};

    unsigned char *bytes = aligned_alloc(64, (size + 64) / 64 * 64);
    if (!bytes)
        return 0;
    memcpy(bytes, data, size);
    seal_packed(bytes, size);
    int rc = wt__packed_open(&packed, bytes, size, "fuzz", &err);
    if (rc < 0 && (rc != WT_EMODEL || err.code != rc || !err.message[0]))
        abort();
    if (rc == 0) {
        if (wt__packed_verify(&packed, "fuzz", &err) < 0)
            abort();
        if (wt__model_is_static(&packed.header->config))
            run_table(&packed);
        else
            run_packed_model(&packed);
    }
    free(bytes);
    return 0;
}
