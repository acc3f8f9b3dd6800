#!/bin/sh
# Each rule of tools/check-layers fails when it is violated.
exec "$WT_TEST_SOURCE/tools/check-layers" --self-test
