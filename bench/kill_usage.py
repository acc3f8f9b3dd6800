#!/usr/bin/env python3
"""Kills who records usages, again and again, and looks whether the store kept its word.

    python3 bench/kill_usage.py BENCH_USAGE_LOG WHICHTOOL [--kills 200] [--seed 1] [--work FOLDER]

Each round starts BENCH_USAGE_LOG on the same store, reports usages to it as fast as it takes them, each with a key of
its own, and kills it (SIGKILL) after 20 to 2,000 ms. What was not told to be recorded is reported again in the next
round, with the same keys, and some of what was told, too. After each round the store is exported: every usage that was
ever told must be in it, and none twice. The last round is not killed: then all of them must be.
"""
import argparse
import collections
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time

TOOLS = [{"name": f"tool_{n}", "description": f"Does thing {n}.", "inputSchema": {"type": "object"}} for n in range(20)]
FRESH, AGAIN = 300, 30  # usages of a round: new ones, and told ones that are reported again


def usage(key):
    return json.dumps({"request": f"do thing {key % 500}", "tools": [f"tool_{key % len(TOOLS)}"],
                       "client": f"client-{key % 7}", "key": str(key)}) + "\n"


class Killing:
    def __init__(self, options, work):
        self.options, self.random = options, random.Random(options.seed)
        self.store = os.path.join(work, "tools.wt")
        self.told, self.open = set(), []
        self.next = 0
        self.repeated = 0
        tools = os.path.join(work, "tools.json")
        with open(tools, "w", encoding="utf-8") as out:
            json.dump(TOOLS, out)
        subprocess.run([options.whichtool, "-q", "-s", self.store, "add", tools], check=True)

    def listen(self, output):
        for line in output:
            if not line.endswith("\n"):
                break
            word, key, rest = line.split(maxsplit=2)
            if word != "told":
                sys.exit(f"usage {key} was refused: {rest}")
            self.repeated += rest.strip() == "repeated" and int(key) not in self.told
            self.told.add(int(key))

    def feed(self, to, keys):
        try:
            for key in keys:
                to.write(usage(key))
            to.close()
        except (BrokenPipeError, ValueError):
            pass

    def round(self, kill):
        fresh = list(range(self.next, self.next + FRESH)) if kill else []
        self.next += len(fresh)
        again = self.random.sample(sorted(self.told), min(AGAIN, len(self.told)))
        self.open += fresh
        program = subprocess.Popen([self.options.bench_usage_log, self.store], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True)
        threads = [threading.Thread(target=self.listen, args=(program.stdout,)),
                   threading.Thread(target=self.feed, args=(program.stdin, again + self.open))]
        for thread in threads:
            thread.start()
        if kill:
            time.sleep(self.random.uniform(.02, 2))
            program.kill()
        program.wait()
        for thread in threads:
            thread.join()
        self.open = [key for key in self.open if key not in self.told]
        return self.look()

    def look(self):
        export = subprocess.run([self.options.whichtool, "-s", self.store, "usage", "export"], check=True,
                                capture_output=True, text=True).stdout
        there = collections.Counter(int(json.loads(line)["key"]) for line in export.splitlines())
        lost, twice = self.told - set(there), [key for key, count in there.items() if count > 1]
        if lost or twice:
            sys.exit(f"lost: {sorted(lost)[:10]} ({len(lost)}); twice: {twice[:10]} ({len(twice)})")
        return len(there)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("bench_usage_log")
    options.add_argument("whichtool")
    options.add_argument("--kills", type=int, default=200)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--work")
    given = options.parse_args()
    with tempfile.TemporaryDirectory(dir=given.work) as work:
        killing = Killing(given, work)
        unanswered = 0
        for _ in range(given.kills):
            before = len(killing.told)
            there = killing.round(kill=True)
            unanswered += there > len(killing.told) and len(killing.told) >= before
        there = killing.round(kill=False)
        if killing.open or there != killing.next:
            sys.exit(f"{killing.next} usages were reported, {there} are there, {len(killing.open)} were not told")
        print(f"{given.kills} kills, {there} usages: none that was told is lost, none is there twice. {unanswered} times "
              f"the kill came between the disk and the answer; {killing.repeated} usages were then reported again and "
              f"known.")


main()
