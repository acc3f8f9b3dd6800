/* trace.h: PTR's trace (wt_picked.trace) in words for people. */
#ifndef WT_CLI_TRACE_H
#define WT_CLI_TRACE_H

#include "cli/cli.h"

void wt__trace_words(const struct cli *cli, struct buffer *out, const char *trace);

#endif
