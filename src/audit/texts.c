#include "audit/texts.h"

#include "base/json.h"

struct walk {
    text_visit visit;
    void *context;
};

/* A description is also what a property may be called, as in {"properties": {"description": {...}}}: names: value holds
 * names of properties, not keywords. */
static int walk_schema(const struct walk *walk, const json_t *value, const char *parameter, bool names)
{
    const char *key;
    json_t *member;
    size_t i;
    int rc = 0;
    if (json_is_array(value))
        json_array_foreach((json_t *)value, i, member) if (rc == 0) rc = walk_schema(walk, member, parameter, false);
    json_object_foreach((json_t *)value, key, member)
    {
        struct tool_text text = {
            TEXT_PARAMETER_PROSE, {json_string_value(member), json_string_length(member)}, parameter};
        bool prose = strcmp(key, "description") == 0 || strcmp(key, "title") == 0;
        if (rc != 0)
            break;
        if (names) {
            text = (struct tool_text){TEXT_PARAMETER_NAME, wt__str(key), key};
            rc = walk->visit(walk->context, &text);
        } else if (prose && json_is_string(member)) {
            rc = walk->visit(walk->context, &text);
        }
        if (rc == 0)
            rc = walk_schema(
                walk, member, names ? key : parameter,
                !names && json_is_object(member) &&
                    (strcmp(key, "properties") == 0 || strcmp(key, "$defs") == 0 || strcmp(key, "definitions") == 0));
    }
    return rc;
}

int wt__tool_texts(const struct tool *tool, const json_t *schema, text_visit visit, void *context)
{
    const struct tool_text own[] = {
        {TEXT_NAME, tool->name, NULL}, {TEXT_PROSE, tool->title, NULL}, {TEXT_PROSE, tool->description, NULL}};
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < sizeof own / sizeof *own; i++)
        rc = own[i].text.len > 0 ? visit(context, &own[i]) : 0;
    const struct walk walk = {visit, context};
    return rc == 0 ? walk_schema(&walk, schema, NULL, false) : rc;
}
