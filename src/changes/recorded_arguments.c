/* recorded_arguments.c: stores the arguments of calls unchanged, except for credentials. The tool's schema is read only
 * if an argument may be a credential: it shows if the tool has such a parameter. */
#include "changes/recorded_arguments.h"

#include "base/json.h"
#include "catalog/credentials.h"

static int drop_credentials(wt_engine *engine, int64_t id, struct str label, json_t *arguments, wt_error *err)
{
    struct arena arena = {0};
    struct tool tool = {.name = label};
    json_t *schema = NULL;
    int rc = 0;
    if (id > 0) {
        pthread_mutex_lock(&engine->store_lock);
        rc = wt__store_get(engine->store, &id, 1, &arena, &tool, err);
        pthread_mutex_unlock(&engine->store_lock);
    }
    if (rc > 0)
        rc = wt__json_parse(&schema, tool.schema.ptr, tool.schema.len, NULL);
    if (rc == WT_ENOMEM)
        rc = wt__fail_nomem(err);
    else if (rc >= 0 || rc == WT_EFORMAT || rc == WT_ETOOLONG) /* without a valid schema, names alone decide */
        rc = 0;
    if (rc == 0)
        wt__drop_credentials(arguments, tool.name, schema);
    json_decref(schema);
    wt__arena_dispose(&arena);
    return rc;
}

int wt__write_recorded_arguments(wt_engine *engine, int64_t tool, struct str label, json_t *arguments,
                                 struct arena *arena, struct str *out, wt_error *err)
{
    struct buffer text = {0};
    int rc = wt__may_have_credentials(arguments) ? drop_credentials(engine, tool, label, arguments, err) : 0;
    if (rc == 0)
        rc = wt__usage_write_arguments(&text, arguments, err);
    if (rc == 0) {
        *out = wt__buffer_view(&text);
        out->ptr = wt__arena_copy(arena, *out);
        rc = out->ptr ? 0 : wt__fail_nomem(err);
    }
    wt__buffer_dispose(&text);
    return rc;
}
