/* Tests the mood of requests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "retrieve/mood.h"
#include "retrieve/words.h"

static const struct {
    const char *request;
    enum mood mood;
    unsigned actions;
} rows[] = {
    {"has the webhook been delivered?", MOOD_QUESTION, ACTION_READ},
    {"did the export go through", MOOD_QUESTION, ACTION_READ},
    {"whats pinned in #launch", MOOD_QUESTION, ACTION_READ},
    {"what's the topic of #random", MOOD_QUESTION, ACTION_READ},
    {"hey, is anything still in my trash?", MOOD_QUESTION, ACTION_READ},
    {"in asana, who has task 5", MOOD_QUESTION, ACTION_READ},
    {"anything new on arxiv", MOOD_QUESTION, ACTION_READ},
    {"the deploy of last night, did it work?", MOOD_QUESTION, ACTION_READ},
    {"when was the file changed", MOOD_QUESTION, ACTION_READ},
    {"do we have a contact called Ana", MOOD_QUESTION, ACTION_READ},
    /* Polite orders, and orders that begin like questions. */
    {"could you close the issue?", MOOD_ORDER, ACTION_UPDATE | ACTION_DELETE},
    {"would somebody bump the priority?", MOOD_ORDER, 0},
    {"can I cancel order 55?", MOOD_ORDER, ACTION_DELETE},
    {"when the build fails, email me", MOOD_ORDER, ACTION_CREATE},
    {"have the page renamed, delete the rest", MOOD_ORDER, ACTION_DELETE},
    {"what I need: create a playlist", MOOD_ORDER, ACTION_CREATE},
    /* Questions about the tool. */
    {"how do I delete a branch", MOOD_ORDER, ACTION_DELETE},
    {"how to rename a page", MOOD_ORDER, ACTION_UPDATE},
    {"delete the branch", MOOD_ORDER, ACTION_DELETE},
    {"please list the tags", MOOD_ORDER, ACTION_READ},
    {"unpaid invoices of acme", MOOD_NOUN, 0},
    {"branch protection main", MOOD_NOUN, 0},
    {"cus_N2b9 tax ids", MOOD_NOUN, 0},
    /* An order counts before a question, and a question before a statement. */
    {"Is it done? Then archive the board.", MOOD_ORDER, ACTION_UPDATE},
    {"The lamp is on. Who did that?", MOOD_QUESTION, ACTION_READ},
    {"I am the new treasurer", MOOD_OTHER, 0},
    {"", MOOD_OTHER, 0},
    {"?", MOOD_OTHER, 0},
    {"\xFF\xFE", MOOD_NOUN, 0},
};

static void tells_moods_apart(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct request_mood mood = wt__mood(wt__str(rows[i].request));
        if (mood.mood != rows[i].mood || mood.actions != rows[i].actions)
            fail_msg("\"%s\": mood %d, actions %u", rows[i].request, (int)mood.mood, mood.actions);
    }
}

static void reads_number_and_ids(void **state)
{
    static const struct {
        const char *request;
        bool many, identified;
    } cases[] = {
        {"unpaid invoices of acme", true, false},
        {"invoice in_5Rr", false, true},
        {"how many seats are left", true, false},
        {"the status of the address", false, false},
        {"every order above 100 euros", true, true},
        {"pull request 66", false, false},
        {"run 88123", false, true},
        {"all of it", true, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct request_mood mood = wt__mood(wt__str(cases[i].request));
        if (mood.many != cases[i].many || mood.identified != cases[i].identified)
            fail_msg("\"%s\": %d, %d", cases[i].request, mood.many, mood.identified);
    }
}

static void knows_question_words(void **state)
{
    static const struct {
        const char *word;
        bool always, modal; /* expected without and with modal verbs */
    } cases[] = {
        {"What", true, true},   {"is", true, true},     {"isn't", true, true},  {"isnt", true, true},
        {"don't", true, true},  {"can", false, true},   {"can't", false, true}, {"wouldnt", false, true},
        {"when", false, false}, {"list", false, false}, {"want", false, false}, {"", false, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (wt__is_question_word(wt__str(cases[i].word), false) != cases[i].always ||
            wt__is_question_word(wt__str(cases[i].word), true) != cases[i].modal)
            fail_msg("\"%s\"", cases[i].word);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tells_moods_apart), cmocka_unit_test(reads_number_and_ids),
                                       cmocka_unit_test(knows_question_words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
