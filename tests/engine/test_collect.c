/* test_collect.c: checks that an index built from the previous collection equals, to the byte, an index built from all
 * tools. Also checks that cached tools are read again after a change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/file.h"
#include "engine/set_up.h"

static wt_engine *engine;

static void find_something(wt_engine *in)
{
    wt_find_options options;
    wt_find_options_init(&options);
    options.recipe = "bm25";
    wt_hits_free(find_with(&place, in, "find a song of the storm in a hotel", &options));
}

static struct mapping index_file(void)
{
    char path[160];
    struct mapping file;
    snprintf(path, sizeof path, "%s/snapshot", place.index);
    assert_call_ok(&place, wt__file_map(&file, path, &place.err));
    return file;
}

static void add_many(uint64_t seed, size_t count, size_t of_providers)
{
    struct buffer jsonl = {0};
    synthetic_tools(&jsonl, seed, count, of_providers);
    add(&place, engine, jsonl.ptr);
    wt__buffer_dispose(&jsonl);
}

static void add_one(void)
{
    add(&place, engine,
        "{\"provider\": \"music\", \"name\": \"zither_tuner\", \"description\": \"Tunes a zither, which nothing else "
        "does\"}\n");
}

static void add_many_more(void)
{
    add_many(5, 2500, 40); /* several slices */
}

static void remove_the_first(void)
{
    assert_call_ok(&place, wt_remove(engine, "weather/getForecast", &place.err));
}

static void remove_its_words(void)
{
    assert_call_ok(&place, wt_remove(engine, "music/zither_tuner", &place.err));
}

static void change_some(void)
{
    add(&place, engine,
        "{\"provider\": \"travel\", \"name\": \"bookHotel\", \"description\": \"Now it reserves a cabin of a ship\"}\n"
        "{\"provider\": \"files\", \"name\": \"search\", \"description\": \"Find a song by its title\"}\n");
}

static void rename_one(void)
{
    assert_call_ok(&place, wt_rename_provider(engine, "music", "Song server", &place.err));
}

static void remove_many(void)
{
    assert_call_ok(&place, wt_remove_provider(engine, "p7", &place.err));
    assert_call_ok(&place, wt_remove_provider(engine, "p8", &place.err));
}

static void change_many(void)
{
    add_many(6, 1500, 1);
}

static void incremental_index_equals_full_index(void **state)
{
    static const struct {
        const char *name;
        void (*change)(void);
    } changes[] = {{"a tool is added", add_one},
                   {"the first tool is removed", remove_the_first},
                   {"many tools are added", add_many_more},
                   {"words of a single tool disappear", remove_its_words},
                   {"descriptions change", change_some},
                   {"a provider is renamed", rename_one},
                   {"providers are removed", remove_many},
                   {"many tools change", change_many},
                   {"a tool is added again", add_one}};
    (void)state;
    engine = open_test_engine(&place, "");
    find_something(engine);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        changes[i].change();
        find_something(engine);
        struct mapping followed = index_file();
        remove_model_folder(place.index);
        wt_engine *other = open_test_engine(&place, "");
        find_something(other);
        struct mapping anew = index_file();
        if (followed.len != anew.len || memcmp(followed.ptr, anew.ptr, anew.len) != 0)
            fail_msg("%s: the index has %zu bytes; rebuilt, it has %zu", changes[i].name, followed.len, anew.len);
        wt__file_unmap(&followed);
        wt__file_unmap(&anew);
        wt_close(other);
    }
    wt_close(engine);
}

/* A cached tool must not be returned in place of its changed version. */
static void changed_tool_is_read_again(void **state)
{
    static const char *const descriptions[] = {"Find a song by its melody", "Find a song by its singer"};
    wt_find_options options;
    wt_find_options_init(&options);
    options.recipe = "bm25";
    (void)state;
    engine = open_test_engine(&place, "");
    wt_engine *other = open_test_engine(&place, "");
    for (size_t i = 0; i < 4; i++) {
        char tool[160];
        const char *description = descriptions[i % 2];
        snprintf(tool, sizeof tool, "{\"provider\": \"music\", \"name\": \"search\", \"description\": \"%s\"}\n",
                 description);
        add(&place, i < 2 ? engine : other, tool);
        for (size_t again = 0; again < 2; again++) {
            wt_hits *hits = find_with(&place, engine, "search music", &options);
            assert_string_equal(hits->items[0]->tool->description, description);
            wt_hits_free(hits);
        }
    }
    wt_close(other);
    wt_close(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(incremental_index_equals_full_index, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(changed_tool_is_read_again, set_up_handmade, tear_down_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
