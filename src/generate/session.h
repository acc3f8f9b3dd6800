/* session.h: state shared by all generators from options to result: the model, the folder with its answers, and the
 * result handed to the caller. */
#ifndef WT_GENERATE_SESSION_H
#define WT_GENERATE_SESSION_H

#include "generate/folder.h"
#include "generate/result.h"
#include "generate/stage.h"

struct generate_session {
    wt_engine *engine;        /* may be NULL if a model is given */
    struct chat_model *model; /* the engine's, or the caller's own */
    struct progress progress;
    struct generate_folder folder;
    struct stage_runner asker;
    struct generated *result;
    struct buffer settings; /* one line of JSON */
    double began;
};

/* model: NULL for the engine's. Call wt__session_end even after a failure. */
int wt__session_begin(struct generate_session *out, wt_engine *engine, struct chat_model *model,
                      wt_progress_fn progress, void *context, wt_error *err);

/* Opens the folder with the settings, and sets up the asker. Errors: those of wt__folder_open. */
int wt__session_open(struct generate_session *session, const char *path, double temperature, uint64_t seed,
                     wt_error *err);

/* Copies a line into the result; sets *out to NULL if the line is empty. */
int wt__session_set_text(struct generate_session *session, const struct buffer *line, const char **out, wt_error *err);

/* Copies the report into the result and writes it to report.json. Disposes the buffer. */
int wt__session_report(struct generate_session *session, struct buffer *line, wt_error *err);

/* Ends the session; sets *out if rc is 0. Returns rc. */
int wt__session_end(struct generate_session *session, int rc, wt_generated **out);

#endif
