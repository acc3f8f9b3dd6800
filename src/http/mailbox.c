/* mailbox.c: a list under a mutex, with an eventfd that is written when the list was empty. So a busy loop is woken
 * once for all letters posted meanwhile. */
#include "http/mailbox.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct mailbox {
    atomic_uint holders;
    atomic_bool stopping;
    int descriptor;
    pthread_mutex_t lock;
    struct letter *first, **last; /* protected by the lock, like shut */
    bool shut;
};

struct mailbox *wt__mailbox_open(void)
{
    struct mailbox *mailbox = calloc(1, sizeof *mailbox);
    if (!mailbox)
        return NULL;
    mailbox->descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (mailbox->descriptor < 0) {
        free(mailbox);
        return NULL;
    }
    atomic_init(&mailbox->holders, 1);
    pthread_mutex_init(&mailbox->lock, NULL);
    mailbox->last = &mailbox->first;
    return mailbox;
}

struct mailbox *wt__mailbox_hold(struct mailbox *mailbox)
{
    atomic_fetch_add(&mailbox->holders, 1);
    return mailbox;
}

void wt__mailbox_release(struct mailbox *mailbox)
{
    if (!mailbox || atomic_fetch_sub(&mailbox->holders, 1) > 1)
        return;
    close(mailbox->descriptor);
    pthread_mutex_destroy(&mailbox->lock);
    free(mailbox);
}

int wt__mailbox_descriptor(const struct mailbox *mailbox)
{
    return mailbox->descriptor;
}

bool wt__mailbox_post(struct mailbox *mailbox, struct letter *letter)
{
    pthread_mutex_lock(&mailbox->lock);
    bool taken = !mailbox->shut, was_empty = !mailbox->first;
    if (taken) {
        letter->next = NULL;
        *mailbox->last = letter;
        mailbox->last = &letter->next;
    }
    pthread_mutex_unlock(&mailbox->lock);
    if (taken && was_empty)
        wt__mailbox_ring(mailbox);
    return taken;
}

void wt__mailbox_ring(struct mailbox *mailbox)
{
    uint64_t one = 1;
    int before = errno;
    ssize_t written = write(mailbox->descriptor, &one, sizeof one); /* fails only if it has been rung already */
    (void)written;
    errno = before;
}

struct letter *wt__mailbox_take(struct mailbox *mailbox)
{
    uint64_t rung;
    ssize_t got = read(mailbox->descriptor, &rung, sizeof rung);
    (void)got;
    pthread_mutex_lock(&mailbox->lock);
    struct letter *first = mailbox->first;
    mailbox->first = NULL;
    mailbox->last = &mailbox->first;
    pthread_mutex_unlock(&mailbox->lock);
    return first;
}

void wt__mailbox_shut(struct mailbox *mailbox)
{
    pthread_mutex_lock(&mailbox->lock);
    mailbox->shut = true;
    pthread_mutex_unlock(&mailbox->lock);
}

void wt__mailbox_request_stop(struct mailbox *mailbox)
{
    atomic_store(&mailbox->stopping, true);
    wt__mailbox_ring(mailbox);
}

bool wt__mailbox_is_stopping(const struct mailbox *mailbox)
{
    return atomic_load(&mailbox->stopping);
}
