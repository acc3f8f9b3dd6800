# common.sh: shared by the fault scripts. A script sweeps a fault over the calls of the built command: each of the first
# calls, then a sample of the others, so that a script takes seconds.
#
# After any fault, the command must end with a documented exit code and not by a signal of its own, and the store must be an
# undamaged database with all of a change or no part of it.
# shellcheck shell=bash disable=SC2034
set -u
: "${WHICHTOOL:?the built command}" "${WT_TEST_BUILD:=}"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
parent=/dev/shm # in memory, because a fault suite syncs thousands of times
[ -d $parent ] && [ -w $parent ] || parent=${TMPDIR:-/tmp}
folder=$(mktemp -d "$parent/whichtool-fault-XXXXXX")
mounted=
finish() {
    [ -z "$mounted" ] || umount "$mounted"
    rm -rf "$folder"
}
trap finish EXIT
failures=0 runs=0

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
    [ $failures -lt 20 ] || { echo "too many failures"; exit 1; }
}
skip() { # the whole script
    echo "skipped: $*"
    exit 77
}

if [ -n "$WT_TEST_BUILD" ] && grep -q '^WT_SANITIZE:STRING=.' "$WT_TEST_BUILD/CMakeCache.txt" 2>/dev/null; then
    skip "fault injection (a sanitizer has its own allocator)"
fi
"${CC:-cc}" -shared -fPIC -O1 -o "$folder/shim.so" "$here/shim.c" -ldl || skip "fault injection (needs a C compiler)"
ldd "$WHICHTOOL" >/dev/null 2>&1 || skip "fault injection (the command is static, so that no shim can be loaded)"
"${CC:-cc}" -O1 -o "$folder/sound" "$here/sound.c" -lsqlite3 || skip "fault injection (needs SQLite's header)"

export XDG_DATA_HOME=$folder/data XDG_CACHE_HOME=$folder/cache WHICHTOOL_MODELS=$folder/models NO_COLOR=1
unset WHICHTOOL_STORE COLUMNS
store=$folder/s.wt

# make_catalogue FILE FROM TO [WORDS]: tools number FROM to TO; WORDS goes into each description.
make_catalogue() {
    awk -v from="$2" -v to="$3" -v words="${4-some words}" 'BEGIN {
        printf "{\"tools\": [\n"
        for (i = from; i <= to; i++)
            printf "{\"name\": \"tool_%d\", \"description\": \"Does thing number %d, with %s.\", \"inputSchema\": " \
                "{\"type\": \"object\", \"properties\": {\"size\": {\"type\": \"integer\"}}}}%s\n", i, i, words,
                i < to ? "," : ""
        printf "]}\n"
    }' >"$1"
}

# run NAME=VALUE... VERB ARGUMENT...: runs the command on $store with these faults. Sets rc, and the files out and err.
run() {
    local faults=()
    while [[ $1 == FAULT_* ]]; do
        faults+=("$1")
        shift
    done
    runs=$((runs + 1))
    { env "${faults[@]}" LD_PRELOAD="$folder/shim.so" "$WHICHTOOL" -s "$store" "$@" >"$folder/out" 2>"$folder/err"
    } 2>/dev/null
    rc=$?
}

# counts VERB ARGUMENT...: sets allocations and calls to the numbers of a run without faults.
counts() {
    run FAULT_COUNTS="$folder/counts" "$@"
    [ $rc -eq 0 ] || fail "without a fault: $*: exit $rc: $(cat "$folder/err")"
    read -r allocations calls <"$folder/counts"
}

# points TOTAL ALL ABOUT: 1 to ALL, then about ABOUT more up to TOTAL. WT_FAULT_MORE=N takes N times as many of both.
points() {
    set -- "$1" $(($2 * ${WT_FAULT_MORE:-1})) $(($3 * ${WT_FAULT_MORE:-1}))
    local step=$((($1 - $2) / $3 + 1))
    seq 1 $(($2 < $1 ? $2 : $1))
    seq $(($2 + step / 2 + 1)) $step "$1"
}

is_documented() { case $1 in 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 130) ;; *) return 1 ;; esac }
is_told() { is_documented "$1" && [ "$1" -ne 1 ]; } # documented codes, except "nothing found"
is_as_expected() { [ "$rc" -eq 0 ] && cmp -s "$folder/out" "$folder/expected"; }
is_refused() { [ "$rc" -eq "$1" ] && grep -q "$2" "$folder/err"; } # CODE WORDS

# check_store WHAT COUNT...: the store is undamaged and has one of these numbers of tools; 0 also if it does not exist.
check_store() {
    local what=$1 there=0
    shift
    if [ -e "$store" ] && ! there=$("$folder/sound" "$store"); then
        fail "$what: the store is damaged: $there"
        return
    fi
    case " $* " in *" $there "*) ;; *) fail "$what: $there tools, not one of: $*" ;; esac
}

restore() { # [FILE]: makes the store a copy of FILE, or removes it
    rm -rf "$store" "$store"-*
    [ $# -eq 0 ] || cp "$1" "$store"
}

conclude() {
    echo "$runs runs"
    [ $failures -eq 0 ]
}
