/* pool.c: starts threads for each run and joins them at its end. A run is long, such as an import, so keeping the
 * threads between runs would save nothing and add hidden state. */
#include "base/pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { THREADS_MAX = 256 };

/* State of one wt__pool_run, shared by its threads. */
struct pool_job {
    pool_work work;
    void *context;
    size_t count;
    atomic_size_t next; /* next item to start */
    atomic_int result;  /* first non-zero result of `work`; 0 so far */
};

struct worker {
    struct pool_job *job;
    unsigned number;
    pthread_t thread;
};

unsigned wt__processor_count(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : count > THREADS_MAX ? THREADS_MAX : (unsigned)count;
}

static void *run_pool_worker(void *argument)
{
    struct worker *worker = argument;
    struct pool_job *job = worker->job;
    while (atomic_load(&job->result) == 0) {
        size_t index = atomic_fetch_add(&job->next, 1);
        if (index >= job->count)
            break;
        int result = job->work(job->context, index, worker->number);
        int none = 0;
        if (result != 0)
            atomic_compare_exchange_strong(&job->result, &none, result);
    }
    return NULL;
}

int wt__pool_run(unsigned threads, size_t count, pool_work work, void *context)
{
    struct pool_job job = {.work = work, .context = context, .count = count};
    struct worker workers[THREADS_MAX];
    if (threads == 0)
        threads = wt__processor_count();
    if (threads > THREADS_MAX)
        threads = THREADS_MAX;
    if (threads > count)
        threads = count ? (unsigned)count : 1;

    unsigned started = 1;
    for (; started < threads; started++) {
        workers[started] = (struct worker){.job = &job, .number = started};
        if (pthread_create(&workers[started].thread, NULL, run_pool_worker, &workers[started]) != 0)
            break;
    }
    workers[0] = (struct worker){.job = &job};
    run_pool_worker(&workers[0]);
    for (unsigned i = 1; i < started; i++)
        pthread_join(workers[i].thread, NULL);
    return atomic_load(&job.result);
}
