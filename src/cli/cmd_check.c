#include "cli/cli.h"
#include "cli/output.h"

int wt__cmd_check(struct cli *cli)
{
    wt_engine *engine = NULL;
    wt_error err;
    struct buffer out = {0};
    int code = wt__cli_open(cli, OPEN_EXISTING, "", &engine);
    if (code != 0)
        return code;
    int rc = wt_check(engine, &err);
    wt_close(engine);
    if (rc < 0)
        return wt__cli_fail(cli, &err);
    if (cli->json)
        wt__buffer_text(&out, "{\"sound\": true}\n");
    else
        wt__buffer_text(&out, "The store and its index are sound.\n");
    return wt__cli_print(&out) ? 0 : END_SYSTEM;
}
