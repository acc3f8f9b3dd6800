/* wish.c: reads the lines of a request, and finds its wishes (wish.h).
 *
 * Each line is classified first. A signature begins at a line such as "--" or "Kind regards,", and ends at a postscript
 * or a quoted message. Quoted messages begin with '>' or with a header such as "From:". The other lines are cut into
 * sentences, and each sentence gets a strength. The strongest sentences are the wish. A wish that refers to something
 * before it ("close it") also keeps the sentence before. */
#include "retrieve/wish.h"

#include <stdbool.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "retrieve/segment.h"
#include "retrieve/words.h"

/* OPENING_WORDS: maximum words of a greeting or a closing. BODY_WORDS: words of a line that cannot be a part of a
 * signature. REFERS_BELOW: a wish with fewer content words and a pronoun keeps the sentence before it. OTHERS_LEAST:
 * with fewer sentences that are no wishes, a request is read whole. NAME_BYTES: maximum length of a speaker's name. */
enum { OPENING_WORDS = 5, BODY_WORDS = 12, REFERS_BELOW = 5, OTHERS_LEAST = 3, NAME_BYTES = 24 };

enum part { PART_BODY, PART_QUOTED, PART_SIGNATURE };

enum strength { STRENGTH_NONE, STRENGTH_QUESTION, STRENGTH_ORDER, STRENGTH_PLEA, STRENGTH_ADDRESSED };

struct sentence {
    struct str text;
    enum part part;
    enum strength strength;
};

struct reader {
    struct sentence *sentences;
    size_t count;
    enum part part; /* of the current line */
};

/* Copies the next word in lower case to out. False at the end. */
static bool next_lower_word(struct str text, size_t *at, char out[WORD_LISTED_MAX + 1])
{
    struct str word = wt__next_word(text, at);
    wt__lower_word(word, out);
    return word.len > 0;
}

static size_t count_words(struct str text)
{
    size_t count = 0;
    for (size_t at = 0; wt__next_word(text, &at).len > 0;)
        count++;
    return count;
}

/* True if a line or sentence opens or closes a mail: at most OPENING_WORDS words, the first one in the list. */
static bool opens_with(struct str text, const char *list)
{
    char word[WORD_LISTED_MAX + 1];
    size_t at = 0;
    return next_lower_word(text, &at, word) && wt__is_listed(word, list) && count_words(text) <= OPENING_WORDS;
}

static bool is_greeting(struct str text)
{
    return opens_with(text,
                      " hi hey hello hiya dear good morning morning afternoon evening greetings howdy hallo moin ");
}

static bool is_closing(struct str text)
{
    return opens_with(text,
                      " regards rgds best cheers thanks thank thx ta sincerely greetings yours kind kindly warm warmly "
                      "respectfully cordially bises ciao saludos grusse gruesse mfg lg vg mvh br sent with ");
}

/* Each is a part of a sentence, in lower case. */
static bool has_phrase(struct str text, const char *const *phrases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t len = strlen(phrases[i]);
        for (size_t at = 0; at + len <= text.len; at++) {
            size_t same = 0;
            while (same < len && wt__lower_ascii(text.ptr[at + same]) == phrases[i][same])
                same++;
            bool whole = same == len && (at == 0 || !wt__is_word_byte(text.ptr[at - 1])) &&
                         (at + len == text.len || !wt__is_word_byte(text.ptr[at + len]));
            if (whole)
                return true;
        }
    }
    return false;
}

#define HAS_PHRASE(text, phrases) has_phrase(text, phrases, sizeof(phrases) / sizeof *(phrases))

static bool is_disclaimer(struct str text)
{
    static const char *const phrases[] = {
        "confidential", "intended recipient", "intended for",    "unsubscribe", "legally privileged",
        "in error",     "views expressed",    "before printing", "this email",  "this e-mail",
        "sent from my", "vertraulich",        "confidentiel",    "virus",       "registered office",
        "do not reply",
    };
    return HAS_PHRASE(text, phrases);
}

/* Phrases with the form of a wish that ask for no tool. */
static bool is_formula(struct str text)
{
    static const char *const phrases[] = {
        "please find",     "please note",     "please ignore", "please see",    "please contact", "please notify",
        "please consider", "please don't",    "please do not", "please dont",   "please bear",    "please excuse",
        "feel free",       "let me know",     "see you",       "have a nice",   "have a good",    "have a great",
        "look forward",    "looking forward", "thanks for",    "thank you for", "don't worry",    "never mind",
        "forgive me",      "excuse me",       "call me",       "ring me",       "ping me",        "take care",
        "keep in mind",    "don't want",      "do not want",   "dont want",
    };
    return HAS_PHRASE(text, phrases);
}

/* True if a sentence speaks to the assistant: "so, dear assistant: ...". */
static bool is_addressed(struct str text)
{
    static const char *const phrases[] = {"assistant", "the agent", "dear agent", "the bot", "dear bot"};
    return HAS_PHRASE(text, phrases) || text.ptr[0] == '@';
}

static bool is_plea(struct str text)
{
    static const char *const phrases[] = {
        "please",      "pls",         "plz",         "kindly",       "can you",       "could you",    "would you",
        "will you",    "can u",       "could u",     "can someone",  "could someone", "can somebody", "could somebody",
        "can we",      "could we",    "need you to", "want you to",  "like you to",   "i need",       "what i want",
        "we need",     "my ask",      "the ask",     "my request",   "my question",   "help me",      "todo",
        "next step",   "action item", "bottom line", "additionally", "moreover",      "furthermore",  "lastly",
        "in addition",
    };
    return HAS_PHRASE(text, phrases);
}

/* Reads the first word after words such as "so" and "just", and the word behind it. */
static void read_first_words(struct str text, char first[WORD_LISTED_MAX + 1], char second[WORD_LISTED_MAX + 1])
{
    size_t at = 0;
    while (next_lower_word(text, &at, first) &&
           wt__is_listed(first, " so ok okay and but also just then now anyway right well "))
        ;
    next_lower_word(text, &at, second);
}

/* First words of statements: "I can attach it myself", "the list is longer". */
static const char statement_words[] =
    " i we he she they it the this that these those a an my our his her their its there no "
    "some everything nobody everyone everybody nothing one as if while because since "
    "after although ";

static const char *const longings[] = {"i'd like", "i would like", "we'd like", "we would like"};
static const char prepositions[] = " in on at for from with by of to under over until inside outside ";
static const char denials[] = " don dont never ";

/* True if the first word is a verb in its base form. An unknown word counts if it is followed by an article, or a word
 * like it, and does not look like another form of a verb: "render the page", but not "found a bug". */
static bool begins_with_order(const char *first, const char *second)
{
    static const char others[] =
        " had got saw said went made met did was has is are hope think guess found sent told put "
        "in on at for from with by of to under over until once when if here only both ";
    size_t len = strlen(first);
    if (wt__verb(wt__str(first)).actions)
        return true;
    if (len < 3 || wt__is_listed(first, others) || wt__is_stopword_any_case(wt__str(first)))
        return false;
    bool form = first[len - 1] == 's' || strcmp(first + len - 2, "ed") == 0 || strcmp(first + len - 3, "ing") == 0;
    return !form && wt__is_listed(second, " a an the my our this that these those all every it them me us him her ");
}

static enum strength measure_strength(struct str text)
{
    char first[WORD_LISTED_MAX + 1], second[WORD_LISTED_MAX + 1];
    read_first_words(text, first, second);
    if (is_greeting(text) || is_closing(text) || is_disclaimer(text) || is_formula(text) ||
        wt__is_listed(first, denials))
        return STRENGTH_NONE;
    bool plea = is_plea(text);
    if (is_addressed(text) && (plea || wt__has_wish(text) || memchr(text.ptr, ':', text.len)))
        return STRENGTH_ADDRESSED;
    if (plea)
        return STRENGTH_PLEA;
    if (text.ptr[text.len - 1] == '?')
        return STRENGTH_QUESTION;
    if (HAS_PHRASE(text, longings))
        return STRENGTH_ORDER;
    if (wt__is_listed(first, statement_words))
        return STRENGTH_NONE;
    if (wt__is_listed(first, prepositions)) { /* "on Spotify, start a playlist", but not "in the end we left" */
        const char *comma = memchr(text.ptr, ',', text.len);
        text = comma ? (struct str){comma, (size_t)(text.ptr + text.len - comma)} : (struct str){0};
    }
    return begins_with_order(first, second) || wt__has_wish(text) ? STRENGTH_ORDER : STRENGTH_NONE;
}

/* Returns the length of a time at the beginning of a line of a chat. */
static size_t skip_time(struct str line)
{
    size_t end = 0;
    while (end < line.len && memchr("[]0123456789: ", line.ptr[end], 14))
        end++;
    return end > 3 && memchr(line.ptr, ':', end) ? end : 0;
}

/* Returns the line without time and speaker of a chat: "[14:02] Priya: pin it". */
static struct str skip_speaker(struct str line)
{
    size_t end = 0, time = skip_time(line);
    line = (struct str){line.ptr + time, line.len - time};
    while (end < line.len && end < NAME_BYTES && line.ptr[end] != ':')
        end++;
    bool name = end > 0 && end + 1 < line.len && line.ptr[end] == ':' && line.ptr[end + 1] == ' ' &&
                line.ptr[0] >= 'A' && line.ptr[0] <= 'Z' && count_words((struct str){line.ptr, end}) == 1;
    return name ? (struct str){line.ptr + end + 2, line.len - end - 2} : line;
}

static bool is_header(struct str line)
{
    static const char *const names[] = {"from:", "sent:", "to:", "cc:", "date:"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t same = 0, len = strlen(names[i]);
        while (same < len && same < line.len && wt__lower_ascii(line.ptr[same]) == names[i][same])
            same++;
        if (same == len)
            return true;
    }
    static const char *const forwards[] = {"original message", "forwarded message", "wrote:"};
    return HAS_PHRASE(line, forwards);
}

static bool is_rule(struct str line)
{
    for (size_t i = 0; i < line.len; i++)
        if (line.ptr[i] != '-' && line.ptr[i] != '_' && line.ptr[i] != ' ')
            return false;
    return line.len >= 2;
}

/* Sets the part that a line belongs to. */
static void classify_line(struct reader *reader, struct str line)
{
    static const char *const postscripts[] = {"ps", "p.s", "p.s."};
    bool quoted = line.ptr[0] == '>' || is_header(line);
    if (quoted)
        reader->part = PART_QUOTED;
    else if (is_rule(line) || (is_closing(line) && reader->count > 0))
        reader->part = PART_SIGNATURE;
    else if (HAS_PHRASE(line, postscripts) || (reader->part == PART_SIGNATURE && count_words(line) > BODY_WORDS))
        reader->part = PART_BODY;
}

static void add_sentences(struct reader *reader, struct str line)
{
    struct str sentence;
    while (line.len > 0 && (line.ptr[0] == '>' || line.ptr[0] == ' '))
        line = (struct str){line.ptr + 1, line.len - 1};
    line = skip_speaker(line);
    for (size_t at = 0; wt__next_sentence(line, &at, &sentence);) {
        sentence = wt__str_trim(sentence);
        if (sentence.len > 0)
            reader->sentences[reader->count++] = (struct sentence){sentence, reader->part, measure_strength(sentence)};
    }
}

/* Reads the lines of the request. A quoted message ends at an empty line after lines with '>'. */
static int read_sentences(struct reader *reader, struct str request, struct arena *arena, wt_error *err)
{
    bool marked = false; /* the last line began with '>' */
    reader->sentences = wt__arena_array(arena, struct sentence, request.len / 2 + 1);
    WT_CHECK_ALLOC(reader->sentences, err);
    for (size_t at = 0, end; at < request.len; at = end + 1) {
        const char *stop = memchr(request.ptr + at, '\n', request.len - at);
        end = stop ? (size_t)(stop - request.ptr) : request.len;
        struct str line = wt__str_trim((struct str){request.ptr + at, end - at});
        if (reader->part == PART_QUOTED && marked && (line.len == 0 || line.ptr[0] != '>'))
            reader->part = PART_BODY;
        marked = line.len > 0 && line.ptr[0] == '>';
        if (line.len == 0)
            continue;
        classify_line(reader, line);
        add_sentences(reader, line);
    }
    return 0;
}

/* Counts the sentences that are no wishes. */
static size_t count_others(const struct reader *reader)
{
    size_t count = 0;
    for (size_t i = 0; i < reader->count; i++)
        count += reader->sentences[i].part != PART_BODY || reader->sentences[i].strength == STRENGTH_NONE;
    return count;
}

static enum strength find_strongest(const struct reader *reader, enum part part)
{
    enum strength strongest = STRENGTH_NONE;
    for (size_t i = 0; i < reader->count; i++)
        if (reader->sentences[i].part == part && reader->sentences[i].strength > strongest)
            strongest = reader->sentences[i].strength;
    return strongest;
}

/* True if a wish has few content words and a pronoun, so that it depends on the sentence before it. */
static bool refers_to_context(struct str text)
{
    char word[WORD_LISTED_MAX + 1];
    size_t content = 0;
    bool pronoun = false;
    for (size_t at = 0; next_lower_word(text, &at, word);) {
        pronoun |= wt__is_listed(word, " it that them this those these him her one ones same there ");
        content += !wt__is_stopword_any_case(wt__str(word));
    }
    return pronoun && content < REFERS_BELOW;
}

static void append_wishes(const struct reader *reader, enum part part, enum strength strength, struct buffer *out)
{
    size_t last = SIZE_MAX; /* last appended sentence */
    for (size_t i = 0; i < reader->count; i++) {
        const struct sentence *s = &reader->sentences[i];
        bool follows = i > 0 && last == i - 1 && s->strength >= STRENGTH_ORDER;
        if (s->part != part || (s->strength < strength && !follows))
            continue;
        const struct sentence *before = i > 0 ? s - 1 : s;
        if (before != s && last != i - 1 && before->part == part && !is_formula(before->text) &&
            refers_to_context(s->text)) {
            wt__buffer_str(out, before->text);
            wt__buffer_char(out, '\n');
        }
        wt__buffer_str(out, s->text);
        wt__buffer_char(out, '\n');
        last = i;
    }
}

int wt__wish_read(struct str *out, struct str request, struct arena *arena, wt_error *err)
{
    struct reader reader = {.count = 0};
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    *out = request;
    if (request.len < WISH_FROM)
        return 0;
    WT_TRY(read_sentences(&reader, request, arena, err));
    if (count_others(&reader) < OTHERS_LEAST)
        return 0;
    enum part part = PART_BODY;
    enum strength strongest = find_strongest(&reader, part);
    if (strongest == STRENGTH_NONE)
        strongest = find_strongest(&reader, part = PART_QUOTED);
    if (strongest == STRENGTH_NONE)
        return 0;
    append_wishes(&reader, part, strongest, &text);
    const char *copy = text.failed ? NULL : wt__arena_copy(arena, wt__str_trim(wt__buffer_view(&text)));
    WT_CHECK_ALLOC(copy, err);
    *out = wt__str(copy);
    return 0;
}
