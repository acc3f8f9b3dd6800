/* distil_fit.h: the three steps that turn a teacher's vectors into a table of rows (model2vec; tokenlearn):
 *
 *   begin      A row is the teacher's vector of the token alone, projected to the principal axes of its vectors of the
 *              texts, times a / (a + p): the smooth inverse frequency (SIF; Arora et al. 2017) of the token.
 *   fit        Moves the texts' vectors towards the teacher's, and similarities between texts towards the teacher's.
 *   contrast   Moves requests towards the texts of their tools and away from those of other tools of their source, and
 *              vice versa. Keeps a share of the change. */
#ifndef WT_LEARN_DISTIL_FIT_H
#define WT_LEARN_DISTIL_FIT_H

#include "learn/distil_texts.h"
#include "learn/student.h"

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
extern const struct distil_settings wt__distil_defaults; /* without the epochs, which depend on the amount of data */
double wt__distil_fit_epochs(size_t texts);
double wt__distil_contrast_epochs(size_t requests);

/* Multiplies every row by its token's weight. frequency: [V]. */
void wt__distil_weigh(struct student *student, const float *frequency, double smoothing);

/* Runs fit and contrast. teacher [N, D]: unit vectors of all texts. The student must have room for 2 * (largest batch)
 * texts. Errors: WT_ECANCELLED, WT_EMODEL (the loss became infinite), WT_ENOMEM. */
int wt__distil_fit(struct student *student, const struct distil_texts *texts, const float *teacher,
                   const struct distil_settings *settings, struct train_progress *progress, wt_error *err);
int wt__distil_contrast(struct student *student, const struct distil_texts *texts,
                        const struct distil_settings *settings, struct train_progress *progress, wt_error *err);

#endif
