/* policy.c: effects of tools, kinds of faces, and the parsing and decisions of policies (policy.h). */
#include "gateway/policy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/str.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "whichtool.h"

/* ---------------------------------------------------------------- effects and faces */

static const char *const effect_words[EFFECTS] = {"read", "write", "destructive"};

enum effect wt__effect_of(const json_t *definition)
{
    const json_t *annotations = wt__json_object(definition, "annotations");
    if (wt__json_bool(annotations, "readOnlyHint", false))
        return EFFECT_READ;
    return wt__json_bool(annotations, "destructiveHint", true) ? EFFECT_DESTROY : EFFECT_WRITE;
}

const char *wt__effect_word(enum effect effect)
{
    return effect_words[effect];
}

int wt__effect_parse(struct str word)
{
    for (int i = 0; i < EFFECTS; i++)
        if (wt__str_equal(word, wt__str(effect_words[i])))
            return i;
    return -1;
}

const char *const wt__face_tool_names[FACE_TOOLS] = {
    [FACE_SEARCH_TOOLS] = "search_tools",
    [FACE_DETAILS] = "get_tool_details",
    [FACE_FIRST_CALL + EFFECT_READ] = "call_read",
    [FACE_FIRST_CALL + EFFECT_WRITE] = "call_write",
    [FACE_FIRST_CALL + EFFECT_DESTROY] = "call_destructive",
    [FACE_READ_MORE] = "read_more",
};

struct policy_patterns {
    const char **items; /* [count] */
    size_t count;
    bool given; /* true if the file has the list; if not, every name matches */
};

struct policy_rule {
    struct policy_patterns keys, servers, tools; /* the rule applies if all three and the effect match */
    bool effects[EFFECTS];                       /* true for the effects that the rule covers */
    bool denies;                                 /* the rule denies; false if it allows */
};

struct policy_rules {
    struct policy_rule *items; /* [count] */
    size_t count;
};

struct policy_profile {
    const char *name;
    enum face_kind face;
    struct policy_rules rules;
};

struct policy {
    struct policy_rules rules;
    struct policy_patterns repaired; /* servers whose tools' arguments are repaired; an empty list for `false` */
    struct policy_profile *profiles; /* [profile_count] */
    size_t profile_count;
    size_t rule_count;                    /* number of rules, including those of the profiles */
    char revision[POLICY_REVISION_BYTES]; /* beginning of a hash of the file */
    struct arena arena;
};

/* ---------------------------------------------------------------- reading */

struct policy_reader {
    struct policy *policy;
    const char *file; /* path of the policy, for messages */
    wt_error *err;
};

/* Fails with WT_EFORMAT. pointer: JSON pointer of the fault, "" for the whole file. */
static int fail_policy(const struct policy_reader *r, const char *pointer, const char *words)
{
    return wt__fail(r->err, WT_EFORMAT, "%s%s%s: %s", r->file, *pointer ? ", " : "", pointer, words);
}

/* Checks that `object` is an object and has no other members than `known`, which ends in NULL. Without this check, a
 * misspelt member of a rule would be ignored, and the rule would allow too much. */
static int check_policy_members(const struct policy_reader *r, const json_t *object, const char *const *known,
                                const char *pointer)
{
    const char *key;
    json_t *value;
    if (!json_is_object(object))
        return fail_policy(r, pointer, "must be an object");
    json_object_foreach((json_t *)object, key, value)
    {
        bool is_known = false;
        for (size_t i = 0; known[i]; i++)
            is_known |= strcmp(key, known[i]) == 0;
        char words[160];
        snprintf(words, sizeof words, "unknown member \"%.80s\"", key);
        if (!is_known)
            return fail_policy(r, pointer, words);
    }
    return 0;
}

static int read_patterns(const struct policy_reader *r, const json_t *rule, const char *member, const char *pointer,
                         struct policy_patterns *out)
{
    const json_t *list = json_object_get(rule, member);
    char at[160];
    if (!list)
        return 0;
    snprintf(at, sizeof at, "%s/%s", pointer, member);
    if (!json_is_array(list))
        return fail_policy(r, at, "must be a list of names");
    out->given = true;
    out->items = wt__arena_array(&r->policy->arena, const char *, json_array_size(list) + 1);
    WT_CHECK_ALLOC(out->items, r->err);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *text = json_string_value(json_array_get(list, i));
        if (!text || strlen(text) > WT_MAX_PATTERN_BYTES)
            return fail_policy(r, at, "must be a list of names");
        out->items[out->count] = wt__arena_copy(&r->policy->arena, wt__str(text));
        WT_CHECK_ALLOC(out->items[out->count], r->err);
        out->count++;
    }
    return 0;
}

static int read_effects(const struct policy_reader *r, const json_t *rule, const char *pointer, struct policy_rule *out)
{
    const json_t *list = json_object_get(rule, "effects");
    char at[160];
    for (int i = 0; i < EFFECTS; i++)
        out->effects[i] = !list;
    if (!list)
        return 0;
    snprintf(at, sizeof at, "%s/effects", pointer);
    for (size_t i = 0; i < json_array_size(list) || !json_is_array(list); i++) {
        int effect = wt__effect_parse(wt__str(json_string_value(json_array_get(list, i))));
        if (effect < 0)
            return fail_policy(r, at, "must be a list of \"read\", \"write\" and \"destructive\"");
        out->effects[effect] = true;
    }
    return 0;
}

static int read_rule(const struct policy_reader *r, const json_t *from, const char *pointer, struct policy_rule *out)
{
    static const char *const known[] = {"keys", "servers", "tools", "effects", "deny", NULL};
    const json_t *denies = json_object_get(from, "deny");
    WT_TRY(check_policy_members(r, from, known, pointer));
    WT_TRY(read_patterns(r, from, "keys", pointer, &out->keys));
    WT_TRY(read_patterns(r, from, "servers", pointer, &out->servers));
    WT_TRY(read_patterns(r, from, "tools", pointer, &out->tools));
    WT_TRY(read_effects(r, from, pointer, out));
    if (denies && !json_is_boolean(denies))
        return fail_policy(r, pointer, "\"deny\" must be true or false");
    out->denies = json_is_true(denies);
    return 0;
}

static int read_rules(const struct policy_reader *r, const json_t *object, const char *pointer,
                      struct policy_rules *out)
{
    const json_t *list = json_object_get(object, "rules");
    size_t count = json_array_size(list);
    if (!json_is_array(list))
        return fail_policy(r, pointer, "\"rules\" must be a list");
    r->policy->rule_count += count;
    if (r->policy->rule_count > POLICY_RULES_MAX)
        return wt__fail(r->err, WT_ETOOLONG, "%s has more than %d rules", r->file, POLICY_RULES_MAX);
    out->items = wt__arena_array(&r->policy->arena, struct policy_rule, count + 1);
    WT_CHECK_ALLOC(out->items, r->err);
    for (; out->count < count; out->count++) {
        char at[128];
        snprintf(at, sizeof at, "%s/rules/%zu", pointer, out->count);
        WT_TRY(read_rule(r, json_array_get(list, out->count), at, &out->items[out->count]));
    }
    return 0;
}

static bool is_profile_name(const char *name)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    size_t len = strlen(name);
    return len > 0 && len <= POLICY_NAME_BYTES_MAX && strspn(name, allowed) == len;
}

static int read_profile(const struct policy_reader *r, const char *name, const json_t *from, struct policy_profile *out)
{
    static const char *const known[] = {"face", "rules", NULL};
    char at[POLICY_NAME_BYTES_MAX + 16];
    if (!is_profile_name(name))
        return fail_policy(r, "/profiles", "the name of a profile must be 1 to 64 letters, digits, '-' or '_'");
    snprintf(at, sizeof at, "/profiles/%s", name);
    WT_TRY(check_policy_members(r, from, known, at));
    int kind = json_object_get(from, "face") ? wt__face_kind_parse(wt__json_str(from, "face")) : FACE_AUTO;
    if (kind < 0)
        return fail_policy(r, at, "\"face\" must be one of " FACE_KINDS(FACE_KIND_WORD, ", "));
    out->face = (enum face_kind)kind;
    out->name = wt__arena_copy(&r->policy->arena, wt__str(name));
    WT_CHECK_ALLOC(out->name, r->err);
    return read_rules(r, from, at, &out->rules);
}

static int read_profiles(const struct policy_reader *r, const json_t *root)
{
    json_t *profiles = json_object_get(root, "profiles"), *profile;
    struct policy *policy = r->policy;
    const char *name;
    if (!profiles)
        return 0;
    if (!json_is_object(profiles) || json_object_size(profiles) > POLICY_PROFILES_MAX)
        return fail_policy(r, "/profiles", "must be an object of at most 32 profiles");
    policy->profiles = wt__arena_array(&policy->arena, struct policy_profile, json_object_size(profiles) + 1);
    WT_CHECK_ALLOC(policy->profiles, r->err);
    json_object_foreach(profiles, name, profile)
    {
        WT_TRY(read_profile(r, name, profile, &policy->profiles[policy->profile_count++]));
    }
    return 0;
}

static int read_repairs(const struct policy_reader *r, const json_t *root)
{
    static const char member[] = "repairArguments";
    const json_t *repairs = json_object_get(root, member);
    if (json_is_array(repairs))
        return read_patterns(r, root, member, "", &r->policy->repaired);
    if (repairs && !json_is_boolean(repairs))
        return fail_policy(r, "/repairArguments", "must be true, false or a list of servers");
    r->policy->repaired.given = json_is_false(repairs);
    return 0;
}

/* Parses the text and reads its members. */
static int read_policy(const struct policy_reader *r, struct str text)
{
    static const char *const known[] = {"rules", "profiles", "repairArguments", NULL};
    json_auto_t *root = NULL;
    wt_error why;
    int rc = wt__json_parse_relaxed(&root, text, &why);
    if (rc < 0)
        return rc == WT_ENOMEM ? wt__fail_nomem(r->err) : fail_policy(r, "", why.message);
    WT_TRY(check_policy_members(r, root, known, ""));
    WT_TRY(read_rules(r, root, "", &r->policy->rules));
    WT_TRY(read_profiles(r, root));
    return read_repairs(r, root);
}

int wt__policy_parse(struct policy **out, struct str text, const char *file, wt_error *err)
{
    struct policy *policy = calloc(1, sizeof *policy);
    unsigned char digest[32];
    char hex[65];
    *out = NULL;
    WT_CHECK_ALLOC(policy, err);
    wt__sha256(text.ptr, text.len, digest);
    wt__sha256_hex(digest, hex);
    memcpy(policy->revision, hex, POLICY_REVISION_BYTES - 1);
    int rc = read_policy(&(struct policy_reader){policy, file, err}, text);
    if (rc < 0)
        wt__policy_close(policy);
    else
        *out = policy;
    return rc;
}

int wt__policy_read(struct policy **out, const char *path, wt_error *err)
{
    WT_AUTO_FREE char *text = NULL;
    size_t len = 0;
    *out = NULL;
    WT_TRY(wt__file_read(&text, &len, path, POLICY_BYTES_MAX, err));
    return wt__policy_parse(out, (struct str){text, len}, path, err);
}

void wt__policy_close(struct policy *policy)
{
    if (!policy)
        return;
    wt__arena_dispose(&policy->arena);
    free(policy);
}

const char *wt__policy_revision(const struct policy *policy)
{
    return policy ? policy->revision : "none";
}

size_t wt__policy_profile_count(const struct policy *policy)
{
    return policy ? policy->profile_count : 0;
}

const char *wt__policy_profile_name(const struct policy *policy, size_t index)
{
    return policy->profiles[index].name;
}

enum face_kind wt__policy_profile_face(const struct policy *policy, size_t index)
{
    return policy->profiles[index].face;
}

int wt__face_kind_parse(struct str word)
{
#define WORD(id, word, shows) word,
    static const char *const words[] = {FACE_KINDS(WORD, )};
    for (int kind = 0; kind < FACE_KIND_COUNT; kind++)
        if (wt__str_equal(word, wt__str(words[kind])))
            return kind;
    return -1;
}

/* ---------------------------------------------------------------- deciding */

static bool matches_patterns(const struct policy_patterns *patterns, const char *name)
{
    for (size_t i = 0; i < patterns->count; i++)
        if (wt__glob_matches(wt__str(patterns->items[i]), wt__str(name)))
            return true;
    return !patterns->given;
}

static bool rules_allow(const struct policy_rules *rules, const struct policy_question *question)
{
    bool allowed = false;
    for (size_t i = 0; i < rules->count; i++) {
        const struct policy_rule *rule = &rules->items[i];
        bool names_tool = matches_patterns(&rule->tools, question->tool) ||
                          (question->own_name && matches_patterns(&rule->tools, question->own_name));
        if (!rule->effects[question->effect] || !matches_patterns(&rule->keys, question->principal) ||
            !matches_patterns(&rule->servers, question->server) || !names_tool)
            continue;
        if (rule->denies)
            return false;
        allowed = true;
    }
    return allowed;
}

/* Returns the rules of a profile, or NULL if it does not exist. */
static const struct policy_rules *find_profile_rules(const struct policy *policy, const char *profile)
{
    for (size_t i = 0; i < policy->profile_count; i++)
        if (strcmp(policy->profiles[i].name, profile) == 0)
            return &policy->profiles[i].rules;
    return NULL;
}

bool wt__policy_allows(const struct policy *policy, const struct policy_question *question)
{
    if (!policy)
        return !question->profile;
    if (!rules_allow(&policy->rules, question))
        return false;
    if (!question->profile)
        return true;
    const struct policy_rules *narrower = find_profile_rules(policy, question->profile);
    return narrower && rules_allow(narrower, question);
}

/* See wt__policy_allows_server. Ignores rules with a list of tools, and denying rules that do not cover all effects. */
static bool rules_allow_server(const struct policy_rules *rules, const char *principal, const char *server)
{
    bool allowed = false;
    for (size_t i = 0; i < rules->count; i++) {
        const struct policy_rule *rule = &rules->items[i];
        bool whole = !rule->tools.given;
        for (int e = 0; rule->denies && e < EFFECTS; e++)
            whole &= rule->effects[e];
        if (!whole || !matches_patterns(&rule->keys, principal) || !matches_patterns(&rule->servers, server))
            continue;
        if (rule->denies)
            return false;
        allowed = true;
    }
    return allowed;
}

bool wt__policy_allows_server(const struct policy *policy, const char *principal, const char *profile,
                              const char *server)
{
    if (!policy)
        return !profile;
    const struct policy_rules *narrower = profile ? find_profile_rules(policy, profile) : NULL;
    return rules_allow_server(&policy->rules, principal, server) &&
           (!profile || (narrower && rules_allow_server(narrower, principal, server)));
}

bool wt__policy_repairs(const struct policy *policy, const char *server)
{
    if (!policy)
        return true;
    const struct policy_patterns *repaired = &policy->repaired;
    return server ? matches_patterns(repaired, server) : !repaired->given || repaired->count > 0;
}
