/* Tests replays of decisions that were recorded under a policy, with and without that policy. Also tests replays of
 * decisions that were recorded without a policy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "gateway/audit.h"
#include "gateway/engine_with_servers.h"

/* ada may use the tools, resources and prompts of files. All keys may use the tools read_* of mail, but not its
 * resources. */
static const char policy_text[] =
    "{\"rules\":[{\"keys\":[\"ada\"],\"servers\":[\"files\"]},{\"servers\":[\"mail\"],\"tools\":[\"read_*\"]}]}";

static const struct {
    const char *name, *principal, *server, *tool, *effect, *uri, *prompt;
    enum audit_decision decision;
    bool replayed, differs; /* the policy decides the row again; its decision differs from the recorded one */
} rows[] = {
    {"an allowed call that the policy allows", "ada", "files", "drop", "destructive", "", "", AUDIT_ALLOWED, true,
     false},
    {"a denied call that the policy denies", "bob", "files", "drop", "destructive", "", "", AUDIT_DENIED, true, false},
    {"an allowed call that the policy denies", "bob", "files", "drop", "destructive", "", "", AUDIT_ALLOWED, true,
     true},
    {"a denied call that the policy allows", "ada", "files", "drop", "destructive", "", "", AUDIT_DENIED, true, true},
    {"a call with invalid arguments that the policy allows", "ada", "files", "drop", "destructive", "", "",
     AUDIT_INVALID, true, false},
    {"a call with the call tool of another effect that the policy allows", "ada", "files", "drop", "destructive", "",
     "", AUDIT_WRONG_FACE, true, false},
    {"a call of an unknown tool is not replayed", "ada", NULL, NULL, NULL, "", "", AUDIT_UNKNOWN, false, false},
    {"an allowed read that the policy allows", "ada", "files", NULL, NULL, "file:///x", "", AUDIT_ALLOWED, true, false},
    {"a denied read that the policy denies", "ada", "mail", NULL, NULL, "file:///x", "", AUDIT_DENIED, true, false},
    {"an allowed read that the policy denies", "ada", "mail", NULL, NULL, "file:///x", "", AUDIT_ALLOWED, true, true},
    {"a denied read that the policy allows", "ada", "files", NULL, NULL, "file:///x", "", AUDIT_DENIED, true, true},
    {"a read of an unknown resource is not replayed", "ada", NULL, NULL, NULL, "", "", AUDIT_UNKNOWN, false, false},
    {"an allowed prompt that the policy allows", "ada", "files", NULL, NULL, "", "review", AUDIT_ALLOWED, true, false},
    {"an allowed prompt that the policy denies", "bob", "files", NULL, NULL, "", "review", AUDIT_ALLOWED, true, true},
};

/* Returns the text of a log, freed by the caller. The first line is an allowed call without an outcome. The second line
 * is the row's decision. revision: revision of the policy in both lines. */
static struct str audit_of(size_t row, const char *revision)
{
    char path[64], *text = NULL;
    size_t len = 0;
    struct audit_log *log;
    struct audit_mark mark;
    struct audit_line line = {.principal = "ada",
                              .method = "tools/call",
                              .server = "mail",
                              .tool = "read_all",
                              .effect = "read",
                              .revision = revision,
                              .decision = AUDIT_ALLOWED};
    snprintf(path, sizeof path, "/tmp/whichtool-replay-%d", (int)getpid());
    SOUND(wt__audit_open(&log, path, NULL, &err));
    SOUND(wt__audit_write(log, &line, NULL, &err));
    line.principal = rows[row].principal;
    line.server = rows[row].server;
    line.tool = rows[row].tool;
    line.effect = rows[row].effect;
    line.uri = wt__str(rows[row].uri);
    line.prompt = wt__str(rows[row].prompt);
    line.decision = rows[row].decision;
    SOUND(wt__audit_write(log, &line, &mark, &err));
    if (line.decision == AUDIT_ALLOWED)
        SOUND(wt__audit_write_outcome(log, &mark, &(struct audit_outcome){.outcome = "ok"}, &err));
    wt__audit_close(log);
    SOUND(wt__file_read(&text, &len, path, 1 << 20, &err));
    unlink(path);
    strcat(path, ".head");
    unlink(path);
    return (struct str){text, len};
}

static void repeats_the_decision_of_each_line(void **state)
{
    struct policy *policy;
    struct audit_replay replay;
    (void)state;
    SOUND(wt__policy_parse(&policy, wt__str(policy_text), "p", &err));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool allowed = rows[i].decision == AUDIT_ALLOWED;
        struct str text = audit_of(i, wt__policy_revision(policy));
        replay = (struct audit_replay){0};
        SOUND(wt__audit_replay(&replay, text, NULL, policy, &err));
        if (replay.lines != 2u + allowed || replay.allowed != 1u + allowed || replay.ended != allowed ||
            replay.denied != (rows[i].decision == AUDIT_DENIED) || replay.replayed != 1u + rows[i].replayed ||
            replay.differing != rows[i].differs || replay.first_differing != (rows[i].differs ? 2 : 0) ||
            replay.other_revisions != 0)
            fail_msg("%s: %zu lines, %zu allowed, %zu ended, %zu denied, %zu replayed, %zu differ, the first %zu",
                     rows[i].name, replay.lines, replay.allowed, replay.ended, replay.denied, replay.replayed,
                     replay.differing, replay.first_differing);
        replay = (struct audit_replay){0};
        SOUND(wt__audit_replay(&replay, text, NULL, NULL, &err)); /* without a policy, the revision differs */
        if (replay.replayed != 0 || replay.differing != 0 || replay.other_revisions != 1u + rows[i].replayed)
            fail_msg("%s: %zu of another revision", rows[i].name, replay.other_revisions);
        free((char *)text.ptr);
        text = audit_of(i, "none"); /* recorded without a policy, which allows every call: a denial differs */
        replay = (struct audit_replay){0};
        SOUND(wt__audit_replay(&replay, text, NULL, NULL, &err));
        if (replay.differing != (rows[i].decision == AUDIT_DENIED))
            fail_msg("%s: %zu differ without a policy", rows[i].name, replay.differing);
        free((char *)text.ptr);
    }
    wt__policy_close(policy);
}

static void refuses_to_replay_a_changed_log(void **state)
{
    struct audit_replay replay = {0};
    struct str text = audit_of(0, "none");
    (void)state;
    *strstr(text.ptr, "read_all") = 'R';
    assert_int_equal(wt__audit_replay(&replay, text, NULL, NULL, &err), WT_EFORMAT);
    assert_string_equal(err.message, "line 1 does not follow from the line before it");
    free((char *)text.ptr);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repeats_the_decision_of_each_line),
        cmocka_unit_test(refuses_to_replay_a_changed_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
