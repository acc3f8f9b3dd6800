/* meeting.h: questions that are answered only when so many of them wait: asked one by one, they would wait for ever. */
#ifndef WT_TESTS_MEETING_H
#define WT_TESTS_MEETING_H

#include <pthread.h>

struct meeting {
    pthread_mutex_t lock;
    pthread_cond_t all_here;
    unsigned here;
};

#define MEETING                                                                                                        \
    {                                                                                                                  \
        .lock = PTHREAD_MUTEX_INITIALIZER, .all_here = PTHREAD_COND_INITIALIZER                                        \
    }

/* Waits until `count` have come, the first ones and all that follow. */
static inline void meet(struct meeting *meeting, unsigned count)
{
    pthread_mutex_lock(&meeting->lock);
    if (++meeting->here == count)
        pthread_cond_broadcast(&meeting->all_here);
    while (meeting->here < count)
        pthread_cond_wait(&meeting->all_here, &meeting->lock);
    pthread_mutex_unlock(&meeting->lock);
}

#endif
