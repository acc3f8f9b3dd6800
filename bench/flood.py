#!/usr/bin/env python3
"""Measures the places that a flooding provider captures, with and without defences.

    python3 bench/flood.py DATA [--split test] [--known DATA:SPLIT] [--draws 3] [--share 0.01] [--recipes hybrid]
                                [--attacks copies,one-50,...] [--new] [--setting NAME=OPTIONS]...
                                [--whichtool NAME=PROGRAM]...

DATA is a BEIR folder. One provider adds a share of tools, and `whichtool eval` ranks the requests of the split for each
flood, setting and program. A setting is a list of options of `eval` ("before=--all-copies"). With --new, each run is
repeated as if the flooder's tools had just been approved, so that together they take one place of a list.

The flooder knows past requests with their tools: those of --known, by default of the train split. Without them, it
knows the measured requests (the table says so). Each draw knows a different random half. The flooder never knows which
requests come.

    copies      one copy of each of the most needed tools, with their names
    deep, wide  five copies of a few tools, or one of many; with small changes of names and texts
    requests    name and description are a known request
    coverage    known requests in one cluster for each tool (k-means over bags of words); the text of a tool consists of
                the requests nearest to a centre, its name of the centre's words
    stuffed-N   every tool is stuffed in all fields (name, provider, category, description, parameters) with N random
                words that known requests share and the catalogue lacks
    twins-N     as stuffed-N, with the same words in every tool
    one-N       a single tool, stuffed with the N best words
    common-N    a single tool, stuffed with the N commonest words of the catalogue
    said-N      a single tool, stuffed with the N commonest words of known requests
    five-N      five tools as in stuffed-N

A colon restricts the stuffed fields: one-40:name+provider.

Prints Markdown, in percent, mean and range over draws: the flooder's share of all top-5 places; the share of requests
with at least one of them; and recall@5 of the right tools.
"""
import argparse
import collections
import contextlib
import hashlib
import itertools
import json
import math
import os
import random
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tempfile

from beir import judgements, lines

PLACES = 5
DEEP = 5
FLOODER = "Prime Tools"
NAME_BYTES = 240  # of at most 256
FIELDS = ("name", "provider", "category", "description", "parameters")
CLUSTER_ROUNDS = 10
CLUSTER_REQUESTS = 5
METHODS = {"requests": "asked", "common": "common_words", "said": "said_words"}  # aliases of attacks
ATTACKS = "copies,deep,wide,requests,coverage,stuffed-50,twins-50,one-10,one-25,one-50,one-100,one-200"
# Stop words of whichtool, which a flooder can look up.
STOP = set("""a about all also am an and any are as at be been by can could do does each for from get give had has have he
her here him his how i if in into is it its just let like make me more my need no not of on or our out please she so some
such than that the their them then there these they this to too up us use using want was we were what when where which
who will with would you your provide""".split())


def words(text):
    return [word for word in re.findall(r"[a-z]+", text.lower()) if len(word) > 1 and word not in STOP]


def unit(bag):
    length = math.sqrt(sum(weight * weight for weight in bag.values())) or 1
    return {word: weight / length for word, weight in bag.items()}


def inner(one, other):
    if len(one) > len(other):
        one, other = other, one
    return sum(weight * other[word] for word, weight in one.items() if word in other)


def read(folder, split):
    """Returns the requests of the split that need a tool of the catalogue: texts and needed tools."""
    tools = {row["_id"]: row for row in lines(os.path.join(folder, "corpus.jsonl"))}
    texts = {row["_id"]: row["text"] for row in lines(os.path.join(folder, "queries.jsonl"))}
    right = {request: needed & tools.keys() for request, needed in judgements(folder, split).items()}
    right = {request: needed for request, needed in right.items() if needed and request in texts}
    return tools, {request: texts[request] for request in right}, right


class Flooder:
    """The knowledge of one draw of the flooder, and the tools made from it."""

    def __init__(self, tools, known, budget, seed):
        self.tools, self.budget = tools, budget
        self.random = random.Random(seed)
        self.requests = self.random.sample(known, (len(known) + 1) // 2)  # (text, needed tools)
        self.bags = [collections.Counter(words(text)) for text, _ in self.requests]
        seen = collections.Counter(word for tool in tools.values() for word in
                                   set(words(f"{tool['title']} {tool.get('text', '')}")))
        self.rarity = lambda word: math.log(1 + (len(tools) - seen[word] + 0.5) / (seen[word] + 0.5))
        shared = collections.Counter(word for bag in self.bags for word in bag)
        self.best = sorted(shared, key=lambda word: (-shared[word] * self.rarity(word), word))
        self.common = sorted(seen, key=lambda word: (-seen[word], word))
        self.said_most = sorted(shared, key=lambda word: (-shared[word], word))
        self.worth = {word: shared[word] * self.rarity(word) for word in self.best}
        needs = collections.Counter(tool for _, needed in self.requests for tool in needed & tools.keys())
        self.popular = sorted(needs, key=lambda tool: (-needs[tool], tool)) or sorted(tools)

    def tool(self, number, title, text, provider=FLOODER, **metadata):
        return {"_id": f"flood-{number}", "title": title[:NAME_BYTES], "text": text,
                "metadata": {"provider": provider, **metadata}}

    def copy(self, number, of, title, after=""):
        """Keeps the provider's own name in the text, because requests mention it."""
        meta = of.get("metadata", {})
        kept = {key: meta[key] for key in ("category", "parameters") if key in meta}
        text = f"{meta.get('provider', '').strip()}: {of.get('text', '')}{after}"
        return self.tool(number, title, text, **kept)

    def copies(self, _):
        return [self.copy(n, self.tools[tool], self.tools[tool]["title"])
                for n, tool in enumerate(self.popular[:self.budget])]

    def changed_copies(self, originals):
        of = [self.tools[self.popular[n % min(originals, len(self.popular))]] for n in range(self.budget)]
        return [self.copy(n, tool, f"{tool['title']} {n}", " Fast and reliable.") for n, tool in enumerate(of)]

    def deep(self, _):
        return self.changed_copies(max(1, self.budget // DEEP))

    def wide(self, _):
        return self.changed_copies(self.budget)

    def asked(self, _):
        return [self.tool(n, text, text) for n, (text, _) in
                enumerate(self.random.sample(self.requests, min(self.budget, len(self.requests))))]

    def clusters(self, count):
        points = [unit({word: number * self.rarity(word) for word, number in bag.items()}) for bag in self.bags]
        centres = self.random.sample(points, min(count, len(points)))
        for _ in range(CLUSTER_ROUNDS):
            members = [[] for _ in centres]
            for place, point in enumerate(points):
                scores = [inner(point, centre) for centre in centres]
                members[scores.index(max(scores))].append(place)
            for number, places in enumerate(members):
                sums = collections.Counter()
                for place in places:
                    sums.update(points[place])
                centres[number] = unit(sums) if places else centres[number]
        return [(centre, sorted(places, key=lambda place: -inner(points[place], centre)))
                for centre, places in zip(centres, members) if places]

    def coverage(self, _):
        made = []
        for number, (centre, places) in enumerate(self.clusters(self.budget)):
            name = " ".join(sorted(centre, key=lambda word: (-centre[word], word))[:12])
            text = " ".join(self.requests[place][0] for place in places[:CLUSTER_REQUESTS])
            made.append(self.tool(number, name, text))
        return made

    def stuff(self, number, chosen):
        fits = " ".join(chosen)[:NAME_BYTES].rsplit(" ", 1)[0]
        has = lambda field: field in self.fields
        parameters = [{"name": word, "type": "string", "description": word} for word in chosen]
        return self.tool(number, fits if has("name") else "assistant", " ".join(chosen) if has("description") else "",
                         fits if has("provider") else FLOODER, category=fits if has("category") else "",
                         parameters={"required": parameters if has("parameters") else [], "optional": []})

    def stuffed(self, size, count=None):
        """Draws words for each tool, weighted by quality (exponential races)."""
        races = [{word: self.random.expovariate(worth) for word, worth in self.worth.items()}
                 for _ in range(count or self.budget)]
        return [self.stuff(n, sorted(race, key=race.get)[:size]) for n, race in enumerate(races)]

    def twins(self, size):
        return [self.stuff(n, self.best[:size]) for n in range(self.budget)]

    def one(self, size):
        return [self.stuff(0, self.best[:size])]

    def common_words(self, size):
        return [self.stuff(0, self.common[:size])]

    def said_words(self, size):
        return [self.stuff(0, self.said_most[:size])]

    def five(self, size):
        return self.stuffed(size, 5)

    def none(self, _):
        return []

    def flood(self, attack):
        attack, _, fields = attack.partition(":")
        self.fields = fields.split("+") if fields else FIELDS
        name, _, size = attack.partition("-")
        return getattr(self, METHODS.get(name, name))(int(size or 0))


def call(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


class Catalogue:
    """The data set's catalogue with one flood after another, as a folder for `eval`.

    `eval` caches the store of a catalogue under the hash of its file. The stores of the floods are put there as copies of
    the clean one, so that only the flooder's tools are encoded. If the name changes, runs only take longer."""

    def __init__(self, program, data, split, folder):
        self.program, self.split, self.folder = program, split, folder
        self.cache = os.path.join(folder, "cache")
        self.version = call([program, "version"]).split()[1]
        os.makedirs(os.path.join(folder, "set", "qrels"))
        os.makedirs(self.cache)
        self.set = os.path.join(folder, "set")
        for name in ("queries.jsonl", os.path.join("qrels", f"{split}.tsv")):
            shutil.copy(os.path.join(data, name), os.path.join(self.set, name))
        with open(os.path.join(data, "corpus.jsonl"), "rb") as file:
            self.clean = file.read().rstrip(b"\n") + b"\n"
        self.base = os.path.join(folder, "base.wt")
        call([program, "-s", self.base, "-q", "add", os.path.join(data, "corpus.jsonl"), "-f", "beir"])

    def lay(self, flood, new):
        for name in os.listdir(self.cache):
            path = os.path.join(self.cache, name)
            shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
        rows = "".join(json.dumps(tool) + "\n" for tool in flood).encode()
        with open(os.path.join(self.set, "corpus.jsonl"), "wb") as file:
            file.write(self.clean + rows)
        edition = f"whichtool eval cache 2 {self.version}\n".encode()
        store = os.path.join(self.cache, hashlib.sha256(edition + self.clean + rows).hexdigest() + ".wt")
        shutil.copy(self.base, store)
        if flood:
            source = os.path.join(self.folder, "flood.jsonl")
            with open(source, "wb") as file:
                file.write(rows)
            call([self.program, "-s", store, "-q", "add", source, "-f", "beir"])
        if flood and new:
            self.count_as_new(store)

    @staticmethod
    def count_as_new(store):
        """Marks the flooder's tools as just approved (docs/gateway.md)."""
        with contextlib.closing(sqlite3.connect(store)) as catalogue:
            catalogue.execute("INSERT INTO review_server (id, name, source) VALUES (1, ?, 'flood')", (FLOODER,))
            catalogue.execute("INSERT INTO review (server, name, listed, tool, approved, approved_sha256, approved_since,"
                              " approved_after) SELECT 1, t.name, 1, t.id, t.definition, lower(hex(t.sha256)),"
                              " unixepoch(), 0 FROM tool t WHERE t.source_id LIKE 'flood-%'")
            catalogue.commit()

    def rank(self, recipe, options):
        """Returns the first places of each request, best first."""
        run = os.path.join(self.folder, "run")
        call([self.program, "-q", "--json", "eval", self.set, "--split", self.split, "--recipe", recipe, "--run", run,
              "--cache", self.cache, "--timed", "1", *options])
        ranked = collections.defaultdict(list)
        with open(run, encoding="utf-8") as file:
            for line in file:
                request, _, tool = line.split(" ")[:3]
                if len(ranked[request]) < PLACES:
                    ranked[request].append(tool)
        return ranked


def judge(ranked, right):
    places = sum(len(tools) for tools in ranked.values())
    taken = {request: sum(tool.startswith("flood-") for tool in tools) for request, tools in ranked.items()}
    recall = sum(len(needed.intersection(ranked.get(request, ()))) / len(needed) for request, needed in right.items())
    return [100 * sum(taken.values()) / max(1, places), 100 * sum(map(bool, taken.values())) / len(right),
            100 * recall / len(right)]


def show(figures):
    """Returns mean and range of each column."""
    cells = []
    for column in zip(*figures):
        mean, low, high = sum(column) / len(column), min(column), max(column)
        cells.append(f"{mean:.1f}" if len(column) == 1 else f"{mean:.1f} ({low:.1f} to {high:.1f})")
    return " | ".join(cells)


def known_requests(data, split, known):
    if known:
        folder, _, known_split = known.rpartition(":")
        folder = folder or data
    else:
        folder, known_split = data, "train"
        if not os.path.exists(os.path.join(data, "qrels", "train.tsv")):
            known_split = split
    _, requests, right = read(folder, known_split)
    return f"{os.path.basename(folder.rstrip('/'))} {known_split}", [(requests[r], right[r]) for r in sorted(requests)]


def named(text):
    name, _, value = text.partition("=")
    return name, value


def measure(args, folder):
    tools, requests, right = read(args.data, args.split)
    source, known = known_requests(args.data, args.split, args.known)
    budget = max(1, round(args.share * len(tools)))
    print(f"{os.path.basename(args.data.rstrip('/'))}, {args.split}: {len(tools):,} tools, {len(requests):,} requests; "
          f"the flooder knows half of {source} ({len(known):,}) and adds {budget} tools\n")
    print("| flood | recipe | setting | places | requests | recall@5 |\n|---|---|---|---|---|---|")
    catalogues = [(name, Catalogue(program, args.data, args.split, os.path.join(folder, name)))
                  for name, program in args.whichtool or [("", "build/whichtool")]]
    for attack in ["none", *args.attacks.split(",")]:
        figures = collections.defaultdict(list)
        for draw in range(args.draws if attack != "none" else 1):
            flood = Flooder(tools, known, budget, args.seed + draw).flood(attack)
            for (program, catalogue), new in itertools.product(catalogues, [False, True] if args.new else [False]):
                catalogue.lay(flood, new)
                for recipe in args.recipes.split(","):
                    for setting, options in args.setting or [("", "")]:
                        label = " ".join(filter(None, (program, setting, "new" if new else "")))
                        figures[recipe, label].append(judge(catalogue.rank(recipe, shlex.split(options)), right))
        for (recipe, label), rows in figures.items():
            print(f"| {attack} | {recipe} | {label} | {show(rows)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("--split", default="test")
    parser.add_argument("--known", metavar="DATA:SPLIT")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--share", type=float, default=0.01)
    parser.add_argument("--recipes", default="hybrid")
    parser.add_argument("--attacks", default=ATTACKS)
    parser.add_argument("--new", action="store_true")
    parser.add_argument("--setting", type=named, action="append")
    parser.add_argument("--whichtool", type=named, action="append")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure(args, folder)


if __name__ == "__main__":
    main()
