/* output.c: writes an audit as SARIF 2.1.0 or as an HTML page. Code hosts read SARIF to show findings next to a change.
 * The page shows the totals, the findings of each rule with errors first, and token counts.
 *
 * In SARIF, logical locations are the tools' ids. The fingerprint is a hash of rule and tools, so it identifies the
 * finding in the next run.
 *
 * Code hosts reject findings without a physical location. The location depends on the tool:
 *   - tool from a file: that file, and the line of its definition (wt__find_source_line)
 *   - removed tool: its line in the pins file
 *   - tool from a server: the store
 * The line is 1 if unknown, because hosts require a line. Paths below the working directory are relative, because hosts
 * resolve them against the repository's root. Other paths are absolute. GitHub distinguishes findings on one line by
 * the member primaryLocationLineHash, so the fingerprint is also written there. */
#include "audit/internal.h"

#include <limits.h>
#include <math.h>
#include <unistd.h>

#include "base/error.h"
#include "base/sha256.h"
#include "text/html.h"
#include "text/shown.h"

/* Returns "note", "warning" or "error", as SARIF spells them. */
static const char *audit_level_name(int level)
{
    static const char *const names[] = {"none", "note", "warning", "error"};
    return names[level >= WT_AUDIT_NOTE && level <= WT_AUDIT_ERROR ? level : 0];
}

static void put_quoted_member(struct buffer *out, const char *key, const char *text)
{
    wt__buffer_printf(out, "\"%s\":{\"text\":", key);
    wt__shown_string(out, wt__str(text));
    wt__buffer_char(out, '}');
}

/* Appends a path, percent-encoding all bytes except letters, digits and "-._~/". */
static void put_uri_path(struct buffer *out, const char *path)
{
    for (const char *c = path; *c; c++) {
        bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9');
        if (letter || strchr("-._~/", *c))
            wt__buffer_char(out, *c);
        else
            wt__buffer_printf(out, "%%%02X", (unsigned char)*c);
    }
}

static void put_source_uri(struct buffer *out, const char *source, const char *store)
{
    char here[PATH_MAX];
    if (!source || *source != '/') {
        put_uri_path(out, store);
        return;
    }
    size_t len = getcwd(here, sizeof here) && here[1] ? strlen(here) : 0;
    if (len > 0 && strncmp(source, here, len) == 0 && source[len] == '/' && source[len + 1]) {
        put_uri_path(out, source + len + 1);
        return;
    }
    wt__buffer_text(out, "file://");
    put_uri_path(out, source);
}

static void put_sarif_rules(struct buffer *out)
{
    for (size_t r = 0; r < AUDIT_RULES; r++) {
        const struct audit_rule_text *rule = &wt__audit_rules[r];
        wt__buffer_printf(out, "%s{\"id\":\"%s\",", r > 0 ? "," : "", rule->id);
        put_quoted_member(out, "shortDescription", rule->summary);
        wt__buffer_char(out, ',');
        put_quoted_member(out, "fullDescription", rule->summary);
        wt__buffer_char(out, ',');
        put_quoted_member(out, "help", rule->advice);
        wt__buffer_printf(out, ",\"defaultConfiguration\":{\"level\":\"%s\"}}\n", audit_level_name(rule->level));
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

/* Appends the location of the i-th tool; of the provider if the finding has no tools. */
static void put_sarif_location(struct buffer *out, struct source_lines *lines, const wt_finding *finding, size_t i)
{
    const struct placed_finding *placed = (const struct placed_finding *)finding;
    size_t line = placed->line;
    out->failed |= line == 0 && wt__find_source_line(lines, &placed->origins[i], &line) < 0;
    bool tool = finding->tool_count > 0;
    const char *name = tool ? finding->tools[i] : finding->provider, *kind = tool ? "function" : "module";
    wt__buffer_text(out, "{\"physicalLocation\":{\"artifactLocation\":{\"uri\":\"");
    put_source_uri(out, placed->origins[i].source, placed->store);
    wt__buffer_printf(
        out, "\"},\"region\":{\"startLine\":%zu}},\"logicalLocations\":[{\"fullyQualifiedName\":", line > 0 ? line : 1);
    wt__shown_string(out, wt__str(name));
    wt__buffer_printf(out, ",\"kind\":\"%s\"}]}", kind);
}

static void put_sarif_result(struct buffer *out, struct source_lines *lines, const wt_finding *finding)
{
    enum audit_rule rule = RULE_EMPTY_DESCRIPTION;
    struct buffer message = {0};
    wt__find_audit_rule(wt__str(finding->rule), &rule);
    wt__buffer_printf(&message, "%s %s", finding->message, finding->advice);
    wt__buffer_printf(out, "{\"ruleId\":\"%s\",\"ruleIndex\":%u,\"level\":\"%s\",", finding->rule, (unsigned)rule,
                      audit_level_name(finding->level));
    out->failed |= message.failed;
    put_quoted_member(out, "message", message.ptr ? message.ptr : "");
    wt__buffer_dispose(&message);
    wt__buffer_text(out, ",\"locations\":[");
    put_sarif_location(out, lines, finding, 0);
    wt__buffer_text(out, "],\"relatedLocations\":[");
    for (size_t i = 1; i < finding->tool_count; i++) {
        wt__buffer_text(out, i > 1 ? "," : "");
        put_sarif_location(out, lines, finding, i);
    }
    wt__buffer_char(out, ']');
    put_fingerprint(out, finding);
    wt__buffer_text(out, "}\n");
}

static void write_sarif(struct buffer *out, const wt_audit_result *audit)
{
    struct source_lines lines = {0};
    wt__buffer_text(out, "{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\",\"version\":\"2.1.0\",\n"
                         "\"runs\":[{\"tool\":{\"driver\":{\"name\":\"whichtool\",\"version\":");
    wt__buffer_json(out, wt__str(wt_version()));
    wt__buffer_text(out, ",\"rules\":[\n");
    put_sarif_rules(out);
    wt__buffer_text(out, "]}},\n\"columnKind\":\"unicodeCodePoints\",\"results\":[\n");
    for (size_t i = 0; i < audit->finding_count; i++) {
        wt__buffer_text(out, i > 0 ? "," : "");
        put_sarif_result(out, &lines, audit->findings[i]);
    }
    wt__buffer_text(out, "]}]}\n");
    wt__lines_dispose(&lines);
}

static void put_token_table(struct buffer *out, const wt_audit_result *audit)
{
    wt__html_table(out, "Size of the catalogue in a prompt, in estimated tokens",
                   "<API tokens <largest_tool its_tokens");
    for (size_t i = 0; i < audit->cost_count; i++) {
        const wt_audit_cost *cost = audit->costs[i];
        wt__html_row(out, cost->format);
        wt__buffer_printf(out, "<td>%llu</td><td class=\"long\">", (unsigned long long)cost->tokens);
        wt__html_text(out, wt__str(cost->largest));
        wt__buffer_printf(out, "</td><td>%llu</td></tr>\n", (unsigned long long)cost->largest_tokens);
    }
    wt__html_table_end(out);
}

static void put_finding(struct buffer *out, const wt_finding *finding)
{
    wt__buffer_text(out, "<tr><td class=\"long\">");
    for (size_t i = 0; i < finding->tool_count; i++) {
        wt__buffer_text(out, i > 0 ? "<br>" : "");
        wt__html_text(out, wt__str(finding->tools[i]));
    }
    if (finding->tool_count == 0)
        wt__html_text(out, wt__str(finding->provider));
    if (finding->more_tools > 0)
        wt__buffer_printf(out, "<br>and %zu more", finding->more_tools);
    wt__buffer_text(out, "</td><td class=\"long\">");
    wt__html_text(out, wt__str(finding->message));
    wt__buffer_text(out, "</td><td class=\"long\">");
    wt__html_text(out, wt__str(finding->advice));
    wt__buffer_text(out, "</td></tr>\n");
}

/* Writes the section of one rule. */
static void put_rule_findings(struct buffer *out, const wt_audit_result *audit, enum audit_rule rule)
{
    size_t count = 0;
    for (size_t i = 0; i < audit->finding_count; i++)
        count += strcmp(audit->findings[i]->rule, wt__audit_rules[rule].id) == 0;
    if (count == 0)
        return;
    wt__buffer_printf(out, "<h3 id=\"%s\">%s <small>%s, %zu</small></h3>\n", wt__audit_rules[rule].id,
                      wt__audit_rules[rule].id, audit_level_name(wt__audit_rules[rule].level), count);
    wt__html_element(out, "p", wt__audit_rules[rule].summary);
    wt__buffer_printf(out, "<details%s><summary>%zu found</summary>\n", count <= 20 ? " open" : "", count);
    wt__html_table(out, NULL, "<tools <finding <advice");
    for (size_t i = 0; i < audit->finding_count; i++)
        if (strcmp(audit->findings[i]->rule, wt__audit_rules[rule].id) == 0)
            put_finding(out, audit->findings[i]);
    wt__html_table_end(out);
    wt__buffer_text(out, "</details>\n");
}

static void write_audit_html(struct buffer *out, const wt_audit_result *audit)
{
    static const char *const headings[] = {"", "Notes", "Warnings", "Errors"};
    const size_t counts[] = {0, audit->notes, audit->warnings, audit->errors};
    wt__html_head(out);
    wt__buffer_text(out, "Audit of the catalogue");
    wt__html_body(out);
    wt__buffer_printf(out,
                      "<h1>Audit of the catalogue</h1>\n<p class=\"lead\">%zu tools of %zu providers: %zu errors, %zu "
                      "warnings, %zu notes. whichtool ",
                      audit->tools, audit->providers, audit->errors, audit->warnings, audit->notes);
    wt__html_text(out, wt__str(wt_version()));
    wt__buffer_text(out, ".</p>\n");
    if (audit->notice)
        wt__html_element(out, "p", audit->notice);
    for (int level = WT_AUDIT_ERROR; level >= WT_AUDIT_NOTE; level--) {
        if (counts[level] == 0)
            continue;
        wt__html_element(out, "h2", headings[level]);
        for (size_t r = 0; r < AUDIT_RULES; r++)
            if (wt__audit_rules[r].level == level)
                put_rule_findings(out, audit, (enum audit_rule)r);
    }
    wt__html_element(out, "h2", "Tokens");
    put_token_table(out, audit);
    wt__html_end(out);
}

int wt_audit_render(const wt_audit_result *audit, const char *form, char **out, wt_error *err)
{
    static const struct {
        const char *name;
        void (*write)(struct buffer *, const wt_audit_result *);
    } forms[] = {{"sarif", write_sarif}, {"html", write_audit_html}};
    struct buffer text = {0};
    *out = NULL;
    for (size_t f = 0; form && f < sizeof forms / sizeof *forms; f++) {
        if (strcmp(form, forms[f].name) != 0)
            continue;
        forms[f].write(&text, audit);
        *out = wt__buffer_take(&text);
        WT_CHECK_ALLOC(*out, err);
        return 0;
    }
    return wt__fail(err, WT_EINVAL, "unknown audit format \"%s\"; use sarif or html", form ? form : "");
}
