/* student.h: a static encoder in training: a table with a row a token. A text's vector is the sum of its tokens' rows
 * at length one; the words' order is not seen.
 *
 *   wt__student_forward(student, texts, which, count, at)    vectors of texts, from place `at` of the step on
 *   (a loss fills dvectors)
 *   wt__student_backward(student)                            -> the rows' gradients, and which rows have one
 *
 * One thread, rows in the order of the texts: the same bits always. */
#ifndef WT_LEARN_STUDENT_H
#define WT_LEARN_STUDENT_H

#include "learn/training_batch.h"
#include "nn/adamw.h"

struct student {
    size_t tokens, dim;         /* V, D */
    float *rows;                /* [V, D] */
    struct parameter parameter; /* rows, with gradients of those that a step touched */

    size_t capacity, count; /* S texts that a step may have, and has */
    struct student_text {
        const int32_t *ids;
        size_t length;
    } * texts;       /* [S] */
    float *sums;     /* [S, D] */
    float *vectors;  /* [S, D] sums at length one */
    float *dvectors; /* [S, D] the loss's to overwrite */
};

/* Rows are zero. Errors: WT_ENOMEM. */
int wt__student_open(struct student *out, size_t tokens, size_t dim, size_t capacity, wt_error *err);
void wt__student_dispose(struct student *student);

/* Adds the texts which [count] to the step; begin empties it. The texts are borrowed until backward. */
void wt__student_begin(struct student *student);
void wt__student_forward(struct student *student, const struct token_texts *texts, const uint32_t *which, size_t count);
void wt__student_backward(struct student *student);

#endif
