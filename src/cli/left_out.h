/* left_out.h: arguments in a tool's definition that its schema lacks, such as credentials. */
#ifndef WT_CLI_LEFT_OUT_H
#define WT_CLI_LEFT_OUT_H

#include "base/buffer.h"
#include "whichtool.h"

/* Appends the names of the left out arguments, separated by commas. References to other documents are not followed. */
void wt__put_left_out(struct buffer *out, const wt_tool *tool);

#endif
