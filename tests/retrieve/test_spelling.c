/* Tests which words of a request are corrected, which are kept as they are, and which are reported as unknown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "base/rng.h"
#include "retrieve/document.h"
#include "retrieve/spelling.h"

static const char *const tools[] = {
    "createIssue: creates an issue in a GitHub repository, for a collaborator",
    "sendMessage: sends a message to a Slack channel, or schedules it",
    "listEvents: the events of a calendar, with their meetings",
    "deleteInvoice: removes an invoice of a Stripe customer, by subscription",
    "addTrack: puts a track into a Spotify playlist, or pauses it",
    "moveFile: moves a file to another directory, and files it there",
    "search: finds papers on arXiv",
    "rate: the rate of a task for an Asana project; a budget; type and quantity",
};

static struct workspace *workspace;
static struct lexical lexical;
static struct arena arena;
static void *block;

static int set_up_spelling(void **state)
{
    (void)state;
    struct lexical_builder *builder;
    struct document document = {0};
    struct analyser *analyser;
    size_t len;
    assert_int_equal(wt__workspace_open(&workspace, NULL), 0);
    assert_int_equal(wt__analyser_open(&analyser, NULL), 0);
    assert_int_equal(wt__lexical_builder_new(&builder, &wt__lexical_settings, NULL), 0);
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
        size_t name = strcspn(tools[i], ":");
        struct tool tool = {.name = {tools[i], name}, .description = wt__str(tools[i] + name + 1)};
        assert_int_equal(wt__document_read(&document, analyser, &tool, NULL), 0);
        assert_int_equal(wt__lexical_builder_add(builder, document.fields, NULL), 0);
    }
    assert_int_equal(wt__lexical_builder_finish(builder, &block, &len, NULL), 0);
    assert_int_equal(wt__lexical_view(&lexical, block, len, NULL), 0);
    wt__lexical_builder_free(builder);
    wt__document_dispose(&document);
    wt__analyser_close(analyser);
    return 0;
}

static int tear_down_spelling(void **state)
{
    (void)state;
    wt__workspace_close(workspace);
    wt__arena_dispose(&arena);
    free(block);
    return 0;
}

static struct str read_as(struct str request)
{
    struct str read;
    wt__arena_reset(&arena);
    assert_int_equal(wt__spelling_read(&read, request, &lexical, workspace, &arena, NULL), 0);
    return read;
}

static void corrects_misspelt_words(void **state)
{
    (void)state;
    static const struct {
        const char *request, *read;
    } cases[] = {
        /* Words of the catalogue. */
        {"creat an isue in the githbu repo", "create an issue in the github repo"},
        {"remvoe the invocie", "remove the invoice"},
        {"shcedule a slak mesage", "schedule a slack message"},
        {"a trak for my spotfiy playlst", "a track for my spotify playlist"}, /* Spotify is not in the vocabulary */
        {"the arxvi papre of the asna project", "the arxiv paper of the asana project"},
        {"evnt of my calander", "event of my calendar"},
        {"my subscribtion to the gitjub repostory", "my subscription to the github repository"},
        {"colaborators of the channnel", "collaborators of the channel"}, /* the typed ending "s" is kept */
        {"pase it, then dleete it", "pause it, then delete it"},
        {"repositroies", "repositories"},
        /* Words that only the vocabulary has. Two letters are swapped, or a doubled letter is missing. */
        {"git comit abuot teh musci", "git commit about the music"},
        {"waht is it", "what is it"},
        /* Words with a known stem. They are corrected only to a word of the catalogue, so "runing" is kept. */
        {"a meetting of the events", "a meeting of the events"},
        {"the runing task, creat it", "the runing task, create it"},
        /* Case, punctuation and blanks are kept. */
        {"Shcedule it. Opne the fiel!  (isue)", "Schedule it. Opne the file!  (issue)"},
        {"Dleete it\nMesage her", "Delete it\nMessage her"},
        {"isue, isue; isue: isue? isue.", "issue, issue; issue: issue? issue."},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct str read = read_as(wt__str(cases[i].request));
        if (!wt__str_equal(read, wt__str(cases[i].read)))
            fail_msg("\"%s\" is read as \"%.*s\"", cases[i].request, (int)read.len, read.ptr);
    }
}

static void keeps_words_that_may_be_intended(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "create an issue in the GitHub repository",
        "invite Priya, Kofi and Mr Mesage to the Slack channel", /* names */
        "ask Spotfy and Gogle for Stauts",
        "open 'isue' and \"mesage\" and `chanel` and “papre” and «trak» and ‘evnt’ and „playlst“", /* quoted */
        "isue.txt, src/mesage, mesage@example.com, https://mesage.example, create_isue, #chanel, chanel-2",
        "isue42 v1.mesage createIsue ISUE",
        "gh api repos/{owner}/isue?per_page=3 | jq '.mesage'",
        "tommorow",                                 /* two mistakes, and no tool has "tomorrow" */
        "the raincoat of a vlogger in a treehouse", /* unknown words without a similar known word */
        "quantify it with a typo or two",           /* quantity and type are words of the catalogue */
        "trackable messaging",                      /* derived from words of the catalogue */
        "gcp sdk cli vpn wif xyz",                  /* too short to be certain */
        "habe isue kalendar einen neuen termin",    /* another language */
        "Lösche das Ereignis isue am Freitag",
        "Qui sont les membres de cette liste sur Slack ?",
        "¿Qué hora será aquí cuando sean las seis de la tarde?",
        "日历 isue",
        "",
        " \n ",
        "'",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct str request = wt__str(cases[i]), read = read_as(request);
        if (read.ptr != request.ptr || read.len != request.len)
            fail_msg("\"%s\" is read as \"%.*s\"", cases[i], (int)read.len, read.ptr);
    }
}

static void ignores_unclosed_quotes(void **state)
{
    (void)state;
    struct str read = read_as(STR("'isue, the users' mesage \"isue"));
    assert_int_equal(read.len, strlen("'isue, the users' message \"isue"));
}

static void keeps_long_requests_and_many_unknown_words(void **state)
{
    (void)state;
    static char text[SPELLING_REQUEST_MAX + 6];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = "isue "[i % 5];
    struct str longest = {text, SPELLING_REQUEST_MAX}, few = {text, 5 * SPELLING_WORDS_MAX}, many = {text, few.len + 5};
    assert_ptr_equal(read_as((struct str){text, SPELLING_REQUEST_MAX + 1}).ptr, text);
    assert_ptr_equal(read_as(longest).ptr, text);
    assert_ptr_equal(read_as(many).ptr, text);
    assert_int_equal(read_as(few).len, 6 * SPELLING_WORDS_MAX);
}

static void lists_unknown_words(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words; /* joined by '|' */
        bool keywords;
    } cases[] = {
        {"linear create issue", "linear", true},
        {"linear createIssue", "linear", true},
        {"order a large pizza with extra cheese, a pizza", "order|large|pizza|extra|cheese", false},
        {"the message of 2025-11-24 at 9am", "", false},
        {"create_issue for Mr Moreau", "Moreau", false},
        {"Instagram", "Instagram", false},
        {"slack message", "", true},
        {"zoom call / phone", "zoom|call|phone", false},
        {"one two three four five six seven", "one|two|three|four|five|six|seven", false},
        {"日历 zoom", "zoom", false},
        {"", "", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct unknown_words unknown;
        char joined[256] = "";
        size_t len = 0;
        wt__arena_reset(&arena);
        assert_int_equal(wt__unknown_words(&unknown, wt__str(cases[i].text), &lexical, workspace, &arena, NULL), 0);
        for (size_t w = 0; w < unknown.len; w++)
            len += (size_t)snprintf(joined + len, sizeof joined - len, "%s%.*s", w ? "|" : "",
                                    (int)unknown.words[w].len, unknown.words[w].ptr);
        if (strcmp(joined, cases[i].words) != 0 || unknown.keywords != cases[i].keywords)
            fail_msg("\"%s\": %s, keywords %d", cases[i].text, joined, unknown.keywords);
    }
}

static void accepts_arbitrary_bytes(void **state)
{
    (void)state;
    static const char some[] = "isuemg '\"`.\n\xC3\xB6\xFF\xE2\x80\x9C";
    struct rng rng;
    char text[64];
    wt__rng_seed(&rng, 9);
    for (int i = 0; i < 3000; i++) {
        struct str request = {text, wt__rng_below(&rng, sizeof text)};
        struct unknown_words unknown;
        for (size_t j = 0; j < request.len; j++)
            text[j] = i % 2 ? some[wt__rng_below(&rng, sizeof some)] : (char)wt__rng_below(&rng, 256);
        struct str read = read_as(request);
        assert_true(read.len <= request.len + 2 * request.len);
        assert_int_equal(wt__unknown_words(&unknown, read, &lexical, workspace, &arena, NULL), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(corrects_misspelt_words), cmocka_unit_test(keeps_words_that_may_be_intended),
        cmocka_unit_test(ignores_unclosed_quotes), cmocka_unit_test(keeps_long_requests_and_many_unknown_words),
        cmocka_unit_test(lists_unknown_words),     cmocka_unit_test(accepts_arbitrary_bytes),
    };
    return cmocka_run_group_tests(tests, set_up_spelling, tear_down_spelling);
}
