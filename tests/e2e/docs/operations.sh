# For docs/operations.md: a store, a collector of traces, and servers on free ports in place of those of the page.
whichtool -q add samples/catalogue
mkdir addresses
"$python" tests/e2e/otlp_collector.py spans.jsonl >addresses/4318 &
collector=$!
trap 'kill "$collector" $(jobs -p) 2>/dev/null || true' EXIT
address() { # PORT-OF-THE-PAGE: prints the address that takes its place
    until [ -s "addresses/$1" ]; do sleep 0.1; done
    grep -oE 'http://[^"]+' "addresses/$1"
}
whichtool() {
    local arguments=("$@") port=8642
    [ "$1" = serve ] || { command whichtool "$@"; return; }
    for i in "${!arguments[@]}"; do
        case ${arguments[i]} in
        http://127.0.0.1:4318) arguments[i]=$(address 4318) ;;
        127.0.0.1:8643) port=8643 arguments[i]=127.0.0.1:0 ;;
        esac
    done
    [ "$port" != 8642 ] || arguments+=(--listen 127.0.0.1:0)
    exec "$work/bin/whichtool" --json "${arguments[@]}" >"addresses/$port"
}
curl() {
    local argument arguments=()
    for argument; do
        case $argument in
        http://127.0.0.1:8642*) argument=$(address 8642)${argument#http://127.0.0.1:8642} ;;
        http://127.0.0.1:8643*) argument=$(address 8643)${argument#http://127.0.0.1:8643} ;;
        esac
        arguments+=("$argument")
    done
    command curl "${arguments[@]}"
}
