/* left_out.c: the import does not store the names that it leaves out. They are the names in the definition, wherever
 * its format lists arguments, minus those of the schema. */
#include "cli/left_out.h"

#include "base/json.h"

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

static void put_left_out_name(struct buffer *out, const json_t *kept, const char *name)
{
    if (*name && !json_object_get(kept, name))
        wt__buffer_printf(out, "%s%s", out->len > 0 ? ", " : "", name);
}

/* Appends names of a list of {name, ...}, without the body parameter of Swagger 2.0, whose name is no argument. */
static void put_listed_names(struct buffer *out, const json_t *kept, const json_t *list)
{
    json_t *argument;
    size_t i;
    json_array_foreach(list, i, argument)
    {
        if (!wt__str_equal(wt__json_str(argument, "in"), STR("body")))
            put_left_out_name(out, kept, wt__json_str(argument, "name").ptr);
    }
}

/* Appends the names of a schema, of a list, or of a pair of lists (required and optional). */
static void put_schema_names(struct buffer *out, const json_t *kept, const json_t *arguments)
{
    const char *name;
    json_t *argument;
    json_object_foreach(wt__json_object(arguments, "properties"), name, argument)
    {
        put_left_out_name(out, kept, name);
    }
    put_listed_names(out, kept, arguments);
    put_listed_names(out, kept, json_object_get(arguments, "required"));
    put_listed_names(out, kept, json_object_get(arguments, "optional"));
}

void wt__put_left_out(struct buffer *out, const wt_tool *tool)
{
    static const char *const members[] = {"inputSchema",          "input_schema",           "parameters",
                                          "parametersJsonSchema", "parameters_json_schema", "required_parameters",
                                          "optional_parameters"};
    json_t *definition = NULL, *schema = NULL;
    if (wt__json_parse(&definition, tool->definition, tool->definition_len, NULL) == 0 &&
        wt__json_parse(&schema, tool->schema, strlen(tool->schema), NULL) == 0) {
        const json_t *holders[] = {definition, wt__json_object(definition, "function"),
                                   wt__json_object(definition, "metadata")};
        for (size_t h = 0; h < COUNT(holders); h++)
            for (size_t m = 0; m < COUNT(members); m++)
                put_schema_names(out, wt__json_object(schema, "properties"), json_object_get(holders[h], members[m]));
    }
    json_decref(schema);
    json_decref(definition);
}
