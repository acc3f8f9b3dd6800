/* instructions.c: finds texts that give orders to the model instead of describing the tool. A model reads tool
 * descriptions as part of its prompt, so their authors can instruct it ("tool poisoning"). Most authors mean well, but
 * such decisions belong to the model's owner.
 *
 * Texts are matched against patterns of words (wording.h), the worst rule first. Each rule is reported once per tool,
 * with its first match. Advice on filling a parameter ("You must provide either id or name") concerns only the call, so
 * it has no pattern.
 *
 * Names and values are checked if they are sentences. A value may legitimately be a prompt, a message or a path.
 * Therefore roles for the model and paths of private files count only in prose. */
#include "audit/families.h"

#include <strings.h>

#include "audit/texts.h"
#include "base/buffer.h"

enum {
    SENTENCE_BYTES = 16,  /* minimum length of a name or value */
    SENTENCE_WORDS = 4,   /* minimum words of a name or value with blanks */
    IDENTIFIER_WORDS = 6, /* minimum words of one without blanks */
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

/* Returns the position of the first mark found in the text, ignoring case; text.len if none occurs. *len: its
 * length. */
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

/* True if a quotation mark precedes a match that gives the model a role: the text quotes an example prompt. Quoted
 * orders of the other rules still count. */
static bool is_quoted_example(struct str text, size_t start, enum audit_rule rule)
{
    return rule == RULE_ADDRESSES_MODEL && start > 0 && (text.ptr[start - 1] == '"' || text.ptr[start - 1] == '`');
}

static bool is_any_word_of(const struct text_word *word, const char *const *words, size_t count)
{
    return wt__str_among(word->text, words, count);
}

/* True if a word of the sentence before `at`, at most `most` words away, is one of these. */
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

/* True if the last word of a match, before `end`, means some users, or is part of another term: "user interface". */
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
static size_t find_order(const struct wording *wording, const struct order_pattern *pattern, size_t *end)
{
    size_t found = wt__wording_find(wording, pattern->words, 0, end);
    while (found < wording->count && is_excused(wording, pattern->excuses, found, *end))
        found = wt__wording_find(wording, pattern->words, found + 1, end);
    return found;
}

/* True if a name or value is long enough to be a sentence, unlike "override_existing_rules" and "all messages".
 * wording: its words. */
static bool is_sentence(const struct wording *wording, struct str text)
{
    size_t words = 0;
    for (size_t i = 0; i < wording->count; i++)
        words += !wt__str_equal(wording->words[i].text, STR("."));
    return words >= (memchr(text.ptr, ' ', text.len) ? SENTENCE_WORDS : IDENTIFIER_WORDS);
}

/* True if the rule applies to prose only. A default value may be a prompt for another model, which gives it a role. */
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
    int rc = wt__wording_read(&t->at->wording, text->text, t->err);
    if (rc == 0 && !prose && !is_sentence(&t->at->wording, text->text))
        return 0;
    at = find_mark(text->text, template_marks, COUNT(template_marks), &len);
    if (rc == 0 && at < text->text.len)
        rc = report_order(t, RULE_OVERRIDES_INSTRUCTIONS, text, at, at + len);
    at = find_mark(text->text, private_files, COUNT(private_files), &len);
    if (rc == 0 && prose && at < text->text.len)
        rc = report_order(t, RULE_ASKS_FOR_SECRETS, text, at, at + len);
    const struct text_word *words = t->at->wording.words;
    for (size_t p = 0; rc == 0 && p < COUNT(patterns); p++) {
        size_t end, found = prose || !is_for_prose(patterns[p].rule) ? find_order(&t->at->wording, &patterns[p], &end)
                                                                     : t->at->wording.count;
        if (found < t->at->wording.count && !is_quoted_example(text->text, words[found].start, patterns[p].rule))
            rc = report_order(t, patterns[p].rule, text, words[found].start, words[end - 1].end);
    }
    return rc;
}

int wt__audit_instructions(struct audit_run *a, struct checked_tool *at, wt_error *err)
{
    struct instruction_check t = {.a = a, .at = at, .err = err};
    return wt__visit_tool_texts(&a->tools[at->tool].tool, at->schema, at->definition, check_instructions, &t, err);
}
