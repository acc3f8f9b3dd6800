/* Tests the detection of tool names in requests, their order, and whether a request consists only of names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "retrieve/request_names.h"
#include "retrieve/tool_names.h"

/* A tool is identified by a letter, from "a" on. */
static const struct tool tools[] = {
    {.provider = STR("github"), .name = STR("create_issue"), .export_name = STR("github__create_issue")}, /* a */
    {.provider = STR("github"), .name = STR("listLabels"), .export_name = STR("github__listLabels")},     /* b */
    {.provider = STR("github"), .name = STR("search_code")},                                              /* c */
    {.provider = STR("gitlab"), .name = STR("create_issue")},                                             /* d */
    {.provider = STR("slack"), .name = STR("search")},                                                    /* e */
    {.provider = STR("slack"), .name = STR("chat.postMessage"), .title = STR("Post a message")},          /* f */
    {.provider = STR("hub"),
     .name = STR("issues/create"),
     .source_id = STR("POST /repos/{owner}/{repo}/issues")}, /* g */
    {.provider = STR("hub"),
     .name = STR("issues/get"),
     .source_id = STR("GET /repos/{owner}/{repo}/issues/{number}")},                                       /* h */
    {.provider = STR("manual"), .name = STR("lookup"), .description = STR("Finds a page by its number.")}, /* i */
    {.provider = STR("notes"), .name = STR("search~2")},                                                   /* j */
    {.provider = STR("shop"), .name = STR("b\303\274cher_suchen")},                                        /* k */
    {.provider = STR("shop"), .name = STR("getHTTPStatus2")},                                              /* l */
};
enum { TOOLS = sizeof tools / sizeof *tools };

static struct names_builder builder;
static struct name_index names;

static int set_up_request_names(void **state)
{
    (void)state;
    for (uint32_t row = 0; row < TOOLS; row++)
        assert_int_equal(wt__tool_names_add(&builder, &tools[row], row, NULL), 0);
    names = wt__names_builder_finish(&builder);
    assert_int_equal(wt__names_check(&names, TOOLS, NULL), 0);
    return 0;
}

static int tear_down_request_names(void **state)
{
    (void)state;
    wt__names_builder_dispose(&builder);
    return 0;
}

/* Appends the letters of the tools with the name, such as "ad", or "=d" if a provider named nearby selects tool d. */
static void append_tools(struct buffer *out, const struct request_name *name)
{
    if (out->len > 0)
        wt__buffer_char(out, ' ');
    if (name->row != NAME_ANY_ROW) {
        wt__buffer_printf(out, "=%c", (char)('a' + name->row));
        return;
    }
    for (uint32_t row = 0; row < TOOLS; row++)
        if (wt__names_has(&names, name->hash, row))
            wt__buffer_char(out, (char)('a' + row));
}

static void read_names(struct request_names *out, struct arena *arena, struct str request)
{
    assert_int_equal(wt__request_names(out, &names, request, arena, NULL), 0);
    for (size_t i = 0; i < out->count + out->spoken_count; i++) {
        const struct request_name *name = i < out->count ? &out->items[i] : &out->spoken[i - out->count];
        assert_true(name->text.ptr >= request.ptr && name->text.len > 0);
        assert_true(name->text.ptr + name->text.len <= request.ptr + request.len);
        assert_true(name->run.count > 0);
    }
}

/* names, spoken: letters of the tools of each name found, in order. spoken is NULL for none. */
struct reading_case {
    const char *request, *names, *spoken;
    bool only; /* the request consists only of names */
};

static void check_readings(const struct reading_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct request_names found;
        struct arena arena = {0};
        struct buffer written = {0}, spoken = {0};
        read_names(&found, &arena, wt__str(cases[i].request));
        for (size_t n = 0; n < found.count; n++)
            append_tools(&written, &found.items[n]);
        for (size_t n = 0; n < found.spoken_count; n++)
            append_tools(&spoken, &found.spoken[n]);
        const char *has = written.len ? written.ptr : "", *says = spoken.len ? spoken.ptr : "";
        const char *wants = cases[i].spoken ? cases[i].spoken : "";
        if (strcmp(has, cases[i].names) != 0 || strcmp(says, wants) != 0 || found.only != cases[i].only)
            fail_msg("\"%s\": \"%s\", spoken \"%s\", %s", cases[i].request, has, says,
                     found.only ? "only names" : "and other words");
        wt__buffer_dispose(&written);
        wt__buffer_dispose(&spoken);
        wt__arena_dispose(&arena);
    }
}

static void reads_requests_of_names_only(void **state)
{
    static const struct reading_case cases[] = {
        {"create_issue", "ad", NULL, true},
        {"create issue", "ad", NULL, true},
        {"CREATE-ISSUE", "ad", NULL, true},
        {"createIssue", "ad", NULL, true},
        {"createissue", "ad", NULL, true},
        {"list labels", "b", NULL, true},
        {"search", "ej", NULL, true},
        {"search~2", "j", NULL, true},
        {"listLabels, search_code", "b c", NULL, true},
        {"search_code, listLabels", "c b", NULL, true},
        {"search code\nlist labels", "c b", NULL, true},
        {"listLabels and search_code", "b c", NULL, true},
        {"list labels, search code and lookup", "b c i", NULL, true},
        {"listLabels + search_code; lookup", "b c i", NULL, true},
        {"listLabels search_code", "b c", NULL, true},
        {"list labels search code", "b c", NULL, true},
        {"1. listLabels 2. search_code", "b c", NULL, true},
        {"please use listLabels and search_code", "b c", NULL, true},
        {"I need to call listLabels, then search_code, thanks", "b c", NULL, true},
        {"could you please run list labels", "b", NULL, true},
        {"bitte listLabels und search_code", "b c", NULL, true},
        {"`listLabels`, \"search_code\"", "b c", NULL, true},
        {"listLabels, listLabels, list_labels", "b", NULL, true},
        {"b\303\274cher suchen", "k", NULL, true},
        {"B\303\234CHER_SUCHEN", "k", NULL, true},
        {"bucher suchen", "k", NULL, true},
        {"get HTTP status 2", "l", NULL, true},
        {"mcp__github__create_issue", "a", NULL, true},
        {"Post a message", "f", NULL, true},
        {"Post a message, list labels", "f b", NULL, true},
        {"Finds a page by its number", "i", NULL, true},
        {"finds a page by its number.", "i", NULL, true},
        {"POST /repos/{owner}/{repo}/issues", "g", NULL, true},
        {"chat.postMessage", "f", NULL, true},
    };
    (void)state;
    check_readings(cases, sizeof cases / sizeof *cases);
}

static void finds_identifiers_in_sentences(void **state)
{
    static const struct reading_case cases[] = {
        {"open a ticket with create_issue for the bug", "ad", NULL, false},
        {"open a ticket with createIssue for the bug", "ad", NULL, false},
        {"label it by listLabels, find the line by search_code", "b c", NULL, false},
        {"find the line by search_code, label it by listLabels", "c b", NULL, false},
        {"what does mcp__github__listLabels return", "b", NULL, false},
        {"what does github__listLabels return", "b", NULL, false},
        {"what does github.listLabels return", "b", NULL, false},
        {"what does slack/chat.postMessage return", "f", NULL, false},
        {"what does issues/create return", "g", NULL, false},
        {"search for the word issue in my notes", "", NULL, false},
        {"create an issue about it", "", NULL, false},
        {"when does the shop open", "", NULL, false},
        {"and/or U.S. e.g. 3.14", "", NULL, false},
        {"", "", NULL, false},
        {"please", "", NULL, false},
        {"?!", "", NULL, false},
        {"\xFF\xFE", "", NULL, false},
    };
    (void)state;
    check_readings(cases, sizeof cases / sizeof *cases);
}

static void finds_spoken_names_in_sentences(void **state)
{
    static const struct reading_case cases[] = {
        {"can you list labels of this repository", "", "b", false},
        {"how do I create issue number four", "", "ad", false},
        {"search code for a bug, then list labels of it", "", "c b", false},
        {"search the web", "", "", false}, /* a spoken name has at least two words */
        {"tell me how to post a message on slack", "", "f", false},
    };
    (void)state;
    check_readings(cases, sizeof cases / sizeof *cases);
}

static void finds_methods_and_paths(void **state)
{
    static const struct reading_case cases[] = {
        {"call POST /repos/{owner}/{repo}/issues for me now", "g", NULL, false},
        {"call POST /repos/:owner/:repo/issues for me now", "g", NULL, false},
        {"call POST /repos/octocat/hello/issues for me now", "g", NULL, false},
        {"call post /repos/octocat/hello/issues for me now", "g", NULL, false},
        {"call GET /repos/octocat/hello/issues/42 for me now", "h", NULL, false},
        {"call GET https://api.example.org/repos/octocat/hello/issues/42?page=2 now", "h", NULL, false},
        {"call POST /api/v3/repos/octocat/hello/issues now", "g", NULL, false},
        {"call DELETE /repos/octocat/hello/issues now", "", NULL, false},
        {"call GET /other/{a} now", "", NULL, false},
        {"either black/white or red", "", NULL, false},
    };
    (void)state;
    check_readings(cases, sizeof cases / sizeof *cases);
}

static void nearby_provider_selects_tool(void **state)
{
    static const struct reading_case cases[] = {
        {"create_issue", "ad", NULL, true},
        {"gitlab create_issue", "d", NULL, true},
        {"create_issue gitlab", "=d", NULL, false}, /* the provider after the name is not part of the name */
        {"github/create_issue", "a", NULL, true},
        {"gitlab__create_issue", "d", NULL, true},
        {"mcp__gitlab__create_issue", "d", NULL, true},
        {"on gitlab open one by create_issue today", "=d", NULL, false},
        {"by create_issue open one on GitHub today", "=a", NULL, false},
        {"gitlab create_issue, github create_issue", "d a", NULL, true},
    };
    (void)state;
    check_readings(cases, sizeof cases / sizeof *cases);
}

/* Returns the number of names in a request of `before` repetitions of `text`, then `last`. Sets *only to true if the
 * request consists only of names, else to false. */
static size_t count_names(const struct name_index *among, const char *text, size_t before, const char *last, bool *only)
{
    struct request_names found;
    struct arena arena = {0};
    struct buffer request = {0};
    for (size_t i = 0; i < before; i++)
        wt__buffer_text(&request, text);
    wt__buffer_text(&request, last);
    assert_int_equal(wt__request_names(&found, among, wt__buffer_view(&request), &arena, NULL), 0);
    *only = found.only;
    size_t count = found.count + found.spoken_count;
    wt__arena_dispose(&arena);
    wt__buffer_dispose(&request);
    return count;
}

static void reads_long_requests_up_to_limits(void **state)
{
    static const struct {
        const char *text;
        size_t before;
        const char *last;
        size_t names;
        bool only;
    } cases[] = {
        {"please ", COVER_TOKENS_MAX - 1, "search", 1, true},
        {"please ", COVER_TOKENS_MAX, "search", 0, false},
        {"please ", COVER_TOKENS_MAX, "search_code", 1, false},
        {"nothing ", COVER_TOKENS_MAX - 2, "list labels", 1, false}, /* spoken */
        {"nothing ", COVER_TOKENS_MAX - 1, "list labels", 0, false},
        {"nothing ", REQUEST_TOKENS_MAX - 1, "search_code", 1, false},
        {"nothing ", REQUEST_TOKENS_MAX, "search_code", 0, false},
        {"GET /nothing/{at}/all ", 3, "GET /repos/{owner}/{repo}/issues/{number}", 1, false},
        {"GET /nothing/{at}/all ", 4, "GET /repos/{owner}/{repo}/issues/{number}", 0,
         false}, /* only the first four paths are read */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool only;
        size_t count = count_names(&names, cases[i].text, cases[i].before, cases[i].last, &only);
        if (count != cases[i].names || only != cases[i].only)
            fail_msg("row %zu: %zu names, %s", i, count, only ? "only names" : "and other words");
    }
}

static void limits_names_per_request(void **state)
{
    struct names_builder many = {0};
    (void)state;
    for (uint32_t row = 0; row < REQUEST_NAMES_MAX + 8; row++) {
        char name[] = "get_aa";
        name[4] = (char)('a' + row / 26);
        name[5] = (char)('a' + row % 26);
        const struct tool tool = {.name = wt__str(name)};
        assert_int_equal(wt__tool_names_add(&many, &tool, row, NULL), 0);
    }
    const struct name_index among = wt__names_builder_finish(&many);
    for (size_t count = REQUEST_NAMES_MAX - 1; count <= REQUEST_NAMES_MAX + 1; count++) {
        struct request_names found;
        struct arena arena = {0};
        struct buffer request = {0};
        for (size_t i = 0; i < count; i++)
            wt__buffer_printf(&request, "get_%c%c, ", (int)('a' + i / 26), (int)('a' + i % 26));
        assert_int_equal(wt__request_names(&found, &among, wt__buffer_view(&request), &arena, NULL), 0);
        assert_true(found.only);
        assert_int_equal(found.count, count < REQUEST_NAMES_MAX ? count : REQUEST_NAMES_MAX);
        wt__arena_dispose(&arena);
        wt__buffer_dispose(&request);
    }
    wt__names_builder_dispose(&many);
}

/* A request may repeat one ambiguous name thousands of times, so the provider is looked up only for the first
 * REQUEST_PROVIDERS_MAX of them. */
static void limits_provider_lookups(void **state)
{
    (void)state;
    for (size_t before = REQUEST_PROVIDERS_MAX - 1; before <= REQUEST_PROVIDERS_MAX; before++) {
        struct request_names found;
        struct arena arena = {0};
        struct buffer request = {0};
        for (size_t i = 0; i < before; i++)
            wt__buffer_text(&request, "create_issue ");
        for (size_t i = 0; i < COVER_TOKENS_MAX; i++)
            wt__buffer_text(&request, "nothing ");
        wt__buffer_text(&request, "gitlab create_issue");
        assert_int_equal(wt__request_names(&found, &names, wt__buffer_view(&request), &arena, NULL), 0);
        assert_int_equal(found.items[0].row, NAME_ANY_ROW);
        assert_int_equal(found.count, before < REQUEST_PROVIDERS_MAX ? 2 : 1);
        wt__arena_dispose(&arena);
        wt__buffer_dispose(&request);
    }
}

static void finds_no_names_in_empty_index(void **state)
{
    const struct name_index none = {0};
    bool only;
    (void)state;
    assert_int_equal(count_names(&none, "create_issue, ", 3, "GET /a/{b}", &only), 0);
    assert_false(only);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_requests_of_names_only),    cmocka_unit_test(finds_identifiers_in_sentences),
        cmocka_unit_test(finds_spoken_names_in_sentences), cmocka_unit_test(finds_methods_and_paths),
        cmocka_unit_test(nearby_provider_selects_tool),    cmocka_unit_test(reads_long_requests_up_to_limits),
        cmocka_unit_test(limits_names_per_request),        cmocka_unit_test(limits_provider_lookups),
        cmocka_unit_test(finds_no_names_in_empty_index),
    };
    return cmocka_run_group_tests(tests, set_up_request_names, tear_down_request_names);
}
