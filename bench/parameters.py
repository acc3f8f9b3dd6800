#!/usr/bin/env python3
"""Measures whether brief requests with names of parameters find the tool: the requests of bench/parameters.

    python3 bench/parameters.py WHICHTOOL [OPTION...]

    --split dev|test  default: both
    --recipe NAME...  recipes of find; default: bm25 hybrid
    --json            print the figures, and the rank of each request's best needed tool, as one JSON object
    --store FILE      measure this store unchanged, such as a trained one
    --cache FOLDER    folder of catalogues and the store; default: that of real/real.py

A request is one line of parameters/dev.jsonl or parameters/test.jsonl:

    {"request": "...", "catalogue": "asana", "tools": ["asana/createGoalMetric"], "nested": true}

tools are equally good answers. nested is true if the request names a property inside of another one. The catalogues are
those of bench/real, and are searched together. Requests for unavailable catalogues are skipped, and the table shows their
number. MRR is the mean of 1/rank of the best needed tool, and 0 if the first 100 hits lack it.
"""
import argparse
import concurrent.futures
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "real"))
import check
import fetch
import real

MOST = 100  # hits in which a needed tool counts
FIRST = 5
FIELDS = ["request", "catalogue", "tools", "nested"]
COLUMNS = ("MRR", "first", "in five")


def requests(split):
    """Returns the requests of the split, each with its place for error messages."""
    path = os.path.join(HERE, "parameters", split + ".jsonl")
    rows = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            try:
                row = json.loads(line)
            except ValueError as error:
                sys.exit(f"{path}:{number}: invalid JSON: {error}")
            if not isinstance(row, dict) or list(row) != FIELDS:
                sys.exit(f"{path}:{number}: the fields must be {', '.join(FIELDS)}, in this order")
            rows.append({**row, "place": f"{path}:{number}"})
    return rows


def lacking(rows, tools):
    """Yields an error for each needed tool that its catalogue lacks."""
    for row in rows:
        for tool in row["tools"]:
            if tool not in tools or not tool.startswith(row["catalogue"] + "/"):
                yield f"{row['place']}: the catalogue {row['catalogue']} lacks the tool {tool}"


def rank(options, recipe, row):
    """Returns the rank of the best needed tool, or 0 if the first MOST hits lack it."""
    found = real.ids(real.command(options, "find", "-k", str(MOST), "--json", "-r", recipe, "-", text=row["request"]))
    return next((place for place, tool in enumerate(found, 1) if tool in row["tools"]), 0)


def figures(ranks):
    """Returns the figures of a group of requests in the order of COLUMNS."""
    count = max(len(ranks), 1)
    means = (sum(1 / place for place in ranks if place), ranks.count(1), sum(1 <= place <= FIRST for place in ranks))
    return {"requests": len(ranks), **{name: total / count for name, total in zip(COLUMNS, means)}}


def measure(options, rows):
    """Returns the ranks, and the figures of all and of nested requests, for each recipe."""
    measured = {}
    for recipe in options.recipe:
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            ranks = list(pool.map(lambda row, recipe=recipe: rank(options, recipe, row), rows))
        nested = [place for place, row in zip(ranks, rows) if row["nested"]]
        measured[recipe] = {"all": figures(ranks), "nested": figures(nested), "ranks": ranks}
    return measured


def print_table(split, measured, left_out):
    print(f"\n{split}" + (f", {left_out} requests left out" if left_out else ""))
    print("| | requests | " + " | ".join(COLUMNS) + " |\n" + "|---" * (len(COLUMNS) + 2) + "|")
    for recipe, groups in measured.items():
        for group in ("all", "nested"):
            row = groups[group]
            shares = " | ".join(f"{100 * row[name]:.1f}" for name in COLUMNS[1:])
            print(f"| {recipe}, {group} | {row['requests']} | {row['MRR']:.3f} | {shares} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("whichtool")
    parser.add_argument("--split", choices=check.SPLITS)
    parser.add_argument("--recipe", nargs="+", default=["bm25", "hybrid"])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--store")
    parser.add_argument("--cache", default=fetch.default_cache(), type=os.path.abspath)
    parser.set_defaults(model=None, weighted=None, as_typed=False)  # options of real.command
    options = parser.parse_args()
    sources = fetch.fetch_all(options.cache)
    if not options.store:
        real.import_catalogues(options, sources)
    there = {source["service"] for source in sources}
    tools = set(real.ids(real.command(options, "list", "--json")))
    known = {source["service"] for source in fetch.sources()}
    asked = {split: requests(split) for split in ([options.split] if options.split else check.SPLITS)}
    rows = [row for split in asked.values() for row in split]
    wrong = [f"{row['place']}: no catalogue {row['catalogue']}" for row in rows if row["catalogue"] not in known]
    wrong += lacking([row for row in rows if row["catalogue"] in there], tools)
    if wrong:
        sys.exit("\n".join(wrong))
    result = {"tools": len(tools), "catalogues": len(there), "splits": {}}
    if not options.json:
        print(f"{len(tools)} tools of {len(there)} catalogues")
    for split, every in asked.items():
        present = [row for row in every if row["catalogue"] in there]
        measured = measure(options, present)
        result["splits"][split] = {"left out": len(every) - len(present), "recipes": measured}
        if not options.json:
            print_table(split, measured, len(every) - len(present))
    if options.json:
        print(json.dumps(result, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
