/* Two readers of hostile bytes: the tokenizer with a sound vocabulary, and the opener of vocabulary blobs.
 *
 *   byte 0, bit 0     1: the rest is a vocabulary blob; else a text
 *   byte 0, bits 1-3  lower case, strip accents, split ideographs
 *   byte 0, bits 4-5  pair truncation
 *   byte 1            most tokens */
#include <stdlib.h>

#include "text/wordpiece.h"

static const char lines[] = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\nthe\n##s\n##a\nto\n##ken\ntoken\n.\n[\n]\n"
                            "\xE4\xB8\xAD\n\xC3\xA9\ne\n";

static void require(int holds)
{
    if (!holds)
        abort();
}

static void encode_both_ways(const struct vocabulary *v, struct str text, size_t max_tokens, unsigned truncation)
{
    int32_t *ids = malloc(max_tokens * sizeof *ids + 1), *types = malloc(max_tokens * sizeof *types + 1);
    struct str head = {text.ptr, text.len / 2}, tail = {text.ptr + text.len / 2, text.len - text.len / 2};

    if (ids && types) {
        size_t count = wt__wordpiece_encode(v, text, max_tokens, ids);
        require(count <= max_tokens);
        for (size_t i = 0; i < count; i++)
            require(ids[i] >= 0 && (uint32_t)ids[i] < v->token_count);
        count = wt__wordpiece_encode_pair(v, head, tail, max_tokens, (enum wordpiece_truncation)(truncation % 3), ids,
                                          types);
        require(count <= max_tokens);
        for (size_t i = 0; i < count; i++)
            require(ids[i] >= 0 && (uint32_t)ids[i] < v->token_count && (types[i] == 0 || types[i] == 1));
    }
    free(ids);
    free(types);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vocabulary v;

    if (size < 2)
        return 0;
    struct str rest = {(const char *)data + 2, size - 2};
    if (data[0] & 1) {
        if (wt__vocabulary_open(&v, rest.ptr, rest.len, NULL) == 0)
            encode_both_ways(&v, STR("The tokens [MASK] a\xC3\xA9 \xE4\xB8\xAD. getUserById"), data[1], data[0] >> 4);
        return 0;
    }
    struct vocabulary_options options = {(data[0] & 2) != 0, (data[0] & 4) != 0, (data[0] & 8) != 0};
    struct buffer blob = {0};
    if (wt__vocabulary_build(&blob, STR(lines), &options, NULL) == 0) {
        require(wt__vocabulary_open(&v, blob.ptr, blob.len, NULL) == 0);
        encode_both_ways(&v, rest, data[1], data[0] >> 4);
    }
    wt__buffer_dispose(&blob);

    /* Any bytes may also stand in vocab.txt; what is built from them opens. */
    struct buffer other = {0};
    if (wt__vocabulary_build(&other, rest, &options, NULL) == 0)
        require(wt__vocabulary_open(&v, other.ptr, other.len, NULL) == 0);
    wt__buffer_dispose(&other);
    return 0;
}
