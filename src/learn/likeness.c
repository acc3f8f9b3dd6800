/* likeness.c: trains the encoder to reproduce a teacher's similarities: moves the softmax of a text's similarities with
 * the others of the batch towards the teacher's (Kullback-Leibler). This transfers the teacher's knowledge beyond the
 * labels, on any catalogue. The teacher's vectors may have another width.
 *
 * A batch is requests and their tools, so some texts are very similar. The teacher encodes texts within the step. Most
 * texts occur at most once, and a resumed training has nothing to recompute. */
#include "learn/tuning.h"

#include <stdlib.h>

#include "base/memory.h"
#include "encoder/encoder.h"
#include "encoder/model_dir.h"
#include "nn/loss.h"

static const float SCALE = 20; /* factor of the cosine */

struct likeness_step {
    struct encoder *teacher;
    struct step_tools tools;
    struct str *texts;       /* [batch + tools] of the step */
    float *wanted, *scratch; /* [texts, E], scratch_of(texts) */
};

static size_t count_most_texts(const struct tuning *tuning)
{
    return tuning->batch + wt__tuning_most_tools(tuning);
}

/* Returns the number of floats that the loss needs. */
static size_t count_likeness_floats(size_t texts)
{
    return 2 * texts * texts;
}

static size_t measure_likeness_step(const struct tuning *tuning, struct batch_limits *limits)
{
    size_t texts = limits->texts = count_most_texts(tuning);
    limits->rows = wt__token_texts_longest(&tuning->requests, tuning->batch) +
                   wt__token_texts_longest(&tuning->tools, wt__tuning_most_tools(tuning));
    return texts * sizeof(struct str) +
           count_likeness_floats(texts) * sizeof(float); /* plus the teacher, which is mapped */
}

static int open_likeness_teacher(struct tuning *tuning, struct likeness_step *step, wt_error *err)
{
    struct training *training = tuning->training;
    const wt_train_options *options = training->options;
    char *folder;
    int rc = wt__model_installed(&folder, &training->arena, options->models_dir, options->teacher, err);
    return rc < 0 ? rc : wt__encoder_open(&step->teacher, folder, err);
}

static int begin_likeness(struct tuning *tuning, wt_error *err)
{
    size_t texts = count_most_texts(tuning);
    struct likeness_step *step = calloc(1, sizeof *step);
    tuning->own = step;
    if (!step)
        return wt__fail_nomem(err);
    int rc = open_likeness_teacher(tuning, step, err);
    if (rc < 0)
        return rc;
    step->texts = wt__alloc_array(texts, sizeof *step->texts);
    step->wanted = wt__alloc_aligned(texts * wt__encoder_dim(step->teacher), sizeof *step->wanted);
    step->scratch = wt__alloc_aligned(count_likeness_floats(texts), sizeof *step->scratch);
    return step->texts && step->wanted && step->scratch ? 0 : wt__fail_nomem(err);
}

static void end_likeness(struct tuning *tuning)
{
    struct likeness_step *step = tuning->own;
    if (!step)
        return;
    wt__encoder_close(step->teacher);
    free(step->tools.rows);
    free(step->texts);
    free(step->wanted);
    free(step->scratch);
    free(step);
}

static int prepare_likeness(struct tuning *tuning, const uint32_t *examples, size_t count, struct rng *rng,
                            wt_error *err)
{
    const struct examples *all = &tuning->training->examples;
    struct likeness_step *step = tuning->own;
    size_t texts = 0, dim = wt__encoder_dim(step->teacher);
    unsigned threads = tuning->training->threads;
    int rc = wt__tuning_tools(&step->tools, tuning, examples, count, rng, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < count; i++) {
        wt__tuning_add(tuning, &tuning->requests, examples[i]);
        step->texts[texts++] = all->train.texts[examples[i]];
    }
    for (size_t t = 0; t < step->tools.count; t++) {
        wt__tuning_add(tuning, &tuning->tools, step->tools.rows[t]);
        step->texts[texts++] = all->texts[0][step->tools.rows[t]];
    }
    rc = wt__encode_many(step->teacher, TEXT_REQUEST, step->texts, count, threads, step->wanted, NULL, err);
    return rc < 0 ? rc
                  : wt__encode_many(step->teacher, TEXT_TOOL, step->texts + count, texts - count, threads,
                                    step->wanted + count * dim, NULL, err);
}

static double compute_likeness_loss(struct tuning *tuning)
{
    const struct likeness_step *step = tuning->own;
    struct training_batch *batch = &tuning->training_batch;
    const struct likeness likeness = {.rows = batch->count,
                                      .width = batch->hidden,
                                      .teacher_width = wt__encoder_dim(step->teacher),
                                      .vectors = batch->vectors,
                                      .teacher = step->wanted,
                                      .scale = SCALE,
                                      .scratch = step->scratch};
    return wt__loss_likeness(&likeness, batch->dvectors);
}

const struct tuning_kind wt__likeness = {.name = "likeness",
                                         .output = BATCH_UNIT,
                                         .rate = 5e-5,
                                         .measure = measure_likeness_step,
                                         .begin = begin_likeness,
                                         .end = end_likeness,
                                         .prepare = prepare_likeness,
                                         .loss = compute_likeness_loss};
