/* tokenizer_parts.c: collects the parts of a tokenizer, for tokenizer_json.c and tokenizer_files.c. */
#include "text/internal.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"

static int check_id(int64_t id, struct str text, wt_error *err)
{
    enum { SHOWN = 60 };
    if (id >= 0 && id < TOKENIZER_MAX_TOKENS)
        return 0;
    return wt__fail(err, id < 0 ? WT_EMODEL : WT_ETOOLONG, "token \"%.*s\" has no id between 0 and %u",
                    (int)(text.len < SHOWN ? text.len : SHOWN), text.len > 0 ? text.ptr : "",
                    (unsigned)TOKENIZER_MAX_TOKENS - 1);
}

int wt__parts_add_piece(struct tokenizer_parts *parts, struct str text, int64_t id, double score, wt_error *err)
{
    size_t need = parts->piece_count + 1;
    WT_TRY(check_id(id, text, err));
    if (need > TOKENIZER_MAX_TOKENS)
        return wt__fail(err, WT_ETOOLONG, "over %u tokens", (unsigned)TOKENIZER_MAX_TOKENS);
    if (wt__grow((void **)&parts->pieces, &parts->piece_capacity, need, sizeof *parts->pieces) != 0 ||
        wt__grow((void **)&parts->scores, &parts->score_capacity, need, sizeof *parts->scores) != 0)
        return wt__fail_nomem(err);
    parts->pieces[parts->piece_count] = (struct trie_key){text, (int32_t)id};
    parts->scores[parts->piece_count++] = score;
    return 0;
}

int wt__parts_add_token(struct tokenizer_parts *parts, struct added_token token, int64_t id, wt_error *err)
{
    WT_TRY(check_id(id, token.content, err));
    if (token.content.len == 0)
        return 0;
    if (parts->added_count == TOKENIZER_MAX_TOKENS)
        return wt__fail(err, WT_ETOOLONG, "over %u added tokens", (unsigned)TOKENIZER_MAX_TOKENS);
    if (wt__grow((void **)&parts->added, &parts->added_capacity, parts->added_count + 1, sizeof *parts->added) != 0)
        return wt__fail_nomem(err);
    token.id = (int32_t)id;
    parts->added[parts->added_count++] = token;
    return 0;
}

int32_t wt__parts_find(const struct tokenizer_parts *parts, struct str text)
{
    if (text.len == 0)
        return -1;
    for (size_t i = 0; i < parts->added_count; i++)
        if (wt__str_equal(parts->added[i].content, text))
            return parts->added[i].id;
    for (size_t i = 0; i < parts->piece_count; i++)
        if (wt__str_equal(parts->pieces[i].text, text))
            return parts->pieces[i].value;
    return -1;
}

static int read_merge(struct bpe_merge *out, const struct map *ids, const struct merge_names *names,
                      struct buffer *both, wt_error *err)
{
    enum { SHOWN = 60 };
    wt__buffer_clear(both);
    wt__buffer_str(both, names->left);
    wt__buffer_str(both, names->right);
    if (both->failed)
        return wt__fail_nomem(err);
    struct str whole = wt__buffer_view(both);
    const uint32_t *left = wt__map_get(ids, names->left), *right = wt__map_get(ids, names->right);
    const uint32_t *result = wt__map_get(ids, whole);
    if (!left || !right || !result)
        return wt__fail(err, WT_EMODEL, "the merge to \"%.*s\" uses a token that is not in the vocabulary",
                        (int)(whole.len < SHOWN ? whole.len : SHOWN), whole.len > 0 ? whole.ptr : "");
    *out = (struct bpe_merge){*left, *right, *result};
    return 0;
}

int wt__parts_add_merges(struct tokenizer_parts *parts, const struct merge_names *names, size_t count, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer both = {0};
    WT_CLEANUP(wt__map_dispose) struct map ids = {0};
    for (size_t i = 0; i < parts->piece_count; i++)
        if (!wt__map_insert(&ids, parts->pieces[i].text, (uint32_t)parts->pieces[i].value, NULL))
            return wt__fail_nomem(err);
    if (count > TOKENIZER_MAX_TOKENS)
        return wt__fail(err, WT_ETOOLONG, "over %u merges", (unsigned)TOKENIZER_MAX_TOKENS);
    if (wt__grow((void **)&parts->merges, &parts->merge_capacity, count + 1, sizeof *parts->merges) != 0)
        return wt__fail_nomem(err);
    for (size_t i = 0; i < count; i++)
        WT_TRY(read_merge(&parts->merges[parts->merge_count++], &ids, &names[i], &both, err));
    return 0;
}
