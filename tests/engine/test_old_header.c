/* test_old_header.c: calls the library as a program compiled with an older or newer header. The library must not access
 * memory behind the caller's structs. Each struct ends at the end of a page, and the next page is inaccessible, so that
 * an access behind the struct ends the test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/old_whichtool.h"

#define TOOLS                                                                                                          \
    "{\"provider\": \"weather\", \"name\": \"forecast\", \"description\": \"The weather of the coming days\"}\n"       \
    "{\"provider\": \"music\", \"name\": \"play\", \"description\": \"Plays a song\"}\n"
#define REQUEST "a song of the weather, of coming days"
enum { ERROR_INVALID = -1 };

static char *page;
static size_t page_bytes;

static int setup(void **state)
{
    (void)state;
    page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    page = mmap(NULL, 2 * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return page == MAP_FAILED ? -1 : mprotect(page + page_bytes, page_bytes, PROT_NONE);
}

static int teardown(void **state)
{
    (void)state;
    return munmap(page, 2 * page_bytes);
}

/* Places a struct of `size` bytes at the end of the page, filled as by the _init function of its header. Fills the page
 * before the struct with 0xff bytes. */
static void *last_of_page(size_t size)
{
    memset(page, 0xff, page_bytes);
    char *at = memset(page + page_bytes - size, 0, size);
    memcpy(at, &size, sizeof size);
    return at;
}

static void nothing_written_before(const void *of)
{
    for (const char *at = page; at < (const char *)of; at++)
        assert_int_equal(*at, (char)0xff);
}

static wt_engine *open_with_tools(void)
{
    wt_engine *engine;
    wt_add_report *report;
    wt_open_options *open = last_of_page(sizeof *open);
    open->model = "";
    assert_int_equal(wt_open(&engine, ":memory:", open, NULL), 0);
    wt_add_options *add = last_of_page(sizeof *add);
    add->format = "jsonl";
    assert_int_equal(wt_add(engine, TOOLS, strlen(TOOLS), add, &report, NULL), 0);
    wt_add_report_free(report);
    return engine;
}

static void older_options_are_read_to_their_end(void **state)
{
    (void)state;
    wt_engine *engine = open_with_tools();
    const char *used = "weather/forecast";
    wt_tools *tools;
    wt_hits *hits;
    wt_picked *picked;
    wt_usages *usages;

    wt_list_options *list = last_of_page(sizeof *list);
    list->provider = "music";
    assert_int_equal(wt_list(engine, NULL, &tools, NULL), 0);
    assert_int_equal(tools->len, 2);
    assert_string_equal(tools->items[1]->id, "music/play");
    wt_tools_free(tools);
    assert_int_equal(wt_list(engine, list, &tools, NULL), 0);
    assert_int_equal(tools->len, 1);
    assert_string_equal(tools->items[0]->id, "music/play");
    wt_tools_free(tools);

    wt_find_options *find = last_of_page(sizeof *find);
    find->recipe = "bm25";
    assert_int_equal(wt_find(engine, REQUEST, strlen(REQUEST), find, &hits, NULL), 0);
    assert_int_equal(hits->len, 2);
    assert_string_equal(hits->items[0]->tool->id, "weather/forecast");
    assert_string_equal(hits->items[1]->tool->id, "music/play");
    wt_hits_free(hits);

    wt_pick_options *pick = last_of_page(sizeof *pick);
    assert_int_equal(wt_pick(engine, REQUEST, strlen(REQUEST), pick, &picked, NULL), 0);
    wt_picked_free(picked);

    wt_record_options *record = last_of_page(sizeof *record);
    record->outcome = "ok";
    assert_int_equal(wt_record_usage(engine, REQUEST, strlen(REQUEST), &used, 1, record, NULL), 0);

    wt_usage_filter *filter = last_of_page(sizeof *filter);
    filter->tool = used;
    assert_int_equal(wt_list_usage(engine, filter, &usages, NULL), 0);
    assert_int_equal(usages->len, 1);
    wt_usages_free(usages);
    wt_close(engine);
}

static void older_results_are_written_to_their_end(void **state)
{
    (void)state;
    wt_engine *engine = open_with_tools();
    wt_catalog_info *catalog = last_of_page(sizeof *catalog);
    assert_int_equal(wt_info(engine, catalog, NULL), 0);
    assert_int_equal(catalog->size, sizeof *catalog);
    assert_int_equal(catalog->tools, 2);
    assert_int_equal(catalog->providers, 2);
    nothing_written_before(catalog);
    wt_usage_info *usage = last_of_page(sizeof *usage);
    assert_int_equal(wt_get_usage_info(engine, usage, NULL), 0);
    assert_int_equal(usage->size, sizeof *usage);
    assert_int_equal(usage->usages, 0);
    nothing_written_before(usage);
    wt_close(engine);
}

/* Passes structs of valid sizes and of sizes too small for the size field. The struct of a later header has 0xff bytes
 * from byte 512 on, which the library must neither read nor overwrite. */
static void struct_size_is_respected_or_rejected(void **state)
{
    (void)state;
    static const struct {
        size_t size;
        int code;
    } cases[] = {{0, ERROR_INVALID}, {1, ERROR_INVALID}, {7, ERROR_INVALID}, {8, 0}, {16, 0}, {1024, 0}};
    wt_engine *engine = open_with_tools();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t held = cases[i].size < sizeof(size_t) ? sizeof(size_t) : cases[i].size;
        wt_find_options *find = last_of_page(held);
        wt_catalog_info *info = (wt_catalog_info *)find;
        wt_hits *hits = (wt_hits *)&page;
        if (held > 512)
            memset((char *)find + 512, 0xff, held - 512);
        find->size = cases[i].size;
        assert_int_equal(wt_find(engine, REQUEST, strlen(REQUEST), find, &hits, NULL), cases[i].code);
        assert_int_equal(hits == NULL, cases[i].code != 0);
        wt_hits_free(hits);
        assert_int_equal(wt_info(engine, info, NULL), cases[i].code);
        assert_int_equal(info->size, cases[i].size);
        nothing_written_before(info);
        if (held > 512)
            assert_int_equal(((char *)info)[512], (char)0xff);
    }
    wt_close(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(older_options_are_read_to_their_end),
        cmocka_unit_test(older_results_are_written_to_their_end),
        cmocka_unit_test(struct_size_is_respected_or_rejected),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
