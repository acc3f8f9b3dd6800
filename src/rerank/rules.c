/* rules.c: reads and writes ToolRerank's settings, its classifier and its training data in a config.json:
 *
 *   {"hierarchy": {"seen_depth": 10, .., "rules": {"unknown": "none", "single": "algorithm1", "multi": "algorithm2"}},
 *    "classifier": {"weight": 0, "constant": 0, "margin": 0.1},
 *    "across": true, "seen_by": "provider", "seen": ["weather", ..]}
 *
 * Missing members have the paper's values. Without a classifier the kind of every request is unknown. */
#include "rerank/rules.h"

#include <math.h>
#include <string.h>

#include "catalog/names.h"

static const char *const rule_names[HIERARCHY_RULES] = {"none", "algorithm1", "algorithm2"};
static const char *const kind_names[REQUEST_KINDS] = {"unknown", "single", "multi"};

const struct rerank_rules wt__rules_default = {
    .settings = {.seen_depth = 50, .unseen_depth = 50, .tau_s = 0.85f, .tau_m = 0.7f, .group_most = 3},
};

bool wt__rules_seen(const struct rerank_rules *rules, const struct tool *tool, struct buffer *id)
{
    if (rules->by_provider && tool->provider.len > 0)
        return wt__map_get(&rules->seen, tool->provider) != NULL;
    wt__buffer_clear(id);
    wt__tool_id(id, tool->provider, tool->name);
    return wt__map_get(&rules->seen, wt__buffer_view(id)) != NULL;
}

/* Reads a depth or count. An invalid value becomes 0, so that validation reports it by name. */
static uint32_t read_count(const json_t *object, const char *key, uint32_t fallback)
{
    int64_t value = wt__json_int(object, key, fallback);
    return value >= 0 && value <= HIERARCHY_MAX_CANDIDATES ? (uint32_t)value : 0;
}

static int read_kind_rules(struct hierarchy_settings *settings, const json_t *object, wt_error *err)
{
    for (size_t kind = 0; kind < REQUEST_KINDS; kind++) {
        struct str name = wt__json_str(object, kind_names[kind]);
        size_t rule = 0;
        if (name.len == 0)
            continue;
        while (rule < HIERARCHY_RULES && !wt__str_equal(name, wt__str(rule_names[rule])))
            rule++;
        if (rule == HIERARCHY_RULES)
            return wt__fail(err, WT_EMODEL, "the rule for %s requests must be none, algorithm1 or algorithm2",
                            kind_names[kind]);
        settings->rule[kind] = (enum hierarchy_rule)rule;
    }
    return 0;
}

static int read_settings(struct hierarchy_settings *s, const json_t *object, wt_error *err)
{
    wt_error why;
    *s = wt__hierarchy_paper;
    s->seen_depth = read_count(object, "seen_depth", s->seen_depth);
    s->unseen_depth = read_count(object, "unseen_depth", s->unseen_depth);
    s->group_most = read_count(object, "group_most", s->group_most);
    s->tau_s = (float)wt__json_real(object, "tau_s", (double)s->tau_s);
    s->tau_m = (float)wt__json_real(object, "tau_m", (double)s->tau_m);
    s->prior = (float)wt__json_real(object, "prior", (double)s->prior);
    s->cover = (float)wt__json_real(object, "cover", (double)s->cover);
    s->truncate = wt__json_bool(object, "truncate", s->truncate);
    s->expand_seen = wt__json_bool(object, "expand_seen", s->expand_seen);
    s->expand_unseen = wt__json_bool(object, "expand_unseen", s->expand_unseen);
    int rc = read_kind_rules(s, wt__json_object(object, "rules"), err);
    if (rc == 0 && wt__hierarchy_validate(s, &why) < 0)
        rc = wt__fail(err, WT_EMODEL, "hierarchy: %s", why.message);
    return rc;
}

static int read_classifier(struct request_classifier *c, const json_t *object, wt_error *err)
{
    *c = (struct request_classifier){.weight = (float)wt__json_real(object, "weight", 0),
                                     .constant = (float)wt__json_real(object, "constant", 0),
                                     .margin = (float)wt__json_real(object, "margin", 0)};
    if (object && !json_object_get(object, "weight"))
        return wt__fail(err, WT_EMODEL,
                        "classifier: no weight, because another version trained it; train toolrerank again");
    bool finite = isfinite(c->weight) && isfinite(c->constant) && isfinite(c->margin);
    return finite ? 0 : wt__fail(err, WT_EMODEL, "classifier: a number is not finite");
}

static int read_seen(struct rerank_rules *out, const json_t *list, struct arena *arena, wt_error *err)
{
    if (json_array_size(list) > WT_MAX_TOOLS)
        return wt__fail(err, WT_EMODEL, "seen: more than %d names", WT_MAX_TOOLS);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *name = json_array_get(list, i);
        if (!json_is_string(name))
            return wt__fail(err, WT_EMODEL, "seen must be a list of strings");
        char *copy = wt__arena_copy(arena, (struct str){json_string_value(name), json_string_length(name)});
        if (!copy || !wt__map_insert(&out->seen, wt__str(copy), 1, NULL))
            return wt__fail_nomem(err);
    }
    return 0;
}

int wt__rules_read(struct rerank_rules *out, const json_t *config, struct arena *arena, wt_error *err)
{
    *out = (struct rerank_rules){.across = wt__json_bool(config, "across", false)};
    out->by_provider = !wt__str_equal(wt__json_str(config, "seen_by"), wt__str("tool"));
    int rc = read_settings(&out->settings, wt__json_object(config, "hierarchy"), err);
    if (rc == 0)
        rc = read_classifier(&out->classifier, wt__json_object(config, "classifier"), err);
    return rc < 0 ? rc : read_seen(out, wt__json_array(config, "seen"), arena, err);
}

static json_t *write_rule_settings(const struct hierarchy_settings *s)
{
    json_t *kinds = json_object();
    for (size_t kind = 0; kinds && kind < REQUEST_KINDS; kind++)
        if (json_object_set_new(kinds, kind_names[kind], json_string(rule_names[s->rule[kind]])) < 0)
            return json_decref(kinds), NULL;
    return json_pack("{s:i, s:i, s:f, s:f, s:i, s:f, s:f, s:b, s:b, s:b, s:o}", "seen_depth", (int)s->seen_depth,
                     "unseen_depth", (int)s->unseen_depth, "tau_s", (double)s->tau_s, "tau_m", (double)s->tau_m,
                     "group_most", (int)s->group_most, "prior", (double)s->prior, "cover", (double)s->cover, "truncate",
                     (int)s->truncate, "expand_seen", (int)s->expand_seen, "expand_unseen", (int)s->expand_unseen,
                     "rules", kinds);
}

json_t *wt__rules_write(const struct rerank_rules *rules, json_t *seen)
{
    const struct request_classifier *c = &rules->classifier;
    return json_pack("{s:o, s:{s:f, s:f, s:f}, s:b, s:s, s:o}", "hierarchy", write_rule_settings(&rules->settings),
                     "classifier", "weight", (double)c->weight, "constant", (double)c->constant, "margin",
                     (double)c->margin, "across", (int)rules->across, "seen_by",
                     rules->by_provider ? "provider" : "tool", "seen", seen);
}
