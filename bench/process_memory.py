#!/usr/bin/env python3
"""process_memory.py: memory of several `whichtool mcp` processes on one store, as agents start them.

    python3 bench/process_memory.py WHICHTOOL CATALOGUE [--processes 3] [--searches 20]

Imports CATALOGUE, starts the processes, and searches with each of them. Prints a Markdown table: for each process its own
memory, the memory that it shares with others, and the time of its first and of its later searches. Needs Linux."""
import argparse
import json
import os
import subprocess
import tempfile
import time


class Server:
    """A `whichtool mcp` process."""

    def __init__(self, command, store):
        self.process = subprocess.Popen([command, "-q", "-s", store, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        self.asked = 0
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                                "clientInfo": {"name": "bench", "version": "1"}})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        """Writes a message."""
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def ask(self, method, params):
        """Sends a request and returns its answer."""
        self.asked += 1
        self.send({"jsonrpc": "2.0", "id": self.asked, "method": method, "params": params})
        while True:
            answer = json.loads(self.process.stdout.readline())
            if answer.get("id") == self.asked:
                return answer

    def search(self, text):
        """Searches, and returns the time in ms."""
        begun = time.perf_counter()
        self.ask("tools/call", {"name": "search_tools", "arguments": {"query": text}})
        return (time.perf_counter() - begun) * 1e3

    def memory(self):
        """Returns the private and the shared memory in MB."""
        kib = {"Private": 0, "Shared": 0}
        with open(f"/proc/{self.process.pid}/smaps_rollup", encoding="utf-8") as rows:
            for row in rows:
                kind = row.split("_")[0]
                if kind in kib and "Hugetlb" not in row:
                    kib[kind] += int(row.split()[1])
        return kib["Private"] * 1024 / 1e6, kib["Shared"] * 1024 / 1e6


def main():
    """Measures the processes while all of them run."""
    parser = argparse.ArgumentParser()
    parser.add_argument("whichtool")
    parser.add_argument("catalogue")
    parser.add_argument("--processes", type=int, default=3)
    parser.add_argument("--searches", type=int, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = os.path.join(folder, "tools.wt")
        subprocess.run([options.whichtool, "-q", "-s", store, "add", options.catalogue], check=True,
                       stdout=subprocess.DEVNULL)
        servers, times = [], []
        for _ in range(options.processes):
            servers.append(Server(options.whichtool, store))
            first = servers[-1].search("book a table for two")
            later = sorted(servers[-1].search(f"list the files of folder {i}") for i in range(options.searches))
            times.append((first, later[len(later) // 2]))
        print("| process | own memory (MB) | shared memory (MB) | first search (ms) | later searches, median (ms) |")
        print("|---|--:|--:|--:|--:|")
        for number, (server, (first, later)) in enumerate(zip(servers, times), 1):
            own, shared = server.memory()
            print(f"| {number} | {own:.1f} | {shared:.1f} | {first:.1f} | {later:.1f} |")
        for server in servers:
            server.process.stdin.close()
            server.process.wait()


if __name__ == "__main__":
    main()
