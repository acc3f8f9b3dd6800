/* formats.h: what the values of "format" mean. Each is a function of the text alone, by the grammar of its RFC. */
#ifndef WT_SCHEMA_FORMATS_H
#define WT_SCHEMA_FORMATS_H

#include <stdbool.h>

#include "base/str.h"

struct format {
    const char *name;
    const char *example;           /* how a message calls one: "a date such as 2026-03-01" */
    bool (*fits)(struct str text); /* NULL: "regex", which takes memory */
};

enum format_answer { FORMAT_NO, FORMAT_YES, FORMAT_NO_MEMORY };

/* NULL for a format that is not known: it asks nothing. */
const struct format *wt__format_find(struct str name);

enum format_answer wt__format_fits(const struct format *format, struct str text);

#endif
