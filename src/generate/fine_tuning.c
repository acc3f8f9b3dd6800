/* fine_tuning.c: wt_generate_fine_tuning: takes samples from a folder or from recorded use, splits them by request,
 * and writes them in one of the layouts that toolselect.h shows.
 *
 * The first line of a file is {"header": {...}}. It names the messages that are learned and the training settings of
 * the paper (ToolVerifier, A.5). A training script does not train on this line. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "call/language_model.h"
#include "engine/engine.h"
#include "engine/sized_options.h"
#include "generate/internal.h"
#include "generate/toolselect.h"

enum {
    USAGE_PAGE = 1000, /* usages read at once */
    USUAL_LIMIT = 10000,
    USUAL_RELATED = 2,
    USUAL_CHOICES = 8,
    PART_BYTES_MAX = SAMPLE_LINE_BYTES_MAX,
};
static const double USUAL_DEV = 0.1, USUAL_TEMPERATURE = 0.7, DEV_MOST = 0.9;

#define SYSTEM_MESSAGE                                                                                                 \
    "Choose the one tool that the user's instruction needs, by the names and descriptions of the tools. Think about "  \
    "it first, then act."

/* ---------------------------------------------------------------- recorded use */

/* One drawn usage. */
struct drawn_usage {
    char *request, *words; /* words: the request's words in lower case; requests with the same words count as one */
    char **tools;          /* [count] ids of the tools that still exist */
    size_t count;
    int64_t id;
};

struct usage_sample {
    struct drawn_usage *uses;  /* [count] */
    size_t count, limit, seen; /* limit: maximum of count; seen: usable usages so far */
};

static void dispose_drawn_usage(struct drawn_usage *use)
{
    for (size_t i = 0; i < use->count; i++)
        free(use->tools[i]);
    free(use->tools);
    free(use->request);
    free(use->words);
    *use = (struct drawn_usage){0};
}

static void dispose_usage_sample(struct usage_sample *sample)
{
    for (size_t i = 0; i < sample->count; i++)
        dispose_drawn_usage(&sample->uses[i]);
    free(sample->uses);
}

static int copy_drawn_usage(struct drawn_usage *out, const wt_usage *usage, wt_error *err)
{
    struct buffer words = {0}, line = {0};
    wt__piece_words(&words, wt__str(usage->request));
    wt__piece_line(&line, wt__str(usage->request), WT_MAX_REQUEST_BYTES);
    *out = (struct drawn_usage){.words = wt__buffer_take(&words), .request = wt__buffer_take(&line), .id = usage->id};
    out->tools = calloc(usage->tool_count + 1, sizeof *out->tools);
    bool whole = out->words && out->request && out->tools;
    for (size_t i = 0; whole && i < usage->tool_count; i++)
        if (usage->tools[i]->known) {
            const char *id = usage->tools[i]->id;
            whole = (out->tools[out->count++] = wt__copy_string(id, strlen(id))) != NULL;
        }
    if (!whole)
        dispose_drawn_usage(out);
    return whole ? 0 : wt__fail_nomem(err);
}

/* True if a tool of the usage still exists and the usage did not fail. */
static bool is_usable_usage(const wt_usage *usage)
{
    bool known = false;
    for (size_t i = 0; i < usage->tool_count; i++)
        known |= usage->tools[i]->known != 0;
    return known && strcmp(usage->outcome, "failed") != 0;
}

/* Reservoir sampling: each of the `seen` usages is kept with the same probability. */
static int sample_usage(struct usage_sample *drawn, const wt_usage *usage, struct rng *rng, wt_error *err)
{
    size_t at = drawn->seen++;
    if (at >= drawn->limit)
        at = wt__rng_below(rng, drawn->seen);
    if (at >= drawn->limit)
        return 0;
    struct drawn_usage use;
    WT_TRY(copy_drawn_usage(&use, usage, err));
    if (at < drawn->count)
        dispose_drawn_usage(&drawn->uses[at]);
    else
        drawn->count++;
    drawn->uses[at] = use;
    return 0;
}

static void free_usage_page(wt_usages **page)
{
    wt_usages_free(*page);
}

static int draw_usages(struct usage_sample *drawn, wt_engine *engine, struct rng *rng, struct progress *progress,
                       wt_error *err)
{
    wt_usage_filter filter;
    wt_usage_filter_init(&filter);
    filter.limit = USAGE_PAGE;
    for (bool more = true; more;) {
        WT_CLEANUP(free_usage_page) wt_usages *page = NULL;
        WT_TRY(wt_list_usage(engine, &filter, &page, err));
        for (size_t i = 0; i < page->len; i++)
            if (is_usable_usage(page->items[i]))
                WT_TRY(sample_usage(drawn, page->items[i], rng, err));
        more = page->len == USAGE_PAGE;
        if (more)
            filter.after_id = page->items[page->len - 1]->id;
        if (wt__progress_step(progress, page->len))
            return wt__fail_cancelled(err);
    }
    return drawn->count > 0 ? 0
                            : wt__fail(err, WT_EEMPTY,
                                       "the store has no recorded use of existing tools; add some with "
                                       "`whichtool usage add`, or name a data set with --from FOLDER");
}

static int compare_drawn_usages(const void *a, const void *b)
{
    const struct drawn_usage *x = a, *y = b;
    int order = strcmp(x->words, y->words);
    return order ? order : (x->id > y->id) - (x->id < y->id);
}

/* Finds the tool by its id, and sets *place. *taken is false if the tool cannot be used: it no longer exists, has no
 * description, or has the same name as another tool. */
static int find_used_tool(struct store_library *catalogue, const char *id, size_t *place, bool *taken, wt_error *err)
{
    wt_tools *tools = NULL;
    wt_error why;
    *taken = false;
    int rc = wt_get(catalogue->engine, id, &tools, &why);
    if (rc == 0)
        rc = wt__store_library_add(catalogue, tools->items[0], place, taken, &why);
    wt_tools_free(tools);
    if (rc < 0 && err)
        *err = why;
    return rc == WT_ENOTFOUND || rc == WT_EINVAL ? 0 : rc;
}

/* Adds one row for each tool used by usages [count], whose requests have the same words. */
static int add_usage_group(struct choice_rows *rows, struct store_library *catalogue, const struct drawn_usage *uses,
                           size_t count, wt_error *err)
{
    size_t total = 0, right = 0;
    for (size_t u = 0; u < count; u++)
        total += uses[u].count;
    size_t *places = wt__arena_array(&rows->arena, size_t, total + 1);
    WT_CHECK_ALLOC(places, err);
    for (size_t u = 0; u < count; u++)
        for (size_t i = 0; i < uses[u].count; i++) {
            bool taken, known = false;
            WT_TRY(find_used_tool(catalogue, uses[u].tools[i], &places[right], &taken, err));
            for (size_t k = 0; k < right; k++)
                known |= taken && places[k] == places[right];
            right += taken && !known;
        }
    for (size_t i = 0; i < right; i++) {
        WT_TRY(wt__rows_add(rows, wt__str(uses[0].request), places[i], err));
        size_t *also_right = wt__arena_array(&rows->arena, size_t, right);
        WT_CHECK_ALLOC(also_right, err);
        for (size_t k = 0; k < right; k++)
            if (k != i)
                also_right[rows->rows[rows->count - 1].also_right_count++] = places[k];
        rows->rows[rows->count - 1].also_right = also_right;
    }
    return 0;
}

/* Adds rows from up to `limit` usages that did not fail, drawn by rng: one row for each request and tool. Requests with
 * the same words count as one request, with the tools of all of them. The other tools of a request are kept out of a
 * row's list. Errors: WT_EEMPTY (no such usage), those of wt_list_usage, WT_ECANCELLED, WT_ENOMEM. */
static int add_recorded_rows(struct choice_rows *rows, struct store_library *catalogue, size_t limit, struct rng *rng,
                             struct progress *progress, wt_error *err)
{
    WT_CLEANUP(dispose_usage_sample)
    struct usage_sample drawn = {.limit = limit, .uses = wt__alloc_zeros(limit, sizeof *drawn.uses)};
    WT_CHECK_ALLOC(drawn.uses, err);
    if (wt__progress_phase(progress, "reading", 0))
        return wt__fail_cancelled(err);
    WT_TRY(draw_usages(&drawn, catalogue->engine, rng, progress, err));
    qsort(drawn.uses, drawn.count, sizeof *drawn.uses, compare_drawn_usages);
    for (size_t i = 0, next; i < drawn.count && rows->count < limit; i = next) {
        next = i + 1;
        while (next < drawn.count && strcmp(drawn.uses[next].words, drawn.uses[i].words) == 0)
            next++;
        WT_TRY(add_usage_group(rows, catalogue, drawn.uses + i, next - i, err));
    }
    return 0;
}

/* ---------------------------------------------------------------- a row */

/* Appends `before`, then the text folded to one line. */
static void write_folded_text(struct buffer *out, const char *before, struct str text)
{
    wt__buffer_text(out, before);
    wt__piece_line(out, text, PART_BYTES_MAX);
}

static void write_choices_message(const struct choice_sample *sample, struct buffer *out)
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

static void write_calltool_message(const struct choice_sample *sample, struct str thought, struct buffer *out)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer name = {0};
    if (thought.len > 0) {
        write_folded_text(out, "Thought: ", thought);
        wt__buffer_char(out, '\n');
    }
    wt__piece_line(&name, sample->choices[sample->right].name, PART_BYTES_MAX);
    wt__generate_write_json(out, "Act: CALLTOOL[", wt__buffer_view(&name));
    wt__buffer_char(out, ']');
    out->failed |= name.failed;
}

/* Appends the question of wt_call for the sample, and sets *right to the place of the right tool in its list. The
 * question has at most SELECTION_MOST_CANDIDATES tools. In a longer list, the right tool moves to the last place. */
static int write_pick_question(const struct prompt *prompt, const struct choice_sample *sample, struct buffer *out,
                               size_t *right, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    size_t count = sample->choice_count < SELECTION_MOST_CANDIDATES ? sample->choice_count : SELECTION_MOST_CANDIDATES;
    struct str text, *items = wt__arena_array(&arena, struct str, count);
    WT_CHECK_ALLOC(items, err);
    *right = sample->right < count ? sample->right : count - 1;
    for (size_t i = 0; i < count; i++) {
        const struct sample_choice *choice = &sample->choices[i == *right ? sample->right : i];
        items[i] = wt__prompt_tool(choice->name, choice->description, SELECTION_MAX_TOOL_BYTES, &arena);
        WT_CHECK_ALLOC(items[i].ptr, err);
    }
    const struct prompt_value values[] = {{.slot = "tools", .items = items, .item_count = count},
                                          {.slot = "request", .text = sample->query}};
    WT_TRY(wt__prompt_fill(prompt, values, 2, &arena, &text, err));
    wt__buffer_str(out, text);
    return 0;
}

static void write_pick_answer(size_t right, struct str thought, struct buffer *out)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer line = {0};
    wt__piece_line(&line, thought, PART_BYTES_MAX);
    wt__generate_write_json(out, "{\"thought\": ", wt__buffer_view(&line));
    wt__buffer_printf(out, ", \"tool\": %zu}", right + 1);
    out->failed |= line.failed;
}

/* Returns the first sentences of a note, of at most `words` words together; at least one sentence. */
static struct str shorten_note(struct str note, size_t words)
{
    size_t kept = 0, seen = 0;
    for (size_t i = 0; i < note.len; i++) {
        bool blank = wt__is_blank(note.ptr[i]);
        bool ends = blank && i > 0 && strchr(".!?", note.ptr[i - 1]);
        seen += blank && i > 0 && !wt__is_blank(note.ptr[i - 1]);
        if (ends && (seen <= words || kept == 0))
            kept = i;
        if (seen > words && kept > 0)
            return (struct str){note.ptr, kept};
    }
    return seen < words || kept == 0 ? note : (struct str){note.ptr, kept};
}

int wt__row_writer_open(struct row_writer *out, enum row_layout layout, wt_error *err)
{
    *out = (struct row_writer){.layout = layout};
    return layout == LAYOUT_CALL ? wt__prompt_open(&out->prompt, "call-pick", err) : 0;
}

int wt__fine_tuning_row(const struct row_writer *writer, const struct choice_sample *sample, struct buffer *out,
                        size_t *characters, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer user = {0};
    WT_CLEANUP(wt__buffer_dispose) struct buffer assistant = {0};
    bool plain = writer->layout == LAYOUT_CALL;
    struct str thought = writer->note_words > 0 ? shorten_note(sample->thought, writer->note_words) : sample->thought;
    if (plain) {
        size_t right = 0;
        WT_TRY(write_pick_question(&writer->prompt, sample, &user, &right, err));
        write_pick_answer(right, thought, &assistant);
    } else {
        write_choices_message(sample, &user);
        write_calltool_message(sample, thought, &assistant);
    }
    wt__buffer_text(out, "{\"messages\":[");
    if (!plain)
        wt__buffer_text(out, "{\"role\":\"system\",\"content\":\"" SYSTEM_MESSAGE "\"},");
    wt__generate_write_json(out, "{\"role\":\"user\",\"content\":", wt__buffer_view(&user));
    wt__generate_write_json(out, "},{\"role\":\"assistant\",\"content\":", wt__buffer_view(&assistant));
    const size_t masked = (plain ? 0 : sizeof SYSTEM_MESSAGE - 1) + wt__piece_characters(wt__buffer_view(&user)),
                 learned = wt__piece_characters(wt__buffer_view(&assistant));
    wt__buffer_printf(out, "}],\"loss\":{\"messages\":[%d],\"masked_characters\":%zu,\"learned_characters\":%zu}}\n",
                      plain ? 1 : 2, masked, learned);
    *characters = masked + learned;
    WT_CHECK_ALLOC(!user.failed && !assistant.failed && !out->failed, err);
    return 0;
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
    struct stage_runner runner;
    struct rng rng;
    struct buffer settings;
    struct row_writer writer;
    struct generated *result;
};

/* Sets *dev to true if the request belongs to dev, by a hash of its words and the seed. Adding rows therefore never
 * moves a request between train and dev. */
static int choose_dev_side(const struct fine_tuning_run *t, struct str query, bool *dev, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer words = {0};
    unsigned char digest[32];
    uint64_t drawn = 0;
    wt__buffer_printf(&words, "%" PRIu64 " ", t->options.seed);
    wt__piece_words(&words, query);
    WT_CHECK_ALLOC(!words.failed, err);
    wt__sha256(words.ptr, words.len, digest);
    for (size_t i = 0; i < 6; i++)
        drawn = drawn << 8 | digest[i];
    *dev = (double)drawn / (double)(1ull << 48) < t->options.dev;
    return 0;
}

static void write_fine_tuning_header(enum row_layout layout, const char *split, size_t rows, bool thoughts,
                                     size_t longest, struct buffer *out)
{
    wt__buffer_printf(out,
                      "{\"header\":{\"format\":\"whichtool-fine-tuning/2\",\"layout\":\"%s\",\"split\":\"%s\","
                      "\"rows\":%zu,\"thoughts\":%s,\"longest_row_characters\":%zu,\"loss\":{\"learned\":"
                      "[\"assistant\"],\"masked\":[\"system\",\"user\"]},\"settings\":{\"from\":\"ToolVerifier\","
                      "\"epochs\":3,\"learning_rate\":"
                      "1e-05,\"warm_up\":true,\"batch\":8,\"weight_decay\":0.1,\"max_thought_tokens\":480}}}\n",
                      layout == LAYOUT_CALL ? "call" : "toolverifier", split, rows, thoughts ? "true" : "false",
                      longest);
}

static void put_right_first(struct choice_sample *sample)
{
    struct sample_choice right = sample->choices[sample->right];
    memmove(sample->choices + 1, sample->choices, sample->right * sizeof right);
    sample->choices[0] = right;
    sample->right = 0;
}

/* Writes SPLIT.jsonl with the rows of train or, if `dev`, of dev. Sets *count to their number. */
static int write_fine_tuning_split(struct fine_tuning_run *t, const char *split, bool dev, size_t *count, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer rows = {0}, file = {0};
    char name[16];
    size_t longest = 0;
    bool thoughts = true;
    *count = 0;
    for (size_t i = 0; i < t->samples.count; i++) {
        struct choice_sample *sample = &t->samples.items[i];
        bool side = false;
        size_t characters;
        WT_TRY(choose_dev_side(t, sample->query, &side, err));
        if (side != dev)
            continue;
        if (t->options.right_first)
            put_right_first(sample);
        WT_TRY(wt__fine_tuning_row(&t->writer, sample, &rows, &characters, err));
        longest = characters > longest ? characters : longest;
        thoughts &= sample->thought.len > 0;
        ++*count;
    }
    write_fine_tuning_header(t->writer.layout, split, *count, thoughts && *count > 0, longest, &file);
    wt__buffer_str(&file, wt__buffer_view(&rows));
    file.failed |= rows.failed;
    snprintf(name, sizeof name, "%s.jsonl", split);
    return wt__folder_write(&t->folder, name, &file, err);
}

/* ---------------------------------------------------------------- sources of the samples */

static int read_sample_folder(struct fine_tuning_run *t, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena scratch = {0};
    WT_AUTO_FREE char *bytes = NULL;
    size_t len = 0;
    const char *path = wt__path_join(&scratch, t->options.from, "samples.jsonl");
    WT_CHECK_ALLOC(path, err);
    WT_TRY(wt__file_read(&bytes, &len, path, WT_MAX_FILE_BYTES, err));
    WT_TRY(wt__samples_parse(&t->samples, (struct str){bytes, len}, path, err));
    if (t->samples.count == 0)
        return wt__fail(err, WT_EEMPTY, "%s has no valid row", path);
    return 0;
}

/* Makes samples from recorded use. The lists are drawn from a part of the catalogue, so that a catalogue of a million
 * tools is not read whole. */
static int read_recorded_samples(struct fine_tuning_run *t, wt_error *err)
{
    const wt_fine_tuning_options *o = &t->options;
    const struct encoder *encoder = NULL;
    size_t left_out;
    WT_TRY(wt__generate_load_encoder(t->engine, &t->progress, &encoder, err));
    t->catalogue = (struct store_library){t->engine, &t->library, encoder ? "hybrid" : "bm25"};
    WT_TRY(wt__library_open(&t->library, NULL, 1, err));
    WT_TRY(wt__store_library_draw(&t->catalogue, WT_MAX_GENERATED_TOOLS, &t->rng, &t->progress, &left_out, err));
    const struct list_settings lists = {
        .choices = o->choices, .related = o->related, .pool = t->library.count, .hard = o->hard};
    const struct similarity_source source = {&t->catalogue, wt__store_library_find_similar};
    WT_TRY(add_recorded_rows(&t->rows, &t->catalogue, o->limit, &t->rng, &t->progress, err));
    WT_TRY(wt__rows_build_lists(&t->rows, &lists, &source, &t->rng, &t->progress, err));
    if (o->notes)
        WT_TRY(wt__rows_write_notes(&t->rows, &t->library, &t->runner, err));
    WT_TRY(wt__rows_to_samples(&t->rows, &t->library, &t->samples, err));
    if (t->samples.count == 0)
        return wt__fail(err, WT_EEMPTY, "the recorded use gave no row");
    return 0;
}

static int open_fine_tuning_folder(struct fine_tuning_run *t, wt_error *err)
{
    const wt_fine_tuning_options *o = &t->options;
    if (o->notes) {
        wt__buffer_printf(&t->settings,
                          "{\"kind\":\"fine-tuning\",\"version\":1,\"seed\":%" PRIu64 ",\"model\":", o->seed);
        wt__buffer_json(&t->settings, wt__str(t->model->name));
        wt__buffer_char(&t->settings, '}');
        WT_CHECK_ALLOC(!t->settings.failed, err);
    }
    WT_TRY(wt__folder_open(&t->folder, o->out, o->notes ? t->settings.ptr : NULL, t->model, err));
    t->runner = (struct stage_runner){.model = wt__folder_model(&t->folder),
                                      .temperature = o->temperature,
                                      .seed = o->seed,
                                      .progress = &t->progress};
    return 0;
}

/* ---------------------------------------------------------------- the run */

static int check_fine_tuning_options(struct fine_tuning_run *t, wt_error *err)
{
    wt_fine_tuning_options *o = &t->options;
    const wt_fine_tuning_options given = *o;
    WT_TRY(wt__generate_read_count(given.related, USUAL_RELATED, 1, WT_MAX_RELATED, "related tools", &o->related, err));
    WT_TRY(
        wt__generate_read_count(given.choices, USUAL_CHOICES, 2, WT_MAX_CHOICES, "tools of a list", &o->choices, err));
    WT_TRY(wt__generate_read_count(given.limit, USUAL_LIMIT, 1, WT_MAX_FINE_TUNING_ROWS, "rows", &o->limit, err));
    WT_TRY(wt__generate_read_share(given.hard, GENERATE_HARD_SHARE, 1, "the share of hard lists", &o->hard, err));
    WT_TRY(wt__generate_read_share(given.dev, USUAL_DEV, DEV_MOST, "the share of dev", &o->dev, err));
    WT_TRY(wt__generate_read_share(given.temperature, USUAL_TEMPERATURE, CHAT_TEMPERATURE_MAX, "the temperature",
                                   &o->temperature, err));
    if (!o->out || !o->out[0])
        return wt__fail(err, WT_EINVAL, "name a folder for the rows");
    if (!o->from && !t->engine)
        return wt__fail(err, WT_EINVAL, "name a folder with samples, or open a store with recorded use");
    if (o->from && o->notes)
        return wt__fail(err, WT_EINVAL,
                        "notes are written for recorded use only; the samples of a folder have their own");
    bool theirs = o->layout && strcmp(o->layout, "toolverifier") == 0;
    if (o->layout && !theirs && strcmp(o->layout, "call") != 0)
        return wt__fail(err, WT_EINVAL, "unknown layout \"%.40s\"; use call or toolverifier", o->layout);
    t->writer.layout = theirs ? LAYOUT_TOOLVERIFIER : LAYOUT_CALL;
    o->seed = o->seed ? o->seed : 1;
    return 0;
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
    wt__stages_report(&t->runner, &line);
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
    WT_TRY(wt__row_writer_open(&t->writer, t->writer.layout, err));
    t->writer.note_words = t->options.note_words;
    WT_TRY(open_fine_tuning_folder(t, err));
    WT_TRY(t->options.from ? read_sample_folder(t, err) : read_recorded_samples(t, err));
    if (wt__progress_phase(&t->progress, "saving", 2))
        return wt__fail_cancelled(err);
    WT_TRY(write_fine_tuning_split(t, "train", false, &visible->train, err));
    WT_TRY(write_fine_tuning_split(t, "dev", true, &visible->dev, err));
    visible->path = wt__arena_copy(&t->result->arena, wt__str(t->options.out));
    WT_CHECK_ALLOC(visible->path, err);
    visible->rows = t->samples.count;
    visible->tools = t->library.count;
    visible->hard = t->rows.hard_count;
    return write_fine_tuning_report(t, err);
}

int wt__generate_fine_tuning(wt_engine *engine, struct chat_model *model, const wt_fine_tuning_options *given,
                             wt_generated **out, wt_error *err)
{
    struct fine_tuning_run t = {.engine = engine, .folder = {.lock = -1}};
    *out = NULL;
    WT_TRY(wt__options_read(&t.options, sizeof t.options, given, err));
    WT_TRY(check_fine_tuning_options(&t, err));
    if (t.options.notes) {
        t.model = model;
        if (!model)
            WT_TRY(wt__engine_chat(engine, &t.model, err));
    }
    t.result = calloc(1, sizeof *t.result);
    WT_CHECK_ALLOC(t.result, err);
    double began = wt__now_ms();
    wt__progress_init(&t.progress, t.options.progress, t.options.progress_context);
    int rc = run_fine_tuning(&t, err);
    wt__progress_dispose(&t.progress);
    wt__generated_set_cost(t.result, &t.runner);
    t.result->visible.seconds = (wt__now_ms() - began) / 1000;
    wt__folder_close(&t.folder);
    wt__samples_dispose(&t.samples);
    wt__rows_dispose(&t.rows);
    wt__library_dispose(&t.library);
    wt__buffer_dispose(&t.settings);
    wt__prompt_dispose(&t.writer.prompt);
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
