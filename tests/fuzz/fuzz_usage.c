/* Any bytes as recorded use: what is taken must be what usage.h says a usage is. The bytes are also read as a time. */
#include <stdint.h>
#include <stdlib.h>

#include "catalog/usage_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static int take(void *context, const struct usage_draft *draft, wt_error *err)
{
    (void)context, (void)err;
    require(wt__usage_check_request(draft->request, NULL) == 0);
    require(draft->tool_count > 0 && draft->tool_count <= WT_MAX_USAGE_TOOLS);
    for (size_t i = 0; i < draft->tool_count; i++)
        require(draft->tools[i].len > 0 && draft->tools[i].len <= WT_MAX_USAGE_LABEL_BYTES);
    require(draft->outcome < USAGE_OUTCOMES && draft->time >= -1 && draft->time <= USAGE_TIME_MAX);
    require(draft->line > 0);
    return 0;
}

static void check_time(struct str text)
{
    int64_t seconds, again;
    char written[USAGE_TIME_BYTES];
    if (!wt__usage_time_read(text, &seconds))
        return;
    wt__usage_time_write(seconds, written);
    require(wt__usage_time_read(wt__str(written), &again) && again == seconds);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str bytes = {(const char *)data, size};
    for (int strict = 0; strict < 2; strict++) {
        struct usage_import import = {.take = take, .strict = strict != 0};
        wt_error err = {0};
        int rc = wt__usage_import_bytes(&import, bytes, "input", &err);
        require(rc == 0 ? !strict || import.skipped == 0 : rc == err.code && err.message[0] != '\0');
        require(import.issue_count <= WT_MAX_ISSUES && (strict || import.issue_count <= import.skipped));
        wt__usage_import_dispose(&import);
    }
    check_time(bytes);
    return 0;
}
