/* Tests the common interface of the three tokenizers: source files, rejected files, and damaged blobs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "text/character_map.h"
#include "text/encode_pair.h"
#include "text/opened.h"
#include "text/unigram_json.h"

#define PIECES ",[\"\\u2581\",-3],[\"a\",-3],[\"b\",-3],[\"\\u2581a\",-4]"

#define BERT_ADDED                                                                                                     \
    "[{\"id\":0,\"content\":\"[PAD]\"},{\"id\":1,\"content\":\"[UNK]\"},{\"id\":2,\"content\":\"[CLS]\"},"             \
    "{\"id\":3,\"content\":\"[SEP]\"}]"
#define BERT_NORMALIZER                                                                                                \
    "{\"type\":\"BertNormalizer\",\"clean_text\":true,\"handle_chinese_chars\":true,\"strip_accents\":null,"           \
    "\"lowercase\":true}"
#define BERT_FRAME "{\"type\":\"BertProcessing\",\"cls\":[\"[CLS]\",2],\"sep\":[\"[SEP]\",3]}"
#define BERT_MODEL                                                                                                     \
    "{\"type\":\"WordPiece\",\"unk_token\":\"[UNK]\",\"continuing_subword_prefix\":\"##\","                            \
    "\"max_input_chars_per_word\":100,\"vocab\":{\"[PAD]\":0,\"[UNK]\":1,\"[CLS]\":2,\"[SEP]\":3,\"a\":4,\"##b\":5,"   \
    "\"b\":6}}"
#define JSON(added, normalizer, pre_tokenizer, frame, model)                                                           \
    "{\"added_tokens\":" added ",\"normalizer\":" normalizer ",\"pre_tokenizer\":" pre_tokenizer                       \
    ",\"post_processor\":" frame ",\"model\":" model "}"
#define BERT_WITH(added, frame) JSON(added, BERT_NORMALIZER, "{\"type\":\"BertPreTokenizer\"}", frame, BERT_MODEL)

#define ROBERTA_ADDED                                                                                                  \
    "[{\"id\":0,\"content\":\"<s>\"},{\"id\":1,\"content\":\"<pad>\"},{\"id\":2,\"content\":\"</s>\"},"                \
    "{\"id\":3,\"content\":\"<unk>\"},{\"id\":4,\"content\":\"<mask>\",\"lstrip\":true}]"
#define ROBERTA_FRAME "{\"type\":\"RobertaProcessing\",\"cls\":[\"<s>\",0],\"sep\":[\"</s>\",2]}"
#define BYTE_LEVEL "{\"type\":\"ByteLevel\",\"add_prefix_space\":false}"
#define BPE_VOCABULARY                                                                                                 \
    "\"vocab\":{\"<s>\":0,\"<pad>\":1,\"</s>\":2,\"<unk>\":3,\"<mask>\":4,\"a\":5,\"b\":6,\"\\u0120\":7,\"ab\":8,"     \
    "\"\\u0120a\":9}"
#define BPE_MODEL "{\"type\":\"BPE\"," BPE_VOCABULARY ",\"merges\":[[\"a\",\"b\"],[\"\\u0120\",\"a\"]]}"
#define BPE_WITH(model) JSON(ROBERTA_ADDED, "null", BYTE_LEVEL, ROBERTA_FRAME, model)

static const char *const sound[] = {BERT_WITH(BERT_ADDED, BERT_FRAME),
                                    UNIGRAM_JSON(UNIGRAM_NORMALIZER_4, UNIGRAM_METASPACE, PIECES), BPE_WITH(BPE_MODEL)};
enum { KINDS = sizeof sound / sizeof *sound };

static void reads_each_kind_from_tokenizer_json(void **state)
{
    static const struct {
        enum tokenizer_kind kind;
        uint32_t tokens;
        const char *special, *text, *ids;
    } rows[KINDS] = {
        {TOKENIZER_WORDPIECE, 7, "0 1 2 3 -1", "ab b", "2 4 5 6 3"},
        {TOKENIZER_UNIGRAM, 91, "0 3 1 2 90", "ab b", "1 7 6 4 6 2"},
        {TOKENIZER_BPE, 10, "1 3 0 2 4", "ab ab", "0 8 7 8 2"},
    };
    (void)state;
    for (size_t i = 0; i < KINDS; i++) {
        struct opened own;
        char special[64];
        open_json(&own, sound[i]);
        const int32_t *s = own.tokenizer.special;
        snprintf(special, sizeof special, "%d %d %d %d %d", (int)s[0], (int)s[1], (int)s[2], (int)s[3], (int)s[4]);
        assert_int_equal(own.tokenizer.kind, rows[i].kind);
        assert_int_equal(own.tokenizer.token_count, rows[i].tokens);
        assert_string_equal(special, rows[i].special);
        assert_encoded(&own.tokenizer, wt__str(rows[i].text), 16, rows[i].ids);
        dispose_opened(&own);
    }
}

static void pairs_use_the_frame_of_the_model(void **state)
{
    static const struct {
        const char *ids, *types;
    } rows[KINDS] = {
        {"2 4 5 3 6 3 ", "0 0 0 0 1 1 "}, {"1 7 6 2 4 6 2 ", "0 0 0 0 1 1 1 "}, {"0 8 2 2 6 2 ", "0 0 0 0 0 0 "}};
    (void)state;
    for (size_t i = 0; i < KINDS; i++) {
        struct opened own;
        int32_t ids[16], types[16];
        char shown[64] = "", kinds[64] = "";
        open_json(&own, sound[i]);
        size_t count = encode_pair(&own.tokenizer, STR("ab"), STR("b"), 16, TOKENIZER_LONGEST_FIRST, ids, types);
        for (size_t j = 0; j < count; j++) {
            snprintf(shown + strlen(shown), sizeof shown - strlen(shown), "%d ", (int)ids[j]);
            snprintf(kinds + strlen(kinds), sizeof kinds - strlen(kinds), "%d ", (int)types[j]);
        }
        assert_string_equal(shown, rows[i].ids);
        assert_string_equal(kinds, rows[i].types);
        for (size_t most = 0; most < 8; most++)
            for (int cut = TOKENIZER_LONGEST_FIRST; cut <= TOKENIZER_ONLY_SECOND; cut++)
                assert_int_equal(
                    encode_pair(&own.tokenizer, STR("ab"), STR("b"), most, (enum tokenizer_truncation)cut, ids, types),
                    most < count ? most : count);
        dispose_opened(&own);
    }
}

static void added_tokens_follow_their_options(void **state)
{
    static const struct {
        const char *name, *flags, *text, *ids;
    } rows[] = {
        {"an added token is matched literally", "", "ab<x>a", "0 8 10 5 2"},
        {"blanks around an added token stay", "", "a <x> a", "0 5 7 10 9 2"},
        {"lstrip includes the blanks before the token", ",\"lstrip\":true", "a \t<x> a", "0 5 10 9 2"},
        {"rstrip includes the blanks after the token", ",\"rstrip\":true",
         "a <x> \xC2\xA0"
         "a",
         "0 5 7 10 5 2"},
        {"single_word matches a separate word", ",\"single_word\":true", "a <x>!<x>b", "0 5 7 10 6 2"},
        {"single_word does not match next to a letter", ",\"single_word\":true", "a<x> <x>_", "0 5 7 2"},
        {"single_word does not match next to a non-ASCII letter", ",\"single_word\":true", "\xC3\xA9<x>", "0 2"},
        {"the longest of several tokens is matched", "},{\"id\":11,\"content\":\"<x>>\"", "<x>>", "0 11 2"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct opened own;
        char json[1024];
        snprintf(json, sizeof json,
                 JSON("[{\"id\":0,\"content\":\"<s>\"},{\"id\":10,\"content\":\"<x>\"%s}]", "null", BYTE_LEVEL,
                      ROBERTA_FRAME, BPE_MODEL),
                 rows[i].flags);
        print_message("%s\n", rows[i].name);
        open_json(&own, json);
        assert_encoded(&own.tokenizer, wt__str(rows[i].text), 16, rows[i].ids);
        dispose_opened(&own);
    }
}

static void unframed_texts_have_only_pieces(void **state)
{
    static const char *const models[] = {BERT_WITH(BERT_ADDED, "null"),
                                         BERT_WITH(BERT_ADDED, "{\"type\":\"TemplateProcessing\",\"single\":[{"
                                                               "\"Sequence\":{\"id\":\"A\",\"type_id\":0}}]}")};
    (void)state;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        struct opened own;
        int32_t ids[8], types[8];
        open_json(&own, models[i]);
        assert_false(own.tokenizer.framed);
        assert_encoded(&own.tokenizer, STR("ab a"), 16, "4 5 4");
        assert_encoded(&own.tokenizer, STR("ab a"), 2, "4 5");
        assert_int_equal(wt__tokenizer_pieces(&own.tokenizer, STR("ab a"), 8, ids), 3);
        assert_int_equal(encode_pair(&own.tokenizer, STR("ab"), STR("a"), 8, TOKENIZER_LONGEST_FIRST, ids, types), 3);
        dispose_opened(&own);
    }
}

static void reads_older_formats(void **state)
{
    struct opened own;
    (void)state;
    open_json(&own, BPE_WITH("{\"type\":\"BPE\"," BPE_VOCABULARY ",\"merges\":[\"a b\",\"\\u0120 a\"]}"));
    assert_encoded(&own.tokenizer, STR("ab ab"), 16, "0 8 7 8 2");
    dispose_opened(&own);
    open_json(
        &own,
        UNIGRAM_JSON("null", "{\"type\":\"Metaspace\",\"replacement\":\"\\u2581\",\"add_prefix_space\":true}", PIECES));
    assert_encoded(&own.tokenizer, STR("ab"), 16, "1 7 6 2");
    dispose_opened(&own);
    /* Bytes without a token are omitted, or become the unk_token if the model has one. */
    open_json(&own, BPE_WITH(BPE_MODEL));
    assert_encoded(&own.tokenizer, STR("a!b"), 16, "0 5 6 2");
    dispose_opened(&own);
    open_json(&own, BPE_WITH("{\"type\":\"BPE\",\"unk_token\":\"<unk>\"," BPE_VOCABULARY ",\"merges\":[]}"));
    assert_encoded(&own.tokenizer, STR("a!b"), 16, "0 5 3 6 2");
    dispose_opened(&own);
}

/* Without a tokenizer.json, the other settings files name the special tokens. */
static void settings_name_the_special_tokens(void **state)
{
    static const struct {
        const char *name, *config, *map, *vocabulary, *text, *ids;
    } rows[] = {
        {"names of BERT are the default", NULL, NULL, "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n", "a [MASK] x",
         "2 5 4 1 3"},
        {"names in tokenizer_config.json", "{\"cls_token\":\"<b>\",\"sep_token\":\"<e>\",\"unk_token\":\"<u>\"}", NULL,
         "<b>\n<e>\n<u>\na\n", "a x", "0 3 2 1"},
        {"names in objects of tokenizer_config.json",
         "{\"cls_token\":{\"content\":\"<b>\"},\"sep_token\":{\"content\":\"<e>\"}}", NULL, "<b>\n<e>\n[UNK]\na\n",
         "a x", "0 3 2 1"},
        {"names in special_tokens_map.json", NULL, "{\"cls_token\":\"<b>\",\"sep_token\":\"<e>\"}",
         "<b>\n<e>\n[UNK]\na\n", "a x", "0 3 2 1"},
        {"names of MPNet, chosen by tokenizer_class", "{\"tokenizer_class\":\"MPNetTokenizer\"}", NULL,
         "<s>\n<pad>\n</s>\n<unk>\n[UNK]\n[CLS]\n[SEP]\na\n<mask>\n", "a <mask> x", "0 7 8 4 2"},
        {"no frame if the vocabulary lacks CLS or SEP", NULL, NULL, "[UNK]\n[CLS]\na\nb\n", "a x b", "2 0 3"},
        {"cased vocabulary keeps capitals", "{\"do_lower_case\":false}", NULL, "[UNK]\n[CLS]\n[SEP]\na\nA\n", "Aa A",
         "1 0 4 2"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct opened own;
        print_message("%s\n", rows[i].name);
        open_files(&own, &(struct tokenizer_files){.vocab_txt = wt__str(rows[i].vocabulary),
                                                   .tokenizer_config_json = wt__str(rows[i].config),
                                                   .special_tokens_map_json = wt__str(rows[i].map)});
        assert_encoded(&own.tokenizer, wt__str(rows[i].text), 16, rows[i].ids);
        dispose_opened(&own);
    }
}

/* Appends a length-delimited field (a message or text) of a protocol buffer. */
static void put_message(struct buffer *out, unsigned field, struct str message)
{
    size_t len = message.len;

    wt__buffer_char(out, (char)(field << 3 | 2));
    for (; len >= 0x80; len >>= 7)
        wt__buffer_char(out, (char)((len & 0x7F) | 0x80));
    wt__buffer_char(out, (char)len);
    wt__buffer_str(out, message);
}

static void put_spm_piece(struct buffer *out, const char *text, float score)
{
    struct buffer piece = {0};

    put_message(&piece, 1, wt__str(text));
    wt__buffer_char(&piece, 2 << 3 | 5);
    wt__buffer_append(&piece, &score, sizeof score); /* the tests run on little-endian machines */
    wt__buffer_text(&piece, "\x18\x01");
    put_message(out, 1, wt__buffer_view(&piece));
    wt__buffer_dispose(&piece);
}

/* Writes an spm.model. type: the model type in the trainer's settings, 1 for unigram. */
static void write_model(struct buffer *out, unsigned char type)
{
    static const char *const texts[] = {"[PAD]",
                                        "[CLS]",
                                        "[SEP]",
                                        "[UNK]",
                                        "\xE2\x96\x81",
                                        "a",
                                        "b",
                                        "\xE2\x96\x81"
                                        "a"};
    static const float scores[] = {0, 0, 0, 0, -3, -3, -3, -4};
    static const struct mapped map_rows[] = {{"\xEF\xBD\x81", "a"}};
    const char trainer[] = {3 << 3, (char)type, (char)(40 << 3 | 0x80), 40 >> 4, 3, 9 << 3 | 1, 0, 0, 0, 0, 0, 0, 0, 0};
    struct buffer map = {0}, normalizer = {0};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        put_spm_piece(out, texts[i], scores[i]);
    put_message(out, 2, (struct str){trainer, sizeof trainer});
    append_character_map(&map, map_rows, 1);
    put_message(&normalizer, 2, wt__buffer_view(&map));
    put_message(out, 3, wt__buffer_view(&normalizer));
    wt__buffer_dispose(&map);
    wt__buffer_dispose(&normalizer);
}

static void reads_a_sentencepiece_model(void **state)
{
    struct buffer model = {0};
    struct opened own;
    (void)state;
    write_model(&model, 1);
    open_files(&own, &(struct tokenizer_files){.spm_model = wt__buffer_view(&model)});
    assert_int_equal(own.tokenizer.kind, TOKENIZER_UNIGRAM);
    assert_int_equal(own.tokenizer.token_count, 9);
    assert_encoded(&own.tokenizer,
                   STR("\xEF\xBD\x81"
                       "b  b[MASK] [UNK]x"),
                   16, "1 7 6 4 6 8 3 4 3 2");
    dispose_opened(&own);
    wt__buffer_dispose(&model);
}

static void reads_a_character_map_in_json(void **state)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    static const struct mapped rows[] = {{"\xEF\xBD\x81", "a"}, {"\xC3\x9F", "ss"}};
    static const char json[] =
        UNIGRAM_JSON("{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"@\"}", UNIGRAM_METASPACE, PIECES);
    struct buffer map = {0}, whole = {0};
    struct opened own;
    const char *hole = strchr(json, '@');
    (void)state;
    append_character_map(&map, rows, 2);
    wt__buffer_append(&whole, json, (size_t)(hole - json));
    for (size_t i = 0; i < map.len; i += 3) {
        uint32_t three = 0;
        for (size_t j = 0; j < 3; j++)
            three = three << 8 | (i + j < map.len ? (unsigned char)map.ptr[i + j] : 0U);
        for (size_t j = 0; j < 4; j++)
            wt__buffer_char(&whole, j > map.len - i ? '=' : digits[three >> (18 - 6 * j) & 63]);
    }
    wt__buffer_text(&whole, hole + 1);
    open_json(&own, whole.ptr);
    assert_encoded(&own.tokenizer, STR("\xEF\xBD\x81"), 16, "1 7 2");
    dispose_opened(&own);
    wt__buffer_dispose(&map);
    wt__buffer_dispose(&whole);
}

static const struct {
    struct tokenizer_files files;
    int code;
    const char *message;
} refusals[] = {
#define FROM_JSON(text)                                                                                                \
    {                                                                                                                  \
        .tokenizer_json = { text, sizeof text - 1 }                                                                    \
    }
#define UNIGRAM_NORMALIZER(steps) "{\"type\":\"Sequence\",\"normalizers\":[" steps "]}"
    {{.tokenizer_json = {NULL, 0}},
     WT_EMODEL,
     "the model has no tokenizer: tokenizer.json, vocab.txt, vocab.json with merges.txt, or spm.model"},
    {FROM_JSON("{}"), WT_EMODEL, "tokenizer.json: the model \"\" is not supported"},
    {FROM_JSON(JSON("[]", "null", "null", BERT_FRAME, "{\"type\":\"WordLevel\"}")), WT_EMODEL,
     "tokenizer.json: the model \"WordLevel\" is not supported"},
    {FROM_JSON(JSON("[]", "{\"type\":\"Lowercase\"}", "null", BERT_FRAME, BERT_MODEL)), WT_EMODEL,
     "tokenizer.json: with WordPiece, the normalizer \"Lowercase\" is not supported"},
    {FROM_JSON(JSON("[]", BERT_NORMALIZER, "{\"type\":\"Whitespace\"}", BERT_FRAME, BERT_MODEL)), WT_EMODEL,
     "tokenizer.json: with WordPiece, the pre-tokenizer \"Whitespace\" is not supported"},
    {FROM_JSON(BERT_WITH("[]", "{\"type\":\"Odd\"}")), WT_EMODEL,
     "tokenizer.json: post-processor \"Odd\" is not supported"},
    {FROM_JSON(BERT_WITH("[]", "{\"type\":\"TemplateProcessing\",\"single\":[],\"pair\":[]}")), WT_EMODEL,
     "tokenizer.json: a template other than CLS A SEP B SEP is not supported"},
    {FROM_JSON(BERT_WITH("[{\"id\":-2,\"content\":\"x\"}]", BERT_FRAME)), WT_EMODEL,
     "token \"x\" has no id between 0 and 1048575"},
    {FROM_JSON(BERT_WITH("[{\"id\":1048576,\"content\":\"x\"}]", BERT_FRAME)), WT_ETOOLONG,
     "token \"x\" has no id between 0 and 1048575"},
    {FROM_JSON(UNIGRAM_JSON("{\"type\":\"NFKC\"}", UNIGRAM_METASPACE, PIECES)), WT_EMODEL,
     "tokenizer.json: at this position, the normalizer \"NFKC\" is not supported"},
    {FROM_JSON(UNIGRAM_JSON(
         UNIGRAM_NORMALIZER(
             "{\"type\":\"Replace\",\"pattern\":{\"Regex\":\" {2,}\"},\"content\":\" \"},{\"type\":\"Strip\"}"),
         UNIGRAM_METASPACE, PIECES)),
     WT_EMODEL, "tokenizer.json: at this position, the normalizer \"Strip\" is not supported"},
    {FROM_JSON(UNIGRAM_JSON("{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"!\"}", UNIGRAM_METASPACE, PIECES)),
     WT_EMODEL, "tokenizer.json: precompiled_charsmap is not base64"},
    {FROM_JSON(UNIGRAM_JSON("{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"AAAA\"}", UNIGRAM_METASPACE, PIECES)),
     WT_EMODEL, "tokenizer.json: precompiled_charsmap is damaged"},
    {FROM_JSON(UNIGRAM_JSON("null", "{\"type\":\"Digits\"}", PIECES)), WT_EMODEL,
     "tokenizer.json: with these settings, the pre-tokenizer \"Digits\" is not supported"},
    {FROM_JSON(UNIGRAM_JSON("null", UNIGRAM_METASPACE, ",[\"a\"]")), WT_EMODEL,
     "tokenizer.json: piece 4 is not a text and a score"},
    {FROM_JSON(JSON("[]", "null", UNIGRAM_METASPACE, BERT_FRAME, "{\"type\":\"Unigram\",\"vocab\":[]}")), WT_EMODEL,
     "tokenizer.json: unk_id is not the id of a piece"},
    {FROM_JSON(JSON("[]", "null", UNIGRAM_METASPACE, BERT_FRAME, "{\"type\":\"Unigram\",\"byte_fallback\":true}")),
     WT_EMODEL, "tokenizer.json: byte_fallback is not supported"},
    {FROM_JSON(BPE_WITH("{\"type\":\"BPE\",\"ignore_merges\":true}")), WT_EMODEL,
     "tokenizer.json: with BPE, the setting \"ignore_merges\" is not supported"},
    {FROM_JSON(BPE_WITH("{\"type\":\"BPE\"}")), WT_EMODEL, "tokenizer.json: the model has no vocab"},
    {FROM_JSON(BPE_WITH("{\"type\":\"BPE\"," BPE_VOCABULARY ",\"merges\":[[\"a\",\"c\"]]}")), WT_EMODEL,
     "the merge to \"ac\" uses a token that is not in the vocabulary"},
    {{.vocab_txt = {"[CLS]\n[SEP]\n", 12}}, WT_EMODEL, "the vocabulary has no [UNK]"},
    {{.vocab_json = {"[]", 2}, .merges_txt = {"\n", 1}}, WT_EMODEL, "vocab.json: not a JSON object"},
    {{.vocab_json = {"{}", 2}, .merges_txt = {"ab\n", 3}}, WT_EMODEL, "merges.txt: a line does not have two tokens"},
    {{.spm_model = {"\x0A\x7F", 2}}, WT_EFORMAT, "spm.model: malformed before byte 2; not a SentencePiece model"},
    {{.spm_model = {"\x0A\x03\x0A\x01"
                    "a\x12\x02\x18\x02",
                    9}},
     WT_EMODEL,
     "spm.model: only unigram models are supported"},
    {{.spm_model = {"\x12\x00", 2}}, WT_EMODEL, "spm.model: no piece for unknown text"},
    {{.vocab_txt = {"a", TOKENIZER_MAX_FILE + 1}},
     WT_ETOOLONG,
     "vocab.txt has 67108865 bytes; at most 67108864 are allowed"},
};

static void build_errors_name_the_cause(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        struct buffer blob = {0};
        wt_error err = {0};
        int rc = wt__tokenizer_build(&blob, &refusals[i].files, &err);
        assert_string_equal(err.message, refusals[i].message);
        assert_int_equal(rc, refusals[i].code);
        assert_int_equal(err.code, refusals[i].code);
        wt__buffer_dispose(&blob);
    }
}

static void malformed_json_has_a_position(void **state)
{
    struct buffer blob = {0};
    wt_error err = {0};
    (void)state;
    assert_int_equal(
        wt__tokenizer_build(&blob, &(struct tokenizer_files){.tokenizer_json = STR("{\n\"model\":,}")}, &err),
        WT_EFORMAT);
    assert_int_equal(err.line, 2);
    assert_memory_equal(err.message, "tokenizer.json: ", 16);
    assert_int_equal(
        wt__tokenizer_build(&blob, &(struct tokenizer_files){.vocab_txt = STR("a"), .tokenizer_config_json = STR("[")},
                            &err),
        WT_EFORMAT);
    assert_memory_equal(err.message, "tokenizer_config.json: ", 23);
    wt__buffer_dispose(&blob);
}

static void appends_a_blob_at_any_offset(void **state)
{
    (void)state;
    for (size_t i = 0; i < KINDS; i++) {
        struct buffer blob = {0};
        struct tokenizer t;
        wt_error err = {0};
        wt__buffer_text(&blob, "abc"); /* also tests a blob without alignment */
        assert_int_equal(
            wt__tokenizer_build(&blob, &(struct tokenizer_files){.tokenizer_json = wt__str(sound[i])}, &err), 0);
        assert_int_equal(wt__tokenizer_open(&t, blob.ptr + 3, blob.len - 3, &err), 0);
        assert_true(wt__tokenizer_encode(&t, STR("ab"), 8, (int32_t[8]){0}) > 2);
        wt__buffer_dispose(&blob);
    }
}

static void open_rejects_damaged_headers(void **state)
{
    static const struct {
        size_t offset;
        char byte;
        const char *message;
    } rows[] = {
        {7, '9', "tokenizer: not a packed tokenizer of this version"},
        {8, 1, "tokenizer: packed on a machine of another byte order"},
        {12, 77, "tokenizer: the packed tokenizer is damaged"},   /* kind */
        {22, 0x7F, "tokenizer: the packed tokenizer is damaged"}, /* token count */
        {31, 0x7F, "tokenizer: the packed tokenizer is damaged"}, /* a special id */
        {70, 1, "tokenizer: the packed tokenizer is damaged"},    /* offset of a section */
    };
    struct tokenizer t;
    wt_error err = {0};
    (void)state;
    assert_int_equal(wt__tokenizer_open(&t, "abc", 3, &err), WT_EMODEL);
    assert_string_equal(err.message, "tokenizer: the packed tokenizer is truncated to 3 bytes");
    for (size_t kind = 0; kind < KINDS; kind++) {
        struct opened own;
        open_json(&own, sound[kind]);
        assert_int_equal(wt__tokenizer_open(&t, own.blob.ptr, own.blob.len - 1, &err), WT_EMODEL);
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            char old = own.blob.ptr[rows[i].offset];
            own.blob.ptr[rows[i].offset] = rows[i].byte;
            if (wt__tokenizer_open(&t, own.blob.ptr, own.blob.len, &err) != WT_EMODEL)
                fail_msg("changed byte %zu was accepted", rows[i].offset);
            assert_string_equal(err.message, rows[i].message);
            own.blob.ptr[rows[i].offset] = old;
        }
        dispose_opened(&own);
    }
}

static void assert_encode_stays_in_bounds(const struct tokenizer *t, struct str text, size_t max_tokens)
{
    int32_t *ids = malloc(max_tokens * sizeof *ids + 1), *types = malloc(max_tokens * sizeof *ids + 1);
    struct str head = {text.ptr, text.len / 2}, tail = {text.ptr + text.len / 2, text.len - text.len / 2};

    assert_non_null(ids);
    assert_non_null(types);
    size_t count = wt__tokenizer_encode(t, text, max_tokens, ids);
    assert_true(count <= max_tokens);
    for (size_t i = 0; i < count; i++)
        assert_in_range(ids[i], 0, t->token_count - 1);
    count = encode_pair(t, head, tail, max_tokens, TOKENIZER_LONGEST_FIRST, ids, types);
    assert_true(count <= max_tokens);
    for (size_t i = 0; i < count; i++)
        assert_in_range(ids[i], 0, t->token_count - 1);
    free(ids);
    free(types);
}

static void damaged_blobs_are_harmless(void **state)
{
    struct rng rng;
    (void)state;
    wt__rng_seed(&rng, 3);
    for (size_t kind = 0; kind < KINDS; kind++) {
        struct opened own;
        open_json(&own, sound[kind]);
        char *copy = malloc(own.blob.len);
        assert_non_null(copy);
        for (int round = 0; round < 20000; round++) {
            memcpy(copy, own.blob.ptr, own.blob.len);
            for (size_t i = wt__rng_below(&rng, 8); i < 8; i++)
                copy[wt__rng_below(&rng, own.blob.len)] = (char)wt__rng_below(&rng, 256);
            struct tokenizer t;
            if (wt__tokenizer_open(&t, copy, own.blob.len, NULL) == 0)
                assert_encode_stays_in_bounds(&t, STR("ab b[MASK] <s>a\xC3\xA9 [UNK]  <mask>a!"), 32);
        }
        free(copy);
        dispose_opened(&own);
    }
}

static void encodes_any_bytes_and_truncates_at_the_end(void **state)
{
    static const char awkward[] = "ab [SEP]\xE2\x96\x81\xCC\x81<s>\n\xFF";
    struct rng rng;
    (void)state;
    wt__rng_seed(&rng, 2);
    for (size_t kind = 0; kind < KINDS; kind++) {
        struct opened own;
        open_json(&own, sound[kind]);
        for (int round = 0; round < 10000; round++) {
            char bytes[96];
            size_t len = wt__rng_below(&rng, sizeof bytes + 1), max_tokens = wt__rng_below(&rng, 20);
            for (size_t i = 0; i < len; i++)
                bytes[i] = wt__rng_below(&rng, 4) ? awkward[wt__rng_below(&rng, sizeof awkward)]
                                                  : (char)wt__rng_below(&rng, 256);
            int32_t whole[512], cut[20];
            size_t count = wt__tokenizer_encode(&own.tokenizer, (struct str){bytes, len}, 512, whole);
            size_t kept = wt__tokenizer_encode(&own.tokenizer, (struct str){bytes, len}, max_tokens, cut);
            assert_int_equal(kept, count < max_tokens ? count : max_tokens);
            for (size_t i = 0; i + 1 < kept; i++)
                assert_int_equal(cut[i], whole[i]);
            assert_encode_stays_in_bounds(&own.tokenizer, (struct str){bytes, len}, 300);
        }
        dispose_opened(&own);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_each_kind_from_tokenizer_json),
        cmocka_unit_test(pairs_use_the_frame_of_the_model),
        cmocka_unit_test(added_tokens_follow_their_options),
        cmocka_unit_test(unframed_texts_have_only_pieces),
        cmocka_unit_test(reads_older_formats),
        cmocka_unit_test(settings_name_the_special_tokens),
        cmocka_unit_test(reads_a_sentencepiece_model),
        cmocka_unit_test(reads_a_character_map_in_json),
        cmocka_unit_test(build_errors_name_the_cause),
        cmocka_unit_test(malformed_json_has_a_position),
        cmocka_unit_test(appends_a_blob_at_any_offset),
        cmocka_unit_test(open_rejects_damaged_headers),
        cmocka_unit_test(damaged_blobs_are_harmless),
        cmocka_unit_test(encodes_any_bytes_and_truncates_at_the_end),
    };
    return cmocka_run_group_tests_name("text/tokenizer", tests, NULL, NULL);
}
