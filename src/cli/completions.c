/* completions.c: completion scripts for shells. Each script asks the command (follow.h), so that new verbs, options,
 * recipes and tools need no new script. The answers contain untrusted text, and no script evaluates them, as bash's
 * compgen -W would. */
#include "cli/help.h"

/* Readline breaks words at = and :, so the script joins the words of the line again, and strips the part before the
 * break from the candidates. */
static const char bash[] =
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

static const char zsh[] =
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

static const char fish[] =
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

void wt__completions(struct buffer *out, const char *shell)
{
    wt__buffer_text(out, strcmp(shell, "bash") == 0 ? bash : strcmp(shell, "zsh") == 0 ? zsh : fish);
}
