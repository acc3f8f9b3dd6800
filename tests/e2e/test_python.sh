#!/bin/bash
# The Python package passes its tests with the shared library, and the first example of docs/python.md runs.
# The frameworks of the adaptors are those of $WT_PYTHON, or in the folder frameworks of the build (.ci/run).
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python
library=$WT_TEST_BUILD/libwhichtool.so
if ldd "$library" | grep -q 'lib[at]san'; then
    skip "a Python without the sanitizer's runtime cannot load the library"
    exit 77
fi
export WHICHTOOL_LIBRARY=$library PYTHONPATH=$source_root/python:$WT_TEST_BUILD/frameworks PYTHONDONTWRITEBYTECODE=1
interpreter=${WT_PYTHON:-$python}
"$interpreter" -W ignore -m unittest discover --verbose --start-directory "$source_root/python/tests" >out 2>err ||
    fail "the tests of the package: $(grep -E '^(ERROR|FAIL)' err | head -5)"
sed -n "s/^\(test_[a-z_]*\).* skipped ['\"]\(.*\)['\"]$/\1: \2/p" err | while read -r test; do skip "$test"; done

sed -n '/^```python$/,/^```$/p' "$source_root/docs/python.md" | sed '/^```$/q' | sed '/^```/d' >example.py
"$python" example.py >out 2>err || fail "the example of docs/python.md: $(tail -1 err)"
prints "^\['get_weather'\] \[{'type': 'function'"
"$source_root/tools/python-binding" --check || fail "python/whichtool/_api.py is not what tools/python-binding writes"
finish
