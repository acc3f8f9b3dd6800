#!/bin/bash
# Models of the hub by name, from a local hub that can also fail in every way.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python
unset HF_TOKEN HF_HUB_OFFLINE
mkdir -p hub
echo '{}' >hub/control.json
mkfifo hold
"$python" "$here/hub_server.py" hub port <hold &
exec 9>hold
trap 'exec 9>&-; rm -rf "$work"' EXIT
for _ in $(seq 200); do
    [ -f port ] && break
    sleep .05
done
[ -f port ] || { skip "no server of models starts here"; exit 77; }
HF_ENDPOINT=http://127.0.0.1:$(cat port)
export HF_ENDPOINT

control() { echo "$1" >hub/control.json; }
asked() { grep -c -- "$1" hub/log; }
publish() { # ORG/NAME REVISION [COMMIT]
    "$python" "$here/tiny_model.py" "hub/$1/$2"
    mkdir -p "hub/$1/$2/1_Pooling"
    echo '{"pooling_mode": "cls"}' >"hub/$1/$2/1_Pooling/config.json"
    echo '[{"type": "a.Transformer", "path": ""}, {"type": "a.Pooling", "path": "1_Pooling"}]' >"hub/$1/$2/modules.json"
    [ -z "${3:-}" ] || echo "$3" >"hub/$1/$2/.commit"
}
commit=0123456789abcdef0123456789abcdef01234567
publish acme/tiny main $commit
here_is=$WHICHTOOL_MODELS/acme/tiny

# ---------------------------------------------------------------- names
while IFS='|' read -r name sentence; do
    expect 2 "pull $name" model pull "$name"
    says "$sentence"
done <<'ROWS'
../tiny|is not a model name on the hub
acme/../tiny|is not a model name on the hub
acme/..|is not a model name on the hub
acme/.tiny|is not a model name on the hub
/etc/passwd|is not a model name on the hub
acme/ti ny|is not a model name on the hub
acme/tiny?x=1|is not a model name on the hub
acme/tiny/main|is not a model name on the hub
acme/-tiny|is not a model name on the hub
./tiny|ORG/NAME or ORG/NAME@REVISION
acme/tiny@|is not a revision
acme/tiny@../main|is not a revision
acme/tiny@a b|is not a revision
acme/tiny@-main|is not a revision
ROWS
[ ! -e hub/log ] || fail "the hub was asked for what is no name"
[ -z "$(ls "$WHICHTOOL_MODELS")" ] || fail "something was written for what is no name"
add_catalogue
expect 5 "a model by a name that was not pulled" find --model acme/tiny --recipe dense rain
says "get it with .whichtool model pull acme/tiny."
expect 0 "status says so, too" status --model acme/tiny
prints "which is not installed; get it with .whichtool model pull acme/tiny."

# ---------------------------------------------------------------- pulls
expect 0 "the first pull" model pull acme/tiny
says "acme/tiny was downloaded; the hashes of its files were recorded"
same "all but the first is asked of its commit" 1 "$(asked /resolve/main/)"
expect 0 "the list has it" model list
prints "^acme/tiny: installed; bert, 2 layers, dimension 16.*; revision 0123456789ab"
expect 0 "with its commit" model info acme/tiny --json
same "commit, name" "('$commit', 'acme/tiny')" "$(json_of '(d["revision"], d["name"])')"
same "its files" "1_Pooling config.json model.safetensors modules.json vocab.txt whichtool.json" \
    "$(find "$here_is" -maxdepth 1 -mindepth 1 ! -name 'packed*' -printf '%f\n' | LC_ALL=C sort | tr '\n' ' ' | sed 's/ $//')"
expect 0 "it makes vectors" vectors --model acme/tiny
expect 0 "and finds" find --model acme/tiny --recipe dense rain --json
same "by it" tiny "$(json_of 'd["encoder"]')"
rm hub/log
expect 0 "the next pull" model pull acme/tiny
says "acme/tiny is installed, and its files are valid"
expect 0 "by the revision that it had" model pull acme/tiny@main
expect 0 "by its commit" model pull acme/tiny@$commit
[ ! -e hub/log ] || fail "the hub was asked for what is here"
expect 2 "another revision" model pull acme/tiny@v2
says "acme/tiny is installed at the revision main \(0123456789ab\); to pull another revision, remove $here_is first"
printf 'x' | dd of="$here_is/model.safetensors" bs=1 seek=12000 conv=notrunc 2>/dev/null
expect 0 "what was damaged is fetched again" model pull acme/tiny
same "that alone" 1 "$(wc -l <hub/log)"
expect 0 "and it is right" model pull acme/tiny
says "and its files are valid"
printf 'x' | dd of=hub/acme/tiny/main/model.safetensors bs=1 seek=12000 conv=notrunc 2>/dev/null
rm "$here_is/model.safetensors"
expect 5 "what the hub has changed is refused" model pull acme/tiny
says "model.safetensors of acme/tiny is not the file that was fetched first \(SHA-256 or size\); to pull the current files, remove"
rm -r "$WHICHTOOL_MODELS/acme"
expect 0 "without the old one it is a first pull" model pull acme/tiny
echo '{"files": [' >"$here_is/whichtool.json"
expect 3 "a record that is damaged" model pull acme/tiny
says "whichtool.json"
rm "$here_is/whichtool.json"
expect 2 "a folder that was not pulled" model pull acme/tiny
says "exists and was not pulled"
rm -r "$WHICHTOOL_MODELS/acme"

# ---------------------------------------------------------------- missing, gated and moved files
while IFS='|' read -r settings code name sentence; do
    control "$settings"
    rm -f hub/log
    expect "$code" "$name, $settings" model pull "$name"
    says "$sentence"
    [ ! -e "$here_is" ] || fail "a model of half a pull"
done <<'ROWS'
{}|5|acme/none|has no model acme/none, or the model has no revision "main"
{}|5|acme/tiny@v3|acme/tiny has no revision "v3"
{"gated": "GatedRepo"}|5|acme/tiny|acme/tiny is gated: accept its terms at http://127.0.0.1:[0-9]+/acme/tiny, and set HF_TOKEN
{"gated": "RepoNotFound"}|5|acme/tiny|there is no public model acme/tiny at .* \(401\)
{"etag": "0000000000000000000000000000000000000000000000000000000000000000"}|5|acme/tiny|does not have the SHA-256 that the hub announces
{"crumbs": 10}|6|acme/tiny|cannot fetch http://127.0.0.1
{"down": true}|6|acme/tiny|the server answered 503
ROWS
control '{}'
rm -rf "$WHICHTOOL_MODELS/acme"
HF_HUB_OFFLINE=1 expect 6 "offline by choice" model pull acme/tiny
says "HF_HUB_OFFLINE is set"
HF_ENDPOINT=http://127.0.0.1:9 expect 6 "no network" model pull acme/tiny
says "cannot fetch http://127.0.0.1:9/acme/tiny/resolve/main/config.json"
HF_ENDPOINT=http://example.org expect 2 "plain http to another machine" model pull acme/tiny
says "only https:// is allowed"

# ---------------------------------------------------------------- interrupted pulls
rm -f hub/log
control '{"cut": 3000}'
expect 0 "weights that end early are gone on with" model pull acme/tiny
same "from where they ended" 1 "$(asked 'model.safetensors 3000')"
rm -r "$WHICHTOOL_MODELS/acme"
half() { # from another pull, of a commit
    mkdir -p "$WHICHTOOL_MODELS/acme/.tiny.partial/hub"
    head -c 5000 "$2" >"$WHICHTOOL_MODELS/acme/.tiny.partial/hub/model.safetensors"
    printf '%s' "$1" >"$WHICHTOOL_MODELS/acme/.tiny.partial/commit"
    rm -f hub/log
}
control '{}'
half $commit hub/acme/tiny/main/model.safetensors
expect 0 "what came before is gone on with" model pull acme/tiny
same "from its end" 1 "$(asked 'model.safetensors 5000')"
rm -r "$WHICHTOOL_MODELS/acme"
half $commit /dev/zero
expect 0 "unless it was something else: then from the start" model pull acme/tiny
same "twice" "1 1" "$(asked 'model.safetensors 5000') $(asked 'model.safetensors 0')"
rm -r "$WHICHTOOL_MODELS/acme"
half ${commit}9 hub/acme/tiny/main/model.safetensors
expect 0 "or of another commit" model pull acme/tiny
same "never" 0 "$(asked 'model.safetensors 5000')"
rm -r "$WHICHTOOL_MODELS/acme"
control '{"mute": true}'
half main hub/acme/tiny/main/model.safetensors
expect 0 "of an unknown commit" model pull acme/tiny
same "never, either" 0 "$(asked 'model.safetensors 5000')"
expect 0 "its revision is what was asked for" model info acme/tiny --json
same "main" main "$(json_of 'd["revision"]')"
rm -r "$WHICHTOOL_MODELS/acme"

# ---------------------------------------------------------------- the token
control '{"gated": "GatedRepo", "away": true}'
rm -f hub/log
HF_TOKEN=hf_secret expect 0 "a gated model with a token" model pull acme/tiny
same "the hub gets it" 0 "$(grep -v elsewhere hub/log | grep -vc 'Bearer hf_secret')"
same "other hosts do not get it" 1 "$(grep elsewhere hub/log | grep -c ' -$')"
if grep -rq hf_secret out err "$WHICHTOOL_MODELS"; then fail "the token was written down"; fi
rm -r "$WHICHTOOL_MODELS/acme"
control '{}'
HF_TOKEN=$'two\nlines' expect 2 "a token that is none" model pull acme/tiny
says "the token is too long or contains an invalid character"
lacks err "lines"

# ---------------------------------------------------------------- unsupported models
change() { # FILE TEXT: replaces a file of a working model, or removes it without TEXT
    rm -rf hub/acme/other "$WHICHTOOL_MODELS/acme"
    publish acme/other main
    rm "hub/acme/other/main/$1"
    [ $# -eq 1 ] || printf '%s' "$2" >"hub/acme/other/main/$1"
    rm -f hub/log
}
change config.json '{"model_type": "modernbert"}'
expect 5 "an architecture that does not run" model pull acme/other
says 'cannot run acme/other: model_type "modernbert" is not supported: it needs .*; supported: bert, roberta, xlm-roberta, '
same "weights are not fetched for that" 0 "$(asked safetensors)"
change config.json
expect 5 "no model of transformers" model pull acme/other
says 'acme/other has no config.json at the revision main'
change model.safetensors
expect 5 "no safetensors" model pull acme/other
says 'acme/other has no model.safetensors at the revision main'
change vocab.txt
expect 5 "no tokenizer" model pull acme/other
says 'cannot run acme/other: the model has no tokenizer'
change 1_Pooling/config.json '{"pooling_mode": "max"}'
expect 5 "another pooling" model pull acme/other
says 'an unsupported pooling'
change model.safetensors 'this is a page of a hotel'
expect 5 "invalid weights" model pull acme/other
says 'cannot run acme/other: model.safetensors'
change modules.json '[{"type": "a.Pooling", "path": "../../../etc"}, {"type": "a.Pooling", "path": "/etc"}]'
expect 5 "modules in other folders" model pull acme/other
same "are not asked for" 0 "$(asked etc)"

# ---------------------------------------------------------------- prompts
publish intfloat/e5-tiny main
publish intfloat/e5-tiny-instruct main
expect 0 "a model of a family" model pull intfloat/e5-tiny
same "its prompts" '{"document":"passage: ","query":"query: "}' "$("$python" -c '
import json, sys
d = json.load(open(sys.argv[1]))
print(json.dumps(d["prompts"], sort_keys=True, separators=(",", ":")))' "$WHICHTOOL_MODELS/intfloat/e5-tiny/whichtool.json")"
expect 0 "one that has others" model pull intfloat/e5-tiny-instruct
lacks "$WHICHTOOL_MODELS/intfloat/e5-tiny-instruct/whichtool.json" prompts
expect 0 "vectors behind prompts" vectors --model intfloat/e5-tiny
prints "6 of tools"
expect 0 "those without are the other model's" vectors --model intfloat/e5-tiny-instruct
prints "All 6 tools have vectors"
expect 0 "what is made of it has them, too" model quantize intfloat/e5-tiny --out small
holds small/whichtool.json '"query":"query: "'
lacks small/whichtool.json sha256
for text in '{"prompts": {"query": 7}}' "{\"prompts\": {\"query\": \"$(printf '%600s' x)\"}}"; do
    cp -r "$WHICHTOOL_MODELS/intfloat/e5-tiny" wrong
    echo "$text" >wrong/config_sentence_transformers.json
    expect 5 "invalid prompts" find --model ./wrong --recipe dense rain
    says "config_sentence_transformers.json has a prompt"
    rm -r wrong
done

# ---------------------------------------------------------------- other languages
german="Wie wird das Wetter morgen in Lissabon?"
expect 0 "a request in German" find --recipe hybrid "$german" --json
same "its notice" True "$(json_of '"seems to be German, but the encoder whichtool-static-v1 supports only English" in (d["notice"] or "")')"
expect 0 "the same on a terminal" find "$german"
says "--model whichtool-multilingual-v1"
expect 1 "and of pick" pick "$german"
says "seems to be German"
expect 0 "one in Chinese" find "明天里斯本的天气怎么样"
says "seems to be in another script"
for request in "Get the weather forecast for Señor Müller in La Coruña" 'Translate "Wie wird das Wetter und wo ist der Bahnhof" for me' \
    "get forecast"; do
    expect 0 "English: $request" find "$request"
    lacks err "seems to be"
done
"$python" "$here/tiny_model.py" models/many 120000
expect 0 "an encoder of many languages" vectors --model many
expect 0 "reads it" find --model many "$german"
lacks err "seems to be"
expect 1 "words alone" find --model "" "$german"
lacks err "seems to be"
finish
