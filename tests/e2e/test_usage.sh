#!/bin/bash
# The command line: accepted lines, and the messages for errors.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
add_catalogue

# exit code | message | arguments
while IFS='|' read -r code sentence arguments; do
    eval "expect $code \"\$arguments\" $arguments"
    says "$sentence"
    silent out
done <<'ROWS'
2|missing verb|
2|unknown verb "fnd"; did you mean `find`|fnd
2|unknown verb "zzzzzzzz"$|zzzzzzzz
2|unknown option --explian; did you mean --explain|find --explian rain
2|unknown option --strict; it belongs to `add`|find --strict rain
2|options of a verb come after the verb|--explain find rain
2|unknown option -x|find -x rain
2|write -- before words that begin with a dash|find -5 degrees
2|--k needs a value: --k N|find rain -k
2|--k takes a number from 1 to 1000, not "0"|find -k 0 rain
2|--k takes a number from 1 to 1000, not "1001"|find -k 1001 rain
2|--k takes a number from 1 to 1000, not "5x"|find -k5x rain
2|--k takes a number from 1 to 1000, not "99999999999999999999999"|find -k 99999999999999999999999 rain
2|--k takes a number from 1 to 1000, not "-1"|find -k -1 rain
2|--explain takes no value|find --explain=yes rain
2|--format is one of: table json openai|find --format xml rain
2|`find` needs REQUEST|find
2|the request is empty|find ""
2|the request is empty|find " "
2|unknown recipe "bm52"; did you mean bm25|find --recipe bm52 rain
2|`show` takes NAME, but "b" follows|show a b
2|`list` takes \[PATTERN\], but "y" follows|list x y
2|`check` takes no arguments, but "x" was given|check x
2|unknown verb "server"; did you mean `serve`|server
2|unknown verb "stats"; did you mean `status`|stats
2|unknown verb "tools.json"; write a file after a verb|tools.json
2|unknown verb "book a table"; write a request after a verb|"book a table"
2|unknown option --find; write verbs without dashes: `whichtool find`|--find rain
2|unknown option --top-k; did you mean --k|find --top-k 3 rain
2|unknown option --db; did you mean --store|--db x list
2|unknown option --port; did you mean --listen|serve --port 9000
2|unknown verb "serach"; did you mean `find`|help serach
2|either NAME... or --provider|remove
2|either NAME... or --provider|remove a --provider b
2|`model` is followed by one of: list info pull pack|model fetch
2|unknown verb "nope"|help nope
2|but "set" follows; `whichtool help train` shows all help of a verb|help train set
2|--k takes numbers from 1 to 1000|eval --k 1,x .
2|--k takes numbers from 1 to 1000|eval --k 1,,3 .
2|unknown recipe "dens"; did you mean dense|eval --recipe bm25,dens .
2|--sync of standard input needs --provider|add --sync -
2|give only one of --definition, --schema and --format|show --schema --definition get_forecast
ROWS

expect 0 "options may follow arguments" find rain in the city -k 1 --recipe=bm25
prints "weather/get_forecast"
expect 0 "the store may be named before the verb" -s "$WHICHTOOL_STORE" list
expect 0 "letters may be put together" find -qek1 rain
silent err
expect 0 "a dash begins a word after --" find -k 1 -- -rain forecast
expect 0 "--help of a verb needs no arguments" find --help
prints "Usage: whichtool find REQUEST"
expect 0 "help of a verb" help eval
prints "Usage: whichtool eval DIR"
expect 0 "help" help
prints "^Verbs"
expect 0 "--help" --help
prints "^Exit status"
expect 0 "help of help" help help
prints "Usage: whichtool help"
expect 0 "version" --version
prints "^whichtool [0-9]+\.[0-9]+\.[0-9]+$"
expect 0 "version as a verb, as JSON" version --json
prints '^\{"version":"[0-9.]+"\}$'
expect 0 "recipes" help --recipes
prints "^bm25 "
prints "^auto +the default: the best recipe"
COLUMNS=40 expect 0 "help on forty columns" help add
same "no line of help is longer than the terminal is wide" "" "$(grep -v '^  whichtool\|^  curl' out | awk 'length > 40')"
for verb in add find list show remove eval model version help; do
    expect 0 "help $verb" help $verb
    same "help $verb fits 80 columns" "" "$(grep -v '^  whichtool\|^  curl' out | awk 'length > 80')"
done
finish
