/* descriptions.c: finds descriptions that are missing, repeated, uninformative, or not descriptions at all.
 *
 * A list of words has few short words, which hold sentences together in every language, and little punctuation. A text
 * worded as a request uses the first person and addresses somebody: "I'm planning a trip. Can you ...". docs/audit.md
 * has the rates of both in honest catalogues. */
#include "audit/families.h"

#include <math.h>
#include <stdlib.h>

#include "base/checksum.h"
#include "base/map.h"
#include "catalog/export.h"
#include "text/analyser.h"
#include "text/markup.h"
#include "text/unicode.h"

enum {
    LIST_WORDS = 15,        /* minimum words of a list */
    HEAP_SHORT_PERCENT = 8, /* maximum share of words of up to SHORT_WORD letters; sentences have 20 to 50 */
    HEAP_MARKS_PERCENT = 10,
    SHORT_WORD = 3,
    REQUEST_WORDS = 6, /* minimum words of a request */
    REQUEST_WORDS_A_MARK = 25,
    BARE_TERMS = 1, /* minimum terms that a description adds to the name */
};

static size_t count_description_characters(struct str text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.len; i++)
        count += (text.ptr[i] & 0xC0) != 0x80;
    return count;
}

/* ---------------------------------------------------------------- lists of words */

static bool is_word_list(const struct wording *wording)
{
    size_t words = 0, brief = 0;
    for (size_t i = 0; i < wording->count; i++) {
        if (wt__str_equal(wording->words[i].text, STR(".")))
            continue;
        words++;
        brief += count_description_characters(wording->words[i].text) <= SHORT_WORD;
        if ((unsigned char)wording->words[i].text.ptr[0] >= 0xE0) /* script without blanks between words */
            return false;
    }
    return words >= LIST_WORDS && brief * 100 < words * HEAP_SHORT_PERCENT &&
           wording->marks * 100 < words * HEAP_MARKS_PERCENT;
}

/* ---------------------------------------------------------------- requests */

static const char *const opens_request[] = {
    "i'm|i've|i'd|i'll",
    "i am|want|need|would|have|will|was|think|like",
    "can|could|would|will you",
    "we|we're|we've are|want|need|have|would|planning|organizing|going|looking",
    "my * and|is|are|has|have|wants|needs",
    "please help|tell|give|find|show|suggest|recommend",
    "help me|us",
};
static const char *const marks_request[] = {
    "i'm|i've|i'd|i'll",
    "i am|want|need|would|will|have|was",
    "we are|want|need|would",
    "can|could|would you",
    "my",
    "please provide|help|give|find|fetch|tell|show|suggest|also|recommend|include|check",
    "help|provide|give|show|tell|suggest|find|fetch me|us",
    "let me|us know",
    "me|us with",
};
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* True if the first sentence is worded like a request, and enough of the rest. The first sentence must match because
 * an honest description may end in example requests. */
static bool is_like_request(const struct wording *wording)
{
    size_t words = 0, first = wording->count, marks = 0, early = 0, end;
    bool opens = false;
    for (size_t i = 0; i < wording->count; i++) {
        bool stop = wt__str_equal(wording->words[i].text, STR("."));
        words += !stop;
        if (stop && i > 0 && i < first)
            first = i;
    }
    for (size_t p = 0; p < COUNT(opens_request); p++)
        opens |= wt__wording_find(wording, opens_request[p], 0, &end) == 0 && wording->count > 0;
    for (size_t p = 0; p < COUNT(marks_request); p++)
        for (size_t at = 0; (at = wt__wording_find(wording, marks_request[p], at, &end)) < wording->count; at = end) {
            marks++;
            early += at < first;
        }
    return words >= REQUEST_WORDS && marks * REQUEST_WORDS_A_MARK >= words &&
           ((opens && marks >= 1) || (early >= 1 && marks >= 3));
}

static int check_wording(struct audit_run *a, struct checked_tool *at, struct str text, const char *what,
                         bool *reported, wt_error *err)
{
    int rc = *reported ? 0 : wt__wording_read(&at->wording, text, err);
    if (rc < 0 || *reported)
        return rc;
    bool list = is_word_list(&at->wording), request = !list && is_like_request(&at->wording);
    *reported = list || request;
    if (list)
        rc = wt__audit_add_tool_finding(a, RULE_STUFFED_WORDS, at->tool, err,
                                        "The %s has %zu words but no sentence: \"%s\".", what, at->wording.count,
                                        wt__audit_quote(a, text));
    if (request)
        rc = wt__audit_add_tool_finding(a, RULE_WORDED_AS_REQUEST, at->tool, err,
                                        "The %s is phrased like a user's request: \"%s\".", what,
                                        wt__audit_quote(a, text));
    return rc;
}

static int check_name_wording(struct audit_run *a, struct checked_tool *at, bool *reported, wt_error *err)
{
    const struct tool *tool = &a->tools[at->tool].tool;
    struct word_part part = {0};
    size_t words = 0;
    while (wt__analyser_next_part(tool->name, &part))
        words++;
    if (words <= AUDIT_NAME_WORDS)
        return 0;
    int rc = check_wording(a, at, tool->name, "name", reported, err);
    if (rc == 0 && !*reported) {
        *reported = true;
        rc = wt__audit_add_tool_finding(a, RULE_STUFFED_WORDS, at->tool, err, "The name has %zu words: \"%s\".", words,
                                        wt__audit_quote(a, tool->name));
    }
    return rc;
}

/* ---------------------------------------------------------------- length */

/* Counts the terms of the description that are in neither the name nor the provider's name. */
static int count_new_terms(const struct tool *tool, struct str description, size_t *out, wt_error *err)
{
    struct token_list names = {0}, terms = {0};
    struct analyser *analyser = NULL;
    *out = 0;
    int rc = wt__analyser_open(&analyser, err);
    if (rc == 0)
        rc = wt__analyser_run(analyser, tool->name, &names);
    if (rc == 0)
        rc = wt__analyser_run(analyser, tool->provider, &names);
    if (rc == 0)
        rc = wt__analyser_run(analyser, description, &terms);
    for (size_t i = 0; rc == 0 && i < terms.len; i++) {
        bool known = false;
        for (size_t j = 0; j < names.len && !known; j++)
            known = wt__str_equal(terms.terms[i], names.terms[j]);
        *out += !known;
    }
    wt__token_list_dispose(&names);
    wt__token_list_dispose(&terms);
    wt__analyser_close(analyser);
    return rc < 0 ? wt__fail_nomem(err) : 0;
}

enum { BARE_BYTES = 60 /* maximum length of a description that may be bare */ };

static int check_description_length(struct audit_run *a, const struct checked_tool *at, struct str clean, wt_error *err)
{
    const struct tool *tool = &a->tools[at->tool].tool;
    size_t terms, length = count_description_characters(tool->description);
    if (length > EXPORT_OPENAI_DESCRIPTION) {
        uint32_t place = (uint32_t)at->tool;
        const struct new_finding found = {
            .rule = RULE_LONG_DESCRIPTION, .tools = &place, .count = 1, .figure = (double)length};
        return wt__audit_add_finding(
            a, &found, err,
            "The description has %zu characters; OpenAI's API accepts %d, so an export for it is truncated.", length,
            EXPORT_OPENAI_DESCRIPTION);
    }
    if (clean.len > BARE_BYTES)
        return 0;
    int rc = count_new_terms(tool, clean, &terms, err);
    if (rc == 0 && terms < BARE_TERMS)
        rc = wt__audit_add_tool_finding(a, RULE_BARE_DESCRIPTION, at->tool, err,
                                        "The description only repeats the name: \"%s\".", wt__audit_quote(a, clean));
    return rc;
}

int wt__audit_description(struct audit_run *a, struct checked_tool *at, wt_error *err)
{
    const struct tool *tool = &a->tools[at->tool].tool;
    struct buffer clean = {0};
    bool reported = false;
    wt__markup_clean(tool->description, &clean);
    struct str text = wt__str_trim(wt__buffer_view(&clean));
    int rc = clean.failed ? wt__fail_nomem(err) : 0;
    if (rc == 0 && !wt__has_word(text))
        rc =
            wt__audit_add_tool_finding(a, RULE_EMPTY_DESCRIPTION, at->tool, err,
                                       text.len > 0 ? "The description has no words." : "The tool has no description.");
    else if (rc == 0)
        rc = check_description_length(a, at, text, err);
    if (rc == 0)
        rc = check_name_wording(a, at, &reported, err);
    if (rc == 0)
        rc = check_wording(a, at, text, "description", &reported, err);
    wt__buffer_dispose(&clean);
    return rc;
}

/* ---------------------------------------------------------------- duplicate descriptions */

/* Makes a key of provider and description, in scratch. Descriptions that differ only in case, blanks and punctuation
 * have the same key. Empty if the description has no letters or digits. */
static int make_description_key(struct audit_run *a, size_t tool, struct str *out, wt_error *err)
{
    struct buffer key = {0};
    struct str text = a->tools[tool].tool.description;
    wt__buffer_printf(&key, "%u ", a->tools[tool].provider);
    size_t begin = key.len;
    for (const char *at = text.ptr, *end = text.len > 0 ? text.ptr + text.len : at; at < end;) {
        uint32_t lower[UNICODE_MAX_LOWER], c = wt__utf8_next(&at, end);
        char bytes[4];
        if (wt__unicode_kind(c) == UNICODE_OTHER)
            continue;
        for (unsigned i = 0, count = wt__unicode_lower(c, lower); i < count; i++)
            wt__buffer_append(&key, bytes, wt__utf8_put(lower[i], bytes));
    }
    if (key.len == begin)
        wt__buffer_clear(&key);
    else
        a->tools[tool].text_hash = wt__checksum(key.ptr + begin, key.len - begin, 1);
    *out = (struct str){wt__arena_copy(&a->scratch, wt__buffer_view(&key)), key.len};
    int rc = key.failed || !out->ptr ? wt__fail_nomem(err) : 0;
    wt__buffer_dispose(&key);
    return rc;
}

static int report_duplicates(struct audit_run *a, uint32_t first, const uint32_t *next, uint32_t *group, wt_error *err)
{
    size_t count = 0;
    for (uint32_t tool = first; tool != UINT32_MAX; tool = next[tool])
        group[count++] = tool;
    const struct new_finding found = {
        .rule = RULE_DUPLICATE_DESCRIPTION, .tools = group, .count = count, .figure = (double)count};
    return count < 2 ? 0
                     : wt__audit_add_finding(a, &found, err, "%zu tools have the same description: \"%s\".", count,
                                             wt__audit_quote(a, a->tools[first].tool.description));
}

int wt__audit_duplicates(struct audit_run *a, wt_error *err)
{
    struct map firsts = {0};
    uint32_t *next = wt__arena_array(&a->scratch, uint32_t, a->count);
    uint32_t *last = wt__arena_array(&a->scratch, uint32_t, a->count);
    uint32_t *group = wt__arena_array(&a->scratch, uint32_t, a->count);
    int rc = next && last && group ? 0 : wt__fail_nomem(err);
    for (size_t i = 0; rc == 0 && i < a->count; i++) {
        struct str key;
        bool added = true;
        next[i] = UINT32_MAX;
        last[i] = (uint32_t)i;
        rc = make_description_key(a, i, &key, err);
        uint32_t *first = rc == 0 && key.len > 0 ? wt__map_insert(&firsts, key, (uint32_t)i, &added) : NULL;
        if (rc == 0 && key.len > 0 && !first)
            rc = wt__fail_nomem(err);
        if (rc != 0 || added)
            continue;
        next[last[*first]] = (uint32_t)i;
        last[*first] = (uint32_t)i;
        last[i] = UINT32_MAX; /* not the first of its group */
    }
    for (size_t i = 0; rc == 0 && i < a->count; i++)
        if (last[i] != UINT32_MAX)
            rc = report_duplicates(a, (uint32_t)i, next, group, err);
    wt__map_dispose(&firsts);
    return rc;
}
