"""Vector indexes on one thread, on the vectors that bench_dense wrote: FAISS (flat, IVF, HNSW, binary codes with a second
pass), usearch (HNSW) and sqlite-vec (every vector).

   dense_peers.py REQUESTS FOLDER PEER...      peers: faiss usearch sqlite_vec

IVF, HNSW and binary codes have a setting that trades time for agreement with the exact top 10. Each uses the cheapest of its
settings that reaches AGREEMENT, or the best if none does. Times are processor times of searches, without building.
"""
import os
import sys

import faiss
import numpy
from results import agreement, report, times_of

DIM, K, QUERIES, JUDGED, AGREEMENT = 384, 10, 21, 200, 0.999
SIZES = {"16k": 11, "100k": 5, "1M": 3}  # rounds
GRAPH_MOST = int(os.environ.get("BENCH_HNSW_TOOLS", "100000"))  # building takes long


class Ivf:
    name, settings, most = "FAISS IVF", (8, 16, 32, 64, 128, 256, 512, 1024), 1 << 30

    def __init__(self, vectors):
        lists = int(4 * len(vectors) ** 0.5)
        self.index = faiss.IndexIVFFlat(faiss.IndexFlatIP(DIM), DIM, lists, faiss.METRIC_INNER_PRODUCT)
        self.index.cp.niter = 5
        self.index.cp.max_points_per_centroid = 64
        self.index.train(vectors)
        self.index.add(vectors)

    def search(self, query, setting):
        self.index.nprobe = setting
        return self.index.search(query[None], K)[1][0]


class Hnsw:
    name, settings, most = "FAISS HNSW", (32, 64, 128, 256, 512, 1024, 2048, 4096), GRAPH_MOST

    def __init__(self, vectors):
        self.index = faiss.IndexHNSWFlat(DIM, 32, faiss.METRIC_INNER_PRODUCT)
        self.index.hnsw.efConstruction = int(os.environ.get("BENCH_HNSW_EFFORT", "100"))
        faiss.omp_set_num_threads(os.cpu_count())
        self.index.add(vectors)
        faiss.omp_set_num_threads(1)

    def search(self, query, setting):
        self.index.hnsw.efSearch = setting
        return self.index.search(query[None], K)[1][0]


class Binary:
    """Signs of the centred values by Hamming distance, then exact products of the best."""

    name, settings, most = "FAISS binary", (100, 300, 1000, 3000, 10000), 1 << 30

    def __init__(self, vectors):
        self.vectors, self.mean = vectors, vectors.mean(0)
        self.index = faiss.IndexBinaryFlat(DIM)
        for start in range(0, len(vectors), 50000):
            self.index.add(self.bits(vectors[start : start + 50000]))

    def bits(self, vectors):
        return numpy.packbits(vectors > self.mean, axis=1)

    def search(self, query, setting):
        rows = self.index.search(self.bits(query[None]), setting)[1][0]
        return rows[numpy.argsort(-(self.vectors[rows] @ query))[:K]]


class Usearch:
    """HNSW over 16-bit floats, the default number type of the package."""

    name, settings, most = "usearch", Hnsw.settings, GRAPH_MOST

    def __init__(self, vectors):
        from usearch.index import Index

        self.index = Index(ndim=DIM, metric="ip", dtype="bf16", connectivity=32, expansion_add=128)
        self.index.add(numpy.arange(len(vectors)), vectors)

    def search(self, query, setting):
        self.index.expansion_search = setting
        return self.index.search(query, K, threads=1).keys


class SqliteVec:
    """Reads every vector, as sqlite-vec always does. Needs pysqlite3 where Python's own module loads no extensions."""

    name, settings, most = "sqlite-vec", (None,), GRAPH_MOST

    def __init__(self, vectors):
        import sqlite_vec

        try:
            from pysqlite3 import dbapi2 as sqlite3
        except ImportError:
            import sqlite3
        self.db = sqlite3.connect(":memory:")
        self.db.enable_load_extension(True)
        sqlite_vec.load(self.db)
        self.db.execute(f"CREATE VIRTUAL TABLE tool USING vec0(embedding float[{DIM}] distance_metric=cosine)")
        self.db.executemany("INSERT INTO tool(rowid, embedding) VALUES (?, ?)", enumerate(map(bytes, vectors)))

    def search(self, query, _):
        found = self.db.execute("SELECT rowid FROM tool WHERE embedding MATCH ? AND k = ? ORDER BY distance",
                                (query.tobytes(), K))
        return numpy.array([row for row, in found])


KINDS = {"faiss": (Ivf, Hnsw, Binary), "usearch": (Usearch,), "sqlite_vec": (SqliteVec,)}


def measure_kind(kind, vectors, queries, exact, size, rounds):
    index = kind(vectors)
    for setting in kind.settings:
        reached = agreement([index.search(query, setting).tolist() for query in queries], exact)
        if reached >= AGREEMENT:
            break
    measure = f"dense top {K} of {size} vectors"
    report(measure, kind.name, times_of(lambda query: index.search(query, setting), queries[:QUERIES], rounds), "ms")
    report(f"{measure}, agreement", kind.name, reached, "")
    print(f"dense: {size}: {kind.name}: setting {setting}", file=sys.stderr)


def main():
    requests, folder, *peers = sys.argv[1:]
    faiss.omp_set_num_threads(1)
    queries = numpy.fromfile(requests, numpy.float32).reshape(-1, DIM)[:JUDGED]
    for size, rounds in SIZES.items():
        path = f"{folder}/dense-{size}.f32"
        if not os.path.exists(path):
            continue
        vectors = numpy.fromfile(path, numpy.float32).reshape(-1, DIM)
        flat = faiss.IndexFlatIP(DIM)
        flat.add(vectors)
        exact = flat.search(queries, K)[1].tolist()
        if "faiss" in peers:
            flat_times = times_of(lambda query: flat.search(query[None], K), queries[:QUERIES], rounds)
            report(f"dense top {K} of {size} vectors", "FAISS flat", flat_times, "ms")
        del flat
        for kind in (kind for peer in peers for kind in KINDS[peer] if len(vectors) <= kind.most):
            measure_kind(kind, vectors, queries, exact, size, rounds)


if __name__ == "__main__":
    main()
