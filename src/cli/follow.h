/* follow.h: completion candidates for a command line, used by the scripts of all shells. */
#ifndef WT_CLI_FOLLOW_H
#define WT_CLI_FOLLOW_H

#include "base/buffer.h"
#include "cli/cli.h"

enum { FOLLOW_MOST = 1000 /* maximum number of tools or providers offered */ };

/* Writes candidates for the last word. words: the words of the line after "whichtool", where an empty last word means
 * that a new word begins. The first line of the output is "files", "folders" or "stores" if the shell should complete,
 * or "words", followed by one candidate a line, some with a tab and a description. Candidates that the command would
 * refuse are not offered. Candidates are untrusted text without control characters. */
void wt__complete_line(struct cli *cli, const char *const *words, size_t count, struct buffer *out);

#endif
