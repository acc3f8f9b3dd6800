/* support.h: gives each test a folder with a small model of random weights, a path for a store, and made-up tools. */
#ifndef WT_TESTS_ENGINE_SUPPORT_H
#define WT_TESTS_ENGINE_SUPPORT_H

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/rng.h"
#include "encoder/support.h"
#include "whichtool.h"

struct test_place {
    char folder[64];
    char model[80]; /* folder of an installed model */
    char store[96]; /* path of the store; no file yet */
    char index[96]; /* folder of the store's index */
    wt_error err;   /* last error */
};

static inline void make_test_place(struct test_place *place)
{
    *place = (struct test_place){0};
    make_model(place->folder, place->model);
    snprintf(place->store, sizeof place->store, "%s/tools.wt", place->folder);
    snprintf(place->index, sizeof place->index, "%s/tools.wt-index", place->folder);
}

static inline void remove_test_place(struct test_place *place)
{
    remove_model_folder(place->folder);
}

/* Fails the test with the library's message if the result is negative. */
static inline void assert_call_ok(struct test_place *place, long long result)
{
    if (result < 0)
        fail_msg("%s: %s", wt_code_name((int)result), place->err.message);
}

/* Asserts that a call failed with this code and a message with this text. */
static inline void assert_call_refused(struct test_place *place, long long result, int code, const char *text)
{
    if (result != code || place->err.code != code || !strstr(place->err.message, text))
        fail_msg("wanted %s with \"%s\", got %s: %s", wt_code_name(code), text, wt_code_name((int)result),
                 place->err.message);
}

/* Opens an engine on the store. model: NULL for the small model, "" for no model. */
static inline wt_engine *open_test_engine(struct test_place *place, const char *model)
{
    wt_engine *engine = NULL;
    wt_open_options options;
    wt_open_options_init(&options);
    options.model = model ? model : place->model;
    options.threads = 1;
    assert_call_ok(place, wt_open(&engine, place->store, &options, &place->err));
    return engine;
}

static inline wt_add_report *add_with(struct test_place *place, wt_engine *engine, const char *jsonl,
                                      const wt_add_options *options)
{
    wt_add_report *report = NULL;
    assert_call_ok(place, wt_add(engine, jsonl, strlen(jsonl), options, &report, &place->err));
    return report;
}

static inline void add(struct test_place *place, wt_engine *engine, const char *jsonl)
{
    wt_add_options options;
    wt_add_options_init(&options);
    options.format = "jsonl";
    wt_add_report_free(add_with(place, engine, jsonl, &options));
}

static inline wt_hits *find_with(struct test_place *place, wt_engine *engine, const char *request,
                                 const wt_find_options *options)
{
    wt_hits *hits = NULL;
    assert_call_ok(place, wt_find(engine, request, strlen(request), options, &hits, &place->err));
    return hits;
}

/* Tools with distinct words. */
static const char handmade[] =
    "{\"provider\": \"weather\", \"name\": \"getForecast\", \"title\": \"Weather forecast\", \"description\": "
    "\"The weather of the coming days in a city\", \"category\": \"Nature\", \"parameters\": {\"type\": \"object\", "
    "\"properties\": {\"city\": {\"type\": \"string\", \"description\": \"town of interest\"}}}}\n"
    "{\"provider\": \"weather\", \"name\": \"storm_alerts\", \"description\": \"Warnings of storms and floods\"}\n"
    "{\"provider\": \"travel\", \"name\": \"bookHotel\", \"description\": \"Reserve a hotel room in a city\"}\n"
    "{\"provider\": \"travel\", \"name\": \"search_flights\", \"description\": \"Find flights between airports\"}\n"
    "{\"provider\": \"music\", \"name\": \"search\", \"description\": \"Find a song by its title\"}\n"
    "{\"provider\": \"files\", \"name\": \"search\", \"description\": \"Find a document by its words\"}\n"
    "{\"name\": \"calculator\", \"description\": \"Add and multiply numbers\"}\n";
enum { HANDMADE = 7, HANDMADE_PROVIDERS = 5 }; /* the empty provider counts as one */

/* Writes `count` tools of `providers` providers as JSONL, described with the vocabulary of the small model and a few
 * more words. All names differ, because a model with random weights gives all texts nearly the same vector. */
static inline void synthetic_tools(struct buffer *jsonl, uint64_t seed, size_t count, size_t providers)
{
    static const char *const words[] = {"book",   "table",  "two",   "find", "a",     "b",       "c",    "d",
                                        "tables", "booked", "hotel", "city", "storm", "invoice", "song", "flight"};
    struct rng rng;
    wt__rng_seed(&rng, seed);
    for (size_t i = 0; i < count; i++) {
        wt__buffer_printf(jsonl, "{\"provider\": \"p%zu\", \"name\": \"tool_%c%c%c\", \"description\": \"",
                          (size_t)wt__rng_below(&rng, providers), (int)('a' + i / 676 % 26), (int)('a' + i / 26 % 26),
                          (int)('a' + i % 26));
        for (size_t n = 1 + wt__rng_below(&rng, 12); n > 0; n--)
            wt__buffer_printf(jsonl, "%s ", words[wt__rng_below(&rng, sizeof words / sizeof *words)]);
        wt__buffer_text(jsonl, "\"}\n");
    }
}

#endif
