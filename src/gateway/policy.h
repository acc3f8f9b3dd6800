/* policy.h: who may use which tools, from a file of the operator's, and the profiles by which parts of the catalogue
 * are served at addresses of their own.
 *
 *   {"rules": [{"keys": ["ci-*"], "servers": ["github"], "tools": ["get_*"], "effects": ["read"], "deny": false}, ...],
 *    "profiles": {"reading": {"face": "direct", "rules": [{"effects": ["read"]}]}}}
 *
 * A rule matches a tool when each list that it has does; a list that is left out matches everything. Names are patterns
 * (base/glob.h). A tool is allowed when some rule that allows matches it and none that denies does: what no rule names
 * is denied. A profile's rules narrow the others, never widen them. One function decides for every list, search and
 * call.
 *
 * "repairArguments", beside "rules", says whose arguments are repaired without loss before they are sent on: true (as it
 * is without the member), false, or a list of patterns of servers.
 *
 * The revision is the beginning of the file's SHA-256: the audit's lines say by which one was decided. */
#ifndef WT_GATEWAY_POLICY_H
#define WT_GATEWAY_POLICY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/str.h"
#include "gateway/effect.h"
#include "gateway/face_kinds.h"

enum {
    POLICY_BYTES_MAX = 4 << 20,
    POLICY_RULES_MAX = 10000, /* of all lists of rules */
    POLICY_PROFILES_MAX = 32,
    POLICY_NAME_BYTES_MAX = 64, /* of a profile: letters, digits, '-' and '_', as it stands in a path */
    POLICY_REVISION_BYTES = 17, /* with a NUL */
};

struct policy;

/* file: how errors name it. Errors: WT_EFORMAT with the JSON pointer, WT_ETOOLONG, WT_ENOMEM. */
int wt__policy_parse(struct policy **out, struct str text, const char *file, wt_error *err);
int wt__policy_read(struct policy **out, const char *path, wt_error *err);
void wt__policy_close(struct policy *policy);                 /* NULL is a no-op */
const char *wt__policy_revision(const struct policy *policy); /* NULL policy: "none" */

size_t wt__policy_profile_count(const struct policy *policy);
const char *wt__policy_profile_name(const struct policy *policy, size_t index);
enum face_kind wt__policy_profile_face(const struct policy *policy, size_t index);

struct policy_question {
    const char *principal; /* name of the key; "" for none */
    const char *profile;   /* NULL: none */
    const char *server, *tool;
    enum effect effect;
    const char *own_name; /* of the tool, as its server has it, where that is another one: a rule for either name is for
                             the tool; NULL: tool */
};

/* policy: NULL allows everything. A profile that there is not allows nothing. */
bool wt__policy_allows(const struct policy *policy, const struct policy_question *question);
/* Whether the server's resources and prompts may be used: whether some rule allows all of its tools by name, and none
 * denies all of them. */
bool wt__policy_allows_server(const struct policy *policy, const char *principal, const char *profile,
                              const char *server);
/* True if arguments for tools of the server are repaired. server: NULL for the gateway's own tools, whose arguments are
 * repaired unless those of no server are. policy: NULL repairs all. */
bool wt__policy_repairs(const struct policy *policy, const char *server);
/* A word of face_kinds.h; -1: there is no such kind. */
int wt__face_kind_read(struct str word);

#endif
