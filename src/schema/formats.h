/* formats.h: what the values of "format" mean. Each is a function of the text alone, by the grammar of its RFC. */
#ifndef WT_SCHEMA_FORMATS_H
#define WT_SCHEMA_FORMATS_H

#include <stdbool.h>

#include "base/str.h"

struct format {
    const char *name;
    const char *example; /* how a message calls one: "a date such as 2026-03-01" */
    bool (*fits)(struct str text);
};

/* NULL for a format that is not known: it asks nothing. */
const struct format *wt__format_find(struct str name);

#endif
