# bash completion for whichtool; made by `whichtool help --completions bash`
_whichtool() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} verb='' i
  local verbs='add find pick list show remove rename check usage eval train model version help'
  for ((i = 1; i < COMP_CWORD; i++)); do
    case " $verbs " in *" ${COMP_WORDS[i]} "*) verb=${COMP_WORDS[i]}; break ;; esac
  done
  compopt -o filenames 2>/dev/null
  case $verb:$before in
    add:-f | add:--format) mapfile -t COMPREPLY < <(compgen -W 'mcp openai anthropic gemini openapi rapidapi jsonl beir' -- "$word"); return ;;
    add:-p | add:--provider) COMPREPLY=(); return ;;
    add:--model) COMPREPLY=(); return ;;
    add:--models) mapfile -t COMPREPLY < <(compgen -d -- "$word"); return ;;
    find:-k | find:--k) COMPREPLY=(); return ;;
    find:-r | find:--recipe) mapfile -t COMPREPLY < <(compgen -W "$(whichtool help --recipes 2>/dev/null | cut -d' ' -f1)" -- "$word"); return ;;
    find:-p | find:--provider) COMPREPLY=(); return ;;
    find:--max-per-provider) COMPREPLY=(); return ;;
    find:--timeout) COMPREPLY=(); return ;;
    find:--abstain) COMPREPLY=(); return ;;
    find:-f | find:--format) mapfile -t COMPREPLY < <(compgen -W 'table json openai openai-responses anthropic gemini mcp' -- "$word"); return ;;
    find:--model) COMPREPLY=(); return ;;
    find:--models) mapfile -t COMPREPLY < <(compgen -d -- "$word"); return ;;
    pick:-r | pick:--recipe) mapfile -t COMPREPLY < <(compgen -W "$(whichtool help --recipes 2>/dev/null | cut -d' ' -f1)" -- "$word"); return ;;
    pick:--complete) COMPREPLY=(); return ;;
    pick:--abstain) COMPREPLY=(); return ;;
    pick:-p | pick:--provider) COMPREPLY=(); return ;;
    pick:-f | pick:--format) mapfile -t COMPREPLY < <(compgen -W 'table json openai openai-responses anthropic gemini mcp' -- "$word"); return ;;
    pick:--timeout) COMPREPLY=(); return ;;
    pick:--base-retriever) mapfile -t COMPREPLY < <(compgen -W "$(whichtool help --recipes 2>/dev/null | cut -d' ' -f1)" -- "$word"); return ;;
    pick:--ablate) COMPREPLY=(); return ;;
    pick:--chat-url) COMPREPLY=(); return ;;
    pick:--chat-model) COMPREPLY=(); return ;;
    pick:--record) mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
    pick:--replay) mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
    pick:--model) COMPREPLY=(); return ;;
    pick:--models) mapfile -t COMPREPLY < <(compgen -d -- "$word"); return ;;
    list:-p | list:--provider) COMPREPLY=(); return ;;
    list:--limit) COMPREPLY=(); return ;;
    list:--offset) COMPREPLY=(); return ;;
    show:-f | show:--format) mapfile -t COMPREPLY < <(compgen -W 'openai openai-responses anthropic gemini mcp' -- "$word"); return ;;
    remove:-p | remove:--provider) COMPREPLY=(); return ;;
    rename:--model) COMPREPLY=(); return ;;
    rename:--models) mapfile -t COMPREPLY < <(compgen -d -- "$word"); return ;;
    usage:--split) COMPREPLY=(); return ;;
    usage:-t | usage:--tool) COMPREPLY=(); return ;;
    usage:--before) COMPREPLY=(); return ;;
    usage:--client) COMPREPLY=(); return ;;
    usage:--after) COMPREPLY=(); return ;;
    usage:--limit) COMPREPLY=(); return ;;
    usage:--model) COMPREPLY=(); return ;;
    usage:--models) mapfile -t COMPREPLY < <(compgen -d -- "$word"); return ;;
    eval:--split) COMPREPLY=(); return ;;
    eval:-r | eval:--recipe) mapfile -t COMPREPLY < <(compgen -W "$(whichtool help --recipes 2>/dev/null | cut -d' ' -f1)" -- "$word"); return ;;
    eval:-k | eval:--k) COMPREPLY=(); return ;;
    eval:--limit) COMPREPLY=(); return ;;
    eval:--run) mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
    eval:--qrels) mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
    eval:--html) mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
    eval:--trained) mapfile -t COMPREPLY < <(compgen -d -- "$word"); return ;;
    eval:--usages) COMPREPLY=(); return ;;
    eval:--out-of-domain) mapfile -t COMPREPLY < <(compgen -d -- "$word"); return ;;
    eval:--bootstrap) COMPREPLY=(); return ;;
    eval:--timed) COMPREPLY=(); return ;;
    eval:--max-per-provider) COMPREPLY=(); return ;;
    eval:--seed) COMPREPLY=(); return ;;
    eval:--cache) mapfile -t COMPREPLY < <(compgen -d -- "$word"); return ;;
    eval:--oracle) COMPREPLY=(); return ;;
    eval:--base-retriever) mapfile -t COMPREPLY < <(compgen -W "$(whichtool help --recipes 2>/dev/null | cut -d' ' -f1)" -- "$word"); return ;;
    eval:--ablate) COMPREPLY=(); return ;;
    eval:--chat-url) COMPREPLY=(); return ;;
    eval:--chat-model) COMPREPLY=(); return ;;
    eval:--record) mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
    eval:--replay) mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
    eval:--model) COMPREPLY=(); return ;;
    eval:--models) mapfile -t COMPREPLY < <(compgen -d -- "$word"); return ;;
    train:--data) mapfile -t COMPREPLY < <(compgen -d -- "$word"); return ;;
    train:--most) COMPREPLY=(); return ;;
    train:--out) mapfile -t COMPREPLY < <(compgen -d -- "$word"); return ;;
    train:--epochs) COMPREPLY=(); return ;;
    train:--batch) COMPREPLY=(); return ;;
    train:--accumulate) COMPREPLY=(); return ;;
    train:--lr) COMPREPLY=(); return ;;
    train:--freeze) COMPREPLY=(); return ;;
    train:--loss) COMPREPLY=(); return ;;
    train:--precision) COMPREPLY=(); return ;;
    train:--candidates) COMPREPLY=(); return ;;
    train:--fields) COMPREPLY=(); return ;;
    train:--negatives) COMPREPLY=(); return ;;
    train:--synthetic) COMPREPLY=(); return ;;
    train:--seed) COMPREPLY=(); return ;;
    train:--threads) COMPREPLY=(); return ;;
    train:--memory) COMPREPLY=(); return ;;
    train:--cache) mapfile -t COMPREPLY < <(compgen -d -- "$word"); return ;;
    train:--model) COMPREPLY=(); return ;;
    train:--models) mapfile -t COMPREPLY < <(compgen -d -- "$word"); return ;;
    model:--models) mapfile -t COMPREPLY < <(compgen -d -- "$word"); return ;;
    help:--completions) mapfile -t COMPREPLY < <(compgen -W 'bash zsh fish' -- "$word"); return ;;
    *:-s | *:--store) mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
  esac
  local options=' -s --store --json -q --quiet --no-color -h --help --version'
  case $verb in
    '') mapfile -t COMPREPLY < <(compgen -W "$verbs" -- "$word") ;;
    add) options+=' -f --format -p --provider --sync --strict --no-vectors --model --models'; mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    find) options+=' -k --k -r --recipe -e --explain -p --provider --max-per-provider --copies --timeout --abstain -f --format --model --models'; COMPREPLY=() ;;
    pick) options+=' -r --recipe --complete --abstain -e --explain -p --provider -f --format --timeout --base-retriever --ablate --chat-url --chat-model --record --replay --model --models'; COMPREPLY=() ;;
    list) options+=' -p --provider --providers --limit --offset'; COMPREPLY=() ;;
    show) options+=' --definition --schema -f --format'; COMPREPLY=() ;;
    remove) options+=' -p --provider -y --yes'; COMPREPLY=() ;;
    rename) options+=' --no-vectors --model --models'; COMPREPLY=() ;;
    check) options+=''; COMPREPLY=() ;;
    usage) options+=' --split --strict -t --tool --before --client --after --limit --all -y --yes --no-vectors --model --models'; mapfile -t COMPREPLY < <(compgen -W 'add list export forget' -- "$word") ;;
    eval) options+=' --split -r --recipe -k --k --limit --run --qrels --html --trained --usages --out-of-domain --bootstrap --timed --max-per-provider --copies --seed --cache --oracle --base-retriever --ablate --chat-url --chat-model --record --replay --model --models'; mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
    train) options+=' --data --most --out --epochs --batch --accumulate --lr --freeze --loss --precision --candidates --fields --negatives --synthetic --seed --resume --threads --memory --cache --model --models'; mapfile -t COMPREPLY < <(compgen -W 'encoder dpr tool2vec mlc neighbours tool2vec+refiner mlc+refiner auto set cross toolrerank all' -- "$word") ;;
    model) options+=' --models'; mapfile -t COMPREPLY < <(compgen -W 'list info pull pack' -- "$word") ;;
    version) options+=''; COMPREPLY=() ;;
    help) options+=' --recipes --man --completions'; mapfile -t COMPREPLY < <(compgen -W "$verbs" -- "$word") ;;
  esac
  [[ $word == -* ]] && mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
  return 0
}
complete -F _whichtool whichtool
