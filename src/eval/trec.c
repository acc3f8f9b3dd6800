#include "eval/trec.h"

#include <math.h>
#include <stdbool.h>

void wt__trec_escape(struct buffer *out, struct str id)
{
    for (size_t i = 0; i < id.len; i++) {
        unsigned char c = (unsigned char)id.ptr[i];
        if (c <= ' ' || c == '%' || c == 0x7f)
            wt__buffer_printf(out, "%%%02X", c);
        else
            wt__buffer_char(out, (char)c);
    }
}

void wt__trec_unescape(char *field)
{
    char *out = field;
    while (*field) {
        int high = *field == '%' ? wt__hex_digit(field[1]) : -1, low = high >= 0 ? wt__hex_digit(field[2]) : -1;
        bool escaped = low >= 0 && 16 * high + low > 0;
        *out++ = escaped ? (char)(16 * high + low) : *field;
        field += escaped ? 3 : 1;
    }
    *out = '\0';
}

void wt__trec_run_line(struct buffer *out, struct str query, struct str tool, size_t rank, double score, float *last,
                       const char *recipe)
{
    float written = (float)score;
    if (!(written < *last))
        written = nextafterf(*last, -INFINITY);
    *last = written;
    wt__trec_escape(out, query);
    wt__buffer_text(out, " Q0 ");
    wt__trec_escape(out, tool);
    wt__buffer_printf(out, " %zu %.9g ", rank, (double)written);
    wt__trec_escape(out, wt__str(recipe));
    wt__buffer_char(out, '\n');
}

void wt__trec_qrels_line(struct buffer *out, struct str query, const struct judgement *judgement)
{
    wt__trec_escape(out, query);
    wt__buffer_text(out, " 0 ");
    wt__trec_escape(out, judgement->tool);
    wt__buffer_printf(out, " %d\n", judgement->gain);
}
