/* Tests the splitting of a request into words, and stop words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/buffer.h"
#include "retrieve/words.h"

static void splits_words_of_all_scripts(void **state)
{
    static const struct {
        struct str text;
        const char *words; /* joined by '|' */
    } cases[] = {
        {STR(""), ""},
        {STR(" ,;\t\n"), ""},
        {STR("fork it, star_it"), "fork|it|star|it"},
        {STR("don't re-run v2.5"), "don|t|re|run|v2|5"},
        {STR("\303\251t\303\251 \346\244\234\347\264\242!"), "\303\251t\303\251|\346\244\234\347\264\242"},
        {STR("a\0b"), "a|b"},
        {STR("\377\376"), "\377\376"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buffer joined = {0};
        struct str word;
        for (size_t at = 0; (word = wt__next_word(cases[i].text, &at)).len > 0;) {
            if (joined.len > 0)
                wt__buffer_char(&joined, '|');
            wt__buffer_str(&joined, word);
        }
        if (strcmp(joined.ptr ? joined.ptr : "", cases[i].words) != 0)
            fail_msg("row %zu: %s", i, joined.ptr);
        wt__buffer_dispose(&joined);
    }
}

static void knows_stopwords_in_any_case(void **state)
{
    static const struct {
        const char *word;
        bool is_stopword;
    } cases[] = {{"the", true},  {"The", true},         {"PLEASE", true},
                 {"", false},    {"repository", false}, {"a-word-that-is-longer-than-any-stop-word", false},
                 {"\377", false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (wt__is_stopword_any_case(wt__str(cases[i].word)) != cases[i].is_stopword)
            fail_msg("\"%s\"", cases[i].word);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(splits_words_of_all_scripts),
                                       cmocka_unit_test(knows_stopwords_in_any_case)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
