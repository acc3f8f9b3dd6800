/* coverage.c: see coverage.h. How much may be open or unread was chosen on dev (docs/verified-calls.md). */
#include "call/coverage.h"

#include <string.h>
#include <strings.h>

#include "call/demonstrations.h"
#include "retrieve/verbs.h"
#include "retrieve/words.h"

struct reading {
    struct call_arguments *arguments;
    struct str request, about;
    const struct parameters *parameters;
    bool open[PARAMETERS_MOST];
    bool without[DEMONSTRATIONS_MOST]; /* past calls that have none of the open arguments */
};

static bool has(const struct demonstration *call, const struct parameter *parameter)
{
    return json_object_get(call->arguments, parameter->name) != NULL;
}

static bool is_seldom(const struct parameters *parameters, const struct parameter *parameter)
{
    for (size_t i = 0; i < parameters->past_count; i++)
        if (has(&parameters->past[i], parameter))
            return false;
    return parameters->past_count >= COVERAGE_PAST_ENOUGH;
}

/* Returns how many are open. */
static size_t find_open(struct reading *r)
{
    size_t count = 0;
    for (size_t p = 0; p < r->arguments->len; p++) {
        const struct parameter *parameter = &r->parameters->items[p];
        bool words = parameter->kind == PARAMETER_STRING || parameter->kind == PARAMETER_ANY;
        const struct argument *argument = &r->arguments->items[p];
        r->open[p] =
            words && argument->state == ARGUMENT_ABSENT && !argument->declined && !is_seldom(r->parameters, parameter);
        count += r->open[p];
    }
    return count;
}

static void find_without(struct reading *r)
{
    for (size_t i = 0; i < r->parameters->past_count; i++) {
        r->without[i] = true;
        for (size_t p = 0; p < r->arguments->len; p++)
            r->without[i] &= !r->open[p] || !has(&r->parameters->past[i], &r->parameters->items[p]);
    }
}

static struct str beginning(struct str text)
{
    return (struct str){text.ptr, text.len < COVERAGE_BYTES ? text.len : COVERAGE_BYTES};
}

static bool has_word(struct str text, struct str word)
{
    size_t at = 0;
    for (struct str other; (other = wt__next_word(text, &at)).len > 0;)
        if (wt__words_alike(word, other))
            return true;
    return false;
}

static bool is_among(struct str word, const struct str *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (wt__words_alike(word, words[i]))
            return true;
    return false;
}

/* "find", "looking": what is to be done, which the tool does. */
static bool is_verb(struct str word)
{
    struct str base = word;
    bool goes_on = word.len > 5 && memcmp(word.ptr + word.len - 3, "ing", 3) == 0;
    base.len -= goes_on ? 3 : 0;
    return wt__verb(word).actions || wt__verb(base).actions;
}

static bool is_taken(const struct reading *r, size_t start, size_t end)
{
    for (size_t p = 0; p < r->arguments->len; p++)
        if (start < r->arguments->items[p].end && r->arguments->items[p].start < end)
            return true;
    return false;
}

/* Whether an argument is from the same word, said elsewhere. */
static bool is_said_again(const struct reading *r, struct str word)
{
    for (size_t p = 0; p < r->arguments->len; p++) {
        const struct argument *argument = &r->arguments->items[p];
        struct str text = {r->request.ptr + argument->start, argument->end - argument->start};
        size_t at = 0;
        for (struct str other; (other = wt__next_word(text, &at)).len > 0;)
            if (other.len == word.len && strncasecmp(other.ptr, word.ptr, word.len) == 0)
                return true;
    }
    return false;
}

/* Whether a past call that wanted no more than this one was asked for with the word. */
static bool is_of_past(const struct reading *r, struct str word)
{
    for (size_t i = 0; i < r->parameters->past_count; i++)
        if (r->without[i] && has_word(beginning(r->parameters->past[i].request), word))
            return true;
    return false;
}

static bool is_read(const struct reading *r, struct str word)
{
    if (word.len < 2 || wt__says_nothing(word) || is_verb(word) || has_word(r->about, word))
        return true;
    for (size_t p = 0; p < r->arguments->len; p++) {
        const struct parameter *parameter = &r->parameters->items[p];
        if (!r->open[p] && (is_among(word, parameter->words, parameter->word_count) ||
                            is_among(word, parameter->description_words, parameter->description_word_count)))
            return true;
    }
    return is_of_past(r, word);
}

/* Whether more words are unread than may be; of so many that none looks at them all, some are. */
static bool leaves_words(const struct reading *r)
{
    size_t at = 0, unread = 0, count = 0;
    for (struct str word; unread <= COVERAGE_UNREAD && (word = wt__next_word(r->request, &at)).len > 0;) {
        if (count++ == COVERAGE_WORDS)
            return true;
        size_t start = (size_t)(word.ptr - r->request.ptr);
        unread += !is_taken(r, start, start + word.len) && !is_said_again(r, word) && !is_read(r, word);
    }
    return unread > COVERAGE_UNREAD;
}

void wt__coverage_check(struct call_arguments *arguments, struct str request, struct str about,
                        const struct parameters *parameters)
{
    struct reading r = {
        .arguments = arguments, .request = request, .about = beginning(about), .parameters = parameters};
    size_t count = find_open(&r);
    find_without(&r);
    if (count == 0 || (count <= COVERAGE_OPEN && !leaves_words(&r)))
        return;
    for (size_t p = 0; p < arguments->len; p++)
        if (r.open[p])
            arguments->items[p].state = ARGUMENT_UNSURE;
}
