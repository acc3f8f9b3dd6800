/* corpus.h: the catalogue of a data set as a store that is kept between evaluations and trainings, because encoding
 * thousands of tools takes longer than measuring them.
 *
 * A store is named by the SHA-256 of the corpus' bytes and of what reads them (the library's version, and
 * CORPUS_EDITION, which is raised when the BEIR importer changes its mind): data sets with the same corpus share one,
 * and an edited corpus gets its own. Any of them may be deleted at any time. */
#ifndef WT_CHANGES_CORPUS_H
#define WT_CHANGES_CORPUS_H

#include "base/arena.h"
#include "base/error.h"

struct corpus_options {
    const char *cache_dir;          /* NULL: eval/ in the cache folder */
    const char *model, *models_dir; /* as in wt_open_options */
    wt_progress_fn progress;        /* of the import; may be NULL */
    void *progress_context;
};

/* Opens the store of dir/corpus.jsonl, importing it when that was not done yet, without vectors. */
int wt__corpus_open(wt_engine **out, const char *dir, const struct corpus_options *options, wt_error *err);

/* The same import, into a store of one's own. options: its progress counts. */
int wt__corpus_import(wt_engine *engine, const char *dir, const struct corpus_options *options, wt_error *err);

/* Where such stores are kept when nobody says where: eval/ in the cache folder. In arena. */
int wt__corpus_cache(const char **out, struct arena *arena, wt_error *err);

/* The path of that store, in arena. */
int wt__corpus_path(char **out, struct arena *arena, const char *dir, const char *cache_dir, wt_error *err);

#endif
