#!/usr/bin/env python3
"""Measures whether `whichtool check` finds a provider that floods a catalogue, and its false alarms.

    python3 bench/audit_flood.py DATA [--split test] [--known DATA:SPLIT] [--draws 3] [--share 0.01]
                                 [--attacks copies,one-50,...] [--usage SPLIT] [--options "--model NAME"]
                                 [--whichtool PROGRAM]

The floods are those of bench/flood.py. For each flood, `hybrid` ranks the requests of the split, which gives the
flooder's share of all top-5 places, and the catalogue is audited. With --usage, requests of that split are recorded first
with their tools, including those that the flooder knows.

Prints Markdown, in percent, mean over draws:

    the flooder's places, and its share according to `capture`
    draws in which `capture`, or any of `capture`, `stuffed-words` and `worded-as-request`, names the flooder
    other providers (or tools without a provider) that `capture`, or any of the three, names

If a flood gives each of its tools a provider of its own, one named provider counts, and the largest share is printed.
"""
import argparse
import collections
import json
import os
import shlex
import subprocess
import sys
import tempfile

from flood import ATTACKS, Catalogue, Flooder, call, judge, known_requests, read
from beir import judgements, lines

RULES = ("capture", "stuffed-words", "worded-as-request")


def party(finding):
    """Returns the named provider, or the named tool without a provider."""
    return finding["provider"] or finding["tools"][0]


def audit(program, store, options):
    """Returns the named providers of each rule."""
    rules = [word for rule in RULES for word in ("--rule", rule)]
    done = subprocess.run([program, "-s", store, "-q", "--json", "check", *rules, *options], capture_output=True,
                          text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"check: {done.stderr.strip()}")
    named, shares = collections.defaultdict(set), {}
    for finding in json.loads(done.stdout)["findings"]:
        named[finding["rule"]].add(party(finding))
        if finding["rule"] == "capture":
            shares[party(finding)] = finding["figure"]
    return named, shares


def record(program, store, data, split, folder):
    texts = {row["_id"]: row["text"] for row in lines(os.path.join(data, "queries.jsonl"))}
    path = os.path.join(folder, "usage.jsonl")
    with open(path, "w", encoding="utf-8") as file:
        for request, needed in sorted(judgements(data, split).items()):
            if needed and request in texts:
                file.write(json.dumps({"request": texts[request], "tools": sorted(needed)}) + "\n")
    call([program, "-s", store, "-q", "usage", "add", "--no-vectors", path])


def store_of(catalogue):
    return next(os.path.join(catalogue.cache, name) for name in os.listdir(catalogue.cache) if name.endswith(".wt"))


def measure(args, folder):
    tools, _, right = read(args.data, args.split)
    source, known = known_requests(args.data, args.split, args.known)
    budget = max(1, round(args.share * len(tools)))
    options = shlex.split(args.options)
    honest = {tool.get("metadata", {}).get("provider", "").strip() or number for number, tool in tools.items()}
    catalogue = Catalogue(args.whichtool, args.data, args.split, os.path.join(folder, "flooded"))
    call([args.whichtool, "-s", catalogue.base, "-q", "vectors", *options])
    if args.usage:
        record(args.whichtool, catalogue.base, args.data, args.usage, folder)
    print(f"{os.path.basename(args.data.rstrip('/'))}, {args.split}: {len(tools):,} tools, {len(honest):,} providers; the "
          f"flooder knows half of {source} ({len(known):,}) and adds {budget} tools"
          f"{'; use recorded of ' + args.usage if args.usage else ''}\n")
    print("| flood | places | told | by capture | by any | others by capture | others by any |\n|---|---|---|---|---|---|---|")
    for attack in ["none", *args.attacks.split(",")]:
        rows = []
        for draw in range(args.draws if attack != "none" else 1):
            flood = Flooder(tools, known, budget, args.seed + draw).flood(attack)
            catalogue.lay(flood, False)
            store = store_of(catalogue)
            call([args.whichtool, "-s", store, "-q", "vectors", *options])
            named, shares = audit(args.whichtool, store, options)
            places = judge(catalogue.rank("hybrid", options), right)[0]
            everybody = set().union(*named.values())
            flooders = {tool["metadata"]["provider"].strip() for tool in flood}
            rows.append([places, 100 * max([shares.get(name, 0) for name in flooders] or [0]),
                         100 * bool(flooders & named["capture"]), 100 * bool(flooders & everybody),
                         100 * len(named["capture"] - flooders) / len(honest),
                         100 * len(everybody - flooders) / len(honest)])
        means = [sum(column) / len(column) for column in zip(*rows)]
        print(f"| {attack} | " + " | ".join(f"{mean:.1f}" for mean in means) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("--split", default="test")
    parser.add_argument("--known", metavar="DATA:SPLIT")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--share", type=float, default=0.01)
    parser.add_argument("--attacks", default=ATTACKS)
    parser.add_argument("--usage", metavar="SPLIT")
    parser.add_argument("--options", default="")
    parser.add_argument("--whichtool", default="build/whichtool")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure(args, folder)


if __name__ == "__main__":
    main()
