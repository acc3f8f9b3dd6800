/* Fuzzes the files from which a tokenizer is built: every tokenizer built also opens and encodes. The first
 * byte, modulo 5, selects the files in the rest. Two files are separated by the first byte 0x01.
 *
 *   0   tokenizer.json
 *   1   vocab.txt
 *   2   spm.model
 *   3   vocab.json and merges.txt
 *   4   tokenizer_config.json and vocab.txt */
#include <stdlib.h>

#include "text/tokenizer.h"

enum { MOST = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tokenizer_files files = {0};
    struct buffer blob = {0};
    struct tokenizer t;

    if (size < 1)
        return 0;
    struct str whole = {(const char *)data + 1, size - 1}, first = whole, second = {0};
    const char *part = whole.len > 0 ? memchr(whole.ptr, 1, whole.len) : NULL;
    if (part) {
        first.len = (size_t)(part - whole.ptr);
        second = (struct str){part + 1, whole.len - first.len - 1};
    }
    switch (data[0] % 5) {
    case 0:
        files.tokenizer_json = whole;
        break;
    case 1:
        files.vocab_txt = whole;
        break;
    case 2:
        files.spm_model = whole;
        break;
    case 3:
        files.vocab_json = first;
        files.merges_txt = second;
        break;
    default:
        files.tokenizer_config_json = first;
        files.vocab_txt = second;
    }
    if (wt__tokenizer_build(&blob, &files, NULL) == 0) {
        int32_t ids[MOST];
        if (wt__tokenizer_open(&t, blob.ptr, blob.len, NULL) != 0)
            abort();
        size_t count = wt__tokenizer_encode(&t, STR("a b ab<s> [MASK]\xC3\xA9\xEF\xBC\xA1\xCC\x81"), MOST, ids);
        for (size_t i = 0; i < count; i++)
            if (ids[i] < 0 || (uint32_t)ids[i] >= t.token_count)
                abort();
    }
    wt__buffer_dispose(&blob);
    return 0;
}
