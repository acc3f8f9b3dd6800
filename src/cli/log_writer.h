/* log_writer.h: lines for standard error that come from a thread which must not wait: a reader who has stopped reading
 * would stop the server. They are kept, up to a bound, and written by a thread of their own; beyond the bound they are
 * counted, and the count is told. */
#ifndef WT_CLI_LOG_WRITER_H
#define WT_CLI_LOG_WRITER_H

#include "base/str.h"

enum { LOG_KEPT_BYTES = 1 << 20 };

struct log_writer;

/* NULL: no memory or no thread for one. */
struct log_writer *wt__log_writer_open(void);
/* line: with its end. Never waits. */
void wt__log_writer_say(void *writer, struct str line);
/* Writes what is kept. NULL is a no-op. */
void wt__log_writer_close(struct log_writer *writer);

#endif
