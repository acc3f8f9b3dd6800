/* cli.h: shared by the verbs: the parsed command line, messages, exit codes, the store, the terminal, and printing of
 * tools, hits and imports.
 *
 * A verb translates its options into options of the library, and results into lines. Everything else belongs in the
 * library. Results go to stdout, everything else to stderr. Untrusted text is escaped on its way to either. */
#ifndef WT_CLI_CLI_H
#define WT_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/memory.h"
#include "cli/options.h"
#include "tenants/tenants.h"
#include "whichtool.h"
#include "wire/members.h"
#include "wire/results.h"

/* Exit codes of the process; options.c explains them. */
enum {
    END_DONE = 0,
    END_NOTHING = 1,
    END_USAGE = 2,
    END_INPUT = 3,
    END_STORE = 4,
    END_MODEL = 5,
    END_NETWORK = 6,
    END_SYSTEM = 7,
    END_ASK = 8,
    END_TIMEOUT = 124,
    END_INTERRUPTED = 130
};

struct cli {
    struct arguments arguments;
    struct arena arena;
    bool json, quiet;
    bool color_out, color_err; /* colours are allowed on stdout, stderr */
    bool tty_out, tty_err;
    size_t width;            /* maximum columns of a line on stdout; 0 for no limit */
    const char *store;       /* path or URL; NULL until wt__cli_find_store; ":memory:" for a private store */
    const char *store_shown; /* name of the store in messages, without a password */
    const struct log *log;   /* receives messages and notes as JSON instead of stderr; NULL unless a server logs JSON */
};

static inline bool wt__has_option(const struct cli *cli, enum option_id id)
{
    return cli->arguments.given[id];
}
static inline const char *wt__option_text(const struct cli *cli, enum option_id id)
{
    return cli->arguments.text[id];
}

/* Prints "whichtool: MESSAGE" on stderr. Returns the exit code of err. */
int wt__cli_fail(const struct cli *cli, const wt_error *err);
/* Works like wt__cli_fail, but returns END_INPUT instead of END_NOTHING: the input was not found. */
int wt__cli_fail_input(const struct cli *cli, const wt_error *err);
/* Prints the message and a pointer to the help. Returns END_USAGE. */
int wt__cli_usage(const struct cli *cli, const char *format, ...) WT_PRINTF(2, 3);
/* Prints the message on stderr. Returns exit_code. */
int wt__cli_report(const struct cli *cli, int exit_code, const char *format, ...) WT_PRINTF(3, 4);

/* Splits the text of a repeatable option into lines, in the cli's arena; *count is 0 if the option is absent. Returns
 * false if out of memory. */
bool wt__option_lines(struct cli *cli, enum option_id id, const char *const **items, size_t *count);

/* Joins the options of experiments as the library reads them (wt_pick_options.experiment), in the cli's arena; NULL if
 * none is given. Returns 0, or an exit code after reporting the error. */
int wt__read_experiment(struct cli *cli, const char **out);

/* Reads an option's number, which must be above 0; *out is unchanged if the option is absent. Returns 0, or an exit
 * code after reporting the error. */
int wt__cli_positive_number(const struct cli *cli, enum option_id id, const char *name, double *out);

/* Prints a line on stderr, unless --quiet is given. */
void wt__cli_note(const struct cli *cli, const char *format, ...) WT_PRINTF(2, 3);

/* Writes the buffer to stdout and empties it. Returns false if the buffer has failed, or if this or an earlier write to
 * stdout has failed. */
bool wt__cli_print(struct buffer *buffer);
/* Flushes stdout. Returns 0, or the errno of the first failed write. */
int wt__cli_finish(void);

/* Opens the store. With OPEN_EXISTING, a missing store is an error. model: NULL for --model, "" for no model. Returns
 * 0, or an exit code after reporting the error. */
enum open_mode { OPEN_EXISTING, OPEN_CREATE };
int wt__cli_open(struct cli *cli, enum open_mode mode, const char *model, wt_engine **engine);
/* Cleanup of an engine variable, for WT_CLEANUP. */
static inline void wt__close_engine(wt_engine **engine)
{
    wt__tenant_engine_close(*engine);
}
/* Returns the path of the file of tenants: that of --tenants, else STORE-tenants.jsonl. Returns 0, or an exit code
 * after reporting the error. */
int wt__cli_tenants_path(struct cli *cli, const char **path);
/* Returns the same path, or NULL if neither --tenants is given nor the default file exists. */
int wt__cli_tenants_in_use(struct cli *cli, const char **path);
/* True if the store is a file that exists, or in a database server. */
bool wt__cli_has_store(const struct cli *cli);
/* Sets cli->store and cli->store_shown. Returns 0, or an exit code after reporting the error. */
int wt__cli_find_store(struct cli *cli);
int wt__cli_fail_empty(struct cli *cli); /* reports an empty store and how to fill it */

/* True if stdin and stderr are terminals, so that the user can be asked. */
bool wt__can_ask(const struct cli *cli);
/* Reads a line of stdin. True if it begins with y or Y. */
bool wt__answer_is_yes(void);

/* Reads all of stdin, at most max bytes. Returns 0, or an exit code after reporting the error. */
int wt__cli_read_stdin(struct cli *cli, size_t max, struct buffer *out);

/* Returns the recipes of wt_recipe_at, then "auto"; NULL after the last. */
const wt_recipe *wt__recipe_listed(size_t index);
/* True if the recipe exists. needs_model may be NULL. */
bool wt__recipe_known(const char *name, size_t len, bool *needs_model);
/* Reports an unknown recipe, with a suggestion. Returns the exit code. */
int wt__recipe_unknown(const struct cli *cli, const char *name, size_t len);

/* ---------------------------------------------------------------- text on a terminal */

/* Descriptions of tools may contain escape sequences that repaint the screen or hide text, so control characters are
 * never printed. */

/* Appends s with control characters and characters that reorder or hide text escaped (\x1b, \u{202e}), and invalid
 * UTF-8 as U+FFFD. TEXT_LINES keeps newlines and tabs; TEXT_LINE collapses white space to one blank. */
enum text_shape { TEXT_LINES, TEXT_LINE };
void wt__text_escape(struct buffer *out, struct str s, enum text_shape shape);

/* Returns the columns of escaped text on a terminal. */
size_t wt__text_width(struct str s);

/* Appends s escaped as one line and cut to `width` columns (0 for no limit), with an ellipsis if cut. Returns the
 * columns used. */
size_t wt__text_cut(struct buffer *out, struct str s, size_t width);
void wt__text_pad(struct buffer *out, size_t columns);

/* Appends s escaped and wrapped at `width` columns (0 for no limit). Lines after the first are indented by `indent`. */
void wt__text_wrap(struct buffer *out, struct str s, size_t indent, size_t width);

/* Makes the text between begin and end bold or dim, if color is true. */
enum text_style { STYLE_BOLD, STYLE_DIM };
void wt__style_begin(struct buffer *out, bool color, enum text_style style);
void wt__style_end(struct buffer *out, bool color);

/* ---------------------------------------------------------------- progress and Ctrl-C */

/* A terminal shows one line, which is redrawn. A pipe or a file gets a new line every half minute. The first Ctrl-C
 * asks the library to stop cleanly. The second Ctrl-C ends the process. */

/* Catches Ctrl-C. Call before a long operation; otherwise Ctrl-C ends the process at once. */
void wt__watch_interrupt(void);
/* Also catches SIGTERM and SIGHUP, for operations with child processes. */
void wt__watch_end_signals(void);
bool wt__interrupted(void);

struct progress_line {
    bool shown;   /* --quiet is absent */
    bool redrawn; /* stderr is a terminal that can erase a line */
    size_t width; /* columns of the line if redrawn */
    const char *phase;
    double started_ms;   /* time of the operation's start */
    double told_ms;      /* time of the last output, or of the start */
    double phase_ms;     /* time of the phase's start */
    uint64_t phase_done; /* value of done at phase_ms */
};

void wt__progress_begin(struct progress_line *line, const struct cli *cli);

/* Shows progress (wt_progress_fn); context is a struct progress_line. Draws after two seconds on a terminal, after half
 * a minute elsewhere. Returns 1 after Ctrl-C. */
int wt__progress_show(void *context, const char *phase, uint64_t done, uint64_t total);

/* Draws text as the line, cut to the terminal, as soon as wt__progress_show would draw. */
void wt__progress_draw(struct progress_line *line, const struct buffer *text);

/* Erases the line, if one is shown. */
void wt__progress_clear(void);

/* Appends a duration such as "12 s", "3 min 5 s" or "2 h 10 min". */
void wt__put_duration(struct buffer *out, double seconds);
/* Appends a number with separators, such as "9,970". */
void wt__put_grouped(struct buffer *out, uint64_t number);
/* Appends a number and a noun: `one` if the number is 1, else `many`. */
void wt__put_count(struct buffer *out, uint64_t number, const char *one, const char *many);

/* ---------------------------------------------------------------- tools and fields */

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
/* Returns the width of the id column that this tool needs, or so_far if that is larger. */
size_t wt__id_width(const struct cli *cli, const wt_tool *tool, size_t so_far);

/* Prints the array of wt_export, or one definition a line with --json. Returns 0, or an exit code after reporting the
 * error. */
int wt__print_export(struct cli *cli, const wt_tool *const *tools, size_t count, const char *format);

/* Prints untrusted text as one line, indented, escaped and wrapped. */
void wt__print_line(const struct cli *cli, struct buffer *out, size_t indent, const char *text);
/* Writes pins (of wt_audit_pins or wt_lock) to the file, frees them, and reports their number as the JSON member or
 * with the noun. Returns 0, or an exit code after reporting the error. */
int wt__write_pins(const struct cli *cli, const char *path, char *pins, const char *member, const char *noun);

/* Prints a label and its value, escaped and wrapped; skipped if the value is empty. */
void wt__print_field(const struct cli *cli, struct buffer *out, const char *label, const char *value);

/* ---------------------------------------------------------------- imports */

/* Fields that wt_add_report and wt_usage_report have in common. */
struct import_outcome {
    double seconds;
    const char *notice; /* NULL if absent */
    const wt_add_issue *const *issues;
    size_t issue_count, skipped;
    size_t taken; /* number of valid items */
    bool cut;     /* true if the source was not read to the end */
};

/* Prints a report with seconds, issues and notice. line: start of the report, a JSON object or a sentence; disposed of.
 * Returns END_INPUT if all items were skipped, END_SYSTEM if printing failed, else END_DONE. */
int wt__print_import(const struct cli *cli, const struct import_outcome *outcome, struct buffer *line);

/* Appends the changes of an import: "1 added, 0 updated, ...". */
void wt__put_changes(struct buffer *out, const wt_add_report *report);

/* Prints the first skipped items on stderr, as "FILE:LINE: POINTER: REASON", and the number of further items. count:
 * number of issues; met: number of skipped items. */
void wt__print_issues(const struct cli *cli, const wt_add_issue *const *issues, size_t count, size_t met);

/* Reports that an interrupted import stored nothing. Returns END_INTERRUPTED. */
int wt__report_stopped_import(const struct cli *cli);

/* Sorts the words of the command line by real path, with "-" last. The order of the words then does not decide which of
 * two tools gets a contested name. Returns false if out of memory. */
bool wt__sort_sources(struct cli *cli);

/* Calls import for the words from `first` on. Continues after a source with bad input or a network error, and stops
 * after other errors. Returns the exit code of the source that stopped the import, else the first exit code that is not
 * 0. */
int wt__import_each_source(struct cli *cli, size_t first, int (*import)(struct cli *, const char *source, void *),
                           void *context);

/* ---------------------------------------------------------------- requests and hits */

/* The request of the command line. */
struct search_input {
    struct buffer request; /* empty if the conversation contains it */
    char *messages;        /* conversation; NULL if absent */
    size_t messages_len;
    const char *const *have; /* [have_count] in the cli's arena */
    size_t have_count;
};

/* Reads the request (the joined words, or stdin for "-") and the conversation of --messages. Returns 0, or an exit code
 * after reporting the error. */
int wt__read_search_input(struct cli *cli, struct search_input *out);
void wt__search_input_dispose(struct search_input *input);

/* Reports the error of a search. Returns the exit code. */
int wt__fail_search(struct cli *cli, wt_error *err);

/* Reads an option's value from 0 to below 1; *out is unchanged if the option is absent. Returns 0, or an exit code
 * after reporting the error. */
int wt__read_share(struct cli *cli, enum option_id id, const char *name, double *out);

/* Reads the filter options; the lists are in the cli's arena. Returns 0, or an exit code after reporting the error. */
int wt__read_filter(struct cli *cli, wt_filter *out);

/* Returns the definition format of --format; NULL if absent, table or json. */
const char *wt__definition_format(const struct cli *cli);

/* Prints the hits in the format of the options. Sets *table if the format was the table, which notes may follow.
 * Returns 0 or an exit code. */
int wt__print_found(struct cli *cli, const struct search_result *found, bool *table);

/* Notes spelling corrections, and words of the request that occur in no tool. */
void wt__note_reading(const struct cli *cli, const struct search_result *found);

/* Explains the sign of kept tools, below a table. */
void wt__note_kept(const struct cli *cli, const struct search_result *found, bool table);

/* Explains the "?" of weak hits below a table, or names the weak hits if the output consists of definitions. advice:
 * how to leave them out, or "". */
void wt__note_weak(const struct cli *cli, const struct search_result *found, bool table, const char *advice);

/* Notes that training is due for recorded use, if stderr is a terminal. */
void wt__note_training_due(struct cli *cli, wt_engine *engine);

/* ---------------------------------------------------------------- verbs */

int wt__cmd_add(struct cli *cli);
int wt__cmd_call(struct cli *cli);
int wt__cmd_check(struct cli *cli);
int wt__cmd_eval(struct cli *cli);
int wt__cmd_find(struct cli *cli);
int wt__cmd_generate(struct cli *cli);
int wt__cmd_help(struct cli *cli);
int wt__cmd_list(struct cli *cli);
int wt__cmd_mcp(struct cli *cli);
int wt__cmd_model(struct cli *cli);
int wt__cmd_pick(struct cli *cli);
int wt__cmd_publish(struct cli *cli);
int wt__cmd_remove(struct cli *cli);
int wt__cmd_rename(struct cli *cli);
int wt__cmd_serve(struct cli *cli);
int wt__cmd_tenants(struct cli *cli);
int wt__cmd_show(struct cli *cli);
int wt__cmd_status(struct cli *cli);
int wt__cmd_distil(struct cli *cli);
int wt__cmd_train(struct cli *cli);
int wt__cmd_usage(struct cli *cli);
/* True if the action of `usage`, such as "add", accepts the option. */
bool wt__usage_allows(const char *action, enum option_id option);
int wt__cmd_vectors(struct cli *cli);
int wt__cmd_version(struct cli *cli);

int wt__mcp_approve(struct cli *cli);
int wt__mcp_lock(struct cli *cli);
int wt__mcp_forget(struct cli *cli);

int wt__mcp_init(struct cli *cli);
int wt__mcp_undo(struct cli *cli);

/* Writes candidates for the last word. words: the words of the line after "whichtool", where an empty last word means
 * that a new word begins. The first line of the output is "files", "folders" or "stores" if the shell should complete,
 * or "words", followed by one candidate a line, some with a tab and a description. Candidates that the command would
 * refuse are not offered. Candidates are untrusted text without control characters. */
void wt__complete_line(struct cli *cli, const char *const *words, size_t count, struct buffer *out);

#endif
