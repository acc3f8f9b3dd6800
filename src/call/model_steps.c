/* model_steps.c: explains a call as JSON: each candidate with its score and details, and each argument of the chosen
 * tool with its source in the request. */
#include "call/call.h"

#include <math.h>

#include "base/json.h"
#include "query/chat_trace.h"
#include "text/shown.h"

static void write_step_number(struct buffer *out, const char *key, double value)
{
    if (isfinite(value))
        wt__buffer_printf(out, ",\"%s\":%.6g", key, value);
    else
        wt__buffer_printf(out, ",\"%s\":null", key);
}

static void write_detail_names(struct buffer *out, unsigned details)
{
    static const struct {
        enum detail detail;
        const char *name;
    } names[] = {{DETAIL_TIME, "time"}, {DETAIL_KIND, "kind"}, {DETAIL_LEFTOVER, "leftover"}};
    const char *comma = "";
    wt__buffer_text(out, ",\"details\":[");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (details & names[i].detail) {
            wt__buffer_printf(out, "%s\"%s\"", comma, names[i].name);
            comma = ",";
        }
    wt__buffer_char(out, ']');
}

static void write_candidate_step(struct buffer *out, const struct call_candidate *candidate)
{
    wt__buffer_text(out, "{\"tool\":");
    wt__shown_string(out, wt__str(candidate->tool->id));
    write_step_number(out, "score", candidate->score);
    write_step_number(out, "probability", candidate->probability);
    write_step_number(out, "decided", candidate->decided);
    write_detail_names(out, candidate->details);
    wt__buffer_char(out, '}');
}

static void write_step_value(struct buffer *out, const json_t *value)
{
    struct buffer json = {0};
    if (value)
        wt__json_write_typed(&json, value);
    else
        wt__buffer_text(&json, "null");
    wt__shown_json(out, wt__buffer_view(&json));
    out->failed |= json.failed;
    wt__buffer_dispose(&json);
}

static void write_argument_step(struct buffer *out, struct str request, const struct parameter *parameter,
                                const struct call_argument *argument)
{
    static const char *const states[] = {[ARGUMENT_ABSENT] = "absent",
                                         [ARGUMENT_GIVEN] = "given",
                                         [ARGUMENT_DEFAULT] = "default",
                                         [ARGUMENT_MISSING] = "missing",
                                         [ARGUMENT_UNSURE] = "unsure"};
    wt__buffer_text(out, "{\"name\":");
    wt__shown_string(out, wt__str(parameter->name));
    wt__buffer_printf(out, ",\"required\":%s,\"state\":\"%s\",\"value\":", parameter->required ? "true" : "false",
                      states[argument->state]);
    write_step_value(out, argument->value);
    wt__buffer_text(out, ",\"from\":");
    if (argument->end > argument->start)
        wt__shown_string(out, (struct str){request.ptr + argument->start, argument->end - argument->start});
    else
        wt__buffer_text(out, "null");
    write_step_number(out, "score", (double)argument->score);
    wt__buffer_char(out, '}');
}

static void write_candidate_id(struct buffer *out, const char *key, const struct call_run *calling, size_t place)
{
    wt__buffer_printf(out, ",\"%s\":", key);
    if (place < calling->found)
        wt__shown_string(out, wt__str(calling->candidates[place].tool->id));
    else
        wt__buffer_text(out, "null");
}

static void write_selection_trace(struct buffer *out, const struct call_run *calling)
{
    const struct selection_trace *trace = &calling->model.selection;
    wt__buffer_printf(out, ",\"selection\":{\"end\":\"%s\"", wt__selection_end_name(trace->end));
    write_candidate_id(out, "first", calling, trace->first);
    write_candidate_id(out, "second", calling, trace->second);
    wt__buffer_text(out, ",\"question\":");
    wt__shown_string(out, trace->question);
    wt__buffer_text(out, ",\"answer\":");
    wt__shown_string(out, trace->answer);
    wt__buffer_printf(out, ",\"stored\":%s", trace->stored ? "true" : "false");
    write_candidate_id(out, "chosen", calling, trace->chosen);
    wt__buffer_text(out, ",\"exchanges\":");
    wt__write_exchanges(out, trace->exchanges, trace->exchange_count);
    wt__buffer_text(out, ",\"cost\":");
    wt__write_chat_cost(out, &trace->cost);
    wt__buffer_char(out, '}');
}

static void write_prediction_step(struct buffer *out, const struct generated_argument *argument)
{
    wt__buffer_text(out, "{\"name\":");
    wt__shown_string(out, wt__str(argument->parameter->name));
    wt__buffer_text(out, ",\"predictions\":[");
    for (size_t i = 0; i < GENERATION_PREDICTIONS; i++) {
        wt__buffer_text(out, i > 0 ? "," : "");
        write_step_value(out, argument->predictions[i]);
    }
    wt__buffer_printf(out, "],\"asked\":%s}", argument->asked ? "true" : "false");
}

static void write_generation_trace(struct buffer *out, const struct generation_trace *trace)
{
    wt__buffer_printf(out, ",\"generation\":{\"end\":\"%s\",\"arguments\":[", wt__generation_end_name(trace->end));
    for (size_t i = 0; i < trace->len; i++) {
        wt__buffer_text(out, i > 0 ? "," : "");
        write_prediction_step(out, &trace->items[i]);
    }
    wt__buffer_text(out, "],\"fault\":");
    wt__shown_string(out, trace->fault);
    wt__buffer_printf(out, ",\"mended\":%s,\"exchanges\":", trace->mended ? "true" : "false");
    wt__write_exchanges(out, trace->exchanges, trace->exchange_count);
    wt__buffer_text(out, ",\"cost\":");
    wt__write_chat_cost(out, &trace->cost);
    wt__buffer_char(out, '}');
}

void wt__call_write_steps(struct buffer *out, const struct call_run *calling)
{
    wt__buffer_text(out, "{\"candidates\":[");
    for (size_t i = 0; i < calling->found; i++) {
        wt__buffer_text(out, i > 0 ? "," : "");
        write_candidate_step(out, &calling->candidates[i]);
    }
    wt__buffer_text(out, "],\"arguments\":[");
    const struct call_candidate *first = calling->count > 0 ? &calling->candidates[calling->first] : NULL;
    for (size_t i = 0; first && i < first->arguments.len; i++) {
        wt__buffer_text(out, i > 0 ? "," : "");
        write_argument_step(out, calling->request, &first->parameters.items[i], &first->arguments.items[i]);
    }
    wt__buffer_text(out, "],\"leftover\":");
    if (first && first->arguments.unused.len > 0)
        wt__shown_string(out, first->arguments.unused);
    else
        wt__buffer_text(out, "null");
    if (calling->model.selected)
        write_selection_trace(out, calling);
    if (calling->model.generation.exchange_count > 0)
        write_generation_trace(out, &calling->model.generation);
    wt__buffer_char(out, '}');
}
