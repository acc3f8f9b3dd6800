#!/usr/bin/env python3
"""Measures the gain of a tool by 1 % of false usages reported to a running server, and the cost of the defence.

    python3 bench/poison_online.py BENCH_USAGE_LOG WHICHTOOL DATA... [--split test] [--share 0.01] [--most 120]
                                   [--train 1000] [--models FOLDER] [--work FOLDER] [--alone]

Of each data set, up to MOST requests of the split are the future requests, with frequencies 1/n in a random order. The
store has recorded, from 100 clients with frequencies 1/n, up to TRAIN requests of the train split once, and ten usages for
each future request, by its frequency. Then a share SHARE of false usages of one unneeded tool arrives, from 1, 3 or 10
clients, with future requests:

    often     the most frequent ones, each once
    seldom    those with the fewest usages, each once
    together  the same, but all clients report the same requests

Five such tools each have a share of their own; figures are their means, weighted by the frequencies of requests: the
tool's share of the first five places, and the share of requests with the tool among them, in percent, before and after;
the maximum rise in places, of 50; and recall@5 of the right tools. The first row has no false usages, the one before it
no usages at all.

--models: trained models; their lessons take effect with the usages (bench_usage_log learns them).

--alone: measures instead how one client can undo the reports of 25 others. Each of them has reported 20 usages of its own
and, for up to 20 requests of the split, the request with one of its right tools. For each of those requests, the one
client then reports

    the same usage    1,000 times the request, with an unneeded tool
    praise            260 usages of the right tool, with unrelated requests
    new requests      260 unrelated requests with an unneeded tool; the request is then sent in slightly different words
                      ("please ...")

Prints the right tool's mean probability, the share of first places, and its mean place, of 50.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import shutil
import subprocess
import tempfile

from beir import lines
from poison import STRANGERS

HONEST, KNOWN, ALONE_REQUESTS = 25, 20, 20
CLIENTS, USAGES_A_REQUEST, PLACES, DEEP = 100, 10, 5, 50
ATTACKS = (("often", 1), ("seldom", 1), ("seldom", 3), ("seldom", 10), ("together", 10))


def judged(folder, split):
    out = collections.defaultdict(set)
    for number, line in enumerate(open(f"{folder}/qrels/{split}.tsv", encoding="utf-8")):
        request, tool, score = line.rstrip("\n").split("\t")[:3]
        if number and int(score) > 0:
            out[request].add(tool)
    return out


def usage(request, tools, client):
    return {"request": request, "tools": sorted(tools), "client": client}


class Bench:
    def __init__(self, options, folder, work):
        self.options, self.folder, self.work = options, folder, work
        self.random = random.Random(1)
        self.base = os.path.join(work, "base.wt")
        self.stores = 0
        self.read()

    def run(self, *arguments):
        subprocess.run([self.options.whichtool, "-q", "-s", self.base, *arguments], check=True, capture_output=True)

    def read(self):
        self.run("add", self.folder)
        strangers = os.path.join(self.work, "strangers.json")
        with open(strangers, "w", encoding="utf-8") as out:
            json.dump([{"name": name, "description": text, "inputSchema": {"type": "object"}}
                       for name, text in STRANGERS.items()], out)
        self.run("add", strangers, "--provider", "strangers")
        ids = {}
        for tool in lines(f"{self.folder}/corpus.jsonl"):
            provider = tool.get("metadata", {}).get("provider", "")
            ids[tool["_id"]] = f"{provider}/{tool['title']}" if provider else tool["title"]
        texts = {request["_id"]: request["text"] for request in lines(f"{self.folder}/queries.jsonl")}
        named = lambda split: [(texts[request], {ids[tool] for tool in gold})
                               for request, gold in sorted(judged(self.folder, split).items())]
        asked = named(self.options.split)
        self.asked = self.random.sample(asked, min(self.options.most, len(asked)))
        weights = [1 / (n + 1) for n in range(len(self.asked))]
        self.often = [weight / sum(weights) for weight in weights]
        self.honest_texts = named("train")
        self.honest = [usage(*one, self.client()) for one in self.honest_texts[:self.options.train]]
        traffic = self.random.choices(range(len(self.asked)), self.often, k=USAGES_A_REQUEST * len(self.asked))
        self.told = collections.Counter(traffic)
        self.honest += [usage(*self.asked[n], self.client()) for n in traffic]

    def client(self):
        return f"client-{self.random.choices(range(CLIENTS), [1 / (n + 1) for n in range(CLIENTS)])[0]}"

    def false(self, attack, clients):
        each = max(1, round(self.options.share * len(self.honest)))
        order = sorted(range(len(self.asked)), key=lambda n: (self.told[n], -self.often[n]))
        if attack == "often":
            order = list(range(len(self.asked)))
        usages = []
        for s, stranger in enumerate(sorted(STRANGERS)):
            mine = order[s::len(STRANGERS)]
            pairs = [(n, c) for n in mine for c in range(clients)] if attack == "together" else \
                    [(n, (i + turn) % clients) for turn in range(clients) for i, n in enumerate(mine)]
            usages += [usage(self.asked[n][0], [f"strangers/{stranger}"], f"false-{stranger}-{c}")
                       for n, c in pairs[:each]]
        return usages

    def obey(self, todo):
        """Returns the rows of bench_usage_log on a fresh store, without those of usages."""
        self.stores += 1
        store = os.path.join(self.work, f"{self.stores}.wt")
        shutil.copy(self.base, store)
        if self.options.models:
            shutil.copytree(self.options.models, store + "-models")
        done = subprocess.run([self.options.bench_usage_log, store, str(DEEP)], capture_output=True, text=True,
                              input="".join(json.dumps(one) + "\n" for one in todo), check=False)
        rows = [line.split("\t")[1:] for line in done.stdout.split("\n") if line.startswith(("found", "ranked"))]
        failed = [line for line in done.stdout.split("\n") if line.startswith("failed")]
        if done.returncode or failed or len(rows) != sum("find" in one for one in todo):
            raise SystemExit(f"{done.stderr}{failed[:3]}")
        return rows

    def ask(self, usages):
        """Returns the first DEEP tools of each request after the usages."""
        return self.obey([*usages, *([{"learn": True}] if self.options.models else []),
                          *({"find": request} for request, _ in self.asked)])

    def alone(self):
        """Yields for each attack the right tool's place and probability before and after it."""
        watched = [(request, sorted(gold)[0]) for request, gold in self.asked[:ALONE_REQUESTS]]
        others = [usage(request, gold, f"honest-{n % HONEST}")
                  for n, (request, gold) in enumerate(self.honest_texts[:HONEST * KNOWN])]
        taught = others + [usage(request, [tool], f"honest-{n}") for request, tool in watched for n in range(HONEST)]
        stranger = [f"strangers/{sorted(STRANGERS)[0]}"]
        attacks = {
            "the same usage": lambda request, tool: ([usage(request, stranger, "one")] * 1000, request),
            "praise": lambda request, tool: ([usage(f"errand {n}", [tool], "one") for n in range(260)], request),
            "new requests": lambda request, tool: ([usage(f"errand {n}", stranger, "one") for n in range(260)],
                                                   f"please {request}"),
        }
        for attack, make in attacks.items():
            before, after = [], []
            for request, tool in watched:
                false, asked = make(request, tool)
                rows = self.obey([*taught, {"find": asked, "of": tool}, *false, {"find": asked, "of": tool}])
                before.append(rows[0])
                after.append(rows[1])
            yield attack, self.placed(before), self.placed(after)

    @staticmethod
    def placed(rows):
        places = [int(place) or DEEP for place, _ in rows]
        return (f"{sum(float(chance) for _, chance in rows) / len(rows):.2f}, "
                f"{100 * places.count(1) / len(rows):.0f} %, {sum(places) / len(rows):.1f}")

    def mean(self, values):
        return 100 * sum(often * value for often, value in zip(self.often, values))

    def recall(self, found):
        return self.mean(len(gold & set(tools[:PLACES])) / len(gold) for tools, (_, gold) in zip(found, self.asked))

    def taken(self, found):
        strangers = [f"strangers/{name}" for name in STRANGERS]
        count = [sum(stranger in tools[:PLACES] for stranger in strangers) / len(strangers) for tools in found]
        return self.mean(count) / PLACES, self.mean(count)

    def risen(self, before, after):
        rank = lambda tools, name: tools.index(name) if name in tools else DEEP
        return max(rank(a, f"strangers/{name}") - rank(b, f"strangers/{name}")
                   for a, b in zip(before, after) for name in STRANGERS)

    def rows(self):
        nothing = self.ask([])
        yield "(no use)", f"{self.recall(nothing):.1f}", "", "", ""
        before = self.ask(self.honest)
        places, requests = self.taken(before)
        yield "none", f"{self.recall(before):.1f}", f"{places:.2f}", f"{requests:.2f}", ""
        for attack, clients in ATTACKS:
            after = self.ask(self.honest + self.false(attack, clients))
            places, requests = self.taken(after)
            yield (f"{attack}, {clients}", f"{self.recall(after):.1f}", f"{places:.2f}", f"{requests:.2f}",
                   str(self.risen(before, after)))


def main():
    options = argparse.ArgumentParser()
    options.add_argument("bench_usage_log")
    options.add_argument("whichtool")
    options.add_argument("data", nargs="+")
    options.add_argument("--split", default="test")
    options.add_argument("--share", type=float, default=.01)
    options.add_argument("--most", type=int, default=120)
    options.add_argument("--train", type=int, default=1000)
    options.add_argument("--models")
    options.add_argument("--work")
    options.add_argument("--alone", action="store_true")
    given = options.parse_args()
    head = "one client | before | after" if given.alone else "false usages, clients | R@5 | places | requests | risen"
    for folder in given.data:
        print(f"\n{pathlib.Path(folder).name}, {given.split}\n\n| {head} |\n|{'---|' * (head.count('|') + 1)}", flush=True)
        with tempfile.TemporaryDirectory(dir=given.work) as work:
            bench = Bench(given, folder, work)
            for row in bench.alone() if given.alone else bench.rows():
                print("| " + " | ".join(row) + " |", flush=True)


main()
