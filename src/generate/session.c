/* session.c: the folder, the options and the result of a generator's run. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/file.h"
#include "engine/engine.h"
#include "generate/internal.h"

enum { LOCK_WAIT_MS = 0, SETTINGS_BYTES_MAX = 64 << 10 };

static int check_folder_settings(struct generate_folder *folder, const char *settings, wt_error *err)
{
    WT_AUTO_FREE char *known = NULL;
    size_t len = 0;
    static const char *const data[] = {"samples.jsonl", "queries.jsonl"};
    const char *path = wt__path_join(&folder->arena, folder->path, FOLDER_SETTINGS);
    WT_CHECK_ALLOC(path, err);
    if (!wt__is_file(path)) {
        for (size_t i = 0; i < sizeof data / sizeof *data; i++) {
            const char *there = wt__path_join(&folder->arena, folder->path, data[i]);
            WT_CHECK_ALLOC(there, err);
            if (wt__is_file(there))
                return wt__fail(err, WT_EINVAL, "%s was not written by a run of this command; name another folder",
                                there);
        }
        return wt__file_replace(path, settings, strlen(settings), err);
    }
    WT_TRY(wt__file_read(&known, &len, path, SETTINGS_BYTES_MAX, err));
    if (!wt__str_equal(wt__str_trim((struct str){known, len}), wt__str_trim(wt__str(settings))))
        return wt__fail(err, WT_EINVAL,
                        "%s has a data set that was begun with other options, another model or another catalogue (%s); "
                        "name another folder, or use the same ones to continue",
                        folder->path, path);
    return 0;
}

int wt__folder_open(struct generate_folder *out, const char *path, const char *settings, struct chat_model *inner,
                    wt_error *err)
{
    *out = (struct generate_folder){.lock = -1};
    out->path = wt__arena_copy(&out->arena, wt__str(path));
    const char *lock = out->path ? wt__path_join(&out->arena, path, ".lock") : NULL,
               *answers = lock ? wt__path_join(&out->arena, path, FOLDER_ANSWERS) : NULL;
    int rc = answers ? wt__make_folders(path, err) : wt__fail_nomem(err);
    if (rc == 0)
        rc = wt__lock_file(&out->lock, lock, LOCK_WAIT_MS, err);
    if (rc == WT_EBUSY)
        rc = wt__fail(err, WT_EBUSY, "another process is writing a data set in %s", path);
    if (rc == 0 && settings)
        rc = check_folder_settings(out, settings, err);
    if (rc == 0 && settings && inner)
        rc = wt__chat_record_open(&out->answers, answers, NULL, inner, err);
    if (out->answers)
        wt__chat_record_relax(out->answers);
    if (rc < 0)
        wt__folder_close(out);
    return rc;
}

void wt__folder_close(struct generate_folder *folder)
{
    wt__chat_record_close(folder->answers);
    if (folder->lock >= 0)
        wt__unlock_file(folder->lock);
    wt__arena_dispose(&folder->arena);
    *folder = (struct generate_folder){.lock = -1};
}

struct chat_model *wt__folder_model(const struct generate_folder *folder)
{
    return folder->answers ? wt__chat_record_model(folder->answers) : NULL;
}

int wt__folder_make_subfolder(struct generate_folder *folder, const char *name, wt_error *err)
{
    const char *path = wt__path_join(&folder->arena, folder->path, name);
    return path ? wt__make_folders(path, err) : wt__fail_nomem(err);
}

int wt__folder_write(struct generate_folder *folder, const char *name, const struct buffer *bytes, wt_error *err)
{
    const char *path = wt__path_join(&folder->arena, folder->path, name);
    WT_CHECK_ALLOC(path && !bytes->failed, err);
    const struct str view = wt__buffer_view(bytes);
    return wt__file_replace(path, view.len ? view.ptr : "", view.len, err);
}

int wt__folder_remove(struct generate_folder *folder, const char *name, wt_error *err)
{
    const char *path = wt__path_join(&folder->arena, folder->path, name);
    WT_CHECK_ALLOC(path, err);
    return unlink(path) == 0 || errno == ENOENT || errno == ENOTDIR ? 0 : wt__fail_errno(err, "remove", path);
}

bool wt__folder_has(struct generate_folder *folder, const char *name)
{
    const char *path = wt__path_join(&folder->arena, folder->path, name);
    return path && wt__is_file(path);
}

void wt_generated_free(wt_generated *generated)
{
    struct generated *result = (struct generated *)generated;
    if (!result)
        return;
    wt__arena_dispose(&result->arena);
    free(result);
}

void wt__generated_set_cost(struct generated *result, const struct stage_runner *runner)
{
    result->visible.questions = runner->cost.questions;
    result->visible.requests = runner->cost.requests;
    result->visible.prompt_tokens = runner->cost.prompt_tokens;
    result->visible.completion_tokens = runner->cost.completion_tokens;
    result->visible.model_ms = runner->cost.ms;
}

int wt__generate_read_share(double given, double usual, double most, const char *name, double *out, wt_error *err)
{
    *out = given < 0 ? 0 : given > 0 ? given : usual;
    if (given <= most) /* false for NaN, too */
        return 0;
    return wt__fail(err, WT_EINVAL, "%s must be at most %g, not %g", name, most, given);
}

int wt__generate_read_count(size_t given, size_t usual, size_t least, size_t most, const char *name, size_t *out,
                            wt_error *err)
{
    *out = given ? given : usual;
    if (*out >= least && *out <= most)
        return 0;
    return wt__fail(err, WT_EINVAL, "the number of %s must be %zu to %zu, not %zu", name, least, most, given);
}

int wt__generate_load_encoder(wt_engine *engine, struct progress *progress, const struct encoder **out, wt_error *err)
{
    wt_error why;
    int rc = wt__engine_load_encoder(engine, progress, out, &why);
    if (rc == 0)
        return 0;
    *out = NULL;
    if (rc == WT_EMODEL)
        return 0;
    if (err)
        *err = why;
    return rc;
}

int wt__session_begin(struct generate_session *out, wt_engine *engine, struct chat_model *model,
                      wt_progress_fn progress, void *context, wt_error *err)
{
    *out = (struct generate_session){.engine = engine, .model = model, .folder = {.lock = -1}, .began = wt__now_ms()};
    wt__progress_init(&out->progress, progress, context);
    out->result = calloc(1, sizeof *out->result);
    WT_CHECK_ALLOC(out->result, err);
    if (model)
        return 0;
    return engine ? wt__engine_chat(engine, &out->model, err)
                  : wt__fail(err, WT_EINVAL, "an engine is needed: its language model answers the questions");
}

int wt__session_open(struct generate_session *session, const char *path, double temperature, uint64_t seed,
                     wt_error *err)
{
    WT_CHECK_ALLOC(!session->settings.failed, err);
    WT_TRY(wt__folder_open(&session->folder, path, session->settings.ptr, session->model, err));
    session->runner = (struct stage_runner){.model = wt__folder_model(&session->folder),
                                            .temperature = temperature,
                                            .seed = seed,
                                            .progress = &session->progress};
    session->result->visible.path = wt__arena_copy(&session->result->arena, wt__str(path));
    return session->result->visible.path ? 0 : wt__fail_nomem(err);
}

int wt__session_set_text(struct generate_session *session, const struct buffer *line, const char **out, wt_error *err)
{
    *out = NULL;
    if (line->len > 0)
        *out = wt__arena_copy(&session->result->arena, wt__buffer_view(line));
    return line->failed || (line->len > 0 && !*out) ? wt__fail_nomem(err) : 0;
}

void wt__session_begin_report(const struct generate_session *session, bool complete, struct buffer *out)
{
    wt__buffer_printf(out, "{\"settings\":%s,\"complete\":%s,\"model\":", session->settings.ptr,
                      complete ? "true" : "false");
    wt__buffer_json(out, wt__str(session->model->name));
}

int wt__session_report(struct generate_session *session, struct buffer *line, wt_error *err)
{
    int rc = wt__session_set_text(session, line, &session->result->visible.report, err);
    wt__buffer_char(line, '\n');
    if (rc == 0)
        rc = wt__folder_write(&session->folder, "report.json", line, err);
    wt__buffer_dispose(line);
    return rc;
}

int wt__session_end(struct generate_session *session, int rc, wt_generated **out)
{
    *out = NULL;
    wt__progress_dispose(&session->progress);
    wt__folder_close(&session->folder);
    wt__buffer_dispose(&session->settings);
    if (!session->result)
        return rc;
    wt__generated_set_cost(session->result, &session->runner);
    session->result->visible.seconds = (wt__now_ms() - session->began) / 1000;
    if (rc == 0)
        *out = &session->result->visible;
    else
        wt_generated_free(&session->result->visible);
    session->result = NULL;
    return rc;
}
