/* coverage.c: finds the unread words of a request; see arguments.h. The COVERAGE_ limits were chosen on the dev sets
 * (docs/verified-calls.md). */
#include "call/argument_reader.h"

#include <string.h>
#include <strings.h>

#include "base/buffer.h"
#include "base/json.h"
#include "base/memory.h"
#include "retrieve/words.h"

struct coverage_reader {
    struct call_arguments *arguments;
    struct str request, about; /* about: name and description of the tool, or only the description */
    const struct parameters *parameters;
    bool open[PARAMETERS_MOST];        /* true for an open argument */
    bool without[DEMONSTRATIONS_MOST]; /* true for a past call that has no open argument */
};

static bool call_has_argument(const struct demonstration *call, const struct parameter *parameter)
{
    return json_object_get(call->arguments, parameter->name) != NULL;
}

static bool is_rare_argument(const struct parameters *parameters, const struct parameter *parameter)
{
    for (size_t i = 0; i < parameters->past_count; i++)
        if (call_has_argument(&parameters->past[i], parameter))
            return false;
    return parameters->past_count >= COVERAGE_PAST_ENOUGH;
}

/* Marks the open arguments and returns their number. */
static size_t find_open_arguments(struct coverage_reader *r)
{
    size_t count = 0;
    for (size_t p = 0; p < r->arguments->len; p++) {
        const struct parameter *parameter = &r->parameters->items[p];
        const struct call_argument *argument = &r->arguments->items[p];
        r->open[p] = wt__takes_text(parameter) && argument->state == ARGUMENT_ABSENT && !argument->declined &&
                     !is_rare_argument(r->parameters, parameter);
        count += r->open[p];
    }
    return count;
}

static void find_calls_without(struct coverage_reader *r)
{
    for (size_t i = 0; i < r->parameters->past_count; i++) {
        r->without[i] = true;
        for (size_t p = 0; p < r->arguments->len; p++)
            r->without[i] &= !r->open[p] || !call_has_argument(&r->parameters->past[i], &r->parameters->items[p]);
    }
}

/* Returns at most the first COVERAGE_BYTES bytes of the text. */
static struct str cut_request(struct str text)
{
    return (struct str){text.ptr, text.len < COVERAGE_BYTES ? text.len : COVERAGE_BYTES};
}

bool wt__text_has_alike(struct str text, struct str word)
{
    size_t at = 0;
    for (struct str other; (other = wt__next_word(text, &at)).len > 0;)
        if (wt__words_alike(word, other))
            return true;
    return false;
}

static bool text_contains(struct str text, struct str part)
{
    for (size_t at = 0; part.len > 0 && at + part.len <= text.len; at++)
        if (strncasecmp(text.ptr + at, part.ptr, part.len) == 0)
            return true;
    return false;
}

/* True for known verbs and their "-ing" forms, such as "find" and "looking". */
static bool is_request_verb(struct str word)
{
    bool goes_on = word.len > 5 && memcmp(word.ptr + word.len - 3, "ing", 3) == 0;
    struct str base = {word.ptr, word.len - (goes_on ? 3 : 0)};
    return wt__verb(word).actions || wt__verb(base).actions;
}

bool wt__overlaps_argument(const struct call_arguments *arguments, size_t start, size_t end)
{
    for (size_t p = 0; p < arguments->len; p++)
        if (start < arguments->items[p].end && arguments->items[p].start < end)
            return true;
    return false;
}

/* True if the bytes of the request that state an argument contain the word, ignoring case. */
static bool is_argument_word(const struct coverage_reader *r, struct str word)
{
    for (size_t p = 0; p < r->arguments->len; p++) {
        const struct call_argument *argument = &r->arguments->items[p];
        struct str text = {r->request.ptr + argument->start, argument->end - argument->start};
        size_t at = 0;
        for (struct str other; (other = wt__next_word(text, &at)).len > 0;)
            if (other.len == word.len && strncasecmp(other.ptr, word.ptr, word.len) == 0)
                return true;
    }
    return false;
}

static bool is_covered_word(const struct coverage_reader *r, struct str word)
{
    if (word.len < 2 || wt__text_has_alike(r->about, word))
        return true;
    for (size_t p = 0; p < r->arguments->len; p++)
        if (!r->open[p] && wt__word_evidence(&r->parameters->items[p], word) > 0)
            return true;
    for (size_t i = 0; i < r->parameters->past_count; i++)
        if (r->without[i] && wt__text_has_alike(cut_request(r->parameters->past[i].request), word))
            return true;
    return false;
}

/* True if more than COVERAGE_UNREAD words are unread, or the request has more than COVERAGE_WORDS words. */
static bool has_unread_words(const struct coverage_reader *r)
{
    size_t at = 0, unread = 0, count = 0;
    for (struct str word; unread <= COVERAGE_UNREAD && (word = wt__next_word(r->request, &at)).len > 0;) {
        if (count++ == COVERAGE_WORDS)
            return true;
        size_t start = (size_t)(word.ptr - r->request.ptr);
        unread += !wt__is_stopword_any_case(word) && !is_request_verb(word) &&
                  !wt__overlaps_argument(r->arguments, start, start + word.len) && !is_argument_word(r, word) &&
                  !is_covered_word(r, word);
    }
    return unread > COVERAGE_UNREAD;
}

void wt__coverage_check(struct call_arguments *arguments, struct str request, struct str about,
                        const struct parameters *parameters)
{
    struct coverage_reader r = {
        .arguments = arguments, .request = request, .about = cut_request(about), .parameters = parameters};
    size_t count = find_open_arguments(&r);
    find_calls_without(&r);
    if (count == 0 || (count <= COVERAGE_OPEN && !has_unread_words(&r)))
        return;
    for (size_t p = 0; p < arguments->len; p++)
        if (r.open[p])
            arguments->items[p].state = ARGUMENT_UNSURE;
}

/* Words for a manner, a time, a degree or a person addressed. They never narrow the object of an action. */
static const char *const never_narrowing[] = {
    "afterwards", "again",   "ahead",    "alexa",    "all",         "already",   "anyway",   "asap",         "back",
    "both",       "bro",     "buddy",    "dude",     "mate",        "sir",       "thx",      "carefully",    "current",
    "completely", "dear",    "directly", "each",     "entire",      "entirely",  "every",    "fast",         "favor",
    "favour",     "finally", "fully",    "gently",   "immediately", "instantly", "kind",     "manually",     "now",
    "ok",         "okay",    "pls",      "plz",      "possibly",    "promptly",  "properly", "quick",        "quickly",
    "ready",      "right",   "safely",   "securely", "simply",      "soon",      "straight", "straightaway", "tool",
    "today",      "totally", "urgently", "wanna",    "whole",
};

/* Marks the absent arguments as open and all others as not open. Returns true if any argument was declined. */
static bool open_absent_arguments(struct coverage_reader *r)
{
    bool declined = false;
    for (size_t p = 0; p < r->arguments->len; p++) {
        r->open[p] = r->arguments->items[p].state == ARGUMENT_ABSENT;
        declined |= r->arguments->items[p].declined;
    }
    return declined;
}

/* True if the tool's name ends with a plural and the parameter identifies another kind of thing, as "user_id" does for
 * "delete_emails". Example: the identifier in "the old emails of user AB-12" does not say which emails, so "old" must
 * not be ignored. */
static bool identifies_other_thing(const struct parameter *parameter, struct str tool)
{
    bool alike = false, says = false;
    struct str last = {0};
    size_t at = 0;
    for (struct str word; (word = wt__next_word(tool, &at)).len > 0; last = word) {
        if (wt__is_stopword_any_case(word))
            return false; /* "post to favorites" names a place, not an object */
        alike |= wt__repeats_name(parameter, word);
    }
    static const char *const identifying[] = {"code", "id", "identifier", "key", "number", "uuid"};
    for (size_t i = 0; i < parameter->word_count; i++)
        says |= !wt__str_among(parameter->words[i], identifying, sizeof identifying / sizeof *identifying);
    bool plural = last.len > 3 && (last.ptr[last.len - 1] | 0x20) == 's' && (last.ptr[last.len - 2] | 0x20) != 's';
    return plural && says && !alike;
}

/* True if the request gives an identifier of the tool's object. All other words then only describe that object. */
static bool has_identifier(const struct coverage_reader *r, struct str tool)
{
    for (size_t p = 0; p < r->arguments->len; p++) {
        const struct parameter *parameter = &r->parameters->items[p];
        if (parameter->takes_code && parameter->required && !parameter->list &&
            r->arguments->items[p].state == ARGUMENT_GIVEN && !identifies_other_thing(parameter, tool))
            return true;
    }
    return false;
}

/* Appends the values of all arguments, each followed by a blank. Returns true if the request may state a value in other
 * words: a language model writes "tomorrow" as a date. The words that state the value are then unknown. */
static bool write_all_values(struct buffer *out, const struct coverage_reader *r)
{
    bool reworded = false;
    for (size_t p = 0; p < r->arguments->len; p++) {
        const struct call_argument *argument = &r->arguments->items[p];
        size_t begin = out->len;
        if (!argument->value)
            continue;
        if (json_is_string(argument->value))
            wt__buffer_append(out, json_string_value(argument->value), json_string_length(argument->value));
        else
            wt__json_write_typed(out, argument->value);
        wt__buffer_char(out, ' ');
        struct str text = wt__str_trim((struct str){out->ptr + begin, out->failed ? 0 : out->len - begin});
        bool said = text.len <= COVERAGE_VALUE_BYTES && text_contains(r->request, text);
        reworded |= argument->state == ARGUMENT_GIVEN && argument->end == 0 && !said;
    }
    return reworded;
}

struct str wt__coverage_unread(const struct call_arguments *arguments, const struct intent *intent, struct str request,
                               struct str tool, struct str description, const struct parameters *parameters)
{
    struct coverage_reader r = {.arguments = (struct call_arguments *)arguments,
                                .request = request,
                                .about = cut_request(description),
                                .parameters = parameters};
    if (open_absent_arguments(&r) || has_identifier(&r, tool))
        return STR("");
    find_calls_without(&r);
    WT_CLEANUP(wt__buffer_dispose) struct buffer values = {0};
    if (write_all_values(&values, &r))
        return STR("");
    for (size_t w = 0; w < intent->word_count; w++) {
        const struct intent_word *one = &intent->words[w];
        struct str word = one->text;
        if (!intent->ordered[w] || one->quoted || word.ptr[0] == '\'' || wt__is_stopword_any_case(word) ||
            wt__str_among(word, never_narrowing, sizeof never_narrowing / sizeof *never_narrowing))
            continue;
        if (!wt__overlaps_argument(arguments, one->start, one->end) && !is_argument_word(&r, word) &&
            !is_covered_word(&r, word) && !wt__text_has_alike(tool, word) &&
            !wt__text_has_alike(cut_request(wt__buffer_view(&values)), word))
            return (struct str){request.ptr + one->start, one->end - one->start};
    }
    return STR("");
}
