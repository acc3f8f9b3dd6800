/* clauses.c: splits a request into words and clauses, and classifies the clauses with a table of phrases. See
 * clauses.h. */
#include "call/clauses.h"

#include "base/error.h"
#include "retrieve/mood.h"
#include "retrieve/words.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---------------------------------------------------------------- words */

/* Punctuation marks and their ASCII equivalents. Marks with a blank as equivalent are ignored. */
static const struct {
    const char *bytes;
    char sign;
} marks[] = {
    {"?", '?'},
    {"\xc2\xbf", '?'},     /* inverted question mark */
    {"\xd8\x9f", '?'},     /* Arabic question mark */
    {"\xd5\x9e", '?'},     /* Armenian question mark */
    {"\xef\xbc\x9f", '?'}, /* fullwidth question mark */
    {"\xef\xbc\x81", '!'}, /* fullwidth exclamation mark */
    {"\xef\xbc\x8c", ','}, /* fullwidth comma */
    {"\xe3\x80\x81", ','}, /* ideographic comma */
    {"\xe3\x80\x82", '.'}, /* ideographic full stop */
    {"\xe2\x80\xa6", '.'}, /* ellipsis */
    {"\xe2\x80\x93", ','}, /* en dash */
    {"\xe2\x80\x94", ','}, /* em dash */
    {"\xe2\x80\x9c", ' '}, /* double quotation marks */
    {"\xe2\x80\x9d", ' '},
    {"\xe2\x80\x9e", ' '},
    {"\xc2\xab", ' '}, /* guillemets */
    {"\xc2\xbb", ' '},
    {"\xc2\xa0", ' '}, /* no-break space */
};

/* Returns the length of the punctuation mark at `at`; 0 if no mark of the table is there. *sign: the ASCII equivalent;
 * 0 if the mark is ignored. */
static size_t mark_length(struct str text, size_t at, char *sign)
{
    struct str rest = {text.ptr + at, text.len - at};
    for (size_t i = 0; i < COUNT(marks); i++)
        if (wt__str_starts(rest, wt__str(marks[i].bytes))) {
            *sign = marks[i].sign == ' ' ? 0 : marks[i].sign;
            return strlen(marks[i].bytes);
        }
    return 0;
}

/* Returns the end of the word at `at`; `at` if no word begins there. "don't" is one word, "I'd" are two: "I" and
 * "'d". */
static size_t find_word_end(struct str text, size_t at)
{
    size_t start = at, mark;
    char sign;
    for (; at < text.len && mark_length(text, at, &sign) == 0; at += mark > 0 ? mark : 1) {
        mark = wt__apostrophe(text, at);
        if (mark == 0 && !wt__is_word_byte(text.ptr[at]))
            break;
        if (mark == 0)
            continue;
        bool between =
            at > 0 && wt__is_word_byte(text.ptr[at - 1]) && at + mark < text.len && wt__is_letter(text.ptr[at + mark]);
        bool is_not = between && (text.ptr[at + mark] | 0x20) == 't' && (text.ptr[at - 1] | 0x20) == 'n';
        if (!between || (!is_not && at > start))
            break;
    }
    return at;
}

/* Returns a copy of the word in lower case, with ' for every apostrophe. ptr is NULL if out of memory. */
static struct str copy_word(struct str text, struct arena *arena)
{
    char *out = wt__arena_array(arena, char, text.len + 1);
    size_t len = 0;
    for (size_t at = 0; out && at < text.len;) {
        size_t mark = wt__apostrophe(text, at);
        out[len++] = mark > 0 ? '\'' : wt__lower_ascii(text.ptr[at]);
        at += mark > 0 ? mark : 1;
    }
    return (struct str){out, len};
}

static const struct byte_span *find_quoted(const struct intent_reader *r, size_t at)
{
    for (size_t i = 0; i < r->quoted_count; i++)
        if (r->quoted[i].start <= at && at < r->quoted[i].end)
            return &r->quoted[i];
    return NULL;
}

/* Returns the separator at `at`, or 0 if the character is not a separator. *length: bytes of the character. A point,
 * a comma or a colon within a word or number ("10:30", "a.txt") is not a separator. */
static char read_separator(struct str text, size_t at, size_t *length)
{
    char c = text.ptr[at], sign = 0;
    *length = mark_length(text, at, &sign);
    if (*length > 0)
        return sign;
    *length = 1;
    if (c == 0 || !strchr(",;:.!\n-", c))
        return 0;
    bool blank_after = at + 1 >= text.len || wt__is_blank(text.ptr[at + 1]);
    if (c == '-')
        return at > 0 && wt__is_blank(text.ptr[at - 1]) && blank_after ? ',' : 0;
    bool within = !blank_after && wt__is_word_byte(text.ptr[at + 1]);
    return within && strchr(",:.", c) ? 0 : c;
}

/* Returns the stronger separator of two in a row: "?" of "...?". */
static char stronger_sign(char a, char b)
{
    static const char order[] = ":,;\n!.?";
    return a == 0 ? b : b == 0 ? a : strchr(order, a) > strchr(order, b) ? a : b;
}

static int read_intent_words(struct intent_reader *r, struct arena *arena)
{
    char sign = 0;
    size_t end;
    for (size_t at = 0; at < r->request.len; at = end) {
        const struct byte_span *quoted = find_quoted(r, at);
        end = quoted ? quoted->end : find_word_end(r->request, at);
        if (end == at) {
            size_t length;
            sign = stronger_sign(sign, read_separator(r->request, at, &length));
            end = at + length;
            continue;
        }
        if (r->word_count == r->words_most) {
            r->cut = true;
            break;
        }
        struct str text = {r->request.ptr + at, end - at};
        struct intent_word *word = &r->words[r->word_count++];
        *word = (struct intent_word){.start = at, .end = end, .before = sign, .quoted = quoted != NULL};
        word->text = quoted ? STR("\"") : copy_word(text, arena);
        if (!word->text.ptr)
            return WT_ENOMEM;
        sign = 0;
    }
    r->last_sign = sign;
    return 0;
}

/* ---------------------------------------------------------------- phrases */

/* Meaning of a phrase at the beginning of a clause. */
enum phrase_means {
    MEANS_ORDER,     /* the rest of the clause is parsed as a polite order: "could you" */
    MEANS_REST,      /* the rest of the clause is parsed as if it were the whole clause: "go ahead and" */
    MEANS_ASIDE,     /* the whole clause is irrelevant: "if you don't mind" */
    MEANS_PLEASE,    /* the whole clause makes the previous order polite: "will you" */
    MEANS_TAG,       /* the whole clause turns the previous clause into a question: "isn't it" */
    MEANS_COMMAND,   /* the whole clause is an order: "have it locked" */
    MEANS_WISH,      /* the whole clause is a polite order: "I'd like" */
    MEANS_QUESTION,  /* the whole clause is a question */
    MEANS_DENIAL,    /* the whole clause is a prohibition */
    MEANS_REVOKE,    /* the whole clause revokes the previous orders: "no, don't" */
    MEANS_CONDITION, /* the whole clause is a condition */
};

struct phrase {
    /* Words of the phrase. '|' separates alternatives, '?' marks an optional word, '$' is the end of the clause, '+ing'
     * any verb with this ending, '=verb' a verb after the phrase, '=question' a word that begins questions, '*' up to
     * four words. */
    const char *words;
    enum phrase_means means;
};

#define YOU "you|u|ya|someone|somebody|anyone|anybody"
#define WE "i|we"
#define MODAL "can|could|will|would|won't|wouldn't|can't|couldn't"
#define YOU_COULD "you|u can|could|would|might"
#define SUBJECT WE "|you|u|someone|somebody"
#define LIKE "like|love|prefer|appreciate"
#define PRONOUN "i|you|we|he|she|it|they|there|u"
#define NOT "not|never|don't|dont|doesn't|isn't|aren't"

/* The first phrase that matches the beginning of a clause wins. */
static const struct phrase phrases[] = {
    /* asides */
    {MODAL " " YOU " please? $", MEANS_PLEASE},
    {"cheers $", MEANS_PLEASE},
    {"is|are|am|was|were|do|does|did|has|have|had|can|will " PRONOUN " not? $", MEANS_TAG},
    {"isn't|aren't|wasn't|weren't|doesn't|didn't|hasn't|haven't|hadn't|don't|can't|won't " PRONOUN " $", MEANS_TAG},
    {"right|correct|huh|eh|innit|yes|no|true|yeah|what|not $", MEANS_TAG},
    {"thank you", MEANS_ASIDE},
    {"don't|dont|stop $", MEANS_REVOKE},
    {"do not $", MEANS_REVOKE},
    {"don't|dont do it|that|this $", MEANS_REVOKE},
    {"do not do it|that|this $", MEANS_REVOKE},
    {"never mind $", MEANS_REVOKE},
    {"nevermind $", MEANS_REVOKE},
    {"forget|scratch|undo it|that|this $", MEANS_REVOKE},
    {"on second thought|thoughts", MEANS_REVOKE},
    {"because|cause|cuz", MEANS_ASIDE},
    {"if possible|needed|necessary", MEANS_ASIDE},
    {"if you don't|do mind|not? mind?", MEANS_ASIDE},
    {"if you like|want|please|wish", MEANS_ASIDE},
    {"if it|that 's|is ok|okay|alright|possible", MEANS_ASIDE},
    {"when|whenever|once you can|have|get|are|'re|find", MEANS_ASIDE},
    {"when|whenever possible|convenient|ready", MEANS_ASIDE},
    {"after that|this $", MEANS_ASIDE},
    {"once more|again", MEANS_REST},

    /* orders in the form of questions */
    {"would|could|will|can " YOU " please? be so kind as|and to?", MEANS_ORDER},
    {"would|could|will|can " YOU " please? be kind|nice|good enough to", MEANS_ORDER},
    {"would|could|will|can " YOU " please? be able to", MEANS_ORDER},
    {"be so kind as|and to?", MEANS_ORDER},
    {"would|do you mind not", MEANS_DENIAL},
    {"would|do you mind if", MEANS_QUESTION},
    {"would|do you mind", MEANS_ORDER},
    {MODAL " " YOU " be|have|say|recommend|like|prefer", MEANS_QUESTION},
    {MODAL " " YOU " just|please? not|never", MEANS_DENIAL},
    {MODAL " " YOU, MEANS_ORDER},
    {"do|don't you think|suppose|reckon " YOU_COULD, MEANS_ORDER},
    {"is? there? any|a|some chance|way that? " YOU_COULD, MEANS_ORDER},
    {"would|will it be possible|ok|okay|alright for? you? to", MEANS_ORDER},
    {"i|we am|'m|was|are|'re|were|have|'ve been? wondering|hoping if|whether|that? " YOU_COULD, MEANS_ORDER},
    {"im? wondering|hoping if|whether|that? " YOU_COULD, MEANS_ORDER},
    {WE " wonder|wondered|hope|hoped if|whether|that? " YOU_COULD, MEANS_ORDER},
    {WE " would|'d appreciate|love it? if " YOU_COULD, MEANS_ORDER},
    {WE " would|'d be grateful|happy|glad|thankful|delighted if " YOU_COULD, MEANS_ORDER},
    {"it|that would|'d be great|nice|good|lovely|helpful|awesome|cool|wonderful if " YOU_COULD, MEANS_ORDER},
    {"it|that would|'d be great|nice|good|lovely|helpful|awesome|cool|wonderful if", MEANS_WISH},
    {"if you|u can|could|would|will", MEANS_ORDER},
    {"may|can|could|might " WE " ask|trouble|bother you to", MEANS_ORDER},
    {"may|can|could|might " WE " please", MEANS_ORDER},
    {"may|can|could " WE " have|get " ARTICLE_WORDS, MEANS_WISH},

    /* prohibitions and their lookalikes */
    {"don't|dont|never ever? forget|hesitate|fail|neglect to", MEANS_ORDER},
    {"you|u? do|must|should not|never forget|hesitate|fail|neglect to", MEANS_ORDER},
    {"don't " WE "|they|he|she|it", MEANS_QUESTION},
    {WE " don't|dont|can't|cant|couldn't know|remember|recall|tell|see", MEANS_QUESTION},
    {WE " do|can|could not know|remember|recall|tell|see", MEANS_QUESTION},
    {"don't|dont|can't|cant know|remember|recall", MEANS_QUESTION},
    {"don't|dont|never|nor|without|nobody|noone", MEANS_DENIAL},
    {"not sure|certain", MEANS_QUESTION},
    {"not", MEANS_DENIAL},
    {"do|does|did not", MEANS_DENIAL},
    {"no one", MEANS_DENIAL},
    {"there? 's|is|was? no need|reason", MEANS_DENIAL},
    {"under|on|in no circumstances|account|case|way", MEANS_DENIAL},
    {"stop|avoid|quit|cease +ing", MEANS_DENIAL},
    {"refrain|abstain|desist from", MEANS_DENIAL},
    {"hold|wait off? on|with +ing", MEANS_DENIAL},
    {"instead of", MEANS_DENIAL},
    {"rather than", MEANS_DENIAL},
    {WE " don't|dont|didn't|didnt|never want|need|wish|like|ask|asked|tell|told|say|said|mean|meant", MEANS_DENIAL},
    {WE " do|did not want|need|wish|like|ask|tell|say|mean", MEANS_DENIAL},
    {WE " told|asked|want|wanted|need|needed|ordered you|u|it|them not|never", MEANS_DENIAL},
    {WE " would|'d rather|prefer if? you|u|it didn't|don't|not|never|did|do", MEANS_DENIAL},
    {WE " would|'d rather|prefer not", MEANS_DENIAL},
    {WE "|you|u shouldn't|mustn't|needn't|can't|cannot|won't|oughtn't", MEANS_DENIAL},
    {WE "|you|u should|must|may|can|will|need|ought|dare not|never", MEANS_DENIAL},
    {"you|u don't|do not? have|need", MEANS_DENIAL},
    {"make|be sure|certain * " NOT, MEANS_DENIAL},
    {"ensure|see * " NOT, MEANS_DENIAL},
    {"let 's|us not|never", MEANS_DENIAL},

    /* wishes */
    {WE " want|need|wish|require you|u|someone|somebody? to not|never", MEANS_DENIAL},
    {WE " would|'d " LIKE " you|u|someone|somebody? to not|never", MEANS_DENIAL},
    {WE " want|need|wish|require you|u|someone|somebody? to", MEANS_ORDER},
    {WE " would|'d " LIKE " you|u|someone|somebody? to", MEANS_ORDER},
    {"id " LIKE " you|u|someone|somebody? to", MEANS_ORDER},
    {WE " wanna|gotta|gonna", MEANS_ORDER},
    {"wanna|gotta|gonna", MEANS_ORDER},
    {"want|need|trying|looking|would? like to", MEANS_ORDER},
    {WE " am|'m|are|'re going|looking|trying|ready|about to", MEANS_ORDER},
    {"im going|looking|trying|ready|about to", MEANS_ORDER},
    {WE " want|need|wish|require", MEANS_WISH},
    {WE " would|'d|will|'ll " LIKE "|need|have", MEANS_WISH},
    {"id " LIKE, MEANS_WISH},
    {SUBJECT " should|must|can|may", MEANS_ORDER},
    {SUBJECT " need|needs|ought|have|has to", MEANS_ORDER},
    {SUBJECT " had|'d? better", MEANS_ORDER},
    {"let me|us know|see", MEANS_QUESTION},
    {"let us|me|'s", MEANS_ORDER},
    {"lets", MEANS_ORDER},
    {"how|what about +ing", MEANS_ORDER},
    {"why don't|not|dont you|we", MEANS_ORDER},
    {"why not", MEANS_ORDER},
    {"do me|us a|the? favor|favour|kindness|solid and?", MEANS_ORDER},
    {"do =verb", MEANS_REST},
    {"go ahead|on and?", MEANS_REST},
    {"feel free to", MEANS_ORDER},
    {"try|remember|proceed|continue to|and", MEANS_REST},
    {"be sure|certain to", MEANS_ORDER},
    {"make sure|certain", MEANS_WISH},
    {"ensure|guarantee", MEANS_WISH},
    {"see to it", MEANS_WISH},
    {"it? 's|is? time to", MEANS_ORDER},

    /* questions */
    {"do " ARTICLE_WORDS, MEANS_REST},
    {"have " ARTICLE_WORDS " * been", MEANS_QUESTION},
    {"have " ARTICLE_WORDS, MEANS_COMMAND},
    {"=question", MEANS_QUESTION},
    {"must|shall|won't|wont|ain't|aint", MEANS_QUESTION},
    {"when is|'s|are|am|was|were|do|does|did|has|have|had|can|could|will|would|should|to", MEANS_QUESTION},
    {WE " wonder|wondered|forgot|doubt", MEANS_QUESTION},
    {WE "|im am|'m|was|are|'re|were? just? wondering|curious|unsure|uncertain", MEANS_QUESTION},
    {WE "|im am|'m|was|are|'re|were? not sure|certain", MEANS_QUESTION},
    {"wondering|curious|unsure|wonder|dunno", MEANS_QUESTION},
    {"any|no idea|clue|news|word", MEANS_QUESTION},
    {"anyone|anybody know|knows", MEANS_QUESTION},

    /* conditions */
    {"if|unless|when|whenever|once|after|until", MEANS_CONDITION},
    {"as soon as", MEANS_CONDITION},
    {"as|before|while|since|although|though", MEANS_ASIDE},
};

/* Skips words without meaning at the beginning of a clause. */
static size_t skip_clause_fillers(const struct intent_reader *r, const struct clause *clause, size_t at)
{
    const struct str fillers = STR(
        "actually|afternoon|ah|alexa|also|alright|and|anyway|assistant|basically|bot|but|computer|dear|evening|"
        "excuse|finally|first|firstly|friend|good|greetings|guys|hello|hey|hi|hmm|honestly|however|immediately|just|"
        "kindly|lastly|maybe|moreover|morning|next|now|oh|ok|okay|or|perhaps|please|pls|plz|possibly|quick|quickly|"
        "really|simply|siri|so|sorry|team|thanks|then|there|today|uh|um|urgent|urgently|well|yeah|yep|yes|yo");
    while (at < clause->end && wt__word_fits(r->words[at].text, fillers))
        at++;
    return at;
}

static bool word_ends_with(struct str word, const char *ending)
{
    size_t len = strlen(ending);
    return word.len > len + 1 && memcmp(word.ptr + word.len - len, ending, len) == 0;
}

bool wt__word_fits(struct str word, struct str alternatives)
{
    if (wt__str_equal(alternatives, STR("+ing")))
        return word_ends_with(word, "ing") && !word_ends_with(word, "thing");
    return wt__str_is_one_of(word, alternatives);
}

bool wt__any_word_fits(const struct intent_reader *r, size_t from, size_t to, struct str alternatives)
{
    for (size_t w = from; w < to; w++)
        if (wt__word_fits(r->words[w].text, alternatives))
            return true;
    return false;
}

enum { PHRASE_GAP = 4 /* maximum words for '*' */ };

/* Matches the words of the clause from `at` on. Returns the index of the word after the phrase; SIZE_MAX if the clause
 * does not match. */
static size_t match_phrase(const struct intent_reader *r, const struct clause *clause, size_t at, const char *phrase)
{
    for (; *phrase == ' '; phrase++)
        continue;
    if (*phrase == 0)
        return at;
    struct str part = {phrase, strcspn(phrase, " ")};
    const char *rest = phrase + part.len;
    if (wt__str_equal(part, STR("$")))
        return at >= clause->end ? at : SIZE_MAX;
    if (wt__str_equal(part, STR("*"))) {
        for (size_t gap = 0; gap <= PHRASE_GAP && at + gap <= clause->end; gap++) {
            size_t end = match_phrase(r, clause, at + gap, rest);
            if (end != SIZE_MAX)
                return end;
        }
        return SIZE_MAX;
    }
    if (wt__str_equal(part, STR("=verb")))
        return at < clause->end && wt__is_base_verb(r->words[at].text) ? at : SIZE_MAX;
    if (wt__str_equal(part, STR("=question")))
        return at < clause->end && wt__is_question_word(r->words[at].text, true) ? at : SIZE_MAX;
    bool optional = part.ptr[part.len - 1] == '?';
    part.len -= optional;
    if (at < clause->end && !r->words[at].quoted && wt__word_fits(r->words[at].text, part)) {
        size_t end = match_phrase(r, clause, at + 1, rest);
        if (end != SIZE_MAX)
            return end;
    }
    return optional ? match_phrase(r, clause, at, rest) : SIZE_MAX;
}

/* ---------------------------------------------------------------- clauses */

/* Verbs that ask for information: "show me the timers", "check whether the vault is locked". */
static const char *const informing[] = {
    "check", "confirm", "count",   "describe", "determine",  "display", "explain", "figure",
    "find",  "hear",    "inspect", "know",     "learn",      "list",    "look",    "say",
    "see",   "show",    "tell",    "test",     "understand", "verify",  "view",
};

bool wt__is_form_among(struct str word, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (wt__is_form_of(word, words[i]))
            return true;
    return false;
}

/* True if the order at `at` has a question as its object: "check whether", "tell me what", "find out when". */
static bool has_complement(const struct intent_reader *r, const struct clause *clause, size_t at)
{
    size_t end = at + PHRASE_GAP + 1 < clause->end ? at + PHRASE_GAP + 1 : clause->end;
    return wt__any_word_fits(r, at + 1, end, STR("if|whether|what|when|where|which|who|whose|why|how"));
}

/* True if the clause has a form of "be" or "have", or "did", from the word `at` on: "the vault is locked". */
static bool has_finite_verb(const struct intent_reader *r, const struct clause *clause, size_t at)
{
    return wt__any_word_fits(r, at, clause->end, STR("am|are|been|did|had|has|have|is|was|were|'s|'re|'m|'ve"));
}

/* Classifies clauses such as "the server must be restarted" as a polite order, and clauses such as "it should not be"
 * as a prohibition. Other clauses are CLAUSE_OTHER. */
static enum clause_kind classify_obligation(const struct intent_reader *r, const struct clause *clause)
{
    for (size_t at = clause->start; at + 1 < clause->end; at++) {
        struct str next = r->words[at + 1].text;
        if (!wt__word_fits(r->words[at].text, STR("deserve|deserves|have|has|must|need|needs|ought|should")))
            continue;
        if (wt__word_fits(next, STR("not|never")))
            return CLAUSE_DENIAL;
        if (wt__word_fits(next, STR("be|to")) || wt__word_fits(next, STR("+ing")))
            return CLAUSE_WISH;
    }
    return CLAUSE_OTHER;
}

/* Classifies an order whose verb, at `at`, is in the table `informing`, as CLAUSE_QUESTION, CLAUSE_INFORM or
 * CLAUSE_ORDER. */
static enum clause_kind classify_informing(const struct intent_reader *r, const struct clause *clause, size_t at)
{
    struct str verb = r->words[at].text, next = at + 1 < clause->end ? r->words[at + 1].text : STR("");
    bool to_me = wt__word_fits(next, STR("me|us"));
    if ((wt__is_form_of(verb, "tell") || wt__is_form_of(verb, "say")) && !to_me)
        return CLAUSE_ORDER; /* "tell Bob" */
    if (has_complement(r, clause, at))
        return CLAUSE_QUESTION;
    if (wt__word_fits(next, STR("in|out|off")) && !wt__is_form_of(verb, "find") && !wt__is_form_of(verb, "figure"))
        return CLAUSE_ORDER; /* "check out" */
    static const char *const checks[] = {"check", "confirm", "see", "verify"};
    if (wt__is_form_among(verb, checks, COUNT(checks)) &&
        (wt__word_fits(next, STR("that")) || has_finite_verb(r, clause, at + 1)))
        return CLAUSE_QUESTION;
    if (wt__effect_verb(r->effect, verb) || (wt__is_form_of(verb, "find") && !wt__word_fits(next, STR("out"))))
        return CLAUSE_ORDER; /* "find me a table" may be an order to a booking tool */
    return CLAUSE_INFORM;
}

/* Classifies a clause by its words from `at` on. polite: true after a polite phrase. */
static void classify_clause(const struct intent_reader *r, struct clause *clause, size_t at, bool polite)
{
    static const enum clause_kind kinds[] = {
        [MEANS_ASIDE] = CLAUSE_ASIDE,       [MEANS_WISH] = CLAUSE_WISH,     [MEANS_COMMAND] = CLAUSE_ORDER,
        [MEANS_QUESTION] = CLAUSE_QUESTION, [MEANS_DENIAL] = CLAUSE_DENIAL, [MEANS_CONDITION] = CLAUSE_CONDITION,
        [MEANS_PLEASE] = CLAUSE_PLEASE,     [MEANS_TAG] = CLAUSE_TAG,       [MEANS_REVOKE] = CLAUSE_DENIAL,
    };
    for (size_t i = 0; i < COUNT(phrases); i++) {
        size_t end = match_phrase(r, clause, at, phrases[i].words);
        if (end == SIZE_MAX)
            continue;
        enum phrase_means means = phrases[i].means;
        if (means == MEANS_ORDER || means == MEANS_REST) {
            at = skip_clause_fillers(r, clause, end);
            polite |= means == MEANS_ORDER;
            i = SIZE_MAX; /* restart with the rest of the clause */
            continue;
        }
        clause->kind = kinds[means];
        clause->revokes = means == MEANS_REVOKE;
        clause->rest = means == MEANS_WISH || means == MEANS_COMMAND ? end : clause->start;
        return;
    }
    clause->verb = at;
    clause->rest = at + 1;
    if (at >= clause->end) {
        clause->kind = polite ? CLAUSE_WISH : CLAUSE_ASIDE;
    } else if (wt__is_form_among(r->words[at].text, informing, COUNT(informing))) {
        clause->kind = classify_informing(r, clause, at);
    } else if (polite) {
        clause->kind = CLAUSE_WISH;
        return;
    } else if (wt__is_base_verb(r->words[at].text)) {
        clause->kind = CLAUSE_ORDER;
    } else if ((clause->kind = classify_obligation(r, clause)) != CLAUSE_OTHER) {
        clause->rest = clause->start;
    } else if (wt__word_fits(r->words[at].text, STR("i|we|you|he|she|they|it|someone|somebody|anyone|anybody")) ||
               has_finite_verb(r, clause, at)) {
        clause->kind = CLAUSE_STATEMENT;
    }
    if (polite && clause->kind == CLAUSE_ORDER)
        clause->kind = CLAUSE_WISH;
}

/* True if a clause begins at the word: after a sign, or at a conjunction. */
static bool starts_clause(const struct intent_reader *r, size_t w)
{
    const struct str conjunctions = STR("and|or|but|then|because|instead|cause|cuz|without|except");
    if (w == 0 || r->words[w].before != 0)
        return true;
    bool follows = wt__word_fits(r->words[w - 1].text, conjunctions); /* "and then" */
    return !follows && wt__word_fits(r->words[w].text, conjunctions);
}

static void split_clauses(struct intent_reader *r)
{
    for (size_t w = 0; w < r->word_count; w++) {
        if (!starts_clause(r, w)) {
            r->clauses[r->clause_count - 1].end = w + 1;
            continue;
        }
        if (r->clause_count == INTENT_CLAUSES) {
            r->cut = true;
            return;
        }
        char before = r->words[w].before;
        r->clauses[r->clause_count++] =
            (struct clause){.start = w,
                            .end = w + 1,
                            .first = w == 0 || (before != 0 && strchr(".?!\n", before)),
                            .joined = before == 0 && wt__word_fits(r->words[w].text, STR("and|or"))};
    }
}

/* True if the sentence of the clause ends with a question mark. */
static bool ends_with_question_mark(const struct intent_reader *r, size_t c)
{
    while (c + 1 < r->clause_count && !r->clauses[c + 1].first)
        c++;
    return (c + 1 < r->clause_count ? r->words[r->clauses[c + 1].start].before : r->last_sign) == '?';
}

/* Adapts a clause to the previous clause of its sentence. "Did you lock it, restart it and leave" is one question. In
 * "if it rains, shut it", the condition also applies to "shut it". */
static void follow_clause(const struct clause *before, struct clause *clause)
{
    bool orders = clause->kind == CLAUSE_ORDER || clause->kind == CLAUSE_OTHER;
    bool ordered = before->kind == CLAUSE_ORDER || before->kind == CLAUSE_WISH;
    if (clause->first)
        return;
    if (before->kind == CLAUSE_CONDITION && (clause->kind == CLAUSE_ORDER || clause->kind == CLAUSE_WISH)) {
        clause->kind = CLAUSE_CONDITION;
    } else if (clause->kind == CLAUSE_OTHER && ordered) {
        clause->kind = before->kind; /* "the pasta, egg and rice timers" */
        clause->is_continuation = true;
        clause->rest = clause->start;
    } else if (orders && before->kind == CLAUSE_QUESTION) {
        clause->kind = CLAUSE_QUESTION;
    } else if (orders && clause->joined && (before->kind == CLAUSE_DENIAL || before->kind == CLAUSE_WISH)) {
        clause->kind = before->kind;
    }
}

/* Applies clause `c` to the previous clause if `c` is a tag or a polite phrase. After "right?", an order becomes a
 * question. After "will you?", an order becomes polite. */
static void apply_tag(struct intent_reader *r, size_t c)
{
    struct clause *clause = &r->clauses[c], *before = c > 0 && !clause->first ? clause - 1 : NULL;
    if (clause->kind == CLAUSE_PLEASE && before && before->kind == CLAUSE_ORDER)
        before->kind = CLAUSE_WISH;
    if (clause->kind == CLAUSE_TAG && before &&
        (before->kind == CLAUSE_ORDER || before->kind == CLAUSE_STATEMENT || before->kind == CLAUSE_OTHER))
        before->kind = CLAUSE_QUESTION;
    if (clause->kind == CLAUSE_TAG || clause->kind == CLAUSE_PLEASE)
        clause->kind =
            clause->kind == CLAUSE_TAG && !before && clause->end - clause->start > 1 ? CLAUSE_QUESTION : CLAUSE_ASIDE;
}

/* True if the sentence of clause `c` has a polite order. Its question mark then does not turn an order into a
 * question. */
static bool is_politely_asked(const struct intent_reader *r, size_t c)
{
    while (c > 0 && !r->clauses[c].first)
        c--;
    for (; c < r->clause_count; c++) {
        if (r->clauses[c].kind == CLAUSE_WISH)
            return true;
        if (c + 1 < r->clause_count && r->clauses[c + 1].first)
            break;
    }
    return false;
}

static void classify_clauses(struct intent_reader *r)
{
    for (size_t c = 0; c < r->clause_count; c++) {
        struct clause *clause = &r->clauses[c];
        size_t begin = skip_clause_fillers(r, clause, clause->start);
        clause->verb = clause->end;
        if (begin < clause->end)
            classify_clause(r, clause, begin, false);
        else
            clause->kind = CLAUSE_PLEASE; /* "ok", "please" */
        bool may_be_polite = clause->kind == CLAUSE_ORDER || clause->kind == CLAUSE_OTHER;
        if (may_be_polite && wt__any_word_fits(r, clause->start, clause->end, STR("please|pls|plz|kindly")))
            clause->kind = CLAUSE_WISH;
        if (c > 0)
            follow_clause(clause - 1, clause);
        apply_tag(r, c);
    }
    for (size_t c = 0; c < r->clause_count; c++) {
        struct clause *clause = &r->clauses[c];
        bool open = clause->kind == CLAUSE_ORDER || clause->kind == CLAUSE_OTHER || clause->kind == CLAUSE_STATEMENT;
        if (open && ends_with_question_mark(r, c) && !is_politely_asked(r, c))
            clause->kind = CLAUSE_QUESTION;
    }
}

int wt__clauses_read(struct intent_reader *r, struct arena *arena)
{
    size_t most = r->request.len / 2 + 1; /* a word and its separator take about two bytes or more */
    r->words_most = most < INTENT_WORDS ? most : INTENT_WORDS;
    r->words = wt__arena_array(arena, struct intent_word, r->words_most);
    r->clauses = wt__arena_array(arena, struct clause, INTENT_CLAUSES);
    if (!r->words || !r->clauses || read_intent_words(r, arena) < 0)
        return WT_ENOMEM;
    split_clauses(r);
    classify_clauses(r);
    return 0;
}
