/* cli.h: what the verbs share: the parsed command line, the terminal, how failures are told and end the process.
 *
 * A verb translates: options into the library's, its answer into lines. What another caller would want too belongs
 * into the library. Results go to stdout, everything else to stderr; text that came from outside passes through
 * cli/text.h on its way to either. */
#ifndef WT_CLI_CLI_H
#define WT_CLI_CLI_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "cli/parse.h"
#include "whichtool.h"

/* The process's exit codes; the words stand in options.c. */
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
    bool color_out, color_err; /* whether colours may be sent there */
    bool tty_out, tty_err;
    size_t width;      /* columns that a line on stdout may take; 0: any number */
    const char *store; /* path; NULL until wt__cli_open, but in a verb that needs no store: ":memory:" */
};

/* Short ways to the arguments. */
static inline bool wt__given(const struct cli *cli, enum option_id id)
{
    return cli->arguments.given[id];
}
static inline const char *wt__text_of(const struct cli *cli, enum option_id id)
{
    return cli->arguments.text[id];
}

/* "whichtool: ..." on stderr; returns the exit code of err, or of the usage. */
int wt__cli_fail(const struct cli *cli, const wt_error *err);
/* The same, where what is not there was named as input: an answer that holds nothing has another code. */
int wt__cli_fail_input(const struct cli *cli, const wt_error *err);
int wt__cli_usage(const struct cli *cli, const char *format, ...) WT_PRINTF(2, 3);
int wt__cli_say(const struct cli *cli, int exit_code, const char *format, ...) WT_PRINTF(3, 4);

/* The lines of an option that repeats, in the cli's arena; none where it is not given. False: memory is out. */
bool wt__read_lines(struct cli *cli, enum option_id id, const char *const **items, size_t *count);

/* The number over 0 that an option was given, or *out as it was. 0, or an exit code with the reason told. */
int wt__cli_real(const struct cli *cli, enum option_id id, const char *name, double *out);
/* The same of --dense-weight W or W,BRIEF; without BRIEF *brief is as it was. */
int wt__cli_dense_weight(const struct cli *cli, double *usual, double *brief);

/* A line on stderr unless --quiet. */
void wt__cli_note(const struct cli *cli, const char *format, ...) WT_PRINTF(2, 3);

/* Writes the buffer to stdout and empties it. False when nobody reads any more, or memory was out. */
bool wt__cli_print(struct buffer *buffer);
/* Sends what is left to stdout. 0, or the errno of the first write that failed. */
int wt__cli_finish(void);

/* Colours: text between begin and end is bold or dim on a terminal that can. */
enum style { STYLE_BOLD, STYLE_DIM };
void wt__style_begin(struct buffer *out, bool color, enum style style);
void wt__style_end(struct buffer *out, bool color);

/* Opens the store. Without OPEN_CREATE a store that is not there is told as an empty one. model: NULL for what
 * --model says, "" for none. 0, or an exit code with the reason told. */
enum open_mode { OPEN_EXISTING, OPEN_CREATE };
int wt__cli_open(struct cli *cli, enum open_mode mode, const char *model, wt_engine **engine);
/* Finds cli->store. 0, or an exit code with the reason told. */
int wt__cli_store(struct cli *cli);
int wt__cli_empty(struct cli *cli); /* tells how to fill the store */

/* All of stdin, at most max bytes. 0, or an exit code with the reason told. */
int wt__cli_read_stdin(struct cli *cli, size_t max, struct buffer *out);

/* Those of wt_recipe_at, and "auto"; NULL behind the last. */
const wt_recipe *wt__recipe_listed(size_t index);
/* Whether it is one of those. needs_model may be NULL. */
bool wt__recipe_known(const char *name, size_t len, bool *needs_model);
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
bool wt__usage_allows(const char *action, enum option_id option); /* one of "usage add", ... */
int wt__cmd_vectors(struct cli *cli);
int wt__cmd_version(struct cli *cli);

#endif
