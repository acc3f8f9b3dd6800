#!/bin/bash
# The program of the table "replicas" in docs/scale.md, with few kills: a publisher and a follower are killed at random
# moments, and the follower always answers with one complete generation, equal to the writer's answers.
# REPLICA_KILLS enlarges the test.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python
for way in "" --folder; do
    what="kills${way:+ with $way}"
    checks=$((checks + 1))
    # shellcheck disable=SC2086 # one option or none
    "$python" "$source_root/bench/replica_kills.py" "$WHICHTOOL" --kills "${REPLICA_KILLS:-6}" --tools 50 $way >out 2>err || fail "it failed"
    prints '"kills"'
done
finish
