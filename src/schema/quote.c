/* quote.c: truncates at character boundaries, then escapes. */
#include "schema/quote.h"

#include "schema/limits.h"
#include "text/shown.h"

/* Returns the start of a text, up to `most` bytes of whole characters. */
static struct str cut_text(struct str text, size_t most)
{
    if (text.len <= most)
        return text;
    while (most > 0 && ((unsigned char)text.ptr[most] & 0xC0) == 0x80)
        most--;
    return (struct str){text.ptr, most};
}

/* Callback of json_dump_callback. Keeps one byte more than is shown, to detect a longer value, then stops the dump. */
static int collect_json(const char *bytes, size_t len, void *buffer)
{
    struct buffer *out = buffer;
    size_t room = MESSAGE_VALUE_BYTES + 1 - out->len;
    wt__buffer_append(out, bytes, len < room ? len : room);
    return out->failed || len >= room ? -1 : 0;
}

void wt__quote_value(struct buffer *out, const json_t *value)
{
    struct buffer json = {0};
    if (json_is_string(value)) {
        wt__quote_text(out, (struct str){json_string_value(value), json_string_length(value)}, MESSAGE_VALUE_BYTES);
        return;
    }
    int rc = json_dump_callback(value, collect_json, &json, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    struct str shown = cut_text(wt__buffer_view(&json), MESSAGE_VALUE_BYTES);
    wt__shown_json(out, shown);
    if (shown.len < json.len)
        wt__buffer_text(out, "...");
    out->failed |= json.failed || (rc < 0 && json.len <= MESSAGE_VALUE_BYTES);
    wt__buffer_dispose(&json);
}

void wt__quote_text(struct buffer *out, struct str text, size_t most)
{
    struct str shown = cut_text(text, most);
    wt__shown_string(out, shown);
    if (shown.len == text.len || out->failed || out->len == 0)
        return;
    wt__buffer_cut(out, out->len - 1); /* The dots go inside the quotes. */
    wt__buffer_text(out, "...\"");
}

void wt__quote_plain(struct buffer *out, struct str text, size_t most)
{
    struct buffer quoted = {0};
    wt__quote_text(&quoted, text, most);
    if (!quoted.failed)
        wt__buffer_append(out, quoted.ptr + 1, quoted.len - 2);
    out->failed |= quoted.failed;
    wt__buffer_dispose(&quoted);
}
