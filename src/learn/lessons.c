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
    {.public = {"encoder", "The encoder itself: requests and the tools that they used come nearer to each other"},
     .figure = "recall@5 by description and use",
     .losses = "contrast triplet softmax bce",
     .needs = LESSON_NEEDS_MODEL,
     .batch = 32,
     .run = wt__lesson_encoder},
    {.public = {"dpr", "Requests against the tools' texts by the trained encoder, which it measures"},
     .figure = "recall@5",
     .losses = "",
     .needs = LESSON_NEEDS_MODEL | LESSON_NEEDS_ONE_SET,
     .batch = 1,
     .run = wt__lesson_dpr},
    {.public = {"tool2vec", "A vector for each tool from the requests that used it, blended with its description's"},
     .figure = "recall@5",
     .losses = "",
     .needs = LESSON_NEEDS_MODEL | LESSON_NEEDS_ONE_SET,
     .batch = 1,
     .run = wt__lesson_tool2vec},
    {.public = {"mlc", "A classifier of requests with a row for each tool"},
     .figure = "mean recall at 3, 5 and 7",
     .losses = "contrast softmax bce",
     .needs = LESSON_NEEDS_MODEL | LESSON_NEEDS_ONE_SET,
     .batch = MLC_BATCH,
     .rate = MLC_RATE,
     .run = wt__lesson_mlc},
    {.public = {"neighbours", "Past requests with the tools that they used, to look for those like a new one"},
     .figure = "recall@5",
     .losses = "",
     .needs = LESSON_NEEDS_MODEL | LESSON_NEEDS_ONE_SET,
     .batch = 1,
     .run = wt__lesson_neighbours},
    {.public = {"tool2vec+refiner", "A second look at the best of tool2vec, together with the request"},
     .figure = "mean recall at 3, 5 and 7",
     .losses = "softmax bce",
     .needs = LESSON_NEEDS_MODEL | LESSON_NEEDS_ONE_SET,
     .batch = REFINER_BATCH,
     .rate = REFINER_RATE,
     .run = wt__lesson_refiner},
    {.public = {"mlc+refiner", "A second look at the best of mlc, together with the request"},
     .figure = "mean recall at 3, 5 and 7",
     .losses = "softmax bce",
     .needs = LESSON_NEEDS_MODEL | LESSON_NEEDS_ONE_SET,
     .batch = REFINER_BATCH,
     .rate = REFINER_RATE,
     .run = wt__lesson_refiner},
    {.public = {"auto", "Which recipe, with which weights, serves these tools and requests best"},
     .figure = "recall@5",
     .losses = "",
     .needs = LESSON_NEEDS_MODEL | LESSON_NEEDS_ONE_SET,
     .batch = 1,
     .run = wt__lesson_auto},
    {.public = {"set", "Which of the hits are the set that a request needs, and when there is none"},
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
    {.public = {"toolrerank", "Whether a request needs one provider or several, and how to order tools by that"},
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
