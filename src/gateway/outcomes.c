/* outcomes.c: records the calls after a search as usage (internal.h). */
#include "gateway/internal.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "serve/usage_log.h"

/* A tool that a search returned. */
struct outcome_tool {
    char *id;    /* id of the tool */
    bool called; /* the client called the tool after the search */
    bool worked; /* at least one call of the tool succeeded */
};

/* The last search of a client. */
struct client_search {
    struct client_search *next;                   /* next in the list; its client was active less recently */
    char *principal;                              /* principal of the client */
    char *tenant;                                 /* its tenant, which has a store of its own; "" without one */
    char *request;                                /* request of the search */
    struct outcome_tool found[OUTCOME_FOUND_MAX]; /* [count] */
    size_t count;
    double heard_ms; /* time of the search or of the last call, by wt__now_ms */
};

struct outcomes {
    struct usage_log *log;
    wt_tenants *tenants;         /* NULL without tenants */
    pthread_mutex_t lock;        /* protects the list */
    struct client_search *first; /* search of the most recently active client */
};

static void free_search(struct client_search *searched)
{
    for (size_t i = 0; i < searched->count; i++)
        free(searched->found[i].id);
    free(searched->principal);
    free(searched->tenant);
    free(searched->request);
    free(searched);
}

/* Callback of the usage log. A lost usage is harmless. */
static void ignore_report(void *context, int rc, const char *why, struct reported_usage *const *usages, size_t count)
{
    (void)context, (void)rc, (void)why, (void)usages, (void)count;
}

/* Appends the usage of a search as a line of JSON. Returns false if no tool was called. */
static bool put_usage(const struct client_search *searched, struct buffer *out)
{
    bool any = false, worked = false;
    wt__buffer_text(out, "{\"request\":");
    wt__buffer_json(out, wt__str(searched->request));
    wt__buffer_text(out, ",\"tools\":[");
    for (size_t i = 0; i < searched->count; i++) {
        const struct outcome_tool *found = &searched->found[i];
        if (!found->called)
            continue;
        wt__buffer_text(out, any ? "," : "");
        wt__buffer_json(out, wt__str(found->id));
        any = true;
        worked |= found->worked;
    }
    wt__buffer_printf(out, "],\"outcome\":\"%s\"}\n", worked ? "ok" : "failed");
    return any;
}

/* Records a usage in the store of a tenant. */
static void record_tenant_usage(struct outcomes *outcomes, const char *tenant, const struct usage_batch *batch)
{
    WT_CLEANUP(wt__tenant_hold_end) struct tenant_hold hold = {0};
    unsigned retry_ms;
    if (wt__tenant_hold_begin(&hold, outcomes->tenants, tenant, NULL, NULL) == 0)
        wt__usage_log_record(outcomes->log, hold.engine, batch, ignore_report, NULL, &retry_ms, NULL);
}

/* Writes the usages of a list of searches and frees the list. */
static void write_searches(struct outcomes *outcomes, struct client_search *done)
{
    for (struct client_search *next; done; done = next) {
        WT_CLEANUP(wt__buffer_dispose) struct buffer line = {0};
        unsigned retry_ms = 0;
        next = done->next;
        if (put_usage(done, &line) && !line.failed) {
            const struct usage_batch batch = {.client = wt__str(*done->principal ? done->principal : USAGE_LOG_NO_KEY),
                                              .id = STR(""),
                                              .lines = wt__buffer_view(&line)};
            if (*done->tenant)
                record_tenant_usage(outcomes, done->tenant, &batch);
            else
                wt__usage_log_report(outcomes->log, &batch, ignore_report, NULL, &retry_ms, NULL);
        }
        free_search(done);
    }
}

/* Removes and returns the client's search, or NULL. Call with the lock held. */
static struct client_search *take_search(struct outcomes *outcomes, const struct outcome_client *client)
{
    struct client_search **at = &outcomes->first;
    while (*at && (strcmp((*at)->principal, client->principal) != 0 || strcmp((*at)->tenant, client->tenant) != 0))
        at = &(*at)->next;
    struct client_search *taken = *at;
    if (taken) {
        *at = taken->next;
        taken->next = NULL;
    }
    return taken;
}

static void put_search_first(struct outcomes *outcomes, struct client_search *searched)
{
    searched->heard_ms = wt__now_ms();
    searched->next = outcomes->first;
    outcomes->first = searched;
}

/* Removes and returns the searches beyond OUTCOME_CLIENTS_MAX and those of idle clients. all: all searches. Call with
 * the lock held. */
static struct client_search *take_old_searches(struct outcomes *outcomes, bool all)
{
    struct client_search **at = &outcomes->first;
    double now = wt__now_ms();
    for (size_t kept = 0; !all && *at && kept < OUTCOME_CLIENTS_MAX && now - (*at)->heard_ms < OUTCOME_IDLE_MS; kept++)
        at = &(*at)->next;
    struct client_search *old = *at;
    *at = NULL;
    return old;
}

/* Adds a tool to a search unless the search has OUTCOME_FOUND_MAX tools. Returns false if out of memory. */
static bool add_found_tool(struct client_search *searched, const char *id)
{
    if (searched->count == OUTCOME_FOUND_MAX)
        return true;
    char *copy = wt__copy_string(id, strlen(id));
    if (copy)
        searched->found[searched->count++].id = copy;
    return copy;
}

/* Returns a new search without calls, or NULL if out of memory. */
static struct client_search *copy_search(const struct outcome_client *client, struct str request, const wt_hits *hits)
{
    struct client_search *copy = calloc(1, sizeof *copy);
    if (!copy)
        return NULL;
    copy->principal = wt__copy_string(client->principal, strlen(client->principal));
    copy->tenant = wt__copy_string(client->tenant, strlen(client->tenant));
    copy->request = wt__copy_string(request.ptr, request.len);
    bool whole = copy->principal && copy->tenant && copy->request;
    for (size_t i = 0; whole && i < hits->len; i++)
        whole = add_found_tool(copy, hits->items[i]->tool->id);
    for (size_t i = 0; whole && i < hits->len; i++)
        for (size_t n = 0; whole && n < hits->items[i]->more_listed; n++)
            whole = add_found_tool(copy, hits->items[i]->more_like_it[n]);
    if (whole)
        return copy;
    free_search(copy);
    return NULL;
}

void wt__outcomes_record_search(struct outcomes *outcomes, const struct outcome_client *client, struct str request,
                                const wt_hits *hits)
{
    struct client_search *copy = outcomes && request.len > 0 && request.len <= OUTCOME_REQUEST_BYTES_MAX
                                     ? copy_search(client, request, hits)
                                     : NULL;
    if (!copy)
        return;
    pthread_mutex_lock(&outcomes->lock);
    struct client_search *before = take_search(outcomes, client);
    put_search_first(outcomes, copy);
    pthread_mutex_unlock(&outcomes->lock);
    write_searches(outcomes, before);
}

void wt__outcomes_record_call(struct outcomes *outcomes, const struct outcome_client *client, const char *id,
                              bool worked)
{
    if (!outcomes)
        return;
    pthread_mutex_lock(&outcomes->lock);
    struct client_search *searched = take_search(outcomes, client);
    for (size_t i = 0; searched && i < searched->count; i++) {
        struct outcome_tool *found = &searched->found[i];
        if (strcmp(found->id, id) != 0)
            continue;
        found->worked |= worked;
        found->called = true;
    }
    if (searched)
        put_search_first(outcomes, searched);
    pthread_mutex_unlock(&outcomes->lock);
}

void wt__outcomes_sweep(struct outcomes *outcomes)
{
    if (!outcomes)
        return;
    pthread_mutex_lock(&outcomes->lock);
    struct client_search *old = take_old_searches(outcomes, false);
    pthread_mutex_unlock(&outcomes->lock);
    write_searches(outcomes, old);
}

int wt__outcomes_open(struct outcomes **out, wt_engine *engine, wt_tenants *tenants, wt_error *err)
{
    struct outcomes *outcomes = calloc(1, sizeof *outcomes);
    *out = NULL;
    WT_CHECK_ALLOC(outcomes, err);
    outcomes->tenants = tenants;
    pthread_mutex_init(&outcomes->lock, NULL);
    int rc = wt__usage_log_open(&outcomes->log, engine, NULL, err);
    if (rc < 0)
        wt__outcomes_close(outcomes);
    else
        *out = outcomes;
    return rc;
}

void wt__outcomes_close(struct outcomes *outcomes)
{
    if (!outcomes)
        return;
    write_searches(outcomes, take_old_searches(outcomes, true));
    wt__usage_log_close(outcomes->log);
    pthread_mutex_destroy(&outcomes->lock);
    free(outcomes);
}
