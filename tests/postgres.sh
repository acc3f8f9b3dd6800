#!/bin/sh
# postgres.sh: a private PostgreSQL server for tests and measurements, on a socket in a folder, without fsync.
#
#   tests/postgres.sh start FOLDER [BIN]   starts it with the programs of the folder BIN, and prints the URL
#   tests/postgres.sh restart FOLDER       ends it at once and starts it again
#   tests/postgres.sh stop FOLDER          ends it at once
#
# FOLDER must not exist yet. Exits with 3 and a reason if no server is installed. PostgreSQL refuses to run as root, so
# root becomes the user postgres.
set -eu
usage() { echo "usage: tests/postgres.sh start|restart|stop FOLDER [BIN]" >&2; exit 2; }
[ $# -ge 2 ] || usage
folder=$2

find_programs() {
    for bin in "${1:-}" "$(dirname "$(command -v initdb || echo /)")" /usr/lib/postgresql/*/bin; do
        [ -x "$bin/initdb" ] && [ -x "$bin/pg_ctl" ] && return
    done
    echo "no PostgreSQL server is installed"
    exit 3
}

as_owner() {
    if [ "$(id -u)" -ne 0 ]; then
        "$@"
    elif id postgres >/dev/null 2>&1; then
        runuser -u postgres -- "$@"
    else
        echo "PostgreSQL does not run as root, and there is no user postgres"
        exit 3
    fi
}

control() { as_owner "$bin/pg_ctl" -D "$folder/data" "$@" >/dev/null 2>&1; }

case $1 in
start)
    find_programs "${3:-}"
    mkdir "$folder"
    chmod 755 "$folder"
    [ "$(id -u)" -ne 0 ] || ! id postgres >/dev/null 2>&1 || chown postgres "$folder"
    cd "$folder"
    as_owner "$bin/initdb" -D "$folder/data" -A trust -U postgres -E UTF8 --locale=C --no-sync >"$folder.log" 2>&1 ||
        { cat "$folder.log"; exit 3; }
    rm -f "$folder.log"
    echo "$bin" >"$folder/bin"
    control -w -l "$folder/log" -o "-h '' -k $folder -F -c max_connections=50 -c shared_buffers=32MB" start ||
        { echo "the server does not start"; exit 3; }
    echo "postgres://postgres@/postgres?host=$folder"
    ;;
restart)
    bin=$(cat "$folder/bin")
    cd "$folder"
    control -m immediate restart
    ;;
stop)
    bin=$(cat "$folder/bin")
    cd "$folder"
    control -m immediate stop
    rm -rf "$folder"
    ;;
*) usage ;;
esac
