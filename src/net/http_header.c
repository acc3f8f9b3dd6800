#include "net/http_header.h"

#include <string.h>

static bool has_no_controls(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            return false;
    return true;
}

int wt__http_check_header(const struct http_header *header, wt_error *err)
{
    if (!header->value || (has_no_controls(header->value) && strlen(header->value) <= HTTP_HEADER_BYTES_MAX))
        return 0;
    return wt__fail(err, WT_EINVAL, "the value of %s is too long or contains a control character", header->name);
}
