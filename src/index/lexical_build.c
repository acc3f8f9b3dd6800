/* lexical_build.c: builds the block described in lexical.h from rows of terms, and checks all its invariants.
 *
 * BM25 divides by mean lengths, which are known only after the last row. So adding a row only counts terms: each
 * distinct term of a row creates a note of 8 bytes for each field that has the term. A million tools of 45 terms need
 * about 400 MB during the build. wt__lexical_builder_finish reads the notes once and stores each impact with its term.
 * Rows are in order, so postings need no sorting. Last, the impacts of each term are scaled to 16 bits.
 *
 * A finished builder keeps its notes. A second builder can continue it: it takes over the dictionary and may copy rows.
 * So a catalogue with small changes is indexed again without reading the unchanged tools. Terms without rows are
 * omitted from the block, so the block equals one built from all rows at once.
 *
 * The terms of a row are grouped without sorting or clearing. A term's `place` is valid only if the row's list of terms
 * has the term at that place (the sparse set of Briggs and Torczon). */
#include "index/lexical.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/memory.h"
#include "index/internal.h"

static int fail_damaged_term(wt_error *err, uint32_t term, const char *what)
{
    return wt__fail(err, WT_ESTORE, "damaged: term %u: %s", term, what);
}

static uint32_t count_blocks(uint32_t postings)
{
    return postings / LEXICAL_BLOCK + (postings % LEXICAL_BLOCK > 0);
}

/* Checks the offsets of a term, its maximum impact, and that it comes after the previous term. */
static int check_entry(const struct lexical *index, uint32_t term, wt_error *err)
{
    const struct lexical_entry *entry = &index->entries[term], *next = entry + 1;
    if (entry->text > next->text || next->text > index->text_len || entry->posting >= next->posting ||
        next->posting > index->postings || entry->block > next->block || next->block > index->blocks)
        return fail_damaged_term(err, term, "its offset is outside the index");
    uint32_t count = next->posting - entry->posting;
    if (next->block - entry->block != count_blocks(count))
        return fail_damaged_term(err, term, "its blocks do not match its postings");
    if (!isfinite(entry->max) || entry->max < 0)
        return fail_damaged_term(err, term, "its maximum impact is invalid");
    if (term > 0 && wt__lexical_compare(wt__lexical_term(index, term - 1), wt__lexical_term(index, term)) >= 0)
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
    for (uint32_t term = 0; term < index->terms; term++) {
        WT_TRY(check_entry(index, term, err));
        WT_TRY(check_postings(index, term, err));
    }
    for (uint32_t row = 0; row < index->rows; row++)
        if (!(index->damping[row] > 0 && index->damping[row] <= 1))
            return wt__fail(err, WT_ESTORE, "damaged: the damping of row %u is not in (0, 1]", row);
    return 0;
}

enum { TF_MAX = (1 << 24) - 1 };

/* Occurrences of a term in a field of one row. The notes of one term of a row are adjacent. */
struct note {
    uint32_t term;
    uint32_t tf : 24, field : 7, last : 1; /* last: last note of this term in this row */
};

struct term {
    struct str text;
    uint32_t df;
    uint32_t place; /* while rows are added: index in row_terms, if the term is there; then: its next free posting */
    float idf;      /* set by write_dictionary */
};

struct lexical_builder {
    struct lexical_settings settings;
    struct arena texts;
    struct map dictionary; /* text -> number of the term */
    struct term *terms;
    size_t term_count, term_capacity;
    struct note *notes;
    size_t note_count, note_capacity;
    size_t *row_end; /* [rows] end of each row's notes */
    size_t rows, row_capacity;
    uint32_t *lengths; /* [rows, fields] */
    size_t length_capacity;
    uint32_t *row_terms; /* [row_term_count] distinct terms of the current row */
    uint32_t *row_tf;    /* [row_term_count, fields] occurrences of the terms in row_terms */
    size_t row_term_count, row_term_capacity, row_tf_capacity;
    size_t postings;
};

float wt__lexical_idf(size_t rows, size_t df)
{
    return (float)log(1.0 + ((double)rows - (double)df + 0.5) / ((double)df + 0.5));
}

/* Returns the impact according to BM25F (Zaragoza et al., TREC 2004): idf * tf' (k1 + 1) / (k1 + tf'), with tf' = sum
 * over fields of weight * tf[field] * norm[field]. norm: see place_postings. */
static float compute_impact(const struct lexical_settings *settings, float idf, const float *tf, const float *norm)
{
    float sum = 0;
    for (size_t f = 0; f < settings->field_count; f++)
        sum += settings->fields[f].weight * tf[f] * norm[f];
    return sum > 0 ? idf * sum * (settings->k1 + 1) / (settings->k1 + sum) : 0;
}

int wt__lexical_builder_new(struct lexical_builder **out, const struct lexical_settings *settings, wt_error *err)
{
    *out = NULL;
    bool sound = settings->field_count > 0 && settings->field_count <= LEXICAL_MAX_FIELDS && settings->k1 >= 0 &&
                 settings->k1 < 1e6F && settings->most_sum >= 0 && settings->most_length >= 0 &&
                 settings->most_named >= 0 && settings->most_thrice >= 0 && settings->repeated_least >= 0 &&
                 settings->damping_power >= 0 && settings->damping_power < 10 && settings->schema_share >= 0 &&
                 settings->schema_share <= 1;
    for (size_t f = 0; sound && f < settings->field_count; f++) {
        const struct lexical_field *field = &settings->fields[f];
        sound = field->weight >= 0 && field->weight < 1e6F && field->b >= 0 && field->b <= 1;
    }
    if (!sound)
        return wt__fail(err, WT_EINVAL, "BM25 settings out of range");
    *out = calloc(1, sizeof **out);
    WT_CHECK_ALLOC(*out, err);
    (*out)->settings = *settings;
    return 0;
}

void wt__lexical_builder_free(struct lexical_builder *builder)
{
    if (!builder)
        return;
    wt__map_dispose(&builder->dictionary);
    wt__arena_dispose(&builder->texts);
    free(builder->terms);
    free(builder->notes);
    free(builder->row_end);
    free(builder->lengths);
    free(builder->row_terms);
    free(builder->row_tf);
    free(builder);
}

/* Returns the number of a term and adds a new term. Returns -1 if out of memory. */
static int64_t find_or_add_term(struct lexical_builder *builder, struct str text)
{
    const uint32_t *known = wt__map_get(&builder->dictionary, text);
    if (known)
        return *known;
    if (builder->term_count == UINT32_MAX - 1 || wt__grow((void **)&builder->terms, &builder->term_capacity,
                                                          builder->term_count + 1, sizeof *builder->terms) < 0)
        return -1;
    uint32_t number = (uint32_t)builder->term_count;
    struct term *term = &builder->terms[number];
    const char *copy = wt__arena_copy(&builder->texts, text);
    if (!copy)
        return -1;
    *term = (struct term){.text = {copy, text.len}};
    if (!wt__map_insert(&builder->dictionary, term->text, number, NULL))
        return -1;
    builder->term_count++;
    return number;
}

/* Counts an occurrence of a term in a field of the current row. Returns -1 if out of memory. */
static int count_term(struct lexical_builder *builder, struct str text, size_t field)
{
    size_t fields = builder->settings.field_count;
    int64_t number = find_or_add_term(builder, text);
    if (number < 0)
        return -1;
    struct term *term = &builder->terms[number];
    if (term->place >= builder->row_term_count || builder->row_terms[term->place] != number) {
        size_t place = builder->row_term_count;
        if (wt__grow((void **)&builder->row_terms, &builder->row_term_capacity, place + 1, sizeof(uint32_t)) < 0 ||
            wt__grow((void **)&builder->row_tf, &builder->row_tf_capacity, (place + 1) * fields, sizeof(uint32_t)) < 0)
            return -1;
        term->place = (uint32_t)place;
        term->df++;
        builder->row_terms[place] = (uint32_t)number;
        memset(builder->row_tf + place * fields, 0, fields * sizeof(uint32_t));
        builder->row_term_count++;
    }
    uint32_t *tf = &builder->row_tf[term->place * fields + field];
    *tf += *tf < TF_MAX;
    return 0;
}

/* Reserves memory for another row with this many notes. */
static int reserve_row(struct lexical_builder *builder, size_t notes, wt_error *err)
{
    size_t rows = builder->rows + 1;
    if (builder->rows == WT_MAX_TOOLS)
        return wt__fail(err, WT_ETOOLONG, "more than %d tools", WT_MAX_TOOLS);
    if (wt__grow((void **)&builder->row_end, &builder->row_capacity, rows, sizeof *builder->row_end) < 0 ||
        wt__grow((void **)&builder->lengths, &builder->length_capacity, rows * builder->settings.field_count,
                 sizeof *builder->lengths) < 0 ||
        wt__grow((void **)&builder->notes, &builder->note_capacity, builder->note_count + notes,
                 sizeof *builder->notes) < 0)
        return wt__fail_nomem(err);
    return 0;
}

/* Appends the notes of the row whose terms were counted. */
static int add_row_notes(struct lexical_builder *builder, wt_error *err)
{
    size_t fields = builder->settings.field_count;
    WT_TRY(reserve_row(builder, builder->row_term_count * fields, err));
    for (size_t i = 0; i < builder->row_term_count; i++) {
        for (size_t f = 0; f < fields; f++) {
            uint32_t tf = builder->row_tf[i * fields + f];
            if (tf)
                builder->notes[builder->note_count++] =
                    (struct note){.term = builder->row_terms[i], .tf = tf, .field = f & 0x7f};
        }
        builder->notes[builder->note_count - 1].last = 1;
    }
    return 0;
}

int wt__lexical_builder_add(struct lexical_builder *builder, const struct lexical_text *fields, wt_error *err)
{
    size_t field_count = builder->settings.field_count, rows = builder->rows;
    WT_TRY(reserve_row(builder, 0, err));
    builder->row_term_count = 0;
    for (size_t f = 0; f < field_count; f++) {
        bool indexed = builder->settings.fields[f].weight > 0;
        size_t count = indexed ? fields[f].count : 0;
        builder->lengths[rows * field_count + f] = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
        for (size_t i = 0; i < count; i++)
            if (count_term(builder, fields[f].terms[i], f) < 0)
                return wt__fail_nomem(err);
    }
    WT_TRY(add_row_notes(builder, err));
    builder->postings += builder->row_term_count;
    builder->row_end[rows] = builder->note_count;
    builder->rows++;
    return 0;
}

int wt__lexical_builder_follow(struct lexical_builder **out, struct lexical_builder *before, wt_error *err)
{
    WT_TRY(wt__lexical_builder_new(out, &before->settings, err));
    struct lexical_builder *builder = *out;
    builder->texts = before->texts;
    builder->dictionary = before->dictionary;
    builder->terms = before->terms;
    builder->term_count = before->term_count;
    builder->term_capacity = before->term_capacity;
    before->texts = (struct arena){0};
    before->dictionary = (struct map){0};
    before->terms = NULL;
    before->term_count = before->term_capacity = 0;
    for (size_t i = 0; i < builder->term_count; i++)
        builder->terms[i].df = builder->terms[i].place = 0;
    return 0;
}

int wt__lexical_builder_copy(struct lexical_builder *builder, const struct lexical_builder *before, size_t row,
                             wt_error *err)
{
    size_t first = row > 0 ? before->row_end[row - 1] : 0, count = before->row_end[row] - first;
    size_t fields = builder->settings.field_count;
    WT_TRY(reserve_row(builder, count, err));
    for (size_t i = first; i < first + count; i++) {
        struct note note = before->notes[i];
        builder->notes[builder->note_count++] = note;
        builder->terms[note.term].df += note.last;
        builder->postings += note.last;
    }
    memcpy(builder->lengths + builder->rows * fields, before->lengths + row * fields, fields * sizeof(uint32_t));
    builder->row_end[builder->rows++] = builder->note_count;
    return 0;
}

static int compare_term_texts(const void *a, const void *b)
{
    const struct term *first = *(const struct term *const *)a, *second = *(const struct term *const *)b;
    return wt__lexical_compare(first->text, second->text);
}

/* True for the terms of a forward index, which are in order already. */
static bool terms_are_sorted(struct term *const *terms, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (compare_term_texts(&terms[i - 1], &terms[i]) > 0)
            return false;
    return true;
}

/* Writes the dictionary in the order of `sorted`. Each term's place becomes its next free posting. */
static void write_dictionary(const struct lexical_builder *builder, struct term *const *sorted, size_t count,
                             unsigned char *block, const struct lexical_layout *layout)
{
    struct lexical_entry *entries = (struct lexical_entry *)(block + layout->entries), at = {0};
    for (size_t i = 0; i < count; i++) {
        struct term *term = sorted[i];
        entries[i] = at;
        memcpy(block + layout->text + at.text, term->text.ptr, term->text.len);
        term->place = at.posting;
        term->idf = wt__lexical_idf(builder->rows, term->df);
        at.text += (uint32_t)term->text.len;
        at.posting += term->df;
        at.block += count_blocks(term->df);
    }
    entries[count] = at;
}

/* Allocates the block and writes its header and dictionary. */
static int allocate_block(struct lexical_builder *builder, unsigned char **out, size_t *len, wt_error *err)
{
    WT_AUTO_FREE struct term **sorted = wt__alloc_array(builder->term_count, sizeof(struct term *));
    WT_CHECK_ALLOC(sorted, err);
    size_t text_len = 0, blocks = 0, count = 0;
    for (size_t i = 0; i < builder->term_count; i++) {
        struct term *term = &builder->terms[i];
        if (term->df == 0)
            continue;
        sorted[count++] = term;
        text_len += term->text.len;
        blocks += count_blocks(term->df);
    }
    if (!terms_are_sorted(sorted, count))
        qsort(sorted, count, sizeof(struct term *), compare_term_texts);
    struct lexical_header header = {.magic = LEXICAL_MAGIC,
                                    .version = LEXICAL_VERSION,
                                    .rows = (uint32_t)builder->rows,
                                    .terms = (uint32_t)count,
                                    .postings = (uint32_t)builder->postings,
                                    .blocks = (uint32_t)blocks,
                                    .text_len = (uint32_t)text_len,
                                    .field_count = (uint32_t)builder->settings.field_count};
    struct lexical_layout layout = wt__lexical_layout(&header);
    *len = layout.len;
    if (builder->postings > LEXICAL_MAX_POSTINGS || text_len > UINT32_MAX)
        return wt__fail(err, WT_ETOOLONG, "the text of the tools is too long for one index: %zu postings",
                        builder->postings);
    unsigned char *block = calloc(1, layout.len);
    WT_CHECK_ALLOC(block, err);
    memcpy(block, &header, sizeof header);
    write_dictionary(builder, sorted, count, block, &layout);
    *out = block;
    return 0;
}

static void compute_mean_lengths(const struct lexical_builder *builder, float *mean)
{
    size_t fields = builder->settings.field_count;
    for (size_t f = 0; f < fields; f++) {
        double sum = 0, filled = 0;
        for (size_t row = 0; row < builder->rows; row++) {
            sum += builder->lengths[row * fields + f];
            filled += builder->lengths[row * fields + f] > 0;
        }
        mean[f] = filled > 0 ? (float)(sum / filled) : 1;
    }
}

/* Stores rows, fields and impacts per term, in one pass over the notes. Postings are in ascending order of rows. The
 * mean of a field's length excludes rows in which the field is empty. */
static void place_postings(struct lexical_builder *builder, unsigned char *block, const struct lexical_layout *layout,
                           float *impacts)
{
    const struct lexical_settings *settings = &builder->settings;
    size_t fields = settings->field_count;
    uint32_t *rows = (uint32_t *)(block + layout->row);
    uint8_t *field_terms = block + layout->field_terms, *masks = block + layout->fields, mask = 0;
    float mean[LEXICAL_MAX_FIELDS], norm[LEXICAL_MAX_FIELDS], tf[LEXICAL_MAX_FIELDS] = {0};
    compute_mean_lengths(builder, mean);
    for (size_t row = 0, at = 0; row < builder->rows; row++) {
        for (size_t f = 0; f < fields; f++) {
            float b = settings->fields[f].b, length = (float)builder->lengths[row * fields + f];
            norm[f] = length > 0 ? 1 / (1 - b + b * length / mean[f]) : 0;
        }
        for (; at < builder->row_end[row]; at++) {
            struct note note = builder->notes[at];
            uint8_t *distinct = &field_terms[row * fields + note.field];
            *distinct += *distinct < UINT8_MAX;
            mask |= (uint8_t)(1u << note.field);
            tf[note.field] = (float)note.tf;
            if (!note.last)
                continue;
            struct term *term = &builder->terms[note.term];
            rows[term->place] = (uint32_t)row;
            masks[term->place] = mask;
            impacts[term->place] = compute_impact(settings, term->idf, tf, norm);
            term->place++;
            mask = 0;
            memset(tf, 0, sizeof tf);
        }
    }
}

static const double LEAST_DAMPING = 1e-6; /* every match keeps a positive score */

/* Statistics that identify stuffed rows: values of one row, or means over all rows. */
struct stuffing {
    double sum, length;   /* sum of the row's impacts; Euclidean length of the row's impacts */
    double named, thrice; /* numbers of words that most_named and most_thrice of struct lexical_settings limit */
};

/* Sets the sum and the length of each row's impacts. fields: bits of the fields of each posting. */
static void measure_impacts(const struct lexical_builder *builder, const uint32_t *rows, const uint8_t *fields,
                            const float *impacts, struct stuffing *own)
{
    unsigned schema = 0;
    for (size_t f = 0; f < builder->settings.field_count; f++)
        schema |= builder->settings.fields[f].schema ? 1u << f : 0;
    for (size_t i = 0; i < builder->postings; i++) {
        double impact = impacts[i] * (fields[i] & ~schema ? 1 : builder->settings.schema_share);
        own[rows[i]].sum += impact;
        own[rows[i]].length += impact * impact;
    }
    for (size_t row = 0; row < builder->rows; row++)
        own[row].length = sqrt(own[row].length);
}

/* Counts the words of each row that are in several fields. The notes of a word in a row are adjacent, one per field. */
static void measure_repeats(const struct lexical_builder *builder, struct stuffing *own)
{
    for (size_t row = 0, at = 0; row < builder->rows; row++) {
        unsigned fields = 0;
        bool names = false;
        for (; at < builder->row_end[row]; at++) {
            fields++;
            names |= builder->settings.fields[builder->notes[at].field].names;
            if (!builder->notes[at].last)
                continue;
            own[row].named += names && fields >= 2;
            own[row].thrice += fields >= 3;
            fields = 0;
            names = false;
        }
    }
}

static struct stuffing compute_mean_stuffing(const struct stuffing *own, size_t rows)
{
    struct stuffing mean = {0};
    for (size_t row = 0; row < rows; row++) {
        mean.sum += own[row].sum / (double)rows;
        mean.length += own[row].length / (double)rows;
        mean.named += own[row].named / (double)rows;
        mean.thrice += own[row].thrice / (double)rows;
    }
    return mean;
}

/* Returns the damping factor for one statistic of a row. own: value of the row. most: limit as a multiple of the mean,
 * or 0 for no limit. least: minimum of the limit. */
static double compute_factor(double own, double most, double mean, double least, double power)
{
    double bound = fmax(most * mean, least);
    return most > 0 && own > bound ? pow(bound / own, power) : 1;
}

static int compute_damping(const struct lexical_builder *builder, const uint32_t *rows, const uint8_t *fields,
                           const float *impacts, float *damping, wt_error *err)
{
    const struct lexical_settings *s = &builder->settings;
    WT_AUTO_FREE struct stuffing *own = wt__alloc_zeros(builder->rows + 1, sizeof *own);
    WT_CHECK_ALLOC(own, err);
    measure_impacts(builder, rows, fields, impacts, own);
    measure_repeats(builder, own);
    struct stuffing mean = compute_mean_stuffing(own, builder->rows);
    for (size_t row = 0; row < builder->rows; row++) {
        double all = compute_factor(own[row].sum, s->most_sum, mean.sum, 0, s->damping_power) *
                     compute_factor(own[row].length, s->most_length, mean.length, 0, s->damping_power) *
                     compute_factor(own[row].named, s->most_named, mean.named, s->repeated_least, s->damping_power) *
                     compute_factor(own[row].thrice, s->most_thrice, mean.thrice, s->repeated_least, s->damping_power);
        damping[row] = (float)fmax(LEAST_DAMPING, all);
    }
    return 0;
}

/* Scales the impacts of one term to 16 bits and sets the last row and the maximum impact of its blocks. Stored impacts
 * are at least 1, so that every match counts. */
static void quantise_impacts(struct lexical_entry *entry, uint32_t count, const uint32_t *rows, const float *impacts,
                             uint16_t *out, uint32_t *block_last, uint16_t *block_max)
{
    float max = 0;
    for (uint32_t i = 0; i < count; i++)
        max = impacts[i] > max ? impacts[i] : max;
    entry->max = max;
    for (uint32_t i = 0; i < count; i++) {
        float scaled = max > 0 ? impacts[i] / max * LEXICAL_FULL : 1;
        out[i] = scaled < 1 ? 1 : (uint16_t)(scaled + 0.5F);
        uint32_t block = i / LEXICAL_BLOCK;
        block_last[block] = rows[i];
        block_max[block] = out[i] > block_max[block] ? out[i] : block_max[block];
    }
}

/* True if a built block passes wt__lexical_check; for an assertion. */
__attribute__((unused)) static bool is_valid_block(const void *block, size_t len)
{
    struct lexical index;
    return wt__lexical_view(&index, block, len, NULL) == 0 && wt__lexical_check(&index, NULL) == 0;
}

int wt__lexical_builder_finish(struct lexical_builder *builder, void **out, size_t *len, wt_error *err)
{
    *out = NULL;
    *len = 0;
    WT_AUTO_FREE float *impacts = wt__alloc_array(builder->postings, sizeof *impacts);
    WT_AUTO_FREE unsigned char *block = NULL;
    WT_CHECK_ALLOC(impacts, err);
    WT_TRY(allocate_block(builder, &block, len, err));
    const struct lexical_header *header = (struct lexical_header *)block;
    struct lexical_layout layout = wt__lexical_layout(header);
    struct lexical_entry *entries = (struct lexical_entry *)(block + layout.entries);
    uint32_t *rows = (uint32_t *)(block + layout.row), *block_last = (uint32_t *)(block + layout.block_last);
    uint16_t *quantised = (uint16_t *)(block + layout.impact), *block_max = (uint16_t *)(block + layout.block_max);
    place_postings(builder, block, &layout, impacts);
    WT_TRY(compute_damping(builder, rows, block + layout.fields, impacts, (float *)(block + layout.damping), err));
    for (size_t t = 0; t < header->terms; t++) {
        uint32_t from = entries[t].posting;
        quantise_impacts(&entries[t], entries[t + 1].posting - from, rows + from, impacts + from, quantised + from,
                         block_last + entries[t].block, block_max + entries[t].block);
    }
    assert(is_valid_block(block, *len));
    *out = WT_TAKE(block);
    return 0;
}

/* ---------------------------------------------------------------- forward index */

/* The notes and lengths of all rows. Terms are in dictionary order, and notes refer to them in this order. */
struct lexical_forward {
    struct lexical_builder rows;
};

/* Copies the notes and the lengths of the builder's rows. number: number of each of the builder's terms in the forward
 * index. */
static int copy_lexical_rows(struct lexical_builder *to, const struct lexical_builder *from, const uint32_t *number,
                             wt_error *err)
{
    size_t fields = from->settings.field_count;
    to->row_end = wt__alloc_array(from->rows, sizeof *to->row_end);
    to->lengths = wt__alloc_array(from->rows * fields, sizeof *to->lengths);
    to->notes = wt__alloc_array(from->note_count, sizeof *to->notes);
    WT_CHECK_ALLOC(to->row_end && to->lengths && to->notes, err);
    for (size_t i = 0; i < from->note_count; i++) {
        to->notes[i] = from->notes[i];
        to->notes[i].term = number[from->notes[i].term];
    }
    if (from->rows > 0) {
        memcpy(to->row_end, from->row_end, from->rows * sizeof *to->row_end);
        memcpy(to->lengths, from->lengths, from->rows * fields * sizeof *to->lengths);
    }
    to->rows = from->rows;
    to->note_count = from->note_count;
    return 0;
}

/* Copies the builder's terms in dictionary order, and fills `number`. */
static int copy_terms(struct lexical_builder *to, const struct lexical_builder *from, uint32_t *number, wt_error *err)
{
    WT_AUTO_FREE struct term **sorted = wt__alloc_array(from->term_count, sizeof(struct term *));
    to->terms = wt__alloc_array(from->term_count, sizeof *to->terms);
    WT_CHECK_ALLOC(sorted && to->terms, err);
    for (size_t i = 0; i < from->term_count; i++)
        if (from->terms[i].df > 0)
            sorted[to->term_count++] = &from->terms[i];
    qsort(sorted, to->term_count, sizeof(struct term *), compare_term_texts);
    for (size_t i = 0; i < to->term_count; i++) {
        const struct str text = sorted[i]->text;
        to->terms[i] = (struct term){.text = {wt__arena_copy(&to->texts, text), text.len}};
        WT_CHECK_ALLOC(to->terms[i].text.ptr, err);
        number[sorted[i] - from->terms] = (uint32_t)i;
    }
    return 0;
}

static void close_forward(struct lexical_forward **forward)
{
    wt__lexical_forward_free(*forward);
}

int wt__lexical_forward_new(struct lexical_forward **out, const struct lexical_builder *builder, wt_error *err)
{
    *out = NULL;
    WT_CLEANUP(close_forward) struct lexical_forward *forward = wt__alloc_zeros(1, sizeof *forward);
    WT_AUTO_FREE uint32_t *number = wt__alloc_array(builder->term_count, sizeof *number);
    WT_CHECK_ALLOC(forward && number, err);
    forward->rows.settings = builder->settings;
    WT_TRY(copy_terms(&forward->rows, builder, number, err));
    WT_TRY(copy_lexical_rows(&forward->rows, builder, number, err));
    *out = WT_TAKE(forward);
    return 0;
}

void wt__lexical_forward_free(struct lexical_forward *forward)
{
    if (!forward)
        return;
    struct lexical_builder *rows = &forward->rows;
    wt__arena_dispose(&rows->texts);
    free(rows->terms);
    free(rows->notes);
    free(rows->row_end);
    free(rows->lengths);
    free(forward);
}

size_t wt__lexical_forward_bytes(const struct lexical_forward *forward)
{
    const struct lexical_builder *rows = &forward->rows;
    size_t text = 0;
    for (size_t i = 0; i < rows->term_count; i++)
        text += rows->terms[i].text.len + 1;
    return sizeof *forward + text + rows->term_count * sizeof *rows->terms + rows->note_count * sizeof *rows->notes +
           rows->rows * (sizeof *rows->row_end + rows->settings.field_count * sizeof *rows->lengths);
}

/* Gives the terms of the rows numbers in dictionary order, from 1. number: [terms] zeros, receives the numbers. */
static int number_terms(struct lexical_builder *builder, const struct lexical_builder *from, const uint32_t *rows,
                        size_t count, uint32_t *number, wt_error *err)
{
    size_t used = 0;
    for (size_t r = 0; r < count; r++)
        for (size_t i = rows[r] > 0 ? from->row_end[rows[r] - 1] : 0; i < from->row_end[rows[r]]; i++) {
            used += number[from->notes[i].term] == 0;
            number[from->notes[i].term] = 1;
        }
    builder->terms = wt__alloc_array(used, sizeof *builder->terms);
    WT_CHECK_ALLOC(builder->terms, err);
    builder->term_capacity = used;
    for (size_t i = 0; i < from->term_count && builder->term_count < used; i++)
        if (number[i]) {
            builder->terms[builder->term_count++] = (struct term){.text = from->terms[i].text};
            number[i] = (uint32_t)builder->term_count;
        }
    return 0;
}

static int add_forward_row(struct lexical_builder *builder, const struct lexical_builder *from, size_t row,
                           const uint32_t *number, wt_error *err)
{
    size_t first = row > 0 ? from->row_end[row - 1] : 0, fields = builder->settings.field_count;
    WT_TRY(reserve_row(builder, from->row_end[row] - first, err));
    for (size_t i = first; i < from->row_end[row]; i++) {
        struct note note = from->notes[i];
        note.term = number[note.term] - 1;
        builder->notes[builder->note_count++] = note;
        builder->terms[note.term].df += note.last;
        builder->postings += note.last;
    }
    memcpy(builder->lengths + builder->rows * fields, from->lengths + row * fields, fields * sizeof(uint32_t));
    builder->row_end[builder->rows++] = builder->note_count;
    return 0;
}

int wt__lexical_builder_from(struct lexical_builder **out, const struct lexical_forward *forward, const uint32_t *rows,
                             size_t count, wt_error *err)
{
    const struct lexical_builder *from = &forward->rows;
    WT_AUTO_FREE uint32_t *number = wt__alloc_zeros(from->term_count, sizeof *number);
    *out = NULL;
    WT_CHECK_ALLOC(number, err);
    WT_TRY(wt__lexical_builder_new(out, &from->settings, err));
    int rc = number_terms(*out, from, rows, count, number, err);
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = add_forward_row(*out, from, rows[i], number, err);
    if (rc < 0) {
        wt__lexical_builder_free(*out);
        *out = NULL;
    }
    return rc;
}
