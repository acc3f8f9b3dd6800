#!/usr/bin/env python3
"""Estimates the rate of false alarms of `whichtool check` from a manually reviewed sample (docs/audit.md).

    whichtool -s STORE --json check > NAME.json                          for each catalogue
    python3 bench/audit_sample.py draw SAMPLE DATA=NAME.json...          a hundred findings, evenly over the rules
    python3 bench/audit_sample.py show SAMPLE DATA=NAME.json...          the findings with the definitions, for review
    python3 bench/audit_sample.py rate SAMPLE                            the table

DATA is a BEIR folder. SAMPLE has a JSON line for each finding: set, rule, tools or provider, and `verdict`, which the
reviewer writes: "holds", or "false" if the finding is wrong or not worth a change. It contains no text of a catalogue.
"""
import argparse
import collections
import json
import os
import random

from beir import lines

MOST_TOOLS = 4  # shown tools of a finding
SHOWN_BYTES = 700  # shown characters of a description


def findings_of(pairs):
    for folder, path in (pair.split("=", 1) for pair in pairs):
        with open(path, encoding="utf-8") as file:
            for finding in json.load(file)["findings"]:
                yield os.path.basename(os.path.normpath(folder)), folder, finding


def row_of(name, finding):
    return {"set": name, "rule": finding["rule"], "tools": finding["tools"], "provider": finding["provider"]}


def draw(options):
    by_rule = collections.defaultdict(list)
    for name, _, finding in findings_of(options.catalogues):
        by_rule[finding["rule"]].append(row_of(name, finding))
    chance = random.Random(options.seed)
    for rule in sorted(by_rule):
        chance.shuffle(by_rule[rule])
    drawn = []
    while len(drawn) < options.count and any(by_rule.values()):
        for rule in sorted(by_rule):
            if by_rule[rule] and len(drawn) < options.count:
                drawn.append(by_rule[rule].pop())
    with open(options.sample, "w", encoding="utf-8") as file:
        for row in sorted(drawn, key=lambda row: row["rule"]):
            file.write(json.dumps({**row, "verdict": ""}) + "\n")


def show(options):
    found, tools = {}, {}
    for name, folder, finding in findings_of(options.catalogues):
        found[json.dumps(row_of(name, finding))] = finding
        if name not in tools:
            tools[name] = {row["_id"]: row for row in lines(os.path.join(folder, "corpus.jsonl"))}
    for number, row in enumerate(lines(options.sample), 1):
        finding = found[json.dumps({key: row[key] for key in ("set", "rule", "tools", "provider")})]
        print(f"\n## {number} {row['set']} {row['rule']} {row['provider']}\n{finding['message']}")
        for tool in row["tools"][:MOST_TOOLS]:
            of = tools[row["set"]].get(tool, {})
            text = " ".join(of.get("text", "").split())
            names = [one["name"] for kind in of.get("metadata", {}).get("parameters", {}).values() for one in kind]
            print(f"  {tool} [{of.get('title', '?')}] ({', '.join(names)[:160]})\n    {text[:SHOWN_BYTES]}"
                  f"{f' ... {len(text)} characters' if len(text) > SHOWN_BYTES else ''}")


def rate(options):
    rows = list(lines(options.sample))
    read, false = collections.Counter(), collections.Counter()
    for row in rows:
        if row["verdict"] not in ("holds", "false"):
            raise SystemExit(f"{row['rule']} of {row['tools'] or row['provider']} has no verdict")
        read[row["rule"]] += 1
        false[row["rule"]] += row["verdict"] == "false"
    print("| rule | read | false |\n|---|---|---|")
    for rule in sorted(read, key=lambda rule: (-read[rule], rule)):
        print(f"| {rule} | {read[rule]} | {false[rule]} |")
    print(f"| all | {len(rows)} | {sum(false.values())} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(required=True)
    for name, run in (("draw", draw), ("show", show), ("rate", rate)):
        verb = verbs.add_parser(name)
        verb.add_argument("sample")
        if name != "rate":
            verb.add_argument("catalogues", nargs="+", metavar="DATA=NAME.json")
        verb.add_argument("--seed", type=int, default=1)
        verb.add_argument("--count", type=int, default=100)
        verb.set_defaults(run=run)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
