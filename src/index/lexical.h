/* lexical.h: BM25 over tools. All impacts are computed when the index is built, so a search only adds them.
 *
 * An index is one block of bytes without pointers; struct lexical is a view of the block. The block contains:
 *   - the dictionary: all terms, sorted by bytes
 *   - the postings of each term: the rows that contain the term, in ascending order, each with a 16-bit impact
 *   - for each LEXICAL_BLOCK postings of a term: the last row and the maximum impact
 *
 * The impact of term t in row m is idf(t) * saturation(t, m), according to BM25F (lexical_build.c). It is stored as q =
 * round(impact / max_t * 65535), but at least 1. max_t is the maximum impact of the term. Scores are defined by the
 * stored impacts, in integers (see struct lexical_query). Sums of integers do not depend on the order of terms, so all
 * search methods give identical bits.
 *
 * Length normalisation limits the weight of a word in a stuffed text, but not the number of words that match. Each
 * row therefore has a damping factor. The factor is below 1 if the impacts of the row are far above the mean of all
 * rows, or if the row repeats far more words in several fields than the mean. A genuine tool with a large schema has
 * many words, but its name and provider repeat few of them. Searches do not apply the damping: their scores are those
 * of BM25. Rankings with further signals may multiply a score by it. */
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
    LEXICAL_BLOCK = 128,            /* postings of a block */
    LEXICAL_MAX_QUERY_TERMS = 32768 /* distinct terms in one request; a request of 64 KiB cannot have more */
};
#define LEXICAL_MAX_POSTINGS UINT32_MAX

/* Weights of the fields. The caller includes them in the hash of a snapshot's settings. */
struct lexical_field {
    float weight; /* weight of an occurrence in this field; 0 if the field is not indexed */
    float b;      /* length normalisation, 0 (none) to 1 (full) */
    bool names;   /* true if the field names the tool rather than describes it */
    bool schema;  /* true if the field comes from the schema of the tool; see schema_share */
};
struct lexical_settings {
    float k1; /* of BM25: how fast the weight of repeated terms saturates */
    /* Limits of statistics of a row, as multiples of the mean of all rows; 0 for no limit. A row above a limit is
     * damped by the factor (limit / the row's statistic) ^ damping_power. */
    float most_sum;       /* limit of the sum of the row's impacts; detects rows with many words */
    float most_length;    /* limit of the Euclidean length of the row's impacts; detects words repeated in all fields */
    float most_named;     /* limit of the number of words in two or more fields, one of which names the tool */
    float most_thrice;    /* limit of the number of words in three or more fields */
    float repeated_least; /* minimum of the limits from most_named and most_thrice, in words */
    float damping_power;
    /* Share of the impact that most_sum and most_length count for a word that only schema fields contain, from 0 to 1.
     * It is below 1 because many real tools have large schemas. */
    float schema_share;
    size_t field_count; /* at most LEXICAL_MAX_FIELDS */
    struct lexical_field fields[LEXICAL_MAX_FIELDS];
};

/* Returns the inverse document frequency, never negative: ln(1 + (M - df + .5) / (df + .5)). */
float wt__lexical_idf(size_t rows, size_t df);

/* --- Building: add the rows in order, each with the terms of its fields, then finish the block. --- */
struct lexical_builder;

int wt__lexical_builder_new(struct lexical_builder **out, const struct lexical_settings *settings, wt_error *err);
/* Terms of a field. */
struct lexical_text {
    const struct str *terms;
    size_t count;
};
/* Adds the next row. fields: [field_count] lists of terms from the analyser; copied. */
int wt__lexical_builder_add(struct lexical_builder *builder, const struct lexical_text *fields, wt_error *err);
/* Finishes the block. *out: [*len] bytes, to be freed with free(). Afterwards only wt__lexical_builder_free, _follow
 * and _copy accept the builder. */
int wt__lexical_builder_finish(struct lexical_builder *builder, void **out, size_t *len, wt_error *err);
void wt__lexical_builder_free(struct lexical_builder *builder);
/* Creates a builder that continues the finished builder `before`. Only the new builder may copy rows of `before`. */
int wt__lexical_builder_follow(struct lexical_builder **out, struct lexical_builder *before, wt_error *err);
/* Adds a row of `before`, the finished builder, as the next row. */
int wt__lexical_builder_copy(struct lexical_builder *builder, const struct lexical_builder *before, size_t row,
                             wt_error *err);

/* The words of all rows of a finished builder, from which the index of any of its rows can be built without reading
 * the tools again. Immutable and thread-safe. */
struct lexical_forward;

int wt__lexical_forward_new(struct lexical_forward **out, const struct lexical_builder *builder, wt_error *err);
void wt__lexical_forward_free(struct lexical_forward *forward); /* NULL is a no-op */
size_t wt__lexical_forward_bytes(const struct lexical_forward *forward);
/* Creates a builder with these rows, [count], in this order, to be finished next. Its block equals one built from the
 * texts of these rows alone. The forward index must outlive the builder. */
int wt__lexical_builder_from(struct lexical_builder **out, const struct lexical_forward *forward, const uint32_t *rows,
                             size_t count, wt_error *err);

/* --- Searching --- */
struct lexical_entry {
    uint32_t text, posting, block; /* start offsets; each range ends at the start offset of the next entry */
    float max;                     /* maximum impact of the term */
};

/* A view of an index; the caller owns the bytes. */
struct lexical {
    uint32_t rows, terms, postings, blocks, text_len, field_count;
    const struct lexical_entry *entries; /* [terms + 1] */
    const uint32_t *row;                 /* [postings] */
    const uint16_t *impact;              /* [postings] */
    const float *damping;                /* [rows] in (0, 1] if the bytes are valid */
    const uint32_t *block_last;          /* [blocks] last row of each block */
    const uint16_t *block_max;           /* [blocks] maximum impact of each block */
    const uint8_t *fields;               /* [postings] fields with the term: bits 1u << field */
    const uint8_t *field_terms;          /* [rows, field_count] distinct terms of each field, at most 255 */
    const char *text;                    /* [text_len] texts of all terms */
};

/* Opens a block of wt__lexical_builder_finish, aligned to 8 bytes. Fails with WT_ESTORE if its size or header is
 * invalid. Any bytes are safe, because everything else is checked at use. */
int wt__lexical_view(struct lexical *out, const void *bytes, size_t len, wt_error *err);

/* Checks everything that a search relies on: offsets, order of terms and postings, bounds. Fails with WT_ESTORE. */
int wt__lexical_check(const struct lexical *index, wt_error *err);

/* A term of a request. Terms with a weight that is not above 0 are ignored. The weights of repeated terms are added. */
struct lexical_term {
    struct str text;
    float weight;
};

struct lexical_cursor;
struct lexical_known;

/* A request prepared for one index. The struct is reused for further requests, so that warm searches allocate no
 * memory.
 *
 * Term t adds the integer (q * multiplier_t) >> 16 to the sum of a row, where q is the stored impact. A score is the
 * sum times `unit`. `unit` is a power of two, chosen so that sums stay below about 2^30. */
struct lexical_query {
    struct lexical_cursor *cursors; /* [len] */
    struct lexical_known *known;    /* [term_count] */
    size_t len, term_count, capacity;
    float unit;
    uint32_t *window;     /* sums of a range of rows */
    bool whole;           /* the range is all rows, and the last search added every posting */
    uint32_t *candidates; /* scratch: offsets in the range of rows that may be among the best */
    uint32_t *order;      /* [len] indexes of the cursors, by ascending bound */
};

/* Prepares the query for the terms of a request, [count]. Errors: WT_ETOOLONG, WT_ENOMEM. */
int wt__lexical_prepare(struct lexical_query *query, const struct lexical *index, const struct lexical_term *terms,
                        size_t count, wt_error *err);
void wt__lexical_query_dispose(struct lexical_query *query);

/* True if the row may be returned. allowed: one bit per row (row & 63 of word row / 64), or NULL for all. */
static inline bool wt__row_allowed(const uint64_t *allowed, uint32_t row)
{
    return !allowed || (allowed[row / 64] >> row % 64 & 1);
}

/* Writes the k best rows with a score above 0 to out, [k], best first. Returns their number. allowed: as in
 * wt__row_allowed. */
size_t wt__lexical_search(const struct lexical *index, struct lexical_query *query, size_t k, const uint64_t *allowed,
                          struct scored *out);
/* Gives the same result by adding every posting; reference for the search. sums: [rows] scratch. */
size_t wt__lexical_search_plain(const struct lexical *index, const struct lexical_query *query, size_t k,
                                const uint64_t *allowed, uint32_t *sums, struct scored *out);

/* Returns the damping of a row, in (0, 1]. Returns 1 if the row does not exist or its bytes are invalid. */
float wt__lexical_damping(const struct lexical *index, uint32_t row);

/* Computes scores[i] of rows[i]. Rows may be in any order. The score is 0 if the row has no term of the request. */
void wt__lexical_score_rows(const struct lexical *index, const struct lexical_query *query, const uint32_t *rows,
                            size_t count, float *scores);

/* Computes the contributions of `count` prepared terms, from number `first` on, to the row's score. shares: [count].
 * The first occurrence of a repeated term gets its whole contribution, the others 0. */
void wt__lexical_explain(const struct lexical_query *query, size_t first, size_t count, uint32_t row, float *shares);

/* Computes the fields of rows[i] that contain the prepared term of this number: masks, [count], of bits 1u << field; 0
 * for rows without the term. */
void wt__lexical_match_fields(const struct lexical_query *query, size_t term, const uint32_t *rows, size_t count,
                              uint8_t *masks);

/* Returns the number of distinct terms in a field of a row, at most 255. */
static inline unsigned wt__lexical_field_terms(const struct lexical *index, uint32_t row, size_t field)
{
    return row < index->rows && field < index->field_count
               ? index->field_terms[(size_t)row * index->field_count + field]
               : 0;
}

/* Returns the number of rows with the prepared term of this number. */
uint32_t wt__lexical_term_rows(const struct lexical_query *query, size_t term);

/* Returns the number of rows with the term; 0 if it is unknown. */
uint32_t wt__lexical_df(const struct lexical *index, struct str term);

/* Returns the number of the first term of the dictionary not less than `from`, or index->terms if all terms are
 * less. */
uint32_t wt__lexical_lower_bound(const struct lexical *index, struct str from);
/* Returns the term with this number, which must be below index->terms. Returns an empty string if its entry is
 * invalid. */
struct str wt__lexical_term(const struct lexical *index, uint32_t number);

#endif
