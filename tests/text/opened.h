/* opened.h: a tokenizer built from strings, for tests of the algorithms and of their common interface. */
#ifndef WT_TESTS_TEXT_OPENED_H
#define WT_TESTS_TEXT_OPENED_H

#include "base/buffer.h"
#include "text/support.h"
#include "text/tokenizer.h"

/* A tokenizer and its blob. */
struct opened {
    struct tokenizer tokenizer;
    struct buffer blob;
};

static inline void open_files(struct opened *out, const struct tokenizer_files *files)
{
    wt_error err = {0};

    memset(out, 0, sizeof *out);
    if (wt__tokenizer_build(&out->blob, files, &err) != 0 ||
        wt__tokenizer_open(&out->tokenizer, out->blob.ptr, out->blob.len, &err) != 0)
        fail_msg("%s", err.message);
}

static inline void open_json(struct opened *out, const char *json)
{
    open_files(out, &(struct tokenizer_files){.tokenizer_json = wt__str(json)});
}

static inline void dispose_opened(struct opened *opened)
{
    wt__buffer_dispose(&opened->blob);
}

static inline void assert_encoded(const struct tokenizer *t, struct str text, size_t max_tokens, const char *expected)
{
    int32_t ids[64] = {0};
    struct buffer shown = {0};

    assert_true(max_tokens <= 64);
    size_t count = wt__tokenizer_encode(t, text, max_tokens, ids);
    assert_true(count <= max_tokens);
    for (size_t i = 0; i < count; i++)
        wt__buffer_printf(&shown, "%s%d", i ? " " : "", (int)ids[i]);
    if (strcmp(shown.ptr ? shown.ptr : "", expected) != 0)
        fail_msg("\"%.*s\" gives %s, not %s", (int)text.len, text.len ? text.ptr : "", shown.ptr ? shown.ptr : "",
                 expected);
    wt__buffer_dispose(&shown);
}

#endif
