/* untrained.c: a chooser for stores without usage, as data: fitted on other catalogues. */
#include "choose/chooser.h"

const struct chooser wt__chooser_untrained = {
    .tool_weights = {[TOOL_SHARE] = 6, [TOOL_RANK] = 1},
    .tool_constant = -5,
    .likelihood = 0.75f,
    .fit_weights = {[FIT_MEANING] = -8, [FIT_WORDS] = -4},
    .fit_constant = 4,
};
