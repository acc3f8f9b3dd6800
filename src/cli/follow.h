/* follow.h: what can follow the words of a command line, which is what completions of every shell ask. */
#ifndef WT_CLI_FOLLOW_H
#define WT_CLI_FOLLOW_H

#include "base/buffer.h"
#include "cli/cli.h"

enum { FOLLOW_MOST = 1000 /* tools or providers that are offered */ };

/* Candidates for the last of the words, which stand behind "whichtool" on the line: "" where none is begun. The first
 * line says who completes: "files", "folders" and "stores" leave it to the shell; "words" is followed by the
 * candidates, a line each, with a tab and a description behind some. Nothing is offered that would be refused; where
 * the store cannot be read, nothing of it. Candidates are other people's text: none has a control character in it. */
void wt__follow(struct cli *cli, const char *const *words, size_t count, struct buffer *out);

#endif
