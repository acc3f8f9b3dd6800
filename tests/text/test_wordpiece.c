/* Tests WordPiece: normalisation, longest match, long words, and the reference ids of MiniLM. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "text/encode_pair.h"
#include "text/opened.h"

/* Opens a tokenizer. text: vocab.txt. config: tokenizer_config.json, or NULL for the default settings. */
static void open_text(struct opened *out, struct str text, const char *config)
{
    open_files(out, &(struct tokenizer_files){.vocab_txt = text, .tokenizer_config_json = wt__str(config)});
}

static struct str open_own(struct opened *out)
{
    char path[PATH_BYTES];
    own_path(path, "text_vocabulary.txt");
    struct str text = read_whole(path);
    open_text(out, text, NULL);
    return text;
}

static struct str token_of(struct str vocabulary_text, int32_t id)
{
    struct str rest = vocabulary_text, line = {0};
    for (int32_t i = 0; i <= id; i++)
        assert_true(next_line(&rest, &line));
    return line;
}

static void matches_golden_cases(void **state)
{
    char path[PATH_BYTES];
    struct opened own;
    (void)state;
    struct str vocabulary = open_own(&own);
    own_path(path, "text_wordpiece.jsonl");
    struct str text = read_whole(path), rest = text, line;
    while (next_line(&rest, &line)) {
        json_t *row = parse_reference_json(line);
        int32_t ids[64];
        size_t count = wt__tokenizer_encode(&own.tokenizer, text_of(row, "text"), 64, ids);
        struct buffer pieces = {0};
        for (size_t i = 0; i < count; i++) {
            wt__buffer_text(&pieces, i ? " " : "");
            wt__buffer_str(&pieces, token_of(vocabulary, ids[i]));
        }
        if (!wt__str_equal(wt__buffer_view(&pieces), text_of(row, "pieces")))
            fail_msg("%s: %s", text_of(row, "what").ptr, pieces.ptr);
        wt__buffer_dispose(&pieces);
        json_decref(row);
    }
    free((void *)text.ptr);
    free((void *)vocabulary.ptr);
    dispose_opened(&own);
}

static void wordpiece_truncation_keeps_the_frame(void **state)
{
    struct opened own;
    struct str text = STR("a b cafe get");
    (void)state;
    free((void *)open_own(&own).ptr);
    assert_encoded(&own.tokenizer, text, 7, "2 5 6 7 8 3");
    assert_encoded(&own.tokenizer, text, 6, "2 5 6 7 8 3");
    assert_encoded(&own.tokenizer, text, 5, "2 5 6 7 3");
    assert_encoded(&own.tokenizer, text, 2, "2 3");
    assert_encoded(&own.tokenizer, text, 1, "2");
    assert_encoded(&own.tokenizer, text, 0, "");
    /* The truncation falls inside a word whose end has no piece. The word is one [UNK], not its first pieces. */
    assert_encoded(&own.tokenizer, STR("getuserbyx a"), 4, "2 1 5 3");
    assert_encoded(&own.tokenizer, STR("getuserbyid a"), 4, "2 8 13 3");
    assert_encoded(&own.tokenizer, (struct str){NULL, 0}, 4, "2 3");
    dispose_opened(&own);
}

static void long_words_are_unknown(void **state)
{
    struct opened own;
    enum { WORD = 64 * 1024 };
    char *word = malloc(WORD);
    (void)state;
    assert_non_null(word);
    free((void *)open_own(&own).ptr);
    memset(word, 'a', WORD);
    int32_t ids[128];
    assert_int_equal(wt__tokenizer_encode(&own.tokenizer, (struct str){word, 100}, 128, ids), 102);
    assert_encoded(&own.tokenizer, (struct str){word, 101}, 16, "2 1 3");
    assert_encoded(&own.tokenizer, (struct str){word, WORD}, 16, "2 1 3");
    for (size_t i = 0; i < WORD; i += 2)
        memcpy(word + i, "\xCC\x81", 2); /* acute accents */
    word[0] = word[1] = 'a';
    assert_encoded(&own.tokenizer, (struct str){word, WORD}, 16, "2 5 9 3"); /* marks do not count */
    free(word);
    dispose_opened(&own);
}

static void options_change_the_normaliser(void **state)
{
    static const struct {
        const char *name;
        const char *config;
        const char *in, *out;
    } rows[] = {
        {"uncased", "{\"do_lower_case\":true,\"strip_accents\":true,\"tokenize_chinese_chars\":true}", "\xC3\x89 A",
         "2 6 5 3"},
        {"cased", "{\"do_lower_case\":false,\"strip_accents\":false,\"tokenize_chinese_chars\":true}", "\xC3\x89 A",
         "2 8 7 3"},
        {"cased, accents stripped", "{\"do_lower_case\":false,\"strip_accents\":true,\"tokenize_chinese_chars\":true}",
         "\xC3\x89 A", "2 1 7 3"},
        {"lower case, accents kept", "{\"do_lower_case\":true,\"strip_accents\":false,\"tokenize_chinese_chars\":true}",
         "\xC3\x89 A", "2 9 5 3"},
        {"ideographs split", "{\"do_lower_case\":true,\"strip_accents\":true,\"tokenize_chinese_chars\":true}",
         "\xE4\xB8\xAD\xE5\x9B\xBD", "2 10 11 3"},
        {"ideographs kept", "{\"do_lower_case\":true,\"strip_accents\":true,\"tokenize_chinese_chars\":false}",
         "\xE4\xB8\xAD\xE5\x9B\xBD", "2 12 3"},
        {"accents kept, lower case of a dotted I has two code points",
         "{\"do_lower_case\":true,\"strip_accents\":false,\"tokenize_chinese_chars\":true}", "\xC4\xB0", "2 13 3"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct opened own;
        open_text(&own,
                  STR("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\ne\nA\n\xC3\x89\n\xC3\xA9\n\xE4\xB8\xAD\n\xE5\x9B\xBD\n"
                      "\xE4\xB8\xAD\xE5\x9B\xBD\ni\xCC\x87\n"),
                  rows[i].config);
        print_message("%s\n", rows[i].name);
        assert_encoded(&own.tokenizer, wt__str(rows[i].in), 16, rows[i].out);
        dispose_opened(&own);
    }
}

/* Spacing marks (Mc) are kept, so their NFD order is visible: U+1D165 has class 216, U+302E class 224. */
static void kept_marks_are_in_canonical_order(void **state)
{
    static const char low[] = "\xF0\x9D\x85\xA5", high[] = "\xE3\x80\xAE"; /* U+1D165, U+302E */
    struct opened own;
    char vocabulary[128], text[64];
    (void)state;
    snprintf(vocabulary, sizeof vocabulary, "[UNK]\n[CLS]\n[SEP]\na%s%s\na%s%s\n", low, high, high, low);
    open_text(&own, wt__str(vocabulary), NULL);
    snprintf(text, sizeof text, "a%s%s", high, low);
    assert_encoded(&own.tokenizer, wt__str(text), 8, "1 3 2");
    snprintf(text, sizeof text, "a%s\xCC\x81%s", high, low); /* a removed mark of class 230 does not separate them */
    assert_encoded(&own.tokenizer, wt__str(text), 8, "1 3 2");
    snprintf(text, sizeof text, "a%s\xE0\xA5\x81%s", high, low); /* a removed mark of class 0, U+0941, separates them */
    assert_encoded(&own.tokenizer, wt__str(text), 8, "1 4 2");
    dispose_opened(&own);
}

/* Returns the data of tensor `name` in a safetensors file, which consists of a u64 header length, a JSON header and
 * the data. */
static const int32_t *tensor_ids(struct str file, const char *name)
{
    uint64_t header_len = 0;
    memcpy(&header_len, file.ptr, sizeof header_len);
    json_t *header = parse_reference_json((struct str){file.ptr + sizeof header_len, header_len});
    const json_t *offsets = json_object_get(json_object_get(header, name), "data_offsets");
    size_t offset = sizeof header_len + header_len + (size_t)json_integer_value(json_array_get(offsets, 0));
    json_decref(header);
    return (const int32_t *)(const void *)(file.ptr + offset);
}

static void minilm_texts_equal_the_reference(void **state)
{
    enum { TOKENS = 256, TEXTS = 240 };
    char vocabulary_path[PATH_BYTES], path[PATH_BYTES], tensors_path[PATH_BYTES];
    struct opened bert;
    (void)state;
    if (!shared_path(vocabulary_path, "golden/tokenizers/wordpiece/vocab.txt") ||
        !shared_path(path, "golden/minilm/texts.jsonl") ||
        !shared_path(tensors_path, "golden/minilm/golden.safetensors"))
        skip();
    struct str vocabulary = read_whole(vocabulary_path);
    open_text(&bert, vocabulary, NULL);
    struct str text = read_whole(path), rest = text, line, tensors = read_whole(tensors_path);
    const int32_t *expected = tensor_ids(tensors, "ids_256"), *lengths = tensor_ids(tensors, "lengths_256");
    size_t row = 0;
    for (; next_line(&rest, &line); row++) {
        json_t *object = parse_reference_json(line);
        int32_t ids[TOKENS];
        size_t count = wt__tokenizer_encode(&bert.tokenizer, text_of(object, "text"), TOKENS, ids);
        assert_int_equal(count, lengths[row]);
        assert_memory_equal(ids, expected + row * TOKENS, count * sizeof *ids);
        json_decref(object);
    }
    assert_int_equal(row, TEXTS);
    free((void *)vocabulary.ptr);
    free((void *)tensors.ptr);
    free((void *)text.ptr);
    dispose_opened(&bert);
}

static void pair_truncation_never_overflows(void **state)
{
    struct opened own;
    struct str a = STR("a b cafe"), b = STR("get the user to token");
    static const char *const expected[3][10] = {
        {"", "2", "2 3", "2 3 3", "2 3 8 3", "2 5 3 8 3", "2 5 3 8 15 3", "2 5 6 3 8 15 3", "2 5 6 3 8 15 14 3",
         "2 5 6 7 3 8 15 14 3"},
        {"", "2", "2 3", "2 3 3", "2 3 8 3", "2 3 8 15 3", "2 3 8 15 14 3", "2 3 8 15 14 16 3", "2 3 8 15 14 16 18 3",
         "2 5 3 8 15 14 16 18 3"},
        {"", "2", "2 3", "2 3 3", "2 5 3 3", "2 5 6 3 3", "2 5 6 7 3 3", "2 5 6 7 3 8 3", "2 5 6 7 3 8 15 3",
         "2 5 6 7 3 8 15 14 3"},
    };
    (void)state;
    free((void *)open_own(&own).ptr);
    for (size_t truncation = 0; truncation < 3; truncation++)
        for (size_t max_tokens = 0; max_tokens < 10; max_tokens++) {
            int32_t *ids = malloc(max_tokens * sizeof *ids + 1), *types = malloc(max_tokens * sizeof *ids + 1);
            size_t count =
                encode_pair(&own.tokenizer, a, b, max_tokens, (enum tokenizer_truncation)truncation, ids, types);
            struct buffer shown = {0};
            for (size_t i = 0; i < count; i++)
                wt__buffer_printf(&shown, "%s%d", i ? " " : "", (int)ids[i]);
            assert_string_equal(shown.ptr ? shown.ptr : "", expected[truncation][max_tokens]);
            wt__buffer_dispose(&shown);
            free(ids);
            free(types);
        }
    dispose_opened(&own);
}

static void line_numbers_are_ids(void **state)
{
    struct opened own;
    (void)state;
    open_text(&own, STR("[UNK]\r\n\r\n[CLS]\r\n[SEP]\r\ntwice\r\ntwice\r\nlast"), NULL);
    assert_int_equal(own.tokenizer.token_count, 7);
    assert_int_equal(own.tokenizer.special[TOKENIZER_MASK], -1);
    assert_encoded(&own.tokenizer, STR("twice last las lasts"), 8, "2 5 6 0 0 3");
    /* The vocabulary lacks [MASK], so the text is split into a bracket, a word and a bracket. */
    assert_encoded(&own.tokenizer, STR("[MASK]"), 8, "2 0 0 0 3");
    dispose_opened(&own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_golden_cases),
        cmocka_unit_test(wordpiece_truncation_keeps_the_frame),
        cmocka_unit_test(long_words_are_unknown),
        cmocka_unit_test(options_change_the_normaliser),
        cmocka_unit_test(kept_marks_are_in_canonical_order),
        cmocka_unit_test(minilm_texts_equal_the_reference),
        cmocka_unit_test(pair_truncation_never_overflows),
        cmocka_unit_test(line_numbers_are_ids),
    };
    return cmocka_run_group_tests_name("text/wordpiece", tests, NULL, NULL);
}
