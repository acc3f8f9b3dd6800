/* samples.h: samples.jsonl, in the layout of ToolVerifier's data:
 *
 *   {"query": "...", "choices": [{"name": "...", "description": "..."}, ...], "thought": "...", "tool": "..."} */
#ifndef WT_GENERATE_SAMPLES_H
#define WT_GENERATE_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/str.h"

enum {
    SAMPLE_LINE_BYTES_MAX = 1 << 20,
    SAMPLE_CHOICES_MAX = 256,
    SAMPLE_DESCRIPTION_BYTES_MAX = 4096,
};

struct sample_choice {
    struct str name, description;
};

struct choice_sample {
    struct str query, thought; /* thought may be empty */
    struct sample_choice *choices;
    size_t choice_count; /* at least 2 */
    size_t right;        /* position of the right tool in choices */
    bool is_hard;        /* not stored in the file */
};

struct choice_samples {
    struct arena arena;
    struct choice_sample *items;
    size_t count, capacity;
    size_t left_out; /* malformed rows of the file, not in items */
};

void wt__samples_dispose(struct choice_samples *samples);
int wt__samples_add(struct choice_samples *samples, const struct choice_sample *sample, wt_error *err);

/* Appends the contents of the file. */
void wt__samples_write(const struct choice_samples *samples, struct buffer *out);

/* Parses a file. name: for messages. Leaves out a row if the right tool is missing from its choices or repeated, or
 * if a text is missing or too long. Errors: WT_EFORMAT with the line (not a JSON object), WT_ETOOLONG (too many
 * rows, or a line), WT_ENOMEM. */
int wt__samples_parse(struct choice_samples *out, struct str file, const char *name, wt_error *err);

#endif
