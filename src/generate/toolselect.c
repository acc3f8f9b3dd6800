/* toolselect.c: wt_generate_toolselect: runs the stages in turn (ToolVerifier, section 2.1 and A.4.1 to A.4.3) and
 * writes the folder.
 *
 *   library.c       base tools ─ related tools ─ descriptions      or the store's own tools
 *   rows.c          instructions ─ lists, easy and hard ─ notes ─ samples.jsonl
 *   toolselect.c    report.json
 *
 * Differences from the paper: a question is a chat message that asks for JSON, not a text to complete; top-p is not
 * set; rules refuse what the authors removed by hand; the hard rows are a drawn share. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/sha256.h"
#include "encoder/model_dir.h"
#include "engine/engine.h"
#include "engine/sized_options.h"
#include "generate/internal.h"
#include "generate/toolselect.h"

enum { USUAL_TOOLS = 60, USUAL_RELATED = 2, USUAL_INSTRUCTIONS = 3, USUAL_CHOICES = 8, CATALOGUE_LEAST = 2 };
static const double USUAL_TEMPERATURE = 0.7, COSINE_OFF = 2;

struct toolselect_run {
    struct generate_session session;
    wt_toolselect_options options;   /* defaults filled in */
    const struct encoder *searching; /* the engine's, to search a catalogue; may be NULL */
    struct encoder *encoder;         /* the built-in one, to find duplicates; NULL to compare words only */
    struct library library;
    struct store_library catalogue;
    struct distinct queries;
    struct choice_rows rows;
    struct choice_samples samples;
    struct rng rng;
    size_t left_out; /* tools of the catalogue left out */
};

static int check_toolselect_options(struct toolselect_run *t, wt_error *err)
{
    wt_toolselect_options *o = &t->options;
    const wt_toolselect_options given = *o;
    WT_TRY(wt__generate_read_count(given.tools, USUAL_TOOLS, o->from_catalogue ? CATALOGUE_LEAST : SEED_TOOLS,
                                   WT_MAX_GENERATED_TOOLS, "tools", &o->tools, err));
    WT_TRY(wt__generate_read_count(given.related, USUAL_RELATED, 1, WT_MAX_RELATED, "related tools", &o->related, err));
    WT_TRY(wt__generate_read_count(given.instructions, USUAL_INSTRUCTIONS, 1, WT_MAX_INSTRUCTIONS,
                                   "instructions of a tool", &o->instructions, err));
    WT_TRY(
        wt__generate_read_count(given.choices, USUAL_CHOICES, 2, WT_MAX_CHOICES, "tools of a list", &o->choices, err));
    WT_TRY(wt__generate_read_share(given.hard, GENERATE_HARD_SHARE, 1, "the share of hard lists", &o->hard, err));
    WT_TRY(wt__generate_read_share(given.duplicate, GENERATE_DUPLICATE, COSINE_OFF, "the cosine of duplicates",
                                   &o->duplicate, err));
    WT_TRY(wt__generate_read_share(given.temperature, USUAL_TEMPERATURE, CHAT_TEMPERATURE_MAX, "the temperature",
                                   &o->temperature, err));
    if (given.duplicate < 0 || given.temperature < 0)
        return wt__fail(err, WT_EINVAL, "the cosine of duplicates and the temperature must not be negative");
    if (!o->out || !o->out[0])
        return wt__fail(err, WT_EINVAL, "name a folder for the data set");
    o->seed = o->seed ? o->seed : 1;
    return 0;
}

/* Opens the library of tools. If the engine has an encoder, the built-in encoder finds duplicates, because a tuned
 * encoder would take far longer (docs/generate.md). Without an encoder, duplicates are found by words only. */
static int open_tool_library(struct toolselect_run *t, wt_error *err)
{
    if (t->session.engine)
        WT_TRY(wt__generate_load_encoder(t->session.engine, &t->session.progress, &t->searching, err));
    if (t->searching)
        WT_TRY(wt__encoder_open(&t->encoder, MODEL_BUILT_IN, err));
    WT_TRY(wt__library_open(&t->library, t->encoder, t->options.duplicate, err));
    WT_TRY(wt__distinct_open(&t->queries, t->encoder, t->options.duplicate, err));
    t->catalogue = (struct store_library){
        .engine = t->session.engine, .library = &t->library, .recipe = t->searching ? "hybrid" : "bm25"};
    if (t->options.from_catalogue)
        WT_TRY(
            wt__store_library_draw(&t->catalogue, t->options.tools, &t->rng, &t->session.progress, &t->left_out, err));
    if (t->options.from_catalogue && t->library.count < CATALOGUE_LEAST)
        return wt__fail(err, WT_EEMPTY, "a list needs at least two tools with a description; the store has %zu",
                        t->library.count);
    return 0;
}

/* Writes the options of the data set on one line: a run continues only with the same line. */
static int write_toolselect_settings(struct toolselect_run *t, wt_error *err)
{
    const wt_toolselect_options *o = &t->options;
    struct sha256 sha;
    char hex[65];
    wt__sha256_begin(&sha);
    for (size_t i = 0; i < t->library.count; i++) {
        wt__sha256_update(&sha, t->library.tools[i].name.ptr, t->library.tools[i].name.len + 1);
        wt__sha256_update(&sha, t->library.tools[i].description.ptr, t->library.tools[i].description.len + 1);
    }
    wt__generate_end_digest(&sha, hex);
    struct buffer *out = &t->session.settings;
    wt__buffer_printf(out,
                      "{\"kind\":\"toolselect\",\"version\":1,\"tools\":%zu,\"related\":%zu,\"instructions\":%zu,"
                      "\"choices\":%zu,\"hard\":%.6g,\"duplicate\":%.6g,\"temperature\":%.6g,\"seed\":%" PRIu64
                      ",\"from_catalogue\":%s,\"model\":",
                      o->tools, o->related, o->instructions, o->choices, o->hard, o->duplicate, o->temperature, o->seed,
                      o->from_catalogue ? "true" : "false");
    wt__buffer_json(out, wt__str(t->session.model->name));
    wt__generate_write_json(out, ",\"encoder\":", wt__str(t->encoder ? wt__encoder_hash(t->encoder) : ""));
    if (o->from_catalogue)
        wt__buffer_printf(out, ",\"catalogue\":\"%s\",\"search\":\"%s\"", hex,
                          t->searching ? wt__encoder_hash(t->searching) : "");
    wt__buffer_char(out, '}');
    return out->failed ? wt__fail_nomem(err) : 0;
}

static int find_family(void *self, const struct choice_row *row, size_t *places, size_t most, size_t *count,
                       wt_error *err)
{
    (void)err;
    *count = wt__library_siblings(self, row->tool, places, most);
    return 0;
}

static int run_toolselect_stages(struct toolselect_run *t, wt_error *err)
{
    const wt_toolselect_options *o = &t->options;
    const struct similarity_source source =
        o->from_catalogue ? (struct similarity_source){&t->catalogue, wt__store_library_find_similar}
                          : (struct similarity_source){&t->library, find_family};
    if (!o->from_catalogue) {
        WT_TRY(wt__library_add_seeds(&t->library, err));
        WT_TRY(wt__library_generate(&t->library, &t->session.runner, o->tools, o->related, err));
    }
    const size_t pool = t->library.count;
    const struct list_settings lists = {.choices = o->choices, .related = o->related, .pool = pool, .hard = o->hard};
    WT_TRY(wt__rows_write_instructions(&t->rows, &t->library, pool, o->instructions, &t->session.runner, &t->queries,
                                       err));
    WT_TRY(wt__rows_build_lists(&t->rows, &lists, &source, &t->rng, &t->session.progress, err));
    return wt__rows_write_notes(&t->rows, &t->library, &t->session.runner, err);
}

static void write_library_tools(const struct library *library, struct buffer *out)
{
    static const char *const origins[] = {"seed", "generated", "related", "catalogue"}; /* by enum tool_origin */
    for (size_t i = 0; i < library->count; i++) {
        const struct library_tool *tool = &library->tools[i];
        wt__generate_write_json(out, "{\"name\": ", tool->name);
        wt__generate_write_json(out, ", \"description\": ", tool->description);
        wt__buffer_printf(out, ", \"origin\": \"%s\"", origins[tool->origin]);
        if (tool->base != i)
            wt__generate_write_json(out, ", \"related_to\": ", library->tools[tool->base].name);
        wt__buffer_text(out, "}\n");
    }
}

/* Results of the paper's own run (ToolVerifier, sections 2.1.1 and 2.1.2, and counts of its samples). */
static const char paper[] =
    "{\"from\":\"ToolVerifier, ToolSelect\",\"tools\":173,\"rows\":555,\"hard\":75,\"list_sizes\":{\"2\":18,\"3\":39,"
    "\"4\":16,\"8\":482},\"mean_choices\":7.34,\"mean_note_characters\":1054,\"curation\":\"7 duplicate tools and 56 "
    "noisy or duplicate rows were taken out by hand; here rules turn away pieces, as counted in stages, and nobody has "
    "looked\"}";

/* Writes "list_sizes":{"2":18,...},"mean_choices":...,"mean_note_characters":... */
static void write_list_sizes(const struct choice_samples *samples, struct buffer *out)
{
    size_t sizes[WT_MAX_CHOICES + 1] = {0}, choices = 0, characters = 0;
    const char *comma = "";
    for (size_t i = 0; i < samples->count; i++) {
        sizes[samples->items[i].choice_count]++;
        choices += samples->items[i].choice_count;
        characters += wt__piece_characters(samples->items[i].thought);
    }
    wt__buffer_text(out, "\"list_sizes\":{");
    for (size_t size = 0; size <= WT_MAX_CHOICES; size++) {
        if (sizes[size] == 0)
            continue;
        wt__buffer_printf(out, "%s\"%zu\":%zu", comma, size, sizes[size]);
        comma = ",";
    }
    const double rows = samples->count ? (double)samples->count : 1;
    wt__buffer_printf(out, "},\"mean_choices\":%.2f,\"mean_note_characters\":%.0f", (double)choices / rows,
                      (double)characters / rows);
}

static int write_toolselect_report(struct toolselect_run *t, bool complete, wt_error *err)
{
    struct buffer out = {0};
    size_t hard = 0;
    for (size_t i = 0; i < t->samples.count; i++)
        hard += t->samples.items[i].is_hard;
    wt__session_begin_report(&t->session, complete, &out);
    if (t->encoder)
        wt__generate_write_json(&out, ",\"encoder\":", wt__str(wt__encoder_name(t->encoder)));
    else
        wt__buffer_text(&out, ",\"encoder\":null");
    wt__buffer_printf(
        &out, ",\"tools\":%zu,\"rows\":%zu,\"hard\":%zu,\"nothing_like\":%zu,\"dropped\":%zu,\"left_out\":%zu,",
        t->library.count, t->samples.count, hard, t->rows.without_similar, t->rows.without_note, t->left_out);
    write_list_sizes(&t->samples, &out);
    wt__buffer_char(&out, ',');
    wt__stages_report(&t->session.runner, &out);
    wt__buffer_printf(&out, ",\"paper\":%s}", paper);
    return wt__session_report(&t->session, &out, err);
}

static int write_toolselect_files(struct toolselect_run *t, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer samples = {0}, tools = {0};
    WT_TRY(wt__rows_to_samples(&t->rows, &t->library, &t->samples, err));
    wt__samples_write(&t->samples, &samples);
    write_library_tools(&t->library, &tools);
    WT_TRY(wt__folder_write(&t->session.folder, "tools.jsonl", &tools, err));
    WT_TRY(wt__folder_write(&t->session.folder, "samples.jsonl", &samples, err));
    return write_toolselect_report(t, true, err);
}

/* Writes the notice on one line. */
static int write_toolselect_notice(struct toolselect_run *t, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer line = {0};
    for (enum stage_id id = 0; id < STAGES; id++) {
        const struct stage_count *count = &t->session.runner.counts[id];
        if (count->made < count->wanted)
            wt__buffer_printf(&line, "%s%s: %zu of %zu%s", line.len ? "; " : "", wt__stage_name(id), count->made,
                              count->wanted, count->gave_up ? " (ended early after too many unusable answers)" : "");
    }
    if (!t->encoder)
        wt__buffer_printf(&line, "%swithout an encoder, duplicates are found by their words only",
                          line.len ? "; " : "");
    return wt__session_set_text(&t->session, &line, &t->session.result->visible.notice, err);
}

static int finish_toolselect(struct toolselect_run *t, wt_error *err)
{
    wt_generated *visible = &t->session.result->visible;
    WT_TRY(write_toolselect_files(t, err));
    WT_TRY(write_toolselect_notice(t, err));
    visible->tools = t->library.count;
    visible->rows = t->rows.count;
    visible->hard = t->rows.hard_count;
    if (t->rows.count == 0)
        return wt__fail(err, WT_EEMPTY,
                        "no row came from %" PRIu64 " questions to %s; see %s/report.json for the reasons",
                        t->session.runner.cost.questions, t->session.model->name, t->options.out);
    return 0;
}

static int run_toolselect(struct toolselect_run *t, wt_error *err)
{
    wt__rng_seed(&t->rng, t->options.seed);
    WT_TRY(open_tool_library(t, err));
    WT_TRY(write_toolselect_settings(t, err));
    WT_TRY(wt__session_open(&t->session, t->options.out, t->options.temperature, t->options.seed, err));
    int rc = run_toolselect_stages(t, err);
    if (rc == 0)
        return finish_toolselect(t, err);
    wt_error unused;
    write_toolselect_report(t, false, &unused); /* record the progress so far */
    return rc;
}

int wt__generate_toolselect(wt_engine *engine, struct chat_model *model, const wt_toolselect_options *given,
                            wt_generated **out, wt_error *err)
{
    struct toolselect_run t = {.left_out = 0};
    *out = NULL;
    WT_TRY(wt__options_read(&t.options, sizeof t.options, given, err));
    WT_TRY(check_toolselect_options(&t, err));
    if (!engine && (!model || t.options.from_catalogue))
        return wt__fail(err, WT_EINVAL, "an engine is needed, for its language model or its catalogue");
    int rc = wt__session_begin(&t.session, engine, model, t.options.progress, t.options.progress_context, err);
    if (rc == 0)
        rc = run_toolselect(&t, err);
    wt__samples_dispose(&t.samples);
    wt__rows_dispose(&t.rows);
    wt__distinct_dispose(&t.queries);
    wt__library_dispose(&t.library);
    wt__encoder_close(t.encoder);
    return wt__session_end(&t.session, rc, out);
}

int wt_generate_toolselect(wt_engine *engine, const wt_toolselect_options *options, wt_generated **out, wt_error *err)
{
    return wt__generate_toolselect(engine, NULL, options, out, err);
}
