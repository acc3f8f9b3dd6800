#!/usr/bin/env python3
"""Kills a server that records usages repeatedly, and checks that no acknowledged usage is lost.

    python3 bench/kill_usage.py WHICHTOOL [--kills 200] [--connections 16] [--seed 1] [--work FOLDER]

Each round starts `whichtool serve` on the same store. Clients, each with a key and a connection of its own, send batches
of 1 to 30 usages to POST /v1/usage one after another; two more connections run finds. The server is killed (SIGKILL) 20
to 2,000 ms after it printed its address. Unacknowledged usages are sent again in the next round with the same keys, and
so are some acknowledged ones. After each round the store is exported: it must contain every acknowledged usage exactly
once. The last round is not killed; then all usages must be present, and `whichtool check` must find no damage.
"""
import argparse
import collections
import http.client
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time

TOOLS = [{"name": f"tool_{n}", "description": f"Does thing {n}.", "inputSchema": {"type": "object"}} for n in range(20)]
BATCH, AGAIN = 30, 5  # maximum usages of a batch; acknowledged ones that a client sends again in a round
A_ROUND = 900         # usages of a client in a round, below the limit of a client
FINDERS = 2


class Client:
    """Reports its own usages in order."""

    def __init__(self, number, key, seed):
        self.number, self.key, self.random = number, key, random.Random(f"{seed} {number}")
        self.made, self.told, self.open = 0, set(), []
        self.known = 0  # reported as repeated but never acknowledged: the kill came between the write and the answer
        self.reports = 0

    def usage(self, n):
        return json.dumps({"request": f"do thing {n % 500}", "tools": [f"tool_{n % len(TOOLS)}"],
                           "key": f"{self.number}/{n}"})

    def report(self, connection, usages):
        """Returns False if the server is gone; an invalid answer ends the program."""
        try:
            connection.request("POST", "/v1/usage", "\n".join(map(self.usage, usages)),
                               {"Authorization": f"Bearer {self.key}"})
            answer = connection.getresponse()
            told = json.loads(answer.read())
        except (OSError, http.client.HTTPException, ValueError):
            return False
        if answer.status != 200 or told["recorded"] + told["repeated"] != len(usages):
            print(f"kill_usage: {answer.status}: {told}", file=sys.stderr)
            os._exit(1)
        self.reports += 1
        self.known += told["repeated"] - sum(n in self.told for n in usages)
        self.told.update(usages)
        return True

    def load(self, address, fresh):
        """Runs until the server is gone, or all usages are acknowledged and no new ones are wanted."""
        connection = http.client.HTTPConnection(address, timeout=60)
        queue = self.random.sample(sorted(self.told), min(AGAIN, len(self.told))) + self.open
        for _ in range(A_ROUND):
            some = self.random.randint(1, BATCH)
            if fresh and len(queue) < some:
                queue += range(self.made, self.made + some)
                self.made += some
            if not queue or not self.report(connection, queue[:some]):
                break
            queue = queue[some:]
        self.open = [n for n in range(self.made) if n not in self.told]
        connection.close()


def find(address, key):
    connection = http.client.HTTPConnection(address, timeout=60)
    try:
        while True:
            connection.request("POST", "/v1/find", '{"query": "do thing 7"}', {"Authorization": f"Bearer {key}"})
            connection.getresponse().read()
    except (OSError, http.client.HTTPException):
        connection.close()


class Killing:
    def __init__(self, options, work):
        self.options, self.random = options, random.Random(options.seed)
        self.store, self.keys = os.path.join(work, "tools.wt"), os.path.join(work, "keys")
        tools = os.path.join(work, "tools.json")
        with open(tools, "w", encoding="utf-8") as out:
            json.dump(TOOLS, out)
        self.whichtool("add", tools)
        self.clients = [Client(n, self.new_key(f"client-{n}", "usage"), options.seed)
                        for n in range(options.connections)]
        self.finder = self.new_key("finder", "find")

    def whichtool(self, *arguments):
        return subprocess.run([self.options.whichtool, "-q", "-s", self.store, *arguments], check=True,
                              capture_output=True, text=True).stdout

    def new_key(self, name, scopes):
        return self.whichtool("serve", "--keys", self.keys, "--new-key", name, "--scopes", scopes).strip()

    def round(self, kill):
        server = subprocess.Popen([self.options.whichtool, "-q", "--json", "-s", self.store, "serve", "--log", "off",
                                   "--listen", "127.0.0.1:0", "--keys", self.keys], stdout=subprocess.PIPE, text=True)
        address = json.loads(server.stdout.readline())["listening"].split("//")[1]
        finders = [threading.Thread(target=find, args=(address, self.finder)) for _ in range(FINDERS)]
        clients = [threading.Thread(target=client.load, args=(address, kill)) for client in self.clients]
        for thread in finders + clients:
            thread.start()
        if kill:
            time.sleep(self.random.uniform(.02, 2))
            server.kill()
        for thread in clients:
            thread.join()
        server.kill()
        server.wait()
        for thread in finders:
            thread.join()
        return self.look()

    def look(self):
        """Returns the number of recorded usages without an acknowledgement."""
        there = collections.Counter(json.loads(line)["key"] for line in self.whichtool("usage", "export").splitlines())
        told = {f"{client.number}/{n}" for client in self.clients for n in client.told}
        lost, twice = told - set(there), [key for key, count in there.items() if count > 1]
        if lost or twice:
            sys.exit(f"lost: {sorted(lost)[:10]} ({len(lost)}); twice: {twice[:10]} ({len(twice)})")
        return len(there) - len(told)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("whichtool")
    options.add_argument("--kills", type=int, default=200)
    options.add_argument("--connections", type=int, default=16)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--work")
    given = options.parse_args()
    with tempfile.TemporaryDirectory(dir=given.work) as work:
        killing = Killing(given, work)
        between = 0
        for kill in range(given.kills):
            between += killing.round(kill=True) > 0
            print(f"\r{kill + 1} kills", end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
        untold = killing.round(kill=False)
        made, told = (sum(counts) for counts in zip(*((c.made, len(c.told)) for c in killing.clients)))
        if untold or told != made:
            sys.exit(f"{made} usages were reported, {told} were told, and {untold} more are there")
        killing.whichtool("check", "--damage")
        print(f"{given.kills} kills, {given.connections} connections, {sum(c.reports for c in killing.clients)} reports, "
              f"{made} usages: none that was told is lost, none is there twice. After {between} kills usages were on the "
              f"disk of which nobody had been told; {sum(c.known for c in killing.clients)} usages were then reported "
              f"again and known.")


main()
