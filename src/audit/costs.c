#include "audit/costs.h"

#include "base/pool.h"
#include "catalog/export.h"
#include "engine/budget.h"

static const char *const formats[] = {"openai", "openai-responses", "anthropic", "gemini", "mcp"};
enum { FORMATS = sizeof formats / sizeof *formats, BLOCK = 256 /* tools per work item */ };

/* Totals of one block in one format. */
struct cost_part {
    uint64_t bytes, tokens, largest_tokens;
    size_t largest;
    wt_error err;
};

struct cost_job {
    struct audit_run *a;
    struct cost_part *parts; /* [FORMATS, blocks] */
    size_t blocks;
};

static int count_block(void *context, size_t index, unsigned worker)
{
    struct cost_job *c = context;
    struct cost_part *part = &c->parts[index];
    const struct audit_run *a = c->a;
    size_t begin = index % c->blocks * BLOCK;
    struct buffer definition = {0};
    int rc = 0;
    (void)worker;
    for (size_t i = begin; rc == 0 && i < begin + BLOCK && i < a->count; i++) {
        if (a->scoped && a->tools[i].provider != a->scope)
            continue;
        wt__buffer_clear(&definition);
        rc = wt__export(&a->tools[i].tool, 1, wt__str(formats[index / c->blocks]), &definition, &part->err);
        uint64_t tokens = (definition.len + BUDGET_BYTES_PER_TOKEN - 1) / BUDGET_BYTES_PER_TOKEN;
        part->bytes += definition.len;
        part->tokens += tokens;
        if (tokens > part->largest_tokens) {
            part->largest_tokens = tokens;
            part->largest = i;
        }
    }
    wt__buffer_dispose(&definition);
    return rc == 0 && wt__progress_step(&c->a->progress, 1) ? wt__fail_cancelled(&part->err) : rc;
}

static int sum_blocks(const struct cost_job *c, size_t format, wt_audit_cost *out, wt_error *err)
{
    *out = (wt_audit_cost){.format = formats[format], .largest = ""};
    for (size_t b = 0; b < c->blocks; b++) {
        const struct cost_part *part = &c->parts[format * c->blocks + b];
        out->bytes += part->bytes;
        out->tokens += part->tokens;
        if (part->largest_tokens <= out->largest_tokens)
            continue;
        out->largest_tokens = part->largest_tokens;
        out->largest = wt__arena_copy(c->a->arena, wt__str(c->a->tools[part->largest].id));
        if (!out->largest)
            return wt__fail_nomem(err);
    }
    return 0;
}

int wt__audit_costs(struct audit_run *a, wt_audit_result *out, wt_error *err)
{
    struct cost_job c = {.a = a, .blocks = (a->count + BLOCK - 1) / BLOCK};
    wt_audit_cost *costs = wt__arena_array(a->arena, wt_audit_cost, FORMATS);
    c.parts = wt__arena_array(&a->scratch, struct cost_part, FORMATS * c.blocks);
    if (!costs || !c.parts)
        return wt__fail_nomem(err);
    if (wt__progress_phase(&a->progress, "counting tokens", FORMATS * c.blocks))
        return wt__fail_cancelled(err);
    int rc = wt__pool_run(a->engine->threads, FORMATS * c.blocks, count_block, &c);
    for (size_t i = 0; rc < 0 && err && i < FORMATS * c.blocks; i++)
        if (c.parts[i].err.code == rc)
            *err = c.parts[i].err;
    for (size_t f = 0; rc == 0 && f < FORMATS; f++)
        rc = sum_blocks(&c, f, &costs[f], err);
    out->costs = wt__arena_pointers(a->arena, costs, FORMATS, sizeof *costs);
    out->cost_count = FORMATS;
    return rc == 0 && !out->costs ? wt__fail_nomem(err) : rc;
}
