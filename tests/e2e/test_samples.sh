#!/bin/bash
# The samples match their README: every file is imported without issues, there are enough of everything, every tool has
# a description, and every usage names existing tools by their ids.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
samples=$WT_TEST_SOURCE/samples
failed=0
fail() { echo "FAILED: $*"; failed=1; }
at_least() { [ "$2" -ge "$3" ] || fail "$1: $2, at least $3 wanted"; }

"$WHICHTOOL" -s "$work/samples.wt" add --strict --no-vectors "$samples/catalogue" >"$work/add" 2>&1 ||
    { cat "$work/add"; echo "FAILED: the catalogue was not imported"; exit 1; }
"$WHICHTOOL" -s "$work/samples.wt" list --json >"$work/tools"
sed 's/^{"id":"\([^"]*\)".*/\1/' "$work/tools" | LC_ALL=C sort >"$work/ids"

at_least tools "$(wc -l <"$work/ids")" 120
at_least providers "$(cut -d/ -f1 "$work/ids" | sort -u | wc -l)" 15
at_least formats "$(grep -o '"format":"[a-z]*"' "$work/tools" | sort -u | wc -l)" 3
at_least usages "$(wc -l <"$samples/usages.jsonl")" 200
at_least "usages of several tools" "$(grep -c '"tools": \[[^]]*, ' "$samples/usages.jsonl")" 20
grep '"description":""' "$work/tools" && fail "tools without a description"
for number in $(wc -l <"$work/ids") $(wc -l <"$samples/usages.jsonl"); do
    grep -qw "$number" "$samples/README.md" || fail "samples/README.md does not say $number"
done

form='^{"request": ".*", "tools": \["[^"]*"\(, "[^"]*"\)*\], "outcome": "ok"}$'
grep -vn "$form" "$samples/usages.jsonl" && fail "usages of another form"
sed 's/.*"tools": \[\([^]]*\)\].*/\1/; s/, /\n/g' "$samples/usages.jsonl" | tr -d '"' | LC_ALL=C sort -u >"$work/used"
LC_ALL=C comm -23 "$work/used" "$work/ids" >"$work/unknown"
[ -s "$work/unknown" ] && { cat "$work/unknown"; fail "usages name tools that are not there"; }
LC_ALL=C comm -13 "$work/used" "$work/ids" >"$work/unused"
[ -s "$work/unused" ] && { cat "$work/unused"; fail "tools that no usage needs"; }
"$WHICHTOOL" -s "$work/samples.wt" usage add --strict --no-vectors "$samples/usages.jsonl" >"$work/usages" 2>&1 ||
    { cat "$work/usages"; fail "the usages were not recorded"; }
exit "$failed"
