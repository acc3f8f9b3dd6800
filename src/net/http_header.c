/* http_header.c: see http_header.h. */
#include "net/http_header.h"

#include <string.h>

static bool is_clean(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            return false;
    return true;
}

int wt__http_check_header(const struct http_header *header, wt_error *err)
{
    if (!header->value || (is_clean(header->value) && strlen(header->value) <= HTTP_HEADER_BYTES_MAX))
        return 0;
    return wt__fail(err, WT_EINVAL, "what is sent as %s is too long or holds a control character", header->name);
}
