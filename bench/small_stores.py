#!/usr/bin/env python3
"""Measures pick in small stores: how often it picks for requests that no tool of the store serves.

    python3 bench/small_stores.py WHICHTOOL [OPTION...]

    --split dev|test  default: dev
    --failures        list the dev requests that pick answers wrongly
    --json            print the figures as one JSON object
    --cache FOLDER    folder of catalogues and stores; default: that of real/real.py

Each catalogue of bench/real with at most 150 tools becomes a store. Its own requests are those of bench/real and
bench/asked that need this catalogue alone. UNSERVED further requests need none of its tools: half are requests of
bench/real that no catalogue serves, the others name another service. Both are drawn with the catalogue's name as the
seed. A store passes if pick answers at most one unserved request.
"""
import argparse
import json
import os
import random
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(HERE, "real"))
import asked
import check
import fetch
import real

MOST_TOOLS = 150
UNSERVED = 20
PASSES = 1  # unserved requests that pick may answer


def names(service):
    return service.replace("-", " ").lower()


def requests_of(split, service):
    """Returns the requests that need one service, and those that need none."""
    rows = [row for row in check.requests(os.path.join(HERE, "real"), split) if row["lang"] == "en"]
    own = [row["text"] for row in rows if row["services"] == [service] and row["needs"]]
    for kind in asked.kinds():
        own += [row["request"] for row in asked.requests(kind, split) if row["catalogue"] == service]
    return own, [row["text"] for row in rows if row["kind"] in check.NOTHING]


def unserved(split, service, services):
    """Draws requests that need no tool of the service."""
    draw = random.Random(service)
    foreign = []
    for other in services:
        if other != service:
            foreign += [text for text in requests_of(split, other)[0]
                        if names(other) in text.lower() and names(service) not in text.lower()]
    nothing = requests_of(split, service)[1]
    drawn = draw.sample(nothing, min(UNSERVED // 2, len(nothing)))
    return drawn + draw.sample(foreign, UNSERVED - len(drawn))


def picks(options, text):
    return bool(real.ids(real.command(options, "pick", "--json", "-", text=text)))


def measure(options, source, services):
    service = source["service"]
    options.store = os.path.join(options.cache, "small", service + ".wt")
    os.makedirs(os.path.dirname(options.store), exist_ok=True)
    for path in (options.store, options.store + "-wal", options.store + "-shm"):
        if os.path.exists(path):
            os.remove(path)
    real.command(options, "add", "--provider", service, fetch.path_of(options.cache, source))
    tools = len(real.ids(real.command(options, "list", "--json")))
    if tools > MOST_TOOLS:
        return None
    own = requests_of(options.split, service)[0]
    others = unserved(options.split, service, services)
    return {"service": service, "tools": tools, "requests": len(own),
            "empty": [text for text in own if not picks(options, text)],
            "unserved": len(others), "answered": [text for text in others if picks(options, text)]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("whichtool")
    parser.add_argument("--split", choices=check.SPLITS, default="dev")
    parser.add_argument("--failures", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--cache", default=fetch.default_cache(), type=os.path.abspath)
    parser.set_defaults(model=None, as_typed=False)  # options of real.command
    options = parser.parse_args()
    sources = fetch.fetch_all(options.cache)
    services = sorted({source["service"] for source in sources})
    rows = []
    for source in sources:
        if requests_of(options.split, source["service"])[0]:
            row = measure(options, source, services)
            rows += [row] if row else []
    if options.json:
        print(json.dumps(rows, ensure_ascii=False))
        return 0
    print(f"{options.split}\n| store | tools | unserved: answered | own requests: empty |\n|---|---|---|---|")
    for row in sorted(rows, key=lambda row: row["tools"]):
        print(f"| {row['service']} | {row['tools']} | {len(row['answered'])} of {row['unserved']} | "
              f"{len(row['empty'])} of {row['requests']} |")
    passed = sum(len(row["answered"]) <= PASSES for row in rows)
    answered, empty = sum(len(row["answered"]) for row in rows), sum(len(row["empty"]) for row in rows)
    print(f"| **all** | {passed} of {len(rows)} pass | {answered} of {sum(row['unserved'] for row in rows)} | "
          f"{empty} of {sum(row['requests'] for row in rows)} |")
    if options.failures and options.split == "dev":
        for row in rows:
            print("\n" + row["service"])
            print("".join(f"   answered: {text}\n" for text in row["answered"]) +
                  "".join(f"   empty: {text}\n" for text in row["empty"]), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
