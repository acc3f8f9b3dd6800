/* scorer_lists.c: writes the lists of candidates from which the learned scorer is trained.
 *
 *   scorer_lists STORE SET SPLIT OUT [--model NAME|--no-model] [--none FILE] [--keep N]
 *                [--kind NAME] [--limit N] [--other] [--foreign]
 *
 * STORE has the tools of SET, a folder in BEIR layout, with vectors of the model. Beside the requests of the split,
 * there are lists for
 *
 *   joined  two or three requests joined by a conjunction, a fifth as many as requests
 *   gone    requests whose tools are left out of the search, a sixth as many
 *   small   requests searched only among the tools of their provider, a sixth as many
 *   apart   requests searched only among the tools of another provider, a sixth as many
 *   none    requests of FILE (queries.jsonl) that no tool serves; a tenth of them are dev
 *
 * The kind of a request is the end of its id, or NAME. Requests of the kind "foreign" are skipped without --foreign.
 * --other: cosines as for encoders without a network of their own. --limit draws about N requests. With --keep, a list
 * of more than N candidates keeps the needed ones, the best by words and meaning, and random others. Draws are seeded by
 * the name of the split, so a second run writes the same file. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/json.h"
#include "base/rng.h"
#include "bench/support.h"
#include "catalog/dataset.h"
#include "engine/engine.h"
#include "retrieve/document.h"
#include "retrieve/retrieve.h"
#include "retrieve/scorer.h"
#include "store/store.h"
#include "tools/scorer_lists.h"

enum { NEEDED_MAX = 32, JOINED_IN = 5, GONE_IN = 6, DEV_IN = 10, JOINS_MAX = 3, LINE_BYTES = 1 << 20 };

struct lists {
    wt_engine *engine;
    const struct encoder *encoder; /* NULL without a model */
    struct index_handle *index;
    struct workspace *workspace;
    struct dataset data;
    struct rng rng;
    FILE *out;
    size_t keep, inputs, limit; /* maximum candidates of a list; inputs of a network; requests to draw */
    bool other, foreign;        /* options */
    const char *kind;           /* kind of all requests; NULL: the end of each id */
    struct lists_header header;
    uint64_t *allowed; /* bitmap of rows */
    uint8_t *labels;
};

/* A request and the rows of its tools. */
struct labelled {
    struct str text;
    uint32_t rows[NEEDED_MAX];
    size_t count;
    bool gone;                     /* the tools are left out of the search */
    const struct labelled *within; /* only tools of the provider of this request are searched; NULL: of all */
    char kind[sizeof((struct list_header){0}.kind)];
};

static void open_store_and_set(struct lists *l, char **argv, const char *model)
{
    wt_open_options options;
    wt_error err;
    wt_open_options_init(&options);
    options.model = model;
    if (wt_open(&l->engine, argv[1], &options, &err) < 0 || wt__dataset_read(&l->data, argv[2], argv[3], &err) < 0)
        exit_with_wt_error(&err);
    struct index_set set = {.kind = wt__document_kind};
    if (!model || *model) {
        if (wt__engine_encoder(l->engine, &l->encoder, &err) < 0)
            exit_with_wt_error(&err);
        set.model = wt__encoder_hash(l->encoder);
    }
    if (wt__engine_index(l->engine, NULL, l->encoder ? &set : NULL, NULL, &l->index, &err) < 0 ||
        wt__workspace_open(&l->workspace, &err) < 0)
        exit_with_wt_error(&err);
    l->allowed = malloc((l->index->snapshot->rows / 64 + 1) * sizeof *l->allowed);
    l->labels = malloc(l->index->snapshot->rows);
    if (!l->allowed || !l->labels)
        exit_with_message("out of memory");
}

/* Reads the rows of the needed tools, with their exact copies. Returns false if none is in the index. */
static bool label_request(struct lists *l, const struct query *query, struct labelled *out)
{
    const struct snapshot *snapshot = l->index->snapshot;
    const char *dash = memrchr(query->id.ptr, '-', query->id.len);
    size_t len = dash ? (size_t)(query->id.ptr + query->id.len - dash - 1) : 0;
    *out = (struct labelled){.text = query->text};
    if (l->kind)
        snprintf(out->kind, sizeof out->kind, "%s", l->kind);
    else
        snprintf(out->kind, sizeof out->kind, "%.*s", (int)len, dash ? dash + 1 : "");
    for (size_t j = 0; j < query->judgement_count && out->count < NEEDED_MAX; j++) {
        int64_t id;
        wt_error err;
        if (query->judgements[j].gain <= 0 ||
            wt__store_find_source_id(l->engine->store, query->judgements[j].tool, &id, 1, &err) != 1)
            continue;
        size_t row = wt__snapshot_row(snapshot, id);
        if (row < snapshot->rows)
            out->rows[out->count++] = (uint32_t)row;
    }
    return out->count > 0;
}

static bool is_needed(const struct lists *l, const struct labelled *request, uint32_t row)
{
    const struct snapshot_key *keys = l->index->snapshot->keys, *key = &keys[row];
    for (size_t i = 0; i < request->count; i++) {
        const struct snapshot_key *needed = &keys[request->rows[i]];
        if (request->rows[i] == row || (key->group > 0 && key->group == needed->group && wt__are_copies(key, needed)))
            return true;
    }
    return false;
}

static void allow_others(const struct lists *l, const struct labelled *request)
{
    const uint32_t rows = l->index->snapshot->rows;
    memset(l->allowed, 0xff, (rows / 64 + 1) * sizeof *l->allowed);
    for (uint32_t row = 0; row < rows; row++)
        if (is_needed(l, request, row))
            l->allowed[row / 64] &= ~(UINT64_C(1) << row % 64);
}

/* Allows the tools of the provider of `within`, except those that the request needs if they are left out. */
static void allow_provider(const struct lists *l, const struct labelled *request)
{
    const struct snapshot *snapshot = l->index->snapshot;
    uint32_t provider = snapshot->keys[request->within->rows[0]].provider;
    memset(l->allowed, 0, (snapshot->rows / 64 + 1) * sizeof *l->allowed);
    for (uint32_t row = 0; row < snapshot->rows; row++)
        if (snapshot->keys[row].provider == provider && !(request->gone && is_needed(l, request, row)))
            l->allowed[row / 64] |= UINT64_C(1) << row % 64;
}

static size_t find_feature(const char *name)
{
    size_t f = 0;
    while (strcmp(wt__scorer_table.features[f].name, name) != 0)
        if (++f == wt__scorer_table.count)
            exit_with_message("a feature is missing");
    return f;
}

/* Returns the value by which candidates are kept: how close they are to the best by words and by meaning. */
static float rank_value(const struct lists *l, const struct candidate_list *list, size_t c)
{
    size_t words = find_feature("words_share"), meaning = find_feature("cosine_gap");
    float sum = 0;
    for (size_t t = 0; t < list->texts; t++)
        sum += list->inputs[(t * l->inputs + words) * list->count + c] +
               list->inputs[(t * l->inputs + meaning) * list->count + c];
    return sum;
}

/* Writes the kept candidates to which, [count], ascending. Returns their number. */
static size_t keep_candidates(struct lists *l, const struct candidate_list *list, uint32_t *which)
{
    size_t kept = 0, best = l->keep * 2 / 3;
    float *values = malloc((list->count + 1) * sizeof *values), bound = -INFINITY;
    float *sorted = malloc((list->count + 1) * sizeof *sorted);
    if (!values || !sorted)
        exit_with_message("out of memory");
    for (size_t c = 0; c < list->count; c++)
        sorted[c] = values[c] = rank_value(l, list, c);
    qsort(sorted, list->count, sizeof *sorted, compare_floats);
    if (list->count > l->keep)
        bound = sorted[list->count - best];
    double share = list->count > l->keep ? (double)(l->keep - best) / (double)(list->count - best) : 1;
    for (size_t c = 0; c < list->count; c++) {
        double drawn = wt__rng_unit(&l->rng);
        if (l->labels[c] || values[c] >= bound || drawn < share)
            which[kept++] = (uint32_t)c;
    }
    free(values);
    free(sorted);
    return kept;
}

static void write_bytes(struct lists *l, const void *bytes, size_t len)
{
    if (fwrite(bytes, 1, len, l->out) != len)
        exit_with_message("cannot write the lists");
}

static void write_kept(struct lists *l, const struct candidate_list *list, const struct labelled *request)
{
    static const char zeros[4];
    uint32_t *which = malloc((list->count + 1) * sizeof *which);
    float *row = malloc(l->inputs * sizeof *row);
    if (!which || !row)
        exit_with_message("out of memory");
    size_t kept = keep_candidates(l, list, which);
    struct list_header header = {(uint32_t)list->texts, (uint32_t)kept, (uint32_t)request->count, ""};
    memcpy(header.kind, request->kind, sizeof header.kind);
    write_bytes(l, &header, sizeof header);
    for (size_t i = 0; i < kept; i++)
        write_bytes(l, &l->labels[which[i]], 1);
    write_bytes(l, zeros, (4 - kept % 4) % 4);
    for (size_t t = 0; t < list->texts; t++)
        for (size_t i = 0; i < kept; i++) {
            for (size_t f = 0; f < l->inputs; f++)
                row[f] = list->inputs[(t * l->inputs + f) * list->count + which[i]];
            write_bytes(l, row, l->inputs * sizeof *row);
        }
    l->header.lists++;
    free(which);
    free(row);
}

/* True for turns of a conversation, which are searched without a split into sub-queries (query/conversation.c). */
static bool is_followup(const struct labelled *request)
{
    return strcmp(request->kind, "followup") == 0;
}

static void write_list(struct lists *l, const struct labelled *labelled)
{
    struct view view = {.snapshot = l->index->snapshot, .encoder = l->encoder};
    struct retrieve_request request = {.text = labelled->text, .k = 10, .whole = is_followup(labelled)};
    struct candidate_list list;
    wt_error err;
    if (l->encoder)
        view.vectors = wt__snapshot_vectors(view.snapshot, wt__encoder_hash(l->encoder), wt__document_kind);
    if (labelled->within)
        allow_provider(l, labelled);
    else if (labelled->gone)
        allow_others(l, labelled);
    if (labelled->within || labelled->gone)
        request.allowed = l->allowed;
    if (wt__retrieve_candidates(&view, &request, &wt__scorer_table, l->other, l->workspace, &list, &err) < 0)
        exit_with_wt_error(&err);
    if (list.count == 0)
        return;
    for (size_t c = 0; c < list.count; c++)
        l->labels[c] = !labelled->gone && is_needed(l, labelled, list.rows[c]);
    write_kept(l, &list, labelled);
}

/* Writes a list for requests joined by a conjunction. More than half join requests of one provider. */
static void write_joined(struct lists *l, const struct labelled *requests, size_t count)
{
    static const char *const joints[] = {". ", " and ", ", then ", ". Also ", ", and ", " and then ", "; "};
    const struct snapshot_key *keys = l->index->snapshot->keys;
    size_t wanted = wt__rng_unit(&l->rng) < .7 ? 2 : JOINS_MAX, first = wt__rng_below(&l->rng, count), joined = 1;
    bool same = wt__rng_unit(&l->rng) < .6;
    struct buffer text = {0};
    struct labelled out = requests[first];
    wt__buffer_printf(&text, "%.*s", (int)out.text.len, out.text.ptr);
    for (size_t tries = 0; joined < wanted && tries < 2000; tries++) {
        const struct labelled *other = &requests[wt__rng_below(&l->rng, count)];
        if (is_needed(l, &out, other->rows[0]) || other->count + out.count > NEEDED_MAX || is_followup(other) ||
            (same && tries < 1500 && keys[other->rows[0]].provider != keys[out.rows[0]].provider))
            continue;
        if (text.len > 0 && text.ptr[text.len - 1] == '.')
            wt__buffer_cut(&text, text.len - 1);
        wt__buffer_printf(&text, "%s%.*s", joints[wt__rng_below(&l->rng, sizeof joints / sizeof *joints)],
                          (int)other->text.len, other->text.ptr);
        memcpy(out.rows + out.count, other->rows, other->count * sizeof *other->rows);
        out.count += other->count;
        joined++;
    }
    out.text = wt__buffer_view(&text);
    snprintf(out.kind, sizeof out.kind, "joined");
    if (joined > 1 && !is_followup(&requests[first]))
        write_list(l, &out);
    wt__buffer_dispose(&text);
}

/* Writes lists for the requests of a file that no tool serves. */
static void write_unserved(struct lists *l, const char *path, bool dev)
{
    static char line[LINE_BYTES];
    FILE *file = fopen(path, "r");
    if (!file)
        exit_with_message("cannot open the file of unserved requests");
    while (fgets(line, sizeof line, file)) {
        json_auto_t *row = json_loads(line, 0, NULL);
        const char *text = json_string_value(json_object_get(row, "text"));
        struct labelled request = {.text = wt__str(text ? text : ""), .kind = "none"};
        if (text && (wt__checksum(text, strlen(text), 0) % DEV_IN == 0) == dev)
            write_list(l, &request);
    }
    fclose(file);
}

/* Writes the list of a request again, of another kind. */
static void write_variant(struct lists *l, const struct labelled *request, const char *kind,
                          const struct labelled *within)
{
    struct labelled variant = *request;
    snprintf(variant.kind, sizeof variant.kind, "%s", kind);
    variant.gone = within != request;
    variant.within = within;
    write_list(l, &variant);
}

static void write_lists(struct lists *l, bool dev, const char *none)
{
    struct labelled *requests = calloc(l->data.len + 1, sizeof *requests);
    size_t count = 0;
    if (!requests)
        exit_with_message("out of memory");
    for (size_t q = 0; q < l->data.len; q++)
        if (label_request(l, &l->data.queries[q], &requests[count]) &&
            (l->foreign || strcmp(requests[count].kind, "foreign") != 0))
            count++;
    for (size_t i = 0; i < count; i++) {
        if (l->limit < count && wt__rng_below(&l->rng, count) >= l->limit)
            continue;
        write_list(l, &requests[i]);
        if (wt__rng_below(&l->rng, GONE_IN) == 0)
            write_variant(l, &requests[i], "gone", NULL);
        if (wt__rng_below(&l->rng, GONE_IN) == 0)
            write_variant(l, &requests[i], "small", &requests[i]);
        if (wt__rng_below(&l->rng, GONE_IN) == 0)
            write_variant(l, &requests[i], "apart", &requests[wt__rng_below(&l->rng, count)]);
        if (!is_followup(&requests[i]) && wt__rng_below(&l->rng, JOINED_IN) == 0)
            write_joined(l, requests, count);
    }
    if (none)
        write_unserved(l, none, dev);
    free(requests);
}

int main(int argc, char **argv)
{
    struct lists l = {.keep = SIZE_MAX / 2, .limit = SIZE_MAX, .inputs = wt__scorer_inputs(&wt__scorer_table)};
    const char *model = NULL, *none = NULL;
    for (int i = 5; i < argc; i++) {
        if (strcmp(argv[i], "--no-model") == 0)
            model = "";
        else if (strcmp(argv[i], "--other") == 0)
            l.other = true;
        else if (strcmp(argv[i], "--foreign") == 0)
            l.foreign = true;
        else if (strcmp(argv[i], "--model") == 0 && i + 1 < argc)
            model = argv[++i];
        else if (strcmp(argv[i], "--none") == 0 && i + 1 < argc)
            none = argv[++i];
        else if (strcmp(argv[i], "--keep") == 0 && i + 1 < argc)
            l.keep = strtoul(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--limit") == 0 && i + 1 < argc)
            l.limit = strtoul(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--kind") == 0 && i + 1 < argc)
            l.kind = argv[++i];
        else
            argc = 0;
    }
    if (argc < 5)
        exit_with_message("usage: scorer_lists STORE SET SPLIT OUT [--model NAME|--no-model] [--none FILE] "
                          "[--keep N] [--kind NAME] [--limit N] [--other] [--foreign]");
    char path[4096];
    snprintf(path, sizeof path, "%s.unfinished", argv[4]);
    l.out = fopen(path, "wb");
    if (!l.out)
        exit_with_message("cannot write the lists");
    wt__rng_seed(&l.rng, wt__checksum(argv[3], strlen(argv[3]), 1));
    open_store_and_set(&l, argv, model);
    memcpy(l.header.magic, LISTS_MAGIC, sizeof LISTS_MAGIC);
    l.header.key = wt__scorer_key(&wt__scorer_table);
    l.header.inputs = (uint32_t)l.inputs;
    write_bytes(&l, &l.header, sizeof l.header);
    write_lists(&l, strcmp(argv[3], "dev") == 0, none);
    rewind(l.out);
    write_bytes(&l, &l.header, sizeof l.header);
    if (fclose(l.out) != 0 || rename(path, argv[4]) != 0)
        exit_with_message("cannot write the lists");
    wt__index_release(l.index);
    wt__workspace_close(l.workspace);
    wt__dataset_dispose(&l.data);
    wt_close(l.engine);
    free(l.allowed);
    free(l.labels);
    return 0;
}
