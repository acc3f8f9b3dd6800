/* decision.c: chooses between tools without a language model. See arguments.h. */
#include "call/arguments.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "text/analyser.h"

/* Amounts added to or subtracted from a tool's share of the best score. */
static const double TIME_WEIGHT = .15;
static const double KIND_WEIGHT = .3;
static const double LEFTOVER_WEIGHT = .15;

/* The scores of hits that the learned scorer or the joint scorer ordered fall fast. To this power, quotients of close
 * tools are above 1 - REACH. */
static const double SHARE_POWER = .3;

/* Details change only shares of at least 1 - REACH. */
static const double REACH = .5;

enum time { TIME_PAST = 1, TIME_PRESENT = 2, TIME_FUTURE = 4 };
enum { KINDS = 5, ZIP_DIGITS = 5, COORDINATE_DEGREES = 180 };

#define WORDS(...)                                                                                                     \
    (const char *const[])                                                                                              \
    {                                                                                                                  \
        __VA_ARGS__, NULL                                                                                              \
    }

static const struct {
    unsigned time;
    const char *const *words;
} times[] = {
    {TIME_FUTURE,
     WORDS("future", "forecast", "forecasts", "forecasted", "forecasting", "upcoming", "tomorrow", "next", "coming",
           "following", "ahead", "will", "later", "predict", "predicted", "prediction", "predictions", "soon")},
    {TIME_PRESENT,
     WORDS("current", "currently", "now", "today", "present", "live", "latest", "realtime", "moment", "recent")},
    {TIME_PAST, WORDS("history", "historic", "historical", "past", "previous", "previously", "yesterday", "last", "ago",
                      "former")},
};

/* Words of tool definitions that name a kind of literal. Indexed by KIND_ZIP to KIND_DATE. */
static const char *const *const kind_words[KINDS] = {
    WORDS("zip", "zipcode", "zipcodes", "postal", "postcode"),
    WORDS("email", "emails", "mail"),
    WORDS("url", "urls", "uri", "link", "links", "website", "webpage", "web", "domain"),
    WORDS("lat", "latitude", "lon", "lng", "longitude", "coordinate", "coordinates", "geo", "geolocation",
          "geocoordinates", "geographic", "geographical"),
    WORDS("date", "dates", "datetime", "day", "calendar", "schedule", "appointment", "deadline", "birthday", "checkin",
          "checkout"),
};
enum { KIND_ZIP, KIND_EMAIL, KIND_URL, KIND_COORDINATES, KIND_DATE };

static size_t count_list_words(const char *const *words)
{
    size_t count = 0;
    while (words[count])
        count++;
    return count;
}

struct decision_traits {
    unsigned times, kinds; /* times: bits of enum time; kinds: bits 1 << KIND_... */
};

static void read_traits(struct decision_traits *out, struct str text)
{
    struct word_part part = {0};
    while (wt__analyser_next_part(text, &part)) {
        struct str word = {text.ptr + part.start, part.end - part.start};
        for (size_t i = 0; i < sizeof times / sizeof *times; i++)
            if (wt__str_among(word, times[i].words, count_list_words(times[i].words)))
                out->times |= times[i].time;
        for (unsigned kind = 0; kind < KINDS; kind++)
            if (wt__str_among(word, kind_words[kind], count_list_words(kind_words[kind])))
                out->kinds |= 1U << kind;
    }
}

static struct decision_traits read_tool_traits(const struct choice *choice)
{
    struct decision_traits out = {0}, names = {0};
    read_traits(&out, choice->name);
    read_traits(&out, choice->description);
    for (size_t p = 0; p < choice->parameters->len; p++)
        read_traits(&names, wt__str(choice->parameters->items[p].name));
    out.kinds |= names.kinds; /* only kinds: "last_name" and "next_page" are not about time */
    return out;
}

static bool is_zip_code(const struct literal *literal)
{
    if (literal->kind != LITERAL_NUMBER || literal->money || literal->percent || literal->spelled)
        return false;
    return literal->end - literal->start == ZIP_DIGITS && literal->text.len == ZIP_DIGITS &&
           !memchr(literal->text.ptr, '.', ZIP_DIGITS) && literal->text.ptr[0] != '-';
}

static bool is_coordinate(const struct literal *literal)
{
    return literal->kind == LITERAL_NUMBER && memchr(literal->text.ptr, '.', literal->text.len) &&
           literal->number >= -COORDINATE_DEGREES && literal->number <= COORDINATE_DEGREES;
}

static unsigned read_literal_kinds(const struct literal *literals, size_t count)
{
    unsigned kinds = 0;
    size_t coordinates = 0;
    for (size_t i = 0; i < count; i++) {
        kinds |= is_zip_code(&literals[i]) ? 1U << KIND_ZIP : 0;
        kinds |= literals[i].kind == LITERAL_EMAIL ? 1U << KIND_EMAIL : 0;
        kinds |= literals[i].kind == LITERAL_URL ? 1U << KIND_URL : 0;
        bool dated = literals[i].kind == LITERAL_DATE || literals[i].kind == LITERAL_DATE_TIME;
        kinds |= dated ? 1U << KIND_DATE : 0;
        coordinates += is_coordinate(&literals[i]);
    }
    return coordinates >= 2 ? kinds | 1U << KIND_COORDINATES : kinds;
}

static void score_choice(struct choice *choice, struct decision_traits request, double best)
{
    struct decision_traits tool = read_tool_traits(choice);
    /* With a best score of 0 or less, a quotient is not a share. The exponential gives a share from 0 to 1. */
    choice->decided = best > 0 ? pow(fmax(choice->score, 0) / best, SHARE_POWER) : exp(choice->score - best);
    choice->details = 0;
    choice->kinds_taken = 0;
    if (choice->decided < 1 - REACH)
        return;
    if (request.times && tool.times) {
        choice->decided += request.times & tool.times ? TIME_WEIGHT : -TIME_WEIGHT;
        choice->details |= DETAIL_TIME;
    }
    for (unsigned kind = 0; kind < KINDS; kind++)
        if (request.kinds >> kind & 1) {
            bool takes = tool.kinds >> kind & 1;
            choice->decided += takes ? KIND_WEIGHT : -KIND_WEIGHT;
            choice->kinds_taken += takes;
            choice->details |= DETAIL_KIND;
        }
    if (choice->leftover) {
        choice->decided -= LEFTOVER_WEIGHT;
        choice->details |= DETAIL_LEFTOVER;
    }
}

bool wt__has_value_kind(const struct literals *literals)
{
    return read_literal_kinds(literals->items, literals->len) != 0;
}

size_t wt__decide_tool(const struct literals *literals, struct choice *choices, size_t count)
{
    struct decision_traits wanted = {0};
    read_traits(&wanted, literals->request);
    wanted.kinds = read_literal_kinds(literals->items, literals->len);
    size_t first = 0;
    for (size_t i = 0; i < count; i++) {
        score_choice(&choices[i], wanted, choices[0].score);
        if (choices[i].decided > choices[first].decided)
            first = i;
    }
    return first;
}

size_t wt__decide_second(const struct choice *choices, size_t count, size_t first)
{
    size_t second = SIZE_MAX;
    for (size_t i = 0; i < count; i++)
        if (i != first && (second == SIZE_MAX || choices[i].decided > choices[second].decided))
            second = i;
    return second;
}
