/* wt_json: each verb with a result and with its errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "whichtool.h"

/* Rows run in order on one store. */
static const struct {
    const char *verb, *json;
    int code;
    const char *contains; /* part of the result, or of the error message */
    const char *pointer;  /* JSON pointer in the error */
} rows[] = {
    {"recipes", "", 0, "{\"recipes\":[{\"name\":", NULL},
    {"recipes", "{\"k\":1}", WT_EINVAL, "k", "/k"},
    {"find", "{\"query\":\"rain\"}", WT_EEMPTY, "", ""},
    {"add",
     "{\"tools\":[{\"name\":\"rain\",\"description\":\"Forecasts "
     "rain.\"},{\"name\":\"snow\",\"description\":\"Forecasts "
     "snow.\"}],\"provider\":\"sky\"}",
     0, "\"added\":2", NULL},
    {"add", "{\"tools\":\"[{\\\"name\\\":\\\"send\\\",\\\"description\\\":\\\"Sends a letter.\\\"}]\"}", 0,
     "\"notice_codes\":[\"no_encoder\"]", NULL},
    {"add", "{\"tools\":[],\"sync\":true}", WT_EINVAL, "sync requires source", "/source"},
    {"add", "{}", WT_EINVAL, "tools is missing", "/tools"},
    {"find", "{\"query\":\"will it rain\",\"k\":1}", 0, "\"id\":\"sky/rain\"", NULL},
    {"find", "{\"query\":\"will it rain\",\"k\":0}", WT_EINVAL, "k", "/k"},
    {"find", "{\"query\":\"rain\",\"kk\":1}", WT_EINVAL, "kk", "/kk"},
    {"find", "{\"query\":", WT_EFORMAT, "", ""},
    {"pick", "{\"query\":\"will it rain\"}", 0, "\"hits\":[", NULL},
    {"call", "{\"query\":\"will it rain\",\"tool\":\"sky/rain\"}", 0, "\"arguments\":{}", NULL},
    {"tools", "{\"limit\":2}", 0, "\"next_offset\":2", NULL},
    {"tools", "", 0, "\"total\":3", NULL},
    {"tool", "{\"name\":\"snow\"}", 0, "\"id\":\"sky/snow\"", NULL},
    {"tool", "{\"name\":\"snow\",\"format\":\"openai\"}", 0, "[{\"type\":\"function\"", NULL},
    {"tool", "{\"name\":\"hail\"}", WT_ENOTFOUND, "hail", ""},
    {"usage", "{\"usages\":[{\"request\":\"rain?\",\"tools\":[\"rain\"]},{\"request\":\"\",\"tools\":[\"rain\"]}]}", 0,
     "\"recorded\":1", NULL},
    {"usage", "{\"usages\":[{\"request\":\"hail?\",\"tools\":[\"hail\"]}]}", 0, "\"refused\":[{\"usage\":1,", NULL},
    {"usage", "{\"usages\":[]}", WT_EINVAL, "must be an array of 1 to 1000 objects", "/usages"},
    {"status", "", 0, "\"tools\":3", NULL},
    {"embed", "{\"input\":\"rain\",\"model\":\"default\"}", WT_EMODEL, "", ""},
    {"rerank", "{\"query\":\"rain\",\"documents\":[]}", WT_EINVAL, "documents", "/documents"},
    {"remove", "{\"name\":\"send\"}", 0, "{\"removed\":1}", NULL},
    {"remove", "{\"provider\":\"sky\"}", 0, "{\"removed\":2}", NULL},
    {"remove", "{\"name\":\"a\",\"provider\":\"sky\"}", WT_EINVAL, "either name", ""},
    {"serve", "{}", WT_EINVAL, "unknown verb \"serve\"; use one of find, pick,", ""},
    {NULL, "{}", WT_EINVAL, "unknown verb", ""},
};

static void each_verb_answers_or_reports_an_error(void **state)
{
    (void)state;
    wt_engine *engine;
    wt_error err;
    wt_open_options options;
    wt_open_options_init(&options);
    options.model = "";
    assert_int_equal(wt_open(&engine, ":memory:", &options, &err), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *out;
        err = (wt_error){0};
        int rc = wt_json(engine, rows[i].verb, rows[i].json, strlen(rows[i].json), &out, &err);
        const char *text = rc == 0 ? out : err.message;
        if (rc != rows[i].code || !strstr(text, rows[i].contains) ||
            (rc < 0 && strcmp(err.pointer, rows[i].pointer) != 0)) {
            print_error("%s %s: code %d, \"%s\" at \"%s\"\n", rows[i].verb, rows[i].json, rc, text, err.pointer);
            fail();
        }
        assert_true(rc == 0 || out == NULL);
        wt_string_free(out);
    }
    wt_close(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_verb_answers_or_reports_an_error)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
