/* tenants.c: opens a file of tenants, keeps the engines of recently used selections, and follows changes of the file.
 *
 * Tenants with equal lists share an engine. An engine is a cache of an index: it can be closed whenever no thread uses
 * it. The engines are in the order of their last use. Beyond the memory limit, the last ones are closed.
 *
 * A tenant with a store of its own has a selection and an engine of its own. The engine copies the shared tools of the
 * selection into the store before a search, if the pool of the shared catalogue is another one than at the last
 * copying.
 *
 * A reload replaces the table. Engines whose selection is also in the new table stay, with their indexes. */
#include "tenants/tenants.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/memory.h"
#include "engine/sized_options.h"
#include "engine/view.h"
#include "store/location.h"
#include "tenants/own.h"
#include "tenants/table.h"

enum {
    WATCH_MS = 1000,            /* interval of checks for a changed file */
    ENGINE_BYTES = 96 << 10,    /* memory of an engine without an index, mostly its connection to an empty store */
    ENGINES_MAX = 100000,       /* engines at once, whatever their memory */
    OWN_ENGINE_BYTES = 9 << 19, /* memory of an engine with a store of its own, as measured with 300 tools */
    OWN_ENGINES_MAX = 128,      /* engines with stores of their own at once: each has several open files */
    OWN_CONNECTED_MAX = 16,     /* the same for stores in a database, which has few connections */
    MODELS_CHECK_MS = 1000,     /* interval of checks for models that another process has trained for an own store */
};

/* An engine of a selection. */
struct tenant_view {
    struct wt_tenants *tenants;
    wt_engine *engine;
    struct tenant_table *table;               /* held; guarded by wt_tenants.lock */
    const struct tenant_selection *selection; /* selection in the table; guarded by wt_tenants.lock */
    size_t number;                            /* number in the current table; unused if `retired` */
    size_t users, bytes;
    bool retired; /* the current table does not have the selection */
    struct tenant_view *newer, *older;

    char own_name[WT_MAX_TENANT_NAME_BYTES + 1]; /* name of the tenant, if it has a store of its own; else "" */
    pthread_mutex_t copy_lock; /* one opening or copying at a time; guards the members below, and `engine` of an own
                                * store */
    uint64_t copied;  /* serial of the pool of the copies; 0 before the first copying, COPIED_NONE if the shared
                                * catalogue was empty */
    double models_ms; /* time of the last check for trained models */
};

#define COPIED_NONE UINT64_MAX

static bool has_own_store(const struct tenant_view *view)
{
    return view->own_name[0];
}

/* Identifies the content of a file without reading it. */
struct file_stamp {
    long long seconds, nanoseconds, size, inode;
};

struct wt_tenants {
    char *path;
    wt_tenants_options options;
    struct view_base *base;
    pthread_mutex_t reload_lock; /* one reload at a time; guards `stamp` */
    struct file_stamp stamp;
    pthread_mutex_t lock; /* guards the members below */
    struct tenant_table *table;
    struct tenant_view **views; /* [table->selection_count] engine of each selection, or NULL */
    struct tenant_view *newest, *oldest;
    size_t view_count, view_bytes, own_count;
    size_t own_most; /* maximum own_count; engines in use may exceed it */
    uint64_t serial; /* newest pool of a view that was released */
    pthread_cond_t wake;
    pthread_t watcher;
    bool has_watcher, stopping;
};

/* ---------------------------------------------------------------- list of engines */

static void unlink_view(struct wt_tenants *tenants, struct tenant_view *view)
{
    *(view->newer ? &view->newer->older : &tenants->newest) = view->older;
    *(view->older ? &view->older->newer : &tenants->oldest) = view->newer;
    view->newer = view->older = NULL;
}

static void link_newest(struct wt_tenants *tenants, struct tenant_view *view)
{
    view->older = tenants->newest;
    *(tenants->newest ? &tenants->newest->newer : &tenants->oldest) = view;
    tenants->newest = view;
}

/* Takes an unused engine out of the list. Requires the lock. */
static void drop_view(struct wt_tenants *tenants, struct tenant_view *view)
{
    unlink_view(tenants, view);
    if (!view->retired)
        tenants->views[view->number] = NULL;
    tenants->view_count--;
    tenants->own_count -= has_own_store(view);
    tenants->view_bytes -= view->bytes;
}

static void release_view_context(void *context)
{
    struct tenant_view *view = context;
    wt__tenant_table_release(view->table);
    pthread_mutex_destroy(&view->copy_lock);
    free(view);
}

static size_t cache_limit(const struct wt_tenants *tenants)
{
    return tenants->options.cache_bytes ? tenants->options.cache_bytes : WT_TENANTS_CACHE_BYTES;
}

/* Takes the engines out of the list that are retired or over the limit, and not in use. Returns them, linked by
 * `older`. Requires the lock. */
static struct tenant_view *take_surplus_views(struct wt_tenants *tenants)
{
    struct tenant_view *taken = NULL, *newer;
    for (struct tenant_view *view = tenants->oldest; view; view = newer) {
        bool over = tenants->view_bytes > cache_limit(tenants) || tenants->view_count > ENGINES_MAX ||
                    (has_own_store(view) && tenants->own_count > tenants->own_most);
        newer = view->newer;
        if (view->users > 0 || !(over || view->retired))
            continue;
        drop_view(tenants, view);
        view->older = taken;
        taken = view;
    }
    return taken;
}

static void close_views(struct tenant_view *view)
{
    while (view) {
        struct tenant_view *next = view->older;
        bool owns = has_own_store(view);
        wt_close(view->engine); /* also releases a view without a store of its own */
        if (owns)
            release_view_context(view);
        view = next;
    }
}

/* Frees the indexes of idle engines that show an older catalogue, since each of them keeps the pool of that catalogue
 * in memory. Requires the lock. */
static void forget_old_indexes(struct wt_tenants *tenants, uint64_t serial)
{
    if (serial <= tenants->serial)
        return;
    tenants->serial = serial;
    for (struct tenant_view *view = tenants->newest; view; view = view->older) {
        if (view->users > 0 || has_own_store(view) || wt__view_engine_serial(view->engine) >= serial)
            continue;
        wt__view_engine_forget(view->engine);
        tenants->view_bytes -= view->bytes - ENGINE_BYTES;
        view->bytes = ENGINE_BYTES;
    }
}

/* ---------------------------------------------------------------- engines */

/* Implements view_select. The table and the selection may be replaced meanwhile by equal ones. */
static int select_tenant_rows(void *context, const struct row_pool *pool, uint64_t *bits, wt_error *err)
{
    const struct tenant_view *view = context;
    pthread_mutex_lock(&view->tenants->lock);
    struct tenant_table *table = wt__tenant_table_hold(view->table);
    const struct tenant_selection *selection = view->selection;
    pthread_mutex_unlock(&view->tenants->lock);
    int rc = wt__tenant_select(table, selection, pool, bits, err);
    wt__tenant_table_release(table);
    return rc;
}

/* ---------------------------------------------------------------- engines with stores of their own */

/* Copies the shared tools of the tenant, if the pool is another one than at the last copying. Requires copy_lock. */
static int copy_pool_tools(struct tenant_view *view, const struct row_pool *pool, struct progress *progress,
                           wt_error *err)
{
    WT_AUTO_FREE uint32_t *rows = NULL;
    size_t count = 0;
    uint64_t serial = pool ? pool->serial : COPIED_NONE;
    if (view->copied == serial)
        return 0;
    if (pool)
        WT_TRY(wt__view_rows(select_tenant_rows, view, pool, &rows, &count, err));
    WT_TRY(
        wt__own_store_copy(view->engine, wt__view_base_shared(view->tenants->base), pool, rows, count, progress, err));
    view->copied = serial;
    return 0;
}

/* Implements wt_engine.refresh. If another process writes the store, the search uses the copies as they are. */
static int refresh_own_store(void *context, struct progress *progress, wt_error *err)
{
    struct tenant_view *view = context;
    struct row_pool *pool = NULL;
    wt_error why;
    int rc = wt__view_base_pool(view->tenants->base, progress, NULL, &pool, &why);
    if (rc < 0 && rc != WT_EEMPTY)
        return wt__fail_same(err, &why);
    pthread_mutex_lock(&view->copy_lock);
    bool copied_before = view->copied > 0;
    rc = copy_pool_tools(view, pool, progress, &why);
    double now = wt__now_ms();
    bool check = now - view->models_ms > MODELS_CHECK_MS;
    if (check)
        view->models_ms = now;
    pthread_mutex_unlock(&view->copy_lock);
    wt__row_pool_release(pool);
    if (rc < 0 && !(rc == WT_EBUSY && copied_before))
        return wt__fail_same(err, &why);
    bool reloaded;
    if (check)
        wt__engine_reload_trained(view->engine, &reloaded, NULL); /* damaged models leave the old ones in use */
    return 0;
}

/* Returns the folder of the tenants' stores, in the arena: the path of the file of tenants without ".jsonl". */
static const char *own_folder(const struct wt_tenants *tenants, struct arena *arena)
{
    struct str path = wt__str(tenants->path), end = STR(".jsonl");
    bool ends = path.len > end.len && memcmp(path.ptr + path.len - end.len, end.ptr, end.len) == 0;
    WT_CLEANUP(wt__buffer_dispose) struct buffer folder = {0};
    wt__buffer_str(&folder, (struct str){path.ptr, path.len - (ends ? end.len : 0)});
    wt__buffer_text(&folder, ends ? "" : "-stores");
    return folder.failed ? NULL : wt__arena_copy(arena, wt__buffer_view(&folder));
}

/* Opens the store of a tenant on its first use, without holding the lock of the tenants. */
static int open_own_engine(struct tenant_view *view, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    wt_engine *engine = NULL, *shared = wt__view_base_shared(view->tenants->base);
    int rc = 0;
    pthread_mutex_lock(&view->copy_lock);
    if (!view->engine) {
        const char *folder = own_folder(view->tenants, &arena);
        rc = folder ? wt__own_store_open(&engine, shared, folder, wt__str(view->own_name), err) : wt__fail_nomem(err);
    }
    if (engine) {
        engine->refresh = refresh_own_store;
        engine->refresher = view;
        view->engine = engine;
    }
    pthread_mutex_unlock(&view->copy_lock);
    return rc;
}

/* ---------------------------------------------------------------- taking engines */

/* Opens the engine of a selection of the current table and adds it to the list. Requires the lock. */
static int add_view(struct wt_tenants *tenants, size_t number, struct tenant_view **out, wt_error *err)
{
    struct str own = wt__tenant_own_name(tenants->table, tenants->table->selections[number]);
    struct tenant_view *view = wt__alloc_zeros(1, sizeof *view);
    WT_CHECK_ALLOC(view, err);
    *view = (struct tenant_view){.tenants = tenants,
                                 .table = wt__tenant_table_hold(tenants->table),
                                 .selection = tenants->table->selections[number],
                                 .number = number,
                                 .bytes = own.len > 0 ? OWN_ENGINE_BYTES : ENGINE_BYTES};
    memcpy(view->own_name, own.ptr, own.len);
    pthread_mutex_init(&view->copy_lock, NULL);
    const struct engine_view_options options = {
        .select = select_tenant_rows, .context = view, .release = release_view_context, .name = "the tenant"};
    if (own.len == 0)
        WT_TRY(wt__view_engine_open(&view->engine, tenants->base, &options, err));
    tenants->views[number] = view;
    tenants->view_count++;
    tenants->own_count += own.len > 0;
    tenants->view_bytes += view->bytes;
    link_newest(tenants, view);
    *out = view;
    return 0;
}

/* Returns the engine of a selection, opened if needed, as the newest of the list. Requires the lock. */
static int use_view(struct wt_tenants *tenants, size_t number, struct tenant_view **out, wt_error *err)
{
    *out = tenants->views[number];
    if (!*out)
        WT_TRY(add_view(tenants, number, out, err));
    unlink_view(tenants, *out);
    link_newest(tenants, *out);
    (*out)->users++;
    return 0;
}

static void release_view(struct wt_tenants *tenants, struct tenant_view *view)
{
    bool owns = has_own_store(view);
    size_t bytes = owns ? OWN_ENGINE_BYTES : ENGINE_BYTES + wt__view_engine_bytes(view->engine);
    uint64_t serial = owns ? 0 : wt__view_engine_serial(view->engine);
    pthread_mutex_lock(&tenants->lock);
    tenants->view_bytes += bytes - view->bytes;
    view->bytes = bytes;
    view->users--;
    forget_old_indexes(tenants, serial);
    struct tenant_view *surplus = take_surplus_views(tenants);
    pthread_mutex_unlock(&tenants->lock);
    close_views(surplus);
}

int wt_tenants_engine(wt_tenants *tenants, const char *name, wt_engine **out, wt_error *err)
{
    struct tenant_view *view = NULL;
    *out = NULL;
    if (!name)
        return wt__fail(err, WT_EINVAL, "no tenant given");
    pthread_mutex_lock(&tenants->lock);
    size_t number = wt__tenant_selection(tenants->table, wt__str(name));
    int rc = number < tenants->table->selection_count ? use_view(tenants, number, &view, err) : WT_ENOTFOUND;
    pthread_mutex_unlock(&tenants->lock);
    if (rc == WT_ENOTFOUND)
        return wt__fail(err, rc, "there is no tenant \"%.64s\"", name);
    if (rc == 0 && has_own_store(view)) {
        rc = open_own_engine(view, err);
        if (rc == 0)
            rc = refresh_own_store(view, NULL, err); /* for functions that read the store without a search */
        if (rc < 0)
            release_view(tenants, view);
    }
    if (rc == 0)
        *out = view->engine;
    return rc;
}

static struct tenant_view *view_of_engine(const wt_engine *engine)
{
    return engine->refresher ? engine->refresher : wt__view_engine_context(engine);
}

void wt_tenants_release(wt_tenants *tenants, wt_engine *engine)
{
    if (engine)
        release_view(tenants, view_of_engine(engine));
}

int wt__tenant_hold_begin(struct tenant_hold *hold, wt_tenants *tenants, const char *name, wt_engine *shared,
                          wt_error *err)
{
    *hold = (struct tenant_hold){.engine = shared};
    if (!name || !*name)
        return 0;
    hold->engine = NULL;
    if (!tenants)
        return wt__fail(err, WT_EINVAL, "a tenant is named, but there is no file of tenants");
    hold->tenants = tenants;
    return wt_tenants_engine(tenants, name, &hold->engine, err);
}

void wt__tenant_hold_end(struct tenant_hold *hold)
{
    if (hold->tenants)
        wt_tenants_release(hold->tenants, hold->engine);
    *hold = (struct tenant_hold){0};
}

/* ---------------------------------------------------------------- questions */

/* Returns the table with a reference, and the selection of a tenant or NULL. */
static struct tenant_table *hold_selection(wt_tenants *tenants, const char *name,
                                           const struct tenant_selection **selection)
{
    pthread_mutex_lock(&tenants->lock);
    struct tenant_table *table = wt__tenant_table_hold(tenants->table);
    pthread_mutex_unlock(&tenants->lock);
    size_t number = wt__tenant_selection(table, wt__str(name));
    *selection = number < table->selection_count ? table->selections[number] : NULL;
    return table;
}

int wt__tenants_prepare(wt_tenants *tenants, wt_error *err)
{
    struct row_pool *pool;
    WT_TRY(wt__view_base_pool(tenants->base, NULL, NULL, &pool, err));
    wt__row_pool_release(pool);
    return 0;
}

bool wt__tenants_have(wt_tenants *tenants, const char *name)
{
    const struct tenant_selection *selection;
    wt__tenant_table_release(hold_selection(tenants, name, &selection));
    return selection != NULL;
}

bool wt__tenants_own(wt_tenants *tenants, const char *name)
{
    const struct tenant_selection *selection;
    struct tenant_table *table = hold_selection(tenants, name, &selection);
    bool owns = selection && wt__tenant_own_name(table, selection).len > 0;
    wt__tenant_table_release(table);
    return owns;
}

bool wt__tenants_allow(wt_tenants *tenants, const char *name, struct str provider, struct str tool)
{
    const struct tenant_selection *selection;
    struct tenant_table *table = hold_selection(tenants, name, &selection);
    bool allowed = selection && wt__tenant_selects(table, selection, provider, tool);
    wt__tenant_table_release(table);
    return allowed;
}

bool wt__tenants_allow_provider(wt_tenants *tenants, const char *name, struct str provider)
{
    const struct tenant_selection *selection;
    struct tenant_table *table = hold_selection(tenants, name, &selection);
    bool allowed = selection && wt__tenant_selects_provider(table, selection, provider);
    wt__tenant_table_release(table);
    return allowed;
}

int wt_tenants_get_info(wt_tenants *tenants, wt_tenants_info *out, wt_error *err)
{
    pthread_mutex_lock(&tenants->lock);
    const wt_tenants_info info = {.tenants = tenants->table->tenant_count,
                                  .selections = tenants->table->selection_count,
                                  .table_bytes = wt__tenant_table_bytes(tenants->table) +
                                                 tenants->table->selection_count * sizeof *tenants->views,
                                  .open_views = tenants->view_count,
                                  .view_bytes = tenants->view_bytes};
    pthread_mutex_unlock(&tenants->lock);
    return wt__options_write(out, sizeof info, &info, err);
}

/* ---------------------------------------------------------------- file */

static struct file_stamp read_file_stamp(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return (struct file_stamp){.size = -1};
    return (struct file_stamp){info.st_mtim.tv_sec, info.st_mtim.tv_nsec, (long long)info.st_size,
                               (long long)info.st_ino};
}

static bool stamps_are_equal(const struct file_stamp *a, const struct file_stamp *b)
{
    return a->seconds == b->seconds && a->nanoseconds == b->nanoseconds && a->size == b->size && a->inode == b->inode;
}

/* Gives the engines of the old table to the equal selections of the new one. views: [table->selection_count], receives
 * the engines. Requires the lock. */
static void move_views(struct wt_tenants *tenants, struct tenant_table *table, struct tenant_view **views)
{
    for (struct tenant_view *view = tenants->newest; view; view = view->older) {
        int64_t number = view->retired ? -1 : wt__tenant_same_selection(table, view->table, view->selection);
        view->retired = number < 0 || (size_t)number >= table->selection_count;
        if (view->retired)
            continue;
        wt__tenant_table_release(view->table);
        view->table = wt__tenant_table_hold(table);
        view->number = (size_t)number;
        view->selection = table->selections[number];
        views[number] = view;
    }
}

static int load_table(struct wt_tenants *tenants, wt_error *err)
{
    struct tenant_table *table;
    struct file_stamp stamp = read_file_stamp(tenants->path);
    WT_TRY(wt__tenant_table_read(&table, tenants->path, err));
    WT_AUTO_FREE struct tenant_view **views = wt__alloc_zeros(table->selection_count, sizeof *views);
    if (!views) {
        wt__tenant_table_release(table);
        return wt__fail_nomem(err);
    }
    pthread_mutex_lock(&tenants->lock);
    move_views(tenants, table, views);
    struct tenant_table *old = tenants->table;
    tenants->table = table;
    struct tenant_view **old_views = tenants->views;
    tenants->views = WT_TAKE(views);
    struct tenant_view *surplus = take_surplus_views(tenants);
    pthread_mutex_unlock(&tenants->lock);
    close_views(surplus);
    wt__tenant_table_release(old);
    free(old_views);
    tenants->stamp = stamp;
    return 0;
}

int wt_tenants_reload(wt_tenants *tenants, wt_error *err)
{
    pthread_mutex_lock(&tenants->reload_lock);
    int rc = load_table(tenants, err);
    pthread_mutex_unlock(&tenants->reload_lock);
    return rc;
}

/* Reloads the file if it has changed since the last attempt. *told: stamp of a file with an error, which is not read
 * again before it changes. */
static void reload_changed_file(struct wt_tenants *tenants, struct file_stamp *told)
{
    wt_error err = {0};
    struct file_stamp now = read_file_stamp(tenants->path);
    pthread_mutex_lock(&tenants->reload_lock);
    bool changed = !stamps_are_equal(&now, &tenants->stamp) && !stamps_are_equal(&now, told);
    int rc = changed ? load_table(tenants, &err) : 0;
    pthread_mutex_unlock(&tenants->reload_lock);
    if (changed)
        *told = now;
    if (changed && tenants->options.reloaded)
        tenants->options.reloaded(tenants->options.reloaded_context, rc, err.message);
}

static void *watch_file(void *context)
{
    struct wt_tenants *tenants = context;
    struct file_stamp told = {.size = -2};
    pthread_mutex_lock(&tenants->lock);
    while (!tenants->stopping) {
        double until = wt__now_ms() + WATCH_MS;
        while (!tenants->stopping && wt__steady_wait(&tenants->wake, &tenants->lock, until)) {
        }
        if (tenants->stopping)
            break;
        pthread_mutex_unlock(&tenants->lock);
        reload_changed_file(tenants, &told);
        pthread_mutex_lock(&tenants->lock);
    }
    pthread_mutex_unlock(&tenants->lock);
    return NULL;
}

/* ---------------------------------------------------------------- life */

static void close_unfinished_tenants(wt_tenants **tenants)
{
    wt_tenants_close(*tenants);
}

int wt_tenants_open(wt_tenants **out, wt_engine *shared, const char *path, const wt_tenants_options *given,
                    wt_error *err)
{
    wt_tenants_options options;
    *out = NULL;
    WT_TRY(wt__options_read(&options, sizeof options, given, err));
    if (!path || !path[0])
        return wt__fail(err, WT_EINVAL, "no file of tenants given");
    if (shared->lender)
        return wt__fail(err, WT_EINVAL, "the engine of a tenant cannot have tenants");
    WT_CLEANUP(close_unfinished_tenants) wt_tenants *tenants = wt__alloc_zeros(1, sizeof *tenants);
    WT_CHECK_ALLOC(tenants, err);
    pthread_mutex_init(&tenants->reload_lock, NULL);
    pthread_mutex_init(&tenants->lock, NULL);
    wt__steady_open(&tenants->wake);
    tenants->options = options;
    tenants->own_most = wt__is_store_url(shared->location) ? OWN_CONNECTED_MAX : OWN_ENGINES_MAX;
    tenants->path = wt__copy_string(path, strlen(path));
    WT_CHECK_ALLOC(tenants->path, err);
    WT_TRY(wt__view_base_open(&tenants->base, shared, err));
    WT_TRY(load_table(tenants, err));
    tenants->has_watcher = options.watch && pthread_create(&tenants->watcher, NULL, watch_file, tenants) == 0;
    if (options.watch && !tenants->has_watcher)
        return wt__fail_nomem(err);
    *out = WT_TAKE(tenants);
    return 0;
}

void wt_tenants_close(wt_tenants *tenants)
{
    if (!tenants)
        return;
    pthread_mutex_lock(&tenants->lock);
    tenants->stopping = true;
    pthread_cond_signal(&tenants->wake);
    pthread_mutex_unlock(&tenants->lock);
    if (tenants->has_watcher)
        pthread_join(tenants->watcher, NULL);
    close_views(tenants->newest);
    wt__view_base_close(tenants->base);
    wt__tenant_table_release(tenants->table);
    free(tenants->views);
    free(tenants->path);
    pthread_cond_destroy(&tenants->wake);
    pthread_mutex_destroy(&tenants->lock);
    pthread_mutex_destroy(&tenants->reload_lock);
    free(tenants);
}

int wt__tenant_engine_open(wt_engine **engine, const char *path, const char *name, wt_error *err)
{
    wt_tenants *tenants;
    wt_engine *view;
    WT_TRY(wt_tenants_open(&tenants, *engine, path, NULL, err));
    int rc = wt_tenants_engine(tenants, name, &view, err);
    if (rc < 0) {
        wt_tenants_close(tenants);
        return rc;
    }
    *engine = view;
    return 0;
}

void wt__tenant_engine_close(wt_engine *engine)
{
    const struct tenant_view *view = engine ? view_of_engine(engine) : NULL;
    if (!view) {
        wt_close(engine);
        return;
    }
    wt_tenants *tenants = view->tenants;
    wt_engine *shared = wt__view_base_shared(tenants->base);
    wt_tenants_release(tenants, engine);
    wt_tenants_close(tenants);
    wt_close(shared);
}
