"""Checks the format of the requests of bench/real, without network, catalogues or the command.

    python3 bench/real/check.py [--data FOLDER]

FOLDER has sources.json, dev.jsonl and test.jsonl; default is the folder of this script. A request is one line:

    {"id": "dev-001", "split": "dev", "kind": "plain", "lang": "en", "services": ["github"],
     "needs": [["github/issues/create"]], "text": "..."}

needs lists, for each part of the request, the tools that can do it; one of them is enough. real.py, which has the
catalogues, checks that the tools exist. A dialogue of dialogues-dev.jsonl and dialogues-test.jsonl is

    {"id": "dev-d01", "split": "dev", "services": ["github"],
     "messages": [{"role": "user", "content": "..."},
                  {"role": "assistant", "content": "...", "calls": ["github/issues/get"]},
                  {"role": "user", "content": "...", "needs": [["github/issues/update"]]}]}

Every turn of the user except the first has needs. calls are the tools that the agent called for its answer.
"""
import argparse
import collections
import json
import os
import re
import sys

import fetch

HERE = fetch.HERE
SPLITS = ("dev", "test")
# Kinds of requests, with the language of non-English kinds.
KINDS = {"plain": None, "other-words": None, "agent-keywords": None, "several": None, "several-names": None,
         "direction": None, "negation": None, "code": None, "short": None, "long": None, "typos": None, "german": "de",
         "spanish": "es", "french": "fr", "chinese": "zh", "small-talk": None, "impossible": None}
NOTHING = ("small-talk", "impossible")
SEVERAL = ("several", "several-names")
FIELDS = ["id", "split", "kind", "lang", "services", "needs", "text"]
FEWEST_OF_KIND = 5
FEWEST_OF_SPLIT = 75
MOST_NEEDS = 4
FEWEST_DIALOGUES = 15
FEWEST_TURNS, MOST_TURNS = 3, 6
LONG_WORDS = 300
SHORT_WORDS = 2


def requests(data, split):
    with open(os.path.join(data, split + ".jsonl"), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def complaints_about(request, split, split_of_service):
    """Yields the errors of one request."""
    if list(request) != FIELDS:
        yield f"has the fields {list(request)}, not {FIELDS}"
        return
    kind, needs, words = request["kind"], request["needs"], request["text"].split()
    if request["split"] != split or not re.fullmatch(split + r"-\d{3}", request["id"]):
        yield f"is of split {request['split']} in {split}.jsonl"
    if kind not in KINDS:
        yield f"is of the kind {kind}, which is none"
        return
    if request["lang"] != (KINDS[kind] or request["lang"]):
        yield f"is {kind}, but its language is {request['lang']}"
    if (kind in NOTHING) != (not needs):
        yield f"is {kind}, but has {len(needs)} needs"
    if not (2 if kind in SEVERAL else 0) <= len(needs) <= MOST_NEEDS:
        yield f"is {kind}, but has {len(needs)} needs"
    for need in needs:
        if not need or len(set(need)) != len(need):
            yield f"has an empty need, or one that names a tool twice: {need}"
    services = list(dict.fromkeys(tool.split("/", 1)[0] for need in needs for tool in need))
    if services != request["services"]:
        yield f"says that its services are {request['services']}, but its tools are of {services}"
    for service in services:
        if split_of_service.get(service) != split:
            yield f"needs {service}, which is of split {split_of_service.get(service)}"
    if not words or (kind == "long" and len(words) < LONG_WORDS) or (kind == "short" and len(words) > SHORT_WORDS):
        yield f"is {kind}, but has {len(words)} words"


def complaints(data):
    """Yields the errors of the requests in the folder."""
    split_of_service = {source["service"]: source["split"] for source in fetch.sources(data)}
    seen = {}
    for split in SPLITS:
        every = requests(data, split)
        for request in every:
            for complaint in complaints_about(request, split, split_of_service):
                yield f"{request.get('id')}: {complaint}"
            for key in (request.get("id"), " ".join(request.get("text", "").lower().split())):
                if seen.setdefault(key, request) is not request:
                    yield f"{request.get('id')}: its id or its text stands twice: {key[:60]}"
        of_kind = collections.Counter(request.get("kind") for request in every)
        for kind in KINDS:
            if of_kind[kind] < FEWEST_OF_KIND:
                yield f"{split}: {of_kind[kind]} requests of the kind {kind}, at least {FEWEST_OF_KIND} wanted"
        if len(every) < FEWEST_OF_SPLIT:
            yield f"{split}: {len(every)} requests, at least {FEWEST_OF_SPLIT} wanted"


def dialogues(data, split):
    with open(os.path.join(data, f"dialogues-{split}.jsonl"), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def complaints_about_dialogue(dialogue, split, split_of_service):
    """Yields the errors of one dialogue."""
    messages = dialogue.get("messages", [])
    if list(dialogue) != ["id", "split", "services", "messages"]:
        yield f"has the fields {list(dialogue)}"
        return
    if dialogue["split"] != split or not re.fullmatch(split + r"-d\d{2}", dialogue["id"]):
        yield f"is of split {dialogue['split']} in dialogues-{split}.jsonl"
    if not FEWEST_TURNS <= len(messages) <= MOST_TURNS:
        yield f"has {len(messages)} turns, not {FEWEST_TURNS} to {MOST_TURNS}"
    for number, message in enumerate(messages):
        user = number % 2 == 0
        if message.get("role") != ("user" if user else "assistant") or not message.get("content", "").strip():
            yield f"turn {number + 1} is not the {'user' if user else 'assistant'}'s, or says nothing"
        if ("needs" in message) != (user and number > 0) or ("calls" in message and user):
            yield f"turn {number + 1} has needs or calls that it should not have, or lacks its needs"
        for need in message.get("needs", []):
            if not need or len(set(need)) != len(need):
                yield f"turn {number + 1} has an empty need, or one that names a tool twice: {need}"
    if messages and messages[-1].get("role") != "user":
        yield "does not end with a turn of the user"
    services = list(dict.fromkeys(tool.split("/", 1)[0] for message in messages
                                  for need in message.get("needs", []) for tool in need))
    if services != dialogue["services"]:
        yield f"says that its services are {dialogue['services']}, but its tools are of {services}"
    for service in services:
        if split_of_service.get(service) != split:
            yield f"needs {service}, which is of split {split_of_service.get(service)}"


def complaints_of_dialogues(data):
    """Yields the errors of the dialogues in the folder."""
    split_of_service = {source["service"]: source["split"] for source in fetch.sources(data)}
    for split in SPLITS:
        every = dialogues(data, split)
        for dialogue in every:
            for complaint in complaints_about_dialogue(dialogue, split, split_of_service):
                yield f"{dialogue.get('id')}: {complaint}"
        if len({dialogue.get("id") for dialogue in every}) < len(every):
            yield f"{split}: two dialogues have the same id"
        if len(every) < FEWEST_DIALOGUES:
            yield f"{split}: {len(every)} dialogues, at least {FEWEST_DIALOGUES} wanted"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=HERE)
    data = parser.parse_args().data
    talks = os.path.exists(os.path.join(data, f"dialogues-{SPLITS[0]}.jsonl"))
    wrong = list(complaints(data)) + list(complaints_of_dialogues(data) if talks else ())
    for complaint in wrong:
        print(complaint)
    if not wrong:
        print(" and ".join(f"{len(requests(data, split))} {split} requests" for split in SPLITS) + " are well formed")
        if talks:
            print(" and ".join(f"{len(dialogues(data, split))} {split} dialogues" for split in SPLITS) + " are well formed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
