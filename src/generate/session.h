/* session.h: what a generator works with from its options to its result: who is asked, the folder that keeps the
 * answers, and what is handed out at the end. */
#ifndef WT_GENERATE_SESSION_H
#define WT_GENERATE_SESSION_H

#include "generate/folder.h"
#include "generate/result.h"
#include "generate/stage.h"

struct session {
    wt_engine *engine;        /* may be NULL where a model is given */
    struct chat_model *model; /* the engine's, or a caller's own */
    struct progress progress;
    struct generate_folder folder;
    struct asker asker;
    struct generated *result;
    struct buffer settings; /* one line of JSON */
    double began;
};

/* model: NULL: the engine's. What it fails with is ended by wt__session_end, too. */
int wt__session_begin(struct session *out, wt_engine *engine, struct chat_model *model, wt_progress_fn progress,
                      void *context, wt_error *err);

/* Opens the folder by the settings, and who asks. Errors of wt__folder_open. */
int wt__session_open(struct session *session, const char *path, double temperature, uint64_t seed, wt_error *err);

/* Copies a line into the result; an empty one is NULL. */
int wt__session_say(struct session *session, const struct buffer *line, const char **out, wt_error *err);

/* The same of the report, which goes into the folder as report.json as well. The buffer is used up. */
int wt__session_report(struct session *session, struct buffer *line, wt_error *err);

/* Ends it: *out where rc is 0. Returns rc. */
int wt__session_end(struct session *session, int rc, wt_generated **out);

#endif
