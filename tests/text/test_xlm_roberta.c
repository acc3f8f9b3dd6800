/* Compares the tokenizer of multilingual models with the reference library on texts in nine languages. The tokenizer is
 * built from a tokenizer.json. make_xlm_roberta_golden.py writes the expected ids. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "text/encode_pair.h"
#include "text/opened.h"

enum { MOST = 128 };

static void ids_equal_the_reference(void **state)
{
    char path[PATH_BYTES];
    struct opened own;
    size_t rows = 0;
    (void)state;
    own_path(path, "xlm_roberta/tokenizer.json");
    struct str json = read_whole(path);
    open_json(&own, json.ptr);
    own_path(path, "xlm_roberta/golden.jsonl");
    struct str text = read_whole(path), rest = text, line;
    for (; next_line(&rest, &line); rows++) {
        json_t *row = parse_reference_json(line), *want = json_object_get(row, "ids");
        int32_t ids[MOST], types[MOST];
        struct str pair = text_of(row, "pair");
        size_t count = pair.ptr ? encode_pair(&own.tokenizer, text_of(row, "text"), pair, MOST, TOKENIZER_LONGEST_FIRST,
                                              ids, types)
                                : wt__tokenizer_encode(&own.tokenizer, text_of(row, "text"), MOST, ids);
        bool equal = count == json_array_size(want);
        for (size_t i = 0; equal && i < count; i++)
            equal = json_integer_value(json_array_get(want, i)) == ids[i];
        if (!equal)
            fail_msg("line %zu: %.*s", rows + 1, (int)line.len, line.ptr);
        json_decref(row);
    }
    assert_int_equal(rows, 32);
    assert_int_equal(own.tokenizer.special[TOKENIZER_CLS], 0);
    assert_int_equal(own.tokenizer.special[TOKENIZER_SEP], 2);
    assert_int_equal(own.tokenizer.special[TOKENIZER_UNK], 3);
    assert_true(own.tokenizer.pair_two_seps && !own.tokenizer.pair_types);
    free((void *)text.ptr);
    free((void *)json.ptr);
    dispose_opened(&own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ids_equal_the_reference)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
