#include "index/names.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/sort.h"

enum { WINDOW = 64 };

/* The first entry that is not below the value. Hashes are spread evenly, so it lies near the place that the value has
 * among all numbers: a window there that grows until it holds it keeps the search within a few pages. */
static size_t lower_bound(const struct names *names, uint64_t value)
{
    size_t low = 0, high = names->count, near = (size_t)((double)high * ((double)value / 0x1p64));
    near = near < high ? near : high;
    for (size_t width = WINDOW; width < names->count; width *= 8) {
        size_t begin = near > width ? near - width : 0, end = names->count - near > width ? near + width : names->count;
        if ((begin == 0 || names->entries[begin - 1] < value) &&
            (end == names->count || names->entries[end] >= value)) {
            low = begin;
            high = end;
            break;
        }
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (names->entries[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct name_run wt__names_find(const struct names *names, uint64_t hash)
{
    size_t first = lower_bound(names, wt__name_entry(hash, NAME_OWN, 0));
    return (struct name_run){first, lower_bound(names, wt__name_entry(hash, NAME_WRITTEN, NAME_NO_ROW)) - first};
}

bool wt__names_has(const struct names *names, uint64_t hash, uint32_t row)
{
    for (enum name_kind kind = NAME_OWN; kind <= NAME_WRITTEN; kind++) {
        uint64_t entry = wt__name_entry(hash, kind, row);
        size_t at = lower_bound(names, entry);
        if (at < names->count && names->entries[at] == entry)
            return true;
    }
    return false;
}

int wt__names_builder_add(struct names_builder *builder, uint64_t hash, enum name_kind kind, uint32_t row, size_t words)
{
    if (wt__grow((void **)&builder->entries, &builder->capacity, builder->count + 1, sizeof *builder->entries) < 0)
        return WT_ENOMEM;
    builder->entries[builder->count++] = wt__name_entry(hash, kind, row);
    builder->words = words > builder->words ? (uint32_t)words : builder->words;
    return 0;
}

struct names wt__names_builder_finish(struct names_builder *builder)
{
    builder->count = wt__sort_unique_u64(builder->entries, builder->count);
    return (struct names){builder->entries, builder->count, builder->words};
}

void wt__names_builder_dispose(struct names_builder *builder)
{
    free(builder->entries);
    *builder = (struct names_builder){0};
}

int wt__names_check(const struct names *names, uint32_t rows, wt_error *err)
{
    for (size_t i = 0; i < names->count; i++)
        if (wt__name_row(names->entries[i]) >= rows || (i > 0 && names->entries[i - 1] >= names->entries[i]))
            return wt__fail(err, WT_ESTORE, "damaged: names are not in order, or of no such rows");
    return 0;
}
