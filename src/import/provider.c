/* provider.c: derives a short provider name from the title, the server and the file name of an OpenAPI document. */
#include "import/internal.h"

#include "catalog/names.h"
#include "text/unicode.h"

enum { WORDS_MAX = 32, LABELS_MAX = 16 };

/* ---------------------------------------------------------------- words */

/* True for "v3", "2.0" and "v1.2.3". A plain number is not a version, because it may be part of a name ("360
 * Learning"). */
static bool is_version(struct str word)
{
    size_t at = word.len > 1 && (word.ptr[0] == 'v' || word.ptr[0] == 'V') ? 1 : 0;
    bool marked = at > 0;
    for (; at < word.len; at++) {
        if (word.ptr[at] == '.')
            marked = true;
        else if (word.ptr[at] < '0' || word.ptr[at] > '9')
            return false;
    }
    return marked && word.len > 0;
}

/* Returns the length of a possessive "'s" at the end of a word, with either apostrophe. */
static size_t possessive_length(struct str word)
{
    static const char *const endings[] = {"'s", "\xe2\x80\x99s"};
    for (size_t i = 0; i < 2; i++) {
        size_t len = strlen(endings[i]);
        if (word.len > len && memcmp(word.ptr + word.len - len, endings[i], len) == 0)
            return len;
    }
    return 0;
}

/* True for a character of a word: a letter, a digit, a mark, '.' or an apostrophe. */
static bool is_title_character(uint32_t c)
{
    return c == '.' || c == '\'' || c == 0x2019 || wt__unicode_kind(c) != UNICODE_OTHER;
}

static struct str next_title_word(const char **at, const char *end)
{
    const char *begin = NULL, *last = NULL;
    while (*at < end) {
        const char *here = *at;
        uint32_t c = wt__utf8_next(at, end);
        if (is_title_character(c) && !begin)
            begin = here;
        if (begin && !is_title_character(c)) {
            last = here;
            break;
        }
    }
    if (!begin)
        return (struct str){"", 0};
    last = last ? last : end;
    while (begin < last && (*begin == '.' || *begin == '\''))
        begin++;
    while (begin < last && (last[-1] == '.' || last[-1] == '\''))
        last--;
    struct str word = {begin, (size_t)(last - begin)};
    word.len -= possessive_length(word);
    return word;
}

/* Finds the words of text that are not generic. Returns their number, at most WORDS_MAX. */
static size_t specific_words(struct str text, struct str words[WORDS_MAX])
{
    size_t count = 0;
    if (text.len == 0)
        return 0;
    const char *at = text.ptr, *end = text.ptr + text.len;
    while (at < end && count < WORDS_MAX) {
        struct str word = next_title_word(&at, end);
        if (word.len > 0 && !wt__is_form_word(word) && !is_version(word) && (count > 0 || !wt__is_small_word(word)))
            words[count++] = word;
    }
    while (count > 0 && wt__is_small_word(words[count - 1]))
        count--;
    return count;
}

static void put_lower(struct buffer *out, struct str word)
{
    const char *at = word.ptr, *end = word.ptr + word.len;
    while (at < end) {
        uint32_t lower[UNICODE_MAX_LOWER];
        char bytes[4];
        unsigned count = wt__unicode_lower(wt__utf8_next(&at, end), lower);
        for (unsigned i = 0; i < count; i++)
            wt__buffer_append(out, bytes, wt__utf8_put(lower[i], bytes));
    }
}

/* Appends the words of text that are not generic. If they exceed a limit, appends only the first words if `cut`, else
 * nothing. Returns true if words were appended. */
static bool put_specific_words(struct buffer *out, struct str text, bool cut)
{
    struct str words[WORDS_MAX];
    size_t count = specific_words(text, words), bytes = 0, fit = 0;
    while (fit < count && fit < PROVIDER_MAX_WORDS && bytes + words[fit].len <= PROVIDER_MAX_BYTES)
        bytes += words[fit++].len + 1;
    if (fit == 0 || (fit < count && !cut))
        return false;
    for (size_t i = 0; i < fit; i++) {
        if (i > 0)
            wt__buffer_char(out, '-');
        put_lower(out, words[i]);
    }
    return true;
}

/* ---------------------------------------------------------------- the host */

/* Returns the host in url, which is a URL, or a host with an optional port and path. Returns "" if url is a path. */
static struct str find_host(struct str url)
{
    const char *scheme = url.len > 0 ? memmem(url.ptr, url.len, "//", 2) : NULL;
    const char *at = scheme ? scheme + 2 : url.ptr, *end = url.ptr + url.len;
    size_t len = 0;
    while (at + len < end && !memchr("/:?#", at[len], 4))
        len++;
    const char *user = len > 0 ? memchr(at, '@', len) : NULL;
    if (user) {
        len -= (size_t)(user + 1 - at);
        at = user + 1;
    }
    return (struct str){at, len};
}

/* Splits a host into labels. Skips labels with a template ("{region}"). Returns the number of labels. Returns 0 for an
 * IP address, a local name, or a host that is not ASCII. */
static size_t split_host(struct str host, struct str labels[LABELS_MAX])
{
    size_t count = 0;
    for (size_t at = 0, end; at < host.len && count < LABELS_MAX; at = end + 1) {
        for (end = at; end < host.len && host.ptr[end] != '.'; end++)
            ;
        if (end > at && !memchr(host.ptr + at, '{', end - at))
            labels[count++] = (struct str){host.ptr + at, end - at};
    }
    for (size_t i = 0; i < host.len; i++)
        if ((unsigned char)host.ptr[i] >= 0x80)
            return 0;
    if (count < 2 || (labels[count - 1].ptr[0] >= '0' && labels[count - 1].ptr[0] <= '9'))
        return 0;
    return count;
}

/* Appends the registered label of the host in url: "github" for api.github.com. Returns false if the host has no label
 * that identifies a provider. */
static bool put_host(struct buffer *out, struct str url)
{
    static const char *const second[] = {"co", "com", "org", "net", "gov", "gob", "ac", "edu", "go", "gv"};
    static const char *const shared[] = {"googleapis", "amazonaws",      "azurewebsites", "herokuapp",
                                         "appspot",    "cloudfunctions", "azure-api",     "vercel"};
    static const char *const nobody[] = {"example", "localhost", "local", "test", "invalid", "api", "www"};
    struct str labels[LABELS_MAX];
    size_t count = url.len > 0 ? split_host(find_host(url), labels) : 0;
    if (count == 0)
        return false;
    size_t top = labels[--count].len;
    if (count > 1 && top == 2 && wt__str_among(labels[count - 1], second, sizeof second / sizeof second[0]))
        count--;
    if (count > 1 && wt__str_among(labels[count - 1], shared, sizeof shared / sizeof shared[0]))
        count--;
    struct str label = labels[count - 1];
    if (wt__str_among(label, nobody, sizeof nobody / sizeof nobody[0]) || label.len > PROVIDER_MAX_BYTES)
        return false;
    put_lower(out, label);
    return true;
}

/* Returns the title without additions such as "(Preview)" and " + extension". Keeps an addition if no specific word
 * would be left. */
static struct str main_title(struct str title)
{
    static const char *const beside[] = {" + ", " ("};
    struct str words[WORDS_MAX];
    for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++) {
        const char *at = title.len > 0 ? memmem(title.ptr, title.len, beside[i], strlen(beside[i])) : NULL;
        struct str before = {title.ptr, at ? (size_t)(at - title.ptr) : title.len};
        if (specific_words(before, words) > 0)
            title = before;
    }
    return title;
}

void wt__short_provider(struct buffer *out, struct str title, struct str url, struct str stem)
{
    title = main_title(title);
    if (!put_specific_words(out, title, false) && !put_host(out, url) && !put_specific_words(out, stem, true) &&
        !put_specific_words(out, title, true))
        wt__buffer_str(out, stem.len > 0 ? stem : title);
}
