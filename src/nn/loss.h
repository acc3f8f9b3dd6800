/* loss.h: what training makes small. Each returns the loss and overwrites the gradients of its inputs. Sums run in
 * double precision in a fixed order. A loss over nothing (no rows, no pair, everything masked) is 0, as its gradients.
 */
#ifndef WT_NN_LOSS_H
#define WT_NN_LOSS_H

#include <stddef.h>
#include <stdint.h>

/* In-batch contrast. scores[b,c] = scale * query[b] . document[c]; a row's loss is the mean over its positives p of
 * -log(exp score[b,p] / sum over positives and negatives of exp score[b,c]); the loss is the mean over rows that have a
 * positive. Vectors of unit length make it cosine times scale. */
enum pair { PAIR_NEGATIVE, PAIR_POSITIVE, PAIR_IGNORED };

struct contrast {
    size_t rows, columns, width;      /* B, C, D */
    const float *queries, *documents; /* [B, D], [C, D] */
    const uint8_t *pairs;             /* [B, C] of enum pair, or NULL: the diagonal is positive */
    float scale;
    float *scores;    /* [B, C]: scores, then their gradients */
    float *gradients; /* [B, C], of wt__loss_contrast_both alone */
};

/* dqueries [B, D], ddocuments [C, D]. */
float wt__loss_contrast(const struct contrast *contrast, float *dqueries, float *ddocuments);

/* The same pair by pair and in both directions: a positive's loss is the mean of -log(exp score / (exp score + sum of
 * exp of the negatives of its row)) and of the same over its column; other positives do not count against it. The loss
 * is the mean over positives. */
float wt__loss_contrast_both(const struct contrast *contrast, float *dqueries, float *ddocuments);

/* Mean over rows of max(0, |a - p| - |a - n| + margin), Euclidean; TRIPLET_EPSILON is added to each difference, as in
 * PyTorch. All [B, D]. */
#define TRIPLET_EPSILON 1e-6f
float wt__loss_triplet(const float *anchor, const float *positive, const float *negative, size_t rows, size_t width,
                       float margin, float *danchor, float *dpositive, float *dnegative);

/* How far vectors are from a teacher's, and their likenesses from the teacher's likenesses: with S = V V^T,
 *
 *   mean over rows of |v - t|^2 + likeness * mean over pairs of (S - T T^T)^2
 *
 * vectors, teacher [B, D] at length one; scratch [B, B]; dvectors [B, D]. */
float wt__loss_distil(const float *vectors, const float *teacher, size_t rows, size_t width, float likeness,
                      float *scratch, float *dvectors);

/* How far the likenesses of vectors are from a teacher's, whose vectors may be of another width: the mean over rows of
 * the Kullback-Leibler divergence of the softmax of scale times the inner products with all other rows.
 * vectors [B, D], teacher [B, E]; scratch [2, B, B]; dvectors [B, D]. */
struct likeness {
    size_t rows, width, teacher_width; /* B, D, E */
    const float *vectors, *teacher;
    float scale;
    float *scratch;
};
float wt__loss_likeness(const struct likeness *likeness, float *dvectors);

/* The labels of row b: label[start[b]] .. label[start[b + 1] - 1], each once and below the number of labels M. */
struct labels {
    const size_t *start; /* [B + 1] */
    const int32_t *label;
};

/* logits, dlogits [B, M]; dlogits may be logits.
 * softmax: -(sum over rows and their labels of log softmax(logits)[b, label]) / B
 * bce:     binary cross-entropy of each logit, mean over B M */
float wt__loss_multilabel_softmax(const float *logits, const struct labels *gold, size_t rows, size_t labels,
                                  float *dlogits);
float wt__loss_multilabel_bce(const float *logits, const struct labels *gold, size_t rows, size_t labels,
                              float *dlogits);

/* One of these two behind a head of M rows: logits = scale * (vectors head^T - shift). */
struct multilabel {
    size_t rows, labels, width;  /* B, M, D */
    const float *vectors, *head; /* [B, D], [M, D] */
    float scale, shift;
    float (*loss)(const float *logits, const struct labels *gold, size_t rows, size_t labels, float *dlogits);
    float *logits; /* [B, M]: logits, then their gradients */
};

/* dvectors [B, D], or NULL. dhead [M, D] is added to: a head is a parameter. */
float wt__loss_multilabel(const struct multilabel *multilabel, const struct labels *gold, float *dvectors,
                          float *dhead);

#endif
