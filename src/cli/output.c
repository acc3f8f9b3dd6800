#include "cli/output.h"

#include "base/file.h"
#include "base/json.h"
#include "cli/text.h"
#include "text/shown.h"

enum {
    WIDEST_ID = 44, /* maximum columns of the id column, unless a name is longer */
    GAP = 2,
    LEAST_DESCRIPTION = 24, /* minimum columns of a description beside the id */
    MARKED = 2              /* columns of a provider cut to its mark, and its slash */
};

/* Returns the columns of the escaped text on one line. */
static size_t shown_width(const char *text)
{
    struct buffer escaped = {0};
    wt__text_escape(&escaped, wt__str(text), TEXT_LINE);
    size_t width = wt__text_width(wt__buffer_view(&escaped));
    wt__buffer_dispose(&escaped);
    return width;
}

static size_t max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

size_t wt__id_width(const struct cli *cli, const wt_tool *tool, size_t so_far)
{
    size_t width = shown_width(tool->id);
    if (width > WIDEST_ID)
        width =
            cli->width == 0 ? WIDEST_ID : max_size(WIDEST_ID, shown_width(tool->name) + (*tool->provider ? MARKED : 0));
    return max_size(width, so_far);
}

bool wt__is_narrow(const struct cli *cli)
{
    enum { NARROW = 60 };
    return cli->width && cli->width < NARROW;
}

/* Prints the id in `width` columns (0 for no limit) without cutting the name. indent: indent of further lines. Returns
 * the columns of the last line. */
static size_t put_tool_id(struct buffer *out, const wt_tool *tool, size_t width, size_t indent)
{
    size_t name = shown_width(tool->name), whole = shown_width(tool->id);
    if (width == 0 || whole <= width)
        return wt__text_cut(out, wt__str(tool->id), 0);
    if (name > width) {
        wt__text_wrap(out, wt__str(tool->name), indent, indent + width);
        return width;
    }
    if (!*tool->provider || name + MARKED > width)
        return wt__text_cut(out, wt__str(tool->name), 0);
    size_t provider = wt__text_cut(out, wt__str(tool->provider), width - name - 1);
    wt__buffer_char(out, '/');
    return provider + 1 + wt__text_cut(out, wt__str(tool->name), 0);
}

void wt__put_tool_row(const struct cli *cli, struct buffer *out, const struct list_row *row, size_t id_width)
{
    size_t room = cli->width > row->lead_width + 8 ? cli->width - row->lead_width : 8;
    bool two_lines = cli->width && (wt__is_narrow(cli) || room < id_width + GAP + LEAST_DESCRIPTION);
    struct str description = wt__str(*row->tool->description ? row->tool->description : row->tool->title);

    wt__style_begin(out, cli->color_out, STYLE_DIM);
    wt__buffer_text(out, row->lead);
    wt__style_end(out, cli->color_out);
    wt__style_begin(out, cli->color_out, STYLE_BOLD);
    size_t taken = put_tool_id(out, row->tool, cli->width == 0 ? 0 : two_lines ? room : id_width, row->lead_width);
    wt__style_end(out, cli->color_out);
    if (description.len > 0 && two_lines) {
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

int wt__write_pins(const struct cli *cli, const char *path, char *pins, const char *member, const char *noun)
{
    struct buffer out = {0};
    size_t lines = 0;
    wt_error err;
    int rc = wt__file_replace(path, pins, strlen(pins), &err);
    for (const char *at = pins; (at = strchr(at, '\n')); at++)
        lines++;
    wt_string_free(pins);
    if (rc < 0)
        return wt__cli_fail_input(cli, &err);
    lines -= lines > 0; /* the first line is a header */
    if (cli->json) {
        wt__buffer_char(&out, '{');
        wt__json_text(&out, "path", path);
        wt__json_count(&out, member, lines);
        wt__buffer_text(&out, "}\n");
    } else {
        wt__buffer_printf(&out, "%zu %s%s pinned in %s.\n", lines, noun, lines == 1 ? "" : "s", path);
    }
    return wt__cli_print(&out) ? 0 : END_SYSTEM;
}

void wt__print_line(const struct cli *cli, struct buffer *out, size_t indent, const char *text)
{
    struct buffer escaped = {0};
    wt__text_escape(&escaped, wt__str(text), TEXT_LINE);
    wt__text_pad(out, indent);
    wt__text_wrap(out, wt__buffer_view(&escaped), indent, cli->width);
    wt__buffer_char(out, '\n');
    out->failed |= escaped.failed;
    wt__buffer_dispose(&escaped);
}

void wt__print_field(const struct cli *cli, struct buffer *out, const char *label, const char *value)
{
    enum { LABEL = 12 };
    if (!*value)
        return;
    wt__style_begin(out, cli->color_out, STYLE_DIM);
    wt__buffer_text(out, label);
    wt__style_end(out, cli->color_out);
    wt__text_pad(out, LABEL - strlen(label));
    wt__text_wrap(out, wt__str(value), LABEL, cli->width);
    wt__buffer_char(out, '\n');
}
