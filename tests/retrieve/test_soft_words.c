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

enum { TOOLS_MAX = 4 };

/* Compares a request with tools {name, description} of one provider. part: the text that counts; NULL for the whole
 * request. matches: [count]. */
static void match_tools(const char *request, const char *part, const char *const (*tools)[2], size_t tool_count,
                        struct soft_match *matches)
{
    struct arena arena = {0};
    struct row_words_builder builder = {.rows = 0};
    struct document document = {.described = 0};
    struct analyser *analyser;
    struct soft_word words[WORDS_MAX];
    struct soft_words soft;
    uint16_t tokens[ROW_WORDS_MAX];
    static const uint32_t numbers[TOOLS_MAX] = {0}, order[TOOLS_MAX] = {0, 1, 2, 3};
    const uint32_t end = (uint32_t)tool_count;
    const struct candidate_providers providers = {1, numbers, order, &end};
    size_t count = 0, at = 0;
    assert_int_equal(wt__analyser_open(&analyser, NULL), 0);
    for (size_t t = 0; t < tool_count; t++) {
        const struct tool tool = {.name = wt__str(tools[t][0]), .description = wt__str(tools[t][1])};
        assert_int_equal(wt__document_read(&document, analyser, &tool, NULL), 0);
        struct row_tokens of_row = {tokens, wt__document_words(&document, &tool, &encoder.tokenizer, tokens)};
        assert_int_equal(wt__row_words_add(&builder, of_row, NULL), 0);
    }
    for (struct str word; (word = wt__next_word(wt__str(request), &at)).len > 0;)
        words[count++] = (struct soft_word){word, 1};
    struct row_words rows = wt__row_words_view(&builder);
    assert_int_equal(
        wt__soft_words_compare(&soft, &encoder, words, count, &rows, order, tool_count, &providers, &arena, NULL), 0);
    const char *start = part ? strstr(request, part) : request;
    wt__soft_match(&soft, wt__str_head(wt__str(start), part ? strlen(part) : strlen(start)), matches);
    wt__analyser_close(analyser);
    wt__document_dispose(&document);
    wt__row_words_dispose(&builder);
    wt__arena_dispose(&arena);
}

static struct soft_match match(const char *request, const char *part, const char *name, const char *description)
{
    const char *const tools[1][2] = {{name, description}};
    struct soft_match out;
    match_tools(request, part, tools, 1, &out);
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

/* Both tools delete a card. The text asks for no more, and "permanently" is only in the second. */
static void words_that_the_text_lacks_are_an_excess(void **state)
{
    static const char *const tools[][2] = {
        {"delete_card", "Deletes a card."}, {"delete_card_permanently", "Deletes a card forever."}, {"card", ""}};
    struct soft_match found[3];
    (void)state;
    match_tools("delete card", NULL, tools, 3, found);
    assert_true(found[0].own_name_excess > -1e-4f && found[0].rare_name_excess > -1e-4f);
    assert_true(found[1].own_name_excess < -.1f && found[1].rare_name_excess < -.1f);
    assert_true(found[0].own_name > found[1].own_name && found[0].rare_name > found[1].rare_name);
    assert_true(found[1].own_sentence_excess < found[0].own_sentence_excess);
    assert_true(found[2].own_name_excess > -1e-4f && found[2].own_sentence_excess == 0);
}

static void sums_of_equal_words_have_cosine_1(void **state)
{
    (void)state;
    struct soft_match found = match("photo album", NULL, "album_photo", "");
    assert_true(fabsf(found.name_cosine - 1) < 1e-4f && fabsf(found.cosine - 1) < 1e-4f);
    found = match("photo", NULL, "photo", "Weather forecast.");
    assert_true(fabsf(found.name_cosine - 1) < 1e-4f && found.cosine < .99f);
    assert_true(match("photo", NULL, "", "Photo.").name_cosine == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(equal_words_have_cosine_1),
                                       cmocka_unit_test(related_words_are_closer_than_others),
                                       cmocka_unit_test(only_words_of_the_text_count),
                                       cmocka_unit_test(nothing_to_compare_matches_nothing),
                                       cmocka_unit_test(words_that_the_text_lacks_are_an_excess),
                                       cmocka_unit_test(sums_of_equal_words_have_cosine_1)};
    if (wt__packed_bind(&encoder, wt__built_in_model, MODEL_BUILT_IN, NULL) < 0)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
