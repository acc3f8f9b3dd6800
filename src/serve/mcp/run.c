/* run.c: runs a call, on the calling thread or on another thread, and sends its response. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "serve/mcp/internal.h"

static void unlink_call(struct mcp_call *call)
{
    struct mcp_peer *peer = call->peer;
    pthread_mutex_lock(&peer->lock);
    if (call->before || peer->running == call) {
        *(call->before ? &call->before->next : &peer->running) = call->next;
        if (call->next)
            call->next->before = call->before;
        peer->running_count--;
    }
    pthread_mutex_unlock(&peer->lock);
    if (!call->channel)
        return;
    pthread_mutex_lock(&call->channel->lock);
    call->channel->call = NULL;
    pthread_mutex_unlock(&call->channel->lock);
}

/* Sends the response of a call that was not cancelled. */
static void send_call_answer(struct mcp_call *call)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer message = {0};
    int status = 200;
    if (!call->is_refused && call->is_modern && call->questions.len > 0)
        wt__mcp_seal_state(call);
    wt__mcp_write_answer(call, &message, &status);
    if (message.failed)
        wt__mcp_channel_answer(call->channel, 503, STR(""));
    else
        wt__mcp_channel_answer(call->channel, status, wt__buffer_view(&message));
}

void wt__mcp_call_finish(struct mcp_call *call)
{
    const struct mcp_features *features = &call->service->features;
    wt__mcp_on_cancel(call, NULL, NULL);
    unlink_call(call);
    if (call->channel && !wt__mcp_is_cancelled(call))
        send_call_answer(call);
    else if (call->channel)
        wt__mcp_channel_answer(call->channel, 200, STR(""));
    if (call->has_tool && features->tools.drop)
        features->tools.drop(features->context, &call->tool);
    wt__mcp_call_free(call);
}

void wt__mcp_call_run(struct mcp_call *call)
{
    if (wt__mcp_is_cancelled(call) || !call->method->run || !call->method->run(call))
        wt__mcp_call_finish(call);
}

/* ---------------------------------------------------------------- threads
 *
 * After its call, a thread waits for another call, because starting a thread costs more than a short call. Invariant
 * under the lock: there are at most as many jobs as idle threads. */

enum { REST_MS = 2000 }; /* idle time before a thread ends */

struct mcp_job {
    struct mcp_job *next;
    struct mcp_call *call;
    void (*work)(struct mcp_call *call);
};

/* Waits for a job. Returns NULL after REST_MS, or if the service is stopping. Call with the lock held. */
static struct mcp_job *wait_for_job(struct mcp_service *service)
{
    double until = wt__now_ms() + REST_MS;
    service->resting++;
    while (!service->jobs && !atomic_load(&service->stopping))
        if (!wt__steady_wait(&service->job_came, &service->lock, until))
            break;
    service->resting--;
    struct mcp_job *job = service->jobs;
    if (job) {
        service->jobs = job->next;
        service->job_count--;
    }
    return job;
}

static void *run_jobs(void *context)
{
    struct mcp_job *job = context;
    struct mcp_service *service = job->call->service;
    while (job) {
        struct mcp_peer *peer = job->call->peer;
        wt__mcp_peer_keep(peer); /* the call is freed before its share is returned */
        job->work(job->call);
        wt__mcp_call_finish(job->call);
        wt__shares_give(&service->waiting, peer->holder, 1);
        wt__mcp_peer_release(peer);
        free(job);
        pthread_mutex_lock(&service->lock);
        job = wait_for_job(service);
        pthread_mutex_unlock(&service->lock);
    }
    pthread_mutex_lock(&service->lock);
    service->threads--;
    pthread_cond_broadcast(&service->idle);
    pthread_mutex_unlock(&service->lock);
    return NULL;
}

/* Starts a thread for the job. Returns false on failure. Call with the lock held. */
static bool start_job_thread(struct mcp_service *service, struct mcp_job *job)
{
    pthread_attr_t detached;
    pthread_t thread;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    bool started = pthread_create(&thread, &detached, run_jobs, job) == 0;
    pthread_attr_destroy(&detached);
    service->threads += started;
    return started;
}

/* Gives the job to an idle thread or a new thread. Returns false if no thread can be started. Call with the lock
 * held. */
static bool queue_job(struct mcp_service *service, struct mcp_job *job)
{
    if (service->resting > service->job_count) {
        job->next = service->jobs;
        service->jobs = job;
        service->job_count++;
        pthread_cond_signal(&service->job_came);
    } else if (!start_job_thread(service, job)) {
        return false;
    }
    return true;
}

/* Fails a call because its client or the whole server is running too many calls. */
static void refuse_waiting(struct mcp_call *call)
{
    struct shares *waiting = &call->service->waiting;
    size_t own = wt__shares_of(waiting, call->peer->holder);
    if (own > 0)
        wt__mcp_refuse(
            call, MCP_INTERNAL_ERROR,
            "%zu calls of this client are running, its share of the server's %zu; try again when one of them has "
            "ended",
            own, waiting->most);
    else
        wt__mcp_refuse(call, MCP_INTERNAL_ERROR, "the server is running its maximum of %zu calls; try again later",
                       waiting->most);
}

bool wt__mcp_call_start_thread(struct mcp_call *call, void (*work)(struct mcp_call *call))
{
    struct mcp_service *service = call->service;
    bool has_share = wt__shares_take(&service->waiting, call->peer->holder, 1), handed = false;
    struct mcp_job *job = has_share ? malloc(sizeof *job) : NULL;
    call->headers = NULL;
    if (job) {
        *job = (struct mcp_job){NULL, call, work};
        pthread_mutex_lock(&service->lock);
        handed = queue_job(service, job);
        pthread_mutex_unlock(&service->lock);
    }
    if (handed)
        return true;
    free(job);
    if (has_share)
        wt__shares_give(&service->waiting, call->peer->holder, 1);
    if (has_share)
        wt__mcp_refuse(call, MCP_INTERNAL_ERROR, "cannot start a thread; try again later");
    else
        refuse_waiting(call);
    return false;
}
