#include "learn/made_up.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/rng.h"

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* A byte that goes on with a character of UTF-8. */
static bool is_inside(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

/* Where to cut a text of more than MADE_UP_BYTES: behind a word, or else between characters. */
static size_t place_to_cut(struct str text)
{
    size_t end = MADE_UP_BYTES;
    while (end > 0 && !is_blank(text.ptr[end]))
        end--;
    if (end > 0)
        return end;
    for (end = MADE_UP_BYTES; end > 0 && is_inside(text.ptr[end]);)
        end--;
    return end;
}

void wt__made_up_part(struct str description, struct buffer *out)
{
    struct str text = wt__str_trim(description);
    if (text.len > MADE_UP_BYTES)
        text = wt__str_trim((struct str){text.ptr, place_to_cut(text)});
    while (text.len > 0 && text.ptr[text.len - 1] == '.')
        text.len--;
    if (text.len < MADE_UP_LEAST)
        return;
    for (size_t i = 0; i < text.len; i++)
        if (!is_blank(text.ptr[i]))
            wt__buffer_char(out, text.ptr[i]);
        else if (!is_blank(text.ptr[i - 1]))
            wt__buffer_char(out, ' ');
}

/* ---------------------------------------------------------------- requests */

/* Tools with something to say, those of a provider together. */
struct hall {
    struct speaker {
        int64_t provider;
        uint32_t row;
    } * tools; /* [count] ascending */
    struct company {
        size_t first, count; /* in tools */
    } * companies;           /* [company_count] */
    uint32_t *order;         /* [company_count] */
    size_t count, company_count;
};

static int ascending(const void *a, const void *b)
{
    const struct speaker *x = a, *y = b;
    int order = (x->provider > y->provider) - (x->provider < y->provider);
    return order ? order : (x->row > y->row) - (x->row < y->row);
}

static void dispose(struct hall *hall)
{
    free(hall->tools);
    free(hall->companies);
    free(hall->order);
}

static int gather(const struct made_up *m, struct hall *hall, struct rng *rng, wt_error *err)
{
    hall->tools = wt__alloc_array(m->tools, sizeof *hall->tools);
    hall->companies = wt__alloc_array(m->tools, sizeof *hall->companies);
    hall->order = wt__alloc_array(m->tools, sizeof *hall->order);
    if (!hall->tools || !hall->companies || !hall->order)
        return wt__fail_nomem(err);
    for (size_t row = 0; row < m->tools; row++)
        if (m->parts[row].len > 0)
            hall->tools[hall->count++] = (struct speaker){m->providers[row], (uint32_t)row};
    if (hall->count > 0)
        qsort(hall->tools, hall->count, sizeof *hall->tools, ascending);
    for (size_t i = 0; i < hall->count; i++) {
        if (i == 0 || hall->tools[i].provider != hall->tools[i - 1].provider)
            hall->companies[hall->company_count++].first = i;
        struct company *company = &hall->companies[hall->company_count - 1];
        company->count = i + 1 - company->first;
    }
    if (hall->company_count > 0)
        wt__rng_draw(rng, hall->order, hall->company_count, hall->company_count - 1);
    return 0;
}

/* One tool in one of four requests, three in another, else two; no more than the provider has. */
static size_t draw_rows(const struct hall *hall, const struct company *company, struct rng *rng,
                        uint32_t rows[MADE_UP_TOOLS])
{
    static const size_t counts[] = {1, 2, 2, MADE_UP_TOOLS};
    size_t wanted = counts[wt__rng_below(rng, sizeof counts / sizeof *counts)], n = 0;
    if (wanted > company->count)
        wanted = company->count;
    while (n < wanted) {
        uint32_t row = hall->tools[company->first + wt__rng_below(rng, company->count)].row;
        size_t i = 0;
        while (i < n && rows[i] != row)
            i++;
        if (i == n)
            rows[n++] = row;
    }
    return n;
}

int wt__made_up_each(const struct made_up *m, made_up_visit visit, void *context, wt_error *err)
{
    struct hall hall = {0};
    struct buffer text = {0};
    struct rng rng;
    wt__rng_seed(&rng, m->seed);
    int rc = gather(m, &hall, &rng, err);
    for (size_t i = 0; rc == 0 && hall.company_count > 0 && i < m->wanted; i++) {
        uint32_t rows[MADE_UP_TOOLS];
        size_t count = draw_rows(&hall, &hall.companies[hall.order[i % hall.company_count]], &rng, rows);
        wt__buffer_clear(&text);
        for (size_t t = 0; t < count; t++) {
            wt__buffer_text(&text, t ? " Also, " : "");
            wt__buffer_str(&text, m->parts[rows[t]]);
            wt__buffer_char(&text, '.');
        }
        rc = text.failed ? wt__fail_nomem(err) : visit(context, wt__buffer_view(&text), rows, count);
    }
    wt__buffer_dispose(&text);
    dispose(&hall);
    return rc;
}
