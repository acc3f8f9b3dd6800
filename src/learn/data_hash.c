/* data_hash.c: what a model would be said to have learned from, without learning anything: so that whoever finds a
 * trained model can tell whether it is the one of this data. */
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
