/* lexical_check.c: checks all invariants of a lexical index. A search checks only the parts it uses, and skips
 * invalid entries; these functions report them. */
#include <math.h>
#include <string.h>

#include "index/lexical.h"
#include "index/lexical_format.h"

static int fail_damaged_term(wt_error *err, uint32_t term, const char *what)
{
    return wt__fail(err, WT_ESTORE, "damaged: term %u: %s", term, what);
}

static struct str term_text(const struct lexical *index, uint32_t term)
{
    uint32_t begin = index->entries[term].text;
    return (struct str){index->text + begin, index->entries[term + 1].text - begin};
}

/* Checks the offsets of a term and its order. */
static int check_entry(const struct lexical *index, uint32_t term, wt_error *err)
{
    const struct lexical_entry *entry = &index->entries[term], *next = entry + 1;
    if (entry->text > next->text || next->text > index->text_len || entry->posting >= next->posting ||
        next->posting > index->postings || entry->block > next->block || next->block > index->blocks)
        return fail_damaged_term(err, term, "its offset is outside the index");
    uint32_t count = next->posting - entry->posting;
    if (next->block - entry->block != count / LEXICAL_BLOCK + (count % LEXICAL_BLOCK > 0))
        return fail_damaged_term(err, term, "its blocks do not match its postings");
    if (!isfinite(entry->max) || entry->max < 0)
        return fail_damaged_term(err, term, "its maximum impact is invalid");
    if (term > 0 && wt__lexical_compare(term_text(index, term - 1), term_text(index, term)) >= 0)
        return fail_damaged_term(err, term, "it is not in order");
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
            return fail_damaged_term(err, term, "its rows are out of order or do not exist");
        if (impact[i] > index->block_max[block] || (last && row[i] != index->block_last[block]))
            return fail_damaged_term(err, term, "the bound of a block is wrong");
    }
    return 0;
}

int wt__lexical_check(const struct lexical *index, wt_error *err)
{
    const struct lexical_entry *first = &index->entries[0], *end = &index->entries[index->terms];
    if (first->text != 0 || first->posting != 0 || first->block != 0 || end->text != index->text_len ||
        end->posting != index->postings || end->block != index->blocks)
        return wt__fail(err, WT_ESTORE, "damaged: the terms do not cover the index");
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
