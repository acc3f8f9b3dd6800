/* completions.c: what a shell needs to complete the command line. Recipes are asked of the command itself, so that a
 * new one needs no new file. */
#include "cli/help.h"
#include "cli/parse.h"

#define RECIPES "whichtool help --recipes 2>/dev/null | cut -d' ' -f1"

static void verb_names(struct buffer *out)
{
    for (size_t i = 0; i < wt__verb_count; i++)
        wt__buffer_printf(out, "%s%s", i ? " " : "", wt__verbs[i].name);
}

static void quoted_lessons(struct buffer *out, const char *before, const char *after)
{
    wt__buffer_text(out, before);
    wt__lesson_names(out);
    wt__buffer_text(out, after);
}

/* ---------------------------------------------------------------- bash */

static void bash_words(struct buffer *out, const struct option *options, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (options[i].letter)
            wt__buffer_printf(out, " -%c", options[i].letter);
        wt__buffer_printf(out, " --%s", options[i].name);
    }
}

/* The command that makes candidates of a kind. */
static void bash_candidates(struct buffer *out, enum value_kind kind, const char *choices)
{
    if (kind == VALUE_NONE || kind == VALUE_TEXT || kind == VALUE_NUMBER) {
        wt__buffer_text(out, "COMPREPLY=()");
        return;
    }
    wt__buffer_text(out, "mapfile -t COMPREPLY < <(compgen ");
    if (kind == VALUE_CHOICE)
        wt__buffer_printf(out, "-W '%s'", choices);
    else if (kind == VALUE_RECIPE)
        wt__buffer_text(out, "-W \"$(" RECIPES ")\"");
    else if (kind == VALUE_LESSON)
        quoted_lessons(out, "-W '", "'");
    else
        wt__buffer_text(out, kind == VALUE_FILE ? "-f" : kind == VALUE_FOLDER ? "-d" : "-W \"$verbs\"");
    wt__buffer_text(out, " -- \"$word\")");
}

/* A case for each option that takes a value; the pattern is VERB:OPTION, since one name may mean two things. */
static void bash_values(struct buffer *out, const char *verb, const struct option *options, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (options[i].kind == VALUE_NONE)
            continue;
        wt__buffer_text(out, "    ");
        if (options[i].letter)
            wt__buffer_printf(out, "%s:-%c | ", verb, options[i].letter);
        wt__buffer_printf(out, "%s:--%s) ", verb, options[i].name);
        bash_candidates(out, options[i].kind, options[i].choices);
        wt__buffer_text(out, "; return ;;\n");
    }
}

static void bash(struct buffer *out)
{
    wt__buffer_text(out, "# bash completion for whichtool; made by `whichtool help --completions bash`\n"
                         "_whichtool() {\n"
                         "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} verb='' i\n"
                         "  local verbs='");
    verb_names(out);
    wt__buffer_text(out, "'\n"
                         "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
                         "    case \" $verbs \" in *\" ${COMP_WORDS[i]} \"*) verb=${COMP_WORDS[i]}; break ;; esac\n"
                         "  done\n"
                         "  compopt -o filenames 2>/dev/null\n"
                         "  case $verb:$before in\n");
    for (size_t v = 0; v < wt__verb_count; v++)
        bash_values(out, wt__verbs[v].name, wt__verbs[v].options, wt__verbs[v].option_count);
    bash_values(out, "*", wt__global_options, wt__global_option_count);
    wt__buffer_text(out, "  esac\n  local options='");
    bash_words(out, wt__global_options, wt__global_option_count);
    wt__buffer_text(out, "'\n  case $verb in\n    '') ");
    bash_candidates(out, VALUE_VERB, NULL);
    wt__buffer_text(out, " ;;\n");
    for (size_t v = 0; v < wt__verb_count; v++) {
        const struct verb *verb = &wt__verbs[v];
        wt__buffer_printf(out, "    %s) options+='", verb->name);
        bash_words(out, verb->options, verb->option_count);
        wt__buffer_text(out, "'; ");
        bash_candidates(out, verb->choices ? VALUE_CHOICE : verb->kind, verb->choices);
        wt__buffer_text(out, " ;;\n");
    }
    wt__buffer_text(out, "  esac\n"
                         "  [[ $word == -* ]] && mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n"
                         "  return 0\n"
                         "}\n"
                         "complete -F _whichtool whichtool\n");
}

/* ---------------------------------------------------------------- zsh */

/* Text inside single quotes and [brackets] of an _arguments specification. */
static void zsh_text(struct buffer *out, const char *text)
{
    for (const char *c = text; *c; c++) {
        if (*c == '\'')
            wt__buffer_text(out, "'\\''");
        else if (*c == '[' || *c == ']' || *c == ':' || *c == '\\')
            wt__buffer_printf(out, "\\%c", *c);
        else
            wt__buffer_char(out, *c);
    }
}

static void zsh_action(struct buffer *out, enum value_kind kind, const char *choices)
{
    if (kind == VALUE_CHOICE)
        wt__buffer_printf(out, "(%s)", choices);
    else if (kind == VALUE_RECIPE)
        wt__buffer_text(out, "( $(whichtool help --recipes 2>/dev/null | cut -d\" \" -f1) )");
    else if (kind == VALUE_LESSON)
        quoted_lessons(out, "(", ")");
    else if (kind == VALUE_FILE)
        wt__buffer_text(out, "_files");
    else if (kind == VALUE_FOLDER)
        wt__buffer_text(out, "_files -/");
    else if (kind == VALUE_VERB) {
        wt__buffer_char(out, '(');
        verb_names(out);
        wt__buffer_char(out, ')');
    } else {
        wt__buffer_char(out, ' ');
    }
}

static void zsh_option(struct buffer *out, const struct option *option, const char *dashes, const char *name)
{
    wt__buffer_printf(out, " \\\n        '%s%s%s[", dashes, name,
                      option->kind == VALUE_NONE ? ""
                      : dashes[1]                ? "="
                                                 : "+");
    zsh_text(out, option->help);
    wt__buffer_char(out, ']');
    if (option->kind != VALUE_NONE) {
        wt__buffer_char(out, ':');
        zsh_text(out, option->value);
        wt__buffer_char(out, ':');
        zsh_action(out, option->kind, option->choices);
    }
    wt__buffer_char(out, '\'');
}

static void zsh_options(struct buffer *out, const struct option *options, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char letter[2] = {options[i].letter, '\0'};
        if (*letter)
            zsh_option(out, &options[i], "-", letter);
        zsh_option(out, &options[i], "--", options[i].name);
    }
}

static void zsh(struct buffer *out)
{
    wt__buffer_text(out, "#compdef whichtool\n# made by `whichtool help --completions zsh`\n"
                         "_whichtool() {\n  local -a verbs\n  local verb word\n  verbs=(\n");
    for (size_t v = 0; v < wt__verb_count; v++) {
        wt__buffer_printf(out, "    '%s:", wt__verbs[v].name);
        zsh_text(out, wt__verbs[v].summary);
        wt__buffer_text(out, "'\n");
    }
    wt__buffer_text(out, "  )\n"
                         "  for word in ${words[2,CURRENT-1]}; do\n"
                         "    if (( ${verbs[(I)$word:*]} )); then verb=$word; break; fi\n"
                         "  done\n"
                         "  case $verb in\n");
    for (size_t v = 0; v < wt__verb_count; v++) {
        const struct verb *verb = &wt__verbs[v];
        wt__buffer_printf(out, "    %s)\n      _arguments '1: :'", verb->name);
        zsh_options(out, verb->options, verb->option_count);
        zsh_options(out, wt__global_options, wt__global_option_count);
        wt__buffer_text(out, " \\\n        '*:argument:");
        zsh_action(out, verb->choices ? VALUE_CHOICE : verb->kind, verb->choices);
        wt__buffer_text(out, "' ;;\n");
    }
    wt__buffer_text(out, "    *)\n      _arguments");
    zsh_options(out, wt__global_options, wt__global_option_count);
    wt__buffer_text(out, " '1:verb:->verb'\n      _describe verb verbs ;;\n  esac\n}\n_whichtool \"$@\"\n");
}

/* ---------------------------------------------------------------- fish */

static void fish_text(struct buffer *out, const char *text)
{
    wt__buffer_char(out, '\'');
    for (const char *c = text; *c; c++) {
        if (*c == '\'' || *c == '\\')
            wt__buffer_char(out, '\\');
        wt__buffer_char(out, *c);
    }
    wt__buffer_char(out, '\'');
}

static void fish_candidates(struct buffer *out, enum value_kind kind, const char *choices)
{
    if (kind == VALUE_CHOICE)
        wt__buffer_printf(out, " -x -a '%s'", choices);
    else if (kind == VALUE_RECIPE)
        wt__buffer_text(out, " -x -a '(whichtool help --recipes 2>/dev/null | cut -d\" \" -f1)'");
    else if (kind == VALUE_FILE)
        wt__buffer_text(out, " -r -F");
    else if (kind == VALUE_FOLDER)
        wt__buffer_text(out, " -x -a '(__fish_complete_directories)'");
    else if (kind != VALUE_NONE)
        wt__buffer_text(out, " -x");
}

static void fish_options(struct buffer *out, const char *verb, const struct option *options, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        wt__buffer_text(out, "complete -c whichtool");
        if (verb)
            wt__buffer_printf(out, " -n '__fish_seen_subcommand_from %s'", verb);
        if (options[i].letter)
            wt__buffer_printf(out, " -s %c", options[i].letter);
        wt__buffer_printf(out, " -l %s", options[i].name);
        fish_candidates(out, options[i].kind, options[i].choices);
        wt__buffer_text(out, " -d ");
        fish_text(out, options[i].help);
        wt__buffer_char(out, '\n');
    }
}

static void fish(struct buffer *out)
{
    wt__buffer_text(out, "# fish completion for whichtool; made by `whichtool help --completions fish`\n"
                         "complete -c whichtool -f\n");
    fish_options(out, NULL, wt__global_options, wt__global_option_count);
    for (size_t v = 0; v < wt__verb_count; v++) {
        const struct verb *verb = &wt__verbs[v];
        wt__buffer_printf(out, "complete -c whichtool -n __fish_use_subcommand -a %s -d ", verb->name);
        fish_text(out, verb->summary);
        wt__buffer_char(out, '\n');
        fish_options(out, verb->name, verb->options, verb->option_count);
        if (verb->choices || verb->kind == VALUE_LESSON || verb->kind == VALUE_VERB || verb->kind == VALUE_FILE ||
            verb->kind == VALUE_FOLDER) {
            wt__buffer_printf(out, "complete -c whichtool -n '__fish_seen_subcommand_from %s'", verb->name);
            if (verb->kind == VALUE_FILE || verb->kind == VALUE_FOLDER) {
                wt__buffer_text(out, " -F");
            } else {
                wt__buffer_text(out, " -a '");
                if (verb->choices)
                    wt__buffer_text(out, verb->choices);
                else if (verb->kind == VALUE_LESSON)
                    wt__lesson_names(out);
                else
                    verb_names(out);
                wt__buffer_char(out, '\'');
            }
            wt__buffer_char(out, '\n');
        }
    }
}

void wt__completions(struct buffer *out, const char *shell)
{
    if (strcmp(shell, "bash") == 0)
        bash(out);
    else if (strcmp(shell, "zsh") == 0)
        zsh(out);
    else
        fish(out);
}
