/* corpus.c: caches data sets as stores (corpus.h). */
#include "changes/corpus.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/sha256.h"

/* Increase the number in this text when the version of the store changes, so that an older whichtool does not
 * find a newer store in its cache. */
#define CORPUS_EDITION "whichtool eval cache 2 " WT_VERSION "\n"

int wt__corpus_cache_folder(const char **out, struct arena *arena, wt_error *err)
{
    char *caches;
    WT_TRY(wt__cache_folder(&caches, arena, err));
    *out = wt__path_join(arena, caches, "eval");
    return *out ? 0 : wt__fail_nomem(err);
}

int wt__corpus_path(char **out, struct arena *arena, const char *dir, const char *cache_dir, wt_error *err)
{
    *out = NULL;
    struct mapping corpus = {0};
    char *source = wt__path_join(arena, dir, "corpus.jsonl");
    int rc = source ? wt__file_map(&corpus, source, err) : wt__fail_nomem(err);
    if (rc < 0)
        return rc;
    struct sha256 sha;
    unsigned char digest[32];
    char name[65 + sizeof ".wt"];
    wt__sha256_begin(&sha);
    wt__sha256_update(&sha, CORPUS_EDITION, sizeof CORPUS_EDITION - 1);
    wt__sha256_update(&sha, corpus.ptr, corpus.len);
    wt__sha256_end(&sha, digest);
    wt__file_unmap(&corpus);
    wt__sha256_hex(digest, name);
    memcpy(name + 64, ".wt", sizeof ".wt");

    if (!cache_dir && (rc = wt__corpus_cache_folder(&cache_dir, arena, err)) < 0)
        return rc;
    *out = wt__path_join(arena, cache_dir, name);
    return *out ? 0 : wt__fail_nomem(err);
}

int wt__corpus_import(wt_engine *engine, const char *dir, const struct corpus_options *options, wt_error *err)
{
    wt_catalog_info info;
    wt_catalog_info_init(&info);
    int rc = wt_info(engine, &info, err);
    if (rc < 0 || info.tools > 0)
        return rc; /* an import is one transaction: either all tools are stored, or not a single one */
    wt_add_options add;
    wt_add_options_init(&add);
    add.format = "beir";
    add.no_vectors = 1;
    add.progress = options->progress;
    add.progress_context = options->progress_context;
    wt_add_report *report = NULL;
    rc = wt_add_path(engine, dir, &add, &report, err);
    if (rc >= 0 && report->added == 0)
        rc = wt__fail(err, WT_EFORMAT, "%s/corpus.jsonl has no readable tool", dir);
    wt_add_report_free(report);
    return rc;
}

int wt__corpus_open(wt_engine **out, const char *dir, const struct corpus_options *options, wt_error *err)
{
    *out = NULL;
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    char *path = NULL;
    wt_open_options open;
    WT_TRY(wt__corpus_path(&path, &arena, dir, options->cache_dir, err));
    wt_open_options_init(&open);
    open.model = options->model;
    open.models_dir = options->models_dir;
    WT_TRY(wt_open(out, path, &open, err));
    int rc = wt__corpus_import(*out, dir, options, err);
    if (rc < 0) {
        wt_close(*out);
        *out = NULL;
    }
    return rc < 0 ? rc : 0;
}
