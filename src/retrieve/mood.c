/* mood.c: tells orders, questions and noun phrases apart by their first words (mood.h). */
#include "retrieve/mood.h"

#include <string.h>

#include "retrieve/words.h"

/* LEAD: words of a sentence that are read. PLACE_WORDS: words before the comma in "in asana, who ...". VERB_AMONG: the
 * verb of an order is one of so many content words. NOUN_WORDS: maximum words of a noun phrase. ID_DIGITS: digits of a
 * number that identifies something. */
enum { LEAD = 12, PLACE_WORDS = 4, VERB_AMONG = 3, NOUN_WORDS = 10, ID_DIGITS = 3 };

struct lead {
    char words[LEAD][WORD_LISTED_MAX + 1]; /* lower case; an apostrophe divides words */
    struct str written[LEAD];
    size_t count, all; /* all: words of the sentence */
    bool asks;         /* ends with a question mark */
};

static struct lead read_lead(struct str sentence)
{
    struct lead lead = {.count = 0};
    size_t at = 0;
    sentence = wt__str_trim(sentence);
    for (struct str word; (word = wt__next_word(sentence, &at)).len > 0; lead.all++) {
        if (lead.count == LEAD)
            continue;
        wt__lower_word(word, lead.words[lead.count]);
        lead.written[lead.count++] = word;
    }
    lead.asks = sentence.len > 0 && sentence.ptr[sentence.len - 1] == '?';
    return lead;
}

static const char *word_of(const struct lead *lead, size_t i)
{
    return i < lead->count ? lead->words[i] : "";
}

static bool is_before_comma(struct str word, struct str sentence)
{
    const char *end = word.ptr + word.len;
    return end < sentence.ptr + sentence.len && *end == ',';
}

/* Skips words before the beginning of a question or an order: "hey, so please". */
static size_t skip_fillers(const struct lead *lead, struct str sentence)
{
    size_t i = 0;
    for (size_t at = 1; wt__is_listed(word_of(lead, 0), " in on at for from ") && at < lead->count && at <= PLACE_WORDS;
         at++)
        if (is_before_comma(lead->written[at], sentence)) /* "in asana, who ..." */
            return at + 1 < lead->count ? at + 1 : 0;
    while (wt__is_listed(word_of(lead, i),
                         " hi hey hello ok okay so well and but also please pls quick question um btw now "
                         "then just wait sorry team all everyone yes no thanks "))
        i++;
    return i < lead->count ? i : 0;
}

/* MODALS alone may also begin a statement without a subject: "will decide later". */
#define MODALS " can could may might should will would couldn shouldn wouldn "
static const char interrogatives[] = " how hows what whats where wheres whether which who whom whos whose why ";
static const char modals[] = MODALS;
static const char auxiliaries[] =
    " is are was were am has have had did does do isn aren wasn weren hasn haven hadn didn "
    "doesn don" MODALS;

bool wt__is_question_word(struct str word, bool modal)
{
    char lower[WORD_LISTED_MAX + 1];
    wt__lower_word(word, lower);
    size_t len = strlen(lower);
    if (len > 2 && lower[len - 1] == 't' && strchr("n'", lower[len - 2])) /* "isnt", "isn't" */
        lower[len - 1 - (lower[len - 2] == '\'')] = '\0';
    return wt__is_listed(lower, interrogatives) ||
           (wt__is_listed(lower, auxiliaries) && (modal || !wt__is_listed(lower, modals)));
}

/* True if a polite order begins at word i: "could you", "would somebody". */
static bool begins_plea(const struct lead *lead, size_t i)
{
    return wt__is_listed(word_of(lead, i), " can could would will ") &&
           wt__is_listed(word_of(lead, i + 1), " you u ya someone anyone somebody ");
}

/* True for a question about the tool itself: "how do I delete a branch", "which call takes maxResults". */
static bool asks_for_tool(const struct lead *lead, size_t i)
{
    const char *word = word_of(lead, i), *next = word_of(lead, i + 1), *third = word_of(lead, i + 2);
    if (wt__is_listed(word, " how where "))
        return strcmp(next, "to") == 0 ||
               (wt__is_listed(next, " do can could would should ") && wt__is_listed(third, " i we you one "));
    return wt__is_listed(word, " which what ") &&
           wt__is_listed(next, " api apis call endpoint function method operation option parameter tool tools ");
}

/* True if a question begins at word i. */
static bool begins_question(const struct lead *lead, size_t i)
{
    const char *word = word_of(lead, i), *next = word_of(lead, i + 1);
    if (asks_for_tool(lead, i))
        return false;
    if (wt__is_listed(word, " what which "))
        return !(wt__is_listed(next, " i we ") && wt__is_listed(word_of(lead, i + 2), " need want "));
    if (wt__is_listed(word, interrogatives) || wt__is_listed(word, " any anything anyone anybody "))
        return true;
    if (strcmp(word, "when") == 0) /* not "when the build fails, page me" */
        return lead->asks || wt__is_listed(next, auxiliaries) || next[0] == 's';
    if (begins_plea(lead, i))
        return false;
    if (wt__is_listed(word, " can could may should shall ") && wt__is_listed(next, " i we "))
        return false;
    if (wt__is_listed(word, " do have don had ")) /* "have the report sent", "do it" */
        return lead->asks || wt__is_listed(next, " i we you they any ");
    return wt__is_listed(word, auxiliaries) && (lead->asks || next[0]);
}

/* Returns the actions of the first verb among the first content words from word i on, or 0. */
static unsigned find_order_verb(const struct lead *lead, size_t i)
{
    for (size_t seen = 0; i < lead->count && seen < VERB_AMONG; i++) {
        struct verb verb = wt__verb(lead->written[i]);
        if (verb.actions)
            return verb.actions;
        seen += !wt__is_stopword_any_case(lead->written[i]);
    }
    return 0;
}

static bool is_noun_phrase(const struct lead *lead)
{
    if (lead->all > NOUN_WORDS)
        return false;
    for (size_t i = 0; i < lead->count; i++)
        if (wt__is_listed(lead->words[i], " i we you me us please pls need needs want wants like let lets ") ||
            wt__is_listed(lead->words[i], auxiliaries))
            return false;
    return lead->count > 0;
}

static struct request_mood read_sentence_mood(struct str sentence)
{
    struct lead lead = read_lead(sentence);
    size_t begin = skip_fillers(&lead, sentence);
    if (lead.count == 0)
        return (struct request_mood){.mood = MOOD_OTHER};
    if (begins_question(&lead, begin))
        return (struct request_mood){.mood = MOOD_QUESTION, .actions = ACTION_READ};
    struct request_mood out = {.mood = MOOD_ORDER, .actions = find_order_verb(&lead, begin)};
    if (out.actions || begins_plea(&lead, begin))
        return out;
    out.mood = lead.asks ? MOOD_QUESTION : is_noun_phrase(&lead) ? MOOD_NOUN : MOOD_OTHER;
    out.actions = lead.asks ? ACTION_READ : 0;
    return out;
}

static bool is_numbered_identifier(struct str word)
{
    size_t digits = 0;
    for (size_t i = 0; i < word.len; i++)
        digits += word.ptr[i] >= '0' && word.ptr[i] <= '9';
    return digits >= ID_DIGITS || (digits > 0 && digits < word.len);
}

static void read_grammatical_number(struct str text, struct request_mood *out)
{
    size_t at = 0;
    for (struct str word; (word = wt__next_word(text, &at)).len > 0;) {
        static const char *const several[] = {"all", "any", "each", "every", "list", "many", "which"};
        out->many |= wt__str_among(word, several, sizeof several / sizeof *several) ||
                     (wt__is_plural(word) && !wt__is_stopword_any_case(word));
        out->identified |= is_numbered_identifier(word);
    }
}

struct request_mood wt__mood(struct str text)
{
    struct request_mood out = {.mood = MOOD_OTHER};
    struct str sentence;
    for (size_t at = 0; wt__next_sentence(text, &at, &sentence);) {
        struct request_mood here = read_sentence_mood(sentence);
        if (here.mood > out.mood)
            out = here;
    }
    read_grammatical_number(text, &out);
    return out;
}
