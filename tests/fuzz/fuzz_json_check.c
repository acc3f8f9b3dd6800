/* Fuzzes the strict check of untrusted JSON, and the shapes of results and errors. Texts that pass the check are also
 * accepted by jansson, except for duplicate keys and NUL. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_check.h"
#include "mcp/shape.h"
#include "require.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_shapes(struct str text)
{
    static const char *const methods[] = {"tools/call", "prompts/get", "resources/read", "completion/complete"};
    static const char *const lists[] = {"tools", "resources", "resourceTemplates", "prompts"};
    struct mcp_misfit misfit = {NULL, NULL};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        require(wt__mcp_result_fits(methods[i], text, &misfit) || (misfit.member && misfit.wanted));
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        require(wt__mcp_item_fits(lists[i], text, &misfit) || (misfit.member && misfit.wanted));
    require(wt__mcp_error_fits(text, &misfit) || misfit.wanted);
    require(wt__mcp_question_fits(STR("sampling/createMessage"), text, &misfit) || misfit.wanted);
    require(wt__mcp_notice_fits(STR("notifications/message"), text, &misfit) || misfit.wanted);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = {(const char *)data, size};
    struct json_fault fault = {0, NULL};
    json_t *tree = NULL;
    bool valid = wt__json_check(text, &fault);
    require(valid || (fault.reason && fault.byte <= size + 1));
    int rc = wt__json_parse(&tree, text.ptr ? text.ptr : "", size, NULL);
    bool has_escape = size > 0 && memchr(data, '\\', size);
    require(valid || rc < 0 || size > JSON_CHECK_NUMBER_MAX);
    require(!valid || rc == 0 || rc == WT_EFORMAT || has_escape);
    json_decref(tree);
    if (valid)
        check_shapes(wt__str_trim(text));
    return 0;
}
