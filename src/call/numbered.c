/* numbered.c: see numbered.h. */
#include "call/numbered.h"

static bool may_be_null(const json_t *rule)
{
    const json_t *types = wt__json_array(rule, "type");
    for (size_t i = 0; i < json_array_size(types); i++)
        if (wt__str_equal(wt__str(json_string_value(json_array_get(types, i))), STR("null")))
            return true;
    return false;
}

int wt__numbered_schema(json_t **out, const json_t *schema, const char *member, size_t count, wt_error *err)
{
    *out = json_deep_copy(schema);
    json_t *rule = wt__json_object(wt__json_object(*out, "properties"), member), *numbers = json_array();
    int rc = rule && numbers ? 0 : -1;
    for (size_t i = 1; rc == 0 && i <= count; i++)
        rc = json_array_append_new(numbers, json_integer((json_int_t)i));
    if (rc == 0 && may_be_null(rule))
        rc = json_array_append_new(numbers, json_null());
    if (rc == 0)
        rc = json_object_set(rule, "enum", numbers);
    json_decref(numbers);
    if (rc == 0)
        return 0;
    json_decref(*out);
    *out = NULL;
    return wt__fail_nomem(err);
}

enum numbered wt__numbered_read(const json_t *answer, const char *member, size_t count, bool none, size_t *item)
{
    const json_t *number = json_object_get(answer, member);
    json_int_t place = json_is_integer(number) ? json_integer_value(number) : 0;
    if (none && json_is_null(number))
        return NUMBERED_NONE;
    if (place < 1 || place > (json_int_t)count)
        return NUMBERED_UNUSABLE;
    *item = (size_t)place - 1;
    return NUMBERED_ITEM;
}
