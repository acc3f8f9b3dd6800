#include "gateway/audit_replay.h"

#include <string.h>

static const char *member_text(const json_t *line, const char *key)
{
    return json_string_value(json_object_get(line, key));
}

/* Returns 1 if the policy allows the tool, resource or prompt of the line, 0 if not, or -1 if the line has none of them
 * and no policy was consulted. */
static int decide_line(const json_t *line, const struct policy *policy)
{
    int effect = wt__effect_parse(wt__json_str(line, "effect"));
    const struct policy_question question = {.principal = member_text(line, "principal"),
                                             .profile = member_text(line, "profile"),
                                             .server = member_text(line, "server"),
                                             .tool = member_text(line, "tool"),
                                             .own_name = member_text(line, "own_name"),
                                             .effect = (enum effect)effect};
    if (!question.server || !question.principal)
        return -1;
    if (member_text(line, "uri") || member_text(line, "prompt"))
        return wt__policy_allows_server(policy, question.principal, question.profile, question.server);
    return question.tool && effect >= 0 ? wt__policy_allows(policy, &question) : -1;
}

static void replay_line(const json_t *line, const struct policy *policy, size_t number, struct audit_replay *out)
{
    struct str decision = wt__json_str(line, "decision");
    bool was_denied = wt__str_equal(decision, STR("denied"));
    int allows = decide_line(line, policy);
    out->allowed += wt__str_equal(decision, STR("allowed"));
    out->denied += was_denied;
    out->ended += member_text(line, "outcome") != NULL;
    if (allows < 0)
        return;
    if (!wt__str_equal(wt__json_str(line, "policy"), wt__str(wt__policy_revision(policy)))) {
        out->other_revisions++;
        return;
    }
    out->replayed++;
    if (allows != was_denied)
        return;
    if (out->differing++ == 0)
        out->first_differing = number;
}

static int replay_text(struct audit_replay *out, struct str text, const struct audit_key *key,
                       const struct policy *policy, wt_error *err)
{
    json_t *line = NULL;
    if (out->lines == 0)
        out->is_continued = wt__audit_continues(text).len > 0;
    int rc = wt__audit_check_line(&out->chain, key, text, err);
    if (rc < 0)
        return rc;
    out->lines++;
    out->keyed += out->chain.is_keyed;
    if (wt__json_parse(&line, text.ptr, text.len, NULL) < 0)
        return wt__fail(err, WT_EFORMAT, "line %zu is not JSON", out->lines);
    replay_line(line, policy, out->lines, out);
    json_decref(line);
    return 0;
}

int wt__audit_replay(struct audit_replay *replay, struct str text, const struct audit_key *key,
                     const struct policy *policy, wt_error *err)
{
    int rc = 0;
    replay->files++;
    while (rc == 0 && text.len > 0) {
        const char *end = memchr(text.ptr, '\n', text.len);
        size_t len = end ? (size_t)(end - text.ptr) : text.len, taken = len + (end != NULL);
        rc = replay_text(replay, (struct str){text.ptr, len}, key, policy, err);
        text = (struct str){text.ptr + taken, text.len - taken};
    }
    return rc;
}
