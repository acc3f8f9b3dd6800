/* whichtool/json.h: the main operations with JSON in and out, in one function, for language bindings.
 *
 *   char *json; wt_json(engine, "find", "{\"query\":\"book a flight\",\"k\":3}", 31, &json, &err);
 *   wt_string_free(json);
 *
 * The conventions are those of whichtool.h, which includes this header. */
#ifndef WHICHTOOL_JSON_H
#define WHICHTOOL_JSON_H

#include "engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Runs an operation. Its JSON is that of the HTTP API (docs/serving.md has the members, docs/json.md the results).
 *
 * verb: one of
 * - "find", "pick", "call": the bodies of POST /v1/find, /v1/pick and /v1/call
 * - "tools": lists tools; the query of GET /v1/tools as an object, such as {"provider": "github", "limit": 10}
 * - "tool": shows one tool: {"name": "github/create_issue"}, and optionally "format"
 * - "add": imports tools: {"tools": SOURCE}, and optionally the query of POST /v1/tools as members. SOURCE is JSON in
 *   any supported format, or a string with the text of a source
 * - "remove": removes a tool, {"name": "github/create_issue"}, or all tools of a provider, {"provider": "github"}
 * - "usage": records usages: {"usages": [{"request": "...", "tools": ["..."]}]}, at most 1,000, each as in
 *   wt_add_usage. Invalid usages are listed in the result, the others recorded. Does not encode; wt_learn_usage does
 * - "embed", "rerank", "decide": the bodies of POST /v1/embeddings, /v1/rerank and /v1/decisions
 * - "status", "recipes": no members
 *
 * json: an object of len bytes; len 0 means {}.
 * *out: an object on one line, NUL-terminated UTF-8, freed with wt_string_free. For "tool" with "format", the array of
 * wt_export.
 *
 * Errors: WT_EINVAL (unknown verb or member, or a value out of range; err->pointer tells which), WT_EFORMAT (not JSON),
 * WT_ETOOLONG, and those of the function that does the work (wt_find, wt_pick, wt_call, wt_list, wt_get, wt_add,
 * wt_remove, wt_record_usage, wt_embed, wt_get_status). Any thread. */
WT_API int wt_json(wt_engine *engine, const char *verb, const char *json, size_t len, char **out, wt_error *err);

#ifdef __cplusplus
}
#endif
#endif
