/* left_out.h: the arguments that a tool's definition has and its schema has not: credentials and the like. */
#ifndef WT_CLI_LEFT_OUT_H
#define WT_CLI_LEFT_OUT_H

#include "base/buffer.h"
#include "whichtool.h"

/* Appends their names, separated by commas. Only what the definition itself has: what it refers to elsewhere, and what
 * is not JSON, says nothing. */
void wt__put_left_out(struct buffer *out, const wt_tool *tool);

#endif
