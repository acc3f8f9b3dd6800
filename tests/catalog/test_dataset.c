/* Tests the reader of BEIR folders, and its error messages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "catalog/dataset.h"

#define QUERIES                                                                                                        \
    "{\"_id\": \"q1\", \"text\": \"one\"}\n{\"_id\": \"q2\", \"text\": \"two\", \"metadata\": {}}\n\n"                 \
    "{\"_id\": \"q 3\", \"text\": \"three\"}"

static int parse_data_set(struct dataset *out, const char *queries, const char *qrels, wt_error *err)
{
    return wt__dataset_parse(out, wt__str(queries), "Q", wt__str(qrels), "J", err);
}

/* Writes the data set in one line: "q1(text): a=1 b=2; q2(text): c=1", then the numbers of skipped queries. */
static void write_data_set(const struct dataset *set, char *out, size_t size)
{
    size_t at = 0;
    out[0] = '\0';
    for (size_t q = 0; q < set->len; q++) {
        at += (size_t)snprintf(out + at, size - at, "%s%s(%s):", q ? "; " : "", set->queries[q].id.ptr,
                               set->queries[q].text.ptr);
        for (size_t j = 0; j < set->queries[q].judgement_count; j++)
            at += (size_t)snprintf(out + at, size - at, " %s=%d", set->queries[q].judgements[j].tool.ptr,
                                   set->queries[q].judgements[j].gain);
    }
    snprintf(out + at, size - at, " | %zu unknown, %zu barren", set->unknown_queries, set->barren_queries);
}

static void valid_data_sets_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *name, *qrels, *want;
    } cases[] = {
        {"with a header", "query-id\tcorpus-id\tscore\nq1\ta\t1\n", "q1(one): a=1 | 0 unknown, 0 barren"},
        {"without a header", "q1\ta\t1\n", "q1(one): a=1 | 0 unknown, 0 barren"},
        {"no newline at the end", "q1\ta\t1", "q1(one): a=1 | 0 unknown, 0 barren"},
        {"carriage returns and blank lines", "q1\ta\t1\r\n\r\nq1\tb\t2\r\n", "q1(one): a=1 b=2 | 0 unknown, 0 barren"},
        {"a byte order mark", "\xef\xbb\xbfq1\ta\t1\n", "q1(one): a=1 | 0 unknown, 0 barren"},
        {"queries come in the order of queries.jsonl", "q 3\tc\t1\nq1\ta\t1\nq 3\tb\t1\n",
         "q1(one): a=1; q 3(three): c=1 b=1 | 0 unknown, 0 barren"},
        {"ids may hold blanks", "q 3\tGET /x y\t1\n", "q 3(three): GET /x y=1 | 0 unknown, 0 barren"},
        {"grades and signs", "q1\ta\t3\nq1\tb\t-1\nq1\tc\t+2\nq1\td\t0\n",
         "q1(one): a=3 b=-1 c=2 d=0 | 0 unknown, 0 barren"},
        {"the later of two judgements counts", "q1\ta\t1\nq1\tb\t1\nq1\ta\t2\n",
         "q1(one): a=2 b=1 | 0 unknown, 0 barren"},
        {"unknown and barren queries are counted", "q1\ta\t1\nq9\ta\t1\nq2\ta\t0\n",
         "q1(one): a=1 | 1 unknown, 1 barren"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dataset set;
        wt_error err = {0};
        char have[512];
        if (parse_data_set(&set, QUERIES, cases[i].qrels, &err) < 0)
            fail_msg("%s: %s", cases[i].name, err.message);
        write_data_set(&set, have, sizeof have);
        if (strcmp(have, cases[i].want) != 0)
            fail_msg("%s: have \"%s\", want \"%s\"", cases[i].name, have, cases[i].want);
        wt__dataset_dispose(&set);
    }
}

static void errors_have_file_and_line(void **state)
{
    (void)state;
    static const struct {
        const char *name, *queries, *qrels;
        int code;
        const char *says;
    } cases[] = {
        {"too few fields", QUERIES, "q1\ta\t1\nq1\ta\n", WT_EFORMAT, "J:2: a judgement must be a query id, a tool id"},
        {"too many fields", QUERIES, "q1\t0\ta\t1\n", WT_EFORMAT, "J:1: a judgement must be"},
        {"an empty tool", QUERIES, "q1\t \t1\n", WT_EFORMAT, "J:1: a judgement must be"},
        {"a header twice", QUERIES, "query-id\tcorpus-id\tscore\nquery-id\tcorpus-id\tscore\n", WT_EFORMAT,
         "J:2: the score \"score\" is not an integer"},
        {"a score that is not an integer", QUERIES, "q1\ta\t0.5\n", WT_EFORMAT, "J:1: the score \"0.5\""},
        {"a score beyond the limit", QUERIES, "q1\ta\t9999999999999\n", WT_EFORMAT, "J:1: the score \"9999"},
        {"no judgement at all", QUERIES, "", WT_EFORMAT, "J has no relevant tool for any query of Q"},
        {"only unknown queries", QUERIES, "x\ta\t1\n", WT_EFORMAT, "J has no relevant tool for any query of Q"},
        {"not JSON", "{\"_id\": \"q1\", \"text\": \"one\"}\n{]", "q1\ta\t1\n", WT_EFORMAT, "Q:2: not valid JSON"},
        {"no id", "{\"text\": \"one\"}", "q1\ta\t1\n", WT_EFORMAT, "Q:1: the query has no \"_id\""},
        {"an id that is not a string", "{\"_id\": 1, \"text\": \"one\"}", "1\ta\t1\n", WT_EFORMAT, "has no \"_id\""},
        {"no text", "{\"_id\": \"q1\", \"text\": \" \"}", "q1\ta\t1\n", WT_EFORMAT, "Q:1: the query has no \"text\""},
        {"not an object", "[1]", "q1\ta\t1\n", WT_EFORMAT, "Q:1: the query has no \"_id\""},
        {"a query twice", "{\"_id\": \"q1\", \"text\": \"a\"}\n{\"_id\": \"q1\", \"text\": \"b\"}", "q1\ta\t1\n",
         WT_EFORMAT, "Q:2: duplicate query \"q1\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dataset set;
        wt_error err = {0};
        int rc = parse_data_set(&set, cases[i].queries, cases[i].qrels, &err);
        if (rc != cases[i].code || err.code != rc || !strstr(err.message, cases[i].says))
            fail_msg("%s: %s \"%s\"", cases[i].name, wt_code_name(rc), err.message);
        assert_null(set.queries);
    }
}

static void a_text_over_the_limit_is_refused(void **state)
{
    (void)state;
    size_t len = WT_MAX_REQUEST_BYTES + 64;
    char *queries = malloc(len + 1);
    assert_non_null(queries);
    memset(queries, 'x', len);
    memcpy(queries, "{\"_id\":\"q1\",\"text\":\"", 20);
    memcpy(queries + len - 2, "\"}", 3);
    struct dataset set;
    wt_error err = {0};
    assert_int_equal(parse_data_set(&set, queries, "q1\ta\t1\n", &err), WT_ETOOLONG);
    assert_non_null(strstr(err.message, "Q:1: the text has"));
    assert_int_equal(err.line, 1);
    free(queries);
}

static void folders_are_read_by_split(void **state)
{
    (void)state;
    char root[] = "/tmp/whichtool-dataset-XXXXXX", path[256];
    assert_non_null(mkdtemp(root));
    static const char *const files[][2] = {
        {"queries.jsonl", QUERIES}, {"qrels/dev.tsv", "q1\ta\t1\n"}, {"qrels/test.tsv", "q2\tb\t1\n"}};
    snprintf(path, sizeof path, "%s/qrels", root);
    assert_int_equal(mkdir(path, 0700), 0);
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", root, files[i][0]);
        assert_int_equal(wt__file_replace(path, files[i][1], strlen(files[i][1]), NULL), 0);
    }
    struct dataset set;
    wt_error err = {0};
    snprintf(path, sizeof path, "%s//", root);
    assert_int_equal(wt__dataset_read(&set, path, "dev", &err), 0);
    assert_string_equal(set.name, strrchr(root, '/') + 1);
    assert_int_equal(set.len, 1);
    assert_string_equal(set.queries[0].text.ptr, "one");
    wt__dataset_dispose(&set);

    assert_int_equal(wt__dataset_read(&set, root, "train", &err), WT_ENOTFOUND);
    assert_non_null(strstr(err.message, "qrels/train.tsv"));
    assert_int_equal(wt__dataset_read(&set, root, "../x", &err), WT_EINVAL);
    assert_non_null(strstr(err.message, "not a plain name"));
    assert_int_equal(wt__dataset_read(&set, root, "", &err), WT_EINVAL);

    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", root, files[i][0]);
        unlink(path);
    }
    snprintf(path, sizeof path, "%s/qrels", root);
    rmdir(path);
    rmdir(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valid_data_sets_are_read),
        cmocka_unit_test(errors_have_file_and_line),
        cmocka_unit_test(a_text_over_the_limit_is_refused),
        cmocka_unit_test(folders_are_read_by_split),
    };
    return cmocka_run_group_tests_name("catalog/dataset", tests, NULL, NULL);
}
