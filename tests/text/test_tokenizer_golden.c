/* Compares token ids with those of the reference library, for tokenizer files and texts of the reference data. If a
 * file of the reference data is missing, the test prints its name and is skipped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "text/encode_pair.h"
#include "text/support.h"
#include "text/tokenizer.h"
#include "text/unicode.h"

enum { MAX_IDS = 4096 };

/* A tokenizer and its blob. */
struct golden_tokenizer {
    struct tokenizer tokenizer;
    struct buffer blob;
};

/* Returns the contents of file `name` in a folder of the reference data, empty if the file is missing or name is
 * NULL. */
static struct str optional_file(const char *folder, const char *name)
{
    char relative[256], path[PATH_BYTES];
    if (!name)
        return (struct str){NULL, 0};
    snprintf(relative, sizeof relative, "golden/%s/%s", folder, name);
    return shared_path(path, relative) ? read_whole(path) : (struct str){NULL, 0};
}

static bool open_golden_folder(struct golden_tokenizer *out, const char *folder, const char *json,
                               const char *vocabulary, const char *merges)
{
    struct tokenizer_files files = {0};
    struct str *target = !vocabulary                            ? &files.vocab_txt
                         : strcmp(vocabulary, "spm.model") == 0 ? &files.spm_model
                         : merges                               ? &files.vocab_json
                                                                : &files.vocab_txt;
    wt_error err = {0};

    memset(out, 0, sizeof *out);
    files.tokenizer_json = optional_file(folder, json);
    *target = optional_file(folder, vocabulary);
    files.merges_txt = optional_file(folder, merges);
    files.tokenizer_config_json = optional_file(folder, "tokenizer_config.json");
    bool there = files.tokenizer_json.len > 0 || target->len > 0;
    int rc = there ? wt__tokenizer_build(&out->blob, &files, &err) : 0;
    if (rc != 0)
        fail_msg("%s: %s", folder, err.message);
    free((void *)files.tokenizer_json.ptr);
    free((void *)target->ptr);
    free((void *)files.merges_txt.ptr);
    free((void *)files.tokenizer_config_json.ptr);
    if (!there)
        return false;
    assert_int_equal(wt__tokenizer_open(&out->tokenizer, out->blob.ptr, out->blob.len, &err), 0);
    return true;
}

static bool ids_equal(const json_t *expected, const int32_t *ids, size_t count)
{
    if (json_array_size(expected) != count)
        return false;
    for (size_t i = 0; i < count; i++)
        if (json_integer_value(json_array_get(expected, i)) != ids[i])
            return false;
    return true;
}

static void print_difference(const char *what, const json_t *expected, const int32_t *ids, size_t count)
{
    char *text = json_dumps(expected, JSON_COMPACT);
    print_error("%s\n  expected %s\n  but      [", what, text);
    for (size_t i = 0; i < count; i++)
        print_error("%s%d", i ? "," : "", (int)ids[i]);
    print_error("]\n");
    free(text);
}

/* Every way to build each tokenizer. column: member of golden.jsonl with the expected ids. */
static const struct {
    const char *folder, *json, *vocabulary, *merges, *column;
    size_t rows;
} sources[] = {
    {"tokenizers/wordpiece", "tokenizer.json", NULL, NULL, "ids", 2000},
    {"tokenizers/wordpiece", NULL, "vocab.txt", NULL, "ids", 2000},
    {"tokenizers/unigram", "tokenizer.json", NULL, NULL, "ids", 1500},
    {"tokenizers/unigram", NULL, "spm.model", NULL, "ids", 1500},
    {"tokenizers/unigram", "tokenizer_transformers5.json", NULL, NULL, "ids_transformers5", 1500},
    {"tokenizers/bpe", "tokenizer.json", NULL, NULL, "ids", 500},
    {"tokenizers/bpe", NULL, "vocab.json", "merges.txt", "ids", 500},
};

static void texts_equal_the_reference(void **state)
{
    static int32_t ids[MAX_IDS];
    (void)state;
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        char relative[256], path[PATH_BYTES];
        struct golden_tokenizer opened;
        size_t rows = 0, equal = 0;

        snprintf(relative, sizeof relative, "golden/%s/golden.jsonl", sources[i].folder);
        if (!shared_path(path, relative) ||
            !open_golden_folder(&opened, sources[i].folder, sources[i].json, sources[i].vocabulary, sources[i].merges))
            skip();
        struct str text = read_whole(path), rest = text, line;
        for (; next_line(&rest, &line); rows++) {
            json_t *row = parse_reference_json(line);
            size_t count = wt__tokenizer_encode(&opened.tokenizer, text_of(row, "text"), MAX_IDS, ids);
            const json_t *expected = json_object_get(row, sources[i].column);
            if (ids_equal(expected, ids, count))
                equal++;
            else if (rows - equal < 10)
                print_difference(text_of(row, "text").ptr, expected, ids, count);
            json_decref(row);
        }
        print_message("%s, %s: %zu of %zu\n", sources[i].folder,
                      sources[i].json ? sources[i].json : sources[i].vocabulary, equal, rows);
        assert_int_equal(rows, sources[i].rows);
        assert_int_equal(equal, rows);
        free((void *)text.ptr);
        wt__buffer_dispose(&opened.blob);
    }
}

static enum tokenizer_truncation truncation_of(const json_t *row)
{
    struct str name = text_of(row, "truncation");
    if (wt__str_equal(name, STR("only_first")))
        return TOKENIZER_ONLY_FIRST;
    return wt__str_equal(name, STR("only_second")) ? TOKENIZER_ONLY_SECOND : TOKENIZER_LONGEST_FIRST;
}

static void pairs_equal_the_reference(void **state)
{
    static const struct {
        const char *folder, *json, *vocabulary, *merges;
        size_t rows;
    } cases[] = {
        {"tokenizers/wordpiece", "tokenizer.json", NULL, NULL, 137},
        {"tokenizers/wordpiece", NULL, "vocab.txt", NULL, 137},
        {"tokenizers/unigram", "tokenizer.json", NULL, NULL, 80},
        {"tokenizers/unigram", NULL, "spm.model", NULL, 80},
        {"tokenizers/bpe", "tokenizer.json", NULL, NULL, 43},
        {"tokenizers/bpe", NULL, "vocab.json", "merges.txt", 43},
    };
    static int32_t ids[MAX_IDS], types[MAX_IDS];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char relative[256], path[PATH_BYTES];
        struct golden_tokenizer opened;
        size_t rows = 0;

        snprintf(relative, sizeof relative, "golden/%s/pairs.jsonl", cases[i].folder);
        if (!shared_path(path, relative) ||
            !open_golden_folder(&opened, cases[i].folder, cases[i].json, cases[i].vocabulary, cases[i].merges))
            skip();
        struct str text = read_whole(path), rest = text, line;
        for (; next_line(&rest, &line); rows++) {
            json_t *row = parse_reference_json(line);
            const json_t *limit = json_object_get(row, "max_length"), *kinds = json_object_get(row, "token_type_ids");
            size_t max_tokens = limit ? (size_t)json_integer_value(limit) : MAX_IDS;
            size_t count = encode_pair(&opened.tokenizer, text_of(row, "a"), text_of(row, "b"), max_tokens,
                                       truncation_of(row), ids, types);
            if (!ids_equal(json_object_get(row, "ids"), ids, count)) {
                print_difference(text_of(row, "a").ptr, json_object_get(row, "ids"), ids, count);
                fail_msg("%s, line %zu", cases[i].folder, rows + 1);
            }
            if (kinds)
                assert_true(ids_equal(kinds, types, count));
            for (size_t j = 0; !kinds && j < count; j++)
                assert_int_equal(types[j], 0);
            json_decref(row);
        }
        assert_int_equal(rows, cases[i].rows);
        free((void *)text.ptr);
        wt__buffer_dispose(&opened.blob);
    }
}

/* Encodes the texts of each model, truncated to the maximum length of the model. */
static void model_folders_equal_the_reference(void **state)
{
    static const struct {
        const char *texts, *folder, *json, *vocabulary, *merges;
    } cases[] = {
        {"bert", "encoders/bert", "tokenizer.json", NULL, NULL},
        {"bert", "encoders/bert", NULL, "vocab.txt", NULL},
        {"distilbert", "encoders/distilbert", "tokenizer.json", NULL, NULL},
        {"distilbert", "encoders/distilbert", NULL, "vocab.txt", NULL},
        {"mpnet", "encoders/mpnet", "tokenizer.json", NULL, NULL},
        {"mpnet", "encoders/mpnet", NULL, "vocab.txt", NULL},
        {"roberta", "encoders/roberta", "tokenizer.json", NULL, NULL},
        {"roberta", "encoders/roberta", NULL, "vocab.json", "merges.txt"},
        {"deberta_v3", "encoders/deberta_v3", "tokenizer.json", NULL, NULL},
        {"deberta_v3", "encoders/deberta_v3", NULL, "spm.model", NULL},
        {"deberta_v2_misc", "encoders/deberta_v3", "tokenizer.json", NULL, NULL},
        {"deberta_v2_embproj", "encoders/deberta_v3", "tokenizer.json", NULL, NULL},
    };
    static int32_t ids[MAX_IDS];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char relative[256], path[PATH_BYTES];
        struct golden_tokenizer opened;

        snprintf(relative, sizeof relative, "golden/encoders/%s/golden_texts.json", cases[i].texts);
        if (!shared_path(path, relative) ||
            !open_golden_folder(&opened, cases[i].folder, cases[i].json, cases[i].vocabulary, cases[i].merges))
            skip();
        struct str text = read_whole(path);
        json_t *root = parse_reference_json(text), *texts = json_object_get(root, "texts");
        size_t max_tokens = (size_t)json_integer_value(json_object_get(root, "max_length"));
        assert_true(json_array_size(texts) > 0);
        for (size_t j = 0; j < json_array_size(texts); j++) {
            const json_t *value = json_array_get(texts, j), *expected = json_array_get(json_object_get(root, "ids"), j);
            struct str one = {json_string_value(value), json_string_length(value)};
            size_t count = wt__tokenizer_encode(&opened.tokenizer, one, max_tokens, ids);
            if (!ids_equal(expected, ids, count)) {
                print_difference(one.ptr, expected, ids, count);
                fail_msg("%s", cases[i].folder);
            }
        }
        json_decref(root);
        free((void *)text.ptr);
        wt__buffer_dispose(&opened.blob);
    }
}

/* ---------------------------------------------------------------- normalisers, and the character map alone */

static bool append_golden_text(void *context, struct str bytes)
{
    wt__buffer_append(context, bytes.ptr, bytes.len);
    return true;
}

static size_t count_normalized(const struct normalizer *normalizer, struct str text, const char *column)
{
    struct str rest = text, line;
    size_t equal = 0;

    while (next_line(&rest, &line)) {
        json_t *row = parse_reference_json(line);
        struct buffer out = {0};
        wt__normalizer_run(normalizer, text_of(row, "text"), append_golden_text, &out);
        if (wt__str_equal(wt__buffer_view(&out), text_of(row, column)))
            equal++;
        else
            print_error("%s: %.*s\n", column, (int)line.len, line.ptr);
        wt__buffer_dispose(&out);
        json_decref(row);
    }
    return equal;
}

static void normalisers_equal_the_reference(void **state)
{
    char path[PATH_BYTES];
    struct golden_tokenizer four, five;
    (void)state;
    if (!shared_path(path, "golden/tokenizers/unigram/normalizer.jsonl") ||
        !open_golden_folder(&four, "tokenizers/unigram", "tokenizer.json", NULL, NULL) ||
        !open_golden_folder(&five, "tokenizers/unigram", "tokenizer_transformers5.json", NULL, NULL))
        skip();
    struct str text = read_whole(path);
    struct normalizer alone = {.map = four.tokenizer.unigram.normalizer.map};
    wt__normalizer_prepare(&alone);
    assert_int_equal(count_normalized(&alone, text, "precompiled"), 3000);
    assert_int_equal(count_normalized(&four.tokenizer.unigram.normalizer, text, "full_v4"), 3000);
    assert_int_equal(count_normalized(&five.tokenizer.unigram.normalizer, text, "transformers5"), 3000);
    free((void *)text.ptr);
    wt__buffer_dispose(&four.blob);
    wt__buffer_dispose(&five.blob);
}

/* ---------------------------------------------------------------- tables of all code points */

static void mark_class(unsigned char *table, const json_t *ranges, unsigned char value)
{
    for (size_t i = 0; i < json_array_size(ranges); i++) {
        const json_t *range = json_array_get(ranges, i);
        for (json_int_t c = json_integer_value(json_array_get(range, 0));
             c <= json_integer_value(json_array_get(range, 1)); c++)
            table[c] = value;
    }
}

static void classes_equal_the_reference(void **state)
{
    enum { CODE_POINTS = 0x110000 };
    char path[PATH_BYTES];
    (void)state;
    if (!shared_path(path, "golden/tokenizers/unicode/bytelevel_classes.json"))
        skip();
    struct str text = read_whole(path);
    json_t *root = parse_reference_json(text);
    unsigned char *table = calloc(CODE_POINTS, 1);
    assert_non_null(table);
    mark_class(table, json_object_get(root, "L"), BPE_LETTER);
    mark_class(table, json_object_get(root, "N"), BPE_NUMBER);
    mark_class(table, json_object_get(root, "S"), BPE_BLANK);
    for (uint32_t c = 0; c < CODE_POINTS; c++) {
        if ((c < 0xD800 || c > 0xDFFF) && (unsigned)wt__bpe_class(c) != table[c])
            fail_msg("U+%04X", (unsigned)c);
        assert_int_equal(wt__unicode_blank(c), table[c] == BPE_BLANK);
    }
    free(table);
    json_decref(root);
    free((void *)text.ptr);
}

static void the_character_map_equals_the_reference_on_every_code_point(void **state)
{
    char path[PATH_BYTES];
    struct golden_tokenizer opened;
    (void)state;
    if (!shared_path(path, "golden/tokenizers/unicode/precompiled_map.json") ||
        !open_golden_folder(&opened, "tokenizers/unigram", "tokenizer.json", NULL, NULL))
        skip();
    struct str text = read_whole(path);
    json_t *root = parse_reference_json(text), *map = json_object_get(root, "map");
    size_t changed = 0;
    for (uint32_t c = 0; c < 0x110000; c++) {
        char bytes[4], key[8];
        struct str character = {bytes, wt__utf8_put(c, bytes)}, found = character;
        if (c >= 0xD800 && c <= 0xDFFF)
            continue;
        snprintf(key, sizeof key, "%04X", (unsigned)c);
        const json_t *value = json_object_get(map, key);
        struct str expected = value ? (struct str){json_string_value(value), json_string_length(value)} : character;
        wt__precompiled_find(&opened.tokenizer.unigram.normalizer.map, character, &found);
        changed += value != NULL;
        if (!wt__str_equal(found, expected))
            fail_msg("U+%04X", (unsigned)c);
    }
    assert_true(changed > 1000);
    json_decref(root);
    free((void *)text.ptr);
    wt__buffer_dispose(&opened.blob);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(texts_equal_the_reference),
                                       cmocka_unit_test(pairs_equal_the_reference),
                                       cmocka_unit_test(model_folders_equal_the_reference),
                                       cmocka_unit_test(normalisers_equal_the_reference),
                                       cmocka_unit_test(classes_equal_the_reference),
                                       cmocka_unit_test(the_character_map_equals_the_reference_on_every_code_point)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
