/* replay.c: runs a fuzz target without a fuzzer on every file of a corpus. Each file is also run with damage: cut
 * short, or with one byte changed. The damage depends only on the file, so a failure is reproducible on every machine.
 *
 *   fuzz_replay TARGET FILE-OR-FOLDER...
 *
 * Each input is a heap block of exactly its size, so that a sanitizer detects a read past its end. Fails if a path is
 * missing, or if no input was found. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* cmake/tests.cmake writes fuzz_targets.h, which has TARGET(name) for each fuzz target. The function
 * LLVMFuzzerTestOneInput of the target is renamed to `name`. */
#define TARGET(name) int name(const uint8_t *data, size_t size);
#include "fuzz_targets.h"
#undef TARGET

static const struct {
    const char *name;
    int (*run)(const uint8_t *data, size_t size);
} targets[] = {
#define TARGET(name) {#name, name},
#include "fuzz_targets.h"
#undef TARGET
};

enum {
    VARIANTS = 48,             /* minimum variants of a file per kind of damage; a shorter file has one per byte */
    MAX_FILE_BYTES = 64 << 20, /* maximum size of a corpus file */
    DAMAGE_BELOW = 256 << 10,  /* files of at least this size are not damaged, which would take minutes */
    PATH_BYTES = 4096
};

/* Bytes that are special to parsers: NUL, quote, brackets, a sign, limits of UTF-8, all ones. */
static const uint8_t awkward[] = {0x00, '"', '{', ']', '-', 0x7f, 0x80, 0xff};

static int (*run_target)(const uint8_t *data, size_t size);
static size_t inputs, runs;

static void run_on_copy(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size);
    if (!copy && size > 0) {
        fprintf(stderr, "replay: out of memory\n");
        exit(1);
    }
    if (size > 0)
        memcpy(copy, data, size);
    run_target(copy, size);
    free(copy);
    runs++;
}

static void run_damaged(uint8_t *data, size_t size)
{
    size_t step = size > VARIANTS ? size / VARIANTS : 1;
    for (size_t at = 0; at < size; at += step) {
        run_on_copy(data, at);
        uint8_t kept = data[at];
        data[at] = awkward[(at / step) % sizeof awkward];
        run_on_copy(data, size);
        data[at] = kept;
    }
}

static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        return 1;
    }
    struct stat info;
    uint8_t *data = NULL;
    size_t size = 0;
    int failed = fstat(fileno(file), &info) != 0 || info.st_size > MAX_FILE_BYTES;
    if (!failed) {
        data = malloc((size_t)info.st_size + 1);
        failed = !data;
    }
    if (!failed) {
        size = fread(data, 1, (size_t)info.st_size, file);
        failed = size != (size_t)info.st_size;
    }
    fclose(file);
    if (failed) {
        fprintf(stderr, "%s: cannot be read, or is larger than %d bytes\n", path, MAX_FILE_BYTES);
    } else {
        inputs++;
        run_on_copy(data, size);
        if (size < DAMAGE_BELOW)
            run_damaged(data, size);
    }
    free(data);
    return failed;
}

static int replay_path(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0) {
        perror(path);
        return 1;
    }
    if (!S_ISDIR(info.st_mode))
        return replay_file(path);
    struct dirent **entries;
    int count = scandir(path, &entries, NULL, alphasort);
    if (count < 0) {
        perror(path);
        return 1;
    }
    int failed = 0;
    for (int i = 0; i < count; i++) {
        char inner[PATH_BYTES];
        int len = snprintf(inner, sizeof inner, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.')
            failed |= len >= (int)sizeof inner || replay_path(inner);
        free(entries[i]);
    }
    free(entries);
    return failed;
}

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof targets / sizeof *targets; i++)
        if (strcmp(targets[i].name, argv[1]) == 0)
            run_target = targets[i].run;
    if (!run_target) {
        fprintf(stderr, "usage: fuzz_replay TARGET FILE-OR-FOLDER...\n");
        return 2;
    }
    int failed = 0;
    for (int i = 2; i < argc; i++)
        failed |= replay_path(argv[i]);
    if (inputs == 0) {
        fprintf(stderr, "replay: no inputs found\n");
        failed = 1;
    }
    printf("%zu inputs, %zu runs\n", inputs, runs);
    return failed;
}
