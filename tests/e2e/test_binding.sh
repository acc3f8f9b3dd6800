#!/bin/bash
# The Python binding in docs/library.md runs with the shared library and finds a tool.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python
library=$WT_TEST_BUILD/libwhichtool.so.0
if ldd "$library" | grep -q 'lib[at]san'; then
    skip "a Python without the sanitizer's runtime cannot load the library"
    exit 77
fi
expect 0 "a catalogue" -s tools.wt add --no-vectors "$source_root/samples/catalogue"
sed -n '/^```python$/,/^```$/p' "$source_root/docs/library.md" | sed '/^```/d' >binding.py
LD_LIBRARY_PATH=$WT_TEST_BUILD "$python" binding.py >out 2>err || fail "$(tail -1 err)"
prints "^\[{'rank': 1, "
finish
