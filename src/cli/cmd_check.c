/* cmd_check.c: `whichtool check`: looks for damage, then prints the findings of an audit or writes pins. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cli/cli.h"

enum { SHOWN = 5 /* findings of each rule, without --all */, INDENT = 2, DEEPER = 6 };

static const char *const level_names[] = {"", "note", "warning", "error"};

static void json_finding(struct buffer *out, const wt_finding *finding)
{
    wt__buffer_text(out, "{");
    wt__json_text(out, "rule", finding->rule);
    wt__json_text(out, "level", level_names[finding->level]);
    wt__json_texts(out, "tools", finding->tools, finding->tool_count);
    wt__json_count(out, "more_tools", finding->more_tools);
    wt__json_text(out, "provider", finding->provider);
    wt__json_text(out, "message", finding->message);
    wt__json_text(out, "advice", finding->advice);
    wt__json_number(out, "figure", finding->figure);
    wt__buffer_char(out, '}');
}

static void json_costs(struct buffer *out, const wt_audit_result *audit)
{
    wt__json_key(out, "costs");
    wt__buffer_char(out, '[');
    for (size_t i = 0; i < audit->cost_count; i++) {
        const wt_audit_cost *cost = audit->costs[i];
        wt__buffer_text(out, i > 0 ? ",{" : "{");
        wt__json_text(out, "format", cost->format);
        wt__json_count(out, "tokens", cost->tokens);
        wt__json_count(out, "bytes", cost->bytes);
        wt__json_text(out, "largest", cost->largest);
        wt__json_count(out, "largest_tokens", cost->largest_tokens);
        wt__buffer_char(out, '}');
    }
    wt__buffer_char(out, ']');
}

static void json_audit(struct buffer *out, const wt_audit_result *audit)
{
    wt__buffer_text(out, "{\"sound\":true");
    wt__json_count(out, "tools", audit->tools);
    wt__json_count(out, "providers", audit->providers);
    wt__json_count(out, "errors", audit->errors);
    wt__json_count(out, "warnings", audit->warnings);
    wt__json_count(out, "notes", audit->notes);
    wt__json_key(out, "findings");
    wt__buffer_char(out, '[');
    for (size_t i = 0; i < audit->finding_count; i++) {
        wt__buffer_text(out, i > 0 ? "," : "");
        json_finding(out, audit->findings[i]);
    }
    wt__buffer_char(out, ']');
    json_costs(out, audit);
    wt__json_count(out, "made", audit->made);
    wt__json_count(out, "recorded", audit->recorded);
    wt__json_text(out, "recipe", audit->recipe);
    wt__json_text(out, "encoder", audit->encoder);
    wt__json_text_or_null(out, "notice", audit->notice);
    wt__json_number(out, "seconds", audit->seconds);
    wt__buffer_text(out, "}\n");
}

static void put_finding_tools(const struct cli *cli, struct buffer *out, const wt_finding *finding)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer line = {0};
    for (size_t i = 0; i < finding->tool_count; i++)
        wt__buffer_printf(&line, "%s%s", i > 0 ? ", " : "", finding->tools[i]);
    if (finding->tool_count == 0)
        wt__buffer_text(&line, finding->provider);
    if (finding->more_tools > 0)
        wt__buffer_printf(&line, " and %zu more", finding->more_tools);
    wt__print_line(cli, out, INDENT, line.ptr ? line.ptr : "");
    out->failed |= line.failed;
}

/* Prints the findings of one rule, which are adjacent, from `begin` on. Returns the index after them. */
static size_t put_findings_of_rule(const struct cli *cli, struct buffer *out, const wt_audit_result *audit,
                                   size_t begin)
{
    const char *rule = audit->findings[begin]->rule;
    size_t end = begin, shown;
    while (end < audit->finding_count && strcmp(audit->findings[end]->rule, rule) == 0)
        end++;
    shown = !wt__has_option(cli, OPT_ALL) && end - begin > SHOWN ? begin + SHOWN : end;
    wt__buffer_char(out, '\n');
    wt__style_begin(out, cli->color_out, STYLE_BOLD);
    wt__buffer_printf(out, "%s: %s", level_names[audit->findings[begin]->level], rule);
    wt__style_end(out, cli->color_out);
    wt__buffer_text(out, " (");
    wt__put_grouped(out, end - begin);
    wt__buffer_text(out, ")\n");
    for (size_t i = begin; i < shown; i++) {
        const wt_finding *finding = audit->findings[i];
        put_finding_tools(cli, out, finding);
        wt__print_line(cli, out, DEEPER, finding->message);
        if (i + 1 == shown || strcmp(finding->advice, audit->findings[i + 1]->advice) != 0) {
            wt__style_begin(out, cli->color_out, STYLE_DIM);
            wt__print_line(cli, out, DEEPER, finding->advice);
            wt__style_end(out, cli->color_out);
        }
    }
    if (shown < end) {
        wt__text_pad(out, INDENT);
        wt__buffer_text(out, "and ");
        wt__put_grouped(out, end - shown);
        wt__buffer_text(out, " more; --all shows them\n");
    }
    return end;
}

/* Prints a line such as "755 tools of 28 providers, about 81,000 tokens in a prompt: 2 errors, 40 warnings, 310 notes."
 * The tokens are those of the first format. */
static void put_audit_totals(const struct cli *cli, struct buffer *out, const wt_audit_result *audit)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer line = {0};
    wt__put_count(&line, audit->tools, "tool", "tools");
    wt__buffer_text(&line, " of ");
    wt__put_count(&line, audit->providers, "provider", "providers");
    wt__buffer_text(&line, ", about ");
    wt__put_grouped(&line, audit->cost_count > 0 ? audit->costs[0]->tokens : 0);
    wt__buffer_text(&line, " tokens in a prompt: ");
    wt__put_count(&line, audit->errors, "error", "errors");
    wt__buffer_text(&line, ", ");
    wt__put_count(&line, audit->warnings, "warning", "warnings");
    wt__buffer_text(&line, ", ");
    wt__put_count(&line, audit->notes, "note", "notes");
    wt__buffer_char(&line, '.');
    wt__print_line(cli, out, 0, line.ptr ? line.ptr : "");
    out->failed |= line.failed;
}

static void text_audit(const struct cli *cli, struct buffer *out, const wt_audit_result *audit)
{
    wt__buffer_text(out, "The store and its index are undamaged.\n");
    put_audit_totals(cli, out, audit);
    for (int level = WT_AUDIT_ERROR; level >= WT_AUDIT_NOTE; level--)
        for (size_t i = 0; i < audit->finding_count;) {
            size_t next = i + 1;
            if (audit->findings[i]->level == level)
                next = put_findings_of_rule(cli, out, audit, i);
            i = next;
        }
}

static bool is_check_format(const struct cli *cli, const char *format)
{
    const char *wanted = wt__option_text(cli, OPT_FORMAT);
    return wanted && strcmp(wanted, format) == 0;
}

static int print_audit(struct cli *cli, const wt_audit_result *audit)
{
    struct buffer out = {0};
    char *rendered = NULL;
    wt_error err;
    if (is_check_format(cli, "sarif") || is_check_format(cli, "html")) {
        if (wt_audit_render(audit, wt__option_text(cli, OPT_FORMAT), &rendered, &err) < 0)
            return wt__cli_fail(cli, &err);
        wt__buffer_text(&out, rendered);
        wt_string_free(rendered);
    } else if (cli->json || is_check_format(cli, "json")) {
        json_audit(&out, audit);
    } else {
        text_audit(cli, &out, audit);
    }
    if (!wt__cli_print(&out))
        return END_SYSTEM;
    if (audit->notice)
        wt__cli_note(cli, "Note: %s", audit->notice);
    const char *level = wt__option_text(cli, OPT_LEVEL);
    size_t found = audit->errors;
    found += level && strcmp(level, "error") != 0 ? audit->warnings : 0;
    found += level && strcmp(level, "note") == 0 ? audit->notes : 0;
    return found > 0 ? END_NOTHING : END_DONE;
}

/* Reports an error. An empty catalogue is an error, too, because there is nothing to check. */
static int fail_check(struct cli *cli, const wt_error *err)
{
    return err->code == WT_EEMPTY ? wt__cli_fail_empty(cli) : wt__cli_fail_input(cli, err);
}

static int fail_pins(struct cli *cli, const char *file, const wt_error *err)
{
    return err->code == WT_ENOTFOUND
               ? wt__cli_report(cli, END_INPUT, "%s; create it with `whichtool -s %s check --pin %s`", err->message,
                                cli->store_shown, file)
               : wt__cli_fail_input(cli, err);
}

static int run_audit(struct cli *cli, wt_engine *engine)
{
    struct progress_line line;
    wt_audit_options options;
    wt_audit_result *found = NULL;
    WT_AUTO_FREE char *pins = NULL;
    wt_error err;
    int code;
    wt_audit_options_init(&options);
    if (!wt__option_lines(cli, OPT_RULE, &options.rules, &options.rule_count) ||
        !wt__option_lines(cli, OPT_IGNORE, &options.ignored, &options.ignored_count))
        return wt__cli_report(cli, END_SYSTEM, "out of memory");
    const char *against = wt__option_text(cli, OPT_AGAINST);
    if (against && wt__file_read(&pins, &options.pins_len, against, WT_MAX_PIN_FILE_BYTES, &err) < 0)
        return fail_pins(cli, against, &err);
    options.pins = pins;
    options.pins_file = against;
    options.provider = wt__option_text(cli, OPT_PROVIDER);
    options.searches = (size_t)cli->arguments.number[OPT_SEARCHES];
    options.seed = cli->arguments.number[OPT_SEED];
    options.progress = wt__progress_show;
    options.progress_context = &line;
    wt__watch_interrupt();
    wt__progress_begin(&line, cli);
    int rc = wt_audit(engine, &options, &found, &err);
    wt__progress_clear();
    if (rc == 0)
        code = print_audit(cli, found);
    else if (rc == WT_ECANCELLED)
        code = wt__cli_report(cli, END_INTERRUPTED, "stopped; nothing was changed");
    else if (rc == WT_EINVAL)
        code = wt__cli_usage(cli, "%s", err.message);
    else
        code = fail_check(cli, &err);
    wt_audit_free(found);
    return code;
}

static int write_pin_file(struct cli *cli, wt_engine *engine)
{
    char *pins;
    wt_error err;
    if (wt_audit_pins(engine, wt__option_text(cli, OPT_PROVIDER), &pins, &err) < 0)
        return fail_check(cli, &err);
    return wt__write_pins(cli, wt__option_text(cli, OPT_PIN), pins, "tools", "tool");
}

static int print_undamaged(const struct cli *cli)
{
    struct buffer out = {0};
    wt__buffer_text(&out, cli->json ? "{\"sound\": true}\n" : "The store and its index are undamaged.\n");
    return wt__cli_print(&out) ? 0 : END_SYSTEM;
}

int wt__cmd_check(struct cli *cli)
{
    WT_CLEANUP(wt__close_engine) wt_engine *engine = NULL;
    wt_error err;
    if (wt__has_option(cli, OPT_PIN) && wt__has_option(cli, OPT_AGAINST))
        return wt__cli_usage(cli, "give either --pin or --against");
    bool searches = !wt__has_option(cli, OPT_PIN) && !wt__has_option(cli, OPT_DAMAGE);
    WT_TRY(wt__cli_open(cli, OPEN_EXISTING, searches ? NULL : "", &engine));
    if (wt_check(engine, &err) < 0)
        return wt__cli_fail(cli, &err);
    if (wt__has_option(cli, OPT_DAMAGE))
        return print_undamaged(cli);
    return wt__has_option(cli, OPT_PIN) ? write_pin_file(cli, engine) : run_audit(cli, engine);
}
