/* lexical_check.c: every promise of a lexical index at once. A search looks at what it needs of it, and passes over an
 * entry that makes no sense; here that is told. */
#include <math.h>
#include <string.h>

#include "index/lexical.h"
#include "index/lexical_format.h"

static int damaged(wt_error *err, uint32_t term, const char *what)
{
    return wt__fail(err, WT_ESTORE, "damaged: term %u: %s", term, what);
}

static struct str text_of(const struct lexical *index, uint32_t term)
{
    uint32_t begin = index->entries[term].text;
    return (struct str){index->text + begin, index->entries[term + 1].text - begin};
}

/* Where terms begin and end, and that each lies behind the one before it. */
static int check_entry(const struct lexical *index, uint32_t term, wt_error *err)
{
    const struct lexical_entry *entry = &index->entries[term], *next = entry + 1;
    if (entry->text > next->text || next->text > index->text_len || entry->posting >= next->posting ||
        next->posting > index->postings || entry->block > next->block || next->block > index->blocks)
        return damaged(err, term, "its place lies outside of the index");
    uint32_t count = next->posting - entry->posting;
    if (next->block - entry->block != count / LEXICAL_BLOCK + (count % LEXICAL_BLOCK > 0))
        return damaged(err, term, "its blocks do not fit its postings");
    if (!isfinite(entry->max) || entry->max < 0)
        return damaged(err, term, "its greatest impact is none");
    if (term > 0 && wt__lexical_compare(text_of(index, term - 1), text_of(index, term)) >= 0)
        return damaged(err, term, "it does not stand in order");
    return 0;
}

static int check_postings(const struct lexical *index, uint32_t term, wt_error *err)
{
    const struct lexical_entry *entry = &index->entries[term];
    uint32_t count = entry[1].posting - entry->posting;
    const uint32_t *row = index->row + entry->posting;
    const uint16_t *impact = index->impact + entry->posting;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t block = entry->block + i / LEXICAL_BLOCK;
        bool last = i + 1 == count || (i + 1) % LEXICAL_BLOCK == 0;
        if (row[i] >= index->rows || (i > 0 && row[i - 1] >= row[i]))
            return damaged(err, term, "its rows are not in order, or there are no such rows");
        if (impact[i] > index->block_max[block] || (last && row[i] != index->block_last[block]))
            return damaged(err, term, "a bound does not hold for what it bounds");
    }
    return 0;
}

int wt__lexical_check(const struct lexical *index, wt_error *err)
{
    const struct lexical_entry *first = &index->entries[0], *end = &index->entries[index->terms];
    if (first->text != 0 || first->posting != 0 || first->block != 0 || end->text != index->text_len ||
        end->posting != index->postings || end->block != index->blocks)
        return wt__fail(err, WT_ESTORE, "damaged: the terms do not fill the index");
    int rc = 0;
    for (uint32_t term = 0; rc == 0 && term < index->terms; term++) {
        rc = check_entry(index, term, err);
        if (rc == 0)
            rc = check_postings(index, term, err);
    }
    for (uint32_t row = 0; rc == 0 && row < index->rows; row++)
        if (!(index->damping[row] > 0 && index->damping[row] <= 1))
            rc = wt__fail(err, WT_ESTORE, "damaged: the damping of row %u is not in (0, 1]", row);
    return rc;
}
