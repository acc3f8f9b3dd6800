"""FAISS flat on one thread, with vectors generated as in bench_dense."""
import statistics
import time

import faiss
import numpy

DIM, CENTRES, K, TOGETHER, QUERIES = 384, 2000, 10, 7, 21
SIZES = {"16k": (16000, 11), "100k": (100000, 5), "1M": (1000000, 3)}


def make(rng, centres, count):
    out = numpy.empty((count, DIM), numpy.float32)
    for start in range(0, count, 50000):
        part = out[start : start + 50000]
        part[:] = centres[rng.integers(0, CENTRES, len(part))]
        part += numpy.float32(0.7) * rng.standard_normal(part.shape, numpy.float32)
        part /= numpy.linalg.norm(part, axis=1, keepdims=True)
    return out


def measure(index, queries, rounds, together):
    """Returns milliseconds of processor time per query: the median over rounds."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        for q in range(0, QUERIES, together):
            index.search(queries[q : q + together], K)
        times.append((time.process_time() - start) * 1e3 / QUERIES)
    return statistics.median(times)


def main():
    faiss.omp_set_num_threads(1)
    rng = numpy.random.default_rng(1)
    centres = rng.standard_normal((CENTRES, DIM), numpy.float32)
    queries = make(rng, centres, QUERIES)
    for name, (count, rounds) in SIZES.items():
        index = faiss.IndexFlatIP(DIM)
        vectors = make(rng, centres, count)
        index.add(vectors)
        del vectors
        print(f"dense top 10 of {name} vectors\tFAISS flat\t{measure(index, queries, rounds, 1):.3f}\tms", flush=True)
        spent = measure(index, queries, rounds, TOGETHER)
        print(f"dense top 10 of {name} vectors, 7 queries at once\tFAISS flat\t{spent:.3f}\tms", flush=True)


if __name__ == "__main__":
    main()
