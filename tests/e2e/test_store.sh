#!/bin/bash
# Stores that are invalid, are newer, cannot be written, or run out of disk.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python
add_catalogue

echo "this is no database, but a text of more than a few bytes" >text.wt
expect 4 "a file that is no store" -s text.wt list
says "text.wt is not a whichtool store"
expect 4 "and adding does not harm it" -s text.wt add weather.json
same "it is as it was" "this is no database, but a text of more than a few bytes" "$(cat text.wt)"
: >nothing.wt
expect 0 "an empty file becomes a store" -s nothing.wt add weather.json
"$python" -c '
import sqlite3
sqlite3.connect("other.wt").execute("create table t (x)")'
expect 4 "a database of another program" -s other.wt list
says "not a whichtool store"
cp "$WHICHTOOL_STORE" newer.wt
"$python" -c '
import sqlite3
c = sqlite3.connect("newer.wt"); c.execute("pragma user_version = 9999"); c.commit()'
expect 4 "a store of a newer version" -s newer.wt list
says "newer"
head -c 5000 "$WHICHTOOL_STORE" >cut.wt
expect 4 "a store that was cut" -s cut.wt list
mkdir folder.wt
expect 4 "a folder" -s folder.wt list
expect 4 "a store that cannot be made" -s /dev/null/x/tools.wt add weather.json
expect 0 "folders are made" -s new/deep/tools.wt add weather.json
expect 0 "and it is there" -s new/deep/tools.wt show get_tides

# Checked completely.
expect 0 "the store is sound" check
prints "undamaged"
expect 0 "to a program, too" check --json
json_lines
"$python" -c '
import sqlite3
c = sqlite3.connect("newer.wt"); c.execute("pragma user_version = 10")
c.execute("pragma foreign_keys = off"); c.execute("delete from provider where name = \"money\""); c.commit()'
expect 4 "a row that another one needs is gone" -s newer.wt check
says "newer.wt is damaged: .*sqlite3 newer.wt .recover"

# Derived files may be lost or damaged.
index=$(find . -maxdepth 1 -name 'tools.wt-index')
if [ -n "$index" ]; then
    "$python" -c '
import glob
name = glob.glob("tools.wt-index/snapshot")[0]
data = bytearray(open(name, "rb").read()); data[-9] ^= 1; open(name, "wb").write(data)'
    expect 4 "a changed byte of the index is told" check
    says "damaged.*delete the folder .*tools.wt-index, and the next search makes it again"
    find "$index" -type f | while read -r file; do
        head -c 100 /dev/urandom | dd of="$file" conv=notrunc 2>/dev/null
    done
    expect 0 "a damaged index is made anew" find -k 1 rain forecast
    prints "weather/get_forecast"
    rm -rf "$index"
    expect 0 "so is a lost one" find -k 1 rain forecast
    prints "weather/get_forecast"
else
    skip "no index folder to damage"
fi

# A full disk: files may not grow beyond 300 KB.
"$python" -c '
import json
print(json.dumps([{"name": f"tool_{i}", "description": "does thing number %d " % i * 9, "input_schema":
    {"type": "object", "properties": {}}} for i in range(5000)]))' >many.json
code=0
(
    trap '' XFSZ
    ulimit -f 300
    "$WHICHTOOL" -s full.wt add many.json >out 2>err
) || code=$?
same "a full disk" 7 "$code"
same "no tool was stored" 0 "$("$WHICHTOOL" -s full.wt list 2>/dev/null | grep -c .)"
expect 0 "with room again it works" -s full.wt add many.json
if [ "$(id -u)" != 0 ]; then
    chmod a-w "$WHICHTOOL_STORE" .
    expect 4 "a store that may not be written" add many.json
    expect 0 "it can be read" find rain
    chmod u+w "$WHICHTOOL_STORE" .
else
    skip "root may write everywhere: no read-only store"
fi
finish
