#!/usr/bin/env python3
"""pgvector.py: compares searches in PostgreSQL with pgvector to `whichtool find` on the same catalogue.

    whichtool -s URL add DATASET/corpus.jsonl        # into a database with the extension vector
    python3 bench/pgvector.py URL DATASET [WHICHTOOL [QUERIES]]

Starts `whichtool serve` on the store. Every query of the data set, or QUERIES of them at equal distances, is embedded
by it, and searched by pgvector (exact,
and with an HNSW index that this script makes) and by whichtool (the recipes dense and hybrid). Prints the mean recall of
the needed tools in the first five hits, and the median time. The time of pgvector includes the embedding, as that of
whichtool does. Each search runs REPEATS times, and the fastest counts. Needs libpq."""
import ctypes
import json
import os
import re
import statistics
import subprocess
import sys
import time
import urllib.request

REPEATS = 2
HITS = 5


class Database:
    """A connection through libpq."""

    def __init__(self, url):
        self.pq = ctypes.CDLL("libpq.so.5")
        for name in ("PQconnectdb", "PQexec", "PQgetvalue"):
            getattr(self.pq, name).restype = ctypes.c_void_p
        self.pq.PQerrorMessage.restype = ctypes.c_char_p
        self.conn = ctypes.c_void_p(self.pq.PQconnectdb(url.encode()))

    def rows(self, sql):
        result = ctypes.c_void_p(self.pq.PQexec(self.conn, sql.encode()))
        if self.pq.PQresultStatus(result) not in (1, 2):
            sys.exit(f"{sql[:100]}: {self.pq.PQerrorMessage(self.conn).decode()}")
        out = []
        for row in range(self.pq.PQntuples(result)):
            cells = [ctypes.c_void_p(self.pq.PQgetvalue(result, row, at)) for at in range(self.pq.PQnfields(result))]
            out.append([ctypes.string_at(cell).decode() for cell in cells])
        self.pq.PQclear(result)
        return out


def post(address, path, body):
    request = urllib.request.Request(address + path, json.dumps(body).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def fastest(search):
    best, hits = float("inf"), []
    for _ in range(REPEATS):
        began = time.perf_counter()
        hits = search()
        best = min(best, time.perf_counter() - began)
    return best * 1000, hits


def read_queries(dataset):
    needed = {}
    with open(os.path.join(dataset, "qrels", "test.tsv"), encoding="utf-8") as lines:
        for line in list(lines)[1:]:
            query, tool, score = line.split("\t")
            if int(score) > 0:
                needed.setdefault(query, set()).add(tool)
    with open(os.path.join(dataset, "queries.jsonl"), encoding="utf-8") as lines:
        texts = {row["_id"]: row["text"] for row in map(json.loads, lines)}
    return [(texts[query], tools) for query, tools in needed.items()]


def main():
    url, dataset = sys.argv[1:3]
    program = sys.argv[3] if len(sys.argv) > 3 else "build/whichtool"
    database = Database(url)
    kind, model, dim = database.rows("SELECT kind, model, vector_dims(embedding) FROM whichtool.embedding GROUP BY 1, 2, 3"
                                     " ORDER BY count(*) DESC, 1 LIMIT 1")[0]
    server = subprocess.Popen([program, "-s", url, "serve", "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
    address = re.search(r"http://[0-9.:]+", server.stdout.readline()).group().rstrip(":")

    def embed(text):
        return str(post(address, "/v1/embeddings", {"input": text, "model": "default"})["data"][0]["embedding"])

    def pgvector(expression, condition):
        return lambda text: [row[0] for row in database.rows(
            f"SELECT t.source_id FROM whichtool.embedding e JOIN whichtool.tool t ON t.id = e.tool WHERE {condition}"
            f" ORDER BY {expression} <=> '{embed(text)}' LIMIT {HITS}")]

    def whichtool(recipe):
        return lambda text: [hit["source_id"] for hit in post(
            address, "/v1/find", {"query": text, "k": HITS, "recipe": recipe})["hits"]]

    typed = f"(e.embedding::vector({dim}))"
    condition = f"e.model = {model} AND e.kind = '{kind}'"
    queries = read_queries(dataset)
    if len(sys.argv) > 4:
        queries = queries[:: max(1, len(queries) // int(sys.argv[4]))][: int(sys.argv[4])]

    def measure(name, search):
        times, recalls = [], []
        for text, needed in queries:
            ms, hits = fastest(lambda: search(text))
            times.append(ms)
            recalls.append(len(needed & set(hits)) / len(needed))
        print(f"| {name} | {100 * statistics.mean(recalls):.1f} | {statistics.median(times):.1f} |", flush=True)

    database.rows("DROP INDEX IF EXISTS whichtool.embedding_hnsw")
    measure("pgvector, exact", pgvector(typed, condition))
    began = time.perf_counter()
    database.rows(f"CREATE INDEX embedding_hnsw ON whichtool.embedding USING hnsw ((embedding::vector({dim}))"
                  f" vector_cosine_ops) WHERE model = {model} AND kind = '{kind}'")
    print(f"HNSW index: {time.perf_counter() - began:.1f} s", flush=True)
    measure("pgvector, HNSW", pgvector(typed, condition))
    measure("whichtool, dense", whichtool("dense"))
    measure("whichtool, hybrid", whichtool("hybrid"))
    server.kill()


if __name__ == "__main__":
    main()
