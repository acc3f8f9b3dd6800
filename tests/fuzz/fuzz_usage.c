/* Fuzzes the reader of recorded use. Results satisfy the contracts of usage.h. Written arguments are read back
 * unchanged, and their credentials can be removed. The bytes are also parsed as a time. */
#include <stdint.h>
#include <stdlib.h>

#include "base/clock.h"
#include "catalog/credentials.h"
#include "catalog/usage.h"
#include "require.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Checks that written arguments are read back unchanged, unless they are too long to be written. */
static void check_arguments(const json_t *arguments)
{
    struct buffer text = {0}, again = {0};
    json_t *read;
    require(json_is_object(arguments));
    if (wt__usage_write_arguments(&text, arguments, NULL) == 0) {
        require(wt__usage_check_arguments(wt__buffer_view(&text), NULL) == 0);
        require(wt__usage_read_arguments(&read, wt__buffer_view(&text), NULL) == 0);
        require(wt__usage_write_arguments(&again, read, NULL) == 0);
        require(wt__str_equal(wt__buffer_view(&text), wt__buffer_view(&again)));
        json_decref(read);
    }
    wt__buffer_dispose(&text);
    wt__buffer_dispose(&again);
}

static int check_usage_draft(void *context, const struct usage_draft *draft, wt_error *err)
{
    size_t *tools = context;
    (void)err;
    *tools += draft->tool_count;
    require(wt__usage_check_request(draft->request, NULL) == 0);
    require(draft->tool_count > 0 && draft->tool_count <= WT_MAX_USAGE_TOOLS);
    for (size_t i = 0; i < draft->tool_count; i++) {
        const struct usage_draft_tool *tool = &draft->tools[i];
        require(tool->name.len > 0 && tool->name.len <= WT_MAX_USAGE_LABEL_BYTES);
        bool had = tool->arguments && wt__may_have_credentials(tool->arguments);
        if (tool->arguments)
            check_arguments(tool->arguments);
        if (had)
            wt__drop_credentials(tool->arguments, tool->name, NULL);
        require(!tool->arguments || !wt__may_have_credentials(tool->arguments));
    }
    require(draft->outcome < USAGE_OUTCOMES && draft->time >= -1 && draft->time <= CLOCK_TEXT_MAX);
    require(draft->line > 0);
    return 0;
}

static void check_time(struct str text)
{
    int64_t seconds, again;
    char written[CLOCK_TEXT_BYTES];
    if (!wt__usage_time_read(text, &seconds))
        return;
    wt__clock_text(seconds, written);
    require(wt__usage_time_read(wt__str(written), &again) && again == seconds);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str bytes = {(const char *)data, size};
    for (int strict = 0; strict < 2; strict++) {
        size_t tools = 0;
        struct usage_import import = {.take = check_usage_draft, .context = &tools, .strict = strict != 0};
        wt_error err = {0};
        int rc = wt__usage_import_bytes(&import, bytes, "input", &err);
        require(rc == 0 ? !strict || import.skipped == 0 : rc == err.code && err.message[0] != '\0');
        require(import.issue_count <= WT_MAX_ISSUES &&
                (strict || import.issue_count <= import.skipped + tools + WT_MAX_USAGE_TOOLS));
        wt__usage_import_dispose(&import);
    }
    check_time(bytes);
    return 0;
}
