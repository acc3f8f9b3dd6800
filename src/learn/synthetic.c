#include "learn/synthetic.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/rng.h"
#include "retrieve/document.h"

void wt__synthetic_part(struct str description, struct buffer *out)
{
    size_t begin = out->len;
    wt__document_head(description, out);
    size_t end = out->len;
    while (end > begin && out->ptr[end - 1] == '.')
        end--;
    wt__buffer_cut(out, end - begin < SYNTHETIC_LEAST ? begin : end);
}

/* ---------------------------------------------------------------- requests */

/* Tools with a usable description, grouped by provider. */
struct described_tools {
    struct described_tool {
        int64_t provider;
        uint32_t row;
    } * tools; /* [count] ascending */
    struct described_provider {
        size_t first, count; /* in tools */
    } * providers;           /* [provider_count] */
    uint32_t *order;         /* [provider_count] */
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
    if (!d->tools || !d->providers || !d->order)
        return wt__fail_nomem(err);
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

/* Draws one tool for a quarter of the requests, three for another quarter, else two; at most the provider's tools. */
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
    struct described_tools d = {0};
    struct buffer text = {0};
    struct rng rng;
    wt__rng_seed(&rng, m->seed);
    int rc = gather_descriptions(m, &d, &rng, err);
    for (size_t i = 0; rc == 0 && d.provider_count > 0 && i < m->wanted; i++) {
        uint32_t rows[SYNTHETIC_TOOLS];
        size_t count = draw_synthetic_tools(&d, &d.providers[d.order[i % d.provider_count]], &rng, rows);
        wt__buffer_clear(&text);
        for (size_t t = 0; t < count; t++) {
            wt__buffer_text(&text, t ? " Also, " : "");
            wt__buffer_str(&text, m->parts[rows[t]]);
            wt__buffer_char(&text, '.');
        }
        rc = text.failed ? wt__fail_nomem(err) : visit(context, wt__buffer_view(&text), rows, count);
    }
    wt__buffer_dispose(&text);
    dispose_described(&d);
    return rc;
}
