#!/usr/bin/env python3
"""Measures recorded use without training: R@5 and nDCG@5 of `find` in a store with usages.

    bench/recorded_table.py WHICHTOOL DATA... [--split dev] [--most 150] [--work FOLDER]

Up to MOST requests of the split of each data set are searched, in percent:

    nothing   in a store without use
    others    after the train split was recorded: the effect on new requests
    near      only requests with a nearly equal recorded one: before and after, and their number
    again     after the requests themselves were recorded once, and are searched in capitals
    poisoned  after each was recorded once with a wrong tool instead: the effect on the right tools, and how often the
              wrong one is among the first five
"""
import argparse, collections, json, math, pathlib, random, shutil, subprocess, tempfile


def lines(path):
    return [json.loads(line) for line in open(path) if line.strip()]


def judged(folder, split):
    out = collections.defaultdict(set)
    for number, line in enumerate(open(f"{folder}/qrels/{split}.tsv")):
        if number and int(line.split("\t")[2]) > 0:
            out[line.split("\t")[0]].add(line.split("\t")[1])
    return out


class Store:
    def __init__(self, whichtool, path):
        self.command = [whichtool, "-q", "-s", str(path)]

    def run(self, *arguments):
        return subprocess.run([*self.command, *map(str, arguments)], check=True, capture_output=True, text=True).stdout

    def record(self, usages):
        path = self.command[-1] + ".jsonl"
        with open(path, "w") as out:
            for request, tools in usages:
                print(json.dumps({"request": request, "tools": sorted(tools)}), file=out)
        self.run("usage", "add", path)

    def find(self, request):
        hits = [json.loads(line) for line in self.run("find", "--json", "--explain", "-k", 5, "--", request).splitlines()]
        hits = [hit for one in hits for hit in one.get("hits", [one]) if "rank" in hit]
        used = any(stage["stage"] == "usage" for hit in hits for stage in hit.get("stages", []))
        return [hit["id"] for hit in hits], used


def score(found, gold):
    gain = sum(1 / math.log2(rank + 2) for rank, tool in enumerate(found) if tool in gold)
    best = sum(1 / math.log2(rank + 2) for rank in range(min(len(gold), 5)))
    return len(gold & set(found)) / len(gold), gain / best


def mean(scores):
    return " / ".join(f"{100 * sum(column) / len(column):.1f}" for column in zip(*scores)) if scores else "–"


def copy(whichtool, store, name):
    target = pathlib.Path(store.command[-1]).with_name(name)
    shutil.copy(store.command[-1], target)
    return Store(whichtool, target)


def row(whichtool, folder, split, most, work):
    name = pathlib.Path(folder).name
    plain = Store(whichtool, f"{work}/{name}.wt")
    plain.run("add", folder)
    ids = {}
    for tool in lines(f"{folder}/corpus.jsonl"):
        provider = tool.get("metadata", {}).get("provider", "")
        ids[tool["_id"]] = f"{provider}/{tool['title']}" if provider else tool["title"]
    texts = {request["_id"]: request["text"] for request in lines(f"{folder}/queries.jsonl")}
    asked = sorted(judged(folder, split).items())
    asked = random.Random(1).sample(asked, min(most, len(asked)))
    asked = [(texts[request], {ids[tool] for tool in gold}) for request, gold in asked]
    learned = [(texts[request], {ids[tool] for tool in gold}) for request, gold in judged(folder, "train").items()]
    nothing = [score(plain.find(text)[0], gold) for text, gold in asked]
    used = copy(whichtool, plain, f"{name}-used.wt")
    used.record(learned)
    found = [used.find(text) for text, _ in asked]
    others = [score(tools, gold) for (tools, _), (_, gold) in zip(found, asked)]
    near = [i for i, (_, use) in enumerate(found) if use]
    used.record(asked)
    again = [score(used.find(text.upper())[0], gold) for text, gold in asked]
    bad = copy(whichtool, plain, f"{name}-bad.wt")
    wrong = [random.Random(text).choice(sorted(set(ids.values()) - gold)) for text, gold in asked]
    bad.record([(text, [tool]) for (text, _), tool in zip(asked, wrong)])
    false = [bad.find(text)[0] for text, _ in asked]
    poisoned = [score(tools, gold) for tools, (_, gold) in zip(false, asked)]
    reached = sum(tool in tools for tools, tool in zip(false, wrong)) / len(asked)
    print(f"| {name} | {len(asked)} | {mean(nothing)} | {mean(others)} | {mean([nothing[i] for i in near])}, "
          f"{mean([others[i] for i in near])} ({len(near)}) | {mean(again)} | {mean(poisoned)}, {100 * reached:.1f} |",
          flush=True)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("whichtool")
    options.add_argument("data", nargs="+")
    options.add_argument("--split", default="dev")
    options.add_argument("--most", type=int, default=150)
    options.add_argument("--work")
    given = options.parse_args()
    print("| set | requests | nothing | others | near: before, now | again | poisoned, reached |\n|---|---|---|---|---|---|---|")
    for folder in given.data:
        with tempfile.TemporaryDirectory(dir=given.work) as work:
            row(given.whichtool, folder, given.split, given.most, work)


main()
