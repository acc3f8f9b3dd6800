/* intent.c: decides whether the clauses of a request order the action of a tool. See arguments.h. */
#include "call/clauses.h"

#include "base/error.h"
#include "retrieve/words.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Verbs that ask to pass on a message, as in "remind me to lock the vault". The message is not an order to act now. */
static const char *const passing_on[] = {
    "ask",    "email", "mail", "message", "note", "notify", "post",  "remember",
    "remind", "reply", "say",  "tell",    "text", "warn",   "write",
};

enum { NEGATED_WITHIN = 3 /* number of words before a verb that may negate the verb */ };

/* True if one of the NEGATED_WITHIN words before the verb negates it. */
static bool is_verb_negated(const struct intent_reader *r, const struct clause *clause, size_t verb)
{
    size_t from = clause->verb <= verb ? clause->verb : clause->start; /* "why don't you" is not a negation */
    if (from + NEGATED_WITHIN < verb)
        from = verb - NEGATED_WITHIN;
    return wt__any_word_fits(r, from, verb,
                             STR("not|never|don't|dont|doesn't|didn't|hadn't|won't|can't|cannot|mustn't|needn't|"
                                 "without|avoid|instead|rather|nobody|shouldn't|against"));
}

/* True if the verb is in a message to pass on: "remind me to lock the vault", "tell Bob to lock the vault". */
static bool is_relayed_order(const struct intent_reader *r, const struct clause *clause, size_t verb)
{
    struct str order = clause->verb < verb ? r->words[clause->verb].text : STR("");
    return order.len > 0 && wt__is_form_among(order, passing_on, COUNT(passing_on)) &&
           !wt__effect_verb(r->effect, order);
}

/* True if word `w` is an inflected form of the verb, such as "locked", but not "lock" or "deployment". */
static bool is_inflected_verb(const struct intent_reader *r, size_t w, const char *verb)
{
    return !wt__str_equal(r->words[w].text, wt__str(verb)) && wt__is_form_of(r->words[w].text, verb);
}

/* True if word `w`, a form of the verb, only describes a thing: "find the locked vaults". */
static bool is_descriptive_verb(const struct intent_reader *r, const struct clause *clause, size_t w, const char *verb)
{
    if (w == clause->verb || !is_inflected_verb(r, w, verb))
        return false;
    struct str order = clause->verb < clause->end ? r->words[clause->verb].text : STR("");
    if (w > clause->start &&
        wt__word_fits(r->words[w - 1].text,
                      STR("the|a|an|my|our|your|his|her|their|these|those|some|all|every|any|of|for|which")))
        return true;
    return wt__verb(order).actions == ACTION_READ && !wt__word_fits(order, STR("get")); /* "get the vault locked" */
}

/* Returns the doubt raised by word `w` of a clause. The word is a form of `verb`, a verb of the tool. */
static enum doubt judge_mention(const struct intent_reader *r, const struct clause *clause, size_t w, const char *verb)
{
    if (clause->kind == CLAUSE_DENIAL || is_verb_negated(r, clause, w))
        return DOUBT_DENIED;
    switch (clause->kind) {
    case CLAUSE_ORDER:
    case CLAUSE_WISH:
        if (is_descriptive_verb(r, clause, w, verb))
            return DOUBT_QUESTION;
        return is_relayed_order(r, clause, w) ? DOUBT_UNASKED : DOUBT_NONE;
    case CLAUSE_QUESTION:
    case CLAUSE_INFORM:
        return DOUBT_QUESTION;
    case CLAUSE_OTHER:
        return is_inflected_verb(r, w, verb) ? DOUBT_UNASKED : DOUBT_NONE;
    default:
        return DOUBT_UNASKED;
    }
}

/* True if the word is the opposite of a verb of the tool: "unlock" of "lock". */
static bool is_opposite(const struct intent_reader *r, struct str word)
{
    static const char *const prefixes[] = {"un", "dis", "de"};
    for (size_t i = 0; i < COUNT(prefixes); i++) {
        struct str prefix = wt__str(prefixes[i]);
        if (wt__str_starts(word, prefix) &&
            wt__effect_verb(r->effect, (struct str){word.ptr + prefix.len, word.len - prefix.len}))
            return true;
    }
    return false;
}

/* Returns the doubt raised by word `w` of clause `c`; DOUBT_COUNT if the word is not a verb of the tool. */
static enum doubt judge_word(const struct intent_reader *r, size_t c, size_t w)
{
    const struct clause *clause = &r->clauses[c];
    const char *verb = r->words[w].quoted ? NULL : wt__effect_verb(r->effect, r->words[w].text);
    if (!verb && w == clause->verb && is_opposite(r, r->words[w].text))
        return DOUBT_UNASKED;
    return verb ? judge_mention(r, clause, w, verb) : DOUBT_COUNT;
}

/* Returns the doubts raised by all verbs of the tool in the request, as bits 1 << enum doubt. Marks the clauses that
 * order the call in `ordered`. */
static unsigned judge_mentions(const struct intent_reader *r, bool *ordered)
{
    unsigned verdicts = 0;
    for (size_t c = 0; c < r->clause_count; c++)
        for (size_t w = r->clauses[c].start; w < r->clauses[c].end && r->clauses[c].kind != CLAUSE_ASIDE; w++) {
            enum doubt doubt = judge_word(r, c, w);
            if (doubt == DOUBT_COUNT)
                continue;
            verdicts |= 1U << doubt;
            ordered[c] |= doubt == DOUBT_NONE;
        }
    return verdicts;
}

/* Same as judge_mentions, for a request without a verb of the tool. If a clause is an order or a wish, only orders and
 * wishes count. Otherwise, every clause except an aside counts. */
static unsigned judge_clauses(const struct intent_reader *r, bool *ordered)
{
    static const enum doubt doubts[] = {
        [CLAUSE_OTHER] = DOUBT_NONE,      [CLAUSE_ORDER] = DOUBT_NONE,        [CLAUSE_WISH] = DOUBT_NONE,
        [CLAUSE_INFORM] = DOUBT_QUESTION, [CLAUSE_QUESTION] = DOUBT_QUESTION, [CLAUSE_DENIAL] = DOUBT_DENIED,
        [CLAUSE_STATEMENT] = DOUBT_NONE,  [CLAUSE_CONDITION] = DOUBT_UNASKED,
    };
    unsigned verdicts = 0;
    bool orders = false;
    for (size_t c = 0; c < r->clause_count; c++)
        orders |= r->clauses[c].kind == CLAUSE_ORDER || r->clauses[c].kind == CLAUSE_WISH;
    for (size_t c = 0; c < r->clause_count; c++) {
        enum clause_kind kind = r->clauses[c].kind;
        if (kind == CLAUSE_ASIDE)
            continue;
        ordered[c] = orders ? kind == CLAUSE_ORDER || kind == CLAUSE_WISH : doubts[kind] == DOUBT_NONE;
        verdicts |= orders ? 1U << DOUBT_NONE : 1U << doubts[kind];
    }
    return verdicts;
}

/* True if a later clause revokes an order: "lock the vault. No, don't." */
static bool is_taken_back(const struct intent_reader *r, const bool *ordered)
{
    bool is_ordered = false;
    for (size_t c = 0; c < r->clause_count; c++) {
        if (is_ordered && r->clauses[c].revokes)
            return true;
        is_ordered |= ordered[c];
    }
    return false;
}

/* Combines the doubts in `verdicts` into one. A prohibition outweighs an order. An order outweighs a question if the
 * order has a verb of the tool. mentioned: true if the request has a verb of the tool. */
static enum doubt weigh_verdicts(unsigned verdicts, bool mentioned)
{
    if (verdicts & 1U << DOUBT_DENIED)
        return DOUBT_DENIED;
    if (mentioned && (verdicts & 1U << DOUBT_NONE))
        return DOUBT_NONE;
    if (verdicts & 1U << DOUBT_QUESTION)
        return DOUBT_QUESTION;
    return verdicts & 1U << DOUBT_UNASKED ? DOUBT_UNASKED : DOUBT_NONE;
}

enum { TOPIC_WORDS = 3 /* maximum words of a topic before a colon */ };

/* Marks the clauses that continue an order, and the topic before the colon of an order ("kitchen timers: cancel
 * them"). */
static void extend_orders(const struct intent_reader *r, bool *ordered)
{
    for (size_t c = 1; c < r->clause_count; c++) {
        const struct clause *clause = &r->clauses[c];
        ordered[c] |= clause->is_continuation && ordered[c - 1];
        bool is_topic = clause[-1].kind == CLAUSE_OTHER && clause[-1].end - clause[-1].start <= TOPIC_WORDS;
        if (ordered[c] && r->words[clause->start].before == ':' && is_topic)
            ordered[c - 1] = true;
    }
}

/* True if the object of the order is a pronoun: "cancel it". */
static bool refers_back(const struct intent_reader *r, const struct clause *clause)
{
    for (size_t w = clause->rest; w < clause->end; w++)
        if (wt__word_fits(r->words[w].text, STR("it|them|those|these|that|this|him|her|one|ones")))
            return w + 1 == clause->end || wt__is_stopword_any_case(r->words[w + 1].text);
    return false;
}

/* Marks the words of a statement that identify its subject: "grey" and "garden" of "the grey cat in the garden is
 * hungry". */
static void mark_statement(const struct intent_reader *r, const struct clause *clause, bool *out)
{
    bool within = false;
    for (size_t w = clause->start; w < clause->end; w++) {
        struct str word = r->words[w].text;
        if (wt__word_fits(word, STR(ARTICLE_WORDS "|in|at|on|of|from|near|by|under|above|behind")))
            within = true;
        else if (wt__word_fits(word, STR("is|are|was|were|has|have|'s|'re|had|will")))
            within = false;
        out[w] = within;
    }
}

/* Marks the words after the verb, except forms of the tool's own verbs, which are redundant: "get me logged out". */
static void mark_rest(const struct intent_reader *r, const struct clause *clause, bool *out)
{
    for (size_t w = clause->kind == CLAUSE_OTHER ? clause->start : clause->rest; w < clause->end; w++)
        out[w] = !wt__effect_verb(r->effect, r->words[w].text);
}

/* Marks the words of the orders, except verbs and polite phrases. If the object of an order is a pronoun ("cancel it"),
 * also marks the words of the previous clause that identify the object. */
static void mark_words(const struct intent_reader *r, const bool *ordered, bool *out)
{
    for (size_t c = 0; c < r->clause_count; c++) {
        if (!ordered[c])
            continue;
        mark_rest(r, &r->clauses[c], out);
        if (c == 0 || !refers_back(r, &r->clauses[c]))
            continue;
        const struct clause *before = &r->clauses[c - 1];
        if (before->kind == CLAUSE_STATEMENT)
            mark_statement(r, before, out);
        else if (before->kind == CLAUSE_ORDER || before->kind == CLAUSE_WISH || before->kind == CLAUSE_OTHER)
            mark_rest(r, before, out);
    }
}

int wt__intent_read(struct intent *out, struct str request, const struct byte_span *quoted, size_t quoted_count,
                    const struct tool_effect *effect, struct arena *arena)
{
    struct intent_reader r = {.request = request, .quoted = quoted, .quoted_count = quoted_count, .effect = effect};
    *out = (struct intent){.ordered = NULL};
    WT_TRY(wt__clauses_read(&r, arena));
    bool *ordered = wt__arena_array(arena, bool, INTENT_CLAUSES);
    out->ordered = wt__arena_array(arena, bool, r.words_most);
    if (!ordered || !out->ordered)
        return WT_ENOMEM;
    unsigned verdicts = judge_mentions(&r, ordered);
    bool mentioned = verdicts != 0;
    if (!mentioned)
        verdicts = judge_clauses(&r, ordered);
    if (is_taken_back(&r, ordered))
        verdicts |= 1U << DOUBT_DENIED;
    extend_orders(&r, ordered);
    mark_words(&r, ordered, out->ordered);
    out->words = r.words;
    out->word_count = r.word_count;
    out->cut = r.cut;
    out->doubt = weigh_verdicts(verdicts, mentioned);
    return 0;
}

const char *wt__doubt_name(enum doubt doubt)
{
    static const char *const names[] = {NULL, "question", "denied", "unasked", "unread"}; /* by enum doubt */
    return names[doubt];
}
