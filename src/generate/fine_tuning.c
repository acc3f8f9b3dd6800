/* fine_tuning.c: wt_generate_fine_tuning: reads samples from a folder or from recorded use, splits them by request,
 * and writes them in the layout of fine_tuning.h.
 *
 * The first line of a file is {"header": {...}}: the learned messages and the paper's training settings (A.5). A
 * training script reads it and skips it. */
#include "generate/fine_tuning.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/sha256.h"
#include "engine/engine.h"
#include "engine/sized_options.h"
#include "generate/folder.h"
#include "generate/recorded.h"
#include "generate/report.h"
#include "generate/result.h"

enum { USUAL_LIMIT = 10000, USUAL_RELATED = 2, USUAL_CHOICES = 8, PART_BYTES_MAX = SAMPLE_LINE_BYTES_MAX };
static const double USUAL_DEV = 0.1, USUAL_TEMPERATURE = 0.7, DEV_MOST = 0.9;

#define SYSTEM_MESSAGE                                                                                                 \
    "Choose the one tool that the user's instruction needs, by the names and descriptions of the tools. Think about "  \
    "it first, then act."

/* ---------------------------------------------------------------- a row */

static void write_folded_text(struct buffer *out, const char *before, struct str text)
{
    wt__buffer_text(out, before);
    wt__piece_line(out, text, PART_BYTES_MAX);
}

static void write_user_message(const struct choice_sample *sample, struct buffer *out)
{
    write_folded_text(out, "User: ", sample->query);
    wt__buffer_text(out, "\n###\nTool Choices:\n");
    for (size_t i = 0; i < sample->choice_count; i++) {
        write_folded_text(out, "", sample->choices[i].name);
        write_folded_text(out, " = ", sample->choices[i].description);
        wt__buffer_char(out, '\n');
    }
    wt__buffer_text(out, "###\n");
}

static void write_assistant_message(const struct choice_sample *sample, struct buffer *out)
{
    struct buffer name = {0};
    if (sample->thought.len > 0) {
        write_folded_text(out, "Thought: ", sample->thought);
        wt__buffer_char(out, '\n');
    }
    wt__piece_line(&name, sample->choices[sample->right].name, PART_BYTES_MAX);
    wt__buffer_text(out, "Act: CALLTOOL[");
    wt__buffer_json(out, wt__buffer_view(&name));
    wt__buffer_char(out, ']');
    out->failed |= name.failed;
    wt__buffer_dispose(&name);
}

size_t wt__fine_tuning_row(const struct choice_sample *sample, struct buffer *out)
{
    struct buffer user = {0}, assistant = {0};
    write_user_message(sample, &user);
    write_assistant_message(sample, &assistant);
    wt__buffer_text(out, "{\"messages\":[{\"role\":\"system\",\"content\":\"" SYSTEM_MESSAGE
                         "\"},{\"role\":\"user\",\"content\":");
    wt__buffer_json(out, wt__buffer_view(&user));
    wt__buffer_text(out, "},{\"role\":\"assistant\",\"content\":");
    wt__buffer_json(out, wt__buffer_view(&assistant));
    const size_t masked = sizeof SYSTEM_MESSAGE - 1 + wt__piece_characters(wt__buffer_view(&user)),
                 learned = wt__piece_characters(wt__buffer_view(&assistant));
    wt__buffer_printf(out, "}],\"loss\":{\"messages\":[2],\"masked_characters\":%zu,\"learned_characters\":%zu}}\n",
                      masked, learned);
    out->failed |= user.failed || assistant.failed;
    wt__buffer_dispose(&user);
    wt__buffer_dispose(&assistant);
    return masked + learned;
}

/* ---------------------------------------------------------------- a file */

struct fine_tuning_run {
    wt_engine *engine;
    struct chat_model *model; /* NULL if no notes are written */
    wt_fine_tuning_options options;
    struct progress progress;
    struct generate_folder folder;
    struct library library;
    struct store_library catalogue;
    struct choice_rows rows;
    struct choice_samples samples;
    struct stage_runner asker;
    struct rng rng;
    struct buffer settings;
    struct generated *result;
};

/* Sets *dev to the side of the split. It is a hash of the request's words and the seed, so that adding rows never
 * moves a request to the other side. */
static int choose_dev_side(const struct fine_tuning_run *t, struct str query, bool *dev, wt_error *err)
{
    struct buffer words = {0};
    unsigned char digest[32];
    uint64_t drawn = 0;
    wt__buffer_printf(&words, "%" PRIu64 " ", t->options.seed);
    wt__piece_words(&words, query);
    if (!words.failed)
        wt__sha256(words.ptr, words.len, digest);
    bool failed = words.failed;
    wt__buffer_dispose(&words);
    if (failed)
        return wt__fail_nomem(err);
    for (size_t i = 0; i < 6; i++)
        drawn = drawn << 8 | digest[i];
    *dev = (double)drawn / (double)(1ull << 48) < t->options.dev;
    return 0;
}

static void write_fine_tuning_header(const char *split, size_t rows, bool thoughts, size_t longest, struct buffer *out)
{
    wt__buffer_printf(out,
                      "{\"header\":{\"format\":\"whichtool-fine-tuning/1\",\"split\":\"%s\",\"rows\":%zu,"
                      "\"thoughts\":%s,\"longest_row_characters\":%zu,\"loss\":{\"learned\":[\"assistant\"],\"masked\":"
                      "[\"system\",\"user\"]},\"settings\":{\"from\":\"ToolVerifier\",\"epochs\":3,\"learning_rate\":"
                      "1e-05,\"warm_up\":true,\"batch\":8,\"weight_decay\":0.1,\"max_thought_tokens\":480}}}\n",
                      split, rows, thoughts ? "true" : "false", longest);
}

/* Writes one side of the split and sets *count to its number of rows. */
static int write_fine_tuning_split(struct fine_tuning_run *t, const char *split, bool dev, size_t *count, wt_error *err)
{
    struct buffer rows = {0}, file = {0};
    char name[16];
    size_t longest = 0;
    bool thoughts = true;
    int rc = 0;
    *count = 0;
    for (size_t i = 0; rc == 0 && i < t->samples.count; i++) {
        const struct choice_sample *sample = &t->samples.items[i];
        bool side = false;
        rc = choose_dev_side(t, sample->query, &side, err);
        if (rc < 0 || side != dev)
            continue;
        const size_t characters = wt__fine_tuning_row(sample, &rows);
        longest = characters > longest ? characters : longest;
        thoughts &= sample->thought.len > 0;
        ++*count;
    }
    write_fine_tuning_header(split, *count, thoughts && *count > 0, longest, &file);
    wt__buffer_str(&file, wt__buffer_view(&rows));
    file.failed |= rows.failed;
    snprintf(name, sizeof name, "%s.jsonl", split);
    if (rc == 0)
        rc = wt__folder_write(&t->folder, name, &file, err);
    wt__buffer_dispose(&rows);
    wt__buffer_dispose(&file);
    return rc;
}

/* ---------------------------------------------------------------- sources of the samples */

static int read_sample_folder(struct fine_tuning_run *t, wt_error *err)
{
    struct arena scratch = {0};
    char *bytes = NULL;
    size_t len = 0;
    const char *path = wt__path_join(&scratch, t->options.from, "samples.jsonl");
    int rc = path ? wt__file_read(&bytes, &len, path, WT_MAX_FILE_BYTES, err) : wt__fail_nomem(err);
    if (rc == 0)
        rc = wt__samples_parse(&t->samples, (struct str){bytes, len}, path, err);
    if (rc == 0 && t->samples.count == 0)
        rc = wt__fail(err, WT_EEMPTY, "%s has no valid row", path);
    free(bytes);
    wt__arena_dispose(&scratch);
    return rc;
}

/* Draws the lists from a part of the catalogue, so that a catalogue of a million tools is not read whole. */
static int read_recorded_samples(struct fine_tuning_run *t, wt_error *err)
{
    const wt_fine_tuning_options *o = &t->options;
    const struct encoder *encoder = NULL;
    size_t left_out;
    wt_error why;
    int rc = wt__engine_load_encoder(t->engine, &t->progress, &encoder, &why);
    if (rc < 0 && rc != WT_EMODEL && err)
        *err = why;
    if (rc < 0 && rc != WT_EMODEL)
        return rc;
    t->catalogue = (struct store_library){t->engine, &t->library, rc == 0 ? "hybrid" : "bm25"};
    rc = wt__library_open(&t->library, NULL, 1, err);
    if (rc == 0)
        rc = wt__store_library_draw(&t->catalogue, WT_MAX_GENERATED_TOOLS, &t->rng, &t->progress, &left_out, err);
    const struct list_settings lists = {
        .choices = o->choices, .related = o->related, .pool = t->library.count, .hard = o->hard};
    const struct similarity_source source = {&t->catalogue, wt__store_library_find_similar};
    if (rc == 0)
        rc = wt__rows_add_recorded(&t->rows, &t->catalogue, o->limit, &t->rng, &t->progress, err);
    if (rc == 0)
        rc = wt__rows_build_lists(&t->rows, &lists, &source, &t->rng, &t->progress, err);
    if (rc == 0 && o->notes)
        rc = wt__rows_write_notes(&t->rows, &t->library, &t->asker, err);
    if (rc == 0)
        rc = wt__rows_to_samples(&t->rows, &t->library, &t->samples, err);
    if (rc == 0 && t->samples.count == 0)
        rc = wt__fail(err, WT_EEMPTY, "the recorded use gave no row");
    return rc;
}

static int open_fine_tuning_folder(struct fine_tuning_run *t, wt_error *err)
{
    const wt_fine_tuning_options *o = &t->options;
    if (o->notes) {
        wt__buffer_printf(&t->settings,
                          "{\"kind\":\"fine-tuning\",\"version\":1,\"seed\":%" PRIu64 ",\"model\":", o->seed);
        wt__buffer_json(&t->settings, wt__str(t->model->name));
        wt__buffer_char(&t->settings, '}');
        if (t->settings.failed)
            return wt__fail_nomem(err);
    }
    int rc = wt__folder_open(&t->folder, o->out, o->notes ? t->settings.ptr : NULL, t->model, err);
    t->asker = (struct stage_runner){.model = wt__folder_model(&t->folder),
                                     .temperature = o->temperature,
                                     .seed = o->seed,
                                     .progress = &t->progress};
    return rc;
}

/* ---------------------------------------------------------------- the run */

static int check_fine_tuning_options(struct fine_tuning_run *t, wt_error *err)
{
    wt_fine_tuning_options *o = &t->options;
    const wt_fine_tuning_options given = *o;
    int rc =
        wt__generate_read_count(given.related, USUAL_RELATED, 1, WT_MAX_RELATED, "related tools", &o->related, err);
    if (rc == 0)
        rc = wt__generate_read_count(given.choices, USUAL_CHOICES, 2, WT_MAX_CHOICES, "tools of a list", &o->choices,
                                     err);
    if (rc == 0)
        rc = wt__generate_read_count(given.limit, USUAL_LIMIT, 1, WT_MAX_FINE_TUNING_ROWS, "rows", &o->limit, err);
    if (rc == 0)
        rc = wt__generate_read_share(given.hard, GENERATE_HARD_SHARE, 1, "the share of hard lists", &o->hard, err);
    if (rc == 0)
        rc = wt__generate_read_share(given.dev, USUAL_DEV, DEV_MOST, "the share of dev", &o->dev, err);
    if (rc == 0)
        rc = wt__generate_read_share(given.temperature, USUAL_TEMPERATURE, CHAT_TEMPERATURE_MAX, "the temperature",
                                     &o->temperature, err);
    if (rc == 0 && (!o->out || !o->out[0]))
        rc = wt__fail(err, WT_EINVAL, "name a folder for the rows");
    if (rc == 0 && !o->from && !t->engine)
        rc = wt__fail(err, WT_EINVAL, "name a folder with samples, or open a store with recorded use");
    if (rc == 0 && o->from && o->notes)
        rc = wt__fail(err, WT_EINVAL, "notes are written for recorded use only; the samples of a folder have theirs");
    o->seed = o->seed ? o->seed : 1;
    return rc;
}

static int write_fine_tuning_report(struct fine_tuning_run *t, wt_error *err)
{
    struct buffer line = {0};
    wt_generated *visible = &t->result->visible;
    wt__buffer_printf(&line,
                      "{\"rows\":%zu,\"train\":%zu,\"dev\":%zu,\"hard\":%zu,\"nothing_like\":%zu,\"dropped\":%zu,"
                      "\"left_out\":%zu,",
                      visible->rows, visible->train, visible->dev, visible->hard, t->rows.without_similar,
                      t->rows.without_note, t->samples.left_out);
    wt__stages_report(&t->asker, &line);
    wt__buffer_char(&line, '}');
    visible->report = wt__arena_copy(&t->result->arena, wt__buffer_view(&line));
    bool failed = line.failed || !visible->report;
    wt__buffer_clear(&line);
    if (t->samples.left_out > 0)
        wt__buffer_printf(&line,
                          "%zu rows were left out: the tool is not among the choices, or a text is missing or too long",
                          t->samples.left_out);
    else if (t->rows.without_note > 0)
        wt__buffer_printf(&line, "%zu rows were dropped because they got no usable note", t->rows.without_note);
    if (line.len > 0)
        visible->notice = wt__arena_copy(&t->result->arena, wt__buffer_view(&line));
    failed |= line.failed || (line.len > 0 && !visible->notice);
    wt__buffer_dispose(&line);
    return failed ? wt__fail_nomem(err) : 0;
}

static int run_fine_tuning(struct fine_tuning_run *t, wt_error *err)
{
    wt_generated *visible = &t->result->visible;
    wt__rng_seed(&t->rng, t->options.seed);
    int rc = open_fine_tuning_folder(t, err);
    if (rc == 0)
        rc = t->options.from ? read_sample_folder(t, err) : read_recorded_samples(t, err);
    if (rc == 0 && wt__progress_phase(&t->progress, "saving", 2))
        rc = wt__fail_cancelled(err);
    if (rc == 0)
        rc = write_fine_tuning_split(t, "train", false, &visible->train, err);
    if (rc == 0)
        rc = write_fine_tuning_split(t, "dev", true, &visible->dev, err);
    visible->path = wt__arena_copy(&t->result->arena, wt__str(t->options.out));
    if (rc == 0 && !visible->path)
        rc = wt__fail_nomem(err);
    visible->rows = t->samples.count;
    visible->tools = t->library.count;
    visible->hard = t->rows.hard_count;
    return rc < 0 ? rc : write_fine_tuning_report(t, err);
}

int wt__generate_fine_tuning(wt_engine *engine, struct chat_model *model, const wt_fine_tuning_options *given,
                             wt_generated **out, wt_error *err)
{
    struct fine_tuning_run t = {.engine = engine, .folder = {.lock = -1}};
    *out = NULL;
    int rc = wt__options_read(&t.options, sizeof t.options, given, err);
    if (rc == 0)
        rc = check_fine_tuning_options(&t, err);
    if (rc == 0 && t.options.notes) {
        t.model = model;
        rc = model ? 0 : wt__engine_chat(engine, &t.model, err);
    }
    if (rc < 0)
        return rc;
    t.result = calloc(1, sizeof *t.result);
    if (!t.result)
        return wt__fail_nomem(err);
    double began = wt__now_ms();
    wt__progress_init(&t.progress, t.options.progress, t.options.progress_context);
    rc = run_fine_tuning(&t, err);
    wt__progress_dispose(&t.progress);
    wt__generated_set_cost(t.result, &t.asker);
    t.result->visible.seconds = (wt__now_ms() - began) / 1000;
    wt__folder_close(&t.folder);
    wt__samples_dispose(&t.samples);
    wt__rows_dispose(&t.rows);
    wt__library_dispose(&t.library);
    wt__buffer_dispose(&t.settings);
    if (rc == 0)
        *out = &t.result->visible;
    else
        wt_generated_free(&t.result->visible);
    return rc;
}

int wt_generate_fine_tuning(wt_engine *engine, const wt_fine_tuning_options *options, wt_generated **out, wt_error *err)
{
    return wt__generate_fine_tuning(engine, NULL, options, out, err);
}
