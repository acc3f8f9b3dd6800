#include "cli/log_writer.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buffer.h"

struct log_writer {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread;
    struct buffer kept;
    size_t dropped; /* lines dropped since the last write */
    bool ended;
};

/* Waits for lines and moves them to *out, owned by the caller. Returns false at the end. */
static bool wait_for_log_lines(struct log_writer *writer, struct buffer *out, size_t *dropped)
{
    pthread_mutex_lock(&writer->lock);
    while (writer->kept.len == 0 && !writer->ended)
        pthread_cond_wait(&writer->wake, &writer->lock);
    *out = writer->kept;
    *dropped = writer->dropped;
    writer->kept = (struct buffer){.max = LOG_KEPT_BYTES};
    writer->dropped = 0;
    pthread_mutex_unlock(&writer->lock);
    return out->len > 0;
}

static void *write_log_lines(void *context)
{
    struct buffer lines;
    size_t dropped;
    while (wait_for_log_lines(context, &lines, &dropped)) {
        fwrite(lines.ptr, 1, lines.len, stderr);
        wt__buffer_dispose(&lines);
        if (dropped > 0)
            fprintf(stderr, "whichtool: %zu log lines were dropped, because standard error was blocked\n", dropped);
    }
    return NULL;
}

struct log_writer *wt__log_writer_open(void)
{
    struct log_writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return NULL;
    writer->kept.max = LOG_KEPT_BYTES;
    pthread_mutex_init(&writer->lock, NULL);
    pthread_cond_init(&writer->wake, NULL);
    if (pthread_create(&writer->thread, NULL, write_log_lines, writer) == 0)
        return writer;
    pthread_mutex_destroy(&writer->lock);
    pthread_cond_destroy(&writer->wake);
    free(writer);
    return NULL;
}

void wt__log_writer_say(void *context, struct str line)
{
    struct log_writer *writer = context;
    pthread_mutex_lock(&writer->lock);
    if (writer->kept.len + line.len < LOG_KEPT_BYTES)
        wt__buffer_str(&writer->kept, line);
    else
        writer->dropped++;
    pthread_cond_signal(&writer->wake);
    pthread_mutex_unlock(&writer->lock);
}

void wt__log_writer_close(struct log_writer *writer)
{
    if (!writer)
        return;
    pthread_mutex_lock(&writer->lock);
    writer->ended = true;
    pthread_cond_signal(&writer->wake);
    pthread_mutex_unlock(&writer->lock);
    pthread_join(writer->thread, NULL);
    wt__buffer_dispose(&writer->kept);
    pthread_mutex_destroy(&writer->lock);
    pthread_cond_destroy(&writer->wake);
    free(writer);
}
