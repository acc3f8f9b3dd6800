/* cmd_help.c: `whichtool help` and `version`: help texts, the manual page and completion scripts, all generated from
 * the table of options.h. */
#include "cli/cli.h"

/* ---------------------------------------------------------------- help texts */

enum { READABLE = 80, GAP = 2, DEEPEST_LABEL = 24 };

/* Returns the line width of help: the width of the terminal, but at most READABLE. */
static size_t help_width(const struct cli *cli)
{
    return cli->width && cli->width < READABLE ? cli->width : READABLE;
}

static void print_heading(const struct cli *cli, struct buffer *out, const char *text)
{
    wt__buffer_char(out, '\n');
    wt__style_begin(out, cli->color_out, STYLE_BOLD);
    wt__buffer_text(out, text);
    wt__style_end(out, cli->color_out);
    wt__buffer_char(out, '\n');
}

/* Prints a label and its meaning in two columns, or on two lines if the terminal is narrow or the label long. */
static void print_entry(const struct cli *cli, struct buffer *out, const char *label, const char *means, size_t column)
{
    size_t taken = GAP + strlen(label), width = help_width(cli);
    if (column > width / 2)
        column = 2 * GAP;
    wt__text_pad(out, GAP);
    wt__style_begin(out, cli->color_out, STYLE_BOLD);
    wt__buffer_text(out, label);
    wt__style_end(out, cli->color_out);
    if (taken + GAP > column) {
        wt__buffer_char(out, '\n');
        taken = 0;
    }
    wt__text_pad(out, column - taken);
    wt__text_wrap(out, wt__str(means), column, width);
    wt__buffer_char(out, '\n');
}

/* Appends "-k, --k N". */
static void put_option_label(struct buffer *label, const struct cli_option *option)
{
    if (option->letter)
        wt__buffer_printf(label, "-%c, ", option->letter);
    wt__buffer_printf(label, "--%s", option->name);
    if (option->kind != VALUE_NONE)
        wt__buffer_printf(label, " %s", option->value);
}

static void print_option_list(const struct cli *cli, struct buffer *out, const struct cli_option *options, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        WT_CLEANUP(wt__buffer_dispose) struct buffer label = {0}, means = {0};
        put_option_label(&label, &options[i]);
        wt__buffer_text(&means, options[i].help);
        if (options[i].kind == VALUE_CHOICE)
            wt__buffer_printf(&means, " One of: %s.", options[i].choices);
        print_entry(cli, out, label.ptr ? label.ptr : "", means.ptr ? means.ptr : "", DEEPEST_LABEL + 2 * GAP);
        out->failed |= label.failed | means.failed;
    }
}

static void print_meanings(const struct cli *cli, struct buffer *out, const char *title, const struct cli_meaning *list,
                           size_t count, size_t column)
{
    print_heading(cli, out, title);
    for (size_t i = 0; i < count; i++)
        print_entry(cli, out, list[i].word, list[i].means, column);
}

static void print_command_help(const struct cli *cli, struct buffer *out)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer purpose = {0};
    wt__buffer_printf(&purpose, "whichtool: %s.\n\nUsage: whichtool [OPTION...] VERB [ARGUMENT...]", wt__purpose);
    wt__text_wrap(out, wt__buffer_view(&purpose), 0, help_width(cli));
    wt__buffer_char(out, '\n');
    print_heading(cli, out, "Verbs");
    for (size_t i = 0; i < wt__verb_count; i++)
        print_entry(cli, out, wt__verbs[i]->name, wt__verbs[i]->summary, 12);
    print_heading(cli, out, "Options of every verb");
    print_option_list(cli, out, wt__global_options, wt__global_option_count);
    print_meanings(cli, out, "Exit status", wt__exit_codes, wt__exit_code_count, 8);
    print_meanings(cli, out, "Environment", wt__environment, wt__environment_count, DEEPEST_LABEL);
    wt__buffer_text(out, "\nSee `whichtool help VERB` for details.\n");
}

static void print_verb_help(const struct cli *cli, struct buffer *out, const struct cli_verb *verb)
{
    size_t width = help_width(cli);
    WT_CLEANUP(wt__buffer_dispose) struct buffer usage = {0};
    wt__buffer_printf(&usage, "whichtool %s: %s.\n\nUsage: whichtool %s%s%s [OPTION...]", verb->name, verb->summary,
                      verb->name, *verb->arguments ? " " : "", verb->arguments);
    wt__text_wrap(out, wt__buffer_view(&usage), 0, width);
    wt__buffer_text(out, "\n\n");
    wt__text_wrap(out, wt__str(verb->text), 0, width);
    wt__buffer_char(out, '\n');
    if (verb->option_count) {
        print_heading(cli, out, "Options");
        print_option_list(cli, out, verb->options, verb->option_count);
    }
    print_heading(cli, out, "Options of every verb");
    print_option_list(cli, out, wt__global_options, wt__global_option_count);
    if (verb->example_count)
        print_heading(cli, out, "Examples");
    for (size_t i = 0; i < verb->example_count; i++) {
        wt__text_pad(out, GAP);
        wt__buffer_text(out, verb->examples[i].command);
        wt__buffer_char(out, '\n');
        wt__text_pad(out, 3 * GAP);
        wt__text_wrap(out, wt__str(verb->examples[i].says), 3 * GAP, width);
        wt__buffer_char(out, '\n');
    }
}

static void print_recipes(const struct cli *cli, struct buffer *out)
{
    const wt_recipe *recipe = NULL;
    int column = 0; /* column at which the summaries start */
    for (size_t i = 0; (recipe = wt__recipe_listed(i)); i++)
        column = (int)strlen(recipe->name) + 1 > column ? (int)strlen(recipe->name) + 1 : column;
    for (size_t i = 0; (recipe = wt__recipe_listed(i)); i++) {
        size_t width = cli->width ? help_width(cli) : 0;
        wt__buffer_printf(out, "%-*s", column, recipe->name);
        WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
        wt__buffer_printf(&text, "%s%s", recipe->summary,
                          recipe->needs_training ? " (needs training)"
                          : recipe->needs_model  ? " (needs a model)"
                                                 : "");
        wt__text_wrap(out, wt__buffer_view(&text), (size_t)column, width);
        wt__buffer_char(out, '\n');
    }
}

/* ---------------------------------------------------------------- manual page */

#define RELEASED "2026-11-22" /* date of WT_VERSION */

enum { LINE = 62 }; /* columns after which a blank becomes a line end; roff fills paragraphs anyway */

/* Appends text with roff's special characters escaped: backslashes, dashes, and dots or quotes at the start of a line.
 * A newline starts a paragraph. */
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

static void put_man_page(struct buffer *out)
{
    wt__buffer_text(out, ".\\\" Made by `whichtool help --man` from src/cli/options*.c; change it there.\n");
    wt__buffer_text(out, ".TH WHICHTOOL 1 \"" RELEASED "\" \"whichtool " WT_VERSION
                         "\" \"User commands\"\n.SH NAME\nwhichtool \\- ");
    put_man_line(out, "", wt__purpose);
    wt__buffer_text(out, ".SH SYNOPSIS\n.B whichtool\n[\\fIOPTION\\fR...] \\fIVERB\\fR [\\fIARGUMENT\\fR...]\n"
                         ".SH DESCRIPTION\n");
    put_man_line(
        out, "",
        "whichtool stores tool definitions (MCP, OpenAI, Anthropic and Gemini functions, OpenAPI documents, and more) "
        "in one file. For a request in plain words it finds the few tools that the request needs, offline, in "
        "milliseconds. Options may come before or after arguments; -- ends them. Results go to standard output, "
        "everything else to standard error.");
    wt__buffer_text(out, ".SH VERBS\n");
    for (size_t i = 0; i < wt__verb_count; i++)
        put_man_verb(out, wt__verbs[i]);
    wt__buffer_text(out, ".SH OPTIONS OF EVERY VERB\n");
    put_man_options(out, wt__global_options, wt__global_option_count);
    put_man_meanings(out, "EXIT STATUS", wt__exit_codes, wt__exit_code_count);
    put_man_meanings(out, "ENVIRONMENT", wt__environment, wt__environment_count);
    put_man_meanings(out, "FILES", wt__files, wt__file_count);
}

/* ---------------------------------------------------------------- completion scripts */

/* The scripts get candidates from `whichtool help --follow` (complete.c), so that new verbs, options, recipes and tools
 * need no new script. The candidates contain untrusted text. The scripts must not evaluate them, so the bash script
 * does not use compgen -W. */

/* Readline breaks words at = and :. The script joins the parts of a word again. It then removes the part before the
 * last break from each candidate, because readline replaces only the part after it. */
static const char bash_script[] =
    "# bash completion for whichtool; made by `whichtool help --completions bash`\n"
    "_whichtool() {\n"
    "  local word=${COMP_WORDS[COMP_CWORD]} words=() lines=() kind='' value lead i\n"
    "  for ((i = 1; i <= COMP_CWORD; i++)); do\n"
    "    value=${COMP_WORDS[i]}\n"
    "    value=${value#[\\\"\\']}\n"
    "    value=${value%[\\\"\\']}\n"
    "    value=${value//\\\\/}\n"
    "    [[ $value != '~/'* ]] || value=$HOME/${value:2}\n"
    "    if ((i > 1)) && [[ ${COMP_WORDS[i]} == [=:]* || ${COMP_WORDS[i - 1]} == [=:]* ]]; then\n"
    "      words[${#words[@]} - 1]+=$value\n"
    "    else\n"
    "      words+=(\"$value\")\n"
    "    fi\n"
    "  done\n"
    "  [[ $word != [=:] ]] || word=''\n"
    "  lead=${words[${#words[@]} - 1]%\"$value\"}\n"
    "  [[ $value != [=:] ]] || lead=${words[${#words[@]} - 1]}\n"
    "  { read -r kind; mapfile -t lines; } < <(command whichtool help --follow -- \"${words[@]}\" 2>/dev/null)\n"
    "  COMPREPLY=()\n"
    "  case $kind in\n"
    "    files | folders | stores) compopt -o filenames 2>/dev/null ;;\n"
    "  esac\n"
    "  case $kind in\n"
    "    files) mapfile -t COMPREPLY < <(compgen -f -- \"$word\") ;;\n"
    "    folders) mapfile -t COMPREPLY < <(compgen -d -- \"$word\") ;;\n"
    "    stores) mapfile -t COMPREPLY < <(compgen -f -X '!*.wt' -- \"$word\"; compgen -d -X '*.wt-*' -- \"$word\") ;;\n"
    "    words)\n"
    "      for value in \"${lines[@]}\"; do\n"
    "        value=${value%%$'\\t'*}\n"
    "        value=${value#\"$lead\"}\n"
    "        [[ $value != *[!A-Za-z0-9_./:=@,+-]* ]] || printf -v value %q \"$value\"\n"
    "        COMPREPLY+=(\"$value\")\n"
    "      done\n"
    "      [[ ${#COMPREPLY[@]} != 1 || ${COMPREPLY[0]} != */ ]] || compopt -o nospace 2>/dev/null ;;\n"
    "  esac\n"
    "  return 0\n"
    "}\n"
    "complete -F _whichtool whichtool\n";

static const char zsh_script[] =
    "#compdef whichtool\n"
    "# made by `whichtool help --completions zsh`\n"
    "_whichtool() {\n"
    "  local -a lines values shown folders\n"
    "  local line value\n"
    "  lines=(\"${(@f)$(command whichtool help --follow -- \"${(@Q)words[2,CURRENT-1]}\" \"${(Q)PREFIX}\" "
    "2>/dev/null)}\")\n"
    "  case $lines[1] in\n"
    "    files) _files ;;\n"
    "    folders) _files -/ ;;\n"
    "    stores) _files -g '*.wt' ;;\n"
    "    words)\n"
    "      for line in \"${(@)lines[2,-1]}\"; do\n"
    "        value=${line%%$'\\t'*}\n"
    "        if [[ $value == */ ]]; then\n"
    "          folders+=(\"$value\")\n"
    "        else\n"
    "          values+=(\"$value\")\n"
    "          shown+=(\"${line/$'\\t'/  -- }\")\n"
    "        fi\n"
    "      done\n"
    "      (( $#folders )) && compadd -S '' -a folders\n"
    "      (( $#values )) && compadd -l -d shown -a values ;;\n"
    "  esac\n"
    "}\n"
    "if [[ $funcstack[1] == _whichtool ]]; then _whichtool \"$@\"; else compdef _whichtool whichtool; fi\n";

static const char fish_script[] =
    "# fish completion for whichtool; made by `whichtool help --completions fish`\n"
    "function __whichtool_follow\n"
    "    set -l current (commandline -ct)\n"
    "    set -l before (commandline -opc)\n"
    "    set -l lines (command whichtool help --follow -- $before[2..-1] \"$current\" 2>/dev/null)\n"
    "    switch \"$lines[1]\"\n"
    "        case files\n"
    "            __fish_complete_path \"$current\"\n"
    "        case folders\n"
    "            __fish_complete_directories \"$current\"\n"
    "        case stores\n"
    "            __fish_complete_suffix .wt\n"
    "        case words\n"
    "            printf '%s\\n' $lines[2..-1]\n"
    "    end\n"
    "end\n"
    "complete -c whichtool -f -a '(__whichtool_follow)'\n";

static void put_completions(struct buffer *out, const char *shell)
{
    wt__buffer_text(out, strcmp(shell, "bash") == 0  ? bash_script
                         : strcmp(shell, "zsh") == 0 ? zsh_script
                                                     : fish_script);
}

/* ---------------------------------------------------------------- verbs */

static int refuse_unknown_verb(struct cli *cli, const char *name)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer hint = {0};
    wt__suggest_verb(&hint, name);
    int code = wt__cli_report(cli, END_USAGE, "unknown verb \"%s\"%s", name,
                              hint.ptr ? hint.ptr : "; `whichtool help` lists the verbs");
    return code;
}

int wt__cmd_help(struct cli *cli)
{
    const struct cli_verb *verb = cli->arguments.verb;
    const struct arguments *a = &cli->arguments;
    struct buffer out = {0};
    if (verb && verb->run == wt__cmd_help && wt__has_option(cli, OPT_FOLLOW)) {
        wt__complete_line(cli, a->words, a->word_count, &out);
        return wt__cli_print(&out) ? 0 : END_SYSTEM;
    }
    if (verb && verb->run == wt__cmd_help && a->word_count > 1)
        return wt__cli_usage(cli, "`help` takes %s, but \"%s\" follows; `whichtool help %s` shows all help of a verb",
                             verb->arguments, a->words[1], wt__verb_find(a->words[0]) ? a->words[0] : "VERB");
    /* `find --help` has the verb find; `help find` has the verb help and a word. */
    if (verb && verb->run == wt__cmd_help && cli->arguments.word_count > 0) {
        const char *name = cli->arguments.words[0];
        verb = wt__verb_find(name);
        if (!verb)
            return refuse_unknown_verb(cli, name);
    } else if (verb && verb->run == wt__cmd_help && !wt__has_option(cli, OPT_HELP)) {
        verb = NULL;
    }
    if (wt__has_option(cli, OPT_MAN))
        put_man_page(&out);
    else if (wt__has_option(cli, OPT_COMPLETIONS))
        put_completions(&out, wt__option_text(cli, OPT_COMPLETIONS));
    else if (wt__has_option(cli, OPT_RECIPES))
        print_recipes(cli, &out);
    else if (verb)
        print_verb_help(cli, &out, verb);
    else
        print_command_help(cli, &out);
    return wt__cli_print(&out) ? 0 : END_SYSTEM;
}

int wt__cmd_version(struct cli *cli)
{
    struct buffer out = {0};
    if (cli->json) {
        wt__buffer_char(&out, '{');
        wt__json_text(&out, "version", wt_version());
        wt__buffer_text(&out, "}\n");
    } else {
        wt__buffer_printf(&out, "whichtool %s\n", wt_version());
    }
    return wt__cli_print(&out) ? 0 : END_SYSTEM;
}
