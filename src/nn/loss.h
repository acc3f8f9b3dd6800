/* loss.h: training losses. Each function returns the loss and overwrites the gradients of its inputs. Sums run in
 * double precision in a fixed order. The loss and gradients of empty input (no rows, no pair, all masked) are 0. */
#ifndef WT_NN_LOSS_H
#define WT_NN_LOSS_H

#include <stddef.h>
#include <stdint.h>

/* In-batch contrastive loss. scores[b,c] = scale * query[b] . document[c], which for unit vectors is scaled cosine. The
 * loss of a row is the mean over its positives p of -log(exp score[b,p] / sum over positives and negatives of
 * exp score[b,c]). The loss is the mean over the rows with a positive. */
enum pair { PAIR_NEGATIVE, PAIR_POSITIVE, PAIR_IGNORED };

struct contrast {
    size_t rows, columns, width;      /* B, C, D */
    const float *queries, *documents; /* [B, D], [C, D] */
    const uint8_t *pairs;             /* [B, C] of enum pair, or NULL if the diagonal is positive, the rest negative */
    float scale;
    float *scores;    /* [B, C] scratch; wt__loss_contrast leaves gradients there */
    float *gradients; /* [B, C] scratch of wt__loss_contrast_both only */
};

/* Overwrites dqueries [B, D] and ddocuments [C, D]. */
float wt__loss_contrast(const struct contrast *contrast, float *dqueries, float *ddocuments);

/* Contrasts pair by pair in both directions. The loss of a positive is the mean of -log(exp score / (exp score + sum of
 * exp of the negatives in its row)) and the same for its column. Other positives do not count against it. The loss is
 * the mean over all positives. */
float wt__loss_contrast_both(const struct contrast *contrast, float *dqueries, float *ddocuments);

/* Mean over rows of max(0, |a - p| - |a - n| + margin) with Euclidean distances. TRIPLET_EPSILON is added to each
 * difference, as in PyTorch. All arrays are [B, D]. */
#define TRIPLET_EPSILON 1e-6f
float wt__loss_triplet(const float *anchor, const float *positive, const float *negative, size_t rows, size_t width,
                       float margin, float *danchor, float *dpositive, float *dnegative);

/* Distillation loss: distance of vectors from those of a teacher, and of their similarities from the teacher's:
 *
 *   mean over rows of |v - t|^2 + likeness * mean over pairs of (V V^T - T T^T)^2
 *
 * vectors and teacher [B, D] are unit vectors; scratch [B, B]; dvectors [B, D]. */
float wt__loss_distil(const float *vectors, const float *teacher, size_t rows, size_t width, float likeness,
                      float *scratch, float *dvectors);

/* Distillation loss on similarities only, for a teacher whose vectors may have another width. It is the mean over rows
 * of the Kullback-Leibler divergence of the softmax over scale times the inner products with all other rows.
 * vectors [B, D], teacher [B, E]; scratch [2, B, B]; dvectors [B, D]. */
struct likeness {
    size_t rows, width, teacher_width; /* B, D, E */
    const float *vectors, *teacher;
    float scale;
    float *scratch;
};
float wt__loss_likeness(const struct likeness *likeness, float *dvectors);

/* Row b has the labels label[start[b]] .. label[start[b + 1] - 1], without duplicates and each below M, the number of
 * labels. */
struct label_rows {
    const size_t *start; /* [B + 1] */
    const int32_t *label;
};

/* Losses of logits [B, M] with gradients dlogits [B, M], which may be logits:
 * softmax: -(sum over rows and their labels of log softmax(logits)[b, label]) / B
 * bce:     mean over B M of the binary cross-entropy of each logit */
float wt__loss_multilabel_softmax(const float *logits, const struct label_rows *gold, size_t rows, size_t labels,
                                  float *dlogits);
float wt__loss_multilabel_bce(const float *logits, const struct label_rows *gold, size_t rows, size_t labels,
                              float *dlogits);

/* Input of wt__loss_multilabel: a head of M rows gives logits = scale * (vectors head^T - shift), and `loss`, one of
 * the two functions above, their loss. */
struct multilabel {
    size_t rows, labels, width;  /* B, M, D */
    const float *vectors, *head; /* [B, D], [M, D] */
    float scale, shift;
    float (*loss)(const float *logits, const struct label_rows *gold, size_t rows, size_t labels, float *dlogits);
    float *logits; /* [B, M] scratch: logits, then their gradients */
};

/* Overwrites dvectors [B, D] unless NULL. Adds to dhead [M, D], because the head is a parameter. */
float wt__loss_multilabel(const struct multilabel *multilabel, const struct label_rows *gold, float *dvectors,
                          float *dhead);

#endif
