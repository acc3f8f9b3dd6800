#!/bin/bash
# bench/trust.py with small numbers: one server, client or import attacks another, and no attack succeeds.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python
what="scenarios of bench/trust.py"
checks=$((checks + 1))
"$python" "$source_root/bench/trust.py" "$WHICHTOOL" --only "${WT_TRUST_ONLY:-}" --inits 8 --storm 2 --jobs 4 >out 2>err ||
    fail "exit $?: $(grep -v '^held' out) $(tail -3 err)"
prints '^0 crossed$'
finish
