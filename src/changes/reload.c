/* reload.c: loads new results of training while queries run.
 *
 * The new files are read while the old ones stay in use, and replace them together with an index without their vectors.
 * If reading fails, the old ones stay. Running queries finish with the old objects, which live until the engine is
 * closed, since their users are not counted. So each reload costs memory, and is done only if the files' stamps have
 * changed. */
#include "engine/engine.h"
#include "changes/recorded_use.h"

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
    rc = wt__engine_reopen_trained(engine, &fresh, err);
    if (rc < 0)
        return rc;
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
