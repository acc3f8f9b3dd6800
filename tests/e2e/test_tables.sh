#!/bin/bash
# Tables of the docs: each rule of the check for names and commands can fail; tools/tables makes what it can, reports
# skipped and failed tables, and does not repeat tables of the same commit.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python
have git || { skip "no git to ask for a commit"; exit 77; }
export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@example.org GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@example.org

# tree/: a project with one table of each kind
mkdir -p tree/docs tree/bench tree/tools
cp "$source_root"/tools/{tables,check-tables} tree/tools/
cd tree || exit 1
printf 'print("| a | b |")\n' >bench/good.py
printf 'import sys\nsys.exit("it broke")\n' >bench/broken.py
printf '#!/bin/bash\nrun_part() {\n' >bench/run
list() {
    cat >bench/tables.txt <<'TXT'
# a comment
good minutes python3
    bench/good.py; echo once more >>$OUT/runs
broken minutes python3 bench/broken.py
apart minutes cat $DATA/none
chat minutes echo $CHAT
slow hours bench/run part || true; echo slow
gone hours echo gone
TXT
}
page() {
    cat >README.md <<'MD'
| what | limit |
|---|---|
| a | 7 |

<!-- table good broken apart chat slow gone COMMIT -->
| | ms |
|---|---|
| a | 1.5 |
MD
    sed -i "s/COMMIT/$commit/" README.md
}
commit=0000000 && list && page
git init -q . && git add -A && git commit -qm first
commit=$(git rev-parse --short HEAD) && page

checked() { # CODE NAME PATTERN
    local code
    what=$2 checks=$((checks + 1))
    tools/check-tables >out 2>err
    code=$?
    [ "$code" = "$1" ] || fail "exit $code, wanted $1"
    [ -z "${3-}" ] || says "$3"
}
breaks() { # NAME PATTERN COMMAND...: the change that the command makes is reported, and undone
    "${@:3}"
    checked 1 "$1" "$2"
    list && page
}
checked 0 "a tree in order"
breaks "a table without a name" '^README.md:5: this table seems to be measured but has no name' sed -i 5d README.md
breaks "a name of no table" '^bench/tables.txt:8: no table is called "gone"' sed -i 's/ gone / /' README.md
breaks "a name of no command" '^README.md:5: bench/tables.txt has no "good"' sed -i '/^good/,+1d' bench/tables.txt
breaks "a name apart from its table" '^README.md:5: a table.s name without a table' sed -i '5a\\' README.md
breaks "a marker that is none" '^README.md:5: write <!-- table' sed -i '5s/table /table X/' README.md
breaks "a script that is not there" '^bench/tables.txt:4: "broken": there is no bench/other.py' sed -i s/broken.py/other.py/ bench/tables.txt
breaks "a script of a page" '^README.md:9: there is no bench/other.py' sed -i '$abench/other.py' README.md
breaks "a part that bench/run lacks" 'bench/run has no part "whole"' sed -i 's/run part/run whole/' bench/tables.txt
breaks "a program that is not there" 'there is no bench/bench_x.c' sed -i '$aprogram minutes $BENCH/bench_x' bench/tables.txt
breaks "another word for when" 'write NAME, minutes or hours' sed -i s/hours/days/ bench/tables.txt
breaks "a name twice" ':9: a second "gone"' sed -i '$agone hours echo gone' bench/tables.txt

git commit -qam second
commit=$(git rev-parse --short HEAD)
made() { # CODE NAME ARGUMENT...
    local code
    what=$2 checks=$((checks + 1))
    DATA=$work/nothing tools/tables "${@:3}" >out 2>err
    code=$?
    [ "$code" = "$1" ] || fail "exit $code, wanted $1"
}
unset CHAT
made 1 "tables of minutes"
prints '^tables: 1 made'
prints "^skipped: apart: $work/nothing/none is not there"
prints '^skipped: chat: \$CHAT is not set'
says '^failed: broken: it broke'
lacks out slow
same "what made it" "1 b" "$(grep -c "^<!-- table good: commit $commit, ....-..-.., .*, [0-9]* cores, [0-9]* s -->$" build/tables/good.md) $(
    sed -n '2s/.*\(b\) |/\1/p' build/tables/good.md)"
made 1 "once more"
prints '^tables: good: made already'
made 0 "by name" good
prints '^tables: 1 made'
same "runs" 2 "$(wc -l <build/tables/good/runs)"
made 0 "of hours" slow
prints '^tables: 1 made'
made 2 "no such name" other
says 'has no "other"'
CHAT=hello made 0 "what the environment sets" chat
grep -q '^hello$' build/tables/chat.md || fail "not what was set"
echo >>README.md
made 0 "a changed tree" good
grep -q "commit $commit-dirty," build/tables/good.md || fail "not said to be changed"
cd "$work" || exit 1
finish
