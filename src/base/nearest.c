/* nearest.c: computes edit distances row by row. A comparison stops as soon as the limit is reached, because a
 * catalogue has many names. */
#include "base/nearest.h"

void wt__nearest_begin(struct nearest *nearest, struct str word)
{
    nearest->word = word;
    nearest->edits = NEAREST_EDITS;
    nearest->best[0] = '\0';
}

static size_t smaller_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t wt__edit_distance(struct str word, struct str candidate, size_t most)
{
    const char *a = word.ptr, *b = candidate.ptr;
    unsigned char rows[3][NEAREST_WORD_MAX + 1], *before = rows[0], *above = rows[1], *row = rows[2];
    size_t apart = word.len > candidate.len ? word.len - candidate.len : candidate.len - word.len;
    if (apart >= most || word.len > NEAREST_WORD_MAX || candidate.len > NEAREST_WORD_MAX)
        return most;
    for (size_t j = 0; j <= candidate.len; j++)
        above[j] = (unsigned char)j;
    for (size_t i = 1; i <= word.len; i++) {
        size_t best = row[0] = (unsigned char)i;
        for (size_t j = 1; j <= candidate.len; j++) {
            size_t here = above[j - 1] + (size_t)(a[i - 1] != b[j - 1]);
            here = smaller_of(here, smaller_of(above[j], row[j - 1]) + (size_t)1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                here = smaller_of(here, before[j - 2] + (size_t)1);
            row[j] = (unsigned char)here;
            best = smaller_of(best, here);
        }
        if (best >= most)
            return most;
        unsigned char *spare = before;
        before = above;
        above = row;
        row = spare;
    }
    size_t edits = above[candidate.len];
    /* If more characters change than stay, the words are unrelated. */
    return edits < most && edits * 2 <= candidate.len ? edits : most;
}

void wt__nearest_show(struct nearest *nearest, struct str candidate)
{
    size_t edits = wt__edit_distance(nearest->word, candidate, nearest->edits);
    if (edits >= nearest->edits || candidate.len >= sizeof nearest->best)
        return;
    nearest->edits = edits;
    memcpy(nearest->best, candidate.ptr, candidate.len);
    nearest->best[candidate.len] = '\0';
}
