# bash completion for whichtool; made by `whichtool help --completions bash`
_whichtool() {
  local word=${COMP_WORDS[COMP_CWORD]} words=() lines=() kind='' value lead i
  for ((i = 1; i <= COMP_CWORD; i++)); do
    value=${COMP_WORDS[i]}
    value=${value#[\"\']}
    value=${value%[\"\']}
    value=${value//\\/}
    [[ $value != '~/'* ]] || value=$HOME/${value:2}
    if ((i > 1)) && [[ ${COMP_WORDS[i]} == [=:]* || ${COMP_WORDS[i - 1]} == [=:]* ]]; then
      words[${#words[@]} - 1]+=$value
    else
      words+=("$value")
    fi
  done
  [[ $word != [=:] ]] || word=''
  lead=${words[${#words[@]} - 1]%"$value"}
  [[ $value != [=:] ]] || lead=${words[${#words[@]} - 1]}
  { read -r kind; mapfile -t lines; } < <(command whichtool help --follow -- "${words[@]}" 2>/dev/null)
  COMPREPLY=()
  case $kind in
    files | folders | stores) compopt -o filenames 2>/dev/null ;;
  esac
  case $kind in
    files) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    folders) mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
    stores) mapfile -t COMPREPLY < <(compgen -f -X '!*.wt' -- "$word"; compgen -d -X '*.wt-*' -- "$word") ;;
    words)
      for value in "${lines[@]}"; do
        value=${value%%$'\t'*}
        value=${value#"$lead"}
        [[ $value != *[!A-Za-z0-9_./:=@,+-]* ]] || printf -v value %q "$value"
        COMPREPLY+=("$value")
      done
      [[ ${#COMPREPLY[@]} != 1 || ${COMPREPLY[0]} != */ ]] || compopt -o nospace 2>/dev/null ;;
  esac
  return 0
}
complete -F _whichtool whichtool
