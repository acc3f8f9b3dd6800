/* output.h: prints tools as table rows and as definitions; wire/members.h has their JSON. */
#ifndef WT_CLI_OUTPUT_H
#define WT_CLI_OUTPUT_H

#include "cli/cli.h"
#include "wire/members.h"

/* A tool's row in a table: lead (escaped, of lead_width columns), id, description. If there are too few columns, the
 * description moves to a line of its own and is cut, then the provider is cut. The name is never cut, but may be broken
 * into several lines. */
struct list_row {
    const char *lead;
    size_t lead_width;
    const wt_tool *tool;
};
/* True if the terminal is so narrow that each tool takes two lines. */
bool wt__is_narrow(const struct cli *cli);
/* Appends the row. id_width: width of the id column, the maximum of wt__id_width over all tools. */
void wt__put_tool_row(const struct cli *cli, struct buffer *out, const struct list_row *row, size_t id_width);
size_t wt__id_width(const struct cli *cli, const wt_tool *tool, size_t so_far);

/* Prints the array of wt_export, or one definition a line with --json. Returns 0, or an exit code after reporting the
 * error. */
int wt__print_export(struct cli *cli, const wt_tool *const *tools, size_t count, const char *format);

/* Prints untrusted text as one line, indented, escaped and wrapped. */
void wt__print_line(const struct cli *cli, struct buffer *out, size_t indent, const char *text);
/* Writes pins (of wt_audit_pins or wt_lock) to the file, frees them, and reports their number as the JSON member or
 * with the noun. Returns 0, or an exit code after reporting the error. */
int wt__write_pins(const struct cli *cli, const char *path, char *pins, const char *member, const char *noun);

/* Prints a label and its value, escaped and wrapped; prints nothing if the value is empty. */
void wt__print_field(const struct cli *cli, struct buffer *out, const char *label, const char *value);

#endif
