"""bm25s on the tools and requests of bench_bm25, with the faster of its numpy and numba backends.

    bm25_bm25s.py [WORK_FOLDER]     default build-bench/work
"""
import os
import statistics
import sys
import time

import bm25s
import numpy

K = 10
SIZES = {"1k": 21, "16k": 11, "100k": 5, "1M": 3}  # rounds
LENGTHS = (10, 60)


def read_ids(path, vocabulary):
    rows = []
    with open(path) as file:
        for line in file:
            rows.append([vocabulary.setdefault(term, len(vocabulary)) for term in line.split()])
    return rows


def measure(index, queries, rounds):
    """Returns milliseconds of processor time per request: the median over rounds."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        for query in queries:
            index.retrieve([query], k=K, show_progress=False, n_threads=0)
        times.append((time.process_time() - start) * 1e3 / len(queries))
    return statistics.median(times)


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else "build-bench/work"
    backends = ["numpy"]
    try:
        import numba  # noqa: F401

        backends.append("numba")
    except ImportError:
        print("bm25s: numba is not installed, numpy backend only", file=sys.stderr)
    for size, rounds in SIZES.items():
        path = os.path.join(folder, f"bm25-{size}.txt")
        if not os.path.exists(path):
            print(f"bm25s: no {path}; run bench_bm25 first", file=sys.stderr)
            continue
        vocabulary = {}
        rows = read_ids(path, vocabulary)
        with open(os.path.join(folder, "bm25-queries.txt")) as file:
            queries = [[term for term in line.split() if term in vocabulary] for line in file]
        best = {}
        for backend in backends:
            index = bm25s.BM25(method="lucene", k1=1.5, b=0.75, backend=backend)
            start = time.process_time()
            index.index((rows, vocabulary), show_progress=False)
            built = time.process_time() - start
            if backend == "numpy":
                print(f"bm25 index of {size} tools\tbm25s\t{built:.2f}\ts", flush=True)
            for length in LENGTHS:
                asked = [query for query in queries if (len(query) > 20) == (length > 20)]
                if backend == "numba":
                    ids = [numpy.array([vocabulary[term] for term in query]) for query in asked]
                    asked = [[int(i) for i in query] for query in ids]
                    measure(index, asked[:1], 1)  # compiles first
                spent = measure(index, asked, rounds)
                print(f"bm25s {backend}: {size}, {length} words: {spent:.3f} ms", file=sys.stderr)
                best[length] = min(spent, best.get(length, spent))
        for length, spent in best.items():
            print(f"bm25 top 10 of {size} tools, {length} words\tbm25s\t{spent:.3f}\tms", flush=True)


if __name__ == "__main__":
    main()
