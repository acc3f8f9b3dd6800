#!/usr/bin/env python3
"""Measures whether tools are found by names: several in random requests, and single titles and identifiers.

    python3 bench/exact_names.py WHICHTOOL DATA... [OPTION...]

    DATA              BEIR folders
    --requests N      requests of each folder (300): one to eight names, exact or as typed from memory, separated by blanks,
                      commas, line ends or "and". A request is right if the first ten hits contain a tool of each name
    --seed N          default 21
    --failures        list failed requests with the missing names
    --real [CACHE]    also N titles, summaries and identifiers each of bench/real's dev services; right if the first hit
                      has it. CACHE is that of real.py
    --write FOLDER    also write the requests as JSON Lines

Measured with hybrid, with bm25, and without a model.
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
    """Joins names as "a, b and c"."""
    return ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else names[0]


def bare(name):
    """Returns the letters and digits of a name in lower case, for comparing typed names."""
    return "".join(letter for letter in name.lower() if letter.isalnum())


def requests(names, count, seed):
    """Yields (request, names, comparison), depending only on the names and the seed."""
    draw = random.Random(seed)
    for _ in range(count):
        chosen = draw.sample(names, min(draw.randint(1, MOST), len(names)))
        casing = draw.choice(list(CASINGS)) if draw.random() < .5 else "as it is"
        typed = [CASINGS[casing](name) for name in chosen]
        join = draw.choice(JOINS + (joined,))
        text = join(typed) if callable(join) else join.join(typed)
        yield draw.choice(FRAMES).format(text), chosen, str if casing == "as it is" else bare


def find(options, store, way, request, k):
    """Returns the names of the first k hits, or the id of the first hit."""
    done = subprocess.run([options.whichtool, "-s", store, "-q", "find", "-k", str(k), "--format", "json", *WAYS[way], "-"],
                          input=request, capture_output=True, text=True, encoding="utf-8", check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"{request!r}: {done.stderr.strip()}")
    return [hit["id" if k == 1 else "name"] for hit in json.loads(done.stdout)["hits"]]


def measure(options, label, store, asked, k):
    """Prints one row: the number of right requests with each method. asked: (request, names that must be among the first k,
    comparison)."""
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
    """Returns the title, or a description of one short sentence, with at least two words; else None."""
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
