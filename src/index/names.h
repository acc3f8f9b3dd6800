/* names.h: finds the rows of a name by the hash of the name.
 *
 * The index is a sorted list of 64-bit entries, one per name and row. From the highest bit down, an entry is:
 *
 *   hash (NAME_HASH_BITS) | kind (3) | row (21)
 *
 * The entries of a name are consecutive, ordered by kind and row. Two names may have the same hash: in a catalogue of a
 * million tools with four names each, this happens once in 270,000 lookups. */
#ifndef WT_INDEX_NAMES_H
#define WT_INDEX_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum name_kind {
    NAME_OWN,    /* the tool's name */
    NAME_TITLE,  /* title, or description of one sentence; at least two words */
    NAME_ID,     /* name with provider, exported name, or identifier in its source */
    NAME_PATH,   /* method and path of an HTTP operation */
    NAME_WRITTEN /* exact spelling of the name or of the identifier: distinguishes tools with similar names */
};

enum { NAME_ROW_BITS = 21, NAME_KIND_BITS = 3, NAME_NO_ROW = (1 << NAME_ROW_BITS) - 1 };

/* A zeroed struct has no names. */
struct name_index {
    const uint64_t *entries; /* [count] ascending */
    size_t count;
    uint32_t words; /* number of words of the longest name */

    /* Filter of existing hashes, or NULL for no filter: a bitmap in which each hash sets two bits, one chosen by its
     * first bits and one by its last bits. A request looks up hundreds of names, of which few exist in the
     * catalogue. */
    uint64_t *marks;
    unsigned mark_bits; /* the bitmap has 2 ^ mark_bits bits */
};

/* Builds the marks, to be freed with free(). Returns 0 or WT_ENOMEM. */
int wt__names_mark(struct name_index *names);

/* Consecutive entries of the list. */
struct name_run {
    size_t first, count;
};

static inline uint64_t wt__name_entry(uint64_t hash, enum name_kind kind, uint32_t row)
{
    return hash << (NAME_KIND_BITS + NAME_ROW_BITS) | (uint64_t)kind << NAME_ROW_BITS | row;
}

static inline uint32_t wt__name_row(uint64_t entry)
{
    return (uint32_t)(entry & NAME_NO_ROW);
}

static inline enum name_kind wt__name_kind(uint64_t entry)
{
    return (enum name_kind)(entry >> NAME_ROW_BITS & ((1u << NAME_KIND_BITS) - 1));
}

/* Returns the entries with this hash; count is 0 if the hash does not exist. */
struct name_run wt__names_find(const struct name_index *names, uint64_t hash);
/* True if the run has an entry with this row. */
bool wt__name_run_has(const struct name_index *names, struct name_run run, uint32_t row);
/* True if an entry has this hash and this row. */
bool wt__names_has(const struct name_index *names, uint64_t hash, uint32_t row);

/* An index under construction. A zeroed struct is empty. */
struct names_builder {
    uint64_t *entries; /* [count] */
    size_t count, capacity;
    uint32_t words;
};
/* Adds an entry. words: number of words of the name. Returns 0 or WT_ENOMEM. */
int wt__names_builder_add(struct names_builder *builder, uint64_t hash, enum name_kind kind, uint32_t row,
                          size_t words);
/* Adds the sorted entries of the finished builder `before`, with new row numbers. moved: new row of each row of
 * `before`, in the same order; NAME_NO_ROW if the row was removed. Returns 0 or WT_ENOMEM. */
int wt__names_builder_follow(struct names_builder *builder, const struct names_builder *before, const uint32_t *moved);
/* Sorts the entries, removes duplicates and returns a view of the builder, which must not change afterwards. */
struct name_index wt__names_builder_finish(struct names_builder *builder);
void wt__names_builder_dispose(struct names_builder *builder);

/* Checks that entries are in order and their rows below `rows`. Fails with WT_ESTORE. */
int wt__names_check(const struct name_index *names, uint32_t rows, wt_error *err);

#endif
