#include <stdio.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/output.h"

/* Asks on the terminal; true only for a yes. Returns true without asking if there is no terminal, or with --yes. */
static bool confirm_removal(struct cli *cli, size_t tools)
{
    if (tools < 2 || wt__has_option(cli, OPT_YES) || isatty(STDIN_FILENO) != 1 || !cli->tty_err)
        return true;
    fprintf(stderr, "Remove %zu tools? [y/N] ", tools);
    char answer[16];
    return fgets(answer, sizeof answer, stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

static int print_removed(struct cli *cli, int64_t removed)
{
    struct buffer out = {0};
    if (cli->json) {
        wt__buffer_char(&out, '{');
        wt__json_count(&out, "removed", (uint64_t)removed);
        wt__buffer_text(&out, "}\n");
    } else {
        wt__buffer_printf(&out, "%lld removed\n", (long long)removed);
    }
    return wt__cli_print(&out) ? 0 : END_SYSTEM;
}

static int remove_provider_tools(struct cli *cli, wt_engine *engine, const char *provider)
{
    wt_list_options options;
    wt_list_options_init(&options);
    options.provider = provider;
    wt_tools *tools = NULL;
    wt_error err;
    if (wt_list(engine, &options, &tools, &err) < 0)
        return wt__cli_fail(cli, &err);
    size_t count = tools->len;
    wt_tools_free(tools);
    if (!confirm_removal(cli, count))
        return wt__cli_report(cli, END_NOTHING, "nothing was removed");
    int64_t removed = wt_remove_provider(engine, provider, &err);
    return removed < 0 ? wt__cli_fail(cli, &err) : print_removed(cli, removed);
}

/* Looks up all names before removing the first, so that an unknown name removes nothing. */
static int remove_named_tools(struct cli *cli, wt_engine *engine)
{
    const struct arguments *a = &cli->arguments;
    wt_error err;
    for (size_t i = 0; i < a->word_count; i++) {
        wt_tools *tools = NULL;
        if (wt_get(engine, a->words[i], &tools, &err) < 0)
            return wt__cli_fail(cli, &err);
        wt_tools_free(tools);
    }
    if (!confirm_removal(cli, a->word_count))
        return wt__cli_report(cli, END_NOTHING, "nothing was removed");
    int64_t removed = 0;
    for (size_t i = 0; i < a->word_count; i++) {
        int rc = wt_remove(engine, a->words[i], &err);
        if (rc < 0 && rc != WT_ENOTFOUND) /* a tool may be named twice */
            return wt__cli_fail(cli, &err);
        removed += rc > 0;
    }
    return print_removed(cli, removed);
}

int wt__cmd_remove(struct cli *cli)
{
    const char *provider = wt__option_text(cli, OPT_PROVIDER);
    if (!provider == !cli->arguments.word_count)
        return wt__cli_usage(cli, "name the tools to remove: either NAME... or --provider NAME");
    wt_engine *engine = NULL;
    int code = wt__cli_open(cli, OPEN_EXISTING, "", &engine);
    if (code == 0)
        code = provider ? remove_provider_tools(cli, engine, provider) : remove_named_tools(cli, engine);
    wt_close(engine);
    return code;
}
