/* word_diff.c: the longest common subsequence of words, with the standard table, after removing the common beginning
 * and end. If the table would exceed DIFF_CELLS, everything between them is one change. */
#include "catalog/word_diff.h"

#include <stdlib.h>

#include "base/memory.h"
#include "text/shown.h"

enum {
    DIFF_CELLS = 1 << 20,
    DIFF_PLACES = 4,  /* maximum changes of one text described separately */
    DIFF_QUOTED = 160 /* maximum bytes quoted of each */
};

struct diff_words {
    struct str *items;
    size_t count, capacity;
};

/* Returns the length of at most `most` bytes that ends between characters. */
static size_t find_cut(struct str text, size_t most)
{
    while (most > 0 && ((unsigned char)text.ptr[most] & 0xc0) == 0x80)
        most--;
    return most;
}

void wt__quote(struct buffer *out, struct str text, size_t most)
{
    bool whole = text.len <= most;
    wt__shown_string(out, whole ? text : (struct str){text.ptr, find_cut(text, most)});
    if (!whole)
        wt__buffer_printf(out, "... (%zu bytes)", text.len);
}

static int split_diff_words(struct diff_words *out, struct str text)
{
    for (size_t at = 0; at < text.len;) {
        size_t begin = at;
        while (at < text.len && !wt__is_blank(text.ptr[at]))
            at++;
        while (at < text.len && wt__is_blank(text.ptr[at]))
            at++;
        if (wt__grow((void **)&out->items, &out->capacity, out->count + 1, sizeof *out->items) < 0)
            return -1;
        out->items[out->count++] = (struct str){text.ptr + begin, at - begin};
    }
    return 0;
}

/* Returns the text of words [from, to). */
static struct str join_words(const struct diff_words *words, size_t from, size_t to)
{
    if (from == to)
        return (struct str){"", 0};
    const struct str *last = &words->items[to - 1];
    return (struct str){words->items[from].ptr, (size_t)(last->ptr + last->len - words->items[from].ptr)};
}

struct diff {
    struct diff_words before, after;
    struct buffer *out;
    size_t shown_count, hidden_count;
    uint16_t *table; /* [(n + 1) * (m + 1)] length of the longest common subsequence of the rests */
};

static void add_text_change(struct diff *d, struct str gone, struct str come)
{
    if (d->shown_count == DIFF_PLACES) {
        d->hidden_count++;
        return;
    }
    wt__buffer_text(d->out, d->shown_count++ > 0 ? "; " : "");
    if (gone.len == 0)
        wt__buffer_text(d->out, "now also says ");
    else if (come.len == 0)
        wt__buffer_text(d->out, "no longer says ");
    else
        wt__buffer_text(d->out, "says ");
    wt__quote(d->out, come.len > 0 ? come : gone, DIFF_QUOTED);
    if (gone.len > 0 && come.len > 0) {
        wt__buffer_text(d->out, " instead of ");
        wt__quote(d->out, gone, DIFF_QUOTED);
    }
}

/* Fills the table for the words [a, n) and [b, m). */
static void fill_table(struct diff *d, size_t a, size_t n, size_t b, size_t m)
{
    size_t width = m - b + 1;
    for (size_t i = n - a; i-- > 0;)
        for (size_t j = m - b; j-- > 0;) {
            uint16_t *cell = &d->table[i * width + j], down = cell[width], right = cell[1];
            if (wt__str_equal(d->before.items[a + i], d->after.items[b + j]))
                *cell = (uint16_t)(cell[width + 1] + 1);
            else
                *cell = down > right ? down : right;
        }
}

static void walk_table(struct diff *d, size_t a, size_t n, size_t b, size_t m)
{
    size_t width = m - b + 1, i = 0, j = 0;
    while (i < n - a || j < m - b) {
        size_t gone = i, come = j;
        while (i < n - a || j < m - b) {
            bool both = i < n - a && j < m - b;
            if (both && wt__str_equal(d->before.items[a + i], d->after.items[b + j]))
                break;
            if (j == m - b || (i < n - a && d->table[(i + 1) * width + j] >= d->table[i * width + j + 1]))
                i++;
            else
                j++;
        }
        if (i > gone || j > come)
            add_text_change(d, join_words(&d->before, a + gone, a + i), join_words(&d->after, b + come, b + j));
        while (i < n - a && j < m - b && wt__str_equal(d->before.items[a + i], d->after.items[b + j])) {
            i++;
            j++;
        }
    }
}

static int compare_words(struct diff *d)
{
    size_t a = 0, n = d->before.count, m = d->after.count;
    while (a < n && a < m && wt__str_equal(d->before.items[a], d->after.items[a]))
        a++;
    size_t b = a;
    while (n > a && m > b && wt__str_equal(d->before.items[n - 1], d->after.items[m - 1])) {
        n--;
        m--;
    }
    size_t rows = n - a + 1, columns = m - b + 1;
    if (rows > UINT16_MAX || columns > UINT16_MAX || rows * columns > DIFF_CELLS) {
        add_text_change(d, join_words(&d->before, a, n), join_words(&d->after, b, m));
        return 0;
    }
    d->table = calloc(rows * columns, sizeof *d->table);
    if (!d->table)
        return WT_ENOMEM;
    fill_table(d, a, n, b, m);
    walk_table(d, a, n, b, m);
    return 0;
}

int wt__word_diff(struct buffer *out, struct str before, struct str after)
{
    struct diff d = {.out = out};
    int rc = split_diff_words(&d.before, before) < 0 || split_diff_words(&d.after, after) < 0 ? WT_ENOMEM
                                                                                              : compare_words(&d);
    if (rc == 0 && d.hidden_count > 0)
        wt__buffer_printf(out, "; and %zu more changes", d.hidden_count);
    free(d.table);
    free(d.before.items);
    free(d.after.items);
    return rc;
}
