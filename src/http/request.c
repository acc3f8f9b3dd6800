#include "http/request.h"

#include <strings.h>

const struct http_field *wt__http_find_field(const struct http_request *request, const char *name)
{
    size_t len = strlen(name);
    for (size_t i = 0; i < request->field_count; i++) {
        const struct http_field *field = &request->fields[i];
        if (field->name.len == len && strncasecmp(field->name.ptr, name, len) == 0)
            return field;
    }
    return NULL;
}

struct str wt__http_field(const struct http_request *request, const char *name)
{
    const struct http_field *field = wt__http_find_field(request, name);
    return field ? field->value : STR("");
}
