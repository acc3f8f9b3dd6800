/* mutant.h: damages a file of a folder at random and tests the damaged folder (a mutant) in a child process. A change
 * flips a bit, sets a number to an extreme, overwrites or removes a block, or truncates or extends the file. The same
 * seed and mutant number give the same changes.
 *
 *   WT_MUTANTS       mutants of each folder; default MUTANTS
 *   WT_MUTANT_SEED   seed of all mutants; default 1 */
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

enum {
    MUTANTS = 500,       /* default number of mutants of a folder */
    MUTANT_FILES = 32,   /* maximum files of a folder */
    MUTANT_SECONDS = 120 /* timeout of one mutant, which usually takes milliseconds */
};

struct mutant_file {
    char *path;
    unsigned char *bytes; /* aligned to 64 bytes */
    size_t len;
    struct timespec changed; /* modification time; restored with the bytes, because caches compare it */
};

/* The original content of a folder, restored before each mutant. */
struct mutant_folder {
    const char *name, *path;
    struct mutant_file files[MUTANT_FILES];
    size_t count;
    struct arena arena;
};

static inline unsigned long mutant_setting(const char *variable, unsigned long fallback)
{
    const char *text = getenv(variable);
    return text && *text ? strtoul(text, NULL, 10) : fallback;
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

/* Writes the file without fsync, because only processes of this test read it. */
static inline void mutant_file_write(const struct mutant_file *original, const unsigned char *bytes, size_t len)
{
    const struct timespec times[] = {original->changed, original->changed};
    FILE *file = fopen(original->path, "wb");
    if (!file || fwrite(bytes, 1, len, file) != len || fclose(file) != 0 ||
        utimensat(AT_FDCWD, original->path, times, 0) < 0)
        mutant_die(original->path);
}

/* Removes all files of the folder, and writes the original files again. */
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

/* Replaces an aligned number of 1 to 8 bytes by an extreme, by a value computed from it, or by a value near the file's
 * length. */
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

/* Overwrites a block with zeros, with 0xFF, with a copy of another part of the file, or with random bytes. */
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

/* Truncates the file, removes a part, or appends a copy of a part. bytes [room] holds the file. Returns the new
 * length. */
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

static inline size_t apply_mutations(struct rng *rng, unsigned char *bytes, size_t len, size_t room)
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

/* ---------------------------------------------------------------- trials */

struct mutant_trial {
    struct mutant_folder *folder;
    /* Corrects the checksums of a changed file, so that the file reaches the code behind the check. NULL for files
     * without checksums. */
    void (*repair)(const char *path, unsigned char *bytes, size_t len);
    /* Tests the folder in a child process. Returns 0 on success. repaired: true if the checksums were corrected. */
    int (*try)(unsigned long n, bool repaired);
    const char *place; /* folder with everything that the trial needs; copied if a mutant fails */
};

/* Runs the trial in a child process and returns the wait status of the child. The child ends with exit(), so that
 * LeakSanitizer reports leaks. */
static inline int run_mutant(const struct mutant_trial *trial, unsigned long n, bool repaired)
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

/* Restores the folder and writes mutant number n of the seed. Returns true if the checksums of the changed file were
 * corrected. */
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
        mutant_die("out of memory");
    memcpy(bytes, file->bytes, file->len);
    size_t len = apply_mutations(&rng, bytes, file->len, room);
    if (repaired)
        trial->repair(file->path, bytes, len);
    mutant_folder_restore(folder);
    mutant_file_write(file, bytes, len);
    free(bytes);
    return repaired;
}

/* Keeps a copy of a failed mutant and prints its path. */
static inline void keep_failed_mutant(const struct mutant_trial *trial, unsigned long seed, unsigned long n, int status)
{
    const char *build = getenv("WT_TEST_BUILD");
    char kept[512], command[2048];
    snprintf(kept, sizeof kept, "%s/mutants/%s-%lu-%lu", build ? build : "/tmp", trial->folder->name, seed, n);
    snprintf(command, sizeof command, "mkdir -p '%s' && cp -r '%s/.' '%s'", kept, trial->place, kept);
    int copied = system(command);
    printf("mutant %lu of seed %lu of %s: %s %d; %s %s\n", n, seed, trial->folder->name,
           WIFSIGNALED(status) ? "signal" : "exit", WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
           copied == 0 ? "kept in" : "cannot be copied to", kept);
}

/* Runs all mutants. Returns the number that failed. */
static inline size_t mutants_failed(const struct mutant_trial *trial)
{
    unsigned long count = mutant_setting("WT_MUTANTS", MUTANTS), seed = mutant_setting("WT_MUTANT_SEED", 1);
    size_t failed = 0;
    for (unsigned long n = 0; n < count; n++) {
        bool repaired = mutant_write(trial, seed, n);
        int status = run_mutant(trial, n, repaired);
        if (status == 0)
            continue;
        mutant_write(trial, seed, n); /* Write the mutant again, because the trial may have changed its files. */
        keep_failed_mutant(trial, seed, n, status);
        failed++;
    }
    mutant_folder_restore(trial->folder);
    return failed;
}

#endif
