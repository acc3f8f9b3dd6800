/* service.c: see service.h. */
#include "serve/mcp/service.h"

#include <stdlib.h>
#include <sys/random.h>

#include "base/steady.h"
#include "serve/mcp/inside.h"

static int check_features(const struct mcp_features *features, wt_error *err)
{
    if (!features->name || !features->version)
        return wt__fail(err, WT_EINVAL, "an MCP server needs a name and a version");
    if (features->tools.list && (!features->tools.find || !features->tools.run))
        return wt__fail(err, WT_EINVAL, "a tool list needs find and run functions");
    if ((features->resources.list && !features->resources.read) || (features->prompts.list && !features->prompts.get))
        return wt__fail(err, WT_EINVAL, "a list of resources or prompts needs a read or get function");
    return 0;
}

int wt__mcp_service_open(struct mcp_service **out, const struct mcp_features *features,
                         const struct mcp_service_options *options, wt_error *err)
{
    static const struct mcp_service_options defaults = {0};
    const struct mcp_service_options *given = options ? options : &defaults;
    *out = NULL;
    int rc = check_features(features, err);
    if (rc < 0)
        return rc;
    struct mcp_service *service = calloc(1, sizeof *service);
    if (!service)
        return wt__fail_nomem(err);
    service->features = *features;
    service->now_ms = given->now_ms;
    service->sessions_max = given->sessions_max ? given->sessions_max : MCP_SESSIONS_MAX;
    service->page_items = given->page_items ? given->page_items : MCP_PAGE_ITEMS;
    if (given->key)
        memcpy(service->key, given->key, sizeof service->key);
    else if (getrandom(service->key, sizeof service->key, 0) != (ssize_t)sizeof service->key) {
        free(service);
        return wt__fail(err, WT_EIO, "cannot get random numbers");
    }
    wt__shares_open(&service->waiting, given->waiting_max ? given->waiting_max : MCP_WAITING_MAX);
    wt__shares_open(&service->listening, MCP_LISTENERS_MAX);
    pthread_mutex_init(&service->lock, NULL);
    pthread_mutex_init(&service->notice_lock, NULL);
    pthread_cond_init(&service->idle, NULL);
    wt__steady_open(&service->job_came);
    atomic_init(&service->stopping, false);
    *out = service;
    return 0;
}

void wt__mcp_service_stop(struct mcp_service *service)
{
    pthread_mutex_lock(&service->notice_lock);
    atomic_store(&service->stopping, true);
    pthread_mutex_unlock(&service->notice_lock);
    wt__mcp_end_listeners(service, NULL);
    for (;;) {
        pthread_mutex_lock(&service->lock);
        struct mcp_peer *peer = service->peers;
        if (peer)
            wt__mcp_peer_keep(peer);
        pthread_mutex_unlock(&service->lock);
        if (!peer)
            break;
        wt__mcp_peer_close(peer);
        wt__mcp_peer_release(peer);
    }
}

void wt__mcp_service_close(struct mcp_service *service)
{
    if (!service)
        return;
    wt__mcp_service_stop(service);
    pthread_mutex_lock(&service->lock);
    pthread_cond_broadcast(&service->job_came);
    while (service->threads > 0)
        pthread_cond_wait(&service->idle, &service->lock);
    pthread_mutex_unlock(&service->lock);
    wt__shares_close(&service->waiting);
    wt__shares_close(&service->listening);
    pthread_mutex_destroy(&service->lock);
    pthread_mutex_destroy(&service->notice_lock);
    pthread_cond_destroy(&service->idle);
    pthread_cond_destroy(&service->job_came);
    free(service);
}
