/* lexical_search.c: finds the k best rows without adding every posting.
 *
 * Rows are processed in windows of WINDOW rows. The bound of a term in a window is the maximum of the block maxima of
 * the term that overlap the window. Terms are sorted by bound. The weakest terms, whose bounds together are a small
 * part of the score of the worst kept hit, are "optional": rows that have only optional terms are skipped. This is
 * MaxScore (Turtle and Flood 1995) with the bounds of block-max indexes (Ding and Suel 2011) in each window.
 *
 * The postings of the other terms are added to an array of sums for the window. Rows that optional terms could still
 * lift above the limit are candidates. Then each optional term is looked up for the candidates, or all its postings are
 * added if that is cheaper. After each term, the candidates that the remaining terms cannot lift above the limit are
 * dropped. A window whose bounds together do not exceed the limit is skipped. Before k rows are found, the limit is the
 * k-th greatest of the maxima of the window's groups.
 *
 * If the catalogue fits in one window and no term is optional, the sums are exact scores at the end of a search, and
 * wt__lexical_score_rows reads them.
 *
 * Invariants: rows are processed in ascending order, so a row that equals the worst kept hit never enters. Every
 * posting is added inside the window's array, so hostile bytes can only produce wrong scores. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "index/internal.h"
#include "index/lexical.h"

enum {
    WINDOW = 16384, /* rows; the sums fit in the second-level cache. A power of two, at least 64 */
    GROUP = 16,     /* number of groups in a chunk; the maxima of all its groups are found at once */
    CHUNK = 256,    /* number of rows compared at once; a multiple of 8 and of GROUP */
    /* buckets of sums whose floats have the same leading bits: 32 per power of two, and bucket 0 for 0 */
    BUCKETS = 1088,
    BUCKET_SHIFT = 18,
    FIRST_MAX = 512, /* maximum candidates that keep_first_candidates sorts */
    LINE = 16,       /* rows in a cache line */
    TESTED = 64,     /* rows whose sums are tested at once for one above the floor; divides CHUNK */
    PREFETCH = 256,  /* postings to prefetch */
    /* The bounds of the optional terms together are at most 1 / OPTIONAL_SHARE of the limit. With a greater share,
     * more rows remain candidates after the other terms, and dropping them takes longer than adding the postings. */
    OPTIONAL_SHARE = 4,
    LOOK_UP = 32,  /* cost of a lookup; adding one posting costs 1 */
    SUM_BITS = 30, /* bits of the maximum sum, so that signed comparisons are safe */
    LIMIT_MAX = (1 << SUM_BITS) + (1 << (SUM_BITS - 1)) /* maximum limit; the sum of hostile impacts may exceed it */
};

struct lexical_cursor {
    const uint32_t *row;
    const uint16_t *impact;
    const uint8_t *fields;
    const uint32_t *block_last;
    const uint16_t *block_max;
    uint32_t count, blocks, entry; /* numbers of postings and blocks; number of the term in the dictionary */
    uint32_t multiplier;
    float peak;         /* weight * the term's maximum impact */
    uint32_t at, block; /* first posting not yet passed, and its block */
    uint32_t bound;     /* maximum contribution to a row of the window */
    uint32_t ahead;     /* maximum number of postings in the window */
    bool given;         /* assigned to a term of the request */
};

/* Information about a term of the request. entry: number of the term in the dictionary, or lexical.terms if unknown. */
struct lexical_known {
    uint32_t entry, rows; /* rows: number of rows with the term; 0 if unknown */
    uint32_t cursor;      /* cursor of the term; NO_CURSOR if it is ignored or repeats an earlier term */
};
#define NO_CURSOR UINT32_MAX

int wt__lexical_view(struct lexical *out, const void *bytes, size_t len, wt_error *err)
{
    struct lexical_header header;
    *out = (struct lexical){0};
    if (len < sizeof header || (uintptr_t)bytes % _Alignof(uint64_t) != 0)
        return wt__fail(err, WT_ESTORE, "lexical index: too short");
    memcpy(&header, bytes, sizeof header);
    if (header.magic != LEXICAL_MAGIC || header.version != LEXICAL_VERSION)
        return wt__fail(err, WT_ESTORE, "lexical index: another version");
    struct lexical_layout layout = wt__lexical_layout(&header);
    if (len != layout.len || header.rows > WT_MAX_TOOLS || header.field_count > LEXICAL_MAX_FIELDS)
        return wt__fail(err, WT_ESTORE, "lexical index: %zu bytes where its header says %zu", len, layout.len);
    const unsigned char *base = bytes;
    *out = (struct lexical){
        .rows = header.rows,
        .terms = header.terms,
        .postings = header.postings,
        .blocks = header.blocks,
        .text_len = header.text_len,
        .entries = (const struct lexical_entry *)(base + layout.entries),
        .row = (const uint32_t *)(base + layout.row),
        .impact = (const uint16_t *)(base + layout.impact),
        .block_last = (const uint32_t *)(base + layout.block_last),
        .damping = (const float *)(base + layout.damping),
        .block_max = (const uint16_t *)(base + layout.block_max),
        .field_count = header.field_count,
        .fields = base + layout.fields,
        .field_terms = base + layout.field_terms,
        .text = (const char *)(base + layout.text),
    };
    return 0;
}

struct str wt__lexical_term(const struct lexical *index, uint32_t number)
{
    uint32_t begin = index->entries[number].text, end = index->entries[number + 1].text;
    bool sound = begin <= end && end <= index->text_len;
    return sound ? (struct str){index->text + begin, end - begin} : (struct str){0};
}

uint32_t wt__lexical_lower_bound(const struct lexical *index, struct str from)
{
    uint32_t low = 0, high = index->terms;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (wt__lexical_compare(wt__lexical_term(index, middle), from) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Opens a cursor over the term's postings. Returns false if the term is unknown or its entry is invalid. */
static bool open_cursor(struct lexical_cursor *cursor, const struct lexical *index, struct str term)
{
    uint32_t number = wt__lexical_lower_bound(index, term);
    if (number == index->terms || !wt__str_equal(wt__lexical_term(index, number), term))
        return false;
    const struct lexical_entry *entry = &index->entries[number], *next = entry + 1;
    if (entry->posting > next->posting || next->posting > index->postings || entry->block > next->block ||
        next->block > index->blocks)
        return false;
    *cursor = (struct lexical_cursor){
        .row = index->row + entry->posting,
        .impact = index->impact + entry->posting,
        .fields = index->fields + entry->posting,
        .block_last = index->block_last + entry->block,
        .block_max = index->block_max + entry->block,
        .count = next->posting - entry->posting,
        .blocks = next->block - entry->block,
        .entry = number,
        .peak = entry->max,
    };
    return cursor->count / LEXICAL_BLOCK + (cursor->count % LEXICAL_BLOCK > 0) == cursor->blocks;
}

uint32_t wt__lexical_df(const struct lexical *index, struct str term)
{
    struct lexical_cursor cursor;
    return open_cursor(&cursor, index, term) ? cursor.count : 0;
}

/* Reserves memory for `count` terms. The terms of the previous request are lost. Returns -1 if out of memory. */
static int reserve_query(struct lexical_query *query, size_t count)
{
    if (!query->window)
        query->window = wt__alloc_aligned(WINDOW + CHUNK, sizeof *query->window);
    if (!query->candidates)
        query->candidates = wt__alloc_array(WINDOW + 1, sizeof *query->candidates);
    if (!query->window || !query->candidates)
        return -1;
    if (count <= query->capacity)
        return 0;
    free(query->cursors);
    free(query->known);
    free(query->order);
    query->cursors = wt__alloc_array(count, sizeof *query->cursors);
    query->known = wt__alloc_array(count, sizeof *query->known);
    query->order = wt__alloc_array(count, sizeof *query->order);
    query->capacity = query->cursors && query->known && query->order ? count : 0;
    return query->capacity == count ? 0 : -1;
}

static int compare_cursors(const void *a, const void *b)
{
    uint32_t first = ((const struct lexical_cursor *)a)->entry, second = ((const struct lexical_cursor *)b)->entry;
    return (first > second) - (first < second);
}

/* Chooses the unit of the sums and converts the weights to integer multipliers. */
static void set_multipliers(struct lexical_query *query)
{
    double total = 0;
    for (size_t i = 0; i < query->len; i++)
        total += query->cursors[i].peak;
    int exponent = 0;
    frexp(total, &exponent);
    double unit = ldexp(1.0, exponent - SUM_BITS);
    query->unit = (float)unit;
    for (size_t i = 0; i < query->len; i++) {
        struct lexical_cursor *cursor = &query->cursors[i];
        cursor->multiplier = (uint32_t)(cursor->peak / unit * 65536.0 / LEXICAL_FULL);
    }
}

/* Assigns each cursor to the first term of the request with its entry. */
static void number_cursors(struct lexical_query *query)
{
    for (size_t i = 0; i < query->term_count; i++) {
        struct lexical_known *known = &query->known[i];
        struct lexical_cursor key = {.entry = known->entry};
        struct lexical_cursor *cursor = bsearch(&key, query->cursors, query->len, sizeof key, compare_cursors);
        known->cursor = cursor && !cursor->given ? (uint32_t)(cursor - query->cursors) : NO_CURSOR;
        if (cursor)
            cursor->given = true;
    }
}

/* Sorts the cursors in dictionary order and merges equal terms. Most requests are already sorted. */
static void merge_cursors(struct lexical_query *query)
{
    struct lexical_cursor *cursors = query->cursors;
    size_t kept = 0;
    bool merged = true;
    for (size_t i = 1; i < query->len; i++)
        merged &= cursors[i - 1].entry < cursors[i].entry;
    if (merged)
        return;
    qsort(cursors, query->len, sizeof *cursors, compare_cursors);
    for (size_t i = 1; i < query->len; i++) {
        if (cursors[i].entry == cursors[kept].entry)
            cursors[kept].peak += cursors[i].peak;
        else
            cursors[++kept] = cursors[i];
    }
    query->len = kept + 1;
    number_cursors(query);
}

int wt__lexical_prepare(struct lexical_query *query, const struct lexical *index, const struct lexical_term *terms,
                        size_t count, wt_error *err)
{
    query->len = query->term_count = 0;
    query->whole = false;
    if (count > LEXICAL_MAX_QUERY_TERMS)
        return wt__fail(err, WT_ETOOLONG, "the request has %zu terms; at most %d are allowed", count,
                        LEXICAL_MAX_QUERY_TERMS);
    if (reserve_query(query, count) < 0)
        return wt__fail_nomem(err);
    query->term_count = count;
    for (size_t i = 0; i < count; i++) {
        struct lexical_cursor *cursor = &query->cursors[query->len];
        bool known = open_cursor(cursor, index, terms[i].text);
        query->known[i] = known ? (struct lexical_known){cursor->entry, cursor->count, NO_CURSOR}
                                : (struct lexical_known){index->terms, 0, NO_CURSOR};
        if (!known || !(terms[i].weight > 0))
            continue;
        cursor->peak *= terms[i].weight;
        if (cursor->peak > 1e-20F && cursor->peak < 1e20F)
            query->known[i].cursor = (uint32_t)query->len++;
    }
    if (query->len == 0)
        return 0;
    merge_cursors(query);
    set_multipliers(query);
    return 0;
}

void wt__lexical_query_dispose(struct lexical_query *query)
{
    free(query->cursors);
    free(query->known);
    free(query->order);
    free(query->window);
    free(query->candidates);
    *query = (struct lexical_query){0};
}

static uint32_t scale_impact(const struct lexical_cursor *cursor, uint16_t impact)
{
    return (uint32_t)((uint64_t)cursor->multiplier * impact >> 16);
}

/* Returns the index of the first of `count` ascending rows not less than `row`, or count. The loop is branch-free,
 * because the comparisons are unpredictable. */
static uint32_t lower_bound_row(const uint32_t *rows, uint32_t count, uint32_t row)
{
    const uint32_t *from = rows;
    for (uint32_t half; count > 1; count -= half) {
        half = count / 2;
        from += (0 - (uint32_t)(from[half - 1] < row)) & half;
    }
    return (uint32_t)(from - rows) + (count == 1 && *from < row);
}

/* Moves the cursor to its first posting with a row not less than `row`. */
static void seek_row(struct lexical_cursor *cursor, uint32_t row)
{
    if (cursor->at < cursor->count && cursor->row[cursor->at] >= row)
        return;
    uint32_t block = cursor->block;
    while (block < cursor->blocks && cursor->block_last[block] < row)
        block++;
    cursor->block = block;
    if (block == cursor->blocks) {
        cursor->at = cursor->count;
        return;
    }
    uint32_t begin = block * LEXICAL_BLOCK, end = begin + LEXICAL_BLOCK;
    begin = cursor->at > begin ? cursor->at : begin;
    end = cursor->count < end ? cursor->count : end;
    if (begin < end)
        cursor->at = begin + lower_bound_row(cursor->row + begin, end - begin, row);
}

struct lexical_search_state {
    const struct lexical *index;
    struct lexical_query *query;
    const uint64_t *allowed;
    struct topk top;
    uint32_t limit;      /* a row enters the results only if its sum is above this limit */
    uint32_t begin, end; /* current window */
};

/* Moves every cursor to the window and computes its bound there. Returns the smallest row at a cursor, or UINT32_MAX if
 * all postings were passed. */
static uint32_t compute_window_bounds(struct lexical_search_state *search)
{
    uint32_t next = UINT32_MAX;
    for (size_t i = 0; i < search->query->len; i++) {
        struct lexical_cursor *cursor = &search->query->cursors[i];
        seek_row(cursor, search->begin);
        cursor->bound = cursor->ahead = 0;
        if (cursor->at == cursor->count)
            continue;
        uint32_t row = cursor->row[cursor->at];
        next = row < next ? row : next;
        if (row >= search->end)
            continue;
        uint16_t max = 0;
        uint32_t block = cursor->at / LEXICAL_BLOCK;
        for (; block < cursor->blocks; block++) {
            max = cursor->block_max[block] > max ? cursor->block_max[block] : max;
            if (cursor->block_last[block] >= search->end - 1)
                break;
        }
        uint32_t last = (block + 1) * LEXICAL_BLOCK;
        cursor->ahead = (last < cursor->count ? last : cursor->count) - cursor->at;
        cursor->bound = scale_impact(cursor, max);
    }
    return next;
}

/* Sorts the cursors by ascending bound. Insertion sort, because the order of the previous window is nearly correct. */
static void sort_by_bound(struct lexical_query *query)
{
    const struct lexical_cursor *cursors = query->cursors;
    for (size_t i = 1; i < query->len; i++) {
        uint32_t moved = query->order[i];
        size_t at = i;
        for (; at > 0 && cursors[query->order[at - 1]].bound > cursors[moved].bound; at--)
            query->order[at] = query->order[at - 1];
        query->order[at] = moved;
    }
}

/* Adds the term's postings before `end`, the end of the window, and moves the cursor past them. A window has too few
 * postings per term for hardware prefetching, so postings are prefetched here. The mask gives the offset of a row in
 * the window, because windows start at multiples of WINDOW. */
static void add_postings(struct lexical_cursor *cursor, uint32_t end, uint32_t *restrict sums)
{
    const uint32_t *restrict row = cursor->row;
    const uint16_t *restrict impact = cursor->impact;
    uint64_t multiplier = cursor->multiplier;
    uint32_t at = cursor->at, count = cursor->count;
    for (; count - at >= LINE && row[at + LINE - 1] < end; at += LINE) {
        uint32_t ahead = count - at > PREFETCH ? at + PREFETCH : count - 1;
        __builtin_prefetch(row + ahead);
        __builtin_prefetch(impact + ahead);
        for (uint32_t i = at; i < at + LINE; i++)
            sums[row[i] & (WINDOW - 1)] += (uint32_t)(multiplier * impact[i] >> 16);
    }
    for (; at < count && row[at] < end; at++)
        sums[row[at] & (WINDOW - 1)] += (uint32_t)(multiplier * impact[at] >> 16);
    cursor->at = at;
    cursor->block = at / LEXICAL_BLOCK;
}

/* Writes the offsets of sums above `floor` to candidates. Returns their number. */
static size_t collect_above_floor(const struct lexical_search_state *search, uint32_t floor)
{
    const int32_t *restrict sums = (const int32_t *)search->query->window;
    uint32_t *restrict candidates = search->query->candidates;
    uint32_t width = search->end - search->begin;
    int32_t least = (int32_t)floor;
    size_t len = 0, kept = 0;
    for (uint32_t first = 0; first < width; first += TESTED) {
        const int32_t *here = sums + first; /* sums[first + i] would not be vectorised, because first + i could wrap */
        int32_t any = 0;
        for (uint32_t i = 0; i < TESTED; i++)
            any |= here[i] > least;
        for (uint32_t i = 0; any && i < TESTED; i++) {
            candidates[len] = first + i; /* branch-free, because the comparison is unpredictable */
            len += here[i] > least;
        }
    }
    while (len > 0 && candidates[len - 1] >= width) /* drop offsets beyond the last row */
        len--;
    if (!search->allowed)
        return len;
    for (size_t c = 0; c < len; c++)
        if (wt__row_allowed(search->allowed, search->begin + candidates[c]))
            candidates[kept++] = candidates[c];
    return kept;
}

/* Returns the bucket of a sum: the leading bits of the sum as a float. Returns 0 for a sum of 0. */
static uint32_t find_sum_bucket(int32_t sum)
{
    static const uint32_t one = (127u << 23 >> BUCKET_SHIFT) - 1;
    float value = (float)sum;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return sum > 0 ? (bits >> BUCKET_SHIFT) - one : 0;
}

/* Returns a sum slightly below all sums of the bucket. The margin covers the rounding of sums to scores. */
static uint32_t find_bucket_floor(uint32_t bucket)
{
    uint32_t bits = ((127u << 23 >> BUCKET_SHIFT) - 1 + bucket) << BUCKET_SHIFT;
    float least;
    memcpy(&least, &bits, sizeof least);
    double below = (double)least - (double)least / (1 << 20);
    return below < LIMIT_MAX ? (uint32_t)below : LIMIT_MAX;
}

/* Finds the maximum sum of each group in the chunk at offset `first`, over allowed rows. A group is every GROUP-th row
 * of the chunk, so that the groups are processed in parallel. */
static void find_greatest_sums(const struct lexical_search_state *search, uint32_t first, int32_t most[GROUP])
{
    const int32_t *restrict sums = (const int32_t *)search->query->window + first;
    memset(most, 0, GROUP * sizeof *most);
    if (!search->allowed) {
        for (uint32_t row = 0; row < CHUNK; row += GROUP)
            for (uint32_t i = 0; i < GROUP; i++)
                most[i] = sums[row + i] > most[i] ? sums[row + i] : most[i];
        return;
    }
    uint32_t len = search->end - search->begin - first < CHUNK ? search->end - search->begin - first : CHUNK;
    for (uint32_t row = 0; row < len; row++)
        if (sums[row] > most[row % GROUP] && wt__row_allowed(search->allowed, search->begin + first + row))
            most[row % GROUP] = sums[row];
}

/* Raises the limit before k rows are kept. The maxima of the groups belong to different rows. So the k-th greatest
 * maximum is a lower bound of the k-th best sum. */
static void raise_limit(struct lexical_search_state *search)
{
    uint16_t counts[BUCKETS] = {0};
    uint32_t width = search->end - search->begin, bucket = BUCKETS, better = 0;
    for (uint32_t first = 0; first < width; first += CHUNK) {
        int32_t most[GROUP];
        find_greatest_sums(search, first, most);
        for (uint32_t i = 0; i < GROUP; i++)
            counts[find_sum_bucket(most[i])]++;
    }
    while (--bucket > 0 && better + counts[bucket] < search->top.k)
        better += counts[bucket];
    uint32_t limit = bucket > 0 ? find_bucket_floor(bucket) : 0;
    search->limit = limit > search->limit ? limit : search->limit;
}

/* Keeps the candidates that the terms still to come can lift above the limit. bound: sum of the bounds of these terms.
 * Returns their number. */
static size_t drop_candidates(const struct lexical_search_state *search, size_t len, uint32_t bound)
{
    const uint32_t *restrict sums = search->query->window;
    uint32_t *restrict candidates = search->query->candidates;
    size_t kept = 0;
    for (size_t c = 0; c < len; c++) {
        uint32_t offset = candidates[c];
        candidates[kept] = offset; /* branch-free, because the comparison is unpredictable */
        kept += sums[offset] + bound > search->limit;
    }
    return kept;
}

/* Looks up the candidates in the postings of a term, and adds its impacts to their sums. */
static void look_up_candidates(const struct lexical_search_state *search, struct lexical_cursor *cursor, size_t len)
{
    for (size_t c = 0; c < len; c++) {
        uint32_t offset = search->query->candidates[c], row = search->begin + offset;
        seek_row(cursor, row);
        if (cursor->at < cursor->count && cursor->row[cursor->at] == row)
            search->query->window[offset] += scale_impact(cursor, cursor->impact[cursor->at]);
    }
}

/* Adds the `optional` weakest terms to the sums of the candidates, strongest term first. After each term, drops the
 * candidates that cannot exceed the limit. bound: sum of the bounds of these terms. Returns the number of candidates
 * left. */
static size_t add_optional_terms(struct lexical_search_state *search, size_t len, size_t optional, uint32_t bound)
{
    struct lexical_query *query = search->query;
    for (size_t i = optional; i-- > 0 && len > 0;) {
        struct lexical_cursor *cursor = &query->cursors[query->order[i]];
        if (cursor->bound == 0)
            break;
        bound -= cursor->bound;
        if (len * LOOK_UP < cursor->ahead)
            look_up_candidates(search, cursor, len);
        else
            add_postings(cursor, search->end, query->window);
        len = drop_candidates(search, len, bound);
    }
    return len;
}

/* Sets the limit to the worst kept hit once k hits are kept. */
static void update_limit(struct lexical_search_state *search)
{
    if (search->top.len < search->top.k)
        return;
    float limit = wt__topk_threshold(&search->top) / search->query->unit;
    search->limit = limit < LIMIT_MAX ? (uint32_t)limit : LIMIT_MAX;
}

static struct scored make_scored(const struct lexical_search_state *search, uint32_t offset)
{
    return (struct scored){(float)search->query->window[offset] * search->query->unit, search->begin + offset};
}

/* Fills the empty top k from the first candidates. Sorts them and stores the k best, worst first, which is a heap. */
static void keep_first_candidates(struct lexical_search_state *search, size_t len)
{
    struct scored items[FIRST_MAX];
    struct topk *top = &search->top;
    for (size_t c = 0; c < len; c++)
        items[c] = make_scored(search, search->query->candidates[c]);
    wt__scored_sort(items, len);
    for (top->len = len < top->k ? len : top->k, len = 0; len < top->len; len++)
        top->items[top->len - 1 - len] = items[len];
    update_limit(search);
}

static void keep_candidates(struct lexical_search_state *search, size_t len)
{
    if (search->top.len == 0 && len <= FIRST_MAX) {
        keep_first_candidates(search, len);
        return;
    }
    for (size_t c = 0; c < len; c++) {
        uint32_t offset = search->query->candidates[c];
        if (search->query->window[offset] <= search->limit)
            continue;
        wt__topk_push(&search->top, make_scored(search, offset));
        update_limit(search);
    }
}

/* Returns the number of optional terms, or all if no row of the window can exceed the limit. *bound: maximum
 * contribution of these terms to a row. */
static size_t count_optional(const struct lexical_search_state *search, uint32_t *bound)
{
    const struct lexical_query *query = search->query;
    uint64_t all = 0;
    size_t optional = 0;
    *bound = 0;
    for (size_t i = 0; i < query->len; i++)
        all += query->cursors[i].bound;
    if (all <= search->limit)
        return query->len;
    for (; optional < query->len; optional++) {
        uint32_t more = query->cursors[query->order[optional]].bound;
        if (*bound + more > search->limit / OPTIONAL_SHARE)
            break;
        *bound += more;
    }
    return optional;
}

/* Finds the hits of the current window. */
static void search_window(struct lexical_search_state *search)
{
    struct lexical_query *query = search->query;
    uint32_t bound;
    sort_by_bound(query);
    size_t optional = count_optional(search, &bound);
    if (optional == query->len)
        return;
    memset(query->window, 0, (search->end - search->begin + CHUNK) * sizeof *query->window);
    for (size_t i = optional; i < query->len; i++)
        add_postings(&query->cursors[query->order[i]], search->end, query->window);
    query->whole = optional == 0 && search->begin == 0 && search->end == search->index->rows;
    if (search->top.len < search->top.k)
        raise_limit(search);
    size_t len = collect_above_floor(search, search->limit - bound);
    len = add_optional_terms(search, len, optional, bound);
    keep_candidates(search, len);
}

static bool has_allowed_rows(const struct lexical_search_state *search)
{
    uint64_t any = 0;
    if (!search->allowed)
        return true;
    for (uint32_t word = search->begin / 64; word <= (search->end - 1) / 64; word++)
        any |= search->allowed[word];
    return any != 0;
}

size_t wt__lexical_search(const struct lexical *index, struct lexical_query *query, size_t k, const uint64_t *allowed,
                          struct scored *out)
{
    struct lexical_search_state search = {index, query, allowed, .top = {out, 0, k}};
    if (k == 0 || query->len == 0)
        return 0;
    for (size_t i = 0; i < query->len; i++) {
        query->cursors[i].at = query->cursors[i].block = 0;
        query->order[i] = (uint32_t)i;
    }
    while (search.begin < index->rows) {
        uint32_t left = index->rows - search.begin;
        search.end = search.begin + (left < WINDOW ? left : WINDOW);
        uint32_t next = compute_window_bounds(&search);
        if (next >= index->rows)
            break;
        if (next >= search.end) {
            search.begin = next / WINDOW * WINDOW;
            continue;
        }
        if (has_allowed_rows(&search))
            search_window(&search);
        search.begin = search.end;
    }
    wt__topk_sort(&search.top);
    return search.top.len;
}

size_t wt__lexical_search_plain(const struct lexical *index, const struct lexical_query *query, size_t k,
                                const uint64_t *allowed, uint32_t *sums, struct scored *out)
{
    struct topk top = {out, 0, k};
    for (uint32_t row = 0; row < index->rows; row++)
        sums[row] = 0;
    for (size_t i = 0; i < query->len; i++) {
        const struct lexical_cursor *cursor = &query->cursors[i];
        for (uint32_t at = 0; at < cursor->count; at++)
            if (cursor->row[at] < index->rows)
                sums[cursor->row[at]] += scale_impact(cursor, cursor->impact[at]);
    }
    for (uint32_t row = 0; row < index->rows && k > 0; row++)
        if (sums[row] > 0 && wt__row_allowed(allowed, row))
            wt__topk_push(&top, (struct scored){(float)sums[row] * query->unit, row});
    wt__topk_sort(&top);
    return top.len;
}

/* Returns the index of a row's posting, or the number of postings if the row does not have the term. */
static uint32_t find_posting(const struct lexical_cursor *cursor, uint32_t row)
{
    uint32_t block = lower_bound_row(cursor->block_last, cursor->blocks, row);
    if (block == cursor->blocks)
        return cursor->count;
    uint32_t begin = block * LEXICAL_BLOCK, left = cursor->count - begin;
    uint32_t at = begin + lower_bound_row(cursor->row + begin, left < LEXICAL_BLOCK ? left : LEXICAL_BLOCK, row);
    return at < cursor->count && cursor->row[at] == row ? at : cursor->count;
}

/* Returns the contribution of a term to any row. */
static uint32_t compute_share(const struct lexical_cursor *cursor, uint32_t row)
{
    uint32_t at = find_posting(cursor, row);
    return at < cursor->count ? scale_impact(cursor, cursor->impact[at]) : 0;
}

void wt__lexical_match_fields(const struct lexical_query *query, size_t term, const uint32_t *rows, size_t count,
                              uint8_t *masks)
{
    uint32_t number = query->known[term].cursor;
    for (size_t i = 0; i < count; i++) {
        masks[i] = 0;
        if (number == NO_CURSOR)
            continue;
        const struct lexical_cursor *cursor = &query->cursors[number];
        uint32_t at = find_posting(cursor, rows[i]);
        masks[i] = at < cursor->count ? cursor->fields[at] : 0;
    }
}

float wt__lexical_damping(const struct lexical *index, uint32_t row)
{
    float damping = row < index->rows ? index->damping[row] : 1;
    return damping > 0 && damping <= 1 ? damping : 1;
}

void wt__lexical_score_rows(const struct lexical *index, const struct lexical_query *query, const uint32_t *rows,
                            size_t count, float *scores)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t sum = 0;
        if (rows[i] < index->rows && query->whole)
            sum = query->window[rows[i]];
        for (size_t c = 0; rows[i] < index->rows && !query->whole && c < query->len; c++)
            sum += compute_share(&query->cursors[c], rows[i]);
        scores[i] = (float)sum * query->unit;
    }
}

uint32_t wt__lexical_term_rows(const struct lexical_query *query, size_t term)
{
    return query->known[term].rows;
}

void wt__lexical_explain(const struct lexical_query *query, size_t first, size_t count, uint32_t row, float *shares)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t cursor = query->known[first + i].cursor;
        shares[i] = cursor == NO_CURSOR ? 0 : (float)compute_share(&query->cursors[cursor], row) * query->unit;
    }
}
