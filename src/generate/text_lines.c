#include "generate/text_lines.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "generate/piece.h"

static int copy_folded_text(struct text_lines *lines, struct str text, struct str *out, wt_error *err)
{
    struct buffer line = {0};
    wt__piece_line(&line, text, TEXT_LINES_TEXT_MAX);
    *out = (struct str){line.failed ? NULL : wt__arena_copy(&lines->arena, wt__buffer_view(&line)), line.len};
    wt__buffer_dispose(&line);
    return out->ptr ? 0 : wt__fail_nomem(err);
}

static int add_text_line(struct text_lines *lines, const json_t *object, const char *name, size_t number, wt_error *err)
{
    struct text_line *line;
    const struct str id = wt__json_str(object, "_id");
    bool added = false;
    if (id.len == 0)
        return wt__fail_at(err, WT_EFORMAT, number, 0, "/_id", "%s:%zu: the line has no \"_id\"", name, number);
    if (lines->count == TEXT_LINES_MAX)
        return wt__fail(err, WT_ETOOLONG, "%s has more than %d lines", name, TEXT_LINES_MAX);
    if (wt__grow((void **)&lines->items, &lines->capacity, lines->count + 1, sizeof *lines->items) < 0)
        return wt__fail_nomem(err);
    line = &lines->items[lines->count];
    line->id = (struct str){wt__arena_copy(&lines->arena, id), id.len};
    if (!line->id.ptr || !wt__map_insert(&lines->places, line->id, (uint32_t)lines->count, &added))
        return wt__fail_nomem(err);
    if (!added)
        return wt__fail_at(err, WT_EFORMAT, number, 0, "/_id", "%s:%zu: the _id \"%.*s\" appears twice", name, number,
                           (int)(id.len < 80 ? id.len : 80), id.ptr);
    int rc = copy_folded_text(lines, wt__json_str(object, "title"), &line->title, err);
    if (rc == 0)
        rc = copy_folded_text(lines, wt__json_str(object, "text"), &line->text, err);
    if (rc == 0)
        rc = copy_folded_text(lines, wt__json_str(wt__json_object(object, "metadata"), "draft"), &line->draft, err);
    lines->count += rc == 0;
    return rc;
}

int wt__text_lines_parse(struct text_lines *out, struct str file, const char *name, wt_error *err)
{
    int rc = 0;
    *out = (struct text_lines){0};
    if (wt__str_starts(file, STR("\xef\xbb\xbf")))
        file = (struct str){file.ptr + 3, file.len - 3};
    for (size_t number = 1; rc == 0 && file.len > 0; number++) {
        const char *end = memchr(file.ptr, '\n', file.len);
        const struct str line = {file.ptr, end ? (size_t)(end - file.ptr) : file.len};
        const size_t step = line.len + (end != NULL);
        json_t *object = NULL;
        wt_error why;
        file = (struct str){file.ptr + step, file.len - step};
        if (wt__str_trim(line).len == 0)
            continue;
        rc = wt__json_parse(&object, line.ptr, line.len, &why);
        if (rc < 0)
            rc = wt__fail_at(err, rc, number, 0, NULL, "%s:%zu: %s", name, number, why.message);
        else
            rc = add_text_line(out, object, name, number, err);
        json_decref(object);
    }
    if (rc < 0)
        wt__text_lines_dispose(out);
    return rc;
}

int wt__text_lines_read(struct text_lines *out, const char *dir, const char *name, wt_error *err)
{
    struct arena arena = {0};
    char *bytes = NULL;
    size_t len = 0;
    *out = (struct text_lines){0};
    const char *path = wt__path_join(&arena, dir, name);
    int rc = path ? wt__file_read(&bytes, &len, path, TEXT_LINES_BYTES_MAX, err) : wt__fail_nomem(err);
    if (rc == 0)
        rc = wt__text_lines_parse(out, (struct str){bytes, len}, path, err);
    free(bytes);
    wt__arena_dispose(&arena);
    return rc;
}

void wt__text_lines_dispose(struct text_lines *lines)
{
    wt__map_dispose(&lines->places);
    wt__arena_dispose(&lines->arena);
    free(lines->items);
    *lines = (struct text_lines){0};
}
