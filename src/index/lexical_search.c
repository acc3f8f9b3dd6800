/* lexical_search.c: the k best rows without adding up every posting.
 *
 * Rows are taken in windows of WINDOW. In each, a term's bound is the greatest of its block maxima that reach into
 * the window; terms are sorted by it. As many of the weakest terms as cannot, all together, lift a row above the worst
 * hit kept so far are "optional": a row that has only those is never looked at (MaxScore, Turtle and Flood 1995, with
 * the bounds of block-max indexes, Ding and Suel 2011, window by window). The others are added up into an array of
 * the window, and only rows that the optional ones could still lift are looked up in them. A window whose terms are
 * all optional is skipped whole. Before the first k rows are there, the limit comes of the window itself: the k-th
 * greatest of its groups' greatest sums.
 *
 * A catalogue of one window has all its sums there when the search ends, and exact scores are read from it.
 *
 * Invariants: rows are met in ascending order, so a row that only equals the worst hit kept never enters; whatever a
 * posting says, it is added inside the window's array, so hostile bytes give wrong scores at worst. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "index/lexical.h"
#include "index/lexical_format.h"

enum {
    WINDOW = 16384, /* rows; its sums fit the second-level cache. A power of two, at least 64 */
    GROUP = 16,     /* groups whose greatest sums are found at once */
    CHUNK = 256,    /* rows whose sums are compared at once; a multiple of 8 and of GROUP */
    BUCKETS = 1088, /* of sums whose greatest bits as a float are the same, 32 to a doubling; 0: none */
    BUCKET_SHIFT = 18,
    FIRST_MAX = 512, /* candidates that are sorted at once */
    LINE = 16,       /* rows in a line of the cache */
    PREFETCH = 256,  /* postings asked for ahead */
    LOOK_UP = 4,     /* one look-up costs as adding so many postings */
    SUM_BITS = 30,   /* of the greatest possible sum: signed comparison of sums is safe */
    LIMIT_MAX = (1 << SUM_BITS) + (1 << (SUM_BITS - 1)) /* hostile impacts may sum to more */
};

struct lexical_cursor {
    const uint32_t *row;
    const uint16_t *impact;
    const uint32_t *block_last;
    const uint16_t *block_max;
    uint32_t count, blocks, entry;
    uint32_t multiplier;
    float peak;         /* weight * the term's greatest impact */
    uint32_t at, block; /* the first posting, and its block, that has not been passed */
    uint32_t bound;     /* of what it adds to a row of the current window */
    uint32_t ahead;     /* at most so many postings lie in the window */
    bool given;         /* a term of the request has it */
};

/* What is known of a term of the request. */
struct lexical_known {
    uint32_t entry, rows; /* rows that have it; 0: none */
    uint32_t cursor;      /* its own; NO_CURSOR: it has none, or an equal term before it has that */
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
        return wt__fail(err, WT_ESTORE, "lexical index: not one of this version");
    struct lexical_layout layout = wt__lexical_layout(&header);
    if (len != layout.len || header.rows > WT_MAX_TOOLS)
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

uint32_t wt__lexical_from(const struct lexical *index, struct str from)
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

/* The term's number in the dictionary, or index->terms. */
static uint32_t find_entry(const struct lexical *index, struct str term)
{
    uint32_t number = wt__lexical_from(index, term);
    bool found = number < index->terms && wt__str_equal(wt__lexical_term(index, number), term);
    return found ? number : index->terms;
}

/* A cursor over the term's postings; false when it is unknown or its entry is not sound. */
static bool cursor_open(struct lexical_cursor *cursor, const struct lexical *index, struct str term)
{
    uint32_t number = find_entry(index, term);
    if (number == index->terms)
        return false;
    const struct lexical_entry *entry = &index->entries[number], *next = entry + 1;
    if (entry->posting > next->posting || next->posting > index->postings || entry->block > next->block ||
        next->block > index->blocks)
        return false;
    *cursor = (struct lexical_cursor){
        .row = index->row + entry->posting,
        .impact = index->impact + entry->posting,
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
    return cursor_open(&cursor, index, term) ? cursor.count : 0;
}

static int reserve(struct lexical_query *query, size_t count)
{
    if (!query->window)
        query->window = wt__alloc_aligned(WINDOW + CHUNK, sizeof *query->window);
    if (!query->candidates)
        query->candidates = wt__alloc_array(WINDOW + 1, sizeof *query->candidates);
    if (!query->window || !query->candidates)
        return -1;
    if (count <= query->capacity)
        return 0;
    size_t capacity = count;
    struct lexical_cursor *cursors = wt__alloc_array(capacity, sizeof *cursors);
    struct lexical_known *known = wt__alloc_array(capacity, sizeof *known);
    uint32_t *order = wt__alloc_array(capacity, sizeof *order);
    if (!cursors || !known || !order) {
        free(cursors);
        free(known);
        free(order);
        return -1;
    }
    free(query->cursors);
    free(query->known);
    free(query->order);
    query->cursors = cursors;
    query->known = known;
    query->order = order;
    query->capacity = capacity;
    return 0;
}

static int compare_cursors(const void *a, const void *b)
{
    uint32_t first = ((const struct lexical_cursor *)a)->entry, second = ((const struct lexical_cursor *)b)->entry;
    return (first > second) - (first < second);
}

/* Chooses the unit of the sums and turns the weights into whole multipliers. */
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

/* Gives each cursor to the first term that it is of. */
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

/* Cursors in the dictionary's order, one a term. Most requests bring their terms so. */
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
        return wt__fail(err, WT_ETOOLONG, "a request of %zu terms; at most %d are searched", count,
                        LEXICAL_MAX_QUERY_TERMS);
    if (reserve(query, count) < 0)
        return wt__fail_nomem(err);
    query->term_count = count;
    for (size_t i = 0; i < count; i++) {
        struct lexical_cursor *cursor = &query->cursors[query->len];
        bool known = cursor_open(cursor, index, terms[i].text);
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

static uint32_t share(const struct lexical_cursor *cursor, uint16_t impact)
{
    return (uint32_t)((uint64_t)cursor->multiplier * impact >> 16);
}

/* The first of count ascending rows that is not below `row`; count when all are. Which half it is in nobody can
 * foretell, so no branch depends on it. */
static uint32_t lower_bound(const uint32_t *rows, uint32_t count, uint32_t row)
{
    const uint32_t *from = rows;
    for (uint32_t half; count > 1; count -= half) {
        half = count / 2;
        from += (0 - (uint32_t)(from[half - 1] < row)) & half;
    }
    return (uint32_t)(from - rows) + (count == 1 && *from < row);
}

/* Moves to the first posting whose row is not below `row`. */
static void seek(struct lexical_cursor *cursor, uint32_t row)
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
        cursor->at = begin + lower_bound(cursor->row + begin, end - begin, row);
}

struct search {
    const struct lexical *index;
    struct lexical_query *query;
    const uint64_t *allowed;
    struct topk top;
    uint32_t limit;      /* a sum must be above it to enter */
    uint32_t begin, end; /* the window */
};

/* Moves every cursor to the window, bounds what it can add there, and returns the least row that is still ahead. */
static uint32_t bound_window(struct search *search)
{
    uint32_t next = UINT32_MAX;
    for (size_t i = 0; i < search->query->len; i++) {
        struct lexical_cursor *cursor = &search->query->cursors[i];
        seek(cursor, search->begin);
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
        cursor->bound = share(cursor, max);
    }
    return next;
}

/* Weakest bound first. The order of the last window is nearly right for this one: insertion sort. */
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

/* Adds the term's postings before `end`, the window's, and moves behind them. A window has too few postings of one term
 * for the processor to see a stream, so those of the next one are asked for here. The mask changes no sound row:
 * windows begin at multiples of it. */
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

/* Offsets of the sums above `floor`, into candidates. */
static size_t collect(const struct search *search, uint32_t floor)
{
    const int32_t *restrict sums = (const int32_t *)search->query->window;
    uint32_t *restrict candidates = search->query->candidates;
    uint32_t width = search->end - search->begin;
    int32_t least = (int32_t)floor;
    size_t len = 0, kept = 0;
    for (uint32_t first = 0; first < width; first += CHUNK) {
        const int32_t *here = sums + first; /* an index that may wrap round would be no stream */
        uint8_t above[CHUNK];
        for (uint32_t i = 0; i < CHUNK; i++)
            above[i] = here[i] > least;
        for (uint32_t eight = 0; eight < CHUNK; eight += 8) {
            uint64_t any;
            memcpy(&any, above + eight, sizeof any);
            for (uint32_t i = eight; any && i < eight + 8; i++) {
                candidates[len] = first + i; /* no branch: which sums are above is hard to foresee */
                len += above[i];
            }
        }
    }
    while (len > 0 && candidates[len - 1] >= width) /* rows that there are not */
        len--;
    if (!search->allowed)
        return len;
    for (size_t c = 0; c < len; c++)
        if (wt__row_allowed(search->allowed, search->begin + candidates[c]))
            candidates[kept++] = candidates[c];
    return kept;
}

static uint32_t bucket_of(int32_t sum)
{
    static const uint32_t one = (127u << 23 >> BUCKET_SHIFT) - 1;
    float value = (float)sum;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return sum > 0 ? (bits >> BUCKET_SHIFT) - one : 0;
}

/* The greatest sum that is surely below all of the bucket's: scores are rounded sums, so a hair below. */
static uint32_t below_bucket(uint32_t bucket)
{
    uint32_t bits = ((127u << 23 >> BUCKET_SHIFT) - 1 + bucket) << BUCKET_SHIFT;
    float least;
    memcpy(&least, &bits, sizeof least);
    double below = (double)least - (double)least / (1 << 20);
    return below < LIMIT_MAX ? (uint32_t)below : LIMIT_MAX;
}

/* most [GROUP]: of each group of the chunk that begins at `first`, the greatest sum that may be found. A group is every
 * GROUP-th row, so that groups are looked at side by side. */
static void greatest_sums(const struct search *search, uint32_t first, int32_t most[GROUP])
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

/* While less than k are kept: as many rows of this window as there are groups have the greatest sums of their groups,
 * so the k-th greatest of these is a limit before any row was looked at. */
static void raise_limit(struct search *search)
{
    uint16_t counts[BUCKETS] = {0};
    uint32_t width = search->end - search->begin, bucket = BUCKETS, better = 0;
    for (uint32_t first = 0; first < width; first += CHUNK) {
        int32_t most[GROUP];
        greatest_sums(search, first, most);
        for (uint32_t i = 0; i < GROUP; i++)
            counts[bucket_of(most[i])]++;
    }
    while (--bucket > 0 && better + counts[bucket] < search->top.k)
        better += counts[bucket];
    uint32_t limit = bucket > 0 ? below_bucket(bucket) : 0;
    search->limit = limit > search->limit ? limit : search->limit;
}

/* Looks the candidates up in the optional terms, strongest first, dropping those that can no longer enter. */
static size_t complete(struct search *search, size_t len, size_t optional, uint32_t bound)
{
    uint32_t *sums = search->query->window, *candidates = search->query->candidates;
    for (size_t i = optional; i-- > 0 && len > 0;) {
        struct lexical_cursor *cursor = &search->query->cursors[search->query->order[i]];
        if (cursor->bound == 0)
            break;
        bound -= cursor->bound;
        size_t kept = 0;
        for (size_t c = 0; c < len; c++) {
            uint32_t offset = candidates[c], row = search->begin + offset;
            if (sums[offset] + bound + cursor->bound <= search->limit)
                continue;
            seek(cursor, row);
            if (cursor->at < cursor->count && cursor->row[cursor->at] == row)
                sums[offset] += share(cursor, cursor->impact[cursor->at]);
            if (sums[offset] + bound > search->limit)
                candidates[kept++] = offset;
        }
        len = kept;
    }
    return len;
}

static void heed_threshold(struct search *search)
{
    if (search->top.len < search->top.k)
        return;
    float limit = wt__topk_threshold(&search->top) / search->query->unit;
    search->limit = limit < LIMIT_MAX ? (uint32_t)limit : LIMIT_MAX;
}

static struct scored scored_at(const struct search *search, uint32_t offset)
{
    return (struct scored){(float)search->query->window[offset] * search->query->unit, search->begin + offset};
}

/* The first candidates all at once: the k best, worst first, which is a heap. */
static void keep_first(struct search *search, size_t len)
{
    struct scored items[FIRST_MAX];
    struct topk *top = &search->top;
    for (size_t c = 0; c < len; c++)
        items[c] = scored_at(search, search->query->candidates[c]);
    wt__scored_sort(items, len);
    for (top->len = len < top->k ? len : top->k, len = 0; len < top->len; len++)
        top->items[top->len - 1 - len] = items[len];
    heed_threshold(search);
}

static void keep(struct search *search, size_t len)
{
    if (search->top.len == 0 && len <= FIRST_MAX) {
        keep_first(search, len);
        return;
    }
    for (size_t c = 0; c < len; c++) {
        uint32_t offset = search->query->candidates[c];
        if (search->query->window[offset] <= search->limit)
            continue;
        wt__topk_push(&search->top, scored_at(search, offset));
        heed_threshold(search);
    }
}

/* How many of the weakest terms are looked up rather than added; *bound: of what those can add to a row. */
static size_t count_optional(const struct search *search, uint32_t *bound)
{
    const struct lexical_query *query = search->query;
    size_t optional = 0;
    uint64_t candidates = 0;
    *bound = 0;
    for (; optional < query->len; optional++) {
        uint32_t more = query->cursors[query->order[optional]].bound;
        if (*bound + more > search->limit)
            break;
        *bound += more;
    }
    if (optional == query->len)
        return optional;
    for (size_t i = optional; i < query->len; i++)
        candidates += query->cursors[query->order[i]].ahead;
    /* A look-up costs as much as adding several postings: a term with few postings beside the candidates is added. */
    for (; optional > 0; optional--) {
        const struct lexical_cursor *cursor = &query->cursors[query->order[optional - 1]];
        if (cursor->ahead > candidates * LOOK_UP)
            break;
        *bound -= cursor->bound;
        candidates += cursor->ahead;
    }
    return optional;
}

static void search_window(struct search *search)
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
    size_t len = collect(search, search->limit - bound);
    len = complete(search, len, optional, bound);
    keep(search, len);
}

static bool any_allowed(const struct search *search)
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
    struct search search = {index, query, allowed, .top = {out, 0, k}};
    if (k == 0 || query->len == 0)
        return 0;
    for (size_t i = 0; i < query->len; i++) {
        query->cursors[i].at = query->cursors[i].block = 0;
        query->order[i] = (uint32_t)i;
    }
    while (search.begin < index->rows) {
        uint32_t left = index->rows - search.begin;
        search.end = search.begin + (left < WINDOW ? left : WINDOW);
        uint32_t next = bound_window(&search);
        if (next >= index->rows)
            break;
        if (next >= search.end) {
            search.begin = next / WINDOW * WINDOW;
            continue;
        }
        if (any_allowed(&search))
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
                sums[cursor->row[at]] += share(cursor, cursor->impact[at]);
    }
    for (uint32_t row = 0; row < index->rows && k > 0; row++)
        if (sums[row] > 0 && wt__row_allowed(allowed, row))
            wt__topk_push(&top, (struct scored){(float)sums[row] * query->unit, row});
    wt__topk_sort(&top);
    return top.len;
}

/* What the term adds to one row, wherever it is. */
static uint32_t share_of_row(const struct lexical_cursor *cursor, uint32_t row)
{
    uint32_t block = lower_bound(cursor->block_last, cursor->blocks, row);
    if (block == cursor->blocks)
        return 0;
    uint32_t begin = block * LEXICAL_BLOCK, left = cursor->count - begin;
    uint32_t at = begin + lower_bound(cursor->row + begin, left < LEXICAL_BLOCK ? left : LEXICAL_BLOCK, row);
    return at < cursor->count && cursor->row[at] == row ? share(cursor, cursor->impact[at]) : 0;
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
            sum += share_of_row(&query->cursors[c], rows[i]);
        scores[i] = (float)sum * query->unit;
    }
}

uint32_t wt__lexical_rows_of(const struct lexical_query *query, size_t term)
{
    return query->known[term].rows;
}

void wt__lexical_explain(const struct lexical_query *query, size_t first, size_t count, uint32_t row, float *shares)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t cursor = query->known[first + i].cursor;
        shares[i] = cursor == NO_CURSOR ? 0 : (float)share_of_row(&query->cursors[cursor], row) * query->unit;
    }
}
