/* model_call.c: lets a language model choose among the candidates of the search and write the arguments (selection.c,
 * generation.c). */
#include "call/call.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "engine/engine.h"
#include "engine/experiment.h"

static int read_second_source(const char *generation, const char *second_model, enum generation_source *out,
                              wt_error *err)
{
    static const struct {
        const char *name;
        enum generation_source source;
    } sources[] = {{"react", GENERATION_REACT},
                   {"second-model", GENERATION_OTHER_MODEL},
                   {"sampled", GENERATION_SAMPLED},
                   {"alone", GENERATION_ALONE},
                   {"consistent", GENERATION_CONSISTENT}};
    const char *name = generation ? generation : second_model ? "second-model" : "react";
    size_t i = 0, count = sizeof sources / sizeof *sources;
    while (i < count && strcmp(name, sources[i].name) != 0)
        i++;
    if (i == count)
        return wt__fail(err, WT_EINVAL,
                        "unknown generation \"%.40s\"; use react, second-model, sampled, alone or consistent", name);
    *out = sources[i].source;
    if ((*out == GENERATION_OTHER_MODEL) == (second_model != NULL))
        return 0;
    return second_model ? wt__fail(err, WT_EINVAL, "the generation \"%s\" does not use a second chat model", name)
                        : wt__fail(err, WT_EINVAL,
                                   "the generation \"second-model\" requires a second chat model; use "
                                   "--second-chat-model NAME");
}

/* Reads a number of the experiment that must be above 0 and at most `most`. *out: 0 if text is NULL. */
static int read_sampling_setting(const char *name, const char *text, double most, double *out, wt_error *err)
{
    char *end = NULL;
    *out = text ? strtod(text, &end) : 0;
    if (text && (end == text || *end || !(*out > 0 && *out <= most)))
        return wt__fail(err, WT_EINVAL, "%s must be a number above 0 and at most %g, not \"%.40s\"", name, most, text);
    return 0;
}

static int read_call_sampling(const char *samples, const char *temperature, const char *top_p,
                              struct call_sampling *out, wt_error *err)
{
    double count = 0;
    WT_TRY(read_sampling_setting("samples", samples, CALL_MOST_SAMPLES, &count, err));
    WT_TRY(read_sampling_setting("temperature", temperature, CHAT_TEMPERATURE_MAX, &out->temperature, err));
    WT_TRY(read_sampling_setting("top-p", top_p, 1, &out->top_p, err));
    out->samples = (unsigned)count;
    if (out->samples != count)
        return wt__fail(err, WT_EINVAL, "samples must be a whole number, not \"%.40s\"", samples);
    return 0;
}

int wt__call_model_options(const wt_call_options *options, struct arena *arena, struct call_model *out, wt_error *err)
{
    const char *selection, *generation, *construction, *samples, *temperature, *top_p;
    *out = (struct call_model){.wanted = options->language_model != 0};
    const struct experiment_setting settings[] = {{"selection", &selection},
                                                  {"generation", &generation},
                                                  {"second-model", &out->second_name},
                                                  {"construction", &construction},
                                                  {"samples", &samples},
                                                  {"temperature", &temperature},
                                                  {"top-p", &top_p}};
    WT_TRY(wt__experiment_read(options->experiment, settings, sizeof settings / sizeof *settings, arena, err));
    if (selection && !wt__selection_method_named(wt__str(selection), &out->method))
        return wt__fail(err, WT_EINVAL,
                        "unknown selection \"%.40s\"; use verified, once, one-shot, direct, conditioned, consistent or "
                        "single-step",
                        selection);
    bool written = construction && strcmp(construction, "written") == 0;
    if (construction && !written && strcmp(construction, "assembled") != 0)
        return wt__fail(err, WT_EINVAL, "unknown construction \"%.40s\"; use assembled or written", construction);
    out->build = written ? GENERATION_WRITTEN : GENERATION_ASSEMBLED;
    WT_TRY(read_call_sampling(samples, temperature, top_p, &out->sampling, err));
    return read_second_source(generation, out->second_name, &out->source, err);
}

static struct stored_contrast_key make_contrast_key(const struct contrast_key *key)
{
    return (struct stored_contrast_key){wt__str(key->definitions), wt__str(key->model), wt__str(key->task)};
}

static int get_stored_contrast(void *self, const struct contrast_key *key, struct arena *arena, struct str *question,
                               wt_error *err)
{
    wt_engine *engine = self;
    const struct stored_contrast_key wanted = make_contrast_key(key);
    struct store *reader;
    WT_TRY(wt__engine_reader(engine, &reader, err));
    int rc = wt__store_get_contrast(reader, &wanted, arena, question, err);
    wt__engine_return_reader(engine, reader);
    return rc;
}

/* Stores a contrastive question. Does nothing if the store is read-only, or if another thread or process is writing. A
 * call thus never waits for a writer (docs/decisions/0011). The next call then asks the model again. */
static int put_stored_contrast(void *self, const struct contrast_key *key, struct str question, wt_error *err)
{
    wt_engine *engine = self;
    const struct stored_contrast_key kept = make_contrast_key(key);
    if (pthread_mutex_trylock(&engine->store_lock) != 0)
        return 0;
    wt__store_set_wait(engine->store, 0);
    int rc = wt__store_put_contrast(engine->store, &kept, question, err);
    wt__store_set_wait(engine->store, engine->busy_ms);
    pthread_mutex_unlock(&engine->store_lock);
    return rc == WT_ENOMEM ? rc : 0;
}

struct contrast_store wt__call_contrast_store(wt_engine *engine)
{
    return (struct contrast_store){engine, get_stored_contrast, put_stored_contrast};
}

/* Writes the parameters of a candidate, and its newest past call. */
static int describe_for_single_step(const struct call_run *calling, const struct call_candidate *candidate,
                                    struct selection_candidate *out, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer lines = {0};
    WT_CLEANUP(wt__buffer_dispose) struct buffer past = {0};
    for (size_t i = 0; i < candidate->parameters.len; i++) {
        wt__buffer_text(&lines, i > 0 ? "; " : "");
        wt__argument_line(&lines, &candidate->parameters.items[i]);
    }
    if (candidate->demonstration_count > 0) {
        wt__buffer_str(&past, candidate->demonstrations[0].request);
        wt__buffer_text(&past, past.len > 0 ? " -> " : "");
        wt__json_write(&past, candidate->demonstrations[0].arguments);
    }
    const char *parameters = wt__arena_copy(calling->arena, wt__buffer_view(&lines)),
               *call = wt__arena_copy(calling->arena, wt__buffer_view(&past));
    WT_CHECK_ALLOC(parameters && call && !lines.failed && !past.failed, err);
    out->parameters = (struct str){parameters, lines.len};
    out->demonstration = (struct str){call, past.len};
    return 0;
}

/* Lets the model choose a tool, and sets calling->first to it. If the model's answer is unusable, calling->first stays
 * as it is. If the model finds that no tool fits, calling->count becomes 0. */
static int select_candidate(struct call_run *calling, struct chat_model *chat, wt_error *err)
{
    struct selection_candidate candidates[WT_MAX_CALL_CANDIDATES] = {{.name = {0}}};
    const struct contrast_store store = wt__call_contrast_store(calling->engine);
    const struct selection_options options = {.method = calling->model.method,
                                              .sampling = calling->model.sampling,
                                              .verifier = calling->model.verifier,
                                              .store = &store};
    const struct call_request request = {.text = calling->request, .progress = calling->progress};
    for (size_t i = 0; i < calling->count; i++) {
        const wt_tool *tool = calling->candidates[i].tool;
        candidates[i].name = wt__str(tool->id);
        candidates[i].description = wt__str(tool->description);
        if (options.method == SELECTION_ONE_SHOT)
            WT_TRY(wt__call_find_past_request(calling, tool, &candidates[i].demonstration, err));
        if (options.method == SELECTION_SINGLE_STEP)
            WT_TRY(describe_for_single_step(calling, &calling->candidates[i], &candidates[i], err));
    }
    struct selection_trace *trace = &calling->model.selection;
    WT_TRY(wt__select_tool(&options, candidates, calling->count, chat, &request, calling->arena, trace, err));
    calling->model.selected = true;
    if (trace->end == SELECTION_NONE)
        calling->count = 0;
    else if (trace->end != SELECTION_UNSAID)
        calling->first = trace->chosen;
    if (trace->end != SELECTION_UNSAID) {
        calling->second = SIZE_MAX; /* the model compared the candidates */
        calling->weak = false;      /* the model could have answered that no tool fits */
    }
    return 0;
}

/* Replaces the arguments that were read from the request with the model's arguments. */
static int use_generated_arguments(struct call_run *calling, wt_error *err)
{
    const struct generation_trace *trace = &calling->model.generation;
    struct call_candidate *candidate = &calling->candidates[calling->first];
    wt__call_arguments_dispose(&candidate->arguments);
    candidate->arguments = (struct call_arguments){
        .items = wt__arena_array(calling->arena, struct call_argument, trace->len), .len = trace->len};
    candidate->parameters = trace->parameters;
    if (!candidate->arguments.items && trace->len > 0)
        return wt__fail_nomem(err);
    for (size_t i = 0; i < trace->len; i++)
        candidate->arguments.items[i] = (struct call_argument){.state = trace->items[i].state,
                                                               .value = json_incref((json_t *)trace->items[i].value)};
    return 0;
}

static int generate_candidate_arguments(struct call_run *calling, struct chat_model *selector, wt_error *err)
{
    struct chat_model *writer = calling->model.writer ? calling->model.writer : selector;
    const struct call_candidate *candidate = &calling->candidates[calling->first];
    struct demonstration shown[GENERATION_DEMONSTRATIONS];
    size_t count = 0;
    for (size_t i = 0; i < candidate->demonstration_count && count < GENERATION_DEMONSTRATIONS; i++)
        if (candidate->demonstrations[i].request.len > 0)
            shown[count++] = candidate->demonstrations[i];
    const struct generation_tool tool = {.name = wt__str(candidate->tool->name),
                                         .description = wt__str(candidate->tool->description),
                                         .schema = candidate->schema,
                                         .demonstrations = shown,
                                         .demonstration_count = count};
    const struct call_request request = {.text = calling->request, .progress = calling->progress};
    WT_CLEANUP(wt__call_checker_close) struct call_checker checker = {0};
    WT_TRY(wt__call_checker_open(&checker, candidate->tool->schema, err));
    const struct call_validation validation = {.self = &checker, .validate = wt__call_check};
    const struct str text = calling->model.selection.arguments;
    json_auto_t *given = NULL;
    if (text.len > 0 && calling->first == calling->model.selection.chosen)
        WT_TRY(wt__json_parse(&given, text.ptr, text.len, err));
    const struct generation_options options = {.second = calling->model.source,
                                               .given = given,
                                               .other = calling->model.other,
                                               .verifier = calling->model.verifier ? calling->model.verifier : selector,
                                               .sampling = calling->model.sampling,
                                               .build = calling->model.build,
                                               .validation = checker.validator && !given ? &validation : NULL};
    WT_TRY(wt__generate_arguments(&options, &tool, writer, &request, calling->arena, &calling->model.generation, err));
    calling->model.generated = calling->model.generation.end != GENERATION_UNSAID;
    return calling->model.generated ? use_generated_arguments(calling, err) : 0;
}

/* Opens the models for a part of the work. The second model must differ from the one that predicts the arguments first,
 * because the same model would only repeat its own answer. */
static int open_other_models(struct call_run *calling, const struct chat_model *first, wt_error *err)
{
    struct call_model *model = &calling->model;
    const struct {
        const char *name;
        struct chat_model **out;
    } parts[CALL_OTHER_MODELS] = {{calling->options->verify_model, &model->verifier},
                                  {calling->options->argument_model, &model->writer},
                                  {model->second_name, &model->other}};
    for (size_t i = 0; i < CALL_OTHER_MODELS; i++)
        if (parts[i].name)
            WT_TRY(wt__engine_chat_named(calling->engine, parts[i].name, &model->connections[i], parts[i].out, err));
    const char *predicts = model->writer ? model->writer->name : first->name;
    return model->other && strcmp(model->other->name, predicts) == 0
               ? wt__fail(err, WT_EINVAL, "the second chat model must differ from %s", predicts)
               : 0;
}

int wt__call_by_model(struct call_run *calling, wt_error *err)
{
    struct chat_model *chat;
    WT_TRY(wt__engine_chat(calling->engine, &chat, err));
    calling->model.name = wt__arena_copy(calling->arena, wt__str(chat->name));
    WT_CHECK_ALLOC(calling->model.name, err);
    WT_TRY(open_other_models(calling, chat, err));
    if (wt__progress_phase(calling->progress, "asking the language model", 0))
        return wt__fail_cancelled(err);
    if (!calling->options->tool)
        WT_TRY(select_candidate(calling, chat, err));
    return calling->count > 0 ? generate_candidate_arguments(calling, chat, err) : 0;
}

void wt__call_model_dispose(struct call_model *model)
{
    wt__generation_dispose(&model->generation);
    for (size_t i = 0; i < CALL_OTHER_MODELS; i++)
        wt__engine_chat_dispose(&model->connections[i]);
}
