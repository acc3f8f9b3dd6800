/* named_provider.h: finds provider names in a request, and measures how reliably each name identifies its provider. */
#ifndef WT_RETRIEVE_NAMED_PROVIDER_H
#define WT_RETRIEVE_NAMED_PROVIDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/map.h"
#include "index/lexical.h"
#include "text/analyser.h"

/* Returns a hash that ignores ASCII case, separators and generic words such as "server" or "api". Returns 0 if the
 * other words are too short, too long or too many to be a name. */
uint64_t wt__provider_hash(struct str name);

/* Hashes of all runs of words in a text that could be a provider's name. All zero if empty. */
struct provider_names {
    const uint64_t *hashes; /* [count] ascending */
    size_t count;
};

/* Reads the names from a text into the arena. Returns 0 or WT_ENOMEM. */
int wt__provider_names_read(struct provider_names *out, struct str text, struct arena *arena, wt_error *err);
/* True if the provider with this hash is named. */
bool wt__provider_named(const struct provider_names *names, uint64_t provider_hash);

/* Tool counts per provider name, collected while an index is built. Zero-initialise. */
struct name_counts {
    struct map by_hash;
    struct name_count *items;
    size_t len, capacity;
    struct arena arena;
};
/* Counts a tool of the named provider. Sets *hash to the hash of the provider's name, or to 0 if the name is not
 * counted (wt__provider_hash). Returns 0 or WT_ENOMEM. */
int wt__name_counts_add(struct name_counts *counts, struct str provider, uint64_t *hash, struct analyser *analyser,
                        struct token_list *scratch, wt_error *err);
/* Works like wt__name_counts_add for a provider that `known` has, by its hash; 0 is ignored. Borrows the terms of
 * `known`, which must outlive `counts`. */
int wt__name_counts_add_known(struct name_counts *counts, const struct name_counts *known, uint64_t hash,
                              wt_error *err);
/* Counts another tool of a provider that was added before, by its hash. */
void wt__name_counts_again(struct name_counts *counts, uint64_t hash);
/* Returns the precision of the provider's name, 0 to 1: of all tools that contain all words of the name, the share
 * that belongs to this provider. It is estimated from the frequencies of the words: about 1 for "spotify", low for
 * "time". Returns 0 for an unknown hash. */
float wt__name_precision(const struct name_counts *counts, uint64_t hash, const struct lexical *index);
void wt__name_counts_dispose(struct name_counts *counts);

#endif
