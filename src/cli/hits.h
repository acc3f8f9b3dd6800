/* hits.h: shared by find, pick and call: reading the request, and printing hits. */
#ifndef WT_CLI_HITS_H
#define WT_CLI_HITS_H

#include "cli/cli.h"
#include "wire/results.h"

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

/* Reads an option's value from 0 to below 1; *out stays if the option is absent. Returns 0, or an exit code after
 * reporting the error. */
int wt__read_share(struct cli *cli, enum option_id id, const char *name, double *out);

/* Reads the filter options; the lists are in the cli's arena. Returns 0, or an exit code after reporting the error. */
int wt__read_filter(struct cli *cli, wt_filter *out);

/* Returns the definition format of --format; NULL if absent, table or json. */
const char *wt__definition_format(const struct cli *cli);

/* Prints the hits in the format of the options. Sets *table if the format was the table, which notes may follow.
 * Returns 0 or an exit code. */
int wt__print_found(struct cli *cli, const struct found *found, bool *table);

/* Notes spelling corrections, and words of the request that occur in no tool. */
void wt__note_reading(const struct cli *cli, const struct found *found);

/* Explains the sign of kept tools, below a table. */
void wt__note_kept(const struct cli *cli, const struct found *found, bool table);

/* Notes untrained recorded use when it is due, if stderr is a terminal. */
void wt__note_training_due(struct cli *cli, wt_engine *engine);

/* Appends PTR's trace (wt_picked.trace) as text. */
void wt__put_trace(const struct cli *cli, struct buffer *out, const char *trace);

#endif
