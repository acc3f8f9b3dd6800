/* hits.h: what find and pick share: the request from the command line, and hits on the way out. */
#ifndef WT_CLI_HITS_H
#define WT_CLI_HITS_H

#include "cli/cli.h"

/* The words joined, or stdin for "-". 0, or an exit code. */
int wt__read_request(struct cli *cli, struct buffer *request);

/* An option's value from 0 to below 1; *out stays when it is not given. 0, or an exit code with the reason told. */
int wt__read_share(struct cli *cli, enum option_id id, const char *name, double *out);

void wt__json_hit(struct buffer *out, const wt_hit *hit, size_t rank);
void wt__hit_table(const struct cli *cli, struct buffer *out, const wt_hit *const *hits, size_t len);

/* Complete definitions, as another API takes them. 0, or an exit code with the reason told. */
int wt__hit_definitions(struct cli *cli, const wt_hit *const *hits, size_t len, const char *format);

/* Tells a person, once, that there is recorded use which nobody trained on; nothing where nobody would read it. */
void wt__note_training_due(struct cli *cli, wt_engine *engine);

/* PTR's trace (wt_picked.trace) in words for people. */
void wt__trace_words(const struct cli *cli, struct buffer *out, const char *trace);

#endif
