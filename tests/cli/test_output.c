/* Tests the printed rows of tools for several terminal widths. The description is cut first, then the provider. The
 * name is never cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "cli/cli.h"

#define LONG "Sends an invitation to everybody who is on the list"

static const struct {
    const char *provider, *name, *description;
    size_t width;    /* columns of the terminal; 0 for no limit */
    const char *row; /* expected output, with the lead "  1 " */
} rows[] = {
    {"mail", "send", "Sends", 0, "  1 mail/send  Sends\n"},
    {"mail", "send", "Sends", 40, "  1 mail/send\n    Sends\n"},
    {"mail", "send", LONG, 60, "  1 mail/send  Sends an invitation to everybody who is on t…\n"},
    {"mail", "send", "", 60, "  1 mail/send\n"},
    {"", "send", "Sends", 60, "  1 send  Sends\n"},
    /* Output to a pipe is not cut. */
    {"a_provider_with_a_long_name_of_its_own", "a_tool_with_a_long_name_too", LONG, 0,
     "  1 a_provider_with_a_long_name_of_its_own/a_tool_with_a_long_name_too  " LONG "\n"},
    /* Next to a description, the id takes at most 44 columns. On a line of its own, the id is cut only if it is too
       long for the line. */
    {"a_provider_with_a_long_name_of_its_own", "a_tool_with_a_long_name_too", LONG, 80,
     "  1 a_provider_with…/a_tool_with_a_long_name_too  Sends an invitation to everyb…\n"},
    {"github", "issues_list_for_authenticated_user", LONG, 60,
     "  1 github/issues_list_for_authenticated_user\n    " LONG "\n"},
    {"githubs_official_openapi_spec", "issues_list_for_authenticated_user", LONG, 60,
     "  1 githubs_official_ope…/issues_list_for_authenticated_user\n    " LONG "\n"},
    {"githubs_official_openapi_spec", "issues_list_for_authenticated_user", LONG, 40,
     "  1 …/issues_list_for_authenticated_user\n    Sends an invitation to everybody wh…\n"},
    {"githubs_official_openapi_spec", "issues_list_for_authenticated_user", LONG, 120,
     "  1 githubs_…/issues_list_for_authenticated_user  Sends an invitation to everybody who is on the list\n"},
    /* A name longer than a line is broken, not cut. */
    {"github", "issues_list_for_authenticated_user_and_everybody_else", LONG, 40,
     "  1 issues_list_for_authenticated_user_a\n    nd_everybody_else\n    Sends an invitation to everybody wh…\n"},
    {"github", "issues_list_for_the_authenticated_users", "", 40,
     "  1 issues_list_for_the_authenticated_us\n    ers\n"},
    {"天気予報天気予報天気予報", "予報を得る", "晴れ", 24, "  1 天気予報…/予報を得る\n    晴れ\n"},
};

static void tool_names_are_never_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct cli cli = {.width = rows[i].width};
        struct buffer id = {0}, out = {0};
        wt__buffer_printf(&id, "%s%s%s", rows[i].provider, *rows[i].provider ? "/" : "", rows[i].name);
        wt_tool tool = {.id = id.ptr,
                        .provider = rows[i].provider,
                        .name = rows[i].name,
                        .title = "",
                        .description = rows[i].description};
        const struct list_row row = {"  1 ", 4, &tool};
        wt__put_tool_row(&cli, &out, &row, wt__id_width(&cli, &tool, 0));
        if (strcmp(out.ptr, rows[i].row) != 0)
            fail_msg("row %zu on %zu columns:\n%snot\n%s", i, rows[i].width, out.ptr, rows[i].row);
        wt__buffer_dispose(&id);
        wt__buffer_dispose(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tool_names_are_never_cut)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
