/* Fuzzes the readers of labels and of a data set's lines: pairs are unique and have a valid label; ids are unique, and
 * texts have no line ends and respect the length limit. */
#include <stdint.h>
#include <stdlib.h>

#include "generate/comparison.h"
#include "generate/requests.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_labels(struct str text)
{
    struct pair_labels labels;
    if (wt__pair_labels_parse(&labels, text, "labels", NULL) < 0)
        return;
    for (size_t i = 0; i < labels.count; i++) {
        if (labels.rows[i].pair == 0 || labels.rows[i].pair > LABEL_PAIR_MAX || labels.rows[i].label >= LABELS)
            abort();
        for (size_t other = 0; other < i && i < 256; other++)
            if (labels.rows[other].pair == labels.rows[i].pair)
                abort();
    }
    wt__pair_labels_dispose(&labels);
}

static void check_data_lines(struct str text)
{
    struct text_lines lines;
    if (wt__text_lines_parse(&lines, text, "lines", NULL) < 0)
        return;
    for (size_t i = 0; i < lines.count; i++) {
        const struct str texts[] = {lines.items[i].title, lines.items[i].text, lines.items[i].draft};
        const uint32_t *place = wt__map_get(&lines.places, lines.items[i].id);
        if (!place || *place != i)
            abort();
        for (size_t t = 0; t < 3; t++)
            if (texts[t].len > TEXT_LINES_TEXT_MAX || memchr(texts[t].ptr, '\n', texts[t].len) ||
                memchr(texts[t].ptr, '\t', texts[t].len))
                abort();
    }
    wt__text_lines_dispose(&lines);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct str text = {(const char *)data, size};
    read_labels(text);
    check_data_lines(text);
    return 0;
}
