#include "cli/imports.h"

#include <stdlib.h>

#include "cli/output.h"
#include "cli/progress_line.h"
#include "cli/text.h"

enum { ISSUES_SHOWN = 20 };

void wt__print_issues(const struct cli *cli, const wt_add_issue *const *issues, size_t count, size_t met)
{
    size_t shown = count < ISSUES_SHOWN ? count : ISSUES_SHOWN;
    for (size_t i = 0; i < shown; i++) {
        struct buffer place = {0};
        wt__buffer_text(&place, issues[i]->file);
        if (issues[i]->line)
            wt__buffer_printf(&place, ":%zu", issues[i]->line);
        if (*issues[i]->pointer)
            wt__buffer_printf(&place, ": %s", issues[i]->pointer);
        wt__cli_note(cli, "%s: %s", place.ptr ? place.ptr : "", issues[i]->reason);
        wt__buffer_dispose(&place);
    }
    if (count > shown && met > count)
        wt__cli_note(cli, "... and %zu more; --json lists the first %zu", met - shown, count);
    else if (count > shown)
        wt__cli_note(cli, "... and %zu more; --json lists them all", count - shown);
}

void wt__put_changes(struct buffer *out, const wt_add_report *report)
{
    for (size_t i = 0; i < IMPORT_CHANGES; i++) {
        const char *name;
        size_t count = wt__import_change(report, i, &name);
        wt__buffer_text(out, i ? ", " : "");
        wt__put_grouped(out, count);
        wt__buffer_printf(out, " %s", name);
    }
}

/* Recommends --strict if most items were skipped, or if the source was not read to the end. */
static void suggest_strict(const struct cli *cli, const struct import_outcome *outcome)
{
    bool much = outcome->skipped > outcome->taken;
    if (outcome->taken == 0 || wt__has_option(cli, OPT_STRICT) || (!much && !outcome->cut))
        return;
    wt__cli_note(cli, "%s; --strict refuses such a source.",
                 outcome->cut ? "The source was not read to the end" : "More items were skipped than imported");
}

int wt__print_import(const struct cli *cli, const struct import_outcome *outcome, struct buffer *line)
{
    struct buffer out = {0};
    if (cli->json) {
        wt__json_number(line, "seconds", outcome->seconds);
        if (outcome->notice)
            wt__json_text(line, "notice", outcome->notice);
        wt__json_issues(line, outcome->issues, outcome->issue_count);
        wt__buffer_text(line, "}\n");
        wt__buffer_append(&out, line->ptr, line->len);
    } else {
        wt__print_issues(cli, outcome->issues, outcome->issue_count, outcome->skipped);
        wt__buffer_printf(line, "; %.2f s\n", outcome->seconds);
        wt__text_escape(&out, wt__buffer_view(line), TEXT_LINES);
    }
    out.failed |= line->failed;
    wt__buffer_dispose(line);
    if (outcome->notice)
        wt__cli_note(cli, "Note: %s", outcome->notice);
    suggest_strict(cli, outcome);
    if (!wt__cli_print(&out))
        return END_SYSTEM;
    return outcome->taken == 0 && outcome->skipped > 0 ? END_INPUT : END_DONE;
}

int wt__report_stopped_import(const struct cli *cli)
{
    return wt__cli_report(cli, END_INTERRUPTED, "stopped; nothing of this source was imported");
}

struct import_source {
    const char *word;
    char *path; /* real path; NULL for standard input or a missing file */
};

static int compare_sources(const void *a, const void *b)
{
    const struct import_source *x = a, *y = b;
    int last = (strcmp(x->word, "-") == 0) - (strcmp(y->word, "-") == 0);
    return last ? last : strcmp(x->path ? x->path : x->word, y->path ? y->path : y->word);
}

bool wt__sort_sources(struct cli *cli)
{
    struct arguments *arguments = &cli->arguments;
    size_t count = arguments->word_count;
    struct import_source *sources = calloc(count + 1, sizeof *sources);
    if (!sources)
        return false;
    for (size_t i = 0; i < count; i++)
        sources[i] = (struct import_source){arguments->words[i], realpath(arguments->words[i], NULL)};
    qsort(sources, count, sizeof *sources, compare_sources);
    for (size_t i = 0; i < count; i++) {
        arguments->words[i] = sources[i].word;
        free(sources[i].path);
    }
    free(sources);
    return true;
}

int wt__import_each_source(struct cli *cli, size_t first, int (*import)(struct cli *, const char *source, void *),
                           void *context)
{
    int code = 0;
    for (size_t i = first; i < cli->arguments.word_count; i++) {
        int one = import(cli, cli->arguments.words[i], context);
        code = code ? code : one;
        if (one != 0 && one != END_INPUT && one != END_NETWORK)
            return one;
    }
    return code;
}
