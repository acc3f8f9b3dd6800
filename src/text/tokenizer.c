/* tokenizer.c: opens blobs, splits text at added tokens, and adds the special tokens around one or two texts. */
#include "text/tokenizer.h"

#include <math.h>

#include "text/internal.h"

/* ---------------------------------------------------------------- opening */

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

/* ---------------------------------------------------------------- encoding */

static void add_segment(const struct tokenizer *t, struct str text, struct pieces *out)
{
    if (text.len == 0)
        return;
    switch (t->kind) {
    case TOKENIZER_WORDPIECE:
        wt__wordpiece_add(&t->wordpiece, text, out);
        break;
    case TOKENIZER_UNIGRAM:
        wt__unigram_add(&t->unigram, text, out);
        break;
    case TOKENIZER_BPE:
        wt__bpe_add(&t->bpe, text, out);
        break;
    }
}

/* Writes up to `capacity` pieces of text to ids. Returns their number; with count_all, the number without the limit. */
static size_t encode_pieces(const struct tokenizer *t, struct str text, size_t capacity, bool count_all, int32_t *ids)
{
    struct pieces out = {.ids = ids, .capacity = capacity, .enough = count_all ? SIZE_MAX : capacity};
    const char *at = text.ptr, *end = text.len > 0 ? at + text.len : at;
    struct added_match match;

    while (!wt__pieces_full(&out) && wt__added_next(&t->added, text, at, &match)) {
        add_segment(t, (struct str){at, (size_t)(match.place.ptr - at)}, &out);
        wt__pieces_put(&out, match.id);
        at = match.place.ptr + match.place.len;
    }
    if (!wt__pieces_full(&out))
        add_segment(t, (struct str){at, (size_t)(end - at)}, &out);
    return count_all || out.count < capacity ? out.count : capacity;
}

size_t wt__tokenizer_pieces(const struct tokenizer *t, struct str text, size_t max_tokens, int32_t *ids)
{
    return encode_pieces(t, text, max_tokens, false, ids);
}

size_t wt__tokenizer_encode(const struct tokenizer *t, struct str text, size_t max_tokens, int32_t *ids)
{
    size_t count = 0;

    if (!t->framed)
        return wt__tokenizer_pieces(t, text, max_tokens, ids);
    if (max_tokens > 0)
        ids[count++] = t->special[TOKENIZER_CLS];
    if (max_tokens > 1) {
        count += encode_pieces(t, text, max_tokens - 2, false, ids + 1);
        ids[count++] = t->special[TOKENIZER_SEP];
    }
    return count;
}

/* Reduces the lengths *a and *b so that their sum fits into room. */
static void truncate_pair(size_t *a, size_t *b, size_t room, enum tokenizer_truncation truncation)
{
    size_t *shorter = *a <= *b ? a : b, *longer = *a <= *b ? b : a;
    size_t *victim = truncation == TOKENIZER_ONLY_FIRST ? a : b, *other = victim == a ? b : a;

    if (*a + *b <= room)
        return;
    if (truncation != TOKENIZER_LONGEST_FIRST) {
        *other = *other < room ? *other : room;
        *victim = room - *other;
    } else if (*shorter <= room / 2) {
        *longer = room - *shorter;
    } else {
        *shorter = room / 2;
        *longer = room - *shorter;
    }
}

size_t wt__tokenizer_encode_pair(const struct tokenizer *t, struct str a, struct str b, size_t max_tokens,
                                 enum tokenizer_truncation truncation, int32_t *ids, int32_t *types)
{
    size_t middle = !t->framed ? 0 : t->pair_two_seps ? 2 : 1, frame = t->framed ? middle + 2 : 0;
    size_t room = max_tokens > frame ? max_tokens - frame : 0;
    size_t first = encode_pieces(t, a, 0, true, NULL), second = encode_pieces(t, b, 0, true, NULL);
    size_t count = 0, boundary = 0;

    truncate_pair(&first, &second, room, truncation);
    if (t->framed && max_tokens > 0)
        ids[count++] = t->special[TOKENIZER_CLS];
    count += encode_pieces(t, a, first, false, ids + count);
    for (size_t seps = middle; seps > 0 && count < max_tokens; seps--)
        ids[count++] = t->special[TOKENIZER_SEP];
    boundary = count;
    count += encode_pieces(t, b, second, false, ids + count);
    if (t->framed && count < max_tokens)
        ids[count++] = t->special[TOKENIZER_SEP];
    for (size_t i = 0; i < count; i++)
        types[i] = t->pair_types && i >= boundary;
    return count;
}
