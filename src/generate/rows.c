#include "generate/rows.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "generate/seeds.h"

void wt__rows_dispose(struct choice_rows *rows)
{
    wt__arena_dispose(&rows->arena);
    free(rows->rows);
    *rows = (struct choice_rows){0};
}

int wt__rows_add(struct choice_rows *rows, struct str query, size_t tool, wt_error *err)
{
    const char *copy = wt__arena_copy(&rows->arena, query);
    if (!copy || wt__grow((void **)&rows->rows, &rows->capacity, rows->count + 1, sizeof *rows->rows) < 0)
        return wt__fail_nomem(err);
    rows->rows[rows->count++] = (struct choice_row){.query = {copy, query.len}, .tool = tool};
    return 0;
}

/* ---------------------------------------------------------------- instructions */

struct instruction_job {
    struct choice_rows *rows;
    const struct library *library;
    struct distinct *distinct;
    struct arena arena;
    struct str *examples; /* [example_count] "tool: instruction" */
    size_t example_count, each;
    size_t *made; /* [tools] */
    char wanted[8];
};

/* Adds the seeds' instructions to the examples and, if the library begins with the seeds, to the rows. */
static int begin_instructions(struct instruction_job *w, size_t tools, wt_error *err)
{
    w->examples = wt__arena_array(&w->arena, struct str, SEED_TOOLS * SEED_INSTRUCTIONS);
    w->made = wt__arena_array(&w->arena, size_t, tools);
    if (!w->examples || !w->made)
        return wt__fail_nomem(err);
    for (size_t i = 0; i < SEED_TOOLS; i++)
        for (size_t n = 0; n < SEED_INSTRUCTIONS; n++) {
            struct buffer line = {0};
            enum piece_fate fate;
            const struct str query = wt__str(wt__seed_tools[i].instructions[n]);
            wt__buffer_printf(&line, "%s: %s", wt__seed_tools[i].name, query.ptr);
            struct str *example = &w->examples[w->example_count++];
            *example = (struct str){wt__arena_copy(&w->arena, wt__buffer_view(&line)), line.len};
            bool failed = line.failed || !example->ptr;
            wt__buffer_dispose(&line);
            if (failed)
                return wt__fail_nomem(err);
            int rc = wt__distinct_add(w->distinct, query, &fate, err);
            if (rc == 0 && i < tools && n < w->each && w->library->tools[i].origin == ORIGIN_SEED) {
                rc = wt__rows_add(w->rows, query, i, err);
                w->made[i]++;
            }
            if (rc < 0)
                return rc;
        }
    snprintf(w->wanted, sizeof w->wanted, "%zu", w->each);
    return 0;
}

static int fill_instructions(void *context, size_t item, struct arena *arena, struct prompt_value *values,
                             size_t *count, wt_error *err)
{
    struct instruction_job *w = context;
    const struct str line = wt__library_line(w->library, item, arena);
    if (!line.ptr)
        return wt__fail_nomem(err);
    values[0] = (struct prompt_value){.slot = "examples", .items = w->examples, .item_count = w->example_count};
    values[1] = (struct prompt_value){.slot = "tool", .text = line};
    values[2] = (struct prompt_value){.slot = "count", .text = wt__str(w->wanted)};
    *count = 3;
    return 0;
}

static int accept_instruction(struct instruction_job *w, size_t tool, const json_t *element, enum piece_fate *fate,
                              wt_error *err)
{
    struct str query;
    const struct str text = {json_string_value(element), json_string_length(element)};
    if (w->made[tool] == w->each) {
        *fate = PIECE_SURPLUS;
        return 0;
    }
    int rc = wt__piece_read(&w->rows->arena, PIECE_INSTRUCTION, text, &query, fate, err);
    if (rc == 0 && *fate == PIECE_TAKEN)
        rc = wt__distinct_add(w->distinct, query, fate, err);
    if (rc == 0 && *fate == PIECE_TAKEN) {
        rc = wt__rows_add(w->rows, query, tool, err);
        w->made[tool]++;
    }
    return rc;
}

static int accept_instructions(void *context, size_t item, const json_t *answer, struct stage_count *count, bool *done,
                               wt_error *err)
{
    struct instruction_job *w = context;
    const json_t *list = wt__json_array(answer, "instructions");
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < json_array_size(list); i++) {
        enum piece_fate fate;
        rc = accept_instruction(w, item, json_array_get(list, i), &fate, err);
        if (rc == 0)
            wt__stage_note(count, fate);
    }
    *done = w->made[item] == w->each;
    return rc;
}

static bool has_instructions(void *context, size_t item)
{
    const struct instruction_job *w = context;
    return w->made[item] == w->each;
}

/* Orders rows by tool, so that repeated questions do not change the order. */
static int compare_choice_rows(const void *a, const void *b)
{
    const struct choice_row *x = a, *y = b;
    return x->tool != y->tool ? (x->tool > y->tool) - (x->tool < y->tool) : strcmp(x->query.ptr, y->query.ptr);
}

int wt__rows_write_instructions(struct choice_rows *rows, const struct library *library, size_t tools, size_t each,
                                struct stage_runner *asker, struct distinct *distinct, wt_error *err)
{
    struct instruction_job w = {.rows = rows, .library = library, .distinct = distinct, .each = each};
    const struct question_stage stage = {.id = STAGE_INSTRUCTIONS,
                                         .phase = "instructions",
                                         .prompt = "generate-instructions",
                                         .count = tools,
                                         .round = STAGE_ROUND,
                                         .context = &w,
                                         .fill = fill_instructions,
                                         .accept = accept_instructions,
                                         .skip = has_instructions};
    int rc = begin_instructions(&w, tools, err);
    asker->counts[STAGE_INSTRUCTIONS].wanted = tools * each - rows->count;
    if (rc == 0)
        rc = wt__stage_run(asker, &stage, err);
    if (rc == 0 && rows->count > 0)
        qsort(rows->rows, rows->count, sizeof *rows->rows, compare_choice_rows);
    wt__arena_dispose(&w.arena);
    return rc;
}

/* ---------------------------------------------------------------- lists */

static void shuffle_places(size_t *places, size_t count, struct rng *rng)
{
    for (size_t i = count; i > 1; i--) {
        size_t other = wt__rng_below(rng, i), kept = places[i - 1];
        places[i - 1] = places[other];
        places[other] = kept;
    }
}

/* Draws `most` different places of the pool, without the right tools; returns their number. */
static size_t draw_other_tools(size_t pool, const struct choice_row *row, size_t most, size_t *places, struct rng *rng)
{
    size_t count = 0, right = row->tool < pool;
    for (size_t i = 0; i < row->also_right_count; i++)
        right += row->also_right[i] < pool;
    most = most < pool - right ? most : pool - right;
    while (count < most) {
        size_t place = wt__rng_below(rng, pool);
        bool taken = wt__row_is_right(row, place);
        for (size_t i = 0; i < count; i++)
            taken |= places[i] == place;
        if (!taken)
            places[count++] = place;
    }
    return count;
}

static int build_row_list(struct choice_rows *rows, struct choice_row *row, const struct list_settings *settings,
                          const struct similarity_source *source, bool hard, struct rng *rng, wt_error *err)
{
    size_t places[WT_MAX_CHOICES], count = 0;
    int rc = hard ? source->like(source->self, row, places, settings->related, &count, err) : 0;
    row->is_hard = hard && count > 0;
    rows->hard_count += row->is_hard;
    rows->without_similar += hard && count == 0;
    if (rc == 0 && !row->is_hard)
        count = draw_other_tools(settings->pool, row, settings->choices - 1, places, rng);
    places[count++] = row->tool;
    shuffle_places(places, count, rng);
    row->choices = wt__arena_array(&rows->arena, size_t, count);
    if (!row->choices)
        return wt__fail_nomem(err);
    memcpy(row->choices, places, count * sizeof *places);
    row->choice_count = count;
    return rc;
}

/* Drops rows whose list has only the right tool: they teach nothing. */
static void drop_single_choice_rows(struct choice_rows *rows)
{
    size_t kept = 0;
    for (size_t i = 0; i < rows->count; i++)
        if (rows->rows[i].choice_count > 1)
            rows->rows[kept++] = rows->rows[i];
    rows->count = kept;
}

int wt__rows_build_lists(struct choice_rows *rows, const struct list_settings *settings,
                         const struct similarity_source *source, struct rng *rng, struct progress *progress,
                         wt_error *err)
{
    size_t wanted = (size_t)((double)rows->count * settings->hard + 0.5);
    bool *hard = calloc(rows->count + 1, sizeof *hard);
    uint32_t *numbers = wt__alloc_array(rows->count + 1, sizeof *numbers);
    int rc = hard && numbers ? 0 : wt__fail_nomem(err);
    if (rc == 0 && wt__progress_phase(progress, "lists", rows->count))
        rc = wt__fail_cancelled(err);
    if (rc == 0)
        wt__rng_draw(rng, numbers, rows->count, wanted);
    for (size_t i = 0; rc == 0 && i < wanted && i < rows->count; i++)
        hard[numbers[i]] = true;
    for (size_t i = 0; rc == 0 && i < rows->count; i++) {
        rc = build_row_list(rows, &rows->rows[i], settings, source, hard[i], rng, err);
        if (rc == 0 && wt__progress_step(progress, 1))
            rc = wt__fail_cancelled(err);
    }
    free(hard);
    free(numbers);
    if (rc == 0)
        drop_single_choice_rows(rows);
    return rc;
}

/* ---------------------------------------------------------------- notes */

struct note_job {
    struct choice_rows *rows;
    const struct library *library;
};

static int fill_note(void *context, size_t item, struct arena *arena, struct prompt_value *values, size_t *count,
                     wt_error *err)
{
    const struct note_job *e = context;
    const struct choice_row *row = &e->rows->rows[item];
    struct str *lines = wt__arena_array(arena, struct str, row->choice_count);
    for (size_t i = 0; lines && i < row->choice_count; i++) {
        lines[i] = wt__library_line(e->library, row->choices[i], arena);
        if (!lines[i].ptr)
            lines = NULL;
    }
    if (!lines)
        return wt__fail_nomem(err);
    values[0] = (struct prompt_value){.slot = "tools", .items = lines, .item_count = row->choice_count};
    values[1] = (struct prompt_value){.slot = "instruction", .text = row->query};
    values[2] = (struct prompt_value){.slot = "chosen", .text = e->library->tools[row->tool].name};
    *count = 3;
    return 0;
}

static int accept_note(void *context, size_t item, const json_t *answer, struct stage_count *count, bool *done,
                       wt_error *err)
{
    const struct note_job *e = context;
    struct choice_row *row = &e->rows->rows[item];
    struct str note;
    enum piece_fate fate;
    bool named = false;
    int rc = wt__piece_read(&e->rows->arena, PIECE_NOTE, wt__json_str(answer, "note"), &note, &fate, err);
    if (rc == 0 && fate == PIECE_TAKEN)
        rc = wt__piece_mentions_name(note, e->library->tools[row->tool].name, &named, err);
    if (rc == 0 && fate == PIECE_TAKEN && !named)
        fate = PIECE_UNNAMED;
    if (rc == 0 && fate == PIECE_TAKEN)
        row->note = note;
    if (rc == 0)
        wt__stage_note(count, fate);
    *done = rc == 0 && fate == PIECE_TAKEN;
    return rc;
}

static void drop_rows_without_note(struct choice_rows *rows)
{
    size_t kept = 0;
    rows->hard_count = 0;
    for (size_t i = 0; i < rows->count; i++) {
        if (rows->rows[i].note.len == 0)
            continue;
        rows->hard_count += rows->rows[i].is_hard;
        rows->rows[kept++] = rows->rows[i];
    }
    rows->without_note = rows->count - kept;
    rows->count = kept;
}

int wt__rows_write_notes(struct choice_rows *rows, const struct library *library, struct stage_runner *asker,
                         wt_error *err)
{
    struct note_job e = {rows, library};
    const struct question_stage stage = {.id = STAGE_NOTES,
                                         .phase = "notes",
                                         .prompt = "generate-note",
                                         .count = rows->count,
                                         .round = STAGE_ROUND,
                                         .context = &e,
                                         .fill = fill_note,
                                         .accept = accept_note};
    asker->counts[STAGE_NOTES].wanted = rows->count;
    int rc = wt__stage_run(asker, &stage, err);
    if (rc == 0)
        drop_rows_without_note(rows);
    return rc;
}

/* ---------------------------------------------------------------- samples */

int wt__rows_to_samples(const struct choice_rows *rows, const struct library *library, struct choice_samples *out,
                        wt_error *err)
{
    for (size_t i = 0; i < rows->count; i++) {
        const struct choice_row *row = &rows->rows[i];
        struct choice_sample sample = {
            .query = row->query, .thought = row->note, .choice_count = row->choice_count, .is_hard = row->is_hard};
        sample.choices = wt__arena_array(&out->arena, struct sample_choice, row->choice_count);
        if (!sample.choices)
            return wt__fail_nomem(err);
        for (size_t c = 0; c < row->choice_count; c++) {
            const struct library_tool *tool = &library->tools[row->choices[c]];
            sample.choices[c] = (struct sample_choice){tool->name, tool->description};
            sample.right = row->choices[c] == row->tool ? c : sample.right;
        }
        int rc = wt__samples_add(out, &sample, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}
