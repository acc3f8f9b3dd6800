/* Tests policy files and their decisions with a table. Also draws random policies, and evaluates their rules with a
 * second, simple implementation. Each list, search and call of the gateway must agree with this implementation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "gateway/internal.h"
#include "gateway/engine_with_servers.h"
#include "gateway/upstream.h"

/* ---------------------------------------------------------------- decisions */

#define READ EFFECT_READ
#define WRITE EFFECT_WRITE
#define DESTROY EFFECT_DESTROY

static const struct {
    const char *name, *text;
    struct policy_question question;
    bool allowed;
} decisions[] = {
    {"a policy without rules allows nothing", "{\"rules\":[]}", {"a", NULL, "s", "t", READ, NULL}, false},
    {"a rule without lists allows everything", "{\"rules\":[{}]}", {"", NULL, "s", "t", DESTROY, NULL}, true},
    {"a rule for the caller's key matches",
     "{\"rules\":[{\"keys\":[\"a\"]}]}",
     {"a", NULL, "s", "t", READ, NULL},
     true},
    {"a rule for another key does not match",
     "{\"rules\":[{\"keys\":[\"a\"]}]}",
     {"b", NULL, "s", "t", READ, NULL},
     false},
    {"a rule for a key does not match a caller without a key",
     "{\"rules\":[{\"keys\":[\"a\"]}]}",
     {"", NULL, "s", "t", READ, NULL},
     false},
    {"an empty pattern matches a caller without a key",
     "{\"rules\":[{\"keys\":[\"\"]}]}",
     {"", NULL, "s", "t", READ, NULL},
     true},
    {"a pattern matches the caller's key",
     "{\"rules\":[{\"keys\":[\"x\",\"ci-*\"]}]}",
     {"ci-7", NULL, "s", "t", READ, NULL},
     true},
    {"a key that looks like a pattern is plain text",
     "{\"rules\":[{\"keys\":[\"ci-7\"]}]}",
     {"ci-*", NULL, "s", "t", READ, NULL},
     false},
    {"an empty list matches nothing", "{\"rules\":[{\"keys\":[]}]}", {"a", NULL, "s", "t", READ, NULL}, false},
    {"a pattern matches the server", "{\"rules\":[{\"servers\":[\"s?\"]}]}", {"a", NULL, "s1", "t", READ, NULL}, true},
    {"a pattern does not match another server",
     "{\"rules\":[{\"servers\":[\"s?\"]}]}",
     {"a", NULL, "s", "t", READ, NULL},
     false},
    {"a pattern is case-sensitive",
     "{\"rules\":[{\"servers\":[\"GitHub\"]}]}",
     {"a", NULL, "github", "t", READ, NULL},
     false},
    {"a pattern matches the tool",
     "{\"rules\":[{\"tools\":[\"get_*\"]}]}",
     {"a", NULL, "s", "get_x", READ, NULL},
     true},
    {"a pattern of tools does not match the server's name",
     "{\"rules\":[{\"tools\":[\"get_*\"]}]}",
     {"a", NULL, "get_", "t", READ, NULL},
     false},
    {"a tool is allowed by its own name",
     "{\"rules\":[{\"tools\":[\"get\"]}]}",
     {"a", NULL, "s", "get~2", READ, "get"},
     true},
    {"a tool is allowed by its name in the catalogue",
     "{\"rules\":[{\"tools\":[\"get~2\"]}]}",
     {"a", NULL, "s", "get~2", READ, "get"},
     true},
    {"a tool is denied by its own name",
     "{\"rules\":[{},{\"deny\":true,\"tools\":[\"get\"]}]}",
     {"a", NULL, "s", "get~2", READ, "get"},
     false},
    {"a tool is denied by its name in the catalogue",
     "{\"rules\":[{},{\"deny\":true,\"tools\":[\"get~2\"]}]}",
     {"a", NULL, "s", "get~2", READ, "get"},
     false},
    {"a rule for the tool's effect matches",
     "{\"rules\":[{\"effects\":[\"read\",\"write\"]}]}",
     {"a", NULL, "s", "t", WRITE, NULL},
     true},
    {"a rule for other effects does not match",
     "{\"rules\":[{\"effects\":[\"read\",\"write\"]}]}",
     {"a", NULL, "s", "t", DESTROY, NULL},
     false},
    {"an empty list of effects matches no tool",
     "{\"rules\":[{\"effects\":[]}]}",
     {"a", NULL, "s", "t", READ, NULL},
     false},
    {"a rule does not match if one of its lists does not",
     "{\"rules\":[{\"keys\":[\"a\"],\"servers\":[\"s\"],\"tools\":[\"t\"],\"effects\":[\"read\"]}]}",
     {"a", NULL, "s", "t", WRITE, NULL},
     false},
    {"lists of two rules are not combined",
     "{\"rules\":[{\"keys\":[\"a\"],\"tools\":[\"x\"]},{\"keys\":[\"b\"],\"tools\":[\"t\"]}]}",
     {"a", NULL, "s", "t", READ, NULL},
     false},
    {"a denying rule before an allowing rule wins",
     "{\"rules\":[{\"deny\":true,\"tools\":[\"t\"]},{}]}",
     {"a", NULL, "s", "t", READ, NULL},
     false},
    {"a denying rule after an allowing rule wins",
     "{\"rules\":[{},{\"deny\":true,\"tools\":[\"t\"]}]}",
     {"a", NULL, "s", "t", READ, NULL},
     false},
    {"a denying rule for another tool does not match",
     "{\"rules\":[{},{\"deny\":true,\"tools\":[\"t\"]}]}",
     {"a", NULL, "s", "u", READ, NULL},
     true},
    {"a denying rule for the tool's effect wins",
     "{\"rules\":[{},{\"deny\":true,\"effects\":[\"destructive\"]}]}",
     {"", NULL, "s", "t", DESTROY, NULL},
     false},
    {"a rule with \"deny\": false allows", "{\"rules\":[{\"deny\":false}]}", {"a", NULL, "s", "t", READ, NULL}, true},
    {"comments and trailing commas are accepted",
     "{/* who */\"rules\":[{},],// so\n}",
     {"a", NULL, "s", "t", READ, NULL},
     true},
    {"a tool that the profile does not allow is denied",
     "{\"rules\":[{}],\"profiles\":{\"p\":{\"rules\":[{\"effects\":[\"read\"]}]}}}",
     {"a", "p", "s", "t", WRITE, NULL},
     false},
    {"a tool that the profile and the general rules allow is allowed",
     "{\"rules\":[{}],\"profiles\":{\"p\":{\"rules\":[{\"effects\":[\"read\"]}]}}}",
     {"a", "p", "s", "t", READ, NULL},
     true},
    {"a tool that only the profile allows is denied",
     "{\"rules\":[{\"keys\":[\"b\"]}],\"profiles\":{\"p\":{\"rules\":[{}]}}}",
     {"a", "p", "s", "t", READ, NULL},
     false},
    {"a denying rule of a profile does not apply without the profile",
     "{\"rules\":[{}],\"profiles\":{\"p\":{\"rules\":[{},{\"deny\":true}]}}}",
     {"a", NULL, "s", "t", READ, NULL},
     true},
    {"an unknown profile allows nothing",
     "{\"rules\":[{}],\"profiles\":{\"p\":{\"rules\":[{}]}}}",
     {"a", "q", "s", "t", READ, NULL},
     false},
    {"a profile allows nothing if the policy has no profiles",
     "{\"rules\":[{}]}",
     {"a", "p", "s", "t", READ, NULL},
     false},
};

static void decides_by_rules_and_profiles(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof decisions / sizeof *decisions; i++) {
        struct policy *policy;
        if (wt__policy_parse(&policy, wt__str(decisions[i].text), "p.json", &err) < 0)
            fail_msg("%s: %s", decisions[i].name, err.message);
        if (wt__policy_allows(policy, &decisions[i].question) != decisions[i].allowed)
            fail_msg("%s", decisions[i].name);
        wt__policy_close(policy);
    }
    assert_true(wt__policy_allows(NULL, &(struct policy_question){"", NULL, "s", "t", DESTROY, NULL}));
    assert_false(wt__policy_allows(NULL, &(struct policy_question){"", "p", "s", "t", READ, NULL}));
}

/* Decisions about all resources and prompts of a server, which have neither an effect nor a tool name. */
static const struct {
    const char *name, *text, *principal, *profile, *server;
    bool allowed;
} servers_decided[] = {
    {"a policy without rules allows no server", "{\"rules\":[]}", "a", NULL, "s", false},
    {"a rule without lists allows the server", "{\"rules\":[{}]}", "a", NULL, "s", true},
    {"a rule for tools does not allow the server", "{\"rules\":[{\"tools\":[\"*\"]}]}", "a", NULL, "s", false},
    {"a rule for one effect allows the server", "{\"rules\":[{\"effects\":[\"read\"]}]}", "a", NULL, "s", true},
    {"a rule for another server does not match", "{\"rules\":[{\"servers\":[\"t\"]}]}", "a", NULL, "s", false},
    {"a rule for another key does not match", "{\"rules\":[{\"keys\":[\"b\"]}]}", "a", NULL, "s", false},
    {"a denying rule for the server wins", "{\"rules\":[{},{\"deny\":true,\"servers\":[\"s\"]}]}", "a", NULL, "s",
     false},
    {"a denying rule for one tool does not deny the server", "{\"rules\":[{},{\"deny\":true,\"tools\":[\"t\"]}]}", "a",
     NULL, "s", true},
    {"a denying rule for one effect does not deny the server",
     "{\"rules\":[{},{\"deny\":true,\"effects\":[\"write\"]}]}", "a", NULL, "s", true},
    {"a server that the profile does not allow is denied", "{\"rules\":[{}],\"profiles\":{\"p\":{\"rules\":[]}}}", "a",
     "p", "s", false},
    {"a server that only the profile allows is denied", "{\"rules\":[],\"profiles\":{\"p\":{\"rules\":[{}]}}}", "a",
     "p", "s", false},
    {"an unknown profile allows no server", "{\"rules\":[{}]}", "a", "p", "s", false},
};

static void allows_or_denies_whole_servers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof servers_decided / sizeof *servers_decided; i++) {
        struct policy *policy;
        if (wt__policy_parse(&policy, wt__str(servers_decided[i].text), "p.json", &err) < 0)
            fail_msg("%s: %s", servers_decided[i].name, err.message);
        if (wt__policy_allows_server(policy, servers_decided[i].principal, servers_decided[i].profile,
                                     servers_decided[i].server) != servers_decided[i].allowed)
            fail_msg("%s", servers_decided[i].name);
        wt__policy_close(policy);
    }
}

/* ---------------------------------------------------------------- invalid files */

static const struct {
    const char *name, *text, *says;
} broken[] = {
    {"empty", "", "p.json: "},
    {"not JSON", "{\"rules\":[}", "p.json: "},
    {"a list", "[]", "p.json: must be an object"},
    {"no rules", "{}", "p.json: \"rules\" must be a list"},
    {"rules of another type", "{\"rules\":{}}", "p.json: \"rules\" must be a list"},
    {"duplicate member", "{\"rules\":[],\"rules\":[{}]}", "p.json: "},
    {"unknown member", "{\"rules\":[],\"defaults\":{}}", "p.json: unknown member \"defaults\""},
    {"a rule of another type", "{\"rules\":[{},7]}", "p.json, /rules/1: must be an object"},
    {"a misspelt list", "{\"rules\":[{\"server\":[\"s\"]}]}", "p.json, /rules/0: unknown member \"server\""},
    {"keys of another type", "{\"rules\":[{\"keys\":\"a\"}]}", "p.json, /rules/0/keys: must be a list of names"},
    {"a key of another type", "{\"rules\":[{\"keys\":[\"a\",1]}]}", "p.json, /rules/0/keys: must be a list of names"},
    {"null instead of a list", "{\"rules\":[{\"tools\":null}]}", "p.json, /rules/0/tools: must be a list of names"},
    {"a NUL in a pattern", "{\"rules\":[{\"tools\":[\"a\\u0000*\"]}]}", "p.json: "},
    {"unknown effect", "{\"rules\":[{\"effects\":[\"reads\"]}]}",
     "p.json, /rules/0/effects: must be a list of \"read\""},
    {"effects of another type", "{\"rules\":[{\"effects\":\"read\"}]}",
     "p.json, /rules/0/effects: must be a list of \"read\""},
    {"null effects", "{\"rules\":[{\"effects\":null}]}", "p.json, /rules/0/effects: must be a list of \"read\""},
    {"deny of another type", "{\"rules\":[{\"deny\":\"yes\"}]}", "p.json, /rules/0: \"deny\" must be true or false"},
    {"profiles of another type", "{\"rules\":[],\"profiles\":[]}",
     "p.json, /profiles: must be an object of at most 32"},
    {"an invalid profile name", "{\"rules\":[],\"profiles\":{\"a/b\":{\"rules\":[]}}}",
     "p.json, /profiles: the name of a profile must be"},
    {"a profile without a name", "{\"rules\":[],\"profiles\":{\"\":{\"rules\":[]}}}",
     "p.json, /profiles: the name of a profile must be"},
    {"repairs of another type", "{\"rules\":[],\"repairArguments\":\"no\"}",
     "p.json, /repairArguments: must be true, false or a list of servers"},
    {"repairs with a number", "{\"rules\":[],\"repairArguments\":[1]}",
     "p.json, /repairArguments: must be a list of names"},
    {"a profile of another type", "{\"rules\":[],\"profiles\":{\"p\":[]}}", "p.json, /profiles/p: must be an object"},
    {"a profile without rules", "{\"rules\":[],\"profiles\":{\"p\":{}}}",
     "p.json, /profiles/p: \"rules\" must be a list"},
    {"unknown member of a profile", "{\"rules\":[],\"profiles\":{\"p\":{\"rules\":[],\"keys\":[]}}}",
     "p.json, /profiles/p: unknown member \"keys\""},
    {"unknown face", "{\"rules\":[],\"profiles\":{\"p\":{\"face\":\"all\",\"rules\":[]}}}",
     "p.json, /profiles/p: \"face\" must be one of search, direct, auto"},
    {"a face of another type", "{\"rules\":[],\"profiles\":{\"p\":{\"face\":1,\"rules\":[]}}}",
     "p.json, /profiles/p: \"face\" must be one of"},
    {"an invalid rule of a profile", "{\"rules\":[],\"profiles\":{\"p\":{\"rules\":[{},{\"tools\":[{}]}]}}}",
     "p.json, /profiles/p/rules/1/tools: must be a list of names"},
};

static void reports_errors_with_their_place(void **state)
{
    struct policy *policy;
    (void)state;
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        int rc = wt__policy_parse(&policy, wt__str(broken[i].text), "p.json", &err);
        if (rc != WT_EFORMAT || policy || !wt__str_starts(wt__str(err.message), wt__str(broken[i].says)))
            fail_msg("%s: %d, %s", broken[i].name, rc, err.message);
    }
    assert_int_equal(wt__policy_read(&policy, "/nowhere/policy.json", &err), WT_ENOTFOUND);
    assert_null(policy);
}

static void limits_rules_and_profiles(void **state)
{
    struct buffer text = {0};
    struct policy *policy;
    (void)state;
    wt__buffer_text(&text, "{\"rules\":[{\"tools\":[\"");
    for (int i = 0; i <= WT_MAX_PATTERN_BYTES; i++)
        wt__buffer_char(&text, 'a');
    wt__buffer_text(&text, "\"]}]}");
    assert_int_equal(wt__policy_parse(&policy, wt__buffer_view(&text), "p", &err), WT_EFORMAT);
    for (int more = 0; more < 2; more++) { /* the limit counts the rules of all lists */
        wt__buffer_clear(&text);
        wt__buffer_text(&text, "{\"rules\":[{}");
        for (int i = 1; i < POLICY_RULES_MAX - 1; i++)
            wt__buffer_text(&text, ",{}");
        wt__buffer_printf(&text, "],\"profiles\":{\"p\":{\"rules\":[{}%s]}}}", more ? ",{}" : "");
        assert_int_equal(wt__policy_parse(&policy, wt__buffer_view(&text), "p", &err), more ? WT_ETOOLONG : 0);
        wt__policy_close(policy);
    }
    for (int count = POLICY_PROFILES_MAX; count <= POLICY_PROFILES_MAX + 1; count++) {
        wt__buffer_clear(&text);
        wt__buffer_text(&text, "{\"rules\":[],\"profiles\":{");
        for (int i = 0; i < count; i++)
            wt__buffer_printf(&text, "%s\"p%d\":{\"face\":\"direct\",\"rules\":[]}", i ? "," : "", i);
        wt__buffer_text(&text, "}}");
        int rc = wt__policy_parse(&policy, wt__buffer_view(&text), "p", &err);
        assert_int_equal(rc, count > POLICY_PROFILES_MAX ? WT_EFORMAT : 0);
        if (rc == 0) {
            assert_int_equal(wt__policy_profile_count(policy), POLICY_PROFILES_MAX);
            assert_string_equal(wt__policy_profile_name(policy, 31), "p31");
            assert_int_equal(wt__policy_profile_face(policy, 31), FACE_DIRECT);
        }
        wt__policy_close(policy);
    }
    wt__buffer_dispose(&text);
}

static const struct {
    const char *text, *server; /* server: NULL for the gateway's own tools */
    bool is_repaired;
} repaired[] = {
    {"{\"rules\":[]}", "s", true},
    {"{\"rules\":[],\"repairArguments\":true}", "s", true},
    {"{\"rules\":[],\"repairArguments\":false}", "s", false},
    {"{\"rules\":[],\"repairArguments\":false}", NULL, false},
    {"{\"rules\":[],\"repairArguments\":[]}", "s", false},
    {"{\"rules\":[],\"repairArguments\":[]}", NULL, false},
    {"{\"rules\":[],\"repairArguments\":[\"a\",\"s*\"]}", "s1", true},
    {"{\"rules\":[],\"repairArguments\":[\"a\",\"s*\"]}", "b", false},
    {"{\"rules\":[],\"repairArguments\":[\"a\"]}", NULL, true},
};

static void selects_servers_for_repair(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof repaired / sizeof *repaired; i++) {
        struct policy *policy;
        SOUND(wt__policy_parse(&policy, wt__str(repaired[i].text), "p.json", &err));
        if (wt__policy_repairs(policy, repaired[i].server) != repaired[i].is_repaired)
            fail_msg("%s, %s", repaired[i].text, repaired[i].server ? repaired[i].server : "own tools");
        wt__policy_close(policy);
    }
    assert_true(wt__policy_repairs(NULL, "s"));
    assert_true(wt__policy_repairs(NULL, NULL));
}

/* Every change of the text gives another revision. */
static void revisions_depend_on_every_byte(void **state)
{
    struct policy *one, *same, *other;
    (void)state;
    assert_int_equal(wt__policy_parse(&one, STR("{\"rules\":[]}"), "p", &err), 0);
    assert_int_equal(wt__policy_parse(&same, STR("{\"rules\":[]}"), "q", &err), 0);
    assert_int_equal(wt__policy_parse(&other, STR("{\"rules\":[] }"), "p", &err), 0);
    assert_int_equal(strlen(wt__policy_revision(one)), POLICY_REVISION_BYTES - 1);
    assert_string_equal(wt__policy_revision(one), wt__policy_revision(same));
    assert_string_not_equal(wt__policy_revision(one), wt__policy_revision(other));
    assert_string_equal(wt__policy_revision(NULL), "none");
    wt__policy_close(one);
    wt__policy_close(same);
    wt__policy_close(other);
    wt__policy_close(NULL);
}

/* ---------------------------------------------------------------- random policies: second evaluation */

#if defined(__SANITIZE_THREAD__)
#define POLICIES 200 /* sanitizers make a run ten times slower */
#elif defined(__SANITIZE_ADDRESS__)
#define POLICIES 1000
#else
#define POLICIES 10000
#endif

enum {
    SERVERS = 6,
    SERVER_TOOLS = 48, /* tools per server */
    TOOLS = SERVERS * SERVER_TOOLS,
    RULES_MOST = 5,
    PATTERNS_MOST = 3,
    PATTERN_BYTES = 24,
    FOUND_MOST = 50,
};

static const char *const server_names[SERVERS] = {"github", "gitlab", "files", "mail", "git", "a*b"};
static const char *const principals[] = {"", "alice", "ci-1", "ci-2", "c*"};
static const char *const profiles[] = {NULL, "-", "reading", "absent"}; /* "absent" is never defined */
enum { PRINCIPALS = sizeof principals / sizeof *principals, PROFILES = sizeof profiles / sizeof *profiles };

static const char *const effect_words[EFFECTS] = {"read", "write", "destructive"};

struct tool_row {
    size_t server;
    char name[40], shown[80];
    int effect;
};

struct simple_patterns {
    bool given;
    size_t count;
    char items[PATTERNS_MOST][PATTERN_BYTES];
};

struct simple_rule {
    struct simple_patterns keys, servers, tools;
    bool effects_given, effects[EFFECTS], denies;
};

struct simple_rules {
    size_t count;
    struct simple_rule items[RULES_MOST];
};

struct random_policy {
    struct simple_rules rules, profiles[2]; /* "-" and "reading" */
};

static struct tool_row tools[TOOLS];

static bool matches_simple_glob(const char *pattern, const char *text)
{
    if (!*pattern)
        return !*text;
    if (*pattern == '*')
        return matches_simple_glob(pattern + 1, text) || (*text && matches_simple_glob(pattern, text + 1));
    return *text && (*pattern == '?' || *pattern == *text) && matches_simple_glob(pattern + 1, text + 1);
}

static bool matches_simple_patterns(const struct simple_patterns *patterns, const char *text)
{
    bool some = false;
    for (size_t i = 0; i < patterns->count; i++)
        some = some || matches_simple_glob(patterns->items[i], text);
    return some || !patterns->given;
}

static bool simple_rules_allow(const struct simple_rules *rules, const char *principal, const struct tool_row *tool)
{
    int let = 0, denied = 0;
    for (size_t i = 0; i < rules->count; i++) {
        const struct simple_rule *rule = &rules->items[i];
        bool hits = matches_simple_patterns(&rule->keys, principal) &&
                    matches_simple_patterns(&rule->servers, server_names[tool->server]) &&
                    matches_simple_patterns(&rule->tools, tool->name) &&
                    (!rule->effects_given || rule->effects[tool->effect]);
        let += hits && !rule->denies;
        denied += hits && rule->denies;
    }
    return let > 0 && denied == 0;
}

static bool may_call(const struct random_policy *policy, size_t principal, size_t profile, const struct tool_row *tool)
{
    return simple_rules_allow(&policy->rules, principals[principal], tool) && profile != 3 &&
           (profile == 0 || simple_rules_allow(&policy->profiles[profile - 1], principals[principal], tool));
}

static bool simple_rules_allow_server(const struct simple_rules *rules, const char *principal, const char *server)
{
    int let = 0, denied = 0;
    for (size_t i = 0; i < rules->count; i++) {
        const struct simple_rule *rule = &rules->items[i];
        bool hits = !rule->tools.given && matches_simple_patterns(&rule->keys, principal) &&
                    matches_simple_patterns(&rule->servers, server);
        bool whole = !rule->effects_given || (rule->effects[0] && rule->effects[1] && rule->effects[2]);
        let += hits && !rule->denies;
        denied += hits && rule->denies && whole;
    }
    return let > 0 && denied == 0;
}

static bool may_read(const struct random_policy *policy, size_t principal, size_t profile, const char *server)
{
    return simple_rules_allow_server(&policy->rules, principals[principal], server) && profile != 3 &&
           (profile == 0 || simple_rules_allow_server(&policy->profiles[profile - 1], principals[principal], server));
}

/* ---------------------------------------------------------------- generation */

static void draw_pattern(struct rng *rng, const char *text, char out[PATTERN_BYTES])
{
    size_t len = strlen(text), at = len > 0 ? wt__rng_below(rng, len) : 0;
    switch (wt__rng_below(rng, 6)) {
    case 0:
        snprintf(out, PATTERN_BYTES, "*");
        break;
    case 1:
        snprintf(out, PATTERN_BYTES, "%.*s*", (int)at, text);
        break;
    case 2:
        snprintf(out, PATTERN_BYTES, "*%s", text + at);
        break;
    case 3:
        snprintf(out, PATTERN_BYTES, "%s", text);
        if (len > 0)
            out[at] = '?';
        break;
    case 4:
        snprintf(out, PATTERN_BYTES, "%.*s*%s", (int)at, text, text + len - (len > 1));
        break;
    default:
        snprintf(out, PATTERN_BYTES, "%s", text);
        break;
    }
}

/* of: 0 for keys, 1 for servers, 2 for tools. */
static void draw_patterns(struct rng *rng, int of, struct simple_patterns *out)
{
    out->given = wt__rng_below(rng, 2) == 0;
    out->count = out->given ? wt__rng_below(rng, PATTERNS_MOST + 1) : 0;
    for (size_t i = 0; i < out->count; i++)
        draw_pattern(rng,
                     of == 0   ? principals[wt__rng_below(rng, PRINCIPALS)]
                     : of == 1 ? server_names[wt__rng_below(rng, SERVERS)]
                               : tools[wt__rng_below(rng, TOOLS)].name,
                     out->items[i]);
}

static void draw_rules(struct rng *rng, struct simple_rules *out)
{
    out->count = wt__rng_below(rng, RULES_MOST + 1);
    for (size_t i = 0; i < out->count; i++) {
        struct simple_rule *rule = &out->items[i];
        draw_patterns(rng, 0, &rule->keys);
        draw_patterns(rng, 1, &rule->servers);
        draw_patterns(rng, 2, &rule->tools);
        rule->effects_given = wt__rng_below(rng, 2) == 0;
        for (size_t e = 0; e < EFFECTS; e++)
            rule->effects[e] = wt__rng_below(rng, 2) == 0;
        rule->denies = wt__rng_below(rng, 4) == 0;
    }
}

static void put_patterns(struct buffer *out, const char *member, const struct simple_patterns *patterns)
{
    if (!patterns->given)
        return;
    wt__buffer_printf(out, "\"%s\":[", member);
    for (size_t i = 0; i < patterns->count; i++) {
        wt__buffer_text(out, i ? "," : "");
        wt__buffer_json(out, wt__str(patterns->items[i]));
    }
    wt__buffer_text(out, "],");
}

static void put_rules(struct buffer *out, const struct simple_rules *rules)
{
    wt__buffer_text(out, "\"rules\":[");
    for (size_t i = 0; i < rules->count; i++) {
        const struct simple_rule *rule = &rules->items[i];
        wt__buffer_text(out, i ? ",{" : "{");
        put_patterns(out, "keys", &rule->keys);
        put_patterns(out, "servers", &rule->servers);
        put_patterns(out, "tools", &rule->tools);
        wt__buffer_text(out, rule->effects_given ? "\"effects\":[" : "");
        for (int e = 0, n = 0; rule->effects_given && e < EFFECTS; e++)
            if (rule->effects[e])
                wt__buffer_printf(out, "%s\"%s\"", n++ ? "," : "", effect_words[e]);
        wt__buffer_printf(out, "%s\"deny\":%s}", rule->effects_given ? "]," : "", rule->denies ? "true" : "false");
    }
    wt__buffer_char(out, ']');
}

static struct policy *draw_policy(struct rng *rng, struct random_policy *out)
{
    struct buffer text = {0};
    struct policy *policy = NULL;
    memset(out, 0, sizeof *out);
    draw_rules(rng, &out->rules);
    draw_rules(rng, &out->profiles[0]);
    draw_rules(rng, &out->profiles[1]);
    wt__buffer_char(&text, '{');
    put_rules(&text, &out->rules);
    for (int i = 0; i < 2; i++) {
        wt__buffer_printf(&text, "%s\"%s\":{", i ? "}," : ",\"profiles\":{", profiles[i + 1]);
        put_rules(&text, &out->profiles[i]);
    }
    wt__buffer_text(&text, "}}}");
    SOUND(wt__policy_parse(&policy, wt__buffer_view(&text), "random", &err));
    wt__buffer_dispose(&text);
    return policy;
}

/* ---------------------------------------------------------------- gateway under test */

static wt_engine *engine;
static struct gateway *gateway;
static struct served_face search[PROFILES], direct[PROFILES];
static struct mcp_peer *search_peers[PROFILES][PRINCIPALS], *direct_peers[PROFILES][PRINCIPALS];

static void make_tools(void)
{
    static const char *const verbs[] = {"get", "list", "create", "update", "delete", "send"};
    static const char *const nouns[] = {"issue", "file", "user", "label", "branch", "note", "page", "tag"};
    static const char *const annotations[] = {"{\"readOnlyHint\":true}",
                                              "{\"readOnlyHint\":false,\"destructiveHint\":false}", "{}"};
    for (size_t i = 0; i < TOOLS; i++) {
        size_t n = i % SERVER_TOOLS;
        tools[i].server = i / SERVER_TOOLS;
        tools[i].effect = (int)((i * 7 + i / 5) % EFFECTS);
        snprintf(tools[i].name, sizeof tools[i].name, "%s_%s", verbs[n / 8], nouns[n % 8]);
    }
    for (size_t s = 0; s < SERVERS; s++) {
        struct buffer text = {0};
        for (size_t n = 0; n < SERVER_TOOLS; n++) {
            const struct tool_row *tool = &tools[s * SERVER_TOOLS + n];
            wt__buffer_printf(&text,
                              "%s{\"name\":\"%s\",\"description\":\"Handles a common thing in %s\",\"inputSchema\":{"
                              "\"type\":\"object\"},\"annotations\":%s}",
                              n ? "," : "{\"tools\":[", tool->name, server_names[s], annotations[tool->effect]);
        }
        wt__buffer_text(&text, "]}");
        put_tools(engine, server_names[s], wt__buffer_view(&text));
        wt__buffer_dispose(&text);
    }
}

/* Reads the shown name of each tool, which is the exported name in the catalogue. */
static void read_shown(void)
{
    struct tool_view *view = wt__gateway_view(gateway);
    assert_int_equal(view->count, TOOLS);
    for (size_t v = 0; v < view->count; v++)
        for (size_t i = 0; i < TOOLS; i++)
            if (strcmp(view->tools[v]->name, tools[i].name) == 0 &&
                strcmp(wt__upstream_name(view->tools[v]->upstream), server_names[tools[i].server]) == 0)
                snprintf(tools[i].shown, sizeof tools[i].shown, "%s", view->tools[v]->shown);
    wt__view_release(view);
}

/* Adds offers to each server, as if the server had listed a resource, a template and a prompt. */
static void put_offers(void)
{
    for (size_t s = 0; s < SERVERS; s++) {
        struct upstream *upstream = gateway->upstreams[s];
        struct upstream_offer *offer = calloc(1, sizeof *offer);
        atomic_init(&offer->refs, 1);
        offer->resources = json_pack("[{s:s+,s:s}]", "uri", "res://of-", server_names[s], "name", "r");
        offer->templates = json_pack("[{s:s++,s:s}]", "uriTemplate", "tem://of-", server_names[s], "/{x}", "name", "t");
        offer->prompts = json_pack("[{s:s+}]", "name", "prompt-of-", server_names[s]);
        assert_true(offer->resources && offer->templates && offer->prompts);
        upstream->offer = offer;
    }
}

static int start_policy_gateway(void **state)
{
    static struct mcp_server servers[SERVERS];
    static const struct mcp_service_options options = {.page_items = 100};
    (void)state;
    engine = open_engine();
    make_tools();
    for (size_t s = 0; s < SERVERS; s++)
        servers[s] = (struct mcp_server){.name = server_names[s], .url = "http://127.0.0.1:1/", .disabled = true};
    SOUND(wt__gateway_open(&gateway, engine, servers, SERVERS, &(struct gateway_options){.bare_names = false}, &err));
    read_shown();
    put_offers();
    for (size_t p = 0; p < PROFILES; p++) {
        const struct face_options search_options = {.kind = FACE_SEARCH, .profile = profiles[p]},
                                  direct_options = {.kind = FACE_DIRECT, .profile = profiles[p]};
        search[p] = face_open(gateway, &search_options, &options);
        direct[p] = face_open(gateway, &direct_options, &options);
        for (size_t i = 0; i < PRINCIPALS; i++) {
            search_peers[p][i] = wt__mcp_peer_open(search[p].service, principals[i], false);
            direct_peers[p][i] = wt__mcp_peer_open(direct[p].service, principals[i], false);
        }
    }
    return 0;
}

static int stop_policy_gateway(void **state)
{
    (void)state;
    for (size_t p = 0; p < PROFILES; p++) {
        for (size_t i = 0; i < PRINCIPALS; i++) {
            wt__mcp_peer_release(search_peers[p][i]);
            wt__mcp_peer_release(direct_peers[p][i]);
        }
        face_close(&search[p]);
        face_close(&direct[p]);
    }
    wt__gateway_close(gateway);
    wt_close(engine);
    return 0;
}

/* ---------------------------------------------------------------- the surfaces */

/* One combination of policy, principal and profile, and the tools it allows. */
struct policy_trial {
    const struct random_policy *policy;
    size_t number, principal, profile;
    bool may[TOOLS];
    size_t count;
    struct rng *rng;
};

static void fail_trial(const struct policy_trial *t, const char *surface, const char *name, const char *said)
{
    fail_msg("policy %zu, principal \"%s\", profile %s: %s: %s\n%.2000s", t->number, principals[t->principal],
             profiles[t->profile] ? profiles[t->profile] : "none", surface, name, said);
}

static size_t find_shown(const char *name, size_t len)
{
    for (size_t i = 0; i < TOOLS; i++)
        if (strlen(tools[i].shown) == len && memcmp(tools[i].shown, name, len) == 0)
            return i;
    return TOOLS;
}

/* Returns the number of tools in an answer. before: text before the name of a tool. met: true for the tools that were
 * found. Fails on a denied, unknown or duplicated tool. */
static size_t count_shown_names(const struct policy_trial *t, const char *surface, const char *said, const char *before,
                                bool *met)
{
    size_t count = 0;
    for (const char *at = said; (at = strstr(at, before));) {
        at += strlen(before);
        size_t len = strcspn(at, "\"\\"), i = find_shown(at, len);
        if (wt__str_starts(wt__str(at), STR("whichtool\",\"version\"")))
            continue; /* text of the gateway itself */
        if (i == TOOLS || !t->may[i] || met[i])
            fail_trial(t, surface, "tool is denied, unknown or duplicated", at);
        met[i] = true;
        count++;
    }
    return count;
}

static void check_direct_pages(const struct policy_trial *t)
{
    bool met[TOOLS] = {false};
    char params[256] = "";
    size_t count = 0, pages = 0;
    for (bool more = true; more; pages++) {
        char *said = ask_modern(&direct[t->profile], direct_peers[t->profile][t->principal], "tools/list", params);
        count += count_shown_names(t, "tools/list", said, "{\"name\":\"", met);
        const char *cursor = strstr(said, "\"nextCursor\":\"");
        more = cursor != NULL;
        if (more)
            snprintf(params, sizeof params, ",\"cursor\":\"%.*s\"", (int)strcspn(cursor + 14, "\""), cursor + 14);
        free(said);
    }
    if (count != t->count || pages != (t->count > 0 ? (t->count + 99) / 100 : 1))
        fail_trial(t, "tools/list", "tools or pages are missing", "");
}

/* The query matches the description of every tool, so that only the policy decides the results. */
static void check_policy_search(const struct policy_trial *t)
{
    bool met[TOOLS] = {false};
    char *said = call_modern(&search[t->profile], search_peers[t->profile][t->principal], "search_tools",
                             "{\"query\":\"handles a common thing\",\"k\":50,\"detail\":\"name\"}");
    size_t count = count_shown_names(t, "search_tools", said, "\"name\":\"", met);
    if (count != (t->count < FOUND_MOST ? t->count : FOUND_MOST))
        fail_trial(t, "search_tools", "tools are missing", said);
    free(said);
}

/* A denied provider looks like an unknown provider. */
static void check_policy_providers(const struct policy_trial *t)
{
    size_t s = wt__rng_below(t->rng, SERVERS), count = 0, near = wt__rng_below(t->rng, 2);
    bool met[TOOLS] = {false};
    char arguments[128];
    snprintf(arguments, sizeof arguments, "{\"query\":\"handles a common thing\",\"k\":50,\"provider\":\"%s%s\"}",
             server_names[s], near ? "x" : "");
    for (size_t i = 0; i < TOOLS; i++)
        count += !near && tools[i].server == s && t->may[i];
    char *said = call_modern(&search[t->profile], search_peers[t->profile][t->principal], "search_tools", arguments);
    if (count_shown_names(t, "search_tools of a provider", said, "\"name\":\"", met) != count ||
        (t->count > 0 && count == 0 && !strstr(said, "\"none_fits\":true")))
        fail_trial(t, "search_tools of a provider", arguments, said);
    free(said);
}

/* The answer does not name a denied tool, unless the request named the tool. */
static void check_policy_details(const struct policy_trial *t)
{
    struct buffer arguments = {0};
    size_t asked[4];
    wt__buffer_text(&arguments, "{\"names\":[");
    for (size_t n = 0; n < 4; n++) {
        asked[n] = wt__rng_below(t->rng, TOOLS);
        const struct tool_row *tool = &tools[asked[n]];
        size_t form = wt__rng_below(t->rng, 4);
        wt__buffer_text(&arguments, n ? ",\"" : "\"");
        if (form == 0) /* id */
            wt__buffer_printf(&arguments, "%s/%s", server_names[tool->server], tool->name);
        else if (form == 1) /* misspelt name */
            wt__buffer_printf(&arguments, "%.*s", (int)strlen(tool->shown) - 1, tool->shown);
        else if (form == 2) /* name common to many servers */
            wt__buffer_text(&arguments, tool->name);
        else
            wt__buffer_text(&arguments, tool->shown);
        wt__buffer_char(&arguments, '"');
    }
    wt__buffer_text(&arguments, "]}");
    char *said =
        call_modern(&search[t->profile], search_peers[t->profile][t->principal], "get_tool_details", arguments.ptr);
    for (size_t i = 0; i < TOOLS; i++) {
        char id[80];
        snprintf(id, sizeof id, "%s/%s", server_names[tools[i].server], tools[i].name);
        bool said_by_us = strstr(arguments.ptr, tools[i].shown) || strstr(arguments.ptr, id);
        if (!t->may[i] && !said_by_us && (strstr(said, tools[i].shown) || strstr(said, id)))
            fail_trial(t, "get_tool_details", tools[i].shown, said);
    }
    for (size_t n = 0; n < 4; n++) {
        char defined[128];
        snprintf(defined, sizeof defined, "\"name\":\"%s\",\"description\"", tools[asked[n]].shown);
        if (!t->may[asked[n]] && strstr(said, defined))
            fail_trial(t, "get_tool_details", tools[asked[n]].shown, said);
    }
    free(said);
    wt__buffer_dispose(&arguments);
}

/* Calls a tool by one of its names with one of the call tools. A call that reaches its server fails, since all
 * servers are disabled. */
static void check_policy_calls(const struct policy_trial *t)
{
    static const char *const call_tools[EFFECTS] = {"call_read", "call_write", "call_destructive"};
    size_t i = wt__rng_below(t->rng, TOOLS), by = wt__rng_below(t->rng, EFFECTS);
    const struct tool_row *tool = &tools[i];
    char arguments[256], name[128];
    snprintf(name, sizeof name, "%s", tool->shown);
    if (wt__rng_below(t->rng, 2) == 0)
        snprintf(name, sizeof name, "%s/%s", server_names[tool->server], tool->name);
    snprintf(arguments, sizeof arguments, "{\"name\":\"%s\"}", name);
    char *said = call_modern(&search[t->profile], search_peers[t->profile][t->principal], call_tools[by], arguments);
    const char *wanted = !t->may[i] ? "unknown tool" : (int)by != tool->effect ? "with call_" : "is disabled";
    if (!strstr(said, wanted) || !strstr(said, "\"isError\":true"))
        fail_trial(t, call_tools[by], name, said);
    free(said);
    said = call_modern(&direct[t->profile], direct_peers[t->profile][t->principal], name, "{}");
    if (!strstr(said, t->may[i] ? "is disabled" : "\"code\":-32602"))
        fail_trial(t, "a direct call", name, said);
    free(said);
}

static void check_policy_offers(const struct policy_trial *t)
{
    static const struct {
        const char *method, *item; /* text of an item in the list */
    } lists[] = {{"resources/list", "res://of-%s\""},
                 {"resources/templates/list", "tem://of-%s/"},
                 {"prompts/list", "prompt-of-%s\""}};
    static const struct {
        const char *method, *params;
    } requests[] = {
        {"resources/read", ",\"uri\":\"res://of-%s\""},
        {"resources/read", ",\"uri\":\"tem://of-%s/1\""},
        {"prompts/get", ",\"name\":\"prompt-of-%s\""},
        {"completion/complete",
         ",\"ref\":{\"type\":\"ref/prompt\",\"name\":\"prompt-of-%s\"},\"argument\":{\"name\":\"a\",\"value\":\"\"}"},
    };
    const struct served_face *face = wt__rng_below(t->rng, 2) ? &search[t->profile] : &direct[t->profile];
    struct mcp_peer *peer = (face == &search[t->profile] ? search_peers : direct_peers)[t->profile][t->principal];
    size_t l = wt__rng_below(t->rng, 3), r = wt__rng_below(t->rng, 4), s = wt__rng_below(t->rng, SERVERS);
    char *said = ask_modern(face, peer, lists[l].method, ""), item[128];
    for (size_t i = 0; i < SERVERS; i++) {
        snprintf(item, sizeof item, lists[l].item, server_names[i]);
        if ((strstr(said, item) != NULL) != may_read(t->policy, t->principal, t->profile, server_names[i]))
            fail_trial(t, lists[l].method, item, said);
    }
    free(said);
    snprintf(item, sizeof item, requests[r].params, server_names[s]);
    said = ask_modern(face, peer, requests[r].method, item);
    bool is_unknown = strstr(said, "\"code\":-32602");
    if (is_unknown == may_read(t->policy, t->principal, t->profile, server_names[s]))
        fail_trial(t, requests[r].method, item, said);
    free(said);
}

static void each_surface_obeys_random_policies(void **state)
{
    struct rng rng;
    size_t none = 0, some = 0, many = 0;
    (void)state;
    wt__rng_seed(&rng, 25);
    for (size_t n = 0; n < POLICIES; n++) {
        struct random_policy drawn;
        struct policy *policy = draw_policy(&rng, &drawn);
        struct policy_trial t = {.policy = &drawn,
                                 .number = n,
                                 .principal = wt__rng_below(&rng, PRINCIPALS),
                                 .profile =
                                     wt__rng_below(&rng, 8) ? wt__rng_below(&rng, 2) * wt__rng_below(&rng, 3) : 3,
                                 .rng = &rng};
        for (size_t i = 0; i < TOOLS; i++)
            t.count += t.may[i] = may_call(&drawn, t.principal, t.profile, &tools[i]);
        *(t.count == 0 ? &none : t.count < FOUND_MOST ? &some : &many) += 1;
        gateway->options.policy = policy;
        if (t.profile == 1) { /* a cached result of another profile must not be used */
            free(call_modern(&search[0], search_peers[0][t.principal], "search_tools",
                             "{\"query\":\"handles a common thing\",\"k\":50}"));
        }
        check_direct_pages(&t);
        check_policy_search(&t);
        check_policy_providers(&t);
        check_policy_details(&t);
        check_policy_calls(&t);
        check_policy_offers(&t);
        gateway->options.policy = NULL;
        wt__policy_close(policy);
    }
    /* Policies that allow no, few and many tools must all occur. */
    assert_true(none > POLICIES / 20 && some > POLICIES / 20 && many > POLICIES / 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decides_by_rules_and_profiles),
        cmocka_unit_test(allows_or_denies_whole_servers),
        cmocka_unit_test(reports_errors_with_their_place),
        cmocka_unit_test(selects_servers_for_repair),
        cmocka_unit_test(limits_rules_and_profiles),
        cmocka_unit_test(revisions_depend_on_every_byte),
        cmocka_unit_test_setup_teardown(each_surface_obeys_random_policies, start_policy_gateway, stop_policy_gateway),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
