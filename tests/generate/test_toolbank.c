/* Tests the generation of ToolBank data with a fake model (writer.h) at several error rates. Invalid answers are
 * refused, the report's counts add up, and a set of tools is never in two splits. Bad models are refused. A stopped run
 * continues to the same bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "catalog/dataset.h"
#include "generate/support.h"
#include "generate/toolbank.h"
#include "rendezvous.h"

enum { PROVIDERS = 8, DEEDS = 5, TOOLS = PROVIDERS * DEEDS };

/* Opens a store with eight providers of five tools each. All tools of a provider are in one of two categories. */
static wt_engine *open_toolbank_store(void)
{
    struct buffer lines = {0};
    wt_engine *engine = open_test_engine(&place, "");
    for (int p = 0; p < PROVIDERS; p++)
        for (int d = 0; d < DEEDS; d++)
            wt__buffer_printf(&lines,
                              "{\"provider\": \"%s\", \"name\": \"%s_%s\", \"category\": \"%s\", \"description\": "
                              "\"Gives the %s of every %s %s\"}\n",
                              writer_things[p], writer_deeds[d], writer_things[p], p % 2 ? "Trade" : "Home",
                              writer_deeds[d], writer_things[p], writer_ways[(p + d) % WRITER_WAYS]);
    add(&place, engine, lines.ptr);
    wt__buffer_dispose(&lines);
    return engine;
}

static wt_toolbank_options few_requests(void)
{
    wt_toolbank_options options;
    wt_toolbank_options_init(&options);
    options.items = 150;
    options.usages = 2;
    options.trial_limit = 1;
    return options;
}

static int make_toolbank_set(wt_engine *engine, struct fake_writer *writer, wt_toolbank_options options,
                             const char *folder, wt_generated **out)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", place.folder, folder);
    options.out = path;
    return wt__generate_toolbank(engine, &writer->model, &options, out, &place.err);
}

static struct dataset read_set_split(const char *folder, const char *split)
{
    struct dataset set;
    char path[256];
    snprintf(path, sizeof path, "%s/%s", place.folder, folder);
    int rc = wt__dataset_read(&set, path, split, &place.err);
    if (rc == WT_ENOTFOUND)
        set = (struct dataset){0};
    else
        assert_call_ok(&place, rc);
    return set;
}

/* Checks the data set in a folder and returns the number of requests in all splits. Requests must be plain text and
 * unique. Each request must have two to five tools of the corpus, or exactly one if `single`. Unless `single`, all
 * requests for the same set of tools must be in the same split. */
static size_t assert_sound_folder(const char *folder, bool single)
{
    static const char *const splits[] = {"train", "dev", "test"};
    struct map texts = {0}, sets = {0};
    struct arena arena = {0};
    struct buffer key = {0};
    size_t len, count = 0;
    char *corpus = read_place_file(folder, "corpus.jsonl", &len);
    assert_non_null(corpus);
    for (uint32_t s = 0; s < 3; s++) {
        struct dataset set = read_set_split(folder, splits[s]);
        for (size_t i = 0; i < set.len; i++, count++) {
            const struct query *query = &set.queries[i];
            bool added;
            assert_plain_text(query->text, 8, 800);
            assert_in_range(query->judgement_count, single ? 1 : 2, single ? 1 : 5);
            assert_non_null(
                wt__map_insert(&texts, (struct str){wt__arena_copy(&arena, query->text), query->text.len}, 0, &added));
            assert_true(added);
            wt__buffer_clear(&key);
            for (size_t t = 0; t < query->judgement_count; t++) {
                const size_t begin = key.len;
                wt__buffer_printf(&key, "\"_id\": \"%.*s\"", (int)query->judgements[t].tool.len,
                                  query->judgements[t].tool.ptr);
                assert_non_null(strstr(corpus, key.ptr + begin));
            }
            const uint32_t *where =
                wt__map_insert(&sets, (struct str){wt__arena_copy(&arena, wt__buffer_view(&key)), key.len}, s, &added);
            assert_true(single || *where == s);
        }
        wt__dataset_dispose(&set);
    }
    wt__buffer_dispose(&key);
    wt__map_dispose(&texts);
    wt__map_dispose(&sets);
    wt__arena_dispose(&arena);
    free(corpus);
    return count;
}

static void assert_toolbank_report(const char *folder, const wt_generated *made)
{
    json_t *report = read_json_file(folder, "report.json");
    const json_t *stages = wt__json_array(report, "stages");
    for (size_t i = 0; i < json_array_size(stages); i++) {
        const json_t *stage = json_array_get(stages, i);
        assert_int_equal(wt__json_int(stage, "offered", -1),
                         wt__json_int(stage, "made", -1) + sum_json_members(wt__json_object(stage, "refused")));
        assert_int_equal(wt__json_int(stage, "questions", -1),
                         wt__json_int(stage, "offered", -1) + wt__json_int(stage, "unusable", -1));
    }
    assert_true(json_is_true(json_object_get(report, "complete")));
    assert_int_equal(wt__json_int(json_array_get(stages, 0), "made", -1), made->rows);
    assert_int_equal(wt__json_int(report, "requests", -1), made->rows);
    assert_int_equal(sum_json_members(wt__json_object(report, "sizes")), made->rows);
    assert_int_equal(sum_json_members(wt__json_object(report, "within")), made->rows);
    assert_int_equal(made->train + made->dev + made->test + made->unanswerable, made->rows);
    json_decref(report);
}

static int64_t count_refused_as(const char *folder, const char *fate)
{
    json_t *report = read_json_file(folder, "report.json");
    const json_t *stage = json_array_get(wt__json_array(report, "stages"), 0);
    int64_t count = wt__json_int(wt__json_object(stage, "refused"), fate, 0);
    json_decref(report);
    return count;
}

static void test_toolbank_data_is_valid_at_any_error_rate(void **state)
{
    static const double rates[] = {0, 0.2, 0.7};
    (void)state;
    wt_engine *engine = open_toolbank_store();
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        for (int near = 0; near < 2; near++) {
            struct fake_writer writer = make_writer(rates[i]);
            wt_toolbank_options options = few_requests();
            wt_generated *made = NULL;
            char folder[16];
            writer.copies = rates[i] / 4;
            options.draw = near ? "near" : NULL;
            snprintf(folder, sizeof folder, "set-%zu-%d", i, near);
            assert_call_ok(&place, make_toolbank_set(engine, &writer, options, folder, &made));
            assert_int_equal(assert_sound_folder(folder, false), made->rows);
            assert_toolbank_report(folder, made);
            assert_int_equal(made->tools, TOOLS);
            assert_true(made->rows > 20);
            assert_int_equal(made->questions, atomic_load(&writer.asked));
            assert_true((count_refused_as(folder, "repeats_prompt") > 0) == (writer.copies > 0));
            wt_generated_free(made);
        }
    wt_close(engine);
}

/* A run ends when each tool has options.usages requests to train on, or after options.items answers. */
static void test_run_ends_when_each_tool_has_its_usages(void **state)
{
    (void)state;
    wt_engine *engine = open_toolbank_store();
    struct fake_writer writer = make_writer(0);
    wt_toolbank_options options = few_requests();
    wt_generated *made = NULL;
    options.items = 5000;
    options.usages = 3;
    assert_call_ok(&place, make_toolbank_set(engine, &writer, options, "covered", &made));
    json_t *report = read_json_file("covered", "report.json");
    const json_t *usages = wt__json_object(report, "usages");
    assert_true(wt__json_int(usages, "least", -1) >= 3);
    assert_int_equal(wt__json_int(usages, "tools_short", -1), 0);
    assert_true(wt__json_int(report, "asked", -1) < 500);
    assert_null(made->notice);
    json_decref(report);
    wt_generated_free(made);
    options.items = 10;
    options.usages = 100;
    assert_call_ok(&place, make_toolbank_set(engine, &writer, options, "short", &made));
    assert_non_null(strstr(made->notice, "40 of 40 tools have fewer than 100 requests to train on"));
    wt_generated_free(made);
    wt_close(engine);
}

static void test_trial_refuses_bad_models(void **state)
{
    static const struct {
        const char *folder;
        double copies, broken, nonsense;
        int one_tool;
        const char *says;
    } rows[] = {
        {"repeats", 0.9, 0, 0, 0, "repeat the prompt, 0 break the schema and 0 name tools that were not offered"},
        {"breaks", 0, 0.9, 0, 0, "50 trial answers, 0 repeat the prompt, 4"},
        {"silent", 0, 0, 2, 0, "50 trial answers, 0 repeat the prompt, 50 break the schema"},
        {"small", 0.98, 0, 0, 1, "Use a larger model; --trial 0"},
        {"astray", 0, 0, 0, 1, "lead to none of their tools (limit half)"},
        {"good", 0.05, 0.05, 0.1, 0, NULL},
        {"good-small", 0.05, 0.05, 0, 1, NULL},
    };
    (void)state;
    wt_engine *engine = open_toolbank_store();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fake_writer writer = make_writer(rows[i].nonsense);
        wt_toolbank_options options = few_requests();
        wt_generated *made = NULL;
        writer.copies = rows[i].copies;
        writer.broken = rows[i].broken;
        writer.describes = strcmp(rows[i].folder, "astray") != 0;
        options.trial_limit = 0;
        options.one_tool = rows[i].one_tool;
        if (!rows[i].says) {
            assert_call_ok(&place, make_toolbank_set(engine, &writer, options, rows[i].folder, &made));
            wt_generated_free(made);
            continue;
        }
        assert_call_refused(&place, make_toolbank_set(engine, &writer, options, rows[i].folder, &made), WT_EMODEL,
                            rows[i].says);
        assert_null(made);
        json_t *report = read_json_file(rows[i].folder, "report.json");
        assert_true(json_is_true(json_object_get(wt__json_object(report, "trial"), "refused")));
        assert_int_equal(wt__json_int(wt__json_object(report, "trial"), "answers", 0), 50);
        assert_true((wt__json_int(wt__json_object(report, "trial"), "lead_to_none_of_their_tools", -1) > 25) ==
                    !writer.describes);
        json_decref(report);
        assert_int_equal(atomic_load(&writer.asked), 50);
        size_t len;
        assert_null(read_place_file(rows[i].folder, "queries.jsonl", &len));
        /* Without the limit, the same folder continues and still drops invalid requests. */
        options.trial_limit = 1;
        int rc = make_toolbank_set(engine, &writer, options, rows[i].folder, &made);
        if (rc == 0)
            assert_int_equal(assert_sound_folder(rows[i].folder, rows[i].one_tool), made->rows);
        else
            assert_call_refused(&place, rc, WT_EEMPTY, "no request came from");
        wt_generated_free(made);
    }
    wt_close(engine);
}

static const char *const made_files[] = {"corpus.jsonl", "queries.jsonl", "qrels/train.tsv", "report.json"};

static void test_stopped_toolbank_continues_to_same_bytes(void **state)
{
    static const unsigned long stops[] = {1, 30, 70, 130};
    (void)state;
    wt_engine *engine = open_toolbank_store();
    struct fake_writer whole = make_writer(0.2), writer = make_writer(0.2);
    wt_toolbank_options options = few_requests();
    wt_generated *made = NULL;
    options.trial = 20;
    assert_call_ok(&place, make_toolbank_set(engine, &whole, options, "whole", &made));
    const uint64_t questions = made->questions;
    wt_generated_free(made);
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
        writer.fail_after = stops[i];
        writer.failure = i % 2 ? WT_ENETWORK : WT_ECANCELLED;
        atomic_store(&writer.asked, 0);
        int rc = make_toolbank_set(engine, &writer, options, "stopped", &made);
        if (rc == 0)
            wt_generated_free(made); /* recorded answers were enough */
        else
            assert_call_refused(&place, rc, writer.failure, "it fails after");
    }
    writer.fail_after = 0;
    assert_call_ok(&place, make_toolbank_set(engine, &writer, options, "stopped", &made));
    assert_int_equal(made->questions, questions);
    wt_generated_free(made);
    atomic_store(&writer.asked, 0);
    assert_call_ok(&place,
                   make_toolbank_set(engine, &writer, options, "stopped", &made)); /* again, without new questions */
    assert_int_equal(atomic_load(&writer.asked), 0);
    wt_generated_free(made);
    for (size_t i = 0; i < sizeof made_files / sizeof *made_files; i++)
        assert_same_file("whole", "stopped", made_files[i]);
    options.seed = 2;
    assert_call_refused(&place, make_toolbank_set(engine, &writer, options, "stopped", &made), WT_EINVAL,
                        "begun with other options");
    wt_close(engine);
}

static void test_tools_of_request_belong_together(void **state)
{
    static const char *const kinds[] = {"provider", "category", "any"};
    (void)state;
    wt_engine *engine = open_toolbank_store();
    for (size_t i = 0; i < 3; i++) {
        struct fake_writer writer = make_writer(0);
        wt_toolbank_options options = few_requests();
        wt_generated *made = NULL;
        options.within = kinds[i];
        options.draw = i == 1 ? "near" : "random";
        assert_call_ok(&place, make_toolbank_set(engine, &writer, options, kinds[i], &made));
        assert_toolbank_report(kinds[i], made);
        json_t *report = read_json_file(kinds[i], "report.json");
        const json_t *within = wt__json_object(report, "within");
        if (i == 0)
            assert_int_equal(wt__json_int(within, "provider", -1), made->rows);
        if (i == 1) {
            assert_int_equal(wt__json_int(within, "any", -1), 0);
            assert_true(wt__json_int(within, "category", -1) > 0);
        }
        if (i == 2)
            assert_true(wt__json_int(within, "any", -1) > 0);
        json_decref(report);
        wt_generated_free(made);
    }
    wt_close(engine);
    struct fake_writer writer = make_writer(0);
    wt_toolbank_options options = few_requests();
    wt_generated *made = NULL;
    snprintf(place.store, sizeof place.store, "%s/plain.wt", place.folder);
    engine = open_test_engine(&place, "");
    options.within = "category";
    assert_call_refused(&place, make_toolbank_set(engine, &writer, options, "none", &made), WT_EEMPTY,
                        "the store has no tools");
    add(&place, engine,
        "{\"name\": \"a\", \"description\": \"Adds\"}\n{\"name\": \"b\", \"description\": \"Takes\"}\n"
        "{\"name\": \"c\"}\n");
    assert_call_refused(&place, make_toolbank_set(engine, &writer, options, "none", &made), WT_EEMPTY,
                        "of 3 tools, 1 lack a description or a usable id, 0 are taken out, and no two of the rest "
                        "belong together within category");
    wt_close(engine);
    snprintf(place.store, sizeof place.store, "%s/one.wt", place.folder);
    engine = open_test_engine(&place, "");
    add(&place, engine,
        "{\"provider\": \"p\", \"name\": \"a\", \"description\": \"Adds\"}\n"
        "{\"provider\": \"p\", \"name\": \"b\", \"description\": \"Takes\"}\n");
    options.within = "provider";
    options.unanswerable = 0.2;
    assert_call_refused(&place, make_toolbank_set(engine, &writer, options, "none", &made), WT_EEMPTY,
                        "no provider can be taken out for unanswerable requests: there is only one");
    options.within = "any";
    snprintf(place.store, sizeof place.store, "%s/single.wt", place.folder);
    wt_engine *single = open_test_engine(&place, "");
    add(&place, single, "{\"name\": \"a\", \"description\": \"Adds\"}\n");
    assert_call_refused(
        &place, make_toolbank_set(single, &writer, options, "none", &made), WT_EEMPTY,
        "of 1 tools, 0 lack a description or a usable id, 0 are taken out, and fewer than two are left");
    wt_close(single);
    assert_int_equal(atomic_load(&writer.asked), 0);
    wt_close(engine);
}

/* A share of the tools is taken out of the corpus. The folder none/ has these tools and the requests for them. In the
 * main folder, these requests are judged with 0. */
static void test_unanswerable_requests_are_judged_with_0(void **state)
{
    (void)state;
    wt_engine *engine = open_toolbank_store();
    for (int i = 0; i < 3; i++) {
        static const char *const within[] = {"any", "provider", "any"};
        struct fake_writer writer = make_writer(0);
        wt_toolbank_options options = few_requests();
        wt_generated *made = NULL;
        char folder[16], none[24];
        size_t len, whole;
        snprintf(folder, sizeof folder, "taken-%d", i);
        snprintf(none, sizeof none, "%s/none", folder);
        options.unanswerable = 0.2;
        options.usages = 10;
        options.within = within[i];
        options.one_tool = i == 2;
        assert_call_ok(&place, make_toolbank_set(engine, &writer, options, folder, &made));
        assert_true(made->unanswerable > 10 && made->unanswerable < made->rows / 2);
        assert_true(made->tools <= TOOLS * 4 / 5 && made->tools > TOOLS / 3);
        assert_int_equal(assert_sound_folder(folder, i == 2), made->rows - made->unanswerable);
        assert_int_equal(assert_sound_folder(none, i == 2), made->unanswerable);
        assert_toolbank_report(folder, made);
        struct dataset train = read_set_split(folder, "train"), other = read_set_split(none, "train");
        assert_int_equal(train.barren_queries, other.len);
        wt__dataset_dispose(&train);
        wt__dataset_dispose(&other);
        char *corpus = read_place_file(folder, "corpus.jsonl", &len),
             *out = read_place_file(none, "corpus.jsonl", &whole);
        size_t lines = 0;
        for (const char *at = corpus; (at = strchr(at, '\n')); at++)
            lines++;
        for (const char *at = out; (at = strchr(at, '\n')); at++)
            lines++;
        assert_int_equal(lines, TOOLS);
        free(corpus);
        free(out);
        wt_generated_free(made);
    }
    wt_close(engine);
}

static void test_one_tool_prompt_gives_one_tool_per_request(void **state)
{
    (void)state;
    wt_engine *engine = open_toolbank_store();
    struct fake_writer writer = make_writer(0.1);
    wt_toolbank_options options = few_requests();
    wt_generated *made = NULL;
    options.one_tool = 1;
    options.items = 1000;
    options.usages = 3;
    assert_call_ok(&place, make_toolbank_set(engine, &writer, options, "single", &made));
    assert_int_equal(assert_sound_folder("single", true), made->rows);
    assert_toolbank_report("single", made);
    assert_int_equal(made->questions, atomic_load(&writer.asked));
    json_t *report = read_json_file("single", "report.json");
    assert_int_equal(json_array_size(wt__json_array(report, "stages")), 1); /* no polish */
    assert_true(wt__json_int(wt__json_object(report, "usages"), "least", -1) >= 3);
    json_decref(report);
    wt_generated_free(made);
    wt_close(engine);
}

/* A fake model whose first answers wait until TOGETHER questions have arrived. */
enum { TOGETHER = 12 };
struct waiting_writer {
    struct fake_writer writer;
    struct rendezvous rendezvous;
};

static int answer_together(struct chat_model *model, const struct chat_question *question, struct arena *arena,
                           struct chat_answer *out, wt_error *err)
{
    await_others(&((struct waiting_writer *)model)->rendezvous, TOGETHER);
    return writer_ask(model, question, arena, out, err);
}

static void test_concurrency_does_not_change_data(void **state)
{
    (void)state;
    wt_engine *engine = open_toolbank_store();
    struct fake_writer writer = make_writer(0.1);
    struct waiting_writer patient = {.writer = make_writer(0.1), .rendezvous = RENDEZVOUS_INIT};
    wt_generated *made = NULL;
    patient.writer.model.ask = answer_together;
    patient.writer.model.at_once = TOGETHER;
    writer.model.at_once = 1;
    assert_call_ok(&place, make_toolbank_set(engine, &patient.writer, few_requests(), "together", &made));
    wt_generated_free(made);
    assert_call_ok(&place, make_toolbank_set(engine, &writer, few_requests(), "one-by-one", &made));
    wt_generated_free(made);
    for (size_t i = 0; i < sizeof made_files / sizeof *made_files; i++)
        assert_same_file("together", "one-by-one", made_files[i]);
    wt_close(engine);
}

/* A fake model that counts the examples in its prompts. shown: examples of write_people_set(); others: all other
 * examples. */
struct prompt_watcher {
    struct fake_writer writer;
    atomic_ulong shown, others;
};

static int watch_prompt(struct chat_model *model, const struct chat_question *question, struct arena *arena,
                        struct chat_answer *out, wt_error *err)
{
    struct prompt_watcher *reader = (struct prompt_watcher *)model;
    struct str items[8];
    size_t count = writer_items(question->text, "examples", items, 8);
    for (size_t i = 0; i < count; i++) {
        bool ours = contains_part(items[i], "\"instruction\": \"Tally ");
        atomic_fetch_add(ours ? &reader->shown : &reader->others, 1);
    }
    return writer_ask(model, question, arena, out, err);
}

/* Writes a data set as if written by people, and returns its folder in path. Three requests have two tools, or one if
 * `several` is false. A fourth has one tool, a fifth six. */
static const char *write_people_set(char path[256], bool several)
{
    snprintf(path, 256, "%s/%s", place.folder, several ? "people" : "people-of-one");
    char name[300];
    struct buffer queries = {0}, qrels = {0};
    for (int i = 0; i < 5; i++) {
        int tools = i == 3 ? 1 : i == 4 ? 6 : several ? 2 : 1;
        wt__buffer_printf(&queries, "{\"_id\": \"q%d\", \"text\": \"%s the sheep of field %d\"}\n", i,
                          tools == 2 ? "Tally" : "Shear", i);
        for (int t = 0; t < tools; t++)
            wt__buffer_printf(&qrels, "q%d\tt%d\t1\n", i, t);
        wt__buffer_printf(&qrels, "q%d\tt9\t0\n", i);
    }
    snprintf(name, sizeof name, "%s/qrels", path);
    assert_call_ok(&place, wt__make_folders(name, &place.err));
    snprintf(name, sizeof name, "%s/queries.jsonl", path);
    assert_call_ok(&place, wt__file_replace(name, queries.ptr, queries.len, &place.err));
    snprintf(name, sizeof name, "%s/qrels/train.tsv", path);
    assert_call_ok(&place, wt__file_replace(name, qrels.ptr, qrels.len, &place.err));
    snprintf(name, sizeof name, "%s/corpus.jsonl", path);
    const char *corpus = "{\"_id\": \"t0\", \"title\": \"count\"}\n{\"_id\": \"t1\"}\n";
    assert_call_ok(&place, wt__file_replace(name, corpus, strlen(corpus), &place.err));
    wt__buffer_dispose(&queries);
    wt__buffer_dispose(&qrels);
    return path;
}

static void test_prompts_show_examples_written_by_people(void **state)
{
    (void)state;
    char path[256];
    wt_engine *engine = open_toolbank_store();
    struct prompt_watcher reader = {.writer = make_writer(0)};
    wt_toolbank_options options = few_requests();
    wt_generated *made = NULL;
    reader.writer.model.ask = watch_prompt;
    options.like = write_people_set(path, true);
    options.no_polish = 1;
    assert_call_ok(&place, make_toolbank_set(engine, &reader.writer, options, "like", &made));
    assert_int_equal(atomic_load(&reader.shown), 3 * made->questions); /* only three requests have 2 to 5 tools */
    assert_int_equal(atomic_load(&reader.others), 0);
    assert_int_equal(assert_sound_folder("like", false), made->rows);
    wt_generated_free(made);
    options.like = NULL;
    assert_call_refused(&place, make_toolbank_set(engine, &reader.writer, options, "like", &made), WT_EINVAL,
                        "begun with other options");
    options.like = write_people_set(path, false);
    assert_call_refused(&place, make_toolbank_set(engine, &reader.writer, options, "none", &made), WT_EEMPTY,
                        "has no train request with 2 to 5 tools");
    options.like = "/nowhere";
    assert_call_refused(&place, make_toolbank_set(engine, &reader.writer, options, "none", &made), WT_ENOTFOUND,
                        "/nowhere");
    options.one_tool = 1;
    assert_call_refused(&place, make_toolbank_set(engine, &reader.writer, options, "none", &made), WT_EINVAL,
                        "leave out either");
    wt_close(engine);
}

/* A request is dropped if a search for it does not find its tools, or if the search ranks a near-duplicate of a tool
 * above the tool. */
static void test_round_trip_drops_unfound_requests(void **state)
{
    (void)state;
    wt_engine *engine = open_toolbank_store();
    struct fake_writer writer = make_writer(0);
    wt_toolbank_options options = few_requests();
    wt_generated *made = NULL;
    options.no_polish = 1;
    options.round_trip = 10;
    writer.describes = true;
    assert_call_ok(&place, make_toolbank_set(engine, &writer, options, "found", &made));
    const size_t rows = made->rows;
    assert_true(rows > 30);
    assert_toolbank_report("found", made);
    wt_generated_free(made);
    writer.describes = false;
    options.items = 100;
    int rc = make_toolbank_set(engine, &writer, options, "lost", &made);
    if (rc == 0)
        assert_true(made->rows < rows / 2);
    wt_generated_free(made);
    assert_true(count_refused_as("lost", "not_found_again") > 50);
    add(&place, engine,
        "{\"provider\": \"Copy\", \"name\": \"Finder_Harvest_too\", \"category\": \"Home\", "
        "\"description\": \"Gives the Finder of every Harvest by city\"}\n");
    writer.describes = true;
    options.usages = 8;
    options.items = 300;
    assert_call_ok(&place, make_toolbank_set(engine, &writer, options, "twins", &made));
    assert_true(count_refused_as("twins", "near_twin") > 0);
    wt_generated_free(made);
    options.recipe = "no such recipe";
    assert_call_refused(&place, make_toolbank_set(engine, &writer, options, "bad", &made), WT_ERECIPE,
                        "no such recipe");
    wt_close(engine);
}

static void test_invalid_toolbank_options_are_refused(void **state)
{
    static const struct {
        wt_toolbank_options options;
        const char *says;
    } rows[] = {
        {{.items = 200001}, "items must be 0 to 200000, not 200001"},
        {{.usages = 1001}, "usages of a tool must be 0 to 1000, not 1001"},
        {{.examples = 6}, "examples of a prompt must be 1 to 5, not 6"},
        {{.draw = "far"}, "the draw must be random or near, not \"far\""},
        {{.within = "house"}, "within must be any or category, not \"house\""},
        {{.unanswerable = 0.6}, "the share of unanswerable requests must be at most 0.5, not 0.6"},
        {{.dev = 0.5, .test = 0.5}, "nothing is left to train on"},
        {{.duplicate = 3}, "cosine of duplicates must be at most 2, not 3"},
        {{.temperature = 2.5}, "the temperature must be at most 2, not 2.5"},
        {{.temperature = -1}, "must not be negative"},
        {{.round_trip = 1001}, "hits of the round trip must be 0 to 1000, not 1001"},
        {{.trial = 1001}, "answers of the trial must be 1 to 1000, not 1001"},
        {{.trial_limit = 1.5}, "the limit of a trial must be at most 1, not 1.5"},
        {{.out = NULL}, "name a folder"},
    };
    (void)state;
    wt_engine *engine = open_toolbank_store();
    struct fake_writer writer = make_writer(0);
    wt_generated *made = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        wt_toolbank_options options = rows[i].options;
        options.size = sizeof options;
        options.out = i + 1 < sizeof rows / sizeof *rows ? place.folder : NULL;
        assert_call_refused(&place, wt__generate_toolbank(engine, &writer.model, &options, &made, &place.err),
                            WT_EINVAL, rows[i].says);
    }
    char path[256];
    snprintf(path, sizeof path, "%s/foreign", place.folder);
    assert_call_ok(&place, wt__make_folders(path, &place.err));
    snprintf(path, sizeof path, "%s/foreign/queries.jsonl", place.folder);
    assert_call_ok(&place, wt__file_replace(path, "mine\n", 5, &place.err));
    assert_call_refused(&place, make_toolbank_set(engine, &writer, few_requests(), "foreign", &made), WT_EINVAL,
                        "was not written by a run of this command");
    wt_toolbank_options options = few_requests();
    options.out = "x";
    assert_call_refused(&place, wt_generate_toolbank(engine, &options, &made, &place.err), WT_EINVAL, "");
    assert_call_refused(&place, wt_generate_toolbank(NULL, &options, &made, &place.err), WT_EINVAL,
                        "an engine is needed");
    options.size = 0;
    assert_call_refused(&place, wt_generate_toolbank(engine, &options, &made, &place.err), WT_EINVAL, "_init");
    wt_close(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_toolbank_data_is_valid_at_any_error_rate, set_up_place, tear_down_place),
        cmocka_unit_test_setup_teardown(test_run_ends_when_each_tool_has_its_usages, set_up_place, tear_down_place),
        cmocka_unit_test_setup_teardown(test_trial_refuses_bad_models, set_up_place, tear_down_place),
        cmocka_unit_test_setup_teardown(test_stopped_toolbank_continues_to_same_bytes, set_up_place, tear_down_place),
        cmocka_unit_test_setup_teardown(test_tools_of_request_belong_together, set_up_place, tear_down_place),
        cmocka_unit_test_setup_teardown(test_unanswerable_requests_are_judged_with_0, set_up_place, tear_down_place),
        cmocka_unit_test_setup_teardown(test_one_tool_prompt_gives_one_tool_per_request, set_up_place, tear_down_place),
        cmocka_unit_test_setup_teardown(test_concurrency_does_not_change_data, set_up_place, tear_down_place),
        cmocka_unit_test_setup_teardown(test_prompts_show_examples_written_by_people, set_up_place, tear_down_place),
        cmocka_unit_test_setup_teardown(test_round_trip_drops_unfound_requests, set_up_place, tear_down_place),
        cmocka_unit_test_setup_teardown(test_invalid_toolbank_options_are_refused, set_up_place, tear_down_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
