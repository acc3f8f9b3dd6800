/* named_provider.h: the name of a tool's provider, as a request says it, and how sure it is that it then means that
 * one. */
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

/* The same for names that differ in nothing but case, what stands between the words, and words that only say what kind
 * of thing is named ("server", "api"). 0: nobody is named by it. */
uint64_t wt__provider_hash(struct str name);

/* What the words of a text may name. All zero: nothing. */
struct provider_names {
    const uint64_t *hashes; /* [count] ascending */
    size_t count;
};

/* Reads them of a text; in the arena. 0, or WT_ENOMEM. */
int wt__provider_names_read(struct provider_names *out, struct str text, struct arena *arena, wt_error *err);
/* Whether the provider of that hash is among them. */
bool wt__provider_named(const struct provider_names *names, uint64_t provider_hash);

/* How precise names are, counted while an index is made. All zero is empty. */
struct name_counts {
    struct map by_hash;
    struct name_count *items;
    size_t len, capacity;
    struct arena arena;
};
/* One more tool of the provider of that name. Returns its hash in *hash. 0, or WT_ENOMEM. */
int wt__name_counts_add(struct name_counts *counts, struct str provider, uint64_t *hash, struct analyser *analyser,
                        struct token_list *scratch, wt_error *err);
/* One more of a provider that was added, by its hash. */
void wt__name_counts_again(struct name_counts *counts, uint64_t hash);
/* Of the tools that say all words of the name, the share that is the provider's, as far as the words' numbers tell:
 * about 1 of "spotify", little of "time". In (0, 1]. */
float wt__name_precision(const struct name_counts *counts, uint64_t hash, const struct lexical *index);
void wt__name_counts_dispose(struct name_counts *counts);

#endif
