#!/bin/bash
# Servers with one fault each behind one gateway: neither the lists nor the calls of other servers suffer from a fault, and
# what works directly works through the gateway. Rows that need long waiting are for bench/gateway_faults.py alone.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python
"$python" "$source_root/bench/gateway_faults.py" "$WHICHTOOL" --quick >out 2>err
same "every faulty server is contained" 0 $?
silent err
finish
