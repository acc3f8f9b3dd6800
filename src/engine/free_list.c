/* free_list.c: pools of objects for one query at a time. */
#include "engine/engine.h"

#include <stdlib.h>

struct pool_slot {
    void *item;
    struct pool_slot *next;
};

void *wt__pool_take(struct pool *pool, pthread_mutex_t *lock)
{
    pthread_mutex_lock(lock);
    struct pool_slot *slot = pool->free;
    if (slot)
        pool->free = slot->next;
    pthread_mutex_unlock(lock);
    void *item = slot ? slot->item : NULL;
    free(slot);
    return item;
}

bool wt__pool_give(struct pool *pool, pthread_mutex_t *lock, void *item)
{
    struct pool_slot *slot = malloc(sizeof *slot);
    if (!slot)
        return false;
    slot->item = item;
    pthread_mutex_lock(lock);
    slot->next = pool->free;
    pool->free = slot;
    pthread_mutex_unlock(lock);
    return true;
}

int wt__engine_workspace(wt_engine *engine, struct workspace **out, wt_error *err)
{
    *out = wt__pool_take(&engine->free_workspaces, &engine->lock);
    return *out ? 0 : wt__workspace_open(out, err);
}

void wt__engine_return_workspace(wt_engine *engine, struct workspace *workspace)
{
    if (workspace && !wt__pool_give(&engine->free_workspaces, &engine->lock, workspace))
        wt__workspace_close(workspace);
}
