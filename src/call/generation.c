/* generation.c: lets a language model write and verify the arguments of a call. See language_model.h. */
#include "call/language_model.h"

#include <string.h>

#include "base/checksum.h"
#include "base/memory.h"
#include "base/pool.h"
#include "llm/plain_text.h"
#include "llm/prompt.h"

/* State of one generation; all members are borrowed. */
struct generation_run {
    const struct generation_options *options;
    const struct generation_tool *tool;
    struct chat_model *model;
    const struct call_request *request;
    struct arena *arena;
    struct generation_trace *trace;
    struct str tool_text;       /* name and description of the tool, for the prompts */
    struct str *lines;          /* [trace->parameters.len] description of each parameter, for the prompts */
    struct str *demonstrations; /* [demonstration_count] past calls as JSON, for the prompts */
    size_t demonstration_count;
};

/* --- texts for the prompts ---------------------------------------------------------------------------------------- */

static int copy_prompt_text(const struct generation_run *g, struct buffer *text, struct str *out, wt_error *err)
{
    *out = (struct str){text->failed ? NULL : wt__arena_copy(g->arena, wt__buffer_view(text)), text->len};
    wt__buffer_dispose(text);
    return out->ptr ? 0 : wt__fail_nomem(err);
}

/* Writes a past call as JSON, so that its request cannot be mistaken for arguments. */
static int write_demonstration(const struct generation_run *g, const struct demonstration *demonstration,
                               struct str *out, wt_error *err)
{
    struct buffer text = {0};
    wt__buffer_text(&text, "{\"request\": ");
    wt__buffer_json(&text, demonstration->request);
    wt__buffer_text(&text, ", \"arguments\": ");
    if (demonstration->arguments)
        wt__json_write(&text, demonstration->arguments);
    else
        wt__buffer_text(&text, "{}");
    wt__buffer_text(&text, " }"); /* the blank avoids "}}", which marks a slot in a prompt */
    return copy_prompt_text(g, &text, out, err);
}

static int write_prompt_texts(struct generation_run *g, wt_error *err)
{
    const struct generation_tool *tool = g->tool;
    const struct parameters *parameters = &g->trace->parameters;
    size_t shown = tool->demonstration_count;
    g->demonstration_count = shown < GENERATION_DEMONSTRATIONS ? shown : GENERATION_DEMONSTRATIONS;
    g->tool_text = wt__prompt_tool(tool->name, tool->description, GENERATION_MAX_TOOL_BYTES, g->arena);
    g->lines = wt__arena_array(g->arena, struct str, parameters->len);
    g->demonstrations = wt__arena_array(g->arena, struct str, g->demonstration_count);
    WT_CHECK_ALLOC(g->tool_text.ptr && g->lines && g->demonstrations, err);
    for (size_t i = 0; i < parameters->len; i++) {
        struct buffer text = {0};
        wt__argument_line(&text, &parameters->items[i]);
        WT_TRY(copy_prompt_text(g, &text, &g->lines[i], err));
    }
    for (size_t i = 0; i < g->demonstration_count; i++)
        WT_TRY(write_demonstration(g, &tool->demonstrations[i], &g->demonstrations[i], err));
    return 0;
}

/* --- questions ----------------------------------------------------------------------------------------------- */

static int keep_generation_exchange(const struct generation_run *g, const struct prompt *prompt,
                                    const struct chat_reply *reply, wt_error *err)
{
    struct generation_trace *trace = g->trace;
    int rc = wt__chat_keep(&trace->exchanges[trace->exchange_count], &trace->cost, prompt, reply, g->arena, err);
    trace->exchange_count += rc == 0;
    return rc;
}

static int reject_generation_answer(const struct generation_run *g, const char *reason, wt_error *err)
{
    struct generation_trace *trace = g->trace;
    return wt__chat_reject(&trace->exchanges[trace->exchange_count - 1], &trace->cost, reason, g->arena, err);
}

/* Sets *out to the arguments of an answer; NULL if the answer has no arguments. The trace keeps the answer alive. */
static int read_answer_arguments(const struct generation_run *g, const struct chat_reply *reply, const json_t **out,
                                 wt_error *err)
{
    *out = wt__json_object(reply->got.json, "arguments");
    if (reply->got.json && !*out)
        return reject_generation_answer(g, "the answer has no arguments", err);
    return *out && json_array_append(g->trace->answers, reply->got.json) < 0 ? wt__fail_nomem(err) : 0;
}

/* Asks for all arguments and adds the exchange to the trace. *out: as in read_answer_arguments. */
static int ask_arguments(const struct generation_run *g, const char *name, const struct prompt_value *values,
                         size_t count, const struct call_subject *subject, const json_t **out, wt_error *err)
{
    struct chat_question question = {.subject = subject, .progress = g->request->progress};
    WT_CLEANUP(wt__chat_reply_dispose) struct chat_reply reply = {0};
    WT_CLEANUP(wt__prompt_dispose) struct prompt prompt = {0};
    json_auto_t *schema = NULL;
    WT_TRY(wt__prompt_open(&prompt, name, err));
    WT_TRY(wt__argument_schema(&schema, &g->trace->parameters, false, err));
    question.schema = schema;
    wt__chat_put(&reply, &prompt, values, count, g->model, question);
    WT_TRY(keep_generation_exchange(g, &prompt, &reply, err));
    return read_answer_arguments(g, &reply, out, err);
}

/* --- predictions --------------------------------------------------------------------------------------------- */

/* The first two predictions may have different prompts; further samples have the first one. */
struct prediction_set {
    const struct generation_run *g;
    size_t count;
    struct prompt prompts[GENERATION_PREDICTIONS];
    json_t *schemas[GENERATION_PREDICTIONS];
    struct chat_reply *replies; /* [count] */
    const json_t **values;      /* [count, number of arguments] NULL if a prediction leaves the argument out */
    bool *usable;               /* [count] */
};

static size_t prompt_of_prediction(const struct prediction_set *p, size_t index)
{
    return p->g->options->second == GENERATION_CONSISTENT ? 0 : index;
}

static void set_sampling(const struct generation_run *g, size_t index, struct chat_question *question)
{
    const struct call_sampling sampling = wt__call_sampling(&g->options->sampling);
    bool consistent = g->options->second == GENERATION_CONSISTENT;
    if (!consistent && (index == 0 || g->options->second != GENERATION_SAMPLED))
        return;
    question->temperature = sampling.temperature;
    question->top_p = sampling.top_p;
    question->seed = (unsigned)index + consistent;
}

static int put_prediction(void *context, size_t index, unsigned worker)
{
    struct prediction_set *p = context;
    const struct generation_run *g = p->g;
    const struct prompt_value values[] = {
        {.slot = "tool", .text = g->tool_text},
        {.slot = "parameters", .items = g->lines, .item_count = g->trace->len},
        {.slot = "demonstrations", .items = g->demonstrations, .item_count = g->demonstration_count},
        {.slot = "request", .text = g->request->text},
    };
    const struct call_subject subject = {.step = CALL_PREDICT, .request = g->request, .sample = (unsigned)index};
    size_t prompt = prompt_of_prediction(p, index);
    struct chat_question question = {
        .subject = &subject, .progress = g->request->progress, .schema = p->schemas[prompt]};
    bool other = index > 0 && g->options->second == GENERATION_OTHER_MODEL;
    (void)worker;
    set_sampling(g, index, &question);
    return wt__chat_put(&p->replies[index], &p->prompts[prompt], values, sizeof values / sizeof *values,
                        other ? g->options->other : g->model, question);
}

/* Reads all predictions, even if one of the questions failed. Returns the first error. */
static int read_predictions(const struct prediction_set *p, wt_error *err)
{
    const struct generation_run *g = p->g;
    int rc = 0;
    for (size_t i = 0; i < p->count; i++) {
        wt_error unused, *why = rc == 0 ? err : &unused;
        const json_t *arguments = NULL;
        if (!p->replies[i].put)
            continue;
        int failed = keep_generation_exchange(g, &p->prompts[prompt_of_prediction(p, i)], &p->replies[i], why);
        if (failed == 0)
            failed = read_answer_arguments(g, &p->replies[i], &arguments, why);
        p->usable[i] = arguments != NULL;
        for (size_t j = 0; arguments && j < g->trace->len; j++) {
            const struct parameter *parameter = g->trace->items[j].parameter;
            const json_t *value = json_object_get(arguments, parameter->name);
            p->values[i * g->trace->len + j] = wt__argument_is_absent(value, parameter) ? NULL : value;
        }
        rc = rc < 0 ? rc : failed;
    }
    return rc;
}

/* Returns the most frequent value of argument j among the usable samples; at a tie, the value that came first. A
 * missing value is a value, too. */
static const json_t *find_frequent_value(const struct prediction_set *p, size_t j)
{
    size_t len = p->g->trace->len, most = 0;
    const json_t *best = NULL;
    for (size_t i = 0; i < p->count; i++) {
        size_t same = 0;
        for (size_t k = 0; k < p->count && p->usable[i]; k++)
            same += p->usable[k] && wt__argument_equal(p->values[i * len + j], p->values[k * len + j]);
        if (same > most) {
            most = same;
            best = p->values[i * len + j];
        }
    }
    return best;
}

static void keep_predictions(const struct prediction_set *p)
{
    const struct generation_trace *trace = p->g->trace;
    bool consistent = p->g->options->second == GENERATION_CONSISTENT;
    for (size_t j = 0; j < trace->len; j++)
        for (size_t i = 0; i < GENERATION_PREDICTIONS && (consistent || i < p->count); i++)
            trace->items[j].predictions[i] = consistent ? find_frequent_value(p, j) : p->values[i * trace->len + j];
}

static size_t count_predictions(const struct generation_options *options)
{
    return options->given                             ? 0
           : options->second == GENERATION_ALONE      ? 1
           : options->second == GENERATION_CONSISTENT ? wt__call_sampling(&options->sampling).samples
                                                      : GENERATION_PREDICTIONS;
}

static int run_predictions(const struct generation_run *g, wt_error *err)
{
    struct prediction_set p = {.g = g, .count = count_predictions(g->options)};
    size_t prompts = p.count < GENERATION_PREDICTIONS ? p.count : GENERATION_PREDICTIONS;
    p.replies = wt__arena_array(g->arena, struct chat_reply, p.count);
    p.values = wt__arena_array(g->arena, const json_t *, p.count * g->trace->len);
    p.usable = wt__arena_array(g->arena, bool, p.count);
    WT_CHECK_ALLOC(p.replies && p.values && p.usable, err);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < prompts; i++) {
        bool thought = i > 0 && g->options->second == GENERATION_REACT;
        rc = wt__prompt_open(&p.prompts[i], thought ? "call-arguments-react" : "call-arguments", err);
        if (rc == 0)
            rc = wt__argument_schema(&p.schemas[i], &g->trace->parameters, thought, err);
    }
    if (rc == 0) {
        wt__pool_run(CALL_AT_ONCE, p.count, put_prediction, &p);
        rc = read_predictions(&p, err);
        keep_predictions(&p);
    }
    for (size_t i = 0; i < p.count; i++)
        wt__chat_reply_dispose(&p.replies[i]);
    for (size_t i = 0; i < GENERATION_PREDICTIONS; i++) {
        json_decref(p.schemas[i]);
        wt__prompt_dispose(&p.prompts[i]);
    }
    return rc;
}

/* --- verification -------------------------------------------------------------------------------------------- */

/* Verification of an argument whose predictions differ. */
struct verification {
    struct generated_argument *item;
    struct str line;
    const json_t *options[GENERATION_PREDICTIONS];
    struct str texts[GENERATION_PREDICTIONS];
    size_t option_count;
    json_t *schema;
    struct chat_reply reply;
};

struct verification_batch {
    const struct generation_run *g;
    struct prompt prompt;
    struct verification *items;
    size_t len;
};

static int put_verification(void *context, size_t index, unsigned worker)
{
    struct verification_batch *v = context;
    const struct generation_run *g = v->g;
    struct verification *asked = &v->items[index];
    const struct prompt_value values[] = {
        {.slot = "request", .text = g->request->text},
        {.slot = "parameter", .text = asked->line},
        {.slot = "options", .items = asked->texts, .item_count = asked->option_count},
    };
    const struct call_subject subject = {.step = CALL_VERIFY,
                                         .request = g->request,
                                         .parameter = asked->item->parameter->name,
                                         .options = asked->options,
                                         .option_count = asked->option_count};
    const struct chat_question question = {
        .schema = asked->schema, .subject = &subject, .progress = g->request->progress};
    (void)worker;
    return wt__chat_put(&asked->reply, &v->prompt, values, sizeof values / sizeof *values,
                        g->options->verifier ? g->options->verifier : g->model, question);
}

/* Lists the predicted values in an order that depends on a hash of the request and the parameter's name. In a fixed
 * order, the few-shot prediction would always have the same number. */
static int list_options(const struct generation_run *g, struct verification *asked, wt_error *err)
{
    const struct generated_argument *item = asked->item;
    struct str request = g->request->text, name = wt__str(item->parameter->name);
    uint64_t hash = wt__checksum(name.ptr, name.len, wt__checksum(request.ptr, request.len, 0));
    for (size_t i = 0; i < GENERATION_PREDICTIONS; i++) {
        const json_t *value = item->predictions[(i + hash) % GENERATION_PREDICTIONS];
        struct buffer text = {0};
        if (!value)
            continue;
        wt__argument_value(&text, value);
        asked->options[asked->option_count] = value;
        WT_TRY(copy_prompt_text(g, &text, &asked->texts[asked->option_count++], err));
    }
    return 0;
}

/* Applies the answer of a verification to its argument. Without a usable answer, the argument is unsure, and the first
 * prediction with a value is the proposal. */
static int read_verification(const struct verification_batch *v, struct verification *asked, wt_error *err)
{
    struct generated_argument *item = asked->item;
    const json_t *answer = asked->reply.got.json;
    size_t option = 0;
    WT_TRY(keep_generation_exchange(v->g, &v->prompt, &asked->reply, err));
    switch (wt__numbered_read(answer, "option", asked->option_count, true, &option)) {
    case NUMBERED_ITEM:
        item->state = ARGUMENT_GIVEN;
        item->value = asked->options[option];
        return 0;
    case NUMBERED_NONE:
        item->state = ARGUMENT_ABSENT;
        item->value = NULL;
        return 0;
    default:
        item->state = ARGUMENT_UNSURE;
        item->value = item->predictions[0] ? item->predictions[0] : item->predictions[1];
        return answer ? reject_generation_answer(v->g, "the answer is not the number of a listed value", err) : 0;
    }
}

/* Sets the value of every argument to its first prediction with a value. If `verified` is true, also adds the arguments
 * whose predictions differ to the batch. */
static int list_differences(struct verification_batch *v, bool verified, wt_error *err)
{
    struct generation_trace *trace = v->g->trace;
    v->items = wt__arena_array(v->g->arena, struct verification, trace->len);
    WT_CHECK_ALLOC(v->items, err);
    for (size_t i = 0; i < trace->len; i++) {
        struct generated_argument *item = &trace->items[i];
        item->asked = verified && !wt__argument_equal(item->predictions[0], item->predictions[1]);
        item->value = item->predictions[0] ? item->predictions[0] : item->predictions[1];
        item->state = item->value ? ARGUMENT_GIVEN : ARGUMENT_ABSENT;
        if (!item->asked)
            continue;
        v->items[v->len] = (struct verification){.item = item, .line = v->g->lines[i]};
        WT_TRY(list_options(v->g, &v->items[v->len++], err));
    }
    return 0;
}

static int run_verifications(const struct generation_run *g, bool verified, wt_error *err)
{
    struct verification_batch v = {.g = g};
    g->trace->verified = verified;
    WT_TRY(list_differences(&v, verified, err));
    if (v.len == 0)
        return 0;
    int rc = wt__prompt_open(&v.prompt, "call-verify", err);
    for (size_t i = 0; rc == 0 && i < v.len; i++)
        rc = wt__numbered_schema(&v.items[i].schema, v.prompt.schema, "option", v.items[i].option_count, err);
    if (rc == 0)
        wt__pool_run(CALL_AT_ONCE, v.len, put_verification, &v);
    for (size_t i = 0; i < v.len; i++) {
        wt_error unused;
        int failed = v.items[i].reply.put ? read_verification(&v, &v.items[i], rc == 0 ? err : &unused) : 0;
        rc = rc < 0 ? rc : failed;
        wt__chat_reply_dispose(&v.items[i].reply);
        json_decref(v.items[i].schema);
    }
    wt__prompt_dispose(&v.prompt);
    return rc;
}

/* --- the call ----------------------------------------------------------------------------------------------------- */

/* Sets trace->arguments to the given and default values, and sets trace->end. */
static int assemble_call(const struct generation_run *g, wt_error *err)
{
    struct generation_trace *trace = g->trace;
    json_decref(trace->arguments);
    trace->arguments = json_object();
    trace->end = GENERATION_COMPLETE;
    WT_CHECK_ALLOC(trace->arguments, err);
    for (size_t i = 0; i < trace->len; i++) {
        struct generated_argument *item = &trace->items[i];
        if (item->state == ARGUMENT_ABSENT && item->parameter->required) {
            item->value = json_object_get(item->parameter->schema, "default");
            item->state = item->value ? ARGUMENT_DEFAULT : ARGUMENT_MISSING;
        }
        bool set = item->state == ARGUMENT_GIVEN || item->state == ARGUMENT_DEFAULT;
        if (set && json_object_set(trace->arguments, item->parameter->name, (json_t *)item->value) < 0)
            return wt__fail_nomem(err);
        if (item->state == ARGUMENT_MISSING || (item->state == ARGUMENT_UNSURE && item->parameter->required))
            trace->end = GENERATION_INCOMPLETE;
    }
    return 0;
}

/* Lets the model write the call (ToolVerifier, A.4.7). The model may change the form of verified values. The answer's
 * values for other arguments are ignored. */
static int ask_written_call(const struct generation_run *g, wt_error *err)
{
    struct generation_trace *trace = g->trace;
    struct str *lines = wt__arena_array(g->arena, struct str, trace->len);
    const json_t *arguments = NULL;
    size_t count = 0;
    WT_CHECK_ALLOC(lines, err);
    for (size_t i = 0; i < trace->len; i++) {
        struct buffer line = {0};
        if (trace->items[i].state != ARGUMENT_GIVEN)
            continue;
        wt__buffer_text(&line, trace->items[i].parameter->name);
        wt__buffer_text(&line, ": ");
        wt__argument_value(&line, trace->items[i].value);
        WT_TRY(copy_prompt_text(g, &line, &lines[count++], err));
    }
    const struct prompt_value values[] = {
        {.slot = "tool", .text = g->tool_text},
        {.slot = "parameters", .items = g->lines, .item_count = trace->len},
        {.slot = "demonstrations", .items = g->demonstrations, .item_count = g->demonstration_count},
        {.slot = "request", .text = g->request->text},
        {.slot = "values", .items = lines, .item_count = count},
    };
    const struct call_subject subject = {.step = CALL_BUILD, .request = g->request, .arguments = trace->arguments};
    if (count > 0)
        WT_TRY(ask_arguments(g, "call-build", values, sizeof values / sizeof *values, &subject, &arguments, err));
    for (size_t i = 0; arguments && i < trace->len; i++) {
        struct generated_argument *item = &trace->items[i];
        const json_t *value = json_object_get(arguments, item->parameter->name);
        if (item->state == ARGUMENT_GIVEN && !wt__argument_is_absent(value, item->parameter))
            item->value = value;
    }
    return assemble_call(g, err);
}

/* Validates the call. *fault: description of the fault; empty if the call is valid. */
static int validate_generated(const struct generation_run *g, struct str *fault, wt_error *err)
{
    const struct call_validation *validation = g->options->validation;
    struct str words = {0};
    struct buffer plain = {0};
    WT_TRY(validation->validate(validation->self, g->trace->arguments, g->arena, &words, err));
    wt__plain_line(&plain, words, GENERATION_MAX_FAULT_BYTES);
    return copy_prompt_text(g, &plain, fault, err);
}

/* Asks for all arguments again, with the fault in the prompt. Without a usable answer, the call stays as it is. */
static int repair_call(const struct generation_run *g, wt_error *err)
{
    struct generation_trace *trace = g->trace;
    const json_t *arguments = NULL;
    struct str written;
    struct buffer text = {0};
    wt__json_write(&text, trace->arguments);
    WT_TRY(copy_prompt_text(g, &text, &written, err));
    const struct prompt_value values[] = {
        {.slot = "tool", .text = g->tool_text},
        {.slot = "parameters", .items = g->lines, .item_count = trace->len},
        {.slot = "request", .text = g->request->text},
        {.slot = "arguments", .text = written},
        {.slot = "fault", .text = trace->fault},
    };
    const struct call_subject subject = {.step = CALL_MEND, .request = g->request, .arguments = trace->arguments};
    WT_TRY(ask_arguments(g, "call-mend", values, sizeof values / sizeof *values, &subject, &arguments, err));
    if (!arguments)
        return 0;
    trace->mended = true;
    for (size_t i = 0; i < trace->len; i++) {
        struct generated_argument *item = &trace->items[i];
        const json_t *value = json_object_get(arguments, item->parameter->name);
        bool nothing = wt__argument_is_absent(value, item->parameter);
        if (item->state == ARGUMENT_DEFAULT && wt__argument_equal(value, item->value))
            continue; /* the prompt contained the default; keep the state */
        item->value = nothing ? NULL : value;
        item->state = nothing ? ARGUMENT_ABSENT : ARGUMENT_GIVEN;
    }
    return assemble_call(g, err);
}

/* Validates the call, and lets the model repair an invalid call once. Validates the repaired call only if it is
 * complete. */
static int validate_and_repair(const struct generation_run *g, wt_error *err)
{
    struct generation_trace *trace = g->trace;
    struct str fault = {0};
    int rc = validate_generated(g, &trace->fault, err);
    if (rc < 0 || trace->fault.len == 0)
        return rc;
    rc = repair_call(g, err);
    if (rc == 0 && trace->mended && trace->end == GENERATION_COMPLETE)
        rc = validate_generated(g, &fault, err);
    if (rc == 0 && trace->end == GENERATION_COMPLETE && (!trace->mended || fault.len > 0))
        trace->end = GENERATION_INVALID;
    if (fault.len > 0)
        trace->fault = fault;
    return rc;
}

static int check_generation_options(const struct generation_options *options, wt_error *err)
{
    if ((unsigned)options->second >= GENERATION_SOURCES || (unsigned)options->build > GENERATION_WRITTEN)
        return wt__fail(err, WT_EINVAL, "generation: unknown source or build");
    if (options->second == GENERATION_OTHER_MODEL && !options->other)
        return wt__fail(err, WT_EINVAL, "generation: the second prediction requires another model");
    return wt__call_sampling_check(&options->sampling, "generation", err);
}

static int begin_generation(struct generation_run *g, wt_error *err)
{
    struct generation_trace *trace = g->trace;
    if (wt__parameters_read(&trace->parameters, g->tool->schema, g->arena) < 0)
        return wt__fail_nomem(err);
    size_t most = count_predictions(g->options) + trace->parameters.len + 2; /* build and repair */
    trace->items = wt__arena_array(g->arena, struct generated_argument, trace->parameters.len);
    trace->exchanges = wt__arena_array(g->arena, struct chat_exchange, most);
    trace->answers = json_array();
    WT_CHECK_ALLOC(trace->items && trace->exchanges && trace->answers, err);
    trace->len = trace->parameters.len;
    for (size_t i = 0; i < trace->len; i++)
        trace->items[i].parameter = &trace->parameters.items[i];
    return write_prompt_texts(g, err);
}

/* Takes the given arguments as the only prediction. */
static int take_given_arguments(const struct generation_run *g, wt_error *err)
{
    for (size_t j = 0; j < g->trace->len; j++) {
        const struct parameter *parameter = g->trace->items[j].parameter;
        const json_t *value = json_object_get(g->options->given, parameter->name);
        g->trace->items[j].predictions[0] = wt__argument_is_absent(value, parameter) ? NULL : value;
    }
    return json_array_append(g->trace->answers, (json_t *)g->options->given) < 0 ? wt__fail_nomem(err) : 0;
}

static int run_generation(struct generation_run *g, wt_error *err)
{
    struct generation_trace *trace = g->trace;
    WT_TRY(begin_generation(g, err));
    if (trace->len > 0) {
        WT_TRY(g->options->given ? take_given_arguments(g, err) : run_predictions(g, err));
        size_t answered = json_array_size(trace->answers);
        bool consistent = g->options->second == GENERATION_CONSISTENT;
        if (answered == 0)
            return 0;
        WT_TRY(run_verifications(g, !consistent && answered == GENERATION_PREDICTIONS, err));
    }
    WT_TRY(assemble_call(g, err));
    if (g->options->build == GENERATION_WRITTEN && trace->end == GENERATION_COMPLETE)
        WT_TRY(ask_written_call(g, err));
    return g->options->validation && trace->end == GENERATION_COMPLETE ? validate_and_repair(g, err) : 0;
}

int wt__generate_arguments(const struct generation_options *options, const struct generation_tool *tool,
                           struct chat_model *model, const struct call_request *request, struct arena *arena,
                           struct generation_trace *out, wt_error *err)
{
    static const struct generation_options defaults = {0};
    struct generation_run g = {.options = options ? options : &defaults,
                               .tool = tool,
                               .model = model,
                               .request = request,
                               .arena = arena,
                               .trace = out};
    *out = (struct generation_trace){0};
    int rc = check_generation_options(g.options, err);
    if (rc == 0)
        rc = run_generation(&g, err);
    if (rc < 0) {
        json_decref(out->arguments);
        out->arguments = NULL;
        out->end = GENERATION_UNSAID;
    }
    return rc;
}

void wt__generation_dispose(struct generation_trace *trace)
{
    json_decref(trace->arguments);
    json_decref(trace->answers);
    trace->arguments = trace->answers = NULL;
}

const char *wt__generation_end_name(enum generation_end end)
{
    static const char *const names[] = {"unsaid", "incomplete", "invalid", "complete"};
    return names[end];
}
