/* output.h: tools as table rows and in the forms of definitions; their JSON is wire/members.h. */
#ifndef WT_CLI_OUTPUT_H
#define WT_CLI_OUTPUT_H

#include "cli/cli.h"
#include "wire/members.h"

/* A tool's row in a table: `lead` (already measured, escaped) and its columns, id, description. id_width: of the
 * table's id column, from wt__id_width of every tool. Where columns are few the description gives way, to a line of its
 * own and then by its end; then the provider's end; the name is whole always, on several lines if need be. */
struct row {
    const char *lead;
    size_t lead_width;
    const wt_tool *tool;
};
/* So few columns that every tool takes two lines. */
bool wt__is_narrow(const struct cli *cli);
void wt__tool_row(const struct cli *cli, struct buffer *out, const struct row *row, size_t id_width);
size_t wt__id_width(const struct cli *cli, const wt_tool *tool, size_t so_far);

/* wt_export's array as it is, or one definition a line with --json. 0, or an exit code with the reason told. */
int wt__print_export(struct cli *cli, const wt_tool *const *tools, size_t count, const char *format);

/* Other people's text as one line, after so many blanks, escaped and broken where the terminal ends. */
void wt__print_line(const struct cli *cli, struct buffer *out, size_t indent, const char *text);
/* Puts pins (wt_audit_pins, wt_lock) into the file, and tells how many: by member and noun ("tool"). Takes pins. 0, or
 * an exit code with the reason told. */
int wt__write_pins(const struct cli *cli, const char *path, char *pins, const char *member, const char *noun);

/* A line of a label and what it has, escaped and broken where the terminal ends; nothing for an empty value. */
void wt__print_field(const struct cli *cli, struct buffer *out, const char *label, const char *value);

#endif
