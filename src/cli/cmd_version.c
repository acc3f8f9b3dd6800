#include "cli/cli.h"
#include "cli/output.h"

int wt__cmd_version(struct cli *cli)
{
    struct buffer out = {0};
    if (cli->json) {
        wt__buffer_char(&out, '{');
        wt__json_text(&out, "version", wt_version());
        wt__buffer_text(&out, "}\n");
    } else {
        wt__buffer_printf(&out, "whichtool %s\n", wt_version());
    }
    return wt__cli_print(&out) ? 0 : END_SYSTEM;
}
