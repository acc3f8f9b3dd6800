/* default_parameters.c: the chooser of stores without usage, as data.
 *
 * Fitted by bench/bench_default_parameters.c on the train splits of metatool, metatool-multi and numpybank (MIT
 * licences), 300 requests each, by the recipe without training; `no_answer` are hundredths of what it gives requests
 * that a tool fits. What it is worth on a catalogue that it was not fitted on is in docs/recommend.md. */
#include "choose/chooser.h"

static const float no_answer[] = {
    0.03143f, 0.04142f, 0.05635f, 0.06391f, 0.07368f, 0.08003f, 0.08426f, 0.09045f, 0.09383f, 0.09897f, 0.1061f,
    0.1157f,  0.1231f,  0.1305f,  0.1369f,  0.1426f,  0.1471f,  0.1524f,  0.1586f,  0.1661f,  0.1719f,  0.176f,
    0.1832f,  0.1886f,  0.1943f,  0.2022f,  0.208f,   0.2137f,  0.2203f,  0.2246f,  0.2276f,  0.2342f,  0.2378f,
    0.244f,   0.2488f,  0.2546f,  0.258f,   0.2628f,  0.2709f,  0.2757f,  0.2845f,  0.2894f,  0.2964f,  0.3029f,
    0.3104f,  0.3136f,  0.3173f,  0.3248f,  0.3304f,  0.3382f,  0.3436f,  0.3496f,  0.3593f,  0.3684f,  0.3731f,
    0.381f,   0.3937f,  0.4061f,  0.4151f,  0.4229f,  0.4329f,  0.4428f,  0.449f,   0.4567f,  0.4607f,  0.4677f,
    0.4734f,  0.4782f,  0.4883f,  0.4976f,  0.5051f,  0.5104f,  0.522f,   0.5319f,  0.5383f,  0.5452f,  0.5534f,
    0.5628f,  0.5759f,  0.5876f,  0.5948f,  0.6033f,  0.6111f,  0.6293f,  0.6367f,  0.6535f,  0.6595f,  0.6702f,
    0.6821f,  0.6893f,  0.7015f,  0.7117f,  0.724f,   0.7389f,  0.7542f,  0.7746f,  0.7914f,  0.8082f,  0.854f};

const struct chooser wt__chooser_default = {
    .likelihood = 0.75f,
    .past = 0.25f,
    .size = 0.5f,
    .tool_weights = {4.144f, -0.4954f, 0.9753f, -2.22f, 2.197f, 3.089f, -0.4676f, 0, 0},
    .tool_constant = -4.321f,
    .sizes = {-1.222f, -0.9444f, -1.873f, -3.098f, -3.993f, -4.617f, -4.718f, -4.718f, -4.718f, -4.718f, -4.718f,
              -4.718f, -4.718f, -4.718f, -4.718f, -4.718f},
    .answerability_weights = {1.975f, 1.566f, -3.903f, -1.97f, -5.31f, -1.377f, 0, 0, 0, 0},
    .answerability_constant = 2.985f,
    .no_answer = {no_answer, sizeof no_answer / sizeof *no_answer},
};
