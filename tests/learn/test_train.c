/* Tests the public function wt_train with a model of two layers: results, errors, reports and resuming. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <sys/wait.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "encoder/encoder.h"
#include "learn/learn.h"
#include "learn/support.h"

enum { USAGES = 240 };

static wt_train_options options_of_train(void)
{
    wt_train_options options;
    wt_train_options_init(&options);
    options.epochs = 6;
    options.batch = 16;
    options.rate = 3e-3;
    options.threads = 2;
    return options;
}

static wt_engine *open_filled_train(struct learn_place *place)
{
    wt_engine *engine = open_place_store(place);
    import_place_tools(place, engine);
    import_synthetic_usages(place, engine, USAGES);
    return engine;
}

static wt_train_report *train_encoder(struct learn_place *place, wt_engine *engine, const wt_train_options *options)
{
    wt_train_report *report = NULL;
    assert_train_ok(place, wt_train(engine, "encoder", options, &report, &place->err));
    assert_int_equal(report->len, 1);
    return report;
}

static void assert_lesson_refused(struct learn_place *place, wt_engine *engine, const char *lesson,
                                  const wt_train_options *options, int code, const char *text)
{
    wt_train_report *report = NULL;
    assert_train_refused(place, wt_train(engine, lesson, options, &report, &place->err), code, text);
    assert_null(report);
}

/* Hashes the weights of the encoder that was trained into the folder `out`. */
static void hash_of_encoder(const char *out, char hex[65])
{
    hash_trained_model(out, "encoder", hex);
}

static bool has_model_file(const char *out, const char *name)
{
    char path[160];
    snprintf(path, sizeof path, "%s/%s", out, name);
    return wt__is_file(path);
}

struct training_stopper {
    uint64_t at; /* step at which to stop */
    bool kill;   /* exit at once, like a process killed by SIGKILL, instead of a regular stop */
};

static int stop_training_at(void *context, const wt_train_progress *progress)
{
    const struct training_stopper *stopper = context;
    if (strcmp(progress->phase, "training") != 0 || progress->done < stopper->at)
        return 0;
    if (stopper->kill)
        _exit(9);
    return 1;
}

/* ---------------------------------------------------------------- results */

static void trained_encoder_finds_more(void **state)
{
    struct learn_place *place = *state;
    wt_engine *engine = open_filled_train(place);
    wt_train_options options = options_of_train();
    wt_train_report *report = train_encoder(place, engine, &options);
    const wt_trained *item = report->items[0];
    char want[160];
    snprintf(want, sizeof want, "%s/encoder", place->out);
    assert_string_equal(item->lesson, "encoder");
    assert_string_equal(item->path, want);
    assert_true(item->after > item->before + .05);
    assert_true(item->steps > 0 && item->steps <= 6 * USAGES / 16);
    assert_true(item->epochs > 0 && item->epochs <= 6 && item->seconds > 0);
    assert_null(item->notice);
    wt_train_report_free(report);
    wt_close(engine);

    struct encoder *encoder;
    assert_train_ok(place, wt__encoder_open(&encoder, want, &place->err));
    assert_int_equal(wt__encoder_dim(encoder), 16);
    wt__encoder_close(encoder);
    assert_false(has_model_file(place->out, "encoder.state"));
}

static void model_describes_its_training(void **state)
{
    struct learn_place *place = *state;
    wt_engine *engine = open_filled_train(place);
    wt_train_options options = options_of_train();
    wt_train_report *report = train_encoder(place, engine, &options);
    char path[160], *text = NULL;
    size_t len;
    json_t *config;
    snprintf(path, sizeof path, "%s/encoder/config.json", place->out);
    assert_train_ok(place, wt__file_read(&text, &len, path, 1 << 20, &place->err));
    assert_train_ok(place, wt__json_parse(&config, text, len, &place->err));
    const json_t *about = wt__json_object(config, "whichtool");
    assert_non_null(about);
    assert_true(wt__str_equal(wt__json_str(about, "lesson"), STR("encoder")));
    assert_int_equal(wt__json_int(about, "seed", 0), 1);
    assert_int_equal(wt__json_str(wt__json_object(about, "data"), "sha256").len, 64);
    assert_int_equal(wt__json_int(wt__json_object(about, "data"), "tools", 0), PLACE_TOOLS);
    assert_int_equal(wt__json_str(wt__json_object(about, "base"), "hash").len, 64);
    assert_true(wt__str_equal(wt__json_str(wt__json_object(about, "base"), "name"), STR("tiny")));
    assert_int_equal(wt__json_int(wt__json_object(about, "options"), "batch", 0), 16);
    static const char *const unchosen[] = {"negatives", "siblings", "synthetic", "dev", "dev_tools", "teacher", "keep"};
    for (size_t i = 0; i < sizeof unchosen / sizeof *unchosen; i++)
        assert_null(json_object_get(json_object_get(about, "options"), unchosen[i]));
    assert_true(fabs(wt__json_real(wt__json_object(about, "dev"), "after", 0) - report->items[0]->after) < 1e-12);
    assert_true(wt__str_equal(wt__json_str(config, "model_type"), STR("bert")));
    json_decref(config);
    free(text);
    wt_train_report_free(report);
    wt_close(engine);
}

static void equal_seeds_give_identical_bits(void **state)
{
    struct learn_place *place = *state;
    char first[65], second[65], other[65], folder[96];
    wt_engine *engine = open_filled_train(place);
    wt_train_options options = options_of_train();
    options.epochs = 1;
    wt_train_report_free(train_encoder(place, engine, &options));
    hash_of_encoder(place->out, first);
    snprintf(folder, sizeof folder, "%s/second", place->folder);
    options.out = folder;
    wt_train_report_free(train_encoder(place, engine, &options));
    hash_of_encoder(folder, second);
    assert_string_equal(first, second);
    options.seed = 2;
    wt_train_report_free(train_encoder(place, engine, &options));
    hash_of_encoder(folder, other);
    assert_string_not_equal(first, other);
    wt_close(engine);
}

static void every_loss_trains_and_resumes(void **state)
{
    static const char *const losses[] = {"triplet", "softmax", "bce", "likeness"};
    struct learn_place *place = *state;
    char whole[65], resumed[65], teacher[96];
    wt_engine *engine = open_filled_train(place);
    wt_train_options options = options_of_train();
    snprintf(teacher, sizeof teacher, "%s/teacher", place->folder);
    tiny_model_write(teacher, TINY_MPNET, 2);
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
        struct training_stopper stopper = {.at = 20};
        options = options_of_train();
        options.loss = losses[i];
        options.teacher = strcmp(losses[i], "likeness") == 0 ? teacher : NULL;
        wt_train_report *report = train_encoder(place, engine, &options);
        assert_true(report->items[0]->after >= report->items[0]->before);
        wt_train_report_free(report);
        hash_of_encoder(place->out, whole);
        options.progress = stop_training_at;
        options.progress_context = &stopper;
        int rc = wt_train(engine, "encoder", &options, &report, &place->err);
        wt_train_report_free(report);
        if (rc == 0)
            continue; /* ended before the stop was requested */
        assert_train_refused(place, rc, WT_ECANCELLED, "; resume to continue");
        options.progress = NULL;
        options.resume = 1;
        wt_train_report_free(train_encoder(place, engine, &options));
        hash_of_encoder(place->out, resumed);
        assert_string_equal(whole, resumed);
    }
    wt_close(engine);
}

/* The teacher was trained with labels. The training under test uses only the similarities that the teacher gives. */
static void student_learns_similarities_of_teacher(void **state)
{
    struct learn_place *place = *state;
    char teacher[128], taught[96];
    wt_engine *engine = open_filled_train(place);
    wt_train_options options = options_of_train();
    wt_train_report *report = train_encoder(place, engine, &options);
    wt_train_report_free(report);
    snprintf(teacher, sizeof teacher, "%s/encoder", place->out);
    snprintf(taught, sizeof taught, "%s/taught", place->folder);
    options.out = taught;
    options.loss = "likeness";
    options.teacher = teacher;
    report = train_encoder(place, engine, &options);
    assert_true(report->items[0]->after > report->items[0]->before + .05);
    wt_train_report_free(report);
    wt_close(engine);
}

/* Each request has more tools than a step takes, so a step takes its maximum number of texts. */
static void requests_with_more_tools_than_a_step_are_trained(void **state)
{
    enum { TOOLS = 60, REQUESTS = 4 };
    struct learn_place *place = *state;
    struct buffer tools = {0}, usages = {0};
    wt_engine *engine = open_place_store(place);
    for (size_t t = 0; t < TOOLS; t++)
        wt__buffer_printf(&tools, "{\"name\": \"tool_%zu\", \"description\": \"book a table\"}\n", t);
    for (size_t i = 0; i < REQUESTS; i++) {
        wt__buffer_printf(&usages, "{\"request\": \"find a hotel %zu\", \"tools\": [", i);
        for (size_t t = 0; t < TOOLS; t++)
            wt__buffer_printf(&usages, "%s\"tool_%zu\"", t ? ", " : "", t);
        wt__buffer_text(&usages, "]}\n");
    }
    import_tool_lines(place, engine, tools.ptr);
    import_usages(place, engine, usages.ptr);
    wt__buffer_dispose(&tools);
    wt__buffer_dispose(&usages);
    wt_train_options options = options_of_train();
    options.batch = 2;
    options.epochs = 1;
    options.loss = "likeness";
    options.teacher = place->model;
    wt_train_report *report = train_encoder(place, engine, &options);
    assert_true(report->items[0]->steps > 0);
    wt_train_report_free(report);
    wt_close(engine);
}

static void triplets_need_shared_tools(void **state)
{
    struct learn_place *place = *state;
    wt_engine *engine = open_place_store(place);
    import_place_tools(place, engine);
    import_usages(place, engine,
                  "{\"request\": \"one\", \"tools\": [\"send_mail\"]}\n{\"request\": \"two\", \"tools\": "
                  "[\"send_mail\"]}\n{\"request\": \"three\", \"tools\": [\"send_mail\"]}\n");
    wt_train_options options = options_of_train();
    options.loss = "triplet";
    assert_lesson_refused(place, engine, "encoder", &options, WT_EEMPTY, "train with the contrast loss");
    wt_close(engine);
}

static void frozen_layers_keep_their_weights(void **state)
{
    struct learn_place *place = *state;
    char hash[65], tuned[65];
    wt_engine *engine = open_filled_train(place);
    wt_train_options options = options_of_train();
    options.freeze = 2; /* all layers, so no parameter can change */
    wt_train_report *report = train_encoder(place, engine, &options);
    assert_true(report->items[0]->after == report->items[0]->before);
    assert_non_null(strstr(report->items[0]->notice, "no step improved the model on dev"));
    wt_train_report_free(report);
    hash_of_encoder(place->out, hash);
    options.freeze = 1;
    wt_train_report_free(train_encoder(place, engine, &options));
    hash_of_encoder(place->out, tuned);
    assert_string_not_equal(hash, tuned);
    options.freeze = 3;
    assert_lesson_refused(place, engine, "encoder", &options, WT_EINVAL, "cannot freeze 3 layers; the model has 2");
    wt_close(engine);
}

/* The saved model lacks the removed layers, whether training improved it or not. */
static void removed_layers_are_not_saved(void **state)
{
    struct learn_place *place = *state;
    struct model_config config;
    wt_engine *engine = open_filled_train(place);
    wt_train_options options = options_of_train();
    uint64_t sizes[2];
    char weights[160];
    options.layers = 1;
    for (size_t freeze = 0; freeze < 2; freeze++) {
        options.freeze = freeze;
        wt_train_report *report = train_encoder(place, engine, &options);
        assert_train_ok(place, wt__model_config_read(&config, report->items[0]->path, &place->err));
        assert_int_equal(config.layers, 1);
        snprintf(weights, sizeof weights, "%s/model.safetensors", report->items[0]->path);
        sizes[freeze] = wt__file_size(weights);
        wt_train_report_free(report);
    }
    assert_true(sizes[0] == sizes[1]);
    snprintf(weights, sizeof weights, "%s/model.safetensors", place->model);
    assert_true(sizes[0] < wt__file_size(weights));
    options.freeze = 0;
    options.layers = 3;
    assert_lesson_refused(place, engine, "encoder", &options, WT_EINVAL, "cannot keep 3 layers; the model has 2");
    assert_lesson_refused(place, engine, "mlc", &options, WT_EINVAL,
                          "layers work with \"encoder\", \"cross\" and refiners");
    wt_close(engine);
}

/* No step of the second training improves the model. The model of the first training is better on dev and stays. */
static void keeps_better_earlier_model(void **state)
{
    struct learn_place *place = *state;
    char earlier[65], now[65];
    wt_engine *engine = open_filled_train(place);
    wt_train_options options = options_of_train();
    wt_train_report *report = train_encoder(place, engine, &options);
    double reached = report->items[0]->after;
    wt_train_report_free(report);
    hash_of_encoder(place->out, earlier);
    options.freeze = 2;
    report = train_encoder(place, engine, &options);
    assert_non_null(strstr(report->items[0]->notice, "the better model of an earlier training is kept"));
    assert_float_equal(report->items[0]->after, reached, 1e-6);
    wt_train_report_free(report);
    hash_of_encoder(place->out, now);
    assert_string_equal(now, earlier);
    wt_close(engine);
}

/* Writes 100 requests as a data set. */
static void write_seeded_requests(struct learn_place *place, uint64_t seed)
{
    struct buffer queries = {0}, train_side = {0}, dev = {0};
    struct rng rng;
    wt__rng_seed(&rng, seed);
    for (size_t i = 0; i < 100; i++) {
        wt__buffer_printf(&queries, "{\"_id\": \"q%zu\", \"text\": \"", i);
        write_request_text(&queries, i % PLACE_TOOLS, i / PLACE_TOOLS, &rng);
        wt__buffer_text(&queries, "\"}\n");
        wt__buffer_printf(i % 5 ? &train_side : &dev, "q%zu\tt%zu\t1\n", i, i % PLACE_TOOLS);
    }
    write_data_set(place, queries.ptr, train_side.ptr, dev.ptr);
    wt__buffer_dispose(&queries);
    wt__buffer_dispose(&train_side);
    wt__buffer_dispose(&dev);
}

static void data_set_has_its_own_catalogue(void **state)
{
    struct learn_place *place = *state;
    write_seeded_requests(place, 5);
    wt_train_options options = options_of_train();
    options.data = place->data;
    options.model = place->model;
    assert_lesson_refused(place, NULL, "encoder", &options, WT_EINVAL, "name a folder for the models (--out)");
    options.out = place->out;
    wt_train_report *report = train_encoder(place, NULL, &options);
    assert_true(report->items[0]->after >= report->items[0]->before);
    assert_true(has_model_file(place->out, "encoder/model.safetensors"));
    wt_train_report_free(report);
    options.data = NULL;
    assert_lesson_refused(place, NULL, "encoder", &options, WT_EINVAL, "name a store or a data set to learn from");
}

/* Trains on a data set that is listed twice. In a shared catalogue, each tool would compete with its copy. */
static void data_sets_have_separate_catalogues(void **state)
{
    struct learn_place *place = *state;
    char both[200], alone[65], joined[65];
    write_seeded_requests(place, 5);
    wt_train_options options = options_of_train();
    options.data = place->data;
    options.model = place->model;
    options.out = place->out;
    options.epochs = 2;
    wt_train_report *one = train_encoder(place, NULL, &options);
    hash_of_encoder(place->out, alone);
    snprintf(both, sizeof both, "%s\n%s\n", place->data, place->data);
    options.data = both;
    wt_train_report *two = train_encoder(place, NULL, &options);
    hash_of_encoder(place->out, joined);
    assert_float_equal(one->items[0]->before, two->items[0]->before, 1e-9);
    assert_true(two->items[0]->steps > one->items[0]->steps);
    assert_string_not_equal(alone, joined);
    wt_train_report_free(one);
    wt_train_report_free(two);
    options.most = 16;
    one = train_encoder(place, NULL, &options);
    assert_int_equal(one->items[0]->steps, 4); /* 2 epochs of 2 x 16 requests, 16 per batch */
    wt_train_report_free(one);
    assert_lesson_refused(place, NULL, "mlc", &options, WT_EINVAL, "\"mlc\" takes one catalogue, not 2 data sets");
    options.data = "\n\n";
    assert_lesson_refused(place, NULL, "encoder", &options, WT_EINVAL, "the list of data sets is empty");
    wt_engine *engine = open_place_store(place);
    options.data = both;
    assert_lesson_refused(place, engine, "encoder", &options, WT_EINVAL,
                          "have catalogues of their own; omit the store");
    wt_close(engine);
}

static void accepts_unusual_tools_and_requests(void **state)
{
    struct learn_place *place = *state;
    wt_engine *engine = open_filled_train(place);
    struct buffer jsonl = {0};
    import_tool_lines(place, engine, "{\"name\": \"___\"}\n{\"name\": \"空\", \"description\": \"\"}\n");
    for (size_t i = 0; i < 40; i++)
        wt__buffer_printf(&jsonl, "{\"request\": \"мне %zu 予約\", \"tools\": [\"___\", \"空\", \"gone\"]}\n", i);
    wt__buffer_text(&jsonl, "{\"request\": \"");
    for (size_t i = 0; i < 6000; i++)
        wt__buffer_text(&jsonl, "longest ");
    wt__buffer_text(&jsonl, "\", \"tools\": [\"空\"]}\n");
    import_usages(place, engine, jsonl.ptr);
    wt_train_options options = options_of_train();
    options.epochs = 1;
    wt_train_report *report = train_encoder(place, engine, &options);
    assert_true(isfinite(report->items[0]->after));
    assert_non_null(strstr(report->items[0]->notice, "labels of unknown tools"));
    wt_train_report_free(report);
    wt__buffer_dispose(&jsonl);
    wt_close(engine);
}

static void one_request_is_enough(void **state)
{
    struct learn_place *place = *state;
    wt_engine *engine = open_place_store(place);
    import_place_tools(place, engine);
    import_usages(place, engine, "{\"request\": \"find the hotel\", \"tools\": [\"find_hotel\"]}\n");
    wt_train_options options;
    wt_train_options_init(&options);
    wt_train_report *report = train_encoder(place, engine, &options);
    assert_true(isnan(report->items[0]->before) && isnan(report->items[0]->after));
    assert_non_null(strstr(report->items[0]->notice, "the figure was not measured"));
    assert_true(has_model_file(place->out, "encoder/model.safetensors"));
    wt_train_report_free(report);
    report = NULL;
    assert_train_ok(place, wt_train(engine, "auto", &options, &report, &place->err));
    assert_non_null(strstr(report->items[0]->notice, "there are no dev requests to choose by, so hybrid is kept"));
    wt_train_report_free(report);
    wt_close(engine);
}

/* There are three tools, so recall@5 is always 1. Only recall@1 shows the effect of the wrong training labels. */
static void keeps_hybrid_if_training_harms_recall_at_1(void **state)
{
    static const char *const asks[] = {"book a table in a restaurant", "the weather of a city", "play a song"};
    struct learn_place *place = *state;
    struct buffer queries = {0}, judged = {0};
    for (int i = 0; i < 300; i++) {
        wt__buffer_printf(&queries, "{\"_id\": \"q%d\", \"text\": \"%s, %d\"}\n", i, asks[i % 3], i);
        wt__buffer_printf(&judged, "q%d\tt%d\t1\n", i, (i + 1) % 3);
    }
    for (int i = 0; i < 3; i++)
        wt__buffer_printf(&queries, "{\"_id\": \"d%d\", \"text\": \"%s\"}\n", i, asks[i]);
    write_data_set(place, queries.ptr, judged.ptr, "d0\tt0\t1\nd1\tt1\t1\nd2\tt2\t1\n");
    put_text(place->data, "corpus.jsonl",
             "{\"_id\": \"t0\", \"title\": \"reserve\", \"text\": \"Books a table in a restaurant\"}\n"
             "{\"_id\": \"t1\", \"title\": \"forecast\", \"text\": \"Gives the weather of a city\"}\n"
             "{\"_id\": \"t2\", \"title\": \"player\", \"text\": \"Plays a song\"}\n");
    wt_train_options options = options_of_train();
    options.data = place->data;
    options.model = place->model;
    options.out = place->out;
    options.keep_last = 1;
    wt_train_report *report = train_encoder(place, NULL, &options);
    wt_train_report_free(report);
    assert_train_ok(place, wt_train(NULL, "auto", &options, &report, &place->err));
    assert_non_null(
        strstr(report->items[0]->notice, "hybrid finds 100.0 % in the first 5, and 100.0 % are found with"));
    if (!strstr(report->items[0]->notice, "at the first place 100.0 and 0.0 %"))
        fail_msg("%s", report->items[0]->notice);
    wt_train_report_free(report);
    char path[160], *config = NULL;
    size_t len;
    snprintf(path, sizeof path, "%s/auto/config.json", place->out);
    assert_train_ok(place, wt__file_read(&config, &len, path, 1 << 20, &place->err));
    assert_non_null(strstr(config, "\"runs\":\"hybrid\""));
    free(config);
    wt__buffer_dispose(&queries);
    wt__buffer_dispose(&judged);
}

/* ---------------------------------------------------------------- errors */

static void rejects_invalid_options(void **state)
{
    struct learn_place *place = *state;
    wt_engine *engine = open_filled_train(place);
    wt_train_options options = options_of_train();
    assert_lesson_refused(place, engine, "nonsense", &options, WT_EINVAL,
                          "unknown lesson \"nonsense\"; choose from: encoder");
    assert_lesson_refused(place, engine, NULL, &options, WT_EINVAL, "unknown lesson");
    options.loss = "hinge";
    assert_lesson_refused(
        place, engine, "encoder", &options, WT_EINVAL,
        "the lesson \"encoder\" has no loss \"hinge\"; it has: contrast triplet softmax bce likeness");
    options.loss = "triplet";
    assert_lesson_refused(place, engine, "all", &options, WT_EINVAL, "name the lesson of the loss \"triplet\"");
    options.teacher = "tiny";
    assert_lesson_refused(place, engine, "encoder", &options, WT_EINVAL, "a teacher needs the loss \"likeness\"");
    options.loss = "likeness";
    options.teacher = "nowhere";
    assert_lesson_refused(place, engine, "encoder", &options, WT_ENOTFOUND, "the model nowhere is not installed");
    options.teacher = NULL;
    assert_lesson_refused(place, engine, "encoder", &options, WT_EINVAL, "the loss needs a teacher (--teacher MODEL)");
    options = options_of_train();
    options.epochs = -1;
    assert_lesson_refused(place, engine, "encoder", &options, WT_EINVAL, "epochs must be above 0");
    options.epochs = NAN;
    assert_lesson_refused(place, engine, "encoder", &options, WT_EINVAL, "epochs must be above 0");
    options = options_of_train();
    options.rate = 2;
    assert_lesson_refused(place, engine, "encoder", &options, WT_EINVAL,
                          "the learning rate must be above 0 and at most 1");
    options = options_of_train();
    options.batch = 1 << 20;
    assert_lesson_refused(place, engine, "encoder", &options, WT_EINVAL, "a batch has at most 65536 requests");
    options = options_of_train();
    options.memory = 1000;
    assert_lesson_refused(place, engine, "encoder", &options, WT_ENOMEM, "training would take ");
    options = options_of_train();
    wt_engine *nowhere = NULL;
    assert_train_ok(place, wt_open(&nowhere, ":memory:", NULL, &place->err));
    assert_lesson_refused(place, nowhere, "encoder", &options, WT_EINVAL, "a store in memory has no folder for models");
    wt_close(nowhere);
    char folder[160];
    snprintf(folder, sizeof folder, "%s/encoder", place->folder);
    assert_int_equal(rename(place->model, folder), 0);
    assert_int_equal(symlink(folder, place->model), 0);
    options.out = place->folder;
    assert_lesson_refused(place, engine, "encoder", &options, WT_EINVAL, "would replace its own initial model");
    wt_close(engine);
}

/* Without the lock, two trainings could resume from or replace each other's files. */
static void locks_folder_of_models(void **state)
{
    struct learn_place *place = *state;
    wt_engine *engine = open_filled_train(place);
    wt_train_options options = options_of_train();
    char path[160];
    int lock;
    wt_train_report_free(train_encoder(place, engine, &options));
    snprintf(path, sizeof path, "%s/training.lock", place->out);
    assert_train_ok(place, wt__lock_file(&lock, path, 0, &place->err));
    assert_lesson_refused(place, engine, "encoder", &options, WT_EBUSY, "another training writes to ");
    options.out = place->data;
    wt_train_report_free(train_encoder(place, engine, &options));
    options.out = NULL;
    wt__unlock_file(lock);
    wt_train_report_free(train_encoder(place, engine, &options));
    wt_close(engine);
}

static void exploding_rate_keeps_last_model(void **state)
{
    struct learn_place *place = *state;
    char before[65], after[65];
    wt_engine *engine = open_filled_train(place);
    wt_train_options options = options_of_train();
    wt_train_report_free(train_encoder(place, engine, &options));
    hash_of_encoder(place->out, before);
    options.rate = 1;
    options.epochs = 400;
    wt_train_report *report = NULL;
    int rc = wt_train(engine, "encoder", &options, &report, &place->err);
    assert_true(rc == 0 || rc == WT_EMODEL);
    wt_train_report_free(report);
    hash_of_encoder(place->out, after);
    if (rc < 0)
        assert_string_equal(before, after);
    wt_close(engine);
}

/* ---------------------------------------------------------------- stopping and resuming */

/* Starts a training of the encoder, and stops it at its at-th report. Returns false if the training ended before. */
static bool stop_encoder_training(struct learn_place *place, wt_engine *engine, wt_train_options options, uint64_t at)
{
    struct training_stopper stopper = {.at = at};
    wt_train_report *report;
    options.progress = stop_training_at;
    options.progress_context = &stopper;
    options.resume = 0;
    int rc = wt_train(engine, "encoder", &options, &report, &place->err);
    wt_train_report_free(report);
    if (rc == 0)
        return false;
    assert_train_refused(place, rc, WT_ECANCELLED, "; resume to continue from there");
    return true;
}

static void stopped_and_resumed_encoder_is_identical(void **state)
{
    struct learn_place *place = *state;
    char whole[65], resumed[65], folder[96];
    wt_engine *engine = open_filled_train(place);
    wt_train_options options = options_of_train();
    wt_train_report *report = train_encoder(place, engine, &options);
    double after = report->items[0]->after;
    wt_train_report_free(report);
    hash_of_encoder(place->out, whole);
    snprintf(folder, sizeof folder, "%s/second", place->folder);
    options.out = folder;
    for (uint64_t at = 1; at < 80; at += 23) {
        if (!stop_encoder_training(place, engine, options, at))
            break;
        assert_true(has_model_file(folder, "encoder.state"));
        options.resume = 1;
        report = train_encoder(place, engine, &options);
        hash_of_encoder(folder, resumed);
        assert_string_equal(whole, resumed);
        assert_true(report->items[0]->after == after);
        assert_false(has_model_file(folder, "encoder.state"));
        wt_train_report_free(report);
    }
    wt_close(engine);
}

/* Stops at a progress report of a search for hard negatives. *context: number of the report, from 1. */
static int stop_training_when_looking(void *context, const wt_train_progress *progress)
{
    size_t *left = context;
    if (strcmp(progress->phase, "looking for hard negatives") != 0)
        return 0;
    *left -= *left > 0;
    return *left == 0;
}

/* Trainings stopped at a step or at a search for hard negatives give the same model when they are resumed. */
static void resumes_hard_negatives(void **state)
{
    struct learn_place *place = *state;
    char plain[65], whole[65], resumed[65], folder[96];
    wt_engine *engine = open_filled_train(place);
    wt_train_options options = options_of_train();
    wt_train_report *report = train_encoder(place, engine, &options);
    wt_train_report_free(report);
    hash_of_encoder(place->out, plain);
    options.negatives = 2;
    wt_train_report_free(train_encoder(place, engine, &options));
    hash_of_encoder(place->out, whole);
    assert_string_not_equal(plain, whole);
    snprintf(folder, sizeof folder, "%s/second", place->folder);
    options.out = folder;
    size_t stops = 0;
    for (size_t i = 1; i < 9; i++) {
        struct training_stopper stopper = {.at = 9 * i};
        size_t looks = i / 2;
        options.progress = i % 2 ? stop_training_at : stop_training_when_looking;
        options.progress_context = i % 2 ? (void *)&stopper : (void *)&looks;
        options.resume = 0;
        int rc = wt_train(engine, "encoder", &options, &report, &place->err);
        wt_train_report_free(report);
        if (rc == 0)
            continue; /* ended before the stop was requested */
        assert_train_refused(place, rc, WT_ECANCELLED, "; resume to continue from there");
        options.progress = NULL;
        options.resume = 1;
        wt_train_report_free(train_encoder(place, engine, &options));
        hash_of_encoder(folder, resumed);
        assert_string_equal(whole, resumed);
        stops++;
    }
    assert_true(stops >= 4); /* the beginning of a phase is always reported */
    options.resume = 0;
    options.negatives = 9;
    assert_lesson_refused(place, engine, "encoder", &options, WT_EINVAL, "a request has at most 8 hard negatives");
    options.negatives = 1;
    options.loss = "triplet";
    assert_lesson_refused(place, engine, "encoder", &options, WT_EINVAL,
                          "hard negatives need the loss \"contrast\", not \"triplet\"");
    wt_close(engine);
}

/* Two providers with usages of half of the tools. Tools of the same resource are siblings. */
static wt_engine *open_store_with_siblings(struct learn_place *place)
{
    static const char *const verbs[] = {"book", "find", "send", "play"}, *const things[] = {"table", "mail"};
    WT_CLEANUP(wt__buffer_dispose) struct buffer lines = {0};
    WT_CLEANUP(wt__buffer_dispose) struct buffer usages = {0};
    wt_engine *engine = open_place_store(place);
    for (size_t t = 0; t < 16; t++)
        wt__buffer_printf(&lines, "{\"name\": \"%s_%s\", \"provider\": \"%s\", \"description\": \"%s the %s of %s\"}\n",
                          verbs[t % 4], things[t / 4 % 2], t < 8 ? "hotel" : "news", verbs[t % 4], things[t / 4 % 2],
                          t < 8 ? "hotel" : "news");
    for (size_t i = 0; i < 64; i++)
        wt__buffer_printf(&usages, "{\"request\": \"%s %s %s\", \"tools\": [\"%s/%s_%s\"]}\n",
                          tiny_words[5 + i % (TINY_WORDS - 5)], tiny_words[5 + i * 7 % (TINY_WORDS - 5)], verbs[i % 2],
                          i / 4 % 2 ? "hotel" : "news", verbs[i % 2], things[i / 2 % 2]);
    import_tool_lines(place, engine, lines.ptr);
    import_usages(place, engine, usages.ptr);
    return engine;
}

/* Trains with siblings, stops at several steps, and resumes. */
static void check_resumed_siblings(struct learn_place *place, wt_engine *engine, wt_train_options options,
                                   const char *whole)
{
    char resumed[65], folder[96];
    snprintf(folder, sizeof folder, "%s/second", place->folder);
    options.out = folder;
    for (uint64_t at = 1; at < 30; at += 9) {
        assert_true(stop_encoder_training(place, engine, options, at));
        options.resume = 1;
        wt_train_report_free(train_encoder(place, engine, &options));
        hash_of_encoder(folder, resumed);
        assert_string_equal(whole, resumed);
    }
}

/* Each pair of numbers of negatives and siblings gives another model, and the same model if it is resumed. */
static void resumes_siblings(void **state)
{
    static const struct {
        size_t negatives, siblings;
    } rows[] = {{0, 0}, {2, 0}, {0, 1}, {0, 3}, {2, 3}};
    enum { ROWS = sizeof rows / sizeof *rows };
    struct learn_place *place = *state;
    char hashes[ROWS][65];
    wt_engine *engine = open_store_with_siblings(place);
    wt_train_options options = options_of_train();
    options.batch = 4;
    options.keep_last = 1;
    for (size_t i = 0; i < ROWS; i++) {
        options.negatives = rows[i].negatives;
        options.siblings = rows[i].siblings;
        wt_train_report_free(train_encoder(place, engine, &options));
        hash_of_encoder(place->out, hashes[i]);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(hashes[i], hashes[j]);
        if (rows[i].siblings > 1)
            check_resumed_siblings(place, engine, options, hashes[i]);
    }
    wt_close(engine);
}

static void rejects_siblings(void **state)
{
    static const struct {
        const char *lesson, *loss;
        size_t siblings;
        const char *message;
    } rows[] = {{"encoder", NULL, 9, "a request has at most 8 siblings"},
                {"encoder", "triplet", 1, "siblings need the loss \"contrast\", not \"triplet\""},
                {"encoder", "bce", 8, "siblings need the loss \"contrast\", not \"bce\""},
                {"cross", NULL, 1, "siblings work with \"encoder\", not with \"cross\""},
                {"mlc", "contrast", 1, "siblings work with \"encoder\", not with \"mlc\""}};
    struct learn_place *place = *state;
    wt_engine *engine = open_filled_train(place);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        wt_train_options options = options_of_train();
        options.loss = rows[i].loss;
        options.siblings = rows[i].siblings;
        assert_lesson_refused(place, engine, rows[i].lesson, &options, WT_EINVAL, rows[i].message);
    }
    wt_close(engine);
}

/* Returns the megabytes in the error of a rejected training. */
static double megabytes_of(struct learn_place *place, wt_engine *engine, size_t negatives, size_t siblings)
{
    wt_train_options options = options_of_train();
    wt_train_report *report = NULL;
    double megabytes = 0;
    options.memory = 1000;
    options.batch = 200;
    options.negatives = negatives;
    options.siblings = siblings;
    assert_train_refused(place, wt_train(engine, "encoder", &options, &report, &place->err), WT_ENOMEM,
                         "training would take ");
    assert_int_equal(sscanf(strstr(place->err.message, "take "), "take %lf", &megabytes), 1);
    return megabytes;
}

static void estimate_includes_hard_negatives(void **state)
{
    struct learn_place *place = *state;
    wt_engine *engine = open_filled_train(place);
    double plain = megabytes_of(place, engine, 0, 0), negatives = megabytes_of(place, engine, 8, 0);
    double siblings = megabytes_of(place, engine, 0, 8), both = megabytes_of(place, engine, 8, 8);
    assert_true(negatives > plain && siblings > plain);
    assert_true(both > negatives && both > siblings);
    wt_close(engine);
}

static void killed_and_resumed_training_is_identical(void **state)
{
    struct learn_place *place = *state;
    char whole[65], resumed[65], folder[96];
    wt_engine *engine = open_filled_train(place);
    wt_train_options options = options_of_train();
    wt_train_report_free(train_encoder(place, engine, &options));
    hash_of_encoder(place->out, whole);
    wt_close(engine);
    snprintf(folder, sizeof folder, "%s/second", place->folder);
    options.out = folder;
    pid_t child = fork();
    if (child == 0) {
        struct training_stopper stopper = {.at = 40, .kill = true};
        options.progress = stop_training_at;
        options.progress_context = &stopper;
        wt_train_report *report;
        engine = open_place_store(place);
        wt_train(engine, "encoder", &options, &report, NULL);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    engine = open_place_store(place);
    options.resume = 1;
    wt_train_report_free(train_encoder(place, engine, &options));
    hash_of_encoder(folder, resumed);
    assert_string_equal(whole, resumed);
    wt_close(engine);
}

static void resuming_ended_training_changes_nothing(void **state)
{
    struct learn_place *place = *state;
    char before[65], after[65];
    wt_engine *engine = open_filled_train(place);
    wt_train_options options = options_of_train();
    options.epochs = 1;
    wt_train_report *report = train_encoder(place, engine, &options);
    double figure = report->items[0]->after;
    wt_train_report_free(report);
    hash_of_encoder(place->out, before);
    options.resume = 1;
    report = train_encoder(place, engine, &options);
    assert_non_null(strstr(report->items[0]->notice, "had already ended"));
    assert_true(fabs(report->items[0]->after - figure) < 1e-12);
    wt_train_report_free(report);
    hash_of_encoder(place->out, after);
    assert_string_equal(before, after);
    options.rate = 1e-3;
    report = train_encoder(place, engine, &options);
    assert_null(report->items[0]->notice);
    wt_train_report_free(report);
    wt_close(engine);
}

static void does_not_resume_another_training(void **state)
{
    struct learn_place *place = *state;
    wt_engine *engine = open_filled_train(place);
    wt_train_options options = options_of_train();
    struct training_stopper stopper = {.at = 0};
    wt_train_report *report = NULL;
    options.progress = stop_training_at;
    options.progress_context = &stopper;
    assert_train_refused(place, wt_train(engine, "encoder", &options, &report, &place->err), WT_ECANCELLED,
                         "after step 0 of");
    options = options_of_train();
    options.resume = 1;
    options.rate = 1e-4;
    assert_lesson_refused(place, engine, "encoder", &options, WT_EFORMAT, "with other data, options or model");
    wt_close(engine);
}

/* Phases and values that were reported. */
struct heard_training {
    bool reading, training, measuring, saving, loss, tokens, left, best;
};

static int record_heard_progress(void *context, const wt_train_progress *p)
{
    struct heard_training *heard = context;
    heard->reading |= strcmp(p->phase, "reading") == 0;
    heard->training |= strcmp(p->phase, "training") == 0;
    heard->measuring |= strcmp(p->phase, "measuring") == 0;
    heard->saving |= strcmp(p->phase, "saving") == 0;
    heard->loss |= p->loss > 0;
    heard->tokens |= p->tokens_per_second > 0;
    heard->left |= p->seconds_left >= 0;
    heard->best |= p->best > 0;
    return 0;
}

static void reports_all_progress(void **state)
{
    struct learn_place *place = *state;
    wt_engine *engine = open_filled_train(place);
    wt_train_options options = options_of_train();
    struct heard_training heard = {0};
    options.progress = record_heard_progress;
    options.progress_context = &heard;
    wt_train_report_free(train_encoder(place, engine, &options));
    assert_true(heard.reading && heard.training && heard.measuring && heard.saving);
    assert_true(heard.loss && heard.tokens && heard.left && heard.best);
    wt_close(engine);
}

static void lessons_are_listed(void **state)
{
    (void)state;
    assert_string_equal(wt_lesson_at(0)->name, "encoder");
    size_t count = 0;
    for (const wt_lesson *lesson; (lesson = wt_lesson_at(count)); count++)
        assert_true(*lesson->name && *lesson->summary);
    assert_int_equal(count, 11);
}

#define ROW(test) cmocka_unit_test_setup_teardown(test, place_set_up, place_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ROW(trained_encoder_finds_more),
        ROW(model_describes_its_training),
        ROW(equal_seeds_give_identical_bits),
        ROW(every_loss_trains_and_resumes),
        ROW(student_learns_similarities_of_teacher),
        ROW(requests_with_more_tools_than_a_step_are_trained),
        ROW(triplets_need_shared_tools),
        ROW(frozen_layers_keep_their_weights),
        ROW(removed_layers_are_not_saved),
        ROW(keeps_better_earlier_model),
        ROW(data_set_has_its_own_catalogue),
        ROW(data_sets_have_separate_catalogues),
        ROW(accepts_unusual_tools_and_requests),
        ROW(one_request_is_enough),
        ROW(keeps_hybrid_if_training_harms_recall_at_1),
        ROW(rejects_invalid_options),
        ROW(locks_folder_of_models),
        ROW(exploding_rate_keeps_last_model),
        ROW(stopped_and_resumed_encoder_is_identical),
        ROW(resumes_hard_negatives),
        ROW(resumes_siblings),
        ROW(rejects_siblings),
        ROW(estimate_includes_hard_negatives),
        ROW(killed_and_resumed_training_is_identical),
        ROW(resuming_ended_training_changes_nothing),
        ROW(does_not_resume_another_training),
        ROW(reports_all_progress),
        cmocka_unit_test(lessons_are_listed),
    };
    return cmocka_run_group_tests_name("learn/train", tests, NULL, NULL);
}
