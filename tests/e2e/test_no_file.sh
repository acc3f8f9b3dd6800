#!/bin/bash
# A pipe, socket or device in place of a file is rejected at once. Opening a pipe without a writer would block the
# command, and this test, for ever.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python
catalogue
echo '{"request": "will it rain", "tools": ["get_forecast"]}' >log.jsonl
mkfifo pipe pipe.json
ln -s pipe link
"$python" -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'
for name in set data; do
    mkdir -p $name/qrels
    mkfifo $name/queries.jsonl $name/qrels/train.tsv $name/qrels/test.tsv
done
mkfifo set/corpus.jsonl
echo '{"_id": "1", "title": "get_forecast", "text": "rain"}' >data/corpus.jsonl

refused() { # CODE WHAT ARGUMENT...: the command ends with CODE and says "WHAT, not a file"
    local code=$1 words=$2
    shift 2
    expect "$code" "$words: $1" "$@"
    says "^whichtool: .*$words, not a file"
}
refused 3 "pipe is a pipe" add pipe
says "pass it as standard input \(-\), or save it to a file first"
refused 3 "pipe.json is a pipe" add --provider x pipe.json
refused 3 "link is a pipe" add link
refused 3 "socket is a socket" add socket
refused 3 "/dev/zero is a device" add /dev/zero
refused 3 "/dev/fd/[0-9]+ is a pipe" add <(cat weather.json)
expect 0 "what a pipe would give, as standard input" add --provider weather - < <(cat weather.json)
prints "2 added"
expect 0 "a file by the name of standard input" add --provider weather /dev/stdin <weather.json
prints "2 unchanged"
expect 3 "the sources beside a pipe are taken" add pipe tables.json
says "pipe is a pipe"
prints "^tables.json .* 2 added"
expect 3 "a folder is read without its pipes" add set
says "set contains no file with one of the extensions .json "
refused 3 "pipe is a pipe" usage add pipe
refused 3 "/dev/zero is a device" usage add /dev/zero
refused 3 "set/qrels/train.tsv is a pipe" usage add set
expect 0 "usage as standard input" usage add - <log.jsonl
refused 3 "data/qrels/test.tsv is a pipe" eval data --recipe bm25
refused 3 "pipe is a pipe" pick --recipe ptr --chat-model some --replay pipe rain
refused 3 "pipe is a pipe" pick --recipe ptr --chat-model some --chat-url http://127.0.0.1:9/v1 --record pipe rain
expect 4 "a store that is a pipe" -s pipe list
says "pipe is a special file, not a whichtool store"
expect 4 "a store that is a device" -s /dev/zero add weather.json
"$python" "$here/tiny_model.py" "$work/models/tiny"
refused 3 "data/qrels/train.tsv is a pipe" train encoder --model tiny --data data --out trained
rm models/tiny/config.json
mkfifo models/tiny/config.json
expect 5 "a model whose configuration is a pipe" find --model tiny --recipe dense rain
says "tiny"
finish
