#include "generate/labels.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <strings.h>

#include "base/map.h"
#include "base/memory.h"

enum { FIELDS_MAX = 16 };

struct label_columns {
    size_t pair, verdict;
};

/* Splits a line into trimmed fields; returns their number, at most FIELDS_MAX. */
static size_t split_label_fields(struct str line, struct str fields[FIELDS_MAX])
{
    size_t count = 0;
    while (count < FIELDS_MAX) {
        const char *tab = line.len > 0 ? memchr(line.ptr, '\t', line.len) : NULL;
        const size_t len = tab ? (size_t)(tab - line.ptr) : line.len;
        fields[count++] = wt__str_trim((struct str){line.ptr, len});
        if (!tab)
            break;
        line = (struct str){tab + 1, line.len - len - 1};
    }
    return count;
}

static bool equals_label_word(struct str text, const char *word)
{
    return text.len == strlen(word) && strncasecmp(text.ptr, word, text.len) == 0;
}

/* True if the line names the columns; sets *columns. */
static bool read_label_columns(const struct str *fields, size_t count, struct label_columns *columns)
{
    bool pair = false, verdict = false;
    for (size_t i = 0; i < count; i++) {
        if (!pair && equals_label_word(fields[i], "pair")) {
            columns->pair = i;
            pair = true;
        } else if (!verdict && equals_label_word(fields[i], "verdict")) {
            columns->verdict = i;
            verdict = true;
        }
    }
    return pair && verdict;
}

/* Parses a pair number from 1. Leading zeros are refused, so that a pair has only one spelling. */
static bool parse_pair_number(struct str text, size_t *out)
{
    *out = 0;
    if (text.len > 0 && text.ptr[0] == '0')
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
        *out = *out * 10 + (size_t)(text.ptr[i] - '0');
        if (*out > LABEL_PAIR_MAX)
            return false;
    }
    return *out > 0;
}

static int read_label_line(struct pair_labels *labels, struct map *known, const struct str *fields, size_t count,
                           const struct label_columns *columns, const char *name, size_t number, wt_error *err)
{
    static const char *const words[LABELS] = {"a", "b", "tie"};
    const struct str pair = columns->pair < count ? fields[columns->pair] : STR(""),
                     verdict = columns->verdict < count ? fields[columns->verdict] : STR("");
    struct pair_label row = {.label = LABELS};
    bool added = false;
    if (!parse_pair_number(pair, &row.pair))
        return wt__fail_at(err, WT_EFORMAT, number, 0, NULL, "%s:%zu: \"%.*s\" is not a pair number", name, number,
                           (int)(pair.len < 40 ? pair.len : 40), pair.ptr);
    if (verdict.len == 0 || wt__str_equal(verdict, STR("?")))
        return 0;
    for (enum label label = 0; label < LABELS; label++)
        if (equals_label_word(verdict, words[label]))
            row.label = label;
    if (row.label == LABELS)
        return wt__fail_at(err, WT_EFORMAT, number, 0, NULL, "%s:%zu: \"%.*s\" is not a verdict; use a, b or tie", name,
                           number, (int)(verdict.len < 40 ? verdict.len : 40), verdict.ptr);
    if (!wt__map_insert(known, pair, 0, &added) ||
        wt__grow((void **)&labels->rows, &labels->capacity, labels->count + 1, sizeof *labels->rows) < 0)
        return wt__fail_nomem(err);
    if (!added)
        return wt__fail_at(err, WT_EFORMAT, number, 0, NULL, "%s:%zu: pair %zu appears twice", name, number, row.pair);
    labels->rows[labels->count++] = row;
    return 0;
}

int wt__pair_labels_parse(struct pair_labels *out, struct str file, const char *name, wt_error *err)
{
    struct label_columns columns = {0, 1};
    struct map known = {0};
    bool begun = false;
    int rc = 0;
    *out = (struct pair_labels){0};
    for (size_t number = 1; rc == 0 && file.len > 0; number++) {
        const char *end = memchr(file.ptr, '\n', file.len);
        const struct str line = {file.ptr, end ? (size_t)(end - file.ptr) : file.len};
        const size_t step = line.len + (end != NULL);
        struct str fields[FIELDS_MAX];
        file = (struct str){file.ptr + step, file.len - step};
        if (wt__str_trim(line).len == 0)
            continue;
        const size_t count = split_label_fields(line, fields);
        if (begun || !read_label_columns(fields, count, &columns))
            rc = read_label_line(out, &known, fields, count, &columns, name, number, err);
        begun = true;
    }
    wt__map_dispose(&known);
    if (rc < 0)
        wt__pair_labels_dispose(out);
    return rc;
}

void wt__pair_labels_dispose(struct pair_labels *labels)
{
    free(labels->rows);
    *labels = (struct pair_labels){0};
}

size_t wt__agreement_pairs(const struct agreement *agreement)
{
    size_t pairs = 0;
    for (size_t i = 0; i < LABELS; i++)
        for (size_t j = 0; j < LABELS; j++)
            pairs += agreement->counts[i][j];
    return pairs;
}

size_t wt__agreement_same(const struct agreement *agreement)
{
    size_t same = 0;
    for (size_t i = 0; i < LABELS; i++)
        same += agreement->counts[i][i];
    return same;
}

double wt__agreement_kappa(const struct agreement *agreement)
{
    const double pairs = (double)wt__agreement_pairs(agreement);
    double by_chance = 0;
    for (size_t i = 0; i < LABELS; i++) {
        size_t one = 0, other = 0;
        for (size_t j = 0; j < LABELS; j++) {
            one += agreement->counts[i][j];
            other += agreement->counts[j][i];
        }
        by_chance += (double)one * (double)other;
    }
    if (pairs == 0 || by_chance >= pairs * pairs)
        return NAN;
    by_chance /= pairs * pairs;
    return ((double)wt__agreement_same(agreement) / pairs - by_chance) / (1 - by_chance);
}
