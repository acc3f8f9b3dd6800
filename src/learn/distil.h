/* distil.h: the parts of wt_distil: the static encoder in training, its training texts, and the training steps. */
#ifndef WT_LEARN_DISTIL_H
#define WT_LEARN_DISTIL_H

#include "learn/examples.h"
#include "learn/training_batch.h"
#include "nn/adamw.h"
#include "text/tokenizer.h"

/* A static encoder in training: a table with one row per token. The vector of a text is the normalised sum of the rows
 * of its tokens. Word order does not matter. A step consists of:
 *
 *   wt__student_begin(student)                         starts the step
 *   wt__student_forward(student, texts, which, count)  adds texts and computes their vectors; may be repeated
 *   (the loss fills dvectors)
 *   wt__student_backward(student)                      computes the gradients of the rows, and marks the rows
 *
 * All functions run on one thread in the order of the texts, so equal inputs give identical bits. */

struct student {
    size_t tokens, dim;               /* V, D */
    float *rows;                      /* [V, D] */
    struct model_parameter parameter; /* rows, their gradients, and marks of the rows that the step uses */

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
/* Adds texts to the step and computes their vectors. which: [count] numbers of the texts. Borrows the texts until
 * wt__student_backward. */
void wt__student_forward(struct student *student, const struct token_texts *texts, const uint32_t *which, size_t count);
/* Adds the gradients of the rows that the step uses, and marks these rows. Overwrites dvectors. */
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

/* Collects the texts and tokenises them. max_tokens: maximum tokens of a text, counted with [CLS] and [SEP]. Borrows
 * the examples. Errors: WT_EEMPTY (no text), WT_ENOMEM. */
int wt__distil_texts_open(struct distil_texts *out, const struct examples *examples, const struct tokenizer *tokenizer,
                          size_t max_tokens, wt_error *err);
void wt__distil_texts_dispose(struct distil_texts *texts);

/* Tokenises texts for a static encoder: without [CLS], [SEP] and unknown words. The caller disposes of the result even
 * on error. Errors: WT_ENOMEM. */
int wt__distil_tokens(struct token_texts *tokens, const struct tokenizer *tokenizer, const struct str *texts,
                      size_t count, size_t max_tokens, wt_error *err);

/* Computes the share of each token among all tokens of the texts. frequency: [token_count]. */
void wt__distil_frequencies(const struct distil_texts *texts, size_t token_count, float *frequency);

/* The three steps that turn a teacher's vectors into a table of rows (model2vec; tokenlearn):
 *
 *   begin      Sets a row to the teacher's vector of the token alone, projected to the principal axes of the teacher's
 *              vectors of the texts, times a / (a + frequency of the token) (SIF; Arora et al. 2017).
 *   fit        Moves the vector of each text towards the teacher's vector of the text, and the similarity of each pair
 *              of texts towards the teacher's similarity.
 *   contrast   Moves requests towards the texts of their tools, and away from the texts of other tools of their data
 *              set. Moves tools in the same way. Keeps contrast_share of the change. */

struct distil_settings {
    uint64_t seed;
    unsigned threads;
    double smoothing;       /* the constant a; 0 for equal weights of all tokens */
    double epochs;          /* passes of the fit over the texts; 0 to skip it */
    double rate;            /* peak learning rate */
    size_t batch;           /* texts per step */
    double likeness;        /* weight of the similarities in the loss of the fit (nn/loss.h) */
    double contrast_epochs; /* passes over the requests; 0 to skip contrast */
    double contrast_rate;
    size_t contrast_batch; /* requests per step */
    double contrast_scale; /* factor of the cosine */
    double contrast_share; /* share of the change by contrast that is kept */
};
extern const struct distil_settings wt__distil_defaults; /* both numbers of epochs are 0 */
/* Return the default numbers of epochs. */
double wt__distil_fit_epochs(size_t texts);
double wt__distil_contrast_epochs(size_t requests);

/* Multiplies every row by its token's weight, smoothing / (smoothing + frequency). Does nothing if smoothing is 0.
 * frequency: [V]. */
void wt__distil_weigh(struct student *student, const float *frequency, double smoothing);

/* Run the steps fit and contrast. teacher: [N, D] unit vectors of all texts. The capacity of the student must be at
 * least settings->batch for fit, and twice settings->contrast_batch for contrast. Errors: WT_ECANCELLED, WT_EMODEL (the
 * loss became infinite), WT_ENOMEM. */
int wt__distil_fit(struct student *student, const struct distil_texts *texts, const float *teacher,
                   const struct distil_settings *settings, struct train_progress *progress, wt_error *err);
int wt__distil_contrast(struct student *student, const struct distil_texts *texts,
                        const struct distil_settings *settings, struct train_progress *progress, wt_error *err);

#endif
