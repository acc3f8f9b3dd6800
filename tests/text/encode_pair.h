/* encode_pair.h: encodes two texts as one input, with the truncations of the reference library, for tests. The product
 * encodes pairs in rerank/, from stored pieces. Tests compare the pairs of this file with those and with the golden
 * pairs. */
#ifndef WT_TESTS_TEXT_ENCODE_PAIR_H
#define WT_TESTS_TEXT_ENCODE_PAIR_H

#include <stdlib.h>

#include "text/tokenizer.h"

/* Texts that are shortened if a pair is too long. */
enum tokenizer_truncation {
    TOKENIZER_LONGEST_FIRST, /* the longer text to the length of the shorter one, then both */
    TOKENIZER_ONLY_FIRST,    /* the first text, then the second if necessary */
    TOKENIZER_ONLY_SECOND    /* the second text, then the first if necessary */
};

/* Reduces the lengths *a and *b so that their sum fits into room. */
static inline void truncate_pair(size_t *a, size_t *b, size_t room, enum tokenizer_truncation truncation)
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

static inline size_t count_all_pieces(const struct tokenizer *t, struct str text)
{
    for (size_t room = text.len + 64;; room *= 2) {
        int32_t *ids = malloc(room * sizeof *ids);
        if (!ids)
            abort();
        size_t count = wt__tokenizer_pieces(t, text, room, ids);
        free(ids);
        if (count < room)
            return count;
    }
}

/* Encodes a pair as CLS a SEP b SEP or CLS a SEP SEP b SEP, depending on the model. types: token types, all 0 if the
 * model has none. ids, types: [max_tokens]. Returns the number of ids. */
static inline size_t encode_pair(const struct tokenizer *t, struct str a, struct str b, size_t max_tokens,
                                 enum tokenizer_truncation truncation, int32_t *ids, int32_t *types)
{
    size_t middle = !t->framed ? 0 : t->pair_two_seps ? 2 : 1, frame = t->framed ? middle + 2 : 0;
    size_t room = max_tokens > frame ? max_tokens - frame : 0;
    size_t first = count_all_pieces(t, a), second = count_all_pieces(t, b), count = 0;
    truncate_pair(&first, &second, room, truncation);
    if (t->framed && max_tokens > 0)
        ids[count++] = t->special[TOKENIZER_CLS];
    count += wt__tokenizer_pieces(t, a, first, ids + count);
    for (size_t seps = middle; seps > 0 && count < max_tokens; seps--)
        ids[count++] = t->special[TOKENIZER_SEP];
    size_t boundary = count;
    count += wt__tokenizer_pieces(t, b, second, ids + count);
    if (t->framed && count < max_tokens)
        ids[count++] = t->special[TOKENIZER_SEP];
    for (size_t i = 0; i < count; i++)
        types[i] = t->pair_types && i >= boundary;
    return count;
}

#endif
