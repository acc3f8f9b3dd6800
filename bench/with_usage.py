#!/usr/bin/env python3
"""One data set of a catalogue and of what other sets recorded for tools of it.

    python3 bench/with_usage.py OUT CATALOGUE SET:MOST...

OUT becomes a BEIR folder: tools and test requests of CATALOGUE, train and dev requests of every SET whose tools all are
in CATALOGUE by name and provider, at most MOST of a SET for train. One provider in twelve is kept from train, so that
dev knows tools that training never saw: half of dev, which is a tenth of MOST, are train requests that name one of
those. The halves stand by themselves as well, as dev-usual and dev-kept (`whichtool eval OUT --split dev-kept`). What
CATALOGUE's test asks, and what an earlier SET has, is left out. Says on stderr how many were left.
"""
import json
import os
import random
import shutil
import sys
import zlib

from beir import judgements, lines

KEPT_BACK = 12  # one provider in so many
DEV = 10        # one dev request for so many of train


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
                                       ("train", train, most)):  # dev first: a request of both stays unlearned
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
