/* negation.c: removes denied parts from a request (negation.h).
 *
 * A denial begins at one of the signs below and ends with its clause: at a comma or another sign, or before a word such
 * as "but" or "because". Most signs count only at the beginning of a clause. So "tasks that are not done" and "items
 * without a label" stay, because they describe what is wanted. */
#include "retrieve/negation.h"

#include <stdbool.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "retrieve/words.h"

/* WORD_BYTES: longer than any word that is looked up. KEPT_LEAST: minimum content words of the kept part. STATE_AMONG:
 * maximum words of a clause such as "the file stays". LEAD_LEAST: minimum words of a denial that ends before a verb. */
enum { WORD_BYTES = 16, KEPT_LEAST = 2, STATE_AMONG = 8, LEAD_LEAST = 3 };

struct request_word {
    size_t start, end;
    bool after_sign, begins; /* behind a comma or another sign; first word of a clause */
    char text[WORD_BYTES];   /* lower case without apostrophes; cut if it is longer */
};

struct denier {
    struct str text;
    struct request_word *words;
    size_t count;
    bool *denied; /* [count] */
};

/* True if a dash, which ends a clause, is at `at`: U+2013 or U+2014. */
static bool dash_at(struct str text, size_t at)
{
    return text.len - at >= 3 && memcmp(text.ptr + at, "\xE2\x80", 2) == 0 &&
           (text.ptr[at + 2] == '\x93' || text.ptr[at + 2] == '\x94');
}

/* Reads the word at word->start. An apostrophe inside a word is skipped: "don't" is "dont". */
static void read_request_word(struct str text, struct request_word *word)
{
    size_t at = word->start, len = 0;
    while (at < text.len) {
        size_t skip = wt__apostrophe(text, at);
        if (skip > 0 && at + skip < text.len && at > word->start && wt__is_word_byte(text.ptr[at + skip])) {
            at += skip;
            continue;
        }
        if (skip > 0 || !wt__is_word_byte(text.ptr[at]) || dash_at(text, at))
            break;
        if (len + 1 < WORD_BYTES)
            word->text[len++] = wt__lower_ascii(text.ptr[at]);
        at++;
    }
    word->end = at;
}

static bool ends_clause(struct str text, size_t at)
{
    bool spaced = at > 0 && text.ptr[at - 1] == ' ' && at + 1 < text.len && text.ptr[at + 1] == ' ';
    return memchr(",;()!?\n", text.ptr[at], 7) || (text.ptr[at] == '-' && spaced) ||
           (memchr(".:", text.ptr[at], 2) && at + 1 < text.len && wt__is_blank(text.ptr[at + 1]));
}

static const char links[] = " and but or so then just please pls also plus though ";

/* Reads the words of the text. */
static int read_denied_words(struct denier *denier, struct arena *arena, wt_error *err)
{
    struct str text = denier->text;
    size_t most = text.len / 2 + 1;
    bool begins = false, sign = true;
    denier->words = wt__arena_array(arena, struct request_word, most);
    denier->denied = wt__arena_array(arena, bool, most);
    WT_CHECK_ALLOC(denier->words && denier->denied, err);
    for (size_t at = 0; at < text.len && denier->count < most;) {
        struct request_word *word = &denier->words[denier->count];
        bool dash = dash_at(text, at);
        if (dash || !wt__is_word_byte(text.ptr[at])) {
            sign |= dash || ends_clause(text, at);
            at += dash ? 3 : 1;
            continue;
        }
        *word = (struct request_word){.start = at, .after_sign = sign, .begins = begins || sign};
        read_request_word(text, word);
        at = word->end > at ? word->end : at + 1;
        begins = wt__is_listed(word->text, links);
        sign = false;
        denier->count++;
    }
    return 0;
}

static const char *word_at(const struct denier *denier, size_t i)
{
    return i < denier->count ? denier->words[i].text : "";
}

/* True if a verb in its -ing form is at i: "deleting". Nouns such as "meeting" are no verbs of words.h. */
static bool is_gerund(const struct denier *denier, size_t i)
{
    const char *word = word_at(denier, i);
    size_t len = strlen(word);
    char stem[WORD_BYTES + 1];
    if (len < 5 || strcmp(word + len - 3, "ing") != 0 ||
        wt__is_listed(word, " anything everything something nothing meeting billing building setting spring string "))
        return false;
    memcpy(stem, word, len -= 3);
    stem[len] = '\0';
    if (wt__verb(wt__str(stem)).actions)
        return true;
    if (len > 2 && stem[len - 1] == stem[len - 2]) { /* "cutting" */
        if (wt__verb((struct str){stem, len - 1}).actions)
            return true;
    }
    memcpy(stem + len, "e", 2);
    if (wt__verb(wt__str(stem)).actions)
        return true;
    /* An unknown verb has an object: "without bumping the version". */
    return wt__is_listed(word_at(denier, i + 1),
                         " a an the it its them this that these those my our any anything anyone "
                         "everything everyone all him her his their your ");
}

static const char pronouns[] = " i we you they he she it u anyone anybody someone somebody ";

/* Returns the end of the clause of word i. A clause at the beginning of a request also ends before a verb, because
 * people leave out the comma: "instead of sharing the doc give me a pdf". */
static size_t find_clause_end(const struct denier *denier, size_t i)
{
    size_t end = i + 1;
    while (end < denier->count) {
        const struct request_word *word = &denier->words[end];
        bool after_and =
            strcmp(word->text, "and") == 0 && wt__is_listed(word_at(denier, end + 1), " then just instead please ");
        bool leads = i == 0 && end > LEAD_LEAST && !wt__verb(wt__str(word->text)).noun &&
                     wt__verb(wt__str(word->text)).actions && !is_gerund(denier, end);
        if (word->after_sign || after_and || leads ||
            (end > i + 1 && wt__is_listed(word->text, " but just because since so though instead while ")))
            break;
        end++;
    }
    return end;
}

/* True if the clause [i, end) has one of the words. */
static bool clause_has(const struct denier *denier, size_t i, size_t end, const char *list)
{
    for (; i < end; i++)
        if (wt__is_listed(denier->words[i].text, list))
            return true;
    return false;
}

/* Verbs after which "don't" denies no action: "don't forget to", "don't know", "do not disturb". */
static const char no_action[] = " forget hesitate worry know think have see understand remember mind care believe "
                                "disturb get ";

/* True if the words from i on forbid an action: "don't", "do not", "never", "no need to", "not". */
static bool is_prohibition(const struct denier *denier, size_t i)
{
    const char *word = word_at(denier, i), *next = word_at(denier, i + 1);
    if (wt__is_listed(word, " i we you ") && wt__is_listed(next, " dont wouldnt ") &&
        wt__is_listed(word_at(denier, i + 2), " want need wish "))
        return true;
    if (wt__is_listed(word, " dont never mustnt shouldnt neednt "))
        return next[0] && !wt__is_listed(next, no_action);
    if (wt__is_listed(word, " do must should need ") && strcmp(next, "not") == 0)
        return word_at(denier, i + 2)[0] && !wt__is_listed(word_at(denier, i + 2), no_action);
    if (wt__is_listed(word, " there theres ")) {
        size_t no = i + 1 + (strcmp(next, "is") == 0);
        return strcmp(word_at(denier, no), "no") == 0 && strcmp(word_at(denier, no + 1), "need") == 0;
    }
    if (strcmp(word, "no") == 0)
        return wt__is_listed(next, " need reason point ");
    return strcmp(word, "not") == 0 && next[0] && !wt__is_listed(next, " sure only yet necessarily working able ");
}

/* True if the clause [i, end) says that something stays as it is: "leave the others alone", "the file stays". */
static bool is_state_kept(const struct denier *denier, size_t i, size_t end)
{
    if (wt__is_listed(word_at(denier, i), " leave keep ") && end - i <= 2 * STATE_AMONG) {
        if (clause_has(denier, i, end, " alone untouched unchanged intact asis be "))
            return true;
        for (size_t j = i + 1; j + 1 < end; j++)
            if ((strcmp(word_at(denier, j), "as") == 0 &&
                 wt__is_listed(word_at(denier, j + 1), " it they is are he she ")) ||
                (strcmp(word_at(denier, j), "where") == 0 && wt__is_listed(word_at(denier, j + 1), " it they ")) ||
                (strcmp(word_at(denier, j), "in") == 0 && strcmp(word_at(denier, j + 1), "place") == 0))
                return true;
    }
    if (i == 0 || end - i > STATE_AMONG || wt__verb(wt__str(word_at(denier, i))).actions ||
        clause_has(denier, i, end, " that which who "))
        return false;
    for (size_t j = i + 1; j < end; j++)
        if (wt__is_listed(word_at(denier, j), " stay stays remain remains mustnt shouldnt ") ||
            (wt__is_listed(word_at(denier, j), " must should may ") && strcmp(word_at(denier, j + 1), "not") == 0))
            return true;
    return false;
}

/* True if a denied phrase begins at i, wherever it is in a clause. */
static bool is_denied_phrase(const struct denier *denier, size_t i)
{
    const char *word = word_at(denier, i), *next = word_at(denier, i + 1);
    bool subject = wt__is_listed(next, pronouns);
    if (wt__is_listed(word, " without before "))
        return is_gerund(denier, i + 1 + subject) ||
               (subject && strcmp(word, "before") == 0 && word_at(denier, i + 2)[0]);
    if (strcmp(word, "instead") == 0)
        return strcmp(next, "of") == 0 && i + 2 < denier->count;
    if (strcmp(word, "rather") == 0)
        return strcmp(next, "than") == 0;
    return strcmp(word, "anything") == 0 && strcmp(next, "but") == 0;
}

/* Marks [from, to) and the links before it as denied. */
static void deny(struct denier *denier, size_t from, size_t to)
{
    while (from > 0 && wt__is_listed(word_at(denier, from - 1), links))
        from--;
    memset(denier->denied + from, true, to - from);
}

/* Marks the denied words. Returns false if there are none. */
static bool find_denials(struct denier *denier)
{
    bool any = false;
    for (size_t i = 0; i < denier->count;) {
        size_t from = i;
        bool begins = denier->words[i].begins && !wt__is_listed(word_at(denier, i), links),
             found = is_denied_phrase(denier, i);
        if (!begins && !found) {
            i++;
            continue;
        }
        while (begins && wt__is_listed(word_at(denier, i), " really definitely ideally only "))
            i++;
        size_t end = find_clause_end(denier, i + (found && strcmp(word_at(denier, i), "anything") == 0));
        found |= begins && (is_prohibition(denier, i) || is_state_kept(denier, i, end));
        if (found)
            deny(denier, from, end);
        any |= found;
        i = found ? end : from + 1;
    }
    return any;
}

/* Keeps the object of a denied verb that a pronoun stands for: "instead of deleting the branch, protect it". */
static void keep_objects(struct denier *denier)
{
    for (size_t i = 0, end; i < denier->count; i = end) {
        size_t verb = i;
        for (end = i + 1; end < denier->count && denier->denied[end] == denier->denied[i];)
            end++;
        size_t next = end;
        while (next < denier->count && !denier->denied[next] &&
               !wt__is_listed(word_at(denier, next), " it them those "))
            next++;
        while (verb < end && !is_gerund(denier, verb) && !wt__verb(wt__str(word_at(denier, verb))).actions)
            verb++;
        bool object = verb < end && !wt__is_listed(word_at(denier, verb + 1), " it them those that this anything ");
        if (denier->denied[i] && next < denier->count && !denier->denied[next] && object)
            memset(denier->denied + verb + 1, false, end - verb - 1);
    }
}

static size_t count_kept_words(const struct denier *denier)
{
    size_t count = 0;
    for (size_t i = 0; i < denier->count; i++) {
        const struct request_word *word = &denier->words[i];
        count += !denier->denied[i] &&
                 !wt__is_stopword_any_case((struct str){denier->text.ptr + word->start, word->end - word->start});
    }
    return count;
}

/* Appends the runs of words whose mark is `denied`, with the signs between them. */
static void append_runs(const struct denier *denier, bool denied, const char *between, struct buffer *out)
{
    for (size_t i = 0, end; i < denier->count; i = end) {
        for (end = i + 1; end < denier->count && denier->denied[end] == denier->denied[i];)
            end++;
        if (denier->denied[i] != denied)
            continue;
        size_t stop = denier->words[end - 1].end;
        while (!denied && stop < denier->text.len && memchr("?!)\"'.", denier->text.ptr[stop], 6))
            stop++;
        wt__buffer_text(out, out->len > 0 ? between : "");
        wt__buffer_str(out, (struct str){denier->text.ptr + denier->words[i].start, stop - denier->words[i].start});
    }
}

static int copy_runs(const struct denier *denier, bool denied, const char *between, struct arena *arena,
                     struct str *out, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    append_runs(denier, denied, between, &text);
    const char *copy = text.failed ? NULL : wt__arena_copy(arena, wt__buffer_view(&text));
    WT_CHECK_ALLOC(copy, err);
    *out = wt__str(copy);
    return 0;
}

int wt__negation_split(struct str *kept, struct str *denied, struct str request, struct arena *arena, wt_error *err)
{
    struct denier denier = {.text = request};
    *kept = request;
    *denied = (struct str){0};
    WT_TRY(read_denied_words(&denier, arena, err));
    if (!find_denials(&denier))
        return 0;
    keep_objects(&denier);
    if (count_kept_words(&denier) < KEPT_LEAST)
        return 0;
    WT_TRY(copy_runs(&denier, false, ", ", arena, kept, err));
    return copy_runs(&denier, true, "\n", arena, denied, err);
}
