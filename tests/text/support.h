/* support.h: locates and reads the test data of text/, and parses JSON with NUL in strings. */
#ifndef WT_TESTS_TEXT_SUPPORT_H
#define WT_TESTS_TEXT_SUPPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/str.h"

enum { PATH_BYTES = 4096 };

static inline void own_path(char *path, const char *name)
{
    const char *source = getenv("WT_TEST_SOURCE");
    snprintf(path, PATH_BYTES, "%s/tests/golden/%s", source ? source : ".", name);
}

/* Writes the path of a file of the reference data. The data are in $WT_SHARED, or if it is not set, in the folder
 * shared/ next to the source folder. If the file is missing, prints a message and returns false. path: [PATH_BYTES]. */
static inline bool shared_path(char *path, const char *name)
{
    const char *shared = getenv("WT_SHARED"), *source = getenv("WT_TEST_SOURCE");

    if (shared)
        snprintf(path, PATH_BYTES, "%s/%s", shared, name);
    else
        snprintf(path, PATH_BYTES, "%s/../shared/%s", source ? source : ".", name);
    if (wt__is_file(path))
        return true;
    printf("skipped: no %s\n", name);
    return false;
}

static inline struct str read_whole(const char *path)
{
    char *text = NULL;
    size_t len = 0;
    wt_error err = {0};

    if (wt__file_read(&text, &len, path, (size_t)64 << 20, &err) != 0) {
        printf("%s\n", err.message);
        abort();
    }
    return (struct str){text, len};
}

/* Moves the next line of *rest to *line, without its newline. Returns false if *rest is empty. */
static inline bool next_line(struct str *rest, struct str *line)
{
    if (rest->len == 0)
        return false;
    const char *stop = memchr(rest->ptr, '\n', rest->len);
    line->ptr = rest->ptr;
    line->len = stop ? (size_t)(stop - rest->ptr) : rest->len;
    rest->ptr += line->len + (stop != NULL);
    rest->len -= line->len + (stop != NULL);
    return true;
}

static inline json_t *parse_reference_json(struct str text)
{
    json_t *value = json_loadb(text.ptr, text.len, JSON_ALLOW_NUL | JSON_DECODE_ANY, NULL);

    if (!value) {
        printf("not JSON: %.*s\n", (int)text.len, text.ptr);
        abort();
    }
    return value;
}

static inline struct str text_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return (struct str){json_string_value(value), json_string_length(value)};
}

#endif
