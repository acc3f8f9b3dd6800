#!/bin/bash
# mcp init and mcp undo on homes of clients, as folders below clients/: `before` is the home, `after` has all files of
# it after init, `says` is the output. @HOME@ and @PROGRAM@ stand for the paths. A second init changes nothing, and undo
# restores every byte. WT_WRITE_EXPECTED=1 rewrites `after` and `says`, for review.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python
cases=$here/clients
unset XDG_CONFIG_HOME CLAUDE_CONFIG_DIR CODEX_HOME WHICHTOOL_STORE
export TICKETS_TOKEN=4711
unset DOCKER_HOST HTTPS_PROXY HTTP_PROXY NO_PROXY https_proxy http_proxy no_proxy SSL_CERT_FILE NODE_EXTRA_CA_CERTS
program=$(realpath "$WHICHTOOL")
# The programs that these homes name, except no-such-server.
mkdir "$work/bin"
for name in a b c db db-server docker e few m my-server npx s say shop-server t uvx x; do
    ln -s "$(type -P true)" "$work/bin/$name"
done
PATH=$work/bin:$PATH

named() { sed -E -e "s|$HOME|@HOME@|g" -e "s|$program|@PROGRAM@|g" -e 's/(project)-[0-9a-f]{12}/\1-@HASH@/g' "$@"; }
# Prints the files of a home with their bytes, without our own files; links are shown as links.
tree() { # FOLDER
    (cd "$1" && find . \( -type f -o -type l \) ! -name '*.whichtool-backup*' ! -name init.json ! -name init.lock |
        LC_ALL=C sort | while read -r file; do
        printf '%s %s %s\n' "$file" "$(stat -c %a "$file")" "$([ -L "$file" ] && readlink "$file")" | named
        named <"$file"
        echo
    done)
}
whole_tree() { (cd "$1" && find . \( -type f -o -type l \) ! -name init.lock -exec sha256sum {} + 2>/dev/null | LC_ALL=C sort); }
home_of() { # CASE
    rm -rf "${work:?}/home"
    cp -a "$cases/$1/before" "$work/home"
    find "$work/home" -type f -exec chmod 640 {} +
    cd "$work/home" || exit 1
    extra=()
    if [ -d project ]; then
        cd project || exit 1
        extra=(--project)
    fi
}
back() { cd "$work" || exit 1; }
run() { # CODE ARGUMENT...
    local want=$1 code
    shift
    checks=$((checks + 1))
    "$WHICHTOOL" "$@" </dev/null >"$work/out" 2>"$work/err"
    code=$?
    [ "$code" = "$want" ] || (cd "$work" && fail "exit $code, wanted $want: whichtool $*")
    [ "$code" = "$want" ] || failures=$((failures + 1))
}

for folder in "$cases"/*/; do
    name=$(basename "$folder")
    what="case $name"
    home_of "$name"
    whole_tree "$HOME" >"$work/whole_before"
    run 0 mcp init --dry-run "${extra[@]}"
    whole_tree "$HOME" >"$work/whole_now"
    cmp -s "$work/whole_before" "$work/whole_now" || { back; fail "--dry-run changed something"; cd "$OLDPWD" || exit 1; }
    named "$work/out" >"$work/says"
    run 0 mcp init --yes "${extra[@]}"
    named "$work/out" >"$work/says_now"
    tree "$HOME" >"$work/tree_after"
    whole_tree "$HOME" >"$work/whole_after"
    run 0 mcp init --yes "${extra[@]}"
    whole_tree "$HOME" >"$work/whole_again"
    moved=$(find "$HOME" -name init.json | wc -l)
    run $((moved == 0)) mcp undo --yes "${extra[@]}"
    whole_tree "$HOME" >"$work/whole_back"
    back
    if [ -n "${WT_WRITE_EXPECTED:-}" ]; then
        cp says "$cases/$name/says"
        cp tree_after "$cases/$name/after"
    fi
    cmp -s says says_now || fail "--dry-run says something else than what is done"
    cmp -s says "$cases/$name/says" || fail "it says something else: $(diff says "$cases/$name/says")"
    cmp -s tree_after "$cases/$name/after" || fail "another home: $(diff tree_after "$cases/$name/after")"
    cmp -s whole_after whole_again || fail "a second init changed something"
    cmp -s whole_before whole_back || fail "undo does not put all back: $(diff whole_before whole_back)"
    [ "$moved" = 0 ] || ! find home -name init.lock | grep -q . || fail "undo leaves its lock"
done

# ---------------------------------------------------------------- variables of the machine
what="variables of the machine"
home_of cursor
whole_tree "$HOME" >"$work/whole_before"
export DOCKER_HOST=unix:///run/user/docker.sock NO_PROXY=
run 0 mcp init --yes --no-env
grep -q DOCKER_HOST "$HOME/.config/whichtool/servers.json" && { back; fail "--no-env hands it on"; }
run 0 mcp undo --yes
run 0 mcp init --yes
grep -q "adds env    DOCKER_HOST$" "$work/out" || { back; fail "init does not say so"; }
entries=$("$python" - "$HOME" <<'PYTHON'
import json, sys
home = sys.argv[1]
for name, server in json.load(open(home + "/.config/whichtool/servers.json"))["mcpServers"].items():
    if "command" in server:
        print(server.get("env", {}).get("DOCKER_HOST"), server.get("env", {}).get("NO_PROXY"))
print(json.load(open(home + "/.cursor/mcp.json"))["mcpServers"]["whichtool"]["env"]["DOCKER_HOST"])
PYTHON
)
same "each program gets it, and the client hands it on" "\${DOCKER_HOST:-} None \${env:DOCKER_HOST}" \
    "$(printf '%s\n' "$entries" | sort -u | tr '\n' ' ' | sed 's/ $//')"
run 0 mcp undo --yes
whole_tree "$HOME" >"$work/whole_back"
back
cmp -s whole_before whole_back || fail "undo does not put all back: $(diff whole_before whole_back)"
unset DOCKER_HOST NO_PROXY

# ---------------------------------------------------------------- changed files
fresh() { # CASE
    cd "$work" || exit 1
    rm -rf home
    cp -a "$cases/$1/before" home
}
replace() { # FILE FROM TO
    "$python" - "$@" <<'PYTHON'
import sys
path, old, new = sys.argv[1:]
text = open(path, newline="").read()
assert old in text, old
open(path, "w", newline="").write(text.replace(old, new, 1))
PYTHON
}
file=home/.cursor/mcp.json
fresh cursor
expect 0 "servers of one client move" mcp init --yes </dev/null
says "home/.cursor/mcp.json was changed; its backup is .*/mcp.json.whichtool-backup$"
replace $file '"here":' '"later": {"command": "l"}, /* mine */ "here":'
replace home/.config/whichtool/servers.json '"uvx"' '"other"'
expect 0 "a file that was changed since is edited" mcp undo --yes </dev/null
prints "^Cursor: "
prints "was changed since: the entry of whichtool is removed, and the servers are put back"
says "^1 file restored\. Restart the clients\."
prints "^    backup .*whichtool-backup$"
says "The server git was changed in .*servers.json since init, and stays there"
same "the servers are back as they were written, what came since stays" "$(cat $file)" "$(sed \
    's|"here":|"later": {"command": "l"}, /* mine */ "here":|' "$cases/cursor/before/.cursor/mcp.json")"
same "the copy stays" "$(cat home/.cursor/mcp.json.whichtool-backup)" "$(cat "$cases/cursor/before/.cursor/mcp.json")"
same "what was changed of ours stays" "$(grep -c '"other"' home/.config/whichtool/servers.json)" 1

fresh cursor
expect 0 "again" mcp init --yes </dev/null
replace $file '"here":' '"git": {"command": "mine"}, "here":'
expect 0 "an existing name is not restored" --json mcp undo --yes </dev/null
same "it is told" "$(json_of 'd["files"][0]["state"], d["files"][0]["back"], d["files"][0]["there_already"]')" \
    "('edited', ['shop'], ['git'])"
same "the client's own stays" "$(grep -c '"mine"' $file)" 1

fresh cursor
expect 0 "again" mcp init --yes </dev/null
replace $file '"here":' '"more": {"command": "more"}, "here":'
cp $file between
expect 0 "a server that came later moves too" mcp init --yes </dev/null
prints "moves +more"
lacks out instead:
expect 0 "all that was moved comes back" mcp undo --yes </dev/null
same "each copy is named" "mcp.json.whichtool-backup mcp.json.whichtool-backup-2" \
    "$(sed -n 's|^    backup .*/||p' out | xargs)"
same "with what came later" "$(cat $file)" "$(sed \
    's|"here":|"more": {"command": "more"}, "here":|' "$cases/cursor/before/.cursor/mcp.json")"

fresh cursor
expect 0 "again" mcp init --yes </dev/null
rm $file
expect 0 "a file that is gone" mcp undo --yes </dev/null
prints "no longer exists; its backup is kept"
[ ! -e $file ] || fail "it was made again"
expect 1 "no more files to restore" mcp undo --yes </dev/null

fresh cursor
expect 0 "again" mcp init --yes </dev/null
echo '{"mcpServers": {' >$file
expect 3 "a file that is broken now is left" mcp undo --yes </dev/null
prints "left .*not valid JSON"
same "as it is" "$(cat $file)" '{"mcpServers": {'
cp "$cases/cursor/before/.cursor/mcp.json" $file
expect 0 "once it is put right, the rest is undone" mcp undo --yes </dev/null
[ ! -e home/.config/whichtool/servers.json ] && [ ! -e home/.config/whichtool/init.json ] || fail "ours are there"

fresh several
echo earlier >home/.claude.json.whichtool-backup
expect 0 "some clients" mcp init --yes --client claude-code --client cursor </dev/null
same "an earlier copy stays" "$(cat home/.claude.json.whichtool-backup)" earlier
same "the copy has another name" "$(cat home/.claude.json.whichtool-backup-2)" \
    "$(cat "$cases/several/before/.claude.json")"
same "others are not touched" "$(cat home/.gemini/settings.json)" "$(cat "$cases/several/before/.gemini/settings.json")"
expect 0 "one client is restored" mcp undo --yes --client claude-code </dev/null
same "what the other needs stays" "$("$python" -c 'import json
print(list(json.load(open("home/.config/whichtool/servers.json"))["mcpServers"]))')" "['git', 'db-2']"

# ---------------------------------------------------------------- skipped files
fresh several
rm home/.gemini/settings.json home/.claude.json
mkdir home/.gemini/settings.json home/.claude.json home/.codeium home/.codeium/windsurf home/.config home/.config/zed
chmod 444 home/.cursor/mcp.json
mkfifo home/.codeium/windsurf/mcp_config.json
ln -s nowhere home/.config/zed/settings.json
mkdir -p home/.config/Code/User home/.config/Claude
"$python" -c 'print("{\"servers\": {\"a\": {\"command\": \"" + "x" * (16 << 20) + "\"}}}")' >home/.config/Code/User/mcp.json
echo '{"mcpServers": {"a": {"command": "a"}}}' >home/one.json
ln home/one.json home/.config/Claude/claude_desktop_config.json
whole_tree home >whole_before
expect 0 "folders, pipes, dangling links, read-only and huge files" mcp init --yes </dev/null
prints "left +it is read-only"
prints "left .*is a folder, not a file"
prints "left .*is a pipe"
prints "left +it is a broken link"
prints "left .*at most 16777216 are read"
prints "left +it has several hard links"
whole_tree home >whole_now
cmp -s whole_before whole_now || fail "something changed"

fresh cursor
mkdir -p home/.config/whichtool
echo '{"servers": []}' >home/.config/whichtool/servers.json
expect 3 "a file of servers that is not understood" mcp init --yes </dev/null
says "servers.json exists already and is invalid: it has no \"mcpServers\" object"
printf '{\n  // by hand\n  "mcpServers": {"git": {"command": "own"}}\n}\n' >home/.config/whichtool/servers.json
cp home/.config/whichtool/servers.json own
expect 0 "an existing servers file is extended" mcp init --yes </dev/null
prints "moves +git, as git-2"
expect 0 "and is what it was" mcp undo --yes </dev/null
says "^The server git was added to .*servers.json by another program, and stays there"
same "byte for byte" "$(cat home/.config/whichtool/servers.json)" "$(cat own)"
echo '{"version": 7}' >home/.config/whichtool/init.json
expect 3 "a record that is not understood" mcp undo --yes </dev/null
says "cannot read .*init.json, the record of changes to clients' files; their backups"
expect 3 "an invalid record stops init" mcp init --yes </dev/null
cmp -s $file "$cases/cursor/before/.cursor/mcp.json" || fail "the client's file changed"

fresh cursor
odd=home/$(printf 'odd \377')
mkdir "$odd"
XDG_CONFIG_HOME=$work/$odd expect 3 "a path that JSON cannot have" mcp init --yes --client cursor </dev/null
says "is not valid UTF-8, so JSON files cannot contain it"
rm -rf "$odd"
mkdir "home/\"blanks\" & ünïcode"
expect_in() { XDG_CONFIG_HOME="$work/home/\"blanks\" & ünïcode" expect "$@"; }
expect_in 0 "one that it can" mcp init --yes --client cursor </dev/null
same "is written whole" "$("$python" -c 'import json
print(json.load(open("home/.cursor/mcp.json"))["mcpServers"]["whichtool"]["args"][2])')" \
    "$work/home/\"blanks\" & ünïcode/whichtool/servers.json"
expect_in 0 "and leads back" mcp undo --yes </dev/null
cmp -s $file "$cases/cursor/before/.cursor/mcp.json" || fail "it is not what it was"

# ---------------------------------------------------------------- asking
fresh cursor
expect 2 "no terminal to ask" mcp init </dev/null
says "cannot ask without a terminal; preview with --dry-run, or apply with --yes"
expect 2 "an unknown client" mcp init --client emacs
says 'unknown client "emacs"; '
expect 2 "one that is nearly one" mcp init --client cursr
says 'unknown client "cursr"; did you mean cursor\?'
expect 2 "an option of another action" mcp init --budget 5
expect 2 "and the other way" mcp --client cursor
expect 2 "a word too many" mcp init cursor
expect 0 "for programs" --json mcp init --yes </dev/null
same "is one object" "$(json_of 'd["moving"], d["files"][0]["state"], [s["becomes"] for s in d["files"][0]["servers"]]')" \
    "(2, 'changed', ['git', 'shop', None, None])"
replace home/.config/whichtool/servers.json '"mcpServers": {' '"mcpServers": {"own": {"command": "own"},'
expect 0 "back" --json mcp undo --yes </dev/null
same "what was added is told" "['own']" "$(json_of 'd["servers_added"]')"
rm -r home/.config/whichtool
same "is one object, too" "$(json_of 'd["files"][0]["state"], d["files"][0]["written"]')" "('restored', True)"
if have_terminal "asking on a terminal"; then
    what="on a terminal"
    checks=$((checks + 2))
    script -qec "$WHICHTOOL mcp init" /dev/null >out 2>err <<<n
    holds out "Close these clients first: some write their file on exit\."
    holds out "Change 1 file\? \[y/N\]"
    holds out "nothing was changed"
    cmp -s $file "$cases/cursor/before/.cursor/mcp.json" || fail "a no is a yes"
    script -qec "$WHICHTOOL -s s.wt mcp init" /dev/null >out 2>err <<<y
    grep -q "\"-s\", \"$work/s.wt\", \"mcp\"" $file || fail "a yes is a no, or the store is not named"
fi
rm -rf home
mkdir home
expect 1 "no client at all" mcp init
says "no configuration file of an MCP client was found$"
expect 1 "nor of a project" mcp init --project
says "no configuration file of an MCP client was found in $work$"

# ---------------------------------------------------------------- the gateway of the entry
# The gateway is started by the entry, as a client does, and has the moved servers.
mkdir home/.cursor
cat >server.py <<'PYTHON'
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    answers = {"initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                              "serverInfo": {"name": "s", "version": "1"}},
               "tools/list": {"tools": [{"name": "greet", "description": "Greets", "inputSchema": {"type": "object"}}]}}
    if "id" in message:
        result = answers.get(message["method"])
        body = {"result": result} if result else {"error": {"code": -32601, "message": "Method not found"}}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **body}), flush=True)
PYTHON
"$python" - >home/.cursor/mcp.json <<PYTHON
import json
print(json.dumps({"mcpServers": {"greeter": {"command": "$(command -v "$python")", "args": ["$work/server.py"]}}}))
PYTHON
expect 0 "a server that can be started moves" mcp init --yes </dev/null
what="the entry starts the gateway"
checks=$((checks + 1))
"$python" - >out 2>err <<'PYTHON' || fail "no tool of the server behind it"
import json, subprocess, time
entry = json.load(open("home/.cursor/mcp.json"))["mcpServers"]["whichtool"]
child = subprocess.Popen([entry["command"]] + entry["args"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
def send(message):
    child.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    child.stdin.flush()
def answer(number):
    for line in child.stdout:
        message = json.loads(line)
        if message.get("id") == number:
            return message
send({"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {},
      "clientInfo": {"name": "test", "version": "1"}}})
answer(1)
send({"method": "notifications/initialized"})
names = []
for number in range(2, 200):
    send({"id": number, "method": "tools/list"})
    names = [t["name"] for t in answer(number)["result"]["tools"]]
    if any("greet" in n for n in names):
        break
    time.sleep(0.1)
child.stdin.close()
child.wait()
assert any("greet" in n for n in names), names
PYTHON
expect 0 "back again" mcp undo --yes </dev/null
says "^The store .*tools.wt keeps the listed tools; .whichtool mcp forget NAME. removes them\."
finish
