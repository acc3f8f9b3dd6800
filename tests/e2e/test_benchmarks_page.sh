#!/bin/bash
# bench/page.py: writes tables and a chart from results, keeps other text, and reports a page without a place for a table.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python
have git || { skip "no git to ask for a commit"; exit 77; }
export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@example.org GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@example.org
git init -q . && git commit -q --allow-empty -m first
commit=$(git rev-parse --short=8 HEAD)

tabs() { tr '|' '\t'; }
tabs >results <<'TXT'
bm25 top 10 of 1k tools, 10 words|tantivy|0.1234|ms|0.12|0.13
bm25 top 10 of 1k tools, 10 words|whichtool|0.00312|ms|0.003|0.00329
bm25 top 10 of 1M tools, 10 words|whichtool|0.669|ms
find by hybrid over 1M tools|whichtool|11.5|ms|11|12
index of 1M tools, a tool|whichtool|2303|bytes
an unknown measure|whichtool|1|ms
TXT
cat >page.md <<'MD'
Text before.

<!-- machine -->
old
<!-- end -->

<!-- table bench-words 00000000 -->
| old | table |
|---|---|

<!-- table bench-sizes 00000000 -->

Text after.
MD
"$python" "$source_root/bench/page.py" results page.md || fail "page.py failed"
sed -i 's/^The machine has .*/MACHINE/' page.md
cat >expected.md <<MD
Text before.

<!-- machine -->
MACHINE
<!-- end -->

<!-- table bench-words $commit -->
| tools, request | whichtool | tantivy |
|---|---|---|
| 1k tools, 10 words | 0.00312 ms (0.00300 to 0.00329) | 0.123 ms (0.120 to 0.130) |
| 1M tools, 10 words | 0.669 ms |  |

<!-- table bench-sizes $commit -->
| tools | hybrid | index |
|---|---|---|
| 1M | 11.5 ms (11 to 12) | 2,303 bytes |

Text after.
MD
diff expected.md page.md || fail "the page differs"
grep -q '<polyline' page.svg || fail "the chart has no line"
grep -q 'tantivy' page.svg && fail "a program with one size is in the chart"

printf 'read memory\tmachine\t14\tGB/s\n' >results
"$python" "$source_root/bench/page.py" results page.md 2>errors && fail "a table without a place was accepted"
grep -q 'no line <!-- table bench-machine' errors || fail "the missing line is not named: $(cat errors)"
finish
