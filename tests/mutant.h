/* mutant.h: files of a folder, and what a seed makes of one of them: flipped bits, blocks zeroed, filled, moved and cut
 * out, numbers put to their extremes, ends cut off or grown. The same seed and number make the same change.
 *
 *   WT_MUTANTS        how many a test makes of each folder (MUTANTS when unset)
 *   WT_MUTANT_SEED    of all of them (1 when unset) */
#ifndef WT_TESTS_MUTANT_H
#define WT_TESTS_MUTANT_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/rng.h"

enum { MUTANTS = 500, MUTANT_FILES = 32, MUTANT_SECONDS = 120 /* of which none is needed: a mutant that hangs */ };

struct mutant_file {
    char *path;
    unsigned char *bytes; /* on a 64-byte boundary */
    size_t len;
    struct timespec changed; /* put back with the bytes: caches know files by it */
};

/* A folder as it was, to be put back before each mutant. */
struct mutant_folder {
    const char *name, *path;
    struct mutant_file files[MUTANT_FILES];
    size_t count;
    struct arena arena;
};

static inline unsigned long mutant_setting(const char *variable, unsigned long otherwise)
{
    const char *text = getenv(variable);
    return text && *text ? strtoul(text, NULL, 10) : otherwise;
}

static inline void mutant_die(const char *what)
{
    perror(what);
    abort();
}

static inline void mutant_folder_read(struct mutant_folder *folder, const char *name, const char *path)
{
    wt_error err;
    char **paths;
    *folder = (struct mutant_folder){.name = name, .path = path};
    if (wt__list_files(&folder->arena, path, MUTANT_FILES, &paths, &folder->count, &err) < 0)
        mutant_die(err.message);
    for (size_t i = 0; i < folder->count; i++) {
        struct mutant_file *file = &folder->files[i];
        struct stat info;
        char *bytes;
        file->path = paths[i];
        if (stat(paths[i], &info) < 0)
            mutant_die(paths[i]);
        file->changed = info.st_mtim;
        if (wt__file_read(&bytes, &file->len, paths[i], SIZE_MAX / 2, &err) < 0)
            mutant_die(err.message);
        file->bytes = wt__alloc_aligned(file->len + 1, 1);
        memcpy(file->bytes, bytes, file->len);
        free(bytes);
    }
}

static inline void mutant_folder_dispose(struct mutant_folder *folder)
{
    for (size_t i = 0; i < folder->count; i++)
        free(folder->files[i].bytes);
    wt__arena_dispose(&folder->arena);
}

/* Not synced: only this machine's processes will read it. */
static inline void mutant_file_write(const struct mutant_file *was, const unsigned char *bytes, size_t len)
{
    const struct timespec times[] = {was->changed, was->changed};
    FILE *file = fopen(was->path, "wb");
    if (!file || fwrite(bytes, 1, len, file) != len || fclose(file) != 0 ||
        utimensat(AT_FDCWD, was->path, times, 0) < 0)
        mutant_die(was->path);
}

/* The folder as it was, and nothing else in it. */
static inline void mutant_folder_restore(const struct mutant_folder *folder)
{
    struct arena arena = {0};
    char **paths;
    size_t count;
    if (wt__list_files(&arena, folder->path, 1000, &paths, &count, NULL) == 0)
        for (size_t i = 0; i < count; i++)
            unlink(paths[i]);
    wt__arena_dispose(&arena);
    for (size_t i = 0; i < folder->count; i++)
        mutant_file_write(&folder->files[i], folder->files[i].bytes, folder->files[i].len);
}

/* ---------------------------------------------------------------- one change */

/* A number of `size` bytes becomes an extreme, a neighbour of what it was, or something near the file's length. */
static inline void mutate_number(struct rng *rng, unsigned char *bytes, size_t len)
{
    size_t size = (size_t)1 << wt__rng_below(rng, 4);
    if (len < size)
        return;
    size_t at = wt__rng_below(rng, (len - size) / size + 1) * size;
    uint64_t value = 0;
    memcpy(&value, bytes + at, size);
    const uint64_t numbers[] = {0,
                                1,
                                UINT64_MAX,
                                INT64_MAX,
                                INT32_MAX,
                                UINT32_MAX,
                                UINT64_C(1) << 31,
                                UINT64_C(1) << 63,
                                UINT64_C(1) << 32,
                                value + 1,
                                value - 1,
                                value * 2,
                                ~value,
                                len,
                                len + 1,
                                len - 1,
                                0x7FC00000,
                                0x7F800000};
    value = numbers[wt__rng_below(rng, sizeof numbers / sizeof *numbers)];
    memcpy(bytes + at, &value, size);
}

/* A block is zeroed, filled, copied from elsewhere in the file, or drawn. */
static inline void mutate_block(struct rng *rng, unsigned char *bytes, size_t len)
{
    size_t most = len < 4096 ? len : 4096, size = 1 + wt__rng_below(rng, most);
    size_t at = wt__rng_below(rng, len - size + 1), from = wt__rng_below(rng, len - size + 1);
    switch (wt__rng_below(rng, 4)) {
    case 0:
        memset(bytes + at, 0, size);
        break;
    case 1:
        memset(bytes + at, 0xFF, size);
        break;
    case 2:
        memmove(bytes + at, bytes + from, size);
        break;
    default:
        for (size_t i = 0; i < size; i++)
            bytes[at + i] = (unsigned char)wt__rng_below(rng, 256);
    }
}

/* The length changes: cut off, cut out, or grown by its own bytes. Returns the new one; bytes has room for `room`. */
static inline size_t mutate_length(struct rng *rng, unsigned char *bytes, size_t len, size_t room)
{
    size_t at = wt__rng_below(rng, len + 1), size = wt__rng_below(rng, len - at + 1);
    switch (wt__rng_below(rng, 3)) {
    case 0:
        return at;
    case 1:
        memmove(bytes + at, bytes + at + size, len - at - size);
        return len - size;
    default:
        size = size < room - len ? size : room - len;
        memcpy(bytes + len, bytes + at, size);
        return len + size;
    }
}

static inline size_t mutate(struct rng *rng, unsigned char *bytes, size_t len, size_t room)
{
    for (size_t changes = 1 + wt__rng_below(rng, 4); len > 0 && changes > 0; changes--)
        switch (wt__rng_below(rng, 8)) {
        case 0:
            len = mutate_length(rng, bytes, len, room);
            break;
        case 1:
        case 2:
            mutate_block(rng, bytes, len);
            break;
        case 3:
        case 4:
            bytes[wt__rng_below(rng, len)] ^= (unsigned char)(1u << wt__rng_below(rng, 8));
            break;
        default:
            mutate_number(rng, bytes, len);
        }
    return len;
}

/* ---------------------------------------------------------------- all of them */

/* repair: makes the checksums of a changed file right, so that what lies behind them is reached; NULL: there are none.
 * try: a folder as it stands, in a process of its own; 0 when what came of it is sound. repaired: checksums tell
 * nothing. */
struct mutant_trial {
    struct mutant_folder *folder;
    void (*repair)(const char *path, unsigned char *bytes, size_t len);
    int (*try)(unsigned long n, bool repaired);
    const char *place; /* all that the trial needs; a copy of it is kept of a mutant that fails */
};

/* The trial of what lies in the folder, as its exit status; a leak is one too. */
static inline int mutant_status(const struct mutant_trial *trial, unsigned long n, bool repaired)
{
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child < 0)
        mutant_die("fork");
    if (child == 0) {
        alarm(MUTANT_SECONDS);
        exit(trial->try(n, repaired));
    }
    if (waitpid(child, &status, 0) != child)
        mutant_die("waitpid");
    return status;
}

/* Number n of the seed is put in place of what was changed. Returns whether its checksums were made right. */
static inline bool mutant_write(const struct mutant_trial *trial, unsigned long seed, unsigned long n)
{
    const struct mutant_folder *folder = trial->folder;
    struct rng rng;
    wt__rng_seed(&rng, seed * 1000003 + n);
    const struct mutant_file *file = &folder->files[wt__rng_below(&rng, folder->count)];
    size_t room = 2 * file->len + 64;
    unsigned char *bytes = wt__alloc_aligned(room, 1);
    bool repaired = trial->repair && wt__rng_below(&rng, 4) > 0;
    if (!bytes)
        mutant_die("memory");
    memcpy(bytes, file->bytes, file->len);
    size_t len = mutate(&rng, bytes, file->len, room);
    if (repaired)
        trial->repair(file->path, bytes, len);
    mutant_folder_restore(folder);
    mutant_file_write(file, bytes, len);
    free(bytes);
    return repaired;
}

/* Where a mutant that failed is kept. */
static inline void mutant_keep(const struct mutant_trial *trial, unsigned long seed, unsigned long n, int status)
{
    const char *build = getenv("WT_TEST_BUILD");
    char kept[512], command[2048];
    snprintf(kept, sizeof kept, "%s/mutants/%s-%lu-%lu", build ? build : "/tmp", trial->folder->name, seed, n);
    snprintf(command, sizeof command, "mkdir -p '%s' && cp -r '%s/.' '%s'", kept, trial->place, kept);
    int copied = system(command);
    printf("mutant %lu of seed %lu of %s: %s %d; %s %s\n", n, seed, trial->folder->name,
           WIFSIGNALED(status) ? "signal" : "exit", WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
           copied == 0 ? "kept in" : "could not be kept in", kept);
}

/* How many of the mutants failed. */
static inline size_t mutants_failed(const struct mutant_trial *trial)
{
    unsigned long count = mutant_setting("WT_MUTANTS", MUTANTS), seed = mutant_setting("WT_MUTANT_SEED", 1);
    size_t failed = 0;
    for (unsigned long n = 0; n < count; n++) {
        bool repaired = mutant_write(trial, seed, n);
        int status = mutant_status(trial, n, repaired);
        if (status == 0)
            continue;
        mutant_write(trial, seed, n); /* as it was before the trial changed it */
        mutant_keep(trial, seed, n, status);
        failed++;
    }
    mutant_folder_restore(trial->folder);
    return failed;
}

#endif
