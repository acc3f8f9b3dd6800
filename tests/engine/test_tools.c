/* test_tools.c: lists, names, removes and exports tools. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/json.h"
#include "engine/support.h"

static struct test_place place;
static wt_engine *engine;

static int make_tools_place(void **state)
{
    (void)state;
    make_test_place(&place);
    engine = open_test_engine(&place, "");
    add(&place, engine, handmade);
    return 0;
}

static int remove_tools_place(void **state)
{
    (void)state;
    wt_close(engine);
    remove_test_place(&place);
    return 0;
}

static wt_tools *get_tool_named(const char *name)
{
    wt_tools *tools;
    assert_call_ok(&place, wt_get(engine, name, &tools, &place.err));
    assert_int_equal(tools->len, 1);
    return tools;
}

static void expect_tool_id(const char *name, const char *id)
{
    wt_tools *tools = get_tool_named(name);
    if (strcmp(tools->items[0]->id, id) != 0)
        fail_msg("\"%s\" is %s, not %s", name, tools->items[0]->id, id);
    wt_tools_free(tools);
}

static void list_is_in_import_order(void **state)
{
    (void)state;
    static const struct {
        const char *provider;
        size_t limit, offset;
        const char *ids, *pattern;
    } cases[] = {
        {NULL, 0, 0,
         "weather/getForecast weather/storm_alerts travel/bookHotel travel/search_flights music/search files/search "
         "calculator ",
         NULL},
        {NULL, 2, 0, "weather/getForecast weather/storm_alerts ", NULL},
        {NULL, 2, 5, "files/search calculator ", NULL},
        {NULL, 0, 6, "calculator ", NULL},
        {NULL, 0, 7, "", NULL},
        {NULL, SIZE_MAX, SIZE_MAX, "", NULL},
        {"travel", 0, 0, "travel/bookHotel travel/search_flights ", NULL},
        {"travel", 1, 1, "travel/search_flights ", NULL},
        {"", 0, 0, "calculator ", NULL},
        {NULL, 0, 0, "music/search files/search ", "*/search"},
        {NULL, 1, 2, "files/search ", "SEARCH"},
        {"music", 0, 0, "music/search ", "search"},
        {NULL, 0, 0, "calculator ", "calc?????r"},
        {NULL, 0, 6, "calculator ", ""},
        {NULL, 0, 0, "", "Weather/*"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buffer ids = {0};
        wt_tools *tools;
        wt_list_options options;
        wt_list_options_init(&options);
        options.provider = cases[i].provider;
        options.limit = cases[i].limit;
        options.offset = cases[i].offset;
        options.pattern = cases[i].pattern;
        assert_call_ok(&place, wt_list(engine, &options, &tools, &place.err));
        wt__buffer_text(&ids, "");
        for (size_t t = 0; t < tools->len; t++)
            wt__buffer_printf(&ids, "%s ", tools->items[t]->id);
        assert_string_equal(ids.ptr ? ids.ptr : "", cases[i].ids);
        wt__buffer_dispose(&ids);
        wt_tools_free(tools);
    }
}

static void tool_is_found_by_each_name(void **state)
{
    (void)state;
    static const char slashed[] = "{\"provider\": \"@org/server\", \"name\": \"GET /pets/{id}\"}\n"
                                  "{\"provider\": \"@org\", \"name\": \"server/other\"}\n";
    add(&place, engine, slashed);
    expect_tool_id("weather/getForecast", "weather/getForecast");
    expect_tool_id("bookHotel", "travel/bookHotel");
    expect_tool_id("calculator", "calculator");
    expect_tool_id("@org/server/GET /pets/{id}", "@org/server/GET /pets/{id}");
    expect_tool_id("@org/server/other", "@org/server/other");
    expect_tool_id("server/other", "@org/server/other");
    expect_tool_id("music__search", "music/search");
}

static void source_id_resolves_to_its_tool(void **state)
{
    (void)state;
    static const char corpus[] = "{\"_id\": \"doc-7\", \"title\": \"Seven\", \"text\": \"the seventh tool\"}\n";
    wt_add_options options;
    wt_add_options_init(&options);
    options.format = "beir";
    wt_add_report_free(add_with(&place, engine, corpus, &options));
    wt_tools *tools = get_tool_named("doc-7");
    assert_string_equal(tools->items[0]->source_id, "doc-7");
    wt_tools_free(tools);
}

static void ambiguous_name_is_rejected(void **state)
{
    (void)state;
    wt_tools *tools = (wt_tools *)&place;
    assert_call_refused(&place, wt_get(engine, "search", &tools, &place.err), WT_EINVAL,
                        "several tools are named \"search\" (music/search, files/search); use provider/name");
    assert_null(tools);
    assert_call_refused(&place, wt_remove(engine, "search", &place.err), WT_EINVAL, "music/search");
    assert_call_refused(&place, wt_get(engine, NULL, &tools, &place.err), WT_EINVAL, "no tool given");
    assert_call_refused(&place, wt_remove(engine, NULL, &place.err), WT_EINVAL, "no tool given");
    static const char *const absent[] = {"nothing",
                                         "",
                                         "/",
                                         "weather/",
                                         "/search",
                                         "weather/nothing",
                                         "weather__nothing",
                                         "a__h0123456789abcdef",
                                         "_h0123456789abcdef"};
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
        assert_call_refused(&place, wt_get(engine, absent[i], &tools, &place.err), WT_ENOTFOUND, "no tool is named");
    /* A name that is longer than any tool's name and than an error message. */
    char *longest = calloc(1, 100001);
    memset(longest, '/', 100000);
    assert_call_refused(&place, wt_get(engine, longest, &tools, &place.err), WT_ENOTFOUND, "no tool is named \"///");
    free(longest);
}

static const struct {
    const char *name, *meant; /* NULL if no name is near */
} mistyped[] = {
    {"weather/getForcast", "weather/getForecast"},
    {"wether/getForecast", "weather/getForecast"},
    {"travel/getForecast", "weather/getForecast"},
    {"getForcast", "weather/getForecast"},
    {"getforecast", "weather/getForecast"},
    {"weather__getForcast", "weather/getForecast"},
    {"weather/storm-alert", "weather/storm_alerts"},
    {"storm", "weather/storm_alerts"},
    {"xstorm_alerts", "weather/storm_alerts"},
    {"calcluator", "calculator"},
    {"filez/search", "files/search"},
    {"musik/search", "music/search"},
    {"maths/calculator", "calculator"},
    {"weather/nothing", NULL},
    {"zebra", NULL},
    {"x", NULL},
    {"/", NULL},
    {"", NULL},
};

static void mistyped_name_gets_suggestion(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof mistyped / sizeof *mistyped; i++) {
        wt_tools *tools = NULL;
        char want[128];
        snprintf(want, sizeof want, "no tool is named \"%s\"%s%s%s", mistyped[i].name,
                 mistyped[i].meant ? "; did you mean \"" : "", mistyped[i].meant ? mistyped[i].meant : "",
                 mistyped[i].meant ? "\"?" : "");
        assert_int_equal(wt_get(engine, mistyped[i].name, &tools, &place.err), WT_ENOTFOUND);
        assert_string_equal(place.err.message, want);
        assert_int_equal(wt_remove(engine, mistyped[i].name, &place.err), WT_ENOTFOUND);
        assert_string_equal(place.err.message, want);
    }
    wt_list_options options;
    wt_usage_filter filter;
    wt_tools *tools;
    wt_usages *usages;
    const char *used[] = {"getForcast"};
    wt_list_options_init(&options);
    wt_usage_filter_init(&filter);
    options.provider = "wether";
    assert_call_refused(&place, wt_list(engine, &options, &tools, &place.err), WT_ENOTFOUND,
                        "no tool has the provider \"wether\"; did you mean \"weather\"?");
    assert_call_refused(&place, wt_remove_provider(engine, "wether", &place.err), WT_ENOTFOUND,
                        "did you mean \"weather\"?");
    filter.tool = "getForcast";
    assert_call_refused(&place, wt_list_usage(engine, &filter, &usages, &place.err), WT_ENOTFOUND,
                        "did you mean \"weather/getForecast\"?");
    assert_call_refused(&place, wt_record_usage(engine, "rain", 4, used, 1, NULL, &place.err), WT_ENOTFOUND,
                        "nothing was recorded; did you mean \"weather/getForecast\"?");
    options.provider = "weather";
    options.offset = 2; /* past the end */
    assert_call_ok(&place, wt_list(engine, &options, &tools, &place.err));
    assert_int_equal(tools->len, 0);
    wt_tools_free(tools);
}

/* 20 or more names have the same edit distance, but the library keeps only 16 candidates. */
static void one_of_many_near_names_is_suggested(void **state)
{
    struct buffer tools = {0};
    wt_tools *found = NULL;
    (void)state;
    for (int i = 0; i < 200; i++)
        wt__buffer_printf(&tools, "{\"provider\": \"p%d\", \"name\": \"make_%c%c\", \"description\": \"x\"}\n", i,
                          'a' + i / 20, 'a' + i % 20);
    add(&place, engine, tools.ptr);
    assert_call_refused(&place, wt_get(engine, "make_a", &found, &place.err), WT_ENOTFOUND,
                        "did you mean \"p0/make_aa\"?");
    assert_call_refused(&place, wt_get(engine, "make_", &found, &place.err), WT_ENOTFOUND, "did you mean \"p");
    wt__buffer_dispose(&tools);
}

static void removed_tool_is_gone_everywhere(void **state)
{
    (void)state;
    wt_tools *tools;
    assert_int_equal(wt_remove(engine, "bookHotel", &place.err), 1);
    assert_call_refused(&place, wt_remove(engine, "bookHotel", &place.err), WT_ENOTFOUND,
                        "no tool is named \"bookHotel\"");
    assert_call_refused(&place, wt_get(engine, "travel/bookHotel", &tools, &place.err), WT_ENOTFOUND,
                        "travel/bookHotel");
    wt_hits *hits = find_with(&place, engine, "reserve a hotel room", NULL);
    assert_int_equal(hits->len, 0);
    wt_hits_free(hits);
    assert_int_equal(wt_remove_provider(engine, "weather", &place.err), 2);
    assert_call_refused(&place, wt_remove_provider(engine, "weather", &place.err), WT_ENOTFOUND,
                        "no tool has the provider \"weather\"");
    assert_int_equal(wt_remove_provider(engine, "", &place.err), 1); /* tools without a provider */
    wt_catalog_info info;
    wt_catalog_info_init(&info);
    assert_call_ok(&place, wt_info(engine, &info, &place.err));
    assert_int_equal(info.tools, HANDMADE - 4);
    assert_int_equal(info.providers, 3); /* travel, music, files */
    assert_string_equal(info.model, "");
    /* A tool that is removed and added again is new. */
    add(&place, engine, handmade);
    expect_tool_id("bookHotel", "travel/bookHotel");
}

/* Returns the name in an exported definition. */
static const char *wire_name(const json_t *definition, const char *format)
{
    if (strcmp(format, "openai") == 0)
        definition = wt__json_object(definition, "function");
    if (strcmp(format, "anthropic-inline") == 0)
        definition = wt__json_object(wt__json_object(definition, "tool"), "definition");
    return wt__json_str(definition, strcmp(format, "anthropic-reference") == 0 ? "tool_name" : "name").ptr;
}

static void exported_names_resolve_to_their_tools(void **state)
{
    (void)state;
    static const char *const formats[] = {"openai", "openai-responses",    "anthropic",       "gemini",
                                          "mcp",    "anthropic-reference", "anthropic-inline"};
    static const char odd[] =
        "{\"provider\": \"a provider, with signs\", \"name\": \"GET /pets/{id}\"}\n"
        "{\"provider\": \"under__score\", \"name\": \"__init__\"}\n"
        "{\"provider\": \"\xC3\x9C\x62\x65r\", \"name\": \"\xE4\xBD\xA0\xE5\xA5\xBD\"}\n"
        "{\"provider\": \"long\", \"name\": \"a_name_that_goes_on_and_on_and_on_and_on_and_on_and_on_and_on_and_on_and"
        "_on_and_on_and_on_and_on_and_on_and_on_and_on_and_on_and_on\"}\n"
        "{\"name\": \"0digit first\"}\n";
    add(&place, engine, odd);
    wt_tools *tools;
    assert_call_ok(&place, wt_list(engine, NULL, &tools, &place.err));
    assert_int_equal(tools->len, HANDMADE + 5);
    const wt_tool *list[HANDMADE + 5];
    for (size_t i = 0; i < tools->len; i++)
        list[i] = tools->items[i];
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
        char *text;
        json_t *array, *definitions;
        assert_call_ok(&place, wt_export(list, tools->len, formats[f], &text, &place.err));
        assert_call_ok(&place, wt__json_parse(&array, text, strlen(text), &place.err));
        definitions = array;
        if (strcmp(formats[f], "gemini") == 0 && wt__json_array(json_array_get(array, 0), "functionDeclarations"))
            definitions = wt__json_array(json_array_get(array, 0), "functionDeclarations");
        assert_int_equal(json_array_size(definitions), tools->len);
        for (size_t i = 0; i < tools->len; i++)
            expect_tool_id(wire_name(json_array_get(definitions, i), formats[f]), tools->items[i]->id);
        json_decref(array);
        wt_string_free(text);
    }
    wt_tools_free(tools);
}

/* Each tool occurs once in the export, in the namespace of its provider if it has one. Its exported name must resolve
 * to the same tool. */
static void namespace_names_resolve_to_their_tools(void **state)
{
    (void)state;
    wt_tools *tools;
    char *text;
    json_t *array, *namespace, *function;
    size_t seen = 0, alone = 0, i, j;
    add(&place, engine, "{\"name\": \"alone\"}\n{\"provider\": \"\xE4\xBD\xA0\", \"name\": \"\xE5\xA5\xBD\"}\n");
    assert_call_ok(&place, wt_list(engine, NULL, &tools, &place.err));
    assert_call_ok(&place, wt_export(tools->items, tools->len, "openai-search", &text, &place.err));
    assert_call_ok(&place, wt__json_parse(&array, text, strlen(text), &place.err));
    json_array_foreach(array, i, namespace)
    {
        json_t *functions = wt__json_array(namespace, "tools");
        json_array_foreach(functions, j, function)
        {
            wt_tools *got = get_tool_named(wt__json_str(function, "name").ptr);
            char description[128];
            snprintf(description, sizeof description, "Tools of %s", got->items[0]->provider);
            assert_string_equal(wt__json_str(namespace, "description").ptr, description);
            wt_tools_free(got);
            seen++;
        }
        if (functions)
            continue;
        const char *name = wt__json_str(namespace, "name").ptr;
        expect_tool_id(name, name); /* the id of a tool without a provider is its name */
        alone++;
    }
    /* One provider is new, and the empty provider has no namespace. */
    assert_int_equal(json_array_size(array), alone + HANDMADE_PROVIDERS);
    assert_int_equal(seen + alone, tools->len);
    assert_true(alone > 0);
    json_decref(array);
    wt_string_free(text);
    wt_tools_free(tools);
}

static void invalid_export_is_rejected(void **state)
{
    (void)state;
    wt_tools *tools = get_tool_named("calculator");
    const wt_tool *list[] = {tools->items[0]};
    char *text = (char *)&place;
    assert_call_refused(&place, wt_export(list, 1, "cobol", &text, &place.err), WT_EINVAL, "cobol");
    assert_null(text);
    assert_call_refused(&place, wt_export(list, 1, "", &text, &place.err), WT_EINVAL, "choose one of openai");
    assert_call_ok(&place, wt_export(NULL, 0, "openai", &text, &place.err));
    assert_string_equal(text, "[]");
    wt_string_free(text);
    wt_tools_free(tools);
}

#define test(name) cmocka_unit_test_setup_teardown(name, make_tools_place, remove_tools_place)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(list_is_in_import_order),
        test(tool_is_found_by_each_name),
        test(source_id_resolves_to_its_tool),
        test(ambiguous_name_is_rejected),
        test(mistyped_name_gets_suggestion),
        test(one_of_many_near_names_is_suggested),
        test(removed_tool_is_gone_everywhere),
        test(exported_names_resolve_to_their_tools),
        test(namespace_names_resolve_to_their_tools),
        test(invalid_export_is_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
