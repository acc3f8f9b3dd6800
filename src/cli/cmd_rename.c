#include "cli/cli.h"
#include "cli/output.h"
#include "cli/progress_line.h"

/* Recomputes the vectors, which depend on the name. Vectors are derived data, so an error is only noted. */
static int64_t recompute_vectors(struct cli *cli, wt_engine *engine)
{
    struct progress_line line;
    wt_error err;
    wt__watch_interrupt();
    wt__progress_begin(&line, cli);
    int64_t made = wt_embed_missing(engine, wt__progress_show, &line, &err);
    wt__progress_clear();
    if (made < 0)
        wt__cli_note(cli, "Note: vectors were not computed; the next `whichtool add` computes them: %s", err.message);
    return made < 0 ? 0 : made;
}

int wt__cmd_rename(struct cli *cli)
{
    const char *from = cli->arguments.words[0], *to = cli->arguments.words[1];
    bool no_vectors = wt__has_option(cli, OPT_NO_VECTORS);
    wt_engine *engine = NULL;
    wt_error err;
    struct buffer out = {0};
    int code = wt__cli_open(cli, OPEN_EXISTING, no_vectors ? "" : NULL, &engine);
    int64_t tools = code == 0 ? wt_rename_provider(engine, from, to, &err) : 0;
    if (tools < 0)
        code = wt__cli_fail(cli, &err);
    if (code != 0) {
        wt_close(engine);
        return code;
    }
    int64_t vectors = no_vectors ? 0 : recompute_vectors(cli, engine);
    if (cli->json) {
        wt__buffer_char(&out, '{');
        wt__json_count(&out, "renamed", (uint64_t)tools);
        wt__json_count(&out, "embedded", (uint64_t)vectors);
        wt__buffer_text(&out, "}\n");
    } else {
        wt__put_grouped(&out, (uint64_t)tools);
        wt__buffer_text(&out, tools == 1 ? " tool renamed; " : " tools renamed; ");
        wt__put_grouped(&out, (uint64_t)vectors);
        wt__buffer_text(&out, " vectors\n");
    }
    wt_close(engine);
    return wt__cli_print(&out) ? 0 : END_SYSTEM;
}
