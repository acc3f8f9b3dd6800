/* lessons.c: what can be trained, in the order of "all": the encoder first, since the others start from it. */
#include "learn/auto.h"
#include "learn/cross_trainer.h"
#include "learn/dpr.h"
#include "learn/fine_tuning.h"
#include "learn/mlc_trainer.h"
#include "learn/neighbours_trainer.h"
#include "learn/refiner_trainer.h"
#include "learn/set.h"
#include "learn/tool2vec_trainer.h"
#include "learn/toolrerank_trainer.h"

const struct lesson wt__lessons[] = {
    {.public = {"encoder", "The dense encoder: fine-tuned on requests and the tools that they used"},
     .figure = "recall@5 by description and use",
     .losses = "contrast triplet softmax bce",
     .needs = LESSON_NEEDS_MODEL,
     .batch = 32,
     .run = wt__lesson_encoder},
    {.public = {"dpr", "Dense retrieval over the tools' texts by the trained encoder, which it measures"},
     .figure = "recall@5",
     .losses = "",
     .needs = LESSON_NEEDS_MODEL | LESSON_NEEDS_ONE_SET,
     .batch = 1,
     .run = wt__lesson_dpr},
    {.public = {"tool2vec",
                "An embedding of each tool from the requests that used it, interpolated with its description's"},
     .figure = "recall@5",
     .losses = "",
     .needs = LESSON_NEEDS_MODEL | LESSON_NEEDS_ONE_SET,
     .batch = 1,
     .run = wt__lesson_tool2vec},
    {.public = {"mlc", "A multi-label classifier of requests, with a row for each tool"},
     .figure = "mean recall at 3, 5 and 7",
     .losses = "contrast softmax bce",
     .needs = LESSON_NEEDS_MODEL | LESSON_NEEDS_ONE_SET,
     .batch = MLC_BATCH,
     .rate = MLC_RATE,
     .run = wt__lesson_mlc},
    {.public = {"neighbours", "Past requests with the tools that they used, for nearest-neighbour retrieval"},
     .figure = "recall@5",
     .losses = "",
     .needs = LESSON_NEEDS_MODEL | LESSON_NEEDS_ONE_SET,
     .batch = 1,
     .run = wt__lesson_neighbours},
    {.public = {"tool2vec+refiner", "A refiner, which reranks the best of tool2vec together with the request"},
     .figure = "mean recall at 3, 5 and 7",
     .losses = "softmax bce",
     .needs = LESSON_NEEDS_MODEL | LESSON_NEEDS_ONE_SET,
     .batch = REFINER_BATCH,
     .rate = REFINER_RATE,
     .run = wt__lesson_refiner},
    {.public = {"mlc+refiner", "A refiner, which reranks the best of mlc together with the request"},
     .figure = "mean recall at 3, 5 and 7",
     .losses = "softmax bce",
     .needs = LESSON_NEEDS_MODEL | LESSON_NEEDS_ONE_SET,
     .batch = REFINER_BATCH,
     .rate = REFINER_RATE,
     .run = wt__lesson_refiner},
    {.public = {"auto", "Model selection: which recipe, with which weights, is best on dev"},
     .figure = "recall@5",
     .losses = "",
     .needs = LESSON_NEEDS_MODEL | LESSON_NEEDS_ONE_SET,
     .batch = 1,
     .run = wt__lesson_auto},
    {.public = {"set", "Set prediction: which of the hits a request needs, calibrated, and when no tool fits"},
     .figure = "TRACC",
     .losses = "",
     .needs = LESSON_NEEDS_MODEL | LESSON_NEEDS_ONE_SET,
     .batch = 1,
     .run = wt__lesson_set},
    {.public = {"cross", "A cross-encoder, which reads a request and a tool together; not one of \"all\""},
     .figure = "recall@5 of the best 30, ranked anew",
     .losses = "softmax bce",
     .needs = LESSON_NEEDS_MODEL | LESSON_NEEDS_WISH,
     .batch = CROSS_BATCH,
     .rate = CROSS_RATE,
     .run = wt__lesson_cross},
    {.public = {"toolrerank", "ToolRerank: single- or multi-provider requests, and the parameters of its algorithms"},
     .figure = "mean of recall and NDCG at 5",
     .losses = "",
     .needs = LESSON_NEEDS_MODEL | LESSON_NEEDS_ONE_SET,
     .batch = 1,
     .run = wt__lesson_toolrerank},
};
const size_t wt__lesson_count = sizeof wt__lessons / sizeof *wt__lessons;

const wt_lesson *wt_lesson_at(size_t index)
{
    return index < wt__lesson_count ? &wt__lessons[index].public : NULL;
}
