/* doubt.c: decides if the request wants the tool to be called at all (call/intent.h, call/coverage.h). */
#include "call/call.h"

#include "call/coverage.h"
#include "text/analyser.h"

/* Finds quoted texts and values of several words. Their words are not part of the order: 'send Bob "is it locked?"'. */
static size_t find_value_spans(const struct call_run *calling, const struct call_arguments *arguments,
                               struct intent_span *out)
{
    size_t count = 0;
    for (size_t l = 0; l < calling->literals.len; l++) {
        const struct literal *literal = &calling->literals.items[l];
        if (literal->kind == LITERAL_QUOTED)
            out[count++] = (struct intent_span){literal->start, literal->end};
    }
    for (size_t p = 0; p < arguments->len; p++) {
        const struct call_argument *argument = &arguments->items[p];
        if (argument->end > argument->start &&
            memchr(calling->request.ptr + argument->start, ' ', argument->end - argument->start))
            out[count++] = (struct intent_span){argument->start, argument->end};
    }
    return count;
}

static struct tool make_catalog_tool(const wt_tool *tool)
{
    return (struct tool){.name = wt__str(tool->name),
                         .description = wt__str(tool->description),
                         .source_id = wt__str(tool->source_id),
                         .format = wt__str(tool->format),
                         .definition = {tool->definition, tool->definition_len}};
}

static int find_unread_word(struct call_run *calling, const struct intent *intent, wt_error *err)
{
    const struct call_candidate *candidate = &calling->candidates[calling->first];
    struct buffer name = {0};
    wt__analyser_spell_out(wt__str(candidate->tool->name), &name);
    bool failed = name.failed;
    if (!failed)
        calling->unread = wt__coverage_unread(&candidate->arguments, intent, calling->request, wt__buffer_view(&name),
                                              wt__str(candidate->tool->description), &candidate->parameters);
    wt__buffer_dispose(&name);
    return failed ? wt__fail_nomem(err) : 0;
}

int wt__call_find_doubt(struct call_run *calling, wt_error *err)
{
    const struct call_candidate *candidate = &calling->candidates[calling->first];
    struct tool_effect effect;
    struct intent intent;
    const struct tool tool = make_catalog_tool(candidate->tool);
    wt__tool_effect_read(&effect, &tool);
    if (!effect.acts)
        return 0;
    struct intent_span *values =
        wt__arena_array(calling->arena, struct intent_span, calling->literals.len + candidate->arguments.len + 1);
    if (!values)
        return wt__fail_nomem(err);
    size_t count = find_value_spans(calling, &candidate->arguments, values);
    if (wt__intent_read(&intent, calling->request, values, count, &effect, calling->arena) < 0)
        return wt__fail_nomem(err);
    calling->doubt = intent.doubt;
    int rc = intent.doubt == DOUBT_NONE ? find_unread_word(calling, &intent, err) : 0;
    if (rc == 0 && intent.doubt == DOUBT_NONE && (calling->unread.len > 0 || intent.cut))
        calling->doubt = DOUBT_UNREAD;
    return rc;
}
