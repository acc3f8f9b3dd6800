"""bm25s on the tools and requests of bench_bm25, with the faster of its numpy and numba backends.

    bm25_bm25s.py [WORK_FOLDER]     default build-bench/work
"""
import os
import sys
import time

import bm25s
import numpy
from results import report, times_of

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
    return times_of(lambda query: index.retrieve([query], k=K, show_progress=False, n_threads=0), queries, rounds)


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
                report(f"bm25 index of {size} tools", "bm25s", built, "s")
            for length in LENGTHS:
                asked = [query for query in queries if (len(query) > 20) == (length > 20)]
                if backend == "numba":
                    ids = [numpy.array([vocabulary[term] for term in query]) for query in asked]
                    asked = [[int(i) for i in query] for query in ids]
                    measure(index, asked[:1], 1)  # compiles first
                times = sorted(measure(index, asked, rounds))
                print(f"bm25s {backend}: {size}, {length} words: {times[len(times) // 2]:.3f} ms", file=sys.stderr)
                best[length] = min(times, best.get(length, times), key=lambda times: times[len(times) // 2])
        for length, times in best.items():
            report(f"bm25 top {K} of {size} tools, {length} words", "bm25s", times, "ms")


if __name__ == "__main__":
    main()
