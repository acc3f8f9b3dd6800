/* loss.h: training losses. Each function returns the loss and writes the gradients of its inputs. Losses are summed in
 * double precision in a fixed order. The loss and gradients of empty input (no rows, no pair, all masked) are 0. */
#ifndef WT_NN_LOSS_H
#define WT_NN_LOSS_H

#include <stddef.h>
#include <stdint.h>

enum pair { PAIR_NEGATIVE, PAIR_POSITIVE, PAIR_IGNORED };

/* Input of the in-batch contrastive losses. scores[b,c] = scale * query[b] . document[c]. For unit vectors this is the
 * scaled cosine. */
struct contrast {
    size_t rows, columns, width;      /* B, C, D */
    const float *queries, *documents; /* [B, D], [C, D] */
    const uint8_t *pairs;             /* [B, C] of enum pair; NULL if the diagonal is positive and all else negative */
    float scale;
    float *scores;    /* [B, C] scratch */
    float *gradients; /* [B, C] scratch of wt__loss_contrast_both; NULL for wt__loss_contrast */
};

/* The loss of a row is the mean over its positives p of -log(exp score[b,p] / sum of exp score[b,c]). The sum runs over
 * the positives and negatives c of the row. The loss is the mean over the rows with a positive. Overwrites dqueries
 * [B, D] and ddocuments [C, D]. */
float wt__loss_contrast(const struct contrast *contrast, float *dqueries, float *ddocuments);

/* Contrasts each positive pair in both directions. The loss of the pair is the mean of two terms. The first is
 * -log(exp score / (exp score + sum of exp score of the negatives in its row)). The second is the same for its column.
 * Other positives are not in the sums. The loss is the mean over all positive pairs. Overwrites dqueries [B, D] and
 * ddocuments [C, D]. */
float wt__loss_contrast_both(const struct contrast *contrast, float *dqueries, float *ddocuments);

/* Mean over rows of max(0, |a - p| - |a - n| + margin) with Euclidean distances. TRIPLET_EPSILON is added to each
 * difference, as in PyTorch. All arrays are [B, D]. */
#define TRIPLET_EPSILON 1e-6f
float wt__loss_triplet(const float *anchor, const float *positive, const float *negative, size_t rows, size_t width,
                       float margin, float *danchor, float *dpositive, float *dnegative);

/* Distillation loss. Compares the vectors, and their inner products with each other, with those of a teacher:
 *
 *   mean over rows of |v - t|^2 + likeness * mean over pairs of (V V^T - T T^T)^2
 *
 * vectors and teacher [B, D] are unit vectors; scratch [B, B]; dvectors [B, D]. */
float wt__loss_distil(const float *vectors, const float *teacher, size_t rows, size_t width, float likeness,
                      float *scratch, float *dvectors);

/* Input of wt__loss_likeness, a distillation loss on similarities only. The teacher's vectors may have another width.
 * For each row, the softmax over scale * the inner products with all other rows is a distribution. The loss is the mean
 * over rows of the Kullback-Leibler divergence of the teacher's distribution from that of the vectors. vectors [B, D],
 * teacher [B, E], scratch [2, B, B]. */
struct likeness {
    size_t rows, width, teacher_width; /* B, D, E */
    const float *vectors, *teacher;
    float scale;
    float *scratch;
};
/* Overwrites dvectors [B, D]. */
float wt__loss_likeness(const struct likeness *likeness, float *dvectors);

/* Row b has the labels label[start[b]] .. label[start[b + 1] - 1]. They have no duplicates. Each is below M, the number
 * of all labels. */
struct label_rows {
    const size_t *start; /* [B + 1] */
    const int32_t *label;
};

/* Losses of logits [B, M]. dlogits [B, M] may be the same array as logits.
 * softmax: -(sum over rows and their labels of log softmax(logits)[b, label]) / B
 * bce:     mean over B M of the binary cross-entropy of each logit */
float wt__loss_multilabel_softmax(const float *logits, const struct label_rows *gold, size_t rows, size_t labels,
                                  float *dlogits);
float wt__loss_multilabel_bce(const float *logits, const struct label_rows *gold, size_t rows, size_t labels,
                              float *dlogits);

/* Input of wt__loss_multilabel. A head of M rows gives logits = scale * (vectors head^T - shifts). `loss` is one of the
 * two functions above and computes the loss of the logits. */
struct multilabel {
    size_t rows, labels, width;  /* B, M, D */
    const float *vectors, *head; /* [B, D], [M, D] */
    float scale;
    const float *shifts; /* [M]; NULL for zeros */
    float (*loss)(const float *logits, const struct label_rows *gold, size_t rows, size_t labels, float *dlogits);
    float *logits; /* [B, M] scratch: logits, then their gradients */
};

/* Overwrites dvectors [B, D] unless NULL. Adds to dhead [M, D], and to dshifts [M] unless NULL, because these are
 * parameters. */
float wt__loss_multilabel(const struct multilabel *multilabel, const struct label_rows *gold, float *dvectors,
                          float *dhead, float *dshifts);

#endif
