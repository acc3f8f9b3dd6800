/* words.c: splits requests into words and classifies them (words.h). */
#include "retrieve/words.h"

#include <string.h>

#include "text/analyser.h"

enum { WORD_MAX = 32 }; /* longer than any stop word or verb */

struct str wt__next_word(struct str text, size_t *at)
{
    while (*at < text.len && !wt__is_word_byte(text.ptr[*at]))
        ++*at;
    size_t start = *at;
    while (*at < text.len && wt__is_word_byte(text.ptr[*at]))
        ++*at;
    return (struct str){text.ptr + start, *at - start};
}

/* True if the full stop at `at` belongs to an abbreviation: "Mrs. Moss". */
static bool is_abbreviation(struct str text, size_t at)
{
    static const char *const short_forms[] = {"approx", "dr", "e.g",  "i.e", "mr", "mrs",
                                              "ms",     "no", "prof", "st",  "vs"};
    size_t start = at;
    while (start > 0 && !wt__is_blank(text.ptr[start - 1]) && text.ptr[start - 1] != '(')
        start--;
    return text.ptr[at] == '.' && wt__str_among((struct str){text.ptr + start, at - start}, short_forms,
                                                sizeof short_forms / sizeof *short_forms);
}

bool wt__next_sentence(struct str text, size_t *at, struct str *out)
{
    size_t start = *at;
    if (start >= text.len)
        return false;
    for (size_t i = start; i < text.len; i++) {
        bool stop = (text.ptr[i] == '.' || text.ptr[i] == '?' || text.ptr[i] == '!') && i + 1 < text.len &&
                    wt__is_blank(text.ptr[i + 1]) && !is_abbreviation(text, i);
        if (!stop && text.ptr[i] != '\n')
            continue;
        *out = (struct str){text.ptr + start, i + stop - start};
        for (i++; i < text.len && wt__is_blank(text.ptr[i]);)
            i++;
        *at = i;
        return true;
    }
    *out = (struct str){text.ptr + start, text.len - start};
    *at = text.len;
    return true;
}

bool wt__is_listed(const char *word, const char *list)
{
    size_t len = strlen(word);
    if (len == 0 || len > WORD_LISTED_MAX)
        return false;
    /* strstr prepares a table for each call, which takes longer than these short lists do. */
    for (const char *at = list; (at = strchr(at + 1, *word));)
        if (at[-1] == ' ' && strncmp(at, word, len) == 0 && at[len] == ' ')
            return true;
    return false;
}

void wt__lower_word(struct str word, char out[WORD_LISTED_MAX + 1])
{
    size_t len = word.len < WORD_LISTED_MAX ? word.len : WORD_LISTED_MAX;
    for (size_t i = 0; i < len; i++)
        out[i] = wt__lower_ascii(word.ptr[i]);
    out[len] = '\0';
}

bool wt__is_stopword_any_case(struct str word)
{
    char lower[WORD_MAX];
    if (word.len > sizeof lower)
        return false;
    for (size_t i = 0; i < word.len; i++)
        lower[i] = wt__lower_ascii(word.ptr[i]);
    return wt__is_stopword((struct str){lower, word.len});
}

bool wt__is_plural(struct str word)
{
    char last = word.len > 3 ? wt__lower_ascii(word.ptr[word.len - 1]) : 0;
    return last == 's' && !strchr("suia", wt__lower_ascii(word.ptr[word.len - 2]));
}

size_t wt__apostrophe(struct str text, size_t at)
{
    static const char curly[] = "\xE2\x80\x99";
    struct str rest = {text.ptr + at, text.len - at};
    return wt__str_starts(rest, STR("'")) ? 1 : wt__str_starts(rest, STR(curly)) ? sizeof curly - 1 : 0;
}

/* A handwritten list of verbs that people use in requests and that tool names begin or end with. A blank is before and
 * after each verb. */
static const struct {
    struct verb verb;
    const char *words;
} verbs[] = {
    {{ACTION_READ, false},
     " browse calculate compare compute describe detect determine evaluate examine explain fetch get give "
     "identify inspect listen lookup predict recommend retrieve show suggest summarize tell translate "
     "validate verify "},
    {{ACTION_READ, true},
     " ask check count display download estimate export extract find forecast list look measure monitor "
     "poll preview print query read report review scan search see solve track view watch "},
    {{ACTION_CREATE, false},
     " add append apply attach clone commit compose create duplicate fill follow generate go make navigate "
     "notify publish react register remember remind reply reserve send share sing submit subscribe take "
     "transcribe write "},
    {{ACTION_CREATE, true},
     " book build buy call charge click comment copy dial draft draw email fork import insert install "
     "invite invoice issue launch like mail message order pay plan play post press put queue record run "
     "save schedule sign stage star start store tag text trigger type upload vote "},
    {{ACTION_UPDATE, false},
     " accept activate adjust approve archive change complete configure connect customize deactivate "
     "disable edit enable extend grant hide modify move mute rearrange rebase reduce rename reopen reorder "
     "replace reschedule resize restart restore resume rewind rotate seek shuffle skip snooze toggle "
     "transition "},
    {{ACTION_UPDATE, true},
     " decrease fix format freeze increase lock mark merge patch pause pin raise set shift sort switch sync "
     "transfer trim turn update upgrade use "},
    {{ACTION_DELETE, false},
     " abort cancel clear decline delete destroy detach discard disconnect dismiss erase expire forget halt "
     "kill reject remove revert revoke terminate throw undo uninstall withdraw "},
    {{ACTION_DELETE, true}, " drop end leave purge stop wipe "},
    {{ACTION_CREATE | ACTION_UPDATE, false}, " assign "},
    {{ACTION_UPDATE | ACTION_DELETE, false}, " close "},
    {{ACTION_READ | ACTION_CREATE, false}, " convert "},
    {{ACTION_READ | ACTION_UPDATE, false}, " open "},
    {{ACTION_UPDATE | ACTION_DELETE, true}, " reset "},
};

/* lower: a word in lower case. */
static struct verb find_verb(const char *lower)
{
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (wt__is_listed(lower, verbs[i].words))
            return verbs[i].verb;
    return (struct verb){0};
}

struct verb wt__verb(struct str word)
{
    char lower[WORD_LISTED_MAX + 1];
    if (word.len == 0 || word.len > WORD_LISTED_MAX || memchr(word.ptr, ' ', word.len))
        return (struct verb){0};
    wt__lower_word(word, lower);
    struct verb verb = find_verb(lower);
    if (verb.actions || strncmp(lower, "un", 2) != 0)
        return verb;
    /* A known verb after "un" undoes something: "unpin". */
    return find_verb(lower + 2).actions ? (struct verb){ACTION_UPDATE | ACTION_DELETE, false} : (struct verb){0};
}
