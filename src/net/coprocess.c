/* coprocess.c: exchanges lines with a program; see process.h. One poll covers stdin, stdout and stderr, so that no
 * stream blocks another. The poll also covers a wake-up pipe, by which other threads announce lines for stdin or a
 * stop. */
#include "net/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/file.h"

enum { IN, OUT, ERR, ENDS, WAKE = ENDS, POLLED }; /* indexes of descriptors; ENDS and POLLED are also counts */

enum {
    LISTEN_MS = 500, /* interval of checks for an ended program with an open stdout */
    WORDS_MS = 50,   /* maximum wait for the end of stderr after the end of stdout */
    PIECE_BYTES = 64 << 10,
    KEPT_BYTES = 1 << 20, /* maximum bytes of memory kept for an empty buffer */
    LAST_READS = 64       /* maximum reads of stderr at the end; a pipe holds less */
};

struct coprocess {
    const struct child *child;
    pid_t pid;
    int ends[ENDS]; /* our ends of the program's stdin, stdout and stderr; -1 if closed */
    int wake[2];
    pthread_mutex_t lock;       /* protects the fields up to `stopped` */
    struct buffer unread;       /* lines for the program's stdin */
    size_t sent;                /* bytes of `unread` that are already written */
    bool stdin_closed, stopped; /* stdin_closed: the program has closed its stdin */
    /* The first `taken` bytes were returned as lines. The bytes from `taken` to `seen` contain no newline. */
    struct buffer received; /* output of the program */
    size_t taken, seen;
    struct tail tail;
};

static void close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* Creates both ends of stdin, stdout and stderr, and the wake-up pipe. Our ends never block. */
static int open_ends(struct coprocess *coprocess, int its[ENDS])
{
    int *ours = coprocess->ends, *wake = coprocess->wake;
    if (pipe2(wake, O_CLOEXEC | O_NONBLOCK) < 0)
        return -1;
    for (int i = 0; i < ENDS; i++) {
        int pair[2];
        if ((i == IN ? socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) : pipe2(pair, O_CLOEXEC)) < 0)
            return -1;
        ours[i] = pair[0];
        its[i] = pair[1];
        if (fcntl(ours[i], F_SETFL, O_NONBLOCK) < 0)
            return -1;
    }
    return 0;
}

static void free_coprocess(struct coprocess *coprocess)
{
    for (int i = 0; i < ENDS; i++)
        close_end(&coprocess->ends[i]);
    close_end(&coprocess->wake[0]);
    close_end(&coprocess->wake[1]);
    pthread_mutex_destroy(&coprocess->lock);
    wt__buffer_dispose(&coprocess->unread);
    wt__buffer_dispose(&coprocess->received);
    free(coprocess);
}

int wt__coprocess_start(struct coprocess **out, const struct child *child, wt_error *err)
{
    int its[ENDS];
    *out = NULL;
    if (child->folder && !wt__is_folder(child->folder))
        return wt__fail(err, WT_ENOTFOUND, "cannot run %s in %s: there is no such folder", child->argv[0],
                        child->folder);
    struct coprocess *coprocess = calloc(1, sizeof *coprocess);
    WT_CHECK_ALLOC(coprocess, err);
    coprocess->child = child;
    pthread_mutex_init(&coprocess->lock, NULL);
    for (int i = 0; i < ENDS; i++)
        coprocess->ends[i] = its[i] = -1;
    coprocess->wake[0] = coprocess->wake[1] = -1;
    if (open_ends(coprocess, its) == 0)
        errno = wt__process_spawn(&coprocess->pid, child, its);
    int rc = errno ? wt__fail_errno(err, "run", child->argv[0]) : 0;
    for (int i = 0; i < ENDS; i++)
        close_end(&its[i]);
    if (rc < 0)
        free_coprocess(coprocess);
    else
        *out = coprocess;
    return rc;
}

/* Empties a buffer. Frees a large buffer, so that one long line does not occupy memory for good. */
static void empty_buffer(struct buffer *buffer)
{
    if (buffer->capacity > KEPT_BYTES)
        wt__buffer_dispose(buffer);
    else
        wt__buffer_clear(buffer);
}

/* Wakes the poll of the receiving thread. A full pipe wakes it, too. */
static void wake_receiver(struct coprocess *coprocess)
{
    (void)!write(coprocess->wake[1], "", 1);
}

/* Writes pending lines to stdin. A closed stdin is not an error, because the program may still write. */
static void write_stdin(struct coprocess *coprocess)
{
    struct buffer *unread = &coprocess->unread;
    ssize_t n = send(coprocess->ends[IN], unread->ptr + coprocess->sent, unread->len - coprocess->sent, MSG_NOSIGNAL);
    coprocess->stdin_closed = n < 0 && errno != EAGAIN && errno != EINTR;
    coprocess->sent = coprocess->stdin_closed ? unread->len : coprocess->sent + (size_t)(n > 0 ? n : 0);
    if (coprocess->sent == unread->len) {
        empty_buffer(unread);
        coprocess->sent = 0;
    }
}

/* Appends a line to `unread`, and writes as much as the program accepts. Requires the lock. */
static int queue_output_line(struct coprocess *coprocess, struct str line, wt_error *err)
{
    struct buffer *unread = &coprocess->unread;
    if (coprocess->stdin_closed)
        return 0;
    if (unread->len - coprocess->sent + line.len > COPROCESS_UNREAD_BYTES_MAX)
        return wt__fail(err, WT_ETOOLONG, "%s does not read what it is sent", coprocess->child->argv[0]);
    if (coprocess->sent > unread->len / 2) { /* avoid moving the same bytes repeatedly */
        memmove(unread->ptr, unread->ptr + coprocess->sent, unread->len - coprocess->sent);
        wt__buffer_cut(unread, unread->len - coprocess->sent);
        coprocess->sent = 0;
    }
    bool waiting = unread->len > 0;
    wt__buffer_str(unread, line);
    wt__buffer_char(unread, '\n');
    if (unread->failed)
        return wt__fail_nomem(err);
    if (!waiting)
        write_stdin(coprocess);
    if (!waiting && unread->len > 0)
        wake_receiver(coprocess);
    return 0;
}

int wt__coprocess_send(struct coprocess *coprocess, struct str line, wt_error *err)
{
    pthread_mutex_lock(&coprocess->lock);
    int rc = queue_output_line(coprocess, line, err);
    pthread_mutex_unlock(&coprocess->lock);
    return rc;
}

void wt__coprocess_stop(struct coprocess *coprocess)
{
    pthread_mutex_lock(&coprocess->lock);
    coprocess->stopped = true;
    pthread_mutex_unlock(&coprocess->lock);
    wake_receiver(coprocess);
}

/* Reads available bytes of stdout into `received`, after dropping the lines that were returned. */
static int read_stdout(struct coprocess *coprocess, wt_error *err)
{
    struct buffer *received = &coprocess->received;
    char bytes[PIECE_BYTES];
    ssize_t n = read(coprocess->ends[OUT], bytes, sizeof bytes);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        close_end(&coprocess->ends[OUT]);
    if (n <= 0)
        return 0;
    if (coprocess->taken > 0) {
        size_t left = received->len - coprocess->taken;
        memmove(received->ptr, received->ptr + coprocess->taken, left);
        received->len = left;
        coprocess->seen -= coprocess->taken;
        coprocess->taken = 0;
    }
    if (received->len == 0)
        empty_buffer(received);
    wt__buffer_append(received, bytes, (size_t)n);
    return received->failed ? wt__fail_nomem(err) : 0;
}

/* Returns the next complete line, or false. */
static bool take_output_line(struct coprocess *coprocess, struct str *line)
{
    struct buffer *received = &coprocess->received;
    const char *from = received->ptr + coprocess->seen;
    const char *end = received->len > coprocess->seen ? memchr(from, '\n', received->len - coprocess->seen) : NULL;
    coprocess->seen = end ? (size_t)(end + 1 - received->ptr) : received->len;
    if (!end)
        return false;
    *line = (struct str){received->ptr + coprocess->taken, (size_t)(end - received->ptr) - coprocess->taken};
    if (line->len > 0 && line->ptr[line->len - 1] == '\r')
        line->len--;
    coprocess->taken = coprocess->seen;
    return true;
}

/* Sets *line to the text after the last newline. Returns 1, or 0 if there is no text. */
static int take_unfinished_line(struct coprocess *coprocess, struct str *line)
{
    struct buffer *received = &coprocess->received;
    *line = (struct str){received->ptr + coprocess->taken, received->len - coprocess->taken};
    coprocess->taken = coprocess->seen = received->len;
    return line->len > 0;
}

/* True if lines for stdin are pending. *stopped: a stop was requested. */
static bool is_output_pending(struct coprocess *coprocess, bool *stopped)
{
    pthread_mutex_lock(&coprocess->lock);
    bool waiting = coprocess->unread.len > coprocess->sent;
    *stopped = coprocess->stopped;
    pthread_mutex_unlock(&coprocess->lock);
    return waiting;
}

/* Waits for events and handles them. Returns 0, or the error that ends the conversation. */
static int poll_coprocess(struct coprocess *coprocess, wt_error *err)
{
    int *ends = coprocess->ends, rc = 0;
    bool stopped, waiting = is_output_pending(coprocess, &stopped);
    char bytes[64];
    struct pollfd ready[POLLED] = {
        [IN] = {.fd = waiting ? ends[IN] : -1, .events = POLLOUT},
        [OUT] = {.fd = ends[OUT], .events = POLLIN},
        [ERR] = {.fd = ends[ERR], .events = POLLIN},
        [WAKE] = {.fd = coprocess->wake[0], .events = POLLIN},
    };
    if (stopped)
        return wt__fail_cancelled(err);
    int count = poll(ready, POLLED, LISTEN_MS);
    if (count > 0 && ready[IN].revents) {
        pthread_mutex_lock(&coprocess->lock);
        if (coprocess->unread.len > coprocess->sent)
            write_stdin(coprocess);
        pthread_mutex_unlock(&coprocess->lock);
    }
    if (count > 0 && ready[OUT].revents)
        rc = read_stdout(coprocess, err);
    if (count > 0 && ready[ERR].revents && !wt__tail_read(&coprocess->tail, ends[ERR]))
        close_end(&ends[ERR]);
    while (count > 0 && ready[WAKE].revents && read(coprocess->wake[0], bytes, sizeof bytes) == sizeof bytes)
        ;
    /* A child process of the ended program may hold stdout open. */
    if (count == 0 && wt__process_has_ended(coprocess->pid))
        close_end(&ends[OUT]);
    return rc;
}

int wt__coprocess_receive(struct coprocess *coprocess, struct str *line, wt_error *err)
{
    while (!take_output_line(coprocess, line)) {
        if (coprocess->ends[OUT] < 0)
            return take_unfinished_line(coprocess, line);
        if (coprocess->received.len - coprocess->taken > COPROCESS_LINE_BYTES_MAX)
            return wt__fail(err, WT_ETOOLONG, "%s wrote a line of more than %d MB", coprocess->child->argv[0],
                            COPROCESS_LINE_BYTES_MAX >> 20);
        WT_TRY(poll_coprocess(coprocess, err));
    }
    return 1;
}

void wt__coprocess_stderr_tail(struct coprocess *coprocess, char tail[CHILD_TAIL_BYTES])
{
    struct pollfd said = {.fd = coprocess->ends[ERR], .events = POLLIN};
    double until = wt__now_ms() + WORDS_MS;
    while (said.fd >= 0 && wt__now_ms() < until)
        if (poll(&said, 1, WORDS_MS) > 0 && !wt__tail_read(&coprocess->tail, said.fd))
            break;
    wt__tail_format(&coprocess->tail, tail);
}

int wt__coprocess_end(struct coprocess *coprocess, bool at_once, char tail[CHILD_TAIL_BYTES])
{
    if (!coprocess)
        return 0;
    struct pollfd said = {.fd = coprocess->ends[ERR], .events = POLLIN};
    close_end(&coprocess->ends[IN]);
    close_end(&coprocess->ends[OUT]); /* further output is discarded */
    if (!wt__process_ends_within(coprocess->pid, at_once ? 0 : COPROCESS_EOF_MS))
        wt__process_terminate(coprocess->pid);
    int status = wt__process_reap(coprocess->pid);
    for (int i = 0; i < LAST_READS && poll(&said, 1, 0) > 0; i++)
        wt__tail_read(&coprocess->tail, said.fd);
    if (tail)
        wt__tail_format(&coprocess->tail, tail);
    free_coprocess(coprocess);
    return status;
}
