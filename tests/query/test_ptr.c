/* Tests wt_pick with the recipes ptr and bundle on a store, with a scripted language model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <dirent.h>
#include <pthread.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/json.h"
#include "query/selector.h"
#include "query/ptr_sources.h"
#include "engine/set_up.h"
#include "net/script_server.h"
#include "nn/safetensors.h"

/* ---------------------------------------------------------------- past use */

/* Past requests and their tools. The tools of request i are labels[used[n]] for n from starts[i] to starts[i + 1] - 1.
 * The second and the fourth request used the same set. */
static const char *const labels[] = {"weather/getForecast", "travel/bookHotel", "music/search",
                                     "travel/search_flights"};
static const char *const requests[] = {"storm in a city", "book a table", "song of the city", "book two tables"};
static const float starts[] = {0, 2, 4, 5, 7}, used[] = {0, 1, 3, 1, 2, 1, 3};
enum { REQUESTS = 4, USED = 7, LABELS = 4 };

/* Encodes the past requests with a model. Returns the hash of the model, in the arena. *vectors: [REQUESTS, *dim], to
 * be freed by the caller. */
static const char *encode_past(const char *model, float **vectors, size_t *dim, struct arena *arena)
{
    struct encoder *encoder = NULL;
    wt_engine *engine = open_test_engine(&place, model);
    size_t lens[REQUESTS];
    *dim = (size_t)wt_dimension(engine, NULL);
    *vectors = calloc(REQUESTS * *dim, sizeof **vectors);
    for (size_t i = 0; i < REQUESTS; i++)
        lens[i] = strlen(requests[i]);
    assert_call_ok(&place, wt_embed(engine, requests, lens, REQUESTS, *vectors, &place.err));
    assert_call_ok(&place, wt__encoder_open(&encoder, model, &place.err));
    const char *hash = wt__arena_copy(arena, wt__str(wt__encoder_hash(encoder)));
    wt__encoder_close(encoder);
    wt_close(engine);
    return hash;
}

/* Writes STORE-models/neighbours as training with the encoder `model` would. The first `untrained` requests also have
 * vectors of the engine's encoder. */
static void leave_past_by(const char *model, size_t untrained)
{
    struct arena arena = {0};
    struct buffer folder = {0}, config = {0};
    float *vectors, *plain;
    size_t dim, plain_dim;
    const char *hash = encode_past(model, &vectors, &dim, &arena);
    const char *plain_hash = encode_past(place.model, &plain, &plain_dim, &arena);
    wt__buffer_printf(&folder, "%s-models/neighbours", place.store);
    wt__buffer_printf(&config,
                      "{\"encoder\": {\"hash\": \"%s\"}, \"untrained\": \"%s\", \"weights\": {\"neighbours\": 1}, "
                      "\"tools\": [",
                      hash, plain_hash);
    for (size_t i = 0; i < LABELS; i++)
        wt__buffer_printf(&config, "%s\"%s\"", i ? ", " : "", labels[i]);
    wt__buffer_text(&config, "]}");
    const struct tensor_source tensors[] = {{"requests", vectors, 2, {REQUESTS, dim}},
                                            {"starts", starts, 1, {REQUESTS + 1}},
                                            {"labels", used, 1, {USED}},
                                            {"untrained", plain, 2, {untrained, plain_dim}}};
    assert_call_ok(&place, wt__make_folders(folder.ptr, &place.err));
    assert_call_ok(&place, wt__safetensors_write(wt__path_join(&arena, folder.ptr, "model.safetensors"), tensors,
                                                 untrained ? 4 : 3, NULL, &place.err));
    assert_call_ok(
        &place, wt__file_replace(wt__path_join(&arena, folder.ptr, "config.json"), config.ptr, config.len, &place.err));
    free(vectors);
    free(plain);
    wt__buffer_dispose(&folder);
    wt__buffer_dispose(&config);
    wt__arena_dispose(&arena);
}

static void leave_past(void)
{
    leave_past_by(place.model, 0);
}

/* A request that equals the text of the first past request's bundle. That bundle is the nearest even with random
 * weights. */
static const char trip[] =
    "getForecast: The weather of the coming days in a city+bookHotel: Reserve a hotel room in a city";

/* ---------------------------------------------------------------- scripted model */

struct scripted_ptr {
    struct chat_model model;
    const char *requires; /* JSON answer to the question for requirements */
    const char *matches;  /* one digit per requirement: number of the chosen tool in the list; 0 for no tool */
};

static int answer_by_script(struct chat_model *model, const struct chat_question *question, struct arena *arena,
                            struct chat_answer *out, wt_error *err)
{
    struct scripted_ptr *script = (struct scripted_ptr *)model;
    const struct ptr_subject *subject = question->subject;
    struct buffer text = {0};
    if (subject->step == PTR_REQUIRE)
        wt__buffer_text(&text, script->requires);
    else if (script->matches[subject->place] > '0')
        wt__buffer_printf(&text, "{\"tools\": [%c]}", script->matches[subject->place]);
    else
        wt__buffer_text(&text, "{\"tools\": []}");
    *out = (struct chat_answer){.prompt_tokens = 10, .completion_tokens = 2, .attempts = 1, .ms = 1};
    out->text = (struct str){wt__arena_copy(arena, wt__buffer_view(&text)), text.len};
    int rc = wt__json_parse(&out->json, out->text.ptr, out->text.len, err);
    wt__buffer_dispose(&text);
    return rc;
}

static struct scripted_ptr script_of(const char *needs, const char *matches)
{
    return (struct scripted_ptr){{.name = "script", .ask = answer_by_script}, needs, matches};
}

static wt_pick_options ptr_options(void)
{
    wt_pick_options options;
    wt_pick_options_init(&options);
    options.recipe = "ptr";
    options.base_retriever = "bm25";
    options.explain = 1;
    return options;
}

static wt_picked *picked_from(wt_engine *engine, const char *request, struct scripted_ptr *script,
                              const wt_pick_options *options)
{
    const struct pick_evaluation oracle = {.oracle = &script->model};
    wt_picked *picked = NULL;
    assert_call_ok(&place, wt__pick(engine, wt__str(request), options, &oracle, &picked, &place.err));
    return picked;
}

static wt_picked *picked(const char *request, struct scripted_ptr script, const wt_pick_options *options)
{
    wt_engine *engine = open_test_engine(&place, NULL);
    wt_picked *result = picked_from(engine, request, &script, options);
    wt_close(engine);
    return result;
}

static void is_set(const wt_picked *picked, const char *ids)
{
    struct buffer all = {0};
    for (size_t i = 0; i < picked->len; i++)
        wt__buffer_printf(&all, "%s%s", i ? " " : "", picked->items[i]->tool->id);
    assert_string_equal(all.ptr ? all.ptr : "", ids);
    wt__buffer_dispose(&all);
}

/* Expects a list of the trace to contain these ids. ids: separated by blanks. */
static void expect_trace_list(const wt_picked *picked, const char *name, const char *ids)
{
    json_t *trace = NULL;
    struct buffer all = {0};
    assert_call_ok(&place, wt__json_parse(&trace, picked->trace, strlen(picked->trace), &place.err));
    const json_t *list = wt__json_array(trace, name);
    assert_non_null(list);
    for (size_t i = 0; i < json_array_size(list); i++)
        wt__buffer_printf(&all, "%s%s", i ? " " : "", json_string_value(json_array_get(list, i)));
    assert_string_equal(all.ptr ? all.ptr : "", ids);
    json_decref(trace);
    wt__buffer_dispose(&all);
}

/* ---------------------------------------------------------------- tests */

static void every_requirement_is_searched_without_training(void **state)
{
    (void)state;
    wt_pick_options options = ptr_options();
    wt_picked *result =
        picked("a trip", script_of("{\"requirements\": [\"reserve a hotel\", \"warnings of storms\"]}", ""), &options);
    is_set(result, "travel/bookHotel weather/storm_alerts");
    assert_string_equal(result->recipe, "bm25");
    assert_non_null(strstr(result->notice, "train neighbours"));
    assert_non_null(strstr(result->notice, "script"));
    assert_int_equal(result->questions, 1);
    assert_int_equal(result->prompt_tokens, 10);
    assert_int_equal(result->completion_tokens, 2);
    assert_true(result->items[0]->score > 0.6 && result->items[0]->score < 0.7); /* votes of two of three views */
    expect_trace_list(result, "bundle", "");
    expect_trace_list(result, "set", "travel/bookHotel weather/storm_alerts");
    wt_picked_free(result);
}

static void nearest_bundle_is_corrected(void **state)
{
    (void)state;
    leave_past();
    wt_pick_options options = ptr_options();
    wt_picked *result = picked(trip, script_of("{\"requirements\": [\"weather\", \"add numbers\"]}", "10"), &options);
    expect_trace_list(result, "bundle", "weather/getForecast travel/bookHotel");
    expect_trace_list(result, "kept", "weather/getForecast");
    is_set(result, "weather/getForecast calculator");
    assert_true(result->items[0]->score == 1 && isnan(result->items[0]->probability));
    assert_int_equal(result->questions, 3);
    assert_null(strstr(result->notice, "train neighbours"));
    wt_picked_free(result);

    options.experiment = "without=bundle, hqc";
    result = picked(trip, script_of("{\"requirements\": [\"storms\"]}", ""), &options);
    expect_trace_list(result, "bundle", "");
    is_set(result, "weather/storm_alerts");
    wt_picked_free(result);
}

static void each_distinct_set_is_one_bundle(void **state)
{
    (void)state;
    leave_past();
    wt_engine *engine = open_test_engine(&place, NULL);
    wt_pick_options options = ptr_options();
    const char *flight = "bookHotel: Reserve a hotel room in a city+search_flights: Find flights between airports";
    options.recipe = "bundle";
    options.base_retriever = NULL;
    wt_picked *result = NULL;
    const struct bundles *bundles = NULL;
    assert_call_ok(&place, wt_pick(engine, flight, strlen(flight), &options, &result, &place.err));
    is_set(result, "travel/bookHotel travel/search_flights");
    assert_int_equal(result->questions, 0);
    wt_picked_free(result);
    assert_call_ok(&place, wt__bundles_of(engine, NULL, engine->index, engine->encoder.opened, &bundles, &place.err));
    assert_int_equal(bundles->count, 3);
    assert_int_equal(bundles->left_out, 0);
    assert_int_equal(bundles->starts[1], 2); /* bundles are sorted by use: a bundle of two tools comes first */
    wt_close(engine);
}

static void is_bundle(wt_engine *engine, const char *base_retriever, const char *text, const char *ids)
{
    wt_pick_options options = ptr_options();
    wt_picked *result = NULL;
    options.recipe = "bundle";
    options.base_retriever = base_retriever;
    assert_call_ok(&place, wt_pick(engine, text, strlen(text), &options, &result, &place.err));
    is_set(result, ids);
    wt_picked_free(result);
}

/* Each base retriever must find the nearest bundle. A new engine must reuse the bundles of an earlier engine. */
static void every_retriever_finds_bundles(void **state)
{
    (void)state;
    static const char *const base_retriever[] = {"bm25", "dense", "hybrid", "neighbours"};
    leave_past();
    struct arena arena = {0};
    const char *file = wt__path_join(&arena, place.index, "bundles/snapshot");
    for (size_t i = 0; i < sizeof base_retriever / sizeof *base_retriever; i++) {
        wt_engine *engine = open_test_engine(&place, NULL);
        is_bundle(engine, base_retriever[i], trip, "weather/getForecast travel/bookHotel");
        assert_true(wt__is_file(file));
        wt_close(engine);
    }
    wt_engine *engine = open_test_engine(&place, NULL);
    is_bundle(engine, "bm25", "flights", "travel/bookHotel travel/search_flights");
    struct stat before, after;
    assert_int_equal(stat(file, &before), 0);
    wt_close(engine);
    engine = open_test_engine(&place, NULL);
    is_bundle(engine, "bm25", "flights", "travel/bookHotel travel/search_flights");
    assert_int_equal(stat(file, &after), 0);
    assert_true(before.st_ino == after.st_ino);

    assert_int_equal(wt_remove(engine, "travel/bookHotel", &place.err), 1);
    is_bundle(engine, "bm25", "flights", "travel/search_flights");
    assert_call_ok(&place, wt__file_replace(file, "torn", 4, &place.err));
    wt_close(engine);
    engine = open_test_engine(&place, NULL);
    is_bundle(engine, "bm25", "flights", "travel/search_flights");
    wt_close(engine);
    wt__arena_dispose(&arena);
}

/* Writes STORE-models/encoder with weights different from the engine's encoder. */
static const char *leave_encoder(struct arena *arena)
{
    struct buffer folder = {0};
    wt__buffer_printf(&folder, "%s-models/encoder", place.store);
    const char *model = wt__arena_copy(arena, wt__buffer_view(&folder));
    put_text(model, "config.json", small_config);
    put_text(model, "vocab.txt", small_vocabulary);
    put_weights(model, "", 2);
    wt__buffer_dispose(&folder);
    return model;
}

/* The base retriever determines the encoder of bundles and past requests. Each encoder has separate files. */
static void untrained_recipe_uses_untrained_bundles(void **state)
{
    (void)state;
    static const struct {
        const char *base_retriever;
        bool trained; /* bundles are encoded with the trained encoder */
        bool knows;   /* past requests without vectors of the engine's encoder can be used */
    } cases[] = {{"bm25", false, false},
                 {"dense", false, false},
                 {"hybrid", false, false},
                 {"auto", false, false},
                 {"neighbours", true, true}};
    struct arena arena = {0};
    const char *encoder = leave_encoder(&arena);
    const char *const files[] = {wt__path_join(&arena, place.index, "bundles-untrained/snapshot"),
                                 wt__path_join(&arena, place.index, "bundles/snapshot")};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leave_past_by(encoder, REQUESTS);
        remove_model_folder(place.index);
        wt_engine *engine = open_test_engine(&place, NULL);
        is_bundle(engine, cases[i].base_retriever, trip, "weather/getForecast travel/bookHotel");
        assert_true(wt__is_file(files[cases[i].trained]));
        assert_false(wt__is_file(files[!cases[i].trained]));

        wt_pick_options options = ptr_options();
        options.base_retriever = cases[i].base_retriever;
        struct scripted_ptr script = script_of("{\"requirements\": [\"song of the city\"]}", "0");
        options.k = 1;
        wt_picked *result = picked_from(engine, trip, &script, &options);
        assert_non_null(strstr(result->trace, "\"hqc\":[\"music/search\"]"));
        wt_picked_free(result);
        wt_close(engine);

        leave_past_by(encoder, 0);
        engine = open_test_engine(&place, NULL);
        options.recipe = "bundle";
        options.k = 0;
        int rc = wt_pick(engine, trip, strlen(trip), &options, &result, &place.err);
        if (cases[i].knows)
            assert_call_ok(&place, rc);
        else
            assert_call_refused(&place, rc, WT_ERECIPE, "whichtool train neighbours");
        wt_picked_free(result);
        wt_close(engine);
    }
    leave_past_by(encoder, REQUESTS - 1);
    wt_engine *engine = open_test_engine(&place, NULL);
    wt_picked *result = NULL;
    wt_pick_options options = ptr_options();
    options.recipe = "bundle";
    options.base_retriever = "neighbours";
    assert_call_refused(&place, wt_pick(engine, trip, strlen(trip), &options, &result, &place.err), WT_ERECIPE,
                        "the tensor untrained does not fit the requests");
    wt_close(engine);
    wt__arena_dispose(&arena);
}

/* Changes one byte of the file of vectors. share: position of the byte, as a share of the length of the file. */
static void damage_vectors(double share)
{
    struct arena arena = {0};
    const char *folder = wt__path_join(&arena, place.index, "bundles");
    DIR *dir = opendir(folder);
    size_t damaged = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        struct stat info;
        if (strncmp(entry->d_name, "vectors-", 8) != 0)
            continue;
        FILE *file = fopen(wt__path_join(&arena, folder, entry->d_name), "r+b");
        assert_int_equal(fstat(fileno(file), &info), 0);
        assert_int_equal(fseek(file, (long)(share * (double)info.st_size), SEEK_SET), 0);
        int byte = fgetc(file);
        assert_int_equal(fseek(file, -1, SEEK_CUR), 0);
        fputc(byte ^ 0x40, file);
        fclose(file);
        damaged++;
    }
    closedir(dir);
    assert_int_equal(damaged, 1);
    wt__arena_dispose(&arena);
}

/* Damage may show when the file is opened or when vectors are read. In both cases the engine rebuilds the bundles. */
static void damaged_bundles_are_rebuilt(void **state)
{
    (void)state;
    leave_past();
    for (double share = 0; share < 1; share += 0.05) {
        wt_engine *engine = open_test_engine(&place, NULL);
        is_bundle(engine, "dense", trip, "weather/getForecast travel/bookHotel");
        wt_close(engine);
        damage_vectors(share);
        engine = open_test_engine(&place, NULL);
        is_bundle(engine, "dense", trip, "weather/getForecast travel/bookHotel");
        wt_close(engine);
    }
}

/* The encoding of bundles, as reported by the progress of a query. */
struct encoded {
    bool begun;    /* true once the phase of encoding was reported */
    bool now;      /* true while that phase is the current one */
    uint64_t most; /* number of bundles encoded */
};

static int count_encoded(void *context, const char *phase, uint64_t done, uint64_t total)
{
    struct encoded *encoded = context;
    (void)total;
    encoded->now = strcmp(phase, "encoding bundles") == 0;
    encoded->begun |= encoded->now;
    if (encoded->now && done > encoded->most)
        encoded->most = done;
    return 0;
}

static struct encoded encoded_by_a_pick(void)
{
    struct encoded encoded = {0};
    wt_engine *engine = open_test_engine(&place, NULL);
    wt_picked *result = NULL;
    wt_pick_options options;
    wt_pick_options_init(&options);
    options.recipe = "bundle";
    options.progress = count_encoded;
    options.progress_context = &encoded;
    assert_call_ok(&place, wt_pick(engine, trip, strlen(trip), &options, &result, &place.err));
    wt_picked_free(result);
    wt_close(engine);
    return encoded;
}

/* A query does not encode bundles prepared by training, nor unchanged bundles after a change of the catalogue. */
static void bundles_are_encoded_only_once(void **state)
{
    (void)state;
    leave_past();
    wt_engine *engine = open_test_engine(&place, NULL);
    assert_call_ok(&place, wt__ptr_prepare(engine, NULL, &place.err));
    wt_close(engine);
    assert_false(encoded_by_a_pick().begun);
    engine = open_test_engine(&place, NULL);
    add(&place, engine, "{\"provider\": \"music\", \"name\": \"stop\", \"description\": \"Stops a song.\"}\n");
    wt_close(engine);
    assert_int_equal(encoded_by_a_pick().most, 0);
    remove_model_folder(place.index);
    assert_int_equal(encoded_by_a_pick().most, 3); /* distinct bundles */
}

static void *first_pick(void *context)
{
    is_bundle(context, NULL, trip, "weather/getForecast travel/bookHotel");
    wt_pick_options options;
    wt_picked *result = NULL;
    wt_pick_options_init(&options);
    options.abstain = -1;
    assert_call_ok(&place, wt_pick(context, trip, strlen(trip), &options, &result, NULL));
    assert_true(result->len > 0);
    wt_picked_free(result);
    return NULL;
}

/* Several threads need the bundles of a new engine at the same time. */
static void concurrent_first_picks_succeed(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    leave_past();
    for (size_t round = 0; round < 3; round++) {
        pthread_t threads[THREADS];
        wt_engine *engine = open_test_engine(&place, NULL);
        for (size_t i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, first_pick, engine), 0);
        for (size_t i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        wt_close(engine);
    }
}

static void lists_respect_provider_filter(void **state)
{
    (void)state;
    leave_past();
    wt_pick_options options = ptr_options();
    options.provider = "travel";
    wt_picked *result = picked(trip, script_of("{\"requirements\": [\"weather in a city\"]}", "0"), &options);
    expect_trace_list(result, "bundle", "travel/bookHotel");
    is_set(result, "travel/bookHotel");
    assert_null(strstr(result->trace, "weather/"));
    assert_null(strstr(result->trace, "music/"));
    wt_picked_free(result);
}

static void lists_omit_removed_tools(void **state)
{
    (void)state;
    leave_past();
    wt_engine *engine = open_test_engine(&place, NULL);
    wt_pick_options options = ptr_options();
    struct scripted_ptr script = script_of("{\"requirements\": [\"weather\"]}", "1");
    wt_picked *result = picked_from(engine, trip, &script, &options);
    is_set(result, "weather/getForecast");
    wt_picked_free(result);
    assert_int_equal(wt_remove(engine, "weather/getForecast", &place.err), 1);
    script = script_of("{\"requirements\": [\"weather\"]}", "0");
    result = picked_from(engine, trip, &script, &options);
    assert_null(strstr(result->trace, "\"weather/getForecast\""));
    wt_picked_free(result);
    wt_close(engine);
}

static void invalid_ptr_options_are_rejected(void **state)
{
    (void)state;
    static const struct {
        wt_pick_options options;
        int code;
        const char *says;
    } cases[] = {
        {{.recipe = "ptr"}, WT_EINVAL, "no language model given"},
        {{.recipe = "ptr", .complete = 0.5}, WT_EINVAL, "does not support complete and abstain"},
        {{.recipe = "ptr", .abstain = 0.5}, WT_EINVAL, "does not support complete and abstain"},
        {{.recipe = "ptr", .k = 33}, WT_EINVAL, "k must be at most 32 for the recipe ptr, not 33"},
        {{.recipe = "ptr", .experiment = "without=bundle,dsq"}, WT_EINVAL, "\"dsq\""},
        {{.recipe = "ptr", .experiment = "with=dsa"}, WT_EINVAL, "unknown setting \"with\"; use without"},
        {{.recipe = "ptr", .experiment = "without"}, WT_EINVAL, "give without one value"},
        {{.recipe = "ptr", .experiment = "without=dsa; without=cte"}, WT_EINVAL, "give without one value"},
        {{.recipe = "ptr", .base_retriever = "bm26"}, WT_ERECIPE, "bm26"},
        {{.recipe = "ptr", .base_retriever = "set"}, WT_ERECIPE, "makes a set"},
        {{.recipe = "ptr", .provider = "nobody"}, WT_ENOTFOUND, "nobody"},
        {{.recipe = "bundle"}, WT_ERECIPE, "whichtool train neighbours"},
        {{.recipe = "bundle", .experiment = "without=hqc"}, WT_EINVAL, "does not support k and experiment"},
        {{.recipe = "hybrid"}, WT_ERECIPE, "makes no set"},
        {{.recipe = "auto"}, WT_ERECIPE, "makes no set"},
        {{.recipe = "pt"}, WT_ERECIPE, "no recipe \"pt\""},
        {{.recipe = "set", .base_retriever = "bm25"}, WT_EINVAL, "use the recipe ptr"},
        {{.experiment = "without=hqc"}, WT_EINVAL, "use the recipe ptr"},
    };
    wt_engine *engine = open_test_engine(&place, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wt_picked *result = NULL;
        wt_pick_options options = cases[i].options;
        options.size = sizeof options;
        assert_call_refused(&place, wt_pick(engine, "weather", 7, &options, &result, &place.err), cases[i].code,
                            cases[i].says);
        assert_null(result);
    }
    wt_close(engine);
}

static void invalid_chat_options_are_rejected(void **state)
{
    (void)state;
    static const struct {
        wt_open_options options;
        int code;
        const char *says;
    } cases[] = {
        {{.chat_model = "m", .replay_path = "/nowhere/a.jsonl"}, WT_ENOTFOUND, "/nowhere/a.jsonl"},
        {{.chat_model = "m", .replay_path = "a", .record_path = "b"}, WT_EINVAL, "cannot both"},
        {{.chat_model = "m", .chat_url = "ftp://host/"}, WT_EINVAL, "begins with https"},
        {{.chat_url = "http://127.0.0.1:1/v1"}, WT_EINVAL, "--chat-model NAME"},
        {{.chat_model = "m", .chat_url = "http://127.0.0.1:1/v1"}, WT_ENETWORK, "127.0.0.1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wt_open_options options = cases[i].options;
        options.size = sizeof options;
        wt_pick_options pick = ptr_options();
        wt_engine *engine = NULL;
        wt_picked *result = NULL;
        options.model = "";
        assert_call_ok(&place, wt_open(&engine, place.store, &options, &place.err));
        assert_call_refused(&place, wt_pick(engine, "weather", 7, &pick, &result, &place.err), cases[i].code,
                            cases[i].says);
        wt_close(engine);
    }
}

/* ---------------------------------------------------------------- cancellation */

struct listening {
    const char *until; /* phase to cancel in, or NULL */
    char heard[256];   /* reported phases, each followed by a blank */
};

static int listen_until(void *context, const char *phase, uint64_t done, uint64_t total)
{
    struct listening *listening = context;
    (void)done, (void)total;
    if (!strstr(listening->heard, phase))
        strcat(strcat(listening->heard, phase), " ");
    return listening->until && strcmp(phase, listening->until) == 0;
}

static void pick_by_ptr_can_be_cancelled(void **state)
{
    (void)state;
    static const struct {
        const char *until;
        int code;
        const char *heard;
    } cases[] = {{"searching", WT_ECANCELLED, "searching "},
                 {"asking", WT_ECANCELLED, "searching asking "},
                 {NULL, 0, "searching asking "}};
    wt_engine *engine = open_test_engine(&place, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scripted_ptr script = script_of("{\"requirements\": [\"reserve a hotel\"]}", "");
        const struct pick_evaluation oracle = {.oracle = &script.model};
        struct listening listening = {.until = cases[i].until};
        wt_pick_options options = ptr_options();
        wt_picked *result = NULL;
        options.progress = listen_until;
        options.progress_context = &listening;
        int rc = wt__pick(engine, wt__str("a trip"), &options, &oracle, &result, &place.err);
        assert_int_equal(rc, cases[i].code);
        assert_int_equal(result == NULL, rc != 0);
        assert_string_equal(listening.heard, cases[i].heard);
        wt_picked_free(result);
    }
    wt_close(engine);
}

/* The server would answer only long after the end of the test. */
static void time_limit_ends_wait_for_answer(void **state)
{
    (void)state;
    static const struct script_step never[] = {{.status = 200, .delay_ms = SCRIPT_NEVER_MS, .body = "{}"}};
    struct script_server server;
    char url[64];
    assert_int_equal(script_server_start(&server), 0);
    script_server_play(&server, never, 1);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/v1", server.port);
    wt_engine *engine;
    wt_open_options opening;
    wt_picked *result = NULL;
    wt_open_options_init(&opening);
    opening.model = "";
    opening.chat_model = "m";
    opening.chat_url = url;
    assert_call_ok(&place, wt_open(&engine, place.store, &opening, &place.err));
    wt_pick_options options = ptr_options();
    options.time_limit_ms = 2000; /* long enough to send the request */
    assert_call_refused(&place, wt_pick(engine, "a trip", 6, &options, &result, &place.err), WT_ETIMEOUT,
                        "limit of 2000 ms");
    assert_null(result);
    script_server_hang_up(&server);
    assert_int_equal(server.request_count, 1);
    wt_close(engine);
    script_server_stop(&server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_requirement_is_searched_without_training, set_up_handmade,
                                        tear_down_place),
        cmocka_unit_test_setup_teardown(nearest_bundle_is_corrected, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(each_distinct_set_is_one_bundle, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(every_retriever_finds_bundles, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(untrained_recipe_uses_untrained_bundles, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(bundles_are_encoded_only_once, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(damaged_bundles_are_rebuilt, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(concurrent_first_picks_succeed, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(lists_respect_provider_filter, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(lists_omit_removed_tools, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(invalid_ptr_options_are_rejected, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(invalid_chat_options_are_rejected, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(pick_by_ptr_can_be_cancelled, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(time_limit_ends_wait_for_answer, set_up_handmade, tear_down_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
