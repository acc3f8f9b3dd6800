#!/usr/bin/env python3
"""What a real language model makes of ToolVerifier's requests by `whichtool call`: a row of docs/verified-calls.md.

    python3 bench/call_model.py WHICHTOOL DATA --chat-model NAME --chat-url URL --record FILE [--requests N] [--minutes M]
    python3 bench/call_model.py WHICHTOOL DATA --chat-model NAME --replay FILE --requests N

    --requests N   the first N of the set by the SHA-256 of their ids; 20 when not given
    --minutes M    no request is begun later; the figures are of those that were asked by then
    --list         each request with what was chosen and written

Printed are, of each request: whether its tool was among the candidates, was the first pick, and was chosen in the end;
whether the first arguments, and those that were decided on, are right, with the gold tool given; and how many answers
could not be used. And how often answers only repeat what the model was shown:

    words    contrastive questions and answers to them that share eight words in a row with their prompt's instructions,
             with the definitions, or with the request
    values   predicted texts and numbers that the request does not have: of those the ones that stand in a definition
             (enumerations and defaults left out), in the instructions, or nowhere that the model was shown
"""
import argparse
import json
import os
import re
import tempfile
import time

import calls

WORDS_IN_A_ROW = 8
PROMPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "prompts")


def plain(text):
    return " ".join(re.findall(r"\w+", str(text).lower()))


def instructions(task):
    with open(os.path.join(PROMPTS, task.split("/")[0] + ".txt"), encoding="utf-8") as file:
        return plain(file.read().partition("\nprompt\n")[2])


def shares_words(text, source):
    words = plain(text).split()
    runs = (" ".join(words[i:i + WORDS_IN_A_ROW]) for i in range(max(1, len(words) - WORDS_IN_A_ROW + 1)))
    return bool(words) and any(f" {run} " in f" {source} " for run in runs)


def holds(source, value):
    return f" {plain(value)} " in f" {source} "


def answer_of(exchange, member):
    try:
        answer = json.loads(exchange["answer"])
    except ValueError:
        return None
    return answer.get(member) if isinstance(answer, dict) else None


def chosen_by_schema(schema, name, value):
    of = schema.get("properties", {}).get(name, {})
    return value in of.get("enum", []) or value == of.get("default", None)


class Echo:
    """Counts of what was shown and came back."""

    def __init__(self):
        self.words = dict.fromkeys(("all", "instructions", "definitions", "request"), 0)
        self.values = dict.fromkeys(("all", "not in the request", "definitions", "instructions", "nowhere"), 0)

    def read_words(self, exchange, member, request):
        text = answer_of(exchange, member)
        if not isinstance(text, str):
            return
        own = instructions(exchange["task"])
        self.words["all"] += 1
        if shares_words(text, own):
            self.words["instructions"] += 1
        elif shares_words(text, plain(request)):
            self.words["request"] += 1
        elif shares_words(text, plain(exchange["question"])):
            self.words["definitions"] += 1

    def read_values(self, exchange, request, schema):
        arguments = answer_of(exchange, "arguments")
        for name, value in (arguments if isinstance(arguments, dict) else {}).items():
            if value is None or isinstance(value, (bool, list, dict)) or not plain(value):
                continue
            self.values["all"] += 1
            if holds(plain(request), value) or chosen_by_schema(schema, name, value):
                continue
            self.values["not in the request"] += 1
            own, shown = instructions(exchange["task"]), plain(exchange["question"])
            self.values["instructions" if holds(own, value) else "definitions" if holds(shown, value) else "nowhere"] += 1


def first_arguments(filled):
    return {a["name"]: a["predictions"][0] for a in filled["steps"].get("generation", {}).get("arguments", [])
            if a["predictions"][0] is not None}


def judge(run, row, echo):
    gold = run.ids[next(iter(run.gold[row["_id"]]))]
    called = run.call(row["text"])
    filled = run.call(row["text"], "--tool", gold["id"])
    selection, labels = called["steps"].get("selection", {}), calls.ACCEPTED["toolverifier"](row)[0]
    exchanges = filled["steps"].get("generation", {}).get("exchanges", [])
    for exchange in selection.get("exchanges", []):
        for member in ("question", "answer"):
            if exchange["task"].startswith(("call-contrast", "call-answer")):
                echo.read_words(exchange, member, row["text"])
    for exchange in exchanges:
        if exchange["task"].startswith("call-arguments"):
            echo.read_values(exchange, row["text"], gold["schema"])
    asked = selection.get("exchanges", []) + exchanges
    return {"id": row["_id"], "listed": any(c["tool"] == gold["id"] for c in called["steps"]["candidates"]),
            "once": selection.get("first") == gold["id"], "verified": selection.get("chosen") == gold["id"],
            "chosen": selection.get("chosen"), "end": selection.get("end"), "question": selection.get("question"),
            "answer": selection.get("answer"), "first": first_arguments(filled), "arguments": filled["arguments"],
            "first right": not calls.mistake(first_arguments(filled), labels) and bool(exchanges),
            "arguments right": not calls.mistake(filled["arguments"], labels), "asks": bool(filled["question"]),
            "invalid": called["tool"] and not called["question"] and not called["valid"],
            "asked": len(asked), "unusable": sum("unusable" in e for e in asked)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("whichtool")
    parser.add_argument("data")
    for name in ("chat-model", "chat-url", "record", "replay"):
        parser.add_argument("--" + name)
    parser.add_argument("--requests", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    given = [f"--{name} {value}" for name in ("chat_model", "chat_url", "record", "replay")
             if (value := getattr(options, name))]
    options.options = "--explain --generation sampled " + " ".join(given).replace("_", "-")
    options.half, options.demonstrations, options.begun = None, False, time.monotonic()
    echo, judged = Echo(), []
    with tempfile.TemporaryDirectory() as folder:
        run = calls.Run(options, folder, "toolverifier")
        for row in sorted(run.rows, key=lambda r: calls.digest(r["_id"]))[:options.requests]:
            if time.monotonic() - options.begun > 60 * options.minutes:
                break
            judged.append(judge(run, row, echo))
            if options.list:
                print(json.dumps(judged[-1]), flush=True)
    for key in ("listed", "once", "verified", "first right", "arguments right", "asks", "invalid"):
        print(f"{key}: {sum(bool(j[key]) for j in judged)} of {len(judged)}")
    print(f"unusable: {sum(j['unusable'] for j in judged)} of {sum(j['asked'] for j in judged)} answers")
    print(f"words: {echo.words}\nvalues: {echo.values}")


if __name__ == "__main__":
    main()
