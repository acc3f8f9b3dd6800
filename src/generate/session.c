#include "generate/session.h"

#include <stdlib.h>

#include "base/clock.h"
#include "engine/engine.h"

int wt__session_begin(struct generate_session *out, wt_engine *engine, struct chat_model *model,
                      wt_progress_fn progress, void *context, wt_error *err)
{
    *out = (struct generate_session){.engine = engine, .model = model, .folder = {.lock = -1}, .began = wt__now_ms()};
    wt__progress_init(&out->progress, progress, context);
    out->result = calloc(1, sizeof *out->result);
    if (!out->result)
        return wt__fail_nomem(err);
    if (model)
        return 0;
    return engine ? wt__engine_chat(engine, &out->model, err)
                  : wt__fail(err, WT_EINVAL, "an engine is needed: its language model answers the questions");
}

int wt__session_open(struct generate_session *session, const char *path, double temperature, uint64_t seed,
                     wt_error *err)
{
    if (session->settings.failed)
        return wt__fail_nomem(err);
    int rc = wt__folder_open(&session->folder, path, session->settings.ptr, session->model, err);
    if (rc < 0)
        return rc;
    session->asker = (struct stage_runner){.model = wt__folder_model(&session->folder),
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
    wt__generated_set_cost(session->result, &session->asker);
    session->result->visible.seconds = (wt__now_ms() - session->began) / 1000;
    if (rc == 0)
        *out = &session->result->visible;
    else
        wt_generated_free(&session->result->visible);
    session->result = NULL;
    return rc;
}
