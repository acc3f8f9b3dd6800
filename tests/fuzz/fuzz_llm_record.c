/* Fuzzes files of recorded answers: every file opens, and each answer is replayed or reported as missing. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "llm/record.h"
#include "require.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    struct chat_record *record;
    struct chat_question question = {.task = "t/1", .text = STR("x"), .max_tokens = 2};
    struct chat_answer answer;
    struct arena arena = {0};
    wt_error err = {0};
    int fd = memfd_create("record", MFD_CLOEXEC);
    require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    require(wt__chat_record_open(&record, path, "m", NULL, &err) == 0);
    int rc = wt__chat_ask(wt__chat_record_model(record), &question, &arena, &answer, &err);
    require(rc == 0 || ((rc == WT_ENOTFOUND || rc == WT_EFORMAT) && err.message[0] != '\0'));
    wt__chat_record_close(record);
    wt__arena_dispose(&arena);
    close(fd);
    return 0;
}
