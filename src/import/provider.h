/* provider.h: derives a short provider name from the title of an OpenAPI document. */
#ifndef WT_IMPORT_PROVIDER_H
#define WT_IMPORT_PROVIDER_H

#include "base/buffer.h"

enum {
    PROVIDER_MAX_WORDS = 4,
    PROVIDER_MAX_BYTES = 40,
};

/* Appends a provider name. The name is the title in lower case with '-' between words. Generic words ("API", "OpenAPI
 * spec", versions), and text after '+' or in brackets, are removed. If more than PROVIDER_MAX_WORDS or
 * PROVIDER_MAX_BYTES are left, the name of the host is used (github for api.github.com). The fallbacks are the file's
 * stem, shortened the same way, and the first words of the title. The result depends only on these three arguments,
 * each of which may be "". url is that of a server, or its host. */
void wt__short_provider(struct buffer *out, struct str title, struct str url, struct str stem);

#endif
