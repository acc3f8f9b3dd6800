/* Tests trace contexts, sampling, request ids, and the spans of a request. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "query/search.h"
#include "serve/trace.h"

#define TRACE "0af7651916cd43dd8448eb211c80319c"
#define SPAN "b7ad6b7169203331"
#define PARENT "00-" TRACE "-" SPAN "-01"

static const struct trace_sampler all = {SAMPLE_ALL, false, 1};

static struct http_request with_fields(const struct http_field *fields, size_t count)
{
    struct http_request request = {.field_count = count};
    memcpy(request.fields, fields, count * sizeof *fields);
    return request;
}

static void traceparents_are_parsed_strictly(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool valid, sampled;
    } rows[] = {
        {PARENT, true, true},
        {"00-" TRACE "-" SPAN "-00", true, false},
        {"00-" TRACE "-" SPAN "-ff", true, true},
        {"cc-" TRACE "-" SPAN "-01", true, true},
        {"cc-" TRACE "-" SPAN "-01-more", true, true},
        {"cc-" TRACE "-" SPAN "-01more", false, false},
        {PARENT "-", false, false},
        {"00-" TRACE "-" SPAN "-1", false, false},
        {"ff-" TRACE "-" SPAN "-01", false, false},
        {"0x-" TRACE "-" SPAN "-01", false, false},
        {"00_" TRACE "-" SPAN "-01", false, false},
        {"00-00000000000000000000000000000000-" SPAN "-01", false, false},
        {"00-" TRACE "-0000000000000000-01", false, false},
        {"00-0AF7651916CD43DD8448EB211C80319C-" SPAN "-01", false, false},
        {"00-" TRACE "-" SPAN "-0g", false, false},
        {"", false, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct trace_context context;
        char text[TRACE_PARENT_BYTES];
        bool valid = wt__trace_parse(wt__str(rows[i].text), &context);
        if (valid != rows[i].valid)
            fail_msg("\"%s\" is %s", rows[i].text, valid ? "valid" : "invalid");
        if (!valid)
            continue;
        assert_int_equal(context.is_sampled, rows[i].sampled);
        wt__trace_format(text, &context, context.parent);
        assert_memory_equal(text + 3, rows[i].text + 3, 49); /* trace and span */
        wt__trace_id_format(text, &context);
        assert_string_equal(text, TRACE);
    }
}

static void samplers_follow_the_specification(void **state)
{
    (void)state;
    const struct trace_context none = {{1, UINT64_MAX}, 0, false}, low = {{1, 0}, 0, false}, yes = {{1, 1}, 7, true},
                               no = {{1, 1}, 7, false};
    const struct {
        struct trace_sampler sampler;
        const struct trace_context *context;
        bool sampled;
    } rows[] = {
        {{SAMPLE_ALL, false, 1}, &none, true},    {{SAMPLE_ALL, false, 1}, &no, false},
        {{SAMPLE_ALL, true, 1}, &no, true},       {{SAMPLE_NONE, false, 0}, &none, false},
        {{SAMPLE_NONE, false, 0}, &yes, true},    {{SAMPLE_NONE, true, 0}, &yes, false},
        {{SAMPLE_SHARE, false, 1}, &none, true},  {{SAMPLE_SHARE, false, 0.5}, &none, false},
        {{SAMPLE_SHARE, false, 0.5}, &low, true}, {{SAMPLE_SHARE, false, 0}, &low, false},
        {{SAMPLE_SHARE, false, 0}, &yes, true},   {{SAMPLE_SHARE, true, 0}, &yes, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(wt__trace_is_sampled(&rows[i].sampler, rows[i].context), rows[i].sampled);
}

static void request_ids_are_accepted_or_made(void **state)
{
    (void)state;
    static char long_id[REQUEST_ID_BYTES_MAX + 2], longest[REQUEST_ID_BYTES_MAX + 1];
    memset(long_id, 'a', sizeof long_id - 1);
    memset(longest, 'a', sizeof longest - 1);
    const struct {
        const char *given;
        bool accepted;
    } rows[] = {
        {"Root=1-67891233-abcdef012345678912345678", true},
        {"6f9619ff-8b86-d011-b42d-00c04fc964ff", true},
        {"a", true},
        {longest, true},
        {long_id, false},
        {"", false},
        {"two words", false},
        {"a\"b", false},
        {"a\\b", false},
        {"\xe2\x80\xae", false},
    };
    struct trace_source source;
    assert_int_equal(wt__trace_source_open(&source, &all, false, NULL), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct http_field field = {STR("x-request-id"), wt__str(rows[i].given)};
        struct http_request request = with_fields(&field, 1);
        struct request_trace trace = {0};
        wt__trace_begin(&trace, &source, &request);
        if ((strcmp(trace.request_id, rows[i].given) == 0) != rows[i].accepted)
            fail_msg("\"%s\" becomes \"%s\"", rows[i].given, trace.request_id);
        if (!rows[i].accepted)
            assert_int_equal(strspn(trace.request_id, "0123456789abcdef"), 32);
    }
}

/* The header takes precedence over _meta, and both over a new trace. */
static void context_comes_from_the_client(void **state)
{
    (void)state;
    static const char other[] = "00-11111111111111111111111111111111-2222222222222222-00";
    const struct {
        const char *header, *meta, *trace;
        bool sampled, known;
    } rows[] = {
        {PARENT, other, TRACE, true, true},
        {"", PARENT, TRACE, true, true},
        {"nonsense", other, "11111111111111111111111111111111", false, true},
        {"", "nonsense", NULL, false, false},
    };
    for (size_t exports = 0; exports < 2; exports++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            const struct http_field field = {STR("traceparent"), wt__str(rows[i].header)};
            struct http_request request = with_fields(&field, 1);
            struct request_trace trace = {0};
            struct trace_source source;
            char id[TRACE_ID_BYTES];
            assert_int_equal(wt__trace_source_open(&source, &all, exports, NULL), 0);
            wt__trace_begin(&trace, &source, &request);
            wt__trace_adopt(&trace, "tools/call", wt__str(rows[i].meta));
            struct trace_context context = wt__trace_context(&trace);
            wt__trace_id_format(id, &context);
            if (rows[i].trace)
                assert_string_equal(id, rows[i].trace);
            assert_int_equal(context.is_sampled, rows[i].sampled || (exports && !rows[i].trace));
            assert_int_equal(wt__trace_is_known(&trace), rows[i].known || exports);
            assert_string_equal(atomic_load(&trace.method), "tools/call");
        }
    assert_false(wt__trace_is_known(NULL));
    assert_int_equal(wt__trace_new_span(NULL), 0);
    wt__trace_adopt(NULL, "x", STR(""));
    wt__trace_add(NULL, &(struct trace_span){0});
}

static void stages_that_ran_become_spans(void **state)
{
    (void)state;
    struct trace_span spans[TRACE_SPANS_MAX];
    struct http_request request = {0};
    struct trace_source source;
    struct request_trace trace = {0};
    size_t missed;
    static const struct search_times times = {
        .begun = 10, .encode_ms = 2, .encoded = 13, .retrieved = 20, .reranked = 26, .ended = 27};
    assert_int_equal(wt__trace_source_open(&source, &all, true, NULL), 0);
    wt__trace_begin(&trace, &source, &request);
    wt__trace_add_search(&trace, "", &(struct search_times){0});
    assert_null(atomic_load(&trace.recipe));
    wt__trace_add_search(&trace, "a mixture of training", &(struct search_times){0});
    assert_string_equal(atomic_load(&trace.recipe), "mixture");
    char bm25[] = "bm25"; /* the name of a result is freed with it */
    wt__trace_add_search(&trace, bm25, &times);
    assert_string_equal(atomic_load(&trace.recipe), "bm25");
    assert_ptr_not_equal(atomic_load(&trace.recipe), bm25);
    wt__trace_add_search(NULL, "bm25", &times);
    wt__trace_note_stream(NULL);
    assert_int_equal(wt__trace_spans(&trace, spans, &missed), 4);
    assert_int_equal(missed, 0);
    static const struct {
        enum trace_stage stage;
        const char *word;
        double begun, ended;
    } want[] = {{TRACE_ENCODE, "encode", 11, 13},
                {TRACE_RETRIEVE, "retrieve", 10, 20},
                {TRACE_RERANK, "rerank", 20, 26},
                {TRACE_CHOOSE, "choose", 26, 27}};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(spans[i].stage, want[i].stage);
        assert_string_equal(wt__trace_stage_word(spans[i].stage), want[i].word);
        assert_true(spans[i].begun_ms == want[i].begun && spans[i].ended_ms == want[i].ended);
        assert_true(spans[i].id != 0 && spans[i].id != trace.span);
    }
}

enum { THREADS = 4, SPANS_EACH = 5 };

static void *add_spans(void *trace)
{
    for (int i = 0; i < SPANS_EACH; i++)
        wt__trace_add(trace, &(struct trace_span){.stage = TRACE_UPSTREAM, .id = wt__trace_new_span(trace)});
    return NULL;
}

static void spans_beyond_the_limit_are_counted(void **state)
{
    (void)state;
    struct trace_span spans[TRACE_SPANS_MAX];
    struct http_request request = {0};
    struct trace_source source;
    struct request_trace trace = {0};
    pthread_t threads[THREADS];
    size_t missed;
    assert_int_equal(wt__trace_source_open(&source, &all, true, NULL), 0);
    wt__trace_begin(&trace, &source, &request);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add_spans, &trace), 0);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(wt__trace_spans(&trace, spans, &missed), TRACE_SPANS_MAX);
    assert_int_equal(missed, THREADS * SPANS_EACH - TRACE_SPANS_MAX);
    for (size_t i = 0; i < TRACE_SPANS_MAX; i++)
        for (size_t j = 0; j < i; j++)
            assert_true(spans[i].id != spans[j].id);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traceparents_are_parsed_strictly), cmocka_unit_test(samplers_follow_the_specification),
        cmocka_unit_test(request_ids_are_accepted_or_made), cmocka_unit_test(context_comes_from_the_client),
        cmocka_unit_test(stages_that_ran_become_spans),     cmocka_unit_test(spans_beyond_the_limit_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
