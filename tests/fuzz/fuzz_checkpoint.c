/* Fuzzes the reader of training checkpoints. The step numbers of an accepted checkpoint are consistent, and an error
 * has a message. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "learn/loop.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char path[64];
    float value[4] = {0}, gradient[4] = {0};
    struct model_parameter parameter = {
        .name = "line", .value = value, .gradient = gradient, .count = 4, .decays = true, .rate = 1};
    struct adamw_options options = ADAMW_DEFAULTS;
    struct adamw adamw;
    struct loop_state state;
    const struct train_buffers buffers = {value + 2, size % 2 ? 2 : 0};
    wt_error err;
    if (!*path)
        snprintf(path, sizeof path, "/tmp/whichtool-fuzz-checkpoint-%ld", (long)getpid());
    if (wt__file_replace(path, data, size, NULL) < 0 || wt__adamw_open(&adamw, &parameter, 1, &options, NULL) < 0)
        return 0;
    int rc = wt__checkpoint_read(path, "a line", &state, &adamw, &buffers, &err);
    if (rc > 0 && (state.step > state.steps || state.measured > state.step || state.best_step > state.measured))
        abort();
    if (rc < 0 && !*err.message)
        abort();
    wt__adamw_dispose(&adamw);
    unlink(path);
    return 0;
}
