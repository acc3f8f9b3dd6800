/* Tests the content of a store: imports, lookups, and vectors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/sha256.h"
#include "catalog/names.h"
#include "store/backend.h"
#include "store/review.h"

static wt_error err;

static struct tool make_tool(const char *provider, const char *name, const char *definition)
{
    struct tool tool = {
        .provider = wt__str(provider),
        .name = wt__str(name),
        .title = STR("A title"),
        .description = wt__str(definition),
        .category = STR("things"),
        .source_id = wt__str(name),
        .format = STR("mcp"),
        .definition = wt__str(definition),
        .schema = STR("{\"type\":\"object\"}"),
    };
    wt__sha256(definition, strlen(definition), tool.sha256);
    return tool;
}

static struct store *open_empty_store(void)
{
    struct store *store;
    assert_int_equal(wt__store_open(&store, backend->new_store(), NULL, &err), 0);
    return store;
}

static struct store_changes import_from(struct store *store, const char *source, bool sync, const struct tool *tools,
                                        size_t count)
{
    struct store_import_options options = {.source = wt__str(source), .sync = sync};
    struct store_changes changes;
    assert_int_equal(wt__store_import(store, tools, count, &options, &changes, &err), 0);
    return changes;
}

static uint64_t read_generation(struct store *store)
{
    uint64_t generation;
    assert_int_equal(wt__store_generation(store, &generation, &err), 0);
    return generation;
}

/* ---------------------------------------------------------------- import */

/* Each row is one import into the same store. Tools are words of the form "provider/name=definition". */
static const struct {
    const char *name, *source;
    bool sync;
    const char *tools;
    struct store_changes want;
    const char *left; /* tools after the import, in order of id */
} imports[] = {
    {"new tools are added", "a", false, "p/x=1 p/y=1 q/x=1", {.added = 3}, "p/x=1 p/y=1 q/x=1"},
    {"the same tools again change nothing", "a", false, "p/x=1 p/y=1 q/x=1", {.unchanged = 3}, "p/x=1 p/y=1 q/x=1"},
    {"a changed definition updates in place",
     "a",
     false,
     "p/x=2 p/y=1",
     {.updated = 1, .unchanged = 1},
     "p/x=2 p/y=1 q/x=1"},
    {"sync removes the tools that its source lacks", "a", true, "p/x=2", {.unchanged = 1, .removed = 2}, "p/x=2"},
    {"sync of another source removes nothing here", "b", true, "r/z=1", {.added = 1}, "p/x=2 r/z=1"},
    {"a tool moves to the source that imported it last", "b", false, "p/x=2", {.unchanged = 1}, "p/x=2 r/z=1"},
    {"sync of the old source keeps a moved tool", "a", true, "", {0}, "p/x=2 r/z=1"},
    {"two definitions of one name are two tools", "b", false, "s/t=1 s/t=2", {.added = 2}, "p/x=2 r/z=1 s/t=1 s/t~2=2"},
    {"both tools of one name are recognised again",
     "b",
     false,
     "s/t=1 s/t=2",
     {.unchanged = 2},
     "p/x=2 r/z=1 s/t=1 s/t~2=2"},
    {"a repeated definition is one tool", "b", false, "s/t=1 s/t=1", {.unchanged = 1}, "p/x=2 r/z=1 s/t=1 s/t~2=2"},
    {"an empty sync removes all of the source", "b", true, "", {.removed = 4}, ""},
    {"a tool needs no provider", "b", false, "/alone=1", {.added = 1}, "/alone=1"},
    {"another source's tool is not overwritten",
     "c",
     false,
     "/alone=2 p/x=1",
     {.added = 2, .collisions = 1},
     "/alone=1 /alone~2=2 p/x=1"},
    {"a source recognises its numbered tool again",
     "c",
     false,
     "/alone=2 p/x=1",
     {.unchanged = 2},
     "/alone=1 /alone~2=2 p/x=1"},
    {"a source updates its numbered tool",
     "c",
     false,
     "/alone=3 p/x=1",
     {.updated = 1, .unchanged = 1},
     "/alone=1 /alone~2=3 p/x=1"},
    {"the first source keeps the name without a number",
     "b",
     false,
     "/alone=1",
     {.unchanged = 1},
     "/alone=1 /alone~2=3 p/x=1"},
    {"a third tool gets the next number",
     "d",
     false,
     "/alone=4",
     {.added = 1, .collisions = 1},
     "/alone=1 /alone~2=3 p/x=1 /alone~3=4"},
    {"a definition stored under a number is not added again",
     "e",
     false,
     "/alone=3",
     {.unchanged = 1},
     "/alone=1 /alone~2=3 p/x=1 /alone~3=4"},
    {"a numbered tool does not take a freed name", "b", true, "", {.removed = 1}, "/alone~2=3 p/x=1 /alone~3=4"},
    {"a numbered tool keeps its number", "d", false, "/alone=4", {.unchanged = 1}, "/alone~2=3 p/x=1 /alone~3=4"},
    {"a new tool gets a freed name", "f", false, "/alone=5", {.added = 1}, "/alone~2=3 p/x=1 /alone~3=4 /alone=5"},
    {"a name may look like a numbered name",
     "f",
     true,
     "/alone~2=7 /alone=5",
     {.added = 1, .unchanged = 1, .collisions = 1},
     "/alone~2=3 p/x=1 /alone~3=4 /alone=5 /alone~2~2=7"},
    {"a file in a folder adds tools",
     "/dir/one",
     false,
     "q/a=1 q/b=1",
     {.added = 2},
     "/alone~2=3 p/x=1 /alone~3=4 /alone=5 /alone~2~2=7 q/a=1 q/b=1"},
    {"sync of a path with the same beginning removes nothing",
     "/dir/on",
     true,
     "q/b=1",
     {.unchanged = 1},
     "/alone~2=3 p/x=1 /alone~3=4 /alone=5 /alone~2~2=7 q/a=1 q/b=1"},
    {"sync of a folder removes the tools of its files",
     "/dir",
     true,
     "",
     {.removed = 2},
     "/alone~2=3 p/x=1 /alone~3=4 /alone=5 /alone~2~2=7"},
    {"a folder adds a tool, as in an older version",
     "/old",
     false,
     "o/a=1",
     {.added = 1},
     "/alone~2=3 p/x=1 /alone~3=4 /alone=5 /alone~2~2=7 o/a=1"},
    {"a file in a folder updates a tool of the folder",
     "/old/sub/file",
     false,
     "o/a=2",
     {.updated = 1},
     "/alone~2=3 p/x=1 /alone~3=4 /alone=5 /alone~2~2=7 o/a=2"},
};

static size_t parse_tools(char *text, struct tool *tools)
{
    size_t count = 0;
    char *save = NULL;
    for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        char *slash = strchr(word, '/'), *equals = strchr(word, '=');
        *slash = *equals = '\0';
        tools[count++] = make_tool(word, slash + 1, equals + 1);
    }
    return count;
}

#define PADDING "padding" /* provider of the tools that make an import large */

/* Writes `count` tools, each with the name of its place. */
static void fill_padding(struct tool *tools, char (*names)[24], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        snprintf(names[i], sizeof names[i], "pad%zu", i);
        tools[i] = make_tool(PADDING, names[i], "0");
    }
}

static int append_tool(void *context, const struct store_key *key, const struct tool *tool)
{
    char *text = context;
    (void)key;
    if (!wt__str_equal(tool->provider, STR(PADDING)))
        sprintf(text + strlen(text), "%s%.*s/%.*s=%.*s", *text ? " " : "", (int)tool->provider.len, tool->provider.ptr,
                (int)tool->name.len, tool->name.ptr, (int)tool->definition.len, tool->definition.ptr);
    return 0;
}

/* padding: number of unchanged tools before those of each import. */
static void check_imports(size_t padding)
{
    struct store *store = open_empty_store();
    char names[8][24];
    for (size_t i = 0; i < sizeof imports / sizeof *imports; i++) {
        char text[256], left[512] = "";
        struct tool tools[16];
        fill_padding(tools, names, padding);
        snprintf(text, sizeof text, "%s", imports[i].tools);
        uint64_t before = read_generation(store);
        struct store_changes got =
            import_from(store, imports[i].source, imports[i].sync, tools, padding + parse_tools(text, tools + padding));
        *(i == 0 ? &got.added : &got.unchanged) -= padding;
        const struct store_changes *want = &imports[i].want;
        bool moved = want->added || want->updated || want->removed;
        assert_int_equal(wt__store_each(store, 0, append_tool, left, &err), 0);
        if (memcmp(&got, want, sizeof got) != 0 || strcmp(left, imports[i].left) != 0 ||
            read_generation(store) != before + moved)
            fail_msg("%s: added %zu, updated %zu, unchanged %zu, removed %zu, collisions %zu; left \"%s\"",
                     imports[i].name, got.added, got.updated, got.unchanged, got.removed, got.collisions, left);
    }
    wt__store_close(store);
}

static void test_each_import_makes_the_expected_changes(void **state)
{
    (void)state;
    check_imports(0);
}

/* An import of many tools compares and inserts them in batches if each statement is a round trip to a server. */
static void test_each_large_import_makes_the_same_changes(void **state)
{
    (void)state;
    check_imports(8);
}

/* Imports the tools again and again, with changes of the one at `at`. */
static void check_fields(struct tool *tools, size_t count, size_t at)
{
    struct store *store = open_empty_store();
    struct tool *tool = &tools[at];
    import_from(store, "a", false, tools, count);
    struct str *fields[] = {&tool->title,     &tool->description, &tool->category,
                            &tool->source_id, &tool->format,      &tool->schema};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        *fields[i] = STR("another");
        assert_int_equal(import_from(store, "a", false, tools, count).updated, 1);
        *fields[i] = STR("");
        assert_int_equal(import_from(store, "a", false, tools, count).updated, 1);
        assert_int_equal(import_from(store, "a", false, tools, count).unchanged, count);
    }
    wt__store_close(store);
}

/* An import updates a tool if any of these fields differs. */
static void test_each_field_is_compared(void **state)
{
    (void)state;
    enum { COUNT = 600 }; /* more than a batch compares at once */
    static char names[COUNT][24];
    static struct tool tools[COUNT];
    static const size_t places[] = {0, 511, 512, COUNT - 1};
    struct tool tool = make_tool("p", "x", "one");
    check_fields(&tool, 1, 0);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        fill_padding(tools, names, COUNT);
        check_fields(tools, COUNT, places[i]);
    }
}

/* A tool that an import has stored already is not changed by another of the same name, also if both were read ahead. */
static void test_a_name_that_a_large_import_has_twice(void **state)
{
    (void)state;
    enum { COUNT = 20 };
    char names[COUNT][24];
    struct tool tools[COUNT];
    struct store *store = open_empty_store();
    fill_padding(tools, names, COUNT);
    import_from(store, "a", false, tools, COUNT - 1);
    tools[COUNT - 1] = make_tool(PADDING, "pad3", "1");
    struct store_changes changes = import_from(store, "a", false, tools, COUNT);
    assert_int_equal(changes.added, 1);
    assert_int_equal(changes.unchanged, COUNT - 1);
    assert_int_equal(import_from(store, "a", false, tools, COUNT).unchanged, COUNT);
    tools[3] = make_tool(PADDING, "pad3", "2");
    changes = import_from(store, "a", false, tools, COUNT);
    assert_int_equal(changes.updated, 1);
    assert_int_equal(changes.unchanged, COUNT - 1);
    assert_int_equal(wt__store_rename_provider(store, STR(PADDING), STR("renamed"), &err), COUNT);
    assert_int_equal(import_from(store, "a", false, tools, COUNT).unchanged, COUNT);
    wt__store_close(store);
}

static int last_key(void *context, const struct store_key *key, const struct tool *tool)
{
    (void)tool;
    *(struct store_key *)context = *key;
    return 0;
}

static void test_ids_are_never_reused(void **state)
{
    (void)state;
    struct store *store = open_empty_store();
    struct tool tool = make_tool("p", "x", "one");
    struct store_key first, changed, again;
    import_from(store, "a", false, &tool, 1);
    assert_int_equal(wt__store_each(store, 0, last_key, &first, &err), 0);
    tool = make_tool("p", "x", "two");
    import_from(store, "a", false, &tool, 1);
    assert_int_equal(wt__store_each(store, 0, last_key, &changed, &err), 0);
    assert_true(changed.id == first.id && changed.provider == first.provider && changed.generation > first.generation);
    assert_int_equal(wt__store_remove(store, &first.id, 1, &err), 1);
    import_from(store, "a", false, &tool, 1);
    assert_int_equal(wt__store_each(store, 0, last_key, &again, &err), 0);
    assert_true(again.id > first.id && again.provider > first.provider && again.generation > changed.generation);
    wt__store_close(store);
}

static void test_tools_over_the_limits_are_refused(void **state)
{
    (void)state;
    static char big[WT_MAX_DEFINITION_BYTES + 2];
    struct store *store = open_empty_store();
    struct store_import_options options = {.source = STR("a")};
    struct store_changes changes;
    char left[64] = "";
    memset(big, 'x', sizeof big - 1);
    struct tool tools[2] = {make_tool("p", "fine", "one"), make_tool("p", "y", "one")};
    const struct {
        struct str name, definition;
        int code;
        const char *says;
    } rows[] = {
        {{"", 0}, STR("1"), WT_EFORMAT, "a tool has no name"},
        {{big, WT_MAX_NAME_BYTES + 1}, STR("1"), WT_ETOOLONG, "is longer than 256 bytes"},
        {STR("y"), {big, WT_MAX_DEFINITION_BYTES + 1}, WT_ETOOLONG, "tool \"y\" has a definition of 1048577 bytes"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tools[1].name = rows[i].name;
        tools[1].definition = rows[i].definition;
        assert_int_equal(wt__store_import(store, tools, 2, &options, &changes, &err), rows[i].code);
        assert_non_null(strstr(err.message, rows[i].says));
        struct review_item item = {.tool = tools[1], .offered = STR("{}")};
        const struct review_listing listing = {.provider = STR("p"), .source = STR("a"), .items = &item, .count = 1};
        struct review_changes reviewed;
        memset(item.sha256, '0', DEFINITION_DIGITS);
        if (item.tool.name.len > 0) /* In a review, an empty name means the server's instructions. */
            assert_int_equal(wt__store_review(store, &listing, &reviewed, &err), rows[i].code);
    }
    assert_int_equal(wt__store_import(store, tools, WT_MAX_TOOLS + 1, &options, &changes, &err), WT_ETOOLONG);
    assert_string_equal(err.message, "2000001 tools in one import; at most 2000000 fit");
    assert_int_equal(wt__store_each(store, 0, append_tool, left, &err), 0);
    assert_string_equal(left, "");
    tools[1].name = (struct str){big, WT_MAX_NAME_BYTES};
    tools[1].definition = (struct str){big, WT_MAX_DEFINITION_BYTES};
    assert_int_equal(import_from(store, "a", false, tools, 2).added, 2);
    wt__store_close(store);
}

static int stop_at_storing(void *context, const char *phase, uint64_t done, uint64_t total)
{
    (void)context;
    return strcmp(phase, "storing") == 0 && done == total;
}

static void test_a_cancelled_import_changes_nothing(void **state)
{
    (void)state;
    struct store *store = open_empty_store();
    struct progress progress;
    struct tool tools[2] = {make_tool("p", "x", "one"), make_tool("p", "y", "one")};
    struct store_changes changes;
    wt__progress_init(&progress, stop_at_storing, NULL);
    struct store_import_options options = {.source = STR("a"), .progress = &progress};
    assert_int_equal(wt__store_import(store, tools, 2, &options, &changes, &err), WT_ECANCELLED);
    assert_string_equal(err.message, "stopped on request");
    wt__progress_dispose(&progress);
    uint64_t tool_count, provider_count;
    assert_int_equal(wt__store_count(store, &tool_count, &provider_count, &err), 0);
    assert_true(tool_count == 0 && provider_count == 0);
    assert_int_equal(import_from(store, "a", false, tools, 2).added, 2);
    wt__store_close(store);
}

/* ---------------------------------------------------------------- finding */

static void test_tools_are_found_by_each_key(void **state)
{
    (void)state;
    struct store *store = open_empty_store();
    struct tool tools[] = {make_tool("p", "x", "1"), make_tool("q", "x", "1"), make_tool("q", "y", "1"),
                           make_tool("", "bare", "1")};
    tools[2].source_id = STR("op-7");
    tools[3].source_id = STR("");
    import_from(store, "a", false, tools, 4);
    int64_t ids[4], *list;
    size_t count;
    struct arena arena = {0};
    struct str q = STR("q"), unknown = STR("unknown"), none = STR("");
    assert_int_equal(wt__store_find_name(store, NULL, STR("x"), ids, 4, &err), 2);
    assert_true(ids[0] == 1 && ids[1] == 2);
    assert_int_equal(wt__store_find_name(store, NULL, STR("x"), ids, 1, &err), 1);
    assert_int_equal(wt__store_find_name(store, &q, STR("x"), ids, 4, &err), 1);
    assert_int_equal(ids[0], 2);
    assert_int_equal(wt__store_find_name(store, &unknown, STR("x"), ids, 4, &err), 0);
    assert_int_equal(wt__store_find_name(store, &none, STR("bare"), ids, 4, &err), 1);
    assert_int_equal(wt__store_find_source_id(store, STR("op-7"), ids, 4, &err), 1);
    assert_int_equal(ids[0], 3);
    assert_int_equal(wt__store_find_source_id(store, STR(""), ids, 4, &err), 0);
    assert_int_equal(wt__store_find_export_name(store, STR("q__y"), ids, &err), 1);
    assert_int_equal(ids[0], 3);
    assert_int_equal(wt__store_find_export_name(store, STR("bare"), ids, &err), 1);
    assert_int_equal(ids[0], 4);
    assert_int_equal(wt__store_find_export_name(store, STR("q__z"), ids, &err), 0);

    static const struct {
        const char *provider;
        size_t limit, offset, count;
        int64_t first;
    } lists[] = {
        {NULL, 0, 0, 4, 1}, {NULL, 2, 1, 2, 2}, {NULL, 0, 9, 0, 0},      {"q", 0, 0, 2, 2},
        {"q", 1, 1, 1, 3},  {"", 0, 0, 1, 4},   {"unknown", 0, 0, 0, 0}, {NULL, SIZE_MAX, SIZE_MAX, 0, 0},
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct str provider = wt__str(lists[i].provider);
        assert_int_equal(wt__store_list(store, lists[i].provider ? &provider : NULL, lists[i].limit, lists[i].offset,
                                        &arena, &list, &count, &err),
                         0);
        assert_int_equal(count, lists[i].count);
        if (count)
            assert_int_equal(list[0], lists[i].first);
    }

    static const struct {
        const char *provider, *pattern;
        size_t limit, offset, count;
        int64_t first;
    } matching[] = {
        {NULL, "*", 0, 0, 4, 1},       {NULL, "*/x", 0, 0, 2, 1},
        {NULL, "q/?", 0, 0, 2, 2},     {NULL, "Q", 0, 0, 2, 2},
        {NULL, "Q/*", 0, 0, 0, 0},     {NULL, "BAR", 0, 0, 1, 4},
        {NULL, "q/x", 0, 0, 1, 2},     {"q", "x", 0, 0, 1, 2},
        {NULL, "?", 0, 0, 3, 1},       {NULL, "b*", 0, 0, 1, 4},
        {"unknown", "*", 0, 0, 0, 0},  {NULL, "*", 2, 1, 2, 2},
        {NULL, "*", 9, 3, 1, 4},       {NULL, "*", 0, 9, 0, 0},
        {NULL, "no such", 0, 0, 0, 0}, {NULL, "*", SIZE_MAX, SIZE_MAX, 0, 0},
    };
    for (size_t i = 0; i < sizeof matching / sizeof *matching; i++) {
        struct str provider = wt__str(matching[i].provider);
        assert_int_equal(wt__store_list_matching(store, matching[i].provider ? &provider : NULL,
                                                 wt__str(matching[i].pattern), matching[i].limit, matching[i].offset,
                                                 &arena, &list, &count, &err),
                         0);
        if (count != matching[i].count || (count && list[0] != matching[i].first))
            fail_msg("%s: %zu from %lld", matching[i].pattern, count, count ? (long long)list[0] : 0);
    }

    int64_t wanted[] = {3, 99, 1};
    struct tool got[3];
    assert_int_equal(wt__store_get(store, wanted, 3, &arena, got, &err), 2);
    assert_true(wt__str_equal(got[0].name, STR("y")) && wt__str_equal(got[0].provider, q) && got[1].name.len == 0);
    assert_true(wt__str_equal(got[2].title, STR("A title")) && wt__str_equal(got[2].schema, tools[0].schema));
    assert_memory_equal(got[2].sha256, tools[0].sha256, 32);
    wt__arena_dispose(&arena);
    wt__store_close(store);
}

static void test_removed_tools_are_counted(void **state)
{
    (void)state;
    struct store *store = open_empty_store();
    struct tool tools[] = {make_tool("p", "x", "1"), make_tool("q", "x", "1"), make_tool("q", "y", "1")};
    uint64_t tool_count, provider_count, before;
    int64_t ids[] = {1, 1, 42};
    import_from(store, "a", false, tools, 3);
    before = read_generation(store);
    assert_int_equal(wt__store_remove_provider(store, STR("unknown"), &err), 0);
    assert_int_equal(wt__store_remove(store, ids + 2, 1, &err), 0);
    assert_int_equal(read_generation(store), before);
    assert_int_equal(wt__store_remove_provider(store, STR("q"), &err), 2);
    assert_int_equal(wt__store_count(store, &tool_count, &provider_count, &err), 0);
    assert_true(tool_count == 1 && provider_count == 1);
    assert_int_equal(wt__store_remove(store, ids, 3, &err), 1);
    assert_int_equal(wt__store_count(store, &tool_count, &provider_count, &err), 0);
    assert_true(tool_count == 0 && provider_count == 0);
    assert_int_equal(read_generation(store), before + 2);
    wt__store_close(store);
}

static int stop_with_seven(void *context, const struct store_key *key, const struct tool *tool)
{
    (void)key;
    (void)tool;
    ++*(int *)context;
    return 7;
}

static void test_a_visitor_can_stop(void **state)
{
    (void)state;
    struct store *store = open_empty_store();
    struct tool tools[] = {make_tool("p", "x", "1"), make_tool("q", "x", "1")};
    int calls = 0;
    import_from(store, "a", false, tools, 2);
    assert_int_equal(wt__store_each(store, 0, stop_with_seven, &calls, &err), 7);
    assert_int_equal(calls, 1);
    assert_int_equal(import_from(store, "a", true, tools, 1).removed, 1);
    wt__store_close(store);
}

/* ---------------------------------------------------------------- vectors */

static const struct vector_set SMALL = {"description/1", "aa", "small", 3, NULL},
                               LARGE = {"description/1", "bb", "large", 2, NULL},
                               OTHER_KIND = {"usage/1", "aa", "small", 3, NULL},
                               NEXT = {"description/2", "aa", "small", 3, "description/1"};

static uint64_t count_set_vectors(struct store *store, const struct vector_set *set)
{
    uint64_t count;
    assert_int_equal(wt__store_count_vectors(store, set, &count, &err), 0);
    return count;
}

static void test_vectors_are_stored_per_set(void **state)
{
    (void)state;
    struct store *store = open_empty_store();
    struct tool tools[] = {make_tool("p", "x", "1"), make_tool("p", "y", "1"), make_tool("p", "z", "1")};
    struct store_key keys[4];
    const float vectors[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    import_from(store, "a", false, tools, 3);
    assert_int_equal(wt__store_missing_vectors(store, &SMALL, 0, keys, 4, &err), 3);
    uint64_t before = read_generation(store);
    assert_int_equal(wt__store_put_vectors(store, &SMALL, keys, vectors, 2, &err), 2);
    assert_int_equal(read_generation(store), before + 1);
    assert_int_equal(wt__store_missing_vectors(store, &SMALL, 0, keys, 4, &err), 1);
    assert_int_equal(keys[0].id, 3);
    assert_int_equal(wt__store_missing_vectors(store, &SMALL, 3, keys, 4, &err), 0);

    /* Other models and other kinds have no vectors yet. */
    assert_int_equal(wt__store_missing_vectors(store, &LARGE, 0, keys, 4, &err), 3);
    assert_int_equal(wt__store_missing_vectors(store, &OTHER_KIND, 1, keys, 4, &err), 2);
    assert_int_equal(wt__store_missing_vectors(store, &OTHER_KIND, 0, keys, 1, &err), 1);
    assert_int_equal(wt__store_put_vectors(store, &LARGE, keys, vectors, 1, &err), 1);
    assert_true(count_set_vectors(store, &SMALL) == 2 && count_set_vectors(store, &LARGE) == 1 &&
                count_set_vectors(store, &OTHER_KIND) == 0);

    float got[9];
    bool there[3];
    assert_int_equal(wt__store_get_vectors(store, &SMALL, (int64_t[]){2, 3, 1}, 3, got, there, &err), 2);
    assert_true(there[0] && !there[1] && there[2] && got[0] == 4 && got[3] == 0 && got[8] == 3);

    struct vector_set wrong = SMALL;
    wrong.dim = 2;
    assert_int_equal(wt__store_put_vectors(store, &wrong, keys, vectors, 1, &err), WT_EMODEL);
    assert_non_null(strstr(err.message, " has vectors of model small with dimension 3, not 2"));
    wrong.dim = 0;
    assert_int_equal(wt__store_put_vectors(store, &wrong, keys, vectors, 1, &err), WT_EMODEL);
    wt__store_close(store);
}

/* Vectors of the former kind are used until vectors of the new kind replace them. */
static void test_vectors_of_the_former_kind_are_a_fallback(void **state)
{
    (void)state;
    struct store *store = open_empty_store();
    struct tool tools[] = {make_tool("p", "x", "1"), make_tool("p", "y", "1"), make_tool("p", "z", "1")};
    struct store_key keys[4];
    const float vectors[] = {1, 2, 3, 4, 5, 6}, next[] = {7, 8, 9};
    float got[9];
    bool there[3];
    uint64_t count;
    import_from(store, "a", false, tools, 3);
    assert_int_equal(wt__store_missing_vectors(store, &SMALL, 0, keys, 4, &err), 3);
    assert_int_equal(wt__store_former_vectors(store, &SMALL, 0, keys, 4, &err), 0);
    assert_int_equal(wt__store_put_vectors(store, &SMALL, keys, vectors, 2, &err), 2);
    assert_int_equal(wt__store_missing_vectors(store, &NEXT, 0, keys, 4, &err), 3);
    assert_int_equal(wt__store_former_vectors(store, &NEXT, 1, keys, 4, &err), 1);
    assert_int_equal(wt__store_former_vectors(store, &NEXT, 0, keys, 4, &err), 2);
    assert_int_equal(wt__store_get_vectors(store, &NEXT, (int64_t[]){1, 2, 3}, 3, got, there, &err), 2);
    assert_true(there[0] && there[1] && !there[2] && got[0] == 1 && got[3] == 4);

    assert_int_equal(wt__store_put_vectors(store, &NEXT, keys, next, 1, &err), 1);
    assert_int_equal(wt__store_get_vectors(store, &NEXT, (int64_t[]){1, 2, 3}, 3, got, there, &err), 2);
    assert_true(there[0] && there[1] && !there[2] && got[0] == 7 && got[3] == 4);
    assert_true(count_set_vectors(store, &SMALL) == 1 && count_set_vectors(store, &NEXT) == 1);
    assert_int_equal(wt__store_former_vectors(store, &NEXT, 0, keys, 4, &err), 1);
    assert_int_equal(keys[0].id, 2);
    assert_int_equal(wt__store_count_of_model(store, NEXT.kind, NEXT.former, "aa", &count, &err), 0);
    assert_int_equal(count, 2);

    /* An older program may store a vector of the former kind meanwhile. The vector is not used. */
    assert_int_equal(wt__store_missing_vectors(store, &SMALL, 0, keys, 1, &err), 1);
    assert_int_equal(wt__store_put_vectors(store, &SMALL, keys, vectors, 1, &err), 1);
    assert_int_equal(wt__store_get_vectors(store, &NEXT, (int64_t[]){1}, 1, got, there, &err), 1);
    assert_true(got[0] == 7);
    wt__store_close(store);
}

static void test_a_changed_tool_loses_its_vectors(void **state)
{
    (void)state;
    struct store *store = open_empty_store();
    struct tool tools[] = {make_tool("p", "x", "1"), make_tool("p", "y", "1")};
    struct store_key keys[2];
    const float vectors[] = {1, 2, 3, 4, 5, 6};
    import_from(store, "a", false, tools, 2);
    assert_int_equal(wt__store_missing_vectors(store, &SMALL, 0, keys, 2, &err), 2);
    assert_int_equal(wt__store_put_vectors(store, &SMALL, keys, vectors, 2, &err), 2);
    assert_int_equal(wt__store_put_vectors(store, &OTHER_KIND, keys, vectors, 2, &err), 2);
    tools[0] = make_tool("p", "x", "2");
    import_from(store, "a", false, tools, 2);
    assert_true(count_set_vectors(store, &SMALL) == 1 && count_set_vectors(store, &OTHER_KIND) == 1);

    /* Vectors of an old text or of a removed tool are not stored. */
    assert_int_equal(wt__store_remove(store, &keys[1].id, 1, &err), 1);
    uint64_t before = read_generation(store);
    assert_int_equal(wt__store_put_vectors(store, &SMALL, keys, vectors, 2, &err), 0);
    assert_true(count_set_vectors(store, &SMALL) == 0 && read_generation(store) == before);
    wt__store_close(store);
}

/* ---------------------------------------------------------------- many */

enum { MANY = 13242 };

/* Without its indexes the store would exceed the time limit of a test. */
static void test_many_tools_are_imported_in_time(void **state)
{
    (void)state;
    static char names[MANY][24], providers[MANY][24], texts[MANY][1200];
    static struct tool tools[MANY];
    for (int i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof names[i], "tool_%d", i);
        snprintf(providers[i], sizeof providers[i], "provider %d", i / 5);
        int len = snprintf(texts[i], sizeof texts[i], "{\"description\":\"number %d ", i);
        memset(texts[i] + len, 'd', sizeof texts[i] - (size_t)len - 1);
        tools[i] = make_tool(providers[i], names[i], texts[i]);
        tools[i].description.len = 200;
    }
    struct store *store = open_empty_store();
    assert_int_equal(import_from(store, "a", true, tools, MANY).added, MANY);
    assert_int_equal(import_from(store, "a", true, tools, MANY).unchanged, MANY);
    struct arena arena = {0};
    struct tool out[5];
    int64_t ids[5] = {1, 4000, 9000, 13000, MANY};
    for (int i = 0; i < 200; i++) {
        assert_int_equal(wt__store_get(store, ids, 5, &arena, out, &err), 5);
        wt__arena_reset(&arena);
    }
    wt__arena_dispose(&arena);
    wt__store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_import_makes_the_expected_changes),
        cmocka_unit_test(test_each_large_import_makes_the_same_changes),
        cmocka_unit_test(test_each_field_is_compared),
        cmocka_unit_test(test_a_name_that_a_large_import_has_twice),
        cmocka_unit_test(test_ids_are_never_reused),
        cmocka_unit_test(test_tools_over_the_limits_are_refused),
        cmocka_unit_test(test_a_cancelled_import_changes_nothing),
        cmocka_unit_test(test_tools_are_found_by_each_key),
        cmocka_unit_test(test_removed_tools_are_counted),
        cmocka_unit_test(test_a_visitor_can_stop),
        cmocka_unit_test(test_vectors_are_stored_per_set),
        cmocka_unit_test(test_vectors_of_the_former_kind_are_a_fallback),
        cmocka_unit_test(test_a_changed_tool_loses_its_vectors),
        cmocka_unit_test(test_many_tools_are_imported_in_time),
    };
    return RUN_ON_BACKEND(tests);
}
