/* A pipe that shows whether a test's programs have ended. The programs and their descendants hold its write end open.
 * The test reads end of file when all of them have ended. Include after cmocka.h. */
#ifndef WT_TESTS_NET_HELD_PIPE_H
#define WT_TESTS_NET_HELD_PIPE_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char pipe_path[64];
static int pipe_fd;

static int make_pipe(void **state)
{
    (void)state;
    static char folder[] = "/tmp/whichtool-pipe-XXXXXX";
    if (!mkdtemp(folder))
        return -1;
    snprintf(pipe_path, sizeof pipe_path, "%s/pipe", folder);
    if (mkfifo(pipe_path, 0600) < 0)
        return -1;
    pipe_fd = open(pipe_path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    return pipe_fd >= 0 && fcntl(pipe_fd, F_SETFL, 0) == 0 ? 0 : -1;
}

static int remove_pipe(void **state)
{
    (void)state;
    close(pipe_fd);
    unlink(pipe_path);
    *strrchr(pipe_path, '/') = '\0';
    return rmdir(pipe_path);
}

/* Waits until no process holds the pipe open. */
static inline void nothing_is_left(void)
{
    char byte;
    assert_int_equal(read(pipe_fd, &byte, 1), 0);
}

#endif
