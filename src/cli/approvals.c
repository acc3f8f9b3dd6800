/* approvals.c: nothing is approved that was not shown: what is about to be approved is printed first, and the library
 * is told by which hashes it was. Where somebody can answer they are asked; where nobody can, --yes has to stand there.
 */
#include "cli/approvals.h"

#include <stdio.h>
#include <unistd.h>

#include "cli/output.h"
#include "cli/progress_line.h"
#include "cli/text.h"
#include "whichtool/review.h"

enum { DEEPER = 4 };

static const char *kind_of(const wt_waiting *item)
{
    return item->kind == WT_WAITING_NEW ? "new" : "changed";
}

/* ---------------------------------------------------------------- for programs */

static void json_item(struct buffer *out, const wt_waiting *item)
{
    wt__buffer_char(out, '{');
    wt__json_text(out, "id", item->id);
    wt__json_text(out, "provider", item->provider);
    wt__json_text(out, "name", item->name);
    wt__json_flag(out, "instructions", !*item->name);
    wt__json_text(out, "kind", kind_of(item));
    wt__json_time(out, "since", item->since);
    wt__json_text(out, "sha256", item->sha256);
    wt__json_text_or_null(out, "approved_sha256", item->approved_sha256);
    wt__json_texts(out, "changes", item->changes, item->change_count);
    wt__json_count(out, "more_changes", item->more_changes);
    wt__json_raw(out, "offered", item->offered);
    wt__json_raw(out, "approved", item->approved ? item->approved : "null");
    wt__buffer_text(out, "}\n");
}

static void json_preview(struct buffer *out, const char *provider, const wt_preview *preview)
{
    wt__buffer_char(out, '{');
    wt__json_text(out, "provider", provider);
    wt__json_count(out, "waiting", preview->waiting);
    wt__json_count(out, "requests", preview->requests);
    wt__json_flag(out, "recorded", preview->recorded != 0);
    wt__json_number(out, "places_now", preview->places_now);
    wt__json_number(out, "places_then", preview->places_then);
    wt__json_number(out, "tools_now", preview->tools_now);
    wt__json_number(out, "tools_then", preview->tools_then);
    wt__json_flag(out, "far", preview->far != 0);
    wt__json_text(out, "sentence", preview->sentence);
    wt__buffer_text(out, "}\n");
}

/* ---------------------------------------------------------------- for people */

static void put_item(const struct cli *cli, struct buffer *out, const wt_waiting *item)
{
    struct buffer line = {0};
    wt__buffer_printf(&line, "%s%s: %s", item->id, *item->name ? "" : " (instructions)", kind_of(item));
    wt__style_begin(out, cli->color_out, STYLE_BOLD);
    wt__print_line(cli, out, 0, line.ptr ? line.ptr : "");
    wt__style_end(out, cli->color_out);
    for (size_t i = 0; i < item->change_count; i++)
        wt__print_line(cli, out, DEEPER, item->changes[i]);
    if (item->more_changes > 0) {
        wt__text_pad(out, DEEPER);
        wt__buffer_printf(out, "and %zu more; --json has both definitions\n", item->more_changes);
    }
    out->failed |= line.failed;
    wt__buffer_dispose(&line);
}

static bool print_item(struct cli *cli, const wt_waiting *item)
{
    struct buffer out = {0};
    if (cli->json)
        json_item(&out, item);
    else
        put_item(cli, &out, item);
    return wt__cli_print(&out);
}

/* ---------------------------------------------------------------- what waits */

/* Beside what changed stands what it would take: where that cannot be told, the list is whole without it. */
static int show_preview(struct cli *cli, wt_engine *engine, const char *provider)
{
    wt_preview_options options;
    wt_preview *preview = NULL;
    struct progress_line line;
    struct buffer out = {0};
    wt_error err;
    wt_preview_options_init(&options);
    wt__interrupt_watch();
    wt__progress_begin(&line, cli);
    options.progress = wt__progress_show;
    options.progress_context = &line;
    int rc = wt_preview_waiting(engine, provider, &options, &preview, &err);
    wt__progress_clear();
    if (rc == WT_ECANCELLED)
        return wt__cli_fail(cli, &err);
    if (rc < 0) {
        wt__cli_note(cli, "What it would take of others is not told: %s", err.message);
        return 0;
    }
    if (cli->json)
        json_preview(&out, provider, preview);
    else
        wt__print_line(cli, &out, 0, preview->sentence);
    wt_preview_free(preview);
    return wt__cli_print(&out) ? 0 : END_SYSTEM;
}

static bool has_tools(const wt_waiting_list *list, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++)
        if (*list->items[i]->name)
            return true;
    return false;
}

static int show_waiting(struct cli *cli, wt_engine *engine, const wt_waiting_list *list)
{
    int code = 0;
    for (size_t i = 0, end; code == 0 && i < list->len; i = end) {
        const char *provider = list->items[i]->provider;
        for (end = i; code == 0 && end < list->len && strcmp(list->items[end]->provider, provider) == 0; end++)
            code = print_item(cli, list->items[end]) ? 0 : END_SYSTEM;
        if (code == 0 && has_tools(list, i, end))
            code = show_preview(cli, engine, provider);
    }
    if (list->len == 0)
        wt__cli_note(cli, "Nothing waits for approval.");
    else if (code == 0)
        wt__cli_note(cli, "`whichtool mcp approve PROVIDER NAME...`, or --all, approves.");
    return code != 0 ? code : list->len > 0 ? END_DONE : END_NOTHING;
}

/* ---------------------------------------------------------------- approving */

static const wt_waiting *item_named(const wt_waiting_list *list, const char *name)
{
    for (size_t i = 0; i < list->len; i++)
        if (strcmp(list->items[i]->name, name) == 0 || (*name && strcmp(list->items[i]->id, name) == 0))
            return list->items[i];
    return NULL;
}

/* What is meant, in the cli's arena: tools by their names or ids. */
static int choose(struct cli *cli, const wt_waiting_list *list, const wt_waiting ***out, size_t *count)
{
    const struct arguments *a = &cli->arguments;
    bool instructions = wt__given(cli, OPT_INSTRUCTIONS);
    size_t most = list->len + a->word_count + 1;
    const wt_waiting **chosen = wt__arena_array(&cli->arena, const wt_waiting *, most);
    *out = chosen;
    *count = 0;
    if (!chosen)
        return wt__cli_say(cli, END_SYSTEM, "out of memory");
    for (size_t i = 0; wt__given(cli, OPT_ALL) && i < list->len; i++)
        chosen[(*count)++] = list->items[i];
    for (size_t i = 2; i < a->word_count + (instructions ? 1 : 0); i++) {
        const char *name = i < a->word_count ? a->words[i] : "";
        const wt_waiting *item = item_named(list, name);
        if (!item)
            return wt__cli_say(cli, END_NOTHING,
                               *name ? "nothing waits for approval as \"%s\" of %s"
                                     : "%s%s has no instructions that wait for approval",
                               name, a->words[1]);
        chosen[(*count)++] = item;
    }
    return 0;
}

static bool agreed(size_t count)
{
    char answer[16];
    fprintf(stderr, "Approve %s? [y/N] ", count == 1 ? "it" : "them");
    return fgets(answer, sizeof answer, stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

static int print_approved(struct cli *cli, const wt_waiting *const *chosen, size_t count, size_t left)
{
    struct buffer out = {0};
    const char **ids = wt__arena_array(&cli->arena, const char *, count);
    for (size_t i = 0; ids && i < count; i++)
        ids[i] = chosen[i]->id;
    if (!ids)
        return wt__cli_say(cli, END_SYSTEM, "out of memory");
    if (cli->json) {
        wt__buffer_char(&out, '{');
        wt__json_texts(&out, "approved", ids, count);
        wt__json_count(&out, "waiting", left);
        wt__buffer_text(&out, "}\n");
    } else
        wt__buffer_printf(&out, "%zu approved, %zu still %s.\n", count, left, left == 1 ? "waits" : "wait");
    return wt__cli_print(&out) ? 0 : END_SYSTEM;
}

static int approve_chosen(struct cli *cli, wt_engine *engine, const wt_waiting *const *chosen, size_t count,
                          size_t left)
{
    wt_approve_options options;
    wt_review_report *report = NULL;
    struct progress_line line;
    wt_error err;
    const char **names = wt__arena_array(&cli->arena, const char *, count);
    const char **hashes = wt__arena_array(&cli->arena, const char *, count);
    if (!names || !hashes)
        return wt__cli_say(cli, END_SYSTEM, "out of memory");
    for (size_t i = 0; i < count; i++) {
        names[i] = chosen[i]->name;
        hashes[i] = chosen[i]->sha256;
    }
    wt_approve_options_init(&options);
    options.names = names;
    options.sha256s = hashes;
    options.name_count = count;
    wt__interrupt_watch();
    wt__progress_begin(&line, cli);
    options.progress = wt__progress_show;
    options.progress_context = &line;
    int rc = wt_approve(engine, cli->arguments.words[1], &options, &report, &err);
    wt__progress_clear();
    if (report && report->notice)
        wt__cli_note(cli, "%s", report->notice);
    wt_review_report_free(report);
    return rc < 0 ? wt__cli_fail(cli, &err) : print_approved(cli, chosen, count, left);
}

static int approve(struct cli *cli, wt_engine *engine, const wt_waiting_list *list)
{
    const wt_waiting **chosen = NULL;
    size_t count = 0;
    bool asks = isatty(STDIN_FILENO) == 1 && cli->tty_err;
    int code = choose(cli, list, &chosen, &count);
    if (code != 0)
        return code;
    if (count == 0)
        return wt__cli_say(cli, END_NOTHING, "nothing of %s waits for approval", cli->arguments.words[1]);
    for (size_t i = 0; i < count && !cli->json; i++)
        if (!print_item(cli, chosen[i]))
            return END_SYSTEM;
    if (!wt__given(cli, OPT_YES) && !asks)
        return wt__cli_usage(cli, "nobody can be asked here: --yes approves without that");
    wt__cli_finish(); /* what is asked about is to be seen before the question */
    if (!wt__given(cli, OPT_YES) && !agreed(count))
        return wt__cli_say(cli, END_NOTHING, "nothing was approved");
    return approve_chosen(cli, engine, chosen, count, list->len - count);
}

int wt__mcp_approve(struct cli *cli)
{
    const struct arguments *a = &cli->arguments;
    const char *provider = a->word_count > 1 ? a->words[1] : NULL;
    bool approves = a->word_count > 2 || wt__given(cli, OPT_ALL) || wt__given(cli, OPT_INSTRUCTIONS);
    wt_waiting_list *list = NULL;
    wt_engine *engine = NULL;
    wt_error err;
    if (approves && !provider)
        return wt__cli_usage(cli, "`mcp approve` approves of one provider's tools: name it");
    if (wt__given(cli, OPT_ALL) && (a->word_count > 2 || wt__given(cli, OPT_INSTRUCTIONS)))
        return wt__cli_usage(cli, "--all stands in place of names");
    int code = wt__cli_open(cli, OPEN_EXISTING, NULL, &engine);
    if (code == 0 && wt_list_waiting(engine, provider, &list, &err) < 0)
        code = wt__cli_fail_input(cli, &err);
    if (code == 0)
        code = approves ? approve(cli, engine, list) : show_waiting(cli, engine, list);
    wt_waiting_list_free(list);
    wt_close(engine);
    return code;
}

/* ---------------------------------------------------------------- pinning */

static int write_lock(struct cli *cli, wt_engine *engine)
{
    const struct arguments *a = &cli->arguments;
    char *pins;
    wt_error err;
    if (wt_lock(engine, a->word_count > 2 ? a->words[2] : NULL, &pins, &err) < 0)
        return wt__cli_fail_input(cli, &err);
    return wt__write_pins(cli, a->words[1], pins, "approved", "approved definition");
}

int wt__mcp_lock(struct cli *cli)
{
    wt_engine *engine = NULL;
    if (cli->arguments.word_count < 2 || cli->arguments.word_count > 3)
        return wt__cli_usage(cli, "`mcp lock` takes the file to write, and at most one provider");
    int code = wt__cli_open(cli, OPEN_EXISTING, "", &engine);
    if (code == 0)
        code = write_lock(cli, engine);
    wt_close(engine);
    return code;
}
