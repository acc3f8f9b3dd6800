/* dataset.c: reads the queries and judgements of a BEIR folder. Reports invalid lines with their numbers.
 *
 *   queries.jsonl       {"_id": "q1", "text": "book a table"}   one per line; blank lines and other members are ignored
 *   qrels/SPLIT.tsv     q1 <tab> tool-7 <tab> 1                 the first line is skipped if its score is not a
 *                                                               number, since it is a header then
 *
 * The judgements are read first, because they select the queries of the split. Other queries are validated but not
 * kept. If a query and a tool are judged twice, the later line counts, as in BEIR's own loader. */
#include "catalog/dataset.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/json.h"
#include "base/map.h"
#include "base/memory.h"

/* A query named by a judgement, and perhaps not found in queries.jsonl yet. */
struct query_slot {
    struct str id, text;
    size_t place;        /* line in queries.jsonl, 1-based; 0 if not found yet */
    size_t first, count; /* index of the query's first judgement, and number of its judgements */
    size_t relevant;     /* number of judgements with a positive gain */
};

struct judgement_row {
    uint32_t slot; /* index of the query in dataset_reader.slots */
    struct judgement judgement;
};

struct dataset_reader {
    struct dataset *out;
    struct query_slot *slots;
    size_t slot_count, slot_capacity;
    struct judgement_row *rows;
    size_t row_count, row_capacity;
    struct map by_id; /* query id -> slot */
    const char *file; /* current file, for messages */
    size_t line;      /* current line, 1-based */
    wt_error *err;
};

/* Returns the text of *rest before the next `separator`, or all of it if there is no separator. Advances *rest beyond
 * the separator. */
static struct str take_until(struct str *rest, char separator)
{
    const char *end = rest->len ? memchr(rest->ptr, separator, rest->len) : NULL;
    size_t len = end ? (size_t)(end - rest->ptr) : rest->len, step = len + (end != NULL);
    struct str taken = {rest->ptr, len};
    *rest = (struct str){rest->ptr + step, rest->len - step};
    return taken;
}

static struct str next_field(struct str *rest)
{
    return wt__str_trim(take_until(rest, '\t'));
}

/* Parses an integer with an optional sign. False if it is invalid, or its absolute value exceeds DATASET_MAX_GAIN. */
static bool read_gain(struct str text, int *gain)
{
    bool negative = text.len > 0 && text.ptr[0] == '-';
    size_t i = negative || (text.len > 0 && text.ptr[0] == '+') ? 1 : 0;
    int value = 0;
    if (i == text.len)
        return false;
    for (; i < text.len; i++) {
        if (!wt__is_digit(text.ptr[i]))
            return false;
        value = value * 10 + (text.ptr[i] - '0');
        if (value > DATASET_MAX_GAIN)
            return false;
    }
    *gain = negative ? -value : value;
    return true;
}

static int copy_dataset_string(struct dataset_reader *r, struct str *s)
{
    char *bytes = wt__arena_copy(&r->out->arena, *s);
    WT_CHECK_ALLOC(bytes, r->err);
    s->ptr = bytes;
    return 0;
}

/* Finds or adds the slot of a query id. */
static int find_slot(struct dataset_reader *r, struct str id, uint32_t *slot)
{
    uint32_t *known = wt__map_get(&r->by_id, id);
    if (known) {
        *slot = *known;
        return 0;
    }
    *slot = (uint32_t)r->slot_count;
    if (wt__grow((void **)&r->slots, &r->slot_capacity, r->slot_count + 1, sizeof *r->slots) < 0)
        return wt__fail_nomem(r->err);
    WT_TRY(copy_dataset_string(r, &id));
    if (!wt__map_insert(&r->by_id, id, *slot, NULL))
        return wt__fail_nomem(r->err);
    r->slots[r->slot_count++] = (struct query_slot){.id = id};
    return 0;
}

static int read_judgement(struct dataset_reader *r, struct str line)
{
    struct str rest = line;
    struct str query = next_field(&rest), tool = next_field(&rest), score = next_field(&rest);
    int gain = 0;
    if (query.len == 0 || tool.len == 0 || score.len == 0 || wt__str_trim(rest).len > 0)
        return wt__fail_at(r->err, WT_EFORMAT, r->line, 0, NULL,
                           "%s:%zu: a judgement must be a query id, a tool id and a score, separated by tabs", r->file,
                           r->line);
    if (!read_gain(score, &gain)) {
        if (r->line == 1 && !strchr("+-.0123456789", *score.ptr))
            return 0; /* the header */
        return wt__fail_at(r->err, WT_EFORMAT, r->line, 0, NULL,
                           "%s:%zu: the score \"%.*s\" is not an integer up to %d", r->file, r->line,
                           (int)(score.len < 40 ? score.len : 40), score.ptr, DATASET_MAX_GAIN);
    }
    if (r->row_count >= DATASET_MAX_JUDGEMENTS)
        return wt__fail_at(r->err, WT_ETOOLONG, r->line, 0, NULL, "%s has more than %d judgements", r->file,
                           DATASET_MAX_JUDGEMENTS);
    struct judgement_row row = {.judgement = {tool, gain}};
    WT_TRY(find_slot(r, query, &row.slot));
    WT_TRY(copy_dataset_string(r, &row.judgement.tool));
    if (wt__grow((void **)&r->rows, &r->row_capacity, r->row_count + 1, sizeof *r->rows) < 0)
        return wt__fail_nomem(r->err);
    r->rows[r->row_count++] = row;
    return 0;
}

static int read_query_line(struct dataset_reader *r, struct str line)
{
    json_auto_t *object = NULL;
    wt_error why;
    int rc = wt__json_parse(&object, line.ptr, line.len, &why);
    if (rc < 0)
        return wt__fail_at(r->err, rc, r->line, 0, NULL, "%s:%zu: %s", r->file, r->line, why.message);
    struct str id = wt__json_str(object, "_id"), text = wt__json_str(object, "text");
    uint32_t *slot = id.len ? wt__map_get(&r->by_id, id) : NULL;
    if (id.len == 0)
        return wt__fail_at(r->err, WT_EFORMAT, r->line, 0, "/_id", "%s:%zu: the query has no \"_id\"", r->file,
                           r->line);
    if (slot && r->slots[*slot].place)
        return wt__fail_at(r->err, WT_EFORMAT, r->line, 0, "/_id", "%s:%zu: duplicate query \"%.*s\"", r->file, r->line,
                           (int)(id.len < 80 ? id.len : 80), id.ptr);
    if (wt__str_trim(text).len == 0)
        return wt__fail_at(r->err, WT_EFORMAT, r->line, 0, "/text", "%s:%zu: the query has no \"text\"", r->file,
                           r->line);
    if (text.len > WT_MAX_REQUEST_BYTES)
        return wt__fail_at(r->err, WT_ETOOLONG, r->line, 0, "/text",
                           "%s:%zu: the text has %zu bytes; at most %d are allowed", r->file, r->line, text.len,
                           WT_MAX_REQUEST_BYTES);
    if (!slot)
        return 0;
    WT_TRY(copy_dataset_string(r, &text));
    r->slots[*slot].text = text;
    r->slots[*slot].place = r->line;
    return 0;
}

static int read_each_line(struct dataset_reader *r, struct str text, const char *file,
                          int (*read)(struct dataset_reader *, struct str))
{
    if (wt__str_starts(text, STR("\xef\xbb\xbf")))
        text = (struct str){text.ptr + 3, text.len - 3};
    r->file = file;
    for (r->line = 1; text.len > 0; r->line++) {
        struct str line = take_until(&text, '\n');
        if (wt__str_trim(line).len > 0)
            WT_TRY(read(r, line));
    }
    return 0;
}

static int compare_place(const void *a, const void *b)
{
    size_t x = ((const struct query_slot *)a)->place, y = ((const struct query_slot *)b)->place;
    return (x > y) - (x < y);
}

/* Creates the queries. Sorts the judgements by query; if a query and a tool were judged twice, the later judgement
 * counts. */
static int group_judgements(struct dataset_reader *r)
{
    struct arena *arena = &r->out->arena;
    struct judgement *judgements = wt__arena_array(arena, struct judgement, r->row_count + 1);
    WT_CHECK_ALLOC(judgements, r->err);
    for (size_t i = 0; i < r->row_count; i++)
        r->slots[r->rows[i].slot].count++;
    size_t next = 0;
    for (size_t s = 0; s < r->slot_count; s++) {
        r->slots[s].first = next;
        next += r->slots[s].count;
        r->slots[s].count = 0;
    }
    struct map *seen = calloc(r->slot_count + 1, sizeof *seen);
    int rc = seen ? 0 : wt__fail_nomem(r->err);
    for (size_t i = 0; rc == 0 && i < r->row_count; i++) {
        struct query_slot *slot = &r->slots[r->rows[i].slot];
        const struct judgement *judgement = &r->rows[i].judgement;
        bool added = false;
        uint32_t *at = wt__map_insert(&seen[r->rows[i].slot], judgement->tool, (uint32_t)slot->count, &added);
        if (!at) {
            rc = wt__fail_nomem(r->err);
        } else {
            judgements[slot->first + *at] = *judgement;
            slot->count += added;
        }
    }
    for (size_t s = 0; seen && s < r->slot_count; s++)
        wt__map_dispose(&seen[s]);
    free(seen);
    if (rc < 0)
        return rc;

    for (size_t s = 0; s < r->slot_count; s++)
        for (size_t j = 0; j < r->slots[s].count; j++)
            r->slots[s].relevant += judgements[r->slots[s].first + j].gain > 0;
    if (r->slot_count > 0)
        qsort(r->slots, r->slot_count, sizeof *r->slots, compare_place);
    struct query *queries = wt__arena_array(arena, struct query, r->slot_count + 1);
    WT_CHECK_ALLOC(queries, r->err);
    r->out->queries = queries;
    for (size_t s = 0; s < r->slot_count; s++) {
        const struct query_slot *slot = &r->slots[s];
        if (!slot->place)
            r->out->unknown_queries++;
        else if (!slot->relevant)
            r->out->barren_queries++;
        else
            queries[r->out->len++] = (struct query){slot->id, slot->text, judgements + slot->first, slot->count};
    }
    return 0;
}

int wt__dataset_parse(struct dataset *out, struct str queries, const char *queries_name, struct str qrels,
                      const char *qrels_name, wt_error *err)
{
    *out = (struct dataset){.name = ""};
    struct dataset_reader r = {.out = out, .err = err};
    int rc = read_each_line(&r, qrels, qrels_name, read_judgement);
    if (rc == 0)
        rc = read_each_line(&r, queries, queries_name, read_query_line);
    if (rc == 0)
        rc = group_judgements(&r);
    if (rc == 0 && out->len == 0)
        rc = wt__fail(err, WT_EFORMAT, "%s has no relevant tool for any query of %s", qrels_name, queries_name);
    wt__map_dispose(&r.by_id);
    free(r.slots);
    free(r.rows);
    if (rc < 0)
        wt__dataset_dispose(out);
    return rc;
}

/* Returns the last part of a path; "." and ".." are not resolved. */
static struct str last_path_part(const char *path)
{
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/')
        end--;
    size_t begin = end;
    while (begin > 0 && path[begin - 1] != '/')
        begin--;
    return (struct str){path + begin, end - begin};
}

static int parse_files(struct dataset *out, const char *dir, const char *queries_path, const char *qrels_path,
                       wt_error *err)
{
    WT_CLEANUP(wt__file_unmap) struct mapping queries = {0}, qrels = {0};
    WT_TRY(wt__file_map(&qrels, qrels_path, err));
    WT_TRY(wt__file_map(&queries, queries_path, err));
    WT_TRY(wt__dataset_parse(out, (struct str){(const char *)queries.ptr, queries.len}, queries_path,
                             (struct str){(const char *)qrels.ptr, qrels.len}, qrels_path, err));
    out->name = wt__arena_copy(&out->arena, last_path_part(dir));
    if (!out->name) {
        wt__dataset_dispose(out);
        return wt__fail_nomem(err);
    }
    return 0;
}

int wt__dataset_read(struct dataset *out, const char *dir, const char *split, wt_error *err)
{
    *out = (struct dataset){.name = ""};
    if (!*split || strchr(split, '/') || *split == '.')
        return wt__fail(err, WT_EINVAL, "the split \"%s\" is not a plain name such as test, dev or train", split);
    WT_CLEANUP(wt__arena_dispose) struct arena scratch = {0};
    WT_CLEANUP(wt__buffer_dispose) struct buffer file = {0};
    wt__buffer_printf(&file, "qrels/%s.tsv", split);
    char *qrels = file.failed ? NULL : wt__path_join(&scratch, dir, file.ptr);
    char *queries = wt__path_join(&scratch, dir, "queries.jsonl");
    return qrels && queries ? parse_files(out, dir, queries, qrels, err) : wt__fail_nomem(err);
}

void wt__dataset_dispose(struct dataset *dataset)
{
    wt__arena_dispose(&dataset->arena);
    *dataset = (struct dataset){.name = ""};
}

bool wt__dataset_has_split(const char *dir, const char *split)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer path = {0};
    wt__buffer_printf(&path, "%s/qrels/%s.tsv", dir, split);
    return !path.failed && wt__is_file(path.ptr);
}
