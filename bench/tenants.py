#!/usr/bin/env python3
"""tenants.py: 100,000 tenants over the 13,242 tools of ToolBench's open domain: memory, time to load, and time of a find
against a store that has only the tools of one tenant.

    bench/tenants.py DATA [--bench FOLDER] [--store FILE] [--tenants N] [--tools N] [--finds N] [--own]

DATA has the data set toolbench-open. Each tenant sees --tools tools, drawn at random, so that no two tenants are equal:
the worst case for memory. With --own, each tenant has a store of its own, and the size of such a store is printed as
well. Without --store, the data set is imported first, which takes minutes. Prints a Markdown table,
and the figures as JSON on standard error.
"""
import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

NAMES = (("alone", "store of these tools"), ("warm", "tenant, index in memory"), ("first", "first find of a tenant"), ("again", "later find of a tenant that was closed meanwhile"))


def write_tenants(path, ids, tenants, tools, own):
    """Writes a file of tenants with random tools. The seed is fixed."""
    draw = random.Random(1)
    texts = [json.dumps(one) for one in ids]
    with open(path, "w", encoding="utf-8") as out:
        for number in range(tenants):
            out.write('{"tenant": "t%d", "tools": [%s]%s}\n' % (
                number, ", ".join(draw.sample(texts, tools)), ', "own": true' if own else ""))


def stores_size(folder):
    """Returns the stores of tenants in a folder, and their mean size on disk in MB, with their indexes."""
    files = [file for file in pathlib.Path(folder).rglob("*") if file.is_file()]
    stores = sum(file.suffix == ".wt" for file in files)
    return stores, sum(file.stat().st_blocks * 512 for file in files) / max(stores, 1) / 1e6


def main():
    """Runs the program for both recipes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--bench", default=os.environ.get("BENCH", "build-bench"))
    parser.add_argument("--store")
    parser.add_argument("--tenants", type=int, default=100000)
    parser.add_argument("--tools", type=int, default=300)
    parser.add_argument("--finds", type=int, default=400)
    parser.add_argument("--own", action="store_true")
    parser.add_argument("--recipes", nargs="+", default=["bm25", "hybrid"])
    options = parser.parse_args()
    whichtool = os.environ.get("WHICHTOOL", "build/whichtool")
    data = options.data / "toolbench-open"
    with tempfile.TemporaryDirectory() as folder:
        store = options.store or folder + "/tools.wt"
        if not options.store:
            subprocess.run([whichtool, "-q", "-s", store, "add", data / "corpus.jsonl"], check=True)
        listed = subprocess.run([whichtool, "-s", store, "--json", "list"], check=True, capture_output=True, text=True)
        ids = [json.loads(line)["id"] for line in listed.stdout.splitlines()]
        # An id with a wildcard would be read as a pattern.
        write_tenants(folder + "/tenants.jsonl", [one for one in ids if not set("*?") & set(one)], options.tenants,
                      options.tools, options.own)
        size = os.path.getsize(folder + "/tenants.jsonl") / 1e6
        print(f"{len(ids)} tools, {options.tenants} tenants, a file of {size:.0f} MB", file=sys.stderr)
        rows = []
        for recipe in options.recipes:
            ran = subprocess.run([options.bench + "/bench_tenants", store, folder + "/tenants.jsonl",
                                  data / "queries.jsonl", recipe, str(options.finds)], check=True,
                                 stdout=subprocess.PIPE, text=True)
            print(ran.stdout, file=sys.stderr)
            rows.append(json.loads(ran.stdout))
        if options.own:
            print("%d stores of %.2f MB" % stores_size(folder + "/tenants"), file=sys.stderr)
    print("| recipe | find by | p50, ms | p95, ms | p50 / store |")
    print("|---|---|--:|--:|--:|")
    for row in rows:
        for name, title in NAMES:
            print(f"| {row['recipe']} | {title} | {row[name + '_p50_ms']:.3f} | {row[name + '_p95_ms']:.3f} | "
                  f"{row[name + '_p50_ms'] / row['alone_p50_ms']:.2f} |")


if __name__ == "__main__":
    main()
