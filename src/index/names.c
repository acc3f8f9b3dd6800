/* names.c: builds and searches the sorted list of names (names.h). */
#include "index/names.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/sort.h"

enum {
    WINDOW = 8, /* entries on each side of the estimated index in the first search window */
    MARKS = 16  /* minimum bits of the bitmap per entry; at most 1 in 64 absent hashes then seems to exist */
};

/* Computes the two bitmap indexes of a hash, from the first and the last bits of the hash. */
static void compute_marks(const struct name_index *names, uint64_t entry, uint64_t marks[2])
{
    marks[0] = entry >> (64 - names->mark_bits);
    marks[1] = entry >> (NAME_KIND_BITS + NAME_ROW_BITS) & (((uint64_t)1 << names->mark_bits) - 1);
}

static bool may_have_hash(const struct name_index *names, uint64_t hash)
{
    uint64_t marks[2];
    if (!names->marks)
        return true;
    compute_marks(names, wt__name_entry(hash, NAME_OWN, 0), marks);
    return (names->marks[marks[0] / 64] >> marks[0] % 64 & 1) && (names->marks[marks[1] / 64] >> marks[1] % 64 & 1);
}

int wt__names_mark(struct name_index *names)
{
    names->mark_bits = 6; /* 2 ^ 6 bits: one word */
    while ((size_t)1 << names->mark_bits < names->count * MARKS)
        names->mark_bits++;
    names->marks = calloc((size_t)1 << (names->mark_bits - 6), sizeof *names->marks);
    for (size_t i = 0; names->marks && i < names->count; i++) {
        uint64_t marks[2];
        compute_marks(names, names->entries[i], marks);
        for (size_t m = 0; m < 2; m++)
            names->marks[marks[m] / 64] |= UINT64_C(1) << marks[m] % 64;
    }
    return names->marks ? 0 : WT_ENOMEM;
}

/* Estimates the index of the entry whose value differs by `distance` from that of the entry at index `from`. Assumes
 * evenly distributed hashes. */
static size_t interpolate_index(const struct name_index *names, size_t from, double distance)
{
    double at = (double)from + (double)names->count * (distance / 0x1p64);
    return at <= 0 ? 0 : at < (double)names->count ? (size_t)at : names->count;
}

/* Returns the index of the first entry not less than the value. The index is first estimated from the start of the
 * list, then again from the entry at the first estimate. A window around the second estimate grows until it contains
 * the result. Hashes are
 * evenly distributed, so a search reads only a few cache lines. */
static size_t find_first_entry(const struct name_index *names, uint64_t value)
{
    size_t low = 0, high = names->count, at = interpolate_index(names, 0, (double)value);
    if (at < names->count)
        at = interpolate_index(names, at, (double)value - (double)names->entries[at]);
    for (size_t width = WINDOW; width < names->count; width *= 8) {
        size_t begin = at > width ? at - width : 0, end = names->count - at > width ? at + width : names->count;
        if ((begin == 0 || names->entries[begin - 1] < value) &&
            (end == names->count || names->entries[end] >= value)) {
            low = begin;
            high = end;
            break;
        }
    }
    return low + wt__lower_bound_u64(names->entries + low, high - low, value);
}

struct name_run wt__names_find(const struct name_index *names, uint64_t hash)
{
    if (!may_have_hash(names, hash))
        return (struct name_run){0};
    size_t first = find_first_entry(names, wt__name_entry(hash, NAME_OWN, 0));
    uint64_t end = wt__name_entry(hash, NAME_WRITTEN, NAME_NO_ROW);
    bool found = first < names->count && names->entries[first] < end;
    return (struct name_run){first, found ? find_first_entry(names, end) - first : 0};
}

bool wt__name_run_has(const struct name_index *names, struct name_run run, uint32_t row)
{
    size_t at = run.first, end = run.first + run.count;
    for (enum name_kind kind = NAME_OWN; kind <= NAME_WRITTEN && at < end; kind++) {
        uint64_t hash = names->entries[run.first] >> (NAME_KIND_BITS + NAME_ROW_BITS);
        uint64_t entry = wt__name_entry(hash, kind, row);
        at += wt__lower_bound_u64(names->entries + at, end - at, entry);
        if (at < end && names->entries[at] == entry)
            return true;
    }
    return false;
}

bool wt__names_has(const struct name_index *names, uint64_t hash, uint32_t row)
{
    return wt__name_run_has(names, wt__names_find(names, hash), row);
}

int wt__names_builder_add(struct names_builder *builder, uint64_t hash, enum name_kind kind, uint32_t row, size_t words)
{
    if (wt__grow((void **)&builder->entries, &builder->capacity, builder->count + 1, sizeof *builder->entries) < 0)
        return WT_ENOMEM;
    builder->entries[builder->count++] = wt__name_entry(hash, kind, row);
    builder->words = words > builder->words ? (uint32_t)words : builder->words;
    return 0;
}

/* The entries of `before` stay in order after renumbering, so the few new entries are merged into them. */
int wt__names_builder_follow(struct names_builder *builder, const struct names_builder *before, const uint32_t *moved)
{
    uint64_t *all = wt__alloc_array(before->count + builder->count, sizeof *all);
    size_t count = 0, next = 0;
    if (!all)
        return WT_ENOMEM;
    builder->count = wt__sort_unique_u64(builder->entries, builder->count);
    for (size_t i = 0; i < before->count; i++) {
        uint64_t entry = before->entries[i];
        uint32_t old = wt__name_row(entry), row = moved[old];
        if (row == NAME_NO_ROW)
            continue;
        entry += (uint64_t)row - old;
        while (next < builder->count && builder->entries[next] < entry)
            all[count++] = builder->entries[next++];
        all[count++] = entry;
    }
    while (next < builder->count)
        all[count++] = builder->entries[next++];
    free(builder->entries);
    builder->entries = all;
    builder->capacity = before->count + builder->count;
    builder->count = count;
    return 0;
}

/* True if the entries are in order, as after wt__names_builder_follow. */
static bool is_in_order(const struct names_builder *builder)
{
    size_t i = 1;
    while (i < builder->count && builder->entries[i - 1] < builder->entries[i])
        i++;
    return i >= builder->count;
}

struct name_index wt__names_builder_finish(struct names_builder *builder)
{
    if (!is_in_order(builder))
        builder->count = wt__sort_unique_u64(builder->entries, builder->count);
    return (struct name_index){.entries = builder->entries, .count = builder->count, .words = builder->words};
}

void wt__names_builder_dispose(struct names_builder *builder)
{
    free(builder->entries);
    *builder = (struct names_builder){0};
}

int wt__names_check(const struct name_index *names, uint32_t rows, wt_error *err)
{
    for (size_t i = 0; i < names->count; i++)
        if (wt__name_row(names->entries[i]) >= rows || (i > 0 && names->entries[i - 1] >= names->entries[i]))
            return wt__fail(err, WT_ESTORE, "damaged: names are out of order or refer to missing rows");
    return 0;
}
