/* places.c: a subschema stores only the steps from its parent, so a place is collected up to the root. */
#include "schema/places.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/json.h"
#include "schema/limits.h"

const char *wt__subschema_steps(struct arena *arena, const char *keyword, const char *name)
{
    struct buffer text = {0};
    wt__buffer_printf(&text, "/%s", keyword);
    if (name)
        wt__json_pointer_step(&text, wt__str(name));
    char *steps = text.failed ? NULL : wt__arena_copy(arena, wt__buffer_view(&text));
    wt__buffer_dispose(&text);
    return steps;
}

void wt__subschema_place(struct buffer *out, const struct subschema *subschema)
{
    const struct subschema *path[2 * SCHEMA_NESTING];
    size_t len = 0;
    for (; subschema && len < sizeof path / sizeof path[0]; subschema = subschema->parent)
        path[len++] = subschema;
    if (len > 0 && path[len - 1]->resource->document[0] != '\0')
        wt__buffer_printf(out, "%s#", path[len - 1]->resource->document);
    while (len > 0)
        wt__buffer_text(out, path[--len]->steps);
}

int wt__subschema_refuse(const struct subschema *at, int code, wt_error *err, const char *format, ...)
{
    struct buffer place = {0};
    char what[sizeof err->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    wt__subschema_place(&place, at);
    if (place.failed)
        code = wt__fail_nomem(err);
    else
        wt__fail_at(err, code, 0, 0, place.ptr ? place.ptr : "", "schema %.200s: %s",
                    place.len > 0 ? place.ptr : "at its root", what);
    wt__buffer_dispose(&place);
    return code;
}
