/* tokenizer.c: one interface over the algorithms. */
#include "text/tokenizer.h"

#include "text/wordpiece.h"

int wt__tokenizer_build(struct buffer *blob, const struct tokenizer_files *files, wt_error *err)
{
    struct vocabulary_options options = VOCABULARY_UNCASED;

    if (files->vocab_txt.len == 0)
        return wt__fail(err, WT_EMODEL, "the model has no vocab.txt");
    return wt__vocabulary_build(blob, files->vocab_txt, &options, err);
}

int wt__tokenizer_open(struct tokenizer *out, const void *blob, size_t len, wt_error *err)
{
    *out = (struct tokenizer){.kind = TOKENIZER_WORDPIECE};
    int rc = wt__vocabulary_open(&out->vocabulary, blob, len, err);

    if (rc == 0) {
        out->token_count = out->vocabulary.token_count;
        memcpy(out->special, out->vocabulary.special, sizeof out->special);
    }
    return rc;
}

size_t wt__tokenizer_encode(const struct tokenizer *t, struct str text, size_t max_tokens, int32_t *ids)
{
    return wt__wordpiece_encode(&t->vocabulary, text, max_tokens, ids);
}

size_t wt__tokenizer_encode_pair(const struct tokenizer *t, struct str a, struct str b, size_t max_tokens,
                                 enum tokenizer_truncation truncation, int32_t *ids, int32_t *types)
{
    return wt__wordpiece_encode_pair(&t->vocabulary, a, b, max_tokens, (enum wordpiece_truncation)truncation, ids,
                                     types);
}
