/* sarif.c: SARIF 2.1.0, what code hosts read to show findings beside a change. A tool of a catalogue is no place in a
 * file, so a finding has logical locations, the tools' ids; its fingerprint is of rule and tools, which tells the same
 * finding in the next run.
 *
 * A code host refuses a file in which a finding has no physical location. That is the file that the tool was added
 * from, and there the line at which its definition begins (lines.h); of a tool that is gone, its line of the pins; of
 * what came from no file, a server's tools, it is the store. Where no line is known it is the first, since a host asks
 * for one. A file below the working folder is named from there, as a host wants it that has the repository's root
 * there; another one by its whole path. GitHub tells the findings of one line apart by the fingerprint
 * primaryLocationLineHash, which is ours, too. */
#include <limits.h>
#include <unistd.h>

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

/* Letters, digits and what else may stand anywhere in a path; the rest of its bytes as %XX. */
static void put_escaped(struct buffer *out, const char *path)
{
    for (const char *c = path; *c; c++) {
        bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9');
        if (letter || strchr("-._~/", *c))
            wt__buffer_char(out, *c);
        else
            wt__buffer_printf(out, "%%%02X", (unsigned char)*c);
    }
}

static void put_uri(struct buffer *out, const char *source, const char *store)
{
    char here[PATH_MAX];
    if (!source || *source != '/') {
        put_escaped(out, store);
        return;
    }
    size_t len = getcwd(here, sizeof here) && here[1] ? strlen(here) : 0;
    if (len > 0 && strncmp(source, here, len) == 0 && source[len] == '/' && source[len + 1]) {
        put_escaped(out, source + len + 1);
        return;
    }
    wt__buffer_text(out, "file://");
    put_escaped(out, source);
}

static void put_rules(struct buffer *out)
{
    for (size_t r = 0; r < AUDIT_RULES; r++) {
        const struct audit_rule_text *rule = &wt__audit_rules[r];
        wt__buffer_printf(out, "%s{\"id\":\"%s\",", r > 0 ? "," : "", rule->id);
        text_member(out, "shortDescription", rule->summary);
        wt__buffer_char(out, ',');
        text_member(out, "fullDescription", rule->summary);
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
    wt__buffer_printf(out, ",\"partialFingerprints\":{\"primaryLocationLineHash\":\"%s\",\"toolsOfRule/v1\":\"%s\"}",
                      hex, hex);
}

/* Of its i-th tool; of the provider where it has none. */
static void put_place(struct buffer *out, struct lines *lines, const wt_finding *finding, size_t i)
{
    const struct placed_finding *placed = (const struct placed_finding *)finding;
    size_t line = placed->line;
    out->failed |= line == 0 && wt__line_of(lines, &placed->origins[i], &line) < 0;
    bool tool = finding->tool_count > 0;
    const char *name = tool ? finding->tools[i] : finding->provider, *kind = tool ? "function" : "module";
    wt__buffer_text(out, "{\"physicalLocation\":{\"artifactLocation\":{\"uri\":\"");
    put_uri(out, placed->origins[i].source, placed->store);
    wt__buffer_printf(
        out, "\"},\"region\":{\"startLine\":%zu}},\"logicalLocations\":[{\"fullyQualifiedName\":", line > 0 ? line : 1);
    wt__shown_string(out, wt__str(name));
    wt__buffer_printf(out, ",\"kind\":\"%s\"}]}", kind);
}

static void put_result(struct buffer *out, struct lines *lines, const wt_finding *finding)
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
    put_place(out, lines, finding, 0);
    wt__buffer_text(out, "],\"relatedLocations\":[");
    for (size_t i = 1; i < finding->tool_count; i++) {
        wt__buffer_text(out, i > 1 ? "," : "");
        put_place(out, lines, finding, i);
    }
    wt__buffer_char(out, ']');
    put_fingerprint(out, finding);
    wt__buffer_text(out, "}\n");
}

void wt__audit_sarif(struct buffer *out, const wt_audit_result *audit)
{
    struct lines lines = {0};
    wt__buffer_text(out, "{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\",\"version\":\"2.1.0\",\n"
                         "\"runs\":[{\"tool\":{\"driver\":{\"name\":\"whichtool\",\"version\":");
    wt__buffer_json(out, wt__str(wt_version()));
    wt__buffer_text(out, ",\"rules\":[\n");
    put_rules(out);
    wt__buffer_text(out, "]}},\n\"columnKind\":\"unicodeCodePoints\",\"results\":[\n");
    for (size_t i = 0; i < audit->finding_count; i++) {
        wt__buffer_text(out, i > 0 ? "," : "");
        put_result(out, &lines, audit->findings[i]);
    }
    wt__buffer_text(out, "]}]}\n");
    wt__lines_dispose(&lines);
}
