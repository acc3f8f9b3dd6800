/* formats.h: validates the values of "format". Each check depends only on the text and follows the grammar of its RFC.
 */
#ifndef WT_SCHEMA_FORMATS_H
#define WT_SCHEMA_FORMATS_H

#include <stdbool.h>

#include "base/str.h"

struct format {
    const char *name;
    const char *example;           /* description in messages: "a date such as 2026-03-01" */
    bool (*fits)(struct str text); /* NULL for "regex", whose check may run out of memory */
};

enum format_answer { FORMAT_NO, FORMAT_YES, FORMAT_NO_MEMORY };

/* Returns the format, or NULL if it is unknown. An unknown format accepts every value. */
const struct format *wt__format_find(struct str name);

enum format_answer wt__format_fits(const struct format *format, struct str text);

#endif
