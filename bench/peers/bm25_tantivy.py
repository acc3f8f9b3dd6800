"""tantivy on the tools and requests of bench_bm25.

    bm25_tantivy.py [WORK_FOLDER]     default build-bench/work

A request is an OR of its terms, and the index has their positions left out. Indexing and searching use one thread.
"""
import os
import sys

import tantivy
from results import report, times_of

K = 10
SIZES = {"1k": 21, "16k": 11, "100k": 5, "1M": 3}  # rounds
LENGTHS = (10, 60)


def build(path):
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text", tokenizer_name="whitespace", index_option="freq")
    schema = builder.build()
    index = tantivy.Index(schema)
    writer = index.writer(heap_size=500_000_000, num_threads=1)
    with open(path, encoding="utf-8") as tools:
        for line in tools:
            writer.add_document(tantivy.Document(text=line))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    return schema, index


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else "build-bench/work"
    with open(os.path.join(folder, "bm25-queries.txt"), encoding="utf-8") as file:
        requests = [line.split() for line in file]
    for size, rounds in SIZES.items():
        path = os.path.join(folder, f"bm25-{size}.txt")
        if not os.path.exists(path):
            print(f"tantivy: no {path}; run bench_bm25 first", file=sys.stderr)
            continue
        schema, index = build(path)
        searcher = index.searcher()

        def query_of(terms):
            term_queries = [tantivy.Query.term_query(schema, "text", term, "freq") for term in terms]
            return tantivy.Query.boolean_query([(tantivy.Occur.Should, query) for query in term_queries])

        for length in LENGTHS:
            asked = [query_of(terms) for terms in requests if (len(terms) > 20) == (length > 20)]
            times = times_of(lambda query: searcher.search(query, limit=K, count=False), asked, rounds)
            report(f"bm25 top {K} of {size} tools, {length} words", "tantivy", times, "ms")


if __name__ == "__main__":
    main()
