#!/usr/bin/env python3
"""Whether tools are found by their names: several at once in random requests, and titles and identifiers one by one.

    python3 bench/exact_names.py WHICHTOOL DATA... [OPTION...]

    DATA              each a BEIR folder
    --requests N      of each folder, 300 when not given: one to eight names each, exactly as they are or as somebody
                      would type them, with blanks, commas, line ends or "and" between; a request is right when the
                      first ten hits have a tool of each name
    --seed N          21 when not given
    --failures        the requests that went wrong, with what is missing
    --real [CACHE]    also N titles, summaries and identifiers each of bench/real's dev services: right when the first
                      hit has it. CACHE is that of real.py
    --write FOLDER    the requests as JSON Lines, too

By hybrid, by bm25, and without a model.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "real"))
import check
import fetch

WAYS = {"hybrid": ["--recipe", "hybrid"], "bm25": ["--recipe", "bm25"], "no model": ["--model", ""]}
FIRST, MOST, SUMMARY_WORDS = 10, 8, 20
JOINS = (" ", ", ", "\n", " and ", " + ", "; ", ",")
FRAMES = ("{}", "{}", "{}", "use {}", "I need {}", "{}, please", "please call {}.")


def words(name):
    return re.findall(r"[A-Z]+s?(?![a-z])|[A-Z]?[a-z0-9]+|[A-Z0-9]+", name)


def camel(name):
    parts = [word.lower() for word in words(name)]
    return parts[0] + "".join(part.capitalize() for part in parts[1:])


CASINGS = {
    "as it is": lambda name: name,
    "snake": lambda name: "_".join(words(name)).lower(),
    "kebab": lambda name: "-".join(words(name)).lower(),
    "camel": camel,
    "Pascal": lambda name: "".join(word.capitalize() for word in words(name)),
    "words": lambda name: " ".join(words(name)).lower(),
    "Words": lambda name: " ".join(word.capitalize() for word in words(name)),
    "UPPER": lambda name: name.upper(),
}


def joined(names):
    """a, b and c"""
    return ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else names[0]


def bare(name):
    """What is left of a name that somebody types from memory."""
    return "".join(letter for letter in name.lower() if letter.isalnum())


def requests(names, count, seed):
    """(request, names, how to compare them): what is drawn depends on the names and the seed alone."""
    draw = random.Random(seed)
    for _ in range(count):
        chosen = draw.sample(names, min(draw.randint(1, MOST), len(names)))
        casing = draw.choice(list(CASINGS)) if draw.random() < .5 else "as it is"
        typed = [CASINGS[casing](name) for name in chosen]
        join = draw.choice(JOINS + (joined,))
        text = join(typed) if callable(join) else join.join(typed)
        yield draw.choice(FRAMES).format(text), chosen, str if casing == "as it is" else bare


def find(options, store, way, request, k):
    """Names of the first k hits; for one, its id."""
    done = subprocess.run([options.whichtool, "-s", store, "-q", "find", "-k", str(k), "--format", "json", *WAYS[way], "-"],
                          input=request, capture_output=True, text=True, encoding="utf-8", check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"{request!r}: {done.stderr.strip()}")
    return [hit["id" if k == 1 else "name"] for hit in json.loads(done.stdout)["hits"]]


def measure(options, label, store, asked, k):
    """One row: how many requests are right, by each way. asked: (request, what must be among the first k, how to
    compare them)."""
    cells = []
    for way in WAYS:
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            found = list(pool.map(lambda row: find(options, store, way, row[0], k), asked))
        missing = []
        for (request, wanted, same), hits in zip(asked, found):
            there = set(map(same, hits))
            lacks = [name for name in wanted if same(name) not in there]
            if lacks and (k > 1 or len(lacks) == len(wanted)):
                missing.append((request, lacks, hits))
        cells.append(f"{len(asked) - len(missing)} of {len(asked)}")
        for request, lacks, hits in missing if options.failures else ():
            print(f"   {label}, {way}: {request!r} lacks {lacks[:4]}, has {hits[:3]}", file=sys.stderr)
    print(f"| {label} | " + " | ".join(cells) + " |", flush=True)


def measure_set(options, folder, work):
    name = os.path.basename(os.path.normpath(folder))
    store = os.path.join(work, f"{name}.wt")
    subprocess.run([options.whichtool, "-s", store, "-q", "add", folder], check=True, stdout=subprocess.DEVNULL)
    with open(os.path.join(folder, "corpus.jsonl"), encoding="utf-8") as file:
        names = sorted({json.loads(line)["title"] for line in file})
    asked = list(requests(names, options.requests, options.seed))
    if options.write:
        with open(os.path.join(options.write, f"{name}.jsonl"), "w", encoding="utf-8") as file:
            file.writelines(json.dumps({"request": row[0], "names": row[1]}) + "\n" for row in asked)
    measure(options, name, store, asked, FIRST)


def tools_of(options, store):
    done = subprocess.run([options.whichtool, "-s", store, "-q", "list", "--json"], check=True, capture_output=True,
                          text=True, encoding="utf-8")
    return [json.loads(line) for line in done.stdout.splitlines()]


def summary(tool):
    """The title, or a description that is one short sentence; of two words or more."""
    text = tool["title"] or tool["description"].strip()
    brief = tool["title"] or ("." not in text[:-1] and "\n" not in text and len(words(text)) <= SUMMARY_WORDS)
    return text if brief and len(words(text)) >= 2 else None


def measure_real(options):
    cache = options.real or fetch.default_cache()
    store = os.path.join(cache, "store.wt")
    dev = {source["service"] for source in fetch.sources(check.HERE) if source["split"] == "dev"}
    tools = tools_of(options, store)
    for field in ("name", "title", "id", "source_id"):
        named, of_dev = collections.defaultdict(set), {}
        for tool in tools:
            text = summary(tool) if field == "title" else tool[field]
            if text:
                named[bare(text)].add(tool["id"])
                if tool["provider"] in dev:
                    of_dev.setdefault(text)
        asked = [(text, named[bare(text)], str) for text in sorted(of_dev)]
        random.Random(options.seed).shuffle(asked)
        measure(options, f"real dev, {field}", store, asked[:options.requests], 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("whichtool")
    parser.add_argument("data", nargs="*")
    parser.add_argument("--requests", default=300, type=int)
    parser.add_argument("--seed", default=21, type=int)
    parser.add_argument("--failures", action="store_true")
    parser.add_argument("--real", nargs="?", const="")
    parser.add_argument("--write")
    options = parser.parse_args()
    print("| | " + " | ".join(WAYS) + " |\n|" + "---|" * (1 + len(WAYS)))
    with tempfile.TemporaryDirectory() as work:
        for folder in options.data:
            measure_set(options, folder, work)
    if options.real is not None:
        measure_real(options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
