#!/bin/bash
# Servers with one fault each behind one gateway: a fault does not affect the lists and calls of other servers, and
# everything that works directly works through the gateway. Rows with long waits are in bench/gateway_faults.py only.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python
"$python" "$source_root/bench/gateway_faults.py" "$WHICHTOOL" --quick >out 2>err
same "every faulty server is contained" 0 $?
silent err
finish
