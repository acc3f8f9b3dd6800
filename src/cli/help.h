/* help.h: help texts, manual page and completion scripts, generated from the table of options.h. All functions append
 * to out. */
#ifndef WT_CLI_HELP_H
#define WT_CLI_HELP_H

#include "base/buffer.h"
#include "cli/cli.h"

void wt__help_command(const struct cli *cli, struct buffer *out);
void wt__help_verb(const struct cli *cli, struct buffer *out, const struct cli_verb *verb);
void wt__help_recipes(const struct cli *cli, struct buffer *out);
void wt__man_page(struct buffer *out);
void wt__completions(struct buffer *out, const char *shell); /* shell: bash, zsh or fish */

#endif
