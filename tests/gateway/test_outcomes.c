/* Tests the recording of usages. A row has the actions of clients and the expected usages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gateway/internal.h"
#include "gateway/engine_with_servers.h"

static const char catalogue[] = "[{\"provider\":\"k\",\"name\":\"tea\",\"description\":\"Boils tea\"},"
                                "{\"provider\":\"k\",\"name\":\"toast\",\"description\":\"Roasts toast\"},"
                                "{\"provider\":\"k\",\"name\":\"lamp\",\"description\":\"Switches a lamp\"}]";

enum { EVENTS = 5 };

static const struct {
    const char *name;
    struct {
        const char *client, *search, *call; /* either search or call */
        bool failed;
    } events[EVENTS];
    const char *usages; /* expected export without times */
} rows[] = {
    {"a call of a found tool is recorded",
     {{"c", "boil tea", NULL, false}, {"c", NULL, "k/tea", false}},
     "{\"request\":\"boil tea\",\"tools\":[\"k/tea\"],\"outcome\":\"ok\",\"client\":\"c\"}\n"},
    {"a search without a call is not recorded", {{"c", "boil tea", NULL, false}}, ""},
    {"a call of a tool that was not found is not recorded",
     {{"c", "boil tea", NULL, false}, {"c", NULL, "k/lamp", false}},
     ""},
    {"a call without a search is not recorded", {{"c", NULL, "k/tea", false}}, ""},
    {"a failed call is recorded as failed",
     {{"c", "boil tea", NULL, false}, {"c", NULL, "k/tea", true}},
     "{\"request\":\"boil tea\",\"tools\":[\"k/tea\"],\"outcome\":\"failed\",\"client\":\"c\"}\n"},
    {"a failed call and then a successful one are recorded as ok",
     {{"c", "boil tea", NULL, false}, {"c", NULL, "k/tea", true}, {"c", NULL, "k/tea", false}},
     "{\"request\":\"boil tea\",\"tools\":[\"k/tea\"],\"outcome\":\"ok\",\"client\":\"c\"}\n"},
    {"two calls after one search are recorded as one usage",
     {{"c", "tea toast", NULL, false}, {"c", NULL, "k/toast", false}, {"c", NULL, "k/tea", true}},
     "{\"request\":\"tea toast\",\"tools\":[\"k/tea\",\"k/toast\"],\"outcome\":\"ok\",\"client\":\"c\"}\n"},
    {"a new search ends the previous one",
     {{"c", "boil tea", NULL, false},
      {"c", NULL, "k/tea", false},
      {"c", "roast toast", NULL, false},
      {"c", NULL, "k/tea", false}},
     "{\"request\":\"boil tea\",\"tools\":[\"k/tea\"],\"outcome\":\"ok\",\"client\":\"c\"}\n"},
    {"a call counts only for the search of its own client",
     {{"c", "boil tea", NULL, false},
      {"d", "roast toast", NULL, false},
      {"d", NULL, "k/tea", false},
      {"c", NULL, "k/tea", false}},
     "{\"request\":\"boil tea\",\"tools\":[\"k/tea\"],\"outcome\":\"ok\",\"client\":\"c\"}\n"},
    {"a client without a key is recorded as local",
     {{"", "boil tea", NULL, false}, {"", NULL, "k/tea", false}},
     "{\"request\":\"boil tea\",\"tools\":[\"k/tea\"],\"outcome\":\"ok\",\"client\":\"local\"}\n"},
};

static wt_engine *open_usage_catalogue(void)
{
    wt_engine *engine = open_engine();
    wt_add_report *report = NULL;
    SOUND(wt_add(engine, catalogue, sizeof catalogue - 1, NULL, &report, &err));
    wt_add_report_free(report);
    return engine;
}

static int gather_usage(void *context, const char *bytes, size_t len)
{
    wt__buffer_append(context, bytes, len);
    return 0;
}

/* Returns the export without times, freed by the caller. */
static char *export_usages(wt_engine *engine)
{
    struct buffer lines = {0};
    SOUND(wt_export_usage(engine, NULL, gather_usage, &lines, &err));
    char *text = calloc(lines.len + 1, 1);
    size_t len = 0;
    assert_non_null(text);
    for (const char *at = lines.ptr; at && *at; at++) {
        if (strncmp(at, ",\"time\":\"", 9) == 0)
            at = strchr(at + 9, '"') + 1;
        text[len++] = *at;
    }
    wt__buffer_dispose(&lines);
    return text;
}

static void search_as_client(wt_engine *engine, struct outcomes *outcomes, const char *client, const char *request)
{
    wt_hits *hits = NULL;
    SOUND(wt_find(engine, request, strlen(request), NULL, &hits, &err));
    wt__outcomes_record_search(outcomes, &(struct outcome_client){client, ""}, wt__str(request), hits);
    wt_hits_free(hits);
}

static void records_calls_after_a_search(void **state)
{
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        wt_engine *engine = open_usage_catalogue();
        struct outcomes *outcomes;
        SOUND(wt__outcomes_open(&outcomes, engine, NULL, &err));
        for (size_t e = 0; e < EVENTS && rows[r].events[e].client; e++) {
            if (rows[r].events[e].search)
                search_as_client(engine, outcomes, rows[r].events[e].client, rows[r].events[e].search);
            else
                wt__outcomes_record_call(outcomes, &(struct outcome_client){rows[r].events[e].client, ""},
                                         rows[r].events[e].call, !rows[r].events[e].failed);
            wt__outcomes_sweep(outcomes); /* no client has been idle long enough */
        }
        wt__outcomes_close(outcomes);
        char *usages = export_usages(engine);
        if (strcmp(usages, rows[r].usages) != 0)
            fail_msg("%s: %s", rows[r].name, usages);
        free(usages);
        wt_close(engine);
    }
}

static void ignores_long_requests(void **state)
{
    (void)state;
    wt_engine *engine = open_usage_catalogue();
    struct outcomes *outcomes;
    struct buffer request = {0};
    while (request.len <= OUTCOME_REQUEST_BYTES_MAX)
        wt__buffer_text(&request, "boil tea ");
    SOUND(wt__outcomes_open(&outcomes, engine, NULL, &err));
    search_as_client(engine, outcomes, "c", request.ptr);
    wt__outcomes_record_call(outcomes, &(struct outcome_client){"c", ""}, "k/tea", true);
    wt__outcomes_close(outcomes);
    char *usages = export_usages(engine);
    assert_string_equal(usages, "");
    free(usages);
    wt__buffer_dispose(&request);
    wt_close(engine);
}

static void does_nothing_without_a_recorder(void **state)
{
    (void)state;
    wt__outcomes_record_search(NULL, &(struct outcome_client){"c", ""}, STR("boil tea"), NULL);
    wt__outcomes_record_call(NULL, &(struct outcome_client){"c", ""}, "k/tea", true);
    wt__outcomes_sweep(NULL);
    wt__outcomes_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_calls_after_a_search),
        cmocka_unit_test(ignores_long_requests),
        cmocka_unit_test(does_nothing_without_a_recorder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
