#!/bin/bash
# Completion: the candidates of the command, and their display in bash, zsh and fish. Names of tools are untrusted and
# are never executed.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python
add_catalogue
mkdir folder bin
touch tools.json folder/inside.json
ln -s "$WHICHTOOL" bin/whichtool
PATH=$work/bin:$PATH
# shellcheck disable=SC2016 # names are literal
printf '%s\n' '{"provider": "evil", "name": "$(touch pwned)", "description": "x"}' \
    '{"provider": "evil", "name": "`touch pwned`; touch pwned", "description": "x"}' \
    "{\"provider\": \"evil\", \"name\": \"it's \\\"two\\\" words\", \"description\": \"x\"}" \
    '{"name": "-rf", "description": "x"}' '{"name": "Bare:colon", "description": "x"}' \
    "{\"provider\": \"ev\\u202eil\", \"name\": \"turned\", \"description\": \"x\"}" >evil.jsonl
"$WHICHTOOL" -q add --no-vectors evil.jsonl >/dev/null || exit 1

# ---------------------------------------------------------------- the command
# words, each in its quotes | first line | candidates without their descriptions
while IFS='|' read -r words kind want; do
    eval "expect 0 \"follow $words\" help --follow -- $words"
    same "follow $words" "$kind $want" "$(head -1 out) $(tail -n +2 out | cut -f1 | tr '\n' ' ' | sed 's/ $//')"
    silent err
done <<'ROWS'
f|words|find
''|words|add find pick call list show remove status rename check vectors usage eval train generate mcp distil model serve publish tenants version help
nonsense ''|words|
find rain ''|words|
find --expl|words|--explain
find --explain --expl|words|
find -e --expl|words|
find --strict|words|
add --stri|words|--strict
--js|words|--json
--json --js|words|
find --format ope|words|openai openai-responses openai-search
find --format=ope|words|--format=openai --format=openai-responses --format=openai-search
find --k ''|words|
find --recipe bm|words|bm25
find --recipe den|words|dense
find --recipe se|words|
find --recipe tool2|words|
pick --recipe b|words|
call --recipe bm|words|bm25
call --format a|words|arguments anthropic
call -p w|words|weather
eval -r de|words|dense
eval -r bm25,de|words|bm25,dense
eval ''|folders|
eval --html x|files|
add t|files|
-s ''|stores|
-s nowhere.wt show w|words|
find -p w|words|weather
find --provider=w|words|--provider=weather
find -pw|words|
show we|words|weather/get_forecast weather/get_tides
show weather/get_t|words|weather/get_tides
show t|words|tables/book_table tables/cancel_booking
show x ''|words|
remove weather/get_tides mon|words|money/convert_currency money/list_invoices
list money/|words|money/convert_currency money/list_invoices
show Bare|words|Bare:colon
show -- -|words|-rf
usage ''|words|add list export forget import-segments
usage add t|files|
usage add --request x --tool mo|words|money/convert_currency money/list_invoices
usage add --request x --tool money/list_invoices --tool wea|words|weather/get_forecast weather/get_tides
usage list x|words|
usage list --bef|words|--before
usage add --bef|words|
usage add --outcome ''|words|ok failed success succeeded true failure error false
model p|words|pull pack
model pull a|words|all-MiniLM-L6-v2
model pack ''|words|whichtool-static-v1
model m|words|merge
model quantize --precision i|words|int8
model pull all-MiniLM-L6-v2 ''|words|
find --model a|words|
find --model ./|folders|
train tool2|words|tool2vec tool2vec+refiner
train x ''|words|
help eva|words|eval
help --completions z|words|zsh
check ''|words|
ROWS
expect 0 "a folder for each provider" help --follow -- show ''
same "and tools without one" "-" "$(tail -n +2 out | cut -f1 | grep -cE '^(weather|money|tables|evil)/$' | sed 's/4/-/')"
lacks out "^-rf"
lacks out "202e"
lacks out "$(printf '\342\200\256')"
expect 0 "many" help --follow -- find --model
expect 0 "an invalid store" -s tools.json help --follow -- -s tools.json show w
same "gives no candidates and no message" "words" "$(cat out err)"

# ---------------------------------------------------------------- bash function
# shellcheck source=/dev/null
. "$source_root/completions/whichtool.bash"
# words of the line, as readline breaks them | inserted text
while IFS='|' read -r words want; do
    read -ra COMP_WORDS <<<"$words"
    [ "${words% }" = "$words" ] || COMP_WORDS+=("")
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    COMPREPLY=()
    _whichtool 2>/dev/null
    same "completing \"$words\"" "$want" "${COMPREPLY[*]}"
done <<'ROWS'
whichtool f|find
whichtool find --expl|--explain
whichtool find --format ope|openai openai-responses openai-search
whichtool find --format = ope|openai openai-responses openai-search
whichtool find --format =|table json openai openai-responses anthropic gemini mcp anthropic-reference anthropic-inline openai-search
whichtool find --recipe bm|bm25
whichtool eval -r bm25,de|bm25,dense
whichtool add tools.j|tools.json
whichtool add fold|folder
whichtool eval fold|folder
whichtool eval tool|tools.wt-index
whichtool -s tools.w|tools.wt
whichtool -s tools.wt mod|model
whichtool show "wea|weather/get_forecast weather/get_tides
whichtool show Bare : co|colon
whichtool show evil/$|evil/\$\(touch\ pwned\)
whichtool model p|pull pack
whichtool help --completions z|zsh
ROWS

# ---------------------------------------------------------------- interactive shells
# typed FILE SHELL...: types the lines of FILE on a terminal of its own. Each line appends one to told.txt, which is awaited.
# Keys pressed during a completion are buffered.
typed() {
    "$python" - "$@" >out 2>err <<'PYTHON'
import os, pty, select, signal, sys, time
MOST_SECONDS = 60
keys = open(sys.argv[1], "rb").read().splitlines()
pid, fd = pty.fork()
if pid == 0:
    os.environ.update(TERM="dumb", PS1="> ", HISTFILE="/dev/null", ZDOTDIR=os.getcwd(), INPUTRC="/dev/null")
    os.execvp(sys.argv[2], sys.argv[2:])
def told():
    return open("told.txt", "rb").read().count(b"\n") if os.path.exists("told.txt") else 0
for number, line in enumerate(keys):
    os.write(fd, line + b"\r")
    until = time.monotonic() + MOST_SECONDS
    while told() <= number and time.monotonic() < until:
        if select.select([fd], [], [], .05)[0]:
            sys.stdout.buffer.write(os.read(fd, 65536))
os.kill(pid, signal.SIGKILL)
os.waitpid(pid, 0)
PYTHON
}
# The completed line is executed: whichtool writes its arguments to a file.
cat >bin/told <<'SH'
#!/bin/bash
printf '[%s]' "$@" >>told.txt
echo >>told.txt
SH
chmod +x bin/told
lines() { # COMMAND loads the completion for `told`
    printf '%s\n' "$1; told loaded" "told sta$T" "told show weather/get_t$T" "told find --format=gem$T rain" "told find -p mon$T rain" \
        "told show evil/\\\$$T" "told show evil/it$T"
}
T=$(printf '\t')
want="[loaded]
[status]
[show][weather/get_tides]
[find][--format=gemini][rain]
[find][-p][money][rain]
[show][evil/\$(touch pwned)]
[show][evil/it's \"two\" words]"
lines ". $source_root/completions/whichtool.bash; complete -F _whichtool told" >keys
if have_terminal "completion typed to bash and zsh"; then terminal=yes; else terminal=no; fi
if [ $terminal = yes ]; then
    typed keys bash --norc --noprofile -i
    same "bash, typed to" "$want" "$(cat told.txt)"
fi
if [ $terminal = yes ] && have zsh; then
    rm -f told.txt
    lines "autoload -Uz compinit; compinit -u -D; . $source_root/completions/_whichtool; compdef _whichtool told" >keys
    typed keys zsh -f -i
    same "zsh, typed to" "$want" "$(cat told.txt)"
elif [ $terminal = yes ]; then
    skip "no zsh"
fi
if have fish; then
    fish_completes() { fish --no-config -c ". $source_root/completions/whichtool.fish; complete -C \"\$argv[1]\"" "$1" 2>err | cut -f1 | tr '\n' ' '; }
    while IFS='|' read -r line want; do
        same "fish completes \"$line\"" "$want" "$(fish_completes "$line")"
    done <<'ROWS'
whichtool sta|status 
whichtool show weather/get_t|weather/get_tides 
whichtool find --format=gem|--format=gemini 
whichtool find -p mon|money 
whichtool eval fold|folder/ 
whichtool find --expl|--explain 
ROWS
else
    skip "no fish"
fi
same "no name was run" "" "$(find . -name 'pwned*')"
finish
