#!/bin/bash
# Identities: tools of several files with the same name, exported names, and renamed providers.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python

tool() { # NAME DESCRIPTION
    printf '{"name": "%s", "description": "%s", "inputSchema": {"type": "object"}}' "$1" "$2"
}
mkdir mcp other
echo "[$(tool log one), $(tool diff one)]" >mcp/git.json
echo "[$(tool search web)]" >mcp/web.json
echo "[$(tool log another), $(tool diff one)]" >other/git.json

expect 0 "a folder" add mcp
prints "3 added"
expect 0 "then one of its files" add mcp/git.json
prints "0 added, 0 updated, 2 unchanged"
expect 0 "another file of that name" add other/git.json
prints "1 added, 0 updated, 1 unchanged"
says "1 tool has the name of another source's tool but a different definition, and was renamed: git/log of .*/other/git.json is git/log~2, because .*/mcp/git.json has that name"
expect 0 "and again" add --json other/git.json
same "it is there" "[2, 0]" "$(json_of '[l[0]["unchanged"], l[0]["collisions"]]')"
expect 0 "what is there" list
same "all tools" "git/log git/diff web/search git/log~2" "$(cut -d' ' -f1 out | paste -sd' ')"

expect 0 "the other way round" -s reversed.wt add other/git.json mcp/git.json mcp/web.json
expect 0 "as it was" -s straight.wt add mcp/web.json mcp/git.json other/git.json
for store in reversed straight; do
    expect 0 "the tools of $store" -s $store.wt list --json
    cp out $store
done
cmp -s reversed straight || fail "the order of the sources makes a difference"

expect 0 "a definition" find --format openai -k 1 another
prints '"name":"git__log_2"'
expect 0 "its name" show git__log_2
prints "git/log~2"

rm mcp/web.json
expect 0 "a file that is gone" add --sync mcp
prints "2 unchanged, 1 removed"

# A link is a source of its own, even if its target changes, as in deployments.
mkdir deployed v1 v2
echo "[$(tool deploy one)]" >v1/tools.json
echo "[$(tool deploy two)]" >v2/tools.json
ln -s ../v1/tools.json deployed/ci.json
expect 0 "a link in a folder" -s links.wt add deployed
prints "1 added"
ln -sf ../v2/tools.json deployed/ci.json
expect 0 "alone, to another file" -s links.wt add deployed/ci.json
prints "0 added, 1 updated"
ln -sf ../v1/tools.json deployed/ci.json
expect 0 "in its folder by another way" -s links.wt add v1/../deployed
prints "0 added, 1 updated"
ln -sf nowhere deployed/ci.json
expect 3 "a dangling link, beside a file" -s links.wt add --sync deployed v2
says "deployed/ci.json: cannot open .*No such file or directory"
says "nothing was removed"
expect 0 "has its tools" -s links.wt list
same "both" "ci/deploy tools/deploy" "$(cut -d' ' -f1 out | paste -sd' ')"

chmod 000 v1/tools.json
if ! [ -r v1/tools.json ]; then # root can read everything
    expect 0 "a file that may not be read" -s links.wt add --sync v1 v2
    says "v1/tools.json: cannot open .*Permission denied"
fi
chmod 600 v1/tools.json

expect 0 "a new name" rename git vcs
prints "^3 tools renamed; 3 vectors"
expect 0 "the source keeps its own" add mcp
prints "0 added, 0 updated, 2 unchanged"
expect 0 "under the new name" list --providers
same "one provider" "3 vcs" "$(sed 's/^ *//; s/  */ /g' out)"
expect 0 "a model's name" show vcs__log_2 --json
same "follows" "vcs__log_2" "$(json_of 'l[0]["export_name"]')"
expect 1 "a provider that is not there" rename git svn
says 'no tool has the provider "git"'
expect 2 "no new name" rename vcs
expect 0 "to a program" rename --json vcs git
same "how many" 3 "$(json_of 'l[0]["renamed"]')"

echo '{"openapi": "3.0.0", "info": {"title": "GitHub v3 REST API", "version": "1"}, "paths": {"/i": {"post":
{"operationId": "issues/create", "summary": "Creates an issue"}}}}' >api.json
expect 0 "a document" -s api.wt add api.json
expect 0 "its operation" -s api.wt show github__issues_create
prints "github/issues/create"
finish
