#!/usr/bin/env python3
"""Measures finding and picking tools of real services: the tables of docs/real-catalogues.md.

    python3 bench/real/real.py WHICHTOOL [--split dev|test] [OPTION...]

    --failures       list failed dev requests of find or pick, with the results
    --json           print all figures as one JSON object
    --against FILE   also print gained and lost requests since the run with this --json output
    --recipe NAME    recipe of find; default: the command's
    --model NAME     the encoder, "" for none; default: the command's
    --as-typed       do not correct spelling
    --find-only      skip pick; its columns stay empty
    --weak           also measure weak hits: their share among needed and unneeded hits, and the share of requests with weak
                     hits only, for requests that need tools and for those that need none
    --store FILE     measure this store unchanged, such as a trained one
    --cache FOLDER   folder of catalogues and the store; default whichtool/real in the cache folder
    --data FOLDER    sources.json, dev.jsonl and test.jsonl; default the folder of this script

All catalogues of both splits are imported into one store. find and pick run for each request in a process of its own.
Requests for unavailable catalogues are skipped, and the table shows their number.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import subprocess
import sys

import check
import fetch

FIRST = 5  # number of hits that must contain a need
SECONDS, IMPORT_SECONDS = 120, 3600
COLUMNS = ("top 1", "top 5", "any in 5", "holds", "exact", "nothing", "size")
GROUPS = ("needs tools", "needs none")


def command(options, *arguments, text=None):
    """Returns the output of the command; the exit codes 0 and 1 are answers."""
    model = ["--model", options.model] if options.model is not None and arguments[0] != "list" else []
    typed = ["--as-typed"] if options.as_typed and arguments[0] in ("find", "pick") else []
    done = subprocess.run([options.whichtool, "-s", options.store, "-q", *arguments, *model, *typed], capture_output=True,
                          text=True, encoding="utf-8", input=text, timeout=IMPORT_SECONDS if arguments[0] == "add" else SECONDS)
    if done.returncode > 1:
        sys.exit(f"whichtool {arguments[0]}: {done.stderr.strip() or done.returncode}")
    return done.stdout


def ids(output):
    """Returns the ids in the output of find, pick or list: one object with a list of tools, or one tool a line."""
    objects = [json.loads(line) for line in output.splitlines() if line.strip()]
    if len(objects) == 1 and "id" not in objects[0]:
        objects = next((objects[0][key] for key in ("tools", "hits") if key in objects[0]), [])
    return [tool["id"] for tool in objects if "id" in tool]


def import_catalogues(options, sources):
    """Sets options.store to the store of all catalogues, after creating it if necessary."""
    parts = [fetch.sha256(options.whichtool), repr(options.model)] + [source["sha256"] for source in sources]
    key = hashlib.sha256("\n".join(parts).encode()).hexdigest()
    options.store = os.path.join(options.cache, "store.wt")
    note = os.path.join(options.cache, "store.key")
    if os.path.exists(note):
        with open(note, encoding="utf-8") as file:
            if file.read() == key:
                return
    for path in (note, options.store, options.store + "-wal", options.store + "-shm"):
        if os.path.exists(path):
            os.remove(path)
    for source in sources:
        command(options, "add", "--provider", source["service"], fetch.path_of(options.cache, source))
    with open(note, "w", encoding="utf-8") as file:
        file.write(key)


def covers(tools, needs):
    return all(set(need) & set(tools) for need in needs)


def find(options, form, text):
    recipe = ["-r", options.recipe] if options.recipe else []
    return command(options, "find", "-k", str(FIRST), form, *recipe, "-", text=text)


def measure(options, request):
    """Returns a request's figures in the order of COLUMNS; None if not applicable."""
    output = find(options, "--json", text=request["text"])
    found = ids(output)
    picked = [] if options.find_only else ids(command(options, "pick", "--json", "-", text=request["text"]))
    needs, request = request["needs"], {**request, "found": found, "picked": picked}
    request["weak"] = {hit["id"] for hit in json.loads(output)["hits"] if hit.get("weak")}
    needed = {tool for need in needs for tool in need}
    holds = covers(picked, needs)
    # Exact: every need is covered, and no tool is superfluous.
    exact = holds and not any(covers([other for other in picked if other != tool], needs) for tool in picked)
    of_pick = [None] * 2 if options.find_only else [holds, exact]
    figures = [bool(set(found[:1]) & needed), covers(found, needs), bool(set(found) & needed), *of_pick]
    request["figures"] = (figures if needs else [None] * len(figures)) + (
        [None] * 2 if options.find_only else [not picked, len(picked)])
    return request


def table(measured):
    """Returns rows of figures: all requests that need tools, those that need none, and every kind. Shares are percent."""
    groups = collections.defaultdict(list)
    for request in measured:
        groups[GROUPS[0 if request["needs"] else 1]].append(request["figures"])
        groups[request["kind"]].append(request["figures"])
    rows = {}
    for group in (*GROUPS, *check.KINDS):
        columns = [[value for value in column if value is not None] for column in zip(*groups[group])]
        means = [sum(column) / len(column) if column else None for column in columns]
        rows[group] = {"requests": len(groups[group]), **dict(zip(COLUMNS, means))}
    return rows


def print_table(split, rows, left_out):
    print(f"\n{split}" + (f", {left_out} requests left out" if left_out else ""))
    print("| | requests | " + " | ".join(COLUMNS) + " |\n" + "|---" * (len(COLUMNS) + 2) + "|")
    for group, row in rows.items():
        cells = ["" if row.get(name) is None else f"{row[name]:.2f}" if name == "size" else f"{100 * row[name]:.1f}"
                 for name in COLUMNS]
        print(f"| {group} | {row['requests']} | " + " | ".join(cells) + " |")


def print_changes(measured, earlier):
    """Prints for each figure the numbers of gained and lost requests since an earlier run."""
    both = [(request, earlier[request["id"]]) for request in measured if request["id"] in earlier]
    for group in GROUPS:
        pairs = list(zip(*(zip(old, new["figures"]) for new, old in both if bool(new["needs"]) == (group == GROUPS[0]))))
        cells = ["" if name == "size" or None in column[0] else
                 f"+{sum(new > old for old, new in column)} -{sum(new < old for old, new in column)}"
                 for name, column in zip(COLUMNS, pairs)]
        print(f"| {group}, changed | {len(pairs[0]) if pairs else 0} | " + " | ".join(cells) + " |")


def print_weak(measured):
    print("\n| | hits needed | weak | others | weak | requests with hits | all weak |\n" + "|---" * 7 + "|")
    for group in GROUPS:
        requests = [request for request in measured if bool(request["needs"]) == (group == GROUPS[0])]
        hits = {True: [], False: []}  # weak flags of needed and of unneeded hits
        for request in requests:
            needed = {tool for need in request["needs"] for tool in need}
            for tool in request["found"]:
                hits[tool in needed].append(tool in request["weak"])
        hits["all"] = [len(request["weak"]) == len(request["found"]) for request in requests if request["found"]]
        cells = [f"{len(weak)} | " + (f"{100 * sum(weak) / len(weak):.1f}" if weak else "")
                 for weak in (hits[True], hits[False], hits["all"])]
        print(f"| {group} | " + " | ".join(cells) + " |")


def print_failures(measured):
    for request in measured:
        right = request["figures"][COLUMNS.index("nothing")] if not request["needs"] else (
            request["figures"][COLUMNS.index("top 5")] and request["figures"][COLUMNS.index("exact")])
        if not right:
            text = request["text"] if len(request["text"]) < 200 else "..." + request["text"][-197:]
            print(f"\n{request['id']} {request['kind']}: {text}")
            for need in request["needs"]:
                print("   needs  " + " | ".join(need))
            print("   find   " + ", ".join(request["found"]) + "\n   pick   " + ", ".join(request["picked"]))


def report(options, sources, earlier):
    """Measures and prints the selected tables."""
    tools = set(ids(command(options, "list", "--json")))
    there = {source["service"] for source in sources}
    recipe = json.loads(find(options, "--format=json", text="tool"))["recipe"]
    figures = {"tools": len(tools), "catalogues": len(there), "recipe": recipe, "splits": {}}
    if not options.json:
        missing = len(fetch.sources(options.data)) - len(there)
        print(f"{len(tools)} tools of {len(there)} catalogues, {missing} missing; find by {recipe}")
    for split in [options.split] if options.split else check.SPLITS:
        every = check.requests(options.data, split)
        asked = [request for request in every if set(request["services"]) <= there]
        unknown = {tool for request in asked for need in request["needs"] for tool in need} - tools
        if unknown:
            sys.exit(f"{split}: the store lacks tools that requests need: {', '.join(sorted(unknown))}")
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            measured = list(pool.map(lambda request: measure(options, request), asked))
        rows = table(measured)
        figures["splits"][split] = {"left out": len(every) - len(asked), "rows": rows,
                                    "requests": {request["id"]: request["figures"] for request in measured}}
        if options.json:
            continue
        print_table(split, rows, len(every) - len(asked))
        if split in earlier:
            print_changes(measured, earlier[split]["requests"])
        if options.weak:
            print_weak(measured)
        if options.failures:
            print_failures(measured)
    if options.json:
        print(json.dumps(figures, ensure_ascii=False))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("whichtool")
    parser.add_argument("--split", choices=check.SPLITS)
    for flag in ("--failures", "--json", "--find-only", "--as-typed", "--weak"):
        parser.add_argument(flag, action="store_true")
    for option in ("--recipe", "--model", "--store", "--against"):
        parser.add_argument(option)
    parser.add_argument("--cache", default=fetch.default_cache(), type=os.path.abspath)
    parser.add_argument("--data", default=check.HERE)
    options = parser.parse_args()
    if options.failures and options.find_only:
        parser.error("--failures tells what pick gave, too: not with --find-only")
    if options.failures and options.split != "dev":
        parser.error("--failures needs --split dev: of test only the figures are looked at")
    earlier = {}
    if options.against:
        with open(options.against, encoding="utf-8") as file:
            earlier = json.load(file)["splits"]
    wrong = list(check.complaints(options.data))
    if wrong:
        sys.exit("\n".join(wrong))
    sources = fetch.fetch_all(options.cache, options.data)
    if not options.store:
        import_catalogues(options, sources)
    report(options, sources, earlier)
    return 0


if __name__ == "__main__":
    sys.exit(main())
