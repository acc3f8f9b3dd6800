#include "eval/material.h"

#include <math.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"
#include "engine/engine.h"
#include "engine/recorded_use.h"

struct input_reader {
    struct analysis_input *out;
    wt_engine *engine;
    const struct encoder *encoder;
    int64_t *ids; /* [M] */
    size_t id_capacity, name_capacity;
    struct map by_name;
    wt_error *err;
};

static int add_input_tool(void *context, const struct store_key *key, const struct tool *tool)
{
    struct input_reader *r = context;
    struct analysis_input *m = r->out;
    struct str name = tool->source_id.len ? tool->source_id : tool->name;
    char *copy = wt__arena_copy(&m->arena, name);
    if (!copy || wt__grow((void **)&r->ids, &r->id_capacity, m->tool_count + 1, sizeof *r->ids) < 0 ||
        wt__grow((void **)&m->names, &r->name_capacity, m->tool_count + 1, sizeof *m->names) < 0)
        return wt__fail_nomem(r->err);
    r->ids[m->tool_count] = key->id;
    m->names[m->tool_count] = (struct str){copy, name.len};
    if (!wt__map_insert(&r->by_name, m->names[m->tool_count], (uint32_t)m->tool_count, NULL))
        return wt__fail_nomem(r->err);
    m->tool_count++;
    return 0;
}

static int read_input_vectors(struct input_reader *r)
{
    struct analysis_input *m = r->out;
    struct store *store = r->engine->store;
    struct vector_set texts = wt__engine_vectors(r->encoder, r->engine);
    struct vector_set usage = wt__engine_usage_vectors(r->encoder, r->engine);
    bool *there = wt__alloc_array(m->tool_count, sizeof *there);
    m->descriptions = wt__alloc_array(m->tool_count * m->dim, sizeof *m->descriptions);
    m->uses = wt__alloc_array(m->tool_count * m->dim, sizeof *m->uses);
    m->use_counts = wt__alloc_array(m->tool_count, sizeof *m->use_counts);
    int64_t rc = there && m->descriptions && m->uses && m->use_counts ? 0 : wt__fail_nomem(r->err);
    if (rc == 0)
        rc = wt__store_get_vectors(store, &texts, r->ids, m->tool_count, m->descriptions, there, r->err);
    if (rc >= 0)
        rc = wt__store_get_usage_sums(store, &usage, r->ids, m->tool_count, m->uses, m->use_counts, r->err);
    free(there);
    for (size_t i = 0; rc >= 0 && i < m->tool_count; i++) {
        float *use = m->uses + i * m->dim;
        double square = 0;
        for (size_t d = 0; d < m->dim; d++)
            square += (double)use[d] * use[d];
        for (size_t d = 0; d < m->dim && square > 0; d++)
            use[d] /= (float)sqrt(square);
    }
    return rc < 0 ? (int)rc : 0;
}

static int read_input_tools(struct input_reader *r, struct progress *progress)
{
    size_t made;
    int rc = wt__embed_missing(r->engine, r->encoder, progress, &made, r->err);
    if (rc == 0)
        rc = wt__usage_learn(r->engine, r->encoder, progress, &made, r->err);
    if (rc < 0)
        return rc;
    pthread_mutex_lock(&r->engine->store_lock);
    rc = wt__store_each(r->engine->store, 0, add_input_tool, r, r->err);
    if (rc >= 0)
        rc = read_input_vectors(r);
    pthread_mutex_unlock(&r->engine->store_lock);
    return rc < 0 ? rc : 0;
}

static int read_input_requests(struct input_reader *r, const struct dataset *dataset, struct progress *progress)
{
    struct analysis_input *m = r->out;
    size_t count = m->request_count, gold = 0;
    struct str *texts = wt__alloc_array(count, sizeof *texts);
    for (size_t q = 0; q < count; q++)
        gold += dataset->queries[q].judgement_count;
    m->requests = wt__alloc_aligned(count * m->dim, sizeof *m->requests);
    m->gold_starts = wt__alloc_array(count + 1, sizeof *m->gold_starts);
    m->gold = wt__alloc_array(gold, sizeof *m->gold);
    int rc = texts && m->requests && m->gold_starts && m->gold ? 0 : wt__fail_nomem(r->err);
    gold = 0;
    for (size_t q = 0; rc == 0 && q < count; q++) {
        const struct query *query = &dataset->queries[q];
        texts[q] = query->text;
        m->gold_starts[q] = gold;
        for (size_t j = 0; j < query->judgement_count; j++) {
            const uint32_t *row = wt__map_get(&r->by_name, query->judgements[j].tool);
            if (query->judgements[j].gain > 0)
                m->gold[gold++] = row ? *row : UINT32_MAX;
        }
        m->gold_starts[q + 1] = gold;
    }
    if (rc == 0 && wt__progress_phase(progress, "encoding", count))
        rc = wt__fail_cancelled(r->err);
    if (rc == 0)
        rc = wt__encode_many(r->encoder, TEXT_REQUEST, texts, count, r->engine->threads, m->requests, progress, r->err);
    free(texts);
    return rc;
}

int wt__analysis_input_read(struct analysis_input *out, wt_engine *engine, const struct encoder *encoder,
                            const struct dataset *dataset, size_t count, struct progress *progress, wt_error *err)
{
    *out = (struct analysis_input){.encoder = wt__encoder_name(encoder),
                                   .dim = wt__encoder_dim(encoder),
                                   .request_count = count,
                                   .queries = dataset->queries};
    struct input_reader r = {.out = out, .engine = engine, .encoder = encoder, .err = err};
    int rc = read_input_tools(&r, progress);
    if (rc == 0)
        rc = read_input_requests(&r, dataset, progress);
    wt__map_dispose(&r.by_name);
    free(r.ids);
    if (rc < 0)
        wt__analysis_input_dispose(out);
    return rc;
}

void wt__analysis_input_dispose(struct analysis_input *input)
{
    free(input->requests);
    free(input->gold_starts);
    free(input->gold);
    free(input->names);
    free(input->descriptions);
    free(input->uses);
    free(input->use_counts);
    wt__arena_dispose(&input->arena);
    *input = (struct analysis_input){0};
}
