/* opening.c: finds the sentence of a description that says what the tool does (opening.h).
 *
 * The description is read as a sequence of pieces: sentences, lines, labels ("Note:") and tags ("[Beta]"). The first
 * piece must match a list of known openings. Later pieces are skipped until one begins like the description of an
 * action: "Lists ...", "Create ...", "This tool returns ...". An order to the caller also begins with a verb ("Call
 * login first"), so verbs of such orders do not count, and neither do list items. */
#include "retrieve/opening.h"

#include <stdbool.h>
#include <string.h>

#include "retrieve/words.h"
#include "text/unicode.h"

enum {
    SENTENCE_WORDS_MAX = 40,    /* words of a sentence that patterns see */
    GAP_WORDS = 6,              /* maximum words matched by "*" */
    BRACKETED_BYTES = 80,       /* maximum length of a text in brackets, and of a tag */
    NOUN_WORDS = 12,            /* words of a noun phrase after its first word */
    ADVERBS_MAX = 2,            /* adverbs before a verb */
    CAPITAL_WORDS = 3,          /* minimum words of a warning in capitals */
    VARIATION_SELECTOR = 0xFE0F /* follows many symbols */
};

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define TOOL "tool|endpoint|api|function|method|operation|action|call|command|service|resource|request|feature"

/* Words of one sentence. */
struct opening_sentence {
    struct str text;
    struct str words[SENTENCE_WORDS_MAX]; /* [count] */
    size_t count;
};

static void read_sentence_words(struct opening_sentence *out, struct str text)
{
    size_t at = 0;
    out->text = text;
    for (out->count = 0; out->count < SENTENCE_WORDS_MAX; out->count++) {
        out->words[out->count] = wt__next_word(text, &at);
        if (out->words[out->count].len == 0)
            break;
    }
}

/* True if the word is one of the alternatives "a|b" at the beginning of a pattern, in any case. */
static bool is_alternative(struct str word, const char *pattern, size_t len)
{
    bool same = true;
    size_t i = 0;
    for (const char *at = pattern, *end = pattern + len; at < end; at++) {
        if (*at == '|' && same && i == word.len)
            return true;
        same = *at == '|' || (same && i < word.len && wt__lower_ascii(word.ptr[i]) == *at);
        i = *at == '|' ? 0 : i + 1;
    }
    return same && i == word.len && len > 0;
}

/* True if the words from `at` on begin with the pattern. A pattern is a list of words separated by blanks. "a|b" is a
 * or b, and "*" matches up to GAP_WORDS words. */
static bool matches_pattern(const struct opening_sentence *sentence, size_t at, const char *pattern)
{
    size_t gap = 0;
    const char *behind_gap = NULL; /* pattern behind the last "*" */
    size_t resume = 0;             /* word at which that pattern was tried last */
    while (*pattern) {
        size_t len = strcspn(pattern, " ");
        if (*pattern == '*') {
            behind_gap = pattern += len + (pattern[len] == ' ');
            resume = at;
            gap = 0;
            continue;
        }
        if (at < sentence->count && is_alternative(sentence->words[at], pattern, len)) {
            at++;
            pattern += len + (pattern[len] == ' ');
            continue;
        }
        if (!behind_gap || gap++ == GAP_WORDS || resume >= sentence->count)
            return false;
        at = ++resume;
        pattern = behind_gap;
    }
    return true;
}

static bool matches_any_pattern(const struct opening_sentence *sentence, const char *const *patterns, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (matches_pattern(sentence, 0, patterns[i]))
            return true;
    return false;
}

/* ---------------------------------------------------------------- rules of use */

/* Beginnings of sentences about when and by whom a tool may be used. An apostrophe separates words. A pattern of
 * several literals is in parentheses, so that clang-tidy reports a missing comma. */
static const char *const rules_of_use[] = {
    "when not to use|call",
    "when to use|call",
    "do not|never use|call|invoke|run",
    "don t use|call|invoke|run",
    "never|avoid|always use|call|invoke|run|using|calling|read",
    "not for|intended|recommended|suitable",
    "only use|call|available|works|usable|supported",
    "use|call|invoke only|after|before",
    "use|call|prefer * instead",
    "use|call|invoke|run this|it only|after|before|first",
    ("use|call|invoke|run this|the " TOOL " only|after|before|first"),
    "must|should only|not|always|never",
    "must be called|used|run|invoked|preceded",
    ("this|the " TOOL " must|shouldn|requires|needs|cannot"),
    ("this|the " TOOL " should|may|can only|not|never|always"),
    ("this|the " TOOL " should|may|can be called|used|run|invoked only|after|before|first|once|automatically"),
    ("this|the " TOOL " is|was|has deprecated|experimental|only|not|restricted|obsolete|been|now|still"),
    ("this|the " TOOL " is in|available|subject"),
    "you|callers|agents|clients|users must|should|need|cannot|have",
    "please",
    "note that",
    "be sure|careful|aware",
    "make sure",
    "ensure you|your",
    "keep in mind",
    "before|after calling|using|running|invoking|you",
    "prior to",
    "requires|needs",
    "required scope|scopes|permission|permissions|role|roles|plan",
    "deprecated since|in|use|please|as|and|with|from",
    "no longer",
    "for more|further information|details",
    "see also|https|http",
    "see the * documentation|docs|guide|readme|reference",
    "oauth|authentication|authorization|admin|administrator|the|a|an * is|are required|needed",
    "restricted|limited to",
    "available|supported only",
    "admin|admins|administrators|owners|staff only",
    "if|unless you|your|the * first|instead|never",
    "read the|this * docs|documentation|guide|instructions|manual|readme",
    ("to use this|the " TOOL),
    "costs|consumes * credit|credits|quota|tokens",
};

/* Sentences about availability and permissions. They count only if no verb begins them: "Checks whether seats are
 * available in a hall" says what the tool does. */
static const char *const conditions_of_use[] = {
    "* is|are available in|to|for|on|only|with|as",
    "* need|needs a|an|the",
    "* must be|have|use|provide|send",
    "* subject to change",
};

/* True for a warning in capitals: "MUST CALL open_page BEFORE THIS TOOL". A title in capitals is no warning. */
static bool is_capital_warning(const struct opening_sentence *sentence)
{
    static const char order[] = "must|only|never|always|not|before|after|first|required|requirement|do";
    size_t capitals = 0;
    bool orders = false;
    for (size_t i = 0; i < sentence->count; i++) {
        struct str word = sentence->words[i];
        size_t upper = 0;
        while (upper < word.len && word.ptr[upper] >= 'A' && word.ptr[upper] <= 'Z')
            upper++;
        capitals += upper == word.len;
        orders |= upper == word.len && is_alternative(word, order, sizeof order - 1);
    }
    return orders && capitals >= CAPITAL_WORDS && capitals * 3 >= sentence->count * 2;
}

/* ---------------------------------------------------------------- what a tool does */

/* Verbs of descriptions that wt__verb does not know, because requests rarely begin with them. */
static const char further_verbs[] =
    "access|allow|analyse|analyze|authenticate|automate|broadcast|collect|control|debug|decode|decrypt|define|deploy|"
    "derive|dispatch|encode|encrypt|enrich|enumerate|execute|explore|filter|flag|flatten|help|index|ingest|initialize|"
    "initiate|invoke|join|let|link|load|locate|log|manage|map|obtain|optimize|parse|perform|ping|process|produce|"
    "promote|provide|provision|pull|push|rank|read|recover|refresh|render|resolve|return|rewrite|route|sample|scrape|"
    "select|simulate|split|stream|summarise|supply|test|transform|unsubscribe";

/* Verbs that begin an order to the caller when they are imperative. */
static const char orders_to_caller[] = "ask|call|follow|give|go|invoke|leave|look|make|pass|remember|remind|see|set|"
                                       "take|tell|throw|turn|use";

/* Words after which the word before is a noun: "Updates are slow". */
static const char auxiliaries[] =
    "is|are|was|were|be|must|may|will|should|can|cannot|could|has|have|might|not|do|include|contain";

static bool is_base_verb(struct str word)
{
    return wt__verb(word).actions || is_alternative(word, further_verbs, sizeof further_verbs - 1);
}

/* True for "lists", "fetches", "copies" and "applies". */
static bool is_third_person(struct str word)
{
    char base[WORD_LISTED_MAX + 1];
    if (word.len < 4 || word.len > WORD_LISTED_MAX || wt__lower_ascii(word.ptr[word.len - 1]) != 's')
        return false;
    if (is_base_verb((struct str){word.ptr, word.len - 1}) || is_base_verb((struct str){word.ptr, word.len - 2}))
        return true;
    wt__lower_word(word, base);
    if (memcmp(base + word.len - 3, "ies", 3) != 0)
        return false;
    base[word.len - 3] = 'y';
    return is_base_verb((struct str){base, word.len - 2});
}

static bool is_word_at(const struct opening_sentence *sentence, size_t at, const char *words)
{
    return at < sentence->count && is_alternative(sentence->words[at], words, strlen(words));
}

/* True if words `from` to `to` - 1 include an auxiliary verb that does not belong to a relative clause. */
static bool has_auxiliary(const struct opening_sentence *sentence, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (is_word_at(sentence, i, auxiliaries) && !is_word_at(sentence, i - 1, "that|which|who|what|if|whether"))
            return true;
    return false;
}

/* Returns the index of the first word from `at` on that is not an adverb. */
static size_t skip_adverbs(const struct opening_sentence *sentence, size_t at)
{
    for (size_t end = at + ADVERBS_MAX; at < end && at < sentence->count; at++) {
        struct str word = sentence->words[at];
        bool adverb = word.len > 4 && wt__lower_ascii(word.ptr[word.len - 2]) == 'l' &&
                      wt__lower_ascii(word.ptr[word.len - 1]) == 'y' && !is_base_verb(word);
        if (!adverb && !is_word_at(sentence, at, "also"))
            break;
    }
    return at;
}

static bool begins_with_verb(const struct opening_sentence *sentence)
{
    size_t first = skip_adverbs(sentence, 0);
    return first < sentence->count && (is_base_verb(sentence->words[first]) || is_third_person(sentence->words[first]));
}

/* True for a rule of use, or a condition of it. */
static bool is_rule_of_use(const struct opening_sentence *sentence)
{
    return matches_any_pattern(sentence, rules_of_use, COUNT(rules_of_use)) || is_capital_warning(sentence) ||
           (matches_any_pattern(sentence, conditions_of_use, COUNT(conditions_of_use)) && !begins_with_verb(sentence));
}

/* True if a colon follows the word, as in "Returns: a list". */
static bool is_before_colon(const struct opening_sentence *sentence, size_t at)
{
    const char *end = sentence->words[at].ptr + sentence->words[at].len;
    return end < sentence->text.ptr + sentence->text.len && *end == ':';
}

/* True for "This tool lists ...", "The endpoint will create ...", "A tool that ..." and "Used to ...". */
static bool describes_subject(const struct opening_sentence *sentence)
{
    static const char *const beginnings[] = {
        ("this|the " TOOL " is|can|should|may * used|designed|meant|intended to|for"),
        ("use|call this|the " TOOL " to|when|for|if"),
        "use|call this|it to|when|for|if",
        ("a|an * " TOOL "|utility|helper|tools to|for|that|which"),
        (TOOL "|utility|helper to|for|that|which"),
        "used|useful|designed|meant to|for",
        ("this|the " TOOL " is a|an|the"),
        "this is a|an|the",
    };
    if (matches_any_pattern(sentence, beginnings, COUNT(beginnings)))
        return true;
    if (!is_word_at(sentence, 0, "this|the|it"))
        return false;
    size_t at = 1 + is_word_at(sentence, 1, TOOL);
    if (at == 1 && is_word_at(sentence, 0, "the"))
        return false;
    at = skip_adverbs(sentence, at);
    if (is_word_at(sentence, at, "will|can"))
        return at + 1 < sentence->count && is_base_verb(sentence->words[at + 1]);
    return at < sentence->count && is_third_person(sentence->words[at]);
}

/* True if the sentence begins with a verb in the third person. "Changes of the key are slow" begins with a noun. */
static bool describes_action(const struct opening_sentence *sentence)
{
    size_t at = skip_adverbs(sentence, 0);
    size_t seen = is_word_at(sentence, at + 1, "by|for|from|in|of|on|to") ? NOUN_WORDS : 1;
    return at < sentence->count && is_third_person(sentence->words[at]) && !is_before_colon(sentence, at) &&
           !has_auxiliary(sentence, at + 1, at + 1 + seen);
}

/* True if the sentence begins with an imperative that is no order to the caller. */
static bool is_imperative_description(const struct opening_sentence *sentence)
{
    size_t at = skip_adverbs(sentence, 0);
    if (at >= sentence->count || !is_base_verb(sentence->words[at]) || is_before_colon(sentence, at) ||
        is_alternative(sentence->words[at], orders_to_caller, sizeof orders_to_caller - 1) ||
        has_auxiliary(sentence, at + 1, at + 4))
        return false;
    for (size_t i = at + 1; i < sentence->count; i++)
        if (matches_pattern(sentence, i, "this " TOOL) || matches_pattern(sentence, i, "before|after calling|using") ||
            is_word_at(sentence, i, "instead") || (i + 1 == sentence->count && is_word_at(sentence, i, "first")))
            return false;
    return true;
}

/* ---------------------------------------------------------------- labels and tags */

/* Kinds of pieces, and of labels by the text behind them. */
enum piece {
    PIECE_UNKNOWN,
    PIECE_TITLE, /* the text behind may say what the tool does: "Overview", "Deprecated" */
    PIECE_ALERT, /* the text behind says so only if it has a verb in the third person: "Warning" */
    PIECE_RULES, /* the text behind is part of the opening: "Prerequisites", or a sentence with a rule of use */
    PIECE_END,   /* details follow: "Examples" */
    PIECE_SAYING /* says what the tool does */
};

/* status: also stands in brackets. */
static const struct {
    const char *pattern;
    enum piece piece;
    bool status;
} labels[] = {
    {"deprecated|obsolete|experimental|beta|alpha|preview|legacy|unstable|internal|private", PIECE_TITLE, true},
    {"admin|admins|owner|members|premium only", PIECE_TITLE, true},
    {"deprecation notice", PIECE_TITLE, true},
    {"tool|function purpose|description", PIECE_TITLE, true},
    {"overview|purpose|description|summary", PIECE_TITLE, true},
    {"what it|this does", PIECE_TITLE, false},
    {"important|warning|caution|attention|danger|critical|mandatory", PIECE_ALERT, true},
    {"note|notes|notice|disclaimer|tip|reminder|hint", PIECE_ALERT, false},
    {"important|security|safety|usage note|notes|notice|warning", PIECE_ALERT, true},
    {"prerequisite|prerequisites|precondition|preconditions|requirements|permissions|scopes", PIECE_RULES, false},
    {"required|needed scope|scopes|permission|permissions|role|roles", PIECE_RULES, true},
    {"usage rules|guidelines|policy", PIECE_RULES, false},
    {"rate limit|limits", PIECE_RULES, false},
    {"args|arguments|parameters|params|returns|return|example|examples|output|input|response", PIECE_END, false},
};

/* Names of tags that mark a part of a description. */
static const struct {
    const char *names;
    enum piece piece;
} tags[] = {
    {"use_case|usecase|description|purpose|overview|summary|tool_description|what_it_does", PIECE_TITLE},
    {"important|note|notes|warning|instructions|rules|prerequisites|requirements|when_to_use|when_not_to_use|usage_"
     "rules",
     PIECE_RULES},
};

static const char html_blocks[] = "p|br|div|h1|h2|h3|h4|h5|h6|ul|ol|li|blockquote";
static const char html_inline[] = "b|strong|em|i|code|span|u|a";

/* Returns the name of the tag at the beginning of the text, and sets *len to its length. The name is empty if the text
 * does not begin with a tag. */
static struct str read_tag_name(struct str text, size_t *len)
{
    size_t begin = text.len > 1 && text.ptr[1] == '/' ? 2 : 1, end = begin;
    const char *close = text.len > 0 && text.ptr[0] == '<'
                            ? memchr(text.ptr, '>', text.len < BRACKETED_BYTES ? text.len : BRACKETED_BYTES)
                            : NULL;
    if (!close)
        return (struct str){text.ptr, 0};
    while (text.ptr + end < close && (wt__is_word_byte(text.ptr[end]) || text.ptr[end] == '_'))
        end++;
    *len = (size_t)(close - text.ptr) + 1;
    return (struct str){text.ptr + begin, end - begin};
}

static bool is_mark(char c, const char *marks)
{
    return c != '\0' && strchr(marks, c);
}

static struct str text_from(struct str text, size_t at)
{
    return (struct str){text.ptr + at, text.len - at};
}

static bool is_block_tag(struct str text)
{
    size_t len;
    return is_alternative(read_tag_name(text, &len), html_blocks, sizeof html_blocks - 1);
}

/* Returns the offset of the next letter, digit, bracket, or tag of `tags`, from `at` on. Skips blanks, marks, symbols
 * and HTML. */
static size_t skip_marks(struct str text, size_t at)
{
    while (at < text.len) {
        size_t len;
        struct str name = read_tag_name(text_from(text, at), &len);
        if (is_alternative(name, html_blocks, sizeof html_blocks - 1) ||
            is_alternative(name, html_inline, sizeof html_inline - 1)) {
            at += len;
            continue;
        }
        if (name.len > 0 || text.ptr[at] == '[' || text.ptr[at] == '(')
            break;
        const char *next = text.ptr + at;
        uint32_t c = wt__utf8_next(&next, text.ptr + text.len);
        if (wt__unicode_kind(c) != UNICODE_OTHER && c != VARIATION_SELECTOR)
            break;
        at = (size_t)(next - text.ptr);
    }
    return at;
}

/* True if a list item begins at the line: "- x", "* x", "2. x" or "• x". */
static bool is_list_item(struct str line)
{
    size_t at = 0, digits;
    while (at < line.len && wt__is_blank(line.ptr[at]))
        at++;
    for (digits = at; digits < line.len && line.ptr[digits] >= '0' && line.ptr[digits] <= '9';)
        digits++;
    if (digits > at)
        return digits + 1 < line.len && (line.ptr[digits] == '.' || line.ptr[digits] == ')') &&
               wt__is_blank(line.ptr[digits + 1]);
    if (at + 1 < line.len && is_mark(line.ptr[at], "-*+"))
        return wt__is_blank(line.ptr[at + 1]);
    const char *next = line.ptr + at;
    uint32_t c = at < line.len ? wt__utf8_next(&next, line.ptr + line.len) : 0;
    return c == 0x2022 || c == 0xD7 || c == 0x2013 || (c >= 0x2190 && c <= 0x21FF) || (c >= 0x25A0 && c <= 0x25FF) ||
           (c >= 0x2713 && c <= 0x2718);
}

/* Returns the number of words that a label's pattern matches, one for each of its words; 0 if it does not match. */
static size_t match_label(const struct opening_sentence *sentence, const char *pattern)
{
    size_t words = 1;
    if (!matches_pattern(sentence, 0, pattern))
        return 0;
    for (const char *at = pattern; *at; at++)
        words += *at == ' ';
    return words;
}

/* Returns the end of a label whose last word ends at `at`: behind its colon, dash or stop, or at the line end. Returns
 * 0 if other text follows. */
static size_t find_label_end(struct str text, size_t at)
{
    while (at < text.len && is_mark(text.ptr[at], "*_`"))
        at++;
    if (at == text.len || text.ptr[at] == '\n' || is_block_tag(text_from(text, at)))
        return at;
    if (is_mark(text.ptr[at], ":.!|"))
        return at + 1;
    static const char *const dashes[] = {" - ", " \xE2\x80\x93 ", " \xE2\x80\x94 ", " | ", " :"};
    for (size_t i = 0; i < COUNT(dashes); i++)
        if (wt__str_starts(text_from(text, at), wt__str(dashes[i])))
            return at + strlen(dashes[i]);
    return 0;
}

/* Reads a label at the beginning of the sentence. Sets *end to the offset behind it. */
static enum piece read_label(struct str text, const struct opening_sentence *sentence, size_t *end)
{
    for (size_t l = 0; l < COUNT(labels); l++) {
        size_t words = match_label(sentence, labels[l].pattern);
        if (words == 0)
            continue;
        struct str last = sentence->words[words - 1];
        *end = find_label_end(text, (size_t)(last.ptr + last.len - text.ptr));
        if (*end > 0)
            return labels[l].piece;
    }
    return PIECE_UNKNOWN;
}

/* Reads a status in brackets at `at`: "[Beta]", "(Requires an account)". Sets *end behind the bracket. */
static enum piece read_bracketed(struct str text, size_t at, size_t *end)
{
    static const char *const beginnings[] = {"requires|required|deprecated|needs", "read only", "not for"};
    char close = text.ptr[at] == '[' ? ']' : ')';
    size_t most = text.len - at < BRACKETED_BYTES ? text.len - at : BRACKETED_BYTES;
    const char *last = memchr(text.ptr + at, close, most);
    struct opening_sentence inside;
    if (!last)
        return PIECE_UNKNOWN;
    read_sentence_words(&inside, (struct str){text.ptr + at + 1, (size_t)(last - text.ptr) - at - 1});
    *end = (size_t)(last - text.ptr) + 1;
    if (matches_any_pattern(&inside, beginnings, COUNT(beginnings)))
        return PIECE_TITLE;
    for (size_t l = 0; l < COUNT(labels); l++)
        if (labels[l].status && match_label(&inside, labels[l].pattern) == inside.count && inside.count > 0)
            return labels[l].piece;
    return PIECE_UNKNOWN;
}

/* Reads a tag of `tags` at `at`. Sets *end behind it, or behind its end tag if its text belongs to the opening. */
static enum piece read_part_tag(struct str text, size_t at, size_t *end)
{
    size_t len = 0;
    struct str name = read_tag_name(text_from(text, at), &len);
    *end = at + len;
    for (size_t t = 0; name.len > 0 && t < COUNT(tags); t++) {
        if (!is_alternative(name, tags[t].names, strlen(tags[t].names)))
            continue;
        for (size_t i = *end; tags[t].piece == PIECE_RULES && i + name.len + 2 < text.len; i++)
            if (text.ptr[i] == '<' && text.ptr[i + 1] == '/' && memcmp(text.ptr + i + 2, name.ptr, name.len) == 0) {
                read_tag_name(text_from(text, i), &len);
                *end = i + len;
                break;
            }
        return PIECE_TITLE; /* the text behind the tag is judged by itself */
    }
    return PIECE_UNKNOWN;
}

/* ---------------------------------------------------------------- pieces */

/* Returns the end of an address at `at`; `at` if no address begins there. */
static size_t skip_address(struct str text, size_t at)
{
    struct str rest = text_from(text, at);
    if (wt__str_starts(rest, STR("https://")) || wt__str_starts(rest, STR("http://")))
        while (at < text.len && !wt__is_blank(text.ptr[at]))
            at++;
    return at;
}

static bool is_lower_at(struct str text, size_t at)
{
    while (at < text.len && wt__is_blank(text.ptr[at]))
        at++;
    return at < text.len && text.ptr[at] >= 'a' && text.ptr[at] <= 'z';
}

/* True if the full stop at `at` belongs to "e.g." or "i.e.". */
static bool is_inner_stop(struct str text, size_t at)
{
    return text.ptr[at] == '.' && at >= 2 && text.ptr[at - 2] == '.';
}

/* Returns the end of the sentence at `at`. A line break ends a sentence, unless the next line begins with a small
 * letter: some descriptions have lines of a fixed width. */
static size_t find_sentence_end(struct str text, size_t at)
{
    for (; at < text.len; at++) {
        if (text.ptr[at] > '?' || !is_mark(text.ptr[at], ".!?<\n")) /* most bytes are letters, which are greater */
            continue;
        bool stop = is_mark(text.ptr[at], ".!?") && !is_inner_stop(text, at) &&
                    (at + 1 == text.len || wt__is_blank(text.ptr[at + 1]) || is_mark(text.ptr[at + 1], "<*\")"));
        if (stop && !is_lower_at(text, at + 1))
            return at + 1;
        if ((text.ptr[at] == '\n' && !is_lower_at(text, at)) || is_block_tag(text_from(text, at)))
            return at;
    }
    return at;
}

/* Classifies the sentence. behind: kind of the label before the sentence, or PIECE_UNKNOWN. continues: true after a
 * sentence of no known kind. An imperative may then be an example. */
static enum piece classify_sentence(const struct opening_sentence *sentence, enum piece behind, bool continues)
{
    bool capital = sentence->count > 0 && !(sentence->words[0].ptr[0] >= 'a' && sentence->words[0].ptr[0] <= 'z');
    if (behind == PIECE_RULES)
        return PIECE_RULES;
    if (behind == PIECE_ALERT)
        return capital && describes_action(sentence) ? PIECE_SAYING : PIECE_RULES;
    if (is_rule_of_use(sentence))
        return PIECE_RULES;
    bool says = describes_subject(sentence) || describes_action(sentence) ||
                (!continues && is_imperative_description(sentence));
    return capital && says ? PIECE_SAYING : PIECE_UNKNOWN;
}

/* Position in a description. */
struct opening_reader {
    struct str text;
    size_t at;
    enum piece label;    /* label directly before `at`; PIECE_UNKNOWN without one */
    bool begun;          /* a piece of the opening was read */
    size_t unrecognised; /* sentences of no known kind so far */
};

/* True if only blanks are between the preceding line break and `at`. */
static bool is_at_line_start(struct str text, size_t at)
{
    while (at > 0 && wt__is_blank(text.ptr[at - 1]) && text.ptr[at - 1] != '\n')
        at--;
    return at > 0 && text.ptr[at - 1] == '\n';
}

/* Reads an alert of Markdown at `at`: "[!NOTE]" in a quotation. Sets *end to the end of the quotation. */
static enum piece read_quoted_alert(struct str text, size_t at, size_t *end)
{
    const char *line = memchr(text.ptr + at, '\n', text.len - at);
    if (!line || !wt__str_starts(text_from(text, at), STR("[!")))
        return PIECE_UNKNOWN;
    for (const char *next = line, *last = text.ptr + text.len; next && next + 1 < last && next[1] == '>';) {
        next = memchr(next + 1, '\n', (size_t)(last - next) - 1);
        line = next ? next : last;
    }
    *end = (size_t)(line - text.ptr);
    return PIECE_TITLE;
}

/* Reads a status in brackets, a tag or an address at `begin`. Returns PIECE_UNKNOWN for other text. */
static enum piece read_sign(struct str text, size_t begin, size_t *end)
{
    char c = text.ptr[begin];
    if (c == '<')
        return read_part_tag(text, begin, end);
    if (c == '[' && read_quoted_alert(text, begin, end) != PIECE_UNKNOWN)
        return PIECE_TITLE;
    if (c == '[' || c == '(')
        return read_bracketed(text, begin, end);
    *end = skip_address(text, begin);
    return *end > begin ? PIECE_TITLE : PIECE_UNKNOWN;
}

/* Moves behind the list item at the beginning of a line, and returns true. Returns false for other text. */
static bool skip_list_item(struct opening_reader *o)
{
    size_t at = o->at;
    while (at < o->text.len && wt__is_blank(o->text.ptr[at]))
        at++;
    if (!is_at_line_start(o->text, at) || !is_list_item(text_from(o->text, at)))
        return false;
    const char *end = memchr(o->text.ptr + at, '\n', o->text.len - at);
    o->at = end ? (size_t)(end - o->text.ptr) : o->text.len;
    return true;
}

/* Reads one piece. Returns its kind, and moves behind it unless it says what the tool does. */
static enum piece read_piece(struct opening_reader *o)
{
    struct opening_sentence sentence;
    size_t end = 0;
    enum piece label = o->label;
    o->label = PIECE_UNKNOWN;
    if (skip_list_item(o))
        return PIECE_RULES;
    size_t begin = skip_marks(o->text, o->at);
    if (begin == o->text.len)
        return PIECE_END;
    enum piece kind = read_sign(o->text, begin, &end);
    if (kind == PIECE_UNKNOWN) {
        begin += is_mark(o->text.ptr[begin], "([<");
        size_t stop = find_sentence_end(o->text, begin);
        read_sentence_words(&sentence, (struct str){o->text.ptr + begin, stop - begin});
        kind = read_label(o->text, &sentence, &end);
        if (kind == PIECE_UNKNOWN) {
            /* Most descriptions end here. Whether their first sentence says what the tool does is not needed. */
            kind = o->begun                    ? classify_sentence(&sentence, label, o->unrecognised > 0)
                   : is_rule_of_use(&sentence) ? PIECE_RULES
                                               : PIECE_UNKNOWN;
            o->at = kind == PIECE_SAYING ? begin : stop;
            return kind;
        }
    }
    o->at = end + (end < o->text.len && o->text.ptr[end] == ':');
    o->label = kind;
    return kind;
}

/* Moves back to marks of emphasis that begin at the sentence, so that they stay in pairs. */
static size_t include_emphasis(struct str text, size_t at)
{
    size_t begin = at;
    while (begin > 0 && is_mark(text.ptr[begin - 1], "*_`"))
        begin--;
    return begin > 0 && wt__is_blank(text.ptr[begin - 1]) ? begin : at;
}

size_t wt__opening_length(struct str description)
{
    struct opening_reader o = {.text = wt__str_head(description, 2 * OPENING_BYTES)};
    for (size_t pieces = 0; pieces < OPENING_SENTENCES && o.at < OPENING_BYTES; pieces++) {
        switch (read_piece(&o)) {
        case PIECE_SAYING:
            return o.at <= OPENING_BYTES ? include_emphasis(o.text, o.at) : 0;
        case PIECE_END:
            return 0;
        case PIECE_UNKNOWN:
            if (!o.begun || ++o.unrecognised > OPENING_UNRECOGNISED)
                return 0;
            break;
        default:
            break;
        }
        o.begun = true;
    }
    return 0;
}
