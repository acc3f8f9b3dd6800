/* add.c: imports the tools of a source into the catalogue.
 *
 *   read the source (no lock) -> one transaction -> vectors, batch by batch -> a new index
 *
 * The tools are stored once the transaction has ended. The later steps may be stopped at any moment, and the next
 * import or query continues them. */
#include <limits.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/memory.h"
#include "catalog/names.h"
#include "changes/add.h"
#include "changes/recorded_use.h"
#include "engine/notice.h"
#include "engine/sized_options.h"

void wt_add_report_free(wt_add_report *public)
{
    if (!public)
        return;
    struct import_report *report = (struct import_report *)public;
    free(report->own.ids);
    wt__arena_dispose(&report->arena);
    free(report);
}

int wt__report_new(struct import_report **out, const struct import *import, wt_error *err)
{
    struct import_report *report = calloc(1, sizeof *report);
    WT_CHECK_ALLOC(report, err);
    wt_add_issue *issues = wt__arena_array(&report->arena, wt_add_issue, import->issue_count);
    const void *kept = wt__arena_pointers(&report->arena, issues, import->issue_count, sizeof *issues);
    bool whole = kept != NULL;
    for (size_t i = 0; whole && i < import->issue_count; i++) {
        issues[i] = import->issues[i];
        issues[i].file = wt__arena_copy(&report->arena, wt__str(import->issues[i].file));
        issues[i].pointer = wt__arena_copy(&report->arena, wt__str(import->issues[i].pointer));
        issues[i].reason = wt__arena_copy(&report->arena, wt__str(import->issues[i].reason));
        whole = issues[i].file && issues[i].pointer && issues[i].reason;
    }
    report->public = (wt_add_report){.skipped = import->skipped,
                                     .format = import->format,
                                     .issues = kept,
                                     .issue_count = import->issue_count,
                                     .whole = import->whole};
    *out = report;
    if (whole)
        return 0;
    wt_add_report_free(&report->public);
    *out = NULL;
    return wt__fail_nomem(err);
}

/* Appends a remark to the notice and disposes of the buffer. */
static int add_remark(struct import_report *report, unsigned code, struct buffer *remark, wt_error *err)
{
    int rc = wt__take_notice(&report->notice, code, remark, &report->arena, err);
    report->public.notice = report->notice.text;
    report->public.notice_codes = report->notice.codes;
    return rc;
}

static const char *copy_tool_id(struct arena *arena, struct str provider, struct str name)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer id = {0};
    wt__tool_id(&id, provider, name);
    return id.failed ? NULL : wt__arena_copy(arena, wt__buffer_view(&id));
}

/* Reports the tools added under another name. The texts of changes are in the report's arena already. */
static int report_collisions(struct import_report *report, const struct store_changes *changes, wt_error *err)
{
    size_t count = changes->collisions < WT_MAX_COLLISIONS ? changes->collisions : WT_MAX_COLLISIONS;
    wt_add_collision *told = wt__arena_array(&report->arena, wt_add_collision, count);
    bool whole = told != NULL;
    for (size_t i = 0; whole && i < count; i++) {
        const struct store_collision *one = &changes->first[i];
        told[i] = (wt_add_collision){copy_tool_id(&report->arena, one->provider, one->name),
                                     copy_tool_id(&report->arena, one->provider, one->taken), one->source.ptr,
                                     one->other.ptr};
        whole = told[i].id && told[i].taken;
    }
    report->public.collisions = changes->collisions;
    report->public.collided = wt__arena_pointers(&report->arena, told, count, sizeof *told);
    report->public.collided_count = report->public.collided ? count : 0;
    WT_CHECK_ALLOC(whole && report->public.collided, err);
    if (count == 0)
        return 0;
    struct buffer text = {0};
    wt__buffer_printf(&text,
                      "%zu tool%s the name of another source's tool but a different definition, and %s renamed: "
                      "%s of %s is %s, because %s has that name",
                      changes->collisions, count > 1 ? "s have" : " has", count > 1 ? "were" : "was", told[0].taken,
                      told[0].source, told[0].id, told[0].other);
    return add_remark(report, WT_NOTICE_COLLISION, &text, err);
}

/* Reports tools whose new definitions are broken, so that sync keeps the stored definitions. */
static int report_kept(struct import_report *report, size_t kept, wt_error *err)
{
    struct buffer text = {0};
    if (kept == 0)
        return 0;
    wt__buffer_printf(&text, "%zu tool%s %s skipped and keep%s the stored definition", kept, kept > 1 ? "s" : "",
                      kept > 1 ? "were" : "was", kept > 1 ? "" : "s");
    return add_remark(report, WT_NOTICE_KEPT, &text, err);
}

/* Reports tools with the name of an earlier tool of the source. */
static int report_twins(struct import_report *report, const struct import *import, wt_error *err)
{
    struct buffer text = {0};
    if (import->twins == 0)
        return 0;
    const struct import_place *place = &import->places[import->twin[0]], *other = &import->places[import->twin[1]];
    struct str own = import->tools[import->twin[0]].own_name, name = import->tools[import->twin[0]].name;
    wt__buffer_printf(&text, "%zu tool%s the name of an earlier one but a different definition: \"", import->twins,
                      import->twins > 1 ? "s have" : " has");
    wt__buffer_str(&text, own);
    wt__buffer_printf(&text, "\" of %s:%zu is also at ", import->files[other->file], other->line);
    if (place->file != other->file)
        wt__buffer_printf(&text, "%s:%zu", import->files[place->file], place->line);
    else
        wt__buffer_printf(&text, "line %zu", place->line);
    wt__buffer_text(&text, ", and is \"");
    wt__buffer_str(&text, name);
    wt__buffer_text(&text, "\" here");
    if (place->file != other->file)
        wt__buffer_text(&text, IMPORT_OTHER_PROVIDER);
    return add_remark(report, WT_NOTICE_COLLISION, &text, err);
}

int wt__store_tools(wt_engine *engine, const struct import *import, struct str source, bool sync,
                    struct progress *progress, struct import_report *report, wt_error *err)
{
    /* A truncated source does not show which tools are gone. */
    struct store_import_options options = {.source = source,
                                           .sync = sync && import->whole,
                                           .left = import->left,
                                           .left_count = import->left_count,
                                           .progress = progress,
                                           .arena = &report->arena};
    struct store_changes changes;
    wt_add_report *told = &report->public;
    options.ids = report->own.ids = wt__alloc_array(import->tool_count + 1, sizeof *report->own.ids);
    WT_CHECK_ALLOC(options.ids, err);
    pthread_mutex_lock(&engine->store_lock);
    int rc = wt__store_import(engine->store, import->tools, import->tool_count, &options, &changes, err);
    pthread_mutex_unlock(&engine->store_lock);
    if (rc < 0)
        return rc;
    report->own.count = import->tool_count;
    told->added = changes.added;
    told->updated = changes.updated;
    told->unchanged = changes.unchanged;
    told->removed = changes.removed;
    if (sync && !import->whole) {
        struct buffer text = {0};
        wt__buffer_text(&text, "the source was not read to its end, so nothing was removed");
        WT_TRY(add_remark(report, WT_NOTICE_INCOMPLETE_SOURCE, &text, err));
    }
    WT_TRY(report_kept(report, changes.kept, err));
    return report_collisions(report, &changes, err);
}

int wt__report_add_own(struct import_report *report, const struct import_report *other, wt_error *err)
{
    struct own_tools *own = &report->own;
    size_t count = other->own.count;
    if (count == 0)
        return 0;
    if (wt__grow((void **)&own->ids, &own->capacity, own->count + count, sizeof *own->ids) < 0)
        return wt__fail_nomem(err);
    memcpy(own->ids + own->count, other->own.ids, count * sizeof *own->ids);
    own->count += count;
    return 0;
}

/* Finds the encoder. Without a model only the lexical index is built, and the report says why. */
static int find_import_encoder(wt_engine *engine, struct import_report *report, const struct encoder **encoder,
                               wt_error *err)
{
    wt_error why;
    int rc = wt__engine_encoder(engine, encoder, &why);
    if (rc == WT_EMODEL) {
        struct buffer text = {0};
        wt__buffer_printf(&text, "no vectors were made: %s", why.message);
        return add_remark(report, WT_NOTICE_NO_ENCODER, &text, err);
    }
    if (rc < 0 && err)
        *err = why;
    return rc;
}

/* Builds an index of the current tools. Succeeds if there are no tools. */
static int rebuild_index(wt_engine *engine, wt_error *err)
{
    struct index_handle *index;
    wt_error why;
    int rc = wt__engine_newest_index(engine, &index, &why);
    if (rc == 0)
        wt__index_release(index);
    else if (rc == WT_EEMPTY) /* neither this source nor earlier sources had tools */
        rc = 0;
    else if (err)
        *err = why;
    return rc;
}

int wt__make_searchable(wt_engine *engine, bool no_vectors, struct progress *progress, struct import_report *report,
                        wt_error *err)
{
    const struct encoder *encoder = NULL;
    if (!no_vectors)
        WT_TRY(find_import_encoder(engine, report, &encoder, err));
    /* Encoding takes long. Until the vectors are stored, queries find the new tools by their words. */
    if (encoder && wt__engine_has_index(engine)) {
        int rc = rebuild_index(engine, err);
        wt__engine_keep_tools(engine);
        WT_TRY(rc);
    }
    if (encoder)
        WT_TRY(wt__embed_import(engine, encoder, &report->own, progress, &report->public.embedded, err));
    if (!no_vectors)
        WT_TRY(wt__engine_update_trained(engine, progress, err));
    if (wt__progress_phase(progress, "indexing", 0))
        return wt__fail_cancelled(err);
    return rebuild_index(engine, err);
}

/* Reports a source without tools: it was probably added by mistake. */
static int report_empty(const struct import *import, struct import_report *report, wt_error *err)
{
    struct buffer text = {0};
    if (import->tool_count > 0 || import->issue_count > 0)
        return 0;
    wt__buffer_text(&text, "the source has no tools");
    return add_remark(report, WT_NOTICE_EMPTY_SOURCE, &text, err);
}

/* Stores the tools of an import and makes them searchable. *out is also set if the import is cancelled after the tools
 * were stored. */
static int add_import(wt_engine *engine, const struct import *import, struct str source, const wt_add_options *options,
                      struct progress *progress, wt_add_report **out, wt_error *err)
{
    struct import_report *report;
    WT_TRY(wt__report_new(&report, import, err));
    wt__engine_begin_import(engine);
    int rc = wt__store_tools(engine, import, source, options->sync, progress, report, err);
    if (rc == 0)
        rc = report_empty(import, report, err);
    bool stored = rc == 0;
    if (stored)
        rc = report_twins(report, import, err);
    if (rc == 0)
        rc = wt__make_searchable(engine, options->no_vectors, progress, report, err);
    if (rc < 0) /* no newer index was built */
        wt__engine_changed(engine);
    wt__engine_end_import(engine);
    *out = &report->public;
    if (rc < 0 && !(stored && rc == WT_ECANCELLED)) {
        wt_add_report_free(*out);
        *out = NULL;
    }
    return rc;
}

static struct import_options make_import_options(const wt_add_options *options, const char *source_name,
                                                 struct progress *progress)
{
    return (struct import_options){.format = wt__str(options->format),
                                   .provider = wt__str(options->provider),
                                   .source_name = wt__str(source_name),
                                   .strict = options->strict,
                                   .progress = progress};
}

int wt_add(wt_engine *engine, const char *bytes, size_t len, const wt_add_options *given, wt_add_report **out,
           wt_error *err)
{
    wt_add_options options;
    struct import import = {0};
    struct progress progress;
    *out = NULL;
    WT_TRY(wt__options_read(&options, sizeof options, given, err));
    const char *name = options.source_name ? options.source_name : "input";
    wt__progress_init(&progress, options.progress, options.progress_context);
    struct import_options reading = make_import_options(&options, name, &progress);
    int rc = wt__import_bytes(&import, (struct str){bytes, len}, &reading, err);
    if (rc == 0)
        rc = add_import(engine, &import, wt__str(name), &options, &progress, out, err);
    wt__import_dispose(&import);
    wt__progress_dispose(&progress);
    return rc;
}

/* Returns the absolute path of a source without symbolic links to folders, so that a source has the same name from all
 * working directories. Returns path itself if that fails, NULL if out of memory. A link to a file is not followed,
 * since it may point to another file later. */
static const char *resolve_source(const char *path, struct arena *arena)
{
    char resolved[PATH_MAX];
    if (wt__is_folder(path))
        return realpath(path, resolved) ? wt__arena_copy(arena, wt__str(resolved)) : path;
    const char *slash = strrchr(path, '/');
    const char *folder = slash ? wt__arena_copy(arena, (struct str){path, (size_t)(slash + 1 - path)}) : ".";
    if (!folder)
        return NULL;
    return realpath(folder, resolved) ? wt__path_join(arena, resolved, slash ? slash + 1 : path) : path;
}

/* Sets *out to the source of a file: `source` itself, or the path of the file below the folder `source`. */
static int name_file_source(struct import *import, uint32_t file, const char *path, const char *source, struct str *out,
                            wt_error *err)
{
    const char *below = import->files[file] + strlen(path);
    *out = wt__str(*below ? wt__path_join(&import->arena, source, below + strspn(below, "/")) : source);
    return out->ptr ? 0 : wt__fail_nomem(err);
}

/* Sets the source of each tool. path: the only source, or the folder of the sources. */
static int name_sources(struct import *import, const char *path, const char *source, wt_error *err)
{
    struct str last = {0};
    for (size_t i = 0; i < import->tool_count; i++) {
        uint32_t file = import->places[i].file;
        if (i == 0 || file != import->places[i - 1].file)
            WT_TRY(name_file_source(import, file, path, source, &last, err));
        import->tools[i].source = last;
    }
    for (size_t i = 0; i < import->left_count; i++)
        WT_TRY(name_file_source(import, import->left[i].file, path, source, &import->left[i].source, err));
    return 0;
}

int wt_add_path(wt_engine *engine, const char *path, const wt_add_options *given, wt_add_report **out, wt_error *err)
{
    wt_add_options options;
    struct import import = {0};
    struct progress progress;
    *out = NULL;
    WT_TRY(wt__options_read(&options, sizeof options, given, err));
    wt__progress_init(&progress, options.progress, options.progress_context);
    struct import_options reading = make_import_options(&options, NULL, &progress);
    int rc = wt__import_path(&import, path, &reading, err);
    const char *source = rc == 0 ? resolve_source(path, &import.arena) : NULL;
    if (rc == 0)
        rc = source ? name_sources(&import, path, source, err) : wt__fail_nomem(err);
    if (rc == 0)
        rc = add_import(engine, &import, wt__str(source), &options, &progress, out, err);
    wt__import_dispose(&import);
    wt__progress_dispose(&progress);
    return rc;
}
