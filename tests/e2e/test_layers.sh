#!/bin/sh
# The check of the layers can fail: each of its rules is broken on purpose and must be named.
exec "$WT_TEST_SOURCE/tools/check-layers" --self-test
