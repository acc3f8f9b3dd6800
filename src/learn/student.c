#include "learn/student.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "nn/layers.h"

static float *alloc_zeroed(size_t floats)
{
    float *block = wt__alloc_aligned(floats, sizeof *block);
    if (block)
        memset(block, 0, floats * sizeof *block);
    return block;
}

int wt__student_open(struct student *out, size_t tokens, size_t dim, size_t capacity, wt_error *err)
{
    *out = (struct student){.tokens = tokens, .dim = dim, .capacity = capacity};
    out->rows = alloc_zeroed(tokens * dim);
    out->texts = wt__alloc_array(capacity, sizeof *out->texts);
    out->sums = alloc_zeroed(capacity * dim);
    out->vectors = alloc_zeroed(capacity * dim);
    out->dvectors = alloc_zeroed(capacity * dim);
    out->parameter = (struct model_parameter){.name = "embeddings",
                                              .value = out->rows,
                                              .gradient = alloc_zeroed(tokens * dim),
                                              .count = tokens * dim,
                                              .row = dim,
                                              .touched = calloc(tokens, 1),
                                              .rate = 1};
    if (out->rows && out->texts && out->sums && out->vectors && out->dvectors && out->parameter.gradient &&
        out->parameter.touched)
        return 0;
    wt__student_dispose(out);
    return wt__fail_nomem(err);
}

void wt__student_dispose(struct student *student)
{
    free(student->rows);
    free(student->texts);
    free(student->sums);
    free(student->vectors);
    free(student->dvectors);
    free(student->parameter.gradient);
    free(student->parameter.touched);
    *student = (struct student){0};
}

void wt__student_begin(struct student *student)
{
    student->count = 0;
}

void wt__student_forward(struct student *student, const struct token_texts *texts, const uint32_t *which, size_t count)
{
    size_t dim = student->dim;
    for (size_t i = 0; i < count; i++) {
        size_t at = student->count++, first = texts->starts[which[i]];
        struct student_text text = {texts->ids + first, texts->starts[which[i] + 1] - first};
        float *sum = student->sums + at * dim;
        student->texts[at] = text;
        memset(sum, 0, dim * sizeof *sum);
        for (size_t t = 0; t < text.length; t++) {
            const float *row = student->rows + (size_t)text.ids[t] * dim;
            for (size_t d = 0; d < dim; d++)
                sum[d] += row[d];
        }
        memcpy(student->vectors + at * dim, sum, dim * sizeof *sum);
        wt__normalize(student->vectors + at * dim, dim);
    }
}

void wt__student_backward(struct student *student)
{
    size_t dim = student->dim;
    for (size_t i = 0; i < student->count; i++) {
        const struct student_text *text = &student->texts[i];
        float *dsum = student->dvectors + i * dim;
        wt__normalize_backward(student->sums + i * dim, dsum, dsum, dim);
        for (size_t t = 0; t < text->length; t++) {
            float *gradient = student->parameter.gradient + (size_t)text->ids[t] * dim;
            student->parameter.touched[text->ids[t]] = 1;
            for (size_t d = 0; d < dim; d++)
                gradient[d] += dsum[d];
        }
    }
}
