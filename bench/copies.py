#!/usr/bin/env python3
"""Measures the places that identical copies take: tools of several providers with the same name, description and
parameters.

    python3 bench/copies.py DATA REQUESTS [--whichtool NAME=PROGRAM]...

DATA is a catalogue for `whichtool add`, REQUESTS a file of JSON lines with "text". Each program imports the catalogue into
a store of its own and answers each request by `find` and `pick`. This script determines the copies itself from
`list --json`: equal letters and digits of names, equal words of descriptions, both in lower case, and equal parameter
names.

Prints Markdown: requests with a copy at the first place; places among the first five that repeat a tool; requests with
such a place; sets of `pick` with two copies.
"""
import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

PLACES = 5


def ask(program, store, *words):
    done = subprocess.run([program, "-s", store, *words], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"{program} {' '.join(words)}: {done.stderr}")
    return done.stdout


def kind(tool):
    name = "".join(c for c in tool["name"].lower() if c.isalnum())
    description = " ".join(re.findall(r"\w+", tool["description"].lower()))
    parameters = tuple(sorted(p.lower() for p in tool["schema"].get("properties", {})))
    return (name, description, parameters) if description or parameters else (tool["id"],)


def measure(program, data, requests, folder):
    store = os.path.join(folder, "tools.wt")
    ask(program, store, "add", "--quiet", data)
    providers = collections.defaultdict(set)
    for line in ask(program, store, "list", "--json").splitlines():
        tool = json.loads(line)
        providers[kind(tool)].add(tool["provider"])
    figures = collections.Counter()
    for request in requests:
        hits = json.loads(ask(program, store, "find", "--json", "-k", str(PLACES), "--", request))["hits"]
        kinds = [kind(hit) for hit in hits]
        figures["first"] += bool(hits) and len(providers[kinds[0]]) > 1
        figures["places"] += len(kinds)
        figures["again"] += len(kinds) - len(set(kinds))
        figures["requests"] += len(kinds) > len(set(kinds))
        picked = [kind(hit) for hit in json.loads(ask(program, store, "pick", "--json", "--", request))["hits"]]
        figures["sets"] += bool(picked)
        figures["doubled"] += len(picked) > len(set(picked))
    copies = sum(len(p) for p in providers.values() if len(p) > 1)
    groups = sum(len(p) > 1 for p in providers.values())
    return copies, groups, figures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("requests")
    parser.add_argument("--whichtool", action="append", metavar="NAME=PROGRAM")
    options = parser.parse_args()
    with open(options.requests, encoding="utf-8") as file:
        requests = [json.loads(line)["text"] for line in file if line.strip()]
    print("| program | copies (groups) | first places of a copy | of the first five a copy again | requests with one |"
          " sets with two of a kind |\n|---|---|---|---|---|---|")
    for named in options.whichtool or ["whichtool=whichtool"]:
        name, program = named.split("=", 1)
        with tempfile.TemporaryDirectory() as folder:
            copies, groups, f = measure(program, options.data, requests, folder)
        print(f"| {name} | {copies:,} ({groups:,}) | {f['first']} of {len(requests)} | {f['again']} of {f['places']:,} | "
              f"{f['requests']} | {f['doubled']} of {f['sets']} |", flush=True)


if __name__ == "__main__":
    main()
