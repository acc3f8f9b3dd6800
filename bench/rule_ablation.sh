#!/bin/bash
# rule_ablation.sh: measures each rule that reads requests by leaving it out: moods, denied parts, wishes, everyday words.
#
#   bench/rule_ablation.sh DATA WORK [RULE...]
#
# Copies the committed tree to WORK, leaves one rule out, builds the command, and prints the first hits on the dev
# requests of bench/asked and the mean R@5 on the test splits of the sets in DATA. RULE is one of none questions
# negation wishes everyday; default: all. The catalogues must have been fetched (bench/real/fetch.py).
set -euo pipefail
data=$1 work=$2
shift 2
declare -A without=(
    [none]=''
    [questions]='src/retrieve/scorer.c:s/ACTS_UNASKED = [0-9.]*;/ACTS_UNASKED = 0;/'
    [negation]='src/retrieve/negation.c:s/if (!find_denials(&denier))/if (!find_denials(\&denier) || true)/'
    [wishes]='src/retrieve/wish.c:s/if (request.len < WISH_FROM)/if (true)/'
    [everyday]='src/retrieve/alternatives.c:s/; out->count < EXPANSIONS_MAX &&/; false \&\&/'
)
[ $# -gt 0 ] || set -- none questions negation wishes everyday

for rule in "$@"; do
    change=${without[$rule]}
    tree=$work/$rule
    rm -rf "$tree" && mkdir -p "$tree"
    git archive HEAD | tar -x -C "$tree"
    if [ -n "$change" ]; then
        sed -i "${change#*:}" "$tree/${change%%:*}"
        ! git diff --quiet --no-index "${change%%:*}" "$tree/${change%%:*}" || { echo "$rule: nothing changed" >&2; exit 1; }
    fi
    "$tree/tools/build" release whichtool >"$tree/log" 2>&1 || { tail "$tree/log" >&2; exit 1; }
    whichtool=$tree/build/whichtool
    echo "without $rule"
    python3 bench/asked.py "$whichtool" --cache "${REAL:-$HOME/.cache/whichtool/real}" --split dev --recipe hybrid |
        grep -E '^[a-z]+, dev|, all'
    for set in "$data"/*/; do
        [ ! -e "$set/qrels/test.tsv" ] || "$whichtool" eval "$set" --split test --recipe hybrid -k 5 2>/dev/null |
            sed -n "s|^recall@5 *|$(basename "$set") |p"
    done | awk '{ print; sum += $2 } END { printf "mean of %d sets: %.2f\n", NR, sum / NR }'
done
