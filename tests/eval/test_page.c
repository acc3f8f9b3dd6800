/* Tests the HTML page of an evaluation: its content, escaping of hostile text, balanced tags, and no external
 * resources. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "engine/support.h"
#include "eval/report.h"

static struct test_place place;
static char set[96], cache[96], page_path[96];

static void put_set_file(const char *name, const char *text)
{
    put_text(set, name, text);
}

static int create_page_set(void **state)
{
    (void)state;
    make_test_place(&place);
    snprintf(set, sizeof set, "%s/set", place.folder);
    snprintf(cache, sizeof cache, "%s/cache", place.folder);
    snprintf(page_path, sizeof page_path, "%s/page.html", place.folder);
    put_set_file("corpus.jsonl",
                 "{\"_id\": \"<script>alert(1)</script>\", \"title\": \"table\", \"text\": \"book the table\"}\n"
                 "{\"_id\": \"b\", \"title\": \"books\", \"text\": \"find a \\\"book\\\" & read\"}\n"
                 "{\"_id\": \"c\", \"title\": \"d\", \"text\": \"a b c\"}\n");
    put_set_file("queries.jsonl",
                 "{\"_id\": \"1\", \"text\": \"zebra <script>alert(2)</script> & 'quotes' \\\"\"}\n"
                 "{\"_id\": \"2\", \"text\": \"find a book\"}\n{\"_id\": \"3\", \"text\": \"a b\"}\n"
                 "{\"_id\": \"4\", \"text\": \"book the table\"}\n{\"_id\": \"5\", \"text\": \"the book\"}\n");
    put_set_file("qrels/test.tsv", "1\t<script>alert(1)</script>\t1\n2\tb\t1\n3\tgone</td>\t1\n");
    put_set_file("qrels/train.tsv", "4\t<script>alert(1)</script>\t1\n5\tb\t1\n");
    return 0;
}

static int remove_page_set(void **state)
{
    (void)state;
    remove_test_place(&place);
    return 0;
}

/* Runs an evaluation and returns its page. */
static char *write_and_read_page(const char *recipes, const char *model)
{
    wt_eval_options options;
    wt_eval_report *report = NULL;
    char *html = NULL;
    size_t len;
    wt_eval_options_init(&options);
    options.recipes = recipes;
    options.model = model;
    options.cache_dir = cache;
    options.html_path = page_path;
    assert_call_ok(&place, wt_eval(set, &options, &report, &place.err));
    wt_eval_report_free(report);
    assert_call_ok(&place, wt__file_read(&html, &len, page_path, 8 << 20, &place.err));
    assert_int_equal(strlen(html), len);
    return html;
}

static void assert_page_has(const char *html, const char *text)
{
    if (!strstr(html, text))
        fail_msg("the page lacks \"%s\"", text);
}

static void assert_page_lacks(const char *html, const char *text)
{
    if (strstr(html, text))
        fail_msg("the page contains \"%s\"", text);
}

/* Every opened tag is closed, innermost first, except void elements and tags ending in "/>". */
static void assert_balanced(const char *html)
{
    char open[64][16];
    size_t depth = 0;
    for (const char *at = strchr(html, '<'); at; at = strchr(at + 1, '<')) {
        bool closing = at[1] == '/';
        char name[16] = "";
        const char *end = strchr(at, '>');
        assert_non_null(end);
        for (size_t i = 0; i < 15 && isalnum((unsigned char)at[1 + closing + (int)i]); i++)
            name[i] = at[1 + closing + (int)i];
        if (at[1] == '!' || strcmp(name, "meta") == 0 || end[-1] == '/')
            continue;
        assert_true(*name);
        if (!closing) {
            assert_true(depth < 64);
            memcpy(open[depth++], name, sizeof name);
            continue;
        }
        assert_true(depth > 0);
        if (strcmp(open[--depth], name) != 0)
            fail_msg("</%s> closes <%s>: %.60s", name, open[depth], at);
    }
    assert_int_equal(depth, 0);
}

static void assert_self_contained(const char *html)
{
    static const char *const references[] = {"http:", "https:",  "//",   "url(",  "@import", "<script",   "<link",
                                             "<img",  "<iframe", "src=", "href=", " onload", "javascript"};
    for (size_t i = 0; i < sizeof references / sizeof *references; i++)
        assert_page_lacks(html, references[i]);
    assert_page_has(html, "default-src 'none'");
    assert_page_has(html, "@media (prefers-color-scheme:dark)");
    assert_page_has(html, "@media print");
    assert_page_has(html, "<meta name=\"color-scheme\" content=\"light dark\">");
}

static void page_without_a_model_has_figures(void **state)
{
    (void)state;
    char *html = write_and_read_page("bm25", "");
    assert_balanced(html);
    assert_self_contained(html);
    assert_page_has(html, "<h1>set, test</h1>");
    assert_page_has(html, "length in words");
    assert_page_has(html, "&lt;script&gt;alert(2)&lt;/script&gt; &amp; &#39;quotes&#39; &quot;");
    assert_page_has(html, "gone&lt;/td&gt;");
    assert_page_lacks(html, "Cosines of requests and tools");
    free(html);
}

static void page_with_a_model_has_vectors_and_map(void **state)
{
    (void)state;
    char *html = write_and_read_page("bm25,dense", place.model);
    assert_balanced(html);
    assert_self_contained(html);
    assert_page_has(html, "length in tokens");
    assert_page_has(html, "2 training requests are recorded as use");
    assert_page_has(html, "use (Tool2Vec)");
    assert_page_has(html, "Cosines of requests and tools");
    assert_page_has(html, "<title>&lt;script&gt;alert(1)&lt;/script&gt;</title>"); /* a tool on the map */
    assert_page_has(html, "tools by use (2)");
    char *again = write_and_read_page("bm25,dense", place.model);
    const char *map = strstr(html, "id=\"of-map\""), *same = strstr(again, "id=\"of-map\"");
    assert_non_null(map);
    assert_string_equal(map, same); /* the map is deterministic */
    free(again);
    free(html);
}

static void write_error_is_reported(void **state)
{
    (void)state;
    wt_eval_options options;
    wt_eval_report *report = NULL;
    wt_eval_options_init(&options);
    options.recipes = "bm25";
    options.model = "";
    options.cache_dir = cache;
    options.html_path = "/nowhere/page.html";
    int rc = wt_eval(set, &options, &report, &place.err);
    assert_true(rc < 0 && !report);
    assert_non_null(strstr(place.err.message, "/nowhere"));
}

static void text_is_escaped_and_cut(void **state)
{
    (void)state;
    static const struct {
        const char *in;
        size_t most;
        const char *out;
    } cases[] = {{"a<b>&\"'", 99, "a&lt;b&gt;&amp;&quot;&#39;"},
                 {"a\nb\x01", 99, "a b "},
                 {"\xff", 99, "\xef\xbf\xbd"},
                 {"\xc3\xa9\xc3\xa9\xc3\xa9", 2, "\xc3\xa9\xc3\xa9\xe2\x80\xa6"},
                 {"abc", 3, "abc"},
                 {"", 3, ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buffer out = {0};
        wt__html_cut(&out, wt__str(cases[i].in), cases[i].most);
        assert_string_equal(out.ptr ? out.ptr : "", cases[i].out);
        wt__buffer_dispose(&out);
    }
}

static void axes_have_round_steps(void **state)
{
    (void)state;
    static const struct {
        double low, high, step;
    } cases[] = {{0, 1, .2}, {0, .69, .1}, {0, 7, 1}, {0, 7.1, 2}, {-.2, .9, .2}, {0, 1500, 500}, {3, 3, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double step = wt__svg_step(cases[i].low, cases[i].high);
        assert_true(step > cases[i].step * .999 && step < cases[i].step * 1.001);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(page_without_a_model_has_figures),
        cmocka_unit_test(page_with_a_model_has_vectors_and_map),
        cmocka_unit_test(write_error_is_reported),
        cmocka_unit_test(text_is_escaped_and_cut),
        cmocka_unit_test(axes_have_round_steps),
    };
    return cmocka_run_group_tests_name("eval/page", tests, create_page_set, remove_page_set);
}
