/* lessons.c: what can be trained, in the order of "all": the encoder first, since the others start from it. */
#include "learn/fine_tuning.h"
#include "learn/learn.h"

const struct lesson wt__lessons[] = {
    {.public = {"encoder", "The encoder itself: requests and the tools that they used come nearer to each other"},
     .figure = "recall@5 by description and use",
     .losses = "contrast triplet",
     .needs = LESSON_NEEDS_MODEL,
     .batch = 32,
     .run = wt__lesson_encoder},
};
const size_t wt__lesson_count = sizeof wt__lessons / sizeof *wt__lessons;

const wt_lesson *wt_lesson_at(size_t index)
{
    return index < wt__lesson_count ? &wt__lessons[index].public : NULL;
}
