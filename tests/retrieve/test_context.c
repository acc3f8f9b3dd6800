/* Tests how earlier turns of a conversation raise tools, in a search over a few tools by words only. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "retrieve/document.h"
#include "retrieve/retrieve.h"
#include "retrieve/source.h"

static const char *const texts[] = {"close an issue",  "close a channel", "list issues of a repository",
                                    "close a dispute", "open a door",     "invite people"};
enum { TOOLS = sizeof texts / sizeof *texts, OPEN_DOOR = 4 };

static struct snapshot *snapshot;
static struct workspace *workspace;

static int set_up_context(void **state)
{
    static struct snapshot_key keys[TOOLS];
    struct lexical_builder *builder;
    struct analyser *analyser;
    struct document document = {0};
    void *lexical;
    size_t len;
    (void)state;
    assert_int_equal(wt__workspace_open(&workspace, NULL), 0);
    assert_int_equal(wt__analyser_open(&analyser, NULL), 0);
    assert_int_equal(wt__lexical_builder_new(&builder, &wt__lexical_settings, NULL), 0);
    for (size_t row = 0; row < TOOLS; row++) {
        struct tool tool = {.name = STR("t"), .description = wt__str(texts[row])};
        assert_int_equal(wt__document_read(&document, analyser, &tool, NULL), 0);
        assert_int_equal(wt__lexical_builder_add(builder, document.fields, NULL), 0);
        keys[row] = (struct snapshot_key){.id = (int64_t)row + 1, .generation = 1, .provider = (uint32_t)row + 10};
    }
    assert_int_equal(wt__lexical_builder_finish(builder, &lexical, &len, NULL), 0);
    struct snapshot_content content = {.generation = 1,
                                       .settings = wt__document_settings_key(),
                                       .keys = keys,
                                       .rows = TOOLS,
                                       .lexical = lexical,
                                       .lexical_len = len};
    assert_int_equal(wt__snapshot_build(&snapshot, NULL, &content, NULL), 0);
    wt__document_dispose(&document);
    wt__lexical_builder_free(builder);
    wt__analyser_close(analyser);
    free(lexical);
    return 0;
}

static int tear_down_context(void **state)
{
    (void)state;
    wt__workspace_close(workspace);
    wt__snapshot_free(snapshot);
    return 0;
}

static struct hit_list find_in_context(const char *request, const struct context *context)
{
    struct retriever retriever = wt__bm25;
    struct view view = {.snapshot = snapshot, .context = context};
    struct retrieve_request asked = {.text = wt__str(request), .k = TOOLS};
    struct hit_list hits;
    retriever.weights[SOURCE_CONTEXT] = 1;
    assert_int_equal(wt__retrieve(&retriever, &view, &asked, workspace, &hits, NULL), 0);
    return hits;
}

static const struct stage_evidence *stage_of(const struct hit *hit)
{
    for (size_t s = 0; s < HIT_STAGES && hit->stages[s].name; s++)
        if (strcmp(hit->stages[s].name, "context") == 0)
            return &hit->stages[s];
    return NULL;
}

static void adds_nothing_without_context(void **state)
{
    static const struct context empty = {0};
    (void)state;
    for (int with = 0; with < 2; with++) {
        struct hit_list hits = find_in_context("close", with ? &empty : NULL);
        assert_int_equal(hits.len, 3);
        for (size_t i = 0; i < hits.len; i++) {
            assert_null(stage_of(&hits.items[i]));
            assert_float_equal(hits.items[i].score, hits.items[0].score, 0.5);
        }
    }
}

static void finds_tools_of_conversation(void **state)
{
    static const struct context_tool tools[] = {{.row = 0, .share = 0.4f}, {.row = OPEN_DOOR, .share = 1}};
    static const struct context context = {.tools = tools, .count = 2};
    (void)state;
    struct hit_list hits = find_in_context("close", &context);
    assert_int_equal(hits.len, 4);
    assert_int_equal(hits.items[0].row, 0);
    const struct stage_evidence *stage = stage_of(&hits.items[0]);
    const float own = hits.items[0].score - stage->share, least = VALUE_LEAST, share_least = 0.003f;
    assert_float_equal(stage->weight, 1, 1e-6);
    assert_float_equal(stage->score, sqrtf(0.4f) / share_least, 1e-2);
    assert_float_equal(stage->share, (own + least) * stage->score, 1e-2);
    assert_int_equal(stage->rank, 2);
}

/* A provider called in the conversation adds no candidates. It only raises tools that other sources found. */
static void prefers_called_providers(void **state)
{
    (void)state;
    for (uint32_t row = 0; row < TOOLS; row++) {
        const uint32_t provider = row + 10;
        const struct context context = {.providers = &provider, .provider_count = 1};
        struct hit_list hits = find_in_context("close", &context);
        bool closes = row != 2 && row < OPEN_DOOR;
        assert_int_equal(hits.len, 3);
        assert_true(!closes || hits.items[0].row == row);
        assert_true(!closes == !stage_of(&hits.items[0]));
    }
}

/* The weight of the conversation falls with the number of words in the request, but never to 0. */
static void needs_less_context_with_more_words(void **state)
{
    static const char *const requests[] = {"it",
                                           "close it",
                                           "close issue",
                                           "close issue today",
                                           "close issue today quickly please person",
                                           "close issue today quickly person reason friday morning",
                                           "close issue today quickly person reason friday morning berlin office"};
    static const struct context_tool tools[] = {{.row = 0, .share = 1}};
    static const struct context context = {.tools = tools, .count = 1};
    float before = 2;
    (void)state;
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        float weight = stage_of(&find_in_context(requests[i], &context).items[0])->weight;
        bool ends = i == 1 || i == 6; /* beyond both ends of the scale the number of words makes no difference */
        assert_true(weight > 0 && (ends ? weight == before : weight < before));
        before = weight;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adds_nothing_without_context),
        cmocka_unit_test(finds_tools_of_conversation),
        cmocka_unit_test(prefers_called_providers),
        cmocka_unit_test(needs_less_context_with_more_words),
    };
    return cmocka_run_group_tests(tests, set_up_context, tear_down_context);
}
