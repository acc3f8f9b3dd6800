/* past_requests.c: past requests of a trained model, and the two sources of evidence from past usage.
 *
 * Neighbours are found by an exact scan: a store has at most tens of thousands of usages, which take some
 * milliseconds. */
#include "retrieve/past_requests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "index/lexical.h"
#include "nn/kernels/kernels.h"
#include "nn/safetensors.h"
#include "retrieve/source.h"

static int compare_hashes(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return (x[0] > y[0]) - (x[0] < y[0]);
}

/* Fills label_hashes, the sorted hashes of the tool ids, and label_of_hash, the label of each hash. */
static int hash_labels(struct past_requests *past, const json_t *tools, wt_error *err)
{
    size_t count = past->label_count = json_array_size(tools);
    WT_AUTO_FREE uint32_t(*pairs)[2] = wt__alloc_array(count, sizeof *pairs);
    past->label_hashes = wt__alloc_array(count, sizeof(uint32_t));
    past->label_of_hash = wt__alloc_array(count, sizeof(uint32_t));
    WT_CHECK_ALLOC(pairs && past->label_hashes && past->label_of_hash, err);
    for (size_t i = 0; i < count; i++) {
        struct str id = {json_string_value(json_array_get(tools, i)), json_string_length(json_array_get(tools, i))};
        pairs[i][0] = wt__snapshot_id_hash(id);
        pairs[i][1] = (uint32_t)i;
    }
    qsort(pairs, count, sizeof *pairs, compare_hashes);
    for (size_t i = 0; i < count; i++) {
        past->label_hashes[i] = pairs[i][0];
        past->label_of_hash[i] = pairs[i][1];
    }
    return 0;
}

/* Reads a tensor of integers from 0 to `most`, which must not descend if `ascending`. False if the tensor is
 * invalid. */
static bool read_numbers(const struct tensor *tensor, size_t count, bool ascending, size_t most, uint32_t *out)
{
    if (!tensor || tensor->dtype != DTYPE_F32 || tensor->count != count)
        return false;
    for (size_t i = 0; i < count; i++) {
        float value;
        memcpy(&value, tensor->data + i * sizeof value, sizeof value);
        if (!(value >= 0 && value <= (float)most) || value != floorf(value))
            return false;
        out[i] = (uint32_t)value;
        if (ascending && i > 0 && out[i] < out[i - 1])
            return false;
    }
    return true;
}

static bool are_vectors(const struct tensor *tensor, const struct encoder *encoder)
{
    return tensor && tensor->dtype == DTYPE_F32 && tensor->rank == 2 && tensor->shape[1] == wt__encoder_dim(encoder) &&
           tensor->shape[0] <= PAST_MAX_REQUESTS && (uintptr_t)tensor->data % _Alignof(float) == 0;
}

static int read_trained(struct past_requests *past, const struct safetensors *file, const char *path,
                        const struct encoder *encoder, wt_error *err)
{
    const struct tensor *requests = wt__safetensors_find(file, PAST_REQUESTS),
                        *starts = wt__safetensors_find(file, PAST_STARTS),
                        *labels = wt__safetensors_find(file, PAST_LABELS);
    if (!are_vectors(requests, encoder) || !starts || !labels || labels->count >= 1 << 24)
        return wt__fail(err, WT_EMODEL, "%s: needs tensors requests, starts and labels that fit together", path);
    size_t count = requests->shape[0];
    uint32_t *numbers = past->numbers = wt__alloc_array(count + 1 + labels->count, sizeof *numbers);
    WT_CHECK_ALLOC(numbers, err);
    if (past->label_count == 0 || !read_numbers(starts, count + 1, true, labels->count, numbers) ||
        !read_numbers(labels, labels->count, false, past->label_count - 1, numbers + count + 1))
        return wt__fail(err, WT_EMODEL, "%s: starts and labels do not fit the requests and tools", path);
    struct neighbours *n = &past->trained;
    *n = (struct neighbours){.count = count,
                             .dim = requests->shape[1],
                             .requests = (const float *)(const void *)requests->data,
                             .starts = numbers,
                             .labels = numbers + count + 1};
    for (size_t i = 0; i < count; i++)
        if (n->starts[i + 1] - n->starts[i] > n->most_labels)
            n->most_labels = n->starts[i + 1] - n->starts[i];
    return 0;
}

static int read_untrained(struct past_requests *past, const json_t *config, const struct safetensors *file,
                          const char *path, wt_error *err)
{
    const struct tensor *requests = wt__safetensors_find(file, PAST_UNTRAINED);
    struct str hash = wt__json_str(config, PAST_UNTRAINED);
    if (!requests || hash.len >= sizeof past->untrained_hash)
        return 0;
    if (requests->dtype != DTYPE_F32 || requests->rank != 2 || requests->shape[0] != past->trained.count)
        return wt__fail(err, WT_EMODEL, "%s: the tensor untrained does not fit the requests", path);
    memcpy(past->untrained_hash, hash.ptr, hash.len);
    past->untrained = past->trained;
    past->untrained.dim = requests->shape[1];
    past->untrained.requests = (const float *)(const void *)requests->data;
    return 0;
}

static int read_ridge(struct past_requests *past, const struct safetensors *file, const char *path, wt_error *err)
{
    const struct tensor *ridge = wt__safetensors_find(file, PAST_RIDGE);
    if (!ridge)
        return 0;
    if (ridge->dtype != DTYPE_F32 || ridge->rank != 2 || ridge->shape[0] != past->label_count ||
        ridge->shape[1] != past->trained.dim + 1 || (uintptr_t)ridge->data % _Alignof(float) != 0)
        return wt__fail(err, WT_EMODEL, "%s: the tensor ridge does not fit the requests and tools", path);
    past->trained.ridge = (const float *)(const void *)ridge->data;
    return 0;
}

struct neighbours wt__past_requests_by(const struct past_requests *past, const struct encoder *encoder)
{
    bool same = strcmp(past->untrained_hash, wt__encoder_hash(encoder)) == 0;
    return same && past->untrained.dim == wt__encoder_dim(encoder) ? past->untrained : (struct neighbours){0};
}

int wt__past_requests_open(struct past_requests *out, const char *path, const json_t *config,
                           const struct encoder *encoder, wt_error *err)
{
    WT_CLEANUP(wt__safetensors_dispose) struct safetensors file = {0};
    *out = (struct past_requests){0};
    WT_TRY(hash_labels(out, wt__json_array(config, "tools"), err));
    WT_TRY(wt__file_map(&out->file, path, err));
    WT_TRY(wt__safetensors_open(&file, path, out->file.ptr, out->file.len, err));
    WT_TRY(read_trained(out, &file, path, encoder, err));
    WT_TRY(read_untrained(out, config, &file, path, err));
    return read_ridge(out, &file, path, err);
}

void wt__past_requests_dispose(struct past_requests *past)
{
    free(past->numbers);
    free(past->label_hashes);
    free(past->label_of_hash);
    wt__file_unmap(&past->file);
    *past = (struct past_requests){0};
}

void wt__past_requests_rows(const struct past_requests *past, const struct snapshot_key *keys, size_t count,
                            uint32_t *rows, uint32_t *label_of)
{
    for (size_t i = 0; i < past->label_count; i++)
        rows[i] = NEIGHBOURS_GONE;
    for (size_t row = 0; row < count; row++) {
        label_of[row] = NEIGHBOURS_GONE;
        size_t at = wt__lower_bound_u32(past->label_hashes, past->label_count, keys[row].id_hash);
        if (at < past->label_count && past->label_hashes[at] == keys[row].id_hash) {
            label_of[row] = past->label_of_hash[at];
            rows[label_of[row]] = (uint32_t)row;
        }
    }
}

static const float SHARPNESS = 20; /* factor of the cosine difference in a vote; also used to train the encoder */

size_t wt__neighbours_nearest(const struct neighbours *n, const float *query, size_t k, float *scores,
                              struct scored *best)
{
    struct topk top = {.items = best, .k = k};
    wt__kernels()->dots_f32(query, n->requests, n->count, n->dim, scores);
    for (uint32_t i = 0; i < n->count; i++)
        if (!n->left_out || !(n->left_out[i / 64] >> i % 64 & 1))
            wt__topk_push(&top, (struct scored){scores[i], i});
    wt__topk_sort(&top);
    return top.len;
}

/* True if all requests with the label are left out. */
static bool is_label_left_out(const struct neighbours *n, uint32_t label)
{
    for (size_t i = 0; i < n->count; i++)
        for (uint32_t l = n->starts[i]; l < n->starts[i + 1]; l++)
            if (n->labels[l] == label && !(n->left_out[i / 64] >> i % 64 & 1))
                return false;
    return true;
}

float wt__neighbours_ridge(const struct neighbours *n, const float *query, uint32_t row)
{
    uint32_t label = n->ridge ? n->label_of[row] : NEIGHBOURS_GONE;
    float found = 0;
    if (label == NEIGHBOURS_GONE || (n->left_out && is_label_left_out(n, label)))
        return 0;
    const float *weights = n->ridge + label * (n->dim + 1);
    wt__kernels()->dots_f32(query, weights, 1, n->dim, &found);
    return found + weights[n->dim];
}

static int compare_scored_rows(const void *a, const void *b)
{
    uint32_t x = ((const struct scored *)a)->row, y = ((const struct scored *)b)->row;
    return (x > y) - (x < y);
}

float wt__neighbours_weight(float cosine, float nearest)
{
    return expf(SHARPNESS * (cosine - nearest));
}

struct neighbour_votes wt__neighbours_vote(const struct neighbours *n, const float *query, const uint64_t *allowed,
                                           float *scores, struct scored *items, struct scored *requests)
{
    size_t len = wt__neighbours_nearest(n, query, NEIGHBOURS_ASKED, scores, requests), count = 0, kept = 0;
    float all = 0;
    for (size_t i = 0; i < len; i++)
        all += wt__neighbours_weight(requests[i].score, requests[0].score);
    for (size_t i = 0; i < len; i++) {
        float weight = wt__neighbours_weight(requests[i].score, requests[0].score) / all;
        for (uint32_t l = n->starts[requests[i].row]; l < n->starts[requests[i].row + 1]; l++) {
            uint32_t row = n->rows[n->labels[l]];
            if (row != NEIGHBOURS_GONE && wt__row_allowed(allowed, row))
                items[count++] = (struct scored){weight, row};
        }
    }
    qsort(items, count, sizeof *items, compare_scored_rows);
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && items[kept - 1].row == items[i].row)
            items[kept - 1].score += items[i].score;
        else
            items[kept++] = items[i];
    }
    return (struct neighbour_votes){items, kept, requests, len};
}

/* Fills the ranking of the whole request with rows [count]. */
static int rank_listed_rows(struct source_query *query, enum source_id source, const struct scored *rows, size_t count,
                            wt_error *err)
{
    struct ranking *ranking = wt__ranking(query, 0, source);
    ranking->top = wt__arena_array(&query->workspace->arena, struct scored, count);
    WT_CHECK_ALLOC(ranking->top, err);
    ranking->len = count;
    if (count > 0)
        memcpy(ranking->top, rows, count * sizeof *rows);
    wt__scored_sort(ranking->top, count);
    ranking->best = count ? ranking->top[0].score : 0;
    return 0;
}

/* Scores the candidates that are among rows [count], which ascend. */
static void score_listed_rows(struct source_query *query, enum source_id source, const struct scored *rows,
                              size_t count)
{
    float *scores = wt__ranking(query, 0, source)->scores;
    size_t r = 0;
    for (size_t c = 0; c < query->count; c++) { /* candidates ascend, too */
        while (r < count && rows[r].row < query->rows[c])
            r++;
        scores[c] = r < count && rows[r].row == query->rows[c] ? rows[r].score : 0;
    }
}

static bool has_neighbours(const struct view *view)
{
    return view->neighbours != NULL;
}

static int collect_votes(struct source_query *query, struct neighbour_votes *out, wt_error *err)
{
    const struct neighbours *n = query->view->neighbours;
    struct arena *arena = &query->workspace->arena;
    float *scores = wt__arena_array(arena, float, n->count);
    struct scored *items = wt__arena_array(arena, struct scored, NEIGHBOURS_ASKED * n->most_labels);
    struct scored *requests = wt__arena_array(arena, struct scored, NEIGHBOURS_ASKED);
    WT_CHECK_ALLOC(scores && items && requests, err);
    *out = wt__neighbours_vote(n, query->workspace->texts[0].vector, query->request->allowed, scores, items, requests);
    return 0;
}

/* Searches past requests for the whole request only, because past requests were stored whole. */
static int search_neighbours(struct source_query *query, wt_error *err)
{
    struct neighbour_votes *votes = &query->out->votes;
    *votes = query->request->votes;
    if (!votes->items)
        WT_TRY(collect_votes(query, votes, err));
    return rank_listed_rows(query, SOURCE_NEIGHBOURS, votes->items, votes->len, err);
}

static int score_neighbour_rows(struct source_query *query, wt_error *err)
{
    (void)err;
    score_listed_rows(query, SOURCE_NEIGHBOURS, query->out->votes.items, query->out->votes.len);
    return 0;
}

static void fill_neighbour_features(const struct source_query *query, size_t c, float *out)
{
    out[FEATURE_NEIGHBOUR_VOTES] = wt__ranking(query, 0, SOURCE_NEIGHBOURS)->scores[c];
}

const struct source wt__source_neighbours = {{"neighbours", "neighbours", has_neighbours, search_neighbours,
                                              score_neighbour_rows, NULL, fill_neighbour_features},
                                             .needs_vectors = true,
                                             .tried = {0.5f, 0, 0.25f, 1, 2},
                                             .tried_count = 5};

/* The source "usage": tools that were used for exactly this request, according to the current store. A new usage
 * counts at once, without training. Training does not tune the weight, which is a share of the sum of all other
 * weights (RECORDED_SHARE). */

static bool has_recorded(const struct view *view)
{
    return view->recorded_count > 0;
}

/* Scores the whole request only, because usages are recorded for whole requests. */
static int search_recorded(struct source_query *query, wt_error *err)
{
    return rank_listed_rows(query, SOURCE_RECORDED, query->view->recorded, query->view->recorded_count, err);
}

static int score_recorded_rows(struct source_query *query, wt_error *err)
{
    (void)err;
    score_listed_rows(query, SOURCE_RECORDED, query->view->recorded, query->view->recorded_count);
    return 0;
}

const struct source wt__source_recorded = {
    {"usage", NULL, has_recorded, search_recorded, score_recorded_rows, NULL, NULL},
    .is_preset = true,
    .is_sparse = true};
