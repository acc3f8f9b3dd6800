/* add_mcp.c: `add --mcp`, which lists the tools of MCP servers. The words are either one program with its arguments, or
 * sources: configuration files, addresses, or command lines quoted as one word. If the first word contains a blank,
 * ends in .json or is a URL, the words are sources (docs/mcp.md). */
#include "cli/add_mcp.h"

#include <strings.h>

#include "base/clock.h"
#include "cli/imports.h"
#include "cli/output.h"
#include "cli/progress_line.h"
#include "cli/text.h"
#include "mcp/server.h"

struct mcp_add_context {
    wt_engine *engine;
    wt_add_mcp_options *options;
};

/* ---------------------------------------------------------------- words */

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

/* Reads one word of a command line and moves *at behind it. Quotes keep blanks; a backslash escapes the next character
 * except within '...'. No shell is involved: no other character is special. Returns false if a quote is not closed. */
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
        struct buffer word = {0};
        line += strspn(line, " \t\r\n\v\f");
        if (!*line)
            break;
        bool whole = read_quoted_word(&line, &word);
        words[count] = whole && !word.failed ? wt__arena_copy(arena, wt__buffer_view(&word)) : NULL;
        wt__buffer_dispose(&word);
        if (!words[count++])
            return NULL;
    }
    return words;
}

/* ---------------------------------------------------------------- reports */

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
        if (report->notice)
            wt__json_text(out, "notice", report->notice);
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

/* ---------------------------------------------------------------- one source */

/* Draws progress (wt_progress_fn); context is a struct progress_line. */
static int show_mcp_progress(void *context, const char *phase, uint64_t done, uint64_t total)
{
    struct buffer text = {0};
    if (strcmp(phase, "asking servers") != 0)
        return wt__progress_show(context, phase, done, total);
    wt__buffer_printf(&text, "asking %llu servers: %llu answered", (unsigned long long)total, (unsigned long long)done);
    wt__progress_draw(context, &text);
    wt__buffer_dispose(&text);
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

int wt__add_mcp(struct cli *cli)
{
    wt_add_mcp_options options;
    struct progress_line line;
    wt_engine *engine = NULL;
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
    int code = wt__cli_open(cli, OPEN_CREATE, options.no_vectors ? "" : NULL, &engine);
    if (code == 0) {
        wt__progress_begin(&line, cli);
        code = add_mcp_words(cli, &(struct mcp_add_context){engine, &options});
    }
    wt_close(engine);
    return code;
}
