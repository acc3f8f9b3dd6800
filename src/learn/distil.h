/* distil.h: the parts of wt_distil: the static encoder in training, its texts, and the steps that train it. */
#ifndef WT_LEARN_DISTIL_H
#define WT_LEARN_DISTIL_H

#include "learn/examples.h"
#include "learn/training_batch.h"
#include "nn/adamw.h"
#include "text/tokenizer.h"

/* A static encoder in training: a table with one row per token. A text's vector is the normalised sum of its
 * tokens' rows; word order does not matter.
 *
 *   wt__student_forward(student, texts, which, count, at)    vectors of texts, from index `at` of the step on
 *   (a loss fills dvectors)
 *   wt__student_backward(student)                            -> the rows' gradients, and the rows that have one
 *
 * Runs on one thread in the order of the texts, so results are always identical. */

struct student {
    size_t tokens, dim;               /* V, D */
    float *rows;                      /* [V, D] */
    struct model_parameter parameter; /* rows with their gradients, and marks of the rows that a step used */

    size_t capacity, count; /* maximum (S) and current number of texts of a step */
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

/* Starts an empty step. */
void wt__student_begin(struct student *student);
/* Adds texts to the step, by number (which [count]), and computes their vectors. Borrows the texts until backward. */
void wt__student_forward(struct student *student, const struct token_texts *texts, const uint32_t *which, size_t count);
/* Adds the gradients of the step's rows, and marks the rows. Overwrites dvectors. */
void wt__student_backward(struct student *student);

/* The training data of a static encoder: all distinct texts of tools and training requests, as text and as tokens. */

struct distil_texts {
    size_t count;              /* N distinct texts: of tools, then of requests */
    struct str *texts;         /* [N] borrowed from the examples */
    struct token_texts tokens; /* [N] */
    uint32_t *tool_text;       /* [M] number of each tool's text 0 */
    uint32_t *request_text;    /* [B] number of each training request's text */
    const struct examples *examples;
};

/* Reads at most max_tokens tokens of each text, including [CLS] and [SEP]. Borrows the examples. Errors: WT_EEMPTY (no
 * text), WT_ENOMEM. */
int wt__distil_texts_open(struct distil_texts *out, const struct examples *examples, const struct tokenizer *tokenizer,
                          size_t max_tokens, wt_error *err);
void wt__distil_texts_dispose(struct distil_texts *texts);

/* Tokenises texts for a static encoder: without [CLS], [SEP] and unknown words. The caller disposes of the result even
 * on error. Errors: WT_ENOMEM. */
int wt__distil_tokens(struct token_texts *tokens, const struct tokenizer *tokenizer, const struct str *texts,
                      size_t count, size_t max_tokens, wt_error *err);

/* Sets frequency [token_count] to the share of each token among all tokens of the texts; 0 if it does not occur. */
void wt__distil_frequencies(const struct distil_texts *texts, size_t token_count, float *frequency);

/* The three steps that turn a teacher's vectors into a table of rows (model2vec; tokenlearn):
 *
 *   begin      Sets a row to the teacher's vector of the token alone, projected to the principal axes of the teacher's
 *              vectors of the texts, times a / (a + frequency of the token) (SIF; Arora et al. 2017).
 *   fit        Moves the texts' vectors towards the teacher's, and similarities between texts towards the teacher's.
 *   contrast   Moves requests towards the texts of their tools and away from those of other tools of their source, and
 *              vice versa. Keeps contrast_share of the change. */

struct distil_settings {
    uint64_t seed;
    unsigned threads;
    double smoothing;       /* a; 0 for equal weights of all tokens */
    double epochs;          /* passes of the fit over the texts; 0 to skip it */
    double rate;            /* peak learning rate */
    size_t batch;           /* texts per step */
    double likeness;        /* weight of the similarities, see nn/loss.h */
    double contrast_epochs; /* passes over the requests; 0 to skip contrast */
    double contrast_rate;
    size_t contrast_batch; /* requests per step */
    double contrast_scale; /* factor of the cosine */
    double contrast_share; /* share of the change by contrast that is kept */
};
extern const struct distil_settings wt__distil_defaults; /* epochs are 0; the following functions compute them */
double wt__distil_fit_epochs(size_t texts);
double wt__distil_contrast_epochs(size_t requests);

/* Multiplies every row by its token's weight. frequency: [V]. */
void wt__distil_weigh(struct student *student, const float *frequency, double smoothing);

/* Run the steps fit and contrast. teacher: [N, D] unit vectors of all texts. The student must have room for twice the
 * larger batch. Errors: WT_ECANCELLED, WT_EMODEL (the loss became infinite), WT_ENOMEM. */
int wt__distil_fit(struct student *student, const struct distil_texts *texts, const float *teacher,
                   const struct distil_settings *settings, struct train_progress *progress, wt_error *err);
int wt__distil_contrast(struct student *student, const struct distil_texts *texts,
                        const struct distil_settings *settings, struct train_progress *progress, wt_error *err);

#endif
