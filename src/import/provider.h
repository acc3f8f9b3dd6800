/* provider.h: a short name for what an OpenAPI document describes, whose title may be a sentence. */
#ifndef WT_IMPORT_PROVIDER_H
#define WT_IMPORT_PROVIDER_H

#include "base/buffer.h"

enum {
    PROVIDER_MAX_WORDS = 4,
    PROVIDER_MAX_BYTES = 40,
};

/* Appends the title in lower case with '-' between its words, without those that say what kind of thing it is ("API",
 * "OpenAPI spec", versions, ...) and what stands behind a '+' or in brackets, when at most PROVIDER_MAX_WORDS and
 * PROVIDER_MAX_BYTES are left; else the name of the host (api.github.com: github); else the file's stem in the same
 * way; else the title's first words. Of these three facts alone, each of which may be "": the same document always has
 * the same name. url: of a server, or its host. */
void wt__short_provider(struct buffer *out, struct str title, struct str url, struct str stem);

#endif
