/* Tests of files: reading with limits, atomic replacement, listing in order, and locks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"

static char folder[] = "/tmp/whichtool-file-XXXXXX";

static int enter_new_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave_and_remove_folder(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

static void replaces_a_file_atomically(void **state)
{
    (void)state;
    wt_error err;
    char *bytes;
    size_t len;
    struct replace replace;
    assert_int_equal(wt__file_replace("x", "old", 3, &err), 0);
    assert_int_equal(wt__replace_begin(&replace, "x", &err), 0);
    assert_int_equal(wt__replace_write(&replace, "NEW", 3, &err), 0);
    assert_int_equal(wt__file_read(&bytes, &len, "x", 100, &err), 0);
    assert_string_equal(bytes, "old");
    free(bytes);
    assert_int_equal(wt__replace_commit(&replace, &err), 0);
    assert_int_equal(wt__file_read(&bytes, &len, "x", 100, &err), 0);
    assert_string_equal(bytes, "NEW");
    free(bytes);
    assert_int_equal(wt__replace_begin(&replace, "x", &err), 0);
    wt__replace_abort(&replace);
    struct arena arena = {0};
    char **paths;
    size_t count;
    assert_int_equal(wt__list_files(&arena, ".", 10, &paths, &count, &err), 0);
    assert_int_equal(count, 1); /* no temporary file is left */
    wt__arena_dispose(&arena);
    unlink("x");
}

/* Counts the files of this folder whose names start with `beginning`. */
static size_t count_files_named(const char *beginning)
{
    struct arena arena = {0};
    char **paths;
    size_t count, found = 0;
    assert_int_equal(wt__list_files(&arena, ".", 100, &paths, &count, NULL), 0);
    for (size_t i = 0; i < count; i++)
        found += strncmp(paths[i] + 2, beginning, strlen(beginning)) == 0;
    wt__arena_dispose(&arena);
    return found;
}

/* Starts a child process that begins to replace path. If `killed`, the child kills itself before the commit. Else the
 * child waits for a byte on commit_pipe, and then commits. */
static pid_t begin_elsewhere(const char *path, bool killed, int commit_pipe[2])
{
    int begun[2];
    char byte = 0;
    assert_int_equal(pipe(begun), 0);
    assert_int_equal(pipe(commit_pipe), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct replace replace;
        if (wt__replace_begin(&replace, path, NULL) < 0 || wt__replace_write(&replace, "theirs", 6, NULL) < 0)
            _exit(1);
        if (killed)
            kill(getpid(), SIGKILL);
        if (write(begun[1], &byte, 1) != 1 || read(commit_pipe[0], &byte, 1) != 1)
            _exit(2);
        _exit(wt__replace_commit(&replace, NULL) < 0 ? 3 : 0);
    }
    close(begun[1]);
    assert_int_equal(read(begun[0], &byte, 1), killed ? 0 : 1);
    close(begun[0]);
    return pid;
}

static int wait_for_exit(pid_t pid)
{
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static void next_writer_removes_abandoned_files(void **state)
{
    (void)state;
    static const char *const others[] = {"z.backup", "z.unfinished-", "z.unfinished-12345", "z.unfinished-1234567",
                                         "zz.unfinished-123456"};
    int commit_pipe[2];
    for (int i = 0; i < 3; i++) {
        assert_int_equal(WTERMSIG(wait_for_exit(begin_elsewhere("z", true, commit_pipe))), SIGKILL);
        close(commit_pipe[0]);
        close(commit_pipe[1]);
        assert_int_equal(count_files_named("z"), 1); /* only the file of the last writer */
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        FILE *file = fopen(others[i], "w");
        assert_non_null(file);
        fclose(file);
    }
    assert_int_equal(mkdir("z.unfinished-folder", 0700), 0);
    assert_int_equal(symlink("z.backup", "z.unfinished-symbol"), 0);
    assert_int_equal(wt__file_replace("z", "ours", 4, NULL), 0);
    assert_true(wt__is_file("z") && wt__is_folder("z.unfinished-folder"));
    assert_int_equal(unlink("z.unfinished-symbol"), 0);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_int_equal(unlink(others[i]), 0);
    assert_int_equal(count_files_named("z"), 1);
    unlink("z");
}

static void keeps_temporary_file_of_a_live_writer(void **state)
{
    (void)state;
    int commit_pipe[2];
    pid_t pid = begin_elsewhere("y", false, commit_pipe);
    struct replace here;
    assert_int_equal(wt__replace_begin(&here, "y", NULL), 0);
    assert_int_equal(wt__file_replace("y", "ours", 4, NULL), 0);
    assert_int_equal(count_files_named("y"), 3);
    assert_int_equal(write(commit_pipe[1], "", 1), 1);
    assert_int_equal(wait_for_exit(pid), 0);
    close(commit_pipe[0]);
    close(commit_pipe[1]);
    char *bytes;
    size_t len;
    assert_int_equal(wt__file_read(&bytes, &len, "y", 100, NULL), 0);
    assert_string_equal(bytes, "theirs");
    free(bytes);
    assert_int_equal(wt__replace_commit(&here, NULL), 0);
    assert_int_equal(count_files_named("y"), 1);
    unlink("y");
}

/* The test would hang if the code opened a pipe like a regular file. */
static void rejects_pipes_sockets_devices_and_folders(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        int code;
        const char *message;
    } rows[] = {
        {"pipe", WT_EFORMAT, "pipe is a pipe, not a file: pass it as standard input (-), or save it to a file first"},
        {"link to a pipe", WT_EFORMAT, "link to a pipe is a pipe, not a file"},
        {"socket", WT_EFORMAT, "socket is a socket, not a file"},
        {"/dev/zero", WT_EFORMAT, "/dev/zero is a device, not a file"},
        {"/dev/null", WT_EFORMAT, "/dev/null is a device, not a file"},
        {".", WT_EINVAL, ". is a folder, not a file"},
    };
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "socket"};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_int_equal(symlink("pipe", "link to a pipe"), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mapping mapping;
        wt_error err;
        char *bytes;
        size_t len;
        int read_code = wt__file_read(&bytes, &len, rows[i].path, 100, &err);
        if (read_code != rows[i].code || !strstr(err.message, rows[i].message) || bytes)
            fail_msg("%s: read: %s", rows[i].path, err.message);
        if (wt__file_map(&mapping, rows[i].path, &err) != rows[i].code || !strstr(err.message, rows[i].message) ||
            mapping.ptr)
            fail_msg("%s: map: %s", rows[i].path, err.message);
        bool devices = rows[i].path[0] == '/'; /* never replace a device: a failing test would destroy it */
        if (!devices && (wt__file_replace(rows[i].path, "", 0, &err) != WT_EINVAL ||
                         !strstr(err.message, "not a regular file; name a file to write")))
            fail_msg("%s: replace: %s", rows[i].path, err.message);
    }
    close(fd);
    unlink("socket");
    unlink("link to a pipe");
    unlink("pipe");
}

static void read_errors_name_the_cause(void **state)
{
    (void)state;
    wt_error err;
    char *bytes;
    size_t len;
    assert_int_equal(wt__file_read(&bytes, &len, "absent", 100, &err), WT_ENOTFOUND);
    assert_string_equal(err.message, "cannot open absent: No such file or directory");
    assert_int_equal(wt__file_replace("big", "0123456789", 10, &err), 0);
    assert_int_equal(wt__file_read(&bytes, &len, "big", 9, &err), WT_ETOOLONG);
    assert_non_null(strstr(err.message, "has 10 bytes; at most 9 are read"));
    assert_null(bytes);
    assert_int_equal(wt__file_read(&bytes, &len, "big", 10, &err), 0);
    free(bytes);
    struct mapping mapping;
    assert_int_equal(wt__file_map(&mapping, "big", &err), 0);
    assert_memory_equal(mapping.ptr, "0123456789", 10);
    wt__file_unmap(&mapping);
    assert_int_equal(wt__file_replace("big", "", 0, &err), 0);
    assert_int_equal(wt__file_map(&mapping, "big", &err), 0);
    assert_null(mapping.ptr);
    unlink("big");
}

/* After wt__file_map_copies, a mapping keeps its bytes when its file is truncated. The test runs in a child process,
 * because copying cannot be switched off again. */
static void copied_file_survives_truncation(void **state)
{
    (void)state;
    enum { SIZE = 3 * 4096 + 17 };
    static char bytes[SIZE];
    memset(bytes, 'x', SIZE);
    wt_error err;
    assert_int_equal(wt__file_replace("emptied", bytes, SIZE, &err), 0);
    pid_t child = fork();
    if (child == 0) {
        struct mapping mapping;
        wt__file_map_copies();
        bool same = wt__file_map(&mapping, "emptied", &err) == 0 && mapping.len == SIZE &&
                    truncate("emptied", 0) == 0 && memcmp(mapping.ptr, bytes, SIZE) == 0 &&
                    (uintptr_t)mapping.ptr % 4096 == 0;
        wt__file_unmap(&mapping);
        same = same && wt__file_map(&mapping, "emptied", &err) == 0 && !mapping.ptr;
        _exit(same ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    unlink("emptied");
}

/* Returns the exit code of a child process that maps a file after wt__file_map_copies: 0 if it is mapped, 1 if it is
 * copied, 2 on an error. Only a mapping sees a byte that is written later. */
static int map_own_file_in_child(const char *path)
{
    wt_error err;
    pid_t child = fork();
    if (child == 0) {
        struct mapping mapping;
        wt__file_map_copies();
        if (wt__file_map_own(&mapping, path, &err) < 0 || mapping.len != 4)
            _exit(2);
        int fd = open(path, O_WRONLY);
        bool wrote = fd >= 0 && pwrite(fd, "B", 1, 0) == 1;
        _exit(wrote ? mapping.ptr[0] != 'B' : 2);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* A server shares the memory of a file that only its user can write, and copies one that others can write. */
static void own_file_is_mapped_by_servers(void **state)
{
    static const struct {
        mode_t mode;
        int copied;
    } rows[] = {{0600, 0}, {0644, 0}, {0664, 1}, {0646, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        wt_error err;
        assert_int_equal(wt__file_replace("shared", "aaaa", 4, &err), 0);
        assert_int_equal(chmod("shared", rows[i].mode), 0);
        assert_int_equal(map_own_file_in_child("shared"), rows[i].copied);
        unlink("shared");
    }
}

static void creates_parent_folders_and_lists_in_order(void **state)
{
    (void)state;
    wt_error err;
    struct arena arena = {0};
    char **paths;
    size_t count;
    assert_int_equal(wt__make_folders("p/q/r", &err), 0);
    assert_int_equal(wt__make_folders("p/q/r", &err), 0);
    assert_int_equal(wt__file_replace("p/b", "", 0, &err), 0);
    assert_int_equal(wt__file_replace("p/q/a", "", 0, &err), 0);
    assert_int_equal(wt__file_replace("p/.hidden", "", 0, &err), 0);
    assert_int_equal(wt__make_folders("p/b/c", &err), WT_EIO);
    assert_int_equal(wt__list_files(&arena, "p", 10, &paths, &count, &err), 0);
    assert_int_equal(count, 2);
    assert_string_equal(paths[0], "p/b");
    assert_string_equal(paths[1], "p/q/a");
    assert_int_equal(wt__list_files(&arena, "p", 1, &paths, &count, &err), WT_ETOOLONG);
    assert_int_equal(wt__list_files(&arena, "absent", 1, &paths, &count, &err), WT_ENOTFOUND);
    assert_string_equal(wt__path_join(&arena, "a/", "b"), "a/b");
    assert_string_equal(wt__path_join(&arena, "a", "b"), "a/b");
    wt__arena_dispose(&arena);
}

static void lock_is_exclusive(void **state)
{
    (void)state;
    wt_error err;
    int fd, other;
    assert_int_equal(wt__lock_file(&fd, "lock", 0, &err), 0);
    assert_int_equal(wt__lock_file(&other, "lock", 30, &err), WT_EBUSY);
    assert_non_null(strstr(err.message, "another process holds lock"));
    wt__unlock_file(fd);
    assert_int_equal(wt__lock_file(&other, "lock", 0, &err), 0);
    wt__unlock_file(other);
}

static void lock_can_be_shared(void **state)
{
    (void)state;
    wt_error err;
    int fd, other, third;
    assert_false(wt__is_shared("shared"));
    assert_int_equal(wt__share_file(&fd, "shared", 0, &err), 0);
    assert_int_equal(wt__share_file(&other, "shared", 0, &err), 0);
    assert_int_equal(wt__lock_file(&third, "shared", 30, &err), WT_EBUSY);
    wt__unlock_file(fd);
    assert_true(wt__is_shared("shared"));
    wt__unlock_file(other);
    assert_false(wt__is_shared("shared"));
    assert_int_equal(wt__share_file(&fd, "no/such/folder", 0, &err), WT_ENOTFOUND);
}

static void set_variable(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

static void data_and_cache_folders_follow_xdg(void **state)
{
    static const struct {
        const char *xdg, *home, *data, *cache; /* xdg, home: NULL if unset. data, cache: NULL if an error is expected */
    } rows[] = {
        {"/xdg", "/home/me", "/xdg/whichtool", "/xdg/whichtool"},
        {"/xdg", NULL, "/xdg/whichtool", "/xdg/whichtool"},
        {"relative is ignored", "/home/me", "/home/me/.local/share/whichtool", "/home/me/.cache/whichtool"},
        {"", "/home/me/", "/home/me/.local/share/whichtool", "/home/me/.cache/whichtool"},
        {NULL, "/", "/.local/share/whichtool", "/.cache/whichtool"},
        {NULL, NULL, NULL, NULL},
        {NULL, "", NULL, NULL},
        {"relative", "relative", NULL, NULL},
    };
    (void)state;
    struct arena arena = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *data, *cache;
        wt_error err;
        set_variable("HOME", rows[i].home);
        set_variable("XDG_DATA_HOME", rows[i].xdg);
        set_variable("XDG_CACHE_HOME", rows[i].xdg);
        int rc = wt__data_folder(&data, &arena, &err);
        assert_int_equal(wt__cache_folder(&cache, &arena, NULL), rc);
        assert_int_equal(rc, rows[i].data ? 0 : WT_ENOTFOUND);
        if (rows[i].data) {
            assert_string_equal(data, rows[i].data);
            assert_string_equal(cache, rows[i].cache);
        } else {
            assert_string_equal(err.message, "neither HOME nor XDG_DATA_HOME is set to an absolute path: set HOME");
            assert_null(data);
        }
    }
    wt__arena_dispose(&arena);
}

/* ---------------------------------------------------------------- replacing a file that another program writes */

enum { EDITS = 400 };

struct editor {
    char path[128];
    atomic_bool done;
    long last, lost; /* last number written; number of reads that did not find it */
};

static long number_in(const char *path)
{
    char *text = NULL;
    size_t len = 0;
    long number = wt__file_read(&text, &len, path, 1 << 20, NULL) == 0 ? strtol(text, NULL, 10) : -1;
    free(text);
    return number;
}

/* Reads path up to 100 times, because a swap of two files shows an older text for some microseconds. */
static bool has_number(const char *path, long number)
{
    for (int i = 0; i < 100; i++) {
        if (number_in(path) == number)
            return true;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return false;
}

/* Acts as another program: expects to read its last number, and then writes the next one, alternately by a rename and
 * in place. */
static void *edit_in_thread(void *context)
{
    struct editor *editor = context;
    char text[64], beside[140];
    snprintf(beside, sizeof beside, "%s.new", editor->path);
    while (!atomic_load(&editor->done)) {
        editor->lost += !has_number(editor->path, editor->last);
        bool in_place = editor->last % 2;
        snprintf(text, sizeof text, "%ld\n", ++editor->last);
        int fd = open(in_place ? editor->path : beside, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (write(fd, text, strlen(text)) < 0 || close(fd) != 0 || (!in_place && rename(beside, editor->path) != 0))
            break;
    }
    return NULL;
}

/* The replacement never overwrites a number that the other program has written in the meantime. */
static void keeps_concurrent_edits(void **state)
{
    struct editor editor = {.done = false};
    pthread_t thread;
    wt_error err;
    long replaced = 0;
    (void)state;
    snprintf(editor.path, sizeof editor.path, "%s/edited", folder);
    assert_int_equal(wt__file_replace(editor.path, "0\n", 2, &err), 0);
    assert_int_equal(pthread_create(&thread, NULL, edit_in_thread, &editor), 0);
    for (int i = 0; i < EDITS; i++) {
        struct replace replace;
        char *old = NULL, text[96];
        size_t len = 0;
        if (wt__file_read(&old, &len, editor.path, 1 << 20, &err) < 0)
            fail_msg("%s", err.message);
        if (len == 0) { /* the other program is writing it */
            free(old);
            continue;
        }
        int written = snprintf(text, sizeof text, "%ld, and more\n", strtol(old, NULL, 10));
        assert_int_equal(wt__replace_begin(&replace, editor.path, &err), 0);
        assert_int_equal(wt__replace_write(&replace, text, (size_t)written, &err), 0);
        int rc = wt__replace_commit_over(&replace, (struct str){old, len}, (struct str){text, (size_t)written}, &err);
        if (rc != 0 && rc != WT_EBUSY)
            fail_msg("%d, %s", rc, err.message);
        replaced += rc == 0;
        free(old);
    }
    atomic_store(&editor.done, true);
    pthread_join(thread, NULL);
    if (editor.lost > 0 || number_in(editor.path) != editor.last)
        fail_msg("%ld of %ld edits were lost, %ld files replaced", editor.lost, editor.last, replaced);
    unlink(editor.path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replaces_a_file_atomically),
        cmocka_unit_test(next_writer_removes_abandoned_files),
        cmocka_unit_test(keeps_temporary_file_of_a_live_writer),
        cmocka_unit_test(keeps_concurrent_edits),
        cmocka_unit_test(rejects_pipes_sockets_devices_and_folders),
        cmocka_unit_test(read_errors_name_the_cause),
        cmocka_unit_test(creates_parent_folders_and_lists_in_order),
        cmocka_unit_test(copied_file_survives_truncation),
        cmocka_unit_test(own_file_is_mapped_by_servers),
        cmocka_unit_test(lock_is_exclusive),
        cmocka_unit_test(lock_can_be_shared),
        cmocka_unit_test(data_and_cache_folders_follow_xdg),
    };
    return cmocka_run_group_tests(tests, enter_new_folder, leave_and_remove_folder);
}
