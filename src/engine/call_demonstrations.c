/* call_demonstrations.c: past calls of a tool, from its definition and from recorded use. */
#include "engine/call.h"

#include "base/json.h"

/* "input_examples" of Anthropic's definitions: objects of arguments, whose requests are not known. */
static json_t *examples_of(const wt_tool *tool)
{
    json_t *definition = NULL;
    if (!strstr(tool->definition, "input_examples") ||
        wt__json_parse(&definition, tool->definition, tool->definition_len, NULL) < 0)
        return NULL;
    json_t *examples = json_incref(wt__json_array(definition, "input_examples"));
    json_decref(definition);
    return examples;
}

int wt__call_demonstrations(struct calling *calling, struct call_candidate *candidate, wt_error *err)
{
    candidate->recorded = examples_of(candidate->tool);
    size_t count = json_array_size(candidate->recorded);
    count = count < DEMONSTRATIONS_MOST ? count : DEMONSTRATIONS_MOST;
    candidate->demonstrations = wt__arena_array(calling->arena, struct demonstration, count);
    if (!candidate->demonstrations && count > 0)
        return wt__fail_nomem(err);
    for (size_t i = 0; i < count; i++) {
        const json_t *one = json_array_get(candidate->recorded, i);
        if (json_is_object(one))
            candidate->demonstrations[candidate->demonstration_count++] = (struct demonstration){.arguments = one};
    }
    return 0;
}
