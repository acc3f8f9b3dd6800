#!/usr/bin/env python3
"""Measures `whichtool call` with a real language model on ToolVerifier's requests: a row of docs/verified-calls.md.

    python3 bench/call_model.py WHICHTOOL DATA --chat-model NAME --chat-url URL --record FILE [--requests N] [--minutes M]
    python3 bench/call_model.py WHICHTOOL DATA --chat-model NAME --replay FILE --requests N

    --requests N   the first N requests of the set by the SHA-256 of their ids; default 20
    --selections N, --arguments N   judge the selection, or the arguments, of the first N of these only; default all
    --minutes M    start no request later; the figures cover the requests until then
    --demonstrations   record ToolVerifier's demonstrations first, as calls.py does
    --list         list each request with the chosen tool and the call
    --jobs N       ask about N requests at once, for a server with as many slots; default 1

Prints for each request: whether its tool was among the candidates, was the first pick, and was the final choice; whether
the first pick was the first of the list; with the gold tool given, whether arguments were written, and whether the first
and the final ones are right; and the number of unusable answers. Also prints how often answers repeat the prompt:

    words    contrastive questions and their answers: how many, how many distinct; how many share eight consecutive words
             with the prompt; of the others, how many have no word of four letters or more outside the instructions
    values   predicted texts and numbers: how many; how many are neither in the request nor in the schema (enumerations,
             defaults); of these, how many are in the instructions, elsewhere in the prompt, or in neither
"""
import argparse
import concurrent.futures
import json
import os
import re
import tempfile
import time

import calls

WORDS_IN_A_ROW, LETTERS = 8, 4
VERDICTS = {"selection": ("listed", "first of the list", "once", "verified"),
            "arguments": ("written", "first right", "arguments right", "asks", "invalid")}
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


def has_other_words(text, source):
    """Normalises a word: "wants" becomes "want"."""
    known = {word[:LETTERS] for word in source.split()}
    return any(len(word) >= LETTERS and word[:LETTERS] not in known for word in plain(text).split())


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
    """Counts repetitions of the prompt."""

    def __init__(self):
        self.words = {"question": [], "answer": []}
        self.repeated = {name: {"shown": 0, "instructions": 0} for name in self.words}
        self.values = dict.fromkeys(("all", "neither in the request nor the schema's", "instructions", "shown", "nowhere"), 0)

    def read_words(self, exchange, member):
        text = answer_of(exchange, member)
        if not isinstance(text, str):
            return
        self.words[member].append(plain(text))
        if shares_words(text, plain(exchange["question"])):
            self.repeated[member]["shown"] += 1
        elif not has_other_words(text, instructions(exchange["task"])):
            self.repeated[member]["instructions"] += 1

    def read_values(self, exchange, request, schema):
        arguments = answer_of(exchange, "arguments")
        for name, value in (arguments if isinstance(arguments, dict) else {}).items():
            if value is None or isinstance(value, (bool, list, dict)) or not plain(value):
                continue
            self.values["all"] += 1
            if holds(plain(request), value) or chosen_by_schema(schema, name, value):
                continue
            self.values["neither in the request nor the schema's"] += 1
            own, shown = instructions(exchange["task"]), plain(exchange["question"])
            self.values["instructions" if holds(own, value) else "shown" if holds(shown, value) else "nowhere"] += 1


def first_arguments(filled):
    return {a["name"]: a["predictions"][0] for a in filled["steps"].get("generation", {}).get("arguments", [])
            if a["predictions"][0] is not None}


def count_answers(exchanges):
    return {"asked": len(exchanges), "unusable": sum("unusable" in e for e in exchanges)}


def judge_selection(run, row, gold, echo):
    called = run.call(row["text"], "--generation", "alone")
    selection, candidates = called["steps"].get("selection", {}), called["steps"]["candidates"]
    exchanges = selection.get("exchanges", [])
    for exchange in exchanges:
        for task, member in (("call-contrast", "question"), ("call-answer", "answer")):
            if exchange["task"].startswith(task):
                echo.read_words(exchange, member)
    return {"listed": any(c["tool"] == gold["id"] for c in candidates),
            "first of the list": selection.get("first") == candidates[0]["tool"],
            "once": selection.get("first") == gold["id"], "verified": selection.get("chosen") == gold["id"],
            "chosen": selection.get("chosen"), "end": selection.get("end"), "question": selection.get("question"),
            "answer": selection.get("answer"), **count_answers(exchanges)}


def judge_arguments(run, row, gold, echo):
    filled = run.call(row["text"], "--tool", gold["id"], "--generation", "sampled")
    generation, labels = filled["steps"].get("generation", {}), calls.ACCEPTED["toolverifier"](row)[0]
    exchanges, written = generation.get("exchanges", []), generation.get("end", "unsaid") != "unsaid"
    for exchange in exchanges:
        if exchange["task"].startswith("call-arguments"):
            echo.read_values(exchange, row["text"], gold["schema"])
    return {"first": first_arguments(filled), "arguments": filled["arguments"], "written": written,
            "first right": written and not calls.mistake(first_arguments(filled), labels),
            "arguments right": written and not calls.mistake(filled["arguments"], labels), "asks": bool(filled["question"]),
            "invalid": not filled["question"] and not filled["valid"], **count_answers(exchanges)}


def judge(run, row, echo, i):
    """Returns the verdicts on request i, each with the part of the call that it is about."""
    gold = run.ids[next(iter(run.gold[row["_id"]]))]
    out = {"id": row["_id"]}
    if i < run.options.selections:
        out["selection"] = judge_selection(run, row, gold, echo)
    if i < run.options.arguments:
        out["arguments"] = judge_arguments(run, row, gold, echo)
    return out


def judge_in_time(run, row, echo, i):
    if time.monotonic() - run.options.begun > 60 * run.options.minutes:
        return None
    judged = judge(run, row, echo, i)
    if run.options.list:
        print(json.dumps(judged), flush=True)
    return judged


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("whichtool")
    parser.add_argument("data")
    for name in ("chat-model", "chat-url", "record", "replay"):
        parser.add_argument("--" + name)
    parser.add_argument("--requests", type=int, default=20)
    for name in ("selections", "arguments"):
        parser.add_argument("--" + name, type=int, default=10**9)
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--demonstrations", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    given = [f"--{name} {value}" for name in ("chat-model", "chat-url", "record", "replay")
             if (value := getattr(options, name.replace("-", "_")))]
    options.options = "--explain " + " ".join(given)
    options.begun = time.monotonic()
    echo = Echo()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        run = calls.Run(options, folder, "toolverifier")
        rows = sorted(run.rows, key=lambda r: calls.digest(r["_id"]))[:options.requests]
        judged = [j for j in pool.map(lambda i, row: judge_in_time(run, row, echo, i), range(len(rows)), rows) if j]
    for part, keys in VERDICTS.items():
        of = [j[part] for j in judged if part in j]
        for key in keys:
            print(f"{key}: {sum(bool(j[key]) for j in of)} of {len(of)}")
        print(f"{part}, unusable: {sum(j['unusable'] for j in of)} of {sum(j['asked'] for j in of)} answers")
    for member, texts in echo.words.items():
        print(f"{member}s: {len(texts)}, {len(set(texts))} different, {echo.repeated[member]}")
    print(f"values: {echo.values}")


if __name__ == "__main__":
    main()
