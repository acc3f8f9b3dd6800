/* text_lines.h: the lines of a BEIR file, corpus.jsonl or queries.jsonl, as texts to be shown to a language model or to
 * a person: each folded to one line of what can be seen. */
#ifndef WT_GENERATE_TEXT_LINES_H
#define WT_GENERATE_TEXT_LINES_H

#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/map.h"
#include "base/str.h"

enum {
    TEXT_LINES_MAX = 1000000,       /* of a file */
    TEXT_LINES_BYTES_MAX = 1 << 30, /* of a file */
    TEXT_LINES_TEXT_MAX = 4000,     /* bytes of a text, which is cut there */
};

struct text_line {
    struct str id, title, text;
    struct str draft; /* of a request, before its polish (request_set.h); empty where there is none */
};

struct text_lines {
    struct arena arena;
    struct text_line *items;
    size_t count, capacity;
    struct map places; /* ids to places */
};

/* Reads dir/name. Errors: those of wt__file_read, and those below. */
int wt__text_lines_read(struct text_lines *out, const char *dir, const char *name, wt_error *err);

/* The same from a file's bytes; name: for messages. A line without an "_id", or with one that was there before, is
 * WT_EFORMAT with its number, as one that is no JSON object is; WT_ETOOLONG; WT_ENOMEM. */
int wt__text_lines_parse(struct text_lines *out, struct str file, const char *name, wt_error *err);
void wt__text_lines_dispose(struct text_lines *lines);

#endif
