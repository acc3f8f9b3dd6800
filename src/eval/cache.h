/* cache.h: the catalogue of a data set as a store that is kept between evaluations, because encoding thousands of
 * tools takes longer than measuring them.
 *
 * A store is named by the SHA-256 of the corpus' bytes and of what reads them (the library's version, and
 * CACHE_EDITION, which is raised when the BEIR importer changes its mind): data sets with the same corpus share one,
 * and an edited corpus gets its own. Any of them may be deleted at any time. */
#ifndef WT_EVAL_CACHE_H
#define WT_EVAL_CACHE_H

#include <stdbool.h>

#include "base/error.h"

/* Opens the store of dir/corpus.jsonl, importing it when that was not done yet, without vectors. with_model: false
 * opens it without an encoder. */
int wt__eval_cache_open(wt_engine **out, const char *dir, const wt_eval_options *options, bool with_model,
                        wt_error *err);

/* The path of that store, in arena. */
struct arena;
int wt__eval_cache_path(char **out, struct arena *arena, const char *dir, const char *cache_dir, wt_error *err);

#endif
