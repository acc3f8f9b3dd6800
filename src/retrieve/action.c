/* action.c: scores tools by their kind of action (read, create, update or delete) compared with the request's.
 *
 * mood.c reads the action of a request. The action of a tool comes from its HTTP method or its MCP annotations, refined
 * by the verb in its name. A tool without method or annotations has no action. A server may set false annotations, so
 * they weigh no more than the verb. */
#include "retrieve/document.h"

#include "base/json.h"
#include "base/memory.h"
#include "retrieve/opening.h"
#include "retrieve/source.h"
#include "retrieve/words.h"
#include "text/analyser.h"

static bool starts_any_case(struct str s, struct str prefix)
{
    for (size_t i = 0; i < prefix.len; i++)
        if (i >= s.len || wt__lower_ascii(s.ptr[i]) != wt__lower_ascii(prefix.ptr[i]))
            return false;
    return true;
}

/* Returns the action of the HTTP method of an operation: "GET /users", or "users.json#get /users" in a data set. */
static unsigned action_of_method(struct str source_id)
{
    static const struct {
        const char *method;
        unsigned action;
    } methods[] = {{"GET ", ACTION_READ},   {"HEAD ", ACTION_READ},    {"POST ", ACTION_CREATE},
                   {"PUT ", ACTION_UPDATE}, {"PATCH ", ACTION_UPDATE}, {"DELETE ", ACTION_DELETE}};
    const char *sign = source_id.len > 0 ? memchr(source_id.ptr, '#', source_id.len) : NULL;
    struct str behind = sign ? (struct str){sign + 1, source_id.len - (size_t)(sign + 1 - source_id.ptr)} : source_id;
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (starts_any_case(source_id, wt__str(methods[i].method)) ||
            starts_any_case(behind, wt__str(methods[i].method)))
            return methods[i].action;
    return 0;
}

/* Returns the actions that MCP annotations allow, or 0 without annotations (specification of 2025-06-18,
 * ToolAnnotations). Searches the bytes for the hint first, because most definitions lack it and need not be parsed. */
static unsigned actions_of_annotations(const struct tool *tool)
{
    static const char hint[] = "readOnlyHint";
    json_auto_t *definition = NULL;
    if (!wt__str_equal(tool->format, STR("mcp")) || tool->definition.len == 0 ||
        !memmem(tool->definition.ptr, tool->definition.len, hint, sizeof hint - 1) ||
        wt__json_parse(&definition, tool->definition.ptr, tool->definition.len, NULL) < 0)
        return 0;
    const json_t *annotations = json_object_get(definition, "annotations");
    if (!json_is_false(json_object_get(annotations, hint)))
        return json_is_true(json_object_get(annotations, hint)) ? ACTION_READ : 0;
    return ACTION_CREATE | ACTION_UPDATE |
           (json_is_false(json_object_get(annotations, "destructiveHint")) ? 0 : ACTION_DELETE);
}

/* Returns the actions of the verb in a tool's name: one of its first two words ("list_issues"), or else its last
 * word ("issues/list"). */
static unsigned actions_of_name(struct str name)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer words = {0};
    unsigned actions = 0, last = 0;
    wt__analyser_spell_out(name, &words);
    struct str text = wt__buffer_view(&words);
    for (size_t at = 0, seen = 0; !actions; seen++) {
        struct str word = wt__next_word(text, &at);
        if (word.len == 0)
            break;
        last = wt__verb(word).actions;
        actions = seen < 2 ? last : 0;
    }
    return actions ? actions : last;
}

unsigned wt__tool_actions(const struct tool *tool)
{
    unsigned method = action_of_method(tool->source_id), hints = method ? 0 : actions_of_annotations(tool);
    unsigned named = method || hints ? actions_of_name(tool->name) : 0;
    if (hints) /* the name's verb narrows the annotations */
        return named & hints ? named & hints : hints;
    return named ? named : method;
}

/* Returns the actions of a verb in the base form or the third person ("creates", "fetches", "copies"). */
static unsigned actions_of_third_person(struct str word)
{
    unsigned actions = wt__verb(word).actions;
    for (size_t cut = 1; !actions && cut <= 2 && word.len > cut + 2 && (word.ptr[word.len - 1] | 0x20) == 's'; cut++)
        actions = wt__verb((struct str){word.ptr, word.len - cut}).actions;
    return actions;
}

/* Returns RETURNS_ONE if the path of a tool ends with a parameter ("GET /invoices/{id}"). Otherwise, the words of its
 * name decide. */
static unsigned number_of_results(const struct tool *tool)
{
    static const char *const many[] = {"all", "browse", "find", "list", "query", "search"};
    WT_CLEANUP(wt__buffer_dispose) struct buffer words = {0};
    struct str path = wt__str_trim(tool->source_id), last = {0};
    if (action_of_method(path) && path.ptr[path.len - 1] == '}')
        return RETURNS_ONE;
    wt__analyser_spell_out(tool->name, &words);
    struct str text = wt__buffer_view(&words);
    size_t at = 0;
    for (struct str word; (word = wt__next_word(text, &at)).len > 0; last = word)
        if (wt__str_among(word, many, sizeof many / sizeof *many))
            return RETURNS_MANY;
    return wt__is_plural(last) ? RETURNS_MANY : RETURNS_ONE;
}

/* Returns the actions of one of the first two words after the opening, with ACTIONS_GUESSED, or 0. */
static unsigned actions_of_description(struct str description)
{
    size_t at = wt__opening_length(description);
    unsigned actions = 0;
    for (size_t seen = 0; !actions && seen < 2; seen++)
        actions = actions_of_third_person(wt__next_word(description, &at));
    return actions ? actions | ACTIONS_GUESSED : 0;
}

unsigned wt__tool_verbs(const struct tool *tool)
{
    unsigned actions = wt__tool_actions(tool);
    if (!actions)
        actions = actions_of_name(tool->name);
    if (!actions)
        actions = actions_of_description(tool->description);
    return actions | (actions & ACTION_READ ? number_of_results(tool) : 0);
}

static int read_query_actions(struct source_query *query, wt_error *err)
{
    struct workspace *workspace = query->workspace;
    (void)err;
    for (size_t t = 0; t < workspace->text_count; t++)
        workspace->texts[t].mood = wt__mood(workspace->texts[t].bytes);
    return 0;
}

static int score_action_rows(struct source_query *query, wt_error *err)
{
    const struct snapshot_key *keys = query->view->snapshot->keys;
    (void)err;
    for (size_t t = 0; t < query->workspace->text_count; t++) {
        unsigned wanted = query->workspace->texts[t].mood.actions;
        float *scores = wt__ranking(query, t, SOURCE_ACTION)->scores;
        for (size_t c = 0; wanted && c < query->count; c++) {
            uint64_t done = keys[query->rows[c]].actions;
            scores[c] = done & wanted ? 1 : done ? -1 : 0;
        }
    }
    return 0;
}

const struct source wt__source_action = {
    {ACTION_STAGE, "action", NULL, read_query_actions, score_action_rows, NULL, NULL}, .is_sparse = true};
