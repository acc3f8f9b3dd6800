/* usage_learn.c: learns from recorded use. Adds the vectors of recorded requests to the sums of the tools that they
 * used (store/store.h), loads the results of training, and reminds of training.
 *
 * The store's mark is the id of the last learned usage. The usages after the mark are read in batches of BATCH. Equal
 * requests of a batch are encoded once. The store is not locked while the encoder runs. If the mark has moved
 * meanwhile, the store refuses the batch, and the usages after the new mark are read.
 *
 * If a usage is forgotten, the sums that include the usage are computed again from the remaining usages. */
#include "changes/recorded_use.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/map.h"
#include "base/memory.h"
#include "engine/engine.h"
#include "recipe/trained.h"

enum { BATCH = 1024, STALE_BATCH = 256 };

struct usage_learner {
    wt_engine *engine;
    const struct encoder *encoder;
    struct vector_set set;
    unsigned threads;
    struct progress *progress;
    size_t learned; /* number of encoded requests */
    wt_error *err;
    /* The current batch. */
    struct arena arena;
    struct usage *usages; /* [count] */
    size_t count;
    int64_t ids[BATCH];      /* [count], ids of the usages */
    uint32_t rows[BATCH];    /* [count], row of the usage's vector in `vectors` */
    struct str texts[BATCH]; /* [text_count], distinct requests */
    size_t text_count;
    float *vectors; /* [text_count, D] */
};

int wt__usage_encoder(wt_engine *engine, const struct encoder **out, wt_error *err)
{
    const struct trained *trained = NULL;
    /* Ignore a damaged trained model; callers that use its recipes report it. */
    if (wt__engine_trained(engine, &trained, NULL) == WT_ENOMEM)
        return wt__fail_nomem(err);
    if (!trained || !trained->own)
        return wt__engine_encoder(engine, out, err);
    *out = trained->own;
    return 0;
}

/* Lists the distinct requests to encode. */
static int list_distinct_requests(struct usage_learner *l)
{
    WT_CLEANUP(wt__map_dispose) struct map seen = {0};
    l->text_count = 0;
    for (size_t i = 0; i < l->count; i++) {
        struct str key = {(const char *)&l->usages[i].request_id, sizeof l->usages[i].request_id};
        bool added = false;
        const uint32_t *row = wt__map_insert(&seen, key, (uint32_t)l->text_count, &added);
        WT_CHECK_ALLOC(row, l->err);
        if (added)
            l->texts[l->text_count++] = l->usages[i].request;
        l->ids[i] = l->usages[i].id;
        l->rows[i] = *row;
    }
    return 0;
}

/* Reads the next usages of the query and encodes their requests. count is 0 at the end. mark: if not NULL, receives the
 * store's mark, and the usages after it are read. */
static int encode_next_batch(struct usage_learner *l, struct usage_query *query, struct usage_mark *mark,
                             struct progress *progress)
{
    wt__arena_reset(&l->arena);
    pthread_mutex_lock(&l->engine->store_lock);
    int rc = mark ? wt__store_usage_mark(l->engine->store, &l->set, mark, l->err) : 0;
    if (rc == 0 && mark)
        query->after = mark->last;
    if (rc == 0)
        rc = wt__store_usages(l->engine->store, query, &l->arena, &l->usages, &l->count, l->err);
    pthread_mutex_unlock(&l->engine->store_lock);
    if (rc == 0)
        rc = list_distinct_requests(l);
    if (rc < 0 || l->count == 0)
        return rc;
    WT_TRY(
        wt__encode_many(l->encoder, TEXT_REQUEST, l->texts, l->text_count, l->threads, l->vectors, progress, l->err));
    l->learned += l->text_count;
    for (size_t i = 0; i < l->text_count * l->set.dim; i++)
        if (!isfinite(l->vectors[i]))
            return wt__fail(l->err, WT_EMODEL, "the model %s returned a non-finite vector for a recorded request",
                            l->set.model_name);
    return 0;
}

/* Learns the usages after the mark. pending: number of usages after the mark. */
static int learn_new_usages(struct usage_learner *l, uint64_t pending)
{
    struct usage_query query = {.teaching = true, .limit = BATCH};
    struct usage_mark mark;
    int rc = 0;
    if (wt__progress_phase(l->progress, "encoding", pending))
        return wt__fail_cancelled(l->err);
    while (rc >= 0) {
        rc = encode_next_batch(l, &query, &mark, l->progress);
        if (rc < 0 || l->count == 0)
            break;
        if (wt__progress_step(l->progress, l->count - l->text_count))
            return wt__fail_cancelled(l->err);
        pthread_mutex_lock(&l->engine->store_lock);
        rc = wt__store_add_usage_vectors(l->engine->store, &l->set, mark.last, l->ids[l->count - 1], l->ids, l->rows,
                                         l->count, l->vectors, l->err);
        pthread_mutex_unlock(&l->engine->store_lock);
    }
    return rc;
}

/* Recomputes the sum of a tool from its usages. Returns 1 if the new sum was stored, 0 if the stored sum or
 * the mark has changed meanwhile, or an error. sum [D]: scratch. */
static int recompute_sum(struct usage_learner *l, struct usage_sum_key *key, float *sum)
{
    struct usage_query query = {.tool = key->tool, .teaching = true, .limit = BATCH};
    struct usage_mark mark;
    size_t dim = l->set.dim;
    pthread_mutex_lock(&l->engine->store_lock);
    int rc = wt__store_usage_mark(l->engine->store, &l->set, &mark, l->err);
    pthread_mutex_unlock(&l->engine->store_lock);
    memset(sum, 0, dim * sizeof *sum);
    key->uses = 0;
    query.upto = mark.last;
    do {
        if (rc == 0)
            rc = encode_next_batch(l, &query, NULL, NULL);
        if (rc < 0)
            return rc;
        for (size_t i = 0; i < l->count; i++)
            for (size_t d = 0; d < dim; d++)
                sum[d] += l->vectors[l->rows[i] * dim + d];
        key->uses += (int64_t)l->count;
        if (l->count > 0)
            query.after = l->ids[l->count - 1];
    } while (l->count == BATCH);
    pthread_mutex_lock(&l->engine->store_lock);
    rc = wt__store_put_usage_sum(l->engine->store, &l->set, key, mark.last, sum, l->err);
    pthread_mutex_unlock(&l->engine->store_lock);
    return rc;
}

/* Recomputes the stale sums (store/store.h). stale: number of these sums. */
static int recompute_stale_sums(struct usage_learner *l, uint64_t stale)
{
    struct usage_sum_key keys[STALE_BATCH];
    int count = 0;
    float *sum = wt__alloc_array(l->set.dim, sizeof *sum);
    int rc = sum ? 0 : wt__fail_nomem(l->err);
    if (rc == 0 && wt__progress_phase(l->progress, "encoding again", stale))
        rc = wt__fail_cancelled(l->err);
    /* Start from the first stale sum again after each batch: a sum changed meanwhile is still stale. */
    while (rc == 0) {
        pthread_mutex_lock(&l->engine->store_lock);
        count = wt__store_stale_usage_sums(l->engine->store, &l->set, 0, keys, STALE_BATCH, l->err);
        pthread_mutex_unlock(&l->engine->store_lock);
        if (count <= 0)
            break;
        for (int i = 0; rc >= 0 && i < count; i++) {
            rc = recompute_sum(l, &keys[i], sum);
            if (rc > 0 && wt__progress_step(l->progress, 1))
                rc = wt__fail_cancelled(l->err);
        }
        rc = rc < 0 ? rc : 0;
    }
    free(sum);
    return rc < 0 ? rc : count < 0 ? count : 0;
}

static int run_learning(struct usage_learner *l, const struct usage_mark *mark)
{
    l->vectors = wt__alloc_aligned((size_t)BATCH * l->set.dim, sizeof *l->vectors);
    int rc = l->vectors ? 0 : wt__fail_nomem(l->err);
    if (rc == 0 && mark->pending)
        rc = learn_new_usages(l, mark->pending);
    if (rc == 0 && mark->stale)
        rc = recompute_stale_sums(l, mark->stale);
    free(l->vectors);
    wt__arena_dispose(&l->arena);
    return rc;
}

static int learn_with_encoder(wt_engine *engine, const struct encoder *encoder, unsigned threads,
                              struct progress *progress, size_t *learned, wt_error *err)
{
    struct vector_set set = wt__engine_usage_vectors(encoder, engine);
    struct usage_mark mark;
    *learned = 0;
    pthread_mutex_lock(&engine->store_lock);
    int rc = wt__store_usage_mark(engine->store, &set, &mark, err);
    pthread_mutex_unlock(&engine->store_lock);
    if (rc < 0 || mark.pending + mark.stale == 0)
        return rc;
    WT_TRY(wt__engine_refuse_read_only(engine, "nothing can be learned", err));
    struct usage_learner *l = calloc(1, sizeof *l);
    WT_CHECK_ALLOC(l, err);
    l->engine = engine;
    l->encoder = encoder;
    l->set = set;
    l->threads = threads;
    l->progress = progress;
    l->err = err;
    rc = run_learning(l, &mark);
    *learned = l->learned;
    free(l);
    return rc;
}

int wt__usage_learn(wt_engine *engine, const struct encoder *encoder, struct progress *progress, size_t *learned,
                    wt_error *err)
{
    return learn_with_encoder(engine, encoder, engine->threads, progress, learned, err);
}

/* Learns, and builds a new index if usages were learned and an index is in use. The engine treats this as an import in
 * progress, so that queries use the current index instead of building a new index. */
static int learn_and_index(wt_engine *engine, const struct encoder *encoder, struct progress *progress, size_t *learned,
                           wt_error *err)
{
    struct index_handle *index = NULL;
    wt__engine_begin_import(engine);
    int rc = learn_with_encoder(engine, encoder, 1, progress, learned, err);
    if (*learned > 0 && wt__engine_has_index(engine) && wt__engine_newest_index(engine, &index, NULL) == 0)
        wt__index_release(index);
    wt__engine_changed(engine);
    wt__engine_end_import(engine);
    return rc;
}

int64_t wt__usage_learn_in_background(wt_engine *engine, wt_progress_fn report, void *context, wt_error *err)
{
    const struct encoder *encoder;
    struct progress progress;
    size_t learned = 0;
    WT_TRY(wt__usage_encoder(engine, &encoder, err));
    wt__progress_init(&progress, report, context);
    int rc = learn_and_index(engine, encoder, &progress, &learned, err);
    wt__progress_dispose(&progress);
    return rc < 0 ? rc : (int64_t)learned;
}

int64_t wt_learn_usage(wt_engine *engine, wt_progress_fn report, void *context, wt_error *err)
{
    const struct encoder *encoder;
    struct progress progress;
    size_t learned;
    WT_TRY(wt__usage_encoder(engine, &encoder, err));
    wt__progress_init(&progress, report, context);
    int rc = wt__usage_learn(engine, encoder, &progress, &learned, err);
    wt__engine_changed(engine);
    wt__progress_dispose(&progress);
    return rc < 0 ? rc : (int64_t)learned;
}

int wt__engine_update_trained(wt_engine *engine, struct progress *progress, wt_error *err)
{
    const struct trained *trained;
    size_t count;
    /* Ignore a damaged trained model; callers that use its recipes report it. */
    if (wt__engine_trained(engine, &trained, NULL) == WT_ENOMEM)
        return wt__fail_nomem(err);
    if (!trained)
        return 0;
    int rc = wt__embed_missing(engine, trained->encoder, progress, &count, err);
    return rc < 0 ? rc : wt__usage_learn(engine, trained->encoder, progress, &count, err);
}

/* ---------------------------------------------------------------- reloading */

/* Loads new results of training while queries run.
 *
 * The new files are read while the old objects stay in use. Then the new objects replace the old objects, and the
 * current index is dropped, because its vectors belong to the old objects. If reading fails, the old objects stay.
 * Running queries finish with the old objects, which live until the engine is closed, since their users are not
 * counted. Each reload therefore costs memory, and happens only if the stamp of the files has changed. */

/* Replaces the trained objects. Requires build_lock. */
static void replace_trained(wt_engine *engine, struct on_demand fresh)
{
    pthread_mutex_lock(&engine->lock);
    struct trained *before = engine->trained.opened;
    if (before) {
        before->next = engine->retired;
        engine->retired = before;
    }
    engine->trained = fresh;
    pthread_mutex_unlock(&engine->lock);
    wt__engine_drop_index(engine);
}

void wt__engine_forget_trained(wt_engine *engine)
{
    pthread_mutex_lock(&engine->build_lock);
    replace_trained(engine, (struct on_demand){.opened = NULL});
    pthread_mutex_unlock(&engine->build_lock);
}

/* Reads the trained objects again if their files have changed. Requires build_lock. */
static int reload_changed_trained(wt_engine *engine, bool *anew, wt_error *err)
{
    struct on_demand fresh;
    uint64_t stamp = 0;
    int rc = wt__trained_stamp(&stamp, engine->trained_folder, err);
    if (rc < 0 || !engine->trained.tried || stamp == engine->trained_stamp)
        return rc;
    WT_TRY(wt__engine_reopen_trained(engine, &fresh, err));
    engine->trained_stamp = stamp; /* read before the files, so that later changes are found next time */
    replace_trained(engine, fresh);
    *anew = true;
    return 0;
}

int wt__engine_reload_trained(wt_engine *engine, bool *anew, wt_error *err)
{
    struct index_handle *index = NULL;
    *anew = false;
    pthread_mutex_lock(&engine->build_lock);
    int rc = reload_changed_trained(engine, anew, err);
    pthread_mutex_unlock(&engine->build_lock);
    if (rc == 0 && *anew && !engine->read_only)
        rc = wt__engine_update_trained(engine, NULL, err);
    if (rc == 0 && *anew)
        rc = wt__engine_newest_index(engine, &index, err);
    wt__index_release(index);
    return rc == WT_EEMPTY ? 0 : rc;
}

/* ---------------------------------------------------------------- reminders */

/* Decides if a reminder to train on newly recorded use is due.
 *
 * STORE-index/training-due holds two numbers: usages at the last training, and usages at the last reminder. If the file
 * is lost, a reminder is repeated. */

#define DUE_FILE "training-due"
enum { DUE_BYTES = 64, WORTH_TRAINING = 10, GROWTH = 2 /* docs/learning.md: train again when use has doubled */ };

struct training_mark {
    uint64_t trained; /* number of usages at the last training; 0 if never trained */
    uint64_t told;    /* number of usages at the last reminder; 0 if no reminder since the training */
};

/* Reads the file. Returns false if it is missing or invalid. */
static bool read_training_mark(const char *path, struct training_mark *out)
{
    WT_AUTO_FREE char *text = NULL;
    size_t len;
    *out = (struct training_mark){0};
    return wt__file_read(&text, &len, path, DUE_BYTES, NULL) == 0 &&
           sscanf(text, "%" SCNu64 " %" SCNu64, &out->trained, &out->told) == 2;
}

static int write_training_mark(const char *path, const struct training_mark *due, wt_error *err)
{
    char text[DUE_BYTES];
    int len = snprintf(text, sizeof text, "%" PRIu64 " %" PRIu64 "\n", due->trained, due->told);
    return wt__file_replace(path, text, (size_t)len, err);
}

static int count_recorded_usages(wt_engine *engine, uint64_t *out, wt_error *err)
{
    struct usage_info info = {0};
    struct store *reader;
    WT_TRY(wt__engine_reader(engine, &reader, err));
    int rc = wt__store_usage_info(reader, &info, err);
    wt__engine_return_reader(engine, reader);
    *out = info.usages;
    return rc;
}

int wt__usage_mark_trained(wt_engine *engine, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    struct training_mark due = {0};
    if (!engine->index_folder[0] || engine->read_only)
        return 0;
    const char *path = wt__path_join(&arena, engine->index_folder, DUE_FILE);
    WT_CHECK_ALLOC(path, err);
    WT_TRY(count_recorded_usages(engine, &due.trained, err));
    WT_TRY(wt__make_folders(engine->index_folder, err));
    return write_training_mark(path, &due, err);
}

/* Returns the number of usages since the last training if the user should train now, else 0, or an error. */
static int64_t check_training_due(wt_engine *engine, const char *path, wt_error *err)
{
    struct training_mark due;
    uint64_t usages = 0;
    int rc = count_recorded_usages(engine, &usages, err);
    if (rc < 0 || usages < WORTH_TRAINING)
        return rc;
    bool remembered = read_training_mark(path, &due);
    if (!remembered && wt__is_folder(engine->trained_folder)) {
        /* An older version has trained without writing this file: assume that it used all usages. */
        due.trained = usages;
        write_training_mark(path, &due, NULL);
    }
    uint64_t known = due.trained > due.told ? due.trained : due.told;
    if (usages < GROWTH * known || usages <= due.trained)
        return 0;
    due.told = usages;
    return write_training_mark(path, &due, NULL) < 0 ? 0 : (int64_t)(usages - due.trained);
}

int64_t wt_training_due(wt_engine *engine, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    if (!engine->index_folder[0] || engine->read_only)
        return 0;
    const char *path = wt__path_join(&arena, engine->index_folder, DUE_FILE);
    return path ? check_training_due(engine, path, err) : wt__fail_nomem(err);
}
