/* check.c: checks the whole store and the index made from it. */
#include <stdio.h>

#include "engine/engine.h"

static int check_index(const wt_engine *engine, wt_error *err)
{
    wt_error why = {0};
    int rc = engine->index_folder[0] ? wt__snapshot_check(engine->index_folder, &why) : WT_ENOTFOUND;
    if (rc == 0 || rc == WT_ENOTFOUND) /* WT_ENOTFOUND: no index was made yet */
        return 0;
    if (rc == WT_ESTORE)
        return wt__fail(err, rc, "%s; delete the folder %s, and the next search makes it again", why.message,
                        engine->index_folder);
    if (err)
        *err = why;
    return rc;
}

int wt_check(wt_engine *engine, wt_error *err)
{
    pthread_mutex_lock(&engine->store_lock);
    int rc = wt__store_check(engine->store, err);
    pthread_mutex_unlock(&engine->store_lock);
    return rc < 0 ? rc : check_index(engine, err);
}
