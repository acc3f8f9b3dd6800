/* rendezvous.h: a point where threads wait for each other. A test uses it to check that work runs in parallel: if the
 * work runs serially, the first thread waits forever. */
#ifndef WT_TESTS_RENDEZVOUS_H
#define WT_TESTS_RENDEZVOUS_H

#include <pthread.h>

struct rendezvous {
    pthread_mutex_t lock;
    pthread_cond_t complete;
    unsigned arrived;
};

#define RENDEZVOUS_INIT                                                                                                \
    {                                                                                                                  \
        .lock = PTHREAD_MUTEX_INITIALIZER, .complete = PTHREAD_COND_INITIALIZER                                        \
    }

/* Waits until `count` threads have arrived. Later arrivals do not wait. */
static inline void await_others(struct rendezvous *rendezvous, unsigned count)
{
    pthread_mutex_lock(&rendezvous->lock);
    if (++rendezvous->arrived == count)
        pthread_cond_broadcast(&rendezvous->complete);
    while (rendezvous->arrived < count)
        pthread_cond_wait(&rendezvous->complete, &rendezvous->lock);
    pthread_mutex_unlock(&rendezvous->lock);
}

#endif
