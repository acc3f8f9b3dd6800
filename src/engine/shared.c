/* shared.c: the encoders and trained models shared by queries, opened on first use. */
#include "engine/engine.h"

#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/memory.h"
#include "encoder/manifest.h"
#include "encoder/model_dir.h"
#include "retrieve/document.h"

/* ---------------------------------------------------------------- on demand */

/* Opens an object. On error, fills *why. Requires build_lock. */
typedef int (*open_function)(wt_engine *engine, struct progress *progress, void **out, wt_error *why);

enum { WAIT_NS = 50000000 /* interval of polling progress, in nanoseconds */ };

int wt__engine_lock_build(wt_engine *engine, struct progress *progress, wt_error *err)
{
    if (!progress) {
        pthread_mutex_lock(&engine->build_lock);
        return 0;
    }
    if (pthread_mutex_trylock(&engine->build_lock) == 0)
        return 0;
    bool stopped = wt__progress_phase(progress, "waiting", 0);
    while (!stopped) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += WAIT_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        if (pthread_mutex_timedlock(&engine->build_lock, &until) == 0)
            return 0;
        stopped = wt__progress_step(progress, 0);
    }
    return wt__fail_cancelled(err);
}

/* Returns true if opening was tried before. Then *out is the object, *rc its result, and *err the error, if any. */
static bool was_tried(wt_engine *engine, const struct on_demand *thing, const void **out, int *rc, wt_error *err)
{
    pthread_mutex_lock(&engine->lock);
    bool tried = thing->tried;
    *out = thing->opened;
    *rc = thing->why.code;
    if (tried && *rc < 0 && err)
        *err = thing->why;
    pthread_mutex_unlock(&engine->lock);
    return tried;
}

/* True if a later attempt need not be made. After WT_ENOMEM or WT_ECANCELLED, a later attempt may succeed. */
static bool is_permanent_result(int rc)
{
    return rc != WT_ENOMEM && rc != WT_ECANCELLED;
}

/* Returns the object, opened if needed. Requires build_lock. */
static int open_once_locked(wt_engine *engine, struct on_demand *thing, open_function open, struct progress *progress,
                            const void **out, wt_error *err)
{
    void *opened = NULL;
    wt_error why = {0};
    int rc;
    if (was_tried(engine, thing, out, &rc, err))
        return rc;
    rc = open(engine, progress, &opened, &why);
    if (rc == 0)
        why = (wt_error){0};
    pthread_mutex_lock(&engine->lock);
    *thing = (struct on_demand){opened, why, is_permanent_result(rc)};
    pthread_mutex_unlock(&engine->lock);
    if (rc < 0 && err)
        *err = why;
    *out = opened;
    return rc;
}

/* Works like open_once_locked and takes build_lock only if the object was not tried yet. */
static int open_once(wt_engine *engine, struct on_demand *thing, open_function open, struct progress *progress,
                     const void **out, wt_error *err)
{
    int rc;
    if (was_tried(engine, thing, out, &rc, err))
        return rc;
    WT_TRY(wt__engine_lock_build(engine, progress, err));
    rc = open_once_locked(engine, thing, open, progress, out, err);
    pthread_mutex_unlock(&engine->build_lock);
    return rc;
}

static int open_engine_encoder(wt_engine *engine, struct progress *progress, void **out, wt_error *why)
{
    struct encoder *encoder = NULL;
    if (engine->model_name[0] == '\0')
        return wt__fail(why, WT_EMODEL, "this store was opened without a model");
    if (engine->model_folder[0] == '\0')
        return wt__fail(why, WT_EMODEL,
                        "cannot look for the model %s: set HOME or WHICHTOOL_MODELS to an absolute path",
                        engine->model_name);
    if (!wt__model_exists(engine->model_folder) && wt__hub_is_name(engine->model_name))
        return wt__fail(why, WT_EMODEL,
                        "the model %s is not installed: it is neither a folder nor a pulled model; get it with "
                        "`whichtool model pull %s`",
                        engine->model_name, engine->model_name);
    if (!wt__model_exists(engine->model_folder) && strchr(engine->model_name, '/'))
        return wt__fail(why, WT_EMODEL, "the model %s is not installed: no such folder", engine->model_name);
    if (!wt__model_exists(engine->model_folder))
        return wt__fail(why, WT_EMODEL, "the model %s is not installed; get it with `whichtool model pull %s`",
                        engine->model_name, engine->model_name);
    if (wt__progress_phase(progress, "loading the model", 0))
        return wt__fail_cancelled(why);
    int rc = wt__encoder_load(&encoder, engine->model_folder, progress, why);
    if (rc == 0 && wt__encoder_is_cross(encoder)) {
        wt__encoder_close(encoder);
        encoder = NULL;
        rc = wt__fail(why, WT_EMODEL,
                      "%s is a cross-encoder, which reads a request and a tool together; it has no vectors",
                      engine->model_name);
    }
    *out = encoder;
    return rc;
}

int wt__engine_load_encoder(wt_engine *engine, struct progress *progress, const struct encoder **out, wt_error *err)
{
    engine = wt__model_owner(engine);
    return open_once(engine, &engine->encoder, open_engine_encoder, progress, (const void **)out, err);
}

int wt__engine_encoder(wt_engine *engine, const struct encoder **out, wt_error *err)
{
    return wt__engine_load_encoder(engine, NULL, out, err);
}

int wt__engine_encoder_locked(wt_engine *engine, struct progress *progress, const struct encoder **out, wt_error *err)
{
    if (engine->lender)
        return wt__engine_load_encoder(engine->lender, progress, out, err);
    return open_once_locked(engine, &engine->encoder, open_engine_encoder, progress, (const void **)out, err);
}

const char *wt__engine_better_model(const wt_engine *engine)
{
    return engine->by_default && wt__model_is_built_in(engine->model_folder) ? WT_BASE_MODEL : NULL;
}

int wt__engine_fallback_folder(const wt_engine *engine, struct store *store, const char **folder, uint64_t *count,
                               wt_error *err)
{
    const char *const folders[] = {MODEL_BUILT_IN, engine->base_folder};
    *folder = NULL;
    *count = 0;
    if (!engine->by_default || wt__model_is_built_in(engine->model_folder))
        return 0;
    *folder = folders[0];
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char hash[65];
        uint64_t vectors = 0;
        if (!folders[i][0] || !wt__encoder_peek(folders[i], hash))
            continue;
        WT_TRY(wt__store_count_of_model(store, wt__document_kind, wt__document_former_kind, hash, &vectors, err));
        if (vectors > *count) {
            *folder = folders[i];
            *count = vectors;
        }
    }
    return 0;
}

static int open_fallback_encoder(wt_engine *engine, struct progress *progress, void **out, wt_error *why)
{
    WT_CLEANUP(wt__close_reader) struct engine_reader reader = {0};
    struct encoder *encoder = NULL;
    const char *folder;
    uint64_t count;
    (void)progress;
    WT_TRY(wt__open_reader(&reader, engine, why));
    WT_TRY(wt__engine_fallback_folder(engine, reader.store, &folder, &count, why));
    if (folder)
        WT_TRY(wt__encoder_open(&encoder, folder, why));
    *out = encoder;
    return 0;
}

int wt__engine_fallback_encoder(wt_engine *engine, struct progress *progress, const struct encoder **out, wt_error *err)
{
    engine = wt__model_owner(engine);
    return open_once(engine, &engine->fallback, open_fallback_encoder, progress, (const void **)out, err);
}

int wt__engine_fallback_encoder_locked(wt_engine *engine, const struct encoder **out, wt_error *err)
{
    if (engine->lender)
        return wt__engine_fallback_encoder(engine->lender, NULL, out, err);
    return open_once_locked(engine, &engine->fallback, open_fallback_encoder, NULL, (const void **)out, err);
}

static int open_joint_scorer(wt_engine *engine, struct progress *progress, void **out, wt_error *why)
{
    (void)progress;
    if (!engine->joint_folder[0])
        return wt__fail(
            why, WT_EMODEL,
            "the model %s, which comes with whichtool, is not installed; install whichtool again, or with pip "
            "whichtool-joint",
            WT_JOINT_MODEL);
    *out = wt__cross_encoder_new(engine->joint_folder, "");
    return *out ? 0 : wt__fail_nomem(why);
}

int wt__engine_joint(wt_engine *engine, struct progress *progress, struct cross_encoder **out, wt_error *err)
{
    engine = wt__model_owner(engine);
    return open_once(engine, &engine->joint, open_joint_scorer, progress, (const void **)out, err);
}

static int open_trained_models(wt_engine *engine, struct progress *progress, void **out, wt_error *why)
{
    const struct encoder *base = NULL;
    struct trained *trained = NULL;
    wt_error no_base = {0};
    if (!engine->trained_folder[0] || !wt__is_folder(engine->trained_folder))
        return 0;
    if (wt__trained_stamp(&engine->trained_stamp, engine->trained_folder, NULL) < 0)
        engine->trained_stamp = 0; /* never a valid stamp, so the next reload reads the folder */
    /* Load the engine's encoder only if the trained models do not bring their own. */
    int rc = wt__trained_brings_encoder(engine->trained_folder)
                 ? 0
                 : wt__engine_encoder_locked(engine, progress, &base, &no_base);
    if (is_permanent_result(rc))
        rc = wt__progress_phase(progress, "loading trained models", 0)
                 ? wt__fail_cancelled(why)
                 : wt__trained_open(&trained, engine->trained_folder, base, progress, why);
    else
        *why = no_base;
    if (!trained && rc == 0 && no_base.code < 0) {
        rc = no_base.code;
        *why = no_base;
    }
    *out = trained;
    return rc;
}

int wt__engine_reopen_trained(wt_engine *engine, struct on_demand *out, wt_error *err)
{
    *out = (struct on_demand){.tried = true};
    return open_trained_models(engine, NULL, &out->opened, err);
}

int wt__engine_load_trained(wt_engine *engine, struct progress *progress, const struct trained **out, wt_error *err)
{
    return open_once(engine, &engine->trained, open_trained_models, progress, (const void **)out, err);
}

int wt__engine_trained(wt_engine *engine, const struct trained **out, wt_error *err)
{
    return wt__engine_load_trained(engine, NULL, out, err);
}

int wt__engine_trained_locked(wt_engine *engine, struct progress *progress, const struct trained **out, wt_error *err)
{
    return open_once_locked(engine, &engine->trained, open_trained_models, progress, (const void **)out, err);
}

/* ---------------------------------------------------------------- vector sets */

/* Kind and version of the usage vectors. Each request is encoded as a whole, like a query. */
static const char usage_kind[] = "usage_1";

struct vector_set wt__engine_vectors(const struct encoder *encoder, const wt_engine *engine)
{
    const wt_engine *owner = engine->lender ? engine->lender : engine;
    return (struct vector_set){.kind = wt__document_kind,
                               .model_hash = wt__encoder_hash(encoder),
                               .model_name =
                                   encoder == owner->encoder.opened ? owner->model_name : wt__encoder_name(encoder),
                               .dim = (uint32_t)wt__encoder_dim(encoder),
                               .former = wt__document_former_kind};
}

struct vector_set wt__engine_usage_vectors(const struct encoder *encoder, const wt_engine *engine)
{
    struct vector_set set = wt__engine_vectors(encoder, engine);
    set.kind = usage_kind;
    set.former = NULL;
    return set;
}
