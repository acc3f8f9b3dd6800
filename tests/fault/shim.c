/* shim.c: a preloaded library that makes one call of a program fail, to test the error handling.
 *
 *   FAULT_ALLOC=N   the Nth malloc, calloc, realloc or aligned allocation since main() returns NULL
 *   FAULT_IO=N      the Nth I/O call since main() fails according to FAULT_HOW: write, pwrite, fsync, fdatasync,
 *                   ftruncate, rename, swap, open for writing, mkstemp or mmap
 *   FAULT_HOW=      EIO, ENOSPC, EROFS  fails with this errno (default EIO)
 *                   KILL                the process is killed before the call
 *                   TEAR                a write writes its first half, then the process is killed
 *                   INT                 the process gets SIGINT, and the call proceeds
 *   FAULT_LAST=N    with an errno: all I/O calls from number FAULT_IO to number N fail, as on a disk that stays full
 *   FAULT_SWAP=1    swapping two files fails, as on a file system without RENAME_EXCHANGE
 *   FAULT_COUNTS=F  writes "ALLOCATIONS CALLS" to the file F at the end of the process
 *
 * Writes to the standard streams do not count. Calls before main() do not count, because the start of libraries is not
 * under test. Calls after the last handler of exit() do not count either: in a coverage build, gcov then writes its
 * counters, and crashes if out of memory. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t),
    *__libc_memalign(size_t, size_t);

enum how { FAIL, DIE, TEAR, INTERRUPT };

static atomic_bool armed;
static atomic_long allocations, calls;
static long fail_allocation, fail_call, last_call;
static enum how how;
static int failure = EIO;
static const char *counts;
static bool cannot_swap;

static void read_wishes(void)
{
    static const struct {
        const char *name;
        enum how how;
        int failure;
    } rows[] = {{"EIO", FAIL, EIO}, {"ENOSPC", FAIL, ENOSPC}, {"EROFS", FAIL, EROFS},
                {"KILL", DIE, 0},   {"TEAR", TEAR, 0},        {"INT", INTERRUPT, 0}};
    const char *text = getenv("FAULT_HOW");
    for (size_t i = 0; text && i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(text, rows[i].name) == 0) {
            how = rows[i].how;
            failure = rows[i].failure;
        }
    }
    fail_allocation = (text = getenv("FAULT_ALLOC")) ? atol(text) : 0;
    fail_call = (text = getenv("FAULT_IO")) ? atol(text) : 0;
    last_call = (text = getenv("FAULT_LAST")) ? atol(text) : fail_call;
    counts = getenv("FAULT_COUNTS");
    cannot_swap = getenv("FAULT_SWAP") != NULL;
}

__attribute__((destructor)) static void write_counts(void)
{
    char text[64];
    if (!counts)
        return;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, counts, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    int len = snprintf(text, sizeof text, "%ld %ld\n", (long)allocations, (long)calls);
    syscall(SYS_write, fd, text, len);
    syscall(SYS_close, fd);
}

/* ---------------------------------------------------------------- start at main() */

static int (*real_main)(int, char **, char **);

static void disarm(void)
{
    armed = false;
}

/* Registers disarm() before the program registers its own exit handlers, so that disarm() runs after them. */
static int armed_main(int argc, char **argv, char **environment)
{
    atexit(disarm);
    armed = true;
    return real_main(argc, argv, environment);
}

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end)
{
    int (*real)(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void), void (*)(void), void *) =
        dlsym(RTLD_NEXT, "__libc_start_main");
    read_wishes();
    real_main = main;
    return real(armed_main, argc, argv, init, fini, rtld_fini, stack_end);
}

/* ---------------------------------------------------------------- memory */

static bool refuse_memory(void)
{
    if (!armed || ++allocations != fail_allocation)
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return refuse_memory() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return refuse_memory() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return refuse_memory() ? NULL : __libc_realloc(old, size);
}

void *aligned_alloc(size_t align, size_t size)
{
    return refuse_memory() ? NULL : __libc_memalign(align, size);
}

int posix_memalign(void **out, size_t align, size_t size)
{
    if (refuse_memory())
        return ENOMEM;
    *out = __libc_memalign(align, size);
    return *out ? 0 : ENOMEM;
}

/* ---------------------------------------------------------------- files */

/* Counts a call. True if the call should fail. May kill the process or send it SIGINT. */
static bool refuse_call(void)
{
    if (!armed || fail_call == 0) {
        calls += armed;
        return false;
    }
    long number = ++calls;
    if (number < fail_call || number > last_call)
        return false;
    if (how == DIE)
        kill(getpid(), SIGKILL);
    if (how == INTERRUPT)
        kill(getpid(), SIGINT);
    errno = failure;
    return how == FAIL;
}

/* Does the same as refuse_call() for a write to fd. A torn write writes the first half of the bytes and kills the
 * process. offset: -1 for the current position. */
static bool refuse_write(int fd, const void *bytes, size_t len, off_t offset)
{
    if (fd <= STDERR_FILENO)
        return false;
    if (armed && how == TEAR && calls + 1 == fail_call) {
        if (offset < 0)
            syscall(SYS_write, fd, bytes, len / 2);
        else
            syscall(SYS_pwrite64, fd, bytes, len / 2, offset);
        kill(getpid(), SIGKILL);
    }
    return refuse_call();
}

ssize_t write(int fd, const void *bytes, size_t len)
{
    return refuse_write(fd, bytes, len, -1) ? -1 : syscall(SYS_write, fd, bytes, len);
}

ssize_t pwrite64(int fd, const void *bytes, size_t len, off_t offset)
{
    return refuse_write(fd, bytes, len, offset) ? -1 : syscall(SYS_pwrite64, fd, bytes, len, offset);
}

ssize_t pwrite(int fd, const void *bytes, size_t len, off_t offset)
{
    return pwrite64(fd, bytes, len, offset);
}

int fsync(int fd)
{
    return refuse_call() ? -1 : (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd)
{
    return refuse_call() ? -1 : (int)syscall(SYS_fdatasync, fd);
}

int ftruncate64(int fd, off_t len)
{
    return refuse_call() ? -1 : (int)syscall(SYS_ftruncate, fd, len);
}

int ftruncate(int fd, off_t len)
{
    return ftruncate64(fd, len);
}

int rename(const char *from, const char *to)
{
    return refuse_call() ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags)
{
    if (cannot_swap && (flags & RENAME_EXCHANGE)) {
        errno = EINVAL;
        return -1;
    }
    return refuse_call() ? -1 : (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
}

int open64(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, int) : 0;
    va_end(arguments);
    if ((flags & O_ACCMODE) != O_RDONLY && refuse_call())
        return -1;
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, int) : 0;
    va_end(arguments);
    return open64(path, flags, mode);
}

int mkostemp64(char *template, int flags)
{
    int (*real)(char *, int) = dlsym(RTLD_NEXT, "mkostemp");
    return refuse_call() ? -1 : real(template, flags);
}

int mkostemp(char *template, int flags)
{
    return mkostemp64(template, flags);
}

void *mmap64(void *at, size_t len, int protection, int flags, int fd, off_t offset)
{
    if (refuse_call())
        return MAP_FAILED;
    return (void *)syscall(SYS_mmap, at, len, protection, flags, fd, offset);
}

void *mmap(void *at, size_t len, int protection, int flags, int fd, off_t offset)
{
    return mmap64(at, len, protection, flags, fd, offset);
}
