/* sarif.c: SARIF 2.1.0, what code hosts read to show findings beside a change. A tool of a catalogue is no place in a
 * file, so a finding has logical locations, the tools' ids; its fingerprint is of rule and tools, which tells the same
 * finding in the next run. */
#include "audit/render.h"
#include "audit/rules.h"
#include "base/sha256.h"
#include "text/shown.h"

const char *wt__audit_level_name(int level)
{
    static const char *const names[] = {"none", "note", "warning", "error"};
    return names[level >= WT_AUDIT_NOTE && level <= WT_AUDIT_ERROR ? level : 0];
}

static void text_member(struct buffer *out, const char *key, const char *text)
{
    wt__buffer_printf(out, "\"%s\":{\"text\":", key);
    wt__shown_string(out, wt__str(text));
    wt__buffer_char(out, '}');
}

static void put_rules(struct buffer *out)
{
    for (size_t r = 0; r < AUDIT_RULES; r++) {
        const struct audit_rule_text *rule = &wt__audit_rules[r];
        wt__buffer_printf(out, "%s{\"id\":\"%s\",", r > 0 ? "," : "", rule->id);
        text_member(out, "shortDescription", rule->summary);
        wt__buffer_char(out, ',');
        text_member(out, "help", rule->advice);
        wt__buffer_printf(out, ",\"defaultConfiguration\":{\"level\":\"%s\"}}\n", wt__audit_level_name(rule->level));
    }
}

static void put_fingerprint(struct buffer *out, const wt_finding *finding)
{
    struct sha256 sha;
    unsigned char digest[32];
    char hex[65];
    wt__sha256_begin(&sha);
    wt__sha256_update(&sha, finding->rule, strlen(finding->rule) + 1);
    wt__sha256_update(&sha, finding->provider, strlen(finding->provider) + 1);
    for (size_t i = 0; i < finding->tool_count; i++)
        wt__sha256_update(&sha, finding->tools[i], strlen(finding->tools[i]) + 1);
    wt__sha256_end(&sha, digest);
    wt__sha256_hex(digest, hex);
    wt__buffer_printf(out, ",\"partialFingerprints\":{\"toolsOfRule/v1\":\"%s\"}", hex);
}

static void put_place(struct buffer *out, const char *name, const char *kind, bool first)
{
    wt__buffer_text(out, first ? "" : ",");
    wt__buffer_text(out, "{\"logicalLocations\":[{\"fullyQualifiedName\":");
    wt__shown_string(out, wt__str(name));
    wt__buffer_printf(out, ",\"kind\":\"%s\"}]}", kind);
}

static void put_result(struct buffer *out, const wt_finding *finding)
{
    enum audit_rule rule = RULE_EMPTY_DESCRIPTION;
    struct buffer message = {0};
    wt__audit_rule_named(wt__str(finding->rule), &rule);
    wt__buffer_printf(&message, "%s %s", finding->message, finding->advice);
    wt__buffer_printf(out, "{\"ruleId\":\"%s\",\"ruleIndex\":%u,\"level\":\"%s\",", finding->rule, (unsigned)rule,
                      wt__audit_level_name(finding->level));
    out->failed |= message.failed;
    text_member(out, "message", message.ptr ? message.ptr : "");
    wt__buffer_dispose(&message);
    wt__buffer_text(out, ",\"locations\":[");
    if (finding->tool_count > 0)
        put_place(out, finding->tools[0], "function", true);
    else
        put_place(out, finding->provider, "module", true);
    wt__buffer_text(out, "],\"relatedLocations\":[");
    for (size_t i = 1; i < finding->tool_count; i++)
        put_place(out, finding->tools[i], "function", i == 1);
    wt__buffer_char(out, ']');
    put_fingerprint(out, finding);
    wt__buffer_text(out, "}\n");
}

void wt__audit_sarif(struct buffer *out, const wt_audit_result *audit)
{
    wt__buffer_text(out, "{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\",\"version\":\"2.1.0\",\n"
                         "\"runs\":[{\"tool\":{\"driver\":{\"name\":\"whichtool\",\"version\":");
    wt__buffer_json(out, wt__str(wt_version()));
    wt__buffer_text(out, ",\"rules\":[\n");
    put_rules(out);
    wt__buffer_text(out, "]}},\n\"columnKind\":\"unicodeCodePoints\",\"results\":[\n");
    for (size_t i = 0; i < audit->finding_count; i++) {
        wt__buffer_text(out, i > 0 ? "," : "");
        put_result(out, audit->findings[i]);
    }
    wt__buffer_text(out, "]}]}\n");
}
