/* past_calls.c: collects past calls of a tool: recorded calls, newest first, then the examples of its definition; and
 * its last request. */
#include "call/call.h"

#include "base/json.h"
#include "engine/engine.h"
#include "engine/tools.h"

/* Returns "input_examples" of an Anthropic definition: argument objects without their requests. NULL if
 * absent. */
static json_t *read_input_examples(const wt_tool *tool)
{
    json_t *definition = NULL;
    if (!strstr(tool->definition, "input_examples") ||
        wt__json_parse(&definition, tool->definition, tool->definition_len, NULL) < 0)
        return NULL;
    json_t *examples = json_incref(wt__json_array(definition, "input_examples"));
    json_decref(definition);
    return examples;
}

/* Recorded use of a tool: its calls, or its last request if calls is NULL. */
struct past_use {
    struct recorded_call **calls;
    size_t count;
    struct str request;
};

static int read_recorded_calls(const struct call_run *calling, const wt_tool *tool, struct past_use *out, wt_error *err)
{
    struct store *reader;
    int64_t id;
    int rc = wt__engine_reader(calling->engine, &reader, err);
    if (rc < 0)
        return rc;
    rc = wt__store_read_begin(reader, err);
    if (rc == 0)
        rc = wt__tool_resolve(reader, tool->id, &id, err);
    if (rc == 0 && out->calls)
        rc = wt__store_recorded_calls(reader, id, DEMONSTRATIONS_MOST, calling->arena, out->calls, &out->count, err);
    else if (rc == 0)
        rc = wt__store_recorded_request(reader, id, calling->arena, &out->request, err);
    wt__store_read_end(reader);
    wt__engine_return_reader(calling->engine, reader);
    return rc == WT_ENOTFOUND || rc == WT_EINVAL
               ? 0
               : rc; /* the tool was removed meanwhile, or its name has become ambiguous */
}

int wt__call_find_past_request(const struct call_run *calling, const wt_tool *tool, struct str *out, wt_error *err)
{
    struct past_use past = {.request = STR("")};
    int rc = read_recorded_calls(calling, tool, &past, err);
    *out = past.request;
    return rc;
}

int wt__call_load_demonstrations(struct call_run *calling, struct call_candidate *candidate, wt_error *err)
{
    struct recorded_call *recorded;
    struct past_use past = {.calls = &recorded};
    json_t *examples = read_input_examples(candidate->tool);
    candidate->recorded = json_array();
    candidate->demonstrations = wt__arena_array(calling->arena, struct demonstration, DEMONSTRATIONS_MOST);
    int rc = candidate->recorded && candidate->demonstrations
                 ? read_recorded_calls(calling, candidate->tool, &past, err)
                 : wt__fail_nomem(err);
    for (size_t i = 0; rc == 0 && i < past.count; i++) {
        json_t *arguments;
        struct str text = recorded[i].arguments;
        if (wt__json_parse(&arguments, text.ptr, text.len, NULL) < 0)
            continue;
        candidate->demonstrations[candidate->demonstration_count++] =
            (struct demonstration){recorded[i].request, arguments};
        if (json_array_append_new(candidate->recorded, arguments) < 0)
            rc = wt__fail_nomem(err);
    }
    for (size_t i = 0; rc == 0 && i < json_array_size(examples); i++) {
        json_t *one = json_array_get(examples, i);
        if (!json_is_object(one) || candidate->demonstration_count == DEMONSTRATIONS_MOST)
            continue;
        candidate->demonstrations[candidate->demonstration_count++] = (struct demonstration){.arguments = one};
        if (json_array_append(candidate->recorded, one) < 0)
            rc = wt__fail_nomem(err);
    }
    json_decref(examples);
    return rc;
}
