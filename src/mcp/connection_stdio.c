/* connection_stdio.c: the stdio transport, for a program on this machine. Each line is a message. The calling thread
 * writes as much as the pipe accepts; the link's thread writes the rest, and reads. The connection fails if the program
 * leaves too much of its input unread. */
#include <stdlib.h>

#include "base/arena.h"
#include "mcp/internal.h"
#include "net/process.h"

struct stdio_link {
    struct mcp_link public; /* first member, so that a pointer to it is a pointer to this struct */
    struct mcp_connection *connection;
    struct child child;
    struct coprocess *coprocess;
    struct arena arena;
    pthread_t reader;
    pthread_mutex_t lock; /* guards the fields below */
    bool stopped_reading; /* the program does not read its input */
    wt_error why;         /* the error if stopped_reading */
};

static void *read_server_lines(void *context)
{
    struct stdio_link *link = context;
    char words[CHILD_TAIL_BYTES];
    struct str line;
    wt_error why;
    int rc;
    while ((rc = wt__coprocess_receive(link->coprocess, &line, &why)) > 0) {
        rc = wt__mcp_connection_dispatch(link->connection, 0, line, NULL, &why);
        if (rc < 0)
            break;
    }
    pthread_mutex_lock(&link->lock);
    bool stopped_reading = link->stopped_reading;
    if (stopped_reading)
        why = link->why;
    pthread_mutex_unlock(&link->lock);
    words[0] = '\0';
    if (rc != WT_ECANCELLED || stopped_reading)
        wt__coprocess_stderr_tail(link->coprocess, words);
    wt__mcp_connection_mark_lost(link->connection, rc == 0 ? NULL : &why, words);
    return NULL;
}

static int send_line(struct stdio_link *link, struct str line, wt_error *err)
{
    wt_error why;
    int rc = wt__coprocess_send(link->coprocess, line, &why);
    if (rc == WT_ETOOLONG) {
        pthread_mutex_lock(&link->lock);
        link->stopped_reading = true;
        link->why = why;
        pthread_mutex_unlock(&link->lock);
        wt__coprocess_stop(link->coprocess);
        return wt__fail(err, WT_ENETWORK, "%s", why.message);
    }
    return rc < 0 ? wt__fail_nomem(err) : 0;
}

static int stdio_send_request(struct mcp_link *public, const struct mcp_outgoing *outgoing, wt_error *err)
{
    return send_line((struct stdio_link *)public, outgoing->text, err);
}

static int stdio_send_message(struct mcp_link *public, struct str text, wt_error *err)
{
    return send_line((struct stdio_link *)public, text, err);
}

static void stdio_cancel_request(struct mcp_link *public, int64_t id, struct str notice)
{
    (void)id;
    if (notice.len > 0)
        send_line((struct stdio_link *)public, notice, NULL);
}

static void free_stdio_link(struct stdio_link *link)
{
    pthread_mutex_destroy(&link->lock);
    wt__arena_dispose(&link->arena);
    free(link);
}

static void stdio_close(struct mcp_link *public, bool hurry, char words[CHILD_TAIL_BYTES])
{
    struct stdio_link *link = (struct stdio_link *)public;
    wt__coprocess_stop(link->coprocess);
    pthread_join(link->reader, NULL);
    wt__coprocess_end(link->coprocess, hurry, words);
    free_stdio_link(link);
}

int wt__mcp_open_stdio_link(struct mcp_link **out, struct mcp_connection *connection, wt_error *err)
{
    const struct mcp_server *server = connection->server;
    struct stdio_link *link = calloc(1, sizeof *link);
    *out = NULL;
    WT_CHECK_ALLOC(link, err);
    pthread_mutex_init(&link->lock, NULL);
    link->public = (struct mcp_link){.send_request = stdio_send_request,
                                     .send_message = stdio_send_message,
                                     .cancel_request = stdio_cancel_request,
                                     .close = stdio_close};
    link->connection = connection;
    link->child = (struct child){
        .argv = server->argv, .environment = wt__mcp_environment(&link->arena, server), .folder = server->folder};
    int rc = link->child.environment ? wt__coprocess_start(&link->coprocess, &link->child, err) : wt__fail_nomem(err);
    if (rc == 0 && pthread_create(&link->reader, NULL, read_server_lines, link) != 0) {
        wt__coprocess_end(link->coprocess, true, NULL);
        rc = wt__fail(err, WT_EIO, "cannot start a thread");
    }
    if (rc < 0)
        free_stdio_link(link);
    else
        *out = &link->public;
    return rc;
}
