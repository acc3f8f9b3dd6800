/* Tests of request bodies and queries: they set the options, and errors have a pointer to the invalid value. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/buffer.h"
#include "wire/bodies.h"

static int read_find_row(void *out, struct str text, wt_error *err)
{
    return wt__find_body_read(out, text, err);
}
static int read_pick_row(void *out, struct str text, wt_error *err)
{
    return wt__pick_body_read(out, text, err);
}
static int read_call_row(void *out, struct str text, wt_error *err)
{
    return wt__call_body_read(out, text, err);
}
static int read_list_row(void *out, struct str text, wt_error *err)
{
    return wt__list_query_read(out, text, err);
}
static int read_add_row(void *out, struct str text, wt_error *err)
{
    return wt__add_query_read(out, text, err);
}
static int read_remove(void *out, struct str text, wt_error *err)
{
    return wt__remove_query_read(out, text, err);
}
static int read_usage_row(void *out, struct str text, wt_error *err)
{
    return wt__batch_query_read(out, text, err);
}
static int read_embeddings(void *out, struct str text, wt_error *err)
{
    return wt__embeddings_body_read(out, text, err);
}
static int read_rerank(void *out, struct str text, wt_error *err)
{
    return wt__rerank_body_read(out, text, err);
}

union any_body {
    struct body body; /* first member of every struct below, directly or in its `asked` */
    struct find_body find;
    struct pick_body pick;
    struct call_body call;
    struct list_query list;
    struct add_query add;
    struct remove_query remove;
    struct batch_query usage;
    struct embeddings_body embeddings;
    struct rerank_body rerank;
};

static const struct {
    int (*read)(void *out, struct str text, wt_error *err);
    const char *text;
    int code;                   /* 0 if valid */
    const char *pointer, *says; /* JSON pointer of the error, and the start of its message */
} cases[] = {
    {read_find_row, "{\"query\":\"a\"}", 0, "", ""},
    {read_find_row, "{\"query\":null,\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}", 0, "", ""},
    {read_find_row, "", WT_EFORMAT, "", "the body"},
    {read_find_row, "{\"query\":\"a\"", WT_EFORMAT, "", "the body"},
    {read_find_row, "{\"query\":\"a\",\"query\":\"b\"}", WT_EFORMAT, "", "the body"},
    {read_find_row, "{\"query\":\"a\\u0000b\"}", WT_EFORMAT, "", "the body"},
    {read_find_row, "[]", WT_EFORMAT, "", "the body must be a JSON object"},
    {read_find_row, "{}", WT_EINVAL, "/query", "the request is empty; set query or messages"},
    {read_find_row, "{\"query\":\" \\n\"}", WT_EINVAL, "/query", "the request is empty; set query or messages"},
    {read_find_row, "{\"query\":5}", WT_EINVAL, "/query", "query must be a string"},
    {read_find_row, "{\"query\":\"a\",\"recipi\":\"bm25\"}", WT_EINVAL, "/recipi",
     "recipi is unknown; did you mean recipe?"},
    {read_find_row, "{\"query\":\"a\",\"zebra\":1}", WT_EINVAL, "/zebra",
     "zebra is unknown; /openapi.json lists all members"},
    {read_find_row, "{\"request\":\"a\"}", WT_EINVAL, "/request", "request is unknown; did you mean query?"},
    {read_call_row, "{\"q\":\"a\"}", WT_EINVAL, "/q", "q is unknown; did you mean query?"},
    {read_find_row, "{\"query\":\"a\",\"provider\":\"b\"}", WT_EINVAL, "/provider",
     "provider is unknown; did you mean filter.providers?"},
    {read_find_row, "{\"query\":\"a\",\"top_k\":3}", WT_EINVAL, "/top_k", "top_k is unknown; did you mean k?"},
    {read_pick_row, "{\"query\":\"a\",\"top_k\":3}", WT_EINVAL, "/top_k",
     "top_k is unknown; /openapi.json lists all members"},
    {read_find_row, "{\"query\":\"a\",\"filter\":{\"request\":\"b\"}}", WT_EINVAL, "/filter/request",
     "filter/request is unknown; /openapi.json lists all members"},
    {read_find_row, "{\"query\":\"a\",\"a/b~c\":1}", WT_EINVAL, "/a~1b~0c", "a~1b~0c is unknown"},
    {read_find_row, "{\"query\":\"a\",\"k\":0}", WT_EINVAL, "/k", "k must be a whole number from 1 to 1000"},
    {read_find_row, "{\"query\":\"a\",\"k\":1001}", WT_EINVAL, "/k", "k must be a whole number from 1 to 1000"},
    {read_find_row, "{\"query\":\"a\",\"k\":-1}", WT_EINVAL, "/k", "k must be a whole number from 1 to 1000"},
    {read_find_row, "{\"query\":\"a\",\"k\":5.0}", WT_EINVAL, "/k", "k must be a whole number from 1 to 1000"},
    {read_find_row, "{\"query\":\"a\",\"k\":\"5\"}", WT_EINVAL, "/k", "k must be a whole number from 1 to 1000"},
    {read_find_row, "{\"query\":\"a\",\"explain\":1}", WT_EINVAL, "/explain", "explain must be true or false"},
    {read_find_row, "{\"query\":\"a\",\"abstain\":1}", WT_EINVAL, "/abstain",
     "abstain must be a number from 0 to below 1"},
    {read_find_row, "{\"query\":\"a\",\"format\":\"opnai\"}", WT_EINVAL, "/format",
     "format must be one of: openai openai-responses anthropic gemini mcp"},
    {read_find_row, "{\"query\":\"a\",\"format\":\"openai anthropic\"}", WT_EINVAL, "/format", "format must be one of"},
    {read_find_row, "{\"query\":\"a\",\"filter\":[]}", WT_EINVAL, "/filter", "filter must be an object"},
    {read_find_row, "{\"query\":\"a\",\"filter\":{\"provider\":[\"x\"]}}", WT_EINVAL, "/filter/provider",
     "filter/provider is unknown; did you mean providers?"},
    {read_find_row, "{\"query\":\"a\",\"filter\":{\"only\":\"x\"}}", WT_EINVAL, "/filter/only",
     "filter/only must be an array of strings"},
    {read_find_row, "{\"query\":\"a\",\"filter\":{\"only\":[\"x\",3]}}", WT_EINVAL, "/filter/only/1",
     "filter/only/1 must be a string"},
    {read_find_row, "{\"query\":\"a\",\"messages\":\"x\"}", WT_EINVAL, "/messages",
     "messages must be an array or an object"},
    {read_find_row, "{\"query\":\"a\",\"time_limit_ms\":0}", WT_EINVAL, "/time_limit_ms",
     "time_limit_ms must be a whole number from 1 to 3600000"},
    {read_pick_row, "{\"query\":\"a\",\"k\":3}", WT_EINVAL, "/k", "k is unknown"},
    {read_pick_row, "{\"query\":\"a\",\"complete\":0.9}", 0, "", ""},
    {read_call_row, "{\"messages\":[]}", WT_EINVAL, "/messages", "messages is unknown"},
    {read_call_row, "{}", WT_EINVAL, "/query", "query is missing"},
    {read_call_row, "{\"query\":\"a\",\"format\":\"arguments\"}", 0, "", ""},
    {read_list_row, "", 0, "", ""},
    {read_list_row, "provider=a%20b&limit=7&offset=0", 0, "", ""},
    {read_list_row, "&limit=7&", 0, "", ""},
    {read_list_row, "limit=0", WT_EINVAL, "/limit", "limit must be a whole number from 1 to 1000"},
    {read_list_row, "limit=7x", WT_EINVAL, "/limit", "limit must be a whole number from 1 to 1000"},
    {read_list_row, "limit=99999999999999999999", WT_EINVAL, "/limit", "limit must be a whole number from 1 to 1000"},
    {read_list_row, "limit=3&limit=4", WT_EINVAL, "/limit", "limit is given twice"},
    {read_list_row, "ofset=3", WT_EINVAL, "/ofset", "ofset is unknown; did you mean offset?"},
    {read_list_row, "provider=%zz", WT_EFORMAT, "", "a percent sign in the address"},
    {read_list_row, "provider=%4", WT_EFORMAT, "", "a percent sign in the address"},
    {read_list_row, "provider=%00", WT_EFORMAT, "", "a percent sign in the address"},
    {read_list_row, "provider=%ff", WT_EFORMAT, "", "the address is not valid UTF-8"},
    {read_add_row, "format=openapi&provider=github&strict=true&no_vectors", 0, "", ""},
    {read_add_row, "sync=1&source=a", 0, "", ""},
    {read_add_row, "sync=1", WT_EINVAL, "/source", "sync requires source, the name of the import"},
    {read_add_row, "strict=yes", WT_EINVAL, "/strict", "strict must be true or false"},
    {read_remove, "", WT_EINVAL, "/provider", "provider is missing"},
    {read_usage_row, "id=morning%2F3", 0, "", ""},
    {read_usage_row, "batch=3", WT_EINVAL, "/batch", "batch is unknown"},
    {read_embeddings, "{\"input\":\"a\",\"model\":\"default\"}", 0, "", ""},
    {read_embeddings, "{\"input\":[\"a\",\"\"],\"model\":\"m\",\"encoding_format\":\"base64\",\"user\":\"u\"}", 0, "",
     ""},
    {read_embeddings, "{\"input\":[],\"model\":\"m\"}", WT_EINVAL, "/input",
     "input must be an array of 1 to 1000 strings"},
    {read_embeddings, "{\"input\":[[1,2]],\"model\":\"m\"}", WT_EINVAL, "/input/0",
     "input/0 must be a string; arrays of tokens are not supported"},
    {read_embeddings, "{\"input\":\"a\"}", WT_EINVAL, "/model", "model is missing"},
    {read_rerank, "{\"query\":\"a\",\"documents\":[\"x\",{\"text\":\"y\"}],\"top_n\":1,\"model\":\"m\"}", 0, "", ""},
    {read_rerank, "{\"query\":\"a\",\"documents\":[{\"title\":\"y\"}]}", WT_EINVAL, "/documents/0",
     "documents/0 must be a string"},
};

static void each_body_is_accepted_or_rejected(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        union any_body body;
        wt_error err = {0};
        int rc = cases[i].read(&body, wt__str(cases[i].text), &err);
        if (rc != cases[i].code || (rc < 0 && (strncmp(err.message, cases[i].says, strlen(cases[i].says)) != 0 ||
                                               strcmp(err.pointer, cases[i].pointer) != 0)))
            fail_msg("%s: %d \"%s\" at \"%s\"", cases[i].text, rc, rc < 0 ? err.message : "",
                     rc < 0 ? err.pointer : "");
        wt__body_dispose(&body.body);
    }
}

static void bodies_set_the_options(void **state)
{
    (void)state;
    struct find_body find;
    struct pick_body pick;
    struct batch_query usage;
    struct add_query add;
    struct list_query list;
    wt_error err;
    assert_int_equal(
        wt__find_body_read(
            &find,
            STR("{\"query\":\"q\",\"k\":7,\"recipe\":\"bm25\",\"max_per_provider\":2,\"max_tokens\":90,"
                "\"abstain\":0.25,\"explain\":true,\"as_typed\":false,\"all_copies\":true,"
                "\"none_if_unsure\":true,\"format\":\"gemini\",\"time_limit_ms\":9,\"have\":[\"t\"],"
                "\"messages\":[\"a\"],\"filter\":{\"providers\":[\"p\",\"o\"],\"exclude_providers\":[\"n\"],"
                "\"only\":[\"l\"],\"exclude\":[\"e\",\"f\",\"g\"]}}"),
            &err),
        0);
    assert_string_equal(find.asked.query, "q");
    assert_int_equal(find.options.k, 7);
    assert_string_equal(find.options.recipe, "bm25");
    assert_int_equal(find.options.max_per_provider, 2);
    assert_int_equal(find.options.max_tokens, 90);
    assert_true(find.options.abstain == 0.25);
    assert_int_equal(find.options.explain, 1);
    assert_int_equal(find.options.as_typed, 0);
    assert_int_equal(find.options.copies, 1);
    assert_int_equal(find.options.none_if_unsure, 1);
    assert_string_equal(find.options.format, "gemini");
    assert_int_equal(find.options.time_limit_ms, 9);
    assert_int_equal(find.options.have_count, 1);
    assert_string_equal(json_string_value(json_array_get(find.asked.messages, 0)), "a");
    assert_int_equal(find.options.filter->provider_count, 2);
    assert_string_equal(find.options.filter->providers[1], "o");
    assert_string_equal(find.options.filter->excluded_providers[0], "n");
    assert_string_equal(find.options.filter->only[0], "l");
    assert_int_equal(find.options.filter->excluded_count, 3);
    wt__body_dispose(&find.asked.body);

    assert_int_equal(wt__pick_body_read(&pick, STR("{\"query\":\"q\",\"abstain\":0}"), &err), 0);
    assert_true(pick.options.abstain < 0); /* a 0 in the body turns abstaining off (WT_OFF) */
    wt__body_dispose(&pick.asked.body);

    assert_int_equal(wt__batch_query_read(&usage, STR("id=morning%2F3"), &err), 0);
    assert_string_equal(usage.id, "morning/3");
    wt__body_dispose(&usage.body);

    assert_int_equal(wt__add_query_read(&add, STR("provider=a%2Fb+c&no_vectors&strict=0"), &err), 0);
    assert_string_equal(add.options.provider, "a/b c");
    assert_int_equal(add.options.no_vectors, 1);
    assert_int_equal(add.options.strict, 0);
    wt__body_dispose(&add.body);

    assert_int_equal(wt__list_query_read(&list, STR(""), &err), 0);
    assert_int_equal(list.options.limit, WIRE_LIST_USUAL);
    wt__body_dispose(&list.body);
}

static void schemas_are_valid_and_describe_each_field(void **state)
{
    (void)state;
    const struct fields *const tables[] = {
        &wt__find_fields, &wt__pick_fields,   &wt__call_fields,  &wt__list_fields,       &wt__show_fields,
        &wt__add_fields,  &wt__remove_fields, &wt__usage_fields, &wt__embeddings_fields, &wt__rerank_fields};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        struct buffer text = {0};
        json_t *root = NULL;
        wt_error err;
        wt__body_schema(&text, *tables[i]);
        assert_int_equal(wt__json_parse(&root, text.ptr, text.len, &err), 0);
        const json_t *properties = json_object_get(root, "properties");
        assert_int_equal(json_object_size(properties), tables[i]->count);
        for (size_t f = 0; f < tables[i]->count; f++) {
            const struct field *field = &tables[i]->items[f];
            struct str says = wt__json_str(json_object_get(properties, field->name), "description");
            if (says.len < 5 || says.ptr[says.len - 1] != '.')
                fail_msg("%s: the description is not a sentence", field->name);
        }
        json_decref(root);
        wt__buffer_dispose(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_body_is_accepted_or_rejected),
                                       cmocka_unit_test(bodies_set_the_options),
                                       cmocka_unit_test(schemas_are_valid_and_describe_each_field)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
