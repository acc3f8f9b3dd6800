/* rows.c: builds the rows of a data set for choosing tools (instruction, list, note), and reads and writes
 * samples.jsonl. toolselect.h explains both. */
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/memory.h"
#include "generate/toolselect.h"
#include "whichtool.h"

void wt__samples_dispose(struct choice_samples *samples)
{
    wt__arena_dispose(&samples->arena);
    free(samples->items);
    *samples = (struct choice_samples){0};
}

static int add_sample(struct choice_samples *samples, const struct choice_sample *sample, wt_error *err)
{
    if (wt__grow((void **)&samples->items, &samples->capacity, samples->count + 1, sizeof *samples->items) < 0)
        return wt__fail_nomem(err);
    samples->items[samples->count++] = *sample;
    return 0;
}

void wt__samples_write(const struct choice_samples *samples, struct buffer *out)
{
    for (size_t i = 0; i < samples->count; i++) {
        const struct choice_sample *sample = &samples->items[i];
        wt__generate_write_json(out, "{\"query\": ", sample->query);
        wt__buffer_text(out, ", \"choices\": [");
        for (size_t c = 0; c < sample->choice_count; c++) {
            wt__generate_write_json(out, c ? ", {\"name\": " : "{\"name\": ", sample->choices[c].name);
            wt__generate_write_json(out, ", \"description\": ", sample->choices[c].description);
            wt__buffer_char(out, '}');
        }
        wt__generate_write_json(out, "], \"thought\": ", sample->thought);
        wt__generate_write_json(out, ", \"tool\": ", sample->choices[sample->right].name);
        wt__buffer_text(out, "}\n");
    }
}

/* Copies a string member into the arena; ptr is NULL if out of memory. */
static struct str copy_member(struct choice_samples *samples, const json_t *object, const char *member)
{
    struct str text = wt__json_str(object, member);
    return (struct str){wt__arena_copy(&samples->arena, text), text.len};
}

static bool is_length_between(struct str text, size_t least, size_t most)
{
    return text.len >= least && text.len <= most;
}

/* Reads the choices and finds the right one. *sound is false if they are malformed. */
static int read_sample_choices(struct choice_samples *samples, const json_t *object, struct choice_sample *sample,
                               bool *sound, wt_error *err)
{
    const json_t *list = wt__json_array(object, "choices");
    const struct str tool = wt__json_str(object, "tool");
    size_t rights = 0;
    sample->choice_count = json_array_size(list);
    *sound = is_length_between(tool, 1, WT_MAX_NAME_BYTES) && sample->choice_count >= 2 &&
             sample->choice_count <= SAMPLE_CHOICES_MAX;
    if (!*sound)
        return 0;
    sample->choices = wt__arena_array(&samples->arena, struct sample_choice, sample->choice_count);
    WT_CHECK_ALLOC(sample->choices, err);
    for (size_t i = 0; i < sample->choice_count; i++) {
        const json_t *choice = json_array_get(list, i);
        struct sample_choice *kept = &sample->choices[i];
        kept->name = copy_member(samples, choice, "name");
        kept->description = copy_member(samples, choice, "description");
        WT_CHECK_ALLOC(kept->name.ptr && kept->description.ptr, err);
        *sound &= is_length_between(kept->name, 1, WT_MAX_NAME_BYTES) &&
                  is_length_between(kept->description, 0, SAMPLE_DESCRIPTION_BYTES_MAX);
        if (wt__str_equal(kept->name, tool)) {
            sample->right = i;
            rights++;
        }
    }
    *sound &= rights == 1;
    return 0;
}

static int read_sample_row(struct choice_samples *samples, const json_t *object, wt_error *err)
{
    struct choice_sample sample = {.query = copy_member(samples, object, "query"),
                                   .thought = copy_member(samples, object, "thought")};
    bool sound;
    WT_CHECK_ALLOC(sample.query.ptr && sample.thought.ptr, err);
    WT_TRY(read_sample_choices(samples, object, &sample, &sound, err));
    sound &= is_length_between(wt__str_trim(sample.query), 1, WT_MAX_REQUEST_BYTES) &&
             is_length_between(sample.thought, 0, WT_MAX_NOTE_BYTES);
    if (sound)
        return add_sample(samples, &sample, err);
    samples->left_out++;
    return 0;
}

static int read_sample_line(struct choice_samples *samples, struct str text, const char *name, size_t line,
                            wt_error *err)
{
    json_t *object = NULL;
    if (text.len > SAMPLE_LINE_BYTES_MAX)
        return wt__fail_at(err, WT_ETOOLONG, line, 0, NULL, "%s:%zu: longer than %d bytes", name, line,
                           (int)SAMPLE_LINE_BYTES_MAX);
    int rc = wt__json_parse(&object, text.ptr, text.len, err);
    if (rc == 0 && !json_is_object(object))
        rc = wt__fail(err, WT_EFORMAT, "not a JSON object");
    if (rc < 0 && rc != WT_ENOMEM) {
        rc = wt__fail_context(err, rc, "%s:%zu", name, line);
        if (err)
            err->line = line;
    }
    if (rc == 0)
        rc = read_sample_row(samples, object, err);
    json_decref(object);
    return rc;
}

int wt__samples_parse(struct choice_samples *out, struct str file, const char *name, wt_error *err)
{
    int rc = 0;
    struct str line;
    *out = (struct choice_samples){0};
    for (size_t number = 1; rc == 0 && wt__piece_next_line(&file, &line); number++) {
        if (out->count + out->left_out == WT_MAX_FINE_TUNING_ROWS)
            rc = wt__fail(err, WT_ETOOLONG, "%s has more than %d rows", name, (int)WT_MAX_FINE_TUNING_ROWS);
        else if (wt__str_trim(line).len > 0)
            rc = read_sample_line(out, wt__str_trim(line), name, number, err);
    }
    if (rc < 0)
        wt__samples_dispose(out);
    return rc;
}

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

struct instruction_job {
    struct choice_rows *rows;
    const struct library *library;
    struct distinct *distinct;
    struct arena arena;
    struct str *examples; /* [example_count] "tool: instruction" */
    size_t example_count, each;
    size_t *made;   /* [tools] instructions so far */
    char wanted[8]; /* `each` as text */
};

static void dispose_instruction_job(struct instruction_job *job)
{
    wt__arena_dispose(&job->arena);
}

/* Adds the seeds' instructions to the examples and, if the library begins with the seeds, to the rows. */
static int begin_instructions(struct instruction_job *w, size_t tools, wt_error *err)
{
    w->examples = wt__arena_array(&w->arena, struct str, SEED_TOOLS * SEED_INSTRUCTIONS);
    w->made = wt__arena_array(&w->arena, size_t, tools);
    WT_CHECK_ALLOC(w->examples && w->made, err);
    for (size_t i = 0; i < SEED_TOOLS; i++)
        for (size_t n = 0; n < SEED_INSTRUCTIONS; n++) {
            WT_CLEANUP(wt__buffer_dispose) struct buffer line = {0};
            enum piece_fate fate;
            const struct str query = wt__str(wt__seed_tools[i].instructions[n]);
            wt__buffer_printf(&line, "%s: %s", wt__seed_tools[i].name, query.ptr);
            struct str *example = &w->examples[w->example_count++];
            *example = (struct str){wt__arena_copy(&w->arena, wt__buffer_view(&line)), line.len};
            WT_CHECK_ALLOC(!line.failed && example->ptr, err);
            WT_TRY(wt__distinct_add(w->distinct, query, &fate, err));
            if (i < tools && n < w->each && w->library->tools[i].origin == ORIGIN_SEED) {
                WT_TRY(wt__rows_add(w->rows, query, i, err));
                w->made[i]++;
            }
        }
    snprintf(w->wanted, sizeof w->wanted, "%zu", w->each);
    return 0;
}

static int fill_instructions(void *context, size_t item, struct arena *arena, struct prompt_value *values,
                             size_t *count, wt_error *err)
{
    struct instruction_job *w = context;
    const struct str line = wt__library_line(w->library, item, arena);
    WT_CHECK_ALLOC(line.ptr, err);
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
    WT_TRY(wt__piece_read(&w->rows->arena, PIECE_INSTRUCTION, text, &query, fate, err));
    if (*fate == PIECE_TAKEN)
        WT_TRY(wt__distinct_add(w->distinct, query, fate, err));
    if (*fate == PIECE_TAKEN) {
        WT_TRY(wt__rows_add(w->rows, query, tool, err));
        w->made[tool]++;
    }
    return 0;
}

static int accept_instructions(void *context, size_t item, const json_t *answer, struct stage_count *count, bool *done,
                               wt_error *err)
{
    struct instruction_job *w = context;
    const json_t *list = wt__json_array(answer, "instructions");
    for (size_t i = 0; i < json_array_size(list); i++) {
        enum piece_fate fate;
        WT_TRY(accept_instruction(w, item, json_array_get(list, i), &fate, err));
        wt__stage_note(count, fate);
    }
    *done = w->made[item] == w->each;
    return 0;
}

static bool has_instructions(void *context, size_t item)
{
    const struct instruction_job *w = context;
    return w->made[item] == w->each;
}

/* Orders rows by tool and query, because a question that is asked again adds its rows after those of later questions.
 */
static int compare_choice_rows(const void *a, const void *b)
{
    const struct choice_row *x = a, *y = b;
    return x->tool != y->tool ? (x->tool > y->tool) - (x->tool < y->tool) : strcmp(x->query.ptr, y->query.ptr);
}

int wt__rows_write_instructions(struct choice_rows *rows, const struct library *library, size_t tools, size_t each,
                                struct stage_runner *runner, struct distinct *distinct, wt_error *err)
{
    WT_CLEANUP(dispose_instruction_job)
    struct instruction_job w = {.rows = rows, .library = library, .distinct = distinct, .each = each};
    const struct question_stage stage = {{STAGE_INSTRUCTIONS, "instructions", "generate-instructions", &w,
                                          fill_instructions, accept_instructions, has_instructions},
                                         .count = tools,
                                         .round = STAGE_ROUND};
    WT_TRY(begin_instructions(&w, tools, err));
    runner->counts[STAGE_INSTRUCTIONS].wanted = tools * each - rows->count;
    WT_TRY(wt__stage_run(runner, &stage, err));
    if (rows->count > 0)
        qsort(rows->rows, rows->count, sizeof *rows->rows, compare_choice_rows);
    return 0;
}

void wt__generate_shuffle(size_t *places, size_t count, struct rng *rng)
{
    for (size_t i = count; i > 1; i--) {
        size_t other = wt__rng_below(rng, i), kept = places[i - 1];
        places[i - 1] = places[other];
        places[other] = kept;
    }
}

/* Draws up to `most` different places of the pool, without the right tools. Returns the number drawn. */
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
    WT_TRY(hard ? source->find(source->self, row, places, settings->related, &count, err) : 0);
    row->is_hard = hard && count > 0;
    rows->hard_count += row->is_hard;
    rows->without_similar += hard && count == 0;
    if (!row->is_hard)
        count = draw_other_tools(settings->pool, row, settings->choices - 1, places, rng);
    places[count++] = row->tool;
    wt__generate_shuffle(places, count, rng);
    row->choices = wt__arena_array(&rows->arena, size_t, count);
    WT_CHECK_ALLOC(row->choices, err);
    memcpy(row->choices, places, count * sizeof *places);
    row->choice_count = count;
    return 0;
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
    WT_AUTO_FREE bool *hard = wt__alloc_zeros(rows->count + 1, sizeof *hard);
    WT_AUTO_FREE uint32_t *numbers = wt__alloc_array(rows->count + 1, sizeof *numbers);
    WT_CHECK_ALLOC(hard && numbers, err);
    if (wt__progress_phase(progress, "lists", rows->count))
        return wt__fail_cancelled(err);
    wt__rng_draw(rng, numbers, rows->count, wanted);
    for (size_t i = 0; i < wanted && i < rows->count; i++)
        hard[numbers[i]] = true;
    for (size_t i = 0; i < rows->count; i++) {
        WT_TRY(build_row_list(rows, &rows->rows[i], settings, source, hard[i], rng, err));
        if (wt__progress_step(progress, 1))
            return wt__fail_cancelled(err);
    }
    drop_single_choice_rows(rows);
    return 0;
}

struct note_job {
    struct choice_rows *rows;
    const struct library *library;
};

static int fill_note(void *context, size_t item, struct arena *arena, struct prompt_value *values, size_t *count,
                     wt_error *err)
{
    const struct note_job *e = context;
    const struct choice_row *row = &e->rows->rows[item];
    struct str *lines = wt__library_lines(e->library, row->choices, row->choice_count, arena);
    WT_CHECK_ALLOC(lines, err);
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
    WT_TRY(wt__piece_read(&e->rows->arena, PIECE_NOTE, wt__json_str(answer, "note"), &note, &fate, err));
    if (fate == PIECE_TAKEN)
        WT_TRY(wt__piece_mentions_name(note, e->library->tools[row->tool].name, &named, err));
    if (fate == PIECE_TAKEN && !named)
        fate = PIECE_UNNAMED;
    if (fate == PIECE_TAKEN)
        row->note = note;
    wt__stage_note(count, fate);
    *done = fate == PIECE_TAKEN;
    return 0;
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

int wt__rows_write_notes(struct choice_rows *rows, const struct library *library, struct stage_runner *runner,
                         wt_error *err)
{
    struct note_job e = {rows, library};
    const struct question_stage stage = {{STAGE_NOTES, "notes", "generate-note", &e, fill_note, accept_note, NULL},
                                         .count = rows->count,
                                         .round = STAGE_ROUND};
    runner->counts[STAGE_NOTES].wanted = rows->count;
    WT_TRY(wt__stage_run(runner, &stage, err));
    drop_rows_without_note(rows);
    return 0;
}

int wt__rows_to_samples(const struct choice_rows *rows, const struct library *library, struct choice_samples *out,
                        wt_error *err)
{
    for (size_t i = 0; i < rows->count; i++) {
        const struct choice_row *row = &rows->rows[i];
        struct choice_sample sample = {
            .query = row->query, .thought = row->note, .choice_count = row->choice_count, .is_hard = row->is_hard};
        sample.choices = wt__arena_array(&out->arena, struct sample_choice, row->choice_count);
        WT_CHECK_ALLOC(sample.choices, err);
        for (size_t c = 0; c < row->choice_count; c++) {
            const struct library_tool *tool = &library->tools[row->choices[c]];
            sample.choices[c] = (struct sample_choice){tool->name, tool->description};
            sample.right = row->choices[c] == row->tool ? c : sample.right;
        }
        WT_TRY(add_sample(out, &sample, err));
    }
    return 0;
}
