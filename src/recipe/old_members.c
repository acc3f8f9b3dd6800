#include "recipe/old_members.h"

#include <string.h>

static const struct {
    const char *within; /* enclosing member of the config; NULL for the config itself */
    const char *old, *now;
} members[] = {
    {"hierarchy", "alike", "tau_m"},   {"hierarchy", "sure", "tau_s"}, {"weights", "part", "subquery"},
    {NULL, "blend", "interpolation"},  {NULL, "fit", "answerability"}, {NULL, "fit_constant", "answerability_constant"},
    {NULL, "levels", "nonconformity"}, {NULL, "none", "no_answer"},
};

/* Values in "hierarchy"."rules". */
static const struct {
    const char *old, *now;
} rules[] = {
    {"concentrate", "algorithm1"},
    {"spread", "algorithm2"},
};

static bool rename_rules(json_t *kinds)
{
    const char *kind;
    json_t *rule;
    bool failed = false;
    json_object_foreach(kinds, kind, rule)
    {
        for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
            if (json_is_string(rule) && strcmp(json_string_value(rule), rules[i].old) == 0) {
                failed |= json_string_set(rule, rules[i].now) < 0;
                break;
            }
    }
    return !failed;
}

bool wt__rename_members(json_t *config)
{
    bool failed = false;
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        json_t *object = members[i].within ? wt__json_object(config, members[i].within) : config;
        json_t *value = json_object_get(object, members[i].old);
        if (!value)
            continue;
        if (!json_object_get(object, members[i].now))
            failed |= json_object_set(object, members[i].now, value) < 0;
        json_object_del(object, members[i].old);
    }
    return !failed && rename_rules(wt__json_object(wt__json_object(config, "hierarchy"), "rules"));
}
