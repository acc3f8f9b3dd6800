/* data_hash.c: computes the hash of the training data without training. It shows whether an existing model was trained
 * on this data. */
#include <string.h>

#include "learn/examples.h"

int wt_training_data(wt_engine *engine, const char *data, uint64_t seed, char sha256[65], wt_error *err)
{
    struct examples examples;
    const struct examples_options options = {.data = data, .seed = seed ? seed : 1};
    int rc = wt__examples_read(&examples, engine, &options, NULL, err);
    if (rc < 0)
        return rc;
    memcpy(sha256, examples.hash, sizeof examples.hash);
    wt__examples_dispose(&examples);
    return 0;
}
