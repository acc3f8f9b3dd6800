#!/usr/bin/env python3
"""Measures finding for the next turn of a conversation: the tables of docs/real-catalogues.md.

    python3 bench/real/dialogues.py WHICHTOOL [--split dev|test] [OPTION...]

    --failures     list failed dev turns with --messages, with the found tools
    --json         print all figures as one JSON object
    --model NAME   the encoder, "" for none; default: the command's
    --recipe NAME  recipe of find; default: the command's
    --store FILE, --cache FOLDER, --data FOLDER   as in real.py

Every turn of a user except the first of its dialogue is searched in three ways: by itself; with the user's previous turns,
at most three in total, as one text; and with the whole conversation so far, by --messages. As "another subject", unrelated
requests of dev.jsonl or test.jsonl follow a dialogue about other services; there a conversation can only do harm.
"""
import argparse
import concurrent.futures
import json
import os
import sys

import check
import fetch
import real

WAYS = ("last turn alone", "last three turns joined", "conversation")
COLUMNS = ("first", "top 5", "any in 5", "holds")
JOINED = 3
FOLLOW_UP, OTHER = "follow-up", "another subject"
KINDS = ("plain", "agent-keywords", "direction", "negation", "code")  # number of unrelated requests
SAID_BEFORE = 4  # turns of the dialogue before them


def openai(messages, exported):
    """Returns the messages for a chat API: calls with answers, without needs."""
    out = []
    for number, message in enumerate(messages):
        calls = [{"id": f"call_{number}_{i}", "type": "function", "function": {"name": exported[tool], "arguments": "{}"}}
                 for i, tool in enumerate(message.get("calls", []))]
        if calls:
            out.append({"role": "assistant", "content": None, "tool_calls": calls})
            out += [{"role": "tool", "tool_call_id": call["id"], "content": "{\"ok\": true}"} for call in calls]
        out.append({"role": message["role"], "content": message["content"]})
    return json.dumps(out, ensure_ascii=False)


def turns(dialogues):
    """Yields each measured turn: the dialogue's id, the messages up to it, its needs."""
    for dialogue in dialogues:
        for end, message in enumerate(dialogue["messages"], 1):
            if "needs" in message:
                yield {"id": f"{dialogue['id']}.{end}", "group": FOLLOW_UP, "messages": dialogue["messages"][:end],
                       "needs": message["needs"]}


def other_subjects(dialogues, requests):
    """Yields each request after the next dialogue about other services."""
    for number, request in enumerate(request for request in requests if request["kind"] in KINDS):
        at = number % len(dialogues)
        about = next((dialogue for dialogue in dialogues[at:] + dialogues[:at]
                      if not set(dialogue["services"]) & set(request["services"])), None)
        if about:
            yield {"id": request["id"], "group": OTHER, "needs": request["needs"],
                   "messages": about["messages"][:SAID_BEFORE] + [{"role": "user", "content": request["text"]}]}


def tools_of(turn):
    """True if all its needs and all earlier calls are found."""
    return {tool for need in turn["needs"] for tool in need} | {
        tool for message in turn["messages"] for tool in message.get("calls", [])}


def measure(options, exported, turn):
    said = [message["content"] for message in turn["messages"] if message["role"] == "user"]
    asked = ((["find", "-"], said[-1]), (["find", "-"], "\n".join(said[-JOINED:])),
             (["find", "--messages", "-"], openai(turn["messages"], exported)))
    recipe = ["-r", options.recipe] if options.recipe else []
    found = [real.ids(real.command(options, *words, "-k", str(real.FIRST), "--json", *recipe, text=text))
             for words, text in asked]
    picked = [real.ids(real.command(options, "pick", *words[1:], "--json", text=text)) for words, text in asked]
    needed = {tool for need in turn["needs"] for tool in need}
    figures = []
    for first, some in zip(found, picked):
        first = first[:real.FIRST]  # kept tools are added to the k hits
        figures.append([bool(set(first[:1]) & needed), real.covers(first, turn["needs"]), bool(set(first) & needed),
                        real.covers(some, turn["needs"])])
    return {**turn, "found": found, "figures": figures}


def table(measured):
    rows = {}
    for group in (FOLLOW_UP, OTHER):
        some = [turn["figures"] for turn in measured if turn["group"] == group]
        for w, way in enumerate(WAYS if some else ()):
            rows[f"{group}: {way}"] = {"turns": len(some), **{name: sum(figures[w][c] for figures in some) / len(some)
                                                             for c, name in enumerate(COLUMNS)}}
    return rows


def print_table(split, rows, left_out):
    print(f"\n{split}" + (f", {left_out} turns left out" if left_out else "") + "\n| | turns | " + " | ".join(COLUMNS) + " |\n" + "|---" * (len(COLUMNS) + 2) + "|")
    for way, row in rows.items():
        print(f"| {way} | {row['turns']} | " + " | ".join(f"{100 * row[name]:.1f}" for name in COLUMNS) + " |")


def print_failures(measured):
    for turn in measured:
        if turn["group"] == FOLLOW_UP and not (turn["figures"][2][0] and turn["figures"][2][1]):
            print(f"\n{turn['id']}: {turn['messages'][-1]['content']}")
            for need in turn["needs"]:
                print("   needs   " + " | ".join(need))
            for way, found in zip(WAYS, turn["found"]):
                print(f"   {way.split()[0]:7} " + ", ".join(found))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("whichtool")
    parser.add_argument("--split", choices=check.SPLITS)
    for flag in ("--failures", "--json"):
        parser.add_argument(flag, action="store_true")
    for option in ("--recipe", "--model", "--store"):
        parser.add_argument(option)
    parser.add_argument("--cache", default=fetch.default_cache(), type=os.path.abspath)
    parser.add_argument("--data", default=check.HERE)
    options = parser.parse_args()
    options.weighted, options.as_typed = None, False
    if options.failures and options.split != "dev":
        parser.error("--failures needs --split dev: of test only the figures are looked at")
    wrong = list(check.complaints_of_dialogues(options.data))
    if wrong:
        sys.exit("\n".join(wrong))
    if not options.store:
        sources = fetch.fetch_all(options.cache, options.data)
        real.import_catalogues(options, sources)
    listed = [json.loads(line) for line in real.command(options, "list", "--json").splitlines()]
    exported = {tool["id"]: tool["export_name"] for tool in listed}
    there = {tool.split("/", 1)[0] for tool in exported}
    figures = {}
    for split in [options.split] if options.split else check.SPLITS:
        dialogues = check.dialogues(options.data, split)
        asked = list(turns(dialogues)) + list(other_subjects(dialogues, check.requests(options.data, split)))
        every = len(asked)
        asked = [turn for turn in asked if {tool.split("/", 1)[0] for tool in tools_of(turn)} <= there]
        unknown = {tool for turn in asked for tool in tools_of(turn)} - set(exported)
        if unknown:
            sys.exit(f"{split}: the store lacks tools that dialogues need or call: {', '.join(sorted(unknown))}")
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            measured = list(pool.map(lambda turn: measure(options, exported, turn), asked))
        figures[split] = {"left out": every - len(asked), "rows": table(measured), "turns": {turn["id"]: turn["figures"] for turn in measured}}
        if not options.json:
            print_table(split, figures[split]["rows"], every - len(asked))
        if options.failures:
            print_failures(measured)
    if options.json:
        print(json.dumps(figures, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
