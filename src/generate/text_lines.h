/* text_lines.h: the lines of a BEIR file, corpus.jsonl or queries.jsonl, as texts to show to a language model or a
 * person: each folded to one line of visible characters. */
#ifndef WT_GENERATE_TEXT_LINES_H
#define WT_GENERATE_TEXT_LINES_H

#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/map.h"
#include "base/str.h"

enum {
    TEXT_LINES_MAX = 1000000,       /* maximum number of lines in a file */
    TEXT_LINES_BYTES_MAX = 1 << 30, /* maximum size of a file */
    TEXT_LINES_TEXT_MAX = 4000,     /* maximum bytes of a text; longer ones are truncated */
};

struct text_line {
    struct str id, title, text;
    struct str draft; /* a request's text before its polish (request_set.h); may be empty */
};

struct text_lines {
    struct arena arena;
    struct text_line *items;
    size_t count, capacity;
    struct map places; /* ids to places */
};

/* Reads dir/name. Errors: those of wt__file_read and wt__text_lines_parse. */
int wt__text_lines_read(struct text_lines *out, const char *dir, const char *name, wt_error *err);

/* Parses a file's contents. name: for messages. Errors: WT_EFORMAT with the line (not a JSON object, "_id" missing
 * or repeated), WT_ETOOLONG, WT_ENOMEM. */
int wt__text_lines_parse(struct text_lines *out, struct str file, const char *name, wt_error *err);
void wt__text_lines_dispose(struct text_lines *lines);

#endif
