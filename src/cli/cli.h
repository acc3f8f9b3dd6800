/* cli.h: shared by the verbs: the parsed command line, the terminal, messages, exit codes, and the store.
 *
 * A verb translates options into those of the library, and results into lines. Everything else belongs in the library.
 * Results go to stdout, everything else to stderr. Untrusted text is escaped by cli/text.h on its way to either. */
#ifndef WT_CLI_CLI_H
#define WT_CLI_CLI_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "cli/parse.h"
#include "whichtool.h"

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
    size_t width;      /* maximum columns of a line on stdout; 0 for no limit */
    const char *store; /* path; NULL until wt__cli_open, or ":memory:" if the verb needs no store */
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

/* Reads an option's number, which must be above 0; *out stays if the option is absent. Returns 0, or an exit code after
 * reporting the error. */
int wt__cli_positive_number(const struct cli *cli, enum option_id id, const char *name, double *out);
/* Reads --dense-weight W or W,BRIEF in the same way; *brief stays without BRIEF. */
int wt__cli_dense_weight(const struct cli *cli, double *usual, double *brief);

/* Prints a line on stderr, unless --quiet is given. */
void wt__cli_note(const struct cli *cli, const char *format, ...) WT_PRINTF(2, 3);

/* Writes the buffer to stdout and empties it. Returns false if the reader is gone or the buffer has failed. */
bool wt__cli_print(struct buffer *buffer);
/* Flushes stdout. Returns 0, or the errno of the first failed write. */
int wt__cli_finish(void);

/* Makes the text between begin and end bold or dim, if color is true. */
enum text_style { STYLE_BOLD, STYLE_DIM };
void wt__style_begin(struct buffer *out, bool color, enum text_style style);
void wt__style_end(struct buffer *out, bool color);

/* Opens the store. With OPEN_EXISTING, a missing store is reported as empty. model: NULL for --model, "" for no model.
 * Returns 0, or an exit code after reporting the error. */
enum open_mode { OPEN_EXISTING, OPEN_CREATE };
int wt__cli_open(struct cli *cli, enum open_mode mode, const char *model, wt_engine **engine);
/* Sets cli->store. Returns 0, or an exit code after reporting the error. */
int wt__cli_find_store(struct cli *cli);
int wt__cli_fail_empty(struct cli *cli); /* reports an empty store and how to fill it */

/* Reads all of stdin, at most max bytes. Returns 0, or an exit code after reporting the error. */
int wt__cli_read_stdin(struct cli *cli, size_t max, struct buffer *out);

/* Returns the recipes of wt_recipe_at, then "auto"; NULL after the last. */
const wt_recipe *wt__recipe_listed(size_t index);
/* True if the recipe exists. needs_model may be NULL. */
bool wt__recipe_known(const char *name, size_t len, bool *needs_model);
/* Reports an unknown recipe, with a suggestion. Returns the exit code. */
int wt__recipe_unknown(const struct cli *cli, const char *name, size_t len);

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
int wt__cmd_remove(struct cli *cli);
int wt__cmd_rename(struct cli *cli);
int wt__cmd_serve(struct cli *cli);
int wt__cmd_show(struct cli *cli);
int wt__cmd_status(struct cli *cli);
int wt__cmd_distil(struct cli *cli);
int wt__cmd_train(struct cli *cli);
int wt__cmd_usage(struct cli *cli);
/* True if the action of `usage`, such as "add", accepts the option. */
bool wt__usage_allows(const char *action, enum option_id option);
int wt__cmd_vectors(struct cli *cli);
int wt__cmd_version(struct cli *cli);

#endif
