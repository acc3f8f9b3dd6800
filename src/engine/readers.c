/* readers.c: what a query reads of the store goes through a connection of its own, so that it waits for no import of
 * this engine: at most for a commit while it is being written. Why so: docs/decisions/0011-queries-never-wait.md. */
#include "engine/engine.h"

#include <stdlib.h>

int wt__engine_reader(wt_engine *engine, struct store **out, wt_error *err)
{
    if (wt__store_private(engine->store)) { /* it has one connection */
        pthread_mutex_lock(&engine->store_lock);
        *out = engine->store;
        return 0;
    }
    *out = wt__pool_take(&engine->free_readers, &engine->lock);
    return *out ? 0 : wt__store_open_reader(out, engine->store, err);
}

void wt__engine_return_reader(wt_engine *engine, struct store *reader)
{
    if (reader == engine->store)
        pthread_mutex_unlock(&engine->store_lock);
    else if (!wt__store_idle(reader) || !wt__pool_give(&engine->free_readers, &engine->lock, reader))
        wt__store_close(reader);
}

int wt__engine_read_tools(wt_engine *engine, const int64_t *ids, size_t count, struct arena *arena, struct tool *out,
                          wt_error *err)
{
    struct store *reader;
    int rc = wt__engine_reader(engine, &reader, err);
    if (rc < 0)
        return rc;
    rc = wt__store_get(reader, ids, count, arena, out, err);
    wt__engine_return_reader(engine, reader);
    return rc;
}

int wt__engine_read_provider(wt_engine *engine, const struct str *provider, size_t limit, struct arena *arena,
                             int64_t **ids, size_t *count, wt_error *err)
{
    struct store *reader;
    int rc = wt__engine_reader(engine, &reader, err);
    if (rc < 0)
        return rc;
    rc = wt__store_list(reader, provider, limit, 0, arena, ids, count, err);
    wt__engine_return_reader(engine, reader);
    return rc;
}
