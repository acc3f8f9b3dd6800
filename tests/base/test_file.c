/* Files: read with limits, replaced in one step, listed in order, locked by one process at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"

static char folder[] = "/tmp/whichtool-file-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

static void a_replaced_file_is_old_or_new(void **state)
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
    assert_int_equal(count, 1); /* nothing was left behind */
    wt__arena_dispose(&arena);
    unlink("x");
}

static void reading_says_what_is_wrong(void **state)
{
    (void)state;
    wt_error err;
    char *bytes;
    size_t len;
    assert_int_equal(wt__file_read(&bytes, &len, "absent", 100, &err), WT_ENOTFOUND);
    assert_string_equal(err.message, "cannot open absent: No such file or directory");
    assert_int_equal(wt__file_read(&bytes, &len, ".", 100, &err), WT_EUSAGE);
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
    assert_int_equal(wt__file_map(&mapping, ".", &err), WT_EIO);
    assert_int_equal(wt__file_replace("big", "", 0, &err), 0);
    assert_int_equal(wt__file_map(&mapping, "big", &err), 0);
    assert_null(mapping.ptr);
    unlink("big");
}

static void folders_are_made_with_their_parents_and_listed_in_order(void **state)
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

static void a_lock_keeps_others_out(void **state)
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

static void data_lives_where_xdg_says(void **state)
{
    (void)state;
    struct arena arena = {0};
    setenv("XDG_DATA_HOME", "/data", 1);
    assert_string_equal(wt__data_folder(&arena), "/data/whichtool");
    setenv("XDG_DATA_HOME", "relative is ignored", 1);
    setenv("HOME", "/home/me", 1);
    assert_string_equal(wt__data_folder(&arena), "/home/me/.local/share/whichtool");
    unsetenv("XDG_CACHE_HOME");
    assert_string_equal(wt__cache_folder(&arena), "/home/me/.cache/whichtool");
    wt__arena_dispose(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_replaced_file_is_old_or_new),
        cmocka_unit_test(reading_says_what_is_wrong),
        cmocka_unit_test(folders_are_made_with_their_parents_and_listed_in_order),
        cmocka_unit_test(a_lock_keeps_others_out),
        cmocka_unit_test(data_lives_where_xdg_says),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
