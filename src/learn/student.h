/* student.h: a static encoder in training: a table with one row per token. A text's vector is the normalised sum of its
 * tokens' rows; word order does not matter.
 *
 *   wt__student_forward(student, texts, which, count, at)    vectors of texts, from index `at` of the step on
 *   (a loss fills dvectors)
 *   wt__student_backward(student)                            -> the rows' gradients, and the rows that have one
 *
 * Runs on one thread in the order of the texts, so results are always identical. */
#ifndef WT_LEARN_STUDENT_H
#define WT_LEARN_STUDENT_H

#include "learn/training_batch.h"
#include "nn/adamw.h"

struct student {
    size_t tokens, dim;               /* V, D */
    float *rows;                      /* [V, D] */
    struct model_parameter parameter; /* rows, with gradients of the rows that a step used */

    size_t capacity, count; /* S: maximum and current number of texts of a step */
    struct student_text {
        const int32_t *ids;
        size_t length;
    } * texts;       /* [S] */
    float *sums;     /* [S, D] */
    float *vectors;  /* [S, D] normalised sums */
    float *dvectors; /* [S, D] overwritten by the loss */
};

/* Opens a table of zeros. Errors: WT_ENOMEM. */
int wt__student_open(struct student *out, size_t tokens, size_t dim, size_t capacity, wt_error *err);
void wt__student_dispose(struct student *student);

/* Starts an empty step; forward adds the texts which [count]. The texts are borrowed until backward. */
void wt__student_begin(struct student *student);
void wt__student_forward(struct student *student, const struct token_texts *texts, const uint32_t *which, size_t count);
void wt__student_backward(struct student *student);

#endif
