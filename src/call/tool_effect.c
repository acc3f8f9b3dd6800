/* tool_effect.c: finds whether a tool has side effects, and the verbs of the tool. See arguments.h.
 *
 * The effect comes from an HTTP method or MCP annotations if the tool has them. Otherwise, a verb in the name or at the
 * start of the description is enough evidence that the tool acts. The two possible errors differ in cost. If a tool is
 * wrongly assumed to act, the user has to answer one question too many. If a tool is wrongly assumed to only read, the
 * call may lock a vault unasked. */
#include "call/arguments.h"

#include <strings.h>

#include "base/buffer.h"
#include "base/json.h"
#include "retrieve/document.h"
#include "retrieve/words.h"
#include "text/analyser.h"

enum {
    VERB_WITHIN = 8,   /* number of first words of a description searched for a verb */
    DERIVED_BYTES = 5, /* length of the shortest verb whose derived nouns are recognised */
};

/* Verbs of tools that act, in addition to the verbs of retrieve/words.c. The table of retrieve/words.c affects ranking,
 * so these verbs have their own table. */
static const char *const acting_verbs[] = {
    "allocate",  "arm",        "arrange",   "authorize",  "authorise", "backup",   "bake",     "ban",      "bid",
    "block",     "boost",      "brew",      "broadcast",  "checkin",   "checkout", "claim",    "clean",    "conclude",
    "control",   "cook",       "cool",      "defrost",    "demote",    "deploy",   "deposit",  "dim",      "disarm",
    "dispatch",  "dispense",   "dispute",   "dock",       "donate",    "drain",    "drive",    "eject",    "empty",
    "encrypt",   "enforce",    "engage",    "enroll",     "enrol",     "escalate", "evict",    "exec",     "execute",
    "exit",      "extinguish", "feed",      "finalize",   "finalise",  "finish",   "fire",     "flush",    "forward",
    "grill",     "heat",       "hibernate", "hire",       "ignite",    "impose",   "inflate",  "initiate", "invoke",
    "isolate",   "join",       "kick",      "lend",       "lift",      "light",    "log",      "login",    "logoff",
    "logout",    "lower",      "migrate",   "mop",        "mount",     "mow",      "organize", "organise", "overwrite",
    "pair",      "park",       "place",     "pledge",     "pour",      "power",    "poweroff", "preheat",  "promote",
    "provision", "prune",      "purchase",  "quarantine", "quit",      "reboot",   "rebuild",  "redeem",   "redeploy",
    "refund",    "release",    "reload",    "renew",      "rent",      "resolve",  "restrict", "retry",    "return",
    "reverse",   "ring",       "roll",      "rollback",   "scale",     "sell",     "settle",   "ship",     "shoot",
    "shut",      "shutdown",   "signin",    "signout",    "signup",    "sound",    "spray",    "suspend",  "tidy",
    "throttle",  "trade",      "truncate",  "tune",       "tweet",     "vacuum",   "void",     "waive",    "wake",
    "warm",      "wash",       "water",
};

/* Verbs of tools that only read, in addition to the verbs of retrieve/words.c. */
static const char *const reading_verbs[] = {
    "access", "allow",  "analyse", "analyze", "answer",  "assess", "confirm", "contain", "decode", "enumerate",
    "know",   "lookup", "obtain",  "parse",   "provide", "rank",   "return",  "say",     "test",   "visualize",
};

/* Words skipped in the search for the first verb of a description: "This tool allows you to lock", "A function that
 * locks". */
static const char *const before_verb[] = {
    "ability",  "allow",    "allows", "api",    "call", "can",    "command", "enable",   "enables",
    "endpoint", "function", "helps",  "lets",   "let",  "method", "perform", "performs", "permits",
    "tool",     "use",      "used",   "useful", "user", "users",  "utility",
};

/* Irregular past forms. */
static const struct {
    const char *past, *verb;
} irregular[] = {
    {"began", "begin"},   {"bought", "buy"},        {"built", "build"},        {"drawn", "draw"},
    {"drew", "draw"},     {"fed", "feed"},          {"froze", "freeze"},       {"frozen", "freeze"},
    {"given", "give"},    {"lit", "light"},         {"made", "make"},          {"paid", "pay"},
    {"ran", "run"},       {"rang", "ring"},         {"rung", "ring"},          {"sent", "send"},
    {"shot", "shoot"},    {"sold", "sell"},         {"taken", "take"},         {"thrown", "throw"},
    {"took", "take"},     {"withdrew", "withdraw"}, {"withdrawn", "withdraw"}, {"woke", "wake"},
    {"written", "write"}, {"wrote", "write"},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

bool wt__is_base_verb(struct str word)
{
    return wt__verb(word).actions != 0 || wt__str_among(word, acting_verbs, COUNT(acting_verbs));
}

static bool equals_ignoring_case(struct str word, const char *text)
{
    return strlen(text) == word.len && strncasecmp(word.ptr, text, word.len) == 0;
}

bool wt__is_form_of(struct str word, const char *verb)
{
    static const char *const endings[] = {"s", "es", "ed", "d", "ing"};
    size_t len = strlen(verb);
    for (size_t i = 0; i < COUNT(irregular); i++)
        if (equals_ignoring_case(word, irregular[i].past) && strcmp(irregular[i].verb, verb) == 0)
            return true;
    if (len < 2 || word.len + 1 < len || strncasecmp(word.ptr, verb, len - 1) != 0)
        return false;
    struct str rest = {word.ptr + len - 1, word.len - (len - 1)};
    if (verb[len - 1] == 'e' && (equals_ignoring_case(rest, "ing") || equals_ignoring_case(rest, "ed")))
        return true; /* "deleting" */
    if (verb[len - 1] == 'y' && (equals_ignoring_case(rest, "ies") || equals_ignoring_case(rest, "ied")))
        return true; /* "tidied" */
    if (rest.len == 0 || (rest.ptr[0] | 0x20) != verb[len - 1])
        return false;
    rest = (struct str){rest.ptr + 1, rest.len - 1};
    if (rest.len > 2 && (rest.ptr[0] | 0x20) == verb[len - 1])
        rest = (struct str){rest.ptr + 1, rest.len - 1}; /* "running", "cancelled" */
    return rest.len == 0 || wt__str_among(rest, endings, COUNT(endings));
}

/* True if the word is a form of the first half of the verb: "logged" of "logout". Sentences write such a verb as two
 * words. */
static bool is_form_of_half(struct str word, const char *verb)
{
    static const char *const halves[] = {"back", "down", "in", "off", "out", "up"};
    size_t len = strlen(verb);
    char front[EFFECT_VERB_BYTES + 1];
    for (size_t i = 0; i < COUNT(halves); i++) {
        size_t half = strlen(halves[i]);
        if (len < half + 3 || strcmp(verb + len - half, halves[i]) != 0)
            continue;
        memcpy(front, verb, len - half);
        front[len - half] = 0;
        return wt__is_form_of(word, front);
    }
    return false;
}

/* True if the word is a noun derived from the verb: "connection" of "connect". */
static bool is_derived_noun(struct str word, const char *verb)
{
    size_t len = strlen(verb);
    return len >= DERIVED_BYTES && word.len > len && strncasecmp(word.ptr, verb, len) == 0;
}

const char *wt__effect_verb(const struct tool_effect *effect, struct str word)
{
    for (size_t i = 0; i < effect->verb_count; i++) {
        const char *verb = effect->verbs[i];
        if (wt__is_form_of(word, verb) || is_form_of_half(word, verb) || is_derived_noun(word, verb))
            return verb;
    }
    return NULL;
}

static void keep_effect_verb(struct tool_effect *effect, struct str verb)
{
    if (effect->verb_count == EFFECT_VERBS || verb.len > EFFECT_VERB_BYTES || wt__effect_verb(effect, verb))
        return;
    char *out = effect->verbs[effect->verb_count++];
    for (size_t i = 0; i < verb.len; i++)
        out[i] = (char)(wt__is_letter(verb.ptr[i]) ? verb.ptr[i] | 0x20 : verb.ptr[i]);
    out[verb.len] = 0;
}

/* True for actions with side effects: any update or deletion, or creation without other actions. A verb that creates
 * and reads, such as "convert", has no side effects. */
static bool is_acting_action(unsigned actions)
{
    return (actions & (ACTION_UPDATE | ACTION_DELETE)) || actions == ACTION_CREATE;
}

enum verb_effect { VERB_UNKNOWN, VERB_READS, VERB_ACTS };

static enum verb_effect find_verb_effect(struct str base)
{
    if (wt__str_among(base, reading_verbs, COUNT(reading_verbs)))
        return VERB_READS;
    if (wt__str_among(base, acting_verbs, COUNT(acting_verbs)))
        return VERB_ACTS;
    unsigned actions = wt__verb(base).actions;
    return actions == 0 ? VERB_UNKNOWN : is_acting_action(actions) ? VERB_ACTS : VERB_READS;
}

/* Returns the effect of a verb in the form "lock", "locks", "pushes" or "carries", and writes its base form to `out`.
 * Returns VERB_UNKNOWN if the verb is not known. */
static enum verb_effect read_base_verb(struct str word, struct buffer *out)
{
    static const struct {
        size_t cut;
        const char *end;
    } endings[] = {{0, ""}, {1, ""}, {2, ""}, {3, "y"}};
    enum verb_effect effect = VERB_UNKNOWN;
    bool third = word.len > 3 && (word.ptr[word.len - 1] | 0x20) == 's';
    for (size_t i = 0; effect == VERB_UNKNOWN && i < (third ? COUNT(endings) : 1); i++) {
        wt__buffer_clear(out);
        wt__buffer_str(out, (struct str){word.ptr, word.len - endings[i].cut});
        wt__buffer_text(out, endings[i].end);
        effect = out->failed ? VERB_UNKNOWN : find_verb_effect(wt__buffer_view(out));
    }
    return effect;
}

/* Returns the effect of the first verb of a description: "Locks the vault", "Use this tool to lock". */
static enum verb_effect read_described_effect(struct tool_effect *out, struct str description)
{
    struct buffer base = {0};
    enum verb_effect effect = VERB_UNKNOWN;
    size_t at = 0;
    for (size_t seen = 0; effect == VERB_UNKNOWN && seen < VERB_WITHIN; seen++) {
        struct str word = wt__next_word(description, &at);
        if (word.len == 0)
            break;
        if (wt__is_stopword_any_case(word) || wt__str_among(word, before_verb, COUNT(before_verb)))
            continue;
        effect = read_base_verb(word, &base);
        if (effect == VERB_UNKNOWN)
            break;
        keep_effect_verb(out, wt__buffer_view(&base));
    }
    wt__buffer_dispose(&base);
    return effect;
}

/* Effect stated by a tool's name, from the first verb among its first two words, or from its last word. */
struct named_effect {
    enum verb_effect effect;
    bool noun; /* true if the verb is often a noun: "lock_status" */
};

static struct named_effect read_named_effect(struct tool_effect *out, struct str name)
{
    static const char *const switches[] = {"off", "on"}; /* "lamp_off" */
    struct named_effect named = {VERB_UNKNOWN, false}, last = named;
    struct buffer words = {0};
    wt__analyser_spell_out(name, &words);
    struct str text = wt__buffer_view(&words);
    size_t at = 0;
    for (size_t seen = 0;; seen++) {
        struct str word = wt__next_word(text, &at);
        if (word.len == 0)
            break;
        enum verb_effect effect = wt__is_base_verb(word) ? find_verb_effect(word) : VERB_UNKNOWN;
        bool is_switch = seen > 0 && wt__str_among(word, switches, COUNT(switches));
        last = (struct named_effect){is_switch ? VERB_ACTS : effect, wt__verb(word).noun};
        if (effect != VERB_UNKNOWN)
            keep_effect_verb(out, word);
        if (named.effect == VERB_UNKNOWN && seen < 2 && !is_switch)
            named = last;
    }
    wt__buffer_dispose(&words);
    return named.effect != VERB_UNKNOWN ? named : last;
}

/* True if the tool's MCP annotations have "destructiveHint": true. wt__tool_actions reads the hint only together with
 * "readOnlyHint". */
static bool is_destructive(const struct tool *tool)
{
    static const char hint[] = "destructiveHint";
    json_t *definition = NULL;
    if (tool->definition.len == 0 || !memmem(tool->definition.ptr, tool->definition.len, hint, sizeof hint - 1) ||
        wt__json_parse(&definition, tool->definition.ptr, tool->definition.len, NULL) < 0)
        return false;
    bool destructive = json_is_true(json_object_get(json_object_get(definition, "annotations"), hint));
    json_decref(definition);
    return destructive;
}

void wt__tool_effect_read(struct tool_effect *out, const struct tool *tool)
{
    *out = (struct tool_effect){0};
    struct named_effect named = read_named_effect(out, tool->name);
    enum verb_effect described = read_described_effect(out, tool->description);
    unsigned stated = wt__tool_actions(tool);
    if (stated == ACTION_CREATE && named.effect == VERB_UNKNOWN && described == VERB_READS)
        stated = 0; /* many queries are sent by POST */
    if (stated != 0)
        out->acts = is_acting_action(stated);
    else if (is_destructive(tool))
        out->acts = true;
    else if (named.effect == VERB_UNKNOWN || (named.noun && described == VERB_READS))
        out->acts = described == VERB_ACTS;
    else
        /* "add" of two numbers has no effect, unlike "add" of a user. */
        out->acts = named.effect == VERB_ACTS && !wt__text_has_words(tool->description, "numbers") &&
                    !wt__text_has_words(tool->description, "integers");
}
