/* test_threads.c: many threads query one engine while another thread changes the catalogue. Every answer must show a
 * single state.
 *
 * Imports alternately add and remove a pair of tools. Only this pair has the word "zeppelin". A search for this word
 * must find both halves of the pair or neither. Also run under ThreadSanitizer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "store/internal.h"
#include "engine/engine.h"
#include "engine/support.h"

enum { READERS = 4, ROUNDS = 12, SEARCHES = 40 };

static struct test_place place;
static wt_engine *engine;
static atomic_bool done;
static atomic_uint torn, failed, searches;

static const char base[] = "{\"provider\": \"base\", \"name\": \"anchor\", \"description\": \"find a table anchor\"}\n";
static const char pair[] =
    "{\"provider\": \"base\", \"name\": \"anchor\", \"description\": \"find a table anchor\"}\n"
    "{\"provider\": \"left\", \"name\": \"half1\", \"description\": \"zeppelin book a table\"}\n"
    "{\"provider\": \"right\", \"name\": \"half2\", \"description\": \"zeppelin book two tables\"}\n";

static void search_once(const char *recipe, unsigned number)
{
    wt_find_options options;
    wt_hits *hits;
    wt_find_options_init(&options);
    options.recipe = recipe;
    options.explain = number % 2;
    options.copies = 1; /* the halves have similar names */
    int rc = wt_find(engine, "zeppelin anchor", 15, &options, &hits, NULL);
    atomic_fetch_add(&searches, 1);
    if (rc < 0) {
        atomic_fetch_add(&failed, 1);
        return;
    }
    size_t halves = 0, anchors = 0;
    for (size_t i = 0; i < hits->len; i++) {
        halves += strncmp(hits->items[i]->tool->name, "half", 4) == 0;
        anchors += strcmp(hits->items[i]->tool->name, "anchor") == 0;
    }
    if (anchors != 1 || halves % 2)
        atomic_fetch_add(&torn, 1);
    wt_hits_free(hits);
}

/* The anchor is always in the catalogue and has no parameters. */
static void call_once(unsigned number)
{
    wt_call_options options;
    wt_called *called;
    wt_call_options_init(&options);
    options.tool = number % 3 == 0 ? "base/anchor" : NULL;
    options.recipe = number % 3 == 1 ? "bm25" : NULL;
    options.abstain = -1;
    options.explain = number % 2;
    if (wt_call(engine, "zeppelin anchor", 15, &options, &called, NULL) < 0) {
        atomic_fetch_add(&failed, 1);
        return;
    }
    if (called->tool ? strcmp(called->arguments, "{}") != 0 : options.tool != NULL)
        atomic_fetch_add(&torn, 1);
    wt_called_free(called);
}

static void *reader(void *context)
{
    unsigned seed = *(unsigned *)context;
    for (unsigned i = 0; i < SEARCHES || !atomic_load(&done); i++) {
        static const char *const recipes[] = {"bm25", "hybrid", "dense", NULL};
        search_once(recipes[(seed + i) % 4], seed + i);
        if (i % 4 == seed % 4)
            call_once(i);
        if (i % 8 == seed % 8) {
            wt_catalog_info info;
            wt_tools *tools;
            wt_catalog_info_init(&info);
            if (wt_info(engine, &info, NULL) < 0 || wt_list(engine, NULL, &tools, NULL) < 0)
                atomic_fetch_add(&failed, 1);
            else
                wt_tools_free(tools);
        }
    }
    return NULL;
}

static void answers_show_a_single_state(void **state)
{
    (void)state;
    pthread_t threads[READERS];
    unsigned seeds[READERS];
    wt_add_options options;
    wt_add_options_init(&options);
    options.format = "jsonl";
    options.sync = 1;
    make_test_place(&place);
    engine = open_test_engine(&place, NULL);
    wt_add_report_free(add_with(&place, engine, base, &options));
    for (unsigned i = 0; i < READERS; i++) {
        seeds[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, reader, &seeds[i]), 0);
    }
    for (size_t round = 0; round < ROUNDS; round++)
        wt_add_report_free(add_with(&place, engine, round % 2 ? base : pair, &options));
    atomic_store(&done, true);
    for (unsigned i = 0; i < READERS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(failed, 0);
    assert_int_equal(torn, 0);
    assert_true(searches >= READERS * SEARCHES);
    wt_close(engine);
    remove_test_place(&place);
}

static void *first_search(void *context)
{
    pthread_barrier_wait(context);
    search_once(NULL, 1);
    return NULL;
}

/* Several threads need the model and the index of a new engine at the same time. */
static void concurrent_first_queries_succeed(void **state)
{
    (void)state;
    make_test_place(&place);
    wt_engine *writer = open_test_engine(&place, NULL);
    add(&place, writer, pair);
    for (size_t round = 0; round < 5; round++) {
        pthread_t threads[READERS];
        pthread_barrier_t barrier;
        if (round % 2)
            remove_model_folder(place.index);
        engine = open_test_engine(&place, NULL);
        pthread_barrier_init(&barrier, NULL, READERS);
        for (unsigned i = 0; i < READERS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, first_search, &barrier), 0);
        for (unsigned i = 0; i < READERS; i++)
            pthread_join(threads[i], NULL);
        pthread_barrier_destroy(&barrier);
        wt_close(engine);
    }
    assert_int_equal(failed, 0);
    assert_int_equal(torn, 0);
    wt_close(writer);
    remove_test_place(&place);
}

static char private_store[] = ":memory:";

/* Results of searches during the progress callback of an import. They run on another thread, while the import holds its
 * locks. */
struct during {
    size_t halves[8]; /* number of halves found in each phase; SIZE_MAX on error, or if the recipes differ */
    const char *phases[8];
    size_t count; /* number of phases */
};

static void *find_halves(void *context)
{
    static const char *const recipes[] = {"bm25", "hybrid"};
    size_t *out = context;
    for (size_t i = 0; i < 2; i++) {
        wt_find_options options;
        wt_hits *hits;
        wt_find_options_init(&options);
        options.recipe = recipes[i];
        options.copies = 1;
        options.explain = 1;
        size_t halves = 0;
        if (wt_find(engine, "zeppelin anchor", 15, &options, &hits, NULL) < 0) {
            *out = SIZE_MAX;
            return NULL;
        }
        for (size_t h = 0; h < hits->len; h++)
            halves += strncmp(hits->items[h]->tool->name, "half", 4) == 0;
        wt_hits_free(hits);
        *out = i == 0 || *out == halves ? halves : SIZE_MAX;
    }
    return NULL;
}

static size_t halves_now(void)
{
    pthread_t thread;
    size_t halves = SIZE_MAX;
    assert_int_equal(pthread_create(&thread, NULL, find_halves, &halves), 0);
    pthread_join(thread, NULL);
    return halves;
}

static int find_during(void *context, const char *phase, uint64_t finished, uint64_t total)
{
    struct during *during = context;
    (void)finished, (void)total;
    bool again = during->count > 0 && strcmp(during->phases[during->count - 1], phase) == 0;
    if (!again && during->count < 8) {
        during->phases[during->count] = phase;
        during->halves[during->count++] = halves_now();
    }
    return 0;
}

/* *state: path of the store; NULL for place.store. */
static void query_does_not_wait_for_import(void **state)
{
    wt_add_options options;
    make_test_place(&place);
    if (*state)
        snprintf(place.store, sizeof place.store, "%s", (const char *)*state);
    engine = open_test_engine(&place, NULL);
    add(&place, engine, base);
    assert_int_equal(halves_now(), 0);
    wt_add_options_init(&options);
    options.format = "jsonl";
    options.sync = 1;
    options.progress = find_during;
    for (size_t round = 0; round < 4; round++) {
        struct during during = {.count = 0};
        size_t old = round % 2 ? 2 : 0, new = 2 - old;
        options.progress_context = &during;
        options.no_vectors = round >= 2;
        wt_add_report_free(add_with(&place, engine, round % 2 ? base : pair, &options));
        assert_true(during.count >= 2);
        for (size_t i = 0; i < during.count; i++) {
            bool stored = strcmp(during.phases[i], "encoding") == 0 || strcmp(during.phases[i], "indexing") == 0;
            if (during.halves[i] != old && !(stored && during.halves[i] == new))
                fail_msg("round %zu, %s: %zu halves", round, during.phases[i], during.halves[i]);
        }
        assert_int_equal(halves_now(), new);
    }
    wt_close(engine);
    remove_test_place(&place);
}

/* If the state of the store cannot be read after a change because the store is locked, the next query must
 * read the state itself, but only once: otherwise later queries would wait for an import. */
static void one_failed_state_read_has_no_lasting_effect(void **state)
{
    (void)state;
    wt_open_options options;
    struct store *other;
    struct index_handle *index, *again;
    make_test_place(&place);
    wt_open_options_init(&options);
    options.model = "";
    options.busy_ms = 1;
    assert_call_ok(&place, wt_open(&engine, place.store, &options, &place.err));
    add(&place, engine, base);
    assert_call_ok(&place, wt__store_open(&other, place.store, NULL, &place.err));
    assert_call_ok(&place, wt__sql_exec(other, "BEGIN EXCLUSIVE", &place.err));
    wt__engine_changed(engine);
    wt__store_close(other);
    assert_call_ok(&place, wt__engine_index(engine, NULL, NULL, NULL, &index, &place.err));
    wt__index_release(index);
    wt__engine_begin_import(engine); /* from here a query uses the current index */
    assert_call_ok(&place, wt__store_open(&other, place.store, NULL, &place.err));
    assert_call_ok(&place, wt__sql_exec(other, "BEGIN EXCLUSIVE", &place.err));
    assert_call_ok(&place, wt__engine_index(engine, NULL, NULL, NULL, &again, &place.err));
    assert_ptr_equal(again, engine->index);
    wt__index_release(again);
    wt__store_close(other);
    wt__engine_end_import(engine);
    wt_close(engine);
    remove_test_place(&place);
}

/* The slow work on an index (reading its tools, mapping past requests to rows, freeing it) is done by the thread that
 * builds the index, not by a query. */
static void query_leaves_slow_work_to_builder(void **state)
{
    (void)state;
    static const struct trained past = {.next = NULL};
    struct index_handle *used, *next;
    make_test_place(&place);
    engine = open_test_engine(&place, "");
    add(&place, engine, base);
    assert_call_ok(&place, wt__engine_index(engine, NULL, NULL, &past, &used, &place.err));
    add(&place, engine, pair);
    assert_int_equal(atomic_load(&used->references), 2);
    struct index_handle *made = engine->index;
    assert_ptr_not_equal(made, used);
    assert_call_ok(&place, wt__engine_index(engine, NULL, NULL, &past, &next, &place.err));
    assert_ptr_equal(next, made);
    assert_non_null(next->kept);
    wt__index_release(next);
    wt__index_release(used);
    assert_ptr_equal(engine->replaced, used);
    assert_int_equal(atomic_load(&used->references), 1);
    add(&place, engine, pair); /* changes nothing */
    assert_null(engine->replaced);
    wt_close(engine);
    remove_test_place(&place);
}

int main(void)
{
    alarm(300); /* a query that waits for the import would deadlock */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_show_a_single_state),
        cmocka_unit_test(query_does_not_wait_for_import),
        cmocka_unit_test_prestate(query_does_not_wait_for_import, private_store),
        cmocka_unit_test(one_failed_state_read_has_no_lasting_effect),
        cmocka_unit_test(query_leaves_slow_work_to_builder),
        cmocka_unit_test(concurrent_first_queries_succeed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
