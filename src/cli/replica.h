/* replica.h: --follow of find, mcp and serve: opens a replica as the store of the command. */
#ifndef WT_CLI_REPLICA_H
#define WT_CLI_REPLICA_H

#include "cli/cli.h"
#include "replica/follow.h"
#include "replica/usage_spool.h"

/* All zero without --follow. */
struct replica {
    struct follower *follower;
    struct usage_spool *spool; /* NULL before wt__replica_start */
};

/* Opens the replica, and makes its store that of the command, and the published policy that of --servers unless
 * --policy is given. Does nothing without --follow. Returns 0, or an exit code after reporting the error. */
int wt__replica_open(struct cli *cli, struct replica *replica);
/* Checks that the engine's encoder is the publisher's. Returns 0, or an exit code after reporting the error. */
int wt__replica_check(const struct cli *cli, const struct replica *replica, wt_engine *engine);
/* Starts to follow, and to deliver usage to the writer. Returns 0, or an exit code after reporting the error. */
int wt__replica_start(struct cli *cli, struct replica *replica, wt_engine *engine);
/* Ends both. The engine is closed later. */
void wt__replica_close(struct replica *replica);
/* Reads the first line of the file of an option, in the cli's arena. *out is NULL without the option. Returns 0, or an
 * exit code after reporting the error. */
int wt__read_secret_file(struct cli *cli, enum option_id id, const char **out);
/* Appends the metrics (struct routes). context: a struct replica. */
void wt__replica_metrics(void *context, struct buffer *out);

#endif
