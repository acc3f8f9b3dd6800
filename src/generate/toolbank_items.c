/* toolbank_items.c: asks for the requests of a batch, polishes them, searches for them, and adds the valid ones to the
 * set (toolbank.h lists the steps). */
#include <stdlib.h>
#include <strings.h>

#include "base/buffer.h"
#include "base/pool.h"
#include "base/sha256.h"
#include "catalog/dataset.h"
#include "generate/requests.h"
#include "generate/toolbank.h"

/* ---------------------------------------------------------------- examples */

/* Six domains, two to four tools each, all fictitious. */
static const char *const seeds[EXAMPLES_SEEDS] = {
    "{\"instruction\": \"My sister lands in Porto at nine on Friday evening; get her a ride to the flat and tell her "
    "on the phone where the driver waits.\", \"functions\": [\"flight_status\", \"book_ride\", \"send_message\"], "
    "\"explanation\": \"The arrival decides when the ride is booked, and the pick-up point of the ride goes into the "
    "message.\"}",
    "{\"instruction\": \"Which of our three warehouses would run out of the blue kettles first at last month's "
    "pace?\", "
    "\"functions\": [\"list_sales\", \"stock_level\"], \"explanation\": \"The pace of sales is set against what each "
    "warehouse has.\"}",
    "{\"instruction\": \"Put the scanned 2019 contracts with Hale & Sons into one searchable PDF and file it under "
    "suppliers\", \"functions\": [\"find_files\", \"recognise_text\", \"merge_pdf\", \"move_file\"], \"explanation\": "
    "\"The scans are found, made searchable, joined, and the result is filed.\"}",
    "{\"instruction\": \"I'd like the mean rainfall of the last ten Aprils in Bergen as a chart that I can paste into "
    "a report.\", \"functions\": [\"climate_history\", \"column_mean\", \"bar_chart\"], \"explanation\": \"The history "
    "gives the columns, their means are what the chart draws.\"}",
    "{\"instruction\": \"Find a pharmacy that is open now near 12 Rue Daguerre and walk me there avoiding stairs\", "
    "\"functions\": [\"places_nearby\", \"walking_route\"], \"explanation\": \"The place that is found is where the "
    "route ends.\"}",
    "{\"instruction\": \"Since yesterday's release the checkout page is slow, so roll back whichever change touched "
    "it and let the team know what you undid.\", \"functions\": [\"list_deployments\", \"diff_release\", "
    "\"roll_back\", \"post_to_channel\"], \"explanation\": \"The change is found among the deployments, undone, and "
    "what was undone is posted.\"}",
};

void wt__request_examples_open(struct request_examples *out, uint64_t seed)
{
    *out = (struct request_examples){.count = EXAMPLES_SEEDS, .seen = EXAMPLES_SEEDS};
    for (size_t i = 0; i < EXAMPLES_SEEDS; i++)
        out->lines[i] = wt__str(seeds[i]);
    wt__rng_seed(&out->rng, seed);
}

/* Adds a request with its tools' names [count] and its explanation, which may be "", as one line of JSON. A full pool
 * replaces a random example or drops the new one (reservoir sampling). */
static int add_example(struct request_examples *examples, struct str instruction, const struct str *names, size_t count,
                       struct str explanation, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer line = {0};
    size_t place = examples->seen++;
    if (place >= EXAMPLES_POOL)
        place = wt__rng_below(&examples->rng, examples->seen);
    if (place >= EXAMPLES_POOL)
        return 0;
    wt__generate_write_json(&line, "{\"instruction\": ", instruction);
    wt__buffer_text(&line, ", \"functions\": [");
    for (size_t i = 0; i < count; i++)
        wt__generate_write_json(&line, i ? ", " : "", names[i]);
    wt__generate_write_json(&line, "], \"explanation\": ", explanation);
    wt__buffer_char(&line, '}');
    const char *copy = line.failed ? NULL : wt__arena_copy(&examples->arena, wt__buffer_view(&line));
    WT_CHECK_ALLOC(copy, err);
    examples->lines[place] = (struct str){copy, line.len};
    examples->count += place == examples->count;
    return 0;
}

/* Adds a request of the data set with the titles of its tools, if it has REQUEST_TOOLS_MIN to REQUEST_TOOLS_MAX
 * tools. */
static int add_example_query(struct request_examples *out, const struct query *query, const struct text_lines *corpus,
                             wt_error *err)
{
    struct str names[REQUEST_TOOLS_MAX];
    size_t count = 0;
    for (size_t i = 0; i < query->judgement_count; i++) {
        const struct judgement *judgement = &query->judgements[i];
        const uint32_t *place = wt__map_get(&corpus->places, judgement->tool);
        if (judgement->gain <= 0)
            continue;
        if (count == REQUEST_TOOLS_MAX)
            return 0;
        names[count++] = place && corpus->items[*place].title.len > 0 ? corpus->items[*place].title : judgement->tool;
    }
    return count < REQUEST_TOOLS_MIN ? 0 : add_example(out, query->text, names, count, STR(""), err);
}

int wt__request_examples_read(struct request_examples *out, const char *dir, uint64_t seed, wt_error *err)
{
    WT_CLEANUP(wt__dataset_dispose) struct dataset people = {0};
    WT_CLEANUP(wt__text_lines_dispose) struct text_lines corpus = {0};
    *out = (struct request_examples){0};
    wt__rng_seed(&out->rng, seed);
    WT_TRY(wt__dataset_read(&people, dir, "train", err));
    WT_TRY(wt__text_lines_read(&corpus, dir, "corpus.jsonl", err));
    for (size_t i = 0; i < people.len; i++)
        WT_TRY(add_example_query(out, &people.queries[i], &corpus, err));
    if (out->count == 0)
        return wt__fail(err, WT_EEMPTY, "%s has no train request with %d to %d tools to show as an example", dir,
                        (int)REQUEST_TOOLS_MIN, (int)REQUEST_TOOLS_MAX);
    return 0;
}

void wt__request_examples_digest(const struct request_examples *examples, char hex[65])
{
    struct sha256 sha;
    wt__sha256_begin(&sha);
    for (size_t i = 0; i < examples->count; i++) {
        wt__sha256_update(&sha, examples->lines[i].ptr, examples->lines[i].len);
        wt__sha256_update(&sha, "\n", 1);
    }
    wt__generate_end_digest(&sha, hex);
}

void wt__request_examples_dispose(struct request_examples *examples)
{
    wt__arena_dispose(&examples->arena);
    examples->count = 0;
}

/* Draws up to `wanted` examples into shown [EXAMPLES_SHOWN_MAX] and returns their number. */
static size_t draw_examples(const struct request_examples *examples, size_t wanted, struct rng *rng, struct str *shown)
{
    uint32_t order[EXAMPLES_POOL];
    wanted = wanted < examples->count ? wanted : examples->count;
    wt__rng_draw(rng, order, examples->count, wanted);
    for (size_t i = 0; i < wanted; i++)
        shown[i] = examples->lines[order[i]];
    return wanted;
}

static const uint64_t ITEM_SALT = 0x9e3779b97f4a7c15u;

static struct toolbank_item *get_batch_item(struct toolbank *t, size_t number)
{
    return &t->items[number % TOOLBANK_BATCH];
}

/* ---------------------------------------------------------------- the question */

const char *wt__toolbank_prompt(const struct toolbank *t)
{
    return t->options.one_tool ? "generate-request" : t->options.like ? "generate-toolbank-like" : "generate-toolbank";
}

/* Lists the names of the drawn tools with too few usages, or says that any will do. */
static int write_wanted_names(const struct toolbank *t, const struct drawn_tools *drawn, struct arena *arena,
                              struct str *out, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer line = {0};
    for (size_t i = 0; i < drawn->count; i++) {
        const struct draw_tool *tool = &t->draw.tools[drawn->places[i]];
        if (tool->used >= t->draw.settings.usages)
            continue;
        wt__buffer_text(&line, line.len ? ", " : "");
        wt__buffer_str(&line, tool->name);
    }
    if (line.len == 0)
        wt__buffer_text(&line, "(none; take any)");
    *out = (struct str){line.failed ? NULL : wt__arena_copy(arena, wt__buffer_view(&line)), line.len};
    return out->ptr ? 0 : wt__fail_nomem(err);
}

/* Draws an item's tools and examples. The draw depends only on the item's number and the earlier batches, so that
 * several threads can fill items at once. */
static int fill_toolbank_request(void *context, size_t number, struct arena *arena, struct prompt_value *values,
                                 size_t *count, wt_error *err)
{
    struct toolbank *t = context;
    struct toolbank_item *item = get_batch_item(t, number);
    struct rng rng;
    *item = (struct toolbank_item){0};
    wt__rng_seed(&rng, t->options.seed ^ (number + 1) * ITEM_SALT);
    item->is_unanswerable = wt__rng_unit(&rng) < t->options.unanswerable && t->has_unanswerable_tools;
    WT_TRY(wt__tool_draw_next(&t->draw, &rng, item->is_unanswerable, &item->drawn, err));
    struct str *lines = wt__arena_array(arena, struct str, item->drawn.count);
    WT_CHECK_ALLOC(lines, err);
    for (size_t i = 0; i < item->drawn.count; i++) {
        const struct draw_tool *tool = &t->draw.tools[item->drawn.places[i]];
        lines[i] = wt__prompt_tool(tool->name, tool->description, STAGE_LINE_BYTES, arena);
        WT_CHECK_ALLOC(lines[i].ptr, err);
    }
    if (t->options.one_tool) {
        values[(*count)++] = (struct prompt_value){.slot = "tool", .text = lines[0]};
        return 0;
    }
    struct prompt_value wanted = {.slot = "wanted"};
    WT_TRY(write_wanted_names(t, &item->drawn, arena, &wanted.text, err));
    item->example_count = draw_examples(&t->examples, t->options.examples, &rng, item->examples);
    values[(*count)++] =
        (struct prompt_value){.slot = "examples", .items = item->examples, .item_count = item->example_count};
    values[(*count)++] = (struct prompt_value){.slot = "tools", .items = lines, .item_count = item->drawn.count};
    values[(*count)++] = wanted;
    return 0;
}

/* ---------------------------------------------------------------- the answer */

/* Sets *out to true if the answer repeats the prompt's own text or one of its examples. */
static int check_repetition(const struct repetition *own, const struct prompt *prompt, const struct toolbank_item *item,
                            struct str said, bool *out, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer examples = {0};
    for (size_t i = 0; i < item->example_count; i++) {
        wt__buffer_str(&examples, item->examples[i]);
        wt__buffer_char(&examples, '\n');
    }
    WT_CHECK_ALLOC(!examples.failed, err);
    return wt__repetition_check(own, wt__str(prompt->text), wt__buffer_view(&examples), said, out, err);
}

/* Finds the drawn tool that the model names, ignoring case: by its exported name, or else by its own name. Returns
 * false if no drawn tool or several drawn tools have the name. */
static bool find_named_tool(const struct toolbank *t, const struct drawn_tools *drawn, const char *name, size_t *place)
{
    size_t found = 0;
    for (int own = 0; own < 2 && found == 0; own++)
        for (size_t i = 0; i < drawn->count; i++) {
            const wt_tool *tool = t->draw.tools[drawn->places[i]].tool;
            if (strcasecmp(own ? tool->name : tool->export_name, name) != 0)
                continue;
            *place = drawn->places[i];
            found++;
        }
    return found == 1;
}

/* Reads the tools named by the answer, each once. */
static enum piece_fate read_named_tools(const struct toolbank *t, const struct toolbank_item *item, const json_t *names,
                                        struct generated_request *request)
{
    size_t index;
    json_t *name;
    json_array_foreach((json_t *)names, index, name)
    {
        size_t place = 0;
        bool known = false;
        if (!find_named_tool(t, &item->drawn, json_string_value(name), &place))
            return PIECE_UNKNOWN;
        for (size_t i = 0; i < request->tool_count; i++)
            known |= request->tools[i] == place;
        if (!known && request->tool_count == REQUEST_TOOLS_MAX)
            return PIECE_COUNT;
        if (!known)
            request->tools[request->tool_count++] = place;
    }
    return request->tool_count < REQUEST_TOOLS_MIN ? PIECE_COUNT : PIECE_TAKEN;
}

/* Validates an answer and fills item->request. */
static int read_request_answer(struct toolbank *t, struct toolbank_item *item, const json_t *answer,
                               enum piece_fate *fate, wt_error *err)
{
    struct generated_request *request = &item->request;
    const struct str said = wt__json_str(answer, "instruction"), why = wt__json_str(answer, "explanation");
    enum piece_fate unused;
    bool copied;
    *request = (struct generated_request){
        .is_unanswerable = item->is_unanswerable, .draft = STR(""), .explanation = STR(""), .more = STR("")};
    WT_TRY(check_repetition(&t->request_words, &t->request_prompt, item, said, &copied, err));
    *fate = PIECE_REPEATS;
    if (!copied)
        WT_TRY(wt__piece_read(&t->batch, PIECE_INSTRUCTION, said, &request->text, fate, err));
    if (*fate != PIECE_TAKEN)
        return 0;
    if (t->options.one_tool) {
        request->tools[request->tool_count++] = item->drawn.places[0];
    } else {
        *fate = read_named_tools(t, item, wt__json_array(answer, "functions"), request);
        WT_TRY(wt__piece_read(&t->batch, PIECE_EXPLANATION, why, &request->explanation, &unused, err));
    }
    if (*fate == PIECE_TAKEN && wt__tool_draw_has_name(&t->draw, request->tools, request->tool_count, request->text))
        *fate = PIECE_NAMES_TOOL;
    return 0;
}

static int accept_toolbank_request(void *context, size_t number, const json_t *answer, struct stage_count *count,
                                   bool *done, wt_error *err)
{
    struct toolbank *t = context;
    struct toolbank_item *item = get_batch_item(t, number);
    enum piece_fate fate = PIECE_TAKEN;
    *done = true; /* a refused item is replaced by another item, not asked again */
    WT_TRY(read_request_answer(t, item, answer, &fate, err));
    wt__stage_note(count, fate);
    item->is_kept = fate == PIECE_TAKEN;
    return 0;
}

int wt__toolbank_ask(struct toolbank *t, size_t begin, size_t count, wt_error *err)
{
    struct question_stage stage = {
        {STAGE_REQUESTS, NULL, wt__toolbank_prompt(t), t, fill_toolbank_request, accept_toolbank_request, NULL},
        .count = count,
        .round = count,
        .begin = begin};
    stage.attempts = 1;
    wt__arena_reset(&t->batch);
    for (size_t i = 0; i < count; i++)
        get_batch_item(t, begin + i)->is_kept = false;
    t->session.runner.counts[STAGE_REQUESTS].wanted += count;
    return wt__stage_run(&t->session.runner, &stage, err);
}

/* ---------------------------------------------------------------- the polish */

static int fill_polish(void *context, size_t number, struct arena *arena, struct prompt_value *values, size_t *count,
                       wt_error *err)
{
    (void)arena;
    (void)err;
    values[(*count)++] =
        (struct prompt_value){.slot = "request", .text = get_batch_item(context, number)->request.text};
    return 0;
}

/* Takes a rewritten request. A refused rewrite leaves the request unchanged. */
static int accept_polish(void *context, size_t number, const json_t *answer, struct stage_count *count, bool *done,
                         wt_error *err)
{
    struct toolbank *t = context;
    struct toolbank_item *item = get_batch_item(t, number);
    struct str text = STR("");
    enum piece_fate fate = PIECE_REPEATS;
    bool copied = false;
    *done = true;
    if (wt__str_equal(wt__json_str(answer, "verdict"), STR("good"))) {
        t->good++;
        wt__stage_note(count, PIECE_TAKEN);
        return 0;
    }
    const struct str said = wt__json_str(answer, "instruction");
    WT_TRY(check_repetition(&t->polish_words, &t->polish_prompt, item, said, &copied, err));
    if (!copied)
        WT_TRY(wt__piece_read(&t->batch, PIECE_INSTRUCTION, said, &text, &fate, err));
    if (fate == PIECE_TAKEN && wt__tool_draw_has_name(&t->draw, item->request.tools, item->request.tool_count, text))
        fate = PIECE_NAMES_TOOL;
    wt__stage_note(count, fate);
    if (fate == PIECE_TAKEN && !wt__str_equal(text, item->request.text)) {
        item->request.draft = item->request.text;
        item->request.text = text;
    }
    t->rewritten += fate == PIECE_TAKEN;
    return 0;
}

static bool skip_polish(void *context, size_t number)
{
    return !get_batch_item(context, number)->is_kept;
}

int wt__toolbank_polish(struct toolbank *t, size_t begin, size_t count, wt_error *err)
{
    struct question_stage stage = {{STAGE_POLISH, NULL, "generate-polish", t, fill_polish, accept_polish, skip_polish},
                                   .count = count,
                                   .round = count,
                                   .begin = begin};
    stage.attempts = 1;
    for (size_t i = 0; i < count; i++)
        t->session.runner.counts[STAGE_POLISH].wanted += get_batch_item(t, begin + i)->is_kept;
    return wt__stage_run(&t->session.runner, &stage, err);
}

/* ---------------------------------------------------------------- the round trip, and the set */

/* Searches for the requests of a batch. The arrays are indexed by a request's slot in the batch. */
struct batch_search {
    struct toolbank *t;
    size_t hits; /* number of hits of a search */
    enum piece_fate fates[TOOLBANK_BATCH];
    size_t found[TOOLBANK_BATCH]; /* number of the request's tools among the hits */
    wt_error errors[TOOLBANK_BATCH];
    int codes[TOOLBANK_BATCH]; /* results of wt_find */
};

/* Accepts a request if all its tools are among the hits, and none has a near-duplicate ranked above it. Adds the
 * number of its tools among the hits to *found. */
static enum piece_fate judge_search_hits(const struct toolbank *t, const struct generated_request *request,
                                         const wt_hits *hits, size_t *found)
{
    size_t above[WT_MAX_K], count = 0; /* hits so far that are not tools of the request */
    bool twin = false;
    for (size_t i = 0; i < hits->len && i < WT_MAX_K; i++) {
        const uint32_t *place = wt__map_get(&t->places, wt__str(hits->items[i]->tool->id));
        bool right = false;
        for (size_t r = 0; place && r < request->tool_count; r++)
            right |= request->tools[r] == *place;
        for (size_t other = 0; right && other < count; other++)
            twin |= wt__tool_draw_twins(&t->draw, above[other], *place);
        *found += right;
        if (place && !right)
            above[count++] = *place;
    }
    return *found < request->tool_count ? PIECE_NOT_FOUND : twin ? PIECE_TWIN : PIECE_TAKEN;
}

static int search_batch_item(void *context, size_t index, unsigned worker)
{
    struct batch_search *search = context;
    struct toolbank *t = search->t;
    const struct toolbank_item *item = &t->items[index];
    wt_find_options options;
    wt_hits *hits = NULL;
    (void)worker;
    if (!item->is_kept)
        return 0;
    wt_find_options_init(&options);
    options.k = search->hits;
    options.recipe = t->options.recipe;
    options.copies = 1;
    int rc = wt_find(t->session.engine, item->request.text.ptr, item->request.text.len, &options, &hits,
                     &search->errors[index]);
    if (rc == 0)
        search->fates[index] = judge_search_hits(t, &item->request, hits, &search->found[index]);
    wt_hits_free(hits);
    if (rc == 0 && wt__progress_step(&t->session.progress, 0))
        rc = wt__fail_cancelled(&search->errors[index]);
    return search->codes[index] = rc;
}

/* Searches for each kept request of the batch; skips the searches if hits is 0. Free *out with free(), also after an
 * error. */
static int search_batch(struct toolbank *t, size_t hits, struct batch_search **out, wt_error *err)
{
    struct batch_search *search = calloc(1, sizeof *search);
    *out = search;
    WT_CHECK_ALLOC(search, err);
    search->t = t;
    search->hits = hits;
    if (hits > 0)
        wt__pool_run(0, TOOLBANK_BATCH, search_batch_item, search);
    for (size_t i = 0; i < TOOLBANK_BATCH; i++)
        if (search->codes[i] < 0) {
            if (err)
                *err = search->errors[i];
            return search->codes[i];
        }
    return 0;
}

int wt__toolbank_count_astray(struct toolbank *t, uint64_t *count, wt_error *err)
{
    WT_AUTO_FREE struct batch_search *search = NULL;
    WT_TRY(search_batch(t, TOOLBANK_TRIAL_HITS, &search, err));
    for (size_t i = 0; i < TOOLBANK_BATCH; i++)
        *count += t->items[i].is_kept && search->found[i] == 0;
    return 0;
}

/* Adds a request to the set and, for the standard prompt, to the examples. Counts a usage of its tools if the request
 * is unanswerable or in train. */
static int add_kept_request(struct toolbank *t, const struct toolbank_item *item, wt_error *err)
{
    struct generated_request *added;
    struct str names[REQUEST_TOOLS_MAX];
    WT_TRY(wt__request_set_add(&t->set, &t->draw, &item->request, &added, err));
    for (size_t i = 0; i < added->tool_count; i++) {
        struct draw_tool *tool = &t->draw.tools[added->tools[i]];
        tool->used += added->is_unanswerable || added->split == SPLIT_TRAIN;
        names[i] = tool->name;
    }
    return t->options.one_tool || t->options.like
               ? 0
               : add_example(&t->examples, added->text, names, added->tool_count, added->explanation, err);
}

int wt__toolbank_commit(struct toolbank *t, size_t count, wt_error *err)
{
    WT_AUTO_FREE struct batch_search *search = NULL;
    WT_TRY(search_batch(t, t->options.round_trip, &search, err));
    struct stage_count *requests = &t->session.runner.counts[STAGE_REQUESTS];
    for (size_t i = 0; i < count; i++) {
        const size_t slot = (t->asked + i) % TOOLBANK_BATCH;
        struct toolbank_item *item = &t->items[slot];
        enum piece_fate fate = search->fates[slot];
        if (!item->is_kept)
            continue;
        item->is_kept = false;
        if (fate == PIECE_TAKEN)
            WT_TRY(wt__distinct_add(&t->queries, item->request.text, &fate, err));
        if (fate == PIECE_TAKEN)
            WT_TRY(add_kept_request(t, item, err));
        requests->made -= fate != PIECE_TAKEN;
        requests->refused[fate] += fate != PIECE_TAKEN;
    }
    return 0;
}
