/* siblings.c: see siblings.h. Reads one data set at a time into lists of the tools that share a word. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/sort.h"
#include "base/topk.h"
#include "learn/siblings.h"
#include "text/analyser.h"

/* A word in a tool's name. */
struct name_word {
    uint64_t key; /* hash of provider and word. Equal hashes of different words would only give a useless sibling. */
    uint32_t row;
};

/* A range of entries with the same key: the tools of a provider whose names have the same word. */
struct word_list {
    uint32_t first, end;
};

/* The names of a data set. Rows are relative to its first tool. */
struct name_words {
    size_t first, rows;        /* range of its tools */
    struct name_word *entries; /* [count] sorted by key, then by row */
    size_t count;
    struct word_list *lists; /* [count] lists of each tool's words, grouped by tool */
    uint32_t *starts;        /* [rows] start of each tool's lists */
    uint8_t *lengths;        /* [rows] number of each tool's lists; lists of too common words are omitted */
    float *weights;          /* [rows] sum of the weights of each tool's lists */
    float *shared;           /* [rows] scratch of find_tool_siblings; zero between calls */
    uint32_t *others;        /* [SIBLING_WORDS * SIBLING_COMMON] scratch of find_tool_siblings */
};

static int compare_name_words(const void *a, const void *b)
{
    const struct name_word *x = a, *y = b;
    int order = (x->key > y->key) - (x->key < y->key);
    return order ? order : (x->row > y->row) - (x->row < y->row);
}

static bool open_name_words(struct name_words *w, size_t rows)
{
    size_t words = rows * SIBLING_WORDS;
    w->entries = wt__alloc_array(words, sizeof *w->entries);
    w->lists = wt__alloc_array(words, sizeof *w->lists);
    w->starts = wt__alloc_array(rows, sizeof *w->starts);
    w->lengths = wt__alloc_zeros(rows, sizeof *w->lengths);
    w->weights = wt__alloc_zeros(rows, sizeof *w->weights);
    w->shared = wt__alloc_zeros(rows, sizeof *w->shared);
    w->others = wt__alloc_array((size_t)SIBLING_WORDS * SIBLING_COMMON, sizeof *w->others);
    return w->entries && w->lists && w->starts && w->lengths && w->weights && w->shared && w->others;
}

static void dispose_name_words(struct name_words *w)
{
    free(w->entries);
    free(w->lists);
    free(w->starts);
    free(w->lengths);
    free(w->weights);
    free(w->shared);
    free(w->others);
}

/* Computes the keys of a name's distinct words, without joined forms. Returns their number. */
static size_t hash_name_words(const struct token_list *tokens, int64_t provider, uint64_t keys[SIBLING_WORDS])
{
    size_t count = 0, end = 0;
    uint64_t state = NAME_HASH_EMPTY;
    for (unsigned byte = 0; byte < sizeof provider; byte++)
        state = wt__name_hash_byte(state, (unsigned char)((uint64_t)provider >> 8 * byte));
    for (size_t t = 0; t < tokens->len && count < SIBLING_WORDS; t++) {
        if (tokens->sources[t].start < end)
            continue; /* a joined form */
        end = tokens->sources[t].end;
        keys[count++] = wt__name_hash_text(state, tokens->terms[t]);
    }
    return wt__sort_unique_u64(keys, count);
}

/* Reads the names of tools with a provider into entries, and sorts these. Sets starts. */
static int read_name_words(struct name_words *w, const struct examples *e, struct analyser *analyser,
                           struct token_list *tokens, wt_error *err)
{
    for (size_t row = 0; row < w->rows; row++) {
        uint64_t keys[SIBLING_WORDS];
        int64_t provider = e->providers[w->first + row];
        wt__token_list_reset(tokens);
        if (provider >= 0 && wt__analyser_run(analyser, e->names[w->first + row], tokens) < 0)
            return wt__fail_nomem(err);
        size_t count = hash_name_words(tokens, provider, keys);
        w->starts[row] = (uint32_t)w->count;
        for (size_t i = 0; i < count; i++)
            w->entries[w->count++] = (struct name_word){keys[i], (uint32_t)row};
    }
    qsort(w->entries, w->count, sizeof *w->entries, compare_name_words);
    return 0;
}

/* Returns the weight of a word, which is greater than 0. */
static float weigh_name_word(struct word_list list)
{
    return logf((float)(SIBLING_COMMON + 1) / (float)(list.end - list.first));
}

/* Fills lists, lengths and weights. */
static void list_name_words(struct name_words *w)
{
    for (struct word_list list = {0}; list.first < w->count; list.first = list.end) {
        while (list.end < w->count && w->entries[list.end].key == w->entries[list.first].key)
            list.end++;
        if (list.end - list.first > SIBLING_COMMON)
            continue;
        for (uint32_t i = list.first; i < list.end; i++) {
            uint32_t row = w->entries[i].row;
            w->lists[w->starts[row] + w->lengths[row]++] = list;
            w->weights[row] += weigh_name_word(list);
        }
    }
}

/* Sums the weights of the words that the tool shares with others in w->shared, and lists the others. Returns the number
 * of others. */
static size_t compare_tool_names(struct name_words *w, uint32_t row)
{
    size_t count = 0;
    for (unsigned l = 0; l < w->lengths[row]; l++) {
        struct word_list list = w->lists[w->starts[row] + l];
        float weight = weigh_name_word(list);
        for (uint32_t i = list.first; i < list.end; i++) {
            uint32_t other = w->entries[i].row;
            if (w->shared[other] == 0)
                w->others[count++] = other;
            w->shared[other] += weight;
        }
    }
    return count;
}

/* Writes the siblings of a tool to out, which is filled with UINT32_MAX. */
static void find_tool_siblings(struct name_words *w, const struct mined_ranking *ranking, uint32_t row,
                               uint32_t out[SIBLINGS_MOST])
{
    struct scored best[SIBLINGS_MOST] = {0};
    struct topk top = {.items = best, .k = SIBLINGS_MOST};
    const uint32_t *twins = ranking->twins + w->first;
    size_t count = compare_tool_names(w, row);
    for (size_t i = 0; i < count; i++) {
        uint32_t other = w->others[i];
        float shared = w->shared[other];
        w->shared[other] = 0;
        if (twins[other] != twins[row])
            wt__topk_push(&top, (struct scored){shared / (w->weights[row] + w->weights[other] - shared),
                                                (uint32_t)w->first + other});
    }
    wt__topk_sort(&top);
    for (size_t i = 0; i < top.len; i++)
        out[i] = best[i].row;
}

static int find_part_siblings(struct siblings *out, const struct mined_ranking *ranking, size_t first, size_t end,
                              struct analyser *analyser, wt_error *err)
{
    WT_CLEANUP(dispose_name_words) struct name_words words = {.first = first, .rows = end - first};
    WT_CLEANUP(wt__token_list_dispose) struct token_list tokens = {0};
    WT_CHECK_ALLOC(open_name_words(&words, words.rows), err);
    WT_TRY(read_name_words(&words, ranking->examples, analyser, &tokens, err));
    list_name_words(&words);
    for (size_t row = first; row < end; row++)
        if (ranking->used[row])
            find_tool_siblings(&words, ranking, (uint32_t)(row - first), out->rows + row * SIBLINGS_MOST);
    return 0;
}

int wt__siblings_find(struct siblings *out, const struct mined_ranking *ranking, wt_error *err)
{
    const struct examples *e = ranking->examples;
    struct analyser *analyser = NULL;
    size_t first = 0;
    int rc = 0;
    out->rows = wt__alloc_array(e->tools * SIBLINGS_MOST, sizeof *out->rows);
    WT_CHECK_ALLOC(out->rows, err);
    for (size_t i = 0; i < e->tools * SIBLINGS_MOST; i++)
        out->rows[i] = UINT32_MAX;
    WT_TRY(wt__analyser_open(&analyser, err));
    for (size_t part = 0; rc == 0 && part < e->part_count; part++) {
        rc = find_part_siblings(out, ranking, first, e->parts[part].tools, analyser, err);
        first = e->parts[part].tools;
    }
    wt__analyser_close(analyser);
    return rc;
}

void wt__siblings_dispose(struct siblings *siblings)
{
    free(siblings->rows);
    *siblings = (struct siblings){0};
}

size_t wt__siblings_bytes(const struct examples *examples)
{
    const struct name_words *w = NULL;
    size_t each = SIBLING_WORDS * (sizeof *w->entries + sizeof *w->lists) + sizeof *w->starts + sizeof *w->lengths +
                  sizeof *w->weights + sizeof *w->shared;
    size_t most = 0, first = 0;
    for (size_t part = 0; part < examples->part_count; part++) {
        size_t rows = examples->parts[part].tools - first;
        most = rows > most ? rows : most;
        first = examples->parts[part].tools;
    }
    return examples->tools * SIBLINGS_MOST * sizeof(uint32_t) + most * each +
           (size_t)SIBLING_WORDS * SIBLING_COMMON * sizeof *w->others;
}

size_t wt__siblings_wrong(const struct siblings *siblings, const struct mined_ranking *ranking, size_t request,
                          uint32_t row, uint32_t wrong[SIBLINGS_MOST])
{
    const uint32_t *rows = siblings->rows + (size_t)row * SIBLINGS_MOST;
    size_t count = 0;
    for (size_t i = 0; i < SIBLINGS_MOST && rows[i] != UINT32_MAX; i++)
        if (!wt__ranking_right(ranking, &ranking->examples->train, request, rows[i]))
            wrong[count++] = rows[i];
    return count;
}
