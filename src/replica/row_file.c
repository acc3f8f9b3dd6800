#include "replica/row_file.h"

#include <string.h>

void wt__row_record(struct buffer *out, enum row_change change, unsigned table, struct str content)
{
    for (int i = 0; i < 4; i++)
        wt__buffer_char(out, (char)(content.len >> 8 * i));
    wt__buffer_char(out, (char)change);
    wt__buffer_char(out, (char)table);
    wt__buffer_str(out, content);
}

/* Returns the length of the content of the record at the start. at: at least ROW_RECORD_BYTES. */
static size_t read_record_length(const char *at)
{
    const unsigned char *head = (const unsigned char *)at;
    return head[0] | (size_t)head[1] << 8 | (size_t)head[2] << 16 | (size_t)head[3] << 24;
}

size_t wt__row_file_prefix(struct str bytes)
{
    size_t at = 0;
    while (bytes.len - at >= ROW_RECORD_BYTES) {
        size_t len = read_record_length(bytes.ptr + at);
        if (len > ROW_BYTES_MAX)
            return bytes.len;
        if (len > bytes.len - at - ROW_RECORD_BYTES)
            break;
        at += ROW_RECORD_BYTES + len;
    }
    return at;
}

int wt__row_file_each(struct str bytes, row_record_visit visit, void *context, wt_error *err)
{
    size_t at = 0;
    while (at < bytes.len) {
        const unsigned char *head = (const unsigned char *)bytes.ptr + at;
        size_t left = bytes.len - at;
        if (left < ROW_RECORD_BYTES)
            return wt__fail(err, WT_EFORMAT, "the record at byte %zu is truncated", at);
        size_t len = read_record_length(bytes.ptr + at);
        if (len > ROW_BYTES_MAX || len > left - ROW_RECORD_BYTES || (head[4] != ROW_PUT && head[4] != ROW_DELETE))
            return wt__fail(err, WT_EFORMAT, "the record at byte %zu is malformed", at);
        WT_TRY(visit(context, (enum row_change)head[4], head[5], (struct str){bytes.ptr + at + ROW_RECORD_BYTES, len}));
        at += ROW_RECORD_BYTES + len;
    }
    return 0;
}
