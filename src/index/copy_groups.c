#include "index/copy_groups.h"

#include <stdlib.h>

#include "base/memory.h"
#include "index/snapshot.h"

struct hashed_row {
    uint64_t hash;
    uint32_t row;
};

static int compare_hashed_rows(const void *a, const void *b)
{
    const struct hashed_row *x = a, *y = b;
    return x->hash != y->hash ? (x->hash > y->hash) - (x->hash < y->hash) : (x->row > y->row) - (x->row < y->row);
}

bool wt__are_copies(const struct snapshot_key *a, const struct snapshot_key *b)
{
    return a->provider != b->provider || (a->method_twin && b->method_twin);
}

/* True if any two rows with this hash are copies. */
static bool has_copies(const struct snapshot_key *keys, const struct hashed_row *run, size_t len)
{
    for (size_t i = 1; i < len; i++)
        if (wt__are_copies(&keys[run[0].row], &keys[run[i].row]))
            return true;
    return false;
}

int wt__copy_groups_build(uint32_t **grouped, size_t *count, struct snapshot_key *keys, const uint64_t *hashes,
                          size_t rows, wt_error *err)
{
    size_t hashed = 0;
    *count = 0;
    *grouped = wt__alloc_array(rows, sizeof **grouped);
    struct hashed_row *order = wt__alloc_array(rows, sizeof *order);
    if (!order || !*grouped) {
        free(order);
        return wt__fail_nomem(err);
    }
    for (uint32_t row = 0; row < rows; row++) {
        keys[row].group = 0;
        if (hashes[row])
            order[hashed++] = (struct hashed_row){hashes[row], row};
    }
    if (hashed > 1)
        qsort(order, hashed, sizeof *order, compare_hashed_rows);
    for (size_t begin = 0, end; begin < hashed; begin = end) {
        for (end = begin + 1; end < hashed && order[end].hash == order[begin].hash;)
            end++;
        uint32_t group = (uint32_t)*count + 1;
        bool copies = has_copies(keys, order + begin, end - begin);
        for (size_t i = begin; copies && i < end; i++) {
            keys[order[i].row].group = group;
            (*grouped)[(*count)++] = order[i].row;
        }
    }
    free(order);
    return 0;
}

const uint32_t *wt__copy_group(const struct snapshot *snapshot, uint32_t row, size_t *count)
{
    const struct copy_groups *copies = &snapshot->copies;
    uint32_t group = row < snapshot->rows ? snapshot->keys[row].group : 0;
    *count = 0;
    if (group == 0 || group > copies->count)
        return NULL;
    const uint32_t *rows = copies->rows + group - 1;
    size_t left = copies->count - (group - 1);
    while (*count < left && *count < COPY_GROUP_READ && rows[*count] < snapshot->rows &&
           snapshot->keys[rows[*count]].group == group)
        (*count)++;
    return rows;
}

int wt__copy_groups_check(const struct snapshot *snapshot, wt_error *err)
{
    const struct copy_groups *copies = &snapshot->copies;
    size_t grouped = 0;
    uint32_t group = 0;
    for (uint32_t row = 0; row < snapshot->rows; row++)
        grouped += snapshot->keys[row].group > 0;
    bool sound = grouped == copies->count;
    for (size_t i = 0; sound && i < copies->count; i++) {
        bool there = copies->rows[i] < snapshot->rows;
        bool begins = there && snapshot->keys[copies->rows[i]].group == i + 1;
        group = begins ? (uint32_t)i + 1 : group;
        sound = there && snapshot->keys[copies->rows[i]].group == group &&
                (begins || copies->rows[i - 1] < copies->rows[i]);
    }
    return sound ? 0 : wt__fail(err, WT_ESTORE, "damaged: copies and their groups do not agree");
}
