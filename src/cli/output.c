#include "cli/output.h"

#include <math.h>
#include <stdio.h>

#include "base/json.h"
#include "cli/text.h"
#include "text/shown.h"

enum {
    WIDEST_ID = 44, /* columns of the id column, except where nothing is cut */
    GAP = 2
};

void wt__json_key(struct buffer *out, const char *key)
{
    if (out->len > 0 && out->ptr[out->len - 1] != '{')
        wt__buffer_char(out, ',');
    wt__shown_string(out, wt__str(key));
    wt__buffer_char(out, ':');
}

void wt__json_text(struct buffer *out, const char *key, const char *value)
{
    wt__json_key(out, key);
    wt__shown_string(out, wt__str(value));
}

void wt__json_count(struct buffer *out, const char *key, uint64_t value)
{
    wt__json_key(out, key);
    wt__buffer_printf(out, "%llu", (unsigned long long)value);
}

void wt__json_number(struct buffer *out, const char *key, double value)
{
    wt__json_key(out, key);
    if (isfinite(value))
        wt__buffer_printf(out, "%.9g", value);
    else
        wt__buffer_text(out, "null");
}

void wt__json_raw(struct buffer *out, const char *key, const char *json)
{
    json_t *value = NULL;
    wt__json_key(out, key);
    if (wt__json_parse(&value, json, strlen(json), NULL) == 0)
        wt__shown_value(out, value);
    else
        wt__shown_string(out, wt__str(json));
    json_decref(value);
}

void wt__json_tool(struct buffer *out, const wt_tool *tool)
{
    wt__json_text(out, "id", tool->id);
    wt__json_text(out, "provider", tool->provider);
    wt__json_text(out, "name", tool->name);
    wt__json_text(out, "export_name", tool->export_name);
    wt__json_text(out, "title", tool->title);
    wt__json_text(out, "description", tool->description);
    wt__json_text(out, "category", tool->category);
    wt__json_text(out, "source_id", tool->source_id);
    wt__json_text(out, "format", tool->format);
    wt__json_text(out, "sha256", tool->sha256);
    wt__json_raw(out, "schema", tool->schema);
}

size_t wt__id_width(const struct cli *cli, const wt_tool *tool, size_t so_far)
{
    struct buffer id = {0};
    wt__text_escape(&id, wt__str(tool->id), TEXT_LINE);
    size_t width = wt__text_width(wt__buffer_view(&id));
    size_t most = cli->width == 0 || cli->width * 2 / 5 > WIDEST_ID ? WIDEST_ID : cli->width * 2 / 5;
    wt__buffer_dispose(&id);
    if (width > most)
        width = most;
    return width > so_far ? width : so_far;
}

bool wt__is_narrow(const struct cli *cli)
{
    enum { NARROW = 60 };
    return cli->width && cli->width < NARROW;
}

void wt__tool_row(const struct cli *cli, struct buffer *out, const struct row *row, size_t id_width)
{
    bool narrow = wt__is_narrow(cli);
    size_t room = cli->width > row->lead_width + 8 ? cli->width - row->lead_width : 8;
    struct str description = wt__str(*row->tool->description ? row->tool->description : row->tool->title);

    wt__style_begin(out, cli->color_out, STYLE_DIM);
    wt__buffer_text(out, row->lead);
    wt__style_end(out, cli->color_out);
    wt__style_begin(out, cli->color_out, STYLE_BOLD);
    size_t taken = wt__text_cut(out, wt__str(row->tool->id), cli->width == 0 ? 0 : narrow ? room : id_width);
    wt__style_end(out, cli->color_out);
    if (description.len > 0 && narrow) {
        wt__buffer_char(out, '\n');
        wt__text_pad(out, row->lead_width);
        wt__text_cut(out, description, room);
    } else if (description.len > 0) {
        wt__text_pad(out, (taken < id_width ? id_width - taken : 0) + GAP);
        wt__text_cut(out, description, cli->width ? room - id_width - GAP : 0);
    }
    wt__buffer_char(out, '\n');
}

int wt__print_export(struct cli *cli, const wt_tool *const *tools, size_t count, const char *format)
{
    char *text = NULL;
    wt_error err;
    if (wt_export(tools, count, format, &text, &err) < 0)
        return wt__cli_fail(cli, &err);
    struct buffer out = {0};
    json_t *array = NULL, *item;
    size_t index;
    if (cli->json && wt__json_parse(&array, text, strlen(text), NULL) == 0 && json_is_array(array)) {
        json_array_foreach(array, index, item)
        {
            wt__shown_value(&out, item);
            wt__buffer_char(&out, '\n');
        }
    } else {
        wt__buffer_text(&out, text);
        wt__buffer_char(&out, '\n');
    }
    json_decref(array);
    wt_string_free(text);
    return wt__cli_print(&out) ? 0 : END_SYSTEM;
}
