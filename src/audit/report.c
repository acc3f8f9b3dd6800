/* report.c: writes an audit as an HTML page: totals, then the findings by rule, the worst first, then token counts. */
#include <math.h>

#include "audit/render.h"
#include "audit/rules.h"
#include "text/html.h"

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
                      wt__audit_rules[rule].id, wt__audit_level_name(wt__audit_rules[rule].level), count);
    wt__html_element(out, "p", wt__audit_rules[rule].summary);
    wt__buffer_printf(out, "<details%s><summary>%zu found</summary>\n", count <= 20 ? " open" : "", count);
    wt__html_table(out, NULL, "<tools <finding <advice");
    for (size_t i = 0; i < audit->finding_count; i++)
        if (strcmp(audit->findings[i]->rule, wt__audit_rules[rule].id) == 0)
            put_finding(out, audit->findings[i]);
    wt__html_table_end(out);
    wt__buffer_text(out, "</details>\n");
}

void wt__audit_html(struct buffer *out, const wt_audit_result *audit)
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
