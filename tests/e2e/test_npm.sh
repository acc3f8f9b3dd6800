#!/bin/bash
# The npm packages: installed from the packed files in an empty folder, without network. npx starts the command, which
# `mcp init` writes into a client's file. The client and the hooks pass their tests. The frameworks of the hooks are in
# the folder npm of the build (.ci/run).
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python
for program in node npm npx; do
    have $program || { skip "$program is not installed"; exit 77; }
done
export npm_config_update_notifier=false npm_config_cache=$work/npm-cache npm_config_offline=true

what="the client is up to date"
"$source_root/tools/js-client" --check "$WHICHTOOL" 2>err || fail "$(cat err)"

"$source_root/tools/install-links" --check 2>err || fail "$(cat err)"

what="the packages are built" checks=$((checks + 1))
"$source_root/tools/build-npm" packages "$WHICHTOOL" >out 2>err || fail "build-npm"
packages=$(cd packages && ls -- *.tgz)
version=$("$WHICHTOOL" --version | cut -d' ' -f2)
platform=$(node -p '`${process.platform}-${process.arch}`')
same "names and version" "whichtool-$version.tgz whichtool-$platform-$version.tgz whichtool-minilm-$version.tgz" \
    "$(echo $packages)"
what="the same bytes again" checks=$((checks + 1))
"$source_root/tools/build-npm" again "$WHICHTOOL" >out 2>err || fail "build-npm"
for package in $packages; do cmp -s packages/"$package" again/"$package" || fail "$package differs"; done
"$source_root/tools/build-npm" again "$WHICHTOOL" "$WHICHTOOL" 2>err && fail "two commands of a platform are accepted"
says "two commands are for the same platform: @whichtool/$platform"
"$source_root/tools/build-npm" again "$source_root/README.md" 2>err && fail "a page is accepted as a command"
says "is not a program of Linux, macOS or Windows"

install_in() { # FOLDER PACKAGE...
    local folder=$1
    shift
    mkdir -p "$folder" && (cd "$folder" && echo '{"private": true, "type": "module"}' >package.json &&
        npm install --silent --no-audit --no-fund "$@" >"$work/out" 2>"$work/err") || fail "npm install"
}
run_in() { # CODE FOLDER COMMAND...
    local want=$1 folder=$2 code
    shift 2
    checks=$((checks + 1))
    (cd "$folder" && "$@") >out 2>err
    code=$?
    [ "$code" = "$want" ] || fail "exit $code, wanted $want: $*"
}
archives() { for name in "$@"; do echo "$work/packages/$name-$version.tgz"; done; }

what="npx starts the command"
# shellcheck disable=SC2046 # the names have no blanks
install_in clean $(archives whichtool whichtool-"$platform" whichtool-minilm)
run_in 0 clean npx whichtool --version
prints "^whichtool $version$"
run_in 2 clean npx whichtool find --no-such-option
says "unknown option --no-such-option"
run_in 0 clean env -u WHICHTOOL_MANIFESTS npx whichtool model info whichtool-minilm-v2 --json
same "with the model of its package" "True" "$(json_of 'd["included"]')"
what="npx whichtool mcp answers" checks=$((checks + 1))
client='{"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}'
echo "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"initialize\", \"params\": $client}" >message
(cd clean && npx whichtool mcp <../message) >out 2>err || fail "exit $?"
prints '"serverInfo":\{"name":"whichtool"'

# The path with a child, and, if this Node can, the path that replaces the process.
launcher=$work/clean/node_modules/whichtool/bin/whichtool.cjs
cat >without_execve.cjs <<'JS'
process.execve = undefined;
JS
for option in "" "--require=$work/without_execve.cjs"; do
    what="signals reach the command $option" checks=$((checks + 1))
    mkfifo keep
    : >out
    # shellcheck disable=SC2086 # an option or none
    node $option "$launcher" serve --json --listen 127.0.0.1:0 <keep >out 2>err &
    pid=$!
    exec 9>keep
    wait_until says_or_has_ended out $pid
    kill -TERM $pid
    await_end $pid
    same "the server ends as if it had the signal" 0 $?
    exec 9>&-
    rm keep
    cat >dies.sh <<'SH'
#!/bin/sh
kill -KILL $$
SH
    chmod +x dies.sh
    # shellcheck disable=SC2086
    (WHICHTOOL_COMMAND=$work/dies.sh exec node $option "$launcher") >out 2>err
    same "a killed command $option" 137 $?
done

what="mcp init keeps the command out of npx's cache"
# shellcheck disable=SC2046
install_in home/.npm/_npx/1f $(archives whichtool whichtool-"$platform")
mkdir -p home/.cursor
echo '{"mcpServers": {"notes": {"command": "true"}}}' >home/.cursor/mcp.json
cp home/.cursor/mcp.json before.json
cached=home/.npm/_npx/1f/node_modules/.bin/whichtool
run_in 0 . "$cached" mcp init --yes --client cursor
same "the client starts the copy" "$HOME/.local/share/whichtool/bin/whichtool" \
    "$("$python" -c 'import json; print(json.load(open("home/.cursor/mcp.json"))["mcpServers"]["whichtool"]["command"])')"
run_in 0 . home/.local/share/whichtool/bin/whichtool --version
run_in 0 . "$cached" mcp undo --yes
cmp -s before.json home/.cursor/mcp.json || fail "undo does not restore the file"
run_in 0 clean npx whichtool mcp init --yes --client cursor
same "an installed package is not copied" "$work/clean/node_modules/@whichtool/$platform/bin/whichtool" \
    "$("$python" -c 'import json; print(json.load(open("home/.cursor/mcp.json"))["mcpServers"]["whichtool"]["command"])')"

what="a platform without a package is reported"
# shellcheck disable=SC2046
install_in alone --omit=optional $(archives whichtool)
run_in 6 alone npx whichtool --version
says "the package @whichtool/$platform, which has the command for this platform, is not installed"

# ---------------------------------------------------------------- the client and the hooks
node -e 'process.exit(parseInt(process.versions.node) >= 20 ? 0 : 1)' || { skip "the tests of the client need Node 20"; finish; }
cp "$source_root"/npm/tests/*.js "$source_root"/python/tests/office.json clean/
frameworks=$WT_TEST_BUILD/npm/node_modules
if [ -d "$frameworks" ]; then
    for package in "$frameworks"/* "$frameworks"/@*/*; do
        name=${package#"$frameworks"/}
        mkdir -p "clean/node_modules/$(dirname "$name")"
        case $name in @*/* | [!@]*) [ -e "clean/node_modules/$name" ] || ln -s "$package" "clean/node_modules/$name" ;; esac
    done
fi
if [ -e clean/node_modules/typescript ]; then
    what="the declarations fit the frameworks" checks=$((checks + 1))
    cp "$source_root"/npm/tests/types.ts clean/
    (cd clean && node node_modules/typescript/bin/tsc --noEmit --strict --skipLibCheck --preserveSymlinks --target es2022 \
        --module nodenext types.ts) >out 2>err || fail "$(head -5 out)"
fi
what="the tests of the client and the hooks" checks=$((checks + 1))
(cd clean && node --preserve-symlinks --test --test-reporter=tap .) >out 2>err || fail "$(grep -A12 '^not ok' out | head -40)"
sed -n 's/^ok [0-9]* - \(.*\) # SKIP \(.*\)$/\1: \2/p' out | while read -r line; do skip "$line"; done
finish
