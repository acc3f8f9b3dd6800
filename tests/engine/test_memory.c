/* test_memory.c: makes each allocation fail in turn, from opening a store to exporting hits. A failed
 * allocation must not cause a crash, a leak or a different answer. If the call fails, its error must be WT_ENOMEM,
 * WT_ESTORE (from the database) or WT_EMODEL; for models also WT_EFORMAT.
 *
 * The allocator is in failing_allocator.h. The tests are skipped under sanitizers, which have their own allocator. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/failing_allocator.h"
#include "engine/support.h"

static struct test_place place;
static struct buffer tools;
static const char thermostat[] =
    "{\"name\": \"thermostat\", \"description\": \"Sets how warm a room shall be\", \"parameters\": {\"type\": "
    "\"object\", \"properties\": {\"room\": {\"type\": \"string\"}, \"degrees\": {\"type\": \"number\", \"maximum\": "
    "30}, \"unit\": {\"enum\": [\"celsius\", \"kelvin\"]}, \"until\": {\"format\": \"date\", \"type\": \"string\"}, "
    "\"mode\": {\"default\": [\"eco\"]}}, \"required\": [\"room\", \"degrees\", \"mode\"]}}\n";
static const char *const providers[] = {"p0", "p1", "p2"};
enum { PROVIDERS = 3 };

/* Checksum of the answers, which an unreported failure must not change. Exports are left out: jansson silently drops
 * a byte of a string if its buffer cannot grow. */
static uint64_t said;

static void mix_answer(const char *text)
{
    while (text && *text)
        said = (said ^ (unsigned char)*text++) * 1099511628211u;
}

static int prepare_allocations(void **state)
{
    (void)state;
    make_test_place(&place);
    synthetic_tools(&tools, 3, 12, PROVIDERS);
    wt_engine *engine = open_test_engine(&place, NULL); /* pack the model and create the store */
    add(&place, engine, handmade);
    add(&place, engine, thermostat);
    wt_hits_free(find_with(&place, engine, "find a song", NULL));
    wt_close(engine);
    return 0;
}

static int release_allocations(void **state)
{
    (void)state;
    wt__buffer_dispose(&tools);
    remove_test_place(&place);
    return 0;
}

/* A use of the library from end to end. `run` returns 0 or the first error. */
struct memory_use {
    const char *name;
    int (*run)(wt_engine *engine, wt_error *err);
    int traits;
};

enum {
    LONG_ONE = 1,    /* the use has too many allocations to fail each of them */
    ALONE = 2,       /* the use needs no engine */
    FROM_OPENING = 4 /* also fail the allocations of opening the engine */
};

static int use_nothing(wt_engine *engine, wt_error *err)
{
    (void)engine;
    (void)err;
    return 0;
}

static int use_add(wt_engine *engine, wt_error *err)
{
    wt_add_options options;
    wt_add_report *report;
    wt_add_options_init(&options);
    options.format = "jsonl";
    options.sync = 1;
    int rc = wt_add(engine, tools.ptr, tools.len, &options, &report, err);
    wt_add_report_free(report);
    if (rc == 0) /* remove the tools, so that the next round can add them again */
        rc = wt_remove(engine, "tool_aaa", err);
    for (size_t i = 0; rc >= 0 && i < PROVIDERS; i++)
        rc = (int)wt_remove_provider(engine, providers[i], err);
    return rc < 0 ? rc : 0;
}

static int use_bad_tools(wt_engine *engine, wt_error *err)
{
    static const char bad[] = "{\"name\": 3}\n{\"name\": \"x\", \"description\": 4}\n{\"name\": \"good\"}\n";
    wt_add_report *report;
    int rc = wt_add(engine, bad, strlen(bad), NULL, &report, err);
    wt_add_report_free(report);
    return rc;
}

static int use_find(wt_engine *engine, wt_error *err)
{
    static const char request[] = "find a nice song by its title, then book a hotel room in the city";
    static const char *const recipes[] = {"bm25", "hybrid"};
    wt_find_options options;
    wt_find_options_init(&options);
    options.explain = 1;
    options.max_per_provider = 1;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < 2; i++) {
        wt_hits *hits;
        options.recipe = recipes[i];
        rc = wt_find(engine, request, sizeof request - 1, &options, &hits, err);
        for (size_t h = 0; rc == 0 && h < hits->len; h++) {
            mix_answer(hits->items[h]->tool->id);
            for (size_t m = 0; m < hits->items[h]->match_count; m++)
                mix_answer(hits->items[h]->matches[m]->fields);
        }
        wt_hits_free(hits);
    }
    options.provider = "music";
    wt_hits *hits = NULL;
    if (rc == 0)
        rc = wt_find(engine, request, sizeof request - 1, &options, &hits, err);
    wt_hits_free(hits);
    return rc;
}

static int use_pick(wt_engine *engine, wt_error *err)
{
    static const char request[] = "find a nice song by its title, then book a hotel room in the city";
    static const double promises[] = {0, 0.9};
    wt_pick_options options;
    wt_pick_options_init(&options);
    options.explain = 1;
    options.abstain = -1;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < 2; i++) {
        wt_picked *picked;
        options.complete = promises[i];
        options.max_tokens = promises[i] > 0 ? 10000 : 0;
        rc = wt_pick(engine, request, sizeof request - 1, &options, &picked, err);
        for (size_t h = 0; rc == 0 && h < picked->len; h++)
            mix_answer(picked->items[h]->tool->id);
        wt_picked_free(picked);
    }
    return rc;
}

static int say_call(wt_engine *engine, const char *request, const wt_call_options *options, wt_error *err)
{
    wt_called *called;
    int rc = wt_call(engine, request, strlen(request), options, &called, err);
    if (rc < 0)
        return rc;
    mix_answer(called->tool ? called->tool->id : "none");
    mix_answer(called->call);
    mix_answer(called->question);
    mix_answer(called->steps);
    for (size_t i = 0; i < called->missing_count; i++)
        mix_answer(called->missing[i]);
    for (size_t i = 0; i < called->violation_count; i++)
        mix_answer(called->violations[i]);
    wt_called_free(called);
    return 0;
}

/* One request with valid arguments, one with invalid ones, and one in which arguments are missing. */
static int use_call(wt_engine *engine, wt_error *err)
{
    static const char *const requests[] = {"10.5 degrees kelvin in the room 'hall' until 2026-03-01",
                                           "40 degrees in the room 'hall' until Friday", "make it warm"};
    static const char *const forms[] = {"openai", "lines", "mcp"};
    wt_call_options options;
    wt_call_options_init(&options);
    options.tool = "thermostat";
    options.explain = 1;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < 3; i++) {
        options.form = forms[i];
        rc = say_call(engine, requests[i], &options, err);
    }
    return rc;
}

static int use_call_found(wt_engine *engine, wt_error *err)
{
    wt_call_options options;
    wt_call_options_init(&options);
    options.abstain = -1;
    options.explain = 1;
    return say_call(engine, "find a nice song by its title 'Yesterday'", &options, err);
}

static int use_export(wt_engine *engine, wt_error *err)
{
    static const char *const formats[] = {"openai", "openai-responses",    "anthropic",        "gemini",
                                          "mcp",    "anthropic-reference", "anthropic-inline", "openai-search"};
    wt_tools *list;
    int rc = wt_list(engine, NULL, &list, err);
    for (size_t f = 0; rc == 0 && f < sizeof formats / sizeof *formats; f++) {
        const wt_tool *items[] = {list->items[0], list->items[1]};
        char *text;
        rc = wt_export(items, 2, formats[f], &text, err);
        wt_string_free(text);
    }
    wt_tools_free(list);
    return rc;
}

static int use_get(wt_engine *engine, wt_error *err)
{
    static const char *const names[] = {"music/search", "calculator", "music__search"};
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < 3; i++) {
        wt_tools *list;
        rc = wt_get(engine, names[i], &list, err);
        if (rc == 0)
            mix_answer(list->items[0]->definition);
        wt_tools_free(list);
    }
    return rc;
}

static int use_embed(wt_engine *engine, wt_error *err)
{
    static const char *const texts[] = {"find a table", "book"};
    static const size_t lens[] = {12, 4};
    float vectors[2 * SMALL_HIDDEN];
    int rc = wt_embed(engine, texts, lens, 2, vectors, err);
    return rc < 0 ? rc : (int)wt_embed_missing(engine, NULL, NULL, err);
}

/* All operations on usages, in a store of two tools. */
static int use_usages(wt_engine *engine, wt_error *err)
{
    static const char two[] = "{\"name\": \"calculator\"}\n{\"name\": \"hotel\"}\n";
    static const char lines[] = "{\"request\": \"book a table\", \"tools\": [\"hotel\", \"calculator\", \"nobody\"]}\n";
    const char *const names[] = {"calculator", "gone"};
    wt_add_options options = {.size = sizeof options, .format = "jsonl", .no_vectors = 1};
    wt_usage_filter filter = {.size = sizeof filter, .tool = "hotel"};
    wt_add_report *added;
    wt_usage_report *report = NULL;
    wt_usages *usages = NULL;
    int rc = wt_add(engine, two, sizeof two - 1, &options, &added, err);
    wt_add_report_free(added);
    if (rc >= 0)
        rc = wt_record_usage(engine, "find the table", 14, names, 2, NULL, err);
    if (rc >= 0)
        rc = wt_add_usage(engine, lines, sizeof lines - 1, NULL, &report, err);
    wt_usage_report_free(report);
    if (rc >= 0)
        rc = wt_list_usage(engine, &filter, &usages, err);
    wt_usages_free(usages);
    if (rc >= 0)
        rc = (int)wt_forget_usage(engine, &filter, 0, err);
    if (rc >= 0) /* the remaining usages */
        rc = (int)wt_learn_usage(engine, NULL, NULL, err);
    return rc < 0 ? rc : 0;
}

/* Uses a store in memory, because syncing so many changes to a disk would take minutes. */
static int use_usage(wt_engine *engine, wt_error *err)
{
    wt_open_options options = {.size = sizeof options, .model = place.model, .threads = 1};
    (void)engine;
    int rc = wt_open(&engine, ":memory:", &options, err);
    if (rc == 0)
        rc = use_usages(engine, err);
    wt_close(engine);
    return rc;
}

static int use_models(wt_engine *engine, wt_error *err)
{
    (void)engine;
    wt_models *list;
    int rc = wt_model_list(place.folder, &list, err);
    wt_models_free(list);
    if (rc == 0) {
        rc = wt_model_info(place.folder, "small", &list, err);
        wt_models_free(list);
    }
    return rc;
}

/* Schemas and values that together cover every allocating keyword, each kind of message and each repair. */
static const char *const validated[][2] = {
    {"{\"properties\": {\"a\": {\"type\": \"integer\"}, \"b\": {\"enum\": [\"x\", \"y\"]}, \"c\": {\"anyOf\": "
     "[{\"type\": "
     "\"null\"}, {\"$ref\": \"#/$defs/d\"}]}, \"e\": {\"uniqueItems\": true}, \"t\": {\"type\": \"string\"}, \"l\": "
     "{\"type\": \"array\"}, \"n\": {\"default\": {\"o\": [1]}}}, \"patternProperties\": {\"^z+$\": true}, "
     "\"required\": "
     "[\"a\", \"f\", \"n\"], \"unevaluatedProperties\": false, \"$defs\": {\"d\": {\"required\": [\"g\"]}}}",
     "{\"a\": \"5\", \"b\": \"X\", \"c\": {}, \"e\": [1, 1], \"t\": 7, \"l\": 8, \"zz\": 1, \"h\": {\"i\": []}}"},
    {"{\"items\": {\"enum\": [\"a\", \"b\", \"c\", \"d\", \"e\", \"f\", \"g\", \"h\", \"i\", \"j\", \"k\", \"l\", "
     "\"m\", "
     "\"n\", \"o\", \"p\", \"sparrow\"]}, \"uniqueItems\": true, \"minItems\": 99, \"contains\": {\"const\": {\"a\": "
     "1}}}",
     "[\"a\", \"b\", \"c\", \"d\", \"e\", \"f\", \"g\", \"h\", \"i\", \"j\", \"k\", \"l\", \"m\", \"a\", \"sparow\", "
     "{\"a "
     "long name of a member\": [true, \"and a long text as its value\"]}]"},
    {"{\"properties\": {\"a\": {}, \"b\": {}, \"c\": {}, \"d\": {}, \"e\": {}, \"f\": {}, \"g\": {}, \"h\": {}, \"i\": "
     "{}, "
     "\"j\": {}, \"k\": {}, \"l\": {}, \"m\": {}, \"n\": {}, \"o\": {}, \"p\": {}, \"q\": false}, \"required\": "
     "[\"r\"], "
     "\"additionalProperties\": false, \"propertyNames\": {\"maxLength\": 2}, \"dependentRequired\": {\"a\": [\"s\"]}}",
     "{\"a\": 1, \"q\": 2, \"long\": 3, \"r\": 4}"},
    {"{\"properties\": {\"when\": {\"format\": \"date\"}, \"how\": {\"format\": \"regex\"}, \"why\": {\"format\": "
     "\"regex\"}, \"code\": {\"pattern\": \"^[A-Z]\\\\p{Letter}{2}$\"}, \"some\": {\"multipleOf\": 0.1, \"maximum\": "
     "3}}, "
     "\"minProperties\": 9, \"not\": {\"required\": [\"why\"]}}",
     "{\"when\": \"tomorrow\", \"how\": \"(\", \"why\": \"a|b\", \"code\": \"abc\", \"some\": 3.25}"},
    {"{\"$id\": \"https://a.test/b/c\", \"oneOf\": [{\"$ref\": \"other#there\"}, {\"$ref\": \"/deep#/x~1y/0\"}, "
     "{\"$ref\": "
     "\"https://a.test/named\"}], \"$dynamicRef\": \"#top\", \"$dynamicAnchor\": \"top\", \"$defs\": {\"in\": "
     "{\"$id\": "
     "\"in/\", \"$anchor\": \"hall\"}}}",
     "{\"kind\": \"cat\", \"name\": 1}"},
    {"{\"items\": {\"oneOf\": [{\"minimum\": 1}, {\"maximum\": 3}]}, \"if\": {\"maxItems\": 3}, \"then\": "
     "{\"unevaluatedItems\": false, \"prefixItems\": [true]}, \"else\": false}",
     "[2, \"x\"]"},
    {"{\"$ref\": \"#\"}", "1"},
};
static const char *const document_uris[] = {"https://a.test/b/other", "https://a.test/deep", "https://a.test/holds",
                                            "https://a.test/meta"};
static const char *const documents[] = {
    "{\"$defs\": {\"x\": {\"$anchor\": \"there\", \"properties\": {\"kind\": {\"const\": \"dog\"}}}}}",
    "{\"x/y\": [{\"properties\": {\"kind\": {\"const\": \"cat\"}, \"name\": {\"type\": \"string\"}}}]}",
    "{\"$schema\": \"https://a.test/meta\", \"$defs\": {\"x\": {\"$id\": \"https://a.test/named\", \"type\": "
    "\"null\"}}}",
    "{\"$schema\": \"https://json-schema.org/draft/2020-12/schema\", \"$vocabulary\": "
    "{\"https://json-schema.org/draft/2020-12/vocab/core\": true, "
    "\"https://json-schema.org/draft/2020-12/vocab/validation\": true, "
    "\"https://json-schema.org/draft/2020-12/vocab/applicator\": true}}",
};

static int say_validation(const wt_validator *validator, const char *value, wt_error *err)
{
    wt_validate_options options = {.size = sizeof options, .repair = 1};
    wt_validation *result;
    int rc = wt_validate(validator, value, strlen(value), &options, &result, err);
    for (size_t i = 0; rc == 0 && i < result->violation_count; i++) {
        mix_answer(result->violations[i]->pointer);
        mix_answer(result->violations[i]->schema_pointer);
        mix_answer(result->violations[i]->message);
    }
    for (size_t i = 0; rc == 0 && i < result->repair_count; i++) {
        mix_answer(result->repairs[i]->was);
        mix_answer(result->repairs[i]->now);
    }
    if (rc == 0)
        mix_answer(result->repaired);
    wt_validation_free(result);
    return rc;
}

static int use_validator(wt_engine *engine, wt_error *err)
{
    wt_validator_options options = {.size = sizeof options, .assert_formats = 1};
    int rc = 0;
    (void)engine;
    options.document_count = sizeof documents / sizeof *documents;
    options.document_uris = document_uris;
    options.documents = documents;
    for (size_t i = 0; rc == 0 && i < sizeof validated / sizeof *validated; i++) {
        wt_validator *validator;
        rc = wt_validator_open(&validator, validated[i][0], strlen(validated[i][0]), &options, err);
        if (rc == 0)
            rc = say_validation(validator, validated[i][1], err);
        wt_validator_close(validator);
    }
    return rc;
}

static int use_metaschema(wt_engine *engine, wt_error *err)
{
    static const char schema[] = "{\"$ref\": \"https://json-schema.org/draft/2020-12/schema\"}";
    wt_validator *validator;
    (void)engine;
    int rc = wt_validator_open(&validator, schema, sizeof schema - 1, NULL, err);
    if (rc == 0)
        rc = say_validation(validator, "{\"properties\": {\"a\": {\"type\": \"text\", \"minimum\": \"3\"}}}", err);
    wt_validator_close(validator);
    return rc;
}

/* Invalid schemas, each rejected at a different place. */
static int use_refused_schemas(wt_engine *engine, wt_error *err)
{
    static const char *const schemas[] = {
        "{\"properties\": {\"a\": {\"type\": \"text\"}, \"b\": {\"pattern\": \"(\"}}}",
        "{\"items\": {\"anyOf\": [{\"required\": \"a\"}]}}",
        "{\"$defs\": {\"a/b\": {\"$id\": \"https://a.test/b\", \"$schema\": \"https://a.test/unknown\"}}}",
        "{\"not\": {\"$ref\": \"https://a.test/absent#/a\"}}",
        "{\"not\": {\"$ref\": \"#/absent\"}}",
        "{\"not\": {\"minLength\": -1}}",
    };
    int rc = 0;
    (void)engine;
    for (size_t i = 0; rc == 0 && i < sizeof schemas / sizeof *schemas; i++) {
        wt_validator *validator;
        rc = wt_validator_open(&validator, schemas[i], strlen(schemas[i]), NULL, err);
        wt_validator_close(validator);
        if (rc == WT_EFORMAT || rc == WT_ENOTFOUND) {
            mix_answer(err->message);
            mix_answer(err->pointer);
            rc = 0;
        }
    }
    return rc;
}

static const struct memory_use uses[] = {
    {"open and close", use_nothing, FROM_OPENING},
    {"find", use_find, FROM_OPENING},
    {"pick", use_pick, 0},
    {"call", use_call, 0},
    {"call a tool that is found", use_call_found, 0},
    {"export", use_export, 0},
    {"get", use_get, 0},
    {"embed", use_embed, 0},
    {"bad tools", use_bad_tools, 0},
    {"usage", use_usage, LONG_ONE},
    {"add", use_add, 0},
    {"models", use_models, 0},
    {"validator", use_validator, ALONE},
    {"metaschema", use_metaschema, LONG_ONE | ALONE},
    {"refused schemas", use_refused_schemas, ALONE},
};

/* Runs a use. from: number of the allocation to fail, counted from opening the engine if the use has FROM_OPENING, else
 * after opening. */
static int run_use(const struct memory_use *use, long from, wt_error *err)
{
    wt_engine *engine = NULL;
    wt_open_options options;
    int rc = 0;
    countdown = use->traits & FROM_OPENING ? from : -1;
    if (!(use->traits & ALONE)) {
        wt_open_options_init(&options);
        options.model = place.model;
        options.threads = 1;
        rc = wt_open(&engine, place.store, &options, err);
    }
    if (!(use->traits & FROM_OPENING))
        countdown = from;
    if (rc == 0)
        rc = use->run(engine, err);
    wt_close(engine);
    return rc;
}

static void fail_each_allocation(const struct memory_use *use, int all_after)
{
    /* Run twice first, so that permanent allocations of libraries are already made. */
    wt_error err = {0};
    for (int i = 0; i < 2; i++) {
        said = 0;
        if (run_use(use, 0, &err) < 0)
            fail_msg("%s: %s", use->name, err.message);
    }
    uint64_t wanted = said;
    size_t passed_over = 0;
    for (long at = 1;; at += all_after ? 1 + at / 20 : use->traits & LONG_ONE ? 1 + at / 40 : 1) {
        err = (wt_error){0};
        live = 0;
        said = 0;
        stuck = all_after;
        counting = 1;
        int rc = run_use(use, at, &err);
        counting = 0;
        bool reached = countdown <= 0;
        /* WT_EFORMAT: jansson 2.14 silently drops a byte of a text if its buffer cannot grow. */
        bool documented =
            rc == WT_ENOMEM || rc == WT_ESTORE || rc == WT_EMODEL || (rc == WT_EFORMAT && use->run == use_models);
        if (rc < 0 && (!reached || rc != err.code || !err.message[0] || !documented))
            fail_msg("%s, allocation %ld: %s: %s", use->name, at, wt_code_name(rc), err.message);
        if (live != 0)
            fail_msg("%s, allocation %ld: %ld blocks are left (%s)", use->name, at, live, err.message);
        if (rc == 0 && said != wanted)
            fail_msg("%s, allocation %ld: no error, but a different answer", use->name, at);
        passed_over += reached && rc == 0;
        if (!reached) {
            assert_int_equal(rc, 0);
            assert_true(at > 10 && passed_over < (size_t)at);
            return;
        }
    }
}

static void single_failed_allocation_is_reported(void **state)
{
    (void)state;
    if (!INTERPOSED)
        skip();
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
        fail_each_allocation(&uses[i], 0);
}

static void permanent_lack_of_memory_is_reported(void **state)
{
    (void)state;
    if (!INTERPOSED)
        skip();
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
        fail_each_allocation(&uses[i], 1);
}

int main(void)
{
    if (!INTERPOSED)
        print_message("skipped: allocation faults: the sanitizer has an allocator of its own\n");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(single_failed_allocation_is_reported, prepare_allocations, release_allocations),
        cmocka_unit_test_setup_teardown(permanent_lack_of_memory_is_reported, prepare_allocations, release_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
