#include "cli/cli.h"
#include "cli/follow.h"
#include "cli/help.h"
#include "cli/suggest.h"

static int refuse_unknown_verb(struct cli *cli, const char *name)
{
    struct buffer hint = {0};
    wt__suggest_verb(&hint, name);
    int code = wt__cli_report(cli, END_USAGE, "unknown verb \"%s\"%s", name,
                              hint.ptr ? hint.ptr : "; `whichtool help` lists the verbs");
    wt__buffer_dispose(&hint);
    return code;
}

int wt__cmd_help(struct cli *cli)
{
    const struct cli_verb *verb = cli->arguments.verb;
    const struct arguments *a = &cli->arguments;
    struct buffer out = {0};
    if (verb && verb->run == wt__cmd_help && wt__has_option(cli, OPT_FOLLOW)) {
        wt__complete_line(cli, a->words, a->word_count, &out);
        return wt__cli_print(&out) ? 0 : END_SYSTEM;
    }
    if (verb && verb->run == wt__cmd_help && a->word_count > 1)
        return wt__cli_usage(cli, "`help` takes %s, but \"%s\" follows; `whichtool help %s` shows all help of a verb",
                             verb->arguments, a->words[1], wt__verb_find(a->words[0]) ? a->words[0] : "VERB");
    /* `find --help` has the verb find; `help find` has the verb help and a word. */
    if (verb && verb->run == wt__cmd_help && cli->arguments.word_count > 0) {
        const char *name = cli->arguments.words[0];
        verb = wt__verb_find(name);
        if (!verb)
            return refuse_unknown_verb(cli, name);
    } else if (verb && verb->run == wt__cmd_help && !wt__has_option(cli, OPT_HELP)) {
        verb = NULL;
    }
    if (wt__has_option(cli, OPT_MAN))
        wt__man_page(&out);
    else if (wt__has_option(cli, OPT_COMPLETIONS))
        wt__completions(&out, wt__option_text(cli, OPT_COMPLETIONS));
    else if (wt__has_option(cli, OPT_RECIPES))
        wt__help_recipes(cli, &out);
    else if (verb)
        wt__help_verb(cli, &out, verb);
    else
        wt__help_command(cli, &out);
    return wt__cli_print(&out) ? 0 : END_SYSTEM;
}
