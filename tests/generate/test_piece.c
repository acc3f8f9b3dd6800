/* Tests the validation of texts in a language model's answers, the search for a tool's name in a note, and the
 * detection of duplicate texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "encoder/model_dir.h"
#include "generate/internal.h"

static wt_error err;

static const struct {
    enum piece_kind kind;
    const char *in, *out; /* out: NULL if refused */
    enum piece_fate fate;
} pieces[] = {
    {PIECE_NAME, "Tide Table", "Tide Table", PIECE_TAKEN},
    {PIECE_NAME, "  Tide \n Table ", "Tide Table", PIECE_TAKEN},
    {PIECE_NAME, "Gezeiten-Tabelle (Küste) & mehr, 2.0", "Gezeiten-Tabelle (Küste) & mehr, 2.0", PIECE_TAKEN},
    {PIECE_NAME, "\u6f6e\u6c50\u8868", "\u6f6e\u6c50\u8868", PIECE_TAKEN},
    {PIECE_NAME, "", NULL, PIECE_NO_WORD},
    {PIECE_NAME, "... 42", NULL, PIECE_NO_WORD},
    {PIECE_NAME, "x", NULL, PIECE_LENGTH},
    {PIECE_NAME, "0123456789012345678901234567890123456789012345678901234567890123a", NULL, PIECE_LENGTH},
    {PIECE_NAME, "Tide \"Table\"", NULL, PIECE_MARKS},
    {PIECE_NAME, "a = b", NULL, PIECE_MARKS},
    {PIECE_NAME, "Tide Table: Tide Height at Time", NULL, PIECE_MARKS},
    {PIECE_NAME, "CALLTOOL", NULL, PIECE_MARKS},
    {PIECE_NAME, "tool [x]", NULL, PIECE_MARKS},
    {PIECE_NAME, "tool \\n", NULL, PIECE_MARKS},
    {PIECE_NAME, "ti\u202ede\a ta\u200bble", "tide table", PIECE_TAKEN},
    {PIECE_DESCRIPTION, "Says how high the water is.", "Says how high the water is.", PIECE_TAKEN},
    {PIECE_DESCRIPTION, "too short", NULL, PIECE_LENGTH},
    {PIECE_DESCRIPTION, "Says it all ### Thought: so", NULL, PIECE_MARKS},
    {PIECE_DESCRIPTION, "Says it all. Act: CALLTOOL[x]", NULL, PIECE_MARKS},
    {PIECE_INSTRUCTION, "When is\nlow water?", "When is low water?", PIECE_TAKEN},
    {PIECE_INSTRUCTION, "12 * (7 + 4)", "12 * (7 + 4)", PIECE_TAKEN},
    {PIECE_DESCRIPTION, "12 * (7 + 4)", NULL, PIECE_NO_WORD},
    {PIECE_INSTRUCTION, "Tool Choices: a = b", NULL, PIECE_MARKS},
    {PIECE_INSTRUCTION, "\xff\xfe\xfd\xfc\xff\xfe", NULL, PIECE_NO_WORD},
    {PIECE_NOTE, "It is so since it is so.", NULL, PIECE_LENGTH},
};

static void test_pieces_are_cleaned_and_validated(void **state)
{
    struct arena arena = {0};
    (void)state;
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        struct str out;
        enum piece_fate fate;
        assert_int_equal(wt__piece_read(&arena, pieces[i].kind, wt__str(pieces[i].in), &out, &fate, &err), 0);
        if (fate != pieces[i].fate)
            fail_msg("\"%s\": %s, wanted %s", pieces[i].in, wt__piece_fate_name(fate),
                     wt__piece_fate_name(pieces[i].fate));
        assert_string_equal(out.ptr, pieces[i].out ? pieces[i].out : "");
    }
    wt__arena_dispose(&arena);
}

static const struct {
    const char *text, *name;
    bool names;
} notes[] = {
    {"The Tide Table is right.", "Tide Table", true},
    {"the tide-table is right", "Tide Table", true},
    {"Tide and table", "Tide Table", false},
    {"The Tide Tables", "Tide Table", false},
    {"", "Tide Table", false},
    {"anything", "", false},
};

static void test_name_is_found_in_note(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
        bool names;
        assert_int_equal(wt__piece_mentions_name(wt__str(notes[i].text), wt__str(notes[i].name), &names, &err), 0);
        assert_int_equal(names, notes[i].names);
    }
}

/* The test adds these texts in order. */
static const struct {
    const char *text;
    enum piece_fate words, meaning; /* result if texts are compared by words only; result with an encoder */
} texts[] = {
    {"Book a table for two in Rome tonight", PIECE_TAKEN, PIECE_TAKEN},
    {"book a table, for TWO: in Rome tonight!", PIECE_SAME_WORDS, PIECE_SAME_WORDS},
    {"Book a table for two in Rome for tonight", PIECE_TAKEN, PIECE_ALIKE},
    {"What will the weather be like on Monday?", PIECE_TAKEN, PIECE_TAKEN},
    {"", PIECE_TAKEN, PIECE_TAKEN},
    {"??", PIECE_SAME_WORDS, PIECE_SAME_WORDS},
};

static void test_duplicate_texts_are_refused(void **state)
{
    struct encoder *encoder = NULL;
    (void)state;
    if (wt__encoder_open(&encoder, MODEL_BUILT_IN, &err) < 0)
        fail_msg("%s", err.message);
    for (int with = 0; with < 2; with++) {
        struct distinct distinct;
        assert_int_equal(wt__distinct_open(&distinct, with ? encoder : NULL, 0.95, &err), 0);
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
            enum piece_fate fate;
            assert_int_equal(wt__distinct_add(&distinct, wt__str(texts[i].text), &fate, &err), 0);
            if (fate != (with ? texts[i].meaning : texts[i].words))
                fail_msg("\"%s\": %s", texts[i].text, wt__piece_fate_name(fate));
        }
        wt__distinct_dispose(&distinct);
    }
    wt__encoder_close(encoder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces_are_cleaned_and_validated),
        cmocka_unit_test(test_name_is_found_in_note),
        cmocka_unit_test(test_duplicate_texts_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
