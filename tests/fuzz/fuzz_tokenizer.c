/* Fuzzes tokenizers of valid models with any text, and the opener of tokenizer blobs.
 *
 *   byte 0, bits 0-1  index of the model, or 3 if the rest is a blob
 *   byte 0, bits 2-7  pair truncation (modulo 3)
 *   byte 1            maximum number of tokens
 *
 * Token ids are below token_count, the limit is respected, and truncation keeps the beginning of the text. */
#include <stdlib.h>

#include "text/encode_pair.h"
#include "require.h"

#define FRAME "\"post_processor\":{\"type\":\"RobertaProcessing\",\"cls\":[\"<s>\",0],\"sep\":[\"</s>\",1]}"
#define ADDED(normalized)                                                                                              \
    "\"added_tokens\":[{\"id\":0,\"content\":\"<s>\"},{\"id\":1,\"content\":\"</s>\"},{\"id\":2,\"content\":\"<u>\","  \
    "\"normalized\":" normalized "},{\"id\":3,\"content\":\"<m>\",\"lstrip\":true},{\"id\":20,\"content\":\"<w>\","    \
    "\"single_word\":true,\"rstrip\":true}]"
#define SPECIAL_PIECES "[\"<s>\",0],[\"</s>\",0],[\"<u>\",0],[\"<m>\",0]"

static const char *const models[] = {
    "{" ADDED(
        "false") "," FRAME
                 ",\"normalizer\":{\"type\":\"BertNormalizer\",\"lowercase\":true},\"pre_tokenizer\":{\"type\":"
                 "\"BertPreTokenizer\"},\"model\":{\"type\":\"WordPiece\",\"unk_token\":\"<u>\","
                 "\"continuing_subword_prefix\":\"##\",\"vocab\":{\"<s>\":0,\"</s>\":1,\"<u>\":2,\"a\":3,\"##a\":4,"
                 "\"b\":5,\"##b\":6,\"\\u4e2d\":7,\"e\":8,\".\":9}}}",
    "{" ADDED("true") "," FRAME ",\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"Replace\","
                      "\"pattern\":{\"Regex\":\"\\\\s{2,}|[\\\\n\\\\r\\\\t]\"},\"content\":\" \"},{\"type\":\"NFC\"},"
                      "{\"type\":\"Strip\",\"strip_left\":false,\"strip_right\":true}]},\"pre_tokenizer\":{\"type\":"
                      "\"Metaspace\",\"replacement\":\"\\u2581\",\"prepend_scheme\":\"always\"},\"model\":{\"type\":"
                      "\"Unigram\",\"unk_id\":2,\"vocab\":[" SPECIAL_PIECES
                      ",[\"\\u2581\",-3],[\"a\",-3],[\"b\",-3.5],[\"ab\",-5],[\"\\u2581a\",-4],[\"aab\",-7],"
                      "[\"\\u00e9\",-6]]}}",
    "{" ADDED(
        "false") "," FRAME ",\"normalizer\":null,\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":"
                 "true},\"model\":{\"type\":\"BPE\",\"unk_token\":\"<u>\",\"vocab\":{\"<s>\":0,\"</s>\":1,\"<u>\":2,"
                 "\"a\":3,\"b\":4,\"\\u0120\":5,\"ab\":6,\"\\u0120a\":7,\"aa\":8,\"aab\":9},\"merges\":["
                 "[\"a\",\"b\"],[\"\\u0120\",\"a\"],[\"a\",\"a\"],[\"a\",\"ab\"]]}}",
};
enum { MODELS = sizeof models / sizeof *models };

static void encode_and_check(const struct tokenizer *t, struct str text, size_t max_tokens, unsigned truncation)
{
    int32_t *ids = malloc(max_tokens * sizeof *ids + 1), *types = malloc(max_tokens * sizeof *types + 1);
    int32_t *fewer = malloc((max_tokens / 2) * sizeof *fewer + 1);
    struct str head = {text.ptr, text.len / 2}, tail = {text.ptr + text.len / 2, text.len - text.len / 2};

    if (ids && types && fewer) {
        size_t count = wt__tokenizer_encode(t, text, max_tokens, ids);
        require(count <= max_tokens);
        for (size_t i = 0; i < count; i++)
            require(ids[i] >= 0 && (uint32_t)ids[i] < t->token_count);
        size_t kept = wt__tokenizer_encode(t, text, max_tokens / 2, fewer);
        require(kept == (count < max_tokens / 2 ? count : max_tokens / 2));
        for (size_t i = 0; i + 1 < kept; i++)
            require(fewer[i] == ids[i]);
        count = encode_pair(t, head, tail, max_tokens, (enum tokenizer_truncation)(truncation % 3), ids, types);
        require(count <= max_tokens);
        for (size_t i = 0; i < count; i++)
            require(ids[i] >= 0 && (uint32_t)ids[i] < t->token_count && (types[i] == 0 || types[i] == 1));
    }
    free(ids);
    free(types);
    free(fewer);
}

/* Returns the tokenizer of a model, built on first use. */
static const struct tokenizer *open_valid_tokenizer(unsigned model)
{
    static struct buffer blobs[MODELS];
    static struct tokenizer built[MODELS];
    struct tokenizer_files files = {.tokenizer_json = wt__str(models[model])};

    if (blobs[model].len == 0) {
        require(wt__tokenizer_build(&blobs[model], &files, NULL) == 0);
        require(wt__tokenizer_open(&built[model], blobs[model].ptr, blobs[model].len, NULL) == 0);
    }
    return &built[model];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tokenizer t;

    if (size < 2)
        return 0;
    struct str rest = {(const char *)data + 2, size - 2};
    unsigned model = data[0] & 3;
    if (model < MODELS)
        encode_and_check(open_valid_tokenizer(model), rest, data[1], data[0] >> 2);
    else if (wt__tokenizer_open(&t, rest.ptr, rest.len, NULL) == 0)
        encode_and_check(&t, STR("ab <s>\xC3\xA9 <m> \xE4\xB8\xAD. <u>b\xEF\xBC\xA1\xCC\x81  aab"), data[1],
                         data[0] >> 2);
    return 0;
}
