/* Fuzzes the parser of completions from a server. The result is a completion or an error with a message. The reason of
 * an error contains neither control characters nor the key. A setting that was refused before is not reported as
 * refused again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "require.h"
#include "llm/internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char key[] = "sk-secret";
    struct str body = {(const char *)data, size};
    struct completion completion;
    wt_error err = {0};
    int rc = wt__completion_read(&completion, body, &err);
    require(rc == 0 ? completion.body != NULL : rc == err.code && !completion.body && err.message[0] != '\0');
    json_decref(completion.body);

    unsigned refused = 0, member;
    while ((member = wt__completion_refusal(body, refused)) != 0) {
        require((refused & member) == 0);
        refused |= member;
    }
    wt__completion_too_long(body);

    struct buffer reason = {0};
    wt__completion_reason(&reason, body, key, 100);
    require(reason.len <= 110);
    require(!reason.ptr || !strstr(reason.ptr, key));
    for (size_t i = 0; i < reason.len; i++)
        require((unsigned char)reason.ptr[i] >= ' ');
    wt__buffer_dispose(&reason);
    return 0;
}
