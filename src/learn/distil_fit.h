/* distil_fit.h: the three steps that make a table of rows out of a teacher's vectors (model2vec; tokenlearn):
 *
 *   begin      a row is the teacher's vector of the token alone on the axes that its vectors of the texts differ most
 *              in, times a / (a + p): the smooth inverse frequency (SIF; Arora et al. 2017) of the token
 *   fit        the texts' vectors come near to the teacher's, and likenesses between texts to the teacher's likenesses
 *   contrast   requests come nearer to their tools' texts than to other tools' of their source, and the other way
 * round; half of what that changes is kept
 */
#ifndef WT_LEARN_DISTIL_FIT_H
#define WT_LEARN_DISTIL_FIT_H

#include "learn/distil_texts.h"
#include "learn/student.h"

struct distil_settings {
    uint64_t seed;
    unsigned threads;
    double smoothing;       /* a; 0: all tokens weigh the same */
    double epochs;          /* of the fit, passes over the texts; 0: no fit */
    double rate;            /* highest */
    size_t batch;           /* texts a step */
    double likeness;        /* weight of the likenesses, see nn/loss.h */
    double contrast_epochs; /* passes over the requests; 0: no contrast */
    double contrast_rate;
    size_t contrast_batch; /* requests a step */
    double contrast_scale; /* of the cosine */
    double contrast_share; /* that is kept of what contrast changes */
};
extern const struct distil_settings wt__distil_defaults; /* but the epochs, which depend on what there is */
double wt__distil_fit_epochs(size_t texts);
double wt__distil_contrast_epochs(size_t requests);

/* Every row times its token's weight, frequency [V]. */
void wt__distil_weigh(struct student *student, const float *frequency, double smoothing);

/* teacher [N, D]: unit vectors of all texts. The student has room for 2 * (largest batch) texts. Errors: WT_ECANCELLED,
 * WT_EMODEL (the loss became infinite), WT_ENOMEM. */
int wt__distil_fit(struct student *student, const struct distil_texts *texts, const float *teacher,
                   const struct distil_settings *settings, struct train_progress *progress, wt_error *err);
int wt__distil_contrast(struct student *student, const struct distil_texts *texts,
                        const struct distil_settings *settings, struct train_progress *progress, wt_error *err);

#endif
