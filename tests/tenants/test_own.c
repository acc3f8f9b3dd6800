/* test_own.c: tenants with stores of their own: copies of the shared tools, own tools, own use. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "engine/support.h"
#include "store/driver.h"
#include "store/location.h"
#include "tenants/own.h"
#include "tenants/tenants.h"

enum { PROVIDERS = 3, TOOLS = 12, THREADS = 3, ROUNDS = 20 };

#define OWN_TOOL "{\"provider\": \"office\", \"name\": \"brew\", \"description\": \"starts the coffee machine\"}\n"
#define OTHER_TOOL "{\"provider\": \"p9\", \"name\": \"fresh\", \"description\": \"zeppelin rides\"}\n"

struct own_place {
    struct test_place place;
    char tenants_path[128], own_path[128];
    wt_engine *shared;
    wt_tenants *tenants;
};

static void write_tenant_file(struct own_place *own, const char *text)
{
    assert_call_ok(&own->place, wt__file_replace(own->tenants_path, text, strlen(text), &own->place.err));
}

static void open_tenant_file(struct own_place *own, const wt_tenants_options *options)
{
    assert_call_ok(&own->place,
                   wt_tenants_open(&own->tenants, own->shared, own->tenants_path, options, &own->place.err));
}

/* "t" sees p0 and p1 and has a store of its own; "u" sees p0. */
static int open_own_place(void **state)
{
    static struct own_place own;
    WT_CLEANUP(wt__buffer_dispose) struct buffer jsonl = {0};
    own = (struct own_place){.shared = NULL};
    make_test_place(&own.place);
    snprintf(own.tenants_path, sizeof own.tenants_path, "%s/tenants.jsonl", own.place.folder);
    snprintf(own.own_path, sizeof own.own_path, "%s/tenants/t.wt", own.place.folder);
    own.shared = open_test_engine(&own.place, NULL);
    synthetic_tools(&jsonl, 5, TOOLS, PROVIDERS);
    add(&own.place, own.shared, jsonl.ptr);
    write_tenant_file(&own, "{\"tenant\": \"t\", \"providers\": [\"p0\", \"p1\"], \"own\": true}\n"
                            "{\"tenant\": \"u\", \"providers\": [\"p0\"]}\n");
    open_tenant_file(&own, NULL);
    *state = &own;
    return 0;
}

static int close_own_place(void **state)
{
    struct own_place *own = *state;
    wt_tenants_close(own->tenants);
    wt_close(own->shared);
    remove_test_place(&own->place);
    return 0;
}

static wt_engine *take(struct own_place *own, const char *name)
{
    wt_engine *engine = NULL;
    assert_call_ok(&own->place, wt_tenants_engine(own->tenants, name, &engine, &own->place.err));
    return engine;
}

/* Returns the id of the best hit, to be freed; "" without one. */
static char *best_hit(struct own_place *own, wt_engine *engine, const char *request, const char *recipe)
{
    wt_find_options options;
    wt_find_options_init(&options);
    options.recipe = recipe;
    wt_hits *hits = find_with(&own->place, engine, request, &options);
    char *id = strdup(hits->len > 0 ? hits->items[0]->tool->id : "");
    wt_hits_free(hits);
    return id;
}

static void assert_best_hit(struct own_place *own, wt_engine *engine, const char *request, const char *recipe,
                            const char *wanted)
{
    char *id = best_hit(own, engine, request, recipe);
    assert_string_equal(id, wanted);
    free(id);
}

static uint64_t count_tools(struct own_place *own, wt_engine *engine, bool with_vectors)
{
    wt_catalog_info info;
    wt_catalog_info_init(&info);
    assert_call_ok(&own->place, wt_info(engine, &info, &own->place.err));
    return with_vectors ? info.embedded : info.tools;
}

/* Opens a store that has only the tools of a list, in the same order. */
static wt_engine *open_store_of(struct own_place *own, const wt_tools *tools)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer lines = {0};
    wt_open_options options;
    wt_engine *engine = NULL;
    wt_open_options_init(&options);
    options.model = own->place.model;
    assert_call_ok(&own->place, wt_open(&engine, ":memory:", &options, &own->place.err));
    for (size_t i = 0; i < tools->len; i++)
        wt__buffer_printf(&lines, "%s\n", tools->items[i]->definition);
    add(&own->place, engine, lines.ptr);
    return engine;
}

static void finds_like_a_store_of_its_tools(void **state)
{
    static const char *const requests[] = {"book a table", "find a hotel", "song and invoice", "p1 flight"};
    static const char *const recipes[] = {"bm25", "dense", "hybrid"};
    struct own_place *own = *state;
    wt_engine *tenant = take(own, "t");
    wt_tools *tools = NULL;
    assert_call_ok(&own->place, wt_list(tenant, NULL, &tools, &own->place.err));
    assert_true(tools->len > 0 && tools->len < TOOLS);
    assert_int_equal(count_tools(own, tenant, true), tools->len); /* the vectors came with the tools */
    wt_engine *alone = open_store_of(own, tools);
    for (size_t r = 0; r < sizeof requests / sizeof *requests; r++)
        for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++) {
            wt_find_options options;
            wt_find_options_init(&options);
            options.recipe = recipes[i];
            wt_hits *a = find_with(&own->place, tenant, requests[r], &options);
            wt_hits *b = find_with(&own->place, alone, requests[r], &options);
            assert_int_equal(a->len, b->len);
            for (size_t h = 0; h < a->len; h++) {
                assert_string_equal(a->items[h]->tool->id, b->items[h]->tool->id);
                assert_memory_equal(&a->items[h]->score, &b->items[h]->score, sizeof a->items[h]->score);
            }
            wt_hits_free(a);
            wt_hits_free(b);
        }
    wt_close(alone);
    wt_tools_free(tools);
    wt_tenants_release(own->tenants, tenant);
}

static void own_tools_are_of_the_tenant_alone(void **state)
{
    struct own_place *own = *state;
    wt_engine *tenant = take(own, "t"), *other = take(own, "u");
    assert_true(tenant->store->most_bytes == OWN_BYTES_MAX);
    uint64_t before = count_tools(own, own->shared, false), of_other = count_tools(own, other, false);
    add(&own->place, tenant, OWN_TOOL);
    assert_best_hit(own, tenant, "coffee machine", "bm25", "office/brew");
    assert_best_hit(own, own->shared, "coffee machine", "bm25", "");
    assert_int_equal(count_tools(own, own->shared, false), before);
    assert_int_equal(count_tools(own, other, false), of_other);
    wt_tenants_release(own->tenants, tenant);
    wt_tenants_release(own->tenants, other);
}

/* The copies follow the shared catalogue; what the tenant added or recorded stays. */
static void copies_follow_the_shared_catalogue(void **state)
{
    struct own_place *own = *state;
    wt_engine *tenant = take(own, "t");
    wt_tools *tools = NULL;
    add(&own->place, tenant, OWN_TOOL);
    uint64_t before = count_tools(own, tenant, false);
    add(&own->place, own->shared,
        "{\"provider\": \"p1\", \"name\": \"fresh\", \"description\": \"zeppelin rides\"}\n" OTHER_TOOL);
    assert_best_hit(own, tenant, "zeppelin", "bm25", "p1/fresh");
    assert_int_equal(count_tools(own, tenant, false), before + 1);
    assert_int_equal(count_tools(own, tenant, true), before + 1);
    add(&own->place, own->shared, "{\"provider\": \"p1\", \"name\": \"fresh\", \"description\": \"balloon rides\"}\n");
    assert_best_hit(own, tenant, "balloon", "bm25", "p1/fresh");
    assert_best_hit(own, tenant, "zeppelin", "bm25", "");
    assert_call_ok(&own->place, wt_remove_provider(own->shared, "p1", &own->place.err));
    assert_best_hit(own, tenant, "balloon", "bm25", "");
    assert_best_hit(own, tenant, "coffee machine", "bm25", "office/brew");
    assert_call_ok(&own->place, wt_list(tenant, NULL, &tools, &own->place.err));
    for (size_t i = 0; i < tools->len; i++)
        assert_string_not_equal(tools->items[i]->provider, "p1");
    wt_tools_free(tools);
    wt_tenants_release(own->tenants, tenant);
}

/* The limit of a tenant's store is for the tenant's own changes: a full store still gets copies, and can be emptied. */
static void full_store_follows_the_shared_catalogue(void **state)
{
    enum { NO_MORE = 4096 };
    struct own_place *own = *state;
    wt_engine *tenant = take(own, "t");
    WT_CLEANUP(wt__buffer_dispose) struct buffer large = {0};
    add(&own->place, tenant, OWN_TOOL);
    wt__buffer_text(&large, "{\"provider\": \"p1\", \"name\": \"large\", \"description\": \"zeppelin rides");
    for (size_t i = 0; i < 10000; i++)
        wt__buffer_text(&large, " word");
    wt__buffer_text(&large, "\"}\n");
    assert_int_equal(wt__store_limit(tenant->store, NO_MORE, &own->place.err), 0);
    add(&own->place, own->shared, large.ptr);
    assert_best_hit(own, tenant, "zeppelin", "bm25", "p1/large");
    assert_true(tenant->store->most_bytes == NO_MORE);
    assert_call_ok(&own->place, wt_remove_provider(tenant, "office", &own->place.err));
    assert_best_hit(own, tenant, "coffee machine", "bm25", "");
    wt_tenants_release(own->tenants, tenant);
}

static void use_is_recorded_for_the_tenant_alone(void **state)
{
    static const char request[] = "get me an espresso";
    static const char *const used[] = {"office/brew"};
    struct own_place *own = *state;
    wt_tenants_options options;
    wt_engine *tenant = take(own, "t");
    add(&own->place, tenant, OWN_TOOL);
    assert_call_ok(&own->place, wt_record_usage(tenant, request, strlen(request), used, 1, NULL, &own->place.err));
    wt_tenants_release(own->tenants, tenant);
    wt_tenants_close(own->tenants);
    wt_tenants_options_init(&options);
    options.cache_bytes = 1; /* each engine is closed when it is given back */
    open_tenant_file(own, &options);
    for (size_t i = 0; i < 2; i++) { /* the store is opened again each time */
        wt_tenants_info info;
        wt_status *status = NULL;
        wt_tenants_info_init(&info);
        tenant = take(own, "t");
        assert_call_ok(&own->place, wt_get_status(tenant, &status, &own->place.err));
        assert_int_equal(status->usages, 1);
        wt_status_free(status);
        assert_best_hit(own, tenant, request, "hybrid", "office/brew");
        wt_tenants_release(own->tenants, tenant);
        assert_call_ok(&own->place, wt_tenants_get_info(own->tenants, &info, &own->place.err));
        assert_int_equal(info.open_views, 0);
    }
    wt_status *status = NULL;
    assert_call_ok(&own->place, wt_get_status(own->shared, &status, &own->place.err));
    assert_int_equal(status->usages, 0);
    wt_status_free(status);
}

static void copies_cannot_be_removed(void **state)
{
    struct own_place *own = *state;
    wt_engine *tenant = take(own, "t");
    wt_tools *tools = NULL;
    wt_add_options options;
    wt_add_report *report = NULL;
    add(&own->place, tenant, OWN_TOOL);
    assert_call_ok(&own->place, wt_list(tenant, NULL, &tools, &own->place.err));
    assert_call_refused(&own->place, wt_remove(tenant, tools->items[0]->id, &own->place.err), WT_EINVAL,
                        "exclude it in the file of tenants");
    assert_call_refused(&own->place, wt_remove_provider(tenant, "p0", &own->place.err), WT_EINVAL,
                        "the provider p0 cannot be removed: it has tools of the shared catalogue");
    assert_call_refused(&own->place, wt_rename_provider(tenant, "p0", "mine", &own->place.err), WT_EINVAL,
                        "the provider p0 cannot be renamed");
    assert_call_ok(&own->place, wt_remove(tenant, "office/brew", &own->place.err));
    wt_add_options_init(&options);
    options.source_name = STORE_COPIED_SOURCE;
    options.sync = 1;
    assert_call_refused(&own->place, wt_add(tenant, OWN_TOOL, strlen(OWN_TOOL), &options, &report, &own->place.err),
                        WT_EINVAL, "is reserved");
    wt_tools_free(tools);
    wt_tenants_release(own->tenants, tenant);
}

static void changed_lists_change_the_copies(void **state)
{
    struct own_place *own = *state;
    wt_engine *tenant = take(own, "t");
    add(&own->place, tenant, OWN_TOOL);
    uint64_t before = count_tools(own, tenant, false);
    wt_tenants_release(own->tenants, tenant);
    write_tenant_file(own, "{\"tenant\": \"t\", \"providers\": [\"p1\"], \"exclude\": [\"p1/*\"], \"own\": true}\n");
    assert_call_ok(&own->place, wt_tenants_reload(own->tenants, &own->place.err));
    tenant = take(own, "t");
    assert_true(before > 1);
    assert_int_equal(count_tools(own, tenant, false), 1);
    assert_best_hit(own, tenant, "coffee machine", "bm25", "office/brew");
    wt_tenants_release(own->tenants, tenant);
    /* Without its own store, the tenant is a view again. The store is kept. */
    write_tenant_file(own, "{\"tenant\": \"t\", \"providers\": [\"p1\"]}\n");
    assert_call_ok(&own->place, wt_tenants_reload(own->tenants, &own->place.err));
    tenant = take(own, "t");
    assert_best_hit(own, tenant, "coffee machine", "bm25", "");
    wt_tenants_release(own->tenants, tenant);
    assert_int_equal(access(own->own_path, F_OK), 0);
}

static void too_many_copies_are_refused(void **state)
{
    struct own_place *own = *state;
    wt_engine *tenant = take(own, "t");
    assert_call_refused(&own->place,
                        wt__own_store_copy(tenant, own->shared, NULL, NULL, OWN_COPIES_MAX + 1, NULL, &own->place.err),
                        WT_ETOOLONG, "can see at most 50000 shared tools");
    wt_tenants_release(own->tenants, tenant);
}

static void empty_shared_catalogue_leaves_own_tools(void **state)
{
    struct own_place *own = *state;
    wt_engine *tenant = take(own, "t");
    add(&own->place, tenant, OWN_TOOL);
    for (int i = 0; i < PROVIDERS; i++) {
        char name[8];
        snprintf(name, sizeof name, "p%d", i);
        assert_call_ok(&own->place, wt_remove_provider(own->shared, name, &own->place.err));
    }
    assert_best_hit(own, tenant, "coffee machine", "bm25", "office/brew");
    assert_int_equal(count_tools(own, tenant, false), 1);
    wt_tenants_release(own->tenants, tenant);
}

static void *find_in_rounds(void *context)
{
    struct own_place *own = context;
    for (int i = 0; i < ROUNDS; i++) {
        wt_engine *tenant = NULL;
        wt_hits *hits = NULL;
        wt_error err;
        if (wt_tenants_engine(own->tenants, "t", &tenant, &err) < 0 ||
            wt_find(tenant, "book a table", 12, NULL, &hits, &err) < 0)
            fail_msg("round %d: %s", i, err.message);
        wt_hits_free(hits);
        wt_tenants_release(own->tenants, tenant);
    }
    return NULL;
}

static void threads_search_while_the_catalogue_changes(void **state)
{
    struct own_place *own = *state;
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, find_in_rounds, own), 0);
    for (int i = 0; i < ROUNDS / 4; i++) {
        char line[160];
        snprintf(line, sizeof line, "{\"provider\": \"p1\", \"name\": \"more_%d\", \"description\": \"ride %d\"}\n", i,
                 i);
        add(&own->place, own->shared, line);
    }
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    wt_engine *tenant = take(own, "t");
    char last[32];
    snprintf(last, sizeof last, "p1/more_%d", ROUNDS / 4 - 1);
    wt_tools *tools = NULL;
    assert_call_ok(&own->place, wt_get(tenant, last, &tools, &own->place.err));
    wt_tools_free(tools);
    wt_tenants_release(own->tenants, tenant);
}

static void store_of_a_tenant_is_named_by_the_shared_store(void **state)
{
    static const struct {
        const char *shared, *tenant, *location; /* location: NULL if it is refused */
    } rows[] = {
        {"/data/tools.wt", "acme", "/folder/acme.wt"},
        {"/data/tools.wt", "..", "/folder/...wt"},
        {"postgres://u@h/d", "acme", "postgres://u@h/d?schema=whichtool_tenant_822b33ad87c148a0"},
        {"postgres://u@h/d?schema=s&sslmode=require", "acme",
         "postgres://u@h/d?sslmode=require&schema=s_tenant_822b33ad87c148a0"},
        {"postgres://u@h/d?schema=a_name_of_a_schema_that_leaves_no_place_for_more", "acme", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
        char *location;
        wt_error err;
        int rc = wt__store_of_tenant(&location, &arena, rows[i].shared, "/folder", wt__str(rows[i].tenant), &err);
        if (!rows[i].location)
            assert_int_equal(rc, WT_EINVAL);
        else
            assert_string_equal(location, rows[i].location);
    }
}

#define OWN_TEST(name) cmocka_unit_test_setup_teardown(name, open_own_place, close_own_place)

int main(void)
{
    const struct CMUnitTest tests[] = {
        OWN_TEST(finds_like_a_store_of_its_tools),
        OWN_TEST(own_tools_are_of_the_tenant_alone),
        OWN_TEST(copies_follow_the_shared_catalogue),
        OWN_TEST(full_store_follows_the_shared_catalogue),
        OWN_TEST(use_is_recorded_for_the_tenant_alone),
        OWN_TEST(copies_cannot_be_removed),
        OWN_TEST(changed_lists_change_the_copies),
        OWN_TEST(too_many_copies_are_refused),
        OWN_TEST(empty_shared_catalogue_leaves_own_tools),
        OWN_TEST(threads_search_while_the_catalogue_changes),
        cmocka_unit_test(store_of_a_tenant_is_named_by_the_shared_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
