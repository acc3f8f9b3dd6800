/* language.c: detects a foreign language by lists of function words (language.h). Almost every sentence of a
 * language has one of its listed words. The lists omit words that are common in English ("in", "was", "me") and
 * names of commands ("du", "ai"). docs/encoders.md, "Other languages", has the error rate. */
#include "retrieve/language.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "retrieve/words.h"
#include "text/unicode.h"

enum {
    WORD_MAX = 16,        /* bytes; longer than any listed word */
    LEAST_EVIDENCE = 2,   /* distinct function words; accented letters count as one more */
    IDEOGRAPH_LETTERS = 3 /* Latin letters that outweigh one non-Latin letter */
};

/* At most 63 words per language (bits from 1 on), with a blank before and after each. */
static const struct {
    const char *name, *words;
} languages[] = {
    {"German", " der die das und ist nicht ein eine einen einem für auf von vom zu zum zur im dem den des ich mir mein "
               "meine meinen meinem meiner welche welcher welches wie wann wer bitte bei nach aus mit über oder wird "
               "werden habe kann noch neue neuen neues als sich sind um dieser diese dieses diesem wir uns unsere "},
    {"French", " le la les un une des et est dans pour sur avec mon mes ce cette ces cet qui que quoi quels quelle "
               "quelles quel aux au sont pas vers je tu nous vous notre votre de à en l y où ou ma ta sa chez tous "},
    {"Spanish", " el la los las un una unos unas y de del en para por con mi mis este esta estos qué que cuál cuáles "
                "cómo dónde cuándo al es son está están hay su sus lo todos todas desde hasta sobre "},
    {"Italian",
     " il lo la gli le un una uno di del della dei delle degli è per con mio mia miei che quale quali dove al "
     "alla alle nel nella sono questo questa tutti tutte tra dal dalla sul sulla l "},
    {"Portuguese",
     " o os um uma de do da dos das em no na nos nas para por com meu minha meus que qual quais este esta "
     "é são está ao à todos todas quando onde até "},
    {"Dutch", " de het een en van op voor mijn deze dit die welke wat hoe naar zijn niet aan bij uit ik ons onze "
              "alle tussen wanneer waar "},
};
enum { LANGUAGES = sizeof languages / sizeof *languages };

/* English function words that are in no other list. */
static const char english[] =
    " the to and for with my are what how from this that you please which into by should when "
    "it its these those your their can could would any there where who ";

/* Evidence counted in a request. */
struct language_evidence {
    size_t latin, other;                /* numbers of letters */
    bool accents;                       /* has Latin letters that are not in English */
    unsigned long long seen[LANGUAGES]; /* bitmap of list words counted so far */
    size_t words[LANGUAGES], english;   /* numbers of distinct listed words, and of English function words */
};

/* Returns the 1-based place of the word in the list, or 0. */
static size_t place_in_list(const char *list, struct str word)
{
    size_t place = 1;
    for (const char *at = list + 1; *at; at += strcspn(at, " ") + 1, place++)
        if (strcspn(at, " ") == word.len && memcmp(at, word.ptr, word.len) == 0)
            return place;
    return 0;
}

/* Lower-cases ASCII and U+00C0 to U+00DE, whose lower case is 32 higher. The lists need no other letters. */
static struct str lower_list_word(struct str word, char out[WORD_MAX])
{
    if (word.len > WORD_MAX)
        return (struct str){0};
    for (size_t i = 0; i < word.len; i++) {
        unsigned char c = (unsigned char)word.ptr[i];
        bool behind = i > 0 && (unsigned char)word.ptr[i - 1] == 0xC3;
        out[i] = (char)((c >= 'A' && c <= 'Z') || (behind && c >= 0x80 && c <= 0x9E) ? c + 32 : c);
    }
    return (struct str){out, word.len};
}

static bool is_capitals(struct str word)
{
    bool capitals = word.len > 1;
    for (size_t i = 0; i < word.len; i++)
        capitals = capitals && word.ptr[i] >= 'A' && word.ptr[i] <= 'Z';
    return capitals;
}

static void count_letters(struct language_evidence *e, struct str word)
{
    for (const char *at = word.ptr, *end = at + word.len; at < end;) {
        uint32_t c = wt__utf8_next(&at, end);
        bool letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
        bool accented = c >= 0xC0 && c < 0x250;
        bool punctuation =
            (c >= 0x2000 && c < 0x2E80) || (c >= 0x3000 && c < 0x3040) || (c >= 0xFE00 && c < 0xFF10) || c >= 0x1F000;
        e->latin += letter || accented;
        e->other += c >= 0x370 && c != 0xFFFD && !punctuation;
        e->accents = e->accents || accented;
    }
}

/* True if a sentence begins at the word at `at`. Only there may a function word have a capital. */
static bool begins_sentence(struct str text, size_t at)
{
    static const char inverted[2][3] = {"\xC2\xA1", "\xC2\xBF"}; /* Spanish opening question and exclamation marks */
    while (at > 0 && text.ptr[at - 1] == ' ')
        at--;
    return at == 0 || strchr(".?!:;\n\t-*", text.ptr[at - 1]) ||
           (at >= 2 &&
            (memcmp(text.ptr + at - 2, inverted[0], 2) == 0 || memcmp(text.ptr + at - 2, inverted[1], 2) == 0));
}

static void count_word(struct language_evidence *e, struct str word, bool begins)
{
    char bytes[WORD_MAX];
    count_letters(e, word);
    bool name = (*word.ptr >= 'A' && *word.ptr <= 'Z' && !begins) || is_capitals(word);
    if (name)
        return;
    struct str lower = lower_list_word(word, bytes);
    if (lower.len == 0)
        return;
    e->english += place_in_list(english, lower) > 0;
    for (size_t i = 0; i < LANGUAGES; i++) {
        unsigned long long bit = 1ull << place_in_list(languages[i].words, lower);
        if (bit > 1 && !(e->seen[i] & bit)) {
            e->seen[i] |= bit;
            e->words[i]++;
        }
    }
}

/* Returns the length in bytes of the quotation at `at`, or 0. A quotation needs its closing mark. */
static size_t measure_quotation(struct str text, size_t at)
{
    static const char *const marks[][2] = {{"\"", "\""}, {"`", "`"},   {"'", "'"}, {"“", "”"}, {"„", "“"},
                                           {"«", "»"},   {"「", "」"}, {"‘", "’"}, {"„", "”"}};
    bool inside = at > 0 && wt__is_word_byte(text.ptr[at - 1]); /* this quote is an apostrophe */
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        size_t open = strlen(marks[i][0]), close = strlen(marks[i][1]);
        if ((inside && *marks[i][0] == '\'') || text.len - at < open || memcmp(text.ptr + at, marks[i][0], open) != 0)
            continue;
        for (size_t end = at + open; end + close <= text.len; end++)
            if (memcmp(text.ptr + end, marks[i][1], close) == 0 &&
                !(*marks[i][1] == '\'' && end + 1 < text.len && wt__is_word_byte(text.ptr[end + 1])))
                return end + close - at;
    }
    return 0;
}

const char *wt__foreign_language(struct str request)
{
    struct language_evidence e = {0};
    if (request.len > LANGUAGE_REQUEST_MAX)
        return NULL;
    for (size_t at = 0; at < request.len;) {
        size_t quoted = measure_quotation(request, at);
        if (quoted > 0 || !wt__is_word_byte(request.ptr[at])) {
            at += quoted > 0 ? quoted : 1;
            continue;
        }
        bool begins = begins_sentence(request, at);
        count_word(&e, wt__next_word(request, &at), begins);
    }
    if (e.english == 0 && e.other * IDEOGRAPH_LETTERS > e.latin)
        return "in another script";
    size_t best = 0;
    for (size_t i = 1; i < LANGUAGES; i++)
        best = e.words[i] > e.words[best] ? i : best;
    size_t evidence = e.words[best] > 0 ? e.words[best] + e.accents : 0;
    return evidence >= LEAST_EVIDENCE && evidence > 2 * e.english ? languages[best].name : NULL;
}
