#!/usr/bin/env python3
"""python.py: measures the Python package.

    bench/python.py DATA [--peer MODEL]

DATA is a folder in the layout of BEIR. Each figure is the median of RUNS new processes, or of REQUESTS requests. With
--peer, the same script with sentence-transformers and FAISS runs in turns; MODEL is the folder of a model of
sentence-transformers. The peer reads its index from a file, as whichtool reads its store, so neither encodes the tools.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import whichtool

RUNS, REQUESTS, THREADS = 15, 200, 8

# The most memory of a process in MB. ru_maxrss would count its parent's, too.
MEMORY = """
print(next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM:")) / 1024)
"""
IMPORT = """
import time
began = time.perf_counter()
import whichtool
print(1e3 * (time.perf_counter() - began))
"""
FIND = """
import sys, time
import whichtool
imported = time.perf_counter()
hits = whichtool.Catalogue(sys.argv[1], read_only=True).find(sys.argv[2])
ended = time.perf_counter()
assert hits
print(1e3 * (ended - imported))
""" + MEMORY
PEER = """
import sys
import faiss
from sentence_transformers import SentenceTransformer
model = SentenceTransformer(sys.argv[3], device="cpu")
index = faiss.read_index(sys.argv[1])
scores, found = index.search(model.encode([sys.argv[2]], normalize_embeddings=True), 5)
assert len(found[0]) == 5
""" + MEMORY
INDEX = """
import json, sys
import faiss
from sentence_transformers import SentenceTransformer
texts = []
for line in open(sys.argv[1]):
    row = json.loads(line)
    texts.append((row.get("title") or "") + ": " + row["text"])
vectors = SentenceTransformer(sys.argv[3], device="cpu").encode(texts, normalize_embeddings=True)
index = faiss.IndexFlatIP(vectors.shape[1])
index.add(vectors)
faiss.write_index(index, sys.argv[2])
"""


def run(script, *arguments):
    """Returns the numbers that a new process prints, and its whole time in milliseconds."""
    began = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", script, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"python.py: {done.stderr}")
    return [*map(float, done.stdout.split()), 1e3 * (time.perf_counter() - began)]


def medians(runs):
    return [statistics.median(column) for column in zip(*runs)]


def print_row(name, value):
    print(f"| {name} | {value} |", flush=True)


def measure_requests(catalogue, requests, encoder):
    """Prints the cost of the binding for a request, and what threads bring."""
    added = []
    for request in requests:
        began = time.perf_counter()
        hits = catalogue.find(request)
        added.append(1e6 * (time.perf_counter() - began) - 1e3 * hits.total_ms)
    print_row(f"find beyond the library's time, {encoder}", f"{statistics.median(added):.1f} µs")

    def search(part):
        for request in part:
            catalogue.find(request)

    def seconds(threads):
        began = time.perf_counter()
        workers = [threading.Thread(target=search, args=(requests[i::threads],)) for i in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        return time.perf_counter() - began

    ratios = [seconds(1) / seconds(THREADS) for _ in range(5)]
    print_row(f"{THREADS} threads, {encoder}", f"{statistics.median(ratios):.2f} times the requests of one")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--peer", metavar="MODEL")
    arguments = parser.parse_args()
    lines = (arguments.data / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    requests = [json.loads(line)["text"] for line in lines[:REQUESTS]]
    print("| figure | value |\n|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        store, index = pathlib.Path(folder) / "tools.wt", pathlib.Path(folder) / "index.faiss"
        with whichtool.Catalogue(store) as catalogue:
            added = catalogue.add(arguments.data / "corpus.jsonl", format="beir")
            print_row("tools", f"{added.added:,}")
        for model in ("", "whichtool-static-v1", None):
            with whichtool.Catalogue(store, model=model) as catalogue:
                if model != "":
                    catalogue.embed_missing()
                catalogue.find(requests[0])
                measure_requests(catalogue, requests, catalogue.status()["encoder"] if model != "" else "words only")
        print_row("import whichtool", f"{medians(run(IMPORT) for _ in range(RUNS))[0]:.0f} ms")
        first, _, _ = medians(run(FIND, store, request) for request in requests[:RUNS])
        print_row("open the store and find, in a new process", f"{first:.0f} ms")
        if arguments.peer:
            run(INDEX, arguments.data / "corpus.jsonl", index, arguments.peer)
            both = [(run(FIND, store, request), run(PEER, index, request, arguments.peer)) for request in requests[:RUNS]]
            (_, memory, total), (peer_memory, peer_total) = (medians(side) for side in zip(*both))
            print_row("process, from start to end", f"{total:.0f} ms, {memory:.0f} MB")
            print_row("the same with sentence-transformers and FAISS", f"{peer_total:.0f} ms, {peer_memory:.0f} MB")
            print_row("ratio", f"1/{peer_total / total:.0f} of the time, 1/{peer_memory / memory:.1f} of the memory")


if __name__ == "__main__":
    main()
