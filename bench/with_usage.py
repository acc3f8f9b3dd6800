#!/usr/bin/env python3
"""Combines a catalogue with the usages that other sets recorded for its tools.

    python3 bench/with_usage.py OUT CATALOGUE SET:MOST...

Writes a BEIR folder OUT: tools and test requests of CATALOGUE, and train and dev requests of every SET whose tools are all
in CATALOGUE by name and provider, at most MOST of a SET for train. One provider in twelve is held out of train, so that
dev has unseen tools: half of dev (a tenth of MOST) are train requests with a held-out tool. The halves are also splits of
their own, dev-usual and dev-kept (`whichtool eval OUT --split dev-kept`). Requests of CATALOGUE's test and of earlier
SETs are dropped. Prints the numbers of requests on stderr.
"""
import json
import os
import random
import shutil
import sys
import zlib

from beir import judgements, lines

KEPT_BACK = 12  # one held-out provider in so many
DEV = 10        # one dev request for so many train requests


def folded(text):
    return " ".join(text.lower().split())


def key(tool):
    return folded(tool["title"]), folded(tool.get("metadata", {}).get("provider", ""))


def is_kept_back(provider):
    return zlib.crc32(provider.encode()) % KEPT_BACK == 0


class Merged:
    def __init__(self, catalogue):
        self.ids = {}
        for tool in lines(os.path.join(catalogue, "corpus.jsonl")):
            self.ids.setdefault(key(tool), tool["_id"])
        test = judgements(catalogue)
        self.requests = [one for one in lines(os.path.join(catalogue, "queries.jsonl")) if one["_id"] in test]
        self.known = {folded(request["text"]) for request in self.requests}
        self.judged = {"train": [], "dev-usual": [], "dev-kept": [], "test": sorted(test.items())}

    def add(self, folder, most):
        tools = {tool["_id"]: (self.ids.get(key(tool)), key(tool)[1])
                 for tool in lines(os.path.join(folder, "corpus.jsonl"))}
        texts = {request["_id"]: request["text"] for request in lines(os.path.join(folder, "queries.jsonl"))}
        train, kept_back = [], []
        for request, right in judgements(folder, "train").items():
            (kept_back if any(is_kept_back(tools[tool][1]) for tool in right) else train).append((request, right))
        dev = list(judgements(folder, "dev").items())
        for split, requests, count in (("dev-usual", dev, most // DEV // 2), ("dev-kept", kept_back, most // DEV // 2),
                                       ("train", train, most)):  # dev first, so that a request of both is not trained
            wanted = random.Random(1).sample(sorted(requests), min(count, len(requests)))
            kept = sum(self.keep(split, folder, request, texts[request], {tools[tool][0] for tool in right})
                       for request, right in wanted)
            print(f"{folder}: {kept} of {len(requests)} for {split}", file=sys.stderr)

    def keep(self, split, folder, request, text, right):
        if None in right or folded(text) in self.known:
            return False
        self.known.add(folded(text))
        identity = f"{os.path.basename(os.path.normpath(folder))}/{request}"
        self.requests.append({"_id": identity, "text": text})
        self.judged[split].append((identity, right))
        return True

    def write(self, catalogue, out):
        os.makedirs(os.path.join(out, "qrels"))
        shutil.copyfile(os.path.join(catalogue, "corpus.jsonl"), os.path.join(out, "corpus.jsonl"))
        with open(os.path.join(out, "queries.jsonl"), "w", encoding="utf-8") as file:
            file.writelines(json.dumps(request) + "\n" for request in self.requests)
        dev = self.judged["dev-usual"] + self.judged["dev-kept"]
        for split, judged in {**self.judged, "dev": dev}.items():
            with open(os.path.join(out, "qrels", f"{split}.tsv"), "w", encoding="utf-8") as file:
                file.write("query-id\tcorpus-id\tscore\n")
                file.writelines(f"{request}\t{tool}\t1\n" for request, right in judged for tool in sorted(right))


def main():
    if len(sys.argv) < 4 or not all(argument.rpartition(":")[2].isdigit() for argument in sys.argv[3:]):
        sys.exit(__doc__)
    out, catalogue = sys.argv[1:3]
    merged = Merged(catalogue)
    for argument in sys.argv[3:]:
        folder, _, most = argument.rpartition(":")
        merged.add(folder, int(most))
    merged.write(catalogue, out)


if __name__ == "__main__":
    main()
