/* test_mutants.c: damages files of an index and of a model, hundreds of times in a run (tests/mutant.h). A damaged
 * index must be rebuilt with the same hits, other damage must be reported, and no run may crash, hang or leak. A
 * failing mutant is kept with everything needed to repeat it: `whichtool find -s KEPT/tools.wt --model KEPT/small
 * "weather in a city"`. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "encoder/seal.h"
#include "engine/support.h"
#include "index/seal.h"
#include "mutant.h"

static const char request[] = "find a table in a city";
enum { K = 5, TOOLS = 300 /* two chunks of vectors */ };

static struct test_place place;
static char found[K][64]; /* hits of an undamaged folder */
static size_t found_count;

static wt_engine *open_as(bool read_only)
{
    wt_engine *engine = NULL;
    wt_open_options options;
    wt_open_options_init(&options);
    options.model = place.model;
    options.threads = 1;
    options.read_only = read_only;
    return wt_open(&engine, place.store, &options, &place.err) == 0 ? engine : NULL;
}

/* True if a call failed with a code and a message. */
static bool is_reported_failure(int rc)
{
    return rc < 0 && place.err.code == rc && place.err.message[0];
}

static bool same_as_found(const wt_hits *hits)
{
    bool same = hits->len == found_count;
    for (size_t i = 0; same && i < hits->len; i++)
        same = strcmp(hits->items[i]->tool->id, found[i]) == 0;
    return same;
}

/* Finds and picks tools. Returns 0 if all is well, 1 if a failure was not reported, 2 if the hits are wrong. any_hits:
 * accept any hits. */
static int find_and_pick(wt_engine *engine, const char *recipe, bool any_hits)
{
    wt_hits *hits = NULL;
    wt_picked *picked = NULL;
    wt_find_options options;
    wt_find_options_init(&options);
    options.recipe = recipe;
    options.k = K;
    options.explain = 1;
    int rc = wt_find(engine, request, strlen(request), &options, &hits, &place.err);
    int bad = rc < 0 ? !is_reported_failure(rc) : !any_hits && !same_as_found(hits) ? 2 : 0;
    wt_hits_free(hits);
    if (bad)
        return bad;
    rc = wt_pick(engine, request, strlen(request), NULL, &picked, &place.err);
    bad = rc < 0 && !is_reported_failure(rc);
    wt_picked_free(picked);
    return bad;
}

static int try_place(bool read_only, bool any_hits)
{
    wt_engine *engine = open_as(read_only);
    if (!engine)
        return !is_reported_failure(place.err.code);
    int bad = find_and_pick(engine, "hybrid", any_hits);
    if (!bad)
        bad = find_and_pick(engine, "bm25", true);
    wt_close(engine);
    return bad;
}

/* repaired: the checksums are valid. The library trusts the content of such an index, so any hits are accepted. */
static int try_index(unsigned long n, bool repaired)
{
    return try_place(n % 2, repaired);
}

static int try_model(unsigned long n, bool repaired)
{
    (void)n, (void)repaired;
    return try_place(true, true);
}

static void repair_checksums(const char *path, unsigned char *bytes, size_t len)
{
    const char *name = strrchr(path, '/') + 1;
    if (strcmp(name, SNAPSHOT_FILE) == 0)
        seal_snapshot(bytes, len);
    else if (strncmp(name, "vectors-", strlen("vectors-")) == 0)
        seal_vectors(bytes, len);
    else if (strstr(name, ".wtm"))
        seal_packed(bytes, len);
}

/* Fails if repair_checksums changes an undamaged file. */
static void repairs_nothing(const struct mutant_folder *folder)
{
    for (size_t i = 0; i < folder->count; i++) {
        const struct mutant_file *file = &folder->files[i];
        unsigned char *bytes = wt__alloc_aligned(file->len + 1, 1);
        memcpy(bytes, file->bytes, file->len);
        repair_checksums(file->path, bytes, file->len);
        if (memcmp(bytes, file->bytes, file->len) != 0)
            fail_msg("%s: repair_checksums changes the undamaged file", file->path);
        free(bytes);
    }
}

static int make_mutant_folders(void **state)
{
    struct buffer jsonl = {0};
    wt_find_options options;
    (void)state;
    make_test_place(&place);
    wt_engine *engine = open_test_engine(&place, NULL);
    synthetic_tools(&jsonl, 7, TOOLS, 9);
    add(&place, engine, handmade);
    add(&place, engine, jsonl.ptr);
    wt_find_options_init(&options);
    options.recipe = "hybrid";
    options.k = K;
    wt_hits *hits = find_with(&place, engine, request, &options);
    found_count = hits->len;
    for (size_t i = 0; i < hits->len; i++)
        snprintf(found[i], sizeof found[i], "%s", hits->items[i]->tool->id);
    wt_hits_free(hits);
    wt_close(engine);
    wt__buffer_dispose(&jsonl);
    return 0;
}

static int remove_mutant_folders(void **state)
{
    (void)state;
    remove_test_place(&place);
    return 0;
}

static void damaged_index_is_rebuilt(void **state)
{
    (void)state;
    static struct mutant_folder folder;
    struct mutant_trial trial = {&folder, repair_checksums, try_index, place.folder};
    mutant_folder_read(&folder, "index", place.index);
    repairs_nothing(&folder);
    assert_true(folder.count >= 2);
    assert_int_equal(mutants_failed(&trial), 0);
    mutant_folder_dispose(&folder);
}

/* The folder also holds the packed model. */
static void damaged_model_is_reported(void **state)
{
    (void)state;
    static struct mutant_folder folder;
    struct mutant_trial trial = {&folder, repair_checksums, try_model, place.folder};
    mutant_folder_read(&folder, "model", place.model);
    repairs_nothing(&folder);
    assert_true(folder.count >= 4);
    assert_int_equal(mutants_failed(&trial), 0);
    mutant_folder_dispose(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(damaged_index_is_rebuilt, make_mutant_folders, remove_mutant_folders),
        cmocka_unit_test_setup_teardown(damaged_model_is_reported, make_mutant_folders, remove_mutant_folders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
