/* Tests the removal of markup: text that only looks like markup is kept, and the time is linear for any text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "text/markup.h"
#include "text/unicode.h"

static const struct {
    const char *name, *in, *out; /* out: NULL if unchanged */
} rows[] = {
    {"empty text", "", NULL},
    {"plain text", "Finds a table for two, near you; 50 % off.", NULL},
    {"letters of several scripts",
     "\xE6\xA4\x9C\xE7\xB4\xA2 \xD8\xA8\xD8\xAD\xD8\xAB \xC3\xA9t\xC3\xA9 \xF0\x9F\x98\x80", NULL},
    {"runs of blanks become one blank",
     "  a\r\n\tb\n\n c\xC2\xA0\xC2\xA0"
     "d \v\f",
     "a b c d"},
    {"text of blanks only", " \n\t ", ""},

    /* HTML */
    {"tags", "<p>Lists <b>all</b> users.</p>\n<p>Paged.</p>", "Lists all users. Paged."},
    {"line breaks", "one<br>two<br/>three<BR />four<hr>five", "one two three four five"},
    {"tags inside a word do not split it", "Get<b>User</b> H<sub>2</sub>O", "GetUser H2O"},
    {"an HTML list", "<ul><li>one</li><li>two</ul>", "one two"},
    {"a table", "<table><tr><td>Name<td>Type</tr></table>", "Name Type"},
    {"attributes", "<a class='x' href=\"/docs#users\">the docs</a> <img src=\"a.png\" alt=\"A\">", "the docs"},
    {"attributes on several lines", "<a\n  href=\"/x\"\n>docs</a\n>", "docs"},
    {"tags in upper case", "<P ALIGN=\"LEFT\">text</P><STRONG>x</STRONG>", "text x"},
    {"a comment", "a<!-- <p>hidden</p> -->b<!---->c", "a b c"},
    {"script and style", "a<script src=\"x\">if (a < b) p();</script>b<STYLE>p {}</style >c", "a b c"},
    {"a script ends at the first end tag", "a<script>b<script>c</script>d", "a d"},
    {"a tag named by a common word, with an end tag", "<title>Users</title> and <code>id</code>", "Users and id"},
    {"a tag named by a common word, with attributes", "<input type=\"text\"> <time datetime=1>", ""},
    {"a tag named by a common word, without content", "a <source/> b", "a b"},

    /* text that looks like HTML */
    {"comparisons", "a < b, a<b and c>d, 1 <2> 3, x <= y, a<b && c==d>e", NULL},
    {"a single angle bracket", "<", NULL},
    {"angle brackets without a tag name", "<<<>>> <> </> < p> <", NULL},
    {"generics", "List<String>, Map<K, List<P>>, Promise<object>, Array<A>, Set<Label>", NULL},
    {"placeholders", "<file> <user_id> </path> <title> of <table> <a> <my-tag> <h7> {id} {{name}} ${x}", NULL},
    {"an address as a placeholder", "<name@example.org>", NULL},
    {"a tag that does not end", "see <p class=\"x", NULL},
    {"a tag interrupted by another tag is text", "a <p b<p>c", "a <p b c"},
    {"a tag with words instead of attributes is text", "the <b and c> of it</b>", "the <b and c> of it"},
    {"a comment that does not end", "a <!-- b <p>c", "a <!-- b c"},
    {"a script that does not end", "the <script> tag, <script src=x> too", NULL},
    {"an end tag without its start tag", "a</p>b</x>c", "a b</x>c"},
    {"names that are not elements", "<thought>a</thought> <ppp> <p1>", NULL},

    /* entities */
    {"entities", "a &lt;b&gt; &amp; &quot;c&quot;&nbsp;d&#39;s &#x2019;&#8212; &eacute;",
     "a <b> & \"c\" d's \xE2\x80\x99\xE2\x80\x94 \xC3\xA9"},
    {"entities are decoded once", "&amp;lt;p&amp;gt;", "&lt;p&gt;"},
    {"text that is not an entity", "a & b &; &x; &unknown; &lt &#; &#x; &#xZ; ?a=1&copy=2", NULL},
    {"numbers of control or invalid characters are kept", "&#0; &#x1b; &#xD800; &#x110000; &#99999999999999; &#x202E;",
     NULL},
    {"character number of a blank becomes a space", "a&#10;&#160;b", "a b"},

    /* Markdown */
    {"emphasis", "**bold**, *em*, ***both***, __bold__, _em_, ~~gone~~.", "bold, em, both, bold, em, gone."},
    {"emphasis next to words", "**Note:**text (**x**) un**believ**able", "Note:text (x) un**believ**able"},
    {"emphasis of links", "**[Permissions](#permissions) required:** *Administer* [it](https://a.b/c).",
     "Permissions required: Administer it."},
    {"marks that are not emphasis",
     "2*3*4, 2**3, a * b * c, *.txt and *.md, **kwargs, *args, snake_case_name, ~5, a~~b", NULL},
    {"file patterns", "**/*.js, src/**/*_test.c", NULL},
    {"emphasis does not cross paragraphs", "*a\n\nb*", "*a b*"},
    {"runs of more than three marks", "**** a **** *****", NULL},
    {"headings", "# Users\nAll.\n\n### Notes\n#5 #tag", "Users All. Notes #5 #tag"},
    {"underlined headings", "Users\n=====\nNotes\n---\nx", "Users Notes x"},
    {"lists", "- one\n* two\n  + three\n1. four\n-5\n*six*", "- one - two - three 1. four -5 six"},
    {"quotations", "> [!NOTE]\n> In > preview.\n>\n> > # Twice\n>5 > 3\n[!x] [!]",
     "In > preview. Twice >5 > 3 [!x] [!]"},
    {"code next to words", "the`scope`and `User`s", "the scope and User s"},
    {"code", "call `get_user` or ``x`` with `a<b`", "call get_user or x with a<b"},
    {"fences", "Like:\n```json\n{\"a\": 1}\n```\ndone ```x```", "Like: {\"a\": 1} done x"},
    {"a table drawn with bars", "| Name | Type |\n|:---|---:|\n| id | a | \nint | str", "Name Type id a int | str"},
    {"horizontal rules", "a\n***\nb\n- - -\nc", "a b c"},
    {"links", "[the docs](https://a.b/c \"Title\"), [b](#c), [c](d.md)", "the docs, b, c"},
    {"parentheses in the target of a link", "[a](/b_(c)/d) e", "a e"},
    {"a link in the text of a link", "[a [b](/c) d](/e)", "a b d"},
    {"images", "![the logo](logo.png) [![badge](a.svg)](/b) wow!", "the logo badge wow!"},
    {"brackets that are not links", "[optional], a[0], f[i](x), [a] (/b), [a](b, ](/c), [](", NULL},
    {"a link that does not end", "[a](/b [c](/d)", NULL},
    {"escapes", "a \\*b\\* \\[c\\](/d) \\<p\\> C:\\new", "a *b* [c](/d) <p> C:\\new"},

    /* addresses */
    {"an address is reduced to its host", "see https://docs.example.com/a/b?c=d#e. Or (http://x.org:80/).",
     "see docs.example.com. Or (x.org)."},
    {"an address in angle brackets", "<https://a.example/b>", "a.example"},
    {"a link whose text is its address", "[https://a.b/c](https://a.b/c)", "a.b"},
    {"text that is not an address", "https://, http:///x, xhttps://a/b, https:/a, ssh", NULL},
    {"an address with a placeholder", "https://{domain}/api and https://<host>/api", "{domain} and https://<host>/api"},
};

static void removes_markup_only(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buffer out = {0};
        wt__markup_clean(wt__str(rows[i].in), &out);
        const char *want = rows[i].out ? rows[i].out : rows[i].in;
        if (strcmp(out.ptr ? out.ptr : "", want) != 0)
            fail_msg("%s: \"%s\", not \"%s\"", rows[i].name, out.ptr, want);
        wt__buffer_dispose(&out);
    }
}

/* Text that is already in the buffer is kept, even characters that could be markup together with the new text. */
static void appends_to_existing_text(void **state)
{
    (void)state;
    struct buffer out = {0};
    wt__buffer_text(&out, "shop list: wow!");
    wt__markup_clean(STR("[a](/b) *c*"), &out);
    assert_string_equal(out.ptr, "shop list: wow!a c");
    wt__markup_clean(STR(" <p>"), &out);
    assert_string_equal(out.ptr, "shop list: wow!a c");
    wt__buffer_dispose(&out);
}

static const struct {
    const char *in, *out; /* out: NULL if the text has no tag */
} html_rows[] = {
    {"", NULL},
    {"plain, a < b, R&amp;D", NULL},
    {"a generic List<String> and <file>", NULL},
    {"<p>Stops an instance.</p> <p>See <code>List&lt;String&gt;</code> &amp; more.</p>",
     "Stops an instance. See List<String> & more."},
    {"Use **bold** and `code`:<br>\n\n- one\n- [two](https://example.org/two)",
     "Use **bold** and `code`:\n- one\n- [two](https://example.org/two)"},
    {"<p>a</p><!-- a comment --><script>b</script>", "a <!-- a comment --><script>b</script>"},
    {"x<p>", "x"},
    {"<p>", ""},
};

static void strips_html_and_keeps_markdown(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof html_rows / sizeof *html_rows; i++) {
        struct buffer out = {0};
        bool changed = wt__markup_strip_html(wt__str(html_rows[i].in), &out);
        const char *want = html_rows[i].out ? html_rows[i].out : "";
        if (changed != !!html_rows[i].out || strcmp(out.len > 0 ? out.ptr : "", want) != 0)
            fail_msg("%s: \"%s\", not \"%s\"", html_rows[i].in, out.ptr, want);
        wt__buffer_dispose(&out);
    }
}

/* Cleans 1 MiB of each construct. Most are unterminated. Quadratic time would take hours. */
static void cleans_any_text_in_linear_time(void **state)
{
    (void)state;
    static const char *const pieces[] = {
        "<",          "<p ",       "<a b=\"", "<!--",  "</",   "<script>",   "<script src=x>",
        "&",          "&#",        "[",       "](",    "[](",  "[a](b",      "](((.",
        "[a](b)(",    "*",         "*a ",     " **a",  "_a",   "`",          "```\n",
        "~~",         "\\",        "|",       "|\n",   "#\n",  "https://",   "https://:",
        "<https://a", "http://a,", "\n- ",    "\n---", "((((", "[[[[a](/b)", "<!---->",
        "<p>",        "&lt;",
    };
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        struct buffer text = {0}, out = {0};
        while (text.len < (size_t)1 << 20)
            wt__buffer_text(&text, pieces[i]);
        wt__markup_clean(wt__buffer_view(&text), &out);
        assert_false(out.failed);
        assert_true(out.len <= text.len);
        wt__buffer_clear(&out);
        wt__markup_strip_html(wt__buffer_view(&text), &out);
        assert_true(out.len <= text.len);
        wt__buffer_dispose(&text);
        wt__buffer_dispose(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(removes_markup_only),
        cmocka_unit_test(appends_to_existing_text),
        cmocka_unit_test(strips_html_and_keeps_markdown),
        cmocka_unit_test(cleans_any_text_in_linear_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
