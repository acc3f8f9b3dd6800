/* verbs.h: operations with JSON in and out. The HTTP API and wt_json answer with the same functions.
 *
 * Each function parses its JSON with a table of bodies.h, runs the operation, and appends the result, an object on one
 * line. */
#ifndef WT_WIRE_VERBS_H
#define WT_WIRE_VERBS_H

#include "query/search.h"
#include "wire/bodies.h"
#include "wire/results.h"

enum { VERB_RECIPE_BYTES = 65 };

struct json_run {
    wt_engine *engine;
    struct buffer *out;
    wt_progress_fn progress; /* may be NULL */
    void *progress_context;
    unsigned time_limit_ms; /* upper bound of a request's own limit; 0: unlimited */
    /* Called before a language model is asked. A return value other than 0 ends the operation with this value. pointer:
     * JSON pointer of the member that asks for the model. If the callback is NULL, every request may use the model. */
    int (*permit_model)(void *context, const char *pointer, wt_error *err);
    void *permit_context;
    char recipe[VERB_RECIPE_BYTES]; /* recipe that ran, or "" */
    struct search_times times;      /* of the search, or of encoding texts; all 0 without either */
};

/* Return 0, a negative WT_E... with *err, or a positive result of permit_model. */
int wt__run_find(struct json_run *run, struct str json, wt_error *err);
int wt__run_pick(struct json_run *run, struct str json, wt_error *err);
int wt__run_call(struct json_run *run, struct str json, wt_error *err);
int wt__run_embed(struct json_run *run, struct str json, wt_error *err);
int wt__run_rerank(struct json_run *run, struct str json, wt_error *err);
int wt__run_decide(struct json_run *run, struct str json, wt_error *err);
int wt__run_system_one(struct json_run *run, struct str json, wt_error *err);
int wt__run_status(struct json_run *run, struct str json, wt_error *err);
int wt__run_recipes(struct json_run *run, struct str json, wt_error *err);

/* Variants with parsed arguments. The HTTP API receives these arguments in the path and the query. */
int wt__run_list(struct json_run *run, const wt_list_options *options, wt_error *err);
int wt__run_show(struct json_run *run, const char *name, const char *format, wt_error *err);
int wt__run_add(struct json_run *run, struct str source, wt_add_options *options, wt_error *err);
int wt__run_remove(struct json_run *run, const char *name, wt_error *err);
int wt__run_remove_provider(struct json_run *run, const char *provider, wt_error *err);

/* Fills *info and checks the model that a request names: NULL, "default", or the name of the encoder. Fails with
 * WT_ENOTFOUND for any other name, because the client would take the encoder's answer for that of another model. */
int wt__check_asked_model(const struct json_run *run, const char *asked, wt_catalog_info *info, wt_error *err);

#endif
