/* imports.h: what `add` and `usage add` do alike: each source in turn, and a report of it for people and programs. */
#ifndef WT_CLI_IMPORTS_H
#define WT_CLI_IMPORTS_H

#include "base/buffer.h"
#include "cli/cli.h"

/* What both reports hold. */
struct import_outcome {
    double seconds;
    const char *notice; /* or NULL */
    const wt_add_issue *const *issues;
    size_t issue_count, skipped;
    size_t taken; /* of which nothing is wrong */
    bool cut;     /* the source was not read to its end */
};

/* Prints the report that line begins, a JSON object or a sentence, to which seconds, issues and notice are added; line
 * is disposed of. An exit code: a source of which nothing could be taken is no source. */
int wt__import_print(const struct cli *cli, const struct import_outcome *outcome, struct buffer *line);

/* What an import changed: "1 added, 0 updated, ...". */
void wt__text_changes(struct buffer *out, const wt_add_report *report);

/* What was passed over, on stderr: the first of them, "FILE:LINE: POINTER: REASON", and how many more were met: count
 * of them were kept. */
void wt__import_issues(const struct cli *cli, const wt_add_issue *const *issues, size_t count, size_t met);

/* Says that nothing of the source was stored. An exit code. */
int wt__import_stopped(const struct cli *cli);

/* Sorts the words by their real paths, "-" last: the order in which sources are named makes no difference, for of two
 * that want one name, the first has it. False when memory is out. */
bool wt__import_sort(struct cli *cli);

/* Imports the words from `first` on. A source that cannot be read, or asked, does not keep the others out; a store that
 * cannot be written does. The first exit code that is not 0, or the one that ended it. */
int wt__import_each(struct cli *cli, size_t first, int (*import)(struct cli *, const char *source, void *),
                    void *context);

#endif
