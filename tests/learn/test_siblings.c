/* Tests which tools are siblings: tools of the same provider and data set whose names share words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "learn/siblings.h"

/* A tool without a provider has a negative provider. */
struct sibling_tool {
    int64_t provider;
    const char *name, *text;
    const char *siblings; /* expected rows */
};

/* The first data set ends at FIRST. Provider 5 of the first set is not that of the second. */
enum { FIRST = 15, TOOLS = 17 };
static const struct sibling_tool tools[TOOLS] = {
    {5, "create_issue", "a", "3 1 4 5 6 7 8 2"}, /* "issue" is rarer than "create" */
    {5, "delete_issue", "b", "0 3 10 2"},
    {5, "issues/list-for-a-user", "c", "3 0 1 10"},
    {5, "listMyIssues", "d", "2 0 1 10"},
    {5, "create_repo", "e", ""}, /* no request needs the tools 4 to 8 */
    {5, "create_file", "f", ""},
    {5, "create_team", "g", ""},
    {5, "create_key", "h", ""},
    {5, "create_gist", "i", ""},
    {5, "weather", "j", ""},           /* shares no word */
    {5, "remove_issue", "a", "3 1 2"}, /* the text of tool 0 */
    {6, "create_issue", "l", ""},      /* another provider */
    {-13, "create_issue", "m", ""},    /* no provider */
    {7, "get the", "n", ""},           /* only stop words */
    {7, "", "o", ""},
    {5, "create_issue", "p", "16"},
    {5, "close_issue", "q", "15"},
};

/* Request 0 needs the tools 0, 1, 2 and 3. Each other request needs one tool. */
static const uint32_t labels[] = {0, 1, 2, 3, 0, 9, 11, 12, 13, 14, 15, 16};
enum { REQUESTS = 9 };
static size_t starts[REQUESTS + 1] = {0, 4, 5, 6, 7, 8, 9, 10, 11, 12};

/* The arrays of a set of examples. */
struct sibling_examples {
    struct examples examples;
    struct example_part parts[2];
    struct str names[1000], texts[1000];
    int64_t providers[1000];
    struct mined_ranking ranking;
    struct siblings siblings;
};

/* Finds the siblings of the tools in the arrays of s. */
static void find_siblings(struct sibling_examples *s, size_t first, size_t count, const uint32_t *needed,
                          size_t *request_starts, size_t requests)
{
    wt_error err;
    s->parts[0] = (struct example_part){.tools = first};
    s->parts[1] = (struct example_part){.tools = count};
    s->examples =
        (struct examples){.part_count = 2,
                          .parts = s->parts,
                          .tools = count,
                          .providers = s->providers,
                          .names = s->names,
                          .texts = {s->texts},
                          .train = {.count = requests, .starts = request_starts, .tools = (uint32_t *)needed}};
    assert_int_equal(wt__ranking_open(&s->ranking, &s->examples, true, count, 1, &err), 0);
    assert_int_equal(wt__siblings_find(&s->siblings, &s->ranking, &err), 0);
}

static void open_sibling_table(struct sibling_examples *s)
{
    for (size_t row = 0; row < TOOLS; row++) {
        s->names[row] = wt__str(tools[row].name);
        s->texts[row] = wt__str(tools[row].text);
        s->providers[row] = tools[row].provider;
    }
    find_siblings(s, FIRST, TOOLS, labels, starts, REQUESTS);
}

static void close_sibling_examples(struct sibling_examples *s)
{
    wt__siblings_dispose(&s->siblings);
    wt__ranking_dispose(&s->ranking);
}

/* Writes rows, [count], up to the first UINT32_MAX. */
static const char *write_rows(const uint32_t *rows, size_t count, char out[64])
{
    size_t len = 0;
    out[0] = '\0';
    for (size_t i = 0; i < count && rows[i] != UINT32_MAX; i++)
        len += (size_t)snprintf(out + len, 64 - len, "%s%u", len ? " " : "", rows[i]);
    return out;
}

static void siblings_share_words_and_provider(void **state)
{
    static struct sibling_examples s;
    char text[64];
    (void)state;
    open_sibling_table(&s);
    for (size_t row = 0; row < TOOLS; row++) {
        const char *rows = write_rows(s.siblings.rows + row * SIBLINGS_MOST, SIBLINGS_MOST, text);
        if (strcmp(rows, tools[row].siblings) != 0)
            fail_msg("siblings of tool %zu: \"%s\", not \"%s\"", row, rows, tools[row].siblings);
    }
    close_sibling_examples(&s);
}

/* Tool 10 has the text of tool 0, so it is right for requests that need tool 0. */
static void right_tools_are_not_wrong_siblings(void **state)
{
    static const struct {
        size_t request;
        uint32_t row;
        const char *wrong;
    } rows[] = {{0, 0, "4 5 6 7 8"}, {0, 1, ""}, {1, 0, "3 1 4 5 6 7 8 2"}, {1, 1, "3 2"}, {2, 9, ""}, {7, 15, "16"}};
    static struct sibling_examples s;
    char text[64];
    (void)state;
    open_sibling_table(&s);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t wrong[SIBLINGS_MOST];
        size_t count = wt__siblings_wrong(&s.siblings, &s.ranking, rows[i].request, rows[i].row, wrong);
        assert_string_equal(write_rows(wrong, count, text), rows[i].wrong);
    }
    close_sibling_examples(&s);
}

/* Returns the siblings of tool 0 of `count` tools of one provider. Each name is an own word, then the shared words.
 * The names of the first `paired` tools have another shared word at the end. */
static const char *siblings_of_many(size_t count, const char *shared, size_t paired, char out[64])
{
    static struct sibling_examples s;
    static char names[1000][128];
    static const uint32_t needed[] = {0};
    static size_t ends[] = {0, 1};
    for (size_t row = 0; row < count; row++) {
        snprintf(names[row], sizeof names[row], "x%zux %s %s", row, shared, row < paired ? "pair" : "");
        s.names[row] = s.texts[row] = wt__str(names[row]);
        s.providers[row] = 1;
    }
    find_siblings(&s, count, count, needed, ends, 1);
    write_rows(s.siblings.rows, SIBLINGS_MOST, out);
    close_sibling_examples(&s);
    return out;
}

static void limits_words_and_siblings(void **state)
{
    static const struct {
        size_t tools;
        const char *shared;
        size_t paired;
        const char *siblings;
    } rows[] = {
        {1, "list", 0, ""},
        {20, "list", 0, "1 2 3 4 5 6 7 8"},
        {SIBLING_COMMON, "list", 2, "1 2 3 4 5 6 7 8"},
        {SIBLING_COMMON + 1, "list", 2, "1"}, /* "list" is too common */
        {SIBLING_COMMON + 1, "", SIBLING_COMMON + 1, ""},
        /* The own word and these ten are followed by the twelfth word. With another word, "pair" is not read. */
        {SIBLING_COMMON + 1, "aa bb cc dd ee ff gg hh ii jj", 3, "1 2"},
        {SIBLING_COMMON + 1, "aa bb cc dd ee ff gg hh ii jj kk", 3, ""},
    };
    char text[64];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(siblings_of_many(rows[i].tools, rows[i].shared, rows[i].paired, text), rows[i].siblings);
}

/* The estimate depends on all tools and on the largest data set. */
static void estimates_bytes(void **state)
{
    struct example_part parts[] = {{.tools = 600}, {.tools = 1000}};
    struct examples one = {.part_count = 1, .parts = parts + 1, .tools = 1000};
    struct examples two = {.part_count = 2, .parts = parts, .tools = 1000};
    struct examples few = {.part_count = 1, .parts = parts, .tools = 600};
    (void)state;
    assert_true(wt__siblings_bytes(&one) > wt__siblings_bytes(&two));
    assert_int_equal(wt__siblings_bytes(&two) - wt__siblings_bytes(&few), 400 * SIBLINGS_MOST * sizeof(uint32_t));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(siblings_share_words_and_provider),
        cmocka_unit_test(right_tools_are_not_wrong_siblings),
        cmocka_unit_test(limits_words_and_siblings),
        cmocka_unit_test(estimates_bytes),
    };
    return cmocka_run_group_tests_name("learn/siblings", tests, NULL, NULL);
}
