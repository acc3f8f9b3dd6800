/* cancel.c: cancellation of a call. The callback runs under the call's lock, so that it never runs after the call has
 * ended. */
#include "serve/mcp/inside.h"

bool wt__mcp_is_cancelled(const struct mcp_call *call)
{
    return atomic_load(&call->cancelled);
}

void wt__mcp_on_cancel(struct mcp_call *call, void (*cancelled)(void *context), void *context)
{
    pthread_mutex_lock(&call->lock);
    call->on_cancel = cancelled;
    call->cancel_context = context;
    if (cancelled && atomic_load(&call->cancelled))
        cancelled(context);
    pthread_mutex_unlock(&call->lock);
}

void wt__mcp_call_cancel(struct mcp_call *call)
{
    pthread_mutex_lock(&call->lock);
    if (!atomic_exchange(&call->cancelled, true)) {
        if (call->on_cancel)
            call->on_cancel(call->cancel_context);
        pthread_cond_broadcast(&call->news);
    }
    pthread_mutex_unlock(&call->lock);
}
