/* corpus.h: caches the catalogue of a data set as a store between evaluations and trainings, because encoding thousands
 * of tools takes longer than measuring them.
 *
 * The name of a store is the SHA-256 of CORPUS_EDITION, the library's version and the bytes of the corpus. So data sets
 * with the same corpus share a store, and an edited corpus gets its own store. Stores may be deleted at any time.
 * Increase CORPUS_EDITION if the BEIR importer changes its results. */
#ifndef WT_CHANGES_CORPUS_H
#define WT_CHANGES_CORPUS_H

#include "base/arena.h"
#include "base/error.h"

struct corpus_options {
    const char *cache_dir;          /* NULL for eval/ in the cache folder */
    const char *model, *models_dir; /* as in wt_open_options */
    wt_progress_fn progress;        /* progress of the import; may be NULL */
    void *progress_context;
};

/* Opens the store of dir/corpus.jsonl. Imports the corpus without vectors if the store is empty. */
int wt__corpus_open(wt_engine **out, const char *dir, const struct corpus_options *options, wt_error *err);

/* Imports the corpus without vectors into a store of the caller. Does nothing if the store has tools. Uses only the
 * progress of options. */
int wt__corpus_import(wt_engine *engine, const char *dir, const struct corpus_options *options, wt_error *err);

/* Returns the default folder of cached stores in *out, in arena: eval/ in the cache folder. */
int wt__corpus_cache_folder(const char **out, struct arena *arena, wt_error *err);

/* Returns the path of the cached store in *out, in arena. */
int wt__corpus_path(char **out, struct arena *arena, const char *dir, const char *cache_dir, wt_error *err);

#endif
