/* hits.h: what find and pick share: the request from the command line, and hits on the way out. */
#ifndef WT_CLI_HITS_H
#define WT_CLI_HITS_H

#include "cli/cli.h"
#include "wire/results.h"

/* What is asked for. */
struct asked {
    struct buffer request; /* empty where the conversation has it */
    char *messages;        /* NULL: none */
    size_t messages_len;
    const char *const *have; /* [have_count] in the cli's arena */
    size_t have_count;
};

/* The words joined, or stdin for "-", and the options' conversation. 0, or an exit code with the reason told. */
int wt__read_asked(struct cli *cli, struct asked *out);
void wt__asked_dispose(struct asked *asked);

/* Tells why it could not be answered; the exit code. */
int wt__asked_fail(struct cli *cli, wt_error *err);

/* An option's value from 0 to below 1; *out stays when it is not given. 0, or an exit code with the reason told. */
int wt__read_share(struct cli *cli, enum option_id id, const char *name, double *out);

/* What the options say of which tools may be found; lists in the cli's arena. 0, or an exit code with the reason told.
 */
int wt__read_filter(struct cli *cli, wt_filter *out);

/* The form in which definitions are counted: that of --format, NULL where it is none of definitions. */
const char *wt__definition_format(const struct cli *cli);

/* Prints the hits in the form that the options ask for. 0, or an exit code; *table: it was the one for people, whom
 * notes help. */
int wt__print_found(struct cli *cli, const struct search_result *found, bool *table);

/* Says what of the request was read otherwise than it was typed, and what of it no tool has. */
void wt__note_reading(const struct cli *cli, const struct search_result *found);

/* Says what the sign of the tools that are kept means. */
void wt__note_kept(const struct cli *cli, const struct search_result *found, bool table);

/* Tells a person, once, that there is recorded use which nobody trained on; nothing where nobody would read it. */
void wt__note_training_due(struct cli *cli, wt_engine *engine);

/* PTR's trace (wt_picked.trace) in words for people. */
void wt__trace_words(const struct cli *cli, struct buffer *out, const char *trace);

#endif
