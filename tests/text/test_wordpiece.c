/* WordPiece equals the reference tokenizer id for id; the blob opens in no time and cannot be made to do harm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "text/support.h"
#include "text/wordpiece.h"

enum { MAX_IDS = 4096 };

/* A vocabulary with what it points into. */
struct opened {
    struct vocabulary vocabulary;
    struct buffer blob;
    struct str text;
};

static void open_text(struct opened *out, struct str text, struct vocabulary_options options)
{
    wt_error err = {0};

    memset(out, 0, sizeof *out);
    assert_int_equal(wt__vocabulary_build(&out->blob, text, &options, &err), 0);
    assert_int_equal(wt__vocabulary_open(&out->vocabulary, out->blob.ptr, out->blob.len, &err), 0);
}

static void open_file(struct opened *out, const char *path)
{
    struct str text = read_whole(path);
    open_text(out, text, VOCABULARY_UNCASED);
    out->text = text;
}

static void open_own(struct opened *out)
{
    char path[PATH_BYTES];
    own_path(path, "text_vocabulary.txt");
    open_file(out, path);
}

static void dispose(struct opened *opened)
{
    wt__buffer_dispose(&opened->blob);
    free((void *)opened->text.ptr);
}

static struct str token_of(struct str vocabulary_text, int32_t id)
{
    struct str rest = vocabulary_text, line = {0};
    for (int32_t i = 0; i <= id; i++)
        assert_true(next_line(&rest, &line));
    return line;
}

static void own_cases_hold(void **state)
{
    char path[PATH_BYTES];
    struct opened own;
    (void)state;
    open_own(&own);
    own_path(path, "text_wordpiece.jsonl");
    struct str text = read_whole(path), rest = text, line;
    while (next_line(&rest, &line)) {
        json_t *row = parse(line);
        int32_t ids[64];
        size_t count = wt__wordpiece_encode(&own.vocabulary, text_of(row, "text"), 64, ids);
        struct buffer pieces = {0};
        for (size_t i = 0; i < count; i++) {
            wt__buffer_text(&pieces, i ? " " : "");
            wt__buffer_str(&pieces, token_of(own.text, ids[i]));
        }
        if (!wt__str_equal(wt__buffer_view(&pieces), text_of(row, "pieces")))
            fail_msg("%s: %s", text_of(row, "what").ptr, pieces.ptr);
        wt__buffer_dispose(&pieces);
        json_decref(row);
    }
    free((void *)text.ptr);
    dispose(&own);
}

static void encoded_is(const struct vocabulary *v, struct str text, size_t max_tokens, const char *expected)
{
    int32_t ids[16] = {0};
    size_t count = wt__wordpiece_encode(v, text, max_tokens, ids);
    struct buffer shown = {0};

    assert_true(count <= max_tokens);
    for (size_t i = 0; i < count; i++)
        wt__buffer_printf(&shown, "%s%d", i ? " " : "", (int)ids[i]);
    assert_string_equal(shown.ptr ? shown.ptr : "", expected);
    wt__buffer_dispose(&shown);
}

static void truncation_keeps_the_frame(void **state)
{
    struct opened own;
    struct str text = STR("a b cafe get");
    (void)state;
    open_own(&own);
    encoded_is(&own.vocabulary, text, 7, "2 5 6 7 8 3");
    encoded_is(&own.vocabulary, text, 6, "2 5 6 7 8 3");
    encoded_is(&own.vocabulary, text, 5, "2 5 6 7 3");
    encoded_is(&own.vocabulary, text, 2, "2 3");
    encoded_is(&own.vocabulary, text, 1, "2");
    encoded_is(&own.vocabulary, text, 0, "");
    /* Cut inside a word whose later piece is unknown: the word is one [UNK], not its first pieces. */
    encoded_is(&own.vocabulary, STR("getuserbyx a"), 4, "2 1 5 3");
    encoded_is(&own.vocabulary, STR("getuserbyid a"), 4, "2 8 13 3");
    encoded_is(&own.vocabulary, (struct str){NULL, 0}, 4, "2 3");
    dispose(&own);
}

static void long_words_are_unknown(void **state)
{
    struct opened own;
    enum { WORD = 64 * 1024 };
    char *word = malloc(WORD);
    (void)state;
    assert_non_null(word);
    open_own(&own);
    memset(word, 'a', WORD);
    int32_t ids[128];
    assert_int_equal(wt__wordpiece_encode(&own.vocabulary, (struct str){word, 100}, 128, ids), 102);
    encoded_is(&own.vocabulary, (struct str){word, 101}, 16, "2 1 3");
    encoded_is(&own.vocabulary, (struct str){word, WORD}, 16, "2 1 3");
    for (size_t i = 0; i < WORD; i += 2)
        memcpy(word + i, "\xCC\x81", 2); /* acute accents */
    word[0] = word[1] = 'a';
    encoded_is(&own.vocabulary, (struct str){word, WORD}, 16, "2 5 9 3"); /* marks do not count */
    free(word);
    dispose(&own);
}

static void options_change_the_normaliser(void **state)
{
    static const struct {
        const char *name;
        struct vocabulary_options options;
        const char *in, *out;
    } rows[] = {
        {"uncased", {true, true, true}, "\xC3\x89 A", "2 6 5 3"},
        {"cased", {false, false, true}, "\xC3\x89 A", "2 8 7 3"},
        {"cased, accents stripped", {false, true, true}, "\xC3\x89 A", "2 1 7 3"},
        {"lower case, accents kept", {true, false, true}, "\xC3\x89 A", "2 9 5 3"},
        {"ideographs split", {true, true, true}, "\xE4\xB8\xAD\xE5\x9B\xBD", "2 10 11 3"},
        {"ideographs kept", {true, true, false}, "\xE4\xB8\xAD\xE5\x9B\xBD", "2 12 3"},
        {"accents kept, i with a dot is two", {true, false, true}, "\xC4\xB0", "2 13 3"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct opened own;
        open_text(&own,
                  STR("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\ne\nA\n\xC3\x89\n\xC3\xA9\n\xE4\xB8\xAD\n\xE5\x9B\xBD\n"
                      "\xE4\xB8\xAD\xE5\x9B\xBD\ni\xCC\x87\n"),
                  rows[i].options);
        print_message("%s\n", rows[i].name);
        encoded_is(&own.vocabulary, wt__str(rows[i].in), 16, rows[i].out);
        dispose(&own);
    }
}

/* Spacing marks (Mc) are kept, so that the order NFD gives them shows: U+1D165 has class 216, U+302E class 224. */
static void kept_marks_stand_in_canonical_order(void **state)
{
    static const char low[] = "\xF0\x9D\x85\xA5", high[] = "\xE3\x80\xAE"; /* U+1D165, U+302E */
    struct opened own;
    char vocabulary[128], text[64];
    (void)state;
    snprintf(vocabulary, sizeof vocabulary, "[UNK]\n[CLS]\n[SEP]\na%s%s\na%s%s\n", low, high, high, low);
    open_text(&own, wt__str(vocabulary), VOCABULARY_UNCASED);
    snprintf(text, sizeof text, "a%s%s", high, low);
    encoded_is(&own.vocabulary, wt__str(text), 8, "1 3 2");
    snprintf(text, sizeof text, "a%s\xCC\x81%s", high, low); /* a dropped mark of class 230 does not part them */
    encoded_is(&own.vocabulary, wt__str(text), 8, "1 3 2");
    snprintf(text, sizeof text, "a%s\xE0\xA5\x81%s", high, low); /* a dropped mark of class 0 does: U+0941 */
    encoded_is(&own.vocabulary, wt__str(text), 8, "1 4 2");
    dispose(&own);
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

static void texts_equal_the_reference(void **state)
{
    char vocabulary_path[PATH_BYTES], path[PATH_BYTES];
    static int32_t ids[MAX_IDS];
    struct opened bert;
    (void)state;
    if (!shared_path(vocabulary_path, "golden/tokenizers/wordpiece/vocab.txt") ||
        !shared_path(path, "golden/tokenizers/wordpiece/golden.jsonl"))
        skip();
    open_file(&bert, vocabulary_path);
    struct str text = read_whole(path), rest = text, line;
    size_t rows = 0, equal = 0;
    while (next_line(&rest, &line)) {
        json_t *row = parse(line);
        size_t count = wt__wordpiece_encode(&bert.vocabulary, text_of(row, "text"), MAX_IDS, ids);
        rows++;
        if (ids_equal(json_object_get(row, "ids"), ids, count))
            equal++;
        else
            print_error("line %zu: %s\n", rows, text_of(row, "text").ptr);
        json_decref(row);
    }
    assert_int_equal(rows, 2000);
    assert_int_equal(equal, rows);
    free((void *)text.ptr);
    dispose(&bert);
}

static enum wordpiece_truncation truncation_named(struct str name)
{
    if (wt__str_equal(name, STR("only_first")))
        return WORDPIECE_ONLY_FIRST;
    return wt__str_equal(name, STR("only_second")) ? WORDPIECE_ONLY_SECOND : WORDPIECE_LONGEST_FIRST;
}

static void pairs_equal_the_reference(void **state)
{
    char vocabulary_path[PATH_BYTES], path[PATH_BYTES];
    static int32_t ids[MAX_IDS], types[MAX_IDS];
    struct opened bert;
    (void)state;
    if (!shared_path(vocabulary_path, "golden/tokenizers/wordpiece/vocab.txt") ||
        !shared_path(path, "golden/tokenizers/wordpiece/pairs.jsonl"))
        skip();
    open_file(&bert, vocabulary_path);
    struct str text = read_whole(path), rest = text, line;
    size_t rows = 0;
    for (; next_line(&rest, &line); rows++) {
        json_t *row = parse(line);
        size_t max_tokens = (size_t)json_integer_value(json_object_get(row, "max_length"));
        enum wordpiece_truncation truncation = truncation_named(text_of(row, "truncation"));
        size_t count = wt__wordpiece_encode_pair(&bert.vocabulary, text_of(row, "a"), text_of(row, "b"), max_tokens,
                                                 truncation, ids, types);
        if (!ids_equal(json_object_get(row, "ids"), ids, count) ||
            !ids_equal(json_object_get(row, "token_type_ids"), types, count))
            fail_msg("line %zu", rows + 1);
        json_decref(row);
    }
    assert_int_equal(rows, 137);
    free((void *)text.ptr);
    dispose(&bert);
}

/* The ids of tensor `name` [texts, max_tokens] in a safetensors file: u64 header length, JSON header, data. */
static const int32_t *tensor_ids(struct str file, const char *name)
{
    uint64_t header_len = 0;
    memcpy(&header_len, file.ptr, sizeof header_len);
    json_t *header = parse((struct str){file.ptr + sizeof header_len, header_len});
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
    open_file(&bert, vocabulary_path);
    struct str text = read_whole(path), rest = text, line, tensors = read_whole(tensors_path);
    const int32_t *expected = tensor_ids(tensors, "ids_256"), *lengths = tensor_ids(tensors, "lengths_256");
    size_t row = 0;
    for (; next_line(&rest, &line); row++) {
        json_t *object = parse(line);
        int32_t ids[TOKENS];
        size_t count = wt__wordpiece_encode(&bert.vocabulary, text_of(object, "text"), TOKENS, ids);
        assert_int_equal(count, lengths[row]);
        assert_memory_equal(ids, expected + row * TOKENS, count * sizeof *ids);
        json_decref(object);
    }
    assert_int_equal(row, TEXTS);
    free((void *)tensors.ptr);
    free((void *)text.ptr);
    dispose(&bert);
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
    open_own(&own);
    for (size_t truncation = 0; truncation < 3; truncation++)
        for (size_t max_tokens = 0; max_tokens < 10; max_tokens++) {
            int32_t *ids = malloc(max_tokens * sizeof *ids + 1), *types = malloc(max_tokens * sizeof *ids + 1);
            size_t count = wt__wordpiece_encode_pair(&own.vocabulary, a, b, max_tokens,
                                                     (enum wordpiece_truncation)truncation, ids, types);
            struct buffer shown = {0};
            for (size_t i = 0; i < count; i++)
                wt__buffer_printf(&shown, "%s%d", i ? " " : "", (int)ids[i]);
            assert_string_equal(shown.ptr ? shown.ptr : "", expected[truncation][max_tokens]);
            wt__buffer_dispose(&shown);
            free(ids);
            free(types);
        }
    dispose(&own);
}

static void random_bytes_stay_in_bounds(void **state)
{
    struct opened own;
    struct rng rng;
    (void)state;
    open_own(&own);
    wt__rng_seed(&rng, 2);
    for (int round = 0; round < 20000; round++) {
        char bytes[96];
        size_t len = wt__rng_below(&rng, sizeof bytes + 1), max_tokens = wt__rng_below(&rng, 20);
        for (size_t i = 0; i < len; i++)
            bytes[i] = wt__rng_below(&rng, 2) ? "aget \xCC\x81[SEP]\xE4\xB8\xAD"[wt__rng_below(&rng, 15)]
                                              : (char)wt__rng_below(&rng, 256);
        int32_t whole[256], cut[20];
        size_t count = wt__wordpiece_encode(&own.vocabulary, (struct str){bytes, len}, 256, whole);
        size_t kept = wt__wordpiece_encode(&own.vocabulary, (struct str){bytes, len}, max_tokens, cut);
        assert_int_equal(kept, count < max_tokens ? count : max_tokens);
        for (size_t i = 0; i < count; i++)
            assert_in_range(whole[i], 0, own.vocabulary.token_count - 1);
        for (size_t i = 0; i + 1 < kept; i++)
            assert_int_equal(cut[i], whole[i]);
    }
    dispose(&own);
}

static void build_refuses_with_a_sentence(void **state)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"", "vocabulary: [UNK] is missing"},
        {"\n\n\n", "vocabulary: [UNK] is missing"},
        {"[UNK]\n[SEP]\n", "vocabulary: [CLS] is missing"},
        {"[UNK]\n[CLS]\nsep", "vocabulary: [SEP] is missing"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buffer blob = {0};
        wt_error err = {0};
        assert_int_equal(wt__vocabulary_build(&blob, wt__str(rows[i].text), &VOCABULARY_UNCASED, &err), WT_EMODEL);
        assert_string_equal(err.message, rows[i].message);
        wt__buffer_dispose(&blob);
    }
    struct str lines = {malloc(VOCABULARY_MAX_TOKENS + 1), VOCABULARY_MAX_TOKENS + 1};
    struct buffer blob = {0};
    wt_error err = {0};
    assert_non_null(lines.ptr);
    memset((void *)lines.ptr, '\n', lines.len);
    assert_int_equal(wt__vocabulary_build(&blob, lines, &VOCABULARY_UNCASED, &err), WT_ETOOLONG);
    assert_string_equal(err.message, "vocabulary: over 1048576 tokens");
    free((void *)lines.ptr);
    wt__buffer_dispose(&blob);
}

static void lines_are_ids(void **state)
{
    struct opened own;
    (void)state;
    open_text(&own, STR("[UNK]\r\n\r\n[CLS]\r\n[SEP]\r\ntwice\r\ntwice\r\nlast"), VOCABULARY_UNCASED);
    assert_int_equal(own.vocabulary.token_count, 7);
    assert_int_equal(wt__vocabulary_find(&own.vocabulary, STR("[CLS]")), 2);
    assert_int_equal(wt__vocabulary_find(&own.vocabulary, STR("twice")), 5);
    assert_int_equal(wt__vocabulary_find(&own.vocabulary, STR("last")), 6);
    assert_int_equal(wt__vocabulary_find(&own.vocabulary, STR("las")), -1);
    assert_int_equal(wt__vocabulary_find(&own.vocabulary, STR("lasts")), -1);
    assert_int_equal(wt__vocabulary_find(&own.vocabulary, STR("")), -1);
    assert_int_equal(own.vocabulary.special[VOCABULARY_MASK], -1);
    encoded_is(&own.vocabulary, STR("[MASK]"), 8, "2 0 0 0 3"); /* no such token: a bracket, a word, a bracket */
    dispose(&own);
}

static void open_refuses_with_a_sentence(void **state)
{
    static const struct {
        const char *name;
        size_t offset;
        unsigned char byte;
        const char *message;
    } rows[] = {
        {"magic", 7, '9', "vocabulary: not a packed vocabulary of this version"},
        {"byte order", 8, 1, "vocabulary: packed on a machine of another byte order"},
        {"too many nodes", 19, 0xFF, NULL},
        {"too many tokens", 23, 0x7F, NULL},
        {"ids out of range", 20, 1, "vocabulary: [UNK] is missing"},
    };
    struct opened own;
    wt_error err = {0};
    struct vocabulary v;
    (void)state;
    open_own(&own);
    assert_int_equal(wt__vocabulary_open(&v, own.blob.ptr, 3, &err), WT_EMODEL);
    assert_string_equal(err.message, "vocabulary: 3 bytes are too few");
    assert_int_equal(wt__vocabulary_open(&v, own.blob.ptr, own.blob.len - 1, &err), WT_EMODEL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        unsigned char old = (unsigned char)own.blob.ptr[rows[i].offset];
        own.blob.ptr[rows[i].offset] = (char)rows[i].byte;
        if (wt__vocabulary_open(&v, own.blob.ptr, own.blob.len, &err) != WT_EMODEL)
            fail_msg("%s was taken", rows[i].name);
        if (rows[i].message)
            assert_string_equal(err.message, rows[i].message);
        own.blob.ptr[rows[i].offset] = (char)old;
    }
    dispose(&own);
}

static void damaged_blobs_do_no_harm(void **state)
{
    struct opened own;
    struct rng rng;
    (void)state;
    open_own(&own);
    wt__rng_seed(&rng, 3);
    char *copy = malloc(own.blob.len);
    assert_non_null(copy);
    for (int round = 0; round < 20000; round++) {
        memcpy(copy, own.blob.ptr, own.blob.len);
        for (size_t i = wt__rng_below(&rng, 8); i < 8; i++)
            copy[wt__rng_below(&rng, own.blob.len)] = (char)wt__rng_below(&rng, 256);
        struct vocabulary v;
        if (wt__vocabulary_open(&v, copy, own.blob.len, NULL) != 0)
            continue;
        int32_t ids[32];
        size_t count = wt__wordpiece_encode(&v, STR("tokenized cafe getuserbyid [MASK] a!"), 32, ids);
        for (size_t i = 0; i < count; i++)
            assert_in_range(ids[i], 0, v.token_count - 1);
    }
    free(copy);
    dispose(&own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_cases_hold),
        cmocka_unit_test(truncation_keeps_the_frame),
        cmocka_unit_test(long_words_are_unknown),
        cmocka_unit_test(options_change_the_normaliser),
        cmocka_unit_test(kept_marks_stand_in_canonical_order),
        cmocka_unit_test(texts_equal_the_reference),
        cmocka_unit_test(pairs_equal_the_reference),
        cmocka_unit_test(minilm_texts_equal_the_reference),
        cmocka_unit_test(pair_truncation_never_overflows),
        cmocka_unit_test(random_bytes_stay_in_bounds),
        cmocka_unit_test(build_refuses_with_a_sentence),
        cmocka_unit_test(lines_are_ids),
        cmocka_unit_test(open_refuses_with_a_sentence),
        cmocka_unit_test(damaged_blobs_do_no_harm),
    };
    return cmocka_run_group_tests_name("text/wordpiece", tests, NULL, NULL);
}
