#include "learn/distil_texts.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"

/* Returns the number of a text; adds new texts. */
static bool number_text(struct distil_texts *out, struct map *known, struct str text, uint32_t *number)
{
    bool added;
    const uint32_t *found = wt__map_insert(known, text, (uint32_t)out->count, &added);
    if (!found)
        return false;
    if (added)
        out->texts[out->count++] = text;
    *number = *found;
    return true;
}

static int gather_texts(struct distil_texts *out, wt_error *err)
{
    const struct examples *e = out->examples;
    struct map known = {0};
    uint32_t number;
    out->texts = wt__alloc_array(e->tools * DOCUMENT_TEXTS + e->train.count, sizeof *out->texts);
    out->tool_text = wt__alloc_array(e->tools, sizeof *out->tool_text);
    out->request_text = wt__alloc_array(e->train.count, sizeof *out->request_text);
    bool whole = out->texts && out->tool_text && out->request_text;
    for (unsigned t = 0; t < DOCUMENT_TEXTS; t++)
        for (size_t row = 0; whole && row < e->tools; row++)
            whole = number_text(out, &known, e->texts[t][row], t == 0 ? &out->tool_text[row] : &number);
    for (size_t i = 0; whole && i < e->train.count; i++)
        whole = number_text(out, &known, e->train.texts[i], &out->request_text[i]);
    wt__map_dispose(&known);
    return whole ? 0 : wt__fail_nomem(err);
}

int wt__distil_tokens(struct token_texts *tokens, const struct tokenizer *tokenizer, const struct str *texts,
                      size_t count, size_t max_tokens, wt_error *err)
{
    size_t capacity = 0, begin = 0;
    *tokens = (struct token_texts){.starts = wt__alloc_array(count + 1, sizeof *tokens->starts)};
    if (!tokens->starts)
        return wt__fail_nomem(err);
    tokens->starts[0] = 0;
    for (size_t i = 0; i < count; i++) {
        if (wt__grow((void **)&tokens->ids, &capacity, begin + max_tokens, sizeof *tokens->ids) < 0)
            return wt__fail_nomem(err);
        int32_t *ids = tokens->ids + begin;
        size_t framed = wt__tokenizer_encode(tokenizer, texts[i], max_tokens, ids);
        for (size_t t = 1; t + 1 < framed; t++)
            if (ids[t] != tokenizer->special[TOKENIZER_UNK])
                tokens->ids[begin++] = ids[t];
        tokens->starts[++tokens->count] = begin;
    }
    return 0;
}

int wt__distil_texts_open(struct distil_texts *out, const struct examples *examples, const struct tokenizer *tokenizer,
                          size_t max_tokens, wt_error *err)
{
    *out = (struct distil_texts){.examples = examples};
    int rc = gather_texts(out, err);
    if (rc == 0)
        rc = wt__distil_tokens(&out->tokens, tokenizer, out->texts, out->count, max_tokens, err);
    if (rc == 0 && out->count == 0)
        rc = wt__fail(err, WT_EEMPTY, "%s has no text to learn from", examples->source);
    if (rc < 0)
        wt__distil_texts_dispose(out);
    return rc;
}

void wt__distil_texts_dispose(struct distil_texts *texts)
{
    free(texts->texts);
    free(texts->tool_text);
    free(texts->request_text);
    wt__token_texts_dispose(&texts->tokens);
    *texts = (struct distil_texts){0};
}

void wt__distil_frequencies(const struct distil_texts *texts, size_t token_count, float *frequency)
{
    size_t all = texts->tokens.starts[texts->count];
    memset(frequency, 0, token_count * sizeof *frequency);
    for (size_t i = 0; i < all; i++)
        frequency[texts->tokens.ids[i]]++;
    for (size_t t = 0; t < token_count; t++)
        frequency[t] /= all > 0 ? (float)all : 1;
}
