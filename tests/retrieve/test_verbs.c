/* Tests verbs and their actions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "retrieve/document.h"
#include "retrieve/words.h"

static void knows_verbs_in_any_case(void **state)
{
    static const struct {
        const char *word;
        unsigned actions;
        bool noun;
    } cases[] = {{"create", ACTION_CREATE, false},
                 {"Delete", ACTION_DELETE, false},
                 {"LIST", ACTION_READ, true},
                 {"open", ACTION_READ | ACTION_UPDATE, false},
                 {"unfollow", ACTION_UPDATE | ACTION_DELETE, false},
                 {"unit", 0, false},
                 {"un", 0, false},
                 {"", 0, false},
                 {"creation", 0, false},
                 {"abort", ACTION_DELETE, false},
                 {"write", ACTION_CREATE, false},
                 {"a-word-that-is-longer-than-any-verb", 0, false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct verb verb = wt__verb(wt__str(cases[i].word));
        if (verb.actions != cases[i].actions || verb.noun != cases[i].noun)
            fail_msg("%s: %u, %d", cases[i].word, verb.actions, verb.noun);
    }
    assert_int_equal(wt__verb((struct str){0}).actions, 0);
}

static void reads_actions_from_catalogue(void **state)
{
    static const struct {
        const char *name, *source_id;
        unsigned actions;
    } cases[] = {{"issues/create", "POST /repos/{owner}/{repo}/issues", ACTION_CREATE},
                 {"chat_delete", "POST /chat.delete", ACTION_DELETE},
                 {"GetInvoices", "GET /v1/invoices", ACTION_READ},
                 {"unfollow-playlist", "DELETE /playlists/{id}/followers", ACTION_UPDATE | ACTION_DELETE},
                 {"v1Widgets", "PATCH /widgets/{id}", ACTION_UPDATE},
                 {"v1Widgets", "HEAD /widgets/{id}", ACTION_READ},
                 {"delete_widget", "", 0},
                 {"delete_widget", "17", 0},
                 {"widget", "GETTING", 0}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tool tool = {.name = wt__str(cases[i].name), .source_id = wt__str(cases[i].source_id)};
        unsigned actions = wt__tool_actions(&tool);
        if (actions != cases[i].actions)
            fail_msg("%s, %s: %u", cases[i].name, cases[i].source_id, actions);
    }
}

static void reads_actions_from_annotations(void **state)
{
    (void)state;
    static const struct {
        const char *name, *format, *annotations;
        unsigned actions;
    } cases[] = {
        {"get_page", "mcp", "{\"readOnlyHint\": true}", ACTION_READ},
        {"create_preview", "mcp", "{\"readOnlyHint\": true}", ACTION_READ},
        {"create_page", "mcp", "{\"readOnlyHint\": false}", ACTION_CREATE},
        {"page", "mcp", "{\"readOnlyHint\": false}", ACTION_CREATE | ACTION_UPDATE | ACTION_DELETE},
        {"page", "mcp", "{\"readOnlyHint\": false, \"destructiveHint\": false}", ACTION_CREATE | ACTION_UPDATE},
        {"delete_page", "mcp", "{\"destructiveHint\": true}", 0},
        {"delete_page", "mcp", "{\"readOnlyHint\": \"no\"}", 0},
        {"delete_page", "mcp", "\"readOnlyHint\"", 0},
        {"delete_page", "mcp", "{\"readOnlyHint\": false", 0}, /* not JSON */
        {"delete_page", "openai", "{\"readOnlyHint\": false}", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char definition[200];
        snprintf(definition, sizeof definition, "{\"name\": \"x\", \"annotations\": %s}", cases[i].annotations);
        struct tool tool = {
            .name = wt__str(cases[i].name), .format = wt__str(cases[i].format), .definition = wt__str(definition)};
        unsigned actions = wt__tool_actions(&tool);
        if (actions != cases[i].actions)
            fail_msg("%s, %s: %u", cases[i].name, cases[i].annotations, actions);
    }
}

static void reads_verbs_of_names_before_descriptions(void **state)
{
    (void)state;
    static const struct {
        const char *name, *description;
        unsigned verbs;
    } cases[] = {
        {"delete_page", "Lists pages.", ACTION_DELETE},
        {"list_pages", "", ACTION_READ | RETURNS_MANY},
        {"get_page", "", ACTION_READ | RETURNS_ONE},
        {"FinanceTool", "Creates invoices.", ACTION_CREATE | ACTIONS_GUESSED},
        {"StockTool", "Lists the best shares.", ACTION_READ | RETURNS_ONE | ACTIONS_GUESSED},
        {"CourseTool", "A world of knowledge.", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct tool tool = {.name = wt__str(cases[i].name), .description = wt__str(cases[i].description)};
        unsigned verbs = wt__tool_verbs(&tool);
        if (verbs != cases[i].verbs)
            fail_msg("%s: %u", cases[i].name, verbs);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_verbs_of_names_before_descriptions), cmocka_unit_test(knows_verbs_in_any_case),
        cmocka_unit_test(reads_actions_from_catalogue), cmocka_unit_test(reads_actions_from_annotations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
