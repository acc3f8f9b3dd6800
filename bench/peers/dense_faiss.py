"""FAISS on one thread, on the vectors that bench_dense wrote: flat, IVF, HNSW, and binary codes with a second pass.

   dense_faiss.py REQUESTS FOLDER

IVF, HNSW and binary have a setting that trades time for agreement with the exact top 10. Each uses the cheapest of its
settings that reaches AGREEMENT, or the best if none does. Times are processor times of searches; building is not in it.
"""
import os
import statistics
import sys
import time

import faiss
import numpy

DIM, K, QUERIES, JUDGED, AGREEMENT = 384, 10, 21, 200, 0.999
SIZES = {"16k": 11, "100k": 5, "1M": 3}
HNSW_MOST = int(os.environ.get("BENCH_HNSW_TOOLS", "100000"))  # building takes long


def measure(search, queries, rounds):
    """Returns milliseconds of processor time per query, one query at a time: the median over rounds."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        for q in range(QUERIES):
            search(queries[q : q + 1])
        times.append((time.process_time() - start) * 1e3 / QUERIES)
    return statistics.median(times)


def agreement(found, exact):
    return sum(len(set(a) & set(b)) for a, b in zip(found.tolist(), exact.tolist())) / exact.size


class Ivf:
    name, settings = "FAISS IVF", (8, 16, 32, 64, 128, 256, 512, 1024)

    def __init__(self, vectors):
        lists = int(4 * len(vectors) ** 0.5)
        self.index = faiss.IndexIVFFlat(faiss.IndexFlatIP(DIM), DIM, lists, faiss.METRIC_INNER_PRODUCT)
        self.index.cp.niter = 5
        self.index.cp.max_points_per_centroid = 64
        self.index.train(vectors)
        self.index.add(vectors)

    def search(self, queries, setting):
        self.index.nprobe = setting
        return self.index.search(queries, K)[1]


class Hnsw:
    name, settings = "FAISS HNSW", (32, 64, 128, 256, 512, 1024, 2048, 4096)

    def __init__(self, vectors):
        self.index = faiss.IndexHNSWFlat(DIM, 32, faiss.METRIC_INNER_PRODUCT)
        self.index.hnsw.efConstruction = int(os.environ.get("BENCH_HNSW_EFFORT", "100"))
        faiss.omp_set_num_threads(os.cpu_count())
        self.index.add(vectors)
        faiss.omp_set_num_threads(1)

    def search(self, queries, setting):
        self.index.hnsw.efSearch = setting
        return self.index.search(queries, K)[1]


class Binary:
    """Signs of the centred values by Hamming distance, then exact products of the best."""

    name, settings = "FAISS binary", (100, 300, 1000, 3000, 10000)

    def __init__(self, vectors):
        self.vectors, self.mean = vectors, vectors.mean(0)
        self.index = faiss.IndexBinaryFlat(DIM)
        for start in range(0, len(vectors), 50000):
            self.index.add(self.bits(vectors[start : start + 50000]))

    def bits(self, vectors):
        return numpy.packbits(vectors > self.mean, axis=1)

    def search(self, queries, setting):
        rows = self.index.search(self.bits(queries), setting)[1]
        out = numpy.empty((len(queries), K), numpy.int64)
        for query, row, best in zip(queries, rows, out):
            scores = self.vectors[row] @ query
            best[:] = row[numpy.argsort(-scores)[:K]]
        return out


def main():
    requests, folder = sys.argv[1:3]
    faiss.omp_set_num_threads(1)
    queries = numpy.fromfile(requests, numpy.float32).reshape(-1, DIM)[:JUDGED]
    for size, rounds in SIZES.items():
        path = f"{folder}/dense-{size}.f32"
        if not os.path.exists(path):
            continue
        vectors = numpy.fromfile(path, numpy.float32).reshape(-1, DIM)
        flat = faiss.IndexFlatIP(DIM)
        flat.add(vectors)
        exact = flat.search(queries, K)[1]
        spent = measure(lambda q: flat.search(q, K), queries, rounds)
        print(f"dense top 10 of {size} vectors\tFAISS flat\t{spent:.3f}\tms", flush=True)
        del flat
        for kind in (Ivf, Hnsw, Binary):
            if kind is Hnsw and len(vectors) > HNSW_MOST:
                continue
            index = kind(vectors)
            for setting in kind.settings:
                reached = agreement(index.search(queries, setting), exact)
                if reached >= AGREEMENT:
                    break
            spent = measure(lambda q: index.search(q, setting), queries, rounds)
            print(f"dense top 10 of {size} vectors\t{kind.name} ({setting})\t{spent:.3f}\tms")
            print(f"dense top 10 of {size} vectors, agreement\t{kind.name} ({setting})\t{reached:.5f}\t", flush=True)
            del index


if __name__ == "__main__":
    main()
