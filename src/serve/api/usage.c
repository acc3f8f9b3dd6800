/* usage.c: POST /v1/usage: what a request used, and how it ended. */
#include "serve/api/handlers.h"

#include "wire/bodies.h"
#include "wire/members.h"

/* One usage into the store: the one place where use that comes over HTTP is recorded. Returns how many of its tools are
 * not known. */
static int record(const struct api_call *call, const struct usage_body *usage, wt_error *err)
{
    return wt_record_usage(call->service->engine, usage->query, strlen(usage->query), usage->tools, usage->tool_count,
                           &usage->options, err);
}

int wt__api_record_usage(struct api_call *call, wt_error *err)
{
    struct usage_body usage;
    int rc = wt__usage_body_read(&usage, call->request->body, err);
    if (rc == 0)
        rc = record(call, &usage, err);
    if (rc >= 0) {
        atomic_fetch_add_explicit(&call->service->figures->usages, 1, memory_order_relaxed);
        wt__buffer_char(&call->body, '{');
        wt__json_flag(&call->body, "recorded", true);
        wt__json_count(&call->body, "unknown_tools", (uint64_t)rc);
        wt__buffer_char(&call->body, '}');
    }
    wt__body_dispose(&usage.body);
    return rc < 0 ? rc : 0;
}
