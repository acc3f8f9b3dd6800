/* default_parameters.c: the chooser of stores without usage, as data.
 *
 * Fitted by bench/bench_default_parameters.c on the train splits of metatool, metatool-multi and numpybank (MIT
 * licences), 300 requests each, with the untrained recipe. `no_answer` are percentiles of its no-answer probability on
 * answerable requests. docs/recommend.md measures it on other catalogues. */
#include "choose/chooser.h"

static const float no_answer[] = {
    0.04f,   0.05126f, 0.06067f, 0.07854f, 0.08427f, 0.09236f, 0.09691f, 0.1057f, 0.1139f, 0.1195f, 0.1267f,
    0.1383f, 0.1412f,  0.1449f,  0.151f,   0.1577f,  0.1654f,  0.1703f,  0.1732f, 0.1775f, 0.182f,  0.1874f,
    0.1933f, 0.1998f,  0.2073f,  0.2124f,  0.217f,   0.2245f,  0.2267f,  0.2332f, 0.2387f, 0.2424f, 0.2454f,
    0.2498f, 0.2561f,  0.2607f,  0.266f,   0.2691f,  0.2739f,  0.2835f,  0.2916f, 0.3001f, 0.3105f, 0.3156f,
    0.3202f, 0.3235f,  0.329f,   0.3347f,  0.3406f,  0.3452f,  0.3502f,  0.3558f, 0.3633f, 0.3695f, 0.3755f,
    0.3805f, 0.3864f,  0.3911f,  0.3961f,  0.4026f,  0.4079f,  0.4161f,  0.4249f, 0.4321f, 0.4389f, 0.4509f,
    0.4586f, 0.467f,   0.4776f,  0.4862f,  0.4966f,  0.5095f,  0.5145f,  0.5214f, 0.5313f, 0.5362f, 0.5446f,
    0.5541f, 0.5687f,  0.5772f,  0.5846f,  0.5908f,  0.6029f,  0.6197f,  0.6307f, 0.6435f, 0.6651f, 0.6736f,
    0.6897f, 0.7051f,  0.7205f,  0.7366f,  0.7476f,  0.7687f,  0.7832f,  0.803f,  0.8185f, 0.8415f, 0.8706f};

const struct chooser wt__chooser_default = {
    .likelihood = 0.75f,
    .past = 0.25f,
    .size = 0.5f,
    .tool_weights = {2.511f, 0.07186f, 1.134f, -1.404f, 2.007f, 1.972f, 0.4581f, 0, 0},
    .tool_constant = -2.705f,
    .sizes = {-1.222f, -0.9444f, -1.873f, -3.098f, -3.993f, -4.617f, -4.718f, -4.718f, -4.718f, -4.718f, -4.718f,
              -4.718f, -4.718f, -4.718f, -4.718f, -4.718f},
    .answerability_weights = {1.134f, 0.9674f, -2.661f, -3.792f, -1.99f, -1.449f, 0, 0, 0, 0},
    .answerability_constant = 2.779f,
    .no_answer = {no_answer, sizeof no_answer / sizeof *no_answer},
};
