#!/bin/bash
# mcp init and mcp undo, with each write, sync, rename and opening for writing failing in turn, the process killed
# before or in the middle of each, and out of memory: a client's file is always the old or the new one, and undo
# restores everything after any failure of init or of an earlier undo.
# shellcheck disable=SC1091,SC2034,SC2154
. "$(dirname "$0")/common.sh"

export HOME=$folder/home XDG_CONFIG_HOME=$folder/home/.config
unset CLAUDE_CONFIG_DIR
before=$folder/before
mkdir -p "$before/.cursor" "$before/.gemini"
cat >"$before/.claude.json" <<'JSON'
{
  "numStartups": 3,
  "mcpServers": {
    "git": {"command": "uvx", "args": ["mcp-server-git"], "env": {"KEY": "secret"}},
    "off": {"command": "x", "disabled": true}
  }
}
JSON
printf '// mine\r\n{"mcpServers": {\r\n\t"git": {"command": "other"}, // x\r\n}}\r\n' >"$before/.cursor/mcp.json"
printf '{"mcpServers": {"a": {"command": "a"}}}' >"$before/.gemini/settings.json"
chmod 600 "$before/.claude.json"
files=(.claude.json .cursor/mcp.json .gemini/settings.json)

home_from() { # FOLDER
    rm -rf "$HOME"
    cp -a "$1" "$HOME"
}
init() { run "$@" mcp init --yes; }
undo() { run "$@" mcp undo --yes; }
home_from "$before"
init
[ "$rc" -eq 0 ] || fail "init without a fault: exit $rc: $(cat "$folder/err")"
cp -a "$HOME" "$folder/after"

check_files() { # WHAT: each file is one of the two, with its permissions
    local file
    for file in "${files[@]}"; do
        cmp -s "$HOME/$file" "$before/$file" || cmp -s "$HOME/$file" "$folder/after/$file" ||
            fail "$1: $file is neither the old nor the new one"
        [ "$(stat -c %a "$HOME/$file")" = "$(stat -c %a "$before/$file")" ] || fail "$1: other permissions of $file"
    done
    [ -z "$(find "$HOME/.config" -type f -perm /077 ! -name init.lock 2>/dev/null)" ] || fail "$1: others may read ours"
}
check_back() { # WHAT: everything is restored, and only complete backups are left
    local file
    for file in "${files[@]}"; do
        cmp -s "$HOME/$file" "$before/$file" || fail "$1: $file is not what it was"
        [ ! -e "$HOME/$file.whichtool-backup" ] || cmp -s "$HOME/$file.whichtool-backup" "$before/$file" ||
            fail "$1: the copy of $file is none"
    done
}
check_told() { # HOW WHAT
    case $1 in
    KILL | TEAR) [ "$rc" -eq 137 ] || [ "$rc" -eq 0 ] || fail "$2: exit $rc" ;;
    ALLOC) is_documented "$rc" || [ "$rc" -eq 134 ] || [ "$rc" -eq 139 ] || fail "$2: exit $rc: $(cat "$folder/err")" ;;
    *) is_documented "$rc" || fail "$2: exit $rc: $(cat "$folder/err")" ;;
    esac
    [ "$rc" -eq 0 ] || [ "$rc" -gt 130 ] || [ -s "$folder/err" ] || fail "$2: exit $rc without a word"
}

# If the file system cannot swap two files in one step, the new one is renamed over the old one.
home_from "$before"
init FAULT_SWAP=1
check_told EIO "init without swaps"
for file in "${files[@]}"; do
    cmp -s "$HOME/$file" "$folder/after/$file" || fail "init without swaps: $file is not the new one"
done
undo FAULT_SWAP=1
check_back "undo without swaps"

home_from "$before"
counts mcp init --yes
init_calls=$calls
counts mcp undo --yes
undo_calls=$calls
for how in KILL TEAR EIO ENOSPC; do
    for n in $(points "$init_calls" 100 1); do
        what="call $n of init, $how"
        home_from "$before"
        init FAULT_IO="$n" FAULT_HOW=$how
        check_told $how "$what"
        check_files "$what"
        cp -a "$HOME" "$folder/broken"
        undo
        [ "$rc" -le 1 ] || fail "$what, then undo: exit $rc: $(cat "$folder/err")"
        check_back "$what, then undo"
        home_from "$folder/broken"
        init
        [ "$rc" -eq 0 ] || fail "$what, then init: exit $rc: $(cat "$folder/err")"
        for file in "${files[@]}"; do
            cmp -s "$HOME/$file" "$folder/after/$file" || fail "$what, then init: $file is not the new one"
        done
        undo
        [ "$rc" -eq 0 ] || fail "$what, then init and undo: exit $rc: $(cat "$folder/err")"
        check_back "$what, then init and undo"
        rm -rf "$folder/broken"
    done
    for n in $(points "$undo_calls" 100 1); do
        what="call $n of undo, $how"
        home_from "$folder/after"
        undo FAULT_IO="$n" FAULT_HOW=$how
        check_told $how "$what"
        check_files "$what"
        undo
        [ "$rc" -le 1 ] || fail "$what, then undo: exit $rc: $(cat "$folder/err")"
        check_back "$what, then undo"
        [ -z "$(find "$HOME" -name '*.whichtool-backup*')" ] || fail "$what, then undo: a copy is left"
        [ ! -e "$HOME/.config/whichtool/servers.json" ] || fail "$what, then undo: our servers are left"
    done
done

# Memory. jansson 2.14 crashes if out of memory for a word; the files are intact then, too.
home_from "$before"
counts mcp init --yes
for n in $(points "$allocations" 60 40); do
    home_from "$before"
    init FAULT_ALLOC="$n"
    check_told ALLOC "allocation $n of init"
    check_files "allocation $n of init"
    undo
    check_back "allocation $n of init, then undo"
done
home_from "$folder/after"
counts mcp undo --yes
for n in $(points "$allocations" 60 40); do
    home_from "$folder/after"
    undo FAULT_ALLOC="$n"
    check_told ALLOC "allocation $n of undo"
    check_files "allocation $n of undo"
    undo
    [ "$rc" -le 1 ] || fail "allocation $n of undo, then undo: exit $rc: $(cat "$folder/err")"
    check_back "allocation $n of undo, then undo"
done
conclude
