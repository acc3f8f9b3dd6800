/* text_checks.c: checks the texts of a tool: descriptions, orders to the model, and hidden characters. */
#include "audit/internal.h"

#include <math.h>
#include <stdlib.h>
#include <strings.h>

#include "base/buffer.h"
#include "base/checksum.h"
#include "base/map.h"
#include "base/memory.h"
#include "catalog/export.h"
#include "retrieve/opening.h"
#include "text/analyser.h"
#include "text/markup.h"
#include "text/unicode.h"

/* ---------------------------------------------------------------- descriptions */

/* Finds descriptions that are missing, repeated, uninformative, or not descriptions at all.
 *
 * A sentence has many short words. A list of words has few short words and little punctuation. A text phrased as a
 * request uses the first person and addresses somebody: "I'm planning a trip. Can you ...". docs/audit.md has the rates
 * of such lists and requests in honest catalogues. */

enum {
    LIST_WORDS = 15,           /* minimum words of a list */
    LIST_SHORT_PERCENT = 8,    /* share of short words below which a text is a list; sentences have 20 to 50 */
    LIST_MARKS_PERCENT = 10,   /* punctuation characters per 100 words below which a text is a list */
    SHORT_WORD = 3,            /* maximum characters of a short word */
    REQUEST_WORDS = 6,         /* minimum words of a request */
    REQUEST_WORDS_A_MARK = 25, /* maximum words of a request per phrase of marks_request */
    BARE_TERMS = 1,            /* minimum terms that a description adds to the name */
    LATE_WORDS = 4,            /* minimum words of an opening; "[Beta]" and "Overview" are allowed */
};

static size_t count_description_characters(struct str text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.len; i++)
        count += (text.ptr[i] & 0xC0) != 0x80;
    return count;
}

static bool is_word_list(const struct wording *wording)
{
    size_t words = 0, brief = 0;
    for (size_t i = 0; i < wording->count; i++) {
        if (wt__str_equal(wording->words[i].text, STR(".")))
            continue;
        words++;
        brief += count_description_characters(wording->words[i].text) <= SHORT_WORD;
        if ((unsigned char)wording->words[i].text.ptr[0] >= 0xE0) /* U+0800 or above; may lack blanks */
            return false;
    }
    return words >= LIST_WORDS && brief * 100 < words * LIST_SHORT_PERCENT &&
           wording->marks * 100 < words * LIST_MARKS_PERCENT;
}

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

/* True if the first sentence has a phrase of a request, and the whole text has enough such phrases. The first sentence
 * must match because an honest description may end in example requests. */
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
    WT_TRY(check_wording(a, at, tool->name, "name", reported, err));
    if (!*reported) {
        *reported = true;
        WT_TRY(wt__audit_add_tool_finding(a, RULE_STUFFED_WORDS, at->tool, err, "The name has %zu words: \"%s\".",
                                          words, wt__audit_quote(a, tool->name)));
    }
    return 0;
}

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
    WT_TRY(count_new_terms(tool, clean, &terms, err));
    if (terms < BARE_TERMS)
        WT_TRY(wt__audit_add_tool_finding(a, RULE_BARE_DESCRIPTION, at->tool, err,
                                          "The description only repeats the name: \"%s\".", wt__audit_quote(a, clean)));
    return 0;
}

static size_t count_sentence_words(const struct wording *wording)
{
    size_t words = 0;
    for (size_t i = 0; i < wording->count; i++)
        words += !wt__str_equal(wording->words[i].text, STR("."));
    return words;
}

/* Reports an opening, such as rules of use, before the sentence that says what the tool does. */
static int check_description_opening(struct audit_run *a, struct checked_tool *at, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer clean = {0};
    struct str description = a->tools[at->tool].tool.description;
    size_t length = wt__opening_length(description);
    if (length == 0)
        return 0;
    wt__markup_clean((struct str){description.ptr, length}, &clean);
    WT_CHECK_ALLOC(!clean.failed, err);
    struct str opening = wt__str_trim(wt__buffer_view(&clean));
    WT_TRY(wt__wording_read(&at->wording, opening, err));
    if (count_sentence_words(&at->wording) < LATE_WORDS)
        return 0;
    return wt__audit_add_tool_finding(a, RULE_LATE_DESCRIPTION, at->tool, err,
                                      "The description does not begin with what the tool does, but with: \"%s\".",
                                      wt__audit_quote(a, opening));
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
        rc = check_description_opening(a, at, err);
    if (rc == 0)
        rc = check_name_wording(a, at, &reported, err);
    if (rc == 0)
        rc = check_wording(a, at, text, "description", &reported, err);
    wt__buffer_dispose(&clean);
    return rc;
}

/* ---------------------------------------------------------------- duplicate descriptions */

/* Sets *out to a key of provider and description, in scratch. Descriptions that differ only in case, blanks and
 * punctuation have the same key. The key is empty if the description has no letters or digits. Also sets the tool's
 * text_hash. */
static int make_description_key(struct audit_run *a, size_t tool, struct str *out, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer key = {0};
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
    WT_CHECK_ALLOC(!key.failed && out->ptr, err);
    return 0;
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

/* ---------------------------------------------------------------- orders to the model */

/* Finds texts that give orders to the model instead of describing the tool. A model reads tool descriptions as part of
 * its prompt, so their authors can instruct it ("tool poisoning"). Most authors mean well, but such decisions belong to
 * the model's owner.
 *
 * Texts are matched against patterns of words (texts.c), the worst rule first. Each rule is reported once per tool,
 * with its first match. Advice on filling a parameter ("You must provide either id or name") concerns only the call, so
 * no pattern matches it.
 *
 * Names and values are checked if they are sentences. A value may legitimately be a prompt, a message or a path.
 * Therefore roles for the model and paths of private files count only in prose. */

enum {
    SENTENCE_BYTES = 16,  /* minimum length of a name or value */
    SENTENCE_WORDS = 4,   /* minimum words of a name or value with blanks */
    IDENTIFIER_WORDS = 6, /* minimum words of a name or value without blanks */
    EXCUSE_WORDS = 6,     /* maximum distance of an excuse before a match, in words */
};

/* Contexts in which a match of a pattern is not an order. */
enum excuse {
    EXCUSE_NEGATION = 1, /* negation before the match: "never delete without asking the user" */
    EXCUSE_GROUP = 2,    /* about a group of users: "hidden from users who are not admins", "from other users" */
    EXCUSE_SWITCH = 4,   /* meaning of a parameter: "whether to hide it from users" */
};

struct order_pattern {
    enum audit_rule rule;
    unsigned excuses;
    const char *words;
};

#define CALL "call|use|invoke|run|execute|calling|using|invoking|running"
static const struct order_pattern patterns[] = {
    {RULE_OVERRIDES_INSTRUCTIONS, 0,
     "ignore|disregard|forget|override|bypass * previous|prior|earlier|above|preceding|existing * "
     "instructions|instruction|prompt|prompts|rules|guidelines|directives|messages"},
    {RULE_OVERRIDES_INSTRUCTIONS, 0,
     "ignore|disregard|forget|override|bypass * your|system|safety * "
     "instructions|prompt|rules|guidelines|guardrails|restrictions|training|policy|policies"},
    {RULE_OVERRIDES_INSTRUCTIONS, 0, "new|updated|real system instructions|prompt"},
    {RULE_OVERRIDES_INSTRUCTIONS, 0, ". system . you are|must|will|should"},
    {RULE_HIDES_FROM_USER, EXCUSE_GROUP | EXCUSE_SWITCH,
     "don't|never|avoid "
     "tell|telling|mention|mentioning|inform|informing|notify|notifying|alert|alerting|reveal|revealing|"
     "disclose|disclosing * user|users|human|anyone"},
    {RULE_HIDES_FROM_USER, EXCUSE_GROUP | EXCUSE_SWITCH,
     "do|must|should not tell|mention|inform|notify|alert|reveal|disclose * user|users|human|anyone"},
    {RULE_HIDES_FROM_USER, EXCUSE_GROUP | EXCUSE_SWITCH,
     "don't|never|not mention|reveal|disclose|show * to * user|users|human|anyone"},
    {RULE_HIDES_FROM_USER, EXCUSE_NEGATION | EXCUSE_GROUP,
     "without warning|alerting|notifying|showing|telling|mentioning|informing * "
     "user|users|human|anyone"},
    {RULE_HIDES_FROM_USER, EXCUSE_NEGATION | EXCUSE_GROUP,
     "silently|quietly|always|just * without asking|prompting|consulting|involving * user|users|human|anyone"},
    {RULE_HIDES_FROM_USER, EXCUSE_NEGATION, "without the? user's|users'|human's knowledge|awareness|noticing"},
    {RULE_HIDES_FROM_USER, EXCUSE_NEGATION, "without the? user|users|human knowing|noticing|realizing|realising"},
    {RULE_HIDES_FROM_USER, EXCUSE_NEGATION, "behind the? user's|users' back|backs"},
    {RULE_HIDES_FROM_USER, 0,
     "user|users|human doesn't|don't|won't|never notice|notices|realize|realizes|suspect|suspects"},
    {RULE_HIDES_FROM_USER, 0, "so * user|users|human doesn't|don't|won't|cannot|can't know|notice|see|suspect"},
    {RULE_HIDES_FROM_USER, 0, "user|users|human should|must|may not|never? know|notice|realize|realise|learn"},
    {RULE_HIDES_FROM_USER, 0, "user|users|human should|must|may not|never? be told|informed|aware|alerted"},
    {RULE_HIDES_FROM_USER, 0, "secretly|covertly|stealthily|surreptitiously"},
    {RULE_HIDES_FROM_USER, EXCUSE_NEGATION | EXCUSE_GROUP | EXCUSE_SWITCH,
     "hide|conceal|withhold this|that|it|these|those|them|everything|anything|the|your|any|all * from * "
     "user|users|human"},
    {RULE_HIDES_FROM_USER, EXCUSE_NEGATION | EXCUSE_GROUP | EXCUSE_SWITCH,
     "keep|keeping|kept|stay|stays|remain|remains|be * secret|hidden|invisible|concealed from * user|users|human"},
    {RULE_HIDES_FROM_USER, 0, "don't|never mention|reveal|disclose * this|that|it|these|step|instruction|instructions"},
    {RULE_HIDES_FROM_USER, 0, "do not mention|reveal|disclose * this|that|it|these|step|instruction|instructions"},
    {RULE_ASKS_FOR_SECRETS, 0,
     "pass|send|include|provide|put|attach|append|add|copy|paste|forward|submit * "
     "full|entire|whole|complete|all|previous "
     "* conversation|chat|messages|history|context|prompt"},
    {RULE_ASKS_FOR_SECRETS, 0,
     "pass|send|include|provide|put|attach|copy|paste|forward|reveal|output * your|the system prompt"},
    {RULE_ASKS_FOR_SECRETS, 0,
     "read|cat|open|send|pass|include|provide|put|attach|copy|paste|upload * content|contents of * "
     "env|ssh|credentials|secrets|id_rsa|passwd"},
    {RULE_ASKS_FOR_SECRETS, 0,
     "pass|send|include|put|attach|copy|paste|forward * user's|their|your * "
     "password|passwords|credentials|cookies|keychain"},
    {RULE_CLAIMS_PRIORITY, 0, "always|must|immediately " CALL " this|it * first|before|instead|tool|function"},
    {RULE_CLAIMS_PRIORITY, 0, "should " CALL " this|it * first|before|instead|beginning|start"},
    {RULE_CLAIMS_PRIORITY, 0, "first " CALL " this|it tool|function|to"},
    {RULE_CLAIMS_PRIORITY, 0, "always|must|should|required|requires " CALL " * first"},
    {RULE_CLAIMS_PRIORITY, 0, "you need|have to " CALL " * first"},
    {RULE_CLAIMS_PRIORITY, 0, "must|should|always first|always " CALL},
    {RULE_CLAIMS_PRIORITY, 0, "always * call|use|invoke|run * first|tool|instead"},
    {RULE_CLAIMS_PRIORITY, 0, "must|should|shall|always be called|used|invoked|run|executed * first|before|prior"},
    {RULE_CLAIMS_PRIORITY, 0, "call|use|invoke|run this|it * first"},
    {RULE_CLAIMS_PRIORITY, 0, "must|should|to call|use|invoke|run * before|prior " CALL "|to|any|other|the"},
    {RULE_CLAIMS_PRIORITY, 0, "before " CALL " any|other|another|all"},
    {RULE_CLAIMS_PRIORITY, 0, "before|prior|over|above|of|than to? any|all|every? other tool|tools"},
    {RULE_CLAIMS_PRIORITY, 0, "before|over any|all|other other|tool|tools tool|tools|is|in"},
    {RULE_CLAIMS_PRIORITY, 0, "instead|place|rather of|than any|all|every tool|tools"},
    {RULE_CLAIMS_PRIORITY, 0, "prefer|use|choose|pick this tool|one|server * over|instead|rather"},
    {RULE_CLAIMS_PRIORITY, 0, "not|don't|never use|call|invoke * other|another|any tool|tools|server|servers"},
    {RULE_ADDRESSES_MODEL, 0,
     "you are|act as|like? a|an|the ai|assistant|expert|agent|helpful|llm|model|language|claude|chatgpt"},
    {RULE_ADDRESSES_MODEL, 0, "you are an? ai|expert|helpful|assistant"},
    {RULE_ADDRESSES_MODEL, 0,
     "the|an|ai|llm|claude|chatgpt|gpt assistant|llm|ai|agent|claude|model should|must|shall|needs|will * "
     "ask|tell|respond|reply|use|call|generate|extract|provide|present|show|explain|never|always"},
    {RULE_ADDRESSES_MODEL, 0,
     "you|must|should|always|please|never|not|to? ask|tell|prompt|remind|inform|warn the user|users|customer"},
    {RULE_ADDRESSES_MODEL, 0, "ask the user|users|customer for|to|if|which|what|whether|before"},
    {RULE_ADDRESSES_MODEL, 0, "you must|should * respond|reply|answer|explain|present|show|ask|confirm"},
    {RULE_ADDRESSES_MODEL, 0, "in your response|reply|answer|thinking|reasoning|output"},
};

/* Tokens of chat templates, which never occur in a description by chance. */
static const char *const template_marks[] = {"<|im_start|>", "<|im_end|>", "[INST]",
                                             "<<SYS>>",      "<|system|>", "<|endoftext|>"};
static const char *const private_files[] = {
    "~/.ssh",  "id_rsa", "/etc/passwd", "/etc/shadow", "~/.aws/", ".cursor/mcp.json", "claude_desktop_config.json",
    "~/.netrc"};
#define COUNT(array) (sizeof(array) / sizeof *(array))

struct instruction_check {
    struct audit_run *a;
    struct checked_tool *at;
    bool reported[AUDIT_RULES];
    wt_error *err;
};

static int report_order(struct instruction_check *t, enum audit_rule rule, const struct tool_text *text, size_t start,
                        size_t end)
{
    static const char *const does[] = {
        [RULE_OVERRIDES_INSTRUCTIONS] = "tells the model to ignore instructions",
        [RULE_HIDES_FROM_USER] = "tells the model to hide something from the user",
        [RULE_ASKS_FOR_SECRETS] = "asks for private data",
        [RULE_CLAIMS_PRIORITY] = "tells the model to prefer a tool over others",
        [RULE_ADDRESSES_MODEL] = "tells the model how to behave",
    };
    struct str sentence = wt__wording_sentence(text->text, start, end);
    if (sentence.len > AUDIT_QUOTED) /* quote from the match on */
        sentence =
            (struct str){text->text.ptr + start, (size_t)(sentence.ptr + sentence.len - (text->text.ptr + start))};
    if (t->reported[rule])
        return 0;
    t->reported[rule] = true;
    return wt__audit_add_tool_finding(t->a, rule, t->at->tool, t->err, "The %s %s: \"%s\".",
                                      wt__describe_text_place(t->a, text), does[rule], wt__audit_quote(t->a, sentence));
}

/* Returns the position of a mark in the text, ignoring case; text.len if the text has no mark. If the text has several
 * marks, the first of the list counts. Sets *len to the length of the mark. */
static size_t find_mark(struct str text, const char *const *marks, size_t count, size_t *len)
{
    for (size_t m = 0; m < count; m++) {
        *len = strlen(marks[m]);
        for (size_t at = 0; at + *len <= text.len; at++)
            if (strncasecmp(text.ptr + at, marks[m], *len) == 0)
                return at;
    }
    return text.len;
}

/* True if a match of RULE_ADDRESSES_MODEL follows a quotation mark, because such a text quotes an example prompt.
 * Quoted matches of the other rules still count. */
static bool is_quoted_example(struct str text, size_t start, enum audit_rule rule)
{
    return rule == RULE_ADDRESSES_MODEL && start > 0 && (text.ptr[start - 1] == '"' || text.ptr[start - 1] == '`');
}

static bool is_any_word_of(const struct text_word *word, const char *const *words, size_t count)
{
    return wt__str_among(word->text, words, count);
}

/* True if one of the `most` words before `at`, in the same sentence, is among `words`. */
static bool follows_word_of(const struct wording *wording, size_t at, size_t most, const char *const *words,
                            size_t count)
{
    for (size_t i = at; i > 0 && at - i < most; i--) {
        if (wt__str_equal(wording->words[i - 1].text, STR(".")))
            return false;
        if (is_any_word_of(&wording->words[i - 1], words, count))
            return true;
    }
    return false;
}

/* True if the last word of a match means only some users ("other users"), or is part of another term ("user
 * interface"). end: index after that word. */
static bool is_of_a_group(const struct wording *wording, size_t end)
{
    static const char *const groups[] = {"other",   "regular",   "normal",   "external",        "anonymous",
                                         "guest",   "non-admin", "admin",    "unauthenticated", "unauthorized",
                                         "blocked", "new",       "ordinary", "certain",         "specific",
                                         "some",    "logged"};
    static const char *const clauses[] = {"who", "whose", "without", "lacking", "outside", "below"};
    static const char *const terms[] = {"interface", "list", "menu", "profile", "account", "table", "directory",
                                        "service",   "ui",   "view", "role",    "group",   "search"};
    const struct text_word *last = &wording->words[end - 1];
    bool plural = wt__str_equal(last->text, STR("users"));
    if (end >= 2 && is_any_word_of(&wording->words[end - 2], groups, COUNT(groups)))
        return true;
    if (end >= wording->count)
        return false;
    return is_any_word_of(&wording->words[end], terms, COUNT(terms)) ||
           (plural && is_any_word_of(&wording->words[end], clauses, COUNT(clauses)));
}

static bool is_excused(const struct wording *wording, unsigned excuses, size_t found, size_t end)
{
    static const char *const negations[] = {"not",   "never", "don't",   "no",   "cannot",
                                            "can't", "won't", "doesn't", "avoid"};
    static const char *const switches[] = {"whether", "true", "false", "enabled", "option", "flag", "which"};
    return ((excuses & EXCUSE_NEGATION) &&
            follows_word_of(wording, found, EXCUSE_WORDS, negations, COUNT(negations))) ||
           ((excuses & EXCUSE_SWITCH) && follows_word_of(wording, found, EXCUSE_WORDS, switches, COUNT(switches))) ||
           ((excuses & EXCUSE_GROUP) && is_of_a_group(wording, end));
}

/* Returns the first match without an excuse, and the index after its last word in *end; the number of words if none. */
static size_t find_order_pattern(const struct wording *wording, const struct order_pattern *pattern, size_t *end)
{
    size_t found = wt__wording_find(wording, pattern->words, 0, end);
    while (found < wording->count && is_excused(wording, pattern->excuses, found, *end))
        found = wt__wording_find(wording, pattern->words, found + 1, end);
    return found;
}

/* True if a name or value is long enough to be a sentence, unlike "override_existing_rules" and "all messages".
 * wording: the words of the text. */
static bool is_sentence(const struct wording *wording, struct str text)
{
    size_t words = count_sentence_words(wording);
    return words >= (memchr(text.ptr, ' ', text.len) ? SENTENCE_WORDS : IDENTIFIER_WORDS);
}

/* True if the rule applies to prose only. A default value may be a prompt that gives another model a role. */
static bool is_for_prose(enum audit_rule rule)
{
    return rule == RULE_ADDRESSES_MODEL;
}

static int check_instructions(void *context, const struct tool_text *text)
{
    struct instruction_check *t = context;
    bool prose = text->kind == TEXT_PROSE;
    size_t len, at;
    if (!prose && text->text.len < SENTENCE_BYTES)
        return 0;
    WT_TRY(wt__wording_read(&t->at->wording, text->text, t->err));
    if (!prose && !is_sentence(&t->at->wording, text->text))
        return 0;
    at = find_mark(text->text, template_marks, COUNT(template_marks), &len);
    if (at < text->text.len)
        WT_TRY(report_order(t, RULE_OVERRIDES_INSTRUCTIONS, text, at, at + len));
    at = find_mark(text->text, private_files, COUNT(private_files), &len);
    if (prose && at < text->text.len)
        WT_TRY(report_order(t, RULE_ASKS_FOR_SECRETS, text, at, at + len));
    const struct text_word *words = t->at->wording.words;
    for (size_t p = 0; p < COUNT(patterns); p++) {
        size_t end, found = prose || !is_for_prose(patterns[p].rule)
                                ? find_order_pattern(&t->at->wording, &patterns[p], &end)
                                : t->at->wording.count;
        if (found < t->at->wording.count && !is_quoted_example(text->text, words[found].start, patterns[p].rule))
            WT_TRY(report_order(t, patterns[p].rule, text, words[found].start, words[end - 1].end));
    }
    return 0;
}

int wt__audit_instructions(struct audit_run *a, struct checked_tool *at, wt_error *err)
{
    struct instruction_check t = {.a = a, .at = at, .err = err};
    return wt__visit_tool_texts(&a->tools[at->tool].tool, at->schema, at->definition, check_instructions, &t, err);
}

/* ---------------------------------------------------------------- hidden characters */

/* Finds characters that a language model reads and a person does not see: zero-width characters, direction marks, tags
 * and private-use characters. Also finds words that mix Latin with look-alike letters.
 *
 * Such characters are allowed in legitimate uses:
 *   - joiners after a symbol, and next to a script with joined letters
 *   - variation selectors after a symbol or an East Asian character
 *   - direction marks next to a right-to-left script
 *   - tags in flags, soft hyphens, word joiners, tabs, line breaks, and a byte order mark at the start */

struct character_check {
    struct audit_run *a;
    struct checked_tool *at;
    bool hidden, mixed; /* reported already */
    wt_error *err;
};

static bool is_symbol(uint32_t c)
{
    return (c >= 0x2190 && c <= 0x2BFF) || (c >= 0x1F000 && c <= 0x1FAFF) || c == 0xA9 || c == 0xAE || c == 0x2122 ||
           c == 0x203C || c == 0x2049 || c == 0x2139 || c == 0x3030 || c == 0x303D || c == 0x3297 || c == 0x3299 ||
           c == '#' || c == '*' || (c >= '0' && c <= '9') || c == 0xFE0F || c == 0x20E3;
}

/* True for scripts with joined letters or right-to-left direction: Hebrew to Arabic, Indic to Myanmar, Khmer to
 * Mongolian. */
static bool is_joining_script(uint32_t c)
{
    return (c >= 0x0590 && c <= 0x08FF) || (c >= 0x0900 && c <= 0x109F) || (c >= 0x1780 && c <= 0x18AF) ||
           (c >= 0xFB1D && c <= 0xFEFC && c != 0xFEFF);
}

/* True if an invisible character has a legitimate use between its neighbours. */
static bool has_legitimate_use(uint32_t c, uint32_t before, uint32_t after, bool first)
{
    if (c == '\t' || c == '\n' || c == '\r' || c == 0xAD || (c == 0xFEFF && first))
        return true;
    if (c >= 0xFE00 && c <= 0xFE0F)
        return is_symbol(before) || before >= 0x2E80;
    if (c == 0x200D)
        return is_symbol(before) || is_joining_script(before);
    if (c == 0x200C || c == 0x200E || c == 0x200F || c == 0x061C)
        return is_joining_script(before) || is_joining_script(after);
    if (c == 0x2028 || c == 0x2029 || c == 0x2060 || c == 0x0085)
        return true;                  /* line breaks, and the word joiner */
    if (c >= 0xE0020 && c <= 0xE007F) /* tags of a flag */
        return before == 0x1F3F4 || (before >= 0xE0020 && before <= 0xE007F);
    return false;
}

static bool is_private_use(uint32_t c)
{
    return (c >= 0xE000 && c <= 0xF8FF) || c >= 0xF0000;
}

static const char *describe_character(uint32_t c)
{
    if (c >= 0xE0000 && c <= 0xE007F)
        return "a tag character, which can hide text";
    if ((c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069))
        return "a mark that reverses the direction of text";
    if (is_private_use(c))
        return "a private-use character";
    return c < ' ' || (c >= 0x7F && c < 0xA0) ? "a control character" : "a zero-width character";
}

/* True if invisible characters are allowed in the text: in regular expressions, and in values of one character, which
 * are often separators. */
static bool may_have_invisible(const struct tool_text *text)
{
    const char *at = text->text.ptr, *end = at + text->text.len;
    if (text->kind == TEXT_VALUE)
        wt__utf8_next(&at, end);
    return text->kind == TEXT_PATTERN || at == end;
}

static int find_hidden_characters(struct character_check *l, const struct tool_text *text)
{
    const char *at = text->text.ptr, *end = at + text->text.len;
    uint32_t before = 0, worst = 0;
    size_t count = 0, worst_at = 0;
    while (at < end) {
        const char *from = at;
        uint32_t c = wt__utf8_next(&at, end);
        const char *next = at;
        uint32_t after = at < end ? wt__utf8_next(&next, end) : 0;
        bool hidden = is_private_use(c) ||
                      (wt__unicode_unseen(c) && !has_legitimate_use(c, before, after, from == text->text.ptr));
        if (hidden && count++ == 0) {
            worst = c;
            worst_at = (size_t)(from - text->text.ptr);
        }
        before = c;
    }
    if (count == 0)
        return 0;
    l->hidden = true;
    size_t begin = worst_at > 20 ? worst_at - 20 : 0;
    while (begin > 0 && (text->text.ptr[begin] & 0xC0) == 0x80)
        begin--;
    uint32_t place = (uint32_t)l->at->tool;
    const struct new_finding found = {
        .rule = RULE_HIDDEN_CHARACTERS, .tools = &place, .count = 1, .figure = (double)count};
    return wt__audit_add_finding(l->a, &found, l->err, "The %s has U+%04X, %s%s: \"%s\".",
                                 wt__describe_text_place(l->a, text), (unsigned)worst, describe_character(worst),
                                 count > 1 ? ", and more such characters" : "",
                                 wt__audit_quote(l->a, (struct str){text->text.ptr + begin, text->text.len - begin}));
}

/* ---------------------------------------------------------------- look-alikes */

enum alphabet { ALPHABET_OTHER, ALPHABET_LATIN, ALPHABET_GREEK, ALPHABET_CYRILLIC };

static enum alphabet alphabet_of(uint32_t c)
{
    if ((c | 0x20) >= 'a' && (c | 0x20) <= 'z' && c < 0x80)
        return ALPHABET_LATIN;
    if (c >= 0x0370 && c <= 0x03FF)
        return ALPHABET_GREEK;
    return c >= 0x0400 && c <= 0x052F ? ALPHABET_CYRILLIC : ALPHABET_OTHER;
}

/* True if a Greek or Cyrillic letter looks like a Latin one. */
static bool looks_latin(uint32_t c)
{
    static const uint32_t alike[] = {0x0430, 0x0435, 0x043E, 0x0440, 0x0441, 0x0443, 0x0445, 0x0455, 0x0456, 0x0458,
                                     0x04BB, 0x0501, 0x051B, 0x0410, 0x0412, 0x0415, 0x041A, 0x041C, 0x041D, 0x041E,
                                     0x0420, 0x0421, 0x0422, 0x0423, 0x0425, 0x0405, 0x0406, 0x0408, 0x03BF, 0x03B1,
                                     0x03BD, 0x03C1, 0x0391, 0x0392, 0x0395, 0x0396, 0x0397, 0x0399, 0x039A, 0x039C,
                                     0x039D, 0x039F, 0x03A1, 0x03A4, 0x03A5, 0x03A7};
    for (size_t i = 0; i < sizeof alike / sizeof *alike; i++)
        if (c == alike[i])
            return true;
    return false;
}

/* True if all Greek and Cyrillic letters of a word with Latin letters look Latin: "pаypal". Words with other Greek or
 * Cyrillic letters, such as "Zoom-встреча" and "μTorrent", are legitimate. */
static bool is_mixed_word(struct str word)
{
    size_t latin = 0, alike = 0, foreign = 0;
    for (const char *at = word.ptr, *end = at + word.len; at < end;) {
        uint32_t c = wt__utf8_next(&at, end);
        enum alphabet alphabet = alphabet_of(c);
        latin += alphabet == ALPHABET_LATIN;
        if (alphabet > ALPHABET_LATIN) {
            alike += looks_latin(c);
            foreign += !looks_latin(c);
        }
    }
    return latin > 0 && alike > 0 && foreign == 0;
}

static int find_mixed_words(struct character_check *l, const struct tool_text *text)
{
    const char *at = text->text.ptr, *end = at + text->text.len, *begin = NULL;
    while (at <= end && !l->mixed) {
        const char *from = at;
        uint32_t c = at < end ? wt__utf8_next(&at, end) : ' ';
        enum unicode_kind kind = wt__unicode_kind(c);
        bool letter = kind == UNICODE_LETTER || kind == UNICODE_UPPER;
        if (letter && !begin)
            begin = from;
        if (!letter && begin && is_mixed_word((struct str){begin, (size_t)(from - begin)})) {
            l->mixed = true;
            return wt__audit_add_tool_finding(l->a, RULE_MIXED_SCRIPTS, l->at->tool, l->err,
                                              "The %s has a word that mixes Latin letters with look-alikes: \"%s\".",
                                              wt__describe_text_place(l->a, text),
                                              wt__audit_quote(l->a, (struct str){begin, (size_t)(from - begin)}));
        }
        if (!letter)
            begin = NULL;
        if (from == end)
            break;
    }
    return 0;
}

static int check_characters(void *context, const struct tool_text *text)
{
    struct character_check *l = context;
    if (may_have_invisible(text))
        return 0;
    int rc = l->hidden ? 0 : find_hidden_characters(l, text);
    return rc == 0 && !l->mixed ? find_mixed_words(l, text) : rc;
}

int wt__audit_characters(struct audit_run *a, struct checked_tool *at, wt_error *err)
{
    struct character_check l = {.a = a, .at = at, .err = err};
    return wt__visit_tool_texts(&a->tools[at->tool].tool, at->schema, at->definition, check_characters, &l, err);
}
