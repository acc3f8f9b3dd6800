/* imports.h: shared by `add` and `usage add`: importing each source, and reporting the result as text or JSON. */
#ifndef WT_CLI_IMPORTS_H
#define WT_CLI_IMPORTS_H

#include "base/buffer.h"
#include "cli/cli.h"

/* Fields that both reports have. */
struct import_outcome {
    double seconds;
    const char *notice; /* NULL if none */
    const wt_add_issue *const *issues;
    size_t issue_count, skipped;
    size_t taken; /* number of valid items */
    bool cut;     /* the source was not read to the end */
};

/* Completes the report in line, a JSON object or a sentence, with seconds, issues and notice, prints it, and disposes
 * of line. Returns END_INPUT if all items were skipped, else END_DONE. */
int wt__print_import(const struct cli *cli, const struct import_outcome *outcome, struct buffer *line);

/* Appends the changes of an import: "1 added, 0 updated, ...". */
void wt__put_changes(struct buffer *out, const wt_add_report *report);

/* Prints the first skipped items on stderr, as "FILE:LINE: POINTER: REASON", and the number of further ones. count:
 * number of issues; met: number of skipped items. */
void wt__print_issues(const struct cli *cli, const wt_add_issue *const *issues, size_t count, size_t met);

/* Reports that an interrupted import stored nothing. Returns an exit code. */
int wt__report_stopped_import(const struct cli *cli);

/* Sorts the words by real path, with "-" last, so that their order does not decide which of two tools gets a contested
 * name. Returns false if out of memory. */
bool wt__sort_sources(struct cli *cli);

/* Calls import for the words from `first` on. Continues after a source with bad input or a network error, and stops
 * after other errors. Returns the error that stopped it, else the first exit code that is not 0. */
int wt__import_each_source(struct cli *cli, size_t first, int (*import)(struct cli *, const char *source, void *),
                           void *context);

#endif
