#!/bin/bash
# Without HOME and similar variables, the command reports which one to set and leaves no file in the current folder.
# Verbs that need no such folder work.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python
catalogue
six_tools 8 1 1 test=0,1,2,3
store=$work/named.wt
unset HOME WHICHTOOL_STORE WHICHTOOL_MODELS
mkdir empty
cd empty || exit 1

# exit code | message | arguments
while IFS='|' read -r code sentence arguments; do
    for home in unset relative; do
        [ "$home" = unset ] || export HOME=./here XDG_DATA_HOME=data XDG_CACHE_HOME=.cache
        # shellcheck disable=SC2086
        expect "$code" "$home: $arguments" ${arguments//STORE/$store}
        [ -z "$sentence" ] || says "$sentence"
    done
    unset HOME XDG_DATA_HOME XDG_CACHE_HOME
done <<'ROWS'
4|cannot find the data folder: neither HOME nor XDG_DATA_HOME is set to an absolute path: set HOME, or name the store with -s|add ../weather.json
4|cannot find the data folder|list
4|cannot find the data folder|find rain
5|no models folder is known: neither HOME nor XDG_DATA_HOME is set|model list
5|no models folder is known: neither HOME nor XDG_DATA_HOME is set|model pull all-MiniLM-L6-v2
0|cannot look for the model far: set HOME or WHICHTOOL_MODELS|-s STORE add --model far ../weather.json
0||-s STORE add ../weather.json
0|cannot look for the model|-s STORE find --model far rain
0||-s STORE find rain
0||-s STORE find --recipe bm25 rain
5|cannot look for the model|-s STORE find --model far --recipe dense rain
0||-s STORE find --recipe dense rain
0||-s STORE list
3|neither HOME nor XDG_CACHE_HOME is set|eval --recipe bm25 ../data
ROWS
rm -f out err
same "no file is left in the current folder" "" "$(ls -A)"

# A home without write permission.
for home in /dev/null /proc/nowhere; do
    HOME=$home expect 4 "HOME=$home: add" add ../weather.json
    says "cannot (create folder|open) $home"
    HOME=$home expect 4 "HOME=$home: list" list
    says "$home"
done
finish
