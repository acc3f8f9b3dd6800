/* Fuzzes the reader of samples.jsonl. Rows for fine-tuning are JSON, one per line. Written samples are read back
 * unchanged. The bytes are also parsed as parts of a model's answer. */
#include <stdint.h>
#include <stdlib.h>

#include "base/json.h"
#include "generate/toolselect.h"
#include "generate/internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_pieces(struct str text)
{
    struct arena arena = {0};
    for (enum piece_kind kind = PIECE_NAME; kind <= PIECE_NOTE; kind++) {
        struct str out;
        enum piece_fate fate;
        if (wt__piece_read(&arena, kind, text, &out, &fate, NULL) < 0)
            continue;
        if ((fate == PIECE_TAKEN) != (out.len > 0) || memchr(out.ptr, '\n', out.len) || out.len > PIECE_NOTE_BYTES_MAX)
            abort();
    }
    wt__arena_dispose(&arena);
}

static void write_rows(const struct choice_samples *samples)
{
    for (enum row_layout layout = LAYOUT_CALL; layout <= LAYOUT_TOOLVERIFIER; layout++) {
        struct row_writer writer;
        struct buffer line = {0};
        if (wt__row_writer_open(&writer, layout, NULL) < 0)
            abort();
        for (size_t i = 0; i < samples->count; i++) {
            size_t characters;
            json_t *row;
            wt__buffer_clear(&line);
            writer.note_words = i % 3;
            if (wt__fine_tuning_row(&writer, &samples->items[i], &line, &characters, NULL) < 0 ||
                memchr(line.ptr, '\n', line.len) != line.ptr + line.len - 1 ||
                wt__json_parse(&row, line.ptr, line.len - 1, NULL) < 0)
                abort();
            json_decref(row);
        }
        wt__buffer_dispose(&line);
        wt__prompt_dispose(&writer.prompt);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct str text = {(const char *)data, size};
    struct choice_samples samples, again;
    struct buffer file = {0}, twice = {0};
    read_pieces(text);
    if (wt__samples_parse(&samples, text, "samples", NULL) < 0)
        return 0;
    write_rows(&samples);
    wt__samples_write(&samples, &file);
    if (wt__samples_parse(&again, wt__buffer_view(&file), "samples", NULL) < 0 || again.count != samples.count ||
        again.left_out > 0)
        abort();
    wt__samples_write(&again, &twice);
    if (!wt__str_equal(wt__buffer_view(&file), wt__buffer_view(&twice)))
        abort();
    wt__samples_dispose(&samples);
    wt__samples_dispose(&again);
    wt__buffer_dispose(&file);
    wt__buffer_dispose(&twice);
    return 0;
}
