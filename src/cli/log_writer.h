/* log_writer.h: writes log lines to standard error from a thread of its own, so that a blocked reader cannot block the
 * server. Lines are queued up to a limit; further lines are dropped, and the number of dropped lines is logged. */
#ifndef WT_CLI_LOG_WRITER_H
#define WT_CLI_LOG_WRITER_H

#include "base/str.h"

enum { LOG_KEPT_BYTES = 1 << 20 };

struct log_writer;

/* Returns NULL if out of memory or threads. */
struct log_writer *wt__log_writer_open(void);
/* Queues a line, which includes its line end, without blocking. */
void wt__log_writer_say(void *writer, struct str line);
/* Writes queued lines and stops the thread. NULL is a no-op. */
void wt__log_writer_close(struct log_writer *writer);

#endif
