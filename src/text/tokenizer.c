/* tokenizer.c: opens blobs, splits text at added tokens, and adds the special tokens around a text. */
#include "text/tokenizer.h"

#include <math.h>

#include "text/internal.h"

static struct str section_view(const struct tokenizer_header *header, const void *blob, enum tokenizer_section which)
{
    return (struct str){(const char *)blob + header->sections[which].offset, (size_t)header->sections[which].size};
}

static bool open_wordpiece(struct tokenizer *out, const struct tokenizer_header *header, const void *blob)
{
    struct wordpiece *w = &out->wordpiece;
    struct str pieces = section_view(header, blob, SECTION_PIECES);
    w->token_count = out->token_count;
    w->continuation = header->continuation;
    w->unknown = out->special[TOKENIZER_UNK];
    w->lower_case = (header->flags & TOKENIZER_LOWER_CASE) != 0;
    w->strip_accents = (header->flags & TOKENIZER_STRIP_ACCENTS) != 0;
    w->split_cjk = (header->flags & TOKENIZER_SPLIT_CJK) != 0;
    return wt__trie_open(&w->trie, pieces.ptr, pieces.len) && w->continuation < w->trie.unit_count && w->unknown >= 0;
}

static bool open_unigram(struct tokenizer *out, const struct tokenizer_header *header, const void *blob)
{
    struct unigram *u = &out->unigram;
    struct str pieces = section_view(header, blob, SECTION_PIECES), scores = section_view(header, blob, SECTION_SCORES);
    struct str added = section_view(header, blob, SECTION_NORMALIZED_ADDED);
    struct str map = section_view(header, blob, SECTION_CHARACTER_MAP);
    u->scores = (const unsigned char *)scores.ptr;
    u->score_count = (uint32_t)(scores.len / sizeof(double));
    u->unknown = out->special[TOKENIZER_UNK];
    u->unknown_score = header->unknown_score;
    u->longest = header->longest;
    u->prefix = (header->flags & TOKENIZER_PREFIX) != 0;
    u->split_blanks = (header->flags & TOKENIZER_SPLIT_BLANKS) != 0;
    u->normalizer.strip_left = (header->flags & TOKENIZER_STRIP_LEFT) != 0;
    u->normalizer.strip_right = (header->flags & TOKENIZER_STRIP_RIGHT) != 0;
    u->normalizer.squeeze_blanks = (header->flags & TOKENIZER_SQUEEZE_BLANKS) != 0;
    u->normalizer.compose = (header->flags & TOKENIZER_COMPOSE) != 0;
    u->normalizer.collapse_spaces = (header->flags & TOKENIZER_COLLAPSE_SPACES) != 0;
    if (map.len > 0 && !wt__precompiled_open(&u->normalizer.map, map))
        return false;
    wt__normalizer_prepare(&u->normalizer);
    return wt__trie_open(&u->trie, pieces.ptr, pieces.len) &&
           wt__added_open(&u->added, added.ptr, added.len, out->token_count) &&
           scores.len == u->score_count * sizeof(double) && u->score_count <= out->token_count && u->unknown >= 0 &&
           u->longest >= 1 && u->longest <= UNIGRAM_MAX_PIECE && isfinite(u->unknown_score);
}

static bool open_bpe(struct tokenizer *out, const struct tokenizer_header *header, const void *blob)
{
    struct bpe *b = &out->bpe;
    struct str bytes = section_view(header, blob, SECTION_BYTES), merges = section_view(header, blob, SECTION_MERGES);
    b->bytes = (const unsigned char *)bytes.ptr;
    b->token_count = out->token_count;
    b->prefix_space = (header->flags & TOKENIZER_PREFIX) != 0;
    return bytes.len == 256 * sizeof(int32_t) && wt__bpe_open_merges(b, merges.ptr, merges.len);
}

static bool is_valid_header(const struct tokenizer_header *header, size_t len)
{
    if (header->kind > TOKENIZER_BPE || header->token_count > TOKENIZER_MAX_TOKENS)
        return false;
    for (size_t i = 0; i < TOKENIZER_SPECIALS; i++)
        if (header->special[i] < -1 || header->special[i] >= (int32_t)header->token_count)
            return false;
    for (size_t i = 0; i < TOKENIZER_SECTIONS; i++)
        if (header->sections[i].offset > len || header->sections[i].size > len - header->sections[i].offset)
            return false;
    return true;
}

int wt__tokenizer_open(struct tokenizer *out, const void *blob, size_t len, wt_error *err)
{
    static bool (*const open_kind[])(struct tokenizer *, const struct tokenizer_header *, const void *) = {
        [TOKENIZER_WORDPIECE] = open_wordpiece, [TOKENIZER_UNIGRAM] = open_unigram, [TOKENIZER_BPE] = open_bpe};
    struct tokenizer_header header;
    *out = (struct tokenizer){0};
    if (len < sizeof header)
        return wt__fail(err, WT_EMODEL, "tokenizer: the packed tokenizer is truncated to %zu bytes", len);
    memcpy(&header, blob, sizeof header);
    if (memcmp(header.magic, TOKENIZER_MAGIC, sizeof header.magic) != 0)
        return wt__fail(err, WT_EMODEL, "tokenizer: not a packed tokenizer of this version");
    if (header.byte_order != TOKENIZER_BYTE_ORDER)
        return wt__fail(err, WT_EMODEL, "tokenizer: packed on a machine of another byte order");
    if (!is_valid_header(&header, len))
        return wt__fail(err, WT_EMODEL, "tokenizer: the packed tokenizer is damaged");
    out->kind = (enum tokenizer_kind)header.kind;
    out->token_count = header.token_count;
    memcpy(out->special, header.special, sizeof out->special);
    out->framed = out->special[TOKENIZER_CLS] >= 0 && out->special[TOKENIZER_SEP] >= 0;
    out->pair_two_seps = (header.flags & TOKENIZER_PAIR_TWO_SEPS) != 0;
    out->pair_types = (header.flags & TOKENIZER_PAIR_TYPES) != 0;
    struct str added = section_view(&header, blob, SECTION_ADDED);
    if (!wt__added_open(&out->added, added.ptr, added.len, out->token_count) ||
        !open_kind[header.kind](out, &header, blob))
        return wt__fail(err, WT_EMODEL, "tokenizer: the packed tokenizer is damaged");
    return 0;
}

static void add_segment(const struct tokenizer *t, struct str text, struct pieces *out)
{
    if (text.len == 0)
        return;
    if (t->kind == TOKENIZER_WORDPIECE)
        wt__wordpiece_add(&t->wordpiece, text, out);
    else if (t->kind == TOKENIZER_UNIGRAM)
        wt__unigram_add(&t->unigram, text, out);
    else
        wt__bpe_add(&t->bpe, text, out);
}

size_t wt__tokenizer_pieces(const struct tokenizer *t, struct str text, size_t max_tokens, int32_t *ids)
{
    struct pieces out = {.ids = ids, .capacity = max_tokens};
    const char *at = text.ptr, *end = text.len > 0 ? at + text.len : at;
    struct added_match match;
    while (!wt__pieces_full(&out) && wt__added_next(&t->added, text, at, &match)) {
        add_segment(t, (struct str){at, (size_t)(match.place.ptr - at)}, &out);
        wt__pieces_put(&out, match.id);
        at = match.place.ptr + match.place.len;
    }
    if (!wt__pieces_full(&out))
        add_segment(t, (struct str){at, (size_t)(end - at)}, &out);
    return out.count < max_tokens ? out.count : max_tokens;
}

size_t wt__tokenizer_encode(const struct tokenizer *t, struct str text, size_t max_tokens, int32_t *ids)
{
    size_t count = 0;
    if (!t->framed)
        return wt__tokenizer_pieces(t, text, max_tokens, ids);
    if (max_tokens > 0)
        ids[count++] = t->special[TOKENIZER_CLS];
    if (max_tokens > 1) {
        count += wt__tokenizer_pieces(t, text, max_tokens - 2, ids + 1);
        ids[count++] = t->special[TOKENIZER_SEP];
    }
    return count;
}
