#!/bin/bash
# The documentation's commands run: every ```sh block after a line <!-- run --> of README.md and docs/*.md, one after
# the other for each page, in a copy of the samples, with the built command on the PATH and a store of its own.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

blocks() { # PAGE: the marked blocks, as one script
    awk '/^<!-- run -->/ {marked = 1; next}
         marked && /^```sh/ {inside = 1; next}
         inside && /^```/ {inside = marked = 0; next}
         inside {print; next}
         !/^[ \t]*$/ {marked = 0}' "$1"
}
mkdir bin
ln -s "$WHICHTOOL" bin/whichtool
PATH=$work/bin:$PATH
pages=0
for page in "$source_root"/README.md "$source_root"/docs/*.md; do
    [ -f "$page" ] || continue
    name=$(basename "$page" .md)
    blocks "$page" >"$work/$name.sh"
    [ -s "$work/$name.sh" ] || continue
    pages=$((pages + 1)) checks=$((checks + 1)) what=${page#"$source_root"/}
    mkdir "$work/run-$name"
    cd "$work/run-$name" || exit 1
    for folder in samples docs tests; do
        [ ! -d "$source_root/$folder" ] || cp -r "$source_root/$folder" .
    done
    WHICHTOOL_STORE=$work/run-$name/tools.wt bash -e "$work/$name.sh" >../out 2>../err
    code=$?
    cd "$work" || exit 1
    [ "$code" = 0 ] || fail "exit $code"
done
# docs/threats.md names tests: `FILE`: `NAME`, `NAME`; each is there.
what=docs/threats.md
named=$(grep -o '`[^`]*`[:,;]*' "$source_root/docs/threats.md" | tr -d '`' | awk '
    /^tests\/.*:$/ {file = substr($0, 1, length - 1); follows = 1; next}
    follows {follows = /,$/; sub(/[,;]$/, ""); print file "\t" $0; named++}
    END {exit named < 40}') || fail "it names few tests"
while IFS=$'\t' read -r file name; do
    checks=$((checks + 1))
    grep -qF -- "$name" "$source_root/$file" || fail "no \"$name\" in $file"
done <<<"$named"
[ "$pages" -gt 0 ] || skip "no page has a block marked <!-- run -->"
finish
