#!/usr/bin/env python3
"""Measures requests of one kind each: whether find has a needed tool first, and where. The requests are in bench/asked.

    python3 bench/asked.py WHICHTOOL [OPTION...]

    --kind NAME...    folders of bench/asked; default: all
    --split dev|test  default: both
    --recipe NAME...  recipes of find; default: bm25 hybrid
    --failures        list the dev requests whose first hit is wrong, with the first three hits
    --json            print the figures, and the rank of each request's best needed tool, as one JSON object
    --store FILE      measure this store unchanged, such as a trained one
    --cache FOLDER    folder of catalogues and the store; default: that of real/real.py

A request is one line of KIND/dev.jsonl or KIND/test.jsonl:

    {"request": "...", "catalogue": "asana", "tools": ["asana/createGoalMetric"], "form": "nested"}

tools are equally good answers. form divides a kind: the table has a row for each form. The catalogues are those of
bench/real, and are searched together. Requests for unavailable catalogues are skipped, and the table shows their number.
MRR is the mean of 1/rank of the best needed tool, and 0 if the first 100 hits lack it. For questions, "first reads" is
the share of requests whose first hit reads: it is needed, its HTTP method is GET, or, without a method, a word of its
name says so. bench/asked/README.md describes the kinds.
"""
import argparse
import concurrent.futures
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "real"))
import check
import fetch
import real

MOST = 100  # hits in which a needed tool counts
FIRST = 5
SHOWN = 3  # hits of a failure
FIELDS = ["request", "catalogue", "tools", "form"]
COLUMNS = ("MRR", "first", "in five")
QUESTIONS = "questions"  # kind whose requests need tools that read
READING = re.compile(r"(?i)(^|[^a-z])(check|diff|find|get|info|list|log|query|read|search|show|snapshot|status|view)")


def kinds():
    folder = os.path.join(HERE, "asked")
    return sorted(name for name in os.listdir(folder) if os.path.isdir(os.path.join(folder, name)))


def requests(kind, split):
    """Returns the requests of a kind and split, each with its place for error messages."""
    path = os.path.join(HERE, "asked", kind, split + ".jsonl")
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


def find(options, recipe, row):
    """Returns the rank of the best needed tool, or 0 if the first MOST hits lack it, and the first hits."""
    found = real.ids(real.command(options, "find", "-k", str(MOST), "--json", "-r", recipe, "-", text=row["request"]))
    place = next((place for place, tool in enumerate(found, 1) if tool in row["tools"]), 0)
    return place, found[:SHOWN]


def reads(tool):
    """Tells whether a tool of `list --json` only reads."""
    method = tool["source_id"].split(" ")[0]
    return method in ("GET", "HEAD") or (not method.isupper() and READING.search(tool["name"]) is not None)


def first_reads(row, shown, tools):
    return bool(shown) and (shown[0] in row["tools"] or reads(tools[shown[0]]))


def figures(ranks):
    """Returns the figures of a group of requests in the order of COLUMNS."""
    count = max(len(ranks), 1)
    means = (sum(1 / place for place in ranks if place), ranks.count(1), sum(1 <= place <= FIRST for place in ranks))
    return {"requests": len(ranks), **{name: total / count for name, total in zip(COLUMNS, means)}}


def measure(options, kind, rows, tools):
    """Returns the ranks, the first hits, and the figures of all requests and of each form, for each recipe."""
    measured = {}
    for recipe in options.recipe:
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            found = list(pool.map(lambda row, recipe=recipe: find(options, recipe, row), rows))
        places, shown = [place for place, _ in found], [hits for _, hits in found]
        groups = {}
        for form in ["all", *sorted({row["form"] for row in rows})]:
            chosen = [i for i, row in enumerate(rows) if form in ("all", row["form"])]
            groups[form] = figures([places[i] for i in chosen])
            if kind == QUESTIONS:
                reading = sum(first_reads(rows[i], shown[i], tools) for i in chosen)
                groups[form]["first reads"] = reading / max(len(chosen), 1)
        measured[recipe] = {"figures": groups, "ranks": places, "shown": shown}
    return measured


def print_table(title, measured, left_out):
    print(f"\n{title}" + (f", {left_out} requests left out" if left_out else ""))
    columns = list(next(iter(next(iter(measured.values()))["figures"].values())))
    print("| | " + " | ".join(columns) + " |\n" + "|---" * (len(columns) + 1) + "|")
    for recipe, result in measured.items():
        for group, row in result["figures"].items():
            shares = " | ".join(f"{100 * row[name]:.1f}" for name in columns[2:])
            print(f"| {recipe}, {group} | {row['requests']} | {row['MRR']:.3f} | {shares} |")


def print_failures(rows, measured):
    for recipe, result in measured.items():
        for row, place, shown in zip(rows, result["ranks"], result["shown"]):
            if place != 1:
                print(f"\n{recipe}, rank {place or 'none'}: {row['request']}\n   needs {' | '.join(row['tools'])}")
                print("   found " + ", ".join(shown))


def check_rows(rows, there, tools):
    """Exits if a request needs a catalogue or a tool that does not exist."""
    known = {source["service"] for source in fetch.sources()}
    wrong = [f"{row['place']}: no catalogue {row['catalogue']}" for row in rows if row["catalogue"] not in known]
    wrong += lacking([row for row in rows if row["catalogue"] in there], tools)
    if wrong:
        sys.exit("\n".join(wrong))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("whichtool")
    parser.add_argument("--kind", nargs="+", choices=kinds(), default=kinds())
    parser.add_argument("--split", choices=check.SPLITS)
    parser.add_argument("--recipe", nargs="+", default=["bm25", "hybrid"])
    parser.add_argument("--failures", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--store")
    parser.add_argument("--cache", default=fetch.default_cache(), type=os.path.abspath)
    parser.set_defaults(model=None, weighted=None, as_typed=False)  # options of real.command
    options = parser.parse_args()
    sources = fetch.fetch_all(options.cache)
    if not options.store:
        real.import_catalogues(options, sources)
    there = {source["service"] for source in sources}
    tools = {tool["id"]: tool for tool in map(json.loads, real.command(options, "list", "--json").splitlines())}
    asked = {(kind, split): requests(kind, split) for kind in options.kind
             for split in ([options.split] if options.split else check.SPLITS)}
    check_rows([row for rows in asked.values() for row in rows], there, tools)
    result = {"tools": len(tools), "catalogues": len(there), "kinds": {}}
    if not options.json:
        print(f"{len(tools)} tools of {len(there)} catalogues")
    for (kind, split), every in asked.items():
        present = [row for row in every if row["catalogue"] in there]
        measured = measure(options, kind, present, tools)
        left_out = len(every) - len(present)
        result["kinds"].setdefault(kind, {})[split] = {"left out": left_out, "recipes": measured}
        if not options.json:
            print_table(f"{kind}, {split}", measured, left_out)
        if options.failures and split == "dev" and not options.json:
            print_failures(present, measured)
    if options.json:
        print(json.dumps(result, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
