#!/bin/bash
# A session from a catalogue only, with recorded answers of a real language model: Qwen2.5-Coder-1.5B-Instruct (Q4) over
# our sample catalogue, one request for each tool (docs/generate.md, "Use a local model").
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python
unset OPENAI_BASE_URL OPENAI_API_KEY
model=(--model whichtool-static-v1)
recorded=$here/local_model_answers.jsonl
answers=$(wc -l <"$recorded")

expect 0 "a catalogue" add "${model[@]}" "$source_root/samples/catalogue"
expect 0 "requests" generate toolbank "${model[@]}" --one-tool --usages 1 --items "$answers" --trial 12 \
    --dev 0.2 --test 0.3 --chat-model qwen2.5-coder-1.5b-instruct --replay "$recorded" --out requests --json
json_lines
same "no server" 0 "$(json_of 'd["requests"]')"
same "every answer is looked at" "$answers" "$(json_of 'd["report"]["asked"]')"
same "the gate lets it pass" "False" "$(json_of 'd["report"]["trial"]["refused"]')"
same "most are kept" "True" "$(json_of "d['rows'] > $answers / 2")"
same "what was turned away is counted" "True" \
    "$(json_of "d['rows'] + sum(d['report']['stages'][0]['refused'].values()) + d['report']['stages'][0]['unusable'] == $answers")"
expect 0 "learned from" train all --data requests "${model[@]}" --out trained
expect 0 "measured" eval requests --recipe auto --trained trained "${model[@]}" --json
same "requests of test" "True" "$(json_of 'd["queries"] > 0 and d["metrics"]["recall@10"] > 0')"
finish
