/* Fuzzes the reader of conversations: results satisfy the contracts of messages.h. */
#include <stdint.h>
#include <stdlib.h>

#include "catalog/messages.h"
#include "require.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_conversation(const struct conversation *read)
{
    size_t last = wt__messages_last_user(read);
    require(read->len <= WT_MAX_MESSAGES && read->call_count <= WT_MAX_KEPT);
    require((read->left_out > 0) == (read->reason != NULL));
    require(last == read->len || read->turns[last].user);
    for (size_t i = 0; i < read->len; i++) {
        require(wt__str_trim(read->turns[i].text).len > 0 && (i <= last || !read->turns[i].user));
        require(strlen(read->turns[i].text.ptr) == read->turns[i].text.len);
    }
    for (size_t i = 0; i < read->call_count; i++) {
        require(read->calls[i].len > 0 && read->calls[i].len <= CALLED_NAME_BYTES);
        require(strlen(read->calls[i].ptr) == read->calls[i].len);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str bytes = {(const char *)data, size};
    struct arena arena = {0};
    struct conversation read;
    wt_error err = {0};
    int rc = wt__messages_read(&read, bytes, &arena, &err);
    require(rc == 0 || (rc == err.code && err.message[0] != '\0'));
    if (rc == 0)
        check_conversation(&read);
    wt__arena_dispose(&arena);
    return 0;
}
