/* Tests the action of a request, and the scores of tools with and without that action. test_verbs.c tests the
 * actions of tools without a request. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "retrieve/document.h"
#include "retrieve/source.h"
#include "retrieve/words.h"

/* Actions of the candidates. The last but one tool has no known action. The last tool has two actions. */
static const unsigned done[] = {
    ACTION_READ, ACTION_CREATE, ACTION_UPDATE, ACTION_DELETE, 0, ACTION_READ | ACTION_DELETE};
enum { TOOLS = sizeof done / sizeof *done };

/* signs: one character per tool: '+' if the tool performs the requested action, '-' if it performs another one, ' '
 * if its score is 0. */
static const struct {
    const char *request, *signs;
} rows[] = {
    {"delete the branch", "---+ +"},
    {"Please DELETE the branch", "---+ +"},
    {"list all branches", "+--- +"},
    {"could you create a branch", "-+-- -"},
    {"the old branch, delete it", "---+ +"}, /* the verb is among the first content words */
    {"rename the branch", "--+- -"},
    {"open the branch", "+-+- +"},
    {"which branches are there", "+--- +"},                      /* a question asks for reading */
    {"how do I delete a branch", "---+ +"},                      /* asks for the tool */
    {"a very old forgotten branch deep below delete", "      "}, /* the verb is too far from the beginning */
    {"branches", "      "},
    {"", "      "},
    {"\xFF\xFE ?", "+--- +"},
};

/* Writes the signs of text `t` of the request. */
static void read_signs(const struct source_query *query, size_t t, char signs[TOOLS + 1])
{
    for (size_t c = 0; c < TOOLS; c++) {
        float score = wt__ranking(query, t, SOURCE_ACTION)->scores[c];
        signs[c] = score > 0 ? '+' : score < 0 ? '-' : ' ';
    }
    signs[TOOLS] = '\0';
}

static void scores_tools_by_action(void **state)
{
    struct snapshot_key keys[TOOLS] = {0};
    uint32_t candidates[TOOLS];
    float scores[TOOLS];
    char signs[TOOLS + 1];
    struct workspace *workspace = calloc(1, sizeof *workspace);
    const struct snapshot snapshot = {.keys = keys, .rows = TOOLS};
    const struct view view = {.snapshot = &snapshot};
    struct source_query query = {.view = &view, .workspace = workspace, .rows = candidates, .count = TOOLS};
    (void)state;
    for (uint32_t c = 0; c < TOOLS; c++) {
        keys[c].actions = done[c];
        candidates[c] = c;
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        memset(scores, 0, sizeof scores);
        workspace->text_count = 1;
        workspace->texts[0] = (struct text){.bytes = wt__str(rows[i].request), .written = wt__str(rows[i].request)};
        workspace->texts[0].rankings[SOURCE_ACTION].scores = scores;
        assert_int_equal(wt__sources[SOURCE_ACTION]->search(&query, NULL), 0);
        assert_int_equal(wt__sources[SOURCE_ACTION]->score_rows(&query, NULL), 0);
        read_signs(&query, 0, signs);
        if (strcmp(signs, rows[i].signs) != 0)
            fail_msg("\"%s\": %s", rows[i].request, signs);
    }
    free(workspace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(scores_tools_by_action)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
