/* Fuzzes the reader of decisions in both formats: an error has a message, and an answer is JSON whose numbers are
 * probabilities. */
#include <stdint.h>
#include <stdlib.h>

#include "base/json.h"
#include "require.h"
#include "wire/verbs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_numbers(const json_t *value, const char *key)
{
    const char *name;
    const json_t *member;
    if (json_is_real(value) && strcmp(key, "score") != 0)
        require(json_real_value(value) >= 0 && json_real_value(value) <= 1.0001);
    for (size_t i = 0; i < json_array_size(value); i++)
        check_numbers(json_array_get(value, i), key);
    if (json_is_object(value))
        json_object_foreach((json_t *)value, name, member) check_numbers(member, name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static wt_engine *engine;
    static int (*const verbs[])(struct json_run *, struct str, wt_error *) = {wt__run_decide, wt__run_system_one};
    wt_open_options options;
    wt_open_options_init(&options);
    options.model = WT_BUILT_IN_MODEL;
    if (!engine)
        require(wt_open(&engine, ":memory:", &options, NULL) == 0);
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        struct buffer out = {0};
        struct json_run run = {.engine = engine, .out = &out};
        json_t *answer = NULL;
        wt_error err = {0};
        int rc = verbs[i](&run, (struct str){(const char *)data, size}, &err);
        require(rc == 0 || (rc == err.code && err.message[0] != '\0'));
        if (rc == 0) {
            require(wt__json_parse(&answer, out.ptr, out.len, NULL) == 0);
            check_numbers(answer, "");
        }
        json_decref(answer);
        wt__buffer_dispose(&out);
    }
    return 0;
}
