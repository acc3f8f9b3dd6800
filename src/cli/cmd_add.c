/* cmd_add.c: `whichtool add` and `vectors`: imports tools from files or MCP servers, and computes their vectors. The
 * helpers for reporting imports are shared with `usage add`. */
#include "cli/cli.h"

#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#include "base/clock.h"
#include "mcp/server.h"

/* ---------------------------------------------------------------- imports */

enum { ISSUES_SHOWN = 20 };

void wt__print_issues(const struct cli *cli, const wt_add_issue *const *issues, size_t count, size_t met)
{
    size_t shown = count < ISSUES_SHOWN ? count : ISSUES_SHOWN;
    for (size_t i = 0; i < shown; i++) {
        WT_CLEANUP(wt__buffer_dispose) struct buffer place = {0};
        wt__buffer_text(&place, issues[i]->file);
        if (issues[i]->line)
            wt__buffer_printf(&place, ":%zu", issues[i]->line);
        if (*issues[i]->pointer)
            wt__buffer_printf(&place, ": %s", issues[i]->pointer);
        wt__cli_note(cli, "%s: %s", place.ptr ? place.ptr : "", issues[i]->reason);
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

/* ---------------------------------------------------------------- add --mcp */

struct mcp_add_context {
    wt_engine *engine;
    wt_add_mcp_options *options;
};

static bool is_configuration(const char *word)
{
    static const char *const endings[] = {".json", ".jsonc"};
    size_t len = strlen(word);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (len >= strlen(endings[i]) && strcasecmp(word + len - strlen(endings[i]), endings[i]) == 0)
            return !wt__mcp_is_url(word);
    return false;
}

static bool has_blank(const char *word)
{
    return word[strcspn(word, " \t\n")] != '\0';
}

/* Reads one word of a command line and moves *at behind the word. Quotes keep blanks; a backslash escapes the next
 * character except within '...'. No shell is involved: no other character is special. Returns false if a quote is not
 * closed. */
static bool read_quoted_word(const char **at, struct buffer *out)
{
    char quote = '\0';
    for (; **at && (quote || !wt__is_blank(**at)); (*at)++) {
        char c = **at;
        if (c == quote)
            quote = '\0';
        else if (!quote && (c == '"' || c == '\''))
            quote = c;
        else if (c == '\\' && quote != '\'' && (*at)[1])
            wt__buffer_char(out, *++*at);
        else
            wt__buffer_char(out, c);
    }
    return !quote;
}

/* Returns the words of a command line in the arena, NULL-terminated; NULL if a quote is not closed or out of memory. */
static const char *const *split_command_line(struct arena *arena, const char *line)
{
    const char **words = wt__arena_array(arena, const char *, strlen(line) / 2 + 2);
    for (size_t count = 0; words;) {
        WT_CLEANUP(wt__buffer_dispose) struct buffer word = {0};
        line += strspn(line, " \t\r\n\v\f");
        if (!*line)
            break;
        bool whole = read_quoted_word(&line, &word);
        words[count] = whole && !word.failed ? wt__arena_copy(arena, wt__buffer_view(&word)) : NULL;
        if (!words[count++])
            return NULL;
    }
    return words;
}

/* ---------------------------------------------------------------- reports of add --mcp */

static void text_mcp_server(struct buffer *out, const wt_mcp_server *server)
{
    const wt_add_report *report = server->added;
    wt__text_escape(out, wt__str(server->name), TEXT_LINE);
    if (!report) {
        wt__buffer_printf(out, *server->reason ? ": skipped: %s\n" : ": disabled\n", server->reason);
        return;
    }
    wt__buffer_text(out, ": ");
    wt__put_grouped(out, server->tools);
    wt__buffer_text(out, server->tools == 1 ? " tool" : " tools");
    wt__buffer_text(out, ": ");
    wt__put_changes(out, report);
    wt__buffer_char(out, '\n');
}

static void json_mcp_server(struct buffer *out, const wt_mcp_server *server)
{
    const wt_add_report *report = server->added;
    wt__buffer_char(out, '{');
    wt__json_text(out, "server", server->name);
    wt__json_text(out, "provider", server->provider);
    wt__json_text(out, "state", report ? "answered" : server->disabled ? "disabled" : "failed");
    wt__json_count(out, "tools", server->tools);
    if (report) {
        wt__json_changes(out, report);
        if (report->notice) {
            wt__json_text(out, "notice", report->notice);
            wt__json_notice_codes(out, report->notice_codes);
        }
        wt__json_issues(out, report->issues, report->issue_count);
    } else if (*server->reason) {
        if (server->code < 0)
            wt__json_text(out, "code", wt_code_name(server->code));
        wt__json_text(out, "reason", server->reason);
    }
    wt__buffer_text(out, "}\n");
}

struct mcp_totals {
    const char *source;
    size_t answered, disabled, tools;
    double seconds;
};

static void text_mcp_totals(struct buffer *out, const wt_mcp_report *report, const struct mcp_totals *sum)
{
    wt__text_escape(out, wt__str(sum->source), TEXT_LINE);
    wt__buffer_printf(out, ": %zu of %zu servers answered, ", sum->answered, report->server_count - sum->disabled);
    wt__put_grouped(out, sum->tools);
    wt__buffer_text(out, sum->tools == 1 ? " tool" : " tools");
    if (report->removed > 0) {
        wt__buffer_text(out, ", ");
        wt__put_grouped(out, report->removed);
        wt__buffer_text(out, " removed with their servers");
    }
    wt__buffer_text(out, "; ");
    wt__put_grouped(out, report->embedded);
    wt__buffer_printf(out, " vectors; %.2f s\n", sum->seconds);
}

static void json_mcp_totals(struct buffer *out, const wt_mcp_report *report, const struct mcp_totals *sum)
{
    wt__buffer_char(out, '{');
    wt__json_text(out, "source", sum->source);
    wt__json_count(out, "servers", report->server_count);
    wt__json_count(out, "answered", sum->answered);
    wt__json_count(out, "failed", report->failed);
    wt__json_count(out, "disabled", sum->disabled);
    wt__json_count(out, "tools", sum->tools);
    wt__json_count(out, "removed", report->removed);
    wt__json_count(out, "embedded", report->embedded);
    wt__json_number(out, "seconds", sum->seconds);
    if (report->notice)
        wt__json_text(out, "notice", report->notice);
    wt__buffer_text(out, "}\n");
}

/* Prints a line for each server and a total. Returns END_NETWORK if any server failed. */
static int print_mcp_report(const struct cli *cli, const wt_mcp_report *report, struct mcp_totals *sum)
{
    struct buffer out = {0};
    for (size_t i = 0; i < report->server_count; i++) {
        const wt_mcp_server *server = report->servers[i];
        sum->answered += server->added != NULL;
        sum->disabled += server->disabled != 0;
        sum->tools += server->added ? server->tools : 0;
        if (!cli->json && server->code < 0)
            wt__cli_report(cli, END_NETWORK, "%s: %s", *server->name ? server->name : sum->source, server->reason);
        else
            (cli->json ? json_mcp_server : text_mcp_server)(&out, server);
        if (!cli->json && server->added)
            wt__print_issues(cli, server->added->issues, server->added->issue_count, server->added->skipped);
        if (server->added && server->added->notice)
            wt__cli_note(cli, "%s: Note: %s", server->name, server->added->notice);
    }
    (cli->json ? json_mcp_totals : text_mcp_totals)(&out, report, sum);
    if (report->notice)
        wt__cli_note(cli, "Note: %s", report->notice);
    if (!wt__cli_print(&out))
        return END_SYSTEM;
    return report->failed > 0 ? END_NETWORK : END_DONE;
}

/* ---------------------------------------------------------------- sources of add --mcp */

/* Draws progress (wt_progress_fn); context is a struct progress_line. */
static int show_mcp_progress(void *context, const char *phase, uint64_t done, uint64_t total)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    if (strcmp(phase, "asking servers") != 0)
        return wt__progress_show(context, phase, done, total);
    wt__buffer_printf(&text, "asking %llu servers: %llu answered", (unsigned long long)total, (unsigned long long)done);
    wt__progress_draw(context, &text);
    return wt__interrupted();
}

static int add_mcp_source(struct cli *cli, const struct mcp_add_context *adding, const char *source, const char *shown)
{
    wt_mcp_report *report = NULL;
    wt_error err = {0};
    struct mcp_totals sum = {.source = shown};
    double begin = wt__now_ms();
    int rc = wt_add_mcp(adding->engine, source, adding->options, &report, &err), code = END_DONE;
    sum.seconds = (wt__now_ms() - begin) / 1000;
    wt__progress_clear();
    if (report)
        code = print_mcp_report(cli, report, &sum);
    if (rc == WT_ECANCELLED && report)
        code = wt__cli_report(cli, END_INTERRUPTED,
                              "stopped; the tools reported above are stored. The same command imports the others, and "
                              "`whichtool vectors` computes missing vectors");
    else if (rc == WT_ECANCELLED)
        code = wt__report_stopped_import(cli);
    else if (rc < 0)
        code = wt__cli_fail_input(cli, &err);
    wt_mcp_report_free(report);
    return code;
}

/* Imports one source. Only the program of a command line is shown, since arguments may contain keys. */
static int add_mcp_word(struct cli *cli, const char *word, void *context)
{
    const struct mcp_add_context *adding = context;
    if (is_configuration(word))
        return add_mcp_source(cli, adding, word, word);
    if (wt__mcp_is_url(word)) {
        const char *shown = wt__mcp_shown_url(&cli->arena, word);
        return shown ? add_mcp_source(cli, adding, word, shown) : wt__cli_report(cli, END_SYSTEM, "out of memory");
    }
    adding->options->command = split_command_line(&cli->arena, word);
    if (!adding->options->command || !adding->options->command[0])
        return wt__cli_usage(cli, "a command line is empty, or a quote is not closed");
    int code = add_mcp_source(cli, adding, NULL, adding->options->command[0]);
    adding->options->command = NULL;
    return code;
}

static int add_mcp_words(struct cli *cli, const struct mcp_add_context *adding)
{
    const char *first = cli->arguments.words[0];
    if (is_configuration(first) || wt__mcp_is_url(first) || has_blank(first)) {
        if (adding->options->provider && cli->arguments.word_count > 1)
            return wt__cli_usage(cli, "--provider needs a single source, but several were given");
        if (!wt__sort_sources(cli))
            return wt__cli_report(cli, END_SYSTEM, "out of memory");
        return wt__import_each_source(cli, 0, add_mcp_word, (void *)adding);
    }
    const char **command = wt__arena_array(&cli->arena, const char *, cli->arguments.word_count + 1);
    if (!command)
        return wt__cli_report(cli, END_SYSTEM, "out of memory");
    memcpy(command, cli->arguments.words, cli->arguments.word_count * sizeof *command);
    adding->options->command = command;
    return add_mcp_source(cli, adding, NULL, first);
}

static int run_add_mcp(struct cli *cli)
{
    wt_add_mcp_options options;
    struct progress_line line;
    WT_CLEANUP(wt__close_engine) wt_engine *engine = NULL;
    if (wt__has_option(cli, OPT_FORMAT))
        return wt__cli_usage(cli, "--format cannot be used with --mcp");
    wt_add_mcp_options_init(&options);
    options.provider = wt__option_text(cli, OPT_PROVIDER);
    options.sync = wt__has_option(cli, OPT_SYNC);
    options.strict = wt__has_option(cli, OPT_STRICT);
    options.no_vectors = wt__has_option(cli, OPT_NO_VECTORS);
    options.timeout_ms = 1000 * (unsigned)cli->arguments.number[OPT_TIMEOUT];
    options.progress = show_mcp_progress;
    options.progress_context = &line;
    wt__watch_end_signals();
    WT_TRY(wt__cli_open(cli, OPEN_CREATE, options.no_vectors ? "" : NULL, &engine));
    wt__progress_begin(&line, cli);
    return add_mcp_words(cli, &(struct mcp_add_context){engine, &options});
}

/* ---------------------------------------------------------------- add */

static void text_add_report(struct buffer *out, const char *source, const wt_add_report *report)
{
    wt__buffer_text(out, source);
    if (report->format && *report->format)
        wt__buffer_printf(out, " (%s)", report->format);
    wt__buffer_text(out, ": ");
    wt__put_changes(out, report);
    wt__buffer_text(out, "; ");
    wt__put_grouped(out, report->embedded);
    wt__buffer_text(out, " vectors");
}

static int print_add_report(const struct cli *cli, const char *source, const wt_add_report *report, double seconds)
{
    const struct import_outcome outcome = {seconds,         report->notice,
                                           report->issues,  report->issue_count,
                                           report->skipped, report->added + report->updated + report->unchanged,
                                           !report->whole};
    struct buffer line = {0};
    (cli->json ? wt__json_added : text_add_report)(&line, source, report);
    return wt__print_import(cli, &outcome, &line);
}

static int add_tools_from_stdin(struct cli *cli, wt_engine *engine, wt_add_options *options, wt_add_report **report,
                                wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer bytes = {0};
    WT_CLEANUP(wt__buffer_dispose) struct buffer name = {0};
    wt__buffer_text(&name, "standard input");
    if (options->provider)
        wt__buffer_printf(&name, " of %s", options->provider);
    err->code = 0; /* wt__cli_read_stdin reports its own errors */
    int rc = wt__cli_read_stdin(cli, WT_MAX_FILE_BYTES, &bytes);
    if (rc == 0 && !name.failed) {
        options->source_name = name.ptr;
        rc = wt_add(engine, bytes.ptr ? bytes.ptr : "", bytes.len, options, report, err);
        options->source_name = NULL;
    }
    return rc;
}

static int report_stopped_add(const struct cli *cli, const wt_add_report *report)
{
    if (!report)
        return wt__report_stopped_import(cli);
    return wt__cli_report(
        cli, END_INTERRUPTED,
        "stopped while encoding; the tools and %zu new vectors are stored. `whichtool vectors` computes the others",
        report->embedded);
}

struct tool_add_context {
    wt_engine *engine;
    wt_add_options *options;
};

/* Imports one source. Returns 0, or an exit code after reporting the error. */
static int add_tool_source(struct cli *cli, const char *source, void *context)
{
    wt_engine *engine = ((struct tool_add_context *)context)->engine;
    wt_add_options *options = ((struct tool_add_context *)context)->options;
    wt_add_report *report = NULL;
    wt_error err = {0};
    double begin = wt__now_ms();
    int rc = 0, code = 0;
    if (strcmp(source, "-") == 0) {
        rc = add_tools_from_stdin(cli, engine, options, &report, &err);
        if (rc > 0)
            return rc;
    } else if (access(source, R_OK) != 0) {
        wt__fail_errno(&err, "read", source);
        return wt__cli_report(cli, END_INPUT, "%s", err.message);
    } else {
        rc = wt_add_path(engine, source, options, &report, &err);
    }
    wt__progress_clear();
    if (report)
        code = print_add_report(cli, strcmp(source, "-") == 0 ? "standard input" : source, report,
                                (wt__now_ms() - begin) / 1000);
    if (rc == WT_ECANCELLED)
        code = report_stopped_add(cli, report);
    else if (rc < 0)
        code = wt__cli_fail_input(cli, &err);
    wt_add_report_free(report);
    return code;
}

int wt__cmd_add(struct cli *cli)
{
    wt_add_options options;
    struct progress_line line;
    WT_CLEANUP(wt__close_engine) wt_engine *engine = NULL;
    if (wt__has_option(cli, OPT_MCP))
        return run_add_mcp(cli);
    if (wt__has_option(cli, OPT_TIMEOUT))
        return wt__cli_usage(cli, "--timeout needs --mcp");
    wt_add_options_init(&options);
    options.format = wt__option_text(cli, OPT_FORMAT);
    options.provider = wt__option_text(cli, OPT_PROVIDER);
    options.sync = wt__has_option(cli, OPT_SYNC);
    options.strict = wt__has_option(cli, OPT_STRICT);
    options.no_vectors = wt__has_option(cli, OPT_NO_VECTORS);
    options.progress = wt__progress_show;
    options.progress_context = &line;
    for (size_t i = 0; i < cli->arguments.word_count; i++)
        if (options.sync && !options.provider && strcmp(cli->arguments.words[i], "-") == 0)
            return wt__cli_usage(cli, "--sync of standard input needs --provider, to know whose tools to remove");
    if (!wt__sort_sources(cli))
        return wt__cli_report(cli, END_SYSTEM, "out of memory");
    wt__watch_interrupt();
    WT_TRY(wt__cli_open(cli, OPEN_CREATE, options.no_vectors ? "" : NULL, &engine));
    wt__progress_begin(&line, cli);
    return wt__import_each_source(cli, 0, add_tool_source, &(struct tool_add_context){engine, &options});
}

/* ---------------------------------------------------------------- vectors */

struct vectors_outcome {
    wt_catalog_info before, after;
    int64_t learned; /* number of new vectors of requests; an error code if negative */
    double seconds;
};

static int print_vectors_outcome(const struct cli *cli, const struct vectors_outcome *o)
{
    struct buffer line = {0}, out = {0};
    uint64_t made = o->after.embedded - o->before.embedded;
    if (cli->json) {
        wt__buffer_char(&line, '{');
        wt__json_text(&line, "model", o->after.model);
        wt__json_count(&line, "made", made);
        wt__json_count(&line, "requests", (uint64_t)o->learned);
        wt__json_count(&line, "tools", o->after.tools);
        wt__json_count(&line, "embedded", o->after.embedded);
        wt__json_number(&line, "seconds", o->seconds);
        wt__buffer_text(&line, "}");
    } else if (made == 0 && o->learned == 0) {
        wt__buffer_text(&line, "All ");
        wt__put_grouped(&line, o->after.tools);
        wt__buffer_printf(&line, " tools have vectors of %s.", o->after.model);
    } else {
        wt__buffer_text(&line, "new vectors: ");
        wt__put_grouped(&line, made);
        wt__buffer_text(&line, " of tools, ");
        wt__put_grouped(&line, (uint64_t)o->learned);
        wt__buffer_printf(&line, " of requests; %.2f s", o->seconds);
    }
    wt__text_escape(&out, wt__buffer_view(&line), TEXT_LINE);
    wt__buffer_char(&out, '\n');
    out.failed |= line.failed;
    wt__buffer_dispose(&line);
    return wt__cli_print(&out) ? 0 : END_SYSTEM;
}

/* Computes the missing vectors. Returns 0 or the first error; finished vectors are stored in either case. */
static int compute_vectors(wt_engine *engine, struct progress_line *line, struct vectors_outcome *o, wt_error *err)
{
    int64_t made = wt_embed_missing(engine, wt__progress_show, line, err);
    o->learned = made < 0 ? 0 : wt_learn_usage(engine, wt__progress_show, line, err);
    wt__progress_clear();
    return made < 0 ? (int)made : o->learned < 0 ? (int)o->learned : 0;
}

static int report_stopped_vectors(struct cli *cli, wt_engine *engine, struct vectors_outcome *o)
{
    wt_error err;
    if (wt_info(engine, &o->after, &err) < 0)
        return wt__cli_fail(cli, &err);
    return wt__cli_report(cli, END_INTERRUPTED,
                          "stopped; %llu new vectors are stored, and %llu of %llu tools have one. The next `whichtool "
                          "vectors` continues",
                          (unsigned long long)(o->after.embedded - o->before.embedded),
                          (unsigned long long)o->after.embedded, (unsigned long long)o->after.tools);
}

int wt__cmd_vectors(struct cli *cli)
{
    WT_CLEANUP(wt__close_engine) wt_engine *engine = NULL;
    struct vectors_outcome o = {0};
    struct progress_line line;
    wt_error err;
    wt_catalog_info_init(&o.before);
    wt_catalog_info_init(&o.after);
    wt__watch_interrupt();
    WT_TRY(wt__cli_open(cli, OPEN_EXISTING, NULL, &engine));
    double begin = wt__now_ms();
    if (wt_info(engine, &o.before, &err) < 0)
        return wt__cli_fail(cli, &err);
    if (o.before.tools == 0)
        return wt__cli_fail_empty(cli);
    wt__progress_begin(&line, cli);
    int rc = compute_vectors(engine, &line, &o, &err);
    if (rc == 0)
        rc = wt_info(engine, &o.after, &err);
    o.seconds = (wt__now_ms() - begin) / 1000;
    if (rc == WT_ECANCELLED)
        return report_stopped_vectors(cli, engine, &o);
    return rc < 0 ? wt__cli_fail(cli, &err) : print_vectors_outcome(cli, &o);
}
