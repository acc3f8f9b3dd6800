/* Tests the comparison of words by meaning, with the built-in encoder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "encoder/model_dir.h"
#include "retrieve/document.h"
#include "retrieve/soft_words.h"
#include "retrieve/words.h"

enum { WORDS_MAX = 16 };

static struct packed encoder;

/* Compares a request with a tool. part: the text that counts; NULL for the whole request. */
static struct soft_match match(const char *request, const char *part, const char *name, const char *description)
{
    struct arena arena = {0};
    struct row_words_builder builder = {.rows = 0};
    struct document document = {.described = 0};
    struct analyser *analyser;
    struct soft_word words[WORDS_MAX];
    struct soft_words soft;
    uint16_t tokens[ROW_WORDS_MAX];
    const uint32_t row = 0;
    size_t count = 0, at = 0;
    const struct tool tool = {.name = wt__str(name), .description = wt__str(description)};
    assert_int_equal(wt__analyser_open(&analyser, NULL), 0);
    assert_int_equal(wt__document_read(&document, analyser, &tool, NULL), 0);
    struct row_tokens of_row = {tokens, wt__document_words(&document, &tool, &encoder.tokenizer, tokens)};
    assert_int_equal(wt__row_words_add(&builder, of_row, NULL), 0);
    for (struct str word; (word = wt__next_word(wt__str(request), &at)).len > 0;)
        words[count++] = (struct soft_word){word, 1};
    struct row_words rows = wt__row_words_view(&builder);
    assert_int_equal(wt__soft_words_compare(&soft, &encoder, words, count, &rows, &row, 1, &arena, NULL), 0);
    const char *start = part ? strstr(request, part) : request;
    struct soft_match out = wt__soft_match(&soft, wt__str_head(wt__str(start), part ? strlen(part) : strlen(start)), 0);
    wt__analyser_close(analyser);
    wt__document_dispose(&document);
    wt__row_words_dispose(&builder);
    wt__arena_dispose(&arena);
    return out;
}

static void equal_words_have_cosine_1(void **state)
{
    (void)state;
    struct soft_match found = match("picture", NULL, "picture", "");
    assert_true(fabsf(found.name - 1) < 1e-4f && fabsf(found.any - 1) < 1e-4f && found.hits == 1);
    assert_true(fabsf(found.name_mean - 1) < 1e-4f && fabsf(found.name_min - 1) < 1e-4f && found.sentence == 0);
}

static void related_words_are_closer_than_others(void **state)
{
    static const char *const rows[][3] = {
        {"photo", "image", "invoice"}, {"buy", "purchase", "weather"}, {"film", "movie", "calendar"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct soft_match near = match(rows[i][0], NULL, rows[i][1], ""), far = match(rows[i][0], NULL, rows[i][2], "");
        assert_true(near.name > far.name && near.cubed > far.cubed);
        near = match(rows[i][0], NULL, "x", rows[i][1]);
        far = match(rows[i][0], NULL, "x", rows[i][2]);
        assert_true(near.sentence > far.sentence && near.sentence_mean > far.sentence_mean);
    }
}

static void only_words_of_the_text_count(void **state)
{
    (void)state;
    assert_true(match("picture invoice", "picture", "picture", "").hits == 1);
    assert_true(match("picture invoice", "invoice", "picture", "").hits == 0);
    assert_true(match("picture invoice", NULL, "picture", "").hits == .5f);
}

static void nothing_to_compare_matches_nothing(void **state)
{
    (void)state;
    assert_true(match("", NULL, "picture", "Shows a picture.").any == 0);
    assert_true(match("picture", "", "picture", "").any == 0);
    assert_true(match("picture", NULL, "the", "").any == 0); /* a stop word */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_words_have_cosine_1), cmocka_unit_test(related_words_are_closer_than_others),
        cmocka_unit_test(only_words_of_the_text_count), cmocka_unit_test(nothing_to_compare_matches_nothing)};
    if (wt__packed_bind(&encoder, wt__built_in_model, MODEL_BUILT_IN, NULL) < 0)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
