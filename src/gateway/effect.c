#include "gateway/effect.h"

static const char *const words[EFFECTS] = {"read", "write", "destructive"};

enum effect wt__effect_of(const json_t *definition)
{
    const json_t *annotations = wt__json_object(definition, "annotations");
    if (wt__json_bool(annotations, "readOnlyHint", false))
        return EFFECT_READ;
    return wt__json_bool(annotations, "destructiveHint", true) ? EFFECT_DESTROY : EFFECT_WRITE;
}

const char *wt__effect_word(enum effect effect)
{
    return words[effect];
}

int wt__effect_parse(struct str word)
{
    for (int i = 0; i < EFFECTS; i++)
        if (wt__str_equal(word, wt__str(words[i])))
            return i;
    return -1;
}
