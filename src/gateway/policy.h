/* policy.h: effects of tools, kinds of faces, and the operator's policy, which says who may use which tools. */
#ifndef WT_GATEWAY_POLICY_H
#define WT_GATEWAY_POLICY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/json.h"
#include "base/str.h"

/* Effect of calling a tool, from the annotations of its approved definition. A tool without annotations counts as
 * destructive, as MCP's defaults say. */

enum effect { EFFECT_READ, EFFECT_WRITE, EFFECT_DESTROY };
enum { EFFECTS = 3 };

enum effect wt__effect_of(const json_t *definition);
/* Returns "read", "write" or "destructive". wt__effect_parse returns -1 for other words. */
const char *wt__effect_word(enum effect effect);
int wt__effect_parse(struct str word);

/* Kinds of faces (gateway.h). Each row has the word for the kind in options, policies and messages, and its
 * description. face.c has the functions of the kinds. */

#define FACE_KINDS(ROW, BETWEEN)                                                                                       \
    ROW(SEARCH, "search", "tools that search and call")                                                                \
    BETWEEN ROW(DIRECT, "direct", "all tools") BETWEEN ROW(AUTO, "auto", "direct up to 20 tools, else search")

#define FACE_KIND_ID(id, word, shows) FACE_##id,
enum face_kind { FACE_KINDS(FACE_KIND_ID, ) FACE_KIND_COUNT };

#define FACE_KIND_WORD(id, word, shows) word
#define FACE_KIND_DESCRIPTION(id, word, shows) "`" word "`, " shows

enum { FACE_SEARCH_TOOLS, FACE_DETAILS, FACE_FIRST_CALL, FACE_READ_MORE = FACE_FIRST_CALL + EFFECTS, FACE_TOOLS };

/* Names of the search face's tools, indexed by the enum above. The call tools start at FACE_FIRST_CALL, by effect. */
extern const char *const wt__face_tool_names[FACE_TOOLS];

/* Returns the name of the call tool for an effect. */
static inline const char *wt__face_call_tool_name(enum effect effect)
{
    return wt__face_tool_names[FACE_FIRST_CALL + (int)effect];
}

/* A policy file. A profile is a part of the catalogue that has its own address and its own rules.
 *
 *   {"rules": [{"keys": ["ci-*"], "servers": ["github"], "tools": ["get_*"], "effects": ["read"], "deny": false}, ...],
 *    "profiles": {"reading": {"face": "direct", "rules": [{"effects": ["read"]}]}}}
 *
 * A rule matches a tool if each of its lists does; a missing list matches everything. Names are patterns (base/str.h).
 * A tool is allowed if a rule without "deny" matches it and no rule with "deny" does. Tools without a matching rule are
 * denied. The rules of a profile narrow the general rules: both must allow the tool. wt__policy_allows decides for all
 * lists, searches and calls of tools.
 *
 * "repairArguments", next to "rules", enables the lossless repair of arguments: true (the default), false, or a list of
 * patterns of servers.
 *
 * The revision is the beginning of the file's SHA-256; the lines of the audit contain it. */

enum {
    POLICY_BYTES_MAX = 4 << 20,
    POLICY_RULES_MAX = 10000, /* total of all lists of rules */
    POLICY_PROFILES_MAX = 32,
    POLICY_NAME_BYTES_MAX = 64, /* maximum length of a profile's name, which becomes part of a URL */
    POLICY_REVISION_BYTES = 17, /* with the NUL */
};

struct policy;

/* Parses a policy. file: its name in errors. Errors: WT_EFORMAT with the JSON pointer, WT_ETOOLONG, WT_ENOMEM. */
int wt__policy_parse(struct policy **out, struct str text, const char *file, wt_error *err);
int wt__policy_read(struct policy **out, const char *path, wt_error *err);
void wt__policy_close(struct policy *policy);                 /* NULL is a no-op */
const char *wt__policy_revision(const struct policy *policy); /* "none" if policy is NULL */

size_t wt__policy_profile_count(const struct policy *policy);
const char *wt__policy_profile_name(const struct policy *policy, size_t index);
enum face_kind wt__policy_profile_face(const struct policy *policy, size_t index);

/* The question whether a caller may use a tool. */
struct policy_question {
    const char *principal; /* name of the key; "" without a key */
    const char *profile;   /* NULL for no profile */
    const char *server, *tool;
    enum effect effect;
    const char *own_name; /* the server's own name of the tool if it differs, else NULL; a rule for either name
                             matches */
};

/* True if the policy allows the tool. policy: NULL allows everything without a profile. An unknown profile denies
 * everything. */
bool wt__policy_allows(const struct policy *policy, const struct policy_question *question);
/* True if the server's resources and prompts may be used. A rule without "deny" and without a list of tools must match
 * the server. No rule with "deny" that covers all tools and all effects may match it. */
bool wt__policy_allows_server(const struct policy *policy, const char *principal, const char *profile,
                              const char *server);
/* True if arguments for tools of the server are repaired. server: NULL for the gateway's own tools, repaired unless
 * repair is off for all servers. policy: NULL repairs all. */
bool wt__policy_repairs(const struct policy *policy, const char *server);
/* Parses a word of FACE_KINDS. Returns -1 for other words. */
int wt__face_kind_parse(struct str word);

#endif
