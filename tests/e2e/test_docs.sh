#!/bin/bash
# Runs the commands of the documentation: every ```sh block after a line <!-- run --> in README.md and docs/*.md, page
# by page, in a copy of the samples, with the built command in PATH and a store of its own. tests/e2e/docs/PAGE.sh, if
# it exists, prepares the page. <!-- run jq --> skips a block if the program is missing. PAGES, such as "README eval",
# restricts the pages. Also checks that tests and source files named in docs/threats.md and docs/architecture.md exist.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

blocks() { # PAGE: prints the marked blocks as one script
    awk '/^<!-- run( [a-z0-9 ]+)? -->$/ {marked = 1; needs = $0; gsub(/^<!-- run ?| ?-->$/, "", needs); next}
         marked && /^```sh/ {inside = 1; if (needs != "") print "if has " needs "; then"; next}
         inside && /^```/ {if (needs != "") print "fi"; inside = marked = 0; next}
         inside {print; next}
         !/^[ \t]*$/ {marked = 0}' "$1"
}
has() { # PROGRAM...
    local program
    for program; do command -v "$program" >/dev/null || { echo "skipped: a block that takes $program" >>"$work/skipped"; return 1; }; done
}
export -f has six_tools
export work python stand_ins=$here/docs
: >skipped
need_python
mkdir bin
ln -s "$WHICHTOOL" bin/whichtool
PATH=$work/bin:$PATH
pages=0
for page in "$source_root"/README.md "$source_root"/docs/*.md; do
    name=$(basename "$page" .md)
    [ -f "$page" ] && [[ " ${PAGES:-$name} " = *" $name "* ]] || continue
    blocks "$page" >"$work/$name.sh"
    [ -s "$work/$name.sh" ] || continue
    if [ -f "$stand_ins/$name.sh" ]; then
        cat "$stand_ins/$name.sh" "$work/$name.sh" >whole && mv whole "$work/$name.sh"
    fi
    pages=$((pages + 1)) checks=$((checks + 1)) what=${page#"$source_root"/}
    mkdir "$work/run-$name"
    cd "$work/run-$name" || exit 1
    for folder in samples docs tests; do
        [ ! -d "$source_root/$folder" ] || cp -r "$source_root/$folder" .
    done
    WHICHTOOL_STORE=$PWD/tools.wt WHICHTOOL_MODELS=$PWD/models bash -e "$work/$name.sh" >../out 2>../err
    code=$?
    cd "$work" || exit 1
    [ "$code" = 0 ] || fail "exit $code"
done
# docs/threats.md names tests: `FILE`: `NAME`, `NAME`; each must exist.
what=docs/threats.md
named=$(grep -o '`[^`]*`[:,;]*' "$source_root/docs/threats.md" | tr -d '`' | awk '
    /^tests\/.*:$/ {file = substr($0, 1, length - 1); follows = 1; next}
    follows {follows = /,$/; sub(/[,;]$/, ""); print file "\t" $0; named++}
    END {exit named < 40}') || fail "it names few tests"
while IFS=$'\t' read -r file name; do
    checks=$((checks + 1))
    grep -qF -- "$name" "$source_root/$file" || fail "no \"$name\" in $file"
done <<<"$named"
# docs/architecture.md names source files, below src/ or by their last name; each must exist.
what=docs/architecture.md
while read -r file; do
    checks=$((checks + 1))
    case $file in
    */*) [ -f "$source_root/src/$file" ] || [ -f "$source_root/$file" ] ;;
    *) [ -n "$(find "$source_root/src" "$source_root/include" -name "$file")" ] ;;
    esac || fail "no file $file"
done < <(grep -o '`[a-z0-9_/]*\.[ch]`' "$source_root/docs/architecture.md" | tr -d '`' | LC_ALL=C sort -u)
[ "$pages" -gt 0 ] || skip "no page has a block marked <!-- run -->"
cat skipped
finish
