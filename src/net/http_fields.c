#include "net/http_fields.h"

#include <string.h>
#include <strings.h>

static int add_header_line(struct curl_slist **lines, const struct curl_library *lib, const char *line, wt_error *err)
{
    struct curl_slist *longer = lib->slist_append(*lines, line);
    if (!longer)
        return wt__fail_nomem(err);
    *lines = longer;
    return 0;
}

static int add_header(struct curl_slist **lines, const struct curl_library *lib, const struct http_header *header,
                      wt_error *err)
{
    struct buffer line = {0};
    if (!header->value || !header->value[0])
        return 0;
    int rc = wt__http_check_header(header, err);
    if (rc < 0)
        return rc;
    wt__buffer_printf(&line, "%s: %s", header->name, header->value);
    rc = line.failed ? wt__fail_nomem(err) : add_header_line(lines, lib, line.ptr, err);
    wt__buffer_dispose(&line);
    return rc;
}

int wt__http_fields(struct curl_slist **out, const struct curl_library *lib, const char *accept,
                    const struct http_header *headers, size_t count, wt_error *err)
{
    /* Disable Expect: libcurl would wait for 100 Continue before a large body, and many servers do not send it. */
    static const char *const always[] = {"Content-Type: application/json", "Expect:"};
    const struct http_header types = {"Accept", accept ? accept : "application/json"};
    *out = NULL;
    int rc = add_header(out, lib, &types, err);
    for (size_t i = 0; rc == 0 && i < sizeof always / sizeof *always; i++)
        rc = add_header_line(out, lib, always[i], err);
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = add_header(out, lib, &headers[i], err);
    return rc;
}

bool wt__http_field_value(struct str line, const char *name, struct str *value)
{
    size_t len = strlen(name);
    if (line.len <= len || line.ptr[len] != ':' || strncasecmp(line.ptr, name, len) != 0)
        return false;
    *value = wt__str_trim((struct str){line.ptr + len + 1, line.len - len - 1});
    return true;
}

void wt__http_copy_field(char *out, size_t room, struct str value)
{
    size_t len = value.len < room ? value.len : room - 1;
    memcpy(out, value.ptr, len);
    out[len] = '\0';
}
