/* names.h: which rows a name has, by its hash: a sorted list of numbers, one for each name and row.
 *
 *   entry   hash (NAME_HASH_BITS) | kind (3) | row (21), from the greatest bit down
 *
 * A name has one run of entries, in order of kind and row. Two names may share a hash, which a catalogue of a million
 * tools with four names each meets once in 270,000 look-ups. */
#ifndef WT_INDEX_NAMES_H
#define WT_INDEX_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum name_kind {
    NAME_OWN,    /* the tool's */
    NAME_TITLE,  /* or summary, of two words or more */
    NAME_ID,     /* with its provider, as it is exported, or as its source has it */
    NAME_PATH,   /* method and path of an HTTP operation */
    NAME_WRITTEN /* the tool's, byte by byte: which of those of one name is written like that */
};

enum { NAME_ROW_BITS = 21, NAME_KIND_BITS = 3, NAME_NO_ROW = (1 << NAME_ROW_BITS) - 1 };

/* All zero: no names. */
struct names {
    const uint64_t *entries; /* [count] ascending */
    size_t count;
    uint32_t words; /* of the name that has most */

    /* Whether a hash that begins with these bits is there; NULL: not told. A request asks for some hundred names, and
     * the catalogue has hardly one of them. */
    uint64_t *marks;
    unsigned mark_bits;
};

/* Gives the names their marks, freed with free(). 0, or WT_ENOMEM. */
int wt__names_mark(struct names *names);

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

/* The entries of the name with that hash. */
struct name_run wt__names_find(const struct names *names, uint64_t hash);
/* Whether one of these is of this row. */
bool wt__name_run_has(const struct names *names, struct name_run run, uint32_t row);
bool wt__names_has(const struct names *names, uint64_t hash, uint32_t row);

/* Names in the making. All zero: none yet. */
struct names_builder {
    uint64_t *entries; /* [count] */
    size_t count, capacity;
    uint32_t words;
};
/* 0, or WT_ENOMEM. */
int wt__names_builder_add(struct names_builder *builder, uint64_t hash, enum name_kind kind, uint32_t row,
                          size_t words);
/* Adds those of another, which are in order, under the rows that their rows have become: moved [...]; NAME_NO_ROW: that
 * one is no more. Both orders of rows are the same. 0, or WT_ENOMEM. */
int wt__names_builder_follow(struct names_builder *builder, const struct names_builder *before, const uint32_t *moved);
/* Puts them in order. A view of the builder, which may not grow any more. */
struct names wt__names_builder_finish(struct names_builder *builder);
void wt__names_builder_dispose(struct names_builder *builder);

/* That all of them are in order, and of rows below `rows`. WT_ESTORE. */
int wt__names_check(const struct names *names, uint32_t rows, wt_error *err);

#endif
