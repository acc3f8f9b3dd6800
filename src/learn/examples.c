/* examples.c: reads requests and tools from a store or a data set, and generates synthetic requests (examples.h). */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/sha256.h"
#include "base/sort.h"
#include "catalog/dataset.h"
#include "store/store.h"
#include "encoder/model_dir.h"
#include "learn/examples.h"
#include "retrieve/document.h"

/* ---------------------------------------------------------------- synthetic requests */

void wt__synthetic_part(struct str description, struct buffer *out)
{
    size_t begin = out->len;
    wt__document_head(description, out);
    size_t end = out->len;
    while (end > begin && out->ptr[end - 1] == '.')
        end--;
    wt__buffer_cut(out, end - begin < SYNTHETIC_LEAST ? begin : end);
}

/* Tools with a usable description, grouped by provider. */
struct described_tools {
    struct described_tool {
        int64_t provider;
        uint32_t row;
    } * tools; /* [count] sorted by provider, then by row */
    struct described_provider {
        size_t first, count; /* range of its tools in `tools` */
    } * providers;           /* [provider_count] */
    uint32_t *order;         /* [provider_count] indexes of the providers in random order */
    size_t count, provider_count;
};

static int compare_tools(const void *a, const void *b)
{
    const struct described_tool *x = a, *y = b;
    int order = (x->provider > y->provider) - (x->provider < y->provider);
    return order ? order : (x->row > y->row) - (x->row < y->row);
}

static void dispose_described(struct described_tools *d)
{
    free(d->tools);
    free(d->providers);
    free(d->order);
}

static int gather_descriptions(const struct synthetic *m, struct described_tools *d, struct rng *rng, wt_error *err)
{
    d->tools = wt__alloc_array(m->tools, sizeof *d->tools);
    d->providers = wt__alloc_array(m->tools, sizeof *d->providers);
    d->order = wt__alloc_array(m->tools, sizeof *d->order);
    WT_CHECK_ALLOC(d->tools && d->providers && d->order, err);
    for (size_t row = 0; row < m->tools; row++)
        if (m->parts[row].len > 0)
            d->tools[d->count++] = (struct described_tool){m->providers[row], (uint32_t)row};
    if (d->count > 0)
        qsort(d->tools, d->count, sizeof *d->tools, compare_tools);
    for (size_t i = 0; i < d->count; i++) {
        if (i == 0 || d->tools[i].provider != d->tools[i - 1].provider)
            d->providers[d->provider_count++].first = i;
        struct described_provider *provider = &d->providers[d->provider_count - 1];
        provider->count = i + 1 - provider->first;
    }
    if (d->provider_count > 0)
        wt__rng_draw(rng, d->order, d->provider_count, d->provider_count - 1);
    return 0;
}

/* Draws distinct tools of a provider and returns how many. Draws one or three tools with a probability of 1/4 each,
 * else two. Draws fewer if the provider has fewer tools. */
static size_t draw_synthetic_tools(const struct described_tools *d, const struct described_provider *provider,
                                   struct rng *rng, uint32_t rows[SYNTHETIC_TOOLS])
{
    static const size_t counts[] = {1, 2, 2, SYNTHETIC_TOOLS};
    size_t wanted = counts[wt__rng_below(rng, sizeof counts / sizeof *counts)], n = 0;
    if (wanted > provider->count)
        wanted = provider->count;
    while (n < wanted) {
        uint32_t row = d->tools[provider->first + wt__rng_below(rng, provider->count)].row;
        size_t i = 0;
        while (i < n && rows[i] != row)
            i++;
        if (i == n)
            rows[n++] = row;
    }
    return n;
}

int wt__synthetic_each(const struct synthetic *m, synthetic_visit visit, void *context, wt_error *err)
{
    WT_CLEANUP(dispose_described) struct described_tools d = {0};
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    struct rng rng;
    wt__rng_seed(&rng, m->seed);
    WT_TRY(gather_descriptions(m, &d, &rng, err));
    for (size_t i = 0; d.provider_count > 0 && i < m->wanted; i++) {
        uint32_t rows[SYNTHETIC_TOOLS];
        size_t count = draw_synthetic_tools(&d, &d.providers[d.order[i % d.provider_count]], &rng, rows);
        wt__buffer_clear(&text);
        for (size_t t = 0; t < count; t++) {
            wt__buffer_text(&text, t ? " Also, " : "");
            wt__buffer_str(&text, m->parts[rows[t]]);
            wt__buffer_char(&text, '.');
        }
        if (text.failed)
            return wt__fail_nomem(err);
        WT_TRY(visit(context, wt__buffer_view(&text), rows, count));
    }
    return 0;
}

/* ---------------------------------------------------------------- reading */

enum { PAGE = 4096 /* usages per read */ };

/* The training or dev requests while they are read. */
struct example_side {
    struct str *texts;
    size_t count, text_capacity;
    uint64_t *pairs; /* [pair_count] number of the request << 32 | row of its tool, in any order */
    size_t pair_count, pair_capacity;
    uint64_t *wrong; /* [wrong_count] the same for tools that are judged wrong */
    size_t wrong_count, wrong_capacity;
    struct map by_text; /* number of each request by its text */
};

struct example_reader {
    struct examples *out;
    struct buffer text;                                 /* scratch */
    size_t capacity[DOCUMENT_TEXTS + 1], pair_capacity; /* of out->texts, out->ids and out->pairs */
    unsigned document_fields;                           /* fields that the encoder reads */
    unsigned fields; /* fields of a cross-encoder's text; 0 if out->pairs is out->texts[0] */
    bool by_label;   /* true if requests refer to tools by label, as in a data set */
    struct map rows; /* row of each label, if by_label */
    struct example_side train, dev;
    size_t synthetic;  /* number of synthetic requests to generate; 0 to read requests */
    struct str *parts; /* [M] descriptions for synthetic requests (wt__synthetic_part) */
    size_t part_capacity, provider_capacity, name_capacity;
    uint64_t seed;
    struct train_progress *progress;
    wt_error *err;
};

static int keep_label(struct example_reader *r, struct str label, uint32_t row)
{
    if (label.len == 0)
        return 0;
    char *copy = wt__arena_copy(&r->out->arena, label);
    if (!copy || !wt__map_insert(&r->rows, (struct str){copy, label.len}, row, NULL))
        return wt__fail_nomem(r->err);
    return 0;
}

/* Registers both labels of a tool: its identifier in its source, and PROVIDER/NAME, which handmade data sets use. */
static int keep_labels(struct example_reader *r, const struct tool *tool, uint32_t row)
{
    WT_TRY(keep_label(r, tool->source_id, row));
    wt__buffer_clear(&r->text);
    if (tool->provider.len > 0) {
        wt__buffer_str(&r->text, tool->provider);
        wt__buffer_char(&r->text, '/');
    }
    wt__buffer_str(&r->text, tool->name);
    return r->text.failed ? wt__fail_nomem(r->err) : keep_label(r, wt__buffer_view(&r->text), row);
}

/* Stores the beginning of the tool's description in r->parts, and removes the description from the tool. */
static int separate_description(struct example_reader *r, struct tool *tool, size_t row)
{
    wt__buffer_clear(&r->text);
    wt__synthetic_part(tool->description, &r->text);
    char *part = r->text.failed ? NULL : wt__arena_copy(&r->out->arena, wt__buffer_view(&r->text));
    if (!part || wt__grow((void **)&r->parts, &r->part_capacity, row + 1, sizeof *r->parts) < 0)
        return wt__fail_nomem(r->err);
    r->parts[row] = (struct str){part, r->text.len};
    tool->description = (struct str){0};
    return 0;
}

static int keep_identity(struct example_reader *r, const struct store_key *key, const struct tool *tool, size_t row)
{
    struct examples *out = r->out;
    char *name = wt__arena_copy(&out->arena, tool->name);
    if (!name || wt__grow((void **)&out->ids, &r->capacity[DOCUMENT_TEXTS], row + 1, sizeof *out->ids) < 0 ||
        wt__grow((void **)&out->providers, &r->provider_capacity, row + 1, sizeof *out->providers) < 0 ||
        wt__grow((void **)&out->names, &r->name_capacity, row + 1, sizeof *out->names) < 0)
        return wt__fail_nomem(r->err);
    out->ids[row] = key->id;
    out->providers[row] = tool->provider.len > 0 ? key->provider : -1 - (int64_t)row;
    out->names[row] = (struct str){name, tool->name.len};
    return 0;
}

/* Copies r->text to entry out->tools of an array of texts, and empties r->text. */
static int keep_tool_text(struct example_reader *r, struct str **texts, size_t *capacity)
{
    struct examples *out = r->out;
    char *copy = r->text.failed ? NULL : wt__arena_copy(&out->arena, wt__buffer_view(&r->text));
    if (!copy || wt__grow((void **)texts, capacity, out->tools + 1, sizeof **texts) < 0)
        return wt__fail_nomem(r->err);
    (*texts)[out->tools] = (struct str){copy, r->text.len};
    wt__buffer_clear(&r->text);
    return 0;
}

static int read_example_tool(void *context, const struct store_key *key, const struct tool *whole)
{
    struct example_reader *r = context;
    struct examples *out = r->out;
    struct tool bare = *whole, *tool = &bare;
    size_t row = out->tools;
    if (r->synthetic)
        WT_TRY(separate_description(r, tool, row));
    WT_TRY(keep_identity(r, key, tool, row));
    wt__buffer_clear(&r->text);
    for (unsigned t = 0; t < DOCUMENT_TEXTS; t++) {
        wt__document_text(tool, r->document_fields, t, &r->text);
        WT_TRY(keep_tool_text(r, &out->texts[t], &r->capacity[t]));
    }
    if (r->fields) {
        wt__document_fields_text(tool, r->fields, &r->text);
        WT_TRY(keep_tool_text(r, &out->pairs, &r->pair_capacity));
    }
    out->tools++;
    return r->by_label ? keep_labels(r, tool, (uint32_t)row) : 0;
}

/* Finds a request by its text, or adds the request. *number: index of the request in side->texts. */
static int find_request(struct example_reader *r, struct example_side *side, struct str text, uint32_t *number)
{
    uint32_t *known = wt__map_get(&side->by_text, text);
    if (known) {
        *number = *known;
        return 0;
    }
    char *copy = wt__arena_copy(&r->out->arena, text);
    struct str kept = {copy, text.len};
    *number = (uint32_t)side->count;
    if (!copy || !wt__map_insert(&side->by_text, kept, *number, NULL) ||
        wt__grow((void **)&side->texts, &side->text_capacity, side->count + 1, sizeof *side->texts) < 0)
        return wt__fail_nomem(r->err);
    side->texts[side->count++] = kept;
    return 0;
}

/* Appends the pairs of a request with rows, [count]. */
static int add_pairs(struct example_reader *r, uint64_t **pairs, size_t *used, size_t *capacity, uint32_t number,
                     const uint32_t *rows, size_t count)
{
    if (*used + count > EXAMPLES_MAX)
        return wt__fail(r->err, WT_ETOOLONG, "%s has more than %d pairs of a request and a tool", r->out->source,
                        EXAMPLES_MAX);
    if (wt__grow((void **)pairs, capacity, *used + count, sizeof **pairs) < 0)
        return wt__fail_nomem(r->err);
    for (size_t i = 0; i < count; i++)
        (*pairs)[(*used)++] = (uint64_t)number << 32 | rows[i];
    return 0;
}

/* Adds one request with rows [count], at least one. */
static int add_request(struct example_reader *r, struct example_side *side, struct str text, const uint32_t *rows,
                       size_t count)
{
    uint32_t number;
    WT_TRY(find_request(r, side, text, &number));
    return add_pairs(r, &side->pairs, &side->pair_count, &side->pair_capacity, number, rows, count);
}

/* Writes the right tools of the set's next request from its sorted pairs, [count], and counts repeated ones. */
static void add_right_tools(struct example_set *set, const uint64_t *pairs, size_t count)
{
    size_t first = set->starts[set->count], kept = first;
    for (size_t i = 0; i < count; i++) {
        uint32_t row = (uint32_t)pairs[i];
        if (kept > first && set->tools[kept - 1] == row) {
            set->times[kept - 1]++;
            continue;
        }
        set->times[kept] = 1;
        set->tools[kept++] = row;
    }
    set->starts[set->count + 1] = kept;
}

/* Writes the wrong tools of the set's next request, after its right ones. A tool that is also right is not wrong. */
static void add_wrong_tools(struct example_set *set, const uint64_t *pairs, size_t count)
{
    size_t right = set->starts[set->count], right_count = set->starts[set->count + 1] - right;
    size_t first = set->wrong_starts[set->count], kept = first;
    for (size_t i = 0; i < count; i++) {
        uint32_t row = (uint32_t)pairs[i];
        size_t at = wt__lower_bound_u32(set->tools + right, right_count, row);
        bool is_right = at < right_count && set->tools[right + at] == row;
        if (!is_right && (kept == first || set->wrong[kept - 1] != row))
            set->wrong[kept++] = row;
    }
    set->wrong_starts[set->count + 1] = kept;
}

/* Converts a side, whose pairs are sorted, to a set. Its strings already live in the arena. left: [count] true for
 * requests to skip; NULL to skip none. */
static int finish_side(struct example_reader *r, const struct example_side *side, const bool *left,
                       struct example_set *out)
{
    out->texts = wt__alloc_array(side->count, sizeof *out->texts);
    out->times = wt__alloc_array(side->pair_count, sizeof *out->times);
    out->starts = wt__alloc_array(side->count + 1, sizeof *out->starts);
    out->tools = wt__alloc_array(side->pair_count, sizeof *out->tools);
    out->wrong_starts = wt__alloc_array(side->count + 1, sizeof *out->wrong_starts);
    out->wrong = wt__alloc_array(side->wrong_count, sizeof *out->wrong);
    if (!out->texts || !out->times || !out->starts || !out->tools || !out->wrong_starts || !out->wrong)
        return wt__fail_nomem(r->err);
    size_t at = 0, wrong_at = 0;
    out->starts[0] = out->wrong_starts[0] = 0;
    for (size_t i = 0; i < side->count; i++) {
        size_t first = at, first_wrong = wrong_at;
        while (at < side->pair_count && side->pairs[at] >> 32 == i)
            at++;
        while (wrong_at < side->wrong_count && side->wrong[wrong_at] >> 32 == i)
            wrong_at++;
        if (left && left[i])
            continue;
        add_right_tools(out, side->pairs + first, at - first);
        add_wrong_tools(out, side->wrong + first_wrong, wrong_at - first_wrong);
        out->texts[out->count++] = side->texts[i];
    }
    return 0;
}

/* Returns a hash of the seed and a request's text, by which divide_sides selects the dev requests. */
static uint64_t hash_request_side(const struct example_reader *r, struct str request)
{
    struct sha256 sha;
    unsigned char digest[32];
    uint64_t lot = 0;
    wt__sha256_begin(&sha);
    wt__sha256_update(&sha, &r->seed, sizeof r->seed);
    wt__sha256_update(&sha, request.ptr, request.len);
    wt__sha256_end(&sha, digest);
    for (unsigned i = 0; i < 8; i++)
        lot = lot << 8 | digest[i];
    return lot;
}

/* Divides the training side into dev and training requests. Requests whose hash is below a limit are dev. The limit
 * selects about one request in EXAMPLES_DEV_SHARE. If it selects fewer than a minimum, or more than half of the
 * requests, it is changed to select exactly the minimum: EXAMPLES_DEV_LEAST or a quarter of the requests, whichever is
 * less. */
static int divide_sides(struct example_reader *r)
{
    size_t count = r->train.count, chosen = 0;
    size_t least = count / 4 < EXAMPLES_DEV_LEAST ? count / 4 : EXAMPLES_DEV_LEAST;
    WT_AUTO_FREE uint64_t *lots = wt__alloc_array(count, sizeof *lots),
                          *sorted = wt__alloc_array(count, sizeof *sorted);
    WT_AUTO_FREE bool *dev = wt__alloc_array(count, sizeof *dev), *train = wt__alloc_array(count, sizeof *train);
    if (!(lots && sorted && dev && train))
        return wt__fail_nomem(r->err);
    uint64_t limit = UINT64_MAX / EXAMPLES_DEV_SHARE;
    for (size_t i = 0; i < count; i++) {
        lots[i] = sorted[i] = hash_request_side(r, r->train.texts[i]);
        chosen += lots[i] < limit;
    }
    wt__sort_u64(sorted, count);
    if (chosen < least || chosen > count / 2)
        limit = sorted[least];
    for (size_t i = 0; i < count; i++) {
        dev[i] = lots[i] < limit;
        train[i] = !dev[i];
    }
    WT_TRY(finish_side(r, &r->train, train, &r->out->dev));
    return finish_side(r, &r->train, dev, &r->out->train);
}

/* Converts both sides to sets. divided: take the dev requests from the training side. */
static int finish_examples(struct example_reader *r, bool divided)
{
    wt__sort_u64(r->train.pairs, r->train.pair_count);
    wt__sort_u64(r->dev.pairs, r->dev.pair_count);
    wt__sort_u64(r->train.wrong, r->train.wrong_count);
    wt__sort_u64(r->dev.wrong, r->dev.wrong_count);
    if (divided)
        return divide_sides(r);
    WT_TRY(finish_side(r, &r->train, NULL, &r->out->train));
    return finish_side(r, &r->dev, NULL, &r->out->dev);
}

/* ---------------------------------------------------------------- sources */

/* Adds a request of a data set with its right and its wrong tools. rows: scratch for its judgements. */
static int read_judged_request(struct example_reader *r, const struct query *query, struct example_side *side,
                               uint32_t *rows)
{
    size_t right = 0, end = query->judgement_count, wrong = end;
    uint32_t number;
    for (size_t j = 0; j < end; j++) {
        const uint32_t *row = wt__map_get(&r->rows, query->judgements[j].tool);
        bool relevant = query->judgements[j].gain > 0;
        r->out->unknown_labels += relevant && !row;
        if (row && relevant)
            rows[right++] = *row;
        else if (row)
            rows[--wrong] = *row;
    }
    r->out->barren += right == 0;
    if (right == 0)
        return 0;
    WT_TRY(find_request(r, side, query->text, &number));
    WT_TRY(add_pairs(r, &side->pairs, &side->pair_count, &side->pair_capacity, number, rows, right));
    return add_pairs(r, &side->wrong, &side->wrong_count, &side->wrong_capacity, number, rows + wrong, end - wrong);
}

static int read_split(struct example_reader *r, const char *dir, const char *split, struct example_side *side,
                      wt_error *err)
{
    WT_CLEANUP(wt__dataset_dispose) struct dataset dataset = {0};
    WT_AUTO_FREE uint32_t *rows = NULL;
    size_t capacity = 0;
    WT_TRY(wt__dataset_read(&dataset, dir, split, err));
    for (size_t q = 0; q < dataset.len; q++) {
        if (wt__grow((void **)&rows, &capacity, dataset.queries[q].judgement_count, sizeof *rows) < 0)
            return wt__fail_nomem(err);
        WT_TRY(read_judged_request(r, &dataset.queries[q], side, rows));
    }
    return 0;
}

static int read_data(struct example_reader *r, const char *dir, bool requests_optional)
{
    if (!requests_optional || wt__dataset_has_split(dir, "train"))
        WT_TRY(read_split(r, dir, "train", &r->train, r->err));
    if (wt__dataset_has_split(dir, "dev"))
        WT_TRY(read_split(r, dir, "dev", &r->dev, r->err));
    return 0;
}

/* Finds the row of a tool's id. Returns false if the examples lack the tool. */
static bool find_tool_row_by_id(const struct examples *examples, int64_t id, uint32_t *row)
{
    size_t at = wt__lower_bound_i64(examples->ids, examples->tools, id);
    *row = (uint32_t)at;
    return at < examples->tools && examples->ids[at] == id;
}

static int add_usage_example(struct example_reader *r, const struct usage *usage)
{
    uint32_t rows[WT_MAX_USAGE_TOOLS];
    size_t count = 0;
    for (size_t i = 0; i < usage->tool_count; i++) {
        if (usage->tools[i].tool && find_tool_row_by_id(r->out, usage->tools[i].tool, &rows[count]))
            count++;
        else
            r->out->unknown_labels++;
    }
    if (count == 0) {
        r->out->barren++;
        return 0;
    }
    return add_request(r, &r->train, usage->request, rows, count);
}

static int read_store_usages(struct example_reader *r, struct store *store)
{
    struct usage_query query = {.teaching = true, .limit = PAGE};
    uint64_t done = 0;
    for (size_t count = PAGE; count == PAGE;) {
        WT_CLEANUP(wt__arena_dispose) struct arena page = {0};
        struct usage *usages = NULL;
        int rc = wt__store_usages(store, &query, &page, &usages, &count, r->err);
        for (size_t i = 0; rc >= 0 && i < count; i++) {
            rc = add_usage_example(r, &usages[i]);
            query.after = usages[i].id;
        }
        if (rc < 0)
            return rc;
        done += count;
        if (r->progress && wt__train_progress_step(r->progress, done))
            return wt__fail_cancelled(r->err);
    }
    return 0;
}

static int add_synthetic_request(void *context, struct str text, const uint32_t *rows, size_t count)
{
    struct example_reader *r = context;
    return add_request(r, &r->train, text, rows, count);
}

static int read_synthetic_requests(struct example_reader *r)
{
    const struct synthetic synthetic = {.parts = r->parts,
                                        .providers = r->out->providers,
                                        .tools = r->out->tools,
                                        .wanted = r->synthetic,
                                        .seed = r->seed};
    return wt__synthetic_each(&synthetic, add_synthetic_request, r, r->err);
}

/* ---------------------------------------------------------------- all examples */

static void hash_set(struct sha256 *sha, const struct example_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        const uint32_t *times = set->times + set->starts[i];
        uint64_t head[3] = {set->texts[i].len, set->starts[i + 1] - set->starts[i], times[0]};
        bool even = true;
        wt__sha256_update(sha, head, sizeof head);
        wt__sha256_update(sha, set->texts[i].ptr, set->texts[i].len);
        wt__sha256_update(sha, set->tools + set->starts[i], head[1] * sizeof *set->tools);
        for (size_t l = 1; l < head[1]; l++)
            even &= times[l] == times[0];
        if (!even)
            wt__sha256_update(sha, times, head[1] * sizeof *times);
    }
    if (set->count > 0 && set->wrong_starts[set->count] > 0) {
        wt__sha256_update(sha, set->wrong_starts, (set->count + 1) * sizeof *set->wrong_starts);
        wt__sha256_update(sha, set->wrong, set->wrong_starts[set->count] * sizeof *set->wrong);
    }
}

void wt__examples_seal(struct examples *e)
{
    struct sha256 sha;
    unsigned char digest[32];
    wt__sha256_begin(&sha);
    for (size_t row = 0; row < e->tools; row++)
        for (unsigned t = 0; t < DOCUMENT_TEXTS; t++) {
            uint64_t len = e->texts[t][row].len;
            wt__sha256_update(&sha, &len, sizeof len);
            wt__sha256_update(&sha, e->texts[t][row].ptr, len);
        }
    hash_set(&sha, &e->train);
    hash_set(&sha, &e->dev);
    for (size_t p = 0; e->part_count > 1 && p < e->part_count; p++)
        wt__sha256_update(&sha, &e->parts[p], offsetof(struct example_part, joined));
    wt__sha256_end(&sha, digest);
    wt__sha256_hex(digest, e->hash);
}

static int check_examples(const struct examples *e, const struct examples_options *options, wt_error *err)
{
    if (e->tools == 0)
        return wt__fail(err, WT_EEMPTY, "the store %s has no tools to learn from", e->source);
    if (e->train.count > 0 || options->requests_optional)
        return 0;
    if (e->barren > 0)
        return wt__fail(err, WT_EEMPTY, "none of the %zu training requests of %s has a label in the catalogue",
                        e->barren, e->source);
    if (options->synthetic > 0)
        return wt__fail(err, WT_EEMPTY, "the %s are all shorter than %d bytes, too short for synthetic requests",
                        e->source, SYNTHETIC_LEAST);
    return wt__fail(err, WT_EEMPTY,
                    !options->data
                        ? "the store %s has no recorded use; record some with `whichtool usage add`, or name a data set"
                        : "%s has no training requests",
                    e->source);
}

static void dispose_example_side(struct example_side *side)
{
    free(side->texts);
    free(side->pairs);
    free(side->wrong);
    wt__map_dispose(&side->by_text);
}

static void dispose_example_reader(struct example_reader *r)
{
    wt__buffer_dispose(&r->text);
    wt__map_dispose(&r->rows);
    free(r->parts);
    dispose_example_side(&r->train);
    dispose_example_side(&r->dev);
}

static int read_all_examples(struct example_reader *r, wt_engine *engine, const struct examples_options *options)
{
    const char *data = options->data;
    pthread_mutex_lock(&engine->store_lock);
    int rc = wt__store_read_begin(engine->store, r->err);
    if (rc >= 0) {
        rc = wt__store_each(engine->store, 0, read_example_tool, r, r->err);
        if (rc >= 0 && !data && r->synthetic == 0 && r->out->tools > 0)
            rc = read_store_usages(r, engine->store);
        wt__store_read_end(engine->store);
    }
    pthread_mutex_unlock(&engine->store_lock);
    if (rc < 0)
        return rc;
    if (r->synthetic > 0)
        WT_TRY(read_synthetic_requests(r));
    else if (data && r->out->tools > 0)
        WT_TRY(read_data(r, data, options->requests_optional));
    return finish_examples(r, r->synthetic > 0 ? !options->no_dev : !data || !wt__dataset_has_split(data, "dev"));
}

static int fill_examples(struct examples *out, wt_engine *engine, const struct examples_options *options,
                         struct train_progress *progress, wt_error *err)
{
    WT_CLEANUP(dispose_example_reader)
    struct example_reader r = {.out = out,
                               .seed = options->seed,
                               .by_label = options->data && !options->synthetic,
                               .synthetic = options->synthetic,
                               .progress = progress,
                               .err = err};
    unsigned fields = options->fields ? options->fields : DOCUMENT_USUAL;
    r.document_fields = options->document_fields ? options->document_fields : DOCUMENT_USUAL;
    r.fields = fields == r.document_fields ? 0 : fields;
    wt__buffer_text(&r.text, options->synthetic ? "descriptions of " : "");
    wt__buffer_text(&r.text, options->data ? options->data : engine->path);
    out->source = r.text.failed ? NULL : wt__arena_copy(&out->arena, wt__buffer_view(&r.text));
    out->parts = wt__arena_array(&out->arena, struct example_part, 1);
    WT_CHECK_ALLOC(out->source && out->parts, err);
    if (progress && wt__train_progress_phase(progress, "reading", 0))
        return wt__fail_cancelled(err);
    WT_TRY(read_all_examples(&r, engine, options));
    WT_TRY(check_examples(out, options, err));
    out->part_count = 1;
    if (!r.fields)
        out->pairs = out->texts[0];
    *out->parts = (struct example_part){.tools = out->tools,
                                        .train = out->train.count,
                                        .dev = out->dev.count,
                                        .name = wt__arena_copy(&out->arena, wt__model_name(out->source))};
    WT_CHECK_ALLOC(out->parts->name, err);
    wt__examples_seal(out);
    return 0;
}

int wt__examples_read(struct examples *out, wt_engine *engine, const struct examples_options *options,
                      struct train_progress *progress, wt_error *err)
{
    *out = (struct examples){0};
    int rc = fill_examples(out, engine, options, progress, err);
    if (rc < 0)
        wt__examples_dispose(out);
    return rc;
}

void wt__example_set_dispose(struct example_set *set)
{
    free(set->texts);
    free(set->starts);
    free(set->tools);
    free(set->times);
    free(set->wrong_starts);
    free(set->wrong);
}

void wt__examples_dispose(struct examples *examples)
{
    wt__example_set_dispose(&examples->train);
    wt__example_set_dispose(&examples->dev);
    if (examples->pairs != examples->texts[0])
        free(examples->pairs);
    for (unsigned t = 0; t < DOCUMENT_TEXTS; t++)
        free(examples->texts[t]);
    free(examples->ids);
    free(examples->providers);
    free(examples->names);
    wt__arena_dispose(&examples->arena);
    *examples = (struct examples){0};
}

int wt__examples_notice(const struct examples *examples, struct arena *arena, const char **out, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    if (examples->unknown_labels)
        wt__buffer_printf(&text, "; %zu labels of unknown tools were dropped", examples->unknown_labels);
    if (examples->barren)
        wt__buffer_printf(&text, "; %zu requests without a known tool were dropped", examples->barren);
    if (examples->withheld)
        wt__buffer_printf(&text, "; %zu training requests that are dev in one of the sets were dropped",
                          examples->withheld);
    if (examples->dev.count == 0)
        wt__buffer_text(&text, "; too few requests for a dev set, so the figure was not measured");
    *out = NULL;
    if (text.len == 0 && !text.failed)
        return 0;
    char *copy = text.failed ? NULL : wt__arena_copy(arena, wt__buffer_view(&text));
    WT_CHECK_ALLOC(copy, err);
    *out = copy + strlen("; ");
    return 0;
}

int wt_training_data(wt_engine *engine, const char *data, uint64_t seed, char sha256[65], wt_error *err)
{
    struct examples examples;
    const struct examples_options options = {.data = data, .seed = seed ? seed : 1};
    WT_TRY(wt__examples_read(&examples, engine, &options, NULL, err));
    memcpy(sha256, examples.hash, sizeof examples.hash);
    wt__examples_dispose(&examples);
    return 0;
}
