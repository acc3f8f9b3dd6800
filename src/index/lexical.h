/* lexical.h: BM25 over tools with every impact computed when the index is built, so that a search only adds.
 *
 * An index is one flat block of bytes without pointers (struct lexical is a view into it): the dictionary, sorted by
 * the terms' bytes, and for each term its postings, the rows that hold it in ascending order with 16-bit impacts,
 * in blocks of LEXICAL_BLOCK with the last row and the greatest impact of each.
 *
 * The impact of term t in row m is  idf(t) * saturation(t, m), by BM25F (lexical_build.c); what is stored is
 * q = round(impact / max_t * 65535), where max_t is the term's greatest impact: the error of one impact is at most
 * max_t / 131070, about 1e-4 of a point at the most. The score of a row is then defined by the stored impacts, in
 * whole numbers (see struct lexical_query), so that every way of searching gives the same bits: the sum does not
 * depend on the order of the terms.
 *
 * Length normalisation bounds what a word of a stuffed text is worth, but not by how many words the tool is found. Each
 * row therefore has a damping. It is below 1 for a row whose impacts together are far above those of the others, and
 * for a row that repeats far more of its words in several fields than others do. A real tool with a large schema has
 * many words, but its name and its provider repeat few of them. No search applies the damping: a score here is BM25's,
 * and a ranking by more than words may multiply by it. */
#ifndef WT_INDEX_LEXICAL_H
#define WT_INDEX_LEXICAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "base/topk.h"

enum {
    LEXICAL_MAX_FIELDS = 8,
    LEXICAL_BLOCK = 128,            /* postings under one bound */
    LEXICAL_MAX_QUERY_TERMS = 32768 /* different terms in one request; a request of 64 KiB cannot have more */
};
#define LEXICAL_MAX_POSTINGS UINT32_MAX

/* How a tool's fields make its score; part of what the caller hashes into a snapshot's settings key. */
struct lexical_field {
    float weight; /* of an occurrence in this field; 0: the field is not indexed */
    float b;      /* 0: its length does not matter, 1: fully */
    bool names;   /* true if the field names the tool rather than describes it */
};
struct lexical_settings {
    float k1;
    /* Beyond so many times the mean of all rows a row is damped by (that / its own) ^ power. 0: never. */
    float most_sum;    /* of a row's impacts: many words */
    float most_length; /* of the vector of its impacts: words that are said in every field */
    float most_named;  /* of its words that stand in two fields or more, one of which names the tool */
    float most_thrice; /* of its words that stand in three fields or more */
    /* Words below which the last two damp nothing. */
    float repeated_least;
    float damping_power;
    size_t field_count; /* at most LEXICAL_MAX_FIELDS */
    struct lexical_field fields[LEXICAL_MAX_FIELDS];
};

/* Never negative: ln(1 + (M - df + .5) / (df + .5)). */
float wt__lexical_idf(size_t rows, size_t df);

/* --- Building: rows are added in order, each as its fields' terms, then finished into one block. --- */
struct lexical_builder;

int wt__lexical_builder_new(struct lexical_builder **out, const struct lexical_settings *settings, wt_error *err);
/* The next row. fields: [field_count] lists of terms, as the analyser gave them; copied. */
struct lexical_text {
    const struct str *terms;
    size_t count;
};
int wt__lexical_builder_add(struct lexical_builder *builder, const struct lexical_text *fields, wt_error *err);
/* *out: the block, [*len] bytes, freed with free(). The builder is spent: only _free may follow, and the two below. */
int wt__lexical_builder_finish(struct lexical_builder *builder, void **out, size_t *len, wt_error *err);
void wt__lexical_builder_free(struct lexical_builder *builder);
/* A builder that goes on from a spent one, whose rows may then be copied into it, but into no other. */
int wt__lexical_builder_follow(struct lexical_builder **out, struct lexical_builder *before, wt_error *err);
/* The next row is that row of the one before. */
int wt__lexical_builder_copy(struct lexical_builder *builder, const struct lexical_builder *before, size_t row,
                             wt_error *err);

/* --- Searching --- */
struct lexical_entry {
    uint32_t text, posting, block; /* where they begin; they end where the next entry's begin */
    float max;                     /* the greatest impact */
};

/* A view; the bytes belong to the caller. */
struct lexical {
    uint32_t rows, terms, postings, blocks, text_len;
    const struct lexical_entry *entries; /* [terms + 1] */
    const uint32_t *row;                 /* [postings] */
    const uint16_t *impact;              /* [postings] */
    const float *damping;                /* [rows] in (0, 1], when the bytes are sound */
    const uint32_t *block_last;          /* [blocks] the last row of each */
    const uint16_t *block_max;           /* [blocks] */
    const char *text;                    /* [text_len] */
};

/* Reads a block that wt__lexical_builder_finish made; bytes on an 8-byte boundary. WT_ESTORE when it cannot be one.
 * Any bytes are safe: what is not checked here is checked where it is used. */
int wt__lexical_view(struct lexical *out, const void *bytes, size_t len, wt_error *err);

/* Checks all that a search relies on: places, the order of terms and postings, bounds. WT_ESTORE. */
int wt__lexical_check(const struct lexical *index, wt_error *err);

/* One term of a request. A weight that is not above 0 counts as absent; a term twice has the sum of its weights. */
struct lexical_term {
    struct str text;
    float weight;
};

struct lexical_cursor;
struct lexical_known;

/* A request made ready for one index; reused for the next one, so that a warm search allocates nothing.
 *
 * Term t adds (q * multiplier_t) >> 16 to a row, a whole number; a score is the sum times `unit`, a power of two so
 * chosen that the greatest possible sum is about 2^30. */
struct lexical_query {
    struct lexical_cursor *cursors; /* [len] */
    struct lexical_known *known;    /* [term_count] */
    size_t len, term_count, capacity;
    float unit;
    uint32_t *window; /* sums of a range of rows */
    bool whole;       /* that range is all rows, and the last search added up every posting */
    uint32_t *candidates;
    uint32_t *order;
};

int wt__lexical_prepare(struct lexical_query *query, const struct lexical *index, const struct lexical_term *terms,
                        size_t count, wt_error *err);
void wt__lexical_query_dispose(struct lexical_query *query);

/* allowed: a bit a row (row & 63 of word row / 64), or NULL for all. */
static inline bool wt__row_allowed(const uint64_t *allowed, uint32_t row)
{
    return !allowed || (allowed[row / 64] >> row % 64 & 1);
}

/* The k best rows with a score above 0, best first, into out [k]; returns how many. allowed: a bit a row (row & 63 of
 * word row / 64), or NULL for all. */
size_t wt__lexical_search(const struct lexical *index, struct lexical_query *query, size_t k, const uint64_t *allowed,
                          struct scored *out);
/* The same by adding up every posting: what the search must equal. sums: [rows] scratch. */
size_t wt__lexical_search_plain(const struct lexical *index, const struct lexical_query *query, size_t k,
                                const uint64_t *allowed, uint32_t *sums, struct scored *out);

/* In (0, 1], whatever the bytes are. */
float wt__lexical_damping(const struct lexical *index, uint32_t row);

/* scores[i] of rows[i], in any order; 0 for a row without a term of the request. */
void wt__lexical_score_rows(const struct lexical *index, const struct lexical_query *query, const uint32_t *rows,
                            size_t count, float *scores);

/* shares [count]: what the terms from number `first` on of the list that was prepared give to the row; a repeated
 * term's share is at its first place. */
void wt__lexical_explain(const struct lexical_query *query, size_t first, size_t count, uint32_t row, float *shares);

/* In how many rows the term of that number of the list that was prepared is. */
uint32_t wt__lexical_rows_of(const struct lexical_query *query, size_t term);

/* In how many rows the term is; 0 when unknown. */
uint32_t wt__lexical_df(const struct lexical *index, struct str term);

/* The number of the first term that is not below `from`, index->terms where all are; numbers are in the terms' order.
 */
uint32_t wt__lexical_from(const struct lexical *index, struct str from);
/* The term of that number, which is below index->terms; empty where its entry is not sound. */
struct str wt__lexical_term(const struct lexical *index, uint32_t number);

#endif
