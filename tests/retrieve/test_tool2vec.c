/* Tests the reading of Tool2Vec weights from a config, and the formula of wt__tool2vec against vectors computed by
 * hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "retrieve/trained_vectors.h"

static const struct {
    const char *name, *config;
    struct tool2vec weights;
} configs[] = {
    {"no interpolation", "{}", {1, 1, 0}},
    {"empty interpolation", "{\"interpolation\":{}}", {1, 1, 0}},
    {"all weights", "{\"interpolation\":{\"description\":0.25,\"usage\":2,\"shrink\":3}}", {0.25f, 2, 3}},
    {"not numbers", "{\"interpolation\":{\"description\":\"x\",\"usage\":null,\"shrink\":[]}}", {1, 1, 0}},
    {"huge numbers", "{\"interpolation\":{\"description\":1e30,\"usage\":1e30,\"shrink\":1e30}}", {0, 0, 0}},
    {"negative shrinkage", "{\"interpolation\":{\"shrink\":-1}}", {1, 1, 0}},
};

static void reads_weights_with_defaults(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        json_t *config;
        wt_error err;
        assert_int_equal(wt__json_parse(&config, configs[i].config, strlen(configs[i].config), &err), 0);
        struct tool2vec got = wt__tool2vec_read(config);
        if (memcmp(&got, &configs[i].weights, sizeof got) != 0)
            fail_msg("%s: %g %g %g", configs[i].name, (double)got.description, (double)got.usage, (double)got.shrink);
        json_decref(config);
    }
}

/* The description is (1, 0) and the mean of the requests is (0, 1). The angle of the result shows their relative
 * weights. */
static const struct {
    const char *name;
    struct tool2vec weights;
    float sum[2];  /* sum of the request vectors */
    uint32_t uses; /* number of requests */
    double usage;  /* effective weight of the mean relative to a description of weight 1 */
} means[] = {
    {"equal weights", {1, 1, 0}, {0, 5}, 5, 1},
    {"the length of the sum is ignored", {1, 1, 0}, {0, 0.5f}, 5, 1},
    {"usage counts twice", {1, 2, 0}, {0, 5}, 5, 2},
    {"the description counts twice", {2, 1, 0}, {0, 5}, 5, 0.5},
    {"half weight for as many requests as the shrinkage", {1, 1, 5}, {0, 5}, 5, 0.5},
    {"nearly full weight for many requests", {1, 1, 5}, {0, 5}, 95, 0.95},
    {"no weight without requests", {1, 1, 0}, {0, 0}, 0, 0},
};

static void mean_counts_by_weight_and_uses(void **state)
{
    static const float document[2] = {1, 0};
    (void)state;
    for (size_t i = 0; i < sizeof means / sizeof *means; i++) {
        float out[2];
        double length = sqrt(1 + means[i].usage * means[i].usage);
        wt__tool2vec(&means[i].weights, 2, document, means[i].sum, means[i].uses, out);
        if (!(fabs((double)out[0] - 1 / length) < 1e-6 && fabs((double)out[1] - means[i].usage / length) < 1e-6))
            fail_msg("%s: %g %g", means[i].name, (double)out[0], (double)out[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_weights_with_defaults),
        cmocka_unit_test(mean_counts_by_weight_and_uses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
