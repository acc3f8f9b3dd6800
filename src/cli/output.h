/* output.h: tools and hits as JSON and as table rows. */
#ifndef WT_CLI_OUTPUT_H
#define WT_CLI_OUTPUT_H

#include "cli/cli.h"

/* "key": value, with a comma before it unless it is an object's first member. */
void wt__json_key(struct buffer *out, const char *key);
void wt__json_text(struct buffer *out, const char *key, const char *value);
void wt__json_count(struct buffer *out, const char *key, uint64_t value);
void wt__json_number(struct buffer *out, const char *key, double value); /* null when it is not finite */
void wt__json_text_or_null(struct buffer *out, const char *key, const char *value);

/* JSON text that the library gave, on one line; a string when it is no JSON. */
void wt__json_raw(struct buffer *out, const char *key, const char *json);

/* An array of strings. */
void wt__json_texts(struct buffer *out, const char *key, const char *const *items, size_t count);

/* "language_model": what it was asked and what that cost; null when nothing was. */
struct model_cost {
    size_t questions;
    uint64_t prompt_tokens, completion_tokens;
    double ms;
};
void wt__json_language_model(struct buffer *out, const struct model_cost *cost);

/* The members that every JSON form of a tool has, without the braces. */
void wt__json_tool(struct buffer *out, const wt_tool *tool);

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

/* A line of a label and what it has, escaped and broken where the terminal ends; nothing for an empty value. */
void wt__print_field(const struct cli *cli, struct buffer *out, const char *label, const char *value);

#endif
