/* man.c: the manual page, in the classic man macros. */
#include "cli/help.h"

#define RELEASED "2026-11-22" /* date of WT_VERSION */

enum { LINE = 62 }; /* columns after which a blank becomes a line end; roff fills paragraphs anyway */

/* Appends text with roff's special characters escaped: backslashes, dashes, and dots or quotes at the begin of a
 * line. */
static void put_roff(struct buffer *out, const char *text)
{
    size_t column = 0;
    for (const char *c = text; *c; c++) {
        if (column++ == 0 && (*c == '.' || *c == '\''))
            wt__buffer_text(out, "\\&");
        if (*c == '\\') {
            wt__buffer_text(out, "\\e");
        } else if (*c == '-') {
            wt__buffer_text(out, "\\-");
        } else if (*c == '\n') {
            wt__buffer_text(out, "\n.PP\n");
            column = 0;
        } else if (*c == ' ' && (column > LINE || (c > text && c[-1] == '.' && column > 1))) {
            wt__buffer_char(out, '\n');
            column = 0;
        } else {
            wt__buffer_char(out, *c);
        }
    }
}

/* Appends escaped text without line breaks, for the middle of a line. */
static void put_roff_word(struct buffer *out, const char *text)
{
    for (const char *c = text; *c; c++) {
        if (*c == '\\')
            wt__buffer_text(out, "\\e");
        else if (*c == '-')
            wt__buffer_text(out, "\\-");
        else
            wt__buffer_char(out, *c);
    }
}

static void put_man_line(struct buffer *out, const char *macro, const char *text)
{
    wt__buffer_text(out, macro);
    put_roff(out, text);
    wt__buffer_char(out, '\n');
}

static void put_man_options(struct buffer *out, const struct cli_option *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        wt__buffer_text(out, ".TP\n");
        if (list[i].letter)
            wt__buffer_printf(out, "\\fB\\-%c\\fR, ", list[i].letter);
        wt__buffer_text(out, "\\fB\\-\\-");
        put_roff(out, list[i].name);
        wt__buffer_text(out, "\\fR");
        if (list[i].kind != VALUE_NONE) {
            wt__buffer_text(out, " \\fI");
            put_roff(out, list[i].value);
            wt__buffer_text(out, "\\fR");
        }
        wt__buffer_char(out, '\n');
        put_man_line(out, "", list[i].help);
        if (list[i].kind == VALUE_CHOICE) {
            wt__buffer_text(out, "One of: ");
            put_roff(out, list[i].choices);
            wt__buffer_text(out, ".\n");
        }
    }
}

static void put_man_verb(struct buffer *out, const struct cli_verb *v)
{
    wt__buffer_printf(out, ".SS \"whichtool %s", v->name);
    if (*v->arguments) {
        wt__buffer_char(out, ' ');
        put_roff_word(out, v->arguments);
    }
    wt__buffer_text(out, "\"\n");
    put_roff(out, v->summary);
    wt__buffer_text(out, ".\n.PP\n");
    put_man_line(out, "", v->text);
    put_man_options(out, v->options, v->option_count);
    for (size_t i = 0; i < v->example_count; i++) {
        wt__buffer_text(out, ".TP\n\\fB");
        put_roff_word(out, v->examples[i].command);
        wt__buffer_text(out, "\\fR\n");
        put_man_line(out, "", v->examples[i].says);
    }
}

static void put_man_meanings(struct buffer *out, const char *title, const struct cli_meaning *list, size_t count)
{
    put_man_line(out, ".SH ", title);
    for (size_t i = 0; i < count; i++) {
        wt__buffer_text(out, ".TP\n.B ");
        put_roff_word(out, list[i].word);
        wt__buffer_char(out, '\n');
        put_man_line(out, "", list[i].means);
    }
}

void wt__man_page(struct buffer *out)
{
    wt__buffer_text(out, ".\\\" Made by `whichtool help --man` from src/cli/options.c; change it there.\n");
    wt__buffer_text(out, ".TH WHICHTOOL 1 \"" RELEASED "\" \"whichtool " WT_VERSION
                         "\" \"User commands\"\n.SH NAME\nwhichtool \\- ");
    put_man_line(out, "", wt__purpose);
    wt__buffer_text(out, ".SH SYNOPSIS\n.B whichtool\n[\\fIOPTION\\fR...] \\fIVERB\\fR [\\fIARGUMENT\\fR...]\n"
                         ".SH DESCRIPTION\n");
    put_man_line(
        out, "",
        "whichtool keeps tool definitions (MCP, OpenAI, Anthropic and Gemini functions, OpenAPI documents, and more) "
        "in one file and answers a request in plain words with the few that it needs, offline, in milliseconds. "
        "Options may stand before or after arguments; -- ends them. Results go to standard output, everything else to "
        "standard error.");
    wt__buffer_text(out, ".SH VERBS\n");
    for (size_t i = 0; i < wt__verb_count; i++)
        put_man_verb(out, &wt__verbs[i]);
    wt__buffer_text(out, ".SH OPTIONS OF EVERY VERB\n");
    put_man_options(out, wt__global_options, wt__global_option_count);
    put_man_meanings(out, "EXIT STATUS", wt__exit_codes, wt__exit_code_count);
    put_man_meanings(out, "ENVIRONMENT", wt__environment, wt__environment_count);
    put_man_meanings(out, "FILES", wt__files, wt__file_count);
}
