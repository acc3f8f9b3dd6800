#include "serve/api/route.h"

void wt__api_add_field(struct api_call *call, const char *name, const char *value)
{
    char *copy = wt__arena_copy(&call->arena, wt__str(value));
    if (copy && call->field_count < API_FIELDS_MAX)
        call->fields[call->field_count++] = (struct http_field){wt__str(name), wt__str(copy)};
}

void wt__api_call_dispose(struct api_call *call)
{
    wt__buffer_dispose(&call->body);
    wt__arena_dispose(&call->arena);
}

int wt__api_progress(void *context, const char *phase, uint64_t done, uint64_t total)
{
    const struct api_call *call = context;
    (void)phase;
    (void)done;
    (void)total;
    return call->is_gone && call->is_gone(call->gone_context);
}

unsigned wt__api_time_limit(const struct api_call *call, unsigned asked)
{
    unsigned most = call->service->time_limit_ms;
    return asked > 0 && (most == 0 || asked < most) ? asked : most;
}
