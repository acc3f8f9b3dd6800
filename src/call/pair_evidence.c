/* pair_evidence.c: see pair_evidence.h. */
#include "call/pair_evidence.h"

#include <math.h>

#include "call/forms.h"
#include "retrieve/words.h"

static const float DESCRIPTION_EVIDENCE = .35F;
static const float BOUND_EVIDENCE = .9F;
static const float TELLS_ITSELF = .3F; /* a date is recognisable by its form */

bool wt__repeats_name(const struct parameter *parameter, struct str text)
{
    for (size_t i = 0; i < parameter->word_count; i++)
        if (wt__words_alike(parameter->words[i], text))
            return true;
    return false;
}

static float score_text_kind(const struct parameter *parameter, const struct literal *literal)
{
    bool is_date = literal->kind == LITERAL_DATE, is_time = literal->kind == LITERAL_TIME;
    if (literal->kind == LITERAL_DATE_TIME)
        return parameter->takes_date_time ? TELLS_ITSELF : PAIR_NEVER;
    if (parameter->takes_date || parameter->takes_time)
        return (parameter->takes_date && is_date) || (parameter->takes_time && is_time) ? TELLS_ITSELF : PAIR_NEVER;
    if (is_date || is_time)
        return PAIR_NEVER;
    if (literal->kind == LITERAL_NUMBER)
        return parameter->takes_code && parameter->letters == 0 && !literal->spelled ? 0 : PAIR_NEVER;
    if (literal->kind == LITERAL_NAME && (parameter->takes_free_text || wt__repeats_name(parameter, literal->text)))
        return PAIR_NEVER;
    return parameter->takes_currency && literal->kind == LITERAL_NAME && wt__is_currency(literal->text) ? TELLS_ITSELF
                                                                                                        : PAIR_LITTLE;
}

float wt__kind_evidence(const struct parameter *parameter, const struct literal *literal)
{
    bool number = literal->kind == LITERAL_NUMBER;
    switch (parameter->kind) {
    case PARAMETER_INTEGER:
        return number && literal->number == floor(literal->number) ? (literal->spelled ? -PAIR_LITTLE : 0) : PAIR_NEVER;
    case PARAMETER_NUMBER:
        return number ? (literal->spelled ? -PAIR_LITTLE : 0) : PAIR_NEVER;
    case PARAMETER_ANY:
        return number ? 0 : score_text_kind(parameter, literal);
    case PARAMETER_STRING:
        return score_text_kind(parameter, literal);
    default:
        return PAIR_NEVER;
    }
}

bool wt__fits_as_answer(const struct parameter *parameter, const struct literal *literal)
{
    bool text = parameter->kind == PARAMETER_STRING || parameter->kind == PARAMETER_ANY;
    bool moment = parameter->takes_date || parameter->takes_time || parameter->takes_date_time;
    return wt__kind_evidence(parameter, literal) > PAIR_NEVER || (text && !moment && literal->kind >= LITERAL_EMAIL);
}

float wt__word_evidence(const struct parameter *parameter, struct str word)
{
    for (size_t i = 0; i < parameter->word_count; i++)
        if (wt__words_alike(parameter->words[i], word))
            return PAIR_NAMED;
    for (size_t i = 0; i < parameter->description_word_count; i++)
        if (wt__words_alike(parameter->description_words[i], word))
            return DESCRIPTION_EVIDENCE;
    return 0;
}

enum parameter_bound wt__bound_cue(struct str word, struct str before)
{
    static const char *const lowest[] = {"least", "minimum", "min", "above", "over", "exceeding"};
    static const char *const highest[] = {"most", "maximum", "max", "under", "below", "within", "upto"};
    static const char *const more[] = {"more", "greater", "higher"}, *const less[] = {"less", "lower", "fewer",
                                                                                      "cheaper"};
    if (wt__str_among(word, lowest, sizeof lowest / sizeof *lowest))
        return BOUND_LOWEST;
    if (wt__str_among(word, highest, sizeof highest / sizeof *highest))
        return BOUND_HIGHEST;
    if (wt__str_equal(word, STR("than")))
        return wt__str_among(before, more, sizeof more / sizeof *more)   ? BOUND_LOWEST
               : wt__str_among(before, less, sizeof less / sizeof *less) ? BOUND_HIGHEST
                                                                         : BOUND_NONE;
    if (wt__str_equal(word, STR("to")))
        return wt__str_equal(before, STR("up")) ? BOUND_HIGHEST : BOUND_TO;
    return wt__str_equal(word, STR("from")) ? BOUND_FROM : BOUND_NONE;
}

enum parameter_bound wt__bound_opposite(enum parameter_bound bound)
{
    return bound == BOUND_LOWEST ? BOUND_HIGHEST : bound == BOUND_HIGHEST ? BOUND_LOWEST : bound;
}

static bool is_lower_end(enum parameter_bound bound)
{
    return bound == BOUND_LOWEST || bound == BOUND_FROM;
}

float wt__bound_evidence(const struct parameter *parameter, enum parameter_bound said)
{
    bool strict = parameter->bound == BOUND_LOWEST || parameter->bound == BOUND_HIGHEST;
    if (parameter->bound == BOUND_NONE)
        return said == BOUND_LOWEST || said == BOUND_HIGHEST ? -.2F : 0;
    if (said == BOUND_NONE)
        return strict ? PAIR_NEVER : 0;
    return is_lower_end(parameter->bound) == is_lower_end(said) ? BOUND_EVIDENCE : PAIR_NEVER;
}
