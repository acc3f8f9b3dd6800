/* waits.c: see waits.h. One timer is set to the earliest end of all lists, at most every TICK_MS. */
#include "http/waits.h"

#include <event2/event.h>

#include "base/clock.h"

enum { TICK_MS = 20 };

static void set_timer(struct waits *waits, double now, double at)
{
    double in = at - now < TICK_MS ? TICK_MS : at - now;
    struct timeval interval = {(time_t)(in / 1e3), (suseconds_t)((long)(in * 1e3) % 1000000)};
    waits->due_ms = event_add(waits->timer, &interval) == 0 ? now + in : 0;
}

static void set_next_timer(struct waits *waits, double now)
{
    double next = 0;
    for (int kind = HTTP_WAIT_IDLE; kind < HTTP_WAITS; kind++) {
        const struct wait *first = wt__waits_first(waits, (enum http_wait)kind);
        if (first && (next == 0 || first->until_ms < next))
            next = first->until_ms;
    }
    if (next > 0)
        set_timer(waits, now, next);
}

static void on_timer(evutil_socket_t none, short what, void *argument)
{
    (void)none;
    (void)what;
    struct waits *waits = argument;
    double now = wt__now_ms();
    waits->due_ms = 0;
    for (int kind = HTTP_WAIT_IDLE; kind < HTTP_WAITS; kind++) {
        struct wait *first;
        while ((first = wt__waits_first(waits, (enum http_wait)kind)) != NULL && first->until_ms <= now) {
            wt__wait_for(waits, first, HTTP_WAIT_NONE);
            waits->expired(waits->context, first, (enum http_wait)kind);
        }
    }
    set_next_timer(waits, now);
}

int wt__waits_open(struct waits *waits, struct event_base *base,
                   void (*expired)(void *context, struct wait *wait, enum http_wait kind), void *context)
{
    waits->expired = expired;
    waits->context = context;
    for (int kind = 0; kind < HTTP_WAITS; kind++)
        waits->ends[kind].before = waits->ends[kind].after = &waits->ends[kind];
    waits->timer = evtimer_new(base, on_timer, waits);
    return waits->timer ? 0 : -1;
}

void wt__waits_close(struct waits *waits)
{
    if (waits->timer)
        event_free(waits->timer);
    waits->timer = NULL;
}

struct wait *wt__waits_first(struct waits *waits, enum http_wait kind)
{
    struct wait *first = waits->ends[kind].after;
    return first == &waits->ends[kind] ? NULL : first;
}

void wt__wait_for(struct waits *waits, struct wait *wait, enum http_wait kind)
{
    if (wait->before) {
        wait->before->after = wait->after;
        wait->after->before = wait->before;
        wait->before = wait->after = NULL;
    }
    wait->kind = kind;
    if (kind == HTTP_WAIT_NONE || waits->duration_ms[kind] == 0)
        return;
    struct wait *end = &waits->ends[kind];
    double now = wt__now_ms();
    wait->until_ms = now + waits->duration_ms[kind];
    wait->before = end->before;
    wait->after = end;
    end->before->after = wait;
    end->before = wait;
    if (waits->due_ms == 0 || wait->until_ms < waits->due_ms)
        set_timer(waits, now, wait->until_ms);
}
