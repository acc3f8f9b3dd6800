#!/bin/bash
# pick: without a model, without training, trained, and measured.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python
"$python" "$here/tiny_model.py" "$work/models/tiny"
model=(--model tiny)

expect 4 "an empty store" pick book a table
says "whichtool add"
expect 2 "no request" pick
says "needs REQUEST"
catalogue
expect 0 "the catalogue" add "${model[@]}" weather.json money.json tables.json
expect 2 "a probability of two" pick --complete 2 book a table
says "a number from 0 to below 1, not \"2\""
expect 2 "words for a share" pick --abstain often book a table
says "a number from 0 to below 1, not \"often\""
expect 2 "a share and a recipe" find --abstain 0.05 --recipe bm25 book a table
says "abstain requires the recipe auto, not bm25"
expect 2 "a share and another selector" pick --abstain 0.05 --recipe bundle book a table
says "the recipe bundle does not support complete and abstain; use the recipe set"
expect 5 "a set is not found" find --recipe set book a table
says "whichtool pick"

expect 0 "words alone" pick --model "" book a table in a restaurant
prints "^ 1 +[01]\.[0-9]+ +.*book_table"
says "chosen from the hits of the recipe hybrid"
says "not calibrated on this catalogue"
expect 0 "an untrained model" pick "${model[@]}" --abstain 0 --json book a table in a restaurant
json_lines
same "its members" "True True True" "$(json_of '"%s %s %s" % (0 <= d["no_tool_probability"] <= 1, 0 < d["expected_match"] <= 1, all(0 < t["score"] <= 1 for t in d["hits"]))')"
keys=$(json_of 'sorted(d), [sorted(h) for h in d["hits"]][:1]')
expect 0 "what find tells" find "${model[@]}" --json book a table in a restaurant
same "has the same form" "$keys" "$(json_of 'sorted(d), [sorted(h) for h in d["hits"]][:1]')"
expect 0 "of two patterns" pick "${model[@]}" --abstain 0 --only 'get_f*' --only '*_invoices' --json book a table
same "no tools of others" True "$(json_of '{h["name"] for h in d["hits"]} <= {"get_forecast", "list_invoices"}')"
expect 0 "less a pattern" pick "${model[@]}" --abstain 0 --exclude 'book_*' --json book a table
same "excluded tools are absent" True "$(json_of 'all(h["name"][:5] != "book_" for h in d["hits"])')"
expect 1 "no such provider" pick "${model[@]}" -p nobody -p nowhere book a table
says "no tool has the provider .nobody."
expect 0 "something all the same" pick --model "" --abstain 0 guests of the moon over a pond in the north
says "Probably no tool fits \([5-9][0-9] %\); these tools are the most likely ones"
expect 1 "a budget too small for any tool" pick "${model[@]}" --abstain 0 --max-tokens 2 --json book a table
same "is told" "[] True None" "$(json_of '"%s %s %s" % (d["hits"], d["over_budget"] > 0, d["complete_probability"])')"
says "no tool of [0-9] fits in 2 tokens: "
expect 1 "in words" pick "${model[@]}" --abstain 0 --max-tokens 2 book a table
lacks err "No tool fits"
expect 0 "reasons" pick "${model[@]}" --abstain 0 --explain book a table
prints "matched: "
expect 0 "definitions" pick "${model[@]}" --abstain 0 --format openai book a table
same "an array of functions" "function" "$(json_of 'd[0]["type"]')"
expect 5 "--complete without a measurement" pick "${model[@]}" --complete 0.9 --format openai book a table
silent out
says "unknown without training; record use, then run .whichtool train all.; or use the first hits of find, or a budget of tokens"
says "use .whichtool find -k N.; to fill a budget, use .--max-tokens N."
expect 0 "within a budget" pick "${model[@]}" --abstain 0 --complete 0.9 --max-tokens 200 --json book a table
same "what fits, without a promise" "True True None None" "$(json_of '"%s %s %s %s" % (0 < len(d["hits"]) < 6, d["tokens"] <= 200, d["complete_probability"], d["expected_match"])')"
says "unknown without training; [0-9] of 6 tools fit in 200 tokens"
expect 1 "unknown words" pick --model "" xyzzy plugh
silent out
says "No tool fits"

# Forty tools. The first word of a request names a tool, the second word, if any, another.
forty_tools 4
export WHICHTOOL_STORE=$work/used.wt
expect 0 "forty tools" add "${model[@]}" tools.jsonl
expect 0 "usages" usage add "${model[@]}" usages.jsonl
expect 5 "what sets are chosen from" train set "${model[@]}"
says "run .whichtool train auto. first, or .whichtool train all. for both"
for lesson in neighbours auto set; do
    expect 0 "$lesson" train "$lesson" "${model[@]}"
done
prints "^set: TRACC on dev"
[ -f used.wt-models/set/config.json ] || fail "no chooser"
expect 0 "calibrated hits" find "${model[@]}" --json -k 1 book book weather 440
calibrated=$(json_of 'd["hits"][0]["probability"]')
expect 0 "those of other catalogues" find "${model[@]}" --json -k 1 --recipe hybrid book book weather 440
same "calibrated apart" True "$(json_of "d['hits'][0]['probability'] != $calibrated and 0 < $calibrated < 1")"
expect 0 "trained" pick "${model[@]}" --abstain 0 --json book book weather 440
same "calibrated" "True" "$(json_of 'd["notice"] is None')"
expect 0 "a set that shall be complete" pick "${model[@]}" --abstain 0 --complete 0.5 --json book book weather 440
same "what was promised" "0.5" "$(json_of 'd["complete_probability"]')"
expect 5 "one that cannot be" pick "${model[@]}" --abstain 0 --complete 0.999 book book weather 440
says "cannot promise that probability: .*; 0.[0-9]* can be promised; or "
promised=$(grep -o '0.[0-9]* can be promised' err | cut -d' ' -f1)
expect 0 "what can be" pick "${model[@]}" --abstain 0 --complete "$promised" --json book book weather 440
same "is promised" "$promised" "$(json_of 'd["complete_probability"]')"
expect 0 "in words" pick "${model[@]}" --abstain 0 --complete 0.5 book book weather 440
says "Target: complete for 50 % of requests"
says "measured on [0-9]* held-out requests; this is not a guarantee"

# A request unlike the recorded ones is handled as without training, with a note.
expect 0 "shorter than any that was logged" pick "${model[@]}" --abstain 0 --json book
same "why" True "$(json_of '"shorter than those used for training" in d["notice"]')"
same "by what needs no training" hybrid "$(json_of 'd["recipe"]')"
expect 1 "a request with --abstain" find "${model[@]}" --abstain 0.01 --json book
same "the order, too" True "$(json_of '"shorter than those used for training" in d["notice"]')"

# Killed at any moment of retraining, the chooser is the old or the new one; they are equal, because the seed is.
chooser=$(sha256sum <used.wt-models/set/config.json)
for pause in 0.005 0.01 0.02 0.04 0.08 0.16 0.32 0.64; do
    "$WHICHTOOL" train set "${model[@]}" >out 2>err &
    pid=$!
    sleep $pause
    kill -KILL $pid 2>/dev/null
    { wait $pid; } 2>/dev/null
    same "the chooser, killed after $pause s" "$chooser" "$(sha256sum <used.wt-models/set/config.json)"
    expect 0 "picking, killed after $pause s" pick "${model[@]}" --abstain 0 --json book book weather 440
    same "calibrated, killed after $pause s" "True" "$(json_of 'd["notice"] is None')"
done
expect 0 "learned anew" train set "${model[@]}"
same "the same chooser" "$chooser" "$(sha256sum <used.wt-models/set/config.json)"

expect 0 "auto again, otherwise" train auto "${model[@]}" --seed 2
expect 0 "the chooser is of other hits" pick "${model[@]}" --abstain 0 book book weather 440
says "not calibrated"

# Trained models without an encoder: the trained encoder and the model are removed. Finding by words works.
expect 0 "an encoder of its own" train encoder "${model[@]}" --epochs 1
[ -d used.wt-models/encoder ] || skip "the encoder did not get better, so none is there to be lost"
bare=(--model gone)
: >none.jsonl
for left in encoder-less empty; do
    if [ $left = empty ]; then rm -rf used.wt-models && mkdir used.wt-models; else rm -rf used.wt-models/encoder; fi
    rm -rf used.wt-index
    expect 0 "$left: find" find "${bare[@]}" weather forecast
    says "^Note: the model gone is not installed; get it with .whichtool model pull gone."
    expect 0 "$left: a set" pick "${bare[@]}" weather forecast
    says "^Note: the model gone is not installed; get it with .whichtool model pull gone.$"
    expect 5 "$left: a set that shall be complete" pick "${bare[@]}" --complete 0.9 weather forecast
    says "model pull gone"
    expect 0 "$left: a share to abstain at" find "${bare[@]}" --abstain 0.05 weather forecast
    says "model pull gone"
    for recipe in dense hybrid tool2vec mlc neighbours tool2vec+refiner mlc+refiner dpr rerank-10 toolrerank; do
        expect 5 "$left: find by $recipe" find "${bare[@]}" --recipe "$recipe" weather forecast
        says "model pull gone"
    done
    expect 5 "$left: a bundle" pick "${bare[@]}" --recipe bundle weather forecast
    says "model pull gone"
    expect 3 "$left: answers of a language model" pick "${bare[@]}" --recipe ptr --chat-model m --replay none.jsonl weather
    says "has no answer of m"
    for verb in "list" "list --providers" "show tool_1" "usage list" "usage export"; do
        # shellcheck disable=SC2086
        expect 0 "$left: $verb" $verb
    done
done

# Measured on a data set.
six_tools 120 1 6 train=0,1 dev=2 test=3
expect 0 "figures of sets" eval data --recipe hybrid,set,set-90 --json --cache cache "${model[@]}"
json_lines
same "their names" "tracc exact set_precision set_recall set_f1 complete size_diff set_size recall@gold ndcg@gold ptr_ndcg no_answer_false_positives no_answer_removed_auroc no_answer_removed_recall" \
    "$(json_of '" ".join(k for k in l[1]["metrics"] if k not in l[0]["metrics"])')"
same "what they were trained with" "True True" "$(json_of '"%s %s" % ("trained" in l[1]["settings"], l[2]["settings"]["trained"]["likelihood"] > 0)')"
same "the recipes" "hybrid set set-90" "$(json_of '" ".join(r["recipe"] for r in l)')"
expect 0 "every recipe" eval data --json --cache cache "${model[@]}"
same "sets are among them" "set set-80 set-90 set-95" \
    "$(json_of '" ".join(r["recipe"] for r in l if r["recipe"].startswith("set"))')"
expect 0 "another set's requests" eval data --recipe set --out-of-domain data --json --cache cache "${model[@]}"
same "of this very set half are told" "0.5" "$(json_of 'd["metrics"]["no_answer_ood_auroc"]')"
expect 3 "no such set" eval data --recipe set --out-of-domain nowhere --cache cache "${model[@]}"
says "nowhere"
expect 0 "other splits" eval data --split-by set --recipe set --json --cache cache "${model[@]}"
same "their name" "data-by-set set" "$(json_of 'd["set"] + " " + d["settings"]["split_by"]')"
says "0 of [0-9]+ requests need the same set of tools as a training request"
expect 2 "no such division" eval data --split-by provider
says "set"
expect 0 "a table of them" eval data --recipe hybrid,set --cache cache "${model[@]}"
prints "^tracc +- +[0-9.]+$"
finish
