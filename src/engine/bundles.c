/* bundles.c: a bundle's text is its tools' texts joined, of each the beginning, so that none crowds the others out of
 * what the encoder reads. */
#include "engine/bundles.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "nn/kernels/kernels.h"
#include "retrieve/document.h"

enum { TURN = 256 /* bundles whose texts are in memory at once */ };

/* ---------------------------------------------------------------- each set once */

/* What one request used; once merged, what `times` of them did. */
struct used {
    const uint32_t *rows; /* ascending, each once */
    size_t count, times, first;
};

static int compare_rows(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static int compare_sets(const struct used *a, const struct used *b)
{
    size_t common = a->count < b->count ? a->count : b->count;
    for (size_t i = 0; i < common; i++)
        if (a->rows[i] != b->rows[i])
            return a->rows[i] < b->rows[i] ? -1 : 1;
    return (a->count > b->count) - (a->count < b->count);
}

static int by_set(const void *a, const void *b)
{
    const struct used *x = a, *y = b;
    int order = compare_sets(x, y);
    return order ? order : (x->first > y->first) - (x->first < y->first);
}

static int by_use(const void *a, const void *b)
{
    const struct used *x = a, *y = b;
    if (x->times != y->times)
        return x->times > y->times ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

/* The sets of all requests, without tools that are gone: list [requests], rows with room for all labels. Returns how
 * many are not empty. */
static size_t read_sets(const struct shelf *shelf, struct used *list, uint32_t *rows)
{
    const struct neighbours *past = &shelf->labels->neighbours;
    size_t len = 0;
    for (size_t i = 0; i < past->count; i++) {
        size_t count = 0, kept = 0;
        for (uint32_t l = past->starts[i]; l < past->starts[i + 1]; l++)
            if (shelf->label_rows[past->labels[l]] != NEIGHBOURS_GONE)
                rows[count++] = shelf->label_rows[past->labels[l]];
        qsort(rows, count, sizeof *rows, compare_rows);
        for (size_t r = 0; r < count; r++)
            if (r == 0 || rows[r] != rows[kept - 1])
                rows[kept++] = rows[r];
        if (kept > 0)
            list[len++] = (struct used){rows, kept, 1, i};
        rows += kept;
    }
    return len;
}

static size_t merge_sets(struct used *list, size_t len)
{
    size_t kept = 0;
    qsort(list, len, sizeof *list, by_set);
    for (size_t i = 0; i < len; i++) {
        if (kept > 0 && compare_sets(&list[kept - 1], &list[i]) == 0)
            list[kept - 1].times++;
        else
            list[kept++] = list[i];
    }
    qsort(list, kept, sizeof *list, by_use);
    return kept;
}

static int keep_sets(struct bundles *out, const struct used *list, size_t len, wt_error *err)
{
    size_t rows = 0;
    out->count = len < BUNDLES_MOST ? len : BUNDLES_MOST;
    out->left_out = len - out->count;
    for (size_t i = 0; i < out->count; i++)
        rows += list[i].count;
    out->starts = wt__alloc_array(out->count + 1, sizeof *out->starts);
    out->rows = wt__alloc_array(rows, sizeof *out->rows);
    out->vectors = wt__alloc_array(out->count * out->dim, sizeof *out->vectors);
    if (!out->starts || !out->rows || !out->vectors)
        return wt__fail_nomem(err);
    out->starts[0] = 0;
    for (size_t i = 0; i < out->count; i++) {
        memcpy(out->rows + out->starts[i], list[i].rows, list[i].count * sizeof *list[i].rows);
        out->starts[i + 1] = out->starts[i] + (uint32_t)list[i].count;
    }
    return 0;
}

static int find_sets(struct bundles *out, const struct shelf *shelf, wt_error *err)
{
    const struct neighbours *past = &shelf->labels->neighbours;
    struct used *list = wt__alloc_array(past->count, sizeof *list);
    uint32_t *rows = wt__alloc_array(past->count ? past->starts[past->count] : 0, sizeof *rows);
    int rc = list && rows ? 0 : wt__fail_nomem(err);
    if (rc == 0)
        rc = keep_sets(out, list, merge_sets(list, read_sets(shelf, list, rows)), err);
    free(list);
    free(rows);
    return rc;
}

/* ---------------------------------------------------------------- their vectors */

/* "name: description+name: description", of tools [count]. */
static int write_text(const struct tool *tools, size_t count, struct arena *arena, struct str *out, wt_error *err)
{
    struct buffer text = {0};
    for (size_t i = 0; i < count; i++) {
        wt__buffer_text(&text, i ? "+" : "");
        wt__buffer_str(&text, tools[i].name);
        wt__buffer_text(&text, ": ");
        wt__buffer_str(&text, wt__document_head(tools[i].description));
    }
    const char *copy = text.failed ? NULL : wt__arena_copy(arena, wt__buffer_view(&text));
    *out = (struct str){copy, text.len};
    wt__buffer_dispose(&text);
    return copy ? 0 : wt__fail_nomem(err);
}

/* Bundles first to first + count, at most TURN. */
static int encode_turn(struct bundles *out, wt_engine *engine, const struct shelf *shelf, size_t first, size_t count,
                       struct arena *arena, wt_error *err)
{
    const uint32_t *rows = out->rows + out->starts[first];
    size_t len = out->starts[first + count] - out->starts[first];
    int64_t *ids = wt__arena_array(arena, int64_t, len);
    struct tool *tools = wt__arena_array(arena, struct tool, len);
    struct str texts[TURN];
    if (!ids || !tools)
        return wt__fail_nomem(err);
    for (size_t i = 0; i < len; i++)
        ids[i] = shelf->snapshot->keys[rows[i]].id;
    pthread_mutex_lock(&engine->store_lock);
    int rc = wt__store_get(engine->store, ids, len, arena, tools, err);
    pthread_mutex_unlock(&engine->store_lock);
    rc = rc < 0 ? rc : 0;
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = write_text(tools + out->starts[first + i] - out->starts[first],
                        out->starts[first + i + 1] - out->starts[first + i], arena, &texts[i], err);
    return rc < 0 ? rc
                  : wt__encode_many(shelf->labels->encoder, texts, count, engine->threads,
                                    out->vectors + first * out->dim, NULL, err);
}

static int make(struct bundles **out, wt_engine *engine, const struct shelf *shelf, wt_error *err)
{
    struct bundles *bundles = calloc(1, sizeof *bundles);
    struct arena arena = {0};
    if (!bundles)
        return wt__fail_nomem(err);
    bundles->dim = wt__encoder_dim(shelf->labels->encoder);
    int rc = find_sets(bundles, shelf, err);
    for (size_t i = 0; rc == 0 && i < bundles->count; i += TURN) {
        size_t left = bundles->count - i;
        rc = encode_turn(bundles, engine, shelf, i, left < TURN ? left : TURN, &arena, err);
        wt__arena_reset(&arena);
    }
    wt__arena_dispose(&arena);
    if (rc == 0)
        *out = bundles;
    else
        wt__bundles_free(bundles);
    return rc;
}

int wt__bundles_of(wt_engine *engine, struct shelf *shelf, const struct bundles **out, wt_error *err)
{
    int rc = 0;
    pthread_mutex_lock(&engine->lazy_lock);
    if (!shelf->bundles)
        rc = make(&shelf->bundles, engine, shelf, err);
    *out = shelf->bundles;
    pthread_mutex_unlock(&engine->lazy_lock);
    return rc;
}

void wt__bundles_free(struct bundles *bundles)
{
    if (!bundles)
        return;
    free(bundles->starts);
    free(bundles->rows);
    free(bundles->vectors);
    free(bundles);
}

size_t wt__bundles_nearest(const struct bundles *bundles, const float *query, const uint64_t *allowed, float *scores)
{
    size_t best = bundles->count;
    wt__kernels()->dots_f32(query, bundles->vectors, bundles->count, bundles->dim, scores);
    for (size_t i = 0; i < bundles->count; i++) {
        bool open = false;
        if (best < bundles->count && !(scores[i] > scores[best]))
            continue;
        for (uint32_t r = bundles->starts[i]; r < bundles->starts[i + 1] && !open; r++)
            open = wt__row_allowed(allowed, bundles->rows[r]);
        best = open ? i : best;
    }
    return best;
}
