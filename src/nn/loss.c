/* loss.c: the losses of loss.h. Matrix products run on wt__matmul. */
#include "nn/loss.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "nn/matrix.h"

static double softplus(double x)
{
    return (x > 0 ? x : 0) + log1p(exp(-fabs(x)));
}

static double logistic_double(double x)
{
    return 1.0 / (1.0 + exp(-x));
}

static enum pair pair_at(const struct contrast *c, size_t row, size_t column)
{
    if (c->pairs)
        return (enum pair)c->pairs[row * c->columns + column];
    return row == column ? PAIR_POSITIVE : PAIR_NEGATIVE;
}

/* Returns the loss of one row, or 0 if it has no positive. *positives: number of positives in the row. Replaces the
 * scores by their gradients. The gradient is softmax - 1 / *positives for positives, softmax for negatives, and 0 for
 * ignored pairs. In a row without positives, all gradients are 0. */
static double contrast_row(const struct contrast *c, size_t row, size_t *positives)
{
    float *scores = c->scores + row * c->columns;
    double most = -INFINITY, sum = 0, loss = 0;
    size_t count = 0;
    for (size_t i = 0; i < c->columns; i++) {
        enum pair pair = pair_at(c, row, i);
        count += pair == PAIR_POSITIVE;
        if (pair != PAIR_IGNORED && scores[i] > most)
            most = scores[i];
    }
    *positives = count;
    if (count == 0) {
        memset(scores, 0, c->columns * sizeof(float));
        return 0;
    }
    for (size_t i = 0; i < c->columns; i++)
        sum += pair_at(c, row, i) == PAIR_IGNORED ? 0 : exp(scores[i] - most);
    for (size_t i = 0; i < c->columns; i++) {
        enum pair pair = pair_at(c, row, i);
        double share = pair == PAIR_IGNORED ? 0 : exp(scores[i] - most) / sum;
        if (pair == PAIR_POSITIVE) {
            loss += most + log(sum) - scores[i];
            share -= 1.0 / (double)count;
        }
        scores[i] = (float)share;
    }
    return loss / (double)count;
}

static void score_contrast(const struct contrast *c)
{
    wt__multiply_dense(c->rows, c->columns, c->width, c->queries, false, c->documents, true, c->scores);
    for (size_t i = 0; i < c->rows * c->columns; i++)
        c->scores[i] *= c->scale;
}

/* Computes the gradients of queries and documents from dscores [B, C], the gradients of the scores, times factor.
 * Overwrites dscores. */
static void backpropagate_scores(const struct contrast *c, float *dscores, float factor, float *dqueries,
                                 float *ddocuments)
{
    for (size_t i = 0; i < c->rows * c->columns; i++)
        dscores[i] *= factor;
    wt__multiply_dense(c->rows, c->width, c->columns, dscores, false, c->documents, false, dqueries);
    wt__multiply_dense(c->columns, c->width, c->rows, dscores, true, c->queries, false, ddocuments);
}

float wt__loss_contrast(const struct contrast *c, float *dqueries, float *ddocuments)
{
    size_t counted = 0;
    double loss = 0;
    score_contrast(c);
    for (size_t row = 0; row < c->rows; row++) {
        size_t positives;
        loss += contrast_row(c, row, &positives);
        counted += positives > 0;
    }
    backpropagate_scores(c, c->scores, counted ? c->scale / (float)counted : 0, dqueries, ddocuments);
    return counted ? (float)(loss / (double)counted) : 0;
}

/* Contrasts each positive of a line with the negatives of the line. A line is one row or column of pairs. It has
 * `count` pairs, starting at index `first`, `stride` apart. Adds to c->gradients, and adds the number of positives to
 * *positives. Returns the sum of the losses of the positives. */
static double contrast_line(const struct contrast *c, size_t first, size_t stride, size_t count, size_t *positives)
{
    const float *scores = c->scores + first;
    float *gradients = c->gradients + first;
    double most = -INFINITY, sum = 0, loss = 0, share = 0;
    for (size_t i = 0; i < count; i++) {
        size_t at = first + i * stride;
        if (pair_at(c, at / c->columns, at % c->columns) == PAIR_NEGATIVE && scores[i * stride] > most)
            most = scores[i * stride];
    }
    for (size_t i = 0; i < count; i++) {
        size_t at = first + i * stride;
        if (pair_at(c, at / c->columns, at % c->columns) == PAIR_NEGATIVE)
            sum += exp(scores[i * stride] - most);
    }
    for (size_t i = 0; i < count; i++) {
        size_t at = first + i * stride;
        if (pair_at(c, at / c->columns, at % c->columns) != PAIR_POSITIVE)
            continue;
        ++*positives;
        if (sum == 0)
            continue;                                        /* without negatives the loss is 0 */
        double wrong = most + log(sum) - scores[i * stride]; /* log odds of the negatives against this positive */

        loss += softplus(wrong);
        gradients[i * stride] -= (float)logistic_double(wrong);
        share += logistic_double(wrong);
    }
    for (size_t i = 0; share > 0 && i < count; i++) {
        size_t at = first + i * stride;
        if (pair_at(c, at / c->columns, at % c->columns) == PAIR_NEGATIVE)
            gradients[i * stride] += (float)(share * exp(scores[i * stride] - most) / sum);
    }
    return loss;
}

float wt__loss_contrast_both(const struct contrast *c, float *dqueries, float *ddocuments)
{
    size_t counted = 0; /* counts each positive twice: in its row and in its column */
    double loss = 0;
    score_contrast(c);
    for (size_t i = 0; i < c->rows * c->columns; i++)
        c->gradients[i] = 0;
    for (size_t row = 0; row < c->rows; row++)
        loss += contrast_line(c, row * c->columns, 1, c->columns, &counted);
    for (size_t column = 0; column < c->columns; column++)
        loss += contrast_line(c, column, c->columns, c->rows, &counted);
    backpropagate_scores(c, c->gradients, counted ? c->scale / (float)counted : 0, dqueries, ddocuments);
    return counted ? (float)(loss / (double)counted) : 0;
}

/* Returns |a - b + epsilon|. */
static double triplet_distance(const float *a, const float *b, size_t width)
{
    double sum = 0;
    for (size_t i = 0; i < width; i++) {
        double d = (double)a[i] - b[i] + TRIPLET_EPSILON;
        sum += d * d;
    }
    return sqrt(sum);
}

/* Adds factor * (a - b + epsilon) / length to da and subtracts it from db. */
static void add_distance_gradient(const float *a, const float *b, double length, double factor, size_t width, float *da,
                                  float *db)
{
    for (size_t i = 0; i < width && length > 0; i++) {
        float d = (float)(factor * ((double)a[i] - b[i] + TRIPLET_EPSILON) / length);
        da[i] += d;
        db[i] -= d;
    }
}

/* Computes the inner products of rows [B, width] into out [B, B], or adds them to it. */
static void multiply_by_own_transpose(const float *rows, size_t count, size_t width, bool accumulate, float *out)
{
    struct matmul product = wt__dense_product(count, count, width, rows, false, rows, true, out);
    product.accumulate = accumulate;
    wt__matmul(&product);
}

float wt__loss_distil(const float *vectors, const float *teacher, size_t rows, size_t width, float likeness,
                      float *scratch, float *dvectors)
{
    struct matmul gradient = wt__dense_product(rows, width, rows, scratch, false, vectors, false, dvectors);
    gradient.accumulate = true;
    size_t all = rows * rows;
    double apart = 0, unlike = 0, n = rows > 0 ? (double)rows : 1;
    for (size_t i = 0; i < rows * width; i++) {
        double difference = (double)vectors[i] - teacher[i];
        apart += difference * difference;
        dvectors[i] = (float)(2 * difference / n);
    }
    if (likeness == 0)
        return (float)(apart / n);
    multiply_by_own_transpose(teacher, rows, width, false, scratch);
    for (size_t i = 0; i < all; i++)
        scratch[i] = -scratch[i];
    multiply_by_own_transpose(vectors, rows, width, true, scratch);
    float factor = (float)(4 * likeness / (n * n));
    for (size_t i = 0; i < all; i++) {
        unlike += (double)scratch[i] * scratch[i];
        scratch[i] *= factor;
    }
    wt__matmul(&gradient);
    return (float)(apart / n + likeness * unlike / (n * n));
}

/* Returns the log of the sum of exp(scale * row[i]) over all i other than self. */
static double log_sum_exp(const float *row, size_t count, size_t self, double scale)
{
    double most = -INFINITY, sum = 0;
    for (size_t i = 0; i < count; i++)
        if (i != self && scale * row[i] > most)
            most = scale * row[i];
    for (size_t i = 0; i < count; i++)
        sum += i == self ? 0 : exp(scale * row[i] - most);
    return sum > 0 ? most + log(sum) : most;
}

float wt__loss_likeness(const struct likeness *l, float *dvectors)
{
    size_t rows = l->rows;
    float *own = l->scratch, *wanted = own + rows * rows;
    double loss = 0, scale = l->scale;
    struct matmul gradient = wt__dense_product(rows, l->width, rows, own, false, l->vectors, false, dvectors);
    memset(dvectors, 0, rows * l->width * sizeof(float));
    if (rows < 2)
        return 0;
    multiply_by_own_transpose(l->vectors, rows, l->width, false, own);
    multiply_by_own_transpose(l->teacher, rows, l->teacher_width, false, wanted);
    for (size_t row = 0; row < rows; row++) {
        float *q = own + row * rows;
        const float *p = wanted + row * rows;
        double own_sum = log_sum_exp(q, rows, row, scale), wanted_sum = log_sum_exp(p, rows, row, scale);
        for (size_t i = 0; i < rows; i++) {
            double log_q = scale * q[i] - own_sum, log_p = scale * p[i] - wanted_sum;
            loss += i == row ? 0 : exp(log_p) * (log_p - log_q);
            q[i] = i == row ? 0 : (float)((exp(log_q) - exp(log_p)) * scale / (double)rows);
        }
    }
    for (size_t a = 0; a < rows; a++) /* Each inner product occurs in two rows. */
        for (size_t b = 0; b < a; b++)
            own[a * rows + b] = own[b * rows + a] = own[a * rows + b] + own[b * rows + a];
    wt__matmul(&gradient);
    return (float)(loss / (double)rows);
}

float wt__loss_triplet(const float *anchor, const float *positive, const float *negative, size_t rows, size_t width,
                       float margin, float *danchor, float *dpositive, float *dnegative)
{
    size_t bytes = rows * width * sizeof(float);
    double loss = 0, share = rows ? 1.0 / (double)rows : 0;
    if (bytes > 0) {
        memset(danchor, 0, bytes);
        memset(dpositive, 0, bytes);
        memset(dnegative, 0, bytes);
    }
    for (size_t row = 0; row < rows; row++) {
        size_t at = row * width;
        double near = triplet_distance(anchor + at, positive + at, width),
               far = triplet_distance(anchor + at, negative + at, width);
        double excess = near - far + margin;
        if (excess <= 0)
            continue;
        loss += excess * share;
        add_distance_gradient(anchor + at, positive + at, near, share, width, danchor + at, dpositive + at);
        add_distance_gradient(anchor + at, negative + at, far, -share, width, danchor + at, dnegative + at);
    }
    return (float)loss;
}

float wt__loss_multilabel_softmax(const float *logits, const struct label_rows *gold, size_t rows, size_t labels,
                                  float *dlogits)
{
    double loss = 0, share = rows ? 1.0 / (double)rows : 0;
    for (size_t row = 0; row < rows; row++) {
        const float *x = logits + row * labels;
        float *dx = dlogits + row * labels;
        double most = -INFINITY, sum = 0, count = (double)(gold->start[row + 1] - gold->start[row]);
        for (size_t i = 0; i < labels; i++)
            most = x[i] > most ? x[i] : most;
        for (size_t i = 0; i < labels; i++)
            sum += expf((float)(x[i] - most));
        for (size_t i = gold->start[row]; i < gold->start[row + 1]; i++)
            loss += (most + log(sum) - x[gold->label[i]]) * share;
        for (size_t i = 0; i < labels; i++)
            dx[i] = (float)(expf((float)(x[i] - most)) / sum * count * share);
        for (size_t i = gold->start[row]; i < gold->start[row + 1]; i++)
            dx[gold->label[i]] -= (float)share;
    }
    return (float)loss;
}

float wt__loss_multilabel_bce(const float *logits, const struct label_rows *gold, size_t rows, size_t labels,
                              float *dlogits)
{
    double loss = 0, share = rows && labels ? 1.0 / ((double)rows * (double)labels) : 0;
    for (size_t row = 0; row < rows; row++) {
        const float *x = logits + row * labels;
        float *dx = dlogits + row * labels;
        for (size_t i = gold->start[row]; i < gold->start[row + 1]; i++)
            loss -= x[gold->label[i]] * share;
        for (size_t i = 0; i < labels; i++) {
            loss += softplus(x[i]) * share;
            dx[i] = (float)(logistic_double(x[i]) * share);
        }
        for (size_t i = gold->start[row]; i < gold->start[row + 1]; i++)
            dx[gold->label[i]] -= (float)share;
    }
    return (float)loss;
}

float wt__loss_multilabel(const struct multilabel *m, const struct label_rows *gold, float *dvectors, float *dhead,
                          float *dshifts)
{
    size_t n = m->rows * m->labels;
    wt__multiply_dense(m->rows, m->labels, m->width, m->vectors, false, m->head, true, m->logits);
    for (size_t i = 0; i < n; i++)
        m->logits[i] = m->scale * (m->logits[i] - (m->shifts ? m->shifts[i % m->labels] : 0));
    float loss = m->loss(m->logits, gold, m->rows, m->labels, m->logits);
    for (size_t i = 0; i < n; i++)
        m->logits[i] *= m->scale;
    for (size_t i = 0; dshifts && i < n; i++)
        dshifts[i % m->labels] -= m->logits[i];
    if (dvectors)
        wt__multiply_dense(m->rows, m->width, m->labels, m->logits, false, m->head, false, dvectors);
    struct matmul product = wt__dense_product(m->labels, m->width, m->rows, m->logits, true, m->vectors, false, dhead);
    product.accumulate = true;
    wt__matmul(&product);
    return loss;
}
