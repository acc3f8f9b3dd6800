/* Tests the usage log: acknowledged usages are on disk, each usage has its own result, and clients have limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "store/internal.h"
#include "engine/set_up.h"
#include "serve/usage_log.h"

enum { NEVER_MS = 3600 * 1000, THREADS = 4, REPORTS = 50 };

/* Result of a batch. */
struct batch_answer {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int times; /* number of results received */
    int rc;    /* code of the last result; 1 before the first */
    char why[200];
    size_t count;
    struct reported_usage usages[8];
};

static void init_answer(struct batch_answer *answer)
{
    *answer = (struct batch_answer){.rc = 1};
    pthread_mutex_init(&answer->lock, NULL);
    pthread_cond_init(&answer->changed, NULL);
}

static void keep_answer(void *context, int rc, const char *why, struct reported_usage *const *usages, size_t count)
{
    struct batch_answer *answer = context;
    pthread_mutex_lock(&answer->lock);
    answer->times++;
    answer->rc = rc;
    snprintf(answer->why, sizeof answer->why, "%s", why);
    answer->count = count;
    for (size_t i = 0; i < count && i < sizeof answer->usages / sizeof *answer->usages; i++)
        answer->usages[i] = *usages[i];
    pthread_cond_broadcast(&answer->changed);
    pthread_mutex_unlock(&answer->lock);
}

static void wait_for_answer(struct batch_answer *answer)
{
    pthread_mutex_lock(&answer->lock);
    while (answer->times == 0)
        pthread_cond_wait(&answer->changed, &answer->lock);
    pthread_mutex_unlock(&answer->lock);
}

static wt_engine *open_handmade_store(const char *model)
{
    unlink(place.store);
    wt_engine *engine = open_test_engine(&place, model);
    add(&place, engine, handmade);
    return engine;
}

static struct usage_log *open_log(wt_engine *engine, const struct usage_log_options *options)
{
    struct usage_log *log;
    assert_call_ok(&place, wt__usage_log_open(&log, engine, options, &place.err));
    return log;
}

static int report_batch_of(struct usage_log *log, const char *client, const char *id, const char *lines,
                           struct batch_answer *answer, unsigned *retry_ms)
{
    struct usage_batch batch = {wt__str(client), wt__str(id), wt__str(lines)};
    return wt__usage_log_report(log, &batch, keep_answer, answer, retry_ms, &place.err);
}

/* Reports a batch and waits for its result. */
static struct batch_answer *report_and_wait(struct usage_log *log, const char *client, const char *id,
                                            const char *lines)
{
    static struct batch_answer answer;
    unsigned retry_ms;
    init_answer(&answer);
    assert_call_ok(&place, report_batch_of(log, client, id, lines, &answer, &retry_ms));
    wait_for_answer(&answer);
    assert_int_equal(answer.times, 1);
    return &answer;
}

static uint64_t count_recorded(wt_engine *engine)
{
    wt_usage_info info;
    wt_usage_info_init(&info);
    assert_call_ok(&place, wt_get_usage_info(engine, &info, &place.err));
    return info.usages;
}

#define RAIN "{\"request\":\"rain?\",\"tools\":[\"weather/getForecast\"]}\n"
#define SUM "{\"request\":\"add two numbers\",\"tools\":[\"calculator\"]}\n"

/* ---------------------------------------------------------------- recording */

static void test_each_usage_of_a_batch_has_its_own_result(void **state)
{
    (void)state;
    wt_engine *engine = open_handmade_store("");
    struct usage_log *log = open_log(engine, NULL);
    struct batch_answer *answer = report_and_wait(log, "c1", NULL,
                                                  RAIN "{\"request\":\n\n"
                                                       "{\"request\":\"x\",\"tools\":[\"nobody\"]}\n"
                                                       "{\"request\":\"x\",\"tools\":[\"nobody\",\"calculator\"]}\n"
                                                       "{\"request\":\"\",\"tools\":[\"calculator\"]}\n" SUM);
    static const struct {
        int code;
        size_t unknown;
        const char *message;
    } rows[] = {
        {0, 0, ""},
        {WT_EFORMAT, 0, "not valid JSON"},
        {WT_EFORMAT, 0, "no tool is named \"nobody\""},
        {0, 1, "no tool is named \"nobody\""},
        {WT_EFORMAT, 0, "the request is empty"},
        {0, 0, ""},
    };
    assert_int_equal(answer->rc, 0);
    assert_int_equal(answer->count, sizeof rows / sizeof *rows);
    for (size_t i = 0; i < answer->count; i++) {
        assert_int_equal(answer->usages[i].code, rows[i].code);
        assert_int_equal(answer->usages[i].unknown_tools, rows[i].unknown);
        if (!strstr(answer->usages[i].message, rows[i].message) || !*rows[i].message != !*answer->usages[i].message)
            fail_msg("usage %zu: %s", i, answer->usages[i].message);
    }
    assert_int_equal(count_recorded(engine), 3);
    struct usage_log_counts counts;
    wt__usage_log_count(log, &counts);
    assert_int_equal(counts.added, 3);
    assert_int_equal(counts.bad, 3);
    assert_int_equal(counts.queued, 0);
    wt__usage_log_close(log);
    wt_close(engine);
}

static void test_usages_are_recorded_for_the_client_of_the_batch(void **state)
{
    (void)state;
    wt_engine *engine = open_handmade_store("");
    struct usage_log *log = open_log(engine, NULL);
    report_and_wait(log, "c1", NULL, "{\"request\":\"rain?\",\"tools\":[\"calculator\"],\"client\":\"somebody else\"}");
    wt__usage_log_close(log);
    wt_usages *usages;
    assert_call_ok(&place, wt_list_usage(engine, NULL, &usages, &place.err));
    assert_int_equal(usages->len, 1);
    assert_string_equal(usages->items[0]->client, "c1");
    wt_usages_free(usages);
    wt_close(engine);
}

static void test_a_repeated_batch_is_not_recorded_again(void **state)
{
    (void)state;
    wt_engine *engine = open_handmade_store("");
    struct usage_log *log = open_log(engine, &(struct usage_log_options){.commit_ms = 1});
    assert_int_equal(report_and_wait(log, "c1", "b1", RAIN SUM)->usages[1].fate, USAGE_ADDED);
    assert_int_equal(report_and_wait(log, "c1", "b1", RAIN SUM)->usages[1].fate, USAGE_REPEATED);
    wt__usage_log_close(log);
    wt_close(engine);
    engine = open_test_engine(&place, ""); /* the batch id is still known after a restart */
    log = open_log(engine, &(struct usage_log_options){.commit_ms = 1});
    struct batch_answer *answer = report_and_wait(log, "c1", "b1", RAIN SUM SUM);
    assert_int_equal(answer->usages[0].fate, USAGE_REPEATED);
    assert_int_equal(answer->usages[2].fate, USAGE_ADDED);
    assert_int_equal(report_and_wait(log, "c2", "b1", RAIN)->usages[0].fate,
                     USAGE_ADDED); /* ids are separate for each client */
    assert_int_equal(report_and_wait(log, "c2", NULL, RAIN)->usages[0].fate, USAGE_ADDED);
    assert_int_equal(count_recorded(engine), 5);
    wt__usage_log_close(log);
    wt_close(engine);
}

static void test_an_outcome_can_be_reported_later(void **state)
{
    (void)state;
    wt_engine *engine = open_handmade_store("");
    struct usage_log *log = open_log(engine, &(struct usage_log_options){.commit_ms = 1});
    report_and_wait(log, "c1", NULL, "{\"request\":\"rain?\",\"tools\":[\"calculator\"],\"key\":\"k\"}");
    struct batch_answer *answer =
        report_and_wait(log, "c1", NULL,
                        "{\"key\":\"k\",\"outcome\":\"failed\"}\n{\"key\":\"k\",\"outcome\":\"failed\"}\n"
                        "{\"key\":\"l\",\"outcome\":\"failed\"}\n{\"key\":\"k\",\"outcome\":\"perhaps\"}");
    assert_int_equal(answer->usages[0].fate, USAGE_CHANGED);
    assert_int_equal(answer->usages[1].fate, USAGE_REPEATED);
    assert_int_equal(answer->usages[2].fate, USAGE_MISSING);
    assert_int_equal(answer->usages[3].code, WT_EFORMAT);
    assert_int_equal(report_and_wait(log, "c2", NULL, "{\"key\":\"k\",\"outcome\":\"ok\"}")->usages[0].fate,
                     USAGE_MISSING);
    wt__usage_log_close(log);
    wt_usages *usages;
    assert_call_ok(&place, wt_list_usage(engine, NULL, &usages, &place.err));
    assert_int_equal(usages->len, 1);
    assert_string_equal(usages->items[0]->outcome, "failed");
    assert_string_equal(usages->items[0]->key, "k");
    wt_usages_free(usages);
    wt_close(engine);
}

/* ---------------------------------------------------------------- groups */

struct reporter {
    struct usage_log *log;
    struct batch_answer answers[REPORTS];
    int number;
};

static void *report_many(void *context)
{
    struct reporter *reporter = context;
    for (int i = 0; i < REPORTS; i++) {
        char lines[200];
        unsigned retry_ms;
        wt_error err;
        init_answer(&reporter->answers[i]);
        snprintf(lines, sizeof lines, "{\"request\":\"request %d\",\"tools\":[\"calculator\"]}", i);
        struct usage_batch batch = {wt__str(reporter->number % 2 ? "odd" : "even"), STR(""), wt__str(lines)};
        if (wt__usage_log_report(reporter->log, &batch, keep_answer, &reporter->answers[i], &retry_ms, &err) < 0)
            reporter->answers[i].rc = 2;
    }
    return NULL;
}

/* The first batch is written at once. The others arrive before the next transaction is due. They form one group, which
 * the close writes. */
static void test_usages_of_many_threads_are_written_in_groups(void **state)
{
    (void)state;
    static struct reporter reporters[THREADS];
    pthread_t threads[THREADS];
    wt_engine *engine = open_handmade_store("");
    struct usage_log *log = open_log(engine, &(struct usage_log_options){.commit_ms = NEVER_MS});
    report_and_wait(log, "first", NULL, RAIN);
    for (int t = 0; t < THREADS; t++) {
        reporters[t].log = log;
        reporters[t].number = t;
        assert_int_equal(pthread_create(&threads[t], NULL, report_many, &reporters[t]), 0);
    }
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    struct usage_log_counts counts;
    wt__usage_log_count(log, &counts);
    assert_int_equal(counts.commits, 1);
    assert_int_equal(counts.queued, THREADS * REPORTS);
    assert_int_equal(count_recorded(engine), 1);
    wt__usage_log_close(log);
    for (int t = 0; t < THREADS; t++)
        for (int i = 0; i < REPORTS; i++) {
            assert_int_equal(reporters[t].answers[i].rc, 0);
            assert_int_equal(reporters[t].answers[i].times, 1);
        }
    assert_int_equal(count_recorded(engine), 1 + THREADS * REPORTS);
    wt_close(engine);
}

static void test_a_failed_write_is_reported_to_the_group(void **state)
{
    (void)state;
    wt_engine *engine = open_handmade_store("");
    wt_close(engine);
    wt_open_options options;
    wt_open_options_init(&options);
    options.model = "";
    options.busy_ms = 1;
    assert_call_ok(&place, wt_open(&engine, place.store, &options, &place.err));
    struct usage_log *log = open_log(engine, &(struct usage_log_options){.commit_ms = 1, .no_learning = true});
    struct store *other;
    assert_call_ok(&place, wt__store_open(&other, place.store, NULL, &place.err));
    assert_call_ok(&place, wt__sql_begin(other, &place.err));
    struct batch_answer *answer = report_and_wait(log, "c1", "b1", RAIN);
    assert_int_equal(answer->rc, WT_EBUSY);
    assert_int_equal(answer->count, 0);
    assert_non_null(strstr(answer->why, "another process kept the store locked"));
    assert_int_equal(wt__sql_end(other, WT_ECANCELLED, NULL), WT_ECANCELLED);
    wt__store_close(other);
    assert_int_equal(report_and_wait(log, "c1", "b1", RAIN)->usages[0].fate, USAGE_ADDED);
    struct usage_log_counts counts;
    wt__usage_log_count(log, &counts);
    assert_int_equal(counts.failed, 1);
    wt__usage_log_close(log);
    wt_close(engine);
}

/* ---------------------------------------------------------------- limits */

static char *many_lines(size_t count)
{
    struct buffer lines = {0};
    for (size_t i = 0; i < count; i++)
        wt__buffer_text(&lines, SUM);
    return wt__buffer_take(&lines);
}

static void test_invalid_batches_are_refused(void **state)
{
    (void)state;
    wt_engine *engine = open_handmade_store("");
    struct usage_log *log = open_log(engine, &(struct usage_log_options){.client_burst = 10});
    char long_name[WT_MAX_CLIENT_BYTES + 2], *long_batch = many_lines(USAGE_LOG_BATCH_USAGES_MAX + 1);
    char *big = malloc(USAGE_LOG_BATCH_BYTES_MAX + 2);
    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    memset(big, ' ', USAGE_LOG_BATCH_BYTES_MAX + 1);
    big[USAGE_LOG_BATCH_BYTES_MAX + 1] = '\0';
    const struct {
        const char *client, *id, *lines;
        int code;
        const char *sentence;
    } rows[] = {
        {"", "", RAIN, WT_EINVAL, "the batch has no client name"},
        {long_name, "", RAIN, WT_ETOOLONG, "the client has 257 bytes; at most 256"},
        {"\xff", "", RAIN, WT_EFORMAT, "the client is not valid UTF-8"},
        {"c", "\xff", RAIN, WT_EFORMAT, "the key is not valid UTF-8"},
        {"c", long_name + WT_MAX_CLIENT_BYTES - USAGE_LOG_BATCH_ID_BYTES_MAX, RAIN, WT_ETOOLONG,
         "the batch id has 101 bytes; at most 100"},
        {"c", "", " \n\n", WT_EINVAL, "the batch is empty"},
        {"c", "", big, WT_ETOOLONG, "bytes; at most 4194304 are allowed"},
        {"c", "", long_batch, WT_ETOOLONG, "the batch has 1001 usages; at most 1000 are allowed"},
        {"c", "", long_batch + strlen(SUM) * (USAGE_LOG_BATCH_USAGES_MAX - 10), WT_ETOOLONG,
         "the batch has 11 usages; a client may report 10 at once"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct batch_answer answer;
        unsigned retry_ms = 1;
        init_answer(&answer);
        place.err = (wt_error){0};
        assert_call_refused(&place, report_batch_of(log, rows[i].client, rows[i].id, rows[i].lines, &answer, &retry_ms),
                            rows[i].code, rows[i].sentence);
        assert_int_equal(retry_ms, 0);
        assert_int_equal(answer.times, 0);
    }
    free(long_batch);
    free(big);
    wt__usage_log_close(log);
    assert_int_equal(count_recorded(engine), 0);
    wt_close(engine);
}

static void test_the_rate_limit_applies_to_each_client_alone(void **state)
{
    (void)state;
    wt_engine *engine = open_handmade_store("");
    struct usage_log *log =
        open_log(engine, &(struct usage_log_options){.commit_ms = 1, .client_a_minute = 1, .client_burst = 3});
    struct batch_answer answer;
    unsigned retry_ms;
    init_answer(&answer);
    report_and_wait(log, "greedy", NULL, RAIN SUM);
    assert_call_refused(&place, report_batch_of(log, "greedy", NULL, RAIN SUM, &answer, &retry_ms), WT_EBUSY,
                        "the client reports more than 1 usages a minute; try again in");
    assert_in_range(retry_ms, 1, 60001);
    report_and_wait(log, "greedy", NULL, RAIN); /* uses the last token */
    report_and_wait(log, "modest", NULL, RAIN SUM);
    struct usage_log_counts counts;
    wt__usage_log_count(log, &counts);
    assert_int_equal(counts.refused_client, 2);
    assert_int_equal(counts.added, 5);
    wt__usage_log_close(log);
    assert_int_equal(answer.times, 0);
    wt_close(engine);
}

static void test_a_full_queue_refuses_reports_and_close_writes_it(void **state)
{
    (void)state;
    wt_engine *engine = open_handmade_store("");
    struct usage_log *log =
        open_log(engine, &(struct usage_log_options){.commit_ms = NEVER_MS, .client_burst = 2 * USAGE_LOG_QUEUED_MAX});
    static struct batch_answer answers[USAGE_LOG_QUEUED_MAX / USAGE_LOG_BATCH_USAGES_MAX + 1];
    char *lines = many_lines(USAGE_LOG_BATCH_USAGES_MAX);
    size_t last = sizeof answers / sizeof *answers - 1;
    unsigned retry_ms;
    report_and_wait(log, "first", NULL, RAIN);
    for (size_t i = 0; i <= last; i++)
        init_answer(&answers[i]);
    for (size_t i = 0; i < last; i++)
        assert_call_ok(&place, report_batch_of(log, "c", NULL, lines, &answers[i], &retry_ms));
    assert_call_refused(&place, report_batch_of(log, "c", NULL, RAIN, &answers[last], &retry_ms), WT_EBUSY,
                        "10000 usages are waiting to be written; try again");
    assert_int_equal(retry_ms, NEVER_MS);
    wt__usage_log_close(log);
    for (size_t i = 0; i < last; i++)
        assert_int_equal(answers[i].rc, 0);
    assert_int_equal(answers[last].times, 0);
    assert_int_equal(count_recorded(engine), 1 + USAGE_LOG_QUEUED_MAX);
    free(lines);
    wt_close(engine);
}

static void ignore_result(void *context, int rc, const char *why, struct reported_usage *const *usages, size_t count)
{
    (void)context, (void)rc, (void)why, (void)usages, (void)count;
}

static void report_as(struct usage_log *log, size_t number, int code)
{
    char name[32];
    unsigned retry_ms;
    snprintf(name, sizeof name, "client %zu", number);
    struct usage_batch batch = {wt__str(name), STR(""), STR("{}")};
    place.err = (wt_error){0};
    int rc = wt__usage_log_report(log, &batch, ignore_result, NULL, &retry_ms, &place.err);
    if (code)
        assert_call_refused(&place, rc, code, "clients are reporting usages");
    else
        assert_call_ok(&place, rc);
}

/* The number of token buckets is limited. A full bucket is dropped to make room for a new client. */
static void test_full_token_buckets_are_dropped(void **state)
{
    (void)state;
    wt_engine *engine = open_handmade_store("");
    struct usage_log *log = open_log(engine, &(struct usage_log_options){.commit_ms = 1, .client_a_minute = 1});
    for (size_t i = 0; i < USAGE_LOG_CLIENTS_MAX; i++) {
        struct usage_log_counts counts = {.queued = USAGE_LOG_QUEUED_MAX};
        report_as(log, i, 0);
        while (i % 1000 == 999 && counts.queued > 0)
            wt__usage_log_count(log, &counts);
    }
    report_as(log, USAGE_LOG_CLIENTS_MAX, WT_EBUSY);
    wt__usage_log_close(log);
    log = open_log(engine, &(struct usage_log_options){.commit_ms = 1, .client_a_minute = 60000000});
    for (size_t i = 0; i < USAGE_LOG_CLIENTS_MAX + 1; i++) {
        struct usage_log_counts counts = {.queued = USAGE_LOG_QUEUED_MAX};
        report_as(log, i, 0);
        while (i % 1000 == 999 && counts.queued > 0)
            wt__usage_log_count(log, &counts);
    }
    wt__usage_log_close(log);
    wt_close(engine);
}

/* ---------------------------------------------------------------- learning */

static void test_recorded_usages_are_learned_in_the_background(void **state)
{
    (void)state;
    wt_engine *engine = open_handmade_store(NULL);
    struct usage_log *log = open_log(engine, &(struct usage_log_options){.commit_ms = 1, .learn_ms = 1});
    report_and_wait(log, "c1", NULL, RAIN SUM);
    struct usage_log_counts counts = {0};
    while (counts.learned < 2) {
        usleep(1000);
        wt__usage_log_count(log, &counts);
    }
    wt__usage_log_close(log);
    wt_usage_info info;
    wt_usage_info_init(&info);
    assert_call_ok(&place, wt_get_usage_info(engine, &info, &place.err));
    assert_int_equal(info.pending, 0);
    wt_close(engine);
}

static void test_a_read_only_store_cannot_have_a_usage_log(void **state)
{
    (void)state;
    wt_close(open_handmade_store(""));
    wt_engine *engine;
    wt_open_options options;
    struct usage_log *log;
    wt_open_options_init(&options);
    options.model = "";
    options.read_only = 1;
    assert_call_ok(&place, wt_open(&engine, place.store, &options, &place.err));
    assert_call_refused(&place, wt__usage_log_open(&log, engine, NULL, &place.err), WT_EREADONLY,
                        "usages cannot be recorded");
    assert_null(log);
    wt__usage_log_close(log);
    wt_close(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_usage_of_a_batch_has_its_own_result),
        cmocka_unit_test(test_usages_are_recorded_for_the_client_of_the_batch),
        cmocka_unit_test(test_a_repeated_batch_is_not_recorded_again),
        cmocka_unit_test(test_an_outcome_can_be_reported_later),
        cmocka_unit_test(test_usages_of_many_threads_are_written_in_groups),
        cmocka_unit_test(test_a_failed_write_is_reported_to_the_group),
        cmocka_unit_test(test_invalid_batches_are_refused),
        cmocka_unit_test(test_the_rate_limit_applies_to_each_client_alone),
        cmocka_unit_test(test_a_full_queue_refuses_reports_and_close_writes_it),
        cmocka_unit_test(test_full_token_buckets_are_dropped),
        cmocka_unit_test(test_recorded_usages_are_learned_in_the_background),
        cmocka_unit_test(test_a_read_only_store_cannot_have_a_usage_log),
    };
    return cmocka_run_group_tests(tests, set_up_place, tear_down_place);
}
