/* other_run.c: reads a TREC run of another program, sorts its lines by query and score, and judges each ranking. */
#include "eval/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/map.h"
#include "base/memory.h"
#include "engine/engine.h"

enum { FIELDS = 6 /* QUERY Q0 TOOL RANK SCORE TAG */ };

struct run_line {
    uint32_t query;
    float score;
    const char *tool; /* points into other_run.bytes; NUL-terminated */
};

struct other_run {
    const char *path;
    char *bytes;
    size_t len;
    struct map queries; /* id -> index in the data set */
    struct run_line *lines;
    size_t count, capacity, others; /* others: lines about other queries */
    wt_error *err;
};

static int compare_run_lines(const void *a, const void *b)
{
    const struct run_line *x = a, *y = b;
    if (x->query != y->query)
        return (x->query > y->query) - (x->query < y->query);
    if (x->score != y->score)
        return (x->score < y->score) - (x->score > y->score);
    return -strcmp(x->tool, y->tool);
}

static int fail_run_line(const struct other_run *run, size_t number, const char *why)
{
    return wt__fail_at(run->err, WT_EFORMAT, number, 0, NULL,
                       "%s, line %zu: %s; a line must be QUERY Q0 TOOL RANK SCORE NAME", run->path, number, why);
}

/* Splits a line into its fields, each NUL-terminated. Returns false if the line does not have FIELDS fields. */
static bool split_run_line(char *line, char *fields[FIELDS])
{
    char *rest = line;
    for (size_t i = 0; i < FIELDS; i++) {
        fields[i] = rest + strspn(rest, " \t");
        rest = fields[i] + strcspn(fields[i], " \t");
        if (rest == fields[i])
            return false;
        if (*rest)
            *rest++ = '\0';
    }
    return rest[strspn(rest, " \t")] == '\0';
}

static int add_run_line(struct other_run *run, char *line, size_t number)
{
    char *fields[FIELDS], *end;
    if (!line[strspn(line, " \t")])
        return 0;
    if (!split_run_line(line, fields))
        return fail_run_line(run, number, "does not have six fields");
    float score = strtof(fields[4], &end);
    if (*end || !isfinite(score))
        return fail_run_line(run, number, "score is not a number");
    wt__trec_unescape(fields[0]);
    wt__trec_unescape(fields[2]);
    const uint32_t *query = wt__map_get(&run->queries, wt__str(fields[0]));
    if (!query) {
        run->others++;
        return 0;
    }
    if (run->count == OTHER_RUN_LINES_MAX)
        return wt__fail(run->err, WT_ETOOLONG, "%s has more than %d lines", run->path, OTHER_RUN_LINES_MAX);
    if (wt__grow((void **)&run->lines, &run->capacity, run->count + 1, sizeof *run->lines) < 0)
        return wt__fail_nomem(run->err);
    run->lines[run->count++] = (struct run_line){*query, score, fields[2]};
    return 0;
}

static int read_run_lines(struct other_run *run)
{
    size_t number = 0;
    WT_TRY(wt__file_read(&run->bytes, &run->len, run->path, WT_MAX_FILE_BYTES, run->err));
    char *at = run->bytes, *end = at + run->len;
    if (memchr(at, '\0', run->len))
        return wt__fail(run->err, WT_EFORMAT, "%s is not a text file", run->path);
    while (at < end) {
        char *line = at, *feed = memchr(at, '\n', (size_t)(end - at));
        char *stop = feed ? feed : end; /* the bytes end in NUL */
        at = stop + 1;
        *stop = '\0';
        if (stop > line && stop[-1] == '\r')
            stop[-1] = '\0';
        WT_TRY(add_run_line(run, line, ++number));
    }
    if (run->count == 0)
        return wt__fail(run->err, WT_ENOTFOUND, "%s has no line about these queries (%zu lines about others)",
                        run->path, run->others);
    return 0;
}

/* Adds to *unknown the number of distinct tools that are not in the catalogue. A large number suggests that the run
 * belongs to another data set, or has names instead of ids. */
static int count_unknown_tools(const struct other_run *run, wt_engine *engine, size_t *unknown)
{
    struct map known = {0};
    int rc = 0;
    pthread_mutex_lock(&engine->store_lock);
    for (size_t i = 0; rc >= 0 && i < run->count; i++) {
        bool added = false;
        int64_t id;
        const struct str tool = wt__str(run->lines[i].tool);
        rc = wt__map_insert(&known, tool, 0, &added) ? 0 : wt__fail_nomem(run->err);
        if (rc == 0 && added)
            rc = wt__store_find_source_id(engine->store, tool, &id, 1, run->err);
        *unknown += added && rc == 0;
    }
    pthread_mutex_unlock(&engine->store_lock);
    wt__map_dispose(&known);
    return rc < 0 ? rc : 0;
}

/* Sets out->notice if the run has no lines for some queries, tools missing in the catalogue, or lines for other
 * queries. All three are probably mistakes in the run. */
static int write_gap_notice(const struct other_run *run, struct measurement *out, const struct eval_plan *plan,
                            const char *name, size_t unknown)
{
    struct buffer text = {0};
    size_t asked = 0;
    for (size_t i = 0; i < run->count; i++)
        asked += i == 0 || run->lines[i].query != run->lines[i - 1].query;
    if (asked < plan->queries)
        wt__buffer_printf(&text, ", no lines for %zu of the %zu queries (counted as misses)", plan->queries - asked,
                          plan->queries);
    if (unknown > 0)
        wt__buffer_printf(&text, ", %zu tools missing in the catalogue", unknown);
    if (run->others > 0)
        wt__buffer_printf(&text, ", %zu lines for other queries", run->others);
    if (text.len > 0) {
        struct buffer whole = {0};
        wt__buffer_printf(&whole, "%s has %s", name, text.failed ? "" : text.ptr + 2);
        text.failed |= whole.failed;
        out->notice = wt__buffer_take(&whole);
    }
    int rc = text.failed ? wt__fail_nomem(run->err) : 0;
    wt__buffer_dispose(&text);
    return rc;
}

static int judge_run_lines(const struct other_run *run, struct measurement *out, const struct dataset *dataset,
                           const struct eval_plan *plan)
{
    size_t at = 0, noted = 0;
    WT_AUTO_FREE const char **ranked = wt__alloc_array(plan->depth, sizeof *ranked);
    WT_CHECK_ALLOC(ranked, run->err);
    for (size_t q = 0; q < plan->queries; q++) {
        size_t len = 0;
        for (; at < run->count && run->lines[at].query == q; at++)
            if (len < plan->depth)
                ranked[len++] = run->lines[at].tool;
        const struct query *query = &dataset->queries[q];
        WT_TRY(wt__judge_ranking(out->values + q * wt__metric_count(plan), plan, query, ranked, len, run->err));
        wt__note_misses(out->missed + noted, query, ranked, len);
        noted += wt__count_relevant(query);
        out->multi_provider_probability[q] = NAN;
    }
    return 0;
}

static int measure_run(struct other_run *run, struct measurement *out, wt_engine *engine, const struct dataset *dataset,
                       const struct eval_plan *plan, const char *name)
{
    size_t unknown = 0;
    WT_TRY(wt__measurement_open(out, plan, run->err));
    for (size_t q = 0; q < plan->queries; q++)
        WT_CHECK_ALLOC(wt__map_insert(&run->queries, dataset->queries[q].id, (uint32_t)q, NULL), run->err);
    out->ran = wt__copy_string("run", 3);
    WT_CHECK_ALLOC(out->ran, run->err);
    WT_TRY(read_run_lines(run));
    qsort(run->lines, run->count, sizeof *run->lines, compare_run_lines);
    WT_TRY(judge_run_lines(run, out, dataset, plan));
    WT_TRY(count_unknown_tools(run, engine, &unknown));
    return write_gap_notice(run, out, plan, name, unknown);
}

int wt__measure_other_run(struct measurement *out, wt_engine *engine, const struct dataset *dataset,
                          const struct eval_plan *plan, const char *path, const char **name, wt_error *err)
{
    struct other_run run = {.path = path, .err = err};
    const char *slash = strrchr(path, '/');
    *name = slash ? slash + 1 : path;
    int rc = measure_run(&run, out, engine, dataset, plan, *name);
    wt__map_dispose(&run.queries);
    free(run.lines);
    free(run.bytes);
    if (rc < 0)
        wt__measurement_dispose(out);
    return rc;
}
